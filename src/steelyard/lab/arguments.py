"""What may stand in braces in a flasher's arguments, and the arguments with all of that in its place."""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from typing import NamedTuple

from ..model.errors import UserError, cut, unknown

#: an argument that stands for all that tells the flasher which probe it has
PROBE = "{probe}"
#: an argument that stands for the port of a boot loader
BOOT_PORT = "{boot_port}"


class Written(NamedTuple):
    """What the arguments that put an image into a chip, or compare it, may name."""

    chip: str
    port: str
    boot_port: str
    baud: int
    image: str
    script: str
    start: str
    base: str
    mode: str


class Looked(NamedTuple):
    """What those may name that restart a chip and look at its RAM through a probe."""

    script: str
    go: str
    file: str
    base: str
    size: str


#: by the key of a flasher's table
KNOWN = {
    **dict.fromkeys(("write", "write_hex", "write_bin", "verify"), Written._fields),
    **dict.fromkeys(("restart", "fill", "dump"), Looked._fields),
    "probe": ("interface",),
    "probe_command": ("command",),
}


def check(key: str, arguments: Sequence[str]) -> None:
    """:class:`UserError` where one of a table's arguments has something else in braces than this ``key`` may have."""
    known = KNOWN[key]
    for argument in arguments:
        try:
            parts = [part for part in Formatter().parse(argument) if part[1] is not None]
        except ValueError as e:
            raise UserError(f"{cut(argument)!r}: {e}; write {{{{ and }}}} for braces") from None
        for _, name, form, conversion in parts if argument != PROBE else ():
            word = f"{name}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}"
            if word not in known:
                raise unknown("placeholder", word, known)


def spelt(arguments: Sequence[str], words: Written | Looked, probe: Sequence[str] = ()) -> list[str]:
    """The arguments with ``words`` in their places, and ``probe`` in its."""
    named = words._asdict()
    parts = (probe if a == PROBE else (a.format(**named),) for a in arguments)
    return [word for part in parts for word in part]
