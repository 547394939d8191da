"""A server's queue over HTTP, as a worker sees it that has no database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from .. import __version__
from ..model.errors import UserError, cut
from ..model.record import Record
from ..store.errors import StoreError
from ..store.floor import Board
from ..store.queue import Mine, Taken
from ..store.tenure import BEAT
from . import wire
from . import wirework as words
from .remote import Server

T = TypeVar("T", bound=Struct)


class HttpQueue:
    """See :class:`..store.queue.Queue`. Methods raise :class:`StoreError` where the server does not answer.
    :class:`UserError` for an address or a key that none can be."""

    def __init__(self, url: str, key: str, worker: str) -> None:
        if not (key.isascii() and key.isprintable()):  # a header has nothing else
            raise UserError(f"{cut(key)!r}: is not a key that steelyard queue key prints")
        self.worker, self._server = worker, Server(url, {"authorization": f"Bearer {key}"})

    def _asked(self, deed: str, kind: Any, gives: type[T], **said: Any) -> T:
        asked = kind(worker=self.worker, version=__version__, **said)
        path = "/".join(("", *wire.ROOT, "work", deed))
        return self._server.understood(self._server.sent(path, msgspec.json.encode(asked), "application/json"), gives)

    @contextmanager
    def taken(self, targets: Collection[str]) -> Iterator[Taken | None]:
        """A job on one of these targets, which is ours within the block."""
        taken = self._asked("take", words.TakeAsked, words.Work, targets=tuple(sorted(targets))).taken
        if taken is None:
            yield None
            return
        over, mine = Event(), _mine(taken)

        def beats() -> None:
            while not over.wait(BEAT):
                with suppress(StoreError):
                    self._asked("beat", words.JobAsked, words.Heard, job=mine)

        thread = Thread(target=beats, name="beats", daemon=True)
        thread.start()
        try:
            yield taken
        finally:
            over.set()

    def close(self, taken: Mine, state: str, detail: str = "", record: Record | None = None, log: str = "") -> None:
        """Says what came of a job."""
        said = {"state": state, "detail": detail, "record": record, "log": log}
        self._asked("close", words.CloseAsked, words.Heard, job=_mine(taken), **said)

    def give_back(self, taken: Mine) -> None:
        """Lets another worker have it."""
        self._asked("give-back", words.JobAsked, words.Heard, job=_mine(taken))

    def left(self, targets: Collection[str]) -> bool:
        """Whether jobs on these targets wait for a time or are others'."""
        return self._asked("left", words.TakeAsked, words.Left, targets=tuple(sorted(targets))).left

    def present(self, targets: tuple[str, ...], boards: tuple[Board, ...]) -> Sequence[str]:
        """Says that the worker is there; which of its boards are paused."""
        return self._asked("present", words.PresentAsked, words.Paused, targets=targets, boards=boards).boards

    def absent(self) -> None:
        """Says that it has ended."""
        self._asked("absent", words.WorkAsked, words.Heard)


def _mine(taken: Mine) -> Mine:
    return Mine(taken.number, taken.lease, taken.attempt)
