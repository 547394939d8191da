"""Numbers in docs/validation and docs/claims.md are those of the files beside them."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import linear_regression, median

import fidelity_errors as quoted
import fidelity_pages as pages
import pytest
from zero_wait import CORES, ready

from steelyard.analyse.errors import published
from steelyard.device import timing_model
from steelyard.model.target import load_target

DOCS = Path(__file__).parents[1] / "docs"
Row = dict[str, str]
Test = Callable[[Row], bool]
UNO, LTO = "uno-ascon-tinyjambu", "uno-ascon-tinyjambu-lto"
NANO, NANO_LTO = "nano-every-ascon-tinyjambu", "nano-every-ascon-tinyjambu-lto"
ARM, ESP = "arm-ascon-tinyjambu", "esp8266-ascon-tinyjambu"


@cache
def table(name: str) -> tuple[Row, ...]:
    with (DOCS / "validation" / f"{name}.csv").open(newline="") as f:
        return tuple(csv.DictReader(f))


def chosen(name: str, *tests: Test) -> list[Row]:
    return [r for r in table(name) if all(t(r) for t in tests)]


def having(**values: str | Iterable[str]) -> Test:
    """Rows whose columns have this value, or one of these."""
    return lambda r: all(r[n] == v if isinstance(v, str) else r[n] in v for n, v in values.items())


def time(low: float, high: float = math.inf) -> Test:
    """Published milliseconds."""
    return lambda r: low <= float(r["published_us"]) / 1000 < high


def errors(rows: Sequence[Row]) -> list[float]:
    return [float(r["error_percent"]) for r in rows]


def raw(rows: Sequence[Row], cycles: str) -> list[float]:
    """Cycles at 16 MHz against the published time, percent."""
    return [100 * (float(r[cycles]) / 16 / float(r["published_us"]) - 1) for r in rows]


def spread(values: Iterable[float], *digits: int) -> str:
    """Median, 95th percentile (the smallest that 95 % do not exceed) and maximum of absolute values."""
    sizes = sorted(map(abs, values))
    of = (median(sizes), sizes[math.ceil(0.95 * len(sizes)) - 1], sizes[-1])
    return " / ".join(f"{v:.{d}f}" for v, d in zip(of, digits, strict=True))


def lines(page: str) -> list[list[str]]:
    """Cells of all tables of a page, without emphasis."""
    text = (DOCS / "validation" / f"{page}.md").read_text(encoding="utf-8").replace("**", "").replace("`", "")
    return [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def words(path: str) -> str:
    return " ".join((DOCS / path).read_text(encoding="utf-8").split())


MS = {"< 5 ms": time(0, 5), "5 to 50 ms": time(5, 50), "> 50 ms": time(50)}
RHYS = having(kind="asm", implementation="rhys")
O12 = having(configuration=("O1", "O2"))
HASH = having(variant=("asconhashv12", "asconhashav12", "asconxofv12", "asconxofav12"))
TINY = having(variant=("tinyjambu128v2", "tinyjambu192v2", "tinyjambu256v2"))
UNMASKED: Test = lambda r: r["implementation"] != "rhys_masked"  # noqa: E731
ELSEWHERE: Test = lambda r: (r["variant"], r["implementation"]) != ("ascon128v12", "avr_lowsize")  # noqa: E731


def uno() -> Iterable[list[str]]:
    for build, name in (("Steelyard", UNO), ("LTO", LTO)):
        for kind in ("asm", "C"):
            for ms, test in MS.items():
                if rows := chosen(name, having(kind=kind.lower()), test):
                    shown = spread(raw(rows, "simulated_cycles"), 2, 2, 2)
                    yield [build, kind, ms, str(len(rows)), shown, spread(errors(rows), 3, 2, 2)]
    for label, tests in (
        ("ascon hash and xof, rhys, O1 O2", (RHYS, HASH, O12)),
        ("tinyjambu rhys, O1 O2", (RHYS, TINY, O12)),
        ("all rhys, O1 O2 O3", (RHYS, having(configuration=("O1", "O2", "O3")))),
        ("all rhys, Os", (RHYS, having(configuration="Os"))),
        ("ascon128v12 avr_lowsize", (having(variant="ascon128v12", implementation="avr_lowsize"),)),
    ):
        parts = [spread(errors(chosen(LTO, *tests, ms)), 3, 2, 2) for ms in (time(0, 5), time(5))]
        yield [label, "; ".join(parts)]


def nano() -> Iterable[list[str]]:
    for kind in ("asm", "C"):
        for ms, test in MS.items():
            if rows := chosen(NANO, having(kind=kind), test, ELSEWHERE if kind == "asm" else lambda _: True):
                some = errors(rows)
                yield [kind, ms, str(len(rows)), f"{median(some):.2f}", spread(some, 2, 2, 2)]
    odd = chosen(NANO, lambda r: not ELSEWHERE(r))
    yield ["asm, ascon128v12 avr_lowsize", "all", str(len(odd)), f"{median(errors(odd)):+.1f}", "see below"]
    fast = having(config=("o1", "o2"))
    for label, tests, ms in (
        ("all", (), "< 5 ms"),
        ("O1 O2", (fast,), "< 5 ms"),
        ("all", (), "5 to 50 ms"),
        ("O1 O2", (fast,), "5 to 50 ms"),
        ("hash and xof, O1 O2", (fast, having(primitive="crypto_hash")), "5 to 50 ms"),
    ):
        rows = chosen(NANO_LTO, *tests, MS[ms])
        yield [label, ms, str(len(rows)), spread(raw(rows, "cycles"), 2, 2, 2), spread(errors(rows), 3, 2, 2)]


def arm() -> Iterable[list[str]]:
    for target, label, test in (
        ("mkrzero", "rhys (C that hardly depends on the compiler)", having(implementation="rhys")),
        ("mkrzero", "other C", lambda r: r["implementation"] != "rhys"),
        ("nrf52840", "asm", having(kind="asm")),
        ("nrf52840", "C", having(kind="C")),
        ("due", "asm", having(kind="asm")),
        ("due", "asm, O2 O3 Os", having(kind="asm", config=("o2", "o3", "os"))),
        ("due", "C", having(kind="C")),
    ):
        rows = chosen(ARM, having(target=target), test)
        yield [target, label, str(len(rows)), spread(errors(rows), 2, 2, 1)]


def esp8266() -> Iterable[list[str]]:
    for label, tests in (
        ("TinyJAMBU, ref opt rhys at O1", (TINY, having(config="o1"))),
        ("TinyJAMBU, all", (TINY,)),
        ("Ascon without rhys_masked", (UNMASKED, lambda r: not TINY(r))),
        ("both", (UNMASKED,)),
    ):
        rows = chosen(ESP, *tests)
        some = errors(rows)
        yield [label, str(len(rows)), f"{median(some):.2f}", spread(some, 2, 2, 1)]


@pytest.mark.parametrize(
    ("page", "made"),
    [("README", uno), ("nano-every", nano), ("arm", arm), ("esp8266", esp8266)],
)
def test_tables_are_those_of_their_files(page: str, made: Callable[[], Iterable[list[str]]]) -> None:
    printed = lines(page)
    assert [line for line in made() if line not in printed] == []


def test_errors_that_answers_quote_are_those_of_the_files() -> None:
    text = (DOCS / "validation" / "errors.csv").read_text()
    assert text == quoted.errors_csv(), "run bench/fidelity.py page"
    for line in csv.DictReader(text.splitlines()):
        of = next(of for of, code, *_ in quoted.QUOTED if (of().target, code) == (line["target"], line["code"]))().of
        assert [f"{float(line[n]):.4f}" for n in ("median_percent", "p95_percent")] == spread(of, 4, 4, 0).split(" / ")[
            :2
        ]


def test_errors_are_of_todays_models() -> None:
    """An error of a model that no record has any more would be carried by none."""
    assert [e for e in published() if e.timing_model != timing_model(load_target(e.target))] == []


def slopes(name: str, y: str, x: str, *tests: Test) -> dict[str, float]:
    """Slope of differences in column ``y`` against those in ``x`` between two variants of TinyJAMBU at equal sizes."""
    found = {}
    for a, b in (("128", "192"), ("128", "256"), ("192", "256")):
        at = {}
        for r in chosen(name, TINY, *tests):
            call = (r.get("op") or r.get("operation"), r["adlen"], r["mlen"])
            at[r["variant"][9:12], call] = (float(r[x]), float(r[y]))
        calls = [call for variant, call in at if variant == a]
        assert len(calls) in (8, 84)
        both = [[at[b, c][i] - at[a, c][i] for c in calls] for i in (0, 1)]
        found[f"{b}-{a}"] = linear_regression(*both).slope
    return found


def test_slopes_and_constants_of_the_pages() -> None:
    uno_page, nano_page, esp_page = (words(f"validation/{p}.md") for p in ("README", "nano-every", "esp8266"))
    by = {o: slopes(LTO, "published_us", "modelled_us", RHYS, having(configuration=o)) for o in ("O1", "O2", "Os")}
    two, one, small = by["O2"], sorted(by["O1"].values()), sorted(by["Os"].values())
    text = f"O2: {two['192-128']:.4f} (192-128), {two['256-128']:.4f} (256-128), {two['256-192']:.4f} (256-192); "
    assert f"{text}O1 {one[0]:.4f} to {one[-1]:.4f}, Os {small[0]:.4f} to {small[-1]:.4f}" in uno_page
    builds: dict[tuple[str, str, str], list[float]] = {}
    for r in chosen(LTO, having(kind="c")):
        long = [float(r["error_percent"])] * (float(r["published_us"]) > 20_000)
        builds.setdefault((r["variant"], r["implementation"], r["configuration"]), []).extend(long)
    typical = {key: median(map(abs, some)) for key, some in builds.items() if some}
    good, (variant, name, option) = sum(v < 0.1 for v in typical.values()), min(typical, key=lambda k: typical[k])
    text = f"{good} of {len(typical)} C builds have a median error below 0.1 % above 20 ms, the best"
    assert f"{text} {min(typical.values()):.3f} % ({variant} `{name}` {option})" in uno_page

    rhys = having(implementation="rhys")
    every = {
        o: slopes(NANO, "published_us", "cycles", rhys, having(config=o)).values() for o in ("o1", "o2", "o3", "os")
    }
    o2, rest = (sorted(16 * s for o in names for s in every[o]) for names in (("o2",), ("o1", "o3", "os")))
    text = f"{o2[0]:.4f} to {o2[-1]:.4f} at O2, {rest[0]:.4f} to {rest[-1]:.4f} at O1, O3 and Os"
    assert text in nano_page

    of = {
        (i, o): slopes(ESP, "published", "cycles", having(implementation=i, config=o)).values()
        for i, o in (
            ("ref", "o1"),
            ("ref", "o2"),
            ("ref", "os"),
            ("opt", "o1"),
            ("opt", "os"),
            ("rhys", "o2"),
            ("rhys", "o3"),
        )
    }
    rhys_ = sorted(s for (i, _), some in of.items() if i == "rhys" for s in some)
    assert {f"{s:.4f}" for (i, _), some in of.items() if i != "rhys" for s in some} == {"1.0000"}
    assert f"{rhys_[0]:.4f} to {rhys_[-1]:.4f} for `rhys` at O2 and O3" in esp_page
    same = chosen(ESP, TINY, having(config="o1"))
    [constant] = {int(r["published"]) - int(r["cycles"]) for r in same}
    ends = [f"{f(int(r['published']) for r in same):,}".replace(",", " ") for f in (min, max)]
    assert f"differ by {constant} in each of the {len(same)} calls, from {ends[0]} to {ends[1]} cycles" in esp_page


def claims(target: str) -> str:
    text = (DOCS / "claims.md").read_text(encoding="utf-8")
    return " ".join(re.split(r"\n## ", text.split(f"\n## {target} (")[1])[0].split())


def test_claims_are_those_of_the_files() -> None:
    best = median(map(abs, errors(chosen(LTO, RHYS, HASH, O12, time(5)))))
    slope = slopes(LTO, "published_us", "modelled_us", RHYS, having(configuration="O2"))
    worst = max(abs(s - 1) for s in slope.values())
    said = claims("uno")
    assert f"{len(table(UNO))} published times" in said
    assert f"the error is {best:.2f} % in the median above 5 ms" in said
    assert f"agree to {100 * worst:.2f} %" in said

    fast = having(config=("o1", "o2"))
    above, below = (spread(errors(chosen(NANO_LTO, fast, ms)), 2, 1, 1).split(" / ") for ms in (time(5), time(0, 5)))
    text = f"at O1 and O2 is {above[0]} % in the median above 5 ms (95 % within {above[1]} %) and {below[0]} % below"
    assert text in claims("nano-every")
    published = chosen("felics-ae", having(target="atmega128"))
    felics = [r for r in published if r["outcome"] == "verified"]
    equal = {n: sum(r[n] == r[f"ours_{n}"] for r in felics) for n in ("code_size", "code_ram", "code_time")}
    assert equal["code_size"] == equal["code_ram"] == len(felics)
    apart = max(100 * abs(int(r["ours_code_time"]) / int(r["code_time"]) - 1) for r in felics)
    most = f"{math.ceil(100 * apart) / 100} % apart"
    text = f"on all {len(felics)} rows that verify, of {len(published)}; "
    text += f"time is equal on {equal['code_time']} and at most {most}"
    assert text in claims("atmega128")
    verified = [r for r in table("felics-blocks") if (r["scenario"], r["outcome"]) == ("0", "verified")]
    assert all(equal_in(r, what) for r in verified for what in ("code", "stack", "data"))
    assert f"equal on all {len(verified)} rows of ciphers that verify" in claims("atmega128")
    far = math.ceil(1000 * max(apart_in(r, "cycles") for r in verified)) / 1000
    same = sum(equal_in(r, "cycles") for r in verified)
    text = f"the times of all four phases are equal on {same}, and their sum is at most {far} % apart on the others "
    assert text in claims("atmega128")
    zero = [r for r in pages.zero_waits() if r.rules == pages.TODAY]
    assert {r.model for r in zero} == {timing_model(ready(core)) for core in CORES}
    size = lambda kind, core: sorted(abs(r.error) for r in zero if kind in r.kind and r.core == core)  # noqa: E731
    assert f"fixsliced AES within {math.ceil(size('fixsliced', 'cortex-m3')[-1] * 20) / 20:.2f} %" in claims("bluepill")
    other = [*size("bitsliced", "cortex-m3"), *size("barrel", "cortex-m3")]
    assert f"other code without tables in flash within {max(other):.1f} %" in claims("bluepill")
    three, four = (size("tables", f"cortex-m{n}") for n in (3, 4))
    assert f"with tables in flash {three[0]:.0f} to {three[-1]:.0f} % too fast" in claims("bluepill")
    [x25519], [bitsliced] = size("X25519", "cortex-m4"), size("bitsliced", "cortex-m4")
    said = claims("stm32f407")
    assert f"X25519 +{x25519:.1f} %" in said
    assert (
        f"bitsliced AES +{bitsliced:.1f} %, AES with tables in flash {four[0]:.1f} to {four[-1]:.1f} % too fast" in said
    )
    assert f"within {four[-1]:.1f} %" in load_target("stm32f407").silicon


def figures_of(row: Row, what: str) -> list[tuple[int, int]]:
    """Ours and the published ones of a group of FELICS's block ciphers."""
    names = [n for n in row if n.startswith(f"{what}_")]
    return [(int(row[f"ours_{n}"]), int(row[n])) for n in names]


