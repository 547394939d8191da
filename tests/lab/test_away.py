"""Boards at another machine: its agent plays its part, and what fails between the two is said and done again.

``ssh`` is ours (elsewhere.py), all else is real. Boards are simulators there, but in test_boards_elsewhere.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Timer

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from steelyard import __version__, device, lab
from steelyard.cli.app import app
from steelyard.lab import Lab, Station, aside, attempt, connection, pool, wire
from steelyard.lab.away import AwayLink
from steelyard.lab.connection import Connection
from steelyard.lab.lock import held, is_held, port_of
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.errors import UserError
from steelyard.model.reasons import Reason
from steelyard.pipeline import Job, Pipeline
from tests import toys
from tests.conftest import Bench, the_target, write

from . import elsewhere
from .elsewhere import Elsewhere
from .test_pool import BOARD, TWO, Boards, on, play, weighed

CALL = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16))


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """A machine with the board ``one``, which is free."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (tmp_path / "locks").mkdir()  # all these tests have a board of this name at a host of this name
    monkeypatch.setenv("STEELYARD_LOCKS", str(tmp_path / "locks"))
    made = elsewhere.connected(tmp_path, monkeypatch)
    made.steelyard(elsewhere.PLAYED)
    text = TWO + BOARD.format(name="one", target="uno", channel="P8_45")
    write(made.here, {"lab.toml": text.replace("15556", "15557")})
    monkeypatch.setattr(pool, "AWAY", 2.0)
    for state in (pool._doubted, pool._faults, pool._out):
        state.clear()
    return made


@pytest.fixture
def here(tmp_path: Path, there: Elsewhere) -> Lab:
    """The lab here, whose board ``far`` is ``one`` there."""
    return elsewhere.described(tmp_path, "uno", "one")


def station(here: Lab) -> Station:
    return lab.stations(here, ["far"])[0][0]


def at_bench(there: Elsewhere) -> Lab:
    return lab.load(there.here / "lab.toml")


