//! The instruction set as one list: encoding, width, text, timing class and meaning of each row.
//!
//! Encodings and operations are those of The RISC-V Instruction Set Manual, Volume I (20191213), chapters
//! 2 to 9 and 24; compressed forms (chapter 16) are a second list that gives each the 32-bit encoding it
//! stands for, so they share the rows of the first. Letters in patterns: `d` destination, `s` and `t`
//! sources, `i` immediate; other letters are pieces of scattered immediates.

use isa::{Exec, Fields, Pattern, Template};

use crate::exec::{self, DROP, Insn};
use crate::{Riscv, Word};

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

/// Widths of registers that have a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only {
    Any,
    Rv32,
    Rv64,
}

impl Only {
    pub(crate) const fn has<X: Word>(self) -> bool {
        match self {
            Self::Any => true,
            Self::Rv32 => X::BITS == 32,
            Self::Rv64 => X::BITS == 64,
        }
    }
}

/// Operands of one instruction; see [`crate::exec`] for the places.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub imm: u32,
}

/// One instruction.
pub(crate) struct Row<X: Word> {
    pub pattern: Pattern,
    pub only: Only,
    pub text: Template,
    pub class: Class,
    pub operands: fn(&Fields, u32) -> Operands,
    pub exec: Exec<Riscv<X>>,
}

impl<X: Word> Row<X> {
    /// The mnemonic alone.
    pub(crate) fn name(&self) -> &'static str {
        self.text.0.split(' ').next().unwrap_or(self.text.0)
    }
}

/// Operand mappings, named for the formats of the manual (2.3).
mod fields {
    use super::{DROP, Fields, Operands};

    fn operands(f: &Fields, imm: u32) -> Operands {
        let d = f.get('d') as u8;
        Operands { a: if d == 0 { DROP } else { d }, b: f.get('s') as u8, c: f.get('t') as u8, imm }
    }
    /// All fields there are, and a signed immediate.
    pub fn signed(f: &Fields, _: u32) -> Operands {
        operands(f, f.signed('i') as u32)
    }
    /// All fields there are, and an unsigned immediate.
    pub fn plain(f: &Fields, _: u32) -> Operands {
        operands(f, f.get('i'))
    }
    /// Upper 20 bits.
    pub fn upper(f: &Fields, _: u32) -> Operands {
        operands(f, f.get('i') << 12)
    }
    pub fn branch(f: &Fields, pc: u32) -> Operands {
        let offset = f.signed('k') << 12 | (f.get('l') << 11 | f.get('m') << 5 | f.get('n') << 1) as i32;
        operands(f, pc.wrapping_add_signed(offset))
    }
    pub fn jump(f: &Fields, pc: u32) -> Operands {
        let offset = f.signed('k') << 20 | (f.get('l') << 12 | f.get('m') << 11 | f.get('n') << 1) as i32;
        operands(f, pc.wrapping_add_signed(offset))
    }
    pub fn word(f: &Fields, _: u32) -> Operands {
        operands(f, f.word)
    }
}

use fields::{branch, jump, plain, signed, upper, word};

/// A handler that goes on.
macro_rules! next {
    ($($f:tt)+) => {{
        unsafe fn run<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                exec::$($f)+(cpu, &*i);
                isa::next(cpu, i);
            }
        }
        run::<X>
    }};
}

/// A handler that sets the program counter and ends the run.
macro_rules! last {
    ($f:ident) => {{
        unsafe fn run<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: `i` points to an instruction (contract of `Exec`).
            exec::$f(cpu, unsafe { &*i });
        }
        run::<X>
    }};
}

/// A handler with a fast path for RAM.
macro_rules! memory {
    ($f:ident $(, $arg:literal)+) => {{
        unsafe fn run<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                match exec::$f::<X, false $(, $arg)+>(cpu, &*i) {
                    Some(()) => isa::next(cpu, i),
                    None => slow(cpu, i),
                }
            }
        }
        #[cold]
        #[inline(never)]
        unsafe fn slow<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: as above.
            unsafe {
                let _ = exec::$f::<X, true $(, $arg)+>(cpu, &*i);
                isa::next(cpu, i);
            }
        }
        run::<X>
    }};
}

