"""Pages: they lead to each other, hold what the command line answers, and come in all formats."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sqlite3
import xml.etree.ElementTree as xml
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from openpyxl import load_workbook

from steelyard.cli.app import app
from steelyard.jobs import identity
from steelyard.model.campaign import Campaign
from steelyard.model.metric import metric_names
from steelyard.model.primitive import PRIMITIVES
from steelyard.model.reasons import Failure, Reason
from steelyard.publish import run
from steelyard.store import checking
from steelyard.web import campaigns, documents, layout, pages
from steelyard.web.markup import _ticks
from tests.made_up import record
from tests.web.conftest import RECORDS, Site, made

FIGURES = ("/figures/tradeoff", "/figures/throughput", "/figures/rom", "/figures/top", "/figures/history")


@pytest.fixture(scope="module")
def crawled(site: Site) -> dict[str, str]:
    return {address: page.text for address, page in site.crawl().items()}


def test_every_page_is_reached_and_every_link_leads_to_a_page(crawled: dict[str, str]) -> None:
    heads = {address.split("?")[0].strip("/").split("/")[0] for address in crawled}
    private = {"submissions"}  # which the menu has where a server takes them: test_submissions.py
    assert heads == {words[0] if words else "" for words in pages.ROUTES} - private
    for of in ("/families/toy", "/variants/toy1", "/implementations/toy1/ref", "/targets/uno", "/campaigns/first"):
        assert of in crawled


def test_each_number_leads_to_its_run(site: Site) -> None:
    table = site.page("/targets/uno")
    runs = [to for to in table.all("href", "a") if to.startswith("/runs/")]
    assert len(set(runs)) >= 5
    for to in set(runs):
        assert re.fullmatch(r"/runs/[0-9a-f]{16}/\d+", to)
        assert "to repeat: steelyard run" in site.page(to).text


@pytest.mark.parametrize("most", [5, 40, 2.6e12, 2.0**63])
def test_an_axis_has_some_round_numbers(most: float) -> None:
    assert 1 < len(ticks := _ticks(most)) <= 6
    assert 0 == ticks[0] < ticks[-1] <= most


def test_damaged_cycles_of_known_answers_hide_nothing_else(tmp_path: Path) -> None:
    whole = record("toy1/ref")
    with made(tmp_path / "results.db", replace(whole, vector_cycles=b"\0")) as store:
        page = Site(store).page(f"/runs/{whole.setup.key[:16]}")
    assert "cycles of every known answer cannot be read" in page.text
    assert "to repeat: steelyard run" in page.text
    assert "cycles_encrypt_mean" in page.text


def test_a_log_that_is_not_there_is_no_outage(tmp_path: Path) -> None:
    with made(tmp_path / "results.db", replace(record("toy1/ref"), log="5" * 64)) as store:
        site = Site(store)
        (log,) = [href for href in site.page(f"/runs/{store.runs()[0].setup.key[:16]}").all("href") if "/log" in href]
        page, answer = site.get(log), site.get("/api/v1/runs/1/log")
    assert (page.status, b"the log is missing" in page.body) == (404, True)
    assert (answer.status, json.loads(answer.body)) == (404, {"error": "run 1: its log is missing"})


@pytest.mark.parametrize(
    ("damage", "says"),
    [("UPDATE run SET reason = 'nonsense'", "record 1 failed with 'nonsense'"),
     ("UPDATE run SET seconds = 'x'", "seconds has a value of type float, str")],
)  # fmt: skip
def test_a_run_that_cannot_be_read_is_no_outage(tmp_path: Path, damage: str, says: str) -> None:
    place = tmp_path / "results.db"
    with made(place, record("toy1/ref"), record("toy2/ref")) as store, closing(sqlite3.connect(place)) as other:
        other.execute(f"{damage} WHERE id = 1")
        other.commit()
        reply = Site(store).get("/api/v1/runs")
    told = json.loads(reply.body)["error"]
    assert (reply.status, says in told, "steelyard db check" in told) == (500, True, True)
    assert str(tmp_path) not in told


@pytest.mark.parametrize(
    "damage",
    ["run SET host = x'ff'", "run SET finished = 'xx'", "run SET finished = 9223372036854775807",
     "run SET vectors = 'x'",
     "setup SET flags = x'ff'", "setup SET timing_model = x'ff'", "setup SET key = x'ff'",
     "implementation SET digest = x'ff'", "implementation SET primitive = 'crypto_odd'",
     "measurement SET whole = 'abc', fraction = NULL", "point SET cycles = 'abc'"],
)  # fmt: skip
def test_a_damaged_run_hides_no_other(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "results.db"
    with made(place, record("toy1/ref", digest="1"), record("toy2/ref", digest="2")) as store:
        with closing(sqlite3.connect(place)) as other:
            table = damage.partition(" ")[0]
            other.execute(f"UPDATE {damage} WHERE {'run_id' if table in ('measurement', 'point') else 'id'} = 1")
            other.commit()
        site = Site(store)
        for path in ("/", "/results", "/rank", "/targets/uno", "/variants/toy2", "/feed.atom"):
            reply = site.get(path)
            assert (path, reply.status, b"toy2" in reply.body) == (path, 200, True)
        assert [t.run for t in checking.check(store)] == [1]
    assert len([r for r in caplog.records if "run 1 cannot be read" in r.getMessage()]) <= 1


def test_an_implementation_in_a_folder_of_its_own_is_led_to(tmp_path: Path) -> None:
    """SUPERCOP's ``crypto_aead/V/I/J``."""
    to = "/implementations/toy1/them%2Fopt32"
    with made(tmp_path / "results.db", record("toy1/them/opt32")) as store:
        site = Site(store)
        assert to in site.page("/targets/uno").all("href", "a")
        assert "toy1/them/opt32" in site.page(to).text


