"""Writes ciphers/shared/aes/block128_armv7m.S: AES-128, fixsliced for one block, in ARMv7-M assembly.

usage: scripts/fixslice.py

The comment at the head of that file explains how a block is held. Here each piece of it is written once as operations
on values; ``straight.py`` makes instructions of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from straight import POOL, STATE, Piece, Value, piece, text

FILE = Path(__file__).parents[1] / "ciphers" / "shared" / "aes" / "block128_armv7m.S"


class Box(NamedTuple):
    """Inversion in GF(2^8) between two linear maps, found by a search of ours.

    a Y + b Y^16 with a and b in GF(2^4) and Y + Y^16 = 1 has the inverse (b Y + a Y^16) / N, N = a b + Y^17 (a + b)^2
    (D. Canright: A Very Compact S-Box for AES, CHES 2005). a is in the high halves of four words, b in the low ones.
    Linear maps choose words, 1 exchanges their halves, and add word j to word i step by step: (0, i, j) as it is,
    (1, i, j) with its halves exchanged, (2, i, j) its low half to the high one, (3, i, j) its high half to the low one.
    """

    choose: tuple[tuple[int, int], ...]
    steps: tuple[tuple[int, int, int], ...]
    #: which of the nine products of a and b make a bit of N, and which of the nine sums is added
    norm: tuple[tuple[tuple[int, ...], int | None], ...]
    #: products that are disjunctions, which adds the sum of both factors
    either: tuple[int, ...]
    #: which of the nine products with 1 / N make a word
    products: tuple[tuple[int, ...], ...]
    choose_behind: tuple[tuple[int, int], ...]
    steps_behind: tuple[tuple[int, int, int], ...]


BOX = Box(
    choose=((2, 1), (3, 0), (0, 0), (1, 0)),
    steps=(
        (3, 0, 0),
        (2, 2, 0),
        (3, 1, 2),
        (1, 2, 1),
        (2, 2, 2),
        (3, 2, 2),
        (2, 3, 0),
        (2, 0, 3),
        (1, 2, 0),
        (2, 3, 2),
        (3, 0, 3),
        (0, 0, 3),
        (1, 0, 1),
        (3, 1, 1),
    ),
    norm=(((3, 5, 6, 8), 4), ((0, 4, 5, 6), 0), ((0, 2, 3, 4, 5, 7), None), ((1, 3, 4, 6, 7, 8), None)),
    either=(3, 5, 6, 7),
    products=((0, 2, 3, 4, 5, 7), (0, 1, 2, 3), (0, 4, 5, 6), (0, 3, 4, 8)),
    choose_behind=((1, 0), (2, 0), (0, 1), (3, 0)),
    steps_behind=(
        (1, 1, 2),
        (2, 3, 1),
        (3, 1, 3),
        (2, 3, 3),
        (3, 0, 1),
        (0, 3, 0),
        (2, 0, 2),
        (0, 1, 0),
        (2, 0, 0),
        (1, 1, 0),
    ),
)
INVERSE_BOX = Box(
    choose=((1, 1), (3, 1), (2, 1), (0, 1)),
    steps=(
        (1, 0, 2),
        (3, 1, 1),
        (2, 0, 1),
        (2, 1, 3),
        (1, 3, 1),
        (3, 0, 0),
        (2, 1, 0),
        (1, 2, 0),
        (0, 0, 2),
        (3, 1, 0),
    ),
    norm=(((2, 5, 7, 8), None), ((1, 4, 5, 7), 3), ((3, 5, 6, 8), 5), ((0, 4, 5, 6), None)),
    either=(4, 7),
    products=((3, 5, 6, 8), (0, 1, 2, 3), (1, 2, 3, 4, 5, 6), (2, 3, 6, 7)),
    choose_behind=((2, 0), (0, 0), (3, 1), (1, 0)),
    steps_behind=(
        (3, 1, 1),
        (2, 2, 0),
        (3, 0, 3),
        (2, 3, 0),
        (3, 1, 3),
        (0, 1, 0),
        (1, 3, 1),
        (1, 1, 0),
        (1, 1, 2),
        (2, 3, 1),
        (1, 0, 3),
    ),
)


def linear(
    p: Piece, words: Sequence[Value], choose: Iterable[tuple[int, int]], steps: Iterable[tuple[int, int, int]]
) -> list[Value]:
    """A linear map of a box."""
    x = [words[i].ror(16 * exchanged) for i, exchanged in choose]
    for kind, i, j in steps:
        if kind > 1 and x[i].turn != x[j].turn:
            x[i], x[j] = p.straight(x[i]), p.straight(x[j])
        x[i] = p.eor(x[i], x[j].ror(16 * kind)) if kind < 2 else p.across(x[i], x[j], kind == 2)
    return x


def nine(p: Piece, x: Sequence[Value]) -> list[Value]:
    """The factors of Karatsuba's nine products in GF((2^2)^2)."""
    s, t = p.eor(x[2], x[3]), p.eor(x[0], x[1])
    return [*x, s, t, p.eor(x[0], x[3]), p.eor(x[1], x[2]), p.eor(s, t)]


