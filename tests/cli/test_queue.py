"""``steelyard queue``: operating from the server's machine."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from steelyard.farm import worker
from steelyard.model.errors import UserError
from steelyard.store import Store, schema
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators
from steelyard.store.queue import DONE, FAILED, Queue
from steelyard.store.submissions import PRIVATE, PUBLISHED, Desk
from steelyard.store.task import offered, task_of
from tests.made_up import record
from tests.store.handed_in import GIVEN, ROOM, tasks

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
        assert "toy1/ref on a, is done: verified" in said("why 1")
        said("repeat 1")
        assert [j["state"] for j in json.loads(cli("queue list --db q.db --json").out)[0]["rows"]] == ["waiting"]
        assert "published, 1 run of it" in said("release 1")
        assert "deleted, 1 run of it" in said("delete 1")
        assert Desk(store).find(token).state == "withdrawn"
        address = said("link --server https://lab.example/").split("https://lab.example/operate/begin/")[1]
        operators = Operators(store)
        assert "http://127.0.0.1:8017/operate/begin/" in said("link")
        assert "is not the address of a server" in said("link --server http://[x", 2)
        for port in (18017, 18017, 18018):
            operators.served(f"http://127.0.0.1:{port}")
        assert [d.subject[-5:] for d in operators.deeds() if d.action == "served"] == ["18018", "18017"]
        address = said("link").split("http://127.0.0.1:18018/operate/begin/")[1]
        assert operators.is_link(address.split()[0])
        deeds = operators.deeds()
        assert {d.action for d in deeds} == {
            "paused",
            "resumed",
            "repeated",
            "released",
            "deleted",
            "made a link",
            "served",
        }
        assert all(d.operator.endswith("(command line)") for d in deeds if d.action not in ("made a link", "served"))


def test_a_list_that_ends_early_says_so(cli: Cli, tmp_path: Path) -> None:
    with Store.open(tmp_path / "q.db") as store:
        some = [replace(t, name=f"i{k}") for k in range(101) for t in tasks(targets="abc")]
        Desk(store).hand_in(GIVEN, some, ROOM)
    said = cli("queue list --db q.db")
    assert "303 waiting" in said.out
    assert "of 303 jobs the first 300 are listed" in said.out


def test_a_campaign_waits_for_what_others_hand_in(cli: Cli, tmp_path: Path) -> None:
    """And is public as it comes; added again it is still the same."""
    with Store.open(tmp_path / "q.db") as store:
        words = "queue add tinyjambu128v2/small giftcofb128v1/small -t uno,bluepill --flags -O1 --db q.db --json"
        once, again = (json.loads(cli(words).out)[0]["rows"] for _ in range(2))
        assert {(r["variant"], r["new_jobs"]) for r in once} == {("giftcofb128v1", 2), ("tinyjambu128v2", 2)}
        assert {r["new_jobs"] for r in again} == {0}
        Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM)
        waiting = json.loads(cli("queue list --db q.db --json").out)[0]["rows"]
        assert waiting[0]["implementation"] == "toy1/ref"
        assert len(waiting) == 5
        assert [o.state for o in Yard(store).offers()] == [PRIVATE, PUBLISHED, PUBLISHED]
        with Queue(store, "m 1 x", "m").taken(["bluepill"]) as taken:
            assert taken is not None
            worker._job(taken, ["bluepill"], tmp_path, {})
            with pytest.raises(UserError, match="bluepill: no job on this was asked for"):
                worker._job(taken, ["uno"], tmp_path, {})
            line = Queue(store, "m 1 x", "m")
            line.close(taken, DONE, record=record(f"{taken.task.variant}/{taken.task.name}", target="bluepill"))
        (run,) = store.runs()
        assert run.origin.startswith(f"{taken.task.file} (submission ")
        assert cli("queue add tinyjambu128v2/small -t host --db q.db").code == 2


def test_a_folder_s_newer_sources_replace_its_own(cli: Cli, tmp_path: Path) -> None:
    """However the folder is called; what lies elsewhere under the same name stays, and so do the bundled ones."""
    bundled = Path(__file__).parents[2] / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/small"
    mine = [tmp_path / name / "crypto_aead/tinyjambu128v2/small" for name in ("a", "b")]
    for folder in mine:
        shutil.copytree(bundled, folder)
        (folder / "encrypt.c").write_text(f"{(folder / 'encrypt.c').read_text()}/* {folder} */")
    with Store.open(tmp_path / "q.db") as store:

        def added(what: str) -> int:
            said = cli(f"queue add {what} -t uno --db q.db --json").out
            return sum(r["new_jobs"] for r in json.loads(said)[0]["rows"])

        assert [added(w) for w in (f"{tmp_path}/a {tmp_path}/b tinyjambu128v2/small", "a", str(mine[0]))] == [3, 0, 0]
        before = (mine[0] / "encrypt.c").read_text()
        for text, new in (f"{before}/* newer */", 1), (before, 0):
            (mine[0] / "encrypt.c").write_text(text)
            assert added("a") == new
        shutil.make_archive("one", "zip", tmp_path / "a")
        shutil.make_archive("other", "zip", tmp_path / "b")
        assert (added("one.zip"), added("other.zip")) == (0, 0)
        shutil.copy("other.zip", "one.zip")
        added("one.zip")
        assert added("one.zip/crypto_aead") == 0
        (tmp_path / "now").symlink_to("a")
        assert added("now") == 0
        (tmp_path / "now").unlink()
        (tmp_path / "now").symlink_to("b")
        added("now/crypto_aead")
        lines = [(s.first, s.previous) for n in range(1, 11) if (s := Desk(store).of_number(n))]
    assert lines == [*[(None, None)] * 3, (1, 1), (1, 4), *[(None, None)] * 2, (6, 6), (None, None), (9, 9)]


def test_a_zip_goes_on_under_another_folder_at_its_top(cli: Cli, tmp_path: Path) -> None:
    """As a release does, whose folder has a version; where there are several, none is another's."""
    bundled = Path(__file__).parents[2] / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/small"

    def zipped(name: str, parts: dict[str, str]) -> None:
        shutil.rmtree(tmp_path / "in", ignore_errors=True)
        for part, text in parts.items():
            folder = tmp_path / "in" / part / "crypto_aead/tinyjambu128v2/small"
            shutil.copytree(bundled, folder)
            (folder / "encrypt.c").write_text(f"{(folder / 'encrypt.c').read_text()}/* {text} */")
        shutil.make_archive(name, "zip", tmp_path / "in")
        cli(f"queue add {name}.zip -t uno --db q.db")

    with Store.open(tmp_path / "q.db") as store:
        zipped("one", {"v1": "a"})
        zipped("one", {"v2": "b"})
        zipped("one", {"v1": "a"})  # and back
        zipped("one", {"v1": "a", "v3": "c"})
        zipped("one", {"v4": "d"})  # of the first or of the other
        zipped("two", {"v1/b": "1"})
        zipped("two", {"v2/a": "2", "v2/b": "3"})
        found = [Desk(store).of_number(n) for n in range(1, 10)]
    assert [s and (s.first, s.previous) for s in found] == [
        *((None, None), (1, 1), (1, 2), (None, None), (None, None)), *((None, None), (None, None), (6, 6), None),
    ]  # fmt: skip


