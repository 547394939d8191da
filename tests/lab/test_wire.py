"""What comes over a connection is a message or ends it: nothing else happens, whatever it is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import lab
from steelyard.lab import agent, hosts, wire
from steelyard.lab.attempt import Purpose
from steelyard.model.call import Op, Request
from steelyard.model.errors import UserError
from steelyard.model.power import Power, Value
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import load_target

DIGEST = "0" * 64
ASKED: list[wire.Message] = [
    wire.Beat("works"),
    wire.Describe("one"),
    wire.Take("one", DIGEST),
    wire.Open("both.elf", DIGEST, 10, Purpose("a run")),
    wire.Image(b"\x7fELF"),
    wire.Exchange(b"\xa5"),
    wire.Reset(),
    wire.FillRam(),
    wire.Untouched(),
    wire.Weigh([], 3),
    wire.Look(Request(Op.HASH, b"", b"", b"", b"x"), b"y"),
    wire.Shut(Failure(Reason.KAT_MISMATCH, "why"), "Mismatch"),
]
SAID: list[wire.Message] = [
    wire.Described(b"{}", DIGEST, ["no port"]),
    wire.Taken(True),
    wire.Wanted(),
    wire.Opened(1 << 14, True, 0.5, "clock", ["note"]),
    wire.Came(b"\xa5", [3], Failure(Reason.PULSES_LOST, "why"), 7),
    wire.Longest(None),
    wire.Weighed(Power({"encrypt": Value(1.0, 0.1)}, {}, None)),
    wire.Seen("5 V"),
    wire.Done(),
    wire.Failed(Failure(Reason.BOARD_LOST, "why")),
    wire.Refused("why"),
]


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


@contextmanager
def piped(kind: object) -> Iterator[tuple[wire.Channel, int, int]]:
    """A channel, and the other ends of its pipes: where it reads from, and where it writes to."""
    theirs, mine = os.pipe()
    out, sink = os.pipe()
    channel = wire.Channel(theirs, sink, kind)
    files = [theirs, mine, out, sink]
    try:
        yield channel, mine, out
    finally:
        channel.close()
        for file in files:
            with suppress(OSError):
                os.close(file)


@pytest.mark.parametrize(("kind", "messages"), [(wire.Asked, ASKED), (wire.Said, SAID)])
def test_messages_arrive_as_they_are(kind: object, messages: list[wire.Message]) -> None:
    with piped(kind) as (channel, mine, _), piped(kind) as (other, _, out):
        for message in messages:
            other.put(message)
            while (data := os.read(out, 1 << 16)) == framed(msgspec.msgpack.encode(wire.Beat())):
                pass
            os.write(mine, data)
            assert channel.get() == message


def every(channel: wire.Channel, kind: Any) -> None:
    """Takes messages until the connection ends, which are of that kind."""
    for _ in range(100):
        assert isinstance(channel.get(), kind)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A stream of messages with bytes changed, left out or put in; or no messages at all."""
    found = bytearray(
        b"".join(framed(msgspec.msgpack.encode(m)) for m in draw(st.lists(st.sampled_from(ASKED + SAID))))
    )
    for at, how, byte in draw(
        st.lists(st.tuples(st.integers(0, 400), st.sampled_from("xdi"), st.integers(0, 255)), max_size=4)
    ):
        at = min(at, max(len(found) - 1, 0))
        found[at : at + (how != "i")] = b"" if how == "d" else bytes((byte,))
    return bytes(found) or draw(st.binary(max_size=200))


@settings(max_examples=150)
@given(damaged(), st.sampled_from([wire.Asked, wire.Said]))
def test_garbage_ends_a_connection(data: bytes, kind: object) -> None:
    with piped(kind) as (channel, mine, _):
        os.write(mine, data)
        os.close(mine)
        with pytest.raises(wire.Gone):
            every(channel, kind)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xff\xff\xff", "a message of 4294967295 bytes"),
        (framed(b"\x91" * 100_000), "an agent does not say this"),
        (framed(msgspec.msgpack.encode({"type": "Come"})), "an agent does not say this"),
        (framed(msgspec.msgpack.encode({"type": "Open", "image": "../x"})), "an agent does not say this"),
        (framed(msgspec.msgpack.encode(wire.Done())) * 20, "more messages than were asked for"),
        (framed(b"abc")[:5], "the connection ended"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, why: str) -> None:
    with piped(wire.Said) as (channel, mine, _):
        os.write(mine, data)
        os.close(mine)
        channel.ended.wait(10)
        with pytest.raises(wire.Gone, match=why):
            every(channel, wire.Said)


