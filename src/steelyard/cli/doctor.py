"""``steelyard doctor``: what is here, what is missing, and the line that fixes it."""

from __future__ import annotations

import shutil
import sys

from ..build import identify
from ..build.sandbox import available
from ..model import paths
from ..model.target import load_target, target_names
from .console import print_json, stdout, table


def doctor_command(json: bool) -> int:
    """Prints the state of the installation; 0 when nothing that a run needs is missing."""
    rows: list[tuple[str, str, str, str]] = []
    seen: set[str] = set()
    for name in target_names():
        spec = load_target(name).toolchain
        if spec.name in seen:
            continue
        seen.add(spec.name)
        users = ", ".join(n for n in target_names() if load_target(n).toolchain.name == spec.name)
        found = identify(spec)
        fix = "" if found else spec.fix
        use = f"targets {users}" if spec.packages else f"optional: targets {users}"
        rows.append((spec.name, found.version if found else "missing", use, fix))
    sandbox = available()
    fix = "" if sandbox else ("apt install bubblewrap" if shutil.which("bwrap") is None else "allow user namespaces")
    rows.append(("bubblewrap", "works" if sandbox else "missing", "compiles packages in a sandbox", fix))
    vendor = paths.CIPHERS / "deps" / "vendor"
    fetched = vendor.is_dir() and any(vendor.iterdir())
    rows.append(("mbedTLS", "fetched" if fetched else "missing", "AES-GCM reference", "" if fetched else "make deps"))
    oracles = (
        ("simavr", "AVR", "simavr"),
        ("qemu-system-arm", "ARM", "qemu-system-arm"),
        ("qemu-system-riscv32", "RISC-V", "qemu-system-misc"),
        ("qemu-system-xtensa", "Xtensa", "qemu-system-misc"),
        ("mspdebug", "MSP430", "mspdebug"),
    )
    for tool, use, package in oracles:
        there = shutil.which(tool) is not None
        rows.append(
            (
                tool,
                "found" if there else "missing",
                f"oracle of make test, {use}",
                "" if there else f"apt install {package}",
            )
        )
    rows.append(("Python", sys.version.split()[0], "runs Steelyard", ""))
    if json:
        print_json([dict(zip(("part", "state", "for", "fix"), r, strict=True)) for r in rows])
    else:
        stdout().print(
            table("", ("part", "state", "for", "what fixes it"), rows, left=4, wrap=("state", "for", "what fixes it"))
        )
    return 1 if any(r[1] == "missing" and r[2].startswith("targets") for r in rows) else 0
