"""What the user means by PATH|NAME, --target, --flags and --db."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..model import campaign, paths
from ..model.errors import UserError, cut, unknown
from ..model.implementation import Implementation, Rejected, is_pattern
from ..model.options import WITH_WORD
from ..model.origin import is_revision
from ..model.target import Target, load_target, target_names
from ..store import Store
from .console import stderr


class Bundled(NamedTuple):
    """What comes with Steelyard: implementations, also by each of their names, and what was refused among them."""

    implementations: tuple[Implementation, ...]
    rejected: tuple[Rejected, ...]
    named: dict[str, tuple[Implementation, ...]]


@cache
def bundled() -> Bundled:
    """The implementations that come with Steelyard."""
    from ..sources import discover

    found = discover(paths.CIPHERS)
    named: dict[str, tuple[Implementation, ...]] = {}
    for i in found.implementations:
        for name in dict.fromkeys(i.names):
            named[name] = (*named.get(name, ()), i)
    return Bundled(found.implementations, found.rejected, named)


class Chosen(NamedTuple):
    """An implementation and the path that the user named it by (see :func:`_at`); empty for a bundled one."""

    implementation: Implementation
    origin: str


def implementations(what: Sequence[str]) -> tuple[list[Chosen], list[Rejected]]:
    """Implementations named by paths or names; all bundled ones when nothing is named. Raises :class:`UserError` for a
    name that nothing has."""
    if not what:
        every = bundled()
        return [Chosen(i, "") for i in every.implementations], list(every.rejected)
    from ..sources import discover  # answers read no sources

    chosen: dict[tuple[Path, str], Chosen] = {}
    refused: list[Rejected] = []
    for text in what:
        if is_place(text):
            f = discover(Path(text), cache=paths.home() / "cache" / "packages")
            more, no = _at(text, f.implementations), list(f.rejected)
            if not more and not no:
                raise UserError(f"{text}: no implementation found; it needs an api.h and sources in the NIST layout")
        else:
            named, no = _named(text)
            more = [Chosen(i, "") for i in named]
        for c in more:  # in the order named; what is named twice keeps its first place
            chosen.setdefault((c.implementation.folder, c.implementation.primitive), c)
        refused += no
    return list(chosen.values()), refused


def _at(text: str, found: Sequence[Implementation]) -> list[Chosen]:
    """The implementations of a path. Where a folder or zip has several of one name, none is an earlier state of
    another: each is named by the part of it that it alone is in."""
    path, _ = paths.in_zip(Path(text))
    text = f"{text}/" if is_revision(text) else text
    of: dict[tuple[str, str], list[Path]] = {}
    for i in found:
        of.setdefault((i.primitive, i.label), []).append(i.folder.resolve())

    def origin(i: Implementation) -> str:
        mine = i.folder.resolve()
        others = [f for f in of[i.primitive, i.label] if f != mine]
        top = unpacked(mine) if path.is_file() else path.resolve()
        if not others or not mine.is_relative_to(top):
            return text
        shared = max(len(Path(os.path.commonpath([mine, f])).parts) for f in others)
        return str(path / Path(*mine.parts[: shared + 1]).relative_to(top))

    return [Chosen(i, origin(i)) for i in found]


def unpacked(folder: Path) -> Path:
    """Where the content of a zip is, of which a folder is a part."""
    cache = (paths.home() / "cache" / "packages").resolve()
    return cache / folder.resolve().relative_to(cache).parts[0]


def within_archive(folder: Path) -> Path:
    """The place in its zip of a folder that was unpacked."""
    return folder.resolve().relative_to(unpacked(folder))


def is_place(text: str) -> bool:
    """Whether ``text`` is a path to something, or into a zip (``a.zip/folder``)."""
    return exists_at(text) or bool(paths.in_zip(Path(text))[1])


def exists_at(text: str) -> bool:
    """Whether ``text`` is a path to something; :class:`UserError` when it cannot be a name at all."""
    if not text.strip():
        raise UserError("an empty name; give a path or a name, or leave it out")
    try:
        return Path(text).exists()
    except (OSError, ValueError) as e:
        raise UserError(f"{cut(text)}: {getattr(e, 'strerror', None) or e}; give another path") from e


def _named(text: str) -> tuple[Sequence[Implementation], list[Rejected]]:
    """The bundled implementations of this name, and what was refused there."""
    every, refused, by_name = bundled()
    found = [i for i in every if i.is_called(text)] if is_pattern(text) else by_name.get(text, ())
    hit = [r for r in refused if text in r.path.parts or str(r.path).endswith(text)]
    if found or hit:
        return found, hit
    if text.startswith((".", "/", "~")) or text.endswith(".zip") or text.count("/") > 1:
        raise UserError(f"{cut(text)}: no such file or folder, and no bundled implementation")
    raise unknown("implementation", text, {n for i in every for n in (i.family, i.variant, i.label)})


def targets(names: Sequence[str], toolchain: str = "") -> list[Target]:
    """Targets by name. When none is named: all that need not be asked for and whose compiler is here.

    Those that have a ``toolchain`` of that name use it. :class:`UserError` when none of them has.
    """
    split = [n.strip() for part in names for n in part.split(",") if n.strip()]
    if names and not split:
        raise UserError("--target names no target; steelyard targets lists them")
    if split:
        return [target(n, toolchain, split) for n in dict.fromkeys(split)]
    from ..building import identify

    every = target_names()
    offered = [t for n in every if not (t := target(n, toolchain, every)).opt_in]
    ready = [t for t in offered if identify(t.toolchain) is not None]
    if missing := [t.name for t in offered if t not in ready]:
        stderr().print(f"left out, their compilers are not here: {', '.join(missing)}; steelyard doctor says more")
    if not ready:
        raise UserError("no target's compiler is installed; steelyard doctor says how to get one")
    return ready


def target(name: str, toolchain: str = "", names: Sequence[str] = ()) -> Target:
    """The target called ``name``, with its toolchain of that name; one that none of ``names`` has is refused."""
    found = load_target(name)
    if not toolchain:
        return found
    known = {spec.name for n in (name, *names) for spec in load_target(n).toolchains}
    if toolchain not in known:
        raise unknown("toolchain", toolchain, known)
    return found.using(toolchain)


def one_target(name: str, toolchain: str = "") -> Target:
    """The target of a verb that takes one; :class:`UserError` for several."""
    found = targets([name], toolchain)
    if len(found) != 1:
        raise UserError(f"--target {name}: names {len(found)} targets; name one of them, and run again for the other")
    return found[0]


def one_flag_set(text: str | None, target: Target) -> tuple[str, ...]:
    """The flag set of a verb that takes one; the target's own by default. :class:`UserError` for several."""
    found = flag_sets([] if text is None else [text], target)
    if len(found) != 1:
        raise UserError(f"--flags {text!r}: holds {len(found)} sets; give one of them, and run again for the other")
    return found[0]


