"""Recognises commands that failed because of the machine, not the sources; another try may succeed. And want of
memory, which is the fault of either."""

from __future__ import annotations

import mmap
import re
import shutil
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from ..model import paths
from ..model.once import Once
from ..model.reasons import Failure, Reason
from ..model.target import ToolchainSpec

#: most bytes of address space that a compiler may have
MEMORY = 8 << 30
#: free bytes below which no build succeeds
_LITTLE = 1 << 20
# of each pattern the first group are the machine's words
_FULL = r"(?m)(No space left on device|Disk quota exceeded)\W*$"
_KILLED = (
    r"(?m)^[^\n]*(Killed signal terminated program|internal compiler error: (?:Killed|Terminated)"
    r"|terminated with signal|Cannot allocate memory)[^\n]*"
)
# messages of GCC, binutils, LLVM and C++
_REFUSED = r"(?m)^[^\n]*(out of memory allocating|memory exhausted|LLVM ERROR: out of memory|std::bad_alloc)[^\n]*"
#: how a line begins in which a program speaks, not a source: with its name
_PROGRAM = r"(?m)^(?!src/)(?:[^\s:]+: )?(?:(?:fatal )?error: )?"
# messages of the shell, GCC, collect2, the linkers and the program loader
_MISSING = tuple(
    f"{_PROGRAM}({message})"
    for message in (
        r"cannot find (-l[\w.+-]+|[\w./+-]+\.[oa])\b",
        r"unable to find library (-l[\w.+-]+)",
        r"(?:cannot|error trying to) exec(?:ute)? ['`\"]?([\w./+-]+)",
        r"cannot find ['`\"](\w*ld)['\"]",
        r"cannot read spec file ['`\"]([^'\"\n]+)",
        r"cannot open linker script file ([^\s:]+)",
        r"error while loading shared libraries: ([^\s:]+)",
        r"(?:unable to execute command: |invalid )(?:Executable|linker name)[^\n\"']*[\"']([\w./+=-]+)[\"']",
    )
)
_UNSTARTED = re.compile(r"(?<![^\s:])([^\s:]+): (?:[^\n:]*not found|[Pp]ermission denied|Exec format error)")
#: different words of the machine that are looked for in a package
_MANY = 100
#: texts of C, and comments, which no compiler repeats
_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\\n])*\")|/\*(?:.*?\*/|.*)|//[^\n]*", re.DOTALL)
#: what C leaves out of texts, and characters that it reads from their numbers
_JOINED = re.compile(r"\\\n|\"\s*\"")
_NUMBERED = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))")
#: what the kernel says of a command with more words than it takes: a package can have so many folders
_LONG = "Argument list too long"
# a diagnostic at a place in the sources (``#error``, ``.error``, failed assertions, files that are not there) and what
# it shows of them, or one of a symbol; what the compiler says of itself is another fatal or an internal error, or has
# no place
_QUOTED = re.compile(
    r"^[^\n:]+:\d+(?::\d+)?: (?:(?:error|warning|note|Error|Warning): .*"
    r"|fatal error: .*(?:No such file or directory|file not found)$)(?:\n .*|\n.*(?=\n[ \t]*\^))*"
    r"|^.*(?:\bsymbol\b|undefined reference|multiple definition|\b[Ii]n function\b|\breferenced? |\breferences ).*"
    r"|^>>> .*",
    re.MULTILINE,
)


class Failed(Struct, frozen=True):
    """A command that failed: ``name`` is the file or step, ``code`` its exit code as the shell gives it, ``said`` its
    output."""

    name: str
    code: int
    said: str


