"""Where records live: an append-only database, and a folder of compressed logs beside it."""

from __future__ import annotations

from .errors import StoreError
from .keeper import Keeper
from .store import Store

__all__ = ["Keeper", "Store", "StoreError"]
