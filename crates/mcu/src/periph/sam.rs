//! Ports, serial ports, clocks and flash controllers of the SAM D21 and the SAM3X.

use super::{Host, Peripheral, report_edge};
use crate::PeripheralConfig;

pub(super) fn port(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x80, Box::new(Port { trigger: config.trigger_bit, dir: 0, out: 0, others: [0; 0x80] }))
}

pub(super) fn sercom(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x30, Box::new(Sercom { regs: [0; 0x30] }))
}

pub(super) fn sysctrl(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x74, Box::new(Bytes { size: 0x74, fixed: &[(0x0C, PCLKSR)], bytes: [0; 256] }))
}

pub(super) fn gclk(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x0C, Box::new(Gclk { others: [0; 4], generators: [[0; 4]; 16], dividers: [[0; 4]; 16], selected: [0; 2] }))
}

pub(super) fn pm(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x40, Box::new(Bytes { size: 0x40, fixed: &[], bytes: [0; 256] }))
}

pub(super) fn nvmctrl(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // INTFLAG.READY
    (0x24, Box::new(Bytes { size: 0x24, fixed: &[(0x14, 1)], bytes: [0; 256] }))
}

pub(super) fn sam3x_pio(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x160, Box::new(Pio { trigger: config.trigger_bit, output: 0, level: 0 }))
}

pub(super) fn sam3x_uart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x24, Box::new(Uart { mode: 0, divider: 0 }))
}

pub(super) fn sam3x_pmc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // PMC_SR: crystal, PLL, master clock and selection are ready
    (0x110, Box::new(Bytes { size: 0x110, fixed: &[(0x68, 0x1_000B)], bytes: [0; 256] }))
}

pub(super) fn sam3x_eefc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // EEFC_FSR: ready
    (0x10, Box::new(Bytes { size: 0x10, fixed: &[(8, 1)], bytes: [0; 256] }))
}

pub(super) fn sam3x_wdt(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x0C, Box::new(Bytes { size: 0x0C, fixed: &[], bytes: [0; 256] }))
}

/// XOSCRDY, XOSC32KRDY, OSC32KRDY, OSC8MRDY, DFLLRDY, DFLLLCKF, DFLLLCKC (DS40001882, 17.8.4).
const PCLKSR: u32 = 0x0000_00DF;

/// Registers that store what is written to them, in accesses of any size, but for read-only ones.
#[derive(Debug)]
struct Bytes {
    size: u32,
    fixed: &'static [(u32, u32)],
    bytes: [u8; 256],
}

impl Peripheral for Bytes {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        if let Some(&(_, value)) = self.fixed.iter().find(|(o, _)| *o == offset) {
            return Some(value);
        }
        let end = offset + u32::from(size);
        (end <= self.size).then(|| {
            let bytes = self.bytes.get(offset as usize..end as usize).unwrap_or(&[]);
            bytes.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b))
        })
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        let end = offset + u32::from(size);
        (end <= self.size).then(|| {
            for (b, v) in self.bytes.iter_mut().skip(offset as usize).zip(value.to_le_bytes()).take(size.into()) {
                *b = v;
            }
        })
    }
}

/// CTRL, STATUS, which is never busy, CLKCTRL; GENCTRL and GENDIV of the generator that their lowest byte was last written
/// for (DS40001882, 15.8).
#[derive(Debug)]
struct Gclk {
    others: [u8; 4],
    generators: [[u8; 4]; 16],
    dividers: [[u8; 4]; 16],
    selected: [usize; 2],
}

impl Gclk {
    fn bytes(&mut self, offset: u32, size: u8) -> Option<&mut [u8]> {
        let register = match offset / 4 {
            0 => &mut self.others,
            1 => &mut self.generators[self.selected[0]],
            _ => &mut self.dividers[self.selected[1]],
        };
        let from = offset as usize % 4;
        register.get_mut(from..from + usize::from(size))
    }
}

impl Peripheral for Gclk {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        let status = if offset < 2 { 0xFF00 >> (8 * offset) } else { 0 };
        self.bytes(offset, size).map(|b| b.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b)) & !status)
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        if offset == 4 || offset == 8 {
            self.selected[offset as usize / 4 - 1] = value as usize & 15;
        }
        self.bytes(offset, size)?.copy_from_slice(&value.to_le_bytes()[..size.into()]);
        Some(())
    }
}

