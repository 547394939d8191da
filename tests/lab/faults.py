"""What may go wrong in a lab, which tests cause it, and what becomes of it: the last table of docs/guides/lab.md.

``python -m tests.lab.faults`` prints it; test_fault_table.py keeps the guide, the tests and the reasons in step.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.model.reasons import Reason


class Fault(NamedTuple):
    """One of them. Of an attempt ``reasons`` are those that it may end with; none where no attempt ends by it. Names of
    ``tests`` are files and functions below tests/lab, with the cases in brackets where a test has several."""

    what: str
    reasons: tuple[Reason, ...]
    tests: tuple[str, ...]


R = Reason
ANALYZER = "test_faults::test_an_analyzer_that_sees_something_else_is_named"
CALL = "test_faults::test_a_board_that_fails_in_a_call_is_tried_again"
BYTES = "test_faults::test_bytes_that_the_line_changes_are_no_answer"
FAULTS = (
    Fault(
        "a board is unplugged, and plugged in again under another name",
        (R.BOARD_LOST,),
        ("test_faults::test_a_board_may_be_plugged_in_again_elsewhere",),
    ),
    Fault(
        "a board stays away",
        (R.BOARD_LOST,),
        ("test_faults::test_a_board_that_stays_away_leaves_its_run_to_the_other",),
    ),
    Fault("garbage on the line", (R.PROTOCOL, R.RUNAWAY, R.PULSES_LOST), (f"{BYTES}[garbage]",)),
    Fault("bytes are dropped", (R.PROTOCOL, R.RUNAWAY, R.PULSES_LOST), (f"{BYTES}[dropped, dropped-to-board]",)),
    Fault("bytes are doubled", (R.PROTOCOL, R.RUNAWAY, R.PULSES_LOST), (f"{BYTES}[doubled, doubled-to-board]",)),
    Fault("a board hangs in a call once", (R.RUNAWAY,), (f"{CALL}[hangs]",)),
    Fault(
        "a call never returns, because the package is stuck in a loop",
        (R.RUNAWAY,),
        ("test_campaign_faults::test_a_call_that_never_returns_costs_nobody_else",),
    ),
    Fault(
        "a board hangs for ever, or answers wrongly, also with nocrypt",
        (R.BOARD_LOST,),
        (
            "test_pool::test_a_board_that_fails_with_nocrypt_says_nothing_of_packages",
            "test_liars::test_a_board_that_answers_wrongly_is_no_verdict",
        ),
    ),
    Fault("a board resets in a call", (R.RUNAWAY, R.PROTOCOL), (f"{CALL}[resets]",)),
    Fault("a board browns out in a call", (R.RUNAWAY, R.PROTOCOL), (f"{CALL}[browns_out]",)),
    Fault("flash fails to verify", (R.FLASH_FAILED,), ("test_faults::test_flash_that_is_not_as_it_was_written",)),
    Fault("the analyzer overruns", (R.ANALYZER_LOST,), (f"{ANALYZER}[overruns]",)),
    Fault("the analyzer loses samples, and does not say so", (R.ANALYZER_LOST,), (f"{ANALYZER}[skips, drops]",)),
    Fault(
        "the analyzer falls silent, or its process is killed", (R.ANALYZER_LOST,), (f"{ANALYZER}[silent, is_killed]",)
    ),
    Fault("a dead channel", (R.PULSES_LOST,), (f"{ANALYZER}[dead]",)),
    Fault("a trigger that is stuck high", (R.PULSES_LOST,), (f"{ANALYZER}[stuck]",)),
    Fault("noise at the trigger", (R.PULSES_LOST,), (f"{ANALYZER}[noise]",)),
    Fault(
        "a debug probe vanishes",
        (R.PROBE_LOST,),
        (
            "test_probe_faults::test_a_probe_that_comes_back_costs_an_attempt",
            "test_probe_faults::test_a_run_whose_probe_stays_away_has_no_figure",
        ),
    ),
    Fault(
        "a debug probe is at another chip, or RAM does not keep what is put there",
        (R.PROBE_LOST,),
        (
            "test_probe_faults::test_a_probe_at_a_chip_of_the_same_target_is_no_figure",
            "test_probe_faults::test_ram_that_cannot_be_the_boards_is_no_figure",
            "test_probe_faults::test_ram_that_does_not_take_what_is_put_there_is_no_figure",
        ),
    ),
    Fault(
        "two boards' serial ports are swapped",
        (R.PULSES_LOST,),
        ("test_faults::test_boards_whose_wires_were_swapped_are_found",),
    ),
    Fault(
        "two boards change places with all their wires",
        (),
        ("test_faults::test_boards_that_changed_places_are_flashed_anew",),
    ),
    Fault(
        "another process has the probe or the meter",
        (),
        ("test_shared::test_a_part_that_another_process_has_is_waited_for",),
    ),
    Fault(
        "the scheduler is killed at random moments",
        (),
        (
            "test_kills::test_kills_lose_nothing_and_store_nothing_twice",
            "test_campaign_faults::test_thirty_kills_of_a_scheduler_with_the_real_tools",
        ),
    ),
    Fault(
        "a flasher outlives a scheduler that is killed",
        (),
        ("test_boards::test_a_flasher_that_outlives_its_process_keeps_the_port",),
    ),
    Fault(
        "the disk fills up",
        (R.DISK_FULL,),
        (
            "test_pool::test_a_disk_that_fills_up_loses_nothing_that_was_stored",
            "test_campaign_faults::test_a_disk_that_fills_up",
            "test_faults::test_a_disk_that_is_full_while_a_board_is_flashed",
        ),
    ),
)


def table() -> str:
    """The table as the guide has it."""
    lines = ["| fault | reason | what to do | tests |", "|---|---|---|---|"]
    for fault in FAULTS:
        reasons = ", ".join(f"`{r}`" for r in fault.reasons) or "-"
        todo = " / ".join(r.next_action for r in fault.reasons) or "nothing: the campaign goes on, or the next one does"
        tests = ", ".join(f"`{t}`" for t in fault.tests)
        lines.append(f"| {fault.what} | {reasons} | {todo} | {tests} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
