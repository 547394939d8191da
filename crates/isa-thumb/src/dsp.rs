//! What the instructions of the DSP extension do (ARM DDI 0403, A7.7): operands as in [`crate::exec`].

use crate::Thumb;
use crate::exec::{Insn, Operand, reg, set};

/// Bit field `OP` of parallel addition and subtraction: what is done to the lanes.
const ADD8: u8 = 0;
const ADD16: u8 = 1;
const ASX: u8 = 2;
const SUB8: u8 = 4;
const SUB16: u8 = 5;

/// The low or the high halfword with its sign.
#[inline(always)]
fn half(x: u32, top: bool) -> i32 {
    i32::from((x >> if top { 16 } else { 0 }) as i16)
}

/// Parallel addition and subtraction. `OP` are bits 22 to 20 and `PREFIX` bits 6 to 4 of the encoding:
/// 0 S, 1 Q, 2 SH, 4 U, 5 UQ, 6 UH. Wrapping forms set GE for each lane.
#[inline(always)]
pub fn parallel<const OP: u8, const PREFIX: u8>(cpu: &mut Thumb, i: &Insn) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let signed = PREFIX < 4;
    let bytes = OP == ADD8 || OP == SUB8;
    let (lanes, bits) = if bytes { (4, 8) } else { (2, 16) };
    let lane = |word: u32, k: u32| {
        let v = word >> (k * bits) << (32 - bits);
        if signed { v as i32 >> (32 - bits) } else { (v >> (32 - bits)) as i32 }
    };
    let (mut value, mut ge) = (0u32, 0u32);
    for k in 0..lanes {
        let (adds, other) = match OP {
            ADD8 | ADD16 => (true, k),
            SUB8 | SUB16 => (false, k),
            ASX => (k == 1, 1 - k),
            _ => (k == 0, 1 - k),
        };
        let (a, b) = (lane(x, k), lane(y, other));
        let sum = if adds { a + b } else { a - b };
        let result = match PREFIX & 3 {
            0 => {
                let set = if !signed && adds { sum >> bits != 0 } else { sum >= 0 };
                ge |= if set { ((1 << (4 / lanes)) - 1) << (k * (4 / lanes)) } else { 0 };
                sum
            }
            1 if signed => sum.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1),
            1 => sum.clamp(0, (1 << bits) - 1),
            _ => sum >> 1,
        };
        value |= (result as u32 & u32::MAX >> (32 - bits)) << (k * bits);
    }
    set(cpu, i.a, value);
    if PREFIX & 3 == 0 {
        cpu.ge = ge;
    }
}

/// SEL: bytes of `b` where GE is set, of `c` elsewhere.
#[inline(always)]
pub fn select(cpu: &mut Thumb, i: &Insn) {
    let spread = (cpu.ge & 1) | (cpu.ge & 2) << 7 | (cpu.ge & 4) << 14 | (cpu.ge & 8) << 21;
    let mask = spread * 0xFF;
    set(cpu, i.a, reg(cpu, i.b) & mask | reg(cpu, i.c) & !mask);
}

/// PKHBT (`TOP` unset) and PKHTB: the named half of `c`, shifted, beside the other one of `b`.
#[inline(always)]
pub fn pack<O: Operand, const TOP: bool>(cpu: &mut Thumb, i: &Insn) {
    let (n, m) = (reg(cpu, i.b), O::get(cpu, i).0);
    set(cpu, i.a, if TOP { n & 0xFFFF_0000 | m & 0xFFFF } else { n & 0xFFFF | m & 0xFFFF_0000 });
}

/// SXTAB, SXTAH, UXTAB, UXTAH.
#[inline(always)]
pub fn extend_add<const BITS: u32, const SIGNED: bool>(cpu: &mut Thumb, i: &Insn) {
    let v = reg(cpu, i.c).rotate_right(i.d.into()) << (32 - BITS);
    let v = if SIGNED { (v as i32 >> (32 - BITS)) as u32 } else { v >> (32 - BITS) };
    set(cpu, i.a, reg(cpu, i.b).wrapping_add(v));
}

/// SXTB16, UXTB16 and, with `ADD`, SXTAB16, UXTAB16: bytes 0 and 2.
#[inline(always)]
pub fn extend16<const SIGNED: bool, const ADD: bool>(cpu: &mut Thumb, i: &Insn) {
    let v = reg(cpu, i.c).rotate_right(i.d.into());
    let n = if ADD { reg(cpu, i.b) } else { 0 };
    let byte = |v: u32| if SIGNED { v as u8 as i8 as u32 } else { v & 0xFF };
    let low = byte(v).wrapping_add(n) & 0xFFFF;
    let high = byte(v >> 16).wrapping_add(n >> 16);
    set(cpu, i.a, high << 16 | low);
}

