"""What a package is checked against: lengths of its ciphertexts, KAT file, variant."""

from __future__ import annotations

import re

import pytest

from steelyard.measure import why_not
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.model.workload import workload
from steelyard.verify.expected import Expected
from steelyard.verify.known import readings
from steelyard.verify.vectors import counting
from tests import toys
from tests.conftest import ROOT, Bench

AEAD = ROOT / "ciphers/crypto_aead"
KAT = "LWC_AEAD_KAT_128_128.txt"
#: CAESAR's API: a tag of 8 bytes where api.h says at most 12
ROOMY = toys.API.replace("ABYTES 8", "ABYTES 12")


def caesar(**hooks: str) -> dict[str, str]:
    """The toy with CRYPTO_ABYTES larger than its tag."""
    files = {name: text.replace("CRYPTO_ABYTES", "8") for name, text in toys.files(**hooks).items()}
    return {**files, "api.h": ROOMY}


@pytest.mark.parametrize("kat", [True, False])
def test_a_ciphertext_may_be_shorter_than_message_and_abytes(bench: Bench, target: Target, kat: bool) -> None:
    files = caesar() | ({KAT: toys.kat()} if kat else {})
    record = bench.weigh(bench.package(files), target, "0/0,16/16,0/64")
    assert record.metrics["cycles_encrypt_mean"] > 0, record.failure
    assert record.failure is None if kat else record.failure.reason is Reason.NO_EXPECTED
    assert len(record.points) == 9
    assert record.notes == ((toys.OF_ITS_SIZES,) if kat else ())


@pytest.mark.parametrize(
    ("hooks", "reason", "detail"),
    [
        (
            {"after_encrypt": "if (k[0] & 1) *clen += 4;"},
            Reason.WRONG_OUTPUT,
            "encrypt, fresh .*other inputs of the same",
        ),
        ({"after_encrypt": "*clen += 5;"}, Reason.KAT_MISMATCH, "encrypt, vector 1 .*says 13 bytes.*expected 1 to 12"),
        ({"after_decrypt": "wrong = 0;"}, Reason.FORGERY_ACCEPTED, r"vector \d+ .*a wrong tag was accepted"),
        ({"after_decrypt": "*mlen += 1;"}, Reason.DECRYPT_MISMATCH, "vector 1 .*says 1 bytes of message, expected 0"),
    ],
)
def test_and_still_must_be_right(
    bench: Bench, bluepill: Target, hooks: dict[str, str], reason: Reason, detail: str
) -> None:
    files = caesar(**hooks)
    record = bench.weigh(bench.package(files), bluepill)
    assert record.failure is not None
    assert record.failure.reason is reason, record.failure
    assert re.match(detail, record.failure.detail), record.failure.detail


def test_a_length_that_is_not_written_is_wrong(bench: Bench, target: Target) -> None:
    """Also that of an empty message, which nothing else would tell from one that is."""
    files = caesar()
    files["encrypt.c"] = files["encrypt.c"].replace("*mlen = n;", "if (n) *mlen = n;")
    record = bench.weigh(bench.package(files), target)
    assert record.failure is not None
    assert re.match("vector 1 .*says 251 bytes of message, expected 0", record.failure.detail), record.failure


def test_a_known_variants_ciphertext_has_its_length(bench: Bench, bluepill: Target) -> None:
    files = {p.name: p.read_text() for p in (AEAD / "tinyjambu/tinyjambu128v2/small").iterdir()}
    source = files["encrypt.c"].replace("int crypto_aead_encrypt(", "int inner(", 1)
    outer = '#include "crypto_aead.h"\n' + f"{toys.ENCRYPT.replace('crypto_aead_encrypt', 'inner')};\n{toys.ENCRYPT}\n"
    outer += "{ int r = inner(c, clen, m, mlen, ad, adlen, nsec, npub, k); *clen -= 1; return r; }\n"
    record = bench.weigh(
        bench.package({**files, "encrypt.c": source, "outer.c": outer}, variant="tinyjambu128v2"), bluepill
    )
    assert record.failure is not None
    assert re.match("encrypt, vector 1 .*says 7 bytes of output, expected 8", record.failure.detail), record.failure


