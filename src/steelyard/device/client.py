"""Talks to the harness over any link: handshake, calls, and recovery after garbage."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import accumulate

from msgspec.structs import replace

from ..model.call import (
    ALIGNED,
    API_BLOCK,
    CallResult,
    DeviceError,
    Hello,
    NoRoomError,
    Op,
    Request,
    Stray,
    sizes_of,
)
from ..model.errors import counted
from ..model.reasons import ANSWERED_WRONGLY, Failure, Reason
from . import counter, frame
from .counter import Counter
from .link import Link
from .need import Need
from .simulator import SimulatorLink

API_AEAD = 1
#: bytes of a message that nobody else made
OWN = 8
#: causes of cycles that a call has whatever was called before
_OWN = ("issue", "work", "operands")


def encode(r: Request) -> bytes:
    """The frame that requests a call. Raises :class:`DeviceError` when the inputs are too long for one frame."""
    size = frame.RUN_HEADER.size + len(r.key) + len(r.npub) + len(r.ad) + len(r.data)
    if size > frame.MAX_PAYLOAD:
        text = f"a call with {size} bytes of input is too large: a frame carries at most {frame.MAX_PAYLOAD}"
        raise DeviceError(Failure(Reason.UNSUPPORTED_SIZE, text))
    flags = r.paint * frame.PAINT | r.in_place * frame.IN_PLACE | r.warm * frame.WARM
    operation = frame.OPERATIONS[r.op] | r.hollow * frame.HOLLOW
    head = frame.RUN_HEADER.pack(operation, flags, *r.misaligned, len(r.data), len(r.ad))
    return frame.encode(frame.RUN, head, r.key, r.npub, r.ad, r.data)


class Client:
    """The harness at the other end of a link. Raises :class:`DeviceError` when the handshake fails.

    Where an instrument samples the pulses and the chip has a counter, each pulse is compared with it. One that differs
    is an error, unless ``compares`` is False.
    """

    def __init__(self, link: Link, *, compares: bool = True, need: Need | None = None) -> None:
        self.link = link
        self._compares = compares
        self._counter: Counter | None = None
        #: within what fraction the clock is right, as pulses show that were compared; None where none were
        self.clock: float | None = None
        self._decoder = frame.Decoder()
        #: bytes of stack and heap of calls so far
        self.need = need or Need()
        if isinstance(link, SimulatorLink):
            link.spent = self.need.spent
        self._made: set[tuple[Op, int, int]] = set()
        self._extreme: dict[tuple[Op, str], tuple[int, Request]] = {}
        #: notes on calls that readers of the figures should know, in order
        self.remarks: dict[str, None] = {}
        #: whether a call since the restart asked for heap, and whether a later one asked for none
        self._asked = self._misses = False
        self.hello = self._handshake()

    def _handshake(self) -> Hello:
        for _ in range(3):
            if (got := self._ask_hello()) is not None:
                break
            self.resynchronise()
        else:
            raise DeviceError(Failure(Reason.PROTOCOL, "no answer to the handshake"))
        if got[:2] == b"SY" and got[2:3] != bytes((frame.PROTOCOL,)):
            text = f"the device speaks protocol {got[2:3].hex()}, this host {frame.PROTOCOL:02x}: flash the image again"
            raise DeviceError(Failure(Reason.PROTOCOL, text))
        if got[:2] != b"SY" or len(got) != frame.HELLO_ANSWER.size:
            raise DeviceError(Failure(Reason.PROTOCOL, "the answer to the handshake is not a harness's"))
        _, _, api, parts, guard, key, npub, a, capacity, clock, bits, build = frame.HELLO_ANSWER.unpack(got)
        self.link.pulses()
        if self.link.build not in (None, build):
            other = f"the harness that answers is of build {build:08x}, not {self.link.build:08x}"
            text = f"{other}: another image, or another board"
            raise DeviceError(Failure(Reason.FLASH_FAILED, text))
        own, warms, continues = parts & 3, bool(parts & frame.WARMS), bool(parts & frame.CONTINUES)
        return Hello(api, own, guard, key, npub, a, capacity, clock * 10_000, bits, build, warms, continues)

    def _ask(self, data: bytes) -> list[tuple[int, bytes]]:
        return self._decoder.feed(self.link.exchange(data))

    def _ask_hello(self) -> bytes | None:
        answers = [p for command, p in self._ask(frame.encode(frame.HELLO)) if command == frame.HELLO | frame.ANSWER]
        return answers[-1] if answers else None

    def resynchronise(self) -> None:
        """Sends filler until the device leaves the frame that it may be reading."""
        filler = bytes(min(frame.MAX_FRAME, 4096))
        for _ in range(1 + frame.MAX_FRAME // len(filler)):
            if self._ask(filler):
                return
            if self._ask_hello() is not None:
                return

    def untouched(self) -> int | None:
        """The longest run of RAM bytes after static data that nothing wrote; None where the device cannot tell.

        Where RAM has to be filled for that, the calls are made again, without paint, which have used most of it: it
        lies between what the largest buffers and the deepest stack leave. Last comes an empty call, which is smaller,
        with a message of its own: the link finds it again in what it takes for this device's RAM.
        """
        if self.link.fills_ram:
            self.link.fill_ram()
            self._decoder = frame.Decoder()
            self._handshake()
            for _, request in {id(r): r for _, r in self._extreme.values()}.items():
                self._batch([encode(request)])
            self._batch([encode(self.hello.zeros(Op.EMPTY, os.urandom(OWN)))])
        return self.link.longest_untouched()

    def restart(self) -> None:
        """Restarts the firmware, which clears its static data, and paints the rest of RAM up to the harness's own
        stack. Raises :class:`DeviceError` when it does not come back."""
        self.link.reset()
        self._decoder = frame.Decoder()
        self._asked = self._misses = False
        self.call(self._handshake().zeros(Op.EMPTY, paint=True))

    def call(self, request: Request) -> CallResult:
        """Makes one call. Raises :class:`DeviceError` when the device fails or does not answer."""
        return next(iter(self.calls([request])))

    def fits(self, op: Op, mlen: int, adlen: int) -> bool:
        """Whether buffers of these sizes, with the stack and heap that the calls so far say, fit the target's RAM, or
        have fitted it."""
        return (op, mlen, adlen) in self._made or self.hello.fits(op, mlen, adlen, self.need.of(op, mlen, adlen))

    def nearly_full(self, op: Op, mlen: int, adlen: int) -> bool:
        """Whether a call of this size can have had no room: whether twice the least stack and heap that calls of half
        the size use, and twice its buffers, do not fit."""
        return not self.hello.fits(op, 2 * mlen, 2 * adlen, 2 * self.need.at_least(op, mlen, adlen))

    def no_room(self, op: Op, mlen: int, adlen: int) -> None:
        """Notes that a call of this size asked for more heap than there is."""
        self.need.has_no(op, mlen, adlen)
        if isinstance(self.link, SimulatorLink):
            self.need.spent = self.link.spent

    @property
    def grows(self) -> bool:
        """Whether larger calls need more stack or heap, as far as calls so far say."""
        return self.need.grows

    @property
    def lacked(self) -> set[tuple[int, int]]:
        """The sizes of message and associated data, in bytes, of calls that had no room for what they asked for."""
        return self.need.refused

    @property
    def most(self) -> int:
        """Bytes of stack and heap of the call that used most so far."""
        return self.need.most

    def _message(self, request: Request) -> int:
        """Bytes of a call's message."""
        tag = self.hello.a_bytes if request.op is Op.DECRYPT and self.hello.api == API_AEAD else 0
        return max(len(request.data) - tag, 0)

    def calls(self, requests: Iterable[Request]) -> Iterator[CallResult]:
        """Makes calls in order, with as many in flight as the link allows. Raises as :meth:`call`."""
        sees_stack, simulated = self.link.sees_stack, isinstance(self.link, SimulatorLink)
        self._know_counter()
        batch: list[tuple[Request, bytes]] = []
        size = 0
        for request in requests:
            data = encode(request if sees_stack else replace(request, paint=True))
            apart = simulated and bool(batch) and request.aside != batch[0][0].aside
            if batch and (apart or size + len(data) > self.link.window):
                yield from self._own(batch)
                batch, size = [], 0
            batch.append((request, data))
            size += len(data)
        if batch:
            yield from self._own(batch)

    def _own(self, batch: list[tuple[Request, bytes]]) -> Iterator[CallResult]:
        """Answers to a batch. Raises for a call that wrote outside its own memory."""
        link = self.link
        with link.aside() if batch[0][0].aside and isinstance(link, SimulatorLink) else nullcontext():
            try:
                answers = self._batch([data for _, data in batch])
            except DeviceError as e:
                raise self._told(e, [request for request, _ in batch]) from None
        if self._counter is not None:
            answers = [self._compared(self._counter, *b, a) for b, a in zip(batch, answers, strict=True)]
        for k, answer in enumerate(answers):
            if batch[k][0].op not in (Op.EMPTY, Op.EMPTY_DECRYPT):
                self._misses |= self._asked and not (answer.heap or answer.full)
                self._asked |= answer.heap > 0 or answer.full
            for stray in answer.pulse.strays:
                request, _ = batch[k]
                name = request.op.value
                if stray.area == "message" and (text := _in_front(self.hello, request, stray)):
                    raise DeviceError(Failure(Reason.STRAY_WRITE, f"{name}{self._sizes(request)}: {text}"))
                if self.hello.api == API_BLOCK and (text := _not_to_be_written(self.hello, request.op, stray)):
                    raise DeviceError(Failure(Reason.STRAY_WRITE, f"{name} {text}"))
                if stray.is_input:
                    self.remarks[f"{name} {stray.text}"] = None
                elif answer.intact or stray.area != "guard":  # otherwise the caller reports the overrun
                    reason = Reason.BUFFER_OVERRUN if stray.area == "guard" else Reason.STRAY_WRITE
                    raise DeviceError(Failure(reason, f"{name}{self._sizes(request)}: {stray.text}"))
            if self.link.fills_ram:
                self._keep(batch[k][0], answer)
            self._weigh_ram(batch[k][0], answer)
            yield answer

    def _told(self, error: DeviceError, batch: Sequence[Request]) -> DeviceError:
        """The error with the call that a simulator found no end of, or no room for its stack: the first without a
        pulse. Where other calls say that there was little room, larger ones can be left out."""
        link, failure = self.link, error.failure
        deep = failure.reason is Reason.STACK_OVERFLOW
        if not isinstance(link, SimulatorLink) or not (deep or failure.detail.startswith(_ENDLESS)):
            return error
        ended = len(link.pulses())
        of = accumulate(frame.pulses(encode(request)) for request in batch)
        request = next((r for r, last in zip(batch, of, strict=True) if last > ended), batch[-1])
        failure = replace(failure, detail=f"{request.op.value}{self._sizes(request)}: {failure.detail}")
        sizes = self._message(request), len(request.ad)
        if not deep or self.hello.api == API_BLOCK or not self.nearly_full(request.op, *sizes):
            return DeviceError(failure)
        self.no_room(request.op, *sizes)
        return NoRoomError(failure)

    def _weigh_ram(self, request: Request, answer: CallResult) -> None:
        """Notes what RAM a call used. Raises :class:`DeviceError` where its deepest stack and its heap have no room
        together beside its buffers: one may have gone over the other."""
        op, mlen, adlen = request.op, self._message(request), len(request.ad)
        stack = answer.stack if answer.pulse.stack is None else answer.pulse.stack
        self.need.saw(op, mlen, adlen, stack + answer.heap)
        if answer.code == 0 and not answer.full:
            self.need.came(op, mlen, adlen, stack + answer.heap)
        if self.hello.api == API_BLOCK:
            return
        if answer.heap and not self.hello.fits(op, mlen, adlen, stack + answer.heap - ALIGNED):
            text = f"{stack} bytes of stack and {answer.heap} of heap have no room together"
            text = f"{op.value}{self._sizes(request)}: {text}"
            raise DeviceError(Failure(Reason.STACK_OVERFLOW, text))
        if answer.code == 0 or not answer.full:
            self._made.add((op, mlen, adlen))

    def _sizes(self, request: Request) -> str:
        """The sizes of a call, in parentheses; a block cipher's are always the same."""
        if self.hello.api == API_BLOCK:
            return ""
        given = "ciphertext" if request.op is Op.DECRYPT else "message"
        return f" ({sizes_of(given, request.data, request.ad, request.key + request.npub)})"

    def _know_counter(self) -> None:
        """Makes some empty calls, where the chip's counter is a second time of a call that is not known yet."""
        hello, sample = self.hello, self.link.resolution
        if self._counter is not None or not hello.counter_bits or not sample:
            return
        ops = (Op.EMPTY, Op.EMPTY_DECRYPT if hello.api in (API_AEAD, API_BLOCK) else Op.EMPTY)
        first, second = ([self._batch([encode(hello.zeros(op))])[0] for _ in range(counter.EMPTY)] for op in ops)
        self._counter = Counter.of(hello.counter_bits, sample, first, second, hello.api)
        self.clock = counter.MOST
        self.remarks[f"pulses were compared with the chip's own counter of cycles, modulo 2^{hello.counter_bits}"] = (
            None
        )

    def _compared(self, counter: Counter, request: Request, data: bytes, answer: CallResult) -> CallResult:
        """The answer with what the counter says of its pulse. Where they differ the call is made once more: who lost
        samples will not lose the same again."""
        apart = counter.apart(request.op, answer)
        if self._compares and abs(apart) > counter.room(answer.pulse.cycles):
            raise DeviceError(counter.differs(request.op, answer, self._batch([data])[0]))
        assert self.clock is not None
        self.clock = counter.known(self.clock, answer, apart)
        return replace(answer, pulse=replace(answer.pulse, apart=apart))

    def _keep(self, request: Request, answer: CallResult) -> None:
        """Notes the call if none of its operation had larger buffers, or more stack or heap."""
        size = len(request.ad) + len(request.data) + self.hello.room(request.op, len(request.data))
        for what, used in (("buffers", size), ("stack", answer.stack), ("heap", answer.heap)):
            if used > self._extreme.get((request.op, what), (-1, request))[0]:
                self._extreme[request.op, what] = used, request

    def explained(self, failure: Failure) -> Failure:
        """The failure of a call; its detail also says what of earlier calls can have caused it."""
        noted = self.link.heap() if failure.reason in _UNFINISHED and isinstance(self.link, SimulatorLink) else 0
        if frame.heap(noted, self.hello.capacity)[1]:
            return Failure(Reason.RAM_OVERFLOW, f"asked for more heap than there is, and then: {failure.detail}")
        if not self._misses or failure.reason not in _OF_LOST_BLOCKS:
            return failure
        return replace(failure, detail=f"{failure.detail}; {_LOST_BLOCKS}")

    def inside(self, request: Request) -> int | None:
        """Cycles of one call without its call instruction; None on links that cannot tell them apart."""
        if not isinstance(self.link, SimulatorLink):
            return None
        return sum(cycles for k, (_, parent, _, cycles) in enumerate(self.tree(request)) if parent != k)

    def least(self, request: Request) -> int | None:
        """Cycles that the instructions of one call take wherever they and their operands are; None on links that cannot
        tell causes apart."""
        if not isinstance(self.link, SimulatorLink):
            return None
        return sum(cycles for cause, _, _, cycles in self.causes(request) if cause in _OWN)

    def profile(self, request: Request) -> tuple[list[tuple[str, int, int, int]], dict[str, int], int]:
        """The call tree as (function, parent's index, calls, cycles), instruction counts by mnemonic, and the number of
        taken branches of one call. Raises :class:`DeviceError` off the simulator."""
        tree = self.tree(request)
        assert isinstance(self.link, SimulatorLink)
        mix, taken = self.link.instruction_mix(encode(request))
        self.link.pulses()
        return tree, mix, taken

    def tree(self, request: Request) -> list[tuple[str, int, int, int]]:
        """The call tree of :meth:`profile` alone. Raises :class:`DeviceError` off the simulator."""
        if not isinstance(self.link, SimulatorLink):
            raise DeviceError(Failure(Reason.NOT_SIMULATED, "only the simulator can profile"))
        tree = self.link.profile(encode(request))
        self.link.pulses()
        return tree

    def causes(self, request: Request) -> list[tuple[str, str, int, int]]:
        """The cycles that :meth:`profile` will find, by cause: (cause, kind of instruction, times, cycles). Raises
        :class:`DeviceError` off the simulator."""
        if not isinstance(self.link, SimulatorLink):
            raise DeviceError(Failure(Reason.NOT_SIMULATED, "only the simulator knows why cycles pass"))
        with self.link.aside():  # branch predictors are then as they were
            found = self.link.causes(encode(request))
        self.link.pulses()
        return found

    def _batch(self, batch: list[bytes]) -> list[CallResult]:
        frames = self._ask(b"".join(batch))
        pulses = self.link.pulses()
        if len(frames) != len(batch):
            text = f"{counted(len(batch), 'request')}, {counted(len(frames), 'answer')}"
            raise DeviceError(Failure(Reason.PROTOCOL, text))
        for command, payload in frames:  # before the pulses are counted, because a refused request has none
            if command == frame.ERROR:
                why = frame.ERRORS.get(payload[0], "unknown error") if payload else "unknown error"
                reason = Reason.RAM_OVERFLOW if payload[:1] == frame.TOO_LARGE else Reason.PROTOCOL
                raise DeviceError(Failure(reason, why))
        made = [frame.pulses(request) for request in batch]
        if len(pulses) != sum(made):
            text = f"{counted(len(batch), 'request')}, {counted(len(pulses), 'trigger pulse')}"
            raise DeviceError(Failure(Reason.PROTOCOL, text))
        own = [pulses[end - n : end] for n, end in zip(made, accumulate(made), strict=True)]
        answers = []
        for request, (command, payload), (*before, pulse) in zip(batch, frames, own, strict=True):
            for other in before:
                pulse = replace(pulse, strays=(*other.strays, *pulse.strays))
            if command != frame.RUN | frame.ANSWER or len(payload) < frame.RUN_ANSWER.size:
                raise DeviceError(Failure(Reason.PROTOCOL, f"unexpected answer {command:#x}"))
            code, length, found, over, stack, heap, ticks = frame.RUN_ANSWER.unpack_from(payload)
            if not found & frame.PULSE:
                text = "foreign-trigger: a call changed the trigger pin, so its pulse is not the harness's"
                raise DeviceError(Failure(Reason.FAULT, text))
            if not found & frame.ALIKE:  # the call is repeated to take its time
                raise DeviceError(
                    Failure(Reason.WRONG_OUTPUT, "equal calls, repeated to take their time, give different answers")
                )
            if found & frame.CHANGED and self.hello.api == API_BLOCK:
                raise DeviceError(Failure(Reason.STRAY_WRITE, "changes its context, which other calls need as it is"))
            output, intact, filled = payload[frame.RUN_ANSWER.size :], bool(found & frame.INTACT), frame.fill(request)
            heap, full = frame.heap(heap, self.hello.capacity)
            answers.append(CallResult(code, length, intact, over, stack, heap, output, pulse, ticks, filled, full))
        return answers


