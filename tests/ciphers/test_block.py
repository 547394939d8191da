"""Every bundled block cipher: known answers by digest, what ``crypto_block.h`` promises, and plain C for any ``int``.

``steelyard.verify.knownblock`` has the digests: of answers, chains and the archive's vectors.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracles import bouncycastle
from oracles.bouncycastle import BouncyCastle
from steelyard.model.call import Vector
from steelyard.model.paths import CIPHERS, HARNESS
from steelyard.model.variant import rate_of
from steelyard.reference import candidates
from steelyard.verify.knownblock import CHAINS, COUNT, digest, known_blocks
from tests.ciphers.common import BLOCKS, LIBRARY, needed, sanitized
from tests.ciphers.test_every_cipher import INTS, STRICT
from tests.conftest import the_target

ROWS = {name: known for name, known in known_blocks().items() if name != "nocrypt"}
FOLDERS = sorted(api.parent for api in (CIPHERS / "crypto_block").glob("*/*/*/api.h") if "nocrypt" not in api.parts)
PORTABLE = [f for f in FOLDERS if not (f / "architectures").is_file()]
ASSEMBLY = {
    name: [f for f in FOLDERS if f not in PORTABLE and (f / "architectures").read_text() == f"{name}\n"]
    for name in ("avr", "armeabi")
}
EVERY = pytest.mark.parametrize("folder", PORTABLE, ids=lambda f: f"{f.parent.name}-{f.name}")
#: known answers of all block ciphers, where a machine has them; the digests say the same without
NAMED = os.environ.get("STEELYARD_BLOCK_ANSWERS")
ARCHIVE = Path(NAMED or Path(__file__).parents[3] / "shared" / "kat" / "block")
#: what has assembly: a folder that is gone is missed
AVR = {"aes128", "lea128", "present80", "simon6496", "simon64128", "speck6496", "speck64128"}
ARM = {"aes128", "lea128", "speck64128"}
#: what BouncyCastle has; of HIGHT, KATAN, KTANTAN, LEA, Piccolo, PRESENT, PRINCE, QARMA, RECTANGLE, SIMON, SPECK and
#: TWINE neither it nor OpenSSL has any
JUDGED = ("aes128", "aes192", "aes256", "xtea")
_DRIVER = Path(__file__).with_name("block_driver.c")


def test_what_every_target_can_build_answers_before_assembly() -> None:
    """Else each run would build it first for a machine that is another."""
    for implementation in (i for i in BLOCKS if i.label in {f"{variant}/ref" for variant in AVR | ARM}):
        several = candidates(implementation)
        assert several[0].architectures == (), implementation.label
        assert several[-1].architectures != (), implementation.label


def size(folder: Path, of: str) -> int:
    """``CRYPTO_<of>BYTES`` of an implementation."""
    found = re.search(rf"#define CRYPTO_{of}BYTES (\d+)\n", (folder / "api.h").read_text())
    assert found
    return int(found[1])


@pytest.mark.parametrize("target", ["uno", "bluepill"])
@EVERY
def test_a_context_has_no_byte_that_is_not_used(folder: Path, target: str, tmp_path: Path) -> None:
    """RAM of `choose` and `study` has a context, so that too large a one would tell against the cipher."""
    t = the_target(target)
    code = "".join(f'#include "{p}"\n' for p in folder.glob("*.c"))
    code += "typedef char used[sizeof(context) == CRYPTO_CONTEXTBYTES ? 1 : -1];\n"
    (tmp_path / "context.c").write_text(code)
    command = [t.toolchain.compiler, *t.toolchain.flags, "-fsyntax-only", f"-I{folder}", f"-I{HARNESS / 'include'}"]
    done = subprocess.run([*command, str(tmp_path / "context.c")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def inputs(folder: Path, count: int = COUNT) -> Iterator[tuple[bytes, bytes]]:
    """The known variant's keys and blocks."""
    return ROWS[folder.parent.name].inputs(count)


