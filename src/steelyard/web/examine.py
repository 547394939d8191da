"""Where the cycles and bytes of a run are: asked of the pipeline, where its bundled sources are here as they were
measured. The answer is kept, for the setup's key says that it stays so."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..inside import profile, sizes
from ..model import paths, whole
from ..model.call import DeviceError
from ..model.errors import UserError, cut
from ..model.primitive import PRIMITIVES
from ..model.profile import Profile
from ..model.record import Record
from ..model.target import load_target, target_names
from ..model.workload import workload
from ..pipeline import Job, identity, nocrypt
from ..sources import discover

T = TypeVar("T")


class NotHereError(UserError):
    """A run cannot be looked into here; the text says why."""


#: associated data and message of the call that is looked into, bytes
CALL = (16, 64)
#: flags that a compiler gets whoever stored them: no program and no plugin is named in them, and no path
_FLAGS = re.compile(r"-(?:O\w*|g\w*|std=[\w+]+|[DU][\w=.+-]+|[fmW](?!.*plugin)[\w=.+-]*)")
_AGAIN = "steelyard profile and size do it where the sources are"
#: by image, then symbol, kind and bytes
Bytes = dict[str, list[tuple[str, str, int]]]


def profiled(record: Record) -> tuple[Profile, str]:
    """Where the cycles of one call go, and what was called. Raises :class:`NotHereError` where it cannot be said."""
    offer = PRIMITIVES.get(record.setup.primitive)
    if offer is None:
        raise NotHereError(f"this version does not know {record.setup.primitive}")
    name, op = offer.first, offer.operations[offer.first]
    adlen, mlen = (CALL[0] if name == "encrypt" else 0, CALL[1]) if offer.sized else (0, 0)
    found = _kept(record, f"{name}-{adlen}-{mlen}", Profile, lambda job: profile(job, op, adlen, mlen))
    return found, f"{name} of {adlen}/{mlen} bytes" if offer.sized else f"{name} of one block"


def image(record: Record) -> dict[str, dict[tuple[str, str], int]]:
    """The bytes of each symbol in each image, minus nocrypt's. Raises as :func:`profiled`."""

    def asked(job: Job) -> Bytes:
        return {part: [(*of, n) for of, n in found.items()] for part, found in sizes(job).items()}

    return {part: {(s, k): n for s, k, n in of} for part, of in _kept(record, "sizes", Bytes, asked).items()}


def _kept(record: Record, what: str, kind: Any, ask: Callable[[Job], T]) -> T:
    """An answer of the pipeline from the cache, or a new one. The workload changes nothing about it."""
    name = hashlib.sha256(f"{record.setup.key} {what}".encode()).hexdigest()
    file = paths.home() / "cache" / "web" / f"{name}.json"
    with suppress(OSError, msgspec.DecodeError):
        found: T = msgspec.json.decode(file.read_bytes(), type=kind)
        return found
    try:
        made = ask(_job(record))
    except DeviceError as e:
        raise NotHereError(f"{e.failure.reason}: {e.failure.detail}; {_AGAIN}") from e
    with suppress(OSError):  # the next who asks waits again
        whole.put(file, msgspec.json.encode(made))
    return made


def _job(record: Record) -> Job:
    """The job that would make the same record here."""
    s = record.setup
    if record.failure is not None:
        raise NotHereError(f"run {record.id} has no verified figures, so there is nothing to look into")
    if s.device != "simulator" or s.target not in target_names():
        raise NotHereError(f"only simulated runs can be looked into; this one is of device {s.device}")
    target = load_target(s.target).using(s.toolchain.name)
    if s.variant == "nocrypt":
        sources = [nocrypt(s.primitive)] if s.primitive.startswith("crypto_") else []
    else:
        folder = paths.CIPHERS / s.primitive / s.family
        inside = Path(s.family).name == s.family and Path(s.primitive).name == s.primitive and folder.is_dir()
        sources = list(discover(folder).implementations) if inside and ".." not in (s.family, s.primitive) else []
    for found in sources:
        if identity(found) == s.implementation_digest:
            break
    else:
        raise NotHereError(f"the sources of this run are not bundled with this version; {_AGAIN}")
    if others := [f for f in s.flags.split() if not _FLAGS.fullmatch(f)]:
        raise NotHereError(
            f"no compiler gets {cut(others[0], 60)} from a database: it may name a program or a file; {_AGAIN}"
        )
    job = Job(found, target, tuple(s.flags.split()), workload("kat"))
    now = msgspec.structs.replace(job.plan, workload=s.workload)
    if now.key != s.key:
        raise NotHereError(f"compiler, harness or model have changed since this run; weigh it again, or {_AGAIN}")
    return job
