"""Mixes of instructions that hold a timing model to its name: drawn from the lists in ``mixes.toml``, as kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from steelyard.model import paths, toml

#: mixes of each table, and lines of each: together they have most pairs of neighbours, in 2 KB of code
MANY, LENGTH = 6, 80


class _Mix(toml.Table, frozen=True):
    """``kernels`` is the file of bench/kernels whose frame a mix has, ``lines`` what it is drawn from."""

    name: str
    kernels: str
    lines: tuple[str, ...]
    setup: str = ""
    after: str = ""
    without: tuple[str, ...] = ()


class _File(toml.Table, frozen=True):
    lines: dict[str, tuple[str, ...]]
    mixes: tuple[_Mix, ...]


def written(folder: Path) -> None:
    """Writes files of kernels that are the mixes, each with the frame and the first kernel of the file it names."""
    file = toml.load(Path(__file__).with_name("mixes.toml"), _File)
    for path in paths.KERNELS.glob("*.toml"):
        head, first, _ = path.read_text(encoding="utf-8").split("[[kernels]]", 2)
        tables = [f"[[kernels]]{first}"]
        tables += (t for mix in file.mixes if mix.kernels == path.stem for t in _tables(mix, file.lines))
        (folder / path.name).write_text(head + "\n".join(tables), encoding="utf-8")


def _tables(mix: _Mix, lists: dict[str, tuple[str, ...]]) -> Iterator[str]:
    lines = [line for name in mix.lines for line in lists[name]]
    for n in range(MANY):
        body = "\n".join(lines[_drawn(f"{mix.name} {n} {k}") % len(lines)] for k in range(LENGTH))
        yield (
            f"[[kernels]]\nname = '{mix.name}-{n}'\nrule = 'any'\nwithout = {list(mix.without)}\n"
            f"setup = '''{mix.setup}'''\nbody = '''\n{body}\n'''\nafter = '''\n{mix.after}\n'''\n"
        )


def _drawn(text: str) -> int:
    """A number that is the same on every machine and in every version."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
