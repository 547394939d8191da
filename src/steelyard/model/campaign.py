"""A campaign: what to measure, where and how, from a TOML file or from the same words on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from . import paths, toml


class Campaign(toml.Table, frozen=True, kw_only=True):
    """Implementations (names, patterns, folders, zips) x targets x flag sets x workloads.

    Empty fields mean: all bundled implementations except those in ``exclude``, every target whose compiler is
    installed, the target's own flags, the default workload. ``toolchain`` names an alternative and applies to the
    targets that have it. Paths are relative to the file's folder.
    """

    title: str = ""
    implementations: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    toolchain: str = ""


def load(file: Path) -> Campaign:
    """Reads the campaign in ``file``. Raises :class:`UserError`, which names the wrong key or value."""
    campaign = toml.load(file, Campaign)
    places = ((w, file.parent / w) for w in campaign.implementations)
    return campaign.but(implementations=tuple(str(p) if p.exists() or paths.in_zip(p)[1] else w for w, p in places))


def flag_sets(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """The sets of compiler options in these texts, which ``;`` divides, each once."""
    return list(dict.fromkeys(tuple(part.split()) for text in texts for part in text.split(";") if part.strip()))
