//! Data memory with a fast path for RAM, exact observation, and named faults for the rest.

mod bits;
mod outside;
mod unmodelled;
mod watch;

use std::collections::BTreeSet;

pub use self::unmodelled::{Access, Register, Unmodelled};
use self::watch::Watch;
use crate::periph::mask;
use crate::{Chip, Fault, FaultKind, Host, Peripheral, build_peripheral};

/// Most addresses that [`Memory::reads`] keeps.
const MOST_READS: usize = 64;

/// Where an access comes from: enough to stamp a fault or an edge exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Address of the instruction.
    pub pc: u32,
    /// Static cycles from the start of its block to its own end.
    pub cycles: u32,
}

/// Why a run of the core ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The firmware waits for a byte that the host has not sent.
    Idle,
    /// The cycle budget is used up.
    Budget,
    /// The program failed.
    Fault(Fault),
}

impl Stop {
    /// The failure, if it is one.
    pub fn fault(self) -> Option<Fault> {
        if let Self::Fault(f) = self { Some(f) } else { None }
    }
}

/// One pulse of the trigger pin: a measured call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Cycle of the rising edge.
    pub rise: u64,
    /// Cycle of the falling edge.
    pub fall: u64,
    /// Stack pointer at the rising edge.
    pub sp: u32,
    /// Lowest stack pointer between the edges.
    pub sp_min: u32,
    /// Bytes of the stack from the rising edge down to the lowest that was written.
    pub written: u32,
    /// Unaligned data accesses between the edges.
    pub unaligned: u64,
}

/// Cycles of stalls by what was accessed.
#[derive(Clone, Copy, Default)]
pub struct Waits {
    /// Data in flash.
    pub data: i64,
    /// Addresses that are not aligned.
    pub unaligned: i64,
}

/// RAM, flash and peripherals of one chip, and the observations on them.
///
/// Cores keep `sp` up to date through [`Memory::stack`]; they may only read the other fields.
pub struct Memory {
    /// First address of RAM.
    pub ram_base: u32,
    /// RAM content.
    pub ram: Box<[u8]>,
    /// A mark for each byte of RAM that was written since the watch folded it.
    pub(crate) written: Box<[u8]>,
    /// First address of flash in the program space.
    pub flash_base: u32,
    /// Flash content; erased bytes are 0xFF.
    pub flash: Box<[u8]>,
    /// Where flash appears in the data space; none where only special instructions read it.
    flash_in_data: Option<u32>,
    flash_data_wait: i64,
    bit_band: bool,
    /// Cycles at the start of the current block.
    pub block_start: u64,
    /// Cycles beyond the static ones since the start of the current block; negative for skipped work.
    pub stall: i64,
    /// What all stalls so far were of, where an access to memory says it.
    pub waits: Waits,
    /// The run loop returns when the cycle count reaches this.
    pub deadline: u64,
    /// Set by the first event that ends the run.
    pub stop: Option<Stop>,
    /// Lowest stack pointer since the last rising edge.
    pub sp_min: u32,
    /// The stack pointer must not go below this; 0 means no guard.
    pub sp_limit: u32,
    /// The stack pointer must not go above this, as it does where it wraps; the highest number means no guard.
    pub sp_top: u32,
    /// RAM address of the pointer that holds the guard, read at each rising edge, and its width in
    /// bytes: the harness keeps the end of its buffers there.
    pub limit_pointer: Option<(u32, u8)>,
    /// Unaligned data accesses since reset.
    pub unaligned: u64,
    peripherals: Vec<Mapped>,
    /// The world outside the chip: serial line and trigger edges.
    pub host: Host,
    /// Finished trigger pulses.
    pub calls: Vec<Call>,
    /// Number of all pulses so far.
    pub finished: u64,
    pub(crate) open_call: Option<Call>,
    open_unaligned: u64,
    /// The watch over measured calls.
    pub watch: Watch,
    /// Registers that are not modelled, where accesses to them are not faults.
    pub unmodelled: Option<Unmodelled>,
    /// Registers of peripherals, and those of the core without a model, that were read, while they are asked for; some of
    /// many.
    pub reads: Option<BTreeSet<Register>>,
}

struct Mapped {
    base: u32,
    size: u32,
    /// Whether the trigger's pin is its.
    trigger: bool,
    model: Box<dyn Peripheral>,
}

