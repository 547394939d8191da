"""A choice for a device as tables: what fits and what it costs there, why the first is first, what to relax."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

from msgspec import Struct

from ..analyse import choose
from ..analyse.choose import AIMS, Device, Limits
from ..analyse.rank import value
from ..model.errors import counted
from ..model.protocol import Protocol
from ..model.row import Row, Value
from ..model.target import load_target
from .ranking import of_authors
from .results import ON, column, run_of, shared, some, title_of
from .sheet import Cell, Column, Line, Sheet, spaced

#: how cycles came about
WEIGHED, BETWEEN, BEYOND, BLOCKS = "weighed", "interpolated", "extrapolated", "by blocks"
#: limits as options
_OPTIONS = {"rom": "--rom", "ram": "--ram", "cycles": "--rate"}
_CYCLES, _ROM, _RAM = Column("cycles", "cycles", "cycles", 0), column("rom"), column("ram")
#: a figure of a row
_Cost = Callable[[Row], float | None]


class Choice(Struct, frozen=True, kw_only=True):
    """A choice for one target: the ``candidates`` with their ``cycles`` at the ``size`` (associated data, message), and
    those ``fitting``, the least ``by`` an aim first. ``unknown`` are those whose cycles at the size nobody knows,
    ``others`` have no figure at all that can be compared, and ``left_out`` says which runs are no candidates.
    ``keyed``: each message has its key schedule; ``measured``: all that can be weighed was."""

    target: str
    primitive: str
    size: tuple[int, int]
    decrypt: bool
    keyed: bool = False
    by: str = AIMS[0]
    device: Device
    limits: Limits
    candidates: Sequence[Row]
    fitting: Sequence[Row]
    unknown: Sequence[str] = ()
    others: Set[str] = frozenset()
    left_out: Sequence[str] = ()
    protocol: Protocol | None = None
    measured: bool = False
    notes: Sequence[str] = ()

    @property
    def first(self) -> Row | None:
        """The one to take."""
        return self.fitting[0] if self.fitting else None

    @property
    def advised(self) -> Sequence[Row]:
        """What fits, or what would within other limits."""
        return self.fitting or [r.row for r in choose.relaxed(self.candidates, self.limits)]


def shown(fitting: Sequence[Row], top: int, by: str = AIMS[0]) -> list[Row]:
    """The first of what fits, each implementation with its best flags, and all that nothing beats."""
    ordered = choose.ordered(fitting, by)
    kept = choose.front(ordered)
    best = choose.best_flags(ordered, kept)
    return [r for k, r in enumerate(best) if k < top or r["run"] in kept]


def sheets(answer: Choice, top: int) -> list[Sheet]:
    """The table of what fits, or of what nearly does where nothing fits."""
    device = load_target(answer.target)
    rows = shown(answer.fitting, top, answer.by)
    kind = answer.candidates[0]["device"] if answer.candidates else None
    title = f"{title_of(device.name, kind)}: {_call(answer)}"
    notes = [
        *_reasons(answer),
        *_assumptions(answer, rows),
        *_of_device(answer, rows or answer.candidates),
        *of_authors(answer.advised),
        *answer.notes,
    ]
    if not rows:
        return [_near(answer, title, notes)]
    kept = choose.front(answer.fitting)
    today = used(answer.protocol, answer.candidates, answer.fitting)
    beside = [r for r in today if r["run"] not in {s["run"] for s in rows}]
    fit = {r["run"] for r in answer.fitting}
    costs = _costs(answer.device)
    columns = [
        column("label"), column("flags"), _CYCLES, Column("by", "by"), _ROM, _RAM,
        *(c for c, _ in costs), Column("front", "Pareto front"),
        *([Column("today", "used today")] if today else ()),
    ]  # fmt: skip
    now = {r["run"]: "yes" if r["run"] in fit else "yes, does not fit" for r in today}
    lines = [
        Line(
            [
                *(r[n] for n in ("label", "flags", "cycles", "by", "rom", "ram")),
                *(cost(r) for _, cost in costs),
                "yes" if r["run"] in kept else "",
                *([now.get(r["run"], "")] if today else ()),
            ],
            run_of(r),
        )
        for r in (*rows, *beside)
    ]
    every = choose.best_flags(answer.fitting, kept)
    more = len(every) - len({r["run"] for r in (*rows, *beside)} & {r["run"] for r in every})
    left = [f"{more} more fit; --top {len(every)} shows them"] if more > 0 else []
    return [Sheet(title, f"choice-{answer.target}", columns, lines, notes=[*notes[:1], *left, *notes[1:]])]


def table(answers: Sequence[Choice]) -> Sheet:
    """The first on each target."""
    rated = next((a.device for a in answers), Device(1.0))
    costs = _costs(rated)
    columns = [
        column("target"), Column("tier", "cycle counts"), Column("fit", "fit", "", 0), column("label"), column("flags"),
        _CYCLES, Column("by", "by"), _ROM, _RAM, *(c for c, _ in costs),
        Column("relax", "nothing fits, but would with"),
    ]  # fmt: skip
    lines = []
    for a in answers:
        kind = a.candidates[0]["device"] if a.candidates else None
        cells: list[Cell] = [a.target, ON.get(kind, load_target(a.target).tier), len({r["label"] for r in a.fitting})]
        if a.first is None:
            cells += [None] * (len(columns) - len(cells) - 1)
            cells.append("; ".join(_relaxations(a)) or "; ".join(a.notes))
            lines.append(Line(cells))
        else:
            first = a.first
            cells += [first[n] for n in ("label", "flags", "cycles", "by", "rom", "ram")]
            cells += [cost(first) for _, cost in _costs(a.device)]
            lines.append(Line([*cells, ""], run_of(first)))
    title = f"{_call(answers[0])}: the first on each target" if answers else ""
    by = answers[0].by if answers else AIMS[0]
    least = _least(by).removeprefix("the ")
    notes = [f"first: {least}{', and with them least energy,' if by == AIMS[0] else ''} of what fits"]
    if answers:
        notes += _assumptions(answers[0], [a.first for a in answers if a.first])
        notes.append("energy, clock and voltage: each target's (steelyard targets --json)")
        notes += of_authors(r for a in answers for r in (a.advised[:1] if a.first else a.advised))
    if left := [f"{len(a.unknown)} on {a.target}" for a in answers if a.unknown]:
        notes.append(f"not compared, for lack of cycles at this size: {', '.join(left)}")
    notes += [f"{a.target}: {text}" for a in answers for text in a.left_out]
    return Sheet(title, "choice", columns, lines, notes=notes)


def without_cycles(labels: Sequence[str]) -> tuple[str, ...]:
    """That some have no cycles of a block, or of its bytes."""
    return (f"without the cycles of a block, so not compared: {some(labels)}",) if labels else ()


def without_memory(labels: Sequence[str]) -> tuple[str, ...]:
    """That some have no figure of ROM or RAM, so that nothing says whether they fit."""
    return (f"without ROM or RAM, so not compared: {some(labels)}",) if labels else ()


def without(labels: Sequence[str], *, measured: bool) -> tuple[str, ...]:
    """That some have no figure for the size, and how to get one, unless they were to be ``measured`` already."""
    if not labels:
        return ()
    said = f"without points to interpolate between, or not for such messages, so not compared: {some(labels)}"
    return (said if measured else f"{said}; --measure weighs them",)


def not_weighed(gone: Iterable[str], failed: Iterable[str]) -> list[str]:
    """That some could not be weighed at the size: their sources are ``gone``, or there is no figure at it."""
    said = {
        "not weighed, because their sources are not here as they were": gone,
        "weighing gave no figure at this size, for the run failed (steelyard list runs says why)": failed,
    }
    return [f"{text}: {some(sorted(names))}" for text, labels in said.items() if (names := [*labels])]


def _advised(answer: Choice, text: str, advice: str) -> str:
    """A sentence with the advice to measure, unless that was done."""
    return text if answer.measured else f"{text}; {advice}"


def _call(answer: Choice) -> str:
    adlen, mlen = answer.size
    what = "decryption" if answer.decrypt else "encryption"
    data = f" and {counted(adlen, 'byte')} of associated data" if answer.primitive == "crypto_aead" else ""
    name = f"{answer.protocol.title}, " if answer.protocol else ""
    return f"{name}{what} of {counted(mlen, 'byte')}{data}"


def _costs(device: Device) -> list[tuple[Column, _Cost]]:
    """Columns of what a message costs the device, as far as it is known."""
    costs: list[tuple[Column, _Cost]] = [
        (Column("energy", "energy (modelled)", "µJ", 2), lambda r: _micro(choose.joules(_cycles(r), device)))
    ]
    if device.rate:
        costs.append((Column("share", "of the CPU", "%", 3), lambda r: choose.share(_cycles(r), device)))
    if device.charge:
        costs.append((Column("life", "battery", "days", 0), lambda r: choose.life(_cycles(r), device)))
    return costs


def _micro(joules: float | None) -> float | None:
    return None if joules is None else joules * 1e6


def _cycles(row: Row) -> float:
    return value(row, "cycles") or 0.0


def _reasons(answer: Choice) -> list[str]:
    """Why the first is first, what else there is to take, and how today's cipher stands to it."""
    first = answer.first
    if first is None:
        return []
    others = [r for r in answer.fitting if r["label"] != first["label"]]
    number = len({r["label"] for r in answer.fitting})
    if not others:
        left = {*answer.unknown, *answer.others}
        alone = (
            f"nothing else could be compared: {counted(len(left), 'other')} may fit" if left else "nothing else fits"
        )
        return [f"{first['label']} is first: {alone}", *_today(answer, first)]
    second, by = others[0], answer.by
    less = _less(first, second, by)
    gap = "less than 1 %" if less < 1 else f"{less:.0f} %" if less < 99.5 else "more than 99 %"
    fewer, many = ("fewer", "many") if by == "cycles" else ("less", "much")
    beside = f"{gap} {fewer} than {second['label']}" if less > 0 else f"as {many} as {second['label']}"
    said = f"{first['label']} is first: of {number} that fit it needs {_least(by)}, {_amount(first, by)}, {beside}"
    aims = [n for n in AIMS if n != by]
    leading = [(n, min(answer.fitting, key=lambda r: (value(r, n) or 0.0, value(r, by) or 0.0))) for n in aims]
    own = [n for n, r in leading if value(r, n) == value(first, n)]
    said += f", and {' and '.join(map(_least, own))}" if own else ""
    more = [
        f"{_least(n).removeprefix('the ')}: {r['label']} {r['flags']}, {_amount(r, n)}, {_times(r, first, by)}"
        for n, r in leading
        if n not in own and value(first, by)
    ]
    unsure = first["by"] not in (WEIGHED, BLOCKS) or second["by"] not in (WEIGHED, BLOCKS)
    doubt = (
        [_advised(answer, "the first two are nearer than an interpolation is exact", "--measure weighs them")]
        if by == "cycles" and unsure and less < _NEAR
        else []
    )
    return [said, *more, *doubt, *_today(answer, first)]


