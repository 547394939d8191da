"""Alembic's entry point: migrates the connection that migrate.py passes, inside its transaction."""

from __future__ import annotations

from alembic import context

from steelyard.store.schema import metadata
from steelyard.store.values import REVISION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=REVISION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
