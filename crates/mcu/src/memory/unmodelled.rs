//! Peripherals that no model answers for: programs that are not ours use them, and whoever looks is told.

use std::collections::BTreeMap;
use std::ops::Range;

/// Most addresses that are kept; accesses to others are faults.
const MOST: usize = 4096;

/// What became of an address without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// How often it was read.
    pub reads: u64,
    /// How often it was written.
    pub writes: u64,
    /// The instruction that used it first, and the one that used it last.
    pub first: u32,
    /// See there.
    pub last: u32,
    value: u32,
}

/// Registers that keep what is written to them, and are 0 before.
#[derive(Clone, Debug)]
pub struct Unmodelled {
    /// Where peripherals may be; an access elsewhere is a fault.
    within: Vec<Range<u32>>,
    /// By address.
    pub seen: BTreeMap<u32, Access>,
}

impl Unmodelled {
    /// None used yet, within these addresses.
    pub fn new(within: Vec<Range<u32>>) -> Self {
        Self { within, seen: BTreeMap::new() }
    }

    /// What is kept, by address.
    pub fn kept(&self) -> Vec<(u32, u32)> {
        self.seen.iter().map(|(&at, a)| (at, a.value)).collect()
    }

    fn register(&mut self, address: u32, pc: u32) -> Option<&mut Access> {
        let room = self.seen.len() < MOST || self.seen.contains_key(&address);
        if !room || !self.within.iter().any(|r| r.contains(&address)) {
            return None;
        }
        let access = self.seen.entry(address).or_insert(Access { first: pc, ..Access::default() });
        access.last = pc;
        Some(access)
    }

    pub(crate) fn read(&mut self, address: u32, bytes: usize, pc: u32) -> Option<u32> {
        let register = self.register(address, pc)?;
        register.reads += 1;
        Some(if bytes < 4 { register.value & ((1 << (8 * bytes)) - 1) } else { register.value })
    }

    pub(crate) fn write(&mut self, address: u32, _bytes: usize, value: u32, pc: u32) -> Option<()> {
        let register = self.register(address, pc)?;
        register.writes += 1;
        register.value = value;
        Some(())
    }
}
