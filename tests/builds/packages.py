"""The toy as files of a package, for tests of builds."""

from __future__ import annotations

from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.target import Target
from tests import toys
from tests.conftest import Bench

GOOD = toys.files()
CODE = GOOD["encrypt.c"]
#: a cipher that cannot do without its permutation
NEEDS = GOOD | {"encrypt.c": toys.source(top="extern void perm(void);", in_encrypt="perm();")}


def works(bench: Bench, package: Implementation, target: Target, *flags: str) -> None:
    """The image gives the toy's answers."""
    key, npub = bytes(range(16)), bytes(range(50, 66))
    answer = bench.client(package, target, *flags).call(Request(Op.ENCRYPT, key, npub, b"data", b"message"))
    assert answer.output == toys.encrypt(key, npub, b"message", b"data")
