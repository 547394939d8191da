"""SUPERCOP's crypto_core: two folders that are a block cipher, those that are none, and what each is called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from steelyard.measure import why_not
from steelyard.model.reasons import Failure, Reason
from steelyard.model.workload import workload
from steelyard.sources import discover
from steelyard.sources.pack import pack
from steelyard.sources.sizes import sizes
from tests.conftest import Bench, the_target, write

API = """#define CRYPTO_OUTPUTBYTES 8
#define CRYPTO_INPUTBYTES 8
#define CRYPTO_KEYBYTES 16
#define CRYPTO_CONSTBYTES 0
"""
#: a global name that both folders have
HEADER = """#include "crypto_core.h"
#include "crypto_uint32.h"
#define half CRYPTO_NAMESPACE(half)
extern crypto_uint32 half(crypto_uint32, crypto_uint32);
"""
HALF = """#include "half.h"

crypto_uint32 half(crypto_uint32 v, crypto_uint32 k)
{
    return ((v << 4 ^ v >> 5) + v) ^ k;
}
"""
CORE = """#include "half.h"

int crypto_core(unsigned char *out, const unsigned char *in, const unsigned char *k, const unsigned char *c)
{
    crypto_uint32 key[4], y = crypto_uint32_load_bigendian(in), z = crypto_uint32_load_bigendian(in + 4), sum;
    int i;

    for (i = 0; i < 4; ++i)
        key[i] = crypto_uint32_load_bigendian(k + 4 * i);
    @STEPS@
    crypto_uint32_store_bigendian(out, y);
    crypto_uint32_store_bigendian(out + 4, z);
    return 0;
}
"""
KAT = "LWC_BLOCK_KAT_128_64.txt"
STEPS = {
    "encrypt": """for (i = 0, sum = 0; i < 32; ++i) {
        y += half(z, sum + key[sum & 3]);
        sum += 0x9e3779b9;
        z += half(y, sum + key[sum >> 11 & 3]);
    }""",
    "decrypt": """for (i = 0, sum = 0xc6ef3720; i < 32; ++i) {
        z -= half(y, sum + key[sum >> 11 & 3]);
        sum -= 0x9e3779b9;
        y -= half(z, sum + key[sum & 3]);
    }""",
}


def cores(root: Path, name: str = "xtea{}/mine", api: str = API, back: str = API) -> Path:
    """XTEA as two folders of crypto_core."""
    for direction, text in (("encrypt", api), ("decrypt", back)):
        files = {"api.h": text, "half.h": HEADER, "half.c": HALF, "core.c": CORE.replace("@STEPS@", STEPS[direction])}
        write(root / "crypto_core" / name.format(direction), files)
    return root


def refused(path: Path) -> Failure:
    found = discover(path)
    assert found.implementations == ()
    return found.rejected[-1].failure  # of the folder that encrypts, where both say their name


@pytest.mark.parametrize("name", ["uno", "bluepill"])
def test_two_folders_are_a_block_cipher_that_is_verified(bench: Bench, name: str) -> None:
    found = discover(cores(bench.folder))
    assert found.rejected == ()
    (xtea,) = found.implementations
    assert (xtea.primitive, xtea.family, xtea.label) == ("crypto_block", "xtea", "xtea/mine")
    assert sizes(xtea) == {"key": 16, "block": 8, "context": 16}
    record = bench.weigh(xtea, the_target(name))
    assert record.failure is None
    assert record.verification is not None
    assert record.verification.source == "known"
    own, figures = bench.folder / "crypto_core", record.metrics
    assert figures["context"] == 16
    assert not [n for n in figures if "schedule" in n]  # that they copy the key is our doing
    assert not why_not(record, workload("kat"), the_target(name))
    assert any(n.endswith("schedules copy the key, which every block expands anew") for n in record.notes)
    for part in ("xteadecrypt/mine", "xteaencrypt", "."):
        assert [i.digest for i in discover(own / part).implementations] == [xtea.digest]
    # a zip of both is the same
    packed = shutil.make_archive(str(bench.folder / "both"), "zip", bench.folder, "crypto_core")
    (there,) = discover(Path(packed), cache=bench.folder / "cache").implementations
    assert there.digest == xtea.digest


#: of a direction: a helper that knows no header of SUPERCOP's, another plain global name of both folders, and a header
#: that both call the same
PARTED = {
    "half.h": HEADER.replace('#include "crypto_core.h"\n', "").replace(
        "extern", "extern const crypto_uint32 start;\nextern"
    ),
    "core.c": '#include "crypto_core.h"\n' + CORE,
    "start.h": "#define START {}\n",
    "start.c": '#include <start.h>\n#include "half.h"\nconst crypto_uint32 start = START;\n',
}


@pytest.mark.parametrize(("name", "flags"), [("uno", "-Os"), ("uno", "-O2 -flto"), ("bluepill", "-O2")])
def test_each_direction_is_a_library_of_its_own(bench: Bench, name: str, flags: str) -> None:
    own = cores(bench.folder) / "crypto_core"
    for direction, steps in STEPS.items():
        start = "0" if direction == "encrypt" else "0xc6ef3720"
        core = PARTED["core.c"].replace("@STEPS@", steps.replace(f"sum = {start}", "sum = start"))
        assert "sum = start" in core
        more = PARTED | {"core.c": core, "start.h": PARTED["start.h"].format(start)}
        write(own / f"xtea{direction}" / "mine", more)
    record = bench.weigh(discover(own).implementations[0], the_target(name), flags=flags)
    assert record.failure is None, record.failure
    assert record.verification is not None
    assert record.verification.source == "known"


#: of a direction in C++: what both have under one name is a template's table and an inline function
PLUS = """#include "crypto_core.h"
#include "crypto_uint32.h"

