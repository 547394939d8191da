"""Stage two: builds firmware images from implementation x target x flags."""

from .diagnose import ran
from .firmware import harness_digest
from .image import ALONE, Build, Scenario, apart, build, built, kept_of, mode, objects
from .sandbox import UNCONFINED, confined
from .toolchain import identify, why_not

__all__ = [
    "ALONE",
    "UNCONFINED",
    "Build",
    "Scenario",
    "apart",
    "build",
    "built",
    "confined",
    "harness_digest",
    "identify",
    "kept_of",
    "mode",
    "objects",
    "ran",
    "why_not",
]
