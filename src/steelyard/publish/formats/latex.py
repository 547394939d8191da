"""LaTeX tables in the manner of booktabs; the runs of each row stand in a comment at its end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..sheet import Column, Line, Sheet, text

_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "µ": r"\textmu{}", "-": "{-}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}  # fmt: skip
_MARKS = {"better": r"\,$\downarrow$", "worse": r"\,$\uparrow$", "": ""}


def render(sheets: Sequence[Sheet]) -> str:
    """All sheets as ``table`` environments."""
    return "% needs \\usepackage{booktabs,textcomp}\n" + "\n".join(_sheet(s) for s in sheets)


@lru_cache(1 << 16)
def _escape(cell: str) -> str:
    made = "".join(_SPECIAL.get(c, c) for c in cell.replace("\n", " "))
    at = len(made) - len(made.lstrip())  # what ends the line before takes these for its own
    return f"{made[:at]}{{{made[at]}}}{made[at + 1 :]}" if made[at : at + 1] in ("[", "*") and made else made


def _key(label: str) -> str:
    """What tables are referred to by: it is read as it is, so that nothing else may stand in it."""
    return re.sub(r"[^\w.:+/@-]+", "-", label, flags=re.ASCII)


def _cell(line: Line, value: str | float | int | None, column: Column) -> str:
    shown = text(value, column)
    if column.digits is None:
        return rf"\texttt{{{_escape(shown)}}}" if column.name == "flags" else _escape(shown)
    number = "--" if value is None else shown if shown[0] != "-" else f"$-${shown[1:]}"
    return number + (_MARKS[line.marks.get(column.name, "")] if line.marks else "")


def _sheet(sheet: Sheet) -> str:
    spec = "".join("l" if c.digits is None else "r" for c in sheet.columns)
    lines = [r"\begin{table}", r"  \centering"]
    lines += [f"  \\caption{{{_escape(sheet.caption or sheet.title)}}}", f"  \\label{{{_key(sheet.label)}}}"]
    lines += [f"  \\begin{{tabular}}{{{spec}}}", r"    \toprule"]
    lines += ["    " + " & ".join(rf"\textbf{{{_escape(c.heading)}}}" for c in sheet.columns) + r" \\", r"    \midrule"]
    for line in sheet.lines:
        cells = " & ".join(_cell(line, v, c) for v, c in zip(line.cells, sheet.columns, strict=True))
        runs = f" % run {' '.join(map(str, line.runs))}" if line.runs else ""
        lines.append(f"    {cells} \\\\{runs}")
    lines += [r"    \bottomrule", r"  \end{tabular}"]
    lines += [rf"  \par\smallskip\footnotesize {_escape(n)}" for n in sheet.notes]
    return "\n".join([*lines, r"\end{table}", ""])
