//! The timing models' view of instructions, and the features in which cores differ.

/// Parts of the instruction set, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(u8);

impl Features {
    /// The instructions of ARMv6-M.
    pub const V6M: Self = Self(1);
    /// The instructions that ARMv7-M adds.
    pub const V7M: Self = Self(2);
    /// The instructions that the DSP extension adds.
    pub const DSP: Self = Self(4);
    /// A Cortex-M0+.
    pub const CORTEX_M0PLUS: Self = Self(1);
    /// A Cortex-M3.
    pub const CORTEX_M3: Self = Self(1 | 2);
    /// A Cortex-M4 or M7 without its floating-point unit.
    pub const CORTEX_M4: Self = Self(1 | 2 | 4);

    /// Whether a core with these features has the instructions of `part`.
    pub const fn has(self, part: Self) -> bool {
        self.0 & part.0 == part.0
    }
}

/// Classes of instructions that timing models distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data processing, moves, hints.
    Alu,
    /// MUL.
    Mul,
    /// MLA, MLS.
    MulAdd,
    /// UMULL, SMULL.
    MulLong,
    /// UMLAL, SMLAL.
    MulLongAdd,
    /// UDIV, SDIV.
    Div,
    /// Load of one register.
    Load,
    /// Load of the program counter.
    LoadPc,
    /// Store of one register.
    Store,
    /// LDREX, LDREXB, LDREXH.
    LoadExclusive,
    /// STREX, STREXB, STREXH.
    StoreExclusive,
    /// LDM, POP, LDRD.
    LoadMultiple,
    /// LDM or POP with the program counter.
    LoadMultiplePc,
    /// STM, PUSH, STRD.
    StoreMultiple,
    /// Branch that is always taken.
    Branch,
    /// Branch with a condition.
    BranchCond,
    /// TBB, TBH.
    TableBranch,
    /// IT.
    It,
    /// MRS, MSR, CPS.
    System,
    /// DSB, DMB, ISB.
    Barrier,
    /// Does not complete: a fault.
    Stop,
    /// Not an instruction: a skip, a check, a fall-through.
    Pseudo,
}

impl Class {
    /// Whether it ends a run, or its run where an IT block guards it.
    pub fn ends(self) -> bool {
        matches!(
            self,
            Self::LoadPc | Self::LoadMultiplePc | Self::Branch | Self::BranchCond | Self::TableBranch | Self::Stop
        )
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
    /// Registers written, one bit each.
    pub writes: u16,
    /// Registers from which the address of an access is computed, one bit each.
    pub address: u16,
    /// Registers read, one bit each.
    pub reads: u16,
    /// Whether it sets flags.
    pub sets_flags: bool,
    /// Whether it reads flags; a guarded instruction does.
    pub reads_flags: bool,
    /// Registers transferred by an instruction for several.
    pub count: u8,
    /// Whether the address is relative to the program counter.
    pub literal: bool,
    /// Whether an IT block guards it.
    pub guarded: bool,
    /// Whether it is a call.
    pub links: bool,
    /// Where a direct branch goes.
    pub target: Option<u32>,
}

/// The kind of the flexible second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    /// Immediate.
    Imm,
    /// Immediate made by rotation, which has a carry.
    ImmCarry,
    /// Register.
    #[default]
    Reg,
    /// Register shifted left.
    Lsl,
    /// Register shifted right.
    Lsr,
    /// Register shifted right with its sign.
    Asr,
    /// Register rotated right.
    Ror,
    /// Register rotated right by one through the carry.
    Rrx,
}
