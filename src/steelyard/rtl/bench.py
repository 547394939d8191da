"""The test bench: a design or a netlist of it becomes a program, which is given streams and says what came of them."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from ..model.paths import ROOT
from ..model.reasons import Failure, Reason
from . import tools
from .design import Design
from .streams import FAILURE, Stream, written
from .tools import ToolError

#: the test bench: ``bench.cpp`` and its headers
BENCH = sorted((ROOT / "rtl" / "bench").glob("bench*.[ch]*"))
#: all but ``single`` and ``toggles``, which are for figures
MODES = ("full", "stall", "withdraw", "reset")
#: cycles without a word on any port that are a hang
IDLE = 100_000
#: ports of the API, and whether they come out
_PORTS = {
    "pdi_data": False, "pdi_valid": False, "pdi_ready": True, "sdi_data": False, "sdi_valid": False,
    "sdi_ready": True, "do_data": True, "do_valid": True, "do_ready": False,
}  # fmt: skip
_RANDOM = {"rdi_data": False, "rdi_valid": False, "rdi_ready": True}
#: all ports of the API but clock and reset
API = (*_PORTS, *_RANDOM)
#: its inputs, which are not 0 in an operation
INPUTS = tuple(p for p, out in (_PORTS | _RANDOM).items() if not out)
#: bits of rdi_data that bench.cpp has
_MOST_RANDOM = 2048
#: the folder that has all that is of a design, and nothing else: tools start there, and write beside it
AT = "design"
#: its folder of included files, by the names that sources include them by; no source can name it
HEADERS = "inc~"
#: the folder that is all that a simulation may write to
ROOM = "room"
#: what ``verilator -E`` makes of the sources
PREPROCESSED = "preprocessed.sv"
#: how the bench is compiled: it says itself what becomes of a design that ends the simulation
_FLAGS = "-I.. -std=c++17 -w -DVL_USER_FINISH -DVL_USER_STOP -DVL_USER_FATAL -DVL_USER_WARN"
#: system tasks and functions by which a source only computes, prints or checks. Others open files, start programs, or
#: have C in them
_HARMLESS = re.compile(
    r"(display|strobe|monitor|s?write)[bho]?|sformatf?|monitoro(n|ff)|info|warning|error|fatal|finish|stop|exit"
    r"|assert(on|off|kill|control)|s?time|realtime|timeformat|printtimescale|u?random|urandom_range"
    r"|(test|value)\$plusargs|readmem[bh]|dump(file|vars|on|off|all|limit|flush)"
    r"|(un)?signed|clog2|bits|size|high|low|left|right|increment|(unpacked_)?dimensions|typename|cast"
    r"|isunbounded|unit|root|count(bits|ones)|onehot0?|isunknown|sampled|past|rose"
    r"|fell|stable|changed|rtoi|itor|(short)?realtobits|bitsto(short)?real|ceil|floor|pow|sqrt|ln|log10|exp"
    r"|a?(sin|cos|tan)h?|setup|hold|setuphold|recovery|removal|recrem|(time|full)?skew|width|period|nochange"
)
#: in preprocessed sources: functions of C, C itself, what would be preprocessed once more, an event that an assignment
#: waits for, which Verilator would skip as it does a delay, strings that it may end elsewhere (it drops the lines of
#: some directives, and has longer quotes), and tasks; then what may only look like one
_WORDS = re.compile(
    r'(?P<foreign>"DPI(?:-C)?"|`(?:systemc_|verilator_config|include|define|undef|ifn?def|els|endif)\w*'
    r'|=\s*(?:repeat\s*\([^;]*\)\s*)?@|"""|`[a-z_]\w*[^\n]*\\\n)'
    r"|\$(?P<task>[A-Za-z_][\w$]*)"
    r'|"(?:[^"\\\n]|\\.)*"|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|//[^\n]*|\\[^ \t\f\r\n]+',
    re.ASCII | re.DOTALL,  # other blanks and letters are none to Verilator
)
#: what Verilator says of ports, and characters that it has there out of sources, though XML has none of them
XML = "ports.xml"
_NO_XML = re.compile(rb"&#(?:x[01]?[0-9A-Fa-f]|[12]?[0-9]|3[01]);|[\x00-\x08\x0b\x0c\x0e-\x1f]")
#: warnings of Verilator that are about style, not about what a circuit does
_STYLE = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-MULTIDRIVEN", "-Wno-TIMESCALEMOD")


class Outcome(Struct, frozen=True):
    """What a mode came to: ``ok``, or ``wrong``, ``hang``, ``early``, ``extra`` or ``ended`` at a ``word`` of an
    operation. ``each`` are the cycles of every operation, of mode ``single``, ``toggles`` the bits that changed in it,
    of mode ``toggles``. ``unstable`` counts words that changed while they waited for do_ready."""

    mode: str
    outcome: str
    ops: int
    cycles: int
    words: int
    unstable: int
    op: str = ""
    word: int = 0
    expected: str = ""
    got: str = ""
    at: int = 0
    each: tuple[int, ...] = ()
    toggles: tuple[int, ...] = ()

    @property
    def filled(self) -> bool:
        """Whether the word that came is the expected one, but for bytes at its end that should be zero."""
        used = re.sub("(00)+$", "", self.expected)
        return self.outcome == "wrong" and used != self.expected and self.got.startswith(used)

    @property
    def accepted(self) -> bool:
        """Whether a forgery was taken for right, which nothing that a design may lack explains."""
        return self.outcome == "wrong" and "-forged-" in self.op and self.expected[:1] == f"{FAILURE:x}"

    @property
    def failure(self) -> Failure | None:
        """Why a design that came to this has no figures."""
        where = f"mode {self.mode}, {self.op}"
        match self.outcome:
            case "ok":
                return None
            case "wrong":
                text = f"{where}: word {self.word} of do is {self.got} instead of {self.expected}"
                return Failure(Reason.WRONG_WORD, text)
            case "hang":
                text = f"{where}: no word moves for {IDLE} cycles before word {self.word} of do ({self.got})"
                return Failure(Reason.HANG, text)
            case "ended" if self.got.startswith("$readmem"):
                text = f"{self.got}, a file of the design's folder that sources name by a text"
                return Failure(Reason.MISSING_FILE, text)
            case "ended":
                return Failure(Reason.SIMULATOR_ONLY, f"{where}: the design ends the simulation, by {self.got}")
            case "early":
                return Failure(Reason.WRONG_WORD, f"{where}: all of do comes before all of pdi and sdi is taken")
            case _:
                return Failure(Reason.WRONG_WORD, f"{where}: do has {self.got} after the status")


class Netlist(Struct, frozen=True):
    """What is simulated: a design's own Verilog, or what a tool made of it, with models of its cells. ``headers`` are
    the files that it includes, and ``data`` those that it reads memories from, by the names that it has for them."""

    top: str
    files: tuple[Path, ...]
    parameters: tuple[tuple[str, int | str], ...] = ()
    defines: tuple[str, ...] = ()
    headers: tuple[tuple[str, Path], ...] = ()
    clock: str = "clk"
    data: tuple[tuple[str, Path], ...] = ()


def own(design: Design) -> Netlist:
    """The design's own Verilog."""
    return Netlist(
        design.top, design.files, design.parameters, design.defines, design.headers, design.clock, design.data
    )


def names(n: Netlist) -> dict[str, str]:
    """What the files are called where tools see them, in order, with their own names. Two files may have one name, and
    a name may mean something to a tool's script."""
    return {f"src/{k:03d}_{re.sub(r'[^A-Za-z0-9_.-]', '_', f.name)}": f.name for k, f in enumerate(n.files)}


def copied(n: Netlist, work: Path) -> list[str]:
    """Copies the files into ``AT`` of ``work``, where tools see them, and returns their names there."""
    folder = work / AT
    (folder / "src").mkdir(parents=True, exist_ok=True)
    for name, f in zip(names(n), n.files, strict=True):
        shutil.copyfile(f, folder / name)
    for name, f in n.headers:
        at = folder / HEADERS / name
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(f, at)
    _with_data(n, folder)
    return list(names(n))


def _with_data(n: Netlist, folder: Path) -> None:
    """Copies the files that memories are read from into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, f in n.data:
        at = folder / name
        if not at.exists():  # no file of a design is in place of another
            at.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(f, at)


def options(n: Netlist) -> list[str]:
    """Verilator's options for top and parameters. Delays are no part of a circuit, so they are left out, as in
    synthesis; Verilator refuses whatever else waits."""
    return ["--no-timing", "--top-module", n.top, *(f"-G{k}={_value(v)}" for k, v in n.parameters)]


def preprocessed(n: Netlist, work: Path) -> list[str]:
    """Puts the preprocessed sources alone into ``AT`` of ``work``, and returns their names there. Verilator takes a
    module that no source has from any file that it finds by its name: so there is none but what was looked through.
    Raises :class:`ToolError` where the sources cannot be read, or are no circuit."""
    given = [*(f"-D{d}" for d in n.defines), *[f"+incdir+{HEADERS}"] * bool(n.headers)]
    copies = copied(n, work)
    try:
        tools.run("verilator", ["-E", *_STYLE, *given, *options(n), *copies], work, at=AT, to=PREPROCESSED)
        text = tools.wrote(work / PREPROCESSED).decode("latin-1")  # by which bytes stay what they are
    except ToolError as e:
        raise refused(e, n) from e
    finally:
        shutil.rmtree(work / AT)
    (work / AT / "src").mkdir(parents=True)
    for name, part in zip(copies, _parted(text, copies), strict=True):
        if failure := simulator_only(part, n):
            raise ToolError(failure)
        (work / AT / name).write_bytes(part.encode("latin-1"))
    return copies


def _parted(text: str, copies: Sequence[str]) -> list[str]:
    """Preprocessed text by the sources that it is of: for Verilator a `default_nettype ends with its file."""
    parts = []
    for name in copies[1:]:
        before, begin, text = text.partition(f'`line 1 "{name}" 1\n')
        parts.append(before)
        text = begin + text
    return [*parts, text]


def _value(value: int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else number(value)


def number(value: int) -> str:
    """A whole number as all tools read it alike: without its size Verilator cuts it to 32 bits with a sign, and slang
    refuses one that has more."""
    return f"{value.bit_length()}'d{value}" if value >> 31 > 0 else str(int(value))


def lint(n: Netlist, work: Path) -> str:
    """What Verilator says about the design, with its warnings but those of names, as the files are copies. Raises
    :class:`ToolError` when it cannot be read."""
    copies = preprocessed(n, work)
    try:
        return tools.run(
            "verilator", ["--lint-only", "-Wno-fatal", "-Wall", "-Wno-DECLFILENAME", *options(n), *copies], work, at=AT
        )
    except ToolError as e:
        raise refused(e, n) from e


def own_names(text: str, n: Netlist) -> str:
    """The text with the sources' names as the design has them."""
    for made, name in names(n).items():
        text = text.replace(made, name)
    return text


