"""How a command ends when streams, machine or Steelyard itself fail it: a sentence, an exit code, no traceback."""

from __future__ import annotations

import errno
import io
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.cli import doctor, failure
from steelyard.store import Store, values
from tests.conftest import ROOT, write
from tests.store.conftest import RECORD

from .conftest import Cli

STEELYARD = [sys.executable, "-m", "steelyard"]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "STEELYARD_TRACEBACK"} | {"PYTHONPATH": str(ROOT / "src")}


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which $S is steelyard."""
    more = {"S": " ".join(STEELYARD), "STEELYARD_HOME": str(folder / "home"), **environment}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=ENVIRONMENT | more, capture_output=True, text=True, check=False
    )


def test_nobody_reads(tmp_path: Path) -> None:
    for verb in ("targets", "list implementations ascon128v12 --json", "--help"):
        done = shell(f"$S {verb} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
        assert done.stderr == ""
        assert done.stdout in ("141\n", "0\n")  # a short answer may be gone before anybody looks
    done = shell("exec 3> >(exec 3>&-; exit 0); sleep 0.3; $S targets >&3; echo $?", tmp_path)
    assert (done.stdout, done.stderr) == ("141\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_standard_output_is_full(tmp_path: Path) -> None:
    for verb in ("targets", "targets --json", "--help"):
        done = shell(f"$S {verb} >/dev/full", tmp_path)
        assert done.returncode == 1
        assert done.stderr == (
            "steelyard: standard output or a file: No space left on device; free some space and run again\n"
        )
    assert shell("$S walk 2>/dev/full", tmp_path).returncode == 2


def test_streams_that_are_closed(tmp_path: Path) -> None:
    assert shell("$S targets --json -o t.json >&-", tmp_path).returncode == 0
    assert (tmp_path / "t.json").read_text().startswith("[")
    done = shell("$S targets >&- 2>&- <&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert shell("$S walk 2>&-", tmp_path).returncode == 2


def test_any_locale_and_any_width(tmp_path: Path) -> None:
    ascii_only = shell("$S targets", tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONCOERCECLOCALE="0")
    assert (ascii_only.returncode, ascii_only.stderr) == (0, "")
    assert "ATmega328P" in ascii_only.stdout
    letters = shell("$S targets --errors", tmp_path, PYTHONIOENCODING="latin-1")
    assert (letters.returncode, "\\u" in letters.stdout, "-----" in letters.stdout) == (0, False, True)
    done = shell("$S check $'b\\xe9d\\e[31m' -t uno", tmp_path, LC_ALL="C")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert shell("$S targets", tmp_path, COLUMNS="1").returncode == 0


@pytest.mark.parametrize("after", [0.02, 0.06, 0.12, 0.2, 0.3])
def test_interrupted_at_any_moment(tmp_path: Path, after: float) -> None:
    """Before main is called Python itself ends, by the signal or its own words; later a sentence does."""
    here = subprocess.Popen(
        [sys.executable, "-c", "from steelyard.cli import main; print('up', flush=True); main()", "targets"],
        cwd=tmp_path,
        env=ENVIRONMENT | {"STEELYARD_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert here.stdout is not None
    assert here.stdout.readline() == "up\n"
    with pytest.raises(subprocess.TimeoutExpired):
        here.wait(0.0001)
    try:
        here.wait(after)
    except subprocess.TimeoutExpired:
        here.send_signal(signal.SIGINT)
    _, err = here.communicate()
    assert "Traceback" not in err
    assert (here.returncode, err) in (
        (130, "steelyard: stopped\n"),
        (0, ""),
        (-signal.SIGINT, ""),
    )


def test_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "cache").write_text("")
    for home in ("file", "file/home", "/proc/home", "/dev/null", "odd"):
        done = shell("$S check nocrypt -t uno --db results.db", tmp_path, STEELYARD_HOME=home)
        assert (done.returncode, done.stdout) == (2, "")
        assert "set STEELYARD_HOME to a folder that you may write to" in done.stderr


def fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def command() -> bool:
        raise error

    monkeypatch.setattr(doctor, "available", command)


def test_an_unexpected_error_leaves_its_traceback_in_a_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    fails(monkeypatch, KeyError("no such \x1b[2J thing"))
    result = cli("doctor")
    assert (result.code, result.out) == (70, "")
    assert "unexpected error: KeyError" in result.err
    assert "home/traceback.txt" in result.err
    assert result.err.count("\n") == 1
    assert "\x1b" not in result.err
    kept = (tmp_path / "home/traceback.txt").read_text()
    assert "steelyard doctor" in kept
    assert "Traceback (most recent call last)" in kept
    for shown in (cli("--traceback doctor"), _with(monkeypatch, cli)):
        assert shown.code == 70
        assert "Traceback (most recent call last)" in shown.err


@pytest.mark.parametrize(
    ("line", "environment"),
    [
        ("list runs --db mariadb+pymysql://u:SEC%21RET@127.0.0.1:8160/s?bogus=1", {}),
        ("list runs --db postgresql://u@h/s?sslmode=require&password=SEC!RET", {}),
        ("list runs", {"STEELYARD_DB": "postgresql://u:SEC!RET@h/s"}),
        ("list runs --db x://me:SEC!RET@h/s@t", {"PGPASSWORD": "SEC!RET"}),
        ("doctor --previous=https://s/submissions/SEC!RET --key SEC!RET", {}),
        ("doctor", {"STEELYARD_WORKER_KEY": "SEC!RET"}),
        ("list\truns\t--db\tpostgresql://u:SEC!RET and more@h/s", {}),
    ],
)
def test_what_is_reported_lets_nobody_in(
    line: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither in the file, which others cannot read, nor on the console."""
    for name, value in {"STEELYARD_HOME": str(tmp_path), **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["steelyard", *(line.split("\t") if "\t" in line else line.split())])
    (tmp_path / "traceback.txt").touch(0o644)
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    link = "https://s.example/submissions/AAAAAAAAAAAAAAAAAAAAAQ"
    for shown in (False, True):
        failure.explain(KeyError(f"{line} {environment} {link}" + (" 'SEC!RET'" if "\t" not in line else "")), shown)
    file = tmp_path / "traceback.txt"
    kept = file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    for text in (kept, said.getvalue()):
        assert "***" in text
        assert not [s for s in ("SEC!RET", "SEC%21RET", "AAAAQ") if s in text], text


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mariadb+pymysql://u:SECRET@127.0.0.1:1/s?bogus=1", "unknown parameter of the URL 'bogus'"),
        ("mariadb://u:SECRET@127.0.0.1:1/s?read_timeot=1", "did you mean read_timeout"),
        ("mariadb://u:SECRET@127.0.0.1:1/s?connect_timeout=x", "correct the parameters in the URL"),
        ("mariadb://u:SECRET@127.0.0.1:1/s?ssl_ca=/none", "correct the parameters in the URL"),
        ("mariadb://u:SECRET@127.0.0.1:1/s?charset=x", "correct the parameters in the URL"),
        ("postgresql://u:SECRET@127.0.0.1:1/s?pasword=SECRET", "correct the parameters in the URL"),
        ("sqlite:///results.db?timout=1", "did you mean timeout"),
        ("sqlite:///results.db?timeout=x", "correct the parameters in the URL"),
    ],
)
def test_parameters_of_a_url(cli: Cli, url: str, said: str) -> None:
    result = cli(["list", "runs", "--db", url])
    assert result.code in (2, 3), result.err
    assert said in result.err
    assert "SECRET" not in result.err
    assert "SECRET" not in cli(["db", "copy", url, url]).err, "where a name is said as it was given"


