"""Handing in as browsers and programs do, for the tests."""

from __future__ import annotations

import http.client
import io
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from steelyard.model.paths import CIPHERS
from steelyard.sources.pack import pack

FOLDER = CIPHERS / "crypto_aead" / "tinyjambu" / "tinyjambu128v2" / "small"
MARKUP = "<script>alert(1)</script>"


class Got(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def request(server: str, path: str, body: bytes | None = None, **headers: str) -> Got:
    """One request, without following where it leads."""
    at = urlsplit(server)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=60)
    sent = {n.replace("_", "-"): v for n, v in headers.items()}
    connection.request("GET" if body is None else "POST", path, body, sent)
    answered = connection.getresponse()
    got = Got(answered.status, {n.lower(): v for n, v in answered.getheaders()}, answered.read())
    connection.close()
    return got


def form(**fields: Any) -> tuple[bytes, str]:
    """A form as browsers send it: texts, and files as pairs of name and bytes."""
    parts = []
    for name, value in fields.items():
        file, content = value if isinstance(value, tuple) else ("", value.encode())
        more = f'; filename="{file}"\r\ncontent-type: application/zip' if file else ""
        parts.append(f'--edge\r\ncontent-disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + content)
    return b"\r\n".join([*parts, b"--edge--\r\n"]), "multipart/form-data; boundary=edge"


def hand_in(server: str, content: bytes, name: str = "toy.zip", **more: str) -> Got:
    body, kind = form(package=(name, content), **{"licence": "MIT", "rights": "yes", **more})
    return request(server, "/submissions", body, content_type=kind)


def zipped(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_h", ".h").replace("_c", ".c"), content)
    return out.getvalue()


def package(more: bytes = b"") -> bytes:
    """A bundled implementation as somebody would hand it in; ``more`` makes its sources others."""
    _, content = pack(FOLDER)
    if not more:
        return content
    old, out = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in old.namelist():
            archive.writestr(name, old.read(name) + (more if name.endswith(".c") else b""))
    return out.getvalue()


class Service(NamedTuple):
    url: str
    database: Path


def launched(*words: str) -> subprocess.Popen[str]:
    """``steelyard WORDS``, of which its standard error is kept."""
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def weighed(service: Service) -> None:
    """A worker takes all that waits."""
    with launched("work", "--db", str(service.database), "-t", "uno", "--until-empty") as process:
        assert process.stderr is not None
        assert process.wait(300) == 0, process.stderr.read()
