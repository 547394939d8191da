"""Processes that make pages: one for those that are quick, one for tables and figures, so that none of these waits for
one of those, and the server that hands out what is kept waits for neither. In each the shorter goes before the longer,
and what somebody waits for before what is only made anew. A third is for the queue: no reader keeps workers, operators
or who hands in waiting."""

from __future__ import annotations

import asyncio
import heapq
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from itertools import count
from types import FrameType
from typing import TypeVar

from msgspec.structs import replace

from ..store import Store, StoreError
from . import ahead, memory
from .kept import Kept, packed
from .news import MOST, Since, of_names
from .reply import Late, Reply, Sent, Taking
from .sections import FEED, SECTIONS, Section

#: seconds of processors that a page may take, and seconds on the clock, which are many more: where a machine has much
#: else to do, short pages take long; pages that may wait, and of those the ones that are only made anew
SECONDS, LONGEST, WAITING, LATER = 60, 240, 64, 24
#: seconds of a processor that looking through what is handed in may take, for others wait meanwhile
LOOKING = 10
#: a page waits for others as many times its own seconds, and one that is only made anew so many seconds
_PATIENT, _ANEW = 10.0, 60.0
#: seconds after which those who waited for their turn are told to come back
_TURN = 90.0
#: how patient they are whom the queue's process serves, by the places that they have: workers, of whom a beat that
#: comes late is a run that is done twice, go before operators, and these before who hands in, however long they wait
_WORKERS, _OPERATORS, _OFFERED = ("workers", -2 * _TURN), ("operators", -_TURN), ("handed in", 0.0)
#: workers that nobody knows yet, of whom each may be anybody
_STRANGERS = ("strangers", -_TURN)
#: seconds that a page is taken to need of whose kind none was made
_UNKNOWN = {True: 1.0, False: 0.05}
_DRAWN = (".svg", ".png")
#: KiB of memory above which a process is replaced after its page: one that has drawn is below it, unless the page was
#: large too
_LARGE = 96 << 10
_T = TypeVar("_T")


@cache
def _store(place: str) -> Store:
    return Store.open(place)


def _begin(taking: bool) -> None:
    """Prepares a process. Where submissions are taken, all pages say so."""
    ahead.begin()
    if taking:
        from . import layout

        layout.MENU["submissions"] = "hand in"
    for late in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(late, _late)


def _late(signum: int, frame: FrameType | None) -> None:
    raise Late


def make(place: str, path: str, query: str, sent: bytes = b"", *, taking: bool = False) -> tuple[Kept, bool]:
    """A reply, in a process for that; and whether the process has become large."""
    from .respond import respond  # not in the server

    return _in_time(path, lambda: respond(_store(place), path, query, sent, apart=True, taking=taking))


def draw(reply: Reply) -> tuple[Kept, bool]:
    """A figure that another process left; as :func:`make`."""
    from .respond import drawn

    return _in_time("", lambda: drawn(reply))


def take(place: str, sent: Sent, taking: Taking) -> tuple[Kept, bool]:
    """What becomes of what is handed in; as :func:`make`."""
    from .submit import answer

    began = time.process_time()
    made, large = _in_time(sent.path, lambda: answer(_store(place), sent, taking), LOOKING, large=bool(sent.file))
    return replace(made, reply=replace(made.reply, seconds=time.process_time() - began)), large


def operate(place: str, sent: Sent) -> tuple[Kept, bool]:
    """What operators see, and what becomes of what they do; as :func:`make`."""
    from .operate import answer

    return _in_time(sent.path, lambda: answer(_store(place), sent))


def hire(place: str, sent: Sent) -> tuple[Kept, bool]:
    """What a worker gets; as :func:`make`."""
    from .hire import answer

    return _in_time(sent.path, lambda: answer(_store(place), sent), large=bool(sent.file))


def _in_time(
    path: str, work: Callable[[], Reply], seconds: float | None = None, *, large: bool = False
) -> tuple[Kept, bool]:
    """The reply to what is asked at a path, within so many seconds of a processor."""
    from .respond import failed

    signal.setitimer(signal.ITIMER_PROF, seconds or SECONDS, 1)  # again where something took it for its own error
    signal.alarm(LONGEST)
    try:
        made = packed(work())
    except (StoreError, Late) as e:  # it could not even be opened
        made = packed(failed(path, e))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    if made.slow or large:
        memory.trim()
    return made, memory.resident() > _LARGE


def since(place: str, last: int) -> Since | None:
    """What was stored since a run, and what else changed; None where the database does not answer."""
    try:
        return _since(_store(place), last)
    except StoreError:
        return None


def _since(store: Store, last: int) -> Since:
    return Since(store.since(last, MOST), store.changes())


def slow(path: str, query: str = "") -> bool:
    """Whether what stands there may take long, as files of tables and figures may. What is of two names or a feed does
    not."""
    first, _, rest = path.strip("/").partition("/")
    if rest.rpartition("/")[2] == FEED:
        return False
    if first == "compare" and not rest and of_names(query):
        return False
    return SECTIONS.get(first, Section()).slow or "." in rest or rest.endswith(("profile", "image"))


class _Turns:
    """Who is next of those that want one process: who is due first."""

    def __init__(self) -> None:
        self._taken = False
        self._numbers = count()
        self._line: list[tuple[float, int, asyncio.Future[None]]] = []

    async def take(self, due: float) -> None:
        """Waits until it is the turn of who is due then, who gives it back."""
        if not self._taken:
            self._taken = True
            return
        mine = asyncio.get_running_loop().create_future()
        heapq.heappush(self._line, (due, next(self._numbers), mine))
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():  # it was our turn already
                self.give()
            raise

    def give(self) -> None:
        """Makes it the turn of the next one."""
        while self._line:
            _, _, other = heapq.heappop(self._line)
            if not other.done():
                other.set_result(None)
                return
        self._taken = False


