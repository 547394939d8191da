"""What users type wrongly: each ends with cause, place and next action, code 2, and nothing on standard output."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard import jobs
from steelyard.cli import rtl, select
from steelyard.cli.plan import plan, same
from steelyard.cli.weigh import Weighed, exit_code
from steelyard.hardware import Verified
from steelyard.model.campaign import Campaign
from steelyard.model.errors import UserError
from steelyard.model.implementation import Rejected
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import Target
from tests import toys
from tests.conftest import the_target, write
from tests.felics import blocks
from tests.made_up import record
from tests.sources.trees import plain

from .conftest import Cli

FAST = "tinyjambu128v2/fast"


@pytest.fixture(autouse=True)
def compiler() -> None:
    the_target("uno")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (f"size {FAST} -t uno,bluepill", "--target uno,bluepill: names 2 targets; name one of them"),
        (f"profile {FAST} -t uno,bluepill", "--target uno,bluepill: names 2 targets; name one of them"),
        (
            "profile xoodyakround3/fast -t uno",
            "names 2 implementations (crypto_aead xoodyakround3/fast, crypto_hash xoodyakround3/fast); name one, by "
            "its folder or --operation",
        ),
        ("size xoodyakround3 -t uno", "; name one, by its folder"),
        ("profile xoodyakround3 -t uno --operation hash", "(xoodyakround3/fast, xoodyakround3/small); name one"),
        (f"size {FAST} -t uno -f -O1;-O2", "--flags '-O1;-O2': holds 2 sets; give one of them"),
        (f"profile {FAST} -t uno -s 0/0,1/1", "--size '0/0,1/1': write one size"),
        (f"profile {FAST} -t uno --svg none/x.svg", "none/x.svg: there is no folder none; make it"),
        (f"profile {FAST} -t uno --svg .", ".: is a folder; name a file in it"),
        (
            "run nocrypt -t uno --mlen 64:0:16",
            "--mlen '64:0:16': holds no size, as 64 is above 0; did you mean 0:64:16?",
        ),
        (f"run nocrypt -t uno -w {'9' * 5000}/0", "...': write AD/M in bytes, each at most 32767"),
        ("run nocrypt -t uno -w 16", "workload size '16': write AD/M in bytes, each at most 32767, such as 16/64"),
        (f"compare 1 {'9' * 5000} --db none.db", "none.db: no results yet"),
        ("run nocrypt -t uno --mlen 0:64:0", "with a step of at least 1"),
        ("run nocrypt -t ,", "--target names no target; steelyard targets lists them"),
        ("run nocrypt -t uno --flags=-mrelax", "--flags '-mrelax': Steelyard compiles, assembles and links in one way"),
        ("run nocrypt -t uno -f -mllvm", "--flags '-mllvm': its value is missing"),
        ("run nocrypt -t uno -f -DX=\udce9", "--flags '-DX=\\udce9': is not UTF-8"),
        ("run linked.toml -t uno", "--flags '-lm': Steelyard"),
        ("run nocrypt -t uno -f ;", "--flags: is empty; leave it out for the usual"),
        ("run none.toml", "none.toml: No such file or directory; name a file that can be read"),
        ("run other.toml", "other.toml: project: unknown key 'project'; known: exclude, flags"),
        ("run text.toml", "text.toml: not a TOML file: "),
        ("run other.toml text.toml", "one campaign at a time: other.toml, text.toml; run the others after it"),
        (f"run {'x' * 5000}", "File name too long; give another path"),
        ("chec", "unknown command 'chec'; did you mean check or choose?"),
        ("boards chek", "unknown command 'chek'; did you mean check?"),
        ("run zzzzzzzz", "unknown implementation 'zzzzzzzz'; known: ace, "),
        ("publish --where target=uno", "filter, character 7: '=uno' has one =; write =="),
        ("show 0", "'0': write a number from 1 to"),
        ("show 99999999999999999999999", ": write a number from 1 to"),
        ("run nocrypt -t uno -j 99999999999", ": write a number from 1 to"),
        ("run nocrypt -t uno --db postgresql://a:b@c:port/d", "neither a path nor a URL like"),
        ("list runs --db /dev/null", "/dev/null: is not a regular file; give another path"),
        ("run nocrypt -t uno --db .", "unable to open database file"),
        ("run nocrypt -t uno --db text.toml", "file is not a database; give another path"),
        ("run nocrypt -t uno --db other.toml/x.db", "other.toml: File exists; choose a folder"),
        (f"run nocrypt -t uno --db {'x' * 5000}", "xxx...: File name too long; give another path"),
        (f"run nocrypt -t uno --db {'x' * 5000}/x.db", "xxx...: File name too long; choose a folder"),
        (f"publish --db {'x' * 5000}", "xxx...: File name too long; give another path"),
        (f"compare 1 2 --db {'x' * 5000}", "xxx...: File name too long; give another path"),
        (f"publish --db sqlite:///{'x' * 5000}", "xxx...: File name too long; give another path"),
        ("run nocrypt -t uno -o none/x.json", "none/x.json: there is no folder none"),
        ("compare uno bluepill", "no results yet; steelyard run makes some"),
        ("compare 1 2 third -t uno", "third, --target: only with --revisions; for stored runs write --where"),
        ("compare 1 2 --flags=-O3 -w kat", "--flags, --workload: only with --revisions"),
        ("compare a b --revisions --mixed", "--mixed: not with --revisions; leave it out"),
        ("list targets --db x.db", "--db: list targets reads no results; leave it out"),
        ("list implementations --db x.db", "--db: list implementations reads no results; leave it out"),
        ("list targets here", "here: list targets takes no path; leave it out"),
        ("publish --pivot target --caption x", "--caption: not with --pivot"),
        ("publish --caption x", "--caption: only tables of documents have one"),
        ("publish --label x --format csv", "--label: only tables of documents have one"),
        ("run nocrypt -t uno --lab other.toml", "--lab: no board is used without --on; add --on lab for all of them"),
        ("run --dry-run -c rom", "--columns: not with --dry-run"),
        ("publish -o x.felics.json -c rom", "--columns: not in FELICS-AE's result files"),
    ],
)
def test_wrong_words(cli: Cli, tmp_path: Path, command: str, said: str) -> None:
    campaigns = {"other.toml": "[project]\nname = 'x'\n", "text.toml": "no campaign " * 50}
    write(tmp_path, campaigns | {"linked.toml": 'flags = ["-O3 -lm"]'})
    result = cli(command)
    assert said in result.err
    assert (result.code, result.out) == (2, "")
    assert len(result.err) < 1500


#: options of code, and those that are not
CODE = """-O -O3 -Ofast -g -gdwarf-4 -std=c99 --std=c99 -fno-pie -flto -mcall-prologues -mno-relax -Wall -Werror -DX=1
-UX -Isrc/x -Wa,-mimplicit-it=always -Wa,-mall-opcodes,--defsym,X=1 -Wa,--longcalls,-mcpu=x
-Wa,--noexecstack -Wa,--defsym=X=1 -includex.h -isystemsrc/x -DX=/x -ffile-prefix-map=/x=y
--param=max-unroll-times=4 -ansi -pedantic -undef -nostdinc -pipe -w -Wp,-DX -pthread"""
OTHERS = """-o -c -S -E -x -v -B/x -M -MD -P @x --version --help --target=x -target -gcc-toolchain=/x -specs=x -wrapper
-fplugin=x -fpass-plugin=x -fdump-tree-all -fsyntax-only -save-temps -Wl,--relax -Wa,-mlink-relax
-Wa,-mall-opcodes,-mlink-relax -Wa,-mlink-rel -Wa,-ml -Wa,-ml,-g -Wa,-mri -Wa,-o,x.o -Wa,-al=x -Wp,-MD
-Wp,-DX,-MD,f -lm -L/x -T -u -e -z -s -r -n -N -Z -t -A -F. -D -I -nostdlib -nodevicelib -static --static
-shared -no-pie -pie -rdynamic -mrelax -msim -mcrt0 -fuse-ld=x -fuse-linker-plugin -flinker-output=x
-stdlib=x -march=help -Xclang -Xassembler -Xlinker -I/x -I~/x -I.. -Isrc/../../x -isystem/x -include/x.h
-include../x.h -imacros/x -fprofile-use=/x -Wa,-I/x -Wa,-I..,-g -fauto-profile=../x"""


def test_flags_are_those_of_code(uno: Target) -> None:
    for flag in CODE.split():
        assert select.flag_sets([flag], uno) == [(flag,)]
    for flag in OTHERS.split():
        with pytest.raises(UserError, match="--flags"):
            select.flag_sets([f"-O3 {flag}"], uno)
    for value in ("-x", "--unroll-count=4", "-inline-threshold=-1"):
        assert select.flag_sets([f"-mllvm {value}"], uno) == [("-mllvm", value)]
    for value in ("-load=x.so", "--load-pass-plugin=x", "-info-output-file=/x", "-O3;", "x"):
        with pytest.raises(UserError, match="-mllvm takes an option of code"):
            select.flag_sets([f"-mllvm '{value}'"], uno)


def test_a_database_whose_name_is_no_text(cli: Cli) -> None:
    for words in (["check", "nocrypt", "-t", "uno"], ["publish"], ["list", "runs"]):
        result = cli([*words, "--db", "\udce9"])
        assert (result.code, result.out) == (2, "")
        assert "its name is not UTF-8; give another one" in result.err


def test_an_empty_name(cli: Cli) -> None:
    for words in (["run", ""], ["run", " ", "-t", "uno"], ["size", "", "-t", "uno"], ["list", "implementations", ""]):
        result = cli(words)
        assert (result.code, result.out) == (2, "")
        assert "an empty name; give a path or a name, or leave it out" in result.err


@pytest.mark.parametrize("words", ["publish --columns", "publish --sort", "compare 1 2 -c", "rank --by"])
@pytest.mark.parametrize("value", ["", " ", ","])
def test_a_list_that_names_nothing(cli: Cli, words: str, value: str) -> None:
    """It is not taken for one that is left out."""
    result = cli([*words.split(), value])
    assert (result.code, result.out) == (2, "")
    assert "names nothing; leave it out" in result.err


def test_what_lies_at_a_path_is_known_to_every_question(cli: Cli, tmp_path: Path) -> None:
    place = "mine/crypto_aead/toy1/ref"
    write(tmp_path / place, toys.files() | {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    write(tmp_path / "new/crypto_aead/toy1/ref", toys.files(top="/* other */"))
    assert cli("run mine nocrypt -t uno -w 16/0 --flags=-Os").code == 0
    for question in ("publish mine", f"publish {place}", "rank mine"):
        result = cli(question)
        assert result.code == 0, result.err
        assert "toy1/ref" in result.out
        assert "nocrypt" not in result.out
    assert "1 setup compared" in cli(f"compare {place} mine").out
    result = cli("compare new mine")
    assert result.code == 1
    assert result.err.endswith("new: its present content was never run; weigh it with steelyard run new\n")
    write(tmp_path / place, {"encrypt.c": "/* changed */"})
    assert cli("compare mine toy1").code == 1


def test_packages_of_one_name_in_a_folder_are_none_an_earlier_state_of_another(tmp_path: Path) -> None:
    """Each is named by the part that it alone is in; what has its name for itself by the folder."""
    for place in ("alice/x/crypto_aead/toy1/ref", "alice/y/crypto_aead/toy1/ref", "bob/crypto_aead/toy1/ref"):
        plain(tmp_path, place)
    plain(tmp_path, "bob/crypto_aead/toy2/ref")
    found, _ = select.implementations([f"{tmp_path}"])
    assert sorted(c.origin.removeprefix(f"{tmp_path}") for c in found) == ["", "/alice/x", "/alice/y", "/bob"]


def test_packages_of_one_name_in_a_zip_are_each_named_by_their_part(cli: Cli, tmp_path: Path) -> None:
    """By which the user may name them, too."""
    with zipfile.ZipFile(tmp_path / "toy.zip", "w") as z:
        for top in ("first", "second"):
            for name, text in (toys.files(top=f"/* {top} */") | {"LWC_AEAD_KAT_128_128.txt": toys.kat()}).items():
                z.writestr(f"all/{top}/crypto_aead/toy1/ref/{name}", text)
    assert cli("run toy.zip -t uno -w 16/0 --flags=-Os").code == 0
    answer = cli("publish toy.zip -c run,origin --json")
    assert answer.code == 0, answer.err
    runs = json.loads(answer.out)[0]["rows"]
    assert sorted(r["origin"] for r in runs) == ["toy.zip/all/first", "toy.zip/all/second"]
    one = cli("compare toy.zip/all/second toy.zip")
    assert "1 setup compared" in one.out, one.err
    listed = json.loads(cli("list implementations toy.zip/all/second --json").out)["implementations"]
    assert len(listed) == 1
    assert cli("run toy.zip/all -t uno -w 16/0 --flags=-Os --dry-run").code == 0
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/c.toml").write_text('implementations = ["../toy.zip/all"]')
    assert cli("run sub/c.toml -t uno -w 16/0 --flags=-Os --dry-run").code == 0, "relative to the file"
    nothing = cli("run toy.zip/third -t uno")
    assert nothing.code == 1
    assert "the archive has no implementation there" in nothing.out
    assert "steelyard list implementations shows" in nothing.out
    part = cli("submit toy.zip/all --licence MIT --server http://localhost:1")
    assert (part.code, part.err) == (2, "steelyard: toy.zip/all: is a part of a zip; hand in toy.zip\n")
    for run in runs:
        assert cli(f"image {run['run']} -o x{run['run']}.hex").code == 0


def test_targets_are_compared_by_a_filter(cli: Cli) -> None:
    the_target("bluepill")
    assert cli("run nocrypt -t uno,bluepill -w kat --flags=-Os").code == 0
    assert cli("compare uno bluepill").err.endswith("steelyard: uno: is a target; write 'target == uno'\n")
    result = cli("compare target==uno target==bluepill")
    assert result.code == 0, result.err + result.out
    assert "4 setups compared, 0 only old, 0 only new, 0 refused" in result.out


def test_packages_that_are_none(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty.zip").write_bytes(b"PK\5\6" + bytes(18))
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "toy.zip", "w") as z:
        for name, text in toys.files().items():
            z.writestr(f"crypto_aead/toy1/ref/{name}", text)
    for name in ("empty.zip", "text", "empty"):
        result = cli(f"run {name} -t uno")
        assert result.code == 1
        assert "Definitions: " not in result.out, "no legend where there is no figure"
        assert name in result.out
    twice = cli("run toy.zip toy.zip -t uno -w kat --flags=-Os --json").out
    assert twice.count('"variant": "toy1"') == 1


def test_names_send_nothing_to_a_terminal(cli: Cli, tmp_path: Path) -> None:
    bad = "b\x1b[5md\n\u202e"
    write(tmp_path / f"mine/crypto_aead/{bad}/ref", {"api.h": toys.API})
    write(tmp_path / f"mine/crypto_aead/toy1/{bad}", toys.files())
    for command in ("run mine -t uno -w kat --flags=-Os", "list implementations mine", "list runs", "show 2"):
        result = cli(command, terminal=True)
        assert result.code in (0, 1)
        for character in "\x1b[5m", "\u202e":
            assert character not in result.out + result.err


def test_brackets_are_no_markup(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "[b]" / "[/b]" / "crypto_aead/toy1/ref", toys.files())
    assert cli("run [b]/[/b] -t uno -w kat --flags=-Os").code == 1
    result = cli("show 2")
    assert result.code == 0, result.err
    assert "'[b]/[/b]'" in result.out


def test_parameters_that_cannot_be_read_lose_no_implementation(cli: Cli, tmp_path: Path) -> None:
    """Only lists show them."""
    for what, text in {
        "nested": b"a = " + b"[" * 20000,
        "long": b"rate = " + b"9" * 6000,
        "none": b"rate =",
        "binary": b"\xff",
        "lacking": b"rate = 8",
    }.items():
        write(tmp_path / "mine/crypto_aead" / what / "ref", toys.files())
        (tmp_path / "mine/crypto_aead" / what / "variant.toml").write_bytes(text)
    write(tmp_path / "mine/crypto_aead/linked/ref", toys.files())
    (tmp_path / "mine/crypto_aead/linked/variant.toml").symlink_to(CIPHERS / "crypto_block/xtea/xtea/variant.toml")
    listed = cli("list implementations mine --json")
    assert listed.code == 0, listed.err
    found = {i["variant"]: i for i in json.loads(listed.out)["implementations"]}
    assert set(found) == {"nested", "long", "none", "binary", "lacking", "linked"}
    for variant, i in found.items():
        assert i["parameters"] is None
        assert i["notes"][-1].startswith(f"no parameters: mine/crypto_aead/{variant}/variant.toml: "), i["notes"]
    assert cli("list implementations mine").out.count("variant.toml: ") == len(found)


def test_a_large_campaign_says_how_large_it_is(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.run.MANY", 1)
    err = cli("run nocrypt -t uno -w kat --flags=-Os").err
    assert "4 runs: 4 implementations on 1 target; --dry-run lists them, Ctrl-C stops and keeps what is done" in err


def test_what_is_subtracted_is_planned_once(tmp_path: Path) -> None:
    """With the package's interface and without its macros, before the first that it is subtracted from."""
    names = ("nocrypt", FAST, str(blocks.tree(tmp_path)))
    found = plan(Campaign(implementations=names, targets=("uno",), flags=("-Os -DX -Wp,-DY -UZ;-Os",))).jobs
    for job in found:
        [base] = [j for j in found if same(j) == same(job.baseline)]
        assert found.index(base) <= found.index(job)
        assert base.flags == ("-Os",)
    assert {"nist", "phases"} <= {j.baseline.implementation.interface for j in found}
    assert [j.flags for j in found if j.implementation.label == FAST] == [("-Os", "-DX", "-Wp,-DY", "-UZ"), ("-Os",)]
    assert len(set(map(same, found))) == len(found)


