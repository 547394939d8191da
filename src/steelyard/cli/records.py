"""Records and refused packages as tables and as JSON, for the verbs that show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import to_builtins

from ..analyse.files import SCHEMA
from ..model import paths
from ..model.implementation import Rejected
from ..model.record import Record
from ..publish.sheet import Sheet, plain


def refused(rejected: Sequence[Rejected]) -> list[Sheet]:
    """Packages that are none, and why, as a table; none where there are none."""
    lines = [(paths.short(r.path), str(r.failure.reason), r.failure.detail) for r in rejected]
    notes = tuple(dict.fromkeys(f"{r.failure.reason}: {r.failure.next_action}" for r in rejected))
    return [plain("Refused", "rejected", ("package", "reason", "detail"), lines, notes)] if lines else []


def document(records: Sequence[Record], rejected: Sequence[Rejected]) -> dict[str, object]:
    """What ``--json`` gives of a campaign: what ``compare`` reads again."""
    return {"schema": SCHEMA, "runs": [as_json(r) for r in records], "rejected": packages(rejected)}


def packages(rejected: Sequence[Rejected]) -> list[dict[str, str]]:
    """What ``--json`` gives of packages that are none."""
    return [
        {
            "path": paths.short(r.path),
            "reason": str(r.failure.reason),
            "detail": r.failure.detail,
            "next_action": r.failure.next_action,
        }
        for r in rejected
    ]


def as_json(r: Record) -> dict[str, Any]:
    """A record for ``--json``, without the cycles of every known answer."""
    data: dict[str, Any] = to_builtins(r, builtin_types=(datetime, bytes))
    del data["vector_cycles"]
    data["key"] = r.setup.key
    data["ok"] = r.ok
    if r.failure is not None:
        data["failure"]["next_action"] = r.failure.next_action
    return data
