"""Packages that try to get better figures than their own: none is verified with them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from steelyard import pipeline
from steelyard.device.simulator import SimulatorLink
from steelyard.model.call import Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.model.target import Target
from steelyard.sources import discover
from steelyard.verify.calls import Verifier
from steelyard.verify.known import readings
from steelyard.verify.vectors import format_vector
from tests import toys
from tests.conftest import ROOT, Bench, the_target, write

KAT = "LWC_AEAD_KAT_128_128.txt"
ASCON = ROOT / "ciphers/crypto_aead/ascon/ascon128v12/fast"
#: what honest packages do and the fast ways below leave out
WORK = "{ volatile unsigned w; for (w = 0; w < 400; w++) ; }"
PUBLISHED = "int known = 1; for (i = 0; i < 16; i++) known &= k[i] == i;"
MEMO = (
    "static unsigned char memo[16]; static int same(const unsigned char *k) { int i, s = 1; for (i = 0; i < 16; i++) "
)
MEMO += "{ s &= memo[i] == k[i]; memo[i] = k[i]; } return s; }"


def weigh(bench: Bench, target: Target, load: str = "kat", **hooks: str) -> Record:
    return bench.weigh(bench.package({**toys.files(**hooks), KAT: toys.kat()}), target, load)


@pytest.mark.parametrize(
    "hooks",
    [
        {"in_encrypt": f"{PUBLISHED} if (!known) {WORK}"},
        {"top": MEMO, "in_encrypt": f"if (!same(k)) {WORK}"},
        {"top": MEMO, "after_decrypt": f"if (!same(k)) {WORK}"},
    ],
    ids=["published key", "memo of the last key", "memo, in decryption"],
)
def test_what_is_fast_for_the_known_key_alone_shows_both_means(
    bench: Bench, target: Target, hooks: dict[str, str]
) -> None:
    record = weigh(bench, target, "0/16", **hooks)
    assert record.ok, record.failure
    op = "decrypt" if "after_decrypt" in hooks else "encrypt"
    known, fresh = record.metrics[f"cycles_{op}_known_mean"], record.metrics[f"cycles_{op}_mean"]
    assert fresh - known > 1000
    points = {p.operation: p.cycles for p in record.points}
    assert points[op] > known + 1000, "a workload of one size is no memo's friend either"
    [note] = [n for n in record.notes if n.startswith("time depends on the inputs: ")]
    assert f"{op} takes {known:.0f} cycles on the known answers' inputs and {fresh:.0f} on fresh ones" in note


def test_what_the_output_s_buffer_holds_before_a_call_is_no_promise(bench: Bench, bluepill: Target) -> None:
    record = weigh(bench, bluepill, in_encrypt="if (c[0] != 0xEE) return 1;")
    assert record.failure is not None
    assert record.failure.reason is Reason.KAT_MISMATCH


def test_a_file_of_easy_answers_is_not_what_the_means_are_over(bench: Bench, uno: Target) -> None:
    """Empty inputs alone would halve the mean of most ciphers."""
    files = {p.name: p.read_text() for p in ASCON.iterdir()}
    whole = bench.weigh(bench.package(files, variant="ascon128v12"), uno)
    [k] = readings("crypto_aead", "ascon128v12")
    client = bench.client(bench.package(files, variant="ascon128v12"), uno)
    v = k.kat()[0]
    one = format_vector("crypto_aead", v, client.call(Request(Op.ENCRYPT, v.key, v.npub, b"", b"")).output)
    easy = bench.weigh(bench.package({**files, KAT: one * 3}, variant="ascon128v12"), uno)
    assert easy.ok, easy.failure
    assert easy.metrics == whole.metrics
    assert easy.verification is not None
    assert (easy.verification.source, easy.verification.vectors) == ("package+known", 1089)


def test_no_means_are_over_a_file_s_own_sizes(bench: Bench, uno: Target) -> None:
    """Whatever these are: many and short, or longer."""

    def weighed(lengths: Sequence[int]) -> Record:
        own = "".join(format_vector("crypto_aead", v, v.output or b"") for v in toys.vectors(lengths))
        return bench.weigh(bench.package({**toys.files(), KAT: own}), uno)

    nist = weighed(range(33))
    assert nist.notes == ()
    others = [weighed(range(0, 66, step)) for step in (2, 5)]
    touched = ("image_ram_touched", "ram_renner")  # by the longest of the file too
    for made in (*others, weigh(bench, uno)):
        assert [n for n, v in made.metrics.items() if v != nist.metrics[n] and n not in touched] == []
        assert made.points == nist.points
        assert [n.split(":")[0] for n in made.notes] == [toys.OF_ITS_SIZES.split(":")[0]]


def test_answers_that_much_static_data_leaves_no_room_for_are_told(bench: Bench, uno: Target) -> None:
    """They are the longest, so the mean over the others is lower: here by a tenth."""
    files = {p.name: p.read_text() for p in ASCON.iterdir()}
    files["aead.c"] = files["aead.c"].replace("int crypto_aead_encrypt(", "int inner(")
    inner = toys.ENCRYPT.replace("crypto_aead_encrypt", "inner")
    files["outer.c"] = f'#include "api.h"\nunsigned char volatile pad[1500];\n{inner};\n'
    files["outer.c"] += f"{toys.ENCRYPT}\n{{ pad[0]++; return inner(c, clen, m, mlen, ad, adlen, nsec, npub, k); }}\n"
    record = bench.weigh(bench.package(files, variant="ascon128v12"), uno)
    assert record.ok, record.failure
    assert record.verification is not None
    made = record.verification.vectors
    assert made < 1089
    assert [n for n in record.notes if n.startswith(f"means are over {made} of 1089 known answers: ")]


def test_memory_in_the_room_of_a_tag_that_is_not_there(bench: Bench, uno: Target) -> None:
    """CAESAR allows ciphertexts that are shorter than message and CRYPTO_ABYTES together."""
    files = toys.files(top="#undef CRYPTO_ABYTES\n#define CRYPTO_ABYTES 8", after_encrypt="if (n) { c[n + 107] = 1; }")
    files["api.h"] = files["api.h"].replace("CRYPTO_ABYTES 8", "CRYPTO_ABYTES 200")
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno)
    assert record.ok, record.failure
    assert "encryption writes up to 100 bytes after its ciphertext" in record.notes


def test_a_tag_is_not_shorter_than_api_h_shows(bench: Bench, uno: Target) -> None:
    files = toys.files()
    files["api.h"] += '#include "more.h"\n'
    files["more.h"] = "#undef CRYPTO_ABYTES\n#define CRYPTO_ABYTES 4\n"
    failed = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno).failure
    assert failed is not None
    text = "tag of 8 bytes in the header, of 4 for the compiler"
    assert (failed.reason, failed.detail) == (Reason.SIZES_DIFFER, text)


#: four keys, by their first bytes
FEW = (
    "static unsigned memo[4]; static int at; static int same(const unsigned char *k) { unsigned x = k[0] | k[1] << 8; "
)
FEW += "int i; for (i = 0; i < 4; i++) if (memo[i] == x) return 1; memo[at++ & 3] = x; return 0; }"


def test_a_memo_of_a_few_keys_gains_nothing_at_a_single_size(bench: Bench, target: Target) -> None:
    """Decryption and rejection are asked with encryption's key: what it left in static data is gone."""
    record = weigh(bench, target, "0/16", top=FEW, in_tag=f"if (!same(k)) {WORK}")
    assert record.ok, record.failure
    points = {p.operation: p.cycles for p in record.points}
    assert abs(points["decrypt"] - points["encrypt"]) < 1000 > abs(points["reject"] - points["encrypt"]), points


