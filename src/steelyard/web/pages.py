"""The pages: each function gets what its address names and asks, and answers with blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from msgspec.structs import replace

from ..analyse import compare as comparing
from ..analyse import expression, order, rank
from ..analyse.answer import Answer, choose, of_one_device, run_number, told_apart, workload_name
from ..model.errors import UserError, counted, cut, unknown
from ..model.record import Record
from ..model.row import CONTEXT, Row, grouped
from ..model.target import Target, load_target, target_names
from ..publish import comparison, figure, flame, history, pivot, ranking, report, results, size
from ..publish import profile as profiles
from ..publish import run as runs
from ..publish.figures import figure_names
from ..publish.sheet import Column, Line, Sheet, plain
from ..store import Store
from . import address, ask, campaigns, documents, examine, markup
from .ask import Rows
from .page import (
    Block,
    Field,
    Form,
    Heading,
    Links,
    Markup,
    NotThereError,
    Page,
    Picture,
    Pre,
    Table,
    Text,
)  # fmt: skip

#: newest runs, and names that were weighed last, on the front page
NEWEST, WEIGHED = 15, 12
#: characters of a log on its page
LOG = 200_000
#: most hits of a search
HITS = 100
FIND = Field("where", "filter", "", 'target == uno and (rom < 4096 or variant ~ "ascon*")')
#: metrics that pages of names show: all that tables show, and what figures need
_ALL = (*results.USUAL, "ram", "encrypt_per_byte")


class View(NamedTuple):
    """What a page function gets: the database, and what the address asks."""

    store: Store
    asked: Mapping[str, str]

    @property
    def rows(self) -> Rows:
        """Its rows."""
        return Rows(self.store)

    def text(self, name: str) -> str:
        """A parameter; empty where it is not asked."""
        return self.asked.get(name, "")


def front(v: View) -> Page:
    """What this is, the newest results, and one table of those weighed last on all targets."""
    targets = v.store.targets()
    newest = v.store.rows_of(v.store.latest(NEWEST), ("cycles_encrypt_mean", "cycles_hash_mean", "rom"))
    names = ("run", "label", "target", "flags", "cycles_encrypt_mean", "cycles_hash_mean", "rom", "outcome", "finished")
    shown = [results.column(n) for n in names if n in CONTEXT or any(r.get(n) is not None for r in newest)]
    weighed = list(dict.fromkeys((str(r["variant"]), str(r["implementation"])) for r in newest))[:WEIGHED]
    found = [
        r
        for variant, name in weighed
        if variant != "nocrypt"
        for r in v.rows.answer(
            asked=("cycles_encrypt_mean", "cycles_hash_mean"), variant=variant, implementation=name
        ).rows
        if r["outcome"] == "verified"
    ]
    joint = [Table(s) for s in results.distinct(pivot.tables(told_apart(found), "target"))] if found else []
    lead = (
        "Steelyard weighs lightweight cryptography: cycles, ROM, RAM and energy of implementations on "
        "microcontrollers, each verified on the image that is measured."
    )
    held = f"Here are results of {counted(sum(targets.values()), 'setup')} on {counted(len(targets), 'target')}."
    blocks: list[Block] = [
        Text(held if targets else "No results yet: steelyard run makes some."),
        Links([(f"{n} ({k})", address.path("targets", n)) for n, k in targets.items()], "targets"),
    ]
    if newest:
        blocks.append(Table(Sheet("Newest results", "newest", shown, results.lines(newest, shown))))
        blocks += [Heading("Weighed last, on every target", "joint"), *joint]
    return Page("Steelyard", blocks, lead)


def targets(v: View) -> Page:
    """All targets, those with results first."""
    stored = v.store.targets()
    lines = [_about(load_target(n), stored.get(n, 0)) for n in target_names()]
    lines += [
        (n, "not known to this version", None, None, None, "-", k) for n, k in stored.items() if n not in target_names()
    ]
    lines.sort(key=lambda line: (not line[-1], line[0]))
    heads = {"target": None, "chip": None, "MHz": 1, "flash KiB": 0, "RAM KiB": 1, "cycle counts": None, "setups": 0}
    sheet = plain("Targets", "targets", heads, lines, ["cycle counts: how far they are validated; see claims"])
    return Page("Targets", [Table(sheet)])


def _about(t: Target, stored: int) -> tuple[str, str, float | None, float | None, float | None, str, int]:
    chip = t.chip.clock_hz > 0
    memory = (t.chip.flash.size / 1024, t.chip.ram.size / 1024) if chip else (None, None)
    return (t.name, t.chip_name, t.chip.clock_hz / 1e6 if chip else None, *memory, t.tier, stored)


def target(v: View, name: str) -> Page:
    """A target: what it is, its tables and figures, and what has no figures there."""
    stored = v.store.targets()
    if name not in stored and name not in target_names():
        raise _none("target", name, {*stored, *target_names()})
    blocks: list[Block] = []
    if name in target_names():
        t = load_target(name)
        facts = [("chip", t.chip_name), ("cycle counts", t.tier), ("compared with silicon", t.silicon)]
        facts += [("compiler", t.toolchain.compiler), ("usual flags", " ".join(t.toolchain.default_flags))]
        if t.energy:
            facts.append(("modelled energy", f"{t.energy.volts:g} V, {t.energy.milliamperes:g} mA; {t.energy.source}"))
        blocks.append(Table(plain(t.title, "about", ("what", "value"), facts), wide=("value",)))
        blocks.append(Links([("how far to trust it", documents.claim(name))], "claims"))
    where = f'target == "{name}"'
    blocks.append(
        Links(
            [
                ("ranking", address.path("rank", where=where)),
                ("trade-offs", address.path("trade-offs", where=where)),
                ("choose and sort", address.path("tables", where=where)),
            ],
            "more of this target",
        )
    )
    answer = v.rows.answer(asked=_ALL, target=name)
    blocks += _of_target(v, name, answer)
    return Page(results.title_of(name), blocks, trail=[("targets", "/targets")])


def _of_target(v: View, name: str, answer: Answer) -> Iterable[Block]:
    rows = v.rows.complete(order.ordered(answer.rows, order.keys("cycles_encrypt_mean,cycles_hash_mean")))
    measured = [r for r in rows if results.measured(r)]
    if not rows:
        yield Text("No results yet.")
    if measured:
        part = report.section(name, measured, lambda some: v.rows.points(some, answer.borrowed), ())
        taken: dict[str, int] = {}
        for drawing in part.figures:
            label = drawing.numbers.label
            taken[label] = taken.get(label, 0) + 1
            label += f"-{taken[label]}" * (taken[label] > 1)
            yield from _drawing(label, drawing)
        for sheet in part.tables:
            yield Table(sheet, bars=_bars(sheet))
    yield from (Table(s, wide=("detail",)) for s in results.without_figures(rows))
    yield from map(Text, answer.notes)


def _drawing(label: str, drawing: report.Drawing) -> Iterable[Block]:
    title = str(drawing.spec["title"]["text"])
    yield Picture(label, title, drawing.note, spec=lambda: drawing.spec)
    yield Table(replace(drawing.numbers, label=label, title=title), folded="the figure's numbers")


def _bars(sheet: Sheet) -> str:
    """The first metric, beside whose numbers bars stand."""
    return next((c.name for c in sheet.columns if c.digits is not None and c.name not in CONTEXT), "")


def family(v: View, name: str) -> Page:
    """A family: its variants, on all targets."""
    known = v.store.implementations()
    if name not in (names := {f for _, f, _, _ in known}):
        raise _none("family", name, names)
    variants = sorted({variant for _, f, variant, _ in known if f == name})
    links = Links([(n, address.path("variants", n)) for n in variants], "variants")
    return Page(name, [links, *_of_names(v, v.rows.answer(asked=_ALL, family=name))])


def variant(v: View, name: str) -> Page:
    """A variant: its implementations, on all targets."""
    known = v.store.implementations()
    mine = [(f, implementation) for _, f, n, implementation in known if n == name]
    if not mine:
        raise _none("variant", name, {n for _, _, n, _ in known})
    trail = [(f, address.path("families", f)) for f in dict.fromkeys(f for f, _ in mine)]
    links = [(n, address.path("implementations", name, n)) for n in dict.fromkeys(n for _, n in mine)]
    blocks = [Links(links, "implementations"), *_of_names(v, v.rows.answer(asked=_ALL, variant=name))]
    return Page(name, blocks, trail=trail)


def _of_names(v: View, answer: Answer) -> Iterable[Block]:
    """Tables of some implementations: mean cycles by target, then each target."""
    good = [r for r in answer.rows if r["outcome"] == "verified"]
    if len({r["target"] for r in good}) > 1:
        yield from (Table(s) for s in results.distinct(pivot.tables(good, "target")))
    rows = v.rows.complete(order.ordered(answer.rows, results.ORDER))
    for sheet in results.tables(rows, ()):
        yield Table(sheet, bars=_bars(sheet), wide=("detail",))
    yield from map(Text, answer.notes)


def implementation(v: View, variant: str, name: str) -> Page:
    """An implementation: all figures on all targets, and what changed them."""
    known = v.store.implementations()
    mine = [(p, f) for p, f, of, n in known if (of, n) == (variant, name)]
    if not mine:
        raise _none("implementation", f"{variant}/{name}", {f"{of}/{n}" for _, _, of, n in known})
    every = v.rows.found(asked=_ALL, all_runs=True, variant=variant, implementation=name)
    newest = v.rows.found(asked=_ALL, variant=variant, implementation=name)
    blocks = [*_of_names(v, choose(newest)), *_over_time(every)]
    trail = [*((f, address.path("families", f)) for _, f in mine), (variant, address.path("variants", variant))]
    return Page(f"{variant}/{name}", blocks, trail=list(dict.fromkeys(trail)))


#: what may change between two runs of one name, and how to say so
_CHANGES = {"digest": "sources", "compiler": "compiler", "harness": "harness", "timing_model": "timing model"}


def _over_time(every: Sequence[Row]) -> Iterable[Block]:
    """Where figures of one name changed, with what had changed."""
    places = grouped(
        sorted((r for r in every if r["outcome"] == "verified"), key=run_number),
        lambda r: (r["primitive"], r["target"], r["device"], r["flags"], r["workload"]),
    )
    several = [rows for rows in places.values() if len(rows) > 1]
    told: list[Row] = []
    for rows in several:
        for before, r in zip([{}, *rows], rows, strict=False):
            changed = [f"{text} {_short(r[n])}" for n, text in _CHANGES.items() if before and before[n] != r[n]]
            subject = "; ".join(changed) or ("again" if before else "first")
            # all of one setup's past is one history, whatever made it
            told.append(r | {"revision": f"{r['finished'] or '-'}", "subject": subject, "compiler": None})
    if told:
        yield Heading("History", "history")
        for sheet in results.distinct(history.tables(told, ())):
            yield Table(sheet)
        kind = figure.load("history")
        data = figure.drawn(kind, figure.of_records([r for rows in several for r in rows], over_time=True))
        if data:
            yield Picture("history", kind.title, kind.note, spec=lambda: figure.specification(kind, data))


def _short(value: object) -> str:
    """Of a digest its beginning."""
    text = str(value)
    return text[:8] if len(text) == 64 else text


def run(v: View, key: str, finished: str = "") -> Page:
    """A run: every metric with its definition, cycles of every call, and how to repeat it."""
    record, others = _record(v, key, finished)
    sheets = {s.label: s for s in runs.sheets(record, v.store.same_answers(record))}
    s = record.setup
    mine = address.run(s.key, others[record.id or 0])
    about = replace(sheets["run"], columns=[Column("field", "what"), Column("value", "value")])
    blocks: list[Block] = [Table(about, wide=("value",))]
    links = [("profile and flame graph", address.path("runs", mine[0], "profile")),
             ("image", address.path("runs", mine[0], "image"))] if record.ok else []  # fmt: skip
    links += [("build log", address.path("runs", *mine, "log"))] if record.log else []
    blocks.append(Links(links, "more of this run"))
    if "metrics" in sheets:
        blocks.append(Table(_defined(sheets["metrics"]), wide=("definition",)))
    if record.points:
        if workload_name(s.workload) == "vectors":
            blocks.append(_vectors(v, record))
        elif chart := markup.chart(record.points, f"cycles by size, {s.label} on {s.target}"):
            blocks.append(Markup(f"<figure>{chart}</figure>"))
        blocks.append(Table(sheets["points"]))
    if "members" in sheets:
        blocks.append(Table(sheets["members"]))
    older = [n for n in sorted(others, reverse=True) if n != record.id]
    if older:
        lines = [Line([n], [n]) for n in older]
        blocks.append(Table(Sheet("Other runs of this setup", "others", [Column("run", "run")], lines)))
    trail = [
        (s.target, address.path("targets", s.target)),
        (s.label, address.path("implementations", s.variant, s.implementation)),
    ]
    return Page(f"{s.label} on {s.target}, {s.flags}", blocks, "" if record.ok else "No verified figures.", trail)


def _record(v: View, key: str, finished: str = "") -> tuple[Record, dict[int, int | None]]:
    """The run at an address, and when each run of its setup ended; without a time the one that counts."""
    if len(key) < address.SHORTEST or len(key) > 64 or set(key) - set("0123456789abcdef"):
        raise NotThereError(f"{cut(key)}: a run's address has {address.KEY} hexadecimal digits; search for its name")
    found = v.store.of_setup(key)
    if len({of for _, of, _, _ in found}) > 1:
        raise NotThereError(f"{key}: begins the address of several setups; write more of it")
    at = {n: time for n, _, time, _ in found}
    if finished:
        wanted = [n for n, time in at.items() if str(time or 0) == finished]
        number = wanted[-1] if wanted else None
    else:
        kept = v.store.find([of for _, of, _, _ in found])
        number = next((r.id for r in kept.values()), None)
    record = v.store.get(number) if number is not None else None
    if record is None:
        raise NotThereError(f"no run at {key}{'/' if finished else ''}{cut(finished)} here; search for its name")
    return record, at


def _defined(sheet: Sheet) -> Sheet:
    lines = [Line([*line.cells, documents.definition(str(line.cells[0])) or None]) for line in sheet.lines]
    return replace(sheet, title="Metrics", columns=[*sheet.columns, Column("definition", "definition")], lines=lines)


def _vectors(v: View, record: Record) -> Picture:
    kind = figure.load("vectors")
    rows = v.store.rows_of([record.id or 0])
    data = figure.data_of(kind, rows, {record.id or 0: record.points})
    return Picture("vectors", kind.title, kind.note, spec=lambda: figure.specification(kind, data))


def profile(v: View, key: str) -> Page:
    """Where the cycles of one call of a run go."""
    record, _ = _record(v, key)
    try:
        found, called = examine.profiled(record)
    except examine.NotHereError as e:
        return Page(f"Profile of run {record.id}", [Text(str(e))], trail=_run_trail(key, record))
    title = f"{record.setup.label} on {record.setup.target}, {called}"
    picture = Picture("flame", "Flame graph", title, svg=lambda: flame.flame_svg(found, title))
    tables = [Table(profiles.functions(found, title), bars="cycles_in_itself"), Table(profiles.mix(found))]
    return Page(f"Profile: {title}", [picture, *tables], trail=_run_trail(key, record))


def image(v: View, key: str) -> Page:
    """Where the bytes of a run's images are."""
    record, _ = _record(v, key)
    title = f"{record.setup.label} on {record.setup.target}, {record.setup.flags}: bytes by symbol, minus nocrypt's"
    try:
        sheet = size.sheet(examine.image(record), title)
    except examine.NotHereError as e:
        return Page(f"Image of run {record.id}", [Text(str(e))], trail=_run_trail(key, record))
    return Page(f"Image: {record.setup.label} on {record.setup.target}", [Table(sheet)], trail=_run_trail(key, record))