const fn row<X: Word>(
    pattern: &'static str,
    only: Only,
    operands: fn(&Fields, u32) -> Operands,
    text: &'static str,
    class: Class,
    exec: Exec<Riscv<X>>,
) -> Row<X> {
    Row { pattern: Pattern::new(pattern), only, text: Template(text), class, operands, exec }
}

use Class::{
    Alu, Atomic, Branch, Csr, Divide, Fence, Jump, JumpRegister, Load, LoadNarrow, Multiply, MultiplyHigh,
    MultiplyWord, Stop, Store,
};
use Only::{Any, Rv32, Rv64};

/// The instructions of a core with registers of the type `X`.
pub(crate) struct Table<X>(std::marker::PhantomData<X>);

impl<X: Word> Table<X> {
    /// Every instruction of RV32IMA and RV64IMA.
    #[rustfmt::skip]
    pub(crate) const ROWS: &'static [Row<X>] = &[
        // RV32I, RV64I: registers and immediates
        row("iiiiiiiiiiiiiiiiiiii ddddd 0110111",          Any,  upper,  "lui {d}, {upper}",         Alu, next!(constant)),
        row("iiiiiiiiiiiiiiiiiiii ddddd 0010111",          Any,  upper,  "auipc {d}, {upper}",       Alu, next!(auipc)),
        row("iiiiiiiiiiii sssss 000 ddddd 0010011",        Any,  signed, "addi {d}, {s}, {imm}",     Alu, next!(addi)),
        row("iiiiiiiiiiii sssss 010 ddddd 0010011",        Any,  signed, "slti {d}, {s}, {imm}",     Alu, next!(slti)),
        row("iiiiiiiiiiii sssss 011 ddddd 0010011",        Any,  signed, "sltiu {d}, {s}, {imm}",    Alu, next!(sltiu)),
        row("iiiiiiiiiiii sssss 100 ddddd 0010011",        Any,  signed, "xori {d}, {s}, {imm}",     Alu, next!(xori)),
        row("iiiiiiiiiiii sssss 110 ddddd 0010011",        Any,  signed, "ori {d}, {s}, {imm}",      Alu, next!(ori)),
        row("iiiiiiiiiiii sssss 111 ddddd 0010011",        Any,  signed, "andi {d}, {s}, {imm}",     Alu, next!(andi)),
        row("0000000 iiiii sssss 001 ddddd 0010011",       Rv32, plain,  "slli {d}, {s}, {hex}",     Alu, next!(slli)),
        row("0000000 iiiii sssss 101 ddddd 0010011",       Rv32, plain,  "srli {d}, {s}, {hex}",     Alu, next!(srli)),
        row("0100000 iiiii sssss 101 ddddd 0010011",       Rv32, plain,  "srai {d}, {s}, {hex}",     Alu, next!(srai)),
        row("000000 iiiiii sssss 001 ddddd 0010011",       Rv64, plain,  "slli {d}, {s}, {hex}",     Alu, next!(slli)),
        row("000000 iiiiii sssss 101 ddddd 0010011",       Rv64, plain,  "srli {d}, {s}, {hex}",     Alu, next!(srli)),
        row("010000 iiiiii sssss 101 ddddd 0010011",       Rv64, plain,  "srai {d}, {s}, {hex}",     Alu, next!(srai)),
        row("iiiiiiiiiiii sssss 000 ddddd 0011011",        Rv64, signed, "addiw {d}, {s}, {imm}",    Alu, next!(addiw)),
        row("0000000 iiiii sssss 001 ddddd 0011011",       Rv64, plain,  "slliw {d}, {s}, {hex}",    Alu, next!(slliw)),
        row("0000000 iiiii sssss 101 ddddd 0011011",       Rv64, plain,  "srliw {d}, {s}, {hex}",    Alu, next!(srliw)),
        row("0100000 iiiii sssss 101 ddddd 0011011",       Rv64, plain,  "sraiw {d}, {s}, {hex}",    Alu, next!(sraiw)),
        // registers and registers
        row("0000000 ttttt sssss 000 ddddd 0110011",       Any,  plain,  "add {d}, {s}, {t}",        Alu, next!(add)),
        row("0100000 ttttt sssss 000 ddddd 0110011",       Any,  plain,  "sub {d}, {s}, {t}",        Alu, next!(sub)),
        row("0000000 ttttt sssss 001 ddddd 0110011",       Any,  plain,  "sll {d}, {s}, {t}",        Alu, next!(sll)),
        row("0000000 ttttt sssss 010 ddddd 0110011",       Any,  plain,  "slt {d}, {s}, {t}",        Alu, next!(slt)),
        row("0000000 ttttt sssss 011 ddddd 0110011",       Any,  plain,  "sltu {d}, {s}, {t}",       Alu, next!(sltu)),
        row("0000000 ttttt sssss 100 ddddd 0110011",       Any,  plain,  "xor {d}, {s}, {t}",        Alu, next!(xor)),
        row("0000000 ttttt sssss 101 ddddd 0110011",       Any,  plain,  "srl {d}, {s}, {t}",        Alu, next!(srl)),
        row("0100000 ttttt sssss 101 ddddd 0110011",       Any,  plain,  "sra {d}, {s}, {t}",        Alu, next!(sra)),
        row("0000000 ttttt sssss 110 ddddd 0110011",       Any,  plain,  "or {d}, {s}, {t}",         Alu, next!(or)),
        row("0000000 ttttt sssss 111 ddddd 0110011",       Any,  plain,  "and {d}, {s}, {t}",        Alu, next!(and)),
        row("0000000 ttttt sssss 000 ddddd 0111011",       Rv64, plain,  "addw {d}, {s}, {t}",       Alu, next!(addw)),
        row("0100000 ttttt sssss 000 ddddd 0111011",       Rv64, plain,  "subw {d}, {s}, {t}",       Alu, next!(subw)),
        row("0000000 ttttt sssss 001 ddddd 0111011",       Rv64, plain,  "sllw {d}, {s}, {t}",       Alu, next!(sllw)),
        row("0000000 ttttt sssss 101 ddddd 0111011",       Rv64, plain,  "srlw {d}, {s}, {t}",       Alu, next!(srlw)),
        row("0100000 ttttt sssss 101 ddddd 0111011",       Rv64, plain,  "sraw {d}, {s}, {t}",       Alu, next!(sraw)),
        // M
        row("0000001 ttttt sssss 000 ddddd 0110011",       Any,  plain,  "mul {d}, {s}, {t}",        Multiply, next!(mul)),
        row("0000001 ttttt sssss 001 ddddd 0110011",       Any,  plain,  "mulh {d}, {s}, {t}",       MultiplyHigh, next!(mulh)),
        row("0000001 ttttt sssss 010 ddddd 0110011",       Any,  plain,  "mulhsu {d}, {s}, {t}",     MultiplyHigh, next!(mulhsu)),
        row("0000001 ttttt sssss 011 ddddd 0110011",       Any,  plain,  "mulhu {d}, {s}, {t}",      MultiplyHigh, next!(mulhu)),
        row("0000001 ttttt sssss 100 ddddd 0110011",       Any,  plain,  "div {d}, {s}, {t}",        Divide, next!(divide::<X, true, false, false>)),
        row("0000001 ttttt sssss 101 ddddd 0110011",       Any,  plain,  "divu {d}, {s}, {t}",       Divide, next!(divide::<X, false, false, false>)),
        row("0000001 ttttt sssss 110 ddddd 0110011",       Any,  plain,  "rem {d}, {s}, {t}",        Divide, next!(divide::<X, true, true, false>)),
        row("0000001 ttttt sssss 111 ddddd 0110011",       Any,  plain,  "remu {d}, {s}, {t}",       Divide, next!(divide::<X, false, true, false>)),
        row("0000001 ttttt sssss 000 ddddd 0111011",       Rv64, plain,  "mulw {d}, {s}, {t}",       MultiplyWord, next!(mulw)),
        row("0000001 ttttt sssss 100 ddddd 0111011",       Rv64, plain,  "divw {d}, {s}, {t}",       Divide, next!(divide::<X, true, false, true>)),
        row("0000001 ttttt sssss 101 ddddd 0111011",       Rv64, plain,  "divuw {d}, {s}, {t}",      Divide, next!(divide::<X, false, false, true>)),
        row("0000001 ttttt sssss 110 ddddd 0111011",       Rv64, plain,  "remw {d}, {s}, {t}",       Divide, next!(divide::<X, true, true, true>)),
        row("0000001 ttttt sssss 111 ddddd 0111011",       Rv64, plain,  "remuw {d}, {s}, {t}",      Divide, next!(divide::<X, false, true, true>)),
        // loads and stores
        row("iiiiiiiiiiii sssss 000 ddddd 0000011",        Any,  signed, "lb {d}, {imm}({s})",       LoadNarrow, memory!(load, 1, true)),
        row("iiiiiiiiiiii sssss 001 ddddd 0000011",        Any,  signed, "lh {d}, {imm}({s})",       LoadNarrow, memory!(load, 2, true)),
        row("iiiiiiiiiiii sssss 010 ddddd 0000011",        Any,  signed, "lw {d}, {imm}({s})",       Load, memory!(load, 4, true)),
        row("iiiiiiiiiiii sssss 011 ddddd 0000011",        Rv64, signed, "ld {d}, {imm}({s})",       Load, memory!(load, 8, true)),
        row("iiiiiiiiiiii sssss 100 ddddd 0000011",        Any,  signed, "lbu {d}, {imm}({s})",      LoadNarrow, memory!(load, 1, false)),
        row("iiiiiiiiiiii sssss 101 ddddd 0000011",        Any,  signed, "lhu {d}, {imm}({s})",      LoadNarrow, memory!(load, 2, false)),
        row("iiiiiiiiiiii sssss 110 ddddd 0000011",        Rv64, signed, "lwu {d}, {imm}({s})",      Load, memory!(load, 4, false)),
        row("iiiiiii ttttt sssss 000 iiiii 0100011",       Any,  signed, "sb {t}, {imm}({s})",       Store, memory!(store, 1)),
        row("iiiiiii ttttt sssss 001 iiiii 0100011",       Any,  signed, "sh {t}, {imm}({s})",       Store, memory!(store, 2)),
        row("iiiiiii ttttt sssss 010 iiiii 0100011",       Any,  signed, "sw {t}, {imm}({s})",       Store, memory!(store, 4)),
        row("iiiiiii ttttt sssss 011 iiiii 0100011",       Rv64, signed, "sd {t}, {imm}({s})",       Store, memory!(store, 8)),
        // A; q is acquire and release, which one hart does not need
        row("00010 qq 00000 sssss 010 ddddd 0101111",      Any,  plain,  "lr.w{q} {d}, ({s})",       Atomic, next!(load_reserved::<X, 4>)),
        row("00011 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "sc.w{q} {d}, {t}, ({s})",  Atomic, next!(store_conditional::<X, 4>)),
        row("00001 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amoswap.w{q} {d}, {t}, ({s})", Atomic, next!(amoswap::<X, 4>)),
        row("00000 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amoadd.w{q} {d}, {t}, ({s})",  Atomic, next!(amoadd::<X, 4>)),
        row("00100 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amoxor.w{q} {d}, {t}, ({s})",  Atomic, next!(amoxor::<X, 4>)),
        row("01100 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amoand.w{q} {d}, {t}, ({s})",  Atomic, next!(amoand::<X, 4>)),
        row("01000 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amoor.w{q} {d}, {t}, ({s})",   Atomic, next!(amoor::<X, 4>)),
        row("10000 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amomin.w{q} {d}, {t}, ({s})",  Atomic, next!(amomin::<X, 4>)),
        row("10100 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amomax.w{q} {d}, {t}, ({s})",  Atomic, next!(amomax::<X, 4>)),
        row("11000 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amominu.w{q} {d}, {t}, ({s})", Atomic, next!(amominu::<X, 4>)),
        row("11100 qq ttttt sssss 010 ddddd 0101111",      Any,  plain,  "amomaxu.w{q} {d}, {t}, ({s})", Atomic, next!(amomaxu::<X, 4>)),
        row("00010 qq 00000 sssss 011 ddddd 0101111",      Rv64, plain,  "lr.d{q} {d}, ({s})",       Atomic, next!(load_reserved::<X, 8>)),
        row("00011 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "sc.d{q} {d}, {t}, ({s})",  Atomic, next!(store_conditional::<X, 8>)),
        row("00001 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amoswap.d{q} {d}, {t}, ({s})", Atomic, next!(amoswap::<X, 8>)),
        row("00000 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amoadd.d{q} {d}, {t}, ({s})",  Atomic, next!(amoadd::<X, 8>)),
        row("00100 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amoxor.d{q} {d}, {t}, ({s})",  Atomic, next!(amoxor::<X, 8>)),
        row("01100 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amoand.d{q} {d}, {t}, ({s})",  Atomic, next!(amoand::<X, 8>)),
        row("01000 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amoor.d{q} {d}, {t}, ({s})",   Atomic, next!(amoor::<X, 8>)),
        row("10000 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amomin.d{q} {d}, {t}, ({s})",  Atomic, next!(amomin::<X, 8>)),
        row("10100 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amomax.d{q} {d}, {t}, ({s})",  Atomic, next!(amomax::<X, 8>)),
        row("11000 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amominu.d{q} {d}, {t}, ({s})", Atomic, next!(amominu::<X, 8>)),
        row("11100 qq ttttt sssss 011 ddddd 0101111",      Rv64, plain,  "amomaxu.d{q} {d}, {t}, ({s})", Atomic, next!(amomaxu::<X, 8>)),
        // control
        row("k mmmmmm ttttt sssss 000 nnnn l 1100011",     Any,  branch, "beq {s}, {t}, {to}",       Branch, last!(beq)),
        row("k mmmmmm ttttt sssss 001 nnnn l 1100011",     Any,  branch, "bne {s}, {t}, {to}",       Branch, last!(bne)),
        row("k mmmmmm ttttt sssss 100 nnnn l 1100011",     Any,  branch, "blt {s}, {t}, {to}",       Branch, last!(blt)),
        row("k mmmmmm ttttt sssss 101 nnnn l 1100011",     Any,  branch, "bge {s}, {t}, {to}",       Branch, last!(bge)),
        row("k mmmmmm ttttt sssss 110 nnnn l 1100011",     Any,  branch, "bltu {s}, {t}, {to}",      Branch, last!(bltu)),
        row("k mmmmmm ttttt sssss 111 nnnn l 1100011",     Any,  branch, "bgeu {s}, {t}, {to}",      Branch, last!(bgeu)),
        row("k nnnnnnnnnn m llllllll ddddd 1101111",       Any,  jump,   "jal {d}, {to}",            Jump, last!(jal)),
        row("iiiiiiiiiiii sssss 000 ddddd 1100111",        Any,  signed, "jalr {d}, {imm}({s})",     JumpRegister, last!(jalr)),
        // system
        row("xxxxxxxxxxxxxxxxx 000 xxxxx 0001111",         Any,  plain,  "fence",                    Fence, next!(nop)),
        row("xxxxxxxxxxxxxxxxx 001 xxxxx 0001111",         Any,  plain,  "fence.i",                  Fence, next!(nop)),
        row("000000000000 00000 000 00000 1110011",        Any,  word,   "ecall",                    Stop, last!(trap)),
        row("000000000001 00000 000 00000 1110011",        Any,  word,   "ebreak",                   Stop, last!(trap)),
        row("001100000010 00000 000 00000 1110011",        Any,  word,   "mret",                     Stop, last!(unsupported)),
        row("000100000101 00000 000 00000 1110011",        Any,  word,   "wfi",                      Stop, last!(unsupported)),
        row("iiiiiiiiiiii sssss 001 ddddd 1110011",        Any,  word,   "csrrw {d}, {csr}, {s}",    Stop, last!(unsupported)),
        row("iiiiiiiiiiii sssss 010 ddddd 1110011",        Any,  plain,  "csrrs {d}, {csr}, {s}",    Csr, next!(csr)),
        row("iiiiiiiiiiii sssss 011 ddddd 1110011",        Any,  plain,  "csrrc {d}, {csr}, {s}",    Csr, next!(csr)),
        row("iiiiiiiiiiii sssss 101 ddddd 1110011",        Any,  word,   "csrrwi {d}, {csr}, {n}",   Stop, last!(unsupported)),
        row("iiiiiiiiiiii sssss 110 ddddd 1110011",        Any,  plain,  "csrrsi {d}, {csr}, {n}",   Csr, next!(csr)),
        row("iiiiiiiiiiii sssss 111 ddddd 1110011",        Any,  plain,  "csrrci {d}, {csr}, {n}",   Csr, next!(csr)),
    ];

    /// The handler of a run's end: the program counter becomes `imm`.
    pub(crate) const SEAM: Exec<Riscv<X>> = last!(seam);
    /// The handler that tells where the stack pointer is.
    pub(crate) const STACK: Exec<Riscv<X>> = next!(stack);
    /// The handler of a word that is no instruction.
    pub(crate) const UNDEFINED: Exec<Riscv<X>> = last!(bad_opcode);
    /// The handler of an address outside flash.
    pub(crate) const OUTSIDE: Exec<Riscv<X>> = last!(bad_fetch);

    /// The instruction that `word` encodes.
    pub(crate) fn find(word: u32) -> Option<&'static Row<X>> {
        Self::ROWS.iter().find(|r| r.pattern.matches(word) && r.only.has::<X>())
    }
}

