"""Which rows an answer is made of: the newest sources, compiler and models of each setup, and one workload.

Every table, ranking, figure and report takes its rows from here, so that none counts a run twice, ranks sources that
the user has replaced, or draws a line through points of two workloads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from typing import Any, Literal

from msgspec import Struct

from ..model.errors import counted
from ..model.metric import of_scenario, of_sizes
from ..model.origin import is_revision, line, replaced_by, unrevised, unversioned, version
from ..model.primitive import PRIMITIVES
from ..model.reasons import MACHINE, Reason
from ..model.record import Point
from ..model.row import CONTEXT, Row, Value, grouped
from ..store import Store
from ..store.dates import APART

#: the part of others' known answers below which a mean over fewer is told, whatever the reason
_SO_MANY = 0.9

#: known answers of NIST's sizes, which means are over
NIST_CALLS = {"crypto_aead": 33 * 33, "crypto_hash": 1025, "crypto_cxof": 33 * 33}
#: what the user calls sources on a target by: the newest that were run there count, whatever the flags. An origin
#: stands for its line here
PLACE = ("primitive", "family", "label", "origin", "target", "device")
#: what changes with time beside the sources
GENERATION = ("compiler", "harness", "timing_model")
#: two rows that share this are one thing, whatever path it was named by
SAME = ("primitive", "label", "digest", "target", "device", "flags")
#: what tells the setups of rows apart
SETUP = ("primitive", "family", "label", "digest", "target", "device", "flags", "workload", *GENERATION)
#: where the project's own sources came from
BUNDLED = "bundled"
#: longest origin that stands beside a name
_SHORT = 24
#: most workloads that are told of
_SAID = 6
#: outcomes of runs that have figures
_FIGURED = ("verified", Reason.NO_EXPECTED)
#: the workload whose runs have no sizes, as those of ``check`` do
_WITHOUT_SIZES = "kat"
Key = tuple[Value, ...]
#: of workloads that as many setups have, those that answers are of
_FIRST = ("default", "felics-block-0")
#: how the workloads of scenarios begin
_FELICS = "felics-block"
#: which generation all setups of an answer share, if they are to
Together = Literal["", "most", "newest"]


class Answer(Struct, frozen=True):
    """``rows`` in the order given. ``notes`` say what was chosen and how to see what is left out. ``borrowed`` are the
    runs of another workload than the chosen one: they are there without what depends on sizes, points included."""

    rows: list[Row]
    notes: tuple[str, ...] = ()
    borrowed: frozenset[Value] = frozenset()

    def points(self, store: Store, rows: Iterable[Row]) -> Mapping[int, Sequence[Point]]:
        """All points of the runs of these of its rows, except those of another workload."""
        return store.points([run for r in rows if (run := run_number(r)) and run not in self.borrowed])


def answered(
    found: Sequence[Row],
    what: Sequence[str] = (),
    *,
    all_runs: bool = False,
    workload: str = "",
    apart: Collection[str] = (),
    every: bool = False,
    wanted: Collection[str] = (),
    together: Together = "",
    older: int = 0,
    ranked: bool = False,
) -> Answer:
    """The answer that the rows which words and filter leave make: runs that are named by number are never left out,
    ``all_runs`` leaves out none; the others are chosen from (:func:`choose`). ``workload`` is the one to be taken
    wherever there is a run of it. Where verified runs alone are to be ``ranked``, no others choose it. So many
    ``older`` sources were left out before, which the notes count too."""
    found = [r for r in found if workload_name(str(r["workload"])) == workload] or found
    if all_runs:
        return Answer(told_apart(found))
    numbers = {int(w) for w in what if w.isdecimal()}
    left = [r for r in found if r["run"] not in numbers]
    chosen = choose(left, every=every, apart=apart, wanted=wanted, together=together, replaced=older, ranked=ranked)
    if not numbers:
        return chosen
    kept = {r["run"] for r in chosen.rows} | numbers
    return Answer(told_apart([r for r in found if r["run"] in kept]), chosen.notes, chosen.borrowed - numbers)


def choose(
    found: Sequence[Row],
    *,
    apart: Collection[str] = (),
    every: bool = False,
    wanted: Collection[str] = (),
    together: Together = "",
    replaced: int = 0,
    ranked: bool = False,
) -> Answer:
    """One row for each setup of the newest generation, of the workload that most setups of its primitive have (of
    equals ``default``), among those that have most of the metrics ``wanted``.

    A setup without that workload keeps its row of another one, without the metrics that depend on sizes. Columns in
    ``apart`` are what the user sets side by side and are not chosen from. ``every`` keeps all generations.
    ``together`` keeps one for all setups of a target, so that a setup which a newer one has too stays among the others:
    the generation of most of them, or that of the newest run. The notes count as older sources those that were
    ``replaced``, which are not among the rows any more.
    """
    aside = tuple(n for n in apart if n in CONTEXT and n != "workload")
    (found,), elsewhere = of_one_device(found) if "device" not in apart else ((found,), ())
    by_workload = "workload" in apart  # sources are to be the same there
    rows, older = newest(found, (*PLACE, *aside), () if every else ("digest",))
    rows = of_setups(rows)
    same = tuple(n for n in SAME if n not in aside)
    rows, stopped = (rows, 0) if every else countable(rows, (*same, *aside, *(("workload",) if by_workload else ())))
    before = rows
    rows, strange = _of_one_generation(rows, same, together, ranked=ranked) if together else (rows, 0)
    there = {(r["target"], r["label"]) for r in rows}
    gone = sorted({str(r["label"]) for r in before if (r["target"], r["label"]) not in there})
    rows, more = newest(rows, (*same, *aside), () if every else GENERATION)
    names = (*same, *(GENERATION if every else ()), *aside, *(("workload",) if by_workload else ()))
    places = grouped(rows, itemgetter(*names))
    of_primitive = grouped(places.values(), lambda some: some[0]["primitive"])
    chosen = {p: "" if by_workload else common_workload(of, wanted, ranked=ranked) for p, of in of_primitive.items()}
    kept: list[Row] = []
    others: Counter[tuple[str, str]] = Counter()
    copies = 0
    for some in places.values():
        if len(some) == 1:
            kept += some
            continue
        mine = chosen[some[0]["primitive"]]
        best = max([r for r in some if r["workload"] == mine] or some, key=recency())
        kept.append(best)
        left = [r["workload"] for r in some if r["workload"] != best["workload"]]
        others.update((str(text), mine) for text in left)
        copies += len(some) - len(left) - 1
    numbers = set(map(id, kept))
    kept = [r for r in found if id(r) in numbers]
    sized = {p for p in chosen if str(p) not in PRIMITIVES or PRIMITIVES[str(p)].sized}  # nothing else depends on sizes
    lent = [
        r
        for r in kept
        if (m := chosen[r["primitive"]]) and r["workload"] != m and (r["primitive"] in sized or _of_a_scenario(r))
    ]
    borrowing = frozenset(r["run"] for r in lent)
    borrowed = Counter((str(r["workload"]), chosen[r["primitive"]]) for r in lent)
    if borrowed:
        of_lent = set(map(id, lent))
        kept = [_without_workload(r, r["primitive"] in sized) if id(r) in of_lent else r for r in kept]
    notes = (*elsewhere, *_notes(others, borrowed, replaced + older + more, copies, stopped, strange))
    if gone:
        more_of = f" and {len(gone) - _SAID} more" if len(gone) > _SAID else ""
        text = "weighed otherwise than most, so without a row"
        notes = (*notes, f"{text}: {', '.join(gone[:_SAID])}{more_of}; to have it: weigh all again")
    return Answer(told_apart(kept, over_time=every), notes, borrowing)


def of_one_device(*sides: Sequence[Row]) -> tuple[list[Sequence[Row]], tuple[str, ...]]:
    """The rows of each side without those of a target's other devices, and what was left out: of each target the
    simulator's, or those of the device of the newest run where there are none. Simulated and measured figures are no
    column. A target of which all sides have no device in common keeps its rows."""
    common = set.intersection(*({(r["target"], r.get("device")) for r in rows} for rows in sides))
    newest: dict[Value, tuple[bool, tuple[str, int], Value]] = {}
    when = recency()
    for r in chain.from_iterable(sides):
        if (r["target"], r.get("device")) in common:
            worth = (r.get("device") == "simulator", when(r), r.get("device"))
            newest[r["target"]] = max(newest.get(r["target"], worth), worth, key=itemgetter(0, 1))

    def kept(r: Row) -> bool:
        return r["target"] not in newest or r.get("device") == newest[r["target"]][2]

    others: Counter[str] = Counter()
    for rows in sides:  # which may hold the same rows
        others |= Counter(str(r.get("device")) for r in rows if not kept(r))
    notes = (
        f"{counted(n, 'row')} of device {device} left out; to see: --where 'device == \"{device}\"'"
        for device, n in others.most_common()
    )
    return [[r for r in rows if kept(r)] for rows in sides] if others else [*sides], tuple(notes)


def newest(rows: Sequence[Row], place: Sequence[str], names: Sequence[str]) -> tuple[list[Row], int]:
    """Of each place the rows that share the newest one's values under these names, and how many others there were.
    Where an origin is of the place, the newest version of its line has the newest one, whenever it was run, and rows
    that are of histories only have none."""
    if not names:
        return list(rows), 0
    keys = _places(rows, place)
    values = list(map(itemgetter(*names), rows))
    newest: dict[Value, tuple[tuple[Any, ...], Value]] = {}
    order: Callable[[Row], tuple[Any, ...]] = succession() if "origin" in place else recency()
    gone = of_histories(rows) if "origin" in place else frozenset()
    for r, key, value, when in zip(rows, keys, values, map(order, rows), strict=True):
        other = newest.get(key)
        if (other is None or when > other[0]) and r.get("origin") not in gone:
            newest[key] = when, value
    kept = [
        r
        for r, key, value in zip(rows, keys, values, strict=True)
        if r.get("origin") not in gone and newest[key][1] == value
    ]
    return kept, len(rows) - len(kept)


def of_histories(rows: Iterable[Row]) -> frozenset[Value]:
    """Origins of rows that say that a newer version replaced them, even where that one's are not there, or that they
    are of a revision: what lies at its path may be newer, whichever was weighed last."""
    origins = {r.get("origin") for r in rows}
    return frozenset(o for o in origins if replaced_by(str(o)) is not None or is_revision(str(o)))


def _places(rows: Sequence[Row], names: Sequence[str]) -> list[Any]:
    """What rows have under these names; for an origin its line."""
    found = list(map(itemgetter(*names), rows))
    if "origin" not in names:
        return found
    at = names.index("origin")
    lines = {o: line(str(o)) for o in {place[at] for place in found}}
    if all(o == of for o, of in lines.items()):
        return found
    return [(*place[:at], lines[place[at]], *place[at + 1 :]) for place in found]


def _of_one_generation(
    rows: Sequence[Row], place: Sequence[str], how: Together, *, ranked: bool
) -> tuple[list[Row], int]:
    """Of each target and primitive the rows of one generation, and how many others there were."""

    when = recency()

    def worth(some: Iterable[Row]) -> tuple[int, tuple[str, int]]:
        figured = [r for r in some if (_is_ranked(r) if ranked else has_figures(r))]
        places = {tuple(map(r.get, place)) for r in figured}
        return len(places) if how == "most" else 0, max(map(when, figured), default=("", -1))

    kept: set[int] = set()
    for mine in grouped(rows, itemgetter("target", "primitive", "device")).values():
        kept |= set(map(id, max(grouped(mine, itemgetter(*GENERATION)).values(), key=worth)))
    left = [r for r in rows if id(r) in kept]
    return left, len(rows) - len(left)


def countable(rows: Sequence[Row], place: Sequence[str]) -> tuple[list[Row], int]:
    """The rows without failures of the machine, such as a compiler that is not there, where their place has another
    row: they hide none. And how many these are."""
    answered = {tuple(map(r.get, place)) for r in rows if r.get("outcome") not in MACHINE}
    kept = [r for r in rows if r.get("outcome") not in MACHINE or tuple(map(r.get, place)) not in answered]
    return kept, len(rows) - len(kept)


def of_setups(rows: Sequence[Row]) -> list[Row]:
    """Of each setup the row that counts, where each origin has one: the newest of those whose place has no newer
    sources, which this has to see, of a failure of the machine only where it is alone. ``_counting`` in
    ``store/publishing.py`` has it too."""
    keys = list(map(itemgetter(*SETUP), rows))
    if len(set(keys)) == len(rows):
        return list(rows)
    current = set(map(id, newest(rows, PLACE, ("digest",))[0]))
    when = recency()
    order = sorted(rows, key=lambda r: (id(r) in current, r.get("outcome") not in MACHINE, *when(r)))
    kept = set(map(id, {tuple(map(r.get, SETUP)): r for r in order}.values()))
    return [r for r in rows if id(r) in kept]


def run_number(row: Row) -> int:
    """The run of a row; 0 where a file does not say."""
    run = row.get("run")
    return run if isinstance(run, int) else 0


def recency() -> Callable[[Row], tuple[str, int]]:
    """What orders runs in time: when a run ended, to the minute, and its number. What is copied from an older database
    gets later numbers. Nothing is known of a time of the future."""
    now = (datetime.now(UTC) + APART).strftime("%Y-%m-%d %H:%M")

    def of(row: Row) -> tuple[str, int]:
        finished = str(row.get("finished") or "")
        return finished if finished <= now else "", run_number(row)

    return of


def succession() -> Callable[[Row], tuple[int, str, int]]:
    """What orders the runs of one place, as :func:`place_of` has it: the version that was handed in, for one that is
    run again replaces none that came after it; then :func:`recency`."""
    when, versions = recency(), dict[Value, int]()

    def of(row: Row) -> tuple[int, str, int]:
        origin = row.get("origin")
        if origin not in versions:
            versions[origin] = version(str(origin))
        return versions[origin], *when(row)

    return of


def has_figures(row: Row) -> bool:
    """Whether a row's run ended with figures, verified or not."""
    return row.get("outcome", "verified") in _FIGURED


