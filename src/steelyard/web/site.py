"""The pages as files: they open from disk and from any host, and ask nothing of any."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from html import escape, unescape
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from ..model.errors import UserError, cut
from ..model.parent import end_with_parent
from ..publish.formats import save
from ..store import Store, StoreError
from . import address, layout, pages, reply
from .page import Links, NotThereError, Page, Picture, Table, Text
from .respond import page

#: formats of tables and figures that a site has, and those that it has when all are asked for
USUAL, ALL = ("csv", "svg"), layout.ENDINGS
#: pages that need a question or take something, and those that weigh again
_ASK, _EXAMINE = frozenset(("compare", "search", "submissions")), frozenset(("profile", "image"))
_LINK = re.compile(r'<a href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
_PART = re.compile(r'<(link rel="stylesheet" href|img src)="(/[^"]*)"')
_ELSEWHERE = Links([("targets", "/targets")], "where to go")
_SAY = logging.getLogger(__name__)
#: what the folder's site consists of, a file in each line
_LIST = ".steelyard-site"
#: characters of a file's name, for every file system
_LONGEST = 150
#: names of devices on Windows, whatever comes after a point
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
#: the end of a name that has a digest
_DIGESTED = re.compile(r"-[0-9a-f]{16}(?:\.|\Z)")
#: endings of files, but for pages; those that no folder has: a page's too, and the one that Windows leaves out
_OF_FILES = tuple(f".{e}" for e in (*layout.ENDINGS, "css"))
_OF_NO_FOLDER = (*_OF_FILES, ".html", ".")


class Plan(Struct, frozen=True):
    """What a site is of, and where it goes. ``profiles`` says that profiles and images of runs belong to it."""

    place: str
    out: Path
    endings: Sequence[str] = USUAL
    profiles: bool = False


class Written(Struct, frozen=True):
    """A page's files, their bytes, and the addresses of pages it leads to."""

    files: frozenset[str]
    size: int
    leads: frozenset[str]


