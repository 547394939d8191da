"""The digest table: whole, and in step with the bundled implementations."""

from __future__ import annotations

from steelyard.model import paths
from steelyard.sources import discover
from steelyard.verify.known import EXT_CHECK, KAT_CHECK, _table, known


def test_every_row_is_whole() -> None:
    rows = {id(k): k for readings in _table().values() for k in readings}.values()
    assert len(rows) > 100
    for k in rows:
        assert len(k.kat_checks) == KAT_CHECK * len(k.kat()), k.variant
        assert len(k.ext_checks) == EXT_CHECK * len(k.ext()), k.variant
        assert bool(k.ext_label) == bool(k.ext_lengths), k.variant
        assert len(bytes.fromhex(k.sha256)) == 32, k.variant
    for (primitive, _), readings in _table().items():
        assert {k.primitive for k in readings} == {primitive}
        assert len({(k.key, k.npub, k.out) for k in readings}) == 1
        assert len({k.choice for k in readings}) == len(readings)


def test_every_bundled_variant_is_known() -> None:
    found = discover(paths.CIPHERS).implementations
    assert len(found) > 20
    assert {i.label for i in found if not known(i.primitive, i.variant)} == set()


def test_the_second_set_cannot_be_answered_with_key_and_nonce_swapped() -> None:
    (k,) = known("crypto_aead", "ascon128v12")
    assert all(v.key == v.npub for v in k.kat())
    assert all(v.key != v.npub for v in k.ext())
    assert max(len(v.message) for v in k.ext()) > 1000
