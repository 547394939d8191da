"""Adds the cycles of every known answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Content, Id

revision = "0010"
down_revision = "0009"

_TABLE = "vector_cycles"


def upgrade() -> None:
    """Adds a table; older runs have no row in it; MariaDB may have it from a migration that a later step ended."""
    if _TABLE in sa.inspect(op.get_bind()).get_table_names():
        return
    op.create_table(
        _TABLE,
        sa.Column("run_id", Id, sa.ForeignKey("run.id", name=f"fk_{_TABLE}_run_id"), primary_key=True),
        sa.Column("packed", Content, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drops it; MariaDB may lack it already."""
    if _TABLE in sa.inspect(op.get_bind()).get_table_names():
        op.drop_table(_TABLE)
