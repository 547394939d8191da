"""Power of a board while it computes, by the meter in its supply. docs/definitions.md has the formulas.

Where the meter sees the trigger pin and is fast enough, its samples between a call's edges count. Otherwise calls are
repeated, and calls for which the harness does the same are subtracted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from statistics import median, stdev

from msgspec import Struct
from msgspec.structs import replace

from ..device import Link
from ..model.call import API_BLOCK, Caller, CallResult, DeviceError, Observed, Op, Request, Vector
from ..model.errors import counted
from ..model.power import Power, Value
from ..model.reasons import Failure, Reason
from . import meter
from .away import AwayLink
from .edges import Edges
from .link import BoardLink
from .meter import Samples, Stream
from .steps import Steps

#: known answers of an operation that are metered, at the most; samples that all of them have, and one of them, at least
CALLS, LEAST, LEAST_EACH = 64, 40, 2
#: readings of a slow meter in a burst of calls, at least; groups of them at idle whose means show the spread
READINGS, GROUPS = 4, 10
#: bursts of calls that are repeated, and Student's t for 95 % with one degree of freedom fewer
BURSTS, STUDENT = 5, 2.8
#: bytes of associated data, or of a hash's message, of a call that is repeated: the first that fits
SIZES = (128, 64, 32, 16)
#: cycles by which a harness may choose another function faster or slower than one that only returns, and where the chip
#: has caches and branch predictors that calls find settled
CHOICE, SETTLED = 40, 80
#: how calls are metered that nothing gates
REPEATED = "calls repeated, those subtracted for which the harness does the same"
#: seconds that a fast meter looks at an idle board, and on for an edge; that samples may be on their way to us
IDLE, LOOK_ON, WAY = 0.1, 2.0, 0.3
#: the part by which a meter's time and the analyzer's may differ besides what is on its way: while a call is repeated,
#: and while all are, which takes so long that little is on its way
APART, APART_IN_ALL = 0.2, 0.02
#: calls by which both times are compared at the beginning and at the end: what is on its way is the same then
MARKS = 10
#: what a crystal and the analyzer's are off by together, at the most
CLOCKS = 1e-4


class _Part(Struct, frozen=True):
    """Mean watts, and twice the standard error of that mean."""

    watts: float
    spread: float


class _Burst(Struct, frozen=True):
    """Joules above idle, seconds of the pulse, and seconds altogether, each for one call; the uncertainty of joules."""

    joules: float
    pulse: float
    seconds: float
    spread: float = 0.0


class _Marks(Struct, frozen=True):
    """At this second of the analyzer the meter's time is so far ahead of it, and a usual look finds it so much less."""

    at: float
    ahead: float
    spread: float


def power(link: Link, client: Caller, known: Sequence[Observed]) -> Power | None:
    """Watts while the board at the end of ``link`` computes what it computed for the ``known`` answers; None where
    no meter is in its supply. A meter that fails ends in the notes: cycles stay. :class:`DeviceError` when the board
    fails."""
    if isinstance(link, AwayLink):
        return link.power(client, known)
    if not isinstance(link, BoardLink) or link.meter is None:
        return None
    if isinstance(link.meter, Failure):
        return Power(notes=(_without(link.meter),))
    stream = link.meter
    link.sees_stack = True  # so that nobody asks to paint it: looking at the paint is work that depends on the call
    try:
        with _in_bounds(stream):
            return _Metering(link, stream, client).all(known)
    except DeviceError as e:
        if e.failure.reason not in (Reason.METER_LOST, Reason.POWER_LOST):
            raise
        return Power(notes=(_without(e.failure),))
    finally:
        link.sees_stack = False
        stream.hush()


def weighed(metrics: Mapping[str, float], notes: Sequence[str]) -> bool:
    """Whether a meter was read for a record with these, though it may have said too little for any figure: to read it
    again says no more."""
    return "power_idle_measured" in metrics or any(n.startswith(f"no energy: {Reason.POWER_LOST}:") for n in notes)


