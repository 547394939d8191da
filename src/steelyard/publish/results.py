"""Records to tables: one for each target and primitive, or all as one for machines, and what has no figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from operator import itemgetter

from msgspec.structs import replace

from ..analyse.answer import has_fewer, in_means, most_known, recency, run_number
from ..model.errors import UserError
from ..model.metric import Size, metric, size_of
from ..model.primitive import PRIMITIVES
from ..model.reasons import Reason
from ..model.record import OPERATIONS
from ..model.row import CONTEXT, Row, Value
from ..model.row import grouped as by_key
from ..model.target import load_target, target_names
from ..model.workload import workload
from ..rtl.device import device_names, load_device
from ..store import Store
from .sheet import Column, Group, Line, Lines, Sheet, distinct

_HASH = ("cycles_hash_mean", "hash_per_byte", "hash_fixed", "rom", "stack", "ram_static")
#: metrics shown where none are named, as far as there are any
DEFAULT = {
    "crypto_aead": (
        "cycles_encrypt_mean", "cycles_decrypt_mean", "cycles_reject_mean", "encrypt_per_byte", "encrypt_fixed", "rom",
        "stack", "ram_static",
    ),
    "crypto_hash": _HASH,
    "crypto_cxof": _HASH,
    "crypto_block": (
        "cycles_encrypt_mean", "cycles_decrypt_mean", "cycles_schedule_encrypt_mean", "cycles_schedule_decrypt_mean",
        "encrypt_per_byte", "context", "rom", "rom_encrypt", "stack", "ram_static",
    ),
    "lwc_rtl": (
        "ge", "lut", "lut_low", "elements_low", "elements_high", "ff", "depth", "fmax_mean", "fmax_sd",
        "fmax_best", "fmax_reported", "bits_per_cycle_pt", "bits_per_cycle_ad", "bits_per_cycle_hash",
        "throughput_pt_long", "throughput_pt_1536", "throughput_pt_64", "throughput_pt_16", "throughput_hash_long",
        "key_cycles", "toggles_pt_1536",
    ),
}  # fmt: skip
#: metrics shown besides where a run has them and they are not zero: the known answers' own time is stored where it is
#: another than that of fresh inputs
_SELDOM = (
    "heap", *(f"cycles_{o}_known_mean" for o in OPERATIONS if o != "reject"),
    "felics_code_size", "felics_code_ram", "felics_code_time", "felics_code_total", "felics_ram", "felics_cycles_total",
    *(f"energy_{o}_measured{s}" for o in ("encrypt", "hash") for s in ("", "_uncertainty")),
)  # fmt: skip
#: all that a table may show where nothing is named
USUAL = (*dict.fromkeys(chain.from_iterable(DEFAULT.values())), *_SELDOM)
#: label of the table of runs that have a reason instead
WITHOUT = "without"
#: most sizes of a workload that stand in the table
FEW = 6
#: devices that a job says it runs on, and how to say so
ON: Mapping[Value, str] = {"board": "measured on a board", "virtual-board": "measured on a virtual board"}
#: what RAM of a block cipher lacks
_CONTEXT = "RAM: without the context of a key, which the caller holds (metric context)"
#: what rows of one table share, because figures that differ in it cannot be compared
GROUP = ("target", "primitive", "device", "compiler", "harness", "timing_model")
#: how tables are sorted where nobody says
ORDER = (("target", False), ("primitive", False), ("cycles_encrypt_mean", False), ("cycles_hash_mean", False))


def column(name: str) -> Column:
    """A context column or a metric as a column."""
    if name in CONTEXT:
        return Column(name, CONTEXT[name])
    m = metric(name)
    return Column(name, m.title, m.unit, m.digits)


def run_of(row: Row) -> tuple[int, ...]:
    """The run of a row."""
    run = row.get("run")
    return (run,) if isinstance(run, int) else ()


def title_of(target: str, device: Value = None) -> str:
    """A target with its chip and how far its figures are validated; the device where it is a board, not what the target
    says."""
    if target in device_names():
        return f"{target} ({load_device(target).title})"
    if target not in target_names():
        return target
    t = load_target(target)
    if device in ON:
        return f"{target} ({t.chip_name}, {t.chip.clock_hz / 1e6:g} MHz, {ON[device]})"
    if t.device != "simulator":
        return f"{target} ({t.chip_name}, {t.tier})"
    return f"{target} ({t.chip_name}, {t.chip.clock_hz / 1e6:g} MHz, simulated, {t.tier})"


def heading(group: Sequence[Row]) -> str:
    """What stands above a table of rows that :func:`grouped` puts together."""
    return f"{title_of(str(group[0]['target']), group[0].get('device'))}: {group[0]['primitive']}"


def evidence(device: Value) -> str:
    """How a device's figures came about."""
    return "simulated" if device == "simulator" else ON.get(device, "measured")


