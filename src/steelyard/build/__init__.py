"""Build: implementation x target x flags -> firmware images."""

from .image import Build, build, harness_digest
from .toolchain import identify

__all__ = ["Build", "build", "harness_digest", "identify"]