def log(v: View, key: str, finished: str) -> Page:
    """What the compilers said."""
    record, _ = _record(v, key, finished)
    text = v.store.get_blob(record.log).decode(errors="replace") if record.log else "the compilers said nothing"
    more = (
        f"The first {LOG} of {len(text)} characters; steelyard show {record.id} --log prints all."
        if len(text) > LOG
        else ""
    )
    title = f"Build log: {record.setup.label} on {record.setup.target}"
    return Page(title, [Pre(text[:LOG] or "the compilers said nothing")], more, _run_trail(key, record))


def _run_trail(key: str, record: Record) -> list[tuple[str, str]]:
    return [(f"run {record.id}", address.path("runs", key))]


def tables(v: View) -> Page:
    """Tables as ``publish`` makes them: names, filter, columns, order, pivot."""
    what, where, across = ask.names(v.text("what")), v.text("where"), v.text("pivot")
    chosen = ask.metrics_of(v.text("columns")) if across else ask.columns(v.text("columns"))
    if across and across not in CONTEXT:
        raise unknown("column", across, CONTEXT)
    by = order.keys(v.text("sort")) if v.text("sort") else list(results.ORDER)
    measured = [n for n in (*chosen, *(n for n, _ in by if v.text("sort"))) if n not in CONTEXT]
    answer = v.rows.answer(
        what, where, [*(chosen or results.USUAL), *(n for n, _ in by)], all_runs=v.text("all") == "yes",
        wanted=measured, apart=(across,) if across else (),
    )  # fmt: skip
    found = order.ordered(answer.rows, by)
    if across:
        sheets = results.distinct(pivot.tables(found, across, chosen, sorted_by=bool(v.text("sort"))))
    else:
        sheets = results.tables(found if chosen else v.rows.complete(found), chosen)
    form = Form(
        "/tables",
        [
            Field("what", "names", v.text("what"), "ascon* aes128gcm/ref"),
            replace(FIND, value=where),
            Field("columns", "columns", v.text("columns"), "run,label,rom,encrypt@16/64"),
            Field("sort", "sort by", v.text("sort"), "rom,-cycles_encrypt_mean"),
            Field(
                "pivot",
                "side by side",
                across,
                choices={"": "nothing", "target": "targets", "flags": "flags", "compiler": "compilers"},
            ),
            Field("all", "runs", v.text("all"), choices={"": "those that count", "yes": "all"}),
        ],
        "Show",
    )
    blocks: list[Block] = [form, *(Table(s, bars=_bars(s), wide=("detail",)) for s in sheets)]
    if found and not across:
        flat = address.path("results", **{n: v.text(n) for n in _WHOLE})
        blocks.append(Links([("all of it as one table, with every metric", flat)], "for programs"))
    return Page("Tables", [*blocks, *_said(answer, found)])


