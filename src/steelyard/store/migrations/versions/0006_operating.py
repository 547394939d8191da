"""Adds what operating needs: attempts of jobs, workers, what is paused, who may sign in, and what they did."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from steelyard.store.types import Id, LongText, Name, UtcTime

revision = "0006"
down_revision = "0005"


def _text(name: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _tables() -> dict[str, list[Any]]:
    return {
        "job_attempt": [
            _text("job_id", Id), _text("worker", Name(255)), _text("begun", UtcTime), sa.Column("ended", UtcTime),
            _text("outcome", Name(16)), _text("detail", LongText), sa.Column("log", LongText),
            sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_job_attempt_job_id"),
        ],
        "worker": [
            _text("name", Name(255)), _text("machine", Name(255)), _text("targets", LongText),
            _text("boards", LongText), _text("version", Name(64)), _text("seen", UtcTime),
            sa.UniqueConstraint("name", name="uq_worker_name"),
        ],
        "hold": [
            _text("subject", Name(255)), _text("operator", Name(64)), _text("why", LongText), _text("since", UtcTime),
            sa.UniqueConstraint("subject", name="uq_hold_subject"),
        ],
        "operator": [
            _text("name", Name(64)), _text("password", Name(255)), _text("created", UtcTime),
            sa.UniqueConstraint("name", name="uq_operator_name"),
        ],
        "admission": [
            _text("token", Name(64)), sa.Column("operator_id", Id), _text("created", UtcTime),
            _text("expires", UtcTime),
            sa.UniqueConstraint("token", name="uq_admission_token"),
            sa.ForeignKeyConstraint(["operator_id"], ["operator.id"], name="fk_admission_operator_id"),
        ],
        "audit": [
            _text("at", UtcTime), _text("operator", Name(64)), _text("address", Name(64)), _text("action", Name(64)),
            _text("subject", Name(255)), _text("detail", LongText),
        ],
    }  # fmt: skip


def upgrade() -> None:
    """Adds the tables; MariaDB may have some, without their indexes, from a migration that a later step ended."""
    there = sa.inspect(op.get_bind()).get_table_names()
    for name, columns in _tables().items():
        if name not in there:
            key = sa.PrimaryKeyConstraint("id", name=f"pk_{name}")
            op.create_table(
                name, sa.Column("id", Id, nullable=False), *columns, key, sqlite_autoincrement=name == "audit"
            )
    op.create_index("ix_job_attempt_job_id", "job_attempt", ["job_id"], if_not_exists=True)
    op.create_index("ix_audit_action_address_at", "audit", ["action", "address", "at"], if_not_exists=True)


def downgrade() -> None:
    """Drops them, children before their parents; MariaDB may lack some already."""
    there = sa.inspect(op.get_bind()).get_table_names()
    for name in reversed(_tables()):
        if name in there:
            op.drop_table(name)
