//! The instructions: encoding, assembly text, what it costs, what it does.
//!
//! The first row that matches decides: rows for special cases (`MOV` among `ORR`, `TST` among `AND`,
//! the literal forms among loads) stand before the general one. A row's operand mapping may refuse
//! registers that the architecture makes unpredictable; the encoding then is no instruction.
//!
//! Letters in patterns: `d` destination, `t` transferred register, `n` first operand or base, `m`
//! second operand or index, `i` immediate, `y` shift type, `s` set flags, `u` add the offset.

use isa::{Fields, Pattern, Template};

use crate::decode::Class;
use crate::dsp;
use crate::exec::{self, Exec, end, seq};

/// Parts of the instruction set, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(u8);

impl Features {
    /// What ARMv6-M has.
    pub const V6M: Self = Self(1);
    /// What ARMv7-M adds.
    pub const V7M: Self = Self(2);
    /// What the DSP extension adds.
    pub const DSP: Self = Self(4);
    /// A Cortex-M0+.
    pub const CORTEX_M0PLUS: Self = Self(1);
    /// A Cortex-M3.
    pub const CORTEX_M3: Self = Self(1 | 2);
    /// A Cortex-M4 or M7 without its floating-point unit.
    pub const CORTEX_M4: Self = Self(1 | 2 | 4);

    /// Whether a core with these features has the instructions of `part`.
    pub const fn has(self, part: Self) -> bool {
        self.0 & part.0 == part.0
    }
}

/// The flags that a row reads or writes, as a set.
pub(crate) mod flag {
    pub const N: u8 = 1;
    pub const Z: u8 = 2;
    pub const C: u8 = 4;
    pub const V: u8 = 8;
    /// C, where the operand's shifter has one.
    pub const SHIFTER: u8 = 16;
    /// C, unless the amount is zero when it is executed.
    pub const MAYBE_C: u8 = 32;
    pub const NZ: u8 = N | Z;
    pub const NZCV: u8 = N | Z | C | V;
    pub const LOGIC: u8 = N | Z | SHIFTER;
}

use flag::{LOGIC, MAYBE_C, NZ, NZCV};

/// When a row sets the flags that it can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    Always,
    /// 16-bit data processing: outside IT blocks.
    OutsideIt,
    /// When the bit `s` of the encoding is set.
    Bit,
}

/// The form of the second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    /// Immediate.
    Imm,
    /// Immediate made by rotation, which has a carry.
    ImmCarry,
    /// Register.
    #[default]
    Reg,
    /// Register shifted left.
    Lsl,
    /// Register shifted right.
    Lsr,
    /// Register shifted right with its sign.
    Asr,
    /// Register rotated right.
    Ror,
    /// Register rotated right by one through the carry.
    Rrx,
}

/// Operands of one decoded instruction; see [`crate::exec`] for the places.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub imm: u32,
    pub kind: Kind,
    /// Registers that are written.
    pub writes: u16,
    /// Registers that an address is made from.
    pub address: u16,
    /// Registers transferred by an instruction for several.
    pub count: u8,
}

impl Operands {
    fn write(mut self, register: u32) -> Self {
        self.writes |= 1 << register;
        self
    }

    fn at(mut self, register: u32) -> Self {
        self.address |= 1 << register;
        self
    }
}

/// Handlers that leave the flags alone and that set them.
pub(crate) type Handlers = [Exec; 2];

/// One instruction of the table.
pub(crate) struct Row {
    pub part: Features,
    pub pattern: Pattern,
    pub text: Template,
    pub class: Class,
    pub map: fn(&Fields, u32) -> Option<Operands>,
    pub when: When,
    pub flags: u8,
    pub reads: u8,
    pub pick: fn(&Operands) -> Handlers,
    /// Handler that also does the conditional branch behind it.
    pub pair: Option<Pair>,
}

/// Handler of an operation with the kind of its operand and the branch's condition.
pub(crate) type Pair = fn(Kind, u8) -> Option<Exec>;

macro_rules! row {
    ($part:ident, $pattern:expr, $text:expr, $class:ident, $map:expr, $when:ident($flags:expr), $pick:expr, pair $pair:expr) => {
        Row { pair: Some($pair), ..row!($part, $pattern, $text, $class, $map, $when($flags), $pick, 0) }
    };
    ($part:ident, $pattern:expr, $text:expr, $class:ident, $map:expr, $when:ident($flags:expr), $pick:expr) => {
        row!($part, $pattern, $text, $class, $map, $when($flags), $pick, 0)
    };
    ($part:ident, $pattern:expr, $text:expr, $class:ident, $map:expr, $when:ident($flags:expr), $pick:expr, $reads:expr) => {
        Row {
            part: Features::$part,
            pattern: Pattern::new($pattern),
            text: Template($text),
            class: Class::$class,
            map: $map,
            when: When::$when,
            flags: $flags,
            reads: $reads,
            pick: $pick,
            pair: None,
        }
    };
}

/// Handlers of a function without flags.
macro_rules! one {
    ($f:expr) => {
        |_| [seq!($f); 2]
    };
}

/// Handlers of a function that ends its block.
macro_rules! last {
    ($f:expr) => {
        |_| [end!($f); 2]
    };
}

/// Handlers of a threaded handler without flags.
macro_rules! raw {
    ($f:expr) => {
        |_| [$f as Exec; 2]
    };
}

/// Handlers of a data-processing operation, by the kind of the second operand.
fn data<A: exec::Alu>(o: &Operands) -> Handlers {
    macro_rules! pair {
        ($kind:ident) => {
            [exec::data_seq::<A, exec::$kind, false> as Exec, exec::data_seq::<A, exec::$kind, true> as Exec]
        };
    }
    match o.kind {
        Kind::Imm => pair!(Imm),
        Kind::ImmCarry => pair!(ImmCarry),
        Kind::Reg => pair!(Reg),
        Kind::Lsl => pair!(Lsl),
        Kind::Lsr => pair!(Lsr),
        Kind::Asr => pair!(Asr),
        Kind::Ror => pair!(Ror),
        Kind::Rrx => pair!(Rrx),
    }
}

/// Handlers of SSAT or USAT, by the kind of the operand.
macro_rules! saturation {
    ($f:ident) => {
        |o| match o.kind {
            Kind::Lsl => [seq!(exec::$f::<exec::Lsl>); 2],
            Kind::Asr => [seq!(exec::$f::<exec::Asr>); 2],
            _ => [seq!(exec::$f::<exec::Reg>); 2],
        }
    };
}

/// Handlers of a shift by a register.
macro_rules! shifted_by {
    ($type:literal) => {
        |_| [seq!(exec::shift_register::<$type, false>), seq!(exec::shift_register::<$type, true>)]
    };
}

/// Handlers of a load or store with an index register.
macro_rules! indexed {
    ($f:ident, $($arg:literal),+) => {
        |o| [if o.d == 0 {
            exec::$f::<exec::Plain, $($arg),+> as Exec
        } else {
            exec::$f::<exec::Index, $($arg),+> as Exec
        }; 2]
    };
}

// --- operand mappings ---

/// Neither stack pointer nor program counter.
fn general(registers: &[u32]) -> bool {
    registers.iter().all(|&r| r != 13 && r != 15)
}

fn places(a: u32, b: u32, c: u32, imm: u32) -> Operands {
    Operands { a: a as u8, b: b as u8, c: c as u8, imm, ..Operands::default() }
}

/// 16-bit: destination, first and second operand.
fn three(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(places(d, f.get('n'), f.get('m'), 0).write(d))
}

/// 16-bit: destination is also the first operand.
fn two(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(places(d, d, f.get('m'), 0).write(d))
}

/// 16-bit: operands of a comparison.
fn compare(f: &Fields, _: u32) -> Option<Operands> {
    Some(places(0, f.get('n'), f.get('m'), 0))
}

/// 16-bit CMP with high registers.
fn compare_high(f: &Fields, _: u32) -> Option<Operands> {
    let (n, m) = (f.get('n'), f.get('m'));
    (n != 15 && m != 15 && (n > 7 || m > 7)).then(|| places(0, n, m, 0))
}

/// RSB from zero.
fn negate(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(Operands { kind: Kind::Imm, ..places(d, f.get('n'), 0, 0) }.write(d))
}

/// 16-bit: destination, first operand, immediate.
fn three_imm(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(Operands { kind: Kind::Imm, ..places(d, f.get('n'), 0, f.get('i')) }.write(d))
}

/// 16-bit: destination is also the first operand, immediate.
fn two_imm(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(Operands { kind: Kind::Imm, ..places(d, d, 0, f.get('i')) }.write(d))
}

/// 16-bit CMP with an immediate.
fn compare_imm(f: &Fields, _: u32) -> Option<Operands> {
    Some(Operands { kind: Kind::Imm, ..places(0, f.get('n'), 0, f.get('i')) })
}

/// 16-bit shift by an immediate of the type `y`.
fn shift_imm(f: &Fields, _: u32) -> Option<Operands> {
    let (kind, amount) = shift(f.get('y'), f.get('i'));
    let d = f.get('d');
    Some(Operands { kind, d: amount, ..places(d, 0, f.get('m'), 0) }.write(d))
}

/// Kind and amount of an encoded shift (DecodeImmShift).
fn shift(kind: u32, amount: u32) -> (Kind, u8) {
    let n = amount as u8;
    match (kind, n) {
        (0, 0) => (Kind::Reg, 0),
        (0, n) => (Kind::Lsl, n),
        (1, 0) => (Kind::Lsr, 32),
        (1, n) => (Kind::Lsr, n),
        (2, 0) => (Kind::Asr, 32),
        (2, n) => (Kind::Asr, n),
        (_, 0) => (Kind::Rrx, 0),
        (_, n) => (Kind::Ror, n),
    }
}

/// Two registers of any number; the program counter as an operand is an immediate.
fn high(f: &Fields, pc: u32) -> Option<Operands> {
    let (d, m) = (f.get('d'), f.get('m'));
    let kind = if m == 15 { Kind::Imm } else { Kind::Reg };
    Some(Operands { kind, ..places(d, d, m, pc.wrapping_add(4)) }.write(d))
}

/// BX, BLX, MOV and ADD to the program counter.
fn to_pc(f: &Fields, pc: u32) -> Option<Operands> {
    let m = f.get('m');
    (m != 15).then(|| places(15, 15, m, pc.wrapping_add(4)))
}

/// 16-bit load or store at base plus `i` times `SCALE`.
fn near<const SCALE: u32>(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    Some(places(f.get('t'), n, 0, f.get('i') * SCALE).at(n))
}

/// 16-bit load or store relative to the stack pointer.
fn near_sp(f: &Fields, _: u32) -> Option<Operands> {
    Some(places(f.get('t'), 13, 0, f.get('i') * 4).at(13))
}

/// 16-bit load or store with an index.
fn near_index(f: &Fields, _: u32) -> Option<Operands> {
    let (n, m) = (f.get('n'), f.get('m'));
    Some(places(f.get('t'), n, m, 0).at(n).at(m))
}

