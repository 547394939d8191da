"""Right and wrong implementations on the simulator: each gets the verdict it deserves."""

from __future__ import annotations

import hashlib
import re

import pytest
from msgspec.structs import replace

from steelyard import verify
from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.packed import unpack
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record, Verification
from steelyard.model.target import Target
from steelyard.model.workload import LEFT_OUT
from steelyard.sources import discover
from steelyard.verify.known import readings
from steelyard.verify.vectors import format_vector
from tests import toys
from tests.conftest import ROOT, Bench, the_target

KAT = "LWC_AEAD_KAT_128_128.txt"
ASCON = "ascon128v12"
HYENA = "hyenav1"
#: the second bit of the tag's last byte does not count
ONE_BIT_LESS = "wrong = 0; for (i = 0; i < 8; i++) wrong |= (t[i] ^ c[n + i]) & (i == 7 ? 0xFD : 0xFF);"


def failure(bench: Bench, package: Implementation, target: Target) -> Failure:
    record = bench.weigh(package, target)
    assert record.failure is not None
    return record.failure


def checked(record: Record) -> Verification | None:
    """What was checked, without the answers themselves."""
    return record.verification and replace(record.verification, answers="")


def test_a_package_with_its_own_kat_is_verified_from_it(bench: Bench, target: Target) -> None:
    record = bench.weigh(bench.package({**toys.files(), KAT: toys.kat()}), target)
    assert record.failure is None
    assert checked(record) == Verification("package", 1089, 0, 0)


def test_a_wrong_kat_names_the_first_vector_that_differs(bench: Bench, uno: Target) -> None:
    good = toys.kat()
    at = [m.end() for m in re.finditer("CT = ", good)][6]
    wrong = good[:at] + ("0" if good[at] != "0" else "1") + good[at + 1 :]
    failed = failure(bench, bench.package({**toys.files(), KAT: wrong}), uno)
    assert failed.reason is Reason.KAT_MISMATCH
    assert failed.detail.startswith("vector 7 (message 7, associated data 7 bytes): got ")


def test_a_malformed_kat_names_the_line(bench: Bench, uno: Target) -> None:
    failed = failure(bench, bench.package({**toys.files(), KAT: toys.kat().replace("PT = \n", "PT = 0\n", 1)}), uno)
    assert failed == Failure(Reason.BAD_KAT, f"{KAT}, line 4: PT is not hexadecimal")


def test_a_kat_with_other_sizes_than_api_h(bench: Bench, uno: Target) -> None:
    failed = failure(bench, bench.package({**toys.files(), KAT: toys.kat().replace("Nonce = 03", "Nonce = ")}), uno)
    assert failed.reason is Reason.BAD_KAT
    assert "a nonce of 15 bytes" in failed.detail


@pytest.mark.parametrize("size", [5000, 70_000])
def test_vectors_that_no_target_can_hold_are_skipped(bench: Bench, uno: Target, size: int) -> None:
    v = next(toys.vectors())
    huge = format_vector("crypto_aead", v, bytes(size + 8)).replace("PT = ", f"PT = {bytes(size).hex()}")
    record = bench.weigh(bench.package({**toys.files(), KAT: huge + toys.kat()}), uno)
    assert record.failure is None
    assert checked(record) == Verification("package", 1089, 0, 1)


def test_nothing_is_verified_when_no_vector_fits(bench: Bench, uno: Target) -> None:
    """The toy is not Ascon, but its stack leaves no room to show it."""
    greedy = "volatile unsigned char big[1750]; for (i = 0; i < sizeof big; i++) big[i] = (unsigned char)i;"
    files = toys.files(in_encrypt=greedy)
    files["api.h"] = files["api.h"].replace("ABYTES 8", "ABYTES 16")
    record = bench.weigh(bench.package(files, variant=ASCON), uno)
    assert record.failure is not None, record.verification


@pytest.mark.parametrize(
    ("hooks", "reason", "detail"),
    [
        ({"after_decrypt": "wrong = 0;"}, Reason.FORGERY_ACCEPTED, r"vector \d+ .*a wrong tag was accepted"),
        ({"after_decrypt": ONE_BIT_LESS}, Reason.FORGERY_ACCEPTED, r"vector \d+ .*a wrong tag was accepted"),
        ({"after_decrypt": "m[0] ^= n > 3;"}, Reason.DECRYPT_MISMATCH, "vector 133 .message 4,.*got 01.*expected 00"),
        ({"after_decrypt": "wrong |= n == 2;"}, Reason.DECRYPT_MISMATCH, "vector 67 .*: code -1"),
        ({"after_encrypt": "c[n + CRYPTO_ABYTES] = 1;"}, Reason.BUFFER_OVERRUN, "encrypt, vector 1 "),
        ({"after_decrypt": "m[n + CRYPTO_ABYTES] = 1;"}, Reason.BUFFER_OVERRUN, "decrypt, vector 1 "),
        ({"after_decrypt": "if (wrong) m[n + CRYPTO_ABYTES] = 1;"}, Reason.BUFFER_OVERRUN, r"reject, vector \d+ "),
        ({"after_encrypt": "return 3;"}, Reason.KAT_MISMATCH, "encrypt, vector 1 .*returned 3"),
        ({"after_encrypt": "*clen = mlen;"}, Reason.KAT_MISMATCH, "encrypt, vector 1 .*says 0 bytes.*expected 1 to 8"),
    ],
)
def test_broken_ciphers(bench: Bench, uno: Target, hooks: dict[str, str], reason: Reason, detail: str) -> None:
    failed = failure(bench, bench.package(**hooks), uno)
    assert failed.reason is reason, failed
    assert re.match(detail, failed.detail), failed.detail


