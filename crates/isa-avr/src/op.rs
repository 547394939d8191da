//! Operations: what instructions do, independent of their encoding, for table, decoder, interpreter, timing and
//! translator.
//! Every match on an operation names all of them, so that a forgotten one does not compile.

/// Arithmetic and logic of a register and another operand.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Adc,
    Sub,
    Sbc,
    Cp,
    Cpc,
    And,
    Or,
    Eor,
}

/// The kind of the other operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// A register.
    Register,
    /// A constant.
    Immediate,
}

/// Arithmetic and shifts of one register.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Com,
    Neg,
    Swap,
    Inc,
    Dec,
    Asr,
    Lsr,
    Ror,
}

/// Arithmetic of a pair of registers and a constant.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wide {
    Adiw,
    Sbiw,
}

/// Multiplications, with the product in r0 and r1.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiply {
    Mul,
    Muls,
    Mulsu,
    Fmul,
    Fmuls,
    Fmulsu,
}

/// A pair of registers that holds an address.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    X,
    Y,
    Z,
}

impl Pointer {
    /// Number of its first register.
    pub(crate) const fn low(self) -> u8 {
        match self {
            Self::X => 26,
            Self::Y => 28,
            Self::Z => 30,
        }
    }
}

/// How a pointer changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not at all.
    Keep,
    /// Up by one after the access.
    Post,
    /// Down by one before it.
    Pre,
    /// Not at all, but a displacement is added to the address.
    Displace,
}

/// The condition of a skip.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    Cpse,
    Sbrc,
    Sbrs,
}

/// The condition of a skip on a peripheral's bit.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipIo {
    Sbic,
    Sbis,
}

/// A flag of SREG, in the order of its bits.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    C,
    Z,
    N,
    V,
    S,
    H,
    T,
    I,
}

impl Flag {
    /// Its mask in SREG.
    pub(crate) const fn mask(self) -> u8 {
        1 << self as u8
    }
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Arithmetic with two operands.
    Binary(Binary, With),
    /// Arithmetic with one.
    Unary(Unary),
    /// Arithmetic of 16 bits.
    Wide(Wide),
    /// A multiplication.
    Multiply(Multiply),
    /// MOV.
    Mov,
    /// MOVW.
    Movw,
    /// LDI.
    Ldi,
    /// BST.
    Bst,
    /// BLD.
    Bld,
    /// LD, LDD.
    Load(Pointer, Change),
    /// ST, STD.
    Store(Pointer, Change),
    /// LDS.
    Lds,
    /// STS.
    Sts,
    /// PUSH.
    Push,
    /// POP.
    Pop,
    /// LPM.
    Lpm(Change),
    /// ELPM.
    Elpm(Change),
    /// SPM.
    Spm,
    /// IN.
    In,
    /// OUT.
    Out,
    /// CBI.
    Cbi,
    /// SBI.
    Sbi,
    /// CPSE, SBRC, SBRS.
    Skip(Skip),
    /// SBIC, SBIS.
    SkipIo(SkipIo),
    /// RJMP.
    Rjmp,
    /// RCALL.
    Rcall,
    /// JMP.
    Jmp,
    /// CALL.
    Call,
    /// IJMP.
    Ijmp,
    /// ICALL.
    Icall,
    /// RET.
    Ret,
    /// RETI.
    Reti,
    /// A branch when the flag is set.
    BranchSet(Flag),
    /// A branch when the flag is clear.
    BranchClear(Flag),
    /// Sets the flag.
    Set(Flag),
    /// Clears the flag.
    Clear(Flag),
    /// NOP, WDR.
    Nop,
    /// SLEEP.
    Sleep,
    /// BREAK.
    Break,
    /// Not an instruction: a run falls through.
    Seam,
    /// Not an instruction.
    Undefined,
    /// Flash ends in the instruction.
    Truncated,
}
