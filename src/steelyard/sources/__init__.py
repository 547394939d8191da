"""Stage one: finds the implementations in a folder or a zip file, or the reason why there are none."""

from __future__ import annotations

from .discover import DEFAULT_CACHE, Found, discover
from .layout import stem
from .limits import Limits
from .sizes import sizes

__all__ = ["DEFAULT_CACHE", "Found", "Limits", "discover", "sizes", "stem"]