def test_a_run_has_every_metric_with_its_definition(site: Site) -> None:
    newest = {r.setup.key: r for r in RECORDS}
    for key, r in newest.items():
        text = site.page(f"/runs/{key[:16]}").text
        for name in r.metrics:
            assert f"{name} " in text
            assert documents.definition(name, r.setup.primitive) in text
    for primitive in PRIMITIVES:
        assert [n for n in metric_names() if not documents.definition(n, primitive)] == []


def test_a_page_advises_what_pages_can_do(site: Site) -> None:
    """And no option of the command line, but in commands and documents."""
    led = set[str]()
    for at, page in site.crawl().items():
        if not at.startswith(("/claims", "/definitions", "/glossary", "/runs")):
            options = r"to (see|compare): |(?<!steelyard compare )--(where|columns|sources|mixed|all-runs)"
            assert not re.search(options, page.text), at
        led |= {to for to in page.all("href", "a") if "workload" in to}
    assert led
    assert all(site.get(to).status == 200 for to in led)


def test_what_a_table_is_sorted_by_is_in_it(site: Site) -> None:
    heads = [
        site.get(f"/tables/uno-crypto_aead.csv{sort}").body.decode().splitlines()[0].split(",")
        for sort in ("", "?sort=heap", "?sort=heap&columns=label")
    ]
    assert [h.count("heap") for h in heads] == [0, 1, 0]


def test_all_of_it_is_sorted_by_a_size(tmp_path: Path) -> None:
    some = (record(f"toy{n}/ref", digest=str(n), cycles=n, per_byte=10 - n) for n in (1, 2, 3))
    with made(tmp_path / "results.db", *some) as store:
        reply = Site(store).get("/results/results.csv?sort=encrypt@16/64")
    rows = list(csv.DictReader(io.StringIO(reply.body.decode())))
    assert [(r["variant"], r["encrypt@16/64"]) for r in rows] == [("toy3", "660"), ("toy2", "740"), ("toy1", "820")]


def test_a_runs_figures_stand_by_what_they_are_of() -> None:
    names = (
        "stack",
        "cycles_reject_mean",
        "energy_encrypt_modelled",
        "cycles_encrypt_mean",
        "rom",
        "encrypt_per_byte",
        "x",
    )
    shown = run.sheets(replace(record(), metrics=dict.fromkeys(names, 1)), ())[1]
    assert [line.cells[0] for line in shown.lines if line.cells[0] in names] == [
        "cycles_encrypt_mean", "cycles_reject_mean", "encrypt_per_byte", "rom", "stack", "energy_encrypt_modelled", "x",
    ]  # fmt: skip


