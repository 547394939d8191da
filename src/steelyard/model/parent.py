"""Processes that do not outlive the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading

__all__ = ["end_with_parent"]


def end_with_parent() -> None:
    """Ends this process, which :mod:`multiprocessing` started, as soon as its parent has ended, however that ended: a
    parent that is killed tells its children nothing."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()
