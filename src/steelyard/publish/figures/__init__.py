"""The figures, one file each; whoever asks for their names alone need not import what draws them."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def figure_names() -> tuple[str, ...]:
    """All figures."""
    return tuple(sorted(f.stem for f in FOLDER.glob("*.json") if f.stem != "theme"))
