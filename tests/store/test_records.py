"""Records come out of the store as they went in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.analyse.rows import rows
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Helper, Point, Record, Setup, Toolchain, Verification
from steelyard.store import Store, StoreError, copying, schema
from steelyard.store.types import stored

from .conftest import RECORD, Make
from .servers import every_store

__all__ = ["every_store"]


def test_a_record_comes_back_whole(store: Store) -> None:
    run_id = store.add(RECORD)
    found = store.get(run_id)
    assert found == RECORD
    assert found is not None
    assert found.id == run_id
    assert {name: type(value) for name, value in found.metrics.items()} == {
        "rom": int,
        "cycles_per_byte": float,
        "ratio": float,
        "zero": int,
        "big": int,
    }
    assert store.get(run_id + 1) is None


def test_other_sources_with_the_same_answers(store: Store, make: Make) -> None:
    answered = Verification("self", 1089, 0, 0, "7" * 64)
    mine = make(verification=answered)
    store.add(make(verification=answered, implementation_digest="a" * 64))
    others = [store.add(make(verification=answered, implementation_digest=c * 64)) for c in "ab"]
    store.add(make(verification=answered, implementation_digest="c" * 64, primitive="crypto_hash"))
    store.add(make(verification=replace(answered, answers="8" * 64), implementation_digest="d" * 64))
    store.add(mine)
    assert store.same_answers(mine) == others
    assert store.same_answers(make(verification=replace(answered, answers=""))) == []
    assert store.same_answers(make(verification=None)) == []


def test_a_failure_comes_back_whole(store: Store, make: Make) -> None:
    record = make(
        failure=Failure(Reason.COMPILE_ERROR, "aead.c:7: Fehler: »x« nicht deklariert\n" * 3000),
        metrics={},
        points=(),
        helpers=(),
        verification=None,
        notes=(),
        log="",
        finished=None,
    )
    found = store.get(store.add(record))
    assert found == record
    assert found is not None
    assert found.failure is not None
    assert found.failure.reason is Reason.COMPILE_ERROR


def test_the_same_moment_in_any_zone(store: Store, make: Make) -> None:
    summer = datetime(2026, 7, 1, 12, 0, 0, 1, tzinfo=timezone(timedelta(hours=2)))
    found = store.get(store.add(make(finished=summer)))
    assert found is not None
    assert found.finished == summer
    assert found.finished.tzinfo is UTC


def test_what_no_database_holds_is_escaped(store: Store, make: Make) -> None:
    found = store.get(store.add(make(failure=Failure(Reason.FAULT, "a\0b\udcff"), origin="./a\udcff")))
    assert found is not None
    assert found.failure is not None
    assert found.failure.detail == "a\\x00b\\udcff"
    assert found.origin == "./a\\udcff"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metrics": {"rom": float("nan")}}, "metric rom is nan"),
        ({"metrics": {"rom": float("inf")}}, "metric rom is inf"),
        ({"metrics": {"rom": 2**63}}, "metric rom is 9223372036854775808"),
        ({"target": "x" * 256}, "256 characters; at most 255 fit"),
        ({"finished": datetime(2026, 1, 1)}, "has no zone"),
        ({"finished": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))}, "is of no year from 1 to 9999"),
        ({"finished": datetime.max.replace(tzinfo=timezone(-timedelta(hours=12)))}, "is of no year from 1 to 9999"),
    ],
)
def test_what_cannot_be_stored_is_refused(store: Store, make: Make, fields: dict[str, object], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        store.add(make(**fields))
    assert store.runs() == []


def test_find_gives_the_newest_of_each_setup(store: Store, make: Make) -> None:
    store.add(make(flags="-O2", seconds=1.0))
    store.add(make(flags="-Os", seconds=2.0))
    newest = store.add(make(flags="-O2", seconds=3.0))
    o2, os, o3 = (make(flags=flags).setup.key for flags in ("-O2", "-Os", "-O3"))
    found = store.find([o2, os, o3, o2])
    assert found.keys() == {o2, os}
    assert found[o2] == make(flags="-O2", seconds=3.0)
    assert found[o2].id == newest
    assert found[os].seconds == 2.0
    assert store.find([]) == {}


def test_the_beginning_of_a_digest_finds_implementations(store: Store, make: Make) -> None:
    for name, digest in (("ref", "ab" * 32), ("ref", "ab" * 32), ("fast", f"ab{'0' * 62}"), ("other", "b" * 64)):
        store.add(make(implementation=name, implementation_digest=digest))
    assert [name for _, name, _ in store.of_digest("ab", 10)] == ["fast", "ref"]
    assert [name for _, name, _ in store.of_digest("ab", 1)] == ["fast"]
    assert [(name, digest) for _, name, digest in store.of_digest("aba", 10)] == [("ref", "ab" * 32)]
    assert store.of_digest("c", 10) == []


def test_find_takes_any_number_of_keys(store: Store, make: Make) -> None:
    records = [make(target=f"t{i}") for i in range(3)]
    for record in records:
        store.add(record)
    keys = [record.setup.key for record in records] + [f"{i:064x}" for i in range(1200)]
    assert store.find(keys) == {record.setup.key: record for record in records}


def test_texts_are_compared_byte_by_byte(store: Store, make: Make) -> None:
    metrics = {"rom": 1, "Rom": 2, "rom ": 3, "ro\u0308m": 4, "röm": 5}
    for name in metrics:
        store.add(make(implementation=name, metrics=metrics))
    for name in metrics:
        [found] = store.runs(implementation=name)
        assert found.setup.implementation == name
        assert found.metrics == metrics


def test_runs_filters(store: Store, make: Make) -> None:
    failed = Failure(Reason.RUNAWAY, "")
    store.add(make(target="uno", failure=failed))
    store.add(make(target="uno"))
    store.add(make(target="bluepill", variant="gift"))
    store.add(make(target="esp32", primitive="crypto_hash", flags="-O3", failure=failed))

    def targets(**filters: str | bool) -> list[str]:
        found = [r.setup.target for r in store.runs(**filters)]  # type: ignore[arg-type]
        assert [row["target"] for row in store.rows(metrics=(), **filters)] == found  # type: ignore[arg-type]
        return found

    assert targets() == ["esp32", "bluepill", "uno"]
    assert targets(newest_only=False) == ["esp32", "bluepill", "uno", "uno"]
    assert targets(target="uno", newest_only=False) == ["uno", "uno"]
    assert targets(variant="gift") == ["bluepill"]
    assert targets(implementation="opt32", primitive="crypto_hash") == ["esp32"]
    assert targets(flags="-O3") == ["esp32"]
    assert targets(target="UNO") == targets(target="uno ") == []


def test_of_a_call_that_a_run_has_twice_a_table_has_one(store: Store, make: Make) -> None:
    for flags in ("-O2", "-O3"):
        store.add(make(flags=flags))
    table = store.rows(points=[("encrypt", 0, 16), ("decrypt", 0, 16)], metrics=())
    assert [(row["run"], row["encrypt@0/16"] in (12345, 12346), row["decrypt@0/16"]) for row in table] == [
        (2, True, 2**40),
        (1, True, 2**40),
    ]


def test_records_by_number(store: Store, make: Make) -> None:
    first, second, third = (store.add(make(flags=flags)) for flags in ("-O1", "-O2", "-O3"))
    assert [r.id for r in store.records([first, third])] == [third, first]
    assert store.records([]) == []
    assert second in store.points([second, third])
    of = {(p.adlen, p.mlen) for p in store.points([second])[second] if p.operation == "decrypt"}
    assert store.cycles([second], "decrypt").keys() == {second}
    assert store.cycles([second], "decrypt")[second].keys() == of


def test_why_runs_failed(store: Store, make: Make) -> None:
    good, bad = store.add(make()), store.add(make(flags="-O0", failure=Failure(Reason.FAULT, "at 0x12")))
    assert store.details([good, bad]) == {bad: "at 0x12"}


def test_a_table_is_the_records_as_rows(store: Store, make: Make) -> None:
    many = {f"metric{k:02}": k if k % 3 else k + 0.5 for k in range(40)}
    for k, metrics in enumerate((many, {"metric00": 1, "rom": 5}, {})):
        store.add(make(implementation=f"i{k}", metrics=metrics, points=RECORD.points[:2]))
    points = [(p.operation, p.adlen, p.mlen) for p in RECORD.points]
    expected = rows(store.runs())
    for have, row in zip(store.rows(points=points), expected, strict=True):
        assert {n: v for n, v in have.items() if v is not None} == row
        assert all(type(have[n]) is type(v) for n, v in row.items())
    assert store.rows(metrics=["rom"], points=points[:1], target="uno")[1]["rom"] == 5
    assert store.rows(target="nonesuch") == []


def test_points_are_found_wherever_a_run_has_them(store: Store, make: Make) -> None:
    for k, lengths in enumerate(((16, 64), (64,), (8, 16, 64), (), (64, 16))):
        for primitive, op in (("crypto_aead", "encrypt"), ("crypto_hash", "hash")):
            points = tuple(Point(op, 0, n, 1000 * n + k) for n in lengths)  # type: ignore[arg-type]
            store.add(make(implementation=f"i{k}", primitive=primitive, workload=f"w{k // 4}", points=points))
    asked = [(op, 0, n) for op in ("encrypt", "hash") for n in (8, 16, 64, 128)]
    for have, row in zip(store.rows(points=asked), rows(store.runs()), strict=True):
        assert {n: v for n, v in have.items() if v is not None} == row


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=64)
sizes = st.integers(0, 2**31 - 1)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
times = st.datetimes(timezones=st.just(UTC))
points = st.builds(Point, st.sampled_from(["encrypt", "decrypt", "reject", "hash"]), sizes, sizes, sizes)
records = st.builds(
    Record,
    setup=st.builds(
        Setup,
        **dict.fromkeys(Setup.__struct_fields__, names) | {"toolchain": st.builds(Toolchain, *[names] * 3)},
    ),
    failure=st.none() | st.builds(Failure, st.sampled_from(Reason), names),
    metrics=st.dictionaries(names, numbers, max_size=5),
    points=st.lists(points, max_size=5).map(tuple),
    helpers=st.lists(st.builds(Helper, names, sizes), max_size=3).map(tuple),
    verification=st.none() | st.builds(Verification, names, sizes, sizes, sizes),
    notes=st.lists(st.text(), max_size=3).map(tuple),
    log=names,
    host=names,
    seconds=st.floats(0, 1e9),
    finished=st.none() | times,
    id=st.none(),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=records)
def test_any_record_comes_back(store: Store, record: Record) -> None:
    found = store.get(store.add(record))
    assert found == record
    assert found is not None
    assert {m: type(v) for m, v in found.metrics.items()} == {m: type(v) for m, v in record.metrics.items()}
    assert store.find([record.setup.key]) == {record.setup.key: record}


def test_large_figures_are_not_taken_for_infinite_ones(store: Store, make: Make) -> None:
    """Their sum is infinite."""
    store.add(make(metrics={"a": 1e308, "b": 1.5e308}))
    store.add(make(flags="-O0", metrics={"a": 1.2e308}))
    assert sorted(r.metrics["a"] for r in store.runs()) == [1e308, 1.2e308]
    assert sorted(float(str(row["a"])) for row in store.rows()) == [1e308, 1.2e308]


def test_a_failure_of_the_machine_counts_where_there_is_nothing_else(store: Store, make: Make) -> None:
    full, slow = Failure(Reason.DISK_FULL, ""), Failure(Reason.FLASH_OVERFLOW, "")
    for flags, failures in (
        ("-O0", [full, full]),
        ("-O1", [full, None]),
        ("-O2", [None, full, full]),
        ("-O3", [slow, full]),
        ("-Os", [None, full, None]),
    ):
        for k, failure in enumerate(failures):
            store.add(make(flags=flags, failure=failure, seconds=float(k)))
    counts = {"-O0": (full, 1.0), "-O1": (None, 1.0), "-O2": (None, 0.0), "-O3": (slow, 0.0), "-Os": (None, 2.0)}
    runs = store.runs()
    assert {r.setup.flags: (r.failure, r.seconds) for r in runs} == counts
    assert len(runs) == len(counts)
    found = store.find(r.setup.key for r in runs)
    assert {r.setup.flags: (r.failure, r.seconds) for r in found.values()} == counts
    assert {row["flags"]: row["outcome"] for row in store.rows()}["-O2"] == "verified"


def test_columns_of_one_name_hold_values_of_one_type() -> None:
    """What is read is checked by the names of columns, whichever table they are of."""
    found: dict[str, set[frozenset[type]]] = {}
    for column in (c for table in schema.OF_RUNS for c in table.columns):
        found.setdefault(column.name, set()).add(stored(column))
    assert {name for name, kinds in found.items() if len(kinds) > 1} == set()


def test_a_machine_s_failure_keeps_no_run_out(make: Make, tmp_path: Path) -> None:
    """It does not count where another run of its setup is there."""
    right = make()
    assert right.finished is not None
    failure = Failure(Reason.DISK_FULL, "no space")
    failed = replace(make(finished=right.finished + timedelta(days=1)), failure=failure, metrics={}, points=())
    failed = replace(failed, helpers=(), verification=None, vector_cycles=b"")
    with Store.open(tmp_path / "a.db") as mine, Store.open(tmp_path / "b.db") as there:
        mine.add(right)
        there.add(failed)
        assert copying.copy(mine, there).copied == 1
        [counts] = there.runs()
        assert counts.failure is None
        assert copying.copy(mine, there).copied == 0
