//! Ports, USART, clocks, watchdog and hardware multiplier of the MSP430 F1xx family (SLAU049F).

use super::{Host, Peripheral, report_edge};
use crate::PeripheralConfig;

pub(super) fn port(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (4, Box::new(Port { trigger: config.trigger_bit, regs: [0; 4] }))
}

pub(super) fn sfr(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (6, Box::new(Sfr { regs: [0, 0, 0x02, 0, 0, 0] }))
}

pub(super) fn usart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (8, Box::new(Usart { regs: [0x01, 0x01, 0, 0, 0, 0, 0, 0] }))
}

pub(super) fn clock(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (3, Box::new(Clock { regs: [0x60, 0x84, 0] }))
}

pub(super) fn watchdog(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (2, Box::new(Watchdog { control: 0 }))
}

pub(super) fn multiplier(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (16, Box::new(Multiplier::default()))
}

/// PxIN, PxOUT, PxDIR and the register after them: PxIFG of ports 1 and 2, PxSEL of the others (9.2).
#[derive(Debug)]
struct Port {
    trigger: Option<u8>,
    regs: [u8; 4],
}

impl Port {
    fn pins(&self) -> u32 {
        (self.regs[1] & self.regs[2]).into()
    }
}

impl Peripheral for Port {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        let value = if offset == 0 { self.pins() } else { u32::from(*self.regs.get(offset as usize)?) };
        (size == 1).then_some(value)
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        if size != 1 {
            return None; // 1.4.4: 8-bit modules are accessed with byte instructions
        }
        let before = self.pins();
        if offset != 0 {
            *self.regs.get_mut(offset as usize)? = value as u8;
        }
        report_edge(self.trigger, before, self.pins(), host);
        Some(())
    }
}

/// IE1 IE2 IFG1 IFG2 ME1 ME2 (13.3): transmitters are always ready, a byte has come when the host sent one.
#[derive(Debug)]
struct Sfr {
    regs: [u8; 6],
}

/// Bits of transmitter and receiver in IFG1 (USART0) and IFG2 (USART1).
const READY: [(u8, u8); 2] = [(0x80, 0x40), (0x20, 0x10)];

impl Peripheral for Sfr {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        let mut value = *self.regs.get(offset as usize)?;
        if let Some((transmit, receive)) = offset.checked_sub(2).and_then(|n| READY.get(n as usize)) {
            // only a module that is switched on in ME1 or ME2 has meaningful flags
            if self.regs[offset as usize + 2] & receive != 0 {
                value = value & !receive | transmit | if host.look() { *receive } else { 0 };
            }
        }
        (size == 1).then_some(value.into())
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        *self.regs.get_mut(offset as usize)? = value as u8;
        (size == 1).then_some(())
    }
}

/// UxCTL UxTCTL UxRCTL UxMCTL UxBR0 UxBR1 UxRXBUF UxTXBUF (13.3).
#[derive(Debug)]
struct Usart {
    regs: [u8; 8],
}

impl Peripheral for Usart {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        let value = if offset == 6 { host.receive() } else { u32::from(*self.regs.get(offset as usize)?) };
        (size == 1).then_some(value)
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            7 => host.send(value),
            _ => *self.regs.get_mut(offset as usize)? = value as u8,
        }
        (size == 1).then_some(())
    }

    fn bit(&self) -> Option<f64> {
        let divider = u16::from_le_bytes([self.regs[4], self.regs[5]]);
        Some(f64::from(divider) + f64::from(self.regs[3].count_ones()) / 8.0) // each bit of UxMCTL adds one in eight
    }
}

/// DCOCTL BCSCTL1 BCSCTL2 (4.3).
#[derive(Debug)]
struct Clock {
    regs: [u8; 3],
}

impl Peripheral for Clock {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        (size == 1).then_some((*self.regs.get(offset as usize)?).into())
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        *self.regs.get_mut(offset as usize)? = value as u8;
        (size == 1).then_some(())
    }
}

/// WDTCTL (10.3): a password in the high byte; a wrong one resets the chip, which is a fault here. The
/// watchdog itself does not count.
#[derive(Debug)]
struct Watchdog {
    control: u8,
}