def test_a_decryption_may_use_the_tags_room_and_is_noted(bench: Bench, target: Target) -> None:
    record = bench.weigh(bench.package({**toys.files(after_decrypt="m[n + 2] = 1;"), KAT: toys.kat()}), target)
    assert record.failure is None
    assert record.notes == ("decryption writes up to 3 bytes after its message", toys.OF_ITS_SIZES)


@pytest.mark.parametrize("hook", ["after_encrypt", "after_decrypt"])
def test_other_results_at_odd_addresses_are_noted_of_both_directions(bench: Bench, bluepill: Target, hook: str) -> None:
    flip = f"if ((unsigned long)c & 1 && n) {'c' if hook == 'after_encrypt' else 'm'}[0] ^= 1;"
    record = bench.weigh(bench.package({**toys.files(**{hook: flip}), KAT: toys.kat()}), bluepill)
    assert record.failure is None
    assert "gives other results with buffers at odd addresses" in record.notes


def test_an_unknown_variant_has_figures_but_no_verdict(bench: Bench, target: Target) -> None:
    record = bench.weigh(bench.package(), target)
    assert record.failure == Failure(Reason.NO_EXPECTED, "no known answers for toy1")
    assert checked(record) == Verification("self", 1089, 0, 0)
    assert record.metrics["cycles_encrypt_mean"] > 0
    assert record.metrics["image_rom"] > 0


def test_an_api_h_that_lies_about_the_variant(bench: Bench, uno: Target) -> None:
    failed = failure(bench, bench.package(variant=ASCON), uno)
    assert failed == Failure(
        Reason.KAT_MISMATCH,
        "api.h says key 16, nonce 16, tag or digest 8 bytes; ascon128v12 has 16, 16, 16",
    )


def test_key_and_nonce_swapped_pass_nists_inputs_and_fail_the_second_set(bench: Bench, bluepill: Target) -> None:
    bundled = ROOT / "ciphers/crypto_aead/ascon" / ASCON / "fast"
    files = {p.name: p.read_text() for p in bundled.iterdir()}
    record = bench.weigh(bench.package(files, variant=ASCON), bluepill)
    assert (record.failure, record.verification) == (None, Verification("known", 1089, 20, 0))

    files["aead.c"] = files["aead.c"].replace("int crypto_aead_", "int inner_")
    swap = '#include "api.h"\n'
    for function in (toys.ENCRYPT, toys.DECRYPT):
        inner = function.replace("crypto_aead_", "inner_")
        given = [part.split("*")[-1].split()[-1] for part in function[function.index("(") + 1 : -1].split(",")]
        given[-2:] = reversed(given[-2:])
        swap += f"{inner};\n{function}\n{{ return {inner[4 : inner.index('(')]}({', '.join(given)}); }}\n"
    files["swap.c"] = swap
    failed = failure(bench, bench.package(files, variant=ASCON), bluepill)
    assert failed.reason is Reason.KAT_MISMATCH
    assert failed.detail.startswith("second set, vector 1 ")


def test_a_submitted_mistake_is_held_against_the_submissions_own_file_alone(bench: Bench, bluepill: Target) -> None:
    """The second set is that of the specification, which this KAT file contradicts."""
    fixed, submitted = readings("crypto_aead", HYENA)
    folder = ROOT / "ciphers/crypto_aead/hyena" / HYENA
    right = {p.name: p.read_text() for p in (folder / "ref").iterdir()}
    record = bench.weigh(bench.package(right, variant=HYENA), bluepill)
    assert (record.failure, record.verification) == (None, Verification("known", 1089, len(fixed.ext()), 0))

    files = {p.name: p.read_text() for p in (folder / "submitted").iterdir()}
    client = bench.client(bench.package(files, variant=HYENA), bluepill)
    vectors = submitted.kat()
    answers = client.calls(Request(Op.ENCRYPT, v.key, v.npub, v.ad, v.message) for v in vectors)
    kat = "".join(format_vector("crypto_aead", v, a.output) for v, a in zip(vectors, answers, strict=True))
    assert hashlib.sha256(kat.encode()).hexdigest() == submitted.sha256
    name = "LWC_AEAD_KAT_128_96.txt"

    record = bench.weigh(bench.package({**files, name: kat}, variant=HYENA), bluepill)
    assert (record.failure, record.verification) == (None, Verification("package+known", 1089, 0, 0))