/// What the program counter is as a base.
fn base_pc(pc: u32) -> u32 {
    pc.wrapping_add(4) & !3
}

/// 16-bit literal load.
fn near_literal(f: &Fields, pc: u32) -> Option<Operands> {
    Some(places(f.get('t'), 15, 0, base_pc(pc).wrapping_add(f.get('i') * 4)))
}

/// 16-bit ADR.
fn near_adr(f: &Fields, pc: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(Operands { kind: Kind::Imm, ..places(d, 15, 0, base_pc(pc).wrapping_add(f.get('i') * 4)) }.write(d))
}

/// 16-bit ADD of the stack pointer to a low register.
fn near_sp_sum(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    Some(Operands { kind: Kind::Imm, ..places(d, 13, 0, f.get('i') * 4) }.write(d))
}

/// 16-bit ADD and SUB of the stack pointer.
fn near_sp_move(f: &Fields, _: u32) -> Option<Operands> {
    Some(Operands { kind: Kind::Imm, ..places(13, 13, 0, f.get('i') * 4) }.write(13))
}

/// CBZ, CBNZ.
fn compare_branch(f: &Fields, pc: u32) -> Option<Operands> {
    Some(Operands { d: 2, ..places(0, f.get('n'), 0, pc.wrapping_add(4 + f.get('i') * 2)) })
}

/// 16-bit B with a condition in `c`.
fn near_branch_cond(f: &Fields, pc: u32) -> Option<Operands> {
    let to = pc.wrapping_add(4).wrapping_add_signed(f.signed('i') * 2);
    Some(Operands { d: 2, ..places(0, 0, f.get('c'), to) })
}

/// 16-bit B.
fn near_branch(f: &Fields, pc: u32) -> Option<Operands> {
    Some(places(0, 0, 0, pc.wrapping_add(4).wrapping_add_signed(f.signed('i') * 2)))
}

/// A register list: `base`, whether it changes, the registers.
fn several(base: u32, change: bool, list: u32) -> Operands {
    let o = Operands { count: list.count_ones() as u8, ..places(change.into(), base, 0, list) };
    if change { o.write(base).at(base) } else { o.at(base) }
}

/// PUSH; bit `l` is the link register.
fn push(f: &Fields, _: u32) -> Option<Operands> {
    let list = f.get('i') | f.get('l') << 14;
    (list != 0).then(|| several(13, true, list))
}

/// POP; bit `p` is the program counter.
fn pop(f: &Fields, _: u32) -> Option<Operands> {
    let list = f.get('i') | f.get('p') << 15;
    (list != 0).then(|| several(13, true, list))
}

/// POP with the program counter.
fn pop_pc(f: &Fields, _: u32) -> Option<Operands> {
    Some(several(13, true, f.get('i') | 1 << 15))
}

/// 16-bit LDM: a loaded base is not changed.
fn near_ldm(f: &Fields, _: u32) -> Option<Operands> {
    let (n, list) = (f.get('n'), f.get('i'));
    (list != 0).then(|| several(n, list >> n & 1 == 0, list))
}

/// 16-bit STM.
fn near_stm(f: &Fields, _: u32) -> Option<Operands> {
    let (n, list) = (f.get('n'), f.get('i'));
    (list != 0).then(|| several(n, true, list))
}

/// 32-bit LDM and STM; bit `w` changes the base.
fn far_several(f: &Fields, _: u32) -> Option<Operands> {
    let (n, w) = (f.get('n'), f.get('w') == 1);
    let list = f.get('p') << 15 | f.get('l') << 14 | f.get('i');
    let both = list >> 14 == 3;
    (n != 15 && list.count_ones() > 1 && !both && !(w && list >> n & 1 == 1)).then(|| several(n, w, list))
}

/// As [`far_several`] with the program counter in the list.
fn far_several_pc(f: &Fields, _: u32) -> Option<Operands> {
    let (n, w) = (f.get('n'), f.get('w') == 1);
    let list = 1 << 15 | f.get('i');
    (n != 15 && list.count_ones() > 1 && !(w && list >> n & 1 == 1)).then(|| several(n, w, list))
}

/// Nothing, or a number.
fn number(f: &Fields, _: u32) -> Option<Operands> {
    Some(places(0, 0, 0, f.get('i')))
}

/// The whole encoding.
fn encoding(f: &Fields, _: u32) -> Option<Operands> {
    Some(places(0, 0, 0, f.word))
}

/// CPS: whether it disables, and the masks.
fn change_state(f: &Fields, _: u32) -> Option<Operands> {
    let masks = f.get('i');
    (masks != 0).then(|| Operands { d: f.get('d') as u8, ..places(0, 0, 0, masks) })
}

/// CPS as ARMv6-M has it: PRIMASK only.
fn change_interrupts(f: &Fields, _: u32) -> Option<Operands> {
    Some(Operands { d: f.get('d') as u8, ..places(0, 0, 0, 2) })
}

/// IT: condition in `c`, mask in `d`.
fn if_then(f: &Fields, _: u32) -> Option<Operands> {
    let (cond, mask) = (f.get('c'), f.get('k'));
    let always = cond == 15 || cond == 14 && mask.count_ones() != 1;
    (!always).then(|| Operands { d: mask as u8, ..places(0, 0, cond, 0) })
}

/// ThumbExpandImm_C: the value and whether it has a carry of its own.
pub(crate) fn expand(imm12: u32) -> Option<(u32, bool)> {
    let byte = imm12 & 0xFF;
    match imm12 >> 8 {
        0 => Some((byte, false)),
        1 => (byte != 0).then_some((byte << 16 | byte, false)),
        2 => (byte != 0).then_some((byte << 24 | byte << 8, false)),
        3 => (byte != 0).then_some((byte << 24 | byte << 16 | byte << 8 | byte, false)),
        _ => Some(((imm12 & 0x7F | 0x80).rotate_right(imm12 >> 7), true)),
    }
}

fn modified(f: &Fields, a: u32, b: u32) -> Option<Operands> {
    let (imm, carry) = expand(f.get('i'))?;
    Some(Operands { kind: if carry { Kind::ImmCarry } else { Kind::Imm }, ..places(a, b, 0, imm) })
}

/// 32-bit data processing with a modified immediate.
fn far_imm(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    general(&[d, n]).then(|| modified(f, d, n)).flatten().map(|o| o.write(d))
}

/// As [`far_imm`] for ADD and SUB, which know the stack pointer.
fn far_imm_sp(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    let fine = n != 15 && d != 15 && (d != 13 || n == 13);
    fine.then(|| modified(f, d, n)).flatten().map(|o| o.write(d))
}

/// As [`far_imm`] for MOV and MVN.
fn far_imm_mov(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    general(&[d]).then(|| modified(f, d, 0)).flatten().map(|o| o.write(d))
}

/// As [`far_imm`] for TST and TEQ.
fn far_imm_test(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    general(&[n]).then(|| modified(f, 0, n)).flatten()
}

/// As [`far_imm`] for CMP and CMN.
fn far_imm_compare(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (n != 15).then(|| modified(f, 0, n)).flatten()
}

fn shifted(f: &Fields, a: u32, b: u32) -> Operands {
    let (kind, d) = shift(f.get('y'), f.get('i'));
    Operands { kind, d, ..places(a, b, f.get('m'), 0) }
}

/// 32-bit data processing with a shifted register.
fn far_shift(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    general(&[d, n, f.get('m')]).then(|| shifted(f, d, n).write(d))
}

/// As [`far_shift`] for ADD and SUB, which know the stack pointer.
fn far_shift_sp(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    let small = f.get('y') == 0 && f.get('i') < 4;
    let fine = general(&[f.get('m')]) && n != 15 && d != 15 && (d != 13 || n == 13 && small);
    fine.then(|| shifted(f, d, n).write(d))
}

/// As [`far_shift`] for MVN and shifts by an immediate.
fn far_shift_mov(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    general(&[d, f.get('m')]).then(|| shifted(f, d, 0).write(d))
}

/// 32-bit MOV of a register, which knows the stack pointer.
fn far_mov(f: &Fields, _: u32) -> Option<Operands> {
    let (d, m) = (f.get('d'), f.get('m'));
    let fine = if f.get('s') == 1 { general(&[d, m]) } else { d != 15 && m != 15 && (d != 13 || m != 13) };
    fine.then(|| shifted(f, d, 0).write(d))
}

/// As [`far_shift`] for TST and TEQ.
fn far_shift_test(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    general(&[n, f.get('m')]).then(|| shifted(f, 0, n))
}

/// As [`far_shift`] for CMP and CMN.
fn far_shift_compare(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (general(&[f.get('m')]) && n != 15).then(|| shifted(f, 0, n))
}

/// ADDW and SUBW.
fn far_plain(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    let fine = n != 15 && d != 15 && (d != 13 || n == 13);
    fine.then(|| Operands { kind: Kind::Imm, ..places(d, n, 0, f.get('i')) }.write(d))
}

/// MOVW and MOVT; `j` are the upper four bits.
fn far_wide(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    let imm = f.get('j') << 12 | f.get('i');
    general(&[d]).then(|| Operands { kind: Kind::Imm, ..places(d, d, 0, imm) }.write(d))
}

/// SBFX, UBFX: lowest bit `i`, width `w` plus one.
fn field(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n, low, width) = (f.get('d'), f.get('n'), f.get('i'), f.get('w') + 1);
    let fine = general(&[d, n]) && low + width <= 32;
    fine.then(|| Operands { d: low as u8, ..places(d, n, 0, width) }.write(d))
}

/// BFI, BFC: lowest bit `i`, highest `w`.
fn field_mask(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n, low, top) = (f.get('d'), f.get('n'), f.get('i'), f.get('w'));
    let fine = general(&[d]) && n != 13 && n != 15 && top >= low;
    let mask = (u32::MAX >> (31 - top)) & u32::MAX << low;
    fine.then(|| Operands { d: low as u8, ..places(d, n, 0, mask) }.write(d))
}

/// SSAT (`PLUS` 1) and USAT (`PLUS` 0): shift `i` of type `y`, `w` bits.
fn saturation<const PLUS: u32>(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    let (kind, amount) = shift(2 * f.get('y'), f.get('i'));
    let fine = general(&[d, n]) && !(f.get('y') == 1 && f.get('i') == 0);
    fine.then(|| Operands { kind, d: amount, ..places(d, 0, n, f.get('w') + PLUS) }.write(d))
}

/// 32-bit: destination, two operands, and a third one `r` in `d`.
fn far_three(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n, m, r) = (f.get('d'), f.get('n'), f.get('m'), f.get('r'));
    general(&[d, n, m, r]).then(|| Operands { d: r as u8, ..places(d, n, m, 0) }.write(d))
}

/// Long multiplication: low destination `d`, high one `h`.
fn far_long(f: &Fields, _: u32) -> Option<Operands> {
    let (d, h, n, m) = (f.get('d'), f.get('h'), f.get('n'), f.get('m'));
    (general(&[d, h, n, m]) && d != h).then(|| Operands { d: h as u8, ..places(d, n, m, 0) }.write(d).write(h))
}

