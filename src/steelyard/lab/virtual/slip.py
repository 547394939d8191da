"""Packets on a serial line as boot ROMs frame them: SLIP (RFC 1055), with a mark at both ends of a packet."""

from __future__ import annotations

END, ESCAPE = 0xC0, 0xDB
_MEANT = {0xDC: END, 0xDD: ESCAPE}


def packed(content: bytes) -> bytes:
    """A packet as it goes over the line."""
    body = content.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc")
    return bytes((END,)) + body + bytes((END,))


class Packets:
    """Finds packets of at most ``most`` bytes in what comes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: bytearray | None = None
        self._escaped = False
        #: whether something came that belongs to no packet, or to one that is too long
        self.strange = False

    def feed(self, byte: int) -> bytes | None:
        """Takes a byte; the packet that it ends, if it does."""
        if byte == END:
            whole, self._held, self._escaped = self._held, bytearray(), False
            return bytes(whole) if whole else None
        if self._held is None or len(self._held) >= self._most:
            self._held, self.strange = None, True
            return None
        if self._escaped:
            self._held.append(_MEANT.get(byte, byte))
            self._escaped = False
        elif byte == ESCAPE:
            self._escaped = True
        else:
            self._held.append(byte)
        return None
