"""Translates messages of compilers and linkers into the fixed vocabulary of failures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..model.errors import counted
from ..model.reasons import Failure, Reason

#: headers that exist for one instruction set only
_FOREIGN_HEADER = (
    r"(avr|util|xtensa)/|.*coreasm\.h|arm_(neon|acle|sve|mve)\.h|.*intrin\.h|altivec\.h|cpuid\.h|msp430.*\.h|riscv_"
)
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
    (_CXX_HEADER, "needs the C++ library, which this compiler does not have"),
)
_RANDOM = ("randombytes", "kernelrandombytes", "rand_bytes", "getrandom", "arc4random")
#: directives in assembly for machines that are not our microcontrollers
_MACHINE = re.compile(
    rb"^[ \t]*\.(?:fpu[ \t]+\S*neon\S*|(?:cpu|arch)[ \t]+(?:cortex-?a|armv[78]-?a|armv6t2|arm11)\S*)", re.M | re.I
)
_SOURCE_BYTES = 1 << 20

# patterns for GCC, binutils and LLVM; the first match gives the reason. They are compiled only when something failed
_COMPILE = (
    (Reason.UNSUPPORTED_SIZE, r"unsupported size: (CRYPTO_[^\"\n]+)"),
    (Reason.MISSING_FILE, r"fatal error: '?(.+?)'?(?:: No such file or directory| file not found)"),
    (
        Reason.FOREIGN_ISA,
        r"(?i:(no such instruction.*|bad instruction.*|unknown opcode.*|unrecognized opcode.*|unknown mnemonic.*"
        r"|selected processor does not support.*|impossible constraint in .asm.*|invalid instruction.*"
        r"|unknown pseudo-op.*|unknown architecture.*|[^\n]*is not supported on this (?:target|architecture).*"
        r"|unknown register name.*|invalid register name.*|bad register name.*|attempt to use ARM instructions.*"
        r"|unknown MCU.*|(?:can't|cannot|unable to) find a register.*|.*to use arm_neon\.h.*|NEON intrinsics not.*"
        r"|.*target specific option mismatch.*|r13 not allowed here.*|lo register required.*|only lo regs allowed.*"
        r"|selected FPU does not.*|instruction not supported in.*|unknown target CPU.*"
        r"|unrecognized instruction mnemonic.*|instruction requires:.*|unknown directive.*|unexpected token\b.*"
        r"|use of unknown builtin.*|[^\n]*only meant to be used on.*|ACLE intrinsics support not.*"
        r"|invalid output constraint.*in asm|invalid input constraint.*in asm))",
    ),
    (Reason.COMPILE_ERROR, r"(?:^|\n)((?!collect2: )[^\n]*(?:error|Error):[^\n]*)"),
)
_DUPLICATE = r"(?:multiple definition of [`']|duplicate symbol: )(.+?)(?:'|$)"
_UNDEFINED = r"(?:undefined reference to [`']|undefined symbol: )(.+?)(?:'|$)"
_OVERFLOW = r"region [`'](flash|ram)'(?:: |\s)overflowed by (\d+) bytes?"


def failure(logs: Iterable[tuple[str, str]], api: tuple[str, ...], sources: Path = Path()) -> Failure:
    """Why commands failed. ``logs`` holds pairs (file or step, output), ``api`` the names of the entry points;
    ``sources`` is the folder of the files."""
    logs = list(logs)
    text = "\n".join(t for _, t in logs)
    if duplicate := _unique(_DUPLICATE, text):
        return Failure(Reason.DUPLICATE_SYMBOL, ", ".join(duplicate[:5]))
    overflow = {
        region: int(count) for region, count in re.findall(_OVERFLOW, text)
    }  # the last count is the complete one
    if "flash" in overflow:
        return Failure(Reason.FLASH_OVERFLOW, f"{counted(overflow['flash'], 'byte')} too many")
    if "ram" in overflow:
        return Failure(Reason.RAM_OVERFLOW, f"{counted(overflow['ram'], 'byte')} too many")
    if undefined := _unique(_UNDEFINED, text):
        missing = [s for s in undefined if s in api]
        if missing:
            return Failure(Reason.MISSING_ENTRY, ", ".join(missing))
        return Failure(Reason.UNDEFINED_SYMBOL, "; ".join([", ".join(undefined[:5]), *_wants(undefined)]))
    for name, output in logs:
        for reason, pattern in _COMPILE:
            if found := re.search(pattern, output):
                if reason is Reason.MISSING_FILE and re.match(_FOREIGN_HEADER, found.group(1)):
                    reason = Reason.FOREIGN_ISA
                said = found.group(1).strip()[:300]
                if reason is Reason.MISSING_FILE and (belongs := _belongs(said)):
                    said = f"{said}; {belongs}"
                if reason is Reason.COMPILE_ERROR and (machine := _machine(sources, name)):
                    reason, said = Reason.FOREIGN_ISA, f"written for {machine}: {said}"
                return Failure(Reason.LINK_ERROR if _links(name) else reason, f"{name}: {said}")
    name, output = logs[0]
    reason = Reason.LINK_ERROR if _links(name) else Reason.COMPILE_ERROR
    lines = [line for line in output.strip().splitlines() if not line.startswith("collect2: ")]  # which names no cause
    return Failure(reason, f"{name}: {(lines or ['no output'])[-1][:300]}")


def _links(name: str) -> bool:
    """Whether a step comes after compilation."""
    return name in ("merge", "rename", "localise") or name.startswith("link-")


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


def _machine(sources: Path, name: str) -> str | None:
    """The directive that shows that the assembly ``name`` is for another machine; None without one."""
    if not name.lower().endswith((".s", ".sx")):
        return None
    try:
        with (sources / name).open("rb") as f:
            found = _MACHINE.search(f.read(_SOURCE_BYTES))
    except OSError:
        return None
    return " ".join(found[0].decode("utf-8", "replace").split()) if found else None


def _unique(pattern: str, text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(pattern, text, re.MULTILINE)))
