//! The state of a core.

use mcu::Memory;

use crate::op::{Division, Op};
use crate::step::Class;
use crate::word::Word;

/// The stack pointer.
pub(crate) const SP: usize = 2;

/// Costs that depend on operand values, in cycles beyond the static ones; a timing model fills them.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    /// Division of the first argument by the second, both extended to 64 bits as it extends them.
    pub div: fn(u64, u64, Division) -> u32,
    /// An unaligned access: address and bytes. None where the core traps; atomics always trap.
    pub unaligned: Option<fn(u32, u32) -> u32>,
}

impl Default for Events {
    fn default() -> Self {
        Self { div: |_, _, _| 0, unaligned: None }
    }
}

/// What a core has beyond the base instructions and their compressed forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// M: multiplication and division.
    pub multiply: bool,
    /// A: atomic accesses.
    pub atomic: bool,
    /// 32; the E base has the first 16.
    pub registers: u8,
    /// Where it counts cycles.
    pub counter: Counter,
}

/// The control and status registers that count the core's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// None.
    None,
    /// `mcycle` (Privileged Architecture, 3.1.11).
    Mcycle,
    /// `mpcer`, `mpcmr` and `mpccr` of Espressif's cores, with the cycle as the event that they count.
    Mpccr,
}

impl Features {
    /// RV32IMAC, RV64IMAC.
    pub const IMAC: Self = Self { multiply: true, atomic: true, registers: 32, counter: Counter::Mcycle };
    /// The core of the ESP32-C3: RV32IMC.
    pub const ESP32C3: Self = Self { atomic: false, counter: Counter::Mpccr, ..Self::IMAC };
    /// QingKe V2A of the CH32V003: RV32EC. WCH's own instructions, which no public compiler generates, are not in it.
    pub const QINGKE_V2A: Self = Self { multiply: false, atomic: false, registers: 16, counter: Counter::None };

    /// Whether the core has the operation.
    pub(crate) fn has(&self, op: Op) -> bool {
        match op.class() {
            Class::Multiply | Class::MultiplyHigh | Class::MultiplyWord | Class::Divide => self.multiply,
            Class::Atomic => self.atomic,
            _ => true,
        }
    }
}

/// State of the core.
#[repr(C)]
pub struct Riscv<X: Word> {
    /// x0 to x31 and [`crate::op::DROP`]; longer than needed so that a byte indexes it without a check.
    pub(crate) r: [X; 256],
    pub(crate) pc: u32,
    /// Address of the last LR.
    pub(crate) reserved: Option<u32>,
    /// mcycle minus the cycles since reset.
    pub(crate) mcycle: u64,
    /// Costs that depend on operand values.
    pub events: Events,
    pub(crate) features: Features,
    pub(crate) mem: Memory,
}

impl<X: Word> Riscv<X> {
    /// A core with M and A and its chip, in reset.
    pub fn new(mem: Memory) -> Self {
        Self::with_features(mem, Features::IMAC)
    }

    /// A core with these instructions and its chip, in reset.
    pub fn with_features(mem: Memory, features: Features) -> Self {
        let pc = mem.flash_base;
        Self { r: [X::default(); 256], pc, reserved: None, mcycle: 0, events: Events::default(), features, mem }
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
