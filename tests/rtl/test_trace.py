"""A trace has the signals up to the first wrong word, and not those of all that was right before."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl import bench, tools, trace
from steelyard.rtl.reading import designs_of
from steelyard.rtl.streams import Stream
from tests.rtl import toys

#: the operation that is wrong when do_ready is low, and how many are right before any is wrong
PAUSED, RIGHT = 39, 60
COUNTED = ("logic last;", "logic last; logic [6:0] count;")
RESET = ("state <= INSTRUCTION;\n    end", "state <= INSTRUCTION; count <= 0;\n    end")
WRONG = (
    "      if (out) begin",
    f"""      if (state == DIGEST && !do_ready && sum == 32'h{toys.STREAMS[PAUSED].out[1]}) sum <= 0;
      if (state == OUT_HEADER && count == {RIGHT}) sum <= 32'hbad;
      if (out) begin
        if (state == STATUS) count <= count + 1;""",
)


@toys.needs("verilator")
def test_a_trace_has_no_more_than_shows_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong operation of the wrong mode alone, if it is as wrong then; what passes the limit is said."""
    (design,) = designs_of(toys.design(tmp_path / "toy", COUNTED, RESET, WRONG))
    work, file = tmp_path / "bench", tmp_path / "signals.vcd"
    work.mkdir()
    bench.build(design, bench.own(design), work, trace=99)
    most = 32 << 10
    with monkeypatch.context() as m:
        m.setattr(tools, "LARGEST", most)
        assert trace.written(toys.STREAMS[:PAUSED], work, file) is None
        with pytest.raises(UserError, match=r"mode full, hash@17: .* of the 60 operations before it.* --seed"):
            trace.written(toys.STREAMS * 2, work, file)
        assert not file.exists()
        found = trace.written(toys.STREAMS, work, file)
    assert found is not None
    assert (found.mode, found.op, found.word, found.got) == ("withdraw", f"hash@{PAUSED}", 1, "00000000")
    assert 0 < file.stat().st_size < most
    found = trace.written(toys.STREAMS * 2, work, file)
    assert found is not None
    assert (found.mode, found.op, found.got) == ("full", "hash@17", "00000bad")
    assert file.stat().st_size > most


def test_an_operation_alone_is_one_with_its_key() -> None:
    """Hashes bring none."""
    brings, again = Stream("encrypt", ("0",), ("0",), ("0",)), Stream("encrypt", (), ("0",), ("0",), reuse=True)
    hashed = Stream("hash", (), ("0",), ("0",))
    streams = [brings, brings, again, hashed, again]
    assert [trace._first(streams, k) for k in range(5)] == [0, 1, 1, 3, 1]