template <typename W> struct Key { static const W delta[4]; };
template <typename W> const W Key<W>::delta[4] = {0x9e3779b9, 0x9e3779b9, 0x9e3779b9, 0x9e3779b9};

inline __attribute__((noinline)) crypto_uint32 start() { return @START@; }

static crypto_uint32 half(crypto_uint32 v, crypto_uint32 k) { return ((v << 4 ^ v >> 5) + v) ^ k; }
"""


@pytest.mark.parametrize(
    ("name", "flags"), [("uno", "-O2"), ("bluepill", "-O2"), ("bluepill", "-O2 -flto"), ("host", "-O2")]
)
def test_each_direction_is_a_library_of_its_own_in_c_plus_plus(bench: Bench, name: str, flags: str) -> None:
    own = cores(bench.folder) / "crypto_core"
    for direction, steps in STEPS.items():
        folder, start = own / f"xtea{direction}" / "mine", "0" if direction == "encrypt" else "0xc6ef3720"
        core = CORE.replace("@STEPS@", steps.replace(f"sum = {start}", "sum = start()")).partition("\n")[2]
        assert "sum = start()" in core
        for f in ("half.h", "half.c", "core.c"):
            (folder / f).unlink()
        write(
            folder,
            {
                "core.cpp": PLUS.replace("@START@", start)
                + core.replace("0x9e3779b9", "Key<crypto_uint32>::delta[i & 3]")
            },
        )
    record = bench.weigh(discover(own).implementations[0], the_target(name), flags=flags)
    assert record.failure is None, record.failure
    assert record.verification is not None
    assert record.verification.source == "known"


def test_common_symbols_are_a_library_s_own(bench: Bench) -> None:
    own = cores(bench.folder) / "crypto_core"
    for direction, steps in STEPS.items():
        if direction == "encrypt":
            steps = steps.replace("sum = 0", "sum = state")
        else:
            steps += "\n    state = 1;"
        core = CORE.replace("@STEPS@", steps).replace("\nint crypto_core", "\ncrypto_uint32 state;\n\nint crypto_core")
        assert core.count("state") == 2
        write(own / f"xtea{direction}" / "mine", {"core.c": core})
    record = bench.weigh(discover(own).implementations[0], the_target("msp430f1611"), flags="-O2 -fcommon")
    assert record.failure is None, record.failure


@pytest.mark.parametrize("where", ["newencrypt/mine", "newencrypt", "newdecrypt/mine", "newdecrypt"])
def test_the_known_answers_of_one_s_own_are_read(tmp_path: Path, where: str) -> None:
    """From the folder or the variant's, of either direction, and from a zip of one half."""
    own = cores(tmp_path, "new{}/mine") / "crypto_core"
    assert [i.kat for i in discover(own).implementations] == [()]
    write(own / where, {KAT: "Count = 1\n"})
    for named in (own, own / "newencrypt/mine", own / "newdecrypt/mine"):
        assert [i.kat for i in discover(named).implementations] == [(own / where / KAT,)]
    name, content = pack(own / "newdecrypt" / "mine")
    packed = tmp_path / name
    packed.write_bytes(content)
    (there,) = discover(packed, cache=tmp_path / "cache").implementations
    assert [k.name for k in there.kat] == [KAT]


def test_a_cipher_of_one_s_own_is_verified(bench: Bench) -> None:
    """By its known answers, of which a wrong one is told."""
    own = cores(bench.folder, "new{}/mine") / "crypto_core"
    right = "Count = 1\nKey = 000102030405060708090a0b0c0d0e0f\nPT = 4142434445464748\nCT = 497df3d072612cb5\n"
    for text, reason in ((right, None), (right.replace("CT = 49", "CT = 48"), Reason.KAT_MISMATCH)):
        write(own / "newencrypt", {KAT: text})
        record = bench.weigh(discover(own).implementations[0], the_target("uno"))
        assert (record.failure.reason if record.failure else None) is reason, record.failure
        assert reason or (record.verification is not None and record.verification.source == "package")


