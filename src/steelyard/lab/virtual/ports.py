"""Debug ports of virtual chips, and the probes that reach them."""

from __future__ import annotations

from ...model.errors import UserError
from ...model.target import Target
from .. import config
from . import dap, riscv
from .arm import DebugPort
from .bitbang import Bitbang
from .board import Chip, Probe
from .core import Core
from .jtag import Chain, boundary
from .parts import part
from .stlink import StLink


def probe(wanted: config.Probe, chip: Chip, target: Target, flash: bytearray) -> Probe:
    """The probe that the lab's commands speak of, at this chip. :class:`UserError` where none reaches it."""
    known = part(target.chip_name)
    if not wanted.bitbang and known.misa:
        raise UserError(f"probe {wanted.name}: an ST-Link reaches no {target.chip_name}; {config.BITBANG!r} does")
    if not wanted.bitbang:
        return StLink(wanted.address, DebugPort(chip, target, flash))
    if not known.jtag:
        raise UserError(f"probe {wanted.name}: no virtual {target.chip_name} has JTAG; {config.ST_LINK!r} reaches it")
    core: Core
    if known.misa:
        core = riscv.DebugModule(chip, target, flash)
        first = riscv.tap(core, known.jtag[0])
    else:
        core = DebugPort(chip, target, flash)
        first = dap.tap(core, known.jtag[0])
    return Bitbang(wanted.address, Chain([first, *map(boundary, known.jtag[1:])]), core)
