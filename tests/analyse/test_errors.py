"""Simulated cycles carry the published error of their target, model and kind of code, and nothing else does."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from steelyard.analyse import errors
from steelyard.analyse.compare import compare
from steelyard.analyse.errors import LEAST, Error, error_of, of_kinds, published
from steelyard.analyse.rows import rows
from steelyard.analyse.summary import summary
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.model.target import target_names
from steelyard.publish import comparison, report, run
from tests.made_up import record

MODEL = "core/3"
MADE = tuple(
    Error("nrf52840", MODEL, code, memory, 0, 7, middle, high, "arm.md", "made up")
    for code, memory, middle, high in (
        ("assembly", "cached", 1.0, 3.0),
        ("assembly", "beyond", 2.0, 5.0),
        ("compiled", "any", 4.0, 9.0),
    )
)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers have errors that are made up for these tests."""
    monkeypatch.setattr(errors, "published", lambda: MADE)


def made(target: str = "nrf52840", model: str = MODEL, **more: float) -> Record:
    one = record(target=target, **more)  # type: ignore[arg-type]
    return replace(one, setup=replace(one.setup, timing_model=model))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"assembly_cycles": LEAST, "rom": 2048}, (1.0, 3.0)),  # the cache has 2 KiB
        ({"assembly_cycles": LEAST, "rom": 2049}, (2.0, 5.0)),
        ({"assembly_cycles": LEAST - 1, "rom": 100}, (4.0, 9.0)),
        ({"rom": 100}, (4.0, 9.0)),  # who weighed before did not tell
        ({"target": "due", "assembly_cycles": 100}, (None, None)),
        ({"model": "core/2", "assembly_cycles": 100}, (None, None)),
    ],
)
def test_the_error_is_that_of_the_kind_of_code(
    more: dict[str, object], expected: tuple[float | None, float | None]
) -> None:
    [row] = rows([made(**more)])  # type: ignore[arg-type]
    assert (row.get("error_median"), row.get("error_high")) == expected
    assert error_of(row | {"device": "virtual-board"}) is None


def test_a_run_says_its_error() -> None:
    facts = {line.cells[0]: line.cells[1] for line in run.sheets(made(assembly_cycles=90, rom=10), [])[0].lines}
    text = str(facts["error of its cycles"])
    assert text.startswith("median 1 %, 95 % of them within 3 % (assembly, cached; 7 published values; made up;")
    facts = {line.cells[0]: line.cells[1] for line in run.sheets(made(target="due"), [])[0].lines}
    assert str(facts["error of its cycles"]).startswith("no error is published of due and this model;")


def test_a_run_says_that_only_other_code_was_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "published", lambda: MADE[:2])
    facts = {line.cells[0]: line.cells[1] for line in run.sheets(made(assembly_cycles=0, rom=10), [])[0].lines}
    text = "no error is published of nrf52840 and this model but of other code "
    text += "(assembly, cached; assembly, beyond);"
    assert str(facts["error of its cycles"]).startswith(text)


def test_a_report_has_the_errors_of_its_records_models() -> None:
    every = "assembly, cached 1 / 3 %; assembly, beyond 2 / 5 %; compiled 4 / 9 %"
    for model, expected in ((MODEL, every), (f"{MODEL}, files 12ab34cd", every), ("core/2", None)):
        [line] = report.claims(["nrf52840"], rows([made(model=model)])).lines
        assert line.cells[2] == expected


def test_an_error_of_assembly_is_not_that_of_unknown_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "published", lambda: MADE[:2])
    [row] = rows([made(rom=100)])
    assert error_of(row) is None


def test_a_failed_run_has_no_error() -> None:
    failed = replace(made(assembly_cycles=0, rom=10), metrics={}, failure=Failure(Reason.FAULT, "fell"))
    [row] = rows([failed])
    assert "error_median" not in row


def test_an_error_is_that_of_code_in_a_cache_whose_misses_are_not_modelled(monkeypatch: pytest.MonkeyPatch) -> None:
    error = Error("uno", MODEL, "compiled", "cached", 1000, 7, 4.0, 9.0, "README.md", "made up")
    monkeypatch.setattr(errors, "published", lambda: (error,))
    for rom, expected in ((1000, error), (1001, None)):
        [row] = rows([made("uno", assembly_cycles=0, rom=rom)])
        assert error_of(row) == expected


def test_a_difference_below_the_error_is_marked() -> None:
    """The larger of both sides' errors counts, of the side with more cycles; modelled energy is cycles times a
    constant, and bytes carry none."""
    energy = "energy_encrypt_modelled"
    old, new = made(cycles=1000.0, rom=100), made(cycles=970.0, rom=90)
    old = replace(old, metrics=old.metrics | {energy: 50.0})
    new = replace(new, setup=replace(new.setup, flags="-Os"))
    for cycles, within in ((970.0, True), (961.0, True), (959.0, False), (1000.0, False)):
        metrics = {"cycles_encrypt_mean": cycles, energy: cycles / 20, "assembly_cycles": 0}
        changed = replace(new, metrics=new.metrics | metrics)
        of_energy = compare(rows([old]), rows([changed]), metrics=[energy])
        assert [ch.within for ch in of_energy.pairs[0].changes] == [within]
        assert ("less energy" in summary(of_energy)[0]) == (cycles == 959.0)
        notes = [note for sheet in comparison.tables(of_energy) for note in sheet.notes]
        assert any("±: 1 of 1 difference in modelled energy" in note for note in notes) is within
        result = compare(rows([old]), rows([changed]))
        [pair] = result.pairs
        by = {ch.metric: ch for ch in pair.changes}
        assert (by["cycles_encrypt_mean"].within, by["rom"].within) == (within, False)
        [sheet] = comparison.tables(result)
        assert [note for note in sheet.notes if "±: 1 of 1 difference in cycles" in note] != [] or not within
        assert any(str(line.cells[-1]).endswith(" ±") for line in sheet.lines) is within
        flat = comparison.flat(result)
        assert ["yes" in line.cells for line in flat.lines].count(True) == within
        back = compare(rows([changed]), rows([old]), metrics=["cycles_encrypt_mean"])
        assert [ch.within for ch in back.pairs[0].changes] == [within], "whichever side is named first"


