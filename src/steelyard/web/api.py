"""The API: its table of addresses, and a function for each, which answers in the words of ``wire.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from ..model import checked
from ..model.errors import UserError, cut, unknown
from ..model.metric import metric, metric_names, size_of
from ..model.primitive import PRIMITIVES
from ..model.row import CONTEXT
from ..model.target import load_target, target_names
from ..publish.sheet import Sheet
from ..store import FILTERS, Store
from ..store.errors import LogLost
from ..store.queries import Window
from . import ask, documents, wire
from .page import NotThereError, Text
from .page import Table as Shown
from .pages import answers, submissions
from .pages.view import View
from .wirework import DEEDS

JSON, TEXT = "application/json", "text/plain; charset=utf-8"
#: what stands for a part of an address, and its type
_RUN, _LINK = "{run}", "{link}"
_MARKS = {_RUN: "integer", _LINK: "string"}


class Route(NamedTuple):
    """What answers, what it may be asked, what it gives (text, where that is not a struct), and a sentence on it."""

    answer: Callable[..., Any]
    asked: type[wire.Asked]
    gives: type[Struct] | None
    about: str


def _service(store: Store, _: wire.Asked) -> wire.Service:
    return wire.Service(version("steelyard"), store.last(), tuple(map(address, ROUTES)))


def _part(store: Store, asked: wire.RunsAsked, limit: int) -> tuple[list[int], int, int | None]:
    """The numbers of a part of at most ``limit`` runs, the newest run as of which it is, and where the next one
    begins."""
    last = store.last() if asked.last is None else asked.last
    before = last + 1 if asked.before is None else asked.before
    equal = {name: value for name in FILTERS if (value := getattr(asked, name)) is not None}
    ids = store.part(Window(last, before, limit), newest_only=asked.newest, **equal)
    return ids, last, ids[-1] if len(ids) == limit else None


def _rows(store: Store, asked: wire.RowsAsked) -> wire.Rows:
    metrics = _metrics(asked.metrics)
    columns = len(CONTEXT) + len(metric_names() if metrics is None else metrics) + len(asked.points)
    ids, last, before = _part(store, asked, max(1, min(asked.limit, wire.MOST_CELLS // columns)))
    sizes = []
    for name in asked.points:
        if (size := size_of(name)) is None:
            raise UserError(f"points: {cut(name)!r}: write OPERATION@AD/MESSAGE in bytes, such as encrypt@16/64")
        sizes.append((size.operation, size.adlen, size.mlen))
    rows = store.rows_of(ids, metrics, sizes, asked.beside)
    return wire.Rows(_columns(rows), last, before)


def _metrics(names: Sequence[str]) -> list[str] | None:
    """The metrics that are asked for; None means all."""
    return None if names == "all" else [metric(n).name for n in names]


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(r[name] for r in rows) for name in (rows[0] if rows else ())}


def _rows_of(store: Store, asked: wire.NamedRows) -> wire.Rows:
    rows = store.rows_of(asked.runs, _metrics(asked.metrics))
    return wire.Rows(_columns(rows), store.last(), None)


def _runs(store: Store, asked: wire.RunsAsked) -> wire.Runs:
    ids, last, before = _part(store, asked, asked.limit)
    return wire.Runs(tuple(_whole(store, ids)), last, before)


def _whole(store: Store, ids: Sequence[int]) -> Iterable[wire.Run]:
    for r in store.records(ids):
        yield wire.Run(r, r.setup.key, r.ok, r.failure.next_action if r.failure else "")


def _number(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 19):
        raise NotThereError(f"{cut(text, 30)!r} is not the number of a run; /api/v1/runs has them")
    return int(text)


def _run(store: Store, _: wire.Asked, number: str) -> wire.Run:
    found = next(iter(_whole(store, [_number(number)])), None)
    if found is None:
        raise NotThereError(f"there is no run {number}; /api/v1/runs has them")
    return found


def _log(store: Store, asked: wire.Asked, number: str) -> bytes:
    digest = _run(store, asked, number).record.log
    try:
        return store.get_blob(digest) if digest else b""
    except LogLost as e:
        raise NotThereError(f"run {number}: its log {e.what}") from e


def _same(store: Store, asked: wire.Asked, number: str) -> wire.Same:
    return wire.Same(tuple(store.same_answers(_run(store, asked, number).record)))


def _points(store: Store, asked: wire.Named) -> wire.Points:
    return wire.Points({n: tuple(of) for n, of in store.points(asked.runs).items()})


def _details(store: Store, asked: wire.Named) -> wire.Details:
    return wire.Details(store.details(asked.runs))


def _made(store: Store, _: wire.Asked) -> wire.Makers:
    return wire.Makers(tuple(sorted(store.made())))


def _tables(store: Store, asked: wire.TablesAsked) -> wire.Tables:
    page = answers.tables(View(store, msgspec.structs.asdict(asked)))
    shown = tuple(_table(b.sheet) for b in page.blocks if isinstance(b, Shown))
    if sum(len(t.lines) * len(t.columns) for t in shown) > wire.MOST_CELLS:
        raise UserError(f"more than {wire.MOST_CELLS} cells; choose fewer lines or columns, or ask for rows in parts")
    return wire.Tables(shown, tuple(b.text for b in page.blocks if isinstance(b, Text)))


def _table(sheet: Sheet) -> wire.Table:
    lines = tuple(wire.Line(tuple(line.cells), tuple(line.runs)) for line in sheet.lines)
    return wire.Table(sheet.title or sheet.caption, sheet.label, tuple(sheet.columns), lines, tuple(sheet.notes))


def _submission(store: Store, _: wire.Asked, token: str) -> wire.Submission:
    of = submissions.told(View(store, {}), token)
    figures, changed = tuple(map(_table, of.figures)), tuple(map(_table, of.changed))
    return wire.Submission(of.submission.name, of.submission.state, _table(of.runs), figures, of.changes, changed)


def _implementations(store: Store, _: wire.Asked) -> wire.Implementations:
    return wire.Implementations(tuple(wire.Implementation(*i) for i in store.implementations()))


def _targets(store: Store, _: wire.Asked) -> wire.Targets:
    stored, known = store.targets(), target_names()
    return wire.Targets(tuple(_target(n, stored.get(n, 0), n in known) for n in sorted({*stored, *known})))


def _target(name: str, setups: int, known: bool) -> wire.Target:
    if not known:
        return wire.Target(name, setups)
    t = load_target(name)
    of = t.toolchain
    return wire.Target(name, setups, t.title, t.chip_name, t.tier, t.silicon, of.compiler, of.default_flags)


def _defined(_: Store, __: wire.Asked) -> wire.Metrics:
    return wire.Metrics(
        tuple(wire.Defined(metric(n), {p: documents.definition(n, p) for p in PRIMITIVES}) for n in metric_names())
    )


#: by the words of an address below the API's
ROUTES: Mapping[tuple[str, ...], Route] = {
    (): Route(_service, wire.Asked, wire.Service, "This service, and the questions that it answers."),
    ("rows",): Route(_rows, wire.RowsAsked, wire.Rows, "Runs as rows of columns, in parts."),
    ("rows", "named"): Route(_rows_of, wire.NamedRows, wire.Rows, "Rows of runs by number."),
    ("runs",): Route(_runs, wire.RunsAsked, wire.Runs, "Whole runs, in parts."),
    ("runs", _RUN): Route(_run, wire.Asked, wire.Run, "One run, whole."),
    ("runs", _RUN, "log"): Route(_log, wire.Asked, None, "What the compilers said."),
    ("runs", _RUN, "same"): Route(_same, wire.Asked, wire.Same, "Other implementations with the same answers."),
    ("submissions", _LINK): Route(_submission, wire.Asked, wire.Submission, "A submission, by its private link's end."),
    ("points",): Route(_points, wire.Named, wire.Points, "Cycles by size, of runs by number."),
    ("details",): Route(_details, wire.Named, wire.Details, "Details of failures, of runs by number."),
    ("made",): Route(_made, wire.Asked, wire.Makers, "Toolchains and timing models."),
    ("tables",): Route(_tables, wire.TablesAsked, wire.Tables, "Tables as steelyard publish makes them."),
    ("implementations",): Route(_implementations, wire.Asked, wire.Implementations, "What was run."),
    ("targets",): Route(_targets, wire.Asked, wire.Targets, "Targets."),
    ("metrics",): Route(_defined, wire.Asked, wire.Metrics, "Metrics and their definitions."),
}
OPENAPI = "openapi.json"


def address(words: Sequence[str]) -> str:
    """The address of a route."""
    return "/" + "/".join((*wire.ROOT, *words))


def is_asked(names: Sequence[str]) -> bool:
    """Whether an address is below the API's, of whatever version."""
    return names[:1] == (wire.ROOT[0],)


