"""Translates messages of compilers and linkers into the fixed vocabulary of failures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..model.errors import counted
from ..model.reasons import Failure, Reason

#: headers that exist for one instruction set only, by what the names of its cores begin with
_OF_ISA = {
    "avr": r"(avr|util)/",
    "xtensa": r"xtensa/|.*coreasm\.h",
    "msp430": r"msp430.*\.h",
    "rv": r"riscv_",
    "cortex": r"arm_acle\.h",
    "none of ours": r"arm_(neon|sve|mve)\.h|.*intrin\.h|altivec\.h|cpuid\.h",
}
_CXX_HEADER = (
    r"algorithm|array|bitset|chrono|deque|exception|fstream|functional|iomanip|ios|iosfwd|iostream|istream|iterator"
    r"|limits|list|map|memory|new|numeric|ostream|queue|random|set|sstream|stack|stdexcept|string|thread|tuple"
    r"|type_traits|typeinfo|utility|vector|c(?:assert|ctype|inttypes|limits|math|stddef|stdint|stdio|stdlib|string|time)"
)
#: where a missing header or symbol comes from; the first match completes the detail
_BELONGS = (
    (
        r"(crypto_(?:auth|core|dh|hash|hashblocks|onetimeauth|rng|scalarmult|sort|stream|verify|xof)_\w+?)(?:\.h)?",
        "needs SUPERCOP's {}, which is another package",
    ),
    (
        r"openssl/.*|(?:AES|EVP|RAND|HMAC|SHA\d+)_\w+",
        "needs OpenSSL, which is not part of the package; only its AES for single blocks is provided",
    ),
    (r"cryptopp/.*", "needs Crypto++, which is not part of the package"),
    (
        r"libopencm3/.*|stm32.*_hal.*\.h|Arduino\.h|esp_.*\.h",
        "needs a board's library, which is not part of the package",
    ),
    (
        r"sys/(?:ioctl|mman|resource|select|socket|stat|time|un|utsname|wait)\.h"
        r"|(?:arpa|net|netinet)/.*|(?:dlfcn|fcntl|netdb|pthread|poll|pwd|semaphore|termios|unistd)\.h",
        "needs an operating system, which a microcontroller does not have: leave out what asks for one",
    ),
    (_CXX_HEADER, "needs the C++ library, which this compiler does not have"),
)
_RANDOM = ("randombytes", "kernelrandombytes", "rand_bytes", "getrandom", "arc4random")
#: directives in assembly, and in the texts of C, for machines that are not our microcontrollers
_MACHINE = re.compile(
    rb"(?:^|\"|\\[nt])[ \t]*(\.(?:fpu[ \t]+[^\s\"\\]*neon[^\s\"\\]*"
    rb"|(?:cpu|arch)[ \t]+(?:cortex-?a|armv[78]-?a|armv6t2|arm11)[^\s\"\\]*))",
    re.M | re.I,
)
#: what the assembler says of code that a compiler made, and a simulator of an instruction of NEON
_INLINE = re.compile(r"\.s:\d+: Error")
#: where a simulator finds a fault of the code around the call
_HARNESS = " in sy_run: "
#: where a simulator finds a program that ended itself
_ENDED = re.compile(r" in _*(?:[eE]xit|abort|assert(?:_func|_fail)?)\b")
#: reasons for answers that are not the cipher's, and what compilers say of code that cannot give them
_WRONG = (Reason.KAT_MISMATCH, Reason.DECRYPT_MISMATCH, Reason.WRONG_OUTPUT, Reason.FORGERY_ACCEPTED)
_NARROW = r"^(?:src/)?([^:\n]+):\d+:\d+: warning: (?:left |right )?shift count >= width of type"
_NEON = re.compile(r"bad-opcode: unknown opcode 0x(?:e[c-f]|f9|f[c-f])[0-9a-f]{6}\b")
#: writes of what the C library takes from its own heap, members of it that ask a system for that, and what a linker's
#: map says of why each member is there: for which file, and which symbol of it
_ASTRAY = (Reason.STRAY_WRITE, Reason.BUFFER_OVERRUN)
_OWN_HEAP = re.compile(r"\([\w-]*sbrkr?\.o(?:bj)?\)")
_MEMBER = re.compile(r"^(\S+\([^\s()]+\))\s+(\S+) \((\S+)\)$", re.MULTILINE)
#: functions of the heap that the harness has, in the place of the C library's
_HEAP = frozenset({"malloc", "calloc", "realloc", "free"})
_SOURCE_BYTES = 1 << 20

#: what GCC says of a defect of its own
_ITSELF = "internal compiler error: "

# patterns for GCC, binutils and LLVM; the first match gives the reason. They are compiled only when something failed.
# Sources can make lines of megabytes: what begins with any characters begins with a line, and nothing is read again
# from each of its characters
_COMPILE = (
    (Reason.UNSUPPORTED_SIZE, r"unsupported size: (CRYPTO_[^\"\n]+)"),
    (
        Reason.MISSING_FILE,
        r"fatal error: '?((?:(?!fatal error: ).)+?)'?(?:: No such file or directory| file not found)",
    ),
    (
        Reason.FOREIGN_ISA,
        r"(?im:(^.*(?:is not supported on this (?:target|architecture)|to use arm_neon\.h"
        r"|target specific option mismatch|only meant to be used on).*"
        r"|no such instruction.*|bad instruction.*|unknown opcode.*|unrecognized opcode.*|unknown mnemonic.*"
        r"|selected processor does not support.*|impossible constraint in .asm.*|invalid instruction.*"
        r"|unknown pseudo-op.*|unknown architecture.*"
        r"|unknown register name.*|invalid register name.*|bad register name.*|attempt to use ARM instructions.*"
        r"|unknown MCU.*|(?:can't|cannot|unable to) find a register.*|NEON intrinsics not.*"
        r"|r13 not allowed here.*|lo register required.*|only lo regs allowed.*"
        r"|selected FPU does not.*|instruction not supported in.*|unknown target CPU.*"
        r"|unrecognized instruction mnemonic.*|instruction requires:.*|unknown directive.*|unexpected token\b.*"
        r"|use of unknown builtin.*|ACLE intrinsics support not.*"
        r"|invalid output constraint.*in asm|invalid input constraint.*in asm))",
    ),
    (Reason.COMPILE_ERROR, rf"(?m)^[^\n:]+(?::\d+)*: ({_ITSELF}[^\n]*)"),
    (Reason.COMPILE_ERROR, r"(?:^|\n)((?!collect2: )[^\n]*(?:error|Error):[^\n]*)"),
)
_PROFILES = r"(?<!\S)(\S+): conflicting architecture profiles (\S+)"
_DUPLICATE = r"(?:multiple definition of [`']|duplicate symbol: )(.+?)(?:'|$)"
_UNDEFINED = r"(?:undefined reference to [`']|undefined symbol: )(.+?)(?:'|$)"
_OVERFLOW = r"region [`'](flash|ram)'(?:: |\s)overflowed by (\d+) bytes?"


def failure(logs: Iterable[tuple[str, str]], api: tuple[str, ...], sources: Path = Path(), core: str = "") -> Failure:
    """Why commands failed. ``logs`` holds pairs (file or step, output), ``api`` the names of the entry points;
    ``sources`` is the folder of the files, ``core`` is the target's."""
    logs, others = list(logs), [isa for isa in _OF_ISA if not core.startswith(isa)]
    text = "\n".join(t for _, t in logs)
    if duplicate := _unique(_DUPLICATE, text):
        said = ", ".join(duplicate[:5])
        if {*duplicate} <= _HEAP and all(n.startswith("link-") for n, t in logs if re.search(_DUPLICATE, t)):
            said += "; the C library's own come with its others for the heap, such as memalign: the harness has "
            said += f"{', '.join(sorted(_HEAP))} alone"
        return Failure(Reason.DUPLICATE_SYMBOL, said)
    if profiles := re.search(_PROFILES, text):
        return Failure(Reason.FOREIGN_ISA, f"{profiles[1]} is for another kind of processor: profiles {profiles[2]}")
    overflow: dict[str, int] = {}
    for region, count in re.findall(_OVERFLOW, text):  # of one image counts grow, and one image is the largest
        overflow[region] = max(int(count), overflow.get(region, 0))
    if "flash" in overflow:
        return Failure(Reason.FLASH_OVERFLOW, f"{counted(overflow['flash'], 'byte')} too many")
    if "ram" in overflow:
        return Failure(Reason.RAM_OVERFLOW, f"{counted(overflow['ram'], 'byte')} too many")
    if undefined := _unique(_UNDEFINED, text):
        missing = [s for s in undefined if s in api]
        if missing:
            return Failure(Reason.MISSING_ENTRY, ", ".join(missing))
        if all(s.startswith("sy_") for s in undefined):
            text = f"{', '.join(undefined[:5])}: the target's own code has to define what harness.h asks of it"
            return Failure(Reason.LINK_ERROR, text)
        return Failure(Reason.UNDEFINED_SYMBOL, "; ".join([", ".join(undefined[:5]), *_wants(undefined)]))
    for name, output in logs:
        for reason, pattern in _COMPILE:
            if found := re.search(pattern, output):
                if reason is Reason.MISSING_FILE and any(re.match(_OF_ISA[i], found.group(1)) for i in others):
                    reason = Reason.FOREIGN_ISA
                said = found.group(1).strip()[:300]
                if reason is Reason.MISSING_FILE and (belongs := _belongs(said)):
                    said = f"{said}; {belongs}"
                if said.startswith(_ITSELF):
                    said = f"the compiler failed, not the package; other flags may help: {said}"
                if reason is Reason.COMPILE_ERROR and (machine := _machine(sources, name, output)):
                    reason, said = Reason.FOREIGN_ISA, f"written for {machine}: {said}"
                return Failure(Reason.LINK_ERROR if _links(name) else reason, f"{name}: {said}")
    name, output = logs[0]
    reason = Reason.LINK_ERROR if _links(name) else Reason.COMPILE_ERROR
    lines = [line for line in output.strip().splitlines() if not line.startswith("collect2: ")]  # which names no cause
    return Failure(reason, f"{name}: {(lines or ['no output'])[-1][:300]}")


