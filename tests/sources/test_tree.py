"""Folders of packages: names and primitives from paths, and what of each is an implementation's."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.reasons import Reason
from steelyard.sources import discover
from steelyard.sources.sizes import sizes
from tests.sources.trees import API_AEAD, API_BOTH, CODE, WRAPPER, grow, names, one, plain, put, reason


@pytest.mark.parametrize(
    ("where", "family", "variant", "name"),
    [
        ("ascon/crypto_aead/ascon128v12/opt32", "ascon", "ascon128v12", "opt32"),
        ("sparkle/crypto_aead/schwaemm256128v2/rhys", "sparkle", "schwaemm256128v2", "rhys"),
        ("gift-cofb/Implementations/crypto_aead/giftcofb128v1/ref", "gift-cofb", "giftcofb128v1", "ref"),
        ("_reference_/crypto_aead/aes-gcm/mbedtls", "aes-gcm", "aes-gcm", "mbedtls"),
        ("ciphers/crypto_aead/ascon/ascon128v12/small", "ascon", "ascon128v12", "small"),
        ("ciphers/crypto_aead/sparkle/schwaemm256128v2/small", "sparkle", "schwaemm256128v2", "small"),
        ("crypto_aead/tinyjambu128v2/ref", "tinyjambu", "tinyjambu128v2", "ref"),
        ("crypto_aead/aes128gcmv1/dolbeau/aesenc-int", "aes", "aes128gcmv1", "dolbeau/aesenc-int"),
    ],
)
def test_names_come_from_the_path(tmp_path: Path, where: str, family: str, variant: str, name: str) -> None:
    plain(tmp_path, where)
    impl = one(discover(tmp_path))
    assert (impl.family, impl.variant, impl.name) == (family, variant, name)
    assert impl.folder == tmp_path / where
    alone = one(discover(tmp_path / where))
    assert (alone.variant, alone.name, alone.digest) == (variant, name, impl.digest)


def test_combined_folder_is_two_implementations_and_kats_go_where_they_fit(tmp_path: Path) -> None:
    plain(tmp_path, "xoodyak/crypto_aead_hash/xoodyakround3/ref", API_BOTH)
    for kat in ("LWC_AEAD_KAT_128_128.txt", "LWC_HASH_KAT_256.txt"):
        put(tmp_path, f"xoodyak/crypto_aead_hash/xoodyakround3/{kat}", "Count = 1\n")
    put(tmp_path, "xoodyak/crypto_aead_hash/xoodyakround3/ref/LWC_CXOF_KAT_128_512.txt", "")
    for path in (tmp_path, tmp_path / "xoodyak/crypto_aead_hash/xoodyakround3/ref"):
        aead, hash_ = discover(path).implementations
        assert (aead.primitive, hash_.primitive) == ("crypto_aead", "crypto_hash")
        assert [p.name for p in aead.kat] == ["LWC_AEAD_KAT_128_128.txt"]
        assert [p.name for p in hash_.kat] == ["LWC_HASH_KAT_256.txt"]
        assert names(aead) == ["api.h", "encrypt.c"]


def test_known_answers_by_another_name_are_told(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    put(folder, "kat.txt", "# NIST\n\nCount = 1\nKey = 00\n")
    put(folder, "notes.txt", "Count = 1\n")
    put(tmp_path, "crypto_aead/foo128/vectors.rsp", "Count = 1\r\nMsg = \r\n")
    put(tmp_path, "crypto_aead/foo128/LWC_AEAD_KAT_128_128.TXT", "Count = 1\nKey = 00\n")
    impl = one(discover(tmp_path))
    assert [p.name for p in impl.kat] == ["LWC_AEAD_KAT_128_128.TXT"]
    assert [n for n in impl.notes if "known answers" in n] == [
        "foo128/vectors.rsp, kat.txt not used: known answers are read from LWC_*_KAT_*.txt"
    ]


def test_digest_depends_on_content_alone(tmp_path: Path) -> None:
    a = one(discover(plain(tmp_path / "a", "crypto_aead/foo1/ref")))
    b = one(discover(plain(tmp_path / "b", "x/crypto_aead/bar2/opt")))
    put(tmp_path, "b/x/crypto_aead/bar2/opt/Makefile", "all:\n")
    assert a.digest == b.digest == one(discover(tmp_path / "b")).digest
    put(tmp_path, "b/x/crypto_aead/bar2/opt/encrypt.c", CODE + "\n")
    assert one(discover(tmp_path / "b")).digest != a.digest


def test_a_folder_outside_any_layout_is_known_by_its_api(tmp_path: Path) -> None:
    impl = one(discover(plain(tmp_path, "mine")))
    assert (impl.primitive, impl.variant, impl.name) == ("crypto_aead", "mine", "mine")
    put(tmp_path, "mine/lwc_crypto_aead.c", WRAPPER % ("e", "d"))
    assert one(discover(tmp_path / "mine")).label == "foo128/fast"
    assert [i.primitive for i in discover(plain(tmp_path, "both", API_BOTH)).implementations] == [
        "crypto_aead",
        "crypto_hash",
    ]


def test_renamed_entry_points_come_from_the_wrapper(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/fast")
    put(folder, "lwc_crypto_aead.c", WRAPPER % ("foo_encrypt", "(fn_aead_decrypt) &foo_decrypt"))
    impl = one(discover(tmp_path))
    assert impl.entry == (("crypto_aead_encrypt", "foo_encrypt"), ("crypto_aead_decrypt", "foo_decrypt"))
    assert "lwc_crypto_aead.c" not in names(impl)
    assert any("left out" in n for n in impl.notes)
    (folder / "lwc_crypto_aead.c").rename(folder.parent / "lwc_crypto_aead.c")
    assert one(discover(folder)).entry == impl.entry
    put(folder, "lwc_crypto_aead.c", WRAPPER % ("crypto_aead_encrypt", "crypto_aead_decrypt"))
    assert one(discover(folder)).entry == ()
    put(folder, "lwc_crypto_aead.c", WRAPPER % ("NAME(encrypt)", "NULL"))
    assert any("not understood" in n for n in one(discover(folder)).notes)


def test_a_wrapper_that_is_the_implementation_is_kept(tmp_path: Path) -> None:
    folder = grow(tmp_path / "crypto_aead/foo128/cxx", api_dot_h=API_AEAD, utility__u_dot_h="")
    put(folder, "GCM.cpp", "")
    body = "int crypto_aead_encrypt(int x)\n{ return x; }\n"
    put(folder, "lwc_crypto_aead.cpp", body + WRAPPER % ("crypto_aead_encrypt", "crypto_aead_decrypt"))
    impl = one(discover(tmp_path))
    assert names(impl) == ["GCM.cpp", "api.h", "lwc_crypto_aead.cpp", "lwc_crypto_aead.h", "utility/u.h"]
    assert [f.language for f in impl.files] == ["c++", "header", "c++", "header", "header"]
    assert impl.files[3].path.is_file()


def test_api_header_from_elsewhere(tmp_path: Path) -> None:
    variant = tmp_path / "crypto_aead/foo128"
    put(variant, "api.h", API_AEAD)
    put(variant, "a/encrypt.c", CODE)
    put(variant, "b/src/encrypt.c", CODE)
    put(variant, "b/include/api.h", API_AEAD)
    a, b = discover(tmp_path).implementations
    assert names(a) == ["api.h", "encrypt.c"]
    assert a.files[0].path == variant / "api.h"
    assert names(b) == ["api.h", "include/api.h", "src/encrypt.c"]
    assert one(discover(variant / "a")).digest == a.digest


def test_what_is_kept_left_out_and_noted(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    text = '#include <stdio.h>\n#include "round constants.txt"\n#include "perm.inc"\n'
    for name, content in {
        "encrypt.c": text + CODE,
        "round constants.txt": "1,2,3",
        "notes.txt": "unused",
        "perm.inc": "",
        "perm.o": "binary",
        "sub dir/é.c": "int e;\n",
        "core.s": "#include <avr/io.h>\n",
        "assist.asm": "",
        "x.ino": "",
        "Makefile": "",
        "genkat_aead.c": "int main(void) { return 0; }\n",
        "tool.c": "int helper;\nint main(void)\n{ return 0; }\n",
        "test/check.c": "int main(void) { return 0; }\n",
        "architectures": "avr\narm\n",
        "lwc_arch_avr": "",
        "lwc_constraints.h": "#define LWC_MLEN_STEP 4\n",
        "crypto_aead.h": "",
        ".git/config.h": "",
    }.items():
        put(folder, name, content)
    impl = one(discover(tmp_path))
    assert names(impl) == [
        "api.h",
        "core.s",
        "crypto_aead.h",
        "encrypt.c",
        "lwc_constraints.h",
        "perm.inc",
        "round constants.txt",
        "sub dir/é.c",
        "tool.c",
    ]
    notes = "\n".join(impl.notes)
    for word in (
        "stdio in 1 file",
        "core.s: assembly that needs the preprocessor",
        "main() inside: tool.c",
        "genkat_aead.c, test/check.c left out",
        "architectures: avr arm",
        "marker: lwc_arch_avr",
        "lwc_constraints.h",
        "assist.asm ignored",
        "x.ino ignored",
        "Makefile ignored",
    ):
        assert word in notes


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    """Compilers pass over it too."""
    folder = plain(tmp_path, "crypto_aead/foo128/ref", f"\ufeff{API_AEAD}")
    put(folder, "tool.c", "\ufeffint main(void) { return 0; }\n")
    put(folder, "architectures", "\ufeffavr\n")
    impl = one(discover(tmp_path))
    assert sizes(impl) == {"key": 16, "nonce": 16, "tag": 16}
    assert {"main() inside: tool.c", "architectures: avr"} <= {*impl.notes}


def test_other_primitives_have_a_row_and_what_lies_beside_crypto_folders_runs(tmp_path: Path) -> None:
    plain(tmp_path, "crypto_aead/foo128/ref")
    plain(tmp_path, "crypto_sign/bar/ref")
    plain(tmp_path, "crypto_sign/bar/opt/crypto_aead")
    plain(tmp_path, "mine")
    put(tmp_path, "main.c", "int main(void) { return 0; }")
    put(tmp_path, "crypto_work/baz/api.h", API_AEAD)
    put(tmp_path, "crypto_work/baz/encrypt.c", CODE)
    found = discover(tmp_path)
    assert [i.label for i in found.implementations] == ["crypto_work/baz", "foo128/ref", f"{tmp_path.name}/mine"]
    assert [(str(r.path.relative_to(tmp_path)), r.failure.reason) for r in found.rejected] == [
        ("crypto_sign/bar/opt/crypto_aead", Reason.OTHER_PRIMITIVE),
        ("crypto_sign/bar/ref", Reason.OTHER_PRIMITIVE),
    ]
    assert reason(discover(tmp_path / "crypto_sign/bar/ref")) is Reason.OTHER_PRIMITIVE


def test_aead_hash_beside_crypto_aead(tmp_path: Path) -> None:
    plain(tmp_path, "crypto_aead/foo128/ref")
    plain(tmp_path, "aead_hash/foo128/opt", API_BOTH)
    found = discover(tmp_path)
    assert [(i.primitive, i.label) for i in found.implementations] == [
        ("crypto_aead", "foo128/opt"),
        ("crypto_aead", "foo128/ref"),
        ("crypto_hash", "foo128/opt"),
    ]
    assert discover(tmp_path / "aead_hash/foo128/opt").implementations[1].primitive == "crypto_hash"


@pytest.mark.parametrize("where", ["mine", "crypto_aead/foo128/mine", "foo128/mine/Core"])
def test_projects_of_headers_and_sources(tmp_path: Path, where: str) -> None:
    """The layout of development environments for microcontrollers."""
    put(tmp_path, f"{where}/Inc/api.h", API_AEAD)
    put(tmp_path, f"{where}/Src/encrypt.c", CODE)
    put(tmp_path, f"{where}/Src/main.c", "int main(void) { return 0; }\n")
    for board in ("Src/stm32f4xx_it.c", "Src/system_stm32f4xx.c", "Startup/startup_stm32f4.s", "Drivers/HAL/Src/hal.c"):
        put(tmp_path, f"{where}/{board}", "")
    for place in (tmp_path, tmp_path / where):
        impl = one(discover(place))
        assert impl.folder == tmp_path / where
        assert [f for f in names(impl) if not f.startswith("Inc")] == ["Src/encrypt.c", "api.h"]


def test_nested_implementations_of_a_variant_without_number(tmp_path: Path) -> None:
    """crypto_aead/V/I/J, where V may look like a family, and the bundled crypto_aead/F/V/I."""
    for where in ("romulust/ref", "romulust/aadomn/opt32", "romulust/aadomn/armv8a/fast", "hamsi/bernstein/simd-2"):
        plain(tmp_path, f"crypto_aead/{where}")
    plain(tmp_path, "crypto_aead/sparkle/schwaemm256128v2/small")
    found = [(i.family, i.label) for i in discover(tmp_path).implementations]
    assert found == [
        ("hamsi", "hamsi/bernstein/simd-2"),
        ("romulust", "romulust/aadomn/armv8a/fast"),
        ("romulust", "romulust/aadomn/opt32"),
        ("romulust", "romulust/ref"),
        ("sparkle", "schwaemm256128v2/small"),
    ]
    alone = one(discover(tmp_path / "crypto_aead/romulust/aadomn/opt32"))
    assert alone.label == "romulust/aadomn/opt32"


@pytest.mark.parametrize(
    ("primitive", "spelled", "known"),
    [
        ("crypto_aead", "Romulus-N", "romulusn"),
        ("crypto_aead", "ascon_aead128", "asconaead128"),
        ("crypto_aead", "TinyJAMBU-128-v2", "tinyjambu128v2"),
        ("crypto_aead", "TinyJAMBU-128", None),  # which of its versions, that does not say
        ("crypto_aead", "tinyjambu128", None),
        ("crypto_hash", "romulus-h", "romulush"),
        ("crypto_hash", "romulus-n", None),
        ("crypto_aead", "romulusn", None),
        ("crypto_aead", "romulus-n2", None),
    ],
)
def test_spellings_of_known_variants(tmp_path: Path, primitive: str, spelled: str, known: str | None) -> None:
    impl = one(discover(plain(tmp_path, f"{primitive}/{spelled}/ref", API_BOTH)))
    assert impl.label == f"{known or spelled}/ref"
    assert any(f"{spelled} taken for" in note for note in impl.notes) == (known is not None)


def test_a_folder_called_ref_is_no_cipher(tmp_path: Path) -> None:
    for where in (
        "ref/Romulus-N",
        "opt 32/Romulus-N",
        "ref/Romulus-T-H",
        "Optimised/foo128",
        "bar128/opt",
        "opt/ref",
    ):
        plain(tmp_path, where)
    assert {i.label for i in discover(tmp_path).implementations} == {
        "Romulus-T-H/ref", "bar128/opt", "foo128/Optimised", "opt/ref", "romulusn/opt 32", "romulusn/ref"
    }  # fmt: skip
    assert {i.label for i in discover(tmp_path / "ref").implementations} == {"Romulus-T-H/ref", "romulusn/ref"}


def test_a_block_cipher_that_no_layout_names_has_its_sizes_in_its_name(tmp_path: Path) -> None:
    """So its name is its own, whatever else is in the tree. Not so a bundled one, and where the header does not say."""
    block = "".join(f"#define CRYPTO_{name}BYTES %s\n" for name in ("KEY", "BLOCK", "CONTEXT"))
    for where, api in {
        "toys/a": block % (16, 8, 144),
        "toys/wide": block % (16, 16, 264),
        "toys/unsaid": block % ("N", 8, 144),
        "toys_64_128/b": block % (16, 8, 144),
        "aes128/mine": block % (16, 16, 176),
        "crypto_block/bar/ref": block % (16, 8, 144),
    }.items():
        plain(tmp_path, where, api)
    assert sorted(i.label for i in discover(tmp_path).implementations) == [
        "aes128/mine", "bar/ref", "toys/unsaid", "toys_128_128/wide", "toys_64_128/a", "toys_64_128/b"
    ]  # fmt: skip
    assert one(discover(tmp_path / "toys/a")).label == "a_64_128/a"