def look(link: BoardLink | AwayLink, client: Caller, request: Request, output: bytes) -> str:
    """What the meter reads while the board waits, and how it sees calls. :class:`DeviceError` when it cannot be
    used."""
    if isinstance(link, AwayLink):
        return link.look(request, output)
    if not isinstance(link.meter, Stream):
        raise DeviceError(link.meter or Failure(Reason.METER_LOST, "no meter"))
    stream = link.meter
    metering = _Metering(link, stream, client)
    try:
        with _in_bounds(stream):
            idle = metering.idle(IDLE if metering.bit is not None else stream.metered.meter.seconds)
            text = f"{metering.volts:.3g} V, {idle.watts / metering.volts * 1e3:.3g} mA while the board waits"
            if metering.bit is not None:
                metering.pulses([(request, output)] * 2)
                text += f"; sees the trigger pin at its digital input {metering.bit}"
            return f"{text}; {stream.metered.text}"
    finally:
        stream.hush()


@contextmanager
def _in_bounds(stream: Stream) -> Iterator[None]:
    """Readings of which no formula makes a figure are unsound: they take nothing away that has no need of a meter."""
    try:
        yield
    except ArithmeticError as e:
        raise stream.unsound(f"its readings make no figure: {type(e).__name__}: {e}") from e


def _without(failure: Failure) -> str:
    return f"no energy: {failure.reason}: {failure.detail}; {failure.next_action}"


