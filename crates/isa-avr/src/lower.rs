//! Instructions as operations, for translation to native code. What is not here is done by its handler.

use std::mem::offset_of;

use isa::Insn;
use isa::native::{ByHandler, Emit, Layout, Lower, Op, Slot, Slots, Test};

use crate::exec::{self, ZP};
use crate::spans::{self, Access, Span, Spans};
use crate::table::{Class, Row};
use crate::{Avr, SEAM};

// slots behind r0 to r31: the parts of SREG in the order of its bits, then what the core has besides
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
        Layout { slots, pc: offset_of!(Self, pc), by_block: true, unaligned: true }
    }

    fn lower<E: Emit>(&self, _: u32, insns: &[Insn<Self>], e: &mut E) {
        let rows: Vec<_> = insns.iter().map(|i| self.lookup(i.site.pc).map(|(row, _)| row)).collect();
        let spans = Spans::new(self, insns, &rows);
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
            match rows[k] {
                _ if i.d == SEAM => run.e.jump(i.imm),
                None => run.e.handler(ByHandler { ends: true, ..by }),
                Some(row) => {
                    run.row(row, i, by);
                    skips.0 = matches!(row.class, Class::Skip | Class::SkipIo);
                }
            }
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
    fn with(&mut self, op: Op, x: E::V, bits: u32, n: u32) -> E::V {
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
        let high = self.with(Op::Shl, high, 16, 8);
        let word = (self.e.op(Op::Or, low_byte, high), 0);
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
        let least = depth.map(|depth| self.with(Op::Sub, address, 32, depth as u32));
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
        self.with(Op::Shl, wide, 32, 1)
    }

    /// Flags N, V, S and Z of a result.
    fn result(&mut self, res: E::V, overflow: impl Fn(&mut E) -> E::V + Copy + 'static) {
        self.e.set(Z, res);
        self.e.set(N, res);
        self.e.later(V, overflow);
        self.e.later(S, move |e| {
            let v = overflow(e);
            e.op(Op::Xor, res, v)
        });
    }

    /// Sum of two numbers or their difference, and flags except C and Z.
    fn sum(&mut self, op: Op, d: E::V, r: E::V, carry: Option<E::V>) -> E::V {
        let plain = self.e.op(op, d, r);
        let res = carry.map_or(plain, |c| self.e.op(op, plain, c));
        // a sum overflows when both have another sign than it, a difference when d has another one than r and it
        let base = if op == Op::Add { res } else { d };
        let other = if op == Op::Add { d } else { res };
        // Z stays clear behind SBC when it was
        let z = (op == Op::Sub && carry.is_some()).then(|| self.e.get(Z));
        self.result(res, move |e| {
            let (a, b) = (e.op(Op::Xor, base, other), e.op(Op::Xor, base, r));
            e.op(Op::And, a, b)
        });
        self.e.later(H, move |e| {
            let half = e.op(Op::Xor, d, r);
            e.op(Op::Xor, half, res)
        });
        self.e.later(C, move |e| {
            let (x, y) = if op == Op::Add { (plain, d) } else { (d, r) };
            let first = e.test(Test::LessU, x, y);
            let Some(c) = carry else { return first };
            let (x, y) = if op == Op::Add { (res, plain) } else { (plain, c) };
            let second = e.test(Test::LessU, x, y);
            e.op(Op::Or, first, second)
        });
        if let Some(z) = z {
            self.e.later(Z, move |e| e.op(Op::Or, z, res));
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
            e.op(Op::And, d, one)
        });
        self.result(res, move |e| {
            let seven = e.int(8, 7);
            let top = e.op(Op::Shl, d, seven);
            e.op(Op::Xor, res, top)
        });
        self.set(a, res);
    }

    /// ADIW and SBIW.
    fn add_word(&mut self, op: Op, i: &Insn<Avr>) {
        let d = self.pair(i.a);
        let res = self.with(op, d, 16, i.imm);
        self.set_pair(i.a, res);
        self.e.later(C, move |e| if op == Op::Add { e.test(Test::LessU, res, d) } else { e.test(Test::LessU, d, res) });
        self.e.later(Z, move |e| either(e, res));
        self.e.later(N, move |e| high(e, res));
        let overflow = move |e: &mut E| {
            let changed = e.op(Op::Xor, d, res);
            let both = e.op(Op::And, changed, if op == Op::Add { res } else { d });
            high(e, both)
        };
        self.e.later(V, overflow);
        self.e.later(S, move |e| {
            let (v, n) = (overflow(e), high(e, res));
            e.op(Op::Xor, v, n)
        });
    }

    /// The multiplications: whether operands are signed, and whether it is a fractional one.
    fn product(&mut self, i: &Insn<Avr>, signed: (bool, bool), left: bool) {
        let (d, r) = (self.reg(i.a), self.reg(i.b));
        let (d, r) = (self.e.widen(d, 16, signed.0), self.e.widen(r, 16, signed.1));
        let p = self.e.op(Op::Mul, d, r);
        let res = if left { self.with(Op::Shl, p, 16, 1) } else { p };
        self.set_pair(0, res);
        self.e.later(C, move |e| {
            let top = e.int(16, 15);
            let carry = e.op(Op::Shr, p, top);
            e.narrow(carry, 8)
        });
        self.e.later(Z, move |e| either(e, res));
    }

    /// A value that is not 0 when the flag with this bit number is `true`, or when it is `false`.
    fn flag(&mut self, bit: usize) -> (E::V, bool) {
        let part = self.e.get(C + bit);
        match C + bit {
            Z => (part, false),
            N | V | S => {
                let zero = self.byte(0);
                (self.e.test(Test::Less, part, zero), true)
            }
            H => (self.with(Op::And, part, 8, 0x10), true),
            _ => (part, true),
        }
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
            let v = self.with(Op::And, v, 8, bit);
            let v = if right > 0 { self.with(Op::Shr, v, 8, right) } else { self.with(Op::Shl, v, 8, left) };
            all = self.e.op(Op::Or, all, v);
        }
        let z = self.with(Op::Shl, z, 8, 1);
        self.e.op(Op::Or, all, z)
    }

    /// A program writes SREG.
    fn unpack(&mut self, v: E::V) {
        let flip = self.with(Op::Xor, v, 8, 2);
        let z = self.with(Op::And, flip, 8, 2);
        self.e.set(Z, z);
        for (part, left) in [(N, 5), (V, 4), (S, 3)] {
            let v = self.with(Op::Shl, v, 8, left);
            self.e.set(part, v);
        }
        for (part, right) in [(H, 1), (C, 0), (T, 6), (I, 7)] {
            let mut v = self.with(Op::Shr, v, 8, right);
            if part != H {
                v = self.with(Op::And, v, 8, 1);
            }
            self.e.set(part, v);
        }
    }

    /// A half of the stack pointer is written; see [`Avr::stack_written`].
    fn write_sp(&mut self, i: &Insn<Avr>, half: u32, by: ByHandler) {
        let (old, value) = (self.e.get(SP), self.reg(i.a));
        self.stack = None;
        let value = self.e.widen(value, 16, false);
        let (keep, value) = if half == exec::SPL { (0xFF00, value) } else { (0xFF, self.with(Op::Shl, value, 16, 8)) };
        let kept = self.with(Op::And, old, 16, keep);
        let sp = self.e.op(Op::Or, kept, value);
        let (none, this) = (self.e.int(32, 0), self.e.int(32, half.into()));
        let wide = self.address(sp);
        let left = if self.core.variant.stack_low_first {
            let other = self.e.get(HALF);
            let whole = self.e.int(32, (exec::SPL + exec::SPH - half).into());
            let whole = self.e.test(Test::Eq, other, whole);
            let high = self.e.int(32, u32::MAX.into());
            let wide = self.e.pick(whole, wide, high);
            self.e.stack(by, wide);
            self.e.pick(whole, none, this)
        } else if half == exec::SPL {
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
            exec::SPL | exec::SPH if store => self.write_sp(i, io, by),
            exec::SPL | exec::SPH => {
                let sp = self.e.get(SP);
                let v = if io == exec::SPL { self.e.narrow(sp, 8) } else { high(self.e, sp) };
                self.set(a, v);
            }
            exec::SREG if store => {
                let v = self.reg(a);
                self.unpack(v);
            }
            exec::SREG => {
                let v = self.pack();
                self.set(a, v);
            }
            exec::RAMPZ if core.variant.rampz != 0 && store => {
                let v = self.reg(a);
                let v = self.with(Op::And, v, 8, core.variant.rampz.into());
                self.e.set(RAMPZ, v);
            }
            exec::RAMPZ if core.variant.rampz != 0 => {
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
    fn indirect(&mut self, text: &str, i: &Insn<Avr>, store: bool, by: ByHandler) {
        let (low, before, after, plus) = spans::pointer(text, i);
        let Some(access) = self.spans.accesses[by.at] else { return };
        let (word, added) = self.word(low);
        let next = (before + after != 0).then_some((low, (word, added.wrapping_add_signed((before + after) as i16))));
        if self.core.mem.flash_in_data().is_some() && !self.spans.spans[access.span].stores {
            // there may be constants
            let word = sum(self.e, (word, added.wrapping_add_signed(before as i16)));
            let address = self.address(word);
            // beyond 16 bits there is nothing, so the handler takes care of the carry
            let address = if plus == 0 { address } else { self.with(Op::Add, address, 32, plus as u32) };
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
    fn program(&mut self, text: &str, i: &Insn<Avr>, by: ByHandler) {
        let far = text.starts_with('e');
        let z = self.pair(ZP);
        let mut at = self.address(z);
        if far {
            let top = self.e.get(RAMPZ);
            let top = self.e.widen(top, 32, false);
            let top = self.with(Op::Shl, top, 32, 16);
            at = self.e.op(Op::Or, at, top);
        }
        let mut value = None;
        self.e.program(by, at, |_, v| value = Some(v));
        let mut after = None;
        if text.contains('+') {
            let next = self.with(Op::Add, at, 32, 1);
            after = Some((ZP, (self.e.narrow(next, 16), 0)));
            if far {
                let top = self.with(Op::Shr, next, 32, 16);
                let top = self.e.narrow(top, 8);
                let top = self.with(Op::And, top, 8, self.core.variant.rampz.into());
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
            let least = self.with(Op::Sub, now, 32, depth as u32);
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

    fn row(&mut self, row: &Row, i: &Insn<Avr>, by: ByHandler) {
        let name = row.name();
        match row.class {
            Class::Alu => self.alu(name, i, by),
            Class::Word => self.add_word(if name == "adiw" { Op::Add } else { Op::Sub }, i),
            Class::Multiply => {
                let signed = (!name.ends_with("mul"), name.ends_with("muls"));
                self.product(i, signed, name.starts_with('f'));
            }
            Class::IoBit => self.e.handler(by),
            Class::Load => self.indirect(row.text.0, i, false, by),
            Class::Store => self.indirect(row.text.0, i, true, by),
            Class::LoadDirect => self.direct(i, false, by),
            Class::StoreDirect => self.direct(i, true, by),
            Class::LoadProgram => self.program(row.text.0, i, by),
            Class::Push => {
                let v = self.reg(i.a);
                self.push(v, 1, by);
            }
            Class::Pop => {
                let v = self.pop(1, by);
                self.loaded(i.a, v, None);
            }
            Class::JumpShort if name == "ijmp" => {
                let z = self.pair(ZP);
                let to = self.code_address(z);
                self.e.jump_to(to);
            }
            Class::JumpShort | Class::Jump => self.e.jump(i.imm),
            Class::CallShort if name == "icall" => {
                self.push_return(i, 1, by);
                let z = self.pair(ZP);
                let to = self.code_address(z);
                self.e.jump_to(to);
            }
            Class::CallShort | Class::Call => {
                self.push_return(i, row.bytes() / 2, by);
                self.e.jump(i.imm);
            }
            Class::Return => {
                let Some(back) = self.pop(2, by) else { return };
                let back = self.with(Op::Rotr, back, 16, 8);
                let to = self.code_address(back);
                if name == "reti" {
                    let on = self.byte(1);
                    self.e.set(I, on);
                }
                self.e.jump_to(to);
            }
            Class::Branch => {
                let (value, set) = self.flag(row.reads.trailing_zeros() as usize);
                let wants_set = row.pattern.value & 0x400 == 0;
                self.e.leave_if(value, set == wants_set, i.imm, i32::from(i.refund) - i32::from(i.taken));
            }
            Class::Skip => self.skip(name, i, by.at),
            Class::SkipIo => self.e.skip_by_handler(by, by.at + 2),
            Class::Seam => self.e.handler(ByHandler { ends: true, ..by }),
        }
    }

    fn skip(&mut self, name: &str, i: &Insn<Avr>, at: usize) {
        let d = self.reg(i.a);
        let goes_on = if name == "cpse" {
            let r = self.reg(i.b);
            self.e.test(Test::Ne, d, r)
        } else {
            let bit = self.with(Op::And, d, 8, 1 << (i.b & 7));
            let zero = self.byte(0);
            self.e.test(if name == "sbrc" { Test::Ne } else { Test::Eq }, bit, zero)
        };
        self.e.skip_unless(goes_on, at + 2, i32::from(i.refund) - i32::from(i.taken));
    }

    fn alu(&mut self, name: &str, i: &Insn<Avr>, by: ByHandler) {
        let a = i.a;
        match name {
            "add" | "adc" | "sub" | "sbc" | "cp" | "cpc" | "subi" | "sbci" | "cpi" => {
                let d = self.reg(a);
                let r = if name.ends_with('i') { self.byte(i.imm as u8) } else { self.reg(i.b) };
                let carry = matches!(name, "adc" | "sbc" | "cpc" | "sbci").then(|| self.e.get(C));
                let res = self.sum(if name.starts_with('a') { Op::Add } else { Op::Sub }, d, r, carry);
                if !name.starts_with("cp") {
                    self.set(a, res);
                }
            }
            "neg" => {
                let (zero, d) = (self.byte(0), self.reg(a));
                let res = self.sum(Op::Sub, zero, d, None);
                self.set(a, res);
            }
            "and" | "or" | "eor" | "andi" | "ori" => {
                let op = match name {
                    "and" | "andi" => Op::And,
                    "eor" => Op::Xor,
                    _ => Op::Or,
                };
                let res = if name == "eor" && a == i.b {
                    self.byte(0)
                } else {
                    let d = self.reg(a);
                    let r = if name.ends_with('i') { self.byte(i.imm as u8) } else { self.reg(i.b) };
                    self.e.op(op, d, r)
                };
                self.logic(a, res);
            }
            "com" => {
                let d = self.reg(a);
                let res = self.with(Op::Xor, d, 8, 0xFF);
                self.e.later(C, |e| e.int(8, 1));
                self.logic(a, res);
            }
            "inc" | "dec" => {
                let up = name == "inc";
                let d = self.reg(a);
                let res = self.with(if up { Op::Add } else { Op::Sub }, d, 8, 1);
                self.result(res, move |e| {
                    let changed = e.op(Op::Xor, d, res);
                    e.op(Op::And, changed, if up { res } else { d })
                });
                self.set(a, res);
            }
            "lsr" | "asr" => {
                let d = self.reg(a);
                let res = self.with(if name == "lsr" { Op::Shr } else { Op::Sar }, d, 8, 1);
                self.shift(a, d, res);
            }
            "ror" => {
                let (d, c) = (self.reg(a), self.e.get(C));
                let (half, top) = (self.with(Op::Shr, d, 8, 1), self.with(Op::Shl, c, 8, 7));
                let res = self.e.op(Op::Or, half, top);
                self.shift(a, d, res);
            }
            "swap" => {
                let d = self.reg(a);
                let res = self.with(Op::Rotr, d, 8, 4);
                self.set(a, res);
            }
            "mov" => {
                let v = self.reg(i.b);
                self.set(a, v);
            }
            "movw" => match self.pairs[usize::from(i.b / 2)] {
                Some(word) => self.set_word(a, word),
                None => {
                    for n in 0..2 {
                        let v = self.reg(i.b + n);
                        self.set(a + n, v);
                    }
                }
            },
            "ldi" => {
                let v = self.byte(i.imm as u8);
                self.set(a, v);
            }
            "bst" => {
                let d = self.reg(a);
                let bit = self.with(Op::Shr, d, 8, (i.b & 7).into());
                let bit = self.with(Op::And, bit, 8, 1);
                self.e.set(T, bit);
            }
            "bld" => {
                let (d, t) = (self.reg(a), self.e.get(T));
                let (kept, bit) =
                    (self.with(Op::And, d, 8, !(1 << (i.b & 7)) & 0xFF), self.with(Op::Shl, t, 8, (i.b & 7).into()));
                let res = self.e.op(Op::Or, kept, bit);
                self.set(a, res);
            }
            "in" => self.direct(i, false, by),
            "out" => self.direct(i, true, by),
            "nop" | "wdr" => {}
            _ if name.len() == 3 && (name.starts_with("se") || name.starts_with("cl")) => {
                // the flag's number and whether it is cleared are in the encoding
                let (part, on) = (C + (i.imm >> 4 & 7) as usize, i.imm & 0x80 == 0);
                let v = match part {
                    Z => u8::from(!on),
                    N | V | S => u8::from(on) << 7,
                    H => u8::from(on) << 4,
                    _ => on.into(),
                };
                let v = self.byte(v);
                self.e.set(part, v);
            }
            _ => self.e.handler(ByHandler { ends: true, ..by }),
        }
    }
}

/// A word.
fn sum<E: Emit>(e: &mut E, (value, plus): Word<E::V>) -> E::V {
    if plus == 0 {
        return value;
    }
    let plus = e.int(16, plus.into());
    e.op(Op::Add, value, plus)
}

/// The high byte of a word.
fn high<E: Emit>(e: &mut E, word: E::V) -> E::V {
    let eight = e.int(16, 8);
    let high = e.op(Op::Shr, word, eight);
    e.narrow(high, 8)
}

/// A byte that is 0 when a word is.
fn either<E: Emit>(e: &mut E, word: E::V) -> E::V {
    let (high, low) = (high(e, word), e.narrow(word, 8));
    e.op(Op::Or, high, low)
}
