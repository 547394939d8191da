"""What an address may ask after ``?``, with bounds; and the rows that it means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from urllib.parse import parse_qsl

from ..analyse.answer import Answer, answered
from ..analyse.rows import check_columns, named
from ..analyse.selection import Found, Selection
from ..model.errors import UserError, cut, unknown
from ..model.row import CONTEXT
from ..store import Store

#: characters of an address, columns and names of an answer
LONGEST, COLUMNS, NAMES = 8000, 40, 20
#: stored metrics and points that columns, order and filter of an answer need together: each is a join
FIGURES = 150
#: runs from which on answers are chosen target by target: less memory, and each target has its own workload
LARGE = 20_000
#: variants that are looked for one by one, not in all of the database
FEW = 100


def query(raw: str, known: Collection[str]) -> dict[str, str]:
    """The parameters of an address; :class:`UserError` for one that the page does not have, or one that is twice
    there."""
    if len(raw) > LONGEST:
        raise UserError(f"this address asks too much: {len(raw)} characters, at most {LONGEST}")
    found: dict[str, str] = {}
    try:
        pairs = parse_qsl(raw, keep_blank_values=False, max_num_fields=50, errors="backslashreplace")
    except ValueError as e:
        raise UserError("this address asks too much: more than 50 parameters") from e
    for name, value in pairs:
        if name not in known:
            raise unknown("parameter", name, known)
        if name in found:
            raise UserError(f"{name} is there twice; leave one out")
        found[name] = value.strip()
    return found


def columns(text: str) -> list[str]:
    """The columns of a list, as ``publish --columns`` takes them. Raises :class:`UserError` for too many."""
    found = list(dict.fromkeys(check_columns(text)))
    if len(found) > COLUMNS:
        raise UserError(f"{len(found)} columns; at most {COLUMNS} are shown at once")
    return found


def names(text: str) -> tuple[str, ...]:
    """Names of families, variants or implementations, which spaces or commas divide. Raises :class:`UserError` for too
    many."""
    found = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if len(found) > NAMES:
        raise UserError(f"{len(found)} names; at most {NAMES} are looked for at once")
    return found


class Rows:
    """The rows that an address asks for."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def found(
        self,
        what: Sequence[str] = (),
        where: str = "",
        asked: Sequence[str] | None = (),
        *,
        all_runs: bool = False,
        every: bool = False,
        wanted: Collection[str] = (),
        apart: Collection[str] = (),
        **equal: str,
    ) -> Found:
        """All rows that names, filter and equalities leave, with what the columns ``asked`` need; None: all
        metrics, and the sizes among those ``wanted``."""
        selection = Selection(what, where, asked, all_runs=all_runs, every=every, wanted=wanted, apart=apart)
        if (count := len(selection.metrics) + len(selection.sizes)) > FIGURES:
            raise UserError(
                f"{count} metrics and points in columns, order and filter; at most {FIGURES} are read at once"
            )
        if any(equal.get(n, v) != v for n, v in selection.equal.items()):
            return Found([])
        equal |= selection.equal
        parts = list(self._named(what, equal))
        if any(not part.keys() & {"target", "family", "variant"} for part in parts):
            self._check_few()
        return selection.left(selection.stored(self.store, parts, readable=True))

    def _named(self, what: Sequence[str], equal: dict[str, str]) -> Iterable[dict[str, str]]:
        """The equalities by which the database finds what may have these names: it has an index of variants."""
        family = equal.get("family", "")
        if "variant" in equal or not (family or what):
            return [equal]
        names = [w for w in what if not w.isdecimal()]
        every = [
            {"primitive": p, "family": f, "variant": v, "label": f"{v}/{n}"}
            for p, f, v, n in self.store.implementations()
            if not family or f == family
        ]
        hit = [r["variant"] for r in every if not what or any(named(dict(r), w) for w in names)]
        hit += [str(r["variant"]) for r in self.store.rows_of([int(w[:18]) for w in what if w.isdecimal()])]
        variants = dict.fromkeys(hit)
        return [equal | {"variant": v} for v in variants] if len(variants) <= FEW else [equal]

    def _check_few(self) -> None:
        if sum(self.store.targets().values()) > LARGE:
            raise UserError(
                f"more than {LARGE} runs; choose by names or a filter that begins with a target, such as "
                "'target == uno'"
            )

    def answer(
        self,
        what: Sequence[str] = (),
        where: str = "",
        asked: Sequence[str] | None = (),
        *,
        all_runs: bool = False,
        every: bool = False,
        wanted: Collection[str] = (),
        apart: Collection[str] = (),
        workload: str = "",
        whole: bool = False,
        ranked: bool = False,
        **equal: str,
    ) -> Answer:
        """As ``publish`` answers: the rows that may stand side by side, and what was left out. What is to be ``whole``
        is refused where there are too many."""

        def chosen(**more: str) -> Answer:
            rows, older = self.found(
                what, where, asked, all_runs=all_runs, every=every, wanted=wanted, apart=apart, **equal, **more
            )
            return answered(
                rows,
                what,
                all_runs=all_runs,
                workload=workload,
                apart=apart,
                every=every,
                wanted=wanted,
                older=older,
                ranked=ranked,
            )

        if whole or {"target", "family", "variant"} & equal.keys():
            return chosen()
        targets = self.store.targets()
        if sum(targets.values()) <= LARGE:
            return chosen()
        parts = [chosen(target=name) for name in targets]
        return Answer(
            [r for part in parts for r in part.rows],
            tuple(dict.fromkeys(n for part in parts for n in part.notes)),
            frozenset(run for part in parts for run in part.borrowed),
        )


def metrics_of(text: str) -> list[str]:
    """The metrics of a list; :class:`UserError` for a column that is none."""
    found = columns(text)
    if context := [n for n in found if n in CONTEXT]:
        raise UserError(f"{cut(context[0])} is not a metric; name some such as rom or encrypt@16/64")
    return found
