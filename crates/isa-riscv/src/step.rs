//! The timing models' view of instructions.

/// Classes of instructions that timing models distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Integer operations on registers and immediates.
    Alu,
    /// MUL.
    Multiply,
    /// MULH, MULHU, MULHSU.
    MultiplyHigh,
    /// MULW.
    MultiplyWord,
    /// DIV, REM and similar; costs that depend on operands are in [`crate::Events`].
    Divide,
    /// Load of 32 or 64 bits.
    Load,
    /// Load of 8 or 16 bits.
    LoadNarrow,
    /// Stores.
    Store,
    /// LR, SC, AMO.
    Atomic,
    /// Conditional branches.
    Branch,
    /// JAL.
    Jump,
    /// JALR.
    JumpRegister,
    /// Reads and writes of control and status registers.
    Csr,
    /// FENCE, FENCE.I.
    Fence,
    /// Does not complete: a trap or a fault.
    Stop,
    /// Not an instruction: a check or a fall-through, at no cost.
    Pseudo,
}

impl Class {
    /// Whether it is the last of its run.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::Branch | Self::Jump | Self::JumpRegister | Self::Stop)
    }
}

/// A timing model's view of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Kind of work.
    pub class: Class,
    /// Address.
    pub pc: u32,
    /// Length: 2 or 4, 0 for a pseudo-instruction.
    pub bytes: u8,
    /// Register written; 0 for none.
    pub rd: u8,
    /// Register read first; 0 for none.
    pub rs1: u8,
    /// Register read second; 0 for none.
    pub rs2: u8,
    /// Whether it goes to an instruction of four bytes that are in two words, as far as its encoding tells where it goes.
    pub splits: bool,
}
