"""Computes the three figures of FELICS-AE, as it defines them (docs/definitions.md), for encryption and decryption.

They continue published tables. ``rom``, ``stack`` and cycles say more: FELICS-AE's figures leave out everything that is
linked in, .bss and heap, and stack beyond 2000 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from ..model.call import Caller, CallResult, DeviceError, Observed, Op, Request, Vector
from ..model.elf import Section, sections
from ..model.implementation import API, CodeLists, Implementation
from ..model.reasons import Failure, Reason
from ..model.target import Target

#: bytes of message and of associated data in its only case
LENGTH = 16
#: bytes below the stack pointer that it paints; deeper stack does not count
WINDOW = 2000
#: bytes of a call's stack above that window. The window begins below the stack pointer inside a function called from
#: the same point, so it misses the return address, and on AVR the byte that the pointer points to
ABOVE = {"avr": 3, "msp430": 2}
#: cycles of the call instruction: RCALL (DS40002198, "Instruction Set Summary", AVRe+ and AVRxt), CALL #N (SLAU049,
#: 3.4.4), BL (DDI 0484, 3.3) and with a full refill (DDI 0337); the first that a core's name begins with
_CALL = {"avrxmega3": 2, "avr": 3, "msp430": 5, "cortex-m0plus": 3, "cortex": 4}

_COUNTED = re.compile(r"\.(text|data|rodata|progmem\.data|eh_frame|note)(?:\.(.+))?")
_CLONE = re.compile(r"\.(?:constprop|isra)\..*")
_OPERATIONS = (("encrypt", ""), ("decrypt", "_decrypt"))
#: how many times the cycles of its only case another one may take without a word
_SAME = 1.1


def call_cycles(target: Target) -> int:
    """Cycles of the call instruction, which FELICS counts with a function; 0 where nothing is known of it."""
    return next((n for core, n in _CALL.items() if target.is_chip and target.chip.core.startswith(core)), 0)


class Felics(Struct, frozen=True):
    """FELICS-AE's figures by metric, and notes on them."""

    figures: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class CodeSize(NamedTuple):
    """Bytes of ``all`` section classes that count, and those of initialised ``data`` among them."""

    all: int
    data: int


def felics(
    client: Caller,
    implementation: Implementation,
    target: Target,
    objects: Mapping[str, Path],
    case: Vector,
    empty: Mapping[str, int],
) -> Felics:
    """``felics_code_size``, ``_ram`` and ``_time`` in bytes and cycles, and with the suffix ``_decrypt`` those of
    decryption.

    ``objects`` are the object files by source, ``case`` is what :func:`case` gave, ``empty`` the cycles of the empty
    call by operation. Raises :class:`DeviceError` when a call fails.
    """
    figures: dict[str, float] = {}
    calls = dict(zip(("encrypt", "decrypt"), _calls(client, case), strict=True))
    inside = client.inside(Request(Op.EMPTY, *_zeros(client)))
    family = target.toolchain.family
    sizes, notes = code_sizes(implementation, objects)
    for name, suffix in _OPERATIONS:
        pulse = calls[name].pulse
        if name in sizes:
            figures[f"felics_code_size{suffix}"] = sizes[name].all
        if name in sizes and pulse.stack is not None:
            used = max(pulse.stack - ABOVE.get(family, 0), 0)
            if used > WINDOW:
                notes.append(f"{name} uses {used} bytes of stack; FELICS-AE sees {WINDOW}")
            common = client.hello.key_bytes + 2 * LENGTH
            figures[f"felics_code_ram{suffix}"] = min(used, WINDOW) + sizes[name].data + common
        if inside is not None:
            figures[f"felics_code_time{suffix}"] = pulse.cycles - empty[name] + inside + call_cycles(target)
    return Felics(figures, tuple(notes))


def _zeros(client: Caller) -> tuple[bytes, bytes, bytes, bytes]:
    return bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), b"", b""


