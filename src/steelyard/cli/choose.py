"""``steelyard choose``: which implementations fit a device, and which of them is the one to take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

import click
from msgspec.structs import replace

from ..analyse import choose, expression
from ..analyse.answer import Together, answered, of_one_device, recency, run_number, workload_name
from ..analyse.choose import Device, Limits
from ..analyse.rank import value
from ..model.campaign import Campaign
from ..model.errors import UserError, counted, cut, refuse, unknown
from ..model.metric import REFUSED, further
from ..model.protocol import PROTOCOLS, Protocol
from ..model.quantity import BYTES, CHARGE, CURRENT, RATE, VOLTAGE, quantity
from ..model.row import Row, Value, grouped
from ..model.target import load_target, target_names
from ..model.variant import bundled_folders, rate_of
from ..model.workload import workload
from ..publish import choice
from ..publish.choice import Choice
from ..publish.ranking import unjudged
from ..publish.results import some
from ..verify.known import readings
from . import options, select
from .answers import found
from .options import command

#: how many are shown besides those that nothing beats
TOP = 10
PRIMITIVES = ("crypto_aead", "crypto_block")
#: what tells setups apart beside workload and generation
_SETUP = ("label", "digest", "device", "flags")
#: workloads to interpolate in, the best last; others before them, by how many sizes they have
_BEST = ("gmu", "vectors", "nist-grid", "default")


class Choose(options.Answering, frozen=True, kw_only=True):
    """What ``choose`` is asked."""

    target: str
    table: bool
    primitive: str
    mlen: int | None
    adlen: int | None
    workload: str
    decrypt: bool
    key_per_message: bool
    rate: str
    rom: str
    ram: str
    battery: str
    voltage: str
    idle: str
    by: str
    measure: bool
    top: int | None


def _bytes(name: str, help: str, default: int | None) -> options.Declared:
    return click.option(name, type=click.IntRange(0, 0x7FFF), default=default, metavar="BYTES", help=help)


@command(
    Choose,
    click.argument("what", nargs=-1, metavar="[NAME]...", help="Families, variants or implementations. Default: all."),
    options.text("--target", "-t", metavar="TARGET", help="The device."),
    options.flag("--table", help="All targets that have results, each with its first."),
    _bytes("--mlen", "Bytes of a message.", None),
    _bytes("--adlen", "Bytes of its associated data. Default: 0, or a protocol's.", None),
    options.text(
        "--workload", "-w", metavar="NAME|AD/M", help="A protocol's usual message, or of --mlen bytes: lorawan, ble."
    ),
    options.text("--rate", metavar="RATE", help="Messages: 5/s, 1/min, 100/day."),
    options.text("--rom", metavar="BYTES", help="ROM that there is for it, such as 4K."),
    options.text("--ram", metavar="BYTES", help="RAM likewise: stack, static data and heap."),
    options.text("--battery", metavar="CHARGE", help="Charge of the battery, such as 230mAh; needs --rate."),
    options.text("--voltage", metavar="VOLTS", help="Its voltage. Default: the target's data sheet's."),
    options.text("--idle", metavar="CURRENT", help="What flows all the time, such as 2uA. Default: nothing."),
    options.flag("--decrypt", help="The device decrypts."),
    options.flag("--key-per-message", help="With crypto_block: a key schedule for each message."),
    options.text("--primitive", metavar="PRIMITIVE", default="crypto_aead", help="Or crypto_block."),
    options.where,
    click.option(
        "--by",
        type=click.Choice(choose.AIMS),
        default=choose.AIMS[0],
        show_default=True,
        help="What the first has least of.",
    ),
    options.number("--top", "-n", help=f"How many are shown besides the Pareto front. Default: {TOP}."),
    options.flag(
        "--measure", help="Weigh what is shown at these sizes, and what has no points, instead of interpolating."
    ),
    options.tables,
    options.db,
)
def verb(ask: Choose) -> int:
    """Choose an implementation for a device: what fits, what it costs there, how long the battery lasts."""
    if ask.target and ask.table:
        raise UserError("--target is the device to choose for, --table is for all of them: leave one of them out")
    if not (ask.target or ask.table):
        raise UserError("give --target, the device to choose for, or --table for all of them")
    if "," in ask.target:
        raise UserError(f"--target {cut(ask.target)}: is for one device; --table compares all")
    if ask.primitive not in PRIMITIVES:
        raise unknown("primitive", ask.primitive, PRIMITIVES)
    if ask.table:
        refuse({"--top": ask.top}, "--table has the first of each target; leave it out")
    adlen, mlen = _sizes(ask)
    if ask.target:
        _device(ask, ask.target)  # what is wrong with it, before what is stored of it
    names = [ask.target] if ask.target else _stored(ask.db)
    chosen = [_chosen(ask, name, _stored_of(ask, name, adlen, mlen), (adlen, mlen)) for name in names]
    if ask.table:
        ask.out.give([choice.table(chosen)])
    else:
        ask.out.give(choice.sheets(chosen[0], ask.top or TOP))
    return 0 if any(c.fitting for c in chosen) else 1


def _sizes(ask: Choose) -> tuple[int, int]:
    """Bytes of associated data and of message."""
    if ask.workload:
        if (protocol := PROTOCOLS.get(ask.workload)) is None:
            refuse({"--mlen": ask.mlen, "--adlen": ask.adlen}, "--workload has the sizes; leave it out, or --workload")
        if protocol:
            adlen, mlen = _of_protocol(protocol, ask)
        elif len(sizes := workload(ask.workload).sizes) == 1:
            [(adlen, mlen)] = sizes
        else:
            text = f"--workload {ask.workload}: has {counted(len(sizes), 'size')}; a choice is for one"
            raise UserError(f"{text}: name one of {', '.join(PROTOCOLS)}, or give --mlen and --adlen")
    elif ask.mlen is None:
        raise UserError("give --mlen, the bytes of a message, or --workload")
    else:
        adlen, mlen = ask.adlen or 0, ask.mlen
    if ask.primitive == "crypto_block":
        if ask.adlen:
            raise UserError("a block cipher has no associated data; leave out --adlen, or --primitive")
        if adlen:
            raise UserError(
                f"a block cipher has no associated data, which {ask.workload} has; give --mlen instead of it"
            )
        if not mlen:
            raise UserError("a block cipher takes no cycles for no message; give --mlen of 1 and more")
        refuse({"--measure": ask.measure}, "blocks have one size, and are weighed already; leave it out")
    else:
        more = "each call of an AEAD expands its key, and figures hold it; leave it out, or give --primitive"
        refuse({"--key-per-message": ask.key_per_message}, more)
    return adlen, mlen


def _of_protocol(protocol: Protocol, ask: Choose) -> tuple[int, int]:
    """The usual sizes of a protocol, or those that are given with it. Raises :class:`UserError` for messages that it
    does not have."""
    typical, most = protocol.typical, protocol.most
    mlen = typical.mlen if ask.mlen is None else ask.mlen
    if mlen < protocol.least:
        text = f"--mlen {mlen}: no {protocol.title} has such a message; at least {counted(protocol.least, 'byte')}"
        raise UserError(f"{text} ({protocol.standard}): give a larger one, or leave out --workload")
    if most is not None and mlen > most:
        text = f"--mlen {mlen}: no {protocol.title} has such a message; at most {most} bytes ({protocol.standard})"
        raise UserError(f"{text}: give a smaller one, or leave out --workload")
    if protocol.lengths and mlen not in protocol.lengths:
        near = [max(n for n in protocol.lengths if n < mlen), min(n for n in protocol.lengths if n > mlen)]
        text = f"--mlen {mlen}: no {protocol.title} has so many bytes; the nearest have {near[0]} and {near[1]}"
        raise UserError(f"{text} ({protocol.standard}): give one of them, or leave out --workload")
    adlen = typical.adlen if ask.adlen is None else ask.adlen
    least, longest = protocol.ad or (0, None)
    if adlen < least or (longest is not None and adlen > longest):
        text = f"--adlen {adlen}: no {protocol.title} has so many bytes of them; {_span(least, longest)}"
        raise UserError(f"{text} ({protocol.standard}): leave it out, or --workload")
    if protocol.both is not None and adlen + mlen > protocol.both:
        text = f"--mlen {mlen} with {adlen} of associated data: no {protocol.title} has such a message"
        text += f"; at most {protocol.both} bytes of both"
        raise UserError(f"{text} ({protocol.standard}): give fewer, or leave out --workload")
    return adlen, mlen


def _span(least: int, most: int | None) -> str:
    if most is None:
        return f"it has at least {counted(least, 'byte')}"
    return f"it has {counted(least, 'byte')}" if least == most else f"it has {least} to {most} bytes"


def _stored(db: str | None) -> list[str]:
    with select.store(db, existing=True) as store:
        return [name for name in store.targets() if name in target_names() and load_target(name).is_chip]


def _device(ask: Choose, name: str) -> Device:
    target = load_target(name)
    if not target.is_chip:
        raise UserError(f"--target {name}: is a machine, and no chip; its clock and energy are not known")
    rate = quantity("--rate", ask.rate, RATE, "5/s") if ask.rate else None
    charge = quantity("--battery", ask.battery, CHARGE, "230mAh") if ask.battery else None
    if charge and rate is None:
        raise UserError("--battery: how long it lasts depends on how many messages there are; give --rate")
    if not charge:
        refuse({"--voltage": ask.voltage, "--idle": ask.idle}, "it is of the battery; give --battery")
    nanojoule = target.nanojoule_per_cycle
    return Device(
        clock=target.chip.clock_hz,
        joules=None if nanojoule is None else nanojoule * 1e-9,
        rate=rate,
        charge=charge,
        volts=quantity("--voltage", ask.voltage, VOLTAGE, "3V") if ask.voltage else (target.energy or _NO).volts,
        idle=quantity("--idle", ask.idle, CURRENT, "2uA") if ask.idle else 0.0,
    )


class _Volts(NamedTuple):
    volts: float


_NO = _Volts(0.0)


def _limits(ask: Choose, device: Device) -> Limits:
    return Limits(
        rom=quantity("--rom", ask.rom, BYTES, "4K") if ask.rom else None,
        ram=quantity("--ram", ask.ram, BYTES, "200") if ask.ram else None,
        cycles=device.clock / device.rate if device.rate else None,
    )


class _Stored(NamedTuple):
    """The verified ``rows`` that stand side by side, of all workloads, and what is said of them in ``notes``, among it
    what was ``left_out``; ``others`` are labels without a row here that may fit."""

    rows: list[Row]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    others: frozenset[str]


def _stored_of(ask: Choose, name: str, adlen: int, mlen: int, together: Together = "most") -> _Stored:
    operation = "decrypt" if ask.decrypt else "encrypt"
    columns = ["rom", "ram", "heap", f"cycles_{operation}_mean"]
    if ask.primitive == "crypto_block":
        columns += [
            "context",
            "key_bytes",
            *further(operation),
            *further("encrypt"),
            "encrypt_per_byte",
            *(["cycles_schedule_encrypt_mean", "cycles_schedule_decrypt_mean"] if ask.key_per_message else ()),
        ]
    else:
        columns += [REFUSED, f"{operation}@{adlen}/{mlen}"]
    if ask.where.strip():
        expression.parse(ask.where)  # alone, for what is not a condition by itself could end the brackets around it
    where = f"target == {name} and primitive == {ask.primitive}" + (f" and ({ask.where})" if ask.where.strip() else "")
    mine = {("target", "==", name), ("primitive", "==", ask.primitive)}
    every, older = found(ask.what, where, columns, ask.db, options=mine)
    (rows,), elsewhere = of_one_device(every)
    answer = answered(rows, apart=("workload",), together=together, older=older)
    weighed = [r for r in answer.rows if r["variant"] != "nocrypt"]
    verified = [r for r in weighed if r["outcome"] == "verified"]
    whole = [r for r in verified if value(r, "rom") is not None and value(r, "ram") is not None]
    lacking = {str(r["label"]) for r in verified} - {str(r["label"]) for r in whole}
    good = {str(r["label"]) for r in every if r["outcome"] == "verified" and r["variant"] != "nocrypt"}
    on_others = good - {str(r["label"]) for r in rows}
    left_out = (*elsewhere, *answer.notes)
    notes = (*choice.without_memory(sorted(lacking)), *left_out, *unjudged(weighed, "compared"))
    return _Stored(whole, notes, left_out, frozenset(lacking | on_others))


def _chosen(ask: Choose, name: str, stored: _Stored, size: tuple[int, int]) -> Choice:
    device = _device(ask, name)
    limits = _limits(ask, device)
    rows, notes = stored.rows, stored.notes
    if not rows:
        notes = (*notes, _nothing(ask, name))
    candidates, unknown, notes = _compared(ask, name, rows, size, limits, notes)
    gone: set[str] = set()
    tried: set[tuple[Value, Value]] = set()
    while ask.measure:
        fitting = choose.fitting(candidates, limits)
        shown = choice.shown(fitting, ask.top or TOP, ask.by)
        today = choice.used(PROTOCOLS.get(ask.workload), candidates, fitting)
        shown = [*shown, *(r for r in today if r not in shown), *unknown]
        left = {(r["digest"], r["flags"]) for r in shown if r.get("by") != choice.WEIGHED}
        if left <= tried:
            gone &= (lost := {str(r["label"]) for r in shown if r.get("by") != choice.WEIGHED})
            notes = (*choice.not_weighed(gone, lost - gone), *notes)
            break
        tried |= left
        done, more = _measured(ask, name, shown, size)
        gone |= {*more}
        if done:  # what is shown now may be others
            stored = _stored_of(ask, name, *size, together="newest")
            candidates, unknown, notes = _compared(ask, name, stored.rows, size, limits, stored.notes)
    ordered = choose.ordered(choose.fitting(candidates, limits), ask.by)
    return Choice(
        target=name,
        primitive=ask.primitive,
        size=size,
        decrypt=ask.decrypt,
        keyed=ask.key_per_message,
        device=device,
        limits=limits,
        candidates=candidates,
        by=ask.by,
        fitting=ordered,
        unknown=sorted({str(r["label"]) for r in unknown}),
        others=stored.others,
        left_out=stored.left_out,
        protocol=PROTOCOLS.get(ask.workload),
        measured=ask.measure,
        notes=tuple(notes),
    )


def _nothing(ask: Choose, name: str) -> str:
    """That there is nothing to choose from, and what to do."""
    if ask.what or ask.where.strip():
        text = f"no verified run of {ask.primitive} on {name} has such a name and passes the filter"
        other = "crypto_aead" if ask.primitive == "crypto_block" else "crypto_block"
        return f"{text}; --primitive {other} looks among others, steelyard list runs shows what there is"
    return f"no verified results of {ask.primitive}; steelyard run NAME -t {name} makes some"


def _compared(
    ask: Choose, name: str, rows: Sequence[Row], size: tuple[int, int], limits: Limits, notes: Iterable[str]
) -> tuple[list[Row], list[Row], tuple[str, ...]]:
    """As :func:`_costed`, of the rows that the chip has room for, with all that is to be said."""
    if rows:
        rows, small = _with_room(ask, rows, size, load_target(name).chip.ram.size)
        notes = (*small, *notes) if rows else small
    candidates, unknown, lost = _costed(ask, rows, size, limits)
    return candidates, unknown, (*lost, *notes)


def _with_room(ask: Choose, rows: Sequence[Row], size: tuple[int, int], most: int) -> tuple[list[Row], tuple[str, ...]]:
    """The rows whose RAM the chip has beside the buffers of a call, and what to say of the others. What was weighed at
    this size had the room, and what was weighed there and has no figure had none."""
    (adlen, mlen), exact = size, f"{'decrypt' if ask.decrypt else 'encrypt'}@{size[0]}/{size[1]}"
    taken = adlen + 2 * mlen  # the output is another buffer
    left = most - taken
    had = {_setup(r) for r in rows if r.get(exact) is not None}
    aead = ask.primitive == "crypto_aead"  # blocks have one size, whatever the workload
    none = {_setup(r) for r in rows if aead and workload_name(str(r["workload"])) == f"{adlen}/{mlen}"} - had
    tried = [r for r in rows if _setup(r) not in none]

    def room(r: Row) -> bool:
        return (value(r, "ram") or 0) + _beside(r) <= left

    fit = [r for r in tried if _setup(r) in had or room(r)]
    kept = {str(r["label"]) for r in fit}
    full = {str(r["label"]) for r in rows if _setup(r) in none} - kept
    # nobody knows what heap a call of this size asks for, or stack where it grows
    known = [r for r in rows if not (value(r, "heap") or value(r, REFUSED))]
    ours = full & {str(r["label"]) for r in known if _setup(r) in none and room(r)}
    said = [
        f"weighed: {text} for a call of this size, or the algorithm takes none: {some(sorted(of))}"
        for text, of in (
            ("RAM has no room", full - ours),
            ("the harness's own frames and buffers leave no room in RAM", ours),
        )
        if of
    ]
    lost = {str(r["label"]) for r in tried} - kept
    inputs = "message, associated data" if aead else "message"
    if left < 0:
        return fit, (f"{inputs} and output alone take {taken} of the chip's {most} bytes of RAM", *said)
    text = f"{inputs} and output leave {left} of the chip's {most} bytes of RAM"
    own = "key, nonce and tag" if aead else "key and context"
    need = f"{counted(len(lost), 'implementation')} need{'s' * (len(lost) == 1)} more, with {own}"
    return fit, (*([f"{text}; {need}"] if lost else []), *said)


def _beside(row: Row) -> int:
    """Bytes of key, nonce and tag, or of a block cipher's key and context, as far as they are known."""
    if row["primitive"] == "crypto_block":
        return (choose.key_bytes(row) or 0) + round(value(row, "context") or 0)
    known = readings("crypto_aead", str(row["variant"]))
    return known[0].key + known[0].npub + known[0].out if known else 0


