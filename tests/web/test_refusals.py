"""What strangers send: refused in words, kept nowhere, and text wherever it is shown."""

from __future__ import annotations

import csv
import io
import shutil
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from steelyard.sources import discover
from steelyard.sources.pack import pack
from steelyard.store import Store
from steelyard.store.quota import Quota
from steelyard.web import lint, multipart, wire
from steelyard.web.reply import Sent, Taking
from steelyard.web.submit import answer
from tests.cli.conftest import Cli
from tests.web.conftest import Parsed, harmless
from tests.web.handing_in import (
    FOLDER,
    MARKUP,
    Service,
    form,
    hand_in,
    package,
    request,
    zipped,
)

API = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_NSECBYTES 0\n#define CRYPTO_NPUBBYTES 16\n#define CRYPTO_ABYTES 16\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no file was sent"),
        (b"no zip at all", "bad-zip"),
        (zipped(nothing="x"), "no-sources"),
        (zipped(crypto_aead__toy__ref__api_h=API, __________etc__passwd="x"), "path-escape"),
        (zipped(a__api_h=API, a__big_c=b"\0" * (9 << 20)), "zip-bomb"),
        (zipped(**{f"f{k}": "" for k in range(2001)}), "zip-bomb"),
        pytest.param(zipped(a__api_h=API) + bytes(8 << 20), "bytes, 8388608 are taken", id="large"),
        (zipped(**{f"crypto_aead__v{k}__ref__{n}": API for k in range(41) for n in ("api_h", "encrypt_c")}), "hand in"),
        (
            zipped(**{f"{k}__crypto_aead__v__ref__{n}": API + k for k in "ab" for n in ("api_h", "encrypt_c")}),
            "2 packages called crypto_aead/v/ref with other sources: hand each in",
        ),
    ],
)  # fmt: skip
def test_what_is_no_package_is_refused_and_not_kept(tmp_path: Path, content: bytes, said: str) -> None:
    """By form and by program; nothing is left, in the database or beside it."""
    with Store.open(tmp_path / "r.db") as store:
        taking = Taking(("uno",), Quota())
        body, kind = form(package=("toy.zip", content), licence=MARKUP, rights="yes")
        page = answer(store, Sent("/submissions", "", body, kind, "a"), taking)
        assert page.status == 400
        harmless(Parsed(page.body.decode()))
        assert said in page.body.decode()
        told = answer(store, Sent("/api/v1/submissions", "licence=MIT", content, "application/zip", "a"), taking)
        assert told.status == 400
        assert said in msgspec.json.decode(told.body, type=wire.Refusal).error
        with store._engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT COUNT(*) FROM package").scalar() == 0


def test_a_file_that_is_no_zip_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """Which a form can follow: it takes no folder."""
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=("not.zip", b"no zip at all"), licence="MIT", rights="yes")
        page = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota())).body.decode()
    assert "no implementation in not.zip: bad-zip: no zip directory; make a new zip of the package&#39;s folder" in page


@pytest.mark.parametrize("previous", ["http://[x", "http://ex\u2100mple/x", "http://h/x/", "?" * 30])
def test_a_link_that_is_none_is_said(tmp_path: Path, previous: str) -> None:
    with Store.open(tmp_path / "r.db") as store:
        sent = Sent("/api/v1/submissions", "licence=MIT", package(), "application/zip", "a", previous=previous)
        told = answer(store, sent, Taking(("uno",), Quota()))
        assert (told.status, b"is not the private link" in told.body) == (400, True)


def test_names_in_a_package_are_names(tmp_path: Path) -> None:
    content = zipped(**{f"crypto_aead__{MARKUP}__{MARKUP}__{n}": API for n in ("api_h", "encrypt_c", "LICENSE")})
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=(f"../../{MARKUP}.zip", content), licence=MARKUP, rights="yes")
        taken = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota()))
        assert taken.status == 303
        from steelyard.web.respond import respond

        page = respond(store, taken.to)
        assert page.status == 200
        harmless(Parsed(page.body.decode()))
        assert page.shown


def test_names_in_a_package_are_text_in_files_too(tmp_path: Path) -> None:
    """No formula of a spreadsheet, and nothing that LaTeX obeys."""
    names = ("=SUM(1)", "[9cm]", "@x", "a;=1+1", "$x$ %")
    content = zipped(**{f"crypto_aead__{v}__ref__{n}": API for v in names for n in ("api_h", "encrypt_c")})
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=("toy.zip", content), licence="MIT", rights="yes")
        taken = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota()))
        from steelyard.web.respond import respond

        found = {e: respond(store, f"{taken.to}/found.{e}") for e in ("csv", "tex", "xlsx", "md")}
    assert {r.status for r in found.values()} == {200}
    labels = {row[0] for row in csv.reader(io.StringIO(found["csv"].body.decode()))} - {"implementation"}
    assert labels == {"'=SUM(1)/ref", "[9cm]/ref", "'@x/ref", "a;'=1+1/ref", "$x$ %/ref"}
    text = found["tex"].body.decode()
    assert "{[}9cm]/ref" in text
    assert "\\$x\\$ \\%/ref" in text


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a.zip", "a.zip"), ("../../x y.zip", "x-y.zip"), ("C:\\a\\b.ZIP", "b.ZIP.zip"), ("", "package.zip"),
     (".zip", "zip.zip"), ("\u202e" * 300, "package.zip"), ("n" * 300, "n" * 80 + ".zip")],
)  # fmt: skip
def test_a_files_name_is_no_more_than_that(name: str, kept: str) -> None:
    assert lint.safe(name) == kept


