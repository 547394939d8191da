"""The image of a run is the one that was weighed, in formats that other tools read alike, or what differs is said."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.store import Store
from tests import toys
from tests.conftest import the_target, write

from .conftest import Cli


def newest(cli: Cli, field: str = "variant") -> dict[str, int]:
    """Numbers of the newest runs."""
    rows = json.loads(cli("list runs --json").out)
    return {row["setup"][field]: row["id"] for row in reversed(rows)}


@pytest.mark.parametrize("name", ["uno", "bluepill", "gd32vf103"])
def test_every_format_holds_what_objcopy_finds(
    cli: Cli, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Initial values of data lie past a gap, and Cortex-M's addresses are beyond 16 bits."""
    target = the_target(name)
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    used = "{ volatile unsigned char *p = counts; p[mlen & 7]++; }"
    package = toys.files(top="static unsigned char counts[9] = {1};", in_encrypt=used)
    write(tmp_path / "old/crypto_aead/toy1/ref", package)
    assert cli(f"check old -t {name} -f -Os").code in (
        0,
        1,
    )  # no known answers: not verified, and an image all the same
    run = newest(cli)["toy1"]
    for ending in ("elf", "hex", "bin"):
        assert cli(f"image {run} -o x.{ending}").code == 0
    cached = {f.read_bytes() for f in (tmp_path / "home/cache/build").glob("*/*/both.elf")}
    assert (tmp_path / "x.elf").read_bytes() in cached
    objcopy = f"{target.toolchain.prefix}objcopy"
    for source in (["x.elf"], ["-I", "ihex", "x.hex"]):
        subprocess.run([objcopy, *source, "-O", "binary", "theirs.bin"], cwd=tmp_path, check=True)
        assert (tmp_path / "theirs.bin").read_bytes() == (tmp_path / "x.bin").read_bytes()
    assert "it is for ESP chips" in cli(f"image {run} -o x.esp").err


def test_an_image_is_the_one_that_was_weighed(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    the_target("uno")
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    folder = tmp_path / "old/crypto_aead/toy1/ref"
    # the known answers are a part of the sources' identity, so the cache cannot be asked without them
    for extra in ({}, {"LWC_AEAD_KAT_128_128.txt": toys.kat()}):
        write(folder, toys.files() | extra)
        assert cli("check old -t uno -f -Os").code in (0, 1)
        number = newest(cli)["toy1"]
        first = cli(f"image {number} --json").out
        [encrypt] = (f for f in folder.iterdir() if f.suffix == ".c")
        text = encrypt.read_text()
        encrypt.write_text(text + "int more;\n")
        kept = cli(f"image {number} --json")
        if not extra:
            assert kept.out == first
            shutil.rmtree(tmp_path / "home/cache/build")
        refused = cli(f"image {number} -o x.elf")
        assert refused.code == 1
        assert f"run {number}: its image cannot be made again: sources changed, " in refused.err
        assert "steelyard run old" in refused.err
        assert not (tmp_path / "x.elf").exists()
        encrypt.write_text(text)
        shutil.rmtree(tmp_path / "home/cache/build", ignore_errors=True)
        assert cli(f"image {number} --json").out == first.replace("the cache", "built again")

    shutil.move(tmp_path / "old", tmp_path / "elsewhere")
    assert "its sources are not here" in cli(f"image {number}").err
    with Store.open("results.db") as store:
        record = store.get(number)
        assert record is not None
        other = replace(
            record, id=None, setup=replace(record.setup, toolchain=replace(record.setup.toolchain, sha256="0"))
        )
        changed = store.add(replace(other, origin="elsewhere"))
        sized = store.add(replace(record, id=None, origin="elsewhere", metrics={"image_rom": 1}))
    said = cli(f"image {changed}")
    assert (said.code, said.out) == (1, "")
    assert "another compiler" in said.err
    said = cli(f"image {sized} -o x.elf")
    assert said.code == 1
    assert "is not the image that was weighed: image_rom is " in said.err
    assert cli("image 99").err == "steelyard: there is no run 99; steelyard list runs shows them\n"


def test_the_command_that_flashes_is_that_of_the_chip(cli: Cli, tmp_path: Path) -> None:
    names = ("uno", "esp8266", "esp8266-flash", "rp2040", "host")
    for name in names:
        the_target(name)
    assert cli(f"run nocrypt -t {','.join(names)} -w kat -f -Os").code == 0
    runs = newest(cli, "target")
    assert (
        "avrdude -c arduino -p ATmega328P -P PORT -b 115200 -D -U flash:w:x.hex:i\n"
        in cli(f"image {runs['uno']} -o x.hex").err
    )
    assert "-D -U flash:w:x.bin:r\n" in cli(f"image {runs['uno']} -o x.bin").err
    said = cli(f"image {runs['esp8266']} -o x.esp").err
    assert (
        "esptool --connect-attempts 20 --chip esp8266 --port PORT --baud 115200 write-flash --no-progress 0x0 x.esp\n"
        in said
    )
    assert (tmp_path / "x.esp").read_bytes()[0] == 0xE9
    assert "take esp" in cli(f"image {runs['esp8266']} -o x.bin").err
    for file in ("x.elf", "x.bin"):
        said = cli(f"image {runs['esp8266-flash']} -o {file}").err
        assert "No boot ROM loads what is for esp8266-flash; take the image of a run on esp8266." in said
    assert (
        "no boot ROM loads what is for esp8266-flash: take that of esp8266, or .elf"
        in cli(f"image {runs['esp8266-flash']} -o x.esp").err
    )
    assert "Its first byte belongs at 0x20000000" in cli(f"image {runs['rp2040']} -o x.bin").err
    assert "is a program of this machine's kind" in cli(f"image {runs['host']} -o x.bin").err