def test_a_dry_run_exits_as_the_run_does(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundled package that cannot be had is no fault of the user's."""
    for reason, code in ((Reason.DANGLING_LINK, 0), (Reason.BAD_ZIP, 1)):
        every = select.bundled()
        refused = Rejected(CIPHERS / "crypto_aead/ascon/gone", Failure(reason, "aes.c leads nowhere"))
        made = every._replace(rejected=(refused,))
        with monkeypatch.context() as patch:
            patch.setattr(select, "bundled", lambda m=made: m)
            done = cli("run ascon -t uno --dry-run")
        assert done.code == code, done.err
        assert f"{reason}: {refused.failure.next_action}" in done.out
    assert exit_code(Weighed([], [], lost=True), []) == 3


def test_a_run_of_which_only_the_baseline_is_verified_fails(cli: Cli) -> None:
    """Too large for a chip is a result like any other, where something else is verified."""
    assert cli("run aes128gcm/mbedtls -t attiny85 -w 0/16").code == 1
    assert cli("run aes128gcm/mbedtls tinyjambu128v2/small -t attiny85 -w 0/16").code == 0
    assert cli("run nocrypt -t attiny85 -w 0/16").code == 0


def test_a_dry_run_tells_sources_of_one_name_apart(cli: Cli, tmp_path: Path) -> None:
    bundled = CIPHERS / "crypto_aead/tinyjambu/tinyjambu128v2/small"
    mine = tmp_path / "crypto_aead/tinyjambu128v2/small"
    shutil.copytree(bundled, mine)
    (mine / "more.c").write_text("int more;\n")
    planned = cli(["run", "tinyjambu128v2/small", str(mine), "-t", "uno", "--dry-run"]).out
    labels = [line.split()[1] for line in planned.splitlines() if "tinyjambu128v2/small" in line]
    assert len(labels) == len(set(labels)) == 2, planned


def test_a_dry_run_asks_no_machine_and_builds_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    the_target("host")
    assert "8 to run, 0 stored; nothing was done" in cli("run nocrypt -t host,raspberry-pi --dry-run -w kat").out
    assert cli("run nocrypt -t host -w kat").code == 0
    jobs._clock_of.cache_clear()

    def touched(*_: object) -> None:
        raise AssertionError("a dry run does nothing")

    monkeypatch.setattr("steelyard.building.build", touched)
    monkeypatch.setattr("steelyard.device.opened", touched)
    result = cli("run nocrypt -t host --dry-run -w kat")
    assert result.code == 0, result.err
    assert "asks the machine when it runs; all else as in run 1" in result.out
    assert "0 to run, 0 stored, 4 that ask their machine first; nothing was done" in result.out
    assert not (tmp_path / ".steelyard").exists()


@pytest.mark.parametrize("command", ["run nocrypt -t uno -w kat --dry-run", "check nocrypt -t uno"])
def test_lines_of_several_primitives_say_which(cli: Cli, command: str) -> None:
    lines = cli(command).out.splitlines()
    for primitive in ("crypto_aead", "crypto_hash", "crypto_cxof"):
        assert any(line.split()[:3] == ["nocrypt/ref", primitive, "uno"] for line in lines)


def test_a_figure_of_the_baseline_alone(cli: Cli) -> None:
    assert cli("run nocrypt -t uno -w kat --flags=-Os").code == 0
    for name in ("tradeoff", "rom", "history"):
        result = cli(f"plot {name} nocrypt")
        assert result.code in (0, 1), result.err


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (Reason.UNREACHABLE, "ssh"),
        (Reason.WRONG_MACHINE, "real machine"),
        (Reason.COUNTER_LOST, "counters"),
        (Reason.NOT_SIMULATED, "simulated target"),
    ],
)
def test_no_machine_of_a_program_is_to_be_switched_off(reason: Reason, word: str) -> None:
    assert word in reason.next_action
    assert "power-cycle" not in reason.next_action


