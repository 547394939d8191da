"""Hardware's throughput by input size, the best design of each family (GMU)."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyse import rank
from ..model.row import Row, Value
from .results import column, grouped, heading, of_group, run_of, shared
from .sheet import Cell, Column, Line, Sheet

#: what rankings by input size are of, and the sizes in their order
_DATA, _LENGTHS = ("pt", "ad", "hash"), ("long", "1536", "64", "16")
#: metrics that the tables need
NEEDED = (*(f"throughput_{data}_{size}" for data in _DATA for size in _LENGTHS), "lut")


def tables(rows: Sequence[Row], top: int | None = None) -> list[Sheet]:
    """Of each family the design with the most throughput of long data, in that order, and for shorter data its place
    and by how many places it is better (up) or worse than with long data."""
    sheets = []
    for key, group in grouped(rows).items():
        for data in _DATA:
            names = [f"throughput_{data}_{size}" for size in _LENGTHS]
            having, _ = rank.complete(group, names)
            best: dict[Value, Row] = {}
            for row in having:
                best[row["family"]] = max(
                    best.get(row["family"], row), row, key=lambda r: rank.value(r, names[0]) or 0.0
                )
            if not best:
                continue
            at = {n: {id(p.row): p.rank for p in rank.most(list(best.values()), n).places} for n in names}
            columns = [Column("place", "place"), column("label"), column("lut"), column(names[0])]
            for n, size in zip(names[1:], _LENGTHS[1:], strict=True):
                columns += [column(n), Column(f"place_{size}", "place"), Column(f"moved_{size}", "moved")]
            lines = []
            for place in rank.most(list(best.values()), names[0]).places[:top]:
                row = place.row
                cells: list[Cell] = [place.rank, row["label"], row.get("lut"), place.value]
                for n in names[1:]:
                    there = at[n][id(row)]
                    cells += [row.get(n), there, _moved(place.rank - there)]
                lines.append(Line(cells, run_of(row)))
            titles = {"pt": "plaintext", "ad": "associated data", "hash": "hash"}
            notes = [
                f"the best of {len(having)} designs in each of {len(best)} families by throughput of long data; "
                "moved is against the place there",
                *shared(group),
            ]
            title = f"{heading(group)}, {titles[data]} by input size"
            sheet = Sheet(title, f"sizes-{key[0]}-{data}", columns, lines, notes=notes)
            sheets.append(of_group(sheet, key, group))
    return sheets


def _moved(places: float) -> str:
    """An arrow and how many places: up is better."""
    return f"{'↑' if places > 0 else '↓'}{abs(places):g}" if places else ""