def _less(first: Row, second: Row, name: str) -> float:
    """By how many percent the first is below the second."""
    one, other = value(first, name) or 0.0, value(second, name) or 0.0
    return 100 * (1 - one / other) if other else 0.0


def _least(name: str) -> str:
    return "the fewest cycles" if name == "cycles" else f"the least {column(name).title}"


def _amount(row: Row, name: str) -> str:
    return f"{spaced(value(row, name) or 0.0)}{'' if name == 'cycles' else ' bytes'}"


def _times(row: Row, first: Row, name: str) -> str:
    title = "cycles" if name == "cycles" else column(name).title
    return f"{_ratio((value(row, name) or 0.0) / (value(first, name) or 1.0))} times the {title}"


def _ratio(times: float) -> str:
    if 0.945 <= times < 1.095:  # what is near 1 is told from it
        return f"{times:.2f}"
    return f"{times:.2g}" if times < 99.5 else spaced(round(times))


#: percent within which interpolated cycles decide nothing
_NEAR = 5.0


def used(protocol: Protocol | None, candidates: Sequence[Row], fitting: Sequence[Row]) -> list[Row]:
    """What is used today with the protocol, each variant by its cheapest implementation that fits, or of all where none
    does."""
    today = protocol.today if protocol else ()
    first: dict[Value, Row] = {}
    for r in (*choose.ordered(fitting), *choose.ordered(candidates)):
        if r["variant"] in today:
            first.setdefault(r["variant"], r)
    return list(first.values())


