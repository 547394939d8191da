//! Peripherals that benchmark firmware uses: serial port, trigger pin, clock set-up, counters of cycles.
//!
//! Each model answers register reads and writes by offset and returns `None` where the chip has no
//! register that we model, which becomes a named fault. Timing of the serial line is not modelled:
//! a byte arrives when the firmware looks for it and leaves immediately, so a campaign does not wait for bit times. The
//! measured window between trigger edges contains no serial access.

mod attiny85;
mod avr;
mod counter;
mod espressif;
mod gd32vf;
mod k210;
mod megaavr0;
mod msp430;
mod nrf52;
mod rp2040;
mod sam;
mod stm32;
mod stm32f1;

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::PeripheralConfig;

/// The world outside the chip.
#[derive(Debug, Default)]
pub struct Host {
    /// Bytes in flight to the chip.
    pub to_chip: VecDeque<u8>,
    /// Bytes that the chip sent.
    pub from_chip: Vec<u8>,
    /// Cycle of the current access.
    pub(crate) now: u64,
    /// Stack pointer at the current access.
    pub(crate) sp: u32,
    /// The firmware waits for a byte and there is none.
    pub(crate) idle: bool,
    /// How often the serial port's status was read since a byte came or went.
    looks: u8,
    /// New level of the trigger pin.
    pub(crate) edge: Option<bool>,
    /// Last cycle at which registers under configuration change protection can be written.
    pub(crate) unlocked: u64,
    /// How often a program read a number that goes on with the clock.
    pub clocked: u64,
    /// Whether a program allowed interrupts, which are not modelled, since reset.
    pub interrupts: bool,
}

impl Host {
    /// The firmware reads the serial port's status; returns whether a byte is there. The first read may check for room
    /// to send; a second one without sending means waiting.
    fn look(&mut self) -> bool {
        let empty = self.to_chip.is_empty();
        self.looks = self.looks.saturating_add(1);
        self.idle = empty && self.looks > 1;
        !empty
    }

    fn receive(&mut self) -> u32 {
        self.looks = 0;
        self.to_chip.pop_front().unwrap_or(0).into()
    }

    fn send(&mut self, byte: u32) {
        self.looks = 0;
        self.from_chip.push(byte as u8);
    }
}

/// A register block. Its text for debugging has all its state.
pub trait Peripheral: Debug + Send + Sync {
    /// Reads `size` bytes at `offset`; `None` where there is no register.
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32>;
    /// Writes `size` bytes at `offset`; `None` where there is no register.
    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()>;
    /// Whether it only computes, so that a measured call may use it.
    fn arithmetic(&self) -> bool {
        false
    }
    /// Cycles of its clock that a bit takes on the serial line, as its divider is set; `None` where it is not a serial port.
    fn bit(&self) -> Option<f64> {
        None
    }
}

/// Creates the model that a configuration names, with its size in bytes.
type Make = fn(&PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>);