#: what a simulator says of one call; of all together it says how long they took
_ENDLESS = "no end after"
#: how calls fail that go on with a block of heap that an earlier one asked for
_OF_LOST_BLOCKS = ANSWERED_WRONGLY | {Reason.STRAY_WRITE, Reason.BUFFER_OVERRUN, Reason.FAULT}
#: how calls end that use a block which they did not get
_UNFINISHED = (Reason.FAULT, Reason.RUNAWAY, Reason.STRAY_WRITE)
_LOST_BLOCKS = (
    "an earlier call asked for heap and a later one did not: if it uses the earlier one's block, that is gone, for the "
    "harness empties the heap before each call (docs/packages.md)"
)


def _in_front(hello: Hello, request: Request, stray: Stray) -> str:
    """What a call writes right in front of its output, where alignment leaves bytes that are nobody's (``place`` in
    harness/main.c); empty where it writes into its input alone."""
    offset, out_offset = request.misaligned
    between = -(offset + len(request.data)) % 8 + out_offset
    beyond = stray.past + stray.span + hello.room(request.op, len(request.data)) + between
    return f"writes {counted(min(stray.count, beyond), 'byte')} in front of its output buffer" if beyond > 0 else ""


def _not_to_be_written(hello: Hello, op: Op, stray: Stray) -> str:
    """What a block cipher's call does to an input, or to a key that it was not given; empty where it does neither."""
    if stray.area == "nonce" and op.is_schedule:  # a context that it was not given, before its own
        return f"writes {counted(stray.count, 'byte')} in front of its context, the place of another one"
    if stray.area == "nonce":
        what = "changes its context, or bytes right after it" if stray.changed else "writes into its input: context"
        return f"{what}, which other calls need as it is"
    if stray.area == "key" and not op.is_schedule:
        return f"writes {counted(stray.count, 'byte')} in front of its context, the place of a key that is not its"
    # of the first FELICS's functions, of which decryption's schedule goes on, keys are not const
    if stray.area == "message" or (stray.area == "key" and not hello.continues):
        name = "key" if op.is_schedule else "input"
        what = f"changes its {name}, or bytes right after it" if stray.changed else f"writes into its {name}"
        return f"{what}, which the caller needs as it is"
    return ""
