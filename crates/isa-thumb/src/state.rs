//! The state of a core.

use mcu::{FaultKind, Memory, Site};

use crate::step::Features;

/// Cycles of a long multiplication of two registers; the third argument is set for the signed ones, the
/// fourth for the accumulating ones.
pub type MulLong = fn(u32, u32, bool, bool) -> u32;

/// Costs that depend on operand values, in cycles beyond the static ones; a timing model fills them.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    /// Division of the first argument by the second; the third is set for SDIV.
    pub div: fn(u32, u32, bool) -> u32,
    /// Long multiplication; none where it never takes longer.
    pub mul_long: Option<MulLong>,
    /// Unaligned access: address and bytes (2 or 4).
    pub unaligned: fn(u32, u32) -> u32,
    /// Whether these are so many accesses more, each of which waits for data in flash.
    pub splits: bool,
    /// WFE that finds an event.
    pub wfe: u32,
}

impl Default for Events {
    fn default() -> Self {
        Self { div: |_, _, _| 0, mul_long: None, unaligned: |_, _| 0, splits: false, wfe: 1 }
    }
}

/// Stack pointer, link register and program counter in [`Thumb::r`].
pub(crate) const SP: usize = 13;
pub(crate) const LR: usize = 14;
pub(crate) const PC: usize = 15;

/// State of the core.
#[repr(C)]
pub struct Thumb {
    /// r0 to r15; longer than needed so that a byte indexes it without a check.
    pub(crate) r: [u32; 256],
    /// Z is set when the low word is zero, N when the number is negative.
    pub(crate) nz: i64,
    pub(crate) c: bool,
    pub(crate) v: bool,
    pub(crate) q: bool,
    /// GE of the DSP extension, one bit for each byte.
    pub(crate) ge: u32,
    /// Address of an open exclusive access.
    pub(crate) exclusive: Option<u32>,
    /// The event register, which SEV sets.
    pub(crate) event: bool,
    /// PRIMASK, BASEPRI, FAULTMASK, CONTROL and the process stack pointer; kept, without effect.
    pub(crate) system: [u32; 5],
    features: Features,
    /// Costs that depend on operand values.
    pub events: Events,
    pub(crate) mem: Memory,
}

impl Thumb {
    /// A Cortex-M3 in reset.
    pub fn new(mem: Memory) -> Self {
        Self::with_features(mem, Features::CORTEX_M3)
    }

    /// A core with the instructions of `features`, in reset.
    pub fn with_features(mem: Memory, features: Features) -> Self {
        let mut cpu = Self {
            r: [0; 256],
            nz: 1,
            c: false,
            v: false,
            q: false,
            ge: 0,
            exclusive: None,
            event: false,
            system: [0; 5],
            features,
            events: Events::default(),
            mem,
        };
        cpu.restart();
        cpu
    }

    /// Loads the stack pointer and the program counter from the vector table at the start of flash.
    pub(crate) fn restart(&mut self) {
        self.r = [0; 256];
        self.set_apsr(0);
        (self.exclusive, self.event) = (None, false);
        self.system = [0; 5];
        self.r[SP] = self.flash_word(0) & !3;
        self.r[LR] = u32::MAX;
        let entry = self.flash_word(4);
        self.r[PC] = entry & !1;
        if entry & 1 == 0 {
            let inside = entry.wrapping_sub(self.mem.flash_base) < self.mem.flash.len() as u32;
            let kind = if inside { FaultKind::ArmState } else { FaultKind::BadFetch };
            self.mem.fault(kind, Site { pc: entry, cycles: 0 });
        }
    }

    /// Sets register `n` of r0 to r14; other numbers are ignored.
    pub fn set_register(&mut self, n: usize, value: u32) {
        if n < PC {
            self.r[n] = if n == SP { value & !3 } else { value };
        }
    }

    /// Continues at `pc`.
    pub fn set_pc(&mut self, pc: u32) {
        self.r[PC] = pc & !1;
    }

    /// The flags as APSR holds them.
    pub fn apsr(&self) -> u32 {
        u32::from(self.nz < 0) << 31
            | u32::from(self.nz as u32 == 0) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
            | u32::from(self.q) << 27
            | self.ge << 16
    }

    /// Sets the flags from APSR.
    pub fn set_apsr(&mut self, value: u32) {
        let z = i64::from(value & 1 << 30 == 0);
        self.nz = if value >> 31 == 1 { i64::MIN | z } else { z };
        self.c = value & 1 << 29 != 0;
        self.v = value & 1 << 28 != 0;
        self.q = value & 1 << 27 != 0;
        self.ge = if self.features.has(Features::DSP) { value >> 16 & 15 } else { 0 };
    }

    fn flash_word(&self, offset: usize) -> u32 {
        let bytes = self.mem.flash.get(offset..offset + 4).and_then(|b| b.try_into().ok());
        bytes.map_or(u32::MAX, u32::from_le_bytes)
    }

    pub(crate) fn flash_half(&self, pc: u32) -> Option<u32> {
        let offset = pc.wrapping_sub(self.mem.flash_base) as usize;
        let bytes = self.mem.flash.get(offset..offset.checked_add(2)?)?;
        Some(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
    }

    pub(crate) fn features(&self) -> Features {
        self.features
    }
}
