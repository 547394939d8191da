"""The bundled implementations as test parameters, and the program that calls one on this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.cli.select import bundled
from steelyard.model import paths
from steelyard.model.implementation import Implementation
from steelyard.model.once import alone
from steelyard.model.paths import HARNESS
from steelyard.verify.known import readings

#: the baseline keeps none of the promises, by design; block ciphers have tests of their own
CIPHERS = [i for i in bundled().implementations if i.family != "nocrypt" and i.primitive != "crypto_block"]
BLOCKS = [i for i in bundled().implementations if i.family != "nocrypt" and i.primitive == "crypto_block"]
KINDS = {"crypto_aead": "AEAD", "crypto_hash": "HASH", "crypto_cxof": "CXOF"}
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g1", "-w")
#: what an implementation may leave to the C library and to the compiler's own
LIBRARY = {"memcmp", "memcpy", "memmove", "memset", "strcmp"}
_DRIVER = Path(__file__).with_name("driver.c")


def name(implementation: Implementation) -> str:
    """Its name in tests."""
    return f"{implementation.family}-{implementation.primitive}-{implementation.label}"


EVERY = pytest.mark.parametrize("implementation", CIPHERS, ids=name)


def portable(implementation: Implementation) -> bool:
    """Whether this machine can run it: without assembly for another machine."""
    return all(f.language in ("c", "header") for f in implementation.files)


def sources(implementation: Implementation) -> list[str]:
    """Its C files, and the compiler options for their headers."""
    names = [implementation.folder / f.name for f in implementation.files if f.language == "c"]
    folders = dict.fromkeys((implementation.folder / f.name).parent for f in implementation.files)
    return [f"-I{p}" for p in (implementation.folder, *folders, HARNESS / "include")] + [str(p) for p in names]


def driver(implementation: Implementation) -> Path:
    """``driver.c`` around an implementation, under sanitizers."""
    kind = f"-D{KINDS[implementation.primitive]}"
    return sanitized(name(implementation), [kind, *_limits(implementation), str(_DRIVER), *sources(implementation)])


def sanitized(name: str, words: list[str]) -> Path:
    """A program of these sources and options under sanitizers, compiled once for all tests."""
    program = paths.home() / "cache" / "drivers" / name.replace("/", "-")
    with alone(f"driver {name}"):
        if not program.exists():
            program.parent.mkdir(parents=True, exist_ok=True)
            command = ["gcc", *SANITIZERS, *words, "-o", str(program)]
            built = subprocess.run(command, capture_output=True, text=True, check=False)
            assert built.returncode == 0, built.stderr
    return program


def needed(sources: list[str], folder: Path) -> set[str]:
    """What these C files leave to others when they are compiled for speed."""
    relocatable = folder / "implementation.o"
    subprocess.run(
        ["gcc", "-O2", "-w", "-r", "-nostdlib", *sources, "-o", relocatable], capture_output=True, check=True
    )
    named = subprocess.run(["nm", "-u", "-P", relocatable], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in named.splitlines()}


def _limits(implementation: Implementation) -> list[str]:
    """Options of the driver for algorithms that do not accept all inputs."""
    if implementation.primitive == "crypto_cxof":
        return ["-DMAX_AD=256"]  # SP 800-232, section 5.3
    if implementation.variant.startswith("spook128mu"):
        return ["-DIGNORED_KEY_BITS=2"]  # Spook, section 3.1: the public tweak has 126 bits
    row = readings(implementation.primitive, implementation.variant)[0]
    return ["-DMAX_AD=0", "-DONE_BLOCK=1", f"-DMAX_MESSAGE={row.max_mlen}"] if row.one_block else []