def _links(name: str) -> bool:
    """Whether a step comes after compilation."""
    return name.partition("-")[0] in ("merge", "rename", "localise", "link")


def _belongs(name: str) -> str | None:
    """Where a missing header or symbol comes from; None when it should be part of the package."""
    for pattern, text in _BELONGS:
        if found := re.fullmatch(pattern, name):
            return text.format(*found.groups())
    return None


def _wants(undefined: Iterable[str]) -> list[str]:
    """What undefined symbols would need, without repetition."""
    told = [_belongs(s) for s in undefined if "_" in s]
    if any(s in _RANDOM for s in undefined):
        told.append("targets have no source of randomness, and code that depends on one cannot be verified")
    return list(dict.fromkeys(t for t in told if t))


def _machine(sources: Path, name: str, output: str) -> str | None:
    """The directive that shows that the assembly ``name``, or that in C of which the assembler's ``output`` complains,
    is for another machine; None without one."""
    if name.lower().endswith((".s", ".sx")):
        return _directive([sources / name])
    return _directive([sources / name, *sorted(sources.rglob("*.h"))]) if _INLINE.search(output) else None


def _directive(files: Iterable[Path]) -> str | None:
    """The first directive for another machine in any of these files."""
    for file in files:
        try:
            with file.open("rb") as f:
                found = _MACHINE.search(f.read(_SOURCE_BYTES))
        except OSError:
            continue
        if found:
            return " ".join(found[1].decode("utf-8", "replace").split())
    return None


