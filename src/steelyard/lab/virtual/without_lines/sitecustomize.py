"""Found first on ``PYTHONPATH`` by a flasher written in Python: a pseudo-terminal has no DTR and RTS, and a program
that pulls them there goes on, as it does with a cable that lacks them."""

from contextlib import suppress

with suppress(ImportError):
    from serial import serialposix

    serialposix.Serial._update_dtr_state = serialposix.Serial._update_rts_state = lambda self: None  # type: ignore
