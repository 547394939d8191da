"""Finds calls that take longer than those that figures are of: the first after a restart, and late ones in a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..model.call import Beside, Observed

#: the share by which a call may be longer without a word
_SHARE = 1 / 8
#: cycles by which it may be longer, too: those of a first call are of branch predictors that know nothing yet
_ONCE, _LATE = 200, 20


def untold(told: Sequence[Observed], beside: Beside, empty: Mapping[str, int], notes: Iterable[str] = ()) -> list[str]:
    """Notes on calls ``beside`` those that figures have ``told`` of that take clearly longer than all of these of the
    same size; none on what one of the ``notes`` says already."""
    found = []
    for op, (cycles, usual) in _longest(told, beside.first, empty, _ONCE).items():
        text = f"the first {op} after a restart takes "
        if not any(n.startswith(text) for n in notes):
            found.append(f"{text}{cycles} cycles, later ones at most {usual}: no figure has that")
    for op, (cycles, usual) in _longest(told, beside.late, empty, _LATE).items():
        found.append(
            f"{op} takes up to {cycles} cycles late in a row of calls, before at most {usual}: no figure has that"
        )
    return found


def _longest(
    told: Sequence[Observed], others: Sequence[Observed], empty: Mapping[str, int], room: int
) -> dict[str, tuple[int, int]]:
    """By operation in words, the cycles of the longest of the ``others`` that is too long for its size, and the most
    that one of this size was told to take."""
    usual: dict[tuple[str, int, int], int] = {}
    for op, v, a in told:
        size = op, len(v.ad), len(v.message)
        usual[size] = max(usual.get(size, 0), a.pulse.cycles - empty[op])
    found: dict[str, tuple[int, int]] = {}
    for op, v, a in others:
        cycles, most, name = (
            a.pulse.cycles - empty[op],
            usual.get((op, len(v.ad), len(v.message))),
            op.replace("_", " "),
        )
        if most is not None and cycles > most + room + _SHARE * most and cycles > found.get(name, (0, 0))[0]:
            found[name] = cycles, most
    return found
