//! Expands compressed forms: each stands for a 32-bit encoding, so they share the definitions of the table.
//!
//! The RISC-V Instruction Set Manual, Volume I (20191213), chapter 16. Letters in patterns as in [`crate::table`].

use isa::{Fields, Pattern};

use crate::table::Only::{self, Any, Rv32, Rv64};
use crate::word::Word;

/// A compressed form.
pub(crate) struct Compressed {
    pub pattern: Pattern,
    pub only: Only,
    /// The 32-bit encoding that it stands for; none for the reserved ones among its encodings.
    pub expand: fn(&Fields) -> Option<u32>,
}

/// The 32-bit encoding that the compressed one in `half` stands for.
pub(crate) fn expand<X: Word>(half: u32) -> Option<u32> {
    let c = COMPRESSED.iter().find(|c| c.pattern.matches(half) && c.only.has::<X>())?;
    (c.expand)(&c.pattern.fields(half))
}

/// The 32-bit formats, for the compressed forms.
mod encode {
    pub const OP: u32 = 0x33;
    pub const OP_32: u32 = 0x3B;
    pub const OP_IMM: u32 = 0x13;
    pub const OP_IMM_32: u32 = 0x1B;
    pub const LOAD: u32 = 0x03;
    pub const STORE: u32 = 0x23;
    pub const JALR: u32 = 0x67;

    pub fn r(op: u32, f7: u32, f3: u32, d: u32, s: u32, t: u32) -> u32 {
        f7 << 25 | t << 20 | s << 15 | f3 << 12 | d << 7 | op
    }
    pub fn i(op: u32, f3: u32, d: u32, s: u32, imm: u32) -> u32 {
        (imm & 0xFFF) << 20 | s << 15 | f3 << 12 | d << 7 | op
    }
    pub fn s(f3: u32, s: u32, t: u32, imm: u32) -> u32 {
        r(STORE, imm >> 5 & 0x7F, f3, imm & 0x1F, s, t)
    }
    pub fn b(f3: u32, s: u32, imm: u32) -> u32 {
        let (high, low) = ((imm >> 12 & 1) << 6 | imm >> 5 & 0x3F, imm & 0x1E | imm >> 11 & 1);
        r(0x63, high, f3, low, s, 0)
    }
    pub fn jal(d: u32, imm: u32) -> u32 {
        (imm >> 20 & 1) << 31
            | (imm >> 1 & 0x3FF) << 21
            | (imm >> 11 & 1) << 20
            | (imm >> 12 & 0xFF) << 12
            | d << 7
            | 0x6F
    }
}

/// Puts the bits of the field `i`, most significant first, to `places`.
fn scatter(f: &Fields, places: &[u32]) -> u32 {
    let v = f.get('i');
    places.iter().rev().enumerate().fold(0, |sum, (k, place)| sum | (v >> k & 1) << place)
}

/// Like [`scatter`], sign-extended from the bit `top`.
fn scatter_signed(f: &Fields, places: &[u32], top: u32) -> u32 {
    let up = 31 - top;
    (((scatter(f, places) << up) as i32) >> up) as u32
}

/// A register of three bits: x8 to x15.
fn short(f: &Fields, letter: char) -> u32 {
    8 + f.get(letter)
}

/// Offset of C.J and C.JAL (16.4).
fn jump_offset(f: &Fields) -> u32 {
    scatter_signed(f, &[11, 4, 9, 8, 10, 6, 7, 3, 2, 1, 5], 11)
}

fn arithmetic(f: &Fields, op: u32, f7: u32, f3: u32) -> Option<u32> {
    Some(encode::r(op, f7, f3, short(f, 'd'), short(f, 'd'), short(f, 't')))
}

/// A shift of `d` by an immediate.
fn shift(f: &Fields, f7: u32, f3: u32, d: u32) -> Option<u32> {
    Some(encode::i(encode::OP_IMM, f3, d, d, f7 << 5 | f.get('i')))
}

fn branch_zero(f: &Fields, f3: u32) -> Option<u32> {
    Some(encode::b(f3, short(f, 's'), scatter_signed(f, &[8, 4, 3, 7, 6, 2, 1, 5], 8)))
}

const fn short_row(pattern: &'static str, only: Only, expand: fn(&Fields) -> Option<u32>) -> Compressed {
    Compressed { pattern: Pattern::new(pattern), only, expand }
}

