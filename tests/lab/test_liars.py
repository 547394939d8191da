"""A board that answers wrongly, in frames that are in order, is nobody's verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard import device, lab, measure
from steelyard.device import frame
from steelyard.lab import Lab, aside, pool
from steelyard.model.reasons import Failure, Reason
from tests.conftest import Bench

from .test_pool import Boards, boards, jobs, on, reasons, there, weighed

__all__ = ["boards", "there"]

#: an answer's fields and output
Fields = tuple[int, int, int, int, int, int, int, bytes]
LIES: dict[str, Callable[[Fields], Fields]] = {
    "output": lambda f: (*f[:7], bytes(b ^ 1 for b in f[7])),
    "length": lambda f: (f[0], f[1] + 1, *f[2:]),
    "code": lambda f: (f[0] - 1, *f[1:]),
    "overrun": lambda f: (*f[:2], f[2] & ~frame.INTACT, *f[3:]),
    "foreign trigger": lambda f: (*f[:2], f[2] & ~frame.PULSE, *f[3:]),
    "stack": lambda f: (*f[:4], 60_000, *f[5:]),
}


def lies(monkeypatch: pytest.MonkeyPatch, name: str, how: str) -> None:
    """All answers of a board are changed. As on silicon, its word is all that is known of the stack."""
    right, pulses = lab.BoardLink.exchange, lab.BoardLink.pulses
    monkeypatch.setattr(lab.BoardLink, "sees_stack", False)
    monkeypatch.setattr(lab.BoardLink, "pulses", lambda self: [replace(p, stack=None) for p in pulses(self)])

    def exchange(self: device.SimulatorLink, data: bytes) -> bytes:
        came = bytearray()
        for command, payload in frame.Decoder().feed(right(self, data)):  # type: ignore[arg-type]
            if command == frame.RUN | frame.ANSWER and self.name == name:  # type: ignore[attr-defined]
                fields = frame.RUN_ANSWER.unpack_from(payload)
                *head, output = LIES[how]((*fields, payload[frame.RUN_ANSWER.size :]))  # type: ignore[arg-type]
                payload = frame.RUN_ANSWER.pack(*head) + output  # type: ignore[operator]
            came += frame.encode(command, payload)
        return bytes(came)

    monkeypatch.setattr(lab.BoardLink, "exchange", exchange)


@pytest.mark.parametrize("how", LIES)
def test_a_board_that_answers_wrongly_is_no_verdict(
    bench: Bench, boards: Boards, there: Lab, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Another takes its run; where there is none, the run says that there is none."""
    lies(monkeypatch, "a", how)
    [record] = weighed(bench, jobs(bench, there, 1))
    assert (record.failure, on([record])) == (None, {"b"})
    [text] = [n for n in record.notes if n.startswith("attempt")]
    assert text.startswith("attempt 1 ended with board-unreachable: a: ")
    [alone] = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1, 2)])
    assert reasons([alone]) == [Reason.BOARD_LOST]
    assert not alone.final
    assert aside.read(there.boards["a"]) is not None


def test_figures_of_one_board_that_cannot_be_are_asked_for_twice(
    bench: Bench, boards: Boards, there: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def implausible(*_: object) -> Failure | None:
        made.append(1)
        return Failure(Reason.IMPLAUSIBLE, "too short")

    monkeypatch.setattr(measure, "implausible", implausible)
    [record] = weighed(bench, jobs(bench, there, 1))
    assert (reasons([record]), len(made)) == ([Reason.IMPLAUSIBLE], 2)
    assert boards.opened == ["a", "a", "b", "b"]


def speaks(boards: Boards, said: list[Reason | None]) -> None:
    """All boards end the package's runs so, one after the other; nocrypt works on them."""
    images: list[Path] = []

    def behave(image: Path) -> Reason | None:
        images.append(image)
        return said.pop(0) if image == images[0] and said else None

    boards.behave = {"a": behave, "b": behave}


LATE = [Reason.BUFFER_OVERRUN, Reason.FLASH_FAILED, Reason.FLASH_FAILED]


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ([Reason.BUFFER_OVERRUN, Reason.BUFFER_OVERRUN], "it ended with buffer-overrun in 2 of 2 attempts"),
        ([Reason.RAM_OVERFLOW, None], "it ended with ram-overflow in 1 of 2 attempts: look at the board's supply"),
        (LATE, "it ended with buffer-overrun in 1 of 1 attempt"),
    ],
)
def test_what_speaks_against_a_package_is_named(
    bench: Bench, boards: Boards, there: Lab, said: list[Reason | None], note: str
) -> None:
    """How often it did, too, where the lab let no second attempt come to an end."""
    speaks(boards, [*said])
    [record] = weighed(bench, jobs(bench, there, 1))
    assert reasons([record]) == [said[0]]
    *before, last = [n for n in record.notes if "attempt" in n]
    assert last.startswith(note)
    late = [f"attempt {k} ended with {r}" for k, r in enumerate(said, 1) if k == 1 or r == Reason.FLASH_FAILED]
    assert [n.partition(": ")[0] for n in before] == late


@pytest.mark.parametrize("reason", [Reason.BAD_KAT, Reason.SIZES_DIFFER, Reason.UNSUPPORTED_SIZE])
def test_what_needs_no_board_is_said_once_and_of_no_board(
    bench: Bench, boards: Boards, there: Lab, reason: Reason
) -> None:
    speaks(boards, [reason])
    [record] = weighed(bench, jobs(bench, there, 1))
    assert (reasons([record]), boards.opened) == ([reason], ["a"])
    assert not [n for n in record.notes if "attempt" in n]
    assert pool._doubted == set(pool._accused) == set()
