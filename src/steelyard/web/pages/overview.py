"""Ways in: the front page, lists of what there is, the search, and documents."""

from __future__ import annotations

from difflib import get_close_matches

from ...analyse.answer import of_one_device, told_apart
from ...model.errors import counted
from ...model.row import CONTEXT
from ...model.target import Target, load_target, target_names
from ...publish import pivot, results
from ...publish.sheet import Sheet, plain
from .. import address, campaigns, documents
from ..ask import FEW
from ..page import Block, Field, Heading, Links, Markup, Page, Table, Text
from .view import View, every_name, not_there

#: newest runs, and names that were weighed last, on the front page
NEWEST, WEIGHED = 15, 12
SEARCH = (Field("q", "look for", "ascon, uno, or the beginning of a digest"),)
#: most hits of a search, of names, of implementations by their digest and of runs each
HITS = 100
_NOTHING = (
    "Nothing is called so, and no run's address and no implementation's digest begins so; of these write at least "
    f"{address.SHORTEST} digits."
)


def front(v: View) -> Page:
    """What this is, the newest results, and one table of those weighed last on all targets."""
    targets = v.store.targets()
    newest = v.store.rows_of(v.store.latest(NEWEST), ("cycles_encrypt_mean", "cycles_hash_mean", "rom"))
    device = () if {r["device"] for r in newest} <= {"simulator"} else ("device",)
    names = (
        "run",
        "label",
        "target",
        *device,
        "flags",
        "cycles_encrypt_mean",
        "cycles_hash_mean",
        "rom",
        "outcome",
        "finished",
    )
    shown = [results.column(n) for n in names if n in CONTEXT or any(r.get(n) is not None for r in newest)]
    weighed = list(dict.fromkeys((str(r["variant"]), str(r["implementation"])) for r in newest))[:WEIGHED]
    found = [
        r
        for variant, name in weighed
        if variant != "nocrypt"
        for r in v.rows.answer(
            asked=("cycles_encrypt_mean", "cycles_hash_mean"), variant=variant, implementation=name
        ).rows
        if r["outcome"] == "verified"
    ]
    (kept,), _ = of_one_device(found)
    joint = [Table(s) for s in pivot.tables(told_apart(kept), "target")] if kept else []
    lead = (
        "Steelyard weighs lightweight cryptography: cycles, ROM, RAM and energy of implementations on "
        "microcontrollers, each verified on the image that is measured."
    )
    held = f"Here are results of {counted(sum(targets.values()), 'setup')} on {counted(len(targets), 'target')}."
    blocks: list[Block] = [
        Text(held if targets else "No results yet: steelyard run makes some."),
        Links([(f"{n} ({k})", address.path("targets", n)) for n, k in targets.items()], "targets"),
    ]
    if newest:
        blocks.append(Table(Sheet("Newest results", "newest", shown, results.lines(newest, shown))))
    if joint:
        blocks += [
            Heading("Weighed last, on every target", "joint"),
            Text(f"Of the {NEWEST} newest runs at most {WEIGHED} implementations. Tables and targets have all."),
            Links([("tables", "/tables"), ("targets", "/targets")], "all results"),
            *joint,
        ]
    return Page("Steelyard", blocks, lead)


def targets(v: View) -> Page:
    """All targets, those with results first."""
    stored = v.store.targets()
    lines = [_about(load_target(n), stored.get(n, 0)) for n in target_names()]
    lines += [
        (n, "not known to this version", None, None, None, "-", k) for n, k in stored.items() if n not in target_names()
    ]
    lines.sort(key=lambda line: (not line[-1], line[0]))
    heads = {"target": None, "chip": None, "MHz": 1, "flash KiB": 0, "RAM KiB": 1, "cycle counts": None, "setups": 0}
    sheet = plain("Targets", "targets", heads, lines, ["cycle counts: how far they are validated; see claims"])
    return Page("Targets", [Table(sheet)])


def _about(t: Target, stored: int) -> tuple[str, str, float | None, float | None, float | None, str, int]:
    chip = t.chip.clock_hz > 0
    memory = (t.chip.flash.size / 1024, t.chip.ram.size / 1024) if chip else (None, None)
    return (t.name, t.chip_name, t.chip.clock_hz / 1e6 if chip else None, *memory, t.tier, stored)


def all_campaigns(v: View) -> Page:
    """The campaigns that come with Steelyard."""
    lines = [(n, campaigns.load(n).title) for n in campaigns.names()]
    links = [(title or n, address.path("campaigns", n)) for n, title in lines]
    return Page("Campaigns", [Links(links, "campaigns")], "Runs that belong together, and how many of them are stored.")


def one_campaign(v: View, name: str) -> Page:
    """What of a campaign is stored, failed or missing."""
    if name not in campaigns.names():
        raise not_there("campaign", name, campaigns.names())
    c = campaigns.load(name)
    some = campaigns.variants(c)
    if len(some) <= FEW:  # of which the database has an index
        found = [v.rows.found(asked=(), variant=n).rows for n in some]
    else:
        found = [v.rows.found(asked=(), target=t).rows for t in c.targets or v.store.targets()]
    rows = v.complete([r for part in found for r in part])
    blocks = [Table(s, wide=("detail",)) for s in campaigns.sheets(c, rows)]
    repeat = Text(f"steelyard run campaigns/{name}.toml weighs what is missing.")
    return Page(c.title or name, [*blocks, repeat], trail=[("campaigns", "/campaigns")])


def document(v: View, name: str) -> Page:
    """A document of the project."""
    return Page(documents.PAGES[name], [Markup(f'<div class="prose">{documents.html(name)}</div>')])


def search(v: View) -> Page:
    """Names that hold, or nearly are, what is looked for; implementations and runs whose digest begins so."""
    text = v.text("q")
    form = v.form("/search", "Search", SEARCH)
    if not text:
        return Page("Search", [form])
    low = text.lower()
    known = every_name(v)
    hits = [n for n in known if low in n.lower()]
    digests = _of_digest(v, low)
    hits = hits or ([] if digests else get_close_matches(low, known, n=10, cutoff=0.6))
    best = sorted(hits, key=lambda n: (not n.lower().startswith(low), len(n), n))[:HITS]
    links = [(f"{known[n][0]} {n}", address.path(*known[n][1])) for n in best]
    found: list[Block] = [Links(links, counted(len(hits), "hit"))] if hits else []
    return Page("Search", [form, *(found + digests or [Text(_NOTHING)])])


def _of_digest(v: View, low: str) -> list[Block]:
    """The implementations and runs, the newest first, whose digest or address begins so."""
    if len(low) < address.SHORTEST or set(low) - set("0123456789abcdef"):
        return []
    sources = [
        (f"implementation {variant}/{name}, digest {digest[:16]}", address.path("implementations", variant, name))
        for variant, name, digest in v.store.of_digest(low, HITS)
    ]
    runs = [
        (f"run {n}", address.path("runs", *address.run(key, at)))
        for n, key, at, _ in reversed(v.store.of_setup(low)[-HITS:])
    ]
    return [Links(links, label) for label, links in (("implementations", sources), ("runs", runs)) if links]
