//! Executes instructions, as plain functions.
//! `flags` is the set of flags that can still be read: an instruction leaves the others alone, and their values are
//! never seen. A function that accesses memory has `full`: without it, it accesses ordinary RAM only, and returns
//! `None`, without effect, for everything else. Addressing modes come as a [`Locations`]; handlers pass a constant one,
//! the slow path that of the instruction.

mod operation;

use isa::Insn;
use mcu::{FaultKind, Site};

use crate::op::Condition;
use crate::state::{Msp430, PC, SP, SR};
use crate::status::{CPUOFF, GIE, Status};

pub(crate) use operation::*;

/// An instruction of this core. `a` is the destination's register, `b` the source's, `c` and `d` hold
/// the [`Locations`], `imm` the source's extension in its low and the destination's in its high half.
pub(crate) type I = Insn<Msp430>;

/// How an operand is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Location {
    /// A general register.
    #[default]
    Reg,
    /// A constant: immediate, from the constant generator, or a known program counter.
    Imm,
    /// Memory at a constant address.
    Abs,
    /// Memory at a register plus a constant.
    Idx,
    /// Memory at a register, which then moves on.
    Inc,
    /// A register with rules of its own: program counter, stack pointer, status, constant generator.
    Special,
}

impl Location {
    const EVERY: [Self; 6] = [Self::Reg, Self::Imm, Self::Abs, Self::Idx, Self::Inc, Self::Special];
}

/// Operand size and locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Locations {
    pub byte: bool,
    pub src: Location,
    pub dst: Location,
}

impl Locations {
    /// As stored in an instruction's `d`; `c` is the size.
    pub(crate) fn pack(self) -> (u8, u8) {
        (self.byte.into(), self.src as u8 | (self.dst as u8) << 4)
    }

    #[inline(always)]
    pub(crate) fn of(i: &I) -> Self {
        let location = |n: u8| Location::EVERY.get(usize::from(n)).copied().unwrap_or_default();
        Self { byte: i.c != 0, src: location(i.d & 15), dst: location(i.d >> 4) }
    }
}

#[inline(always)]
fn mask(byte: bool) -> u16 {
    if byte { 0xFF } else { 0xFFFF }
}

/// As a signed number.
#[inline(always)]
fn signed(value: u16, byte: bool) -> i32 {
    if byte { i32::from(value as i8) } else { i32::from(value as i16) }
}

impl Msp430 {
    #[inline(always)]
    fn read(&mut self, address: u16, byte: bool, site: Site, full: bool) -> Option<u16> {
        if full {
            return Some(self.read_any(address, byte, site));
        }
        if byte {
            return self.mem.ram_load::<1>(address.into()).map(|v| v as u16);
        }
        if address & 1 != 0 {
            return None;
        }
        self.mem.ram_load::<2>(address.into()).map(|v| v as u16)
    }

    #[inline(always)]
    fn write(&mut self, address: u16, value: u16, byte: bool, site: Site, full: bool) -> Option<()> {
        if full {
            self.write_any(address, value, byte, site);
            return Some(());
        }
        if byte {
            return self.mem.ram_store::<1>(address.into(), value.into()).then_some(());
        }
        if address & 1 != 0 {
            return None;
        }
        self.mem.ram_store::<2>(address.into(), value.into()).then_some(())
    }

    fn read_any(&mut self, address: u16, byte: bool, site: Site) -> u16 {
        let sp = self.r[SP].into();
        if byte {
            return self.mem.load::<1>(address.into(), sp, site) as u16;
        }
        if address & 1 != 0 {
            self.unaligned(address, site);
            return 0;
        }
        self.mem.load::<2>(address.into(), sp, site) as u16
    }

    fn write_any(&mut self, address: u16, value: u16, byte: bool, site: Site) {
        let sp = self.r[SP].into();
        if byte {
            return self.mem.store::<1>(address.into(), u32::from(value) & 0xFF, sp, site);
        }
        if address & 1 != 0 {
            return self.unaligned(address, site);
        }
        self.mem.store::<2>(address.into(), value.into(), sp, site);
    }

    /// Words are at even addresses only (SLAU049, 1.4.5); the guide does not say how the chip treats others.
    fn unaligned(&mut self, address: u16, site: Site) {
        self.mem.fault(FaultKind::Unaligned { address: address.into() }, site);
    }

    /// Address of an operand in memory.
    #[inline(always)]
    fn address(&self, location: Location, register: u8, extension: u16) -> u16 {
        match location {
            Location::Abs => extension,
            Location::Idx => self.r[register as usize].wrapping_add(extension),
            _ => self.r[register as usize],
        }
    }

