"""Stage four: verifies known answers, fresh inputs, decryption and forgeries on the image that is measured.
Block ciphers, whose calls are others, have a verifier of their own."""

from .block import (
    BlockVerifier,
    block_parts,
    fresh_blocks,
    known_blocks_answers,
    made,
    promised,
    reused,
    room_for_blocks,
)
from .calls import Verifier
from .check import known_answers, second_set, unaligned
from .expected import Mismatch, expected
from .fresh import again, cut_short, forge, once_more, sweep
from .knownblock import known_block
from .parts import parts
from .warm import warm_blocks

__all__ = [
    "BlockVerifier",
    "Mismatch",
    "Verifier",
    "again",
    "block_parts",
    "cut_short",
    "expected",
    "forge",
    "fresh_blocks",
    "known_answers",
    "known_block",
    "known_blocks_answers",
    "made",
    "once_more",
    "parts",
    "promised",
    "reused",
    "room_for_blocks",
    "second_set",
    "sweep",
    "unaligned",
    "warm_blocks",
]