/// SSAT16 and USAT16 to `imm` bits.
#[inline(always)]
pub fn saturate16<const SIGNED: bool>(cpu: &mut Thumb, i: &Insn) {
    let v = reg(cpu, i.c);
    let (low, high) = match SIGNED {
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

/// QADD, QSUB and, with `DOUBLE`, QDADD, QDSUB: register `c` and then `b`.
#[inline(always)]
pub fn saturating<const DOUBLE: bool, const SUB: bool>(cpu: &mut Thumb, i: &Insn) {
    let m = i64::from(reg(cpu, i.c) as i32);
    let n = i64::from(reg(cpu, i.b) as i32);
    let n = if DOUBLE { i64::from(clamp(cpu, 2 * n)) } else { n };
    let value = clamp(cpu, if SUB { m - n } else { m + n });
    set(cpu, i.a, value as u32);
}

/// Adds register `d` when `ADD` is set; a sum that does not fit sets Q.
#[inline(always)]
fn accumulate<const ADD: bool>(cpu: &mut Thumb, i: &Insn, v: i64) {
    let sum = if ADD { v + i64::from(reg(cpu, i.d) as i32) } else { v };
    cpu.q |= i64::from(sum as i32) != sum;
    set(cpu, i.a, sum as u32);
}

/// SMULxy and, with `ADD`, SMLAxy: `N` and `M` select the high halves.
#[inline(always)]
pub fn halves<const N: bool, const M: bool, const ADD: bool>(cpu: &mut Thumb, i: &Insn) {
    let product = half(reg(cpu, i.b), N) * half(reg(cpu, i.c), M);
    accumulate::<ADD>(cpu, i, product.into());
}

/// SMULWy and, with `ADD`, SMLAWy.
#[inline(always)]
pub fn wide_half<const M: bool, const ADD: bool>(cpu: &mut Thumb, i: &Insn) {
    let product = i64::from(reg(cpu, i.b) as i32) * i64::from(half(reg(cpu, i.c), M));
    accumulate::<ADD>(cpu, i, product >> 16);
}

/// Sum or difference of the products of both halves; `CROSS` exchanges those of the second operand.
#[inline(always)]
fn both<const SUB: bool, const CROSS: bool>(cpu: &Thumb, i: &Insn) -> i64 {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let low = i64::from(half(x, false) * half(y, CROSS));
    let high = i64::from(half(x, true) * half(y, !CROSS));
    if SUB { low - high } else { low + high }
}

/// SMUAD, SMUSD and, with `ADD`, SMLAD, SMLSD.
#[inline(always)]
pub fn dual<const SUB: bool, const CROSS: bool, const ADD: bool>(cpu: &mut Thumb, i: &Insn) {
    let v = both::<SUB, CROSS>(cpu, i);
    accumulate::<ADD>(cpu, i, v);
}

/// SMMUL (`SIGN` 0), SMMLA (1), SMMLS (-1), with rounding where `ROUND` is set.
#[inline(always)]
pub fn high_word<const ROUND: bool, const SIGN: i64>(cpu: &mut Thumb, i: &Insn) {
    let product = i64::from(reg(cpu, i.b) as i32) * i64::from(reg(cpu, i.c) as i32);
    let acc = (u64::from(reg(cpu, i.d)) << 32) as i64;
    let value = match SIGN {
        0 => product,
        1 => acc.wrapping_add(product),
        _ => acc.wrapping_sub(product),
    };
    let value = value.wrapping_add(if ROUND { 1 << 31 } else { 0 });
    set(cpu, i.a, (value >> 32) as u32);
}

/// USAD8 and, with `ADD`, USADA8.
#[inline(always)]
pub fn differences<const ADD: bool>(cpu: &mut Thumb, i: &Insn) {
    let (x, y) = (reg(cpu, i.b).to_le_bytes(), reg(cpu, i.c).to_le_bytes());
    let sum: u32 = x.iter().zip(&y).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    set(cpu, i.a, if ADD { sum.wrapping_add(reg(cpu, i.d)) } else { sum });
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
pub fn halves_long<const N: bool, const M: bool>(cpu: &mut Thumb, i: &Insn) {
    let product = half(reg(cpu, i.b), N) * half(reg(cpu, i.c), M);
    accumulate_long(cpu, i, product.into());
}

/// SMLALD, SMLSLD.
#[inline(always)]
pub fn dual_long<const SUB: bool, const CROSS: bool>(cpu: &mut Thumb, i: &Insn) {
    let v = both::<SUB, CROSS>(cpu, i);
    accumulate_long(cpu, i, v);
}

/// UMAAL: both words are added to the product.
#[inline(always)]
pub fn accumulate_twice(cpu: &mut Thumb, i: &Insn) {
    let product = u64::from(reg(cpu, i.b)) * u64::from(reg(cpu, i.c));
    let value = product + u64::from(reg(cpu, i.a)) + u64::from(reg(cpu, i.d));
    set(cpu, i.a, value as u32);
    set(cpu, i.d, (value >> 32) as u32);
}