def test_an_implementation_inside_another_is_of_its_own_line(cli: Cli, tmp_path: Path) -> None:
    """Both are in one package, which has equal bytes whichever is named."""
    bundled = Path(__file__).parents[2] / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/small"
    outer = tmp_path / "crypto_aead/toy128/ref"
    shutil.copytree(bundled, outer)
    shutil.copytree(bundled, outer / "inner")
    for text in "", "/* changed */":
        (outer / "inner/encrypt.c").write_text(f"{(outer / 'inner/encrypt.c').read_text()}{text}")
        assert cli("queue add crypto_aead -t uno --db q.db").code == 0
    with Store.open(tmp_path / "q.db") as store:
        found = [(s.first, [i[3] for i in offered(s.found)]) for n in range(1, 6) if (s := Desk(store).of_number(n))]
    assert found == [(None, ["ref"]), (None, ["ref/inner"]), (1, ["ref"]), (2, ["ref/inner"])]


def test_what_is_added_has_the_name_and_answers_that_run_gives_it(cli: Cli, tmp_path: Path) -> None:
    """Whatever it lies in, and however much of that is named; both primitives of a folder that has two."""
    bundled = Path(__file__).parents[2] / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/small"
    kat = Path(__file__).parents[2] / "ciphers/crypto_aead"
    shutil.copytree(bundled, tmp_path / "mine/toy1/small")
    (tmp_path / "mine/LWC_AEAD_KAT_128_96.txt").write_text("Count = 1\nKey = 00\n")
    shutil.make_archive("flat", "zip", bundled)
    dual = tmp_path / "dual/crypto_aead_hash/xoodyakround3/small"
    shutil.copytree(kat / "xoodyak/xoodyakround3/small", dual)
    other = kat.parent / "crypto_hash/xoodyak/xoodyakround3/small"
    shutil.copy(other / "hash.c", dual)
    (dual / "api.h").write_text((dual / "api.h").read_text() + (other / "api.h").read_text())
    linked = tmp_path / "linked/crypto_aead/toy1"
    linked.mkdir(parents=True)
    shutil.copytree(bundled, tmp_path / "linked/shared")
    (linked / "ref").symlink_to("../../shared")
    shutil.copy(tmp_path / "mine/LWC_AEAD_KAT_128_96.txt", linked)
    shutil.copytree(bundled, tmp_path / "answers/toy1/ref")
    shutil.copy(tmp_path / "mine/LWC_AEAD_KAT_128_96.txt", tmp_path / "answers/k.txt")
    (tmp_path / "answers/toy1/LWC_AEAD_KAT_128_96.txt").symlink_to("../k.txt")
    for what in ("mine", "mine/toy1", "mine/toy1/small", "flat.zip", "dual", "linked", "answers"):
        planned = json.loads(cli(f"run {what} -t uno --db {Path(what).name}.db --json --dry-run").out)
        said = cli(f"queue add {what} -t uno --db {Path(what).name}.db")
        assert said.code == 0, said
        (tmp_path / "mine/toy1/q.db").write_text(what)  # nothing of the package
        assert (
            json.loads(cli(f"queue add {what} -t uno --db {Path(what).name}.db --json").out)[0]["rows"][0]["new_jobs"]
            == 0
        )
        with Store.open(tmp_path / f"{Path(what).name}.db") as store, store._engine.connect() as connection:
            wanted = [task_of(t) for (t,) in connection.execute(select(schema.job.c.task))]
        mine = [p for p in planned if p["variant"] != "nocrypt"]
        assert sorted((t.primitive, t.variant, t.name, t.sources) for t in wanted) == sorted(
            (p["primitive"], p["variant"], p["implementation"], p["implementation_digest"]) for p in mine
        ), what


def test_what_is_no_implementation_is_said_and_nothing_added(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "crypto_aead/toy1/ref"
    folder.mkdir(parents=True)
    (folder / "api.h").write_text("")
    said = cli("queue add crypto_aead -t uno --db q.db")
    assert (said.code, "toy1/ref" in said.out, "no-sources" in said.out) == (1, True, True), said
    bundled = Path(__file__).parents[2] / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/small"
    for name in ("toy2", "toy3"):
        shutil.copytree(bundled, tmp_path / name / "ref")
    Path(os.fsdecode(bytes(tmp_path / "toy2/ref/n") + b"\xff.txt")).write_text("a note")
    said = cli("queue add toy2 toy3 -t uno --db q.db")
    assert (said.code, r"n\xff.txt: a name in a zip has to be UTF-8" in said.err, "toy3" in said.out) == (
        1,
        True,
        True,
    ), said
