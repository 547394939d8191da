//! Operations and operand forms of instructions, for table, decoder, interpreter and timing.
//! Every match on an operation names all of them, so that a forgotten one does not compile.

use crate::status::{ALL, C, N, V, Z};

/// Two operands, the result to the second one.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Mov,
    Add,
    Addc,
    Subc,
    Sub,
    Cmp,
    Dadd,
    Bit,
    Bic,
    Bis,
    Xor,
    And,
}

/// One operand, with the result written back to it.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Rrc,
    Swpb,
    Rra,
    Sxt,
}

/// When a jump is taken.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Jne,
    Jeq,
    Jnc,
    Jc,
    Jn,
    Jge,
    Jl,
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Two operands.
    Binary(Binary),
    /// One operand.
    Unary(Unary),
    /// PUSH.
    Push,
    /// CALL.
    Call,
    /// RETI.
    Reti,
    /// A conditional jump.
    Jump(Condition),
    /// JMP.
    Jmp,
    /// CLRC and SETC, which are BIC and BIS of the status register: the only change of it that compilers make often.
    Carry(bool),
    /// Not an instruction: a run falls through.
    Seam,
    /// Not an instruction.
    Undefined,
    /// Flash ends in the instruction.
    Truncated,
    /// An instruction that an erratum of the core forbids.
    Forbidden,
}

/// Which operands an encoding has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// None.
    None,
    /// Format I: a source and a destination.
    SourceDestination,
    /// Format II: an operand that is read.
    Source,
    /// Format II: an operand that is written back.
    InPlace,
    /// Format III: a distance.
    Distance,
}

impl Binary {
    /// Flags that it reads.
    pub(crate) const fn reads(self) -> u16 {
        match self {
            Self::Addc | Self::Subc | Self::Dadd => C,
            Self::Mov
            | Self::Add
            | Self::Sub
            | Self::Cmp
            | Self::Bit
            | Self::Bic
            | Self::Bis
            | Self::Xor
            | Self::And => 0,
        }
    }

    /// Flags that it sets whenever it is executed.
    pub(crate) const fn sets(self) -> u16 {
        match self {
            Self::Mov | Self::Bic | Self::Bis => 0,
            Self::Add | Self::Addc | Self::Subc | Self::Sub | Self::Cmp | Self::Dadd => ALL,
            Self::Bit | Self::Xor | Self::And => ALL,
        }
    }
}

impl Unary {
    /// Flags that it reads.
    pub(crate) const fn reads(self) -> u16 {
        match self {
            Self::Rrc => C,
            Self::Swpb | Self::Rra | Self::Sxt => 0,
        }
    }

    /// Flags that it sets whenever it is executed.
    pub(crate) const fn sets(self) -> u16 {
        match self {
            Self::Swpb => 0,
            Self::Rrc | Self::Rra | Self::Sxt => ALL,
        }
    }
}

impl Condition {
    /// Flags that it reads.
    pub(crate) const fn reads(self) -> u16 {
        match self {
            Self::Jne | Self::Jeq => Z,
            Self::Jnc | Self::Jc => C,
            Self::Jn => N,
            Self::Jge | Self::Jl => N | V,
        }
    }
}

impl Op {
    /// Flags that it reads.
    pub(crate) const fn reads(self) -> u16 {
        match self {
            Self::Binary(op) => op.reads(),
            Self::Unary(op) => op.reads(),
            Self::Jump(condition) => condition.reads(),
            Self::Push | Self::Call | Self::Reti | Self::Jmp | Self::Carry(_) => 0,
            Self::Seam | Self::Undefined | Self::Truncated | Self::Forbidden => 0,
        }
    }

    /// Flags that it sets whenever it is executed.
    pub(crate) const fn sets(self) -> u16 {
        match self {
            Self::Binary(op) => op.sets(),
            Self::Unary(op) => op.sets(),
            Self::Carry(_) => C,
            Self::Push | Self::Call | Self::Reti | Self::Jump(_) | Self::Jmp => 0,
            Self::Seam | Self::Undefined | Self::Truncated | Self::Forbidden => 0,
        }
    }
}
