"""The caller's buffers of a block cipher: they are at any address, out may be in, and what is const stays as it is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.verify.block import _PLACES
from tests.conftest import Bench, the_target
from tests.verify.test_block_ciphers import BLOCK, CONTEXT, KEY, PUBLISHED, failure, package

WRONG = {
    "not in place": (
        {"before": "memset(out, 0, CRYPTO_BLOCKBYTES);"},
        Reason.WRONG_OUTPUT,
        "encrypt in place at 8n+0, ",
    ),
    "not at odd addresses": (
        {"before": "if ((uintptr_t)in & 1 && out != in) return 1;"},
        Reason.WRONG_OUTPUT,
        "with input at 8n+1, output at 8n+0, encrypt returned 1",
    ),
    **{
        f"not {text}": ({"before": f"if ({at}) ctx++;"}, Reason.WRONG_OUTPUT, f"encrypt {text}, got ")
        for at, text in (
            ("(uintptr_t)in % 4 == 2 && out != in", "with input at 8n+2, output at 8n+0"),
            ("(uintptr_t)in % 8 == 4 && out != in", "with input at 8n+4, output at 8n+0"),
            ("(uintptr_t)out % 4 == 2 && out != in", "with input at 8n+0, output at 8n+2"),
            ("(uintptr_t)in & 1 && !((uintptr_t)out & 1)", "with input at 8n+1, output at 8n+0"),
            ("!((uintptr_t)in & 3) && (uintptr_t)out & 1", "with input at 8n+0, output at 8n+1"),
            ("(uintptr_t)in % 8 == 5 && (uintptr_t)out % 8 == 6", "with input at 8n+5, output at 8n+6"),
            ("(uintptr_t)in % 4 == 2 && out == in", "in place at 8n+2"),
        )
    },
    "decryption not at even addresses": (
        {"decrypt": "if ((uintptr_t)in % 4 == 2) out[0] ^= 1;"},
        Reason.WRONG_OUTPUT,
        "decrypt with input at 8n+2, output at 8n+0, got ",
    ),
    "a schedule not with keys at even addresses": (
        {"schedule": "if ((uintptr_t)k % 8 == 6) ctx[0] ^= 1;"},
        Reason.WRONG_OUTPUT,
        "encrypt after a schedule with its key at 8n+6, got ",
    ),
    "encryption changes its input": (
        {"encrypt": "if (in != out) ((unsigned char *)in)[0] = 0;"},
        Reason.STRAY_WRITE,
        "encrypt changes its input, or bytes right after it, which the caller needs as it is",
    ),
    "decryption restores its input": (
        {"decrypt": "{ volatile unsigned char *p = (unsigned char *)in; if (in != out) p[1] ^= 1, p[1] ^= 1; }"},
        Reason.STRAY_WRITE,
        "decrypt writes into its input, which",
    ),
    "its schedule wipes the key": (
        {"schedule": "memset((unsigned char *)k, 0, CRYPTO_KEYBYTES);"},
        Reason.STRAY_WRITE,
        "schedule_encrypt changes its key, or bytes right after it, which the caller needs as it is",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_has_a_reason(bench: Bench, what: str) -> None:
    how, reason, text = WRONG[what]
    failed = failure(bench.weigh(package(bench, **how), the_target("bluepill")))  # type: ignore[arg-type]
    assert failed.reason is reason, failed
    assert failed.detail.startswith(text), failed


def test_every_address_is_tried() -> None:
    """Eight of a key, each of input with each of output but the known answers', and each in place."""
    keys, blocks, places = _PLACES.values()
    assert [p.key for p in keys] == [p.out for p in places] == list(range(8))
    assert all(p.in_place and p.given == p.out for p in places)
    assert {(p.given, p.out) for p in blocks} | {(0, 0)} == {(i, o) for i in range(8) for o in range(8)}


def test_in_place_is_tried_with_keys_that_nobody_knows(bench: Bench) -> None:
    known = f"static unsigned char known[] = {{{PUBLISHED}}};"
    wrong = "if (out == in && memchr(known, ctx[3], sizeof known) == NULL) { memset(out, 0x55, 8); return 0; }"
    failed = failure(bench.weigh(package(bench, top=known, before=wrong), the_target("bluepill")))
    assert (failed.reason, failed.detail[:16]) == (Reason.WRONG_OUTPUT, "encrypt in place")


def test_contexts_are_aligned_wherever_keys_and_blocks_are(bench: Bench, target: Target) -> None:
    odd = "if ((uintptr_t)ctx & 7) return 2;"
    assert bench.weigh(package(bench, schedule=odd, before=odd), target).ok


def test_no_input_is_longer_than_the_output_in_whose_place_it_is(bench: Bench, uno: Target) -> None:
    client = bench.client(package(bench), uno)
    request = Request(Op.ENCRYPT, bytes(KEY), bytes(CONTEXT), b"", bytes(BLOCK + 1))
    assert client.call(request).code == 0
    with pytest.raises(DeviceError, match="bad request"):
        client.call(replace(request, in_place=True))
