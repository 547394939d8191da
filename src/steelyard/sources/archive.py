"""Unpacks an untrusted zip file: bounded, inside one folder, once.

Everything is decided from the archive's directory before a byte is written; while unpacking, no member may be longer
than it claims. The folder is named by the hash of the archive, and appears complete or not at all.
"""

# paths are strings here, because a tree has thousands of them
# ruff: noqa: PTH100, PTH101, PTH103, PTH104, PTH118, PTH120, PTH123, PTH211

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from ..model.reasons import Failure, Reason
from .escape import escaped
from .limits import MIB, Limits

#: part of the folder's name: raise it with every change of what is unpacked
_LAYOUT = "1"
_CHUNK = 1 << 16
_LINK_BYTES = 4096
#: room for one member in the archive's directory: the fixed part, a long name, extra fields
_DIRECTORY_BYTES = 2048
_BAD_NAME = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
_END = b"PK\x05\x06"
_END64_LOCATOR = b"PK\x06\x07"


class _RefusedError(Exception):
    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(reason, detail)


class _Member(Struct, frozen=True):
    parts: tuple[str, ...]
    info: zipfile.ZipInfo
    kind: int

    @property
    def shown(self) -> str:
        return escaped("/".join(self.parts))


def unpack(path: Path, cache: Path, limits: Limits) -> Path | Failure:
    """The folder below ``cache`` with the archive's content, unpacked now or earlier; a failure when it is refused."""
    try:
        with _open(path) as f:
            size = os.fstat(f.fileno()).st_size
            if size > limits.zip_bytes:
                return Failure(Reason.ZIP_BOMB, f"{size} bytes, the limit is {limits.zip_bytes}")
            _check_directory(f, size, limits)
            digest = hashlib.sha256()
            f.seek(0)
            while block := f.read(_CHUNK):
                digest.update(block)
            f.seek(0)
            with zipfile.ZipFile(f) as archive:
                members = _plan(archive, limits)
                home = Path(os.path.abspath(cache)) / f"{digest.hexdigest()}-{_LAYOUT}"
                if home.is_dir() and not _whole(members, home):
                    shutil.rmtree(home)
                if not home.is_dir():
                    _write(archive, members, home)
                return home
    except _RefusedError as e:
        return e.failure
    except OSError as e:
        return Failure(Reason.UNREADABLE, e.strerror or str(e))
    except MemoryError:
        return Failure(Reason.ZIP_BOMB, "not enough memory")
    except Exception as e:  # a damaged archive can raise nearly anything inside zipfile and zlib
        return Failure(Reason.BAD_ZIP, escaped(str(e)) or type(e).__name__)


def _whole(members: list[_Member], home: Path) -> bool:
    """Whether ``home`` holds exactly the archive's members, by their sizes and CRCs."""
    wanted = {"/".join(m.parts): m.info for m in members if not stat.S_ISDIR(m.kind)}
    found = {f.relative_to(home).as_posix(): f for f in home.rglob("*") if f.is_symlink() or not f.is_dir()}
    if wanted.keys() != found.keys():
        return False
    for name, file in found.items():
        content = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
        if (len(content), zlib.crc32(content)) != (wanted[name].file_size, wanted[name].CRC):
            return False
    return True


def _open(path: Path) -> BinaryIO:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _RefusedError(Reason.UNREADABLE, "neither a folder nor a regular file")
    return os.fdopen(fd, "rb")


def _check_directory(f: BinaryIO, size: int, limits: Limits) -> None:
    """Bounds the archive's directory before zipfile turns it into objects."""
    most = limits.zip_members * _DIRECTORY_BYTES
    f.seek(max(0, size - (1 << 16) - 22 - 20))
    tail = f.read()
    ends = [m.start() for m in re.finditer(re.escape(_END), tail) if m.start() <= len(tail) - 22]
    if not ends:
        raise _RefusedError(Reason.BAD_ZIP, "no zip directory")
    for at in ends:
        directory = struct.unpack_from("<I", tail, at + 12)[0]
        if tail[max(0, at - 20) : at].startswith(_END64_LOCATOR):
            raise _RefusedError(Reason.BAD_ZIP, "a 64-bit zip; make a plain one")
        if directory > most:
            raise _RefusedError(Reason.ZIP_BOMB, f"a directory of {directory} bytes, the limit is {most}")


