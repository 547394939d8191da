"""The first tables. Databases at this revision have them; new databases are created from schema.py."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing to do."""
