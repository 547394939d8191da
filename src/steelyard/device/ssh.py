"""Words for ``ssh``: a connection without questions, which notices when the other end is gone.

The user names a machine as ssh knows it; port, user and key belong in ssh's own configuration.
"""

from __future__ import annotations

import shlex

#: seconds for a connection
CONNECT = 10
#: ssh's exit code when the connection itself failed
NO_CONNECTION = 255
NOT_INSTALLED = "ssh is not installed: apt install openssh-client"
_SETTINGS = ("BatchMode=yes", f"ConnectTimeout={CONNECT}", "ServerAliveInterval=5", "ServerAliveCountMax=4")
OPTIONS = ("-T", "-x", "-a", *(word for s in (*_SETTINGS, "LogLevel=ERROR") for word in ("-o", s)))


def is_host(text: str) -> bool:
    """Whether ``text`` can be what ssh calls a machine, and no option of its."""
    return bool(text) and not text.startswith("-") and text.isprintable() and not any(c.isspace() for c in text)


def running(script: str) -> str:
    """The command that runs a shell script there, whatever shell the user has."""
    return f"exec /bin/sh -c {shlex.quote(script)}"
