"""JSON: one object a row, keys as metrics are called, and the runs of each row."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..sheet import Sheet


def render(sheets: Sequence[Sheet]) -> str:
    """A list of tables."""
    data = [
        {
            "title": s.title,
            "columns": [{"name": c.name, "title": c.title, "unit": c.unit} for c in s.columns],
            "rows": [
                {
                    **{c.name: v for c, v in zip(s.columns, line.cells, strict=True)},
                    "runs": list(line.runs),
                }
                for line in s.lines
            ],
            "notes": list(s.notes),
        }
        for s in sheets
    ]
    return msgspec.json.format(msgspec.json.encode(data), indent=1).decode() + "\n"
