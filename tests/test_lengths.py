"""A file has one idea: what grows beyond 500 lines is split. Tables are no code, and as long as they have to be."""

from __future__ import annotations

from tests.conftest import ROOT

MOST = 500
FOLDERS = ("src", "crates", "harness", "rtl", "tests", "oracles", "bench", "scripts")
CODE = {".py", ".rs", ".c", ".h", ".cpp", ".sv"}


def test_no_file_is_too_long() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in CODE]
    lines = {str(file.relative_to(ROOT)): file.read_bytes().count(b"\n") for file in files}
    assert len(lines) > 500
    assert {name: count for name, count in lines.items() if count > MOST} == {}