def _costed(
    ask: Choose, rows: Sequence[Row], size: tuple[int, int], limits: Limits
) -> tuple[list[Row], list[Row], tuple[str, ...]]:
    """A row for each setup with its ``cycles`` at the size and ``by`` what means, those without that may fit, and what
    to say of these. Where ROM or RAM are too small and something else fits, nobody asks for cycles."""
    if ask.primitive == "crypto_block":
        return _blocks(ask, rows, size[1])
    operation = "decrypt" if ask.decrypt else "encrypt"
    exact = f"{operation}@{size[0]}/{size[1]}"
    setups = [max(some, key=lambda r: _worth(r, exact)) for some in grouped(rows, _setup).values()]
    today = PROTOCOLS[ask.workload].today if ask.workload in PROTOCOLS else ()
    room = {r["run"] for r in choose.fitting(setups, Limits(rom=limits.rom, ram=limits.ram))}
    small = [r for r in setups if r["run"] in room or r["variant"] in today] if room else setups
    of_setup = {s: [run_number(r) for r in some] for s, some in grouped(rows, _setup).items()}
    made = _interpolated(ask, small, size, operation, exact, of_setup)
    if len(small) < len(setups) and not choose.fitting(made, limits):
        made = _interpolated(ask, setups, size, operation, exact, of_setup)
    has = {r["run"] for r in made}
    unknown = [r for r in small if r["run"] not in has and (not room or r["run"] in room)]
    return made, unknown, choice.without(sorted({str(r["label"]) for r in unknown}), measured=ask.measure)


