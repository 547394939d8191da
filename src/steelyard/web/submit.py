"""Takes what is handed in, by form or by program, and what owners decide. Runs in a makers' process."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NoReturn

import msgspec

from ..model.errors import UserError
from ..store import Store, StoreError
from ..store.submissions import Desk, Given, QuotaError
from . import address, api, ask, layout, lint, multipart, wire
from .page import NotThereError
from .pages.submissions import be_sure, hand_in
from .reply import HTML, MOST_ZIP, Late, Reply, Sent, Taking
from .respond import NOT_DONE, explained, wrong_answer, wrong_page

_ASKED = ("name", "licence")
_LICENCE = 500
#: 128 bits as base64 writes them, and how many different characters of it chance leaves at least
_ONCE, _DIFFERENT = re.compile(r"[\w-]{21}[AQgw]", re.ASCII), 8
_ZIP = ("application/zip", "application/octet-stream", "application/x-zip-compressed")


def answer(store: Store, sent: Sent, taking: Taking) -> Reply:
    """What becomes of what is handed in."""
    names = address.segments(sent.path)
    program = api.is_asked(names)
    try:
        if taking.closed and (program or len(names) == 1):
            return (wrong_answer if program else wrong_page)(503, "Nothing is taken", taking.closed)
        if program:
            return _of_program(store, sent, taking)
        return _of_form(store, sent, taking) if len(names) == 1 else _decided(store, sent, names, taking)
    except QuotaError as e:
        return (wrong_answer if program else wrong_page)(429, "Too much at once", str(e))
    except Exception as e:
        return explained(e, "a submission", wrong_answer if program else wrong_page, NOT_DONE)


def _of_program(store: Store, sent: Sent, taking: Taking) -> Reply:
    asked = ask.query(sent.query, _ASKED) | {"previous": sent.previous}
    if sent.kind.split(";")[0].strip().lower() not in _ZIP:
        raise UserError("send the zip itself as the body, as content-type application/zip")
    token, found, known = _taken(store, sent, asked.get("name", ""), sent.content, asked, taking)
    taken = wire.Taken(address.path("submissions", token), known, found)
    return Reply(201, api.JSON, msgspec.json.encode(taken))


def _of_form(store: Store, sent: Sent, taking: Taking) -> Reply:
    fields = multipart.fields(sent.kind, sent.content)
    name, content = fields.pop("package", ("", b""))
    asked = {n: value.decode("utf-8", "replace") for n, (_, value) in fields.items()}
    try:
        if "rights" not in asked:
            raise UserError("say that you may hand this in")
        once = _once(asked.get("once", ""))
        if once and (there := Desk(store).sent_before(once, hashlib.sha256(content).hexdigest())):
            before = Desk(store).find(there)
            if before is not None and before.licence and before.licence != _licence(asked):
                raise UserError(f"this form was sent with the licence {before.licence!r}; load it again for another")
            return Reply(303, HTML, b"", to=address.path("submissions", there), vain=True)
        token, _, _ = _taken(store, sent, name, content, asked, taking)
    except UserError as e:
        if isinstance(e, (QuotaError, StoreError)):  # which no stranger is told of
            raise
        page = hand_in(str(e), asked.get("licence", "")[:_LICENCE])
        return Reply(page.status, HTML, layout.html(page, None).encode())
    return Reply(303, HTML, b"", to=address.path("submissions", token))


def _taken(
    store: Store, sent: Sent, name: str, content: bytes, asked: dict[str, str], taking: Taking
) -> tuple[str, wire.Found, bool]:
    """The token of a submission that was taken, what is in it, and whether it was handed in before. Raises
    :class:`UserError`."""
    licence = _licence(asked)
    if not licence or len(licence) > _LICENCE:
        raise UserError(f"say the licence of the sources, in at most {_LICENCE} characters")
    if not content:
        raise UserError("no file was sent; choose a zip")
    file = lint.safe(name)
    if len(content) > MOST_ZIP:
        raise UserError(f"{file} has {len(content)} bytes, {MOST_ZIP} are taken; hand in several zips")
    try:
        found = lint.lint(content, file)
    except Late:
        raise UserError(f"{file} takes too long to look through; hand in fewer or smaller files at once") from None
    tasks = lint.tasks(found, hashlib.sha256(content).hexdigest(), file, taking.targets)
    desk = Desk(store)
    given = Given(
        file, content, msgspec.json.encode(found).decode(), licence, sent.address,
        address.token(asked.get("previous", "")), _once(asked.get("once", "")),
    )  # fmt: skip
    known = desk.known(given.digest)
    return desk.hand_in(given, tasks, taking.quota), found, known


def _licence(asked: dict[str, str]) -> str:
    return " ".join(asked.get("licence", "").split())


def _once(token: str) -> str:
    """The token of a form, as :func:`..store.submissions.new_token` makes it; of a program there is none."""
    if token and (not _ONCE.fullmatch(token) or len(set(token)) < _DIFFERENT):
        raise UserError("this form is not one of this server's; load it again")
    return token


def _decided(store: Store, sent: Sent, names: tuple[str, ...], taking: Taking) -> Reply:
    desk = Desk(store)
    decisions: dict[str, Callable[[str], object]] = {
        "publish": desk.offer if taking.review else desk.publish, "withdraw": desk.withdraw,
    }  # fmt: skip
    if len(names) != 3 or names[2] not in decisions:
        _nowhere()
    if desk.find(names[1]) is None:
        _nowhere()
    if names[2] == "withdraw":
        be_sure(multipart.texts(sent.kind, sent.body) if sent.body else {})
    decisions[names[2]](names[1])
    return Reply(303, HTML, b"", to=address.path("submissions", names[1]))


def _nowhere() -> NoReturn:
    raise NotThereError("no submission has this link")
