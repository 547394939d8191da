"""One specification for every device: the fake, and the simulator with a real image."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.device import Client, frame
from steelyard.device.client import encode
from steelyard.model.call import CallResult, DeviceError, Op, Request
from steelyard.pipeline import nocrypt
from tests.conftest import STANDARD, Bench, the_target

from .fake import FakeLink

KEY, NPUB = bytes(range(16)), bytes(range(16, 32))


@pytest.fixture(params=["fake", *STANDARD])
def client(request: pytest.FixtureRequest, bench: Bench) -> Iterator[Client]:
    """A device whose cipher copies; at the end of the test it must still answer."""
    if request.param == "fake":
        client = Client(FakeLink())
    else:
        client = bench.client(nocrypt("crypto_aead"), the_target(request.param))
    yield client
    assert ask(client, b"last").output == b"last"


def ask(client: Client, data: bytes, **fields: int) -> CallResult:
    return client.call(Request(Op.ENCRYPT, KEY, NPUB, b"ad", data, **fields))  # type: ignore[arg-type]


def raw(client: Client, data: bytes) -> list[tuple[int, bytes]]:
    return client._ask(data)


def error(why: int) -> list[tuple[int, bytes]]:
    return [(frame.ERROR, bytes((why,)))]


def test_handshake(client: Client) -> None:
    hello = client.hello
    assert (hello.api, hello.parts, hello.key_bytes, hello.npub_bytes, hello.a_bytes) == (1, 3, 16, 16, 0)
    assert hello.capacity > 1000
    assert hello.clock_hz >= 1_000_000


def test_a_call(client: Client) -> None:
    for op in (Op.ENCRYPT, Op.DECRYPT):
        answer = client.call(Request(op, KEY, NPUB, b"associated", b"message"))
        assert (answer.code, answer.length, answer.intact, answer.output) == (0, 7, True, b"message")
        assert answer.pulse.cycles > 0
    for op in (Op.EMPTY, Op.EMPTY_DECRYPT):
        assert client.call(Request(op, KEY, NPUB, b"", b"")).output == b""


def test_calls_in_order_over_several_windows(client: Client) -> None:
    client.link.window = 256
    messages = [bytes((n,)) * (n % 50) for n in range(60)]
    answers = client.calls(Request(Op.ENCRYPT, KEY, NPUB, b"", m) for m in messages)
    assert [a.output for a in answers] == messages


@pytest.mark.parametrize("offset", range(8))
def test_buffers_at_any_alignment(client: Client, offset: int) -> None:
    for out_offset in (offset, 7 - offset):
        assert ask(client, b"any address", offset=offset, out_offset=out_offset).output == b"any address"


def test_the_largest_call_that_fits_works_and_the_next_is_refused(client: Client) -> None:
    size = next(n for n in range(20_000) if not client.hello.fits(Op.ENCRYPT, n + 1, 2, 0))
    assert ask(client, bytes(size)).output == bytes(size)
    with pytest.raises(DeviceError, match="too large for the target"):
        ask(client, bytes(size + 1))


def test_wrong_frames_are_answered_with_an_error(client: Client) -> None:
    good = encode(Request(Op.ENCRYPT, KEY, NPUB, b"", b"abc"))
    assert raw(client, good[:-1] + bytes((good[-1] ^ 1,))) == error(1)
    assert raw(client, frame.encode(frame.HELLO)[:-2] + b"\0\0") == error(1)
    assert raw(client, frame.encode(0x42, b"what")) == error(2)
    assert raw(client, frame.encode(frame.RUN, b"short")) == error(2)
    assert raw(client, frame.encode(frame.RUN, frame.RUN_HEADER.pack(1, 0, 0, 0, 9, 9) + KEY)) == error(4)
    assert raw(client, frame.encode(frame.RUN, frame.RUN_HEADER.pack(9, 0, 0, 0, 0, 0) + KEY + NPUB)) == error(4)
    with pytest.raises(DeviceError, match="bad request"):
        client.call(Request(Op.ENCRYPT, KEY + b"longer", NPUB, b"", b""))


def test_each_operation_is_its_own_and_has_a_number_on_the_wire() -> None:
    assert len(Op) == len({op.value for op in Op}) == len(frame.OPERATIONS) == 7
    sent = {op: encode(Request(op, KEY, NPUB, b"", b"abc")) for op in Op}
    assert sent[Op.HASH] == sent[Op.ENCRYPT]  # one image offers one of them
    assert len(set(sent.values())) == 6


def test_garbage_between_frames(client: Client) -> None:
    garbage = bytes(b for b in range(256) if b != frame.SYNC) * 2
    assert raw(client, garbage) == []
    assert ask(client, b"alive").output == b"alive"


def test_every_byte_flipped_or_missing(client: Client) -> None:
    good = encode(Request(Op.ENCRYPT, KEY, NPUB, b"a", b"abc"))
    broken = [good[:at] for at in range(1, len(good))]
    broken += [good[:at] + bytes((good[at] ^ 1 << at % 8,)) + good[at + 1 :] for at in range(len(good))]
    for data in broken:
        answers = raw(client, data)
        assert all(command == frame.ERROR for command, _ in answers), data.hex()
        client.resynchronise()
        client.link.pulses()
        assert ask(client, data).output == data
