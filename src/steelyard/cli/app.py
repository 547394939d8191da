"""The verbs and their options. What a verb needs is imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from ..model.errors import cut, refuse
from ..model.inputs import SEED
from ..publish.figures import figure_names
from . import output
from .output import TABLES, Output


class _Verbs(click.Group):
    """Lists the verbs in the order of work, with the whole sentence of each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help or "") for name, verb in self.commands.items()])


class _Number(click.ParamType[int]):
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


@click.group(cls=_Verbs, no_args_is_help=True, context_settings={"help_option_names": ["--help", "-h"]})
@click.version_option(package_name="steelyard", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Print where an unexpected error came from.")
def app(traceback: bool) -> None:
    """Weigh lightweight cryptography on microcontrollers: cycles, ROM, RAM, energy, correctness."""


def _exit(code: int) -> NoReturn:
    raise click.exceptions.Exit(code)


_FILE = click.Path(path_type=Path)

_what = click.argument(
    "what",
    nargs=-1,
    metavar="[PATH|NAME]...",
    help="A folder, a zip, a campaign (.toml), or a bundled family, variant or variant/implementation; * and ? "
    "match. Default: all bundled.",
)
_weighed = click.argument(
    "what",
    nargs=-1,
    metavar="[NAME|RUN]...",
    help="Families, variants, variant/implementation (with * and ?), or runs.",
)
_one = click.argument("what", metavar="PATH|NAME", help="One implementation.")
_targets = click.option(
    "--target", "-t", multiple=True, metavar="TARGET", help="Repeatable or comma-separated. Default: all."
)
_flags = click.option(
    "--flags",
    "-f",
    multiple=True,
    metavar="OPTIONS",
    help='Compiler options, repeatable; "-O3;-Os" is two sets. Default: the target\'s.',
)
_toolchain = click.option(
    "--toolchain", default="", metavar="NAME", help="Another compiler that a target knows; see steelyard targets."
)
_workloads = click.option(
    "--workload",
    "-w",
    multiple=True,
    metavar="NAME|SIZES",
    help="Repeatable: default, kat, vectors, nist-grid, gmu, felics-ae, felics-1 to felics-6, felics-hash, or sizes "
    "AD/M,AD/M,...",
)
_one_target = click.option("--target", "-t", required=True, metavar="TARGET", help="One target.")
_one_set = click.option("--flags", "-f", metavar="OPTIONS", help="Compiler options. Default: the target's.")
_against = click.option("--against", metavar="PATH|NAME", help="Another implementation to compare with.")
_max_cycles = click.option(
    "--max-cycles",
    type=_Number(1 << 62),
    default=2_000_000_000,
    show_default=True,
    metavar="N",
    help="Cycles of one call before it counts as a runaway.",
)
_db = click.option(
    "--db",
    envvar="STEELYARD_DB",
    show_envvar=True,
    metavar="FILE|URL",
    help="Database. Default: .steelyard/results.db",
)
_where = click.option("--where", default="", metavar="FILTER", help="Only these; see steelyard publish.")
_answer = output.options(*TABLES)
_FIGURES = ("svg", "png", "pdf", "vl.json")


@app.command()
@_what
@_targets
@_flags
@_toolchain
@_workloads
@click.option("--adlen", default="", metavar="BYTES", help="Bytes of associated data: 0,16 or FROM:TO:STEP.")
@click.option("--mlen", default="", metavar="BYTES", help="Bytes of message, likewise; every pair is measured.")
@click.option("--all", "everything", is_flag=True, help="Say that all bundled ones are meant.")
@click.option("--dry-run", is_flag=True, help="Only say what would be run, and why.")
@click.option("--threads", "-j", type=_Number(1024), metavar="N", help="Default: one per core.")
@click.option("--force", is_flag=True, help="Run again what is stored already.")
@click.option("--seed", default=SEED, metavar="TEXT", help="Other inputs than the known answers'. Recorded.")
@_max_cycles
@_db
@_answer
def run(
    what: tuple[str, ...],
    target: tuple[str, ...],
    flags: tuple[str, ...],
    toolchain: str,
    workload: tuple[str, ...],
    adlen: str,
    mlen: str,
    everything: bool,
    dry_run: bool,
    threads: int | None,
    force: bool,
    seed: str,
    max_cycles: int,
    db: str | None,
    out: Output,
) -> None:
    """Weigh implementations: build, verify, measure, store, and print the table."""
    from ..model.workload import grid
    from .plan import asked
    from .run import run_command

    workloads = [*workload, *([grid(adlen, mlen)] if adlen or mlen else [])]
    campaign = asked(what, target, flags, workloads, everything, toolchain)
    _exit(run_command(campaign, threads, force, max_cycles, db, out, dry_run=dry_run, seed=seed))


@app.command()
@_what
@_targets
@_flags
@_toolchain
@click.option("--force", is_flag=True, help="Check again what is stored already.")
@_max_cycles
@_db
@_answer
def check(
    what: tuple[str, ...],
    target: tuple[str, ...],
    flags: tuple[str, ...],
    toolchain: str,
    force: bool,
    max_cycles: int,
    db: str | None,
    out: Output,
) -> None:
    """Verify only: all known answers, decryption and forgeries, without the sweep over sizes."""
    from .plan import asked
    from .run import run_command

    campaign = asked(what, target, flags, ["kat"], False, toolchain)
    _exit(run_command(campaign, None, force, max_cycles, db, out, check=True))


@app.command()
@_one
@_one_target
@_one_set
@_toolchain
@click.option("--operation", default="", metavar="NAME", help="encrypt, decrypt or hash.")
@click.option("--size", "-s", default="16/64", show_default=True, metavar="AD/M", help="Sizes in bytes.")
@_against
@click.option("--svg", type=_FILE, metavar="FILE", help="Write the flame graph to this file.")
@output.options(*TABLES, "svg")
def profile(
    what: str,
    target: str,
    flags: str | None,
    toolchain: str,
    operation: str,
    size: str,
    against: str | None,
    svg: Path | None,
    out: Output,
) -> None:
    """Show where the cycles of one call go: by function, by instruction, and as a flame graph."""
    from .profile import profile_command

    _exit(profile_command(what, target, flags, toolchain, operation, size, against, svg, out))


@app.command()
@_one
@_one_target
@_one_set
@_toolchain
@_against
@_answer
def size(what: str, target: str, flags: str | None, toolchain: str, against: str | None, out: Output) -> None:
    """Show where the bytes are: by symbol, for encryption and decryption together and alone."""
    from .size import size_command

    _exit(size_command(what, target, flags, toolchain, against, out))


@app.command()
@_weighed
@click.option(
    "--columns",
    "-c",
    default="",
    metavar="COLUMNS",
    help="Columns, comma-separated, such as label,rom,encrypt@16/64.",
)
@click.option(
    "--where",
    default="",
    metavar="FILTER",
    help='Only these: target == uno and (rom < 4096 or variant ~ "ascon*").',
)
@click.option("--sort", default="", metavar="COLUMNS", help="Columns to sort by; -COLUMN sorts down.")
@click.option("--all-runs", is_flag=True, help="Also runs that newer ones replace.")
@click.option(
    "--pivot",
    "across",
    default="",
    metavar="COLUMN",
    help="One metric at a glance: the values of this column, such as target, side by side.",
)
@click.option("--caption", default="", metavar="TEXT", help="Caption; {target} and {primitive} are filled in.")
@click.option("--label", default="", metavar="TEXT", help="Label, for LaTeX and HTML; the same names are filled in.")
@output.options(*TABLES, "felics.json")
@_db
def publish(
    what: tuple[str, ...],
    columns: str,
    where: str,
    sort: str,
    all_runs: bool,
    across: str,
    caption: str,
    label: str,
    out: Output,
    db: str | None,
) -> None:
    """Publish stored results as tables: on the console, or in a file for paper, spreadsheet or program."""
    from .publish import publish_command

    _exit(publish_command(list(what), columns, where, sort, all_runs, across, caption, label, out, db))


@app.command()
@click.argument("old", metavar="OLD", help="Names, a filter, a run's number, a .json of results, or a revision.")
@click.argument("new", metavar="NEW", help="The same, for the other side.")
@click.argument("what", nargs=-1, metavar="[PATH|NAME]...", help="With --revisions: what to weigh in each.")
@click.option("--revisions", is_flag=True, help="OLD and NEW are git revisions: weigh both, each in its own copy.")
@_targets
@_flags
@_workloads
@click.option("--where", default="", metavar="FILTER", help="Filter for both sides; see steelyard publish.")
@click.option("--columns", "-c", default="", metavar="COLUMNS", help="Metrics, comma-separated. Default: the usual.")
@click.option(
    "--threshold",
    default="0%",
    show_default=True,
    metavar="PERCENT",
    help="Changes up to this percentage are none.",
)
@click.option(
    "--fail-on",
    multiple=True,
    metavar="RULE",
    help="Exit with 1 on METRIC>PERCENT%, any>PERCENT% or worse. Repeatable.",
)
@click.option("--sources", is_flag=True, help="Compare what changed sources too: the newest on either side.")
@click.option("--mixed", is_flag=True, help="Compare figures of different compilers, harnesses or models too; marked.")
@click.option("--everything", is_flag=True, help="Show what is the same too.")
@_answer
@_db
def compare(
    old: str,
    new: str,
    what: tuple[str, ...],
    revisions: bool,
    target: tuple[str, ...],
    flags: tuple[str, ...],
    workload: tuple[str, ...],
    where: str,
    columns: str,
    threshold: str,
    fail_on: tuple[str, ...],
    sources: bool,
    mixed: bool,
    everything: bool,
    out: Output,
    db: str | None,
) -> None:
    """Compare two sets of results, implementations, flag sets, compilers or revisions, setup by setup."""
    from .compare import compare_command
    from .revisions import revisions_command

    if revisions:
        refuse({"--where": where, "--sources": sources, "--mixed": mixed}, "not with --revisions; leave it out")
        ask = (what, target, flags, workload)
        _exit(revisions_command(old, new, *ask, columns, threshold, fail_on, everything, out, db))
    weighed = {" ".join(what): what, "--target": target, "--flags": flags, "--workload": workload}
    refuse(weighed, "only with --revisions; for stored runs write --where, such as 'target == uno'")
    _exit(compare_command(old, new, where, columns, threshold, fail_on, sources, mixed, everything, out, db))


@app.command()
@click.argument("revisions", metavar="RANGE", help="Git revisions, such as v1..HEAD; one means all up to it.")
@click.argument("what", nargs=-1, metavar="[PATH]...", help="What to weigh. Default: the whole repository.")
@_targets
@_flags
@_workloads
@click.option("--columns", "-c", default="", metavar="COLUMNS", help="Metrics, comma-separated. Default: the usual.")
@click.option(
    "--limit",
    "-n",
    type=_Number(),
    default=20,
    show_default=True,
    metavar="N",
    help="At most so many revisions, the newest.",
)
@output.options(*_FIGURES, *TABLES)
@_db
def history(
    revisions: str,
    what: tuple[str, ...],
    target: tuple[str, ...],
    flags: tuple[str, ...],
    workload: tuple[str, ...],
    columns: str,
    limit: int,
    out: Output,
    db: str | None,
) -> None:
    """Weigh every git revision that changed something, and show what each of them brought."""
    from .revisions import history_command

    _exit(history_command(revisions, what, target, flags, workload, columns, limit, out, db))


@app.command()
@click.argument("what", nargs=-1, metavar="[NAME]...", help="Families, variants or implementations. Default: all.")
@click.option(
    "--kind",
    "-k",
    default="top",
    show_default=True,
    metavar="KIND",
    help="top, places, merit (FELICS), score (El-Hajj, Fadlallah), pareto.",
)
@click.option("--by", "-b", default="", metavar="METRICS", help="Comma-separated. Default: cycles, ROM, RAM.")
@_where
@click.option("--top", "-n", type=_Number(), metavar="N", help="How many of each. Default: 10 with top, else all.")
@click.option(
    "--relative-to",
    "reference",
    default="",
    metavar="NAME",
    help="Variant or variant/implementation that counts as 100 %.",
)
@click.option("--unit", is_flag=True, help="Relative as reference over figure: more is better.")
@click.option("--variants", is_flag=True, help="Of each variant only its best implementation, by metric.")
@click.option("--group-by", "group", default="", metavar="SIZE", help="key, nonce or tag: a ranking for each size.")
@click.option("--less-nocrypt", is_flag=True, help="Take the baseline's cycles off first.")
@click.option("--paper", is_flag=True, help="With score: the paper's columns, which count time more than once.")
@_answer
@_db
def rank(
    what: tuple[str, ...],
    kind: str,
    by: str,
    where: str,
    top: int | None,
    reference: str,
    unit: bool,
    variants: bool,
    group: str,
    less_nocrypt: bool,
    paper: bool,
    out: Output,
    db: str | None,
) -> None:
    """Rank stored results: the first of each metric, relative to a reference, figures of merit, Pareto fronts."""
    from .rank import rank_command

    _exit(rank_command(what, kind, by, where, top, reference, unit, variants, group, less_nocrypt, paper, out, db))


@app.command()
@click.argument("name", metavar="FIGURE", help=f"{', '.join(figure_names())}.")
@_weighed
@_where
@click.option("--title", default="", metavar="TEXT", help="Title. Default: the figure's.")
@output.options(
    *_FIGURES,
    *TABLES,
    usual="svg",
    help="File, or - for standard output. A figure with its table beside it: .svg .png .pdf, or .vl.json for its "
    "Vega-Lite; else the table alone. Default: FIGURE.svg",
)
@_db
def plot(name: str, what: tuple[str, ...], where: str, title: str, out: Output, db: str | None) -> None:
    """Draw a figure from stored results, and write its table beside it."""
    from .plot import plot_command

    _exit(plot_command(name, what, where, title, out, db))


@app.command()
@_weighed
@_where
@click.option("--columns", "-c", default="", metavar="COLUMNS", help="Columns of the tables. Default: the usual.")
@click.option("--title", default="Steelyard report", show_default=True, metavar="TEXT", help="Title.")
@output.options(
    *(f for f in TABLES if f != "parquet"),  # which holds one table
    usual="html",
    help="File, or - for standard output: .html, or .md .tex .csv .json .xlsx .ods for its tables alone. "
    "Default: .steelyard/report.html",
)
@_db
def report(what: tuple[str, ...], where: str, columns: str, title: str, out: Output, db: str | None) -> None:
    """Write stored results as one HTML file: tables, figures, claims, provenance. Other formats have the tables."""
    from .report import report_command

    _exit(report_command(what, where, columns, title, out, db))


@app.command()
@click.argument("run_id", type=_Number((1 << 63) - 1), metavar="RUN", help="Number of a run, from the tables.")
@click.option("--log", is_flag=True, help="Print what the compilers said.")
@_db
@_answer
def show(run_id: int, log: bool, db: str | None, out: Output) -> None:
    """Show one run: figures, sizes, verification, provenance, and how to repeat it."""
    from .show import show_command

    _exit(show_command(run_id, log, db, out))


@app.command("list")
@click.argument("kind", metavar="implementations|targets|runs", help="What to list.")
@click.argument(
    "path",
    required=False,
    metavar="[PATH]",
    help="For implementations: a folder or zip instead of the bundled ones.",
)
@_db
@_answer
def list_(kind: str, path: str | None, db: str | None, out: Output) -> None:
    """List implementations, targets, or stored runs."""
    from .list import list_command

    _exit(list_command(kind, path, db, out))


@app.command()
@_answer
def targets(out: Output) -> None:
    """List targets: chip, clock, memory, compiler, and how far figures are validated."""
    from .list import list_command

    _exit(list_command("targets", None, None, out))


@app.command()
@_answer
def doctor(out: Output) -> None:
    """Say what is installed, what is missing, and the line that fixes it."""
    from .doctor import doctor_command

    _exit(doctor_command(out))
