"""Orders of merit as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from msgspec.structs import replace

from ..analyse import order, rank
from ..analyse.rank import Place, Ranking
from ..model.errors import UserError, unknown
from ..model.metric import metric, metric_names
from ..model.primitive import PRIMITIVES, cycles_of
from ..model.reasons import Reason
from ..model.row import ANSWERS, Row, Value
from . import by_size, joint
from .results import column, fewer, grouped, heading, measured_on, of_group, run_of, shared, some
from .sheet import Cell, Column, Line, Lines, Sheet

#: what is ranked where nothing is named: the slides' fastest, smallest, least RAM
USUAL = {primitive: (cycles_of(primitive), "rom", "ram") for primitive in PRIMITIVES} | {
    "crypto_block": (cycles_of("crypto_block"), "cycles_schedule_encrypt_mean", "rom", "ram"),
    "lwc_rtl": ("latency_pt_1536", "latency_pt_64", "latency_pt_16", "latency_ad_1536", "latency_hash_1536", "lut"),
}
#: what hardware without a frequency has instead of times
_CYCLES = {
    "latency_pt_1536": "encrypt@0/1536",
    "latency_pt_64": "encrypt@0/64",
    "latency_pt_16": "encrypt@0/16",
    "latency_ad_1536": "encrypt@1536/0",
    "latency_hash_1536": "hash@0/1536",
}
#: orders of merit, and what they are
KINDS = {
    "top": "the first of each metric",
    "places": "all, with their places",
    "merit": "figure of merit (FELICS)",
    "score": "sum of ranks",
    "pareto": "Pareto front",
    "sizes": "hardware's throughput by input size, the best design of each family (GMU)",
    "joint": "software and hardware of each family that has both, the fastest on each target",
}
#: how many of each metric are shown where nobody says
TOP = 10
_PLACE, _WHO = Column("place", "place"), (column("label"), column("flags"))


def unjudged(rows: Iterable[Row], done: str = "ranked") -> tuple[str, ...]:
    """The sentence on rows that have figures, and are ranked by none: nobody knows whether they are right."""
    names = sorted({str(r["label"]) for r in rows if r["outcome"] == Reason.NO_EXPECTED})
    return (f"without known answers, so not {done}: {', '.join(names)}",) if names else ()


def of_authors(rows: Iterable[Row]) -> tuple[str, ...]:
    """The sentence on rows that only their own package's answers vouch for."""
    names = sorted({str(r["label"]) for r in rows if r.get("answers") == ANSWERS["package"]})
    text = "right by their own package's answers alone, for nothing published could be checked"
    return (f"{text}: {some(names)}; the filter 'answers == known' leaves them out",) if names else ()


def metrics_of(kind: str, named: Sequence[str]) -> list[str]:
    """What a ranking of this kind is by: the metrics that are ``named``, or its own; none where each primitive has
    some. Raises :class:`UserError` for a kind that does not exist."""
    if kind not in KINDS:
        raise unknown("ranking", kind, KINDS)
    if more := [n for n in named if metric(n).lower is False]:
        why = f"{more[0]}: more is better, and rankings begin with the least"
        raise UserError(f"{why}; rank by times such as latency_pt_1536, or by --kind sizes, or sort with publish")
    return list(named or (rank.SCORE_DISTINCT if kind == "score" else ()))


def needed(kind: str, metrics: Sequence[str]) -> list[str]:
    """The metrics that rows need for a ranking by these, or by what its kind has for each primitive: of a hash,
    ``encrypt`` is ``hash``."""
    if kind == "sizes":
        return list(by_size.NEEDED)
    if kind == "joint":
        return list(joint.NEEDED)
    usual = {"places": CATALOGUE, "pareto": _FRONTS}.get(kind, USUAL)
    blocks = (rank.OF_BLOCKS[m] for m in metrics if m in rank.OF_BLOCKS)
    own = dict.fromkeys(chain.from_iterable(usual.values()))
    return [*metrics, *_of_hashes(metrics), *blocks] or [*own, *_CYCLES.values(), "ge"]


def _of_hashes(metrics: Iterable[str]) -> list[str]:
    """What these metrics are of a hash, which has no key schedule and no warm calls."""
    return [h for m in metrics if _is_metric(h := m.replace("encrypt", "hash"))]


