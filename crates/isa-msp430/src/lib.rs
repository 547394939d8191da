//! MSP430 (16-bit, of the F1xx family): one table of instructions from which decoder, executor and
//! disassembler come.
//!
//! Code is fetched from flash, which lies in the one address space of 64 KiB. Interrupts are not
//! modelled: GIE is kept and nothing follows; a low-power mode that stops the core is a named fault.
//! So is a word access at an odd address, where the chip silently ignores the lowest bit.
#![warn(missing_docs)]

mod decode;
mod exec;
pub mod status;
pub mod table;
#[cfg(test)]
mod tests;

use isa::{Core, Run};
use mcu::Memory;

pub use crate::decode::{Mode, Step};
use crate::status::Status;

/// Register numbers.
pub(crate) const PC: usize = 0;
pub(crate) const SP: usize = 1;
pub(crate) const SR: usize = 2;
pub(crate) const CG: usize = 3;

/// The core's state.
#[repr(C)]
pub struct Msp430 {
    status: Status,
    /// Registers r0..r15; the rest is never used and spares bounds checks: an operand is one byte. SR is in
    /// `status`, r3 is always 0, and the program counter is exact between runs only.
    r: [u16; 256],
    mem: Memory,
}

impl Msp430 {
    /// A core with its chip, in reset.
    pub fn new(mem: Memory) -> Self {
        let mut core = Self { status: Status::unpack(0), r: [0; 256], mem };
        core.reset();
        core
    }

    /// Sets register `n` of r0 to r15; r3 and other numbers are ignored.
    pub fn set_register(&mut self, n: usize, value: u16) {
        match n {
            PC | SP => self.r[n] = value & !1,
            SR => self.status = Status::unpack(value),
            CG => {}
            _ => {
                if let Some(r) = self.r[..16].get_mut(n) {
                    *r = value;
                }
            }
        }
    }

    /// The word of flash at `pc`; none elsewhere.
    fn fetch(&self, pc: u32) -> Option<u16> {
        let at = pc.wrapping_sub(self.mem.flash_base) as usize;
        let bytes = self.mem.flash.get(at..at.checked_add(2)?)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }
}

impl Core for Msp430 {
    type Step = Step;
    const POINTER_BYTES: u8 = 2;
    const REGISTERS: &'static [&'static str] =
        &["pc", "sp", "sr", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    #[inline(always)]
    fn pc(&self) -> u32 {
        self.r[PC].into()
    }

    /// Loads the program counter from the reset vector, the last word of flash (SLAU049, 2.1.1). Other
    /// registers than SR are undefined on the chip.
    fn reset(&mut self) {
        self.r = [0; 256];
        self.status = Status::unpack(0);
        let vector = self.mem.flash_base + self.mem.flash.len() as u32 - 2;
        self.r[PC] = self.fetch(vector).unwrap_or(0) & !1;
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        decode::run(self, pc, max)
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        decode::disassemble(self, pc)
    }

    fn stack_pointer(&self) -> u32 {
        self.r[1].into()
    }

    fn registers(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.r[..16].iter().map(|&r| r.into()).collect();
        all[SR] = self.status.pack().into();
        all
    }
}
