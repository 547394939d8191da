"""BouncyCastle as an oracle for ciphers and hashes: its pinned jar from Maven Central, and the process that asks it.

Run as ``python -m oracles.bouncycastle`` it fetches the jar into ``.steelyard/oracles`` of the checkout.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self

from steelyard.model import paths
from steelyard.model.call import Vector

VERSION = "1.86"
SHA256 = "2af190b300cbb0b35e248ccf5f4a06b6072030aeb3da7a98ec73abe5b4cb371f"
_ARTIFACT = "org.bouncycastle:bcprov-jdk18on"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
#: outside ``STEELYARD_HOME``, which tests change
JAR = paths.ROOT / ".steelyard" / "oracles" / f"bcprov-jdk18on-{VERSION}.jar"
_PROGRAM = Path(__file__).with_name("BouncyCastle.java")
_OLDEST_JAVA = 17


def missing() -> str | None:
    """What the oracle needs and is missing, and how to get it."""
    if shutil.which("javac") is None or shutil.which("java") is None:
        return "Java is not installed: apt install default-jdk-headless"
    said = subprocess.run(["java", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"\S+ (\d+)", said)
    if version is None or int(version[1]) < _OLDEST_JAVA:
        return f"Java {_OLDEST_JAVA} or newer is needed, not {said.splitlines()[0] if said else 'this one'}"
    if not JAR.exists():
        return f"{paths.short(JAR)} is not here: python -m oracles.bouncycastle"
    if hashlib.sha256(JAR.read_bytes()).hexdigest() != SHA256:
        return f"{paths.short(JAR)} is another one than was pinned; remove it: python -m oracles.bouncycastle"
    return None


def fetch() -> None:
    """Lets Maven fetch the jar if it is missing. Raises :class:`OSError` when that fails."""
    if JAR.exists() and hashlib.sha256(JAR.read_bytes()).hexdigest() == SHA256:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "mvn",
            "-q",
            "-B",
            f"{_COPY}:copy",
            f"-Dartifact={_ARTIFACT}:{VERSION}",
            f"-DoutputDirectory={folder}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=600)
        file = Path(folder) / JAR.name
        if done.returncode != 0 or not file.exists():
            raise OSError((done.stdout.strip().splitlines() or ["Maven brought nothing"])[0])
        content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise OSError("it is another file than was pinned")
    JAR.parent.mkdir(parents=True, exist_ok=True)
    part = JAR.with_suffix(".part")
    part.write_bytes(content)
    part.rename(JAR)


class BouncyCastle:
    """The process that answers; its words go to standard error."""

    def __init__(self) -> None:
        command = ["java", "-cp", str(JAR), str(_PROGRAM)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def answer(self, variant: str, out: int, v: Vector) -> bytes | str:
        """Ciphertext and tag, or ``out`` bytes of digest; an error text where it has neither."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        parts = (part.hex() or "-" for part in (v.key, v.npub, v.ad, v.message))
        self._process.stdin.write(" ".join((variant, str(out), *parts)) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline().rstrip()
        if not line:
            raise RuntimeError(f"BouncyCastle's process ended with exit code {self._process.wait()}")
        return line[2:] if line.startswith("!") else bytes.fromhex(line)


if __name__ == "__main__":
    try:
        fetch()
    except (OSError, subprocess.SubprocessError) as e:
        sys.exit(f"bouncycastle: {_ARTIFACT}:{VERSION} could not be fetched: {e}")
