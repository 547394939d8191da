//! What the tests share: a chip, a flat timing, random numbers, an assembler made of the table.
#![allow(dead_code)] // no test uses all of it

use isa::{Costs, Pattern, Timing};
use isa_xtensa::{Features, Step, Xtensa, table};
use mcu::{Chip, Flash, Memory, Region};

/// Code memory and RAM lie in the oracle's system RAM.
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
    let chip = Chip {
        core: "xtensa",
        clock_hz: 1,
        flash: Region { base: CODE, size: CODE_BYTES },
        flash_in_data: Some(CODE),
        ram: Region { base: RAM, size: RAM_BYTES },
        flash_timing: Flash::default(),
        peripherals: Vec::new(),
    };
    Xtensa::new(Memory::new(&chip).expect("the chip is possible"), features, CODE)
}

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 | 1)
    }

    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }

    /// A value with a taste for the edges.
    pub fn value(&mut self) -> u32 {
        const EDGES: [u32; 8] = [0, 1, 0x1F, 0x20, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF, !0];
        match self.below(8) {
            0..=1 => EDGES[self.below(8) as usize],
            2 => self.below(0x100),
            3 => self.word() >> self.below(32),
            4 => (self.word() as i32 >> self.below(32)) as u32,
            _ => self.word(),
        }
    }
}

/// `word` with `value` in the field `letter` of `pattern`.
pub fn with_field(pattern: &Pattern, word: u32, letter: char, value: u32) -> u32 {
    (0..pattern.bits).fold(word, |word, bit| {
        let place = pattern.fields(1 << bit).get(letter);
        if place == 0 {
            word
        } else if value & place != 0 {
            word | 1 << bit
        } else {
            word & !(1 << bit)
        }
    })
}

/// Code at an address.
pub struct Code {
    pub base: u32,
    pub bytes: Vec<u8>,
}

impl Code {
    pub fn here(&self) -> u32 {
        self.base + self.bytes.len() as u32
    }

    pub fn put(&mut self, word: u32, bits: u32) {
        self.bytes.extend(&word.to_le_bytes()[..bits as usize / 8]);
    }

    pub fn word(&mut self, word: u32) {
        self.put(word, 32);
    }

    pub fn align(&mut self, to: usize) {
        while self.bytes.len() % to != 0 {
            self.bytes.push(0);
        }
    }

    /// The instruction whose text starts with `name`, with its fields.
    pub fn op(&mut self, name: &str, fields: &[(char, u32)]) {
        let first = |text: &'static str| text.split(' ').next().unwrap_or("");
        let (_, p) = table::encodings(Features::LX6).find(|(t, _)| first(t) == name).expect(name);
        let word = fields.iter().fold(p.value, |w, &(letter, v)| with_field(&p, w, letter, v));
        self.put(word, p.bits);
    }

    /// L32R of a word that lies before.
    pub fn literal(&mut self, t: u32, at: u32) {
        let offset = at.wrapping_sub((self.here() + 3) & !3) >> 2;
        self.op("l32r", &[('t', t), ('i', offset & 0xFFFF)]);
    }

    pub fn read_special(&mut self, t: u32, n: u32) {
        self.op("rsr.{special}", &[('t', t), ('i', n)]);
    }

    pub fn write_special(&mut self, t: u32, n: u32) {
        self.op("wsr.{special}", &[('t', t), ('i', n)]);
    }

    /// Jump to an address.
    pub fn jump(&mut self, to: u32) {
        let offset = to.wrapping_sub(self.here() + 4);
        self.op("j", &[('i', offset & 0x3FFFF)]);
    }
}