def _with(monkeypatch: pytest.MonkeyPatch, cli: Cli):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("STEELYARD_TRACEBACK", "1")
    return cli("doctor")


def test_a_fault_of_the_file_system_is_a_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fails(monkeypatch, OSError(errno.ENOSPC, "No space left on device", "some/file"))
    result = cli("doctor")
    assert (result.code, result.out) == (1, "")
    assert result.err == "steelyard: some/file: No space left on device; free some space and run again\n"
    fails(monkeypatch, FileNotFoundError(errno.ENOENT, "No such file or directory", "both.map"))
    assert cli("doctor").code == 70, "a file that is missing inside of Steelyard is a fault of ours"


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_home_that_cannot_be_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, below: str) -> None:
    (tmp_path / "home").write_text("")
    monkeypatch.setenv("STEELYARD_HOME", f"{tmp_path}/home{below}")
    told = cli("doctor --json")
    assert told.code == 1
    assert ("home: File exists" if not below else "home/deeper: Not a directory") in told.out
    (tmp_path / "home").unlink()
    write(tmp_path, {"home/deeper/cache": "", "home/cache": ""})
    told = cli("doctor --json")
    assert told.code == 1
    assert "cache: File exists" in told.out


def test_runs_of_an_unknown_primitive(cli: Cli, tmp_path: Path) -> None:
    """Those of a later version, or a damaged file."""
    with Store.open(tmp_path / "results.db") as store:
        store.add(RECORD)
    with closing(sqlite3.connect(tmp_path / "results.db")) as connection:
        connection.executescript("UPDATE implementation SET primitive = 'crypto_odd'")
    for question in ("publish", "rank", "report"):
        result = cli(question)
        assert (result.code, result.out) == (2, "")
        assert "the database has runs of crypto_odd, which this version does not know" in result.err


