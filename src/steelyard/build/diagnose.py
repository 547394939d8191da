"""What a compiler's or linker's words mean, in the fixed vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model.reasons import Failure, Reason

#: headers that only the compilers of one instruction set have
_FOREIGN_HEADER = r"(avr|util)/|arm_(neon|acle|sve)\.h|.*intrin\.h|cpuid\.h|msp430.*\.h|riscv_"

# patterns of GCC and binutils; the first that matches names the reason. They are compiled when something failed
_COMPILE = (
    (Reason.UNSUPPORTED_SIZE, r"unsupported size: (CRYPTO_[^\"\n]+)"),
    (Reason.MISSING_FILE, r"fatal error: (.+?): No such file or directory"),
    (
        Reason.FOREIGN_ISA,
        r"(?i:(no such instruction.*|bad instruction.*|unknown opcode.*|unrecognized opcode.*|unknown mnemonic.*"
        r"|selected processor does not support.*|impossible constraint in .asm.*|invalid instruction.*"
        r"|unknown pseudo-op.*|unknown architecture.*|[^\n]*is not supported on this (?:target|architecture).*"
        r"|unknown register name.*|invalid register name.*|bad register name.*|attempt to use ARM instructions.*))",
    ),
    (Reason.COMPILE_ERROR, r"(?:^|\n)([^\n]*(?:error|Error):[^\n]*)"),
)
_DUPLICATE = r"multiple definition of [`'](.+?)'"
_UNDEFINED = r"undefined reference to [`'](.+?)'"
_OVERFLOW = r"region [`'](flash|ram)' overflowed by (\d+) bytes?"


def failure(logs: Iterable[tuple[str, str]], api: tuple[str, ...]) -> Failure:
    """The reason behind failed commands: ``logs`` holds (file or step, output); ``api`` the entry points."""
    logs = list(logs)
    text = "\n".join(t for _, t in logs)
    if duplicate := _unique(_DUPLICATE, text):
        return Failure(Reason.DUPLICATE_SYMBOL, ", ".join(duplicate[:5]))
    overflow = {region: int(count) for region, count in re.findall(_OVERFLOW, text)}
    if "flash" in overflow:
        return Failure(Reason.FLASH_OVERFLOW, f"{overflow['flash']} bytes too many")
    if "ram" in overflow:
        return Failure(Reason.RAM_OVERFLOW, f"{overflow['ram']} bytes too many")
    if undefined := _unique(_UNDEFINED, text):
        missing = [s for s in undefined if s in api]
        if missing:
            return Failure(Reason.MISSING_ENTRY, ", ".join(missing))
        return Failure(Reason.UNDEFINED_SYMBOL, ", ".join(undefined[:5]))
    for name, output in logs:
        for reason, pattern in _COMPILE:
            if found := re.search(pattern, output):
                if reason is Reason.MISSING_FILE and re.match(_FOREIGN_HEADER, found.group(1)):
                    reason = Reason.FOREIGN_ISA
                if name in ("merge", "rename", "localise") or name.startswith("link-"):
                    reason = Reason.LINK_ERROR
                return Failure(reason, f"{name}: {found.group(1).strip()[:300]}")
    name, output = logs[0]
    reason = (
        Reason.LINK_ERROR
        if name in ("merge", "rename", "localise") or name.startswith("link-")
        else Reason.COMPILE_ERROR
    )
    return Failure(reason, f"{name}: {(output.strip().splitlines() or ['no output'])[-1][:300]}")


def _unique(pattern: str, text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(pattern, text)))
