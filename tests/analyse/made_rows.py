"""Rows as a store gives them."""

from __future__ import annotations


def row(target: str = "uno", **more: object) -> dict:
    base = {
        "run": 1, "label": "v/ref", "primitive": "crypto_aead", "family": "f", "variant": "v",
        "implementation": "ref", "target": target, "device": "simulator", "flags": "-O3", "workload": "default",
        "compiler": "gcc 1", "harness": "h", "timing_model": "m", "rom": 100, "cycles_encrypt_mean": 1000.0,
    }  # fmt: skip
    return base | more
