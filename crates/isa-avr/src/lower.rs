//! Operations for the translator to native code. What is by handler says why.

use std::mem::offset_of;

use isa::Insn;
use isa::native::{ByHandler, Emit, Layout, Lower, Op as Do, Slot, Slots, Test};

use crate::op::{Binary, Change, Flag, Multiply, Op, Pointer, Skip, Unary, Wide, With};
use crate::spans::{self, Access, Span, Spans};
use crate::state::{self, Avr};
use crate::step::Flow;

// slots after r0 to r31: the parts of SREG in the order of its bits, then what the core has besides
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
const HALF: usize = 42;

/// Why an operation is always done by its handler, if it is.
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
            slot(offset_of!(Self, half), 32),
        ]);
        Layout { slots, pc: offset_of!(Self, pc), by_block: true, unaligned: true, ..Layout::default() }
    }

    fn lower<E: Emit>(&self, _: u32, insns: &[Insn<Self>], e: &mut E) {
        let ops: Vec<_> = insns.iter().map(|i| self.op(i)).collect();
        let spans = Spans::new(self, insns, &ops);
        let open = vec![None; spans.spans.len()];
        let mut run = Lowering { core: self, e, pairs: [None; 16], stack: None, spans, open };
        // whether the last instruction was a skip, and the one before it
        let mut skips = (false, false);
        for (k, i) in insns.iter().enumerate() {
            run.e.start(k);
            if skips.1 {
                run.forget(); // what is known is known on one way only
            }
            skips = (false, skips.0);
            // peripherals are told the stack pointer
            let by = ByHandler { at: k, reads: Slots::default().with(SP), writes: Slots::default(), ends: false };
            run.one(ops[k], i, by);
            skips.0 = ops[k].flow() == Flow::Skip;
        }
    }
}