def _setup(row: Row) -> tuple[object, ...]:
    return tuple(row[n] for n in _SETUP)


def _worth(row: Row, exact: str) -> tuple[bool, int, int, tuple[str, int]]:
    """Which workload of a setup is asked: that with the size, else the one to interpolate in."""
    load = str(row["workload"])
    name = workload_name(load)
    sizes = re.search(r"\((\d+) sizes?,", load)
    number = int(sizes[1]) if sizes else load.count("/")
    return row.get(exact) is not None, _BEST.index(name) if name in _BEST else -1, number, recency()(row)


def _interpolated(
    ask: Choose,
    rows: Sequence[Row],
    size: tuple[int, int],
    operation: str,
    exact: str,
    of_setup: Mapping[tuple[object, ...], Sequence[int]],
) -> list[Row]:
    """The rows with their cycles at a size, between those of one run; what any run ``of_setup`` weighed bounds them."""
    ids = [n for r in rows if r.get(exact) is None for n in of_setup[_setup(r)]]
    with select.store(ask.db, existing=True) as store:
        points = store.cycles(ids, operation) if ids else {}
    made = []
    for r in rows:
        if (cycles := value(r, exact)) is not None:
            made.append(r | {"cycles": cycles, "by": choice.WEIGHED})
        elif value(r, REFUSED):
            continue  # nobody knows whether it takes a size in between
        elif model := choose.model(points.get(run_number(r), {}), _block(r), choose.known_mean(r, operation)):
            weighed = {s: c for n in of_setup[_setup(r)] for s, c in points.get(n, {}).items()}
            model = replace(model, points=weighed | dict(model.points))
            beyond = any(n > most for n, most in zip(size, model.most, strict=True))
            cycles = max(round(model.at(*size)), 0)
            made.append(r | {"cycles": cycles, "by": choice.BEYOND if beyond else choice.BETWEEN})
    return made


