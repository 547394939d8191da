"""What a second implementation of a variant answers: a bundled one, on the simulated device of the same target, or of
the one with most RAM where the target is a machine."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from . import build, device, sources
from .model.call import Caller, DeviceError, Reference, Request
from .model.implementation import Implementation
from .model.paths import CIPHERS
from .model.target import Target, load_target, target_names
from .verify.known import known

#: outputs by the reference's digest and the call: an algorithm answers alike on every target, so that the first that
#: holds the call is asked for all
_answers: dict[tuple[str, Request], bytes] = {}


def reference(implementation: Implementation, target: Target) -> Reference | None:
    """What bundled implementations of the same variant with other sources answer; None where there is none, or nothing
    that could run it."""
    simulated = target if target.device == "simulator" else _largest()
    if simulated is None or not candidates(implementation):
        return None
    started: dict[str, tuple[str, Caller] | None] = {}

    def ask(choice: str, requests: Sequence[Request]) -> Sequence[bytes | None]:
        found = candidates(implementation, choice)
        for candidate in found:
            answers = [_answers.get((candidate.digest, r)) for r in requests]
            if None not in answers:
                return answers
        if choice not in started:
            started[choice] = next(filter(None, (_started(c, simulated) for c in found)), None)
        if (one := started[choice]) is None:
            return [None] * len(requests)
        digest, client = one
        _call(client, digest, requests)
        return [_answers.get((digest, r)) for r in requests]

    return ask


def candidates(implementation: Implementation, choice: str = "") -> list[Implementation]:
    """Bundled implementations of the variant with other sources, ``ref`` first; those that read the specification as
    ``choice`` says, where it is given."""
    rows = known(implementation.primitive, implementation.variant)
    names = {implementation.variant, *(k.variant for k in rows)}
    found = [i for name in sorted(names) for i in _bundled(implementation.primitive, name)]
    found = [i for i in found if i.digest != implementation.digest and i.interface == "nist"]
    if choice and any(k.choice == "fixed" for k in rows):  # the folder of a mistake that was submitted is named so
        found = [i for i in found if (i.name == "submitted") == (choice != "fixed")]
    return sorted(found, key=lambda i: (i.name != "ref", i.name))


@cache
def _largest() -> Target | None:
    """The simulated target with most RAM whose compiler is here: answers are the same on all."""
    simulated = (t for n in target_names() if (t := load_target(n)).device == "simulator")
    by_ram = sorted(simulated, key=lambda t: -t.chip.ram.size)
    return next((t for t in by_ram if build.identify(t.toolchain) is not None), None)


@cache
def _bundled(primitive: str, variant: str) -> tuple[Implementation, ...]:
    folders = sorted(CIPHERS.glob(f"{primitive}/*/{variant}/"))
    return tuple(i for f in folders for i in sources.discover(f).implementations if i.primitive == primitive)


def _started(candidate: Implementation, target: Target) -> tuple[str, Caller] | None:
    """Its digest, and it on a device of its own; None where it does not build for this target."""
    toolchain = build.identify(target.toolchain)
    if toolchain is None:
        return None
    built = build.build(candidate, target, toolchain, target.toolchain.default_flags)
    if built.failure is not None:
        return None
    with suppress(DeviceError):
        return candidate.digest, device.simulated(target, built.images["both"])
    return None


def _call(client: Caller, digest: str, requests: Sequence[Request]) -> None:
    """Puts outputs into ``_answers``; those of the shortest inputs first, so that the stack is known before they fill
    the RAM."""
    with suppress(DeviceError):
        for r in sorted(requests, key=lambda r: len(r.data) + len(r.ad)):
            if (digest, r) not in _answers and client.fits(r.op, len(r.data), len(r.ad)):
                answer = client.call(r)
                if answer.code == 0:
                    _answers[digest, r] = answer.output
