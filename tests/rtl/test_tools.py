"""Tools that fail, and who is to blame."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.model.reasons import MACHINE, Reason
from steelyard.rtl import tools


@pytest.mark.parametrize(
    ("body", "reason", "said"),
    [
        ("echo 'Warning: error rate'; echo 'ERROR: no module'; exit 1", Reason.COMPILE_ERROR, "ERROR: no module"),
        ("echo 'a.sv:5: ERROR: no file m'; echo 'Generating RTLIL'; exit 1", Reason.COMPILE_ERROR, "ERROR: no file m"),
        ("echo last words; kill -SEGV $$", Reason.COMPILE_ERROR, "last words"),
        (
            "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1",
            Reason.COMPILER_KILLED,
            "cc1plus",
        ),
        ("kill -KILL $$", Reason.COMPILER_KILLED, "SIGKILL"),
        ("while :; do :; done", Reason.COMPILE_TIMEOUT, "stopped after"),
        (
            "echo 'CPU time limit exceeded signal terminated program cc1plus'; exit 1",
            Reason.COMPILE_TIMEOUT,
            "after 1 s",
        ),
    ],
)
def test_a_failure_is_the_source_s_or_the_machine_s(tmp_path: Path, body: str, reason: Reason, said: str) -> None:
    (tmp_path / "tool").write_text(f"#!/bin/sh\n{body}\n")
    (tmp_path / "tool").chmod(0o755)
    with pytest.raises(tools.ToolError) as raised:
        tools.run("./tool", [], tmp_path, seconds=1 if reason is Reason.COMPILE_TIMEOUT else 60)
    failure = raised.value.failure
    assert failure.reason is reason
    assert said in failure.detail
    assert (reason in MACHINE) == (reason is not Reason.COMPILE_ERROR)


def test_what_a_tool_made_of_few_lines_is_bounded(tmp_path: Path) -> None:
    with (tmp_path / "flat.json").open("wb") as f:
        f.truncate(300 << 20)
    with pytest.raises(tools.ToolError, match=r"become 300 MiB of flat\.json; the limit is 256") as raised:
        tools.wrote(tmp_path / "flat.json")
    assert raised.value.failure.reason is Reason.COMPILE_MEMORY


def test_no_link_that_a_tool_leaves_is_followed(tmp_path: Path) -> None:
    """Neither to a file whose words would be told, nor to one that would be written, nor to a folder."""
    (tmp_path / "secret").write_text("secret")
    (work := tmp_path / "work").mkdir()
    (work / "sub").mkdir()
    links = "\n".join(f"rm -rf {n}; ln -s {tmp_path / 'secret'} {n}" for n in ("said.log", "run.sh", "sub/made"))
    (work / "tool").write_text(f"#!/bin/sh\n{links}\nmkfifo pipe; ln -s {tmp_path} folder; exit 1\n")
    (work / "tool").chmod(0o755)
    for _ in range(2):
        with pytest.raises(tools.ToolError) as raised:
            tools.run("./tool", [], work)
        assert "secret" not in raised.value.failure.detail + raised.value.log
        assert {f.name for f in work.rglob("*")} <= {"sub", "tool", "run.sh", "said.log"}
    assert (tmp_path / "secret").read_text() == "secret"


def test_no_link_stays_where_a_tool_takes_rights_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is root may do all: here, as others, it may only list a folder that it may read, and not change one that it
    may not write."""
    listed, unlink = os.scandir, Path.unlink

    def right(folder: Path, bits: int) -> None:
        if bits & ~folder.stat().st_mode:
            raise PermissionError(folder)

    made = "for m in 300 500; do mkdir $m; ln -s /etc $m/link; chmod $m $m; done; chmod 000 ."
    (tmp_path / "tool").write_text(f"#!/bin/sh\n{made}\n")
    (tmp_path / "tool").chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", lambda at: (right(Path(at), 0o500), listed(at))[1])
        patched.setattr(Path, "unlink", lambda at, **given: (right(at.parent, 0o300), unlink(at, **given))[1])
        tools.run("./tool", [], tmp_path)
    assert {f.name for f in tmp_path.rglob("*")} == {"300", "500", "tool", "run.sh", "said.log"}


@pytest.mark.parametrize("name", ["%0200d", "%d"])
def test_folders_that_are_too_deep_are_removed(tmp_path: Path, name: str) -> None:
    """No path leads to what is in them, and walks that call themselves have an end."""
    deep = f"i=0; while [ $i -lt 1200 ]; do d=$(printf {name} 0); mkdir $d && cd $d || exit 0; i=$((i+1)); done"
    (tmp_path / "tool").write_text(f"#!/bin/sh\necho done\nexec >/dev/null 2>&1\n{deep}\nln -s /etc link\n")
    (tmp_path / "tool").chmod(0o755)
    assert tools.run("./tool", [], tmp_path) == "done\n"
    assert len(str(max(tmp_path.rglob("*")))) < 2000
    assert len([*tmp_path.iterdir()]) == 4
