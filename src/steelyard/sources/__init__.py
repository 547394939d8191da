"""Stage one: finds the implementations in a folder or a zip file, or the reason why there are none."""

from __future__ import annotations

from .discover import DEFAULT_CACHE, Found, discover
from .layout import stem
from .limits import Limits
from .sizes import sizes
from .spelling import bundled_name

__all__ = ["DEFAULT_CACHE", "Found", "Limits", "bundled_name", "discover", "sizes", "stem"]
