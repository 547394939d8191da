"""Adds logs to databases that have no folder for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Content, Name

revision = "0012"
down_revision = "0011"

_TABLE = "build_log"


def upgrade() -> None:
    """Adds a table; MariaDB may have it from a migration that a later step ended."""
    if _TABLE in sa.inspect(op.get_bind()).get_table_names():
        return
    op.create_table(
        _TABLE,
        sa.Column("digest", Name(64), primary_key=True),
        sa.Column("content", Content, nullable=False),
    )


def downgrade() -> None:
    """Drops it; MariaDB may lack it already."""
    if _TABLE in sa.inspect(op.get_bind()).get_table_names():
        op.drop_table(_TABLE)