def test_what_a_campaign_excludes_in_vain(cli: Cli, tmp_path: Path) -> None:
    """A word that leaves nothing out is a mistake; a primitive that does is not one."""
    lines = f'implementations = ["{FAST}"]\nexclude = ["tinyjambu128v2/fats", "crypto_hash"]\ntargets = ["uno"]\n'
    (tmp_path / "some.toml").write_text(lines)
    done = cli("run some.toml --dry-run")
    said = "exclude: nothing of this campaign is called 'tinyjambu128v2/fats'; did you mean tinyjambu128v2/fast"
    assert (done.code, said in done.err, "crypto_hash" in done.err) == (0, True, False)
    (tmp_path / "some.toml").write_text(lines.replace("tinyjambu128v2/fats", "nocrypt"))
    assert "called 'nocrypt'; it is run because its image is subtracted" in cli("run some.toml --dry-run").err


def test_no_next_action_is_the_command_just_given() -> None:
    """Who reads it has just shown the run."""
    assert [r for r in Reason if r.next_action.endswith("show RUN")] == []


@pytest.mark.parametrize("more", ["", " --verify", " --trace signals.vcd", " --device artix7 --report it.rpt"])
def test_a_design_of_an_algorithm_that_nothing_has_is_known(cli: Cli, more: str) -> None:
    Path("it.rpt").touch()
    done = cli(f"rtl nocrypt/default --aead nosuch{more} --columns lut")
    assert done.code
    assert "no bundled software is called nosuch" in " ".join((done.out + done.err).split())
    assert "unknown design" not in done.err
    assert "ascon" not in done.out


