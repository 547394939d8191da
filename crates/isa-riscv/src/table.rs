//! The instruction table: bit pattern, width, operation, operand form and text of each instruction.
//! Bit patterns and operations are those of The RISC-V Instruction Set Manual, Volume I (20191213), chapters 2 to 9 and
//! 24. Letters in patterns: `d` destination, `s` and `t` sources, `i` immediate; other letters are pieces of scattered
//! immediates. What an instruction does and costs follows from its operation and form; the text is for people, and only
//! [`crate::disasm`] reads it.

use isa::{Pattern, Template};

use crate::op::Alu::{Add, And, Mul, Mulh, Mulhu, Or, Sll, Slt, Sltu, Sra, Srl, Sub, Xor};
use crate::op::Amo as On;
use crate::op::Division::{Div, Divu, Rem, Remu};
use crate::op::Form::{self, Amount, B, I, J, R, S, U};
use crate::op::Op::{self, Alu, AluWord, Amo, Auipc, Branch, Divide, DivideWord, Fence, Jal, Jalr, Load};
use crate::op::Op::{LoadReserved, Lui, Mret, Mulhsu, ReadCsr, Store, StoreConditional, Trap, Unsupported, WriteCsr};
use crate::op::Test::{Eq, Ge, Geu, Lt, Ltu, Ne};
use crate::op::Width::{Byte, Double, Half, Word as W32};
use crate::word::Word;

/// The register widths that have an instruction.
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

/// One instruction.
pub(crate) struct Definition {
    pub pattern: Pattern,
    pub only: Only,
    pub op: Op,
    pub form: Form,
    pub text: Template,
}

/// The definition that `word` encodes, and its index in the table.
pub(crate) fn find<X: Word>(word: u32) -> Option<(usize, &'static Definition)> {
    ROWS.iter().enumerate().find(|(_, r)| r.pattern.matches(word) && r.only.has::<X>())
}

const fn row(pattern: &'static str, only: Only, op: Op, form: Form, text: &'static str) -> Definition {
    Definition { pattern: Pattern::new(pattern), only, op, form, text: Template(text) }
}

use Only::{Any, Rv32, Rv64};

