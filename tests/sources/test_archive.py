"""Zip files: the same implementations as in the folder, and nothing outside the cache, whatever they contain."""

from __future__ import annotations

import io
import os
import stat
import struct
import tempfile
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.model.reasons import Reason
from steelyard.sources import Found, Limits, discover

API = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_ABYTES 16\n"
GOOD = {"crypto_aead/foo128v1/ref/api.h": API, "crypto_aead/foo128v1/ref/encrypt.c": "int x;\n"}


def pack(path: Path, members: dict[str, str], modes: dict[str, int] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o644) << 16
            z.writestr(info, text)
    return path


def refused(found: Found) -> tuple[Reason, str]:
    assert found.implementations == ()
    (rejected,) = found.rejected
    return rejected.failure.reason, rejected.failure.detail


def test_a_zip_is_unpacked_once_and_gives_the_folders_digest(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    zipped = discover(pack(tmp_path / "p.zip", GOOD), cache=cache)
    (impl,) = zipped.implementations
    assert (impl.family, impl.label) == ("foo", "foo128v1/ref")
    (home,) = cache.iterdir()
    assert impl.folder.is_relative_to(home)
    before = home.stat().st_mtime_ns
    assert discover(tmp_path / "p.zip", cache=cache) == zipped
    assert (home.stat().st_mtime_ns, list(cache.iterdir())) == (before, [home])
    for name, text in GOOD.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    assert discover(tmp_path / "tree").implementations[0].digest == impl.digest


def test_what_was_unpacked_and_changed_is_unpacked_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    zipped = discover(pack(tmp_path / "p.zip", GOOD), cache=cache)
    folder = zipped.implementations[0].folder
    source = next(f for f in folder.iterdir() if f.suffix == ".c")
    for damage in (
        lambda: source.write_text(source.read_text() + "/* more */"),
        lambda: source.write_bytes(source.read_bytes().swapcase()),
        source.unlink,
        lambda: (folder / "more.c").write_text("int more;"),
        lambda: (folder / "more.c").symlink_to(source),
    ):
        damage()
        assert discover(tmp_path / "p.zip", cache=cache) == zipped


def test_a_zip_of_one_folder_is_named_by_the_zip(tmp_path: Path) -> None:
    found = discover(pack(tmp_path / "foo128.zip", {"small/api.h": API, "small/e.c": ""}), cache=tmp_path)
    assert [i.label for i in found.implementations] == ["foo128/small"]
    found = discover(pack(tmp_path / "bar.zip", {"api.h": API, "e.c": ""}), cache=tmp_path)
    assert [i.label for i in found.implementations] == ["bar/bar"]


def test_links_in_a_zip(tmp_path: Path) -> None:
    link = "crypto_aead/foo128v1/ref/p.c"
    for target, expected in (
        ("encrypt.c", None),
        ("gone.c", Reason.DANGLING_LINK),
        ("/etc/passwd", Reason.PATH_ESCAPE),
        ("../../../../up.c", Reason.PATH_ESCAPE),
    ):
        path = pack(tmp_path / "l.zip", {**GOOD, link: target}, {link: stat.S_IFLNK | 0o777})
        found = discover(path, cache=tmp_path / "cache")
        if expected is None:
            assert [f.name for f in found.implementations[0].files] == ["api.h", "encrypt.c", "p.c"]
        else:
            assert refused(found)[0] is expected


@pytest.mark.parametrize(
    ("members", "modes", "expected"),
    [
        ({"../evil.c": ""}, {}, Reason.PATH_ESCAPE),
        ({"a/../../evil.c": ""}, {}, Reason.PATH_ESCAPE),
        ({"/evil.c": ""}, {}, Reason.PATH_ESCAPE),
        ({"..\\evil.c": ""}, {}, Reason.PATH_ESCAPE),
        ({"C:\\evil.c": ""}, {}, Reason.PATH_ESCAPE),
        ({"d": "..", "d/evil.c": ""}, {"d": stat.S_IFLNK}, Reason.PATH_ESCAPE),
        ({"d/evil.c": "", "d": "/tmp"}, {"d": stat.S_IFLNK}, Reason.PATH_ESCAPE),
        ({"q/r/s": "../..", "x": "q/r/s/.."}, {"q/r/s": stat.S_IFLNK, "x": stat.S_IFLNK}, Reason.PATH_ESCAPE),
        ({"null": ""}, {"null": stat.S_IFCHR}, Reason.BAD_ZIP),
        ({"a": "", "a/b": ""}, {}, Reason.BAD_ZIP),
        ({"a/b": "", "./a//b": ""}, {}, Reason.BAD_ZIP),
        ({"n" * 300: ""}, {}, Reason.BAD_ZIP),
        ({"zeros.c": "0" * (4 << 20)}, {}, Reason.ZIP_BOMB),
        ({f"{i}.c": "0" * (1 << 20) for i in range(3)}, {}, Reason.ZIP_BOMB),
        ({f"{i}.c": "" for i in range(60)}, {}, Reason.ZIP_BOMB),
        ({"big.c": os.urandom(5 << 19).hex()}, {}, Reason.ZIP_BOMB),
    ],
)
def test_hostile_zips(tmp_path: Path, members: dict[str, str], modes: dict[str, int], expected: Reason) -> None:
    limits = Limits(zip_members=50, zip_file_bytes=9 << 19)
    path = pack(tmp_path / "evil.zip", {**GOOD, **members}, modes)
    cache = tmp_path / "in" / "cache"
    got, detail = refused(discover(path, cache=cache, limits=limits))
    assert (got, bool(detail)) == (expected, True)
    assert not cache.exists() or list(cache.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "in") == ["evil.zip"]


def test_a_member_longer_than_it_says(tmp_path: Path) -> None:
    path = pack(tmp_path / "lie.zip", {"a.c": "x" * 5000})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    path.write_bytes(data)
    assert refused(discover(path, cache=tmp_path / "c"))[0] is Reason.BAD_ZIP


def test_encrypted_damaged_and_other_files(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.zip", GOOD)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    assert refused(discover(path, cache=tmp_path)) == (
        Reason.BAD_ZIP,
        "crypto_aead/foo128v1/ref/api.h is encrypted",
    )
    for junk in (b"", b"PK\x05\x06", b"\x1f\x8b tar", b"PK\x05\x06" + b"\xff" * 18):
        path.write_bytes(junk)
        assert refused(discover(path, cache=tmp_path))[0] in (Reason.BAD_ZIP, Reason.ZIP_BOMB)


parts = st.sampled_from(["crypto_aead", "crypto_hash", "foo128", "ref", "api.h", "a.c", "..", ".", "", "é", "\\"])
member_names = st.lists(parts, min_size=1, max_size=5).map("/".join) | st.text(min_size=1, max_size=12)
modes = st.sampled_from([0, stat.S_IFREG, stat.S_IFLNK, stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO])
bodies = st.sampled_from(["", API, "int x;", "..", "../..", "ref", "a.c", "/etc", "crypto_aead/../.."])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(member_names, modes, bodies), max_size=7), st.data())
def test_no_zip_raises_or_writes_outside_the_cache(members: list[tuple[str, int, str]], data: st.DataObject) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z, warnings.catch_warnings(action="ignore"):
        for name, mode, body in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            try:
                z.writestr(info, body)
            except (UnicodeEncodeError, ValueError):
                continue
    raw = bytearray(buffer.getvalue())
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=2)):
        raw[at] ^= data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as top:
        path, cache = Path(top, "p.zip"), Path(top, "sub", "cache")
        path.write_bytes(raw)
        found = discover(path, cache=cache)
        assert found.implementations or found.rejected
        assert sorted(p.name for p in Path(top).iterdir()) in (["p.zip"], ["p.zip", "sub"])
        if cache.parent.exists():
            assert list(cache.parent.iterdir()) == [cache]
            assert len(list(cache.iterdir())) <= 1
        inside = str(cache.resolve()) + "/"
        for impl in found.implementations:
            assert all(str(f.path).startswith((inside, str(Path(__file__).parents[2]))) for f in impl.files)
