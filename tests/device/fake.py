"""A device in Python: the command loop of ``harness/main.c`` around a cipher that copies."""

from __future__ import annotations

import struct
from binascii import crc_hqx
from collections.abc import Generator

from steelyard.device import frame
from steelyard.model.call import Pulse

Bytes = Generator[None, int, int]
CAPACITY = 1500
KEY = NPUB = 16


class FakeLink:
    """A link to this device."""

    window = 2048
    sees_stack = True
    build: int | None = None
    fills_ram = False
    resolution = 0.0
    quantity, clock = "cycles", "fake"
    notes = ()

    def __init__(self) -> None:
        self._sent = bytearray()
        self._pulses: list[Pulse] = []
        self.reset()

    def reset(self) -> None:
        self._main = self._loop()
        next(self._main)

    def exchange(self, data: bytes) -> bytes:
        for byte in data:
            self._main.send(byte)
        sent, self._sent = bytes(self._sent), bytearray()
        return sent

    def pulses(self) -> list[Pulse]:
        pulses, self._pulses = self._pulses, []
        return pulses

    def fill_ram(self) -> None:
        pass

    def longest_untouched(self) -> int | None:
        return None

    def close(self) -> None:
        pass

    def _take(self, count: int) -> Generator[None, int, bytes]:
        taken = bytearray()
        while len(taken) < count:
            taken.append((yield))
        return bytes(taken)

    def _loop(self) -> Generator[None, int, None]:
        while True:
            if (yield) != frame.SYNC:
                continue
            head = yield from self._take(3)
            check = yield
            if sum(head) & 0xFF != check ^ 0xFF:
                continue
            command, size = struct.unpack("<BH", head)
            payload = yield from self._take(size)
            crc = yield from self._take(2)
            fits = crc_hqx(payload, crc_hqx(head, 0xFFFF)) == int.from_bytes(crc, "little")
            if command == frame.HELLO and size == 0:
                hello = frame.HELLO_ANSWER.pack(b"SY", frame.PROTOCOL, 1, 3, 8, KEY, NPUB, 0, CAPACITY, 1600, 0, 0)
                self._answer(command, hello) if fits else self._error(1)
            elif command == frame.RUN and size >= frame.RUN_HEADER.size:
                self._run(payload, fits)
            else:
                self._error(2)

    def _run(self, payload: bytes, fits: bool) -> None:
        op, paint, _, _, size, adlen = frame.RUN_HEADER.unpack_from(payload)
        data = payload[frame.RUN_HEADER.size :]
        if op > 3 or len(data) != KEY + NPUB + adlen + size:
            return self._error(4)
        if len(data) + size + 8 + 5 * 15 > CAPACITY:
            return self._error(3)
        if not fits:
            return self._error(1)
        output = data[KEY + NPUB + adlen :] if op in (1, 2) else b""
        stack = 20 if paint & 1 else 0
        self._pulses.append(Pulse(100 + size, 20, 0))
        self._answer(
            frame.RUN,
            frame.RUN_ANSWER.pack(0, len(output), frame.INTACT | frame.PULSE | frame.ALIKE, 0, stack, 0, 0) + output,
        )
        return None

    def _answer(self, command: int, payload: bytes) -> None:
        self._sent += frame.encode(command | frame.ANSWER, payload)

    def _error(self, why: int) -> None:
        self._sent += frame.encode(frame.ERROR, bytes((why,)))
