"""A design: RTL with the ports of the LWC hardware API, in one parameterisation. Nothing here edits it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from glob import escape, glob
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import Struct, field

from ..model import toml
from ..model.digest import of_file
from ..model.errors import UserError
from . import files, near

#: words of the API may have so many bits
WIDTHS = (8, 16, 32)
FILE = "design.toml"
VHDL, VERILOG, SYSTEM_VERILOG = (".vhd", ".vhdl"), (".v",), (".sv",)
#: what a source's name ends with: nothing else of the machine is read because a description names it
SOURCES = (*VHDL, *VERILOG, *SYSTEM_VERILOG)
#: what a source includes, or has a macro for that may be included. What other characters mean to make, nobody tries
_NAMED = re.compile(r'`(?:include|define[ \t]+(\w+))[ \t]*(?:"([\w .()+/-]+)"|<([\w .()+/-]+)>|`(\w+))')
#: what is to be done about an included file that is too large
_LARGE = "include a smaller one"
#: most names that files are included by, each of every source
_ASKED = 1 << 16
#: most folders of a name of sources that may be any
_PATTERNS = 3
#: what tools' scripts take for one word
_NAME, _DEFINITION, _TEXT = r"[A-Za-z_]\w*", r"[A-Za-z_]\w*(=[\w'.+-]*)?", r"[\w .,:/+-]*"
#: most bytes of a block
_BLOCK = 1 << 16
#: most bits of a parameter and shares that the test bench makes of a word, and the years of VHDL that GHDL has
_BITS, _SHARES, _STANDARDS = 1024, 8, ("87", "93", "00", "02", "08", "19")
Part = Literal["npub", "ad", "data", "tag"]
USUAL_ORDER: tuple[Part, ...] = ("npub", "ad", "data", "tag")


class Design(Struct, frozen=True):
    """``name`` and ``variant`` are what tables show. ``files`` are in the order in which they are read. ``aead`` and
    ``hash`` name the variants of the software side that say what is right, empty where there is none. ``block`` is the
    bytes of a block of ``ad``, ``data`` and ``hash``, as far as they are known. ``any_segments``: input may be cut
    after any word, not after whole blocks only; not at all without ``segments``. Without ``padded``, what fills up the
    last word of do may be anything. ``includes`` are the folders of headers that its description names, ``headers`` the
    files that sources include, and ``data`` those that memories are read from, by the names that sources have for them.
    ``notes`` say what was guessed."""

    family: str
    name: str
    variant: str
    folder: Path
    top: str
    width: int
    files: tuple[Path, ...]
    aead: str = ""
    hash: str = ""
    order: tuple[Part, ...] = USUAL_ORDER
    parameters: tuple[tuple[str, int | str], ...] = ()
    defines: tuple[str, ...] = ()
    includes: tuple[Path, ...] = ()
    clock: str = "clk"
    reset: str = "rst"
    reset_active: int = 1
    key_reuse: bool = True
    block: tuple[tuple[str, int], ...] = ()
    any_segments: bool = False
    segments: bool = True
    padded: bool = True
    pdi_shares: int = 1
    sdi_shares: int = 1
    standard: str = "08"
    answers: Path | None = None
    headers: tuple[tuple[str, Path], ...] = ()
    data: tuple[tuple[str, Path], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The short name for tables: ``name/variant``."""
        return f"{self.name}/{self.variant}"

    @property
    def languages(self) -> set[str]:
        """The languages of its files: ``vhdl``, ``verilog``."""
        return {"vhdl" if f.suffix.lower() in VHDL else "verilog" for f in self.files}

    @property
    def digest(self) -> str:
        """SHA-256 over names and contents of all files and what is said of them, independent of the folder."""
        import hashlib

        said = repr(
            (
                self.top, self.width, self.aead, self.hash, self.order, self.parameters, self.defines, self.clock,
                self.reset, self.reset_active, self.key_reuse, self.block, self.any_segments, self.segments,
                self.padded, self.pdi_shares, self.sdi_shares, self.standard,
            )
        )  # fmt: skip
        h = hashlib.sha256(said.encode())
        for f in self.files:
            h.update(f"{f.name}\0{of_file(f)}\0".encode())
        for name, f in sorted(self.headers):
            h.update(f"include 0/{name}\0{of_file(f)}\0".encode())
        for name, f in self.data:
            h.update(f"data {name}\0{of_file(f)}\0".encode())
        for f in self.answer_files:
            h.update(f"answers {f.name}\0{of_file(f)}\0".encode())
        return h.hexdigest()

    @property
    def answer_files(self) -> tuple[Path, ...]:
        """What its package says that is given to pdi and sdi and comes on do; nothing where it says nothing."""
        return tuple(self.answers / f"{n}.txt" for n in ("pdi", "sdi", "do")) if self.answers else ()