def job(bench: Bench, *boards: Station, n: int = 1, **hooks: str) -> Job:
    write(bench.package(variant=f"toy{n}", **hooks).folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    return replace(bench.job(bench.package(variant=f"toy{n}", **hooks), the_target("uno"), "0/16,16/0"), on=boards)


def call(station: Station, image: Path, over: Event | None = None) -> int:
    with lab.opened(station, image, 10**6, over or Event()) as link:
        return device.Client(link).call(CALL).pulse.cycles


def failing(what: Callable[[], object]) -> tuple[Reason, str]:
    with pytest.raises(DeviceError) as e:
        what()
    return e.value.failure.reason, e.value.failure.detail


def test_a_record_is_what_it_is_here(bench: Bench, there: Elsewhere, here: Lab) -> None:
    far = station(here)
    record = Pipeline(bench.store, threads=1).weigh(job(bench, far))
    simulated = Pipeline(bench.store, threads=1).weigh(replace(job(bench), target=the_target("uno")))
    assert (record.failure, simulated.failure) == (None, None)
    assert (record.points, record.verification) == (simulated.points, simulated.verification)
    for metric in ("rom", "ram_static", "heap", "cycles_encrypt_mean"):
        assert record.metrics[metric] == simulated.metrics[metric]
    assert (record.setup.device, record.setup.timing_model) == ("virtual-board", far.clock)
    assert "virtual-board far: one at bench, played" in record.notes
    assert on([record]) == {"far"}
    assert there.is_free(at_bench(there), "one")
    assert {log.reason for log in attempt.logs(here.boards["far"])} == {""}
    logs = [json.loads(f.read_text()) for f in (there.here / "home/lab").glob("one-*/log/*")]
    assert [log["board"] for log in logs] == ["one", "one"]  # nocrypt, and the toy


def test_a_batch_is_one_message_and_an_image_is_sent_once(
    there: Elsewhere, here: Lab, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    say = Connection.say

    def counted(self: Connection, question: wire.Message, *rest: Event | attempt.Attempt | None) -> wire.Message:
        asked.append(type(question).__name__)
        return say(self, question, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "say", counted)
    far = station(here)
    with lab.opened(far, image, 10**6, Event()) as link:
        link.window = 1 << 14
        answers = list(device.Client(link).calls([CALL] * 20))
    assert len(answers) == 20
    assert asked == ["Describe", "Take", "Open", "Image", "Exchange", "Exchange", "Shut"]
    asked.clear()
    call(far, image)
    assert asked == ["Take", "Open", "Exchange", "Exchange", "Shut"]
    kept = next((there.here / "home/cache/images").glob("*/both.elf"))
    kept.write_bytes(b"another")
    assert call(far, image) == answers[0].pulse.cycles


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("", "bench: no Steelyard: /bin/sh: 1: exec: steelyard: not found; clone version "),
        ("#!/bin/sh\necho 'steelyard agent 0.0.7'; exec cat", f"bench: has Steelyard 0.0.7, and here is {__version__}"),
        ("#!/bin/sh\necho 'No such command' >&2; exit 2", "bench: no agent: No such command; "),
        ("#!/bin/sh\necho steelyard agent; cat >/dev/null", "bench: did not answer in 2 s"),
        ("#!/bin/sh\nyes; exit", "bench: its shell prints too much"),
    ],
)
def test_a_machine_without_the_same_steelyard_is_no_bench(
    there: Elsewhere, here: Lab, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    monkeypatch.setattr(connection, "GREETING", 2.0 if "did not" in why else 60.0)
    (there.here / "bin/steelyard").unlink()
    if program:
        there.steelyard(program)
    reason, text = failing(lambda: Connection(here.host(here.boards["far"]), Event()))
    assert (reason, text[: len(why)]) == (Reason.UNREACHABLE, why)


def test_who_wants_to_stop_does_not_wait_for_a_silent_host(there: Elsewhere, here: Lab, image: Path) -> None:
    """ssh is let in, and nothing comes: for a campaign, and for a list."""
    far, over, began = station(here), Event(), time.monotonic()
    there.steelyard("#!/bin/sh\nexec sleep 50")
    Timer(1.0, over.set).start()
    with pytest.raises(KeyboardInterrupt):
        call(far, image, over)
    typed = Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    typed.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            lab.described(here, ["far"])
    finally:
        typed.cancel()  # else it would end the run of all tests
    assert time.monotonic() - began < 20


def test_who_is_not_reached_is_named(
    there: Elsewhere, here: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (there.here / "down").touch()
    with pytest.raises(UserError, match=r"far at bench: bench: no connection: ssh: connect .* No route to host; see"):
        station(here)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"far at bench: bench: ssh is not installed: apt install openssh-client; see"):
        station(here)


def test_what_is_stored_is_found_while_the_machine_is_off(bench: Bench, there: Elsewhere, here: Lab) -> None:
    """And what is not says that it is off."""
    [record] = weighed(bench, [job(bench, station(here))])
    (there.here / "down").touch()
    [far], [remark] = lab.stations(here, ["far"])
    assert remark.startswith("far at bench: bench: no connection: ")
    again, other = weighed(bench, [job(bench, far), job(bench, far, n=2)])
    assert again.id == record.id
    assert other.failure is not None
    assert other.failure.reason is Reason.UNREACHABLE
    assert "far at bench" in other.failure.detail
    assert not other.final
    assert attempt.logs(here.boards["far"])[-1].reason == "machine-unreachable"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("printf 'Hello, world, this is no message'", "an agent does not say this|a message of"),
        ("printf '\\0\\0\\0\\7\\201\\244type\\300'", "an agent does not say this"),
        ("echo 'Traceback: it broke' >&2; exit 70", "the agent ended: Traceback: it broke"),
    ],
)
def test_garbage_from_there_is_no_board(there: Elsewhere, here: Lab, image: Path, program: str, why: str) -> None:
    far = station(here)
    there.steelyard(f"#!/bin/sh\necho 'steelyard agent {__version__}'\n{program}\n")
    with pytest.raises(DeviceError, match=why) as e:
        call(far, image)
    assert e.value.failure.reason == Reason.BOARD_LOST