def _is_ranked(row: Row) -> bool:
    return row.get("outcome", "verified") == "verified" and row.get("variant") != "nocrypt"


def common_workload(places: Iterable[Sequence[Row]], wanted: Collection[str] = (), *, ranked: bool = False) -> str:
    """The workload that has most of the metrics ``wanted``; of equals one with sizes, that of most setups, the usual
    one, the newest. Runs without figures count where no setup has any other, and where verified ones of ciphers are
    ``ranked`` others with figures where no setup has those."""
    every = [*places]
    figured = [[r for r in rows if has_figures(r)] for rows in every]
    good = [[r for r in rows if _is_ranked(r)] for rows in every] if ranked else figured
    counts: Counter[str] = Counter()
    newest: dict[str, tuple[str, int]] = {}
    when = recency()
    sized = [n for n in wanted if n not in CONTEXT and of_sizes(n)]
    has: dict[str, set[str]] = {}
    for rows in next(filter(any, (good, figured)), every):
        if not rows:
            continue
        counts.update({str(r["workload"]) for r in rows})
        for r in rows:
            newest[str(r["workload"])] = max(when(r), newest.get(str(r["workload"]), ("", 0)))
        if sized:
            for r in rows:
                has.setdefault(str(r["workload"]), set()).update(n for n in sized if r.get(n) is not None)

    def worth(workload: str) -> tuple[object, ...]:
        name = workload_name(workload)
        sizes = name != _WITHOUT_SIZES
        return len(has.get(workload, ())), sizes, counts[workload], name in _FIRST, newest[workload]

    return max(counts, key=worth, default="")


