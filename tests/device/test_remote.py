"""A machine over ssh: the real code path, with an ``ssh`` of this test that runs its commands here.

Once with programs for this machine's processor, and once, as a Raspberry Pi would be, with programs for aarch64
under QEMU's user mode. The latter's figures come from an emulator and stay in these tests' own databases.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from steelyard import building, device, jobs
from steelyard.cli.select import implementations
from steelyard.device import process, remote, ssh
from steelyard.model.call import DeviceError
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import Target, load_target
from steelyard.pipeline import nocrypt, resolve
from tests.conftest import Bench, the_target

# A connection is a process beside the one that it started: when the file "cut" appears it is gone.
SSH = """#!/bin/sh
log=/dev/stderr
while :; do
    case $1 in
    -E) log=$2; shift 2 ;;
    -o) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=$1; shift
echo "$host" >>'{here}/hosts'
if [ -e '{here}/down' ]; then
    echo "ssh: connect to host $host port 22: No route to host" >>$log
    exit 255
fi
echo "Welcome to $host"
echo "a shell that talks" >&2
export PATH='{here}/there':$PATH TMPDIR='{here}/tmp'
exec 3<&0
sh -c "$*" <&3 &
while kill -0 $! 2>/dev/null; do
    if [ -e '{here}/cut' ]; then
        echo "Timeout, server $host not responding." >>$log
        exit 255
    fi
    sleep 0.02
