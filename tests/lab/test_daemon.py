"""One process samples an analyzer for all who use it, lives as long as they need it, and believes nobody.

``sigrok-cli`` is played here by a program that hands on what the test says; test_boards.py and test_faults.py have the
real one.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Barrier, Event, Thread

import msgspec
import pytest

from steelyard.lab import analyzer, daemon, edgewire
from steelyard.lab.analyzer import Analyzer
from steelyard.lab.config import Instrument
from steelyard.lab.lock import door, held, is_held, what_of
from steelyard.model.call import DeviceError
from steelyard.model.reasons import Reason

#: writes its number, and samples as they come from a pipe; ends when something comes at its standard input, and like
#: sigrok-cli at the worst of times not when that ends
PLAYED = """#!{python}
import os, sys, threading
if "--show" in sys.argv:
    print("Driver functions:\\n    Logic analyzer\\nplayed - a device with 9 channels: A B C D E F G H I")
    sys.exit()
with open({started!r}, "a") as file:
    file.write(f"{{os.getpid()}}\\n")
def ends():
    if os.read(0, 1):
        os._exit(0)
threading.Thread(target=ends, daemon=True).start()
pipe = os.open({pipe!r}, os.O_RDWR)
while data := os.read(pipe, 1 << 16):
    if data == b"the end":
        sys.exit("usb: overrun")
    os.write(1, data)
