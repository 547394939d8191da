"""A campaign: what to weigh, where and how, as a TOML file or as the same words on the command line."""

from __future__ import annotations

from pathlib import Path

from . import toml


class Campaign(toml.Table, frozen=True, kw_only=True):
    """Implementations (names, patterns, folders, zips) x targets x flag sets x workloads.

    What is left empty means: all bundled implementations but those in ``exclude``, every target whose compiler
    is here, the target's own flags, the default workload. ``toolchain`` is for targets that have one of that name
    besides their own. Paths are seen from the file's folder.
    """

    title: str = ""
    implementations: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    toolchain: str = ""


def load(file: Path) -> Campaign:
    """The campaign in ``file``; :class:`UserError` names what is wrong with it."""
    campaign = toml.load(file, Campaign)
    paths = tuple(str(p) if (p := file.parent / w).exists() else w for w in campaign.implementations)
    return campaign.but(implementations=paths)
