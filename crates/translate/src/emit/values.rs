//! Arithmetic.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use isa::Timing;
use isa::native::{Lower, One, Op, Test, Values};

use super::{Emitter, How, int};

impl<'a, C: Lower, T: Timing<C>> Values for Emitter<'a, C, T> {
    type V = Value;

    fn int(&mut self, bits: u32, value: u64) -> Value {
        let value = value & u64::MAX >> (64 - bits);
        self.once(How::Int(bits, value), |e| e.b.ins().iconst(int(bits), value as i64))
    }

    fn op(&mut self, op: Op, x: Value, y: Value) -> Value {
        if matches!(op, Op::MulHighU | Op::MulHighS) && self.b.func.dfg.value_type(x) == types::I32 {
            let signed = op == Op::MulHighS;
            let (x, y) = (self.widen(x, 64, signed), self.widen(y, 64, signed));
            let product = self.b.ins().imul(x, y);
            let high = self.b.ins().ushr_imm(product, 32);
            return self.narrow(high, 32);
        }
        self.once(How::Op(op, x, y), |e| {
            let b = e.b.ins();
            match op {
                Op::Add => b.iadd(x, y),
                Op::Sub => b.isub(x, y),
                Op::Mul => b.imul(x, y),
                Op::MulHighU => b.umulhi(x, y),
                Op::MulHighS => b.smulhi(x, y),
                Op::And => b.band(x, y),
                Op::Or => b.bor(x, y),
                Op::Xor => b.bxor(x, y),
                Op::Shl => b.ishl(x, y),
                Op::Shr => b.ushr(x, y),
                Op::Sar => b.sshr(x, y),
                Op::Rotr => b.rotr(x, y),
            }
        })
    }

    fn one(&mut self, op: One, x: Value) -> Value {
        let b = self.b.ins();
        match op {
            One::LeadingZeros => b.clz(x),
            One::ReverseBits => b.bitrev(x),
            One::ReverseBytes => b.bswap(x),
        }
    }

    fn test(&mut self, test: Test, x: Value, y: Value) -> Value {
        let condition = match test {
            Test::Eq => IntCC::Equal,
            Test::Ne => IntCC::NotEqual,
            Test::Less => IntCC::SignedLessThan,
            Test::LessEq => IntCC::SignedLessThanOrEqual,
            Test::Greater => IntCC::SignedGreaterThan,
            Test::GreaterEq => IntCC::SignedGreaterThanOrEqual,
            Test::LessU => IntCC::UnsignedLessThan,
            Test::LessEqU => IntCC::UnsignedLessThanOrEqual,
            Test::GreaterU => IntCC::UnsignedGreaterThan,
            Test::GreaterEqU => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.once(How::Test(test, x, y), |e| e.b.ins().icmp(condition, x, y))
    }

    fn pick(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.b.ins().select(condition, yes, no)
    }

    fn narrow(&mut self, value: Value, bits: u32) -> Value {
        self.once(How::Narrow(value, bits), |e| e.b.ins().ireduce(int(bits), value))
    }

    fn widen(&mut self, value: Value, bits: u32, signed: bool) -> Value {
        self.once(How::Widen(value, bits, signed), |e| {
            let b = e.b.ins();
            if signed { b.sextend(int(bits), value) } else { b.uextend(int(bits), value) }
        })
    }
}
