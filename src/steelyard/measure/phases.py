"""Computes the figures that the first FELICS has of a block cipher, as it defines them (docs/definitions.md): code,
stack, data and cycles of its four phases.

They continue published tables. A schedule of decryption that follows that of encryption is one of FELICS's phases, but
only a part of what ``crypto_block`` calls a schedule; :func:`joined` puts both together for all other figures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..model.call import Caller, CallResult, DeviceError, Observed, Op, Request, Vector
from ..model.elf import Section, exported, sections, symbols, undefined
from ..model.implementation import Implementation, Phase, Phases
from ..model.inputs import Inputs
from ..model.reasons import Failure, Reason
from ..model.record import Operation
from ..model.target import Target
from .cycles import Empty, empty_calls
from .felics import ABOVE, WINDOW, Felics, call_cycles
from .rom import in_image

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
#: how many times the cycles of FELICS's message another one may take without a word
_SAME = 1.1
#: cycles by which the first call may be longer without a word: of caches and branch predictors
_ONCE = 200
#: cycles for a byte of context that a schedule may take that is said to be none, and copies the key
_COPY = 16


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


def unscheduled(calls: Iterable[Observed]) -> list[Observed]:
    """Calls of a block cipher without those of schedules, where these are not its own."""
    return [o for o in calls if not Op(o[0]).is_schedule]


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
    hello = client.hello
    key = vector.key if vector else _counting(hello.key_bytes)
    block = vector.message if vector else _counting(hello.a_bytes)
    return _wanted(client, scenario, key, _downwards(DATA[scenario]) if scenario else block, _downwards(hello.a_bytes))


def another(client: Caller, scenario: int, inputs: Inputs) -> tuple[Message, bytes]:
    """The same of a key, an IV and a text that the package's author cannot know."""
    hello = client.hello
    size = DATA.get(scenario, hello.a_bytes)
    v = inputs.vector(f"scenario {scenario}", 0, hello.key_bytes, hello.a_bytes, size, 0)
    return _wanted(client, scenario, v.key, v.message, v.npub)


def _wanted(client: Caller, scenario: int, key: bytes, data: bytes, iv: bytes) -> tuple[Message, bytes]:
    blank = bytes(client.hello.npub_bytes)
    context = client.call(Request(Op.SCHEDULE_ENCRYPT, key, blank, b"", b"", aside=True)).output
    if scenario == 0:
        return Message(key, data), context

    def encrypted(block: bytes) -> bytes:
        return client.call(Request(Op.ENCRYPT, key, context, b"", block, aside=True)).output

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


def _counting(size: int) -> bytes:
    return bytes(k & 255 for k in range(size))


def _downwards(size: int) -> bytes:
    return bytes(k & 255 for k in range(size, 0, -1))


