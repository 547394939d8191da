//! Derives from an operation its timing class, where control goes, and the flags that it reads and writes.

use crate::op::{Binary, Op, Unary};
use crate::sreg::{C, H, N, S, T, V, Z};

/// Classes of instructions that timing models distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Register operations, IN, OUT, NOP, WDR and everything else that takes one cycle everywhere.
    Alu,
    /// ADIW, SBIW.
    Word,
    /// The multiplications.
    Multiply,
    /// SBI, CBI.
    IoBit,
    /// LD and LDD.
    Load,
    /// ST and STD.
    Store,
    /// LDS.
    LoadDirect,
    /// STS.
    StoreDirect,
    /// LPM, ELPM.
    LoadProgram,
    /// PUSH.
    Push,
    /// POP.
    Pop,
    /// RJMP, IJMP.
    JumpShort,
    /// JMP.
    Jump,
    /// RCALL, ICALL.
    CallShort,
    /// CALL.
    Call,
    /// RET, RETI.
    Return,
    /// Conditional branches.
    Branch,
    /// CPSE, SBRC, SBRS.
    Skip,
    /// SBIC, SBIS.
    SkipIo,
    /// Not an instruction: a run falls through here, at no cost.
    Seam,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next one.
    Next,
    /// To the next one or to its target.
    Branch,
    /// To the next one or the one after it.
    Skip,
    /// Anywhere else.
    End,
}

/// A timing model's view of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Timing class.
    pub class: Class,
    /// For a skip, the words of the instruction after it; otherwise 0.
    pub skipped_words: u8,
}

/// In a flag mask: all flags when the instruction's address is that of SREG.
pub(crate) const IF_SREG: u16 = 0x100;
/// All flags.
pub(crate) const ALL: u8 = 0xFF;

const ARITH: u16 = (H | S | V | N | Z | C) as u16;
const SHIFT: u16 = (S | V | N | Z | C) as u16;
const LOGIC: u16 = (S | V | N | Z) as u16;
const ZC: u16 = (Z | C) as u16;
/// A pointer can point to SREG.
const POINTER: u16 = ALL as u16;

impl Op {
    /// Its timing class.
    pub fn class(self) -> Class {
        match self {
            Self::Binary(..) | Self::Unary(_) | Self::Mov | Self::Movw | Self::Ldi | Self::Bst | Self::Bld => {
                Class::Alu
            }
            Self::In | Self::Out | Self::Set(_) | Self::Clear(_) | Self::Nop => Class::Alu,
            Self::Spm | Self::Sleep | Self::Break => Class::Alu,
            Self::Wide(_) => Class::Word,
            Self::Multiply(_) => Class::Multiply,
            Self::Cbi | Self::Sbi => Class::IoBit,
            Self::Load(..) => Class::Load,
            Self::Store(..) => Class::Store,
            Self::Lds => Class::LoadDirect,
            Self::Sts => Class::StoreDirect,
            Self::Lpm(_) | Self::Elpm(_) => Class::LoadProgram,
            Self::Push => Class::Push,
            Self::Pop => Class::Pop,
            Self::Rjmp | Self::Ijmp => Class::JumpShort,
            Self::Jmp => Class::Jump,
            Self::Rcall | Self::Icall => Class::CallShort,
            Self::Call => Class::Call,
            Self::Ret | Self::Reti => Class::Return,
            Self::BranchSet(_) | Self::BranchClear(_) => Class::Branch,
            Self::Skip(_) => Class::Skip,
            Self::SkipIo(_) => Class::SkipIo,
            Self::Seam | Self::Undefined | Self::Truncated => Class::Seam,
        }
    }

