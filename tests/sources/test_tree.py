"""Folders: names from paths, links, and each irregular package that exists in the wild."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.implementation import Implementation
from steelyard.model.paths import short
from steelyard.model.reasons import Reason
from steelyard.sources import Found, Limits, discover
from steelyard.store import schema
from steelyard.store.types import Name

API_AEAD = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_NPUBBYTES 16\n#define CRYPTO_ABYTES 16\n"
API_BOTH = API_AEAD + "#define CRYPTO_BYTES 32\n"
CODE = "int crypto_aead_encrypt(void) { return 0; }\n"
WRAPPER = """#include "lwc_crypto_aead.h"
/* aead_ctx old = { "x", "y", 1, 2, 3, a, b }; */
aead_ctx lwc_aead_cipher = {
    "foo128", "fast", // the names
    CRYPTO_KEYBYTES, CRYPTO_NPUBBYTES, CRYPTO_ABYTES,
    %s,
    %s
};
"""


def grow(root: Path, **files: str) -> Path:
    """Write files under ``root``; in a key ``__`` stands for ``/`` and ``_dot_`` for ``.``."""
    for key, text in files.items():
        put(root, key.replace("__", "/").replace("_dot_", "."), text)
    return root


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def plain(root: Path, where: str, api: str = API_AEAD) -> Path:
    return grow(root / where, api_dot_h=api, encrypt_dot_c=CODE)


def one(found: Found) -> Implementation:
    assert found.rejected == ()
    (impl,) = found.implementations
    return impl


def reason(found: Found) -> Reason:
    assert found.implementations == ()
    (rejected,) = found.rejected
    assert rejected.failure.detail
    return rejected.failure.reason


def names(impl: Implementation) -> list[str]:
    return [f.name for f in impl.files]


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


def test_links_inside_the_root_are_followed(tmp_path: Path) -> None:
    plain(tmp_path, "ciphers/crypto_aead/foo/foo128/ref")
    put(tmp_path, "ciphers/shared/foo/permute.c", "int permute;\n")
    small = tmp_path / "ciphers/crypto_aead/foo/foo128/small"
    small.mkdir()
    (small / "api.h").symlink_to("../ref/api.h")
    (small / "encrypt.c").symlink_to("../ref/encrypt.c")
    (small / "shared").symlink_to("../../../../shared/foo")
    (small / "loop").symlink_to("..")
    (tmp_path / "ciphers/crypto_aead/foo/foo128v2").symlink_to("foo128")
    impl = one(discover(small))
    assert names(impl) == ["api.h", "encrypt.c", "shared/permute.c"]
    assert impl.files[0].path == tmp_path / "ciphers/crypto_aead/foo/foo128/ref/api.h"
    found = discover(tmp_path)
    assert [i.label for i in found.implementations] == [
        "foo128/ref",
        "foo128/small",
        "foo128v2/ref",
        "foo128v2/small",
    ]
    assert found.implementations[1].digest == impl.digest
    assert found == discover(tmp_path)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/etc/hostname", Reason.PATH_ESCAPE),
        ("../../../../outside.c", Reason.PATH_ESCAPE),
        ("../../../../no/such", Reason.PATH_ESCAPE),
        ("../ref/gone.c", Reason.DANGLING_LINK),
        ("extra.c", Reason.DANGLING_LINK),
    ],
)
def test_bad_links(tmp_path: Path, target: str, expected: Reason) -> None:
    put(tmp_path, "outside.c", "")
    folder = plain(tmp_path / "root", "crypto_aead/foo128/ref")
    (folder / "extra.c").symlink_to(target)
    assert reason(discover(folder)) is expected
    assert reason(discover(tmp_path / "root")) is expected


def test_a_bad_link_that_no_build_needs_refuses_nothing(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    for name in ("Doxyfile", "notes.txt", "README"):
        (folder / name).symlink_to(f"../gone/{name}")
    assert one(discover(tmp_path)).variant == "foo128"


def test_a_link_that_leads_nowhere_is_called_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "here/a.c", "")
    (tmp_path / "here/b.c").symlink_to("../there/c.c")
    (tmp_path / "again").symlink_to("here")
    told = [short(tmp_path / p) for p in ("here/a.c", "here/b.c", "again", "again/b.c", "here/..")]
    assert told == ["here/a.c", "here/b.c", "again", "here/b.c", "."]


def test_each_link_is_followed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many paths lead to it: its text may be long."""
    for i in range(9):
        put(tmp_path, f"{i}/x.c", "")
        for name in "ab":
            (tmp_path / f"{i}/{name}").symlink_to(f"../{i + 1}")
    put(tmp_path, "9/x.c", "")
    read, followed = os.readlink, list[str]()
    monkeypatch.setattr(os, "readlink", lambda path: (followed.append(str(path)), read(path))[1])
    discover(tmp_path)
    assert len(followed) == len(set(followed)) == 18


