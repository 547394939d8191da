"""How much a tree or an archive may ask of the machine that reads it."""

from __future__ import annotations

from msgspec import Struct

MIB = 1 << 20


class Limits(Struct, frozen=True):
    """Bounds on everything that is read; what goes beyond is rejected with a reason, never truncated."""

    file_bytes: int = 8 * MIB
    package_files: int = 4000
    package_bytes: int = 64 * MIB
    tree_entries: int = 500_000
    depth: int = 24
    zip_members: int = 5000
    zip_bytes: int = 200 * MIB
    zip_file_bytes: int = 32 * MIB
    zip_ratio: int = 200
