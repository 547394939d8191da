"""Records to store, and a store to put them in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import URL

from steelyard.model.packed import pack
from steelyard.model.record import Helper, Point, Record, Setup, Toolchain, Verification
from steelyard.store import Store
from tests.store.servers import SERVERS, emptied

Make = Callable[..., Record]

RECORD = Record(
    setup=Setup(
        primitive="crypto_aead",
        family="ascon",
        variant="ascon128v12",
        implementation="opt32",
        implementation_digest="1" * 64,
        target="uno",
        target_digest="2" * 64,
        device="simulator",
        toolchain=Toolchain("avr-gcc", "avr-gcc (GCC) 5.4.0", "3" * 64),
        flags="-O2",
        workload="sizes",
        harness="4" * 64,
        timing_model="avr-1",
    ),
    failure=None,
    metrics={"rom": 2048, "cycles_per_byte": 731.5, "ratio": 2.0, "zero": 0, "big": 2**62},
    points=(Point("encrypt", 0, 16, 12345), Point("decrypt", 0, 16, 2**40, 2**40 + 7), Point("encrypt", 0, 16, 12346)),
    helpers=(Helper("libgcc.a(_mulsi3.o)", 20), Helper("libc.a(memcpy.o)", 18)),
    verification=Verification("package", 1089, 0, 3, "6" * 64),
    notes=("api.h lies one level up", "größer als nötig ∑ 🙂"),
    log="5" * 64,
    host="bench",
    seconds=1.25,
    finished=datetime(2026, 3, 29, 1, 59, 59, 123456, tzinfo=UTC),
    seed="größer",
    vector_cycles=pack([Point("encrypt", 0, 0, 900), Point("encrypt", 1, 0, 2**50)]),
    max_cycles=2**40,
)


@pytest.fixture
def make() -> Make:
    """Builds a record; fields of its setup and of the record itself can be given by name."""

    def build(**fields: object) -> Record:
        of_setup = {k: v for k, v in fields.items() if k in Setup.__struct_fields__}
        rest = {k: v for k, v in fields.items() if k not in of_setup}
        return replace(RECORD, setup=replace(RECORD.setup, **of_setup), **rest)  # type: ignore[arg-type]

    return build


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of this test's database."""
    return tmp_path / "results" / "steelyard.db"


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[str], URL]]:
    """Servers by name, started when they are asked for."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(SERVERS[name]()))


@pytest.fixture(params=["sqlite", *SERVERS])
def database(request: pytest.FixtureRequest, path: Path, servers: Callable[[str], URL]) -> str:
    """An empty database of each kind in turn, as ``Store.open`` takes it."""
    if request.param == "sqlite":
        return str(path)
    return emptied(servers(request.param)).render_as_string(hide_password=False)


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(path) as opened:
        yield opened
