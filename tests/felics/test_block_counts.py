"""What counts of a block cipher of FELICS: all of its work, wherever and whenever it is done."""

from __future__ import annotations

import pytest

from steelyard import building
from steelyard.model.elf import sections
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.sources import discover
from tests.conftest import Bench, the_target, write
from tests.felics import blocks
from tests.felics.blocks import SCENARIO_0, felics, package


def test_schedules_that_are_none_do_not_count(bench: Bench, atmega128: Target) -> None:
    run = bench.weigh(package(bench, info=": yes=>: No", **blocks.unscheduled()), atmega128, SCENARIO_0)
    found = felics(run)
    assert [found[f] for f in ("cycles_eks", "cycles_dks", "stack_eks", "stack_dks")] == [0] * 4
    assert found["data_common"] == blocks.KEY + blocks.BLOCK
    assert found["code_eks"] == 4  # the constants
    assert found["code_total"] > found["code_e"] > found["code_dks"] > 0  # words.c
    assert run.metrics["cycles_schedule_decrypt_mean"] >= run.metrics["cycles_schedule_encrypt_mean"] > 0
    assert not any("denies" in note for note in run.notes)


def test_schedules_that_are_denied_count(bench: Bench, atmega128: Target) -> None:
    denied = bench.weigh(package(bench, info=": yes=>: no"), atmega128, SCENARIO_0)
    assert felics(denied) == felics(bench.weigh(package(bench), atmega128, SCENARIO_0))
    told = "implementation.info denies {}ion's key schedule, which makes round keys: it counts"
    assert {told.format("encrypt"), told.format("decrypt")} <= set(denied.notes)
    # one that makes a single byte of the key, again and again, is not taken for a context that stayed as it was filled
    sources = blocks.unscheduled()
    more = "\n    for (unsigned n = KEY_SIZE; n < ROUND_KEYS_SIZE; n++)\n        roundKeys[n] = key[0] ^ key[1];\n}"
    sources["encryption_key_schedule"] = sources["encryption_key_schedule"].replace("\n}", more)
    repeated = bench.weigh(package(bench, info=": yes=>: No", **sources), atmega128, SCENARIO_0)
    assert [note for note in repeated.notes if "denies" in note] == [told.format("encrypt")]


def test_each_source_counts_once_and_none_is_lost_without_a_word(bench: Bench, atmega128: Target) -> None:
    honest = felics(bench.weigh(package(bench), atmega128, SCENARIO_0))
    twice = felics(
        bench.weigh(package(bench, info="EncryptCode: words=>EncryptCode: words decrypt"), atmega128, SCENARIO_0)
    )
    assert (twice["code_e"], twice["code_total"]) == (
        honest["code_e"] + honest["code_d"] - _words(honest),
        honest["code_total"],
    )
    # its own source, and what constants list too, are no other sources
    again = "EncryptCode: words=>EncryptCode: words encrypt words\nEncryptConstants: words"
    assert felics(bench.weigh(package(bench, info=again), atmega128, SCENARIO_0)) == honest
    lost = bench.weigh(package(bench, info="Code: words=>Code:"), atmega128, SCENARIO_0)
    assert felics(lost)["code_total"] == honest["code_total"] - _words(honest)
    text = f"no list of implementation.info has words: {_words(honest):.0f} bytes are in no felics_code_*"
    assert text in lost.notes


def test_code_that_is_moved_into_a_phase_that_does_not_count_counts(bench: Bench, atmega128: Target) -> None:
    files = blocks.files() | {f"{stem}.c": text for stem, text in blocks.unscheduled().items()}
    honest = felics(bench.weigh(package(bench, info=": yes=>: No", **blocks.unscheduled()), atmega128, SCENARIO_0))
    decrypt, schedule = files["decrypt.c"], files["decryption_key_schedule.c"]
    moved = blocks.unscheduled() | {
        "decrypt": '#include "cipher.h"\nvoid work(uint8_t *, uint8_t *);\n'
        "void Decrypt(uint8_t *block, uint8_t *roundKeys) { work(block, roundKeys); }\n",
        "decryption_key_schedule": f"{schedule}\n{decrypt.replace('Decrypt(', 'work(')}",
    }
    record = bench.weigh(package(bench, info=": yes=>: No", **moved), atmega128, SCENARIO_0)
    assert record.ok, record.failure
    assert felics(record)["code_d"] >= honest["code_d"]
    text = "decryption_key_schedule is of a phase that does not count; decrypt uses it, and counts it"
    assert text in record.notes
    # nobody asks for it by its name: the schedule leaves its address
    pointed = moved | {
        "decrypt": '#include "cipher.h"\nvoid (*work)(uint8_t *, uint8_t *) = (void (*)(uint8_t *, uint8_t *))1;\n'
        "void Decrypt(uint8_t *block, uint8_t *roundKeys) { work(block, roundKeys); }\n",
        "decryption_key_schedule": f"{decrypt.replace('Decrypt(', 'work_of(')}\n"
        "extern void (*work)(uint8_t *, uint8_t *);\n"
        f"{schedule.rpartition('}')[0]}    work = work_of;\n}}\n",
    }
    record = bench.weigh(package(bench, info=": yes=>: No", **pointed), atmega128, SCENARIO_0)
    assert record.ok, record.failure
    assert felics(record)["code_d"] >= honest["code_d"]
    assert text in record.notes