def test_damaged_cycles_of_known_answers(cli: Cli, tmp_path: Path) -> None:
    with Store.open(tmp_path / "results.db") as store:
        store.add(replace(RECORD, vector_cycles=b"\0"))
    result = cli("show 1 --vectors")
    assert (result.code, result.out) == (3, "")
    assert "run 1: these are not the packed cycles of known answers" in result.err
    assert "; restore a copy, or repeat it: steelyard run" in result.err
    assert cli("show 1").code == 0


def test_a_database_that_fails_is_no_wrong_usage(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exit code 3 for what another process, the disk or damage did; 2 for a path that is none of a database."""
    monkeypatch.setattr(values, "BUSY_SECONDS", 0.01)
    file = tmp_path / "results.db"
    Store.open(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        locked = cli("list runs")
        other.execute("ROLLBACK")
        other.executescript("DROP TABLE run")
    assert (locked.code, locked.out) == (3, "")
    assert "locked; another process has held it for too long" in locked.err
    damaged = cli("publish")
    assert (damaged.code, damaged.out) == (3, "")
    assert "the file is damaged" in damaged.err
    file.write_text("this is no database " * 100)
    assert cli("list runs").code == 2


@pytest.mark.parametrize(
    "line",
    [
        "run pipe.toml",
        "run nocrypt -t uno -w kat --on lab --lab pipe.toml",
        "boards list --lab pipe.toml",
        "compare pipe.json pipe.json",
    ],
)
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path, line: str) -> None:
    done = shell(f"mkfifo pipe.toml pipe.json; timeout 30 $S {line}", tmp_path)
    name = "pipe.json" if "json" in line else "pipe.toml"
    said = f"steelyard: {name}: is a pipe that nobody writes to; start what writes it before, or name a file\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_pipes_with_somebody_at_the_other_end(tmp_path: Path) -> None:
    wrote = "mkfifo in.toml out.md; exec 3<>in.toml 4<in.toml; echo 'implementations = [\"nosuch\"]' >&3; exec 3>&-"
    done = shell(f"{wrote}; timeout 30 $S run in.toml 4<&-", tmp_path)
    assert "unknown implementation 'nosuch'" in done.stderr
    assert shell("timeout 30 $S targets -o out.md", tmp_path).stderr == (
        "steelyard: out.md: nobody reads this pipe; start what reads it before, or name a file\n"
    )
    assert shell("cat out.md & timeout 30 $S targets -o out.md", tmp_path).stdout.startswith("### ")
    assert shell("timeout 30 $S targets -o >(cat) --format md", tmp_path).stdout.startswith("### ")


def test_what_has_no_end_is_too_large(tmp_path: Path) -> None:
    done = shell("ln -s /dev/zero zeros.toml; timeout 30 $S run zeros.toml", tmp_path)
    assert (done.returncode, done.stderr) == (2, "steelyard: zeros.toml: larger than 1048576 bytes\n")


def test_a_name_of_standard_output_stays_one(tmp_path: Path) -> None:
    """/dev/stdout, where that is a file: it is written to, not replaced."""
    done = shell("ln -s /proc/self/fd/1 out.md; (echo first; $S targets -o out.md; echo last) >all", tmp_path)
    assert (done.returncode, (tmp_path / "out.md").is_symlink()) == (0, True)
    text = (tmp_path / "all").read_text()
    assert (text.startswith("first\n### "), text.endswith("|\nlast\n")) == (True, True), text