def _is_metric(name: str) -> bool:
    return name in metric_names() or "@" in name


def ranked(
    kind: str,
    rows: Sequence[Row],
    metrics: Sequence[str],
    top: int | None = None,
    reference: str = "",
    *,
    unit: bool = False,
    variants: bool = False,
    among: Sequence[Row] = (),
) -> list[Sheet]:
    """The tables of a ranking, as far as its kind knows what is asked. The ``reference`` is looked for ``among`` all
    rows, of which these may be a part."""
    every, rows = rank.apart(among or rows), rank.apart(rows)
    _unique(every, reference)
    if kind == "top":
        return tops(rows, metrics, top or TOP, reference, unit=unit, variants=variants, among=every)
    if kind == "pareto":
        return fronts(rows, metrics)
    if kind == "sizes":
        return by_size.tables(rows, top)
    if kind == "joint":
        return joint.tables(rows)
    return {"places": places, "merit": merits, "score": scores}[kind](rows, metrics, top, variants=variants)


def tops(
    rows: Sequence[Row],
    metrics: Sequence[str],
    top: int,
    reference: str,
    *,
    unit: bool = False,
    variants: bool = False,
    among: Sequence[Row] = (),
) -> list[Sheet]:
    """For each target and primitive the first ``top`` of each metric, then those that are in all of them; of each
    variant only its best implementation by the metric where ``variants`` are asked for. The ``reference`` is one of
    ``among``, or of the rows."""
    sheets = []
    references = [r for r in among or rows if reference and is_called(r, reference)]
    for key, group in grouped(rows).items():
        target, primitive, *_ = key
        names = _of(primitive, metrics) or usual(group)
        base = [r for r in references if (r["target"], r["primitive"]) == (target, primitive)]
        rankings = rank.best_by_each(group, names) if variants else rank.by_each(group, names)
        title = heading(group)
        lost = [f"nothing is relative to {reference}, of which there is no run here"] if reference and not base else []
        for n in names:
            against = _base(group, base, n, reference, variants) if base else None
            sheet = _top(rankings[n], n, top, against, unit, title, f"top-{target}-{primitive}-{n}")
            sheets.append(of_group(replace(sheet, notes=(*sheet.notes, *lost, *shared(group))), key, group))
        if len(names) > 1:
            sheet = _joint(group, rankings, top, title, f"joint-{target}-{primitive}", variants)
            sheets.append(of_group(sheet, key, group))
    return sheets


def is_called(row: Row, name: str) -> bool:
    """Whether a row is one of the variant or ``variant/implementation`` of this name; what is told apart by a place
    (:func:`..analyse.rank.apart`) has its name without it too."""
    variant = str(row["variant"])
    names = (row["label"], variant, short := variant.partition(" (")[0], f"{short}/{row.get('implementation')}")
    return name in names


def _unique(rows: Iterable[Row], reference: str) -> None:
    """Raises :class:`UserError` where the name of the reference means several ciphers of one primitive."""
    meant: dict[Value, set[str]] = {}
    for r in rows:
        if reference and is_called(r, reference):
            meant.setdefault(r["primitive"], set()).add(str(r["variant"]))
    for variants in meant.values():
        if len(variants) > 1:
            names = ", ".join(f"'{v}'" for v in sorted(variants))
            raise UserError(f"--relative-to {reference}: is the name of {len(variants)} ciphers; give one of {names}")


def _base(
    group: Sequence[Row], references: Sequence[Row], name: str, reference: str, variants: bool
) -> tuple[str, Callable[[Row], float | None]]:
    """What counts as 100 %, as a heading says it, and its figure for a row: the reference's with the row's flags where
    it was run with all of them and each row is ranked, else the one best run of it."""
    having = [r for r in references if rank.value(r, name) is not None]
    flags = {r["flags"] for r in group}
    if not variants and len(flags) > 1 and flags <= {r["flags"] for r in having}:
        labels = {str(r["label"]) for r in having}
        best = {f: min(rank.value(r, name) or 0.0 for r in having if r["flags"] == f) for f in flags}
        return f"{min(labels) if len(labels) == 1 else reference}, same flags", lambda row: best[row["flags"]]
    if not having:
        return reference, lambda row: None
    first = min(having, key=lambda r: (rank.value(r, name) or 0.0, str(r["label"]), str(r["flags"])))
    shown = f"{first['label']} {first['flags']}" if len(flags) > 1 else str(first["label"])
    return shown, lambda row: rank.value(first, name)


