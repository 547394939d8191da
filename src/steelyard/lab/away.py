"""Boards at other machines: an agent there (agent.py) uses them for us, and we ask it over ssh."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import IO, Self, TypeVar

from ..model import elf
from ..model.call import BUILD, Caller, DeviceError, Observed, Pulse, Request
from ..model.errors import printable
from ..model.power import Power
from ..model.reasons import Failure, Reason
from . import wire
from .attempt import Attempt
from .config import Station
from .connection import Connection, error
from .lock import PAUSE, port_of, taken

#: seconds between two questions whether a board is free
ASK = 0.5
M = TypeVar("M", bound=wire.Message)


class Away:
    """Our hold of a board at another machine, which :meth:`close` lets go. Here one process waits for it at a time."""

    def __init__(self, station: Station, over: Event) -> None:
        self._station, self._over = station, over
        self._lock: IO[bytes] | None = None
        self._connection: Connection | None = None
        self._asked = 0.0

    def take(self) -> bool:
        """Whether the board is ours now; false while another has it. :class:`DeviceError` when its host is not
        there."""
        board, now = self._station.board, time.monotonic()
        if self._lock is None:
            self._lock = taken(port_of(board), board.title)
        if self._lock is None or now - self._asked < ASK:
            return False
        self._asked = now
        return self._agent().ask(wire.Take(board.named, self._station.known), wire.Taken, self._over).mine

    def _agent(self) -> Connection:
        if self._connection is None:
            assert self._station.host is not None
            self._connection = Connection(self._station.host, self._over)
        return self._connection

    def _again(self) -> None:
        """Sees to it that there is an agent with the board. :class:`DeviceError` when it cannot be had."""
        if self._connection is not None and not self._connection.alive:
            self._hang_up()
            self._asked = 0.0
            if not self.take():
                text = f"{self._station.board.host}: another has it since the connection ended"
                raise DeviceError(Failure(Reason.BOARD_LOST, text))

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def opened(self, image: Path, max_cycles: int, over: Event, mine: Attempt) -> Iterator[AwayLink]:
        """The board with ``image`` in its flash; as :func:`..lab.opened` there, which keeps its own log.
        :class:`DeviceError` where it cannot be had, or does not work."""
        mine.step(f"asks {self._station.board.host}")
        link = None
        try:
            self._again()
            link = AwayLink(self._station, self._agent(), image, max_cycles, over, mine)
            yield link
            link = None  # the agent is done with it, whatever it found last
            self._agent().ask(wire.Shut(), wire.Done, over, mine)
        except DeviceError as e:
            if link is not None:
                link.shut(wire.Shut(e.failure))
            detail = e.failure.detail.removeprefix(f"{self._station.board.named}: ")
            raise type(e)(Failure(e.failure.reason, detail)) from e
        except KeyboardInterrupt:
            self._hang_up()  # whatever the agent does just now
            raise
        except BaseException as e:
            if link is not None:
                link.shut(wire.Shut(getattr(e, "failure", None), type(e).__name__))
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lets the board go."""
        self._hang_up()
        if self._lock is not None:
            self._lock.close()
            self._lock = None


#: what somebody has who has a board: the lock of its port, or an agent that has it
Hold = IO[bytes] | Away


class Holds:
    """Boards that one thread would like to have one of, until :meth:`close`, or ``over`` is set."""

    def __init__(self, over: Event) -> None:
        self._over = over
        self._waiting: dict[str, Away] = {}

    def take(self, station: Station) -> Hold | None:
        """The board, if it is free. :class:`DeviceError` when its host is not there."""
        name = station.board.name
        if station.host is None:
            return taken(port_of(station.board), str(station.board.port))
        away = self._waiting.setdefault(name, Away(station, self._over))
        try:
            if not away.take():
                return None
        except (DeviceError, KeyboardInterrupt):
            self._waiting.pop(name).close()
            raise
        return self._waiting.pop(name)

    def close(self) -> None:
        """Waits for none of them any more."""
        for away in self._waiting.values():
            away.close()