impl Memory {
    /// A chip's memory, with flash erased.
    ///
    /// # Errors
    /// A sentence naming an unknown peripheral or an impossible region.
    pub fn new(chip: &Chip<'_>) -> Result<Self, String> {
        chip.possible()?;
        let peripherals = chip
            .peripherals
            .iter()
            .map(|p| {
                let (size, model) = build_peripheral(p)?;
                Ok(Mapped { base: p.base, size, trigger: p.trigger_bit.is_some(), model })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            ram_base: chip.ram.base,
            ram: vec![0; chip.ram.size as usize].into(),
            written: vec![0; chip.ram.size as usize].into(),
            flash_base: chip.flash.base,
            flash: vec![0xFF; chip.flash.size as usize].into(),
            flash_in_data: chip.flash_in_data,
            flash_data_wait: i64::from(chip.flash_timing.data_wait_states),
            bit_band: chip.bit_band,
            block_start: 0,
            stall: 0,
            deadline: 0,
            stop: None,
            sp_min: u32::MAX,
            sp_limit: 0,
            sp_top: u32::MAX,
            limit_pointer: None,
            waits: Waits::default(),
            unaligned: 0,
            peripherals,
            host: Host::default(),
            calls: Vec::new(),
            finished: 0,
            open_call: None,
            open_unaligned: 0,
            watch: Watch::new(chip.ram.size as usize),
            unmodelled: None,
            reads: None,
        })
    }

    /// Puts a peripheral at `base`, before those that are there.
    pub fn attach(&mut self, base: u32, size: u32, model: Box<dyn Peripheral>) {
        self.peripherals.insert(0, Mapped { base, size, trigger: false, model });
    }

    /// Cycles of the serial port's clock that a bit takes on its line; none where the chip has no port in hardware.
    pub fn bit(&self) -> Option<f64> {
        self.peripherals.iter().find_map(|p| p.model.bit())
    }

    /// Pointers to RAM, its marks of written bytes, and flash, for translated code.
    pub fn raw(&mut self) -> (*mut u8, *mut u8, *const u8) {
        (self.ram.as_mut_ptr(), self.written.as_mut_ptr(), self.flash.as_ptr())
    }

    /// Where flash appears in the data space, and the cycles that a read there waits.
    pub fn flash_in_data(&self) -> Option<(u32, i64)> {
        self.flash_in_data.map(|base| (base, self.flash_data_wait))
    }

    /// Cycle at which the instruction at `site` ends.
    #[inline]
    pub fn now(&self, site: Site) -> u64 {
        (self.block_start + u64::from(site.cycles)).wrapping_add_signed(self.stall)
    }

    /// Ends the run after the current block. The first fault stays.
    #[cold]
    pub fn halt(&mut self, stop: Stop) {
        if !self.crashed() {
            self.stop = Some(stop);
        }
        self.deadline = 0;
    }

    /// Whether the program has failed. The rest of the block is still executed: what it does outside RAM and registers has
    /// no effect.
    pub fn crashed(&self) -> bool {
        matches!(self.stop, Some(Stop::Fault(_)))
    }

    /// Counts an unaligned access, and the cycles that it takes more.
    #[inline(always)]
    pub fn count_unaligned(&mut self, cycles: u32) {
        self.unaligned += u64::from(!self.crashed());
        self.stall += i64::from(cycles);
        self.waits.unaligned += i64::from(cycles);
    }

    /// An access to `address` is so many more on the bus: each waits again where it is flash's.
    #[inline(always)]
    pub fn wait_again(&mut self, address: u32, accesses: u32) {
        if self.flash_offset(address).is_some_and(|o| o < self.flash.len()) {
            let cycles = i64::from(accesses) * self.flash_data_wait;
            self.stall += cycles;
            self.waits.data += cycles;
        }
    }

    /// The program allows interrupts, which are not modelled, where `on`.
    pub fn allow_interrupts(&mut self, on: bool) {
        self.host.interrupts |= on && !self.crashed();
    }

    /// Records a fault at `site`.
    #[cold]
    pub fn fault(&mut self, kind: FaultKind, site: Site) {
        let cycle = self.now(site);
        self.halt(Stop::Fault(Fault { kind, pc: site.pc, cycle }));
    }

    /// Records that the stack pointer is now `sp`; every instruction that lowers it calls this, also where it wraps.
    #[inline(always)]
    pub fn stack(&mut self, sp: u32, site: Site) {
        if sp < self.sp_min || sp > self.sp_top {
            self.sp_min = self.sp_min.min(sp);
            if sp < self.sp_limit {
                self.fault(FaultKind::StackIntoData { sp, limit: self.sp_limit }, site);
            } else if sp > self.sp_top {
                self.fault(FaultKind::StackWraps { sp, top: self.sp_top }, site);
            }
        }
    }

    /// Reads `N` bytes (1, 2 or 4) of RAM, little-endian; none outside RAM.
    #[inline(always)]
    pub fn ram_load<const N: usize>(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(self.ram_base) as usize;
        self.ram.get(offset..offset.wrapping_add(N)).map(little::<N>)
    }

