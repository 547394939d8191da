"""Adds the cycles that a call of a run was allowed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Adds a column; older runs do not say; MariaDB may have it from a migration that a later step ended."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("run")}
    if "max_cycles" not in there:
        op.add_column("run", sa.Column("max_cycles", sa.BigInteger))


def downgrade() -> None:
    """Drops it; MariaDB may lack it already."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("run")}
    if "max_cycles" in there:
        op.drop_column("run", "max_cycles")