/// A compressed form.
pub(crate) struct Compressed {
    pub pattern: Pattern,
    pub only: Only,
    /// The 32-bit encoding that it stands for; none for the reserved ones among its encodings.
    pub expand: fn(&Fields) -> Option<u32>,
}

/// The 32-bit encoding that the compressed one in `half` stands for.
pub(crate) fn expand<X: Word>(half: u32) -> Option<u32> {
    let c = COMPRESSED.iter().find(|c| c.pattern.matches(half) && c.only.has::<X>())?;
    (c.expand)(&c.pattern.fields(half))
}

/// The 32-bit formats, for the compressed forms.
mod encode {
    pub const OP: u32 = 0x33;
    pub const OP_32: u32 = 0x3B;
    pub const OP_IMM: u32 = 0x13;
    pub const OP_IMM_32: u32 = 0x1B;
    pub const LOAD: u32 = 0x03;
    pub const STORE: u32 = 0x23;
    pub const JALR: u32 = 0x67;

    pub fn r(op: u32, f7: u32, f3: u32, d: u32, s: u32, t: u32) -> u32 {
        f7 << 25 | t << 20 | s << 15 | f3 << 12 | d << 7 | op
    }
    pub fn i(op: u32, f3: u32, d: u32, s: u32, imm: u32) -> u32 {
        (imm & 0xFFF) << 20 | s << 15 | f3 << 12 | d << 7 | op
    }
    pub fn s(f3: u32, s: u32, t: u32, imm: u32) -> u32 {
        r(STORE, imm >> 5 & 0x7F, f3, imm & 0x1F, s, t)
    }
    pub fn b(f3: u32, s: u32, imm: u32) -> u32 {
        let (high, low) = ((imm >> 12 & 1) << 6 | imm >> 5 & 0x3F, imm & 0x1E | imm >> 11 & 1);
        r(0x63, high, f3, low, s, 0)
    }
    pub fn jal(d: u32, imm: u32) -> u32 {
        (imm >> 20 & 1) << 31
            | (imm >> 1 & 0x3FF) << 21
            | (imm >> 11 & 1) << 20
            | (imm >> 12 & 0xFF) << 12
            | d << 7
            | 0x6F
    }
}

