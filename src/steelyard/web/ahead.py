"""Starts what makes processes, which reads our sources while the server reads its own. It must come before both."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import forkserver

from ..model.parent import end_with_parent


def context() -> multiprocessing.context.ForkServerContext:
    """How processes are made: of one that has read our sources."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["steelyard.web.makers", "steelyard.web.respond"])
    return made


def start() -> None:
    """Begins to read them."""
    context()
    forkserver.ensure_running()


def process() -> ProcessPoolExecutor:
    """One such process, for what the server does once and need not have in memory."""
    return ProcessPoolExecutor(1, mp_context=context(), initializer=begin)


def begin() -> None:
    """Prepares such a process: Ctrl-C is the server's, and it ends with the server, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
