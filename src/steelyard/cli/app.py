"""The verbs in the order of work. Each is a file of its own, which is read when its verb is called."""

from __future__ import annotations

import click

from . import options

#: the verbs and the sentence that the list of them has of each, which is the first of its help
VERBS = {
    "run": "Weigh implementations: build, verify, measure, store, and print the tables.",
    "rtl": "Weigh hardware: simulate, synthesise, place and route designs with the LWC hardware API.",
    "boards": "Show what boards do, check them end to end, or play virtual ones.",
    "check": "Verify only: all known answers, decryption and forgeries, without the sweep over sizes.",
    "validate": "Weigh on a board and on the simulator, and say how far they are apart.",
    "profile": "Show where the cycles of one call go: by function, by instruction, and as a flame graph.",
    "size": "Show where the bytes are: by symbol, for encryption and decryption together and alone.",
    "sim": "Run anybody's image on a simulated chip: cycles, functions, faults, and what is not modelled.",
    "publish": "Publish stored results as tables: on the console, or in a file for paper, spreadsheet or program.",
    "compare": "Compare two sets of results, implementations, flag sets, compilers or revisions, setup by setup.",
    "history": "Weigh every git revision that changed something, and show what each of them brought.",
    "rank": "Rank stored results: the first of each metric, relative to a reference, figures of merit, Pareto fronts.",
    "choose": "Choose an implementation for a device: what fits, what it costs there, how long the battery lasts.",
    "plot": "Draw a figure from stored results, and write its table beside it.",
    "report": "Write stored results as one HTML file: tables, figures, claims, provenance.",
    "study": "Compare ciphers as El-Hajj and Fadlallah do: all measures, the best and the worst, parts of AES, scores.",
    "serve": "Serve stored results as web pages.",
    "submit": "Hand in an implementation: say what is in it, and get the private link of its results.",
    "work": "Weigh what was handed in to a server with this database.",
    "queue": "Look at the queue of a server, and operate it from its machine.",
    "site": "Write stored results as web pages that open from disk and from any static host.",
    "show": "Show one run: figures, sizes, verification, provenance, and how to repeat it.",
    "image": "Hand out the firmware image of a run, and say how to flash it.",
    "list": "List implementations, targets, workloads, or stored runs.",
    "db": "Copy results to another database, or look whether all of them can be read.",
    "targets": "List targets: chip, clock, memory, compiler, and how far figures are validated.",
    "doctor": "Say what is installed, what is missing, and the line that fixes it.",
}


@click.group(
    cls=options.Commands,
    package=__package__,
    verbs=VERBS,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)
@click.version_option(package_name="steelyard", message="%(prog)s %(version)s")
@click.option("--server", metavar="URL", help="Where steelyard serve runs: results are read there, and packages sent.")
@click.option("--traceback", is_flag=True, help="Print where an unexpected error came from.")
@click.pass_context
def app(context: click.Context, server: str | None, traceback: bool) -> None:
    """Weigh lightweight cryptography on microcontrollers: cycles, ROM, RAM, energy, correctness."""
    if server:  # of verbs with a --server of their own; --db looks here itself
        context.default_map = {verb: {"server": server} for verb in ("submit", "work")}
