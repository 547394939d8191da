"""The record of a run: the setup that makes it comparable, and the figures."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Literal, get_args

from msgspec import Struct, to_builtins
from msgspec.structs import astuple, replace

from .reasons import MACHINE, Failure, Reason

Operation = Literal["encrypt", "decrypt", "reject", "hash", "schedule_encrypt", "schedule_decrypt"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


class Toolchain(Struct, frozen=True):
    """The identity of a toolchain: ``version`` is the first line that the compiler prints, ``sha256`` covers compiler,
    binutils, libraries, specs and headers."""

    name: str
    version: str
    sha256: str


class Setup(Struct, frozen=True, omit_defaults=True):
    """Everything that figures depend on. Two records are comparable when they differ only in the compared fields.

    A field that a later version adds has a default, which is in no key: older runs keep theirs.
    """

    primitive: str
    family: str
    variant: str
    implementation: str
    implementation_digest: str
    target: str
    target_digest: str
    device: str
    toolchain: Toolchain
    flags: str
    workload: str
    harness: str
    timing_model: str

    @property
    def key(self) -> str:
        """SHA-256 over all fields that are not their defaults: the identity of a run in cache and store."""
        return hashlib.sha256(json.dumps(to_builtins(self), sort_keys=True).encode()).hexdigest()

    @property
    def label(self) -> str:
        """The short name for tables: ``variant/implementation``."""
        return f"{self.variant}/{self.implementation}"


class Point(Struct, frozen=True):
    """Cycles of one call at one size; ``adlen`` and ``mlen`` in bytes. ``counter`` is what the chip's own counter has
    for the same call, or the median of the same ones, where a pulse was compared with it."""

    operation: Operation
    adlen: int
    mlen: int
    cycles: int
    counter: int | None = None


class Verification(Struct, frozen=True, omit_defaults=True):
    """What was checked on the measured image.

    ``vectors`` known answers were compared, ``ext_vectors`` of the second set; ``skipped`` ones did not fit the
    target's RAM. ``source`` says where expected values came from: ``package`` (its own KAT file), ``known`` (the digest
    table), or both. ``answers`` is set for unknown variants: the SHA-256 of all known-answer inputs and outputs. Two
    packages with equal ``answers`` confirm each other.
    """

    source: str
    vectors: int
    ext_vectors: int
    skipped: int
    answers: str = ""


class Helper(Struct, frozen=True):
    """A member of libgcc or the C library that the implementation pulls into the image; ``size`` in bytes."""

    member: str
    size: int


class Record(Struct, frozen=True, eq=False):
    """A finished run: figures, or the reason why there are none.

    ``metrics`` maps metric names (docs/definitions.md) to numbers; :mod:`.metric` gives their units. ``origin`` is the
    path by which the user named the package, empty for bundled implementations. ``log`` is the digest of the compilers'
    output in the blob store. ``seconds`` is the time that the run took. ``seed`` and the sources' digest determine all
    inputs except the known answers (:class:`..model.inputs.Inputs`). ``vector_cycles`` are the cycles of every known
    answer, packed (:mod:`.packed`); older runs have none. ``max_cycles`` is what a call was allowed, where that was not
    the default; older runs do not say.
    """

    setup: Setup
    failure: Failure | None
    metrics: dict[str, int | float]  # a whole number stays one through JSON
    points: tuple[Point, ...] = ()
    helpers: tuple[Helper, ...] = ()
    verification: Verification | None = None
    notes: tuple[str, ...] = ()
    origin: str = ""
    log: str = ""
    host: str = ""
    seconds: float = 0.0
    finished: datetime | None = None
    seed: str = ""
    vector_cycles: bytes = b""
    max_cycles: int | None = None
    id: int | None = None

    def __eq__(self, other: object) -> bool:
        """Whether everything but the ``id``, which the store assigns, is equal."""
        return isinstance(other, Record) and astuple(replace(self, id=None)) == astuple(replace(other, id=None))

    __hash__ = None  # type: ignore[assignment]

    @property
    def ok(self) -> bool:
        """Whether the run is verified and has figures."""
        return self.failure is None

    @property
    def final(self) -> bool:
        """Whether another try would end the same way: a verified record, or a failure that the machine did not cause.

        Off the simulator, time limits and broken links are the machine's fault too.
        """
        if self.failure is None:
            return True
        shaky = self.setup.device != "simulator" and self.failure.reason in (Reason.PROTOCOL, Reason.RUNAWAY)
        return self.failure.reason not in MACHINE and not shaky
