"""El-Hajj and Fadlallah's study as tables and figures: their Table II, figures 1a to 1l and 2, Tables III, 5 and 6, and
the score tables, for whatever targets results are stored of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from ...analyse import rank, study
from ...analyse.study import MEASURES, Cipher, Group, Measure, Part
from ...model import toml
from ...model.errors import counted
from ...model.row import Row
from ...model.target import load_target
from .. import figure, report, results
from ..report import Drawing, Report, Section
from ..results import run_of
from ..sheet import ANY, Cell, Column, Line, Sheet

_FOLDER = Path(__file__).parent
#: how many are drawn of each measure, and how many moved most
BEST, WORST, MOVED = 10, 5, 15
_KINDS = {"crypto_block": "block ciphers", "crypto_aead": "AEADs"}
_SIZES = {"key": "key", "block": "block"}


class Range(toml.Table, frozen=True, kw_only=True):
    """What the study found of a measure on a chip, as targets call it: ``least`` and ``most`` in our unit, as its words
    and units stand, and how they have to be ``read``."""

    chip: str
    measure: str
    published: str
    least: float
    most: float
    read: str


class _Ranges(toml.Table, frozen=True, kw_only=True):
    ranges: tuple[Range, ...]


@cache
def ranges() -> tuple[Range, ...]:
    """All ranges that the study has."""
    return toml.load(_FOLDER / "ranges.toml", _Ranges).ranges


def published(target: str) -> bool:
    """Whether the study has figures of the target's chip."""
    return load_target(target).chip_name in {r.chip for r in ranges()}


def compose(title: str, rows: Sequence[Row], targets: Sequence[str], notes: Sequence[str]) -> Report:
    """The study of these verified rows on these targets, in this order."""
    rows = rank.apart(rows)
    of: dict[str, list[Cipher]] = {}
    kept: list[Row] = []
    said = list(notes)
    for target in targets:
        groups = results.grouped([r for r in rows if r["target"] == target])
        largest: dict[str, list[Row]] = {}
        for (_, primitive, *_), group in groups.items():
            if len(group) > len(largest.get(primitive, ())):
                largest[primitive] = group
        chosen = [r for group in largest.values() for r in group]
        if len({r["flags"] for r in chosen}) > 1:
            chosen = [r | {"label": f"{r['label']} {r['flags']}"} for r in chosen]
        if left := sum(map(len, groups.values())) - len(chosen):
            said.append(f"{counted(left, 'row')} of other devices, compilers or models on {target} left out")
        of[target] = study.ciphers(chosen, load_target(target))
        kept += [c.row for c in of[target]]
        if unknown := study.without_key(of[target]):
            text = f"of unknown key size on {target}, so in no group by key, and parts are of AES-128's"
            said.append(f"{text}: {results.some(unknown)}")
        for name, lost in study.without_aes(of[target]).items():
            said.append(f"without {name} on {target}, so in no part of AES there: {results.some(lost)}")
        if any(study.is_warm(c) for c in of[target]):
            said.append(f"on {target} cycles of block ciphers are of calls right after others, which find caches warm")
    named = {c.variant for some in of.values() for c in some}
    lead = f"{counted(len(named), 'cipher')} on {counted(len(of), 'target')}, each by its fastest implementation there"
    lead = f"{'; '.join([lead, *results.measured_on(kept)])}."
    parts = {target: study.parts(some) for target, some in of.items()}
    summary = [s for by in _SIZES for s in _winners(parts, by)]
    if len(targets) > 1:
        summary += [_moved(of, targets[0], targets[1], p) for p in _KINDS]
    return Report(
        title,
        lead,
        said,
        [s for s in [*summary, _published(of)] if s.lines],
        [_section(target, of[target], parts[target]) for target in of],
        None,
        report.claims(targets, kept),
        report.provenance(kept),
    )


def _section(target: str, of: Sequence[Cipher], parts: Sequence[Part]) -> Section:
    figures: list[Drawing] = []
    tables: list[Sheet] = []
    boards = any(c.row.get("device") in results.ON for c in of)
    for primitive, kind in _KINDS.items():
        mine = [c for c in of if c.primitive == primitive]
        its = [p for p in parts if p.cipher.primitive == primitive]
        if not mine:
            continue
        how = f", {results.evidence(mine[0].row.get('device'))}" if boards else ""
        ranked, power = study.alike(mine, load_target(target)), _ranked_power(mine)
        what = f"{target}, {kind}{how}"
        figures += [_best(what, ranked, power), *([_against(what, its)] if its else [])]
        made = [
            _measures(target, kind, mine),
            _parts(target, kind, its),
            *(_groups(target, kind, its, by) for by in _SIZES),
            _scores(target, kind, ranked, "as published", study.PAPER, power),
            _scores(target, kind, ranked, "nothing counted twice", study.DISTINCT),
        ]
        tables += [replace(t, title=f"{t.title}{how}") for t in made if t.lines]  # last: sheets of a file are cut short
    return Section(target, report.titled(target, [c.row for c in of]), figures, tables)


