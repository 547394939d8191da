"""``make bench`` runs to its end: a figure that cannot be measured is a row that says why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import analyzer
import pytest
import service
import zero_wait

import bench


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["sh", "-c", "echo cannot load image >&2; exit 3"], "peer: ended with 3: cannot load image"),
        (["sleep", "600"], "peer: does not end in 0 s"),
        (["/none/such"], "peer: FileNotFoundError"),
        (["sh", "-c", "kill -9 $$"], "peer: ended with -9"),
        (["sh", "-c", "printf 'fatal: lockup\\n\\nR00=0 R01=0\\n' >&2; exit 6"], "peer: ended with 6: fatal: lockup"),
    ],
)
def test_a_peer_that_cannot_is_a_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: list[str], text: str
) -> None:
    monkeypatch.setattr(bench, "LIMIT", 0.3)
    monkeypatch.setattr(bench.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    row = bench.beside("uno", 16_000_000, 1.0, bench.Peer("peer", lambda: bench.process(command, tmp_path), "3"))
    assert row[:2] == ("uno", "16 MHz, 1.00 s")
    assert row[2].startswith(text)
    assert "R01" not in row[2]
    assert row[3:] == ("-", "3")


def test_a_peer_that_fails_as_it_is_meant_to_has_ended(tmp_path: Path) -> None:
    """mspdebug stops at a word that is not an instruction, and calls that an error."""
    stops = ["sh", "-c", "echo 'unknown single-operand opcode: 0x0000 (PC = 0x6078)'; exit 255"]
    assert bench.process(stops, tmp_path, "opcode: 0x0000") >= 0
    with pytest.raises(subprocess.CalledProcessError):
        bench.process(stops, tmp_path)


def test_others_that_work_meanwhile_make_no_peer_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    for load, times in ((0.5, 1), (8.0, 4)):
        monkeypatch.setattr(bench.os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        monkeypatch.setattr(bench.os, "cpu_count", lambda: 2)
        assert bench.limit() == times * bench.LIMIT


def test_a_target_that_cannot_is_a_row_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def one(target: object, label: str, place: Path, plugin: Path | None) -> tuple[list[object], list[object]]:
        if place.name.startswith("uno"):
            raise subprocess.TimeoutExpired("qemu", 60)
        return [("bluepill", label)], []

    monkeypatch.setattr(bench, "target_names", lambda: ("uno", "bluepill"))
    monkeypatch.setattr(bench, "CHOSEN", {})
    monkeypatch.setattr(bench.building, "identify", lambda spec: spec)
    monkeypatch.setattr(bench, "_one", one)
    cores, peers = bench.speed(tmp_path)
    assert cores == [
        ("uno", "avr5", f"{bench.PRIMARY}: does not end in 60 s", "-", "-"),
        ("bluepill", bench.PRIMARY),
    ]
    assert peers == []
    said = capsys.readouterr().err.splitlines()
    assert said == [f"bench: {bench.PRIMARY} on {name}" for name in ("uno", "bluepill")], "tables come much later"


def test_a_command_that_cannot_is_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(folder: Path) -> list[object]:
        raise KeyError("runs")

    monkeypatch.setattr(bench.ctypes, "CDLL", lambda name: bench.ctypes.pythonapi)
    monkeypatch.setattr(bench.ctypes.pythonapi, "prctl", lambda *_: 0, raising=False)
    monkeypatch.setattr(
        bench, "COMMANDS", {"first": fails, "second": lambda folder: [("second", "1 s", "-", "-", "-")]}
    )
    assert [row[1] for row in bench.commands(tmp_path)] == ["KeyError: 'runs'", "1 s"]


def test_a_part_of_the_service_or_an_analyzer_that_cannot_is_a_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object) -> list[object]:
        raise OSError("no server of databases")

    asked = service.argparse.Namespace()
    monkeypatch.setitem(service.PARTS, "queue", fails)
    assert service.measured("queue", tmp_path, asked) == [("queue", "OSError: no server of databases", "-", "-")]
    monkeypatch.setattr(analyzer, "measured", fails)
    for found, text in ((None, "sigrok-cli is not installed"), ("/bin/sigrok-cli", "OSError: no server")):
        monkeypatch.setattr(analyzer.shutil, "which", lambda _, found=found: found)
        made = analyzer.row(*analyzer.WANTED[0])
        assert made[1].startswith(text)
        assert made[-1] == "< 0.5"


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), ([], 2), (["/none/such"], 2)])
def test_who_weighs_assembly_of_others_is_told_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], code: int
) -> None:
    monkeypatch.setattr("sys.argv", ["zero_wait.py", *words])
    assert zero_wait.main() == code
    assert "usage: bench/zero_wait.py CHECKOUTS [RULES]" in capsys.readouterr().out
