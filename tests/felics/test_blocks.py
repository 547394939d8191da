"""Block ciphers of the first FELICS: found as they are, called as FELICS calls them, with FELICS's figures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard import building
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Reason
from steelyard.model.record import Verification
from steelyard.model.target import Target
from steelyard.sources import discover
from steelyard.sources.sizes import sizes
from steelyard.verify import felicsfile
from steelyard.verify.katfile import MalformedKat
from steelyard.verify.knownblock import COUNT
from steelyard.verify.orders import orders
from tests.conftest import Bench, the_target, write
from tests.felics import blocks
from tests.felics.blocks import SCENARIO_0, SCENARIO_1, felics, package

_RESTORED = "for (i = 0; i < 2; i++) *(volatile uint8_t *)rk ^= 1;"


def test_a_tree_a_cipher_and_a_zip_of_it_are_the_same(tmp_path: Path) -> None:
    cipher = blocks.tree(tmp_path / "felics")
    write(tmp_path / "felics/common/source/rotations", {"rot32.h": "#define rot32l8(x) (x)\n#define rot32r8(x) (x)\n"})
    packed = shutil.make_archive(str(tmp_path / "felics"), "zip", tmp_path / "felics")
    places = [tmp_path / "felics", tmp_path / "felics/block_ciphers", cipher.parent, cipher, cipher / "source"]
    places.append(Path(packed))
    found = [discover(place, cache=tmp_path / "cache") for place in places]
    for f in found:
        assert f.rejected == ()
        (one,) = f.implementations
        assert (one.primitive, one.family, one.label, one.interface) == ("crypto_block", "xtea", "xtea/07", "phases")
        assert sizes(one) == {"key": blocks.KEY, "block": blocks.BLOCK, "context": blocks.ROUND_KEYS}
        compiled = {f.name for f in one.files if f.language != "header"}
        assert compiled == {name for name in blocks.SOURCES if name.endswith(".c")}
        assert "written for AVR C" in one.notes
        assert "XTEA_64_128 taken for xtea" in one.notes
    assert len({f.implementations[0].digest for f in found}) == 1
    # alone it gets rotations of ours, which it is told
    (alone,) = discover(Path(shutil.copytree(cipher, tmp_path / cipher.name))).implementations
    assert alone.digest != found[0].implementations[0].digest
    assert any(note.startswith("rot32.h is Steelyard's, which may be slow") for note in alone.notes)


def test_every_folder_is_a_cipher_or_has_a_reason(tmp_path: Path) -> None:
    blocks.tree(tmp_path)
    blocks.tree(tmp_path, "CipherName_BlockSizeInBits_KeySizeInBits_v01")
    blocks.tree(tmp_path, "XTEA_64_80_v01")
    for name, gone in (("XTEA_64_128_v02", "test_vectors.c"), ("XTEA_64_128_v03", "decrypt.c")):
        (blocks.tree(tmp_path, name) / "source" / gone).unlink()
    (blocks.tree(tmp_path, "XTEA_64_128_v05") / "source" / "implementation.info").unlink()
    expression = {"constants.h": blocks.SOURCES["constants.h"].replace(f"E {blocks.ROUND_KEYS}", "E (4 * 64)")}
    blocks.tree(tmp_path, "XTEA_64_128_v04", expression)
    found = discover(tmp_path)
    assert [i.label for i in found.implementations] == ["xtea/07"]
    told = {r.path.parent.name: (r.failure.reason, r.failure.detail) for r in found.rejected}
    assert told == {
        "CipherName_BlockSizeInBits_KeySizeInBits_v01": (Reason.NO_SOURCES, "FELICS's template for a new cipher"),
        "XTEA_64_80_v01": (
            Reason.SIZES_DIFFER,
            "block 64, key 128 bits in constants.h, 64 and 80 in the name",
        ),
        "XTEA_64_128_v02": (Reason.NO_SOURCES, "no test_vectors.c, which FELICS cannot do without"),
        "XTEA_64_128_v03": (Reason.NO_SOURCES, "no decrypt.c, which FELICS cannot do without"),
        "XTEA_64_128_v05": (Reason.NO_SOURCES, "no implementation.info, which FELICS cannot do without"),
        "XTEA_64_128_v04": (Reason.NO_API, "constants.h defines no ROUND_KEYS_SIZE as a plain number"),
    }


def test_it_is_weighed_and_has_felics_s_figures(bench: Bench, atmega128: Target) -> None:
    record = bench.weigh(package(bench), atmega128, SCENARIO_0, "-O3")
    assert record.failure is None
    assert record.verification == Verification("package+known", COUNT + 1, 0, 0)
    (order,) = (n for n in record.notes if n.startswith("takes "))
    assert order.startswith("takes keys and blocks the bytes of each word of 32 bits turned round: verified with the")
    found = {k.removeprefix("felics_"): v for k, v in record.metrics.items() if k.startswith("felics_")}
    own = {p: found[f"code_{p}"] for p in ("eks", "e", "dks", "d")}
    assert all(own.values())
    shared = own["e"] + own["d"] + own["eks"] + own["dks"] - found["code_total"]
    assert shared > 0
    assert shared % 2 == 0  # words.c counts thrice in the phases and once in all
    assert (found["data_common"], found["data_total"]) == (blocks.KEY + blocks.BLOCK + blocks.ROUND_KEYS,) * 2
    assert found["ram"] == found["data_total"] + max(found[f"stack_{p}"] for p in own)
    assert found["cycles_total"] == sum(found[f"cycles_{p}"] for p in own)
    # what makes a context to decrypt is both schedules; FELICS's figures of a call have the call and the return in them
    both = record.metrics["cycles_schedule_decrypt_mean"]
    assert both - record.metrics["cycles_schedule_encrypt_mean"] == pytest.approx(found["cycles_dks"], abs=10)


def test_it_is_linked_in_the_order_of_the_published_images(bench: Bench, atmega128: Target) -> None:
    implementation = package(bench)
    image = building.built(implementation, atmega128).images["both"]
    said = subprocess.run(["avr-nm", "--numeric-sort", image], capture_output=True, text=True, check=True).stdout
    names = [name for name in re.findall(r" [Tt] (\S+)", said) if name == "swap" or name.startswith("crypto_block")]
    assert [name.removeprefix("crypto_block_") for name in names] == [
        "encrypt", "swap", "encrypt_schedule", "decrypt_schedule", "decrypt"
    ]  # fmt: skip


_ANY_SIZE = """#include "api.h"
#include "crypto_block.h"
static void mixed(unsigned char *o, const unsigned char *i, const unsigned char *c)
{
    int n;
    for (n = 0; n < CRYPTO_BLOCKBYTES; n++)
        o[n] = i[n] ^ c[n];
}
static void copied(unsigned char *c, const unsigned char *k)
{
    int n;
    for (n = 0; n < CRYPTO_CONTEXTBYTES; n++)
        c[n] = k[n % CRYPTO_KEYBYTES];
}
"""
_OF_IT = """int crypto_block_{}_schedule(unsigned char *c, const unsigned char *k) { copied(c, k); return 0; }
int crypto_block_{}(unsigned char *o, const unsigned char *i, const unsigned char *c) { mixed(o, i, c); return 0; }
"""


@pytest.mark.parametrize(("key", "block"), [(1500, 16), (16, 256)])
def test_blocks_and_keys_of_any_size_have_figures(bench: Bench, key: int, block: int) -> None:
    text = _ANY_SIZE + "".join(_OF_IT.replace("{}", d) for d in ("encrypt", "decrypt"))
    sizes_of = {"KEY": key, "BLOCK": block, "CONTEXT": max(key, block)}
    api = "".join(f"#define CRYPTO_{name}BYTES {n}\n" for name, n in sizes_of.items())
    given = discover(write(bench.folder / "crypto_block/wide/ref", {"api.h": api, "x.c": text}))
    assert given.rejected == ()
    (found,) = given.implementations
    run = bench.weigh(found, the_target("bluepill"), SCENARIO_0)
    assert run.failure is not None
    assert run.failure.reason == Reason.NO_EXPECTED
    assert run.metrics["felics_cycles_e"] > block


def test_a_cipher_of_another_name_or_place_is_found_in_a_tree(tmp_path: Path) -> None:
    """As it is where its folder is named."""
    tree = blocks.tree(tmp_path / "felics").parent
    source = next(tree.iterdir()) / "source"
    shutil.copytree(source, tree / "Some-64-128")
    shutil.copytree(source, tree / "Other_64_128_v02")
    found = discover(tree)
    assert found.rejected == ()
    labels = {i.label for i in found.implementations}
    assert {"xtea/07", "Other_64_128/02"} < labels
    assert len(labels) == 3, labels


@pytest.mark.parametrize(
    ("changes", "reason", "said"),
    [
        ({"encrypt": f"/* more */=>{_RESTORED}"}, Reason.STRAY_WRITE, "encrypt writes into its input: context"),
        ({"encrypt": "/* more */=>v[0] ^= v[1] & 1;"}, Reason.KAT_MISMATCH, "test_vectors.c: got "),
        ({"test_vectors": "Key[KEY_SIZE] = {=>Key[KEY_SIZE] = {1, "}, Reason.BAD_KAT, "expectedKey holds 17 bytes"),
    ],
)
def test_what_is_wrong_is_told(
    bench: Bench, atmega128: Target, changes: dict[str, str], reason: Reason, said: str
) -> None:
    record = bench.weigh(package(bench, **changes), atmega128, flags="-O3")
    assert record.failure is not None
    assert (record.failure.reason, said in record.failure.detail) == (reason, True), record.failure


def test_a_schedule_may_change_its_key(bench: Bench, atmega128: Target) -> None:
    """FELICS's is not const."""
    last = "k[sum >> 11 & 3];"
    more = {"encryption_key_schedule": f"{last}=>{last} if (i == 31) key[0]++;"}
    record = bench.weigh(package(bench, **more), atmega128, flags="-O3")
    assert record.failure is None
    assert "schedule_encrypt changes its input: key" in record.notes


