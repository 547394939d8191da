"""OpenDocument spreadsheets (version 1.2, parts 1 and 3), written straight: libraries for it hold cells as objects."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from ..sheet import Cell, Sheet, text
from .xlsx import names

_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_SPACES = " ".join(
    f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text", "style")
)
_MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest '
    'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">'
    f'<manifest:file-entry manifest:full-path="/" manifest:version="1.2" manifest:media-type="{_TYPE}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)


def render(sheets: Sequence[Sheet]) -> bytes:
    """A spreadsheet document."""
    tables = "".join(_table(s, n) for s, n in zip(sheets, names(sheets), strict=True))
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_SPACES} office:version="1.2">'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(_entry("mimetype"), _TYPE, zipfile.ZIP_STORED)  # first, and not compressed
        z.writestr(_entry("content.xml"), content, zipfile.ZIP_DEFLATED)
        z.writestr(_entry("META-INF/manifest.xml"), _MANIFEST, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    """A member with a fixed date: the same tables make the same file."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def _table(sheet: Sheet, name: str) -> str:
    head = "".join(_cell(c.heading, c.heading) for c in sheet.columns)
    rows = [f"<table:table-row>{head}</table:table-row>"]
    for line in sheet.lines:
        cells = "".join(_cell(v, text(v, c)) for v, c in zip(line.cells, sheet.columns, strict=True))
        rows.append(f"<table:table-row>{cells}</table:table-row>")
    rows += [f"<table:table-row>{_cell(n, n)}</table:table-row>" for n in sheet.notes]
    columns = f'<table:table-column table:number-columns-repeated="{len(sheet.columns)}"/>'
    return f"<table:table table:name={quoteattr(name)}>{columns}{''.join(rows)}</table:table>"


def _cell(value: Cell, shown: str) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
    return (
        f'<table:table-cell office:value-type="float" office:value="{value!r}">'
        f"<text:p>{shown}</text:p></table:table-cell>"
    )
