//! Helpers for tests: a core.
#![allow(dead_code)] // no test uses all of it

use isa_xtensa::{Features, Xtensa};
use mcu::{Chip, Memory};

/// Where code memory and RAM are.
pub const CODE: u32 = 0x6000_0000;
pub const RAM: u32 = 0x6100_0000;

pub fn core(features: Features) -> Xtensa {
    let chip = Chip::of_memories((CODE, 4 << 20), (RAM, 2 << 20));
    Xtensa::new(Memory::new(&chip).expect("the chip is possible"), features, CODE)
}
