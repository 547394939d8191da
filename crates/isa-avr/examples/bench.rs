//! Simulation speed of one image: here, and by simavr when it is installed.
//!
//! `cargo run --release -p isa-avr --example bench [image.elf]`; without an image, `bench.c` is
//! compiled with avr-gcc.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use isa::{Core as _, Machine};
use isa_avr::{AVR5, Avr};
use mcu::{Chip, Flash, Image, Memory, PeripheralConfig, Region, Stop};
use timing::avr::AvrE;

fn chip() -> Chip<'static> {
    Chip {
        core: "avr5",
        clock_hz: 16_000_000,
        flash: Region { base: 0, size: 0x8000 },
        flash_in_data: None,
        ram: Region { base: 0x100, size: 0x800 },
        flash_timing: Flash::default(),
        peripherals: vec![PeripheralConfig { kind: "avr-usart", base: 0xC0, trigger_bit: None }],
    }
}

fn compile(dir: &Path, level: &str) -> PathBuf {
    let elf = dir.join(format!("bench{level}.elf"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/bench.c");
    let ok = Command::new("avr-gcc").args(["-mmcu=atmega328p", level, "-o"]).arg(&elf).arg(source).status();
    assert!(ok.is_ok_and(|s| s.success()), "avr-gcc failed");
    elf
}

fn main() {
    let images = match std::env::args().nth(1) {
        Some(path) => vec![PathBuf::from(path)],
        None => ["-Os", "-O3"].map(|level| compile(&std::env::temp_dir(), level)).into(),
    };
    for path in images {
        let image = Image::parse(&std::fs::read(&path).expect("the image can be read")).expect("a valid image");
        let mut best = f64::INFINITY;
        let mut cycles = 0;
        let mut sent = String::new();
        for _ in 0..7 {
            let mut m = Machine::new(Avr::new(AVR5, Memory::new(&chip()).expect("a valid chip")), AvrE);
            m.load(&image).expect("the image fits");
            let start = Instant::now();
            let stop = m.run(u64::MAX);
            best = best.min(start.elapsed().as_secs_f64());
            assert!(matches!(stop, Stop::Fault(_)), "the program ends with SLEEP, not {stop:?}");
            cycles = m.cycles;
            sent = String::from_utf8_lossy(&m.core.memory().host.from_chip).trim().into();
        }
        let rate = cycles as f64 / best / 1e6;
        println!("{}: {cycles} cycles, {best:.4} s, {rate:.0} Mcycles/s, sent {sent:?}", path.display());
        let mut theirs = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            let run = Command::new("simavr").args(["-m", "atmega328p", "-f", "16000000"]).arg(&path).output();
            if run.is_ok() {
                theirs = theirs.min(start.elapsed().as_secs_f64());
            }
        }
        if theirs.is_finite() {
            println!(
                "  simavr {theirs:.3} s, {:.0} Mcycles/s, ratio {:.2}",
                cycles as f64 / theirs / 1e6,
                theirs / best
            );
        }
    }
}
