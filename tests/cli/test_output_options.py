"""``-o``, ``--format`` and ``--json`` mean the same for every verb that answers."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from html import escape
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from steelyard import lab
from steelyard.cli.app import app
from steelyard.cli.options import Commands
from steelyard.cli.plan import plan
from steelyard.model import paths
from steelyard.model.campaign import Campaign
from steelyard.pipeline import Pipeline, resolve
from steelyard.store import Store
from tests import toys
from tests.conftest import the_target, write

from .conftest import Cli

WHAT = "old/crypto_aead/toy1/ref"
#: each verb as a question that the database below answers
QUESTIONS = {
    "run": "run old -t uno -w 16/0 --flags=-Os",
    "run --dry-run": "run old -t uno -w 16/0 --flags=-Os --dry-run",
    "rtl": "rtl old --device ecp5",
    "boards": f"boards --lab {paths.ROOT}/docs/guides/lab.toml",
    "boards log": f"boards log pill-1 --lab {paths.ROOT}/docs/guides/lab.toml",
    "boards release": f"boards release pill-1 --lab {paths.ROOT}/docs/guides/lab.toml",
    "boards retry": f"boards retry nucleo-1 --lab {paths.ROOT}/docs/guides/lab.toml",
    "boards check": f"boards check pill-1 --lab {paths.ROOT}/docs/guides/lab.toml",
    "boards list": f"boards list --lab {paths.ROOT}/docs/guides/lab.toml",
    "validate": f"validate old -w 16/0 --flags=-Os --on pill-1 --lab {paths.ROOT}/docs/guides/lab.toml --db b.db",
    "validate --kernels": "validate --kernels loop -t uno",
    "check": "check old -t uno --flags=-Os",
    "profile": f"profile {WHAT} -t uno --flags=-Os",
    "size": f"size {WHAT} -t uno --flags=-Os",
    "publish": "publish toy1",
    "compare": "compare 1 2 -c rom",
    "history": "history HEAD old -t uno -w 16/0 --flags=-Os",
    "rank": "rank toy1",
    "choose": "choose toy1 -t uno --mlen 0 --adlen 16",
    "plot": "plot rom toy1",
    "report": "report toy1",
    "show": "show 2",
    "show --log": "show 2 --log",
    "image": "image 2",
    "sim": "sim image.elf --chip uno",
    "list": "list runs",
    "list implementations": "list implementations old",
    "targets": "targets",
    "db check": "db check",
    "db downgrade": "db downgrade 0010",
    "queue list": "queue list",
    "queue workers": "queue workers",
    "queue pause": "queue pause target uno --why soon",
    "queue repeat": "queue repeat --failed",
    "doctor": "doctor",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test leaves its folder for the others."""
    return tmp_path_factory.mktemp("prepared")


def pretend(folder: Path) -> None:
    """Stores the simulator's figures as those of a board too."""
    station = lab.load(paths.ROOT / "docs" / "guides" / "lab.toml").board("pill-1")
    jobs = plan(Campaign(implementations=("old",), flags=("-Os",), workloads=("16/0",)), on=[station]).jobs
    with Store.open(folder / "b.db") as store:
        for job in jobs:
            simulated = Pipeline(store).weigh(replace(job, target=the_target("bluepill"), on=()))
            notes = ("virtual-board pill-2: none",)  # another one, which is alike
            store.add(replace(simulated, setup=resolve(job).setup, id=None, notes=notes))