def workload_name(workload: str) -> str:
    """A workload as ``--workload`` takes it."""
    return workload.split(" (")[0]


def told_apart(rows: Sequence[Row], *, over_time: bool = False) -> list[Row]:
    """The rows; where a label means different sources it says which: where they came from, or their digest. What
    changes ``over_time`` keeps its label, and only what came from different places is told apart."""
    what: Callable[[Row], Value] = place_of if over_time else _digest
    meant: dict[tuple[Value, Value], dict[Value, set[int | str]]] = {}
    newest: dict[tuple[Value, Value, int | str], tuple[tuple[int, str, int], Value]] = {}
    when, gone = succession(), frozenset[Value]() if over_time else of_histories(rows)
    for r in rows:
        place = place_of(r)
        meant.setdefault((r["primitive"], r["label"]), {}).setdefault(what(r), set()).add(place)
        key = (r["primitive"], r["label"], place)
        counts = None if r.get("origin") in gone else what(r)
        newest[key] = max(newest.get(key, ((0, "", 0), "")), (when(r), counts), key=_newer)
    several = {key: sources for key, sources in meant.items() if len(sources) > 1}
    if not several:
        return list(rows)
    called = called_by(rows)

    def which(row: Row, sources: Mapping[Value, set[int | str]]) -> str:
        places = [place for of in sources.values() for place in of]
        told = len(set(places)) == len(places) == len(sources) and all(len(called[p]) <= _SHORT for p in places)
        return called[place_of(row)] if over_time or told or not _digest(row) else _digest(row)[:8]

    made = []
    for r in rows:
        sources = several.get((r["primitive"], r["label"]))
        if sources is None:
            made.append(r)
            continue
        places = sources[what(r)]  # the same sources have one name, wherever they came from
        replaced = all(newest[r["primitive"], r["label"], place][1] != what(r) for place in places)
        older = ", older" if replaced else ""
        made.append(r | {"label": f"{r['label']} ({which(r, sources)}{older})"})
    return made


