"""Pages as markup, and their tables and figures as files."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup as Safe
from msgspec.structs import replace

from ..model.errors import UserError
from ..publish import figure, formats
from ..publish import sheet as sheets
from ..publish.formats.html import printed
from ..publish.sheet import Sheet
from ..store import Store
from . import address, markup, reply, script
from .page import Block, Heading, Page, Picture, Table
from .reply import HTML, Reply

FOLDER = Path(__file__).parent
#: what browsers are told that files are
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "text/x-tex; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
}
#: endings of tables, and of figures; a page is HTML already
TABLES = {e: _TYPES.get(e, "application/octet-stream") for e in formats.MODULES if e != "html"}
FIGURES = {"svg": "image/svg+xml", "png": "image/png", "vl.json": "application/json"}
ENDINGS = (*TABLES, *FIGURES)
#: seconds after which a page that waits is renewed in place, and what stands in it for what it shows
RENEWED, _SHOWN = 3, "[shown]"
#: cells of a table in a file
MOST_CELLS = 4_000_000
MENU = {
    "targets": "targets", "tables": "tables", "rank": "ranking", "compare": "compare", "trade-offs": "trade-offs",
    "figures": "figures", "campaigns": "campaigns", "claims": "claims", "definitions": "definitions",
    "search": "search",
}  # fmt: skip


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"), autoescape=True, finalize=printed,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.get_template("page.html.j2")


def distinct(page: Page, word: Callable[[Sequence[str]], str] = sheets.word) -> Page:
    """The page; no two of its tables have one label, nor two of its figures. See :func:`sheets.distinct`."""
    pictures = [b for b in page.blocks if isinstance(b, Picture)]
    tables = iter(sheets.distinct([b.sheet for b in page.blocks if isinstance(b, Table)], word))
    labels = iter(sheets.labels([(b.label, b.group) for b in pictures], word))
    made: list[Block] = []
    for block in page.blocks:
        if isinstance(block, Picture):
            label, own = next(labels)
            block = replace(block, label=label, own=own)
        elif isinstance(block, Table):
            block = replace(block, sheet=next(tables))
        made.append(block)
    return replace(page, blocks=made)


def labels_of(block: Table | Picture) -> list[str]:
    """The labels by which a table's or figure's files are there."""
    of = block.sheet if isinstance(block, Table) else block
    return [*dict.fromkeys(filter(None, (of.label, of.own)))]


def answer(
    page: Page, store: Store | None, names: Sequence[str] = (), query: str = "", *, feed: str = "",
    endings: Sequence[str] = (*TABLES, *FIGURES),
) -> Reply:  # fmt: skip
    """The page as a reply; see :func:`html`. What waits is renewed in place, or loaded again where nothing can do that
    and nobody fills anything in."""
    text = html(page, store, names, query, feed=feed, endings=endings)
    if not (page.again and script.source()):
        return Reply(page.status, HTML, text.encode(), again=0 if page.fixed else page.again)
    text = _with_ids(text)
    shown = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Reply(page.status, HTML, text.replace(_SHOWN, shown).encode(), shown=shown)


#: what the keyboard reaches and has no id
_REACHED = re.compile(
    r'<(?:a href="[^"]*"|button|summary|pre tabindex="0"|div class="wide" tabindex="0"[^>]*)(?=[^>]*>([^<]*))(?! id=)'
)


def _with_ids(text: str) -> str:
    """The markup with an id, of what it is, for each part that the keyboard reaches: htmx leaves the focus there when
    it renews a page."""
    seen = Counter[str]()

    def named(found: re.Match[str]) -> str:
        what = "".join((found[0], found[1]))
        seen[what] += 1
        return f'{found[0]} id="at-{sheets.word((what, str(seen[what])))}"'

    return _REACHED.sub(named, text)


def html(
    page: Page, store: Store | None, names: Sequence[str] = (), query: str = "", *, live: bool = True, feed: str = "",
    endings: Sequence[str] = (*TABLES, *FIGURES),
) -> str:  # fmt: skip
    """The page at ``names``, with the address of its ``feed``. Without a server (not ``live``) nothing can be asked, so
    there are no forms."""
    tables = [b for b in page.blocks if isinstance(b, Table)]
    ids = set[int]().union(*(markup.shown_runs(t.sheet) for t in tables))
    runs = address.runs(store, ids) if store else {}
    base, asked = address.path(*names).rstrip("/"), f"?{query}" if query else ""

    taken = {"content", "now", *(b.id for b in page.blocks if isinstance(b, Heading))}

    def table(block: Table) -> Safe:
        name = markup.anchor(block.sheet.label, taken)
        own = markup.anchor(block.sheet.own, taken) if block.sheet.own not in ("", block.sheet.label) else ""
        ids = markup.line_ids(block.sheet, block.anchors, taken) if block.anchors else ()
        shown = markup.table(
            block.sheet, block.addresses or runs, name, bars=block.bars, wide=block.wide, past=block.past, ids=ids,
            private=block.private, own=own,
        )  # fmt: skip
        return Safe(shown)

    def at(label: str, ending: str) -> str:
        return f"{base}/{quote(label, safe='')}.{ending}{asked}"

    def files(block: Table | Picture) -> list[tuple[str, str]]:
        known, label = TABLES if isinstance(block, Table) else FIGURES, labels_of(block)[0]
        kept = [e for e in known if e in endings and e != "ods"]
        if isinstance(block, Picture) and block.svg is not None:  # drawn without Vega-Lite
            kept = [e for e in kept if e != "vl.json"]
        return [(f".{e}", at(label, e)) for e in kept]

    def own(block: Table | Picture) -> str:
        """A file by its own label, where it has another one too."""
        return "".join(at(label, "csv" if isinstance(block, Table) else "svg") for label in labels_of(block)[1:])

    def drawing(block: Picture) -> str:
        return at(block.label, "svg")

    return _template().render(
        page=page, menu=MENU, here=names[0] if names else "", live=live, table=table, files=files,
        own=own, drawing=drawing, notes=markup.notes, safe=Safe, feed=feed,
        style=f"/static/{reply.style_name()}",
        script=script if live and page.again and script.source() else None, at=base, seconds=RENEWED, shown=_SHOWN,
    )  # fmt: skip


def file(page: Page, label: str, ending: str) -> Callable[[], bytes] | None:
    """What makes a file of a table or figure of the page, and needs nothing else of it; None where it has none of this
    label."""
    if ending in TABLES:
        sheet = page.sheet(label)
        if sheet is not None:
            return partial(_of_table, sheet, ending)
    if ending in FIGURES:
        picture = page.picture(label)
        if picture is not None:
            return _of_figure(picture, ending)
    return None


def _of_table(sheet: Sheet, ending: str) -> bytes:
    if len(sheet.lines) * len(sheet.columns) > MOST_CELLS:
        raise UserError(f"a table of {len(sheet.lines)} lines is more than a file may have here; choose fewer")
    return formats.render([sheet], ending)


def _of_figure(picture: Picture, ending: str) -> Callable[[], bytes]:
    if picture.svg is not None:
        if ending == "vl.json":
            raise UserError(f"{picture.title} is drawn without Vega-Lite; it is there as .svg and .png")
        return partial(_of_svg, picture.svg(), ending)
    assert picture.spec is not None
    return partial(figure.draw, picture.spec(), "json" if ending == "vl.json" else ending)


def _of_svg(svg: str, ending: str) -> bytes:
    if ending == "svg":
        return svg.encode()
    import vl_convert as vlc

    return bytes(vlc.svg_to_png(svg, scale=1.0))
