"""``sigrok-cli`` as a process that samples without end, until it is told to stop."""

from __future__ import annotations

import subprocess
import tempfile
from typing import IO


class Sampling:
    """What it reads, as ``output``. :class:`FileNotFoundError` when it is not installed."""

    def __init__(self, driver: str, channels: tuple[str, ...], *options: str) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, which stop() closes
        command = ("sigrok-cli", "--driver", driver, "--channels", ",".join(channels), "--continuous", *options)
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=0
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
        """What it said last, once it has ended."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f"sigrok-cli ended: {lines[-1][:200] if lines else f'exit code {self._process.wait()}'}"

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