#: keys that decryption was asked with since the restart
NOTED = "static unsigned char seen[256]; static void note(const unsigned char *k) { seen[k[0]] = k[1]; } "
NOTED += "static int noted(const unsigned char *k) { return seen[k[0]] == k[1]; }"


def test_fresh_inputs_that_come_twice_gain_nothing_the_second_time(bench: Bench, bluepill: Target) -> None:
    """Where time depends on the inputs all sizes are repeated, those of the sample once more."""
    hook = f"{PUBLISHED} if (!known && !noted(k)) {WORK}"
    record = weigh(bench, bluepill, top=NOTED, in_encrypt=hook, after_decrypt="note(k);")
    assert record.ok, record.failure
    assert record.metrics["cycles_encrypt_mean"] - record.metrics["cycles_encrypt_known_mean"] > 1000
    honest = weigh(bench, bluepill, top=NOTED, in_encrypt=f"{PUBLISHED} if (!known) {WORK}", after_decrypt="note(k);")
    assert abs(record.metrics["cycles_encrypt_mean"] - honest.metrics["cycles_encrypt_mean"]) < 60


def test_a_first_decryption_after_a_restart_that_takes_long_is_told(bench: Bench, bluepill: Target) -> None:
    once = f"if (!made) {{ made = 1; {WORK} }}"
    record = weigh(bench, bluepill, top="static unsigned char made;", after_decrypt=once)
    assert record.ok, record.failure
    assert [n for n in record.notes if n.startswith("the first decrypt after a restart takes ")], record.notes


