//! The instruction set as one list: encoding, text, timing class, flow and meaning of each row.
//!
//! Encodings and operations are those of the MSP430x1xx Family User's Guide (SLAU049F), chapter 3.
//! Emulated instructions (RET, POP, CLR, ...) are core instructions with certain operands and have no
//! rows. [`find`] is the only way in.

use std::sync::LazyLock;

use isa::{Exec, Pattern, Template, next};

use crate::Msp430;
use crate::exec::{self, Form, I, Op, Place, Unary};
use crate::status::{ALL, C, N, V, Z};

/// What a timing model distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Format I: two operands.
    Two,
    /// Format II, back to where the operand came from: RRC, RRA, SWPB, SXT.
    One,
    /// PUSH.
    Push,
    /// CALL.
    Call,
    /// RETI.
    Return,
    /// Format III: jumps, whether taken or not.
    Jump,
    /// No instruction: a run falls through here, at no cost.
    Seam,
}

/// Where control goes behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next one, unless it writes the program counter.
    Next,
    /// To the next one or to its target.
    Branch,
    /// Anywhere else.
    End,
}

/// Picks the handler for a form when the flags in the last argument can still be read behind it.
type Pick = fn(Form, u16) -> Exec<Msp430>;

/// One instruction.
pub struct Row {
    /// Encoding. Fields: `s` source register, `t` its mode, `d` destination register, `a` its mode,
    /// `b` set for bytes, `k` jump distance.
    pub pattern: Pattern,
    /// Assembly text; places are `b` (suffix for bytes), `src`, `dst` and `to`.
    pub text: Template,
    /// Timing class.
    pub class: Class,
    pub(crate) flow: Flow,
    /// Flags that it reads.
    pub(crate) reads: u16,
    /// Flags that it sets whenever it is executed.
    pub(crate) sets: u16,
    pub(crate) exec: Pick,
    /// The same for an instruction that writes the program counter.
    pub(crate) leave: Pick,
}

impl Row {
    /// The mnemonic alone.
    pub fn name(&self) -> &'static str {
        self.text.0.split(['{', ' ']).next().unwrap_or(self.text.0)
    }
}

// --- handlers ---

/// The operand's place as a constant argument.
const fn place(n: u8) -> Place {
    match n {
        0 => Place::Reg,
        1 => Place::Imm,
        2 => Place::Abs,
        3 => Place::Idx,
        4 => Place::Inc,
        _ => Place::Special,
    }
}

const REG: u8 = Place::Reg as u8;
const IMM: u8 = Place::Imm as u8;
const ABS: u8 = Place::Abs as u8;
const IDX: u8 = Place::Idx as u8;
const INC: u8 = Place::Inc as u8;

unsafe fn two<O: Op, const S: u8, const D: u8, const B: bool, const F: u16>(cpu: &mut Msp430, i: *const I) {
    let form = Form { byte: B, src: place(S), dst: place(D) };
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        match exec::two::<O>(cpu, &*i, form, F, false) {
            Some(()) => next(cpu, i),
            None => two_slow::<O>(cpu, i),
        }
    }
}

#[inline(never)]
unsafe fn two_slow<O: Op>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: as above.
    unsafe {
        let _ = exec::two::<O>(cpu, &*i, Form::of(&*i), ALL, true);
        next(cpu, i);
    }
}

unsafe fn two_leave<O: Op>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    let _ = exec::two::<O>(cpu, i, Form::of(i), ALL, true);
}

fn pick_two<O: Op>(form: Form, live: u16) -> Exec<Msp430> {
    match live & O::SETS {
        0 => pick_size::<O, 0>(form),
        C => pick_size::<O, C>(form),
        _ => pick_size::<O, ALL>(form),
    }
}

fn pick_size<O: Op, const F: u16>(form: Form) -> Exec<Msp430> {
    if form.byte { pick_places::<O, true, F>(form) } else { pick_places::<O, false, F>(form) }
}

