"""The fixed vocabulary of failures: why a run has no figures, and what to do next.

Every folder, zip or run ends as a verified record or with exactly one of these reasons. The store, the tables and
``--json`` show the reason's value. ``NEXT_ACTION`` tells the user what to do.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Reason(StrEnum):
    """One word for each way to fail, grouped by the stage that finds it."""

    # sources
    NO_API = "no-api"
    NO_SOURCES = "no-sources"
    OTHER_PRIMITIVE = "other-primitive"
    FOREIGN_ASSEMBLER = "foreign-assembler"
    MISSING_FILE = "missing-file"
    DANGLING_LINK = "dangling-link"
    PATH_ESCAPE = "path-escape"
    ZIP_BOMB = "zip-bomb"
    BAD_ZIP = "bad-zip"
    UNREADABLE = "unreadable"
    BAD_INFO = "bad-implementation-info"
    FELICS_PHASES = "felics-phases"
    SOURCES_CHANGED = "sources-changed"
    # build
    NO_TOOLCHAIN = "no-toolchain"
    FOREIGN_ISA = "foreign-isa"
    COMPILE_ERROR = "compile-error"
    COMPILE_TIMEOUT = "compile-timeout"
    COMPILER_KILLED = "compiler-killed"
    MISSING_ENTRY = "missing-entry"
    UNDEFINED_SYMBOL = "undefined-symbol"
    DUPLICATE_SYMBOL = "duplicate-symbol"
    LINK_ERROR = "link-error"
    FLASH_OVERFLOW = "flash-overflow"
    RAM_OVERFLOW = "ram-overflow"
    NO_BASELINE = "no-baseline"
    UNSUPPORTED_SIZE = "unsupported-size"
    HARNESS_SYMBOL = "harness-symbol"
    PLACED_SECTION = "placed-section"
    # device
    FAULT = "fault"
    RUNAWAY = "runaway"
    PROTOCOL = "protocol"
    STACK_OVERFLOW = "stack-overflow"
    BUFFER_OVERRUN = "buffer-overrun"
    UNREACHABLE = "machine-unreachable"
    WRONG_MACHINE = "emulated-machine"
    COUNTER_LOST = "counter-lost"
    NOT_SIMULATED = "not-simulated"
    STRAY_WRITE = "stray-write"
    # lab
    BOARD_LOST = "board-unreachable"
    FLASH_FAILED = "flash-failed"
    ANALYZER_LOST = "analyzer-lost"
    PULSES_LOST = "pulses-lost"
    PROBE_LOST = "probe-lost"
    METER_LOST = "meter-unreachable"
    POWER_LOST = "power-lost"
    # verify
    NO_EXPECTED = "no-expected-values"
    BAD_KAT = "malformed-kat"
    KAT_MISMATCH = "kat-mismatch"
    DECRYPT_MISMATCH = "decrypt-mismatch"
    FORGERY_ACCEPTED = "forgery-accepted"
    WRONG_OUTPUT = "wrong-output"
    IMPLAUSIBLE = "implausible"
    # anywhere
    DISK_FULL = "disk-full"
    INTERNAL = "internal-error"


NEXT_ACTION: dict[Reason, str] = {
    Reason.NO_API: "add an api.h that defines CRYPTO_KEYBYTES, CRYPTO_NPUBBYTES and CRYPTO_ABYTES (or CRYPTO_BYTES)",
    Reason.NO_SOURCES: "put .c, .S, .s or .cpp files into the implementation folder",
    Reason.OTHER_PRIMITIVE: "name a crypto_aead, crypto_hash or crypto_cxof folder; nothing else is measured",
    Reason.FOREIGN_ASSEMBLER: "convert the .asm file to GNU assembler syntax (.S)",
    Reason.MISSING_FILE: "add the file that the sources include; docs/packages.md says which headers are provided",
    Reason.DANGLING_LINK: "restore the link's target (for bundled dependencies: make deps)",
    Reason.PATH_ESCAPE: "keep every file and link inside the package",
    Reason.ZIP_BOMB: "unpack the archive yourself and give the folder",
    Reason.BAD_ZIP: "pack the zip again; it is damaged or not a zip file",
    Reason.UNREADABLE: "make the file readable, and smaller if it is too large",
    Reason.BAD_INFO: "repair the line of implementation.info that the detail names",
    Reason.FELICS_PHASES: "take the cipher's FELICS-AE or NIST package, or write the NIST API around its phases",
    Reason.SOURCES_CHANGED: "a file changed while it was read: run again",
    Reason.NO_TOOLCHAIN: "run: steelyard doctor",
    Reason.FOREIGN_ISA: "choose a target of the instruction set that the assembly or the intrinsics are written for",
    Reason.COMPILE_ERROR: "read the compiler's output: steelyard show RUN --log",
    Reason.COMPILE_TIMEOUT: "find the file that the compiler takes too long for; unroll less",
    Reason.COMPILER_KILLED: "the machine stopped the compiler: free memory, or run fewer jobs (-j 1); run again",
    Reason.MISSING_ENTRY: "define the functions of the NIST API with their exact names",
    Reason.UNDEFINED_SYMBOL: "define the symbol in the package; only the C library is linked",
    Reason.DUPLICATE_SYMBOL: "define each global symbol in one file only",
    Reason.LINK_ERROR: "read the linker's output: steelyard show RUN --log",
    Reason.FLASH_OVERFLOW: "try -Os or a target with more flash",
    Reason.RAM_OVERFLOW: "try a target with more RAM",
    Reason.NO_BASELINE: "nocrypt has no figures on this target: steelyard run nocrypt --target TARGET says why",
    Reason.UNSUPPORTED_SIZE: "use a key, nonce, tag and digest of 0 to 65535 bytes",
    Reason.HARNESS_SYMBOL: "rename the package's functions and variables that clash with the harness",
    Reason.PLACED_SECTION: "leave code and data in the compiler's sections: .text, .rodata, .data, .bss",
    Reason.FAULT: "look at the faulting address in: steelyard show RUN",
    Reason.RUNAWAY: "look for an endless loop, or run again with --force and a larger --max-cycles",
    Reason.PROTOCOL: "look for code that writes over the harness's memory; power-cycle a board and run again",
    Reason.STACK_OVERFLOW: "use less stack, or a target with more RAM",
    Reason.BUFFER_OVERRUN: "write no byte past the output buffer",
    Reason.UNREACHABLE: "make sure that ssh reaches the machine without asking for a password, and run again",
    Reason.WRONG_MACHINE: "name a real machine of the target's architecture; figures from an emulator are worthless",
    Reason.COUNTER_LOST: "end other programs that use the processor's counters, such as perf, and run again",
    Reason.NOT_SIMULATED: "choose a simulated target; steelyard targets lists them",
    Reason.STRAY_WRITE: "write only to the output, the stack, malloc's memory and variables of the package",
    Reason.BOARD_LOST: "plug the board in, or correct its port in lab.toml; end what else uses the port; run again",
    Reason.FLASH_FAILED: "look at the board's cable, its port in lab.toml, and the program that flashes it; run again",
    Reason.ANALYZER_LOST: "plug the analyzer in and end what else uses it: sigrok-cli --scan must list it; run again",
    Reason.PULSES_LOST: "look at the wires from trigger pin and ground to the channel that lab.toml names; run again",
    Reason.PROBE_LOST: "plug the debug probe in, at both ends, and end what else uses it; run again",
    Reason.METER_LOST: "plug the meter in, correct its port in lab.toml, or install what the detail names; run again",
    Reason.POWER_LOST: "look at the meter's wires, range and rate as the detail says; steelyard boards check tries it",
    Reason.NO_EXPECTED: "put the package's LWC_AEAD_KAT_*.txt or LWC_HASH_KAT_*.txt into the variant's folder",
    Reason.BAD_KAT: "repair the KAT file at the line that the detail names",
    Reason.KAT_MISMATCH: "compare the first differing vector in: steelyard show RUN",
    Reason.DECRYPT_MISMATCH: "compare the first differing vector in: steelyard show RUN",
    Reason.FORGERY_ACCEPTED: "crypto_aead_decrypt must return non-zero for a wrong tag",
    Reason.WRONG_OUTPUT: "known answers are right, this output is not: look for a length that is cut or not handled",
    Reason.IMPLAUSIBLE: "do all the work inside the call, and leave the trigger pin to the harness",
    Reason.DISK_FULL: "free some disk space and run again",
    Reason.INTERNAL: "a defect of Steelyard or of this machine: steelyard show RUN --log has the traceback; run again",
}


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
        Reason.PULSES_LOST,
        Reason.PROBE_LOST,
        Reason.METER_LOST,
        Reason.POWER_LOST,
        Reason.DISK_FULL,
        Reason.INTERNAL,
    }
)


class Failure(Struct, frozen=True):
    """Why something has no figures: a ``reason`` from the vocabulary, and a ``detail`` about this case."""

    reason: Reason
    detail: str = ""

    @property
    def next_action(self) -> str:
        """What the user can do next."""
        return NEXT_ACTION[self.reason]
