"""Stage three: runs a firmware image on a device. Simulator, process and board speak the same protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from ..model.target import Target
from .client import Client
from .link import Link
from .need import Need, with_room
from .process import local
from .remote import RemoteLink, ask, host_of
from .simulator import MAX_CYCLES, SimulatorLink, timing_model

__all__ = [
    "MAX_CYCLES",
    "Client",
    "Link",
    "Need",
    "SimulatorLink",
    "ask",
    "host_of",
    "opened",
    "simulated",
    "timing_model",
    "with_room",
]


def simulated(
    target: Target,
    image: Path,
    max_cycles: int = MAX_CYCLES,
    over: Event | None = None,
    need: Need | None = None,
) -> Client:
    """A client of ``image`` on the simulated chip of ``target``, which need not be closed; see :func:`opened`."""
    return Client(SimulatorLink(target, image, max_cycles, over), need=need)


@contextmanager
def opened(
    target: Target, image: Path, sandbox: tuple[str, ...], max_cycles: int = MAX_CYCLES, over: Event | None = None
) -> Iterator[Link]:
    """Opens the target's device with ``image`` and closes it at the end. ``sandbox`` is put before the command of a
    local process; ``max_cycles`` bounds a simulated call, and ``over`` ends simulated calls. Raises
    :class:`DeviceError` when the device does not start. Example: ``with opened(target, image, confined(image)) as link:
    Client(link)``."""
    link: Link
    match target.device:
        case "process":
            link = local(image, sandbox)
        case "ssh":
            link = RemoteLink(target, image)
        case _:
            link = SimulatorLink(target, image, max_cycles, over)
    try:
        yield link
    finally:
        link.close()
