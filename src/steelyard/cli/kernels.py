"""``steelyard validate --kernels``: micro-kernels on the simulator, and beside it on a board."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING

from .. import building, device, lab
from ..measure.unseen import resolution
from ..model import paths
from ..model.call import DeviceError, Op
from ..model.errors import UserError, WorkError
from ..model.reasons import Reason
from ..model.target import Target
from ..publish.kernels import Figure, KernelRun
from ..sources.kernels import Kernel, answered, chosen, kernels_of, message, package
from . import select

if TYPE_CHECKING:
    from ..lab import Station

#: rounds of the shorter calls, and by which the longer ones are longer; calls of each length
ROUNDS, CALLS = 1000, 3
#: most cycles of a call: several times those of the longest kernel
_MOST = 1 << 26
#: what to do about defects of a kernel, which no stored run has
_OWN = {
    Reason.RUNAWAY: "see that each kernel of {file} counts its rounds and ends",
    Reason.FAULT: "see what the kernel of {file} that the detail names does there",
    Reason.FOREIGN_ISA: "correct {file}, or name cores without that instruction in the kernel's `without`",
    Reason.COMPILE_ERROR: "correct {file} where the assembler says",
    Reason.LINK_ERROR: "correct {file} where the linker says",
    Reason.UNDEFINED_SYMBOL: "define the symbol in {file}",
    Reason.DUPLICATE_SYMBOL: "use $symbol in names of labels in {file}",
}
#: rounds in which causes are counted: of the call that is subtracted, and further ones
_SETTLED, _SEEN = 16, 64


def weighed(target: Target, station: Station | None, patterns: Sequence[str]) -> KernelRun:
    """The kernels of the target's core whose names match, on the simulator, and on the board if there is one.
    :class:`UserError` where there are none, :class:`WorkError` where they do not run."""
    of = kernels_of(target.chip.core) if target.is_chip else None
    if of is None:
        raise UserError(f"{target.name}: there are no kernels for its core in bench/kernels; name another target")
    some = [(number, k) for number, k in enumerate(of.every) if k in chosen(of.every, patterns)]
    select.usable_home()
    try:
        with TemporaryDirectory() as folder:
            built = building.built(package(of.every, Path(folder)), target)
        image = built.images["both"]
        simulated = device.simulated(target.but(device="simulator"), image, _MOST)
        mine = _rounds(simulated, some)
        causes = [_causes(simulated, number) for number, _ in some]
        its, said, clock = _measured(station, image, some) if station else ([], "", simulated.link.clock)
    except DeviceError as e:
        f = e.failure
        action = _OWN.get(f.reason, f.next_action).format(file=paths.short(of.file))
        raise WorkError(f"kernels on {target.name}: {f.reason}: {f.detail}; {action}") from e
    unseen = resolution(station.cycles_per_sample) / ROUNDS if station else None
    toolchain = building.identify(target.toolchain)
    return KernelRun(
        target.name,
        target.chip_name,
        device.timing_model(target),
        station.target.device if station else "simulator",
        said,
        clock,
        toolchain.version if toolchain else "",
        hashlib.sha256(image.read_bytes()).hexdigest(),
        ROUNDS,
        of.page,
        tuple(
            Figure(k.name, k.rule, mine[n], causes[n], its[n] if station else None, unseen)
            for n, (_, k) in enumerate(some)
        ),
    )


def _measured(station: Station, image: Path, some: Sequence[tuple[int, Kernel]]) -> tuple[list[float], str, str]:
    """What a board makes of them, what it is, and its clock; attempted again as any run is."""
    for attempt in count(1):
        try:
            with lab.opened(station, image, _MOST, Event(), lab.Purpose("kernels", attempt)) as link:
                its = _rounds(device.Client(link), some)
                # its port says nothing to others
                return its, re.sub(r": [^,]+,", ":", link.notes[0], count=1), link.clock
        except DeviceError as e:
            if not lab.again(e.failure, attempt):
                raise
    raise AssertionError("unreachable")


def _rounds(client: device.Client, kernels: Sequence[tuple[int, Kernel]]) -> list[float]:
    """Cycles of a round of each: the median of longer calls minus that of shorter ones, after one that fills caches
    and predictors."""
    found = []
    for number, kernel in kernels:
        lengths = [ROUNDS] * (1 + CALLS) + [2 * ROUNDS] * CALLS
        asked = [client.hello.zeros(Op.HASH, message(number, n)) for n in lengths]
        cycles = []
        for rounds, answer in zip(lengths, client.calls(asked), strict=True):
            if answer.code != 0 or not answered(number, rounds, answer.output):
                raise WorkError(f"kernel {kernel.name}: the device answers for another kernel; flash it again")
            cycles.append(answer.pulse.cycles)
        found.append((median(cycles[1 + CALLS :]) - median(cycles[1 : 1 + CALLS])) / ROUNDS)
    return found


def _causes(client: device.Client, number: int) -> dict[str, float]:
    """Cycles of a round by cause, the most first."""
    sums: dict[str, int] = {}
    for rounds, sign in ((_SETTLED, 0), (_SETTLED, -1), (_SETTLED + _SEEN, 1)):
        for cause, _, _, cycles in client.causes(client.hello.zeros(Op.HASH, message(number, rounds))):
            sums[cause] = sums.get(cause, 0) + sign * cycles
    found = {cause: round(cycles / _SEEN, 2) for cause, cycles in sums.items()}
    return {cause: cycles for cause, cycles in sorted(found.items(), key=lambda x: -x[1]) if cycles}
