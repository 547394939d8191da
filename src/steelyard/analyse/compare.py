"""Two sets of rows, setup by setup: what changed, by how much, and whether it may be said at all."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from ..measure.cycles import OF_LINES
from ..measure.unseen import on_line, resolution
from ..model.errors import UserError
from ..model.metric import CLOCK, ERRORS, Metric, further, metric, of_point, of_scenario, of_sizes, uncertainty_of
from ..model.row import Row, Value, grouped
from ..model.target import load_target, target_names
from . import inputs
from .answer import (
    common_workload,
    countable,
    has_fewer,
    has_figures,
    most_known,
    of_histories,
    of_one_device,
    recency,
)
from .choose import block_bytes
from .errors import error_of
from .places import Current, each_with_its_past, matched, of_one_place, tied

#: what a setup is called by; two rows are a pair when these are the same
PAIRED = ("primitive", "family", "variant", "implementation", "target", "device", "flags")
#: those that name sources
_NAMED = PAIRED[:4]
#: what must be the same in both rows of a pair for their figures to say anything about what is compared
COMPARABLE = ("digest", "workload", "compiler", "harness", "timing_model")
#: a comparison of these is one of different sources
_OF_SOURCES = frozenset(("family", "variant", "implementation", "label", "origin", "digest", "run", "revision"))
#: one of these names where sources came from
_OF_PLACES = frozenset(("origin", "digest", "run", "revision"))
#: how large hardware is
AREA = ("ge", "lut", "ff")
#: how soon hardware is done with a short message, which its figures of long ones do not tell
STARTS = ("encrypt@0/16", "encrypt@16/0", "decrypt@0/16", "decrypt@16/0", "hash@0/16")
#: what bounds the frequency of a device that has none
DEPTH = "depth"
#: metrics compared where none are named, as far as :func:`usual` has them of a row
METRICS = (
    "cycles_encrypt_mean",
    "cycles_decrypt_mean",
    "cycles_reject_mean",
    "cycles_hash_mean",
    "cycles_schedule_encrypt_mean",
    "cycles_schedule_decrypt_mean",
    "rom",
    "stack",
    "ram_static",
    "heap",
    *AREA,
    *("fmax_mean", "fmax_reported"),
    *(f"bits_per_cycle_{data}" for data in ("pt", "ad", "hash", "decrypt_pt", "decrypt_ad")),
    *(f"throughput_{data}" for data in ("pt_long", "pt_16", "ad_long", "hash_long", "hash_16", "decrypt_pt_16")),
    *("key_cycles", "toggles_pt_1536", DEPTH),
    *STARTS,
)
#: units of what a frequency is in
OF_FREQUENCY = ("MHz", "Mbit/s", "µs")
#: what says how far frequencies of routing differ by chance
_SEEDS = ("fmax_mean", "fmax_sd", "fmax_seeds")
#: ``other`` is a change that is neither
Verdict = Literal["better", "worse", "same", "noise", "other"]
Key = tuple[Value, ...]
_NUMBER = (int, float)


class Change(Struct, frozen=True):
    """One metric of a pair. ``ratio`` is new over old; None where old is not above 0 and new is another. ``within``: it
    changed by no more than the median error that simulated cycles carry, the larger of both sides', so that a chip may
    say otherwise; ``unjudged``: of one side's cycles no error is known. ``untold``: it may be the inputs', and may not
    (:func:`.inputs.apart`); ``hidden``: other inputs may hide this much of a change. ``beside``: it was not asked for,
    and says what they hide."""

    metric: str
    old: float
    new: float
    verdict: Verdict
    within: bool = False
    unjudged: bool = False
    untold: bool = False
    hidden: float = 0.0
    beside: bool = False

    @property
    def ratio(self) -> float | None:
        """New over old."""
        if self.new == self.old:
            return 1.0
        return self.new / self.old if self.old > 0 else None


class Pair(Struct, frozen=True):
    """Two rows of one setup. ``differs`` names what makes them incomparable, if they were compared all the same.
    ``left_out`` are the metrics that both sides have and that were not compared, as they are of other calls: of other
    sizes, or ``fewer``: one side has no room in RAM for many known answers, so that its means are those of shorter
    calls, and ``without_means`` that they are among what was left out."""

    old: Row
    new: Row
    changes: tuple[Change, ...]
    differs: tuple[str, ...] = ()
    fewer: bool = False
    without_means: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def verified(self) -> tuple[bool, bool]:
        """Whether the old row is verified, and whether the new one is."""
        old, new = (r.get("outcome", "verified") == "verified" for r in (self.old, self.new))
        return old, new

    @property
    def figured(self) -> tuple[bool, bool]:
        """Whether the old row has figures, and whether the new one does: those that nobody has answers of have some."""
        return has_figures(self.old), has_figures(self.new)


class Comparison(Struct, frozen=True):
    """``pairs`` hold figures on both sides, ``failed`` lack them on one side or both; ``missing`` are only in the old
    rows, ``added`` only in the new ones, ``refused`` cannot be compared, with the fields that differ. ``workloads``
    counts setups by what both sides have besides the workload that is compared. ``several`` names what the comparison
    is about where one side has more than one of it for a setup, with all that it has; ``sources`` are sentences on
    labels that mean sources from several places, of which one was compared; and ``past`` are those of them on older
    sources of a place that has gone on."""

    pairs: tuple[Pair, ...]
    failed: tuple[Pair, ...]
    missing: tuple[Row, ...]
    added: tuple[Row, ...]
    refused: tuple[tuple[Row, Row, tuple[str, ...]], ...]
    about: tuple[str, ...]
    workloads: Mapping[str, int]
    several: Mapping[str, Sequence[str]]
    sources: tuple[str, ...] = ()
    past: tuple[str, ...] = ()

    @property
    def lost(self) -> tuple[Pair, ...]:
        """Setups that were verified, and now are not, or had figures, and now have none."""
        return tuple(p for p in (*self.pairs, *self.failed) if (True, False) in (p.verified, p.figured))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was compared, or only the baseline, which each run has and is the same in both, beside
        others that were not."""
        others = (*self.missing, *self.added, *(p.new for p in self.failed), *(new for _, new, _ in self.refused))
        apart = any(r.get("variant") != "nocrypt" for r in others)
        return not self.pairs or (apart and all(p.new.get("variant") == "nocrypt" for p in self.pairs))

    @property
    def unlike(self) -> tuple[Pair, ...]:
        """Setups of which one side only is verified, or has figures."""
        return tuple(p for p in (*self.pairs, *self.failed) if p.verified[0] != p.verified[1] or len({*p.figured}) > 1)


