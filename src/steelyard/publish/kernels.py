"""Micro-kernels on a simulated chip, and beside it on a board, as a table and as a file that others can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, to_builtins

from .profile import CAUSES
from .sheet import Cell, Sheet, plain

NOTE = (
    "Cycles of one round, by {rounds} rounds more. What a kernel is and which rule of the timing model it shows: "
    "bench/kernels; what the model says of it and where that is from: docs/validation/{page}. Columns of causes "
    "(docs/definitions.md) are the simulator's."
)
#: what a reader of a difference should know
BESIDE = (
    "Resolution: cycles of a round that the analyzer cannot tell. A difference of all kernels by the same fraction is "
    "the board's clock: steelyard boards check."
)


class Figure(Struct, frozen=True):
    """A kernel's cycles of a round: ``simulated``, and of what by ``causes``; ``measured`` by a board to within
    ``resolution``, where there is one."""

    kernel: str
    rule: str
    simulated: float
    causes: Mapping[str, float]
    measured: float | None = None
    resolution: float | None = None

    @property
    def difference(self) -> float | None:
        """Cycles of a round that the simulator has more than the board."""
        return None if self.measured is None else self.simulated - self.measured

    @property
    def beyond(self) -> bool:
        """Whether board and simulator differ by more than the analyzer's resolution explains."""
        return self.difference is not None and abs(self.difference) > (self.resolution or 0.0)


class KernelRun(Struct, frozen=True):
    """What was run where: enough to run the same image again."""

    target: str
    chip: str
    timing_model: str
    device: str
    board: str
    clock: str
    compiler: str
    image: str
    rounds: int
    page: str
    kernels: tuple[Figure, ...]


def tables(of: KernelRun) -> list[Sheet]:
    """The kernels with their cycles, those that differ beyond the resolution, and where the figures come from."""
    boarded = of.device != "simulator"
    causes = [*dict.fromkeys(cause for f in of.kernels for cause in f.causes)]
    columns: dict[str, int | None] = {"kernel": None, "rule": None, "simulated": 2}
    if boarded:
        columns |= {"measured": 2, "difference": 2, "resolution": 3}
    columns |= dict.fromkeys((CAUSES[c] for c in causes), 2)
    where = f"{of.chip} on {of.board}" if boarded else f"{of.chip}, simulated"
    notes = [NOTE.format(rounds=of.rounds, page=of.page), *([BESIDE] if boarded else [])]
    if of.device == "virtual-board":
        notes.append("Nothing here is silicon: the board is played by the simulator.")
    lines = [_line(f, boarded, causes) for f in of.kernels]
    facts = {k: v for k, v in to_builtins(of).items() if k not in ("kernels", "board") and v != ""}
    return [
        plain(f"Kernels: {where}", f"kernels-{of.target}", columns, lines, notes),
        plain("Provenance", f"provenance-{of.target}", ("what", "value"), [(k, str(v)) for k, v in facts.items()]),
    ]


def _line(f: Figure, boarded: bool, causes: Sequence[str]) -> tuple[Cell, ...]:
    beside = (f.measured, f.difference, f.resolution) if boarded else ()
    return (f.kernel, f.rule, f.simulated, *beside, *(f.causes.get(c) for c in causes))


def remark(figures: Sequence[Figure]) -> str:
    """How many kernels differ, and which, in a sentence; empty where no board was asked."""
    beyond = [f.kernel for f in figures if f.beyond]
    compared = [f for f in figures if f.measured is not None]
    if not compared:
        return ""
    if not beyond:
        return f"Board and simulator agree on all {len(compared)} kernels, to the analyzer's resolution."
    return f"{len(beyond)} of {len(compared)} kernels differ by more than the resolution: {', '.join(beyond)}."