    /// The source operand; an autoincrement has happened.
    #[inline(always)]
    fn source(&mut self, i: &I, form: Locations, full: bool) -> Option<u16> {
        let value = match form.src {
            Location::Reg => self.r[i.b as usize],
            Location::Imm => i.imm as u16,
            Location::Special => self.special(i.b),
            location => {
                let address = self.address(location, i.b, i.imm as u16);
                let value = self.read(address, form.byte, i.site, full)?;
                if location == Location::Inc {
                    self.r[i.b as usize] = address.wrapping_add(step(i.b, form.byte));
                }
                return Some(value);
            }
        };
        Some(value & mask(form.byte))
    }

    /// Undoes the autoincrement.
    #[inline(always)]
    fn undo(&mut self, i: &I, form: Locations) {
        if form.src == Location::Inc {
            let r = &mut self.r[i.b as usize];
            *r = r.wrapping_sub(step(i.b, form.byte));
        }
    }

    fn special(&self, register: u8) -> u16 {
        if register as usize == SR { self.status.pack() } else { self.r[register as usize] }
    }

    /// Writes a register that has rules of its own.
    fn set_special(&mut self, register: u8, value: u16, site: Site) {
        match register as usize {
            PC => self.r[PC] = value & !1,
            SP => {
                self.r[SP] = value & !1;
                self.mem.stack(self.r[SP].into(), site);
            }
            SR => self.set_status(value, site),
            _ => {} // the constant generator stays 0
        }
    }

    fn set_status(&mut self, value: u16, site: Site) {
        self.status = Status::unpack(value);
        self.mem.allow_interrupts(value & GIE != 0);
        if value & CPUOFF != 0 {
            // nothing would wake it: interrupts are not modelled
            let word = self.fetch(site.pc).unwrap_or(0).into();
            self.mem.fault(FaultKind::Unsupported { word }, site);
        }
    }

    /// Pushes a word, or a byte into the space of a word: the stack pointer always moves by two.
    #[inline(always)]
    fn push_value(&mut self, value: u16, byte: bool, site: Site, full: bool) -> Option<()> {
        let sp = self.r[SP].wrapping_sub(2);
        if !full && u32::from(sp) < self.mem.sp_min {
            return None;
        }
        self.write(sp, value, byte, site, full)?;
        self.r[SP] = sp;
        if full {
            self.mem.stack(sp.into(), site);
        }
        Some(())
    }
}

/// The number that an autoincrement adds: the stack pointer stays even (SLAU049, 3.2.2).
#[inline(always)]
fn step(register: u8, byte: bool) -> u16 {
    if byte && register as usize != SP { 1 } else { 2 }
}

/// Two operands.
#[inline(always)]
pub(crate) fn two<O: Two>(cpu: &mut Msp430, i: &I, form: Locations, flags: u16, full: bool) -> Option<()> {
    let x = cpu.source(i, form, full)?;
    match form.dst {
        Location::Reg => {
            let y = cpu.r[i.a as usize] & mask(form.byte);
            let res = O::apply(&mut cpu.status, x, y, form.byte, flags);
            if O::WRITES {
                cpu.r[i.a as usize] = res;
            }
        }
        Location::Special => {
            // a program counter that is read here has passed all extension words
            let y = if i.a as usize == PC { (i.imm >> 16) as u16 } else { cpu.special(i.a) };
            let res = O::apply(&mut cpu.status, x, y & mask(form.byte), form.byte, flags);
            if O::WRITES {
                cpu.set_special(i.a, res, i.site);
            } else if i.a as usize == PC {
                cpu.r[PC] = y;
            }
        }
        location => {
            let address = cpu.address(location, i.a, (i.imm >> 16) as u16);
            let y = if O::READS { cpu.read(address, form.byte, i.site, full) } else { Some(0) };
            let Some(y) = y else {
                cpu.undo(i, form);
                return None;
            };
            let before = cpu.status;
            let res = O::apply(&mut cpu.status, x, y, form.byte, flags);
            if O::WRITES && cpu.write(address, res, form.byte, i.site, full).is_none() {
                cpu.status = before;
                cpu.undo(i, form);
                return None;
            }
        }
    }
    Some(())
}

