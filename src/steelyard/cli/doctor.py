"""``steelyard doctor``: what is here, what is missing, and the line that fixes it."""

from __future__ import annotations

import grp
import os
import sys
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from msgspec import Struct

from .. import device
from ..building import identify, why_not
from ..building.sandbox import available
from ..lab import plugs
from ..lab.config import flashers
from ..lab.metering import kinds
from ..model import paths
from ..model.call import DeviceError
from ..model.row import grouped
from ..model.target import Target, ToolchainSpec, load_target, target_names
from ..publish.sheet import plain
from ..rtl import tools
from . import options, select
from .options import command
from .output import Output

Part = tuple[str, str, str, str]
NOT_PACKAGED = "missing, and no Debian package"

#: programs that tests hold Steelyard against or that boards are used with: what for, and their packages
_OPTIONAL = (
    ("simavr", "oracle of make test, AVR", "simavr"),
    ("qemu-system-arm", "oracle of make test, ARM", "qemu-system-arm"),
    ("qemu-system-riscv32", "oracle of make test, RISC-V", "qemu-system-misc"),
    ("qemu-system-xtensa", "oracle of make test, Xtensa", "qemu-system-misc"),
    ("mspdebug", "oracle of make test, MSP430; boards, flashing and RAM", "mspdebug"),
    ("qemu-aarch64", "oracle of make test, the path to a machine over ssh", "qemu-user"),
    ("sigrok-cli", "boards, pulses and power", "sigrok-cli"),
    ("ssh", "boards and targets at other machines", "openssh-client"),
)


class Doctor(Struct, frozen=True):
    """What ``doctor`` is asked."""

    out: Output


@command(Doctor, options.tables)
def verb(ask: Doctor) -> int:
    """Say what is installed, what is missing, and the line that fixes it."""
    rows = [*_home(), *_toolchains(), *_machines()]
    sandbox = available()
    fix = "" if sandbox else ("apt install bubblewrap" if paths.tool("bwrap") is None else "allow user namespaces")
    rows.append(("bubblewrap", "works" if sandbox else "missing", "compiles packages in a sandbox", fix))
    vendor = paths.CIPHERS / "deps" / "vendor"
    fetched = vendor.is_dir() and any(vendor.iterdir())
    rows.append(("mbedTLS", "fetched" if fetched else "missing", "AES-GCM reference", "" if fetched else "make deps"))
    for tool, use, package in _OPTIONAL:
        there = paths.tool(tool) is not None
        fix = "" if there else f"apt install {package}"
        rows.append((tool, "found" if there else "missing", f"optional: {use}", fix))
    parts = [(f.program, f.title, f.package, paths.tool(f.program) is not None) for f in flashers().values()]
    parts += [(k.library or k.program, f"power by {k.title}", k.package, not k.missing) for k in kinds().values()]
    for part, users in grouped(parts, itemgetter(0)).items():
        if part and part not in {tool for tool, *_ in _OPTIONAL}:
            _, _, package, there = users[0]
            use = f"optional: boards, {'; '.join(title for _, title, *_ in users)}"
            rows.append((part, "found" if there else "missing", use, "" if there else package))
    for t in tools.TOOLS.values():
        if t.spares and tools.identify(t.spares) is not None:
            continue
        found = tools.identify(t.name)
        state = found.version if found else "missing" if tools.program(t.name) is None else "does not work"
        rows.append((t.name, state, f"optional: hardware, {t.use}", "" if found else t.fix))
    rows += _plugs()
    rows.append(("Python", sys.version.split()[0], "runs Steelyard", ""))
    heads = ("part", "status", "for", "what fixes it")
    document = [dict(zip(("part", "status", "for", "fix"), r, strict=True)) for r in rows]
    ask.out.give([plain("", "doctor", heads, rows)], document)
    lacking = (r[1].startswith(("missing", "does not work")) and r[2].startswith(("target", "cache")) for r in rows)
    return 1 if any(lacking) else 0


