"""``steelyard queue``: what waits to be weighed and why, and what operators do about it."""

from __future__ import annotations

import getpass
from collections.abc import Sequence

import click

from ...publish.sheet import plain
from .. import options
from ..output import Output

VERBS = {
    "list": "List jobs that wait, run or failed, with why each waits.",
    "why": "Say why a job waits, and what came of each try.",
    "workers": "List workers, their machines and boards, and what is paused.",
    "repeat": "Do jobs again that ended, or all that failed.",
    "pause": "Give no jobs to a target, a machine or a board.",
    "resume": "End a pause.",
    "release": "Publish what somebody handed in.",
    "delete": "Delete what somebody handed in, with its results.",
    "key": "Print the key by which a machine takes jobs over HTTP, or delete it.",
    "link": "Print a link that is good once, for who is to operate the server.",
}


@click.group("queue", cls=options.Commands, package=__name__, verbs=VERBS, no_args_is_help=True)
def verb() -> None:
    """Look at the queue of a server, and operate it from its machine."""


def me() -> str:
    """Who acts, as the audit log has it."""
    try:
        return f"{getpass.getuser()[:40]} (command line)"
    except (OSError, KeyError):
        return "command line"


def did(out: Output, label: str, lines: Sequence[tuple[str, str]]) -> None:
    """Says what was done."""
    out.give([plain("", label, (label, "now"), lines)])