def test_decryption_is_not_answered_by_the_encryption_before_it(bench: Bench, atmega128: Target) -> None:
    """What encryption keeps in static memory is gone when decryption is measured; the first decryption may be wrong
    where nobody looks."""
    files = blocks.files()
    kept = "#include <string.h>\nuint8_t kept[2][BLOCK_SIZE] = {{1}};\n"
    head, tail = "void Encrypt(uint8_t *block, uint8_t *roundKeys)", "void Decrypt(uint8_t *block, uint8_t *roundKeys)"
    assert head in files["encrypt.c"]
    assert tail in files["decrypt.c"]
    memo = {
        "encrypt": files["encrypt.c"].replace(head, f"{kept}static {head.replace('Encrypt', 'honest')}")
        + f"{head}\n{{\n    memcpy(kept[0], block, BLOCK_SIZE);\n    honest(block, roundKeys);\n"
        "    memcpy(kept[1], block, BLOCK_SIZE);\n}\n",
        "decrypt": files["decrypt.c"].replace(
            tail,
            f"#include <string.h>\nextern uint8_t kept[2][BLOCK_SIZE];\nstatic {tail.replace('Decrypt', 'honest')}",
        )
        + f"{tail}\n{{\n    if (memcmp(kept[1], block, BLOCK_SIZE) == 0)\n        memcpy(block, kept[0], BLOCK_SIZE);\n"
        "    else\n        honest(block, roundKeys);\n}\n",
    }
    fair, quick = (felics(bench.weigh(package(bench, **how), atmega128, SCENARIO_0)) for how in ({}, memo))
    assert quick["cycles_d"] > 0.9 * fair["cycles_d"]


def _words(found: dict[str, float]) -> float:
    """Bytes of words.c, which three phases list."""
    return (sum(found[f"code_{p}"] for p in ("eks", "e", "dks", "d")) - found["code_total"]) / 2


def test_who_knows_felics_s_message_alone_has_no_figures(bench: Bench, atmega128: Target) -> None:
    """CBC from a table of its output, CTR with the round keys of its key."""
    key = bytes(range(3, 3 + blocks.KEY))
    last, table = bytes(range(blocks.BLOCK, 0, -1)), b""
    for at in range(128, 0, -blocks.BLOCK):
        last = blocks.encrypted(key, bytes(a ^ b for a, b in zip(range(at, at - blocks.BLOCK, -1), last, strict=True)))
        table += last
    listed = f"static ROM_DATA_BYTE known[128] = {{{', '.join(map(str, table))}}};\nstatic uint8_t at;\n"
    cbc = f"#if SCENARIO == 1\n{listed}void Encrypt(uint8_t *block, uint8_t *k)\n{{\nuint8_t i;\n"
    cbc += "for (i = 0; i < 8; i++, at = at + 1 & 127) block[i] = READ_ROM_DATA_BYTE(known[at]);\n}\n#else"
    keys = ", ".join(map(str, blocks.round_keys(key)))
    ctr = f"uint32_t *v = (uint32_t *)block;\n#if SCENARIO == 2\nstatic ROM_DATA_DOUBLE_WORD rk[64] = {{{keys}}};\n"
    ctr += "#else\nuint32_t *rk = (uint32_t *)roundKeys;\n#endif\n"
    source = blocks.SOURCES["encrypt.c"]
    void, own = "void Encrypt", "uint32_t *v = (uint32_t *)block, *rk = (uint32_t *)roundKeys;"
    for scenario, text in ((1, source.replace(void, f"{cbc}\n{void}") + "#endif\n"), (2, source.replace(own, ctr))):
        run = bench.weigh(package(bench, encrypt=text), atmega128, f"felics-block-{scenario}")
        if scenario == 1:  # several blocks with one context that it gets: it is wrong
            assert run.failure is not None
            assert (run.failure.reason, run.failure.detail[:10]) == (Reason.WRONG_OUTPUT, "encrypt of")
            continue
        assert felics(run) == {}
        assert any(f"scenario {scenario}: wrong-output: encrypt of" in note for note in run.notes), run.notes


