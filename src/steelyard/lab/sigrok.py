"""``sigrok-cli`` as a process that samples without end, until it is told to stop."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from .plugs import by_usb

#: lines of its that say what went wrong
_WRONG = re.compile("fail|error|unable|denied", re.IGNORECASE)
#: a device and its channels, as ``--show`` has them, and seconds for that: firmware may have to be loaded first
_CHANNELS = re.compile(r" with \d+ channels?: (.*)")
SHOWS = 30.0
#: prctl(2)
_PR_SET_PDEATHSIG = 1


def with_us() -> Callable[[], None]:
    """What a process does at its start so that it is killed when the thread that starts it ends, however that comes:
    ``sigrok-cli`` without anybody at either end takes all of a core. Only for a process with a single thread."""
    import ctypes

    prctl, us = ctypes.CDLL(None).prctl, os.getpid()

    def begin() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != us:  # it has ended meanwhile
            os.kill(os.getpid(), signal.SIGKILL)

    return begin


def channels(driver: str) -> list[str]:
    """The names of a device's channels, in its order. :class:`OSError` where there is none, or no sigrok."""
    done = subprocess.run(("sigrok-cli", "--driver", driver, "--show"), capture_output=True, timeout=SHOWS, check=False)
    if found := _CHANNELS.search(done.stdout.decode(errors="replace")):
        return found[1].split()
    raise OSError(_ended(done.stderr, done.returncode))


def _ended(said: bytes, code: int | None) -> str:
    """What it said last, and before that the first that went wrong."""
    lines = said.decode(errors="replace").strip().splitlines()
    wrong = [line for line in lines[:-1] if _WRONG.search(line)][:1]
    text = "; ".join(line[:200] for line in (*wrong, *lines[-1:])) or f"exit code {code}"
    return f"sigrok-cli ended: {text}{by_usb(text)}"


class Sampling:
    """What it reads, as ``output``; ``begin`` is called in its process. :class:`FileNotFoundError` when it is not
    installed."""

    def __init__(
        self, driver: str, channels: tuple[str, ...], *options: str, begin: Callable[[], None] | None = None
    ) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, which close() closes
        command = ("sigrok-cli", "--driver", driver, "--channels", ",".join(channels), "--continuous", *options)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                preexec_fn=begin,
            )
        except FileNotFoundError:
            self._said.close()
            raise

    @property
    def output(self) -> IO[bytes]:
        """Its standard output, without a buffer of ours."""
        assert self._process.stdout is not None
        return self._process.stdout

    def end(self) -> str:
        """Why it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._said.seek(0)
        return _ended(self._said.read(), self._process.returncode)

    def interrupt(self) -> None:
        """Ends sampling; what it has written can still be read."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"\n")  # which it takes as the wish to stop
            self._process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Lets go of it, once it has ended."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.output.close()
        self._said.close()
