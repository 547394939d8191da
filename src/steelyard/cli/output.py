"""Where an answer goes and in which format: the console, a file or standard output, the same for every verb."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from ..model.errors import UserError, cut, unknown
from ..model.userfile import PARTS, is_database
from ..publish import formats
from ..publish.sheet import Sheet
from .console import say, show, stderr, stdout

#: formats of tables; what else a verb can give stands before them
TABLES = tuple(formats.MODULES)
#: formats of figures; ``vl.json`` is the Vega-Lite specification, for other tools
FIGURES = ("svg", "png", "pdf", "vl.json")
#: formats of firmware
IMAGES = ("elf", "hex", "bin", "esp")
_BINARY = ("xlsx", "ods", "parquet", "png", "pdf", "elf", "bin", "esp")


class Output(Struct, frozen=True):
    """``path`` is None for standard output. ``format`` is one of the verb's; empty for tables on the console."""

    path: Path | None = None
    format: str = ""

    @property
    def console(self) -> bool:
        """Whether a person is to read the answer, on standard output."""
        return not self.format

    @property
    def flat(self) -> bool:
        """Whether a program is to read the answer, as one table with all that tells its rows apart."""
        return self.format in formats.FLAT

    @property
    def table(self) -> Path | None:
        """The file of a figure's table, beside that of the figure."""
        return (
            None if self.path is None else self.path.with_name(f"{self.path.name.removesuffix(f'.{self.format}')}.csv")
        )

    def give(self, sheets: Sequence[Sheet], document: object = None, notes: Sequence[str] = ()) -> None:
        """Shows sheets, or writes them in the format asked for with the notes below each of them; JSON is the
        ``document`` where there is one."""
        if self.console:
            show(sheets, notes)
            return
        if self.format == "json" and document is not None:
            self.put(json.dumps(document, indent=2, default=str) + "\n")
        else:
            self.put(formats.render([replace(s, notes=(*s.notes, *notes)) for s in sheets], self.format))
        say(notes)

    def remark(self, sentences: Sequence[str]) -> None:
        """Says what an answer comes to: below it on the console, else on standard error."""
        for sentence in sentences:
            (stdout() if self.console else stderr()).print(sentence)

    def put(self, content: str | bytes) -> None:
        """Writes ``content`` to the file, whole or not at all, or to standard output."""
        data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
        if self.path is not None:
            formats.save(self.path, data)
            stderr().print(f"wrote {self.path}", soft_wrap=True)
        elif (binary := getattr(sys.stdout, "buffer", None)) is not None:
            sys.stdout.flush()
            binary.write(data)
            binary.flush()
        else:
            sys.stdout.write(data.decode(errors="backslashreplace"))


def output_of(out: Path | None, format: str, json: bool, known: Sequence[str], usual: str = "") -> Output:
    """What the three options mean: the format that is named, else the file's ending; ``usual`` is what ``-o -`` gives.

    :class:`UserError` where they contradict each other, name no format of ``known``, or the file cannot be
    written: that is said before a long run, not after it.
    """
    if json and format not in ("", "json"):
        raise UserError(f"--json and --format {format}: leave one of them out")
    named = "json" if json else format.lower().removeprefix(".")
    if named and named not in known:
        raise unknown("format", named, known)
    if out is None and not named:
        return Output()
    if out is None or str(out) == "-":
        if named in _BINARY and sys.stdout.isatty():
            raise UserError(f"--format {named} is not for a terminal; give -o FILE, or send it into a pipe")
        return Output(None, named or usual)
    named = named or _ending(out, known)
    if not named and os.path.isdir(out):  # noqa: PTH112, which raises nothing
        raise UserError(f"{out}: is a folder; name a file in it")
    if not named:
        endings = ", ".join(f".{f}" for f in known)
        raise UserError(f"{cut(str(out))}: no such format; end the name in one of {endings}, or give --format")
    writable(out)
    made = Output(out, named)
    if named in FIGURES and made.table is not None:
        _replaceable(made.table, out)
    return made


def _replaceable(table: Path, drawing: Path) -> None:
    """:class:`UserError` for a file that the table beside a ``drawing`` would replace, unless a drawing is beside it
    already: then it is the table of that."""
    writable(table)
    drawings = (drawing, *(table.with_suffix(f".{f}") for f in FIGURES))
    if table.exists() and not any(d.exists() for d in drawings):
        raise UserError(
            f"{table}: is there, and the figure's table would replace it; give another name to -o, or move it"
        )


def _ending(out: Path, known: Sequence[str]) -> str:
    """The longest format that the file's name ends in; empty if there is none."""
    fitting = [f for f in known if out.name.lower().endswith(f".{f}")]
    return max(fitting, key=len, default="")


def apart(outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None] = MappingProxyType({})) -> None:
    """:class:`UserError` where a file that is written, by its option, is one that is read, or another one that is."""
    seen = dict(inputs)
    for option, path in outputs.items():
        same = next((other for other, there in seen.items() if path and there and _same(path, there)), None)
        if same is not None:
            raise UserError(f"{option} {cut(str(path))}: is the file of {same} too; name another file")
        seen[option] = path


def _same(one: Path, other: Path) -> bool:
    try:
        if one.exists() and not one.is_file():
            return False  # as /dev/null, which any number may have
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError, ValueError):
        return False  # one of them is not there yet, or cannot be looked at


def writable(path: Path) -> None:
    """:class:`UserError` when ``path`` cannot be made or replaced, as far as this can be seen before."""
    folder = path.parent
    try:
        if path.is_dir():
            raise UserError(f"{path}: is a folder; name a file in it")
        if path.is_file() and os.access(path, os.R_OK) and is_database(path):
            raise UserError(f"{path}: is a database, which an answer would replace; name another file")
        for ending in PARTS:
            whole = path.with_name(path.name.removesuffix(ending))
            if path.name.endswith(ending) and whole.is_file() and is_database(whole):
                raise UserError(f"{path}: is a part of the database {whole}; name another file")
        if not folder.is_dir():
            raise UserError(f"{path}: there is no folder {folder}; make it, or name another")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"{path}: the folder {folder} cannot be written; name another")
    except OSError as e:
        raise UserError(f"{cut(str(path))}: {e.strerror}; name another file") from e
