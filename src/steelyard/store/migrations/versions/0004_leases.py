"""Adds leases: who works on which run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Id, Name

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds a table; MariaDB may have it from a migration that a later step ended."""
    if "lease" in sa.inspect(op.get_bind()).get_table_names():
        return
    op.create_table(
        "lease",
        sa.Column("id", Id, nullable=False),
        sa.Column("key", Name(64), nullable=False),
        sa.Column("holder", Name(255), nullable=False),
        sa.Column("beats", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lease"),
        sa.UniqueConstraint("key", name="uq_lease_key"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drops it; MariaDB may lack it already."""
    there = sa.inspect(op.get_bind()).get_table_names()
    for name in ("lease",):
        if name in there:
            op.drop_table(name)
