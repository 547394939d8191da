"""Adds keys of workers that take jobs over HTTP."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Id, Name, UtcTime

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Adds a table; MariaDB may have it from a migration that a later step ended."""
    if "worker_key" in sa.inspect(op.get_bind()).get_table_names():
        return
    op.create_table(
        "worker_key",
        sa.Column("id", Id, nullable=False),
        sa.Column("token", Name(64), nullable=False),
        sa.Column("machine", Name(64), nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_worker_key"),
        sa.UniqueConstraint("token", name="uq_worker_key_token"),
        sa.UniqueConstraint("machine", name="uq_worker_key_machine"),
    )


def downgrade() -> None:
    """Drops it; MariaDB may lack it already."""
    there = sa.inspect(op.get_bind()).get_table_names()
    for name in ("worker_key",):
        if name in there:
            op.drop_table(name)
