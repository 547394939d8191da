"""The linker as the compiler would call it: without its two processes in between that takes a third of the time."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from ..model import paths
from ..model.target import ToolchainSpec

_IMAGE = "the-image"


def command(
    spec: ToolchainSpec, options: Sequence[str], objects: Iterable[str], image: str, flags: Iterable[str], sample: Path
) -> tuple[str, ...]:
    """Links ``objects`` to ``image`` with the compiler's ``options``.

    ``flags`` are those of the objects: link-time optimisation is the compiler's, and so are programs for this machine.
    ``sample`` is any object that is there.
    """
    direct = None
    if spec.prefix and not any(f.startswith("-flto") for f in flags):
        direct = _direct(spec, tuple(options), str(sample))
    if direct is None:
        return (spec.compiler, *spec.flags, *options, *objects, "-o", image)
    before, after = direct
    return tuple(image if word == _IMAGE else word for word in (*before, *objects, *after))


@cache
def _direct(spec: ToolchainSpec, options: tuple[str, ...], sample: str) -> tuple[list[str], list[str]] | None:
    """What the compiler says it would do (GCC manual, "Overall Options", -###), before the objects and behind them;
    None where that is not one call of the linker."""
    done = subprocess.run(
        [spec.compiler, *spec.flags, *options, sample, "-o", _IMAGE, "-###"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": paths.search_path(), "LC_ALL": "C"},
    )
    said = [line for line in done.stderr.splitlines() if line.startswith(" ")]
    if done.returncode or len(said) != 1:
        return None
    try:
        program, *words = shlex.split(said[0])
    except ValueError:
        return None
    if Path(program).name not in ("collect2", "ld") or words.count(sample) != 1 or words.count(_IMAGE) != 1:
        return None
    if "-plugin" in words:  # for link-time optimisation
        at = words.index("-plugin")
        del words[at : at + 2]
    words = [w for w in words if not w.startswith("-plugin-opt=")]
    at = words.index(sample)
    return [f"{spec.prefix}ld", *words[:at]], words[at + 1 :]
