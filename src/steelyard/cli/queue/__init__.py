"""``steelyard queue``: what waits to be weighed and why, and what operators do about it."""

from __future__ import annotations

import getpass
from collections.abc import Sequence

import click

from ...publish.sheet import plain
from ...store.operating import KINDS
from ...store.submissions import ADDED
from .. import options
from ..options import Number, Stored
from ..output import Output

VERBS = {
    "list": "List jobs that wait, run or failed, with why each waits.",
    "why": "Say why a job waits, and what came of each attempt.",
    "workers": "List workers, their machines and boards, and what is paused.",
    "add": "Let workers weigh implementations or a campaign, after what others hand in.",
    "repeat": "Repeat jobs that have ended, or all that failed.",
    "pause": "Give no jobs to a target, a machine or a board.",
    "resume": "End a pause.",
    "release": "Publish a submission.",
    "delete": "Delete a submission, with its results.",
    "key": "Print the key with which a machine takes jobs over HTTP, or delete it.",
    "link": "Print a link that works once, for somebody who is to operate the server.",
}

#: numbers of jobs and of submissions
number = Number(1 << 53)


class Handed(Stored, frozen=True, kw_only=True):
    """Parameters of commands about a submission."""

    submission: int


class Subject(Stored, frozen=True, kw_only=True):
    """Parameters of commands about a target, a machine or a board."""

    kind: str
    name: str


submission = click.argument("submission", type=number, metavar="SUBMISSION")
kind = click.argument("kind", type=click.Choice(KINDS))
name = click.argument("name", metavar="NAME")


@click.group("queue", cls=options.Commands, package=__name__, verbs=VERBS, no_args_is_help=True)
def verb() -> None:
    """Look at the queue of a server, and operate it from its machine."""


def me() -> str:
    """Who acts, as the audit log has it."""
    try:
        return f"{getpass.getuser()[:40]} ({ADDED})"
    except (OSError, KeyError):
        return ADDED


def did(out: Output, label: str, lines: Sequence[tuple[str, str]]) -> int:
    """Says what was done, and returns the exit code."""
    out.give([plain("", label, (label, "now"), lines)])
    return 0
