"""How much is taken of what others hand in. Apart, for the server has no database in memory."""

from __future__ import annotations

from msgspec import Struct


class Quota(Struct, frozen=True):
    """What is taken: submissions of one address in a day, jobs that wait at once, of one address and of all, and bytes
    of all packages."""

    of_address: int = 20
    share: int = 400
    jobs: int = 2000
    size: int = 2 << 30
