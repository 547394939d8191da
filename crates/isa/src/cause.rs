//! Where the cycles of instructions go: by cause, and by the work that an instruction does.

use std::collections::BTreeMap;

/// Why a cycle passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The first cycle of an instruction, which an instruction that is issued beside another does not have.
    Issue,
    /// Cycles beyond it that the instruction has wherever it is.
    Work,
    /// An operand, the bus or the instruction's second half was not there: what neighbours cost each other.
    Neighbours,
    /// A taken branch, a skip: the pipeline fills again.
    Refill,
    /// A branch was predicted wrongly.
    Mispredicted,
    /// Code was not there: wait states of flash, a line that no buffer or cache holds.
    Fetch,
    /// The bus to data memory.
    Bus,
    /// Data was read from flash.
    FlashData,
    /// An access was not aligned.
    Unaligned,
    /// Operand values made the instruction longer: division, long multiplication.
    Operands,
    /// Instructions whose condition failed, and exceptions in an instruction's place.
    Instead,
}

impl Cause {
    /// Its fixed name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Work => "work",
            Self::Neighbours => "neighbours",
            Self::Refill => "refill",
            Self::Mispredicted => "mispredicted",
            Self::Fetch => "fetch",
            Self::Bus => "bus",
            Self::FlashData => "flash-data",
            Self::Unaligned => "unaligned",
            Self::Operands => "operands",
            Self::Instead => "instead",
        }
    }
}

/// What an instruction does, as far as cycles are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Arithmetic, moves.
    Compute,
    /// A product.
    Multiply,
    /// A quotient or a remainder.
    Divide,
    /// A load.
    Load,
    /// A store.
    Store,
    /// Loads or stores of several registers, push and pop among them.
    Several,
    /// Branches, jumps, calls, returns, skips.
    Branch,
    /// Anything about the system: special registers, barriers.
    System,
    /// No instruction.
    Nothing,
}

impl Work {
    /// Whether it may read or write data: a branch may read where to.
    pub(crate) fn accesses(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::Several | Self::Branch)
    }

    /// Its fixed name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Load => "load",
            Self::Store => "store",
            Self::Several => "load or store several",
            Self::Branch => "branch",
            Self::System => "system",
            Self::Nothing => "none",
        }
    }
}

/// How often something cost cycles, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Times.
    pub times: u64,
    /// Cycles.
    pub cycles: u64,
}

/// Cycles by cause and work.
pub type Shares = BTreeMap<(Cause, Work), Share>;

pub(crate) fn add(shares: &mut Shares, cause: Cause, work: Work, cycles: u64) {
    if cycles > 0 || cause == Cause::Issue {
        let share = shares.entry((cause, work)).or_default();
        share.times += 1;
        share.cycles += cycles;
    }
}
