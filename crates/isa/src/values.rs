//! Describes arithmetic once, for the interpreter to do and for the translator to turn into code.
//!
//! A core writes what an instruction computes as a function over [`Values`]. With [`Plain`] and a known operation the
//! optimiser turns it into the few host instructions that it stands for.

/// Operations on two numbers of the same width; shift amounts are taken modulo this width.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Add,
    Sub,
    Mul,
    /// Upper half of the product of unsigned numbers.
    MulHighU,
    /// Upper half of the product of signed numbers.
    MulHighS,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Sar,
    Rotr,
}

/// Comparisons; those with U compare unsigned numbers.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Eq,
    Ne,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    LessU,
    LessEqU,
    GreaterU,
    GreaterEqU,
}

/// Operations on one number.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum One {
    LeadingZeros,
    ReverseBits,
    ReverseBytes,
}

/// Computes with numbers of 8, 16, 32 or 64 bits, now or in generated code.
pub trait Values {
    /// A number.
    type V: Copy + 'static;

    /// A constant.
    fn int(&mut self, bits: u32, value: u64) -> Self::V;
    /// An operation on two numbers.
    fn op(&mut self, op: Op, x: Self::V, y: Self::V) -> Self::V;
    /// An operation on one number.
    fn one(&mut self, op: One, x: Self::V) -> Self::V;
    /// A comparison: 0 or 1, of 8 bits.
    fn test(&mut self, test: Test, x: Self::V, y: Self::V) -> Self::V;
    /// One of two values.
    fn pick(&mut self, condition: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// The low `bits` of a wider value.
    fn narrow(&mut self, value: Self::V, bits: u32) -> Self::V;
    /// A narrower value, extended with zeros or its sign.
    fn widen(&mut self, value: Self::V, bits: u32, signed: bool) -> Self::V;
}

/// Computes immediately.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// A number of [`Plain`]; bits above its width are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    bits: u32,
    value: u64,
}

impl Number {
    #[inline(always)]
    fn new(bits: u32, value: u64) -> Self {
        Self { bits, value: value & u64::MAX >> (64 - bits) }
    }

    /// The low 32 bits.
    #[inline(always)]
    pub fn word(self) -> u32 {
        self.value as u32
    }

    /// Whether it is not 0.
    #[inline(always)]
    pub fn holds(self) -> bool {
        self.value != 0
    }

    #[inline(always)]
    fn signed(self) -> i64 {
        (self.value << (64 - self.bits)) as i64 >> (64 - self.bits)
    }
}

impl From<u32> for Number {
    #[inline(always)]
    fn from(value: u32) -> Self {
        Self { bits: 32, value: value.into() }
    }
}

impl Values for Plain {
    type V = Number;

    #[inline(always)]
    fn int(&mut self, bits: u32, value: u64) -> Number {
        Number::new(bits, value)
    }

    #[inline(always)]
    fn op(&mut self, op: Op, x: Number, y: Number) -> Number {
        let bits = x.bits;
        let amount = y.value as u32 & (bits - 1);
        Number::new(
            bits,
            match op {
                Op::Add => x.value.wrapping_add(y.value),
                Op::Sub => x.value.wrapping_sub(y.value),
                Op::Mul => x.value.wrapping_mul(y.value),
                Op::MulHighU => ((u128::from(x.value) * u128::from(y.value)) >> bits) as u64,
                Op::MulHighS => ((i128::from(x.signed()) * i128::from(y.signed())) >> bits) as u64,
                Op::And => x.value & y.value,
                Op::Or => x.value | y.value,
                Op::Xor => x.value ^ y.value,
                Op::Shl => x.value << amount,
                Op::Shr => x.value >> amount,
                Op::Sar => (x.signed() >> amount) as u64,
                Op::Rotr => x.value >> amount | x.value << ((bits - amount) & (bits - 1)),
            },
        )
    }

    #[inline(always)]
    fn one(&mut self, op: One, x: Number) -> Number {
        let top = 64 - x.bits;
        let value = match op {
            One::LeadingZeros => u64::from(x.value.leading_zeros() - top),
            One::ReverseBits => x.value.reverse_bits() >> top,
            One::ReverseBytes => x.value.swap_bytes() >> top,
        };
        Number::new(x.bits, value)
    }

    #[inline(always)]
    fn test(&mut self, test: Test, x: Number, y: Number) -> Number {
        let holds = match test {
            Test::Eq => x.value == y.value,
            Test::Ne => x.value != y.value,
            Test::Less => x.signed() < y.signed(),
            Test::LessEq => x.signed() <= y.signed(),
            Test::Greater => x.signed() > y.signed(),
            Test::GreaterEq => x.signed() >= y.signed(),
            Test::LessU => x.value < y.value,
            Test::LessEqU => x.value <= y.value,
            Test::GreaterU => x.value > y.value,
            Test::GreaterEqU => x.value >= y.value,
        };
        Number::new(8, holds.into())
    }

    #[inline(always)]
    fn pick(&mut self, condition: Number, yes: Number, no: Number) -> Number {
        if condition.holds() { yes } else { no }
    }

    #[inline(always)]
    fn narrow(&mut self, value: Number, bits: u32) -> Number {
        Number::new(bits, value.value)
    }

    #[inline(always)]
    fn widen(&mut self, value: Number, bits: u32, signed: bool) -> Number {
        Number::new(bits, if signed { value.signed() as u64 } else { value.value })
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, One, Op, Plain, Test, Values};

    #[test]
    fn numbers_keep_their_width() {
        let number = |bits, value| Number { bits, value };
        let of = |op, x: u64, y: u64| Plain.op(op, number(32, x), number(32, y)).value;
        assert_eq!(of(Op::Add, 0xFFFF_FFFF, 2), 1);
        assert_eq!(of(Op::Sub, 0, 1), 0xFFFF_FFFF);
        assert_eq!(of(Op::MulHighS, 0xFFFF_FFFF, 5), 0xFFFF_FFFF);
        assert_eq!(of(Op::MulHighU, 0xFFFF_FFFF, 5), 4);
        assert_eq!((of(Op::Shl, 3, 31), of(Op::Shl, 3, 32), of(Op::Sar, 0x8000_0000, 31)), (1 << 31, 3, 0xFFFF_FFFF));
        assert_eq!((of(Op::Rotr, 1, 0), of(Op::Rotr, 1, 1), of(Op::Rotr, 0x12, 36)), (1, 1 << 31, 0x2000_0001));
        let one = |op, x| Plain.one(op, number(32, x)).value;
        assert_eq!((one(One::LeadingZeros, 0), one(One::LeadingZeros, 1)), (32, 31));
        assert_eq!((one(One::ReverseBits, 1), one(One::ReverseBytes, 1)), (1 << 31, 1 << 24));
        assert!(Plain.test(Test::Less, number(32, 1 << 31), number(32, 0)).holds());
        assert!(!Plain.test(Test::LessU, number(32, 1 << 31), number(32, 0)).holds());
        assert_eq!(Plain.widen(number(8, 0x80), 32, true).word(), 0xFFFF_FF80);
        assert_eq!(Plain.narrow(number(64, 0x1234_5678), 16).value, 0x5678);
    }
}
