//! Operations and operand forms of the definitions in the table, and everything that follows from these two.

use isa::Fields;

use crate::step::Class;

/// The register that results for x0 go to.
pub(crate) const DROP: u8 = 32;

/// An operation on two numbers of the same width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    Add,
    Sub,
    Sll,
    Srl,
    Sra,
    Slt,
    Sltu,
    Xor,
    Or,
    And,
    Mul,
    Mulh,
    Mulhu,
}

/// Divisions, of 32 bits too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// DIV.
    Div,
    /// DIVU.
    Divu,
    /// REM.
    Rem,
    /// REMU.
    Remu,
}

impl Division {
    /// Whether its operands are signed.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Div | Self::Rem)
    }
}

/// The new value of memory after an AMO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amo {
    Swap,
    Add,
    Xor,
    And,
    Or,
    Min,
    Max,
    Minu,
    Maxu,
}

/// When a branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Eq,
    Ne,
    Lt,
    Ge,
    Ltu,
    Geu,
}

/// Bits of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Byte,
    Half,
    Word,
    Double,
}

impl Width {
    pub(crate) const fn bytes(self) -> u32 {
        1 << self as u32
    }
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Lui,
    Auipc,
    /// On full registers.
    Alu(Alu),
    /// On the lower 32 of 64 bits; the result is sign-extended.
    AluWord(Alu),
    /// The upper half of a signed number times an unsigned one.
    Mulhsu,
    Divide(Division),
    DivideWord(Division),
    /// The flag tells whether it extends the sign.
    Load(Width, bool),
    Store(Width),
    LoadReserved(Width),
    StoreConditional(Width),
    Amo(Amo, Width),
    Branch(Test),
    Jal,
    Jalr,
    Fence,
    ReadCsr,
    WriteCsr,
    Mret,
    Trap,
    Unsupported,
}

impl Op {
    /// Its class in timing models.
    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Alu(Alu::Mul) => Class::Multiply,
            Self::Alu(Alu::Mulh | Alu::Mulhu) | Self::Mulhsu => Class::MultiplyHigh,
            Self::AluWord(Alu::Mul | Alu::Mulh | Alu::Mulhu) => Class::MultiplyWord,
            Self::Lui | Self::Auipc | Self::Alu(_) | Self::AluWord(_) => Class::Alu,
            Self::Divide(_) | Self::DivideWord(_) => Class::Divide,
            Self::Load(Width::Byte | Width::Half, _) => Class::LoadNarrow,
            Self::Load(Width::Word | Width::Double, _) => Class::Load,
            Self::Store(_) => Class::Store,
            Self::LoadReserved(_) | Self::StoreConditional(_) | Self::Amo(..) => Class::Atomic,
            Self::Branch(_) => Class::Branch,
            Self::Jal => Class::Jump,
            Self::Jalr | Self::Mret => Class::JumpRegister,
            Self::Fence => Class::Fence,
            Self::ReadCsr | Self::WriteCsr => Class::Csr,
            Self::Trap | Self::Unsupported => Class::Stop,
        }
    }

    /// Why it is always left to its handler and never lowered, if so.
    pub(crate) const fn by_handler(self) -> Option<&'static str> {
        match self {
            Self::Mulhsu => Some("seldom"),
            Self::Divide(_) | Self::DivideWord(_) => Some("its cycles depend on its operands"),
            Self::LoadReserved(_) | Self::StoreConditional(_) | Self::Amo(..) => Some("seldom"),
            Self::ReadCsr => Some("it reads the number of cycles"),
            Self::WriteCsr => Some("it sets the number of cycles"),
            Self::Mret => Some("it goes where a register without a model says"),
            Self::Trap | Self::Unsupported => Some("it faults"),
            Self::Lui | Self::Auipc | Self::Alu(_) | Self::AluWord(_) | Self::Load(..) | Self::Store(_) => None,
            Self::Branch(_) | Self::Jal | Self::Jalr | Self::Fence => None,
        }
    }
}

/// Where operands are in an encoding; named after the formats of the manual (2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Registers only, R.
    R,
    /// A signed immediate instead of the second register, I.
    I,
    /// An unsigned one: an amount of a shift.
    Amount,
    /// Base, offset and the register that is stored, S.
    S,
    /// Upper 20 bits, U.
    U,
    /// Two registers and a target, B.
    B,
    /// A target, J.
    J,
    /// The whole encoding: of a control and status register's access, or for a fault.
    Word,
}

/// Operands of one instruction; see [`crate::exec`] for their positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub imm: u32,
}

impl Form {
    /// The operands of an instruction at `pc`: all its registers, and the immediate.
    pub(crate) fn operands(self, f: &Fields, pc: u32) -> Operands {
        let imm = match self {
            Self::R | Self::Amount => f.get('i'),
            Self::I | Self::S => f.signed('i') as u32,
            Self::U => f.get('i') << 12,
            Self::B => pc.wrapping_add_signed(
                f.signed('k') << 12 | (f.get('l') << 11 | f.get('m') << 5 | f.get('n') << 1) as i32,
            ),
            Self::J => pc.wrapping_add_signed(
                f.signed('k') << 20 | (f.get('l') << 12 | f.get('m') << 11 | f.get('n') << 1) as i32,
            ),
            Self::Word => f.word,
        };
        let d = f.get('d') as u8;
        Operands { a: if d == 0 { DROP } else { d }, b: f.get('s') as u8, c: f.get('t') as u8, imm }
    }

    /// Whether the second operand is the immediate.
    pub(crate) const fn immediate(self) -> bool {
        match self {
            Self::I | Self::Amount | Self::U | Self::J | Self::Word => true,
            Self::R | Self::S | Self::B => false,
        }
    }
}

/// Entries of a run that are not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pseudo {
    /// A run's end: the program counter becomes `imm`.
    Seam,
    /// Reports the stack pointer.
    Stack,
    /// A word that is not an instruction.
    Undefined,
    /// An address outside flash.
    Outside,
}
