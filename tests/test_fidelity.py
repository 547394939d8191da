"""What bench/fidelity.py makes of rows, and that the page and the claims have the figures of the files."""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fidelity
import fidelity_errors as errors_of
import fidelity_pages as pages
import fidelity_rows as rows_of
import pytest

from steelyard.analyse.errors import published
from steelyard.device import timing_model
from steelyard.model.target import load_target

ROOT = Path(__file__).parents[1]


def row(family: str, published: int, cycles: int, **other: Any) -> Any:
    values: dict[str, Any] = {
        "target": "due",
        "model": "m/1",
        "family": family,
        "variant": family,
        "implementation": "rhys",
        "level": "o2",
        "assembly": 1.0,
        "code": 1000,
        "adlen": 0,
        "mlen": 8,
    }
    return rows_of.Row(**(values | {"published": published, "cycles": cycles} | other))


def test_a_family_never_chooses_its_own_model() -> None:
    # the first model is right for two families, the second for one
    right = [row(f, 1000 * k, 1000 * k) for f in ("ascon", "isap", "romulus") for k in (3, 5)]
    first = [r._replace(cycles=r.cycles * (5 if r.family == "romulus" else 4) // 4) for r in right]
    first = [r if r.family == "romulus" else r._replace(cycles=r.published) for r in first]
    second = [r._replace(cycles=r.published * (1 if r.family == "romulus" else 2)) for r in right]
    errors = {(r.family, r.published): error for r, error in rows_of.held_out([first, second])}
    assert {e for (family, _), e in errors.items() if family == "romulus"} == {25.0}
    assert {e for (family, _), e in errors.items() if family == "ascon"} <= {0.0, 100.0}


def test_what_a_call_takes_besides_the_callee_is_fitted_to_the_other_families() -> None:
    rows = [row("ascon", 1020, 1000), row("ascon", 5020, 5000), row("isap", 3020, 3000), row("isap", 1060, 1000)]
    found = {(r.family, r.published): e for r, e in rows_of.held_out([rows])}
    assert found["isap", 3020] == 0
    assert found["isap", 1060] == pytest.approx(100 * (1020 / 1060 - 1))


def test_kinds_of_code_choose_the_cycles_of_a_call_apart() -> None:
    """As pages do, whose tables have one kind: whoever asks for all kinds at once gets the same of each."""
    calls = {"assembly": (1.0, 20), "compiled": (0.0, 100)}
    rows = [
        row(family, 5000 + calling, 5000, assembly=share, variant=f"{family}-{kind}")
        for kind, (share, calling) in calls.items()
        for family in ("ascon", "isap")
    ]
    mixed = row("ascon", 5020, 5000, assembly=0.5, variant="mixed")
    alone = rows_of.choices([[r for r in rows if r.assembly]])
    every = rows_of.choices([[*rows, mixed]])
    assert alone.items() <= every.items()
    assert {of[1]: found.calling for of, found in every.items() if of[2] == "isap"} == {"assembly": 20, "compiled": 100}
    assert ("due", "mixed", "ascon") in every, "no other family has such code: theirs of other kinds chooses"


def test_errors_end_quietly_where_nobody_reads_on() -> None:
    command = [sys.executable, "bench/fidelity.py", "errors", "docs/validation/fidelity.csv"]
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(command, cwd=ROOT, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, "")


def test_one_family_alone_says_that_nothing_is_held_out() -> None:
    with pytest.raises(SystemExit, match="no other family than ascon"):
        rows_of.held_out([[row("ascon", 1000, 1000)]])


def test_families_that_numbers_were_fitted_to_do_not_count() -> None:
    cycles = (("ascon", 1000), ("elephant", 900), ("isap", 900))
    rows = [row(f, 1000, c, target="mkrzero", assembly=0.0) for f, c in cycles]
    assert {r.family for r, _ in rows_of.unseen(rows_of.held_out([rows]))} == {"elephant", "isap"}
    printed = pages.table(rows)
    assert "| mkrzero | compiled | all held out | 2 |" in printed
    assert "| mkrzero | compiled | ascon* | 1 |" in printed
    with pytest.raises(SystemExit, match="fitted to all families of these rows"):
        rows_of.unseen([(r, 0.0) for r in rows if r.family == "ascon"])


def test_it_is_known_what_each_target_was_fitted_to() -> None:
    assert {f.target for f in rows_of.fits()} >= set(pages.AIMS)
    assert {name for f in rows_of.fits() for name in f.families} <= set(fidelity.FAMILIES)
    assert all((rows_of.PLACE / f.page).exists() for f in rows_of.fits())
    exact = {f.target for f in rows_of.fits() if not f.families}
    assert exact == set(rows_of.COUNTED), "whose calls are counted and not fitted either"


def test_what_the_due_is_without_its_exception() -> None:
    rows = [r for r in rows_of.counted(rows_of.read(rows_of.PLACE / "fidelity.csv")) if r.target == "due"]
    s = rows_of.spread(e for r, e in rows_of.unseen(rows_of.held_out([rows])) if r.family != "isap")
    page = " ".join((rows_of.PLACE / "fidelity.md").read_text(encoding="utf-8").split())
    assert f"without it the Due would be at {s.median:.2f} / {s.p95:.1f}." in page


def test_rows_of_targets_that_were_not_weighed_stay() -> None:
    there = [row("isap", 1000, 900), row("isap", 1000, 900, target="mkrzero")]
    new = [row("isap", 1000, 1000)]
    assert rows_of.merged(there, new) == [*new, there[1]]


def test_what_is_no_file_of_rows_is_said(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="no column target"):
        rows_of.read(tmp_path / "other.csv")
    with pytest.raises(argparse.ArgumentTypeError, match="KEY=VALUE"):
        fidelity.setting("wait_states")


def test_kinds_of_code() -> None:
    assert rows_of.of_assembly(row("ascon", 1, 1, assembly=0.69)) == "mixed"
    assert rows_of.of_assembly(row("ascon", 1, 1, assembly=0.05)) == "compiled"
    large = row("ascon", 1, 1, assembly=0.0, target="esp8266-flash", code=32769)
    assert rows_of.of_assembly(large) == "beyond the cache"


def test_pages_have_the_figures_of_their_files() -> None:
    blocks = []
    for page in rows_of.PLACE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert pages.filled(text) == text, f"{page.name}: run bench/fidelity.py page"
        blocks += [(kind, name) for _, kind, name, _ in pages.BLOCK.findall(text)]
    errors = {("errors", name) for name in pages.FILES}
    weighed = {("sensitivity", c.target) for c in pages.known()}
    others = {("aims", "fidelity"), *((kind, "all") for kind in (*pages.MADE, "zero-wait"))}
    assert sorted(blocks) == sorted({*errors, *others, *weighed})


def test_what_is_missed_of_an_aim_is_said() -> None:
    some = [row(f, 1000, c, target="mkrzero", assembly=0.0) for f in ("elephant", "isap") for c in (1000, 1000, 1060)]
    others = [row(f, 1000, 1000, target=t) for t in pages.AIMS if t != "mkrzero" for f in ("elephant", "isap")]
    lines = {line.split(" | ")[0]: line for line in pages.aims(some + others).splitlines()}
    assert lines["| mkrzero"].endswith("| 0.00 / 6.0 | reached | missed by 2.0 |")
    assert lines["| due"].endswith("| 0.00 / 0.0 | reached | reached |")


def test_each_number_goes_one_step_down_and_up() -> None:
    flash = {"wait_states": 3, "line_bytes": 16, "cache_lines": 0, "queue_words": 2}
    queue, wait = [("queue_words", 0), ("queue_words", 3)], [("wait_states", 2), ("wait_states", 4)]
    assert fidelity.steps(flash) == [("line_bytes", 8), ("line_bytes", 32), *queue, *wait]


def test_sensitivities_are_of_todays_models_and_numbers() -> None:
    for target in {c.target for c in pages.known()}:
        some = [c for c in pages.known() if c.target == target]
        flash = json.loads(load_target(target).chip.json)["flash_timing"]
        assert {c.model for c in some} == {timing_model(load_target(target))}
        assert [(c.number, c.changed) for c in some] == [("", 0), *fidelity.steps(flash)]
        assert all(c.value == flash[c.number] for c in some if c.number)


def test_sensitivities_begin_with_what_the_file_of_rows_gives() -> None:
    """Of the same builds, but for what libraries after the package move: who weighs one without the other, or fits to
    another family, is told."""
    rows = rows_of.counted(rows_of.read(rows_of.PLACE / "fidelity.csv"))
    for c in (c for c in pages.known() if not c.number):
        only, level = c.rows.rsplit(" ", 1)
        builds = [r for r in rows if (r.target, r.level) == (c.target, level)]
        own = [r for r in builds if re.search(only, f"{r.variant}/{r.implementation}")]
        s = rows_of.spread(e for _, e in rows_of.unseen(rows_of.held_out([own])))
        assert [c.values, c.bias, c.median, c.p95, c.most] == pytest.approx([*s], abs=0.05)


@pytest.mark.parametrize("target", sorted(pages.AIMS))
def test_claims_are_errors_of_families_that_no_number_was_fitted_to(target: str) -> None:
    rows = rows_of.counted(rows_of.read(rows_of.PLACE / "fidelity.csv"))
    s = rows_of.spread(e for r, e in rows_of.unseen(rows_of.held_out([rows])) if r.target == target)
    text = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    said = " ".join(text.split(f"\n## {target} (")[1].split("\n## ")[0].split())
    middle, high = (f"{s.median:.1f}", f"{s.p95:.1f}") if s.median > 0.1 else (f"{s.median:.3f}", f"{s.p95:.2f}")
    assert f"{middle} % median, {high} % 95th percentile" in said
    assert re.findall(r"([\d.]+) % median", said) == [middle], "no other median"


def test_claims_name_the_families_that_errors_of_assembly_are_of() -> None:
    rows = rows_of.counted(rows_of.read(rows_of.PLACE / "fidelity.csv"))
    said = " ".join((ROOT / "docs" / "claims.md").read_text(encoding="utf-8").split())
    names = {"elephant": "Elephant", "giftcofb": "GIFT-COFB", "isap": "ISAP", "romulus": "Romulus"}
    of: dict[str, list[str]] = {}
    for target in (e.target for e in published() if (e.code, e.page) == ("assembly", "fidelity.md")):
        *first, last = sorted({names[r.family] for r in rows if r.target == target and not rows_of.is_fitted(r)})
        of.setdefault(f"{', '.join(first)} and {last}", []).append(target)
    told = "; ".join(f"{' and '.join(targets)} {families}" for families, targets in of.items())
    assert f"The families that the errors on assembly are of: {told}." in said


def test_targets_say_what_families_held_out_show() -> None:
    for e in published():
        told = re.search(r"([\d.]+) % median error on families held out", load_target(e.target).silicon)
        if told and e.code == "assembly":
            assert told[1] == f"{e.median_percent:.1f}", e.target


def test_claims_say_what_compiled_code_on_mkrzero_carries() -> None:
    [error] = [e for e in published() if e.target == "mkrzero"]
    said = " ".join((ROOT / "docs" / "claims.md").read_text(encoding="utf-8").split())
    assert f"over all c, which other compilers made on the board, it is {error.median_percent:.1f} and" in said.lower()
    assert f" and {error.p95_percent:.0f} %, and this is what `show` and `compare` take" in said


def test_claims_say_what_compiled_code_on_uno_carries() -> None:
    """By the same rows as errors.csv, in neither of which a published row is that is wrong (README.md, "Outliers")."""
    [error] = [e for e in published() if (e.target, e.code) == ("uno", "compiled")]
    s = rows_of.spread(errors_of.shown("uno", "avre+/1", "uno-ascon-tinyjambu-lto.csv", kind="c").of)
    assert (error.values, error.median_percent, error.p95_percent) == pytest.approx(
        (s.values, s.median, s.p95), abs=1e-4
    )
    said = " ".join((ROOT / "docs/claims.md").read_text(encoding="utf-8").split())
    told = f"{s.median:.1f} % in the median, {s.p95:.1f} % at the 95th percentile, and {s.most:.1f} % at most"
    assert f"by {told}, not counting a published row that is wrong" in said
    assert s.most < 50, "the wrong row is off by half"


def test_published_rows_are_built_and_weighed(tmp_path: Path) -> None:
    header = "submission,variant,primary,implementation,config,flash,enc(0:0),enc(0:8),enc(0:64)\n"
    lines = [f"{f},tinyjambu128v2,yes,small,o2,1,30000,-,{1 << 24}\n" for f in ("tinyjambu", "xoodyak")]
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "mkrzero-aead-summary.csv").write_text(header + "".join(lines))
    package = ROOT / "ciphers" / "crypto_aead" / "tinyjambu" / "tinyjambu128v2" / "small"
    for family in ("tinyjambu", "xoodyak"):
        there = tmp_path / "implementations" / family / "crypto_aead" / "tinyjambu128v2" / "small"
        shutil.copytree(package, there)
    left = fidelity.LeftOut()
    [task] = fidelity.tasks(tmp_path, "mkrzero", "", (), left=left, fits=True)
    assert (task.family, task.published) == ("tinyjambu", {(0, 0): 30000})
    assert left.rows == {"of a family that is for examination": ["mkrzero tinyjambu128v2/small o2"]}
    every = list(fidelity.tasks(tmp_path, "due", "", (), left=left, board=fidelity.board_of("mkrzero,2")))
    assert [(t.family, t.published[0, 0]) for t in every] == [("tinyjambu", 60000), ("xoodyak", 60000)]
    [seen] = fidelity.weighed(task)
    assert (seen.target, seen.level, seen.published, seen.assembly) == ("mkrzero", "o2", 30000, 0.0)
    [slower] = fidelity.weighed(task._replace(flash=(("wait_states", 2),)))
    assert 1000 < seen.cycles < slower.cycles
    assert fidelity.varied(task, ((), (("wait_states", 2),))) == [[seen], [slower]]
    rows_of.write([seen], tmp_path / "rows.csv")
    assert rows_of.read(tmp_path / "rows.csv") == [seen]


def test_only_permitted_families_are_read() -> None:
    for name in pages.FILES:
        assert {r.family for r in rows_of.read(rows_of.PLACE / f"{name}.csv")} == set(fidelity.FAMILIES)


def test_the_page_says_what_limits_the_cycles_of_a_call() -> None:
    page = " ".join((rows_of.PLACE / "fidelity.md").read_text(encoding="utf-8").split())
    assert f"It is at most {max(rows_of.CALLING)} cycles" in page
    bound = [line.strip("| ").split(" | ")[:4] for line in pages.limits().splitlines()[2:]]
    found = []
    for name, said in pages.FILES.items():
        chosen = rows_of.choices([rows_of.read(rows_of.PLACE / f"{name}.csv")])
        most = sorted(held for held, choice in chosen.items() if choice.calling == max(rows_of.CALLING))
        found += [[said, *held] for held in most]
    assert [[*of, f.strip("*")] for *of, families in bound for f in families.split()] == found


def test_a_harness_that_is_somewhat_larger_moves_no_image_out_of_the_cache() -> None:
    page = " ".join((rows_of.PLACE / "fidelity.md").read_text(encoding="utf-8").split())
    rows = rows_of.read(rows_of.PLACE / "fidelity.csv")
    room = min(limit - r.code for target, limit in rows_of.CACHE.items() for r in rows if r.target == target)
    assert f"20 bytes change that for none: the largest is {room} bytes below" in page
    assert room > 20


def test_a_call_that_was_counted_is_not_fitted() -> None:
    rows = [row(f, 10_000, 9_900, target="uno") for f in ("elephant", "isap")]
    assert {round(e, 6) for _, e in rows_of.held_out([rows])} == {-1.0}


def test_rules_are_chosen_by_the_other_kinds_of_code() -> None:
    def some(rules: str, code: str, cycles: float) -> pages.ZeroWait:
        return pages.ZeroWait(rules, "m/1", "cortex-m4", "r", code, "no", 100.0, cycles)

    right = {"fixsliced": (100, 103), "bitsliced": (101, 103), "X25519": (109, 100)}
    rows = [some(name, code, cycles[k]) for k, name in enumerate(("a", "b")) for code, cycles in right.items()]
    assert [pages.chosen(rows, kind) for kind in ("X25519", "fixsliced")] == [["a"], ["b"]]
    printed = pages.zero_wait(rows).splitlines()
    assert "| X25519 | 1 | +9.00 | +0.00 | a |" in printed
    # rules that were not weighed on every kind are held against the others on what they have, and ties are said
    alike = [some("c", code, cycles[0]) for code, cycles in right.items() if code != "X25519"]
    assert pages.chosen(rows + alike, "X25519") == ["a", "c"]


def test_a_binary_that_a_rule_was_adopted_with_is_in_no_error() -> None:
    """It is not held out where the other kinds do not tell rules apart, and the aims say so."""
    rows = pages.zero_waits()
    assert len(pages.chosen(rows, pages.BINARY)) > 1
    [line] = [line for line in pages.zero_wait_aims() if pages.BINARY in line]
    assert "not held out" in line
    [error] = [e for e in published() if e.target == "stm32f407"]
    own = [r for r in rows if (r.core, r.rules) == ("cortex-m4", pages.TODAY)]
    assert (error.code, error.values) == ("assembly", sum(r.kind != pages.BINARY for r in own))
    [binary] = {f"{r.error:+.2f}" for r in own if r.kind == pages.BINARY}
    said = " ".join((ROOT / "docs/claims.md").read_text(encoding="utf-8").split())
    assert f"one binary was compared, ISAP-K on an STM32F303VC without wait states, {binary} %;" in said


def test_the_page_says_how_much_wide_instructions_wait() -> None:
    rows = {(r.rules, r.kind): r for r in pages.zero_waits()}
    before, none = rows["wait wherever", "X25519"], rows[pages.NO_WAIT, "X25519"]
    waits = before.cycles - none.cycles
    page = " ".join((rows_of.PLACE / "arm-zero-wait.md").read_text(encoding="utf-8").split())
    assert f"its {waits:,.0f} such groups are {100 * waits / before.cycles:.1f} %".replace(",", " ") in page


def test_the_page_says_how_few_literals_there_are() -> None:
    with pages.LITERALS.open(newline="") as f:
        isap = [r for r in csv.DictReader(f) if r["variant"].startswith("isap")]
    share = sorted(100 * int(r["l32r"]) / int(r["instructions"]) for r in isap)
    page = " ".join((rows_of.PLACE / "fidelity.md").read_text(encoding="utf-8").split())
    assert f"L32R are {share[0]:.1f} to {share[-1]:.1f} % of ISAP's instructions" in page


def test_the_clock_of_avr_boards_interrupts() -> None:
    """``README.md`` and ``nano-every.md`` count what the clock's interrupt and the call take."""
    for target, page in (("uno", "README"), ("nano-every", "nano-every")):
        board = fidelity.BOARDS[target]
        lines = [line for line in (rows_of.PLACE / f"{page}.md").read_text().splitlines() if line.startswith("| ")]
        [tick] = [line for line in lines if f"every 64 x 256 = {fidelity.TICK}" in line]
        [call] = [line for line in lines if line.startswith("| two `micros()`")]
        often, seldom = map(int, re.findall(r"\d+", tick.split("|")[2])[:2])
        assert board.tick == pytest.approx(often + (seldom - often) / 42)
        assert f" {board.calling} AEAD" in call


def test_a_family_is_one_however_it_is_spelt(tmp_path: Path) -> None:
    file = ROOT / "docs/validation/fidelity.csv"
    spelt = tmp_path / "spelt.csv"
    spelt.write_text(file.read_text().replace(",giftcofb,", ",gift-cofb,"))
    assert ",gift-cofb," in spelt.read_text()
    assert rows_of.read(spelt) == rows_of.read(file)
