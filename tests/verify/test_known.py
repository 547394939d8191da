"""The digest table: whole, and in step with the bundled implementations."""

from __future__ import annotations

from steelyard.model import paths
from steelyard.sources import discover
from steelyard.verify import known_block
from steelyard.verify.known import EXT_CHECK, KAT_CHECK, _variants, readings


def test_every_row_is_whole() -> None:
    rows = {id(k): k for found in _variants().values() for k in found}.values()
    assert len(rows) > 100
    for k in rows:
        assert len(k.kat_checks) == KAT_CHECK * len(k.kat()), k.variant
        assert len(k.ext_checks) == EXT_CHECK * len(k.ext()), k.variant
        assert bool(k.ext_label) == bool(k.ext_lengths), k.variant
        assert len(bytes.fromhex(k.sha256)) == 32, k.variant
    for (primitive, _), found in _variants().items():
        assert {k.primitive for k in found} == {primitive}
        assert len({(k.key, k.npub, k.out) for k in found}) == 1
        assert len({k.choice for k in found}) == len(found)


def test_every_bundled_variant_is_known() -> None:
    found = discover(paths.CIPHERS).implementations
    assert len(found) > 20
    assert {i.label for i in found if not (readings(i.primitive, i.variant) or known_block(i.variant))} == set()


def test_the_second_set_cannot_be_answered_with_key_and_nonce_swapped() -> None:
    (k,) = readings("crypto_aead", "ascon128v12")
    assert all(v.key == v.npub for v in k.kat())
    assert all(v.key != v.npub for v in k.ext())
    assert max(len(v.message) for v in k.ext()) > 1000