def test_sizes_are_those_that_the_header_shows(bench: Bench, atmega128: Target) -> None:
    """Not others, which a file that it includes defines after it."""
    extra = {
        "constants.h": blocks.SOURCES["constants.h"] + '#include "more.h"\n',
        "more.h": "#undef ROUND_KEYS_SIZE\n#define ROUND_KEYS_SIZE 1\n",
    }
    (found,) = discover(blocks.tree(bench.folder, blocks.NAME, extra)).implementations
    failed = bench.weigh(found, atmega128).failure
    assert failed is not None
    text = "context of 256 bytes in the header, of 1 for the compiler"
    assert (failed.reason, failed.detail) == (Reason.SIZES_DIFFER, text)


def test_a_name_is_not_enough_to_be_a_known_cipher(bench: Bench, atmega128: Target) -> None:
    """Right by its own vector, which holds another cipher's answer."""
    key, block = bytes(range(3, 3 + blocks.KEY)), bytes(range(100, 100 + blocks.BLOCK))
    output = blocks.encrypted(key, block)
    wrong = output[:4] + bytes([output[4] ^ 1]) + output[5:]
    changed = {
        "encrypt": "/* more */=>v[1] ^= 1;",
        "decrypt": "for (i = 0;=>v[1] ^= 1; for (i = 0;",
        "test_vectors": blocks.vectors(key, block, wrong),
    }
    known = bench.weigh(package(bench, **changed), atmega128, flags="-O3")
    assert known.failure is not None
    assert known.failure.reason is Reason.KAT_MISMATCH
    other = bench.weigh(package(bench, name="Other_64_128_v01", **changed), atmega128, flags="-O3")
    assert (other.setup.variant, other.failure) == ("Other_64_128", None)
    assert other.verification is not None
    assert other.verification.source == "package"