#: parameters of a table that it has as one for programs, too
_WHOLE = ("what", "where", "columns", "sort", "all")


def whole(v: View) -> Page:
    """All rows as one table, with all that tells them apart; all metrics where no columns are named."""
    chosen = ask.columns(v.text("columns"))
    by = order.keys(v.text("sort")) if v.text("sort") else list(results.ORDER)
    asked = [*chosen, *(n for n, _ in by)] if chosen else None
    measured = [n for n in (*chosen, *(n for n, _ in by if v.text("sort"))) if n not in CONTEXT]
    answer = v.rows.answer(
        ask.names(v.text("what")), v.text("where"), asked, all_runs=v.text("all") == "yes", wanted=measured, whole=True
    )
    found = order.ordered(answer.rows, by)
    sheet = replace(results.flat(found, chosen), title="Results")
    return Page("Results", [Table(sheet), *_said(answer, found)], trail=[("tables", "/tables")])


def _said(answer: Answer, found: Sequence[Row]) -> Iterable[Block]:
    if not found:
        yield Text("No stored run matches.")
    yield from map(Text, answer.notes)


def compare(v: View) -> Page:
    """Two sides, setup by setup."""
    sides = [v.text("old"), v.text("new")]
    form = Form(
        "/compare",
        [
            Field("old", "old", sides[0], "ascon128v12/small, a filter, or a run's number"),
            Field("new", "new", sides[1], "ascon128v12/fast"),
            replace(FIND, value=v.text("where")),
            Field("columns", "metrics", v.text("columns"), "rom,cycles_encrypt_mean"),
            Field("everything", "show", v.text("everything"), choices={"": "what changed", "yes": "all metrics"}),
        ],
        "Compare",
    )
    lead = "Two names, filters or runs: what changed from one to the other, where it may be said at all."
    if not all(sides):
        return Page("Compare", [form], lead)
    metrics = ask.metrics_of(v.text("columns")) or list(comparing.METRICS)
    words: list[comparing.Words] = []
    rows: list[Sequence[Row]] = []
    for side in sides:
        is_filter = any(c in side for c in "=<>~!")
        names, where = ((), side) if is_filter else ((side,), "")
        some = v.rows.found(names, where, [*metrics, "spread_percent"])
        if v.text("where"):
            test = expression.parse(v.text("where"))
            more = {r["run"] for r in v.rows.found(names, v.text("where"), sorted(test.columns))}
            some = [r for r in some if r["run"] in more]
        if not some:
            raise NotThereError(f"{cut(side)}: no stored run matches; {_nearest(v, side)}")
        rows.append(some)
        said = {("run", "==", side)} if side.isdecimal() else set(expression.parse(side).texts) if is_filter else set()
        words.append(said)
    about = comparing.about_of(words, rows)
    left_out: Sequence[str] = ()
    if not about & {"device", "run", "timing_model"}:
        rows, left_out = of_one_device(*rows)
    about |= {"compiler", "timing_model"} if "target" in about else set()
    found = comparing.compare(*rows, metrics=metrics, about=about)
    everything = v.text("everything") == "yes"
    sheets = [*comparison.tables(found, everything=everything), *comparison.unpaired(found)]
    said_ = [*comparing.summary(found), f"{counted(len(found.pairs), 'setup')} compared", *left_out]
    blocks: list[Block] = [form, *map(Text, said_), *(Table(s) for s in results.distinct(sheets))]
    if found.pairs:
        blocks.append(Table(comparison.flat(found, everything=everything), folded="all of it as one table"))
    return Page(f"{cut(sides[0], 60)} against {cut(sides[1], 60)}", blocks, lead)