def refused(error: ToolError, n: Netlist) -> ToolError:
    """The error with the reason that it is of, and the design's own names of files."""
    text = own_names(error.failure.detail, n)
    reason = error.failure.reason
    if re.search(r"(?i)cannot find include file", text):
        text += '; a header is found where it is named plainly: `include "NAME" or `define WORD "NAME", without ".."'
    if reason is Reason.COMPILE_ERROR:
        wrong_top = re.search(r"(?i)specified top.module .* not found|module .* not found", error.log)
        absent = re.search(r"(?i)cannot find (include )?file|Can't resolve module", error.log)
        reason = Reason.WRONG_TOP if wrong_top else Reason.MISSING_FILE if absent else Reason.RTL_ERROR
    return ToolError(Failure(reason, text), error.log)


def ports(n: Netlist, work: Path) -> dict[str, tuple[bool, int]]:
    """The top's ports: whether they come out, and their bits. Raises :class:`ToolError`."""
    copies = preprocessed(n, work)
    try:
        tools.run("verilator", ["--xml-only", "--xml-output", f"../{XML}", *_STYLE, *options(n), *copies], work, at=AT)
    except ToolError as e:
        raise refused(e, n) from e
    return told(n, work)


def told(n: Netlist, work: Path) -> dict[str, tuple[bool, int]]:
    """The ports that :func:`ports` left in ``work``. Raises :class:`ToolError` where it is no XML."""
    try:
        tree = ElementTree.fromstring(_NO_XML.sub(b"?", tools.wrote(work / XML)))
    except ElementTree.ParseError as e:
        raise ToolError(Failure(Reason.RTL_ERROR, f"what Verilator says of ports cannot be read: {e}")) from e
    types = {t.get("id"): t for t in tree.iter() if t.tag.endswith("dtype")}
    modules = [m for m in tree.iter("module") if m.get("topModule") == "1" or m.get("name") == n.top]
    found = {}
    for var in modules[0] if modules else ():
        if var.tag == "var" and (direction := var.get("dir")):
            found[str(var.get("name"))] = (direction == "output", _bits(types.get(var.get("dtype_id")), types))
    return found


