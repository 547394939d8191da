"""Machine-readable output, terminals, pipes, and command lines that repeat a run."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding

from steelyard.cli import MAKE_RUNS, boards, db, doctor
from steelyard.cli.app import VERBS, app
from steelyard.cli.console import _broken, _lines, number, table
from steelyard.lab.metering import kinds
from steelyard.model.reasons import Reason
from steelyard.model.record import Record, Setup, Toolchain
from steelyard.publish import run
from steelyard.publish.sheet import ANY
from tests import toys
from tests.conftest import the_target, write

from .conftest import Cli, Result

FAST = "tinyjambu128v2/fast"


@pytest.fixture(autouse=True)
def compiler() -> None:
    the_target("uno")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test leaves its database for the others."""
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture
def ran(cli: Cli, tmp_path: Path, prepared: Path) -> Cli:
    """A database with run 1 (nocrypt) and run 2 (TinyJAMBU)."""
    if any(prepared.iterdir()):
        shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    else:
        assert cli(f"run {FAST} -t uno -w 0/0,0/8,0/16 --flags=-Os -j1").code == 0
        shutil.copytree(tmp_path, prepared, dirs_exist_ok=True)
    return cli


def parsed(result: Result) -> object:
    assert result.err == ""
    return json.loads(result.out)


def test_json_of_a_run(ran: Cli, tmp_path: Path) -> None:
    write(tmp_path / "broken/crypto_aead/toy1/ref", toys.files(top="#error no"))
    (tmp_path / "damaged.zip").write_bytes(b"PK")
    result = ran(f"run {FAST} broken damaged.zip -t uno -w 0/0,0/8,0/16 --flags=-Os --json")
    data = parsed(result)
    assert result.code == 1
    assert isinstance(data, dict)
    base, good, bad = data["runs"]
    assert (base["setup"]["variant"], base["ok"], good["ok"], bad["ok"]) == ("nocrypt", True, True, False)
    assert good["setup"]["toolchain"]["version"].startswith("avr-gcc")
    assert good["verification"] == {"source": "known", "vectors": 1089, "ext_vectors": 18, "skipped": 2}
    assert {"cycles_encrypt_mean", "encrypt_per_byte", "rom", "stack", "ram_static"} <= good["metrics"].keys()
    point = good["points"][0]
    assert point == {"operation": "encrypt", "adlen": 0, "mlen": 0, "cycles": point["cycles"], "counter": None}
    assert (good["id"], len(good["key"]), good["finished"][:2]) == (2, 64, "20")
    assert bad["failure"]["reason"] == "compile-error"
    assert "steelyard show RUN --log" in bad["failure"]["next_action"]
    assert [r["reason"] for r in data["rejected"]] == ["bad-zip"]
    forecast = ran("run broken damaged.zip -t uno --flags=-Os --dry-run --json")
    *planned, refused = json.loads(forecast.out)
    assert (forecast.code, [p["variant"] for p in planned], refused) == (1, ["nocrypt", "toy1"], data["rejected"][0])
    shown = parsed(ran("show 2 --json"))
    assert isinstance(shown, dict)
    error = shown.pop("error")
    assert shown == good
    assert (error["target"], error["code"], error["page"]) == ("uno", "compiled", "README.md")


def test_json_of_lists(ran: Cli) -> None:
    runs, targets, found = (parsed(ran(f"list {kind} --json")) for kind in ("runs", "targets", "implementations"))
    assert isinstance(runs, list)
    assert isinstance(targets, list)
    assert isinstance(found, dict)
    assert [r["id"] for r in runs] == [2, 1]
    assert {"uno", "bluepill"} <= {t["name"] for t in targets}
    assert {"chip", "toolchain", "digest", "tier"} <= targets[0].keys()
    labels = {f"{i['variant']}/{i['implementation']}" for i in found["implementations"]}
    assert {FAST, "ascon128v12/fast", "nocrypt/ref"} <= labels
    doctor = parsed(ran("doctor --json"))
    assert isinstance(doctor, list)
    assert {"avr-gcc", "bubblewrap"} <= {row["part"] for row in doctor}
    assert [row["part"] for row in doctor].count("avrdude") == 1, "a program of several flashers"
    told = " ".join(row["for"] for row in doctor)
    assert [k.title for k in kinds().values() if k.library and k.title not in told] == []
    for target in targets:
        for other in target["alternative"]:
            assert f"--toolchain {other['name']}" in ran("targets").out
            assert any(r["part"] == other["name"] and f"--toolchain {other['name']}" in r["for"] for r in doctor)


