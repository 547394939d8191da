"""Runs jobs that wait in a database, on any machine."""

from .worker import Done, name, work, work_for

__all__ = ["Done", "name", "work", "work_for"]