def test_of_two_sides_with_other_errors_the_larger_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference as large as the error is marked, too; and one side without an error leaves both unjudged."""

    def seen(cycles: float) -> list[tuple[bool, bool]]:
        one, other = made(assembly_cycles=100, rom=10, cycles=1000.0), made(assembly_cycles=0, rom=10, cycles=cycles)
        pairs = [rows([one]), rows([other])]
        found = [compare(*both, metrics=["cycles_encrypt_mean"]).pairs[0] for both in (pairs, pairs[::-1])]
        return [(ch.within, ch.unjudged) for pair in found for ch in pair.changes]

    for cycles, within in ((970.0, True), (960.0, True), (959.0, False)):
        assert seen(cycles) == [(within, False)] * 2
    monkeypatch.setattr(errors, "published", lambda: MADE[:1])
    assert seen(980.0) == [(False, True)] * 2


def test_an_error_of_what_a_cache_holds_is_taken_before_one_of_any_code(monkeypatch: pytest.MonkeyPatch) -> None:
    several = (MADE[0], replace(MADE[1], memory="any"), MADE[2])
    monkeypatch.setattr(errors, "published", lambda: several)
    assert errors.of_model("nrf52840", MODEL, 10) == [several[0], several[2]]
    assert errors.of_model("nrf52840", MODEL, 1 << 20) == [*several[1:]]
    [row] = rows([made(assembly_cycles=100, rom=10)])
    assert error_of(row) == several[0]


def test_every_error_is_of_a_target_and_on_a_page() -> None:
    assert len(published()) > 5
    for e in published():
        assert e.target in target_names()
        assert e.code in ("assembly", "compiled")
        assert e.memory in ("any", "cached", "beyond")
        assert 0 < e.median_percent <= e.p95_percent
        assert (paths.ROOT / "docs" / "validation" / e.page).exists()


def test_claims_print_the_file() -> None:
    text = (paths.ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    block = text.split("<!-- output: steelyard targets --errors -->")[1].split("<!-- end -->")[0]
    table = block.rsplit("─\n", 1)[1]
    printed = [re.split(r" {2,}", line.strip())[:4] for line in table.splitlines() if line.strip()]
    assert printed == [[e.target, e.timing_model, e.code, e.memory] for e in published()]


def test_a_summary_does_not_call_slower_what_is_within_the_error() -> None:
    old, close = (made(assembly_cycles=0, rom=10, cycles=c) for c in (1000, 1030))
    assert "changed by less than the model's error on the one target" in summary(compare(rows([old]), rows([close])))


@pytest.mark.parametrize(("target", "known"), [("due", False), ("uno", True), ("nrf52840", True)])
def test_a_comparison_says_where_no_error_is_known(target: str, known: bool) -> None:
    """Of an exact model none is needed."""
    old, new = (made(target=target, assembly_cycles=0, rom=10, cycles=c) for c in (1000, 2000))
    [sheet] = comparison.tables(compare(rows([old]), rows([new])))
    assert any("no error is known of the model on such code" in note for note in sheet.notes) is not known


def test_figures_of_an_unknown_kind_say_of_each_kind_what_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only assembly was compared with says nothing of compiled code."""
    monkeypatch.setattr(errors, "published", lambda: MADE)
    assert of_kinds("nrf52840", MODEL) == [e.text for e in MADE]
    monkeypatch.setattr(errors, "published", lambda: MADE[:2])
    *texts, nothing = of_kinds("nrf52840", MODEL)
    assert texts == [e.text for e in MADE[:2]]
    assert nothing.startswith("no error is published of compiled code on nrf52840 and this model;")
    assert of_kinds("nrf52840", "core/4") == [errors.unpublished("nrf52840 and this model")]


@pytest.mark.parametrize(("image", "held"), [(None, True), (32768, True), (32769, False)])
def test_an_image_beyond_the_cache_has_no_error_of_cached_code(
    monkeypatch: pytest.MonkeyPatch, image: int | None, held: bool
) -> None:
    """Neither as a row nor where sim and profile show figures of it."""
    monkeypatch.setattr(errors, "published", published)
    model = "xtensa-lx106-cached/1"
    found = errors.of_model("esp8266-flash", model, image)
    assert [e.memory for e in found] == ["cached"] * held
    texts = of_kinds("esp8266-flash", model, image)
    assert ("95 % of them within" in texts[0]) == held
    assert held or f"where code, here {image} bytes, is larger than the cache" in texts[0]
    size = {} if image is None else {"image_rom": image}
    [row] = rows([made("esp8266-flash", model, assembly_cycles=0, rom=10, **size)])
    assert (error_of(row) is not None) == held
