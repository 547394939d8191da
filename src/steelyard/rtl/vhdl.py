"""VHDL to Verilog by GHDL 5. Older ones make wrong netlists (decisions: docs/claims.md), so they are not asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ..model.reasons import Failure, Reason
from . import bench, tools
from .bench import Netlist
from .design import VHDL, Design
from .files import VHDL_ASIDE
from .tools import ToolError

#: what GHDL makes
MADE = "converted.v"
#: how often sources are adapted before what GHDL says of them counts
_ATTEMPTS = 8
#: an error of GHDL's in a copy, and a literal of zeros
_LENGTH = re.compile(r"^(\S+?):(\d+):(\d+):error: string length does not match", re.MULTILINE)
_ENTITY = re.compile(r"(?im)^[ \t]*entity\s+(\w+)\s+is\b")
#: a unit of a library: its kind, its name, and what it is of
_UNIT = re.compile(r"(?i)\b(entity|architecture|package\s+body|package|configuration)\s+(\w+)(?:\s+of\s+(\w+))?\s+is\b")
_MODULE = re.compile(r"(?m)^[ \t]*module\s+(\w+)")
_COMMENT = re.compile(r"--.*")
#: generics: their names and type
_DECLARED = re.compile(r"(?:^|;)\s*(?:constant\s+)?([\w\s,]+?)\s*:\s*(?:in\s+)?([\w.]+)")
#: ports: their names, way, type, of which few have a 0
_PORT = re.compile(r"(?i)(?:^|;)\s*(?:signal\s+)?([\w\s,]+?)\s*:\s*(?:(in|out|inout|buffer)\s+)?([\w.]+)([^;]*)")
_ZERO = {"boolean": "false", "integer": "0", "natural": "0", "bit": "'0'", "std_logic": "'0'", "std_ulogic": "'0'"}
#: most characters of an entity's generics and ports, and of what is before it
_HEAD = 20_000
#: what ends the declarations of an entity, and what has parentheses that are no parentheses: texts, and characters,
#: which follow no name, as the parenthesis of std_logic'('1') does
_DONE = re.compile(r"(?i)(?:^|;) ?(?:begin|end)\b")
_QUOTED = re.compile(r"\"[^\"]*\"|(?<![\w)\]])(?<![\w)\]] )'[\"();]'")
#: types whose values are one sign, or text; a word is the value of another
_SIGNS = ("std_logic", "std_ulogic", "bit", "character")
_BITS = re.compile(r"\w*_u?logic_vector|bit_vector|(?:u_)?(?:un)?signed")
_TEXTS = re.compile(rf"\w*string|{_BITS.pattern}")
_NAMED = re.compile(r"[A-Za-z]\w*")
_ZEROS = re.compile(r'[xXbB]?"0+"')


def converted(design: Design, work: Path, notes: list[str]) -> Netlist:
    """The design's VHDL as Verilog, beside its own. Raises :class:`ToolError` where GHDL is missing or refuses it."""
    if tools.identify("ghdl-5") is None:
        text = "the design is VHDL, and only GHDL 5 makes right netlists of it"
        if older := tools.identify("ghdl"):
            text += f"; {older.version} simulates it: steelyard rtl --verify"
        raise ToolError(Failure(Reason.NO_VHDL, text))
    own = bench.own(design)
    names = bench.copied(replace(own, data=()), work)  # by whose names GHDL would find its own files
    work = work / bench.AT
    parts = [(n, f) for n, f in zip(names, design.files, strict=True) if f.suffix.lower() in VHDL]
    verilog = tuple(f for f in design.files if f.suffix.lower() not in VHDL)
    entities = [e for _, f in parts for e in _ENTITY.findall(_text(f))]
    whole = design.top.lower() in {e.lower() for e in entities}
    tops = [design.top] if whole else _instances(entities, "\n".join(map(_text, verilog)))
    generics = [f"-g{k}={option}" for k, (option, _) in generics_of(design).items()] if whole else []
    made: dict[str, str] = {}
    try:
        for top in tops:
            analysed("ghdl-5", design, top, [n for n, _ in parts], work, notes)
            arguments = ["--synth", *options(design), "--latches", "--out=verilog", *generics, top]
            made |= _modules(plain(tools.run("ghdl-5", arguments, work)), top)
    except ToolError as e:
        raise bench.refused(e, own) from e
    if not whole and design.top not in _MODULE.findall("\n".join(map(_text, verilog))):
        raise ToolError(Failure(Reason.WRONG_TOP, f"no entity or module {design.top}; there is {', '.join(entities)}"))
    if whole:
        made[design.top] = _lettered(made[design.top], (design.clock, design.reset, *bench.API))
    (work / MADE).write_text("\n".join(made.values()))
    parameters = () if whole else design.parameters
    return replace(own, files=(work / MADE, *verilog), parameters=parameters)


