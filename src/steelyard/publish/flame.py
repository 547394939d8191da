"""A call tree as a flame graph: callers above callees, width is cycles. One self-contained SVG."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from ..analyse.profile import inclusive
from ..model.errors import printable
from ..model.profile import Profile
from .sheet import spaced

WIDTH, ROW, TOP = 1200, 22, 48
#: narrower boxes are left out, in pixels
THINNEST = 0.5
#: light fills that print well and keep black text above 7:1 contrast (after Okabe and Ito's palette, lightened)
FILLS = ("#f6c96b", "#a9d6f0", "#8fd3bf", "#f3e28a", "#f2b58f", "#e3bcd3", "#c9d8b6", "#cfd3e6")


def flame_svg(profile: Profile, title: str) -> str:
    """The SVG text. Every box has its function, calls, cycles and share as a tooltip."""
    title = printable(title)
    sums = inclusive(profile)
    children: dict[int, list[int]] = {}
    roots = []
    for k, n in enumerate(profile.nodes):
        if n.parent == k:
            roots.append(k)
        else:
            children.setdefault(n.parent, []).append(k)
    total = sum(sums[r] for r in roots) or 1
    boxes: list[str] = []
    deepest = 0

    def draw(node: int, x: float, depth: int) -> None:
        nonlocal deepest
        width = sums[node] / total * WIDTH
        if width < THINNEST:
            return
        deepest = max(deepest, depth)
        boxes.append(_box(profile, node, sums[node], total, x, depth, width))
        for child in sorted(children.get(node, ()), key=lambda c: -sums[c]):
            draw(child, x, depth + 1)
            x += sums[child] / total * WIDTH

    x = 0.0
    for root in roots:
        draw(root, x, 0)
        x += sums[root] / total * WIDTH
    height = TOP + (deepest + 1) * ROW + 8
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label={quoteattr(title)} font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="4" y="18" font-size="15" font-weight="bold">{escape(title)}</text>',
            f'<text x="4" y="36">{spaced(total)} cycles; width is cycles, callers above callees</text>',
            *boxes,
            "</svg>\n",
        ]
    )


def _box(profile: Profile, node: int, cycles: int, total: int, x: float, depth: int, width: float) -> str:
    n = profile.nodes[node]
    function = printable(n.function)  # symbols may hold any character
    y = TOP + depth * ROW
    fill = FILLS[sum(function.encode()) % len(FILLS)]
    calls = "1 call" if n.calls == 1 else f"{spaced(n.calls)} calls"
    tip = f"{function}: {spaced(cycles)} cycles, {100 * cycles / total:.1f} %; {spaced(n.cycles)} in itself; {calls}"
    fits = int((width - 6) / 6.6)
    name = function if len(function) <= fits else function[: fits - 1] + "…" if fits > 3 else ""
    label = f'<text x="{x + 3:.1f}" y="{y + 15}">{escape(name)}</text>' if name else ""
    rect = f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, THINNEST):.1f}" height="{ROW - 1}" fill="{fill}"/>'
    return f"<g><title>{escape(tip)}</title>{rect}{label}</g>"
