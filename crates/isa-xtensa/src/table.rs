//! The instruction table: for each instruction the cores that have it, bit pattern, text, operation and operand form.
//! Bit patterns are those of chapter 7 of the manual for little-endian cores, most significant bit first. No two
//! definitions of one core match the same word. Nothing depends on a text.
//!
//! Letters in patterns: `r`, `s`, `t` registers as the manual names the fields, `i` and `I` the low and
//! the high part of an immediate, `w` a width, `b` and `k` small numbers; `x` is any value.

use isa::{Pattern, Template};

use crate::features::{Features, Part};
use crate::form::{Form, Operands};
use crate::op::{Against::*, Amount::*, Binary::*, Condition::*, Divide::*, Keep::*, Load::*, Loop::*, Shift::*};
use crate::op::{Op, Store::*, Unary::*};

/// One instruction of the table.
pub(crate) struct Definition {
    pub part: Part,
    pub pattern: Pattern,
    pub text: Template,
    pub op: Op,
    pub form: Form,
}

macro_rules! rows {
    ($($part:ident $pattern:literal $text:literal $op:ident $(($($kind:ident),+))? $form:ident $(($n:literal))?;)+) => {
        &[$(Definition {
            part: Part::$part,
            pattern: Pattern::new($pattern),
            text: Template($text),
            op: Op::$op $(($($kind),+))?,
            form: Form::$form $(($n))?,
        }),+]
    };
}

