"""FELICS-AE's result files: written from records, read as rows beside our own.

A file is an object with ``commit``, ``branch`` and ``data``, a list of setups with exactly the keys of
:class:`Result`. It says nothing of compilers, of decryption or of when and where.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from .. import __version__
from ..model import checked
from ..model.errors import UserError
from ..model.row import CONTEXT, Row
from ..model.target import Target, load_target, target_names
from ..model.workload import workload
from ..sources import bundled_name, stem

#: most setups in a file
MAX_SETUPS = 200_000
#: a file's figures by the metrics that hold them
FIGURES = {
    "code_size": "felics_code_size",
    "code_ram": "felics_code_ram",
    "code_time": "felics_code_time",
}
_AGAIN = "write it again with felics-run, or with steelyard publish"

_Text = Annotated[str, Meta(min_length=1, max_length=300)]
_Figure = Annotated[int, Meta(ge=0, lt=1 << 53)]


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One setup and its figures; ``architecture`` is a codename such as AVR."""

    cipher_name: _Text
    architecture: _Text
    version: _Text
    compiler_options: Annotated[str, Meta(max_length=1000)]
    code_size: _Figure
    code_ram: _Figure
    code_time: _Figure


class Results(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole file."""

    commit: Annotated[str, Meta(max_length=300)]
    branch: Annotated[str, Meta(max_length=300)]
    data: Annotated[list[Result], Meta(max_length=MAX_SETUPS)]


def is_felics(document: Any) -> bool:
    """Whether a JSON document is a result file of FELICS-AE, or means to be one."""
    return isinstance(document, dict) and "data" in document and "runs" not in document


def rows(path: Path, document: Any) -> list[Row]:
    """The setups of a JSON document that was read from ``path`` as rows; :class:`UserError` names the place that is
    wrong and what to do."""
    if not is_felics(document):
        raise UserError(f'{path}: not results of FELICS-AE (an object with "commit", "branch" and "data"); {_AGAIN}')
    try:
        results = checked.convert(document, Results)
    except checked.Wrong as e:
        raise UserError(f"{path}: {e}; {_AGAIN}") from e
    targets = _targets()
    made = []
    for number, result in enumerate(results.data):
        if result.architecture not in targets:
            text = f"unknown architecture {result.architecture!r}; it has {', '.join(sorted(targets))}"
            raise UserError(f"{path}: data.{number}.architecture: {text}")
        made.append(_row(path, result, targets[result.architecture]))
    return made


def _row(path: Path, result: Result, target: Target) -> Row:
    """Context as a run of ours would have it, so that the two make a pair; what the file does not say is None."""
    row: Row = dict.fromkeys(CONTEXT)
    variant = bundled_name("crypto_aead", result.cipher_name) or result.cipher_name
    row |= {
        "label": f"{variant}/{result.version}",
        "primitive": "crypto_aead",
        "family": stem(result.cipher_name),
        "variant": variant,
        "implementation": result.version,
        "target": target.name,
        "device": target.device,
        "flags": result.compiler_options,
        "workload": workload("felics-ae").text,
        "outcome": "FELICS-AE",
        "origin": str(path),
    }
    return row | {metric: getattr(result, key) for key, metric in FIGURES.items()}


def render(rows: Iterable[Row]) -> bytes:
    """A result file of the runs but nocrypt, which is not a cipher, that have FELICS-AE's figures on one of its chips.

    ``commit`` and ``branch`` are what a release of FELICS-AE writes: a version, and the word. :class:`UserError`
    when there is nothing to write.
    """
    codenames = {t.name: code for code, t in _targets().items()}
    data = [
        {
            "cipher_name": r["variant"],
            "architecture": codenames[str(r["target"])],
            "version": r["implementation"],
            "compiler_options": r["flags"],
            **{key: round(r[metric]) for key, metric in FIGURES.items()},  # type: ignore[arg-type]
        }
        for r in rows
        if r["target"] in codenames
        and r["variant"] != "nocrypt"
        and all(r.get(metric) is not None for metric in FIGURES.values())
    ]
    if not data:
        chips = ", ".join(sorted(codenames))
        raise UserError(f"no run has FELICS-AE's figures; run: steelyard run -w felics-ae -t TARGET ({chips})")
    document = {"commit": __version__, "branch": "release", "data": data}
    return (json.dumps(document, indent=4, ensure_ascii=False) + "\n").encode()


def _targets() -> dict[str, Target]:
    """Targets by codename."""
    return {t.felics: t for t in map(load_target, target_names()) if t.felics}
