//! What timing models see of instructions.

/// What a timing model distinguishes.
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
    /// DIV, REM and their kin; what depends on the operands is in [`crate::Events`].
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
    /// Reads of control and status registers.
    Csr,
    /// FENCE, FENCE.I.
    Fence,
    /// Does not end: a trap or a fault.
    Stop,
    /// No instruction: a check or a fall-through, at no cost.
    Pseudo,
}

impl Class {
    /// Whether it is the last of its run.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::Branch | Self::Jump | Self::JumpRegister | Self::Stop)
    }
}

/// What a timing model sees of one instruction.
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
}
