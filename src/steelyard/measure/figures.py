"""A run's figures: what its calls showed, and all that is computed of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..model.call import Observed
from ..model.record import Helper, Point
from ..model.target import Target
from .cycles import Empty, instructions, lines, means, points
from .dependence import dependence
from .felics import Felics
from .image import attributable, energy, image_figures
from .ram import peaks, spread


class Observations(Struct, frozen=True):
    """All calls of a run: with the ``known`` answers' inputs, with ``fresh`` ones of their sizes, and ``swept`` over
    the workload's. ``quantity`` is what the device counts, ``untouched`` RAM bytes that the known answers left alone.

    Where time ``depends`` on the inputs ``fresh`` holds every size, else a sample.
    """

    empty: Empty
    known: tuple[Observed, ...]
    fresh: tuple[Observed, ...]
    swept: tuple[Observed, ...]
    quantity: str
    untouched: int | None
    depends: bool
    felics: Felics

    @property
    def all(self) -> tuple[Observed, ...]:
        """Every call whose figures count."""
        return (*self.known, *self.fresh, *self.swept)


class Figures(Struct, frozen=True):
    """What a record holds of them: ``metrics`` by name (docs/definitions.md), ``points``, ``helpers``, ``notes``."""

    metrics: dict[str, float]
    points: tuple[Point, ...]
    notes: tuple[str, ...]
    helpers: tuple[Helper, ...] = ()

    def above(self, baseline: Mapping[str, float], helpers: tuple[Helper, ...]) -> Figures:
        """These, and what remains of the image minus its ``baseline``'s metrics; ``helpers`` are library members that
        only this image holds."""
        own = attributable(self.metrics, baseline) | {"rom_helpers": sum(h.size for h in helpers)}
        return replace(self, metrics={**self.metrics, **own}, helpers=helpers)


def figures(seen: Observations, images: Mapping[str, Path], target: Target) -> Figures:
    """The figures of a run whose calls were ``seen`` on ``target``, with its ``images`` by part."""
    empty, mean = seen.empty.cycles, means(seen.known, seen.empty.cycles, seen.quantity)
    # what is not counted in cycles stands in no column of cycles
    swept = points(seen.swept, empty) if seen.quantity == "cycles" else ()
    depending, notes = dependence(seen.known, seen.fresh, empty, seen.quantity) if seen.depends else ({}, [])
    metrics = {
        **mean,
        **lines(swept),
        **peaks(seen.all),
        **instructions(seen.known, seen.empty.instructions),
        **spread(seen.known),
        **image_figures(images, target, seen.untouched),
        **energy(mean, target),
        **seen.felics.figures,
        **depending,
    }
    return Figures(metrics, swept, (*notes, *seen.felics.notes))
