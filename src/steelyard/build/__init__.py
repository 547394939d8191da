"""Build: implementation x target x flags -> firmware images."""

from .image import Build, HarnessError, build, harness_digest, objects
from .sandbox import confined
from .toolchain import identify

__all__ = ["Build", "HarnessError", "build", "confined", "harness_digest", "identify", "objects"]
