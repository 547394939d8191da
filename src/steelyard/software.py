"""Asks bundled software on this machine what designs have to answer: the same variants, compiled for the host."""

from __future__ import annotations

from collections.abc import Sequence

from . import building, device
from .model.call import Op, Request
from .model.errors import UserError
from .model.implementation import Implementation, Primitive
from .model.target import Target, load_target, target_names
from .reference import bundled


class Software:
    """One bundled variant on this machine, as :class:`.rtl.vectors.Oracle` has it. Raises :class:`UserError` for a name
    that nothing bundled has, :class:`DeviceError` when it cannot be built or run."""

    binds = True

    def __init__(self, primitive: Primitive, variant: str) -> None:
        self._target = _host()
        self._image = building.built(_of(primitive, variant), self._target).images["both"]
        self._calls([])

    def _calls(self, requests: Sequence[Request]) -> list[bytes]:
        """Outputs. The program runs for these calls only: there is one at a time, whatever it is asked."""
        with device.opened(self._target, self._image, building.confined(self._image)) as link:
            client = device.Client(link)
            self.key, self.npub, self.tag = client.hello.key_bytes, client.hello.npub_bytes, client.hello.a_bytes
            return [a.output for a in client.calls(requests)]

    def encrypt(self, inputs: Sequence[tuple[bytes, bytes, bytes, bytes]]) -> list[bytes]:
        """See :meth:`.rtl.vectors.Oracle.encrypt`."""
        return self._calls([Request(Op.ENCRYPT, *i) for i in inputs])

    def hash(self, inputs: Sequence[bytes]) -> list[bytes]:
        """See :meth:`.rtl.vectors.Oracle.hash`."""
        return self._calls([Request(Op.HASH, b"", b"", b"", i) for i in inputs])


def _host() -> Target:
    """This machine."""
    return next(t for t in map(load_target, target_names()) if t.device == "process")


def _of(primitive: Primitive, variant: str) -> Implementation:
    """The bundled implementation of a variant that is asked, in plain C. Raises :class:`UserError`."""
    found = [i for i in bundled(primitive, variant) if all(f.language in ("c", "header") for f in i.files)]
    if not found:
        raise UserError(f"{variant}: no bundled {primitive} has this name; steelyard list implementations")
    return min(found, key=lambda i: (i.name != "fast", i.name != "ref", i.name))
