"""Two sets of rows, setup by setup: what changed, by how much, and whether it may be said at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..model.metric import metric
from .rows import Row, Value

#: what a setup is called by; two rows are a pair when these are the same
PAIRED = ("primitive", "family", "variant", "implementation", "target", "device", "flags", "workload")
#: what must be the same in both rows of a pair for their figures to say anything about what is compared
COMPARABLE = ("compiler", "harness", "timing_model")
#: metrics compared where none are named
METRICS = (
    "cycles_encrypt_mean",
    "cycles_decrypt_mean",
    "cycles_reject_mean",
    "cycles_hash_mean",
    "rom",
    "stack",
    "ram_static",
    "heap",
)
Verdict = Literal["better", "worse", "same", "noise"]
Key = tuple[Value, ...]


@dataclass(frozen=True)
class Change:
    """One metric of a pair. ``ratio`` is new over old; None where old is 0 and new is not."""

    metric: str
    old: float
    new: float
    verdict: Verdict

    @property
    def ratio(self) -> float | None:
        """New over old."""
        if self.old:
            return self.new / self.old
        return 1.0 if self.new == self.old else None


@dataclass(frozen=True)
class Pair:
    """Two rows of one setup. ``differs`` names what makes them incomparable, if they were compared all the same."""

    old: Row
    new: Row
    changes: tuple[Change, ...]
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """``pairs`` hold figures on both sides; ``missing`` are only in the old rows, ``added`` only in the new ones,
    ``refused`` cannot be compared, with the fields that differ."""

    pairs: tuple[Pair, ...]
    missing: tuple[Row, ...]
    added: tuple[Row, ...]
    refused: tuple[tuple[Row, Row, tuple[str, ...]], ...]
    about: tuple[str, ...]


def compare(
    old: Sequence[Row],
    new: Sequence[Row],
    *,
    metrics: Collection[str] = METRICS,
    threshold: float = 0.0,
    mixed: bool = False,
    about: Iterable[str] = (),
) -> Comparison:
    """Pairs rows and compares them.

    What all old rows share and all new rows share differently (the implementation, the flags) is what the
    comparison is ``about`` and does not keep rows from being pairs; more such columns can be named, among them
    those of ``COMPARABLE``. ``threshold`` is the fraction up to which a change counts as none.
    """
    subject = {n for n in PAIRED if _only(old, n) is not None and _only(new, n) is not None}
    subject = {n for n in subject if _only(old, n) != _only(new, n)} | set(about)
    key = tuple(n for n in PAIRED if n not in subject)
    must = tuple(n for n in COMPARABLE if n not in subject)
    left, right = _by(old, key), _by(new, key)
    pairs, refused = [], []
    for k in (k for k in left if k in right):
        a, b = left[k], right[k]
        differs = tuple(n for n in must if a.get(n) != b.get(n) and a.get(n) is not None and b.get(n) is not None)
        if differs and not mixed:
            refused.append((a, b, differs))
        else:
            pairs.append(Pair(a, b, tuple(_changes(a, b, metrics, threshold)), differs))
    return Comparison(
        tuple(pairs),
        tuple(r for k, r in left.items() if k not in right),
        tuple(r for k, r in right.items() if k not in left),
        tuple(refused),
        tuple(n for n in (*PAIRED, *COMPARABLE) if n in subject),
    )


def _only(rows: Sequence[Row], name: str) -> Value:
    values = {r.get(name) for r in rows}
    return values.pop() if len(values) == 1 else None


def _by(rows: Sequence[Row], key: Sequence[str]) -> dict[Key, Row]:
    """Rows by key; of several the newest run."""
    found: dict[Key, Row] = {}
    for row in rows:
        k = tuple(row.get(n) for n in key)
        if k not in found or _run(row) > _run(found[k]):
            found[k] = row
    return found


def _run(row: Row) -> int:
    run = row.get("run")
    return run if isinstance(run, int) else 0


def _changes(a: Row, b: Row, metrics: Iterable[str], threshold: float) -> Iterable[Change]:
    for name in metrics:
        old, new = a.get(name), b.get(name)
        if isinstance(old, int | float) and isinstance(new, int | float):
            yield Change(name, old, new, _verdict(a, b, name, old, new, threshold))


def _verdict(a: Row, b: Row, name: str, old: float, new: float, threshold: float) -> Verdict:
    change = abs(new - old) / abs(old) if old else float(new != old)
    if change <= threshold:
        return "same"
    # repeated measurements: within the distance of the quartiles on both sides nothing can be said
    spread = sum(float(s) for r in (a, b) if isinstance(s := r.get("spread_percent"), int | float)) / 100
    if spread and metric(name).unit.startswith("cycles") and change <= spread:
        return "noise"
    return "better" if (new < old) is metric(name).lower else "worse"


_WORDS = {"cycles": ("faster", "slower"), "rom": ("smaller", "larger"), "ram": ("less RAM", "more RAM")}


def _kind(name: str) -> str:
    if metric(name).unit.startswith("cycles"):
        return "cycles"
    return "rom" if "rom" in name or "code_size" in name else "ram"


def summary(c: Comparison) -> list[str]:
    """What changed, in words: one sentence for time, one for ROM, one for RAM, each counting targets."""
    sentences = []
    for kind, (good, bad) in _WORDS.items():
        by_target: dict[Value, set[Verdict]] = {}
        for pair in c.pairs:
            found = {ch.verdict for ch in pair.changes if _kind(ch.metric) == kind}
            if found:
                by_target.setdefault(pair.old["target"], set()).update(found)
        if not by_target:
            continue
        n = len(by_target)
        parts = []
        for word, test in (
            (good, lambda v: "better" in v and "worse" not in v),
            (bad, lambda v: "worse" in v and "better" not in v),
            (f"partly {good}, partly {bad}", lambda v: {"better", "worse"} <= v),
            ("within the noise", lambda v: "noise" in v and not {"better", "worse"} & v),
        ):
            hits = sum(bool(test(v)) for v in by_target.values())
            if hits:
                parts.append(f"{word} on {_of(hits, n)}")
        sentences.append(", ".join(parts) if parts else f"no change in {_NAMES[kind]}")
    return sentences


_NAMES = {"cycles": "cycles", "rom": "ROM", "ram": "RAM"}


def _of(hits: int, n: int) -> str:
    if n == 1:
        return "the one target"
    return f"all {n} targets" if hits == n else f"{hits} of {n} targets"
