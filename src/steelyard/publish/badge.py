"""A figure as a badge: a small SVG that a page elsewhere shows."""

from __future__ import annotations

from xml.sax.saxutils import escape

from ..model.errors import cut, printable
from ..model.row import Row
from . import sheet
from .results import column, evidence

#: pixels of a character at most, which a text is stretched or squeezed to; around a text; of the height
_CHARACTER, _PAD, _HEIGHT = 6.4, 7, 20
#: the longest text
_LONGEST = 80


def text(row: Row, metric: str) -> tuple[str, str]:
    """What a badge says: of what, and the figure with its unit and how it came about."""
    c = column(metric)
    figure = " ".join(w for w in (sheet.text(row[metric], c, " "), c.unit, c.title) if w)
    return f"{row['label']} on {row['target']}, {evidence(row.get('device'))}", figure


def badge(row: Row, metric: str) -> str:
    """The badge of a metric of a row. Black and white on two dark fills, contrast above 7:1."""
    parts = [cut(printable(part), _LONGEST) for part in text(row, metric)]
    widths = [round(len(part) * _CHARACTER) + 2 * _PAD for part in parts]
    whole = escape(": ".join(parts))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths)}" height="{_HEIGHT}" role="img">',
        f"<title>{whole}</title>",
    ]
    x = 0
    for part, width, fill in zip(parts, widths, ("#333333", "#0b5394"), strict=True):
        out.append(f'<rect x="{x}" width="{width}" height="{_HEIGHT}" fill="{fill}"/>')
        out.append(
            f'<text x="{x + _PAD}" y="14" fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
            f'textLength="{width - 2 * _PAD}" lengthAdjust="spacingAndGlyphs">{escape(part)}</text>'
        )
        x += width
    return "\n".join([*out, "</svg>"])
