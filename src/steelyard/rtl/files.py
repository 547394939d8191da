"""Files that others wrote: each that is read is a regular one, and not without end."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from ..model import userfile
from ..model.errors import UserError

#: most sources of a design, bytes of one of them or of a file that it includes or reads, and bytes of all sources
MANY, LARGEST, WHOLE = 2000, 8 << 20, 32 << 20
#: most bytes of each of a package's pdi, sdi and do files
ANSWERS = 16 << 20
#: most bytes of what tools of others made: reports, and libraries of gates
MADE = 64 << 20
#: what is not code in Verilog. What does not end in its line, or at all, ends with it, so that no text is read twice
ASIDE = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
#: the same in VHDL, where a quote may be a character
VHDL_ASIDE = re.compile(r"""'"'|"[^"\n]*"?|--[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)
_ONE = "name the folder of one design"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: between them is every area, count, time and frequency that is not 0
_LEAST, _MOST = 1e-6, 1e9


def content(file: Path, most: int, hint: str) -> bytes:
    """All bytes of a file. Raises :class:`UserError`, with the hint, where there are more than ``most``, or where it is
    another thing than a file."""
    regular(file, most, hint)
    try:
        return userfile.content(file, most)
    except userfile.TooLargeError as e:  # it grew
        raise UserError(_large(file, most, hint)) from e


def text(file: Path, most: int, hint: str) -> str:
    """The same as text, whose characters and ends of lines may be any."""
    return decoded(content(file, most, hint))


def decoded(data: bytes) -> str:
    """Bytes as lines of text, without the mark that editors put before it."""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def uncommented(source: str, aside: re.Pattern[str] = ASIDE) -> str:
    """A source with a space in place of each comment, as a preprocessor of Verilog reads it."""
    return aside.sub(lambda found: found[0] if found[0].startswith(('"', "'")) else " ", source)


def number(text: str, what: str, *, signed: bool = False) -> float:
    """The number that others wrote. Raises :class:`UserError`, which says of ``what``, for anything else, and for one
    that is below zero, or too large or small to be one of theirs."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not (value == 0 or _LEAST < abs(value) < _MOST) or (value < 0 and not signed):
        hint = "give the file as its tool wrote it"
        raise UserError(f"{what}: {text or 'nothing'} is not a number that it can have; {hint}")
    return value


def regular(file: Path, most: int, hint: str) -> int:
    """The bytes of a file, which is not read. Raises :class:`UserError` as :func:`content` does."""
    try:
        size = file.stat().st_size
    except OSError as e:
        raise UserError(f"{file}: {e.strerror or e}; {hint}") from e
    if not file.is_file():
        raise UserError(f"{file}: not a file, but a folder, pipe or device; {hint}")
    if size > most:
        raise UserError(_large(file, most, hint))
    return size


def bounded(sources: Sequence[Path], folder: Path) -> None:
    """Raises :class:`UserError` where sources are too many or too large, each or in sum."""
    few(sources, folder)
    if sum(regular(f, LARGEST, "leave it out of the sources") for f in sources) > WHOLE:
        raise UserError(f"{folder}: more than {WHOLE >> 20} MiB of sources; {_ONE}")


def few(sources: Sequence[object], folder: Path) -> None:
    """Raises :class:`UserError` where sources are too many, which need not be there."""
    if len(sources) > MANY:
        raise UserError(f"{folder}: {len(sources)} sources; {_ONE}")


def _large(file: Path, most: int, hint: str) -> str:
    return f"{file}: larger than {most >> 20} MiB; {hint}"