def test_figures_without_known_answers_are_said_to_be_left_out(tmp_path: Path) -> None:
    unknown = Failure(Reason.NO_EXPECTED, "no known answers for mine")
    with made(tmp_path / "own.db", record(), record("mine/ref", failure=unknown)) as store:
        site = Site(store)
        assert "without known answers, so not ranked: mine/ref" in site.page("/rank").text
        for page in ("/rank", "/trade-offs", "/figures/rom"):
            assert "1 matching run, none of them verified." in site.page(f"{page}?what=mine").text
            assert "No stored run matches." in site.page(f"{page}?where=rom<0").text


def test_a_filter_hides_not_that_older_sources_are_left_out(tmp_path: Path) -> None:
    with made(tmp_path / "own.db", record(), record(digest="b"), record("toy2/ref")) as store:
        site = Site(store)
        for page in ("/tables", "/rank", "/trade-offs", "/figures/top"):
            for asked in ("", "?where=target==uno"):
                assert site.page(page + asked).text.count("1 row of revisions, or of older sources, compilers") == 1


def test_a_definition_is_that_of_the_primitive() -> None:
    """What block ciphers have otherwise defines nothing of others, and a row that refers to AEADs nothing at all."""
    for primitive in PRIMITIVES:
        block = primitive == "crypto_block"
        assert "supply voltage x current" in documents.definition("energy_encrypt_modelled", primitive)
        assert documents.definition("stack_encrypt", primitive).startswith("stack pointer at the rising edge")
        assert ("64 random keys" in documents.definition("cycles_encrypt_mean", primitive)) is block
        assert ("four calls of each operation" in documents.definition("ram_renner", primitive)) is block
        assert documents.definition("unaligned", primitive).startswith("data accesses"), "not the cause of cycles"


def test_what_failed_says_why_and_what_to_do(site: Site) -> None:
    bad = next(r for r in RECORDS if r.failure)
    text = site.page(f"/runs/{bad.setup.key[:16]}").text
    assert "vector 3: byte 4 differs" in text
    assert bad.failure is not None
    assert bad.failure.next_action in text
    assert "vector 3: byte 4 differs" in site.page("/targets/uno").text


def test_history_says_what_changed(site: Site) -> None:
    page = site.page("/implementations/toy1/ref")
    assert "History" in page.text
    assert "900 ▾ better" in page.text
    reply = next(to for to in page.all("href", "a") if "/history-uno-crypto_aead." in to and to.endswith(".csv"))
    lines = list(csv.DictReader(io.StringIO(site.get(reply).body.decode())))
    assert [line["subject"] for line in lines] == ["first", "compiler gcc 2"]
    assert [line["cycles_encrypt_mean"] for line in lines] == ["1000.0", "900.0"]
    figure = json.loads(site.get("/implementations/toy1/ref/history.vl.json").body)
    changed = [d.get("changed") for d in figure["data"]["values"] if d["target"].startswith("uno")]
    assert changed == [None, "compiler gcc 2"], "it is marked in the figure too"
    assert b"compiler gcc 2" in site.get("/implementations/toy1/ref/history.svg").body
    (line,) = page.all("points", "polyline")
    assert line == "0.0,1.0 48.0,11.0", "from 1000 down to 900"
    assert page.all("class", "a").count("spark") == 1


@pytest.mark.parametrize("where", ["", "target == uno", "rom < 800 and not variant ~ 'toy3*'"])
@pytest.mark.parametrize("columns", ["", "run,label,rom,encrypt@0/16"])
def test_tables_are_those_of_publish(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, columns: str
) -> None:
    made(tmp_path / "results.db", *RECORDS).close()
    asked = f"where={quote(where)}&columns={columns}"
    for ending in ("csv", "json"):
        out = tmp_path / f"out.{ending}"
        words = [
            "publish",
            "--where",
            where,
            *(["--columns", columns] if columns else []),
            "-o",
            str(out),
            "--db",
            str(tmp_path / "results.db"),
        ]
        app.main(words, standalone_mode=False)
        page = site.get(f"/results/results.{ending}?{asked}")
        if ending == "csv":
            assert page.body == out.read_bytes(), shlex.join(words)
        else:
            rows = [t["rows"] for t in (json.loads(page.body), json.loads(out.read_bytes())) for t in t]
            assert rows[0] == rows[1]