done
wait $!
code=$?
[ $code -lt 128 ] || exit 255
exit $code
"""
# what a machine with an aarch64 processor has in these places
UNAME = "#!/bin/sh\necho aarch64\n"
CAT = """#!/bin/sh
[ "$1" = /proc/cpuinfo ] || exec /bin/cat "$@"
printf 'processor\\t: 0\\nCPU implementer\\t: 0x41\\nCPU part\\t: 0xd08\\n'
"""
BWRAP = """#!/bin/sh
for last; do :; done
[ "$last" != true ] || exit 0
exec qemu-aarch64 "$last"
"""


def program(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


class Machine:
    """The other machine: ``here`` has its files, ``target`` is its target."""

    def __init__(self, here: Path, target: Target) -> None:
        self.here = here
        self.target = target

    def running(self) -> list[str]:
        """Processes whose program is there."""
        found = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = file.read_bytes().split(b"\0")
            except OSError:
                continue
            if any(w.startswith(str(self.here / "tmp").encode()) for w in words):
                found.append(file.parent.name)
        return found

    def quiet(self) -> bool:
        """Whether none of its processes run and none of its files are left."""
        end = time.monotonic() + 5
        while self.running() and time.monotonic() < end:
            time.sleep(0.05)
        return not self.running() and not list((self.here / "tmp").iterdir())


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An ``ssh`` on the path, and the folder of the machine that it connects to."""
    here = tmp_path / "machine"
    (here / "tmp").mkdir(parents=True)
    program(here / "bin/ssh", SSH.format(here=here))
    monkeypatch.setenv("PATH", f"{here}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(remote, "_machines", {})
    jobs._clock_of.cache_clear()
    yield here
    jobs._clock_of.cache_clear()


@pytest.fixture(params=["native", "emulated"])
def machine(request: pytest.FixtureRequest, stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with this one's processor, and one that QEMU emulates."""
    if request.param == "native":
        changes = {"device": "ssh", "architecture": platform.machine()}
        target = the_target("host").but(**changes)
    else:
        target = played(stand_in)
        monkeypatch.setattr(process, "EMULATORS_ALLOWED", True)
    monkeypatch.setenv(target.host_variable, "pi@board")
    return Machine(stand_in, target)


def played(here: Path) -> Target:
    """The Raspberry Pi as QEMU emulates it."""
    target = the_target("raspberry-pi")
    if shutil.which("qemu-aarch64") is None:
        pytest.skip("qemu-aarch64 is not installed: apt install qemu-user")
    for name, text in (("uname", UNAME), ("cat", CAT), ("bwrap", BWRAP)):
        program(here / "there" / name, text)
    return target


def test_the_real_ssh_takes_its_options() -> None:
    if shutil.which("ssh") is None:
        pytest.skip(ssh.NOT_INSTALLED)
    command = ["ssh", "-F", "none", *ssh.OPTIONS, "-G", "me@bench"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = {"batchmode yes", f"connecttimeout {ssh.CONNECT}", "serveralivecountmax 4", "forwardx11 no", "user me"}
    assert said <= set(done.stdout.splitlines())


def test_from_copy_to_record(bench: Bench, machine: Machine) -> None:
    implementation = implementations(["tinyjambu128v2/small"])[0][0].implementation
    record = bench.weigh(implementation, machine.target, load="0/64,64/64", flags="-O2")
    assert record.ok, record.failure
    assert record.verification is not None
    assert record.verification.vectors == 1089
    assert record.setup.device == "ssh"
    assert record.metrics["rom"] > 300
    assert 0 < record.metrics["stack"] < 1000
    if machine.target.name == "raspberry-pi":
        assert record.setup.timing_model.startswith("EMULATED, generic timer of ")
        assert record.setup.timing_model.endswith(", Cortex-A72, governor unknown")
        assert record.metrics["ticks_encrypt_mean"] > 0
        assert not [m for m in record.metrics if m.startswith("cycles")]
        assert record.points == ()
    else:
        assert not record.setup.timing_model.startswith("EMULATED")
        assert record.metrics["cycles_encrypt_mean"] > 0
        assert len(record.points) == 6
    assert set((machine.here / "hosts").read_text().split()) == {"pi@board"}
    assert machine.quiet()


def test_a_restart_has_a_fresh_process(bench: Bench, machine: Machine) -> None:
    image = bench.build(nocrypt("crypto_aead"), machine.target, "-O2").images["both"]
    with device.opened(machine.target, image, building.confined(image)) as link:
        client = device.Client(link)
        first, clock = client.hello, link.clock
        link.exchange(b"\xa5\x02")  # the first bytes of a frame that never comes
        link.reset()
        assert device.Client(link).hello == first
        assert link.clock == clock
    assert machine.quiet()


def test_a_crash_is_told_from_a_lost_connection(bench: Bench, machine: Machine) -> None:
    crash = bench.weigh(bench.package(in_encrypt="*(volatile int *)8 = 1;"), machine.target)
    assert crash.failure is not None
    assert (crash.failure.reason, crash.failure.detail) == (Reason.FAULT, "the process ended with signal 11")
    assert machine.quiet()


def test_an_endless_loop_ends_with_the_connection(
    bench: Bench, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.job(bench.package(in_encrypt="for (;;) ;"), machine.target)
    assert resolve(job).trouble is None
    monkeypatch.setattr(process, "PATIENCE", 2.0)
    loop = bench.weigh(job.implementation, machine.target)
    assert loop.failure is not None
    assert loop.failure.reason is Reason.RUNAWAY
    assert machine.quiet()


def test_a_machine_that_goes_away(bench: Bench, machine: Machine) -> None:
    job = bench.job(bench.package(in_encrypt="for (;;) ;"), machine.target)
    assert resolve(job).trouble is None  # it was there to say what it counts
    timer = Timer(3.0, (machine.here / "cut").touch)
    timer.start()
    gone = bench.weigh(job.implementation, machine.target)
    timer.join()
    assert gone.failure is not None
    assert gone.failure.reason is Reason.UNREACHABLE
    assert gone.failure.detail == "the connection to pi@board ended: Timeout, server pi@board not responding."
    (machine.here / "cut").unlink()
    end = time.monotonic() + 5
    while machine.running() and time.monotonic() < end:
        time.sleep(0.05)
    assert not machine.running()


def test_a_machine_that_does_not_answer(bench: Bench, machine: Machine) -> None:
    (machine.here / "down").touch()
    record = bench.weigh(bench.package(), machine.target)
    assert record.failure is not None
    assert record.failure.detail.startswith("pi@board: no connection: ssh: connect to host ")
    assert (record.metrics, record.final) == ({}, False)


def test_an_emulated_processor_measures_nothing(bench: Bench, stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = played(stand_in)
    monkeypatch.setenv(target.host_variable, "board")
    record = bench.weigh(bench.package(), target)
    assert record.failure is not None
    assert "board: the processor is emulated, or is not the one" in record.failure.detail
    assert (record.metrics, record.final) == ({}, False)


def test_another_processor_than_images_are_made_for(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = load_target("raspberry-pi").but(architecture="none")
    monkeypatch.setenv(target.host_variable, "board")
    assert not device.ask(target).real
    with pytest.raises(DeviceError, match="is not the one that images are made for"):
        device.RemoteLink(target, Path(__file__))
    assert list((stand_in / "tmp").iterdir()) == []


@pytest.mark.parametrize("host", ["", " ", "-oProxyCommand=evil", "two words"])
def test_the_machine_must_be_named(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_RASPBERRY_PI", host)
    clock = jobs.clock_of(load_target("raspberry-pi"))
    assert isinstance(clock, Failure)
    assert clock.reason is Reason.UNREACHABLE
    assert "such as STEELYARD_RASPBERRY_PI=pi@raspberrypi.local" in clock.detail
