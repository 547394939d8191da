//! Operations of the instructions in the table, and everything that follows from an operation alone.

use crate::step::Class;

/// Data processing with a flexible second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Mov,
    Mvn,
    Tst,
    Teq,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
    Cmp,
    Cmn,
}

impl Alu {
    /// Whether it has a destination.
    pub(crate) const fn writes(self) -> bool {
        !matches!(self, Self::Tst | Self::Teq | Self::Cmp | Self::Cmn)
    }
}

/// A shift by a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
}

/// Operations that compute one register from others and leave the flags alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    Movt,
    Extend(Size, bool),
    Rev,
    Rev16,
    Revsh,
    Rbit,
    Clz,
    Extract(bool),
    Insert,
    Clear,
    Mla,
    Mls,
}

/// The unit that an access transfers, or that is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Byte,
    Half,
    Word,
}

impl Size {
    pub(crate) const fn bytes(self) -> u32 {
        1 << self as u32
    }
}

/// Whether numbers are signed.
pub(crate) const SIGNED: bool = true;
pub(crate) const UNSIGNED: bool = false;
/// Whether the words of several registers are below the base.
pub(crate) const DOWN: bool = true;
pub(crate) const UP: bool = false;

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Data(Alu),
    Shift(Shift),
    Simple(Simple),
    Saturate(bool),
    /// Hints, preloads.
    Nop,
    Mul,
    MulLong(bool),
    MulLongAdd(bool),
    Div(bool),
    Dsp(Dsp),
    Load(Size, bool),
    LoadPc,
    Store(Size),
    LoadDual,
    StoreDual,
    LoadMultiple(bool),
    LoadMultiplePc(bool),
    StoreMultiple(bool),
    LoadExclusive(Size),
    StoreExclusive(Size),
    ClearExclusive,
    B,
    BCond,
    /// CBNZ, or CBZ.
    CompareBranch(bool),
    Bl,
    Bx,
    Blx,
    MovPc,
    AddPc,
    TableBranch(Size),
    It,
    Barrier,
    ChangeState,
    ReadSpecial,
    WriteSpecial,
    Sev,
    Wfe,
    Trap,
    Unsupported,
    Undefined,
}

/// Parallel operations on lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    Add8,
    Add16,
    Asx,
    Sub8,
    Sub16,
    Sax,
}

/// How parallel operations treat overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    S,
    Q,
    Sh,
    U,
    Uq,
    Uh,
}

/// How a product is used: alone, or added to or subtracted from a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    Alone,
    Plus,
    Minus,
}

/// Halfwords of an operand.
pub(crate) const B: bool = false;
pub(crate) const T: bool = true;

/// Operations of the DSP extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dsp {
    Parallel(Lanes, Fit),
    Select,
    /// The kind of its operand gives the half.
    Pack,
    Saturate16(bool),
    ExtendAdd(Size, bool),
    Extend16(bool),
    Extend16Add(bool),
    Qadd,
    Qsub,
    Qdadd,
    Qdsub,
    /// Product of a half of each operand.
    Halves(bool, bool, Sum),
    HalvesLong(bool, bool),
    /// Product of a word and a half.
    WideHalf(bool, Sum),
    /// Sum or difference of two products; the flag says whether the second operand's halves are exchanged.
    Dual(Sum, bool, Sum),
    DualLong(Sum, bool),
    /// The upper word of a product; the flag says whether it is rounded.
    HighWord(Sum, bool),
    Differences(Sum),
    Umaal,
}

impl Op {
    /// Its class in timing models.
    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Simple(Simple::Mla | Simple::Mls) => Class::MulAdd,
            Self::Data(_) | Self::Shift(_) | Self::Simple(_) | Self::Saturate(_) => Class::Alu,
            Self::Nop | Self::Sev | Self::ClearExclusive => Class::Alu,
            Self::Mul => Class::Mul,
            Self::MulLong(_) => Class::MulLong,
            Self::MulLongAdd(_) => Class::MulLongAdd,
            Self::Div(_) => Class::Div,
            Self::Dsp(dsp) => dsp.class(),
            Self::Load(..) => Class::Load,
            Self::LoadPc => Class::LoadPc,
            Self::Store(_) => Class::Store,
            Self::LoadDual | Self::LoadMultiple(_) => Class::LoadMultiple,
            Self::LoadMultiplePc(_) => Class::LoadMultiplePc,
            Self::StoreDual | Self::StoreMultiple(_) => Class::StoreMultiple,
            Self::LoadExclusive(_) => Class::LoadExclusive,
            Self::StoreExclusive(_) => Class::StoreExclusive,
            Self::B | Self::Bl | Self::Bx | Self::Blx | Self::MovPc | Self::AddPc => Class::Branch,
            Self::BCond | Self::CompareBranch(_) => Class::BranchCond,
            Self::TableBranch(_) => Class::TableBranch,
            Self::It => Class::It,
            Self::Barrier => Class::Barrier,
            Self::ChangeState | Self::ReadSpecial | Self::WriteSpecial => Class::System,
            Self::Wfe | Self::Trap | Self::Unsupported | Self::Undefined => Class::Stop,
        }
    }

    /// Why it is always left to its handler and never lowered, if so; `timed` says whether the cycles of long
    /// multiplications depend on their operands.
    pub(crate) const fn by_handler(self, timed: bool) -> Option<&'static str> {
        match self {
            Self::Saturate(_) | Self::Dsp(_) => Some("sets Q or GE, or computes with lanes"),
            Self::Div(_) => Some("its cycles depend on its operands"),
            Self::MulLong(_) | Self::MulLongAdd(_) if timed => Some("its cycles depend on its operands"),
            Self::LoadExclusive(_) | Self::StoreExclusive(_) | Self::ClearExclusive => Some("seldom"),
            Self::LoadPc | Self::MovPc | Self::AddPc | Self::TableBranch(_) => Some("goes anywhere, and seldom"),
            Self::ChangeState | Self::ReadSpecial | Self::WriteSpecial => Some("reaches every state, and seldom"),
            Self::Sev | Self::Wfe => Some("seldom"),
            Self::Trap | Self::Unsupported | Self::Undefined => Some("faults"),
            Self::Data(_) | Self::Shift(_) | Self::Simple(_) | Self::Nop | Self::Barrier | Self::It => None,
            Self::Mul | Self::MulLong(_) | Self::MulLongAdd(_) => None,
            Self::Load(..) | Self::Store(_) | Self::LoadDual | Self::StoreDual => None,
            Self::LoadMultiple(_) | Self::LoadMultiplePc(_) | Self::StoreMultiple(_) => None,
            Self::B | Self::BCond | Self::CompareBranch(_) | Self::Bl | Self::Bx | Self::Blx => None,
        }
    }
}

impl Dsp {
    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Parallel(..) | Self::Select | Self::Pack | Self::Saturate16(_) | Self::ExtendAdd(..) => Class::Alu,
            Self::Extend16(_) | Self::Extend16Add(_) => Class::Alu,
            Self::Qadd | Self::Qsub | Self::Qdadd | Self::Qdsub => Class::Alu,
            Self::HalvesLong(..) | Self::DualLong(..) | Self::Umaal => Class::MulLongAdd,
            Self::Halves(.., sum) | Self::WideHalf(_, sum) | Self::Dual(.., sum) => sum.class(),
            Self::HighWord(sum, _) | Self::Differences(sum) => sum.class(),
        }
    }
}

impl Sum {
    const fn class(self) -> Class {
        match self {
            Self::Alone => Class::Mul,
            Self::Plus | Self::Minus => Class::MulAdd,
        }
    }
}
