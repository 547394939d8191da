"""The tables of schema 0002 on a server, as the first versions made them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection

from steelyard.store.schema import metadata
from steelyard.store.types import Id, LongText, Name, UtcTime
from steelyard.store.values import REVISION_TABLE

#: parents before their children
NAMES = ("implementation", "toolchain", "target", "setup", "run", "measurement", "point", "helper")


def create(connection: Connection) -> None:
    """Makes them in an empty database."""
    op = Operations(MigrationContext.configure(connection, opts={"target_metadata": metadata}))
    op.create_table(
        "implementation",
        sa.Column("id", Id, primary_key=True),
        sa.Column("identity", Name(64), nullable=False, unique=True),
        sa.Column("primitive", Name(64), nullable=False),
        sa.Column("family", Name(255), nullable=False),
        sa.Column("variant", Name(255), nullable=False, index=True),
        sa.Column("name", Name(255), nullable=False),
        sa.Column("digest", Name(64), nullable=False),
    )
    op.create_table(
        "toolchain",
        sa.Column("id", Id, primary_key=True),
        sa.Column("identity", Name(64), nullable=False, unique=True),
        sa.Column("name", Name(255), nullable=False),
        sa.Column("version", Name(255), nullable=False),
        sa.Column("sha256", Name(64), nullable=False),
    )
    op.create_table(
        "target",
        sa.Column("id", Id, primary_key=True),
        sa.Column("identity", Name(64), nullable=False, unique=True),
        sa.Column("name", Name(255), nullable=False),
        sa.Column("digest", Name(64), nullable=False),
    )
    op.create_table(
        "setup",
        sa.Column("id", Id, primary_key=True),
        sa.Column("key", Name(64), nullable=False, unique=True),
        sa.Column("implementation_id", Id, sa.ForeignKey("implementation.id"), nullable=False, index=True),
        sa.Column("target_id", Id, sa.ForeignKey("target.id"), nullable=False, index=True),
        sa.Column("toolchain_id", Id, sa.ForeignKey("toolchain.id"), nullable=False),
        sa.Column("device", Name(255), nullable=False),
        sa.Column("flags", LongText, nullable=False),
        sa.Column("workload", LongText, nullable=False),
        sa.Column("harness", Name(255), nullable=False),
        sa.Column("timing_model", Name(255), nullable=False),
    )
    op.create_table(
        "run",
        sa.Column("id", Id, primary_key=True),
        sa.Column("setup_id", Id, sa.ForeignKey("setup.id"), nullable=False),
        sa.Column("reason", Name(64)),
        sa.Column("detail", LongText),
        sa.Column("verified_with", Name(64)),
        sa.Column("vectors", sa.Integer),
        sa.Column("ext_vectors", sa.Integer),
        sa.Column("skipped", sa.Integer),
        sa.Column("notes", LongText, nullable=False),
        sa.Column("origin", LongText, nullable=False),
        sa.Column("log", Name(64), nullable=False),
        sa.Column("host", Name(255), nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("finished", UtcTime),
        sa.Column("seed", Name(64)),
        sa.Column("answers", Name(64)),
        sqlite_autoincrement=True,
    )
    op.create_index(None, "run", ["setup_id", "id"])
    op.create_table(
        "measurement",
        sa.Column("run_id", Id, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("metric", Name(128), primary_key=True),
        sa.Column("whole", sa.BigInteger),
        sa.Column("fraction", sa.Double),
        sa.CheckConstraint("(whole IS NULL) <> (fraction IS NULL)", name="one_value"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "point",
        sa.Column("run_id", Id, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("operation", Name(16), nullable=False),
        sa.Column("adlen", sa.Integer, nullable=False),
        sa.Column("mlen", sa.Integer, nullable=False),
        sa.Column("cycles", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "helper",
        sa.Column("run_id", Id, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("member", Name(255), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        REVISION_TABLE,
        sa.Column("version_num", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("version_num", name=f"{REVISION_TABLE}_pkc"),
    )
    if connection.dialect.name == "mariadb":
        for table in NAMES:
            op.execute(f"ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