fn pick_places<O: Op, const B: bool, const F: u16>(form: Form) -> Exec<Msp430> {
    use Place::{Abs, Idx, Imm, Inc, Reg};
    match (form.src, form.dst) {
        (Reg, Reg) => two::<O, REG, REG, B, F>,
        (Imm, Reg) => two::<O, IMM, REG, B, F>,
        (Abs, Reg) => two::<O, ABS, REG, B, F>,
        (Idx, Reg) => two::<O, IDX, REG, B, F>,
        (Inc, Reg) => two::<O, INC, REG, B, F>,
        (Reg, Abs) => two::<O, REG, ABS, B, F>,
        (Imm, Abs) => two::<O, IMM, ABS, B, F>,
        (Abs, Abs) => two::<O, ABS, ABS, B, F>,
        (Idx, Abs) => two::<O, IDX, ABS, B, F>,
        (Inc, Abs) => two::<O, INC, ABS, B, F>,
        (Reg, Idx) => two::<O, REG, IDX, B, F>,
        (Imm, Idx) => two::<O, IMM, IDX, B, F>,
        (Abs, Idx) => two::<O, ABS, IDX, B, F>,
        (Idx, Idx) => two::<O, IDX, IDX, B, F>,
        (Inc, Idx) => two::<O, INC, IDX, B, F>,
        _ => two_slow::<O>,
    }
}

fn leave_two<O: Op>(_: Form, _: u16) -> Exec<Msp430> {
    two_leave::<O>
}

/// MOV to the program counter: BR and, from the stack, RET.
unsafe fn branch_to<const S: u8>(cpu: &mut Msp430, i: *const I) {
    let form = Form { byte: false, src: place(S), dst: Place::Special };
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    if exec::branch(cpu, i, form, false).is_none() {
        let _ = exec::branch(cpu, i, form, true);
    }
}

fn leave_mov(form: Form, _: u16) -> Exec<Msp430> {
    match (form.byte, form.src) {
        (false, Place::Imm) => branch_to::<IMM>,
        (false, Place::Inc) => branch_to::<INC>,
        _ => two_leave::<exec::Mov>,
    }
}

unsafe fn one<O: Unary, const S: u8, const B: bool, const F: u16>(cpu: &mut Msp430, i: *const I) {
    let form = Form { byte: B, src: place(S), dst: Place::Reg };
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        match exec::one::<O>(cpu, &*i, form, F, false) {
            Some(()) => next(cpu, i),
            None => one_slow::<O>(cpu, i),
        }
    }
}

#[inline(never)]
unsafe fn one_slow<O: Unary>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: as above.
    unsafe {
        let _ = exec::one::<O>(cpu, &*i, Form::of(&*i), ALL, true);
        next(cpu, i);
    }
}

unsafe fn one_leave<O: Unary>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    let _ = exec::one::<O>(cpu, i, Form::of(i), ALL, true);
}

fn pick_one<O: Unary>(form: Form, live: u16) -> Exec<Msp430> {
    fn sized<O: Unary, const F: u16>(form: Form) -> Exec<Msp430> {
        match (form.byte, form.src) {
            (false, Place::Reg) => one::<O, REG, false, F>,
            (true, Place::Reg) => one::<O, REG, true, F>,
            (false, Place::Idx) => one::<O, IDX, false, F>,
            (true, Place::Idx) => one::<O, IDX, true, F>,
            (false, Place::Abs) => one::<O, ABS, false, F>,
            _ => one_slow::<O>,
        }
    }
    match live & O::SETS {
        0 => sized::<O, 0>(form),
        C => sized::<O, C>(form),
        _ => sized::<O, ALL>(form),
    }
}

fn leave_one<O: Unary>(_: Form, _: u16) -> Exec<Msp430> {
    one_leave::<O>
}

unsafe fn push<const S: u8>(cpu: &mut Msp430, i: *const I) {
    let form = Form { byte: false, src: place(S), dst: Place::Reg };
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        match exec::push(cpu, &*i, form, false) {
            Some(()) => next(cpu, i),
            None => push_slow(cpu, i),
        }
    }
}

#[inline(never)]
unsafe fn push_slow(cpu: &mut Msp430, i: *const I) {
    // SAFETY: as above.
    unsafe {
        let _ = exec::push(cpu, &*i, Form::of(&*i), true);
        next(cpu, i);
    }
}

fn pick_push(form: Form, _: u16) -> Exec<Msp430> {
    match (form.byte, form.src) {
        (false, Place::Reg) => push::<REG>,
        (false, Place::Idx) => push::<IDX>,
        _ => push_slow,
    }
}

