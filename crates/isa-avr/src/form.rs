//! Operand forms: which fields of an encoding are which operands.

use isa::Fields;

/// Where an instruction's operands are in its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// None; the word itself is kept.
    None,
    /// A register.
    D,
    /// Two registers.
    DR,
    /// Two registers of r16 to r31 (or r23).
    HighDR,
    /// Two pairs of registers.
    PairDR,
    /// A register of r16 to r31 and a constant.
    HighDK,
    /// A pair of r24 to r31 and a constant.
    WordDK,
    /// A register and a data address.
    DK,
    /// A register and a bit.
    DB,
    /// A register and a displacement.
    DQ,
    /// A register and an I/O address.
    DIo,
    /// An I/O address and a bit.
    IoB,
    /// A distance in words.
    Relative,
    /// An address of a word.
    Absolute,
}

/// Operands of one instruction: what goes into the decoded instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub imm: u32,
    /// Whether `imm` is an I/O address, so that the data address depends on the core.
    pub io: bool,
}

impl Form {
    /// The operands of an instruction at `pc`.
    pub(crate) fn operands(self, f: &Fields, pc: u32) -> Operands {
        let [d, r, b, q] = ['d', 'r', 'b', 'q'].map(|letter| f.get(letter) as u8);
        let (k, io) = (f.get('k'), f.get('i'));
        let of = |a, b, imm| Operands { a, b, imm, io: false };
        match self {
            Self::None => of(0, 0, f.word),
            Self::D => of(d, 0, 0),
            Self::DR => of(d, r, 0),
            Self::HighDR => of(16 + d, 16 + r, 0),
            Self::PairDR => of(2 * d, 2 * r, 0),
            Self::HighDK => of(16 + d, 0, k),
            Self::WordDK => of(24 + 2 * d, 0, k),
            Self::DK => of(d, 0, k),
            Self::DB => of(d, b, 0),
            Self::DQ => of(d, q, 0),
            Self::DIo => Operands { a: d, b: 0, imm: io, io: true },
            Self::IoB => Operands { a: 0, b, imm: io, io: true },
            Self::Relative => of(0, 0, pc.wrapping_add(2).wrapping_add_signed(2 * f.signed('k'))),
            Self::Absolute => of(0, 0, 2 * k),
        }
    }
}