def hold(station: Station, over: Event) -> Hold:
    """The board, which is waited for until ``over`` is set. :class:`DeviceError` names it."""
    holds = Holds(over)
    try:
        while (mine := holds.take(station)) is None:
            if over.wait(PAUSE):
                raise KeyboardInterrupt
        return mine
    except DeviceError as e:
        raise DeviceError(Failure(e.failure.reason, f"{station.board.title}: {e.failure.detail}")) from e
    finally:
        holds.close()


class AwayLink:
    """Our end of a board at another machine, with ``image`` in its flash. A batch of requests is one message."""

    sees_stack = False
    quantity = "cycles"

    def __init__(
        self,
        station: Station,
        agent: Connection,
        image: Path,
        max_cycles: int,
        over: Event,
        mine: Attempt,
    ) -> None:
        board, device = station.board, station.target.device
        self._agent, self._attempt, self._over = agent, mine, over
        self._pulses: list[Pulse] = []
        self._ram = station.target.chip.ram.size
        self._lost: Failure | None = None
        #: samples of all pulses
        self.samples = 0
        content = image.read_bytes()
        self.build = elf.address(content, BUILD)
        ask = wire.Open(image.name, hashlib.sha256(content).hexdigest(), max_cycles, mine.purpose)
        opened = self._agent.say(ask, over, mine)
        if isinstance(opened, wire.Wanted):
            opened = self._agent.say(wire.Image(content), over, mine)
        if not isinstance(opened, wire.Opened):
            raise DeviceError(Failure(Reason.BOARD_LOST, f"{board.host}: {type(opened).__name__} is not an open board"))
        self.window, self.fills_ram = opened.window, opened.fills_ram
        self.resolution, self.clock = opened.resolution, printable(opened.clock)
        place = f"{device} {board.name}: {board.named} at {board.host}, "
        notes = (printable(note) for note in opened.notes)
        self.notes = tuple(place + n.removeprefix(f"{device} {board.named}: ") for n in notes)
        mine.step("works")

    def exchange(self, data: bytes) -> bytes:
        """See :class:`..device.Link`."""
        self._attempt.passed(">", data)
        came = self._ask(wire.Exchange(data), wire.Came)
        self._attempt.passed("<", came.data)
        self._attempt.called(len(came.pulses))
        self._pulses += map(Pulse, came.pulses)
        self._lost, self.samples = came.lost, came.samples
        return came.data

    def pulses(self) -> list[Pulse]:
        """See :class:`..device.Link`."""
        if self._lost is not None:
            raise error(self._lost)
        taken, self._pulses = self._pulses, []
        return taken

    def reset(self) -> None:
        """Restarts the firmware."""
        self._pulses = []
        self._ask(wire.Reset(), wire.Done)

    def fill_ram(self) -> None:
        """See :class:`..device.Link`."""
        self._pulses = []
        self._ask(wire.FillRam(), wire.Done)

    def longest_untouched(self) -> int | None:
        """See :class:`..device.Link`; :class:`DeviceError` for more bytes than there are."""
        run = self._ask(wire.Untouched(), wire.Longest).run
        if run is not None and run > self._ram:
            text = f"{run} bytes of RAM are as they were, and {self._ram} is all that there is"
            raise DeviceError(Failure(Reason.BOARD_LOST, text))
        return run

    def power(self, client: Caller, known: Sequence[Observed]) -> Power | None:
        """See :func:`..lab.power`, which runs there."""
        return self._ask(wire.Weigh(list(known), client.most), wire.Weighed).power

    def look(self, request: Request, output: bytes) -> str:
        """See :func:`..lab.look`, which runs there."""
        return printable(self._ask(wire.Look(request, output), wire.Seen).text)

    def shut(self, end: wire.Shut) -> None:
        """Says how the work with this image ended; the agent may be gone already."""
        with suppress(DeviceError):
            self._agent.say(end, self._over)

    def close(self) -> None:
        """Does nothing: :class:`Away` lets the board go."""

    def _ask(self, question: wire.Message, kind: type[M]) -> M:
        return self._agent.ask(question, kind, self._over, self._attempt)