unsafe fn call<const S: u8>(cpu: &mut Msp430, i: *const I) {
    let form = Form { byte: false, src: place(S), dst: Place::Reg };
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    if exec::call(cpu, i, form, false).is_none() {
        call_slow(cpu, i);
    }
}

#[inline(never)]
fn call_slow(cpu: &mut Msp430, i: &I) {
    let _ = exec::call(cpu, i, Form::of(i), true);
}

unsafe fn call_any(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    call_slow(cpu, unsafe { &*i });
}

fn pick_call(form: Form, _: u16) -> Exec<Msp430> {
    match form.src {
        Place::Imm => call::<IMM>,
        Place::Reg => call::<REG>,
        _ => call_any,
    }
}

unsafe fn conditional<const K: usize>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        let insn = &*i;
        if exec::CONDITIONS[K](cpu.status) {
            cpu.mem.stall += i64::from(insn.taken) - i64::from(insn.refund);
            exec::jump(cpu, insn);
        } else {
            next(cpu, i);
        }
    }
}

/// A handler that ends the run.
macro_rules! leave {
    ($f:ident) => {{
        unsafe fn run(cpu: &mut Msp430, i: *const I) {
            // SAFETY: `i` points to an instruction (contract of `Exec`).
            exec::$f(cpu, unsafe { &*i });
        }
        run as Exec<Msp430>
    }};
}

/// A handler that goes on.
macro_rules! plain {
    ($f:ident) => {{
        unsafe fn run(cpu: &mut Msp430, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                exec::$f(cpu, &*i);
                next(cpu, i);
            }
        }
        run as Exec<Msp430>
    }};
}

/// The handler of a run's end: the program counter becomes `imm`.
pub(crate) fn seam() -> Exec<Msp430> {
    leave!(jump)
}

/// The handler of a word that is no instruction.
pub(crate) fn undefined() -> Exec<Msp430> {
    leave!(undefined)
}

/// The handler of an instruction that flash ends in.
pub(crate) fn truncated() -> Exec<Msp430> {
    leave!(truncated)
}

/// The handler of an instruction that an erratum forbids.
pub(crate) fn forbidden() -> Exec<Msp430> {
    leave!(forbidden)
}

/// The handlers of CLRC and SETC.
pub(crate) fn change_carry(to: bool) -> Exec<Msp430> {
    if to { plain!(set_carry) } else { plain!(clear_carry) }
}

// --- rows ---

const fn format1<O: Op>(pattern: &'static str, text: &'static str, leave: Pick) -> Row {
    Row {
        pattern: Pattern::new(pattern),
        text: Template(text),
        class: Class::Two,
        flow: Flow::Next,
        reads: O::USES,
        sets: O::SETS,
        exec: pick_two::<O>,
        leave,
    }
}

const fn format2<O: Unary>(pattern: &'static str, text: &'static str) -> Row {
    Row {
        pattern: Pattern::new(pattern),
        text: Template(text),
        class: Class::One,
        flow: Flow::Next,
        reads: O::USES,
        sets: O::SETS,
        exec: pick_one::<O>,
        leave: leave_one::<O>,
    }
}

const fn control(pattern: &'static str, text: &'static str, class: Class, flow: Flow, reads: u16, exec: Pick) -> Row {
    Row { pattern: Pattern::new(pattern), text: Template(text), class, flow, reads, sets: 0, exec, leave: exec }
}

