"""Workers beside a server, as processes that end with it, however it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

#: seconds until a worker that ended is started again, and that one may take to give its job back
AGAIN, PATIENT = 5.0, 30.0
#: ends with who holds the other end of its standard input, giving its job back
_PROGRAM = """
import os, signal, sys, threading

def watch():
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=watch, daemon=True).start()
from steelyard.cli import ended
sys.argv[1:1] = ["work"]
try:
    sys.exit(ended())
except KeyboardInterrupt:
    pass  # the server says that it is over
"""


@contextmanager
def workers(count: int, words: Sequence[str]) -> Iterator[None]:
    """So many ``steelyard work`` with these words; one that dies is started again."""
    over = Event()

    def keep() -> None:
        while not over.is_set():
            process = subprocess.Popen([sys.executable, "-c", _PROGRAM, *words], stdin=subprocess.PIPE)
            assert process.stdin is not None
            while process.poll() is None and not over.is_set():
                over.wait(0.2)
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(PATIENT)
            except subprocess.TimeoutExpired:
                process.kill()
            over.wait(AGAIN)

    threads = [Thread(target=keep, name="worker") for _ in range(count)]
    for t in threads:
        t.start()
    try:
        yield
    finally:
        over.set()
        for t in threads:
            t.join()