#: rankings: what the form calls them, and how they are made of rows and metrics
_RANKINGS: Mapping[str, tuple[str, Callable[..., list[Sheet]]]] = {
    "top": ("the first of each metric", ranking.tops),
    "places": ("all, with their places", ranking.places),
    "merit": ("figure of merit (FELICS)", ranking.merits),
    "score": ("sum of ranks", ranking.scores),
    "pareto": ("Pareto front", ranking.fronts),
}
_TOP = 10


def rankings(v: View) -> Page:
    """Orders of merit."""
    kind, reference = v.text("kind") or "top", v.text("relative")
    if kind not in _RANKINGS:
        raise unknown("ranking", kind, _RANKINGS)
    top = v.text("top")
    if top and not (top.isdecimal() and 1 <= int(top[:9]) <= 10_000):
        raise UserError(f"top {cut(top, 20)!r}: write a number from 1 to 10000")
    count = int(top) if top else _TOP if kind == "top" else None
    metrics = ask.metrics_of(v.text("by"))
    if not metrics and kind == "score":
        metrics = list(rank.SCORE_DISTINCT)
    names_of = ranking.CATALOGUE if kind == "places" else ranking.USUAL
    usual = dict.fromkeys(n for names in names_of.values() for n in names)
    used = [*metrics, *(m.replace("encrypt", "hash") for m in metrics)] or list(usual)
    answer = v.rows.answer(ask.names(v.text("what")), v.text("where"), used, wanted=used if v.text("by") else ())
    rows = [r for r in answer.rows if r["outcome"] == "verified" and r["variant"] != "nocrypt"]
    if reference and not any(ranking.is_called(r, reference) for r in rows):
        raise NotThereError(f"{cut(reference)}: no run of it among those ranked; {_nearest(v, reference)}")
    each = v.text("variants") == "yes"
    if kind == "top":
        sheets = ranking.tops(rows, metrics, count or _TOP, reference, variants=each)
    elif kind == "pareto":
        sheets = ranking.fronts(rows, metrics)
    else:
        sheets = _RANKINGS[kind][1](rows, metrics, count, variants=each)
    form = Form(
        "/rank",
        [
            Field("kind", "ranking", kind, choices={k: text for k, (text, _) in _RANKINGS.items()}),
            Field("by", "by", v.text("by"), "rom,ram,encrypt@16/64"),
            Field("what", "names", v.text("what"), "ascon*"),
            replace(FIND, value=v.text("where")),
            Field("top", "how many", top, str(_TOP)),
            Field("relative", "relative to", reference, "aes128gcm"),
            Field("variants", "of each variant", v.text("variants"), choices={"": "all", "yes": "its best"}),
        ],
        "Rank",
    )
    made = [Table(s, bars=_bars(s)) for s in results.distinct(sheets)]
    return Page("Ranking", [form, *made, *_said(answer, rows)])


