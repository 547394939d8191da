//! Operand forms: where the operands of an instruction are in its encoding, and when it sets flags.

/// When an instruction sets the flags that its operation can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    Always,
    /// 16-bit data processing: outside IT blocks.
    OutsideIt,
    /// When the bit `s` of the encoding is set.
    Bit,
}

/// Where the address of a 32-bit access is in its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Base `n` and the immediate `i`.
    Offset,
    /// Base and the immediate, which is negative.
    Negative,
    /// Base and the immediate with the sign given by `u`, which change the base.
    Pre,
    Post,
    /// Base and the register `m` shifted left by `i`.
    Index,
    /// The program counter and the immediate with its sign.
    Literal,
}

/// The registers that a 32-bit access can transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// All registers but the stack pointer and the program counter.
    General,
    /// All registers but the program counter.
    Any,
    /// The program counter.
    Pc,
    /// Nothing: a preload, for which nothing waits.
    None,
}

/// Letters in patterns: `d` destination, `t` transferred register, `n` first operand or base, `m` second operand
/// or index, `i` immediate, `y` type of a shift, `s` set flags, `u` add the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// 16-bit: destination, first and second operand.
    Three,
    /// 16-bit: destination is also the first operand.
    Two,
    /// MOVS of low registers: [`Form::Two`] outside IT blocks.
    Movs,
    /// 16-bit: operands of a comparison.
    Compare,
    /// 16-bit CMP with high registers.
    CompareHigh,
    /// RSB from zero.
    Negate,
    /// 16-bit: destination, first operand, immediate.
    ThreeImm,
    /// 16-bit: destination is also the first operand, immediate.
    TwoImm,
    /// 16-bit CMP with an immediate.
    CompareImm,
    /// 16-bit shift by an immediate of the type `y`; type 3 is another instruction.
    ShiftImm,
    /// Two registers of any number; the program counter as an operand is an immediate.
    High,
    /// BX, BLX, MOV and ADD to the program counter.
    ToPc,
    /// 16-bit load or store at base plus `i` times the given bytes.
    Near(u32),
    NearSp,
    NearIndex,
    NearLiteral,
    /// 16-bit ADR.
    NearAdr,
    /// 16-bit ADD of the stack pointer to a low register.
    SpSum,
    /// 16-bit ADD and SUB of the stack pointer.
    SpMove,
    /// CBZ, CBNZ.
    CompareBranch,
    /// 16-bit B with a condition in `c`.
    NearBranchCond,
    NearBranch,
    /// Bit `l` is the link register.
    Push,
    Pop,
    PopPc,
    /// 16-bit LDM: a loaded base is not changed.
    NearLdm,
    NearStm,
    /// 32-bit LDM and STM; bit `w` changes the base.
    Several,
    /// As [`Form::Several`], with the program counter in the list and without the link register.
    SeveralPc,
    /// Nothing, or a number.
    Number,
    /// The whole encoding.
    Encoding,
    /// CPS: whether it disables, and the masks.
    State,
    /// CPS as ARMv6-M has it: PRIMASK only.
    Interrupts,
    /// IT: condition in `c`, mask in `d`.
    IfThen,
    /// 32-bit data processing with a modified immediate.
    Imm,
    /// Like [`Form::Imm`] for ADD and SUB, which accept the stack pointer.
    ImmSp,
    /// As [`Form::Imm`] for MOV and MVN.
    ImmMov,
    /// As [`Form::Imm`] for TST and TEQ.
    ImmTest,
    /// As [`Form::Imm`] for CMP and CMN.
    ImmCompare,
    /// 32-bit data processing with a shifted register.
    Shifted,
    /// Like [`Form::Shifted`] for ADD and SUB, which accept the stack pointer.
    ShiftedSp,
    /// As [`Form::Shifted`] for MVN and shifts by an immediate.
    ShiftedMov,
    /// 32-bit MOV of a register, which accepts the stack pointer.
    MovRegister,
    Rrx,
    /// As [`Form::Shifted`] for TST and TEQ.
    ShiftedTest,
    /// As [`Form::Shifted`] for CMP and CMN.
    ShiftedCompare,
    /// ADDW and SUBW.
    PlainImm,
    /// MOVW and MOVT; `j` are the upper four bits.
    WideImm,
    /// 32-bit ADR: both bits `u` are set where the offset is subtracted.
    Adr,
    /// SBFX, UBFX: lowest bit `i`, width `w` plus one.
    Field,
    /// BFI, BFC: lowest bit `i`, highest `w`.
    FieldMask,
    /// SSAT and USAT: shift `i` of type `y`, `w` bits plus the given number.
    Saturation(u32),
    /// SSAT16 and USAT16 likewise.
    Saturation16(u32),
    /// 32-bit: destination, two operands, and a third one `r` in `d`.
    Far,
    /// Long multiplication: low destination `d`, high one `h`.
    Long,
    /// Extension with rotation by `r` bytes.
    Extend,
    /// Likewise, and addition.
    ExtendAdd,
    /// CLZ, RBIT, REV: the operand is in the encoding twice.
    Twice,
    /// PKHBT, PKHTB: shift by `i` of the type `y`.
    Pack,
    /// 32-bit load or store.
    Access(At, Transfer),
    /// LDRD: offset `i` words; both destinations differ.
    LoadDual(At),
    StoreDual(At),
    /// LDREX, LDREXB, LDREXH: immediate `i` words.
    ExclusiveLoad,
    /// STREX, STREXB, STREXH: status to `d`.
    ExclusiveStore,
    /// TBB, TBH.
    Table,
    /// 32-bit B with a condition in `c`.
    BranchCond,
    /// 32-bit B and BL.
    Branch,
    /// MRS.
    SpecialRead,
    /// MRS and MSR as ARMv6-M has them: no BASEPRI and no FAULTMASK.
    SpecialReadV6,
    SpecialWriteV6,
    /// MSR.
    SpecialWrite,
    /// MSR that writes GE: bit `g` is set where it also writes NZCVQ. `d` is 1 for GE, plus 2 where the other flags
    /// stay.
    SpecialWriteGe,
}