def vectors(variant: str) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The archive's vectors of a variant: key (followed by the tweak), block and encrypted block."""
    for file in sorted(ARCHIVE.glob("*.json")):
        for name, entry in json.loads(file.read_text())["variants"].items():
            for v in entry["vectors"]:
                whole = f"{name}{v['sbox']}r{v['r']}" if "r" in v else name
                if re.sub(r"\W", "", whole) == variant:
                    yield tuple(bytes.fromhex(x) for x in (v["key"] + v.get("tweak", ""), v["pt"], v["ct"]))  # type: ignore[misc]


def sources(folder: Path) -> list[str]:
    """The C files of an implementation, and options for headers."""
    return [f"-I{folder}", f"-I{HARNESS / 'include'}", *(str(p) for p in sorted(folder.glob("*.c")))]


def built(folder: Path) -> list[str]:
    """The command that runs ``block_driver.c`` around an implementation, under sanitizers."""
    the_target("host")
    return [str(sanitized(f"block {folder.parent.name} {folder.name}", [str(_DRIVER), *sources(folder)]))]


def ask(run: list[str], mode: str, asked: list[tuple[bytes, bytes]]) -> list[bytes]:
    """What the driver that is run answers to keys and blocks."""
    lines = "".join(f"{key.hex()} {block.hex()}\n" for key, block in asked)
    done = subprocess.run([*run, mode], input=lines, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[:4000]
    return [bytes.fromhex(line) for line in done.stdout.splitlines()]


def test_every_variant_has_digests_and_both_implementations() -> None:
    named = {f.parent.name for f in FOLDERS}
    assert named == set(ROWS)
    assert {f.parent.name for f in ASSEMBLY["avr"]} == AVR
    assert {f.parent.name for f in ASSEMBLY["armeabi"]} == ARM
    assert len(FOLDERS) == len(PORTABLE) + sum(map(len, ASSEMBLY.values()))
    assert all({f.name for f in PORTABLE if f.parent.name == name} >= {"ref", "fast"} for name in named)
    assert all(rate_of(f.parent) == 8 * ROWS[f.parent.name].block for f in FOLDERS)
    sizes = {f: (ROWS[f.parent.name].key, ROWS[f.parent.name].block) for f in FOLDERS}
    assert sizes == {f: (size(f, "KEY"), size(f, "BLOCK")) for f in FOLDERS}


@EVERY
def test_answers(folder: Path) -> None:
    run, row = built(folder), ROWS[folder.parent.name]
    assert digest(ask(run, "answers", list(inputs(folder)))) == row.answers_sha256
    assert digest(ask(run, "chain", list(inputs(folder, CHAINS)))) == row.chain_sha256


@EVERY
def test_archive(folder: Path) -> None:
    if not NAMED and not ARCHIVE.is_dir():
        pytest.skip("STEELYARD_BLOCK_ANSWERS names no archive of known answers")
    run, row = built(folder), ROWS[folder.parent.name]
    archive = list(vectors(folder.parent.name))
    assert len(archive) == row.vectors
    assert {(len(key), len(block)) for key, block, _ in archive} <= {(row.key, row.block)}
    assert digest([b"".join(v) for v in archive]) == row.vectors_sha256
    assert ask(run, "answers", [(key, block) for key, block, _ in archive]) == [answer for _, _, answer in archive]


@EVERY
def test_promises(folder: Path) -> None:
    done = subprocess.run(built(folder), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[:4000]


@pytest.mark.parametrize("bits", INTS)
@EVERY
def test_it_is_plain_c(folder: Path, bits: int) -> None:
    the_target({32: "host", 16: "uno"}[bits])
    done = subprocess.run([*INTS[bits], *STRICT, *sources(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


@EVERY
def test_it_needs_no_library(folder: Path, tmp_path: Path) -> None:
    the_target("host")
    assert needed(sources(folder), tmp_path) <= LIBRARY


@pytest.mark.parametrize("folder", ASSEMBLY["avr"], ids=lambda f: f.parent.name)
def test_assembly_for_avr(folder: Path, tmp_path: Path) -> None:
    the_target("uno")
    if shutil.which("simavr") is None:
        pytest.skip("simavr is not installed")
    asked = list(inputs(folder, 8))
    answers = ask(built(folder.with_name("ref")), "answers", asked)
    text = ""
    for name, rows in (("keys", [key for key, _ in asked]), ("blocks", [block for _, block in asked])):
        initial = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows)
        text += f"static const unsigned char {name}[][{len(rows[0])}] = {{{initial}}};\n"
    (tmp_path / "inputs.h").write_text(text)
    files = [str(_DRIVER.with_name("block_uno.c")), *(str(p) for p in sorted(folder.glob("*.S")))]
    command = ["avr-gcc", "-mmcu=atmega328p", "-Os", f"-I{tmp_path}", *sources(folder), *files, "-o", "uno.elf"]
    subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    done = subprocess.run(
        ["simavr", "-m", "atmega328p", "-f", "16000000", "uno.elf"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    expected = [x.hex() for (_, block), answer in zip(asked, answers, strict=True) for x in (answer, block)]
    printed = re.sub(r"\x1b\[\d*m", " ", done.stdout + done.stderr)  # in colours
    assert re.findall(rf"\b[0-9a-f]{{{len(expected[0])}}}\b", printed) == expected


@pytest.mark.parametrize("folder", ASSEMBLY["armeabi"], ids=lambda f: f.parent.name)
def test_assembly_for_arm(folder: Path, tmp_path: Path) -> None:
    """In QEMU's Linux mode, which has no core of the M profile: the code is Thumb-2 that all ARMv7 understand."""
    the_target("bluepill")
    if shutil.which("qemu-arm") is None:
        pytest.skip("qemu-arm is not installed")
    flags = ["-mcpu=cortex-a9", "-mthumb", "-O1", "--specs=rdimon.specs"]
    files = [str(_DRIVER), *sources(folder), *(str(p) for p in sorted(folder.glob("*.S")))]
    program = tmp_path / "driver.elf"
    subprocess.run(["arm-none-eabi-gcc", *flags, *files, "-o", str(program)], capture_output=True, check=True)
    run, row = ["qemu-arm", "-cpu", "cortex-a9", str(program)], ROWS[folder.parent.name]
    assert digest(ask(run, "answers", list(inputs(folder)))) == row.answers_sha256
    assert digest(ask(run, "chain", list(inputs(folder, CHAINS)))) == row.chain_sha256
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout


def test_fixsliced_assembly_is_what_its_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = CIPHERS.parent / "scripts"
    monkeypatch.syspath_prepend(scripts)
    script = runpy.run_path(str(scripts / "fixslice.py"))
    assert script["module"]() == script["FILE"].read_text()


@pytest.mark.parametrize("variant", ["aes128", "aes192", "aes256"])
def test_openssl_agrees(variant: str) -> None:
    ciphers = pytest.importorskip("cryptography.hazmat.primitives.ciphers")
    folder = CIPHERS / "crypto_block" / "aes" / variant / "ref"
    answers = []
    for key, block in inputs(folder):
        encryptor = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.ECB()).encryptor()
        answers.append(encryptor.update(block))
    assert digest(answers) == ROWS[variant].answers_sha256


@pytest.mark.long
def test_bouncycastle_agrees() -> None:
    if (absent := bouncycastle.missing()) is not None:
        pytest.skip(absent)
    with BouncyCastle() as oracle:
        for variant in JUDGED:
            asked = [Vector(1, key, b"", block, b"") for key, block in ROWS[variant].inputs()]
            answers = [oracle.answer(variant, 0, v) for v in asked]
            assert all(isinstance(a, bytes) for a in answers), answers[0]
            assert digest(a for a in answers if isinstance(a, bytes)) == ROWS[variant].answers_sha256, variant
        assert str(oracle.answer("simon64128", 0, asked[0])).endswith("no such variant")
