"""The command line: one file per verb. Data goes to standard output, everything else to standard error."""

from __future__ import annotations

import gc
import sys

# tables of many thousands of rows are no garbage, nor is what imports make, and looking at them takes long
gc.set_threshold(500_000, 50, 50)

from .app import app  # noqa: E402


def main() -> None:
    """Entry point of ``steelyard``: user errors end with a sentence and exit code 2."""
    from click.exceptions import ClickException, Exit

    from ..model.errors import UserError

    try:
        with app.make_context("steelyard", sys.argv[1:]) as context:  # Click's own main would hide how it ended
            app.invoke(context)
    except Exit as e:
        sys.exit(e.exit_code)
    except ClickException as e:
        e.show()
        sys.exit(e.exit_code)
    except UserError as e:
        print(f"steelyard: {e}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("steelyard: stopped; finished runs are kept, the same command goes on", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    finally:
        gc.freeze()  # what is left goes with the process: to look through it takes a fifth of a short command


__all__ = ["main"]
