"""Compiler identity: which compiler, exactly, made an image."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from ..model import paths
from ..model.once import Once
from ..model.record import Toolchain
from ..model.target import ToolchainSpec


def identify(spec: ToolchainSpec) -> Toolchain | None:
    """Identity of the installed compiler, or None when it is not there.

    The hash covers driver, compiler proper, assembler and linker, and the shared libraries that LLVM's are made of.
    It is kept beside the files' sizes and times, so unchanged compilers are not read again.
    """
    return _identify(spec.name, spec.compiler, spec.linker)


@Once
def _identify(name: str, compiler: str, linker: str) -> Toolchain | None:
    driver, *own = (shutil.which(p, path=paths.search_path()) for p in (compiler, linker) if p)
    if driver is None or None in own:
        return None
    stamp_file = paths.home() / "cache" / "toolchains" / f"{hashlib.sha256(driver.encode()).hexdigest()[:16]}.json"
    try:
        kept = json.loads(stamp_file.read_text())
        if kept["stamp"] == _stamp([Path(p) for p in kept["parts"]]):
            return Toolchain(name, kept["version"], kept["sha256"])
    except (OSError, ValueError, KeyError):
        pass
    parts = [Path(driver).resolve(), *(_program(driver, p) for p in ("cc1", "as", "ld"))]
    parts += [Path(p).resolve() for p in own if p]
    parts += [library for p in (driver, *own) if p for library in _shared(p)]
    version = subprocess.run([driver, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    h = hashlib.sha256()
    for part in parts:
        with part.open("rb") as f:
            h.update(hashlib.file_digest(f, "sha256").digest())
    kept = {
        "stamp": _stamp(parts),
        "parts": [str(p) for p in parts],
        "version": version,
        "sha256": h.hexdigest(),
    }
    stamp_file.parent.mkdir(parents=True, exist_ok=True)
    temporary = stamp_file.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(kept))
    temporary.replace(stamp_file)
    return Toolchain(name, version, h.hexdigest())


def _program(driver: str, program: str) -> Path:
    out = subprocess.run([driver, f"-print-prog-name={program}"], capture_output=True, text=True, check=True).stdout
    found = shutil.which(out.strip())
    return Path(found).resolve() if found else Path(driver).resolve()


def _shared(program: str) -> list[Path]:
    """Shared libraries that hold the compiler itself, where the program is all but empty: LLVM's."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return [Path(p).resolve() for p in re.findall(r"=> (/\S*(?:LLVM|clang|lld)\S*) ", told)]


def _stamp(parts: list[Path]) -> list[list[int]]:
    return [[s.st_size, s.st_mtime_ns] for s in (p.stat() for p in parts)]
