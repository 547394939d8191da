"""Converts foreign data to our types: every value is checked, and the error names the path of the first wrong one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .errors import unknown

_T = TypeVar("_T")
_MESSAGE = re.compile(r"(.*?)(?: - at `\$\.?(.*)`)?", re.DOTALL)
_FIELD = re.compile(r"Object (?:contains unknown|missing required) field `(.*)`", re.DOTALL)


class Wrong(ValueError):
    """A value of the wrong kind. The text is ``path: what is wrong``, such as ``chip.peripherals.0.base: missing``."""


def convert(data: Any, kind: type[_T]) -> _T:
    """``data`` of a JSON or TOML document as a ``kind``, without coercion. Raises :class:`Wrong`."""
    try:
        return msgspec.convert(data, kind, dec_hook=_path)
    except msgspec.ValidationError as e:
        raise Wrong(_sentence(str(e), kind)) from None


def _path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str | Path):
        return Path(value)
    raise NotImplementedError(f"no conversion to {kind}")


def _sentence(message: str, kind: Any) -> str:
    found = _MESSAGE.fullmatch(message)
    text, path = (found[1], found[2] or "") if found else (message, "")
    parts = [p for p in re.split(r"[.\[\]]+", path) if p]
    if field := _FIELD.fullmatch(text):
        known = _fields(kind, parts)
        new = field[1] not in known
        text = str(unknown("key", field[1], known)) if new else "missing"
        parts.append(field[1])
    return f"{'.'.join(parts)}: {text[:1].lower()}{text[1:]}" if parts else text


def _fields(kind: Any, parts: list[str]) -> list[str]:
    """Names of the fields at the path ``parts`` inside ``kind``."""
    import msgspec.inspect  # slow to import, and needed for messages only

    here: list[Any] = [msgspec.inspect.type_info(kind)]
    for part in [*parts, None]:
        here = [t for h in here for t in getattr(h, "types", (h,))]  # every member of a union
        if part is None:
            break
        here = [
            below
            for h in here
            for below in (
                *(f.type for f in getattr(h, "fields", ()) if f.encode_name == part),
                *(getattr(h, name) for name in ("item_type", "value_type") if hasattr(h, name)),
            )
        ]
    return [f.encode_name for h in here for f in getattr(h, "fields", ())]
