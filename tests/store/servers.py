"""Servers for the tests: PostgreSQL and MariaDB from the system's packages, on loopback, in a temporary folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, create_engine, text
from sqlalchemy.exc import OperationalError

from steelyard.store import Store

_SECONDS = 60


def _needed(program: str, package: str, driver: str) -> str:
    """The program; the test is skipped where it or its driver is not installed."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(program, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", *map(str, debian)]))
    if found is None:
        pytest.skip(f"{program} is not installed: apt install {package}")
    if importlib.util.find_spec(driver) is None:
        pytest.skip(f"{driver} is not installed: pip install 'steelyard[servers]'")
    return str(Path(found).resolve())


def _port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@contextmanager
def _served(command: list[str], url: URL, ended_by: signal.Signals, user: str | None = None) -> Iterator[URL]:
    """A server, once it answers."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, user=user)
        engine = create_engine(url)
        end = time.monotonic() + _SECONDS
        try:
            while not _answers(engine):
                if process.poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    raise AssertionError(f"{command[0]} does not answer: {log.read().decode()}")
                time.sleep(0.1)
            yield url
        finally:
            engine.dispose()
            process.send_signal(ended_by)  # at once: nothing of it is needed any more
            process.wait(_SECONDS)


def _answers(engine: Engine) -> bool:
    try:
        engine.connect().close()
    except OperationalError:
        return False
    return True


@contextmanager
def postgresql() -> Iterator[URL]:
    """A PostgreSQL server; it refuses to be run by root."""
    server = _needed("postgres", "postgresql", "psycopg")
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        if user:
            shutil.chown(folder, user)
        initdb = str(Path(server).with_name("initdb"))
        made = [initdb, "-D", f"{folder}/data", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(made, check=True, capture_output=True, user=user, cwd=folder)
        port = _port()
        options = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
        command = [server, "-D", f"{folder}/data", "-p", str(port), *(w for o in options for w in ("-c", o))]
        url = URL.create("postgresql+psycopg", "tester", host="127.0.0.1", port=port, database="postgres")
        with _served(command, url, signal.SIGQUIT, user) as at:
            yield at


@contextmanager
def mariadb() -> Iterator[URL]:
    """A MariaDB server without users' rights, and so without tables of its own, which take long to be made."""
    server = _needed("mariadbd", "mariadb-server-core", "pymysql")
    user = ["--user=root"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        port = _port()
        where = ["--no-defaults", f"--datadir={folder}", "--skip-grant-tables", *user]
        unsafe = ["--innodb-flush-method=nosync", "--innodb-doublewrite=0", "--sync-frm=0", "--innodb-log-file-size=8M"]
        sockets = [f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder}/socket", "--skip-name-resolve"]
        command = [server, *where, *sockets, f"--pid-file={folder}/pid", *unsafe]
        url = URL.create("mariadb+pymysql", "root", host="127.0.0.1", port=port)
        with _served(command, url, signal.SIGKILL) as at:
            yield at


SERVERS: dict[str, Callable[[], AbstractContextManager[URL]]] = {"postgresql": postgresql, "mariadb": mariadb}


def emptied(server: URL) -> URL:
    """The database on a server that tests use, emptied of the last test's tables."""
    postgres = server.get_backend_name() == "postgresql"
    again = ("SCHEMA", "public") if postgres else ("DATABASE", "test")
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"DROP {' IF EXISTS '.join(again)} {'CASCADE' if postgres else ''}"))
        connection.execute(text(f"CREATE {' '.join(again)}"))
    engine.dispose()
    return server if postgres else server.set(database="test")


@pytest.fixture(name="store")
def every_store(database: str) -> Iterator[Store]:
    """An empty store in a database of each kind, for files that import it."""
    with Store.open(database) as opened:
        yield opened