#: options of optimisation, code generation, language, warnings, macros and headers, with their values joined to them
_CODE = re.compile(
    r"-(?:O.*|g(?!cc).*|[fmW].+|[DUIA].+|i(?:nclude|macros|quote|system|dirafter|prefix|withprefix|withprefixbefore).+"
    r"|-?std=.+|-param=.+|ansi|pedantic(?:-errors)?|undef|nostdinc|trigraphs|pipe|pthread|traditional-cpp|w)"
)
#: what an assembler is told of code: the machine's own options, symbols, folders and warnings. -ml, and all that begins
#: like -mlink-relax, may mean it
_ASSEMBLED = (
    r"(?:-m(?!l(?:i|$|,)|ri(?:$|,))[^,]+|-I[^,]+|--defsym[,=][^,]+|-g|-W|--(?:no-)?warn|--fatal-warnings|--noexecstack"
    r"|--(?:no-)?(?:longcalls|text-section-literals|auto-litpools|transform|trampolines|target-align))"
)
#: what of these is the build's own: plugins, specs, words to other programs, and where programs and results are
_OURS = re.compile(
    r"-(?:fplugin|fpass-plugin|fdump|fsyntax-only|Wl,|Wp,(?!-[DU][^,]*$)|wrapper|m\w+=help"
    rf"|Wa,(?!{_ASSEMBLED}(?:,{_ASSEMBLED})*$)).*"
)
#: what only a link reads, or is the default. Every image is linked in one way, with the same harness: what a row names
#: that its link did not have would be false
_LINKED = re.compile(r"-(?:m(?:relax|sim|inrt|devlib|crt0|libscc)|fuse-l|flinker-output).*")
#: what LLVM is told of code: numbers and names, and no plugin
_LLVM = re.compile(r"-(?!-?load)[\w-]+(?:=[\w.,+-]*)?")
#: folders and files outside of a package: records do not know what is in them, and a sandbox hides them
_OUTSIDE = re.compile(
    r"-(?!D|Wp,-D|f[a-z]+-prefix-map=)(?:I|i(?:nclude|macros|quote|system|dirafter|\w*prefix(?:before)?)|Wa,.*-I|[^=]+=)"
    r"(?:[/~]|(?:.*/)?\.\.(?:[/,]|$)).*"
)