def trade_offs(v: View) -> Page:
    """Time against ROM, and what nothing beats in all."""
    what, where = ask.names(v.text("what")), v.text("where")
    answer = v.rows.answer(what, where, (*figure.load("tradeoff").metrics, *_RANKED))
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    form = Form("/trade-offs", [Field("what", "names", v.text("what"), "ascon*"), replace(FIND, value=where)], "Show")
    blocks: list[Block] = [form]
    for name, of in sorted(grouped(rows, lambda r: str(r["target"])).items()):
        blocks += _figure_of(v, "tradeoff", of, answer, f"tradeoff-{name}", results.title_of(name))
    fronts = ranking.fronts([r for r in rows if r["variant"] != "nocrypt"], ())
    return Page("Trade-offs", [*blocks, *map(Table, results.distinct(fronts)), *_said(answer, rows)])


_RANKED = ("cycles_encrypt_mean", "cycles_hash_mean", "rom", "ram")


def figures(v: View) -> Page:
    """The figures that ``plot`` draws."""
    links = [(figure.load(n).title, address.path("figures", n)) for n in figure_names()]
    return Page("Figures", [Links(links, "figures")])


def one_figure(v: View, name: str) -> Page:
    """A figure of what is asked, with its table."""
    if name not in figure_names():
        raise _none("figure", name, figure_names())
    kind = figure.load(name)
    what, where = ask.names(v.text("what")), v.text("where")
    answer = v.rows.answer(what, where, kind.metrics, every=kind.all_runs, workload=kind.workload)
    rows = sorted((r for r in answer.rows if r["outcome"] == "verified"), key=run_number)
    form = Form(
        f"/figures/{name}", [Field("what", "names", v.text("what"), "ascon*"), replace(FIND, value=where)], "Draw"
    )
    blocks = [*_figure_of(v, name, rows, answer, name, kind.title)]
    return Page(kind.title, [form, *blocks, *_said(answer, rows)], kind.note, [("figures", "/figures")])