#[rustfmt::skip]
static ROWS: &[Definition] = rows! {
    // density option (4.3.1)
    Core "iiii ssss tttt 1000"                "l32i.n {a}, {b}, {imm}"        Load(L32i)               Load(4);
    Core "iiii ssss tttt 1001"                "s32i.n {a}, {b}, {imm}"        Store(S32i)              Store(4);
    Core "rrrr ssss tttt 1010"                "add.n {a}, {b}, {c}"           Binary(Add)              Rst;
    Core "rrrr ssss iiii 1011"                "addi.n {a}, {b}, {imm}"        Unary(Addi)              AddiN;
    Core "iiii ssss 0III 1100"                "movi.n {a}, {imm}"             Movi                     MoviN;
    Core "iiii ssss 10II 1100"                "beqz.n {b}, {to}"              Branch(Beq, Zero)        BranchN;
    Core "iiii ssss 11II 1100"                "bnez.n {b}, {to}"              Branch(Bne, Zero)        BranchN;
    Core "0000 ssss tttt 1101"                "mov.n {a}, {b}"                Unary(Mov)               Ts;
    Core "1111 0000 0000 1101"                "ret.n"                         Jx                       Ret;
    Lx6  "1111 0000 0001 1101"                "retw.n"                        Retw                     Ret;
    Core "1111 iiii 0010 1101"                "break.n {i}"                   Trap                     None;
    Core "1111 0000 0011 1101"                "nop.n"                         Nop                      None;
    Core "1111 0000 0110 1101"                "ill.n"                         Trap                     None;

    // arithmetic
    Core "0001 0000 rrrr ssss tttt 0000"      "and {a}, {b}, {c}"             Binary(And)              Rst;
    Core "0010 0000 rrrr ssss tttt 0000"      "or {a}, {b}, {c}"              Binary(Or)               Rst;
    Core "0011 0000 rrrr ssss tttt 0000"      "xor {a}, {b}, {c}"             Binary(Xor)              Rst;
    Core "0110 0000 rrrr 0000 tttt 0000"      "neg {a}, {b}"                  Unary(Neg)               Rt;
    Core "0110 0000 rrrr 0001 tttt 0000"      "abs {a}, {b}"                  Unary(Abs)               Rt;
    Core "1000 0000 rrrr ssss tttt 0000"      "add {a}, {b}, {c}"             Binary(Add)              Rst;
    Core "1001 0000 rrrr ssss tttt 0000"      "addx2 {a}, {b}, {c}"           Binary(Addx2)            Rst;
    Core "1010 0000 rrrr ssss tttt 0000"      "addx4 {a}, {b}, {c}"           Binary(Addx4)            Rst;
    Core "1011 0000 rrrr ssss tttt 0000"      "addx8 {a}, {b}, {c}"           Binary(Addx8)            Rst;
    Core "1100 0000 rrrr ssss tttt 0000"      "sub {a}, {b}, {c}"             Binary(Sub)              Rst;
    Core "1101 0000 rrrr ssss tttt 0000"      "subx2 {a}, {b}, {c}"           Binary(Subx2)            Rst;
    Core "1110 0000 rrrr ssss tttt 0000"      "subx4 {a}, {b}, {c}"           Binary(Subx4)            Rst;
    Core "1111 0000 rrrr ssss tttt 0000"      "subx8 {a}, {b}, {c}"           Binary(Subx8)            Rst;
    Core "iiii iiii 1100 ssss tttt 0010"      "addi {a}, {b}, {imm}"          Unary(Addi)              Addi;
    Core "iiii iiii 1101 ssss tttt 0010"      "addmi {a}, {b}, {imm:x}"       Unary(Addi)              Addmi;
    Core "iiii iiii 1010 IIII tttt 0010"      "movi {a}, {imm}"               Movi                     Movi;
    Core "1000 0011 rrrr ssss tttt 0000"      "moveqz {a}, {b}, {c}"          Keep(Moveqz)             RstKeep;
    Core "1001 0011 rrrr ssss tttt 0000"      "movnez {a}, {b}, {c}"          Keep(Movnez)             RstKeep;
    Core "1010 0011 rrrr ssss tttt 0000"      "movltz {a}, {b}, {c}"          Keep(Movltz)             RstKeep;
    Core "1011 0011 rrrr ssss tttt 0000"      "movgez {a}, {b}, {c}"          Keep(Movgez)             RstKeep;
    Core "1100 0001 rrrr ssss tttt 0000"      "mul16u {a}, {b}, {c}"          Binary(Mul16u)           Rst;
    Core "1101 0001 rrrr ssss tttt 0000"      "mul16s {a}, {b}, {c}"          Binary(Mul16s)           Rst;
    Core "1000 0010 rrrr ssss tttt 0000"      "mull {a}, {b}, {c}"            Binary(Mull)             Rst;
    Lx6  "1010 0010 rrrr ssss tttt 0000"      "muluh {a}, {b}, {c}"           Binary(Muluh)            Rst;
    Lx6  "1011 0010 rrrr ssss tttt 0000"      "mulsh {a}, {b}, {c}"           Binary(Mulsh)            Rst;
    Lx6  "1100 0010 rrrr ssss tttt 0000"      "quou {a}, {b}, {c}"            Divide(Quou)             Rst;
    Lx6  "1101 0010 rrrr ssss tttt 0000"      "quos {a}, {b}, {c}"            Divide(Quos)             Rst;
    Lx6  "1110 0010 rrrr ssss tttt 0000"      "remu {a}, {b}, {c}"            Divide(Remu)             Rst;
    Lx6  "1111 0010 rrrr ssss tttt 0000"      "rems {a}, {b}, {c}"            Divide(Rems)             Rst;
    Lx6  "0100 0011 rrrr ssss tttt 0000"      "min {a}, {b}, {c}"             Binary(Min)              Rst;
    Lx6  "0101 0011 rrrr ssss tttt 0000"      "max {a}, {b}, {c}"             Binary(Max)              Rst;
    Lx6  "0110 0011 rrrr ssss tttt 0000"      "minu {a}, {b}, {c}"            Binary(Minu)             Rst;
    Lx6  "0111 0011 rrrr ssss tttt 0000"      "maxu {a}, {b}, {c}"            Binary(Maxu)             Rst;
    Lx6  "0010 0011 rrrr ssss iiii 0000"      "sext {a}, {b}, {bits}"         Unary(Sext)              Bits;
    Lx6  "0011 0011 rrrr ssss iiii 0000"      "clamps {a}, {b}, {bits}"       Unary(Clamps)            Bits;
    Core "0100 0000 1110 ssss tttt 0000"      "nsa {a}, {b}"                  Unary(Nsa)               Ts;
    Core "0100 0000 1111 ssss tttt 0000"      "nsau {a}, {b}"                 Unary(Nsau)              Ts;

    // shifts
    Core "000I 0001 rrrr ssss iiii 0000"      "slli {a}, {b}, {d}"            Unary(Slli)              Slli;
    Core "001I 0001 rrrr iiii tttt 0000"      "srai {a}, {b}, {d}"            Unary(Srai)              RtAmount;
    Core "0100 0001 rrrr iiii tttt 0000"      "srli {a}, {b}, {d}"            Unary(Srli)              RtAmount;
    Core "1000 0001 rrrr ssss tttt 0000"      "src {a}, {b}, {c}"             Shift(Src)               Rst;
    Core "1001 0001 rrrr 0000 tttt 0000"      "srl {a}, {b}"                  Shift(Srl)               Rt;
    Core "1010 0001 rrrr ssss 0000 0000"      "sll {a}, {b}"                  Shift(Sll)               Rs;
    Core "1011 0001 rrrr 0000 tttt 0000"      "sra {a}, {b}"                  Shift(Sra)               Rt;
    Core "wwww 010I rrrr iiii tttt 0000"      "extui {a}, {b}, {d}, {width}"  Unary(Extui)             Extui;
    Core "0100 0000 0000 ssss 0000 0000"      "ssr {b}"                       Amount(Ssr)              S;
    Core "0100 0000 0001 ssss 0000 0000"      "ssl {b}"                       Amount(Ssl)              S;
    Core "0100 0000 0010 ssss 0000 0000"      "ssa8l {b}"                     Amount(Ssa8l)            S;
    Core "0100 0000 0011 ssss 0000 0000"      "ssa8b {b}"                     Amount(Ssa8b)            S;
    Core "0100 0000 0100 iiii 000I 0000"      "ssai {imm}"                    Amount(Ssai)             Ssai;

    // memory
    Core "iiii iiii iiii iiii tttt 0001"      "l32r {a}, {to}"                L32r                     Literal;
    Core "iiii iiii 0000 ssss tttt 0010"      "l8ui {a}, {b}, {imm}"          Load(L8ui)               Load(1);
    Core "iiii iiii 0001 ssss tttt 0010"      "l16ui {a}, {b}, {imm}"         Load(L16ui)              Load(2);
    Core "iiii iiii 0010 ssss tttt 0010"      "l32i {a}, {b}, {imm}"          Load(L32i)               Load(4);
    Core "iiii iiii 0100 ssss tttt 0010"      "s8i {a}, {b}, {imm}"           Store(S8i)               Store(1);
    Core "iiii iiii 0101 ssss tttt 0010"      "s16i {a}, {b}, {imm}"          Store(S16i)              Store(2);
    Core "iiii iiii 0110 ssss tttt 0010"      "s32i {a}, {b}, {imm}"          Store(S32i)              Store(4);
    Core "iiii iiii 1001 ssss tttt 0010"      "l16si {a}, {b}, {imm}"         Load(L16si)              Load(2);
    Lx6  "iiii iiii 1011 ssss tttt 0010"      "l32ai {a}, {b}, {imm}"         Load(L32i)               Load(4);
    Lx6  "iiii iiii 1110 ssss tttt 0010"      "s32c1i {a}, {b}, {imm}"        S32c1i                   Swap;
    Lx6  "iiii iiii 1111 ssss tttt 0010"      "s32ri {a}, {b}, {imm}"         Store(S32i)              Store(4);
    Lx6  "0000 1001 iiii ssss tttt 0000"      "l32e {a}, {b}, {imm}"          Load(L32i)               LoadWindow;
    Lx6  "0100 1001 iiii ssss tttt 0000"      "s32e {a}, {b}, {imm}"          Store(S32i)              StoreWindow;

    // branches
    Core "iiii iiii 0000 ssss tttt 0111"      "bnone {b}, {c}, {to}"          Branch(Bnone, Register)  BranchSt;
    Core "iiii iiii 0001 ssss tttt 0111"      "beq {b}, {c}, {to}"            Branch(Beq, Register)    BranchSt;
    Core "iiii iiii 0010 ssss tttt 0111"      "blt {b}, {c}, {to}"            Branch(Blt, Register)    BranchSt;
    Core "iiii iiii 0011 ssss tttt 0111"      "bltu {b}, {c}, {to}"           Branch(Bltu, Register)   BranchSt;
    Core "iiii iiii 0100 ssss tttt 0111"      "ball {b}, {c}, {to}"           Branch(Ball, Register)   BranchSt;
    Core "iiii iiii 0101 ssss tttt 0111"      "bbc {b}, {c}, {to}"            Branch(Bbc, Register)    BranchSt;
    Core "iiii iiii 011I ssss bbbb 0111"      "bbci {b}, {d}, {to}"           Branch(Bnone, Bit)       BranchBit;
    Core "iiii iiii 1000 ssss tttt 0111"      "bany {b}, {c}, {to}"           Branch(Bany, Register)   BranchSt;
    Core "iiii iiii 1001 ssss tttt 0111"      "bne {b}, {c}, {to}"            Branch(Bne, Register)    BranchSt;
    Core "iiii iiii 1010 ssss tttt 0111"      "bge {b}, {c}, {to}"            Branch(Bge, Register)    BranchSt;
    Core "iiii iiii 1011 ssss tttt 0111"      "bgeu {b}, {c}, {to}"           Branch(Bgeu, Register)   BranchSt;
    Core "iiii iiii 1100 ssss tttt 0111"      "bnall {b}, {c}, {to}"          Branch(Bnall, Register)  BranchSt;
    Core "iiii iiii 1101 ssss tttt 0111"      "bbs {b}, {c}, {to}"            Branch(Bbs, Register)    BranchSt;
    Core "iiii iiii 111I ssss bbbb 0111"      "bbsi {b}, {d}, {to}"           Branch(Bany, Bit)        BranchBit;
    Core "iiii iiii iiii ssss 0001 0110"      "beqz {b}, {to}"                Branch(Beq, Zero)        BranchS;
    Core "iiii iiii iiii ssss 0101 0110"      "bnez {b}, {to}"                Branch(Bne, Zero)        BranchS;
    Core "iiii iiii iiii ssss 1001 0110"      "bltz {b}, {to}"                Branch(Blt, Zero)        BranchS;
    Core "iiii iiii iiii ssss 1101 0110"      "bgez {b}, {to}"                Branch(Bge, Zero)        BranchS;
    Core "iiii iiii kkkk ssss 0010 0110"      "beqi {b}, {const}, {to}"       Branch(Beq, Constant)    BranchConstant;
    Core "iiii iiii kkkk ssss 0110 0110"      "bnei {b}, {const}, {to}"       Branch(Bne, Constant)    BranchConstant;
    Core "iiii iiii kkkk ssss 1010 0110"      "blti {b}, {const}, {to}"       Branch(Blt, Constant)    BranchConstant;
    Core "iiii iiii kkkk ssss 1110 0110"      "bgei {b}, {const}, {to}"       Branch(Bge, Constant)    BranchConstant;
    Core "iiii iiii kkkk ssss 1011 0110"      "bltui {b}, {const}, {to}"      Branch(Bltu, Constant)   BranchUnsigned;
    Core "iiii iiii kkkk ssss 1111 0110"      "bgeui {b}, {const}, {to}"      Branch(Bgeu, Constant)   BranchUnsigned;

    // jumps and calls
    Core "iiii iiii iiii iiii ii00 0110"      "j {to}"                        J                        Jump;
    Core "iiii iiii iiii iiii ii00 0101"      "call0 {to}"                    Call0                    Call(0);
    Lx6  "iiii iiii iiii iiii ii01 0101"      "call4 {to}"                    Call                     Call(1);
    Lx6  "iiii iiii iiii iiii ii10 0101"      "call8 {to}"                    Call                     Call(2);
    Lx6  "iiii iiii iiii iiii ii11 0101"      "call12 {to}"                   Call                     Call(3);
    Core "0000 0000 0000 0000 1000 0000"      "ret"                           Jx                       Ret;
    Core "0000 0000 0000 ssss 1010 0000"      "jx {b}"                        Jx                       S;
    Core "0000 0000 0000 ssss 1100 0000"      "callx0 {b}"                    Callx0                   Callx(0);
    Lx6  "0000 0000 0000 ssss 1101 0000"      "callx4 {b}"                    Callx                    Callx(1);
    Lx6  "0000 0000 0000 ssss 1110 0000"      "callx8 {b}"                    Callx                    Callx(2);
    Lx6  "0000 0000 0000 ssss 1111 0000"      "callx12 {b}"                   Callx                    Callx(3);

    // windowed registers (4.7.1)
    Lx6  "0000 0000 0000 0000 1001 0000"      "retw"                          Retw                     Ret;
    Lx6  "iiii iiii iiii ssss 0011 0110"      "entry {b}, {imm}"              Entry                    Entry;
    Lx6  "0000 0000 0001 ssss tttt 0000"      "movsp {a}, {b}"                Movsp                    Ts;
    Lx6  "0100 0000 1000 0000 iiii 0000"      "rotw {imm}"                    Rotw                     Signed;
    Lx6  "0000 0000 0011 0100 0000 0000"      "rfwo"                          Rfwo                     None;
    Lx6  "0000 0000 0011 0101 0000 0000"      "rfwu"                          Rfwu                     None;

    // loops (4.3.2)
    Lx6  "iiii iiii 1000 ssss 0111 0110"      "loop {b}, {to}"                Loop(Loop)               LoopTo;
    Lx6  "iiii iiii 1001 ssss 0111 0110"      "loopnez {b}, {to}"             Loop(Loopnez)            LoopTo;
    Lx6  "iiii iiii 1010 ssss 0111 0110"      "loopgtz {b}, {to}"             Loop(Loopgtz)            LoopTo;

    // system
    Core "0000 0000 0000 0000 0000 0000"      "ill"                           Trap                     None;
    Core "0000 0000 0010 0000 0000 0000"      "isync"                         Isync                    None;
    Core "0000 0000 0010 0000 0001 0000"      "rsync"                         Wait                     None;
    Core "0000 0000 0010 0000 0010 0000"      "esync"                         Wait                     None;
    Core "0000 0000 0010 0000 0011 0000"      "dsync"                         Wait                     None;
    Core "0000 0000 0010 0000 1000 0000"      "excw"                          Wait                     None;
    Core "0000 0000 0010 0000 1100 0000"      "memw"                          Wait                     None;
    Core "0000 0000 0010 0000 1101 0000"      "extw"                          Wait                     None;
    Core "0000 0000 0010 0000 1111 0000"      "nop"                           Nop                      None;
    Core "0000 0000 0011 0000 0000 0000"      "rfe"                           Rfe                      None;
    Core "0000 0000 0011 0010 0000 0000"      "rfde"                          Unsupported              None;
    Core "0000 0000 0011 xxxx 0001 0000"      "rfi {x}"                       Unsupported              None;
    Core "0000 0000 0100 ssss tttt 0000"      "break {s}, {t}"                Trap                     None;
    Core "0000 0000 0101 0000 0000 0000"      "syscall"                       Trap                     None;
    Core "0000 0000 0101 0001 0000 0000"      "simcall"                       Trap                     None;
    Core "0000 0000 0110 iiii tttt 0000"      "rsil {a}, {imm}"               Rsil                     Special;
    Core "0000 0000 0111 xxxx 0000 0000"      "waiti {x}"                     Unsupported              None;
    Core "0000 0011 iiii iiii tttt 0000"      "rsr.{special} {a}"             Rsr                      Special;
    Core "0001 0011 iiii iiii tttt 0000"      "wsr.{special} {a}"             Wsr                      Wsr;
    Core "0110 0001 iiii iiii tttt 0000"      "xsr.{special} {a}"             Xsr                      Xsr;
    Lx6  "1110 0011 rrrr iiii iiii 0000"      "rur.{user} {a}"                Rur                      Rur;
    Lx6  "1111 0011 iiii iiii tttt 0000"      "wur.{user} {a}"                Wur                      Wsr;

    // options of the LX6 that are not modelled: floating point, booleans, MAC16
    Lx6  "xxxx xxxx xxxx xxxx xxxx 0011"      "lsci"                          Unsupported              None;
    Lx6  "xxxx 1000 xxxx xxxx xxxx 0000"      "lscx"                          Unsupported              None;
    Lx6  "xxxx 101x xxxx xxxx xxxx 0000"      "fp"                            Unsupported              None;
    Lx6  "110x 0011 xxxx xxxx xxxx 0000"      "movf/movt"                     Unsupported              None;
    Lx6  "00xx 0010 xxxx xxxx xxxx 0000"      "andb"                          Unsupported              None;
    Lx6  "0100 0010 xxxx xxxx xxxx 0000"      "xorb"                          Unsupported              None;
    Lx6  "0000 0000 10xx xxxx xxxx 0000"      "any/all"                       Unsupported              None;
    Lx6  "xxxx xxxx 000x xxxx 0111 0110"      "bf/bt"                         Unsupported              None;
    Lx6  "xxxx xxxx xxxx xxxx xxxx 0100"      "mac16"                         Unsupported              None;
};