def test_orders_undo_themselves() -> None:
    data = bytes(range(16))
    found = list(dict.fromkeys(o.block for o in orders(16, 16)))
    made = [o.of(data) for o in found]
    assert [o.of(x) for o, x in zip(found, made, strict=True)] == [data] * len(made)
    assert len(set(made)) == len(made)
    assert made[0] == data


@pytest.mark.parametrize("text", ["", "expectedKey[1] = {1};", blocks.vectors(b"1", b"2", b"3").replace("0x32", "256")])
def test_vectors_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(MalformedKat):
        felicsfile.parse_block(text, blocks.KEY, blocks.BLOCK)


def test_modes_are_felics_s_scenarios_1_and_2(bench: Bench, atmega128: Target) -> None:
    """CBC over 128 bytes, and CTR over 16 with round keys in flash; what they give is checked block by block."""
    cipher = package(bench)
    runs = [bench.weigh(cipher, atmega128, f"felics-block-{n}", "-O3") for n in range(3)]
    block, cbc, ctr = map(felics, runs)
    assert not any("no figures" in note for run in runs for note in run.notes)
    assert len({run.metrics["cycles_encrypt_mean"] for run in runs}) == 1
    same = ("code_eks", "code_e", "code_dks", "code_d", "code_total", "cycles_eks", "cycles_dks")
    assert [cbc[f] for f in same] == [block[f] for f in same]
    assert cbc["data_common"] == block["data_common"] + 128
    assert 16 * block["cycles_e"] < cbc["cycles_e"] < 20 * block["cycles_e"]
    assert cbc["cycles_total"] == sum(cbc[f"cycles_{p}"] for p in ("eks", "e", "dks", "d"))
    assert ctr["code_e"] == ctr["code_total"] > blocks.ROUND_KEYS + 100
    assert ctr["data_total"] == 16 + blocks.BLOCK
    assert block["cycles_e"] < ctr["cycles_e"] == ctr["cycles_total"] < 3 * block["cycles_e"]
    assert ctr["ram"] == ctr["data_total"] + ctr["stack_e"]
    assert not {"code_eks", "code_d", "cycles_d", "stack_d"} & ctr.keys()
    assert all(0 < found["code_mode"] < 800 for found in (cbc, ctr))