def test_a_link_bomb_ends(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    for i in range(12):
        (folder / f"d{i}").mkdir()
        for side in "ab":
            (folder / f"d{i}" / side).symlink_to(f"../d{(i + 1) % 12}")
    assert reason(discover(folder, limits=Limits(tree_entries=500))) is Reason.UNREADABLE


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


def test_rejections(tmp_path: Path) -> None:
    root = tmp_path / "crypto_hash/foo256"
    grow(root / "asm", api_dot_h=API_BOTH, encrypt_dot_asm="", crypto_hash_dot_h="")
    grow(root / "empty", api_dot_h=API_BOTH, readme_dot_md="")
    grow(root / "noapi", hash_dot_c="int x;")
    grow(root / "objects", api_dot_h=API_BOTH, libhash_dot_a="!<thin>", hash_dot_o="")
    plain(root, "large")
    put(root, "large/table.h", "x" * 2000)
    plain(root, "pipe")
    os.mkfifo(root / "pipe/rng.c")
    found = discover(tmp_path, limits=Limits(file_bytes=1000))
    assert found.implementations == ()
    assert {r.path.name: r.failure.reason for r in found.rejected} == {
        "asm": Reason.FOREIGN_ASSEMBLER,
        "empty": Reason.NO_SOURCES,
        "noapi": Reason.NO_API,
        "objects": Reason.NO_SOURCES,
        "large": Reason.UNREADABLE,
        "pipe": Reason.UNREADABLE,
    }
    assert [r.path.name for r in found.rejected] == ["asm", "empty", "large", "noapi", "objects", "pipe"]
    [objects] = [r.failure.detail for r in found.rejected if r.path.name == "objects"]
    assert objects.endswith("; objects and libraries are not linked: hash.o, libhash.a")


def test_nothing_to_find_is_a_reason_too(tmp_path: Path) -> None:
    assert reason(discover(tmp_path)) is Reason.NO_SOURCES
    assert reason(discover(tmp_path / "gone")) is Reason.UNREADABLE
    os.mkfifo(tmp_path / "pipe.zip")
    assert reason(discover(tmp_path / "pipe.zip")) is Reason.UNREADABLE


def test_odd_bytes_in_names(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    (folder / os.fsdecode(b"\xff \x1b[2J\n.c")).write_text("int odd;\n")
    folder.rename(folder.parent / os.fsdecode(b"r\xfe"))
    impl = one(discover(tmp_path))
    assert impl.name == r"r\xfe"
    assert len(impl.files) == 3
    assert impl.digest


def test_names_are_as_long_as_a_record_holds_and_stay_apart(tmp_path: Path) -> None:
    """As many characters as bytes that cannot be shown need, and folders below each other."""
    deep = "/".join(["implementation" * 8] * 3)
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    folder.rename(folder.parent / os.fsdecode(b"\x80" * 100))
    for where in (f"foo128/{deep}1", f"foo128/{deep}2", f"{'f' * 255}/ref"):
        plain(tmp_path, f"crypto_aead/{where}")
    found = discover(tmp_path).implementations
    columns = schema.implementation.c
    for i in found:
        for name, most in ((i.family, columns.family), (i.variant, columns.variant), (i.name, columns.name)):
            assert len(name) <= cast(Name, most.type).length
    assert len({i.label for i in found}) == 4
    assert "f" * 255 in {i.variant for i in found}


def test_what_is_no_file_refuses_only_where_a_build_would_read_it(tmp_path: Path) -> None:
    folder = plain(tmp_path, "crypto_aead/foo128/ref")
    os.mkfifo(folder / "trace.log")
    assert names(one(discover(tmp_path))) == ["api.h", "encrypt.c"]
    os.mkfifo(folder / "table\n.h")
    found = discover(tmp_path)
    assert reason(found) is Reason.UNREADABLE
    assert found.rejected[0].failure.detail == r"table\n.h is not a regular file"


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


FOLDERS = st.sampled_from(
    [
        "crypto_aead",
        "aead_hash",
        "crypto_sign",
        "foo128",
        "ref",
        "src",
        "Inc",
        "Src",
        "test",
        "CipherName_v01",
        "source",
    ]
)
FILES = {
    "api.h": API_BOTH,
    "encrypt.c": CODE,
    "crypto_aead.h": "",
    "perm.asm": "",
    "main.c": "int main(void) { return 0; }\n",
    "lwc_crypto_aead.c": WRAPPER % ("a", "b"),
    "implementation.info": "InitializationConstants: \n",
    "big.h": "x" * 2000,
}


@given(
    st.lists(
        st.tuples(st.lists(FOLDERS, max_size=5), st.sets(st.sampled_from(["api.h", "encrypt.c", *FILES]), max_size=4)),
        max_size=7,
    )
)
def test_no_folder_with_an_api_is_without_a_row(layout: list[tuple[list[str], set[str]]]) -> None:
    """It is an implementation, listed by one as its api.h, or rejected; however folders are named and nested."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        for parts, files in layout:
            for file in files:
                put(top, "/".join([*parts, file]), FILES[file])
        found = discover(top, limits=Limits(file_bytes=1000, depth=len(top.parts) + 4))
        rows = {i.folder for i in found.implementations} | {r.path for r in found.rejected}
        listed = {f.path for i in found.implementations for f in i.files}
        deep = {r.path for r in found.rejected if "folders deep" in r.failure.detail}
        for api in top.rglob("api.h"):
            assert api.parent in rows or api in listed or any(d in api.parents for d in deep), api
        assert len(found.rejected) == len({r.path for r in found.rejected})


def test_a_package_behind_a_dot_is_told(tmp_path: Path) -> None:
    """Not so what else begins with one."""
    plain(tmp_path, "crypto_aead/foo128/ref")
    plain(tmp_path, "crypto_aead/foo128/.ref")
    plain(tmp_path, "crypto_aead/.foo256/ref")
    plain(tmp_path, "crypto_aead/.git/hooks/deep")
    found = discover(tmp_path)
    assert [i.label for i in found.implementations] == ["foo128/ref"]
    assert [(r.path.name, r.failure.detail) for r in found.rejected] == [
        (name, "passed over, as its name begins with a dot: rename it") for name in (".foo256", ".ref")
    ]
