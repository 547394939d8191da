"""SIGTERM for verbs that go on until they are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Within the block SIGTERM is what Ctrl-C is: the default one leaves the process at once, without its ends."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