def _sum(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def phases(
    client: Caller,
    implementation: Implementation,
    target: Target,
    objects: Mapping[str, Path],
    said: Message,
    inputs: Inputs,
    scenario: int = 0,
    mode: Path | None = None,
    linked: Path | None = None,
    again: tuple[Caller, Message] | None = None,
) -> Felics:
    """FELICS's figures in a scenario: ``felics_code_*``, ``felics_stack_*``, ``felics_data_*`` in bytes and
    ``felics_cycles_*``, each of the phases ``eks``, ``e``, ``dks`` and ``d``; and what FELICS makes of them.

    ``client`` has the scenario's image, ``inputs`` are what nobody can know, ``objects`` the object files by source,
    ``mode`` is that of the mode of operation, ``linked`` the linker's map. ``again`` is another message, with what has
    an image with its round keys: only then is checked what the package says of its schedules. Raises
    :class:`DeviceError` when a call fails, or a mode gives another output than the one wanted.
    """
    phases, family = implementation.phases, target.toolchain.family
    figures: dict[str, float] = {}
    found, notes = _sections(objects)
    calls, first = _calls(client, said, inputs, scenario)
    others = _calls(*again, inputs, scenario)[0] if again else {}
    none, wrong = _none(phases, [(said, calls), *([(again[1], others)] if again else ())])
    notes += wrong
    if not implementation.scheduled:
        none = {op for op in PHASES if Op(op).is_schedule}
    if found:
        empty_code = _EMPTY_CODE.get(family, 0)
        others_of, more = _used(phases, objects, none, scenario)
        figures |= _code(phases, found, none, empty_code, scenario, client.hello.npub_bytes, linked, others_of)
        figures |= _data(phases, found, none, client, scenario)
        notes += [*more, *_unlisted(phases, found), *_unseen(phases, found, objects)]
    if found and mode is not None:
        keys = client.hello.npub_bytes if scenario == 2 else 0
        figures["felics_code_mode"] = _bytes(sections(mode.read_bytes())) - keys
    empty = empty_calls(client, {op: Op(op) for op in PHASES}).cycles
    zeros = (bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), b"", b"")
    schedule, call = (client.inside(Request(op, *zeros)) for op in (Op.EMPTY_DECRYPT, Op.EMPTY))
    for op, answer in calls.items():
        if op in none and not implementation.scheduled:
            continue  # a copy of ours
        phase, counts, inside = PHASES[op], op not in none, schedule if Op(op).is_schedule else call
        took = answer.pulse.cycles
        if op in others and (other := others[op].pulse.cycles) > _SAME * took:
            notes.append(f"{op.replace('_', ' ')} takes {other} cycles with a fresh key and text; {took} with FELICS's")
        if not counts and took - empty[op] > _ONCE + _COPY * client.hello.npub_bytes:
            notes.append(f"{op.replace('_', ' ')} takes {took - empty[op]} cycles, which do not count: it is denied")
        if (begun := first.get(op, 0)) > _SAME * took + _ONCE:
            what = op.replace("_", " ")
            notes.append(
                f"the first {what} after a restart takes {begun} cycles, later ones {took}: no figure has that"
            )
        if answer.pulse.stack is not None:
            # what FELICS sees is paint that changed, from some bytes below the stack pointer on; here what was written
            deep = answer.stack if answer.pulse.touched is None else answer.pulse.touched
            used = max(min(answer.pulse.stack, deep) - ABOVE.get(family, 0), 0)
            if used > WINDOW:
                notes.append(f"{op.replace('_', ' ')} uses {used} bytes of stack; FELICS sees {WINDOW}")
            figures[f"felics_stack_{phase}"] = min(used, WINDOW) if counts else 0
        if inside is not None:
            cycles = answer.pulse.cycles - empty[op] + inside + call_cycles(target)
            void = phase == "dks" and cycles <= _EMPTY_CYCLES.get(family, 0)
            figures[f"felics_cycles_{phase}"] = cycles if counts and not void else 0
    summed = [op for op in MEASURED[scenario] if implementation.scheduled or op not in none]
    return Felics(figures | _sums(figures, summed), tuple(notes))


def _none(
    said: Phases | None, tried: Sequence[tuple[Message, Mapping[Operation, CallResult]]]
) -> tuple[set[Operation], list[str]]:
    """The schedules that are none, which do not count: those that implementation.info says to be none, unless the round
    keys of two keys show that they are more than a copy. A note says that they are."""
    none: set[Operation] = set()
    if said is None:
        return none, []
    none |= {"schedule_encrypt"} if not said.keyed else set()
    none |= {"schedule_decrypt"} if not said.rekeyed else set()
    shown: set[Operation] = set()
    if len(tried) > 1 and all("schedule_encrypt" in answers for _, answers in tried):
        keys = set(zip(*(message.key for message, _ in tried), strict=True))
        one, two = ([answers[op] for _, answers in tried] for op in ("schedule_encrypt", "schedule_decrypt"))
        first, then = ([*zip(*(a.output for a in answers), strict=True)] for answers in (one, two))
        # a byte that is as it was filled before the call was not written
        left, kept = (tuple(a.filled for a in answers) for answers in (one, two))
        if any(len(set(made)) > 1 and made not in (left, *keys) for made in first):
            shown.add("schedule_encrypt")
        if any(b not in (a, kept) for a, b in zip(first, then, strict=True)):
            shown.add("schedule_decrypt")
    wrong = [f"{op.removeprefix('schedule_')}ion" for op in PHASES if op in none & shown]
    return none - shown, [
        f"implementation.info denies {w}'s key schedule, which makes round keys: it counts" for w in wrong
    ]


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
    said: Phases | None,
    found: Mapping[str, Sequence[Section]],
    none: Collection[Operation],
    empty: int,
    scenario: int,
    context: int,
    linked: Path | None,
    used: Mapping[str, Collection[str]],
) -> dict[str, float]:
    """Bytes of code and data of each phase, each of its sources once, with those of others that it has ``used``, and of
    all sources once with what Steelyard provides. Where round keys are in flash there is nothing but encryption, which
    has them."""
    alone = scenario == 2
    more = (context if alone else 0) + (sum(in_image(linked, r"\w+\.provided").values()) if linked else 0)
    if said is None and alone:  # what encryption alone needs, by the linker
        return {"felics_code_total": sum(in_image(linked, "implementation").values()) + more} if linked else {}
    if said is None:
        return {"felics_code_total": _bytes(s for of in found.values() for s in of) + more}
    out: dict[str, float] = {}
    once: set[str] = set()
    for op, phase in said.of:
        counts = op not in none and _bytes(found.get(phase.own, ())) > (empty if op == "schedule_decrypt" else 0)
        own = {phase.own} if counts else set()
        sources = own.union(phase.code, phase.constants, used.get(op, ()))
        out[f"felics_code_{PHASES[_operation(op)]}"] = sum(_bytes(found.get(s, ())) for s in sources)
        once |= sources
    if alone:
        return dict.fromkeys(("felics_code_e", "felics_code_total"), out["felics_code_e"] + more)
    return out | {"felics_code_total": sum(_bytes(found.get(s, ())) for s in once) + more}


