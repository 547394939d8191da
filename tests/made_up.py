"""Records that nothing was run for: setups that differ in whatever a test asks for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from steelyard.model.reasons import Failure
from steelyard.model.record import Point, Record, Setup, Toolchain, Verification
from steelyard.model.workload import workload
from steelyard.store import Store


def record(
    label: str = "toy1/ref",
    *,
    primitive: str = "crypto_aead",
    family: str = "toy",
    digest: str = "a",
    target: str = "uno",
    flags: str = "-O3",
    load: str = "default",
    compiler: str = "gcc 1",
    harness: str = "h",
    origin: str = "",
    cycles: float = 1000.0,
    rom: int = 500,
    stack: int = 80,
    per_byte: int = 10,
    failure: Failure | None = None,
    **metrics: float,
) -> Record:
    """A verified record with points at its workload's sizes: 100 cycles and ``per_byte`` for each byte. ``load`` is a
    workload as ``--workload`` takes it."""
    variant, name = label.split("/", 1)
    asked = workload(load)
    setup = Setup(
        primitive, family, variant, name, digest * 64, target, "t" * 64, "simulator",
        Toolchain("gcc", compiler, "c" * 64), flags, asked.text, harness * 64, "model/1",
    )  # fmt: skip
    operation = "encrypt" if primitive == "crypto_aead" else "hash"
    sizes = asked.sizes if operation == "encrypt" else [(a, m) for a, m in asked.sizes if a == 0]
    points = tuple(Point(operation, a, m, 100 + per_byte * (a + m)) for a, m in sizes)  # type: ignore[arg-type]
    figures = {f"cycles_{operation}_mean": cycles, "rom": rom, "stack": stack, "ram_static": 0, "heap": 0}
    if len(points) > 3:
        figures |= {f"{operation}_per_byte": per_byte, f"{operation}_fixed": 100}
    return Record(
        setup,
        failure,
        {} if failure else figures | metrics,
        () if failure else points,
        verification=None if failure else Verification("known", 1089, 20, 0),
        origin=origin,
        host="here",
        finished=datetime(2026, 1, 1, tzinfo=UTC),
    )


def other_build(made: Record, *, target: bool = False) -> Record:
    """The record with another toolchain of the same version, or with other files of the target."""
    s = made.setup
    setup = (
        replace(s, target_digest="u" * 64) if target else replace(s, toolchain=replace(s.toolchain, sha256="d" * 64))
    )
    return replace(made, setup=setup)


def store(path: Path, *records: Record) -> list[int]:
    """Puts records into a database; their numbers."""
    with Store.open(path) as opened:
        return [opened.add(r) for r in records]
