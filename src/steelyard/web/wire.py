"""The words of the API: what may be asked, and what is answered. Server, client and OpenAPI document share them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ..model.metric import Metric, metric_names, size_of
from ..model.record import Point, Record
from ..model.row import KINDS, Made, Value
from ..publish.sheet import Column

#: the first words of its addresses; the number changes with what an older client would misread
ROOT = ("api", "v1")
#: the header that has the private link of an older version: it is a secret, and addresses stand in logs
PREVIOUS = "steelyard-previous"
#: rows, whole runs, runs asked for by number, and cells of rows or tables in one answer
MOST_ROWS, MOST_RUNS, MOST_NAMED, MOST_CELLS = 5000, 200, 200, 1_000_000
#: metrics, and points, that are asked for at once
MOST_FIGURES = 300

_Number = Annotated[int, Meta(ge=0, le=2**62)]
_Names = Annotated[tuple[str, ...], Meta(max_length=MOST_FIGURES)]
#: the path of a private link
_LINK = re.compile(r"/submissions/[A-Za-z0-9_-]{10,64}")
#: what databases have no number above
_LARGEST = 2**63 - 1
_NONE = type(None)
_FIGURE = frozenset({int, float, _NONE})


def is_figure(name: str) -> bool:
    """Whether a column is a metric or a point that this version knows."""
    return name in metric_names() or size_of(name) is not None


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an address may be asked. Nothing more, here."""


class RunsAsked(Asked, frozen=True, kw_only=True):
    """A part of the runs, the newest first. ``newest`` leaves out those that newer ones replace. A reading of several
    parts asks each as of the same ``last`` run, and from ``before`` on, as the part before said."""

    target: str | None = None
    family: str | None = None
    variant: str | None = None
    implementation: str | None = None
    primitive: str | None = None
    flags: str | None = None
    newest: bool = True
    last: _Number | None = None
    before: _Number | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_RUNS)] = MOST_RUNS


class RowsAsked(RunsAsked, frozen=True, kw_only=True):
    """Runs as rows, with these ``metrics`` (``all`` of them) and ``points``, such as ``encrypt@16/64``. Compilers and
    timing models are named as in one answer with what is ``beside`` them."""

    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = MOST_ROWS
    metrics: _Names | Literal["all"] = ()
    points: _Names = ()
    beside: tuple[Made, ...] = ()


class Named(Asked, frozen=True, kw_only=True):
    """Runs by number."""

    runs: Annotated[tuple[_Number, ...], Meta(min_length=1, max_length=MOST_NAMED)]


class NamedRows(Named, frozen=True, kw_only=True):
    """Rows of runs by number; see :class:`RowsAsked`."""

    metrics: _Names | Literal["all"] = ()


class TablesAsked(Asked, frozen=True, kw_only=True):
    """Tables as ``steelyard publish`` makes them: names, filter, columns, order, what stands side by side, and whether
    runs that newer ones replace are there too."""

    what: str = ""
    where: str = ""
    columns: str = ""
    sort: str = ""
    pivot: str = ""
    all: Literal["", "yes"] = ""


class Service(Struct, frozen=True):
    """What answers, its newest run, and the addresses that may be asked."""

    steelyard: str
    last: _Number
    addresses: tuple[str, ...]


class Rows(Struct, frozen=True):
    """Values by column, the newest run first; the run from which the next part goes on, if there is more. A column that
    may be None may be missing."""

    columns: dict[str, tuple[Value, ...]]
    last: _Number
    before: _Number | None

    def __post_init__(self) -> None:
        """Raises :class:`ValueError` for columns that no rows have: whoever reads them need not look again."""
        if not self.columns:
            return
        if missing := {n for n, kinds in KINDS.items() if _NONE not in kinds} - self.columns.keys():
            raise ValueError(f"no column {min(missing)}")
        if len(set(map(len, self.columns.values()))) > 1:
            raise ValueError("columns of several lengths")
        for name, values in self.columns.items():
            kinds = KINDS.get(name) or (_FIGURE if is_figure(name) else None)
            has = set(map(type, values))
            if kinds is not None and not has <= kinds:
                raise ValueError(f"a value of column {name} has a wrong type")
            if int in has and any(type(v) is int and not -_LARGEST <= v <= _LARGEST for v in values):
                raise ValueError(f"a number of column {name} is larger than any that is stored")