/// Extension with rotation `r` bytes.
fn far_extend(f: &Fields, _: u32) -> Option<Operands> {
    let (d, m) = (f.get('d'), f.get('m'));
    general(&[d, m]).then(|| Operands { d: 8 * f.get('r') as u8, ..places(d, 0, m, 0) }.write(d))
}

/// CLZ, RBIT, REV: the operand stands in the encoding twice.
fn far_twice(f: &Fields, _: u32) -> Option<Operands> {
    let (d, m) = (f.get('d'), f.get('m'));
    (general(&[d, m]) && f.get('n') == m).then(|| places(d, 0, m, 0).write(d))
}

/// The immediate with the sign that `u` tells.
fn offset(f: &Fields) -> u32 {
    if f.get('u') == 1 { f.get('i') } else { f.get('i').wrapping_neg() }
}

/// Whether `t` can be transferred: words know the stack pointer.
fn transferable<const WORD: bool>(t: u32) -> bool {
    t != 15 && (WORD || t != 13)
}

/// 32-bit load or store with a positive immediate.
fn far_offset<const WORD: bool>(f: &Fields, _: u32) -> Option<Operands> {
    let (t, n) = (f.get('t'), f.get('n'));
    (transferable::<WORD>(t) && n != 15).then(|| places(t, n, 0, f.get('i')).at(n))
}

/// 32-bit load or store with a negative immediate.
fn far_negative<const WORD: bool>(f: &Fields, _: u32) -> Option<Operands> {
    let (t, n) = (f.get('t'), f.get('n'));
    (transferable::<WORD>(t) && n != 15).then(|| places(t, n, 0, f.get('i').wrapping_neg()).at(n))
}

/// Unprivileged load or store.
fn far_user(f: &Fields, _: u32) -> Option<Operands> {
    let (t, n) = (f.get('t'), f.get('n'));
    (general(&[t]) && n != 15).then(|| places(t, n, 0, f.get('i')).at(n))
}

/// 32-bit load or store that changes its base.
fn far_change<const WORD: bool>(f: &Fields, _: u32) -> Option<Operands> {
    let (t, n) = (f.get('t'), f.get('n'));
    (transferable::<WORD>(t) && n != 15 && n != t).then(|| places(t, n, 0, offset(f)).at(n).write(n))
}

/// 32-bit load or store with an index shifted by `i`.
fn far_index<const WORD: bool>(f: &Fields, _: u32) -> Option<Operands> {
    let (t, n, m) = (f.get('t'), f.get('n'), f.get('m'));
    let fine = transferable::<WORD>(t) && n != 15 && general(&[m]);
    fine.then(|| Operands { d: f.get('i') as u8, ..places(t, n, m, 0) }.at(n).at(m))
}

/// 32-bit literal load.
fn far_literal<const WORD: bool>(f: &Fields, pc: u32) -> Option<Operands> {
    let t = f.get('t');
    transferable::<WORD>(t).then(|| places(t, 15, 0, base_pc(pc).wrapping_add(offset(f))))
}

/// LDR of the program counter: base and immediate.
fn pc_offset(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (n != 15).then(|| places(15, n, 0, f.get('i')).at(n))
}

/// LDR of the program counter: base and negative immediate.
fn pc_negative(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (n != 15).then(|| places(15, n, 0, f.get('i').wrapping_neg()).at(n))
}

/// LDR of the program counter that changes its base.
fn pc_change(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (n != 15).then(|| places(15, n, 0, offset(f)).at(n).write(n))
}

/// LDR of the program counter with an index.
fn pc_index(f: &Fields, _: u32) -> Option<Operands> {
    let (n, m) = (f.get('n'), f.get('m'));
    let fine = n != 15 && general(&[m]);
    fine.then(|| Operands { d: f.get('i') as u8, ..places(15, n, m, 0) }.at(n).at(m))
}

/// LDR of the program counter from a known address.
fn pc_literal(f: &Fields, pc: u32) -> Option<Operands> {
    Some(places(15, 15, 0, base_pc(pc).wrapping_add(offset(f))))
}

/// PLD and PLI with a base.
fn preload(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (n != 15).then(|| places(0, n, 0, f.get('i')))
}

/// PLD and PLI with a base and a negative offset.
fn preload_negative(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('n');
    (n != 15).then(|| places(0, n, 0, f.get('i').wrapping_neg()))
}

/// PLD and PLI with an index.
fn preload_index(f: &Fields, _: u32) -> Option<Operands> {
    let (n, m) = (f.get('n'), f.get('m'));
    (n != 15 && general(&[m])).then(|| Operands { d: f.get('i') as u8, ..places(0, n, m, 0) })
}

/// PLD and PLI of a known address.
fn preload_literal(f: &Fields, pc: u32) -> Option<Operands> {
    Some(places(0, 15, 0, base_pc(pc).wrapping_add(offset(f))))
}

fn dual(f: &Fields, changes: bool) -> Option<Operands> {
    let (t, r, n) = (f.get('t'), f.get('r'), f.get('n'));
    let imm = if f.get('u') == 1 { 4 * f.get('i') } else { (4 * f.get('i')).wrapping_neg() };
    let fine = general(&[t, r]) && n != 15 && !(changes && (n == t || n == r));
    let o = Operands { d: r as u8, count: 2, ..places(t, n, 0, imm) }.at(n);
    fine.then(|| if changes { o.write(n) } else { o })
}

/// STRD.
fn dual_keep(f: &Fields, _: u32) -> Option<Operands> {
    dual(f, false)
}

/// STRD that changes its base.
fn dual_change(f: &Fields, _: u32) -> Option<Operands> {
    dual(f, true)
}

/// LDRD.
fn dual_load(f: &Fields, _: u32) -> Option<Operands> {
    dual(f, false).filter(|o| o.a != o.d)
}

/// LDRD that changes its base.
fn dual_load_change(f: &Fields, _: u32) -> Option<Operands> {
    dual(f, true).filter(|o| o.a != o.d)
}

/// LDRD from a known address.
fn dual_literal(f: &Fields, pc: u32) -> Option<Operands> {
    let (t, r) = (f.get('t'), f.get('r'));
    let imm = if f.get('u') == 1 { 4 * f.get('i') } else { (4 * f.get('i')).wrapping_neg() };
    let o = Operands { d: r as u8, count: 2, ..places(t, 15, 0, base_pc(pc).wrapping_add(imm)) };
    (general(&[t, r]) && t != r).then_some(o)
}

/// LDREX and its kin: immediate `i` words.
fn exclusive_load(f: &Fields, _: u32) -> Option<Operands> {
    let (t, n) = (f.get('t'), f.get('n'));
    (general(&[t]) && n != 15).then(|| places(t, n, 0, 4 * f.get('i')).at(n))
}

/// STREX and its kin: status to `d`.
fn exclusive_store(f: &Fields, _: u32) -> Option<Operands> {
    let (d, t, n) = (f.get('d'), f.get('t'), f.get('n'));
    let fine = general(&[d, t]) && n != 15 && d != n && d != t;
    fine.then(|| Operands { d: t as u8, ..places(d, n, 0, 4 * f.get('i')) }.at(n).write(d))
}

/// TBB, TBH.
fn table_branch(f: &Fields, pc: u32) -> Option<Operands> {
    let (n, m) = (f.get('n'), f.get('m'));
    let fine = n != 13 && general(&[m]);
    fine.then(|| Operands { d: (n == 15).into(), ..places(0, n, m, pc.wrapping_add(4)) }.at(n).at(m))
}

/// 32-bit B with a condition in `c`.
fn far_branch_cond(f: &Fields, pc: u32) -> Option<Operands> {
    let cond = f.get('c');
    let top = (f.get('s') as i32).wrapping_neg();
    let to = top << 20 | (f.get('j') << 19 | f.get('k') << 18 | f.get('i') << 1) as i32;
    (cond < 14).then(|| Operands { d: 4, ..places(0, 0, cond, pc.wrapping_add(4).wrapping_add_signed(to)) })
}

/// 32-bit B and BL.
fn far_branch(f: &Fields, pc: u32) -> Option<Operands> {
    let s = f.get('s');
    let top = (s as i32).wrapping_neg();
    let (one, two) = (f.get('k') ^ s ^ 1, f.get('j') ^ s ^ 1);
    let to = top << 24 | (one << 23 | two << 22 | f.get('i') << 1) as i32;
    Some(places(0, 0, 0, pc.wrapping_add(4).wrapping_add_signed(to)))
}

/// MRS.
fn special_read(f: &Fields, _: u32) -> Option<Operands> {
    let d = f.get('d');
    (general(&[d]) && special(f.get('i')).is_some()).then(|| places(d, 0, 0, f.get('i')).write(d))
}

/// MSR.
fn special_write(f: &Fields, _: u32) -> Option<Operands> {
    let (n, imm) = (f.get('n'), f.get('i'));
    let o = places(0, n, 0, imm);
    (general(&[n]) && special(imm).is_some()).then(|| if imm == 8 { o.write(13) } else { o })
}

/// Special registers of ARMv6-M: no BASEPRI and no FAULTMASK.
fn special_v6(number: u32) -> bool {
    !(17..20).contains(&number)
}

/// MRS as ARMv6-M has it.
fn special_read_v6(f: &Fields, pc: u32) -> Option<Operands> {
    special_read(f, pc).filter(|o| special_v6(o.imm))
}

/// MSR as ARMv6-M has it.
fn special_write_v6(f: &Fields, pc: u32) -> Option<Operands> {
    special_write(f, pc).filter(|o| special_v6(o.imm))
}

/// MSR that writes GE: bit `g` is set where it also writes NZCVQ. `d` is 1 for GE, and 2 more where
/// the others stay.
fn special_write_ge(f: &Fields, pc: u32) -> Option<Operands> {
    let d = if f.get('g') == 1 { 1 } else { 3 };
    special_write(f, pc).filter(|o| o.imm < 4).map(|o| Operands { d, ..o })
}

/// Name of a special register.
pub(crate) fn special(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "CPSR",
        1 => "IAPSR",
        2 => "EAPSR",
        3 => "PSR",
        5 => "IPSR",
        6 => "EPSR",
        7 => "IEPSR",
        8 => "MSP",
        9 => "PSP",
        16 => "PRIMASK",
        17 => "BASEPRI",
        18 => "BASEPRI_MAX",
        19 => "FAULTMASK",
        20 => "CONTROL",
        _ => return None,
    })
}

// --- the rows ---

use exec::{
    Adc, Add, And, Bic, Cmn, Cmp, Eor, Literal, Mov, Mvn, Offset, Orn, Orr, Post, Pre, Rsb, Sbc, Sub, Teq, Tst,
};

const CARRY: u8 = flag::C;