def _bits(kind: ElementTree.Element | None, types: dict[str | None, ElementTree.Element]) -> int:
    """Bits of a type, which may be a name of another."""
    if kind is None:
        return 1
    if kind.get("left") is not None:
        return abs(int(str(kind.get("left"))) - int(str(kind.get("right")))) + 1
    if sub := kind.get("sub_dtype_id"):
        return _bits(types.get(sub), types)
    return 1


def refused_ports(design: Design, found: dict[str, tuple[bool, int]]) -> Failure | None:
    """Why the ports are not those of the API at the design's width."""
    random = _RANDOM if "rdi_data" in found else {}
    wanted = {design.clock: False, design.reset: False, **_PORTS, **random}
    if absent := [p for p in wanted if p not in found]:
        text = f"{design.top} has no port {', '.join(absent)}; it has {', '.join(found) or 'none'}"
        return Failure(Reason.OTHER_PORTS, text)
    if turned := [p for p, out in wanted.items() if found[p][0] != out]:
        return Failure(Reason.OTHER_PORTS, f"{', '.join(turned)} goes the other way than the API has it")
    for port, shares in (
        ("pdi_data", design.pdi_shares),
        ("sdi_data", design.sdi_shares),
        ("do_data", design.pdi_shares),
    ):
        if (bits := found[port][1]) != design.width * shares:
            text = f"{port} has {bits} bits, not {design.width}" + (f" in each of {shares} shares" * (shares > 1))
            text += "; where these are not right, name lwc.ports.pdi.bit_width in a variant's TOML, or w in design.toml"
            return Failure(Reason.OTHER_PORTS, text)
    if random and (bits := found["rdi_data"][1]) > _MOST_RANDOM:
        return Failure(Reason.OTHER_PORTS, f"rdi_data has {bits} bits; the test bench has {_MOST_RANDOM}")
    return None


