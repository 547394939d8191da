//! Executes the instructions of the DSP extension (ARM DDI 0403, A7.7); operands as in [`crate::exec`].

use super::{Insn, operand, reg, set, sign};
use crate::op::{Fit, Lanes, Size, Sum};
use crate::state::Thumb;
use crate::step::Kind;

/// The low or the high halfword with its sign.
#[inline(always)]
fn half(x: u32, top: bool) -> i32 {
    i32::from((x >> if top { 16 } else { 0 }) as i16)
}

/// Parallel addition and subtraction. Wrapping forms set GE for each lane.
#[inline(always)]
pub(crate) fn parallel(cpu: &mut Thumb, i: &Insn, op: Lanes, fit: Fit) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let signed = matches!(fit, Fit::S | Fit::Q | Fit::Sh);
    let bytes = matches!(op, Lanes::Add8 | Lanes::Sub8);
    let (lanes, bits) = if bytes { (4, 8) } else { (2, 16) };
    let lane = |word: u32, k: u32| {
        let v = word >> (k * bits) << (32 - bits);
        if signed { v as i32 >> (32 - bits) } else { (v >> (32 - bits)) as i32 }
    };
    let (mut value, mut ge) = (0u32, 0u32);
    for k in 0..lanes {
        let (adds, other) = match op {
            Lanes::Add8 | Lanes::Add16 => (true, k),
            Lanes::Sub8 | Lanes::Sub16 => (false, k),
            Lanes::Asx => (k == 1, 1 - k),
            Lanes::Sax => (k == 0, 1 - k),
        };
        let (a, b) = (lane(x, k), lane(y, other));
        let sum = if adds { a + b } else { a - b };
        let result = match fit {
            Fit::S | Fit::U => {
                let set = if !signed && adds { sum >> bits != 0 } else { sum >= 0 };
                ge |= if set { ((1 << (4 / lanes)) - 1) << (k * (4 / lanes)) } else { 0 };
                sum
            }
            Fit::Q => sum.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1),
            Fit::Uq => sum.clamp(0, (1 << bits) - 1),
            Fit::Sh | Fit::Uh => sum >> 1,
        };
        value |= (result as u32 & u32::MAX >> (32 - bits)) << (k * bits);
    }
    set(cpu, i.a, value);
    if matches!(fit, Fit::S | Fit::U) {
        cpu.ge = ge;
    }
}

/// SEL: bytes of `b` where GE is set, of `c` elsewhere.
#[inline(always)]
pub(crate) fn select(cpu: &mut Thumb, i: &Insn) {
    let spread = (cpu.ge & 1) | (cpu.ge & 2) << 7 | (cpu.ge & 4) << 14 | (cpu.ge & 8) << 21;
    let mask = spread * 0xFF;
    set(cpu, i.a, reg(cpu, i.b) & mask | reg(cpu, i.c) & !mask);
}

/// PKHBT and, with ASR, PKHTB: the named half of `c`, shifted, together with the other half of `b`.
#[inline(always)]
pub(crate) fn pack(cpu: &mut Thumb, i: &Insn, kind: Kind) {
    let (n, m) = (reg(cpu, i.b), operand(cpu, i, kind).0);
    set(cpu, i.a, if kind == Kind::Asr { n & 0xFFFF_0000 | m & 0xFFFF } else { n & 0xFFFF | m & 0xFFFF_0000 });
}

/// SXTAB, SXTAH, UXTAB, UXTAH.
#[inline(always)]
pub(crate) fn extend_add(cpu: &mut Thumb, i: &Insn, size: Size, signed: bool) {
    let v = sign(reg(cpu, i.c).rotate_right(i.d.into()), size, signed);
    set(cpu, i.a, reg(cpu, i.b).wrapping_add(v));
}

/// SXTB16, UXTB16 and, with addition, SXTAB16, UXTAB16: bytes 0 and 2.
#[inline(always)]
pub(crate) fn extend16(cpu: &mut Thumb, i: &Insn, signed: bool, add: bool) {
    let v = reg(cpu, i.c).rotate_right(i.d.into());
    let n = if add { reg(cpu, i.b) } else { 0 };
    let low = sign(v, Size::Byte, signed).wrapping_add(n) & 0xFFFF;
    let high = sign(v >> 16, Size::Byte, signed).wrapping_add(n >> 16);
    set(cpu, i.a, high << 16 | low);
}

/// SSAT16 and USAT16 to `imm` bits.
#[inline(always)]
pub(crate) fn saturate16(cpu: &mut Thumb, i: &Insn, signed: bool) {
    let v = reg(cpu, i.c);
    let (low, high) = match signed {
        true => (-1 << (i.imm.wrapping_sub(1) & 31), (1 << (i.imm.wrapping_sub(1) & 31)) - 1),
        false => (0, (1 << (i.imm & 31)) - 1),
    };
    let (l, h) = (half(v, false), half(v, true));
    let (cl, ch) = (l.clamp(low, high), h.clamp(low, high));
    cpu.q |= cl != l || ch != h;
    set(cpu, i.a, (ch as u32) << 16 | cl as u32 & 0xFFFF);
}

