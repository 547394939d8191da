"""What a comparison comes to, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from ..model.errors import counted
from ..model.metric import metric
from ..model.row import Value
from .answer import pattern, workload_name
from .compare import AREA, DEPTH, OF_FREQUENCY, Change, Comparison, Pair
from .inputs import judges, known, of_calls

_WORDS = {
    "cycles": ("faster", "slower"),
    "instructions": ("fewer instructions", "more instructions"),
    "rom": ("smaller", "larger"),
    "ram": ("less RAM", "more RAM"),
    "energy": ("less energy", "more energy"),
    "speed": ("faster", "slower"),
    "area": ("smaller", "larger"),
}
_UNTOLD = "not told from other inputs"
#: what is said where nothing is sure to have changed
_LEAST = {"untold": _UNTOLD, "unsure": "changed by less than the model's error", "noise": "within the noise"}
_UNITS = {
    "cycles": "cycles",
    "cycles/byte": "cycles",
    "ticks": "cycles",
    "instructions": "instructions",
    "bytes": "ram",
    "µJ": "energy",
    "bits/cycle": "speed",
    **dict.fromkeys(OF_FREQUENCY, "speed"),
}


@cache
def _kind(name: str, primitive: Value = None) -> str:
    """What the summary calls a metric; empty for one that it does not speak of, as of a new key's cycles, which are not
    those of a message. How fast hardware is has one word, whatever tells it."""
    m = metric(name)
    if name in ("key_cycles", DEPTH):
        return "speed" if name == DEPTH else ""
    kind = "rom" if m.flash else "area" if name in AREA else _UNITS.get(m.unit, "")
    return "speed" if kind == "cycles" and primitive == "lwc_rtl" else kind


def summary(c: Comparison) -> list[str]:
    """What changed, in words: one sentence each for time, instructions, ROM, RAM and energy, which counts targets."""
    sentences = []
    found = {
        (
            pair.old["target"],
            _kind(ch.metric, pair.old["primitive"]),
            "untold" if ch.untold else "unsure" if ch.within else ch.verdict,
        )
        for pair in c.pairs
        for ch in pair.changes
        if _speaks(ch, pair)
    }
    left_out = {_kind(n, p.old["primitive"]) for p in c.pairs for n in p.left_out}
    for kind, (good, bad) in _WORDS.items():
        by_target: dict[Value, set[str]] = {}
        for target, of, verdict in found:
            if of == kind:
                by_target.setdefault(target, set()).add(verdict)
        if not by_target:
            continue
        said = Counter(_said(verdicts, good, bad) for verdicts in by_target.values())
        parts = [f"{word} on {_of(said[word], len(by_target))}" for word in _said_of(good, bad) if said[word]]
        what = _NAMES.get(kind, kind)
        if kind in left_out:  # the others are not all that there is of it
            compared = {ch.metric: p.old["primitive"] for p in c.pairs for ch in p.changes}
            what = _titles(name for name, primitive in compared.items() if _kind(name, primitive) == kind)
        sentences.append(", ".join(parts) if parts else f"no change in {what}")
    if other := [p for p in c.pairs if "workload" in p.differs and p.left_out]:
        names = dict.fromkeys(n for p in other for n in p.left_out)
        text = f"{counted(len(other), 'setup')} of other sizes on one side"
        sentences.append(f"{text}, so not compared: {_titles(names)}")
    if short := sum(p.without_means for p in c.pairs):
        text = "means over fewer known answers on one side are not compared, for these are the shorter ones"
        sentences.append(f"{counted(short, 'setup')}: {text}")
    for name, values in c.several.items():
        text = f"one side has several of {name} for a setup ({', '.join(values)}): the newest run of them was compared"
        sentences.append(f"{text}; name one, such as '{name} == {values[0]}'")
    sentences += c.sources
    for workload, count in c.workloads.items():
        text = f"{counted(count, 'setup')} of workload {workload_name(workload)}, which both sides have too, left out"
        sentences.append(f"{text}; to compare: --where '{pattern(workload)}'")
    return sentences


def _said_of(good: str, bad: str) -> tuple[str, ...]:
    """What is said of a target, in the order of a sentence."""
    return (good, bad, f"partly {good}, partly {bad}", f"partly {good}, partly {_UNTOLD}", *_LEAST.values())


def _said(verdicts: set[str], good: str, bad: str) -> str:
    """What is said of a target with these verdicts; empty where nothing changed."""
    better, worse, partly, doubtful, *_ = _said_of(good, bad)
    if "worse" in verdicts:
        return partly if "better" in verdicts else worse
    if "better" in verdicts:
        return doubtful if "untold" in verdicts else better
    return next((word for verdict, word in _LEAST.items() if verdict in verdicts), "")


def _speaks(change: Change, pair: Pair) -> bool:
    """Whether a change was asked for, or says what other inputs hide of one that was: known answers do not where nobody
    can say what the mean over fresh inputs does."""
    hidden = [ch.metric for ch in pair.changes if ch.hidden and ch.verdict in ("noise", "same")]
    doubted = {known(ch.metric) for ch in pair.changes if ch.untold and not of_calls(ch.metric)}
    told = change.metric not in doubted or change.verdict == "worse"
    return not change.beside or (told and any(change.metric in judges(name) for name in hidden))


_NAMES = {"rom": "ROM", "ram": "RAM"}


def _titles(names: Iterable[str]) -> str:
    return ", ".join(metric(n).title for n in names)


def _of(hits: int, n: int) -> str:
    if n == 1:
        return "the one target"
    return f"all {n} targets" if hits == n else f"{hits} of {n} targets"
