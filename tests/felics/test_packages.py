"""FELICS-AE trees: found as they are, with their names, lists and known answers; the first FELICS's are refused."""

from __future__ import annotations

import codecs
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.reasons import Failure, Reason
from steelyard.sources import discover, felics, phases
from steelyard.verify import felicsfile
from steelyard.verify.katfile import MalformedKat
from tests import toys
from tests.conftest import write
from tests.felics import packages

PHASES = "InitializationConstants: \nInitializationCode: initialize\nImplementationAVR: C\n"


def test_a_tree_and_a_cipher_of_it_are_the_same(tmp_path: Path) -> None:
    cipher = packages.tree(tmp_path)
    packages.tree(tmp_path, "CipherName_v01")
    write(tmp_path / "source" / "common", {"main.c": "int main(void) { return 0; }"})
    found = [discover(place) for place in (tmp_path, cipher, cipher / "source")]
    assert [str(r.path.relative_to(tmp_path)) for r in found[0].rejected] == ["source/ciphers/CipherName_v01/source"]
    for f in found:
        assert f is found[0] or f.rejected == ()
        (one,) = f.implementations
        assert (one.primitive, one.family, one.variant, one.name) == ("crypto_aead", "Toy", "Toy-128", "ref")
        assert one.interface == "felics"
        assert one.code is not None
        assert one.code.encrypt == (("encrypt", ("crypto_aead_decrypt",)),)
        assert one.kat == (cipher / "source" / "test_vectors.c",)
        assert [file.name for file in one.files if file.language != "header"] == ["encrypt.c"]
    assert len({f.implementations[0].digest for f in found}) == 1


def test_links_to_other_ciphers_and_templates(tmp_path: Path) -> None:
    """The tree's packages share files by links; a link out of the tree is refused."""
    packages.tree(tmp_path)
    other = tmp_path / "source/ciphers/Toy-128_vfast_one/source"
    shared = tmp_path / "source/ciphers/.templates/Toy"
    write(shared, {"encrypt.c": packages.source()})
    other.mkdir(parents=True)
    for name in ("api.h", "implementation.info", "test_vectors.c"):
        (other / name).symlink_to(f"../../Toy-128_vref/source/{name}")
    (other / "encrypt.c").symlink_to("../../.templates/Toy/encrypt.c")
    for place in (tmp_path, other.parent, other):
        found = discover(place)
        assert found.rejected == ()
        assert "Toy-128/fast_one" in [i.label for i in found.implementations]
    (other / "more.h").symlink_to("/etc/hostname")
    (rejected,) = discover(other).rejected
    assert rejected.failure.reason is Reason.PATH_ESCAPE


def test_what_describes_a_package_is_part_of_its_digest(tmp_path: Path) -> None:
    before = discover(packages.tree(tmp_path / "a")).implementations[0]
    more = {
        "implementation.info": packages.INFO.replace("DecryptCode: encrypt!crypto_aead_encrypt", "DecryptCode: encrypt")
    }
    after = discover(packages.tree(tmp_path / "b", extra=more)).implementations[0]
    assert before.digest != after.digest


@pytest.mark.parametrize("info", [PHASES, "ImplementationDescription: nothing more\n"])
def test_the_first_felics_is_refused_with_what_to_do(tmp_path: Path, info: str) -> None:
    folder = tmp_path / "ciphers" / "Toy_128_128_96_320_128_v01" / "source"
    write(folder, {"constants.h": "", "initialize.c": "int x;", "implementation.info": info})
    for place in (tmp_path, folder):
        found = discover(place)
        assert found.implementations == ()
        (rejected,) = found.rejected
        assert rejected.failure.reason is Reason.FELICS_PHASES
        assert "NIST package" in rejected.failure.next_action


@pytest.mark.parametrize("info", ["", "\n# EncryptCode\n"])
def test_a_description_that_says_nothing_is_told_so(tmp_path: Path, info: str) -> None:
    folder = tmp_path / "Toy_128_128_96_320_128_v01" / "source"
    write(folder, {"constants.h": "", "initialize.c": "int x;", "implementation.info": info})
    (rejected,) = discover(folder).rejected
    assert rejected.failure == Failure(Reason.BAD_INFO, "implementation.info: no line of the form KEY: VALUE")


