"""The way to an agent at another machine, over ssh: how it is started, greeted, asked and ended."""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
import tempfile
import time
from contextlib import suppress
from threading import Event
from typing import TypeVar

from .. import __version__
from ..device import ssh
from ..model.call import DeviceError
from ..model.errors import cut, printable
from ..model.reasons import Failure, Reason
from . import wire
from .attempt import Attempt
from .config import Host

#: seconds for the greeting, and bytes that a login shell may print before it
GREETING, NOISE = 60.0, 1 << 20
#: bytes of what the other end says last that are looked at, and of all that it may say: it fills no disk
LAST, ALL = 4096, 16 << 20
#: seconds for an agent to end
END = 10.0
#: exit codes of a shell that does not find a command, or may not run it
_NO_COMMAND = (126, 127)
_GREETING = re.compile(rb"^" + re.escape(wire.MARK.encode()) + rb"([^\n]*)\n", re.MULTILINE)
M = TypeVar("M", bound=wire.Message)


def error(failure: Failure) -> DeviceError:
    """A failure there, with a text that can be shown."""
    return DeviceError(Failure(failure.reason, cut(printable(failure.detail), 1000)))


class Connection:
    """An agent at another machine. :class:`DeviceError` when there is none, :class:`KeyboardInterrupt` when ``over`` is
    set before it greets."""

    def __init__(self, host: Host, over: Event) -> None:
        self._host = host
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        script = f"cd {shlex.quote(host.folder)} && exec {host.command} boards agent"
        command = ("ssh", *ssh.OPTIONS, host.ssh, ssh.running(script))
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us, and the agent ends with the connection
            )
        except OSError as e:
            self._log.close()
            why = ssh.NOT_INSTALLED if isinstance(e, FileNotFoundError) else f"ssh: {e.strerror}"
            raise self._away(why) from None
        with suppress(OSError):  # it has ended already
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (ALL, ALL))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._sink, self._source = self._process.stdin, self._process.stdout
        try:
            came = self._greeted(over)
        except BaseException:
            self._ended(0.0)
            raise
        self._channel = wire.Channel(self._source.fileno(), self._sink.fileno(), wire.Said, came)

    @property
    def alive(self) -> bool:
        """Whether the agent is still there, as far as anybody has seen."""
        return not self._channel.ended.is_set()

    def say(self, question: wire.Message, over: Event | None = None, mine: Attempt | None = None) -> wire.Message:
        """What the agent answers. :class:`DeviceError` when it fails, or is not there any more; what it does meanwhile
        becomes a step of the attempt that is ``mine``."""
        try:
            self._channel.put(question)
            while isinstance(answer := self._channel.get(over), wire.Beat):
                if mine is not None:
                    mine.step(printable(answer.step))
        except wire.Gone as e:
            raise self._lost(self._why(e)) from None
        match answer:
            case wire.Failed(failure):
                raise error(failure)
            case wire.Refused(text):
                self._channel.close()
                raise self._lost(cut(printable(text), 1000))
        return answer

    def ask(self, question: wire.Message, kind: type[M], over: Event | None = None, mine: Attempt | None = None) -> M:
        """The same where the answer is of a ``kind``."""
        answer = self.say(question, over, mine)
        if not isinstance(answer, kind):
            self._channel.close()
            raise self._lost(f"{type(answer).__name__} is not an answer to {type(question).__name__}")
        return answer

    def _why(self, gone: wire.Gone) -> str:
        """Why the agent is not there any more: what ssh or it said last, if anything."""
        if not isinstance(gone, wire.HungUp):
            return str(gone)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code, last = self._process.poll(), self._last()
        if not code or (code == ssh.NO_CONNECTION and not last):
            return str(gone)
        who = "the connection" if code == ssh.NO_CONNECTION else "the agent"
        return f"{who} ended: {last or f'exit code {code}'}"

    def _greeted(self, over: Event) -> bytes:
        """Waits for the greeting, past whatever a login shell prints; what came after it."""
        came, end = bytearray(), time.monotonic() + GREETING
        while not (found := _GREETING.search(came)):
            if len(came) > NOISE:
                raise self._away("its shell prints too much")
            piece = b""
            while (left := end - time.monotonic()) > 0:
                if over.is_set():
                    raise KeyboardInterrupt
                if wire.there(self._source.fileno(), min(left, wire.LOOK)):
                    piece = os.read(self._source.fileno(), NOISE)
                    break
            if not piece:
                raise self._away(self._no_greeting(end))
            came += piece
        version = printable(found[1].decode(errors="replace"))
        if version != __version__:
            text = f"has Steelyard {cut(version)}, and here is {__version__}; install the same at both"
            raise self._away(text)
        return bytes(came[found.end() :])

    def _no_greeting(self, end: float) -> str:
        if time.monotonic() > end:
            return f"did not answer in {GREETING:g} s"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END)
        code, last = self._process.poll(), self._last()
        if code == ssh.NO_CONNECTION:
            return f"no connection: {last}"
        if code in _NO_COMMAND:
            install = f"clone version {__version__} there, make setup, and write its command into hosts in lab.toml"
            return f"no Steelyard: {last}; {install}"
        return f"no agent: {last or f'exit code {code}'}; {__version__} is here: install the same there"

    def _last(self) -> str:
        file = self._log.fileno()  # whose position is ssh's
        said = os.pread(file, LAST, max(os.fstat(file).st_size - LAST, 0))
        lines = said.decode(errors="replace").strip().splitlines()
        return cut(printable(lines[-1]), 300) if lines else ""

    def _away(self, text: str) -> DeviceError:
        return DeviceError(Failure(Reason.UNREACHABLE, f"{self._host.name}: {text}"))

    def _lost(self, text: str) -> DeviceError:
        return DeviceError(Failure(Reason.BOARD_LOST, f"{self._host.name}: {text}"))

    def close(self) -> None:
        """Ends the agent, and with it its hold of the board."""
        self._channel.close()
        self._ended(END)

    def _ended(self, patience: float) -> None:
        self._sink.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._source.close()
        self._log.close()
