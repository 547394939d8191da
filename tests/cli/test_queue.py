"""``steelyard queue``: operating from the server's machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

from steelyard.store import Store
from steelyard.store.operators import Operators
from steelyard.store.queue import DONE, FAILED, Queue
from steelyard.store.submissions import Desk
from tests.made_up import record
from tests.store.test_queue import GIVEN, ROOM, tasks

from .conftest import Cli


def test_a_queue_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    with Store.open(tmp_path / "q.db") as store:
        token = Desk(store).hand_in(GIVEN, tasks(), ROOM)
        line = Queue(store, "m 1 x", "m")
        with line.taken("a") as taken:
            assert taken is not None
            line.close(taken, FAILED, "compiler-killed: by accident")

        def said(words: str, code: int = 0) -> str:
            result = cli(f"queue {words} --db q.db")
            assert result.code == code, result.err
            return re.sub(r"\s+", " ", result.out + result.err)

        assert "no worker that has the compiler of b" in said("list")
        assert "1 failed, 1 waiting" in said("list")
        assert "toy1/ref on a, is failed: compiler-killed" in said("why 1")
        assert "m 2" in said("why 1"), "the machine and when it was tried"
        assert "there is no job 7" in said("why 7", 2)
        said("pause target b --why upgraded")
        assert "b is paused: upgraded" in said("why 2")
        assert "upgraded" in said("workers")
        assert "target b is not paused" not in said("resume target b")
        assert "target b is not paused" in said("resume target b", 2)
        assert "name jobs, or give --failed" in said("repeat", 2)
        assert "1 job waiting" in said("repeat --failed")
        for _ in range(2):
            with line.taken("ab") as taken:
                assert taken is not None
                line.close(taken, DONE, record=record("toy1/ref", target=taken.task.target))
        said("repeat 1")
        assert [j["state"] for j in json.loads(cli("queue list --db q.db --json").out)[0]["rows"]] == ["waiting"]
        assert "published, 1 run of it" in said("release 1")
        assert "deleted, 1 run of it" in said("delete 1")
        assert Desk(store).find(token).state == "withdrawn"
        address = said("link --server https://lab.example/").split("https://lab.example/operate/begin/")[1]
        operators = Operators(store)
        assert operators.is_link(address.split()[0])
        deeds = operators.deeds()
        assert {d.action for d in deeds} == {"paused", "resumed", "repeated", "released", "deleted", "made a link"}
        assert all(d.operator.endswith("(command line)") for d in deeds if d.action != "made a link")