def test_the_nist_api_around_its_phases_is_a_nist_package(tmp_path: Path) -> None:
    """As NIST's benchmarking framework has AES-GCM; its test_vectors.c is FELICS's, not known answers."""
    extra = {"implementation.info": PHASES, "test_vectors.c": "const int vectors = 1;\n"}
    write(tmp_path / "crypto_aead" / "toy1" / "felicsv01", toys.files() | extra)
    found = discover(tmp_path)
    assert found.rejected == ()
    (one,) = found.implementations
    assert (one.interface, one.label, one.kat) == ("nist", "toy1/felicsv01", ())
    assert any("the sources define the NIST API" in note for note in one.notes)


@pytest.mark.parametrize(
    ("info", "said"),
    [
        ("EncryptCode: encrypt\n", "no DecryptCode"),
        ("EncryptCode: encrypt, gone\nDecryptCode: encrypt\n", "line 1: EncryptCode: no source is called gone"),
        ("#x: y\nEncryptCode: encrypt\nDecryptCode: ,,\n", "line 3: DecryptCode lists 0 sources"),
        ("EncryptCode: ../encrypt\nDecryptCode: encrypt\n", "no source is called ../encrypt"),
        ("EncryptCode: " + "encrypt, " * 300 + "\nDecryptCode: encrypt\n", "lists 300 sources"),
        ("EncryptCode: encrypt\nDecryptCode: encrypt\n" + "#" * felics.MAX_BYTES, "larger than"),
    ],
)
def test_a_wrong_info_is_named_by_line(tmp_path: Path, info: str, said: str) -> None:
    (rejected,) = discover(packages.tree(tmp_path, extra={"implementation.info": info})).rejected
    assert rejected.failure.reason is Reason.BAD_INFO
    assert said in rejected.failure.detail


def test_oddities_of_published_lists_are_kept_in_words() -> None:
    text = b"""
    EncryptCode: a!x , b!y z!!w!, a
    DecryptCode: b
    Platforms: AVR MSP
    Options: -Os
    # DecryptCode: c
    """
    info = felics.parse(text, {"a", "b"})
    assert info is not None
    assert info.code.encrypt == (("a", ()), ("b", ("w",)))  # of a source named twice the last one counts
    notes = "\n".join(info.notes)
    assert "'y z' is not a symbol" in notes
    assert "for AVR MSP only" in notes
    assert "for -Os only" in notes


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    assert felics.parse(codecs.BOM_UTF8 + b"EncryptCode: a\nDecryptCode: a\n", {"a"}) is not None
    assert phases.parse(codecs.BOM_UTF8 + b"UseEncryptionKeySchedule: no\n", ()) is not None


@given(st.binary(max_size=400))
def test_any_info_is_read_or_refused(data: bytes) -> None:
    for text in (data, b"EncryptCode:" + data + b"\nDecryptCode: a"):
        try:
            info = felics.parse(text, {"a"})
        except felics.BadInfoError:
            continue
        assert info is None or {name for name, _ in info.code.encrypt} <= {"a"}


def test_the_known_answer() -> None:
    parts = bytes(range(16)), b"\xff" * 12, bytes(range(3)), b"", b"\x01\x02"
    (vector,) = felicsfile.parse(packages.vectors(*parts))
    assert (vector.key, vector.npub, vector.output) == (parts[0], parts[1], parts[4])
    assert vector.message == b"\x00\x01\x02".ljust(16, b"\0")  # C fills up with zeros
    assert vector.ad == bytes(16)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("expectedNonce", "otherNonce", "no initialised array expectedNonce"),
        ("0x0F", "0x10F", "'0x10F', which is not a byte"),
        ("0x0F", "KEY_BYTE", "'KEY_BYTE', which is not a byte"),
        ("0x0F", "-1", "which is not a byte"),
        ("0x0F", "017", "which is not a byte"),
    ],
)
def test_a_malformed_known_answer(old: str, new: str, said: str) -> None:
    text = packages.vectors(bytes(range(16)), bytes(16), b"", b"", b"")
    with pytest.raises(MalformedKat, match=said):
        felicsfile.parse(text.replace(old, new))


def test_a_huge_file_of_known_answers_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "test_vectors.c"
    file.write_text("/" * (felicsfile.MAX_BYTES + 1))
    with pytest.raises(MalformedKat, match="larger than"):
        felicsfile.read(file)


def test_comments_that_begin_again_and_again_are_read_once() -> None:
    start = time.process_time()
    with pytest.raises(MalformedKat):
        felicsfile.parse("/*" * (felicsfile.MAX_BYTES // 2 - 1))
    assert time.process_time() - start < 1
