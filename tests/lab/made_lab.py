"""What ``make lab`` has to print."""

from __future__ import annotations

import re

#: the seed boards' targets, and what is weighed on each
SEED = ("bluepill", "esp32", "maixduino", "nucleo-f746zg", "uno")
CIPHERS = ("aes128gcm/ref", "asconaead128/small", "tinyjambu128v2/small")
#: more cycles than any of these ciphers can do without for its known answers, and fewer than any of them has
LEAST = 1000


def measured(printed: str) -> dict[str, dict[str, list[float]]]:
    """The mean cycles of encryption, decryption and rejection of the rows that ``make lab`` printed, by target."""
    found: dict[str, dict[str, list[float]]] = {}
    parts = re.split(r"(?m)^(\S+) \([^\n]*, measured on a virtual board\): crypto_aead$", printed)
    for target, table in zip(parts[1::2], parts[2::2], strict=True):
        rows = [re.split(r" {2,}", line.strip()) for line in re.findall(r"(?m)^ \d+ .*$", table)]
        found[target] = {name: [float(f.replace(" ", "")) for f in cells[:3] if f != "-"] for _, name, *cells in rows}
    return found


def check(printed: str) -> None:
    """Every cipher was measured on every seed board, and what is slower in all the literature is slower here."""
    found = measured(printed)
    assert tuple(sorted(found)) == SEED, printed
    for target, rows in found.items():
        assert set(CIPHERS) <= rows.keys(), (target, printed)
        for name in CIPHERS:
            assert len(rows[name]) == 3, (target, name, printed)
            assert min(rows[name]) > LEAST, (target, name, printed)
        assert rows["aes128gcm/ref"][0] > rows["asconaead128/small"][0], (target, printed)
    assert "No verified figures" not in printed