def test_a_run_that_is_named_stands_beside_newer_ones(site: Site) -> None:
    """As in publish: run 1 has another compiler than the last run of its name."""
    document = json.loads(site.get("/results/results.json?what=1+toy1/ref").body)
    runs = {r["run"] for table in document for r in table["rows"] if r["target"] == "uno"}
    newest = max(i for i, r in enumerate(RECORDS, 1) if (r.setup.label, r.setup.target) == ("toy1/ref", "uno"))
    assert runs == {1, newest}


def test_a_table_comes_in_every_format(site: Site) -> None:
    page = site.page("/targets/uno")
    files = {to.rpartition(".")[2]: to for to in page.all("href", "a") if "/uno-crypto_aead." in to}
    assert files.keys() == set(layout.TABLES) - {"ods"}
    replies = {ending: site.get(to) for ending, to in files.items()}
    assert {r.status for r in replies.values()} == {200}
    assert {e: r.kind for e, r in replies.items()} == {e: layout.TABLES[e] for e in files}
    lines = list(csv.DictReader(io.StringIO(replies["csv"].body.decode())))
    book = load_workbook(io.BytesIO(replies["xlsx"].body)).active
    assert book is not None
    assert [line["label"] for line in lines] == [
        "nocrypt/ref",
        "toy1/fast",
        "toy2/ref",
        "toy3/ref",
    ]
    assert replies["md"].body.decode().count("| toy") == 3
    assert book.max_row >= len(lines) + 1
    assert "\\begin{table}" in replies["tex"].body.decode()
    assert replies["parquet"].body[:4] == b"PAR1"
    assert len(json.loads(replies["json"].body)[0]["rows"]) == len(lines)


@pytest.mark.parametrize("address", FIGURES)
def test_a_figure_comes_with_its_table(site: Site, address: str) -> None:
    page = site.page(address)
    [image] = page.all("src", "img")
    assert xml.fromstring(site.get(image).body).tag.endswith("svg")
    spec = json.loads(site.get(image.replace(".svg", ".vl.json")).body)
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite")
    assert site.get(image.replace(".svg", ".png")).body.startswith(b"\x89PNG")
    table = csv.DictReader(io.StringIO(site.get(image.replace(".svg", ".csv")).body.decode()))
    assert len(list(table)) == len(spec["data"]["values"])


def test_calls_of_every_known_answer_are_drawn(site: Site) -> None:
    of = next(r for r in RECORDS if r.setup.workload.startswith("vectors"))
    page = site.page(f"/runs/{of.setup.key[:16]}")
    [image] = page.all("src", "img")
    assert site.get(image).status == 200
    points = csv.DictReader(io.StringIO(site.get(image.replace("vectors.svg", "points.csv")).body.decode()))
    assert len(list(points)) == 1089


def test_a_comparison_says_what_changed(site: Site) -> None:
    page = site.page(f"/compare?old=toy1/ref&new=toy2/ref&where={quote('target == bluepill')}")
    assert "1 setup compared" in page.text
    assert "toy1/ref -> toy2/ref" in page.text
    assert "+100.00 %" in page.text


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/rank?kind=pareto", "Pareto front"),
        ("/rank?kind=merit", "figure of merit"),
        ("/rank?kind=score", "sum of ranks"),
        ("/rank?kind=places&variants=yes", "place"),
        ("/rank?relative=toy2&by=rom", "toy2/ref = 100 %"),
        ("/tables?pivot=target", "by target"),
        ("/tables?sort=-rom&what=toy3", "toy3/ref"),
        ("/trade-offs?what=toy*", "Trade-offs"),
        ("/search?q=TOY1", "implementation toy1/fast"),
    ],
)
def test_what_is_asked_is_answered(site: Site, address: str, says: str) -> None:
    assert says in site.page(address).text


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/targets/unoo", 404, "did you mean uno"),
        ("/variants/toy11", 404, "did you mean toy1"),
        ("/families/toyy", 404, "did you mean toy"),
        ("/implementations/toy1/reff", 404, "did you mean toy1/ref"),
        ("/figures/tradeof", 404, "did you mean tradeoff"),
        ("/campaigns/frst", 404, "did you mean first"),
        ("/target", 404, "did you mean targets"),
        ("/targets/uno/nothing.csv", 404, "nothing is at"),
        ("/runs/" + "0" * 16, 404, "no run at"),
        ("/runs/zz", 404, "hexadecimal"),
        ("/runs/" + RECORDS[0].setup.key[:16] + "/17", 404, "no run at"),
        ("/tables?wher=x", 400, "did you mean where"),
        ("/tables?what=a&what=b", 400, "twice"),
        ("/tables?columns=romm", 400, "did you mean rom"),
        ("/tables?where=target+%3D+uno", 400, "write =="),
        ("/tables?where=" + "x" * 5000, 400, "at most 4000"),
        ("/tables?columns=" + ",".join(f"encrypt@{n}/0" for n in range(50)), 400, "at most 40"),
        ("/tables?what=" + "+".join(f"a{n}" for n in range(50)), 400, "at most 20"),
        ("/tables?where=" + "x" * 9000, 400, "too long"),
        ("/rank?kind=best", 400, "known: joint"),
        ("/rank?top=-1", 400, "from 1 to 10000"),
        ("/rank?top=" + "9" * 500, 400, "from 1 to 10000"),
        ("/compare?old=toy1/ref&new=nothing", 404, "no stored run matches"),
        ("/compare?old=toy1/ref&new=toyhash/ref", 400, "the old side is of crypto_aead, the new one of crypto_hash"),
    ],
)
def test_what_is_wrong_is_said(site: Site, address: str, status: int, says: str) -> None:
    assert says in site.page(address, status).text


