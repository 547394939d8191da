"""A board is weighed as the simulator is, through the field's own tools; what fails says which part, and what to do.

avrdude, pyserial and sigrok-cli are the real ones; the boards are our simulated chips behind them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from unittest import mock

import pytest
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.device import counter
from steelyard.lab import Lab, flash, link
from steelyard.lab.lock import held, port_of, taken
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Failure, Reason
from steelyard.pipeline import Pipeline, nocrypt
from steelyard.sources import discover
from tests import toys
from tests.conftest import ROOT, UNTOUCHED, Bench, WrongFigure, the_target, write
from tests.conftest import near as figure
from tests.lab.conftest import OTHERS

from .calls import CALL, CALLS, call, failing, near

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


@pytest.mark.parametrize(
    "name", ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "sixteen", "seventeen", "eighteen"]
)
def test_pulses_are_the_simulators_to_the_sample(there: Lab, bench: Bench, name: str) -> None:
    station = there.board(name)
    image = bench.build(bench.package(), the_target(station.board.target)).images["both"]
    requests = [Request(Op.ENCRYPT, bytes(16), bytes(16), bytes(n % 7), bytes(n)) for n in range(0, 200, 5)]
    predicts = 16 if station.board.target == "maixduino" else 0  # its branches remember how often the line was polled
    simulated = device.Client(device.SimulatorLink(station.target, image)).calls(requests)
    with lab.opened(station, image, 10**8, Event()) as opened:
        for board, ours in zip(device.Client(opened).calls(requests), simulated, strict=True):
            assert board.output == ours.output, "wrong-output"
            room = station.cycles_per_sample + 0.5 + predicts  # are whole
            figure(board.pulse.cycles, ours.pulse.cycles, room, name)


LATER = ("four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "sixteen", "seventeen", "eighteen", *OTHERS)
SLOW = [pytest.param(n, marks=pytest.mark.long) for n in LATER]


@pytest.mark.parametrize("name", ["one", "three", *SLOW])
def test_a_board_gives_the_simulators_record(request: pytest.FixtureRequest, bench: Bench, name: str) -> None:
    """Its RAM too, as Renner measures it, where a debug probe can look."""
    found: Lab = request.getfixturevalue("others" if name in OTHERS else "there")
    station = found.board(name)
    variant = bench.package().folder.parent
    write(variant, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    simulated = bench.job(bench.package(), the_target(station.board.target), "0/16,16/0")
    pipeline = Pipeline(bench.store, threads=1)
    ours, board = (pipeline.weigh(job) for job in (simulated, replace(simulated, on=(station,))))
    assert (ours.failure, board.failure) == (None, None)
    assert board.verification == ours.verification
    assert (board.setup.device, board.setup.timing_model) == ("virtual-board", station.clock)
    assert lab.board_of(board.setup.device, board.notes) == name
    assert len(ours.points) == 6
    for a, b in zip(board.points, ours.points, strict=True):
        assert (a.operation, a.adlen, a.mlen) == (b.operation, b.adlen, b.mlen)
        figure(a.cycles, b.cycles, 2 * max(station.cycles_per_sample, 1), a)  # a call's pulse and the empty one's
        assert a.counter is not None
        figure(a.counter, b.cycles, 2 * station.cycles_per_sample + counter.WAY, f"{a}, by the counter")
    assert board.metrics["counter_difference"] <= 2 * station.cycles_per_sample + counter.WAY
    for metric in ("rom", "ram_static", "heap", *(["image_ram_touched", "ram_renner"] if station.probe else [])):
        # a byte at the edge of what nocrypt wrote may hold the paint's value, which a dump of RAM takes for unwritten
        figure(board.metrics[metric], ours.metrics[metric], int(metric == "ram_renner"), metric)
    assert 0 <= ours.metrics["stack"] - board.metrics["stack"] <= UNTOUCHED.get(station.board.target, 0)
    assert [n for n in board.notes if n.startswith("cycles at the workload's sizes are medians of ")]
    assert pipeline.weigh(replace(simulated, on=(station,))).id == board.id


@pytest.mark.parametrize("name", ["crypto_block/speck/speck64128/avr", "crypto_hash/ascon/asconhash256/small"])
def test_a_board_weighs_every_primitive(there: Lab, bench: Bench, name: str) -> None:
    [implementation] = discover(CIPHERS / name).implementations
    simulated = bench.job(implementation, the_target("uno"), "0/16" if "hash" in name else "kat", "-O3")
    station = there.board("one")
    pipeline = Pipeline(bench.store, threads=1)
    ours, board = (pipeline.weigh(job) for job in (simulated, replace(simulated, on=(station,))))
    assert (ours.failure, board.failure) == (None, None)
    assert board.verification == ours.verification
    assert board.setup.device == "virtual-board"
    means = {n: v for n, v in ours.metrics.items() if n.startswith("cycles_") and n.endswith("_mean")}
    assert len(means) == (1 if "hash" in name else 8)
    for metric, mean in means.items():
        figure(board.metrics[metric], mean, 2 * max(station.cycles_per_sample, 1), metric)
    assert board.metrics["rom"] == ours.metrics["rom"]


@pytest.mark.parametrize("name", ["one", "seven", "eight", "sixteen", "seventeen", "eighteen"])
def test_an_image_that_is_there_is_not_flashed_again(
    there: Lab, bench: Bench, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    station = there.board(name)
    image = bench.build(nocrypt("crypto_aead"), the_target(station.board.target)).images["both"]
    cycles = pytest.approx(call(station, image), abs=2 * station.cycles_per_sample)
    none = ("-c", "nonsense")
    assert call(station.but(flasher=station.flasher.but(write=none, verify=none)), image) == cycles
    monkeypatch.setattr(flash, "_sure", {})  # as in a process that has not seen the board yet
    assert call(station.but(flasher=station.flasher.but(write=none)), image) == cycles
    reason, text = failing(station.but(flasher=station.flasher.but(write=none)), image.with_name("encrypt.elf"))
    assert reason == Reason.FLASH_FAILED
    assert text.startswith(f"{name}: {station.board.port}: {station.flasher.program}: ")


def test_larger_sizes_without_room_are_left_out_as_the_simulator_leaves_them(there: Lab, bench: Bench) -> None:
    """A stack that grows from some size on went over the guard: the simulator verified what the board accused."""
    step = "if (mlen > 200) { volatile unsigned char more[2 * n]; for (i = 0; i < 2 * n; i++) more[i] = 0; }"
    package = bench.package(in_encrypt=step)
    write(package.folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    job = bench.job(bench.package(in_encrypt=step), the_target("uno"), "0/16,0/256,0/512,0/600")
    pipeline = Pipeline(bench.store, threads=1)
    simulated, measured = (pipeline.weigh(replace(job, on=on)) for on in ((), (there.board("one"),)))
    for record in (simulated, measured):
        assert record.failure is None, record.failure
        assert {p.mlen for p in record.points} == {16, 256}
        assert any(note.endswith("or for the algorithm: 2") for note in record.notes), record.notes


def test_a_stack_that_goes_over_other_memory_ends_a_board_s_run_as_it_ends_the_simulator_s(
    there: Lab, bench: Bench
) -> None:
    """It is seen where the call has room by what smaller ones say: most of the array is never written."""
    step = "if (mlen > 200) { volatile unsigned char more[900 + n / 256 * 400]; more[0] = 1; }"
    package = bench.package(in_encrypt=step)
    write(package.folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    job = bench.job(bench.package(in_encrypt=step), the_target("uno"), "0/16,0/256")
    pipeline = Pipeline(bench.store, threads=1)
    for on in ((), (there.board("one"),)):
        failure = pipeline.weigh(replace(job, on=on)).failure
        assert failure is not None
        assert failure.reason is Reason.STACK_OVERFLOW


def test_a_write_that_no_board_sees_ends_its_run_as_it_ends_the_simulator_s(there: Lab, bench: Bench) -> None:
    """The first call that made one ended the trial, and what later calls did to memory was never looked at."""
    job = bench.job(bench.package(in_encrypt="((volatile unsigned char *)c)[mlen + 200] = 1;"), the_target("uno"))
    failure = Pipeline(bench.store, threads=1).weigh(replace(job, on=(there.board("one"),))).failure
    assert failure is not None
    assert failure.reason is Reason.STRAY_WRITE


def test_what_ended_the_trial_of_a_board_s_calls_is_said(
    there: Lab, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chip may have what its model has not; then nobody has looked at the stack, which a record does not hide."""
    fault = Failure(Reason.FAULT, "out-of-range: write to unmapped address 0x3e")

    def refused(*_: object) -> None:
        raise DeviceError(fault)

    monkeypatch.setattr(Pipeline, "_tried", refused)
    job = bench.job(bench.package(), the_target("uno"), "0/16")
    record = Pipeline(bench.store, threads=1).weigh(replace(job, on=(there.board("one"),)))
    assert record.failure is None or record.failure.reason is Reason.NO_EXPECTED, record.failure
    assert [n for n in record.notes if f"ended with fault: {fault.detail}: nobody has seen" in n]