/// Every kind that a target's TOML can name.
const KINDS: &[(&str, Make)] = &[
    ("attiny85-port-usi", attiny85::port_usi),
    ("attiny85-timer0", attiny85::timer0),
    ("avr-port", avr::port),
    ("avr-timer1", counter::avr_timer1),
    ("atmega128-timer1", counter::atmega128_timer1),
    ("avr-usart", avr::usart),
    ("avr-usart-low", avr::usart_low),
    ("cortex-dwt", counter::dwt),
    ("cortex-m7-dwt", counter::m7_dwt),
    ("cortex-systick", counter::systick),
    ("esp-uart", espressif::uart),
    ("esp-registers", espressif::registers),
    ("esp8266-gpio", espressif::gpio_8266),
    ("esp32-gpio", espressif::gpio_32),
    ("esp32c3-uart", espressif::uart_c3),
    ("gd32vf-rcu", gd32vf::rcu),
    ("k210-fpioa", k210::fpioa),
    ("k210-gpiohs", k210::gpiohs),
    ("k210-sysctl", k210::sysctl),
    ("k210-uarths", k210::uarths),
    ("megaavr0-tca", counter::megaavr0_tca),
    ("megaavr0-ccp", megaavr0::ccp),
    ("megaavr0-clock", megaavr0::clock),
    ("megaavr0-portmux", megaavr0::portmux),
    ("megaavr0-usart", megaavr0::usart),
    ("megaavr0-vport", megaavr0::vport),
    ("msp430-port", msp430::port),
    ("msp430-sfr", msp430::sfr),
    ("msp430-usart", msp430::usart),
    ("msp430-clock", msp430::clock),
    ("msp430-watchdog", msp430::watchdog),
    ("msp430-multiplier", msp430::multiplier),
    ("msp430-timer-a", counter::msp430_timer_a),
    ("qingke-systick", counter::qingke_systick),
    ("rp2040-clocks", rp2040::clocks),
    ("rp2040-pads", rp2040::pads),
    ("rp2040-pll", rp2040::pll),
    ("rp2040-resets", rp2040::resets),
    ("rp2040-sio", rp2040::sio),
    ("rp2040-uart", rp2040::uart),
    ("rp2040-xosc", rp2040::xosc),
    ("stm32f1-gpio", stm32f1::gpio),
    ("stm32f1-usart", stm32f1::usart),
    ("stm32f1-rcc", stm32f1::rcc),
    ("stm32f1-flash", stm32f1::flash),
    ("stm32-gpio", stm32::gpio),
    ("stm32-usart", stm32::usart),
    ("stm32-flash", stm32::flash),
    ("stm32f4-rcc", stm32::f4_rcc),
    ("stm32l0-rcc", stm32::l0_rcc),
    ("stm32l0-pwr", stm32::l0_pwr),
    ("stm32f7-pwr", stm32::f7_pwr),
    ("nrf52-gpio", nrf52::gpio),
    ("nrf52-uart", nrf52::uart),
    ("nrf52-clock", nrf52::clock),
    ("nrf52-nvmc", nrf52::nvmc),
    ("samd21-port", sam::port),
    ("samd21-sercom", sam::sercom),
    ("samd21-sysctrl", sam::sysctrl),
    ("samd21-gclk", sam::gclk),
    ("samd21-pm", sam::pm),
    ("samd21-nvmctrl", sam::nvmctrl),
    ("sam3x-pio", sam::sam3x_pio),
    ("sam3x-uart", sam::sam3x_uart),
    ("sam3x-pmc", sam::sam3x_pmc),
    ("sam3x-eefc", sam::sam3x_eefc),
    ("sam3x-wdt", sam::sam3x_wdt),
];

/// Size in bytes and model of a configured peripheral.
///
/// # Errors
/// A sentence that lists the known kinds when `config.kind` is none of them.
pub fn build(config: &PeripheralConfig<'_>) -> Result<(u32, Box<dyn Peripheral>), String> {
    if config.trigger_bit.is_some_and(|b| b > 31) {
        return Err(format!("peripherals: {}: a trigger_bit above 31", config.kind));
    }
    let Some((_, make)) = KINDS.iter().find(|(kind, _)| *kind == config.kind) else {
        let known: Vec<_> = KINDS.iter().map(|(kind, _)| *kind).collect();
        return Err(format!("peripherals: unknown kind {:?}; known: {}", config.kind, known.join(" ")));
    };
    Ok(make(config))
}

/// Registers of 32 bits that store what is written to them.
#[derive(Debug)]
struct Registers {
    values: Vec<u32>,
    ready: &'static [Follow],
}

/// Read-only bits of the register at `offset` that immediately follow others `by` bits below them.
#[derive(Debug)]
struct Follow {
    offset: u32,
    from: u32,
    by: u32,
}

impl Registers {
    /// So many bytes of them; their values after reset by offset, where they are not 0.
    fn new(bytes: u32, reset: &[(usize, u32)], ready: &'static [Follow]) -> Self {
        let mut values = vec![0; bytes as usize / 4];
        reset.iter().for_each(|&(offset, value)| values[offset / 4] = value);
        Self { values, ready }
    }

