"""The rows of an answer: one per setup, newest sources, one workload, and a sentence on what is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.analyse.answer import GENERATION, called_by, choose, of_one_device, told_apart
from steelyard.analyse.compare import compare
from steelyard.analyse.rank import apart
from steelyard.analyse.rows import rows
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Operation, Record
from steelyard.model.row import Row
from steelyard.publish import comparison, figure, history, pivot, ranking, report, results
from steelyard.publish.results import title_of
from steelyard.store import Store
from tests.made_up import other_build, record


def numbered(*records: Record) -> list[Row]:
    return rows([replace(r, id=n) for n, r in enumerate(records, 1)])


def runs(found: list[Row]) -> list[object]:
    return [r["run"] for r in found]


def test_each_primitive_has_its_workload() -> None:
    hash_ = record("toy1/hash", primitive="crypto_hash", load="gmu")
    found = choose(numbered(record(), record("toy2/ref"), hash_))
    assert found.rows[2]["stack"] == 80
    assert (found.notes, found.borrowed) == ((), frozenset())


def test_one_row_of_two_workloads_sources_and_compilers() -> None:
    every = [
        record(digest=d, load=w, compiler=c, flags=f)
        for d, c, w, f in product("ab", ("gcc 1", "gcc 2"), ("default", "gmu"), ("-O3", "-Os"))
    ]
    found = choose(numbered(*every))
    assert [(r["digest"][0], r["compiler"], r["workload"][:7], r["flags"]) for r in found.rows] == [  # type: ignore[index]
        ("b", "gcc 2", "default", "-O3"),
        ("b", "gcc 2", "default", "-Os"),
    ]
    assert found.notes == (
        "2 rows of workload gmu left out for default; to see: --where 'workload ~ \"gmu*\"'",
        "12 rows of revisions, or of older sources, compilers or models left out; to see: steelyard publish --all-runs",
    )


def test_what_is_for_another_machine_is_one_line() -> None:
    foreign, other = Failure(Reason.FOREIGN_ISA, "bad instruction"), Failure(Reason.COMPILE_ERROR, "x.c")
    three = [record("a/avr", target=t, failure=foreign) for t in ("due", "mkrzero", "esp32")]
    two = [record("a/arm", target=t, failure=foreign) for t in ("uno", "esp32")]
    broken = [record("a/ref", target=t, failure=other) for t in ("due", "mkrzero", "uno")]
    [sheet] = results.without_figures(numbered(*three, *two, *broken))
    named = [c.name for c in sheet.columns]
    shown = [(line.cells[named.index("label")], line.cells[named.index("target")], line.runs) for line in sheet.lines]
    assert shown[-1] == ("a/avr", "due, esp32, mkrzero", (1, 3, 2))
    assert [label for label, *_ in shown] == ["a/ref", "a/arm", "a/ref", "a/arm", "a/ref", "a/avr"]


def test_runs_without_figures_do_not_choose_the_workload() -> None:
    """A ``check`` that fails on many targets takes nothing from what was run."""
    failed = Failure(Reason.KAT_MISMATCH, "vector 1")
    checked = [record(target=t, load="kat", failure=failed) for t in ("due", "esp32", "mkrzero")]
    found = choose(numbered(record(), *checked))
    assert found.rows[0]["stack"] == 80
    assert (found.rows[0]["encrypt_per_byte"], found.borrowed) == (10, frozenset({2, 3, 4}))
    only = choose(numbered(*checked))
    assert (len(only.rows), only.borrowed) == (3, frozenset())


def on(device: str, *records: Record) -> list[Record]:
    return [replace(r, setup=replace(r.setup, device=device, timing_model="sigrok")) for r in records]


def test_two_sides_are_of_the_same_device() -> None:
    left = numbered(record(), *on("board", record(), record(target="due")))
    right = numbered(*on("board", record("toy2/ref"), record("toy2/ref", target="due")))
    sides, notes = of_one_device(left, right)
    assert [[(r["target"], r["device"]) for r in side] for side in sides] == [[("uno", "board"), ("due", "board")]] * 2
    assert notes == ("1 row of device simulator left out; to see: --where 'device == \"simulator\"'",)
    sides, _ = of_one_device(left, [*right, *numbered(record("toy2/ref"))])
    assert [(r["target"], r["device"]) for r in sides[0]] == [("uno", "simulator"), ("due", "board")]
    both = [*left, *numbered(record("toy2/ref"))]
    assert of_one_device(both, both)[1] == ("1 row of device board left out; to see: --where 'device == \"board\"'",)
    compared = compare(*sides)
    assert [s.title for s in comparison.tables(compared, everything=True)] == [
        f"{title_of('uno', 'simulator')}: toy1/ref -> toy2/ref",
        f"{title_of('due', 'board')}: toy1/ref -> toy2/ref",
    ]
    (sheet,) = comparison.tables(compare(left[:1], right[:1]), everything=True)
    assert (sheet.title, sheet.notes[0]) == ("uno: toy1/ref -> toy2/ref", "old: device simulator, new: device board")


def test_answers_with_all_runs_say_what_was_measured_on_what() -> None:
    found = numbered(record(), *on("board", record(cycles=999.0)))
    (matrix,) = pivot.tables(found, "target")
    assert [line.cells for line in matrix.lines] == [["toy1/ref", "board", 999.0], ["toy1/ref", "simulator", 1000.0]]
    sheet = results.flat(found, [])
    at = [c.name for c in sheet.columns].index("device")
    assert [line.cells[at] for line in sheet.lines] == ["simulator", "board"]


VIRTUAL = "measured on a virtual board"


def test_a_view_across_targets_says_what_all_boards_measured() -> None:
    found = numbered(*on("virtual-board", record(), record(target="bluepill")))
    for across in ("target", "implementation", "flags"):
        (matrix,) = pivot.tables(found, across)
        assert f"{VIRTUAL}: bluepill, uno" in matrix.notes
    assert {d["panel"].split(":")[0] for d in figure.of_places(found)} == {
        f"{t}, crypto_aead, {VIRTUAL}" for t in ("bluepill", "uno")
    }
    (matrix,) = pivot.tables(numbered(record(), record(target="bluepill")), "target")
    assert not [n for n in matrix.notes if "measured" in n]


def test_a_view_across_targets_says_what_one_board_measured() -> None:
    found = numbered(record(), *on("virtual-board", record(target="bluepill")), record(target="due"))
    said = {"bluepill": VIRTUAL, "due": "simulated", "uno": "simulated"}
    summary = report.compose("", found, (), lambda rows: {}).summary
    first, matrix = summary[0], summary[1]
    at = [c.name for c in first.columns].index("figures")
    assert {line.cells[0]: line.cells[at] for line in first.lines} == said
    at = [c.name for c in matrix.columns].index("device")
    assert {line.cells[at] for line in matrix.lines} == {"simulator", "virtual-board"}
    panels = {d["panel"].split(":")[0] for d in figure.of_places(found)}
    assert panels == {"due, crypto_aead", "uno, crypto_aead", f"bluepill, crypto_aead, {VIRTUAL}"}
    assert f"{VIRTUAL}: bluepill" in ranking.merits(found, ())[-1].notes


def test_a_comparison_with_a_board_is_simulated_on_one_side() -> None:
    old, new = numbered(record(target="due")), numbered(*on("virtual-board", record(target="due", cycles=999.0)))
    for side, other in ((old, new), (new, old)):
        (sheet,) = comparison.tables(compare(side, other))
        assert "1 of 1 difference in cycles is simulated on one side" in " ".join(sheet.notes)
    (sheet,) = comparison.tables(compare(old, numbered(record(target="due", cycles=999.0))))
    assert "1 of 1 difference in cycles is simulated, and no error" in " ".join(sheet.notes)


def test_a_history_is_of_one_device() -> None:
    found = numbered(record(), *on("virtual-board", record(cycles=999.0)))
    told = history.tables([r | {"revision": "1", "subject": "x"} for r in found], ())
    assert [s.title for s in told] == [f"{title_of('uno', d)}: crypto_aead" for d in ("simulator", "virtual-board")]
    assert len({s.label for s in told}) == 2


def test_simulated_and_measured_rows_are_no_column() -> None:
    boards = on("board", record(), record(target="due"))
    found = numbered(record(), *boards, *on("virtual-board", record()))
    answer = choose(found)
    assert [(r["target"], r["device"]) for r in answer.rows] == [("uno", "simulator"), ("due", "board")]
    assert answer.notes == (
        "1 row of device board left out; to see: --where 'device == \"board\"'",
        "1 row of device virtual-board left out; to see: --where 'device == \"virtual-board\"'",
    )
    assert [r["device"] for r in choose(found, apart=["device"]).rows if r["target"] == "uno"] == [
        "simulator",
        "board",
        "virtual-board",
    ]
    titles = [title_of("uno", device) for device in ("simulator", "board", "virtual-board")]
    assert titles == [
        "uno (ATmega328P, 16 MHz, simulated, exact)",
        "uno (ATmega328P, 16 MHz, measured on a board)",
        "uno (ATmega328P, 16 MHz, measured on a virtual board)",
    ]


def test_the_workload_of_most_setups_counts_and_others_lend_what_no_size_is_in() -> None:
    found = choose(numbered(record("a/x", load="gmu"), record("b/x", load="gmu"), record("c/x", load="kat")))
    a, b, c = found.rows
    assert (a["encrypt_per_byte"], b["encrypt@16/16"]) == (10, 420)
    assert (c["rom"], c["cycles_encrypt_mean"], c["stack"]) == (500, 1000.0, None)
    assert found.notes == ("1 row of workload kat, not gmu: without what depends on its sizes",)


def test_figures_of_one_scenario_of_felics_stand_in_no_row_of_another() -> None:
    block = {"primitive": "crypto_block", "outcome": "verified", "target": "uno", "device": "simulator", "flags": "-O3"}
    rows: list[Row] = [
        {**block, "run": n, "label": f"{name}/ref", "variant": name, "implementation": "ref", "digest": name,
         "family": name, "origin": "", "compiler": "c", "harness": "h",
         "timing_model": "m", "workload": load, "rom": 100, "felics_cycles_total": cycles}
        for n, (name, load, cycles) in enumerate(
            [("a", "felics-block-1", 50_000), ("b", "felics-block-1", 60_000), ("c", "felics-block-0", 17_000),
             ("d", "kat", None)], 1)
    ]  # fmt: skip
    found = {r["variant"]: (r["rom"], r["felics_cycles_total"]) for r in choose(rows).rows}
    assert found == {"a": (100, 50_000), "b": (100, 60_000), "c": (100, None), "d": (100, None)}
    [note] = choose(rows).notes
    assert note == "1 row of workload felics-block-0, not felics-block-1: without what depends on its scenario"
    even = [rows[0], rows[2] | {"run": 9}]
    assert [r["felics_cycles_total"] for r in choose(even).rows] == [None, 17_000], "of equals that of one block"


def test_runs_without_sizes_count_where_there_are_no_others() -> None:
    """``check`` makes such runs, and is to take no figure out of an answer."""
    checked = [record(name, load="kat") for name in ("a/x", "b/x", "c/x")]
    found = choose(numbered(record("a/x"), record("b/x"), *checked))
    assert [r.get("encrypt_per_byte") for r in found.rows] == [10, 10, None]
    most = choose(numbered(record("a/x"), *checked))
    assert [r.get("encrypt_per_byte") for r in most.rows] == [10, None, None], "runs without sizes are most"


def test_newer_sources_replace_older_ones_even_where_only_the_older_ran_the_workload() -> None:
    found = choose(numbered(record(digest="a"), record("b/x"), record(digest="b", load="kat", rom=7)))
    assert [(r["label"], r["rom"]) for r in found.rows] == [("b/x", 500), ("toy1/ref", 7)]


def test_a_run_dated_in_the_future_is_not_the_newest() -> None:
    ahead = replace(record(), finished=datetime(2999, 1, 1, tzinfo=UTC))
    assert [r["digest"][:1] for r in choose(numbered(ahead, record(digest="b"))).rows] == ["b"]  # type: ignore[index]


def test_within_a_target_older_sources_do_not_stand_beside_newer_ones() -> None:
    old = [record(digest="a", flags=f, target=t) for f in ("-O3", "-Os") for t in ("uno", "due")]
    found = choose(numbered(*old, record(digest="b")))
    assert [(r["label"], r["target"], r["flags"]) for r in found.rows] == [
        ("toy1/ref (aaaaaaaa, older)", "due", "-O3"),
        ("toy1/ref (aaaaaaaa, older)", "due", "-Os"),
        ("toy1/ref (bbbbbbbb)", "uno", "-O3"),
    ]


def test_a_copy_with_the_same_sources_counts_once_and_another_source_says_where_it_is_from() -> None:
    same = choose(numbered(record(family="toy"), record(family="mine", origin="mine")))
    assert [r["label"] for r in same.rows] == ["toy1/ref"]
    assert "1 row of copies with the same sources left out" in same.notes[0]
    other = choose(numbered(record(), record(digest="b", origin="mine")))
    assert [r["label"] for r in other.rows] == ["toy1/ref (bundled)", "toy1/ref (mine)"]
    renamed = choose(numbered(record(origin="some/long/path/to/sources"), record(digest="b", origin="x")))
    assert [r["label"] for r in renamed.rows] == ["toy1/ref (aaaaaaaa)", "toy1/ref (bbbbbbbb)"]


def test_a_version_replaces_the_last_of_its_line_whatever_its_file_is_called() -> None:
    """Another line does not, nor a path of a user that reads alike."""

    def named(origin: str, digest: str, **of: object) -> Record:
        return replace(record(digest=digest, **of), origin=origin)  # type: ignore[arg-type]

    first, second = named("j-1.zip (submission 7)", "a"), named("j-2.zip (submission 9 of line 7)", "b")
    own, other = named("./j-1.zip (submission 7)", "c"), named("j-2.zip (submission 8)", "d")
    assert runs(choose(numbered(first, second)).rows) == [2]
    assert runs(choose(numbered(first, own, second, other)).rows) == [2, 3, 4]
    flags = [named(second.origin, "b", flags=f) for f in ("-Os", "-O3")]
    late = choose(numbered(*flags, replace(first, finished=datetime.now(UTC))))
    assert runs(late.rows) == [1, 2], "a version that is run again replaces none after it"
    assert "1 row of revisions, or of older sources" in late.notes[0]
    assert str(told_apart(numbered(second, first))[1]["label"]).endswith(", older)")
    again = told_apart(numbered(second, named(first.origin, "a", cycles=1)), over_time=True)
    assert set(called_by(again).values()) == {"j-2.zip (submission 7)"}, "whichever was run last"
    gone = named("j-1.zip (submission 7, replaced by 9)", "a")
    assert choose(numbered(record(), gone)).rows == numbered(record()), "what replaced it may be shown as another's"
    assert "1 row of revisions, or of older sources" in choose(numbered(record(), gone)).notes[0]
    assert [r["label"] for r in told_apart(numbered(record(digest="b"), gone))] == [
        "toy1/ref (bundled)", "toy1/ref (j-1.zip (submission 7), older)",
    ]  # fmt: skip
    old = named("j-1.zip (submission 7)", "a"), named("j-2.zip (submission 7)", "b")
    assert runs(choose(numbered(*old)).rows) == [2], "of a database that has no versions the last run"
    past = told_apart(numbered(record(), first, second, other), over_time=True)
    assert [r["label"] for r in past] == [
        "toy1/ref (bundled)", *["toy1/ref (j-2.zip (submission 7))"] * 2, "toy1/ref (j-2.zip (submission 8))",
    ]  # fmt: skip
    moved = replace(first, setup=replace(first.setup, target="due"))
    assert "means other sources" not in str(compare(numbered(second), numbered(moved, second)))
    parts = numbered(*(named(f"j-{k}.zip (submission 7)", k, label=f"x/{k}") for k in "12"))
    assert {r["variant"] for r in apart(parts)} == {"x"}, "one cipher, of which each version has a part"


def test_the_same_sources_have_one_name_on_all_targets() -> None:
    """Whatever two places each of them came from, and where each was the newest."""
    places = [record(digest=d, target=t, origin="both") for d in "ab" for t in ("uno", "due")]
    again = numbered(*places, *(record(digest=d, origin=f"only {d}") for d in "ab"))
    assert {r["label"] for r in told_apart(again)} == {"toy1/ref (aaaaaaaa)", "toy1/ref (bbbbbbbb)"}
    moved = numbered(record(origin="x"), record(target="due", origin="y"), record(digest="b", origin="z"))
    assert {r["label"] for r in told_apart(moved)} == {"toy1/ref (aaaaaaaa)", "toy1/ref (bbbbbbbb)"}


def test_sides_that_are_asked_for_stay_and_so_does_the_past() -> None:
    every = numbered(record(load="default"), record(load="gmu"), record(digest="b", load="gmu"))
    assert runs(choose(every, apart=["workload"]).rows) == [3]
    assert runs(choose(every[:2], apart=["workload"]).rows) == [1, 2]
    assert runs(choose(every, apart=["digest"]).rows) == [2, 3]
    past = choose(every, every=True)
    assert runs(past.rows) == [2, 3]
    assert {r["label"] for r in past.rows} == {"toy1/ref"}


SETUPS = st.builds(
    record,
    st.sampled_from(["a/x", "a/y"]),
    digest=st.sampled_from("ab"),
    load=st.sampled_from(["default", "gmu", "kat"]),
    compiler=st.sampled_from(["gcc 1", "gcc 2"]),
    flags=st.sampled_from(["-O3", "-Os"]),
    origin=st.sampled_from(["", "mine"]),
    primitive=st.sampled_from(["crypto_aead", "crypto_hash"]),
    target=st.sampled_from(["uno", "due"]),
)


@given(st.lists(SETUPS, max_size=12), st.booleans())
def test_no_setup_counts_twice_none_is_lost_and_marks_have_names_of_their_own(made: list[Record], every: bool) -> None:
    given = numbered(*made)
    found = choose(given, every=every)
    what = ("variant", "implementation", "target", "flags", "primitive")
    place = tuple(n for n in what if n != "flags")
    key = (*what, "digest", *(GENERATION if every else ()))
    ours = [tuple(r[n] for n in key) for r in found.rows]
    assert len(ours) == len(set(ours))
    assert {tuple(r[n] for n in place) for r in given} == {tuple(r[n] for n in place) for r in found.rows}
    if every:
        assert {tuple(r[n] for n in key) for r in given} == set(ours)
    for some in (found.rows, given):
        names = [(r["target"], r["primitive"], n) for r, n in zip(some, figure.names_of(some), strict=True)]
        assert len(set(names)) == len(names)


def test_rows_of_records_are_rows_of_the_store() -> None:
    every = [record(), record("b/x", primitive="crypto_hash"), record(origin="mine", load="0/0,16/64")]
    every += [other_build(record(flags="-Os")), other_build(record(target="due"), target=True), record(target="due")]
    with Store.open(":memory:") as store:
        for r in every:
            store.add(r)
        sizes = [(o, a, m) for o in get_args(Operation) for a, m in ((0, 0), (16, 64))]
        alone = {name: store.rows(points=sizes, target=name) for name in ("uno", "due")}  # nothing else was read yet
        table = store.rows(points=sizes)
        for name, some in alone.items():
            there = [{n: r[n] for n in some[0]} for r in table if r["target"] == name]
            assert some == there
        assert len({r["compiler"] for r in alone["uno"]}) == len({r["timing_model"] for r in alone["due"]}) == 2
        for row, mine in zip(table, rows(store.runs()), strict=True):
            have = {n: v for n, v in row.items() if v is not None}
            assert have == {n: v for n, v in mine.items() if v is not None and n in row}
            assert mine.keys() - row.keys() <= {"ram", *(n for n in mine if "@" in n)}


def test_a_compiler_that_is_not_there_hides_no_figures() -> None:
    """Such a failure is of another toolchain, and newer than the figures."""
    missing = Failure(Reason.NO_TOOLCHAIN, "gcc not found")
    failed = [record(compiler="missing", failure=missing, load=w) for w in ("default", "gmu")]
    found = choose(numbered(record(), *failed, record("toy2/ref", compiler="missing", failure=missing)))
    assert runs(found.rows) == [1, 4]
    assert found.notes == (
        "2 rows of failures of the machine where there are other runs left out; to see: steelyard publish --all-runs",
    )
    assert runs(choose(numbered(record(), *failed), apart=["compiler"]).rows) == [1, 2]
    newer = record(digest="b", compiler="missing", failure=missing)
    assert runs(choose(numbered(record(), newer)).rows) == [2], "other sources have no figures"
    wrong = record(compiler="gcc 2", failure=Failure(Reason.KAT_MISMATCH, "1"))
    assert runs(choose(numbered(record(), wrong)).rows) == [2]
    sides = [numbered(record(flags=f), *(replace(r, setup=replace(r.setup, flags=f)) for r in failed)) for f in "ab"]
    compared = compare(*sides)
    assert [(p.old["run"], p.new["run"]) for p in compared.pairs] == [(1, 1)]


def test_what_is_not_ranked_does_not_choose_the_generation() -> None:
    unknown = Failure(Reason.NO_EXPECTED, "")
    own = [replace(record(f"own{k}/ref", compiler="gcc 2"), failure=unknown) for k in range(2)]
    found = numbered(record(), *own)
    assert runs(choose(found, together="most", ranked=True).rows) == [1]
    assert runs(choose(found, together="most").rows) == [2, 3]


def test_what_is_copied_later_is_not_newer() -> None:
    """Of generations, devices and workloads the one that ended last counts, whatever its number."""
    days = [datetime(2026, 5, d, tzinfo=UTC) for d in (6, 1)]
    pairs = (
        [record(harness=h) for h in ("new", "old")],
        [replace(r, setup=replace(r.setup, device=d)) for r in [record()] for d in ("new", "old")],
        [record(load=w) for w in ("0/32", "0/48")],
    )
    for pair in pairs:
        rows = numbered(*(replace(r, finished=day) for r, day in zip(pair, days, strict=True)))
        assert runs(choose(rows, together="newest").rows) == [1]
