"""Pages of a name: a target, a family, a variant, an implementation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from operator import itemgetter

from msgspec.structs import replace

from ...analyse import order
from ...analyse.answer import (
    BUNDLED,
    PLACE,
    SAME,
    Answer,
    came_from,
    choose,
    place_of,
    run_number,
    succession,
    told_apart,
)
from ...analyse.answer import newest as latest
from ...model.errors import cut
from ...model.origin import replaced_by
from ...model.row import Row, grouped
from ...model.target import load_target, target_names
from ...publish import badge, figure, history, joint, pivot, report, results
from ...publish.sheet import plain
from .. import address, documents
from ..page import Block, Heading, Links, NotThereError, Page, Picture, Table, Text
from .view import View, bars, not_there, noted

#: metrics that pages of names show: all that tables show, and what figures need
_ALL = (*results.USUAL, "ram", "encrypt_per_byte", *joint.NEEDED)
#: what badges share that are of the same sources, whatever label tells them from others
_SOURCES = tuple(n for n in SAME if n != "label")
#: metrics of badges
_BADGES = ("cycles_encrypt_mean", "cycles_hash_mean", "encrypt_per_byte", "rom", "ram")


def target(v: View, name: str) -> Page:
    """A target: what it is, its tables and figures, and what has no figures there."""
    stored = v.store.targets()
    if name not in stored and name not in target_names():
        raise not_there("target", name, {*stored, *target_names()})
    blocks: list[Block] = []
    if name in target_names():
        t = load_target(name)
        facts = [("chip", t.chip_name), ("cycle counts", t.tier), ("compared with silicon", t.silicon)]
        facts += [("compiler", t.toolchain.compiler), ("usual flags", " ".join(t.toolchain.default_flags))]
        if t.energy:
            facts.append(("modelled energy", f"{t.energy.volts:g} V, {t.energy.milliamperes:g} mA; {t.energy.source}"))
        blocks.append(Table(plain(t.title, "about", ("what", "value"), facts), wide=("value",)))
        blocks.append(Links([("how far to trust it", documents.claim(name))], "claims"))
    where = f'target == "{name}"'
    blocks.append(
        Links(
            [
                ("ranking", address.path("rank", where=where)),
                ("trade-offs", address.path("trade-offs", where=where)),
                ("choose and sort", address.path("tables", where=where)),
            ],
            "more of this target",
        )
    )
    answer = v.rows.answer(asked=_ALL, target=name)
    blocks += _of_target(v, name, answer)
    return Page(results.title_of(name), blocks, trail=[("targets", "/targets")])


def _of_target(v: View, name: str, answer: Answer) -> Iterable[Block]:
    rows = v.complete(order.ordered(answer.rows, results.ORDER))
    measured = [r for r in rows if results.measured(r)]
    if not rows:
        yield Text("No results yet.")
    if measured:
        part = report.section(name, measured, lambda some: answer.points(v.store, some), ())
        for drawing in part.figures:
            title = str(drawing.spec["title"]["text"])
            label, group = drawing.numbers.label, drawing.numbers.group
            yield Picture(label, title, drawing.note, spec=partial(dict, drawing.spec), group=group)
            yield Table(replace(drawing.numbers, title=title), folded="the figure's numbers")
        for sheet in part.tables:
            yield Table(sheet, bars=bars(sheet))
    yield from (Table(s, wide=("detail",)) for s in results.without_figures(rows))
    yield from map(noted, answer.notes)


def family(v: View, name: str) -> Page:
    """A family: its variants, on all targets, and what software and hardware are to each other."""
    known = v.store.implementations()
    if name not in (names := {f for _, f, _, _ in known}):
        raise not_there("family", name, names)
    variants = sorted({variant for _, f, variant, _ in known if f == name})
    links = Links([(n, address.path("variants", n)) for n in variants], "variants")
    answer = v.rows.answer(asked=_ALL, family=name)
    both = [Table(s) for s in joint.tables([r for r in answer.rows if r["outcome"] == "verified"])]
    return Page(name, [links, *both, *_of_names(v, answer)])


def variant(v: View, name: str) -> Page:
    """A variant: its implementations, on all targets."""
    known = v.store.implementations()
    mine = [(f, implementation) for _, f, n, implementation in known if n == name]
    if not mine:
        raise not_there("variant", name, {n for _, _, n, _ in known})
    trail = [(f, address.path("families", f)) for f in dict.fromkeys(f for f, _ in mine)]
    links = [(n, address.path("implementations", name, n)) for n in dict.fromkeys(n for _, n in mine)]
    blocks = [Links(links, "implementations"), *_of_names(v, v.rows.answer(asked=_ALL, variant=name))]
    return Page(name, blocks, trail=trail)


def _of_names(
    v: View, answer: Answer, past: Mapping[int, Sequence[Row]] = {}, more: Sequence[str] = ()
) -> Iterable[Block]:
    """Tables of some implementations: mean cycles by target, then each target, with what was there before, and ``more``
    columns."""
    good = [r for r in answer.rows if r["outcome"] == "verified"]
    if len({r["target"] for r in good}) > 1:
        yield from (Table(s) for s in pivot.tables(good, "target"))
    rows = v.complete(order.ordered(answer.rows, results.ORDER))
    for sheet in results.tables(rows, (), more=more):
        yield Table(sheet, bars=bars(sheet), wide=("detail",), past=past)
    yield from map(noted, answer.notes)


def implementation(v: View, variant: str, name: str) -> Page:
    """An implementation: all figures on all targets, and what changed them."""
    known = v.store.implementations()
    there = {(of, n) for _, _, of, n in known}
    if (variant, name) not in there:  # a name with slashes, which a link divides at the first one
        variant, name = next((p for p in there if "/".join(p) == f"{variant}/{name}"), (variant, name))
    mine = [(p, f) for p, f, of, n in known if (of, n) == (variant, name)]
    if not mine:
        raise not_there("implementation", f"{variant}/{name}", {f"{of}/{n}" for _, _, of, n in known})
    every = v.rows.found(asked=_ALL, all_runs=True, variant=variant, implementation=name).rows
    newest, older = v.rows.found(asked=_ALL, variant=variant, implementation=name)
    several = _several(every)
    past = {run_number(rows[-1]): rows for rows in several}
    answer = choose(newest, replaced=older)
    more = ("finished",) if len({r["label"] for r in answer.rows}) > 1 else ()  # which of them is the newer
    blocks = [*_of_names(v, answer, past, more), *_over_time(several)]
    if any(r["outcome"] == "verified" for r in newest):
        blocks.append(Links([("badges", address.path("implementations", variant, name, "badges"))], "for other pages"))
    trail = [*((f, address.path("families", f)) for _, f in mine), (variant, address.path("variants", variant))]
    return Page(f"{variant}/{name}", blocks, trail=list(dict.fromkeys(trail)))


def badges(v: View, variant: str, name: str) -> Page:
    """Badges of an implementation: small figures for pages elsewhere. Raises :class:`NotThereError` for no such one."""
    answer = v.rows.answer(asked=_ALL, variant=variant, implementation=name)
    good = [r for r in answer.rows if r["outcome"] == "verified"]
    if not good:
        raise NotThereError(f"{cut(variant)}/{cut(name)} has no verified figures")
    blocks: list[Block] = []
    several = len({r["primitive"] for r in good}) > 1
    newest = {_place(row, place_of(row)): row for row in sorted(told_apart(good, over_time=True), key=succession())}
    every = v.rows.found(all_runs=True, variant=variant, implementation=name).rows
    files: dict[int | str, set[str]] = {}
    for r in every:
        files.setdefault(place_of(r), set()).add(came_from(r))
    # who has the same sources, which are shown once, keeps his addresses
    owners = grouped(latest(every, PLACE, ("digest",))[0], itemgetter(*_SOURCES))
    replaced = [(r, by) for r in every if (by := replaced_by(str(r["origin"]))) is not None]
    now = v.store.sources({by for _, by in replaced})
    for r, by in replaced:
        if digest := now.get((by, r["primitive"], r["variant"], r["implementation"])):
            owners.setdefault(itemgetter(*_SOURCES)(r | {"digest": digest}), []).append(r)
    for place, row in newest.items():
        older = []
        for of in sorted({place_of(r) for r in owners.get(tuple(map(row.get, _SOURCES)), (row,))}, key=str):
            older += [_place(row, of)] if _place(row, of) not in newest else []
            older += [_address(row, f" ({file})") for file in sorted(files[of])] if isinstance(of, int) else []
        if several:
            row = row | {"label": f"{row['label']} {row['primitive']}"}
        for metric in (n for n in _BADGES if row.get(n) is not None):
            title = ": ".join(badge.text(row, metric))
            drawn, labels = partial(badge.badge, row, metric), tuple(f"{label}-{metric}" for label in older)
            blocks.append(Picture(f"{place}-{metric}", title, "", svg=drawn, older=labels))
    trail = [(f"{variant}/{name}", address.path("implementations", variant, name))]
    lead = "Whichever page shows a badge by its address has the newest figure. So it is with the figures of all pages."
    return Page(f"Badges of {variant}/{name}", blocks, lead, trail=trail)


def _place(row: Row, place: int | str) -> str:
    """What the addresses of a row's badges begin with: all that tells it from other rows of its name, whichever of them
    are there, so that no address ever has another place's figure. What was handed in goes by its line's number, which
    stays when a version's file has another name. From another ``place`` the same sources may come too."""
    return _address(
        row, f" submission {place}" if isinstance(place, int) else "" if place == BUNDLED else f" ({place})"
    )


