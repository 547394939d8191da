//! The state of a core.

use mcu::Memory;

use crate::word::Word;

/// Where results for x0 go.
pub(crate) const DROP: u8 = 32;

/// The stack pointer.
pub(crate) const SP: usize = 2;

/// Costs that depend on operand values, in cycles beyond the static ones; a timing model fills them.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    /// Division of the first argument by the second, both extended to 64 bits from XLEN; the third is set
    /// for signed ones.
    pub div: fn(u64, u64, bool) -> u32,
    /// An unaligned access: address and bytes. None where the core traps; atomics always trap.
    pub unaligned: Option<fn(u32, u32) -> u32>,
}

impl Default for Events {
    fn default() -> Self {
        Self { div: |_, _, _| 0, unaligned: None }
    }
}

/// State of the core.
#[repr(C)]
pub struct Riscv<X: Word> {
    /// x0 to x31 and [`DROP`]; longer than needed so that a byte indexes it without a check.
    pub(crate) r: [X; 256],
    pub(crate) pc: u32,
    /// Address of the last LR.
    pub(crate) reserved: Option<u32>,
    /// mcycle minus the cycles since reset.
    pub(crate) mcycle: u64,
    /// Costs that depend on operand values.
    pub events: Events,
    pub(crate) mem: Memory,
}

impl<X: Word> Riscv<X> {
    /// A core with its chip, in reset.
    pub fn new(mem: Memory) -> Self {
        let pc = mem.flash_base;
        Self { r: [X::default(); 256], pc, reserved: None, mcycle: 0, events: Events::default(), mem }
    }

    /// Sets register `n` of x1 to x31; other numbers are ignored.
    pub fn set_register(&mut self, n: usize, value: X) {
        if (1..32).contains(&n) {
            self.r[n] = value;
        }
    }

    /// Registers x0 to x31.
    pub fn x(&self) -> &[X] {
        &self.r[..32]
    }

    /// Continues at `pc`.
    pub fn set_pc(&mut self, pc: u32) {
        self.pc = pc & !1;
    }

    /// The two bytes of program memory at `pc`.
    pub(crate) fn half(&self, pc: u32) -> Option<u32> {
        let offset = pc.wrapping_sub(self.mem.flash_base) as usize;
        let bytes = self.mem.flash.get(offset..offset.checked_add(2)?)?;
        Some(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
    }
}
