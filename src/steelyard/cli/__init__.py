"""The command line: one file per verb. Data goes to standard output, everything else to standard error."""

from __future__ import annotations

import gc
import os
import signal
import sys

# tables of many thousands of rows are not garbage, nor is what imports make, and looking at them takes long
gc.set_threshold(500_000, 50, 50)

#: exit codes: 128 and the signal's number
STOPPED, PIPE_CLOSED = 130, 141
#: verbs that make runs, which a stop does not lose
MAKE_RUNS = ("run", "rtl", "check", "validate", "compare", "history", "choose", "work")


def main() -> None:
    """Entry point of ``steelyard``. Wrong usage ends with a sentence and exit code 2, failed work with one and 1,
    a database that fails with one and 3, an error that nobody foresaw with one that says where its traceback is, and
    70."""
    try:
        code = ended()
    except KeyboardInterrupt as e:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # who asks again gets it at once
        kept = "; finished runs are kept, the same command goes on" if {*map(str, e.args)} & {*MAKE_RUNS} else ""
        print(f"steelyard: stopped{kept}", file=sys.stderr)
        code = STOPPED
    finally:
        gc.freeze()  # what is left goes with the process: to look through it takes a fifth of a short command
    sys.exit(code)


def ended() -> int:
    """How the command that ``sys.argv`` holds ended; an interruption is :class:`KeyboardInterrupt` with the
    verb."""
    from . import failure  # imports take long enough to be interrupted

    failure.prepare_streams()
    shown = bool(os.environ.get("STEELYARD_TRACEBACK"))
    try:
        from click.exceptions import Abort, ClickException, Exit

        from ..model.errors import UserError
        from .app import app

        try:
            # Click's own main would hide how it ended
            with app.make_context("steelyard", sys.argv[1:]) as context:
                shown |= context.params["traceback"]
                try:
                    app.invoke(context)
                except (Abort, KeyboardInterrupt):
                    raise KeyboardInterrupt(context.invoked_subcommand) from None
            code = 0
        except Exit as e:
            code = e.exit_code
        except ClickException as e:
            failure.say_usage(e)
            code = e.exit_code
        except Abort:
            raise KeyboardInterrupt from None
        except UserError as e:
            failure.say(str(e))
            code = e.exit_code
        sys.stdout.flush()
    except BrokenPipeError:
        failure.drop_stdout()
        code = PIPE_CLOSED
    except Exception as e:
        code = failure.explain(e, shown)
        failure.drop_stdout()
    failure.settle_stderr()
    return code


__all__ = ["ended", "main"]