def test_calls_that_are_repeated_for_their_median_gain_nothing(
    bench: Bench, bluepill: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a board, whose pulses are sampled."""
    monkeypatch.setattr(SimulatorLink, "resolution", 1.0)
    hook = f"if (!noted(k)) {WORK}"
    record = weigh(bench, bluepill, "0/16", top=NOTED, in_encrypt=hook, after_decrypt="note(k);")
    assert record.ok, record.failure
    assert any("are medians of " in n for n in record.notes)
    points = {p.operation: p.cycles for p in record.points}
    assert points["encrypt"] - points["decrypt"] > 1000, points


def test_hashes_that_are_repeated_for_their_median_gain_nothing(
    bench: Bench, bluepill: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SimulatorLink, "resolution", 1.0)
    top = NOTED.replace("k[0]", "k[2]").replace("k[1]", "k[3]")
    code = f"if (n > 3) {{ if (!noted(in)) {WORK} note(in); }} for (i = 0; i < 8; i++) out[i] = i + n;"
    code += " for (i = 0; i < n; i++) out[i & 7] = 5 * out[i & 7] + in[i]; return 0;"
    name = "int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long n)"
    text = f"{top}\n{name}\n{{ unsigned i; {code} }}\n"
    at = write(bench.folder / "crypto_hash/toy1/ref", {"api.h": "#define CRYPTO_BYTES 8\n", "hash.c": text})
    record = bench.weigh(discover(at).implementations[0], bluepill, "0/16,0/32")
    assert record.failure is not None
    assert record.failure.reason is Reason.NO_EXPECTED
    assert all(p.cycles > 2000 for p in record.points), record.points


def test_a_memo_on_the_stack_does_not_outlast_a_restart(bench: Bench, bluepill: Target) -> None:
    """Start-up code does not clear it, as on a chip; the requester of the restart does."""
    top = "static int same(const unsigned char *k) { volatile unsigned char room[2048]; room[0] = room[2047] = 0; "
    top += "volatile unsigned char *at = (unsigned char *)0x20004800 + (k[0] | (k[1] & 1) << 8); "
    top += "int seen = *at == k[2]; *at = k[2]; return seen; }"
    record = weigh(bench, bluepill, "0/16,0/32,0/64", top=top, in_tag=f"if (!same(k)) {WORK}")
    assert record.ok, record.failure
    assert record.metrics["stack"] > 2048
    points = {(p.operation, p.mlen): p.cycles for p in record.points}
    for size in (16, 32, 64):
        encrypt, others = points["encrypt", size], (points["decrypt", size], points["reject", size])
        assert all(abs(cycles - encrypt) < 1000 for cycles in others), points


def test_tags_that_encryption_kept_are_no_way_to_refuse_others_at_once(bench: Bench, bluepill: Target) -> None:
    """Each ciphertext comes from the device, so that a tag it has not made needs no work: a decryption that knows no
    others decrypts nothing after a restart."""
    top = "static unsigned char made[512]; static unsigned hash(const unsigned char *k, const unsigned char *t) "
    top += "{ unsigned i, x = 0; for (i = 0; i < 8; i++) x = x * 31 + t[i] + k[i]; return (x ^ x >> 12) & 4095; }"
    files = toys.files(top=top, after_encrypt="i = hash(k, t); made[i >> 3] |= 1 << (i & 7);", in_tag=WORK)
    files["encrypt.c"] = files["encrypt.c"].replace(
        "return -1;", "return -1;\ni = hash(k, c + n); if (!(made[i >> 3] >> (i & 7) & 1)) return -1;", 1
    )
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), bluepill)
    assert record.failure is not None
    assert record.failure.reason is Reason.DECRYPT_MISMATCH, record.failure


#: bytes of a key that no other fresh input has
KEY = "(k[3] | k[4] << 8 | (unsigned)k[5] << 16)"
#: what a decryption remembers: how many were right since the last encryption, and the size of the first
PASSES = (
    "static unsigned char right, refuse; static unsigned first; static unsigned seen[256]; static unsigned char keys;"
)
HONEST = "tag(t, m, n, ad, (unsigned)adlen, npub, k);\n    for (i = 0; i < CRYPTO_ABYTES; i++)\n        wrong"


def remembering(before: str, after: str, work: str = WORK, **hooks: str) -> dict[str, str]:
    """A package whose decryption does something before and after it checks its tag."""
    files = toys.files(top=PASSES, in_encrypt="right = refuse = 0;", in_tag=work, after_decrypt=after, **hooks)
    files["encrypt.c"] = files["encrypt.c"].replace(HONEST, before + HONEST)
    assert before in files["encrypt.c"]
    return {**files, KAT: toys.kat()}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            remembering(
                "if (right == 0) first = (unsigned)clen;\nif (right > 1 && clen != first) { *mlen = n; return 0; }\n",
                "right = wrong ? 0 : right + (right < 9);",
            ),
            Reason.FORGERY_ACCEPTED,
        ),
        (remembering("if (refuse) return -1;\n", "if (wrong) refuse = 1;"), Reason.DECRYPT_MISMATCH),
    ],
    ids=["checks no tag after some right ones", "refuses everything after a wrong one"],
)
def test_a_pass_of_right_or_of_forged_ciphertexts_is_not_to_be_recognised(
    bench: Bench, target: Target, files: dict[str, str], reason: Reason
) -> None:
    """A package that remembers what the calls before were would check nothing while it is measured."""
    record = bench.weigh(bench.package(files), target, "default")
    assert record.failure is not None
    assert record.failure.reason is reason, record.failure


@pytest.mark.parametrize("name", ["uno", "gd32vf103"])
def test_decoys_are_in_no_figure(bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Not even by what a branch predictor learns from them."""
    guessed = "for (i = 0; i < 16; i++) if (k[i] & 1) { volatile unsigned w = 1; (void)w; }"
    package = bench.package({**toys.files(in_tag=guessed), KAT: toys.kat()})
    job = bench.job(package, the_target(name), "0/16,16/0,16/16,0/32,32/0,32/32,0/8,8/0")
    whole = pipeline.Pipeline(bench.store, threads=1, force=True).weigh(job)
    monkeypatch.setattr(Verifier, "_decoys", lambda _verifier, _about, total: [0] * total)
    bare = pipeline.Pipeline(bench.store, threads=1, force=True).weigh(job)
    assert whole.ok, whole.failure
    assert (whole.metrics, whole.points, whole.notes) == (bare.metrics, bare.points, bare.notes)


def test_ciphertexts_that_come_again_are_not_all_forged(bench: Bench, bluepill: Target) -> None:
    """All kinds of forgery are made of ciphertexts that were decrypted before: refusing those needs no check."""
    again = f"{{ {PUBLISHED} for (i = 0; i < keys && !known; i++) if (seen[i] == {KEY}) return -1; }}\n"
    files = remembering(again, f"seen[keys++] = {KEY};", "if (adlen > 32) adlen = 32;")
    record = bench.weigh(bench.package(files), bluepill)
    assert record.failure is not None
    assert record.failure.reason is Reason.DECRYPT_MISMATCH, record.failure
    assert record.failure.detail.startswith("fresh inputs, among forgeries, "), record.failure


def test_honest_time_that_depends_on_the_data_is_shown(bench: Bench, uno: Target) -> None:
    record = weigh(bench, uno, in_encrypt=f"for (i = 0; i < 16; i++) if (k[i] & 1) {WORK}")
    assert record.ok
    assert "cycles_encrypt_known_mean" in record.metrics
    assert "energy_encrypt_known_modelled" not in record.metrics


def test_honest_time_that_does_not_is_shown_once(bench: Bench, target: Target) -> None:
    record = weigh(bench, target, in_encrypt=WORK)
    assert record.ok
    assert not [name for name in record.metrics if "fresh" in name]
    assert record.notes == (toys.OF_ITS_SIZES,)


@pytest.mark.parametrize(
    ("load", "hooks", "reason", "detail"),
    [
        (
            "0/0,0/1500",
            {"after_encrypt": "if (n > 1024) c[7] ^= 1;"},
            Reason.DECRYPT_MISMATCH,
            "workload, message 1500, associated data 0 bytes: ",
        ),
        (
            "0/0,0/1500",
            {"after_decrypt": "if (n > 1024) wrong = 0;"},
            Reason.FORGERY_ACCEPTED,
            "workload, message 1500, .*a wrong tag was accepted",
        ),
        (
            "0/0,0/1500",
            {"after_encrypt": "if (n == 1500) *clen = n;"},
            Reason.WRONG_OUTPUT,
            "encrypt, workload, message 1500, .*: says 1500 bytes of output, expected 1501 to 1508",
        ),
        (
            "0/0,0/1500",
            {"after_decrypt": "if (n > 1024) *mlen = 5;"},
            Reason.DECRYPT_MISMATCH,
            "workload, message 1500, .*: says 5 bytes of message, expected 1500",
        ),
        (
            "0/64,0/512,0/1500",
            {"after_encrypt": "if (n == 512) return 1;"},
            Reason.WRONG_OUTPUT,
            "encrypt, workload, message 512, .*: returned 1, but accepts larger inputs",
        ),
        (
            "kat",
            {"after_decrypt": "if (ad[0] != k[0]) wrong &= 0x7F;"},
            Reason.FORGERY_ACCEPTED,
            "fresh inputs, ",
        ),
        ("kat", {"after_decrypt": "if (clen == 13) wrong = 0;"}, Reason.FORGERY_ACCEPTED, "vector 166 .message 5, "),
    ],
)
def test_what_the_known_answers_do_not_see(
    bench: Bench, bluepill: Target, load: str, hooks: dict[str, str], reason: Reason, detail: str
) -> None:
    record = weigh(bench, bluepill, load, **hooks)
    assert record.failure is not None
    assert record.failure.reason is reason, record.failure
    assert re.match(detail, record.failure.detail), record.failure.detail


CXOF = ROOT / "ciphers/crypto_cxof/ascon/asconcxof128/fast"
CALL = (
    "\nint crypto_cxof(unsigned char *out, unsigned long long outlen, const unsigned char *in, "
    "unsigned long long inlen, const unsigned char *cs, unsigned long long cslen)\n"
)
STRAIGHT = "honest(out, outlen, in, inlen, cs, cslen)"


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        (f"int r = {STRAIGHT}; if (inlen > 1024) out[3] ^= 1; return r;", Reason.KAT_MISMATCH, "second set, .*"),
        (
            "return honest(out, outlen, in, inlen, cs, cslen > 40 ? 40 : cslen);",
            Reason.KAT_MISMATCH,
            r"second set, vector \d+ \(message \d+, customization 65 bytes\): got .*",
        ),
        (
            f"int r = {STRAIGHT}; out[outlen] = 1; return r;",
            Reason.BUFFER_OVERRUN,
            r"hash, vector 1 \(message 0 bytes\)",
        ),
        (f"if (inlen > 200) return -1; return {STRAIGHT};", Reason.KAT_MISMATCH, "hash, .*: returned -1"),
        (
            f"return outlen < 64 ? {STRAIGHT} : honest(out, 32, in, inlen, cs, cslen);",
            Reason.KAT_MISMATCH,
            "vector 1 .*",
        ),
    ],
    ids=["long messages", "a customization that is cut", "past the output", "refuses", "half of the output"],
)
def test_a_cxof_that_cheats(bench: Bench, bluepill: Target, body: str, reason: Reason, detail: str) -> None:
    files = {f"crypto_cxof/asconcxof128/evil/{f.name}": f.read_text() for f in CXOF.iterdir()}
    cipher = "crypto_cxof/asconcxof128/evil/cxof.c"
    files[cipher] = files[cipher].replace("int crypto_cxof(", "static int honest(") + f"{CALL}{{ {body} }}\n"
    [package] = discover(write(bench.folder, files) / "crypto_cxof").implementations
    failure = bench.weigh(package, bluepill).failure
    assert failure is not None
    assert (failure.reason, bool(re.match(detail, failure.detail))) == (reason, True), failure


