"""Stage five: computes metrics from observed calls and images, as defined in docs/definitions.md."""

from .cycles import Empty, empty_calls, lines, means, one_call, points
from .dependence import dependence, depends
from .felics import Felics, felics
from .figures import Figures, Observations, figures
from .image import energy
from .plausible import implausible
from .ram import peaks
from .rom import added, helpers

__all__ = [
    "Empty",
    "Felics",
    "Figures",
    "Observations",
    "added",
    "dependence",
    "depends",
    "empty_calls",
    "energy",
    "felics",
    "figures",
    "helpers",
    "implausible",
    "lines",
    "means",
    "one_call",
    "peaks",
    "points",
]
