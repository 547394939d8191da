"""Micro-kernels: short loops of assembly, each of which shows one rule of a timing model (``bench/kernels``).

They are written as one package with the API of a hash, so they are built, flashed and timed as any implementation is:
the message says which kernel turns round, and how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from string import Template

import msgspec
from msgspec import Struct

from ..model import paths, toml
from ..model.errors import UserError, unknown
from ..model.implementation import Implementation
from .discover import discover

#: bytes that the package calls its digest
_DIGEST = 4
_MAIN = """\
#include "crypto_hash.h"

typedef void kernel(unsigned rounds, void *place, const void *table);
{declarations}
static kernel *const kernels[] = {{{names}}};
static unsigned char place[64] __attribute__((aligned(64)));
static const unsigned char table[64] __attribute__((aligned(64))) = {{1}};

int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen)
{{
    if (inlen != 3 || in[0] >= sizeof kernels / sizeof *kernels)
        return -1;
    kernels[in[0]]((unsigned)in[1] | (unsigned)in[2] << 8, place, table);
    out[0] = in[0], out[1] = in[1], out[2] = in[2], out[3] = sizeof kernels / sizeof *kernels;
    return 0;
}}
"""


class Kernel(Struct, frozen=True):
    """A loop. ``rule`` says in words what of a timing model it shows; ``source`` is its function."""

    name: str
    rule: str
    source: str

    @property
    def symbol(self) -> str:
        """The name of its function."""
        return f"kernel_{self.name.replace('-', '_')}"


class _Entry(toml.Table, frozen=True):
    """A table ``kernels`` of a file: one kernel, or one ``for`` each number, which is ``$n`` in all texts. ``setup``
    comes before the loop, ``after`` follows the function; the loop begins ``offset`` bytes after a multiple of the
    largest alignment. Cores ``without`` have other instructions."""

    name: str
    rule: str
    body: str
    setup: str = ""
    after: str = ""
    offset: str = "0"
    each: tuple[int, ...] = msgspec.field(default=(0,), name="for")
    without: tuple[str, ...] = ()


class _File(toml.Table, frozen=True):
    """A file of ``bench/kernels``: the ``cores`` that it is for, each with the page of docs/validation that explains
    its rules, the function around a body, the kernels."""

    cores: dict[str, str]
    frame: str
    kernels: tuple[_Entry, ...]


class Kernels(Struct, frozen=True):
    """The kernels for a core, the ``page`` of docs/validation that says what its model makes of them, and the ``file``
    that they are in."""

    page: str
    file: Path
    every: tuple[Kernel, ...]


@cache
def kernels_of(core: str) -> Kernels | None:
    """All kernels for a core; None where nobody wrote any. :class:`UserError` for a file that is wrong."""
    for path in sorted(paths.KERNELS.glob("*.toml")):
        file = toml.load(path, _File)
        if core in file.cores:
            every = (_made(path, file, e, n) for e in file.kernels if core not in e.without for n in e.each)
            return Kernels(file.cores[core], path, tuple(every))
    return None


def _made(path: Path, file: _File, entry: _Entry, n: int) -> Kernel:
    def filled(key: str, text: str, values: dict[str, object]) -> str:
        try:
            return Template(text).substitute(values)
        except (KeyError, ValueError) as e:
            known = ", ".join(f"${v}" for v in values)
            where = f"{paths.short(path)}: {entry.name}: {key}"
            raise UserError(f"{where}: a $ that is none of {known}; write $$ for the character") from e

    name, rule = (filled(key, getattr(entry, key), {"n": n}) for key in ("name", "rule"))
    kernel = Kernel(name, rule, "")
    parts = ("body", "setup", "after", "offset")
    whole = {key: filled(key, getattr(entry, key), {"n": n, "symbol": kernel.symbol}) for key in parts}
    return Kernel(name, rule, filled("frame", file.frame, {**whole, "symbol": kernel.symbol}))


def chosen(kernels: Sequence[Kernel], patterns: Sequence[str]) -> list[Kernel]:
    """Those with names that match a pattern, all where there is none. :class:`UserError` for one that matches none."""
    for pattern in patterns:
        if not any(fnmatch(k.name, pattern) for k in kernels):
            raise unknown("kernel", pattern, [k.name for k in kernels])
    return [k for k in kernels if not patterns or any(fnmatch(k.name, p) for p in patterns)]


def package(kernels: Sequence[Kernel], folder: Path) -> Implementation:
    """Writes at most 256 kernels below ``folder`` as one implementation of a hash, and returns that."""
    place = folder / "crypto_hash" / "kernels" / "kernels" / "asm"
    place.mkdir(parents=True)
    names = [k.symbol for k in kernels]
    main = _MAIN.format(declarations="\n".join(f"extern kernel {n};" for n in names), names=", ".join(names))
    (place / "api.h").write_text(f"#define CRYPTO_BYTES {_DIGEST}\n", encoding="utf-8")
    (place / "hash.c").write_text(main, encoding="utf-8")
    (place / "kernels.S").write_text("\n".join(k.source for k in kernels), encoding="utf-8")
    [found] = discover(place).implementations
    return found


def message(number: int, rounds: int) -> bytes:
    """What makes the kernel of this number turn round so often."""
    return bytes((number, rounds & 0xFF, rounds >> 8))


def answered(number: int, rounds: int, digest: bytes) -> bool:
    """Whether ``digest`` is the answer to that message."""
    return digest[:3] == message(number, rounds) and len(digest) == _DIGEST
