"""Processes that make pages: one for those that are quick, one for tables and figures, so that none of these waits for
one of those, and the server that hands out what is kept waits for neither."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from types import FrameType
from typing import TYPE_CHECKING, ParamSpec

from ..store import Store, StoreError
from . import ahead
from .kept import Kept, packed
from .news import MOST, New
from .reply import Reply, Sent
from .sections import SECTIONS, Section

if TYPE_CHECKING:  # not in the server
    from .submit import Taking

P = ParamSpec("P")
#: seconds that a page may take, and pages that may wait
SECONDS, WAITING = 60, 64
#: KiB of memory above which a process is replaced after its page
_LARGE = 160 << 10


@cache
def _store(place: str) -> Store:
    return Store.open(place)


def _begin(taking: bool) -> None:
    """Prepares a process: it ends with the server, however that ends. Where submissions are taken, all pages say so."""
    if taking:
        from . import layout

        layout.MENU["submissions"] = "hand in"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    signal.signal(signal.SIGALRM, _late)
    server = multiprocessing.parent_process()

    def watch() -> None:
        if server is not None:
            server.join()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _late(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError


def make(place: str, path: str, query: str, sent: bytes = b"") -> tuple[Kept, bool]:
    """A reply, in a process for that; and whether the process has become large."""
    from .respond import respond  # not in the server

    return _in_time(lambda: respond(_store(place), path, query, sent))


def take(place: str, sent: Sent, taking: Taking) -> tuple[Kept, bool]:
    """What becomes of what is handed in; as :func:`make`."""
    from .submit import answer

    return _in_time(lambda: answer(_store(place), sent, taking))


def operate(place: str, sent: Sent) -> tuple[Kept, bool]:
    """What operators see, and what becomes of what they do; as :func:`make`."""
    from .operate import answer

    return _in_time(lambda: answer(_store(place), sent))


def hire(place: str, sent: Sent) -> tuple[Kept, bool]:
    """What a worker gets; as :func:`make`."""
    from .hire import answer

    return _in_time(lambda: answer(_store(place), sent))


def _in_time(work: Callable[[], Reply]) -> tuple[Kept, bool]:
    signal.alarm(SECONDS)
    try:
        made = packed(work())
    except (StoreError, TimeoutError) as e:  # it could not even be opened
        made = packed(Reply(503, "text/plain; charset=utf-8", f"steelyard: {e}\n".encode()))
    finally:
        signal.alarm(0)
    return made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _LARGE


def since(place: str, last: int) -> list[New]:
    """The runs newer than one, or none where the database does not answer."""
    try:
        return _store(place).since(last, MOST)
    except StoreError:
        return []


def slow(path: str) -> bool:
    """Whether what stands there may take long, as files of tables and figures may."""
    first, _, rest = path.strip("/").partition("/")
    return SECTIONS.get(first, Section()).slow or "." in rest or rest.endswith(("profile", "image"))


class _Maker:
    """A process, which is replaced when it has become large or was killed."""

    def __init__(self, taking: bool) -> None:
        self.waiting = 0
        self._taking = taking
        self._turn = asyncio.Lock()
        self._start()

    def _start(self) -> None:
        self.pool = ProcessPoolExecutor(1, mp_context=ahead.context(), initializer=_begin, initargs=(self._taking,))

    async def make(self, work: Callable[P, tuple[Kept, bool]], *args: P.args, **no: P.kwargs) -> Kept | None:
        """A reply; None where too many wait."""
        if self.waiting >= WAITING:
            return None
        self.waiting += 1
        try:
            async with self._turn:  # none waits in a process that is to be replaced
                return await self._make(partial(work, *args, **no))
        finally:
            self.waiting -= 1

    async def _make(self, work: Callable[[], tuple[Kept, bool]]) -> Kept:
        loop = asyncio.get_running_loop()
        for _ in range(2):
            try:
                made, large = await loop.run_in_executor(self.pool, work)
            except BrokenProcessPool:
                self._start()
                continue
            if large:  # it is gone before the next one begins
                await asyncio.to_thread(self.pool.shutdown)
                self._start()
            return made
        return packed(Reply(500, "text/plain; charset=utf-8", b"steelyard: this page ended its process\n"))


class Makers:
    """The two processes for a database."""

    def __init__(self, place: str, taking: Taking | None = None) -> None:
        self._place, self.taking = place, taking
        self._quick, self._slow = _Maker(taking is not None), _Maker(taking is not None)

    async def make(self, path: str, query: str, sent: bytes = b"") -> Kept | None:
        """What stands at an address, with what is asked in a body; None where too many wait."""
        return await (self._slow if slow(path) else self._quick).make(make, self._place, path, query, sent)

    async def take(self, sent: Sent) -> Kept | None:
        """What becomes of what is handed in; None where too many wait."""
        assert self.taking is not None
        return await self._slow.make(take, self._place, sent, self.taking)  # quick pages do not wait for zips

    async def operate(self, sent: Sent) -> Kept | None:
        """What operators see, and what becomes of what they do; None where too many wait."""
        return await self._slow.make(operate, self._place, sent)

    async def hire(self, sent: Sent) -> Kept | None:
        """What a worker gets that has no database; None where too many wait."""
        return await self._slow.make(hire, self._place, sent)

    def busy(self, path: str) -> bool:
        """Whether others wait for such pages."""
        return (self._slow if slow(path) else self._quick).waiting > 0

    async def since(self, last: int) -> list[New]:
        """The runs newer than one."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._quick.pool, since, self._place, last)
        except BrokenProcessPool:
            return []

    def close(self) -> None:
        """Ends them."""
        for maker in (self._quick, self._slow):
            maker.pool.shutdown(wait=False, cancel_futures=True)


class Here:
    """Pages made in this process: for tests, and where one process is to be all."""

    def __init__(self, place: str, taking: Taking | None = None) -> None:
        self._store, self.taking = Store.open(place), taking

    async def make(self, path: str, query: str, sent: bytes = b"") -> Kept | None:
        """See :meth:`Makers.make`."""
        from .respond import respond

        return packed(respond(self._store, path, query, sent))

    async def take(self, sent: Sent) -> Kept | None:
        """See :meth:`Makers.take`."""
        from .submit import answer

        assert self.taking is not None
        return packed(answer(self._store, sent, self.taking))

    async def operate(self, sent: Sent) -> Kept | None:
        """See :meth:`Makers.operate`."""
        from .operate import answer

        return packed(answer(self._store, sent))

    async def hire(self, sent: Sent) -> Kept | None:
        """See :meth:`Makers.hire`."""
        from .hire import answer

        return packed(answer(self._store, sent))

    def busy(self, path: str) -> bool:
        """See :meth:`Makers.busy`."""
        return False

    async def since(self, last: int) -> list[New]:
        """See :meth:`Makers.since`."""
        return self._store.since(last, MOST)

    def close(self) -> None:
        """Closes the database."""
        self._store.close()
