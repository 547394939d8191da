"""The user's repository, which is only read: what git says of it, and the tree of a commit in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ..model.errors import UserError, counted

#: what brings the files that a partial clone lacks
_REFETCH = "git fetch --refetch --no-filter brings them"
#: modes of links and submodules
_LINK, MODULE = "120000", "160000"
#: a file in a listing of a tree: mode, object and path; and a change: modes and objects before and after, and path
_FILE = re.compile(r"(\d{6}) \w+ ([0-9a-f]+)\t([^\0]+)\0")
CHANGE = re.compile(r":(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\0([^\0]+)\0")
#: the most places that links are followed to
_MOST = 1000
#: what git tells hooks and aliases: with it every command is about the user's repository, wherever it runs
_REPOSITORY = frozenset(
    f"GIT_{name}"
    for name in (
        *("DIR", "WORK_TREE", "IMPLICIT_WORK_TREE", "INDEX_FILE", "COMMON_DIR", "PREFIX", "NAMESPACE"),
        *("OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES", "SHALLOW_FILE"),
    )
)


#: what users may have set, and would change or end what is read and copied
_PLAIN = ("-c", "log.showSignature=false", "-c", "log.follow=false", "-c", "core.hooksPath=/dev/null",
          "-c", "i18n.logOutputEncoding=UTF-8")  # fmt: skip


def _environment() -> dict[str, str]:
    """Without what hooks are told, and without remotes: a partial clone fetches what is read."""
    return {n: text for n, text in os.environ.items() if n not in _REPOSITORY} | {"GIT_ALLOW_PROTOCOL": ""}


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints, paths (``-z``) as they are; :class:`UserError` where it fails."""
    if "-z" in arguments:
        return os.fsdecode(_output(folder, *arguments))
    return _output(folder, *arguments).decode(errors="backslashreplace").strip()


def _output(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-C", str(folder), *_PLAIN, *arguments]
    try:
        done = subprocess.run(command, env=_environment(), input=given, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError("--revisions needs git: apt install git") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="backslashreplace").strip()
        if "promisor" in said:
            raise UserError(f"git {arguments[0]}: this clone lacks folders: {_REFETCH}")
        last = (said.splitlines() or ["git failed"])[-1]
        raise UserError(f"git {arguments[0]}: {last}; give two revisions of the repository that you are in")
    return done.stdout


@contextmanager
def borrowing(top: Path) -> Iterator[Path]:
    """A repository of its own with the objects of the user's, which is only read. Not a clone: that of a shallow one
    has its branches alone."""
    with TemporaryDirectory(prefix="steelyard-") as folder:
        tree = Path(folder, *top.parts[1:] or ["tree"])  # families, variants and names are read from paths
        objects = top / git(top, "rev-parse", "--git-path", "objects")
        git(top, "init", "--quiet", f"--object-format={git(top, 'rev-parse', '--show-object-format')}", str(tree))
        (tree / ".git/objects/info/alternates").write_text(f"{objects}\n")
        git(tree, "config", "remote.origin.url", str(top))  # where filters such as git-lfs look for files
        yield tree


@contextmanager
def copied(top: Path, commit: str) -> Iterator[Path]:
    """The tree of a commit in a folder of its own."""
    with borrowing(top) as tree:
        folders = git(tree, "rev-list", "--objects", "--filter=blob:none", "--missing=print", "--no-walk", commit)
        if lacking := re.findall(r"(?m)^\?", folders):
            raise UserError(f"this clone lacks {counted(len(lacking), 'folder')} of {commit[:12]}: {_REFETCH}")
        git(tree, "checkout", "--quiet", "--detach", commit)
        yield tree


def refuse_without(lacking: Sequence[str], of: str) -> None:
    """:class:`UserError` where a partial clone lacks files that are read."""
    if lacking:
        raise UserError(f"this clone lacks {counted(len(lacking), 'file')} of {of}, {lacking[0]} first: {_REFETCH}")


def files_of(folder: Path, commit: str) -> list[tuple[str, str, str]]:
    """Mode, object and path of all that a commit holds."""
    return _FILE.findall(git(folder, "ls-tree", "-r", "-z", commit))


def links_of(top: Path, copy: Path, files: Iterable[tuple[str, str, str]]) -> tuple[dict[str, set[str]], set[str]]:
    """Where the links among files lead in the repository, by path, and the links that a partial clone lacks."""
    found = list(dict.fromkeys((path, blob) for mode, blob, path in files if mode == _LINK))
    leads: dict[str, set[str]] = {path: set() for path, _ in found}
    read = _contents(copy, {blob for _, blob in found}) if found else {}
    for path, blob in found:
        if (text := read.get(blob)) is not None:
            target = os.path.normpath(top / Path(path).parent / text)
            if Path(target).is_relative_to(top):
                leads[path].add(str(Path(target).relative_to(top)))
    return leads, {path for path, blob in found if blob not in read}


def _contents(copy: Path, blobs: Iterable[str]) -> dict[str, str]:
    """What objects hold; those that are missing are left out."""
    out, at, held = _output(copy, "cat-file", "--batch", given="\n".join(blobs).encode()), 0, {}
    while at < len(out):
        end = out.index(b"\n", at)
        blob, *about = out[at:end].decode().split()
        at = end + 1
        if about != ["missing"]:
            held[blob] = os.fsdecode(out[at : at + int(about[-1])])
            at += int(about[-1]) + 1
    return held


def reached(links: Mapping[str, Iterable[str]], places: Iterable[str]) -> list[str]:
    """Places, and where links on the way to them, at them and below them lead, which git does not follow."""
    found = list(dict.fromkeys(places))
    for place in found:  # grows
        for link, targets in links.items():
            led = targets if hold([place], link) else ()
            if link != place and hold([link], place):
                led = [link, *(os.path.normpath(f"{t}{place[len(link) :]}") for t in targets)]
            for new in led:
                if not hold(found, new):
                    found.append(new)
        if len(found) > _MOST:
            return ["."]
    return found


def hold(places: Iterable[str], path: str) -> bool:
    """Whether a path is one of the places, or lies below one."""
    return any(place in (".", path) or path.startswith(f"{place}/") for place in places)
