"""Gates of stored comparisons, and rankings of hardware."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.cli.records import document
from steelyard.model.record import Point, Record
from tests.made_up import record, store

from .conftest import Cli


def test_hardware_is_reported_by_the_sizes_that_it_is_ranked_by_and_no_gate_passes_what_is_not_compared(
    cli: Cli, tmp_path: Path
) -> None:
    def of(label: str, **figures: float) -> Record:
        return replace(record(label, primitive="lwc_rtl", target="ecp5"), metrics=figures)

    store(tmp_path / "results.db", of("toy1/x1", lut=700, latency_pt_64=0.75), of("toy2/x1", cells_other=1))
    assert re.search(r"\| ecp5 +\|.* toy1/x1 +\| +0\.75 \|", cli("report --format md -o -").out)
    gate = cli("compare toy1 toy2 --fail-on worse")
    assert (gate.code, "no lut" in gate.err) == (1, True), gate
    none = [replace(r, points=()) for r in (of("toy1/x1", cells_other=2), of("toy2/x1", cells_other=1))]
    store(tmp_path / "other.db", *none)
    gate = cli("compare toy1 toy2 --fail-on worse --db other.db")
    assert (gate.code, "has no metric on both sides that is compared" in gate.err) == (1, True), gate


@pytest.mark.parametrize("kind", ["top", "places", "pareto", "merit"])
def test_hardware_without_frequency_is_ranked_by_cycles_and_gates(cli: Cli, tmp_path: Path, kind: str) -> None:
    """And other devices by time, as before."""
    points = tuple(Point("encrypt", *size, 900) for size in ((0, 1536), (0, 64), (0, 16), (1536, 0)))

    def of(label: str, target: str, **figures: float) -> Record:
        return replace(record(label, primitive="lwc_rtl", target=target), metrics=figures, points=points)

    asic = (of(f"toy{n}/x1", "asic", ge=5000 + n, ff=9) for n in (1, 2))
    store(tmp_path / "results.db", *asic, of("toy1/x1", "ecp5", lut=70, latency_pt_1536=0.75))
    found: dict[str, set[str]] = {"asic": set(), "ecp5": set()}
    for sheet in json.loads(cli(f"rank --kind {kind} --json").out):
        assert sheet["rows"], sheet
        found[sheet["title"].split()[0]] |= {c["name"] for c in sheet["columns"]}
    assert {"encrypt@0/1536", "ge"} <= found["asic"]
    assert "latency_pt_1536" in found["ecp5"]
    assert "encrypt@0/1536" not in found["ecp5"]
    if kind == "top":
        text = cli("report --format md -o -").out
        assert re.search(r"\| asic +\|.*\| toy1/x1 +\| +5001 \|", text)
        assert re.search(r"\| asic +\| exact: those of the design itself", text)


def test_a_gate_of_chosen_metrics_is_of_these(cli: Cli, tmp_path: Path) -> None:
    """Whatever else one side has, as a file does, which has all."""
    one = replace(record(), metrics={"rom": 100, "stack": 9})
    store(tmp_path / "results.db", one)
    (tmp_path / "base.json").write_text(json.dumps(document([one], []), default=str))
    gate = cli(
        f"compare {tmp_path / 'base.json'} {one.setup.variant}/{one.setup.implementation} -c rom --fail-on worse"
    )
    assert (gate.code, gate.err) == (0, ""), gate


@pytest.mark.parametrize("rule", ["key_bytes>1%", "cycles_encrypt_inputs_sd>1%", "rom>-5%"])
def test_a_gate_that_cannot_fail_is_refused(cli: Cli, tmp_path: Path, rule: str) -> None:
    one = replace(record(), metrics={"rom": 100, "key_bytes": 9})
    store(tmp_path / "results.db", one)
    refused = cli(f"compare lea/opt lea/opt --fail-on {rule}")
    assert (refused.code, f"--fail-on '{rule}': " in refused.err) == (2, True), refused
    assert ("neither more nor less" in refused.err) == ("-" not in rule), refused


def test_known_answers_are_gated_by_name_where_no_mean_is_over_fresh_inputs(cli: Cli, tmp_path: Path) -> None:
    runs = [replace(record(name), metrics={"cycles_encrypt_mean": n}) for name, n in (("a1/x", 4000), ("b1/x", 4100))]
    store(tmp_path / "results.db", *runs)
    gate = cli("compare a1/x b1/x -c cycles_encrypt_known_mean --fail-on cycles_encrypt_known_mean>1%")
    assert gate.code == 1, gate
    assert gate.err.strip().startswith("--fail-on: cycles_encrypt_known_mean is worse by more than 1 %"), gate
