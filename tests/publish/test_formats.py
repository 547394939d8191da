"""Every format returns what was written, read by an independent library."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from steelyard.model.errors import WorkError, printable
from steelyard.model.record import Point
from steelyard.publish import figure, formats, report
from steelyard.publish.figures import figure_names
from steelyard.publish.sheet import Column, Line, Sheet

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12)
NUMBER = st.none() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6).map(lambda x: round(x, 2))
COLUMNS = (Column("label", "implementation"), Column("rom", "ROM", "bytes", 2))


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    lines = [Line([draw(TEXT), draw(NUMBER)], (i,)) for i in range(draw(st.integers(0, 4)))]
    return Sheet(draw(TEXT), "label", COLUMNS, lines, notes=[draw(TEXT)])


def cells(sheet: Sheet) -> list[list[object]]:
    """What is to be read back, where a person may read it too."""
    return [[printable(c) if isinstance(c, str) else c for c in line.cells] for line in sheet.lines]


@pytest.mark.parametrize(
    ("text", "kept"),
    [("-O3 -flto", True), ("-1+cmd|' /C calc'!A0", False), ('-HYPERLINK("x")', False), ("=1", False), ("@f", False),
     ("\uff1dcmd|'x'!A0", False), ("\uff0d1|x!A", False), ("a;b", True), ("-2+3", False)],
)  # fmt: skip
def test_no_text_of_a_csv_is_a_formula_that_calls(text: str, kept: bool) -> None:
    """Nor one of its headings, which a pivot takes from names."""
    made = formats.render([Sheet("t", "t", [Column(text, "flags")], [Line([text])])], "csv").decode()
    for [cell] in csv.reader(io.StringIO(made)):
        assert cell == (text if kept else f"'{text}")


@pytest.mark.parametrize("separator", [";", "\n"])
def test_no_part_of_a_text_is_a_formula_where_other_separators_are_usual(separator: str) -> None:
    made = formats.render([Sheet("t", "t", [Column("a", "a")], [Line([f"x{separator}=1"])])], "csv").decode()
    assert "'=1" in made


def test_no_name_is_a_command_of_latex() -> None:
    """Nor an argument of what ends the line above it."""
    names = ("\\input{x}", "[\\input{x}]", "*", " [9cm]", "x}\\write18{ls}", "^^5cinput", "% a comment", "a\n\\bye")
    label, heads = "x}\\input{/etc/passwd}", [Column("a", "a"), Column("b", "b", "", 0)]
    made = formats.render(
        [Sheet(names[0], label, heads, [Line([n, 1], (1,)) for n in names], notes=names)], "tex"
    ).decode()
    assert "\\label{x-input-/etc/passwd-}" in made
    assert set(re.findall(r"\\([a-z]+)", made.split("\\midrule")[1].split("\\bottomrule")[0])) <= {
        "textbackslash", "textasciicircum",
    }  # fmt: skip
    assert not re.search(r"(\\\\[^\n]*|\\midrule)\n\s*[\[*]", made)


@given(sheets())
def test_csv(sheet: Sheet) -> None:
    back = list(csv.reader(io.StringIO(formats.render([sheet], "csv").decode(), newline="")))
    assert back[0] == ["label", "rom"]
    for have, (label, rom) in zip(back[1:], cells(sheet), strict=True):
        assert have[0].replace("'", "") == str(label).replace("'", "")
        assert have[0][:1] not in ("=", "+", "@")
        assert (None if have[1] == "" else float(have[1])) == rom


@given(sheets())
def test_json(sheet: Sheet) -> None:
    written = formats.render([sheet], "json").decode()
    [back] = json.loads(written)
    assert written == json.dumps([back], indent=1, ensure_ascii=False) + "\n"
    assert [[r["label"], r["rom"]] for r in back["rows"]] == [[*line.cells] for line in sheet.lines]
    assert [r["runs"] for r in back["rows"]] == [list(line.runs) for line in sheet.lines]


@given(sheets())
@settings(max_examples=20)
def test_xlsx_by_openpyxl(sheet: Sheet) -> None:
    import openpyxl

    [page] = openpyxl.load_workbook(io.BytesIO(formats.render([sheet], "xlsx"))).worksheets
    back = [list(r) for r in page.iter_rows(values_only=True, max_col=2, min_row=2, max_row=1 + len(sheet.lines))]
    assert (back if sheet.lines else []) == cells(sheet)


@given(sheets())
@settings(max_examples=20)
def test_ods_by_odfpy(sheet: Sheet) -> None:
    from odf import opendocument, table, teletype

    document = opendocument.load(io.BytesIO(formats.render([sheet], "ods")))
    [page] = document.getElementsByType(table.Table)
    rows = page.getElementsByType(table.TableRow)[1 : 1 + len(sheet.lines)]
    for row, (label, rom) in zip(rows, cells(sheet), strict=True):
        first, second = row.getElementsByType(table.TableCell)
        assert teletype.extractText(first) == " ".join(str(label).split(" ")) or " " in str(label)
        value = second.getAttrNS("urn:oasis:names:tc:opendocument:xmlns:office:1.0", "value")
        assert (None if value is None else float(value)) == rom


@pytest.mark.parametrize("values", [[1, 2, None], [1, 2.5, None], [1, "a", None]])
def test_parquet_of_numbers_without_digits(values: list[int | float | str | None]) -> None:
    import pyarrow.parquet as pq

    sheet = Sheet("t", "t", [Column("place", "place")], [Line([v]) for v in values])
    back = pq.read_table(io.BytesIO(formats.render([sheet], "parquet"))).to_pydict()["place"]
    assert back == ([str(v) if v else v for v in values] if "a" in values else values)


@given(sheets())
@settings(max_examples=20)
def test_parquet(sheet: Sheet) -> None:
    import pyarrow.parquet as pq

    back = pq.read_table(io.BytesIO(formats.render([sheet], "parquet")))
    assert [[r["label"], r["rom"]] for r in back.to_pylist()] == [[*line.cells] for line in sheet.lines]


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


@given(sheets())
def test_html(sheet: Sheet) -> None:
    parser = _Cells()
    parser.feed(formats.render([sheet], "html").decode())
    assert [r[0] for r in parser.rows[1:]] == [str(c[0]) for c in cells(sheet)]


@given(sheets())
def test_markdown_and_latex_keep_their_shape(sheet: Sheet) -> None:
    lines = [x for x in formats.render([sheet], "md").decode().split("\n") if x.startswith("|")]
    assert len(lines) == 2 + len(sheet.lines)
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", x)) for x in lines}) == 1
    tex = formats.render([sheet], "tex").decode()
    assert tex.count(r"\\ % run") == len(sheet.lines)
    body = tex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert len(re.findall(r"(?<!\\)&", body)) == len(sheet.lines)


#: what Markdown has signs for, and compilers and commands are full of
MARKS = st.text(st.sampled_from("ab1 \\`*_~$[]()<>&;#|-+.=!"), max_size=12).map(lambda t: " ".join(f"x{t}".split())[1:])


def shown(tokens: Sequence[Token]) -> str:
    """The text of inline Markdown; signs that became something else than text are missing in it."""
    return "".join(t.content for t in tokens if t.type == "text")


@given(MARKS, MARKS.filter(bool))
def test_markdown_shows_texts_as_they_are(label: str, note: str) -> None:
    sheet = Sheet("t", "t", COLUMNS, [Line([label, 1])], caption=note, notes=[note, 'workload ~ "gmu*"'])
    source = formats.render([sheet], "md").decode()
    read = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    kinds = [t.type for t in read if t.level == 0 and t.nesting >= 0]
    assert kinds == ["heading_open", "paragraph_open", "table_open", "paragraph_open", "paragraph_open"]
    inline = [shown(t.children or ()) for t in read if t.type == "inline"]
    assert inline == [
        "t",
        note.strip(),
        "implementation",
        "ROM (bytes)",
        label.strip(),
        "1.00",
        note.strip(),
        sheet.notes[1],
    ]
    assert 'workload ~ "gmu*"' in source, "a command may be copied from the source"


#: what a database of somebody else's may hold, and neither XML nor a terminal does
ODD = "to\x1b\x9b\u202e\ufffe\uffffy"
WRITTEN = r"to\x1b\x9b\u202e\ufffe\uffffy"
ODD_SHEET = Sheet(ODD, ODD, [*COLUMNS, Column("odd", ODD)], [Line([ODD, 1, ODD], (1,))], ODD, [ODD])


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_a_spreadsheet_is_xml_whatever_its_texts(ending: str) -> None:
    with zipfile.ZipFile(io.BytesIO(formats.render([ODD_SHEET], ending))) as z:
        texts = [z.read(name).decode() for name in z.namelist() if name.endswith(".xml")]
    assert all(minidom.parseString(text).documentElement is not None for text in texts)
    assert any(WRITTEN in text for text in texts)
    assert not set("".join(texts)) & set(ODD[2:-1])


@pytest.mark.parametrize("ending", ["md", "tex", "csv", "html"])
def test_a_text_sends_nothing_to_a_terminal(ending: str) -> None:
    text = formats.render([ODD_SHEET, ODD_SHEET], ending).decode()
    assert not set(text) & set(ODD[2:-1])
    plain = text.replace("\\\\", "\\").replace("\\textbackslash{}", "\\")
    assert plain.count(WRITTEN) >= (4 if ending == "csv" else 6)


def test_a_report_sends_nothing_to_a_terminal() -> None:
    rows = [{**r, "host": ODD, "label": ODD} for r in ROWS[:2]] + [ROWS[2] | {"detail": ODD}]
    page = report.page(report.compose(ODD, rows, (), lambda rows: {}, [ODD]))
    assert not set(page) & set(ODD[2:-1])


def test_a_figure_is_drawn_whatever_its_texts() -> None:
    """Else the library that draws ends the process."""
    made = figure.draw({"title": ODD, "data": {"values": [{"x": ODD}]}, "mark": "text"}, "svg").decode()
    assert minidom.parseString(made).documentElement is not None
    assert made.count(WRITTEN) >= 2


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkError, match="nothing was written"):
        formats.save(tmp_path / "no" / "x.csv", b"")


ROWS: list[dict[str, Any]] = [
    {
        "run": n, "label": f"ascon128v12/{name}", "variant": variant, "family": "ascon", "implementation": name,
        "primitive": "crypto_aead", "target": "uno", "device": "simulator", "flags": "-O3", "workload": "default",
        "compiler": "gcc 1", "harness": "h", "timing_model": "m", "outcome": outcome, "finished": "2026-01-01 00:00",
        "host": "here", "rom": 1000 + n, "ram": 100, "stack": 100, "cycles_encrypt_mean": 5000.0 * n,
    }
    for n, name, variant, outcome in (
        (1, "small", "a", "verified"), (2, "<b>", "b", "verified"), (3, "x", "c", "kat-mismatch"),
    )
]  # fmt: skip


@pytest.mark.parametrize("name", figure_names())
def test_a_figure_draws_and_has_its_table(name: str) -> None:
    kind = figure.load(name)
    points = {r["run"]: [Point("encrypt", 0, m, 100 * m + r["run"]) for m in (0, 16, 32)] for r in ROWS}
    data = figure.of_points(ROWS[:2], points) if kind.of_points else figure.of_records(ROWS[:2])
    svg = figure.draw(figure.specification(kind, data), "svg").decode()
    assert svg.startswith("<svg")
    assert svg.count("<path") > 4
    assert len(figure.table(kind, data).lines) == len(data)


def test_every_part_of_a_figure_has_its_own_axis_below() -> None:
    """A chart of all targets is metres long."""
    rows = [r | {"target": t} for t in ("uno", "due") for r in ROWS[:2]]
    for k, r in enumerate(rows):
        r["run"] = k
    points = {k: [Point("encrypt", 0, m, 100 * m + k + 1) for m in (0, 16, 32)] for k in range(len(rows))}
    for name in ("throughput", "vectors"):
        kind = figure.load(name)
        svg = figure.draw(figure.specification(kind, figure.of_points(rows, points)), "svg").decode()
        title = kind.spec["spec"]["encoding"]["x"]["title"]
        assert svg.count(f">{title}</text>") == 2


def test_a_name_that_stands_off_its_mark_is_joined_to_it() -> None:
    kind = figure.load("tradeoff")
    places = [(1, 1e6), *((1000 + n, 1000 - n) for n in range(9)), (1e6, 1)]
    close = [
        ROWS[0] | {"label": f"x/{n}", "run": n, "rom": x, "cycles_encrypt_mean": y} for n, (x, y) in enumerate(places)
    ]
    data = figure.specification(kind, figure.of_records(close))["data"]["values"]
    far = sum(d["front"] and abs(d["dy"]) > 11 for d in data)
    svg = figure.draw(figure.specification(kind, figure.of_records(close)), "svg").decode()
    assert far > 0
    assert svg.count('stroke="#777777"') == far


def test_a_report_is_whole_and_asks_for_nothing() -> None:
    rows = [*ROWS[:2], ROWS[2] | {"detail": "vector 5 differs"}]
    page = report.page(report.compose("Mine & yours", rows, (), lambda rows: {}))
    assert "Mine &amp; yours" in page
    assert "<b>" not in page
    assert "vector 5 differs" in page
    assert 'data-run="2"' in page
    outside = set(re.findall(r"""(?:src|href|url\()\s*=?\s*["']?(https?:[^"')\s]*)""", page))
    assert outside == set()
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
