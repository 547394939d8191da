"""Errors of the store, with the next action for the messages of drivers."""

from __future__ import annotations

from steelyard.model.errors import UserError


class StoreError(UserError):
    """The database or the folder of logs cannot be used; the text says what to do."""


class StoreFailure(StoreError):
    """The request was valid, but another process, the disk, or damaged data prevents it."""

    exit_code = 3


class Unreadable(StoreFailure):
    """A stored run is damaged, or a newer version's. ``what`` is wrong does not say where the database is."""

    def __init__(self, what: str, action: str, where: str = "") -> None:
        super().__init__(f"{f'{where}: ' if where else ''}{what}; {action}")
        self.what = what


class NoRoom(StoreFailure):
    """The disk of the database is full."""


class LogLost(StoreFailure):
    """A log is not the one that was stored, or not there. ``what`` is wrong does not say where it should be."""

    def __init__(self, what: str, where: str, action: str) -> None:
        super().__init__(f"{where} {what}; {action}")
        self.what = what


class Refused(StoreError):
    """The server does not take what it was sent; to send it again changes nothing."""


class LeaseLost(StoreError):
    """Another has taken over the run that a record is of."""


DAMAGED = "the file is damaged: restore a copy, or move it away and a new database is created"
#: words of drivers for a full disk
_FULL = ("full", "No space left")
#: words in a driver's message, and the next action
_ACTIONS = {
    "not a database": "give another path, or move the file away and a new database is created",
    "malformed": DAMAGED,
    "no such": DAMAGED,
    "decode to UTF-8": DAMAGED,
    "locked": "another process has held it for too long: end that process and run again",
    "readonly": "make the file and its folder writable",
    "unable to open": "check that the path is a file, and that you may write to its folder",
    "disk I/O": "the disk is full, or fails: free some space and run again",
    **dict.fromkeys(_FULL, "free some disk space and run again"),
    'relation "': "its tables are damaged: restore a copy",
    "Table '": "its tables are damaged: restore a copy",
    "invalid connection option": "correct the parameters in the URL",
    "refused": "start the server, or correct host and port in the URL",
    "resolve host": "correct the host in the URL",
    "authentication failed": "correct user and password in the URL",
    "Access denied": "correct user and password in the URL, or ask for the permission",
    "permission denied": "ask for the permission",
    "does not exist": "create the database, or correct its name in the URL",
    "Unknown database": "create the database, or correct its name in the URL",
}
#: those whose usual cause is a wrong path or URL
_WRONG_PLACE = ("not a database", "unable to open", "resolve host", "authentication failed", "Unknown database")


def explain(where: str, cause: str) -> StoreError:
    """A driver's message as an error with the next action; ``where`` names the database."""
    action = next((a for words, a in _ACTIONS.items() if words in cause), "check the database and run again")
    kind: type[StoreError] = StoreFailure
    if any(words in cause for words in _WRONG_PLACE):
        kind = StoreError
    elif any(words in cause for words in _FULL):
        kind = NoRoom
    return kind(f"{where}: {' '.join(cause.split())}; {action}")