def test_forms_that_are_none(service: Service) -> None:
    content = package()
    body, kind = form(package=("toy.zip", content), licence="MIT")
    assert "say that you may" in request(service.url, "/submissions", body, content_type=kind).text
    body, kind = form(package=("toy.zip", content), rights="yes")
    assert "say the licence" in request(service.url, "/submissions", body, content_type=kind).text
    for wrong in (body[:-40], body.replace(b"edge", b"egde"), b"", b"--edge--", b"--edge\r\n\r\n" * 50):
        assert request(service.url, "/submissions", wrong, content_type=kind).status == 400
    assert request(service.url, "/submissions", body, content_type="text/plain").status == 400
    foreign = request(service.url, "/submissions", body, content_type=kind, sec_fetch_site="cross-site")
    assert foreign.status == 403
    assert request(service.url, "/submissions", b"x" * (9 << 20), content_type=kind).status == 413
    for path in ("/submissions/" + "A" * 22, "/submissions/x/publish"):
        assert request(service.url, path).status == 404
    assert request(service.url, "/submissions/" + "A" * 22 + "/publish", b"").status == 404
    assert request(service.url, "/submissions/x/destroy", b"").status == 404
    assert "/submissions" in request(service.url, "/robots.txt").text
    body, kind = form(package=("t.zip", b"\r\n--edg\r\n" + content), licence="\r\n--edg\r\n")
    tricky = multipart.fields(kind, body)
    assert (tricky["licence"][1], tricky["package"][1]) == (b"\r\n--edg\r\n", b"\r\n--edg\r\n" + content)


def test_slow_ones_do_not_keep_others_out(service: Service) -> None:
    """One address has a few uploads at once, and no more; pages are there meanwhile."""
    at = urlsplit(service.url)
    head = b"POST /submissions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\ncontent-type: multipart/form-data\r\n\r\n"
    slow = [socket.create_connection((at.hostname or "", at.port or 0)) for _ in range(8)]
    for s in slow:
        s.sendall(head)
    deadline = time.monotonic() + 60
    while (got := hand_in(service.url, package())).status != 503 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (got.status, got.headers["retry-after"]) == (503, "5")
    assert request(service.url, "/claims").status == 200
    for s in slow:
        s.close()
    deadline = time.monotonic() + 60
    while (got := hand_in(service.url, package())).status != 303 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert got.status == 303


def test_a_link_that_leads_nowhere_is_refused_for_what_it_is(tmp_path: Path) -> None:
    """Of a folder that is handed in as by ``check``."""
    folder = tmp_path / "here" / "crypto_aead" / "toy1" / "ref"
    shutil.copytree(FOLDER, folder)
    for text, reason in (
        ("gone.h", "dangling-link"),
        ("../../../../../gone.h", "path-escape"),
        ("more.h", "dangling-link"),
    ):
        (folder / "more.h").unlink(missing_ok=True)
        (folder / "more.h").symlink_to(text)
        name, content = pack(folder)
        assert pack(folder) == (name, content)
        (tmp_path / name).write_bytes(content)
        found = discover(tmp_path / name, cache=tmp_path / "c")
        assert (found.implementations, [r.failure.reason for r in found.rejected]) == ((), [reason])


@pytest.mark.parametrize("path", ["", " ", "/dev/zero", "none.zip", "x" * 5000])
def test_what_cannot_be_handed_in_is_said_before_it_is_sent(cli: Cli, path: str) -> None:
    refused = cli(["submit", path, "--server", "http://127.0.0.1:9", "--licence", "MIT"])
    assert refused.code == 2, "nobody was asked"
    assert "steelyard serve" not in refused.err


def test_what_is_no_zip_is_said_before_it_is_sent(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no zip\n")
    result = cli(["submit", str(tmp_path / "README.md"), "--server", "http://127.0.0.1:1", "--licence", "MIT"])
    assert (result.code, "README.md: neither a folder nor a zip" in result.err) == (2, True), result.err
    refused = cli(["submit", str(FOLDER), "--server", "http://127.0.0.1:1", "--licence", "MIT", "-o", "x.parquet"])
    assert (refused.code, "parquet" in refused.err) == (2, True), refused.err


def test_names_of_licence_files_are_shown_as_they_can_be() -> None:
    found = lint.lint(zipped(**{"crypto_aead/x/LICENSE\x1b[2J": "MIT"}), "x.zip")
    assert found.licences == ("crypto_aead/x/LICENSE\\x1b[2J",)