def _text(file: Path) -> str:
    return file.read_text(encoding="latin-1")


def generics_of(design: Design) -> dict[str, tuple[str, str]]:
    """The values of the top's generics by name, as GHDL's option -g takes them, and as VHDL writes them: that
    depends on the type that the entity has declared."""
    clause = _clause(design, "generic")
    kinds: dict[str, str] = {}
    for names, kind in _DECLARED.findall(clause):
        kinds |= dict.fromkeys(re.split(r"\s*,\s*", names.strip().lower()), kind.lower())
    return {name: _spelt(value, kinds.get(name.lower(), "")) for name, value in design.parameters}


class Input(NamedTuple):
    """An input of the top: the ``zero`` of its type, or where it has none, or not in its range, its ``subtype`` as it
    is written, whose first value stands for it."""

    zero: str
    subtype: str


def inputs_of(design: Design) -> dict[str, Input]:
    """The top's inputs by name, in small letters. Those without a 0 that have a value of their own are left out."""
    found: dict[str, Input] = {}
    for names, way, kind, more in _ports(design):
        plain = kind.rpartition(".")[2]
        zero = _ZERO.get(plain) or ("(others => '0')" if _BITS.fullmatch(plain) else "")
        zero = zero if not more.startswith(" range ") else ""
        if way in ("", "in") and (zero or ":=" not in more):
            of = Input(zero, "" if zero else f"{kind}{more}".strip())
            found |= dict.fromkeys(names, of)
    return found


def words_of(design: Design) -> dict[str, str]:
    """The types of the top's ports that are of several bits, as they are written, by name in small letters."""
    return {n: kind for names, _, kind, _ in _ports(design) if _BITS.fullmatch(kind.rpartition(".")[2]) for n in names}


def _ports(design: Design) -> Iterator[tuple[list[str], str, str, str]]:
    """Of each declaration of the top's ports: their names, way, type and what follows that, in small letters."""
    for names, way, kind, more in _PORT.findall(_clause(design, "port")):
        yield re.split(r"\s*,\s*", names.strip()), way, kind, more


def untied(design: Design, names: Sequence[str]) -> list[str]:
    """A note of those of the inputs that GHDL's bench does not tie to 0, as their types have none; none without any."""
    inputs = inputs_of(design)
    typed = [n for n in names if not ((of := inputs.get(n.lower())) and of.zero)]
    value = "the value that they declare, or the first of their type"
    return [f"in GHDL's simulation inputs without a 0 have {value}: {', '.join(typed)}"] if typed else []


def context_of(design: Design) -> str:
    """The clauses by which the top's entity uses packages."""
    clauses: list[str] = []
    for clause in reversed(_around(design)[0].split(";")[:-1]):
        if clause.split()[:1] not in (["library"], ["use"]):
            break
        clauses.insert(0, f"{clause.strip()};")
    return " ".join(clauses)


