//! The core's state.

use mcu::Memory;

use crate::status::Status;

/// Register numbers.
pub(crate) const PC: usize = 0;
pub(crate) const SP: usize = 1;
pub(crate) const SR: usize = 2;
pub(crate) const CG: usize = 3;

/// The core's state.
#[repr(C)]
pub struct Msp430 {
    pub(crate) status: Status,
    /// Registers r0..r15; the rest is never used and spares bounds checks: an operand is one byte. SR is in
    /// `status`, r3 is always 0, and the program counter is exact between runs only.
    pub(crate) r: [u16; 256],
    pub(crate) mem: Memory,
}

impl Msp430 {
    /// A core with its chip, in reset.
    pub fn new(mem: Memory) -> Self {
        let mut core = Self { status: Status::unpack(0), r: [0; 256], mem };
        core.start_over();
        core
    }

    /// Loads the program counter from the reset vector, the last word of flash (SLAU049, 2.1.1). Other
    /// registers than SR are undefined on the chip.
    pub(crate) fn start_over(&mut self) {
        self.r = [0; 256];
        self.status = Status::unpack(0);
        let vector = self.mem.flash_base + self.mem.flash.len() as u32 - 2;
        self.r[PC] = self.fetch(vector).unwrap_or(0) & !1;
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
    pub(crate) fn fetch(&self, pc: u32) -> Option<u16> {
        let at = pc.wrapping_sub(self.mem.flash_base) as usize;
        let bytes = self.mem.flash.get(at..at.checked_add(2)?)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }
}