class _Metering:
    """One board with its meter."""

    def __init__(self, link: BoardLink, stream: Stream, client: Caller) -> None:
        self._link, self._stream, self._client = link, stream, client
        self._metered = stream.metered
        #: of the supply, once an idle board was looked at
        self.volts = 0.0
        #: the digital input that sees the trigger pin
        self.bit = stream.metered.bit
        #: by bytes of message and associated data
        self._empty: dict[tuple[int, int], _Burst] = {}
        self._steps = Steps(stream)

    def all(self, known: Sequence[Observed]) -> Power:
        """All operations."""
        by = {op: [(v, a) for o, v, a in known if o == op] for op in dict.fromkeys(op for op, *_ in known)}
        sealed = {v.count: a.output for op, v, a in known if op == "encrypt"}
        spent = sum(a.pulse.cycles for _, _, a in known) / len(known) * self._link.cycle
        gated = {op: self._seen(calls) for op, calls in by.items()}
        idle = self.idle(IDLE if all(gated.values()) else max(IDLE, self._metered.meter.seconds))
        parts: dict[str, _Part] = {}
        pulses = 0
        start: _Marks | None = None
        # gated ones first: pulses of those that are repeated may still be on their way
        for op, calls in sorted(by.items(), key=lambda of: not gated[of[0]]):
            requests: list[tuple[Request, bytes | None]] = []
            for v, a in calls[:: max(1, math.ceil(len(calls) / CALLS)) | 1]:
                block = self._client.hello.api == API_BLOCK  # whose calls have all their inputs in their vectors
                text = v.message if block or op in ("encrypt", "hash") else sealed[v.count]
                request = _request(op, v.key, v.npub, v.ad, text, bool(self._client.hello.key_bytes))
                requests.append((request, None if op == "reject" else a.output))
            if not gated[op]:
                start = start or self._ahead()
            parts[op] = self._gated(requests) if gated[op] else self._repeated(op, requests[0][0], idle)
            pulses += len(requests) * gated[op]
        short = [op for op in by if not gated[op]]
        if start is not None:
            pace = self._pace(start, self._ahead())
            parts |= {op: _paced(parts[op], idle, pace) for op in short}
        above = {op: self._above(part, idle, gated[op]) for op, part in parts.items()}
        total = {op: self._total(part, idle) for op, part in parts.items()}
        how = f"{counted(pulses, 'call')} gated by D{self.bit}" if pulses else REPEATED
        if pulses and short:
            how += f"; calls of {', '.join(short)} are too short for it: {REPEATED}"
        notes = [f"{self._metered.text}, {how}"]
        if hidden := {op: v for op, v in above.items() if not _shows(v)}:
            notes.append(_without(self._hidden(hidden).failure))
        resolution = self._link.sample / spent
        cycle = Value(self._link.cycle, self._link.cycle * math.hypot(CLOCKS, resolution))
        offset = self.volts * self._metered.offset
        quiet = Value(idle.watts, math.hypot(self._metered.gain * idle.watts, offset, idle.spread, self._step))
        above, total = ({op: v for op, v in of.items() if _shows(v)} for of in (above, total))
        return Power(above, total, quiet, cycle, tuple(notes), self._link.resolution)

    def _hidden(self, above: Mapping[str, Value]) -> DeviceError:
        """Why operations have no figure: as far as the meter can tell they may draw nothing above idle."""
        said = (f"{op} draws {v.value * 1e3:.3g} ± {v.uncertainty * 1e3:.2g} mW" for op, v in above.items())
        text = f"{', '.join(said)} above idle, {self._steps.text}"
        return self._stream.unsound(f"{text}; take a meter that is finer, or faster")

    def _seen(self, calls: Sequence[tuple[Vector, CallResult]]) -> bool:
        """Whether the meter sees the trigger pin, and enough samples between the edges of calls like these: a key
        schedule may be much shorter than the calls after it."""
        seconds = sum(a.pulse.cycles for _, a in calls) / len(calls) * self._link.cycle
        return self.bit is not None and seconds * self._metered.rate - self._edge >= LEAST_EACH

    @property
    def _edge(self) -> int:
        """Samples after an edge that may still show what was before, and the one around the next edge."""
        return math.ceil(self._metered.latency * self._metered.rate) + 2

    def _above(self, part: _Part, idle: _Part, gated: bool) -> Value:
        """Above idle. What the meter is off by at zero is in both, what it rounds is not."""
        watts = part.watts - idle.watts
        own = (idle.spread, math.sqrt(2) * self._step) if gated else ()  # repeated calls have it in their spread
        return Value(watts, math.hypot(self._metered.gain * watts, part.spread, *own))

    def _total(self, part: _Part, idle: _Part) -> Value:
        offset = self.volts * self._metered.offset
        return Value(
            part.watts, math.hypot(self._metered.gain * part.watts, offset, part.spread, idle.spread, self._step)
        )

    def idle(self, seconds: float) -> _Part:
        """While the board waits for a request."""
        stream = self._stream
        # before its first call a client makes some of its own, which are not to be seen
        self._client.call(self._client.hello.zeros(Op.EMPTY))
        stream.start()
        stream.wait(lambda: bool(stream.samples.t), self._link.over)
        start = stream.samples.t[0] + self._metered.latency + WAY
        stream.wait(lambda: stream.samples.t[-1] >= start + seconds, self._link.over)
        samples = stream.taken()
        first = next(n for n, t in enumerate(samples.t) if t >= start)
        self._steps.note(samples, [slice(first, None)])
        if self.bit is not None and any(byte >> self.bit & 1 for byte in samples.bits[first:]):
            raise stream.unsound(f"{self._pin} is high while no call runs: look at its wire")
        watts = _watts(samples)[first:]
        if len(watts) < 2 * GROUPS:
            raise stream.unsound(f"{len(watts)} readings in {seconds:g} s are too few: raise its rate, or seconds")
        self.volts = meter.mean(samples.v)
        if not self.volts > 0 or meter.mean(watts) <= 0:
            raise stream.unsound(
                f"reads {self.volts:.3g} V and {meter.mean(samples.i):.3g} A, and the board runs: is it in its supply?"
            )
        return _grouped(watts)

    @property
    def _pin(self) -> str:
        return f"digital input {self.bit} of it"

    # --- gated by the trigger pin -----------------------------------------------------------------------------------

    def _gated(self, requests: Sequence[tuple[Request, bytes | None]]) -> _Part:
        """The samples between the edges of these calls."""
        pulses, samples = self.pulses(requests)
        watts = _watts(samples)
        inner = [w for a, b in pulses if (w := watts[a + self._edge - 1 : b - 1])]
        self._steps.note(samples, [slice(a + self._edge - 1, b - 1) for a, b in pulses])
        count = sum(map(len, inner))
        if count < LEAST or len(inner) < 2:
            text = f"{counted(count, 'sample')} in {len(pulses)} calls: its rate is too low for them"
            raise self._stream.unsound(text)
        each = [meter.mean(w) for w in inner]
        mean = math.fsum(map(math.fsum, inner)) / count
        return _Part(mean, 2 * stdev(each, mean) / math.sqrt(len(each)))

    def pulses(self, requests: Sequence[tuple[Request, bytes | None]]) -> tuple[list[tuple[int, int]], Samples]:
        """Makes these calls; the number of the first sample in each and of the first after it, and all samples."""
        stream, link = self._stream, self._link
        assert self.bit is not None
        stream.taken()
        before = link.samples
        for request, output in requests:
            self._call(request, output)
        measured = (link.samples - before) * link.sample
        edges, seen, samples = Edges((self.bit,)), list[tuple[int, int]](), Samples()

        def all_there() -> bool:
            came = stream.taken()
            samples.add(came)
            seen.extend(edges.feed(bytes(came.bits)))
            return len(seen) >= 2 * len(requests) or stream.latest() > end

        end = stream.latest() + LOOK_ON
        stream.wait(all_there, link.over)
        pulses = [(a, b) for (a, level), (b, _) in pairwise(seen) if level]
        if len(pulses) != len(requests) or len(seen) != 2 * len(requests):
            text = f"{counted(len(pulses), 'pulse')} on {self._pin}, {counted(len(requests), 'call')}"
            raise stream.unsound(f"{text}: look at the wire from the trigger pin, and whether samples are lost")
        span = sum(b - a for a, b in pulses) / self._metered.rate
        if abs(span - measured) > 1e-3 * measured + len(pulses) / self._metered.rate:
            text = f"calls take {span * 1e3:.3f} ms by the meter and {measured * 1e3:.3f} ms by the analyzer"
            raise stream.unsound(f"{text}: samples are lost, or its rate is not {self._metered.rate:g}")
        return pulses, samples

    def _call(self, request: Request, output: bytes | None) -> bytes:
        answer = self._client.call(request)
        if output is not None and answer.output != output:
            raise DeviceError(Failure(Reason.WRONG_OUTPUT, "a call that was metered gave another output than before"))
        self._stream.check()
        return answer.output

    # --- repeated ---------------------------------------------------------------------------------------------------

    def _repeated(self, op: str, like: Request, idle: _Part) -> _Part:
        """One call over and over, minus what the harness does for it. Of a block cipher that is the same call without
        the package's function; else a call with less input, and what it costs to receive that input, or for long calls
        an empty one that receives as much: whichever says more."""
        choice = (SETTLED if self._client.hello.warms else CHOICE) * self._link.cycle
        if self._client.hello.api == API_BLOCK:
            own, hollow = (self._bursts(r, self._call(r, None), idle) for r in (like, replace(like, hollow=True)))
            return self._left([(own, 1), (hollow, -1)], idle, choice)
        more, less = self._accepted(op, like)
        received = [self._received(forward, idle) for forward, _ in (more, less)]
        made: list[tuple[_Burst, float]] = []
        answered, besides = list[int](), list[int]()
        for (forward, output), sign in ((more, 1), (less, -1)):
            request = forward
            if like.op is Op.DECRYPT:
                request = replace(forward, op=like.op, data=_broken(output) if op == "reject" else output)
            answer = self._call(request, None)
            answered.append(len(answer))
            besides.append(_bytes(request, forward))
            made.append((self._bursts(request, answer, idle), sign))
        # a byte is sent for about as much as one is received, and for no more than twice that: those of a whole answer,
        # or those by which an answer of a package that takes no associated data grows with its input. Decryption
        # receives bytes, such as the tag, that the empty call with the input of encryption does not
        size = _bytes(more[0], less[0])
        byte = (received[0].joules - received[1].joules) / size
        whole, sent = (answered[0] + besides[0]) / size, (answered[0] - answered[1] + besides[0] - besides[1]) / size
        long = [made[0], (received[0], -1 - whole), (received[1], whole)]
        found = [self._left(long, idle, choice, answered[0] * byte)]
        short = [*made, (received[0], -1 - sent), (received[1], 1 + sent)]
        if math.fsum(sign * b.pulse for b, sign in short) > 0:
            found.append(self._left(short, idle, unlike=(answered[0] - answered[1]) * byte))
        return min(found, key=lambda part: part.spread)

    def _accepted(self, op: str, like: Request) -> tuple[tuple[Request, bytes], tuple[Request, bytes]]:
        """Two encryptions, or hashes, with their outputs: of the first size that has room and is taken, and of one with
        less input. Their outputs are of one size where the package takes associated data. Raises
        :class:`DeviceError` where none is."""
        forward = replace(like, op=Op.HASH if op == "hash" else Op.ENCRYPT)
        for n in SIZES:
            sides = [("data", "ad")] if op == "hash" else [("ad", "data"), ("data", "ad")]
            for side, other in sides:
                fixed = like.ad if op == "hash" else b""
                found: list[tuple[Request, bytes]] = []
                for size in (n, 0, n // 2):
                    request = replace(forward, **{side: bytes(size), other: fixed})
                    mlen, adlen = len(request.data), len(request.ad)
                    room = all(self._client.fits(o, mlen, adlen) for o in {forward.op, like.op})
                    if room and (answer := self._client.call(request)).code == 0:
                        found.append((request, answer.output))
                    if not found:
                        break
                    if len(found) == 2:
                        return found[0], found[1]
        raise DeviceError(Failure(Reason.POWER_LOST, "no two sizes are taken whose calls can be metered"))

    def _received(self, forward: Request, idle: _Part) -> _Burst:
        """Empty calls that receive the same bytes."""
        key = len(forward.data), len(forward.ad)
        if key not in self._empty:
            self._empty[key] = self._bursts(replace(forward, op=Op.EMPTY), b"", idle)
        return self._empty[key]

    def _left(
        self, bursts: Sequence[tuple[_Burst, float]], idle: _Part, choice: float = 0.0, unlike: float = 0.0
    ) -> _Part:
        """Power while a package computes: the sum of bursts, each times its factor, over what is left of their pulses.
        ``choice`` are seconds of work, and ``unlike`` joules, by which what is subtracted may be another."""
        joules, own, seconds = (
            math.fsum(factor * getattr(b, name) for b, factor in bursts) for name in ("joules", "pulse", "seconds")
        )
        if own <= 0:
            raise self._stream.unsound("the call takes no longer than what is subtracted: nothing to meter")
        watts = joules / own
        # each burst is read, and rounded, by itself; idle, which is subtracted from each, is one
        rounded = math.hypot(*(factor * b.seconds for b, factor in bursts), seconds) * self._step
        own_spread = math.hypot(*(factor * b.spread for b, factor in bursts), idle.spread * seconds, rounded, unlike)
        return _Part(idle.watts + watts, math.hypot(own_spread, watts * choice) / own)

    @property
    def _step(self) -> float:
        """Watts by which a reading may be off because it is rounded."""
        return self._steps.off(self.volts)

    def _bursts(self, request: Request, output: bytes, idle: _Part) -> _Burst:
        """The same call again and again, some times with silence after it: nothing that is late is lost."""
        self._call(request, output)
        begin, rose, first = time.monotonic(), self._link.rose, self._stream.latest()
        self._silence()
        found = [self._burst(request, output, idle) for _ in range(BURSTS)]
        self._call(request, output)
        pace, passed = 1.0, (self._link.rose - rose) * self._link.sample
        self._alike(passed, self._stream.latest() - first, APART)
        if self._stream.by_host:  # energy goes by the analyzer's time, as cycles do
            pace = passed / (time.monotonic() - begin)
        joules = [b.joules * pace for b in found]
        pulse, seconds = (meter.mean([getattr(b, name) for b in found]) for name in ("pulse", "seconds"))
        return _Burst(meter.mean(joules), pulse, seconds * pace, STUDENT * stdev(joules) / math.sqrt(BURSTS))

    def _alike(self, passed: float, own: float, apart: float) -> None:
        """:class:`DeviceError` where seconds by the analyzer are others by the meter's clock, if it has one, by more
        than the part that may be ``apart`` and what is on its way."""
        if not self._stream.by_host and abs(own - passed) > apart * passed + 2 * WAY:
            text = f"{own:.3g} s pass by the meter and {passed:.3g} s by the analyzer"
            raise self._stream.unsound(f"{text}: samples are lost, or its rate is not {self._metered.rate:g}")

    def _ahead(self) -> _Marks:
        """How far the meter's time is ahead of the analyzer's, when its samples come soonest."""
        ahead = []
        for _ in range(MARKS):
            self._client.call(self._client.hello.zeros(Op.EMPTY))
            ahead.append(self._stream.latest() - self._link.rose * self._link.sample)
        return _Marks(self._link.rose * self._link.sample, max(ahead), max(ahead) - median(ahead))

    def _pace(self, start: _Marks, end: _Marks) -> Value:
        """Seconds by the analyzer in one of the meter's own clock, so that energy goes by the time that cycles go by.
        :class:`DeviceError` where they are too far from one."""
        if self._stream.by_host:  # each burst has its own
            return Value(1.0, 0.0)
        passed = end.at - start.at
        own = passed + end.ahead - start.ahead
        self._alike(passed, own, APART_IN_ALL)
        pace = passed / own
        return Value(pace, pace * math.hypot(start.spread, end.spread) / own)

    def _silence(self) -> None:
        """Until all that the calls before drew has come."""
        end = self._stream.latest() + self._metered.latency + WAY
        self._stream.wait(lambda: self._stream.latest() >= end, self._link.over)

    def _burst(self, request: Request, output: bytes, idle: _Part) -> _Burst:
        stream, link = self._stream, self._link
        stream.taken()
        first = start = stream.latest()
        count, before = 0, link.samples
        alive = meter.Alive(stream)
        while stream.latest() < start + self._metered.meter.seconds / BURSTS:
            self._call(request, output)
            alive.look()
            count += 1
        self._silence()
        samples = stream.taken()
        self._steps.note(samples, [slice(None)])
        if len(samples.t) < READINGS:
            text = f"{counted(len(samples.t), 'reading')} in {stream.latest() - first:.2g} s, for repeated calls,"
            raise stream.unsound(f"{text} are too few: raise its rate, or seconds")
        joules = 0.0
        for t, watts in zip(samples.t, _watts(samples), strict=True):
            joules += (watts - idle.watts) * (t - start)
            start = t
        return _Burst(joules / count, (link.samples - before) * link.sample / count, (start - first) / count)


def _request(op: str, key: bytes, npub: bytes, ad: bytes, text: bytes, keyed: bool) -> Request:
    kind = Op.DECRYPT if op == "reject" else Op(op)
    data = _broken(text) if op == "reject" else text
    return Request(kind, key if keyed else b"", npub if keyed else b"", ad, data)


def _broken(sealed: bytes) -> bytes:
    """With one bit of the tag flipped."""
    return sealed[:-1] + bytes((sealed[-1] ^ 1,)) if sealed else sealed


def _shows(value: Value) -> bool:
    """Whether it is a figure: more than it may be off by."""
    return value.value > value.uncertainty


def _bytes(more: Request, less: Request) -> int:
    """Bytes of input that one has more."""
    return len(more.data) + len(more.ad) - len(less.data) - len(less.ad)


def _watts(samples: Samples) -> list[float]:
    return samples.w or [v * i for v, i in zip(samples.v, samples.i, strict=True)]


def _paced(part: _Part, idle: _Part, pace: Value) -> _Part:
    """The part with what it has above idle at this pace."""
    above = Value(part.watts - idle.watts, part.spread).times(pace)
    return _Part(idle.watts + above.value, above.uncertainty)


def _grouped(watts: Sequence[float]) -> _Part:
    """Neighbours resemble each other: the spread is that of groups."""
    size = max(len(watts) // GROUPS, 1)
    means = [meter.mean(watts[n * size : (n + 1) * size]) for n in range(min(GROUPS, len(watts)))]
    return _Part(meter.mean(watts), 2 * stdev(means) / math.sqrt(len(means)))
