//! The instruction table: part of the set, bit pattern, operation, operand form and text of each instruction.
//! The first definition that matches decides: special cases (`MOV` among `ORR`, `TST` among `AND`, the literal forms
//! among loads) come before the general one. For letters in patterns see [`Form`]. What an instruction does and costs
//! follows from its operation and form; the text is for people, and only [`crate::disasm`] reads it.

use isa::{Pattern, Template};

use crate::form::At::{Index, Literal, Negative, Offset, Post, Pre};
use crate::form::Form::{self, *};
use crate::form::Transfer::{Any, General, None, Pc};
use crate::op::Alu::{Adc, Add, And, Bic, Cmn, Cmp, Eor, Mov, Mvn, Orn, Orr, Rsb, Sbc, Sub, Teq, Tst};
use crate::op::Dsp::{self, *};
use crate::op::Lanes::{Add8, Add16, Asx, Sax, Sub8, Sub16};
use crate::op::Op::{self, *};
use crate::op::Shift::{Asr, Lsl, Lsr, Ror};
use crate::op::Simple::{Clear, Clz, Extend, Extract, Insert, Mla, Mls, Movt, Rbit, Rev, Rev16, Revsh};
use crate::op::Size::{Byte, Half, Word};
use crate::op::Sum::{Alone, Minus, Plus};
use crate::op::{B, DOWN, Fit, SIGNED, T, UNSIGNED, UP};
use crate::operands::Operands;
use crate::step::Features;

/// One instruction of the table.
pub(crate) struct Definition {
    pub part: Features,
    pub pattern: Pattern,
    pub op: Op,
    pub form: Form,
    pub text: Template,
}

const V6M: Features = Features::V6M;
const V7M: Features = Features::V7M;
const DSP: Features = Features::DSP;

const fn row(part: Features, pattern: &'static str, op: Op, form: Form, text: &'static str) -> Definition {
    Definition { part, pattern: Pattern::new(pattern), op, form, text: Template(text) }
}

