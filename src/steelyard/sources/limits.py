"""Limits on what is read of a tree or an archive."""

from __future__ import annotations

from msgspec import Struct

MIB = 1 << 20


class Limits(Struct, frozen=True):
    """Bounds on everything that is read, in bytes and counts. What exceeds them is rejected with a reason, never
    truncated."""

    file_bytes: int = 8 * MIB
    package_files: int = 4000
    package_bytes: int = 64 * MIB
    tree_entries: int = 500_000
    depth: int = 24
    zip_members: int = 5000
    zip_bytes: int = 200 * MIB
    zip_file_bytes: int = 32 * MIB
    zip_ratio: int = 200


#: of what strangers hand in, which is unpacked for them: less than for a user's own
HANDED_IN = Limits(
    package_files=1000, package_bytes=16 * MIB, tree_entries=20_000, zip_members=2000, zip_bytes=64 * MIB,
    zip_file_bytes=8 * MIB,
)  # fmt: skip
