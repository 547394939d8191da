"""Finds points by size, stores a missing seed as an empty one, and makes MariaDB compare trailing spaces."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Name

revision = "0003"
down_revision = "0002"

_TABLES = ("implementation", "toolchain", "target", "setup", "run", "measurement", "point", "helper")
_BY_SIZE = "run_id, operation, adlen, mlen, position"


def upgrade() -> None:
    """Changes existing tables without losing data. Every step may run again: MariaDB keeps earlier steps when a later
    one fails."""
    database = op.get_bind().dialect.name
    op.execute("UPDATE run SET seed = '' WHERE seed IS NULL")
    op.execute("UPDATE run SET answers = '' WHERE answers IS NULL AND verified_with IS NOT NULL")
    with op.batch_alter_table("run", table_kwargs={"sqlite_autoincrement": True}) as run:
        run.alter_column("seed", existing_type=Name(64), nullable=False)
    if database == "sqlite":
        op.rename_table("point", "point_by_position")
        op.create_table(
            "point",
            sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id"), primary_key=True),
            sa.Column("operation", Name(16), primary_key=True),
            sa.Column("adlen", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("mlen", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("cycles", sa.BigInteger, nullable=False),
            sqlite_with_rowid=False,
        )
        op.execute(f"INSERT INTO point ({_BY_SIZE}, cycles) SELECT {_BY_SIZE}, cycles FROM point_by_position")
        op.drop_table("point_by_position")
    elif database == "postgresql":
        op.execute(f"ALTER TABLE point DROP CONSTRAINT pk_point, ADD CONSTRAINT pk_point PRIMARY KEY ({_BY_SIZE})")
    else:
        op.execute(f"ALTER TABLE point DROP PRIMARY KEY, ADD PRIMARY KEY ({_BY_SIZE})")
        for table in _TABLES:
            op.execute(f"ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