def _home() -> list[Part]:
    """What is wrong with the folder of everything that is kept; nothing where it is there, or could be made."""
    why = select.wrong_home()
    return [(str(paths.home()), f"does not work: {why}", "cache and default database", select.OTHER_HOME)] * bool(why)


def _plugs() -> list[Part]:
    """Whether this user may use what boards are plugged in by, and what their instruments load."""
    rows: list[Part] = []
    groups = {g.gr_name: g.gr_gid for g in grp.getgrall() if g.gr_name in plugs.GROUPS}
    name = next((n for n in plugs.GROUPS if n in groups), plugs.GROUPS[0])
    may = os.geteuid() == 0 or groups.get(name) in (os.getegid(), *os.getgroups())
    fix = "" if may else plugs.joining(name)
    rows.append(("serial ports", "allowed" if may else "refused", "optional: boards", fix))
    for file, what, package in plugs.RULES:
        there = any((folder / file).exists() for folder in plugs.RULES_IN)
        use = f"optional: boards, udev's rule for {what}"
        rows.append((file, "found" if there else "missing", use, "" if there else package))
    for driver in plugs.FIRMWARE:
        fix = plugs.without_firmware(driver)
        use = f"optional: boards, firmware of logic analyzers that sigrok's {driver} reads"
        rows.append((driver, "missing" if fix else "found", use, fix))
    return rows


def _toolchains() -> list[Part]:
    rows: list[Part] = []
    users = grouped(map(load_target, target_names()), lambda t: t.toolchain.name)
    for name, targets in users.items():
        spec = targets[0].toolchain
        needed = spec.packages and not all(t.opt_in for t in targets)
        use = f"{'' if needed else 'optional: '}{_named(targets)}"
        state = _state(spec)
        rows.append((name, state, use, spec.fix if state.startswith("missing") else why_not(spec)))
        for t in targets:
            if t.preferred:
                use = f"optional: target {t.name}, until then {name} stands in"
                rows.append((t.preferred.name, NOT_PACKAGED, use, t.preferred.fix))
    for target in map(load_target, target_names()):
        for spec in target.alternative:
            use = f"optional: target {target.name} with --toolchain {spec.name}"
            rows.append((spec.name, _state(spec), use, "" if identify(spec) else spec.fix))
    return rows


def _named(targets: Sequence[Target]) -> str:
    return f"target{'s' if len(targets) > 1 else ''} {', '.join(t.name for t in targets)}"


def _state(spec: ToolchainSpec) -> str:
    """A compiler's version, or how it is missing."""
    if found := identify(spec):
        return found.version
    if paths.compiler(spec.compiler):
        return "does not work"
    return "missing" if spec.packages else NOT_PACKAGED


def _machines() -> list[Part]:
    rows: list[Part] = []
    for target in map(load_target, target_names()):
        if target.device == "process":
            state, fix = _counters()
            rows.append(("kernel's counters", state, f"optional: core cycles for target {target.name}", fix))
        if target.device == "ssh":
            state, fix = _remote(target)
            rows.append((target.host_variable, state, f"optional: target {target.name}", fix))
    return rows


def _counters() -> tuple[str, str]:
    """Whether the kernel lets programs count their own cycles, as far as its files say."""
    try:
        level = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    except (OSError, ValueError):
        return "missing", "a Linux kernel with perf events; until then another counter is read"
    if not any(p.name.startswith(("cpu", "armv8")) for p in Path("/sys/bus/event_source/devices").glob("*")):
        return "missing", "none in this processor, or hidden by a virtual machine; another counter is read"
    if level > 2:
        return "refused", "sysctl kernel.perf_event_paranoid=2"
    return "allowed", ""


def _remote(target: Target) -> tuple[str, str]:
    if not os.environ.get(target.host_variable):
        return "not set", f"export {target.host_variable}=<what ssh calls the machine>"
    try:
        there = device.ask(target)
    except DeviceError as e:
        return "no answer", e.failure.detail
    if not there.real:
        return "emulated", f"a machine whose uname -m is {target.architecture}"
    return f"{device.host_of(target)}: {there.describe(0)}", ""