def answer(store: Store, names: tuple[str, ...], query: str, body: bytes) -> tuple[int, str, bytes]:
    """What the API answers at an address. Raises :class:`UserError` where it cannot,
    :class:`NotThereError` where there is nothing."""
    if names[: len(wire.ROOT)] != wire.ROOT:
        raise NotThereError(f"this server has version {wire.ROOT[1]}, at {address(())}")
    below = names[len(wire.ROOT) :]
    if below == (OPENAPI,):
        _asked(wire.Asked, query, body)
        return 200, JSON, msgspec.json.encode(document())
    for words, route in ROUTES.items():
        if len(words) == len(below) and all(w == n or w in _MARKS for w, n in zip(words, below, strict=True)):
            named = [n for w, n in zip(words, below, strict=True) if w in _MARKS]
            made = route.answer(store, _asked(route.asked, query, body), *named)
            return (200, TEXT, made) if route.gives is None else (200, JSON, msgspec.json.encode(made))
    known = {OPENAPI, *("/".join(words) for words in ROUTES)}
    raise NotThereError(str(unknown(f"address below {address(())}", "/".join(below), known)))


def refusal(why: str) -> tuple[str, bytes]:
    """The kind and the text of an answer that is none."""
    return JSON, msgspec.json.encode(wire.Refusal(why))