/// Puts the bits of the field `i`, most significant first, to `places`.
fn scatter(f: &Fields, places: &[u32]) -> u32 {
    let v = f.get('i');
    places.iter().rev().enumerate().fold(0, |sum, (k, place)| sum | (v >> k & 1) << place)
}

/// As [`scatter`], sign-extended from the bit `top`.
fn scatter_signed(f: &Fields, places: &[u32], top: u32) -> u32 {
    let up = 31 - top;
    (((scatter(f, places) << up) as i32) >> up) as u32
}

/// A register of three bits: x8 to x15.
fn short(f: &Fields, letter: char) -> u32 {
    8 + f.get(letter)
}

/// Offset of C.J and C.JAL (16.4).
fn jump_offset(f: &Fields) -> u32 {
    scatter_signed(f, &[11, 4, 9, 8, 10, 6, 7, 3, 2, 1, 5], 11)
}

fn arithmetic(f: &Fields, op: u32, f7: u32, f3: u32) -> Option<u32> {
    Some(encode::r(op, f7, f3, short(f, 'd'), short(f, 'd'), short(f, 't')))
}

/// A shift of `d` by an immediate.
fn shift(f: &Fields, f7: u32, f3: u32, d: u32) -> Option<u32> {
    Some(encode::i(encode::OP_IMM, f3, d, d, f7 << 5 | f.get('i')))
}

