"""Packages that want to do harm: what becomes of each is a result with a reason, and everybody else has theirs."""

from __future__ import annotations

import io
import re
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.building import script
from steelyard.farm import worker
from steelyard.store import Store, queue
from steelyard.web import app
from steelyard.web.makers import Here
from tests.conftest import the_target

from .conftest import Parsed, ask, harmless
from .handing_in import MARKUP, form, package
from .test_chaos import TAKING

pytestmark = pytest.mark.long
ESCAPES = "\x1b]0;title\x07\x1b[2J"
#: by name: what is added to each source, and what becomes of the run
HARM = {
    "compiles-for-ever": ('__asm__(".rept 2000000000\\n.endr");', "compile-timeout"),
    "fills-the-disk": ('__asm__(".section .rodata\\n.fill 4000000000, 1, 1\\n.text");', "compile-error"),
    "runs-for-ever": ("", "runaway"),
    "says-much": (f'#warning "{MARKUP} {ESCAPES}"', ""),
}  # fmt: skip


def harmful(name: str, more: str) -> bytes:
    """A bundled implementation with more in its sources; or with a loop that never ends."""
    if name != "runs-for-ever":
        return package(f"\n{more}\n".encode())
    old, out = zipfile.ZipFile(io.BytesIO(package())), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in old.namelist():
            archive.writestr(file, old.read(file).replace(b"while (--passes != 0)", b"while (1)"))
    return out.getvalue()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Any, Store]]:
    here = Here(str(tmp_path / "r.db"), TAKING)
    yield app.create(here), here._store
    here.close()


def weighed(store: Store) -> list[Any]:
    """What a worker says of all that waits."""
    said: list[Any] = []
    worker.work(store, ["uno"], said.append, threading.Event(), until_empty=True)
    return said


def test_each_harm_is_a_result_and_others_have_theirs(
    served: tuple[Any, Store], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    the_target("uno")
    pages, store = served

    def hand_in(name: str, content: bytes) -> str:
        body, kind = form(package=(f"{name}.zip", content), licence="MIT", rights="yes")
        taken = ask(pages, "/submissions", "POST", body, content_type=kind)
        assert taken.status == 303, taken.text
        return taken.headers["location"]

    good = hand_in("good", package())
    assert [d.state for d in weighed(store)] == ["done"]
    before = _without_tokens(ask(pages, good).text)
    monkeypatch.setattr(queue, "PAUSE", 0)
    for name, (more, reason) in HARM.items():
        content = harmful(name, more)
        link = hand_in(name, content)
        assert hand_in(name, content) != link, "a form that is sent again has a link of its own, and no run"
        with monkeypatch.context() as limits:
            if name == "compiles-for-ever":
                limits.setattr(script, "SECONDS", 5.0)
            said = weighed(store)
        assert said[-1].state in ("done", "failed"), said
        assert len(said) == (queue.ATTEMPTS if reason == "compile-timeout" else 1), said
        page = ask(pages, link)
        harmless(Parsed(page.text))
        assert reason in page.text
        assert ask(pages, f"{link}/publish", "POST").status == 303
        if name == "says-much":
            (record,) = [r for r in store.runs(variant="tinyjambu128v2") if r.origin.startswith(name)]
            log = ask(pages, f"/runs/{record.setup.key[:16]}/{_time(record)}/log")
            assert MARKUP in Parsed(log.text).text
            harmless(Parsed(log.text))
            assert not {"\x1b", "\x07"} & set(log.text)
    assert _without_tokens(ask(pages, good).text) == before, "nobody else's page changes"
    assert hand_in("good", package(b"\n/* new */\n"))
    assert [d.state for d in weighed(store)] == ["done"], "and others are still weighed"


def _without_tokens(page: str) -> str:
    """A page but for the token of its form, which is a new one each time."""
    return re.sub(r'(name="once" value=)"[\w-]{22}"', r"\1", page)


def _time(record: Any) -> int:
    return int(record.finished.timestamp() * 1_000_000) if record.finished else 0