def test_round_keys_that_are_not_read_from_flash_are_told(bench: Bench, atmega128: Target) -> None:
    """A mode whose output is wrong, and contexts that cannot be in flash, have no figures; all others stay."""
    sources, macro = blocks.files(), "READ_ROUND_KEY_DOUBLE_WORD"
    deaf = {stem: sources[f"{stem}.c"].replace(macro, "") for stem in ("encrypt", "decrypt")}
    run = bench.weigh(package(bench, **deaf), atmega128, "felics-block-2", "-O3")
    assert felics(run) == {}
    wrong = "wrong-output: encrypt of 16 bytes differs from that of blocks"
    assert f"no figures of FELICS's scenario 2: {wrong}" in run.notes
    ours = discover(CIPHERS / "crypto_block/xtea/xtea/ref").implementations[0]
    run = bench.weigh(ours, atmega128, "felics-block-2", "-O3")
    assert felics(run) == {}
    assert any("its contexts are in program memory" in note for note in run.notes)
    assert felics(bench.weigh(ours, atmega128, "felics-block-1", "-O3"))["cycles_d"] > 0
    odd = bench.weigh(discover(CIPHERS / "crypto_block/simon/simon4872/ref").implementations[0], atmega128, SCENARIO_1)
    assert felics(odd) == {}
    assert "no figures of FELICS's scenario 1: 128 bytes are not a whole number of blocks of 6" in odd.notes
    assert felics(bench.weigh(ours, the_target("bluepill"), "felics-block-2", "-O3"))["cycles_e"] > 0


def test_the_mode_is_made_without_the_package_s_headers(bench: Bench, atmega128: Target) -> None:
    """Its code is in no figure: a cipher that api.h brings there would be in none."""
    ours = discover(CIPHERS / "crypto_block/speck/speck64128/ref").implementations[0]
    files = {f.name: f.path.read_text() for f in ours.files}
    files["api.h"] += "#ifdef SY_SCENARIO\n#error\n#endif\n"
    (found,) = discover(write(bench.folder / "crypto_block/speck64128/mine", files)).implementations
    assert felics(bench.weigh(found, atmega128, SCENARIO_1, "-O3"))["code_mode"] > 0
