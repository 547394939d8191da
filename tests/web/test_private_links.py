"""Private links stand in no address that anybody logs, but for those that the guide keeps out of logs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from steelyard.model import paths
from steelyard.store.submissions import Desk
from steelyard.web import address, app, wire
from steelyard.web.makers import Here
from steelyard.web.remote import Server
from tests.cli.conftest import Cli, cli

from .conftest import ask
from .handing_in import FOLDER, package
from .test_chaos import TAKING

__all__ = ["cli"]
API = "/api/v1/submissions"
ZIP = "application/zip"


def test_an_older_version_is_named_in_a_header(tmp_path: Path) -> None:
    here = Here(str(tmp_path / "r.db"), TAKING)
    pages = app.create(here)
    first = ask(pages, f"{API}?licence=MIT", "POST", package(), content_type=ZIP)
    link = msgspec.json.decode(first.text, type=wire.Taken).link
    newer = package(b"\n/* newer */\n")
    logged = ask(pages, f"{API}?licence=MIT&previous={quote(link)}", "POST", newer, content_type=ZIP)
    assert (logged.status, "unknown parameter 'previous'" in logged.text) == (400, True)
    taken = ask(pages, f"{API}?licence=MIT", "POST", newer, content_type=ZIP, steelyard_previous=link)
    token = msgspec.json.decode(taken.text, type=wire.Taken).link.rpartition("/")[2]
    found = Desk(here._store).find(token)
    assert (found and found.previous) == 1
    here.close()


def test_submit_sends_it_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, dict[str, str]]] = []

    def record(self: Server, path: str, *_: Any) -> bytes:
        sent.append((path, self._headers))
        return msgspec.json.encode(wire.Taken(f"/submissions/{'b' * 22}", False, wire.Found((), (), ())))

    monkeypatch.setattr(Server, "sent", record)
    link = f"https://lab.example/submissions/{'a' * 22}"
    assert cli(["submit", str(FOLDER), "--server", "http://h", "--licence", "MIT", "--previous", link]).code == 0
    [(path, headers)] = sent
    assert "a" * 22 not in path
    assert headers == {wire.PREVIOUS: "a" * 22}


def test_the_proxy_of_the_guide_logs_none() -> None:
    text = (paths.ROOT / "docs/guides/service.md").read_text(encoding="utf-8")
    [(pattern, inside)] = re.findall(r"location ~ (\S+) \{\n(.*?)\}", text, re.DOTALL)
    assert {"access_log off;", "error_log /dev/null;"} <= {line.strip() for line in inside.splitlines()}
    token = "a" * 22
    for private in (("submissions", token), ("operate", "begin", token), (*wire.ROOT, "submissions", token)):
        assert address.is_private(private)
        assert re.search(pattern, address.path(*private)), private
    assert not re.search(pattern, "/api/v1/runs")
