"""Checks a package's objects: they may share only the API with the harness, and may not choose their addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..model.elf import address, exported, sections, symbols, undefined
from ..model.errors import cut
from ..model.linked import RAM, unlisted
from ..model.reasons import Failure, Reason
from ..model.target import Target

#: names that the harness, its targets and their linker scripts define
_HARNESS = re.compile(r"sy_\w+|main|__?end|end|__heap_start|_start|__vectors|__crt0_\w+")
#: sections that linker scripts put at the chip's reset address, or whose code runs before the harness
_START = re.compile(r"\.(vectors|start|reset|isr_vector|init\d*|fini\d*)(\..*)?")
#: sections that linker scripts make; of these, the second set is static RAM, which is counted and initialised
_MADE, _RAM = frozenset({".text", ".rodata", ".vectors", ".ARM.exidx", ".data", ".bss"}), frozenset({".data", ".bss"})
#: and those for a thread's variables, where a linker script has a place for them
_THREAD = frozenset({".tdata", ".tzero", ".tspace"})
_AVR_DATA = 0x80_0000  # the tools' offset of the data space
_WORD = 4  # bytes, which an Xtensa's instruction RAM gives at once
#: bytes that a target's harness keeps for its own frames: with less, no buffer has room, and it cannot even say so
_RESERVE = re.compile(r"^#define SY_STACK_RESERVE (\d+)", re.M)
#: names of sections that compilers choose; what a target's linker script says of others in flash
_COMPILERS = re.compile(
    r"\.(text|rodata|[st]?data|[st]?bss|noinit|literal|progmem|jumptables|init|fini|[cd]tors|gnu|ARM|eh_frame|xt)\b.*"
)
#: names that a linker's map has in one piece: in others there could be a line of it, which says how large a library is
#: or it could end there, which it does with the section that no image has
_WORDS = re.compile(r"([A-Za-z_.][^\s\x00-\x20\x7f]*)?")
#: names of sections without bytes in flash, by which a linker's map tells what is not code, and Xtensa's tables
_EMPTY = re.compile(rf"{RAM}|\.xt\.")
_MOVED = "constants are not where the data space shows them"
#: what compilers ask for where a thread's variables are, where start-up code does not say it
_THREADS = ("__aeabi_read_tp", "__emutls_get_address")
_CONSTRUCTORS = re.compile(r"\.(preinit_array|init_array|ctors)(\..*)?")


def inspect(merged: bytes) -> tuple[Failure | None, list[str]]:
    """Why a package's merged object cannot be linked with the harness (or None), and notes for the record.

    Raises :class:`ValueError` when it is not an object file."""
    notes: list[str] = []
    others = {*undefined(merged)}
    if wanted := sorted({name for name in others if _HARNESS.fullmatch(name)}):
        return Failure(Reason.HARNESS_SYMBOL, ", ".join(wanted[:5])), notes
    if asked := sorted(others & {*_THREADS}):
        text = f"{asked[0]}; variables of a thread (_Thread_local, __thread) have no place here: make them static"
        return Failure(Reason.UNDEFINED_SYMBOL, text), notes
    every = sections(merged)
    if odd := _shown(s.name for s in every if not _WORDS.fullmatch(s.name)):
        return Failure(
            Reason.PLACED_SECTION, f"{odd}: a section's name begins with a letter, _ or a point, and has no spaces"
        ), notes
    # a symbol is indented there, and in what nm says a line of its own; assemblers' own names have spaces
    if odd := _shown(s.name for s in symbols(merged) if s.name.splitlines() != [s.name]):
        return Failure(Reason.HARNESS_SYMBOL, f"{odd}: ends of lines in a symbol's name"), notes
    placed = [s.name for s in every if s.placed]
    if special := sorted({name for name in placed if _START.fullmatch(name)}):
        return Failure(Reason.PLACED_SECTION, ", ".join(special[:5])), notes
    if full := sorted({s.name for s in every if s.loaded and _EMPTY.match(s.name)}):
        return Failure(Reason.PLACED_SECTION, f"{', '.join(full[:5])}: code or values where there can be none"), notes
    if any(_CONSTRUCTORS.fullmatch(name) for name in placed):
        notes.append("has static constructors, which the harness does not run")
    return None, notes


def _shown(odd: Iterable[str]) -> str:
    """Names with strange signs, as a message has them."""
    return cut(", ".join(map(ascii, sorted(set(odd))[:5])), 250)


def exposed(localised: bytes, names: tuple[str, ...]) -> Failure | None:
    """Why an object that should export ``names`` only cannot be linked; None when it can. objcopy leaves rare kinds of
    symbols global, and the simulator recognises the harness by its global names. Raises :class:`ValueError` when it is
    not an object file."""
    if more := sorted({*exported(localised)} - {*names}):
        return Failure(Reason.HARNESS_SYMBOL, f"{', '.join(more[:5])} cannot be made local")
    return None


def judge(work: Path, exports: Mapping[str, tuple[str, ...]]) -> tuple[Failure | None, list[str]]:
    """Both checks on the objects in the folder ``work``; ``exports`` gives the symbols that each may export. What the
    reader of object files cannot read, because it is too large or has too many sections, is refused."""
    notes: dict[str, None] = {}
    for name, names in (("merged.o", None), ("params.o", None), *exports.items()):
        if not (work / name).exists():
            continue
        made, more = (work / name).read_bytes(), list[str]()
        try:
            if names is None:
                refused, more = inspect(made)
            else:
                refused = exposed(made, names)
        except ValueError as e:
            return Failure(Reason.LINK_ERROR, f"{name}: {e}"), [*notes]
        if refused is not None:
            return refused, [*notes]
        notes |= dict.fromkeys(more)
    return None, [*notes]


def displacing(work: Path, said: Iterable[str]) -> Failure | None:
    """The sections of the package's own that keep the linker from putting constants where its target reads them, when
    that is what the linker ``said``."""
    if not any(_MOVED in text for text in said):
        return None
    own = dict.fromkeys(s.name for s in sections((work / "merged.o").read_bytes()) if s.placed)
    names = ", ".join([name for name in own if not _COMPILERS.fullmatch(name)][:5]) or "a section"
    return Failure(Reason.PLACED_SECTION, f"{names}: here code and constants are in the compiler's sections only")


def uncounted(work: Path) -> Failure | None:
    """The sections of a package that the maps of its images in the folder ``work`` say nothing of; None when there are
    none. Figures of code are sums of what a map has of the package, and go by where its pieces end."""
    names = [s.name for s in sections((work / "implementation.o").read_bytes()) if s.loaded]
    for file in sorted(work.glob("*.map")):
        if left := unlisted(file, "implementation", names):
            text = f"{', '.join(left[:5])}: not in the linker's map of {file.stem}.elf, so that nobody could count it"
            return Failure(Reason.PLACED_SECTION, text)
    return None


def misplaced(image: bytes, target: Target) -> Failure | None:
    """Why a linked image cannot work or would have wrong figures; None when it is fine. A section of the package's own
    outside flash would not be counted, initialised, or protected from the buffers. RAM may leave too little room for
    the harness's stack."""
    chip = target.chip
    flash = range(chip.flash.base, chip.flash.base + chip.flash.size)
    start = chip.ram.base + (_AVR_DATA if chip.core.startswith("avr") else 0)
    ram = range(start, start + chip.ram.size)
    try:
        placed = [s for s in sections(image) if s.placed]
        values, thread = address(image, "sy_data_load") or 0, address(image, "sy_thread") is not None
    except ValueError as e:
        return Failure(Reason.LINK_ERROR, f"the image: {e}")
    held = _RAM | _THREAD if thread else _RAM
    made = _MADE | held
    in_ram = (s.name not in held and s.address in ram for s in placed)
    nowhere = (s.name not in made and not (s.loaded and s.address in flash) for s in placed)
    wrong = [s for s, a, b in zip(placed, in_ram, nowhere, strict=True) if a or b]
    if wrong:
        text = ", ".join(f"{s.name}, {s.size} bytes at {s.address:#x}" for s in wrong[:5])
        return Failure(Reason.PLACED_SECTION, text)
    if code := [s.name for s in placed if s.name in held and s.kind == "code"]:
        return Failure(Reason.PLACED_SECTION, f"{', '.join(code)} holds code, and no target runs code in RAM")
    own = [f"{s.name}, {s.size} bytes at {s.address:#x}" for s in placed if s.name not in made]
    if chip.core.startswith("xtensa") and values % _WORD and own:
        text = f"{', '.join(own[:5])}: after it, initial values of data are not at a multiple of {_WORD} bytes"
        return Failure(Reason.PLACED_SECTION, text)
    left = ram.stop - max((s.address + s.size for s in placed if s.address in ram), default=ram.start)
    keeps = _RESERVE.search((target.folder / "target.h").read_text("utf-8"))
    if keeps and left < int(keeps[1]):
        text = f"static data leaves {left} bytes for everything else, and the harness alone keeps {keeps[1]}"
        return Failure(Reason.RAM_OVERFLOW, text)
    return None