def _power(of: Sequence[Cipher]) -> list[str]:
    """Says whose power is a meter's."""
    metered = [c.variant for c in of if study.is_metered(c)]
    whose = f" for {results.some(metered)}, else modelled" if len(metered) < len(of) else ""
    return [f"power and energy: measured by a meter{whose}"] if metered else []


def _ranked_power(of: Sequence[Cipher], where: str = "") -> list[str]:
    """Says whose power is ranked; see :func:`.study.alike`."""
    metered = [c.variant for c in of if study.is_metered(c)]
    text = f"power and energy{where}: modelled, if at all, because a meter measured only {results.some(metered)}"
    return [text] if 0 < len(metered) < len(of) else [f"power and energy{where}: measured by a meter"] * bool(metered)


def _column(m: Measure, title: str = "") -> Column:
    return Column(m.name, title or m.title, m.unit, m.digits)


_CIPHER = (Column("variant", "cipher"), Column("implementation", "implementation"))
_BITS = (Column("key", "key", "bits", 0), Column("block", "block", "bits", 0))


def _cells(c: Cipher) -> list[Cell]:
    implementation = str(c.row["label"]).partition("/")[2]  # it says which of two sources of one name
    return [c.variant, implementation, c.key or None, c.block or None]


def _measures(target: str, kind: str, of: Sequence[Cipher]) -> Sheet:
    shown = [m for m in MEASURES.values() if any(c.figures[m.name] is not None for c in of)]
    columns = [*_CIPHER, *_BITS, *map(_column, shown)]
    lines = [Line([*_cells(c), *(c.figures[m.name] for m in shown)], run_of(c.row)) for c in of]
    if power := _power(of):
        columns.append(Column("power_from", "power from"))
        sources = ("meter" if study.is_metered(c) else "model" if c.figures["power"] else None for c in of)
        lines = [replace(line, cells=[*line.cells, source]) for line, source in zip(lines, sources, strict=True)]
    notes = [f"without a figure for any: {', '.join(left)}"] if (left := _lacking(of)) else []
    return Sheet(
        f"{target}, {kind}: all measures (Table II)",
        f"study-{target}-{of[0].primitive}",
        columns,
        lines,
        notes=[*notes, *power],
    )


def _lacking(of: Sequence[Cipher]) -> list[str]:
    return [m.title for m in MEASURES.values() if all(c.figures[m.name] is None for c in of)]


def _best(what: str, of: Sequence[Cipher], notes: Sequence[str] = ()) -> Drawing:
    data: figure.Data = []
    for at, m in enumerate(MEASURES[name] for name in study.DRAWN):
        order = study.ranked(of, m.name)
        if len({c.figures[m.name] for c in order}) < 2:  # modelled power is one figure for all
            continue
        places = _places([c.figures[m.name] or 0.0 for c in order])
        for k in extremes(len(order)):
            among = "best ten" if k < BEST else "worst five"
            data.append(
                {"order": at, "panel": f"{m.title}, {m.unit}", "measure": m.name, "rank": places[k], "among": among}
                | {"name": order[k].variant, "value": order[k].figures[m.name], "run": order[k].row["run"]}
            )
    return _drawing("best", f"{what}: best ten and worst five", data, ("panel", "rank", "name", "value"), notes)


def _places(values: Sequence[float]) -> list[int]:
    """Places of ordered values: one more than there are better ones, so that equal ones share theirs."""
    first: dict[float, int] = {}
    return [first.setdefault(v, k) for k, v in enumerate(values, 1)]


def extremes(count: int) -> list[int]:
    """Of so many in order the places, from 0, of the best and the worst; all where these are all."""
    return [k for k in range(count) if k < BEST or k >= count - WORST]


