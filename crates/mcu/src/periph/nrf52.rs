//! Port, UART, clock and flash controller of the nRF52840 (Product Specification v1.1).

use super::{Host, Peripheral, report_edge};
use crate::PeripheralConfig;

pub(super) fn gpio(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x300, Box::new(Gpio { trigger: config.trigger_bit, out: 0, dir: 0, pins: [2; 32] }))
}

pub(super) fn uart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x570, Box::new(Uart { enabled: 0, settings: [u32::MAX; 28] }))
}

pub(super) fn clock(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x538, Box::new(Clock { crystal: false }))
}

pub(super) fn nvmc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x550, Box::new(Nvmc { cache: 0 }))
}

/// OUT OUTSET OUTCLR IN DIR DIRSET DIRCLR LATCH, PIN_CNF (6.9.2); offsets from 0x500.
#[derive(Debug)]
struct Gpio {
    trigger: Option<u8>,
    out: u32,
    dir: u32,
    pins: [u32; 32],
}

impl Peripheral for Gpio {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0x04 | 0x08 | 0x0C => Some(self.out),
            0x10 => Some(self.out & self.dir),
            0x14 | 0x18 | 0x1C => Some(self.dir),
            0x200..0x280 => Some(self.pins[(offset as usize / 4) & 31]),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        let before = self.out & self.dir;
        match offset {
            0x04 => self.out = value,
            0x08 => self.out |= value,
            0x0C => self.out &= !value,
            0x14 => self.dir = value,
            0x18 => self.dir |= value,
            0x1C => self.dir &= !value,
            0x200..0x280 => {
                // bit 0 of PIN_CNF is the same as the one in DIR
                let pin = (offset / 4) & 31;
                self.pins[pin as usize] = value;
                self.dir = self.dir & !(1 << pin) | (value & 1) << pin;
            }
            _ => return None,
        }
        report_edge(self.trigger, before, self.out & self.dir, host);
        Some(())
    }
}

/// UART without DMA (6.34): tasks, events RXDRDY and TXDRDY, ENABLE, PSEL, RXD, TXD, BAUDRATE, CONFIG.
/// A sent byte leaves immediately; events last as long as their cause.
#[derive(Debug)]
struct Uart {
    enabled: u32,
    settings: [u32; 28],
}

impl Peripheral for Uart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        match offset {
            0x108 => Some(host.look().into()),
            0x11C => Some(1),
            0x124 | 0x144 => Some(0),
            0x500 => Some(self.enabled),
            0x518 => Some(host.receive()),
            o => self.settings.get((o as usize).checked_sub(0x500)? / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0..0x300 => {} // tasks, and events that are cleared
            0x500 => self.enabled = value,
            0x51C if self.enabled == 4 => host.send(value),
            0x51C => {}
            o => *self.settings.get_mut((o as usize).checked_sub(0x500)? / 4)? = value,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        let rate = self.settings[(0x524 - 0x500) / 4]; // of 16 MHz, in 2^-32; the core has four times as many
        (rate != u32::MAX).then(|| 4.0 * 65536.0 * 65536.0 / f64::from(rate))
    }
}

/// HFCLKSTART and its effects (5.4.3).
#[derive(Debug)]
struct Clock {
    crystal: bool,
}

impl Peripheral for Clock {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0x100 => Some(self.crystal.into()),
            0x40C => Some(1 << 16 | u32::from(self.crystal)),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        match offset {
            0 if value == 1 => self.crystal = true,
            0x100 => {}
            _ => return None,
        }
        Some(())
    }
}

/// READY and ICACHECNF (4.3.5); no writing of flash. The cache itself is in the timing model, which
/// takes it as switched on.
#[derive(Debug)]
struct Nvmc {
    cache: u32,
}

impl Peripheral for Nvmc {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0x400 => Some(1),
            0x540 => Some(self.cache),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        (offset == 0x540).then(|| self.cache = value)
    }
}
