//! Accesses to the data space, through pointers and the stack too, and to program memory.

use mcu::{FaultKind, Site};

use super::I;
use crate::op::{Change, Pointer};
use crate::state::{Avr, RAMPZ, SPH, SPL, SREG};

/// [`Change`] as a number.
pub(super) const KEEP: u8 = Change::Keep as u8;
pub(super) const POST: u8 = Change::Post as u8;
pub(super) const PRE: u8 = Change::Pre as u8;
pub(super) const DISPLACE: u8 = Change::Displace as u8;

/// Most cycles from the write of one half of the stack pointer to that of the other: room for restoring SREG, as compilers
/// do, or a few instructions more. Between them interrupts are off, and nothing uses it.
const BETWEEN_HALVES: u64 = 8;

/// First registers of pointers.
pub(super) const X: u8 = Pointer::X.low();
pub(super) const Y: u8 = Pointer::Y.low();
pub(super) const Z: u8 = Pointer::Z.low();

impl Avr {
    #[inline(always)]
    fn read<const FULL: bool>(&mut self, address: u32, site: Site) -> Option<u8> {
        if FULL { Some(self.read_any(address, site)) } else { self.mem.ram_load::<1>(address).map(|v| v as u8) }
    }

    #[inline(always)]
    fn write<const FULL: bool>(&mut self, address: u32, value: u8, site: Site) -> Option<()> {
        if FULL {
            self.write_any(address, value, site);
            Some(())
        } else {
            self.mem.ram_store::<1>(address, value.into()).then_some(())
        }
    }

    pub(super) fn read_any(&mut self, address: u32, site: Site) -> u8 {
        let (io, rampz) = (self.variant.io, self.variant.rampz);
        match address.wrapping_sub(io) {
            SPL => self.sp as u8,
            SPH => (self.sp >> 8) as u8,
            SREG => self.sreg.pack(),
            RAMPZ if rampz != 0 => self.rampz,
            _ if address < io => self.r[address as usize],
            _ => self.mem.load::<1>(address, self.sp.into(), site) as u8,
        }
    }

    pub(super) fn write_any(&mut self, address: u32, value: u8, site: Site) {
        let (io, rampz) = (self.variant.io, self.variant.rampz);
        match address.wrapping_sub(io) {
            half @ (SPL | SPH) => {
                let before = self.sp;
                self.sp = match half {
                    SPL => before & 0xFF00 | u16::from(value),
                    _ => before & 0xFF | u16::from(value) << 8,
                };
                self.stack_written(half, before, site);
            }
            SREG => self.sreg.write(value),
            RAMPZ if rampz != 0 => self.rampz = value & rampz,
            _ if address < io => self.r[address as usize] = value,
            _ => self.mem.store::<1>(address, value.into(), self.sp.into(), site),
        }
    }

    /// One half of the stack pointer was written, in either order: what it is between the two is not reported. What it
    /// was for longer is, when a half is written again.
    fn stack_written(&mut self, half: u32, before: u16, site: Site) {
        let now = self.mem.now(site);
        let (other, since) = self.half;
        let soon = now.wrapping_sub(since) <= BETWEEN_HALVES;
        if soon && other != 0 && other != half {
            self.half.0 = 0;
            self.mem.stack(self.sp.into(), site);
            return;
        }
        self.half = (half, now);
        if other != 0 {
            self.mem.stack(before.into(), site);
        }
    }

    /// Pushes the low bytes first, so that they end up at the higher addresses.
    #[inline(always)]
    pub(super) fn push_bytes<const FULL: bool, const K: usize>(&mut self, bytes: [u8; K], site: Site) -> Option<()> {
        let sp = self.sp.wrapping_sub(K as u16);
        if !FULL && u32::from(sp) < self.mem.sp_min {
            return None;
        }
        for (k, b) in bytes.into_iter().enumerate() {
            self.write::<FULL>(self.sp.wrapping_sub(k as u16).into(), b, site)?;
        }
        self.sp = sp;
        if FULL {
            self.mem.stack(sp.into(), site);
        }
        Some(())
    }

