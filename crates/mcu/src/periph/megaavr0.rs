//! Ports, USART, clock controller and configuration change protection of the megaAVR 0-series.
//! Sections are those of the ATmega4808/4809 data sheet (DS40002173).

use super::{Host, Peripheral, report_edge};
use crate::PeripheralConfig;

pub(super) fn vport(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (4, Box::new(Vport { trigger: config.trigger_bit, dir: 0, out: 0 }))
}

pub(super) fn usart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (16, Box::new(Usart { regs: USART_RESET }))
}

pub(super) fn ccp(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (1, Box::new(Ccp))
}

pub(super) fn clock(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x1D, Box::new(Clock { mclk: [0, 0x11] }))
}

pub(super) fn portmux(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (6, Box::new(Portmux::default()))
}

/// VPORTx: DIR, OUT, IN, INTFLAGS.
#[derive(Debug)]
struct Vport {
    trigger: Option<u8>,
    dir: u32,
    out: u32,
}

impl Peripheral for Vport {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        Some(match offset {
            0 => self.dir,
            1 => self.out,
            2 => self.out & self.dir,
            _ => 0, // no pin interrupt is ever enabled
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        let before = self.out & self.dir;
        match offset {
            0 => self.dir = value & 0xFF,
            1 => self.out = value & 0xFF,
            2 => self.out ^= value & 0xFF, // writing ones to IN toggles
            _ => {}
        }
        report_edge(self.trigger, before, self.out & self.dir, host);
        Some(())
    }
}

/// After reset CTRLC is 8 data bits, no parity, one stop bit.
const USART_RESET: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0];

/// RXDATAL RXDATAH TXDATAL TXDATAH STATUS CTRLA CTRLB CTRLC BAUDL BAUDH CTRLD DBGCTRL EVCTRL TXPLCTRL RXPLCTRL.
#[derive(Debug)]
struct Usart {
    regs: [u8; 16],
}

impl Peripheral for Usart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const RXCIF: u32 = 0x80;
        const TXCIF_DREIF: u32 = 0x60;
        Some(match offset {
            0 => host.receive(),
            1 => 0,
            4 => TXCIF_DREIF | if host.look() { RXCIF } else { 0 },
            o => self.regs[o as usize].into(),
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        const TXEN: u8 = 0x40;
        match offset {
            2 if self.regs[6] & TXEN != 0 => host.send(value),
            0..=4 => {}
            o => self.regs[o as usize] = value as u8,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(f64::from(u16::from_le_bytes([self.regs[8], self.regs[9]])) * 16.0 / 64.0)
    }
}

/// CPU.CCP. Its key opens protected registers for four instructions, here for the cycles that four
/// stores take.
#[derive(Debug)]
struct Ccp;

impl Peripheral for Ccp {
    fn read(&mut self, _: u32, _: u8, host: &mut Host) -> Option<u32> {
        Some(u32::from(host.now <= host.unlocked))
    }

    fn write(&mut self, _: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        const IOREG: u32 = 0xD8;
        host.unlocked = if value == IOREG { host.now + 8 } else { 0 };
        Some(())
    }
}

/// CLKCTRL: MCLKCTRLA and MCLKCTRLB, which are protected, and MCLKSTATUS. The oscillator is always
/// stable. Cycles are those of the core, so the prescaler changes nothing here.
#[derive(Debug)]
struct Clock {
    mclk: [u32; 2],
}

impl Peripheral for Clock {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        const OSC20MS: u32 = 0x10;
        match offset {
            3 => Some(OSC20MS),
            o => self.mclk.get(o as usize).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        let register = self.mclk.get_mut(offset as usize)?;
        if host.now <= host.unlocked {
            *register = value;
            host.unlocked = 0;
        }
        Some(())
    }
}

/// PORTMUX: routes only, without effect here.
#[derive(Debug, Default)]
struct Portmux {
    regs: [u32; 6],
}

impl Peripheral for Portmux {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        self.regs.get(offset as usize).copied()
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        self.regs.get_mut(offset as usize).map(|r| *r = value)
    }
}
