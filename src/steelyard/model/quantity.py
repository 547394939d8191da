"""Numbers with units, as options have them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .errors import UserError, cut

_NUMBER = re.compile(r"(\d{1,12}(?:\.\d{1,9})?(?:e[+-]?\d)?)\s*(\S*|/\s+\w+)", re.ASCII | re.IGNORECASE)

#: bytes; K is 1024, as chips have it
BYTES = {"": 1, "B": 1, "K": 1024, "KB": 1024, "KiB": 1024, "M": 1 << 20, "MB": 1 << 20, "MiB": 1 << 20}
#: times a second
RATE = {
    **dict.fromkeys(("/s", "Hz"), 1.0),
    **dict.fromkeys(("/min", "/m"), 1 / 60),
    **dict.fromkeys(("/h", "/hour"), 1 / 3600),
    **dict.fromkeys(("/day", "/d"), 1 / 86400),
}
#: coulombs
CHARGE = {"mAh": 3.6, "Ah": 3600.0}
#: amperes
CURRENT = {"nA": 1e-9, "uA": 1e-6, "µA": 1e-6, "mA": 1e-3, "A": 1.0}
#: volts
VOLTAGE = {"": 1.0, "V": 1.0, "mV": 1e-3}


def quantity(option: str, text: str, units: Mapping[str, float], example: str) -> float:
    """The number of ``text`` in what ``units`` are of; :class:`UserError` where it is none above zero.

    >>> quantity("--rom", "4K", BYTES, "4K")
    4096.0
    """
    found = _NUMBER.fullmatch(text.strip())
    by_case = {name.lower(): factor for name, factor in units.items()}
    factor = by_case.get("".join(found[2].lower().split())) if found else None
    if found is None or factor is None or float(found[1]) == 0:
        known = ", ".join(name for name in units if name)
        raise UserError(
            f"{option} {cut(text, 30)!r}: write a number above 0 with its unit ({known}), such as {example}"
        )
    return float(found[1]) * factor
