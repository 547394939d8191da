"""TOML files as models: unknown keys are refused, with a suggestion, and every message names the file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from . import paths
from .errors import UserError, unknown


class Table(BaseModel):
    """A table of a TOML file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise UserError(f"{name}: {e.strerror if isinstance(e, OSError) else e}") from e
    try:
        return model.model_validate({**table, **(more or {})})
    except ValidationError as e:
        raise UserError(f"{name}: " + "; ".join(_sentences(e, model))) from e


def _sentences(error: ValidationError, model: type[Table]) -> list[str]:
    lines = []
    for e in error.errors():
        place = ".".join(str(p) for p in e["loc"])
        if e["type"] == "extra_forbidden":
            table: Any = model
            for part in (p for p in e["loc"][:-1] if isinstance(p, str)):
                field = getattr(table, "model_fields", {}).get(part)
                kind = field.annotation if field else None  # a table, an optional one, or a list of them
                table = next((t for t in (kind, *get_args(kind)) if hasattr(t, "model_fields")), None)
            known = list(getattr(table, "model_fields", {}))
            lines.append(f"{place}: {unknown('key', str(e['loc'][-1]), known)}")
        else:
            lines.append(f"{place}: {e['msg']}")
    return lines
