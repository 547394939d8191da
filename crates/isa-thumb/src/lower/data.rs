//! Lowers data processing, shifts and multiplication to operations for the translator.

use isa::native::{Emit, One, Op, Test};

use super::{C, Lowering, V};
use crate::op::{Alu, Shift, Simple};
use crate::operands::Operands;
use crate::step::Kind;

impl<E: Emit> Lowering<'_, E> {
    /// The second operand and the shifter's carry.
    fn operand(&mut self, o: &Operands, carry: bool) -> (E::V, Option<E::V>) {
        let d = u32::from(o.d);
        match o.kind {
            Kind::Imm => (self.int(o.imm), None),
            Kind::ImmCarry => (self.int(o.imm), Some(self.e.int(8, u64::from(o.imm >> 31)))),
            Kind::Reg => (self.reg(o.c), None),
            Kind::Lsl => {
                let x = self.reg(o.c);
                (self.with(Op::Shl, x, d), carry.then(|| self.bit(x, 32 - d)))
            }
            Kind::Lsr => {
                let x = self.reg(o.c);
                let value = if d == 32 { self.int(0) } else { self.with(Op::Shr, x, d) };
                (value, carry.then(|| self.bit(x, d - 1)))
            }
            Kind::Asr => {
                let x = self.reg(o.c);
                (self.with(Op::Sar, x, d.min(31)), carry.then(|| self.bit(x, d - 1)))
            }
            Kind::Ror => {
                let x = self.reg(o.c);
                let value = self.with(Op::Rotr, x, d);
                (value, carry.then(|| self.bit(value, 31)))
            }
            Kind::Rrx => {
                let (x, c) = (self.reg(o.c), self.e.get(C));
                let c = self.e.widen(c, 32, false);
                let (top, low) = (self.with(Op::Shl, c, 31), self.with(Op::Shr, x, 1));
                (self.e.op(Op::Or, top, low), carry.then(|| self.bit(x, 0)))
            }
        }
    }

    /// Data processing.
    pub(super) fn data(&mut self, alu: Alu, o: &Operands, flags: bool) {
        match alu {
            Alu::And | Alu::Tst => self.logic(alu, Some(Op::And), false, o, flags),
            Alu::Bic => self.logic(alu, Some(Op::And), true, o, flags),
            Alu::Orr => self.logic(alu, Some(Op::Or), false, o, flags),
            Alu::Orn => self.logic(alu, Some(Op::Or), true, o, flags),
            Alu::Eor | Alu::Teq => self.logic(alu, Some(Op::Xor), false, o, flags),
            Alu::Mov => self.logic(alu, None, false, o, flags),
            Alu::Mvn => self.logic(alu, None, true, o, flags),
            Alu::Add | Alu::Adc | Alu::Sub | Alu::Sbc | Alu::Rsb | Alu::Cmp | Alu::Cmn => self.sum(alu, o, flags),
        }
    }

    /// Bitwise operations and moves; the second operand may be inverted.
    fn logic(&mut self, alu: Alu, op: Option<Op>, inverted: bool, o: &Operands, flags: bool) {
        let (mut y, carry) = self.operand(o, flags);
        if inverted {
            y = self.with(Op::Xor, y, u32::MAX);
        }
        if let Some(op) = op {
            let x = self.reg(o.b);
            y = self.e.op(op, x, y);
        }
        if alu.writes() {
            self.e.set(o.a.into(), y);
        }
        if flags {
            self.set_nz(y);
            if let Some(carry) = carry {
                self.e.set(C, carry);
            }
        }
    }

    /// Sums and differences.
    fn sum(&mut self, alu: Alu, o: &Operands, flags: bool) {
        let (mut y, _) = self.operand(o, false);
        let mut x = self.reg(o.b);
        if alu == Alu::Rsb {
            (x, y) = (y, x);
        }
        let value = match alu {
            Alu::Add | Alu::Cmn => {
                let value = self.e.op(Op::Add, x, y);
                if flags {
                    let carry = self.e.test(Test::LessU, value, x);
                    self.e.set(C, carry);
                    self.overflow(x, y, value);
                }
                value
            }
            Alu::Adc | Alu::Sbc => {
                if alu == Alu::Sbc {
                    y = self.with(Op::Xor, y, u32::MAX);
                }
                let c = self.e.get(C);
                let c = self.e.widen(c, 32, false);
                let sum = self.e.op(Op::Add, x, y);
                let value = self.e.op(Op::Add, sum, c);
                if flags {
                    let (one, two) = (self.e.test(Test::LessU, sum, x), self.e.test(Test::LessU, value, sum));
                    let carry = self.e.op(Op::Or, one, two);
                    self.e.set(C, carry);
                    self.overflow(x, y, value);
                }
                value
            }
            _ => {
                let value = self.e.op(Op::Sub, x, y);
                if flags {
                    let carry = self.e.test(Test::GreaterEqU, x, y);
                    self.e.set(C, carry);
                    let other = self.with(Op::Xor, y, u32::MAX);
                    self.overflow(x, other, value);
                    self.compared = Some((x, y));
                }
                value
            }
        };
        if alu.writes() {
            self.e.set(o.a.into(), value);
        }
        if flags {
            self.set_nz(value);
        }
    }

    /// V of a sum.
    fn overflow(&mut self, x: E::V, y: E::V, sum: E::V) {
        let (a, b) = (self.e.op(Op::Xor, x, sum), self.e.op(Op::Xor, y, sum));
        let both = self.e.op(Op::And, a, b);
        let v = self.bit(both, 31);
        self.e.set(V, v);
    }

    /// LSL, LSR, ASR, ROR by a register.
    pub(super) fn shift(&mut self, shift: Shift, o: &Operands, flags: bool) {
        let (x, n) = (self.reg(o.b), self.reg(o.c));
        let n = self.with(Op::And, n, 0xFF);
        if shift == Shift::Ror {
            let value = self.e.op(Op::Rotr, x, n);
            let carry = if flags { Some(self.bit(value, 31)) } else { None };
            return self.shifted(o, n, value, carry);
        }
        // 33 stands for every larger amount
        let most = self.int(33);
        let less = self.e.test(Test::LessU, n, most);
        let m = self.e.pick(less, n, most);
        let (m, wide) = (self.e.widen(m, 64, false), self.e.widen(x, 64, shift == Shift::Asr));
        let one = self.e.int(64, 1);
        let (value, carry) = if shift == Shift::Lsl {
            let shifted = self.e.op(Op::Shl, wide, m);
            let top = self.e.int(64, 32);
            let carry = self.e.op(Op::Shr, shifted, top);
            (shifted, carry)
        } else {
            let doubled = self.e.op(Op::Shl, wide, one);
            let carry = self.e.op(if shift == Shift::Asr { Op::Sar } else { Op::Shr }, doubled, m);
            let value = self.e.op(Op::Shr, carry, one);
            (value, carry)
        };
        let value = self.e.narrow(value, 32);
        let carry = if flags {
            let low = self.e.narrow(carry, 32);
            Some(self.bit(low, 0))
        } else {
            None
        };
        self.shifted(o, n, value, carry);
    }

    fn shifted(&mut self, o: &Operands, n: E::V, value: E::V, carry: Option<E::V>) {
        self.e.set(o.a.into(), value);
        if let Some(carry) = carry {
            self.set_nz(value);
            let (zero, old) = (self.int(0), self.e.get(C));
            let some = self.e.test(Test::Ne, n, zero);
            let carry = self.e.pick(some, carry, old);
            self.e.set(C, carry);
        }
    }

    pub(super) fn mul(&mut self, o: &Operands, flags: bool) {
        let (x, y) = (self.reg(o.b), self.reg(o.c));
        let value = self.e.op(Op::Mul, x, y);
        self.e.set(o.a.into(), value);
        if flags {
            self.set_nz(value);
        }
    }

    /// Long multiplication, which may add.
    pub(super) fn mul_long(&mut self, signed: bool, add: bool, o: &Operands) {
        let (x, y) = (self.reg(o.b), self.reg(o.c));
        let (x, y) = (self.e.widen(x, 64, signed), self.e.widen(y, 64, signed));
        let mut value = self.e.op(Op::Mul, x, y);
        let top = self.e.int(64, 32);
        if add {
            let (low, high) = (self.reg(o.a), self.reg(o.d));
            let (low, high) = (self.e.widen(low, 64, false), self.e.widen(high, 64, false));
            let high = self.e.op(Op::Shl, high, top);
            let old = self.e.op(Op::Or, high, low);
            value = self.e.op(Op::Add, value, old);
        }
        let low = self.e.narrow(value, 32);
        self.e.set(o.a.into(), low);
        let high = self.e.op(Op::Shr, value, top);
        let high = self.e.narrow(high, 32);
        self.e.set(o.d.into(), high);
    }

    /// Operations that compute one register from others, without flags.
    pub(super) fn simple(&mut self, simple: Simple, o: &Operands) {
        let d = u32::from(o.d);
        let value = match simple {
            Simple::Movt => {
                let x = self.reg(o.a);
                let low = self.with(Op::And, x, 0xFFFF);
                self.with(Op::Or, low, o.imm << 16)
            }
            Simple::Extend(size, signed) => {
                let x = self.reg(o.c);
                let x = if d == 0 { x } else { self.with(Op::Rotr, x, d) };
                let x = self.e.narrow(x, 8 * size.bytes());
                self.e.widen(x, 32, signed)
            }
            Simple::Rev | Simple::Rev16 | Simple::Revsh => {
                let x = self.reg(o.c);
                let x = self.e.one(One::ReverseBytes, x);
                match simple {
                    Simple::Rev16 => self.with(Op::Rotr, x, 16),
                    Simple::Revsh => self.with(Op::Sar, x, 16),
                    _ => x,
                }
            }
            Simple::Rbit | Simple::Clz => {
                let x = self.reg(o.c);
                self.e.one(if simple == Simple::Clz { One::LeadingZeros } else { One::ReverseBits }, x)
            }
            Simple::Extract(signed) => {
                let x = self.reg(o.b);
                let up = 32u32.wrapping_sub(d + o.imm) & 31;
                let down = 32u32.wrapping_sub(o.imm) & 31;
                let x = self.with(Op::Shl, x, up);
                self.with(if signed { Op::Sar } else { Op::Shr }, x, down)
            }
            Simple::Insert => {
                let (x, y) = (self.reg(o.b), self.reg(o.a));
                let x = self.with(Op::Shl, x, d & 31);
                let (x, y) = (self.with(Op::And, x, o.imm), self.with(Op::And, y, !o.imm));
                self.e.op(Op::Or, x, y)
            }
            Simple::Clear => {
                let y = self.reg(o.a);
                self.with(Op::And, y, !o.imm)
            }
            Simple::Mla | Simple::Mls => {
                let (x, y, z) = (self.reg(o.b), self.reg(o.c), self.reg(o.d));
                let product = self.e.op(Op::Mul, x, y);
                self.e.op(if simple == Simple::Mla { Op::Add } else { Op::Sub }, z, product)
            }
        };
        self.e.set(o.a.into(), value);
    }
}