#[inline(always)]
fn clamp(cpu: &mut Thumb, v: i64) -> i32 {
    let value = v.clamp(i32::MIN.into(), i32::MAX.into());
    cpu.q |= value != v;
    value as i32
}

/// QADD, QSUB and, with `double`, QDADD, QDSUB: register `c` and then `b`.
#[inline(always)]
pub(crate) fn saturating(cpu: &mut Thumb, i: &Insn, double: bool, sub: bool) {
    let m = i64::from(reg(cpu, i.c) as i32);
    let n = i64::from(reg(cpu, i.b) as i32);
    let n = if double { i64::from(clamp(cpu, 2 * n)) } else { n };
    let value = clamp(cpu, if sub { m - n } else { m + n });
    set(cpu, i.a, value as u32);
}

/// Adds register `d` if there is an addition; a sum that does not fit sets Q.
#[inline(always)]
fn accumulate(cpu: &mut Thumb, i: &Insn, v: i64, sum: Sum) {
    let sum = if sum != Sum::Alone { v + i64::from(reg(cpu, i.d) as i32) } else { v };
    cpu.q |= i64::from(sum as i32) != sum;
    set(cpu, i.a, sum as u32);
}

/// SMULxy and, with addition, SMLAxy: `n` and `m` select the high halves.
#[inline(always)]
pub(crate) fn halves(cpu: &mut Thumb, i: &Insn, n: bool, m: bool, sum: Sum) {
    let product = half(reg(cpu, i.b), n) * half(reg(cpu, i.c), m);
    accumulate(cpu, i, product.into(), sum);
}

/// SMULWy and, with addition, SMLAWy.
#[inline(always)]
pub(crate) fn wide_half(cpu: &mut Thumb, i: &Insn, m: bool, sum: Sum) {
    let product = i64::from(reg(cpu, i.b) as i32) * i64::from(half(reg(cpu, i.c), m));
    accumulate(cpu, i, product >> 16, sum);
}

/// Sum or difference of the products of both halves; `cross` exchanges those of the second operand.
#[inline(always)]
fn both(cpu: &Thumb, i: &Insn, second: Sum, cross: bool) -> i64 {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let low = i64::from(half(x, false) * half(y, cross));
    let high = i64::from(half(x, true) * half(y, !cross));
    if second == Sum::Minus { low - high } else { low + high }
}

/// SMUAD, SMUSD and, with addition, SMLAD, SMLSD.
#[inline(always)]
pub(crate) fn dual(cpu: &mut Thumb, i: &Insn, second: Sum, cross: bool, sum: Sum) {
    let v = both(cpu, i, second, cross);
    accumulate(cpu, i, v, sum);
}

/// SMMUL, SMMLA, SMMLS, rounded or not.
#[inline(always)]
pub(crate) fn high_word(cpu: &mut Thumb, i: &Insn, sum: Sum, round: bool) {
    let product = i64::from(reg(cpu, i.b) as i32) * i64::from(reg(cpu, i.c) as i32);
    let acc = (u64::from(reg(cpu, i.d)) << 32) as i64;
    let value = match sum {
        Sum::Alone => product,
        Sum::Plus => acc.wrapping_add(product),
        Sum::Minus => acc.wrapping_sub(product),
    };
    let value = value.wrapping_add(if round { 1 << 31 } else { 0 });
    set(cpu, i.a, (value >> 32) as u32);
}

/// USAD8 and, with addition, USADA8.
#[inline(always)]
pub(crate) fn differences(cpu: &mut Thumb, i: &Insn, accumulate: Sum) {
    let (x, y) = (reg(cpu, i.b).to_le_bytes(), reg(cpu, i.c).to_le_bytes());
    let sum: u32 = x.iter().zip(&y).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    set(cpu, i.a, if accumulate != Sum::Alone { sum.wrapping_add(reg(cpu, i.d)) } else { sum });
}

/// Adds to the double word in `d` and `a`.
#[inline(always)]
fn accumulate_long(cpu: &mut Thumb, i: &Insn, v: i64) {
    let old = u64::from(reg(cpu, i.d)) << 32 | u64::from(reg(cpu, i.a));
    let value = old.wrapping_add(v as u64);
    set(cpu, i.a, value as u32);
    set(cpu, i.d, (value >> 32) as u32);
}

/// SMLALxy.
#[inline(always)]
pub(crate) fn halves_long(cpu: &mut Thumb, i: &Insn, n: bool, m: bool) {
    let product = half(reg(cpu, i.b), n) * half(reg(cpu, i.c), m);
    accumulate_long(cpu, i, product.into());
}

/// SMLALD, SMLSLD.
#[inline(always)]
pub(crate) fn dual_long(cpu: &mut Thumb, i: &Insn, second: Sum, cross: bool) {
    let v = both(cpu, i, second, cross);
    accumulate_long(cpu, i, v);
}

/// UMAAL: both words are added to the product.
#[inline(always)]
pub(crate) fn accumulate_twice(cpu: &mut Thumb, i: &Insn) {
    let product = u64::from(reg(cpu, i.b)) * u64::from(reg(cpu, i.c));
    let value = product + u64::from(reg(cpu, i.a)) + u64::from(reg(cpu, i.d));
    set(cpu, i.a, value as u32);
    set(cpu, i.d, (value >> 32) as u32);
}
