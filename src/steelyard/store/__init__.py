"""Stage six: stores records in an append-only database, with compressed logs beside it or in it."""

from __future__ import annotations

from .errors import StoreError
from .keeper import Keeper
from .queries import FILTERS
from .store import Store

__all__ = ["FILTERS", "Keeper", "Store", "StoreError"]