def test_an_empty_database_has_pages(tmp_path: Path) -> None:
    with made(tmp_path / "empty.db") as store:
        site = Site(store)
        assert "No results yet" in site.page("/").text
        for words in pages.ROUTES:
            if "*" not in words:
                site.page("/" + "/".join(words))


def test_a_front_page_without_verified_results_has_no_heading_for_them(tmp_path: Path) -> None:
    with made(tmp_path / "results.db", next(r for r in RECORDS if r.failure)) as store:
        text = Site(store).page("/").text
    assert "Newest results" in text
    assert "Weighed last" not in text


def test_a_comparison_takes_the_workload_that_has_what_is_asked(tmp_path: Path) -> None:
    """As compare --columns: of two workloads of each side the one with calls of this size."""
    records = [
        record(f"toy{i}/ref", digest=str(i), load=w, per_byte=10 * i) for w in ("vectors", "default") for i in (1, 2)
    ]
    with made(tmp_path / "loads.db", *records) as store:
        page = Site(store).page("/compare?old=toy1/ref&new=toy2/ref&columns=encrypt@3/5")
        assert {"180", "260"} <= set(page.text.split())


def test_a_comparison_knows_how_well_a_boards_clock_is_known(tmp_path: Path) -> None:
    sides = [record(f"toy{i}/ref", digest=str(i), cycles=1e5 + 50 * i, clock_uncertainty=1000) for i in (1, 2)]
    with made(tmp_path / "clocks.db", *sides) as store:
        assert "within the noise on the one target" in Site(store).page("/compare?old=toy1/ref&new=toy2/ref").text


def test_a_campaign_means_what_run_takes_it_for() -> None:
    """Flags that are there twice are one set, and whole names are names."""
    asked = Campaign(
        implementations=("crypto_aead/ascon/asconaead128/fast",), targets=("uno",), flags=("-O3; -O3", "-O3")
    )
    [stored, missing] = campaigns.sheets(asked, [])
    assert [tuple(line.cells) for line in stored.lines] == [("uno", 0, 0, 1)]
    assert [line.cells[0] for line in missing.lines] == ["asconaead128/fast"]


