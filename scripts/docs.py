"""Fills documents with real output: each ``<!-- output: COMMAND -->`` block holds what the command prints.

usage: scripts/docs.py [--check]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- output: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def output(command: str) -> str:
    """The output of a steelyard command with an empty store, as an indented block."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"STEELYARD_HOME": os.environ.get("STEELYARD_HOME", home), "COLUMNS": "200"}
        words = [sys.executable, "-m", *command.split()]
        if "run" in words:
            words += ["--db", str(Path(home) / "docs.db"), "-j", "1"]  # runs are numbered in order
        text = subprocess.run(words, env=environment, capture_output=True, text=True, check=False).stdout
    return "".join(f"    {line}".rstrip() + "\n" for line in text.rstrip().splitlines())


def filled(text: str) -> str:
    """A document with all its blocks updated."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{output(m[2])}\n{m[3]}", text)


def documents() -> list[Path]:
    """Documents that contain blocks."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [f for f in files if BLOCK.search(f.read_text(encoding="utf-8"))]


def main() -> int:
    """Rewrites the documents, or with ``--check`` says which are out of date."""
    stale = []
    for file in documents():
        old = file.read_text(encoding="utf-8")
        new = filled(old)
        if new != old:
            stale.append(str(file.relative_to(ROOT)))
            if "--check" not in sys.argv:
                file.write_text(new, encoding="utf-8")
    print("\n".join(stale) or "documents are up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
