"""Puts the figures of a run together from its observed calls and images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..model.call import Beside, Observed
from ..model.metric import REFUSED
from ..model.packed import pack
from ..model.power import Power
from ..model.record import Helper, Point
from ..model.target import Target
from .cycles import Empty, blocks, counter, instructions, lines, means, points, warm
from .dependence import dependence, scatter
from .energy import measured
from .felics import Felics
from .image import attributable, energy, image_figures
from .ram import peaks, spread
from .untold import untold


class Observations(Struct, frozen=True):
    """All calls of a run: on the ``known`` answers' inputs, on ``fresh`` inputs of the same sizes, and ``swept`` over
    the workload's sizes. ``quantity`` is what the device counts, ``untouched`` the RAM bytes that the known answers
    left unwritten, ``block``, ``context`` and ``key`` the bytes of a block cipher's, ``power`` what a meter measured.
    ``warm`` are its calls with warm caches, ``warm_empty`` the empty ones, on a device that otherwise ``settles`` them.
    Those ``beside`` are in no mean, but their stack and heap count.

    When time ``depends`` on the inputs, ``fresh`` holds every size, otherwise a sample. ``refused`` counts sizes
    that the algorithm does not take, or that have no room by its own doing; where NIST's are among them, no answers are
    ``known`` to a mean. ``clock`` is within what fraction a board's clock is right, as the chip's own counter showed.
    """

    empty: Empty
    known: tuple[Observed, ...]
    fresh: tuple[Observed, ...]
    swept: tuple[Observed, ...]
    quantity: str
    untouched: int | None
    depends: bool
    felics: Felics = Felics()
    block: int = 0
    context: int = 0
    key: int = 0
    power: Power | None = None
    warm: tuple[Observed, ...] = ()
    warm_empty: Empty = Empty({}, {})
    settles: bool = False
    beside: Beside = Beside()
    refused: int = 0
    clock: float | None = None

    @property
    def all(self) -> tuple[Observed, ...]:
        """All calls whose cycles are in a figure, but warm ones."""
        return (*self.known, *self.fresh, *self.swept)


class Figures(Struct, frozen=True):
    """The figures of a record: ``metrics`` by name (docs/definitions.md), ``points``, ``notes`` and ``helpers``, and
    the cycles of every known answer, packed (:mod:`..model.packed`)."""

    metrics: dict[str, float]
    points: tuple[Point, ...]
    notes: tuple[str, ...]
    helpers: tuple[Helper, ...] = ()
    vector_cycles: bytes = b""

    def above(
        self, baseline: Mapping[str, float], helpers: tuple[Helper, ...], uncounted: Mapping[str, int]
    ) -> Figures:
        """A copy that also has the metrics of the image minus those of its ``baseline``. ``helpers`` are the library
        members that count and that only this image contains, ``uncounted`` are bytes of each part's ROM."""
        own = attributable(self.metrics, baseline, uncounted) | {"rom_helpers": sum(h.size for h in helpers)}
        return replace(self, metrics={**self.metrics, **own}, helpers=helpers)


def figures(seen: Observations, images: Mapping[str, Path], target: Target) -> Figures:
    """Computes the figures from the calls that were ``seen`` on ``target``, and the ``images`` by part."""
    empty, known = seen.empty.cycles, means(seen.known, seen.empty.cycles, seen.quantity)
    # other quantities must not appear in columns of cycles
    swept = points(seen.swept, empty) if seen.quantity == "cycles" else ()
    depending, notes = dependence(seen.known, seen.fresh, empty, seen.quantity) if seen.depends else ({}, [])
    mean = {name: depending.get(name, value) for name, value in known.items()}
    further = _warm(seen, mean)
    of_sizes = {} if seen.refused else lines(swept)  # a line through sizes of a package's choice
    slopes = of_sizes | (blocks(mean | further, seen.block) if seen.block else {})
    metrics = {
        **known,
        **depending,
        **_scatter(seen, exact=target.device == "simulator"),
        **slopes,
        **peaks(seen.all, (*seen.warm, *seen.beside.all)),
        **_instructions(seen),
        **(spread(seen.known) or spread(seen.swept)),
        **counter(seen.all),
        **image_figures(images, target, seen.untouched),
        **energy(mean, target),
        **measured({**mean, **slopes}, seen.power, swept, seen.block),
        **seen.felics.figures,
        **further,
        **({"context": seen.context, "key_bytes": seen.key} if seen.block else {}),
        **({REFUSED: seen.refused} if seen.refused else {}),
    }
    if target.device == "simulator":  # elsewhere other programs and an instrument's clock make calls longer
        notes += untold(seen.all, seen.beside, empty, seen.felics.notes)
    each = pack(points(seen.known, empty)) if seen.quantity == "cycles" else b""
    return Figures(metrics, swept, (*notes, *seen.felics.notes), vector_cycles=each)


def _scatter(seen: Observations, *, exact: bool) -> dict[str, float]:
    """How far calls scatter with their inputs."""
    if seen.quantity != "cycles":
        return {}
    return scatter(seen.known, seen.fresh, seen.empty.cycles, depends=seen.depends, sized=not seen.block, exact=exact)


def _instructions(seen: Observations) -> dict[str, float]:
    """Instructions of the calls that cycles are of."""
    known = instructions(seen.known, seen.empty.instructions)
    fresh = instructions(seen.fresh, seen.empty.instructions) if seen.depends else {}
    return known | fresh | {f"{n.removesuffix('_mean')}_known_mean": known[n] for n in fresh if n in known}


def _warm(seen: Observations, cold: Mapping[str, float]) -> dict[str, float]:
    """A block cipher's warm figures: where nothing is settled before a call, those of all calls. Warm calls repeat
    known answers, so there are none where time depends on the inputs."""
    if not seen.block or seen.quantity != "cycles":
        return {}
    if not seen.settles:
        return {name.replace("_mean", "_warm_mean"): value for name, value in cold.items()}
    if seen.depends:
        return {}
    return warm(seen.warm, seen.warm_empty.cycles)