    /// Writes `N` bytes (1, 2 or 4) of RAM; false, and nothing done, outside RAM.
    #[inline(always)]
    pub fn ram_store<const N: usize>(&mut self, address: u32, value: u32) -> bool {
        let offset = address.wrapping_sub(self.ram_base) as usize;
        let end = offset.wrapping_add(N);
        let (Some(b), Some(w)) = (self.ram.get_mut(offset..end), self.written.get_mut(offset..end)) else {
            return false;
        };
        b.copy_from_slice(&value.to_le_bytes()[..N]);
        w.copy_from_slice(&[1; 4][..N]);
        true
    }

    /// Reads `N` bytes (1, 2 or 4), little-endian. A fault reads as 0. `sp` is the core's stack pointer.
    #[inline(always)]
    pub fn load<const N: usize>(&mut self, address: u32, sp: u32, site: Site) -> u32 {
        match self.ram_load::<N>(address) {
            Some(value) => value,
            None => self.load_slow::<N>(address, sp, site),
        }
    }

    #[inline(never)]
    fn load_slow<const N: usize>(&mut self, address: u32, sp: u32, site: Site) -> u32 {
        let offset = self.flash_offset(address);
        if let Some(b) = offset.and_then(|o| self.flash.get(o..o.wrapping_add(N))) {
            self.stall += self.flash_data_wait;
            self.waits.data += self.flash_data_wait;
            return little::<N>(b);
        }
        if let Some(b) = self.fetched::<N>(address) {
            return little::<N>(b);
        }
        if self.crashed() {
            return 0;
        }
        if let Some((at, bit)) = self.bit_at(address, N as u32) {
            return self.load::<N>(at, sp, site) >> bit & 1;
        }
        self.host.now = self.now(site);
        self.host.sp = sp;
        self.note_read(Register::At(address));
        if self.foreign(address, site) {
            self.fault(FaultKind::Peripheral { address }, site);
            return 0;
        }
        let value = self.peripheral(address).and_then(|(m, host, o)| m.read(o, N as u8, host));
        self.after_io(sp, site);
        let value = value.or_else(|| self.unmodelled.as_mut()?.read(address, N, site.pc));
        value.unwrap_or_else(|| {
            self.fault(FaultKind::OutOfRange { address, write: false }, site);
            0
        })
    }

