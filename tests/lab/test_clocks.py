"""The clock of a board: what its start-up code makes of its crystal, and what is known of the crystal's error."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.cli.app import app
from steelyard.lab import aside, attempt, clocks, config, flash
from steelyard.lab.virtual import played
from steelyard.lab.virtual.board import Chip
from steelyard.lab.virtual.clock import SECOND
from steelyard.model.call import CallResult, DeviceError, Hello, Op, Pulse, Request
from steelyard.model.errors import UserError
from steelyard.pipeline import Pipeline, nocrypt
from tests.conftest import Bench, near, the_target
from tests.lab.conftest import free
from tests.lab.test_rates import flash_of, wired
from tests.lab.wired import BOARD, TEXT

#: how much faster the crystal of board a is, more than the counter's check lets pass
ERROR = 8000


def said(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.mark.parametrize("hertz", [40_000_000, 240_000_000])
def test_a_board_whose_clock_is_another_is_not_understood(bench: Bench, hertz: int) -> None:
    """The firmware of this chip took its bus for six times as fast as it is on silicon, and nothing here noticed."""
    target = the_target("esp32")
    image = bench.build(nocrypt("crypto_aead"), target, *target.toolchain.default_flags).images["both"]
    assert target.wiring is not None
    chip = Chip(target.but(wiring=target.wiring.but(board_hz=hertz)), *wired(target))
    chip.start(flash_of(image, target))
    chip.run(SECOND // 10)
    chip.receive(device.frame.encode(device.frame.HELLO))
    chip.run(chip.time + SECOND // 10)
    heard = device.frame.Decoder().feed(bytes(byte for _, byte in chip.sent))
    assert bool(heard) == (hertz == target.board_hz)
    assert target.board_hz != target.chip.clock_hz


@pytest.mark.parametrize("cycles", [0, 4000])
def test_a_delay_that_does_not_grow_is_no_clock(tmp_path: Path, cycles: int) -> None:
    class Same:
        hello = Hello(1, 1, 0, 16, 16, 16, 2000, 16_000_000, 16)

        def calls(self, requests: list[Request]) -> list[CallResult]:
            return [CallResult(0, 0, True, 0, 0, 0, b"", Pulse(cycles, apart=0.0)) for _ in requests]

    station = lab.load(described(tmp_path)).board("a")
    with pytest.raises(DeviceError, match=rf"la sees other pulses than calls: .* {cycles} cycles long by pulse"):
        lab.clock(station, Same())  # type: ignore[arg-type]


def described(folder: Path, more: str = "") -> Path:
    """A lab with one board whose crystal is fast, of which nothing is said."""
    file = folder / "lab.toml"
    board = BOARD.format(name="a", channel="P8_45").replace("clock_ppm = 0", f"clock_error_ppm = {ERROR}{more}")
    file.write_text(TEXT.format(port=free(1)[0]).replace("4_000_000", "24_000_000") + board)
    return file


def test_the_clock_is_measured_kept_and_used(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    file = described(tmp_path)
    there = lab.load(file)
    before = there.board("a")
    assert (before.clock_ppm, before.clock_said) == (0, "+0 ppm, never measured")
    job = bench.job(nocrypt("crypto_aead"), the_target("uno"), "0/16,0/512")
    ours = Pipeline(bench.store, threads=1).weigh(job)
    with played(there):
        wrong = Pipeline(bench.store, threads=1).weigh(replace(job, on=(before,)))
        assert wrong.failure is not None
        assert wrong.failure.reason == "counter-differs"
        done = said("boards", "check", "a", "--lab", file)
        assert done.exit_code == 0, done.output
        [(ppm, within)] = re.findall(r"clock_ppm = (-?\d+), within (\d+): kept", " ".join(done.stdout.split()))
        assert abs(int(ppm) - ERROR) <= int(within) < 10
        after = lab.load(file).board("a")
        assert round(after.clock_ppm) == int(ppm)
        today = datetime.now(UTC).date().isoformat()
        assert re.fullmatch(rf"\+[0-9.]+ ppm, measured {today} by la, within {within}", after.clock_said)
        record = Pipeline(bench.store, threads=1, force=True).weigh(replace(job, on=(after,)))
    assert record.failure is None
    assert record.metrics["clock_uncertainty"] == int(within)
    assert any(f"clock {after.clock_said}" in note for note in record.notes)
    assert len(record.points) == 4
    for a, b in zip(record.points, ours.points, strict=True):
        near(a.cycles, b.cycles, 2 * max(after.cycles_per_sample, 1), a)
    assert after.clock_said in said("boards", "list", "--lab", file, "--json").stdout


def test_short_calls_say_little_of_a_clock_and_are_made_anew_once_it_is_measured(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    file = described(tmp_path)
    file.write_text(file.read_text().replace(f"= {ERROR}", "= -4000"))
    there = lab.load(file)
    job = bench.job(nocrypt("crypto_block"), the_target("uno"), "kat")
    right = Pipeline(bench.store, threads=1).weigh(job)
    with played(there):
        [wrong] = Pipeline(bench.store, threads=1).campaign([replace(job, on=(there.board("a"),))], lambda *_: None)
        assert wrong.failure is None, wrong.failure
        mean = "cycles_encrypt_mean"
        off = abs(wrong.metrics[mean] / right.metrics[mean] - 1)
        assert 1000 < wrong.metrics["clock_uncertainty"] <= 50_000
        assert off * 1e6 <= wrong.metrics["clock_uncertainty"] + 1e6 / right.metrics[mean]
        assert said("boards", "check", "a", "--lab", file).exit_code == 0
        after = replace(job, on=(lab.load(file).board("a"),))
        [anew] = Pipeline(bench.store, threads=1).campaign([after], lambda *_: None)
    assert anew.id != wrong.id
    assert anew.metrics["clock_uncertainty"] < 10
    assert Pipeline(bench.store, threads=1).weigh(after).id == anew.id


def test_lab_tomls_word_wins_and_another_instrument_has_to_measure_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    there = lab.load(described(tmp_path))
    station = there.board("a")
    lab.keep_clock(station, 123.4, 10.0)  # of which no fraction means anything
    assert there.board("a").clock_ppm == 123
    assert there.only("a").boards["a"].clock_ppm == 123, "another machine that asks about the board is told"
    said_so = lab.load(described(tmp_path, "\nclock_ppm = -7")).board("a")
    assert (said_so.clock_ppm, said_so.clock_said) == (-7, "-7 ppm")
    la = there.instruments["la"]
    assert there.but(instruments={"la": la.but(samplerate=12_000_000)}).board("a").clock_ppm == 0
    (station.board.files / "clock").write_text("{")
    assert there.board("a").clock_ppm == 0
    assert clocks.kept(*station.board.kept_clock(la, there.file)) is None


def test_what_was_measured_is_of_that_board_in_that_lab_by_that_instrument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    file = described(tmp_path)
    text = file.read_text()
    lab.keep_clock(lab.load(file).board("a"), 123, 4.0)
    changes = [('port = "a"', 'port = "b"'), (f"ppm = {ERROR}", "ppm = 250"), ("channels=8", "channels=4"), ("", "")]
    for n, (old, new) in enumerate(changes):
        assert old in text
        other = tmp_path / f"{n}.toml"
        other.write_text(text.replace(old, new))
        assert lab.load(other).board("a").clock_said == "+0 ppm, never measured", (old, new)
        file.write_text(text.replace(old, new))
        assert lab.load(file).board("a").clock_ppm == (0 if old else 123), (old, new)
    said_so = said("boards", "list", "--lab", tmp_path / "0.toml").stdout
    assert "steelyard boards check measures it" in said_so


def test_a_clock_goes_with_the_adapter_that_has_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As udev links it from there; the board may then be called by that name or by the port of the day."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(config, "BY_ID", names := tmp_path / "by-id")
    names.mkdir()
    port, other = tmp_path / "ttyACM0", tmp_path / "ttyACM1"
    port.touch()
    other.touch()
    (names / "usb-1").symlink_to(port)
    here = lab.load(described(tmp_path))
    by_day = here.but(boards={"a": here.boards["a"].but(port=port)})
    by_name = here.but(boards={"a": here.boards["a"].but(port=names / "usb-1")})
    for there in (by_day, by_name):
        lab.keep_clock(there.board("a"), 123, 4.0)
    (names / "usb-1").unlink()
    (names / "usb-1").symlink_to(other)
    (names / "usb-2").symlink_to(port)
    assert by_day.board("a").clock_ppm == 0, "another one has the port"
    assert by_name.board("a").clock_ppm == 123
    (names / "usb-1").unlink()
    assert by_name.board("a").clock_ppm == 123, "unplugged, it is still that one"
    lab.keep_clock(by_day.board("a"), 123, 4.0)  # which is usb-2 today
    port.unlink()
    away = by_day.board("a")
    assert away.clock_ppm == 123, "a campaign may be planned while it is away"
    port.touch()
    assert away.timed().clock_ppm == 123
    (names / "usb-2").rename(names / "usb-3")
    assert away.timed().clock_ppm == 0, "what came back is another one"


def test_boards_of_one_name_in_one_home_share_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks, attempts and logs; a lab file that has the same port has the same board, however it writes that."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (tmp_path / "else").mkdir()
    mine, its = lab.load(described(tmp_path)).boards["a"], lab.load(described(tmp_path / "else")).boards["a"]
    aside.put(mine, aside.Mark(1.0, kind=aside.Kind.RELEASED))
    made = attempt.begin(mine, attempt.Purpose("a run"))
    assert attempt.now(mine) is not None
    assert aside.read(its) is attempt.now(its) is None
    made.end(None)
    assert (len(attempt.logs(mine)), attempt.logs(its)) == (1, [])
    copy = tmp_path / "copy.toml"
    copy.write_text((tmp_path / "lab.toml").read_text())
    assert aside.read(lab.load(copy).boards["a"]) is not None
    alias = mine.but(name="other", port=tmp_path / "alias")
    alias.port.symlink_to(mine.port)
    assert aside.read(alias) is None, "nothing is plugged in there"
    mine.port.touch()
    assert aside.read(alias) is None, "nor was when it was released"
    aside.put(mine, aside.Mark(1.0, kind=aside.Kind.RELEASED))
    assert aside.read(alias) == aside.read(mine) is not None
    aside.retry(alias)
    assert aside.read(mine) is None


def test_a_mark_is_of_what_was_plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of what gets the device's name next: the lowest free one. A board that is unplugged keeps its own."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(config, "BY_ID", names := tmp_path / "by-id")
    names.mkdir()
    (port := tmp_path / "ttyACM0").touch()
    (names / "usb-1").symlink_to(port)
    (stale := tmp_path / "link").symlink_to(port)
    a = lab.load(described(tmp_path)).boards["a"]
    by_day, by_name, linked = (
        a.but(name=n, port=p) for n, p in (("day", port), ("name", names / "usb-1"), ("link", stale))
    )
    other = by_name.but(name="other", port=names / "usb-2")
    marked = aside.put(linked, aside.Mark(1.0, kind=aside.Kind.RELEASED))
    assert aside.read(by_day) == aside.read(by_name) == aside.read(linked) == marked
    port.unlink()
    assert (aside.read(by_day), aside.read(by_name), aside.read(linked)) == (None, marked, marked)
    port.touch()
    (names / "usb-1").rename(names / "usb-2")
    assert (aside.read(by_day), aside.read(other), aside.read(linked)) == (None, None, marked)
    (names / "usb-2").unlink()
    virtual = aside.put(by_day, aside.Mark(2.0))
    assert aside.read(alias := by_day.but(name="alias")) == virtual
    (next_one := tmp_path / "next").touch()
    next_one.rename(port)
    assert (aside.read(alias), aside.read(by_day)) == (None, virtual)


@pytest.mark.parametrize(
    ("clock", "shown", "ppm"),
    [
        ("+8000 ppm, measured 2026-01-02 by la, within 4, probe swd", 0.001, 4),
        ("-7 ppm", 0.0002501, 251),
        ("+0 ppm, never measured", 0.0173, 17_300),
        ("+0 ppm, never measured", None, None),
    ],
)
def test_records_say_how_well_the_clock_is_known(clock: str, shown: float | None, ppm: float | None) -> None:
    notes = ("clock -1 ppm, within 2", f"board a: p, avrdude, channel D0 of la (41.6667 ns), clock {clock}")
    assert lab.uncertainty("board", notes, shown).get("clock_uncertainty") == ppm


def test_a_record_by_another_clock_of_the_board_is_not_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    there = lab.load(described(tmp_path))
    before = there.board("a")
    port = before.board.port
    note = f"virtual-board a: {port}, avrdude, channel P8_45 of la (41.6667 ns), clock "
    measured = f"{note}+8000 ppm, measured 2026-01-02 by la, within 4"
    assert lab.clock_holds(before, [measured]), "nothing is known of it now"
    lab.keep_clock(before, -4000, 4)
    now = there.board("a")
    assert not lab.clock_holds(now, ["another note", f"{note}+0 ppm, never measured"])
    assert not lab.clock_holds(now, [measured])
    assert lab.clock_holds(now, [f"{note}-4999 ppm, measured 2026-01-02 by la, within 4"])
    assert lab.clock_holds(now, [f"{note}+0 ppm".replace(str(port), "/dev/other")]), "which is another board"
    said_so = lab.load(described(tmp_path, "\nclock_ppm = 9000")).board("a")
    assert not lab.clock_holds(said_so, [f"{note}-7 ppm"])
    assert lab.clock_holds(said_so, [measured])
    far = said_so.but(board=said_so.board.but(host="bench", named="b"))
    assert not lab.clock_holds(far, ["virtual-board a: b at bench, p, avrdude, clock -7 ppm"])


def test_only_virtual_boards_have_an_error_of_their_own(tmp_path: Path) -> None:
    file = described(tmp_path)
    file.write_text(file.read_text().replace("virtual = true\n", "", 2).replace("\nvirtual = true", ""))
    with pytest.raises(UserError, match=r"boards\.a\.clock_error_ppm: is for virtual boards"):
        lab.load(file)


def with_reset(folder: Path, reset: str) -> lab.Lab:
    """A lab with one board that nothing restarts but its reset line."""
    file = folder / "lab.toml"
    board = BOARD.format(name="a", channel="P8_45") + f"reset = {reset}\n"
    file.write_text(TEXT.format(port=free(1)[0]) + board)
    return lab.load(file)


@pytest.mark.parametrize("way", ["line", "command"])
def test_a_reset_line_restarts_the_board_for_its_boot_loader_and_for_the_handshake(
    bench: Bench, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["sh", "-c", f"echo >> {tmp_path}/pulls; touch {tmp_path}/a.reset"]
    there = with_reset(tmp_path, '"dtr"' if way == "line" else str(words))
    station = there.board("a")
    image = bench.build(nocrypt("crypto_aead"), the_target("uno")).images["both"]
    call = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16))
    with played(there):
        with lab.opened(station, image, 10**6, Event()) as link:
            client = device.Client(link)
            assert client.call(call).output[:16] == call.data
            client.restart()
            assert client.call(call).output[:16] == call.data
        if way == "line":  # without it the boot loader does not come
            monkeypatch.setattr(flash, "TRIES", 1)
            flasher, other = station.flasher.but(seconds=8.0), image.with_name("encrypt.elf")
            deaf = station.but(board=station.board.but(reset=""), flasher=flasher)
            with pytest.raises(DeviceError, match="avrdude"), lab.opened(deaf, other, 10**6, Event()):
                pass
    if way == "command":  # for the boot loader, when the firmware was to start, and by the restart; flashers try again
        assert len((tmp_path / "pulls").read_text().splitlines()) >= 3


def test_a_reset_command_that_fails_is_named(bench: Bench, tmp_path: Path) -> None:
    there = with_reset(tmp_path, '["sh", "-c", "echo no such chip >&2; false"]')
    image = bench.build(nocrypt("crypto_aead"), the_target("uno")).images["both"]
    with (
        played(there),
        pytest.raises(DeviceError, match="reset: sh: no such chip"),
        lab.opened(there.board("a"), image, 10**6, Event()),
    ):
        pass
    with pytest.raises(UserError, match=r"boards\.a\.reset: unknown line 'dts'; did you mean rts or dtr"):
        with_reset(tmp_path, '"dts"')
    with pytest.raises(UserError, match=r"boards\.a\.reset: write a command"):
        with_reset(tmp_path, "[]")
