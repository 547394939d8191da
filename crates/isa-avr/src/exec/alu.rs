//! Arithmetic, moves and single flags.

use super::I;
use crate::sreg::{C, N, S, Sreg, V, Z};
use crate::state::Avr;

impl Avr {
    /// Two registers as a word.
    /// They are mostly written one by one, and a word read after two byte writes waits in the host's store buffer.
    /// Volatile reads are not merged into a word.
    #[inline(always)]
    pub(super) fn pair(&self, low: u8) -> u16 {
        // SAFETY: both are references to initialised bytes.
        let byte = |n: usize| unsafe { std::ptr::read_volatile(&self.r[n]) };
        u16::from_le_bytes([byte(low.into()), byte(usize::from(low) + 1)])
    }

    #[inline(always)]
    pub(super) fn set_pair(&mut self, low: u8, value: u16) {
        [self.r[low as usize], self.r[low as usize + 1]] = value.to_le_bytes();
    }

    #[inline(always)]
    pub(super) fn a(&self, i: &I) -> u8 {
        self.r[i.a as usize]
    }

    #[inline(always)]
    pub(super) fn b(&self, i: &I) -> u8 {
        self.r[i.b as usize]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, i: &I, value: u8) {
        self.r[i.a as usize] = value;
    }
}

/// The second operand.
#[inline(always)]
fn other<const IMMEDIATE: bool>(cpu: &Avr, i: &I) -> u8 {
    if IMMEDIATE { i.imm as u8 } else { cpu.b(i) }
}

/// Flags of an addition or subtraction except Z.
#[inline(always)]
fn carries<const F: u8>(s: &mut Sreg, d: u8, r: u8, res: u8, carry: bool, overflow: u8) {
    if F & C != 0 {
        s.c = carry.into();
    }
    if F & !(C | Z) != 0 {
        s.h = d ^ r ^ res;
        s.n = res;
        s.v = overflow;
        s.s = res ^ overflow;
    }
}

/// Flags N, V and S of a result, and Z.
#[inline(always)]
fn result<const F: u8>(s: &mut Sreg, res: u8, overflow: u8) {
    if F & Z != 0 {
        s.z = res;
    }
    if F & (N | V | S) != 0 {
        s.n = res;
        s.v = overflow;
        s.s = res ^ overflow;
    }
}

#[inline(always)]
fn plus<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I, carry: u8) {
    let (d, r) = (cpu.a(i), other::<IMMEDIATE>(cpu, i));
    let wide = u32::from(d) + u32::from(r) + u32::from(carry);
    let res = wide as u8;
    carries::<F>(&mut cpu.sreg, d, r, res, wide > 0xFF, (d ^ res) & (r ^ res));
    if F & Z != 0 {
        cpu.sreg.z = res;
    }
    cpu.set(i, res);
}

#[inline(always)]
fn minus<const F: u8>(cpu: &mut Avr, d: u8, r: u8) -> u8 {
    let res = d.wrapping_sub(r);
    carries::<F>(&mut cpu.sreg, d, r, res, d < r, (d ^ r) & (d ^ res));
    if F & Z != 0 {
        cpu.sreg.z = res;
    }
    res
}

/// Subtraction with carry: Z stays clear if it was clear.
#[inline(always)]
fn minus_carry<const F: u8>(cpu: &mut Avr, d: u8, r: u8) -> u8 {
    let wide = u32::from(d).wrapping_sub(u32::from(r)).wrapping_sub(u32::from(cpu.sreg.c));
    let res = wide as u8;
    carries::<F>(&mut cpu.sreg, d, r, res, wide > 0xFF, (d ^ r) & (d ^ res));
    if F & Z != 0 {
        cpu.sreg.z |= res;
    }
    res
}

#[inline(always)]
pub(super) fn add<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    plus::<F, IMMEDIATE>(cpu, i, 0);
}

#[inline(always)]
pub(super) fn adc<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    let c = cpu.sreg.c;
    plus::<F, IMMEDIATE>(cpu, i, c);
}

#[inline(always)]
pub(super) fn sub<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    let res = minus::<F>(cpu, cpu.a(i), other::<IMMEDIATE>(cpu, i));
    cpu.set(i, res);
}

#[inline(always)]
pub(super) fn sbc<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    let res = minus_carry::<F>(cpu, cpu.a(i), other::<IMMEDIATE>(cpu, i));
    cpu.set(i, res);
}

#[inline(always)]
pub(super) fn cp<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    minus::<F>(cpu, cpu.a(i), other::<IMMEDIATE>(cpu, i));
}

#[inline(always)]
pub(super) fn cpc<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    minus_carry::<F>(cpu, cpu.a(i), other::<IMMEDIATE>(cpu, i));
}

#[inline(always)]
pub(super) fn neg<const F: u8>(cpu: &mut Avr, i: &I) {
    let res = minus::<F>(cpu, 0, cpu.a(i));
    cpu.set(i, res);
}

#[inline(always)]
fn logic<const F: u8>(cpu: &mut Avr, i: &I, res: u8) {
    result::<F>(&mut cpu.sreg, res, 0);
    cpu.set(i, res);
}

#[inline(always)]
pub(super) fn and<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) & other::<IMMEDIATE>(cpu, i));
}

#[inline(always)]
pub(super) fn or<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) | other::<IMMEDIATE>(cpu, i));
}

#[inline(always)]
pub(super) fn eor<const F: u8, const IMMEDIATE: bool>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) ^ other::<IMMEDIATE>(cpu, i));
}

#[inline(always)]
pub(super) fn com<const F: u8>(cpu: &mut Avr, i: &I) {
    if F & C != 0 {
        cpu.sreg.c = 1;
    }
    logic::<F>(cpu, i, !cpu.a(i));
}

