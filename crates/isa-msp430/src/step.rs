//! Derives from an operation its timing class and where control goes.

use crate::op::Op;

/// Classes of instructions that timing models distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Format I: two operands.
    Two,
    /// Format II, back to where the operand came from: RRC, RRA, SWPB, SXT.
    One,
    /// PUSH.
    Push,
    /// CALL.
    Call,
    /// RETI.
    Return,
    /// Format III: jumps, whether taken or not.
    Jump,
    /// Not an instruction: a run falls through here, at no cost.
    Seam,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next one, unless it writes the program counter.
    Next,
    /// To the next one or to its target.
    Branch,
    /// Anywhere else.
    End,
}

/// An addressing mode as timing tables distinguish them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Rn, and constants from the generator.
    #[default]
    Register,
    /// The program counter as a destination.
    ProgramCounter,
    /// X(Rn), symbolic and absolute.
    Indexed,
    /// @Rn.
    Indirect,
    /// @Rn+.
    Increment,
    /// #N.
    Immediate,
}

/// A timing model's view of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Timing class.
    pub class: Class,
    /// Mode of the source or only operand.
    pub src: Mode,
    /// Mode of the destination of [`Class::Two`].
    pub dst: Mode,
    /// Whether its result only sets the status: CMP and BIT. The cycles are those of the others.
    pub compares: bool,
}

impl Op {
    /// Its timing class.
    pub fn class(self) -> Class {
        match self {
            Self::Binary(_) | Self::Carry(_) => Class::Two,
            Self::Unary(_) => Class::One,
            Self::Push => Class::Push,
            Self::Call => Class::Call,
            Self::Reti => Class::Return,
            Self::Jump(_) | Self::Jmp => Class::Jump,
            Self::Seam | Self::Undefined | Self::Truncated | Self::Forbidden => Class::Seam,
        }
    }

    pub(crate) fn flow(self) -> Flow {
        match self {
            Self::Binary(_) | Self::Unary(_) | Self::Push | Self::Carry(_) => Flow::Next,
            Self::Jump(_) => Flow::Branch,
            Self::Call | Self::Reti | Self::Jmp | Self::Seam => Flow::End,
            Self::Undefined | Self::Truncated | Self::Forbidden => Flow::End,
        }
    }
}