COMMANDS = ("targets", "list implementations", "list runs", "show 2", f"run {FAST} -t uno -w 0/0,0/8,0/16 --flags=-Os")


@pytest.mark.parametrize("columns", [80, 100])
def test_a_narrow_terminal_shows_what_the_doctor_found(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    text = re.sub(r"\x1b\[[0-9;]*m", "", cli("doctor", terminal=True).out)
    assert re.search("^ part +status", text, re.MULTILINE)
    assert re.search(f"^ Python +{re.escape(sys.version.split()[0])}", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= columns


def test_pipes_get_no_escape_codes_and_no_short_lines(ran: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for command in COMMANDS:
        result = ran(command)
        assert "\x1b" not in result.out + result.err
        assert "…" not in result.out
    monkeypatch.setenv("NO_COLOR", "1")
    for command in COMMANDS:
        assert not re.search(r"\x1b\[[0-9;]*(?:3|4|9|10)[0-7]", ran(command, terminal=True).out)


@pytest.mark.parametrize("columns", [20, 60, 100])
def test_narrow_terminals_lose_no_name(ran: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    for command in COMMANDS:
        result = ran(command, terminal=True)
        assert result.code == 0
        text = re.sub(r"\x1b\[[0-9;]*m", "", result.out)
        assert max(map(len, text.splitlines())) <= columns
        if command == "show 2":
            assert "tinyjambu128v2/fast" in re.sub(r"\s+", "", text)


@pytest.mark.parametrize("load", ["kat", "0/0,0/8,0/16"])
def test_the_line_that_show_prints_repeats_the_run(ran: Cli, load: str) -> None:
    first = json.loads(ran(f"run {FAST} -t uno -w {load} --flags=-Os --json").out)["runs"][1]
    line = ran(f"show {first['id']}").out.rsplit("to repeat: ", 1)[1].splitlines()[0]
    words = shlex.split(line)
    assert words[:2] == ["steelyard", "run"]
    repeated = ran(" ".join([*words[1:], "--json"]))
    assert repeated.code == 0, repeated.err
    again = json.loads(repeated.out)["runs"][1]
    assert (again["key"], again["metrics"], again["points"]) == (first["key"], first["metrics"], first["points"])
    assert again["id"] > first["id"]


def test_another_toolchain_is_for_the_targets_that_know_it(cli: Cli, tmp_path: Path) -> None:
    names = {"uno": "avr-gcc", "msp430f1611": "msp430-elf-gcc"}
    write(tmp_path, {"mine.toml": 'targets = ["uno", "msp430f1611"]\ntoolchain = "msp430-elf-gcc"\n'})
    for said in ("-t uno,msp430f1611 --toolchain msp430-elf-gcc", "mine.toml"):
        jobs = parsed(cli(f"run {FAST} {said} --dry-run --json"))
        assert isinstance(jobs, list)
        assert {j["target"]: j["toolchain"]["name"] for j in jobs} == names
    wrong = cli(f"run {FAST} -t msp430f1611 --toolchain msp430-gcc")
    assert (wrong.code, wrong.err) == (2, "steelyard: unknown toolchain 'msp430-gcc'; did you mean msp430-elf-gcc?\n")
    for name in ("profile", "size", "check"):
        wrong = cli(f"{name} {FAST} -t uno --toolchain msp430-elf-gcc")
        assert (wrong.code, wrong.err) == (2, "steelyard: unknown toolchain 'msp430-elf-gcc'; known: avr-gcc\n")


def test_the_line_that_repeats_a_run_names_a_toolchain_that_was_chosen() -> None:
    tool = Toolchain("msp430-elf-gcc", "", "")
    setup = Setup("x", "x", "x", "x", "x", "msp430f1611", "", "simulator", tool, "-O3", "kat", "", "")
    record = Record(setup, None, {})
    assert "--toolchain msp430-elf-gcc" in run.repeating(record)
    setup = replace(setup, toolchain=Toolchain("clang", "", ""))
    assert "--toolchain" not in run.repeating(replace(record, setup=setup))
    handed_in = run.repeating(replace(record, origin="my.zip (submission 3)"))
    assert handed_in.startswith("steelyard run my.zip --target ")
    assert handed_in.endswith("  # with my.zip, which somebody handed in")


def test_zips_are_unpacked_below_steelyard_home(cli: Cli, tmp_path: Path, home: Path) -> None:
    with zipfile.ZipFile(tmp_path / "toy.zip", "w") as z:
        for name, text in toys.files().items():
            z.writestr(f"crypto_aead/toy1/ref/{name}", text)
    assert cli("list implementations toy.zip").code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["toy.zip"]


@pytest.mark.parametrize("path", ["gone.zip", "./gone", "/gone/away"])
def test_a_path_that_does_not_exist(cli: Cli, path: str) -> None:
    result = cli(f"run {path} -t uno")
    assert (result.code, result.out) == (2, "")
    assert "no such file" in result.err


def test_a_run_that_no_board_took_is_repeated_on_boards() -> None:
    """Its notes name none."""
    tool = Toolchain("avr-gcc", "", "")
    setup = Setup("x", "x", "x", "x", "x", "uno", "", "virtual-board", tool, "-O3", "kat", "", "")
    assert "--on lab --target uno " in run.repeating(Record(setup, None, {}))
    assert "--on uno-1 --flags" in run.repeating(Record(setup, None, {}, notes=("virtual-board uno-1: a port",)))


def test_a_run_of_a_folder_can_be_repeated(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "mine/crypto_aead/toy1/ref", toys.files())
    cli("run mine -t uno -w kat --flags=-Os")
    line = cli("show 2").out.rsplit("to repeat: ", 1)[1].splitlines()[0]
    repeated = cli(" ".join(shlex.split(line)[1:]))
    assert "toy1/ref" in repeated.out, repeated.err


def test_what_to_do_names_options_that_exist(cli: Cli) -> None:
    helps = "".join(cli(f"{verb} --help").out for verb in ("run", "check", "show", "rtl"))
    known = set(re.findall(r"--[a-z-]+", helps))
    ours = [re.sub(r"sigrok-cli --[a-z-]+", "", text) for text in (reason.next_action for reason in Reason)]
    named = {o for text in ours for o in re.findall(r"--[a-z-]+", text)}
    assert named - known == set()


@pytest.mark.parametrize(
    ("end", "code", "said"), [(KeyboardInterrupt, 130, "steelyard: stopped\n"), (BrokenPipeError, 141, "")]
)
def test_how_a_command_that_is_stopped_ends(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, end: type[BaseException], code: int, said: str
) -> None:
    def stop() -> bool:
        raise end

    monkeypatch.setattr(doctor, "available", stop)
    result = cli("doctor")
    assert (result.code, result.out) == (code, "")
    assert result.err == said


def test_a_verb_that_makes_runs_says_that_they_are_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**_: object) -> None:
        raise KeyboardInterrupt

    assert {*MAKE_RUNS} <= {*VERBS}
    monkeypatch.setattr(app.verb("check"), "callback", stop)  # type: ignore[attr-defined]
    monkeypatch.setattr(boards.verb.verb("check"), "callback", stop)  # type: ignore[attr-defined]
    assert cli("check nocrypt").err == "steelyard: stopped; finished runs are kept, the same command goes on\n"
    assert cli("boards check").err == "steelyard: stopped\n"


def test_the_legend_explains_every_column_and_no_other(ran: Cli) -> None:
    commands = [f"run {FAST} -t uno -w {load} --flags=-Os" for load in ("kat", "0/0,0/8,0/16")]
    for command in (*commands, "run xoodyakround3/fast -t uno -w default --flags=-Os"):
        lines = ran(command).out.splitlines()
        named = {title for part in lines[-1].split("; ") for title in part.split(":")[0].split(", ")}
        shown = {title for line in lines if line.startswith(" run ") for title in re.split(" {2,}", line.strip())}
        assert {"ROM", "stack", "static RAM"} < named
        assert named == shown - {"run", "implementation", "outcome"}


def test_show_begins_with_no_empty_head(ran: Cli) -> None:
    first, second, *_ = ran("show 2").out.splitlines()
    assert first.startswith("run 2: ")
    assert second.startswith("implementation  ")


def test_show_says_what_figures_are_counted_in(ran: Cli) -> None:
    shown = {c[0]: c[1:] for line in ran("show 2").out.splitlines() if (c := re.split(" {2,}", line.strip()))[1:]}
    assert shown["rom"][0] == "bytes"
    assert shown["cycles_encrypt_mean"][0] == "cycles"
    assert shown["encrypt_per_byte"][0] == "cycles/byte"
    assert shown["unaligned"] == ["0"]


def test_the_version_is_told(cli: Cli) -> None:
    told = cli("--version")
    assert (told.code, told.out) == (0, f"steelyard {version('steelyard')}\n")


def test_help_cuts_no_sentence(cli: Cli) -> None:
    for words, group, verbs in (("", app, VERBS), ("boards", boards.verb, boards.VERBS), ("db", db.verb, db.VERBS)):
        text = cli(f"{words} --help").out
        assert "..." not in text.split("Commands:")[1]
        listed = " ".join(text.split())
        for name, sentence in verbs.items():
            assert f"{name} {sentence}" in listed
            assert " ".join(str(group.verb(name).help).split()).startswith(sentence)


def test_a_verb_of_ours_is_not_offered(cli: Cli) -> None:
    """``boards agent`` is for the other end of ssh; no misspelt word leads to it."""
    assert cli("boards agnet").err == (
        "steelyard: unknown command 'agnet'; known: analyzer, check, list, log, release, retry, virtual\n"
    )
    assert cli("boards agent --help").code == 0


def test_help_reads_no_other_verb() -> None:
    """The list of verbs needs none of them, and the help of one no more than itself."""
    for words, read in (([], set()), (["rank"], {"rank"})):
        code = f"import sys; from steelyard.cli import main; sys.argv = ['steelyard', *{words}, '--help']\n"
        code += "try: main()\nexcept SystemExit: pass\nprint(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        loaded = set(done.stdout.splitlines()[-1].split())
        assert {v for v in VERBS if f"steelyard.cli.{v}" in loaded} == read
        assert not loaded & {"steelyard.pipeline", "sqlalchemy", "vl_convert"}


def test_no_terminal_is_too_narrow_for_what_tells_lines_apart() -> None:
    columns = ("implementation", "target", "flags", "metric", "other")
    rows = [("toy1/ref", "uno", flags, "1 234", "5") for flags in ("-O3", "-Os")]
    console = Console(width=40, record=True, file=io.StringIO())
    console.print(table("", columns, rows, left=3, drop=("flags", "target"), width=40))
    shown = console.export_text()
    assert "-O3" in shown
    assert "-Os" in shown
    assert "uno" not in shown


def test_a_long_name_is_broken_before_a_column_goes() -> None:
    columns, rows = ("name", "flags", "ROM", "RAM"), [("n" * 255, "-O3", "1 234", "56"), ("short", "-Os", "1 000", "7")]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(table("", columns, rows, left=2, drop=("flags",), width=120))
    shown = console.export_text()
    assert "not shown" not in shown
    assert all(cell_len(line) <= 120 for line in shown.splitlines())
    assert all(c in shown for c in ("-O3", "1 234", "56"))
    assert shown.count("n") >= 255


def test_no_number_is_cut_where_a_table_has_no_room() -> None:
    columns = ["implementation", *(f"metric{k}" for k in range(8))]
    rows = [[f"a-rather-long-name-{c}/ref", *(f"{10**k + k}" for k in range(8))] for c in "xyz"]
    for width in range(25, 130, 7):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(table("", columns, rows, drop=("metric3",), width=width))
        words = re.findall(r"\w+", console.export_text())
        shown = {w for w in words if w.isdecimal()}
        assert {"1"} <= shown <= set(rows[0][1:])
        assert set(columns[1:]) <= set(words), "what is not shown is named"


@pytest.mark.parametrize(
    ("value", "digits", "shown"), [(-0.3, 0, "0"), (-0.04, 1, "0.0"), (-0.6, 0, "-1"), (0, 2, "0.00")]
)
def test_there_is_no_minus_before_zero(value: float, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(3199, "3 199"), (3198.99996, "3 199"), (63.6, "63.6"), (-1234.5678, "-1 234.568"), (0.0, "0")]
)
def test_numbers_of_several_kinds_have_the_digits_that_they_need(value: float, shown: str) -> None:
    assert number(value, ANY) == shown


@pytest.mark.parametrize("gap", [2, 3])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_table_with_room_is_drawn_as_rich_draws_it(terminal: bool, gap: int) -> None:
    columns = ["name", "漢字", "cycles"]
    rows = [["a", "élan", "12 345 ▾"], ["longer name", "", "-"], ["", "漢", "1 ▴"]]
    widths = [max(cell_len(r[k]) for r in [columns, *rows]) for k in range(3)]

    def drawn(what: RenderableType) -> list[str]:
        out = io.StringIO()
        console = Console(file=out, width=80, force_terminal=terminal, color_system="truecolor" if terminal else None)
        console.print(what)
        return [line.rstrip() for line in out.getvalue().splitlines()]

    for heads in (columns, ["", "", ""]):
        whole = _broken(heads, rows, [False] * 3, 2, gap)
        wanted = drawn(Padding(whole, (0, 0, 0, int(heads == columns))))
        assert drawn(_lines(heads, rows, widths, 2, gap)) == wanted
