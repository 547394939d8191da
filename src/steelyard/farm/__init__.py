"""Runs jobs that wait in a database, on any machine."""

from .worker import Done, name, said_of, work, work_for

__all__ = ["Done", "name", "said_of", "work", "work_for"]
