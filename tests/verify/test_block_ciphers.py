"""Right and wrong block ciphers on the simulator: XTEA, whole and with something wrong around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from steelyard import device, verify
from steelyard.model.call import CallResult, DeviceError, Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.inputs import Inputs
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record, Verification
from steelyard.model.target import Target
from steelyard.reference import reference
from steelyard.sources import discover
from steelyard.verify import known_block
from steelyard.verify.knownblock import COUNT
from tests.conftest import Bench, the_target, write

XTEA = CIPHERS / "crypto_block" / "xtea" / "xtea" / "ref"
KEY, BLOCK, CONTEXT = 16, 8, 16
NAMES = ("encrypt_schedule", "decrypt_schedule", "encrypt", "decrypt")
#: XTEA under other names, and calls of it with places for something wrong
SOURCE = (
    "".join(f"#define crypto_block_{n} xtea_{n}\n" for n in NAMES)
    + '#include "xtea.h"\n'
    + "".join(f"#undef crypto_block_{n}\n" for n in NAMES)
    + """#undef STEELYARD_CRYPTO_BLOCK_H
#include "crypto_block.h"
#include <stdint.h>
@TOP@
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    int code = xtea_encrypt_schedule(ctx, k);
    @SCHEDULE@
    return code;
}
int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    int code = xtea_decrypt_schedule(ctx, k);
    @SCHEDULE@
    return code;
}
int crypto_block_encrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    int code;
    @BEFORE@
    code = xtea_encrypt(out, in, ctx);
    @ENCRYPT@
    return code;
}
int crypto_block_decrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    int code;
    @BEFORE@
    code = xtea_decrypt(out, in, ctx);
    @DECRYPT@
    return code;
}
"""
)
#: the first bytes of keys with known answers
PUBLISHED = ", ".join(str(key[0]) for key, _ in known_block("xtea").inputs())  # type: ignore[union-attr]
#: where contexts are in a table, and only their number is in the context
TABLE = "static unsigned char table[300][CRYPTO_KEYBYTES]; static unsigned used;"
IN_TABLE = "memcpy(table[used % 300], ctx, CRYPTO_KEYBYTES); memset(ctx, 0, CRYPTO_KEYBYTES); "
IN_TABLE += "ctx[0] = (unsigned char)used; ctx[1] = (unsigned char)(used >> 8); used++;"
OUT_OF_TABLE = "ctx = table[(ctx[0] | ctx[1] << 8) % 300];"
#: two contexts in static memory, of which the newer is taken whichever is asked for
CACHE = "static uint32_t ways[2][4]; static uint8_t newest;"
CACHED = "if (memcmp(ways[0], ctx, 16) && memcmp(ways[1], ctx, 16)) memcpy(ways[newest ^= 1], ctx, 16);"
CACHED += "ctx = (unsigned char *)ways[newest];"
#: a context that comes back after so many others
LATEST = "static uint32_t latest[4];"
BACK = "{{ uint32_t c = *(uint32_t *)ctx; int i = 0; while (i < 3 && latest[i] != c) i++;"
BACK += "if (i == {} && latest[i] == c) out[0] ^= 1; memmove(latest + 1, latest, 4 * i); latest[0] = c; }}"
#: two contexts whose blocks take turns for a while
TURNS = "static uint32_t one, other; static uint8_t n;"
SWAPPED = "{ uint32_t c = *(uint32_t *)ctx; if (c != one) { n = c == other ? n + 1 : 0; other = one; one = c; }"
SWAPPED += "if (n > 3) out[0] ^= 1; }"
#: the hundredth block with one context, and other contexts after it
COUNTED = "static uint32_t last, spoilt; static uint8_t n;"
ROW = "n = last == *(uint32_t *)ctx ? n + 1 : 0; last = *(uint32_t *)ctx;"
HUNDREDTH = f"{ROW} if (n == 100) out[0] ^= 1;"
SPOILT = f"{ROW} if (n == 100) spoilt = last; if (spoilt && spoilt != last) out[0] ^= 1;"
SEVERAL = "a context for several blocks, "
STARTED = "if (n == 0) { n = 1; out[0] ^= 1; }"
#: what encryption made of a context lies where decryption works: it is gone after a block that is decrypted
SHARED = "static uint32_t tag, work;"
SHARED_ENCRYPT = "{ uint32_t c = *(uint32_t *)ctx; if (tag != c) work = tag = c; if (work != c) out[0] ^= 1; }"
SHARED_DECRYPT = "work = 0;"
#: keys that encryption had, without which a key of decryption is wrong
KEPT_KEYS = "static unsigned char kept[200][16]; static unsigned used;"
LOOKED_UP = (
    "if (__func__[13] == 'd') { int i = 0; while (i < 200 && memcmp(kept[i], ctx, 16)) i++; ctx[0] ^= i == 200; }"
)
#: context of another size, which begins with its own address
WIDE = {"context": CONTEXT + 8, "schedule": "*(uintptr_t *)(ctx + CRYPTO_KEYBYTES) = (uintptr_t)ctx;"}


def package(
    bench: Bench, *, key: int = KEY, block: int = BLOCK, context: int = CONTEXT, variant: str = "xtea", **hooks: str
) -> Implementation:
    text = SOURCE
    for place in ("TOP", "SCHEDULE", "BEFORE", "ENCRYPT", "DECRYPT"):
        text = text.replace(f"@{place}@", hooks.get(place.lower(), ""))
    api = f"#define CRYPTO_KEYBYTES {key}\n#define CRYPTO_BLOCKBYTES {block}\n#define CRYPTO_CONTEXTBYTES {context}\n"
    files = {"api.h": api, "mine.c": text, "xtea.h": (XTEA / "ref.c").read_text(), "bytes.h": _bytes()}
    found = discover(write(bench.folder / "crypto_block" / variant / "mine", files))
    assert found.rejected == ()
    return found.implementations[0]


def _bytes() -> str:
    return (XTEA / "bytes.h").read_text()


def failure(record: Record) -> Failure:
    assert record.failure is not None
    return record.failure


def test_a_block_cipher_is_weighed(bench: Bench, target: Target) -> None:
    record = bench.weigh(package(bench), target, "default")
    assert record.failure is None
    assert record.verification == Verification("known", COUNT, 0, 0)
    assert (record.setup.primitive, record.setup.label, record.points) == ("crypto_block", "xtea/mine", ())
    assert record.setup.workload.startswith("kat ")
    found = record.metrics
    operations = ("encrypt", "decrypt", "schedule_encrypt", "schedule_decrypt")
    assert all(found[f"cycles_{op}_mean"] > 0 and found[f"energy_{op}_modelled"] > 0 for op in operations)
    assert found["encrypt_per_byte"] == found["cycles_encrypt_mean"] / BLOCK
    assert found["stack"] == max(found[f"stack_{op}"] for op in operations) > 0
    assert found["rom"] > found["rom_encrypt"] > 0
    assert found["rom"] > found["rom_decrypt"] > 0
    # a baseline copies as many bytes
    baseline = bench.weigh(discover(CIPHERS / "crypto_block" / "nocrypt").implementations[0], target)
    assert baseline.ok
    assert baseline.metrics["cycles_encrypt_mean"] < found["cycles_encrypt_mean"] / 10
    assert (baseline.metrics["rom"], baseline.metrics["ram_static"], found["ram_static"]) == (0, 0, 0)


WRONG = {
    "its schedule writes past its context": (
        {"schedule": "ctx[CRYPTO_CONTEXTBYTES] = 1;"},
        Reason.BUFFER_OVERRUN,
        f"vector 1: schedule_encrypt writes past its context of {CONTEXT} bytes",
    ),
    "its schedule writes far past its context": (
        {"schedule": "ctx[CRYPTO_CONTEXTBYTES + 100] = 1;"},
        Reason.STRAY_WRITE,
        "schedule_encrypt: writes 1 byte of free RAM",
    ),
    "its schedule writes in front of its context": (
        {"schedule": "ctx[-1]++;"},
        Reason.STRAY_WRITE,
        "schedule_encrypt writes 1 byte in front of its context, the place of another one",
    ),
    "encryption changes its context": (
        {"encrypt": "((unsigned char *)ctx)[3]++;"},
        Reason.STRAY_WRITE,
        "encrypt changes its context, or bytes right after it",
    ),
    "decryption restores its context": (
        {"decrypt": "{ volatile unsigned char *p = (unsigned char *)ctx; p[0] ^= 1; p[0] ^= 1; }"},
        Reason.STRAY_WRITE,
        "decrypt writes into its input: context",
    ),
    "encryption keeps something where the key was": (
        {"before": "{ volatile unsigned char *p = (unsigned char *)ctx - CRYPTO_KEYBYTES; p[2] = p[5] = 1; }"},
        Reason.STRAY_WRITE,
        "encrypt writes 2 bytes in front of its context",
    ),
    "a context depends on its address": (
        {**WIDE, "encrypt": "if (*(uintptr_t *)(ctx + CRYPTO_KEYBYTES) != (uintptr_t)ctx) out[0] ^= 1;"},
        Reason.KAT_MISMATCH,
        "vector 1: got ",
    ),
    "contexts are in static memory": (
        {"top": TABLE, "schedule": IN_TABLE, "before": OUT_OF_TABLE},
        Reason.KAT_MISMATCH,
        "vector 1: got ",
    ),
    "decryption is wrong": ({"decrypt": "out[7] ^= 0x80;"}, Reason.DECRYPT_MISMATCH, "vector 1: got "),
    "another cipher": ({"encrypt": "out[0] ^= out[1];", "before": ""}, Reason.KAT_MISMATCH, "vector 1: got "),
    "only published keys": (
        {
            "top": f"static unsigned char known[] = {{{PUBLISHED}}};",
            "schedule": "if (memchr(known, k[0], sizeof known) == NULL) ctx[1] ^= 1;",
        },
        Reason.WRONG_OUTPUT,
        "fresh inputs, key ",
    ),
    "the second block with a context": (
        {
            "top": "static uint32_t last;",
            "encrypt": "if (last == *(uint32_t *)ctx) out[0] ^= 1; last = *(uint32_t *)ctx;",
        },
        Reason.WRONG_OUTPUT,
        SEVERAL,
    ),
    "the hundred and fiftieth block since a restart": (
        {"top": "static uint8_t n;", "encrypt": "if (++n == 150) out[0] ^= 1;"},
        Reason.WRONG_OUTPUT,
        SEVERAL,
    ),
    "two contexts that take turns for a while": ({"top": TURNS, "encrypt": SWAPPED}, Reason.WRONG_OUTPUT, SEVERAL),
    "decryption of the second block with a context": (
        {"top": COUNTED, "decrypt": f"{ROW} if (n == 1) out[0] ^= 1;"},
        Reason.DECRYPT_MISMATCH,
        SEVERAL,
    ),
    "a cache of two contexts takes one for the other": (
        {"top": CACHE, "before": f"if (__func__[13] == 'e') {{ {CACHED} }}"},
        Reason.WRONG_OUTPUT,
        SEVERAL,
    ),
    "a cache of two contexts takes one for the other in decryption": (
        {"top": CACHE, "before": f"if (__func__[13] == 'd') {{ {CACHED} }}"},
        Reason.DECRYPT_MISMATCH,
        SEVERAL,
    ),
    **{
        f"a context after {others} others, {hook}": ({"top": LATEST, hook: BACK.format(others)}, reason, SEVERAL)
        for hook, reason in (("encrypt", Reason.WRONG_OUTPUT), ("decrypt", Reason.DECRYPT_MISMATCH))
        for others in (1, 2, 3)
    },
    "encryption has a cache, where decryption works": (
        {"top": SHARED, "encrypt": SHARED_ENCRYPT, "decrypt": SHARED_DECRYPT},
        Reason.WRONG_OUTPUT,
        SEVERAL,
    ),
    "encryption has a cache, where schedules work": (
        {"top": SHARED, "encrypt": SHARED_ENCRYPT, "schedule": SHARED_DECRYPT},
        Reason.WRONG_OUTPUT,
        SEVERAL,
    ),
    "decryption of the hundredth block in a row": (
        {"top": COUNTED, "decrypt": HUNDREDTH},
        Reason.DECRYPT_MISMATCH,
        SEVERAL,
    ),
    "others after a hundred blocks in a row": ({"top": COUNTED, "encrypt": SPOILT}, Reason.WRONG_OUTPUT, SEVERAL),
    "decryption of others after a hundred blocks in a row": (
        {"top": COUNTED, "decrypt": SPOILT},
        Reason.DECRYPT_MISMATCH,
        SEVERAL,
    ),
    "the first block after a start": (
        {"top": COUNTED, "encrypt": STARTED},
        Reason.WRONG_OUTPUT,
        "the first call after a start, encrypt: key ",
    ),
    "decryption of the first block after a start": (
        {"top": COUNTED, "decrypt": STARTED},
        Reason.WRONG_OUTPUT,
        "the first call after a start, decrypt, encrypted again: key ",
    ),
    "decryption's schedule reads what encryption keeps": (
        {"top": KEPT_KEYS, "encrypt": "memcpy(kept[used++ % 200], ctx, 16);", "schedule": LOOKED_UP},
        Reason.DECRYPT_MISMATCH,
        "vector 1: got ",
    ),
    "no block": ({"block": 0, "variant": "mystery"}, Reason.UNSUPPORTED_SIZE, "key 16, block 0, context 16 bytes"),
    "it fails": ({"encrypt": "code = -1;"}, Reason.WRONG_OUTPUT, "vector 1: encrypt returned -1"),
    "there is no room for its heap": (
        {"top": "#include <stdlib.h>", "schedule": "if (malloc(30000) == NULL) return -1;"},
        Reason.RAM_OVERFLOW,
        "vector 1: schedule_encrypt asks for more heap than there is, and returns -1",
    ),
    "another key's size": ({"key": 24}, Reason.KAT_MISMATCH, "api.h says key 24, block 8 bytes; xtea has 16, 8"),
    "another block's size": ({"block": 4}, Reason.KAT_MISMATCH, "api.h says key 16, block 4 bytes; xtea has 16, 8"),
    "a context that fills the RAM": (
        {"context": 12000},
        Reason.RAM_OVERFLOW,
        "a schedule needs two buffers for contexts of 12000 bytes",
    ),
    "a context that fills a frame": ({"context": 65530}, Reason.RAM_OVERFLOW, "a schedule needs two buffers"),
    "a context that no frame holds": ({"context": 65536}, Reason.UNSUPPORTED_SIZE, "api.h: CRYPTO_CONTEXTBYTES"),
    "a block that fills the RAM": (
        {"block": 60000, "variant": "mystery"},
        Reason.RAM_OVERFLOW,
        "a schedule needs two buffers for contexts of 16 bytes and a key of 16, a call two blocks of 60000; ",
    ),
    "an unknown cipher": ({"variant": "mystery"}, Reason.NO_EXPECTED, "no known answers for mystery"),
    "a name that is a pattern of all": ({"variant": "*"}, Reason.NO_EXPECTED, "no known answers for *"),
    "a name that is no pattern": ({"variant": "a**"}, Reason.NO_EXPECTED, "no known answers for a**"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_has_a_reason(bench: Bench, what: str) -> None:
    how, reason, text = WRONG[what]
    record = bench.weigh(package(bench, **how), the_target("bluepill"))  # type: ignore[arg-type]
    failed = failure(record)
    assert failed.reason is reason, failed
    assert not record.ok
    assert (record.metrics == {}) is (reason is not Reason.NO_EXPECTED)  # these are shown, with a mark
    assert failed.detail.startswith(text), failed


def test_a_small_ram_says_so(bench: Bench, uno: Target) -> None:
    failed = failure(bench.weigh(package(bench, context=1000), uno))
    assert failed.reason is Reason.RAM_OVERFLOW
    assert bench.weigh(package(bench, context=400), uno).ok


def test_time_that_depends_on_the_key_is_shown(bench: Bench, uno: Target) -> None:
    slow = f"static unsigned char known[] = {{{PUBLISHED}}};"
    wait = "if (memchr(known, k[0], sizeof known) == NULL) { volatile unsigned n; for (n = 0; n < 500; n++); }"
    record = bench.weigh(package(bench, top=slow, schedule=wait), uno)
    assert record.ok
    figures = record.metrics
    assert figures["cycles_schedule_encrypt_mean"] > 2 * figures["cycles_schedule_encrypt_known_mean"]
    assert "cycles_encrypt_known_mean" in figures
    assert any(n.startswith("time depends on the inputs: ") for n in record.notes)


def test_a_block_cipher_that_knows_the_published_keys_gains_nothing(bench: Bench, uno: Target) -> None:
    known = f"static unsigned char known[] = {{{PUBLISHED}}};"
    wait = "if (memchr(known, ctx[3], sizeof known) == NULL) { volatile unsigned n; for (n = 0; n < 500; n++); }"
    figures = bench.weigh(package(bench, top=known, encrypt=wait), uno).metrics
    honest, lucky = figures["cycles_encrypt_mean"], figures["cycles_encrypt_known_mean"]
    assert honest > lucky + 1000
    assert figures["encrypt_per_byte"] == pytest.approx(honest / 8)
    cycle = uno.nanojoule_per_cycle or 0.0
    assert figures["energy_encrypt_modelled"] == pytest.approx(honest * cycle / 1000)


def test_known_answers_in_a_table_gain_nothing_whichever_they_are(bench: Bench, uno: Target) -> None:
    """Those past the first 16, as many as there are fresh keys."""
    pairs = list(known_block("xtea").inputs())  # type: ignore[union-attr]
    first = ", ".join(str(key[0]) for key, _ in pairs[:16])
    known = f"static unsigned char first[] = {{{first}}}, known[] = {{{PUBLISHED}}};"
    wait = "if (memchr(first, ctx[3], 16) != NULL || memchr(known, ctx[3], sizeof known) == NULL)"
    figures = bench.weigh(
        package(bench, top=known, encrypt=f"{wait} {{ volatile unsigned n; for (n = 0; n < 500; n++); }}"), uno
    ).metrics
    assert figures["cycles_encrypt_mean"] > figures["cycles_encrypt_known_mean"] + 1000


def test_a_machine_sees_a_context_that_is_changed(bench: Bench) -> None:
    """By what leaves the answer as it is."""
    last = "((unsigned char *)(uintptr_t)ctx)[16] ^= 1;"
    failed = failure(bench.weigh(package(bench, context=24, decrypt=last), the_target("host")))
    assert failed.reason is Reason.STRAY_WRITE
    assert failed.detail == "changes its context, which other calls need as it is"


def test_what_runs_on_no_small_chip_answers_on_a_large_one() -> None:
    """FIPS 197, appendix C.1."""
    [mine] = discover(CIPHERS / "crypto_block/aes/aes128/fast").implementations
    ask = reference(mine, the_target("attiny85"))
    assert ask is not None
    key, block = bytes(range(16)), bytes(17 * n for n in range(16))
    [answer] = ask("-", [Request(Op.ENCRYPT, key, b"", b"", block)])
    assert answer == bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")


class _Kept(device.Client):
    """A client that keeps what it was asked."""

    def __init__(self, link: device.Link) -> None:
        self.asked: list[Request] = []
        super().__init__(link)

    def calls(self, requests: Iterable[Request]) -> Iterator[CallResult]:
        every = list(requests)
        self.asked += every
        return super().calls(every)


def test_no_figure_is_of_a_context_or_key_that_was_used_before(bench: Bench, uno: Target) -> None:
    """Who remembers results, or what it made of a key, gains nothing: whatever is measured is measured once."""
    implementation = package(bench)
    client = _Kept(bench.client(implementation, uno).link)
    verifier = verify.BlockVerifier(client, implementation, Inputs(implementation.digest))
    known, _ = verify.known_blocks_answers(verifier)
    fresh = verify.fresh_blocks(verifier, known) + verify.fresh_blocks(verifier, known, every=True)
    verify.reused(verifier, known)
    verify.promised(verifier)
    first: dict[tuple[Op, bytes], Request] = {}
    for r in client.asked:
        first.setdefault((r.op, r.key if r.op.is_schedule else r.npub), r)
    measured = [(Op(op), v.npub if v.message else v.key, v) for op, v, _ in (*known.calls, *fresh)]
    assert len({(op, of) for op, of, _ in measured}) == len(measured) > 8 * COUNT
    for op, of, v in measured:
        r = first[op, of]
        assert (r.aside, r.key, r.npub, r.data) == (False, v.key, v.npub, v.message)


@pytest.mark.parametrize("part", ["encrypt", "decrypt"])
def test_an_image_of_one_direction_refuses_the_other(bench: Bench, uno: Target, part: str) -> None:
    built = bench.build(package(bench), uno)
    client = device.simulated(uno, built.images[part])
    there, absent = (Op.ENCRYPT, Op.DECRYPT) if part == "encrypt" else (Op.DECRYPT, Op.ENCRYPT)
    assert verify.made(client, there, bytes(KEY), bytes(BLOCK)).code == 0
    with pytest.raises(DeviceError, match="bad request"):
        verify.made(client, absent, bytes(KEY), bytes(BLOCK))


def test_api_h_tells_a_block_cipher_outside_of_any_crypto_folder(bench: Bench) -> None:
    files = {f.name: f.path.read_text() for f in package(bench).files}
    (found,) = discover(write(bench.folder / "mine", files)).implementations
    assert found.primitive == "crypto_block"


def test_a_cipher_of_one_s_own_is_verified_by_its_file(bench: Bench) -> None:
    """And by no other answer than those in it."""
    (xtea,) = discover(XTEA).implementations
    files = {f"crypto_block/myfam/mine/ref/{f.name}": f.path.read_text() for f in xtea.files}
    name = "crypto_block/myfam/mine/LWC_BLOCK_KAT_128_64.txt"
    key, block = "000102030405060708090a0b0c0d0e0f", "4142434445464748"
    right = f"Count = 1\nKey = {key}\nPT = {block}\nCT = 497df3d072612cb5\n"

    def weighed(text: str) -> Record:
        (found,) = discover(write(bench.folder, files | {name: text}) / "crypto_block").implementations
        assert (found.family, found.variant) == ("myfam", "mine")
        return bench.weigh(found, the_target("bluepill"))

    good = weighed(right)
    assert good.failure is None
    assert good.verification is not None
    assert (good.verification.source, good.verification.vectors) == ("package", COUNT + 1)
    for other in ("Count = 1\n" + "".join(f"{n} = {'00' * 16}\n" for n in ("Key", "PT", "CT")), "no vector"):
        (bench.folder / "crypto_block/myfam/mine/LWC_BLOCK_KAT_128_128.txt").write_text(other)
        assert weighed(right).failure is None, "of several files the first with its sizes counts"
    (bench.folder / "crypto_block/myfam/mine/LWC_BLOCK_KAT_128_128.txt").unlink()
    for text, reason, detail in (
        (right.replace("b5", "b6"), Reason.KAT_MISMATCH, "the package's file, vector 1: got 497DF3D072612CB5"),
        (right.replace("0e0f", "0e"), Reason.BAD_KAT, "vector 1: key, PT and CT of 15, 8 and 8 bytes; api.h has 16"),
        (right.replace(f"PT = {block}\n", ""), Reason.BAD_KAT, "vector 1 has no PT"),
        (right.replace("PT", "AD"), Reason.BAD_KAT, "line 3: no field is called 'AD'"),
        ("".join(right.replace("= 1", f"= {n}", 1) for n in range(1025)), Reason.BAD_KAT, "1025 vectors; at most 1024"),
    ):
        failed = failure(weighed(text))
        assert (failed.reason, detail in failed.detail) == (reason, True), failed


#: a stack that only calls with other buffers take, or late ones
DEEP = "__attribute__((noinline)) static int deep(int n) { volatile uint8_t all[400]; all[0] = n; return all[0]; }"


@pytest.mark.parametrize("when", ["out == in", "(uintptr_t)in & 1", "++n > 70"])
def test_the_deepest_stack_of_all_calls_counts(bench: Bench, uno: Target, when: str) -> None:
    plain = bench.weigh(package(bench), uno).metrics
    top = f"static uint8_t n; {DEEP}"
    found = bench.weigh(package(bench, top=top, before=f"if (n == 255) n = 0; if ({when}) deep(1);"), uno).metrics
    assert found["stack_encrypt"] > 400 > plain["stack_encrypt"]
    assert found["stack"] == max(found["stack_encrypt"], found["stack_decrypt"])
    assert found["stack_schedule_encrypt"] == plain["stack_schedule_encrypt"]


def test_calls_that_take_longer_than_any_figure_has_it_are_told(bench: Bench, uno: Target) -> None:
    wait = "{ volatile unsigned i; for (i = 0; i < 900; i++); }"
    late = {"top": "static uint8_t n;", "before": f"if (n < 220) n++; else {wait}"}
    first = {"top": "static uint8_t made;", "schedule": f"if (!made) {{ made = 1; {wait} }}"}
    for hooks, told in (
        (late, ["encrypt takes up to ", "decrypt takes up to "]),
        (first, ["the first schedule encrypt after a restart takes "]),
        ({}, []),
    ):
        record = bench.weigh(package(bench, **hooks), uno)  # type: ignore[arg-type]
        notes = [n for n in record.notes if n.endswith("no figure has that")]
        assert [n[: len(t)] for n, t in zip(notes, told, strict=True)] == told, record