/// 16-bit instructions.
#[rustfmt::skip] // one row, one line
static NARROW: &[Definition] = &[
    // shift, add, subtract, move, compare
    row(V6M, "0000 0000 00mm mddd", Data(Mov),                      Movs,                "movs {a}, {c}"),
    row(V6M, "000y yiii iimm mddd", Data(Mov),                      ShiftImm,            "{sh}{s} {a}, {c}, {amount}"),
    row(V6M, "0001 100m mmnn nddd", Data(Add),                      Three,               "add{s} {a}, {b}, {c}"),
    row(V6M, "0001 101m mmnn nddd", Data(Sub),                      Three,               "sub{s} {a}, {b}, {c}"),
    row(V6M, "0001 110i iinn nddd", Data(Add),                      ThreeImm,            "add{s} {a}, {b}, {imm}"),
    row(V6M, "0001 111i iinn nddd", Data(Sub),                      ThreeImm,            "sub{s} {a}, {b}, {imm}"),
    row(V6M, "0010 0ddd iiii iiii", Data(Mov),                      TwoImm,              "mov{s} {a}, {imm}"),
    row(V6M, "0010 1nnn iiii iiii", Data(Cmp),                      CompareImm,          "cmp {b}, {imm}"),
    row(V6M, "0011 0ddd iiii iiii", Data(Add),                      TwoImm,              "add{s} {a}, {imm}"),
    row(V6M, "0011 1ddd iiii iiii", Data(Sub),                      TwoImm,              "sub{s} {a}, {imm}"),
    // two low registers
    row(V6M, "0100 0000 00mm mddd", Data(And),                      Two,                 "and{s} {a}, {c}"),
    row(V6M, "0100 0000 01mm mddd", Data(Eor),                      Two,                 "eor{s} {a}, {c}"),
    row(V6M, "0100 0000 10mm mddd", Shift(Lsl),                     Two,                 "lsl{s} {a}, {c}"),
    row(V6M, "0100 0000 11mm mddd", Shift(Lsr),                     Two,                 "lsr{s} {a}, {c}"),
    row(V6M, "0100 0001 00mm mddd", Shift(Asr),                     Two,                 "asr{s} {a}, {c}"),
    row(V6M, "0100 0001 01mm mddd", Data(Adc),                      Two,                 "adc{s} {a}, {c}"),
    row(V6M, "0100 0001 10mm mddd", Data(Sbc),                      Two,                 "sbc{s} {a}, {c}"),
    row(V6M, "0100 0001 11mm mddd", Shift(Ror),                     Two,                 "ror{s} {a}, {c}"),
    row(V6M, "0100 0010 00mm mnnn", Data(Tst),                      Compare,             "tst {b}, {c}"),
    row(V6M, "0100 0010 01nn nddd", Data(Rsb),                      Negate,              "rsb{s} {a}, {b}, #0"),
    row(V6M, "0100 0010 10mm mnnn", Data(Cmp),                      Compare,             "cmp {b}, {c}"),
    row(V6M, "0100 0010 11mm mnnn", Data(Cmn),                      Compare,             "cmn {b}, {c}"),
    row(V6M, "0100 0011 00mm mddd", Data(Orr),                      Two,                 "orr{s} {a}, {c}"),
    row(V6M, "0100 0011 01mm mddd", Mul,                            Two,                 "mul{s} {a}, {c}"),
    row(V6M, "0100 0011 10mm mddd", Data(Bic),                      Two,                 "bic{s} {a}, {c}"),
    row(V6M, "0100 0011 11mm mddd", Data(Mvn),                      Two,                 "mvn{s} {a}, {c}"),
    // high registers
    row(V6M, "0100 0100 1mmm m111", AddPc,                          ToPc,                "add {a}, {c}"),
    row(V6M, "0100 0100 dmmm mddd", Data(Add),                      High,                "add {a}, {c}"),
    row(V6M, "0100 0101 nmmm mnnn", Data(Cmp),                      CompareHigh,         "cmp {b}, {c}"),
    row(V6M, "0100 0110 1mmm m111", MovPc,                          ToPc,                "mov {a}, {c}"),
    row(V6M, "0100 0110 dmmm mddd", Data(Mov),                      High,                "mov {a}, {c}"),
    row(V6M, "0100 0111 0mmm m000", Bx,                             ToPc,                "bx {c}"),
    row(V6M, "0100 0111 1mmm m000", Blx,                            ToPc,                "blx {c}"),
    // loads and stores
    row(V6M, "0100 1ttt iiii iiii", Load(Word, UNSIGNED),           NearLiteral,         "ldr {a}, [pc, {literal}]"),
    row(V6M, "0101 000m mmnn nttt", Store(Word),                    NearIndex,           "str {a}, [{b}, {c}]"),
    row(V6M, "0101 001m mmnn nttt", Store(Half),                    NearIndex,           "strh {a}, [{b}, {c}]"),
    row(V6M, "0101 010m mmnn nttt", Store(Byte),                    NearIndex,           "strb {a}, [{b}, {c}]"),
    row(V6M, "0101 011m mmnn nttt", Load(Byte, SIGNED),             NearIndex,           "ldrsb {a}, [{b}, {c}]"),
    row(V6M, "0101 100m mmnn nttt", Load(Word, UNSIGNED),           NearIndex,           "ldr {a}, [{b}, {c}]"),
    row(V6M, "0101 101m mmnn nttt", Load(Half, UNSIGNED),           NearIndex,           "ldrh {a}, [{b}, {c}]"),
    row(V6M, "0101 110m mmnn nttt", Load(Byte, UNSIGNED),           NearIndex,           "ldrb {a}, [{b}, {c}]"),
    row(V6M, "0101 111m mmnn nttt", Load(Half, SIGNED),             NearIndex,           "ldrsh {a}, [{b}, {c}]"),
    row(V6M, "0110 0iii iinn nttt", Store(Word),                    Near(4),             "str {a}, [{b}, {imm}]"),
    row(V6M, "0110 1iii iinn nttt", Load(Word, UNSIGNED),           Near(4),             "ldr {a}, [{b}, {imm}]"),
    row(V6M, "0111 0iii iinn nttt", Store(Byte),                    Near(1),             "strb {a}, [{b}, {imm}]"),
    row(V6M, "0111 1iii iinn nttt", Load(Byte, UNSIGNED),           Near(1),             "ldrb {a}, [{b}, {imm}]"),
    row(V6M, "1000 0iii iinn nttt", Store(Half),                    Near(2),             "strh {a}, [{b}, {imm}]"),
    row(V6M, "1000 1iii iinn nttt", Load(Half, UNSIGNED),           Near(2),             "ldrh {a}, [{b}, {imm}]"),
    row(V6M, "1001 0ttt iiii iiii", Store(Word),                    NearSp,              "str {a}, [sp, {imm}]"),
    row(V6M, "1001 1ttt iiii iiii", Load(Word, UNSIGNED),           NearSp,              "ldr {a}, [sp, {imm}]"),
    row(V6M, "1010 0ddd iiii iiii", Data(Mov),                      NearAdr,             "add {a}, pc, {literal}"),
    row(V6M, "1010 1ddd iiii iiii", Data(Add),                      SpSum,               "add {a}, sp, {imm}"),
    // miscellaneous
    row(V6M, "1011 0000 0iii iiii", Data(Add),                      SpMove,              "add sp, {imm}"),
    row(V6M, "1011 0000 1iii iiii", Data(Sub),                      SpMove,              "sub sp, {imm}"),
    row(V7M, "1011 00i1 iiii innn", Op::CompareBranch(false),       Form::CompareBranch, "cbz {b}, {to}"),
    row(V7M, "1011 10i1 iiii innn", Op::CompareBranch(true),        Form::CompareBranch, "cbnz {b}, {to}"),
    row(V6M, "1011 0010 00mm mddd", Simple(Extend(Half, SIGNED)),   Two,                 "sxth {a}, {c}"),
    row(V6M, "1011 0010 01mm mddd", Simple(Extend(Byte, SIGNED)),   Two,                 "sxtb {a}, {c}"),
    row(V6M, "1011 0010 10mm mddd", Simple(Extend(Half, UNSIGNED)), Two,                 "uxth {a}, {c}"),
    row(V6M, "1011 0010 11mm mddd", Simple(Extend(Byte, UNSIGNED)), Two,                 "uxtb {a}, {c}"),
    row(V6M, "1011 010l iiii iiii", StoreMultiple(DOWN),            Push,                "push {list}"),
    row(V6M, "1011 0110 011d 0010", ChangeState,                    Interrupts,          "cps{ed} {masks}"),
    row(V7M, "1011 0110 011d 00ii", ChangeState,                    State,               "cps{ed} {masks}"),
    row(V6M, "1011 1010 00mm mddd", Simple(Rev),                    Two,                 "rev {a}, {c}"),
    row(V6M, "1011 1010 01mm mddd", Simple(Rev16),                  Two,                 "rev16 {a}, {c}"),
    row(V6M, "1011 1010 11mm mddd", Simple(Revsh),                  Two,                 "revsh {a}, {c}"),
    row(V6M, "1011 1101 iiii iiii", LoadMultiplePc(UP),             PopPc,               "pop {list}"),
    row(V6M, "1011 1100 iiii iiii", LoadMultiple(UP),               Pop,                 "pop {list}"),
    row(V6M, "1011 1110 iiii iiii", Trap,                           Number,              "bkpt {imm:x4}"),
    row(V6M, "1011 1111 0000 0000", Nop,                            Number,              "nop"),
    row(V6M, "1011 1111 0001 0000", Nop,                            Number,              "yield"),
    row(V6M, "1011 1111 0010 0000", Wfe,                            Encoding,            "wfe"),
    row(V6M, "1011 1111 0011 0000", Unsupported,                    Encoding,            "wfi"),
    row(V6M, "1011 1111 0100 0000", Sev,                            Number,              "sev"),
    row(V6M, "1011 1111 iiii 0000", Nop,                            Number,              "nop {hint}"),
    row(V7M, "1011 1111 cccc kkkk", It,                             IfThen,              "it{then} {cond}"),
    row(V6M, "1100 0nnn iiii iiii", StoreMultiple(UP),              NearStm,             "stmia {b}!, {list}"),
    row(V6M, "1100 1nnn iiii iiii", LoadMultiple(UP),               NearLdm,             "ldmia {b}{wb}, {list}"),
    row(V6M, "1101 1110 iiii iiii", Undefined,                      Encoding,            "udf {udf}"),
    row(V6M, "1101 1111 iiii iiii", Unsupported,                    Encoding,            "svc {udf}"),
    row(V6M, "1101 cccc iiii iiii", BCond,                          NearBranchCond,      "b{cond}.n {to}"),
    row(V6M, "1110 0iii iiii iiii", Op::B,                          NearBranch,          "b.n {to}"),
];

