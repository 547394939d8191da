"""Where names of marks go in a figure, so that they can be read. Vega's own way needs a browser's canvas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

#: pixels that a letter takes, and a line
LETTER, LINE = 5.0, 10.0
#: pixels from a mark's centre to its rim
_RIM = 5
#: what another name in the way costs, the figure's edge, and a mark
_NAME, _EDGE, _MARK = 100, 40, 4
#: pixels to the side and down, nearest first
_WAYS = tuple((dx, dy) for dy in (0, -11, 11, -22, 22, -33, 33, -44, 44) for dx in (9, -9))


class Offset(NamedTuple):
    """From a mark to its name: ``left`` or ``right`` is the side of the name that is nearer."""

    align: str
    dx: int
    dy: int


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def offsets(
    names: Sequence[tuple[str, float, float]],
    marks: Sequence[tuple[float, float]],
    size: tuple[int, int],
    padding: int,
) -> list[Offset]:
    """Offsets of names, each with its mark's place, among all ``marks``, on two logarithmic scales.

    ``size`` is the figure's width and height in pixels, of which ``padding`` is kept free on each side. The way that
    meets least is taken, name by name from above.
    """
    if not names:
        return []
    width, height = size
    across = _pixels([x for x, _ in marks], width, padding)
    down = _pixels([y for _, y in marks], height, padding)
    spots = [(across(x), height - down(y)) for x, y in marks]
    taken: list[_Box] = []
    made: dict[int, Offset] = {}
    for k in sorted(range(len(names)), key=lambda k: -names[k][2]):
        text, x, y = names[k]
        px, py = across(x), height - down(y)
        boxes = [_box(text, px + dx, py + dy, dx) for dx, dy in _WAYS]
        far = max(boxes[0].right - px, max(dy for _, dy in _WAYS) + LINE) + _RIM
        near = [(sx, sy) for sx, sy in spots if abs(sx - px) <= far and abs(sy - py) <= far]

        def cost(n: int, boxes: Sequence[_Box] = boxes, near: Sequence[tuple[float, float]] = near) -> int:
            b = boxes[n]
            outside = b.left < 0 or b.right > width or b.top < 0 or b.bottom > height
            rim = _Box(b.left - _RIM, b.top - _RIM, b.right + _RIM, b.bottom + _RIM)
            met = sum(rim.left < sx < rim.right and rim.top < sy < rim.bottom for sx, sy in near)
            return _NAME * sum(map(b.meets, taken)) + _EDGE * outside + _MARK * met + abs(_WAYS[n][1]) // 11

        best = min(range(len(_WAYS)), key=cost)
        taken.append(boxes[best])
        dx, dy = _WAYS[best]
        made[k] = Offset("left" if dx > 0 else "right", dx, dy)
    return [made[k] for k in range(len(names))]


def _box(text: str, x: float, y: float, dx: int) -> _Box:
    long = LETTER * len(text)
    left = x if dx > 0 else x - long
    return _Box(left, y - LINE / 2, left + long, y + LINE / 2)


def _pixels(values: Sequence[float], length: int, padding: int) -> Callable[[float], float]:
    """A logarithmic scale over the values."""
    low, high = math.log(min(values)), math.log(max(values))
    each = (length - 2 * padding) / ((high - low) or 1)
    return lambda v: padding + (math.log(v) - low) * each
