//! A register: 32 or 64 bits, with the operations whose meaning depends on its width.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// The content of a register; XLEN is [`Word::BITS`].
pub trait Word:
    Copy
    + Default
    + Ord
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// Bits of a register.
    const BITS: u32;
    /// Names for [`isa::Core::registers`]: of 64-bit registers the lower halves, then the upper ones.
    const NAMES: &'static [&'static str];
    /// From 32 bits, sign-extended.
    fn sext(v: u32) -> Self;
    /// From 32 bits, zero-extended.
    fn zext(v: u32) -> Self;
    /// From 64 bits; upper bits without room are lost.
    fn cut(v: u64) -> Self;
    /// The lower 32 bits.
    fn low(self) -> u32;
    /// The upper 32 bits; 0 where there are none.
    fn high(self) -> u32;
    /// All bits, zero-extended.
    fn wide(self) -> u64;
    /// Sum.
    fn plus(self, o: Self) -> Self;
    /// Difference.
    fn minus(self, o: Self) -> Self;
    /// Lower half of the product.
    fn times(self, o: Self) -> Self;
    /// Upper half of the product of signed numbers.
    fn mulh(self, o: Self) -> Self;
    /// Upper half of the product of unsigned numbers.
    fn mulhu(self, o: Self) -> Self;
    /// Upper half of the product of a signed and an unsigned number.
    fn mulhsu(self, o: Self) -> Self;
    /// Signed quotient; -1 for a division by 0.
    fn div(self, o: Self) -> Self;
    /// Unsigned quotient; all ones for a division by 0.
    fn divu(self, o: Self) -> Self;
    /// Signed remainder; the dividend for a division by 0.
    fn rem(self, o: Self) -> Self;
    /// Unsigned remainder; the dividend for a division by 0.
    fn remu(self, o: Self) -> Self;
    /// Shifted left by `n` modulo the width.
    fn sll(self, n: u32) -> Self;
    /// Shifted right by `n` modulo the width.
    fn srl(self, n: u32) -> Self;
    /// Shifted right by `n` modulo the width, with the sign.
    fn sra(self, n: u32) -> Self;
    /// Whether it is less as a signed number.
    fn less(self, o: Self) -> bool;
}

macro_rules! word {
    ($u:ty, $i:ty, $wide:ty, $iwide:ty, $high:expr, $names:expr) => {
        impl Word for $u {
            const BITS: u32 = <$u>::BITS;
            const NAMES: &'static [&'static str] = $names;
            #[inline(always)]
            fn sext(v: u32) -> Self {
                v as i32 as $u
            }
            #[inline(always)]
            fn zext(v: u32) -> Self {
                v.into()
            }
            #[inline(always)]
            fn cut(v: u64) -> Self {
                v as $u
            }
            #[inline(always)]
            fn low(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn high(self) -> u32 {
                $high(self)
            }
            #[inline(always)]
            fn wide(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn plus(self, o: Self) -> Self {
                self.wrapping_add(o)
            }
            #[inline(always)]
            fn minus(self, o: Self) -> Self {
                self.wrapping_sub(o)
            }
            #[inline(always)]
            fn times(self, o: Self) -> Self {
                self.wrapping_mul(o)
            }
            fn mulh(self, o: Self) -> Self {
                (<$iwide>::from(self as $i) * <$iwide>::from(o as $i) >> Self::BITS) as $u
            }
            fn mulhu(self, o: Self) -> Self {
                (<$wide>::from(self) * <$wide>::from(o) >> Self::BITS) as $u
            }
            fn mulhsu(self, o: Self) -> Self {
                (<$iwide>::from(self as $i) * <$iwide>::from(o) >> Self::BITS) as $u
            }
            fn div(self, o: Self) -> Self {
                if o == 0 { Self::MAX } else { (self as $i).wrapping_div(o as $i) as $u }
            }
            fn divu(self, o: Self) -> Self {
                self.checked_div(o).unwrap_or(Self::MAX)
            }
            fn rem(self, o: Self) -> Self {
                if o == 0 { self } else { (self as $i).wrapping_rem(o as $i) as $u }
            }
            fn remu(self, o: Self) -> Self {
                self.checked_rem(o).unwrap_or(self)
            }
            #[inline(always)]
            fn sll(self, n: u32) -> Self {
                self.wrapping_shl(n)
            }
            #[inline(always)]
            fn srl(self, n: u32) -> Self {
                self.wrapping_shr(n)
            }
            #[inline(always)]
            fn sra(self, n: u32) -> Self {
                (self as $i).wrapping_shr(n) as $u
            }
            #[inline(always)]
            fn less(self, o: Self) -> bool {
                (self as $i) < (o as $i)
            }
        }
    };
}

#[rustfmt::skip]
word!(u32, i32, u64, i64, |_| 0, &[
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
    "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc",
]);
#[rustfmt::skip]
word!(u64, i64, u128, i128, |v: u64| (v >> 32) as u32, &[
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
    "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    "zero.h", "ra.h", "sp.h", "gp.h", "tp.h", "t0.h", "t1.h", "t2.h", "s0.h", "s1.h", "a0.h", "a1.h", "a2.h", "a3.h",
    "a4.h", "a5.h", "a6.h", "a7.h", "s2.h", "s3.h", "s4.h", "s5.h", "s6.h", "s7.h", "s8.h", "s9.h", "s10.h", "s11.h",
    "t3.h", "t4.h", "t5.h", "t6.h", "pc",
]);
