"""What a run leaves behind: the setup that makes it comparable, and the figures."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Literal

from msgspec import Struct, to_builtins
from msgspec.structs import astuple, replace

from .reasons import MACHINE, Failure, Reason

Operation = Literal["encrypt", "decrypt", "reject", "hash"]


class Toolchain(Struct, frozen=True):
    """What makes images: ``version`` is the compiler's own first line, ``sha256`` hashes compiler, binutils, libraries,
    specs and headers."""

    name: str
    version: str
    sha256: str


class Setup(Struct, frozen=True):
    """Everything that figures depend on. Two records are comparable when only what is compared differs."""

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
        """SHA-256 over all fields: the identity of a run in cache and store."""
        return hashlib.sha256(json.dumps(to_builtins(self), sort_keys=True).encode()).hexdigest()

    @property
    def label(self) -> str:
        """Short name for tables: variant/implementation."""
        return f"{self.variant}/{self.implementation}"


class Point(Struct, frozen=True):
    """Cycles of one call at one size; ``adlen`` and ``mlen`` in bytes."""

    operation: Operation
    adlen: int
    mlen: int
    cycles: int


class Verification(Struct, frozen=True, omit_defaults=True):
    """What was checked on the measured image.

    ``vectors`` calls were compared, ``skipped`` did not fit the target's memory. ``source`` names where
    expected values came from: ``package`` (its own KAT file), ``known`` (the digest table), or both. ``answers`` is
    the SHA-256 of all known-answer calls with their outputs where the variant is unknown: two packages with the same
    confirm each other.
    """

    source: str
    vectors: int
    ext_vectors: int
    skipped: int
    answers: str = ""


class Helper(Struct, frozen=True):
    """A member of libgcc or libc that the implementation pulls into the image; ``size`` in bytes."""

    member: str
    size: int


class Record(Struct, frozen=True, eq=False):
    """A finished run: figures, or the one reason why there are none.

    ``metrics`` maps documented metric names (docs/definitions.md) to numbers; ``unit`` follows from the
    name. ``origin`` is the path that the user named the package by, empty for bundled implementations.
    ``log`` is the digest of the compiler's and device's output in the blob store. ``seed`` is what the inputs of all
    calls but the known answers were derived from, with the sources' digest (:class:`..model.inputs.Inputs`).
    """

    setup: Setup
    failure: Failure | None
    metrics: dict[str, float]
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
    id: int | None = None

    def __eq__(self, other: object) -> bool:
        """Whether all but the ``id`` is the same: that is the store's."""
        return isinstance(other, Record) and astuple(replace(self, id=None)) == astuple(replace(other, id=None))

    __hash__ = None  # type: ignore[assignment]

    @property
    def ok(self) -> bool:
        """Whether the figures are those of a verified implementation."""
        return self.failure is None

    @property
    def final(self) -> bool:
        """Whether another try would end the same: a verified record, or a failure that is not the machine's doing.

        Off the simulator time limits and links are the machine's too.
        """
        if self.failure is None:
            return True
        shaky = self.setup.device != "simulator" and self.failure.reason in (Reason.PROTOCOL, Reason.RUNAWAY)
        return self.failure.reason not in MACHINE and not shaky
