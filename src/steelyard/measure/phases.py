"""Computes the figures that the first FELICS has of a block cipher, as it defines them (docs/definitions.md): code,
stack, data and cycles of its four phases.

They continue published tables. A schedule of decryption that follows that of encryption is one of FELICS's phases, but
only a part of what ``crypto_block`` calls a schedule; :func:`joined` puts both together for all other figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..model.call import Answer, Caller, Observed, Op, Request, Vector
from ..model.elf import Section, sections
from ..model.implementation import Implementation, Phase, Phases
from ..model.record import Operation
from ..model.target import Target
from .cycles import Empty
from .felics import ABOVE, CALL, WINDOW, Felics

#: the operations in FELICS's order, and what its tables call them
PHASES: Mapping[Operation, str] = {
    "schedule_encrypt": "eks",
    "encrypt": "e",
    "schedule_decrypt": "dks",
    "decrypt": "d",
}
#: where decryption's schedule is said to be empty: bytes and cycles up to which FELICS takes it for that
_EMPTY_CODE = {"avr": 2, "msp430": 2, "thumb": 4}
_EMPTY_CYCLES = {"avr": 8, "msp430": 8, "thumb": 12}


def joined(calls: Iterable[Observed], empty: Empty) -> tuple[Observed, ...]:
    """Calls of a FELICS package, the pulse of each ``schedule_decrypt`` with that of its key's ``schedule_encrypt``:
    what makes the context of a decryption from a key."""
    out: list[Observed] = []
    first: dict[bytes, Answer] = {}
    for op, v, answer in calls:
        if op == "schedule_encrypt":
            first[v.key] = answer
        if op == "schedule_decrypt" and (before := first.get(v.key)) is not None:
            answer = _with(before, answer, empty)
        out.append((op, v, answer))
    return tuple(out)


def _with(before: Answer, after: Answer, empty: Empty) -> Answer:
    one, two = before.pulse, after.pulse
    more, cost = one.instructions, empty.instructions["schedule_encrypt"]
    pulse = replace(
        two,
        cycles=one.cycles - empty.cycles["schedule_encrypt"] + two.cycles,
        stack=None if one.stack is None or two.stack is None else max(one.stack, two.stack),
        unaligned=None if one.unaligned is None or two.unaligned is None else one.unaligned + two.unaligned,
        instructions=None if more is None or two.instructions is None else more - cost + two.instructions,
    )
    return replace(after, pulse=pulse, stack=max(before.stack, after.stack), heap=max(before.heap, after.heap))


def phases(
    client: Caller,
    implementation: Implementation,
    target: Target,
    objects: Mapping[str, Path],
    vector: Vector | None,
    empty: Mapping[str, int],
) -> Felics:
    """FELICS's figures in scenario 0, one block: ``felics_code_*``, ``felics_stack_*``, ``felics_data_*`` in bytes and
    ``felics_cycles_*``, each of the phases ``eks``, ``e``, ``dks`` and ``d``; and what FELICS makes of them.

    ``objects`` are the object files by source, ``vector`` the package's own, ``empty`` the cycles of the empty call by
    operation. Raises :class:`DeviceError` when a call fails.
    """
    said, family = implementation.phases, target.toolchain.family
    figures: dict[str, float] = {}
    notes: list[str] = []
    found, odd = _sections(objects)
    notes += odd
    if found:
        figures |= _code(said, found, _EMPTY_CODE.get(family, 0))
        figures |= _data(said, found, client)
    for op, answer, inside in _calls(client, vector):
        phase, counts = PHASES[op], _counts(said, op)
        if answer.pulse.stack is not None:
            # what FELICS sees is paint that changed; the harness's ends some bytes below the stack pointer
            used = max(min(answer.pulse.stack, answer.stack) - ABOVE.get(family, 0), 0)
            if used > WINDOW:
                notes.append(f"{op.replace('_', ' ')} uses {used} bytes of stack; FELICS sees {WINDOW}")
            figures[f"felics_stack_{phase}"] = min(used, WINDOW) if counts else 0
        if inside is not None:
            cycles = answer.pulse.cycles - empty[op] + inside + CALL.get(family, 0)
            void = phase == "dks" and cycles <= _EMPTY_CYCLES.get(family, 0)
            figures[f"felics_cycles_{phase}"] = cycles if counts and not void else 0
    return Felics(figures | _sums(figures), tuple(notes))


def _counts(said: Phases | None, op: str) -> bool:
    """Whether a phase counts: a schedule that implementation.info says is none does not."""
    if said is None:
        return True
    return {"schedule_encrypt": said.keyed, "schedule_decrypt": said.rekeyed}.get(op, True)


def _sums(figures: Mapping[str, float]) -> dict[str, float]:
    """The RAM and the time of FELICS's figure of merit: data and the deepest of the stacks, and all phases' cycles."""
    stacks = [figures.get(f"felics_stack_{p}") for p in PHASES.values()]
    cycles = [figures.get(f"felics_cycles_{p}") for p in PHASES.values()]
    data = figures.get("felics_data_total")
    out: dict[str, float] = {}
    if data is not None and None not in stacks:
        out["felics_ram"] = data + max(s for s in stacks if s is not None)
    if None not in cycles:
        out["felics_cycles_total"] = sum(c for c in cycles if c is not None)
    return out


def _sections(objects: Mapping[str, Path]) -> tuple[dict[str, list[Section]], list[str]]:
    """The sections of each source by its name without suffix; none when they hold no code, with a note."""
    found: dict[str, list[Section]] = {}
    try:
        for name, path in objects.items():
            found.setdefault(name.rpartition(".")[0], []).extend(sections(path.read_bytes()))
    except (OSError, ValueError) as e:
        return {}, [f"no FELICS code size: {e}"]
    if not any(s.kind == "code" and s.loaded for of in found.values() for s in of):
        return {}, ["no FELICS code size: the objects hold no code, as with -flto"]
    return found, []


def _bytes(found: Iterable[Section], *kinds: str) -> int:
    return sum(s.size for s in found if s.loaded and (not kinds or s.kind in kinds))


def _code(said: Phases | None, found: Mapping[str, Sequence[Section]], empty: int) -> dict[str, float]:
    """Bytes of code and data of each phase, and of all sources once."""
    if said is None:
        return {"felics_code_total": sum(_bytes(of) for of in found.values())}
    out: dict[str, float] = {}
    total = 0
    shared: set[str] = set()
    for op, phase in said.of:
        own = _bytes(found.get(phase.own, ())) if _counts(said, op) else 0
        if op == "schedule_decrypt" and own <= empty:
            own = 0
        listed = [*phase.code, *phase.constants]
        out[f"felics_code_{PHASES[_operation(op)]}"] = own + sum(_bytes(found.get(s, ())) for s in listed)
        total += own
        shared.update(listed)
    return out | {"felics_code_total": total + sum(_bytes(found.get(s, ())) for s in shared)}


def _data(said: Phases | None, found: Mapping[str, Sequence[Section]], client: Caller) -> dict[str, float]:
    """Bytes of initialised data among each phase's constants; key, block and round keys; and all of them."""
    hello = client.hello
    common = hello.key_bytes + hello.a_bytes + (hello.npub_bytes if said is None or said.keyed else 0)
    if said is None:
        data = sum(_bytes(of, "data") for of in found.values())
        return {"felics_data_common": common, "felics_data_total": common + data}

    def constants(of: Iterable[Phase]) -> int:
        stems = dict.fromkeys(s for phase in of for s in phase.constants)
        return sum(_bytes(found.get(s, ()), "data") for s in stems)

    out: dict[str, float] = {f"felics_data_{PHASES[_operation(op)]}": constants([phase]) for op, phase in said.of}
    total = common + constants(phase for _, phase in said.of)
    return out | {"felics_data_common": common, "felics_data_total": total}


