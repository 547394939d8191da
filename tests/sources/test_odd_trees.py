"""Folders that are odd: links, bytes in names, files that no build reads, no package at all; each has its reason."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.paths import short
from steelyard.model.reasons import Reason
from steelyard.sources import Limits, discover
from steelyard.store import schema
from steelyard.store.types import Name
from tests.sources.trees import API_BOTH, CODE, WRAPPER, grow, names, one, plain, put, reason


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


def test_a_folder_of_another_api_is_another_primitive(tmp_path: Path) -> None:
    api = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_BYTES 16\n"
    put(tmp_path, "crypto_block/aes/ref/api.h", api)
    put(tmp_path, "crypto_block/aes/ref/aes.c", "int x;\n")
    found = discover(tmp_path)
    assert found.implementations == ()
    (refused,) = found.rejected
    assert refused.failure.reason is Reason.OTHER_PRIMITIVE
    assert refused.failure.detail.endswith("api.h has no CRYPTO_BLOCKBYTES, CRYPTO_CONTEXTBYTES")