#: the file that a source means by a plain name, if there is one
Place = Callable[[Path, str], Path | None]
_T = TypeVar("_T")
_Lists = dict[str, list[_T]]


def among(folders: Sequence[Path]) -> Place:
    """The place of what is in the first of some folders that has it, whoever includes it."""

    def place(_: Path, name: str) -> Path | None:
        return next((at for folder in folders if name and near.there(at := folder / name)), None)

    return place


def included(sources: Sequence[Path], place: Place) -> dict[str, Path]:
    """The files that sources include, and those that these include, by the plain names that they are included by.
    Raises :class:`UserError` where they are too many or too large, or where tools would take another file for one."""
    found: dict[str, Path] = {}
    named: dict[Path, list[str]] = {}
    macros: tuple[_Lists[str], _Lists[Path]] = ({}, {})
    left, size, asked = [*sources], 0, 0
    for file in left:  # it grows
        if file in named or file.stat().st_size > files.LARGEST:  # a netlist
            continue
        named[file] = []
        for by, name in _asked(file, files.uncommented(files.text(file, files.LARGEST, _LARGE)), *macros):
            named[by].append(name)
            asked += 1
            if (at := place(by, name)) is not None and near.agreed(found, name, at):
                size += files.regular(at, files.LARGEST, _LARGE)
                found[name] = at
                left.append(at)
            if len(found) > files.MANY or size > files.WHOLE or asked > _ASKED:
                what = f"more than {files.MANY} files or {files.WHOLE >> 20} MiB are included, or by {_ASKED} names"
                raise UserError(f"{sources[0].parent}: {what}; include fewer")
    for name, file in found.items():  # some tools look beside what includes first
        for inner in named.get(file, ()):
            if inner in found and (beside := near.plain(f"{Path(name).parent}/{inner}")) in found:
                near.agreed({inner: found[beside]}, inner, found[inner])
    return found


def _asked(file: Path, text: str, held: _Lists[str], users: _Lists[Path]) -> Iterator[tuple[Path, str]]:
    """What includes what, as far as a file adds to it: also by a macro, which may be another file's. ``held`` are the
    names that macros have so far, and ``users`` what includes by them."""
    for macro, quoted, angled, used in dict.fromkeys(_NAMED.findall(text)):
        name = near.plain(quoted or angled)
        if used:
            users.setdefault(used, []).append(file)
            yield from ((file, n) for n in held.get(used, ()))
        elif macro:
            held.setdefault(macro, []).append(name)
            yield from ((user, name) for user in users.get(macro, ()))
        else:
            yield file, name


def checked(d: Design) -> Design:
    """The design, if tools' scripts take its words for what they are. Raises :class:`UserError`."""
    if wrong := _odd(d):
        raise UserError(f"{d.folder}: {wrong}")
    for _, f in d.data:
        files.regular(f, files.LARGEST, "a memory of a core has less")
    headers = [f for _, f in d.headers]
    files.bounded((*d.files, *headers, *(f for _, f in d.data)), d.folder)
    for f in d.answer_files:
        files.regular(f, files.ANSWERS, "keep fewer operations in it")
    words = [("top", d.top, _NAME), ("clock", d.clock, _NAME), ("reset", d.reset, _NAME)]
    words += [("parameter", k, _NAME) for k, _ in d.parameters]
    words += [(f"parameter {k}", v, _TEXT) for k, v in d.parameters if isinstance(v, str)]
    words += [("definition", t, _DEFINITION) for t in d.defines]
    for what, text, pattern in words:
        if not re.fullmatch(pattern, text):
            raise UserError(f"{d.folder}: {what} {text!r} has characters that no {what.split()[0]} has here")
    inside = d.folder.resolve()
    for f in (*d.includes, *headers):
        if not f.resolve().is_relative_to(inside):
            raise UserError(f"{f} is outside of {d.folder}; keep included files inside")
    for f in d.files:
        if f.resolve().suffix.lower() not in SOURCES:
            raise UserError(f"{f}: not a source; their names end with {', '.join(SOURCES)}")
    return d


