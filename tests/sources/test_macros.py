"""Numbers of a header, as the preprocessor would leave them."""

from __future__ import annotations

import pytest

from steelyard.sources.macros import MAX_BYTES, numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("#define N 16", 16),
        (" # define N (16) // bytes", 16),
        ("\ufeff#define N 16", 16),
        ("#define N 0x10UL", 16),
        ("#define N 020", 16),
        ("#define N 1\\\n6\r\n", 16),
        ("#define N 16\n/*\n#define N 4\n*/", 16),
        ('#define T "/*"\n#define N 16 /* " */', 16),
        ("#define N 32\n#undef N\n#define N 16", 16),
        ("#if 0\n#define N 32\n#else\n#define N 16\n#endif", 16),
        ("#if 1\n#define N 16\n#elif B\n#define N 32\n#else\n#define N 64\n#endif", 16),
        ("#ifndef N_H\n#define N_H\n#define N 16\n#endif", 16),
        ("#define N 16\n#ifndef N\n#define N 32\n#endif", 16),
        ("#ifdef A\n#define N 16\n#else\n#define N 16\n#endif", 16),
        ("#define Q '\"' /*\n#define N 4 */\n#define N 16", 16),
        ("#error don't /*\n#define N 16", 16),
        ("#define N 16\n#undef N", None),
        ("const int n = 16;", None),
        ("#define N 089", None),
        ("#define N (4 * 4)", None),
        ("#define N(x) 16", None),
        ("#define N 16\n#ifdef A\n#undef N\n#define N 32\n#endif", None),
        ("#ifdef A\n#define N 16\n#endif\n#ifndef N\n#define N 32\n#endif", None),
        ("#if 0\n#define N 16\n#elif A\n#define N 32\n#else\n#define N 64\n#endif", None),
    ],
)
def test_a_number_or_nothing(text: str, value: int | None) -> None:
    assert numbers(text.encode()).get("N") == value


@pytest.mark.parametrize(
    "line", ["#define N " + " " * MAX_BYTES, "#define S " + '\\"' * MAX_BYTES, "'" * MAX_BYTES, "/*" * MAX_BYTES]
)
def test_a_long_line_is_read_once(line: str) -> None:
    """No pattern begins anew at each of its characters, which would take minutes."""
    assert numbers(f"#define M 8\n{line[: MAX_BYTES - 20]}".encode())["M"] == 8


def test_a_large_header_is_read_up_to_a_whole_line() -> None:
    assert numbers(b"#define M 8\n#define N 16" + b"0" * MAX_BYTES) == {"M": 8}