fn branch_zero(f: &Fields, f3: u32) -> Option<u32> {
    Some(encode::b(f3, short(f, 's'), scatter_signed(f, &[8, 4, 3, 7, 6, 2, 1, 5], 8)))
}

const fn short_row(pattern: &'static str, only: Only, expand: fn(&Fields) -> Option<u32>) -> Compressed {
    Compressed { pattern: Pattern::new(pattern), only, expand }
}

/// Every compressed form without floating point.
#[rustfmt::skip]
pub(crate) static COMPRESSED: &[Compressed] = &[
    // quadrant 0
    short_row("000 iiiiiiii ddd 00", Any, |f| { // c.addi4spn
        let imm = scatter(f, &[5, 4, 9, 8, 7, 6, 2, 3]);
        (imm != 0).then(|| encode::i(encode::OP_IMM, 0, short(f, 'd'), 2, imm))
    }),
    // c.lw, c.ld, c.sw, c.sd
    short_row("010 iii sss ii ddd 00", Any,
        |f| Some(encode::i(encode::LOAD, 2, short(f, 'd'), short(f, 's'), scatter(f, &[5, 4, 3, 2, 6])))),
    short_row("011 iii sss ii ddd 00", Rv64,
        |f| Some(encode::i(encode::LOAD, 3, short(f, 'd'), short(f, 's'), scatter(f, &[5, 4, 3, 7, 6])))),
    short_row("110 iii sss ii ttt 00", Any,
        |f| Some(encode::s(2, short(f, 's'), short(f, 't'), scatter(f, &[5, 4, 3, 2, 6])))),
    short_row("111 iii sss ii ttt 00", Rv64,
        |f| Some(encode::s(3, short(f, 's'), short(f, 't'), scatter(f, &[5, 4, 3, 7, 6])))),
    // quadrant 1: c.addi, c.jal, c.addiw, c.li
    short_row("000 i ddddd iiiii 01", Any,
        |f| Some(encode::i(encode::OP_IMM, 0, f.get('d'), f.get('d'), f.signed('i') as u32))),
    short_row("001 iiiiiiiiiii 01", Rv32, |f| Some(encode::jal(1, jump_offset(f)))),
    short_row("001 i ddddd iiiii 01", Rv64, |f| {
        let d = f.get('d');
        (d != 0).then(|| encode::i(encode::OP_IMM_32, 0, d, d, f.signed('i') as u32))
    }),
    short_row("010 i ddddd iiiii 01", Any,
        |f| Some(encode::i(encode::OP_IMM, 0, f.get('d'), 0, f.signed('i') as u32))),
    short_row("011 i ddddd iiiii 01", Any, |f| match (f.get('d'), f.get('i')) {
        (_, 0) => None,
        (2, _) => Some(encode::i(encode::OP_IMM, 0, 2, 2, scatter_signed(f, &[9, 4, 6, 8, 7, 5], 9))), // c.addi16sp
        (d, _) => Some((f.signed('i') as u32) << 12 | d << 7 | 0x37),                                  // c.lui
    }),
    // c.srli, c.srai, c.andi
    short_row("100 0 00 ddd iiiii 01", Rv32, |f| shift(f, 0, 5, short(f, 'd'))),
    short_row("100 0 01 ddd iiiii 01", Rv32, |f| shift(f, 0x20, 5, short(f, 'd'))),
    short_row("100 i 00 ddd iiiii 01", Rv64, |f| shift(f, 0, 5, short(f, 'd'))),
    short_row("100 i 01 ddd iiiii 01", Rv64, |f| shift(f, 0x20, 5, short(f, 'd'))),
    short_row("100 i 10 ddd iiiii 01", Any,
        |f| Some(encode::i(encode::OP_IMM, 7, short(f, 'd'), short(f, 'd'), f.signed('i') as u32))),
    // c.sub, c.xor, c.or, c.and, c.subw, c.addw
    short_row("100 0 11 ddd 00 ttt 01", Any, |f| arithmetic(f, encode::OP, 0x20, 0)),
    short_row("100 0 11 ddd 01 ttt 01", Any, |f| arithmetic(f, encode::OP, 0, 4)),
    short_row("100 0 11 ddd 10 ttt 01", Any, |f| arithmetic(f, encode::OP, 0, 6)),
    short_row("100 0 11 ddd 11 ttt 01", Any, |f| arithmetic(f, encode::OP, 0, 7)),
    short_row("100 1 11 ddd 00 ttt 01", Rv64, |f| arithmetic(f, encode::OP_32, 0x20, 0)),
    short_row("100 1 11 ddd 01 ttt 01", Rv64, |f| arithmetic(f, encode::OP_32, 0, 0)),
    // c.j, c.beqz, c.bnez
    short_row("101 iiiiiiiiiii 01", Any, |f| Some(encode::jal(0, jump_offset(f)))),
    short_row("110 iii sss iiiii 01", Any, |f| branch_zero(f, 0)),
    short_row("111 iii sss iiiii 01", Any, |f| branch_zero(f, 1)),
    // quadrant 2: c.slli
    short_row("000 0 ddddd iiiii 10", Rv32, |f| shift(f, 0, 1, f.get('d'))),
    short_row("000 i ddddd iiiii 10", Rv64, |f| shift(f, 0, 1, f.get('d'))),
    short_row("010 i ddddd iiiii 10", Any, |f| { // c.lwsp
        let d = f.get('d');
        (d != 0).then(|| encode::i(encode::LOAD, 2, d, 2, scatter(f, &[5, 4, 3, 2, 7, 6])))
    }),
    short_row("011 i ddddd iiiii 10", Rv64, |f| { // c.ldsp
        let d = f.get('d');
        (d != 0).then(|| encode::i(encode::LOAD, 3, d, 2, scatter(f, &[5, 4, 3, 8, 7, 6])))
    }),
    short_row("100 0 ddddd ttttt 10", Any, |f| match (f.get('d'), f.get('t')) {
        (0, 0) => None,
        (s, 0) => Some(encode::i(encode::JALR, 0, 0, s, 0)),     // c.jr
        (d, t) => Some(encode::r(encode::OP, 0, 0, d, 0, t)),    // c.mv
    }),
    short_row("100 1 ddddd ttttt 10", Any, |f| match (f.get('d'), f.get('t')) {
        (0, 0) => Some(0x0010_0073),                             // c.ebreak
        (s, 0) => Some(encode::i(encode::JALR, 0, 1, s, 0)),     // c.jalr
        (d, t) => Some(encode::r(encode::OP, 0, 0, d, d, t)),    // c.add
    }),
    // c.swsp, c.sdsp
    short_row("110 iiiiii ttttt 10", Any, |f| Some(encode::s(2, 2, f.get('t'), scatter(f, &[5, 4, 3, 2, 7, 6])))),
    short_row("111 iiiiii ttttt 10", Rv64, |f| Some(encode::s(3, 2, f.get('t'), scatter(f, &[5, 4, 3, 8, 7, 6])))),
];

