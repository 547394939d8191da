"""Converts foreign data to our types: every value is checked, and the error names the path of the first wrong one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from .._native import Chip
from .errors import unknown

_T = TypeVar("_T")
_MESSAGE = re.compile(r"(.*?)(?: - at `\$\.?(.*)`)?", re.DOTALL)
#: a key that msgspec does not name, and in how many of them it is looked for
_ANY, _MANY = "*", 64
_FIELD = re.compile(r"Object (?:contains unknown|missing required) field `(.*)`", re.DOTALL)
#: what serde says of a table's keys
_UNKNOWN = re.compile(r"unknown field `(.*)`, (?:expected|there are) (.*)", re.DOTALL)
_MISSING = re.compile(r"missing field `(.*)`")
#: serde's names of types, as people call them
_TYPES = {
    "u32": "a whole number from 0 to 4294967295",
    "u8": "a whole number from 0 to 255",
    "a borrowed string": "text",
    "struct Chip": "a table",
    "struct Flash": "a table",
    "struct Region": "a table with base and size",
    "struct PeripheralConfig": "a table",
    "a sequence": "an array",
}


class Wrong(ValueError):
    """A value of the wrong kind. The text is ``path: what is wrong``, such as ``chip.peripherals.0.base: missing``."""


def convert(data: Any, kind: type[_T], *, strict: bool = True) -> _T:
    """``data`` of a JSON or TOML document as a ``kind``. Texts become numbers only where it is not ``strict``, as in an
    address. Raises :class:`Wrong`."""
    try:
        return msgspec.convert(data, kind, strict=strict, dec_hook=_made)
    except msgspec.ValidationError as e:
        inside = str(e.__cause__) if isinstance(e.__cause__, Wrong) else ""
        found = _MESSAGE.fullmatch(str(e))
        text, path = (found[1], found[2] or "") if found else (str(e), "")
        parts = _keys(data, kind, _parts(path.replace("[...]", f".{_ANY}")), strict)
        raise Wrong(_sentence(text, parts, kind, inside)) from None


def as_json(value: object) -> object:
    """What is of no type of JSON's as one."""
    return msgspec.json.decode(value.json) if isinstance(value, Chip) else str(value)


def _made(kind: type, value: object) -> object:
    if kind is Path:
        if not isinstance(value, str | Path):
            raise Wrong(": expected a path, in quotes")
        return Path(value)
    if kind is Chip:
        return _chip(value)
    raise NotImplementedError(f"no conversion to {kind}")


def _chip(table: object) -> Chip:
    """A chip that the native module validates. Raises :class:`Wrong` with the place, a dot before each of its parts."""
    try:
        return Chip(json.dumps(table, default=str))
    except ValueError as e:
        path, text = e.args
    parts = _parts(path)
    if new := _UNKNOWN.fullmatch(text):
        text = str(unknown("key", new[1], re.findall(r"`(\w+)`", new[2])))
    elif gone := _MISSING.fullmatch(text):
        parts, text = [*parts, gone[1]], "missing"
    else:
        text = re.sub(r"(?<=expected ).*", lambda m: _TYPES.get(m[0], m[0]), text)
    raise Wrong(f"{'.'.join(['', *parts])}: {text}")


def _parts(path: str) -> list[str]:
    return [p for p in re.split(r"[.\[\]]+", path) if p]


def _keys(data: Any, kind: Any, parts: list[str], strict: bool) -> list[str]:
    """The path ``parts`` of the first error with the key of each table that msgspec leaves out: the first one that, if
    alone in its table, leads to the same error."""

    def error(data: Any) -> str:
        try:
            msgspec.convert(data, kind, strict=strict, dec_hook=_made)
        except msgspec.ValidationError as e:
            return str(e)
        return ""

    said = error(data) if _ANY in parts else ""
    for at, part in enumerate(parts):
        table = _at(data, parts[:at]) if part == _ANY else {}
        for key, value in table.items() if len(table) <= _MANY else ():
            alone = _put(data, parts[:at], {key: value})
            if error(alone) == said:
                data, parts = alone, [*parts[:at], str(key), *parts[at + 1 :]]
                break
    return parts


def _at(data: Any, parts: list[str]) -> Any:
    for part in parts:
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data


def _put(data: Any, parts: list[str], value: Any) -> Any:
    """A copy of ``data`` with ``value`` at ``parts``."""
    if not parts:
        return value
    if isinstance(data, list):
        return [_put(d, parts[1:], value) if n == int(parts[0]) else d for n, d in enumerate(data)]
    return {**data, parts[0]: _put(data[parts[0]], parts[1:], value)}


def _sentence(text: str, parts: list[str], kind: Any, inside: str = "") -> str:
    """What msgspec says, or what is wrong ``inside`` the value that it points to."""
    if inside:
        return f"{'.'.join(parts)}{inside}"
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
