"""The debug access port of a Cortex-M chip: what a probe reads and writes, of the port itself and of the access port to
memory. Arm Debug Interface Architecture Specification ADIv5 (IHI 0031), chapters B2, B3 and C2."""

from __future__ import annotations

from .arm import DebugPort
from .jtag import Tap

#: what a probe calls the port itself, among access ports with numbers
DP = 0xFFFF
_DPIDR, _CTRL_STAT, _SELECT, _RDBUFF = 0x0, 0x4, 0x8, 0xC
_CSW, _TAR, _DRW, _BASE, _IDR = 0x00, 0x04, 0x0C, 0xF8, 0xFC
_BANKED = range(0x10, 0x20)
_ROM_TABLE = 0xE00FF003
#: power-up requests of CTRL/STAT, which are acknowledged a bit above each
_POWER = 1 << 28 | 1 << 30
#: B3.3 and B3.4: bits of the instruction register, instructions, and the answer OK/FAULT of a scan
_IR_BITS, _DPACC, _APACC, _IDCODE, _OK = 4, 0xA, 0xB, 0xE, 0b010


class Dap:
    """The registers, of the debug port and of access port 0; others read as zero."""

    def __init__(self, port: DebugPort) -> None:
        self.port = port
        self._registers: dict[tuple[int, int], int] = {}

    def write(self, access: int, register: int, value: int) -> None:
        """Sets a register, or writes to where the address register points."""
        self._registers[access, register] = value
        if access == 0 and (place := self._place(register)):
            address, width = place
            lane = 8 * (address % 4)
            self.port.write(address, (value >> lane & ((1 << 8 * width) - 1)).to_bytes(width, "little"))

    def read(self, access: int, register: int) -> int:
        """A register, or what is where the address register points."""
        kept = self._registers.get((access, register), 0)
        if access == DP:
            if register == _DPIDR:
                return self.port.part.dpidr
            return kept | (kept & _POWER) << 1 if register == _CTRL_STAT else kept
        if access != 0:
            return 0
        if place := self._place(register):
            address, width = place
            return int.from_bytes(self.port.read(address, width), "little") << 8 * (address % 4)
        return {_IDR: self.port.part.apidr, _BASE: _ROM_TABLE, _CSW: kept | 0x40}.get(register, kept)

    def _place(self, register: int) -> tuple[int, int] | None:
        """Where a data register of the access port leads, and how many bytes it moves: DRW, after which the address may
        go on, or one of four banked ones; None for others."""
        at, control = self._registers.get((0, _TAR), 0), self._registers.get((0, _CSW), 2)
        if register in _BANKED:
            return at & ~0xF | register & 0xC, 4
        if register != _DRW:
            return None
        width = 1 << (control & 3)
        if control >> 4 & 3:
            self._registers[0, _TAR] = at + width
        return at, width


class _Scan:
    """DPACC or APACC, 35 bits: read or write, two bits of the address, and 32 of data. A scan answers with the result
    of the one before."""

    bits = 35

    def __init__(self, dap: Dap, result: list[int], access: bool) -> None:
        self._dap, self._result, self._access = dap, result, access

    def capture(self) -> int:
        """The result of the scan before."""
        return self._result[0] << 3 | _OK

    def update(self, value: int) -> None:
        """Reads or writes."""
        register, data = value >> 1 << 2 & 0xC, value >> 3
        access = DP
        if self._access:
            select = self._dap.read(DP, _SELECT)
            access, register = select >> 24, select & 0xF0 | register
        elif register == _RDBUFF:
            return
        if value & 1:
            self._result[0] = self._dap.read(access, register) & 0xFFFF_FFFF
        else:
            self._dap.write(access, register, data)


def tap(port: DebugPort, identity: int) -> Tap:
    """The port on JTAG."""
    dap, result = Dap(port), [0]
    scans = {_DPACC: _Scan(dap, result, False), _APACC: _Scan(dap, result, True)}
    return Tap(_IR_BITS, _IDCODE, identity, scans)
