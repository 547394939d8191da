//! Helpers for tests: chips, tools, a scratch directory.
#![allow(dead_code)] // each user needs only a part

use std::path::{Path, PathBuf};
use std::process::Command;

use isa::{Machine, Timing};
use isa_avr::{AVR5, AVR51, AVRXMEGA3, Avr, Variant};
use mcu::{Chip, Flash, Image, Memory, PeripheralConfig};
use timing::avr::AvrE;

/// A chip with a serial port, and port B whose bit 0 is the trigger.
#[derive(Clone, Copy)]
pub struct Device {
    /// Name in messages.
    pub name: &'static str,
    pub core: Variant,
    pub flash: u32,
    /// Base and size.
    pub ram: (u32, u32),
    /// Kind and base of port and serial port.
    pub port: (&'static str, u32),
    pub serial: (&'static str, u32),
}

pub const MEGA328P: Device = Device {
    name: "atmega328p",
    core: AVR5,
    flash: 0x8000,
    ram: (0x100, 0x800),
    port: ("avr-port", 0x23),
    serial: ("avr-usart", 0xC0),
};

pub const MEGA128: Device = Device {
    name: "atmega128",
    core: AVR51,
    flash: 0x2_0000,
    ram: (0x100, 0x1000),
    port: ("avr-port", 0x36),
    serial: ("avr-usart-low", 0x29),
};

pub const MEGA4809: Device = Device {
    name: "avrxmega3",
    core: AVRXMEGA3,
    flash: 0xC000,
    ram: (0x2800, 0x1800),
    port: ("megaavr0-vport", 0x04),
    serial: ("megaavr0-usart", 0x860),
};

impl Device {
    pub fn chip(&self) -> Chip<'static> {
        let peripheral = |(kind, base), trigger_bit| PeripheralConfig { kind, base, trigger_bit };
        let mapped = self.core.io == 0;
        Chip {
            flash_in_data: mapped.then_some(0x4000),
            flash_timing: Flash { data_wait_states: u32::from(mapped), ..Flash::default() },
            peripherals: vec![peripheral(self.port, Some(0)), peripheral(self.serial, None)],
            ..Chip::of_memories((0, self.flash), self.ram)
        }
    }

    /// A machine that runs `image`.
    pub fn machine<T: Timing<Avr>>(&self, timing: T, image: &Image) -> Machine<Avr, T> {
        let memory = Memory::new(&self.chip()).expect("the chip is valid");
        let mut m = Machine::new(Avr::new(self.core, memory), timing);
        m.load(image).expect("the image fits");
        m
    }
}

/// An image with `words` in flash from address 0.
pub fn image(words: &[u16]) -> Image {
    Image::of(0, words.iter().flat_map(|w| w.to_le_bytes()).collect())
}

/// An ATmega328P with `words` in flash from address 0.
pub fn words(words: &[u16]) -> Machine<Avr, AvrE> {
    MEGA328P.machine(AvrE, &image(words))
}

/// Whether `program` can be started; says on stderr that the test is skipped when not.
pub fn have(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// A new scratch directory below the build directory.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).expect("the build directory is writable");
    dir
}
