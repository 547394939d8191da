"""Stage four: verifies known answers, fresh inputs, decryption and forgeries on the image that is measured.
Block ciphers, whose calls are others, have a verifier of their own."""

from .block import (
    BlockVerifier,
    block_parts,
    blocks_once_more,
    fresh_blocks,
    known_blocks_answers,
    made,
    promised,
    room_for_blocks,
)
from .calls import Verifier
from .check import known_answers, known_once_more, second_set, unaligned
from .expected import Mismatch, expected, is_known, same_sizes
from .fresh import SAMPLE, again, cut_short, forge, once_more, sweep
from .growth import look_at_growth
from .knownblock import known_block
from .many import many_keys
from .parts import parts
from .reuse import reused
from .warm import warm_blocks

__all__ = [
    "SAMPLE",
    "BlockVerifier",
    "Mismatch",
    "Verifier",
    "again",
    "block_parts",
    "blocks_once_more",
    "cut_short",
    "expected",
    "forge",
    "fresh_blocks",
    "is_known",
    "known_answers",
    "known_block",
    "known_blocks_answers",
    "known_once_more",
    "look_at_growth",
    "made",
    "many_keys",
    "once_more",
    "parts",
    "promised",
    "reused",
    "room_for_blocks",
    "same_sizes",
    "second_set",
    "sweep",
    "unaligned",
    "warm_blocks",
]