#: a function without the external definition that C99 asks for
_ONE = 'inline __attribute__((noinline)) void one(void) { __asm__ volatile("nop"); }\nvoid Encrypt'


@pytest.mark.parametrize("tries", [1, 2])
@pytest.mark.parametrize("peek", ["include", "incbin"])
def test_no_compiler_of_a_package_sees_round_keys(bench: Bench, atmega128: Target, peek: str, tries: int) -> None:
    """Neither those of FELICS's key nor those of the other one, in any try."""
    place = "../other/steelyard_round_keys.inc"
    text = f'#if __has_include("{place}")\n#error they are here\n#endif\n'
    if peek == "incbin":  # which is read where code is made, with link-time optimisation when objects are merged
        text = '__asm__(".section .rodata.x\\n.incbin \\"other/steelyard_round_keys.inc\\"\\n.text");\n'
    source = blocks.SOURCES["encrypt.c"].replace("void Encrypt", f"{text}void Encrypt")
    if tries == 2:
        source = source.replace("void Encrypt", _ONE)
        source = source.replace("/* more */", "one();")
    cipher = package(bench, encrypt=source)
    toolchain = building.identify(atmega128.toolchain)
    assert toolchain is not None
    keys = bytes(range(blocks.ROUND_KEYS))
    scenario = building.Scenario(2, blocks.BLOCK, keys, keys[::-1])
    made = building.build(cipher, atmega128, toolchain, ("-O2", "-flto"), scenario=scenario)
    if peek == "include":
        assert made.failure is None, made.failure
        assert any("-fgnu89-inline" in n for n in made.notes) is (tries == 2)
        assert set(made.images) == {"both", "other"}
    else:
        assert made.failure is not None
        assert "No such file" in made.log or "file not found" in made.log, made.log


def test_who_is_fast_with_felics_s_key_alone_is_told(bench: Bench, atmega128: Target) -> None:
    slow = 'for (i = 0; rk[0] != 0x06050403 && i < 250; i++) __asm__ volatile("");'
    run = bench.weigh(package(bench, encrypt=f"/* more */=>{slow}"), atmega128, SCENARIO_0)
    assert any(n.startswith("encrypt takes ") and "with a fresh key and text" in n for n in run.notes), run.notes


def test_a_schedule_s_work_is_not_found_in_static_memory(bench: Bench, atmega128: Target) -> None:
    """A copy of the key goes on as the round keys, and all of them stay beside it for who has the same key."""
    own = blocks.SOURCES["encryption_key_schedule.c"]
    body = own[own.index("{") + 1 :].replace("(uint32_t *)roundKeys", "kept.made")
    both = "struct kept { uint8_t key[16]; uint32_t made[64]; };\nextern struct kept kept;\n"
    fill = f"{both}void expand(uint8_t *key)\n{{{body}"
    schedule = f'#include "constants.h"\n#include <string.h>\nstruct kept kept;\n{fill}'
    schedule += "void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)\n{\n"
    schedule += "memcpy(roundKeys, key, 16);\nmemcpy(kept.key, key, 16);\nexpand(key);\n}\n"
    changes = blocks.unscheduled() | {"encryption_key_schedule": schedule}
    uses = f"#include <string.h>\n{both}void expand(uint8_t *key);\n"
    text = blocks.SOURCES["encrypt.c"].replace("*rk = (uint32_t *)roundKeys;", "*rk = kept.made;", 1)
    head, brace, rest = text.partition("uint8_t i;")
    look = "\nif (memcmp(kept.key, roundKeys, 16)) { memcpy(kept.key, roundKeys, 16); expand(roundKeys); }\n"
    changes["encrypt"] = head.replace("void ", f"{uses}void ", 1) + brace + look + rest
    changes["decrypt"] = blocks.unscheduled()["decrypt"]
    honest = felics(bench.weigh(package(bench), atmega128, SCENARIO_0))
    run = bench.weigh(package(bench, info=": yes=>: no", **changes), atmega128, SCENARIO_0)
    assert felics(run)["cycles_e"] > honest["cycles_e"] + honest["cycles_eks"] - 400