def beside(design: Design, found: dict[str, tuple[bool, int]]) -> list[str]:
    """The inputs of which the API knows nothing."""
    known = {design.clock, design.reset, *API}
    return [p for p, (out, _) in found.items() if not out and p not in known]


def header(design: Design, found: dict[str, tuple[bool, int]]) -> str:
    """``ports.h``: what bench.cpp has to know of the design."""
    random = found["rdi_data"][1] if "rdi_data" in found else 0
    values: dict[str, object] = {
        "SY_W": design.width, "SY_PDI_SHARES": design.pdi_shares, "SY_SDI_SHARES": design.sdi_shares,
        "SY_RW": random, "SY_CLK": design.clock, "SY_RST": design.reset, "SY_RST_ACTIVE": design.reset_active,
        **{f"SY_{p.upper()}": p for p in API},
    }  # fmt: skip
    lines = [f"#define {name} {value}" for name, value in values.items()]
    return "\n".join(['#include "Vdesign.h"', "using Model = Vdesign;", *lines, ""])


def build(design: Design, n: Netlist, work: Path, *, trace: int = 0, optimised: str = "-O2") -> str:
    """Compiles the test bench with a design or netlist, to ``work/obj/bench``, with ``trace`` levels of its modules
    traced. What is ``optimised`` with -O0 is there in half the time, and takes twice as long for a cycle. Returns why
    the simulation may be wrong though the design is right, empty where nothing says so. Raises :class:`ToolError` with
    a reason when that cannot be."""
    found = ports(n, work)
    if failure := refused_ports(design, found):
        raise ToolError(failure)
    (work / "ports.h").write_text(header(design, found))
    for file in BENCH:
        shutil.copyfile(file, work / file.name)
    copies = list(names(n))
    # a traced parameter with an x ends Verilator 5.006
    more = ["--trace", "--trace-underscore", "--no-trace-params", "--trace-depth", str(trace)] if trace else []
    # few files, as each reads the same headers again
    other, size = ("-O0", "100000") if optimised == "-O0" else ("-O1", "20000")
    try:
        said = tools.run(
            "verilator",
            [
                "--cc", "--exe", "--build", "-O3", "--x-assign", "unique", "--x-initial", "unique", "--noassert",
                "--prefix", "Vdesign", "--Mdir", "../obj", "-o", "bench", "-CFLAGS", _FLAGS, *_STYLE,
                "-Wwarn-UNOPTFLAT", "--output-split", size,
                "-MAKEFLAGS", f"OPT_FAST={optimised} OPT_SLOW=-O0 OPT_GLOBAL={other}", *more, *options(n),
                *copies, "../bench.cpp",
            ],
            work,
            at=AT,
        )  # fmt: skip
    except ToolError as e:
        raise refused(e, n) from e
    _with_data(n, work / ROOM / AT)
    return in_doubt(said, n)