def write(plan: Plan, processes: int) -> tuple[int, int]:
    """Writes the site; how many files, and bytes. What the folder's last site had and this one has not, such as pages
    of runs that were deleted since, is removed. Raises :class:`UserError` where it cannot."""
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / "static").mkdir(exist_ok=True)
    style = f"static/{reply.style_name()}"
    save(plan.out / style, reply.style())
    files, size = {style}, len(reply.style())
    begin = {address.path(*words) for words in pages.ROUTES if "*" not in words and not _ASK.intersection(words)}
    seen, next_ = set(begin), sorted(begin)
    with ProcessPoolExecutor(processes, mp_context=get_context("forkserver"), initializer=end_with_parent) as pool:
        while next_:
            some = max(1, min(50, len(next_) // (4 * processes)))
            found = list(pool.map(_page, [plan] * len(next_), next_, chunksize=some))
            files.update(*(w.files for w in found))
            size += sum(w.size for w in found)
            leads = frozenset[str]().union(*(w.leads for w in found))
            next_ = sorted(leads - seen)
            seen |= leads
    _forget(plan.out, files)
    return len(files), size


def _forget(out: Path, files: set[str]) -> None:
    """Removes what the folder's last site had and this one has not, and writes down what this one has."""
    listed = out / _LIST
    before = listed.read_text(errors="surrogateescape").splitlines() if listed.is_file() else []
    for name in sorted(set(before) - files):
        if ".." not in name.split("/") and not name.startswith("/") and (out / name).is_file():
            (out / name).unlink()
            for folder in (out / name).parents:
                if folder == out or not folder.is_dir() or any(folder.iterdir()):
                    break
                folder.rmdir()
    save(listed, "".join(f"{name}\n" for name in sorted(files)).encode())


@cache
def _store(place: str) -> Store:
    return Store.open(place)


@cache
def _made(plan: Plan, path: str) -> Page | None:
    """The page at an address, or one that says why it cannot be shown; None where there is none. Only
    pages that may not be there are asked for twice."""
    if (of := pages.route(address.segments(path))) is None:
        return None
    try:
        return page(_store(plan.place), *of)
    except NotThereError:
        return None
    except StoreError:
        raise
    except UserError as e:  # too much for one page, which says so
        return Page("Not shown", [Text(str(e)), _ELSEWHERE])
    except OSError:  # of the folder
        raise
    except Exception as e:  # also where another page asks whether this one has something to show
        return _unforeseen(path, e)


def _unforeseen(path: str, error: Exception) -> Page:
    """What stands for a page whose making failed in a way that nobody thought of."""
    _SAY.error("%s", cut(path), exc_info=error)
    return Page("Not shown", [Text("An error in Steelyard: it was printed when the pages were written."), _ELSEWHERE])


def _page(plan: Plan, path: str) -> Written:
    """Writes a page and its files; where its making fails in a way that nobody thought of, one that says so."""
    try:
        made = _made(plan, path)
        return Written(frozenset(), 0, frozenset()) if made is None else _written(plan, path, made)
    except (OSError, UserError):  # of the folder or the database, and so of all pages
        raise
    except Exception as e:
        return _written(plan, path, _unforeseen(path, e))
    finally:
        _made.cache_clear()


def _written(plan: Plan, path: str, made: Page) -> Written:
    """Writes what an address shows."""
    names = address.segments(path)
    text = layout.html(made, _store(plan.place), names, live=False, endings=plan.endings)
    depth, leads = "../" * file_of(path).count("/"), set[str]()

    def link(found: re.Match[str]) -> str:
        to, rest, inner = unescape(found[1]), found[2], found[3]
        if to.startswith("#"):
            return found[0]
        target, _, part = to.partition("#")
        if not _has(plan, target):
            own = target.startswith(f"{path.rstrip('/')}/") and target.endswith(tuple(f".{e}" for e in plan.endings))
            if not own:
                return f"<span>{inner}</span>"
        else:
            leads.add(target)
        return f'<a href="{escape(depth + quote(file_of(target)))}{f"#{part}" if part else ""}"{rest}>{inner}</a>'

    text = _LINK.sub(link, text)
    text = _PART.sub(lambda m: f'<{m[1]}="{escape(depth + quote(file_of(unescape(m[2]))))}"', text)
    files = {file_of(path): text.encode(), **dict(_files(plan, made, path))}
    for name, content in files.items():
        file = plan.out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        save(file, content)
    return Written(frozenset(files), sum(map(len, files.values())), frozenset(leads))


def _files(plan: Plan, made: Page, path: str) -> Iterator[tuple[str, bytes]]:
    for block in made.blocks:
        if not isinstance(block, Table | Picture):
            continue
        known = layout.TABLES if isinstance(block, Table) else layout.FIGURES
        labels = layout.labels_of(block)
        for ending in (e for e in known if e in plan.endings):
            try:
                make = layout.file(made, labels[0], ending)
                content = make() if make is not None else None
            except UserError:  # a format that this one has not
                continue
            if content is not None:
                for label in (*labels, *(block.older if isinstance(block, Picture) else ())):
                    yield file_of(f"{path.rstrip('/')}/{quote(label, safe='')}.{ending}"), content


def _has(plan: Plan, path: str) -> bool:
    """Whether the site has a page at this address."""
    if "?" in path or not path.startswith("/"):
        return False
    names = address.segments(path)
    if pages.route(names) is None or _ASK.intersection(names[:1]):
        return False
    if names[-1:] and names[-1] in _EXAMINE and names[0] == "runs":
        made = _made(plan, path) if plan.profiles else None
        return made is not None and any(isinstance(b, Table) for b in made.blocks)
    return True


def file_of(path: str) -> str:
    """The file of an address. Names stay quoted, so that no name is a folder; long ones, and those that some file
    system may take for another, get digests. No folder has a name that a file may have: a file has an ending."""
    parts = [p for p in path.split("/") if p]
    if not parts:
        return "index.html"
    *folders, last = (p if len(p) <= _LONGEST and _plain(p) else _short(p) for p in parts)
    is_file = last.endswith(_OF_FILES)
    if is_file and pages.route(address.segments(path)) is not None and pages.route(address.segments(path)[:-1]) is None:
        is_file = False  # a name that ends so
    folders = [_short(f, "") if f.endswith(_OF_NO_FOLDER) else f for f in folders]
    return "/".join([*folders, last if is_file else f"{last}.html"])


def _plain(part: str) -> bool:
    """Whether no other name is the same to a file system that takes no notice of case, none reserves it, and none of
    those that :func:`_short` makes is the same."""
    small = not re.search(r"[A-Z]", re.sub(r"%[0-9A-F]{2}", "", part))
    return small and not (_RESERVED.fullmatch(part) or _DIGESTED.search(part))


def _short(part: str, ending: str | None = None) -> str:
    """A name that a digest tells from all others, with the ``ending`` that a file of the site has."""
    if ending is None:
        ending = max((f".{e}" for e in layout.ENDINGS if part.endswith(f".{e}")), key=len, default="")
    return f"{part[:80].rstrip('%')}-{hashlib.sha256(part.encode()).hexdigest()[:16]}{ending}"