def needed(metrics: Iterable[str]) -> tuple[str, ...]:
    """The columns that rows have to have for a comparison of these ``metrics``: these, and all that says how far they
    can be told apart."""
    metrics = tuple(metrics)
    beside = [name for m in metrics if (name := uncertainty_of(m)) is not None]
    for line in filter(None, map(OF_LINES.fullmatch, metrics)):
        beside += ["encrypt_per_byte", *further("encrypt")]  # they tell the bytes of a block
        beside += [of_point(line[1], s) for s in on_line(line[0], inputs.ASKED)]
    if any(metric(m).unit in OF_FREQUENCY for m in metrics):
        beside += _SEEDS
    return tuple(dict.fromkeys((*metrics, *beside, *inputs.needed(metrics), "spread_percent", CLOCK, *ERRORS)))


def usual(row: Row, names: Iterable[str], wanted: Collection[str]) -> Iterator[str]:
    """Those of the metrics that are compared of a row: where they are not ``wanted``, ``STARTS`` of hardware only, and
    ``DEPTH`` where there is no frequency."""
    timed = any(row.get(n) is not None for n in ("fmax_mean", "fmax_reported"))
    seldom = {*(STARTS if row.get("primitive") != "lwc_rtl" else ()), *((DEPTH,) if timed else ())} - {*wanted}
    return (n for n in names if n not in seldom)


