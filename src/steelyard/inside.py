"""What the images of a job hold, symbol by symbol, and where the cycles of one of its calls go; nothing is stored."""

from __future__ import annotations

from collections.abc import Callable

from . import building, device, measure
from .jobs import Job
from .model.call import DeviceError, Op
from .model.inputs import Inputs
from .model.metric import ASSEMBLY
from .model.primitive import PRIMITIVES
from .model.profile import Node, Profile, Share
from .model.reasons import Failure, Reason


def profile(
    job: Job, op: Op, adlen: int, mlen: int, timing: bool = False, max_cycles: int = device.MAX_CYCLES
) -> Profile:
    """Where the cycles of one call with ``adlen`` and ``mlen`` bytes go, and why they pass where ``timing`` asks for
    it; a call may take ``max_cycles``. Raises :class:`DeviceError` off the simulator, and when building or running
    fails."""
    if job.target.device != "simulator":
        raise DeviceError(
            Failure(Reason.NOT_SIMULATED, f"{job.target.name} is a machine, on which only whole calls can be measured")
        )
    built = building.built(job.implementation, job.target, job.flags)
    client = device.simulated(job.target, built.images["both"], max_cycles)
    request, unaligned = measure.one_call(client, op, adlen, mlen)
    shares = tuple(Share(*share) for share in client.causes(request)) if timing else ()
    tree, instructions, taken = client.profile(request)
    nodes = tuple(Node(*node) for node in tree)
    rom = measure.load_size(built.images["both"])
    return Profile(job.implementation.label, nodes, instructions, taken, unaligned, shares, rom)


def sizes(job: Job) -> dict[str, dict[tuple[str, str], int]]:
    """Bytes by (symbol, kind) that each image has more than nocrypt's. Raises :class:`DeviceError` when an image cannot
    be built."""
    mine, base = (building.built(j.implementation, j.target, j.flags) for j in (job, job.baseline))
    beside = uncounted(job, mine, base)
    return {part: measure.added(image, base.images[part], beside[part]) for part, image in mine.images.items()}


def uncounted(job: Job, mine: building.Build, base: building.Build) -> dict[str, int]:
    """What is not counted in the ROM of each image, by part; see :func:`.measure.rom.uncounted`."""
    primitive = job.implementation.primitive
    return {part: measure.uncounted(of, base.maps[part], primitive) for part, of in mine.maps.items()}


def assembly(
    job: Job,
    built: building.Build,
    seen: measure.Observations,
    simulated: Callable[[str], device.Client],
    inputs: Inputs,
) -> dict[str, float]:
    """The share of assembly in the cycles of the calls that were ``seen``, in percent, by the ``simulated`` image of
    that part; nothing on a machine, where only whole calls can be measured."""
    if job.target.device != "simulator":
        return {}
    image, implementation = built.images["both"], job.implementation
    hand = measure.written(implementation.files, building.objects(built, implementation), image)
    if not hand:
        return {ASSEMBLY: 0.0}
    operations = PRIMITIVES[implementation.primitive].operations
    calls = seen.known or seen.fresh
    return {ASSEMBLY: 100 * measure.least(simulated("both"), hand, operations, calls, seen.swept, inputs)}
