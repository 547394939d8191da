"""``steelyard image``: the firmware that a run was of, as a file to flash."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import click
from msgspec import Struct

from .. import building, lab, measure
from ..building import Build
from ..model import elf
from ..model.errors import UserError, WorkError, cut
from ..model.record import Record, Setup
from ..model.target import Target, load_target, target_names
from ..model.workload import workload
from ..pipeline import Job, identity
from ..publish import run
from ..publish.sheet import plain
from . import options, select
from .examine import answered
from .options import Number, command
from .output import IMAGES, TABLES, Output
from .plan import CHANGES

#: fields of a setup that an image depends on
_OF_IMAGES = ("implementation_digest", "toolchain", "harness", "target_digest")


class Image(Struct, frozen=True):
    """What ``image`` is asked."""

    run: int
    db: str | None
    out: Output


@command(
    Image,
    click.argument("run", type=Number((1 << 63) - 1), metavar="RUN", help="Number of a run, from the tables."),
    options.db,
    options.output(
        *IMAGES,
        *TABLES,
        help="File, or - for standard output. The image: .elf, .hex (Intel HEX), .bin, or .esp (what ESP chips' boot "
        "ROM loads); else what is known of it: .json and other tables.",
    ),
)
def verb(ask: Image) -> int:
    """Hand out the firmware image of a run, and say how to flash it.

    The image is taken from the cache, or built again from the same sources with the same compiler and firmware. Where
    one of them has changed since, there is no image, and it is said what changed.
    """
    with select.store(ask.db, existing=True) as store:
        record = store.get(ask.run)
    if record is None:
        raise UserError(f"there is no run {ask.run}; steelyard list runs shows them")
    target = _target(record)
    built = _built(record, target)
    file = built.images["both"]
    content = file.read_bytes()
    _same(record, file)
    if ask.out.format in IMAGES:
        ask.out.put(_made(content, target, ask.out.format))
        ask.out.remark(_to_flash(target, ask.out.format, str(ask.out.path or "FILE")))
        return 0
    segments = elf.segments(content)
    facts = {
        "run": record.id,
        "implementation": record.setup.label,
        "target": target.name,
        "flags": record.setup.flags,
        "SHA-256": hashlib.sha256(content).hexdigest(),
        "from": "the cache" if built.cached else "built again",
        "loaded": ", ".join(f"{len(data)} bytes at {at:#x}" for at, data in segments),
    }
    flashing = {f: [shlex.join(c) for c in _commands(target, f, f"image.{f}")] for f in IMAGES}
    sheet = plain(f"image of run {record.id}", "image", ("field", "value"), list(map(tuple, facts.items())))
    lines = [(f, c) for f, commands in flashing.items() for c in commands]
    sheets = [sheet, *([plain("to flash it", "flash", ("file", "command"), lines)] if lines else [])]
    ask.out.give(sheets, facts | {"flash": flashing}, [] if lines else _to_flash(target, "elf", "image.elf"))
    return 0


def _target(r: Record) -> Target:
    """The target that the run was of, with its compiler. :class:`UserError` where there is none of its name now."""
    if r.setup.target not in target_names():
        raise UserError(f"run {r.id} is of target {cut(r.setup.target)}, which is not here; add its folder to targets/")
    return load_target(r.setup.target).using(r.setup.toolchain.name)


def _built(r: Record, target: Target) -> Build:
    """The build that was weighed, from the cache or made again. :class:`UserError` where its sources are not here,
    :class:`WorkError` where something else than then would come out."""
    kept = building.kept_of(r.setup)
    if kept is not None and "both" in kept.images:
        return kept
    again = f"weigh what is here now, and take the image of that run: {run.repeating(r)}"
    named = r.origin or f"{r.setup.primitive}/{r.setup.family}/{r.setup.label}"
    select.usable_home()
    try:
        chosen, _ = select.implementations([named])
    except UserError as e:
        raise UserError(f"run {r.id}: its sources are not here: {e}") from e
    of_name = [c.implementation for c in chosen if c.implementation.label == r.setup.label]
    of_name = [i for i in of_name if i.primitive == r.setup.primitive]
    if not of_name:
        raise UserError(f"run {r.id}: {cut(named)} has no {r.setup.label} now; bring its sources back")
    same = [i for i in of_name if identity(i) == r.setup.implementation_digest]
    flags = tuple(r.setup.flags.split(" ")) if r.setup.flags else ()
    job = Job((same or of_name)[0], target, flags, workload("kat"))
    if differs := _differs(r.setup, job.plan):
        raise WorkError(
            f"run {r.id}: its image cannot be made again: {', '.join(differs)}; bring that back, or {again}"
        )
    return answered(job, lambda j: building.built(j.implementation, j.target, j.flags))


def _differs(then: Setup, now: Setup) -> list[str]:
    """What an image depends on, and is not what it was."""
    found = []
    for name in _OF_IMAGES:
        old, new = getattr(then, name), getattr(now, name)
        if old != new:
            words = (
                [f"{t.version} ({t.sha256[:12]})" for t in (old, new)] if name == "toolchain" else [old[:12], new[:12]]
            )
            found.append(f"{CHANGES[name]}, {words[0]} then and {words[1]} now")
    return found


def _same(r: Record, file: Path) -> None:
    """:class:`WorkError` where the image has not the sizes that the run stored."""
    for name, found in measure.image_figures({"both": file}, load_target(r.setup.target), None).items():
        stored = r.metrics.get(name)
        if stored is not None and stored != found:
            text = f"{name} is {found:g} bytes, and was {stored:g}"
            raise WorkError(f"run {r.id}: this is not the image that was weighed: {text}; {run.repeating(r)}")


def _made(content: bytes, target: Target, format: str) -> bytes:
    """The file's content. :class:`UserError` for a format that makes no sense for the target."""
    if format == "elf":
        return content
    if not target.is_chip:
        raise UserError(f"the image for {target.name} is a program of this machine's kind; take it as -o FILE.elf")
    code, esp = target.chip.flash, lab.kind_of(target)
    if format == "esp" and not esp:
        loaded = _loaded(target)
        why = f"take that of {loaded}, or" if loaded else "it is for ESP chips; take"
        raise UserError(f"no boot ROM loads what is for {target.name}: {why} .elf, .hex or .bin")
    try:
        return (
            lab.intel_hex(content)
            if format == "hex"
            else lab.made(esp if format == "esp" else "bin", content, code.base, code.size)
        )
    except ValueError as e:
        raise WorkError(f"the image: {e}; take it as -o FILE.elf") from e