def compare(
    old: Sequence[Row],
    new: Sequence[Row],
    *,
    metrics: Collection[str] = METRICS,
    threshold: float = 0.0,
    mixed: bool = False,
    sources: bool = False,
    about: Collection[str] = (),
    wanted: Collection[str] = (),
    beside: Collection[str] = (),
) -> Comparison:
    """Pairs rows and compares them.

    What all old rows share and all new rows share differently (the implementation, the flags) is what the
    comparison is ``about`` and does not keep rows from being pairs; more such columns can be named, among them
    those of ``COMPARABLE``. It is never the primitive: a block is not an AEAD call. ``threshold`` is the fraction up
    to which a change counts as none.

    Of several rows of one setup the newest two make the pair whose ``COMPARABLE`` are the same, of the workload that
    most setups have, among those that have most of the metrics ``wanted``; where there is none, without the metrics
    that depend on sizes. Sources may differ where ``sources`` says so or implementations are what is compared. Columns
    ``beside`` have to be the same in a pair too. Of a name that one side has from several places, rows of one place are
    a pair, if both sides have one of these places.
    """
    said: dict[str, None] = {}
    old, new = ([inputs.with_known(r, metrics) for r in rows] for rows in (old, new))
    # what is asked for by where it came from, or as other sources, is compared place by place, else each name is of one
    apart = sources or bool({*about} & _OF_PLACES)
    if not apart:
        old, new = of_one_place(old, said, beside=new), of_one_place(new, said, beside=old)
    only = {n: (_only(old, n), _only(new, n)) for n in (*PAIRED, "workload")}
    subject = {n for n, (a, b) in only.items() if a is not None and b is not None and a != b} | set(about)
    subject.discard("primitive")
    if sources or subject & _OF_SOURCES:
        subject.add("digest")
    if "device" in subject:  # what counts the cycles follows from it
        subject.add("timing_model")
    named = [n for n in PAIRED if n not in subject and (n != "family" or not apart)]
    if apart:  # of several packages of one name, each has its own past
        names = [n for n in _NAMED if n not in subject]
        old, new = each_with_its_past(old, new, names)
        old, new = (of_one_place(rows, said, (*names, "label"), ours=sources) for rows in (old, new))
        if "revision" not in about:
            old, new = tied(old, new, (*named, *beside))
    key = (*named, *beside, "place")
    must = tuple(n for n in COMPARABLE if n not in subject)
    left, right = (
        grouped(countable(rows, (*key, "digest"))[0], lambda r: tuple(map(r.get, key))) for rows in (old, new)
    )
    workload = "" if "workload" in subject else common_workload(_of_both(left, right), wanted)
    on_both = [n for n in metrics if all(any(r.get(n) is not None for r in rows) for rows in (old, new))]
    pairs: list[Pair] = []
    failed: list[Pair] = []
    refused = []
    others: Counter[str] = Counter()
    gone = of_histories((*old, *new))
    current, past = Current((old, new) if apart else ((*old, *new),)), dict[str, bool]()
    for k in (k for k in left if k in right):
        a, b = matched(*current.of(left[k], right[k], same="digest" in must), must, workload, gone)
        both = _workloads(left[k]) & _workloads(right[k]) if "workload" not in subject else set()
        others.update(both - {a.get("workload"), b.get("workload")})
        differs = tuple(n for n in must if a.get(n) != b.get(n) and a.get(n) is not None and b.get(n) is not None)
        if "digest" in differs or (set(differs) - {"workload"} and not mixed):
            refused.append((a, b, differs))
        else:
            figures = [metric(n) for n in usual(a, on_both, wanted)]
            some = (
                [m for m in figures if not (of_sizes(m.name) or of_scenario(m.name))]
                if "workload" in differs
                else figures
            )
            fewer = _fewer(a, b)
            shorter = fewer and not mixed
            means = [m for m in some if m.known] if shorter else []
            some = [m for m in some if m not in means]
            without = [m.name for m in figures if m not in some] if len(some) < len(figures) else []
            left_out = tuple(n for n in without if None not in (a.get(n), b.get(n)))
            past.update(() if apart else current.past(a, b))
            asked = [m.name for m in some]
            a, b, judges = inputs.of_judges(a, b, [] if shorter else asked)
            beside = [n for n in judges if n not in asked]
            changes = tuple(_changes(a, b, [*some, *map(metric, beside)], threshold, beside))
            pair = Pair(a, b, changes, differs, fewer, bool(means), left_out)
            (pairs if pair.changes or all(pair.figured) else failed).append(pair)
    return Comparison(
        tuple(pairs),
        tuple(failed),
        tuple(max(rows, key=recency()) for k, rows in left.items() if k not in right),
        tuple(max(rows, key=recency()) for k, rows in right.items() if k not in left),
        tuple(refused),
        tuple(n for n in (*PAIRED, *COMPARABLE) if n in subject),
        others,
        _several([side[k] for k in left if k in right for side in (left, right)], [n for n in PAIRED if n in subject]),
        (*said, *past),
        tuple(text for text, gone_on in past.items() if gone_on),
    )