def _figure_of(v: View, name: str, rows: Sequence[Row], answer: Answer, label: str, title: str) -> Iterable[Block]:
    kind = figure.load(name)
    points = v.rows.points(rows, answer.borrowed) if kind.of_points else {}
    data = figure.data_of(kind, rows, points)
    if data:
        context = results.shared([r for r in rows if not points or r["run"] in points], ("flags", "workload"))
        yield Picture(label, title, kind.note, spec=lambda: figure.specification(kind, data, title, context))
        yield Table(replace(figure.table(kind, data, title), label=label), folded="the figure's numbers")
    elif rows:
        yield Text(f"Nothing to draw of {counted(len(rows), 'run')}. {kind.note}")


def all_campaigns(v: View) -> Page:
    """The campaigns that come with Steelyard."""
    lines = [(n, campaigns.load(n).title) for n in campaigns.names()]
    links = [(title or n, address.path("campaigns", n)) for n, title in lines]
    return Page("Campaigns", [Links(links, "campaigns")], "What is asked for together, and what of it is there.")


def one_campaign(v: View, name: str) -> Page:
    """What of a campaign is stored, failed or missing."""
    if name not in campaigns.names():
        raise _none("campaign", name, campaigns.names())
    c = campaigns.load(name)
    rows = v.rows.complete([r for t in c.targets or v.store.targets() for r in v.rows.found(asked=(), target=t)])
    blocks = [Table(s, wide=("detail",)) for s in campaigns.sheets(c, rows)]
    repeat = Text(f"steelyard run campaigns/{name}.toml weighs what is missing.")
    return Page(c.title or name, [*blocks, repeat], trail=[("campaigns", "/campaigns")])


