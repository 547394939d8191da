"""Pages for operators: the queue, its workers and boards, what is handed in, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from ...model.errors import counted
from ...publish.sheet import Cell, Sheet, plain
from ...store.operating import KINDS, Line, Offer, Worker, Yard
from ...store.operators import LONGEST, MOST, SHORTEST, Deed, Session
from ...store.queue import DONE, FAILED, RUNNING, WAITING
from ...store.submissions import OFFERED, PRIVATE
from ..page import Block, Field, Form, Heading, Links, NotThereError, Page, Pre, Table, Text
from .submissions import SURE

#: seconds after which the queue is looked at again
AGAIN = 30
#: the field by which a form is known to be of its session
SEAL = "form"
_TRAIL = [("operating", "/operate")]
_NAME = Field("name", "name", needed=True)
_WHY = Field("why", "why", "for who waits; may be empty")


def begin(token: str, why: str = "") -> Page:
    """Where a link leads that works once."""
    if not token:
        text = "This link is used or too old. On the server's machine, steelyard queue link prints another."
        return Page("Operating", [Text(text)], status=410)
    first = Field("password", "password", "new-password", kind="password")
    again = Field("again", "the same again", "new-password", kind="password")
    form = Form(f"/operate/begin/{token}", (_NAME, first, again), "Begin", changes=True)
    lead = f"Choose a name and a password of {SHORTEST} to {LONGEST} characters. This link works once."
    return Page("Operating", [*_refused(why), form], lead, status=400 if why else 200)


def sign_in(why: str = "", *, any_: bool) -> Page:
    """Who signs in."""
    if not any_:
        text = "Nobody operates this server yet. It printed a link when it was started; steelyard queue link makes one."
        return Page("Operating", [Text(text)], status=401)
    password = Field("password", "password", "current-password", kind="password")
    form = Form("/operate/sign-in", (_NAME, password), "Sign in", changes=True)
    return Page("Operating", [*_refused(why), form], "Reading and handing in need no account.", status=401)


def _refused(why: str) -> Iterable[Block]:
    return (Heading("Not let in", "not-let-in"), Text(f"{why}.")) if why else ()


def front(yard: Yard, session: Session) -> Page:
    """What waits and why, what runs and where, what failed, what is paused."""
    counts, workers, holds = yard.counts(), yard.workers(), yard.holds()
    ahead, failed = yard.lines((RUNNING, WAITING)), yard.lines((FAILED,))
    said = ", ".join(f"{counts[s]} {s}" for s in (RUNNING, WAITING, FAILED, DONE) if counts.get(s))
    offered = yard.offered().get(OFFERED, 0)
    waiting = f" {counted(offered, 'submission')} to be released." if offered else ""
    blocks: list[Block] = [
        Text(f"Jobs: {said or 'none'}.{waiting}"),
        Links([("what is handed in", "/operate/submissions"), ("what was done", "/operate/audit")], "more"),
        Table(_of_lines("Queue", "queue", ahead), wide=("why",)),
        *_first(ahead, counts.get(RUNNING, 0) + counts.get(WAITING, 0)),
    ]
    if failed:
        blocks.append(Table(_of_lines("Failed", "failed", failed), wide=("detail",)))
        blocks += [*_first(failed, counts.get(FAILED, 0)),
                   _form(session, "repeat-failed", "all", "Repeat all that failed")]  # fmt: skip
    blocks.append(Table(_of_workers(workers), wide=("targets",)))
    boards = [
        (f"{w.machine}/{b.name}", b.target, b.aside or "in order") for w in _by_machine(workers) for b in w.boards
    ]
    if boards:
        blocks.append(Table(plain("Boards", "boards", ("board", "target", "state"), boards), wide=("state",)))
    if holds:
        paused = [(h.subject, h.operator, when(h.since), h.why) for h in holds]
        blocks.append(Table(plain("Paused", "paused", ("paused", "by", "since", "why"), paused), wide=("why",)))
        blocks += [_form(session, "resume", h.subject, f"Resume {h.subject}") for h in holds]
    renewed = len(blocks)
    blocks.append(Heading("Pause", "pause"))
    kinds = {k: k for k in KINDS}
    blocks.append(
        _form(session, "pause", None, "Pause", Field("kind", "kind", choices=kinds, value=KINDS[0]),
              Field("what", "name", "uno, a machine, or machine/board", needed=True), _WHY)
    )  # fmt: skip
    blocks.append(Heading(f"Signed in as {session.operator}", "session"))
    blocks.append(Form("/operate/sign-out", (_seal(session),), "Sign out", changes=True))
    return Page("Operating", blocks, again=AGAIN, fixed=len(blocks) - renewed)


def job(yard: Yard, session: Session, number: int) -> Page:
    """A job, why it waits, and each try with its log."""
    line, attempts = yard.job(number)
    blocks: list[Block] = [Table(_of_lines("Job", "job", [line]), wide=("why", "detail"))]
    if line.state in (FAILED, DONE):
        blocks.append(_form(session, "repeat", str(number), "Repeat it"))
    tries = [(a.worker.split(" ")[0], a.outcome, when(a.begun), _seconds(a.begun, a.ended), a.detail) for a in attempts]
    heads = {"machine": None, "outcome": None, "begun": None, "seconds": 1, "detail": None}
    blocks.append(Table(plain("Attempts", "attempts", heads, tries), wide=("detail",)))
    for k, a in enumerate(attempts):
        if a.log:
            blocks += [Heading(f"Log of attempt {len(attempts) - k}", f"log-{len(attempts) - k}"), Pre(a.log)]
    return Page(f"Job {number}", blocks, trail=_TRAIL, again=AGAIN if line.state in (RUNNING, WAITING) else 0)


def submissions(yard: Yard) -> Page:
    """What was handed in; what waits for an operator comes first."""
    offers = yard.offers()
    shown = [Table(_of_offers(offers), wide=("licence",)), *_first(offers, sum(yard.offered().values()))]
    return Page("Handed in", shown, trail=_TRAIL)


def submission(yard: Yard, session: Session, number: int) -> Page:
    """One of them, and what may be done about it. Raises :class:`NotThereError` for no such one."""
    found = [o for o in yard.offers(most=1 << 30) if o.number == number]
    if not found:
        raise NotThereError(f"there is no submission {number}, or it was withdrawn")
    deeds = [("release", "Publish its results")] if found[0].state in (PRIVATE, OFFERED) else []
    deeds += [("decline", "Give it back to its owner")] if found[0].state == OFFERED else []
    deeds += [("boards", f"Weigh it on boards: {', '.join(boards)}")] if (boards := yard.boards()) else []
    forms = [_form(session, deed, str(number), title) for deed, title in deeds]
    forms.append(_form(session, "delete", str(number), "Delete it and its results", SURE))
    trail = [*_TRAIL, ("handed in", "/operate/submissions")]
    return Page(f"Submission {number}", [Table(_of_offers(found), wide=("licence",)), *forms], trail=trail)


def machine(yard: Yard, session: Session, name: str) -> Page:
    """A machine with its workers."""
    workers = [w for w in yard.workers() if w.machine == name]
    return Page(name, [Table(_of_workers(workers)), _switch(yard, session, f"machine {name}")], trail=_TRAIL)


def board(yard: Yard, session: Session, name: str) -> Page:
    """A board at a worker's machine, as ``machine/board``."""
    found = [b for w in _by_machine(yard.workers()) for b in w.boards if f"{w.machine}/{b.name}" == name]
    text = f"A {found[0].target}; {found[0].aside or 'in order'}." if found else "No worker has it now."
    said = "Its machine obeys within seconds: steelyard work there sets it aside as boards release does."
    return Page(name, [Text(text), Text(said), _switch(yard, session, f"board {name}")], trail=_TRAIL)