def sums(p: Piece, terms: Sequence[Value], wanted: Sequence[Iterable[int]]) -> list[Value]:
    """Sums of terms; what several have in common is added once."""
    x, left = list(terms), [set(w) for w in wanted]
    while any(len(w) > 1 for w in left):
        pairs = [(i, j) for w in left for i in w for j in w if i < j]
        pair = max(sorted(set(pairs)), key=pairs.count)
        x.append(p.eor(*(x[i] for i in pair)))
        left = [w - {*pair} | {len(x) - 1} if {*pair} <= w else w for w in left]
    return [x[i] for w in left for i in w]


def inverse16(p: Piece, x: Sequence[Value]) -> list[Value]:
    """Inversion in GF(2^4): t21 to t40 in J. Boyar, R. Peralta: A New Combinational Logic Minimization Technique with
    Applications to Cryptology, SEA 2010."""
    t21, t22, t23, t24 = x
    t25, t26 = p.eor(t21, t22), p.two("and", t21, t23)
    t27 = p.eor(t24, t26)
    t29 = p.eor(p.two("and", t25, t27), t22)
    t33 = p.eor(p.two("and", p.eor(t22, t26), p.eor(t23, t24)), t24)
    t36 = p.two("and", t24, p.eor(t27, t33))
    t40 = p.eor(t25, p.two("and", t29, p.eor(t27, t36)))
    return [t29, t33, p.eor(t36, t23, t33), t40]


def substitute(p: Piece, words: Sequence[Value], box: Box) -> list[Value]:
    """SubBytes or its inverse without its constant, which is in the round keys."""
    x = linear(p, words, box.choose, box.steps)
    factors = nine(p, x)
    terms = [p.two("orr" if j in box.either else "and", f, f.ror(16)) for j, f in enumerate(factors)]
    wanted = []
    for products, added in box.norm:
        wanted.append({*products})
        if added is not None:
            wanted[-1] |= {len(terms), len(terms) + 1}
            terms += [factors[added], factors[added].ror(16)]
    inverse = nine(p, inverse16(p, sums(p, terms, wanted)))
    terms = [p.two("and", n, f) for n, f in zip(inverse, nine(p, x), strict=True)]  # added up again, not kept
    out = linear(p, sums(p, terms, box.products), box.choose_behind, box.steps_behind)
    return [p.straight(x) for x in out]


