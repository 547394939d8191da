"""The units of the service's guide: what they start works, against a MariaDB, behind what a reverse proxy sends."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import URL

from steelyard.model import paths
from steelyard.store import Store
from steelyard.store.operators import Operators
from tests.conftest import the_target
from tests.store.conftest import servers
from tests.store.servers import _port, emptied
from tests.web.handing_in import form, hand_in, package, request

__all__ = ["servers"]
SERVE, WORK = re.findall(r"```ini\n(.*?)```", (paths.ROOT / "docs/guides/service.md").read_text(), re.DOTALL)


def started(unit: str, database: str, folder: Path, *more: str) -> subprocess.Popen[str]:
    """What a unit starts: its command and environment, but this database, this program and this folder."""
    keys = configparser.ConfigParser(strict=False, interpolation=None)
    keys.optionxform = str  # type: ignore[assignment, method-assign]
    keys.read_string(unit)
    assert set(keys) == {"DEFAULT", "Unit", "Service", "Install"}
    said = dict(line.split("=", 2)[1:] for line in unit.splitlines() if line.startswith("Environment="))
    assert said["STEELYARD_DB"].startswith("mariadb+pymysql://")
    assert said["STEELYARD_HOME"].startswith(keys["Service"]["WorkingDirectory"])
    program, *words = shlex.split(keys["Service"]["ExecStart"])
    assert program == "/opt/steelyard/.venv/bin/steelyard"
    environment = (
        os.environ | dict.fromkeys(said, "") | {"STEELYARD_DB": database, "STEELYARD_HOME": str(folder / "home")}
    )
    command = [sys.executable, "-m", "steelyard", *words, *more]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder)


def test_the_units_make_a_service(servers: Callable[[str], URL], tmp_path: Path) -> None:
    the_target("uno")
    database = emptied(servers("mariadb")).render_as_string(hide_password=False)
    port = _port()
    with started(SERVE, database, tmp_path, "--port", str(port)) as server:
        assert server.stderr is not None
        url = f"http://127.0.0.1:{port}"
        assert url in server.stderr.readline()
        assert "/operate/begin/" in server.stderr.readline()
        try:
            link = hand_in(url, package()).headers["location"]
            with started(WORK, database, tmp_path, "-t", "uno", "--until-empty") as worker:
                assert worker.stderr is not None
                assert worker.wait(300) == 0, worker.stderr.read()
            assert "1 run: 1 done" in request(url, link).text
            with Store.open(database) as store:
                token = Operators(store).link()
            body, kind = form(name="ann", password="correct horse", again="correct horse")
            got = request(url, f"/operate/begin/{token}", body, content_type=kind, x_forwarded_proto="https",
                          x_forwarded_for="203.0.113.7")  # fmt: skip
            assert "Secure" in got.headers["set-cookie"]
            with Store.open(database) as store:
                assert Operators(store).deeds()[0].address == "203.0.113.7"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


@pytest.mark.parametrize("unit", [SERVE, WORK], ids=["serve", "work"])
def test_a_unit_says_who_runs_it_and_how_much_it_may_take(unit: str) -> None:
    for key in ("User=steelyard", "MemoryMax=", "Restart=", "After=network.target mariadb.service"):
        assert key in unit
