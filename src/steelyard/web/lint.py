"""What is in a zip that somebody hands in, said before anything of it is compiled; and the runs that it asks for."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..jobs import identity
from ..model.errors import UserError, counted
from ..model.implementation import Implementation
from ..model.row import grouped
from ..model.target import load_target, target_names
from ..sources import discover, sizes
from ..sources.escape import escaped
from ..sources.limits import HANDED_IN
from ..store.task import Task
from ..verify import is_known
from .wire import Found, Offer, Refused

#: implementations in a zip, and runs that it may ask for
IMPLEMENTATIONS, RUNS = 40, 200
_LICENCE = re.compile(r"(licen[cs]e|copying|unlicen[cs]e|copyright)", re.IGNORECASE)
_NAME = 80


def safe(name: str) -> str:
    """A file's name without what could be more than a name: it is part of how implementations are called."""
    last = re.sub(r"[^A-Za-z0-9._+-]+", "-", re.split(r"[/\\]", name)[-1]).lstrip(".-")
    stem = last.removesuffix(".zip")[:_NAME]
    return f"{stem or 'package'}.zip"


def lint(content: bytes, file: str) -> Found:
    """What is in the zip called ``file``. Nothing of it is run."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        place = Path(folder, file)
        place.write_bytes(content)
        found = discover(place, limits=HANDED_IN, cache=Path(folder, "unpacked"))
        inside = f"{folder}/"
        offers = tuple(_offer(i) for i in found.implementations)
        rejected = tuple(
            Refused(str(r.path).replace(inside, ""), str(r.failure.reason), r.failure.detail, r.failure.next_action)
            for r in found.rejected
        )
        files = sorted(p for p in Path(folder, "unpacked").rglob("*") if _LICENCE.match(p.name) and p.is_file())
        licences = tuple(escaped("/".join(p.relative_to(folder).parts[2:])) for p in files)
    return Found(offers, rejected, licences[:20])


def _offer(i: Implementation) -> Offer:
    return Offer(
        i.primitive, i.family, i.variant, i.name, i.digest, i.interface, len(i.files), dict(sizes(i)),
        tuple(k.name for k in i.kat), is_known(i), i.notes, identity(i),
    )  # fmt: skip


def usual_targets() -> tuple[str, ...]:
    """The simulated targets that need not be asked for."""
    every = ((n, load_target(n)) for n in target_names())
    return tuple(n for n, t in every if t.device == "simulator" and not t.opt_in)


def tasks(found: Found, package: str, file: str, targets: Sequence[str]) -> list[Task]:
    """The runs of what was found, target by target. :class:`UserError` where there are none, too many, or two whose
    runs nobody could tell apart."""
    if not found.implementations:
        said = (f"{r.path}: {r.reason}: {r.detail}; {r.next_action}" for r in found.rejected[:5])
        why = "; ".join(text.removeprefix(f"{file}: ") for text in said)
        raise UserError(f"no implementation in {file}: {why}")
    count = len(found.implementations) * len(targets)
    if len(found.implementations) > IMPLEMENTATIONS or count > RUNS:
        raise UserError(
            f"{counted(len(found.implementations), 'implementation')} on {counted(len(targets), 'target')}; at most "
            f"{min(IMPLEMENTATIONS, RUNS // max(1, len(targets)))} are taken at once: hand in several zips"
        )
    for names, some in grouped(found.implementations, lambda i: (i.primitive, i.variant, i.name)).items():
        if len({i.digest for i in some}) > 1:
            called = f"packages called {'/'.join(names)} with other sources"
            raise UserError(f"{file} has {len(some)} {called}: hand each in as a zip of its own")
    return [
        Task(
            package=package, file=file, primitive=i.primitive, family=i.family, variant=i.variant, name=i.name,
            digest=i.digest, target=t, flags=load_target(t).toolchain.default_flags, workload="default",
            sources=i.sources,
        )
        for t in targets
        for i in found.implementations
    ]  # fmt: skip
