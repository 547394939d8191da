//! Helpers for tests: a chip, a machine, random numbers.
#![allow(dead_code)] // each user needs only a part

use isa::Machine;
use isa_msp430::Msp430;
use mcu::{Chip, Image, Memory, PeripheralConfig, Segment};
use timing::msp430::Msp430F1;

/// First address of flash.
pub const FLASH: u32 = 0x4000;
/// First address of RAM.
pub const RAM: u32 = 0x1100;
/// Bytes of RAM.
pub const RAM_SIZE: u32 = 0x2800;

/// A chip of the F1xx family with its multiplier.
pub fn chip() -> Chip<'static> {
    let peripherals = vec![PeripheralConfig { kind: "msp430-multiplier", base: 0x130, trigger_bit: None }];
    Chip { peripherals, ..Chip::of_memories((FLASH, 0xC000), (RAM, RAM_SIZE)) }
}

/// A machine with `words` from the start of flash, where reset goes.
pub fn words(words: &[u16]) -> Machine<Msp430, Msp430F1> {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let code = Segment { address: FLASH, runs_at: FLASH, bytes };
    let vector = Segment { address: 0xFFFE, runs_at: 0xFFFE, bytes: vec![FLASH as u8, (FLASH >> 8) as u8] };
    let mut m = Machine::new(Msp430::new(Memory::new(&chip()).expect("the chip is valid")), Msp430F1);
    m.load(&Image { segments: vec![code, vector], ..Image::default() }).expect("the image fits");
    m
}
