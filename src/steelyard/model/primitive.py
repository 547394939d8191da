"""What the primitives differ in, as a table: their operations, and whether their calls have sizes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from .call import Op
from .record import Operation


class Offer(Struct, frozen=True):
    """What a primitive offers: ``operations`` by name, as the harness calls them, the one that tables and figures are
    about first. A ``sized`` one is called with inputs of the workload's sizes, another with its only size. It takes
    ``ad``, associated data or a customization string, or not. ``own`` are the sizes that ``api.h`` fixes, by what they
    are of, named there ``CRYPTO_<name>BYTES``."""

    operations: Mapping[Operation, Op]
    own: Mapping[str, str]
    sized: bool = True
    ad: bool = False

    @property
    def first(self) -> Operation:
        """The name of the first operation."""
        return next(iter(self.operations))

    def named(self, metric: str) -> str:
        """The name that a metric of encryption has here: a hash has another operation."""
        return metric if "encrypt" in self.operations else metric.replace("encrypt", self.first)


_HASH = Offer({"hash": Op.HASH}, {"digest": ""})
PRIMITIVES: Mapping[str, Offer] = {
    "crypto_aead": Offer(
        {"encrypt": Op.ENCRYPT, "decrypt": Op.DECRYPT, "reject": Op.DECRYPT},
        {"key": "KEY", "nonce": "NPUB", "tag": "A"},
        ad=True,
    ),
    "crypto_hash": _HASH,
    "crypto_cxof": Offer(_HASH.operations, _HASH.own, ad=True),
    "crypto_block": Offer(
        {
            "encrypt": Op.ENCRYPT,
            "decrypt": Op.DECRYPT,
            "schedule_encrypt": Op.SCHEDULE_ENCRYPT,
            "schedule_decrypt": Op.SCHEDULE_DECRYPT,
        },
        {"key": "KEY", "block": "BLOCK", "context": "CONTEXT"},
        sized=False,
    ),
    "lwc_rtl": Offer({"encrypt": Op.ENCRYPT, "decrypt": Op.DECRYPT, "hash": Op.HASH}, {}, ad=True),
}


def cycles_of(primitive: str) -> str:
    """The metric by which implementations of a primitive are fast: ``cycles_encrypt_mean``; of block ciphers cycles per
    byte, for their blocks are of several sizes, and of hardware the time of 1536 bytes."""
    if other := {"crypto_block": "encrypt_per_byte", "lwc_rtl": "latency_pt_1536"}.get(primitive):
        return other
    return f"cycles_{PRIMITIVES[primitive].first}_mean"