def test_code_that_an_unlisted_source_leads_to_counts(bench: Bench, atmega128: Target) -> None:
    """What stands in a phase that does not count is reached by a function or a pointer of a source that no list has."""
    files = blocks.files() | {f"{stem}.c": text for stem, text in blocks.unscheduled().items()}
    honest = felics(bench.weigh(package(bench, info=": yes=>: No", **blocks.unscheduled()), atmega128, SCENARIO_0))
    work = files["encrypt.c"].replace("void Encrypt", "void work").partition("\n")[2]
    moved = blocks.unscheduled() | {"decryption_key_schedule": files["decryption_key_schedule.c"] + work}
    for version, step, between in (
        ("08", "hop(block, roundKeys);", "void hop(uint8_t *b, uint8_t *k) { work(b, k); }"),
        ("09", "(*hop)(block, roundKeys);", "void (*hop)(uint8_t *, uint8_t *) = work;"),
    ):
        hop = (
            "void hop(uint8_t *, uint8_t *);" if step.startswith("hop") else "extern void (*hop)(uint8_t *, uint8_t *);"
        )
        head = f'#include "cipher.h"\n{hop}\nvoid Encrypt(uint8_t *block, uint8_t *roundKeys) {{ {step} }}\n'
        extra = {f"{stem}.c": text for stem, text in (moved | {"encrypt": head}).items()}
        extra["zz.c"] = f'#include "cipher.h"\nvoid work(uint8_t *, uint8_t *);\n{between}\n'
        extra["implementation.info"] = files["implementation.info"].replace(": yes", ": No")
        (found,) = discover(blocks.tree(bench.folder, f"XTEA_64_128_v{version}", extra)).implementations
        run = bench.weigh(found, atmega128, SCENARIO_0)
        assert felics(run)["code_e"] > honest["code_e"]
        assert felics(run)["code_total"] > honest["code_total"]
        assert any(n.startswith("no list of implementation.info has zz: ") for n in run.notes), run.notes


@pytest.mark.parametrize(
    ("schedule", "hop", "kept"),
    [
        # the linker makes the name of a section's beginning
        (
            '__attribute__((section("hidden"), used)) static void work(uint8_t *block, uint8_t *roundKeys)\n{BODY}\n'
            "void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)\n{COPY}\n",
            "void __start_hidden(uint8_t *, uint8_t *);\n#define hop __start_hidden\n",
            "",
        ),
        # what is denied registers it with a source that counts
        (
            "void put(void (*)(uint8_t *, uint8_t *));\nstatic void work(uint8_t *block, uint8_t *roundKeys)\n{BODY}\n"
            "void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)\n{put(work); COPY}\n",
            "void hop(uint8_t *, uint8_t *);\n",
            "static void (*kept)(uint8_t *, uint8_t *);\n"
            "void put(void (*f)(uint8_t *, uint8_t *)) { kept = f; }\n"
            "void hop(uint8_t *b, uint8_t *k) { kept(b, k); }\n",
        ),
    ],
)
def test_code_that_no_symbol_of_it_leads_to_counts(
    bench: Bench, atmega128: Target, schedule: str, hop: str, kept: str
) -> None:
    files = blocks.files()
    honest = felics(bench.weigh(package(bench, info=": yes=>: No", **blocks.unscheduled()), atmega128, SCENARIO_0))
    work = blocks.unscheduled()["encrypt"].partition("roundKeys)\n")[2].strip()
    copy = "uint8_t i; for (i = 0; i < 16; i++) roundKeys[i] = key[i];"
    text = schedule.replace("{BODY}", work).replace("{COPY}", f"{{{copy}}}").replace("COPY", copy)
    head = '#include "constants.h"\n#include "rot32.h"\n'
    moved = blocks.unscheduled() | {
        "encryption_key_schedule": head + text,
        "encrypt": f"{head}{hop}void Encrypt(uint8_t *block, uint8_t *roundKeys) {{ hop(block, roundKeys); }}\n",
        "words": files["words.c"] + kept,
    }
    run = bench.weigh(package(bench, name="XTEA_64_128_v09", info=": yes=>: No", **moved), atmega128, SCENARIO_0)
    assert felics(run)["code_e"] >= honest["code_e"]
    assert felics(run)["code_total"] >= honest["code_total"]
    assert any("is of a phase that does not count; encrypt uses it" in n for n in run.notes), run.notes


