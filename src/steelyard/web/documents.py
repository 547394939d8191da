"""The documents in ``docs/`` as pages, and the definition of each metric."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..model import paths
from ..model.record import OPERATIONS

if TYPE_CHECKING:  # only where pages are made
    from markdown_it.token import Token

#: documents that are pages, by the page's name
PAGES = {"claims": "Claims", "definitions": "Definitions", "glossary": "Words"}
_FOLDER = paths.ROOT / "docs"
#: a table of metrics; others have words that are metrics' names too, such as causes of cycles
_TABLE = re.compile(r"^\| metric \| definition \|\n(?:\|.*\n)+", re.MULTILINE)
_ROW = re.compile(r"^\| (`[^|]*?) \| (.*) \|$", re.MULTILINE)


def html(name: str) -> str:
    """A document's markup below its title. Links between documents that are pages lead there, others are text."""
    file = _FOLDER / f"{name}.md"
    return _html(file, file.stat().st_mtime_ns)


@lru_cache(8)
def _html(file: Path, _: int) -> str:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(file.read_text(encoding="utf-8"))
    for k, token in enumerate(tokens):
        if token.type == "heading_open" and (inline := tokens[k + 1]).content:
            token.attrSet("id", slug(inline.content))
        if token.type == "table_open":
            token.attrSet("class", "document")
        if token.type == "inline":
            token.children = _linked(token.children or [])
    begin = 3 if tokens and tokens[0].tag == "h1" else 0
    made: str = reader.renderer.render(tokens[begin:], reader.options, {})
    made = made.replace("<pre>", '<pre tabindex="0">')  # which keyboards scroll
    return made.replace("<table", '<div class="wide" tabindex="0" role="group" aria-label="table"><table').replace(
        "</table>", "</table></div>"
    )


def _linked(children: list[Token]) -> list[Token]:
    """Without links to what is not a page here."""
    kept, dropped = [], False
    for token in children:
        if token.type == "link_open":
            to = str(token.attrs.get("href", ""))
            name, _, part = to.partition("#")
            page = name.removesuffix(".md")
            dropped = not (to.startswith("#") or page in PAGES)
            if dropped:
                continue
            token.attrSet("href", f"/{page}" * bool(page) + f"#{part}" * bool(part))
        if token.type == "link_close" and dropped:
            dropped = False
            continue
        if token.type != "image":
            kept.append(token)
    return kept


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts make them."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def claim(target: str) -> str:
    """Where the claims about a target are."""
    text = (_FOLDER / "claims.md").read_text(encoding="utf-8")
    heading = re.search(rf"^## ({re.escape(target)} \(.*)$", text, re.MULTILINE)
    return f"/claims#{slug(heading[1])}" if heading else "/claims"


#: what stands for several words in a metric's name
PLACEHOLDERS = {
    "<op>": f"(?:{'|'.join(OPERATIONS)})",
    "<data>": "(?:(?:decrypt_)?(?:pt|ad|ad_pt)|hash)",
    "<size>": "(?:16|64|1536|long)",
}


def pattern_of(name: str) -> str:
    """The regular expression of a metric's name in the document."""
    for word, meant in PLACEHOLDERS.items():
        name = name.replace(word, meant)
    return name


@cache
def _definitions(primitive: str) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of metrics' names, and what the document says of each: those of block ciphers first where it is one,
    else last. A row that refers to other primitives defines nothing."""
    sections = re.split(r"^## ", (_FOLDER / "definitions.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections.sort(key=lambda s: s.startswith("Block ciphers") != (primitive == "crypto_block"))
    found = []
    rows = [row for s in sections for table in _TABLE.findall(s) for row in _ROW.findall(table)]
    for names, text in (row for row in rows if not row[1].startswith("as of an AEAD")):
        for name in re.findall(r"`([a-z_<>]+)`", names):
            found.append(
                (re.compile(f"{pattern_of(name)}(?:_uncertainty)?"), re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", text))
            )
    return found


def definition(metric: str, primitive: str) -> str:
    """What a metric of a primitive is; empty for one that this version does not know."""
    return next((text for pattern, text in _definitions(primitive) if pattern.fullmatch(metric)), "")
