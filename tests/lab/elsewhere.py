"""Another machine: an ``ssh`` that runs its commands here, in a folder and with a home of their own.

When the file ``cut`` appears there the connection is gone, and when ``down`` does no new one can be made.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.lab import Lab
from steelyard.lab.lock import is_held, port_of
from tests.conftest import ROOT

SSH = """#!{python} -S
import os, subprocess, sys, time
from threading import Thread

here, words = {here!r}, sys.argv[1:]
while words[0].startswith("-"):
    words = words[2 if words[0] == "-o" else 1:]
if os.path.exists(here + "/down"):
    print("ssh: connect to host", words[0], "port 22: No route to host", file=sys.stderr)
    sys.exit(255)
print("Welcome to", words[0], flush=True)
print("a shell that talks", file=sys.stderr, flush=True)
path = [p for p in os.environ["PATH"].split(":") if not os.path.exists(p + "/steelyard")]  # what is here is not there
env = dict(os.environ, PATH=":".join([here + "/bin", "/usr/bin", "/bin", *path]), STEELYARD_HOME=here + "/home")
env.pop("STEELYARD_LAB", None)
process = subprocess.Popen(["sh", "-c", words[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=here, env=env)

def carry(source, sink):
    while data := os.read(source, 1 << 16):
        while data:
            try:
                data = data[os.write(sink, data):]
            except BrokenPipeError:
                break
    os.close(sink)

Thread(target=carry, args=(0, process.stdin.fileno()), daemon=True).start()
back = Thread(target=carry, args=(process.stdout.fileno(), 1), daemon=True)
back.start()
while process.poll() is None:
    if os.path.exists(here + "/cut"):
        print("Timeout, server", words[0], "not responding.", file=sys.stderr, flush=True)
        os._exit(255)
    time.sleep(0.01)
back.join()
os._exit(process.returncode % 256)
"""
#: Steelyard there, with the boards that its lab.toml has
REAL = "#!/bin/sh\nexec '{python}' -m steelyard \"$@\"\n"
#: and with simulators in their place
PLAYED = """#!{python}
import pytest, sys
from pathlib import Path
from steelyard.cli import main
from tests.lab.test_pool import Boards, play
with pytest.MonkeyPatch.context() as patch:
    play(Boards(), patch, Path({here!r}, "home"))
    main()
"""
HERE = """
[hosts.bench]
ssh = "me@bench"
folder = "{at}"

[boards.far]
target = "{target}"
host = "bench"
named = "{named}"
"""


class Elsewhere:
    """The machine, with its files in ``here``."""

    def __init__(self, here: Path) -> None:
        self.here = here

    def steelyard(self, text: str) -> None:
        """What is called by that name there."""
        self.program("bin/steelyard", text)

    def program(self, name: str, text: str) -> None:
        file = self.here / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{python}", sys.executable).replace("{here!r}", repr(str(self.here))))
        file.chmod(0o755)

    def is_free(self, there: Lab, name: str) -> bool:
        """Whether the board is let go, at once or soon."""
        end = time.monotonic() + 20
        while is_held(port_of(there.boards[name])) and time.monotonic() < end:
            time.sleep(0.05)
        return not is_held(port_of(there.boards[name]))


def connected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """The machine below ``folder``, and an ``ssh`` on the path that knows the way."""
    there = Elsewhere(folder / "bench")
    there.program("ssh/ssh", SSH)
    monkeypatch.setenv("PATH", f"{there.here}/ssh:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    return there


def described(folder: Path, target: str, named: str, more: str = "", at: Path | str = ".") -> Lab:
    """A lab here whose board ``far`` is ``named`` so there, in the lab of the folder ``at``."""
    (folder / "lab.toml").write_text(f"{more}\n{HERE.format(target=target, named=named, at=at)}")
    return lab.load(folder / "lab.toml")