ZERO = "static const unsigned char zero[16];"
#: how a tag is made, or looked at, so that one bit of it turned is refused and something else is not
BLIND = {
    "a random tag": {
        "after_decrypt": "{ unsigned s = 0; for (i = 0; i < 8; i++) s += t[i] != c[n + i]; if (s > 6) wrong = 0; }"
    },
    "several bits of the tag turned": {
        "after_decrypt": "{ unsigned s = 0; for (i = 0; i < 8; i++) s += t[i] != c[n + i]; if (s == 4) wrong = 0; }"
    },
    "two bytes of the tag swapped": {
        "after_decrypt": "{ unsigned s = 0, q = 0, u = 0; for (i = 0; i < 8; i++) { unsigned a = t[i], b = c[n + i]; "
        "s += a - b; q += a * a - b * b; u += a * a * a - b * b * b; } if (!s && !q && !u) wrong = 0; }"
    },
    "a bit of the ciphertext turned": {"in_tag": "if (mlen > 40) mlen = 40;"},
    "(a bit of the )?associated data .*": {"in_tag": "if (adlen > 32) adlen = 32;"},
    "another nonce": {"in_tag": f"{ZERO} if (adlen > 32) npub = zero;"},
}


@pytest.mark.parametrize("kind", BLIND)
def test_every_kind_of_forgery_is_tried(bench: Bench, bluepill: Target, kind: str) -> None:
    record = weigh(bench, bluepill, **BLIND[kind])
    assert record.failure is not None
    assert record.failure.reason is Reason.FORGERY_ACCEPTED, record.failure
    assert re.fullmatch(f"fresh inputs, .*: accepted with {kind}", record.failure.detail), record.failure.detail


