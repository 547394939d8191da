"""A script of build commands that runs in one sandbox: what it may read, and which commands failed."""

from __future__ import annotations

import re
import secrets
import shlex
import shutil
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from ..model import paths
from ..model.reasons import Failure, Reason
from ..model.target import Target
from . import sandbox, trouble

SECONDS = 120.0
LARGEST = 128 << 20  # most bytes that a compiler may write to one file
ALTOGETHER = 512 << 20  # and to all files of a build
#: most bytes that are kept of the compilers' output, of one command at least and of all
SAID_LEAST, SAID = 4 << 10, 2 << 20
#: folders of an installed toolchain, besides the one named after its target
_TOOLCHAIN = ("lib", "lib32", "lib64", "libexec", "include", "share")
#: how the name of a file begins that GCC makes between its steps: with six letters drawn anew each time
_DRAWN = re.compile(r"/tmp/cc\w{6}(?=\.)")
#: how the name of the folder begins, with letters drawn anew each time, where what compilers write is out of reach: a
#: source may include files, but cannot list a folder
_AWAY = ".away-"
_HIDDEN = re.compile(rf"(?:{re.escape(sandbox.WORK)}/)?{re.escape(_AWAY)}[0-9a-f]{{32}}/")


class Interrupted(Exception):
    """A build that may succeed when tried again. Its failure is reported and not cached."""

    def __init__(self, failure: Failure, log: str = "") -> None:
        super().__init__(failure.detail)
        self.failure = failure
        self.log = log


class TooLargeError(Exception):
    """The compilers wrote more than a build may, which is the sources' doing."""


class Script:
    """Commands for one sandboxed shell. Each writes a log; failures go into the file ``status``.

    What they write is hidden from those that follow, until :meth:`show`: a source that included another's object would
    have in its image what that compiler was told. A user who runs the script himself hides nothing."""

    def __init__(self) -> None:
        self.lines = [
            f"ulimit -c 0; ulimit -t 120; ulimit -f {LARGEST // 512}; ulimit -v {trouble.MEMORY >> 10}",
            "failed=; a=${1-.} o=$a",
            # compilers say on the standard error why they fail; on the output a source may say that (``.print``)
            # redirected in a process of its own: else the shell too says there what ended a command, also where it was
            # too much, and ends by that itself
            'r() { n=$1; shift; ("$@" >>"$o/$n.out.log" 2>>"$o/$n.log") && return',
            'c=$?; failed=1; echo "fail $c $n" >>"$o/status"; return 1; }',
            'h() { [ "$o" = . ] || for f in *; do [ "$f" = src ] || [ ! -e "$f" ] || mv -- "$f" "$o"; done; }',
        ]

    def add(self, name: str, *commands: Iterable[str], of: Container[str] = ()) -> None:
        """Adds commands that log to ``name.log``; each runs only when the one before it succeeded. They find the hidden
        files that they are made ``of``, and may write there."""
        words = ((f'"$a"/{shlex.quote(w)}' if w in of else shlex.quote(w) for w in command) for command in commands)
        self.lines.append(" && ".join(f"r {shlex.quote(name)} {' '.join(w)}" for w in words) + "; h")

    def put(self, name: str, line: str) -> None:
        """Writes a file of one line when the script gets here: what runs before cannot read it."""
        folder = shlex.quote(str(Path(name).parent))
        self.lines.append(f"mkdir -p {folder} && printf '%s\\n' {shlex.quote(line)} >{shlex.quote(name)}")

    def show(self) -> None:
        """Hides nothing from here on: no compiler of the package's code runs any more."""
        self.lines.append('[ "$o" = . ] || mv "$o"/* .; o=.')

    def barrier(self) -> None:
        """Ends the script here when a command before failed."""
        self.lines.append('[ -z "$failed" ] || exit 0')

    def run(self, work: Path, readable: tuple[Path, ...]) -> list[trouble.Failed]:
        """Runs the script and returns the commands that failed. Raises :class:`Interrupted` when it did not reach its
        end, and :class:`TooLargeError` when it wrote too much."""
        script = work / "build.sh"
        end = '[ -z "$failed" ] && echo end >>"$o/status"'
        commands = ("\n".join([*self.lines, end]) + "\n").encode(errors="surrogateescape")
        script.write_bytes(b"rm build.sh\n" + commands)  # it has this machine's paths, which no source may include
        for log in work.glob("*.log"):  # of an earlier try
            log.unlink()
        away = work / f"{_AWAY}{secrets.token_hex(16)}"
        away.mkdir()
        (away / "status").write_text("")
        code = sandbox.run(
            script, work, readable, SECONDS, lambda: _written(work, away) > ALTOGETHER, sandbox.WORK, away.name
        )
        with suppress(OSError):  # of a folder that is gone others will tell
            for file in away.iterdir():
                file.replace(work / file.name)
        shutil.rmtree(away, ignore_errors=True)
        script.write_bytes(commands)
        if _written(work) > ALTOGETHER:
            raise TooLargeError(f"the compilers write more than {ALTOGETHER >> 20} MiB")
        _shorten([*work.glob("*.log")])
        status = [line.split(" ", 2) for line in text_of(work / "status").splitlines()]
        failed = [trouble.Failed(s[2], int(s[1]), _said(work / f"{s[2]}.log")) for s in status if s[0] == "fail"]
        if code is None:
            raise Interrupted(Failure(Reason.COMPILE_TIMEOUT, f"stopped after {SECONDS:.0f} s"), logs(work))
        if not failed and ["end"] not in status:
            if full := trouble.full(work):
                raise Interrupted(full)
            text = f"the compilers' shell ended with code {code}: out of memory, or no sandbox"
            raise Interrupted(Failure(Reason.COMPILER_KILLED, text), logs(work))
        return failed


