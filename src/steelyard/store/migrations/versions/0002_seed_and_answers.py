"""Adds the seed of inputs, and the answers of unknown variants."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Name

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds two columns; older runs have neither."""
    op.add_column("run", sa.Column("seed", Name(64)))
    op.add_column("run", sa.Column("answers", Name(64)))