/// Assembly texts and encodings of `features`, for tests.
pub fn encodings(features: Features) -> impl Iterator<Item = (&'static str, Pattern)> {
    rows(features).map(|(_, r)| (r.text.0, r.pattern))
}

/// The definitions of `features`, with their indexes in the table.
pub(crate) fn rows(features: Features) -> impl Iterator<Item = (usize, &'static Definition)> {
    ROWS.iter().enumerate().filter(move |(_, r)| features.has(r.part))
}

/// An instruction as found in memory.
pub(crate) struct Found {
    /// The definition's index in the table.
    pub number: usize,
    pub row: &'static Definition,
    pub operands: Operands,
    pub word: u32,
}

pub(crate) fn find(features: Features, word: u32, bits: u32, pc: u32) -> Option<Found> {
    rows(features).filter(|(_, r)| r.pattern.bits == bits && r.pattern.matches(word)).find_map(|(number, row)| {
        let operands = row.form.operands(&row.pattern.fields(word), pc)?;
        Some(Found { number, row, operands, word })
    })
}

#[cfg(test)]
mod tests {
    use super::{Features, encodings};

    #[test]
    fn no_two_rows_match_the_same_word() {
        for features in [Features::LX106, Features::LX6] {
            let all: Vec<_> = encodings(features).collect();
            for (k, (text, a)) in all.iter().enumerate() {
                for (other, b) in &all[..k] {
                    let same = a.bits == b.bits && (a.value ^ b.value) & a.mask & b.mask == 0;
                    assert!(!same, "{text} and {other}");
                }
            }
        }
    }
}
