"""Finds the designs of a folder: its ``design.toml``, the LWC package's variant files (xeda), ``source_list.txt``, or
only sources, of which top and ports are guessed and said."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from ..model import toml
from ..model.errors import UserError
from . import design, files, guess, near, units
from .design import FILE, ONLY, SOURCES, Design
from .near import Package, Tree

#: what is to be done about a file of a package that is none
_KEEP = "restore it, or leave it out of the folder"
#: a file that a Verilog source includes, and how deep they are followed
_INCLUDE, _DEPTH = re.compile(r'^[ \t]*`include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE), 8
#: a text that may name a file of data, with what reads or holds it, and most of them; then what holds one that is read
_TEXT = re.compile(r'(?:(\$readmem)[bh]\s*\(\s*|`define\s+(\w+)\s+|\b(\w+)\s*=\s*|\.(\w+)\s*\(\s*)?"([\w./-]*\w)"')
_TEXTS = 200
_READ = re.compile(r"\$readmem[bh]\s*\(\s*`?(\w+)")
#: the first table of a TOML, or the name before it
_NAME = re.compile(r"""^[ \t]*(?:\[|name[ \t]*=[ \t]*["']([^"'\n]+))""", re.MULTILINE)
#: what a description has at a place, in words
_KINDS: Mapping[type, str] = MappingProxyType(
    {str: "a text", int: "a number", list: "a list", dict: "a table", bool: "true or false"}
)
T = TypeVar("T")


def designs_of(
    folder: Path, *, top: str = "", aead: str = "", hash: str = "", failed: list[tuple[str, str]] | None = None
) -> list[Design]:
    """The designs of a folder; what is given replaces what its files say, or do not. Raises :class:`UserError` with
    what is missing; why one of several has no figures comes to ``failed``, with its path."""
    given: dict[str, str] = {k: v for k, v in (("top", top), ("aead", aead), ("hash", hash)) if v}
    try:
        found = list[Design]()
        package = Package(folder.parent if folder.is_file() else folder)
        made = _in_folder(folder, top, failed, package)
        for home, d in made:
            tree = package.tree(d.folder, home)
            try:
                files.bounded(d.files, d.folder)
                found.append(_noted(design.checked(replace(_with_data(_with_headers(d, tree), tree), **given))))
            except UserError as e:
                if failed is None or len(made) == 1 or d.variant != ONLY:  # variants share their sources
                    raise
                failed.append((str(folder / d.name), str(e)))
        return found
    except (OSError, ValueError, RuntimeError) as e:  # of a NUL in a name, and of a link to itself
        raise UserError(f"{folder}: cannot be looked through ({e}); name the folder of a design") from e


def _in_folder(
    folder: Path, top: str, failed: list[tuple[str, str]] | None, package: Package
) -> list[tuple[Path, Design]]:
    """The designs of a folder, each with the folder of its description. Why one of several descriptions has none comes
    to ``failed``, with its path."""
    if folder.is_file() and folder.suffix == ".toml":
        home = folder.parent
        return [(home, d) for d in (design.described(home) if folder.name == FILE else _of_toml(folder, top, package))]
    if (folder / FILE).is_file():
        return [(folder, d) for d in design.described(folder)]
    tables, bad = dict[Path, Mapping[str, Any]](), dict[Path, UserError]()
    for f in sorted(folder.glob("*.toml")):
        try:
            tables[f] = _table(f)
        except UserError as e:
            bad[f] = e
    tomls = [f for f, table in tables.items() if _is_lwc(table, all)]
    if tomls:  # beside one of them half a description is meant as one
        tomls = [f for f, table in tables.items() if _is_lwc(table, any)]
    if bad and (failed is None or not tomls):
        raise next(iter(bad.values()))
    if tomls:
        named = {f: _name(f, tables[f]) for f in tomls} | {f: _line(f) for f in bad}
        return _each(folder, named, lambda f: _of_toml(f, top, package), failed)
    for f, table in tables.items():  # may be meant as a description, if no other is there
        for part in ("rtl", "lwc"):
            _at(f, table, part, dict)
    lists, left = _lists(folder, package)
    if lists:
        named = {f: _inside(folder, f) for f in lists}
        where = ", ".join(f.relative_to(folder).as_posix() for f in left)
        notes = (f"left out, as they are of a test bench: {where}",) if left else ()
        return _each(folder, named, lambda f: [_of_list(folder, f, top, package, notes)], failed)
    return [(folder, _guessed(folder, top, package))]


def _each(
    folder: Path,
    named: Mapping[Path, str],
    read: Callable[[Path], list[Design]],
    failed: list[tuple[str, str]] | None,
) -> list[tuple[Path, Design]]:
    """The designs of a folder's descriptions, with their folders; where they are several, why one has none comes to
    ``failed``, with its path. Descriptions of one name would be one design's runs in the store, so they are called by
    their paths, also where others of them cannot be read. Raises :class:`UserError` where others are called like
    that."""
    names = [*named.values()]
    paths = {f: "-".join(f.relative_to(folder).with_suffix("").parts) for f in named}
    called = {f: paths[f] if names.count(name) > 1 else name for f, name in named.items()}
    if twice := [n for n, count in Counter(called.values()).items() if count > 1]:
        raise UserError(f"{folder}: several designs are called {twice[0]}; give each description a name of its own")
    made = list[tuple[Path, Design]]()
    for f, name in called.items():
        try:
            made += [(f.parent, replace(d, name=name)) for d in read(f)]
        except UserError as e:
            if failed is None or len(called) == 1:
                raise
            failed.append((str(folder / name), str(e)))
    return made


def _name(file: Path, table: Mapping[str, Any]) -> str:
    """What a description calls its design, or else its file's name."""
    name = table.get("name")
    return name if isinstance(name, str) and name else file.stem


def _line(file: Path) -> str:
    """The same of a file that is no TOML, as far as a line says it before the first table."""
    text = ""
    with suppress(UserError):
        text = files.text(file, toml.MAX_BYTES, _KEEP)
    found = _NAME.search(text)
    return (found and found[1]) or file.stem


def _lists(folder: Path, package: Package) -> tuple[list[Path], list[Path]]:
    """The lists of sources below a folder that are of designs, and those of test benches that others are there for."""
    found = sorted({*folder.rglob("source_list.txt"), *folder.rglob("sources_list.txt")})
    others = [f for f in found if not near.of_bench(f, folder)]
    if len(others) == len(found):
        return found, []
    if others:
        known = list[set[Path]]()
        for f in others:
            with suppress(UserError):
                known += [there] if _tops(there := _there(f, package), package.tree(folder, f.parent)) else []
        left = {f for f in found if f not in others and _of_bench(f, known, package.tree(folder, f.parent), package)}
        return [f for f in found if f not in left], [f for f in found if f in left and _names_any(f)]
    return [f for f in found if _names_any(f)] or ([] if _own_sources(folder) else found), []


def _of_bench(listed: Path, known: Sequence[set[Path]], tree: Tree, package: Package) -> bool:
    """Whether a list in a test bench's folder is the bench's. One that names all of a list that is ``known`` is, but
    for a wrapper around it; else one with a bench, but no top, of its own is, and one without any top."""
    try:
        there, home = _there(listed, package), listed.parent.resolve()
        own = {p for p in there if p.is_relative_to(home)}
        portless = {p for p in own if _portless(p)}
        benches = bool(portless) or any(near.there(p) and p.resolve().is_relative_to(home) for p in _benches(listed))
        if any(k <= there for k in known):
            return benches or not _tops(own, tree)
        if _tops(own, tree) or ((tops := _tops(own - portless, tree)) and tops >= _tops(there - portless, tree)):
            return False  # other than with a driver of the bench beside another's top
        # where nothing else is a design's, the bench's list may be the only one that names all of it
        return bool(benches and known) or not _tops(there, tree)
    except UserError:
        return not _names_any(listed)  # what is wrong with others is said of them


def _benches(listed: Path) -> list[Path]:
    """The sources that a list names and that are called like a test bench's."""
    named = {*_listed(listed)}
    return [listed.parent / line for line in _listed(listed, benches=True) if line not in named]


def _tops(sources: set[Path], tree: Tree) -> set[str]:
    return {*units.tops(_whole(sorted(sources), tree))}


def _portless(source: Path) -> bool:
    return units.portless(_text([source]), source.suffix.lower() in design.VHDL)


def _there(listed: Path, package: Package) -> set[Path]:
    """The sources that a list names, as far as they can be found and read. Raises :class:`UserError` for too many."""
    files.few(named := _listed(listed), listed)
    there = set[Path]()
    for line in named:
        with suppress(UserError):
            at = _found(listed.parent, line, listed, package).resolve()
            files.regular(at, files.LARGEST, _KEEP)
            there |= {at} if os.access(at, os.R_OK) else set()
    files.bounded([*there], listed)
    return there


def _names_any(listed: Path) -> bool:
    with suppress(UserError):
        return bool(_listed(listed))
    return False


def _inside(folder: Path, listed: Path) -> str:
    """What the design of a list is called: the folder that has it."""
    inside = listed.parent.name
    return inside if inside != folder.name else folder.resolve().name


def _table(file: Path) -> Mapping[str, Any]:
    return toml.parsed(files.content(file, toml.MAX_BYTES, _KEEP), str(file))


def _is_lwc(table: Mapping[str, Any], of: Callable[[Iterable[bool]], bool]) -> bool:
    rtl = table.get("rtl")
    return isinstance(rtl, dict) and of(name in rtl for name in ("sources", "top"))


def _at(file: Path, table: Mapping[str, Any], path: str, kind: type[T]) -> T:
    """What a description has at a path of keys; the kind's empty value where it has nothing. Raises :class:`UserError`
    where something else is there."""
    value: Any = table
    keys = path.split(".")
    for k, key in enumerate(keys, 1):
        value = value.get(key)
        if value is None:
            return kind()
        due: type = kind if k == len(keys) else dict
        if not isinstance(value, due) or (isinstance(value, bool) and due is not bool):
            raise UserError(f"{file}: {'.'.join(keys[:k])} is {value!r}, not {_KINDS[due]}")
    return cast("T", value)


def _of_toml(file: Path, top: str, package: Package) -> list[Design]:
    """One variant as the LWC package and xeda describe it."""
    table, folder = _table(file), file.parent
    tb = {*_sources(file, table, "tb.sources")}
    named = _sources(file, table, "rtl.sources")
    sources = [s for s in named if s not in tb and not near.BENCHES.search(s)]
    notes = (
        [f"left out of the sources, as they are of a test bench: {', '.join(left)}"]
        if (left := [s for s in named if s not in sources])
        else []
    )
    here = tuple(_found(folder, s, file, package) for s in sources)
    notes += _elsewhere(folder, sources, here)
    if not here:
        raise UserError(f"{file}: no sources in [rtl]; name them")
    if not (top := top or _at(file, table, "rtl.top", str)):
        raise UserError(f"{file}: no top in [rtl]; name it, or give --top MODULE")
    files.bounded(here, folder)
    aead = _at(file, table, "lwc.aead", dict)
    sequence = aead.get("input_sequence", {})
    order = sequence.get("encrypt", ()) if isinstance(sequence, dict) else sequence
    bits = "lwc.block_bits"
    data = "PT" if "PT" in _at(file, table, bits, dict) else "XT"
    blocks = {k: _at(file, table, f"{bits}.{n}", int) for k, n in (("ad", "AD"), ("data", data), ("hash", "HM"))}
    clock = _at(file, table, "rtl.clock.port", str) or _at(file, table, "rtl.clock_port", str) or "clk"
    standard = str(_at(file, table, "language.vhdl", dict).get("standard", "2008"))
    generics = "rtl.generics" if _at(file, table, "rtl.generics", dict) else "rtl.parameters"
    text, parameters = _whole(here, package.tree(folder)), _parameters(file, table, generics)
    made = Design(
        family=folder.resolve().name,
        name=_at(file, table, "name", str) or file.stem,
        variant=ONLY,
        folder=folder,
        top=top,
        width=_at(file, table, "lwc.ports.pdi.bit_width", int) or guess.width(text, top, dict(parameters)),
        files=here,
        aead=_at(file, table, "lwc.aead.algorithm", str),
        hash=_at(file, table, "lwc.hash.algorithm", str),
        order=_order(order),
        parameters=parameters,
        clock=clock,
        key_reuse="key_reuse" not in aead or _at(file, table, "lwc.aead.key_reuse", bool),
        block=tuple((k, n // 8) for k, n in blocks.items() if n),
        pdi_shares=_at(file, table, "lwc.ports.pdi.num_shares", int) or 1,
        sdi_shares=_at(file, table, "lwc.ports.sdi.num_shares", int) or 1,
        standard=standard[-2:],
        answers=_answers(folder, _at(file, table, "tb", dict)),
        notes=tuple(notes),
    )
    return [_conventional(made, text)]


def _sources(file: Path, table: Mapping[str, Any], path: str) -> list[str]:
    """The names of sources at a path of keys: texts, or tables with a file. Raises :class:`UserError` for others."""
    named = list[str]()
    for source in _at(file, table, path, list):
        name = source.get("file") if isinstance(source, dict) else source
        if not isinstance(name, str):
            raise UserError(f"{file}: {path} has {source!r}, which names no file; write its path")
        named.append(name)
    return named


def _parameters(file: Path, table: Mapping[str, Any], path: str) -> tuple[tuple[str, int | str], ...]:
    """The parameters at a path of keys. Raises :class:`UserError` for a list, which is no value of one."""
    given = _at(file, table, path, dict)
    if lists := [k for k, v in given.items() if isinstance(v, list)]:
        raise UserError(f"{file}: {path}.{lists[0]} is {given[lists[0]]!r}, not a number or a text")
    return tuple(sorted((k, v if isinstance(v, int) else str(v)) for k, v in given.items() if not isinstance(v, dict)))


def _order(given: object) -> tuple[Any, ...]:
    """Segments in the LWC package's words, as ours."""
    names = {"npub": "npub", "ad": "ad", "pt": "data", "ct": "data", "data": "data"}
    words = [str(w).lower() for w in given] if isinstance(given, list) else []
    said = [names[w] for w in words if w in names]
    return (*said, "tag") if sorted(said) == ["ad", "data", "npub"] else design.USUAL_ORDER


def _answers(folder: Path, tb: Mapping[str, Any]) -> Path | None:
    """The folder of the test bench's pdi, sdi and do files."""
    tables = [x for n in ("generics", "parameters") if isinstance(x := tb.get(n), dict)]
    for given in (v for x in tables for v in x.values()):
        if isinstance(given, dict) and str(given.get("file", "")).endswith("pdi.txt"):
            at = (folder / str(given["file"])).parent
            with suppress(OSError, ValueError):  # of a name that no file can have
                if all((at / f"{n}.txt").exists() for n in ("pdi", "sdi", "do")):
                    return at
    return None


def _found(folder: Path, name: str, said: Path, package: Package) -> Path:
    """A source, or else what its name means in its package, for links to the LWC package's folder are often lost."""
    if near.there(folder / name):
        return folder / name
    if (other := package.meant(folder.resolve() / FILE, Path(name).name)) is not None:
        return other
    raise UserError(f"{said}: {name} is not there; restore it, or correct the list of sources")


def _elsewhere(folder: Path, named: Sequence[str], found: Sequence[Path]) -> list[str]:
    """A note of the sources that are not where a description has them; none without any."""
    moved = [f"{name} from {at}" for name, at in zip(named, found, strict=True) if at != folder / name]
    return [f"sources that are not where they should be are taken from elsewhere: {', '.join(moved)}"] * bool(moved)


def _listed(file: Path, benches: bool = False) -> list[str]:
    """The sources that a list names, with those of test benches or without."""
    text = files.text(file, toml.MAX_BYTES, _KEEP)
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line.lower().endswith(SOURCES) and (benches or not near.BENCHES.search(line))]


def _of_list(folder: Path, listed: Path, top: str, package: Package, notes: tuple[str, ...]) -> Design:
    """A design whose sources a list names, a path in each line."""
    if not (named := _listed(listed)):
        raise UserError(f"{listed}: names no VHDL or Verilog file")
    found = tuple(_found(listed.parent, line, listed, package) for line in named)
    made = _of_files(folder, _inside(folder, listed), found, top, package.tree(folder, listed.parent))
    return replace(made, notes=(*made.notes, *_elsewhere(listed.parent, named, found), *notes))


def _own_sources(folder: Path) -> tuple[Path, ...]:
    """The sources below a folder, without those of test benches."""
    every = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SOURCES and p.is_file())
    return tuple(p for p in every if not near.of_bench(p, folder))


def _guessed(folder: Path, top: str, package: Package) -> Design:
    """A design of which there are only sources."""
    if not (every := _own_sources(folder)):
        raise UserError(f"{folder}: no VHDL or Verilog file; name the folder with a design's sources")
    files.bounded(every, folder)
    tree = package.tree(folder)
    vhdl = {f for f in every if f.suffix.lower() in design.VHDL}
    texts = {f: "" if f in vhdl else _code(f) for f in every}  # GHDL orders its own
    parts = {*design.included([f for f in every if f not in vhdl], tree.meant).values()}
    sources = [f for f in every if f not in parts or not guess.is_part(texts[f])]
    ordered = guess.ordered(sources, [texts[f] for f in sources])
    return _of_files(folder, folder.resolve().name, ordered, top, tree)


def _of_files(folder: Path, name: str, sources: tuple[Path, ...], top: str, tree: Tree) -> Design:
    files.bounded(sources, folder)
    text = _whole(sources, tree)
    tops = [top] if top else units.tops(text)
    if len(tops) != 1:
        design.included(sources, tree.meant)  # which says what it is if a header is why
        what = f"one of {', '.join(tops)}" if tops else "none of its modules has the ports of the LWC hardware API"
        raise UserError(f"{folder}: which module is the top? {what}; give --top MODULE")
    width = guess.width(text, tops[0], {})
    notes = (f"guessed from the sources: top {tops[0]}, words of {width} bits, {len(sources)} files",)
    made = Design(folder.resolve().parent.name, name, ONLY, folder, tops[0], width, sources, notes=notes)
    return _conventional(made, text)


def _text(read: Sequence[Path]) -> str:
    """The text of files, without those that are too large; those after the first that make too much of all."""
    parts, left = list[str](), files.WHOLE
    for f in read:
        left -= size if (size := f.stat().st_size) <= files.LARGEST else 0
        if left < 0:
            break
        if size <= files.LARGEST:
            parts.append(files.text(f, files.LARGEST, _KEEP))
    return "\n".join(parts)


def _code(file: Path) -> str:
    """The text of a source without its comments."""
    text = _text([file])
    return files.uncommented(text, files.VHDL_ASIDE if file.suffix.lower() in design.VHDL else files.ASIDE)


def _whole(sources: Sequence[Path], tree: Tree) -> str:
    """The text of sources with the files of their folder that they include in their places, as far as these are no
    endless text. A header that may be any is left out."""
    left = files.LARGEST

    def of(file: Path, depth: int) -> str:
        nonlocal left
        left -= len(text := _code(file))
        return _INCLUDE.sub(lambda found: _in_place(found, file, depth), text) if depth and left > 0 else text

    def _in_place(found: re.Match[str], file: Path, depth: int) -> str:
        at = None
        with suppress(UserError):
            at = tree.meant(file, near.plain(found[1])) if left > 0 else None
        return of(at, depth - 1) if at is not None else found[0]

    return "\n".join(of(f, _DEPTH) for f in sources)


def _with_headers(made: Design, tree: Tree) -> Design:
    """The design with the files that its sources include, from the folders that its description names, or else as the
    tree has them."""
    if "verilog" not in made.languages:
        return made
    place = design.among(made.includes) if made.includes else tree.meant
    return replace(made, headers=tuple(design.included(made.files, place).items()))


def _with_data(made: Design, tree: Tree) -> Design:
    """The design with the files of its folder that its sources may read memories from: those that texts in them, or in
    its parameters, name. A text that is any of several files is refused if it is read, and no memory otherwise."""
    headers = dict(made.headers)
    verilog = (*made.files, *headers.values()) if "verilog" in made.languages else ()
    texts = {f: files.uncommented(_text([f])) for f in verilog}
    if not any("$readmem" in text for text in texts.values()):
        return made
    holders = {"$readmem", *(name for text in texts.values() for name in _READ.findall(text))}
    named = [(f, h, name) for f, text in texts.items() for *h, name in _TEXT.findall(_INCLUDE.sub("", text))]
    own = [(k, v) for k, v in made.parameters if isinstance(v, str) and _TEXT.fullmatch(f'"{v}"')]
    named += [(made.folder / FILE, [k], v) for k, v in own]
    sources: dict[str, dict[Path, None]] = {}
    for f, _, name in named:
        sources.setdefault(near.plain(name), {})[f] = None
    read = {near.plain(name) for _, h, name in named if not holders.isdisjoint(h)}
    inside = made.folder.resolve()
    data: dict[str, Path] = {}
    for name in sorted(sources, key=lambda n: n not in read)[:_TEXTS]:
        found = {name: headers[name]} if name in headers else {}
        try:
            for f in sources[name]:
                at = tree.meant(f, name)
                if at is not None and at.resolve().is_relative_to(inside) and near.agreed(found, name, at):
                    found[name] = at
        except UserError:
            if name in read:
                raise
        else:
            data |= found
    return replace(made, data=tuple(data.items()))


def _noted(made: Design) -> Design:
    """The design with a note of where files of its folder are that its description does not lead to."""
    headers, data = ({f for _, f in some} for some in (made.headers, made.data))
    found = data - headers if made.includes else data | headers
    if not found:
        return made
    where = ", ".join(str(f.relative_to(made.folder)) for f in sorted(found))
    return replace(made, notes=(*made.notes, f"included files and memories found: {where}"))


def _conventional(made: Design, text: str) -> Design:
    """The design with what its generator's conventions mean: Bluespec's reset is low unless it is told otherwise."""
    if "BSV_POSITIVE_RESET" in text and not made.defines:
        note = "Bluespec's reset, active high by BSV_POSITIVE_RESET"
        return replace(made, defines=("BSV_POSITIVE_RESET",), notes=(*made.notes, note))
    return made
