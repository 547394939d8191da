"""A package that is handed in for the tests, and its jobs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec.structs import replace

from steelyard.model.reasons import Failure
from steelyard.model.record import Record
from steelyard.store import Store
from steelyard.store.queue import DONE, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import ADDED, Desk, Given
from steelyard.store.task import Task
from tests.made_up import record

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


def result(digest: str, target: str = "a", name: str = "ref", failure: Failure | None = None) -> Record:
    """What becomes of these sources; their ROM tells them apart."""
    return record(f"toy1/{name}", digest=digest, target=target, failure=failure, rom=ord(digest))


def handed_in(
    store: Store,
    digest: str,
    previous: str = "",
    *,
    zip: str = "",
    name: str = "ref",
    targets: str = "a",
    public: bool = True,
    failure: Failure | None = None,
    licence: str = "MIT",
) -> str:
    """Hands in a zip of these sources, another one where it is said which; weighs it on the targets, and publishes
    it."""
    content, found = (zip or digest).encode(), GIVEN.found.replace('"ref"', f'"{name}"')
    given = replace(
        GIVEN, name=f"{zip or digest}.zip", content=content, found=found, previous=previous, licence=licence
    )
    wanted = [replace(t, sources=digest * 64, name=name) for t in tasks(given, targets)]
    token = Desk(store).hand_in(given, wanted, ROOM)
    weighed(store, targets, failure)
    if public:
        Desk(store).publish(token)
    return token


def added(store: Store, digest: str, licence: str = "of its sources") -> int:
    """Adds a package of these sources and weighs what is new; how many jobs that is."""
    given = replace(GIVEN, content=digest.encode(), licence=licence, address=f"me ({ADDED})")
    new = Desk(store).add(given, [replace(t, sources=digest * 64) for t in tasks(given, "a")])
    weighed(store)
    return new


def weighed(store: Store, targets: str = "a", failure: Failure | None = None) -> None:
    line = Queue(store, "w")
    for target in targets:
        with line.taken([target]) as taken:
            if taken is not None:
                t = taken.task
                line.close(taken, DONE, record=result(t.sources[0], target, t.name, failure))
