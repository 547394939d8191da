//! Helpers for tests: a chip, a flat timing, random numbers.
#![allow(dead_code)] // no test uses all of it

use isa::{Costs, Timing};
use isa_xtensa::{Features, Step, Xtensa};
use mcu::{Chip, Memory};

/// Where code memory and RAM are.
pub const CODE: u32 = 0x6000_0000;
pub const CODE_BYTES: u32 = 4 << 20;
pub const RAM: u32 = 0x6100_0000;
pub const RAM_BYTES: u32 = 2 << 20;

/// One cycle for each instruction.
pub struct One;

impl Timing<Xtensa> for One {
    fn id(&self) -> &'static str {
        "one"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        Costs { each: vec![1; steps.len()], taken: vec![0; steps.len()], skipped: 0 }
    }
}

pub fn core(features: Features) -> Xtensa {
    let chip = Chip::of_memories((CODE, 4 << 20), (RAM, 2 << 20));
    Xtensa::new(Memory::new(&chip).expect("the chip is possible"), features, CODE)
}