def test_of_two_kat_files_the_one_whose_sizes_fit_is_taken(bench: Bench, uno: Target) -> None:
    other = toys.kat().replace("Nonce = 0304", "Nonce = ")
    for first, second in (("A", "B"), ("B", "A")):
        names = {f"LWC_AEAD_KAT_128_12{first}.txt": other, f"LWC_AEAD_KAT_128_12{second}.txt": toys.kat()}
        package = bench.package({**toys.files(), **names})
        assert len(package.kat) == 2
        record = bench.weigh(package, uno)
        assert record.failure is None
        assert record.verification is not None
        assert (record.verification.source, record.verification.vectors) == ("package", 1089)


def test_a_kat_that_is_mended_counts(bench: Bench, uno: Target) -> None:
    """It is part of what a record depends on, though not of the sources."""
    package = bench.package({**toys.files(), KAT: toys.kat().replace("CT = ", "CT = FF", 1)})
    first = bench.weigh(package, uno)
    assert first.failure is not None
    assert first.failure.reason is Reason.KAT_MISMATCH
    (package.folder / KAT).write_text(toys.kat())
    second = bench.weigh(package, uno)
    assert second.ok
    assert second.setup.key != first.setup.key
    assert bench.weigh(package, uno).id == second.id

    bare = bench.package(variant="bare1")
    assert bench.weigh(bare, uno).failure is not None
    assert bench.weigh(bench.package({**toys.files(), KAT: toys.kat()}, variant="bare1"), uno).ok


def test_another_versions_code_is_told_so(bench: Bench, bluepill: Target) -> None:
    files = {p.name: p.read_text() for p in (AEAD / "tinyjambu/tinyjambu128/small").iterdir()}
    failed = bench.weigh(bench.package(files, variant="tinyjambu128v2"), bluepill).failure
    assert failed is not None
    assert failed.reason is Reason.KAT_MISMATCH
    assert "which is not the official answer; it answers like tinyjambu128 (official-round2)" in failed.detail

    other = bench.weigh(bench.package(files, variant="ascon128v12"), bluepill).failure
    assert other is not None
    assert other.detail.endswith("ascon128v12 has 16, 16, 16; it answers like tinyjambu128 (official-round2)")


def test_what_no_answer_fits_may_be_a_version_that_is_not_known(bench: Bench, bluepill: Target) -> None:
    files = toys.files(in_encrypt="if (mlen == 9) return 0;")
    [row] = readings("crypto_aead", "tinyjambu128v2")
    files["api.h"] = files["api.h"].replace("NPUBBYTES 16", f"NPUBBYTES {row.npub}")
    files["encrypt.c"] = files["encrypt.c"].replace("npub[i]", "npub[i % 8]").replace("if (mlen == 9) return 0;", "")
    failed = bench.weigh(bench.package(files, variant="tinyjambu128v2"), bluepill).failure
    assert failed is not None
    assert failed.detail.endswith(
        "no answer is right, as of another variant or another version of the cipher, such as an earlier round's"
    )


def test_two_packages_of_an_unknown_variant_confirm_each_other(bench: Bench, uno: Target) -> None:
    first = bench.weigh(bench.package(), uno)
    other = bench.weigh(bench.package(top="/* other sources */"), uno)
    wrong = bench.weigh(bench.package(in_tag="t[0] = 0; k = ad;"), uno)
    assert bench.store.same_answers(first) == [other.id]
    assert bench.store.same_answers(other) == [first.id]
    assert bench.store.same_answers(wrong) == []


