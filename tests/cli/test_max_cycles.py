"""What calls are allowed: what is made again for it, what is said of what is not, and how a run is repeated."""

from __future__ import annotations

import json
from pathlib import Path

from steelyard.model.target import Target
from tests import toys
from tests.conftest import write

from .conftest import Cli

RUN = "run one -t uno -w kat --flags=-Os -j1"
SAID = "--max-cycles changed nothing for"


def test_a_limit_is_kept_and_decides_what_is_made_again(cli: Cli, tmp_path: Path, uno: Target) -> None:
    slow = "{ volatile unsigned w; for (w = 0; w < 3000; w++) ; }"
    files = {**toys.files(in_encrypt=slow), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    write(tmp_path / "one" / "crypto_aead" / "toy1" / "one", files)

    def numbers() -> dict[str, int]:
        return {r["setup"]["implementation"]: r["id"] for r in json.loads(cli("list runs --json").out)}

    ended = cli(f"{RUN} --max-cycles 30000")
    assert (ended.code, SAID in ended.err) == (1, False)
    first = numbers()
    shown = cli(f"show {first['one']}").out
    assert "no end after 30000 cycles" in shown
    assert "to repeat: steelyard run one" in shown
    assert "--force --max-cycles 30000\n" in shown
    assert "0 to run, 2 stored" in cli(f"{RUN} --max-cycles 20000 --dry-run").out
    for more in ("", "--max-cycles 40000"):
        planned = cli(f"{RUN} {more} --dry-run").out
        assert "1 to run, 1 stored" in planned
        assert f"a call of run {first['one']} was allowed 30000 cycles only" in " ".join(planned.split())
    allowed = cli(f"{RUN} --max-cycles 3000000")
    assert (allowed.code, f"{SAID} 1 stored run;" in allowed.err) == (0, True)  # nocrypt's
    second = numbers()
    assert (second["ref"], second["one"] > first["one"]) == (first["ref"], True)
    assert f"{SAID} 2 stored runs;" in cli(f"{RUN} --max-cycles 30000").err
    assert f"{SAID} 1 stored run;" in cli("check one -t uno --flags=-Os --max-cycles 30000").err
    assert SAID not in cli(RUN).err
    assert numbers() == second
    for words in ("--seed zz", "--force"):  # all are made again
        assert SAID not in cli(f"{RUN} {words} --max-cycles 3000000").err