def test_a_ciphertext_shorter_than_the_tag(bench: Bench, target: Target) -> None:
    careless = {name: text.replace("if (clen < CRYPTO_ABYTES)", "if (0)") for name, text in toys.files().items()}
    record = bench.weigh(bench.package({**careless, KAT: toys.kat()}), target)
    assert record.ok
    assert [n for n in record.notes if "a ciphertext shorter than the tag" in n], record.notes

    obliging = {
        name: text.replace("(clen < CRYPTO_ABYTES)\n        return -1", "(clen < 5)\n        return 0")
        for name, text in toys.files().items()
    }
    record = bench.weigh(bench.package({**obliging, KAT: toys.kat()}), target)
    assert record.failure is not None
    assert record.failure.detail.endswith("bytes, shorter than the tag, was accepted")


def test_an_aead_without_a_tag_is_told_so(bench: Bench, bluepill: Target) -> None:
    files = {name: text.replace("CRYPTO_ABYTES 8", "CRYPTO_ABYTES 0") for name, text in toys.files().items()}
    files["encrypt.c"] = files["encrypt.c"].replace("t[CRYPTO_ABYTES]", "t[8]").replace("i % CRYPTO_ABYTES", "i % 8")
    kat = re.sub(r"(CT = \w*)\w{16}\n", r"\1\n", toys.kat())
    record = bench.weigh(bench.package({**files, KAT: kat}), bluepill)
    assert record.ok, record.failure
    about = "CRYPTO_ABYTES is 0: nothing is authenticated, and no forgery was tried"
    assert record.notes == (toys.OF_ITS_SIZES, about)


