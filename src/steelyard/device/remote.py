"""A process on another machine as a device, with an ssh connection for its pipes.

The user names the machine in an environment variable, as ssh knows it. The image is copied there, runs in bubblewrap's
sandbox where that works, and is removed at the end. When the connection ends, the process ends too.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from ..model.call import DeviceError
from ..model.errors import UserError
from ..model.reasons import Failure, Reason
from ..model.target import Target
from . import machine, ssh
from .machine import Machine
from .process import ProcessLink, refuse

#: seconds for each errand before and after the process runs
ERRAND = 120
_MARK = "steelyard:"

# each command prints a line "steelyard:<name>" before its output
_TELL = f"""
echo; echo {_MARK}arch; uname -m
echo {_MARK}cpuinfo; cat {machine.CPUINFO}
echo; echo {_MARK}model; tr -d '\\000' <{machine.MODEL} 2>/dev/null
echo; echo {_MARK}governors
for f in {machine.GOVERNORS}; do [ -r "$f" ] && echo "$f $(cat "$f")"; done
echo {_MARK}end
"""
_COPY = f"""set -e
d=$(mktemp -d "${{TMPDIR:-/tmp}}/steelyard.XXXXXXXX")
cat >"$d/image"
chmod 700 "$d/image"
echo; echo {_MARK}folder; echo "$d"
set +e
{_TELL}"""
_START = """f={image}
if bwrap --unshare-all --ro-bind / / true 2>/dev/null
then exec bwrap --unshare-all --die-with-parent --new-session --ro-bind "$f" "$f" "$f"
else exec "$f"
fi"""
_locks: dict[str, Lock] = {}
_machines: dict[tuple[str, str], Machine] = {}


def host_of(target: Target) -> str:
    """The name by which ssh knows the machine of ``target``. Raises :class:`UserError` when the user has not named
    one."""
    host = os.environ.get(target.host_variable, "").strip()
    if not ssh.is_host(host):
        raise UserError(
            f"{target.name}: which machine? set {target.host_variable} to what ssh calls it, "
            f"such as {target.host_variable}=pi@raspberrypi.local"
        )
    return host


def ask(target: Target) -> Machine:
    """The machine of ``target``, asked once per process of ours. Raises :class:`DeviceError` when it does not
    answer."""
    host = host_of(target)
    key = (host, target.architecture)
    if key not in _machines:
        _machines[key] = _machine(target, host, _sections(_errand(host, _TELL, b"")))
    return _machines[key]


def _errand(host: str, script: str, data: bytes) -> str:
    """The output of a shell script on ``host``. Raises :class:`DeviceError` when it fails."""
    command = ("ssh", *ssh.OPTIONS, host, ssh.running(script))
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=ERRAND, check=False)
    except subprocess.TimeoutExpired:
        raise DeviceError(Failure(Reason.UNREACHABLE, f"{host} did not answer in {ERRAND} s")) from None
    except FileNotFoundError:
        raise DeviceError(Failure(Reason.UNREACHABLE, ssh.NOT_INSTALLED)) from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"exit code {done.returncode}"
        what = "no connection" if done.returncode == ssh.NO_CONNECTION else "the image could not be copied"
        raise DeviceError(Failure(Reason.UNREACHABLE, f"{host}: {what}: {why[:300]}"))
    return done.stdout.decode(errors="replace")


def _sections(text: str) -> dict[str, str]:
    """The output of the scripts by section; anything that a login shell prints before is dropped."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(_MARK):
            name = line[len(_MARK) :]
            found[name] = ""
        elif name:
            found[name] += line + "\n"
    return found


def _machine(target: Target, host: str, told: Mapping[str, str]) -> Machine:
    if "end" not in told:
        raise DeviceError(Failure(Reason.UNREACHABLE, f"{host}: its shell did not give the expected output"))
    governors: dict[int, str] = {}
    for line in told["governors"].splitlines():
        file, _, governor = line.partition(" ")
        core = Path(file).parts[-3:-2]
        if core and core[0][3:].isdigit():
            governors[int(core[0][3:])] = governor
    cpuinfo = told["cpuinfo"].strip("\n")
    # a kernel of that architecture reports it itself; under an emulator the host's report shows through
    real = told["arch"].strip() == target.architecture and ("CPU implementer" in cpuinfo) == (
        target.architecture == "aarch64"
    )
    return Machine(host, cpuinfo, told["model"].strip("\n"), governors, real)


class RemoteLink(ProcessLink):
    """The host's end of a harness on another machine."""

    def __init__(self, target: Target, image: Path) -> None:
        self._host = host_of(target)
        self._log = Path(tempfile.mkstemp(prefix="steelyard-ssh-")[1])
        self._folder = ""
        try:
            told = _sections(_errand(self._host, _COPY, image.read_bytes()))
            there = _machine(target, self._host, told)
            self._folder = told["folder"].strip()
            refuse(there, not there.real)
            start = _START.format(image=shlex.quote(f"{self._folder}/image"))
            command = ("ssh", *ssh.OPTIONS, "-E", str(self._log), self._host, ssh.running(start))
            super().__init__(command, there, _locks.setdefault(self._host, Lock()))
        except BaseException:
            self._tidy()
            raise

    def _cause(self, code: int) -> Failure:
        if code == ssh.NO_CONNECTION and self._signal is None:
            why = self._log.read_text(errors="replace").strip().splitlines()
            text = f"the connection to {self._host} ended{f': {why[-1][:300]}' if why else ''}"
            return Failure(Reason.UNREACHABLE, text)
        return super()._cause(code)

    def close(self) -> None:
        """Ends the process and removes its image, so that the next one may start."""
        super().close()
        self._tidy()

    def _tidy(self) -> None:
        self._log.unlink(missing_ok=True)
        if self._folder:
            image, folder = shlex.quote(f"{self._folder}/image"), shlex.quote(self._folder)
            self._folder = ""
            with contextlib.suppress(DeviceError):  # a machine that is gone cannot be tidied
                _errand(self._host, f"rm -f {image}; rmdir {folder}", b"")