/// One operand, written back to its source.
#[inline(always)]
pub(crate) fn one<O: One>(cpu: &mut Msp430, i: &I, form: Locations, flags: u16, full: bool) -> Option<()> {
    match form.src {
        Location::Reg => {
            let x = cpu.r[i.b as usize] & mask(form.byte);
            cpu.r[i.b as usize] = O::apply(&mut cpu.status, x, form.byte, flags);
        }
        Location::Special => {
            let x = cpu.special(i.b) & mask(form.byte);
            let res = O::apply(&mut cpu.status, x, form.byte, flags);
            cpu.set_special(i.b, res, i.site);
        }
        Location::Imm => undefined(cpu, i),
        location => {
            let address = cpu.address(location, i.b, i.imm as u16);
            let x = cpu.read(address, form.byte, i.site, full)?;
            let before = cpu.status;
            let res = O::apply(&mut cpu.status, x, form.byte, flags);
            if cpu.write(address, res, form.byte, i.site, full).is_none() {
                cpu.status = before;
                return None;
            }
            if location == Location::Inc {
                cpu.r[i.b as usize] = address.wrapping_add(step(i.b, form.byte));
            }
        }
    }
    Some(())
}

/// PUSH. The operand is read before the stack pointer moves, except that PUSH SP pushes the new one
/// (SLAU049, figure 3-5).
#[inline(always)]
pub(crate) fn push(cpu: &mut Msp430, i: &I, form: Locations, full: bool) -> Option<()> {
    let x = cpu.source(i, form, full)?;
    let x = if form.src == Location::Special && i.b as usize == SP { cpu.r[SP].wrapping_sub(2) } else { x };
    let done = cpu.push_value(x & mask(form.byte), form.byte, i.site, full);
    if done.is_none() {
        cpu.undo(i, form);
    }
    done
}

/// CALL; the return address is in `imm`'s high half.
#[inline(always)]
pub(crate) fn call(cpu: &mut Msp430, i: &I, form: Locations, full: bool) -> Option<()> {
    let to = cpu.source(i, form, full)?;
    if cpu.push_value((i.imm >> 16) as u16, false, i.site, full).is_none() {
        cpu.undo(i, form);
        return None;
    }
    cpu.r[PC] = to & !1;
    Some(())
}

/// Return from interrupt.
pub(crate) fn reti(cpu: &mut Msp430, i: &I) {
    let sp = cpu.r[SP];
    let status = cpu.read_any(sp, false, i.site);
    cpu.set_status(status, i.site);
    cpu.r[PC] = cpu.read_any(sp.wrapping_add(2), false, i.site) & !1;
    cpu.r[SP] = sp.wrapping_add(4);
}

/// Goes to `imm`.
#[inline(always)]
pub(crate) fn jump(cpu: &mut Msp430, i: &I) {
    cpu.r[PC] = i.imm as u16;
}

/// Whether a jump is taken.
#[inline(always)]
pub(crate) fn holds(s: Status, condition: Condition) -> bool {
    match condition {
        Condition::Jne => !s.z(),
        Condition::Jeq => s.z(),
        Condition::Jnc => s.c == 0,
        Condition::Jc => s.c != 0,
        Condition::Jn => s.n(),
        Condition::Jge => s.n() == s.v,
        Condition::Jl => s.n() != s.v,
    }
}

/// CLRC.
#[inline(always)]
pub(crate) fn clear_carry(cpu: &mut Msp430, _: &I) {
    cpu.status.c = 0;
}

/// SETC.
#[inline(always)]
pub(crate) fn set_carry(cpu: &mut Msp430, _: &I) {
    cpu.status.c = 1;
}

/// A word that is not an instruction; the word is in `imm`.
#[cold]
pub(crate) fn undefined(cpu: &mut Msp430, i: &I) {
    cpu.mem.fault(FaultKind::BadOpcode { word: i.imm & 0xFFFF }, i.site);
    cpu.r[PC] = i.site.pc as u16;
}

/// An instruction that flash ends in.
#[cold]
pub(crate) fn truncated(cpu: &mut Msp430, i: &I) {
    cpu.mem.fault(FaultKind::BadFetch, i.site);
    cpu.r[PC] = i.site.pc as u16;
}

/// An instruction that an erratum of the core forbids; the word is in `imm`.
#[cold]
pub(crate) fn forbidden(cpu: &mut Msp430, i: &I) {
    cpu.mem.fault(FaultKind::Unsupported { word: i.imm & 0xFFFF }, i.site);
    cpu.r[PC] = i.site.pc as u16;
}

/// MOV to the program counter.
#[inline(always)]
pub(crate) fn branch(cpu: &mut Msp430, i: &I, form: Locations, full: bool) -> Option<()> {
    cpu.r[PC] = cpu.source(i, form, full)? & !1;
    Some(())
}
