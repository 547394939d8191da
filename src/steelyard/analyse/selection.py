"""Which rows names, a filter and columns ask for: the same for the verbs and for pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..model.metric import MADE
from ..model.primitive import PRIMITIVES
from ..model.reasons import ANSWERED_WRONGLY
from ..model.row import Made, Row
from ..store import FILTERS, Store
from . import expression
from .answer import GENERATION, PLACE, SAME, newest, of_setups, recency
from .rows import check_primitives, derive, named, needed

#: columns by which somebody asks for what was before
_TIME = frozenset({"run", "digest", "finished", "host", "compiler", "harness", "timing_model"})
_same, _generation = itemgetter(*SAME), itemgetter(*GENERATION)


class Found(NamedTuple):
    """The ``rows`` that names and filter leave, and how many more they would leave of sources that newer ones of the
    same place replaced."""

    rows: list[Row]
    older: int = 0


class Selection:
    """The rows that have one of the names ``what`` and pass the filter ``where``, with what ``columns`` need; None
    means all metrics, and the sizes among those ``wanted``. They are the newest run of each setup, unless ``all_runs``
    are asked for or a run is named; of ``every`` generation, or of the newest sources of a place only, which no filter
    brings others back to. What was before is asked for by columns of ``_TIME``, in the filter or ``apart``.

    ``test`` is the filter, ``equal`` what the database can see to; :class:`UserError` where the filter is wrong.
    """

    def __init__(
        self,
        what: Sequence[str],
        where: str,
        columns: Collection[str] | None,
        *,
        all_runs: bool = False,
        every: bool = False,
        wanted: Collection[str] = (),
        apart: Collection[str] = (),
    ) -> None:
        self.what = what
        self.test = expression.parse(where) if where.strip() else None
        # flags do not tell which sources are the newest
        known = FILTERS.keys() - {"flags"}
        self.equal = {n: v for n, v in self.test.required.items() if n in known} if self.test else {}
        names = {*(wanted if columns is None else columns), *(self.test.columns if self.test else ())}
        self.metrics, self.sizes = needed(names)
        self._every = columns is None
        self._derived = columns is None or bool(names & MADE.keys())
        self._newest = not all_runs and not any(w.isdecimal() for w in what)
        self._by_time = every or bool(_TIME & {*apart, *(self.test.columns if self.test else ())})

    def stored(
        self, store: Store, parts: Iterable[dict[str, str]], beside: Collection[Made] = (), *, readable: bool = False
    ) -> list[Row]:
        """What the database has of these ``parts``, each of columns and their values. Names and filter are for
        :meth:`left`. What is ``beside`` the rows made other rows of the answer. Only what is ``readable`` is left of
        runs of primitives that this version does not know; else they are refused."""
        metrics = None if self._every else self.metrics
        rows: list[Row] = []
        for equal in parts:
            rows += store.rows(newest_only=self._newest, points=self.sizes, metrics=metrics, beside=beside, **equal)
        if readable:
            rows = [r for r in rows if r["primitive"] in PRIMITIVES]
        check_primitives(rows)
        return derive(rows) if self._derived else rows

    def left(self, rows: list[Row]) -> Found:
        """Those that have one of the names and pass the filter."""
        if self.what:
            rows = [r for r in rows if any(named(r, w) for w in self.what)]
        return self.passed(rows)

    def passed(self, rows: list[Row]) -> Found:
        """Those that pass the filter, whatever their names. What answered wrongly at one workload is verified at
        none, and what was replaced is brought back neither by that nor by a filter."""
        left = [r for r in rows if self.test.test(r)] if self.test else rows
        if not self._newest:
            return Found(left)
        wrong = [r for r in of_setups(rows) if r["outcome"] in ANSWERED_WRONGLY]
        if wrong:  # what a compiler did before says nothing of what a newer one does
            when = recency()
            last = {_same(r): when(r) for r in sorted(wrong, key=when)}
            made = {(_same(r), _generation(r)) for r in wrong}
            left = [
                r
                for r in left
                if r["outcome"] in ANSWERED_WRONGLY
                or ((_same(r), _generation(r)) not in made and when(r) > last.get(_same(r), ("", -1)))
            ]
        if self._by_time:
            return Found(left)
        current = newest(rows, PLACE, ("digest",))[0]
        kept = set(map(id, current))
        older = sum(id(r) not in kept for r in left)
        if self.test and "origin" not in self.test.columns:  # what a later run of the setup hides is no other's answer
            kept = set(map(id, of_setups(current)))
        return Found([r for r in left if id(r) in kept], older)
