"""``steelyard serve``: stored results as web pages, from a server."""

from __future__ import annotations

import errno
import os
import socket
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from ..model.errors import UserError
from . import options, select
from .console import stderr
from .options import Number, command
from .stopping import as_ctrl_c

if TYPE_CHECKING:
    from ..store import Store
    from ..web.reply import Taking


class Serve(Struct, frozen=True):
    """What ``serve`` is asked."""

    host: str
    port: int
    submissions: bool
    review: bool
    work: int | None
    target: tuple[str, ...]
    db: str | None


@command(
    Serve,
    options.text("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen at; 0.0.0.0 for all."),
    click.option("--port", type=Number(65535), default=8017, show_default=True, metavar="N", help="Port to listen at."),
    options.flag("--submissions", help="Take packages that anybody hands in; steelyard work weighs them."),
    options.flag("--review", help="With --submissions: operators publish what owners offer."),
    options.number("--work", most=64, help="With --submissions: also start so many workers here, which end with it."),
    click.option(
        "--target", "-t", multiple=True, metavar="TARGET", help="With --submissions: on these. Default: all simulated."
    ),
    options.db,
)
def verb(ask: Serve) -> int:
    """Serve stored results as web pages. They need no JavaScript and ask nothing of any other host."""
    if ask.target and not ask.submissions:
        raise UserError("--target: says where packages are weighed; it needs --submissions")
    if ask.review and not ask.submissions:
        raise UserError("--review: is of what others hand in; it needs --submissions")
    if ask.work and not ask.submissions:
        raise UserError("--work: weighs what others hand in; it needs --submissions")
    with as_ctrl_c():
        return _serve(ask)


def _serve(ask: Serve) -> int:
    from ..web import ahead

    ahead.start()
    with ahead.process() as other:  # says what is wrong with the database before anything listens
        prepared = other.submit(_prepared, ask)
        import uvicorn

        from ..web import idle
        from ..web.app import create
        from ..web.makers import Makers

        link, taking = prepared.result()
        listener = _listening(ask)
        host, port = listener.getsockname()[:2]
        if ask.submissions:  # queue link leads there
            other.submit(_served, ask, f"http://{host}:{port}").result()
    with listener:
        stderr().print(f"serving http://{host}:{port}/ ; stop with Ctrl-C", soft_wrap=True)
        if link:
            stderr().print(f"nobody operates it yet: http://{host}:{port}{link} works once, for a day", soft_wrap=True)
        if taking is not None and taking.closed:
            stderr().print(f"takes no submissions: {taking.closed}", soft_wrap=True)
        app = create(Makers(select.place(ask.db), taking))
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_keep_alive=15,
            limit_concurrency=idle.PLACES, h11_max_incomplete_event_size=16 << 10, http=idle.Protocol, ws="none",
        )  # fmt: skip
        with _workers(ask, taking):
            uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listening(ask: Serve) -> socket.socket:
    try:
        return socket.create_server((ask.host, ask.port), reuse_port=False, backlog=256)
    except OSError as e:
        action = "give another --port" if e.errno == errno.EADDRINUSE else "give another --host or --port"
        why = os.strerror(e.errno) if e.errno else e.strerror  # without the address, which is said already
        raise UserError(f"{ask.host}:{ask.port}: {why}; {action}") from e


def _served(ask: Serve, url: str) -> None:
    """Writes down where the server is. In a process of its own."""
    from ..store.operators import Operators

    with select.store(ask.db) as store:
        Operators(store).served(url)


def _prepared(ask: Serve) -> tuple[str, Taking | None]:
    """The first operator's link, if one is needed, and what is taken. In a process of its own."""
    with select.store(ask.db) as store:
        return (_first_link(store), _taking(ask)) if ask.submissions else ("", None)


def _workers(ask: Serve, taking: Taking | None) -> AbstractContextManager[None]:
    """The workers that are to be here."""
    if not ask.work or taking is None or taking.closed:
        return nullcontext()
    from ..farm.beside import workers

    chosen = [w for name in taking.targets for w in ("--target", name)]
    return workers(ask.work, ["--db", select.place(ask.db), *chosen])


def _taking(ask: Serve) -> Taking:
    """What is taken, and on which targets; nothing where it is to be compiled here and there is no sandbox."""
    from ..building import sandbox
    from ..store.quota import Quota
    from ..web.lint import usual_targets
    from ..web.reply import Taking

    found = select.targets(ask.target) if ask.target else []
    if other := [t.name for t in found if t.device != "simulator"]:
        raise UserError(f"--target {other[0]}: what strangers hand in runs simulated only")
    named = tuple(t.name for t in found) or usual_targets()
    if ask.work and not found:
        with suppress(UserError):  # without any compiler jobs wait, and say so
            here = {t.name for t in select.targets(())}
            named = tuple(n for n in named if n in here) or named
    closed = sandbox.WITHOUT if ask.work and not sandbox.available() else ""
    return Taking(named, Quota(), ask.review, closed)


def _first_link(store: Store) -> str:
    """Where whoever started the server becomes its operator, if there is none."""
    from ..store.operators import Operators

    operators = Operators(store)
    return "" if operators.any() else f"/operate/begin/{operators.link()}"
