"""VHDL as GHDL itself simulates it: what the Verilog that is made of it is held against, and all there is where only
an older GHDL is installed."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..model.paths import ROOT
from ..model.reasons import MACHINE, Failure, Reason
from . import bench, tools, vhdl
from .bench import Outcome
from .design import Design
from .streams import Stream
from .tools import ToolError

BENCH = ROOT / "rtl" / "bench" / "bench.vhd"
#: the tools that simulate VHDL, the best first
SIMULATORS = ("ghdl-5", "ghdl")
#: cycles of the operations that are compared, of which GHDL makes some thousands in a second, and most of one
_CYCLES, _LONG = 30_000, 2_000
_TOP, _DUT = "steelyard_bench", "steelyard_dut.vhd"
_OUTCOMES = {"wrong", "hang", "early", "extra"}
#: in VHDL: files, among which are the bench's answers, code of other languages, and names of the bench's own signals
_BEYOND = re.compile(r"\b(?:file|foreign)\b|<<", re.IGNORECASE)


def simulator() -> str | None:
    """The GHDL that simulates."""
    return next((n for n in SIMULATORS if tools.identify(n) is not None), None)


def serves(design: Design) -> bool:
    """Whether a GHDL is here that simulates the design, which is of VHDL alone and has one share of each word."""
    return design.languages == {"vhdl"} and design.pdi_shares == design.sdi_shares == 1 and simulator() is not None


def beyond(design: Design) -> str:
    """The first place where the VHDL has what could write answers of its own into the bench's file, empty where there
    is none. Words of comments at the end of a line that has a string are taken for code."""
    for f in design.files:
        text = f.read_text(encoding="latin-1")
        for number, line in enumerate(text.splitlines(), 1):
            at = line.find("--")
            comment = at >= 0 and "/*" not in text and not any(c in line[:at] for c in "\"'\\")
            if found := _BEYOND.search(line[:at] if comment else line):
                return f"{f.name}:{number}: {found[0]}"
    return ""


def build(design: Design, work: Path) -> None:
    """Analyses a design that GHDL :func:`serves`, and the test bench in ``work``. Raises :class:`ToolError`."""
    own = bench.own(design)
    names = bench.copied(own, work)
    work = work / bench.AT
    (work / _DUT).write_text(wrapper(design))
    shutil.copyfile(BENCH, work / BENCH.name)
    try:
        vhdl.analysed(tool(), design, _TOP, [*names, _DUT, BENCH.name], work, [])
    except ToolError as e:
        raise bench.refused(e, own) from e


def tool() -> str:
    """The name of the GHDL that simulates, or of the one that would."""
    return simulator() or SIMULATORS[0]


def wrapper(design: Design) -> str:
    """An entity with the names of the API's ports around the design. Its other inputs are 0, or the first value of
    their type, random bits too, which are always there; values of generics may need what the design's entity uses."""
    reset = "rst" if design.reset_active else "not_rst"
    generics = ", ".join(f"{k} => {written}" for k, (_, written) in vhdl.generics_of(design).items())
    data = [f"{p}_{w}" for p in ("pdi", "sdi", "do") for w in ("data", "valid", "ready")]
    known = {design.clock.lower(), design.reset.lower(), *data}
    inputs = {p: of for p, of in vhdl.inputs_of(design).items() if p not in known}
    firsts = {p: f"steelyard_{k}" for k, (p, of) in enumerate(inputs.items()) if of.subtype}
    zeros = {p: of.zero for p, of in inputs.items()} | firsts
    if "rdi_valid" in zeros:
        zeros["rdi_valid"] = "'1'"
    others = [f"{p} => {zero}" for p, zero in zeros.items()]
    words = vhdl.words_of(design)

    def tied(port: str) -> str:
        """To VHDL-93 words of other types are others, though they have as many bits."""
        kind = words.get(port, "")
        if port not in words or kind.endswith("std_logic_vector"):
            return f"{port} => {port}"
        return f"std_logic_vector({port}) => {port}" if port == "do_data" else f"{port} => {kind}({port})"

    signals = "".join(f"\n  signal {name} : {inputs[p].subtype};" for p, name in firsts.items())
    ports = ", ".join([f"{design.clock} => clk", f"{design.reset} => {reset}", *map(tied, data), *others])
    return f"""library ieee;
use ieee.std_logic_1164.all;
{vhdl.context_of(design)}
entity steelyard_dut is
  generic (W : positive);
  port (
    clk, rst : in std_logic;
    pdi_data, sdi_data : in std_logic_vector(W - 1 downto 0);
    pdi_valid, sdi_valid, do_ready : in std_logic;
    do_data : out std_logic_vector(W - 1 downto 0);
    pdi_ready, sdi_ready, do_valid : out std_logic
  );
end entity;

architecture wrapped of steelyard_dut is
  signal not_rst : std_logic;{signals}
begin
  not_rst <= not rst;
  top : entity work.{design.top}
    {f"generic map ({generics})" if generics else ""}
    port map ({ports});
end architecture;
"""


def run(design: Design, work: Path, streams: Sequence[Stream], modes: Sequence[str]) -> list[Outcome]:
    """What the bench that :func:`build` made says of streams in each mode, as :func:`.bench.run` does. Raises
    :class:`ToolError`."""
    return [_mode(design, work, streams, mode) for mode in modes]


