"""Parquet by pyarrow, which is installed on request: it is larger than all the rest."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ...model.errors import UserError
from ..sheet import Sheet


def render(sheets: Sequence[Sheet]) -> bytes:
    """One table; column names as metrics are called, text or double precision."""
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
        kind = pa.int64() if c.name in ("run", "vectors") else pa.string() if c.digits is None else pa.float64()
        arrays[c.name] = pa.array(values, kind)
    out = io.BytesIO()
    pq.write_table(pa.table(arrays), out)
    return out.getvalue()