#[cfg(test)]
mod tests {
    use super::{COMPRESSED, Table, expand};
    use crate::Word;
    use isa::Pattern;

    fn overlap(a: &Pattern, b: &Pattern) -> bool {
        a.bits == b.bits && (a.value ^ b.value) & a.mask & b.mask == 0
    }

    fn disjoint<X: Word>() {
        let rows: Vec<_> = Table::<X>::ROWS.iter().filter(|r| r.only.has::<X>()).collect();
        for (k, a) in rows.iter().enumerate() {
            for b in &rows[k + 1..] {
                assert!(!overlap(&a.pattern, &b.pattern), "{} and {}", a.name(), b.name());
            }
            assert_eq!(a.pattern.value & 3, 3, "{}: 32-bit encodings end in 11", a.name());
        }
        let forms: Vec<_> = COMPRESSED.iter().filter(|c| c.only.has::<X>()).collect();
        for (k, a) in forms.iter().enumerate() {
            assert!(forms[k + 1..].iter().all(|b| !overlap(&a.pattern, &b.pattern)), "form {k} is not alone");
        }
    }

    #[test]
    fn a_word_has_at_most_one_row() {
        disjoint::<u32>();
        disjoint::<u64>();
    }

    #[test]
    fn every_compressed_form_stands_for_an_instruction() {
        fn all<X: Word>() -> usize {
            let halves = (0..0x1_0000u32).filter(|h| h & 3 != 3).filter_map(|h| Some((h, expand::<X>(h)?)));
            halves.map(|(h, w)| assert!(Table::<X>::find(w).is_some(), "{h:#06x} stands for {w:#010x}")).count()
        }
        // what is left is floating point or reserved
        println!("{} and {} of 49152 halfwords", all::<u32>(), all::<u64>());
        assert_eq!((expand::<u32>(0), expand::<u64>(0)), (None, None));
    }
}
