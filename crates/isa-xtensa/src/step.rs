//! Derives from an operation its timing class and how a run continues.

use crate::op::{Binary, Loop, Op};

/// Classes of instructions that timing models distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arithmetic, moves, shifts.
    Alu,
    /// 16-bit multiplication.
    Mul16,
    /// 32-bit multiplication, low or high word.
    Mul32,
    /// Division.
    Div,
    /// Load from data memory.
    Load,
    /// L32R.
    Literal,
    /// Store.
    Store,
    /// Conditional branch.
    Branch,
    /// J, CALL0 and windowed calls to a fixed address.
    Jump,
    /// JX, CALLX, RET.
    JumpRegister,
    /// ENTRY.
    Entry,
    /// RETW.
    ReturnWindow,
    /// Start of a hardware loop.
    Loop,
    /// Access to special and user registers.
    Special,
    /// MEMW and similar.
    Barrier,
    /// ISYNC.
    Sync,
    /// Return from an exception.
    ReturnException,
    /// ROTW, MOVSP.
    Window,
    /// Does not complete: a fault.
    Stop,
    /// Not an instruction.
    Pseudo,
}

/// How a run continues after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next instruction.
    Next,
    /// With the next instruction, in another run.
    Cut,
    /// Like [`Flow::Cut`], or elsewhere.
    May,
    /// Elsewhere.
    Ends,
}

impl Op {
    /// Its class in timing models.
    pub fn class(self) -> Class {
        match self {
            Self::Binary(op) => match op {
                Binary::And | Binary::Or | Binary::Xor => Class::Alu,
                Binary::Add | Binary::Addx2 | Binary::Addx4 | Binary::Addx8 => Class::Alu,
                Binary::Sub | Binary::Subx2 | Binary::Subx4 | Binary::Subx8 => Class::Alu,
                Binary::Min | Binary::Max | Binary::Minu | Binary::Maxu => Class::Alu,
                Binary::Mul16u | Binary::Mul16s => Class::Mul16,
                Binary::Mull | Binary::Muluh | Binary::Mulsh => Class::Mul32,
            },
            Self::Unary(_) | Self::Movi | Self::Keep(_) | Self::Amount(_) | Self::Shift(_) | Self::Nop => Class::Alu,
            Self::Divide(_) => Class::Div,
            Self::L32r | Self::Literal => Class::Literal,
            Self::Load(_) => Class::Load,
            Self::Store(_) | Self::S32c1i => Class::Store,
            Self::Branch(..) => Class::Branch,
            Self::J | Self::Call0 | Self::Call => Class::Jump,
            Self::Jx | Self::Callx0 | Self::Callx => Class::JumpRegister,
            Self::Retw => Class::ReturnWindow,
            Self::Entry => Class::Entry,
            Self::Movsp | Self::Rotw => Class::Window,
            Self::Rfwo | Self::Rfwu | Self::Rfe => Class::ReturnException,
            Self::Loop(_) => Class::Loop,
            Self::Wait => Class::Barrier,
            Self::Isync => Class::Sync,
            Self::Rsil | Self::Rsr | Self::Wsr | Self::Xsr | Self::Rur | Self::Wur => Class::Special,
            Self::Trap | Self::Unsupported | Self::BadOpcode | Self::BadFetch => Class::Stop,
            Self::WindowCheck | Self::EntryCheck | Self::Stack | Self::GoOn | Self::LoopEnd => Class::Pseudo,
        }
    }

    /// How a run continues after it.
    pub(crate) fn flow(self) -> Flow {
        match self {
            Self::Binary(_) | Self::Unary(_) | Self::Movi | Self::Keep(_) | Self::Divide(_) => Flow::Next,
            Self::Amount(_) | Self::Shift(_) | Self::L32r | Self::Literal => Flow::Next,
            Self::Load(_)
            | Self::Store(_)
            | Self::S32c1i
            | Self::Nop
            | Self::Wait
            | Self::Rsr
            | Self::Rur
            | Self::Wur
            | Self::Stack => Flow::Next,
            Self::Branch(..) | Self::Movsp | Self::WindowCheck | Self::EntryCheck => Flow::May,
            Self::Loop(op) => match op {
                Loop::Loop => Flow::Cut,
                Loop::Loopnez | Loop::Loopgtz => Flow::May,
            },
            Self::Entry | Self::Rotw | Self::Isync | Self::Rsil | Self::Wsr | Self::Xsr => Flow::Cut,
            Self::J | Self::Jx | Self::Call0 | Self::Callx0 | Self::Call | Self::Callx | Self::Retw => Flow::Ends,
            Self::Rfwo | Self::Rfwu | Self::Rfe | Self::Trap | Self::Unsupported => Flow::Ends,
            Self::GoOn | Self::LoopEnd | Self::BadOpcode | Self::BadFetch => Flow::Ends,
        }
    }
}

/// A timing model's view of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its operation.
    pub op: Op,
    /// Kind of work.
    pub class: Class,
    /// Address.
    pub pc: u32,
    /// Length: 2 or 3, 0 for a pseudo-instruction.
    pub bytes: u8,
    /// Registers read, one bit each.
    pub reads: u16,
    /// Registers written, one bit each.
    pub writes: u16,
    /// The register that a store writes to memory; its bit is not among `reads`.
    pub data: u16,
    /// Where a direct branch goes, and the length of the instruction there.
    pub target: Option<(u32, u32)>,
}