impl Form {
    /// When the flags are set.
    pub(crate) fn when(self) -> When {
        match self {
            Self::Two | Self::Three | Self::TwoImm | Self::ThreeImm | Self::Negate | Self::ShiftImm => When::OutsideIt,
            Self::Movs | Self::Compare | Self::CompareHigh | Self::CompareImm => When::Always,
            Self::ImmTest | Self::ImmCompare | Self::ShiftedTest | Self::ShiftedCompare => When::Always,
            Self::SpecialWrite | Self::SpecialWriteV6 | Self::SpecialWriteGe => When::Always,
            Self::Imm | Self::ImmSp | Self::ImmMov | Self::Shifted | Self::ShiftedSp | Self::ShiftedMov => When::Bit,
            Self::MovRegister | Self::Rrx | Self::Far => When::Bit,
            Self::High | Self::ToPc | Self::NearAdr | Self::SpSum | Self::SpMove => When::Never,
            Self::Near(_) | Self::NearSp | Self::NearIndex | Self::NearLiteral => When::Never,
            Self::CompareBranch | Self::NearBranchCond | Self::NearBranch | Self::BranchCond => When::Never,
            Self::Push | Self::Pop | Self::PopPc | Self::NearLdm | Self::NearStm => When::Never,
            Self::Several | Self::SeveralPc | Self::Number | Self::Encoding | Self::IfThen => When::Never,
            Self::State | Self::Interrupts | Self::PlainImm | Self::WideImm | Self::Adr => When::Never,
            Self::Field | Self::FieldMask | Self::Saturation(_) | Self::Saturation16(_) => When::Never,
            Self::Long | Self::Extend | Self::ExtendAdd | Self::Twice | Self::Pack => When::Never,
            Self::Access(..) | Self::LoadDual(_) | Self::StoreDual(_) => When::Never,
            Self::ExclusiveLoad | Self::ExclusiveStore | Self::Table | Self::Branch => When::Never,
            Self::SpecialRead | Self::SpecialReadV6 => When::Never,
        }
    }
}
