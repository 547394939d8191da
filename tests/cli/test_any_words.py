"""Any words at all for every verb and option: no traceback, a known exit code, no answer where the usage is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard import hardware, pipeline
from steelyard.cli import select
from steelyard.cli.app import VERBS, app
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.rtl.job import Job
from tests import toys
from tests.conftest import the_target, write

from .conftest import Cli

TOY = "old/crypto_aead/toy1/ref"
NAMED = ("toy1", "toy1/ref", "nocrypt", "t*", "1", "2", "old", "new", TOY)
PACKAGES = ("toy1/ref", "nocrypt", "old", "new", TOY, "old.zip", "c.toml")
METRICS = ("rom", "label,rom", "cycles_encrypt_mean", "encrypt@16/0", "run,flags,outcome", "ram", "-rom")
FILTERS = ("target == uno", "flags == -Os", "rom<9999", "not rom<9", "label ~ toy*", "variant == toy1 or rom<9")
#: what each option and argument could mean
SENSIBLE = {
    "what": NAMED,
    "old": (*NAMED, *FILTERS, "r.json", "HEAD~1"),
    "new": (*NAMED, *FILTERS, "r.json", "HEAD"),
    "revisions": ("HEAD", "HEAD~1..HEAD"),
    "name": ("rom", "vectors", "throughput", "tradeoff", "history"),
    "kind": ("implementations", "targets", "runs", "workloads", "top", "places", "merit", "score", "pareto", "sizes"),
    "run": ("1", "2", "3"),
    "path": ("old", "new", "old.zip"),
    "server": ("http://127.0.0.1:9", "https://127.0.0.1:9/x"),
    "licence": ("MIT",),
    "previous": ("http://127.0.0.1:9/submissions/" + "x" * 22,),
    "target": ("uno", "bluepill", "host", "raspberry-pi", "uno,bluepill"),
    "flags": ("-O1", "-Os", "-Os;-O1"),
    "workload": ("kat", "default", "ble", "16/0", "0/16,16/0"),
    "adlen": ("0", "0:32:16"),
    "mlen": ("16", "0:32:16"),
    "max_cycles": ("1000000",),
    "db": ("results.db",),
    "format": ("json", "csv", "md", "html", "tex", "svg", "parquet", "xlsx", "vl.json", "felics.json"),
    "operation": ("encrypt", "decrypt", "hash"),
    "size": ("16/0",),
    "against": (TOY, "new", "nocrypt"),
    "columns": METRICS,
    "sort": METRICS,
    "by": METRICS,
    "where": FILTERS,
    "threshold": ("1%", "0"),
    "fail_on": ("any>0%", "rom>1%", "worse"),
    "limit": ("1", "2"),
    "top": ("1", "3"),
    "relative_to": ("toy1", "toy1/ref", "nocrypt"),
    "group_by": ("key", "nonce", "tag"),
    "rate": ("5/s", "1/min"),
    "rom": ("4K", "500"),
    "ram": ("200", "1KiB"),
    "battery": ("230mAh",),
    "voltage": ("3V",),
    "idle": ("2uA",),
    "primitive": ("crypto_aead", "crypto_block"),
    "pivot": ("target", "flags", "workload"),
    "caption": ("{target}", "{primitive} {x}"),
    "label": ("tab:{target}",),
    "title": ("a & b",),
}
#: words that mean nothing, or harm
SENSELESS = (
    "", " ", ",", ";", "/", "//", ".", "..", "*", "?", "[", "[]", "%", "=", "==", "(", "not", '"', "'", "\\", "@", "@/",
    "encrypt@", "encrypt@99999/1", "0", "-1", "1e9", "nan", "inf", "9" * 30, "9" * 5000,
    "9" * 5000 + "/0", "0x10", "1/", "/1", "1/1/1", "99999/0",
    "1:2", "1:2:0", "a,b", "x" * 300, "y" * 5000, "\x1b[2J", "b\u202ed", "\udce9", "é", "[bold]", "[/red]", "{", "{0}",
    "%s", "none", "none/x.json", "x.doc", "empty.zip", "cut.zip", "text", "text.toml", "other.toml", "cut.json",
    "foreign.json", "/dev/full", "/dev/null", "/proc/none/x.json", "foo://bar", "postgresql://a:b@c:d/e", "sqlite://",
    "-o", "--", "--json", "--no-such", "-x",
)  # fmt: skip
SAFE_PLACES = (
    "x.json",
    "x.md",
    "x",
    "-",
    ".",
    "none/x.csv",
    "/dev/full",
    "/dev/null",
    "",
    "x.svg",
    "\x1b.html",
    "y" * 300,
)

#: how files that are no text begin
BINARY = ("PAR1", "PK", "%PDF", "\\x89PNG")
ANY = tuple(dict.fromkeys([*SENSELESS, *(w for of in SENSIBLE.values() for w in of)]))


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    """A verb with some of its options, most of the words of a kind that it could mean."""
    verb = draw(st.sampled_from(sorted(VERBS)))
    wrong = draw(st.integers(0, 3)) * 5  # in a hundred, twice: most commands are to be right but for a word or two

    def word(name: str) -> str:
        sensible = SENSIBLE.get(name, ANY)
        if name == "what" and verb in ("run", "check", "profile", "size", "history"):
            sensible = PACKAGES
        return draw(st.sampled_from(ANY if draw(st.integers(0, 99)) < 2 * wrong else sensible))

    parts = [verb]
    for parameter in app.verb(verb).params:
        name = parameter.name or ""
        if isinstance(parameter, click.Argument):
            several = parameter.nargs == -1 or not parameter.required
            number = 1 if not several else draw(st.integers(0, 2 if parameter.nargs == -1 else 1))
            parts += [word(name) for _ in range(number + (draw(st.integers(0, 99)) < wrong))]
        elif parameter.required or draw(st.integers(0, 3)) == 0:
            option = draw(st.sampled_from(parameter.opts))
            if isinstance(parameter, click.Option) and parameter.is_flag:
                parts.append(option)
                continue
            value = draw(st.sampled_from(SAFE_PLACES)) if name in ("out", "svg") else word(name)
            parts += [f"{option}={value}"] if option.startswith("--") else [option, value]
    return parts


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a little of everything, and a tree of bundled implementations that is as small."""
    the_target("uno")
    here = tmp_path_factory.mktemp("words")
    kat = {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
    write(here / TOY, toys.files() | kat)
    write(here / "new/crypto_aead/toy1/ref", toys.files(top="/* other */") | kat)
    shutil.make_archive(str(here / "old"), "zip", here / "old")
    write(
        here,
        {
            "c.toml": 'implementations = ["old"]\ntargets = ["uno"]\n',
            "text.toml": "no campaign",
            "other.toml": "[x]\ny = 1\n",
            "text": "text",
            "cut.json": '{"schema": 1, "runs": [',
            "foreign.json": '{"a": 1}',
        },
    )
    (here / "empty.zip").write_bytes(b"PK\5\6" + bytes(18))
    (here / "cut.zip").write_bytes((here / "old.zip").read_bytes()[:200])
    for line in (
        ["init", "-q"],
        ["add", "old", "new"],
        ["commit", "-qm", "a"],
        ["commit", "-qm", "b", "--allow-empty"],
    ):
        user = ["-c", "user.name=you", "-c", "user.email=you@example.com"]
        subprocess.run(["git", *user, *line], cwd=here, check=True)
    bundled = here / "bundled"
    shutil.copytree(here / "old", bundled)
    shutil.copytree(paths.CIPHERS / "crypto_aead/nocrypt", bundled / "crypto_aead/nocrypt", symlinks=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "CIPHERS", bundled)
        patch.setenv("STEELYARD_TRACEBACK", "1")
        select.bundled.cache_clear()
        yield here
    select.bundled.cache_clear()


def _campaign(self: pipeline.Pipeline, jobs: list[pipeline.Job], done: object) -> list[Record]:
    """Nothing is built or run: what a campaign does is for other tests."""
    return [Record(job.plan, Failure(Reason.COMPILE_ERROR, "not tried"), {}, origin=job.origin) for job in jobs]


def _hardware(self: hardware.Hardware, jobs: Sequence[Job], done: object) -> list[Record]:
    """The same of designs."""
    return [Record(t.setup, Failure(Reason.HANG, "not tried"), {}, origin=t.origin) for t in jobs]


def _play(cli: Cli, prepared: Path, parts: list[str]) -> None:
    os.chdir(prepared)
    result = cli(parts)
    told = f"{parts}\n{result.out[:500]}\n{result.err}"
    assert "Traceback" not in result.err, told
    assert result.code in (0, 1, 2, 3), told
    if result.code == 2:
        assert result.out == "", told
        assert result.err, told
    if result.code == 1 and not result.out:
        assert result.err, told
    shown = result.err if result.out.startswith(BINARY) else result.out + result.err
    for character in "\x1b", "\u202e", "\udce9":
        assert character not in shown, told


@pytest.fixture
def ready(cli: Cli, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    os.chdir(prepared)
    if not (prepared / "results.db").exists():
        result = cli("run old nocrypt -t uno -w 16/0 --flags=-Os --json")
        assert result.code == 0, result.err
        (prepared / "r.json").write_text(result.out)
        assert cli("run new -t uno -w kat --flags=-Os").code == 0
    monkeypatch.setattr(pipeline.Pipeline, "campaign", _campaign)
    monkeypatch.setattr(hardware.Hardware, "campaign", _hardware)
    monkeypatch.setattr("steelyard.device.remote.ERRAND", 1)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)  # which ends when somebody ends it
    monkeypatch.setattr("steelyard.farm.work", lambda *_, **__: None)
    return cli


CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=100, deadline=None, suppress_health_check=CHECKS)
@given(parts=commands())
def test_any_words(ready: Cli, prepared: Path, parts: list[str]) -> None:
    _play(ready, prepared, parts)


@pytest.mark.long
# a site is written in one call of 25, which takes seconds: so many calls take some minutes on a quiet machine
@settings(max_examples=3_000, deadline=None, suppress_health_check=CHECKS)
@given(parts=commands())
def test_very_many_words(ready: Cli, prepared: Path, parts: list[str]) -> None:
    _play(ready, prepared, parts)