def _around(design: Design) -> tuple[str, str]:
    """The text before the top's entity and after its name, without comments, in small letters, with single spaces; both
    empty where no file has it."""
    for f in design.files:
        text = " ".join(_COMMENT.sub("", _text(f)).lower().split()) if f.suffix.lower() in VHDL else ""
        if at := re.search(rf"\bentity {design.top.lower()} is\b", text):
            return text[max(0, at.start() - _HEAD) : at.start()], text[at.end() : at.end() + _HEAD]
    return "", ""


def _clause(design: Design, word: str) -> str:
    """What is in the parentheses after ``generic`` or ``port`` in the top's entity; empty where it has none."""
    text = _QUOTED.sub(lambda q: "_" * len(q[0]), _around(design)[1])
    if done := _DONE.search(text):
        text = text[: done.start()]
    if not (at := re.search(rf"\b{word} ?\(", text)):
        return ""
    depth = 1
    for place in range(at.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[at.end() : place]
    return ""


def _spelt(value: int | str, kind: str) -> tuple[str, str]:
    package, _, kind = kind.rpartition(".")
    if kind == "boolean" and not isinstance(value, str):
        return (word := str(bool(value)).lower()), word
    text = str(value if isinstance(value, str) else int(value))
    if kind in _SIGNS:
        return f"'{text}'", f"'{text}'"
    if not isinstance(value, str) or (kind and not _TEXTS.fullmatch(kind) and _NAMED.fullmatch(value)):
        return text, f"{package}.{text}" if package and isinstance(value, str) else text
    return text, f'"{text}"'


def _instances(entities: Sequence[str], verilog: str) -> list[str]:
    """The entities that Verilog has instances of, in the letters that it names them with. Raises :class:`ToolError`
    where an instance sets generics: GHDL makes a circuit of one value of each, the entity's own."""
    found = []
    for name in dict.fromkeys(entities):
        for used in re.finditer(rf"(?im)^[ \t]*({name})\s+(#\s*\(|\w+\s*\()", verilog):
            if used[2].startswith("#"):
                text = f"Verilog sets generics of {used[1]}, which is VHDL; a circuit is made of their own values only"
                raise ToolError(Failure(Reason.NO_VHDL, text))
            found.append(used[1])
    return list(dict.fromkeys(found))


def _modules(text: str, top: str) -> dict[str, str]:
    """The modules that GHDL made, by their names; the top is called as those do who have instances of it."""
    made = {}
    for part in re.findall(r"^module .*?^endmodule", text, re.MULTILINE | re.DOTALL):
        name = _MODULE.findall(part)[0]
        if name.lower() == top.lower():
            part, name = re.sub(r"^module\s+\S+", f"module {top}", part), top
        made[name] = part
    return made


def _lettered(module: str, names: Sequence[str]) -> str:
    """A module that GHDL made, with these names in these letters: to VHDL all are one, to Verilog they are not. Ports
    of its instances keep theirs."""
    for name in names:
        module = re.sub(rf"(?i)(?<![\w.$\\]){re.escape(name)}(?![\w$])", name, module)
    return module


def options(design: Design) -> list[str]:
    """GHDL's options for the design's sources."""
    return [f"--std={design.standard}", "-frelaxed", "--work=work"]


def analysed(ghdl: str, design: Design, top: str, names: Sequence[str], work: Path, notes: list[str]) -> None:
    """Lets GHDL analyse what ``top`` needs of the copies of sources that ``names`` are. The LWC package 1.0 gives zeros
    for eight bits to words of any width where words of eight bits only come, which GHDL refuses: such zeros get the
    width that they need, in the copy, and notes say where, and which of several units of a name is taken. Raises
    :class:`ToolError`."""
    own = dict(zip(bench.names(bench.own(design)), design.files, strict=True))
    called = {n: os.path.relpath(own[n], design.folder) if n in own else n for n in names}
    order, said = _imported({n: _text(work / n) for n in names}, called)
    notes += [n for n in said if n not in notes]
    tools.run(ghdl, ["-i", *options(design), *order], work)
    for attempt in range(_ATTEMPTS):
        try:
            tools.run(ghdl, ["-m", *options(design), top], work)
        except ToolError as e:
            if attempt == _ATTEMPTS - 1 or not (changed := _widened(e.log, names, work)):
                raise
            notes += [f"adapted in a copy: {c}" for c in changed]
        else:
            return


def _imported(texts: Mapping[str, str], called: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The sources in the order in which GHDL is to import them, and what notes say of units that are there twice. The
    one that is read last counts: so it is in VHDL, and in GHDL where a unit is imported again; but of an entity's
    architectures it takes those of the file that is imported first. Raises :class:`ToolError` where files would have to
    be imported in both orders."""
    places: dict[tuple[str, ...], dict[str, str]] = {}
    for name, text in texts.items():
        for unit in _UNIT.findall(VHDL_ASIDE.sub(" ", text).lower()):
            places.setdefault(tuple(" ".join(word.split()) for word in unit), {})[name] = text
    again: dict[tuple[str, ...], list[str]] = {}  # units by the files that have them
    architectures: dict[str, dict[str, str]] = {}
    for (kind, name, of), at in places.items():
        if len({*at.values()}) > 1:
            again.setdefault((*at,), []).append(f"{kind} {name}" + f" of {of}" * bool(of))
        if kind == "architecture":
            architectures.setdefault(of, {})[name] = [*at][-1]
    several = {of: last for of, last in architectures.items() if len(last) > 1}
    first = {n for last in several.values() if len({*last.values()}) > 1 for n in last.values()}
    for files, units in again.items():
        if not first.isdisjoint(files):
            where = ", ".join(called[n] for n in files)
            text = f"{', '.join(units)}: in each of {where}, with other architectures; leave out all but one of them"
            raise ToolError(Failure(Reason.RTL_ERROR, text))
    notes = [
        f"{', '.join(units)}: the last of {', '.join(called[n] for n in files)} is taken"
        for files, units in again.items()
    ]
    for of, last in several.items():
        each = ", ".join(f"{name} ({called[n]})" for name, n in last.items())
        notes.append(f"architectures of {of}: {each}: where none is named, the last is taken")
    return [*(n for n in reversed([*texts]) if n in first), *(n for n in texts if n not in first)], notes


def _widened(log: str, names: Sequence[str], work: Path) -> list[str]:
    """Replaces literals of zeros whose length GHDL says does not match, and returns where."""
    made = []
    for name, row, column in dict.fromkeys(_LENGTH.findall(log)):
        if name not in names:
            continue
        lines = (work / name).read_text(encoding="latin-1").split("\n")
        line, at = lines[int(row) - 1], int(column) - 1
        found = _ZEROS.match(line, at)
        if found is None:
            continue
        lines[int(row) - 1] = f"{line[:at]}(others => '0'){line[found.end() :]}"
        (work / name).write_text("\n".join(lines), encoding="latin-1")
        own = re.sub(r"^src/\d+_", "", name)
        made.append(f"{own}, line {row}: {found[0]} has as many bits as its target")
    return made


def plain(text: str) -> str:
    """What GHDL says without what is not Verilog for synthesis: its warnings, and assertions."""
    at = re.search(r"^module ", text, re.MULTILINE)
    body = text[at.start() :] if at else text
    body = re.sub(
        r"^.*:\d+:\d+:(?:@\w+:)?\((?:warning|note|assertion)[^\n]*\n(?:^ .*\n)*", "", body, flags=re.MULTILINE
    )
    return re.sub(r"(?ms)^\s*always @\*\s*\n\s*if \(!?\S+\)\s*\n\s*\$(?:fatal|error|warning)\([^;]*\);\s*\n", "", body)
