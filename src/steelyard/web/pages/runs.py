"""Pages of a run: its figures, its profile, its image, its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from ...analyse.answer import workload_name
from ...model.errors import cut
from ...model.packed import unpack
from ...model.record import Record
from ...publish import figure, flame, size
from ...publish import profile as profiles
from ...publish import run as runs
from ...publish.sheet import Column, Line, Sheet
from ...store.errors import LogLost
from .. import address, documents, examine, markup
from ..page import Block, Links, Markup, NotThereError, Page, Picture, Pre, Table, Text
from .view import View

#: characters of a log on its page, and what one says that has none
LOG, SILENT = 200_000, "the compilers said nothing"


def run(v: View, key: str, finished: str = "") -> Page:
    """A run: every metric with its definition, cycles by size and of every known answer, and how to repeat it."""
    record, others = _record(v, key, finished)
    sheets = {s.label: s for s in runs.sheets(record, v.store.same_answers(record))}
    s = record.setup
    mine = address.run(s.key, others[record.id or 0])
    about = described(sheets["run"])
    blocks: list[Block] = [Table(about, wide=("value",))]
    links = [("profile and flame graph", address.path("runs", mine[0], "profile")),
             ("image", address.path("runs", mine[0], "image"))] if record.ok else []  # fmt: skip
    links += [("build log", address.path("runs", *mine, "log"))] if record.log else []
    blocks.append(Links(links, "more of this run"))
    blocks += figures(v, record, sheets)
    older = [n for n in sorted(others, reverse=True) if n != record.id]
    if older:
        lines = [Line([n], [n]) for n in older]
        blocks.append(Table(Sheet("Other runs of this setup", "others", [Column("run", "run")], lines)))
    trail = [
        (s.target, address.path("targets", s.target)),
        (s.label, address.path("implementations", s.variant, s.implementation)),
    ]
    return Page(f"{s.label} on {s.target}, {s.flags}", blocks, "" if record.ok else "No verified figures.", trail)


def described(sheet: Sheet) -> Sheet:
    """What a run is of, with headings."""
    return replace(sheet, columns=[Column("field", "what"), Column("value", "value")])


def figures(v: View, record: Record, sheets: Mapping[str, Sheet]) -> Iterator[Block]:
    """What was weighed: metrics, cycles by size and of every known answer, library members. One without a number is in
    no answer yet, and has no figures that are drawn of answers."""
    s = record.setup
    if "metrics" in sheets:
        yield Table(_defined(sheets["metrics"], s.primitive), wide=("definition",), anchors=1)
    if record.points:
        if record.id and workload_name(s.workload) == "vectors":
            yield _vectors(v, record)
        elif chart := markup.chart(record.points, f"cycles by size, {s.label} on {s.target}"):
            yield Markup(f"<figure>{chart}</figure>")
        yield Table(sheets["points"], anchors=2)
    if record.vector_cycles:
        yield from _answers(record)
    if "members" in sheets:
        yield Table(sheets["members"])


def _answers(record: Record) -> Iterator[Block]:
    """The cycles of every known answer, or that they are damaged."""
    title = f"cycles of every known answer, {record.setup.label} on {record.setup.target}"
    try:
        every = unpack(record.vector_cycles)
    except ValueError as e:
        yield Text(f"The cycles of every known answer cannot be read: {e}. Restore a copy, or run it again.")
        return
    if chart := markup.vectors(every, title):
        yield Markup(f"<figure>{chart}</figure>")
    yield Table(runs.vectors(record), folded="every known answer")


def _record(v: View, key: str, finished: str = "") -> tuple[Record, dict[int, int | None]]:
    """The run at an address, and when each run of its setup ended; without a time the one that counts."""
    if len(key) < address.SHORTEST or len(key) > 64 or set(key) - set("0123456789abcdef"):
        raise NotThereError(f"{cut(key)}: a run's address has {address.KEY} hexadecimal digits; search for its name")
    found = v.store.of_setup(key)
    if len({of for _, of, _, _ in found}) > 1:
        raise NotThereError(f"{key}: begins the address of several setups; write more of it")
    at = {n: time for n, _, time, _ in found}
    if finished:
        wanted = [n for n, time in at.items() if str(time or 0) == finished]
        number = wanted[-1] if wanted else None
    else:
        kept = v.store.find([of for _, of, _, _ in found])
        number = next((r.id for r in kept.values()), None)
    record = v.store.get(number) if number is not None else None
    if record is None:
        raise NotThereError(f"no run at {key}{'/' if finished else ''}{cut(finished)} here; search for its name")
    return record, at


def _defined(sheet: Sheet, primitive: str) -> Sheet:
    lines, said = [], dict[str, str]()
    for line in sheet.lines:
        name = str(line.cells[0])
        text = documents.definition(name, primitive)
        first = said.setdefault(text, name)
        if text and first != name:  # what several share is said once
            text = f"as {first}"
        lines.append(Line([*line.cells, text or None]))
    return replace(sheet, title="Metrics", columns=[*sheet.columns, Column("definition", "definition")], lines=lines)


def _vectors(v: View, record: Record) -> Picture:
    kind = figure.load("vectors")
    rows = v.store.rows_of([record.id or 0])
    data = figure.data_of(kind, rows, {record.id or 0: record.points})
    return Picture("vectors", kind.title, kind.note, spec=lambda: figure.specification(kind, data))


def profile(v: View, key: str) -> Page:
    """Where the cycles of one call of a run go."""
    record, _ = _record(v, key)
    try:
        found, called = examine.profiled(record)
    except examine.NotHereError as e:
        return Page(f"Profile of run {record.id}", [Text(str(e))], trail=_run_trail(key, record))
    title = f"{record.setup.label} on {record.setup.target}, {called}"
    picture = Picture("flame", "Flame graph", title, svg=lambda: flame.flame_svg(found, title))
    tables = [Table(profiles.functions(found, title), bars="cycles_in_itself"), Table(profiles.mix(found))]
    return Page(f"Profile: {title}", [picture, *tables], trail=_run_trail(key, record))


def image(v: View, key: str) -> Page:
    """Where the bytes of a run's images are."""
    record, _ = _record(v, key)
    title = f"{record.setup.label} on {record.setup.target}, {record.setup.flags}: bytes by symbol, minus nocrypt's"
    try:
        sheet = size.sheet(examine.image(record), title)
    except examine.NotHereError as e:
        return Page(f"Image of run {record.id}", [Text(str(e))], trail=_run_trail(key, record))
    return Page(f"Image: {record.setup.label} on {record.setup.target}", [Table(sheet)], trail=_run_trail(key, record))


def log(v: View, key: str, finished: str) -> Page:
    """What the compilers said."""
    record, _ = _record(v, key, finished)
    title = f"Build log: {record.setup.label} on {record.setup.target}"
    try:
        text = v.store.get_blob(record.log).decode(errors="replace") if record.log else SILENT
    except LogLost as e:
        said = f"What the compilers said is not here any more: the log {e.what}."
        return Page(title, [Text(said)], trail=_run_trail(key, record), status=404)
    more = (
        f"The first {LOG} of {len(text)} characters; steelyard show {record.id} --log prints all."
        if len(text) > LOG
        else ""
    )
    return Page(title, [Pre(text[:LOG] or SILENT)], more, _run_trail(key, record))


def _run_trail(key: str, record: Record) -> list[tuple[str, str]]:
    return [(f"run {record.id}", address.path("runs", key))]
