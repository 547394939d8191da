"""What users see, word for word: golden/*.txt, written anew with STEELYARD_GOLDEN=write."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.cli import targets
from steelyard.lab import aside, attempt
from steelyard.lab.lock import held, port_of
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Toolchain
from steelyard.model.target import ToolchainSpec
from tests import toys
from tests.conftest import the_target, write
from tests.made_up import record, store

from .conftest import Cli, golden

KAT = "LWC_AEAD_KAT_128_128.txt"


@pytest.fixture(autouse=True)
def both() -> None:
    """These transcripts show two targets."""
    the_target("uno")
    the_target("bluepill")


def pack(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)


def test_help(cli: Cli) -> None:
    verbs = "run check show list publish compare history rank choose plot report size profile"
    golden("help", cli("--help"), *(cli(f"{verb} --help") for verb in verbs.split()))
    bare = cli("")
    assert bare.out + bare.err == cli("--help").out


def test_targets(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def identify(spec: ToolchainSpec) -> Toolchain | None:
        return Toolchain(spec.name, "gcc 1.2.3", "") if spec.family == "avr" else None

    monkeypatch.setattr(targets, "identify", identify)
    monkeypatch.setattr(targets, "target_names", lambda: ("bluepill", "uno"))
    golden("targets", cli("targets"), cli("list targets"))


def test_list_implementations(cli: Cli, tmp_path: Path) -> None:
    for where in ("crypto_aead/toy1/ref", "crypto_aead/toy1/fast", "family/crypto_aead/other128v1/ref"):
        write(tmp_path / "mine" / where, toys.files(top=f"/* {where} */"))
    write(tmp_path / "mine/crypto_aead/empty/ref", {"api.h": toys.API})
    write(tmp_path / "mine/crypto_aead/toy1/wild", {"api.h": toys.API, "code.asm": "NOP"})
    golden("list", cli("list implementations mine"), cli("list workloads"))


def test_a_run_from_first_to_last(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "toy/crypto_aead/toy1/ref", toys.files() | {KAT: toys.kat()})
    write(tmp_path / "bad/crypto_aead/toy1/bad", toys.files(after_decrypt="wrong = 0;") | {KAT: toys.kat()})
    golden(
        "run",
        cli("run nocrypt -t uno,bluepill -w kat -j 1"),
        cli("run toy -t uno -t bluepill --flags=-Os -j 1"),
        cli("list runs"),
        cli("show 9"),
        cli("show 9 --log"),
        figures=True,
    )
    golden(
        "check",
        cli("check toy -t uno -f -Os"),
        cli("check bad -t uno -f -Os"),
        cli("show 15"),
        figures=True,
    )


def test_zips(cli: Cli, tmp_path: Path) -> None:
    pack(tmp_path / "toy.zip", {f"crypto_aead/toy1/ref/{n}": t for n, t in toys.files().items()})
    (tmp_path / "damaged.zip").write_bytes((tmp_path / "toy.zip").read_bytes()[:300])
    pack(tmp_path / "nothing.zip", {"readme.txt": "hello"})
    names = ("toy.zip", "damaged.zip", "nothing.zip")
    golden("zip", *(cli(f"{verb} {name} -t uno -f -Os") for name in names for verb in ("check", "run")), figures=True)


def test_errors(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "damaged.db").write_text("this is no database " * 100)
    golden(
        "errors",
        cli("run -t unno"),
        cli("run -t uno,bluepil nocrypt"),
        cli("run nocrpyt"),
        cli("run folder"),
        cli("run nocrypt -t uno -w katt"),
        cli("run nocrypt -t uno -w 16/x"),
        cli("run nocrypt -t uno --flags O3"),
        cli("run nocrypt -t uno --flags=-o"),
        cli("run nocrypt -t uno -j 0"),
        cli("run --forse"),
        cli("walk"),
        cli("list implementation"),
        cli("show 1"),
        cli("show one"),
        cli("list runs --db damaged.db"),
        cli("list runs --db folder/none/such.db"),
        cli("list runs --db folder"),
    )


def test_answers_from_records(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "old/crypto_aead/toy1/ref", toys.files() | {KAT: toys.kat()})
    write(tmp_path / "new/crypto_aead/toy1/ref", toys.files(top="/* other */") | {KAT: toys.kat()})
    (tmp_path / "both.toml").write_text(
        'title = "Two"\nimplementations = ["old"]\ntargets = ["uno", "bluepill"]\nflags = ["-Os", "-O1"]\n'
        'workloads = ["16/0,16/16"]\n'
    )
    (tmp_path / "wrong.toml").write_text('target = ["uno"]\n')
    golden(
        "answers",
        cli("run both.toml --dry-run"),
        cli("run both.toml -j1"),
        cli("run both.toml --dry-run -t uno"),
        cli("run new -t uno -w 16/0,16/16 --flags=-O1 --dry-run"),
        cli("run wrong.toml"),
        cli("publish toy1 --where target==uno --sort -rom -c label,flags,rom,ram,encrypt@16/16"),
        cli("publish toy1 --where target==uno -c run,label,flags,rom -o out.md"),
        cli("compare flags==-O1 flags==-Os --where target==uno -c rom,cycles_encrypt_mean"),
        cli("compare flags==-O1 flags==-Os --where target==uno -c rom --fail-on any>0%"),
        cli("rank --where target==uno --top 2"),
        cli("rank --kind merit --where target==uno"),
        cli("rank --kind pareto --where target==uno"),
        cli("plot rom --out rom.svg"),
        cli("report --out report.html"),
        cli("size old -t uno --flags=-Os"),
        figures=True,
    )


def test_boards(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One works, one is out of order, one failed and is free again."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    shutil.copy(paths.ROOT / "docs/guides/lab.toml", tmp_path)
    there = lab.load(tmp_path / "lab.toml")
    for board in there.boards.values():
        write(tmp_path, {str(board.port.relative_to(tmp_path)): ""})
    now = 1_800_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    made = attempt.begin(there.boards["pill-1"], attempt.Purpose("toy1/ref -O3", 2))
    now += 7.3
    attempt.heard(
        "reset halt", b"Info : clock speed 2000 kHz\nError: init mode failed (unable to connect to the target)"
    )
    made.passed(">", bytes.fromhex("a5010000fe"))
    made.end(Failure(Reason.PROBE_LOST, "pill-1: swd: openocd: Error: init mode failed"))
    why = Failure(Reason.BOARD_LOST, "maix-1: ports/maix-1: No such file or directory")
    aside.put(there.boards["maix-1"], aside.Mark(now, why.reason, why.detail, why.next_action))
    with held(port_of(there.boards["uno-1"]), "uno-1"):
        made = attempt.begin(there.boards["uno-1"], attempt.Purpose("ascon128v12/fast -O3", 1, 5, 1, 100.0))
        made.step("works")
        now += 42
        made.called(1234)
        golden(
            "boards",
            cli("boards"),
            cli("boards --json"),
            cli("boards log"),
            cli("boards log pill-1"),
            cli("boards release pill-1 uno-1"),
            cli("boards"),
            cli("boards retry"),
            cli("boards retry uno-1"),
            cli("boards release"),
            cli("boards log nine"),
            cli("boards --json list"),
        )


def test_revisions(cli: Cli, tmp_path: Path) -> None:
    """The second revision does not compile, the third is not there where it was."""

    def git(*arguments: str) -> None:
        when = {f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        name = ["-c", "user.name=you", "-c", "user.email=you@example.com"]
        environment = os.environ | when | {"GIT_CONFIG_GLOBAL": "/dev/null"}
        subprocess.run(["git", *name, *arguments], cwd=tmp_path, env=environment, check=True)

    def commit(files: dict[str, str] | None, message: str) -> None:
        shutil.rmtree(tmp_path / "mine", ignore_errors=True)
        if files:
            write(tmp_path / "mine/crypto_aead/toy1/ref", files | {KAT: toys.kat()})
        git("add", "mine")
        git("commit", "-q", "-m", message)

    git("init", "-q", ".")
    commit(toys.files(), "begin")
    commit(toys.files(top="broken("), "break it")
    commit(None, "leave")
    commit(toys.files(top="/* other */"), "come back")
    golden(
        "revisions",
        cli("history HEAD mine -t uno -w 16/0 --flags=-Os -c rom,cycles_encrypt_mean"),
        cli("compare --revisions HEAD~2 HEAD mine -t uno -w 16/0 --flags=-Os"),
        cli("compare --revisions HEAD~1 HEAD mine -t uno -w 16/0 --flags=-Os"),
        cli("history HEAD~1..HEAD elsewhere -t uno"),
        cli("history HEAD~9..HEAD mine"),
        figures=True,
    )


def test_choices(cli: Cli, tmp_path: Path) -> None:
    sizes = ((10, 5000, 300), (20, 3000, 200), (40, 900, 90))
    made = [
        record(f"toy{k}/ref", per_byte=n, cycles=100 + 32 * n, rom=rom, stack=ram)
        for k, (n, rom, ram) in enumerate(sizes)
    ]
    store(tmp_path / "results.db", *made, record("toy0/ref", target="bluepill", rom=4000))
    golden(
        "choose",
        cli("choose -t uno --mlen 24 --adlen 8 --rate 5/s --rom 4K --ram 200 --battery 230mAh"),
        cli("choose -t uno --workload ble --rom 800"),
        cli("choose --table --workload 8/24 --rom 4096"),
        cli("choose --table --mlen 4096 --rom 800"),
        cli("choose --mlen 24"),
        cli("choose -t uno"),
        cli("choose -t uno --workload default"),
        cli("choose -t uno --mlen 252 --workload ble"),
        cli("choose -t uno --mlen 24 --rate 5"),
        cli("choose -t uno --mlen 24 --battery 230mAh"),
        cli("choose -t uno --mlen 24 --voltage 3"),
        cli("choose -t uno --mlen 24 --key-per-message"),
        cli("choose -t uno --mlen 24 --adlen 8 --primitive crypto_block"),
        cli("choose -t host --mlen 24"),
        cli("choose -t nano-every --mlen 24"),
    )


def test_questions_that_make_no_sense(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"schema": 1, "runs": [')
    (tmp_path / "foreign.json").write_text('{"a": 1}')
    (tmp_path / "newer.json").write_text('{"schema": 9, "runs": []}')
    write(tmp_path / "old/crypto_aead/toy1/ref", toys.files() | {KAT: toys.kat()})
    cli("run old -t uno -w 16/0 --flags=-Os -j1")
    golden(
        "questions",
        cli("publish --where rom<"),
        cli("publish --where romm<3"),
        cli("publish -c rome"),
        cli("publish -o table.doc"),
        cli("publish nothing"),
        cli("compare cut.json toy1"),
        cli("compare foreign.json toy1"),
        cli("compare newer.json toy1"),
        cli("compare toy1 toy2"),
        cli("compare toy1 toy1 --fail-on rom"),
        cli("compare --revisions no-such-revision HEAD"),
        cli("rank --kind best"),
        cli("rank --relative-to aes128gcm"),
        cli("plot pie"),
        cli("run --all old"),
    )