def _mode(design: Design, work: Path, streams: Sequence[Stream], mode: str) -> Outcome:
    parts = [[s] for s in streams] if mode in ("single", "reset") else [list(streams)]
    if mode == "reset":
        parts = [p for p in parts if not p[0].reuse]
    work = work / bench.AT
    (work / "vectors.txt").write_text("".join(_written(p, design.width, reset=mode == "reset") for p in parts))
    most = max(sum(map(len, of)) for p in parts for of in ([s.pdi for s in p], [s.sdi for s in p], [s.out for s in p]))
    how = mode if mode in ("stall", "withdraw") else "full"
    given = {"W": design.width, "MODE": how, "IDLE": bench.IDLE, "MOST": max(1, most)}
    generics = [f"-g{k}={v}" for k, v in given.items()]
    asserts = "--ieee-asserts=disable"
    tools.run(tool(), ["-r", *vhdl.options(design), _TOP, *generics, asserts], work)
    answers = [line.split() for line in (work / "answers.txt").read_text().splitlines()]
    each = tuple(int(a[1]) for a in answers if a[0] == "ok")
    words = sum(len(s.out) for s in streams)
    if len(each) == len(parts):
        return Outcome(mode, "ok", len(streams), sum(each), words, 0, each=each)
    if not answers or answers[-1][0] not in _OUTCOMES:
        raise ToolError(Failure(Reason.RTL_ERROR, f"GHDL ended after {len(each)} of {len(parts)} parts, mode {mode}"))
    what, number, got = (*answers[-1], "")[:3]
    part = parts[len(each)]
    owner, word = _owner(part, int(number))
    expected = owner.out[word] if word < len(owner.out) else ""
    digits = _digits(got) if got else "GHDL"
    return Outcome(mode, what, len(streams), sum(each), words, 0, owner.name, word, expected, digits)


def _owner(part: Sequence[Stream], word: int) -> tuple[Stream, int]:
    """The operation that a word of do is of, and its number there."""
    for s in part[:-1]:
        if word < len(s.out):
            return s, word
        word -= len(s.out)
    return part[-1], word


def _digits(bits: str) -> str:
    """Bits as digits; one with an unknown bit is x."""
    parts = [bits[k : k + 4] for k in range(0, len(bits), 4)]
    return "".join("x" if "x" in p else f"{int(p, 2):x}" for p in parts)


def _written(part: Sequence[Stream], width: int, *, reset: bool) -> str:
    """Streams as bench.vhd reads them."""
    lines = [f"{kind} {_bits(w)}" for s in part for kind, ws in (("s", s.sdi), ("p", s.pdi), ("d", s.out)) for w in ws]
    if reset:
        words = sum(len(s.pdi) + len(s.out) for s in part)
        lines.append(f"r {random.Random(part[0].name).randint(1, 4 * words)}")
    return "\n".join([*lines, "e", ""])


def _bits(word: str) -> str:
    return "".join("----" if digit == "x" else f"{int(digit, 16):04b}" for digit in word)


def few(streams: Sequence[Stream], cycles: Sequence[int]) -> list[int]:
    """Which operations GHDL is fast enough for, the first of those that are not long; one with a key that is there
    only where that which brings it is among them."""
    made: list[int] = []
    total, brought = 0, False
    for k, (s, n) in enumerate(zip(streams, cycles, strict=True)):
        takes = (brought or not s.reuse) and n <= _LONG and total + n <= _CYCLES
        if takes:
            made.append(k)
            total += n
        if s.sdi:
            brought = takes
    return made


def second_opinion(design: Design, work: Path, theirs: Path, streams: Sequence[Stream]) -> str:
    """What GHDL says of the VHDL where Verilator made the bench in ``theirs`` of its Verilog, as a sentence; empty
    where no GHDL :func:`serves`. A design that GHDL's bench cannot have is not wrong for that. Raises
    :class:`ToolError` for what is this machine's fault."""
    if not serves(design):
        return ""
    if found := beyond(design):
        return f"not simulated by GHDL besides, as no circuit has this: {found}"
    try:
        return _compared(design, work, theirs, streams)
    except ToolError as e:
        if e.failure.reason in MACHINE:
            raise
        return f"not simulated by GHDL besides: {e.failure.detail}"


def _compared(design: Design, work: Path, theirs: Path, streams: Sequence[Stream]) -> str:
    """Gives the same operations to both: words and cycles have to be the same, or the first difference is named."""
    (verilator,) = bench.run(theirs, streams, ("single",))
    cycles = verilator.each or [len(s.pdi) + len(s.out) for s in streams]
    at = few(streams, cycles)
    some = [streams[k] for k in at]
    build(design, work)
    (ghdl,) = run(design, work, some, ("single",))
    if verilator.failure:
        (verilator,) = bench.run(theirs, some, ("single",))
    differs = "GHDL's simulation of the VHDL differs: "
    if ghdl.failure or verilator.failure:
        said = [o.failure.detail if o.failure else "right" for o in (ghdl, verilator)]
        if said[0] != said[1]:
            return f"{differs}GHDL: {said[0]}; Verilator: {said[1]}"
        return f"GHDL's simulation of the VHDL is the same in {len(some)} operations, one at a time"
    for k, theirs_, ours in zip(at, ghdl.each, (cycles[k] for k in at), strict=True):
        if theirs_ != ours:
            return f"{differs}{streams[k].name} takes {theirs_} cycles in GHDL, {ours} in Verilator"
    return f"GHDL gives the same words in the same cycles in {len(some)} operations"
