"""Reads TOML files into typed structs. Unknown keys are refused with a suggestion; every message names the file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from msgspec.structs import replace

from . import checked, paths, userfile
from .errors import UserError, cut


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TOML table, in TOML's sense of the word: keys with values."""

    def but(self, **changes: Any) -> Self:
        """A copy with other values in some fields: ``target.but(clock_hz=8_000_000)``."""
        return replace(self, **changes)


_Model = TypeVar("_Model", bound=Table)
#: the largest file that is read, in bytes
MAX_BYTES = 1 << 20
#: most characters of what is wrong with a value, which may name keys and values of any length
_MOST = 1000


def load(file: Path, model: type[_Model], more: Mapping[str, object] | None = None) -> _Model:
    """Reads ``file`` as a ``model``. ``more`` holds values that its path determines. Raises :class:`UserError`."""
    name = paths.short(file)
    try:
        table = parsed(userfile.content(file, MAX_BYTES), name)
    except userfile.TooLargeError as e:
        raise UserError(f"{name}: larger than {MAX_BYTES} bytes") from e
    try:
        return checked.convert({**table, **(more or {})}, model)
    except checked.Wrong as e:
        raise UserError(f"{name}: {cut(str(e), _MOST)}") from e


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """The table that a file called ``name`` has. Raises :class:`UserError`."""
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise UserError(f"{name}: not a TOML file: {cut(str(e))}") from e
    except (ValueError, RecursionError) as e:
        raise UserError(f"{name}: a number of too many digits, or tables too deep in each other; shorten it") from e


def as_dict(table: Table) -> dict[str, Any]:
    """The table as dictionaries, lists, numbers and text."""
    made: dict[str, Any] = msgspec.to_builtins(table, enc_hook=checked.as_json)
    return made
