"""Tables that are set by ourselves look as Rich would set them."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from steelyard.cli.console import _Grid

CELLS = (
    st.text("ab [/]:µ▾漢", max_size=6).map(str.strip)
    | st.integers(-9999, 9999).map(str)
    | st.just(Text("12 ▾", style="green"))
)


def shown(what: object, width: int, color: bool) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, color_system="standard" if color else None).print(what)
    return out.getvalue()


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4), st.integers(8, 60))
def test_as_rich_sets_it(rows: list[tuple[str | Text, ...]], width: int) -> None:
    grid = _Grid(["run", "name [x]", "ROM"], rows, [True, True, False], [False] * 3, None)
    assert shown(grid, width, False) == shown(grid._by_rich(), width, False)


def test_heads_are_bold_and_marks_keep_their_colour() -> None:
    grid = _Grid(["name", "ROM"], [["x", Text("12 ▾", style="green")]], [True, False], [False] * 2, None)
    assert "\x1b[1m" in shown(grid, 60, True)
    assert "\x1b[32m12 ▾" in shown(grid, 60, True)
