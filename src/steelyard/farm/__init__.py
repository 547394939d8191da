"""Runs jobs that wait in a database, on any machine."""

from .worker import Done, work

__all__ = ["Done", "work"]
