"""``compare --revisions`` in repositories as git makes them: what is weighed is what a revision holds."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.cli.revisions import Revisions
from steelyard.model.campaign import Campaign
from tests import toys
from tests.conftest import ROOT, write

from .conftest import Cli

#: a loop that makes encryption slower
SLOWER = {"in_encrypt": "for (volatile unsigned char k = 0; k < 50; k++) {}"}
ASK = "compare --revisions HEAD~1 HEAD {} -t uno -w kat --fail-on worse"
Git = Callable[..., str]


@pytest.fixture
def git(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a repository, in which the test is."""
    monkeypatch.setenv("STEELYARD_DB", str(tmp_path / "results.db"))
    user = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")

    def run(*words: str, at: Path = tmp_path / "mine") -> str:
        done = subprocess.run(["git", *user, *words], cwd=at, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    (tmp_path / "mine").mkdir()
    run("init", "-q", "-b", "main")
    monkeypatch.chdir(tmp_path / "mine")
    return run


def package(at: Path, **hooks: str) -> None:
    """A package in the usual layout."""
    write(at / "crypto_aead/toy1/ref", toys.files(**hooks) | {"LWC_AEAD_KAT_128_128.txt": toys.kat()})


def commit(git: Git, subject: str = "x") -> None:
    """Commits all that there is."""
    git("add", "-A")
    git("commit", "-qm", subject)


def link(at: Path, to: str) -> None:
    """A link, in place of another."""
    at.unlink(missing_ok=True)
    at.symlink_to(to)


def test_what_git_tells_hooks_changes_no_repository(
    cli: Cli, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of a linked working tree, in which all its commands are about this one."""
    package(Path())
    commit(git)
    package(Path(), **SLOWER)
    commit(git)
    git("worktree", "add", "-q", "../other", "-b", "feature")
    monkeypatch.chdir(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "mine/.git/worktrees/other"))
    assert cli(ASK.format("")).code == 1
    monkeypatch.delenv("GIT_DIR")
    assert git("status", "-sb", at=tmp_path / "other") == "## feature"


def test_a_link_leads_where_its_revision_says(cli: Cli, git: Git) -> None:
    for at, hooks in (("v1", {}), ("v2", SLOWER)):
        package(Path(at), **hooks)
        link(Path("current"), at)
        commit(git)
    gate = cli(ASK.format("current"))
    assert (gate.code, "1 setup compared" in gate.out) == (1, True), gate.err
    package(Path("v2"))
    commit(git)
    past = cli("history HEAD current/crypto_aead -t uno -w kat -c rom")
    assert len(re.findall(r"^ [0-9a-f]{7} ", past.out, re.MULTILINE)) == 3, "also what is behind it"


def test_a_history_is_of_what_links_lead_to_in_any_of_its_revisions(git: Git, tmp_path: Path) -> None:
    def history(*what: str) -> str:
        of = Revisions(tmp_path / "mine", what, Campaign(), None)
        return " ".join(c.subject for c in of.log("main", 20))

    write(Path(), {"v1/a/x.c": "1", "größe/x.c": "1", "other": "1"})
    link(Path("cur"), "v1")
    commit(git, "one")
    write(Path(), {"v1/a/x.c": "2"})
    commit(git, "two")
    write(Path(), {"v2/b": "2", "other": "2"})
    link(Path("v2/a"), "../größe")
    commit(git, "three")
    link(Path("cur"), "v2")
    commit(git, "four")
    write(Path(), {"größe/x.c": "2"})
    commit(git, "five")
    write(Path(), {"other": "3"})
    commit(git, "six")
    for revision in ("main", "main~4"):
        git("checkout", "-q", revision)
        assert history("cur") == "one two three four five", "whatever is checked out"
        assert history("cur/a/x.c") == "one two three four five", "behind links"
        assert history("v2") == "one three five", "below it"
        assert history() == "one two three four five six"


def test_marks_of_a_history_are_against_the_first_parent(cli: Cli, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not against what was committed before on another branch; past a revision that is broken."""

    def made(subject: str, day: int, **hooks: str) -> None:
        package(Path(), **hooks)
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-01-0{day}T00:00:00Z")
        commit(git, subject)

    made("base", 1)
    git("checkout", "-qb", "side")
    made("comment", 4, top="// comment\n")
    git("checkout", "-q", "main")
    made("broken", 2, top="broken(")
    made("slower\x0b\u2028line", 3, **SLOWER)
    git("merge", "-q", "-m", "merge", "-s", "ours", "--no-commit", "side")
    made("merge", 5, top="// comment\n", **SLOWER)
    shown = cli("history HEAD crypto_aead/toy1/ref -t uno -w kat -c cycles_encrypt_mean").out
    assert re.findall(r"^ [0-9a-f]{7} +(\w+).*?([▴▾]?) *$", shown, re.MULTILINE) == [
        ("base", ""), ("slower", "▴"), ("comment", ""), ("merge", "")
    ], shown  # fmt: skip


def test_a_history_has_all_branches_by_date_and_first_parents(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever of them a merge takes, and whatever users have set."""
    days = iter(range(1, 9))

    def made(branch: str, text: str) -> None:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-01-0{next(days)}T00:00:00Z")
        if text != "base":
            git("checkout", "-q", branch)
        package(Path(), top=f"// {text}\n")
        commit(git, f"{text} on {branch}")

    def shown(most: int) -> list[tuple[str, str]]:
        log = asked.log("HEAD", most)
        subjects = {c.commit: c.subject for c in log}
        return [(c.subject, subjects.get(c.parent or "", "")) for c in log]

    asked = Revisions(tmp_path / "mine", ("crypto_aead/toy1/ref",), Campaign(), None)
    made("main", "base")
    git("branch", "side")
    for branch in ("side", "main"):
        made(branch, "slow")
        made(branch, "fast")
    write(Path(), {"README": "of all\n"})
    commit(git, "readme")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-08T00:00:00Z")
    git("merge", "-q", "-m", "equal", "side")
    git("config", "log.follow", "true")
    slow = [("slow on side", "base on main"), ("fast on side", "slow on side"), ("slow on main", "base on main")]
    every = [("base on main", ""), *slow, ("fast on main", "slow on main")]
    assert shown(20) == every, "the merge is as its first parent"
    assert shown(2) == [("slow on main", ""), ("fast on main", "slow on main")]
    git("checkout", "-qb", "edited", "main~1")
    git("merge", "-q", "--no-commit", "--no-ff", "side")
    package(Path(), top="// other\n")
    commit(git, "edited")
    assert shown(20)[-1] == ("edited", "fast on main")


def test_files_above_and_other_halves_are_a_packages_own(
    cli: Cli, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A history shows when they changed, and a partial clone that lacks them is refused."""
    package(Path())
    core, rotations = "crypto_core/xteaencrypt/mine", "common/source/rotations/rot32.h"
    blocks = "block_ciphers/source/ciphers/X_64_128_v01"
    names = ("api.h", "ref/api.h", "README.md", "opt/api.h")
    changes = [*(f"crypto_aead/toy1/{name}" for name in names), "crypto_core/xteadecrypt/mine/x.c", rotations]
    kat, common = Path("crypto_aead/toy1/LWC_AEAD_KAT_128_128.txt"), "common/api.h"
    Path("crypto_aead/toy1/ref", kat.name).rename(kat)
    link(Path("crypto_aead/toy1/lwc.h"), f"../../{common}")
    commit(git, "begin")
    for k, name in enumerate((*changes, common)):
        write(Path(), {name: f"// {k}\n{toys.API}"})
        commit(git, name)
    for what, shown in (
        ("crypto_aead/toy1/ref", ["begin", changes[0], changes[1], common]),
        (core, [changes[4]]),
        (f"{blocks}/source", [rotations]),
    ):
        of = Revisions(tmp_path / "mine", (what,), Campaign(), None)
        assert [c.subject for c in of.log("main", 20)] == shown
    kat.unlink()
    commit(git)
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--filter=blob:none", f"file://{tmp_path}/mine", "../partial")
    monkeypatch.chdir(tmp_path / "partial")
    gate = cli(ASK.format("crypto_aead/toy1/ref"))
    assert (gate.code, f"lacks 1 file of {git('rev-parse', '--short=12', 'HEAD~1')}, {kat}" in gate.err) == (2, True)


def test_a_gate_does_not_pass_what_a_revision_refuses_in_a_zip(cli: Cli, git: Git, tmp_path: Path) -> None:
    """Though a package of its name is new elsewhere in it."""
    for tops in (["one"], ["one", "two"]):
        for top in tops:
            package(tmp_path / "zip" / top)
        if "two" in tops:
            (tmp_path / "zip/one/crypto_aead/toy1/ref/encrypt.c").unlink()
        shutil.make_archive("p", "zip", tmp_path / "zip")
        commit(git)
    gate = cli(ASK.format("p.zip"))
    assert (gate.code, "p.zip/one/crypto_aead/toy1/ref was weighed, and HEAD refuses it" in gate.err) == (1, True)
    Path("p.zip").unlink()
    past = cli("history HEAD~1 p.zip/one -t uno -w kat -c rom")
    assert past.code == 0, past.err


def test_a_repository_is_called_by_the_folders_that_it_lies_in(
    cli: Cli, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So known answers of a bundled variant are known, also where its top is an implementation."""
    top = tmp_path / "tinyjambu/crypto_aead/tinyjambu128v2/opt"
    shutil.copytree(ROOT / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/fast", top)
    git("init", "-q", at=top)
    monkeypatch.chdir(top)
    git("add", "-A", at=top)
    git("commit", "-qm", "x", at=top)
    asked = Revisions(top, (), Campaign(targets=("uno",), workloads=("kat",)), None)
    (row,) = asked.of_revision("HEAD")
    assert (row["family"], row["label"], row["outcome"]) == ("tinyjambu", "tinyjambu128v2/opt", "verified")


def test_a_shallow_clone_has_all_its_branches(
    cli: Cli, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(tmp_path / "mine/.git")
    git("init", "-q", "--object-format=sha256", "-b", "main")
    for hooks in ({}, {"top": "//"}, SLOWER):
        package(Path(), **hooks)
        commit(git)
    git("checkout", "-qb", "feature", "HEAD~1")
    git("clone", "-q", "--depth=2", "--no-single-branch", f"file://{tmp_path}/mine", "../shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    gate = cli(ASK.replace("HEAD~1 HEAD", "HEAD origin/main").format(""))
    assert (gate.code, "1 setup compared" in gate.out) == (1, True), gate.err


def test_what_a_copy_has_not_is_told(cli: Cli, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that a partial clone lacks, and submodules, of which another commit may be worse."""
    package(Path())
    commit(git)
    package(Path(), **SLOWER)
    Path("paper.pdf").write_bytes(bytes(200_000))
    commit(git)
    Path("paper.pdf").write_bytes(bytes(range(200)) * 1000)
    git("commit", "-qam", "x", "--amend")
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--filter=blob:none", f"file://{tmp_path}/mine", "../partial")
    monkeypatch.chdir(tmp_path / "partial")
    partial = cli(ASK.format(""))
    assert (partial.code, "this clone lacks" in partial.err) == (2, True), partial.err
    shutil.rmtree(tmp_path / "partial")
    git("clone", "-q", "--filter=tree:0", f"file://{tmp_path}/mine", "../partial")
    monkeypatch.chdir(tmp_path / "partial")
    for ask in (ASK.format(""), "history HEAD crypto_aead"):
        partial = cli(ask)
        assert (partial.code, "this clone lacks" in partial.err) == (2, True), partial.err
    shutil.rmtree(tmp_path / "partial")
    git("clone", "-q", "--filter=blob:limit=100k", f"file://{tmp_path}/mine", "../partial")
    monkeypatch.chdir(tmp_path / "partial")
    assert "cycles_encrypt_mean is worse" in cli(ASK.format("crypto_aead")).err, "what it lacks is not weighed"
    monkeypatch.chdir(tmp_path / "mine")
    shutil.copytree(tmp_path / "mine", tmp_path / "theirs")
    git("submodule", "--quiet", "add", f"file://{tmp_path}/theirs", "vendor")
    commit(git)
    git("checkout", "-q", "HEAD~1", at=tmp_path / "mine/vendor")
    commit(git)
    gate = cli(ASK.format(""))
    assert (gate.code, "submodule vendor is another one in HEAD" in gate.err) == (1, True), gate.err
    assert cli(ASK.format("crypto_aead")).code == 0
    for within in ("vendor", "vendor/crypto_aead"):
        assert "submodules are not weighed" in cli(ASK.format(within)).err


@pytest.mark.parametrize("lacking", ["common/größe.c", "crypto_aead/toy1/ref/opt.def", "opts/opt.def", "moved"])
def test_files_that_are_read_are_not_lacking(
    lacking: str, cli: Cli, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind links, which themselves may be lacking, and with names of any ending."""
    package(Path())
    link(Path("crypto_aead/toy1/ref/p.c"), "../../../common/größe.c")
    link(Path("crypto_aead/toy1/ref/opts.def"), "../../../opts/opt.def")
    write(Path(), {"common/größe.c": "", "opts/opt.def": "", "crypto_aead/toy1/ref/opt.def": "", "paper.pdf": ""})
    link(Path("moved"), "crypto_aead")
    for text, to in (("// old", "./crypto_aead"), ("// new", "crypto_aead")):
        write(Path(), {"paper.pdf": text} | ({} if lacking == "moved" else {lacking: text}))
        if lacking == "moved":
            link(Path("moved"), to)
        commit(git)
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--filter=blob:none", f"file://{tmp_path}/mine", "../partial")
    monkeypatch.chdir(tmp_path / "partial")
    gate = cli(ASK.format("moved" if lacking == "moved" else "crypto_aead"))
    assert gate.code == 2, gate.out
    assert re.search(f"this clone lacks 1 file of [0-9a-f]+, {lacking} first", gate.err), gate.err


def test_subjects_in_any_encoding_are_in_every_format(cli: Cli, git: Git) -> None:
    """As imported repositories have them; and in UTF-8 whatever encoding the user's terminal has."""
    git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    package(Path())
    commit(git, "Schlüssel")
    package(Path(), **SLOWER)
    commit(git, "Schloesser")
    raw = git("cat-file", "commit", "HEAD").encode().replace(b"oe", b"\xf6")
    made = ["git", "hash-object", "-t", "commit", "-w", "--stdin"]
    git("reset", "-q", subprocess.run(made, input=raw, check=True, capture_output=True).stdout.decode().strip())
    for more, escaped in (("--json", r"Schl\\xf6sser"), ("--format csv -o -", r"Schl\xf6sser"), ("-o h.parquet", "")):
        told = cli(f"history HEAD crypto_aead -t uno -w kat -c rom {more}")
        assert (told.code, escaped in told.out) == (0, True), told
        assert "Schlüssel" in told.out or not escaped, told


def test_revisions_count_in_histories_only(cli: Cli, git: Git) -> None:
    """Whichever was weighed last; what lies at the path is weighed for itself, and once."""
    for n in (1, 2, 1):  # the last goes back to the first
        package(Path(), in_encrypt=f"for (volatile unsigned char k = 0; k < {60 - 10 * n}; k++) {{}}")
        commit(git)
    ask = "publish toy1/ref --columns run,origin"
    assert cli("compare --revisions HEAD~1 HEAD crypto_aead -t uno -w kat").code == 0
    none = cli(ask)
    assert ("2 rows of revisions" in none.err, " at HEAD" in none.out) == (True, False), none
    for run, remark in (("steelyard run crypto_aead", ""), ("again", "")):
        done = cli("run crypto_aead -t uno -w kat")
        assert (done.code, "answers take other sources" in done.out + done.err) == (0, bool(remark)), run
    assert len(re.findall(r"^ \w{7} +x ", cli("history HEAD crypto_aead -t uno -w kat").out, re.MULTILINE)) == 3
    now = cli(ask).out
    assert re.findall(r"^ (\d+) +crypto_aead$", now, re.MULTILINE) == ["4"], now
    assert cli(f"{ask} --all-runs").out.count("crypto_aead at ") == 2
    for where in ("target == uno", "origin ~ 'crypto_aead*'"):
        assert "compared, 0 only old" in (same := cli(["compare", "toy1/ref", "4", "--where", where]).out), same
        assert not re.search("faster|slower|revisions", same), same
    assert cli("run crypto_aead -t uno -w kat --dry-run").out.count("0 to run, 2 stored") == 1
    assert cli("run crypto_aead -t uno -w kat --seed another --force").code == 0
    for _ in range(2):  # and that of another seed is not what a comparison asks for
        assert cli("compare --revisions HEAD~1 HEAD crypto_aead -t uno -w kat").code == 0
    assert cli(f"{ask} --all-runs").out.count("crypto_aead at ") == 3