    /// As a peripheral.
    fn block(bytes: u32, reset: &[(usize, u32)], ready: &'static [Follow]) -> (u32, Box<dyn Peripheral>) {
        (bytes, Box::new(Self::new(bytes, reset, ready)))
    }
}

impl Peripheral for Registers {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        let mut v = *self.values.get(offset as usize / 4)?;
        for f in self.ready.iter().filter(|f| f.offset == offset & !3) {
            v = v & !(f.from << f.by) | (v & f.from) << f.by;
        }
        Some(part(v, offset, size))
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        let register = self.values.get_mut(offset as usize / 4)?;
        *register = merged(*register, offset, size, value);
        Some(())
    }
}

/// The lowest bits of a register that `size` bytes have.
pub(crate) fn mask(size: u8) -> u32 {
    u32::MAX >> (32 - 8 * u32::from(size.clamp(1, 4)))
}

/// What `size` bytes at `offset` read of a register of 32 bits.
fn part(register: u32, offset: u32, size: u8) -> u32 {
    register >> (8 * (offset % 4)) & mask(size)
}

/// A register of 32 bits after `size` bytes at `offset` were written: the others stay.
fn merged(register: u32, offset: u32, size: u8, value: u32) -> u32 {
    let (mask, by) = (mask(size), 8 * (offset % 4));
    register & !(mask << by) | (value & mask) << by
}

fn report_edge(trigger: Option<u8>, old: u32, new: u32, host: &mut Host) {
    if let Some(bit) = trigger.filter(|bit| (old ^ new) >> bit & 1 == 1) {
        host.edge = Some(new >> bit & 1 == 1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, PeripheralConfig, build};

    #[test]
    fn a_byte_changes_its_part_of_a_register() {
        let host = &mut Host::default();
        for kind in ["stm32-flash", "esp-registers"] {
            let (_, mut registers) =
                build(&PeripheralConfig { kind, base: 0, trigger_bit: None }).expect("it is known");
            registers.write(0, 4, 0x1122_3305, host);
            registers.write(1, 1, 0xFF00, host);
            assert_eq!(registers.read(0, 4, host), Some(0x1122_0005), "{kind}");
            registers.write(2, 2, 0x4455, host);
            let read = [(0, 1), (1, 1), (3, 1), (2, 2), (0, 4)].map(|(at, size)| registers.read(at, size, host));
            assert_eq!(read, [5, 0, 0x44, 0x4455, 0x4455_0005].map(Some), "{kind}");
        }
    }

    #[test]
    fn a_narrow_write_on_the_rp2040_is_on_all_lanes() {
        let host = &mut Host::default();
        let (_, mut pads) =
            build(&PeripheralConfig { kind: "rp2040-pads", base: 0, trigger_bit: None }).expect("it is known");
        pads.write(5, 1, 0x56, host);
        assert_eq!(pads.read(4, 4, host), Some(0x5656_5656));
        pads.write(0x2004, 2, 0x0101, host); // sets bits
        assert_eq!(pads.read(4, 4, host), Some(0x5757_5757));
        assert_eq!(pads.read(6, 1, host), Some(0x57));
    }

    #[test]
    fn clocks_are_ready_as_soon_as_they_are_on() {
        let host = &mut Host::default();
        for (kind, on, ready) in [
            ("stm32f1-rcc", 0x0101_0001, 0x0303_0003),
            ("gd32vf-rcu", 0x1501_0001, 0x3F03_0003),
            ("stm32f4-rcc", 0x0101_0001, 0x0303_0003),
            ("stm32l0-rcc", 0x0101_0101, 0x0303_0305),
        ] {
            let (bytes, mut clock) =
                build(&PeripheralConfig { kind, base: 0, trigger_bit: None }).expect("it is known");
            clock.write(0, 4, on, host);
            assert_eq!(clock.read(0, 4, host), Some(ready), "{kind}");
            clock.write(0, 4, 0, host);
            assert_eq!(clock.read(0, 4, host), Some(0), "{kind}");
            assert_eq!(clock.read(bytes, 4, host), None, "{kind}");
        }
    }
}
