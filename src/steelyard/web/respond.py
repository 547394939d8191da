"""What stands at an address of a results database: the same for the server and for files."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable

from msgspec.structs import replace

from ..model.errors import UserError, cut, unknown
from ..store import Store, StoreError
from ..store.errors import NoRoom, Unreadable
from . import address, api, ask, feed, layout, memory, pages
from .page import Links, NotThereError, Page, Text
from .reply import HTML, Late, Reply

#: title of a page that says why something was not done
NOT_DONE = "Not done"
#: KiB of memory of a process that still draws itself, which takes 100 MB more
ROOM = 60 << 10
_SAY = logging.getLogger(__name__)


def respond(
    store: Store, path: str, query: str = "", sent: bytes = b"", *, apart: bool = False, taking: bool = False
) -> Reply:
    """What stands at an address, as it was sent, with what programs ask in a body. Whatever is wrong is a page that
    says so. A figure may be left to be drawn ``apart``, where this process has become large. For ``taking`` see
    :class:`.pages.view.View`."""
    begun = time.perf_counter()
    state = -1
    names = address.segments(path[: ask.LONGEST])
    try:
        state = store.last()
        made = _found(store, names, path, query, sent, apart, taking)
    except (Exception, Late) as e:
        made = failed(path, e, query)
    seconds = time.perf_counter() - begun
    return replace(made, digest=hashlib.sha256(made.body).hexdigest()[:24], state=state, seconds=seconds)


def drawn(reply: Reply) -> Reply:
    """A figure that was left to be drawn."""
    begun = time.perf_counter()
    assert reply.draw is not None
    try:
        made = replace(reply, body=reply.draw(), draw=None)
    except (Exception, Late) as e:
        made = replace(explained(e, "a figure", wrong_page), state=reply.state)
    seconds = reply.seconds + time.perf_counter() - begun
    return replace(made, digest=hashlib.sha256(made.body).hexdigest()[:24], seconds=seconds)


def failed(path: str, e: BaseException, query: str = "") -> Reply:
    """Why what is asked at an address cannot be had."""
    names = address.segments(path[: ask.LONGEST])
    return explained(
        e,
        "a private page" if address.is_private(names) else f"{path}?{query}",
        wrong_answer if api.is_asked(names) else wrong_page,
    )


def explained(
    e: BaseException, what: str, wrong: Callable[[int, str, str], Reply], refused: str = "This cannot be shown"
) -> Reply:
    """Why something cannot be had; ``refused`` is the title where what was asked is wrong."""
    if isinstance(e, NotThereError):
        return wrong(404, "Not found", str(e))
    if isinstance(e, Unreadable):
        _SAY.error("%s", e)
        return wrong(
            500, "A stored run cannot be read", f"{e.what}; steelyard db check, where the database is, names it."
        )
    if isinstance(e, NoRoom):
        _SAY.error("%s", e)
        return wrong(507, "There is no room", "The server's disk is full: whoever runs it has to free some of it.")
    if isinstance(e, StoreError):
        _SAY.error("%s", e)
        return wrong(503, "The database does not answer", "Try again in a minute.")
    if isinstance(e, UserError):
        return wrong(400, refused, str(e))
    if isinstance(e, Late):
        return wrong(503, "This takes too long", "Choose less: a target, a name, fewer columns.")
    _SAY.error("%s", cut(what), exc_info=e)
    return wrong(500, "An error in Steelyard", "It is in the server's log.")


def _found(
    store: Store, names: tuple[str, ...], path: str, query: str, sent: bytes, apart: bool, taking: bool
) -> Reply:
    if len(path) + len(query) > ask.LONGEST:
        raise UserError(f"this address is too long: at most {ask.LONGEST} characters")
    if api.is_asked(names):
        return Reply(*api.answer(store, names, query, sent))
    *above, last = names or ("",)
    ending = max((e for e in layout.ENDINGS if last.endswith(f".{e}")), key=len, default="")
    if ending and (of := pages.route(above)):
        label = last[: -len(ending) - 1]
        try:
            make = layout.file(page(store, *of, query), label, ending)
        except NotThereError:
            make = None
        if make is not None:
            memory.trim()  # the page's rows, before what draws takes as much
            kind = (layout.TABLES | layout.FIGURES)[ending]
            if apart and ending in layout.FIGURES and memory.resident() > ROOM:
                return Reply(200, kind, b"", draw=make)
            return Reply(200, kind, make())
    if last == feed.NAME and (of := pages.route(above)) and of[0].feed is not None:
        equal = dict(zip(of[0].feed, of[1], strict=True))
        newest = store.latest(feed.COUNT, **equal)
        if not newest:
            page(store, *of)  # which may say that there is no such name
        return Reply(200, feed.KIND, feed.feed(store, address.path(*above), equal, newest))
    if (of := pages.route(names)) is None:
        raise _nowhere(names)
    made = page(store, *of, query, taking=taking)
    news = "" if of[0].feed is None else f"{address.path(*names).rstrip('/')}/{feed.NAME}"
    return layout.answer(made, store, names, query, feed=news)


def page(store: Store, route: pages.Route, names: tuple[str, ...], query: str = "", *, taking: bool = False) -> Page:
    """The page of a route."""
    made = route.make(pages.View(store, ask.query(query, [field.name for field in route.asked]), taking), *names)
    return layout.distinct(made) if made.alone else layout.distinct(made, address.words(store))


def _nowhere(names: tuple[str, ...]) -> NotThereError:
    known = sorted({words[0] for words in pages.ROUTES if words})
    if names and names[0] in known:
        return NotThereError(f"nothing is at /{cut('/'.join(names))}; /search finds names")
    return NotThereError(str(unknown("page", "/".join(names), known)))


def wrong_page(status: int, title: str, why: str) -> Reply:
    """A page that says what is wrong."""
    shown = Page(title, [Text(why), Links([("search", "/search"), ("first page", "/")], "where to go")], status=status)
    return Reply(status, HTML, layout.html(shown, None).encode())


def wrong_answer(status: int, title: str, why: str) -> Reply:
    """The same for programs."""
    return Reply(status, *api.refusal(f"{title.lower()}: {why}" if status >= 500 else why))