def places(of: Callable[[int, int], tuple[int, int]]) -> list[int]:
    """For the bits of a word the ones that are in the row and column that the function gives."""
    moved = [of(i // 4 % 4, i % 4) for i in range(32)]
    return [i // 16 * 16 + row % 4 * 4 + column % 4 for i, (row, column) in enumerate(moved)]


def two_rows_on(p: Piece, a: Value, turn: int) -> Value:
    """For each byte the one of its column two rows on, where row r is ``turn`` r columns off its place."""
    a = p.add("rev16", p.straight(a))
    return p.permuted(a, places(lambda r, c: (r, c + 2 * turn)))


def mix(p: Piece, a: Sequence[Value], turn: int) -> list[Value]:
    """MixColumns where row r is ``turn`` r columns off its place: of byte x and y below it, 2 (x + y) + y + (x + y) two
    rows on."""
    y = [p.permuted(x, places(lambda r, c: (r + 1, c + turn))) for x in a]
    t = [p.eor(x, z) for x, z in zip(a, y, strict=True)]
    top = p.add("lsr", t[3], rest="#16")
    twice = [p.across(t[3], t[3], False).ror(16), p.eor(t[0], top), t[1], p.eor(t[2], top)]
    out = []
    for x, d, z in zip(t, twice, y, strict=True):
        far = two_rows_on(p, x, turn)
        out.append(p.straight(p.eor(d, z, far) if d.turn == 0 else p.eor(far, d, z)))
    return out


def inverse_mix(p: Piece, a: Sequence[Value], turn: int) -> list[Value]:
    """InvMixColumns: MixColumns of x + 4 (x + x two rows on)."""
    v = [p.eor(x, two_rows_on(p, x, turn)) for x in a]
    added = [
        p.eor(a[0], p.across(p.across(v[2], v[2], False), v[3], False).ror(16)),
        p.eor(p.across(a[1], v[2], False), p.across(v[3], v[3], False).ror(16)),
        p.across(p.eor(a[2], v[0]), v[3], False),
        p.across(p.eor(a[3], v[1]), v[2], False),
    ]
    return mix(p, added, turn)


def exchange(p: Piece, a: Value, mask: int, by: int) -> Value:
    """``a``, with its bits under the mask and those ``by`` places above exchanged."""
    t = p.masked(p.add("eor", a, a, rest=f"lsr #{by}"), mask)
    return p.add("eor", p.eor(a, t), t, rest=f"lsl #{by}")


def exchange_two(p: Piece, x: list[Value], i: int, j: int, mask: int, by: int) -> None:
    """Exchanges bits of word j under the mask with those of word i ``by`` places above."""
    t = p.masked(p.add("eor", x[j], x[i], rest=f"lsr #{by}"), mask)
    x[j], x[i] = p.eor(x[j], t), p.add("eor", x[i], t, rest=f"lsl #{by}")


def shifted(p: Piece, a: Value, turn: int) -> Value:
    """Row r moved by ``turn`` r columns to the right."""
    if turn == 2:
        return exchange(p, a, 0x30303030, 2)
    if turn == 0:
        return a
    a = exchange(p, a, 0x33003300, 2)
    up, down = (0x70707070, 0x80808080) if turn == 1 else (0x10101010, 0xE0E0E0E0)
    by = (31, 3) if turn == 1 else (29, 1)
    stays, up_, down_ = p.masked(a, 0x0F0F0F0F), p.masked(a, up), p.masked(a, down)
    return p.eor(stays, up_.ror(by[0]), down_.ror(by[1]))


def exchange_columns(p: Piece, words: Sequence[Value]) -> list[Value]:
    """Bit b of four in nibble n of word c becomes bit c in nibble n of word b; an involution."""
    x = list(words)
    for i, j, mask, by in ((0, 1, 0x55555555, 1), (2, 3, 0x55555555, 1), (0, 2, 0x33333333, 2), (1, 3, 0x33333333, 2)):
        exchange_two(p, x, i, j, mask, by)
    return x


def slice_words(p: Piece, words: Sequence[Value], turn: int) -> list[Value]:
    """A block from columns as words, least significant byte first; then row r moves by ``turn`` r columns."""
    x = [exchange(p, exchange(p, w, 0x00F000F0, 4), 0x0000FF00, 8) for w in exchange_columns(p, words)]
    return [shifted(p, w, turn) for w in x]


def unslice_words(p: Piece, words: Sequence[Value], turn: int) -> list[Value]:
    """Columns as words from a block, whose row r moves by ``turn`` r columns before."""
    x = [shifted(p, w, turn) for w in words]
    return exchange_columns(p, [exchange(p, exchange(p, w, 0x0000FF00, 8), 0x00F000F0, 4) for w in x])


def with_constant(p: Piece, x: Sequence[Value]) -> list[Value]:
    """0x63 added to all bytes."""
    half = p.add("movw", rest="#0xffff")
    return [p.eor(x[0], half), p.add("mvn", x[1]), p.add("eor", x[2], half, rest="lsl #16"), x[3]]


def round_key(p: Piece, words: Sequence[Value], turn: int) -> list[Value]:
    """A round key as a round whose rows are off their places needs it."""
    return with_constant(p, [shifted(p, w, turn) for w in words])


def expand(p: Piece) -> list[Value]:
    """The next round key, from SubBytes of the one before, that one itself, and bits of the round's constant."""
    *words, constant = p.words()
    out = []
    for j, (box, key) in enumerate(zip(words[:4], words[4:], strict=True)):
        last = p.masked(box, 0x88888888)
        x = p.eor(key, p.moved(last, 0x00080008, 16).ror(7))
        x = p.eor(x, p.masked(x, 0x77777777).ror(31))
        x = p.eor(x, p.masked(x, 0x33333333).ror(30))
        bit = p.masked(constant, 0x10001 << j)
        out.append(p.eor(x, p.add("rsb", bit, bit, rest="lsl #4").ror(j)))
    return with_constant(p, out)


HEAD = """\
/*
 * AES-128 (FIPS 197) for ARMv7-M, bitsliced, in constant time: fixsliced (A.
 * Adomnicai, T. Peyrin: Fixslicing AES-like Ciphers, TCHES 2021), for one
 * block. scripts/fixslice.py wrote it, and has its formulas.
 *
 * Word k, of four, has bit k of byte (row r, column c) in its bit 4 r + c,
 * and bit k + 4 in its bit 16 + 4 r + c: one block fills its registers, where
 * eight slices would leave every other bit to a second block. SubBytes is an
 * inversion in GF((2^4)^2), whose halves are those of the words.
 * Nothing moves rows: behind round i row r is i r columns off its place, so
 * MixColumns has four forms, and round keys are held likewise. They also have
 * the 0x63 of SubBytes. Both directions have the same ones.
 */
    .syntax unified
    .thumb

.macro FUNCTION name
    .section .text.\\name, "ax", %progbits
    .global \\name
    .type \\name, %function
    .thumb_func
\\name:
.endm

.macro LOCAL name
    .section .text.\\name, "ax", %progbits
    .type \\name, %function
    .thumb_func
\\name:
.endm

/* the words of a block, at any address */
.macro LOAD from
    ldr r4, [\\from]
    ldr r5, [\\from, #4]
    ldr r6, [\\from, #8]
    ldr r7, [\\from, #12]
.endm

.macro STORE to
    str r4, [\\to]
    str r5, [\\to, #4]
    str r6, [\\to, #8]
    str r7, [\\to, #12]
.endm

.macro ADD_KEY
    ldmia r2!, {r8-r11}
    eor r4, r4, r8
    eor r5, r5, r9
    eor r6, r6, r10
    eor r7, r7, r11
.endm

.macro ADD_KEY_BEFORE
    ldmdb r2!, {r8-r11}
    eor r4, r4, r8
    eor r5, r5, r9
    eor r6, r6, r10
    eor r7, r7, r11
.endm
"""
#: constants of the rounds (FIPS 197, 5.2): bits 4 to 7 in the high half
CONSTANTS = [1 << i if i < 8 else (0x1B, 0x36)[i - 8] for i in range(10)]


def macro(name: str, body: str) -> str:
    """A macro of the assembler."""
    return f"\n.macro {name}\n{body}.endm\n"


def schedule() -> str:
    """The function of both key schedules."""
    p = Piece((*STATE, "r8", "r9", "r10", "r11", "r3"))
    table = ", ".join(f"0x{c & 15 | c >> 4 << 16:x}" for c in CONSTANTS)
    moved = ""
    for turn, last in ((1, 9), (2, 10), (3, 7), (0, 8)):
        first = turn or 4
        body = piece(round_key, turn)
        moved += f"""\
    ldr r2, [sp, #4]
    adds r2, r2, #{16 * first}
1:  ldmia r2, {{r4-r7}}
{body}    stmia r2, {{r4-r7}}
    add r2, r2, #64
    ldr r12, [sp, #4]
    add r12, r12, #{16 * last}
    cmp r2, r12
    bls 1b
"""
    return f"""
    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, %function
    .section .text.crypto_block_encrypt_schedule, "ax", %progbits
    .thumb_func
crypto_block_decrypt_schedule:
FUNCTION crypto_block_encrypt_schedule
    push {{r0, r4-r11, lr}}
    mov r2, r0
    adr r12, 3f
    push {{r12}}
    LOAD r1
{piece(slice_words, 0)}    stmia r2, {{r4-r7}}
2:  bl invert_and_map
    ldmia r2!, {{r8-r11}}
    ldr r12, [sp]
    ldr r3, [r12], #4
    str r12, [sp]
{text(p, expand(p))}    stmia r2, {{r4-r7}}
    ldr r12, [sp]
    ldr r12, [r12]
    cmp r12, #0
    bne 2b
    /* rows to where the rounds expect them, and the constant */
{moved}    movs r0, #0
    add sp, sp, #8
    pop {{r4-r11, pc}}
    .align 2
3:  .word {table}, 0
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule
"""


def module() -> str:
    """The file."""
    parts = [HEAD]
    for turn in range(4):
        parts.append(macro(f"MIX{turn}", piece(mix, turn)))
        parts.append(macro(f"INVERSE_MIX{turn}", piece(inverse_mix, turn)))
    for name, box in (("invert_and_map", BOX), ("map_and_invert", INVERSE_BOX)):
        body = piece(substitute, box, pool=POOL[:-1])  # lr has the return address
        parts.append(f"\nLOCAL {name}\n{body}    bx lr\n    .size {name}, . - {name}\n")
    parts.append(schedule())
    forward = "".join(f"    bl invert_and_map\n    MIX{turn}\n    ADD_KEY\n" for turn in (1, 2, 3, 0))
    parts.append(f"""
FUNCTION crypto_block_encrypt
    push {{r0, r4-r11, lr}}
    add r12, r2, #(16 * 9)
    push {{r12}}
    LOAD r1
{piece(slice_words, 0)}    ADD_KEY
1:
{forward}    ldr r12, [sp]
    cmp r2, r12
    bne 1b
    bl invert_and_map
    MIX1
    ADD_KEY
    bl invert_and_map
    ADD_KEY
{piece(unslice_words, 2)}    ldr r0, [sp, #4]
    STORE r0
    movs r0, #0
    add sp, sp, #8
    pop {{r4-r11, pc}}
    .size crypto_block_encrypt, . - crypto_block_encrypt
""")
    back = "".join(f"    ADD_KEY_BEFORE\n    INVERSE_MIX{turn}\n    bl map_and_invert\n" for turn in (0, 3, 2, 1))
    parts.append(f"""
FUNCTION crypto_block_decrypt
    push {{r0, r4-r11, lr}}
    add r12, r2, #16
    push {{r12}}
    add r2, r2, #(16 * 11)
    LOAD r1
{piece(slice_words, 2)}    ADD_KEY_BEFORE
    bl map_and_invert
    ADD_KEY_BEFORE
    INVERSE_MIX1
    bl map_and_invert
1:
{back}    ldr r12, [sp]
    cmp r2, r12
    bne 1b
    ADD_KEY_BEFORE
{piece(unslice_words, 0)}    ldr r0, [sp, #4]
    STORE r0
    movs r0, #0
    add sp, sp, #8
    pop {{r4-r11, pc}}
    .size crypto_block_decrypt, . - crypto_block_decrypt
""")
    return "".join(parts)


if __name__ == "__main__":
    FILE.write_text(module())
