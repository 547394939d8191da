"""``steelyard study``: El-Hajj and Fadlallah's study, from stored results."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..analyse import expression
from ..analyse import study as measures
from ..model.errors import unknown
from ..model.row import Row
from ..model.target import target_names
from ..publish import report, results, study
from ..publish.ranking import of_authors, unjudged
from ..publish.sheet import distinct
from . import options
from .answers import asked
from .console import say, stderr
from .options import command
from .output import TABLES


class Study(options.Answering, frozen=True, kw_only=True):
    """What ``study`` is asked."""

    target: tuple[str, ...]
    title: str


@command(
    Study,
    options.weighed,
    options.where,
    click.option(
        "--target",
        "-t",
        multiple=True,
        metavar="TARGET",
        help="Repeatable or comma-separated; what moved is told of the first two. Default: those with the most "
        "ciphers, down to half as many, the paper's first.",
    ),
    options.text("--title", default="Lightweight ciphers compared", metavar="TEXT", help="Title."),
    options.output(*(f for f in TABLES if f != "parquet")),
    options.db,
)
def verb(ask: Study) -> int:
    """Compare ciphers as El-Hajj and Fadlallah do: all measures, the best and the worst, parts of AES, scores."""
    named = [t for text in ask.target for t in text.split(",") if t]
    if wrong := [t for t in named if t not in target_names()]:
        raise unknown("target", wrong[0], target_names())
    where = " or ".join(f"target == {t}" for t in named)
    if ask.where.strip():
        expression.parse(ask.where)  # alone, for what is not a condition by itself could end the brackets around it
        where = f"({where}) and ({ask.where})" if where else ask.where
    options = {("target", "==", t) for t in named}
    needed = measures.NEEDED
    answer = asked(ask.what, where, needed, ask.db, wanted=needed, together="most", options=options, ranked=True)
    weighed = [r for r in answer.rows if measures.has_latency(r)]
    notes: tuple[str, ...] = (*answer.notes, *unjudged(weighed, "compared"), *_without(answer.rows))
    rows = [r for r in weighed if r["outcome"] == "verified" and r["variant"] != "nocrypt"]
    notes += of_authors(rows)
    stored: dict[str, set[object]] = {}
    for r in rows:
        if r["target"] in target_names():
            stored.setdefault(str(r["target"]), set()).add(r["variant"])
    order = sorted(stored, key=lambda t: (not study.published(t), -len(stored[t]), t))
    most = max(map(len, stored.values()), default=0)
    targets = [t for t in named if t in stored] or [t for t in order if 2 * len(stored[t]) >= most]
    if left := [] if named else [t for t in order if t not in targets]:
        notes += (f"with less than half as many ciphers, so left out: {results.some(left)}; --target names them",)
    if lost := [t for t in named if t not in stored]:
        say([f"no verified run of a block cipher or an AEAD on {', '.join(lost)}"])
    if not targets or (lost and len(lost) == len(named)):
        of = " of a cipher with such a name that passes the filter" if ask.what or ask.where.strip() else ""
        text = f"no stored run{of} has the cycles of a block, or of a message of 16 bytes"
        say([*unjudged(weighed, "compared"), *_without(answer.rows)])
        stderr().print(f"{text}; steelyard run campaigns/iot-study.toml makes those of the study")
        return 1
    made = study.compose(ask.title, rows, targets, notes)
    if ask.out.format == "html":
        ask.out.put(report.page(made))
    else:
        ask.out.give(distinct(made.sheets))
    if not ask.out.console:  # which has them below the first table
        say(answer.notes)
    return 0


def _without(rows: Sequence[Row]) -> tuple[str, ...]:
    """The sentence on verified ciphers that the study cannot be of: some have no messages of 16 bytes."""
    mine = [r for r in rows if r["primitive"] in measures.LATENCY and r["variant"] != "nocrypt"]
    lost = {str(r["variant"]) for r in mine if r["outcome"] == "verified" and not measures.has_latency(r)}
    lost -= {str(r["variant"]) for r in mine if measures.has_latency(r)}
    text = "verified, but without the cycles of a block, or of a message of 16 bytes in the workload that most have, so"
    text += " not compared"
    return (f"{text}: {results.some(sorted(lost))}",) if lost else ()
