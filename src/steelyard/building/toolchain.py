"""Identifies a toolchain: exactly which compiler, assembler, linker, libraries and headers make an image."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR

from ..model import paths, whole
from ..model.digest import of_file
from ..model.once import Once
from ..model.record import Toolchain
from ..model.target import ToolchainSpec
from .ask import Said, ask

#: programs that GCC's driver calls; for other drivers, those of them that exist
_PROGRAMS = ("cc1", "cc1plus", "lto1", "collect2", "as", "ld")
#: tools that Steelyard calls itself, with the target's prefix
_BINUTILS = ("as", "ld", "objcopy", "nm")
#: libraries and start files, in addition to those that the link command names
_LIBRARIES = ("libgcc.a", "libc.a", "libm.a", "crt0.o", "crt1.o", "crti.o", "crtn.o", "crtbegin.o", "crtend.o")
_HEADERS = """assert ctype errno float inttypes iso646 limits math setjmp signal stdalign stdarg stdbool stddef stdint
stdio stdlib string time avr/io avr/pgmspace avr/interrupt sys/types endian unistd"""
_PROBE = "".join(f"#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n" for h in _HEADERS.split())
_CXX_PROBE = "".join(f"#if __has_include(<{h}>)\n#include <{h}>\n#endif\n" for h in ("cstdint", "cstring", "array"))

Stamp = dict[str, list[int] | None]
#: sizes and times of each toolchain's files when this process identified it
_stamps: dict[ToolchainSpec, Stamp] = {}


class _Late(Exception):
    """A program did not answer in time. Without its answer the identity would be wrong."""


def _told(command: Sequence[str], given: str = "") -> Said:
    told = ask(command, given=given) if given else ask(command)
    if told.late:
        raise _Late(told.err)
    return told


def identify(spec: ToolchainSpec) -> Toolchain | None:
    """The identity of the installed toolchain with the options of ``spec``, or None when it cannot be used;
    :func:`why_not` then says why.

    The hash covers the content of: driver, compilers proper, assembler, linker and object tools, the specs that they
    read, the libraries of the multilib that the options select, and the standard headers with everything that they
    include. It is stored with sizes and times of these files and of the searched folders, so that nothing is read again
    until something changes.
    """
    found = _identify(spec)
    return found if isinstance(found, Toolchain) else None


def why_not(spec: ToolchainSpec) -> str:
    """Why the toolchain cannot be used, with the next action; empty when it can."""
    found = _identify(spec)
    return found if isinstance(found, str) else ""


def replaced(spec: ToolchainSpec) -> str:
    """The path of a file that changed since the toolchain was identified; empty when none did."""
    was = {path: stamp for path, stamp in _stamps.get(spec, {}).items() if stamp and stamp[0]}  # no folders
    now = _stamp(was)
    return next((path for path in was if was[path] != now[path]), "")


@Once
def _identify(spec: ToolchainSpec) -> Toolchain | str:
    driver = paths.compiler(spec.compiler)
    if driver is None:
        return f"{spec.compiler} not found: {spec.fix}"
    if spec.linker and paths.compiler(spec.linker) is None:
        return f"{spec.linker} not found: {spec.fix}"
    names = filter(None, (spec.cxx, spec.linker, *(f"{spec.prefix}{b}" for b in _BINUTILS)))
    tools = {t: paths.compiler(t) or "" for t in names}
    asked = [driver, *tools.values(), *spec.flags, *spec.link]
    name = hashlib.sha256("\0".join(asked).encode(errors="surrogateescape")).hexdigest()[:32]
    stamp_file = paths.home() / "cache" / "toolchains" / f"{name}.json"
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        check, _, text = stamp_file.read_text().partition("\n")
        if check == hashlib.sha256(text.encode()).hexdigest():
            kept = json.loads(text)
            if kept["stamp"] == _stamp(kept["stamp"]):
                _stamps[spec] = kept["stamp"]
                return Toolchain(spec.name, kept["version"], kept["sha256"])
    try:
        told = _told([driver, "--version"])
        if told.code != 0 or not told.out.strip():
            return f"{_ended(driver, told.code, told.err)}: {spec.fix}"
        version = told.out.splitlines()[0][:255]
        programs = [*_programs(driver), *_shared(driver, tools.get(spec.linker, ""))]
        files = [driver, *filter(None, tools.values()), *programs]
        more, folders = _read_by(spec, driver, tools[spec.cxx])
    except _Late as e:
        return f"{e}; end other programs and run again, or repair it: {spec.fix}"
    try:
        stamp = _stamp([*files, *more, *folders])
        sha256 = _digest([*files, *more])
    except OSError as e:
        return f"{e.filename} cannot be read: {e.strerror}"
    _stamps[spec] = stamp
    with suppress(OSError):  # a full disk: the files are read again next time
        said = json.dumps({"stamp": stamp, "version": version, "sha256": sha256}).encode()
        whole.put(stamp_file, hashlib.sha256(said).hexdigest().encode() + b"\n" + said)
    return Toolchain(spec.name, version, sha256)


def _ended(driver: str, code: int | None, err: str) -> str:
    """How a compiler failed to print its version."""
    if code is None:
        return err
    what = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    last = (err.strip().splitlines() or ["and said nothing"])[-1][:200]
    return f"{driver} does not work: --version {what}, {last}"


def _programs(driver: str) -> list[str]:
    told = (_told([driver, f"-print-prog-name={p}"]).out.strip() for p in _PROGRAMS)
    return [found for t in told if t and (found := paths.compiler(t))]


def _shared(*programs: str) -> list[str]:
    """Shared libraries that contain the compiler or linker itself, as LLVM's do; its programs are nearly empty."""
    told = (_told(["ldd", p]).out for p in programs if p)
    return [library for t in told for library in re.findall(r"=> (/\S*(?:LLVM|clang|lld)\S*) ", t)]


