"""Runs compilers in a sandbox: they see the sources, the toolchain, and one folder to write to."""

from __future__ import annotations

import os
import platform
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from ..model import paths
from ..model.once import Once

_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/alternatives")
#: the folder to write to, as the compilers of packages see it: debugging data has its name
WORK = "/.steelyard"
#: seconds from one look at what a script has written to the next
_LOOK = 0.5
#: most seconds until the processes of a script that was stopped are gone
_DYING = 10.0
#: bytes of a path below a folder, beyond which no build writes and Python's walks of it go on
_DEEP = 1000
#: what a build without a sandbox notes
UNCONFINED = "compiled without a sandbox: bubblewrap is not available"
#: what to do where there is no sandbox
WITHOUT = (
    "compilers would see all that you see, because bubblewrap does not work here; run: apt install bubblewrap, "
    "and allow unprivileged user namespaces"
)
_ALONE = ("bwrap", "--unshare-all", "--die-with-parent", "--new-session")


def _system() -> list[str]:
    """Options that show system folders and one device: the others have no end, and a source may include one. /proc is
    left out: its content differs from build to build, and containers forbid mounting it."""
    options = ["--tmpfs", "/tmp"]
    for p in map(Path, _SYSTEM):
        if p.is_symlink():
            options += ["--symlink", str(p.readlink()), str(p)]
        elif p.is_dir():
            options += ["--ro-bind", str(p), str(p)]
    if platform.machine() == "aarch64":  # GCC resolves -march=native from it
        options += ["--ro-bind-try", "/proc/cpuinfo", "/proc/cpuinfo"]
    return [*options, "--dev-bind", "/dev/null", "/dev/null"]


@Once
def available() -> bool:
    """Whether bubblewrap is installed and may create such a sandbox on this machine."""
    if paths.tool("bwrap") is None:
        return False
    try:
        return subprocess.run([*_ALONE, *_system(), "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def confined(program: Path) -> tuple[str, ...]:
    """The command that starts ``program`` without access to files or network, to be put before its name. Empty where
    there is no sandbox."""
    if not available():
        return ()
    return (*_ALONE, "--ro-bind", str(program), str(program))


def run(
    script: Path,
    writable: Path,
    readable: tuple[Path, ...],
    seconds: float,
    enough: Callable[[], bool],
    called: str = "",
    *arguments: str,
) -> int | None:
    """Runs a shell script in ``writable``, its folder. Returns its exit code, or None when it was stopped: after
    ``seconds``, or as soon as it has written ``enough``, which is asked twice a second.

    With bubblewrap the script sees system folders and ``readable`` read-only, ``writable`` read-write, no network and
    no other process; a link to a program stays a link. ``writable`` may be ``called`` something else there. The script
    itself limits processor time and file sizes. Links, pipes and the like that it leaves in ``writable`` are removed:
    whoever reads or writes there next would follow them, or wait. So are folders that are too deep to be walked.
    """
    command = ["/bin/sh", script.name, *arguments]
    if available():
        system = [Path(p) for p in _SYSTEM]
        binds: list[str] = []
        for r in (r for r in readable if not any(map(r.is_relative_to, system))):
            real = r.resolve()
            binds += ["--ro-bind", str(r), str(r)] if r.is_dir() or r == real else ["--symlink", str(real), str(r)]
        there = called or str(writable)
        binds += ["--bind", str(writable), there, "--chdir", there]
        command = [*_ALONE, *_system(), *binds, *command]
    environment = {"PATH": paths.search_path(), "LC_ALL": "C", "HOME": "/nonexistent"}

    gone, theirs = os.pipe()  # which every process of the script holds open
    try:
        process = subprocess.Popen(
            command,
            cwd=writable,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(theirs,),
        )
    except BaseException:
        os.close(gone)
        raise
    finally:
        os.close(theirs)
    ended, stopped = Event(), Event()
    until = time.monotonic() + seconds

    def watch() -> None:
        while not ended.wait(_LOOK):
            if time.monotonic() >= until or enough():
                stopped.set()
                with suppress(ProcessLookupError):  # it has just ended
                    os.killpg(process.pid, signal.SIGKILL)
                return

    Thread(target=watch, daemon=True).start()  # waiting with a timeout would poll, and cost about 25 ms per build
    with os.fdopen(gone):
        code = process.wait()
        ended.set()
        if stopped.is_set():  # a sandbox's processes die a little after bubblewrap, and write until then
            select.select([gone], [], [], _DYING)
    _plain(writable)
    return None if stopped.is_set() else code


def _plain(folder: Path) -> None:
    """Leaves of a folder only files and folders, and gives their owner back what rights of folders a script took. What
    is so deep that soon no path would lead there is removed. Raises :class:`OSError` where something else stays."""

    def failed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # a link to a folder, which is removed by now
            raise error

    _opened(folder, folder.stat().st_mode)
    tops = [folder]
    for top in tops:  # it grows
        for at, folders, names in os.walk(top, onerror=failed):
            deep = len(os.fsencode(at)) - len(os.fsencode(top)) > _DEEP
            for path in (Path(at, name) for name in (*folders, *names)):
                with suppress(FileNotFoundError):  # without a sandbox, processes of the script may be there yet
                    mode = path.lstat().st_mode
                    if stat.S_ISDIR(mode):
                        _opened(path, mode)
                        if deep:
                            tops.append(path.rename(tempfile.mkdtemp(dir=folder)))
                    elif not stat.S_ISREG(mode):
                        path.unlink()
            if deep:
                folders.clear()
    for top in tops[1:]:
        shutil.rmtree(top, ignore_errors=True)


def _opened(folder: Path, mode: int) -> None:
    if ~mode & stat.S_IRWXU:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