def _used(
    said: Phases | None, objects: Mapping[str, Path], none: Collection[Operation], scenario: int
) -> tuple[dict[str, set[str]], list[str]]:
    """The sources of phases that do not count which those that do cannot do without, by the operation; notes name them.
    FELICS leaves them out by their name, and all else that stands in them. They are asked for by name, directly or by
    way of any other source, or leave something with those that count, in variables or by a call, where a schedule is
    none."""
    if said is None:
        return {}, []
    wants: dict[str, set[str]] = {}
    has: dict[str, set[str]] = {}
    variables: dict[str, set[str]] = {}
    for name, path in objects.items():
        content, stem = path.read_bytes(), name.rpartition(".")[0]
        wants.setdefault(stem, set()).update(undefined(content))
        has.setdefault(stem, set()).update(exported(content), _bounds(content))
        some = (s.name for s in symbols(content) if not s.local and s.kind in ("data", "bss", "common"))
        variables.setdefault(stem, set()).update(some)
    left = {p.own for op, p in said.of if op in none or (scenario == 2 and op != "encrypt")}
    empty = {p.own for op, p in said.of if op in none and scenario != 2}
    used: dict[str, set[str]] = {}
    for op, phase in said.of:
        if op in none or (scenario == 2 and op != "encrypt"):
            continue
        reached = {phase.own, *phase.code, *phase.constants}
        new = reached
        while new:  # through sources that no list has, too, which _unlisted names
            asked = set[str]().union(*(wants.get(s, ()) for s in new))
            kept = set[str]().union(*(variables.get(s, set()) | has.get(s, set()) for s in new))
            new = {s for s in has.keys() - reached if has[s] & asked or (s in empty and wants[s] & kept)}
            reached |= new
            used.setdefault(op, set()).update(new & left)
    words = {op: ", ".join(sorted(of)) for op, of in used.items() if of}
    return used, [
        f"{names} is of a phase that does not count; {op} uses it, and counts it" for op, names in words.items()
    ]


def _bounds(content: bytes) -> set[str]:
    """The symbols that linkers make for the ends of sections with a name of C."""
    named = [s.name for s in sections(content) if s.name.isidentifier()]
    return {f"__{end}_{name}" for name in named for end in ("start", "stop")}


def _unseen(said: Phases | None, found: Mapping[str, Sequence[Section]], objects: Mapping[str, Path]) -> Iterator[str]:
    """Notes on static data that no figure of FELICS's has; what is common has its place from the linker."""
    zeros = sum(s.size for of in found.values() for s in of if s.kind == "bss")
    common = {s.name: s.size for p in objects.values() for s in symbols(p.read_bytes()) if s.kind == "common"}
    zeros += sum(common.values())
    listed = {s for _, phase in said.of for s in phase.constants} if said else found.keys()
    begun = sum(_bytes(of, "data") for stem, of in found.items() if stem not in listed)
    for size, begin in ((zeros, "as zeros"), (begun, "with values, outside of the lists of constants,")):
        if size:
            are = "byte of static data that begins" if size == 1 else "bytes of static data that begin"
            yield f"{size} {are} {begin} {'is' if size == 1 else 'are'} in no felics_data_*, nor in felics_ram"


