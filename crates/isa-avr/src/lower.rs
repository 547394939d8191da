//! Lowers instructions to operations for the translator. Those left to handlers say why.

mod alu;
mod data;

use std::mem::offset_of;

use isa::Insn;
use isa::native::{ByHandler, Emit, Layout, Lower, Op as Do, Slot, Slots, Test};

use crate::op::{Flag, Op, Pointer, Skip, Wide};
use crate::spans::Spans;
use crate::state::Avr;
use crate::step::Flow;

// slots after r0 to r31: the parts of SREG in the order of its bits, then the core's other state
const C: usize = 32;
const Z: usize = 33;
const N: usize = 34;
const V: usize = 35;
const S: usize = 36;
const H: usize = 37;
const T: usize = 38;
const I: usize = 39;
const SP: usize = 40;
const RAMPZ: usize = 41;
const ALLOWED: usize = 42;

/// Why an operation is always left to its handler, if it is.
pub(crate) fn by_handler(op: Op) -> Option<&'static str> {
    match op {
        Op::Cbi | Op::Sbi | Op::SkipIo(_) => Some("a peripheral's"),
        Op::Spm | Op::Sleep | Op::Break | Op::Undefined | Op::Truncated => Some("ends the program"),
        Op::Binary(..) | Op::Unary(_) | Op::Wide(_) | Op::Multiply(_) | Op::Mov | Op::Movw | Op::Ldi => None,
        Op::Bst | Op::Bld | Op::Load(..) | Op::Store(..) | Op::Lds | Op::Sts | Op::Push | Op::Pop => None,
        Op::Lpm(_) | Op::Elpm(_) | Op::In | Op::Out | Op::Skip(_) | Op::Set(_) | Op::Clear(_) | Op::Nop => None,
        Op::Rjmp | Op::Rcall | Op::Jmp | Op::Call | Op::Ijmp | Op::Icall | Op::Ret | Op::Reti => None,
        Op::BranchSet(_) | Op::BranchClear(_) | Op::Seam => None,
    }
}

impl Lower for Avr {
    fn layout() -> Layout {
        let slot = |offset, bits| Slot { offset, bits };
        let mut slots: Vec<_> = (0..32).map(|n| slot(offset_of!(Self, r) + n, 8)).collect();
        slots.extend([
            slot(offset_of!(Self, sreg.c), 8),
            slot(offset_of!(Self, sreg.z), 8),
            slot(offset_of!(Self, sreg.n), 8),
            slot(offset_of!(Self, sreg.v), 8),
            slot(offset_of!(Self, sreg.s), 8),
            slot(offset_of!(Self, sreg.h), 8),
            slot(offset_of!(Self, sreg.t), 8),
            slot(offset_of!(Self, sreg.i), 8),
            slot(offset_of!(Self, sp), 16),
            slot(offset_of!(Self, rampz), 8),
            slot(offset_of!(Self, sreg.allowed), 8),
        ]);
        Layout { slots, pc: offset_of!(Self, pc), by_block: true, unaligned: true, ..Layout::default() }
    }

    fn lower<E: Emit>(&self, _: u32, insns: &[Insn<Self>], _: usize, e: &mut E) {
        let ops: Vec<_> = insns.iter().map(|i| self.op(i)).collect();
        let spans = Spans::new(self, insns, &ops);
        let open = vec![None; spans.spans.len()];
        let mut run = Lowering { core: self, e, pairs: [None; 16], stack: None, spans, open };
        // whether the last instruction was a skip, and the one before it
        let mut skips = (false, false);
        for (k, i) in insns.iter().enumerate() {
            run.e.start(k);
            if skips.1 {
                run.forget(); // known values hold on one path only
            }
            skips = (false, skips.0);
            // peripherals need the stack pointer
            let by = ByHandler { at: k, reads: Slots::default().with(SP), writes: Slots::default(), ends: false };
            run.one(ops[k], i, by);
            skips.0 = ops[k].flow() == Flow::Skip;
        }
    }
}

/// A word of 16 bits: a value and a number that is added to it.
type Word<V> = (V, u16);

struct Lowering<'c, 'e, E: Emit> {
    core: &'c Avr,
    e: &'e mut E,
    /// Pairs of registers as words, where they are known.
    pairs: [Option<Word<E::V>>; 16],
    /// The stack pointer, likewise.
    stack: Option<Word<E::V>>,
    spans: Spans,
    /// Spans that have begun.
    open: Vec<Option<E::Span>>,
}

impl<E: Emit> Lowering<'_, '_, E> {
    fn byte(&mut self, v: u8) -> E::V {
        self.e.int(8, v.into())
    }

    /// An operation with a constant of the same width.
    fn with(&mut self, op: Do, x: E::V, bits: u32, n: u32) -> E::V {
        let n = self.e.int(bits, n.into());
        self.e.op(op, x, n)
    }

    fn reg(&mut self, n: u8) -> E::V {
        self.e.get(n.into())
    }

    fn set(&mut self, n: u8, v: E::V) {
        self.pairs[usize::from(n / 2)] = None;
        self.e.set(n.into(), v);
    }

    /// Nothing is known of pointers.
    fn forget(&mut self) {
        (self.pairs, self.stack) = ([None; 16], None);
    }

    /// A 16-bit value as an address.
    fn address(&mut self, word: E::V) -> E::V {
        self.e.widen(word, 32, false)
    }