def test_a_block_cipher_s_stack_is_tried_for_its_board_too(there: Lab, bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "crypto_block" / "speck" / "speck64128" / "deep"
    shutil.copytree(CIPHERS / "crypto_block" / "speck" / "speck64128" / "ref", folder)
    shutil.copy(CIPHERS / "crypto_block" / "speck" / "speck64128" / "variant.toml", folder.parent)
    text = (folder / "ref.c").read_text()
    leaf = "static void __attribute__((noinline)) leaf(void) { volatile unsigned char more[1790]; more[1789] = 1; }"
    at = text.index("int crypto_block_encrypt(")
    body = text[at:].replace("uint8_t i;", "uint8_t i; leaf();", 1)
    (folder / "ref.c").write_text(f"{text[:at]}{leaf}\n\n{body}")
    (found,) = discover(tmp_path).implementations
    job = bench.job(found, the_target("uno"), "kat")
    failure = Pipeline(bench.store, threads=1).weigh(replace(job, on=(there.board("one"),))).failure
    assert failure is not None
    assert failure.reason is Reason.STACK_OVERFLOW


def test_a_flasher_that_only_says_so_is_found_out(there: Lab, bench: Bench, image: Path) -> None:
    """The board still has the image of before, which answers the handshake; then another attempt writes."""
    station = there.board("one")
    other = bench.build(bench.package(), station.target).images["both"]
    call(station, image)
    idle = station.flasher.but(program="true", verify=())
    reason, text = failing(station.but(flasher=idle), other)
    assert reason == Reason.FLASH_FAILED
    assert re.search("the harness that answers is of build [0-9a-f]{8}, not [0-9a-f]{8}: another image", text)
    call(station, other)


_KILLED = """
import os, sys
from pathlib import Path
from threading import Thread
from steelyard import lab
from steelyard.lab.flash import flash
from steelyard.lab.lock import held
station = lab.load(Path(sys.argv[1])).board("one")
station = station.but(flasher=station.flasher.but(program="sh", write=("-c", "echo; sleep 2"), verify=()))
station = station.but(board=station.board.but(port=Path("nowhere")))
lock = held("a port", "a port")
Thread(target=flash, args=(station, Path(sys.argv[1]), lock)).start()
os.read(0, 1)
"""


def test_a_flasher_that_outlives_its_process_keeps_the_port(described: Path, tmp_path: Path) -> None:
    """What kill -9 leaves may be in the middle of writing."""
    started = tmp_path / "started"
    text = _KILLED.replace("echo;", f"echo > {started};")
    env = os.environ | {"STEELYARD_HOME": str(tmp_path / "home")}
    process = subprocess.Popen([sys.executable, "-c", text, str(described)], env=env, stdin=subprocess.PIPE)
    try:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.communicate()
    with pytest.raises(DeviceError, match="another Steelyard uses it"):
        held("a port", "a port")
    held("a port", "a port", Event()).close()


_ANOTHER = """
import os, sys
from pathlib import Path
from threading import Event
from steelyard import lab
with lab.opened(lab.load(Path(sys.argv[1])).board("one"), Path(sys.argv[2]), 10**6, Event()):
    pass
"""


def test_another_process_may_flash_between_two_jobs(
    there: Lab, described: Path, bench: Bench, image: Path, tmp_path: Path
) -> None:
    """It may have another home, so that no note of ours says so."""
    station = there.board("one")
    cycles = call(station, image)
    other = bench.build(bench.package(), the_target("uno")).images["both"]
    env = os.environ | {"STEELYARD_HOME": str(tmp_path / "other")}
    subprocess.run([sys.executable, "-c", _ANOTHER, str(described), str(other)], env=env, check=True, timeout=120)
    assert call(station, image) == cycles


_BESIDE = """
import os, sys
from pathlib import Path
from threading import Event
from steelyard import device, lab
from tests.lab.calls import CALLS
with lab.opened(lab.load(Path(sys.argv[1])).board("two"), Path(sys.argv[2]), 10**7, Event()) as opened:
    client = device.Client(opened)
    print(opened._pulses.pid, flush=True)
    os.read(0, 1)
    print(*(answer.pulse.cycles for answer in client.calls(CALLS)), opened._pulses.pid, flush=True)
    os.read(0, 1)
"""


def test_two_processes_use_one_analyzer_at_the_same_time(
    there: Lab, described: Path, bench: Bench, image: Path, tmp_path: Path
) -> None:
    """Each with a board of its own: both are open at once, or this waits for ever."""
    other = bench.build(nocrypt("crypto_aead"), the_target("atmega128")).images["both"]
    env = os.environ | {"STEELYARD_HOME": str(tmp_path / "other")}
    words = [sys.executable, "-c", _BESIDE, str(described), str(other)]
    with (
        lab.opened(there.board("one"), image, 10**7, Event()) as opened,
        subprocess.Popen(words, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as beside,
    ):
        assert beside.stdin is not None
        assert beside.stdout is not None
        client = device.Client(opened)
        samples = beside.stdout.readline()
        beside.stdin.write("\n")
        beside.stdin.flush()
        assert near(there.board("one"), [a.pulse.cycles for a in client.calls(CALLS)], image)
        *cycles, pid = map(int, beside.stdout.readline().split())
        assert near(there.board("two"), cycles, other)
        assert int(samples) == pid == opened._pulses.pid  # type: ignore[attr-defined]
        beside.stdin.close()


def test_four_boards_of_one_process_use_one_analyzer(there: Lab, bench: Bench) -> None:
    together = Barrier(4)

    def use(name: str) -> bool:
        station = there.board(name)
        image = bench.build(nocrypt("crypto_aead"), the_target(station.board.target)).images["both"]
        with lab.opened(station, image, 10**8, Event()) as opened:
            client = device.Client(opened)
            together.wait(120)
            return near(station, [a.pulse.cycles for a in client.calls(CALLS)], image)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, ["one", "two", "three", "four"])) == [True] * 4