def test_who_says_nothing_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a cable was pulled out, which closes no connection. Who lives says so."""
    monkeypatch.setattr(wire, "PATIENCE", 0.5)
    monkeypatch.setattr(wire, "BEAT", 0.1)
    with piped(wire.Said) as (channel, _, out):
        with pytest.raises(wire.Gone, match=r"nothing comes for 0\.5 s"):
            channel.get()
        assert os.read(out, 1 << 16).startswith(framed(msgspec.msgpack.encode(wire.Beat())))


def test_who_takes_nothing_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PATIENCE", 0.3)
    with piped(wire.Said) as (channel, mine, _):
        beats = Thread(
            target=lambda: [os.write(mine, framed(msgspec.msgpack.encode(wire.Beat("works")))) for _ in range(3)]
        )
        beats.start()
        with pytest.raises(wire.Gone):
            channel.put(wire.Image(bytes(1 << 20)))
        beats.join()


@settings(max_examples=60)
@given(st.lists(st.sampled_from(ASKED), max_size=6), damaged())
def test_an_agent_ends_with_what_it_does_not_understand(asked: list[wire.Message], rest: bytes) -> None:
    """It answers, refuses or ends; nothing is ever used that was not taken."""
    folder = Path(__file__).parents[2] / "docs/guides/lab.toml"
    source, mine = os.pipe()
    out, sink = os.pipe()
    os.write(mine, b"".join(framed(msgspec.msgpack.encode(m)) for m in asked) + rest)
    os.close(mine)
    try:
        agent.serve(folder, source, sink)
    finally:
        os.close(sink)
    said = bytearray()
    while data := os.read(out, 1 << 16):
        said += data
    os.close(out)
    os.close(source)
    assert said.startswith(wire.GREETING.encode())
    decoder, at = msgspec.msgpack.Decoder(wire.Said), len(wire.GREETING)
    while at < len(said):
        size = int.from_bytes(said[at : at + 4], "big")
        assert isinstance(decoder.decode(said[at + 4 : at + 4 + size]), wire.Failed | wire.Refused | wire.Beat)
        at += 4 + size


GUIDES = Path(__file__).parents[2] / "docs/guides"
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=300)
    | st.sampled_from(["uno-1", "la", "{"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150)
@given(st.data())
def test_a_description_is_a_board_or_refused(data: st.DataObject) -> None:
    """Whatever is changed in what another machine says of its board."""
    told = json.loads(agent.told(lab.load(GUIDES / "lab.toml"), "uno-1"))
    for _ in range(data.draw(st.integers(0, 3))):
        at = told
        while isinstance(at, dict) and at:
            key = data.draw(st.sampled_from(sorted(at)))
            if not isinstance(at[key], dict) or data.draw(st.booleans()):
                at[key] = data.draw(VALUES)
                break
            at = at[key]
    here = lab.load(GUIDES / "far.toml")
    said = wire.Described(json.dumps(told).encode(), load_target("uno").digest)
    with suppress(UserError):
        found = hosts.station(here, here.boards["uno-far"], said)
        assert (found.board.name, found.target.name, found.host) == ("uno-far", "uno", here.hosts["bench"])
        assert lab.pools([found])


@pytest.mark.parametrize(
    "said",
    [
        {"type": "Came", "data": b"", "pulses": [2**63], "lost": None, "samples": 0},
        {"type": "Came", "data": b"", "pulses": [-1], "lost": None, "samples": 0},
        {"type": "Came", "data": b"", "pulses": [{"cycles": 3, "stack": 1}], "lost": None, "samples": 0},
        {"type": "Came", "data": b"", "pulses": [1] * (1 << 17), "lost": None, "samples": 0},
        {"type": "Opened", "window": 0, "fills_ram": True, "resolution": float("inf"), "clock": "", "notes": []},
        {"type": "Weighed", "power": {"above": {"encrypt": {"value": float("nan"), "uncertainty": 0.0}}}},
        {"type": "Weighed", "power": {"total": {"encrypt": {"value": float("inf"), "uncertainty": 0.0}}}},
    ],
    ids=[
        "many cycles",
        "cycles below zero",
        "what only a simulator sees",
        "more calls than bytes",
        "never a sample",
        "no number",
        "without end",
    ],
)
def test_a_figure_that_no_board_has_ends_a_connection(said: dict[str, object]) -> None:
    with piped(wire.Said) as (channel, mine, _):
        os.write(mine, framed(msgspec.msgpack.encode(said)))
        with pytest.raises(wire.Gone):
            channel.get()