/// A word of 16 bits: a value and what is added to it.
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

    /// A pair of registers.
    fn word(&mut self, low: u8) -> Word<E::V> {
        if let Some(known) = self.pairs[usize::from(low / 2)] {
            return known;
        }
        let (low_byte, high) = (self.reg(low), self.reg(low + 1));
        let (low_byte, high) = (self.e.widen(low_byte, 16, false), self.e.widen(high, 16, false));
        let high = self.with(Do::Shl, high, 16, 8);
        let word = (self.e.op(Do::Or, low_byte, high), 0);
        self.pairs[usize::from(low / 2)] = Some(word);
        word
    }

    fn pair(&mut self, low: u8) -> E::V {
        let word = self.word(low);
        let word = sum(self.e, word);
        self.pairs[usize::from(low / 2)] = Some((word, 0));
        word
    }

    fn set_word(&mut self, low: u8, word: Word<E::V>) {
        self.e.later(low.into(), move |e| {
            let word = sum(e, word);
            e.narrow(word, 8)
        });
        self.e.later(usize::from(low) + 1, move |e| {
            let word = sum(e, word);
            high(e, word)
        });
        self.pairs[usize::from(low / 2)] = Some(word);
    }

    fn set_pair(&mut self, low: u8, word: E::V) {
        self.set_word(low, (word, 0));
    }

    /// The stack pointer.
    fn sp(&mut self) -> Word<E::V> {
        *self.stack.get_or_insert_with(|| (self.e.get(SP), 0))
    }

    fn set_sp(&mut self, word: Word<E::V>) {
        self.e.later(SP, move |e| sum(e, word));
        self.stack = Some(word);
    }

    /// Where in a span the instruction reads or writes, which begins here if that is the first time; `pointer` is
    /// what it goes through.
    fn place(&mut self, access: Access, pointer: Word<E::V>, by: ByHandler) -> E::Span {
        if let Some(open) = self.open[access.span] {
            return open;
        }
        let Span { bounds: (from, to), loads, .. } = self.spans.spans[access.span];
        let pointer = sum(self.e, pointer);
        let address = self.address(pointer);
        // this does not wrap if all that is pushed is in the span
        let depth = self.spans.depths[by.at].take();
        let least = depth.map(|depth| self.with(Do::Sub, address, 32, depth as u32));
        // registers and SREG have addresses too
        let reads = if loads { Slots::ALL } else { by.reads };
        let span = self.e.span(ByHandler { reads, ..by }, address, from, (to - from) as u32, least);
        self.open[access.span] = Some(span);
        span
    }

    /// A 16-bit value as an address.
    fn address(&mut self, word: E::V) -> E::V {
        self.e.widen(word, 32, false)
    }

    /// A word address as one of bytes.
    fn code_address(&mut self, word: E::V) -> E::V {
        let wide = self.address(word);
        self.with(Do::Shl, wide, 32, 1)
    }

    /// Flags N, V, S and Z of a result.
    fn result(&mut self, res: E::V, overflow: impl Fn(&mut E) -> E::V + Copy + 'static) {
        self.e.set(Z, res);
        self.e.set(N, res);
        self.e.later(V, overflow);
        self.e.later(S, move |e| {
            let v = overflow(e);
            e.op(Do::Xor, res, v)
        });
    }

    /// Sum of two numbers or their difference, and flags except C and Z.
    fn sum(&mut self, op: Do, d: E::V, r: E::V, carry: Option<E::V>) -> E::V {
        let plain = self.e.op(op, d, r);
        let res = carry.map_or(plain, |c| self.e.op(op, plain, c));
        // a sum overflows when both have another sign than it, a difference when d has another one than r and it
        let base = if op == Do::Add { res } else { d };
        let other = if op == Do::Add { d } else { res };
        // Z stays clear behind SBC when it was
        let z = (op == Do::Sub && carry.is_some()).then(|| self.e.get(Z));
        self.result(res, move |e| {
            let (a, b) = (e.op(Do::Xor, base, other), e.op(Do::Xor, base, r));
            e.op(Do::And, a, b)
        });
        self.e.later(H, move |e| {
            let half = e.op(Do::Xor, d, r);
            e.op(Do::Xor, half, res)
        });
        self.e.later(C, move |e| {
            let (x, y) = if op == Do::Add { (plain, d) } else { (d, r) };
            let first = e.test(Test::LessU, x, y);
            let Some(c) = carry else { return first };
            let (x, y) = if op == Do::Add { (res, plain) } else { (plain, c) };
            let second = e.test(Test::LessU, x, y);
            e.op(Do::Or, first, second)
        });
        if let Some(z) = z {
            self.e.later(Z, move |e| e.op(Do::Or, z, res));
        }
        res
    }

    fn logic(&mut self, a: u8, res: E::V) {
        self.result(res, |e| e.int(8, 0));
        self.set(a, res);
    }

    /// Right shift by one to `res`.
    fn shift(&mut self, a: u8, d: E::V, res: E::V) {
        self.e.later(C, move |e| {
            let one = e.int(8, 1);
            e.op(Do::And, d, one)
        });
        self.result(res, move |e| {
            let seven = e.int(8, 7);
            let top = e.op(Do::Shl, d, seven);
            e.op(Do::Xor, res, top)
        });
        self.set(a, res);
    }

    /// ADIW and SBIW.
    fn add_word(&mut self, op: Do, i: &Insn<Avr>) {
        let d = self.pair(i.a);
        let res = self.with(op, d, 16, i.imm);
        self.set_pair(i.a, res);
        self.e.later(C, move |e| if op == Do::Add { e.test(Test::LessU, res, d) } else { e.test(Test::LessU, d, res) });
        self.e.later(Z, move |e| either(e, res));
        self.e.later(N, move |e| high(e, res));
        let overflow = move |e: &mut E| {
            let changed = e.op(Do::Xor, d, res);
            let both = e.op(Do::And, changed, if op == Do::Add { res } else { d });
            high(e, both)
        };
        self.e.later(V, overflow);
        self.e.later(S, move |e| {
            let (v, n) = (overflow(e), high(e, res));
            e.op(Do::Xor, v, n)
        });
    }

    fn product(&mut self, op: Multiply, i: &Insn<Avr>) {
        // whether operands are signed, and whether it is a fractional one
        let (signed, left) = match op {
            Multiply::Mul => ((false, false), false),
            Multiply::Muls => ((true, true), false),
            Multiply::Mulsu => ((true, false), false),
            Multiply::Fmul => ((false, false), true),
            Multiply::Fmuls => ((true, true), true),
            Multiply::Fmulsu => ((true, false), true),
        };
        let (d, r) = (self.reg(i.a), self.reg(i.b));
        let (d, r) = (self.e.widen(d, 16, signed.0), self.e.widen(r, 16, signed.1));
        let p = self.e.op(Do::Mul, d, r);
        let res = if left { self.with(Do::Shl, p, 16, 1) } else { p };
        self.set_pair(0, res);
        self.e.later(C, move |e| {
            let top = e.int(16, 15);
            let carry = e.op(Do::Shr, p, top);
            e.narrow(carry, 8)
        });
        self.e.later(Z, move |e| either(e, res));
    }

    /// A value that is not 0 when the flag is `true`, or when it is `false`.
    fn flag(&mut self, flag: Flag) -> (E::V, bool) {
        let part = self.e.get(slot(flag));
        match flag {
            Flag::Z => (part, false),
            Flag::N | Flag::V | Flag::S => {
                let zero = self.byte(0);
                (self.e.test(Test::Less, part, zero), true)
            }
            Flag::H => (self.with(Do::And, part, 8, 0x10), true),
            Flag::C | Flag::T | Flag::I => (part, true),
        }
    }

    /// Sets a flag or clears it.
    fn put(&mut self, flag: Flag, on: bool) {
        let v = match flag {
            Flag::Z => u8::from(!on),
            Flag::N | Flag::V | Flag::S => u8::from(on) << 7,
            Flag::H => u8::from(on) << 4,
            Flag::C | Flag::T | Flag::I => on.into(),
        };
        let v = self.byte(v);
        self.e.set(slot(flag), v);
    }

    /// A branch when a flag is set, or when it is not.
    fn branch(&mut self, flag: Flag, when: bool, i: &Insn<Avr>) {
        let (value, set) = self.flag(flag);
        self.e.leave_if(value, set == when, i.imm, i32::from(i.refund) - i32::from(i.taken));
    }

    /// SREG as a program reads it.
    fn pack(&mut self) -> E::V {
        let z = self.e.get(Z);
        let zero = self.byte(0);
        let z = self.e.test(Test::Eq, z, zero);
        let mut all = self.e.get(C);
        // part, its bit, places to the left or to the right of where it goes
        for (part, bit, right, left) in
            [(N, 0x80, 5, 0), (V, 0x80, 4, 0), (S, 0x80, 3, 0), (H, 0x10, 0, 1), (T, 1, 0, 6), (I, 1, 0, 7)]
        {
            let v = self.e.get(part);
            let v = self.with(Do::And, v, 8, bit);
            let v = if right > 0 { self.with(Do::Shr, v, 8, right) } else { self.with(Do::Shl, v, 8, left) };
            all = self.e.op(Do::Or, all, v);
        }
        let z = self.with(Do::Shl, z, 8, 1);
        self.e.op(Do::Or, all, z)
    }

    /// A program writes SREG.
    fn unpack(&mut self, v: E::V) {
        let flip = self.with(Do::Xor, v, 8, 2);
        let z = self.with(Do::And, flip, 8, 2);
        self.e.set(Z, z);
        for (part, left) in [(N, 5), (V, 4), (S, 3)] {
            let v = self.with(Do::Shl, v, 8, left);
            self.e.set(part, v);
        }
        for (part, right) in [(H, 1), (C, 0), (T, 6), (I, 7)] {
            let mut v = self.with(Do::Shr, v, 8, right);
            if part != H {
                v = self.with(Do::And, v, 8, 1);
            }
            self.e.set(part, v);
        }
    }

    /// A half of the stack pointer is written; see [`Avr::stack_written`].
    fn write_sp(&mut self, i: &Insn<Avr>, half: u32, by: ByHandler) {
        let (old, value) = (self.e.get(SP), self.reg(i.a));
        self.stack = None;
        let value = self.e.widen(value, 16, false);
        let (keep, value) = if half == state::SPL { (0xFF00, value) } else { (0xFF, self.with(Do::Shl, value, 16, 8)) };
        let kept = self.with(Do::And, old, 16, keep);
        let sp = self.e.op(Do::Or, kept, value);
        let (none, this) = (self.e.int(32, 0), self.e.int(32, half.into()));
        let wide = self.address(sp);
        let left = if self.core.variant.stack_low_first {
            let other = self.e.get(HALF);
            let whole = self.e.int(32, (state::SPL + state::SPH - half).into());
            let whole = self.e.test(Test::Eq, other, whole);
            let high = self.e.int(32, u32::MAX.into());
            let wide = self.e.pick(whole, wide, high);
            self.e.stack(by, wide);
            self.e.pick(whole, none, this)
        } else if half == state::SPL {
            self.e.stack(by, wide);
            none
        } else {
            this
        };
        self.e.set(HALF, left);
        self.e.set(SP, sp);
    }

    /// IN, OUT, LDS, STS: the address is known.
    fn direct(&mut self, i: &Insn<Avr>, store: bool, by: ByHandler) {
        let (core, a) = (self.core, i.a);
        let io = i.imm.wrapping_sub(core.variant.io);
        let inside = |base: u32, size: usize| (i.imm.wrapping_sub(base) as usize) < size;
        match io {
            state::SPL | state::SPH if store => self.write_sp(i, io, by),
            state::SPL | state::SPH => {
                let sp = self.e.get(SP);
                let v = if io == state::SPL { self.e.narrow(sp, 8) } else { high(self.e, sp) };
                self.set(a, v);
            }
            state::SREG if store => {
                let v = self.reg(a);
                self.unpack(v);
            }
            state::SREG => {
                let v = self.pack();
                self.set(a, v);
            }
            state::RAMPZ if core.variant.rampz != 0 && store => {
                let v = self.reg(a);
                let v = self.with(Do::And, v, 8, core.variant.rampz.into());
                self.e.set(RAMPZ, v);
            }
            state::RAMPZ if core.variant.rampz != 0 => {
                let v = self.e.get(RAMPZ);
                self.set(a, v);
            }
            _ if i.imm < core.variant.io => {
                self.e.handler(ByHandler { reads: Slots::ALL, writes: Slots::ALL, ..by });
                self.forget();
            }
            _ if inside(core.mem.ram_base, core.mem.ram.len()) => {
                let at = self.e.int(32, i.imm.into());
                if store {
                    let v = self.reg(a);
                    self.e.store(by, at, 1, v, |_| {});
                } else {
                    self.load(a, at, None, by);
                }
            }
            _ => {
                let (reads, writes) = (by.reads.with(a.into()), by.writes.with(a.into()));
                self.e.handler(ByHandler { reads, writes, ..by });
                self.pairs[usize::from(a / 2)] = None;
            }
        }
    }

    /// Register `a` from an address; `after` is a pair and what it is then.
    fn load(&mut self, a: u8, at: E::V, after: Option<(u8, Word<E::V>)>, by: ByHandler) {
        // registers and SREG have addresses too
        let mut value = None;
        self.e.load(ByHandler { reads: Slots::ALL, ..by }, at, 1, (8, false), |_, v| value = Some(v));
        self.loaded(a, value, after);
    }

    fn loaded(&mut self, a: u8, value: Option<E::V>, after: Option<(u8, Word<E::V>)>) {
        if let Some((pair, word)) = after {
            self.set_word(pair, word);
        }
        if let Some(value) = value {
            self.set(a, value);
        }
    }

    /// LD, LDD, ST, STD.
    fn indirect(&mut self, (to, change): (Pointer, Change), i: &Insn<Avr>, store: bool, by: ByHandler) {
        let (low, (before, after, plus)) = (to.low(), spans::pointer(change, i));
        let Some(access) = self.spans.accesses[by.at] else { return };
        let (word, added) = self.word(low);
        let next = (before + after != 0).then_some((low, (word, added.wrapping_add_signed((before + after) as i16))));
        if self.core.mem.flash_in_data().is_some() && !self.spans.spans[access.span].stores {
            // there may be constants
            let word = sum(self.e, (word, added.wrapping_add_signed(before as i16)));
            let address = self.address(word);
            // beyond 16 bits there is nothing, so the handler takes care of the carry
            let address = if plus == 0 { address } else { self.with(Do::Add, address, 32, plus as u32) };
            return self.load(i.a, address, next, by);
        }
        let span = self.place(access, (word, added), by);
        let value = if store {
            let value = self.reg(i.a);
            self.e.store_in(span, access.at, 1, value);
            None
        } else {
            Some(self.e.load_in(span, access.at, 1))
        };
        self.loaded(i.a, value, next);
    }

    /// LPM and ELPM.
    fn program(&mut self, far: bool, change: Change, i: &Insn<Avr>, by: ByHandler) {
        let z = self.pair(Pointer::Z.low());
        let mut at = self.address(z);
        if far {
            let top = self.e.get(RAMPZ);
            let top = self.e.widen(top, 32, false);
            let top = self.with(Do::Shl, top, 32, 16);
            at = self.e.op(Do::Or, at, top);
        }
        let mut value = None;
        self.e.program(by, at, |_, v| value = Some(v));
        let mut after = None;
        if change == Change::Post {
            let next = self.with(Do::Add, at, 32, 1);
            after = Some((Pointer::Z.low(), (self.e.narrow(next, 16), 0)));
            if far {
                let top = self.with(Do::Shr, next, 32, 16);
                let top = self.e.narrow(top, 8);
                let top = self.with(Do::And, top, 8, self.core.variant.rampz.into());
                self.e.set(RAMPZ, top);
            }
        }
        self.loaded(i.a, value, after);
    }

    /// Pushes `count` bytes, the lowest at the lowest address.
    fn push(&mut self, value: E::V, count: u32, by: ByHandler) {
        let Some(access) = self.spans.accesses[by.at] else { return };
        let sp = self.sp();
        let span = self.place(access, sp, by);
        if let Some(depth) = self.spans.depths[by.at] {
            let now = sum(self.e, sp);
            let now = self.address(now);
            let least = self.with(Do::Sub, now, 32, depth as u32);
            self.e.stack(by, least);
        }
        self.e.store_in(span, access.at, count, value);
        self.set_sp((sp.0, sp.1.wrapping_sub(count as u16)));
    }

    /// What [`Lowering::push`] pushed.
    fn pop(&mut self, count: u32, by: ByHandler) -> Option<E::V> {
        let access = self.spans.accesses[by.at]?;
        let sp = self.sp();
        let span = self.place(access, sp, by);
        let value = self.e.load_in(span, access.at, count);
        self.set_sp((sp.0, sp.1.wrapping_add(count as u16)));
        Some(value)
    }

    /// Pushes the address behind a call of so many words.
    fn push_return(&mut self, i: &Insn<Avr>, words: u32, by: ByHandler) {
        // the low byte is pushed first
        let back = ((i.site.pc / 2).wrapping_add(words) as u16).swap_bytes();
        let back = self.e.int(16, back.into());
        self.push(back, 2, by);
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

    fn binary(&mut self, op: Binary, with: With, i: &Insn<Avr>) {
        let d = self.reg(i.a);
        let r = match with {
            With::Register => self.reg(i.b),
            With::Immediate => self.byte(i.imm as u8),
        };
        let (kind, carry, kept) = match op {
            Binary::Add => (Do::Add, false, true),
            Binary::Adc => (Do::Add, true, true),
            Binary::Sub => (Do::Sub, false, true),
            Binary::Sbc => (Do::Sub, true, true),
            Binary::Cp => (Do::Sub, false, false),
            Binary::Cpc => (Do::Sub, true, false),
            Binary::Eor if i.a == i.b && with == With::Register => {
                let zero = self.byte(0);
                return self.logic(i.a, zero);
            }
            Binary::And => return self.bitwise(Do::And, i.a, d, r),
            Binary::Or => return self.bitwise(Do::Or, i.a, d, r),
            Binary::Eor => return self.bitwise(Do::Xor, i.a, d, r),
        };
        let carry = carry.then(|| self.e.get(C));
        let res = self.sum(kind, d, r, carry);
        if kept {
            self.set(i.a, res);
        }
    }

    fn bitwise(&mut self, op: Do, a: u8, d: E::V, r: E::V) {
        let res = self.e.op(op, d, r);
        self.logic(a, res);
    }

    fn unary(&mut self, op: Unary, a: u8) {
        let d = self.reg(a);
        match op {
            Unary::Neg => {
                let zero = self.byte(0);
                let res = self.sum(Do::Sub, zero, d, None);
                self.set(a, res);
            }
            Unary::Com => {
                let res = self.with(Do::Xor, d, 8, 0xFF);
                self.e.later(C, |e| e.int(8, 1));
                self.logic(a, res);
            }
            Unary::Inc => self.step(Do::Add, a, d),
            Unary::Dec => self.step(Do::Sub, a, d),
            Unary::Lsr => {
                let res = self.with(Do::Shr, d, 8, 1);
                self.shift(a, d, res);
            }
            Unary::Asr => {
                let res = self.with(Do::Sar, d, 8, 1);
                self.shift(a, d, res);
            }
            Unary::Ror => {
                let c = self.e.get(C);
                let (half, top) = (self.with(Do::Shr, d, 8, 1), self.with(Do::Shl, c, 8, 7));
                let res = self.e.op(Do::Or, half, top);
                self.shift(a, d, res);
            }
            Unary::Swap => {
                let res = self.with(Do::Rotr, d, 8, 4);
                self.set(a, res);
            }
        }
    }

    /// INC and DEC.
    fn step(&mut self, op: Do, a: u8, d: E::V) {
        let res = self.with(op, d, 8, 1);
        self.result(res, move |e| {
            let changed = e.op(Do::Xor, d, res);
            e.op(Do::And, changed, if op == Do::Add { res } else { d })
        });
        self.set(a, res);
    }
}

/// The slot of a flag.
fn slot(flag: Flag) -> usize {
    match flag {
        Flag::C => C,
        Flag::Z => Z,
        Flag::N => N,
        Flag::V => V,
        Flag::S => S,
        Flag::H => H,
        Flag::T => T,
        Flag::I => I,
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

/// A byte that is 0 when a word is.
fn either<E: Emit>(e: &mut E, word: E::V) -> E::V {
    let (high, low) = (high(e, word), e.narrow(word, 8));
    e.op(Do::Or, high, low)
}