def _written(*folders: Path) -> int:
    """Bytes of disk that the files of folders take, those in folders aside, which are the sources."""
    taken = 0
    for folder in folders:
        with suppress(OSError):  # of a folder that is gone others will tell
            for file in folder.iterdir():
                with suppress(OSError):
                    taken += file.lstat().st_blocks * 512
    return taken


def _shorten(logs: Sequence[Path]) -> None:
    """Leaves of the longest logs their begin and their end only: they are read, and stored in the record's log."""
    most = max(SAID_LEAST, SAID // max(1, len(logs)))
    for log in logs:
        if (size := log.stat().st_size) > most:
            with log.open("r+b") as f:
                begin = f.read(most // 2)
                f.seek(size - most // 2)
                end = f.read()
                f.seek(0)
                f.write(b"%b\n... (%d bytes)\n%b" % (begin, size - len(begin) - len(end), end))
                f.truncate()


def readable(target: Target, *more: Path) -> tuple[Path, ...]:
    """What compilers may see besides the system. Where they are installed, that is only the toolchain's own folders,
    because the parent may be somebody's home. The links in PATH to them are included too; otherwise a program of the
    same name later in PATH would run. Files that a target shares with another of the same chip are links."""
    spec = target.toolchain
    programs = (spec.compiler, spec.cxx, spec.linker, *(f"{spec.prefix}{b}" for b in ("as", "ld", "objcopy", "nm")))
    found = [Path(p) for name in programs if name and (p := paths.compiler(name))]
    names = (*_TOOLCHAIN, spec.prefix.rstrip("-"))
    folders = dict.fromkeys(p.resolve().parent for p in found)
    own = dict.fromkeys(folder for f in folders for n in names if n and (folder := f.parent / n).is_dir())
    links = (p for p in found if p != p.resolve() and p.parent not in folders)
    shared = (f.resolve() for f in target.folder.iterdir() if f.is_symlink())
    return (paths.HARNESS, target.folder, *shared, *folders, *own, *links, *more)


def logs(work: Path, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The outputs of all commands as one text; ``names`` maps the names of logs to those that users know."""
    said: dict[str, list[str]] = {}
    for log in sorted(work.glob("*.log")):
        said.setdefault(log.stem.removesuffix(".out"), []).append(_said(log).strip())
    texts = ((names.get(name, name), "\n".join(filter(None, parts))) for name, parts in said.items())
    return "\n".join(f"== {name}\n{text}\n" for name, text in texts if text)


def _said(log: Path) -> str:
    """What a command said, the same in each run."""
    return _DRAWN.sub("temporary", _HIDDEN.sub("", text_of(log)))


def text_of(file: Path) -> str:
    """The content of a file; empty when it is missing, for example because the disk is full."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