def test_a_denied_schedule_that_works_is_told(bench: Bench, atmega128: Target) -> None:
    """It makes round keys of the key that it gets, where no context shows them."""
    work = "for (i = 0; i < 64; i++)\n        made[i] += key[i & 15] * 77ul;"
    slow = blocks.unscheduled()["encryption_key_schedule"].replace(
        "uint8_t i;", f"static volatile uint32_t made[64];\n    uint8_t i;\n    {work}"
    )
    changed = blocks.unscheduled() | {"encryption_key_schedule": slow}
    run = bench.weigh(package(bench, info=": yes=>: No", **changed), atmega128, SCENARIO_0)
    assert felics(run)["cycles_eks"] == 0
    assert any(n.startswith("schedule encrypt takes ") and n.endswith("do not count: it is denied") for n in run.notes)


#: schedules that remember the round keys of the key that they had last, which both may use
_REMEMBERED = """
#include <string.h>
static unsigned char key[16], kept[108], on;
static int remembered(unsigned char *c, const unsigned char *k)
{
    if (on && !memcmp(key, k, 16)) {
        memcpy(c, kept, 108);
        return 0;
    }
    memcpy(key, k, 16);
    on = 1;
    made(c, k);
    memcpy(kept, c, 108);
    return 0;
}
"""


def test_no_schedule_finds_what_an_earlier_call_left(bench: Bench, atmega128: Target) -> None:
    """Neither that of the other direction, nor its own with the same key."""
    ours = discover(CIPHERS / "crypto_block/speck/speck64128/fast").implementations[0]
    files = {f.name: f.path.read_text() for f in ours.files}
    heads = [
        f"int crypto_block_{d}_schedule(unsigned char *ctx, const unsigned char *k)\n" for d in ("encrypt", "decrypt")
    ]
    assert all(h in files["fast.c"] for h in heads)
    honest = felics(bench.weigh(ours, atmega128, SCENARIO_0, "-O3"))
    text = files["fast.c"].replace(heads[0], heads[0].replace("int crypto_block_encrypt_schedule", "static int made"))
    text = text.replace(heads[1], heads[1].replace("int crypto_block_decrypt_schedule", "static int unused"))
    files["fast.c"] = text + _REMEMBERED + "".join(f"{h}{{ return remembered(ctx, k); }}\n" for h in heads)
    (found,) = discover(write(bench.folder / "crypto_block/speck64128/mine", files)).implementations
    memo = felics(bench.weigh(found, atmega128, SCENARIO_0, "-O3"))
    assert memo["cycles_eks"] > honest["cycles_eks"]
    assert memo["cycles_dks"] > honest["cycles_dks"]


def test_stack_that_is_filled_with_the_paint_counts(bench: Bench, atmega128: Target) -> None:
    deep = "uint8_t i; volatile uint8_t hidden[300]; for (int16_t n = 0; n < 300; n++) hidden[n] = 0x%02X;"
    painted, other = (
        felics(bench.weigh(package(bench, encrypt=f"uint8_t i;=>{deep % byte}"), atmega128, SCENARIO_0))
        for byte in (0x5A, 0x77)
    )
    assert painted["stack_e"] == other["stack_e"] > 300


def test_code_that_is_in_the_image_counts(bench: Bench) -> None:
    """Whatever its section is called, and where Steelyard provides it."""
    bluepill = the_target("bluepill")
    ours = discover(CIPHERS / "crypto_block/speck/speck64128/fast").implementations[0]
    files = {f.name: f.path.read_text() for f in ours.files}
    hidden = files["fast.c"].replace("int crypto_block_encrypt(", f"{_ELSEWHERE}\nstatic int hidden(")
    hidden += "int crypto_block_encrypt(unsigned char *o, const unsigned char *i, const unsigned char *c)\n"
    files["fast.c"] = f"{hidden}{{ return hidden(o, i, c); }}\n"
    (found,) = discover(write(bench.folder / "crypto_block/speck64128/mine", files)).implementations
    totals = [felics(bench.weigh(i, bluepill, "felics-block-2", "-O3"))["code_total"] for i in (ours, found)]
    assert totals[1] >= totals[0]
    made = building.objects(building.built(ours, bluepill), ours)["fast.c"].read_bytes()
    sizes = {s.name: s.size for s in sections(made)}
    # encryption and its round keys, and neither schedule nor decryption
    assert totals[0] == sizes[".text.crypto_block_encrypt"] + 108 < sum(sizes.values())
    (found,) = discover(write(bench.folder / "crypto_block/aes128/mine", _OPENSSL)).implementations
    run = bench.weigh(found, bluepill, SCENARIO_0)
    aes = sum(h.size for h in run.helpers if "provided" in h.member)
    assert felics(run)["code_total"] > aes > 1000