def _asked(kind: type[wire.Asked], query: str, body: bytes) -> wire.Asked:
    """What is asked, in the address or in a body of JSON. Raises :class:`UserError` for what cannot be."""
    if query and body:
        raise UserError("this asks in the address and in the body; choose one")
    if body:
        try:
            data = msgspec.json.decode(body)
        except msgspec.DecodeError as e:
            raise UserError(f"the body is not JSON: {e}") from e
        except RecursionError as e:
            raise UserError("the body is not what is asked here: too many levels") from e
    else:
        data = _of_query(kind, query)
    try:
        return checked.convert(data, kind, strict=bool(body))
    except checked.Wrong as e:
        raise UserError(str(e)) from e


def _of_query(kind: type[wire.Asked], query: str) -> dict[str, Any]:
    """An address's parameters; commas divide lists."""
    if len(query) > ask.LONGEST:
        raise UserError(f"this address asks too much: {len(query)} characters, at most {ask.LONGEST}; ask in a body")
    types, data = get_type_hints(kind, include_extras=False), dict[str, Any]()
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=50, errors="backslashreplace")
    except ValueError as e:
        raise UserError("this address asks too much: more than 50 parameters") from e
    for name, value in pairs:
        if name not in types:
            raise unknown("parameter", name, types)
        if name in data:
            raise UserError(f"{name} is there twice; leave one out")
        listed = _lists(types[name]) and value != "all"
        data[name] = [v.strip() for v in value.split(",") if v.strip()] if listed else value
    return data