impl Peripheral for Watchdog {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        // an image reads words; who looks at its setting, the lower byte
        (offset == 0).then_some((0x6900 | u32::from(self.control)) & (0xFFFF >> (16 - 8 * u32::from(size.min(2)))))
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        if offset != 0 || size != 2 || value >> 8 != 0x5A {
            return None;
        }
        self.control = value as u8;
        Some(())
    }
}

/// MPY MPYS MAC MACS OP2 RESLO RESHI SUMEXT (chapter 11): the result is there for the next instruction. The chip needs
/// one more instruction when the result is read through a pointer.
#[derive(Debug, Default)]
struct Multiplier {
    op1: u16,
    op2: u16,
    /// Which of the first four registers the first operand went to.
    mode: u32,
    result: u32,
    sum_extension: u16,
}

impl Multiplier {
    fn multiply(&mut self) {
        let signed = self.mode & 1 != 0;
        let product = if signed {
            (i32::from(self.op1 as i16) * i32::from(self.op2 as i16)) as u32
        } else {
            u32::from(self.op1) * u32::from(self.op2)
        };
        let (result, carry) = if self.mode < 2 { (product, false) } else { self.result.overflowing_add(product) };
        self.result = result;
        // 11.2.2, table 11-3
        self.sum_extension = match signed {
            true => (result as i32 >> 31) as u16,
            false => carry.into(),
        };
    }
}

impl Peripheral for Multiplier {
    fn arithmetic(&self) -> bool {
        true
    }

    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        let word = u32::from(match offset & !1 {
            0..8 => self.op1,
            8 => self.op2,
            10 => self.result as u16,
            12 => (self.result >> 16) as u16,
            _ => self.sum_extension,
        });
        match (size, offset & 1) {
            (2, 0) => Some(word),
            (1, 0) => Some(word & 0xFF),
            (1, _) => Some(word >> 8),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        if offset & 1 != 0 || size > 2 {
            return None; // 1.4.4: bytes at even addresses only; the high byte is then 0
        }
        let word = value as u16;
        match offset {
            0 | 2 | 4 | 6 => (self.op1, self.mode) = (word, offset / 2),
            8 => {
                self.op2 = word;
                self.multiply();
            }
            10 => self.result = self.result & 0xFFFF_0000 | u32::from(word),
            12 => self.result = self.result & 0xFFFF | u32::from(word) << 16,
            _ => {} // SUMEXT is read only
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, Multiplier, Peripheral};

    #[test]
    fn products_and_sums_match_their_definitions() {
        let host = &mut Host::default();
        let numbers = [0u16, 1, 2, 0x7F, 0x1234, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF];
        for (x, y) in numbers.into_iter().flat_map(|x| numbers.map(|y| (x, y))) {
            let mut m = Multiplier::default();
            let mut total = 0u32;
            for mode in [0, 1, 2, 3, 3, 2] {
                m.write(2 * mode, 2, x.into(), host);
                m.write(8, 2, y.into(), host);
                let signed = i64::from(x as i16) * i64::from(y as i16);
                let product = if mode & 1 == 1 { signed } else { i64::from(x) * i64::from(y) };
                let before = if mode < 2 { 0 } else { i64::from(total) };
                total = (before + product) as u32;
                let extension = match mode & 1 {
                    1 => {
                        if total >> 31 == 1 {
                            0xFFFF
                        } else {
                            0
                        }
                    }
                    _ => u32::from(before + product > 0xFFFF_FFFF),
                };
                let read = |m: &mut Multiplier, o, host: &mut Host| m.read(o, 2, host);
                assert_eq!(read(&mut m, 10, host), Some(total & 0xFFFF), "{mode} {x:#x} {y:#x}");
                assert_eq!(read(&mut m, 12, host), Some(total >> 16), "{mode} {x:#x} {y:#x}");
                assert_eq!(read(&mut m, 14, host), Some(extension), "{mode} {x:#x} {y:#x}");
            }
        }
    }
}
