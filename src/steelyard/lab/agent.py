"""The agent: it uses a board of this machine for another one, which asks for it on standard input.

Flasher, port, analyzer, probe and meter, their locks, and the logs of attempts are this machine's. It ends with the
connection, and then the board is free again, whatever it was doing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import IO

from .. import lab as here
from ..device import Client
from ..model import paths, toml, whole
from ..model.call import DeviceError
from ..model.digest import of_file
from ..model.errors import UserError
from ..model.reasons import RELEASED, Failure, Reason
from . import aside, attempt, wire
from .away import AwayLink
from .config import Board, Lab, Station
from .hosts import digest_of
from .link import BoardLink
from .lock import held, is_of, port_of, taken
from .plugs import missing
from .pool import returned

#: images that are kept for the next time
KEPT = 100


def serve(file: Path | None, source: int, sink: int) -> None:
    """Does what is asked at ``source`` with the boards of the lab ``file``, and answers at ``sink``, until the asker is
    gone."""
    os.write(sink, wire.GREETING.encode())
    agent = _Agent(file)
    channel = wire.Channel(source, sink, wire.Asked, step=agent.step)
    with suppress(wire.Gone, KeyboardInterrupt):
        try:
            agent.serve(channel)
        except UserError as e:
            channel.put(wire.Refused(str(e)[:4000]))
    channel.close()


class RunEnded(Exception):
    """The asker's run ended for a reason that is not the board's."""

    def __init__(self, failure: Failure | None) -> None:
        super().__init__()
        self.failure = failure


class _Agent:
    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._station: Station | None = None
        self._lock: IO[bytes] | None = None

    def step(self) -> str:
        """What the board does, for the asker's signs of life."""
        now = attempt.now(self._station.board) if self._station and self._lock else None
        return now.step if now else ""

    def serve(self, channel: wire.Channel) -> None:
        """Answers until there is nobody."""
        lab = here.find(self._file)
        with ExitStack() as locks:
            locks.callback(self._let_go)
            while True:
                match channel.get():
                    case wire.Beat():
                        pass
                    case wire.Describe(board):
                        channel.put(_described(lab, board))
                    case wire.Take(board, known) if self._lock is None:
                        channel.put(self._take(lab, board, known))
                    case wire.Open() as ask if self._station is not None:
                        self._session(channel, ask, self._station)
                    case other:
                        raise UserError(f"{type(other).__name__} is out of turn")

    def _take(self, lab: Lab, name: str, known: str) -> wire.Taken | wire.Failed:
        station = lab.board(name)
        if known != digest_of(told(lab, name)):
            text = "what lab.toml says of it there has changed since this campaign asked"
            return wire.Failed(Failure(Reason.BOARD_LOST, text))
        mark = aside.read(station.board)
        if mark is not None and mark.released:
            text = f"{RELEASED} there: steelyard boards retry {name}, there"
            return wire.Failed(Failure(Reason.BOARD_LOST, text))
        self._lock = taken(port_of(station.board), str(station.board.port))
        if self._lock is not None:
            self._station = station
        return wire.Taken(self._lock is not None)

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.close()
        self._lock = None

    def _as_plugged(self, board: Board, over: Event) -> IO[bytes]:
        """The lock of the board, which may have come back as another device; the asker cannot see whether it is plugged
        in again. :class:`DeviceError` where another has that."""
        returned(board.port, over)
        if self._lock is None or (board.port.exists() and not is_of(self._lock, board)):
            self._let_go()
            self._lock = held(port_of(board), str(board.port))
        return self._lock

    def _session(self, channel: wire.Channel, ask: wire.Open, station: Station) -> None:
        """The board with an image in it, until the asker is done with that."""
        image = _image(channel, ask)
        last: wire.Message = wire.Done()
        try:
            lock = self._as_plugged(station.board, channel.ended)
            with here.opened(station, image, ask.max_cycles, channel.ended, ask.purpose, lock) as link:
                assert not isinstance(link, AwayLink)
                _used(channel, link)
        except DeviceError as e:
            last = wire.Failed(e.failure)
        except RunEnded:
            pass
        channel.put(last)


def _used(channel: wire.Channel, link: BoardLink) -> None:
    """Answers for the board until the asker is done with the image. Raises as his work ended."""
    try:
        resolution, notes = link.resolution, [n[:4000] for n in link.notes]
        channel.put(wire.Opened(link.window, link.fills_ram, resolution, link.clock, notes))
        while True:
            match channel.get():
                case wire.Beat():
                    pass
                case wire.Shut(failure, other):
                    if other:
                        raise RunEnded(failure)
                    if failure is not None:
                        raise DeviceError(failure)
                    return
                case message:
                    channel.put(_answered(link, message))
    except wire.Gone:
        raise KeyboardInterrupt from None


def _answered(link: BoardLink, message: wire.Message) -> wire.Message:
    """The answer to what is asked of a board, which is there after a failure too, for whoever asks may know better."""
    try:
        match message:
            case wire.Exchange(data):
                came = link.exchange(data)
                try:
                    return wire.Came(came, [p.cycles for p in link.pulses()], None, link.samples)
                except DeviceError as e:
                    return wire.Came(came, [], e.failure, link.samples)
            case wire.Reset():
                link.reset()
            case wire.FillRam():
                link.fill_ram()
            case wire.Untouched():
                return wire.Longest(link.longest_untouched())
            case wire.Weigh(known, most):
                client = Client(link)
                client.need.most = most
                return wire.Weighed(here.power(link, client, known) if known else None)
            case wire.Look(request, output):
                return wire.Seen(here.look(link, Client(link), request, output)[:4000])
            case _:
                raise UserError(f"{type(message).__name__} is out of turn")
    except DeviceError as e:
        return wire.Failed(e.failure)
    return wire.Done()


def _described(lab: Lab, name: str) -> wire.Described | wire.Failed:
    try:
        station = lab.board(name)
    except UserError as e:
        return wire.Failed(Failure(Reason.BOARD_LOST, str(e)))
    return wire.Described(told(lab, name), station.target.digest, list(missing(station))[:20])


def told(lab: Lab, name: str) -> bytes:
    """What ``lab.toml`` says of a board, as JSON."""
    return json.dumps(toml.as_dict(lab.only(name).but(folder=Path(), file=Path())), sort_keys=True).encode()


def _image(channel: wire.Channel, ask: wire.Open) -> Path:
    """The image that is asked for: kept from the last time, or what is sent now."""
    file = paths.home() / "cache" / "images" / ask.digest / ask.image
    if not (file.exists() and of_file(file) == ask.digest):
        channel.put(wire.Wanted())
        while isinstance(message := channel.get(), wire.Beat):
            pass
        if not isinstance(message, wire.Image) or hashlib.sha256(message.content).hexdigest() != ask.digest:
            raise UserError("the image that came is another than the one that was asked for")
        whole.put(file, message.content)
    file.touch()
    kept = sorted(file.parents[1].glob("*/*"), key=_changed)
    for old in kept[:-KEPT]:
        with suppress(OSError):  # another agent's business as well
            old.unlink()
            old.parent.rmdir()
    return file


def _changed(file: Path) -> float:
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


@contextmanager
def alone_with_streams() -> Iterator[tuple[int, int]]:
    """Standard input and output for the agent alone: what others print goes to standard error."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        yield source, sink
    finally:
        for file in (source, sink, nothing):
            os.close(file)