@pytest.fixture
def ran(cli: Cli, tmp_path: Path, prepared: Path) -> Cli:
    """A repository with a package, and a database with its runs."""
    the_target("uno")
    if not any(prepared.iterdir()):
        write(tmp_path / WHAT, toys.files() | {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
        user = ["-c", "user.name=you", "-c", "user.email=you@example.com"]
        for words in (["init", "-q", "."], ["add", "old"], [*user, "commit", "-q", "-m", "begin"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        for verb in ("run", "check", "history"):
            assert cli(QUESTIONS[verb]).code == 0
        pretend(tmp_path)
        assert cli("image 2 -o image.elf").code == 0
        shutil.copytree(tmp_path, prepared, dirs_exist_ok=True)
    else:
        shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return cli


def test_every_verb_that_answers_is_asked_here() -> None:
    def answering(group: Commands, before: str = "") -> Iterator[str]:
        for name in group.list_commands(click.Context(group)):
            verb = group.verb(name)
            if any(p.name == "out" for p in verb.params) and "--json" in {o for p in verb.params for o in p.opts}:
                yield f"{before}{name}"
            if isinstance(verb, Commands):
                yield from answering(verb, f"{name} ")

    once = {"db copy", "submit"}  # of which the second answer is another
    once |= {f"queue {verb}" for verb in ("add", "why", "resume", "release", "delete", "link", "key")}  # test_queue.py
    once.add("study")  # which needs another workload: test_study.py
    assert set(answering(app)) - QUESTIONS.keys() == once


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_an_answer_goes_where_it_is_sent(ran: Cli, tmp_path: Path, question: str) -> None:
    said = ran(f"{question} --json")
    assert said.code in (0, 1)
    json.loads(said.out)
    assert ran(f"{question} -o - --format json").out == said.out
    for options, name in (("-o answer.json", "answer.json"), ("-o answer.txt --json", "answer.txt")):
        filed = ran(f"{question} {options}")
        assert (filed.code, filed.out) == (said.code, "")
        assert f"wrote {name}\n" in filed.err
        assert (tmp_path / name).read_text() == said.out
    for ending in ("csv", "md", "tex", "html"):
        text = ran(f"{question} --format {ending}").out
        filed = ran(f"{question} -o x.{ending}")
        assert (tmp_path / f"x.{ending}").read_text() == text
        assert text
        assert filed.out == ""
    assert ran(f"{question} -o x.xlsx").code == said.code
    assert (tmp_path / "x.xlsx").read_bytes().startswith(b"PK")


@pytest.mark.parametrize("question", QUESTIONS.values())
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("-o answer.doc", "answer.doc: no such format; end the name in"),
        ("-o old", "old: is a folder; name a file in it"),
        ("-o none/answer.html", "there is no folder none; make it, or name another"),
        ("-o old/answer", "no such format"),
    ],
)
def test_a_place_that_cannot_be_written_is_named_before_the_work(
    ran: Cli, question: str, options: str, why: str
) -> None:
    result = ran(f"{question} {options}")
    assert (result.code, result.out) == (2, "")
    assert why in result.err


def test_an_answer_replaces_no_database(cli: Cli) -> None:
    place = paths.home() / "results.db"
    Store.open(place).close()
    before = place.read_bytes()
    for question in ("publish --format csv -o", "plot rom --format svg -o", "sim x.elf --chip uno --uart"):
        result = cli(f"{question} {place}")
        assert (result.code, result.out) == (2, ""), question
        assert "is a database, which an answer would replace; name another file" in result.err
    assert place.read_bytes() == before
    for ending in ("-wal", "-shm", "-journal"):
        result = cli(f"publish --format csv -o {place}{ending}")
        assert (result.code, f"is a part of the database {place}; name another file" in result.err) == (2, True)


def test_a_database_is_not_copied_to_itself_by_another_name(cli: Cli, tmp_path: Path) -> None:
    """Who is told that all runs are there already believes that there are two of them."""
    place = paths.home() / "results.db"
    Store.open(place).close()
    (tmp_path / "link.db").symlink_to(place)
    (tmp_path / "hard.db").hardlink_to(place)
    for other in ("link.db", "hard.db", f"sqlite:///{place}", f"{place.parent}/../{place.parent.name}/{place.name}"):
        result = cli(f"db copy {place} {other}")
        assert (result.code, result.out) == (2, ""), other
        assert "is copied to itself; give another database" in result.err


def test_no_copy_shares_the_logs_of_another_database(cli: Cli) -> None:
    """A deletion in one of them would take the logs from both."""
    place = paths.home() / "results.db"
    Store.open(place).close()
    place.with_suffix(".html").touch()
    before = sorted(place.parent.iterdir())
    for source in (place, place.with_name("none.db")):
        result = cli(f"db copy {source} {place.with_suffix('.bak')}")
        assert (result.code, result.out) == (2, "")
        assert "would share the folder of logs results.blobs with results.db; choose another name" in result.err
        assert sorted(place.parent.iterdir()) == before
    assert cli(f"db copy {place} {place.with_name('results-copy.db')}").code == 0


def test_options_that_contradict_each_other(ran: Cli) -> None:
    assert ran("targets --json --format md").err == "steelyard: --json and --format md: leave one of them out\n"
    assert "unknown format 'jason'; did you mean json?" in ran("targets --format jason").err
    assert ran("targets --json --format json").code == 0


def test_figures_and_reports_go_to_standard_output(ran: Cli, tmp_path: Path) -> None:
    assert ran("plot rom toy1 -o -").out.startswith("<svg")
    assert json.loads(ran("plot rom toy1 --format vl.json").out)["$schema"]
    assert ran(f"profile {WHAT} -t uno --format svg").out.startswith("<svg")
    assert ran("history HEAD old -t uno -w 16/0 --flags=-Os --format svg").out.startswith("<svg")
    assert ran("report -o -").out.startswith("<!doctype html>")
    assert not list(tmp_path.glob("*.svg"))
    assert ran("plot rom toy1").err.startswith("wrote rom.svg\nwrote rom.csv\n")


def test_a_report_in_other_formats_has_its_tables(ran: Cli) -> None:
    titles = [t["title"] for t in json.loads(ran("report toy1 --json").out)]
    page = ran("report toy1 -o -").out
    assert titles[0] == "Steelyard report"
    assert "Provenance" in titles
    assert [t for t in titles if escape(t) not in page] == []
    assert "verified run" in json.loads(ran("report toy1 --json").out)[0]["rows"][0]["report"]


def test_a_log_as_json_is_whole(ran: Cli) -> None:
    said = "one.c: bad\n\ntwo.c: worse\n"
    with Store.open("results.db") as store:
        first = store.get(1)
        assert first is not None
        run = store.add(replace(first, id=None, log=store.put_blob(said)))
    assert json.loads(ran(f"show {run} --log --json").out) == {"run": run, "log": said}
    assert ran(f"show {run} --log").out == said
    assert ran(f"show {run} --log --format csv").out == 'log\none.c: bad\n""\ntwo.c: worse\n'


@pytest.mark.parametrize(
    ("options", "home", "said", "code"),
    [
        ("-t unoo", "home", "unknown target 'unoo'; did you mean uno", 2),
        (
            "-t uno -w kat,felics-1",
            "home",
            "is several; give --workload for each: --workload kat --workload felics-1",
            2,
        ),
        ("-t uno -w katt", "home", "unknown workload 'katt'; did you mean kat?", 2),
        ("-t uno", "/proc/none", "set STEELYARD_HOME to a folder that you may write to", 2),
        ("-t uno --db damaged.db", "home", "the file is damaged", 3),
    ],
)
def test_what_is_wrong_in_every_revision_is_said_once(
    ran: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, home: str, said: str, code: int
) -> None:
    shutil.copy(tmp_path / "results.db", tmp_path / "damaged.db")
    with closing(sqlite3.connect(tmp_path / "damaged.db")) as connection:
        connection.executescript("PRAGMA foreign_keys = OFF; DROP TABLE run")
    monkeypatch.setenv("STEELYARD_HOME", home)
    result = ran(f"history HEAD old {options}")
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("steelyard: ")
    assert said in result.err
    assert result.err.count("\n") == 1


def test_what_is_there_and_no_file_is_written_to(ran: Cli) -> None:
    assert ran("targets --json -o /dev/null").code == 0
    assert Path("/dev/null").is_char_device()
