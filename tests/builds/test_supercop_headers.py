"""The headers that SUPERCOP's packages rely on: their functions against Python's integers, packages that use them."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model import paths
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from tests import toys
from tests.conftest import Bench

BITS = (8, 16, 32, 64)
#: value of f(x, y), where y is a number of bits for those that shift
ONE: dict[str, Callable[[int, int], int]] = {
    "topbit": lambda x, n: x >> (n - 1) & 1,
    "bottombit": lambda x, n: x & 1,
    "nonzero": lambda x, n: x != 0,
    "zero": lambda x, n: x == 0,
}
SIGNED_ONE: dict[str, Callable[[int, int], int]] = {"negative": lambda x, n: x < 0, "positive": lambda x, n: x > 0}
TWO: dict[str, Callable[[int, int, int], int]] = {
    "unequal": lambda x, y, n: x != y,
    "equal": lambda x, y, n: x == y,
    "smaller": lambda x, y, n: x < y,
    "leq": lambda x, y, n: x <= y,
    "bitmod": lambda x, y, n: x >> (y % n) & 1,
    "bitinrangepublicpos": lambda x, y, n: x >> (y % n) & 1,
}
VALUES: dict[str, Callable[[int, int, int], int]] = {
    "min": lambda x, y, n: min(x, y),
    "max": lambda x, y, n: max(x, y),
    "shlmod": lambda x, y, n: x << (y % n),
    "shrmod": lambda x, y, n: x >> (y % n),
}
NUMBERS: dict[str, Callable[[int, int], int]] = {
    "ones_num": lambda x, n: (x % (1 << n)).bit_count(),
    "bottomzeros_num": lambda x, n: n if x == 0 else (x & -x).bit_length() - 1,
}
TYPES = [("", n) for n in BITS] + [("u", n) for n in BITS]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Every function under another name, so that it is in a library."""
    folder = tmp_path_factory.mktemp("integers")
    lines = []
    for sign, n in TYPES:
        t = f"crypto_{sign}int{n}"
        lines.append(f'#include "{t}.h"\n')
        two = [f"{name}_{kind}" for name in TWO for kind in ("01", "mask")] + list(VALUES)
        one = [f"{name}_{kind}" for name in (ONE if sign else ONE | SIGNED_ONE) for kind in ("01", "mask")]
        lines += [f"{t} x_{t}_{f}({t} x, {t} y) {{ return {t}_{f}(x, y); }}\n" for f in two]
        lines += [f"{t} x_{t}_{f}({t} x) {{ return {t}_{f}(x); }}\n" for f in (*one, *([] if sign else ["absolute"]))]
        lines += [f"int x_{t}_{f}({t} x) {{ return {t}_{f}(x); }}\n" for f in NUMBERS]
        lines += [f"{t} x_{t}_{f}(unsigned char *s) {{ return {t}_{f}(s); }}\n" for f in ("load", "load_bigendian")]
        lines += [
            f"void x_{t}_{f}(unsigned char *s, {t} x) {{ {t}_{f}(s, x); }}\n" for f in ("store", "store_bigendian")
        ]
        lines.append(f"void x_{t}_minmax({t} *x, {t} *y) {{ {t}_minmax(x, y); }}\n")
    (folder / "all.c").write_text("".join(lines))
    made = folder / "all.so"
    command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    command += ["-shared", "-fPIC", f"-I{paths.HARNESS}/include", "all.c", "-o", str(made)]
    subprocess.run(command, check=True, cwd=folder)
    return ctypes.CDLL(str(made))