def test_a_flasher_that_fails_says_so(there: Lab, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash, "_sure", {})
    station = there.board("one")
    wrong = station.flasher.but(
        write=tuple(w.replace("{chip}", "ATmega2560") for w in station.flasher.write), verify=("-?",)
    )
    (station.board.files / "image").unlink(missing_ok=True)
    reason, text = failing(station.but(flasher=wrong), image)
    assert reason == Reason.FLASH_FAILED
    assert "avrdude" in text
    assert "signature" in text
    reason, text = failing(station.but(flasher=wrong.but(program="no-such-flasher", package="apt install it")), image)
    assert reason == Reason.FLASH_FAILED
    assert text.split(": ", 2)[2].startswith("no-such-flasher: is not installed: apt install it; the board is virtual")


def test_a_probe_that_is_not_there_is_named(there: Lab, image: Path) -> None:
    station = there.board("three")
    assert station.probe is not None
    gone = station.probe.but(name="gone", commands=("st-link backend tcp 1", "transport select dapdirect_swd"))
    image = image.with_name("both.elf")
    reason, text = failing(station.but(probe=gone), image)
    assert reason == Reason.PROBE_LOST
    assert text.startswith("three: gone: openocd: Error")


def test_a_channel_without_edges_is_named(there: Lab, image: Path) -> None:
    station = there.board("one")
    bare = station.but(board=station.board.but(channel="P8_43"))
    text = "one: channel P8_43 of la stays low: 0 of 1 pulse; there were some on P8_45: were boards or wires swapped?"
    assert failing(bare, image) == (Reason.PULSES_LOST, text)


