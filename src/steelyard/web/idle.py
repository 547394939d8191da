"""Connections that ask nothing, or take no answer, do not keep others out: a server has so many places, and after a
while they lose theirs."""

from __future__ import annotations

import asyncio
from asyncio import Transport
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

#: seconds for which a connection may ask nothing, and those in which an answer has to be taken
SILENT, WHOLE = 20.0, 300.0


class Protocol(H11Protocol):
    """A connection that is ended when it was silent, or busy with one answer, for too long."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begins to look at it now and then."""
        super().connection_made(transport)
        self._look(None, asyncio.get_running_loop().time())

    def _look(self, seen: Any, since: float) -> None:
        loop = asyncio.get_running_loop()
        if self.cycle is not seen:
            seen, since = self.cycle, loop.time()
        silent = seen is None or seen.response_complete
        if loop.time() - since >= (SILENT if silent else WHOLE):
            self.transport.abort()
        elif not self.transport.is_closing():
            loop.call_later(SILENT / 4, self._look, seen, since)
