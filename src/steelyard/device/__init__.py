"""Device: what runs a firmware image. Simulator and board speak the same protocol."""

from .client import Client
from .link import Link
from .simulator import SimulatorLink, timing_model

__all__ = ["Client", "Link", "SimulatorLink", "timing_model"]
