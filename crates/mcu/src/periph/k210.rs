//! High-speed UART and GPIO, pin matrix and system controller of the Kendryte K210.
//!
//! The K210 data sheet has no register tables. UARTHS and GPIOHS are those of the SiFive FE310-G000 manual
//! (chapters 17 "GPIO" and 18 "UART"); FPIOA and SYSCTL are as the vendor's standalone SDK declares them, from
//! memory. None of it was tried on a board.

use super::{Host, Peripheral, Registers, part, report_edge};
use crate::PeripheralConfig;

pub(super) fn uarths(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x1C, Box::new(Uarths::default()))
}

pub(super) fn gpiohs(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x44, Box::new(Gpiohs { trigger: config.trigger_bit, regs: [0; 17] }))
}

pub(super) fn fpioa(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    Registers::block(0x100, &[], &[])
}

pub(super) fn sysctl(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x80, Box::new(Sysctl { regs: Registers::new(0x80, &[], &[]) }))
}

/// txdata rxdata txctrl rxctrl ie ip div.
#[derive(Debug, Default)]
struct Uarths {
    regs: [u32; 7],
}

impl Peripheral for Uarths {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const EMPTY: u32 = 1 << 31;
        const TXWM: u32 = 1;
        match offset {
            0 => Some(0), // never full
            4 if host.look() => Some(host.receive()),
            4 => Some(EMPTY),
            0x14 => Some(TXWM),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0 => host.send(value),
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(f64::from(self.regs[6]) + 1.0)
    }
}

/// input_val input_en output_en output_val pue ds, interrupts, iof_en iof_sel out_xor; registers are words.
#[derive(Debug)]
struct Gpiohs {
    trigger: Option<u8>,
    regs: [u32; 17],
}

impl Gpiohs {
    fn pins(&self) -> u32 {
        (self.regs[3] ^ self.regs[16]) & self.regs[2]
    }
}

impl Peripheral for Gpiohs {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0 => Some(self.pins() & self.regs[1]),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        if size != 4 || offset % 4 != 0 {
            return None;
        }
        let before = self.pins();
        *self.regs.get_mut(offset as usize / 4)? = value;
        report_edge(self.trigger, before, self.pins(), host);
        Some(())
    }
}

/// SYSCTL: a PLL is locked as soon as it is on.
#[derive(Debug)]
struct Sysctl {
    regs: Registers,
}

impl Peripheral for Sysctl {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        const PLL_LOCK: u32 = 0x18;
        const PLL0_LOCKED: u32 = 3;
        let value = self.regs.read(offset, size, host)?;
        Some(if offset & !3 == PLL_LOCK { value | part(PLL0_LOCKED, offset, size) } else { value })
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        self.regs.write(offset, size, value, host)
    }
}