#[inline(always)]
pub(super) fn inc<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.a(i);
    let res = d.wrapping_add(1);
    result::<F>(&mut cpu.sreg, res, !d & res);
    cpu.set(i, res);
}

#[inline(always)]
pub(super) fn dec<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.a(i);
    let res = d.wrapping_sub(1);
    result::<F>(&mut cpu.sreg, res, d & !res);
    cpu.set(i, res);
}

/// Right shift by one, `top` comes in at bit 7.
#[inline(always)]
fn shift<const F: u8>(cpu: &mut Avr, i: &I, d: u8, top: u8) {
    let res = d >> 1 | top;
    if F & C != 0 {
        cpu.sreg.c = d & 1;
    }
    result::<F>(&mut cpu.sreg, res, res ^ d << 7);
    cpu.set(i, res);
}

#[inline(always)]
pub(super) fn lsr<const F: u8>(cpu: &mut Avr, i: &I) {
    shift::<F>(cpu, i, cpu.a(i), 0);
}

#[inline(always)]
pub(super) fn asr<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.a(i);
    shift::<F>(cpu, i, d, d & 0x80);
}

#[inline(always)]
pub(super) fn ror<const F: u8>(cpu: &mut Avr, i: &I) {
    shift::<F>(cpu, i, cpu.a(i), cpu.sreg.c << 7);
}

/// Flags of a 16-bit result.
#[inline(always)]
fn word<const F: u8>(s: &mut Sreg, res: u16, carry: u8, overflow: u8) {
    if F & C != 0 {
        s.c = carry;
    }
    if F & Z != 0 {
        s.z = (res >> 8 | res) as u8;
    }
    if F & (N | V | S) != 0 {
        s.n = (res >> 8) as u8;
        s.v = overflow;
        s.s = s.n ^ overflow;
    }
}

#[inline(always)]
pub(super) fn adiw<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.pair(i.a);
    let res = d.wrapping_add(i.imm as u16);
    word::<F>(&mut cpu.sreg, res, (res < d).into(), ((!d & res) >> 8) as u8);
    cpu.set_pair(i.a, res);
}

#[inline(always)]
pub(super) fn sbiw<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.pair(i.a);
    let res = d.wrapping_sub(i.imm as u16);
    word::<F>(&mut cpu.sreg, res, (res > d).into(), ((d & !res) >> 8) as u8);
    cpu.set_pair(i.a, res);
}

/// Ends a multiplication. `LEFT` is 1 for the fractional ones.
#[inline(always)]
fn product<const F: u8, const LEFT: u8>(cpu: &mut Avr, p: u16) {
    let res = p << LEFT;
    if F & C != 0 {
        cpu.sreg.c = (p >> 15) as u8;
    }
    if F & Z != 0 {
        cpu.sreg.z = (res >> 8 | res) as u8;
    }
    cpu.set_pair(0, res);
}

#[inline(always)]
fn unsigned(cpu: &Avr, i: &I) -> u16 {
    u16::from(cpu.a(i)) * u16::from(cpu.b(i))
}

#[inline(always)]
fn signed(cpu: &Avr, i: &I) -> u16 {
    (i16::from(cpu.a(i) as i8) * i16::from(cpu.b(i) as i8)) as u16
}

#[inline(always)]
fn mixed(cpu: &Avr, i: &I) -> u16 {
    (i16::from(cpu.a(i) as i8).wrapping_mul(i16::from(cpu.b(i)))) as u16
}

#[inline(always)]
pub(super) fn mul<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 0>(cpu, unsigned(cpu, i));
}

#[inline(always)]
pub(super) fn muls<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 0>(cpu, signed(cpu, i));
}

#[inline(always)]
pub(super) fn mulsu<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 0>(cpu, mixed(cpu, i));
}

#[inline(always)]
pub(super) fn fmul<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 1>(cpu, unsigned(cpu, i));
}

#[inline(always)]
pub(super) fn fmuls<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 1>(cpu, signed(cpu, i));
}

#[inline(always)]
pub(super) fn fmulsu<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 1>(cpu, mixed(cpu, i));
}

#[inline(always)]
pub(super) fn mov(cpu: &mut Avr, i: &I) {
    cpu.set(i, cpu.b(i));
}

#[inline(always)]
pub(super) fn movw(cpu: &mut Avr, i: &I) {
    cpu.set_pair(i.a, cpu.pair(i.b));
}

#[inline(always)]
pub(super) fn ldi(cpu: &mut Avr, i: &I) {
    cpu.set(i, i.imm as u8);
}

#[inline(always)]
pub(super) fn swap(cpu: &mut Avr, i: &I) {
    cpu.set(i, cpu.a(i).rotate_left(4));
}

#[inline(always)]
pub(super) fn bst(cpu: &mut Avr, i: &I) {
    cpu.sreg.t = cpu.a(i) >> (i.b & 7) & 1;
}

#[inline(always)]
pub(super) fn bld(cpu: &mut Avr, i: &I) {
    let bit = i.b & 7;
    cpu.set(i, cpu.a(i) & !(1 << bit) | cpu.sreg.t << bit);
}

#[inline(always)]
pub(super) fn bset<const BIT: u8>(cpu: &mut Avr, _: &I) {
    cpu.sreg.put::<BIT>(true);
}

#[inline(always)]
pub(super) fn bclr<const BIT: u8>(cpu: &mut Avr, _: &I) {
    cpu.sreg.put::<BIT>(false);
}

#[inline(always)]
pub(super) fn nop(_: &mut Avr, _: &I) {}
