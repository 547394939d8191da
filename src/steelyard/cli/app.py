"""The verbs and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="steelyard",
    help="Weigh lightweight cryptography on microcontrollers: cycles, ROM, RAM, energy, correctness.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH|NAME...",
        help="A folder, a zip, a campaign (.toml), or a bundled family, variant or variant/implementation; "
        "* and ? match. Default: all bundled.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", help="Target, repeatable or comma-separated. Default: all."),
]
Flags = Annotated[
    list[str] | None,
    typer.Option("--flags", "-f", help='Compiler options, repeatable; "-O3;-Os" is two sets. Default: the target\'s.'),
]
Workloads = Annotated[
    list[str] | None,
    typer.Option(
        "--workload",
        "-w",
        help="Repeatable: default, kat, vectors, nist-grid, gmu, felics-ae, "
        "felics-1 to felics-6, felics-hash, or sizes AD/M,AD/M,...",
    ),
]
MaxCycles = Annotated[
    int, typer.Option("--max-cycles", min=1, help="Cycles of one call before it counts as a runaway.")
]
Database = Annotated[
    str | None,
    typer.Option("--db", help="Database file or URL. Default: .steelyard/results.db", envvar="STEELYARD_DB"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@app.command()
def run(
    what: What = None,
    target: Targets = None,
    flags: Flags = None,
    workload: Workloads = None,
    adlen: Annotated[str, typer.Option("--adlen", help="Bytes of associated data: 0,16 or FROM:TO:STEP.")] = "",
    mlen: Annotated[str, typer.Option("--mlen", help="Bytes of message, likewise; every pair is measured.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Say that all bundled ones are meant.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be run, and why.")] = False,
    threads: Annotated[int | None, typer.Option("--threads", "-j", min=1, help="Default: one per core.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Run again what is stored already.")] = False,
    max_cycles: MaxCycles = 2_000_000_000,
    db: Database = None,
    json: Json = False,
) -> None:
    """Weigh implementations: build, verify, measure, store, and print the table."""
    from ..model.workload import grid
    from .plan import asked
    from .run import run_command

    workloads = [*(workload or []), *([grid(adlen, mlen)] if adlen or mlen else [])]
    campaign = asked(what or [], target or [], flags or [], workloads, everything)
    raise typer.Exit(run_command(campaign, threads, force, max_cycles, db, json, dry_run=dry_run))


@app.command()
def check(
    what: What = None,
    target: Targets = None,
    flags: Flags = None,
    force: Annotated[bool, typer.Option("--force", help="Check again what is stored already.")] = False,
    max_cycles: MaxCycles = 2_000_000_000,
    db: Database = None,
    json: Json = False,
) -> None:
    """Verify only: all known answers, decryption and forgeries, without the sweep over sizes."""
    from .plan import asked
    from .run import run_command

    campaign = asked(what or [], target or [], flags or [], ["kat"], False)
    raise typer.Exit(run_command(campaign, None, force, max_cycles, db, json, check=True))


@app.command()
def profile(
    what: Annotated[str, typer.Argument(metavar="PATH|NAME", help="One implementation.")],
    target: Annotated[str, typer.Option("--target", "-t", help="One target.")],
    flags: Annotated[str | None, typer.Option("--flags", "-f", help="Compiler options. Default: the target's.")] = None,
    operation: Annotated[str, typer.Option("--operation", "-o", help="encrypt, decrypt or hash.")] = "",
    size: Annotated[str, typer.Option("--size", "-s", metavar="AD/M", help="Sizes in bytes.")] = "16/64",
    against: Annotated[
        str | None, typer.Option("--against", metavar="PATH|NAME", help="Another implementation to compare with.")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Write the flame graph to this file.")] = None,
    json: Json = False,
) -> None:
    """Show where the cycles of one call go: by function, by instruction, and as a flame graph."""
    from .profile import profile_command

    raise typer.Exit(profile_command(what, target, flags, operation, size, against, svg, json))


@app.command()
def size(
    what: Annotated[str, typer.Argument(metavar="PATH|NAME", help="One implementation.")],
    target: Annotated[str, typer.Option("--target", "-t", help="One target.")],
    flags: Annotated[str | None, typer.Option("--flags", "-f", help="Compiler options. Default: the target's.")] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="PATH|NAME", help="Another implementation to compare with.")
    ] = None,
    json: Json = False,
) -> None:
    """Show where the bytes are: by symbol, for encryption and decryption together and alone."""
    from .size import size_command

    raise typer.Exit(size_command(what, target, flags, against, json))


@app.command()
def publish(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|RUN...", help="Families, variants, variant/implementation (with * and ?), or runs."
        ),
    ] = None,
    columns: Annotated[
        str, typer.Option("--columns", "-c", help="Columns, comma-separated, such as label,rom,encrypt@16/64.")
    ] = "",
    where: Annotated[
        str, typer.Option("--where", help='Filter: target == uno and (rom < 4096 or variant ~ "ascon*").')
    ] = "",
    sort: Annotated[str, typer.Option("--sort", help="Columns to sort by; -COLUMN sorts down.")] = "",
    all_runs: Annotated[bool, typer.Option("--all-runs", help="Also runs that newer ones replace.")] = False,
    caption: Annotated[str, typer.Option(help="Caption; {target} and {primitive} are filled in.")] = "",
    label: Annotated[str, typer.Option(help="Label, for LaTeX and HTML; the same names are filled in.")] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File: .md .html .tex .csv .json .xlsx .ods .parquet .felics.json."),
    ] = None,
    db: Database = None,
) -> None:
    """Publish stored results as tables: on the console, or in a file for paper, spreadsheet or program."""
    from .publish import publish_command

    raise typer.Exit(publish_command(what or [], columns, where, sort, all_runs, caption, label, out, db))


@app.command()
def compare(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="Names, a filter, a run's number, a .json of results, or a revision.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, for the other side.")],
    what: Annotated[
        list[str] | None, typer.Argument(metavar="PATH|NAME...", help="With --revisions: what to weigh in each.")
    ] = None,
    revisions: Annotated[
        bool, typer.Option("--revisions", help="OLD and NEW are git revisions: weigh both, each in its own copy.")
    ] = False,
    target: Targets = None,
    flags: Flags = None,
    workload: Workloads = None,
    where: Annotated[str, typer.Option("--where", help="Filter for both sides; see steelyard publish.")] = "",
    columns: Annotated[str, typer.Option("--columns", "-c", help="Metrics, comma-separated. Default: the usual.")] = "",
    threshold: Annotated[str, typer.Option("--threshold", help="Changes up to this percentage are none.")] = "0%",
    fail_on: Annotated[
        list[str] | None,
        typer.Option("--fail-on", help="Exit with 1 on METRIC>PERCENT%, any>PERCENT% or worse. Repeatable."),
    ] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Compare figures of different compilers, harnesses or models too; marked.")
    ] = False,
    everything: Annotated[bool, typer.Option("--everything", help="Show what is the same too.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File, as for steelyard publish.")] = None,
    db: Database = None,
) -> None:
    """Compare two sets of results, implementations, flag sets, compilers or revisions, setup by setup."""
    from .compare import compare_command
    from .revisions import revisions_command

    if revisions:
        ask = (what or [], target or [], flags or [], workload or [])
        code = revisions_command(old, new, *ask, columns, threshold, fail_on or [], everything, out, db)
    else:
        code = compare_command(old, new, where, columns, threshold, fail_on or [], mixed, everything, out, db)
    raise typer.Exit(code)


@app.command()
def history(
    revisions: Annotated[
        str, typer.Argument(metavar="RANGE", help="Git revisions, such as v1..HEAD; one means all up to it.")
    ],
    what: Annotated[
        list[str] | None, typer.Argument(metavar="PATH...", help="What to weigh. Default: the whole repository.")
    ] = None,
    target: Targets = None,
    flags: Flags = None,
    workload: Workloads = None,
    columns: Annotated[str, typer.Option("--columns", "-c", help="Metrics, comma-separated. Default: the usual.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many revisions, the newest.")] = 20,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File: a figure (.svg .png .pdf) with its table, or a table as for publish."),
    ] = None,
    db: Database = None,
) -> None:
    """Weigh every git revision that changed something, and show what each of them brought."""
    from .revisions import history_command

    ask = (what or [], target or [], flags or [], workload or [])
    raise typer.Exit(history_command(revisions, *ask, columns, limit, out, db))


@app.command()
def rank(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Families, variants or implementations. Default: all.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", "-k", help="top, places, merit (FELICS), score (El-Hajj, Fadlallah), pareto.")
    ] = "top",
    by: Annotated[str, typer.Option("--by", "-b", help="Metrics, comma-separated. Default: cycles, ROM, RAM.")] = "",
    where: Annotated[str, typer.Option("--where", help="Filter; see steelyard publish.")] = "",
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="How many of each.")] = 10,
    reference: Annotated[
        str, typer.Option("--relative-to", help="Variant or variant/implementation that counts as 100 %.")
    ] = "",
    unit: Annotated[bool, typer.Option("--unit", help="Relative as reference over figure: more is better.")] = False,
    variants: Annotated[bool, typer.Option("--variants", help="Only the best implementation of each variant.")] = False,
    group: Annotated[str, typer.Option("--group-by", help="key, nonce or tag: a ranking for each size.")] = "",
    less_nocrypt: Annotated[bool, typer.Option("--less-nocrypt", help="Take the baseline's cycles off first.")] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="With score: the paper's columns, which count time more than once.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File, as for steelyard publish.")] = None,
    db: Database = None,
) -> None:
    """Rank stored results: the first of each metric, relative to a reference, figures of merit, Pareto fronts."""
    from .rank import rank_command

    code = rank_command(
        what or [], kind, by, where, top, reference, unit, variants, group, less_nocrypt, paper, out, db
    )
    raise typer.Exit(code)


@app.command()
def plot(
    name: Annotated[str, typer.Argument(metavar="FIGURE", help="vectors, rom, throughput, tradeoff or history.")],
    what: Annotated[
        list[str] | None, typer.Argument(metavar="NAME|RUN...", help="Families, variants, implementations or runs.")
    ] = None,
    where: Annotated[str, typer.Option("--where", help="Filter; see steelyard publish.")] = "",
    title: Annotated[str, typer.Option(help="Title. Default: the figure's.")] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File: .svg .png .pdf, or .json for its Vega-Lite. Default: FIGURE.svg"),
    ] = None,
    db: Database = None,
) -> None:
    """Draw a figure from stored results, and write its table beside it."""
    from .plot import plot_command

    raise typer.Exit(plot_command(name, what or [], where, title, out, db))


@app.command()
def report(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="NAME|RUN...", help="Families, variants, implementations or runs.")
    ] = None,
    where: Annotated[str, typer.Option("--where", help="Filter; see steelyard publish.")] = "",
    columns: Annotated[str, typer.Option("--columns", "-c", help="Columns of the tables. Default: the usual.")] = "",
    title: Annotated[str, typer.Option(help="Title.")] = "Steelyard report",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File. Default: .steelyard/report.html")] = None,
    db: Database = None,
) -> None:
    """Write stored results as one HTML file: tables, figures, claims, provenance."""
    from .report import report_command

    raise typer.Exit(report_command(what or [], where, columns, title, out, db))


@app.command()
def show(
    run_id: Annotated[int, typer.Argument(metavar="RUN", help="Number of a run, from the tables.")],
    log: Annotated[bool, typer.Option("--log", help="Print what the compilers said.")] = False,
    db: Database = None,
    json: Json = False,
) -> None:
    """Show one run: figures, sizes, verification, provenance, and how to repeat it."""
    from .show import show_command

    raise typer.Exit(show_command(run_id, log, db, json))


@app.command(name="list")
def list_(
    kind: Annotated[str, typer.Argument(metavar="implementations|targets|runs")],
    path: Annotated[
        Path | None, typer.Argument(help="For implementations: a folder or zip instead of the bundled ones.")
    ] = None,
    db: Database = None,
    json: Json = False,
) -> None:
    """List implementations, targets, or stored runs."""
    from .list import list_command

    raise typer.Exit(list_command(kind, path, db, json))


@app.command()
def targets(json: Json = False) -> None:
    """List targets: chip, clock, memory, compiler, and how far figures are validated."""
    from .list import list_command

    raise typer.Exit(list_command("targets", None, None, json))


@app.command()
def doctor(json: Json = False) -> None:
    """Say what is installed, what is missing, and the line that fixes it."""
    from .doctor import doctor_command

    raise typer.Exit(doctor_command(json))