def _loaded(target: Target) -> str:
    """Targets of the same chip whose images its boot ROM loads."""
    of_chip = [t for t in map(load_target, target_names()) if t.chip_name == target.chip_name]
    return " or ".join(t.name for t in of_chip if lab.kind_of(t))


def _commands(target: Target, format: str, file: str) -> list[tuple[str, ...]]:
    return lab.by_hand(target, format, file) if target.is_chip else []


def _to_flash(target: Target, format: str, file: str) -> list[str]:
    """The commands that flash ``file``, in sentences, or why there is none."""
    if not target.is_chip:
        return ["It is a program: it answers frames on its standard input."]
    if commands := _commands(target, format, file):
        given = {"PORT": "the serial port", "PROBE": "the probe's script or driver, such as interface/stlink.cfg"}
        words = [f"{name} is {what}" for name, what in given.items() if any(name in c for c in commands)]
        about = f" ({'; '.join(words)})" if words else ""
        return [f"To flash it{about}:", *(f"    {shlex.join(c)}" for c in commands)]
    where = [f"Its first byte belongs at {target.chip.flash.base:#x}."] if format == "bin" else []
    others = [f for f in IMAGES if _commands(target, f, file)]
    if others:
        return [f"No flasher that is known here takes this for {target.chip_name}; take {' or '.join(others)}.", *where]
    if loaded := _loaded(target):
        return [f"No boot ROM loads what is for {target.name}; take the image of a run on {loaded}.", *where]
    if format == "bin":
        return [f"No flasher is known for {target.chip_name}.", *where]
    return [f"No flasher is known for {target.chip_name}; a debug probe's tools load it."]
