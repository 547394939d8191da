"""What inputs were made from, and what unknown variants answered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Name

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds two columns; runs from before have neither."""
    op.add_column("run", sa.Column("seed", Name(64)))
    op.add_column("run", sa.Column("answers", Name(64)))