    /// Pops what [`Avr::push_bytes`] pushed.
    #[inline(always)]
    pub(super) fn pop_bytes<const FULL: bool, const K: usize>(&mut self, site: Site) -> Option<[u8; K]> {
        let mut bytes = [0; K];
        for k in 0..K {
            bytes[K - 1 - k] = self.read::<FULL>(self.sp.wrapping_add(k as u16 + 1).into(), site)?;
        }
        self.sp = self.sp.wrapping_add(K as u16);
        Some(bytes)
    }
}

/// IN and LDS: a data address that is known.
#[inline(always)]
pub(super) fn lds<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let v = cpu.read::<FULL>(i.imm, i.site)?;
    cpu.set(i, v);
    Some(())
}

/// OUT and STS.
#[inline(always)]
pub(super) fn sts<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    cpu.write::<FULL>(i.imm, cpu.a(i), i.site)
}

#[inline(always)]
pub(super) fn sbi(cpu: &mut Avr, i: &I) {
    let v = cpu.read_any(i.imm, i.site);
    cpu.write_any(i.imm, v | 1 << (i.b & 7), i.site);
}

#[inline(always)]
pub(super) fn cbi(cpu: &mut Avr, i: &I) {
    let v = cpu.read_any(i.imm, i.site);
    cpu.write_any(i.imm, v & !(1 << (i.b & 7)), i.site);
}

/// Address of a pointer access and the pointer's value after it.
#[inline(always)]
fn pointer<const P: u8, const MODE: u8>(cpu: &Avr, i: &I) -> (u32, u16) {
    let p = cpu.pair(P);
    let (at, after) = match MODE {
        POST => (p, p.wrapping_add(1)),
        PRE => (p.wrapping_sub(1), p.wrapping_sub(1)),
        DISPLACE => (p.wrapping_add(i.b.into()), p),
        _ => (p, p),
    };
    (at.into(), after)
}

#[inline(always)]
pub(super) fn ld<const FULL: bool, const P: u8, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (at, after) = pointer::<P, MODE>(cpu, i);
    let v = cpu.read::<FULL>(at, i.site)?;
    if MODE == POST || MODE == PRE {
        cpu.set_pair(P, after);
    }
    cpu.set(i, v);
    Some(())
}

#[inline(always)]
pub(super) fn st<const FULL: bool, const P: u8, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (at, after) = pointer::<P, MODE>(cpu, i);
    cpu.write::<FULL>(at, cpu.a(i), i.site)?;
    if MODE == POST || MODE == PRE {
        cpu.set_pair(P, after);
    }
    Some(())
}

/// A byte of program memory.
#[inline(always)]
fn program<const FULL: bool>(cpu: &mut Avr, i: &I, at: u32) -> Option<u8> {
    match cpu.mem.flash.get(at as usize) {
        Some(&v) => Some(v),
        None if FULL => {
            cpu.mem.fault(FaultKind::OutOfRange { address: at, write: false }, i.site);
            Some(0)
        }
        None => None,
    }
}

#[inline(always)]
pub(super) fn lpm<const FULL: bool, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (at, after) = pointer::<Z, MODE>(cpu, i);
    let v = program::<FULL>(cpu, i, at)?;
    if MODE == POST {
        cpu.set_pair(Z, after);
    }
    cpu.set(i, v);
    Some(())
}

/// ELPM: RAMPZ holds the address's bits above Z.
#[inline(always)]
pub(super) fn elpm<const FULL: bool, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let at = u32::from(cpu.rampz) << 16 | u32::from(cpu.pair(Z));
    let v = program::<FULL>(cpu, i, at)?;
    if MODE == POST {
        let after = at + 1;
        cpu.set_pair(Z, after as u16);
        cpu.rampz = (after >> 16) as u8 & cpu.variant.rampz;
    }
    cpu.set(i, v);
    Some(())
}

#[inline(always)]
pub(super) fn push<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    cpu.push_bytes::<FULL, 1>([cpu.a(i)], i.site)
}

#[inline(always)]
pub(super) fn pop<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let [v] = cpu.pop_bytes::<FULL, 1>(i.site)?;
    cpu.set(i, v);
    Some(())
}
