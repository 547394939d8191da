//! What tests and the benchmark share: a chip, a compiler call, an oracle call.
#![allow(dead_code)] // each user takes its part

use std::path::{Path, PathBuf};
use std::process::Command;

use isa::Machine;
use isa_avr::Avr;
use mcu::{Chip, Flash, Image, Memory, PeripheralConfig, Region};
use timing::avr::AvrE;

/// An ATmega328P with USART0 and port B, whose bit 0 is the trigger.
pub fn chip() -> Chip<'static> {
    Chip {
        core: "avr5",
        clock_hz: 16_000_000,
        flash: Region { base: 0, size: 0x8000 },
        flash_in_data: None,
        ram: Region { base: 0x100, size: 0x800 },
        flash_timing: Flash::default(),
        peripherals: vec![
            PeripheralConfig { kind: "avr-port", base: 0x23, trigger_bit: Some(0) },
            PeripheralConfig { kind: "avr-usart", base: 0xC0, trigger_bit: None },
        ],
    }
}

/// A machine that runs `image`.
pub fn machine(image: &Image) -> Machine<Avr, AvrE> {
    let mut m = Machine::new(Avr::new(Memory::new(&chip()).expect("the chip is valid")), AvrE);
    m.load(image).expect("the image fits");
    m
}

/// A machine whose flash holds `words` from address 0.
pub fn words(words: &[u16]) -> Machine<Avr, AvrE> {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    machine(&Image { segments: vec![mcu::Segment { address: 0, bytes }], symbols: Vec::new() })
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

/// Compiles `source` for the ATmega328P with `flags`.
pub fn compile(source: &Path, elf: &Path, flags: &[&str]) -> Image {
    let out = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-Wall", "-o"])
        .arg(elf)
        .args(flags)
        .arg(source)
        .output()
        .expect("avr-gcc starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Image::parse(&std::fs::read(elf).expect("avr-gcc wrote a file")).expect("avr-gcc writes valid files")
}

/// Pseudo-random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }
}