def test_what_nobody_could_judge_is_weighed_again_once_answers_are_known(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench.weigh(bench.package(), uno)
    assert bench.weigh(bench.package(), uno).id == first.id
    monkeypatch.setattr(verify, "is_known", lambda _: True)
    assert bench.weigh(bench.package(), uno).id != first.id


FIRST = "static unsigned char begun;"


@pytest.mark.parametrize(
    ("hooks", "reason", "detail"),
    [
        ({"in_encrypt": "if (!begun++) return -1;"}, Reason.WRONG_OUTPUT, "encrypt, the first .*: returned -1"),
        ({"after_encrypt": "if (!begun++) c[0] ^= 1;"}, Reason.WRONG_OUTPUT, "encrypt, the first .* when it was repe"),
        ({"after_decrypt": "if (!begun++) wrong = 1;"}, Reason.DECRYPT_MISMATCH, "the first .*: code -1"),
        ({"after_decrypt": "if (!begun++) wrong = 0;"}, Reason.FORGERY_ACCEPTED, ".*accepted"),
    ],
)
def test_a_first_call_that_is_wrong(
    bench: Bench, uno: Target, hooks: dict[str, str], reason: Reason, detail: str
) -> None:
    package = bench.package({**toys.files(top=FIRST, **hooks), KAT: toys.kat()})
    failed = failure(bench, package, uno)
    assert (failed.reason, bool(re.match(detail, failed.detail))) == (reason, True), failed


def test_the_first_call_after_a_restart_is_told_where_it_is_longer(bench: Bench, uno: Target) -> None:
    wait = "if (!made) { volatile unsigned i; made = 1; for (i = 0; i < 9000; i++); }"
    notes = bench.weigh(bench.package(top="static unsigned char made;", in_encrypt=wait), uno).notes
    assert sum(n.startswith("the first encrypt after a restart takes ") for n in notes) == 1, notes
    assert not any("the first" in n for n in bench.weigh(bench.package(), uno).notes)


def test_stack_at_odd_addresses_counts(bench: Bench, uno: Target) -> None:
    plain = bench.weigh(bench.package(), uno).metrics["stack"]
    deep = "__attribute__((noinline)) static int deep(int n) { volatile char all[400]; all[0] = n; return all[0]; }"
    odd = bench.package(top=deep, in_encrypt="if ((unsigned)c & (unsigned)m & 1) deep(1);")
    assert bench.weigh(odd, uno).metrics["stack"] > 400 > plain


def test_a_size_of_a_known_answer_has_room(bench: Bench) -> None:
    """In a RAM that it fills, whatever stack calls of other sizes took since."""
    [ascon] = discover(CIPHERS / "crypto_aead/ascon/asconaead128/fast").implementations
    chip = the_target("attiny85")
    made = {(c.adlen, c.mlen) for c in unpack(bench.weigh(ascon, chip).vector_cycles)}
    longest = sorted(made, key=sum)[-4:]  # how many there are depends on the compiler
    record = bench.weigh(ascon, chip, ",".join(f"{a}/{m}" for a, m in longest))
    assert record.failure is None
    assert {(p.adlen, p.mlen) for p in record.points} == set(longest)
    assert not any(n.startswith(LEFT_OUT) for n in record.notes)


def test_what_only_a_tag_with_several_wrong_bytes_sees_written(bench: Bench, uno: Target) -> None:
    """Known answers are refused with one bit turned, other forgeries with more."""
    wrong = "unsigned bytes = 0; for (i = 0; i < CRYPTO_ABYTES; i++) bytes += t[i] != c[n + i];"
    hook = f"{{ {wrong} if (bytes > 1) m[n + CRYPTO_ABYTES] = 1; }}"
    record = bench.weigh(bench.package({**toys.files(after_decrypt=hook), KAT: toys.kat()}), uno)
    assert record.failure is not None
    assert record.failure.reason is Reason.BUFFER_OVERRUN
    assert record.failure.detail.startswith("reject with "), record.failure


def test_a_byte_that_a_ciphertext_shorter_than_the_tag_makes_written_is_noted(bench: Bench, uno: Target) -> None:
    short = "(clen < CRYPTO_ABYTES)\n        "
    files = toys.files()
    files["encrypt.c"] = files["encrypt.c"].replace(f"{short}return -1;", f"{short}return m[1] = 1, -1;")
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno)
    assert record.ok, record.failure
    assert "writes past its output buffer on a ciphertext shorter than the tag" in record.notes