def _today(answer: Choice, first: Row) -> list[str]:
    """What is used today with the protocol."""
    if answer.protocol is None:
        return []
    rows = used(answer.protocol, answer.candidates, answer.fitting)
    if not rows:
        return [f"used today, and not among the results: {', '.join(answer.protocol.today)}"]
    row = rows[0]
    if row["label"] == first["label"]:
        return []
    fits = "" if row["run"] in {r["run"] for r in answer.fitting} else "; it does not fit"
    times = [_times(row, first, n) for n in dict.fromkeys((answer.by, "cycles")) if value(first, n)]
    return [f"used today: {row['label']}, {', '.join(times)}{fits}"]


def _relaxations(answer: Choice) -> list[str]:
    """Which limit to relax, and to what, so that something fits."""
    return [
        f"{' '.join(f'{_OPTIONS[name]} {_needed(name, least, answer.device)}' for name, least in r.limits.items())}: "
        f"{r.row['label']} {r.row['flags']}"
        for r in choose.relaxed(answer.candidates, answer.limits)
    ]


def _needed(name: str, least: float, device: Device) -> str:
    """A limit as its option has it; a rate is rounded down, for the next one would not fit."""
    if name != "cycles":
        return f"{least:.0f}"
    rate = device.clock / least
    unit, times = next(((u, n) for u, n in (("/s", 1), ("/min", 60), ("/h", 3600)) if rate * n >= 1), ("/day", 86400))
    return f"{int(rate * times * 100) / 100:.2f}".rstrip("0").rstrip(".") + unit