_ELSEWHERE = '__attribute__((noinline, section(".text.crypto_block_decrypt")))'
_OPENSSL = {
    "api.h": "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_BLOCKBYTES 16\n#define CRYPTO_CONTEXTBYTES 256\n",
    "block.c": """#include "api.h"
#include "crypto_block.h"
#include <openssl/aes.h>
int crypto_block_encrypt_schedule(unsigned char *c, const unsigned char *k)
{
    return AES_set_encrypt_key(k, 128, (AES_KEY *)c);
}
int crypto_block_decrypt_schedule(unsigned char *c, const unsigned char *k)
{
    return AES_set_decrypt_key(k, 128, (AES_KEY *)c);
}
int crypto_block_encrypt(unsigned char *o, const unsigned char *i, const unsigned char *c)
{
    AES_encrypt(i, o, (const AES_KEY *)c);
    return 0;
}
int crypto_block_decrypt(unsigned char *o, const unsigned char *i, const unsigned char *c)
{
    AES_decrypt(i, o, (const AES_KEY *)c);
    return 0;
}
""",
}
#: an encryption's schedule that does the work of the decryption's, where it is called for that, and says so in memory
_AHEAD = """uint8_t ahead, done;
void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)
{
    uint32_t *k = (uint32_t *)key, *rk = (uint32_t *)roundKeys, sum = 0;
    uint8_t i;
    for (i = 0; i < 32; i++) {
        rk[2 * i] = sum + k[sum & 3];
        sum += READ_ROM_DATA_DOUBLE_WORD(delta[0]);
        rk[2 * i + 1] = sum + k[sum >> 11 & 3];
    }
    done = ahead;
    for (i = 0; ahead && i < 64; i++)
        rk[64 + i] = rk[63 - i];
    ahead = 0;
}
"""
_BEHIND = """extern uint8_t ahead, done;
void RunDecryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)
{
    uint32_t *rk = (uint32_t *)roundKeys;
    uint8_t i;
    for (i = 0; !done && i < 64; i++)
        rk[64 + i] = rk[63 - i];
    done = 0;
    ahead = 1;
}
"""


def test_no_schedule_s_work_is_done_outside_of_its_pulse(bench: Bench, atmega128: Target) -> None:
    """That of encryption runs before each of decryption, which goes on from its round keys."""
    constants = blocks.SOURCES["constants.h"]
    twice = {
        "constants.h": constants.replace(f"E {blocks.ROUND_KEYS}", f"E {2 * blocks.ROUND_KEYS}"),
        "decrypt.c": blocks.SOURCES["decrypt.c"].replace("rk[", "rk[64 + "),
    }
    eager = twice | {
        "encryption_key_schedule.c": f'#include "constants.h"\n{_AHEAD}',
        "decryption_key_schedule.c": f'#include "constants.h"\n{_BEHIND}',
    }
    honest = twice | {
        "encryption_key_schedule.c": eager["encryption_key_schedule.c"].replace("ahead = 0", "ahead = done = 0"),
        "decryption_key_schedule.c": eager["decryption_key_schedule.c"].replace("ahead = 1;", ""),
    }
    runs = []
    for version, extra in (("01", honest), ("02", eager)):
        (found,) = discover(blocks.tree(bench.folder, f"XTEA_64_128_v{version}", extra)).implementations
        runs.append(bench.weigh(found, atmega128, SCENARIO_0, "-O3"))
        assert runs[-1].failure is None, runs[-1].failure
    least, got = (run.metrics["cycles_schedule_decrypt_mean"] for run in runs)
    assert got > 0.95 * least
    assert runs[1].metrics["felics_cycles_dks"] > 0.9 * runs[0].metrics["felics_cycles_dks"] > 500