def test_what_a_board_did_is_not_a_campaign_s(tmp_path: Path) -> None:
    asked = Campaign(implementations=("asconaead128/fast", "asconaead128/small"), targets=("uno",))
    kept = [record(f"asconaead128/{n}", family="ascon") for n in ("fast", "fast", "small")]
    lost = Failure(Reason.BOARD_LOST, "one: it is gone")
    boards = [replace(r, setup=replace(r.setup, device="board"), failure=lost) for r in kept[1:]]
    with made(tmp_path / "results.db", kept[0], *boards) as store:
        [stored, missing] = campaigns.sheets(asked, store.rows())
        assert [tuple(line.cells) for line in stored.lines] == [("uno", 1, 0, 1)]
        assert [line.cells[0] for line in missing.lines] == ["asconaead128/small"]
        elsewhere = [replace(record(f"asconaead128/{n}", family="ascon"), origin="mine") for n in ("fast", "small")]
        own = next(identity(i) for i in campaigns.bundled() if i.is_called("crypto_aead/ascon/asconaead128/small"))
        mine = replace(elsewhere[1], setup=replace(elsewhere[1].setup, implementation_digest=own))
        store.add(mine)
        store.add(replace(elsewhere[0], setup=replace(kept[0].setup), failure=Failure(Reason.COMPILE_TIMEOUT, "")))
        [all_of_it] = campaigns.sheets(asked, store.rows())
        assert [tuple(line.cells) for line in all_of_it.lines] == [("uno", 2, 0, 0)], "the same sources"
        store.add(replace(mine, origin="gone", failure=Failure(Reason.COMPILE_ERROR, "")))
        store.add(replace(elsewhere[1], origin="gone"))
        [still] = campaigns.sheets(asked, store.rows())
        assert [tuple(line.cells) for line in still.lines] == [("uno", 2, 0, 0)], "a path that has gone on"


def test_a_search_finds_digests(tmp_path: Path) -> None:
    """Of runs and of implementations, and denies neither."""
    mine = [record("toy1/ref", digest="d"), record("toy1/ref", digest="d", cycles=7.0)]
    with made(tmp_path / "results.db", *mine, record("toy2/ref", digest="e")) as store:
        site = Site(store)

        def found(text: str) -> tuple[list[str], bool]:
            page = site.page(f"/search?q={text}")
            links = [to for to in page.all("href", "a") if to.startswith(("/runs/", "/implementations/"))]
            return links, "Nothing is called so" in page.text

        key = mine[0].setup.key
        for text in (key[:8], key[:16].upper(), key):
            links, nothing = found(text)
            assert [to.split("/")[2] for to in links] == [key[:16]] * 2
            assert not nothing
        assert "run 2 run 1" in site.page(f"/search?q={key}").text, "the newest first"
        for text in ("d" * 8, "D" * 16, "d" * 64):
            assert found(text) == (["/implementations/toy1/ref"], False)
        for text in ("d" * 7, "ddddddde", "f" * 70, "dddddddd%25"):
            assert found(text) == ([], True)


def test_the_front_page_says_what_it_leaves_out(site: Site) -> None:
    assert "Of the 15 newest runs at most 12 implementations" in site.page("/").text


def test_an_implementation_s_page_says_which_of_several_sources_is_the_newer(tmp_path: Path) -> None:
    first, second = (replace(record(digest=d), origin=f"toy.zip (submission {d})") for d in "12")
    second = replace(second, finished=datetime(2026, 1, 2, tzinfo=UTC))
    for name, records, times in (("one", [first], 0), ("both", [first, second], 2)):
        text = Site(made(tmp_path / f"{name}.db", *records)).get("/implementations/toy1/ref").body.decode()
        assert len(re.findall(r"<td>2026-01-0[12] 00:00", text)) == times


def test_a_folded_line_has_its_headings(site: Site) -> None:
    """Where a text below it takes the table's head away, in a narrow window."""
    page = site.page("/targets/uno")
    assert page.all("data-heading", "td").count("outcome") == 1
    assert "ROM (bytes)" not in page.all("data-heading", "td")


def test_a_figure_of_one_workload_draws_no_other(tmp_path: Path) -> None:
    page = Site(made(tmp_path / "results.db", record())).page("/figures/vectors")
    assert "No run of workload vectors is among these, and it draws no other." in page.text
    assert page.all("src", "img") == []


def test_what_a_figure_leaves_out_is_said_below_it(tmp_path: Path) -> None:
    """Of a run of other sizes there are no points, and no RAM that gives its mark a size."""
    fast = record("toy1/fast", load="0/16,16/0", cycles=9)
    site = Site(made(tmp_path / "results.db", record("toy1/ref"), record("toy2/ref"), fast))
    for address in ("/figures/throughput", "/figures/tradeoff", "/trade-offs", "/targets/uno"):
        page = site.page(address)
        times = 2 if address == "/targets/uno" else 1
        assert page.text.count("Without all that it draws, so left out: toy1/fast on uno.") == times, address
    assert site.get("/targets/uno/figure-throughput-crypto_aead.csv").body.decode().count("toy1/ref") > 1
