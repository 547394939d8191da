"""Primitives that Steelyard provides: known answers of FIPS 197 and SP 800-38A, and packages that call them."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.building import provided
from steelyard.model import paths
from steelyard.model.elf import defined
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from tests import toys
from tests.conftest import SIMULATED, Bench, the_target

#: key, plaintexts, ciphertexts: FIPS 197 appendix C, then SP 800-38A F.1.1, F.1.3, F.1.5
_PLAIN = (
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
KNOWN = [
    *(
        ("".join(f"{i:02x}" for i in range(size)), "00112233445566778899aabbccddeeff", cipher)
        for size, cipher in (
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
            (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        )
    ),
    (
        "2b7e151628aed2a6abf7158809cf4f3c",
        _PLAIN,
        "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
        "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
    ),
    (
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        _PLAIN,
        "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
        "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
    ),
    (
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        _PLAIN,
        "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
        "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
    ),
]


class Library:
    """All of them for this machine, with words of ``bits`` bits, under the sanitizer."""

    def __init__(self, folder: Path, bits: int) -> None:
        include = f"-I{paths.HARNESS}/include"
        units = [f"{provided.SOURCES}/{name}.c" for name in provided.FUNCTIONS]
        for k, unit in enumerate(units):
            command = ["gcc", "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fPIC"]
            command += ["-fsanitize=undefined", "-fno-sanitize-recover=all", f"-DAES_BITS={bits}", include]
            subprocess.run([*command, "-c", unit, "-o", f"{k}.o"], check=True, cwd=folder)
            keep = [o for f in provided.FUNCTIONS[Path(unit).stem] for o in ("--keep-global-symbol", f)]
            subprocess.run(["objcopy", *keep, f"{k}.o"], check=True, cwd=folder)
        made = folder / f"aes{bits}.so"
        objects = [f"{k}.o" for k in range(len(units))]
        subprocess.run(["gcc", "-shared", "-fsanitize=undefined", *objects, "-o", str(made)], check=True, cwd=folder)
        self.code = ctypes.CDLL(str(made))

    def openssl(self, way: str, key: bytes, block: bytes) -> bytes:
        schedule, out = ctypes.create_string_buffer(244), ctypes.create_string_buffer(16)
        assert self.code[f"AES_set_{way}_key"](key, 8 * len(key), schedule) == 0
        self.code[f"AES_{way}"](block, out, schedule)
        return out.raw

    def core(self, way: str, key: bytes, block: bytes) -> bytes:
        out = ctypes.create_string_buffer(16)
        assert self.code[f"crypto_core_aes{8 * len(key)}{way}"](out, block, key, None) == 0
        return out.raw


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Library]:
    return [Library(tmp_path_factory.mktemp("aes"), bits) for bits in (8, 16, 32)]


@pytest.mark.parametrize(("key", "plain", "cipher"), KNOWN)
def test_known_answers(libraries: Sequence[Library], key: str, plain: str, cipher: str) -> None:
    k, p, c = map(bytes.fromhex, (key, plain, cipher))
    for library in libraries:
        for call in (library.openssl, library.core) if len(k) != 24 else (library.openssl,):
            for at in range(0, len(p), 16):
                assert call("encrypt", k, p[at : at + 16]) == c[at : at + 16]
                assert call("decrypt", k, c[at : at + 16]) == p[at : at + 16]


@given(
    st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n)),
    st.binary(min_size=16, max_size=16),
)
def test_words_of_all_sizes_agree(libraries: Sequence[Library], key: bytes, block: bytes) -> None:
    first, *others = (library.openssl("encrypt", key, block) for library in libraries)
    assert others == [first, first]
    assert [library.openssl("decrypt", key, first) for library in libraries] == [block] * 3


def test_openssl_refuses_as_its_manual_says(libraries: Sequence[Library]) -> None:
    set_key, key = libraries[0].code.AES_set_encrypt_key, bytes(32)
    schedule = ctypes.create_string_buffer(244)
    assert set_key(None, 128, schedule) == set_key(key, 128, None) == -1
    assert set_key(key, 0, schedule) == set_key(key, 129, schedule) == set_key(key, 512, schedule) == -2


def calling(call: str, answer: str, *headers: str) -> dict[str, str]:
    """A toy that refuses to encrypt where ``call`` does not leave the hexadecimal ``answer`` in out."""
    text = ", ".join(f"0x{b:02x}" for b in bytes.fromhex(answer))
    top = "".join(f"#include <{h}>\n" for h in headers) + f"static const unsigned char answer[16] = {{{text}}};\n"
    top += "static const unsigned char in[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,"
    top += " 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};\n"
    body = "unsigned char out[16], counting[32]; for (i = 0; i < 32; i++) counting[i] = (unsigned char)i;"
    body += f"{call} for (i = 0; i < 16; i++) if (out[i] != answer[i]) return 1;"
    files = toys.files(top=top)
    files["encrypt.c"] = files["encrypt.c"].replace("(void)nsec;", f"(void)nsec; {{ {body} }}", 1)
    return {**files, "LWC_AEAD_KAT_128_128.txt": toys.kat()}


CORE = calling(
    "crypto_core_aes128encrypt(out, in, counting, 0);", KNOWN[0][2], "string.h", "crypto_core_aes128encrypt.h"
)
BOTH = calling(
    """AES_KEY key; AES_set_encrypt_key(counting, 256, &key); AES_encrypt(in, out, &key);
    for (i = 0; i < 16; i++) if (out[i] != answer[i]) return 1;
    AES_set_decrypt_key(counting, 256, &key); AES_decrypt(out, out, &key);
    for (i = 0; i < 16; i++) if (out[i] != in[i]) return 1;
    crypto_core_aes256encrypt(out, in, counting, (void *)0);""",
    KNOWN[2][2],
    "openssl/aes.h",
    "crypto_core_aes256encrypt.h",
)


@pytest.mark.parametrize("name", SIMULATED)
def test_a_package_that_calls_aes_works_everywhere(bench: Bench, name: str) -> None:
    target = the_target(name)
    record = bench.weigh(bench.package(BOTH), target)
    if target.chip.flash.size < 16384:
        assert record.failure is not None
        assert record.failure.reason is Reason.FLASH_OVERFLOW
        return
    assert record.failure is None
    [note] = [n for n in record.notes if "Steelyard" in n]
    assert note.endswith(
        "crypto_core_aes256encrypt, AES_set_encrypt_key, AES_set_decrypt_key, AES_encrypt, AES_decrypt"
    )
    ours = sum(h.size for h in record.helpers if "openssl_aes" in h.member or "aes256encrypt" in h.member)
    assert 1000 < ours < record.metrics["rom"]


def test_it_counts_in_rom_and_cycles_with_the_flags_under_test(bench: Bench, target: Target) -> None:
    plain = bench.weigh(bench.package({**toys.files(), "LWC_AEAD_KAT_128_128.txt": toys.kat()}), target)
    small, fast = (bench.weigh(bench.package(CORE), target, flags=flag) for flag in ("-Os", "-O3"))
    for record in (small, fast):
        assert record.failure is None
        assert record.metrics["cycles_encrypt_mean"] > plain.metrics["cycles_encrypt_mean"] + 2000
        assert record.metrics["rom"] > plain.metrics["rom"] + 700
        assert record.metrics["rom_decrypt"] < record.metrics["rom_encrypt"]
    of_aes = [next(h.size for h in r.helpers if "aes128encrypt" in h.member) for r in (small, fast)]
    assert of_aes[0] < of_aes[1]
    assert small.metrics["cycles_encrypt_mean"] > fast.metrics["cycles_encrypt_mean"]


def test_the_package_s_own_comes_first(bench: Bench, target: Target) -> None:
    files = dict(CORE)
    known = ", ".join(f"0x{b:02x}" for b in bytes.fromhex(KNOWN[0][2]))
    files["own.c"] = f"""#include <string.h>
    static const unsigned char known[16] = {{{known}}};
    int crypto_core_aes128encrypt(unsigned char *out, const unsigned char *in, const unsigned char *k,
                                  const unsigned char *c)
    {{ memcpy(out, known, 16); return (void)in, (void)k, (void)c, 0; }}
    """
    built = bench.build(bench.package(files), target)
    assert built.failure is None
    assert not [n for n in built.notes if "Steelyard" in n]
    assert "crypto_core_aes128encrypt" not in defined(built.images["both"].read_bytes())


def test_a_header_alone_brings_nothing(bench: Bench, uno: Target) -> None:
    built = bench.build(bench.package(top="#include <openssl/aes.h>"), uno)
    assert (built.failure, built.notes) == (None, ())
    assert not defined(built.images["both"].read_bytes()) & {"AES_encrypt", "AES_set_encrypt_key"}


def test_what_is_inside_is_out_of_reach(bench: Bench, target: Target) -> None:
    files = calling("aes_round(out);", KNOWN[0][2], "openssl/aes.h")
    files["encrypt.c"] = "void aes_round(void *);\n" + files["encrypt.c"]
    failure = bench.build(bench.package(files), target).failure
    assert failure is not None
    assert (failure.reason, failure.detail) == (Reason.UNDEFINED_SYMBOL, "aes_round")


def test_link_time_optimisation_leaves_it_alone(bench: Bench, bluepill: Target) -> None:
    record = bench.weigh(bench.package(CORE), bluepill, flags="-O3 -flto")
    assert record.failure is None
    assert any("Steelyard" in n for n in record.notes)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_cplusplus_packages_reach_it(bench: Bench, uno: Target) -> None:
    files = dict(CORE)
    files["encrypt.cpp"] = 'extern "C" {\n' + files.pop("encrypt.c") + "}\n"
    assert bench.build(bench.package(files), uno).failure is None
