"""Where time depends on the inputs the mean is over fresh inputs, and the known answers' own stands beside it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_measurement = sa.table(
    "measurement",
    sa.column("run_id", sa.BigInteger),
    sa.column("metric", sa.String),
    sa.column("whole", sa.BigInteger),
    sa.column("fraction", sa.Double),
)


def upgrade() -> None:
    """Renames both means of a run that has two, and corrects what follows from them."""
    _exchange("_fresh_mean", "_known_mean")


def downgrade() -> None:
    """Names them as before."""
    _exchange("_known_mean", "_fresh_mean")


def _exchange(beside: str, instead: str) -> None:
    """The mean ``beside`` another becomes the mean, and the other one is called by the suffix ``instead``."""
    connection, table = op.get_bind(), _measurement
    found = connection.execute(sa.select(table.c.run_id, table.c.metric).where(table.c.metric.like(f"%{beside}")))
    for run, other in found.all():
        name = other.removesuffix(beside)
        old, new = _value(run, f"{name}_mean"), _value(run, other)
        _rename(run, f"{name}_mean", f"{name}{instead}")
        _rename(run, other, f"{name}_mean")
        if old and new is not None and name.startswith("cycles_"):
            operation = name.removeprefix("cycles_")
            of_block = [f"{operation}_per_byte"] if _value(run, "context") is not None else []
            metered = [
                f"energy_{operation}_measured{end}{of}" for end in ("", "_with_idle") for of in ("", "_uncertainty")
            ]
            for following in (f"energy_{operation}_modelled", *metered, *of_block):
                _scale(run, following, new / old)


def _rows(run: int, metric: str) -> sa.ColumnElement[bool]:
    return sa.and_(_measurement.c.run_id == run, _measurement.c.metric == metric)


def _value(run: int, metric: str) -> float | None:
    asked = sa.select(_measurement.c.whole, _measurement.c.fraction).where(_rows(run, metric))
    found = op.get_bind().execute(asked).one_or_none()
    return None if found is None else found.fraction if found.whole is None else found.whole


def _rename(run: int, old: str, new: str) -> None:
    op.get_bind().execute(sa.update(_measurement).where(_rows(run, old)).values(metric=new))


def _scale(run: int, metric: str, factor: float) -> None:
    if (value := _value(run, metric)) is not None:
        made = sa.update(_measurement).where(_rows(run, metric)).values(whole=None, fraction=value * factor)
        op.get_bind().execute(made)