class _Maker:
    """A process, which is replaced when it has become large or was killed."""

    def __init__(self, taking: bool) -> None:
        self._waiting: Counter[str] = Counter()
        self._taking = taking
        self._turns = _Turns()
        self._start()

    def _start(self) -> None:
        self.pool = ProcessPoolExecutor(1, mp_context=ahead.context(), initializer=_begin, initargs=(self._taking,))

    def _instead_of(self, pool: ProcessPoolExecutor) -> None:
        """Replaces a process, unless another took its place already."""
        if self.pool is pool:
            self._start()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self._waiting.total()

    async def make(
        self, work: Callable[[], tuple[Kept, bool]], patient: float = 0.0, most: int = WAITING, place: str = ""
    ) -> Kept | None:
        """A reply; None where as many wait in a ``place`` as may at ``most``, or where its turn does not come in time.
        It lets others go first that come within as many seconds as it is ``patient``."""
        if self._waiting[place] >= most:
            return None
        self._waiting[place] += 1
        try:
            try:
                async with asyncio.timeout(_TURN):  # none waits in a process that is to be replaced
                    await self._turns.take(time.monotonic() + patient)
            except TimeoutError:
                return None
            try:
                return await self._make(work)
            finally:
                self._turns.give()
        finally:
            self._waiting[place] -= 1

    async def say(self, work: Callable[[], _T]) -> _T | None:
        """What the process says between its pages; None where it, and the one in its place, was killed."""
        for _ in range(2):
            pool = self.pool
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, work)
            except BrokenProcessPool:
                self._instead_of(pool)
        return None

    async def _make(self, work: Callable[[], tuple[Kept, bool]]) -> Kept:
        loop = asyncio.get_running_loop()
        for _ in range(3):
            pool = self.pool
            try:
                made, large = await loop.run_in_executor(pool, work)
            except BrokenProcessPool:
                self._instead_of(pool)
                continue
            if large or made.reply.draw is not None:  # it is gone before the next page begins
                self._instead_of(pool)  # first: nobody else gives work to one that is being ended
                await asyncio.to_thread(pool.shutdown)
            if made.reply.draw is None:
                return made
            work = partial(draw, made.reply)
        return packed(Reply(500, "text/plain; charset=utf-8", b"steelyard: this page ended its process\n"))


def _kind(path: str) -> str:
    """What pages are alike in how long they take: those of one first word, its tables as files, and its drawings."""
    first, _, rest = path.strip("/").partition("/")
    file = "" if "." not in rest else "drawing" if rest.endswith(_DRAWN) else "file"
    return f"{first} {file}" if first in SECTIONS else file


class Makers:
    """The processes for a database; the queue's starts when it is first asked."""

    def __init__(self, place: str, taking: Taking | None = None) -> None:
        self._place, self.taking = place, taking
        self._quick, self._slow, self._queue = (_Maker(taking is not None) for _ in range(3))
        self._seconds: dict[str, float] = {}

    async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept | None:
        """What stands at an address, with what is asked in a body; None where too many wait. What may come ``later`` is
        made when nobody waits, or after a minute."""
        kind, long = _kind(path), slow(path, query)
        patient = _ANEW if later else min(_PATIENT * self._seconds.get(kind, _UNKNOWN[long]), _ANEW)
        work = partial(make, self._place, path, query, sent, taking=self.taking is not None)
        made = await (self._slow if long else self._quick).make(work, patient, LATER if later else WAITING)
        if made is not None and made.reply.status == 200:
            seconds = made.reply.seconds
            self._seconds[kind] = (self._seconds.get(kind, seconds) + seconds) / 2
        return made

    async def take(self, sent: Sent) -> Kept | None:
        """What becomes of what is handed in; None where too many wait."""
        assert self.taking is not None
        return await self._served(partial(take, self._place, sent, self.taking), _OFFERED)

    async def operate(self, sent: Sent) -> Kept | None:
        """What operators see, and what becomes of what they do; None where too many wait."""
        return await self._served(partial(operate, self._place, sent), _OPERATORS)

    async def hire(self, sent: Sent) -> Kept | None:
        """What a worker gets that has no database; None where too many wait. What was sent says from where where nobody
        knows its key."""
        return await self._served(partial(hire, self._place, sent), _STRANGERS if sent.address else _WORKERS)

    async def _served(self, work: Callable[[], tuple[Kept, bool]], who: tuple[str, float]) -> Kept | None:
        place, patient = who
        return await self._queue.make(work, patient, place=place)

    def busy(self, path: str, query: str) -> bool:
        """Whether others wait for such pages."""
        return (self._slow if slow(path, query) else self._quick).waiting > 0

    async def since(self, last: int) -> Since | None:
        """See :func:`since`; also None where processes are killed."""
        return await self._quick.say(partial(since, self._place, last))

    def close(self) -> None:
        """Ends them."""
        for maker in (self._quick, self._slow, self._queue):
            maker.pool.shutdown(wait=False, cancel_futures=True)


class Here:
    """Pages made in this process: for tests, and where one process is to be all."""

    def __init__(self, place: str, taking: Taking | None = None) -> None:
        self._store, self.taking = Store.open(place), taking

    async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept | None:
        """See :meth:`Makers.make`."""
        from .respond import respond

        return packed(respond(self._store, path, query, sent, taking=self.taking is not None))

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

    def busy(self, path: str, query: str) -> bool:
        """See :meth:`Makers.busy`."""
        return False

    async def since(self, last: int) -> Since | None:
        """See :func:`since`."""
        return _since(self._store, last)

    def close(self) -> None:
        """Closes the database."""
        self._store.close()
