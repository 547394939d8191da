"""The process that samples an analyzer for all who use it: it has the instrument and ``sigrok-cli``, finds edges, and
tells everybody of them.

Who needs an instrument that nobody samples starts it (analyzer.py). It ends, and ``sigrok-cli`` with it, a while after
its last user has left, or when no samples come. Whoever does not read is cut off, and keeps nobody waiting.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Thread

import msgspec

from ..model.call import DeviceError
from . import edgewire, lock
from .config import Instrument
from .edges import Edges
from .sigrok import SHOWS, Sampling, channels, with_us

#: seconds after its last user has left, within which the next one may come
LINGER = 2.0
#: seconds of the wall between two looks at who is there, and two marks, for which restarts of boards wait
TICK = 0.02
#: seconds for the first sample, where there is less patience with later ones
START = 30.0
#: seconds for a newcomer to say what it wants, and for all to hear why it is over
HELLO, FAREWELL = 10.0, 1.0
#: users at a time, and bytes that are kept for one who does not read: some 100 000 edges
USERS, KEPT = 64, 1 << 20
#: bytes that are read at once: what ``sigrok-cli`` can be ahead
CHUNK = 1 << 16
#: channels of a sample
_BITS = 8


class InUse(Exception):
    """Another process has the instrument."""


class User:
    """A process that is connected: what it has not read yet is kept for it."""

    def __init__(self, where: socket.socket) -> None:
        self.where, self.since = where, time.monotonic()
        self.said = b""
        #: it was told that it gets what it wants; all is over for it; it has left
        self.welcome = self.over = self.gone = False
        self._kept, self._marked = bytearray(), False
        #: bytes until what was sent ends with a whole word
        self._torn = 0

    def answer(self, answer: edgewire.Answer) -> None:
        """Answers what it said."""
        self._kept += edgewire.line(answer)
        self._torn = len(self._kept)
        self.welcome, self.over = not answer.refused and not answer.again, bool(answer.refused or answer.again)
        self.flush()

    def tell(self, words: bytes | bytearray, mark: bool = False) -> None:
        """Tells it of edges, or with ``mark`` how many samples there are; only the newest mark is kept."""
        if not self.welcome or self.over:
            return
        if self._marked and len(self._kept) - self._torn >= edgewire.WORD.size:
            del self._kept[-edgewire.WORD.size :]
        self._kept += words
        self._marked = mark
        self.flush()
        if len(self._kept) > KEPT:
            self.end(f"this process was cut off, because it did not read {len(self._kept)} bytes of edges")

    def end(self, why: str, again: bool = False) -> None:
        """Tells it why all is over, after what it has not read yet, or in the place of that if it is too much."""
        if not self.welcome and not self.over:
            self.answer(edgewire.Answer(again=True) if again else edgewire.Answer(refused=why))
        elif not self.over:
            if len(self._kept) > KEPT:
                del self._kept[self._torn :]
            self._kept += edgewire.last(why)
            self.over = True

    def flush(self) -> bool:
        """Sends what can be sent; whether that was all."""
        try:
            sent = self.where.send(self._kept) if self._kept else 0
        except BlockingIOError:
            return False
        except OSError:
            self.gone = True
            return True
        del self._kept[:sent]
        self._torn = self._torn - sent if sent <= self._torn else -(sent - self._torn) % edgewire.WORD.size
        return not self._kept


class Daemon:
    """Samples ``instrument`` until no sample came for ``patience`` seconds, or for ``linger`` seconds nobody was there;
    for ever where that is None. It listens where the locks are, and at ``address`` if there is one.

    :class:`InUse` when another process has the instrument, :class:`OSError` and :class:`DeviceError` where it cannot
    be had.
    """

    def __init__(
        self,
        instrument: Instrument,
        patience: float,
        linger: float | None = LINGER,
        address: tuple[str, int] | None = None,
    ) -> None:
        self._instrument, self._patience, self._linger = instrument, patience, linger
        self._levels = 0
        self._users: dict[socket.socket, User] = {}
        self._events = DefaultSelector()
        self._doors: list[socket.socket] = []
        #: why it is over, and whether those who have just come may have another process
        self._why, self._again = "", False
        what = lock.what_of(instrument)
        self._place = lock.door(what)
        held = lock.taken(what, f"instrument {instrument.name}")
        if held is None:
            raise InUse
        self._lock = held
        try:
            self._doors.append(_local(self._place))
            if address is not None:
                self._doors.append(_distant(address))
            rate = ("--config", f"samplerate={instrument.samplerate}")
            output = ("--output-format", "binary")
            try:
                first, bits = _placed(instrument.channels, channels(instrument.driver))
                self._edges = Edges(bits)
                self._sampling = Sampling(instrument.driver, first, *rate, *output, begin=with_us())
            except FileNotFoundError:
                raise OSError("sigrok-cli is not installed: apt install sigrok-cli") from None
            except subprocess.TimeoutExpired:
                raise OSError(f"sigrok-cli does not say in {SHOWS:g} s which channels there are") from None
        except BaseException:
            self._close()
            raise
        self._file = self._sampling.output.fileno()
        self._events.register(self._file, EVENT_READ)
        for door in self._doors:
            self._events.register(door, EVENT_READ)
        self._looked = self._came = self._left = time.monotonic()

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Host and port of those that listen to other machines."""
        return [d.getsockname()[:2] for d in self._doors if d.family != socket.AF_UNIX]

    def serve(self) -> str:
        """Goes on until it is over; why it is."""
        try:
            while not self._why:
                for key, _ in self._events.select(TICK):
                    self._happened(key.fileobj)
                if time.monotonic() >= self._looked + TICK:
                    self._look(time.monotonic())
        except Exception as e:
            self._why = f"the process that samples it failed: {type(e).__name__}: {e}"
        finally:
            self._end(self._why or "the process that samples it was ended")
        return self._why

    def join(self, where: socket.socket) -> None:
        """Somebody is there, at this end of whose socket we are."""
        where.setblocking(False)
        self._users[where] = User(where)
        self._events.register(where, EVENT_READ)

    def _happened(self, where: object) -> None:
        if where == self._file:
            self._sample()
        elif isinstance(where, socket.socket) and where in self._doors:
            self._open(where)
        elif isinstance(where, socket.socket) and where in self._users:
            self._listen(self._users[where])

    def _open(self, door: socket.socket) -> None:
        try:
            where, _ = door.accept()
        except OSError:  # it is gone again, or there are too many files
            return
        if len(self._users) >= USERS or (door.family == socket.AF_UNIX and lock.owner(where)[1] != os.getuid()):
            refusal = edgewire.Answer(refused=f"{USERS} connections, of its own user, are the most")
            with where, suppress(OSError):
                where.send(edgewire.line(refusal))
            return
        if door.family != socket.AF_UNIX:
            where.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            where.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.join(where)

    def _listen(self, user: User) -> None:
        """It says what it wants, once; else it leaves."""
        try:
            data = user.where.recv(edgewire.LINE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        user.said += data
        if not data or user.welcome or user.over or len(user.said) > edgewire.LINE:
            self._leaves(user)
        elif user.said.endswith(b"\n"):
            self._greet(user)

    def _greet(self, user: User) -> None:
        mine = edgewire.asked(self._instrument)
        try:
            differs = edgewire.differs(edgewire.understood(user.said, edgewire.Asked), mine)
        except ValueError as e:
            return user.answer(edgewire.Answer(refused=str(e)))
        if not differs:
            return user.answer(edgewire.Answer(pid=os.getpid(), count=self._edges.count, levels=self._levels))
        if self._linger is not None and not any(u.welcome for u in self._users.values()):
            self._why, self._again = "another way to sample it was asked for", True
            return user.answer(edgewire.Answer(again=True))
        text = f"another Steelyard (process {os.getpid()}) samples it, whose {differs}"
        text += ": write the same into both lab.toml, or wait until it has ended"
        return user.answer(edgewire.Answer(refused=text))

    def _sample(self) -> None:
        data = os.read(self._file, CHUNK)
        if not data:
            self._events.unregister(self._file)
            self._why = self._sampling.end()
            return
        words = bytearray()
        for at, levels in self._edges.feed(data):
            words += edgewire.WORD.pack(at, levels)
            self._levels = levels
        for user in self._users.values() if words else ():
            user.tell(words)
        self._came = time.monotonic()

    def _look(self, now: float) -> None:
        """Marks how late it is, and looks who is there."""
        self._looked = now
        patience = self._patience if self._edges.count else max(self._patience, START)
        if now - self._came > patience:
            self._why = f"no sample for {patience:g} s"
        mark = edgewire.WORD.pack(self._edges.count, edgewire.MARK)
        for user in list(self._users.values()):
            user.tell(mark, mark=True)
            if user.gone or (user.flush() and user.over) or (not user.welcome and now - user.since > HELLO):
                self._leaves(user)
        if any(not u.over for u in self._users.values()):
            self._left = now
        elif self._linger is not None and now - self._left > self._linger:
            self._why, self._again = "nobody was there any more", True

    def _leaves(self, user: User) -> None:
        self._events.unregister(user.where)
        del self._users[user.where]
        user.where.close()

    def _end(self, why: str) -> None:
        """Tells everybody, ends ``sigrok-cli``, and lets go of the instrument."""
        users = list(self._users.values())
        for user in users:
            user.end(why, self._again)
        end = time.monotonic() + FAREWELL
        while [u for u in users if not u.flush()] and time.monotonic() < end:
            time.sleep(TICK / 10)
        for user in users:
            user.where.close()
        rest = Thread(target=_drained, args=(self._file,), daemon=True)
        rest.start()
        self._sampling.interrupt()
        rest.join(1)
        self._sampling.close()
        self._close()

    def _close(self) -> None:
        if self._doors:
            self._place.unlink(missing_ok=True)
        for door in self._doors:
            door.close()
        self._events.close()
        self._lock.close()


def _placed(names: Sequence[str], device: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """The channels of a device to be sampled for these ``names``, and the bit of each name in a sample. Some drivers
    leave out the bits of channels that are not sampled and some do not: without gaps that is the same. :class:`OSError`
    where a name has no bit."""
    for name in names:
        if name not in device[:_BITS]:
            text = f"there is no channel {name}" if name not in device else f"{name} is not one of the first {_BITS}"
            raise OSError(f"{text}: write some of {', '.join(device[:_BITS])} into its channels in lab.toml")
    bits = [device.index(name) for name in names]
    return tuple(device[: max(bits) + 1]), bits


def _local(place: Path) -> socket.socket:
    """Listens to processes of this user."""
    place.unlink(missing_ok=True)  # whoever had it has ended, because the lock is ours
    made = socket.socket(socket.AF_UNIX)
    try:
        before = os.umask(0o177)
        try:
            made.bind(str(place))
        finally:
            os.umask(before)
        made.listen()
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def reaches_only_this_machine(address: tuple[str, int]) -> bool:
    """Whether nobody from outside comes in there; False where the name leads nowhere."""
    with suppress(OSError):
        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
        return all(ip_address(str(where[0]).partition("%")[0]).is_loopback for *_, where in found)
    return False


def _distant(address: tuple[str, int]) -> socket.socket:
    """Listens to whoever can reach it."""
    family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
    made = socket.create_server(address, family=family)
    made.setblocking(False)
    return made


def _drained(file: int) -> None:
    with suppress(OSError):
        while os.read(file, CHUNK):
            pass


def main() -> None:
    """The process that another one starts, which needs an instrument. Its arguments: the instrument, the number of the
    file at whose other end the other one is, and the seconds that it has patience."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    starter = socket.socket(fileno=int(sys.argv[2]))
    try:
        daemon = Daemon(msgspec.json.decode(sys.argv[1], type=Instrument), float(sys.argv[3]))
    except InUse:
        starter.sendall(edgewire.line(edgewire.Answer(again=True)))
    except (DeviceError, OSError) as e:
        starter.sendall(edgewire.line(edgewire.Answer(refused=str(e))))
    else:
        daemon.join(starter)
        daemon.serve()


if __name__ == "__main__":
    main()
