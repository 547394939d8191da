"""Measure: observations -> metrics, by the definitions of docs/definitions.md."""

from .cycles import empty_calls, inputs_of, instructions, lines, means, one_call, points
from .dependence import fresh
from .felics import Felics, felics
from .image import attributable, energy, image_figures
from .plausible import implausible
from .ram import peaks, spread
from .rom import helpers
from .symbols import added

__all__ = [
    "Felics",
    "added",
    "attributable",
    "empty_calls",
    "energy",
    "felics",
    "fresh",
    "helpers",
    "image_figures",
    "implausible",
    "inputs_of",
    "instructions",
    "lines",
    "means",
    "one_call",
    "peaks",
    "points",
    "spread",
]
