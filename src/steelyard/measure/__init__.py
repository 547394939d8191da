"""Stage five: computes metrics from observed calls and images, as defined in docs/definitions.md."""

from .cycles import empty_calls, one_call
from .dependence import depends
from .felics import LENGTH, Felics, beside, case, felics
from .figures import Observations, figures
from .image import image_figures
from .phases import DATA, another, joined, message, phases, unscheduled
from .plausible import implausible
from .repeats import repeated, sampled
from .rom import added, helpers, load_size, uncounted
from .share import least, share, written
from .whole import why_not

__all__ = [
    "DATA",
    "LENGTH",
    "Felics",
    "Observations",
    "added",
    "another",
    "beside",
    "case",
    "depends",
    "empty_calls",
    "felics",
    "figures",
    "helpers",
    "image_figures",
    "implausible",
    "joined",
    "least",
    "load_size",
    "message",
    "one_call",
    "phases",
    "repeated",
    "sampled",
    "share",
    "uncounted",
    "unscheduled",
    "why_not",
    "written",
]