    pub(crate) fn flow(self) -> Flow {
        match self {
            Self::Binary(..) | Self::Unary(_) | Self::Wide(_) | Self::Multiply(_) | Self::Mov | Self::Movw => {
                Flow::Next
            }
            Self::Ldi | Self::Bst | Self::Bld | Self::Load(..) | Self::Store(..) | Self::Lds | Self::Sts => Flow::Next,
            Self::Push | Self::Pop | Self::Lpm(_) | Self::Elpm(_) | Self::In | Self::Out => Flow::Next,
            Self::Cbi | Self::Sbi | Self::Set(_) | Self::Clear(_) | Self::Nop => Flow::Next,
            Self::BranchSet(_) | Self::BranchClear(_) => Flow::Branch,
            Self::Skip(_) | Self::SkipIo(_) => Flow::Skip,
            Self::Rjmp | Self::Rcall | Self::Jmp | Self::Call | Self::Ijmp | Self::Icall => Flow::End,
            Self::Ret | Self::Reti | Self::Spm | Self::Sleep | Self::Break => Flow::End,
            Self::Seam | Self::Undefined | Self::Truncated => Flow::End,
        }
    }

    /// Flags that it reads, a mask of SREG bits, perhaps with [`IF_SREG`].
    pub(crate) fn reads(self) -> u16 {
        match self {
            Self::Binary(op, _) => match op {
                Binary::Adc => C.into(),
                Binary::Sbc | Binary::Cpc => ZC,
                Binary::Add | Binary::Sub | Binary::Cp | Binary::And | Binary::Or | Binary::Eor => 0,
            },
            Self::Unary(op) => match op {
                Unary::Ror => C.into(),
                Unary::Com | Unary::Neg | Unary::Swap | Unary::Inc | Unary::Dec | Unary::Asr | Unary::Lsr => 0,
            },
            Self::Bld => T.into(),
            Self::Load(..) | Self::Pop => POINTER,
            Self::Lds | Self::In => IF_SREG,
            Self::BranchSet(flag) | Self::BranchClear(flag) => flag.mask().into(),
            Self::Wide(_) | Self::Multiply(_) | Self::Mov | Self::Movw | Self::Ldi | Self::Bst => 0,
            Self::Store(..) | Self::Sts | Self::Out | Self::Push | Self::Lpm(_) | Self::Elpm(_) | Self::Spm => 0,
            Self::Cbi | Self::Sbi | Self::Skip(_) | Self::SkipIo(_) | Self::Set(_) | Self::Clear(_) => 0,
            Self::Rjmp | Self::Rcall | Self::Jmp | Self::Call | Self::Ijmp | Self::Icall | Self::Ret | Self::Reti => 0,
            Self::Nop | Self::Sleep | Self::Break | Self::Seam | Self::Undefined | Self::Truncated => 0,
        }
    }

    /// Flags that it writes whenever it is executed, likewise.
    pub(crate) fn writes(self) -> u16 {
        match self {
            Self::Binary(op, _) => match op {
                Binary::Add | Binary::Adc | Binary::Sub | Binary::Sbc | Binary::Cp | Binary::Cpc => ARITH,
                Binary::And | Binary::Or | Binary::Eor => LOGIC,
            },
            Self::Unary(op) => match op {
                Unary::Neg => ARITH,
                Unary::Com | Unary::Asr | Unary::Lsr | Unary::Ror => SHIFT,
                Unary::Inc | Unary::Dec => LOGIC,
                Unary::Swap => 0,
            },
            Self::Wide(_) => SHIFT,
            Self::Multiply(_) => ZC,
            Self::Bst => T.into(),
            Self::Sts | Self::Out => IF_SREG,
            Self::Set(flag) | Self::Clear(flag) => flag.mask().into(),
            Self::Mov | Self::Movw | Self::Ldi | Self::Bld | Self::Load(..) | Self::Store(..) | Self::Lds => 0,
            Self::Push | Self::Pop | Self::Lpm(_) | Self::Elpm(_) | Self::Spm | Self::In | Self::Cbi | Self::Sbi => 0,
            Self::Skip(_) | Self::SkipIo(_) | Self::BranchSet(_) | Self::BranchClear(_) => 0,
            Self::Rjmp | Self::Rcall | Self::Jmp | Self::Call | Self::Ijmp | Self::Icall | Self::Ret | Self::Reti => 0,
            Self::Nop | Self::Sleep | Self::Break | Self::Seam | Self::Undefined | Self::Truncated => 0,
        }
    }
}