def document() -> dict[str, Any]:
    """The OpenAPI document, made of the table and of the structs."""
    kinds: list[Any] = [wire.Refusal, wire.Taken, *(k for both in DEEDS.values() for k in both)]
    for route in ROUTES.values():
        kinds += [route.asked, *([route.gives] if route.gives else [])]
    kinds = list(dict.fromkeys(kinds))
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    of = dict(zip(kinds, schemas, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Steelyard",
            "version": wire.ROOT[1],
            "description": "Stored results: every number with its run. What they mean: /definitions, /claims.",
        },
        "paths": {
            **{address(words): _described(words, route, of, components) for words, route in ROUTES.items()},
            address(("submissions",)): {"post": _handing_in(of)},
            **{address(("work", deed)): {"post": _working(deed, of, *both)} for deed, both in DEEDS.items()},
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"worker": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(
    words: Sequence[str], route: Route, of: Mapping[Any, Any], components: Mapping[str, Any]
) -> dict[str, Any]:
    """A path of the document: asked in the address, or in a body."""
    named = [
        {"name": w.strip("{}"), "in": "path", "required": True, "schema": {"type": _MARKS[w]}}
        for w in words
        if w in _MARKS
    ]
    asked = components[route.asked.__name__]
    types = get_type_hints(route.asked)
    parameters = [
        {
            "name": name,
            "in": "query",
            "required": name in asked.get("required", ()),
            "schema": schema,
            **({"style": "form", "explode": False} if _lists(types[name]) else {}),
        }
        for name, schema in asked["properties"].items()
        if name != "beside"  # only in a body
    ]
    kind = JSON if route.gives else "text/plain"
    good = {"description": route.about, "content": {kind: {"schema": of[route.gives] if route.gives else {}}}}
    bad = {"description": "Why not, and what to do.", "content": {JSON: {"schema": of[wire.Refusal]}}}
    name = "_".join(w for w in words if w not in _MARKS) or "service"
    operation = {"summary": route.about, "responses": {"200": good, "default": bad}}
    one = "_one" if words and words[-1] in _MARKS else ""
    said = {"get": {"operationId": f"get_{name}{one}", "parameters": [*named, *parameters], **operation}}
    if parameters:
        body = {"required": True, "content": {JSON: {"schema": of[route.asked]}}}
        said["post"] = {"operationId": f"ask_{name}{one}", "requestBody": body, **operation}
        if named:
            said["post"]["parameters"] = named
    return said


def _handing_in(of: Mapping[Any, Any]) -> dict[str, Any]:
    """How a zip is handed in, where a server takes such; ``submit.py`` answers."""
    asked = (("licence", "query", True, "of the sources"), ("name", "query", False, "the file's"),
             (wire.PREVIOUS, "header", False, "private link of an older version"))  # fmt: skip
    parameters = [
        {"name": n, "in": where, "required": needed, "description": about, "schema": {"type": "string"}}
        for n, where, needed, about in asked
    ]
    about = "Hands in a zip; the answer has its private link."
    good = {"description": about, "content": {JSON: {"schema": of[wire.Taken]}}}
    bad = {"description": "Why not, and what to do.", "content": {JSON: {"schema": of[wire.Refusal]}}}
    return {
        "operationId": "hand_in",
        "summary": about,
        "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/zip": {"schema": {}}}},
        "responses": {"201": good, "default": bad},
    }


def _working(deed: str, of: Mapping[Any, Any], asked: type[Struct], gives: type[Struct]) -> dict[str, Any]:
    """What a worker asks that has no database; ``hire.py`` answers."""
    about = (asked.__doc__ or "").splitlines()[0]
    return {
        "operationId": f"work_{deed.replace('-', '_')}",
        "summary": about,
        "security": [{"worker": []}],
        "requestBody": {"required": True, "content": {JSON: {"schema": of[asked]}}},
        "responses": {
            "200": {"description": gives.__doc__ or "", "content": {JSON: {"schema": of[gives]}}},
            "default": {"description": "Why not, and what to do.", "content": {JSON: {"schema": of[wire.Refusal]}}},
        },
    }


def _lists(kind: Any) -> bool:
    return any(get_origin(k) is tuple for k in (kind, *get_args(kind)))
