"""A block cipher's cycles per byte are of a further block, whose call finds caches warm, and not of the first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_TABLE = sa.table(
    "measurement",
    sa.column("run_id", sa.BigInteger),
    sa.column("metric", sa.String),
    sa.column("whole", sa.BigInteger),
    sa.column("fraction", sa.Double),
)


def upgrade() -> None:
    """Makes them of the warm mean, where that is another."""
    _make("cycles_{}_mean", "cycles_{}_warm_mean")


def downgrade() -> None:
    """Makes them of the mean again."""
    _make("cycles_{}_warm_mean", "cycles_{}_mean")


def _make(was: str, becomes: str) -> None:
    for operation in ("encrypt", "decrypt"):
        name = f"{operation}_per_byte"
        each, old, new = (_TABLE.alias(n) for n in ("each", "old", "new"))
        asked = sa.select(each.c.run_id, *(sa.func.coalesce(t.c.whole, t.c.fraction) for t in (each, old, new)))
        for table, metric in ((old, was.format(operation)), (new, becomes.format(operation))):
            asked = asked.join(table, sa.and_(table.c.run_id == each.c.run_id, table.c.metric == metric))
        for run, per_byte, cycles, others in op.get_bind().execute(asked.where(each.c.metric == name)).all():
            if per_byte and cycles != others and (block := round(cycles / per_byte)):
                this = sa.and_(_TABLE.c.run_id == run, _TABLE.c.metric == name)
                op.get_bind().execute(sa.update(_TABLE).where(this).values(whole=None, fraction=others / block))
