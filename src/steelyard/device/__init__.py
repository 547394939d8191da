"""Device: what runs a firmware image. Simulator, process and board speak the same protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model.target import Target
from .client import Client
from .link import Link
from .process import ProcessLink, machine
from .simulator import MAX_CYCLES, SimulatorLink, timing_model

__all__ = ["MAX_CYCLES", "Client", "Link", "ProcessLink", "SimulatorLink", "clock_of", "opened"]


def clock_of(target: Target) -> str:
    """What counts the cycles of ``target``: a timing model, or a machine's own counter."""
    return timing_model(target) if target.device == "simulator" else machine()


@contextmanager
def opened(target: Target, image: Path, sandbox: tuple[str, ...], max_cycles: int = MAX_CYCLES) -> Iterator[Link]:
    """The device that runs ``image``; ``sandbox`` is the command that a process is started with."""
    link: Link = ProcessLink(image, sandbox) if target.device == "process" else SimulatorLink(target, image, max_cycles)
    try:
        yield link
    finally:
        link.close()
