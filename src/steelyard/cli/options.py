"""How verbs are declared, and the options that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from msgspec import Struct

from ..model.errors import UserError, cut, printable, unknown
from .output import FIGURES, TABLES, Output, output_of

T = TypeVar("T", bound=Struct)
Declared = Callable[[Callable[..., Any]], Callable[..., Any]]


def command(parameters: type[T], *declared: Declared) -> Callable[[Callable[[T], int]], click.Command]:
    """Makes a verb of a function that takes its ``parameters``, as ``declared``, and returns the exit code.

    The verb has the name of the function's file; its help is the function's docstring, which says nothing to callers:
    all of them raise :class:`UserError` for what cannot be asked, and :class:`WorkError` for what failed.
    """

    def made(act: Callable[[T], int]) -> click.Command:
        def called(**given: Any) -> NoReturn:
            raise click.exceptions.Exit(act(parameters(**given)))

        verb: Callable[..., Any] = called
        for declare in reversed(declared):
            verb = declare(verb)
        return click.command(act.__module__.rpartition(".")[2], help=act.__doc__)(verb)

    return made


class Commands(click.Group):
    """Commands that are a file each in ``package``, which is read when its command is called. ``verbs`` are those to
    list, each with the first sentence of its help. A misspelt one is met with the one that was meant."""

    def __init__(self, *, package: str, verbs: Mapping[str, str], hidden: Collection[str] = (), **more: Any) -> None:
        super().__init__(**more)
        self._package, self._verbs, self._hidden = package, verbs, hidden

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See :meth:`click.Group.list_commands`."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """See :meth:`click.Group.get_command`."""
        return self.verb(name) if name in self._verbs or name in self._hidden else None

    def verb(self, name: str) -> click.Command:
        """The command of this name with its options."""
        found: click.Command = import_module(f".{name}", self._package).verb
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See :meth:`click.Group.format_commands`."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._verbs.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See :meth:`click.Group.resolve_command`."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise unknown("command", args[0], self._verbs)
        return super().resolve_command(ctx, args)


class Stored(Struct, frozen=True, kw_only=True):
    """Parameters of every verb about a database."""

    db: str | None
    out: Output


class Weighing(Stored, frozen=True, kw_only=True):
    """Parameters of verbs that weigh: what, where, and how."""

    what: tuple[str, ...]
    target: tuple[str, ...]
    flags: tuple[str, ...]


class Answering(Stored, frozen=True, kw_only=True):
    """Parameters of verbs that answer from what is stored."""

    what: tuple[str, ...]
    where: str


class Number(click.ParamType[int]):
    """A whole number from 1 to ``most``."""

    name = "number"

    def __init__(self, most: int = 1_000_000) -> None:
        self.most = most

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; Click's own error otherwise."""
        text = str(value)
        if not (text.isdecimal() and len(text) < 20 and 1 <= int(text) <= self.most):
            self.fail(f"{cut(text, 30)!r}: write a number from 1 to {self.most}.", param, ctx)
        return int(text)


def output(*known: str, usual: str = "", help: str = "") -> Declared:
    """Declares ``--out``, ``--format`` and ``--json``; the verb gets them as one :class:`Output`, ``out``."""

    def declare(verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def with_output(*, out: Path | None, format: str, json: bool, **rest: Any) -> Any:
            return verb(**rest, out=output_of(out, format, json, known, usual))

        shown = help or f"File, or - for standard output: {' '.join('.' + f for f in known)}."
        made: Callable[..., Any] = with_output
        made = click.option("--json", is_flag=True, help="The same as --format json.")(made)
        text = "Format, unless the file's ending names it."
        made = click.option("--format", default="", metavar="FORMAT", help=text)(made)
        return click.option("--out", "-o", type=FILE, metavar="FILE", help=shown)(made)

    return declare


def text(
    *names: str, metavar: str, help: str, default: str = "", listed: bool = False, needed: bool = False
) -> Declared:
    """An option whose value is a text, empty by default, or ``needed``; one that is ``listed`` names something, or is
    left out. No file could hold, and no terminal show, lone surrogates and control characters: they become escapes."""

    def checked(context: click.Context, option: click.Parameter, value: str) -> str:
        given = context.get_parameter_source(option.name or "") is not click.core.ParameterSource.DEFAULT
        if listed and given and not value.strip(", "):
            raise UserError(f"{names[0]} names nothing; leave it out, or name {metavar}")
        return printable(value)

    usual = {"required": True} if needed else {"default": default, "show_default": bool(default)}
    return click.option(*names, metavar=metavar, help=help, callback=checked, **usual)


def flag(*names: str, help: str) -> Declared:
    """An option without a value."""
    return click.option(*names, is_flag=True, help=help)


def number(*names: str, help: str, most: int = 1_000_000, default: int | None = None) -> Declared:
    """An option whose value is a number."""
    return click.option(
        *names, type=Number(most), default=default, show_default=default is not None, metavar="N", help=help
    )


FILE = click.Path(path_type=Path)
packages = click.argument(
    "what",
    nargs=-1,
    metavar="[PATH|NAME]...",
    help="A folder, a zip, a campaign (.toml), or a bundled family, variant or variant/implementation; * and ? "
    "match. Default: all bundled.",
)
weighed = click.argument(
    "what",
    nargs=-1,
    metavar="[NAME|RUN]...",
    help="Families, variants, variant/implementation (with * and ?), or runs.",
)
one = click.argument("what", metavar="PATH|NAME", help="One implementation.")
targets = click.option(
    "--target", "-t", multiple=True, metavar="TARGET", help="Repeatable or comma-separated. Default: all."
)
flags = click.option(
    "--flags",
    "-f",
    multiple=True,
    metavar="OPTIONS",
    help='Compiler options, repeatable; "-O3;-Os" is two sets. Default: the target\'s.',
)
toolchain = text("--toolchain", metavar="NAME", help="Another compiler that a target knows; see steelyard targets.")
workloads = click.option(
    "--workload",
    "-w",
    multiple=True,
    metavar="NAME|SIZES",
    help="Repeatable: default, kat, vectors, tls13 and so on (steelyard list workloads), or sizes AD/M,AD/M,...",
)
one_target = click.option("--target", "-t", required=True, metavar="TARGET", help="One target.")
one_flag_set = click.option("--flags", "-f", metavar="OPTIONS", help="Compiler options. Default: the target's.")
against = click.option("--against", metavar="PATH|NAME", help="Another implementation to compare with.")
force = flag("--force", help="Run again what is stored already.")


def _place(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The database that is named here, else the server that is named before the verb."""
    here = context.get_parameter_source("db") is click.core.ParameterSource.COMMANDLINE
    server: str | None = context.find_root().params.get("server")
    return value if here or not server else server


db = click.option(
    "--db",
    callback=_place,
    envvar="STEELYARD_DB",
    show_envvar=True,
    metavar="FILE|URL",
    help="Database, or a server's address to read. Default: .steelyard/results.db",
)
columns = text(
    "--columns", "-c", metavar="COLUMNS", listed=True, help="Columns, comma-separated, such as label,rom,encrypt@16/64."
)
metrics = text("--columns", "-c", metavar="COLUMNS", listed=True, help="Metrics, comma-separated. Default: the usual.")
where = text("--where", metavar="FILTER", help='Only these: target == uno and (rom < 4096 or variant ~ "ascon*").')
tables = output(*TABLES)
tables_or_figure = output(*FIGURES, *TABLES)