def _top(
    ranking: Ranking,
    name: str,
    top: int,
    base: tuple[str, Callable[[Row], float | None]] | None,
    unit: bool,
    title: str,
    label: str,
) -> Sheet:
    columns = [_PLACE, *_WHO, column(name)]
    if base:
        columns.append(Column("relative", f"{base[0]} = 1" if unit else f"{base[0]} = 100 %", "", 2 if unit else 1))
    lines = []
    places = rank.first(ranking, top)
    for place in places:
        cells: list[Cell] = [place.rank, place.row["label"], place.row["flags"], place.value]
        if base:
            cells.append(_relative(place.value, base[1](place.row), unit))
        lines.append(Line(cells, run_of(place.row)))
    notes = _without(ranking.left_out, (p.row for p in ranking.places), metric(name).title) + fewer(
        [p.row for p in places], [name]
    )
    if base and unit:
        notes.append("relative: reference's figure over this one's; more is better")
    return Sheet(f"{title}, {least(name)}", label, columns, lines, notes=notes)


def _relative(value: float, base: float | None, unit: bool) -> float | None:
    if not (base and value and base > 0 and value > 0):
        return None
    return base / value if unit else 100 * value / base


def least(name: str) -> str:
    """What is first by a metric: ``least ROM``, ``fewest encrypt cycles``."""
    m = metric(name)
    if m.unit not in ("cycles", "instructions", "ticks"):
        return f"least {m.title}"
    return f"fewest {m.title}" if m.title.endswith(m.unit) else f"fewest {m.title} {m.unit}"


def _without(rows: Sequence[Row], having: Iterable[Row], what: str, done: str = "ranked") -> list[str]:
    """Says which rows have no figure, with their flags where the same implementation has one with others."""
    also = {r["label"] for r in having}
    names = sorted({f"{r['label']} {r['flags']}" if r["label"] in also else str(r["label"]) for r in rows})
    return [f"without {what}, so not {done}: {some(names)}"] if names else []


def _titles(names: Iterable[str]) -> str:
    return ", ".join(metric(n).title for n in names)


def _joint(
    group: Sequence[Row], rankings: Mapping[str, Ranking], top: int, title: str, label: str, variants: bool
) -> Sheet:
    columns = _with_places(rankings)
    lines = []
    for _, places in rank.joint(rankings, top, "variant" if variants else ""):
        lines.append(_line_of(places, rankings))
    notes = fewer(group, list(rankings)) if lines else [f"none is among the first {top} of all"]
    return Sheet(f"{title}, among the first {top} of all", label, columns, lines, notes=[*notes, *shared(group)])


def _with_places(names: Iterable[str]) -> list[Column]:
    """Columns of several metrics, each with the place in it."""
    return [*_WHO, *(c for n in names for c in (column(n), Column(f"{n}_place", "place")))]


def _line_of(places: Mapping[str, Place], names: Iterable[str]) -> Line:
    """One line of values and places; their rows may be of several implementations of a variant."""
    rows = [p.row for p in places.values()]
    label, flags = (", ".join(dict.fromkeys(str(r[n]) for r in rows)) for n in ("label", "flags"))
    cells: list[Cell] = [label, flags]
    for name in names:
        p = places.get(name)
        cells += [p.value, p.rank] if p else [None, None]
    return Line(cells, tuple(dict.fromkeys(run for r in rows for run in run_of(r))))


_SIZES = ("encrypt@0/16", "encrypt@0/64", "encrypt@0/1536", "rom", "ram")
#: the catalogue's page
CATALOGUE = {
    **{p: tuple(map(PRIMITIVES[p].named, _SIZES)) for p in ("crypto_aead", "crypto_hash", "crypto_cxof")},
    "crypto_block": (
        "cycles_encrypt_mean",
        "cycles_decrypt_mean",
        "cycles_schedule_encrypt_mean",
        "rom",
        "ram",
        "context",
    ),
    "lwc_rtl": ("latency_pt_1536", "latency_pt_64", "latency_pt_16", "lut", "ff"),
}
#: what is to be beaten at once: of hardware nothing of hashes, which few designs have
_FRONTS = USUAL | {"lwc_rtl": CATALOGUE["lwc_rtl"]}
#: what is added up: of hardware area and time
_MERITS = {p: ("rom", "ram", names[0]) for p, names in USUAL.items()} | {"lwc_rtl": ("lut", "latency_pt_1536")}


