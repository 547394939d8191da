"""What a run is known by."""

from __future__ import annotations

from msgspec import defstruct, to_builtins

from steelyard.model.record import Setup, Toolchain

SETUP = Setup("p", "f", "v", "i", "d", "t", "td", "dev", Toolchain("gcc", "12", "s"), "-Os", "w", "h", "m")


def test_a_field_that_setups_get_later_leaves_older_runs_their_keys() -> None:
    assert SETUP.key == "dee20d665349f65d4bee171a33c28125d42a47cfee0a58b1dced374e7fe1f1f4", "databases have it"
    later = defstruct("Later", [("libc", str | None, None)], bases=(Setup,), frozen=True, omit_defaults=True)
    assert later(**to_builtins(SETUP)).key == SETUP.key
    assert later(**to_builtins(SETUP), libc="newlib").key != SETUP.key
