"""Parquet by pyarrow, which is installed on request: it is larger than all the rest."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ...model.errors import UserError
from ..sheet import Sheet


def render(sheets: Sequence[Sheet]) -> bytes:
    """One table; column names as metrics are called, text or double precision. Raises :class:`UserError` for several
    tables, and where pyarrow is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as e:
        raise UserError("Parquet needs pyarrow; run: pip install 'steelyard[parquet]'") from e
    if len(sheets) != 1:
        raise UserError("a Parquet file holds one table; write the others to .csv or .json")
    sheet = sheets[0]
    columns = list(zip(*(line.cells for line in sheet.lines), strict=True)) or [()] * len(sheet.columns)
    arrays = {}
    for c, values in zip(sheet.columns, columns, strict=True):
        kinds = {type(v) for v in values if v is not None}
        number = c.digits is not None or (kinds and str not in kinds)
        whole = number and kinds == {int} and (c.digits is None or c.name in ("run", "vectors"))
        shown = values if number else [None if v is None else str(v) for v in values]
        arrays[c.name] = pa.array(shown, pa.int64() if whole else pa.float64() if number else pa.string())
    out = io.BytesIO()
    pq.write_table(pa.table(arrays), out)
    return out.getvalue()
