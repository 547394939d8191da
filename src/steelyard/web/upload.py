"""What is sent to the server, within bounds of bytes and seconds. What is large goes to disk as it comes: many may send
at once, and a server has little memory."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ..model import paths

#: bytes that stay in memory; seconds that all may take; how many times as much as is taken is read before it is refused
SMALL, PATIENT, READ = 64 << 10, 60.0, 8
#: seconds after which a file is of a server that was killed
_LEFT = 3600.0


def _folder() -> Path:
    """Where large ones are, without what was left there."""
    place = paths.home() / "uploads"
    place.mkdir(parents=True, exist_ok=True)
    for file in place.iterdir():
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _LEFT:
                file.unlink()
    return place


@asynccontextmanager
async def received(request: Request, most: int) -> AsyncIterator[bytes | Path | Response]:
    """What is sent, within the block: its bytes, a file that has them, or why it is not taken. What is somewhat too
    much is read to its end, for no browser shows an answer before that."""
    kept = _Kept(most)
    try:
        yield await _read(request, kept)
    finally:
        kept.close()


async def small(request: Request, most: int) -> bytes | Response:
    """The same of what fits into memory."""
    async with received(request, min(most, SMALL)) as sent:
        assert not isinstance(sent, Path)
        return sent


class _Kept:
    """At most so many bytes, the small of them in memory."""

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self._small = bytearray()
        self._file: BinaryIO | None = None
        self._path = Path()

    def add(self, some: bytes) -> None:
        """Keeps more, if there is room. Raises :class:`OSError`."""
        self.size += len(some)
        if self.size > self.most:
            return
        if self._file is None and self.size > SMALL:
            number, name = tempfile.mkstemp(dir=_folder())
            self._file, self._path = os.fdopen(number, "wb"), Path(name)
            self._file.write(self._small)
            self._small.clear()
        if self._file is None:
            self._small += some
        else:
            self._file.write(some)

    def whole(self) -> bytes | Path:
        """All of it. Raises :class:`OSError`."""
        if self._file is None:
            return bytes(self._small)
        self._file.flush()
        return self._path

    def close(self) -> None:
        """Forgets it."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._path.unlink(missing_ok=True)


async def _read(request: Request, kept: _Kept) -> bytes | Path | Response:
    length, most = request.headers.get("content-length", "0"), kept.most
    too_much = Response(f"more than {most} bytes are not taken here\n", 413, {"connection": "close"}, "text/plain")
    if not length.isdecimal() or int(length[:18]) > READ * most:
        return too_much
    try:
        async with asyncio.timeout(PATIENT):
            async for some in request.stream():
                kept.add(some)
                if kept.size > READ * most:
                    break
        return too_much if kept.size > most else kept.whole()
    except TimeoutError:
        return Response(f"this took more than {PATIENT:.0f} s to send\n", 408, media_type="text/plain")
    except ClientDisconnect:
        return Response(status_code=400)
    except OSError as e:
        return Response(f"the server cannot keep this: {e.strerror}; try again later\n", 503, media_type="text/plain")
