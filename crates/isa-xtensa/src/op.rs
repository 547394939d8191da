//! Operations: what instructions do, independent of their encoding, for table, decoder, interpreter, timing and
//! translator.
//! Every match on an operation names all of them, so that a forgotten one does not compile.

/// A result from two registers.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    And,
    Or,
    Xor,
    Add,
    Addx2,
    Addx4,
    Addx8,
    Sub,
    Subx2,
    Subx4,
    Subx8,
    Min,
    Max,
    Minu,
    Maxu,
    Mul16u,
    Mul16s,
    Mull,
    Muluh,
    Mulsh,
}

/// A result from a register and constants.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Mov,
    Neg,
    Abs,
    /// ADDI, ADDMI, ADDI.N.
    Addi,
    Slli,
    Srli,
    Srai,
    Extui,
    Sext,
    Clamps,
    Nsa,
    Nsau,
}

/// A register that is moved if another one satisfies a condition; otherwise the destination stays.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Moveqz,
    Movnez,
    Movltz,
    Movgez,
}

/// Divisions.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divide {
    Quou,
    Quos,
    Remu,
    Rems,
}

/// Operations that set SAR.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Ssr,
    Ssl,
    Ssa8l,
    Ssa8b,
    Ssai,
}

/// Shifts by SAR.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Src,
    Sll,
    Srl,
    Sra,
}

/// Loads at a register plus a constant.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    L8ui,
    L16ui,
    L16si,
    /// L32I, L32I.N, L32AI, L32E.
    L32i,
}

/// Stores likewise.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    S8i,
    S16i,
    /// S32I, S32I.N, S32RI, S32E.
    S32i,
}

/// The condition of a branch on two numbers.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Bnone,
    Bany,
    Ball,
    Bnall,
    Bbc,
    Bbs,
}

/// Where the second of them comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// A register.
    Register,
    /// It is 0.
    Zero,
    /// One of [`CONSTANTS`].
    Constant,
    /// One bit.
    Bit,
}

/// Starts of hardware loops.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    Loop,
    Loopnez,
    Loopgtz,
}

/// The operation of an instruction, or of a pseudo-instruction that the decoder adds to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A result from two registers.
    Binary(Binary),
    /// A result from one.
    Unary(Unary),
    /// MOVI, MOVI.N.
    Movi,
    /// A conditional move.
    Keep(Keep),
    /// A division.
    Divide(Divide),
    /// Sets SAR.
    Amount(Amount),
    /// A shift by SAR.
    Shift(Shift),
    /// L32R.
    L32r,
    /// L32R of a constant in code memory, which does not change.
    Literal,
    /// A load.
    Load(Load),
    /// A store.
    Store(Store),
    /// Stores when memory is SCOMPARE1.
    S32c1i,
    /// A conditional branch.
    Branch(Condition, Against),
    /// Jump to a fixed address.
    J,
    /// Jump to the address in a register: JX, RET, RET.N.
    Jx,
    /// A call without windows.
    Call0,
    /// A call without windows to the address in a register.
    Callx0,
    /// CALL4, CALL8, CALL12.
    Call,
    /// CALLX4, CALLX8, CALLX12.
    Callx,
    /// RETW, RETW.N.
    Retw,
    /// ENTRY.
    Entry,
    /// MOVSP.
    Movsp,
    /// ROTW.
    Rotw,
    /// RFWO.
    Rfwo,
    /// RFWU.
    Rfwu,
    /// RFE.
    Rfe,
    /// The start of a hardware loop.
    Loop(Loop),
    /// NOP, NOP.N.
    Nop,
    /// Waits for something that is not modelled: MEMW, EXTW, RSYNC and similar.
    Wait,
    /// ISYNC.
    Isync,
    /// RSIL.
    Rsil,
    /// RSR.
    Rsr,
    /// WSR.
    Wsr,
    /// XSR.
    Xsr,
    /// RUR.
    Rur,
    /// WUR.
    Wur,
    /// BREAK, SYSCALL, SIMCALL, ILL: exceptions that end the run.
    Trap,
    /// Needs something that is not modelled.
    Unsupported,
    /// Before the first use of a group of registers in a run: whether a live frame is in them.
    WindowCheck,
    /// Before ENTRY: the same for the groups that it moves over.
    EntryCheck,
    /// After an instruction that may lower the stack pointer.
    Stack,
    /// At the end of a run: continues with the next one.
    GoOn,
    /// At the end of a run that ends where a hardware loop did.
    LoopEnd,
    /// Not an instruction.
    BadOpcode,
    /// No code memory.
    BadFetch,
}

/// Constants of BEQI and similar branches, then those of BLTUI and BGEUI (tables B4CONST and B4CONSTU).
pub const CONSTANTS: [u32; 32] = [
    !0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256, //
    0x8000, 0x1_0000, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256,
];