/// Every instruction of RV32IMA and RV64IMA.
#[rustfmt::skip]
pub(crate) static ROWS: &[Definition] = &[
    // RV32I, RV64I: registers and immediates
    row("iiiiiiiiiiiiiiiiiiii ddddd 0110111",          Any,  Lui,                    U,          "lui {d}, {upper}"),
    row("iiiiiiiiiiiiiiiiiiii ddddd 0010111",          Any,  Auipc,                  U,          "auipc {d}, {upper}"),
    row("iiiiiiiiiiii sssss 000 ddddd 0010011",        Any,  Alu(Add),               I,          "addi {d}, {s}, {imm}"),
    row("iiiiiiiiiiii sssss 010 ddddd 0010011",        Any,  Alu(Slt),               I,          "slti {d}, {s}, {imm}"),
    row("iiiiiiiiiiii sssss 011 ddddd 0010011",        Any,  Alu(Sltu),              I,          "sltiu {d}, {s}, {imm}"),
    row("iiiiiiiiiiii sssss 100 ddddd 0010011",        Any,  Alu(Xor),               I,          "xori {d}, {s}, {imm}"),
    row("iiiiiiiiiiii sssss 110 ddddd 0010011",        Any,  Alu(Or),                I,          "ori {d}, {s}, {imm}"),
    row("iiiiiiiiiiii sssss 111 ddddd 0010011",        Any,  Alu(And),               I,          "andi {d}, {s}, {imm}"),
    row("0000000 iiiii sssss 001 ddddd 0010011",       Rv32, Alu(Sll),               Amount,     "slli {d}, {s}, {hex}"),
    row("0000000 iiiii sssss 101 ddddd 0010011",       Rv32, Alu(Srl),               Amount,     "srli {d}, {s}, {hex}"),
    row("0100000 iiiii sssss 101 ddddd 0010011",       Rv32, Alu(Sra),               Amount,     "srai {d}, {s}, {hex}"),
    row("000000 iiiiii sssss 001 ddddd 0010011",       Rv64, Alu(Sll),               Amount,     "slli {d}, {s}, {hex}"),
    row("000000 iiiiii sssss 101 ddddd 0010011",       Rv64, Alu(Srl),               Amount,     "srli {d}, {s}, {hex}"),
    row("010000 iiiiii sssss 101 ddddd 0010011",       Rv64, Alu(Sra),               Amount,     "srai {d}, {s}, {hex}"),
    row("iiiiiiiiiiii sssss 000 ddddd 0011011",        Rv64, AluWord(Add),           I,          "addiw {d}, {s}, {imm}"),
    row("0000000 iiiii sssss 001 ddddd 0011011",       Rv64, AluWord(Sll),           Amount,     "slliw {d}, {s}, {hex}"),
    row("0000000 iiiii sssss 101 ddddd 0011011",       Rv64, AluWord(Srl),           Amount,     "srliw {d}, {s}, {hex}"),
    row("0100000 iiiii sssss 101 ddddd 0011011",       Rv64, AluWord(Sra),           Amount,     "sraiw {d}, {s}, {hex}"),
    // registers and registers
    row("0000000 ttttt sssss 000 ddddd 0110011",       Any,  Alu(Add),               R,          "add {d}, {s}, {t}"),
    row("0100000 ttttt sssss 000 ddddd 0110011",       Any,  Alu(Sub),               R,          "sub {d}, {s}, {t}"),
    row("0000000 ttttt sssss 001 ddddd 0110011",       Any,  Alu(Sll),               R,          "sll {d}, {s}, {t}"),
    row("0000000 ttttt sssss 010 ddddd 0110011",       Any,  Alu(Slt),               R,          "slt {d}, {s}, {t}"),
    row("0000000 ttttt sssss 011 ddddd 0110011",       Any,  Alu(Sltu),              R,          "sltu {d}, {s}, {t}"),
    row("0000000 ttttt sssss 100 ddddd 0110011",       Any,  Alu(Xor),               R,          "xor {d}, {s}, {t}"),
    row("0000000 ttttt sssss 101 ddddd 0110011",       Any,  Alu(Srl),               R,          "srl {d}, {s}, {t}"),
    row("0100000 ttttt sssss 101 ddddd 0110011",       Any,  Alu(Sra),               R,          "sra {d}, {s}, {t}"),
    row("0000000 ttttt sssss 110 ddddd 0110011",       Any,  Alu(Or),                R,          "or {d}, {s}, {t}"),
    row("0000000 ttttt sssss 111 ddddd 0110011",       Any,  Alu(And),               R,          "and {d}, {s}, {t}"),
    row("0000000 ttttt sssss 000 ddddd 0111011",       Rv64, AluWord(Add),           R,          "addw {d}, {s}, {t}"),
    row("0100000 ttttt sssss 000 ddddd 0111011",       Rv64, AluWord(Sub),           R,          "subw {d}, {s}, {t}"),
    row("0000000 ttttt sssss 001 ddddd 0111011",       Rv64, AluWord(Sll),           R,          "sllw {d}, {s}, {t}"),
    row("0000000 ttttt sssss 101 ddddd 0111011",       Rv64, AluWord(Srl),           R,          "srlw {d}, {s}, {t}"),
    row("0100000 ttttt sssss 101 ddddd 0111011",       Rv64, AluWord(Sra),           R,          "sraw {d}, {s}, {t}"),
    // M
    row("0000001 ttttt sssss 000 ddddd 0110011",       Any,  Alu(Mul),               R,          "mul {d}, {s}, {t}"),
    row("0000001 ttttt sssss 001 ddddd 0110011",       Any,  Alu(Mulh),              R,          "mulh {d}, {s}, {t}"),
    row("0000001 ttttt sssss 010 ddddd 0110011",       Any,  Mulhsu,                 R,          "mulhsu {d}, {s}, {t}"),
    row("0000001 ttttt sssss 011 ddddd 0110011",       Any,  Alu(Mulhu),             R,          "mulhu {d}, {s}, {t}"),
    row("0000001 ttttt sssss 100 ddddd 0110011",       Any,  Divide(Div),            R,          "div {d}, {s}, {t}"),
    row("0000001 ttttt sssss 101 ddddd 0110011",       Any,  Divide(Divu),           R,          "divu {d}, {s}, {t}"),
    row("0000001 ttttt sssss 110 ddddd 0110011",       Any,  Divide(Rem),            R,          "rem {d}, {s}, {t}"),
    row("0000001 ttttt sssss 111 ddddd 0110011",       Any,  Divide(Remu),           R,          "remu {d}, {s}, {t}"),
    row("0000001 ttttt sssss 000 ddddd 0111011",       Rv64, AluWord(Mul),           R,          "mulw {d}, {s}, {t}"),
    row("0000001 ttttt sssss 100 ddddd 0111011",       Rv64, DivideWord(Div),        R,          "divw {d}, {s}, {t}"),
    row("0000001 ttttt sssss 101 ddddd 0111011",       Rv64, DivideWord(Divu),       R,          "divuw {d}, {s}, {t}"),
    row("0000001 ttttt sssss 110 ddddd 0111011",       Rv64, DivideWord(Rem),        R,          "remw {d}, {s}, {t}"),
    row("0000001 ttttt sssss 111 ddddd 0111011",       Rv64, DivideWord(Remu),       R,          "remuw {d}, {s}, {t}"),
    // loads and stores
    row("iiiiiiiiiiii sssss 000 ddddd 0000011",        Any,  Load(Byte, true),       I,          "lb {d}, {imm}({s})"),
    row("iiiiiiiiiiii sssss 001 ddddd 0000011",        Any,  Load(Half, true),       I,          "lh {d}, {imm}({s})"),
    row("iiiiiiiiiiii sssss 010 ddddd 0000011",        Any,  Load(W32, true),        I,          "lw {d}, {imm}({s})"),
    row("iiiiiiiiiiii sssss 011 ddddd 0000011",        Rv64, Load(Double, false),    I,          "ld {d}, {imm}({s})"),
    row("iiiiiiiiiiii sssss 100 ddddd 0000011",        Any,  Load(Byte, false),      I,          "lbu {d}, {imm}({s})"),
    row("iiiiiiiiiiii sssss 101 ddddd 0000011",        Any,  Load(Half, false),      I,          "lhu {d}, {imm}({s})"),
    row("iiiiiiiiiiii sssss 110 ddddd 0000011",        Rv64, Load(W32, false),       I,          "lwu {d}, {imm}({s})"),
    row("iiiiiii ttttt sssss 000 iiiii 0100011",       Any,  Store(Byte),            S,          "sb {t}, {imm}({s})"),
    row("iiiiiii ttttt sssss 001 iiiii 0100011",       Any,  Store(Half),            S,          "sh {t}, {imm}({s})"),
    row("iiiiiii ttttt sssss 010 iiiii 0100011",       Any,  Store(W32),             S,          "sw {t}, {imm}({s})"),
    row("iiiiiii ttttt sssss 011 iiiii 0100011",       Rv64, Store(Double),          S,          "sd {t}, {imm}({s})"),
    // A; q is acquire and release, which one hart does not need
    row("00010 qq 00000 sssss 010 ddddd 0101111",      Any,  LoadReserved(W32),      R,          "lr.w{q} {d}, ({s})"),
    row("00011 qq ttttt sssss 010 ddddd 0101111",      Any,  StoreConditional(W32),  R,          "sc.w{q} {d}, {t}, ({s})"),
    row("00001 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Swap, W32),     R,          "amoswap.w{q} {d}, {t}, ({s})"),
    row("00000 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Add, W32),      R,          "amoadd.w{q} {d}, {t}, ({s})"),
    row("00100 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Xor, W32),      R,          "amoxor.w{q} {d}, {t}, ({s})"),
    row("01100 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::And, W32),      R,          "amoand.w{q} {d}, {t}, ({s})"),
    row("01000 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Or, W32),       R,          "amoor.w{q} {d}, {t}, ({s})"),
    row("10000 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Min, W32),      R,          "amomin.w{q} {d}, {t}, ({s})"),
    row("10100 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Max, W32),      R,          "amomax.w{q} {d}, {t}, ({s})"),
    row("11000 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Minu, W32),     R,          "amominu.w{q} {d}, {t}, ({s})"),
    row("11100 qq ttttt sssss 010 ddddd 0101111",      Any,  Amo(On::Maxu, W32),     R,          "amomaxu.w{q} {d}, {t}, ({s})"),
    row("00010 qq 00000 sssss 011 ddddd 0101111",      Rv64, LoadReserved(Double),   R,          "lr.d{q} {d}, ({s})"),
    row("00011 qq ttttt sssss 011 ddddd 0101111",      Rv64, StoreConditional(Double), R,          "sc.d{q} {d}, {t}, ({s})"),
    row("00001 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Swap, Double),  R,          "amoswap.d{q} {d}, {t}, ({s})"),
    row("00000 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Add, Double),   R,          "amoadd.d{q} {d}, {t}, ({s})"),
    row("00100 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Xor, Double),   R,          "amoxor.d{q} {d}, {t}, ({s})"),
    row("01100 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::And, Double),   R,          "amoand.d{q} {d}, {t}, ({s})"),
    row("01000 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Or, Double),    R,          "amoor.d{q} {d}, {t}, ({s})"),
    row("10000 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Min, Double),   R,          "amomin.d{q} {d}, {t}, ({s})"),
    row("10100 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Max, Double),   R,          "amomax.d{q} {d}, {t}, ({s})"),
    row("11000 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Minu, Double),  R,          "amominu.d{q} {d}, {t}, ({s})"),
    row("11100 qq ttttt sssss 011 ddddd 0101111",      Rv64, Amo(On::Maxu, Double),  R,          "amomaxu.d{q} {d}, {t}, ({s})"),
    // control
    row("k mmmmmm ttttt sssss 000 nnnn l 1100011",     Any,  Branch(Eq),             B,          "beq {s}, {t}, {to}"),
    row("k mmmmmm ttttt sssss 001 nnnn l 1100011",     Any,  Branch(Ne),             B,          "bne {s}, {t}, {to}"),
    row("k mmmmmm ttttt sssss 100 nnnn l 1100011",     Any,  Branch(Lt),             B,          "blt {s}, {t}, {to}"),
    row("k mmmmmm ttttt sssss 101 nnnn l 1100011",     Any,  Branch(Ge),             B,          "bge {s}, {t}, {to}"),
    row("k mmmmmm ttttt sssss 110 nnnn l 1100011",     Any,  Branch(Ltu),            B,          "bltu {s}, {t}, {to}"),
    row("k mmmmmm ttttt sssss 111 nnnn l 1100011",     Any,  Branch(Geu),            B,          "bgeu {s}, {t}, {to}"),
    row("k nnnnnnnnnn m llllllll ddddd 1101111",       Any,  Jal,                    J,          "jal {d}, {to}"),
    row("iiiiiiiiiiii sssss 000 ddddd 1100111",        Any,  Jalr,                   I,          "jalr {d}, {imm}({s})"),
    // system
    row("xxxxxxxxxxxxxxxxx 000 xxxxx 0001111",         Any,  Fence,                  R,          "fence"),
    row("xxxxxxxxxxxxxxxxx 001 xxxxx 0001111",         Any,  Fence,                  R,          "fence.i"),
    row("000000000000 00000 000 00000 1110011",        Any,  Unsupported,            Form::Word, "ecall"),
    row("000000000001 00000 000 00000 1110011",        Any,  Trap,                   Form::Word, "ebreak"),
    row("001100000010 00000 000 00000 1110011",        Any,  Mret,                   Form::Word, "mret"),
    row("000100000101 00000 000 00000 1110011",        Any,  Unsupported,            Form::Word, "wfi"),
    row("iiiiiiiiiiii sssss 001 ddddd 1110011",        Any,  WriteCsr,               Form::Word, "csrrw {d}, {csr}, {s}"),
    row("iiiiiiiiiiii sssss 010 ddddd 1110011",        Any,  ReadCsr,                Form::Word, "csrrs {d}, {csr}, {s}"),
    row("iiiiiiiiiiii sssss 011 ddddd 1110011",        Any,  ReadCsr,                Form::Word, "csrrc {d}, {csr}, {s}"),
    row("iiiiiiiiiiii sssss 101 ddddd 1110011",        Any,  WriteCsr,               Form::Word, "csrrwi {d}, {csr}, {n}"),
    row("iiiiiiiiiiii sssss 110 ddddd 1110011",        Any,  ReadCsr,                Form::Word, "csrrsi {d}, {csr}, {n}"),
    row("iiiiiiiiiiii sssss 111 ddddd 1110011",        Any,  ReadCsr,                Form::Word, "csrrci {d}, {csr}, {n}"),
];

#[cfg(test)]
mod tests {
    use super::{ROWS, find};
    use crate::compressed::{COMPRESSED, expand};
    use crate::word::Word;
    use isa::Pattern;

    fn overlap(a: &Pattern, b: &Pattern) -> bool {
        a.bits == b.bits && (a.value ^ b.value) & a.mask & b.mask == 0
    }

    fn disjoint<X: Word>() {
        let rows: Vec<_> = ROWS.iter().filter(|r| r.only.has::<X>()).collect();
        for (k, a) in rows.iter().enumerate() {
            for b in &rows[k + 1..] {
                assert!(!overlap(&a.pattern, &b.pattern), "{:?} and {:?}", a.op, b.op);
            }
            assert_eq!(a.pattern.value & 3, 3, "{:?}: 32-bit encodings end in 11", a.op);
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
            halves.map(|(h, w)| assert!(find::<X>(w).is_some(), "{h:#06x} stands for {w:#010x}")).count()
        }
        // what is left is floating point or reserved
        println!("{} and {} of 49152 halfwords", all::<u32>(), all::<u64>());
        assert_eq!((expand::<u32>(0), expand::<u64>(0)), (None, None));
    }
}
