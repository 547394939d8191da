//! GPIO, UART, pads and watchdog of the ESP8266, ESP32 and ESP32-C3. The registers of all have the same meanings, but
//! different addresses; those of the ESP32-C3's GPIO are the ESP32's.
//!
//! Sources: ESP8266 Technical Reference 1.7 (appendices "GPIO registers", "UART registers"), ESP32 Technical Reference
//! Manual 4.x (chapters "IO_MUX and GPIO Matrix", "UART Controller"), and the vendor's SVD file of the ESP32-C3.

use super::{Host, Peripheral, Registers, report_edge};
use crate::PeripheralConfig;

pub(super) fn gpio_8266(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // GPIO_OUT 0x00, GPIO_ENABLE 0x0C, GPIO_IN 0x18, GPIO_PINn from 0x28
    (0x78, Box::new(Gpio::new(config, 0x00, 0x0C, 0x18)))
}

pub(super) fn gpio_32(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // GPIO_OUT 0x04, GPIO_ENABLE 0x20, GPIO_IN 0x3C, GPIO_FUNCn_OUT_SEL_CFG from 0x530
    (0x5D0, Box::new(Gpio::new(config, 0x04, 0x20, 0x3C)))
}

pub(super) fn uart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x80, Box::new(Uart { regs: [0; 33] }))
}

pub(super) fn uart_c3(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x84, Box::new(Uart { regs: [0; 33] }))
}

pub(super) fn registers(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    Registers::block(0x100, &[], &[]) // pads, watchdog: without effect
}

/// An output register and an enable register, each followed by one that sets bits and one that clears
/// them; the other registers store what is written.
#[derive(Debug)]
struct Gpio {
    trigger: Option<u8>,
    out: u32,
    enable: u32,
    input: u32,
    level: u32,
    enabled: u32,
    regs: Vec<u32>,
}

impl Gpio {
    fn new(config: &PeripheralConfig<'_>, out: u32, enable: u32, input: u32) -> Self {
        let regs = vec![0; 0x5D0 / 4];
        Self { trigger: config.trigger_bit, out, enable, input, level: 0, enabled: 0, regs }
    }
}

/// The new value after a write to the register `n` positions after it.
fn change(old: u32, n: u32, value: u32) -> u32 {
    match n {
        0 => value,
        1 => old | value,
        _ => old & !value,
    }
}

impl Peripheral for Gpio {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        Some(match offset {
            o if o == self.out => self.level,
            o if o == self.enable => self.enabled,
            o if o == self.input => self.level & self.enabled,
            o => *self.regs.get(o as usize / 4)?,
        })
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        if size != 4 {
            return None;
        }
        let before = self.level & self.enabled;
        let (out, enable) = (offset.wrapping_sub(self.out) / 4, offset.wrapping_sub(self.enable) / 4);
        if out < 3 {
            self.level = change(self.level, out, value);
        } else if enable < 3 {
            self.enabled = change(self.enabled, enable, value);
        } else {
            *self.regs.get_mut(offset as usize / 4)? = value;
        }
        report_edge(self.trigger, before, self.level & self.enabled, host);
        Some(())
    }
}

/// FIFO 0x00, STATUS 0x1C with the number of received bytes in its bits 7 to 0 and the number of bytes
/// that wait to be sent in its bits 23 to 16; ID 0x80 of the ESP32-C3, whose bit 31 is clear again at once; the other
/// registers store what is written.
#[derive(Debug)]
struct Uart {
    regs: [u32; 33],
}

impl Peripheral for Uart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        match offset {
            0x00 => Some(host.receive()),
            0x1C => Some(host.look().into()),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0x00 => host.send(value & 0xFF),
            0x80 => self.regs[0x20] = value & !(1 << 31),
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        let divider = self.regs[5]; // a whole number, and sixteenths
        Some(f64::from(divider & 0xF_FFFF) + f64::from(divider >> 20 & 0xF) / 16.0)
    }
}
