"""What records are named by: the path that a user gave, be it in a revision of a repository, or a zip that was handed
in, with the number of its submission, that of the first one of its line, and that of a newer one that replaced it.
Nobody's path is read as a submission."""

from __future__ import annotations

import re
from typing import NamedTuple

#: how a zip may be called that was handed in: workers make a file of this name
ZIP = r"[A-Za-z0-9_+][A-Za-z0-9._+-]{0,90}\.zip"
_HANDED_IN = re.compile(
    rf"({ZIP}) \(submission ([0-9]{{1,18}})(?: of line ([0-9]{{1,18}}))?(?:, replaced by ([0-9]{{1,18}}))?\)"
)
#: what SQL finds the names of submissions by; a path that is alike has a slash
ANY = "%.zip (submission %)"
_ALIKE = re.compile(r"[^/]*\.zip \(submission [^/]*\)", re.IGNORECASE)
#: a place in a revision, with its commit
_AT_REVISION = re.compile(r"(.*) at .* \([0-9a-f]{12}\)", re.DOTALL)


class HandedIn(NamedTuple):
    """Of which submission a run is: its file's ``name``, the number of the ``first`` of its line, its own, and that of
    the version that ``replaced`` it where it is weighed with other sources."""

    name: str
    first: int
    number: int
    replaced: int | None = None


def of_submission(name: str, number: int, first: int | None = None, replaced: int | None = None) -> str:
    """What runs of a submission are named by. Its line has the number of its ``first`` one, which it is itself where
    that is left out."""
    of = "" if first in (None, number) else f" of line {first}"
    by = "" if replaced is None else f", replaced by {replaced}"
    return f"{name} (submission {number}{of}{by})"


def at_revision(revision: str, commit: str) -> str:
    """What follows the path in the names of a revision's runs."""
    return f" at {revision} ({commit[:12]})"


def is_revision(origin: str) -> bool:
    """Whether a run is of a revision of a repository, which may be older than what lies at the path."""
    return _AT_REVISION.fullmatch(origin) is not None


def unrevised(origin: str) -> str:
    """What is called so in all revisions: the path."""
    found = _AT_REVISION.fullmatch(origin)
    return origin if found is None else found[1]


def like(first: int) -> tuple[str, ...]:
    """What SQL finds the names of a line's submissions by; those of paths may be alike."""
    of = (f"(submission {first}", f"(submission % of line {first}")
    return tuple(f"%.zip {name}{end}" for name in of for end in (")", ", replaced by %)"))


def submission(origin: str) -> HandedIn | None:
    """Of which submission a run with this origin is; None of any other."""
    found = _HANDED_IN.fullmatch(origin)
    return (
        None
        if found is None
        else HandedIn(found[1], int(found[3] or found[2]), int(found[2]), int(found[4]) if found[4] else None)
    )


def line(origin: str) -> int | str:
    """Whose versions replace each other: of submissions the number of the first, for each version's file may have
    another name, else the origin."""
    found = submission(origin)
    return origin if found is None else found.first


def version(origin: str) -> int:
    """What orders the versions of a line: the number of the submission; 0 of what was not handed in. Runs of older
    databases have their line's."""
    found = submission(origin)
    return 0 if found is None else found.number


def replaced_by(origin: str) -> int | None:
    """The newer version of its line that was weighed with other sources where this run was."""
    found = submission(origin)
    return None if found is None else found.replaced


def unversioned(origin: str) -> str:
    """What is called so whichever version of its line it is: of submissions the file and the line."""
    found = submission(origin)
    return origin if found is None else of_submission(found.name, found.first)


def of_path(path: str) -> str:
    """What a run is named by whose sources are at a ``path``: the same place in other words, where SQL might take it
    for a submission's name. SQLite's LIKE does not know capitals."""
    return path if _ALIKE.fullmatch(path) is None else f"./{path}"