/// Every compressed form without floating point.
#[rustfmt::skip]
pub(crate) static COMPRESSED: &[Compressed] = &[
    // quadrant 0
    short_row("000 iiiiiiii ddd 00", Any, |f| { // c.addi4spn
        let imm = scatter(f, &[5, 4, 9, 8, 7, 6, 2, 3]);
        (imm != 0).then(|| encode::i(encode::OP_IMM, 0, short(f, 'd'), 2, imm))
    }),
    // c.lw, c.ld, c.sw, c.sd
    short_row("010 iii sss ii ddd 00", Any,
        |f| Some(encode::i(encode::LOAD, 2, short(f, 'd'), short(f, 's'), scatter(f, &[5, 4, 3, 2, 6])))),
    short_row("011 iii sss ii ddd 00", Rv64,
        |f| Some(encode::i(encode::LOAD, 3, short(f, 'd'), short(f, 's'), scatter(f, &[5, 4, 3, 7, 6])))),
    short_row("110 iii sss ii ttt 00", Any,
        |f| Some(encode::s(2, short(f, 's'), short(f, 't'), scatter(f, &[5, 4, 3, 2, 6])))),
    short_row("111 iii sss ii ttt 00", Rv64,
        |f| Some(encode::s(3, short(f, 's'), short(f, 't'), scatter(f, &[5, 4, 3, 7, 6])))),
    // quadrant 1: c.addi, c.jal, c.addiw, c.li
    short_row("000 i ddddd iiiii 01", Any,
        |f| Some(encode::i(encode::OP_IMM, 0, f.get('d'), f.get('d'), f.signed('i') as u32))),
    short_row("001 iiiiiiiiiii 01", Rv32, |f| Some(encode::jal(1, jump_offset(f)))),
    short_row("001 i ddddd iiiii 01", Rv64, |f| {
        let d = f.get('d');
        (d != 0).then(|| encode::i(encode::OP_IMM_32, 0, d, d, f.signed('i') as u32))
    }),
    short_row("010 i ddddd iiiii 01", Any,
        |f| Some(encode::i(encode::OP_IMM, 0, f.get('d'), 0, f.signed('i') as u32))),
    short_row("011 i ddddd iiiii 01", Any, |f| match (f.get('d'), f.get('i')) {
        (_, 0) => None,
        (2, _) => Some(encode::i(encode::OP_IMM, 0, 2, 2, scatter_signed(f, &[9, 4, 6, 8, 7, 5], 9))), // c.addi16sp
        (d, _) => Some((f.signed('i') as u32) << 12 | d << 7 | 0x37),                                  // c.lui
    }),
    // c.srli, c.srai, c.andi
    short_row("100 0 00 ddd iiiii 01", Rv32, |f| shift(f, 0, 5, short(f, 'd'))),
    short_row("100 0 01 ddd iiiii 01", Rv32, |f| shift(f, 0x20, 5, short(f, 'd'))),
    short_row("100 i 00 ddd iiiii 01", Rv64, |f| shift(f, 0, 5, short(f, 'd'))),
    short_row("100 i 01 ddd iiiii 01", Rv64, |f| shift(f, 0x20, 5, short(f, 'd'))),
    short_row("100 i 10 ddd iiiii 01", Any,
        |f| Some(encode::i(encode::OP_IMM, 7, short(f, 'd'), short(f, 'd'), f.signed('i') as u32))),
    // c.sub, c.xor, c.or, c.and, c.subw, c.addw
    short_row("100 0 11 ddd 00 ttt 01", Any, |f| arithmetic(f, encode::OP, 0x20, 0)),
    short_row("100 0 11 ddd 01 ttt 01", Any, |f| arithmetic(f, encode::OP, 0, 4)),
    short_row("100 0 11 ddd 10 ttt 01", Any, |f| arithmetic(f, encode::OP, 0, 6)),
    short_row("100 0 11 ddd 11 ttt 01", Any, |f| arithmetic(f, encode::OP, 0, 7)),
    short_row("100 1 11 ddd 00 ttt 01", Rv64, |f| arithmetic(f, encode::OP_32, 0x20, 0)),
    short_row("100 1 11 ddd 01 ttt 01", Rv64, |f| arithmetic(f, encode::OP_32, 0, 0)),
    // c.j, c.beqz, c.bnez
    short_row("101 iiiiiiiiiii 01", Any, |f| Some(encode::jal(0, jump_offset(f)))),
    short_row("110 iii sss iiiii 01", Any, |f| branch_zero(f, 0)),
    short_row("111 iii sss iiiii 01", Any, |f| branch_zero(f, 1)),
    // quadrant 2: c.slli
    short_row("000 0 ddddd iiiii 10", Rv32, |f| shift(f, 0, 1, f.get('d'))),
    short_row("000 i ddddd iiiii 10", Rv64, |f| shift(f, 0, 1, f.get('d'))),
    short_row("010 i ddddd iiiii 10", Any, |f| { // c.lwsp
        let d = f.get('d');
        (d != 0).then(|| encode::i(encode::LOAD, 2, d, 2, scatter(f, &[5, 4, 3, 2, 7, 6])))
    }),
    short_row("011 i ddddd iiiii 10", Rv64, |f| { // c.ldsp
        let d = f.get('d');
        (d != 0).then(|| encode::i(encode::LOAD, 3, d, 2, scatter(f, &[5, 4, 3, 8, 7, 6])))
    }),
    short_row("100 0 ddddd ttttt 10", Any, |f| match (f.get('d'), f.get('t')) {
        (0, 0) => None,
        (s, 0) => Some(encode::i(encode::JALR, 0, 0, s, 0)),     // c.jr
        (d, t) => Some(encode::r(encode::OP, 0, 0, d, 0, t)),    // c.mv
    }),
    short_row("100 1 ddddd ttttt 10", Any, |f| match (f.get('d'), f.get('t')) {
        (0, 0) => Some(0x0010_0073),                             // c.ebreak
        (s, 0) => Some(encode::i(encode::JALR, 0, 1, s, 0)),     // c.jalr
        (d, t) => Some(encode::r(encode::OP, 0, 0, d, d, t)),    // c.add
    }),
    // c.swsp, c.sdsp
    short_row("110 iiiiii ttttt 10", Any, |f| Some(encode::s(2, 2, f.get('t'), scatter(f, &[5, 4, 3, 2, 7, 6])))),
    short_row("111 iiiiii ttttt 10", Rv64, |f| Some(encode::s(3, 2, f.get('t'), scatter(f, &[5, 4, 3, 8, 7, 6])))),
];
