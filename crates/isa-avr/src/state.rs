//! The cores, and the state of each.

use mcu::Memory;

use crate::sreg::Sreg;

/// I/O address of the upper bits of ELPM's address.
pub(crate) const RAMPZ: u32 = 0x3B;
/// I/O address of the stack pointer's low byte.
pub(crate) const SPL: u32 = 0x3D;
/// I/O address of the stack pointer's high byte.
pub(crate) const SPH: u32 = 0x3E;
/// I/O address of the status register.
pub(crate) const SREG: u32 = 0x3F;

/// The differences between the cores that share the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Data address of the first I/O register. The register file is below it, where there is room.
    pub io: u32,
    /// The bits that RAMPZ has; 0 where there is neither RAMPZ nor ELPM.
    pub rampz: u8,
    /// Whether the stack pointer is the end of RAM after reset; it is 0 otherwise.
    pub stack_at_end: bool,
    /// Whether it has MUL and its relatives.
    pub multiply: bool,
    /// Whether it has JMP and CALL. Cores without them have at most 8 KiB of flash, all of which RJMP and RCALL reach: the
    /// program counter has only the bits that it needs, and goes on at 0 after the last word.
    pub long_jumps: bool,
    /// Data address of the register with SE, without which SLEEP does nothing, and that bit.
    pub sleep_enable: (u32, u8),
}

/// ATmega328P and others with at most 64 KiB of flash (SP after reset: DS40002061B, 7.5.1).
pub const AVR5: Variant = Variant {
    io: 0x20,
    rampz: 0,
    stack_at_end: true,
    multiply: true,
    long_jumps: true,
    sleep_enable: (0x53, 1 << 0), // SMCR
};

/// See [`Variant::sleep_enable`].
const MCUCR: (u32, u8) = (0x55, 1 << 5);

/// ATtiny85 and its smaller relatives (data sheet 2586Q, chapters "AVR CPU Core" and "Instruction Set Summary").
pub const AVR25: Variant = Variant { multiply: false, long_jumps: false, sleep_enable: MCUCR, ..AVR5 };

/// Chips with 128 KiB: RAMPZ has one bit, and SP is 0 after reset (data sheet 2467X, chapter "AVR CPU Core").
pub const AVR51: Variant = Variant { rampz: 1, stack_at_end: false, sleep_enable: MCUCR, ..AVR5 };

/// ATmega4809 and others whose I/O space starts at data address 0, without the register file in the
/// data space (data sheet DS40002173, chapters "Memories" and "AVR CPU").
pub const AVRXMEGA3: Variant = Variant { io: 0, sleep_enable: (0x50, 1 << 0), ..AVR5 }; // SLPCTRL

/// The core's state. The fields that handlers use most come first, within short displacements.
#[repr(C)]
pub struct Avr {
    pub(crate) sreg: Sreg,
    pub(crate) pc: u32,
    pub(crate) sp: u16,
    /// Registers r0..r31; the rest is never used and spares bounds checks: an operand is one byte,
    /// and a pair's second register is one after it.
    pub(crate) r: [u8; 257],
    /// Upper bits of ELPM's address.
    pub(crate) rampz: u8,
    /// I/O address of the half of the stack pointer that was written without the other, or 0, and the cycle then.
    pub(crate) half: (u32, u64),
    pub(crate) variant: Variant,
    pub(crate) mem: Memory,
}

impl Avr {
    /// A core with its chip, in reset.
    pub fn new(variant: Variant, mem: Memory) -> Self {
        let mut core = Self { sreg: Sreg::default(), pc: 0, sp: 0, r: [0; 257], rampz: 0, half: (0, 0), variant, mem };
        core.start_over();
        core
    }

    /// The word at `pc`; none outside flash.
    pub(crate) fn fetch(&self, pc: u32) -> Option<u16> {
        let at = pc as usize;
        let bytes = self.mem.flash.get(at..at.checked_add(2)?)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// As after reset.
    pub(crate) fn start_over(&mut self) {
        self.r = [0; 257];
        self.sreg = Sreg::unpack(0);
        let ram_end = (self.mem.ram_base as usize + self.mem.ram.len()).wrapping_sub(1) as u16;
        self.sp = if self.variant.stack_at_end { ram_end } else { 0 };
        self.rampz = 0;
        self.half = (0, 0);
        self.pc = 0;
    }
}