def ran(failure: Failure, sources: Path, log: str, linked: Path | None = None) -> Failure:
    """Why an image failed on its target, from its sources' folder, the compilers' ``log`` and a microcontroller's
    linker map. Instructions of NEON,
    which the assembler took because the sources told it to, are another machine's; the harness fails after a call that
    changed what it has to keep; the C library does not come back from a program's end; wrong answers can come from an
    int that is narrower than the author's, and stray writes from the C library's heap."""
    fault, why = failure.reason is Reason.FAULT, ""
    every = (f for f in sorted(sources.rglob("*")) if f.is_file())
    if fault and _NEON.match(failure.detail) and (machine := _directive(every)):
        return Failure(Reason.FOREIGN_ISA, f"written for {machine}: {failure.detail}")
    if fault and _HARNESS in failure.detail and not failure.detail.startswith(("convention", "left-harness")):
        why = "the call had returned with a stack pointer changed that it has to keep"
    if (fault or failure.reason is Reason.RUNAWAY) and _ENDED.search(failure.detail):
        why = "the package ended the program, by exit, abort or assert: a call has to return"
    if failure.reason in _WRONG and (files := _unique(_NARROW, log)):
        why = f"the compiler warns of shifts beyond the width of their type ({', '.join(files[:3])}): code that takes "
        why += "int for wider than it is on this target has them"
    if failure.reason in _ASTRAY and linked and (own := _own_heap(linked.read_text(errors="replace"))):
        why = f"the package calls {own}, or may, for which the C library has a heap of its own, in the place of the "
        why += "harness's buffers (docs/packages.md)"
    return Failure(failure.reason, f"{failure.detail}; {why}") if why else failure


def _own_heap(linked: str) -> str:
    """What the package calls that brings the C library's own heap, by the linker's map; empty without that heap."""
    if not _OWN_HEAP.search(linked):
        return ""
    members = linked.partition("\n\n")[2].partition("\n\n")[0]
    wanted = {member: (by, name) for member, by, name in _MEMBER.findall(members)}
    at, name = next((member for member in wanted if _OWN_HEAP.search(member)), ""), ""
    while at in wanted:  # each was wanted by one before
        at, name = wanted.pop(at)
    return name if at.endswith("implementation.o") else "functions of the C library"


def _unique(pattern: str, text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(pattern, text, re.MULTILINE)))