def _fewer(a: Row, b: Row) -> bool:
    return any(has_fewer(r, *most_known((a, b))) for r in (a, b))


def _workloads(rows: Iterable[Row]) -> set[str]:
    return {str(w) for r in rows if (w := r.get("workload")) is not None}


def _several(groups: Iterable[Sequence[Row]], names: Iterable[str]) -> dict[str, list[str]]:
    """Of each column that has more than one value in a group, all that it has there."""
    found: dict[str, set[str]] = {}
    for name in names:
        for group in groups:
            values = {str(r.get(name)) for r in group}
            if len(values) > 1:
                found.setdefault(name, set()).update(values)
    return {name: sorted(values) for name, values in found.items()}


def _only(rows: Sequence[Row], name: str) -> Value:
    first = rows[0].get(name) if rows else None
    return first if all(r.get(name) == first for r in rows) else None


def _of_both(left: Mapping[Key, Sequence[Row]], right: Mapping[Key, Sequence[Row]]) -> Iterable[Sequence[Row]]:
    """Rows of each key whose workloads both sides have."""
    for k in (k for k in left if k in right):
        both = {r.get("workload") for r in left[k]} & {r.get("workload") for r in right[k]}
        yield [r for r in (*left[k], *right[k]) if r.get("workload") in both]


def _changes(a: Row, b: Row, metrics: Iterable[Metric], threshold: float, beside: Collection[str]) -> Iterable[Change]:
    spreads = [s / 100 if isinstance(s := r.get("spread_percent"), _NUMBER) else 0.0 for r in (a, b)]
    errors = {id(r): error_of(r) for r in (a, b)}
    error = max((e.median_percent / 100 for e in errors.values() if e is not None), default=0.0)
    unjudged = any(errors[id(r)] is None and _may_be_off(r) for r in (a, b))
    for m in metrics:
        old, new = a.get(m.name), b.get(m.name)
        if isinstance(old, _NUMBER) and isinstance(new, _NUMBER):
            spread = spreads[0] * abs(old) + spreads[1] * abs(new)
            unseen = _unseen(a, m, old), _unseen(b, m, new)
            # what uncertainties have in common, such as one meter's gain, only makes a difference surer; limits add up
            both = math.hypot(*unseen) if uncertainty_of(m.name) else sum(unseen)
            near, wide = inputs.apart(a, b, m.name)
            verdict = _verdict(m, old, new, threshold, spread, both + near)
            untold = verdict in ("better", "worse") and abs(new - old) <= wide
            timed = m.timed and verdict in ("better", "worse")
            within = timed and abs(new - old) <= error * max(abs(old), abs(new))
            said = "noise" if untold else verdict
            yield Change(m.name, old, new, said, within, timed and unjudged, untold, wide, m.name in beside)


