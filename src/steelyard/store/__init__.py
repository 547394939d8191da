"""Stage six: stores records in an append-only database, with compressed logs in a folder beside it."""

from __future__ import annotations

from .errors import StoreError
from .keeper import Keeper
from .queries import FILTERS
from .store import Store

__all__ = ["FILTERS", "Keeper", "Store", "StoreError"]
