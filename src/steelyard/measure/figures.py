"""A run's figures: what its calls showed, and what is computed of it, each kept by where it comes from."""

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
    """Figures by origin, each a mapping of metric names (docs/definitions.md) to numbers."""

    means: Mapping[str, float]
    points: tuple[Point, ...]
    lines: Mapping[str, float]
    peaks: Mapping[str, float]
    instructions: Mapping[str, float]
    spread: Mapping[str, float]
    image: Mapping[str, float]
    energy: Mapping[str, float]
    felics: Mapping[str, float]
    dependence: Mapping[str, float]
    notes: tuple[str, ...]
    attributable: Mapping[str, float] = {}
    helpers: tuple[Helper, ...] = ()

    @property
    def metrics(self) -> dict[str, float]:
        """All of them by name."""
        named = (self.means, self.lines, self.peaks, self.instructions, self.spread, self.image, self.energy)
        return {k: v for origin in (*named, self.felics, self.dependence, self.attributable) for k, v in origin.items()}

    def above(self, baseline: Mapping[str, float], helpers: tuple[Helper, ...]) -> Figures:
        """These, and what remains of the image minus its ``baseline``'s metrics; ``helpers`` are library members that
        only this image holds."""
        own = attributable(self.image, baseline) | {"rom_helpers": sum(h.size for h in helpers)}
        return replace(self, attributable=own, helpers=helpers)


def figures(seen: Observations, images: Mapping[str, Path], target: Target) -> Figures:
    """The figures of a run whose calls were ``seen`` on ``target``, with its ``images`` by part."""
    empty, mean = seen.empty.cycles, means(seen.known, seen.empty.cycles, seen.quantity)
    # what is not counted in cycles stands in no column of cycles
    swept = points(seen.swept, empty) if seen.quantity == "cycles" else ()
    depending, notes = dependence(seen.known, seen.fresh, empty, seen.quantity) if seen.depends else ({}, [])
    return Figures(
        means=mean,
        points=swept,
        lines=lines(swept),
        peaks=peaks(seen.all),
        instructions=instructions(seen.known, seen.empty.instructions),
        spread=spread(seen.known),
        image=image_figures(images, target, seen.untouched),
        energy=energy(mean, target),
        felics=seen.felics.figures,
        dependence=depending,
        notes=(*notes, *seen.felics.notes),
    )