def test_one_half_is_handed_in_with_the_other(tmp_path: Path) -> None:
    name, content = pack(cores(tmp_path) / "crypto_core" / "xteadecrypt" / "mine")
    packed = tmp_path / name
    packed.write_bytes(content)
    assert [i.label for i in discover(packed, cache=tmp_path / "cache").implementations] == ["xtea/mine"]


def test_deeper_folders_pair_by_their_names(tmp_path: Path) -> None:
    cores(tmp_path, "xtea{}/someone/fast")
    cores(tmp_path, "xtea{}/someone/small")
    assert [i.label for i in discover(tmp_path).implementations] == ["xtea/someone/fast", "xtea/someone/small"]


def without(size: str) -> str:
    return "".join(line for line in API.splitlines(True) if size not in line)


IRREGULAR = {
    "a permutation": (
        {"name": "keccakf160064bits/mine"},
        Reason.OTHER_PRIMITIVE,
        "crypto_core is measured where it is a block cipher; keccakf160064bits is not NAMEencrypt or NAMEdecrypt",
    ),
    "a direction without a name": (
        {"name": "{}/mine"},
        Reason.OTHER_PRIMITIVE,
        "crypto_core is measured where it is a block cipher; encrypt is not NAMEencrypt or NAMEdecrypt",
    ),
    "more comes out": (
        {"api": API.replace("OUTPUTBYTES 8", "OUTPUTBYTES 64")},
        Reason.OTHER_PRIMITIVE,
        "encrypt: 8 bytes in, 64 out, key 16, constant 0: not a block cipher",
    ),
    "a constant": (
        {"back": API.replace("CONSTBYTES 0", "CONSTBYTES 16")},
        Reason.OTHER_PRIMITIVE,
        "decrypt: 8 bytes in, 8 out, key 16, constant 16: not a block cipher",
    ),
    "no key": (
        {"api": API.replace("KEYBYTES 16", "KEYBYTES 0")},
        Reason.OTHER_PRIMITIVE,
        "encrypt: 8 bytes in, 8 out, key 0, constant 0: not a block cipher",
    ),
    "no number": (
        {"api": API.replace("KEYBYTES 16", "KEYBYTES sizeof(key)")},
        Reason.NO_API,
        "encrypt: api.h defines no CRYPTO_KEYBYTES as a plain number",
    ),
    "a size is missing": (
        {"back": without("CONST")},
        Reason.NO_API,
        "decrypt: api.h defines no CRYPTO_CONSTBYTES as a plain number",
    ),
    "two keys": (
        {"back": API.replace("KEYBYTES 16", "KEYBYTES 32")},
        Reason.SIZES_DIFFER,
        "encrypt has block 8, key 16 bytes, decrypt block 8, key 32",
    ),
}


@pytest.mark.parametrize("what", IRREGULAR)
def test_what_is_none_has_a_reason(tmp_path: Path, what: str) -> None:
    how, reason, text = IRREGULAR[what]
    failed = refused(cores(tmp_path, **how))
    assert (failed.reason, failed.detail) == (reason, text)


def test_one_direction_alone_is_none(tmp_path: Path) -> None:
    shutil.rmtree(cores(tmp_path) / "crypto_core" / "xteadecrypt")
    failed = refused(tmp_path)
    assert (failed.reason, failed.detail) == (
        Reason.NO_SOURCES,
        "no crypto_core/xteadecrypt/mine: a block cipher has both directions",
    )


def test_no_link_leads_to_another_half(tmp_path: Path) -> None:
    """One that leaves the folder which the user named."""
    tree, elsewhere = cores(tmp_path / "tree") / "crypto_core", cores(tmp_path / "elsewhere") / "crypto_core"
    shutil.rmtree(tree / "xteadecrypt")
    (tree / "xteadecrypt").symlink_to(elsewhere / "xteadecrypt")
    found = discover(tree / "xteaencrypt" / "mine")
    assert found.implementations == ()
    assert [r.failure.reason for r in found.rejected] == [Reason.NO_SOURCES]


def test_other_packages_may_be_below_a_folder_of_this_name(tmp_path: Path) -> None:
    api = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_NPUBBYTES 16\n#define CRYPTO_ABYTES 16\n"
    write(tmp_path / "crypto_core" / "mine" / "crypto_aead" / "toy" / "ref", {"api.h": api, "toy.c": "int x;\n"})
    assert [i.primitive for i in discover(tmp_path).implementations] == ["crypto_aead"]
    inner = cores(tmp_path / "crypto_core" / "again")
    assert [i.label for i in discover(inner).implementations] == ["xtea/mine"]


def test_a_key_of_another_size_is_no_known_cipher(bench: Bench) -> None:
    api = API.replace("KEYBYTES 16", "KEYBYTES 32")
    (xtea,) = discover(cores(bench.folder, api=api, back=api)).implementations
    record = bench.weigh(xtea, the_target("bluepill"))
    assert record.failure is not None
    assert record.failure == Failure(Reason.KAT_MISMATCH, "api.h says key 32, block 8 bytes; xtea has 16, 8")