def test_who_never_stops_complaining_fills_no_disk(
    there: Elsewhere, here: Lab, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ALL", 1 << 16)
    far = station(here)
    there.steelyard(f"#!/bin/sh\necho 'steelyard agent {__version__}'\nwhile :; do echo no end; done >&2\n")
    with pytest.raises(DeviceError, match="the agent ended: ") as e:
        call(far, image)
    assert e.value.failure.reason == Reason.BOARD_LOST


def test_a_connection_that_is_cut_is_made_again(
    bench: Bench, there: Elsewhere, here: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent lets the board go, and the run is attempted once more, after the board has proved itself."""
    exchange = AwayLink.exchange
    left = iter(range(100))

    def cut(self: AwayLink, data: bytes) -> bytes:
        if next(left, None) == 40:
            (there.here / "cut").touch()
            assert there.is_free(at_bench(there), "one")
            Timer(0.5, (there.here / "cut").unlink).start()
        return exchange(self, data)

    monkeypatch.setattr(AwayLink, "exchange", cut)
    [record] = weighed(bench, [job(bench, station(here))])
    assert record.failure is None
    [text] = [n for n in record.notes if n.startswith("attempt")]
    assert text == (
        "attempt 1 ended with board-unreachable: far at bench: bench: the connection ended:"
        " Timeout, server me@bench not responding."
    )
    assert [log.what.split(",")[0] for log in attempt.logs(here.boards["far"])][1] == "nocrypt"
    assert there.is_free(at_bench(there), "one")


def test_an_agent_that_is_killed_is_started_again(
    bench: Bench, there: Elsewhere, here: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = AwayLink.exchange
    left = iter(range(100))

    def kill(self: AwayLink, data: bytes) -> bytes:
        if next(left, None) == 40:
            [pid] = running(there)
            os.kill(pid, signal.SIGKILL)
        return exchange(self, data)

    monkeypatch.setattr(AwayLink, "exchange", kill)
    [record] = weighed(bench, [job(bench, station(here))])
    assert record.failure is None
    assert [n.split(": ")[0] for n in record.notes if n.startswith("attempt")] == [
        "attempt 1 ended with board-unreachable"
    ]


def running(there: Elsewhere) -> list[int]:
    """Processes there that are a Steelyard."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(there.here / "bin/steelyard").encode() in words:
            found.append(int(file.parent.name))
    return found


def test_a_wish_to_stop_ends_the_agent(there: Elsewhere, here: Lab, image: Path) -> None:
    far, over = station(here), Event()

    def stopped() -> None:
        with lab.opened(far, image, 10**6, over) as link:
            client = device.Client(link)
            assert is_held(port_of(at_bench(there).boards["one"]))
            over.set()
            client.call(CALL)

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert there.is_free(at_bench(there), "one")
    assert running(there) == []
    assert attempt.logs(here.boards["far"])[-1].reason == attempt.INTERRUPTED
    [log] = [json.loads(f.read_text()) for f in (there.here / "home/lab").glob("one-*/log/*")]
    assert log["reason"] == attempt.INTERRUPTED


_SLOW = """
import sys
import time
from pathlib import Path
from threading import Event
from steelyard import device, lab
with lab.opened(lab.stations(lab.load(Path(sys.argv[1])), ["far"])[0][0], Path(sys.argv[2]), 10**6, Event()) as link:
    print("works", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_the_agent_ends_with_who_started_it(
    there: Elsewhere, here: Lab, tmp_path: Path, image: Path, sent: signal.Signals
) -> None:
    words = [sys.executable, "-c", _SLOW, str(tmp_path / "lab.toml"), str(image)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"works\n"
            process.send_signal(sent)
            process.wait(30)
        finally:
            process.kill()
    assert there.is_free(at_bench(there), "one")


def test_a_board_that_is_used_there_is_waited_for_or_done_without(
    bench: Bench, there: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool has one board here and one there, which are alike."""
    play(Boards(), monkeypatch, tmp_path / "home")
    text = TWO + BOARD.format(name="a", target="uno", channel="P8_45")
    both = elsewhere.described(tmp_path, "uno", "one", text)
    stations, _ = lab.stations(both, ["far", "a"])
    assert [s.board.name for s in lab.pools(stations)["uno"]] == ["far", "a"]
    used = held(port_of(at_bench(there).boards["one"]), "one")
    assert on(weighed(bench, [job(bench, *stations), job(bench, *stations, n=2)])) == {"a"}
    Timer(1.0, used.close).start()
    assert on(weighed(bench, [job(bench, stations[0], n=3)])) == {"far"}
    with held(port_of(both.boards["a"]), "a"):
        assert on(weighed(bench, [job(bench, *stations, n=4)])) == {"far"}


def test_unlike_boards_share_no_run_wherever_they_are(there: Elsewhere, tmp_path: Path) -> None:
    text = TWO.replace("24_000_000", "12_000_000") + BOARD.format(name="a", target="uno", channel="P8_45")
    stations, _ = lab.stations(elsewhere.described(tmp_path, "uno", "one", text), ["far", "a"])
    with pytest.raises(UserError, match=r"far at bench has virtual-board, sigrok.* 24 MHz; a has .* 12 MHz"):
        lab.pools(stations)


def test_what_is_said_there_counts(there: Elsewhere, here: Lab, tmp_path: Path, image: Path) -> None:
    """A board's target is said twice, and compared; what changes there between plan and run ends the run."""
    far = station(here)
    there_toml = there.here / "lab.toml"
    there_toml.write_text(there_toml.read_text().replace('channel = "P8_45"', 'channel = "P8_46"'))
    reason, text = failing(lambda: call(far, image))
    assert (reason, text.partition("has changed")[1]) == (Reason.BOARD_LOST, "has changed")
    assert station(here).board.channel == "P8_46"
    with pytest.raises(UserError, match=r"boards\.far\.target: is atmega128 here and uno in the lab\.toml there"):
        station(elsewhere.described(tmp_path, "atmega128", "one"))
    with pytest.raises(UserError, match="unknown board 'onne'; did you mean one"):
        station(elsewhere.described(tmp_path, "uno", "onne"))
    there_toml.unlink()
    with pytest.raises(UserError, match=r"far at bench: bench: lab\.toml: no such file"):
        station(elsewhere.described(tmp_path, "uno", "one"))


def test_a_clock_that_was_measured_there_meanwhile_ends_no_run(
    there: Elsewhere, here: Lab, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with boards here, the next run takes it."""
    there_toml = there.here / "lab.toml"
    there_toml.write_text(there_toml.read_text().replace("clock_ppm = 0\n", ""))
    far = station(here)
    with monkeypatch.context() as patch:
        patch.setenv("STEELYARD_HOME", str(there.here / "home"))
        lab.keep_clock(at_bench(there).board("one"), 5, 2.0)
    assert call(far, image)
    assert (far.clock_ppm, station(here).clock_ppm) == (0, 5)
    there_toml.write_text(there_toml.read_text().replace("target =", "clock_ppm = 7\ntarget ="))
    assert call(far, image)


def test_a_board_that_was_released_there_gets_no_run(
    there: Elsewhere, here: Lab, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = station(here)
    with monkeypatch.context() as patch:
        patch.setenv("STEELYARD_HOME", str(there.here / "home"))
        aside.put(lab.load(there.here / "lab.toml").boards["one"], aside.Mark(1.0, kind=aside.Kind.RELEASED))
    assert failing(lambda: call(far, image)) == (
        Reason.BOARD_LOST,
        "far at bench: was released there: steelyard boards retry one, there",
    )


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (b"{", "describes no board"),
        (b"[" * 100_000, "describes no board"),
        (b'{"folder": ".", "boards": {}, "instruments": {}}', "unknown board 'one'"),
    ],
)
def test_what_describes_no_board_is_refused(here: Lab, told: bytes, why: str) -> None:
    with pytest.raises(UserError, match=why):
        lab.hosts.station(here, here.boards["far"], wire.Described(told, "0" * 64))


def said(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.output


def test_boards_are_shown_with_their_host(there: Elsewhere, here: Lab, tmp_path: Path) -> None:
    file = str(tmp_path / "lab.toml")
    code, text = said("boards", "list", "--lab", file, "--json")
    assert code == 0
    assert f"bench:{there.here}/ports/one" in text
    assert "no port: steelyard boards virtual" in text
    code, text = said("boards", "--lab", file, "--json")
    assert [(d["board"], d["host"], d["state"]) for d in json.loads(text)] == [("far", "bench", "free")]
    assert "far at bench" in said("boards", "--lab", file)[1]
    (there.here / "down").touch()
    code, text = said("boards", "list", "--lab", file)
    assert "no connection: ssh" in " ".join(text.split())
    assert said("boards", "release", "far", "--lab", file)[0] == 0
    assert json.loads(said("boards", "--lab", file, "--json")[1])[0]["state"] == "released"


def test_a_board_that_is_not_reached_does_not_work(there: Elsewhere, here: Lab, tmp_path: Path) -> None:
    station(here)
    (there.here / "down").touch()
    code, text = said("boards", "check", "--lab", str(tmp_path / "lab.toml"))
    assert code == 1
    words = " ".join(text.split())
    assert "far at bench: bench: no connection: ssh: connect to host me@bench port 22: No route to host" in words
    assert "it is taken for what it was the last time" in words
    assert "far at bench machine-unreachable does not work" in words


def test_ram_that_a_board_does_not_have_is_no_figure(there: Elsewhere, here: Lab, image: Path) -> None:
    with lab.opened(station(here), image, 10**6, Event()) as link:
        assert isinstance(link, AwayLink)
        most = station(here).target.chip.ram.size
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(link, "_ask", lambda *_: wire.Longest(most))
            assert link.longest_untouched() == most
            patch.setattr(link, "_ask", lambda *_: wire.Longest(most + 1))
            with pytest.raises(DeviceError, match=f"{most + 1} bytes of RAM"):
                link.longest_untouched()
