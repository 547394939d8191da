"""Adds what is handed in: packages, submissions, and the jobs that they wait for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Content, Id, LongText, Name, UtcTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds three tables; MariaDB may have some, without their indexes, from a migration that a later step ended."""
    there = sa.inspect(op.get_bind()).get_table_names()
    if "package" not in there:
        op.create_table(
            "package",
            sa.Column("id", Id, nullable=False),
            sa.Column("digest", Name(64), nullable=False),
            sa.Column("size", sa.Integer, nullable=False),
            sa.Column("content", Content, nullable=False),
            sa.PrimaryKeyConstraint("id", name="pk_package"),
            sa.UniqueConstraint("digest", name="uq_package_digest"),
        )
    if "submission" not in there:
        op.create_table(
            "submission",
            sa.Column("id", Id, nullable=False),
            sa.Column("token", Name(64), nullable=False),
            sa.Column("package_id", Id, nullable=False),
            sa.Column("previous_id", Id),
            sa.Column("first_id", Id),
            sa.Column("name", Name(255), nullable=False),
            sa.Column("found", LongText, nullable=False),
            sa.Column("licence", LongText, nullable=False),
            sa.Column("address", Name(64), nullable=False),
            sa.Column("state", Name(16), nullable=False),
            sa.Column("created", UtcTime, nullable=False),
            sa.PrimaryKeyConstraint("id", name="pk_submission"),
            sa.UniqueConstraint("token", name="uq_submission_token"),
            sa.ForeignKeyConstraint(["package_id"], ["package.id"], name="fk_submission_package_id"),
            sa.ForeignKeyConstraint(["previous_id"], ["submission.id"], name="fk_submission_previous_id"),
            sa.ForeignKeyConstraint(["first_id"], ["submission.id"], name="fk_submission_first_id"),
            sqlite_autoincrement=True,
        )
    if "job" not in there:
        op.create_table(
            "job",
            sa.Column("id", Id, nullable=False),
            sa.Column("identity", Name(64), nullable=False),
            sa.Column("package_id", Id, nullable=False),
            sa.Column("run_id", Id),
            sa.Column("task", LongText, nullable=False),
            sa.Column("target", Name(255), nullable=False),
            sa.Column("priority", sa.Integer, nullable=False),
            sa.Column("state", Name(16), nullable=False),
            sa.Column("attempts", sa.Integer, nullable=False),
            sa.Column("detail", LongText, nullable=False),
            sa.Column("ready", UtcTime, nullable=False),
            sa.Column("record", LongText),
            sa.Column("log", LongText),
            sa.PrimaryKeyConstraint("id", name="pk_job"),
            sa.UniqueConstraint("identity", name="uq_job_identity"),
            sa.ForeignKeyConstraint(["package_id"], ["package.id"], name="fk_job_package_id"),
            sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_job_run_id"),
            sqlite_autoincrement=True,
        )
    op.create_index("ix_submission_address_created", "submission", ["address", "created"], if_not_exists=True)
    op.create_index("ix_submission_package_id", "submission", ["package_id"], if_not_exists=True)
    op.create_index("ix_job_package_id", "job", ["package_id"], if_not_exists=True)
    op.create_index("ix_job_state_priority_id", "job", ["state", "priority", "id"], if_not_exists=True)


def downgrade() -> None:
    """Drops them, children before their parents; MariaDB may lack some already."""
    there = sa.inspect(op.get_bind()).get_table_names()
    for name in ("job", "submission", "package"):
        if name in there:
            op.drop_table(name)
