"""Device: what runs a firmware image. Simulator, process and board speak the same protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model.target import Target
from .client import Client
from .link import Link
from .process import ProcessLink, local
from .remote import RemoteLink, ask, host_of
from .simulator import MAX_CYCLES, SimulatorLink, timing_model

__all__ = [
    "MAX_CYCLES",
    "Client",
    "Link",
    "ProcessLink",
    "RemoteLink",
    "SimulatorLink",
    "ask",
    "host_of",
    "opened",
    "simulated",
    "timing_model",
]


def simulated(target: Target, image: Path, max_cycles: int = MAX_CYCLES) -> Client:
    """A client of ``image`` on the simulated chip of ``target``, which need not be closed."""
    return Client(SimulatorLink(target, image, max_cycles))


@contextmanager
def opened(target: Target, image: Path, sandbox: tuple[str, ...], max_cycles: int = MAX_CYCLES) -> Iterator[Link]:
    """The device that runs ``image``; ``sandbox`` is the command that a process is started with."""
    link: Link
    match target.device:
        case "process":
            link = local(image, sandbox)
        case "ssh":
            link = RemoteLink(target, image)
        case _:
            link = SimulatorLink(target, image, max_cycles)
    try:
        yield link
    finally:
        link.close()
