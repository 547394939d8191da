"""Measure: observations -> metrics, by the definitions of docs/definitions.md."""

from .cycles import empty_calls, instructions, lines, means, one_call, points, sweep
from .felics import Felics, felics
from .image import attributable, energy, image_figures
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
    "helpers",
    "image_figures",
    "instructions",
    "lines",
    "means",
    "one_call",
    "peaks",
    "points",
    "spread",
    "sweep",
]
