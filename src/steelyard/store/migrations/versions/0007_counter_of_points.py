"""Adds what the chip's own counter says of a call, beside its pulse."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Adds a column; older points have none; MariaDB may have it from a migration that a later step ended."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("point")}
    if "counter" not in there:
        op.add_column("point", sa.Column("counter", sa.BigInteger))


def downgrade() -> None:
    """Drops it; MariaDB may lack it already."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("point")}
    if "counter" in there:
        op.drop_column("point", "counter")
