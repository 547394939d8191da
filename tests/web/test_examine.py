"""Profile and image of a run: of bundled sources as they were measured, and of no others."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as xml

import pytest
from msgspec.structs import replace

from steelyard.model import paths
from steelyard.model.profile import Profile
from steelyard.model.target import Target
from steelyard.sources import discover
from steelyard.web import examine
from tests.conftest import Bench
from tests.made_up import record
from tests.web.conftest import Site

TINY = paths.CIPHERS / "crypto_aead" / "tinyjambu" / "tinyjambu128v2" / "small"


def test_a_run_is_looked_into_once(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    [tiny] = discover(TINY).implementations
    record = bench.weigh(tiny, uno)
    site = Site(bench.store)
    at = f"/runs/{record.setup.key[:16]}"
    page = site.page(f"{at}/profile")
    assert "crypto_aead_encrypt" in page.text
    files = [to for to in page.all("href", "a") if "/profile/" in to]
    assert {site.get(to).status for to in files} == {200}
    monkeypatch.setattr(examine, "profile", None)  # it is kept now
    functions = list(csv.DictReader(io.StringIO(site.get(f"{at}/profile/profile.csv").body.decode())))
    parts = [int(float(f["cycles_in_itself"])) for f in functions]
    assert sum(parts[:-1]) == parts[-1] > 1000
    flame = site.get(f"{at}/profile/flame.svg")
    assert xml.fromstring(flame.body).tag.endswith("svg")
    symbols = list(csv.DictReader(io.StringIO(site.get(f"{at}/image/size.csv").body.decode())))
    assert float(symbols[-1]["both"]) == record.metrics["rom"]


def test_other_sources_than_those_here_are_not_run(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was run")

    [tiny] = discover(TINY).implementations
    record = bench.weigh(tiny, uno)
    site = Site(bench.store)
    monkeypatch.setattr(examine, "profile", never)
    monkeypatch.setattr(examine, "sizes", never)
    wrong = {
        "implementation_digest": "0" * 64, "harness": "0" * 64, "timing_model": "none/1", "device": "board",
        "family": "../tinyjambu", "primitive": "..", "target": "nowhere",
        "flags": "-O3 -wrapper /bin/sh,-c,id",
    }  # fmt: skip
    for field, value in wrong.items():
        other = replace(record, setup=replace(record.setup, **{field: value}))
        bench.store.add(other)
        for part in ("profile", "image"):
            reply = site.get(f"/runs/{other.setup.key[:16]}/{part}")
            assert reply.status in (200, 400), reply.body
            assert b"<svg" not in reply.body
            assert b"<table" not in reply.body


@pytest.mark.parametrize(
    "flag",
    ["-fplugin=x.so", "-fplugin-arg-x-y=z", "-fpass-plugin=x", "-wrapper", "x.c", "@x", "-ox", "-o", "-B.", "-Ix",
     "-specs=x", "-Wl,-Tx", "-Wa,--x", "-Wp,-MDx", "-include", "-Xlinker", "-fuse-ld=/x"],
)  # fmt: skip
def test_a_stored_flag_that_names_a_program_or_a_file_reaches_no_compiler(
    bench: Bench, uno: Target, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [tiny] = discover(TINY).implementations
    plan = bench.job(tiny, uno).plan
    made = record("tinyjambu128v2/small")
    monkeypatch.setattr(examine, "profile", lambda job, *_: Profile(" ".join(job.flags), (), {}, 0, 0))
    usual = "-O3 -flto -mcall-prologues -funroll-loops -DROUNDS=3 -std=gnu99 -fno-inline -Wno-all -fmax-errors=2"
    kept, _ = examine.profiled(replace(made, setup=replace(plan, flags=usual)))
    assert kept.label == usual
    with pytest.raises(examine.NotHereError, match="no compiler gets "):
        examine.profiled(replace(made, setup=replace(plan, flags=f"{usual} {flag}")))


def test_what_is_not_kept_right_is_made_again(bench: Bench, uno: Target) -> None:
    [tiny] = discover(TINY).implementations
    record = bench.weigh(tiny, uno)
    first, _ = examine.profiled(record)
    for file in (paths.home() / "cache" / "web").glob("*.json"):
        file.write_bytes(b"{")
    assert examine.profiled(record)[0] == first