def document(v: View, name: str) -> Page:
    """A document of the project."""
    return Page(documents.PAGES[name], [Markup(f'<div class="prose">{documents.html(name)}</div>')])


def search(v: View) -> Page:
    """Names that hold, or nearly are, what is looked for."""
    text = v.text("q")
    form = Form("/search", [Field("q", "look for", text, "ascon, uno, or the beginning of a digest")], "Search")
    if not text:
        return Page("Search", [form])
    low = text.lower()
    names = _names(v)
    hits = [n for n in names if low in n.lower()]
    hits = hits or get_close_matches(low, names, n=10, cutoff=0.6)
    lines = [
        (names[n][0], n, names[n][1]) for n in sorted(hits, key=lambda n: (not n.lower().startswith(low), len(n), n))
    ]
    found = Links([(f"{kind} {n}", to) for kind, n, to in lines[:HITS]], f"{counted(len(hits), 'hit')}")
    blocks: list[Block] = [form, found] if hits else [form, Text("Nothing is called so.")]
    if len(text) >= address.SHORTEST and not set(text) - set("0123456789abcdef"):
        key = v.store.of_setup(text[:64])
        blocks += [
            Links([(f"run {n}", address.path("runs", *address.run(of, t))) for n, of, t, _ in key[:HITS]], "runs")
        ]
    return Page("Search", blocks)