def equal_in(row: Row, what: str) -> bool:
    return all(mine == theirs for mine, theirs in figures_of(row, what))


def apart_in(row: Row, what: str) -> float:
    """By how many percent the sums differ."""
    mine, theirs = map(sum, zip(*figures_of(row, what), strict=True))
    return 100 * abs(mine - theirs) / theirs


def test_felics_blocks_page() -> None:
    page = words("validation/felics-blocks.md")
    zero, one = ([r for r in table("felics-blocks") if r["scenario"] == n] for n in "01")
    assert "nowhere more than 0.5 % apart" in page
    verified = [r for r in zero if r["outcome"] == "verified"]
    assert max(apart_in(r, "cycles") for r in verified) < 0.5
    by = {
        (r["cipher"], r["version"], r["options"]): {theirs - mine for mine, theirs in figures_of(r, "cycles")}
        for r in verified
    }
    present = {("02", "-O1"), *(("04", f"-O{n}") for n in "123")}
    assert {row for row, found in by.items() if not found <= {0, 1}} == {("PRESENT_64_80", *p) for p in present}
    assert all(by["PRESENT_64_80", *p] == {0, 32} for p in present)
    outcomes = Counter((r["cipher"].split("_")[0], r["outcome"]) for r in zero if r["outcome"] != "verified")
    assert outcomes == {
        ("Lilliput", "not run"): 24,
        ("PRIDE", "buffer-overrun"): 16,
        ("IdentityCipher", "implausible"): 16,
    }
    ran = [r for r in one if r["outcome"] == "verified"]
    more = {(r["cipher"].split("_")[1], p, int(r[f"code_{p}"]) - int(r[f"ours_code_{p}"])) for r in ran for p in "ed"}
    (d16, e16), (d8, e8) = ([n for b, _, n in sorted(more) if b == bits] for bits in ("128", "64"))
    assert f"{e8} bytes for encryption and {d8} for decryption with blocks of 8 bytes, {e16} and {d16} with 16" in page
    deeper = {
        (r["cipher"].split("_")[1], p, int(r[f"ours_stack_{p}"]) - int(r[f"stack_{p}"])) for r in ran for p in "ed"
    }
    assert sorted(deeper) == [("128", "d", 8), ("128", "e", 1), ("64", "d", 0), ("64", "e", 1)]
    assert "in encryption 1 byte more on every row, in decryption as much as theirs with blocks of 8 bytes" in page
    assert "and 8 bytes more with 16" in page
    assert "so do the data in all" in page
    assert all(r["data_total"] == r["ours_data_total"] for r in ran)
    slow = {p: [100 * (int(r[f"ours_cycles_{p}"]) / int(r[f"cycles_{p}"]) - 1) for r in ran] for p in "ed"}
    assert f"at most {max(map(abs, slow['e'])):.1f} % apart in encryption" in page
    assert f"up to {-min(slow['d']):.1f} % faster" in page
