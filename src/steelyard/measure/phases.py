"""Computes the figures that the first FELICS has of a block cipher, as it defines them (docs/definitions.md): code,
stack, data and cycles of its four phases.

They continue published tables. A schedule of decryption that follows that of encryption is one of FELICS's phases, but
only a part of what ``crypto_block`` calls a schedule; :func:`joined` puts both together for all other figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..model.call import Caller, CallResult, DeviceError, Observed, Op, Request, Vector
from ..model.elf import Section, sections
from ..model.implementation import API, Implementation, Phase, Phases
from ..model.reasons import Failure, Reason
from ..model.record import Operation
from ..model.target import Target
from .cycles import Empty, empty_calls
from .felics import ABOVE, CALL, WINDOW, Felics

#: the operations in FELICS's order, and what its tables call them
PHASES: Mapping[Operation, str] = {
    "schedule_encrypt": "eks",
    "encrypt": "e",
    "schedule_decrypt": "dks",
    "decrypt": "d",
}
#: what is measured in each scenario: one block, CBC over so many bytes, CTR over so many with round keys in flash
MEASURED: Sequence[Sequence[Operation]] = (tuple(PHASES), tuple(PHASES), ("encrypt",))
DATA = {1: 128, 2: 16}
#: where decryption's schedule is said to be empty: bytes and cycles up to which FELICS takes it for that
_EMPTY_CODE = {"avr": 2, "msp430": 2, "thumb": 4}
_EMPTY_CYCLES = {"avr": 8, "msp430": 8, "thumb": 12}


def joined(calls: Iterable[Observed], empty: Empty) -> tuple[Observed, ...]:
    """Calls of a FELICS package, the pulse of each ``schedule_decrypt`` with that of its key's ``schedule_encrypt``:
    what makes the context of a decryption from a key."""
    out: list[Observed] = []
    first: dict[bytes, CallResult] = {}
    for op, v, answer in calls:
        if op == "schedule_encrypt":
            first[v.key] = answer
        if op == "schedule_decrypt" and (before := first.get(v.key)) is not None:
            answer = _with(before, answer, empty)
        out.append((op, v, answer))
    return tuple(out)


def _with(before: CallResult, after: CallResult, empty: Empty) -> CallResult:
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


class Message(Struct, frozen=True):
    """What a scenario encrypts: ``data`` with an ``iv`` (or counter) under ``key``, after which ``output`` is wanted. A
    scenario without modes has no IV."""

    key: bytes
    data: bytes
    iv: bytes = b""
    output: bytes | None = None


def message(client: Caller, scenario: int, vector: Vector | None) -> tuple[Message, bytes]:
    """What FELICS encrypts in a scenario, and the context of its key: ``vector`` is the package's own; counting bytes
    where there is none. The wanted output of a mode is made of single blocks on ``client``, which has no modes. Raises
    :class:`DeviceError`."""
    hello, counting = client.hello, bytes(range(256)) * 4
    key = vector.key if vector else counting[: hello.key_bytes]
    blank = bytes(hello.npub_bytes)
    context = client.call(Request(Op.SCHEDULE_ENCRYPT, key, blank, b"", b"", aside=True)).output
    if scenario == 0:
        return Message(key, vector.message if vector else counting[: hello.a_bytes]), context

    def encrypted(block: bytes) -> bytes:
        return client.call(Request(Op.ENCRYPT, key, context, b"", block, aside=True)).output

    data, iv = _downwards(DATA[scenario]), _downwards(hello.a_bytes)
    output, last = b"", iv
    for at in range(0, len(data), len(iv)):
        block = data[at : at + len(iv)]
        if scenario == 1:
            last = encrypted(_sum(block, last))
            output += last
        else:
            output += _sum(block, encrypted(last))
            last = last[:-1] + bytes([last[-1] + 1 & 255])
    return Message(key, data, iv, output), context


def _downwards(size: int) -> bytes:
    return bytes(range(size, 0, -1))


def _sum(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def phases(
    client: Caller,
    implementation: Implementation,
    target: Target,
    objects: Mapping[str, Path],
    said: Message,
    scenario: int = 0,
    mode: Path | None = None,
) -> Felics:
    """FELICS's figures in a scenario: ``felics_code_*``, ``felics_stack_*``, ``felics_data_*`` in bytes and
    ``felics_cycles_*``, each of the phases ``eks``, ``e``, ``dks`` and ``d``; and what FELICS makes of them.

    ``client`` has the scenario's image, ``objects`` are the object files by source, ``mode`` is that of the mode of
    operation. Raises :class:`DeviceError` when a call fails, or a mode gives another output than the one wanted.
    """
    phases, family = implementation.phases, target.toolchain.family
    figures: dict[str, float] = {}
    found, notes = _sections(objects)
    if found:
        figures |= _code(phases, found, _EMPTY_CODE.get(family, 0), scenario, client.hello.npub_bytes)
        figures |= _data(phases, found, client, scenario)
    if found and mode is not None:
        keys = client.hello.npub_bytes if scenario == 2 else 0
        figures["felics_code_mode"] = _bytes(sections(mode.read_bytes())) - keys
    empty = empty_calls(client, {op: Op(op) for op in PHASES}).cycles
    for op, answer, inside in _calls(client, said, scenario):
        phase, counts = PHASES[op], _counts(phases, op)
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
    return Felics(figures | _sums(figures, MEASURED[scenario]), tuple(notes))


def _counts(said: Phases | None, op: str) -> bool:
    """Whether a phase counts: a schedule that implementation.info says is none does not."""
    if said is None:
        return True
    return {"schedule_encrypt": said.keyed, "schedule_decrypt": said.rekeyed}.get(op, True)


def _sums(figures: Mapping[str, float], measured: Sequence[Operation]) -> dict[str, float]:
    """The RAM and the time of FELICS's figure of merit: data and the deepest of the stacks, and all phases' cycles."""
    stacks = [figures.get(f"felics_stack_{PHASES[op]}") for op in measured]
    cycles = [figures.get(f"felics_cycles_{PHASES[op]}") for op in measured]
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


def _code(
    said: Phases | None, found: Mapping[str, Sequence[Section]], empty: int, scenario: int, context: int
) -> dict[str, float]:
    """Bytes of code and data of each phase, and of all sources once. Where round keys are in flash there is nothing but
    encryption, which has them."""
    alone = scenario == 2
    if said is None:
        left_out = {f".text.{name}" for name in API["crypto_block"] if name != "crypto_block_encrypt"} if alone else ()
        total = _bytes(s for of in found.values() for s in of if s.name not in left_out)
        return {"felics_code_total": total + (context if alone else 0)}
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
    if alone:
        return dict.fromkeys(("felics_code_e", "felics_code_total"), out["felics_code_e"] + context)
    return out | {"felics_code_total": total + sum(_bytes(found.get(s, ())) for s in shared)}


def _data(
    said: Phases | None, found: Mapping[str, Sequence[Section]], client: Caller, scenario: int
) -> dict[str, float]:
    """Bytes of initialised data among each phase's constants; key, round keys and what is encrypted; and all of
    them."""
    hello, alone = client.hello, scenario == 2
    common = DATA.get(scenario, 0) + hello.a_bytes
    if not alone:
        common += hello.key_bytes + (hello.npub_bytes if said is None or said.keyed else 0)
    if said is None:
        data = sum(_bytes(of, "data") for of in found.values())
        return {"felics_data_common": common, "felics_data_total": common + data}

    def constants(of: Iterable[Phase]) -> int:
        stems = dict.fromkeys(s for phase in of for s in phase.constants)
        return sum(_bytes(found.get(s, ()), "data") for s in stems)

    measured = [(op, phase) for op, phase in said.of if op in MEASURED[scenario]]
    out: dict[str, float] = {f"felics_data_{PHASES[_operation(op)]}": constants([phase]) for op, phase in measured}
    total = common + constants(phase for _, phase in measured)
    return out | {"felics_data_common": common, "felics_data_total": total}


def _operation(name: str) -> Operation:
    return next(op for op in PHASES if op == name)


def _calls(client: Caller, said: Message, scenario: int) -> list[tuple[Operation, CallResult, int | None]]:
    """FELICS's calls, and the cycles inside of the empty one. Raises :class:`DeviceError`."""
    hello = client.hello
    blank = bytes(hello.npub_bytes)
    answers: dict[Operation, CallResult] = {}
    contexts = dict[Operation, bytes]()
    for op, schedule in (("encrypt", "schedule_encrypt"), ("decrypt", "schedule_decrypt")):
        if _operation(schedule) in MEASURED[scenario]:
            before = contexts.get("encrypt", blank) if hello.continues else blank
            made = client.call(Request(Op(schedule), said.key, before, b"", b"", paint=True))
            answers[_operation(schedule)] = made
            contexts[_operation(op)] = made.output
    data = said.data
    for op in ("encrypt", "decrypt"):
        if _operation(op) in MEASURED[scenario]:
            context = contexts.get(_operation(op), blank)
            made = client.call(Request(Op(op), said.key, context, said.iv, data, paint=True))
            wanted = said.output if op == "encrypt" else said.data
            if wanted is not None and made.output != wanted:
                raise DeviceError(
                    Failure(Reason.WRONG_OUTPUT, f"{op} of {len(data)} bytes differs from that of blocks")
                )
            answers[_operation(op)] = made
            data = made.output
    zeros = (bytes(hello.key_bytes), blank, b"", b"")
    schedule_, call = (client.inside(Request(op, *zeros)) for op in (Op.EMPTY_DECRYPT, Op.EMPTY))
    return [(op, a, schedule_ if Op(op).is_schedule else call) for op, a in answers.items()]