def usual(group: Sequence[Row], of: Mapping[str, Sequence[str]] = USUAL) -> list[str]:
    """What the rows of a primitive are ranked by where nothing is named: of hardware what its device has."""
    names = of[str(group[0]["primitive"])]
    if group[0]["primitive"] != joint.HARDWARE:
        return [*names]
    having = {n for r in group for n, v in r.items() if v is not None}
    instead = {} if having & _CYCLES.keys() else _CYCLES
    found = [instead.get(n, n) if n != "lut" or n in having else "ge" for n in names]
    return [n for n in found if n in having] or found


def places(
    rows: Sequence[Row], metrics: Sequence[str], top: int | None = None, *, variants: bool = False
) -> list[Sheet]:
    """For each target and primitive all rows (or ``variants``, each with its best implementation by each metric) with
    their place in every metric; of a hash, ``encrypt`` is ``hash``."""
    sheets = []
    for key, group in grouped(rows).items():
        target, primitive, *_ = key
        names = _of(primitive, metrics) or usual(group, CATALOGUE)
        made = rank.best_by_each(group, names) if variants else rank.by_each(group, names)
        rankings = {n: r for n, r in made.items() if r.places}
        columns = _with_places(rankings)
        lines: Sequence[Line]
        if variants:
            each: dict[Value, dict[str, Place]] = {}
            for n, r in rankings.items():
                for p in r.places:
                    each.setdefault(p.row["variant"], {})[n] = p
            lines = [_line_of(of, rankings) for of in list(each.values())[:top]]
        else:
            at = {n: {id(p.row): p.rank for p in r.places} for n, r in rankings.items()}
            lines = Lines(order.ordered(group, [(n, False) for n in rankings])[:top], partial(_placed, at))
        without = [metric(n).title for n in names if n not in rankings]
        notes = [f"none has {', '.join(without)}"] if without else []
        notes += [*fewer(group, list(rankings)), *shared(group)]
        sheet = Sheet(heading(group), f"places-{target}-{primitive}", columns, lines, notes=notes)
        sheets.append(of_group(sheet, key, group))
    return sheets


def _of(primitive: str, metrics: Sequence[str]) -> list[str]:
    """The metrics as a primitive has them: a hash has no encryption, and no other call for some of its metrics."""
    named = PRIMITIVES[primitive].named
    return list(dict.fromkeys(n if _is_metric(n := named(m)) else m for m in metrics))


def _placed(at: Mapping[str, Mapping[int, float]], row: Row) -> Line:
    """A row with its place in each metric."""
    cells: list[Cell] = [row["label"], row["flags"]]
    for name, place in at.items():
        cells += [row.get(name), place.get(id(row))]
    return Line(cells, run_of(row))


def merits(
    rows: Sequence[Row], metrics: Sequence[str], top: int | None = None, *, variants: bool = False
) -> list[Sheet]:
    """FELICS's figure of merit: one table for each target, and one over all of them where there are several."""
    sheets = []
    groups = grouped(rows)
    for key, group in groups.items():
        target, primitive, *_ = key
        names = _of(primitive, metrics) or usual(group, _MERITS)
        ranking = rank.merit(group, names)
        ranking = rank.first_of_variant(ranking) if variants else ranking
        title = f"{heading(group)}, figure of merit"
        sheet = _scored(ranking, names, title, f"merit-{target}-{primitive}", "figure", 2, top)
        sheets.append(of_group(sheet, key, group))
    for primitive in dict.fromkeys(k[1] for k in groups):
        mine = [r for r in rows if r["primitive"] == primitive]
        names = _of(primitive, metrics) or [*_MERITS[primitive]]
        targets = sorted({str(r["target"]) for r in mine if all(rank.value(r, n) is not None for n in names)})
        without = sorted({str(r["target"]) for r in mine} - set(targets))
        mine = [r for r in mine if r["target"] in targets]
        if len(targets) < 2:
            continue
        columns = [Column("variant", "variant"), Column("figure", "figure", "", 2)]
        columns += [Column(t, f"chosen on {t}") for t in targets]
        found = rank.merit_over_targets(mine, names)
        lines = [
            Line([variant, figure, *(f"{on[t]['implementation']} {on[t]['flags']}" for t in targets)],
                 [run for t in targets for run in run_of(on[t])])
            for variant, figure, on in found[:top]
        ]  # fmt: skip
        notes = [
            f"mean over {len(targets)} targets of the best implementation's sum of {_titles(names)} over the least"
        ]
        if lost := sorted({str(r["variant"]) for r in mine} - {variant for variant, _, _ in found}):
            notes.append(f"not on all of them, so not ranked: {', '.join(lost)}")
        if without:
            notes.append(f"not counted, because nothing has these figures there: {', '.join(without)}")
        notes += measured_on(mine)
        if mixed := sorted(t for t, n in Counter(k[0] for k in groups if k[1] == primitive).items() if n > 1):
            notes.append(f"figures of several compilers, harnesses or timing models: {', '.join(mixed)}")
        title = f"{primitive}, figure of merit over {len(targets)} targets"
        sheets.append(Sheet(title, f"merit-{primitive}", columns, lines, notes=notes))
    return sheets