def _unlisted(said: Phases | None, found: Mapping[str, Sequence[Section]]) -> list[str]:
    """A note on sources that no list of implementation.info has."""
    if said is None:
        return []
    listed = {s for _, phase in said.of for s in (phase.own, *phase.code, *phase.constants)}
    sizes = {name: _bytes(of) for name, of in sorted(found.items()) if name not in listed}
    names = [name for name, size in sizes.items() if size]
    text = f"no list of implementation.info has {', '.join(names)}: {sum(sizes.values())} bytes are in no felics_code_*"
    return [text] if names else []


def _data(
    said: Phases | None,
    found: Mapping[str, Sequence[Section]],
    none: Collection[Operation],
    client: Caller,
    scenario: int,
) -> dict[str, float]:
    """Bytes of initialised data among each phase's constants; key, round keys and what is encrypted; and all of
    them."""
    hello, alone = client.hello, scenario == 2
    common = DATA.get(scenario, 0) + hello.a_bytes
    if not alone:
        common += hello.key_bytes + (hello.npub_bytes if "schedule_encrypt" not in none else 0)
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


def _forget(client: Caller, v: Vector, scenario: int, op: Operation) -> dict[Operation, int]:
    """Restarts the device, so that a call of an operation finds nothing of its key but the round keys that it gets, nor
    of the other direction's call. A call with the key, text and IV of ``v``, from which nothing follows, then lets
    packages set up what they keep, such as lookup tables; its cycles. Raises :class:`DeviceError`."""
    client.restart()
    context = bytes(client.hello.npub_bytes)
    took: dict[Operation, int] = {}
    schedule = op if Op(op).is_schedule else _operation(f"schedule_{op}")
    if schedule in MEASURED[scenario]:
        made = client.call(Request(Op(schedule), v.key, context, b"", b"", aside=True))
        context, took[schedule] = made.output, made.pulse.cycles
    if op != schedule:
        took[op] = client.call(Request(Op(op), v.key, context, v.npub, v.message, aside=True)).pulse.cycles
    return took


def _calls(
    client: Caller, said: Message, inputs: Inputs, scenario: int
) -> tuple[dict[Operation, CallResult], dict[Operation, int]]:
    """FELICS's calls, each after a restart, and the cycles of the first ones after it. Raises :class:`DeviceError`."""
    hello = client.hello
    blank = bytes(hello.npub_bytes)
    answers: dict[Operation, CallResult] = {}
    first: dict[Operation, int] = {}
    contexts = dict[str, bytes]()

    def forget(op: Operation) -> None:
        use = f"before {op} of {said.key.hex()}"
        v = inputs.vector(use, 0, hello.key_bytes, len(said.iv), len(said.data), 0)
        first.update(_forget(client, v, scenario, op))

    for op, schedule in (("encrypt", _operation("schedule_encrypt")), ("decrypt", _operation("schedule_decrypt"))):
        if schedule in MEASURED[scenario]:
            forget(schedule)
            before = contexts.get("encrypt", blank) if hello.continues else blank
            answers[schedule] = client.call(Request(Op(schedule), said.key, before, b"", b"", paint=True))
            contexts[op] = answers[schedule].output
    data = said.data
    for op in ("encrypt", "decrypt"):
        if _operation(op) in MEASURED[scenario]:
            forget(_operation(op))
            context = contexts.get(op, blank)
            made = client.call(Request(Op(op), said.key, context, said.iv, data, paint=True))
            wanted = said.output if op == "encrypt" else said.data
            if wanted is not None and made.output != wanted:
                raise DeviceError(
                    Failure(Reason.WRONG_OUTPUT, f"{op} of {len(data)} bytes differs from that of blocks")
                )
            answers[_operation(op)] = made
            data = made.output
    return answers, first
