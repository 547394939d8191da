"""The debug module of a virtual RISC-V board, and its port on JTAG: RISC-V External Debug Support 0.13.2.

What exists is what is known of the GD32VF103: a program buffer of two words and the EBREAK after it, four data
registers, no access to the system bus, and ``ndmreset`` without effect, so that only the reset line restarts it. A hart
may be stopped and let go, never single-stepped; breakpoints there are none.
"""

from __future__ import annotations

from ...model.target import Target
from .board import Chip
from .core import Core
from .jtag import Tap

#: 6.1.4 and 6.1.5: bits of the instruction register and of DMI's address, instructions
_IR_BITS, _ABITS, _IDCODE, _DTMCS, _DMI = 5, 7, 0x01, 0x10, 0x11
#: version 0.13, one cycle of Run-Test/Idle
_DTM = 1 << 12 | _ABITS << 4 | 1
_READS, _WRITES = 1, 2

#: 3.12: registers, by their address
_DATA, _DMCONTROL, _DMSTATUS, _ABSTRACTCS, _COMMAND, _AUTO, _BUFFER = 0x04, 0x10, 0x11, 0x16, 0x17, 0x18, 0x20
_DATAS, _WORDS = 4, 2
_HALTREQ, _RESUMEREQ, _ACKHAVERESET, _NDMRESET, _DMACTIVE = 1 << 31, 1 << 30, 1 << 28, 1 << 1, 1
_HART = 0x3FF << 16 | 0x3FF << 6
#: DMSTATUS: implied EBREAK, authenticated, version 0.13; pairs of bits
_STATUS = 1 << 22 | 1 << 7 | 2
_HAVERESET, _RESUMEACK, _NONEXISTENT, _RUNNING, _HALTED = 3 << 18, 3 << 16, 3 << 14, 3 << 10, 3 << 8
#: errors of abstract commands: not supported, exception, the hart is not halted
_UNSUPPORTED, _EXCEPTION, _STATE = 2, 3, 4
#: access register: its size, steps and direction
_SIZE, _INCREMENT, _POSTEXEC, _TRANSFER, _WRITE = 7 << 20, 1 << 19, 1 << 18, 1 << 17, 1 << 16
_WORD = 2 << 20
_GENERAL = 0x1000
_MISA, _DCSR, _DPC = 0x301, 0x7B0, 0x7B1
#: 4.8.1: the debugger's version, EBREAK halts, causes, machine mode
_XDEBUG, _EBREAKM, _BY_EBREAK, _BY_HALTREQ, _MACHINE = 4 << 28, 1 << 15, 1 << 6, 3 << 6, 3
#: control and status registers that a debugger may have beside those: mstatus, mtvec, mscratch, mepc, mcause, mhartid
_CSRS = (0x300, 0x305, 0x340, 0x341, 0x342, 0xF14)
_EBREAK = 0x0010_0073
#: opcodes
_LOAD, _FENCE, _ADDI, _STORE, _SYSTEM = 0x03, 0x0F, 0x13, 0x23, 0x73
_ALL = 0xFFFF_FFFF


class Trap(Exception):
    """An exception in the program buffer."""


