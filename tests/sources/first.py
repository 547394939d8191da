"""First calls after a start, of each kernel and of packages: they begin with empty caches and predictors, which
rounds of a kernel that are subtracted from each other do not show."""

from __future__ import annotations

import hashlib
from pathlib import Path

from steelyard import building, device
from steelyard.cli.select import bundled
from steelyard.model.call import DeviceError, Op
from steelyard.model.elf import segments
from steelyard.model.implementation import Implementation
from steelyard.model.target import Target
from steelyard.sources.kernels import kernels_of, message, package

#: packages that have most rules of a model in their code, and bytes of their message
PACKAGES, BYTES = ("aes128gcm/ref", "asconaead128/fast", "tinyjambu128v2/small"), 64
#: rounds of a kernel: few, so that the first is a large part
ROUNDS = 5


def first_calls(target: Target, folder: Path) -> dict[str, tuple[str, str]]:
    """Cycles, and what of the image they are of: a compiler's version and a digest. What has no room is left out."""
    compiler = building.identify(target.toolchain)
    assert compiler
    found = {}

    def take(name: str, image: Path, op: Op, data: bytes) -> None:
        client = device.simulated(target, image, 1 << 26)
        cycles = client.call(client.hello.zeros(op, data)).pulse.cycles
        loaded = repr(segments(image.read_bytes())).encode()  # all else may have names of temporary files
        digest = hashlib.sha256(loaded).hexdigest()[:16]
        found[name] = str(cycles), f"{compiler.version} {digest}"

    of = kernels_of(target.chip.core)
    assert of
    image = _image(package(of.every, folder), target)
    for number, kernel in enumerate(of.every):
        take(kernel.name, image, Op.HASH, message(number, ROUNDS))
    for i in bundled().implementations:
        if i.primitive == "crypto_aead" and i.label in PACKAGES:
            try:
                take(i.label, _image(i, target), Op.ENCRYPT, bytes(BYTES))
            except DeviceError as e:
                if e.failure.reason not in ("stack-overflow", "ram-overflow", "rom-overflow"):
                    raise
    assert found.keys() & set(PACKAGES)
    return found


def _image(implementation: Implementation, target: Target) -> Path:
    return building.built(implementation, target).images["both"]
