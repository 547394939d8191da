"""Starts what makes processes, which reads our sources while the server reads its own. It must come before both."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
from multiprocessing import forkserver


def context() -> multiprocessing.context.ForkServerContext:
    """How processes are made: of one that has read our sources."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["steelyard.web.makers", "steelyard.web.respond"])
    return made


def start() -> None:
    """Begins to read them."""
    context()
    forkserver.ensure_running()
