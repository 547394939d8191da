"""Compilers run on other people's sources: they see those, the toolchain, and one folder to write."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from threading import Event, Timer

from ..model import paths
from ..model.once import Once

_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/alternatives")


@Once
def available() -> bool:
    """Whether bubblewrap is installed and may make a sandbox here."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return False
    probe = [bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def confined(program: Path) -> tuple[str, ...]:
    """Command that starts ``program``, and nothing but it, with neither files nor network; empty where
    there is no sandbox."""
    if not available():
        return ()
    return ("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", str(program), str(program))


def run(script: Path, writable: Path, readable: tuple[Path, ...], seconds: float) -> int | None:
    """Runs a shell script in ``writable``: its exit code, or None when it was stopped after ``seconds``.

    With bubblewrap the script sees system folders and ``readable`` read-only (of a link to a program the link),
    ``writable`` read-write, no network and no other process. The script limits its own processor time and file sizes.
    """
    command = ["/bin/sh", str(script)]
    if available():
        binds = ["--tmpfs", "/tmp"]
        for p in map(Path, _SYSTEM):
            if p.is_symlink():
                binds += ["--symlink", str(p.readlink()), str(p)]
            elif p.is_dir():
                binds += ["--ro-bind", str(p), str(p)]
        for r in (r for r in readable if not any(map(r.is_relative_to, _SYSTEM))):
            real = r.resolve()
            binds += ["--ro-bind", str(r), str(r)] if r.is_dir() or r == real else ["--symlink", str(real), str(r)]
        sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", *binds]
        sandbox += ["--proc", "/proc", "--dev", "/dev", "--bind", str(writable), str(writable)]
        command = [*sandbox, "--chdir", str(writable), *command]
    # one source makes one image: __DATE__ and __TIME__ stand still (GCC manual, "Environment Variables"; since GCC 7)
    environment = {"PATH": paths.search_path(), "LC_ALL": "C", "HOME": "/nonexistent", "SOURCE_DATE_EPOCH": "0"}

    process = subprocess.Popen(
        command,
        cwd=writable,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    stopped = Event()

    def stop() -> None:
        stopped.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = Timer(seconds, stop)  # waiting with a time limit would poll, and cost every build some 25 ms
    timer.start()
    code = process.wait()
    timer.cancel()
    return None if stopped.is_set() else code