    /// A word address as a byte address.
    fn code_address(&mut self, word: E::V) -> E::V {
        let wide = self.address(word);
        self.with(Do::Shl, wide, 32, 1)
    }

    fn one(&mut self, op: Op, i: &Insn<Avr>, by: ByHandler) {
        let a = i.a;
        match op {
            Op::Binary(op, with) => self.binary(op, with, i),
            Op::Unary(op) => self.unary(op, a),
            Op::Wide(op) => self.add_word(
                match op {
                    Wide::Adiw => Do::Add,
                    Wide::Sbiw => Do::Sub,
                },
                i,
            ),
            Op::Multiply(op) => self.product(op, i),
            Op::Mov => {
                let v = self.reg(i.b);
                self.set(a, v);
            }
            Op::Movw => match self.pairs[usize::from(i.b / 2)] {
                Some(word) => self.set_word(a, word),
                None => {
                    for n in 0..2 {
                        let v = self.reg(i.b + n);
                        self.set(a + n, v);
                    }
                }
            },
            Op::Ldi => {
                let v = self.byte(i.imm as u8);
                self.set(a, v);
            }
            Op::Bst => {
                let d = self.reg(a);
                let bit = self.with(Do::Shr, d, 8, (i.b & 7).into());
                let bit = self.with(Do::And, bit, 8, 1);
                self.e.set(T, bit);
            }
            Op::Bld => {
                let (d, t) = (self.reg(a), self.e.get(T));
                let (kept, bit) =
                    (self.with(Do::And, d, 8, !(1 << (i.b & 7)) & 0xFF), self.with(Do::Shl, t, 8, (i.b & 7).into()));
                let res = self.e.op(Do::Or, kept, bit);
                self.set(a, res);
            }
            Op::Load(to, change) => self.indirect((to, change), i, false, by),
            Op::Store(to, change) => self.indirect((to, change), i, true, by),
            Op::Lds | Op::In => self.direct(i, false, by),
            Op::Sts | Op::Out => self.direct(i, true, by),
            Op::Lpm(change) => self.program(false, change, i, by),
            Op::Elpm(change) => self.program(true, change, i, by),
            Op::Push => {
                let v = self.reg(a);
                self.push(v, 1, by);
            }
            Op::Pop => {
                let v = self.pop(1, by);
                self.loaded(a, v, None);
            }
            Op::Ijmp => {
                let z = self.pair(Pointer::Z.low());
                let to = self.code_address(z);
                self.e.jump_to(to);
            }
            Op::Rjmp | Op::Jmp | Op::Seam => self.e.jump(i.imm),
            Op::Icall => {
                self.push_return(i, 1, by);
                let z = self.pair(Pointer::Z.low());
                let to = self.code_address(z);
                self.e.jump_to(to);
            }
            Op::Rcall => {
                self.push_return(i, 1, by);
                self.e.jump(i.imm);
            }
            Op::Call => {
                self.push_return(i, 2, by);
                self.e.jump(i.imm);
            }
            Op::Ret => self.back(by),
            Op::Reti => self.back_on(by),
            Op::BranchSet(flag) => self.branch(flag, true, i),
            Op::BranchClear(flag) => self.branch(flag, false, i),
            Op::Set(flag) => self.put(flag, true),
            Op::Clear(flag) => self.put(flag, false),
            Op::Skip(op) => self.skip(op, i, by.at),
            Op::SkipIo(_) => self.e.skip_by_handler(by, by.at + 2),
            Op::Cbi | Op::Sbi => self.e.handler(by),
            Op::Nop => {}
            Op::Spm | Op::Sleep | Op::Break | Op::Undefined | Op::Truncated => {
                self.e.handler(ByHandler { ends: true, ..by });
            }
        }
    }

    /// The address that a call pushed.
    fn popped(&mut self, by: ByHandler) -> Option<E::V> {
        let back = self.pop(2, by)?;
        let back = self.with(Do::Rotr, back, 16, 8);
        Some(self.code_address(back))
    }

    fn back(&mut self, by: ByHandler) {
        if let Some(to) = self.popped(by) {
            self.e.jump_to(to);
        }
    }

    /// RETI.
    fn back_on(&mut self, by: ByHandler) {
        if let Some(to) = self.popped(by) {
            self.put(Flag::I, true);
            self.e.jump_to(to);
        }
    }

    fn skip(&mut self, op: Skip, i: &Insn<Avr>, at: usize) {
        let d = self.reg(i.a);
        let (test, x, y) = match op {
            Skip::Cpse => (Test::Ne, d, self.reg(i.b)),
            Skip::Sbrc => (Test::Ne, self.with(Do::And, d, 8, 1 << (i.b & 7)), self.byte(0)),
            Skip::Sbrs => (Test::Eq, self.with(Do::And, d, 8, 1 << (i.b & 7)), self.byte(0)),
        };
        let goes_on = self.e.test(test, x, y);
        self.e.skip_unless(goes_on, at + 2, i32::from(i.refund) - i32::from(i.taken));
    }
}

/// A word.
fn sum<E: Emit>(e: &mut E, (value, plus): Word<E::V>) -> E::V {
    if plus == 0 {
        return value;
    }
    let plus = e.int(16, plus.into());
    e.op(Do::Add, value, plus)
}

/// The high byte of a word.
fn high<E: Emit>(e: &mut E, word: E::V) -> E::V {
    let eight = e.int(16, 8);
    let high = e.op(Do::Shr, word, eight);
    e.narrow(high, 8)
}