def flag_sets(texts: Sequence[str], target: Target) -> list[tuple[str, ...]]:
    """Flag sets for one target: each is a tuple of compiler options. Raises :class:`UserError` for a word that is not
    one, and for options that are not of code: those of the build, and of its link, which is the same for all."""
    sets = campaign.flag_sets(texts)
    for flags in sets:
        taken = ""
        for flag in flags:
            if not flag.isascii() and not _is_text(flag):
                raise UserError(f"--flags {cut(ascii(flag))}: is not UTF-8, so no record can hold it")
            if taken:
                taken = ""
                if not _LLVM.fullmatch(flag):
                    raise UserError(
                        f"--flags {cut(flag)!r}: {WITH_WORD} takes an option of code, such as -unroll-count=4"
                    )
                continue
            if not flag.startswith("-"):
                raise UserError(f"--flags {cut(flag)!r}: a compiler option starts with '-', such as -O3")
            taken = flag if flag == WITH_WORD else ""
            if _OUTSIDE.fullmatch(flag):
                raise UserError(f"--flags {cut(flag)!r}: what is outside of the package is not weighed; put it inside")
            if not taken and (not _CODE.fullmatch(flag) or _OURS.fullmatch(flag) or _LINKED.fullmatch(flag)):
                text = (
                    "Steelyard compiles, assembles and links in one way; give options of optimisation, code, language"
                )
                raise UserError(f"--flags {cut(flag)!r}: {text}, warnings or macros, each with its value in one word")
        if taken:
            raise UserError(f"--flags {taken!r}: its value is missing; write it as the next word")
    return sets or [target.toolchain.default_flags]


def store(db: str | None, *, existing: bool = False) -> Store:
    """The database that ``--db`` names, or the default one; :class:`UserError` when it must exist and does not. A
    server's address means the results that it shows, which can only be read."""
    if place(db).lower().startswith(("http://", "https://")):
        from ..web.remote import Remote

        if not existing:
            raise UserError(f"--db {cut(place(db))}: a server shows results and takes none; give a file, or a database")
        return Remote(place(db))
    if existing and not exists(db):
        raise UserError(f"{cut(paths.short(Path(place(db))))}: no results yet; steelyard run makes some")
    return Store.open(place(db))


#: what helps where it cannot be used
OTHER_HOME = "set STEELYARD_HOME to a folder that you may write to, or move away what is there"


def usable_home() -> None:
    """Makes the folders of caches; :class:`UserError` where that cannot be, before any job meets it."""
    if why := wrong_home():
        raise UserError(f"{why}; {OTHER_HOME}")


def wrong_home() -> str:
    """Why the folders of caches, which are made, cannot be used; empty where they can."""
    home = paths.home()
    for folder in (home, home / "cache"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            return f"{folder}: {e.strerror}"
        if not os.access(folder, os.W_OK | os.X_OK):
            return f"{folder}: cannot be written"
    return ""


def exists(db: str | None) -> bool:
    """Whether the database is there already; a server's counts as such. :class:`UserError` when it cannot be a path."""
    at = place(db)
    try:
        return "://" in at or Path(at).exists()
    except (OSError, ValueError) as e:
        raise UserError(f"{cut(at)}: {getattr(e, 'strerror', None) or e}; give another path") from e


def place(db: str | None) -> str:
    """The database that ``--db`` names, or the default one; :class:`UserError` where that is no text."""
    at = db or str(paths.home() / "results.db")
    if not _is_text(at):
        what = f"--db {cut(ascii(at))}" if db else f"{cut(ascii(at))}, the usual database"
        raise UserError(f"{what}: its name is not UTF-8; give another one with --db")
    return at


def _is_text(given: str) -> bool:
    """Whether what a shell gave is UTF-8: its other bytes are lone surrogates here."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True