    /// Writes the low `N` bytes (1, 2 or 4) of `value`, little-endian.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u32, value: u32, sp: u32, site: Site) {
        if !self.ram_store::<N>(address, value) {
            self.store_slow::<N>(address, value, sp, site);
        }
    }

    #[inline(never)]
    fn store_slow<const N: usize>(&mut self, address: u32, value: u32, sp: u32, site: Site) {
        if self.crashed() {
            return;
        }
        let value = value & mask(N as u8);
        if let Some(bit) = self.bit_at(address, N as u32) {
            return self.store_bit::<N>(bit, value, sp, site);
        }
        if self.flash_offset(address).is_some_and(|o| o < self.flash.len()) {
            return self.fault(FaultKind::FlashWrite { address }, site);
        }
        self.host.now = self.now(site);
        self.host.sp = sp;
        let foreign = self.foreign(address, site);
        let done = self.peripheral(address).and_then(|(m, host, o)| m.write(o, N as u8, value, host));
        self.after_io(sp, site);
        let done = done.or_else(|| self.unmodelled.as_mut()?.write(address, N, value, site.pc));
        if done.is_none() {
            self.fault(FaultKind::OutOfRange { address, write: true }, site);
        } else if foreign {
            self.fault(FaultKind::Peripheral { address }, site);
        }
    }

    fn note_read(&mut self, register: Register) {
        if let Some(reads) = self.reads.as_mut().filter(|r| r.len() < MOST_READS) {
            reads.insert(register);
        }
    }

    /// Reads the core's register of this number, if it is `read`, and gives it the value that follows from the old one, if
    /// one does; the value before and after. None where registers without a model are faults, or there is no room for it, and
    /// after a fault.
    pub fn change(
        &mut self,
        number: u32,
        read: bool,
        next: impl FnOnce(u64) -> Option<u64>,
        pc: u32,
    ) -> Option<(u64, u64)> {
        if self.crashed() {
            return None;
        }
        if read {
            self.note_read(Register::Control(number));
        }
        self.unmodelled.as_mut()?.change(number, read, next, pc)
    }

    /// What the bus of instructions gives a load where data have another address for it: aligned words only (ESP32-C3
    /// Technical Reference Manual, "System and Memory").
    fn fetched<const N: usize>(&self, address: u32) -> Option<&[u8]> {
        let from = address.wrapping_sub(self.flash_base) as usize;
        (self.is_fetched(address) && N == 4 && address % 4 == 0).then(|| self.flash.get(from..from.checked_add(N)?))?
    }

    /// Whether `address` is flash's for instructions, where data have another address for it.
    pub fn is_fetched(&self, address: u32) -> bool {
        let apart = self.flash_in_data.is_some_and(|base| base != self.flash_base);
        apart && (address.wrapping_sub(self.flash_base) as usize) < self.flash.len()
    }

    fn flash_offset(&self, address: u32) -> Option<usize> {
        self.flash_in_data.map(|base| address.wrapping_sub(base) as usize)
    }

    fn peripheral(&mut self, address: u32) -> Option<(&mut dyn Peripheral, &mut Host, u32)> {
        let p = self.peripherals.iter_mut().find(|p| address.wrapping_sub(p.base) < p.size)?;
        Some((p.model.as_mut(), &mut self.host, address - p.base))
    }

    /// Whether the trigger's pin belongs to the peripheral at `address`.
    fn triggers(&self, address: u32) -> bool {
        self.peripherals.iter().find(|p| address.wrapping_sub(p.base) < p.size).is_some_and(|p| p.trigger)
    }

    /// Whether the instruction at `site` is a measured call's, and not the harness's.
    pub fn is_measured(&self, site: Site) -> bool {
        self.open_call.is_some() && self.watch.outside_run(site.pc)
    }

    /// Whether a measured call accesses a peripheral that does more than arithmetic: itself, or by a jump to the
    /// harness's function with the edges, which accesses the trigger's only.
    fn foreign(&mut self, address: u32, site: Site) -> bool {
        let edges = self.watch.in_run(site.pc);
        let measured = self.is_measured(site) || edges && self.open_call.is_some();
        measured && !(edges && self.triggers(address)) && self.more_than_arithmetic(address)
    }

    #[cold]
    fn more_than_arithmetic(&mut self, address: u32) -> bool {
        self.peripheral(address).is_some_and(|(model, _, _)| !model.arithmetic())
    }

    /// Turns the effects of a peripheral into observations.
    fn after_io(&mut self, sp: u32, site: Site) {
        if std::mem::take(&mut self.host.idle) {
            self.settle(sp);
            self.halt(Stop::Idle);
        }
        let Some(level) = self.host.edge.take() else { return };
        if (level || self.open_call.is_some()) && self.watch.foreign_edge(site.pc) {
            return self.fault(FaultKind::ForeignTrigger, site);
        }
        self.sp_limit = if level { self.guard() } else { 0 };
        self.sp_top = if level && self.limit_pointer.is_some() { sp } else { u32::MAX };
        if level {
            self.rising(sp);
            self.sp_min = sp;
            self.open_unaligned = self.unaligned;
            self.open_call = Some(Call { rise: self.host.now, sp, ..Call::default() });
        } else if let Some(call) = self.open_call.take() {
            let unaligned = self.unaligned - self.open_unaligned;
            self.finished += 1;
            let sp_min = self.lowest();
            let written = self.written_below(call.sp, sp_min);
            let call = Call { fall: self.host.now, sp_min, written, unaligned, ..call };
            self.calls.push(call);
            self.falling(call);
        }
    }

    /// Cycle of the rising edge of the measured call in progress.
    pub fn rose(&self) -> Option<u64> {
        self.open_call.map(|c| c.rise)
    }

    /// The chip restarts: no call is in progress.
    pub fn forget_call(&mut self) {
        self.open_call = None;
        (self.sp_limit, self.sp_top) = (0, u32::MAX);
        self.watch.forget();
    }

    /// Whether the trigger pin is high: a measured call is in progress.
    pub fn in_call(&self) -> bool {
        self.open_call.is_some()
    }

    fn guard(&self) -> u32 {
        self.limit_pointer.map_or(0, |(address, width)| self.number(address, width.into()))
    }

    /// A little-endian number of 2, 4 or 8 bytes in RAM, its low 32 bits; 0 elsewhere.
    pub(crate) fn number(&self, address: u32, width: u32) -> u32 {
        let offset = address.wrapping_sub(self.ram_base) as usize;
        match (width, self.ram.get(offset..)) {
            (2, Some([a, b, ..])) => u16::from_le_bytes([*a, *b]).into(),
            (4 | 8, Some([a, b, c, d, ..])) => u32::from_le_bytes([*a, *b, *c, *d]),
            _ => 0,
        }
    }
}

#[inline(always)]
fn little<const N: usize>(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..N].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}