class Run(Struct, frozen=True):
    """A run whole, and what follows of it: its setup's key, whether it is verified, and what to do where not."""

    record: Record
    key: str
    ok: bool
    next_action: str


class Runs(Struct, frozen=True):
    """Whole runs; see :class:`Rows`."""

    runs: tuple[Run, ...]
    last: _Number
    before: _Number | None


class Points(Struct, frozen=True):
    """The points of runs, by number."""

    points: dict[int, tuple[Point, ...]]


class Details(Struct, frozen=True):
    """Why runs have no figures, by number."""

    details: dict[int, str]


class Same(Struct, frozen=True):
    """The newest run of each other implementation that gave the same known answers."""

    runs: tuple[int, ...]


class Makers(Struct, frozen=True):
    """All toolchains and timing models that made figures."""

    made: tuple[Made, ...]


class Line(Struct, frozen=True):
    """A line of a table, and the runs that hold its figures."""

    cells: tuple[Value, ...]
    runs: tuple[int, ...]


class Table(Struct, frozen=True):
    """A table; numbers as they are, not as they are shown."""

    title: str
    label: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raises :class:`ValueError` for a line that has not a cell for each column."""
        if any(len(line.cells) != len(self.columns) for line in self.lines):
            raise ValueError("a line with other cells than the columns of its table")


class Tables(Struct, frozen=True):
    """Tables, and what was chosen and left out."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...]


class Implementation(Struct, frozen=True):
    """An implementation that was run."""

    primitive: str
    family: str
    variant: str
    name: str


class Implementations(Struct, frozen=True):
    """All of them."""

    implementations: tuple[Implementation, ...]


class Target(Struct, frozen=True):
    """A target: its setups with a run here, and what it is where this version knows it."""

    name: str
    setups: int
    title: str = ""
    chip: str = ""
    cycles: str = ""
    silicon: str = ""
    compiler: str = ""
    flags: tuple[str, ...] = ()


class Targets(Struct, frozen=True):
    """All of them."""

    targets: tuple[Target, ...]


class Defined(Struct, frozen=True):
    """A metric, and its definition by primitive."""

    metric: Metric
    definition: Mapping[str, str]


class Metrics(Struct, frozen=True):
    """All of them, without points."""

    metrics: tuple[Defined, ...]


class Offer(Struct, frozen=True):
    """An implementation: its API, the ``bytes`` that its api.h says, its KAT files, and whether its known answers are
    known without them. ``sources`` is the digest of its sources and KAT files, as its records have it."""

    primitive: str
    family: str
    variant: str
    name: str
    digest: str
    interface: str
    files: int
    bytes: dict[str, int | None]
    kat: tuple[str, ...]
    known: bool
    notes: tuple[str, ...]
    sources: str = ""


class Refused(Struct, frozen=True):
    """What looks like an implementation and is none, with the reason and what to do."""

    path: str
    reason: str
    detail: str
    next_action: str


class Found(Struct, frozen=True):
    """What is in a zip, with the files that may say under which licence."""

    implementations: tuple[Offer, ...]
    rejected: tuple[Refused, ...]
    licences: tuple[str, ...]


class Taken(Struct, frozen=True):
    """What was handed in: the path of its private link, whether the same zip was handed in before, and what is in
    it."""

    link: str
    known: bool
    found: Found

    def __post_init__(self) -> None:
        """Raises :class:`ValueError` for a link of another form."""
        if not _LINK.fullmatch(self.link):
            raise ValueError("its link is not that of a submission")


class Submission(Struct, frozen=True):
    """What was handed in, for those who have its private link: its ``state``, its ``runs`` with states, attempts and
    details, the ``tables`` of their figures, and what is other than in the last version, in words and as tables."""

    name: str
    state: str
    runs: Table
    tables: tuple[Table, ...]
    changes: tuple[str, ...]
    changed: tuple[Table, ...]

    def __post_init__(self) -> None:
        """Raises :class:`ValueError` for runs without a state."""
        if all(c.name != "state" for c in self.runs.columns):
            raise ValueError("runs without a state")


class Refusal(Struct, frozen=True):
    """Why there is no answer, and what to do."""

    error: str
