"""The database's tables, the same in SQLite, PostgreSQL and MariaDB. New databases are created from here, older ones
are migrated by migrations/.

A run is one row with its measurements, points and helpers; nothing of it is ever updated. Implementations, toolchains,
targets and setups are shared by many runs and stored once. Each is found by the hash of its fields, so that no
database's idea of equal strings matters.
"""

from __future__ import annotations

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
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
)

from .types import Content, Id, LongText, Name, Number, UtcTime

#: newest revision in migrations/versions; a test compares the two
HEAD = "0013"

#: the table with the revision; its name is our own, so that a database can be shared
REVISION_TABLE = "steelyard_revision"

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

implementation = Table(
    "implementation",
    metadata,
    Column("id", Id, primary_key=True),
    Column("identity", Name(64), nullable=False, unique=True),
    Column("primitive", Name(64), nullable=False),
    Column("family", Name(255), nullable=False),
    Column("variant", Name(255), nullable=False, index=True),
    Column("name", Name(255), nullable=False),
    Column("digest", Name(64), nullable=False),
)

toolchain = Table(
    "toolchain",
    metadata,
    Column("id", Id, primary_key=True),
    Column("identity", Name(64), nullable=False, unique=True),
    Column("name", Name(255), nullable=False),
    Column("version", Name(255), nullable=False),
    Column("sha256", Name(64), nullable=False),
)

target = Table(
    "target",
    metadata,
    Column("id", Id, primary_key=True),
    Column("identity", Name(64), nullable=False, unique=True),
    Column("name", Name(255), nullable=False),
    Column("digest", Name(64), nullable=False),
)

#: everything that figures depend on; ``key`` is ``Setup.key``
setup = Table(
    "setup",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Name(64), nullable=False, unique=True),
    Column("implementation_id", ForeignKey("implementation.id"), nullable=False, index=True),
    Column("target_id", ForeignKey("target.id"), nullable=False, index=True),
    Column("toolchain_id", ForeignKey("toolchain.id"), nullable=False),
    Column("device", Name(255), nullable=False),
    Column("flags", LongText, nullable=False),
    Column("workload", LongText, nullable=False),
    Column("harness", Name(255), nullable=False),
    Column("timing_model", Name(255), nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", Id, primary_key=True),
    Column("setup_id", ForeignKey("setup.id"), nullable=False),
    Column("reason", Name(64)),
    Column("detail", LongText),
    Column("verified_with", Name(64)),
    Column("vectors", Integer),
    Column("ext_vectors", Integer),
    Column("skipped", Integer),
    Column("notes", LongText, nullable=False),  # a JSON list
    Column("origin", LongText, nullable=False),
    Column("log", Name(64), nullable=False),
    Column("host", Name(255), nullable=False),
    Column("seconds", Double, nullable=False),
    Column("finished", UtcTime),
    Column("seed", Name(64), nullable=False),
    Column("answers", Name(64)),  # with verified_with, vectors, ext_vectors and skipped, or NULL as they are
    Column("max_cycles", BigInteger),
    Index(None, "setup_id", "id"),
    sqlite_autoincrement=True,
)

#: ``whole`` for exact integers, ``fraction`` for floating point: exactly one is set
measurement = Table(
    "measurement",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("metric", Name(128), primary_key=True),
    Column("whole", BigInteger),
    Column("fraction", Double),
    CheckConstraint("(whole IS NULL) <> (fraction IS NULL)", name="one_value"),
    sqlite_with_rowid=False,
)

#: found by size, returned in the order of ``position``
point = Table(
    "point",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("operation", Name(16), primary_key=True),
    Column("adlen", Integer, primary_key=True, autoincrement=False),
    Column("mlen", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("cycles", BigInteger, nullable=False),
    Column("counter", BigInteger),
    sqlite_with_rowid=False,
)

#: the cycles of every known answer, as :mod:`..model.packed` packs them
vector_cycles = Table(
    "vector_cycles",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("packed", Content, nullable=False),
    sqlite_with_rowid=False,
)

helper = Table(
    "helper",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("member", Name(255), nullable=False),
    Column("size", Integer, nullable=False),
    sqlite_with_rowid=False,
)

#: what a run has rows of its own in, and all that a record is stored in
PARTS = (measurement, point, vector_cycles, helper)
OF_RUNS = (implementation, toolchain, target, setup, run, *PARTS)

#: who works on the run with this ``Setup.key``; see leasing.py. Numbers are never used again.
lease = Table(
    "lease",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Name(64), nullable=False, unique=True),
    Column("holder", Name(255), nullable=False),
    Column("beats", Integer, nullable=False),
    sqlite_autoincrement=True,
)

#: what compilers said in runs, as blobs.py packs it, by the digest that ``run.log`` is; empty where a folder has it
build_log = Table(
    "build_log",
    metadata,
    Column("digest", Name(64), primary_key=True),
    Column("content", Content, nullable=False),
)