/// One group of PORT: DIR DIRCLR DIRSET DIRTGL OUT OUTCLR OUTSET OUTTGL IN CTRL WRCONFIG PMUX PINCFG
/// (DS40001882, 23.8).
#[derive(Debug)]
struct Port {
    trigger: Option<u8>,
    dir: u32,
    out: u32,
    others: [u8; 0x80],
}

impl Peripheral for Port {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        Some(match offset {
            0..0x10 => self.dir,
            0x10..0x20 => self.out,
            0x20 => self.out & self.dir,
            o => {
                let bytes = self.others.get(o as usize..o as usize + usize::from(size))?;
                bytes.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b))
            }
        })
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        if offset < 0x20 && (size != 4 || offset % 4 != 0) {
            return None; // our firmware writes words
        }
        let before = self.out & self.dir;
        let place = if offset < 0x10 { &mut self.dir } else { &mut self.out };
        match offset {
            0x00 | 0x10 => *place = value,
            0x04 | 0x14 => *place &= !value,
            0x08 | 0x18 => *place |= value,
            0x0C | 0x1C => *place ^= value,
            o => {
                let bytes = self.others.get_mut(o as usize..o as usize + usize::from(size))?;
                bytes.copy_from_slice(&value.to_le_bytes()[..size.into()]);
            }
        }
        report_edge(self.trigger, before, self.out & self.dir, host);
        Some(())
    }
}

/// SERCOM as a USART (DS40001882, 26.8): CTRLA CTRLB BAUD INTFLAG STATUS SYNCBUSY DATA.
#[derive(Debug)]
struct Sercom {
    regs: [u8; 0x30],
}

impl Peripheral for Sercom {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        const DRE_TXC: u32 = 3;
        const RXC: u32 = 4;
        match offset {
            0x18 => Some(DRE_TXC | if host.look() { RXC } else { 0 }),
            0x1A | 0x1C => Some(0),
            0x28 => Some(host.receive()),
            o => {
                let bytes = self.regs.get(o as usize..o as usize + usize::from(size))?;
                Some(bytes.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b)))
            }
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0x28 => host.send(value),
            o => {
                let bytes = self.regs.get_mut(o as usize..o as usize + usize::from(size))?;
                bytes.copy_from_slice(&value.to_le_bytes()[..size.into()]);
            }
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        let baud = u16::from_le_bytes([self.regs[0x0C], self.regs[0x0D]]);
        Some(16.0 / (1.0 - f64::from(baud) / 65536.0)) // asynchronous, arithmetic (26.6.2)
    }
}

/// PER PDR PSR OER ODR OSR SODR CODR ODSR PDSR ABSR OWER (SAM3X data sheet 11057C, 31.7); pins that the
/// PIO does not control, pull-ups and interrupts are not told apart.
#[derive(Debug)]
struct Pio {
    trigger: Option<u8>,
    output: u32,
    level: u32,
}

impl Peripheral for Pio {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0x18 => Some(self.output),
            0x38 => Some(self.level),
            0x3C => Some(self.level & self.output),
            _ => Some(0),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        let before = self.level & self.output;
        match offset {
            0x10 => self.output |= value,
            0x14 => self.output &= !value,
            0x30 => self.level |= value,
            0x34 => self.level &= !value,
            0x38 => self.level = value,
            _ => {}
        }
        report_edge(self.trigger, before, self.level & self.output, host);
        Some(())
    }
}

/// CR MR IER IDR IMR SR RHR THR BRGR (SAM3X data sheet 11057C, 34.6).
#[derive(Debug)]
struct Uart {
    mode: u32,
    divider: u32,
}

impl Peripheral for Uart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const TXRDY_TXEMPTY: u32 = 0x202;
        const RXRDY: u32 = 1;
        match offset {
            0x04 => Some(self.mode),
            0x10 => Some(0),
            0x14 => Some(TXRDY_TXEMPTY | if host.look() { RXRDY } else { 0 }),
            0x18 => Some(host.receive()),
            0x20 => Some(self.divider),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0x00 | 0x08 | 0x0C => {}
            0x04 => self.mode = value,
            0x1C => host.send(value),
            0x20 => self.divider = value & 0xFFFF,
            _ => return None,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(16.0 * f64::from(self.divider))
    }
}
