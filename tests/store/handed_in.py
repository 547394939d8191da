"""A package that is handed in for the tests, and its jobs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk, Given
from steelyard.store.task import Task

FOUND: dict[str, list[dict[str, object]]] = {
    "implementations": [{
        "primitive": "crypto_aead", "family": "toy", "variant": "toy1", "name": "ref", "digest": "d" * 64,
        "interface": "nist", "files": 1, "bytes": {}, "kat": [], "known": True, "notes": [],
    }],
    "rejected": [], "licences": [],
}  # fmt: skip
GIVEN = Given("toy.zip", bytes(range(256)) * 400, json.dumps(FOUND), "MIT", "10.0.0.1")
ROOM = Quota()


def tasks(given: Given = GIVEN, targets: Sequence[str] = "ab") -> list[Task]:
    return [
        Task(
            package=given.digest, file=given.name, primitive="crypto_aead", family="toy", variant="toy1", name="ref",
            digest="d" * 64, target=t, flags=("-O3",), workload="kat",
        )
        for t in targets
    ]  # fmt: skip


def states(desk: Desk, token: str) -> list[str]:
    found = desk.find(token)
    assert found is not None
    return [j.state for j in desk.jobs(found)]