def _may_be_off(row: Row) -> bool:
    """Whether a row's cycles are simulated by a model that is not exact."""
    name = str(row.get("target"))
    return row.get("device") == "simulator" and name in target_names() and load_target(name).tier != "exact"


def _unseen(row: Row, m: Metric, value: float) -> float:
    """By how much a figure of a board may be off: of energy and power that a meter measured, their uncertainty; of
    cycles, and the energy that is made of them, what its analyzer, which the row's timing model names, cannot tell, and
    what is not known of its clock. Of hardware's frequency, and what is made of it, the standard error of its mean over
    seeds. 0 of other rows."""
    if m.unit in OF_FREQUENCY:
        mean, sd, seeds = (float(v) if isinstance(v := row.get(n), _NUMBER) else 0.0 for n in _SEEDS)
        return abs(value) * sd / mean / math.sqrt(seeds) if mean and seeds and m.name != "fmax_reported" else 0.0
    if (beside := uncertainty_of(m.name)) is not None:
        return float(known) if isinstance(known := row.get(beside), _NUMBER) else 0.0
    clock = row.get(CLOCK)
    off = abs(value) * clock / 1e6 if isinstance(clock, _NUMBER) and m.timed else 0.0
    sampled = re.fullmatch(r"sigrok \S+ (\S+) MHz", str(row.get("timing_model")))
    if sampled is None or not m.timed or row["target"] not in target_names():
        return off
    target = load_target(str(row["target"]))
    each = (target.nanojoule_per_cycle or 0.0) / 1000 if m.unit == "µJ" else 1.0
    if OF_LINES.fullmatch(m.name):
        of_blocks = row.get("primitive") == "crypto_block"
        each = 1 / (block_bytes(row) or 1) if of_blocks else inputs.reach_of(m.name, row)
    return off + each * resolution(target.board_hz / (float(sampled[1]) * 1e6))


def _verdict(m: Metric, old: float, new: float, threshold: float, spread: float, unseen: float) -> Verdict:
    change = abs(new - old) / abs(old) if old else float(new != old)
    if change <= threshold:
        return "same"
    # repeated measurements: within the distance of the quartiles on both sides nothing can be said
    if spread and (m.timed or m.unit == "ticks") and abs(new - old) <= spread:
        return "noise"
    if abs(new - old) <= unseen:
        return "noise"
    return "other" if m.lower is None else "better" if (new < old) is m.lower else "worse"


#: what the words for one side say of which column; where the other side says otherwise the comparison is about it
Words = set[tuple[str, str, str]]


def about_of(asked: Sequence[Words], sides: Sequence[Sequence[Row]]) -> set[str]:
    """The columns of which both sides speak, and differently. What one side only says narrows that side: its rows have
    partners like themselves, unless it names a run or a file, or the other side has one other value throughout."""
    old, new = ({column for column, _, _ in words} for words in asked)

    def told(column: str) -> bool:
        one, other = ({r.get(column) for r in rows} for rows in sides)
        return column in old & new or column in ("run", "revision") or (len(one) == len(other) == 1 and one != other)

    return {column for column, _, _ in asked[0] ^ asked[1] if told(column)}


def sides(
    asked: Sequence[Words], rows: Sequence[Sequence[Row]]
) -> tuple[Sequence[Sequence[Row]], set[str], tuple[str, ...]]:
    """The rows of both sides that can be compared, what the comparison is about, and what was left out. Raises
    :class:`UserError` where no primitive is on both sides."""
    old, new = ({str(r["primitive"]) for r in some} for some in rows)
    if old and new and not old & new:
        was, now = (", ".join(sorted(some)) for some in (old, new))
        why = "only figures of one primitive can be compared"
        raise UserError(f"the old side is of {was}, the new one of {now}: {why}; name two of one primitive")
    about = about_of(asked, rows)
    left_out: tuple[str, ...] = ()
    if not about & {"device", "run", "timing_model"}:
        rows, left_out = of_one_device(*rows)
    return rows, about | ({"compiler", "timing_model"} if "target" in about else set()), left_out  # a target's own