def _read_by(spec: ToolchainSpec, driver: str, cxx: str) -> tuple[list[str], list[str]]:
    """Files that a compilation and a link read (specs, headers, libraries), and the folders that are searched for them,
    where a new file might take precedence (GCC manual, "Overall Options", -v; "Preprocessor Options", -M)."""
    options = [*spec.flags, *spec.link]
    files: list[str] = []
    folders: list[str] = []
    for compiler, language, text in ((driver, "c", _PROBE), (cxx, "c++", _CXX_PROBE)):
        if not compiler:
            continue
        told = _told([compiler, *options, "-v", "-M", "-x", language, "-"], text)
        files += re.findall(r"^Reading specs from (.+)$", told.err, re.MULTILINE)
        files += [word for word in told.out.replace("\\\n", " ").split() if word.startswith("/")]
        folders += re.findall(r'^ignoring nonexistent directory "(.+)"$', told.err, re.MULTILINE)
        if inside := re.search(r"search starts here:\n(.*)^End of search list", told.err, re.DOTALL | re.MULTILINE):
            folders += [line.strip() for line in inside[1].splitlines() if line.startswith(" ")]
        if found := re.search(r"^LIBRARY_PATH=(.*)$", told.err, re.MULTILINE):
            folders += found[1].split(":")
    link = _told([driver, *options, "-###", "-x", "c", "/dev/null", "-o", "the-image"]).err
    wanted = dict.fromkeys([*_LIBRARIES, *(f"lib{name}.a" for name in re.findall(r"[\s\"]-l([\w.+-]+)", link))])
    searched = list(dict.fromkeys([*re.findall(r"[\s\"]-L([^\s\"]+)", link), *folders]))
    for name in wanted:
        files += [str(at) for f in searched if (at := Path(f, name)).is_file()][:1]
    return files, searched


def _digest(files: Iterable[str]) -> str:
    h = hashlib.sha256()
    for f in dict.fromkeys(os.path.realpath(f) for f in files):
        h.update(f"{Path(f).name}\0".encode(errors="surrogateescape") + _content(Path(f), Path(f).stat().st_mtime_ns))
    return h.hexdigest()


@Once
def _content(file: Path, _changed: int) -> bytes:
    """The digest of a file, kept because targets share compilers, which are large."""
    return bytes.fromhex(of_file(file))


def _stamp(files: Iterable[str]) -> Stamp:
    """Size in bytes and time in ns of each file; for a folder size 0; None for a path that does not exist."""
    stamp: Stamp = {}
    for path in files:
        try:
            s = Path(path).stat()
        except OSError:
            stamp[path] = None
        else:
            stamp[path] = [0 if S_ISDIR(s.st_mode) else s.st_size, s.st_mtime_ns]
    return stamp
