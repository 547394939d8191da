"""What docs/validation/errors.csv says: the errors that claims and answers quote, of published cycles and ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fidelity_pages import BINARY, TODAY, zero_waits
from fidelity_rows import CACHE, PLACE, held_out, of_assembly, read, spread, unseen

from steelyard.analyse.errors import Error

LONG = "calls of 20 ms and more, nothing was fitted"
THEIRS = "most of it is the compiler's"
WITHOUT = "the compiler's, and the board's overhead"
HELD = "families that nothing was fitted to"
PARTLY = "ISAP had a part in a fit, others none"
FLASH = "with the waits of the board's cached flash"
ZERO = "AES and X25519, without the call"
#: a published row that is wrong: docs/validation/README.md, "Outliers"
WRONG = {"variant": "asconhashav12", "implementation": "ref", "configuration": "Os"}


class Errors(NamedTuple):
    """Errors in percent, of a timing model on a target."""

    target: str
    model: str
    of: list[float]


def shown(target: str, model: str, file: str, **values: str) -> Errors:
    """The errors that a file states, of its rows with these values, without the published one that is wrong."""
    with (PLACE / file).open(newline="") as f:
        rows = [r for r in csv.DictReader(f) if values.items() <= r.items() and not WRONG.items() <= r.items()]
    return Errors(target, model, [float(r["error_percent"]) for r in rows])


def held(target: str, kind: str, file: str = "fidelity.csv") -> Errors:
    """The errors of the rows of a file that are of this kind of code and of families that nothing was fitted to."""
    rows = [r for r in read(PLACE / file) if r.target == target and of_assembly(r) == kind]
    [model] = {r.model for r in rows}
    return Errors(target, model, [error for _, error in unseen(held_out([rows]))])


def zero_wait(target: str, model: str, core: str) -> Errors:
    """The errors of assembly on a core without wait states, by today's rules. The binary counts for nothing: a rule was
    adopted with it in view, and it is one program."""
    own = [r for r in zero_waits() if (r.rules, r.core) == (TODAY, core) and r.kind != BINARY]
    return Errors(target, model, [r.error for r in own])


#: target, model and errors; kind of code; what of it is in a cache, and how large this is if the model leaves its
#: misses out; page; and what else there is to know. A target has its newest comparison
QUOTED: tuple[tuple[Callable[[], Errors], str, str, int, str, str], ...] = (
    (lambda: held("uno", "assembly"), "assembly", "any", 0, "fidelity", LONG),
    (lambda: shown("uno", "avre+/1", "uno-ascon-tinyjambu-lto.csv", kind="c"), "compiled", "any", 0, "README", THEIRS),
    (lambda: held("nano-every", "assembly"), "assembly", "any", 0, "fidelity", LONG),
    (
        lambda: shown("nano-every", "avrxt/1", "nano-every-ascon-tinyjambu.csv", kind="C"),
        *("compiled", "any", 0, "nano-every", WITHOUT),
    ),
    (lambda: held("nrf52840", "assembly"), "assembly", "any", 0, "fidelity", HELD),
    (lambda: held("due", "assembly"), "assembly", "any", 0, "fidelity", PARTLY),
    (lambda: zero_wait("stm32f407", "cortex-m4/5", "cortex-m4"), "assembly", "any", 0, "arm-zero-wait", ZERO),
    (lambda: held("nrf52840", "compiled", "fidelity-compiled.csv"), "compiled", "any", 0, "fidelity", THEIRS),
    (lambda: held("due", "compiled", "fidelity-compiled.csv"), "compiled", "any", 0, "fidelity", THEIRS),
    (lambda: held("mkrzero", "compiled", "fidelity-compiled.csv"), "compiled", "any", 0, "fidelity", THEIRS),
    (lambda: held("esp8266", "compiled", "fidelity-before.csv"), "compiled", "any", 0, "fidelity", FLASH),
    (
        lambda: held("esp8266-flash", "compiled"),
        *("compiled", "cached", CACHE["esp8266-flash"], "fidelity", HELD),
    ),
)


def errors_csv() -> str:
    """The text of docs/validation/errors.csv."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(Error.__struct_fields__)
    out.writerows(lines())
    return text.getvalue()


def lines() -> Iterable[tuple[str | int, ...]]:
    """The lines of docs/validation/errors.csv below its heading."""
    for errors, code, memory, size, page, remark in QUOTED:
        target, model, of = errors()
        s = spread(of)
        yield target, model, code, memory, size, s.values, f"{s.median:.4f}", f"{s.p95:.4f}", f"{page}.md", remark
