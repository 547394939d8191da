"""Computes figures of the image itself, and their difference from the nocrypt baseline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..model.target import Target
from .rom import load_size, static_ram

_PARTS = {"both": "", "encrypt": "_encrypt", "decrypt": "_decrypt"}


def image_figures(images: Mapping[str, Path], target: Target, untouched: int | None) -> dict[str, float]:
    """``image_rom`` (and ``_encrypt``, ``_decrypt``) and ``image_static`` in bytes: whole images with the harness.

    ``image_ram_touched`` is Renner's figure: RAM after static data minus ``untouched``, its longest run of bytes that
    no known-answer call wrote.
    """
    figures: dict[str, float] = {f"image_rom{_PARTS[p]}": load_size(i) for p, i in images.items()}
    static = static_ram(images["both"])
    figures["image_static"] = static
    if untouched is not None:
        figures["image_ram_touched"] = target.chip.ram.size - static - untouched
    return figures


def attributable(
    figures: Mapping[str, float], baseline: Mapping[str, float], uncounted: Mapping[str, int]
) -> dict[str, float]:
    """``rom``, ``rom_encrypt``, ``rom_decrypt``, ``ram_static`` and ``ram_renner`` in bytes: the image's figures minus
    nocrypt's, and with what is ``uncounted`` in the ROM of each part (:func:`.rom.uncounted`)."""
    names = {"image_static": ("ram_static", 0), "image_ram_touched": ("ram_renner", 0)}
    names |= {f"image_rom{p}": (f"rom{p}", uncounted.get(part, 0)) for part, p in _PARTS.items()}
    both = figures.keys() & baseline.keys()
    return {name: figures[i] - baseline[i] + more for i, (name, more) in names.items() if i in both}


def energy(figures: Mapping[str, float], target: Target) -> dict[str, float]:
    """``energy_<operation>_modelled``: microjoules of the mean known-answer call, from the supply in the data sheet."""
    per_cycle = target.nanojoule_per_cycle
    if per_cycle is None:
        return {}
    means = {k: v for k, v in figures.items() if k.startswith("cycles_") and k.endswith("_mean")}
    return {f"energy_{k[7:-5]}_modelled": v * per_cycle / 1000 for k, v in means.items()}