/// Every instruction.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    // format I
    format1::<exec::Mov> ("0100 ssss abtt dddd", "mov{b} {src}, {dst}",  leave_mov),
    format1::<exec::Add> ("0101 ssss abtt dddd", "add{b} {src}, {dst}",  leave_two::<exec::Add>),
    format1::<exec::Addc>("0110 ssss abtt dddd", "addc{b} {src}, {dst}", leave_two::<exec::Addc>),
    format1::<exec::Subc>("0111 ssss abtt dddd", "subc{b} {src}, {dst}", leave_two::<exec::Subc>),
    format1::<exec::Sub> ("1000 ssss abtt dddd", "sub{b} {src}, {dst}",  leave_two::<exec::Sub>),
    format1::<exec::Cmp> ("1001 ssss abtt dddd", "cmp{b} {src}, {dst}",  leave_two::<exec::Cmp>),
    format1::<exec::Dadd>("1010 ssss abtt dddd", "dadd{b} {src}, {dst}", leave_two::<exec::Dadd>),
    format1::<exec::Bit> ("1011 ssss abtt dddd", "bit{b} {src}, {dst}",  leave_two::<exec::Bit>),
    format1::<exec::Bic> ("1100 ssss abtt dddd", "bic{b} {src}, {dst}",  leave_two::<exec::Bic>),
    format1::<exec::Bis> ("1101 ssss abtt dddd", "bis{b} {src}, {dst}",  leave_two::<exec::Bis>),
    format1::<exec::Xor> ("1110 ssss abtt dddd", "xor{b} {src}, {dst}",  leave_two::<exec::Xor>),
    format1::<exec::And> ("1111 ssss abtt dddd", "and{b} {src}, {dst}",  leave_two::<exec::And>),
    // format II
    format2::<exec::Rrc> ("0001 0000 0btt ssss", "rrc{b} {src}"),
    format2::<exec::Swpb>("0001 0000 10tt ssss", "swpb {src}"),
    format2::<exec::Rra> ("0001 0001 0btt ssss", "rra{b} {src}"),
    format2::<exec::Sxt> ("0001 0001 10tt ssss", "sxt {src}"),
    control("0001 0010 0btt ssss", "push{b} {src}", Class::Push,   Flow::Next, 0, pick_push),
    control("0001 0010 10tt ssss", "call {src}",    Class::Call,   Flow::End,  0, pick_call),
    control("0001 0011 0000 0000", "reti",          Class::Return, Flow::End,  0, |_, _| leave!(reti)),
    // format III
    control("0010 00kk kkkk kkkk", "jne {to}", Class::Jump, Flow::Branch, Z,     |_, _| conditional::<0>),
    control("0010 01kk kkkk kkkk", "jeq {to}", Class::Jump, Flow::Branch, Z,     |_, _| conditional::<1>),
    control("0010 10kk kkkk kkkk", "jnc {to}", Class::Jump, Flow::Branch, C,     |_, _| conditional::<2>),
    control("0010 11kk kkkk kkkk", "jc {to}",  Class::Jump, Flow::Branch, C,     |_, _| conditional::<3>),
    control("0011 00kk kkkk kkkk", "jn {to}",  Class::Jump, Flow::Branch, N,     |_, _| conditional::<4>),
    control("0011 01kk kkkk kkkk", "jge {to}", Class::Jump, Flow::Branch, N | V, |_, _| conditional::<5>),
    control("0011 10kk kkkk kkkk", "jl {to}",  Class::Jump, Flow::Branch, N | V, |_, _| conditional::<6>),
    control("0011 11kk kkkk kkkk", "jmp {to}", Class::Jump, Flow::End,    0,     |_, _| leave!(jump)),
];

/// Row number plus one for each word, 0 where there is none.
static INDEX: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let row = |word: u16| TABLE.iter().position(|r| r.pattern.matches(word.into()));
    (0..=u16::MAX).map(|w| row(w).map_or(0, |n| n as u8 + 1)).collect()
});

/// The instruction whose first word is `word`.
pub fn find(word: u16) -> Option<&'static Row> {
    TABLE.get(usize::from(INDEX[usize::from(word)]).wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::{TABLE, find};

    #[test]
    fn a_word_has_at_most_one_row() {
        let mut undefined = 0;
        for word in 0..=0xFFFFu16 {
            let rows: Vec<_> = TABLE.iter().filter(|r| r.pattern.matches(word.into())).collect();
            assert!(rows.len() <= 1, "{word:#06x}: {:?}", rows.iter().map(|r| r.name()).collect::<Vec<_>>());
            assert_eq!(rows.first().map(|r| r.name()), find(word).map(|r| r.name()), "{word:#06x}");
            undefined += usize::from(rows.is_empty());
        }
        // 0x0000 .. 0x0fff and 0x1400 .. 0x1fff, byte forms of SWPB, SXT and CALL, all but one of 0x1300 .. 0x13ff
        assert_eq!((TABLE.len(), undefined), (27, 0x1000 + 0xC00 + 3 * 0x40 + 0xFF));
    }
}
