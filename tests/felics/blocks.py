"""A block cipher in the first FELICS's folders for the tests: XTEA on words that begin with their last byte, with a
schedule that makes all round keys, and another that turns them round."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.implementation import Implementation
from steelyard.model.record import Record
from steelyard.sources import discover
from tests.conftest import Bench, write

NAME = "XTEA_64_128_v07"
SCENARIO_0, SCENARIO_1 = "felics-block-0", "felics-block-1"
KEY, BLOCK, ROUND_KEYS = 16, 8, 256
INFO = """ImplementationDescription: made for a test
EncryptionKeyScheduleConstants: delta
EncryptConstants:
DecryptionKeyScheduleConstants:
DecryptConstants:
EncryptionKeyScheduleCode:
EncryptCode: words
DecryptionKeyScheduleCode: words
DecryptCode: words
UseEncryptionKeySchedule: yes
UseDecryptionKeySchedule: yes
ImplementationAVR: C
"""
_ROUND = "(((%s << 4) ^ (%s >> 5)) + %s) ^ READ_ROUND_KEY_DOUBLE_WORD(rk[%s])"
SOURCES = {
    "constants.h": f"""#include "cipher.h"
#define BLOCK_SIZE {BLOCK}
#define KEY_SIZE {KEY} /* bytes */
#define ROUND_KEYS_SIZE {ROUND_KEYS}
extern DELTA_TYPE delta[1];
void swap(uint32_t *a, uint32_t *b);
""".replace("DELTA_TYPE", "ROM_DATA_DOUBLE_WORD"),
    "delta.c": '#include "constants.h"\nROM_DATA_DOUBLE_WORD delta[1] = {0x9E3779B9};\n',
    "words.c": """#include "constants.h"
void swap(uint32_t *a, uint32_t *b)
{
    uint32_t c = *a;
    *a = *b;
    *b = c;
}
""",
    "encryption_key_schedule.c": """#include "constants.h"
void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)
{
    uint32_t *k = (uint32_t *)key, *rk = (uint32_t *)roundKeys, sum = 0;
    uint8_t i;
    for (i = 0; i < 32; i++) {
        rk[2 * i] = sum + k[sum & 3];
        sum += READ_ROM_DATA_DOUBLE_WORD(delta[0]);
        rk[2 * i + 1] = sum + k[sum >> 11 & 3];
    }
}
""",
    "decryption_key_schedule.c": """#include "constants.h"
void RunDecryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)
{
    uint32_t *rk = (uint32_t *)roundKeys;
    uint8_t i;
    for (i = 0; i < 32; i++)
        swap(&rk[i], &rk[63 - i]);
}
""",
    "encrypt.c": f"""#include "constants.h"
#include "rot32.h"
void Encrypt(uint8_t *block, uint8_t *roundKeys)
{{
    uint32_t *v = (uint32_t *)block, *rk = (uint32_t *)roundKeys;
    uint8_t i;
    for (i = 0; i < 32; i++) {{
        v[0] += {_ROUND % ("v[1]", "v[1]", "v[1]", "2 * i")};
        v[1] += {_ROUND % ("v[0]", "v[0]", "v[0]", "2 * i + 1")};
    }}
    v[0] = rot32r8(rot32l8(v[0]));
    /* more */
}}
""",
    "decrypt.c": f"""#include "constants.h"
