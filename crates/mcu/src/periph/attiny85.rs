//! Port B and Universal Serial Interface of the ATtiny85, which has no USART, and its Timer0, which clocks the former.
//! Sections are those of the data sheet (2586Q).
//!
//! The serial line is on the USI's pins: DI (PB0) receives, DO (PB1) sends, eight bits of a shift register at a time. As of
//! all serial ports here, bit times are not modelled: the shift register's clock ticks as often as the program waits for
//! it to overflow, and a byte's start bit is on the line when the program looks. What the bits are is the program's work.

use super::{Host, Peripheral, report_edge};
use crate::PeripheralConfig;

pub(super) fn port_usi(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // USICR 0x2D to USIBR 0x30, PINB 0x36, DDRB, PORTB
    let (trigger, port) = (config.trigger_bit, Port::default());
    (0x0C, Box::new(PortUsi { trigger, port, usi: Usi::default(), coming: Coming::Nothing, sent: Sent::default() }))
}

pub(super) fn timer0(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // OCR0A 0x49, TCCR0A, OSCCAL (not modelled), TCNT0, TCCR0B 0x53
    (0x0B, Box::new(Timer0 { regs: [0; 11] }))
}

#[derive(Debug, Default)]
struct Port {
    ddr: u32,
    port: u32,
}

/// USICR, USISR and USIDR (15.5).
#[derive(Debug, Default)]
struct Usi {
    control: u32,
    overflow: bool,
    count: u32,
    data: u8,
    buffer: u8,
}

/// The byte that comes in.
#[derive(Debug)]
enum Coming {
    Nothing,
    /// The start bit was seen; so many of the byte's bits were shifted in.
    Bits(u32),
    /// The stop bit has to be seen.
    Stop,
}

/// The byte that goes out: its bits so far, the first in bit 0, and their number; the start bit is none.
#[derive(Debug, Default)]
struct Sent {
    started: bool,
    bits: u32,
    count: u32,
}

impl Sent {
    /// A bit time with the line at this level.
    fn bit(&mut self, level: bool, host: &mut Host) {
        if !self.started {
            self.started = !level;
        } else if self.count < 8 {
            self.bits |= u32::from(level) << self.count;
            self.count += 1;
        } else {
            if level {
                host.send(self.bits); // a byte without its stop bit is lost
            }
            *self = Self::default();
        }
    }
}

#[derive(Debug)]
struct PortUsi {
    trigger: Option<u8>,
    port: Port,
    usi: Usi,
    coming: Coming,
    sent: Sent,
}

impl PortUsi {
    /// The level of the line that comes in.
    fn line(&mut self, host: &mut Host) -> u32 {
        match self.coming {
            Coming::Nothing if host.look() => {
                self.coming = Coming::Bits(0);
                0
            }
            Coming::Nothing => 1,
            Coming::Bits(n) => host.to_chip.front().map_or(1, |byte| u32::from(*byte) << 1 >> n & 1),
            Coming::Stop => {
                self.coming = Coming::Nothing;
                1
            }
        }
    }

    /// One clock of the shift register.
    fn shift(&mut self, host: &mut Host) {
        const WIRES: u32 = 0x30; // USIWM1:0 = 01: DO is the register's top
        const THREE: u32 = 0x10;
        const DO: u32 = 2;
        if self.usi.control & WIRES == THREE && self.port.ddr & DO != 0 {
            self.sent.bit(self.usi.data >> 7 == 1, host);
        }
        let mut next = 1;
        if let Coming::Bits(n) = self.coming {
            next = host.to_chip.front().map_or(1, |byte| byte >> n & 1);
            self.coming = Coming::Bits(n + 1);
            if n == 7 {
                host.receive();
                self.coming = Coming::Stop;
            }
        }
        self.usi.data = self.usi.data << 1 | next;
        self.usi.count = (self.usi.count + 1) % 16;
        if self.usi.count == 0 {
            self.usi.overflow = true;
            self.usi.buffer = self.usi.data;
        }
    }
}