#: a zip that was handed in, once for all who hand it in; empty where all of them withdrew it
package = Table(
    "package",
    metadata,
    Column("id", Id, primary_key=True),
    Column("digest", Name(64), nullable=False, unique=True),
    Column("size", Integer, nullable=False),
    Column("content", Content, nullable=False),
)

#: a package that somebody handed in, found by the SHA-256 of the token in its private link; see submissions.py.
#: ``found`` is what is in it, as JSON
submission = Table(
    "submission",
    metadata,
    Column("id", Id, primary_key=True),
    Column("token", Name(64), nullable=False, unique=True),
    Column("package_id", ForeignKey("package.id"), nullable=False, index=True),
    Column("previous_id", ForeignKey("submission.id")),  # an older version of the same, and the first of them
    Column("first_id", ForeignKey("submission.id")),
    Column("name", Name(255), nullable=False),
    Column("found", LongText, nullable=False),
    Column("licence", LongText, nullable=False),
    Column("address", Name(64), nullable=False),
    Column("state", Name(16), nullable=False),
    Column("created", UtcTime, nullable=False),
    Index(None, "address", "created"),
    sqlite_autoincrement=True,
)

#: a run that a package waits for; see queue.py. The record stays here, as JSON, until the package is published.
job = Table(
    "job",
    metadata,
    Column("id", Id, primary_key=True),
    Column("identity", Name(64), nullable=False, unique=True),
    Column("package_id", ForeignKey("package.id"), nullable=False, index=True),
    Column("run_id", ForeignKey("run.id")),
    Column("task", LongText, nullable=False),
    Column("target", Name(255), nullable=False),
    Column("priority", Number, nullable=False),
    Column("state", Name(16), nullable=False),
    Column("attempts", Number, nullable=False),
    Column("detail", LongText, nullable=False),
    Column("ready", UtcTime, nullable=False),
    Column("record", LongText),
    Column("log", LongText),
    Index(None, "state", "priority", "id"),
    sqlite_autoincrement=True,
)

#: one try of a job: who made it, when, and what came of it; ``ended`` is NULL while it goes on
job_attempt = Table(
    "job_attempt",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job_id", ForeignKey("job.id"), nullable=False, index=True),
    Column("worker", Name(255), nullable=False),
    Column("begun", UtcTime, nullable=False),
    Column("ended", UtcTime),
    Column("outcome", Name(16), nullable=False),
    Column("detail", LongText, nullable=False),
    Column("log", LongText),
)

#: a process that takes jobs, on a machine; ``targets`` and ``boards`` are JSON, ``seen`` is by the database's clock
worker = Table(
    "worker",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Name(255), nullable=False, unique=True),
    Column("machine", Name(255), nullable=False),
    Column("targets", LongText, nullable=False),
    Column("boards", LongText, nullable=False),
    Column("version", Name(64), nullable=False),
    Column("seen", UtcTime, nullable=False),
)

#: what gets no jobs until an operator says so: ``target uno``, ``machine NAME``, ``board MACHINE/NAME``
hold = Table(
    "hold",
    metadata,
    Column("id", Id, primary_key=True),
    Column("subject", Name(255), nullable=False, unique=True),
    Column("operator", Name(64), nullable=False),
    Column("why", LongText, nullable=False),
    Column("since", UtcTime, nullable=False),
)

#: who may operate; see operators.py
operator = Table(
    "operator",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Name(64), nullable=False, unique=True),
    Column("password", Name(255), nullable=False),
    Column("created", UtcTime, nullable=False),
)

#: what lets somebody in, by the SHA-256 of its token: a session, or, of no operator, a link that makes one
admission = Table(
    "admission",
    metadata,
    Column("id", Id, primary_key=True),
    Column("token", Name(64), nullable=False, unique=True),
    Column("operator_id", ForeignKey("operator.id")),
    Column("created", UtcTime, nullable=False),
    Column("expires", UtcTime, nullable=False),
)

#: what lets a machine take jobs over HTTP, by the SHA-256 of its key, until an operator deletes it
worker_key = Table(
    "worker_key",
    metadata,
    Column("id", Id, primary_key=True),
    Column("token", Name(64), nullable=False, unique=True),
    Column("machine", Name(64), nullable=False, unique=True),
    Column("created", UtcTime, nullable=False),
)

#: what operators did, and who tried to sign in
audit = Table(
    "audit",
    metadata,
    Column("id", Id, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("operator", Name(64), nullable=False),
    Column("address", Name(64), nullable=False),
    Column("action", Name(64), nullable=False),
    Column("subject", Name(255), nullable=False),
    Column("detail", LongText, nullable=False),
    Index(None, "action", "address", "at"),
    sqlite_autoincrement=True,
)

#: as Alembic creates it; outside our metadata, so that Alembic ignores it
_revision = Table(
    REVISION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{REVISION_TABLE}_pkc"),
)


def create(connection: Connection) -> None:
    """Creates the tables that an empty or half-made database lacks, at the newest revision."""
    metadata.create_all(connection)
    _revision.create(connection, checkfirst=True)
    connection.execute(insert(_revision).values(version_num=HEAD))
