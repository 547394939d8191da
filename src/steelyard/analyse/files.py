"""Result files as records: what ``--json`` printed, read back with every value checked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..model import checked, userfile
from ..model.errors import UPDATE, UserError, cut
from ..model.record import Record

#: raise with every change of the JSON of records that an older reader would misread
SCHEMA = 1
#: largest file read, bytes
MAX_BYTES = 1 << 30
#: no figure is as large
LARGEST = 1e100
_LONG = re.compile(rb"\d{100}")
_AGAIN = "steelyard ... --json"


def load(path: Path) -> Any:
    """The JSON document in ``path``; :class:`UserError` names the place that is wrong and what to do."""
    try:
        content = userfile.content(path, MAX_BYTES)
        whole = _whole if _LONG.search(content) else None  # which takes its time
        document = json.loads(content, parse_constant=_finite, parse_float=_finite, parse_int=whole)
        json.dumps(document, ensure_ascii=False).encode()  # not so with half of a character, which JSON can escape
        return document
    except userfile.TooLargeError as e:
        raise UserError(f"{path}: larger than {MAX_BYTES >> 20} MiB; split the campaign") from e
    except json.JSONDecodeError as e:
        place = f"{path}, line {e.lineno}, column {e.colno}"
        if e.pos >= len(e.doc.rstrip()):
            text = f"ends too early; write it again with {_AGAIN}; where one cipher aborted a campaign of FELICS-AE,"
            raise UserError(f"{place}: {text} put ] and }} after the last setup, without a comma before them") from e
        raise UserError(f"{place}: {e.msg}; write it again with {_AGAIN}") from e
    except (UnicodeDecodeError, RecursionError, ValueError) as e:
        raise UserError(f"{path}: not JSON: {e}; write it again with {_AGAIN}") from e


def _whole(text: str) -> int:
    """The same of a whole number."""
    _finite(text)
    return int(text)


def _finite(text: str) -> float:
    """The number; :class:`ValueError` for those that JSON does not have, or that are too large to count with."""
    if abs(value := float(text)) < LARGEST:
        return value
    raise ValueError(f"{cut(text, 30)} is not a figure")


def records(path: Path, document: Any) -> list[Record]:
    """The records in a document of ours; :class:`UserError` names the record and field that are wrong."""
    if not isinstance(document, dict) or "runs" not in document:
        raise UserError(f'{path}: not results of Steelyard (no "runs") or of FELICS-AE (no "data")')
    schema = document.get("schema")
    if not isinstance(schema, int) or schema > SCHEMA:
        text = f"{path}: schema {schema!r}, this version reads up to {SCHEMA}"
        raise UserError(f"{text}; {UPDATE}")
    try:
        return checked.convert(document["runs"], list[Record])
    except checked.Wrong as e:
        raise UserError(f"{path}: runs.{e}") from e
