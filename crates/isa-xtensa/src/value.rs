//! Computes the results of operations without memory or jumps, for interpreter and translator alike.

use isa::native::{One, Op, Test, Values};

use crate::op::{Against, Amount, Binary, CONSTANTS, Condition, Keep, Shift, Unary};

/// `x` shifted left by a constant.
#[inline(always)]
fn left<E: Values>(e: &mut E, x: E::V, n: u32) -> E::V {
    constant(e, Op::Shl, x, n)
}

#[inline(always)]
fn constant<E: Values>(e: &mut E, op: Op, x: E::V, n: u32) -> E::V {
    let n = e.int(32, n.into());
    e.op(op, x, n)
}

#[inline(always)]
fn least<E: Values>(e: &mut E, test: Test, x: E::V, y: E::V) -> E::V {
    let first = e.test(test, x, y);
    e.pick(first, x, y)
}

/// A result from two registers.
#[inline(always)]
pub fn binary<E: Values>(e: &mut E, op: Binary, x: E::V, y: E::V) -> E::V {
    match op {
        Binary::And => e.op(Op::And, x, y),
        Binary::Or => e.op(Op::Or, x, y),
        Binary::Xor => e.op(Op::Xor, x, y),
        Binary::Add => e.op(Op::Add, x, y),
        Binary::Addx2 => times(e, Op::Add, x, 1, y),
        Binary::Addx4 => times(e, Op::Add, x, 2, y),
        Binary::Addx8 => times(e, Op::Add, x, 3, y),
        Binary::Sub => e.op(Op::Sub, x, y),
        Binary::Subx2 => times(e, Op::Sub, x, 1, y),
        Binary::Subx4 => times(e, Op::Sub, x, 2, y),
        Binary::Subx8 => times(e, Op::Sub, x, 3, y),
        Binary::Min => least(e, Test::Less, x, y),
        Binary::Max => least(e, Test::Greater, x, y),
        Binary::Minu => least(e, Test::LessU, x, y),
        Binary::Maxu => least(e, Test::GreaterU, x, y),
        Binary::Mul16u => product(e, x, y, false),
        Binary::Mul16s => product(e, x, y, true),
        Binary::Mull => e.op(Op::Mul, x, y),
        Binary::Muluh => e.op(Op::MulHighU, x, y),
        Binary::Mulsh => e.op(Op::MulHighS, x, y),
    }
}

#[inline(always)]
fn times<E: Values>(e: &mut E, op: Op, x: E::V, by: u32, y: E::V) -> E::V {
    let x = left(e, x, by);
    e.op(op, x, y)
}

#[inline(always)]
fn product<E: Values>(e: &mut E, x: E::V, y: E::V, signed: bool) -> E::V {
    let (x, y) = (e.narrow(x, 16), e.narrow(y, 16));
    let (x, y) = (e.widen(x, 32, signed), e.widen(y, 32, signed));
    e.op(Op::Mul, x, y)
}

/// A result from a register, a small number `d` and an immediate.
#[inline(always)]
pub fn unary<E: Values>(e: &mut E, op: Unary, x: E::V, d: u8, imm: u32) -> E::V {
    let n = u32::from(d & 31);
    match op {
        Unary::Mov => x,
        Unary::Neg => negative(e, x),
        Unary::Abs => {
            let (zero, other) = (e.int(32, 0), negative(e, x));
            let below = e.test(Test::Less, x, zero);
            e.pick(below, other, x)
        }
        Unary::Addi => constant(e, Op::Add, x, imm),
        Unary::Slli => left(e, x, n),
        Unary::Srli => constant(e, Op::Shr, x, n),
        Unary::Srai => constant(e, Op::Sar, x, n),
        Unary::Extui => {
            let x = constant(e, Op::Shr, x, n);
            constant(e, Op::And, x, imm)
        }
        Unary::Sext => {
            let x = left(e, x, 31 - n);
            constant(e, Op::Sar, x, 31 - n)
        }
        Unary::Clamps => {
            let top = (1u32 << n) - 1;
            let (top, bottom) = (e.int(32, top.into()), e.int(32, (!top).into()));
            let x = least(e, Test::Less, x, top);
            least(e, Test::Greater, x, bottom)
        }
        // copies of the sign bit next to it
        Unary::Nsa => {
            let signs = constant(e, Op::Sar, x, 31);
            let other = e.op(Op::Xor, x, signs);
            let zeros = e.one(One::LeadingZeros, other);
            constant(e, Op::Sub, zeros, 1)
        }
        Unary::Nsau => e.one(One::LeadingZeros, x),
    }
}