def audit(deeds: Sequence[Deed], refused: Sequence[Deed]) -> Page:
    """What was done, and who tried to sign in: anybody may, so these have a table of their own."""
    lines = [(when(d.at), d.operator, d.address, d.action, d.subject, d.detail) for d in deeds]
    heads = ("at", "operator", "address", "action", "subject", "detail")
    blocks: list[Block] = [Table(plain("Audit log", "audit", heads, lines), wide=("detail",)), *_newest(deeds)]
    if refused:
        tries = [(when(d.at), d.address, d.subject) for d in refused]
        blocks += [Table(plain("Refused", "refused", ("at", "address", "name"), tries)), *_newest(refused)]
    return Page("What was done", blocks, trail=_TRAIL)


def _first(shown: Sequence[object], there: int) -> Iterable[Block]:
    """Where a list ends before its end."""
    return (Text(f"These are the first {len(shown)} of {there}."),) if len(shown) < there else ()


def _newest(shown: Sequence[object]) -> Iterable[Block]:
    return (Text(f"These are the newest {MOST}; what is older stays in the database."),) if len(shown) >= MOST else ()


def _switch(yard: Yard, session: Session, subject: str) -> Form:
    """Pauses it, or resumes it."""
    if any(h.subject == subject for h in yard.holds()):
        return _form(session, "resume", subject, "Resume it")
    return _form(session, "pause", subject, "Pause it", _WHY)


def _seal(session: Session) -> Field:
    return Field(SEAL, "", value=session.form, kind="hidden")


def _form(session: Session, deed: str, what: str | None, button: str, *fields: Field) -> Form:
    hidden = {"deed": deed} | ({} if what is None else {"what": what})
    said = (Field(n, "", value=v, kind="hidden") for n, v in hidden.items())
    return Form("/operate/do", (_seal(session), *said, *fields), button, changes=True)


def when(at: int | None) -> str:
    """Microseconds since 1970 as people write them; nothing for what is of no year."""
    with suppress(ValueError, OverflowError):
        return "" if at is None else f"{datetime.fromtimestamp(at / 1e6, UTC):%Y-%m-%d %H:%M:%S}"
    return ""


def _seconds(begun: int, ended: int | None) -> float | None:
    return None if ended is None else (ended - begun) / 1e6


def _of_lines(title: str, label: str, lines: Sequence[Line]) -> Sheet:
    heads = {"job": None, "implementation": None, "target": None, "state": None, "attempts": 0, "why": None,
             "detail": None}  # fmt: skip
    rows = [(str(j.number), f"{j.task.variant}/{j.task.name}", j.task.place, j.state, j.attempts, j.why, j.detail)
            for j in lines]  # fmt: skip
    return plain(title, label, heads, rows)


def _of_workers(workers: Sequence[Worker]) -> Sheet:
    rows: list[Sequence[Cell]] = [
        (w.machine, w.name.removeprefix(f"{w.machine} ").split(" ")[0], "there" if w.alive else "gone",
         "" if w.job is None else str(w.job), when(w.seen), w.version, " ".join(w.targets))
        for w in workers
    ]  # fmt: skip
    return plain("Workers", "workers", ("machine", "process", "state", "job", "seen", "version", "targets"), rows)


def _of_offers(offers: Sequence[Offer]) -> Sheet:
    rows = [(str(o.number), o.name, o.state, when(o.created), o.address, o.licence) for o in offers]
    return plain("Handed in", "offers", ("submission", "file", "state", "created", "address", "licence"), rows)


def _by_machine(workers: Sequence[Worker]) -> list[Worker]:
    """One worker of each machine, which says what boards it has."""
    return list({w.machine: w for w in reversed(workers)}.values())