impl Peripheral for PortUsi {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const CLOCK: u32 = 0x0C; // USICS1:0
        const TIMER: u32 = 0x04; // 01: Timer0's compare match
        Some(match offset {
            0 => self.usi.control,
            1 => {
                while !self.usi.overflow && self.usi.control & CLOCK == TIMER {
                    self.shift(host);
                }
                u32::from(self.usi.overflow) << 6 | self.usi.count
            }
            2 => self.usi.data.into(),
            3 => self.usi.buffer.into(),
            9 => (self.port.port & self.port.ddr & !1) | self.line(host),
            10 => self.port.ddr,
            11 => self.port.port,
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        const OVERFLOW: u32 = 0x40;
        let before = self.port.port & self.port.ddr;
        match offset {
            0 => self.usi.control = value & 0xFC, // USICLK and USITC: strobes, not modelled
            1 => {
                self.usi.overflow &= value & OVERFLOW == 0; // a one clears it
                self.usi.count = value & 15;
            }
            2 => self.usi.data = value as u8,
            9 => self.port.port ^= value & 0x3F, // 10.2.2: ones toggle
            10 => self.port.ddr = value & 0x3F,
            11 => self.port.port = value & 0x3F,
            _ => return None,
        }
        report_edge(self.trigger, before, self.port.port & self.port.ddr, host);
        Some(())
    }
}

/// OCR0A, TCCR0A, TCNT0 and TCCR0B store what is written: bit times are not modelled.
#[derive(Debug)]
struct Timer0 {
    regs: [u8; 11],
}

impl Peripheral for Timer0 {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        matches!(offset, 0 | 1 | 9 | 10).then(|| self.regs[offset as usize].into())
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        matches!(offset, 0 | 1 | 9 | 10).then(|| self.regs[offset as usize] = value as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Host, Peripheral, PeripheralConfig, build};

    fn usi() -> Box<dyn Peripheral> {
        build(&PeripheralConfig { kind: "attiny85-port-usi", base: 0, trigger_bit: Some(2) }).expect("it is known").1
    }

    #[test]
    fn a_byte_comes_in_with_start_and_stop_bit() {
        let (mut usi, mut host) = (usi(), Host::default());
        assert_eq!(usi.read(9, 1, &mut host), Some(1));
        host.to_chip.extend([0xB4, 0x00]);
        for byte in [0x2D, 0x00] {
            // the start bit; eight bits, the first of which becomes the top; the stop bit
            assert_eq!(usi.read(9, 1, &mut host), Some(0));
            usi.write(1, 1, 0x40 | 8, &mut host);
            usi.write(0, 1, 0x04, &mut host);
            assert_eq!((usi.read(1, 1, &mut host), usi.read(3, 1, &mut host)), (Some(0x40), Some(byte)));
            assert_eq!(usi.read(9, 1, &mut host), Some(1));
        }
        assert!(host.to_chip.is_empty());
    }

    #[test]
    fn a_byte_goes_out_where_the_pin_is_an_output_and_the_frame_is_whole() {
        // 0x35, lowest bit first: 0 10101100 1 in two parts
        let parts = [(0b0101_0110, 9), (0b0011_1111, 13)];
        for (ddr, stop, sent) in [(2, true, &[0x35][..]), (0, true, &[]), (2, false, &[])] {
            let (mut usi, mut host) = (usi(), Host::default());
            usi.write(10, 1, ddr, &mut host);
            usi.write(0, 1, 0x14, &mut host);
            for (data, count) in parts {
                usi.write(2, 1, if stop { data } else { data & 0xC0 }, &mut host);
                usi.write(1, 1, 0x40 | count, &mut host);
                assert_eq!(usi.read(1, 1, &mut host), Some(0x40));
            }
            assert_eq!(host.from_chip, sent, "{ddr} {stop}");
        }
    }
}
