"""Asks a second, bundled implementation of a variant for its answers. It runs on the simulated device of the same
target; for a machine, and where it does not fit, on the simulated target with the most RAM."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from . import building, device, sources
from .model.call import API_BLOCK, Caller, DeviceError, Op, Reference, Request
from .model.implementation import Implementation
from .model.paths import CIPHERS
from .model.target import Target, load_target, target_names
from .verify.block import made_all
from .verify.known import readings

#: outputs by the reference's digest and the call. An algorithm gives the same answer on every target, so one answer
#: serves all
_answers: dict[tuple[str, Request], bytes] = {}


def reference(implementation: Implementation, target: Target) -> Reference | None:
    """A function that asks bundled implementations of the same variant with other sources: on the target's simulated
    chip, and what these cannot answer there, as where none fits, on the chip with the most RAM. None where there is
    none, or no target that can run one."""
    places = [target.but(device="simulator")] if target.is_chip else []
    largest = _largest()
    places += [largest] if largest is not None and largest.name not in {p.name for p in places} else []
    if not places or not candidates(implementation):
        return None
    started: dict[tuple[str, str], tuple[str, Caller] | None] = {}

    def ask(choice: str, requests: Sequence[Request]) -> Sequence[bytes | None]:
        found = candidates(implementation, choice)

        def known() -> list[bytes | None]:
            answers = ((_answers.get((c.digest, r)) for c in found) for r in requests)
            return [next((a for a in of if a is not None), None) for of in answers]

        for place in places:
            lacking = [r for r, answer in zip(requests, known(), strict=True) if answer is None]
            if not lacking:
                break
            key = (choice, place.name)
            if key not in started:
                started[key] = next(filter(None, (_started(c, place) for c in found)), None)
            if (one := started[key]) is not None:
                digest, client = one
                _call(client, digest, lacking)
        return known()

    return ask


def candidates(implementation: Implementation, choice: str = "") -> list[Implementation]:
    """Bundled implementations of the variant with other sources: ``ref`` first, and last those of single machines,
    which most targets cannot build. Where ``choice`` is given, only those of this reading of the specification."""
    found = readings(implementation.primitive, implementation.variant)
    names = {implementation.variant, *(k.variant for k in found)}
    several = [i for name in sorted(names) for i in bundled(implementation.primitive, name)]
    several = [i for i in several if i.digest != implementation.digest and i.interface == "nist"]
    if choice and any(k.choice == "fixed" for k in found):  # a folder ``submitted`` keeps the mistake of a submission
        several = [i for i in several if (i.name == "submitted") == (choice != "fixed")]
    return sorted(several, key=lambda i: (i.name != "ref", bool(i.architectures), i.name))


@cache
def _largest() -> Target | None:
    """The simulated target with the most RAM whose compiler is installed. Answers are the same on all targets."""
    simulated = (t for n in target_names() if (t := load_target(n)).device == "simulator")
    by_ram = sorted(simulated, key=lambda t: -t.chip.ram.size)
    return next((t for t in by_ram if building.identify(t.toolchain) is not None), None)


@cache
def bundled(primitive: str, variant: str) -> tuple[Implementation, ...]:
    """The bundled implementations of a variant, none of a name that no file can have."""
    folders = sorted(f for f in CIPHERS.glob(f"{primitive}/*/*/") if f.name == variant)
    return tuple(i for f in folders for i in sources.discover(f).implementations if i.primitive == primitive)


def _started(candidate: Implementation, target: Target) -> tuple[str, Caller] | None:
    """The digest of ``candidate``, and a client that runs it; None where it does not build for this target."""
    with suppress(DeviceError):
        return candidate.digest, device.simulated(target, building.built(candidate, target).images["both"])
    return None


def _call(client: Caller, digest: str, requests: Sequence[Request]) -> None:
    """Puts outputs into ``_answers``: of a block cipher all at once, of others those to the shortest inputs first, so
    that the stack depth is known before inputs fill the RAM."""
    todo = [r for r in sorted(requests, key=lambda r: len(r.data) + len(r.ad)) if (digest, r) not in _answers]
    with suppress(DeviceError):
        if client.hello.api == API_BLOCK:
            answers = made_all(client, Op.ENCRYPT, [(r.key, r.data) for r in todo])
            _answers.update({(digest, r): a.output for r, a in zip(todo, answers, strict=True) if a.code == 0})
            return
        for r in todo:
            if client.fits(r.op, len(r.data), len(r.ad)):
                answer = client.call(r)
                if answer.code == 0:
                    _answers[digest, r] = answer.output
