//! Helpers for tests: random numbers, tools, a machine with one cycle for each instruction.
#![allow(dead_code, reason = "not every test uses everything")]

use std::path::{Path, PathBuf};
use std::process::Command;

use isa::{Machine, OneCycle};
use isa_riscv::{Riscv, Word};
use mcu::{Chip, Memory};

/// Where code is, here and in QEMU's machine.
pub const CODE: u32 = 0x8000_0000;
/// Where data is.
pub const DATA: u32 = 0x8010_0000;

/// A machine without peripherals.
pub fn machine<X: Word>() -> Machine<Riscv<X>, OneCycle> {
    let chip = Chip::of_memories((CODE, 0x4_0000), (DATA, 0x1_0000));
    Machine::new(Riscv::new(Memory::new(&chip).expect("the chip is possible")), OneCycle)
}

/// Whether `tool` is installed; says on stderr when not.
pub fn have(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {tool} is not installed");
    }
    found
}

/// An empty folder of the build directory.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).expect("the build directory is writable");
    dir
}