def _plan(archive: zipfile.ZipFile, limits: Limits) -> list[_Member]:
    """Every member with its checked path. Raises for the first reason to refuse the archive."""
    infos = archive.infolist()
    if len(infos) > limits.zip_members:
        raise _RefusedError(Reason.ZIP_BOMB, f"{len(infos)} members, the limit is {limits.zip_members}")
    total = packed = 0
    members: dict[tuple[str, ...], _Member] = {}
    for info in infos:
        member = _member(info, limits)
        total += info.file_size
        packed += info.compress_size
        if not member.parts:
            continue
        before = members.get(member.parts)
        if before is not None and not (stat.S_ISDIR(before.kind) and stat.S_ISDIR(member.kind)):
            raise _RefusedError(Reason.BAD_ZIP, f"{member.shown} occurs twice")
        members[member.parts] = member
    if total > limits.zip_bytes:
        raise _RefusedError(Reason.ZIP_BOMB, f"{total} bytes unpacked, the limit is {limits.zip_bytes}")
    if total > MIB and total > packed * limits.zip_ratio:
        raise _RefusedError(Reason.ZIP_BOMB, f"{total} bytes from {packed}")
    for member in members.values():
        for i in range(1, len(member.parts)):
            above = members.get(member.parts[:i])
            if above is not None and not stat.S_ISDIR(above.kind):
                reason = Reason.PATH_ESCAPE if stat.S_ISLNK(above.kind) else Reason.BAD_ZIP
                raise _RefusedError(reason, f"{member.shown} is inside {above.shown}, which is not a folder")
    return list(members.values())


def _member(info: zipfile.ZipInfo, limits: Limits) -> _Member:
    name = info.filename.replace("\\", "/")
    shown = escaped(name[:200])
    parts = tuple(p for p in name.split("/") if p not in ("", "."))
    if name.startswith("/") or ".." in parts or (parts and len(parts[0]) == 2 and parts[0][1] == ":"):
        raise _RefusedError(Reason.PATH_ESCAPE, f"{shown} leaves the package")
    if len(parts) > limits.depth:
        raise _RefusedError(Reason.BAD_ZIP, f"{shown} is more than {limits.depth} folders deep")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise _RefusedError(Reason.BAD_ZIP, f"{shown} is a device, not a file")
    if kind != stat.S_IFLNK:
        kind = stat.S_IFDIR if name.endswith("/") else stat.S_IFREG
    if info.flag_bits & 1:
        raise _RefusedError(Reason.BAD_ZIP, f"{shown} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _RefusedError(Reason.BAD_ZIP, f"{shown} is compressed by method {info.compress_type}; use deflate")
    size, packed = info.file_size, info.compress_size
    if size > limits.zip_file_bytes:
        raise _RefusedError(Reason.ZIP_BOMB, f"{shown}: {size} bytes, the limit is {limits.zip_file_bytes}")
    if size > MIB and size > packed * limits.zip_ratio:
        raise _RefusedError(Reason.ZIP_BOMB, f"{shown}: {size} bytes from {packed}")
    if kind == stat.S_IFLNK and info.file_size > _LINK_BYTES:
        raise _RefusedError(Reason.BAD_ZIP, f"{shown}: a link of {info.file_size} bytes")
    return _Member(parts, info, kind)


def _write(archive: zipfile.ZipFile, members: list[_Member], home: Path) -> None:
    """Unpacks beside ``home`` and then renames; links come last, so that no file is written through one."""
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        work = tempfile.mkdtemp(prefix=".unpack-", dir=home.parent)
    except OSError as e:
        raise _RefusedError(Reason.UNREADABLE, f"cannot unpack into the cache folder: {e.strerror}") from e
    try:
        os.chmod(work, 0o755)
        for member in sorted(members, key=lambda m: stat.S_ISLNK(m.kind)):
            _write_one(archive, member, work)
        _check_links(members, work)
        try:
            os.rename(work, home)
        except OSError:
            if not home.is_dir():  # otherwise another process was faster
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _write_one(archive: zipfile.ZipFile, member: _Member, work: str) -> None:
    target = os.path.join(work, *member.parts)
    try:
        if stat.S_ISDIR(member.kind):
            os.makedirs(target, exist_ok=True)
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if stat.S_ISLNK(member.kind):
            link = archive.read(member.info)
            if not link or b"\0" in link or link.startswith(b"/"):
                raise _RefusedError(Reason.PATH_ESCAPE, f"{member.shown}: the link leaves the package")
            os.symlink(link, os.fsencode(target))
            return
        left = member.info.file_size
        with archive.open(member.info) as source, open(target, "xb") as out:
            while block := source.read(_CHUNK):
                left -= len(block)
                if left < 0:
                    raise _RefusedError(Reason.ZIP_BOMB, f"{member.shown} is longer than it says")
                out.write(block)
        if left:
            raise _RefusedError(Reason.BAD_ZIP, f"{member.shown} is shorter than it says")
    except OSError as e:
        reason = Reason.BAD_ZIP if e.errno in _BAD_NAME else Reason.UNREADABLE
        raise _RefusedError(reason, f"{member.shown}: {e.strerror or e}") from e


def _check_links(members: list[_Member], work: str) -> None:
    inside = os.path.realpath(work) + "/"
    for member in members:
        if not stat.S_ISLNK(member.kind):
            continue
        if not (os.path.realpath(os.path.join(work, *member.parts)) + "/").startswith(inside):
            raise _RefusedError(Reason.PATH_ESCAPE, f"{member.shown}: the link leaves the package")