def _against(what: str, parts: Sequence[Part]) -> Drawing:
    data: figure.Data = []
    for p in sorted(parts, key=lambda p: (p.cipher.key, p.percent.get("cycles_per_byte", 0.0))):
        if "cycles_per_byte" in p.percent:
            panel = f"key of {p.cipher.key} bits" if p.cipher.key else "key not known"
            data.append(
                {"order": p.cipher.key, "panel": panel, "name": p.cipher.variant, "aes": p.aes}
                | {"value": p.percent["cycles_per_byte"], "run": p.cipher.row["run"]}
            )
    return _drawing("aes", f"{what}: cycles as a part of AES's", data, ("panel", "name", "aes", "value"))


def _drawing(name: str, title: str, data: figure.Data, names: Sequence[str], notes: Sequence[str] = ()) -> Drawing:
    kind = figure.read(_FOLDER / f"{name}.json")
    note = " ".join([kind.note, *(f"{n[0].upper()}{n[1:]}." for n in notes)])
    columns = [Column(n, n, digits=3 if n == "value" else 0 if n == "rank" else None) for n in names]
    lines = [Line([d[n] for n in names], run_of(d)) for d in data]
    numbers = Sheet(title, f"figure-study-{name}", columns, lines, notes=[note])
    return Drawing(figure.specification(kind, data, title), note, numbers)


def _parts(target: str, kind: str, parts: Sequence[Part]) -> Sheet:
    measures = [MEASURES[m] for m in study.AGAINST if any(m in p.percent for p in parts)]
    columns = [*_CIPHER, *_BITS, Column("aes", "AES")]
    columns += [Column(m.name, m.title, "% of AES", 1) for m in measures]
    lines = [
        Line([*_cells(p.cipher), p.aes, *(p.percent.get(m.name) for m in measures)], run_of(p.cipher.row))
        for p in sorted(parts, key=lambda p: p.percent.get("cycles_per_byte", float("inf")))
    ]
    title = f"{target}, {kind}: parts of AES (figure 2)"
    return Sheet(title, f"study-aes-{target}", columns, lines, notes=_energy(m.name for m in measures))


def _energy(measures: Iterable[str]) -> list[str]:
    """Says what parts of AES are of, where energy is among them."""
    return ["energy: of ciphers that a meter measured, as it did AES"] if "energy_per_byte" in measures else []


_GROUP = (
    Column("count", "ciphers", digits=0),
    Column("below", "below 100 %", digits=0),
    Column("mean", "geometric mean", "%", 1),
    Column("total", "sum", "%", 0),
    Column("winner", "least"),
    Column("percent", "its part", "%", 1),
)


def _groups(target: str, kind: str, parts: Sequence[Part], by: str) -> Sheet:
    found = study.groups(parts, by)
    lines = [
        Line([g.size, MEASURES[g.measure].title, *_group(g)], [r for c in g.winners for r in run_of(c.row)])
        for g in found
    ]
    columns = [Column(by, by, "bits", 0), Column("measure", "measure"), *_GROUP]
    notes = [
        "the sum is the study's; the mean is what ciphers of one group have in common whatever their number",
        "the study also adds up percentages of several measures, which are of different things: not done here",
        *_energy(g.measure for g in found),
    ]
    return Sheet(f"{target}, {kind} by {by}: against AES", f"study-{by}-{target}", columns, lines, notes=notes)


def _group(g: Group) -> list[Cell]:
    return [g.count, g.below, g.mean, g.total, _names(g), g.percent]


def _names(g: Group) -> str:
    return ", ".join(c.variant for c in g.winners)


def _winners(parts: Mapping[str, Sequence[Part]], by: str) -> list[Sheet]:
    """Of each size the least part of AES on each target, side by side (Tables 5 and 6)."""
    sheets = []
    for primitive, kind in _KINDS.items():
        found = {
            target: {(g.size, g.measure): g for g in study.groups([p for p in some if _is(p, primitive)], by)}
            for target, some in parts.items()
        }
        keys = sorted({k for of in found.values() for k in of}, key=lambda k: (k[0], study.AGAINST.index(k[1])))
        columns = [Column(by, by, "bits", 0), Column("measure", "measure")]
        for target in parts:
            columns += [Column(f"{target}_below", f"{target}: below 100 %"), Column(f"{target}_least", "least")]
            columns.append(Column(f"{target}_part", "its part", "%", 1))
        lines = []
        for size, measure in keys:
            cells: list[Cell] = [size, MEASURES[measure].title]
            runs: list[int] = []
            for of in found.values():
                g = of.get((size, measure))
                cells += [f"{g.below} of {g.count}", _names(g), g.percent] if g else [None, None, None]
                runs += [r for c in g.winners for r in run_of(c.row)] if g else []
            lines.append(Line(cells, runs))
        rows = [p.cipher.row for some in parts.values() for p in some if _is(p, primitive)]
        notes = [*results.measured_on(rows), *_energy(m for _, m in keys)]
        sheets.append(Sheet(f"{kind} by {by}: winners against AES", f"study-winners-{by}", columns, lines, notes=notes))
    return sheets