/// The definitions of a data-processing operation (modified immediate, shifted register), and the suffixes of the
/// names.
#[rustfmt::skip] // one row, one line
macro_rules! data_rows {
    ($name:literal, $wi:literal, $ws:literal, $bits:literal, $op:ident, $imm:ident, $shift:ident) => {
        [
            row(V7M, concat!("1111 0i0", $bits, "s nnnn 0iii dddd iiii iiii"), Data($op), $imm, concat!($name, "{s}", $wi, " {a}, {b}, {imm}")),
            row(V7M, concat!("1110 101", $bits, "s nnnn 0iii dddd iiyy mmmm"), Data($op), $shift, concat!($name, "{s}", $ws, " {a}, {b}, {c}{shift}")),
        ]
    };
}

/// The rows of a comparison.
#[rustfmt::skip] // one row, one line
macro_rules! compare_rows {
    ($name:literal, $w:literal, $bits:literal, $op:ident, $imm:ident, $shift:ident) => {
        [
            row(V7M, concat!("1111 0i0", $bits, "1 nnnn 0iii 1111 iiii iiii"), Data($op), $imm, concat!($name, $w, " {b}, {imm}")),
            row(V7M, concat!("1110 101", $bits, "1 nnnn 0iii 1111 iiyy mmmm"), Data($op), $shift, concat!($name, $w, " {b}, {c}{shift}")),
        ]
    };
}

static TST: [Definition; 2] = compare_rows!("tst", ".w", "0000", Tst, ImmTest, ShiftedTest);
static TEQ: [Definition; 2] = compare_rows!("teq", "", "0100", Teq, ImmTest, ShiftedTest);
static CMN: [Definition; 2] = compare_rows!("cmn", ".w", "1000", Cmn, ImmCompare, ShiftedCompare);
static CMP: [Definition; 2] = compare_rows!("cmp", ".w", "1101", Cmp, ImmCompare, ShiftedCompare);
static AND: [Definition; 2] = data_rows!("and", "", ".w", "0000", And, Imm, Shifted);
static BIC: [Definition; 2] = data_rows!("bic", "", ".w", "0001", Bic, Imm, Shifted);
static ORR: [Definition; 2] = data_rows!("orr", "", ".w", "0010", Orr, Imm, Shifted);
static ORN: [Definition; 2] = data_rows!("orn", "", "", "0011", Orn, Imm, Shifted);
static EOR: [Definition; 2] = data_rows!("eor", "", ".w", "0100", Eor, Imm, Shifted);
static ADD: [Definition; 2] = data_rows!("add", ".w", ".w", "1000", Add, ImmSp, ShiftedSp);
static ADC: [Definition; 2] = data_rows!("adc", "", ".w", "1010", Adc, Imm, Shifted);
static SBC: [Definition; 2] = data_rows!("sbc", "", ".w", "1011", Sbc, Imm, Shifted);
static SUB: [Definition; 2] = data_rows!("sub", ".w", ".w", "1101", Sub, ImmSp, ShiftedSp);
static RSB: [Definition; 2] = data_rows!("rsb", "", "", "1110", Rsb, Imm, Shifted);

/// Moves, which are special cases of ORR and ORN, and shifts by an immediate.
#[rustfmt::skip] // one row, one line
static MOVES: &[Definition] = &[
    row(V7M, "1111 0i00 010s 1111 0iii dddd iiii iiii", Data(Mov), ImmMov,      "mov{s}.w {a}, {imm}"),
    row(V7M, "1111 0i00 011s 1111 0iii dddd iiii iiii", Data(Mvn), ImmMov,      "mvn{s}.w {a}, {imm}"),
    row(V7M, "1110 1010 010s 1111 0000 dddd 0000 mmmm", Data(Mov), MovRegister, "mov{s}.w {a}, {c}"),
    row(V7M, "1110 1010 010s 1111 0000 dddd 0011 mmmm", Data(Mov), Rrx,         "mov{s}.w {a}, {c}, rrx"),
    row(V7M, "1110 1010 010s 1111 0iii dddd iiyy mmmm", Data(Mov), ShiftedMov,  "mov{s}.w {a}, {c}{shift}"),
    row(V7M, "1110 1010 011s 1111 0iii dddd iiyy mmmm", Data(Mvn), ShiftedMov,  "mvn{s}.w {a}, {c}{shift}"),
];

