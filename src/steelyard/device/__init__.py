"""Device: what runs a firmware image. Simulator and board speak the same protocol."""

from .client import Client
from .link import Link
from .simulator import MAX_CYCLES, SimulatorLink, timing_model

__all__ = ["MAX_CYCLES", "Client", "Link", "SimulatorLink", "timing_model"]
