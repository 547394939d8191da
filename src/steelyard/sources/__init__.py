"""Stage one: from a folder or a zip file to implementations, or to the reason why not."""

from __future__ import annotations

from .discover import DEFAULT_CACHE, Found, discover
from .layout import stem
from .limits import Limits
from .sizes import Sizes, sizes

__all__ = ["DEFAULT_CACHE", "Found", "Limits", "Sizes", "discover", "sizes", "stem"]
