"""The fixed vocabulary of failures: why a run has no figures, and what to do next.

Every folder, zip or run ends as a verified record or with exactly one of these reasons. The store, the tables and
``--json`` show the reason's value.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Reason(StrEnum):
    """One word for each way to fail, and what the user can do next; grouped by the stage that finds it."""

    next_action: str

    def __new__(cls, word: str, action: str = "") -> Reason:  # noqa: D102
        reason = str.__new__(cls, word)
        reason._value_, reason.next_action = word, action
        return reason

    # sources
    NO_API = "no-api", "add an api.h that defines the sizes of the primitive; docs/packages.md says which"
    NO_SOURCES = "no-sources", "put .c, .S, .s or .cpp files into the implementation folder"
    OTHER_PRIMITIVE = (
        "other-primitive",
        "name a crypto_aead, crypto_hash, crypto_cxof or crypto_block folder; no other is measured",
    )
    FOREIGN_ASSEMBLER = "foreign-assembler", "convert the .asm file to GNU assembler syntax (.S)"
    MISSING_FILE = "missing-file", "add the file that the sources include; docs/packages.md lists the headers provided"
    DANGLING_LINK = "dangling-link", "restore the link's target (for bundled dependencies: make deps)"
    PATH_ESCAPE = "path-escape", "keep every file and link inside the package"
    ZIP_BOMB = "zip-bomb", "pack less into it, or unpack it yourself and give steelyard run the folder"
    BAD_ZIP = "bad-zip", "make a new zip of the package's folder"
    UNREADABLE = "unreadable", "make the file readable, and smaller if it is too large"
    BAD_INFO = "bad-implementation-info", "repair the line of implementation.info that the detail names"
    FELICS_PHASES = "felics-phases", "take the cipher's FELICS-AE or NIST package, or write the NIST API around it"
    SIZES_DIFFER = (
        "sizes-differ",
        "give the folder's name, its headers and its code the same sizes; the detail names two",
    )
    SOURCES_CHANGED = "sources-changed", "a file changed while it was read: run again"
    # build
    NO_TOOLCHAIN = "no-toolchain", "run: steelyard doctor"
    FOREIGN_ISA = "foreign-isa", "choose a target of the instruction set that assembly or intrinsics are written for"
    COMPILE_ERROR = "compile-error", "read the compiler's output: steelyard show RUN --log"
    COMPILE_TIMEOUT = "compile-timeout", "find the file that the compiler takes too long for; unroll less"
    COMPILE_MEMORY = "compile-memory", "find what the compiler needs so much memory for; repeat or expand less"
    COMPILER_KILLED = "compiler-killed", "free memory or run fewer jobs (-j 1), as the machine stopped it; run again"
    MISSING_ENTRY = "missing-entry", "define the functions of the API with their exact names"
    UNDEFINED_SYMBOL = "undefined-symbol", "define the symbol in the package; only the C library is linked"
    DUPLICATE_SYMBOL = "duplicate-symbol", "define each global symbol in one file only"
    LINK_ERROR = "link-error", "read the linker's output: steelyard show RUN --log"
    FLASH_OVERFLOW = "flash-overflow", "try -Os or a target with more flash"
    RAM_OVERFLOW = "ram-overflow", "try a target with more RAM"
    NO_BASELINE = "no-baseline", "nocrypt has no figures on this target: steelyard run nocrypt --target TARGET says why"
    UNSUPPORTED_SIZE = (
        "unsupported-size",
        "use a key, nonce, tag, digest, block and context of 0 to 65535 bytes, and a call's inputs of no more together",
    )
    HARNESS_SYMBOL = "harness-symbol", "rename the package's functions and variables that clash with the harness"
    PLACED_SECTION = "placed-section", "leave code and data in the compiler's sections: .text, .rodata, .data, .bss"
    # device
    FAULT = "fault", "look at the code at the address that the detail names: steelyard image RUN -o image.elf"
    RUNAWAY = "runaway", "look for an endless loop, or allow calls more by --max-cycles"
    PROTOCOL = "protocol", "look for code that writes over the harness's memory; power-cycle a board and run again"
    STACK_OVERFLOW = "stack-overflow", "use less stack, or a target with more RAM"
    BUFFER_OVERRUN = "buffer-overrun", "write no byte past the output buffer"
    UNREACHABLE = "machine-unreachable", "see that ssh reaches the machine without asking for a password; run again"
    WRONG_MACHINE = "emulated-machine", "name a real machine of the target's architecture: an emulator measures nothing"
    COUNTER_LOST = "counter-lost", "end other programs that use the processor's counters, such as perf, and run again"
    NOT_SIMULATED = "not-simulated", "choose a simulated target; steelyard targets lists them"
    STRAY_WRITE = "stray-write", "write only to the output, the stack, malloc's memory and variables of the package"
    # lab
    BOARD_LOST = "board-unreachable", "plug the board in, correct its port in lab.toml, end what else uses it; retry"
    FLASH_FAILED = "flash-failed", "look at the board's cable, its port in lab.toml, and what flashes it; run again"
    ANALYZER_LOST = "analyzer-lost", "plug the analyzer in, end what else uses it (sigrok-cli --scan), and run again"
    COUNTER_DIFFERS = "counter-differs", "correct clock_ppm (steelyard boards check), or leave the chip's counter alone"
    PULSES_LOST = "pulses-lost", "look at the wires from trigger pin and ground to the channel in lab.toml; run again"
    PROBE_LOST = "probe-lost", "plug the debug probe in, at both ends, and end what else uses it; run again"
    METER_LOST = "meter-unreachable", "plug the meter in, correct its port in lab.toml, or install what is missing"
    POWER_LOST = "power-lost", "look at the meter's wires, range, rate and resolution; then run with --force"
    # verify
    NO_EXPECTED = (
        "no-expected-values",
        "put its LWC_*_KAT_*.txt into the variant's folder; docs/packages.md says what a block cipher's has in it",
    )
    BAD_KAT = "malformed-kat", "repair the KAT file at the line that the detail names"
    KAT_MISMATCH = "kat-mismatch", "make the vector that the detail names by hand: it is the first that differs"
    DECRYPT_MISMATCH = "decrypt-mismatch", "make the vector that the detail names by hand: it is the first that differs"
    FORGERY_ACCEPTED = "forgery-accepted", "crypto_aead_decrypt must return non-zero for a wrong tag"
    WRONG_OUTPUT = "wrong-output", "known answers are right, this output is not: look for a length that is cut or lost"
    IMPLAUSIBLE = "implausible", "do all the work inside the call, and leave the trigger pin to the harness"
    # hardware
    WRONG_TOP = "wrong-top", "name the top module as the sources have it"
    RTL_ERROR = "rtl-error", "read what the tool says at the line that the detail names: steelyard show RUN --log"
    OTHER_PORTS = "other-ports", "give the top the ports of the LWC hardware API, with words of 8, 16 or 32 bits"
    LATCH = "latch", "assign the signal in every branch, or in none without a clock edge"
    LOOP = "combinational-loop", "put a register into the loop that the detail names"
    UNDRIVEN = "undriven-output", "drive the port that the detail names"
    HANG = "hang", "look at the last cycles: steelyard rtl DESIGN --trace FILE writes what every signal did"
    WRONG_WORD = "wrong-word", "look at the word that differs: steelyard rtl DESIGN --trace FILE writes every signal"
    NETLIST_DIFFERS = "netlist-differs", "look for what simulators read otherwise; gates have no initial values"
    NO_VHDL = "no-vhdl-synthesis", "install GHDL 5: make rtl-tools"
    SIMULATOR_ONLY = "simulator-only", "leave out what no circuit does, such as files and $finish, or `ifdef it"
    STRANGE_CELL = "strange-cell", "describe what the cell does: cells of a device that sources name are not counted"
    CLOCKS = "several-clocks", "clock all registers by one signal, and enable them instead of gating it"
    ASYNCHRONOUS = "asynchronous-logic", "set, reset and load the register with the clock, or by the reset port alone"
    DOES_NOT_FIT = "does-not-fit", "choose a larger device"
    # anywhere
    DISK_FULL = "disk-full", "free some disk space and run again"
    INTERNAL = "internal-error", "a defect of Steelyard or the machine: steelyard show RUN --log says where; run again"


#: reasons for which an implementation may be right, but not fit this target or machine
UNFIT = frozenset(
    {
        Reason.NO_TOOLCHAIN,
        Reason.FOREIGN_ISA,
        Reason.FOREIGN_ASSEMBLER,
        Reason.DANGLING_LINK,
        Reason.FLASH_OVERFLOW,
        Reason.RAM_OVERFLOW,
        Reason.STACK_OVERFLOW,
    }
)


#: reasons that the machine causes: another try may end differently, so such a record is shown and never reused
MACHINE = frozenset(
    {
        Reason.SOURCES_CHANGED,
        Reason.NO_TOOLCHAIN,
        Reason.COMPILE_TIMEOUT,
        Reason.COMPILER_KILLED,
        Reason.NO_BASELINE,
        Reason.UNREACHABLE,
        Reason.WRONG_MACHINE,
        Reason.COUNTER_LOST,
        Reason.BOARD_LOST,
        Reason.FLASH_FAILED,
        Reason.ANALYZER_LOST,
        Reason.COUNTER_DIFFERS,
        Reason.PULSES_LOST,
        Reason.PROBE_LOST,
        Reason.METER_LOST,
        Reason.POWER_LOST,
        Reason.DISK_FULL,
        Reason.INTERNAL,
    }
)


#: a call had another answer than it must have
ANSWERED_WRONGLY = frozenset(
    {Reason.KAT_MISMATCH, Reason.DECRYPT_MISMATCH, Reason.WRONG_OUTPUT, Reason.FORGERY_ACCEPTED}
)
#: those of a lab, whatever its board is doing: no program on it can cause them
LAB = frozenset(
    {
        Reason.UNREACHABLE,
        Reason.BOARD_LOST,
        Reason.FLASH_FAILED,
        Reason.ANALYZER_LOST,
        Reason.PROBE_LOST,
    }
)


#: what the detail of a failure says where no cable can be the cause, and what to do about it then
VIRTUAL = "is virtual"
PLAY = "see that steelyard boards virtual plays it, end other work here or lower speed in lab.toml; run again"
#: what it says where somebody wanted the board for himself, with the command that gives it back, and what to do then
RELEASED = "was released"
BACK = "give the board back by that command, and run again"


#: what it says of a folder of a lab that is read-only or another's, and what to do then
UNWRITABLE = "cannot be written"
PLACE = "give a place that can be written: make the folder yours again, or set STEELYARD_HOME; run again"
#: what it says of a place in a zip that holds nothing, and what to do then
NOTHING = "the archive has no implementation there"
LOOK = "name another place in the zip: steelyard list implementations shows all that it has"


class Failure(Struct, frozen=True):
    """Why something has no figures: a ``reason`` from the vocabulary, and a ``detail`` about this case."""

    reason: Reason
    detail: str = ""

    @property
    def next_action(self) -> str:
        """What the user can do next."""
        if self.reason is Reason.INTERNAL and self.detail.endswith(UNWRITABLE):
            return PLACE
        if self.reason is Reason.NO_SOURCES and self.detail == NOTHING:
            return LOOK
        if self.reason in LAB and RELEASED in self.detail:
            return BACK
        return PLAY if self.reason in LAB and VIRTUAL in self.detail else self.reason.next_action
