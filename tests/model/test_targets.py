"""Targets as data: every folder loads, every slip is named, and no target is named anywhere else."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard import _native
from steelyard._native import Chip, Simulator
from steelyard.model import paths
from steelyard.model.errors import UserError
from steelyard.model.target import Target, load_target, target_names
from steelyard.model.workload import NAMED, workload
from tests.conftest import ROOT

TEXT = (ROOT / "targets/uno/target.toml").read_text()


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Target]]:
    """Loads a target from this text."""
    monkeypatch.setattr(paths, "TARGETS", tmp_path)

    def forget() -> None:
        load_target.cache_clear()
        target_names.cache_clear()

    def load(text: str) -> Target:
        forget()
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine/target.toml").write_text(text)
        return load_target("mine")

    yield load
    forget()


@pytest.mark.parametrize("name", sorted(p.parent.name for p in (ROOT / "targets").glob("*/target.toml")))
def test_every_target_loads_and_has_its_firmware(name: str) -> None:
    target = load_target(name)
    assert target.name == name
    assert {"target.c", "target.h"} <= {p.name for p in target.folder.iterdir()}
    if target.device != "simulator":
        return
    assert (target.folder / "link.ld").exists()
    assert target.chip.core in _native.CORES
    assert _native.Simulator(target.chip).timing_model
    header, script = ((target.folder / n).read_text() for n in ("target.h", "link.ld"))
    assert re.search(rf"SY_CLOCK_HZ {target.chip.clock_hz}UL", header)
    assert re.search("define SY_TRIGGER_READ", header), "without it the harness does not see who else moves the pin"
    assert set(re.findall(r"^ +(flash|ram) +\(\w+\) *: ORIGIN", script, re.MULTILINE)) == {"flash", "ram"}
    assert target.energy is None or (target.nanojoule_per_cycle or 0) > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tier =", "teir =", r"teir: unknown key 'teir'; did you mean tier"),
        ("clock_hz =", "clock_khz =", r"chip\.clock_khz: unknown key 'clock_khz'; did you mean clock_hz"),
        ("packages =", "pakages =", r"toolchain\.pakages: unknown key 'pakages'; did you mean packages"),
        ("[energy]", "[enerqy]", r"enerqy: unknown key 'enerqy'; did you mean energy"),
        ("volts =", "wolts =", r"energy\.wolts: unknown key 'wolts'; did you mean volts"),
        ("size = 2048", "sise = 2048", r"chip\.ram\.sise: unknown key 'sise'; did you mean size"),
        ("base = 0x23", "bas = 0x23", r"chip\.peripherals\.0\.bas: unknown key 'bas'; did you mean base"),
        ('core = "avr5"\n', "", r"chip\.core: missing"),
        (
            "clock_hz = 16_000_000",
            'clock_hz = "fast"',
            r'chip\.clock_hz: invalid type: string "fast", expected a whole number',
        ),
        (
            "clock_hz = 16_000_000",
            "clock_hz = -1",
            r"chip\.clock_hz: invalid value: integer `-1`, expected a whole number",
        ),
        ("base = 0x23, ", "", r"chip\.peripherals\.0\.base: missing$"),
        ("[chip]", "chip = 3\n[other]", r"chip: invalid type: integer `3`, expected a table$"),
        ('core = "avr5"', "core = 5", r"chip\.core: invalid type: integer `5`, expected text$"),
        ('core = "avr5"', 'core = "avr55"', r"chip: core: unknown core .avr55.; known: avr25, avr5, avr51"),
        ("clock_hz = 16_000_000", "clock_hz = 0", r"chip: clock_hz: 0 Hz"),
        ("size = 32768", "size = 0", r"chip: flash: a region of 0 bytes"),
        ("trigger_bit = 5", "trigger_bit = 55", r"chip: peripherals: avr-port: a trigger_bit above 31"),
        ('"avr-usart"', '"avr-uart"', r"chip: peripherals: unknown kind .avr-uart.; known: .* avr-port "),
        (
            "peripherals = [",
            "flash_timing = { line_bytes = 3 }\nperipherals = [",
            r"chip: flash_timing\.line_bytes: not",
        ),
        (
            "peripherals = [",
            "flash_timing = { wait_states = 9 }\nperipherals = [",
            r"chip: flash_timing\.wait_states: not read by the model of avr5",
        ),
        ('tier = "exact"', 'tier = "exakt"', r"tier: invalid enum value 'exakt'"),
        ("volts = 5.0", "volts = nan", r"energy\.volts: expected `float` > 0"),
        ("milliamperes = 5.2", "milliamperes = -5.2", r"energy\.milliamperes: expected `float` > 0"),
        ("clock_hz = 8_000_000", "clock_hz = 0", r"energy\.clock_hz: expected `int` >= 1"),
        ("[chip]", "[chip", r"line \d+"),
        ('title = "Arduino Uno"', 'title = ""\ndevice = "board"', r"device: boards are named in lab\.toml"),
        (TEXT[TEXT.index("[wiring]") : TEXT.index("[toolchain]")], "", r"wiring: missing"),
    ],
)
def test_slips_are_named(load: Callable[[str], Target], old: str, new: str, message: str) -> None:
    assert load(TEXT).name == "mine"
    assert old in TEXT
    with pytest.raises(UserError, match=rf"mine/target\.toml: .*{message}"):
        load(TEXT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("LENGTH = 2K", "LENGTH = 2560", r"ram is 2560 bytes at 0x800100, and 2048 at 0x800100 in target.toml$"),
        ("0x800100", "0x800200", r"ram is 2048 bytes at 0x800200, and 2048 at 0x800100 in target.toml$"),
        ("32K - 512", "33K - 512", r"flash is 33280 bytes at 0x0, and 32768 at 0x0 in target.toml$"),
        ("32K - 512", "SIZE", r"flash: write its ORIGIN and LENGTH as numbers$"),
        ("32K - 512", "(32K-0x200)", None),
        ("    ram (rw)  ", "    sram (rw) ", r"ram: write its ORIGIN and LENGTH as numbers$"),
    ],
)
def test_the_linkers_memory_is_the_chips(
    load: Callable[[str], Target], tmp_path: Path, old: str, new: str, message: str | None
) -> None:
    """Flash may be less, where a boot loader has the rest."""
    script = (ROOT / "targets/uno/link.ld").read_text()
    assert old in script
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/link.ld").write_text(script)
    assert load(TEXT).name == "mine"
    (tmp_path / "mine/link.ld").write_text(script.replace(old, new))
    if message is None:
        assert load(TEXT).name == "mine"
    else:
        with pytest.raises(UserError, match=rf"mine/link\.ld: {message}"):
            load(TEXT)


@pytest.mark.parametrize(
    ("target", "number", "read"),
    [
        ("due", "wait_states", False),
        ("stm32f407", "wait_states", False),  # no lines
        ("bluepill", "wait_states", True),
        ("bluepill", "queue_words", False),
        ("nrf52840", "queue_words", True),
        ("nrf52840", "prefetch_lines", False),
        ("nucleo-f746zg", "prefetch_lines", True),
        ("nucleo-f746zg", "queue_words", False),
        ("esp8266-flash", "data_wait_states", True),
        ("maixduino", "cache_lines", False),
    ],
)
def test_numbers_of_flash_that_no_model_reads_are_refused(target: str, number: str, read: bool) -> None:
    chip = json.loads(load_target(target).chip.json)
    chip["flash_timing"] |= {number: 2}
    if number == "cache_lines":
        chip["flash_timing"] |= {"line_bytes": 16}
    if read:
        Simulator(Chip(json.dumps(chip)))
    else:
        with pytest.raises(ValueError, match=r"flash_timing\.\w+: not read by the model"):
            Simulator(Chip(json.dumps(chip)))


def test_a_compiler_without_a_package_says_where_it_comes_from(load: Callable[[str], Target]) -> None:
    assert load(TEXT).toolchain.fix == "apt install gcc-avr avr-libc binutils-avr"
    note = 'packages = []\nnote = "ask the vendor"'
    assert load(re.sub(r"packages = .*", note, TEXT)).toolchain.fix == "ask the vendor"


def test_another_compiler_stands_in_until_the_own_one_is_here(load: Callable[[str], Target]) -> None:
    substitute = TEXT[TEXT.index("[toolchain]") : TEXT.index("[energy]")].replace("[toolchain]", "[substitute]")
    for old, new in (
        ('compiler = "avr-gcc"', 'compiler = "sh"'),
        ("flags = [", 'note = "other code"\nflags = ["-I{folder}", '),
    ):
        assert old in substitute
        substitute = substitute.replace(old, new, 1)
    own = TEXT.replace('compiler = "avr-gcc"', 'compiler = "no-such-gcc"')
    target = load(f"{own}\n{substitute}")
    assert target.toolchain.compiler == "sh"
    assert target.toolchain.flags[0] == f"-I{target.folder}"
    assert target.stand_in == "other code"
    assert target.preferred is not None
    assert target.preferred.compiler == "no-such-gcc"
    here = load(TEXT.replace('compiler = "avr-gcc"', 'compiler = "cat"') + "\n" + substitute)
    assert (here.toolchain.compiler, here.stand_in, here.preferred) == ("cat", "", None)
    neither = load(own + "\n" + substitute.replace('"sh"', '"no-such-cc"'))
    assert (neither.toolchain.compiler, neither.stand_in) == ("no-such-gcc", "")


def test_alternatives_are_chosen_by_name(load: Callable[[str], Target]) -> None:
    more = TEXT[TEXT.index("[toolchain]") : TEXT.index("[energy]")].replace("[toolchain]", "[[alternative]]")
    more = more.replace('name = "avr-gcc"', 'name = "other-cc"').replace("flags = [", 'flags = ["-I{folder}/include", ')
    target = load(f"{TEXT}\n{more}")
    assert [spec.name for spec in target.toolchains] == ["avr-gcc", "other-cc"]
    other = target.using("other-cc")
    assert (other.toolchain.name, other.toolchain.flags[0]) == ("other-cc", f"-I{target.folder}/include")
    assert [spec.name for spec in other.toolchains] == ["other-cc"]
    assert target.using("nobody's") == target
    with pytest.raises(UserError, match=r"alternative\.0\.pakages: unknown key 'pakages'; did you mean packages"):
        load(f"{TEXT}\n{more.replace('packages =', 'pakages =')}")


def test_unknown_targets(load: Callable[[str], Target]) -> None:
    load(TEXT)
    with pytest.raises(UserError, match=r"^unknown target 'mime'; did you mean mine\?$"):
        load_target("mime")
    with pytest.raises(UserError, match=r"^unknown target '../uno'; known: mine$"):
        load_target("../uno")


def test_the_digest_is_of_every_file(load: Callable[[str], Target], tmp_path: Path) -> None:
    first = load(TEXT).digest
    (tmp_path / "mine/more.c").write_text("int more;\n")
    second = load(TEXT).digest
    assert second != first
    (tmp_path / "mine/include").mkdir()
    (tmp_path / "mine/include/more.c").write_text("int more;\n")
    third = load(TEXT).digest
    assert len({third, load(TEXT + "\n").digest, first, second}) == 4
    (tmp_path / "mine/blocks.toml").write_text("timer = [1, 2]\n")  # of which no image is made
    assert load(TEXT).digest == third
    (tmp_path / "mine/.#target.c").symlink_to("an-editor's-lock")
    assert load(TEXT).digest == third
    (tmp_path / "mine/more.c").write_text("int less;\n")
    assert load(TEXT).digest not in {third, second}


def test_a_target_is_named_in_its_folder_and_nowhere_else() -> None:
    """So that adding one touches one folder. Documentation, tests, oracles and benchmarks may speak of them, and
    flashers say what their tool calls a chip, which may be the same."""
    simulated = (n for n in target_names() if load_target(n).device == "simulator")
    names = "|".join(map(re.escape, simulated))
    named = re.compile(rf"""["'`/](?:{names})["'`/]""")  # in a string or a path; comments may speak of chips
    word = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])")  # nothing is quoted in a Makefile
    found = []
    for top in ("src", "crates", "harness", "scripts", "Makefile"):
        for file in [ROOT / top, *(ROOT / top).rglob("*")]:
            place = file.relative_to(ROOT)
            if (
                not file.is_file()
                or file.suffix in (".so", ".pyc")
                or {"tests", "examples", "lockstep", "flashers"} & set(place.parts)
            ):
                continue
            text = file.read_text(errors="replace")
            found += [
                f"{place}: {text[m.start() - 30 : m.end() + 30]!r}"
                for m in (word if top == "Makefile" else named).finditer(text)
            ]
    assert found == []


def test_workloads() -> None:
    assert workload("16/64,16/64,0/5").sizes == ((16, 64), (0, 5))
    assert workload("kat").sizes == ()
    assert len(workload("nist-grid").sizes) == 289
    for text in ("16/", "/", "1/2,", "1/2,x/3", "-1/2", "1/99999", "1/2/3"):
        with pytest.raises(UserError, match="workload size"):
            workload(text)
    with pytest.raises(UserError, match="did you mean nist-grid"):
        workload("nistgrid")
    assert set(NAMED) >= {"default", "kat"}


@pytest.mark.parametrize("name", [n for n in target_names() if load_target(n).is_chip])
def test_the_pin_that_is_wired_is_the_trigger(name: str) -> None:
    target = load_target(name)
    assert target.wiring is not None
    pin = re.split(r"\D+", target.wiring.trigger.split(",")[0])[-1]
    chip = tomllib.loads((target.folder / "target.toml").read_text())["chip"]
    [bit] = [p["trigger_bit"] for p in chip["peripherals"] if "trigger_bit" in p]
    assert int(pin) == (21 if name == "maixduino" else bit)  # whose pins are routed: GPIOHS0 is on IO21
