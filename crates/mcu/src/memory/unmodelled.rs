//! Registers that no model answers for, of peripherals and of cores: programs that are not ours use them, and whoever looks
//! is told.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::periph::mask;

/// Most addresses that are kept; accesses to others are faults.
const MOST: usize = 4096;

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// A peripheral's, by its address.
    At(u32),
    /// The core's, by its number in the instructions that access it.
    Control(u32),
}

/// What became of a register without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// How often it was read.
    pub reads: u64,
    /// How often it was written.
    pub writes: u64,
    /// The instruction that used it first.
    pub first: u32,
    /// The one that used it last.
    pub last: u32,
    /// What the core's have; those of peripherals are bytes.
    value: u64,
    /// All bits that were ever written as one.
    ones: u64,
}

/// Registers that keep what is written to them, and are 0 before unless it is said.
#[derive(Clone, Debug)]
pub struct Unmodelled {
    /// Where peripherals may be, and where in it something else is; an access elsewhere is a fault.
    within: Vec<Range<u32>>,
    without: Vec<Range<u32>>,
    /// What became of them.
    pub seen: BTreeMap<Register, Access>,
    /// What was written to those of peripherals: accesses of any size see each other's bytes.
    bytes: BTreeMap<u32, u8>,
    /// What they are before, where that is not 0.
    at_reset: BTreeMap<Register, u64>,
}

impl Unmodelled {
    /// None used yet, within these addresses and without those.
    pub fn new(within: Vec<Range<u32>>, without: Vec<Range<u32>>) -> Self {
        Self { within, without, seen: BTreeMap::new(), bytes: BTreeMap::new(), at_reset: BTreeMap::new() }
    }

    /// What is kept.
    pub fn kept(&self) -> Vec<(Register, u64)> {
        self.seen.keys().map(|&register| (register, self.value(register))).collect()
    }

    /// Every register that was used, and all bits that were ever written to it as one.
    pub fn ones(&self) -> impl Iterator<Item = (Register, u64)> + '_ {
        self.seen.iter().map(|(&register, a)| (register, a.ones))
    }

    fn reset(&self, register: Register) -> u64 {
        self.at_reset.get(&register).copied().unwrap_or(0)
    }

    /// What this register keeps; of a peripheral's, the four bytes at its address.
    pub fn value(&self, register: Register) -> u64 {
        match register {
            Register::At(address) => self.word(address).into(),
            Register::Control(_) => self.seen.get(&register).map_or_else(|| self.reset(register), |a| a.value),
        }
    }

    fn word(&self, address: u32) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|k| self.byte(address.wrapping_add(k))))
    }

    fn byte(&self, at: u32) -> u8 {
        let at_reset = || {
            let part = |from: u32| Some(self.at_reset.get(&Register::At(from))? >> (8 * (at - from)));
            (at & !3..=at).rev().find_map(part).unwrap_or(0) as u8
        };
        self.bytes.get(&at).copied().unwrap_or_else(at_reset)
    }

    /// Keeps a value that no program wrote.
    pub fn keep(&mut self, register: Register, value: u64) {
        self.at_reset.insert(register, value);
    }

    fn register(&mut self, register: Register, pc: u32) -> Option<&mut Access> {
        let room = self.seen.len() < MOST || self.seen.contains_key(&register);
        let there = match register {
            Register::At(address) => {
                let among = |some: &[Range<u32>]| some.iter().any(|r| r.contains(&address));
                among(&self.within) && !among(&self.without)
            }
            Register::Control(_) => true,
        };
        if !room || !there {
            return None;
        }
        let value = self.reset(register);
        let access = self.seen.entry(register).or_insert(Access { first: pc, value, ..Access::default() });
        access.last = pc;
        Some(access)
    }

    /// Reads the core's register of this number, if it is `read`, and gives it the value that follows from the old one, if
    /// one does; the value before and after. None where there is no room for it.
    pub(crate) fn change(
        &mut self,
        number: u32,
        read: bool,
        next: impl FnOnce(u64) -> Option<u64>,
        pc: u32,
    ) -> Option<(u64, u64)> {
        let register = self.register(Register::Control(number), pc)?;
        let (old, new) = (register.value, next(register.value));
        register.reads += u64::from(read);
        register.writes += u64::from(new.is_some());
        register.value = new.unwrap_or(old);
        Some((old, register.value))
    }

    pub(crate) fn read(&mut self, address: u32, bytes: usize, pc: u32) -> Option<u32> {
        self.register(Register::At(address), pc)?.reads += 1;
        Some(self.word(address) & mask(bytes as u8))
    }

    pub(crate) fn write(&mut self, address: u32, bytes: usize, value: u32, pc: u32) -> Option<()> {
        let register = self.register(Register::At(address), pc)?;
        register.writes += 1;
        register.ones |= u64::from(value & mask(bytes as u8));
        self.bytes.extend((address..).zip(value.to_le_bytes()).take(bytes));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, Register, Unmodelled};

    #[test]
    fn accesses_of_any_size_see_each_others_bytes() {
        let mut u = Unmodelled::new(vec![Range { start: 0x100, end: 0x200 }], Vec::new());
        u.keep(Register::At(0x100), 0x8000_0001);
        assert_eq!(u.read(0x103, 1, 0), Some(0x80));
        u.write(0x101, 1, 0xFF12, 0);
        assert_eq!(u.read(0x100, 4, 0), Some(0x8000_1201));
        u.write(0x102, 2, 0x5634, 0);
        assert_eq!((u.read(0x100, 4, 0), u.value(Register::At(0x100))), (Some(0x5634_1201), 0x5634_1201));
        assert_eq!((u.seen[&Register::At(0x101)].writes, u.read(0x200, 4, 0)), (1, None));
    }
}