def test_an_analyzer_that_is_not_there_is_named(there: Lab, image: Path) -> None:
    station = there.board("one")
    driver = "beaglelogic:conn=tcp-raw/127.0.0.1/1:logic_channels=8"
    reason, text = failing(station.but(instrument=station.instrument.but(name="gone", driver=driver)), image)
    assert reason == Reason.ANALYZER_LOST
    assert text.startswith("one: gone: sigrok-cli ended: ")


def test_a_pulse_that_no_call_made_ends_the_run(there: Lab, image: Path) -> None:
    station = there.board("one")
    with lab.opened(station, image, 10**6, Event()) as opened:
        client = device.Client(opened)
        client.call(CALL)
        opened._pulses._seen["P8_45"].append((0, 1))  # type: ignore[attr-defined]
        with pytest.raises(DeviceError, match="1 pulse on channel P8_45 that no call made"):
            client.call(CALL)


def test_a_restart_waits_until_one_more_pulse_would_have_been_seen(there: Lab, image: Path) -> None:
    """Had a pulse been made up, the latest call's own would be further from the one before than any two were."""
    station = there.board("one")
    spans: list[tuple[int, int]] = []
    until: list[int | None] = []
    with lab.opened(station, image, 10**6, Event()) as opened:
        client = device.Client(opened)
        pulses = opened._pulses  # type: ignore[union-attr]
        take, settle = pulses.take, pulses.settle
        pulses.take = lambda *asked: spans.extend(found := take(*asked)) or found  # type: ignore[method-assign, func-returns-value]
        pulses.settle = lambda channel, end=None: until.append(end) or settle(channel, end)  # type: ignore[method-assign, func-returns-value]
        list(client.calls([CALL] * 3))
        client.restart()
    before, after, *_ = until
    assert before is not None
    assert after is not None
    latest = spans[2][1]
    assert before - latest >= max(spans[n + 1][1] - spans[n][0] for n in range(2))
    assert latest < after