def in_means(row: Row) -> int | None:
    """How many known answers a row's means are over: those of NIST's sizes. Older records count others with them.
    Hardware has no such means: its vectors are operations."""
    vectors = row.get("vectors")
    if row.get("primitive") == "lwc_rtl" or not isinstance(vectors, int):
        return None
    return min(vectors, NIST_CALLS.get(str(row.get("primitive")), vectors))


def means_over(row: Row) -> int:
    """The same; 0 where a row has no mean of such calls."""
    return (in_means(row) or 0) if any(n.endswith("_mean") and v is not None for n, v in row.items()) else 0


def has_fewer(row: Row, most: int, least: int) -> bool:
    """Whether a row's means are over fewer known answers than others', of which one has the ``most``, and one left out
    the ``least`` for lack of RAM: then they are those of shorter calls. Blocks have one length."""
    vectors, left_out, every = in_means(row), row.get("skipped"), row.get("vectors")
    if isinstance(every, int) and left_out and vectors is not None and every > vectors:
        return True  # of an older record's other sizes; nobody knows which were left out
    if row.get("primitive") == "crypto_block" or vectors is None or vectors >= most:
        return False
    return vectors < _SO_MANY * most or (isinstance(left_out, int) and left_out > least)


def most_known(rows: Iterable[Row]) -> tuple[int, int]:
    """The most known answers that the means of one of the rows are over, and the fewest that one left out."""
    some = [(made, r) for r in rows if (made := in_means(r)) is not None]
    left_out = [n for _, r in some if isinstance(n := r.get("skipped"), int)]
    return max((made for made, _ in some), default=0), min(left_out, default=0)