def _operation(name: str) -> Operation:
    return next(op for op in PHASES if op == name)


def _calls(client: Caller, vector: Vector | None) -> list[tuple[Operation, Answer, int | None]]:
    """FELICS's calls, and the cycles inside of the empty one: the package's vector, or counting bytes."""
    hello, counting = client.hello, bytes(range(256)) * 4
    key = vector.key if vector else counting[: hello.key_bytes]
    block = vector.message if vector else counting[: hello.a_bytes]
    blank = bytes(hello.npub_bytes)
    eks = client.call(Request(Op.SCHEDULE_ENCRYPT, key, blank, b"", b"", paint=True))
    e = client.call(Request(Op.ENCRYPT, key, eks.output, b"", block, paint=True))
    dks = client.call(Request(Op.SCHEDULE_DECRYPT, key, blank, b"", b"", paint=True))
    d = client.call(Request(Op.DECRYPT, key, dks.output, b"", e.output, paint=True))
    zeros = (bytes(hello.key_bytes), blank, b"", b"")
    schedule, call = (client.inside(Request(op, *zeros)) for op in (Op.EMPTY_DECRYPT, Op.EMPTY))
    return [
        ("schedule_encrypt", eks, schedule),
        ("encrypt", e, call),
        ("schedule_decrypt", dks, schedule),
        ("decrypt", d, call),
    ]
