"""JSON: one object a row, keys as metrics are called, and the runs behind each row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..sheet import Line, Sheet

#: cells of a row, each on its line: the library indents in Python, in five times the time
_CELLS = json.JSONEncoder(ensure_ascii=False, separators=(",\n    ", ": "))


def render(sheets: Sequence[Sheet]) -> str:
    """A list of tables, indented by one, a cell a line."""
    return _list(map(_table, sheets), "") + "\n"


def _table(sheet: Sheet) -> str:
    columns = [{"name": c.name, "title": c.title, "unit": c.unit} for c in sheet.columns]
    rows = _list(_rows(sheet.lines, [c.name for c in sheet.columns]), "  ")
    parts = {"title": _text(sheet.title, "  "), "columns": _text(columns, "  "), "rows": rows}
    parts["notes"] = _text(list(sheet.notes), "  ")
    return "{\n" + ",\n".join(f'  "{name}": {value}' for name, value in parts.items()) + "\n }"


def _rows(lines: Iterable[Line], names: Sequence[str]) -> Iterator[str]:
    for line in lines:
        cells = _CELLS.encode(dict(zip(names, line.cells, strict=True)))[1:-1]
        yield f'{{\n    {cells},\n    "runs": {_list(map(str, line.runs), "    ")}\n   }}'


def _list(items: Iterable[str], indent: str) -> str:
    """A list whose items are JSON already."""
    inside = f",\n{indent} ".join(items)
    return f"[\n{indent} {inside}\n{indent}]" if inside else "[]"


def _text(data: Any, indent: str) -> str:
    """Small things, by the library."""
    return json.dumps(data, indent=1, ensure_ascii=False).replace("\n", f"\n{indent}")
