//! Executes instructions: plain functions over the core and one decoded instruction, here those on registers.
//!
//! Operands are where [`crate::operands`] puts them: `a` destination or transferred register, `b` first
//! operand or base, `c` second operand or index, `d` shift amount or another small number, `imm` an
//! immediate or an address. Other parameters are constants in each handler, which the optimiser folds away;
//! with `flags` unset a function leaves NZCV alone.

pub(crate) mod control;
pub(crate) mod dsp;
pub(crate) mod memory;

use crate::op::{Alu, Shift, Size};
use crate::state::Thumb;
use crate::step::Kind;

/// A decoded instruction of this core.
pub(crate) type Insn = isa::Insn<Thumb>;
/// A threaded handler of this core.
pub(crate) type Exec = isa::Exec<Thumb>;

/// A register; the array is long enough for every byte.
#[inline(always)]
pub(crate) fn reg(cpu: &Thumb, n: u8) -> u32 {
    cpu.r[n as usize]
}

#[inline(always)]
pub(crate) fn set(cpu: &mut Thumb, n: u8, value: u32) {
    cpu.r[n as usize] = value;
}

#[inline(always)]
fn set_nz(cpu: &mut Thumb, value: u32) {
    cpu.nz = i64::from(value as i32);
}

// --- data processing ---

/// The flexible second operand: its value and, where it has one, the shifter's carry.
#[inline(always)]
pub(crate) fn operand(cpu: &Thumb, i: &Insn, kind: Kind) -> (u32, Option<bool>) {
    match kind {
        Kind::Imm => (i.imm, None),
        // made by rotation: the carry is its top bit
        Kind::ImmCarry => (i.imm, Some((i.imm as i32) < 0)),
        Kind::Reg => (reg(cpu, i.c), None),
        Kind::Lsl => {
            let wide = u64::from(reg(cpu, i.c)) << (i.d & 63);
            (wide as u32, Some(wide >> 32 & 1 != 0))
        }
        Kind::Lsr => {
            let wide = u64::from(reg(cpu, i.c)) << 1 >> (i.d & 63);
            ((wide >> 1) as u32, Some(wide & 1 != 0))
        }
        Kind::Asr => {
            let wide = i64::from(reg(cpu, i.c) as i32) << 1 >> (i.d & 63);
            ((wide >> 1) as u32, Some(wide & 1 != 0))
        }
        Kind::Ror => {
            let v = reg(cpu, i.c).rotate_right(i.d.into());
            (v, Some((v as i32) < 0))
        }
        Kind::Rrx => {
            let v = reg(cpu, i.c);
            (u32::from(cpu.c) << 31 | v >> 1, Some(v & 1 != 0))
        }
    }
}

/// A data-processing instruction.
#[inline(always)]
pub(crate) fn data(cpu: &mut Thumb, i: &Insn, alu: Alu, kind: Kind, flags: bool) {
    let (y, shifter) = operand(cpu, i, kind);
    let x = reg(cpu, i.b);
    // bitwise operations leave V alone, and C where the shifter has none
    let (value, carry, overflow) = match alu {
        Alu::And | Alu::Tst => (x & y, shifter, None),
        Alu::Bic => (x & !y, shifter, None),
        Alu::Orr => (x | y, shifter, None),
        Alu::Orn => (x | !y, shifter, None),
        Alu::Eor | Alu::Teq => (x ^ y, shifter, None),
        Alu::Mov => (y, shifter, None),
        Alu::Mvn => (!y, shifter, None),
        Alu::Add | Alu::Cmn => plus(x, y),
        Alu::Adc => add_with_carry(x, y, cpu.c),
        Alu::Sub | Alu::Cmp => minus(x, y),
        Alu::Sbc => add_with_carry(x, !y, cpu.c),
        Alu::Rsb => minus(y, x),
    };
    if alu.writes() {
        set(cpu, i.a, value);
    }
    if flags {
        set_nz(cpu, value);
        cpu.c = carry.unwrap_or(cpu.c);
        cpu.v = overflow.unwrap_or(cpu.v);
    }
}

/// A result with its carry and overflow.
type Sum = (u32, Option<bool>, Option<bool>);

#[inline(always)]
fn add_with_carry(x: u32, y: u32, carry: bool) -> Sum {
    let wide = u64::from(x) + u64::from(y) + u64::from(carry);
    let value = wide as u32;
    (value, Some(wide >> 32 != 0), Some(((x ^ value) & (y ^ value)) >> 31 != 0))
}

#[inline(always)]
fn plus(x: u32, y: u32) -> Sum {
    let (value, carry) = x.overflowing_add(y);
    (value, Some(carry), Some((x as i32).overflowing_add(y as i32).1))
}

#[inline(always)]
fn minus(x: u32, y: u32) -> Sum {
    (x.wrapping_sub(y), Some(x >= y), Some((x as i32).overflowing_sub(y as i32).1))
}

/// A shift by a register.
#[inline(always)]
pub(crate) fn shift_register(cpu: &mut Thumb, i: &Insn, shift: Shift, flags: bool) {
    let x = reg(cpu, i.b);
    let n = reg(cpu, i.c) & 0xFF;
    // 33 stands for every larger amount: the result and the carry are the same
    let m = n.min(33);
    let (value, carry) = match shift {
        Shift::Lsl => {
            let wide = u64::from(x) << m;
            (wide as u32, wide >> 32 & 1 != 0)
        }
        Shift::Lsr => {
            let wide = u64::from(x) << 1 >> m;
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        Shift::Asr => {
            let wide = i64::from(x as i32) << 1 >> m;
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        Shift::Ror => {
            let v = x.rotate_right(n & 31);
            (v, v >> 31 != 0)
        }
    };
    set(cpu, i.a, value);
    if flags {
        set_nz(cpu, value);
        if n != 0 {
            cpu.c = carry;
        }
    }
}

/// MOVT.
#[inline(always)]
pub(crate) fn movt(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.a) & 0xFFFF | i.imm << 16);
}

