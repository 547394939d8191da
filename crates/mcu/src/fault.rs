//! Named faults: every way in which a program on the target can fail.

use std::fmt;

/// What went wrong.
#[allow(missing_docs)] // the fields' names say what they contain
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The word at the program counter is not an instruction of this core.
    BadOpcode { word: u32 },
    /// The program counter left the flash.
    BadFetch,
    /// A branch to an even address, which would leave Thumb state.
    ArmState,
    /// A data access outside the memory map, or to a peripheral that is not modelled.
    OutOfRange { address: u32, write: bool },
    /// A store into flash.
    FlashWrite { address: u32 },
    /// An access whose alignment this core traps.
    Unaligned { address: u32 },
    /// The stack pointer went below the guard that the harness set.
    StackIntoData { sp: u32, limit: u32 },
    /// The stack pointer went above where the measured call found it: a frame is larger than all below it.
    StackWraps { sp: u32, top: u32 },
    /// An instruction that needs a privilege, coprocessor or FPU that the core does not have.
    Unsupported { word: u32 },
    /// Registers have to be saved or filled, and nothing says where the program's code for it is.
    NoHandlers,
    /// More hardware loops than the simulator keeps.
    ManyLoops { most: usize },
    /// The program executed a breakpoint or trap instruction.
    Trap,
    /// The trigger pin was driven by code outside the harness.
    ForeignTrigger,
    /// After the falling edge the program did not return to the harness.
    LeftHarness,
    /// A peripheral was used between the trigger's edges.
    Peripheral { address: u32 },
    /// A measured call returned with a register changed that a function has to keep.
    Convention { register: &'static str },
}

impl FaultKind {
    /// The fixed name in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BadOpcode { .. } => "bad-opcode",
            Self::BadFetch | Self::ArmState => "bad-fetch",
            Self::OutOfRange { .. } => "out-of-range",
            Self::FlashWrite { .. } => "flash-write",
            Self::Unaligned { .. } => "unaligned",
            Self::StackIntoData { .. } | Self::StackWraps { .. } => "stack-into-data",
            Self::Unsupported { .. } => "unsupported",
            Self::NoHandlers => "no-handlers",
            Self::ManyLoops { .. } => "many-loops",
            Self::Trap => "trap",
            Self::ForeignTrigger => "foreign-trigger",
            Self::LeftHarness => "left-harness",
            Self::Peripheral { .. } => "peripheral",
            Self::Convention { .. } => "convention",
        }
    }
}

/// A fault with where and when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Address of the instruction.
    pub pc: u32,
    /// Cycles since reset.
    pub cycle: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::BadOpcode { word } => write!(f, "unknown opcode {word:#06x}")?,
            FaultKind::BadFetch => write!(f, "program counter outside flash")?,
            FaultKind::ArmState => {
                write!(f, "branch to an even address: Arm state, which a Cortex-M does not have,")?;
            }
            FaultKind::OutOfRange { address, write } => {
                let verb = if write { "write to" } else { "read from" };
                write!(f, "{verb} unmapped address {address:#x}")?;
            }
            FaultKind::FlashWrite { address } => write!(f, "write to flash at {address:#x}")?,
            FaultKind::Unaligned { address } => write!(f, "unaligned access to {address:#x}")?,
            FaultKind::StackIntoData { sp, limit } => {
                write!(f, "stack pointer {sp:#x} below its limit {limit:#x}")?;
            }
            FaultKind::StackWraps { sp, top } => {
                write!(f, "stack pointer {sp:#x} above {top:#x}, where the call began: a frame wraps around")?;
            }
            FaultKind::Unsupported { word } => write!(f, "instruction {word:#06x} is not modelled")?,
            FaultKind::NoHandlers => {
                write!(f, "calls go deeper than the registers, and the image has no handlers of window exceptions")?;
            }
            FaultKind::ManyLoops { most } => {
                write!(f, "hardware loops end at more than {most} addresses, which is not modelled")?;
            }
            FaultKind::Trap => write!(f, "breakpoint or trap instruction")?,
            FaultKind::ForeignTrigger => write!(f, "the trigger pin was driven by code outside of the harness")?,
            FaultKind::LeftHarness => write!(f, "the measured call did not return to the harness")?,
            FaultKind::Peripheral { address } => {
                write!(f, "a measured call used the peripheral at {address:#x}")?;
            }
            FaultKind::Convention { register } => {
                write!(f, "the call changed register {register}, which a function has to keep")?;
            }
        }
        write!(f, " at pc {:#x}, cycle {}", self.pc, self.cycle)
    }
}