def case(client: Caller, answers: Iterable[Observed]) -> Vector:
    """What FELICS-AE encrypts: key, nonce and associated data are those of the known answer with 16 bytes of both, the
    message is 16, 15, ... 1."""
    counting = bytes(range(256))
    key, npub, ad = counting[: client.hello.key_bytes], counting[: client.hello.npub_bytes], counting[:LENGTH]
    for name, v, _ in answers:
        if name == "encrypt" and len(v.message) == len(v.ad) == LENGTH:
            key, npub, ad = v.key, v.npub, v.ad
            break
    return Vector(0, key, npub, bytes(range(LENGTH, 0, -1)), ad)


def _calls(client: Caller, v: Vector) -> tuple[CallResult, CallResult]:
    sealed = client.call(Request(Op.ENCRYPT, v.key, v.npub, v.ad, v.message))
    opened = client.call(Request(Op.DECRYPT, v.key, v.npub, v.ad, sealed.output))
    if opened.code != 0 or opened.output != v.message:
        raise DeviceError(Failure(Reason.DECRYPT_MISMATCH, f"FELICS-AE's case, {LENGTH}/{LENGTH} bytes"))
    return sealed, opened


def beside(of: Felics, case: Vector, calls: Iterable[Observed]) -> Felics:
    """The figures, with a note on each operation that takes longer with the other inputs of these sizes that ``calls``
    have than with the ``case``'s."""
    took: dict[str, int] = {}
    other: dict[str, int] = {}
    for op, v, answer in calls:
        (took if v == case else other)[op] = answer.pulse.cycles
    more = [
        f"{op} takes {other[op]} cycles with a fresh key and text; {took[op]} with FELICS-AE's"
        for op, _ in _OPERATIONS
        if op in took and other.get(op, 0) > _SAME * took[op]
    ]
    return Felics(of.figures, (*of.notes, *more))


def code_sizes(implementation: Implementation, objects: Mapping[str, Path]) -> tuple[dict[str, CodeSize], list[str]]:
    """Sizes by operation (empty when the objects hold no code), and notes on sections that are not counted."""
    lists = implementation.code or _all_but_the_other(implementation, objects)
    stems: dict[str, list[Section]] = {}
    try:
        for name, path in objects.items():
            stems.setdefault(name.rpartition(".")[0], []).extend(sections(path.read_bytes()))
    except (OSError, ValueError) as e:
        return {}, [f"no FELICS-AE code size: {e}"]
    sizes = {}
    for operation, code in (("encrypt", lists.encrypt), ("decrypt", lists.decrypt)):
        counted = [c for stem, left_out in code for c in _counted(stems.get(stem, []), left_out)]
        sizes[operation] = CodeSize(sum(n for _, n in counted), sum(n for kind, n in counted if kind == "data"))
    if not all(size.all for size in sizes.values()):
        return {}, ["no FELICS-AE code size: the objects hold no code, as with -flto"]
    every = [s for found in stems.values() for s in found if s.loaded]
    strange = sorted({s.name for s in every if not _COUNTED.fullmatch(s.name)})
    return sizes, [f"FELICS-AE's code size leaves out {', '.join(strange[:8])}"] if strange else []


def _all_but_the_other(implementation: Implementation, objects: Mapping[str, Path]) -> CodeLists:
    """For packages without code lists: every source belongs to both operations, except the other's entry point."""
    entry = dict(implementation.entry)
    encrypt, decrypt = (entry.get(name, name) for name in API["crypto_aead"])
    stems = dict.fromkeys(name.rpartition(".")[0] for name in objects)
    return CodeLists(tuple((s, (decrypt,)) for s in stems), tuple((s, (encrypt,)) for s in stems))


def _counted(found: Iterable[Section], left_out: Iterable[str]) -> Iterable[tuple[str, int]]:
    """(class, bytes) of the sections that count; a clone made by the compiler belongs to its function."""
    for section in found:
        m = _COUNTED.fullmatch(section.name)
        if m and _CLONE.sub("", m[2] or "") not in left_out:
            yield m[1], section.size
