"""TOML files as models: unknown keys are refused, with a suggestion, and every message names the file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from msgspec.structs import replace

from . import checked, paths
from .errors import UserError, cut


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a TOML file."""

    def but(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        return replace(self, **changes)


_Model = TypeVar("_Model", bound=Table)
#: largest file read, bytes
MAX_BYTES = 1 << 20


def load(file: Path, model: type[_Model], more: Mapping[str, object] | None = None) -> _Model:
    """The file as a ``model``, with the values ``more`` that its place gives; :class:`UserError` otherwise."""
    name = paths.short(file)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UserError(f"{name}: larger than {MAX_BYTES} bytes")
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as e:
        raise UserError(f"{cut(name)}: {e.strerror}; name a file that can be read") from e
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise UserError(f"{name}: no TOML: {e}") from e
    try:
        return checked.convert({**table, **(more or {})}, model)
    except checked.Wrong as e:
        raise UserError(f"{name}: {e}") from e


def plain(table: Table) -> dict[str, Any]:
    """The table as dictionaries, lists and text."""
    made: dict[str, Any] = msgspec.to_builtins(table, enc_hook=checked.plain)
    return made
