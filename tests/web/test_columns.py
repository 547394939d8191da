"""Columns between versions: one that is new has one place, and no server that lacks it is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.analyse.rows import rows
from steelyard.model import row
from steelyard.store import queries, reading
from steelyard.web import api, wire
from steelyard.web.remote import Remote, Server
from tests.web.conftest import RECORDS, made

_NUMBER = frozenset({int, type(None)})


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Remote]:
    """A server of three runs, without sockets."""
    with made(tmp_path / "results.db", *RECORDS[:3]) as store:

        def sent(_: Server, path: str, body: bytes, __: str) -> bytes:
            return api.answer(store, tuple(path.split("/")[1:]), "", body)[2]

        monkeypatch.setattr(Server, "sent", sent)
        yield Remote("http://127.0.0.1")


def test_every_value_is_of_its_columns_kind() -> None:
    assert row.KINDS.keys() == row.CONTEXT.keys()
    for r in rows([replace(record, id=1) for record in RECORDS]):
        assert not [name for name, kinds in row.KINDS.items() if type(r[name]) not in kinds]


def test_every_filter_can_be_asked_of_a_server() -> None:
    assert queries.FILTERS.keys() <= set(wire.RunsAsked.__struct_fields__)


def test_a_new_column_of_numbers_is_answered_by_a_server(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    """As CONTRIBUTING has it: in the columns of rows, and in what is selected."""
    monkeypatch.setitem(row.CONTEXT, "resets", "resets")
    monkeypatch.setitem(row.KINDS, "resets", _NUMBER)
    monkeypatch.setitem(reading._TYPES, "resets", _NUMBER)
    monkeypatch.setattr(queries, "ROW", f"{queries.ROW.rstrip()}, run.ext_vectors AS resets")
    assert [r["resets"] for r in remote.rows()] == [20, 20, 20]


def test_of_a_column_that_an_older_server_lacks_nothing_is_known(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only of one that may be None, as that of older runs is."""
    before = {r["run"]: r for r in remote.rows()}
    monkeypatch.setitem(row.CONTEXT, "resets", "resets")
    monkeypatch.setitem(row.KINDS, "resets", _NUMBER)
    assert {r["run"]: r for r in remote.rows()} == {run: r | {"resets": None} for run, r in before.items()}
    texts: dict[str, tuple[row.Value, ...]] = {n: ("x",) for n, kinds in row.KINDS.items() if str in kinds}
    with pytest.raises(ValueError, match="no column run"):
        wire.Rows(texts, 1, None)