def _is(part: Part, primitive: str) -> bool:
    return part.cipher.primitive == primitive


def _moved(of: Mapping[str, Sequence[Cipher]], one: str, other: str, primitive: str) -> Sheet:
    both = [[c for c in of[target] if c.primitive == primitive] for target in (one, other)]
    found = study.moved(both[0], both[1], "cycles_per_byte")
    columns = [Column("variant", "cipher"), Column("one", f"place on {one}"), Column("other", f"place on {other}")]
    columns.append(Column("moved", "places"))
    lines = [Line([a.variant, x, y, f"{x - y:+g}"], (*run_of(a.row), *run_of(b.row))) for a, b, x, y in found if x != y]
    notes = [f"places by cycles for a byte among {counted(len(found), 'cipher')} that both have; + is up from {one}"]
    notes += [f"{len(lines) - MOVED} more moved no further"] if len(lines) > MOVED else []
    notes += [] if lines else ["each has the same place on both"]
    notes += results.measured_on(c.row for a, b, *_ in found for c in (a, b))
    title = f"{_KINDS[primitive]}: what moved most from {one} to {other}"
    return Sheet(title, f"study-moved-{primitive}", columns, lines[:MOVED], notes=notes)


def _scores(
    target: str, kind: str, of: Sequence[Cipher], what: str, measures: Sequence[str], power: Sequence[str] = ()
) -> Sheet:
    used = [m for m in measures if any(c.figures[m] is not None for c in of)]
    made = study.scores(of, used)
    columns = [Column("place", "place"), Column("variant", "cipher"), Column("score", "sum of ranks", "", 1)]
    figures = {c.row["run"]: c.figures for c in of}
    columns += [_column(MEASURES[m]) for m in used]
    lines = [
        Line([p.rank, str(p.row["variant"]), p.value, *(figures[p.row["run"]][m] for m in used)], run_of(p.row))
        for p in made.places
    ]
    notes = ["equal figures share the mean of their places", *power]
    if left := [MEASURES[m].title for m in measures if m not in used]:
        notes.append(f"without {', '.join(left)}, which none has here")
    if made.left_out:
        names = ", ".join(str(r["variant"]) for r in made.left_out)
        notes.append(f"not ranked, because a figure is missing: {names}")
    if what == "as published":
        notes.append(
            "throughput and latency are one figure at one block's size, and energy follows from power and them"
        )
    return Sheet(f"{target}, {kind}: score table, {what}", f"study-score-{target}", columns, lines, notes=notes)


def _published(of: Mapping[str, Sequence[Cipher]]) -> Sheet:
    """The study's ranges beside ours, as far as they are of the same platform."""
    columns = [Column("target", "target"), Column("measure", "measure"), Column("published", "published")]
    columns += [Column("unit", "unit"), Column("least", "our least", "", ANY), Column("most", "our most", "", ANY)]
    columns += [Column("within", "of ours within"), Column("read", "how the published figure is read")]
    lines = []
    ranked = {target: study.alike(some, load_target(target)) for target, some in of.items() if published(target)}
    for target, r in ((t, r) for t in ranked for r in ranges() if r.chip == load_target(t).chip_name):
        m = MEASURES[r.measure]
        having = [(v, c) for c in ranked[target] if (v := c.figures[m.name]) is not None]
        ours = sorted(having, key=lambda h: (h[0], h[1].variant))
        within = f"{sum(r.least <= v <= r.most for v, _ in ours)} of {len(ours)}"
        least, most = (round(v, m.digits) for v, _ in (ours[0], ours[-1])) if ours else (None, None)
        runs = [run for _, c in (*ours[:1], *ours[-1:]) for run in run_of(c.row)]
        lines.append(Line([target, m.title, r.published, m.unit, least, most, within, r.read], runs))
    notes = [
        "published: the least and the most in El-Hajj and Fadlallah, section IV, with their units as they stand there",
        "its ranges are of block ciphers and AEADs together, and so are ours here, which ranks nothing",
        "its rounds and code size are not here: one is not a cost, and what the other counts beside ROM is not said",
        *results.measured_on(c.row for some in ranked.values() for c in some),
        *(n for target in ranked for n in _ranked_power(of[target], f" on {target}")),
    ]
    return Sheet("Published ranges and ours", "study-ranges", columns, lines, notes=notes)
