//! Executes loads and stores.

use mcu::{FaultKind, Site};

use super::{Insn, reg, set};
use crate::op::{Load, Store};
use crate::state::{SP, Xtensa, special};

/// Loads `N` bytes at `address`.
#[inline(always)]
fn load<const N: usize>(cpu: &mut Xtensa, address: u32, site: Site) -> u32 {
    if N > 1 && address & (N as u32 - 1) != 0 && !unaligned(cpu, address, N as u32, site) {
        return 0;
    }
    match cpu.mem.ram_load::<N>(address) {
        Some(value) => value,
        None => load_far::<N>(cpu, address, site),
    }
}

#[cold]
fn load_far<const N: usize>(cpu: &mut Xtensa, address: u32, site: Site) -> u32 {
    narrow::<N>(cpu, address, site);
    cpu.mem.load::<N>(address, cpu.a[SP], site)
}

/// Code memory gives aligned words only.
fn narrow<const N: usize>(cpu: &mut Xtensa, address: u32, site: Site) {
    let offset = address.wrapping_sub(cpu.mem.flash_base) as usize;
    if (N < 4 || address & 3 != 0) && offset < cpu.mem.flash.len() {
        cpu.mem.fault(FaultKind::Unaligned { address }, site);
    }
}

/// Whether an unaligned access is performed; otherwise it is an exception, which ends the run.
#[cold]
fn unaligned(cpu: &mut Xtensa, address: u32, bytes: u32, site: Site) -> bool {
    if !cpu.features.unaligned() {
        cpu.mem.fault(FaultKind::Unaligned { address }, site);
        return false;
    }
    cpu.mem.count_unaligned((cpu.events.unaligned)(address, bytes));
    true
}

#[inline(always)]
fn store<const N: usize>(cpu: &mut Xtensa, address: u32, value: u32, site: Site) {
    if N > 1 && address & (N as u32 - 1) != 0 && !unaligned(cpu, address, N as u32, site) {
        return;
    }
    cpu.mem.store::<N>(address, value, cpu.a[SP], site);
}

/// L32R where the constant is not in code memory; `imm` is its address.
pub fn l32r(cpu: &mut Xtensa, i: &Insn) {
    let value = load::<4>(cpu, i.imm, i.site);
    set(cpu, i.a, value);
}

/// A load of any kind.
#[inline(always)]
pub fn load_as(cpu: &mut Xtensa, i: &Insn, op: Load) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    let value = match op {
        Load::L8ui => load::<1>(cpu, address, i.site),
        Load::L16ui => load::<2>(cpu, address, i.site),
        Load::L16si => load::<2>(cpu, address, i.site) as i16 as u32,
        Load::L32i => load::<4>(cpu, address, i.site),
    };
    set(cpu, i.a, value);
}

/// A store of any kind.
#[inline(always)]
pub fn store_as(cpu: &mut Xtensa, i: &Insn, op: Store) {
    let (address, value) = (reg(cpu, i.b).wrapping_add(i.imm), reg(cpu, i.a));
    match op {
        Store::S8i => store::<1>(cpu, address, value, i.site),
        Store::S16i => store::<2>(cpu, address, value, i.site),
        Store::S32i => store::<4>(cpu, address, value, i.site),
    }
}

/// S32C1I: stores when memory is SCOMPARE1.
pub fn s32c1i(cpu: &mut Xtensa, i: &Insn) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    if address & 3 != 0 {
        return cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    let old = load::<4>(cpu, address, i.site);
    if old == cpu.sr[usize::from(special::SCOMPARE1)] {
        store::<4>(cpu, address, reg(cpu, i.a), i.site);
    }
    set(cpu, i.a, old);
}