def test_a_table_of_a_report_names_no_tool_of_ours(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = replace(record(primitive="lwc_rtl", target="artix7"), metrics={"lut": 1612})
    monkeypatch.setattr("steelyard.cli.rtl.Hardware.campaign", lambda *_: [weighed])
    assert "yosys" in (told := cli("rtl nocrypt/default --device artix7").out)
    assert "reports say" not in told
    assert "reports say" in (told := cli("rtl nocrypt/default --device artix7 --report it.rpt").out)
    assert "yosys" not in told


def test_what_is_no_design_beside_one_is_refused_or_counts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report or trace is not of whichever is left, and nobody takes the rest for all that was asked."""
    weighed = replace(record(primitive="lwc_rtl", target="artix7"), metrics={"lut": 1612})
    monkeypatch.setattr("steelyard.cli.rtl.Hardware.campaign", lambda *_: [weighed])
    monkeypatch.setattr("steelyard.cli.rtl.Hardware.verified", lambda *_: Verified(None))
    monkeypatch.setattr("steelyard.cli.rtl.tools.missing", lambda *_: None)
    Path("core").mkdir()
    Path("core/toy.sv").touch()
    for name in ("x1", "x2"):
        Path(f"core/{name}.toml").write_text('[rtl]\ntop = "toy"\nsources = ["toy.sv"]\n')
    assert [cli(f"rtl core -d artix7{more}").code for more in ("", " --verify")] == [0, 0]
    Path("core/x1.toml").write_text(Path("core/x1.toml").read_text().replace("toy.sv", "gone.sv"))
    assert [cli(f"rtl core -d artix7{more}").code for more in ("", " --verify")] == [1, 1]
    for more in ("--report it.rpt", "--trace signals.vcd"):
        done = cli(f"rtl core -d artix7 {more}")
        assert (done.code, "x1.toml: gone.sv is not there" in done.err) == (2, True)
        assert cli(f"rtl core/x1 -d artix7 {more}").code == 2
    assert cli("rtl core/x2 -d artix7 --report it.rpt").code == 0


@pytest.mark.parametrize(("file", "why"), [("gone/s.vcd", "there is no folder gone"), (".", "is a folder")])
def test_a_trace_that_cannot_be_written_is_refused_before_the_simulation(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, file: str, why: str
) -> None:
    monkeypatch.setattr("steelyard.cli.rtl.traced", lambda *_: pytest.fail("simulated"))
    done = cli(f"rtl nocrypt/default --trace {file}")
    assert (done.code, why in done.err) == (2, True)


def test_progress_with_a_design_is_one_line_whatever_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    rtl._begins("a\nb/default: simulation")
    assert capsys.readouterr().err == "a\\nb/default: simulation\n"


def test_hardware_without_its_tools_is_one_sentence_and_no_rows(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.rtl.tools.identify", lambda name: None)
    done = cli("rtl nocrypt ascon --device ecp5,artix7")
    assert done.code == 1
    assert "no verilator, yosys" in done.err
    assert "make rtl-tools" in done.err
    assert "nothing was weighed or stored" in done.err
    assert len(done.err.splitlines()) == 1
    assert "nocrypt" not in cli("list runs").out