def of_machine(
    commands: Iterable[Failed], spec: ToolchainSpec, work: Path, flags: Sequence[str] = ()
) -> Failure | None:
    """The failure when commands failed because of the machine, otherwise None. ``work`` is on the disk that they wrote
    to. What the user's ``flags`` name is not part of the machine."""
    commands, named = list(commands), " ".join(flags)
    text = _QUOTED.sub("", "\n".join(c.said for c in commands))
    if cause := full(work, bool(_found(_FULL, text, work))):
        return cause
    if found := re.search(
        rf"{re.escape(str(paths.home() / 'cache'))}[^\n]*: (No such file|file (?:not|trunc)).*", text
    ):
        return Failure(Reason.COMPILER_KILLED, f"the cache changed during the run: {found[0][:300]}")
    for c in commands:
        if c.code in (126, 127) and _LONG not in c.said:
            program = _UNSTARTED.findall(c.said)
            return Failure(Reason.NO_TOOLCHAIN, f"{c.name}: {(program or ['a program'])[0]} not found: {spec.fix}")
    for pattern in () if _LONG in text else _MISSING:
        if missing := [m[2] for m in _found(pattern, text, work) if m[2] not in named]:
            return Failure(Reason.NO_TOOLCHAIN, f"{missing[0]} is missing; {spec.compiler} needs it: {spec.fix}")
    if refused := _found(_REFUSED, text, work):
        return None if grants() else Failure(Reason.COMPILER_KILLED, refused[0][0].strip()[:300])
    for c in commands:
        if c.code == 128 + signal.SIGXCPU:
            return Failure(Reason.COMPILE_TIMEOUT, f"{c.name}: stopped at its limit of processor time")
        if c.code > 128:
            return Failure(Reason.COMPILER_KILLED, f"{c.name}: ended by signal {c.code - 128}")
    if killed := _found(_KILLED, text, work):
        return Failure(Reason.COMPILER_KILLED, killed[0][0].strip()[:300])
    if silent := [c for c in commands if not c.said.strip()]:
        text = f"{silent[0].name}: the compiler ended with code {silent[0].code} and said nothing"
        return Failure(Reason.COMPILER_KILLED, text)
    return None


def _found(pattern: str, text: str, work: Path) -> list[re.Match[str]]:
    """Where the machine speaks. Words that the package in ``work`` has itself, in a file or a file's name, are the
    package's: compilers repeat names and messages of any form, and with ends of lines in them."""
    found: dict[str, re.Match[str]] = {}
    for m in re.finditer(pattern, text):
        found.setdefault(" ".join(m[1].split()), m)
        if len(found) == _MANY:  # each is looked for in all sources
            break
    own = _words(work / "src") if found else ""
    return [m for words, m in found.items() if words not in own]


def _words(sources: Path) -> str:
    """The names and texts of a package's files as compilers repeat them, with single blanks."""
    texts = [str(f.relative_to(sources)) for f in sources.rglob("*")]
    read = (f.read_text(encoding="utf-8", errors="replace") for f in sources.rglob("*") if f.is_file())
    texts += [_COMMENT.sub(lambda m: m[1] or " ", text) for text in read]
    joined = _JOINED.sub("", "\n".join(texts))
    return " ".join(_NUMBERED.sub(lambda m: chr(int(m[1], 16) if m[1] else int(m[2], 8)), joined).split())


def too_much(commands: Iterable[Failed], work: Path) -> Failure | None:
    """The failure when a compiler came to the most memory that it may have, which is the sources' doing; otherwise
    None. To be asked where it was not the machine."""
    for c in commands:
        if _found(_REFUSED, _QUOTED.sub("", c.said), work):
            return Failure(Reason.COMPILE_MEMORY, f"{c.name}: the compiler asks for more than {MEMORY >> 30} GiB")
    return None


@Once
def grants() -> bool:
    """Whether this machine gives a process all of :data:`MEMORY`, if asked: then it is our bound that refused some. One
    that commits no more than it has refuses by what others have just then."""
    try:
        if Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2":
            return False
        mmap.mmap(-1, MEMORY, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def full(work: Path, said: bool = False) -> Failure | None:
    """The failure for a full disk, when a command ``said`` so or the disk shows it; otherwise None."""
    if said or shutil.disk_usage(work).free < _LITTLE:
        return Failure(Reason.DISK_FULL, f"no space left for {work.parent}")
    return None
