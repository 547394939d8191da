//! Computes the results and flags of operations with one or two operands.

use super::{mask, signed};
use crate::op::{Binary, Unary};
use crate::status::{C, N, Status, V, Z};

/// An operation on a source `x` and a destination `y`, both as wide as the operand.
pub(crate) trait Two {
    /// Which one.
    const OP: Binary;
    /// Whether the result goes to the destination.
    const WRITES: bool = true;
    /// Whether it needs the destination's value.
    const READS: bool = true;
    /// The result; sets the flags in `flags`.
    fn apply(s: &mut Status, x: u16, y: u16, byte: bool, flags: u16) -> u16;
}

#[inline(always)]
fn sum(s: &mut Status, x: u16, y: u16, carry: u16, byte: bool, flags: u16) -> u16 {
    let wide = u32::from(x) + u32::from(y) + u32::from(carry);
    let res = wide as u16 & mask(byte);
    if flags & C != 0 {
        s.c = (wide >> if byte { 8 } else { 16 }) as u16;
    }
    if flags & (N | Z) != 0 {
        s.nz = signed(res, byte);
    }
    if flags & V != 0 {
        s.v = signed((x ^ res) & (y ^ res), byte) < 0;
    }
    res
}

/// Flags of a result of bitwise logic: the carry is set when it is not zero.
#[inline(always)]
fn logic(s: &mut Status, res: u16, overflow: bool, byte: bool, flags: u16) -> u16 {
    if flags & C != 0 {
        s.c = (res != 0).into();
    }
    if flags & (N | Z) != 0 {
        s.nz = signed(res, byte);
    }
    if flags & V != 0 {
        s.v = overflow;
    }
    res
}

macro_rules! operations {
    ($($name:ident { $($const:ident = $value:expr;)* } |$s:ident, $x:ident, $y:ident, $b:ident, $f:ident| $body:expr;)+) => {$(
        pub(crate) struct $name;
        impl Two for $name {
            const OP: Binary = Binary::$name;
            $(const $const: operations!(@type $const) = $value;)*
            #[inline(always)]
            fn apply($s: &mut Status, $x: u16, $y: u16, $b: bool, $f: u16) -> u16 {
                $body
            }
        }
    )+};
    (@type WRITES) => { bool };
    (@type READS) => { bool };
}

operations! {
    Mov { READS = false; } |_s, x, _y, _b, _f| x;
    Add {} |s, x, y, b, f| sum(s, x, y, 0, b, f);
    Addc {} |s, x, y, b, f| sum(s, x, y, s.c, b, f);
    Sub {} |s, x, y, b, f| sum(s, !x & mask(b), y, 1, b, f);
    Subc {} |s, x, y, b, f| sum(s, !x & mask(b), y, s.c, b, f);
    Cmp { WRITES = false; } |s, x, y, b, f| sum(s, !x & mask(b), y, 1, b, f);
    Dadd {} |s, x, y, b, f| decimal(s, x, y, b, f);
    And {} |s, x, y, b, f| logic(s, x & y, false, b, f);
    Bit { WRITES = false; } |s, x, y, b, f| logic(s, x & y, false, b, f);
    Xor {} |s, x, y, b, f| logic(s, x ^ y, signed(x & y, b) < 0, b, f);
    Bic {} |_s, x, y, _b, _f| !x & y;
    Bis {} |_s, x, y, _b, _f| x | y;
}

/// Decimal addition, digit by digit. V is undefined (SLAU049, 3.4.6, DADD) and cleared here.
#[inline(always)]
fn decimal(s: &mut Status, x: u16, y: u16, byte: bool, flags: u16) -> u16 {
    let (mut res, mut carry) = (0, s.c);
    for digit in 0..if byte { 2 } else { 4 } {
        let mut d = (x >> (4 * digit) & 15) + (y >> (4 * digit) & 15) + carry;
        carry = (d >= 10).into();
        if d >= 10 {
            d -= 10;
        }
        res |= (d & 15) << (4 * digit);
    }
    if flags & C != 0 {
        s.c = carry;
    }
    if flags & (N | Z) != 0 {
        s.nz = signed(res, byte);
    }
    if flags & V != 0 {
        s.v = false;
    }
    res
}

/// An operation on one operand, in place.
pub(crate) trait One {
    /// Which one.
    const OP: Unary;
    /// The result; sets the flags in `flags`.
    fn apply(s: &mut Status, x: u16, byte: bool, flags: u16) -> u16;
}

#[inline(always)]
fn shifted(s: &mut Status, x: u16, res: u16, overflow: bool, byte: bool, flags: u16) -> u16 {
    if flags & C != 0 {
        s.c = x & 1;
    }
    if flags & (N | Z) != 0 {
        s.nz = signed(res, byte);
    }
    if flags & V != 0 {
        s.v = overflow;
    }
    res
}

/// Rotation through the carry.
pub(crate) struct Rrc;
impl One for Rrc {
    const OP: Unary = Unary::Rrc;
    #[inline(always)]
    fn apply(s: &mut Status, x: u16, byte: bool, flags: u16) -> u16 {
        let res = x >> 1 | s.c << if byte { 7 } else { 15 };
        // set when a positive number becomes negative (SLAU049, 3.4.6, RRC)
        let overflow = signed(!x & res, byte) < 0;
        shifted(s, x, res, overflow, byte, flags)
    }
}

/// Arithmetic shift.
pub(crate) struct Rra;
impl One for Rra {
    const OP: Unary = Unary::Rra;
    #[inline(always)]
    fn apply(s: &mut Status, x: u16, byte: bool, flags: u16) -> u16 {
        let res = (signed(x, byte) >> 1) as u16 & mask(byte);
        shifted(s, x, res, false, byte, flags)
    }
}

/// Exchange of the bytes.
pub(crate) struct Swpb;
impl One for Swpb {
    const OP: Unary = Unary::Swpb;
    #[inline(always)]
    fn apply(_: &mut Status, x: u16, _: bool, _: u16) -> u16 {
        x.swap_bytes()
    }
}

/// Sign extension of the low byte.
pub(crate) struct Sxt;
impl One for Sxt {
    const OP: Unary = Unary::Sxt;
    #[inline(always)]
    fn apply(s: &mut Status, x: u16, byte: bool, flags: u16) -> u16 {
        logic(s, i16::from(x as i8) as u16, false, byte, flags)
    }
}
