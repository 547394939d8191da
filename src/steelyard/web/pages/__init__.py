"""The pages: the table of addresses. Each has a function, which gets what its address names and asks, and answers with
blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .. import documents
from ..page import Field, Page
from . import answers, named, overview, runs, submissions
from .view import View

__all__ = ["ROUTES", "Route", "View", "route"]


class Route(NamedTuple):
    """A page function, what it may be asked, and the columns that its names are of, where their newest runs are a
    feed. The function raises :class:`UserError` for what cannot be asked, :class:`NotThereError` for what is not."""

    make: Callable[..., Page]
    asked: Sequence[Field] = ()
    feed: Sequence[str] | None = None


#: by the words of an address; ``*`` stands for a name
ROUTES: Mapping[tuple[str, ...], Route] = {
    (): Route(overview.front, feed=()),
    ("targets",): Route(overview.targets),
    ("targets", "*"): Route(named.target, feed=("target",)),
    ("families", "*"): Route(named.family, feed=("family",)),
    ("variants", "*"): Route(named.variant, feed=("variant",)),
    ("implementations", "*", "*"): Route(named.implementation, feed=("variant", "implementation")),
    ("implementations", "*", "*", "badges"): Route(named.badges),
    ("runs", "*"): Route(runs.run),
    ("runs", "*", "profile"): Route(runs.profile),
    ("runs", "*", "image"): Route(runs.image),
    ("runs", "*", "*"): Route(runs.run),
    ("runs", "*", "*", "log"): Route(runs.log),
    ("tables",): Route(answers.tables, answers.TABLES),
    ("results",): Route(answers.whole, answers.WHOLE),
    ("compare",): Route(answers.compare, answers.COMPARE),
    ("rank",): Route(answers.rankings, answers.RANK),
    ("trade-offs",): Route(answers.trade_offs, answers.FEW),
    ("figures",): Route(answers.figures),
    ("figures", "*"): Route(answers.one_figure, answers.FEW),
    ("campaigns",): Route(overview.all_campaigns),
    ("campaigns", "*"): Route(overview.one_campaign),
    **{(name,): Route(lambda v, name=name: overview.document(v, name)) for name in documents.PAGES},
    ("search",): Route(overview.search, overview.SEARCH),
    ("submissions",): Route(submissions.form),
    ("submissions", "*"): Route(submissions.one),
    ("submissions", "*", "*"): Route(submissions.run),
    ("submissions", "*", "*", "log"): Route(submissions.log),
}


def route(names: Sequence[str]) -> tuple[Route, tuple[str, ...]] | None:
    """The page of an address, and the names in it."""
    for words, found in ROUTES.items():
        if len(words) == len(names) and all(w in ("*", n) for w, n in zip(words, names, strict=True)):
            return found, tuple(n for w, n in zip(words, names, strict=True) if w == "*")
    return None