#[inline(always)]
fn negative<E: Values>(e: &mut E, x: E::V) -> E::V {
    let zero = e.int(32, 0);
    e.op(Op::Sub, zero, x)
}

/// A conditional move of `x` by `y`; `old` is the value that stays.
#[inline(always)]
pub fn keep<E: Values>(e: &mut E, op: Keep, old: E::V, x: E::V, y: E::V) -> E::V {
    let test = match op {
        Keep::Moveqz => Test::Eq,
        Keep::Movnez => Test::Ne,
        Keep::Movltz => Test::Less,
        Keep::Movgez => Test::GreaterEq,
    };
    let zero = e.int(32, 0);
    let moved = e.test(test, y, zero);
    e.pick(moved, x, old)
}

/// SAR from a register, or from `imm`.
#[inline(always)]
pub fn amount<E: Values>(e: &mut E, op: Amount, x: E::V, imm: u32) -> E::V {
    match op {
        Amount::Ssr => constant(e, Op::And, x, 31),
        Amount::Ssl => {
            let n = constant(e, Op::And, x, 31);
            from_32(e, n)
        }
        Amount::Ssa8l => bytes(e, x),
        Amount::Ssa8b => {
            let n = bytes(e, x);
            from_32(e, n)
        }
        Amount::Ssai => e.int(32, imm.into()),
    }
}

#[inline(always)]
fn bytes<E: Values>(e: &mut E, x: E::V) -> E::V {
    let n = constant(e, Op::And, x, 3);
    left(e, n, 3)
}

#[inline(always)]
fn from_32<E: Values>(e: &mut E, n: E::V) -> E::V {
    let all = e.int(32, 32);
    e.op(Op::Sub, all, n)
}

/// A shift by SAR of one register, or of the pair `x` and `y`. Amounts above 32, which the manual does not define,
/// shift further.
#[inline(always)]
pub fn shift<E: Values>(e: &mut E, op: Shift, x: E::V, y: E::V, sar: E::V) -> E::V {
    let zero = e.int(32, 0);
    let (high, low) = match op {
        Shift::Src => (x, y),
        Shift::Sll => (x, zero),
        Shift::Srl => (zero, x),
        Shift::Sra => (constant(e, Op::Sar, x, 31), x),
    };
    let (high, low, sar) = (e.widen(high, 64, false), e.widen(low, 64, false), e.widen(sar, 64, false));
    let half = e.int(64, 32);
    let high = e.op(Op::Shl, high, half);
    let both = e.op(Op::Or, high, low);
    let moved = e.op(Op::Shr, both, sar);
    e.narrow(moved, 32)
}

/// The other operand of a branch: register `y`, or a constant given by `d`.
#[inline(always)]
pub fn against<E: Values>(e: &mut E, what: Against, y: impl FnOnce(&mut E) -> E::V, d: u8) -> E::V {
    let n = usize::from(d & 31);
    match what {
        Against::Register => y(e),
        Against::Zero => e.int(32, 0),
        Against::Constant => e.int(32, CONSTANTS[n].into()),
        Against::Bit => e.int(32, 1 << n),
    }
}

/// Whether a branch is taken.
#[inline(always)]
pub fn holds<E: Values>(e: &mut E, condition: Condition, x: E::V, y: E::V) -> E::V {
    match condition {
        Condition::Beq => e.test(Test::Eq, x, y),
        Condition::Bne => e.test(Test::Ne, x, y),
        Condition::Blt => e.test(Test::Less, x, y),
        Condition::Bge => e.test(Test::GreaterEq, x, y),
        Condition::Bltu => e.test(Test::LessU, x, y),
        Condition::Bgeu => e.test(Test::GreaterEqU, x, y),
        Condition::Bnone => common(e, Test::Eq, x, y),
        Condition::Bany => common(e, Test::Ne, x, y),
        Condition::Ball => {
            let x = constant(e, Op::Xor, x, !0);
            common(e, Test::Eq, x, y)
        }
        Condition::Bnall => {
            let x = constant(e, Op::Xor, x, !0);
            common(e, Test::Ne, x, y)
        }
        Condition::Bbc => {
            let bit = bit(e, y);
            common(e, Test::Eq, x, bit)
        }
        Condition::Bbs => {
            let bit = bit(e, y);
            common(e, Test::Ne, x, bit)
        }
    }
}

#[inline(always)]
fn bit<E: Values>(e: &mut E, n: E::V) -> E::V {
    let one = e.int(32, 1);
    e.op(Op::Shl, one, n)
}

#[inline(always)]
fn common<E: Values>(e: &mut E, test: Test, x: E::V, y: E::V) -> E::V {
    let (both, zero) = (e.op(Op::And, x, y), e.int(32, 0));
    e.test(test, both, zero)
}
