"""Pages of what is handed in: the form, and a submission behind its private link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ...analyse import compare as comparing
from ...analyse import order
from ...analyse.answer import told_apart
from ...analyse.rows import rows
from ...analyse.summary import summary
from ...model.errors import UserError, counted
from ...model.origin import of_submission
from ...model.record import Record
from ...model.row import Row
from ...publish import comparison, results
from ...publish import run as runs
from ...publish.sheet import Cell, Sheet, plain
from ...sources.limits import HANDED_IN
from ...store.queue import DONE, FAILED, RUNNING, WAITING, Job
from ...store.submissions import OFFERED, PRIVATE, PUBLISHED, WITHDRAWN, Desk, Submission, new_token
from .. import address, lint
from ..page import Block, Field, Form, Heading, Links, NotThereError, Page, Pre, Table, Text
from ..reply import MOST_ZIP
from ..wire import Found
from . import runs as run_pages
from .view import View, bars, noted

#: seconds after which a page with runs ahead is looked at again
AGAIN = 10
_PREVIOUS = "previous"
_WITHDRAWN = "This was withdrawn. The package is deleted."
_DAMAGED = "Its state cannot be read: its row in the database is damaged. Ask whoever runs this server."
_UNREADABLE = "What was found cannot be read: its row in the database is damaged. Hand the zip in again."
_READ_ONLY = "This server only shows it: it is published, withdrawn and replaced where submissions are taken."
_STATES = {
    PRIVATE: "Private: only those who have this link see it. Keep the link; nobody can give it to you again.",
    OFFERED: "Offered: whoever runs this server looks at it before it is published. You may still withdraw it.",
    PUBLISHED: "Published: its results are on all pages.",
}


def form(v: View) -> Page:
    """What is asked of who hands something in."""
    return hand_in()


def hand_in(why: str = "", licence: str = "") -> Page:
    """The form, and why nothing was taken."""
    lead = (
        "Hand in an implementation as a zip, in the layout of NIST or SUPERCOP. It is looked through at once, compiled "
        "and weighed on simulated microcontrollers, and its figures stand behind a private link until you publish or "
        "withdraw them."
    )
    blocks: list[Block] = [_form(licence)]
    if why:
        blocks = [Heading("Not taken", "not-taken"), Text(why), *blocks]
    most = f"{MOST_ZIP >> 20} MiB as a zip, {HANDED_IN.zip_bytes >> 20} MiB unpacked"
    blocks.append(
        Text(f"At most {most}, {lint.IMPLEMENTATIONS} implementations. A file may be dragged onto its field.")
    )
    return Page("Hand in", blocks, lead, status=400 if why else 200)


def _form(licence: str, *more: Field) -> Form:
    """The form, which is one submission however often it is sent."""
    once = Field("once", "", value=new_token(), kind="hidden")
    asked = (_FILE, msgspec.structs.replace(_LICENCE, value=licence), _RIGHTS, once, *more)
    return Form("/submissions", asked, "Hand in", changes=True)


_FILE = Field("package", "package (.zip)", ".zip,application/zip", kind="file", needed=True)
_LICENCE = Field("licence", "licence of the sources", "MIT, CC0-1.0, or a sentence", needed=True)
_RIGHTS = Field("rights", "I may hand this in, and its results may be published when I say so", kind="checkbox",
                needed=True)  # fmt: skip


#: what is ticked before anything is deleted
SURE = Field("sure", "Yes, delete it and its results", kind="checkbox", needed=True)


def be_sure(asked: Mapping[str, str]) -> None:
    """Raises :class:`UserError` where that was not ticked: not only browsers send forms."""
    if not asked.get(SURE.name):
        raise UserError(f'nothing was deleted; tick "{SURE.title}" first, or send the field {SURE.name}')


class Told(NamedTuple):
    """A submission, its jobs, how far its ``runs`` are, their ``figures``, and what ``changes`` since the last version
    there are, in words and as tables. Numbers of runs are those of jobs as long as they are not public; they, and those
    of the last version, lead to these ``addresses``, where there are some."""

    submission: Submission
    jobs: Sequence[Job]
    runs: Sheet
    figures: Sequence[Sheet]
    changes: tuple[str, ...]
    changed: Sequence[Sheet]
    addresses: Mapping[int, str]


def told(v: View, token: str) -> Told:
    """What is said of the submission behind a private link. Raises :class:`NotThereError`."""
    desk = Desk(v.store)
    s = desk.find(token)
    if s is None or s.state == WITHDRAWN:
        raise NotThereError("no submission has this link" if s is None else _WITHDRAWN)
    jobs = desk.jobs(s)
    public = s.state == PUBLISHED
    at = {} if public else {j.number: address.path("submissions", token, str(j.number)) for j in jobs}
    mine = _rows(jobs, lambda j: j.run if public else j.number)
    changes, changed, older = _changes(desk, s, mine, at)
    at |= address.runs(v.store, older) if at else {}
    return Told(s, jobs, _runs(jobs, public), results.tables(mine, ()) if mine else (), changes, changed, at)


def one(v: View, token: str) -> Page:
    """A submission: what was found, how far its runs are, their figures, and what changed since the last version."""
    s = Desk(v.store).find(token)
    if s is not None and s.state == WITHDRAWN:
        return Page("Withdrawn", [Text(_WITHDRAWN)], status=410)
    of = told(v, token)
    s, private = of.submission, of.submission.state != PUBLISHED
    ahead = sum(j.state in (WAITING, RUNNING) for j in of.jobs)
    blocks: list[Block] = [Text(_STATES.get(s.state, _DAMAGED)), Text(_progress(of.jobs))]
    blocks += _decisions(s, token) if v.taking else [Text(_READ_ONLY)]
    try:
        blocks += _linted(msgspec.json.decode(s.found, type=Found), s)
    except msgspec.MsgspecError:
        blocks.append(Text(_UNREADABLE))
    blocks.append(Table(of.runs, wide=("detail",), addresses=of.addresses))
    blocks += (Table(t, bars=bars(t), wide=("detail",), private=private, addresses=of.addresses) for t in of.figures)
    if of.changes or of.changed:
        blocks += (Heading("Since the last version", "changes"), *map(noted, of.changes))
        blocks += (Table(t, private=private, addresses=of.addresses) for t in of.changed)
    if v.taking:
        blocks.append(Heading("Hand in a new version", "new"))
        blocks.append(
            Text("Here, when these runs are done; or with steelyard submit --previous and this page's address.")
            if ahead  # the page is loaded again until then, and what was filled in would be lost
            else _form(s.licence, Field(_PREVIOUS, "", value=token, kind="hidden"))
        )
    return Page(f"Submission of {s.name}", blocks, again=AGAIN if ahead else 0, alone=True)


def _progress(jobs: Sequence[Job]) -> str:
    counts = {state: sum(j.state == state for j in jobs) for state in (DONE, RUNNING, WAITING, FAILED)}
    without = sum(j.state == DONE and not (j.record is not None and j.record.ok) for j in jobs)
    more = {DONE: f" ({without} without verified figures)" if without else ""}
    said = ", ".join(f"{n} {state}{more.get(state, '')}" for state, n in counts.items() if n)
    return f"{counted(len(jobs), 'run')}: {said}." if jobs else "No runs."


def _decisions(s: Submission, token: str) -> Iterable[Block]:
    at = address.path("submissions", token)
    if s.state == PRIVATE:
        yield Form(f"{at}/publish", (), "Publish its results", changes=True)
    if s.state in (PRIVATE, OFFERED):
        yield Form(f"{at}/withdraw", (SURE,), "Withdraw and delete it", changes=True)


def _linted(found: Found, s: Submission) -> Iterable[Block]:
    noted = ("notes",) if any(i.notes for i in found.implementations) else ()
    heads: dict[str, int | None] = dict.fromkeys(("implementation", "primitive", "API", "bytes", "known answers"))
    heads |= {"files": 0, **dict.fromkeys(noted)}
    lines: list[Sequence[Cell]] = [
        (
            f"{i.variant}/{i.name}",
            i.primitive,
            i.interface,
            ", ".join(f"{what} {n}" for what, n in i.bytes.items() if n is not None),
            ", ".join(i.kat) or ("known" if i.known else "none: only repeated answers can be compared"),
            i.files,
            *(["; ".join(i.notes)] if noted else []),
        )
        for i in found.implementations
    ]
    yield Table(plain("What was found", "found", heads, lines), wide=("known_answers", "notes"))
    if found.rejected:
        bad = [(r.path, r.reason, r.detail, r.next_action) for r in found.rejected]
        yield Table(plain("Refused", "rejected", ("package", "reason", "detail", "what to do"), bad), wide=("detail",))
    files = f"; files: {', '.join(found.licences)}" if found.licences else "; the zip has no licence file"
    yield Text(f"Licence as you said: {s.licence}{files}. SHA-256 of the zip: {s.digest}")


def _runs(jobs: Sequence[Job], public: bool) -> Sheet:
    lines = [
        (f"{j.task.variant}/{j.task.name}", j.task.place, " ".join(j.task.flags), j.state, j.attempts or None,
         j.run if public else j.number if j.record is not None else None, _said(j, public))
        for j in jobs
    ]  # fmt: skip
    heads = {"implementation": None, "target": None, "flags": None, "state": None, "attempts": 0, "run": 0,
             "detail": None}  # fmt: skip
    return plain("Runs", "jobs", heads, lines)


def run(v: View, token: str, number: str) -> Page:
    """A run of a submission, whole, for who has its private link: also before it is public, and where it failed."""
    s, job = _job(v, token, number)
    record = msgspec.structs.replace(job.record, id=None, origin=of_submission(s.name, s.number, s.first))
    sheets = {sheet.label: sheet for sheet in runs.sheets(record, ())}
    title = f"{record.setup.label} on {record.setup.target}, {record.setup.flags}"
    about = msgspec.structs.replace(run_pages.described(sheets["run"]), title=title)
    links = [("what the compilers said", address.path("submissions", token, number, "log"))]
    blocks: list[Block] = [Table(about, wide=("value",)), Links(links, "more of this run")]
    blocks += run_pages.figures(v, record, sheets)
    return Page(title, blocks, "" if record.ok else "No verified figures.", _trail(s, token))


def log(v: View, token: str, number: str) -> Page:
    """What the compilers said in a run of a submission."""
    s, job = _job(v, token, number)
    text = Desk(v.store).log(job.number)
    more = f"The first {run_pages.LOG} of {len(text)} characters." if len(text) > run_pages.LOG else ""
    title = f"Build log: {job.record.setup.label} on {job.record.setup.target}"
    return Page(title, [Pre(text[: run_pages.LOG] or run_pages.SILENT)], more, _trail(s, token))


class _Done(Struct, frozen=True):
    """A job that ended with a record."""

    number: int
    record: Record


def _job(v: View, token: str, number: str) -> tuple[Submission, _Done]:
    desk = Desk(v.store)
    s = desk.find(token)
    if s is None or s.state == WITHDRAWN:
        raise NotThereError("no submission has this link")
    for j in desk.jobs(s):
        if str(j.number) == number and j.record is not None:
            return s, _Done(j.number, j.record)
    raise NotThereError("no run of this submission has this address, or it is not done yet")


def _trail(s: Submission, token: str) -> list[tuple[str, str]]:
    return [(f"submission of {s.name}", address.path("submissions", token))]


def _said(j: Job, public: bool) -> str:
    """Why a job waits, what became of its last try, why it has no figures, and why not a run if ``public``."""
    failure = j.record.failure if j.record is not None else None
    said = [j.why, "" if j.detail in j.why else j.detail, f"{failure.reason}: {failure.detail}" if failure else ""]
    if public and j.state == DONE and j.record is not None and j.run is None:
        said.append("another run of these sources and this setup is public: its figures are the same, or it is later")
    return "; ".join(filter(None, said))


def _rows(jobs: Iterable[Job], number: Callable[[Job], int | None]) -> list[Row]:
    """Rows of what is finished, under these numbers, with why some has no figures."""
    records = [msgspec.structs.replace(j.record, id=number(j)) for j in jobs if j.record is not None]
    found = rows(records)
    for row, record in zip(found, records, strict=True):
        if record.failure is not None:
            row["detail"] = record.failure.detail
    return told_apart(order.ordered(found, results.ORDER))


def _changes(
    desk: Desk, s: Submission, mine: Sequence[Row], at: Mapping[int, str]
) -> tuple[tuple[str, ...], list[Sheet], set[int]]:
    """What is other than in the last version, in words and as tables, and its public runs; ``at`` are private ones."""
    older = desk.of_number(s.previous) if s.previous is not None else None
    if older is None or older.state == WITHDRAWN:
        return (), [], set()
    before = desk.jobs(older)
    theirs = _rows(before, lambda j: None if j.run in at else j.run)
    if not (theirs and mine):
        return (), [], set()
    found = comparing.compare(theirs, mine, sources=True)
    both = [*comparison.tables(found), *comparison.unpaired(found)]
    return tuple(summary(found)), both, {j.run for j in before if j.run is not None} - at.keys()