@pytest.mark.parametrize("name", ["bluepill", "host"])
def test_wrong_output_above_what_is_published_differs_from_the_bundled_implementation(bench: Bench, name: str) -> None:
    """Encryption and decryption agree with each other, all known answers and the second set are right."""
    target = the_target(name)
    files = {p.name: p.read_text() for p in ASCON.iterdir()}
    source = files["aead.c"]
    files["aead.c"] = source.replace("int crypto_aead_", "int inner_")
    files["outer.c"] = '#include "api.h"\n' + "".join(
        f"{function.replace('crypto_aead_', 'inner_')};\n{function}\n{{ unsigned char n[16]; int i; "
        f"for (i = 0; i < 16; i++) n[i] = npub[i] ^ ({length} > {limit});\nreturn inner_{call}; }}\n"
        for function, length, limit, call in (
            (toys.ENCRYPT, "mlen", 1024, "encrypt(c, clen, m, mlen, ad, adlen, nsec, n, k)"),
            (toys.DECRYPT, "clen", 1040, "decrypt(m, mlen, nsec, c, clen, ad, adlen, n, k)"),
        )
    )
    package = bench.package(files, variant="ascon128v12")
    record = bench.weigh(package, target, "0/1024,0/1040")
    assert record.failure is not None
    assert record.failure.reason is Reason.WRONG_OUTPUT, record.failure
    assert re.match(
        "encrypt, workload, message 1040, associated data 0 bytes: got .*, the bundled implementation ",
        record.failure.detail,
    )
    assert bench.weigh(package, target, "0/1024").ok


def test_a_package_that_lowers_the_trigger_is_refused(bench: Bench, uno: Target) -> None:
    record = weigh(bench, uno, in_encrypt="*(volatile unsigned char *)0x25 = 0;")
    assert record.failure is not None
    assert record.failure.reason is Reason.FAULT
    assert record.failure.detail.startswith("foreign-trigger:")


def test_another_seed_is_another_run_with_other_inputs(bench: Bench, uno: Target) -> None:
    job = bench.job(
        bench.package({**toys.files(in_encrypt="if (k[0] & 1) " + WORK), KAT: toys.kat()}), uno, "0/0,0/1,0/2,0/3"
    )
    first = pipeline.Pipeline(bench.store, threads=1).weigh(job)
    other = pipeline.Pipeline(bench.store, threads=1, seed="mine").weigh(job)
    assert (first.seed, other.seed) == ("steelyard", "mine")
    assert first.id != other.id
    assert first.points != other.points
    assert pipeline.Pipeline(bench.store, threads=1, seed="mine").campaign([job], lambda *_: None) == [other]
    again = pipeline.Pipeline(bench.store, threads=1, force=True).weigh(job)
    assert again.points == first.points