def _newer(found: tuple[tuple[int, str, int], Value]) -> tuple[tuple[int, str, int], str]:
    return found[0], str(found[1])


def _digest(row: Row) -> str:
    return str(row.get("digest") or "")


def came_from(row: Row) -> str:
    """Where sources came from, whichever revision or version of it: :data:`BUNDLED`, a folder, or a file that was
    handed in."""
    return unversioned(unrevised(str(row.get("origin") or BUNDLED)))


def place_of(row: Row) -> int | str:
    """The same for what is kept by it: of what was handed in the number of its line, whose versions may be called
    anything. :func:`called_by` has its name."""
    return line(came_from(row))


def called_by(rows: Iterable[Row]) -> dict[int | str, str]:
    """What to call each place of the rows: a line as its newest version's file is called."""
    newest: dict[int | str, Row] = {}
    when = succession()
    for r in rows:
        place = place_of(r)
        if isinstance(place, str) or place not in newest or when(r) > when(newest[place]):
            newest[place] = r
    return {place: came_from(r) for place, r in newest.items()}


def _of_a_scenario(row: Row) -> bool:
    return any(v is not None and of_scenario(n) for n, v in row.items())


def _without_workload(row: Row, sized: bool) -> Row:
    """A row without what depends on its workload: a scenario, and sizes where its calls have some."""
    return {n: None if n not in CONTEXT and (of_scenario(n) or (sized and of_sizes(n))) else v for n, v in row.items()}


def _notes(
    others: Counter[tuple[str, str]],
    borrowed: Counter[tuple[str, str]],
    older: int,
    copies: int,
    stopped: int,
    strange: int,
) -> Iterable[str]:
    for (text, chosen), n in others.most_common(_SAID):
        instead = f" for {workload_name(chosen)}" if chosen else ""
        see = f"--where '{pattern(text, chosen)}'"
        yield f"{counted(n, 'row')} of workload {workload_name(text)} left out{instead}; to see: {see}"
    for (text, chosen), n in borrowed.most_common(_SAID):
        of = f"workload {workload_name(text)}, not {workload_name(chosen)}"
        what = "scenario" if text.startswith(_FELICS) else "sizes"
        yield f"{counted(n, 'row')} of {of}: without what depends on its {what}"
    for n, of in (
        (older, "revisions, or of older sources, compilers or models"),
        (copies, "copies with the same sources"),
        (stopped, "failures of the machine where there are other runs"),
        (strange, "other compilers, harnesses or timing models"),
    ):
        if n:
            yield f"{counted(n, 'row')} of {of} left out; to see: steelyard publish --all-runs"


def pattern(workload: str, other: str = "") -> str:
    """The filter for a workload."""
    name = workload_name(workload)
    if name == workload_name(other):  # the same name with other sizes
        return f'workload == "{workload}"'
    if len(name) > 2 * _SHORT:
        return f'workload ~ "{name[: 2 * _SHORT]}*"'
    return f'workload ~ "{name}*"' if name != workload else f'workload == "{name}"'