def test_what_ram_is_filled_with_follows_from_the_image(tmp_path: Path) -> None:
    """Of whatever name: packages know that."""
    image, seeds = tmp_path / "both.elf", list[str]()
    for content in (b"one", b"another", b"one"):
        image.write_bytes(content)
        with mock.patch.object(link.probe, "fill", lambda _, seed: seeds.append(seed)):
            link.BoardLink.fill_ram(mock.Mock(_image=image))
    assert seeds[0] == seeds[2] != seeds[1]


def test_wrong_figures_and_answers_are_found_once_and_for_all(request: pytest.FixtureRequest) -> None:
    """What a busy machine does to a test in real time is tried again, and a finding is not."""
    [flaky] = request.node.iter_markers("flaky")
    with pytest.raises(WrongFigure) as wrong:
        figure(101.0, 100.0, 0.5)
    mismatch = f"AssertionError: assert {Failure(Reason.KAT_MISMATCH, 'vector 3')} is None"
    late = f"AssertionError: assert {Failure(Reason.ANALYZER_LOST, 'no sample for 30 s')} is None"
    for text, tried_again in ((f"{wrong.typename}: {wrong.value}", False), (mismatch, False), (late, True)):
        assert tried_again != any(re.search(known, text) for known in flaky.kwargs["rerun_except"]), text


def test_a_note_that_is_no_text_is_no_image(
    described: Path, image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    monkeypatch.setattr(flash, "_done", lambda *_: None)
    monkeypatch.setattr(flash, "_sure", {})
    station = lab.load(described).board("one")
    note = station.board.files / "image"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"\xff\xfe")
    with taken(port_of(station.board), "one") as lock:  # type: ignore[union-attr]
        flash.flash(station, image, lock)
    assert note.read_text() == hashlib.sha256(image.read_bytes()).hexdigest()


def test_a_port_that_leads_to_another_board_meanwhile_is_not_written_to(
    described: Path, image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is that of the device that is gone; whose the new one is, nobody knows."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    station = lab.load(described).board("one")
    port, devices = tmp_path / "port", [tmp_path / f"ttyACM{k}" for k in range(2)]
    for there in devices:
        there.touch()
    port.symlink_to(devices[0])
    station = station.but(board=station.board.but(port=port))
    written: list[Path] = []

    def write(*_: object) -> str:
        written.append(port.resolve())
        port.unlink()
        port.symlink_to(devices[1])
        return "not in sync"

    monkeypatch.setattr(flash, "_done", write)
    with (
        taken(port_of(station.board), "one") as lock,  # type: ignore[union-attr]
        pytest.raises(DeviceError, match="leads to another device than a moment ago"),
    ):
        flash.flash(station, image, lock)
    assert written == devices[:1]
