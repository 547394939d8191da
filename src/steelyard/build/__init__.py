"""Build: implementation x target x flags -> firmware images."""

from .image import Build, build, harness_digest, objects
from .sandbox import confined
from .toolchain import identify, why_not

__all__ = ["Build", "build", "confined", "harness_digest", "identify", "objects", "why_not"]