def _odd(d: Design) -> str:
    """What no design of the API has, though a description may say it; empty where there is nothing."""
    if not d.files:
        return "no sources; name them"
    if d.width not in WIDTHS:
        return f"words of {d.width} bits; the API has words of 8, 16 or 32 bits"
    if other := [n for n in (d.pdi_shares, d.sdi_shares) if not 1 <= n <= _SHARES]:
        return f"{other[0]} shares; the test bench has 1 to {_SHARES}"
    if other := [n for _, n in d.block if not 1 <= n <= _BLOCK]:
        return f"a block of {other[0]} bytes"
    if sorted(d.order) != sorted(USUAL_ORDER):
        return f"input_sequence is {', '.join(d.order)}; it names npub, ad and data once each"
    if far := [k for k, v in d.parameters if not isinstance(v, str) and not -(1 << 31) <= v < 1 << _BITS]:
        return f"parameter {far[0]}: tools take whole numbers from -2^31 up to {_BITS} bits"
    if d.standard not in _STANDARDS:
        return f"VHDL of {d.standard!r}; there is {', '.join(_STANDARDS)}"
    return ""


class Blocks(toml.Table, frozen=True):
    """Bytes of a block, by what it is of."""

    ad: int = 0
    data: int = 0
    hash: int = 0


class Described(toml.Table, frozen=True):
    """``design.toml``; CONTRIBUTING.md explains the keys."""

    top: str
    w: tuple[int, ...]
    sources: tuple[str, ...]
    title: str = ""
    family: str = ""
    aead: str = ""
    hash: str = ""
    input_sequence: tuple[Part, ...] = USUAL_ORDER
    parameters: dict[str, bool | int | str] = field(default_factory=dict)
    variants: dict[str, dict[str, bool | int | str]] = field(default_factory=dict)
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    clock: str = "clk"
    reset: str = "rst"
    reset_active: Literal["high", "low"] = "high"
    key_reuse: bool = True
    block: Blocks = Blocks()
    any_segments: bool = False
    segments: bool = True
    pdi_shares: int = 1
    sdi_shares: int = 1


#: the only variant of a design that names none
ONLY = "default"


def described(folder: Path) -> list[Design]:
    """The designs of a folder with ``design.toml``: one for each variant and width. Raises :class:`UserError`."""
    file = folder / FILE
    d = toml.load(file, Described)
    if wrong := [w for w in d.w if w not in WIDTHS]:
        raise UserError(f"{file}: w has {wrong[0]}; the API has words of 8, 16 or 32 bits")
    if not d.w or len({*d.w}) < len(d.w):
        raise UserError(f"{file}: w has {', '.join(map(str, d.w)) or 'nothing'}; name each width of words once")
    sources = tuple(islice((f for s in d.sources for f in _files(folder, s, file)), files.MANY + 1))
    order: tuple[Part, ...] = (*(p for p in d.input_sequence if p != "tag"), "tag")
    made = []
    for name, parameters in (d.variants or {ONLY: {}}).items():
        for width in d.w:
            own: dict[str, int | str] = {**d.parameters, **parameters}
            if len(d.w) > 1:
                own["W"] = width
            made.append(
                Design(
                    family=d.family or folder.resolve().parent.name,
                    name=folder.resolve().name,
                    variant=name if width == d.w[0] else f"{name}-w{width}",
                    folder=folder,
                    top=d.top,
                    width=width,
                    files=sources,
                    aead=d.aead,
                    hash=d.hash,
                    order=order,
                    parameters=tuple(sorted(own.items())),
                    defines=d.defines,
                    includes=tuple(folder / i for i in d.includes),
                    clock=d.clock,
                    reset=d.reset,
                    reset_active=int(d.reset_active == "high"),
                    key_reuse=d.key_reuse,
                    block=_blocks({"ad": d.block.ad, "data": d.block.data, "hash": d.block.hash}),
                    any_segments=d.any_segments,
                    segments=d.segments,
                    pdi_shares=d.pdi_shares,
                    sdi_shares=d.sdi_shares,
                )
            )
    if len({m.variant for m in made}) < len(made):
        raise UserError(f"{file}: a variant has the name of another one at another width; call it otherwise")
    return made


def _blocks(sizes: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple((k, n) for k, n in sizes.items() if n)


def _files(folder: Path, name: str, said: Path) -> list[Path]:
    """The sources that a description names, where ``*`` stands for anything. Raises :class:`UserError` where none is
    there."""
    if sum("*" in part for part in Path(name).parts) > _PATTERNS:
        raise UserError(f"{said}: {name} has more than {_PATTERNS} folders with *; name them")
    found = sorted(
        p
        for at in glob(f"{escape(str(folder))}/{name}")  # noqa: PTH207, which follows no ".."
        if (p := Path(at)).is_file()
    )
    if not found:
        raise UserError(f"{said}: {name} is not there; restore it, or correct sources")
    return found