def _names(v: View) -> dict[str, tuple[str, str]]:
    """All that has a page by name: what it is, and its address."""
    names: dict[str, tuple[str, str]] = {}
    for _, f, of, n in v.store.implementations():
        names.setdefault(f"{of}/{n}", ("implementation", address.path("implementations", of, n)))
        names.setdefault(of, ("variant", address.path("variants", of)))
        names.setdefault(f, ("family", address.path("families", f)))
    for n in {*v.store.targets(), *target_names()}:
        names.setdefault(n, ("target", address.path("targets", n)))
    return names


def _nearest(v: View, name: str) -> str:
    near = get_close_matches(name.strip("*?"), _names(v), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else "/search finds what there is"


def _none(kind: str, name: str, known: Iterable[str]) -> NotThereError:
    return NotThereError(str(unknown(kind, name, known)))


class Route(NamedTuple):
    """A page function, and the parameters that its address may ask."""

    make: Callable[..., Page]
    asked: Sequence[str] = ()


#: by the words of an address; ``*`` stands for a name
ROUTES: Mapping[tuple[str, ...], Route] = {
    (): Route(front),
    ("targets",): Route(targets),
    ("targets", "*"): Route(target),
    ("families", "*"): Route(family),
    ("variants", "*"): Route(variant),
    ("implementations", "*", "*"): Route(implementation),
    ("runs", "*"): Route(run),
    ("runs", "*", "profile"): Route(profile),
    ("runs", "*", "image"): Route(image),
    ("runs", "*", "*"): Route(run),
    ("runs", "*", "*", "log"): Route(log),
    ("tables",): Route(tables, ("what", "where", "columns", "sort", "pivot", "all")),
    ("results",): Route(whole, _WHOLE),
    ("compare",): Route(compare, ("old", "new", "where", "columns", "everything")),
    ("rank",): Route(rankings, ("kind", "by", "what", "where", "top", "relative", "variants")),
    ("trade-offs",): Route(trade_offs, ("what", "where")),
    ("figures",): Route(figures),
    ("figures", "*"): Route(one_figure, ("what", "where")),
    ("campaigns",): Route(all_campaigns),
    ("campaigns", "*"): Route(one_campaign),
    **{(name,): Route(lambda v, name=name: document(v, name)) for name in documents.PAGES},
    ("search",): Route(search, ("q",)),
}


def route(names: Sequence[str]) -> tuple[Route, tuple[str, ...]] | None:
    """The page of an address, and the names in it."""
    for words, found in ROUTES.items():
        if len(words) == len(names) and all(w in ("*", n) for w, n in zip(words, names, strict=True)):
            return found, tuple(n for w, n in zip(words, names, strict=True) if w == "*")
    return None