/// Plain immediates, bit fields, saturation, multiplication and the like.
#[rustfmt::skip] // one row, one line
static FAR: &[Definition] = &[
    row(V7M, "1111 0i10 u0u0 1111 0iii dddd iiii iiii", Data(Mov),                      Adr,                     "{addsub}w {a}, pc, {magnitude}"),
    row(V7M, "1111 0i10 0000 nnnn 0iii dddd iiii iiii", Data(Add),                      PlainImm,                "addw {a}, {b}, {imm}"),
    row(V7M, "1111 0i10 1010 nnnn 0iii dddd iiii iiii", Data(Sub),                      PlainImm,                "subw {a}, {b}, {imm}"),
    row(V7M, "1111 0i10 0100 jjjj 0iii dddd iiii iiii", Data(Mov),                      WideImm,                 "movw {a}, {imm}"),
    row(V7M, "1111 0i10 1100 jjjj 0iii dddd iiii iiii", Simple(Movt),                   WideImm,                 "movt {a}, {imm}"),
    row(V7M, "1111 0011 00y0 nnnn 0iii dddd ii0w wwww", Saturate(SIGNED),               Saturation(1),           "ssat {a}, {imm}, {c}{shift}"),
    row(V7M, "1111 0011 10y0 nnnn 0iii dddd ii0w wwww", Saturate(UNSIGNED),             Saturation(0),           "usat {a}, {imm}, {c}{shift}"),
    row(V7M, "1111 0011 0100 nnnn 0iii dddd ii0w wwww", Simple(Extract(SIGNED)),        Field,                   "sbfx {a}, {b}, {low}, {imm}"),
    row(V7M, "1111 0011 1100 nnnn 0iii dddd ii0w wwww", Simple(Extract(UNSIGNED)),      Field,                   "ubfx {a}, {b}, {low}, {imm}"),
    row(V7M, "1111 0011 0110 1111 0iii dddd ii0w wwww", Simple(Clear),                  FieldMask,               "bfc {a}, {low}, {ones}"),
    row(V7M, "1111 0011 0110 nnnn 0iii dddd ii0w wwww", Simple(Insert),                 FieldMask,               "bfi {a}, {b}, {low}, {ones}"),
    row(V7M, "1111 1010 000s nnnn 1111 dddd 0000 mmmm", Shift(Lsl),                     Far,                     "lsl{s}.w {a}, {b}, {c}"),
    row(V7M, "1111 1010 001s nnnn 1111 dddd 0000 mmmm", Shift(Lsr),                     Far,                     "lsr{s}.w {a}, {b}, {c}"),
    row(V7M, "1111 1010 010s nnnn 1111 dddd 0000 mmmm", Shift(Asr),                     Far,                     "asr{s}.w {a}, {b}, {c}"),
    row(V7M, "1111 1010 011s nnnn 1111 dddd 0000 mmmm", Shift(Ror),                     Far,                     "ror{s}.w {a}, {b}, {c}"),
    row(V7M, "1111 1010 0000 1111 1111 dddd 10rr mmmm", Simple(Extend(Half, SIGNED)),   Form::Extend,            "sxth.w {a}, {c}{rotate}"),
    row(V7M, "1111 1010 0001 1111 1111 dddd 10rr mmmm", Simple(Extend(Half, UNSIGNED)), Form::Extend,            "uxth.w {a}, {c}{rotate}"),
    row(V7M, "1111 1010 0100 1111 1111 dddd 10rr mmmm", Simple(Extend(Byte, SIGNED)),   Form::Extend,            "sxtb.w {a}, {c}{rotate}"),
    row(V7M, "1111 1010 0101 1111 1111 dddd 10rr mmmm", Simple(Extend(Byte, UNSIGNED)), Form::Extend,            "uxtb.w {a}, {c}{rotate}"),
    row(V7M, "1111 1010 1001 nnnn 1111 dddd 1000 mmmm", Simple(Rev),                    Twice,                   "rev.w {a}, {c}"),
    row(V7M, "1111 1010 1001 nnnn 1111 dddd 1001 mmmm", Simple(Rev16),                  Twice,                   "rev16.w {a}, {c}"),
    row(V7M, "1111 1010 1001 nnnn 1111 dddd 1010 mmmm", Simple(Rbit),                   Twice,                   "rbit {a}, {c}"),
    row(V7M, "1111 1010 1001 nnnn 1111 dddd 1011 mmmm", Simple(Revsh),                  Twice,                   "revsh.w {a}, {c}"),
    row(V7M, "1111 1010 1011 nnnn 1111 dddd 1000 mmmm", Simple(Clz),                    Twice,                   "clz {a}, {c}"),
    row(V7M, "1111 1011 0000 nnnn 1111 dddd 0000 mmmm", Mul,                            Far,                     "mul.w {a}, {b}, {c}"),
    row(V7M, "1111 1011 0000 nnnn rrrr dddd 0000 mmmm", Simple(Mla),                    Far,                     "mla {a}, {b}, {c}, {d}"),
    row(V7M, "1111 1011 0000 nnnn rrrr dddd 0001 mmmm", Simple(Mls),                    Far,                     "mls {a}, {b}, {c}, {d}"),
    row(V7M, "1111 1011 1000 nnnn dddd hhhh 0000 mmmm", MulLong(SIGNED),                Long,                    "smull {a}, {d}, {b}, {c}"),
    row(V7M, "1111 1011 1010 nnnn dddd hhhh 0000 mmmm", MulLong(UNSIGNED),              Long,                    "umull {a}, {d}, {b}, {c}"),
    row(V7M, "1111 1011 1100 nnnn dddd hhhh 0000 mmmm", MulLongAdd(SIGNED),             Long,                    "smlal {a}, {d}, {b}, {c}"),
    row(V7M, "1111 1011 1110 nnnn dddd hhhh 0000 mmmm", MulLongAdd(UNSIGNED),           Long,                    "umlal {a}, {d}, {b}, {c}"),
    row(V7M, "1111 1011 1001 nnnn 1111 dddd 1111 mmmm", Div(SIGNED),                    Far,                     "sdiv {a}, {b}, {c}"),
    row(V7M, "1111 1011 1011 nnnn 1111 dddd 1111 mmmm", Div(UNSIGNED),                  Far,                     "udiv {a}, {b}, {c}"),
    // several registers
    row(V7M, "1110 1000 10w1 nnnn 1l0i iiii iiii iiii", LoadMultiplePc(UP),             SeveralPc,               "ldmia.w {b}{wb}, {list}"),
    row(V7M, "1110 1001 00w1 nnnn 1l0i iiii iiii iiii", LoadMultiplePc(DOWN),           SeveralPc,               "ldmdb {b}{wb}, {list}"),
    row(V7M, "1110 1000 10w1 nnnn 0l0i iiii iiii iiii", LoadMultiple(UP),               Several,                 "ldmia.w {b}{wb}, {list}"),
    row(V7M, "1110 1001 00w1 nnnn 0l0i iiii iiii iiii", LoadMultiple(DOWN),             Several,                 "ldmdb {b}{wb}, {list}"),
    row(V7M, "1110 1000 10w0 nnnn 0l0i iiii iiii iiii", StoreMultiple(UP),              Several,                 "stmia.w {b}{wb}, {list}"),
    row(V7M, "1110 1001 00w0 nnnn 0l0i iiii iiii iiii", StoreMultiple(DOWN),            Several,                 "stmdb {b}{wb}, {list}"),
    // pairs, exclusive access, table branches
    row(V7M, "1110 1001 u101 1111 tttt rrrr iiii iiii", Op::LoadDual,                   Form::LoadDual(Literal), "ldrd {a}, {d}, [pc, {literal}]"),
    row(V7M, "1110 1001 u101 nnnn tttt rrrr iiii iiii", Op::LoadDual,                   Form::LoadDual(Offset),  "ldrd {a}, {d}, [{b}{off}]"),
    row(V7M, "1110 1001 u111 nnnn tttt rrrr iiii iiii", Op::LoadDual,                   Form::LoadDual(Pre),     "ldrd {a}, {d}, [{b}, {signed}]!"),
    row(V7M, "1110 1000 u111 nnnn tttt rrrr iiii iiii", Op::LoadDual,                   Form::LoadDual(Post),    "ldrd {a}, {d}, [{b}], {signed}"),
    row(V7M, "1110 1001 u100 nnnn tttt rrrr iiii iiii", Op::StoreDual,                  Form::StoreDual(Offset), "strd {a}, {d}, [{b}{off}]"),
    row(V7M, "1110 1001 u110 nnnn tttt rrrr iiii iiii", Op::StoreDual,                  Form::StoreDual(Pre),    "strd {a}, {d}, [{b}, {signed}]!"),
    row(V7M, "1110 1000 u110 nnnn tttt rrrr iiii iiii", Op::StoreDual,                  Form::StoreDual(Post),   "strd {a}, {d}, [{b}], {signed}"),
    row(V7M, "1110 1000 0101 nnnn tttt 1111 iiii iiii", LoadExclusive(Word),            ExclusiveLoad,           "ldrex {a}, [{b}{off}]"),
    row(V7M, "1110 1000 0100 nnnn tttt dddd iiii iiii", StoreExclusive(Word),           ExclusiveStore,          "strex {a}, {d}, [{b}{off}]"),
    row(V7M, "1110 1000 1101 nnnn tttt 1111 0100 1111", LoadExclusive(Byte),            ExclusiveLoad,           "ldrexb {a}, [{b}]"),
    row(V7M, "1110 1000 1101 nnnn tttt 1111 0101 1111", LoadExclusive(Half),            ExclusiveLoad,           "ldrexh {a}, [{b}]"),
    row(V7M, "1110 1000 1100 nnnn tttt 1111 0100 dddd", StoreExclusive(Byte),           ExclusiveStore,          "strexb {a}, {d}, [{b}]"),
    row(V7M, "1110 1000 1100 nnnn tttt 1111 0101 dddd", StoreExclusive(Half),           ExclusiveStore,          "strexh {a}, {d}, [{b}]"),
    row(V7M, "1110 1000 1101 nnnn 1111 0000 0000 mmmm", TableBranch(Byte),              Table,                   "tbb [{b}, {c}]"),
    row(V7M, "1110 1000 1101 nnnn 1111 0000 0001 mmmm", TableBranch(Half),              Table,                   "tbh [{b}, {c}, lsl #1]"),
    // branches and system
    row(V6M, "1111 0sii iiii iiii 11k1 jiii iiii iiii", Bl,                             Branch,                  "bl {to}"),
    row(V7M, "1111 0sii iiii iiii 10k1 jiii iiii iiii", Op::B,                          Branch,                  "b.w {to}"),
    row(V7M, "1111 0scc ccii iiii 10k0 jiii iiii iiii", BCond,                          BranchCond,              "b{cond}.w {to}"),
    row(V6M, "1111 0011 1000 nnnn 1000 1000 iiii iiii", WriteSpecial,                   SpecialWriteV6,          "msr {special}, {b}"),
    row(V7M, "1111 0011 1000 nnnn 1000 1000 iiii iiii", WriteSpecial,                   SpecialWrite,            "msr {special}, {b}"),
    row(DSP, "1111 0011 1000 nnnn 1000 g100 iiii iiii", WriteSpecial,                   SpecialWriteGe,          "msr {special}, {b}"),
    row(V6M, "1111 0011 1110 1111 1000 dddd iiii iiii", ReadSpecial,                    SpecialReadV6,           "mrs {a}, {special}"),
    row(V7M, "1111 0011 1110 1111 1000 dddd iiii iiii", ReadSpecial,                    SpecialRead,             "mrs {a}, {special}"),
    row(V7M, "1111 0011 1010 1111 1000 0000 0000 0000", Nop,                            Number,                  "nop.w"),
    row(V7M, "1111 0011 1010 1111 1000 0000 0000 0001", Nop,                            Number,                  "yield.w"),
    row(V7M, "1111 0011 1010 1111 1000 0000 0000 0010", Wfe,                            Encoding,                "wfe.w"),
    row(V7M, "1111 0011 1010 1111 1000 0000 0000 0011", Unsupported,                    Encoding,                "wfi.w"),
    row(V7M, "1111 0011 1010 1111 1000 0000 0000 0100", Sev,                            Number,                  "sev.w"),
    row(V7M, "1111 0011 1010 1111 1000 0000 1111 iiii", Nop,                            Number,                  "dbg {imm}"),
    row(V7M, "1111 0011 1010 1111 1000 0000 iiii iiii", Nop,                            Number,                  "nop.w {hint}"),
    row(V7M, "1111 0011 1011 1111 1000 1111 0010 1111", ClearExclusive,                 Number,                  "clrex"),
    row(V6M, "1111 0011 1011 1111 1000 1111 0100 iiii", Barrier,                        Number,                  "dsb {barrier}"),
    row(V6M, "1111 0011 1011 1111 1000 1111 0101 iiii", Barrier,                        Number,                  "dmb {barrier}"),
    row(V6M, "1111 0011 1011 1111 1000 1111 0110 iiii", Barrier,                        Number,                  "isb {barrier}"),
    row(V6M, "1111 0111 1111 iiii 1010 iiii iiii iiii", Undefined,                      Encoding,                "udf.w {udf}"),
    // hints and the program counter among loads
    row(V7M, "1111 1000 u001 1111 1111 iiii iiii iiii", Nop,                            Access(Literal, None),   "pld [pc, {literal}]"),
    row(V7M, "1111 1000 1001 nnnn 1111 iiii iiii iiii", Nop,                            Access(Offset, None),    "pld [{b}{off}]"),
    row(V7M, "1111 1000 0001 nnnn 1111 1100 iiii iiii", Nop,                            Access(Negative, None),  "pld [{b}, {negative}]"),
    row(V7M, "1111 1000 0001 nnnn 1111 0000 00ii mmmm", Nop,                            Access(Index, None),     "pld [{b}, {c}{index}]"),
    row(V7M, "1111 1001 u001 1111 1111 iiii iiii iiii", Nop,                            Access(Literal, None),   "pli [pc, {literal}]"),
    row(V7M, "1111 1001 1001 nnnn 1111 iiii iiii iiii", Nop,                            Access(Offset, None),    "pli [{b}{off}]"),
    row(V7M, "1111 1001 0001 nnnn 1111 1100 iiii iiii", Nop,                            Access(Negative, None),  "pli [{b}, {negative}]"),
    row(V7M, "1111 1001 0001 nnnn 1111 0000 00ii mmmm", Nop,                            Access(Index, None),     "pli [{b}, {c}{index}]"),
    row(V7M, "1111 1000 u101 1111 1111 iiii iiii iiii", LoadPc,                         Access(Literal, Pc),     "ldr.w pc, [pc, {literal}]"),
    row(V7M, "1111 1000 1101 nnnn 1111 iiii iiii iiii", LoadPc,                         Access(Offset, Pc),      "ldr.w pc, [{b}{off}]"),
    row(V7M, "1111 1000 0101 nnnn 1111 1100 iiii iiii", LoadPc,                         Access(Negative, Pc),    "ldr.w pc, [{b}, {negative}]"),
    row(V7M, "1111 1000 0101 nnnn 1111 11u1 iiii iiii", LoadPc,                         Access(Pre, Pc),         "ldr.w pc, [{b}, {signed}]!"),
    row(V7M, "1111 1000 0101 nnnn 1111 10u1 iiii iiii", LoadPc,                         Access(Post, Pc),        "ldr.w pc, [{b}], {signed}"),
    row(V7M, "1111 1000 0101 nnnn 1111 0000 00ii mmmm", LoadPc,                         Access(Index, Pc),       "ldr.w pc, [{b}, {c}{index}]"),
];