def simulator_only(text: str, n: Netlist) -> Failure | None:
    """Why a preprocessed source is no circuit: it would do with a simulator, or with its answers, what none can."""
    for found in _WORDS.finditer(text):
        if found["foreign"] or (found["task"] and not _HARMLESS.fullmatch(found["task"])):
            where = own_names(_place(text, found.start()), n)
            return Failure(Reason.SIMULATOR_ONLY, f"{where}: {' '.join(found[0].split())}, which no circuit has")
    return None


def _place(text: str, at: int) -> str:
    """File and line of a place in preprocessed text."""
    said = [*re.finditer(r'^`line (\d+) "([^"]*)".*\n', text[:at], re.MULTILINE)]
    if not said:
        return f"line {text.count(chr(10), 0, at) + 1}"
    return f"{said[-1][2]}:{int(said[-1][1]) + text.count(chr(10), said[-1].end(), at)}"


def in_doubt(said: str, n: Netlist) -> str:
    """Verilator 5.006 can lose a change where two blocks read each other, even if no signal depends on itself."""
    found = re.search(r"UNOPTFLAT: (?:src/\d{3}_)?(\S+?): .*'(.*)'", said)
    if not found or not any(found[1].startswith(f.name) for f in n.files):
        return ""
    where = f"{found[1]}, {found[2]}"
    return f"Verilator warns of blocks that read each other ({where}) and may be wrong itself: give each signal its own"


def run(
    work: Path, streams: Iterable[Stream], modes: Sequence[str], seed: int = 1, trace: Path | None = None
) -> list[Outcome]:
    """Gives streams to the bench that :func:`build` made, in each mode, with every signal of them in ``trace``. Raises
    :class:`ToolError` when it dies."""
    vectors = work / f"{secrets.token_hex(16)}.txt"  # a name that no source can read memories from
    vectors.write_text(written(streams))
    arguments = [str(vectors.absolute()), *modes, "--seed", str(seed), "--idle", str(IDLE)]
    signals = (work / ROOM / "signals.vcd").absolute()
    if trace is not None:
        arguments += ["--trace", str(signals)]
    try:
        said = tools.run(str((work / "obj" / "bench").absolute()), arguments, work / ROOM, at=AT)
    except ToolError as e:
        said = e.log  # a mode that ends otherwise than well has said why
        if e.code != 1 or len(outcomes(said)) < len(modes):
            raise
    finally:
        vectors.unlink(missing_ok=True)
        if trace is not None and signals.exists():
            shutil.move(signals, trace)
    return outcomes(said)


def outcomes(text: str) -> list[Outcome]:
    """What the bench said, a mode a line."""
    import msgspec

    return [msgspec.convert(json.loads(line), Outcome) for line in text.splitlines() if line.startswith('{"mode"')]
