//! Ports and USART of the classic AVR chips.

use super::{Host, Peripheral, report_edge};
use crate::PeripheralConfig;

pub(super) fn port(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (3, Box::new(AvrPort { trigger: config.trigger_bit, ..AvrPort::default() }))
}

pub(super) fn usart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (7, Box::new(AvrUsart::default()))
}

pub(super) fn usart_low(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (4, Box::new(AvrUsartLow::default()))
}

/// PINx, DDRx, PORTx (ATmega328P datasheet DS40002061B, 14.4).
#[derive(Debug, Default)]
struct AvrPort {
    trigger: Option<u8>,
    ddr: u32,
    port: u32,
}

impl Peripheral for AvrPort {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        Some(match offset {
            0 => self.port & self.ddr,
            1 => self.ddr,
            _ => self.port,
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        let before = self.port & self.ddr;
        match offset {
            0 => self.port ^= value & 0xFF, // writing ones to PINx toggles, 14.2.2
            1 => self.ddr = value & 0xFF,
            _ => self.port = value & 0xFF,
        }
        report_edge(self.trigger, before, self.port & self.ddr, host);
        Some(())
    }
}

/// Cycles of a bit (DS40002061B, 20.3.1): eight or, without U2X in UCSRnA, sixteen of the divider's periods.
fn classic(ubrr: u16, ucsra: u8) -> f64 {
    (f64::from(ubrr) + 1.0) * if ucsra & 0x02 == 0 { 16.0 } else { 8.0 }
}

/// UCSRnA, UCSRnB, UCSRnC, -, UBRRnL, UBRRnH, UDRn (DS40002061B, 20.11).
#[derive(Debug, Default)]
struct AvrUsart {
    regs: [u8; 6],
}

impl Peripheral for AvrUsart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const RXC: u32 = 0x80;
        const TXC_UDRE: u32 = 0x60;
        Some(match offset {
            0 => u32::from(self.regs[0] & 0x02) | TXC_UDRE | if host.look() { RXC } else { 0 },
            6 => host.receive(),
            o => self.regs[o as usize].into(),
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            6 => host.send(value),
            o => self.regs[o as usize] = value as u8,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(classic(u16::from_le_bytes([self.regs[4], self.regs[5] & 0x0F]), self.regs[0]))
    }
}

/// UBRRnL, UCSRnB, UCSRnA, UDRn: USARTs in the I/O space (data sheet 2467X, "USART Register
/// Description" and "Register Summary"). Their other registers are elsewhere and keep 8N1 after reset.
#[derive(Debug, Default)]
struct AvrUsartLow {
    regs: [u8; 3],
}

impl Peripheral for AvrUsartLow {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const RXC: u32 = 0x80;
        const TXC_UDRE: u32 = 0x60;
        Some(match offset {
            2 => u32::from(self.regs[2] & 0x02) | TXC_UDRE | if host.look() { RXC } else { 0 },
            3 => host.receive(),
            o => self.regs[o as usize].into(),
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            3 => host.send(value),
            o => self.regs[o as usize] = value as u8,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(classic(self.regs[0].into(), self.regs[2]))
    }
}