def measured_on(rows: Iterable[Row]) -> list[str]:
    """Says on which targets figures are a board's, where neither title nor column does."""
    targets: dict[str, set[str]] = {}
    for r in rows:
        if (how := ON.get(r.get("device"))) is not None:
            targets.setdefault(how, set()).add(str(r["target"]))
    return [f"{how}: {', '.join(sorted(of))}" for how, of in sorted(targets.items())]


def grouped(rows: Iterable[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Rows that can stand in one table, by what they share, sorted by it."""
    groups = by_key(rows, lambda r: tuple(map(r.get, GROUP)))
    return dict(sorted(((tuple(map(str, key)), group) for key, group in groups.items()), key=itemgetter(0)))


def of_group(sheet: Sheet, key: tuple[str, ...], rows: Sequence[Row]) -> Sheet:
    """The table, as one of some that :func:`grouped` puts together: others may have its label."""
    bare = key[1] == "crypto_block" and any(c.name == "ram" for c in sheet.columns)
    notes = (*sheet.notes, *([_CONTEXT] if bare else ()))
    return replace(sheet, notes=notes, group=Group(sheet.label, key, (len(rows), max(map(recency(), rows)))))


def tables(
    rows: Sequence[Row], columns: Sequence[str], *, caption: str = "", label: str = "", more: Sequence[str] = ()
) -> list[Sheet]:
    """One table for each target and primitive; two where compiler, harness or timing model differ.

    ``columns`` are those shown, in order, and the outcome where a row is not verified; when empty, the implementation,
    what differs between rows, and the primitive's usual metrics and ``more``, with a table of runs without verified
    figures at the end. ``caption`` and ``label`` may hold ``{target}`` and ``{primitive}``.
    """
    sheets = []
    groups = grouped(rows if columns else [r for r in rows if measured(r)])
    for key, group in groups.items():
        target, primitive, _, compiler, *_ = key
        there = [n for n in more if any(r.get(n) is not None for r in group)]
        chosen = [column(c) for c in _marked(columns, group) or dict.fromkeys([*_usual(group, primitive), *there])]
        shown = {c.name for c in chosen}
        one = [f"{CONTEXT[n]} {v}" for n in ("flags", "workload") if (v := _same(group, n)) and n not in shown]
        if len([k for k in groups if k[:2] == key[:2]]) > 1:
            one.append(f"harness {key[4][:8]}, timing model {key[5]}")
        names = {"target": target, "primitive": primitive}
        called = _fill(label, names) if label else f"{target}-{primitive}"
        sheet = of_group(Sheet(heading(group), called, chosen, lines(group, chosen)), key, group)
        sheet = replace(
            sheet, notes=(", ".join([*one, f"compiler {compiler}"]), *_unseen(group, shown), *_explained(group, shown))
        )
        if caption:
            sheet = replace(sheet, caption=_fill(caption, names))
        sheets.append(sheet)
    return distinct([*sheets, *([] if columns else without_figures(rows))])


def measured(row: Row) -> bool:
    """Whether a row has figures, verified or not."""
    return row["outcome"] == "verified" or any(row.get(n) is not None for n in DEFAULT[str(row["primitive"])])


def without_figures(rows: Iterable[Row]) -> list[Sheet]:
    """Runs that have a reason instead of verified figures, by target; with the ``detail`` that rows have. What is for
    another machine, and says so on several targets, is one line."""
    failed = sorted((r for r in rows if r["outcome"] != "verified"), key=lambda r: (str(r["target"]), str(r["label"])))
    foreign = by_key(
        (r for r in failed if r["outcome"] == Reason.FOREIGN_ISA), lambda r: (r["label"], r["primitive"], r["flags"])
    )
    same = [some for some in foreign.values() if len({r["target"] for r in some}) > 2]
    covered = set(map(id, chain(*same)))
    failed = [r for r in failed if id(r) not in covered]
    columns = [column(n) for n in ("run", "label", "primitive", "target", "flags", "outcome")]
    columns = [*columns, Column("detail", "detail")]
    if len({r["primitive"] for r in [*failed, *chain(*same)]}) < 2:
        del columns[2]
    unjudged = any(r["outcome"] == Reason.NO_EXPECTED for r in failed)
    notes = (f"{Reason.NO_EXPECTED}: {Reason.NO_EXPECTED.next_action}",) if unjudged else ()
    body = [*lines(failed, columns), *(_together(some, columns) for some in same)]
    return [Sheet("No verified figures", WITHOUT, columns, body, notes=notes)] if body else []


def _together(rows: Sequence[Row], columns: Sequence[Column]) -> Line:
    """Rows that differ in target and run as one line, with the first one's run and detail."""
    [line] = lines([rows[0] | {"target": ", ".join(dict.fromkeys(str(r["target"]) for r in rows))}], columns)
    return replace(line, runs=tuple(chain(*map(run_of, rows))))


def few_sizes(load: str) -> bool:
    """Whether the sizes of a workload, as records name it, are few enough to stand in a table."""
    named = re.search(r"\((\d+) sizes?,", load)
    return 0 < (int(named[1]) if named else load.count("/")) <= FEW


def complete(rows: Sequence[Row], store: Store) -> list[Row]:
    """The rows with what tables show besides metrics: why a run has no figures, and cycles at each size of workloads
    that have few."""
    details = store.details([run_number(r) for r in rows if r["outcome"] != "verified"])
    more: dict[int, Row] = {run: {"detail": text} for run, text in details.items()}
    for run, points in store.points([run_number(r) for r in rows if few_sizes(str(r["workload"]))]).items():
        more.setdefault(run, {}).update({f"{p.operation}@{p.adlen}/{p.mlen}": p.cycles for p in points})
    return [r | more.get(run_number(r), {}) for r in rows]


def _usual(group: Sequence[Row], primitive: str) -> list[str]:
    differing = [n for n in ("flags", "workload") if _same(group, n) is None]
    differing += ["outcome"] if _same(group, "outcome") != "verified" else []
    metrics = [n for n in DEFAULT[primitive] if any(r.get(n) is not None for r in group)]
    metrics += [n for n in _SELDOM if any(r.get(n) for r in group)]
    return ["run", "label", *differing, *metrics, *_sizes(group, primitive)]


def _sizes(group: Sequence[Row], primitive: str) -> list[str]:
    """Cycles at the workload's own sizes, where these are few."""
    loads = {str(r["workload"]) for r in group}
    if not any(map(few_sizes, loads)):
        return []
    offer = PRIMITIVES[primitive]
    operation = offer.first
    found = {n: size for r in group for n in r if (size := size_of(n)) and size.operation == operation}
    if offer.ad and "encrypt" in offer.operations:  # those that do not fit are asked for too
        asked = [(f"{operation}@{a}/{m}", Size(operation, a, m)) for w in loads if few_sizes(w) for a, m in _named(w)]
        found |= dict(asked)
    return sorted(found, key=lambda n: (found[n].adlen, found[n].mlen)) if len(found) <= FEW else []


def _named(load: str) -> tuple[tuple[int, int], ...]:
    return workload(load).sizes if load[:1].isdigit() else ()


def _unseen(group: Sequence[Row], shown: Set[str]) -> list[str]:
    """Says what tells lines of one name apart and stands in no column."""
    if "run" in shown or not shown & {"label", "variant"}:
        return []
    at: dict[Value, Row] = {}
    apart = {n for r in group for n in ("flags", "workload") if at.setdefault(r["label"], r)[n] != r[n]} - shown
    return [f"lines of one name differ in {' and '.join(sorted(apart))}: add to --columns"] if apart else []


def _explained(group: Sequence[Row], shown: Set[str]) -> list[str]:
    """Says what it means that a column of one size lacks a figure, and why there are two means."""
    sizes = [n for n in shown if size_of(n)]
    said = ["no figure where a size does not fit, or is not in the run's workload"] if sizes else []
    said = said if any(r.get(n) is None for n in sizes for r in group) else []
    if any(n.endswith("_known_mean") for n in shown):
        said.append("known answers: their own mean, where time depends on the inputs; the other is over fresh inputs")
    return said + fewer(group, sorted(shown))


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{', '.join(names[:8])}{more}"


def fewer(
    rows: Sequence[Row], names: Sequence[str], most: int = 0, called: str = "label", *, marks: bool = False
) -> list[str]:
    """Says whose means are over fewer calls than others', of which the longest is over ``most``, or these rows': an
    algorithm for short messages looks faster than it is. Rows are ``called`` what this column has; those that are
    ``marks`` of a figure do not have the means themselves."""
    means = [n for n in names if n not in CONTEXT and metric(n).known]
    if not means:
        return []
    here, least = most_known(rows)
    most = most or here
    few: dict[int, dict[str, None]] = {}
    for r in rows:
        if has_fewer(r, most, least) and (marks or any(r.get(n) is not None for n in means)):
            few.setdefault(in_means(r) or 0, {})[str(r[called])] = None
    return [f"mean over {v} known answers, of others over up to {most}: {some([*few[v]])}" for v in sorted(few)]


def shared(group: Sequence[Row], names: Sequence[str] = ("workload", "compiler")) -> list[str]:
    """Workload and compiler of a table, where its rows share them."""
    said = [f"{n} {v}" for n in names if group and (v := _same(group, n))]
    return [", ".join(said)] if said else []


def _marked(columns: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """The columns chosen, if any, and the outcome where a row's is not that its figures are verified."""
    verified = not columns or "outcome" in columns or all(r["outcome"] == "verified" for r in rows)
    return [*columns] if verified else [*columns, "outcome"]


def flat(rows: Sequence[Row], columns: Sequence[str]) -> Sheet:
    """All rows as one table, with what tells them apart."""
    usual = ["run", "primitive", "family", "variant", "implementation", "digest", "origin", "target", "device"]
    usual += ["flags", "workload", "compiler", "harness", "timing_model"]
    names = _marked(columns, rows) or [*usual, "outcome", *_metrics(rows)]
    names = names if "run" in names else ["run", *names]
    chosen = [Column(c.name, c.title, c.unit, None if c.name in CONTEXT else c.digits) for c in map(_any, names)]
    return Sheet("results", "results", chosen, lines(rows, chosen))


def _metrics(rows: Sequence[Row]) -> list[str]:
    """Metrics that some row has, those of the first row first."""
    first: dict[str, int] = {}
    for name in dict.fromkeys(chain.from_iterable(rows)):
        at = next((k for k, r in enumerate(rows) if r.get(name) is not None), None)
        if at is not None and name not in CONTEXT and name != "detail":
            first[name] = at
    return sorted(first, key=first.__getitem__)


def _any(name: str) -> Column:
    """A column; metrics that this version has no title for keep their name."""
    try:
        return column(name)
    except UserError:
        return Column(name, name, "", 3)


def lines(rows: Sequence[Row], columns: Iterable[Column]) -> Lines:
    """Rows as lines of these columns."""
    names = [c.name for c in columns]
    return Lines(rows, lambda row: Line(list(map(row.get, names)), run_of(row)))


def _same(group: Sequence[Row], name: str) -> str | None:
    first = group[0].get(name)
    return str(first) if first is not None and all(r.get(name) == first for r in group) else None


def _fill(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text