class DebugModule(Core):
    """The module, of one hart. ``misa`` is its register of that name."""

    def __init__(self, chip: Chip, target: Target, content: bytearray) -> None:
        self._control = self._command = self._auto = self._error = 0
        self._data, self._buffer = [0] * _DATAS, [_EBREAK] * _WORDS
        self._dcsr = _XDEBUG | _MACHINE
        self._was_reset, self._resumed = True, False
        self._csrs = dict.fromkeys(_CSRS, 0)
        super().__init__(chip, target, content)
        self._csrs[_MISA] = self.part.misa

    def reset(self) -> None:
        """The chip restarts; it halts at once where the debugger asks for that."""
        self._was_reset = True
        super().reset()
        if self._control & _HALTREQ:
            self._stop(_BY_HALTREQ)

    def _ended(self) -> None:
        self._stop(_BY_EBREAK)

    def _stop(self, cause: int) -> None:
        if self._halt():
            self._dcsr = self._dcsr & ~(7 << 6) | cause

    def ask(self, address: int) -> int:
        """Reads a register of the module."""
        if address == _DMSTATUS:
            return self._status()
        if address == _DMCONTROL:
            return self._control & (_HART | _NDMRESET | _DMACTIVE)
        if address == _ABSTRACTCS:
            return _WORDS << 24 | self._error << 8 | _DATAS
        if address == _AUTO:
            return self._auto
        if (k := address - _DATA) in range(_DATAS):
            value = self._data[k]
            self._again(self._auto >> k)
            return value
        if (k := address - _BUFFER) in range(_WORDS):
            value = self._buffer[k]
            self._again(self._auto >> 16 + k)
            return value
        return 0

    def tell(self, address: int, value: int) -> None:
        """Writes a register of the module."""
        if address == _DMCONTROL:
            self._run(value)
        elif address == _ABSTRACTCS:
            self._error &= ~(value >> 8)
        elif address == _COMMAND and not self._error:
            self._command = value
            self._execute()
        elif address == _AUTO:
            self._auto = value & (((1 << _WORDS) - 1) << 16 | (1 << _DATAS) - 1)
        elif (k := address - _DATA) in range(_DATAS):
            self._data[k] = value
            self._again(self._auto >> k)
        elif (k := address - _BUFFER) in range(_WORDS):
            self._buffer[k] = value
            self._again(self._auto >> 16 + k)

    def _status(self) -> int:
        if self._control & _HART:
            return _STATUS | _NONEXISTENT
        state = _HALTED if self._values else _RUNNING
        return _STATUS | state | self._was_reset * _HAVERESET | self._resumed * _RESUMEACK

    def _run(self, value: int) -> None:
        """What DMCONTROL asks of the hart."""
        if not value & _DMACTIVE:
            value, self._auto, self._error = 0, 0, 0
        self._control = value & (_HALTREQ | _HART | _NDMRESET | _DMACTIVE)
        if value & _HART:
            return
        if value & _ACKHAVERESET:
            self._was_reset = False
        if value & _HALTREQ:
            self._stop(_BY_HALTREQ)
        elif value & _RESUMEREQ:
            self._resume()
            self._resumed = True

    def _again(self, auto: int) -> None:
        if auto & 1 and not self._error:
            self._execute()

    def _execute(self) -> None:
        """Access Register is the only command (3.6.1.1)."""
        command, number = self._command, self._command & 0xFFFF
        if command >> 24 or command & _INCREMENT or (command & _TRANSFER and command & _SIZE != _WORD):
            self._error = _UNSUPPORTED
        elif not self._values:
            self._error = _STATE
        else:
            try:
                if command & _TRANSFER and command & _WRITE:
                    self._put(number, self._data[0])
                elif command & _TRANSFER:
                    self._data[0] = self._get(number)
                if command & _POSTEXEC:
                    self._program()
            except Trap:
                self._error = _EXCEPTION

    def _get(self, number: int) -> int:
        if number - _GENERAL in range(32):
            return self._values[number - _GENERAL]
        known = {_DCSR: self._dcsr, _DPC: self._values[-1], **self._csrs}
        if number not in known:
            raise Trap
        return known[number]

    def _put(self, number: int, value: int) -> None:
        if number - _GENERAL in range(32):
            self._values[number - _GENERAL] = value if number != _GENERAL else 0
        elif number == _DCSR:
            self._dcsr = self._dcsr & ~_EBREAKM | value & _EBREAKM
        elif number == _DPC:
            self._values[-1] = value
        elif number not in self._csrs:
            raise Trap
        elif number != _MISA:
            self._csrs[number] = value

    def _program(self) -> None:
        """Runs the program buffer, as far as debuggers put instructions into it: loads, stores, ADDI, fences and
        accesses to control and status registers (Unprivileged ISA, chapter 24)."""
        for word in self._buffer:
            if word == _EBREAK:
                return
            opcode, rd, function = word & 0x7F, word >> 7 & 31, word >> 12 & 7
            first, second = self._values[word >> 15 & 31], self._values[word >> 20 & 31]
            immediate = (word >> 20 ^ 0x800) - 0x800
            if opcode == _STORE and function < 3:
                at, width = first + (immediate & ~31 | rd) & _ALL, 1 << function
                self.write(at, second.to_bytes(4, "little")[:width])
            elif opcode != _FENCE:
                value = self._result(opcode, function, first, immediate, word)
                self._put(_GENERAL + rd, value & _ALL)

    def _result(self, opcode: int, function: int, first: int, immediate: int, word: int) -> int:
        """What an instruction puts into its register."""
        if opcode == _LOAD and function in (0, 1, 2, 4, 5):
            data = self.read(first + immediate & _ALL, 1 << (function & 3))
            return int.from_bytes(data, "little", signed=function < 4)
        if opcode == _ADDI and function == 0:
            return first + immediate
        if opcode == _SYSTEM and function in (1, 2):  # CSRRW, CSRRS
            value = self._get(word >> 20)
            if function == 1 or word >> 15 & 31:
                self._put(word >> 20, first if function == 1 else value | first)
            return value
        raise Trap


class _Control:
    """DTMCS: nothing to reset here, where every access ends at once."""

    bits = 32

    def capture(self) -> int:
        """What this port is."""
        return _DTM

    def update(self, value: int) -> None:
        """Nothing."""


class _Access:
    """DMI: a scan starts an access, and answers with the result of the one before."""

    bits = _ABITS + 34

    def __init__(self, module: DebugModule) -> None:
        self._module, self._result = module, 0

    def capture(self) -> int:
        """The result of the scan before."""
        return self._result << 2

    def update(self, value: int) -> None:
        """Reads or writes."""
        address, data, what = value >> 34, value >> 2 & 0xFFFF_FFFF, value & 3
        if what == _READS:
            self._result = address << 32 | self._module.ask(address)
        elif what == _WRITES:
            self._module.tell(address, data)
            self._result = address << 32 | data


def tap(module: DebugModule, identity: int) -> Tap:
    """The module on JTAG."""
    return Tap(_IR_BITS, _IDCODE, identity, {_DTMCS: _Control(), _DMI: _Access(module)})