def scores(
    rows: Sequence[Row], metrics: Sequence[str], top: int | None = None, *, variants: bool = False
) -> list[Sheet]:
    """El-Hajj and Fadlallah's score table: ranks added up, ties averaged. Of ``variants`` the implementation that
    comes first takes part; of a hash, ``encrypt`` is ``hash``."""
    sheets = []
    for key, group in grouped(rows).items():
        names = _of(key[1], metrics)
        if key[1] == "crypto_block":
            names = [rank.OF_BLOCKS.get(n, n) for n in names]
        ranking = rank.scores(group, names)
        if variants:
            first = rank.first_of_variant(ranking)
            ranking = rank.scores([*(p.row for p in first.places), *first.left_out], names)
        title = f"{heading(group)}, sum of ranks"
        sheet = _scored(ranking, names, title, f"score-{key[0]}-{key[1]}", "score", 1, top)
        sheets.append(of_group(sheet, key, group))
    return sheets


def _scored(
    ranking: Ranking, names: Sequence[str], title: str, label: str, head: str, digits: int, top: int | None
) -> Sheet:
    columns = [_PLACE, *_WHO, Column(head, head, "", digits), *map(column, names)]
    places = ranking.places[:top]
    lines = Lines(
        places,
        lambda p: Line([p.rank, p.row["label"], p.row["flags"], p.value, *map(p.row.get, names)], run_of(p.row)),
    )
    ranked = [p.row for p in places]
    having, lacking = rank.complete(ranking.left_out, names)
    naught = [n for n in names if having and min(rank.value(r, n) or 0.0 for r in having) <= 0]
    notes = [f"no {head}: the least {_titles([n])} is not above 0, and nothing is a multiple of it" for n in naught]
    also = [*having, *(p.row for p in ranking.places)]
    notes += [*_without(lacking, also, f"one of {_titles(names)}"), *fewer(ranked, names), *shared(ranked)]
    return Sheet(title, label, columns, lines, notes=notes)


def fronts(rows: Sequence[Row], metrics: Sequence[str]) -> list[Sheet]:
    """Implementations that nothing beats in every metric at once."""
    sheets = []
    for key, group in grouped(rows).items():
        target, primitive, *_ = key
        names = _of(primitive, metrics) or usual(group, _FRONTS)
        columns = [*_WHO, *map(column, names)]
        front = rank.by(rank.pareto(group, names), names[0])
        lines = [
            Line([p.row["label"], p.row["flags"], *(p.row.get(n) for n in names)], run_of(p.row)) for p in front.places
        ]
        having, lacking = rank.complete(group, names)
        note = (
            f"{len(lines)} of {len(having)}: no other is at least as good in all of {_titles(names)} and better in one"
        )
        notes = [
            note,
            *_without(lacking, having, f"one of {_titles(names)}", "compared"),
            *fewer([p.row for p in front.places], names),
            *shared(group),
        ]
        sheet = Sheet(f"{heading(group)}, Pareto front", f"pareto-{target}-{primitive}", columns, lines, notes=notes)
        sheets.append(of_group(sheet, key, group))
    return sheets