@cache
def block_of(variant_name: str) -> int:
    """Bytes of an AEAD's block, as the bundled variant says, wherever the package is."""
    names = (variant_name, *(k.variant for k in readings("crypto_aead", variant_name)))
    folders = bundled_folders("crypto_aead")
    rate = next((rate_of(folders[n]) for n in names if n in folders), None)
    return choose.BLOCK if rate is None else max(rate // 8, 1)


def _block(row: Row) -> int:
    return block_of(str(row["variant"]))


def _blocks(ask: Choose, rows: Sequence[Row], mlen: int) -> tuple[list[Row], list[Row], tuple[str, ...]]:
    made: list[Row] = []
    unknown: list[Row] = []
    newest = {_setup(r): r for r in sorted(rows, key=recency())}
    for r in newest.values():
        block = choose.block_bytes(r)
        given = {"decrypt": ask.decrypt, "key_per_message": ask.key_per_message}
        cycles = choose.blocks_cost(r, block, mlen, **given) if block else None
        if cycles is None:
            unknown.append(r)
            continue
        ram = (value(r, "ram") or 0.0) + (value(r, "context") or 0.0)
        made.append(r | {"cycles": cycles, "by": choice.BLOCKS, "ram": ram})
    return made, unknown, choice.without_cycles(sorted({str(r["label"]) for r in unknown}))


def _measured(ask: Choose, name: str, rows: Sequence[Row], size: tuple[int, int]) -> tuple[bool, list[str]]:
    """Weighs rows at the size, from the sources that they were made of: all of them, for those that another harness or
    compiler weighed do not stand beside them. Whether there was anything to weigh, and whose sources are gone."""
    from ..jobs import Job, identity
    from .plan import plan
    from .weigh import weigh

    if all(r.get("by") == choice.WEIGHED for r in rows):
        return False, []
    wanted = {(r["digest"], r["flags"]): str(r["label"]) for r in rows}
    flags = tuple(dict.fromkeys(str(r["flags"]) for r in rows))
    jobs: dict[tuple[Value, Value], Job] = {}
    others = tuple(p for p in PRIMITIVES if p != ask.primitive)  # a place may have them too
    for place in dict.fromkeys(str(r["origin"] or r["label"]) for r in rows):
        asked = Campaign(implementations=(place,), targets=(name,), flags=flags, workloads=(f"{size[0]}/{size[1]}",))
        with suppress(UserError):  # it has moved
            found = plan(asked.but(exclude=others), baselines=False).jobs
            jobs |= {k: j for j in found if (k := (identity(j.implementation), j.plan.flags)) in wanted}
    weigh(list(jobs.values()), ask.db)
    return bool(jobs), sorted({label for k, label in wanted.items() if k not in jobs})
