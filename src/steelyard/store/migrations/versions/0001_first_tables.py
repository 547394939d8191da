"""First tables. Databases that begin here have them; new ones are made from schema.py, whole."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing to do."""