/// The rows of a load: sign and size bits of the encoding, and what it can load.
#[rustfmt::skip] // one row, one line
macro_rules! load_rows {
    ($name:literal, $g:literal, $z:literal, $op:expr, $t:ident) => {
        [
            row(V7M, concat!("1111 100", $g, " u", $z, "1 1111 tttt iiii iiii iiii"), $op, Access(Literal, $t), concat!($name, ".w {a}, [pc, {literal}]")),
            row(V7M, concat!("1111 100", $g, " 1", $z, "1 nnnn tttt iiii iiii iiii"), $op, Access(Offset, $t), concat!($name, ".w {a}, [{b}{off}]")),
            row(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 1100 iiii iiii"), $op, Access(Negative, $t), concat!($name, ".w {a}, [{b}, {negative}]")),
            row(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 1110 iiii iiii"), $op, Access(Offset, General), concat!($name, "t {a}, [{b}{off}]")),
            row(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 11u1 iiii iiii"), $op, Access(Pre, $t), concat!($name, ".w {a}, [{b}, {signed}]!")),
            row(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 10u1 iiii iiii"), $op, Access(Post, $t), concat!($name, ".w {a}, [{b}], {signed}")),
            row(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 0000 00ii mmmm"), $op, Access(Index, $t), concat!($name, ".w {a}, [{b}, {c}{index}]")),
        ]
    };
}

/// The rows of a store.
#[rustfmt::skip] // one row, one line
macro_rules! store_rows {
    ($name:literal, $z:literal, $op:expr, $t:ident) => {
        [
            row(V7M, concat!("1111 1000 1", $z, "0 nnnn tttt iiii iiii iiii"), $op, Access(Offset, $t), concat!($name, ".w {a}, [{b}{off}]")),
            row(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 1100 iiii iiii"), $op, Access(Negative, $t), concat!($name, ".w {a}, [{b}, {negative}]")),
            row(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 1110 iiii iiii"), $op, Access(Offset, General), concat!($name, "t {a}, [{b}{off}]")),
            row(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 11u1 iiii iiii"), $op, Access(Pre, $t), concat!($name, ".w {a}, [{b}, {signed}]!")),
            row(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 10u1 iiii iiii"), $op, Access(Post, $t), concat!($name, ".w {a}, [{b}], {signed}")),
            row(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 0000 00ii mmmm"), $op, Access(Index, $t), concat!($name, ".w {a}, [{b}, {c}{index}]")),
        ]
    };
}

static LDRB: [Definition; 7] = load_rows!("ldrb", "0", "00", Load(Byte, UNSIGNED), General);
static LDRH: [Definition; 7] = load_rows!("ldrh", "0", "01", Load(Half, UNSIGNED), General);
static LDR: [Definition; 7] = load_rows!("ldr", "0", "10", Load(Word, UNSIGNED), Any);
static LDRSB: [Definition; 7] = load_rows!("ldrsb", "1", "00", Load(Byte, SIGNED), General);
static LDRSH: [Definition; 7] = load_rows!("ldrsh", "1", "01", Load(Half, SIGNED), General);
static STRB: [Definition; 6] = store_rows!("strb", "00", Store(Byte), General);
static STRH: [Definition; 6] = store_rows!("strh", "01", Store(Half), General);
static STR: [Definition; 6] = store_rows!("str", "10", Store(Word), Any);

/// Addition and subtraction on bytes and halfwords: prefix of the names, its bits, what it does.
#[rustfmt::skip] // one row, one line
macro_rules! parallel_rows {
    ($name:literal, $bits:literal, $fit:ident) => {
        [
            row(DSP, concat!("1111 1010 1000 nnnn 1111 dddd 0", $bits, " mmmm"), Op::Dsp(Parallel(Add8, Fit::$fit)), Far, concat!($name, "add8 {a}, {b}, {c}")),
            row(DSP, concat!("1111 1010 1001 nnnn 1111 dddd 0", $bits, " mmmm"), Op::Dsp(Parallel(Add16, Fit::$fit)), Far, concat!($name, "add16 {a}, {b}, {c}")),
            row(DSP, concat!("1111 1010 1010 nnnn 1111 dddd 0", $bits, " mmmm"), Op::Dsp(Parallel(Asx, Fit::$fit)), Far, concat!($name, "asx {a}, {b}, {c}")),
            row(DSP, concat!("1111 1010 1100 nnnn 1111 dddd 0", $bits, " mmmm"), Op::Dsp(Parallel(Sub8, Fit::$fit)), Far, concat!($name, "sub8 {a}, {b}, {c}")),
            row(DSP, concat!("1111 1010 1101 nnnn 1111 dddd 0", $bits, " mmmm"), Op::Dsp(Parallel(Sub16, Fit::$fit)), Far, concat!($name, "sub16 {a}, {b}, {c}")),
            row(DSP, concat!("1111 1010 1110 nnnn 1111 dddd 0", $bits, " mmmm"), Op::Dsp(Parallel(Sax, Fit::$fit)), Far, concat!($name, "sax {a}, {b}, {c}")),
        ]
    };
}

static PARALLEL_S: [Definition; 6] = parallel_rows!("s", "000", S);
static PARALLEL_Q: [Definition; 6] = parallel_rows!("q", "001", Q);
static PARALLEL_SH: [Definition; 6] = parallel_rows!("sh", "010", Sh);
static PARALLEL_U: [Definition; 6] = parallel_rows!("u", "100", U);
static PARALLEL_UQ: [Definition; 6] = parallel_rows!("uq", "101", Uq);
static PARALLEL_UH: [Definition; 6] = parallel_rows!("uh", "110", Uh);

/// The other instructions of the DSP extension.
#[rustfmt::skip] // one row, one line
static OTHERS: &[Definition] = &[
    row(DSP, "1110 1010 1100 nnnn 0iii dddd iiy0 mmmm", Op::Dsp(Dsp::Pack),                      Form::Pack,      "pkh{tb} {a}, {b}, {c}{shift}"),
    row(DSP, "1111 0011 0010 nnnn 0000 dddd 0000 wwww", Op::Dsp(Saturate16(SIGNED)),             Saturation16(1), "ssat16 {a}, {imm}, {c}"),
    row(DSP, "1111 0011 1010 nnnn 0000 dddd 0000 wwww", Op::Dsp(Saturate16(UNSIGNED)),           Saturation16(0), "usat16 {a}, {imm}, {c}"),
    row(DSP, "1111 1010 0000 nnnn 1111 dddd 10rr mmmm", Op::Dsp(Dsp::ExtendAdd(Half, SIGNED)),   Form::ExtendAdd, "sxtah {a}, {b}, {c}{rotate}"),
    row(DSP, "1111 1010 0001 nnnn 1111 dddd 10rr mmmm", Op::Dsp(Dsp::ExtendAdd(Half, UNSIGNED)), Form::ExtendAdd, "uxtah {a}, {b}, {c}{rotate}"),
    row(DSP, "1111 1010 0010 1111 1111 dddd 10rr mmmm", Op::Dsp(Extend16(SIGNED)),               Form::Extend,    "sxtb16 {a}, {c}{rotate}"),
    row(DSP, "1111 1010 0011 1111 1111 dddd 10rr mmmm", Op::Dsp(Extend16(UNSIGNED)),             Form::Extend,    "uxtb16 {a}, {c}{rotate}"),
    row(DSP, "1111 1010 0010 nnnn 1111 dddd 10rr mmmm", Op::Dsp(Extend16Add(SIGNED)),            Form::ExtendAdd, "sxtab16 {a}, {b}, {c}{rotate}"),
    row(DSP, "1111 1010 0011 nnnn 1111 dddd 10rr mmmm", Op::Dsp(Extend16Add(UNSIGNED)),          Form::ExtendAdd, "uxtab16 {a}, {b}, {c}{rotate}"),
    row(DSP, "1111 1010 0100 nnnn 1111 dddd 10rr mmmm", Op::Dsp(Dsp::ExtendAdd(Byte, SIGNED)),   Form::ExtendAdd, "sxtab {a}, {b}, {c}{rotate}"),
    row(DSP, "1111 1010 0101 nnnn 1111 dddd 10rr mmmm", Op::Dsp(Dsp::ExtendAdd(Byte, UNSIGNED)), Form::ExtendAdd, "uxtab {a}, {b}, {c}{rotate}"),
    row(DSP, "1111 1010 1000 nnnn 1111 dddd 1000 mmmm", Op::Dsp(Qadd),                           Far,             "qadd {a}, {c}, {b}"),
    row(DSP, "1111 1010 1000 nnnn 1111 dddd 1001 mmmm", Op::Dsp(Qdadd),                          Far,             "qdadd {a}, {c}, {b}"),
    row(DSP, "1111 1010 1000 nnnn 1111 dddd 1010 mmmm", Op::Dsp(Qsub),                           Far,             "qsub {a}, {c}, {b}"),
    row(DSP, "1111 1010 1000 nnnn 1111 dddd 1011 mmmm", Op::Dsp(Qdsub),                          Far,             "qdsub {a}, {c}, {b}"),
    row(DSP, "1111 1010 1010 nnnn 1111 dddd 1000 mmmm", Op::Dsp(Select),                         Far,             "sel {a}, {b}, {c}"),
    // multiplication; without an added register where its field is 15
    row(DSP, "1111 1011 0001 nnnn 1111 dddd 0000 mmmm", Op::Dsp(Halves(B, B, Alone)),            Far,             "smulbb {a}, {b}, {c}"),
    row(DSP, "1111 1011 0001 nnnn 1111 dddd 0001 mmmm", Op::Dsp(Halves(B, T, Alone)),            Far,             "smulbt {a}, {b}, {c}"),
    row(DSP, "1111 1011 0001 nnnn 1111 dddd 0010 mmmm", Op::Dsp(Halves(T, B, Alone)),            Far,             "smultb {a}, {b}, {c}"),
    row(DSP, "1111 1011 0001 nnnn 1111 dddd 0011 mmmm", Op::Dsp(Halves(T, T, Alone)),            Far,             "smultt {a}, {b}, {c}"),
    row(DSP, "1111 1011 0001 nnnn rrrr dddd 0000 mmmm", Op::Dsp(Halves(B, B, Plus)),             Far,             "smlabb {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0001 nnnn rrrr dddd 0001 mmmm", Op::Dsp(Halves(B, T, Plus)),             Far,             "smlabt {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0001 nnnn rrrr dddd 0010 mmmm", Op::Dsp(Halves(T, B, Plus)),             Far,             "smlatb {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0001 nnnn rrrr dddd 0011 mmmm", Op::Dsp(Halves(T, T, Plus)),             Far,             "smlatt {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0010 nnnn 1111 dddd 0000 mmmm", Op::Dsp(Dual(Plus, false, Alone)),       Far,             "smuad {a}, {b}, {c}"),
    row(DSP, "1111 1011 0010 nnnn 1111 dddd 0001 mmmm", Op::Dsp(Dual(Plus, true, Alone)),        Far,             "smuadx {a}, {b}, {c}"),
    row(DSP, "1111 1011 0010 nnnn rrrr dddd 0000 mmmm", Op::Dsp(Dual(Plus, false, Plus)),        Far,             "smlad {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0010 nnnn rrrr dddd 0001 mmmm", Op::Dsp(Dual(Plus, true, Plus)),         Far,             "smladx {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0011 nnnn 1111 dddd 0000 mmmm", Op::Dsp(WideHalf(B, Alone)),             Far,             "smulwb {a}, {b}, {c}"),
    row(DSP, "1111 1011 0011 nnnn 1111 dddd 0001 mmmm", Op::Dsp(WideHalf(T, Alone)),             Far,             "smulwt {a}, {b}, {c}"),
    row(DSP, "1111 1011 0011 nnnn rrrr dddd 0000 mmmm", Op::Dsp(WideHalf(B, Plus)),              Far,             "smlawb {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0011 nnnn rrrr dddd 0001 mmmm", Op::Dsp(WideHalf(T, Plus)),              Far,             "smlawt {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0100 nnnn 1111 dddd 0000 mmmm", Op::Dsp(Dual(Minus, false, Alone)),      Far,             "smusd {a}, {b}, {c}"),
    row(DSP, "1111 1011 0100 nnnn 1111 dddd 0001 mmmm", Op::Dsp(Dual(Minus, true, Alone)),       Far,             "smusdx {a}, {b}, {c}"),
    row(DSP, "1111 1011 0100 nnnn rrrr dddd 0000 mmmm", Op::Dsp(Dual(Minus, false, Plus)),       Far,             "smlsd {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0100 nnnn rrrr dddd 0001 mmmm", Op::Dsp(Dual(Minus, true, Plus)),        Far,             "smlsdx {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0101 nnnn 1111 dddd 0000 mmmm", Op::Dsp(HighWord(Alone, false)),         Far,             "smmul {a}, {b}, {c}"),
    row(DSP, "1111 1011 0101 nnnn 1111 dddd 0001 mmmm", Op::Dsp(HighWord(Alone, true)),          Far,             "smmulr {a}, {b}, {c}"),
    row(DSP, "1111 1011 0101 nnnn rrrr dddd 0000 mmmm", Op::Dsp(HighWord(Plus, false)),          Far,             "smmla {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0101 nnnn rrrr dddd 0001 mmmm", Op::Dsp(HighWord(Plus, true)),           Far,             "smmlar {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0110 nnnn rrrr dddd 0000 mmmm", Op::Dsp(HighWord(Minus, false)),         Far,             "smmls {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0110 nnnn rrrr dddd 0001 mmmm", Op::Dsp(HighWord(Minus, true)),          Far,             "smmlsr {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 0111 nnnn 1111 dddd 0000 mmmm", Op::Dsp(Differences(Alone)),             Far,             "usad8 {a}, {b}, {c}"),
    row(DSP, "1111 1011 0111 nnnn rrrr dddd 0000 mmmm", Op::Dsp(Differences(Plus)),              Far,             "usada8 {a}, {b}, {c}, {d}"),
    row(DSP, "1111 1011 1100 nnnn dddd hhhh 1000 mmmm", Op::Dsp(HalvesLong(B, B)),               Long,            "smlalbb {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1100 nnnn dddd hhhh 1001 mmmm", Op::Dsp(HalvesLong(B, T)),               Long,            "smlalbt {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1100 nnnn dddd hhhh 1010 mmmm", Op::Dsp(HalvesLong(T, B)),               Long,            "smlaltb {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1100 nnnn dddd hhhh 1011 mmmm", Op::Dsp(HalvesLong(T, T)),               Long,            "smlaltt {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1100 nnnn dddd hhhh 1100 mmmm", Op::Dsp(DualLong(Plus, false)),          Long,            "smlald {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1100 nnnn dddd hhhh 1101 mmmm", Op::Dsp(DualLong(Plus, true)),           Long,            "smlaldx {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1101 nnnn dddd hhhh 1100 mmmm", Op::Dsp(DualLong(Minus, false)),         Long,            "smlsld {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1101 nnnn dddd hhhh 1101 mmmm", Op::Dsp(DualLong(Minus, true)),          Long,            "smlsldx {a}, {d}, {b}, {c}"),
    row(DSP, "1111 1011 1110 nnnn dddd hhhh 0110 mmmm", Op::Dsp(Umaal),                          Long,            "umaal {a}, {d}, {b}, {c}"),
];

/// All 32-bit definitions in the order in which they are tried.
static WIDE: &[&[Definition]] = &[
    &TST,
    &TEQ,
    &CMN,
    &CMP,
    MOVES,
    &AND,
    &BIC,
    &ORR,
    &ORN,
    &EOR,
    &ADD,
    &ADC,
    &SBC,
    &SUB,
    &RSB,
    FAR,
    &LDRB,
    &LDRH,
    &LDR,
    &LDRSB,
    &LDRSH,
    &STRB,
    &STRH,
    &STR,
    &PARALLEL_S,
    &PARALLEL_Q,
    &PARALLEL_SH,
    &PARALLEL_U,
    &PARALLEL_UQ,
    &PARALLEL_UH,
    OTHERS,
];

/// All definitions in the order in which they are tried.
pub(crate) fn rows() -> impl Iterator<Item = &'static Definition> {
    NARROW.iter().chain(WIDE.iter().copied().flatten())
}

/// The bit patterns of all instructions that a core with `features` has, for generators of test programs.
pub fn patterns(features: Features) -> impl Iterator<Item = Pattern> {
    rows().filter(move |r| features.has(r.part)).map(|r| r.pattern)
}

/// The definition of an encoding of `bits` bits at `pc`, its index in the table, and its operands.
pub(crate) fn find(
    features: Features,
    word: u32,
    bits: u32,
    pc: u32,
) -> Option<(usize, &'static Definition, Operands)> {
    let fits = |r: &Definition| r.pattern.bits == bits && r.pattern.matches(word) && features.has(r.part);
    let take = |(n, r): (usize, &'static Definition)| Some((n, r, r.form.operands(&r.pattern.fields(word), pc)?));
    rows().enumerate().filter(|(_, r)| fits(r)).find_map(take)
}