@given(st.data(), st.sampled_from(TYPES))
def test_integers(library: ctypes.CDLL, data: st.DataObject, of: tuple[str, int]) -> None:
    sign, n = of
    low, high = (0, (1 << n) - 1) if sign else (-(1 << (n - 1)), (1 << (n - 1)) - 1)
    numbers = st.integers(low, high) | st.sampled_from([low, high, 0, 1, min(n, high)])
    x, y = data.draw(numbers), data.draw(numbers)
    kind = getattr(ctypes, f"c_{sign}int{n}")

    def call(name: str, result: type, *arguments: object) -> int:
        function = getattr(library, f"x_crypto_{sign}int{n}_{name}")
        function.restype = result
        return int(function(*arguments) or 0)

    def wrapped(value: int) -> int:
        return int(kind(value).value)

    for name, expected in (ONE if sign else ONE | SIGNED_ONE).items():
        assert call(f"{name}_01", kind, kind(x)) == int(expected(x, n)), name
        assert call(f"{name}_mask", kind, kind(x)) == wrapped(-int(expected(x, n))), name
    for name, pair in TWO.items():
        assert call(f"{name}_01", kind, kind(x), kind(y)) == int(pair(x, y, n)), name
        assert call(f"{name}_mask", kind, kind(x), kind(y)) == wrapped(-int(pair(x, y, n))), name
    for name, value in VALUES.items():
        assert call(name, kind, kind(x), kind(y)) == wrapped(value(x, y, n)), name
    for name, number in NUMBERS.items():
        assert call(name, ctypes.c_int, kind(x)) == number(x, n), name
    if not sign:
        assert call("absolute", kind, kind(x)) == wrapped(abs(x))
    a, b = kind(x), kind(y)
    call("minmax", ctypes.c_int, ctypes.byref(a), ctypes.byref(b))
    assert [a.value, b.value] == sorted([x, y])
    for name, order in (("", "little"), ("_bigendian", "big")):
        stored = ctypes.create_string_buffer(n // 8)
        call(f"store{name}", ctypes.c_int, stored, kind(x))
        assert stored.raw == (x % (1 << n)).to_bytes(n // 8, order)  # type: ignore[arg-type]
        assert call(f"load{name}", kind, stored) == x


USES = """
#include "crypto_aead.h"
#include "crypto_declassify.h"
#include "crypto_int16.h"
#include "crypto_uint32.h"
#include "crypto_verify_16.h"
#define helper CRYPTO_NAMESPACE(helper)
int helper(const unsigned char *x)
{
    unsigned char y[crypto_verify_16_BYTES];
    int i, same;
    for (i = 0; i < 16; i++)
        y[i] = x[i];
    same = crypto_verify_16(x, y);
    y[15] ^= 128;
    crypto_declassify(y, sizeof y);
    return same == 0 && crypto_verify_16(x, y) == -1 && crypto_aead_ABYTES == CRYPTO_ABYTES
        && crypto_uint32_load(x) == crypto_uint32_load(y) && crypto_int16_negative_mask(-5) == -1;
}
"""


def test_a_package_that_counts_on_them_is_verified(bench: Bench, target: Target) -> None:
    """With an assembly file whose names come only from the macros, as SUPERCOP's compiler options define them."""
    files = toys.files(
        top=USES + "extern void CRYPTO_NAMESPACE(nothing)(void);", in_encrypt="if (!helper(k)) return 1;"
    )
    files["n.S"] = "\t.globl CRYPTO_NAMESPACE(nothing), _CRYPTO_NAMESPACE(nothing)\nCRYPTO_NAMESPACE(nothing):\n"
    record = bench.weigh(bench.package({**files, "LWC_AEAD_KAT_128_128.txt": toys.kat()}), target)
    assert record.failure is None


def test_sizes_without_including_api_h(bench: Bench, uno: Target) -> None:
    more = '#include "crypto_aead.h"\n#include "crypto_hash.h"\nchar k[crypto_aead_KEYBYTES + crypto_hash_BYTES];\n'
    files = toys.files() | {"api.h": f"{toys.API}#define CRYPTO_BYTES 32\n", "more.c": more}
    assert bench.build(bench.package(files), uno).failure is None


def test_a_secret_message_number_is_zeros_whatever_decryption_writes(bench: Bench, target: Target) -> None:
    files = toys.files(
        in_encrypt="for (i = 0; i < CRYPTO_NSECBYTES; i++) if (nsec[i]) return 1;",
        after_decrypt="for (i = 0; i < CRYPTO_NSECBYTES; i++) nsec[i] = 255;",
    )
    files |= {"api.h": f"{toys.API}#define CRYPTO_NSECBYTES 24\n", "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(files), target)
    assert record.failure is None
    none = toys.files(in_encrypt="if (nsec) return 1;", after_decrypt="if (nsec) return 1;")
    record = bench.weigh(bench.package(none | {"LWC_AEAD_KAT_128_128.txt": toys.kat()}, variant="toy2"), target)
    assert record.failure is None


@pytest.mark.parametrize(
    ("code", "reason", "said"),
    [
        (
            '#include "crypto_core_keccakf160064bits.h"',
            Reason.MISSING_FILE,
            "SUPERCOP's crypto_core_keccakf160064bits, which is",
        ),
        ("#include <openssl/evp.h>", Reason.MISSING_FILE, "OpenSSL, which is"),
        ("#include <sys/wait.h>", Reason.MISSING_FILE, "sys/wait.h; needs an operating system"),
        ('#include "gone.h"', Reason.MISSING_FILE, "encrypt.c: gone.h"),
        ("#include <openssl/aes.h>\nvoid AES_cbc_encrypt(void);", Reason.UNDEFINED_SYMBOL, "OpenSSL, which is"),
        ("int crypto_stream_aes128ctr(void);", Reason.UNDEFINED_SYMBOL, "SUPERCOP's crypto_stream_aes128ctr, which is"),
        ('#include "randombytes.h"', Reason.UNDEFINED_SYMBOL, "randombytes"),
    ],
)
def test_what_is_another_package_is_told_so(bench: Bench, uno: Target, code: str, reason: Reason, said: str) -> None:
    calls = {"stream": "crypto_stream_aes128ctr();", "random": "randombytes(c, mlen);", "cbc": "AES_cbc_encrypt();"}
    call = next((c for word, c in calls.items() if word in code), "")
    failure = bench.build(bench.package(top=code, in_encrypt=call), uno).failure
    assert failure is not None
    assert failure.reason is reason
    assert said in failure.detail


def test_the_headers_are_cplusplus_too(tmp_path: Path) -> None:
    top = paths.HARNESS / "include"
    headers = sorted(str(f.relative_to(top)) for f in top.rglob("*.h"))
    text = "".join(f'#include "{name}"\n' for name in (*headers, *headers))
    for compiler, suffix in (("gcc", "c"), ("g++", "cpp")):
        source = tmp_path / f"all.{suffix}"
        source.write_text(text)
        command = [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{paths.HARNESS}/include", str(source)]
        subprocess.run(command, check=True)
