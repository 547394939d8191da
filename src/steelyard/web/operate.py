"""The scheduler's pages: who signs in, what operators see, and what they do. Runs in a makers' process."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from ..model.errors import UserError, unknown
from ..store import Store
from ..store.operating import Yard
from ..store.operators import Operators, RefusedError, Session
from . import address, layout, multipart
from .page import Form, NotThereError, Page
from .pages import operate as pages
from .pages.submissions import SURE, be_sure
from .reply import HTML, Reply, Sent
from .respond import NOT_DONE, explained, wrong_page

#: what operators do, by the word that their forms send: to what, and why; and the page that shows what came of it
DEEDS: Mapping[str, tuple[Callable[[Yard, str, str], object], str]] = {
    "repeat": (lambda yard, what, why: yard.repeat(_number(what)), "jobs/{}"),
    "repeat-failed": (lambda yard, what, why: yard.repeat_failed(), ""),
    "pause": (lambda yard, what, why: yard.pause(what, why), ""),
    "resume": (lambda yard, what, why: yard.resume(what), ""),
    "release": (lambda yard, what, why: yard.release(_number(what)), "submissions/{}"),
    "boards": (lambda yard, what, why: yard.to_boards(_number(what)), "submissions/{}"),
    "decline": (lambda yard, what, why: yard.decline(_number(what)), "submissions/{}"),
    "delete": (lambda yard, what, why: yard.delete(_number(what)), "submissions"),
}
_ASKED = frozenset((pages.SEAL, "deed", "what", "kind", "why", SURE.name))
_WHY = 300


def answer(store: Store, sent: Sent) -> Reply:
    """What an operator gets, or somebody who is to sign in."""
    names = address.segments(sent.path)[1:]
    operators = Operators(store)
    try:
        session = operators.session(sent.session)
        if sent.posted:
            return _posted(store, operators, session, names, sent)
        if names[:1] == ("begin",):
            return _shown(pages.begin(names[1] if len(names) == 2 and operators.is_link(names[1]) else ""), names)
        if session is None:
            return _shown(pages.sign_in(any_=operators.any()), names)
        return _seen(Yard(store), operators, session, names)
    except RefusedError as e:
        again = pages.begin(names[1], str(e)) if names[:1] == ("begin",) else pages.sign_in(str(e), any_=True)
        return _shown(again, names)
    except Exception as e:
        return explained(e, "an operator's page", wrong_page, *[NOT_DONE] * sent.posted)


def _posted(store: Store, operators: Operators, session: Session | None, names: tuple[str, ...], sent: Sent) -> Reply:
    asked = multipart.texts(sent.kind, sent.body)
    name, password = asked.get("name", ""), asked.get("password", "")
    if names == ("sign-in",):
        return _led("", operators.sign_in(name, password, sent.address))
    if len(names) == 2 and names[0] == "begin":
        if password != asked.get("again", ""):
            raise RefusedError("the two passwords are not the same")
        return _led("", operators.begin(names[1], name, password, sent.address))
    if session is None:
        return _led("")
    if not hmac.compare_digest(asked.get(pages.SEAL, "").encode(), session.form.encode()):
        return wrong_page(403, NOT_DONE, "This form is of another session. Load its page again.")
    if names == ("sign-out",):
        operators.sign_out(sent.session)
        return _led("", "")
    if names != ("do",):
        raise NotThereError("nothing is done at this address")
    return _did(Yard(store, session.operator, sent.address), asked)


def _did(yard: Yard, asked: Mapping[str, str]) -> Reply:
    """Does what a form asks for."""
    if other := asked.keys() - _ASKED:
        raise unknown("field", min(other), _ASKED)
    deed, what = asked.get("deed", ""), asked.get("what", "").strip()
    if deed not in DEEDS:
        raise unknown("deed", deed, DEEDS)
    if deed == "delete":
        be_sure(asked)
    do, to = DEEDS[deed]
    do(yard, f"{asked['kind']} {what}" if "kind" in asked else what, asked.get("why", "").strip()[:_WHY])
    return replace(_led(to.format(what)), changed=True)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise UserError("this form says no number; load its page again")
    return int(text)


def _seen(yard: Yard, operators: Operators, session: Session, names: Sequence[str]) -> Reply:
    *above, last = names or ("",)
    ending = max((e for e in layout.TABLES if last.endswith(f".{e}")), key=len, default="")
    if ending:
        found = layout.file(_page(yard, operators, session, above), last[: -len(ending) - 1], ending)
        if found is not None:
            return Reply(200, layout.TABLES[ending], found())
    return _shown(_page(yard, operators, session, names), names)


def _page(yard: Yard, operators: Operators, session: Session, names: Sequence[str]) -> Page:
    match tuple(names):
        case ():
            return pages.front(yard, session)
        case ("audit",):
            return pages.audit(operators.deeds(refused=False), operators.deeds(refused=True))
        case ("submissions",):
            return pages.submissions(yard)
        case ("jobs", number):
            return pages.job(yard, session, _number(number))
        case ("submissions", number):
            return pages.submission(yard, session, _number(number))
        case ("machines", name):
            return pages.machine(yard, session, name)
        case ("boards", name):
            return pages.board(yard, session, name)
    raise NotThereError("nothing is at this address")


def _shown(page: Page, names: Sequence[str]) -> Reply:
    here = ("operate", *names)
    page = layout.distinct(page)
    assert all(b.action.startswith("/operate") for b in page.blocks if isinstance(b, Form))
    made = layout.answer(page, None, here, endings=tuple(layout.TABLES))
    return replace(made, digest=hashlib.sha256(made.body).hexdigest()[:24])


def _led(to: str, session: str | None = None) -> Reply:
    return Reply(303, HTML, b"", to="/operate" + (f"/{to}" if to else ""), session=session)