def _address(row: Row, source: str) -> str:
    """Begin of the addresses of a row's badges, with where it is from. Where that cannot be read in it, a digest is at
    its end."""
    exact = f"{row['primitive']} {row['target']}{source} {row['flags']}"
    end = "" if re.fullmatch(r"[\w. -]*", exact) else f" {sha256(exact.encode()).hexdigest()[:8]}"
    return re.sub(r"[^\w.]+", "-", exact + end).strip("-")


def _several(every: Sequence[Row]) -> list[list[Row]]:
    """Runs of one place, each after those that it replaces, where there are several."""
    places = grouped(
        sorted((r for r in every if r["outcome"] == "verified"), key=succession()),
        lambda r: (r["primitive"], r["target"], r["device"], r["flags"], r["workload"], place_of(r)),
    )
    return [rows for rows in places.values() if len(rows) > 1]


def _over_time(several: Sequence[Sequence[Row]]) -> Iterable[Block]:
    """Where figures of one name changed, with what had changed."""
    told: list[Row] = []
    for rows in several:
        for before, r in zip([{}, *rows], rows, strict=False):
            subject = "; ".join(history.changed(before, r)) or ("again" if before else "first")
            # all of one setup's past is one history, whatever made it
            told.append(r | {"revision": f"{r['finished'] or '-'}", "subject": subject, "compiler": None})
    if told:
        yield Heading("History", "history")
        for sheet in history.tables(told, ()):
            yield Table(sheet)
        kind = figure.load("history")
        data = figure.drawn(kind, figure.of_records([r for rows in several for r in rows], over_time=True))
        if data:
            yield Picture("history", kind.title, kind.note, spec=lambda: figure.specification(kind, data))