void Decrypt(uint8_t *block, uint8_t *roundKeys)
{{
    uint32_t *v = (uint32_t *)block, *rk = (uint32_t *)roundKeys;
    uint8_t i;
    for (i = 0; i < 32; i++) {{
        v[1] -= {_ROUND % ("v[0]", "v[0]", "v[0]", "2 * i")};
        v[0] -= {_ROUND % ("v[1]", "v[1]", "v[1]", "2 * i + 1")};
    }}
}}
""",
}


def encrypted(key: bytes, block: bytes) -> bytes:
    """XTEA with all words least significant byte first."""
    k = [int.from_bytes(key[i : i + 4], "little") for i in range(0, KEY, 4)]
    v, w = (int.from_bytes(block[i : i + 4], "little") for i in (0, 4))
    total, mask = 0, 0xFFFFFFFF
    for _ in range(32):
        v = v + ((((w << 4) ^ (w >> 5)) + w) ^ (total + k[total & 3])) & mask
        total = total + 0x9E3779B9 & mask
        w = w + ((((v << 4) ^ (v >> 5)) + v) ^ (total + k[total >> 11 & 3])) & mask
    return v.to_bytes(4, "little") + w.to_bytes(4, "little")


def round_keys(key: bytes) -> list[int]:
    """What the schedule makes of it."""
    k = [int.from_bytes(key[i : i + 4], "little") for i in range(0, KEY, 4)]
    sums = [n * 0x9E3779B9 & 0xFFFFFFFF for n in range(33)]
    pairs = ((sums[n] + k[sums[n] & 3], sums[n + 1] + k[sums[n + 1] >> 11 & 3]) for n in range(32))
    return [x & 0xFFFFFFFF for pair in pairs for x in pair]


def unscheduled() -> dict[str, str]:
    """Sources of the same cipher that makes round keys while it encrypts and decrypts, by stem."""
    out = {}
    first, second = "sum & 3", "sum >> 11 & 3"
    for stem, start, line, step, which in (
        ("encrypt", "0", "v[1] +=", "sum += 0x9E3779B9;", (first, second)),
        ("decrypt", "32 * 0x9E3779B9", "v[0] -=", "sum -= 0x9E3779B9;", (second, first)),
    ):
        text = SOURCES[f"{stem}.c"].replace("*)roundKeys;", f"*)roundKeys, sum = {start};")
        read = "READ_ROUND_KEY_DOUBLE_WORD(rk[{}])"
        for old, new in zip(("2 * i", "2 * i + 1"), which, strict=True):
            text = text.replace(read.format(old), f"(sum + {read.format(new)})")
        out[stem] = text.replace(line, f"{step}\n        {line}")
    copy = "uint8_t i;\n    for (i = 0; i < 16; i++)\n        roundKeys[i] = key[i];"
    for name, body in (("encryption", copy), ("decryption", "")):
        head = f"void Run{name.title()}KeySchedule(uint8_t *key, uint8_t *roundKeys)"
        out[f"{name}_key_schedule"] = f'#include "constants.h"\n{head}\n{{\n    {body}\n}}\n'
    return out


def vectors(key: bytes, block: bytes, output: bytes) -> str:
    """The text of a test_vectors.c."""
    names = (("Plaintext", "BLOCK", block), ("Key", "KEY", key), ("Ciphertext", "BLOCK", output))
    arrays = (f"const uint8_t expected{n}[{s}_SIZE] = {{{', '.join(map(hex, b))}}};\n" for n, s, b in names)
    return f'#include "test_vectors.h"\n// const uint8_t expectedKey[1] = {{1}};\n{"".join(arrays)}'


def files() -> dict[str, str]:
    """A complete package."""
    key, block = bytes(range(3, 3 + KEY)), bytes(range(100, 100 + BLOCK))
    known = vectors(key, block, encrypted(key, block))
    return {**SOURCES, "implementation.info": INFO, "test_vectors.c": known, "Makefile": "include ../x\n"}


def tree(root: Path, name: str = NAME, extra: dict[str, str] | None = None) -> Path:
    """Writes a package below ``root`` as in a FELICS tree; returns its cipher's folder."""
    write(root / "block_ciphers/source/ciphers" / name / "source", {**files(), **(extra or {})})
    return root / "block_ciphers/source/ciphers" / name


def package(bench: Bench, *, name: str = NAME, **changes: str) -> Implementation:
    """The cipher with other text in some files, named by their stem: ``old=>new``, or all of it."""
    extra = {}
    for stem, text in changes.items():
        file = "implementation.info" if stem == "info" else f"{stem}.c"
        old, arrow, new = text.partition("=>")
        extra[file] = files()[file].replace(old, new) if arrow else text
    found = discover(tree(bench.folder, name, extra))
    assert found.rejected == ()
    return found.implementations[0]


def felics(record: Record) -> dict[str, float]:
    """FELICS's figures of it."""
    assert record.failure is None
    return {k.removeprefix("felics_"): v for k, v in record.metrics.items() if k.startswith("felics_")}
