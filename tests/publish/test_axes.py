"""Logarithmic axes are labelled where one looks first: at each power of ten, without gaps that hide the scale."""

from __future__ import annotations

import math
import re

import pytest

from steelyard.publish.figure import Data, draw, load, specification

#: those that are drawn: the others have opacity 0, or no text
LABEL = re.compile(r'<text (?![^>]*opacity="0")[^>]*>([\d\u00a0]+)</text>')


def data(low: float, high: float) -> Data:
    shared = {"family": "f", "target": "t", "variant": "v", "ram": 100, "front": False, "run": 1, "mlen": 64}
    return [
        {**shared, "name": f"n{k}", "rom": v, "cycles": v, "cycles_encrypt_mean": v, "kilobytes_per_second": v}
        for k, v in enumerate((low, math.sqrt(low * high), high))
    ]


def labels(figure: str, low: float, high: float) -> list[set[int]]:
    """The labels of the axes of numbers from ``low`` to ``high``."""
    svg = draw(specification(load(figure), data(low, high)), "svg").decode()
    axes = re.findall(r'class="mark-text role-axis-label".*?</g>', svg, re.DOTALL)
    found = [{int(n.replace("\u00a0", "")) for n in LABEL.findall(axis)} for axis in axes]
    return [axis for axis in found if axis]


@pytest.mark.parametrize(("low", "high"), [(844, 11236), (5458, 28062), (31400, 242534), (90, 400_000)])
@pytest.mark.parametrize(("figure", "axes"), [("tradeoff", 2), ("throughput", 1)])
def test_powers_of_ten_are_labelled(figure: str, axes: int, low: float, high: float) -> None:
    powers = {10**k for k in range(1, 7) if low < 10**k < high}
    assert powers
    assert sum(powers <= axis for axis in labels(figure, low, high)) >= axes


@pytest.mark.parametrize(("low", "high"), [(2834, 2898), (1200, 2012), (53297, 103185), (6100, 9800)])
def test_less_than_a_power_of_ten_has_labels_too(low: float, high: float) -> None:
    assert [len(axis) >= 3 for axis in labels("tradeoff", low, high)] == [True, True]


def test_the_only_mark_has_whole_numbers() -> None:
    [mark, *_] = data(2102, 2102)
    svg = draw(specification(load("tradeoff"), [mark | {"cycles": 53297.2760976}]), "svg").decode()
    assert ">53\u00a0297</text>" in svg
    assert "2760976</text>" not in svg


def test_a_dozen_implementations_have_a_colour_each() -> None:
    row = data(100, 200)[0] | {"at": "run 1", "order": 1, "compiler": "c", "baseline": False}
    several = [row | {"name": f"n{k}", "cycles": 100 + k} for k in range(12)]
    svg = draw(specification(load("history"), several), "svg").decode()
    legend = svg[svg.index("role-legend-symbol") :]
    assert len(set(re.findall(r'stroke="(#[0-9a-f]{6})"', legend)) - {"#888888"}) >= 12


@pytest.mark.parametrize("most", [1, 1.5, 2, 3, 4, 7, 10])
def test_counts_are_whole_at_an_axis(most: float) -> None:
    """Places and cycles; of one variant, or of two that share a place, the axis ends at 1 or 1.5."""
    shared = {"panel": "p", "target": "t", "order": 0, "rank": 1, "variant": "v", "run": 1}
    for mark in ({"value": most}, {"place": most, "what": "fastest"}):
        svg = draw(specification(load("top"), [shared | mark | {"name": "n"}]), "svg").decode()
        axes = re.findall(r'class="mark-text role-axis-label".*?</g>', svg, re.DOTALL)
        told = re.findall(r">([^<>]+)</text>", "".join(axes))
        assert {"0", "n"} < set(told)
        assert [label for label in told if "." in label] == []