def _near(answer: Choice, title: str, notes: Sequence[str]) -> Sheet:
    """That nothing fits, and what would."""
    if not answer.candidates:
        return Sheet(
            title, f"choice-{answer.target}", [column("label")], [],
            notes=answer.notes,
        )  # fmt: skip
    columns = [Column("relax", "nothing fits, but would with"), column("label"), column("flags"),
               _CYCLES, _ROM, _RAM]  # fmt: skip
    lines = []
    for r in choose.relaxed(answer.candidates, answer.limits):
        limits = " ".join(f"{_OPTIONS[n]} {_needed(n, least, answer.device)}" for n, least in r.limits.items())
        cells = [limits, *(r.row[n] for n in ("label", "flags", "cycles", "rom", "ram"))]
        lines.append(Line(cells, run_of(r.row)))
    said = f"of {counted(len({r['label'] for r in answer.candidates}), 'implementation')} none is within all limits"
    return Sheet(title, f"choice-{answer.target}", columns, lines, notes=[said, *notes])


def _assumptions(answer: Choice, rows: Sequence[Row]) -> list[str]:
    """What the figures of these rows rest on, on any target."""
    said = [
        "security is not weighed: names restrict the choice, such as 'ascon*' 'aes*'",
        "ROM and RAM: of both directions, without the caller's buffers and keys; K is 1024 bytes",
        "RAM: static data, and the most stack and heap that any call of the run took (docs/definitions.md)",
    ]
    if answer.primitive == "crypto_block":
        of = "a key schedule and the blocks" if answer.keyed else "the blocks alone"
        said.append(f"cycles: of {of}, without a mode; RAM holds the context, ROM both key schedules")
        operation = "decrypt" if answer.decrypt else "encrypt"
        if any(choose.further_cycles(r, operation) != value(r, f"cycles_{operation}_mean") for r in rows):
            said.append("where there are caches, a message's first block finds them empty, further ones do not")
    else:
        said.append("each call expands its key, as the API has it; a packet's other costs are not counted")
    ways = {r["by"] for r in rows}
    if BETWEEN in ways:
        text = _advised(answer, "interpolated: between the points of the run, by blocks", "--measure weighs them")
        said.append(f"{text} (docs/definitions.md)")
    if BEYOND in ways:
        text = "extrapolated: the size is beyond the run's points"
        said.append(_advised(answer, text, "--measure weighs what the chip has room for"))
    if answer.device.charge and answer.device.joules is not None:
        said.append("battery: all of its charge used, none lost in regulators or by itself")
    return said


def _of_device(answer: Choice, rows: Sequence[Row]) -> list[str]:
    """What they rest on there."""
    d, target = answer.device, load_target(answer.target)
    said = []
    if target.energy is not None:
        said.append(f"energy: cycles x {target.nanojoule_per_cycle:.3g} nJ ({target.energy.source})")
    if d.rate:
        said.append(f"CPU: at {d.clock / 1e6:g} MHz")
    if d.charge and d.joules is None:
        said.append(f"battery: no current of {answer.target} is known, so nothing says how long it lasts")
    elif d.charge:
        idle = f"{d.idle * 1e6:g} µA all the time" if d.idle else "nothing else (--idle)"
        said.append(f"battery: {d.charge / 3.6:g} mAh at {d.volts:g} V; besides the messages it feeds {idle}")
    return [*said, *shared(rows, ("compiler",))]
