"""Adds the seed of inputs, and the answers of unknown variants."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Name

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds two columns; older runs have neither; MariaDB may have one from a migration that a later step ended."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("run")}
    for name in ("seed", "answers"):
        if name not in there:
            op.add_column("run", sa.Column(name, Name(64)))