/// Extension of a byte or halfword after rotation by `d`.
#[inline(always)]
pub(crate) fn extend(cpu: &mut Thumb, i: &Insn, size: Size, signed: bool) {
    let v = sign(reg(cpu, i.c).rotate_right(i.d.into()), size, signed);
    set(cpu, i.a, v);
}

/// The low bits of `v`, with their sign or zeros.
#[inline(always)]
pub(crate) fn sign(v: u32, size: Size, signed: bool) -> u32 {
    match (size, signed) {
        (Size::Byte, true) => v as i8 as u32,
        (Size::Byte, false) => v & 0xFF,
        (Size::Half, true) => v as i16 as u32,
        (Size::Half, false) => v & 0xFFFF,
        (Size::Word, _) => v,
    }
}

/// Bit-field extraction: lowest bit `d`, width `imm`.
#[inline(always)]
pub(crate) fn extract(cpu: &mut Thumb, i: &Insn, signed: bool) {
    let up = 32u32.wrapping_sub(u32::from(i.d) + i.imm) & 31;
    let v = reg(cpu, i.b) << up;
    let down = 32u32.wrapping_sub(i.imm) & 31;
    set(cpu, i.a, if signed { (v as i32 >> down) as u32 } else { v >> down });
}

/// BFI: mask `imm`, lowest bit `d`.
#[inline(always)]
pub(crate) fn insert(cpu: &mut Thumb, i: &Insn) {
    let v = reg(cpu, i.b) << (i.d & 31);
    set(cpu, i.a, reg(cpu, i.a) & !i.imm | v & i.imm);
}

/// BFC: mask `imm`.
#[inline(always)]
pub(crate) fn clear(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.a) & !i.imm);
}

/// CLZ.
#[inline(always)]
pub(crate) fn clz(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).leading_zeros());
}

/// RBIT.
#[inline(always)]
pub(crate) fn rbit(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).reverse_bits());
}

/// REV.
#[inline(always)]
pub(crate) fn rev(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).swap_bytes());
}

/// REV16.
#[inline(always)]
pub(crate) fn rev16(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).swap_bytes().rotate_left(16));
}

/// REVSH.
#[inline(always)]
pub(crate) fn revsh(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, (reg(cpu, i.c) as u16).swap_bytes() as i16 as u32);
}

/// SSAT, USAT (to `imm` bits) of a shifted register.
#[inline(always)]
pub(crate) fn saturate(cpu: &mut Thumb, i: &Insn, kind: Kind, signed: bool) {
    let v = i64::from(operand(cpu, i, kind).0 as i32);
    let top = (1i64 << (i.imm.wrapping_sub(u32::from(signed)) & 31)) - 1;
    let value = v.clamp(if signed { !top } else { 0 }, top);
    cpu.q |= value != v;
    set(cpu, i.a, value as u32);
}

// --- multiplication and division ---

/// MUL.
#[inline(always)]
pub(crate) fn mul(cpu: &mut Thumb, i: &Insn, flags: bool) {
    let value = reg(cpu, i.b).wrapping_mul(reg(cpu, i.c));
    set(cpu, i.a, value);
    if flags {
        set_nz(cpu, value);
    }
}

/// MLA: `d` is the added register.
#[inline(always)]
pub(crate) fn mla(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.b).wrapping_mul(reg(cpu, i.c)).wrapping_add(reg(cpu, i.d)));
}

/// MLS: the product is subtracted from register `d`.
#[inline(always)]
pub(crate) fn mls(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.d).wrapping_sub(reg(cpu, i.b).wrapping_mul(reg(cpu, i.c))));
}

/// UMULL, SMULL, UMLAL, SMLAL: low word to `a`, high word to `d`.
#[inline(always)]
pub(crate) fn mul_long(cpu: &mut Thumb, i: &Insn, signed: bool, add: bool) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let product = if signed { (i64::from(x as i32) * i64::from(y as i32)) as u64 } else { u64::from(x) * u64::from(y) };
    let old = u64::from(reg(cpu, i.d)) << 32 | u64::from(reg(cpu, i.a));
    let value = if add { old.wrapping_add(product) } else { product };
    set(cpu, i.a, value as u32);
    set(cpu, i.d, (value >> 32) as u32);
    if let Some(cycles) = cpu.events.mul_long {
        cpu.mem.stall += i64::from(cycles(x, y, signed, add));
    }
}

/// UDIV, SDIV; division by zero gives 0.
#[inline(always)]
pub(crate) fn div(cpu: &mut Thumb, i: &Insn, signed: bool) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let value = match (signed, y) {
        (_, 0) => 0,
        (true, y) => (x as i32).wrapping_div(y as i32) as u32,
        (false, y) => x / y,
    };
    set(cpu, i.a, value);
    cpu.mem.stall += i64::from((cpu.events.div)(x, y, signed));
}

/// NOP, other hints and barriers.
#[inline(always)]
pub(crate) fn nop(_: &mut Thumb, _: &Insn) {}
