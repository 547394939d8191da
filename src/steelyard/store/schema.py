"""The tables. A run is one row with its measurements, points and helpers; nothing is ever updated.

What many runs share (implementation, toolchain, target, setup) is stored once. Each of those rows is
found by the hash of its fields, so that no database's idea of equal strings matters.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
)

from .types import Id, LongText, Name, UtcTime
from .values import HEAD, LENGTHS, REVISION_TABLE

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _short(name: str, **options: Any) -> Column[str]:
    return Column(name, Name(LENGTHS[name]), **options)


implementation = Table(
    "implementation",
    metadata,
    Column("id", Id, primary_key=True),
    _short("identity", nullable=False, unique=True),
    _short("primitive", nullable=False),
    _short("family", nullable=False),
    _short("variant", nullable=False, index=True),
    _short("name", nullable=False),
    _short("digest", nullable=False),
)

toolchain = Table(
    "toolchain",
    metadata,
    Column("id", Id, primary_key=True),
    _short("identity", nullable=False, unique=True),
    _short("name", nullable=False),
    _short("version", nullable=False),
    _short("sha256", nullable=False),
)

target = Table(
    "target",
    metadata,
    Column("id", Id, primary_key=True),
    _short("identity", nullable=False, unique=True),
    _short("name", nullable=False),
    _short("digest", nullable=False),
)

#: everything that figures depend on; ``key`` is ``Setup.key``
setup = Table(
    "setup",
    metadata,
    Column("id", Id, primary_key=True),
    _short("key", nullable=False, unique=True),
    Column("implementation_id", ForeignKey("implementation.id"), nullable=False, index=True),
    Column("target_id", ForeignKey("target.id"), nullable=False, index=True),
    Column("toolchain_id", ForeignKey("toolchain.id"), nullable=False),
    _short("device", nullable=False),
    Column("flags", LongText, nullable=False),
    Column("workload", LongText, nullable=False),
    _short("harness", nullable=False),
    _short("timing_model", nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", Id, primary_key=True),
    Column("setup_id", ForeignKey("setup.id"), nullable=False),
    _short("reason"),
    Column("detail", LongText),
    _short("verified_with"),
    Column("vectors", Integer),
    Column("ext_vectors", Integer),
    Column("skipped", Integer),
    Column("notes", LongText, nullable=False),  # a JSON list
    Column("origin", LongText, nullable=False),
    _short("log", nullable=False),
    _short("host", nullable=False),
    Column("seconds", Double, nullable=False),
    Column("finished", UtcTime),
    _short("seed"),
    _short("answers"),
    Index(None, "setup_id", "id"),
    sqlite_autoincrement=True,
)

#: ``whole`` for exact integers, ``fraction`` for floating point: exactly one is set
measurement = Table(
    "measurement",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    _short("metric", primary_key=True),
    Column("whole", BigInteger),
    Column("fraction", Double),
    CheckConstraint("(whole IS NULL) <> (fraction IS NULL)", name="one_value"),
    sqlite_with_rowid=False,
)

point = Table(
    "point",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _short("operation", nullable=False),
    Column("adlen", Integer, nullable=False),
    Column("mlen", Integer, nullable=False),
    Column("cycles", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

helper = Table(
    "helper",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _short("member", nullable=False),
    Column("size", Integer, nullable=False),
    sqlite_with_rowid=False,
)


def create(connection: Connection) -> None:
    """Makes all tables in an empty database, at the newest revision: the short way past the migrations."""
    metadata.create_all(connection)
    connection.exec_driver_sql(
        f"CREATE TABLE {REVISION_TABLE} (version_num VARCHAR(32) NOT NULL, "
        f"CONSTRAINT {REVISION_TABLE}_pkc PRIMARY KEY (version_num))"
    )
    connection.exec_driver_sql(f"INSERT INTO {REVISION_TABLE} VALUES ('{HEAD}')")