def test_an_unknown_cxof_gets_nist_s_sizes() -> None:
    """Customization strings too."""
    ours, [known] = Expected(None, ()).kat(0, 0, "crypto_cxof"), readings("crypto_cxof", "asconcxof128")
    assert ours == known.kat()


@pytest.mark.parametrize(
    ("refuses", "lengths", "refused"),
    [("n % 16", (0, 16, 32, 48, 64), 30 * 33), ("n < 48", (48, 64), 1089), ("adlen > 16", (0, 16), 16 * 33)],
)
def test_what_an_unknown_variant_refuses_leaves_it_no_mean(
    bench: Bench, uno: Target, refuses: str, lengths: tuple[int, ...], refused: int
) -> None:
    """The answers of its own file are right, and nobody says that it takes others; a mean over some of NIST's sizes
    would be over those of its choice."""
    files = {**toys.files(in_encrypt=f"if ({refuses}) return -1;"), "LWC_AEAD_KAT_128_128.txt": toys.kat(lengths)}
    record = bench.weigh(bench.package(files), uno)
    assert record.failure is None
    assert record.verification is not None
    assert (record.verification.vectors, record.verification.skipped) == (len(lengths) ** 2, 0)
    assert f"no means: it refuses {refused} of NIST's 1089 sizes" in record.notes
    assert record.metrics["refused"] >= refused
    assert "cycles_encrypt_mean" not in record.metrics
    assert record.metrics["stack_encrypt"] > 0
    assert not why_not(record, workload("kat"), uno)  # a worker's record of it is taken


@pytest.mark.parametrize("which", ["k[0] == 0 && k[1] == 1 && k[2] == 2", "!(k[0] == 0 && k[1] == 1 && k[2] == 2)"])
def test_a_size_is_not_refused_for_its_inputs(bench: Bench, uno: Target, which: str) -> None:
    """Here the published key, and all others."""
    files = toys.files(in_encrypt=f"if (n && n < 40 && {which}) return -1;")
    record = bench.weigh(bench.package({**files, "LWC_AEAD_KAT_128_128.txt": toys.kat((0, 40, 48))}), uno)
    assert record.failure is not None
    assert record.failure.reason is Reason.WRONG_OUTPUT
    assert "with other inputs" in record.failure.detail


def test_what_has_no_key_is_tried_with_no_other(bench: Bench, bluepill: Target) -> None:
    """Its associated data is called so all the same."""
    files = toys.files(after_decrypt="if (adlen == 5 && n == 4) wrong = 1;")
    files["api.h"] = files["api.h"].replace("KEYBYTES 16", "KEYBYTES 0")
    files["encrypt.c"] = files["encrypt.c"].replace("k[i] ^ ", "").replace("k[i % CRYPTO_KEYBYTES]", "0")
    failed = bench.weigh(bench.package(files), bluepill).failure
    assert failed is not None
    assert "associated data 5 bytes" in failed.detail, failed
    files["encrypt.c"] = files["encrypt.c"].replace("adlen == 5 && n == 4", "0")
    failed = bench.weigh(bench.package(files), bluepill).failure
    assert failed is not None
    assert failed.reason is Reason.NO_EXPECTED, failed


def test_counting_bytes_of_any_length_go_on() -> None:
    assert counting(65535, 3) == bytes((3 + i) % 256 for i in range(65535))


def test_fresh_inputs_follow_from_the_known_answers_too(bench: Bench, uno: Target) -> None:
    """Their messages come to the chip, and could carry what the code makes of inputs that follow from it alone."""
    sizes = ((0, 7), (0, 7), (0, 8))
    packages = [
        bench.package({**toys.files(), "LWC_AEAD_KAT_128_128.txt": toys.kat(of)}, variant=f"toy{k}")
        for k, of in enumerate(sizes)
    ]
    assert len({p.digest for p in packages}) == 1
    first, same, other = (bench.job(p, uno).secret for p in packages)
    assert first == same != other
