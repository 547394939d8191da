//! Lowers arithmetic and flags to operations for the translator.

use isa::Insn;
use isa::native::{Emit, Op as Do, Test};

use super::{ALLOWED, C, H, I, Lowering, N, S, T, V, Z, high};
use crate::op::{Binary, Flag, Multiply, Unary, With};
use crate::state::Avr;

impl<E: Emit> Lowering<'_, '_, E> {
    /// Flags N, V, S and Z of a result.
    pub(super) fn result(&mut self, res: E::V, overflow: impl Fn(&mut E) -> E::V + Copy + 'static) {
        self.e.set(Z, res);
        self.e.set(N, res);
        self.e.later(V, overflow);
        self.e.later(S, move |e| {
            let v = overflow(e);
            e.op(Do::Xor, res, v)
        });
    }

    /// Sum of two numbers or their difference, and flags except C and Z.
    pub(super) fn sum(&mut self, op: Do, d: E::V, r: E::V, carry: Option<E::V>) -> E::V {
        let plain = self.e.op(op, d, r);
        let res = carry.map_or(plain, |c| self.e.op(op, plain, c));
        // a sum overflows when its sign differs from both signs, a difference when d's sign differs from both r's and
        // its own
        let base = if op == Do::Add { res } else { d };
        let other = if op == Do::Add { d } else { res };
        // Z stays clear after SBC if it was clear
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

    pub(super) fn logic(&mut self, a: u8, res: E::V) {
        self.result(res, |e| e.int(8, 0));
        self.set(a, res);
    }

    /// Right shift by one to `res`.
    pub(super) fn shift(&mut self, a: u8, d: E::V, res: E::V) {
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
    pub(super) fn add_word(&mut self, op: Do, i: &Insn<Avr>) {
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

    pub(super) fn product(&mut self, op: Multiply, i: &Insn<Avr>) {
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
    pub(super) fn flag(&mut self, flag: Flag) -> (E::V, bool) {
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
    pub(super) fn put(&mut self, flag: Flag, on: bool) {
        let v = match flag {
            Flag::Z => u8::from(!on),
            Flag::N | Flag::V | Flag::S => u8::from(on) << 7,
            Flag::H => u8::from(on) << 4,
            Flag::C | Flag::T | Flag::I => on.into(),
        };
        let v = self.byte(v);
        self.e.set(slot(flag), v);
        if flag == Flag::I && on {
            self.e.set(ALLOWED, v);
        }
    }

    /// A branch when a flag is set, or when it is not.
    pub(super) fn branch(&mut self, flag: Flag, when: bool, i: &Insn<Avr>) {
        let (value, set) = self.flag(flag);
        self.e.leave_if(value, set == when, i.imm, i32::from(i.refund) - i32::from(i.taken));
    }

    /// SREG as a program reads it.
    pub(super) fn pack(&mut self) -> E::V {
        let z = self.e.get(Z);
        let zero = self.byte(0);
        let z = self.e.test(Test::Eq, z, zero);
        let mut all = self.e.get(C);
        // part, its bit, and how far to the left or right of its destination it is
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
    pub(super) fn unpack(&mut self, v: E::V) {
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
        let (i, allowed) = (self.e.get(I), self.e.get(ALLOWED));
        let allowed = self.e.op(Do::Or, allowed, i);
        self.e.set(ALLOWED, allowed);
    }

    pub(super) fn binary(&mut self, op: Binary, with: With, i: &Insn<Avr>) {
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

    pub(super) fn bitwise(&mut self, op: Do, a: u8, d: E::V, r: E::V) {
        let res = self.e.op(op, d, r);
        self.logic(a, res);
    }

    pub(super) fn unary(&mut self, op: Unary, a: u8) {
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
    pub(super) fn step(&mut self, op: Do, a: u8, d: E::V) {
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

/// A byte that is 0 when a word is.
fn either<E: Emit>(e: &mut E, word: E::V) -> E::V {
    let (high, low) = (high(e, word), e.narrow(word, 8));
    e.op(Do::Or, high, low)
}