/// 16-bit instructions.
#[rustfmt::skip] // one row, one line
static NARROW: &[Row] = &[
    // shift, add, subtract, move, compare
    row!(V6M, "0000 0000 00mm mddd", "movs {a}, {c}", Alu, two, Always(NZ), data::<Mov>),
    row!(V6M, "000y yiii iimm mddd", "{sh}{s} {a}, {c}, {amount}", Alu, shift_imm_narrow, OutsideIt(LOGIC), data::<Mov>),
    row!(V6M, "0001 100m mmnn nddd", "add{s} {a}, {b}, {c}", Alu, three, OutsideIt(NZCV), data::<Add>, pair exec::compare_and_branch::<Add>),
    row!(V6M, "0001 101m mmnn nddd", "sub{s} {a}, {b}, {c}", Alu, three, OutsideIt(NZCV), data::<Sub>, pair exec::compare_and_branch::<Sub>),
    row!(V6M, "0001 110i iinn nddd", "add{s} {a}, {b}, {imm}", Alu, three_imm, OutsideIt(NZCV), data::<Add>, pair exec::compare_and_branch::<Add>),
    row!(V6M, "0001 111i iinn nddd", "sub{s} {a}, {b}, {imm}", Alu, three_imm, OutsideIt(NZCV), data::<Sub>, pair exec::compare_and_branch::<Sub>),
    row!(V6M, "0010 0ddd iiii iiii", "mov{s} {a}, {imm}", Alu, two_imm, OutsideIt(LOGIC), data::<Mov>),
    row!(V6M, "0010 1nnn iiii iiii", "cmp {b}, {imm}", Alu, compare_imm, Always(NZCV), data::<Cmp>, pair exec::compare_and_branch::<Cmp>),
    row!(V6M, "0011 0ddd iiii iiii", "add{s} {a}, {imm}", Alu, two_imm, OutsideIt(NZCV), data::<Add>, pair exec::compare_and_branch::<Add>),
    row!(V6M, "0011 1ddd iiii iiii", "sub{s} {a}, {imm}", Alu, two_imm, OutsideIt(NZCV), data::<Sub>, pair exec::compare_and_branch::<Sub>),
    // two low registers
    row!(V6M, "0100 0000 00mm mddd", "and{s} {a}, {c}", Alu, two, OutsideIt(LOGIC), data::<And>),
    row!(V6M, "0100 0000 01mm mddd", "eor{s} {a}, {c}", Alu, two, OutsideIt(LOGIC), data::<Eor>),
    row!(V6M, "0100 0000 10mm mddd", "lsl{s} {a}, {c}", Alu, two, OutsideIt(NZ | MAYBE_C), shifted_by!(0)),
    row!(V6M, "0100 0000 11mm mddd", "lsr{s} {a}, {c}", Alu, two, OutsideIt(NZ | MAYBE_C), shifted_by!(1)),
    row!(V6M, "0100 0001 00mm mddd", "asr{s} {a}, {c}", Alu, two, OutsideIt(NZ | MAYBE_C), shifted_by!(2)),
    row!(V6M, "0100 0001 01mm mddd", "adc{s} {a}, {c}", Alu, two, OutsideIt(NZCV), data::<Adc>, CARRY),
    row!(V6M, "0100 0001 10mm mddd", "sbc{s} {a}, {c}", Alu, two, OutsideIt(NZCV), data::<Sbc>, CARRY),
    row!(V6M, "0100 0001 11mm mddd", "ror{s} {a}, {c}", Alu, two, OutsideIt(NZ | MAYBE_C), shifted_by!(3)),
    row!(V6M, "0100 0010 00mm mnnn", "tst {b}, {c}", Alu, compare, Always(LOGIC), data::<Tst>, pair exec::compare_and_branch::<Tst>),
    row!(V6M, "0100 0010 01nn nddd", "rsb{s} {a}, {b}, #0", Alu, negate, OutsideIt(NZCV), data::<Rsb>),
    row!(V6M, "0100 0010 10mm mnnn", "cmp {b}, {c}", Alu, compare, Always(NZCV), data::<Cmp>, pair exec::compare_and_branch::<Cmp>),
    row!(V6M, "0100 0010 11mm mnnn", "cmn {b}, {c}", Alu, compare, Always(NZCV), data::<Cmn>),
    row!(V6M, "0100 0011 00mm mddd", "orr{s} {a}, {c}", Alu, two, OutsideIt(LOGIC), data::<Orr>),
    row!(V6M, "0100 0011 01mm mddd", "mul{s} {a}, {c}", Mul, two, OutsideIt(NZ), |_| [
        seq!(exec::mul::<false>),
        seq!(exec::mul::<true>)
    ]),
    row!(V6M, "0100 0011 10mm mddd", "bic{s} {a}, {c}", Alu, two, OutsideIt(LOGIC), data::<Bic>),
    row!(V6M, "0100 0011 11mm mddd", "mvn{s} {a}, {c}", Alu, two, OutsideIt(LOGIC), data::<Mvn>),
    // high registers
    row!(V6M, "0100 0100 1mmm m111", "add {a}, {c}", Branch, to_pc, Never(0), last!(exec::add_pc)),
    row!(V6M, "0100 0100 dmmm mddd", "add {a}, {c}", Alu, high, Never(0), data::<Add>),
    row!(V6M, "0100 0101 nmmm mnnn", "cmp {b}, {c}", Alu, compare_high, Always(NZCV), data::<Cmp>, pair exec::compare_and_branch::<Cmp>),
    row!(V6M, "0100 0110 1mmm m111", "mov {a}, {c}", Branch, to_pc, Never(0), last!(exec::mov_pc)),
    row!(V6M, "0100 0110 dmmm mddd", "mov {a}, {c}", Alu, high, Never(0), data::<Mov>),
    row!(V6M, "0100 0111 0mmm m000", "bx {c}", Branch, to_pc, Never(0), last!(exec::branch_register)),
    row!(V6M, "0100 0111 1mmm m000", "blx {c}", Branch, to_pc, Never(0), last!(exec::branch_link_register)),
    // loads and stores
    row!(V6M, "0100 1ttt iiii iiii", "ldr {a}, [pc, {literal}]", Load, near_literal, Never(0), raw!(exec::load_seq::<Literal, 4, false>)),
    row!(V6M, "0101 000m mmnn nttt", "str {a}, [{b}, {c}]", Store, near_index, Never(0), indexed!(store_seq, 4)),
    row!(V6M, "0101 001m mmnn nttt", "strh {a}, [{b}, {c}]", Store, near_index, Never(0), indexed!(store_seq, 2)),
    row!(V6M, "0101 010m mmnn nttt", "strb {a}, [{b}, {c}]", Store, near_index, Never(0), indexed!(store_seq, 1)),
    row!(V6M, "0101 011m mmnn nttt", "ldrsb {a}, [{b}, {c}]", Load, near_index, Never(0), indexed!(load_seq, 1, true)),
    row!(V6M, "0101 100m mmnn nttt", "ldr {a}, [{b}, {c}]", Load, near_index, Never(0), indexed!(load_seq, 4, false)),
    row!(V6M, "0101 101m mmnn nttt", "ldrh {a}, [{b}, {c}]", Load, near_index, Never(0), indexed!(load_seq, 2, false)),
    row!(V6M, "0101 110m mmnn nttt", "ldrb {a}, [{b}, {c}]", Load, near_index, Never(0), indexed!(load_seq, 1, false)),
    row!(V6M, "0101 111m mmnn nttt", "ldrsh {a}, [{b}, {c}]", Load, near_index, Never(0), indexed!(load_seq, 2, true)),
    row!(V6M, "0110 0iii iinn nttt", "str {a}, [{b}, {imm}]", Store, near::<4>, Never(0), raw!(exec::store_seq::<Offset, 4>)),
    row!(V6M, "0110 1iii iinn nttt", "ldr {a}, [{b}, {imm}]", Load, near::<4>, Never(0), raw!(exec::load_seq::<Offset, 4, false>)),
    row!(V6M, "0111 0iii iinn nttt", "strb {a}, [{b}, {imm}]", Store, near::<1>, Never(0), raw!(exec::store_seq::<Offset, 1>)),
    row!(V6M, "0111 1iii iinn nttt", "ldrb {a}, [{b}, {imm}]", Load, near::<1>, Never(0), raw!(exec::load_seq::<Offset, 1, false>)),
    row!(V6M, "1000 0iii iinn nttt", "strh {a}, [{b}, {imm}]", Store, near::<2>, Never(0), raw!(exec::store_seq::<Offset, 2>)),
    row!(V6M, "1000 1iii iinn nttt", "ldrh {a}, [{b}, {imm}]", Load, near::<2>, Never(0), raw!(exec::load_seq::<Offset, 2, false>)),
    row!(V6M, "1001 0ttt iiii iiii", "str {a}, [sp, {imm}]", Store, near_sp, Never(0), raw!(exec::store_seq::<Offset, 4>)),
    row!(V6M, "1001 1ttt iiii iiii", "ldr {a}, [sp, {imm}]", Load, near_sp, Never(0), raw!(exec::load_seq::<Offset, 4, false>)),
    row!(V6M, "1010 0ddd iiii iiii", "add {a}, pc, {literal}", Alu, near_adr, Never(0), data::<Mov>),
    row!(V6M, "1010 1ddd iiii iiii", "add {a}, sp, {imm}", Alu, near_sp_sum, Never(0), data::<Add>),
    // miscellaneous
    row!(V6M, "1011 0000 0iii iiii", "add sp, {imm}", Alu, near_sp_move, Never(0), data::<Add>),
    row!(V6M, "1011 0000 1iii iiii", "sub sp, {imm}", Alu, near_sp_move, Never(0), data::<Sub>),
    row!(V7M, "1011 00i1 iiii innn", "cbz {b}, {to}", BranchCond, compare_branch, Never(0), last!(exec::branch_zero::<false>)),
    row!(V7M, "1011 10i1 iiii innn", "cbnz {b}, {to}", BranchCond, compare_branch, Never(0), last!(exec::branch_zero::<true>)),
    row!(V6M, "1011 0010 00mm mddd", "sxth {a}, {c}", Alu, two, Never(0), one!(exec::extend::<16, true>)),
    row!(V6M, "1011 0010 01mm mddd", "sxtb {a}, {c}", Alu, two, Never(0), one!(exec::extend::<8, true>)),
    row!(V6M, "1011 0010 10mm mddd", "uxth {a}, {c}", Alu, two, Never(0), one!(exec::extend::<16, false>)),
    row!(V6M, "1011 0010 11mm mddd", "uxtb {a}, {c}", Alu, two, Never(0), one!(exec::extend::<8, false>)),
    row!(V6M, "1011 010l iiii iiii", "push {list}", StoreMultiple, push, Never(0), one!(exec::store_multiple::<true>)),
    row!(V6M, "1011 0110 011d 0010", "cps{ed} {masks}", System, change_interrupts, Never(0), one!(exec::change_state)),
    row!(V7M, "1011 0110 011d 00ii", "cps{ed} {masks}", System, change_state, Never(0), one!(exec::change_state)),
    row!(V6M, "1011 1010 00mm mddd", "rev {a}, {c}", Alu, two, Never(0), one!(exec::rev)),
    row!(V6M, "1011 1010 01mm mddd", "rev16 {a}, {c}", Alu, two, Never(0), one!(exec::rev16)),
    row!(V6M, "1011 1010 11mm mddd", "revsh {a}, {c}", Alu, two, Never(0), one!(exec::revsh)),
    row!(V6M, "1011 1101 iiii iiii", "pop {list}", LoadMultiplePc, pop_pc, Never(0), last!(exec::load_multiple_pc::<false>)),
    row!(V6M, "1011 1100 iiii iiii", "pop {list}", LoadMultiple, pop, Never(0), one!(exec::load_multiple::<false>)),
    row!(V6M, "1011 1110 iiii iiii", "bkpt {imm:x4}", Stop, number, Never(0), last!(exec::trap)),
    row!(V6M, "1011 1111 0000 0000", "nop", Alu, number, Never(0), one!(exec::nop)),
    row!(V6M, "1011 1111 0001 0000", "yield", Alu, number, Never(0), one!(exec::nop)),
    row!(V6M, "1011 1111 0010 0000", "wfe", Alu, number, Never(0), one!(exec::nop)),
    row!(V6M, "1011 1111 0011 0000", "wfi", Alu, number, Never(0), one!(exec::nop)),
    row!(V6M, "1011 1111 0100 0000", "sev", Alu, number, Never(0), one!(exec::nop)),
    row!(V6M, "1011 1111 iiii 0000", "nop {hint}", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1011 1111 cccc kkkk", "it{then} {cond}", It, if_then, Never(0), |o| [exec::skip_handler(o.c); 2]),
    row!(V6M, "1100 0nnn iiii iiii", "stmia {b}!, {list}", StoreMultiple, near_stm, Never(0), one!(exec::store_multiple::<false>)),
    row!(V6M, "1100 1nnn iiii iiii", "ldmia {b}{wb}, {list}", LoadMultiple, near_ldm, Never(0), one!(exec::load_multiple::<false>)),
    row!(V6M, "1101 1110 iiii iiii", "udf {udf}", Stop, encoding, Never(0), last!(exec::bad_opcode)),
    row!(V6M, "1101 1111 iiii iiii", "svc {udf}", Stop, encoding, Never(0), last!(exec::unsupported)),
    row!(V6M, "1101 cccc iiii iiii", "b{cond}.n {to}", BranchCond, near_branch_cond, Never(0), |o| [exec::branch_handler(o.c); 2]),
    row!(V6M, "1110 0iii iiii iiii", "b.n {to}", Branch, near_branch, Never(0), last!(exec::branch)),
];

/// 16-bit shift by an immediate; type 3 is another instruction.
fn shift_imm_narrow(f: &Fields, pc: u32) -> Option<Operands> {
    if f.get('y') == 3 { None } else { shift_imm(f, pc) }
}

/// The rows of a data-processing operation: modified immediate, shifted register.
#[rustfmt::skip] // one row, one line
macro_rules! data_rows {
    ($name:literal, $op:literal, $alu:ty, $imm:ident, $shift:ident, $flags:expr, $reads:expr) => {
        data_rows!($name, "", ".w", $op, $alu, $imm, $shift, $flags, $reads)
    };
    ($name:literal, $wi:literal, $ws:literal, $op:literal, $alu:ty, $imm:ident, $shift:ident, $flags:expr, $reads:expr) => {
        [
            row!(V7M, concat!("1111 0i0", $op, "s nnnn 0iii dddd iiii iiii"), concat!($name, "{s}", $wi, " {a}, {b}, {imm}"), Alu, $imm, Bit($flags), data::<$alu>, $reads),
            row!(V7M, concat!("1110 101", $op, "s nnnn 0iii dddd iiyy mmmm"), concat!($name, "{s}", $ws, " {a}, {b}, {c}{shift}"), Alu, $shift, Bit($flags), data::<$alu>, $reads),
        ]
    };
}

/// The rows of a comparison.
#[rustfmt::skip] // one row, one line
macro_rules! compare_rows {
    ($name:literal, $w:literal, $op:literal, $alu:ty, $imm:ident, $shift:ident, $flags:expr) => {
        [
            row!(V7M, concat!("1111 0i0", $op, "1 nnnn 0iii 1111 iiii iiii"), concat!($name, $w, " {b}, {imm}"), Alu, $imm, Always($flags), data::<$alu>),
            row!(V7M, concat!("1110 101", $op, "1 nnnn 0iii 1111 iiyy mmmm"), concat!($name, $w, " {b}, {c}{shift}"), Alu, $shift, Always($flags), data::<$alu>),
        ]
    };
}

static TST: [Row; 2] = compare_rows!("tst", ".w", "0000", Tst, far_imm_test, far_shift_test, LOGIC);
static TEQ: [Row; 2] = compare_rows!("teq", "", "0100", Teq, far_imm_test, far_shift_test, LOGIC);
static CMN: [Row; 2] = compare_rows!("cmn", ".w", "1000", Cmn, far_imm_compare, far_shift_compare, NZCV);
static CMP: [Row; 2] = compare_rows!("cmp", ".w", "1101", Cmp, far_imm_compare, far_shift_compare, NZCV);
static AND: [Row; 2] = data_rows!("and", "0000", And, far_imm, far_shift, LOGIC, 0);
static BIC: [Row; 2] = data_rows!("bic", "0001", Bic, far_imm, far_shift, LOGIC, 0);
static ORR: [Row; 2] = data_rows!("orr", "0010", Orr, far_imm, far_shift, LOGIC, 0);
static ORN: [Row; 2] = data_rows!("orn", "", "", "0011", Orn, far_imm, far_shift, LOGIC, 0);
static EOR: [Row; 2] = data_rows!("eor", "0100", Eor, far_imm, far_shift, LOGIC, 0);
static ADD: [Row; 2] = data_rows!("add", ".w", ".w", "1000", Add, far_imm_sp, far_shift_sp, NZCV, 0);
static ADC: [Row; 2] = data_rows!("adc", "1010", Adc, far_imm, far_shift, NZCV, CARRY);
static SBC: [Row; 2] = data_rows!("sbc", "1011", Sbc, far_imm, far_shift, NZCV, CARRY);
static SUB: [Row; 2] = data_rows!("sub", ".w", ".w", "1101", Sub, far_imm_sp, far_shift_sp, NZCV, 0);
static RSB: [Row; 2] = data_rows!("rsb", "", "", "1110", Rsb, far_imm, far_shift, NZCV, 0);

/// Moves, which are special cases of ORR and ORN, and shifts by an immediate.
#[rustfmt::skip] // one row, one line
static MOVES: &[Row] = &[
    row!(V7M, "1111 0i00 010s 1111 0iii dddd iiii iiii", "mov{s}.w {a}, {imm}", Alu, far_imm_mov, Bit(LOGIC), data::<Mov>),
    row!(V7M, "1111 0i00 011s 1111 0iii dddd iiii iiii", "mvn{s}.w {a}, {imm}", Alu, far_imm_mov, Bit(LOGIC), data::<Mvn>),
    row!(V7M, "1110 1010 010s 1111 0000 dddd 0000 mmmm", "mov{s}.w {a}, {c}", Alu, far_mov, Bit(LOGIC), data::<Mov>),
    row!(V7M, "1110 1010 010s 1111 0000 dddd 0011 mmmm", "mov{s}.w {a}, {c}, rrx", Alu, far_rrx, Bit(LOGIC), data::<Mov>),
    row!(V7M, "1110 1010 010s 1111 0iii dddd iiyy mmmm", "mov{s}.w {a}, {c}{shift}", Alu, far_shift_mov, Bit(LOGIC), data::<Mov>),
    row!(V7M, "1110 1010 011s 1111 0iii dddd iiyy mmmm", "mvn{s}.w {a}, {c}{shift}", Alu, far_shift_mov, Bit(LOGIC), data::<Mvn>),
];

/// RRX.
fn far_rrx(f: &Fields, _: u32) -> Option<Operands> {
    let (d, m) = (f.get('d'), f.get('m'));
    general(&[d, m]).then(|| Operands { kind: Kind::Rrx, ..places(d, 0, m, 0) }.write(d))
}

/// Plain immediates, bit fields, saturation, multiplication and the like.
#[rustfmt::skip] // one row, one line
static FAR: &[Row] = &[
    row!(V7M, "1111 0i10 u0u0 1111 0iii dddd iiii iiii", "{addsub}w {a}, pc, {magnitude}", Alu, far_adr_add_or_sub, Never(0), data::<Mov>),
    row!(V7M, "1111 0i10 0000 nnnn 0iii dddd iiii iiii", "addw {a}, {b}, {imm}", Alu, far_plain, Never(0), data::<Add>),
    row!(V7M, "1111 0i10 1010 nnnn 0iii dddd iiii iiii", "subw {a}, {b}, {imm}", Alu, far_plain, Never(0), data::<Sub>),
    row!(V7M, "1111 0i10 0100 jjjj 0iii dddd iiii iiii", "movw {a}, {imm}", Alu, far_wide, Never(0), data::<Mov>),
    row!(V7M, "1111 0i10 1100 jjjj 0iii dddd iiii iiii", "movt {a}, {imm}", Alu, far_wide, Never(0), one!(exec::movt)),
    row!(V7M, "1111 0011 00y0 nnnn 0iii dddd ii0w wwww", "ssat {a}, {imm}, {c}{shift}", Alu, saturation::<1>, Never(0), saturation!(ssat)),
    row!(V7M, "1111 0011 10y0 nnnn 0iii dddd ii0w wwww", "usat {a}, {imm}, {c}{shift}", Alu, saturation::<0>, Never(0), saturation!(usat)),
    row!(V7M, "1111 0011 0100 nnnn 0iii dddd ii0w wwww", "sbfx {a}, {b}, {low}, {imm}", Alu, field, Never(0), one!(exec::extract::<true>)),
    row!(V7M, "1111 0011 1100 nnnn 0iii dddd ii0w wwww", "ubfx {a}, {b}, {low}, {imm}", Alu, field, Never(0), one!(exec::extract::<false>)),
    row!(V7M, "1111 0011 0110 1111 0iii dddd ii0w wwww", "bfc {a}, {low}, {ones}", Alu, field_mask, Never(0), one!(exec::clear)),
    row!(V7M, "1111 0011 0110 nnnn 0iii dddd ii0w wwww", "bfi {a}, {b}, {low}, {ones}", Alu, field_mask, Never(0), one!(exec::insert)),
    row!(V7M, "1111 1010 000s nnnn 1111 dddd 0000 mmmm", "lsl{s}.w {a}, {b}, {c}", Alu, far_three, Bit(NZ | MAYBE_C), shifted_by!(0)),
    row!(V7M, "1111 1010 001s nnnn 1111 dddd 0000 mmmm", "lsr{s}.w {a}, {b}, {c}", Alu, far_three, Bit(NZ | MAYBE_C), shifted_by!(1)),
    row!(V7M, "1111 1010 010s nnnn 1111 dddd 0000 mmmm", "asr{s}.w {a}, {b}, {c}", Alu, far_three, Bit(NZ | MAYBE_C), shifted_by!(2)),
    row!(V7M, "1111 1010 011s nnnn 1111 dddd 0000 mmmm", "ror{s}.w {a}, {b}, {c}", Alu, far_three, Bit(NZ | MAYBE_C), shifted_by!(3)),
    row!(V7M, "1111 1010 0000 1111 1111 dddd 10rr mmmm", "sxth.w {a}, {c}{rotate}", Alu, far_extend, Never(0), one!(exec::extend::<16, true>)),
    row!(V7M, "1111 1010 0001 1111 1111 dddd 10rr mmmm", "uxth.w {a}, {c}{rotate}", Alu, far_extend, Never(0), one!(exec::extend::<16, false>)),
    row!(V7M, "1111 1010 0100 1111 1111 dddd 10rr mmmm", "sxtb.w {a}, {c}{rotate}", Alu, far_extend, Never(0), one!(exec::extend::<8, true>)),
    row!(V7M, "1111 1010 0101 1111 1111 dddd 10rr mmmm", "uxtb.w {a}, {c}{rotate}", Alu, far_extend, Never(0), one!(exec::extend::<8, false>)),
    row!(V7M, "1111 1010 1001 nnnn 1111 dddd 1000 mmmm", "rev.w {a}, {c}", Alu, far_twice, Never(0), one!(exec::rev)),
    row!(V7M, "1111 1010 1001 nnnn 1111 dddd 1001 mmmm", "rev16.w {a}, {c}", Alu, far_twice, Never(0), one!(exec::rev16)),
    row!(V7M, "1111 1010 1001 nnnn 1111 dddd 1010 mmmm", "rbit {a}, {c}", Alu, far_twice, Never(0), one!(exec::rbit)),
    row!(V7M, "1111 1010 1001 nnnn 1111 dddd 1011 mmmm", "revsh.w {a}, {c}", Alu, far_twice, Never(0), one!(exec::revsh)),
    row!(V7M, "1111 1010 1011 nnnn 1111 dddd 1000 mmmm", "clz {a}, {c}", Alu, far_twice, Never(0), one!(exec::clz)),
    row!(V7M, "1111 1011 0000 nnnn 1111 dddd 0000 mmmm", "mul.w {a}, {b}, {c}", Mul, far_three, Never(0), one!(exec::mul::<false>)),
    row!(V7M, "1111 1011 0000 nnnn rrrr dddd 0000 mmmm", "mla {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(exec::mla)),
    row!(V7M, "1111 1011 0000 nnnn rrrr dddd 0001 mmmm", "mls {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(exec::mls)),
    row!(V7M, "1111 1011 1000 nnnn dddd hhhh 0000 mmmm", "smull {a}, {d}, {b}, {c}", MulLong, far_long, Never(0), one!(exec::mul_long::<true, false>)),
    row!(V7M, "1111 1011 1010 nnnn dddd hhhh 0000 mmmm", "umull {a}, {d}, {b}, {c}", MulLong, far_long, Never(0), one!(exec::mul_long::<false, false>)),
    row!(V7M, "1111 1011 1100 nnnn dddd hhhh 0000 mmmm", "smlal {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(exec::mul_long::<true, true>)),
    row!(V7M, "1111 1011 1110 nnnn dddd hhhh 0000 mmmm", "umlal {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(exec::mul_long::<false, true>)),
    row!(V7M, "1111 1011 1001 nnnn 1111 dddd 1111 mmmm", "sdiv {a}, {b}, {c}", Div, far_three, Never(0), one!(exec::div::<true>)),
    row!(V7M, "1111 1011 1011 nnnn 1111 dddd 1111 mmmm", "udiv {a}, {b}, {c}", Div, far_three, Never(0), one!(exec::div::<false>)),
    // several registers
    row!(V7M, "1110 1000 10w1 nnnn 1l0i iiii iiii iiii", "ldmia.w {b}{wb}, {list}", LoadMultiplePc, far_several_pc_up, Never(0), last!(exec::load_multiple_pc::<false>)),
    row!(V7M, "1110 1001 00w1 nnnn 1l0i iiii iiii iiii", "ldmdb {b}{wb}, {list}", LoadMultiplePc, far_several_pc_up, Never(0), last!(exec::load_multiple_pc::<true>)),
    row!(V7M, "1110 1000 10w1 nnnn 0l0i iiii iiii iiii", "ldmia.w {b}{wb}, {list}", LoadMultiple, far_several, Never(0), one!(exec::load_multiple::<false>)),
    row!(V7M, "1110 1001 00w1 nnnn 0l0i iiii iiii iiii", "ldmdb {b}{wb}, {list}", LoadMultiple, far_several, Never(0), one!(exec::load_multiple::<true>)),
    row!(V7M, "1110 1000 10w0 nnnn 0l0i iiii iiii iiii", "stmia.w {b}{wb}, {list}", StoreMultiple, far_several, Never(0), one!(exec::store_multiple::<false>)),
    row!(V7M, "1110 1001 00w0 nnnn 0l0i iiii iiii iiii", "stmdb {b}{wb}, {list}", StoreMultiple, far_several, Never(0), one!(exec::store_multiple::<true>)),
    // pairs, exclusive access, table branches
    row!(V7M, "1110 1001 u101 1111 tttt rrrr iiii iiii", "ldrd {a}, {d}, [pc, {literal}]", LoadMultiple, dual_literal, Never(0), one!(exec::load_dual::<Literal>)),
    row!(V7M, "1110 1001 u101 nnnn tttt rrrr iiii iiii", "ldrd {a}, {d}, [{b}{off}]", LoadMultiple, dual_load, Never(0), one!(exec::load_dual::<Offset>)),
    row!(V7M, "1110 1001 u111 nnnn tttt rrrr iiii iiii", "ldrd {a}, {d}, [{b}, {signed}]!", LoadMultiple, dual_load_change, Never(0), one!(exec::load_dual::<Pre>)),
    row!(V7M, "1110 1000 u111 nnnn tttt rrrr iiii iiii", "ldrd {a}, {d}, [{b}], {signed}", LoadMultiple, dual_load_change, Never(0), one!(exec::load_dual::<Post>)),
    row!(V7M, "1110 1001 u100 nnnn tttt rrrr iiii iiii", "strd {a}, {d}, [{b}{off}]", StoreMultiple, dual_keep, Never(0), one!(exec::store_dual::<Offset>)),
    row!(V7M, "1110 1001 u110 nnnn tttt rrrr iiii iiii", "strd {a}, {d}, [{b}, {signed}]!", StoreMultiple, dual_change, Never(0), one!(exec::store_dual::<Pre>)),
    row!(V7M, "1110 1000 u110 nnnn tttt rrrr iiii iiii", "strd {a}, {d}, [{b}], {signed}", StoreMultiple, dual_change, Never(0), one!(exec::store_dual::<Post>)),
    row!(V7M, "1110 1000 0101 nnnn tttt 1111 iiii iiii", "ldrex {a}, [{b}{off}]", LoadExclusive, exclusive_load, Never(0), one!(exec::load_exclusive::<4>)),
    row!(V7M, "1110 1000 0100 nnnn tttt dddd iiii iiii", "strex {a}, {d}, [{b}{off}]", StoreExclusive, exclusive_store, Never(0), one!(exec::store_exclusive::<4>)),
    row!(V7M, "1110 1000 1101 nnnn tttt 1111 0100 1111", "ldrexb {a}, [{b}]", LoadExclusive, exclusive_load, Never(0), one!(exec::load_exclusive::<1>)),
    row!(V7M, "1110 1000 1101 nnnn tttt 1111 0101 1111", "ldrexh {a}, [{b}]", LoadExclusive, exclusive_load, Never(0), one!(exec::load_exclusive::<2>)),
    row!(V7M, "1110 1000 1100 nnnn tttt 1111 0100 dddd", "strexb {a}, {d}, [{b}]", StoreExclusive, exclusive_store, Never(0), one!(exec::store_exclusive::<1>)),
    row!(V7M, "1110 1000 1100 nnnn tttt 1111 0101 dddd", "strexh {a}, {d}, [{b}]", StoreExclusive, exclusive_store, Never(0), one!(exec::store_exclusive::<2>)),
    row!(V7M, "1110 1000 1101 nnnn 1111 0000 0000 mmmm", "tbb [{b}, {c}]", TableBranch, table_branch, Never(0), last!(exec::table_branch::<1>)),
    row!(V7M, "1110 1000 1101 nnnn 1111 0000 0001 mmmm", "tbh [{b}, {c}, lsl #1]", TableBranch, table_branch, Never(0), last!(exec::table_branch::<2>)),
    // branches and system
    row!(V6M, "1111 0sii iiii iiii 11k1 jiii iiii iiii", "bl {to}", Branch, far_branch, Never(0), last!(exec::branch_link)),
    row!(V7M, "1111 0sii iiii iiii 10k1 jiii iiii iiii", "b.w {to}", Branch, far_branch, Never(0), last!(exec::branch)),
    row!(V7M, "1111 0scc ccii iiii 10k0 jiii iiii iiii", "b{cond}.w {to}", BranchCond, far_branch_cond, Never(0), |o| [exec::branch_handler(o.c); 2]),
    row!(V6M, "1111 0011 1000 nnnn 1000 1000 iiii iiii", "msr {special}, {b}", System, special_write_v6, Always(NZCV), one!(exec::write_special)),
    row!(V7M, "1111 0011 1000 nnnn 1000 1000 iiii iiii", "msr {special}, {b}", System, special_write, Always(NZCV), one!(exec::write_special)),
    row!(DSP, "1111 0011 1000 nnnn 1000 g100 iiii iiii", "msr {special}, {b}", System, special_write_ge, Always(0), one!(exec::write_special), NZCV),
    row!(V6M, "1111 0011 1110 1111 1000 dddd iiii iiii", "mrs {a}, {special}", System, special_read_v6, Never(0), one!(exec::read_special), NZCV),
    row!(V7M, "1111 0011 1110 1111 1000 dddd iiii iiii", "mrs {a}, {special}", System, special_read, Never(0), one!(exec::read_special), NZCV),
    row!(V7M, "1111 0011 1010 1111 1000 0000 0000 0000", "nop.w", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1010 1111 1000 0000 0000 0001", "yield.w", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1010 1111 1000 0000 0000 0010", "wfe.w", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1010 1111 1000 0000 0000 0011", "wfi.w", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1010 1111 1000 0000 0000 0100", "sev.w", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1010 1111 1000 0000 1111 iiii", "dbg {imm}", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1010 1111 1000 0000 iiii iiii", "nop.w {hint}", Alu, number, Never(0), one!(exec::nop)),
    row!(V7M, "1111 0011 1011 1111 1000 1111 0010 1111", "clrex", Alu, number, Never(0), one!(exec::clear_exclusive)),
    row!(V6M, "1111 0011 1011 1111 1000 1111 0100 iiii", "dsb {barrier}", Barrier, number, Never(0), one!(exec::nop)),
    row!(V6M, "1111 0011 1011 1111 1000 1111 0101 iiii", "dmb {barrier}", Barrier, number, Never(0), one!(exec::nop)),
    row!(V6M, "1111 0011 1011 1111 1000 1111 0110 iiii", "isb {barrier}", Barrier, number, Never(0), one!(exec::nop)),
    row!(V6M, "1111 0111 1111 iiii 1010 iiii iiii iiii", "udf.w {udf}", Stop, encoding, Never(0), last!(exec::bad_opcode)),
    // hints and the program counter among loads
    row!(V7M, "1111 1000 u001 1111 1111 iiii iiii iiii", "pld [pc, {literal}]", Alu, preload_literal, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1000 1001 nnnn 1111 iiii iiii iiii", "pld [{b}{off}]", Alu, preload, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1000 0001 nnnn 1111 1100 iiii iiii", "pld [{b}, {negative}]", Alu, preload_negative, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1000 0001 nnnn 1111 0000 00ii mmmm", "pld [{b}, {c}{index}]", Alu, preload_index, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1001 u001 1111 1111 iiii iiii iiii", "pli [pc, {literal}]", Alu, preload_literal, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1001 1001 nnnn 1111 iiii iiii iiii", "pli [{b}{off}]", Alu, preload, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1001 0001 nnnn 1111 1100 iiii iiii", "pli [{b}, {negative}]", Alu, preload_negative, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1001 0001 nnnn 1111 0000 00ii mmmm", "pli [{b}, {c}{index}]", Alu, preload_index, Never(0), one!(exec::nop)),
    row!(V7M, "1111 1000 u101 1111 1111 iiii iiii iiii", "ldr.w pc, [pc, {literal}]", LoadPc, pc_literal, Never(0), last!(exec::load_pc::<Literal>)),
    row!(V7M, "1111 1000 1101 nnnn 1111 iiii iiii iiii", "ldr.w pc, [{b}{off}]", LoadPc, pc_offset, Never(0), last!(exec::load_pc::<Offset>)),
    row!(V7M, "1111 1000 0101 nnnn 1111 1100 iiii iiii", "ldr.w pc, [{b}, {negative}]", LoadPc, pc_negative, Never(0), last!(exec::load_pc::<Offset>)),
    row!(V7M, "1111 1000 0101 nnnn 1111 11u1 iiii iiii", "ldr.w pc, [{b}, {signed}]!", LoadPc, pc_change, Never(0), last!(exec::load_pc::<Pre>)),
    row!(V7M, "1111 1000 0101 nnnn 1111 10u1 iiii iiii", "ldr.w pc, [{b}], {signed}", LoadPc, pc_change, Never(0), last!(exec::load_pc::<Post>)),
    row!(V7M, "1111 1000 0101 nnnn 1111 0000 00ii mmmm", "ldr.w pc, [{b}, {c}{index}]", LoadPc, pc_index, Never(0), last!(exec::load_pc::<exec::Index>)),
];

/// As [`far_several_pc`], the link register not among the others.
fn far_several_pc_up(f: &Fields, pc: u32) -> Option<Operands> {
    if f.get('l') == 1 { None } else { far_several_pc(f, pc) }
}

/// ADR: both bits `u` are set where the offset is subtracted.
fn far_adr_add_or_sub(f: &Fields, pc: u32) -> Option<Operands> {
    let (d, i) = (f.get('d'), f.get('i'));
    let imm = match f.get('u') {
        0 => base_pc(pc).wrapping_add(i),
        3 => base_pc(pc).wrapping_sub(i),
        _ => return None,
    };
    general(&[d]).then(|| Operands { kind: Kind::Imm, ..places(d, 15, 0, imm) }.write(d))
}

/// The rows of a load: sign and size bits of the encoding.
#[rustfmt::skip] // one row, one line
macro_rules! load_rows {
    ($name:literal, $g:literal, $z:literal, $n:literal, $signed:literal, $word:literal) => {
        [
            row!(V7M, concat!("1111 100", $g, " u", $z, "1 1111 tttt iiii iiii iiii"), concat!($name, ".w {a}, [pc, {literal}]"), Load, far_literal::<$word>, Never(0), raw!(exec::load_seq::<Literal, $n, $signed>)),
            row!(V7M, concat!("1111 100", $g, " 1", $z, "1 nnnn tttt iiii iiii iiii"), concat!($name, ".w {a}, [{b}{off}]"), Load, far_offset::<$word>, Never(0), raw!(exec::load_seq::<Offset, $n, $signed>)),
            row!(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 1100 iiii iiii"), concat!($name, ".w {a}, [{b}, {negative}]"), Load, far_negative::<$word>, Never(0), raw!(exec::load_seq::<Offset, $n, $signed>)),
            row!(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 1110 iiii iiii"), concat!($name, "t {a}, [{b}{off}]"), Load, far_user, Never(0), raw!(exec::load_seq::<Offset, $n, $signed>)),
            row!(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 11u1 iiii iiii"), concat!($name, ".w {a}, [{b}, {signed}]!"), Load, far_change::<$word>, Never(0), raw!(exec::load_seq::<Pre, $n, $signed>)),
            row!(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 10u1 iiii iiii"), concat!($name, ".w {a}, [{b}], {signed}"), Load, far_change::<$word>, Never(0), raw!(exec::load_seq::<Post, $n, $signed>)),
            row!(V7M, concat!("1111 100", $g, " 0", $z, "1 nnnn tttt 0000 00ii mmmm"), concat!($name, ".w {a}, [{b}, {c}{index}]"), Load, far_index::<$word>, Never(0), indexed!(load_seq, $n, $signed)),
        ]
    };
}

/// The rows of a store.
#[rustfmt::skip] // one row, one line
macro_rules! store_rows {
    ($name:literal, $z:literal, $n:literal, $word:literal) => {
        [
            row!(V7M, concat!("1111 1000 1", $z, "0 nnnn tttt iiii iiii iiii"), concat!($name, ".w {a}, [{b}{off}]"), Store, far_offset::<$word>, Never(0), raw!(exec::store_seq::<Offset, $n>)),
            row!(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 1100 iiii iiii"), concat!($name, ".w {a}, [{b}, {negative}]"), Store, far_negative::<$word>, Never(0), raw!(exec::store_seq::<Offset, $n>)),
            row!(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 1110 iiii iiii"), concat!($name, "t {a}, [{b}{off}]"), Store, far_user, Never(0), raw!(exec::store_seq::<Offset, $n>)),
            row!(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 11u1 iiii iiii"), concat!($name, ".w {a}, [{b}, {signed}]!"), Store, far_change::<$word>, Never(0), raw!(exec::store_seq::<Pre, $n>)),
            row!(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 10u1 iiii iiii"), concat!($name, ".w {a}, [{b}], {signed}"), Store, far_change::<$word>, Never(0), raw!(exec::store_seq::<Post, $n>)),
            row!(V7M, concat!("1111 1000 0", $z, "0 nnnn tttt 0000 00ii mmmm"), concat!($name, ".w {a}, [{b}, {c}{index}]"), Store, far_index::<$word>, Never(0), indexed!(store_seq, $n)),
        ]
    };
}

static LDRB: [Row; 7] = load_rows!("ldrb", "0", "00", 1, false, false);
static LDRH: [Row; 7] = load_rows!("ldrh", "0", "01", 2, false, false);
static LDR: [Row; 7] = load_rows!("ldr", "0", "10", 4, false, true);
static LDRSB: [Row; 7] = load_rows!("ldrsb", "1", "00", 1, true, false);
static LDRSH: [Row; 7] = load_rows!("ldrsh", "1", "01", 2, true, false);
static STRB: [Row; 6] = store_rows!("strb", "00", 1, false);
static STRH: [Row; 6] = store_rows!("strh", "01", 2, false);
static STR: [Row; 6] = store_rows!("str", "10", 4, true);

/// PKHBT, PKHTB: shift by `i` of the type `y`.
fn pack(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n, m) = (f.get('d'), f.get('n'), f.get('m'));
    let (kind, amount) = shift(2 * f.get('y'), f.get('i'));
    general(&[d, n, m]).then(|| Operands { kind, d: amount, ..places(d, n, m, 0) }.write(d))
}

/// Extension with rotation `r` bytes and addition.
fn far_extend_add(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n, m) = (f.get('d'), f.get('n'), f.get('m'));
    general(&[d, n, m]).then(|| Operands { d: 8 * f.get('r') as u8, ..places(d, n, m, 0) }.write(d))
}

/// SSAT16 (`PLUS` 1) and USAT16 (`PLUS` 0) to `w` bits.
fn saturation16<const PLUS: u32>(f: &Fields, _: u32) -> Option<Operands> {
    let (d, n) = (f.get('d'), f.get('n'));
    general(&[d, n]).then(|| places(d, 0, n, f.get('w') + PLUS).write(d))
}

/// Handlers of PKHBT and PKHTB: the kind of the operand tells which.
fn pack_handlers(o: &Operands) -> Handlers {
    match o.kind {
        Kind::Lsl => [seq!(dsp::pack::<exec::Lsl, false>); 2],
        Kind::Asr => [seq!(dsp::pack::<exec::Asr, true>); 2],
        _ => [seq!(dsp::pack::<exec::Reg, false>); 2],
    }
}

/// Addition and subtraction on bytes and halfwords: prefix of the name, its bits, its number.
#[rustfmt::skip] // one row, one line
macro_rules! parallel_rows {
    ($name:literal, $bits:literal, $n:literal) => {
        [
            row!(DSP, concat!("1111 1010 1000 nnnn 1111 dddd 0", $bits, " mmmm"), concat!($name, "add8 {a}, {b}, {c}"), Alu, far_three, Never(0), one!(dsp::parallel::<0, $n>)),
            row!(DSP, concat!("1111 1010 1001 nnnn 1111 dddd 0", $bits, " mmmm"), concat!($name, "add16 {a}, {b}, {c}"), Alu, far_three, Never(0), one!(dsp::parallel::<1, $n>)),
            row!(DSP, concat!("1111 1010 1010 nnnn 1111 dddd 0", $bits, " mmmm"), concat!($name, "asx {a}, {b}, {c}"), Alu, far_three, Never(0), one!(dsp::parallel::<2, $n>)),
            row!(DSP, concat!("1111 1010 1100 nnnn 1111 dddd 0", $bits, " mmmm"), concat!($name, "sub8 {a}, {b}, {c}"), Alu, far_three, Never(0), one!(dsp::parallel::<4, $n>)),
            row!(DSP, concat!("1111 1010 1101 nnnn 1111 dddd 0", $bits, " mmmm"), concat!($name, "sub16 {a}, {b}, {c}"), Alu, far_three, Never(0), one!(dsp::parallel::<5, $n>)),
            row!(DSP, concat!("1111 1010 1110 nnnn 1111 dddd 0", $bits, " mmmm"), concat!($name, "sax {a}, {b}, {c}"), Alu, far_three, Never(0), one!(dsp::parallel::<6, $n>)),
        ]
    };
}

static PARALLEL_S: [Row; 6] = parallel_rows!("s", "000", 0);
static PARALLEL_Q: [Row; 6] = parallel_rows!("q", "001", 1);
static PARALLEL_SH: [Row; 6] = parallel_rows!("sh", "010", 2);
static PARALLEL_U: [Row; 6] = parallel_rows!("u", "100", 4);
static PARALLEL_UQ: [Row; 6] = parallel_rows!("uq", "101", 5);
static PARALLEL_UH: [Row; 6] = parallel_rows!("uh", "110", 6);

/// The other instructions of the DSP extension.
#[rustfmt::skip] // one row, one line
static DSP: &[Row] = &[
    row!(DSP, "1110 1010 1100 nnnn 0iii dddd iiy0 mmmm", "pkh{tb} {a}, {b}, {c}{shift}", Alu, pack, Never(0), pack_handlers),
    row!(DSP, "1111 0011 0010 nnnn 0000 dddd 0000 wwww", "ssat16 {a}, {imm}, {c}", Alu, saturation16::<1>, Never(0), one!(dsp::saturate16::<true>)),
    row!(DSP, "1111 0011 1010 nnnn 0000 dddd 0000 wwww", "usat16 {a}, {imm}, {c}", Alu, saturation16::<0>, Never(0), one!(dsp::saturate16::<false>)),
    row!(DSP, "1111 1010 0000 nnnn 1111 dddd 10rr mmmm", "sxtah {a}, {b}, {c}{rotate}", Alu, far_extend_add, Never(0), one!(dsp::extend_add::<16, true>)),
    row!(DSP, "1111 1010 0001 nnnn 1111 dddd 10rr mmmm", "uxtah {a}, {b}, {c}{rotate}", Alu, far_extend_add, Never(0), one!(dsp::extend_add::<16, false>)),
    row!(DSP, "1111 1010 0010 1111 1111 dddd 10rr mmmm", "sxtb16 {a}, {c}{rotate}", Alu, far_extend, Never(0), one!(dsp::extend16::<true, false>)),
    row!(DSP, "1111 1010 0011 1111 1111 dddd 10rr mmmm", "uxtb16 {a}, {c}{rotate}", Alu, far_extend, Never(0), one!(dsp::extend16::<false, false>)),
    row!(DSP, "1111 1010 0010 nnnn 1111 dddd 10rr mmmm", "sxtab16 {a}, {b}, {c}{rotate}", Alu, far_extend_add, Never(0), one!(dsp::extend16::<true, true>)),
    row!(DSP, "1111 1010 0011 nnnn 1111 dddd 10rr mmmm", "uxtab16 {a}, {b}, {c}{rotate}", Alu, far_extend_add, Never(0), one!(dsp::extend16::<false, true>)),
    row!(DSP, "1111 1010 0100 nnnn 1111 dddd 10rr mmmm", "sxtab {a}, {b}, {c}{rotate}", Alu, far_extend_add, Never(0), one!(dsp::extend_add::<8, true>)),
    row!(DSP, "1111 1010 0101 nnnn 1111 dddd 10rr mmmm", "uxtab {a}, {b}, {c}{rotate}", Alu, far_extend_add, Never(0), one!(dsp::extend_add::<8, false>)),
    row!(DSP, "1111 1010 1000 nnnn 1111 dddd 1000 mmmm", "qadd {a}, {c}, {b}", Alu, far_three, Never(0), one!(dsp::saturating::<false, false>)),
    row!(DSP, "1111 1010 1000 nnnn 1111 dddd 1001 mmmm", "qdadd {a}, {c}, {b}", Alu, far_three, Never(0), one!(dsp::saturating::<true, false>)),
    row!(DSP, "1111 1010 1000 nnnn 1111 dddd 1010 mmmm", "qsub {a}, {c}, {b}", Alu, far_three, Never(0), one!(dsp::saturating::<false, true>)),
    row!(DSP, "1111 1010 1000 nnnn 1111 dddd 1011 mmmm", "qdsub {a}, {c}, {b}", Alu, far_three, Never(0), one!(dsp::saturating::<true, true>)),
    row!(DSP, "1111 1010 1010 nnnn 1111 dddd 1000 mmmm", "sel {a}, {b}, {c}", Alu, far_three, Never(0), one!(dsp::select)),
    // multiplication; without an added register where its field is 15
    row!(DSP, "1111 1011 0001 nnnn 1111 dddd 0000 mmmm", "smulbb {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::halves::<false, false, false>)),
    row!(DSP, "1111 1011 0001 nnnn 1111 dddd 0001 mmmm", "smulbt {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::halves::<false, true, false>)),
    row!(DSP, "1111 1011 0001 nnnn 1111 dddd 0010 mmmm", "smultb {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::halves::<true, false, false>)),
    row!(DSP, "1111 1011 0001 nnnn 1111 dddd 0011 mmmm", "smultt {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::halves::<true, true, false>)),
    row!(DSP, "1111 1011 0001 nnnn rrrr dddd 0000 mmmm", "smlabb {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::halves::<false, false, true>)),
    row!(DSP, "1111 1011 0001 nnnn rrrr dddd 0001 mmmm", "smlabt {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::halves::<false, true, true>)),
    row!(DSP, "1111 1011 0001 nnnn rrrr dddd 0010 mmmm", "smlatb {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::halves::<true, false, true>)),
    row!(DSP, "1111 1011 0001 nnnn rrrr dddd 0011 mmmm", "smlatt {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::halves::<true, true, true>)),
    row!(DSP, "1111 1011 0010 nnnn 1111 dddd 0000 mmmm", "smuad {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::dual::<false, false, false>)),
    row!(DSP, "1111 1011 0010 nnnn 1111 dddd 0001 mmmm", "smuadx {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::dual::<false, true, false>)),
    row!(DSP, "1111 1011 0010 nnnn rrrr dddd 0000 mmmm", "smlad {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::dual::<false, false, true>)),
    row!(DSP, "1111 1011 0010 nnnn rrrr dddd 0001 mmmm", "smladx {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::dual::<false, true, true>)),
    row!(DSP, "1111 1011 0011 nnnn 1111 dddd 0000 mmmm", "smulwb {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::wide_half::<false, false>)),
    row!(DSP, "1111 1011 0011 nnnn 1111 dddd 0001 mmmm", "smulwt {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::wide_half::<true, false>)),
    row!(DSP, "1111 1011 0011 nnnn rrrr dddd 0000 mmmm", "smlawb {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::wide_half::<false, true>)),
    row!(DSP, "1111 1011 0011 nnnn rrrr dddd 0001 mmmm", "smlawt {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::wide_half::<true, true>)),
    row!(DSP, "1111 1011 0100 nnnn 1111 dddd 0000 mmmm", "smusd {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::dual::<true, false, false>)),
    row!(DSP, "1111 1011 0100 nnnn 1111 dddd 0001 mmmm", "smusdx {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::dual::<true, true, false>)),
    row!(DSP, "1111 1011 0100 nnnn rrrr dddd 0000 mmmm", "smlsd {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::dual::<true, false, true>)),
    row!(DSP, "1111 1011 0100 nnnn rrrr dddd 0001 mmmm", "smlsdx {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::dual::<true, true, true>)),
    row!(DSP, "1111 1011 0101 nnnn 1111 dddd 0000 mmmm", "smmul {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::high_word::<false, 0>)),
    row!(DSP, "1111 1011 0101 nnnn 1111 dddd 0001 mmmm", "smmulr {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::high_word::<true, 0>)),
    row!(DSP, "1111 1011 0101 nnnn rrrr dddd 0000 mmmm", "smmla {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::high_word::<false, 1>)),
    row!(DSP, "1111 1011 0101 nnnn rrrr dddd 0001 mmmm", "smmlar {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::high_word::<true, 1>)),
    row!(DSP, "1111 1011 0110 nnnn rrrr dddd 0000 mmmm", "smmls {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::high_word::<false, -1>)),
    row!(DSP, "1111 1011 0110 nnnn rrrr dddd 0001 mmmm", "smmlsr {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::high_word::<true, -1>)),
    row!(DSP, "1111 1011 0111 nnnn 1111 dddd 0000 mmmm", "usad8 {a}, {b}, {c}", Mul, far_three, Never(0), one!(dsp::differences::<false>)),
    row!(DSP, "1111 1011 0111 nnnn rrrr dddd 0000 mmmm", "usada8 {a}, {b}, {c}, {d}", MulAdd, far_three, Never(0), one!(dsp::differences::<true>)),
    row!(DSP, "1111 1011 1100 nnnn dddd hhhh 1000 mmmm", "smlalbb {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::halves_long::<false, false>)),
    row!(DSP, "1111 1011 1100 nnnn dddd hhhh 1001 mmmm", "smlalbt {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::halves_long::<false, true>)),
    row!(DSP, "1111 1011 1100 nnnn dddd hhhh 1010 mmmm", "smlaltb {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::halves_long::<true, false>)),
    row!(DSP, "1111 1011 1100 nnnn dddd hhhh 1011 mmmm", "smlaltt {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::halves_long::<true, true>)),
    row!(DSP, "1111 1011 1100 nnnn dddd hhhh 1100 mmmm", "smlald {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::dual_long::<false, false>)),
    row!(DSP, "1111 1011 1100 nnnn dddd hhhh 1101 mmmm", "smlaldx {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::dual_long::<false, true>)),
    row!(DSP, "1111 1011 1101 nnnn dddd hhhh 1100 mmmm", "smlsld {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::dual_long::<true, false>)),
    row!(DSP, "1111 1011 1101 nnnn dddd hhhh 1101 mmmm", "smlsldx {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::dual_long::<true, true>)),
    row!(DSP, "1111 1011 1110 nnnn dddd hhhh 0110 mmmm", "umaal {a}, {d}, {b}, {c}", MulLongAdd, far_long, Never(0), one!(dsp::accumulate_twice)),
];

/// All 32-bit rows in the order in which they are tried.
static WIDE: &[&[Row]] = &[
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
    DSP,
];

/// The encodings of all rows that a core with `features` has, for generators of test programs.
pub fn patterns(features: Features) -> impl Iterator<Item = Pattern> {
    let rows = NARROW.iter().chain(WIDE.iter().copied().flatten());
    rows.filter(move |r| features.has(r.part)).map(|r| r.pattern)
}

/// The row and operands of an encoding of `bits` bits at `pc`.
pub(crate) fn find(features: Features, word: u32, bits: u32, pc: u32) -> Option<(&'static Row, Operands)> {
    let fits = |r: &&Row| r.pattern.bits == bits && r.pattern.matches(word) && features.has(r.part);
    let take = |r: &'static Row| (r.map)(&r.pattern.fields(word), pc).map(|o| (r, o));
    if bits == 16 {
        NARROW.iter().filter(fits).find_map(take)
    } else {
        WIDE.iter().copied().flatten().filter(fits).find_map(take)
    }
}