"""
_NAMES = count()


class Played:
    """An instrument with channels A and B, whose samples a test makes."""

    def __init__(self, folder: Path, **keys: object) -> None:
        name = f"played-{os.getpid()}-{next(_NAMES)}"
        self.instrument = Instrument(name="la", driver=name, samplerate=1000, channels=("A", "B")).but(**keys)
        self._started = folder / "started"
        self._pipe = folder / "pipe"
        os.mkfifo(self._pipe)
        program = folder / "bin" / "sigrok-cli"
        program.parent.mkdir()
        program.write_text(PLAYED.format(python=sys.executable, started=str(self._started), pipe=str(self._pipe)))
        program.chmod(0o755)
        self.path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        self.samples = os.open(self._pipe, os.O_RDWR)

    def sees(self, samples: bytes) -> None:
        """These come next."""
        os.write(self.samples, samples)

    @contextmanager
    def seeing(self, number: int) -> Iterator[None]:
        """Inside there are samples once so many processes were started."""

        def see() -> None:
            until(lambda: len(self.processes) >= number)
            self.sees(bytes(100))

        thread = Thread(target=see)
        thread.start()
        yield
        thread.join()

    @property
    def processes(self) -> list[int]:
        """All that were ever started."""
        return [int(line) for line in self._started.read_text().splitlines()] if self._started.exists() else []


def is_there(pid: int) -> bool:
    """Whether a process is there, and is not one that has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def until(there: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits for what has to come."""
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    made = Played(tmp_path)
    monkeypatch.setenv("PATH", made.path)
    made.sees(bytes(100))
    yield made
    for pid in made.processes:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)  # which ends the process that started it
    until(lambda: not is_held(what_of(made.instrument)))
    os.close(made.samples)


def lost(instrument: Instrument) -> str:
    """Why an instrument cannot be had."""
    with pytest.raises(DeviceError) as e:
        Analyzer(instrument, Event())
    assert e.value.failure.reason == Reason.ANALYZER_LOST
    return e.value.failure.detail


def test_all_see_the_same_pulses_of_one_process(played: Played) -> None:
    with Analyzer(played.instrument, Event()) as a, Analyzer(played.instrument, Event()) as b:
        played.sees(bytes(900) + b"\1" * 10 + b"\3" * 5 + b"\2" * 20 + bytes(5))
        assert [x.take("A", 1) for x in (a, b)] == [[(1000, 1015)]] * 2
        assert [x.take("B", 1) for x in (a, b)] == [[(1010, 1035)]] * 2
        assert a.pid == b.pid
        with Analyzer(played.instrument, Event()) as late:  # only what comes from now on is its
            played.sees(b"\1" * 3 + bytes(2000))
            assert late.take("A", 1) == a.take("A", 1) == [(1040, 1043)]
            assert late.drop("B") == 0
    assert len(played.processes) == 1


def test_a_channel_is_the_devices_of_that_name_wherever_lab_toml_has_it(played: Played) -> None:
    """Drivers leave out the bits of channels that are not sampled, or do not, so all before it are."""
    instrument = played.instrument.but(channels=("C", "A"))
    with Analyzer(instrument, Event()) as a:
        played.sees(bytes(900) + b"\1" * 10 + b"\5" * 5 + b"\4" * 20 + b"\2" * 30 + bytes(3000))
        assert a.take("C", 1) == [(1010, 1035)]
        assert a.take("A", 1) == [(1000, 1015)]
        until(lambda: a._told.count >= 3000)
        assert (a.drop("A"), a.drop("C")) == (0, 0), "what B sees is nobody's"
        words = Path(f"/proc/{played.processes[0]}/cmdline").read_text().split("\0")
        assert words[words.index("--channels") + 1] == "A,B,C"


def test_a_channel_that_the_device_does_not_have_is_refused(played: Played) -> None:
    remedy = "write some of A, B, C, D, E, F, G, H into its channels in lab.toml"
    assert lost(played.instrument.but(channels=("A", "X"))) == f"la: there is no channel X: {remedy}"
    assert lost(played.instrument.but(channels=("I",))) == f"la: I is not one of the first 8: {remedy}"
    assert played.processes == []


def test_who_sees_no_pulse_hears_how_the_channel_stays(played: Played) -> None:
    played.sees(b"\1")
    with Analyzer(played.instrument, Event()) as a:
        until(lambda: a._told.count >= 101)
        with Analyzer(played.instrument, Event()) as late:  # it rose before
            looks = Thread(target=lambda: played.sees(b"\1" * 4000))
            looks.start()
            with pytest.raises(DeviceError, match="channel A of la stays high: 0 of 1 pulse"):
                late.take("A", 1)
            looks.join()
            played.sees(bytes(10) + b"\2" + bytes(10))
            assert late.take("B", 1)
            assert late.drop("A") == 0


def test_two_who_start_it_at_the_same_moment_have_one_process(played: Played) -> None:
    together, made = Barrier(4), list[Analyzer]()

    def begin() -> None:
        together.wait()
        made.append(Analyzer(played.instrument, Event()))

    threads = [Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({a.pid for a in made}) == 1
    assert len(made) == 4
    assert len(played.processes) == 1
    for a in made:
        a.close()


def test_who_asks_late_hears_the_answer_of_a_process_that_has_ended(played: Played) -> None:
    """On a busy machine the process that came too late to have the instrument ends before it is asked."""
    ours, theirs = socket.socketpair()
    theirs.sendall(edgewire.line(edgewire.Answer(again=True)))
    theirs.close()
    with ours:
        answer, _ = analyzer._asked(ours, played.instrument, Event())
        assert answer is not None
        assert answer.again
        assert analyzer._asked(ours, played.instrument, Event()) == (None, b"")


def test_it_ends_after_its_last_user_and_not_with_the_one_who_started_it(played: Played) -> None:
    first = Analyzer(played.instrument, Event())
    with Analyzer(played.instrument, Event()):
        first.close()
        time.sleep(daemon.LINGER + 1)
        assert is_there(first.pid)
        [sigrok] = played.processes
    until(lambda: not is_there(first.pid))
    assert not is_there(sigrok)
    assert not is_held(what_of(played.instrument))
    assert not door(what_of(played.instrument)).exists()


_ANOTHER = """
import os, sys, msgspec
from threading import Event
from steelyard.lab.analyzer import Analyzer
from steelyard.lab.config import Instrument
Analyzer(msgspec.json.decode(sys.argv[1], type=Instrument), Event())
print("there", flush=True)
os.read(0, 1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_kill_of_who_started_it_take_nobody_elses_samples(played: Played, number: int) -> None:
    words = [sys.executable, "-c", _ANOTHER, msgspec.json.encode(played.instrument).decode()]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    with Analyzer(played.instrument, Event()) as mine:
        os.killpg(process.pid, number)
        process.communicate()
        played.sees(b"\1" * 3 + bytes(2000))
        assert mine.take("A", 1) == [(100, 103)]
    assert len(played.processes) == 1


def test_where_it_is_killed_sigrok_goes_too_and_the_next_starts_anew(played: Played) -> None:
    with Analyzer(played.instrument, Event()) as a:
        [sigrok] = played.processes
        os.kill(a.pid, signal.SIGKILL)
        with pytest.raises(DeviceError, match=f"la: process {a.pid}, which sampled it, has ended"):
            a.take("A", 1)
        until(lambda: not is_there(sigrok))
        with played.seeing(2), Analyzer(played.instrument, Event()) as b:
            assert b.pid != a.pid
    assert len(played.processes) == 2


def test_the_last_words_of_sigrok_reach_everybody(played: Played) -> None:
    with Analyzer(played.instrument, Event()) as a, Analyzer(played.instrument, Event()) as b:
        time.sleep(0.2)
        played.sees(b"the end")
        for x in (a, b):
            with pytest.raises(DeviceError, match="la: sigrok-cli ended: usb: overrun"):
                x.take("A", 1)
    with played.seeing(2):
        Analyzer(played.instrument, Event()).close()


def test_what_went_wrong_before_the_last_words_is_said_too(played: Played, tmp_path: Path) -> None:
    """As where a user may not open an analyzer, or sigrok has no firmware for it: "no devices" follows."""
    said = ["sr: fx2lafw: Failed to open device: LIBUSB_ERROR_ACCESS.", "sr: hwdriver: x", "No devices found."]
    program = tmp_path / "bin" / "sigrok-cli"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({chr(10).join(said)!r})\n")
    text = f"la: sigrok-cli ended: {said[0]}; {said[2]}; steelyard doctor names the udev rule that lets you use it"
    assert lost(played.instrument) == text


def test_who_gets_no_sample_hears_so(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyzer, "PATIENCE", 0.5)
    with (
        Analyzer(played.instrument, Event()) as a,
        pytest.raises(DeviceError, match=r"la: no sample for 0\.5 s"),
    ):
        a.take("A", 1)


def test_a_process_that_does_not_answer_is_named(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("PATIENCE", 1.0), ("GRACE", 0.5)):
        monkeypatch.setattr(analyzer, name, seconds)
    with Analyzer(played.instrument, Event()) as a:
        os.kill(a.pid, signal.SIGSTOP)
        with pytest.raises(DeviceError, match=rf"la: no sample for 1\.5 s, and process {a.pid}, which"):
            a.take("A", 1)
        monkeypatch.setattr(analyzer, "ANSWER", 1.0)
        assert lost(played.instrument) == f"la: no answer for 1 s from process {a.pid}, which has it"
        os.kill(a.pid, signal.SIGCONT)


def test_who_does_not_read_is_cut_off_and_keeps_nobody_waiting(played: Played) -> None:
    with Analyzer(played.instrument, Event()) as a, socket.socket(socket.AF_UNIX) as idle:
        idle.connect(str(door(what_of(played.instrument))))
        idle.sendall(edgewire.line(edgewire.asked(played.instrument)))
        for _ in range(80):
            played.sees(b"\1\0" * 1000)
            a.take("A", 1000)
        said = b""
        while data := idle.recv(1 << 20):
            said += data
        assert len(said) < 2 * daemon.KEPT
        _, _, stream = said.partition(b"\n")
        told = edgewire.Told(0, 3)
        edges = list(told.feed(stream))
        assert [at for at, _ in edges] == sorted({at for at, _ in edges})
        assert told.over is not None
        assert told.over.startswith("this process was cut off, because it did not read ")


def test_what_is_sampled_otherwise_is_refused_in_words(played: Played) -> None:
    other = played.instrument.but(samplerate=2000)
    with Analyzer(played.instrument, Event()) as a:
        text = f"la: another Steelyard (process {a.pid}) samples it, whose samplerate is 1000 and not 2000: write the"
        assert lost(other).startswith(text)
        assert "whose channels is A, B and not B, A" in lost(played.instrument.but(channels=("B", "A")))
    with played.seeing(2), Analyzer(other, Event()) as b:  # nobody is there any more whom that would hurt
        assert b.pid != a.pid


def test_an_instrument_that_something_else_has_is_waited_for(played: Played) -> None:
    lock, over = held(what_of(played.instrument), "la"), Event()
    made: list[Analyzer] = []
    waits = Thread(target=lambda: made.append(Analyzer(played.instrument, over)))
    waits.start()
    waits.join(0.3)
    assert not made
    lock.close()
    waits.join(60)
    made[0].close()
    over.set()
    with pytest.raises(KeyboardInterrupt):
        Analyzer(played.instrument.but(driver="another"), over)


def test_a_process_that_does_not_start_says_why(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("raise ImportError('no such thing')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    text = "la: the process that samples it ended without an answer: ImportError: no such thing"
    assert lost(played.instrument) == text
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)  # packages lie about in such folders: nothing there is a part of us
    monkeypatch.setenv("PATH", played.path)
    Analyzer(played.instrument, Event()).close()


def test_sigrok_that_is_not_installed_is_named(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert lost(played.instrument) == "la: sigrok-cli is not installed: apt install sigrok-cli"


_SERVED = """
import sys, msgspec
from steelyard.lab import daemon
from steelyard.lab.config import Instrument
daemon.HELLO = 0.2
there = daemon.Daemon(msgspec.json.decode(sys.argv[1], type=Instrument), 30.0, None, ("127.0.0.1", 0))
print(*there.addresses[0], flush=True)
there.serve()
"""


@pytest.fixture
def at(played: Played) -> Iterator[Instrument]:
    """The instrument, by TCP."""
    words = [sys.executable, "-c", _SERVED, msgspec.json.encode(played.instrument).decode()]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        host, port = process.stdout.readline().split()
        yield played.instrument.but(at=f"{host}:{port}")
        assert process.poll() is None
        process.terminate()


def test_an_instrument_may_be_at_another_machine(played: Played, at: Instrument) -> None:
    with Analyzer(at, Event()) as there, Analyzer(played.instrument, Event()) as here:
        played.sees(b"\1" * 3 + bytes(2000))
        assert there.take("A", 1) == here.take("A", 1) == [(100, 103)]
    assert "whose samplerate is 1000 and not 5" in lost(at.but(samplerate=5))
    text = "la: 127.0.0.1:1: Connection refused; start it there: steelyard boards analyzer la --listen 127.0.0.1:1"
    assert lost(at.but(at="127.0.0.1:1")) == text


def test_the_command_samples_until_its_user_ends_it(played: Played, tmp_path: Path) -> None:
    i = played.instrument
    file = tmp_path / "lab.toml"
    file.write_text(f'[boards]\n[instruments.la]\ndriver = "{i.driver}"\nsamplerate = 1000\nchannels = ["A", "B"]\n')
    words = [sys.executable, "-m", "steelyard", "boards", "analyzer", "--lab", str(file)]
    with subprocess.Popen([*words, "la", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        ready = process.stderr.readline()
        port = ready.partition("127.0.0.1 port ")[2].partition(";")[0]
        with Analyzer(i.but(at=f"127.0.0.1:{port}"), Event()) as there, Analyzer(i, Event()) as here:
            assert there.pid == here.pid == process.pid
        second = subprocess.run([*words, "la"], capture_output=True, text=True, check=False)
        assert (second.returncode, second.stderr) == (
            1,
            "steelyard: la: another Steelyard samples it; wait until that has ended\n",
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    for place in ("0.0.0.0:0", "[::]:0"):
        open_to_all = subprocess.run([*words, "la", "--listen", place], capture_output=True, text=True, check=False)
        assert (open_to_all.returncode, "or add --anybody" in open_to_all.stderr) == (2, True)
    wrong = subprocess.run([*words, "lb"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "unknown instrument 'lb'; did you mean la?" in wrong.stderr) == (2, True)


def test_strangers_and_chatterers_are_let_go(played: Played, at: Instrument) -> None:
    def heard(said: bytes) -> bytes:
        with socket.create_connection(at.place, 30) as line:
            with suppress(OSError):
                line.sendall(said)
            data = b""
            with suppress(ConnectionResetError):
                while came := line.recv(1 << 16):
                    data += came
            return data

    assert heard(b"") == heard(b"{") == b""
    assert b"not understood" in heard(b"GET / HTTP/1.1\r\n")
    assert b"not understood" in heard(b'{"version":1,"driver":' + b"[" * 5000 + b"\n")
    assert b"speaks version 2" in heard(b'{"version":2}\n')
    assert heard(b"x" * (1 << 20)) == b""
    hello = edgewire.line(edgewire.asked(at))
    with socket.create_connection(at.place) as line:
        line.sendall(hello)
        line.recv(1)
        line.sendall(hello)
        with suppress(ConnectionResetError):
            while line.recv(1 << 16):
                pass

    def crowded() -> bool:  # who says nothing is let go, so a busy machine may never have so many at once
        with ExitStack() as stack:
            crowd = [stack.enter_context(socket.create_connection(at.place, 30)) for _ in range(2 * daemon.USERS)]
            return any(b"64 connections" in line.recv(1 << 16) for line in crowd)

    until(crowded)
    time.sleep(0.5)  # until it has seen them leave
    with Analyzer(at, Event()) as a:
        played.sees(b"\1" * 3 + bytes(10))
        assert a.take("A", 1) == [(100, 103)]


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "it said something that is not understood: "),
        (b"x" * (1 << 20), "these bytes are not an answer"),
        (
            edgewire.line(edgewire.Answer(count=5)) + edgewire.WORD.pack(4, 1),
            "these bytes are not a stream of edges",
        ),
        (
            edgewire.line(edgewire.Answer(count=5)) + edgewire.WORD.pack(6, 4),
            "these bytes are not a stream of edges",
        ),
        (edgewire.line(edgewire.Answer(refused="\x1b[2J" * 500)), "\\\\x1b"),
        (edgewire.line(edgewire.Answer(version=2)), "one Steelyard speaks version 2, the other 1: install the same"),
        (b"", "the process that samples it ended without an answer"),
    ],
)
def test_what_another_machine_says_is_not_believed(says: bytes, why: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as line:
                line.recv(1 << 16)
                with suppress(OSError):
                    line.sendall(says)
                    line.shutdown(socket.SHUT_WR)
                    line.recv(1 << 16)

        thread = Thread(target=serve)
        thread.start()
        place = f"127.0.0.1:{server.getsockname()[1]}"
        there = Instrument(name="la", driver="x", samplerate=1, channels=("A", "B"), at=place)
        with pytest.raises(DeviceError, match=f"la: .*{why}") as e, Analyzer(there, Event()) as a:
            a.take("A", 1)
        assert len(e.value.failure.detail) < 500
        thread.join()
