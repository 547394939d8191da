"""Connections that ask nothing, or take no answer, do not keep others out: a server has so many places, of which one
address has a few, and after a while they lose theirs."""

from __future__ import annotations

import asyncio
import ipaddress
from asyncio import Transport
from collections import Counter
from contextlib import suppress
from logging import LoggerAdapter
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

#: seconds for which a connection may ask nothing, and those in which an answer has to be taken
SILENT, WHOLE = 20.0, 300.0
#: connections of a server, and those of one address; a proxy on this machine, whose address all have, may hold all
PLACES, MOST = 512, 64


class _Named(LoggerAdapter[Any]):
    """Says of each warning who it is about."""

    @property
    def level(self) -> int:
        """As a logger has it, which uvicorn asks for."""
        return int(self.logger.level)

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        """The message with the address."""
        return f"{self.extra['at']}: {msg}", kwargs  # type: ignore[index]


class Protocol(H11Protocol):
    """A connection that is ended when it was silent, or busy with one answer, for too long, and at once where its
    address has enough of them."""

    of_address: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begins to look at it now and then."""
        super().connection_made(transport)
        self._from = _far(transport)
        at = (transport.get_extra_info("peername") or ("?",))[0]
        self.logger = _Named(self.logger, {"at": at})  # type: ignore[assignment]
        self.of_address[self._from] += 1
        if self._from and self.of_address[self._from] > MOST:
            transport.abort()
        else:
            self._look(None, asyncio.get_running_loop().time())

    def _should_upgrade(self) -> bool:
        """Never: who asks for another protocol is answered in this one."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives its place back."""
        super().connection_lost(exc)
        self.of_address[self._from] -= 1
        if not self.of_address[self._from]:
            del self.of_address[self._from]

    def _look(self, seen: Any, since: float) -> None:
        loop = asyncio.get_running_loop()
        if self.cycle is not seen:
            seen, since = self.cycle, loop.time()
        silent = seen is None or seen.response_complete
        if loop.time() - since >= (SILENT if silent else WHOLE):
            self.transport.abort()
        elif not self.transport.is_closing():
            loop.call_later(SILENT / 4, self._look, seen, since)


def _far(transport: Transport) -> str:
    """The address of who is at the other end; empty on this machine."""
    host = str((transport.get_extra_info("peername") or ("",))[0])
    with suppress(ValueError):
        at = ipaddress.ip_address(host.partition("%")[0])
        return "" if (getattr(at, "ipv4_mapped", None) or at).is_loopback else host
    return ""
