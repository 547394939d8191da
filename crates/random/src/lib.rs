//! Random numbers for tests and oracles, the same on every machine.

/// xorshift64*.
pub struct Random(u64);

impl Random {
    /// A generator; every seed gives another sequence of numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 | 1)
    }

    /// A random word.
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

    /// Whether one of `n` cases is hit.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// A value of `bits` bits, often near the limits.
    pub fn value(&mut self, bits: u32) -> u64 {
        let all = u64::MAX >> (64 - bits);
        let wide = u64::from(self.word()) << 32 | u64::from(self.word());
        let top = 1 << (bits - 1);
        let edges = [0, 1, 2, u64::from(bits) - 1, bits.into(), 0xFF, 0xFFFF, top - 1, top, top + 1, all - 1, all];
        all & match self.below(8) {
            0..=1 => self.pick(&edges),
            2 => wide & 0xFF,
            3 => (wide & all) >> self.below(bits),
            4 => ((wide << (64 - bits)) as i64 >> (64 - bits + self.below(bits))) as u64,
            _ => wide,
        }
    }

    /// That many random bytes.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n.div_ceil(4)).flat_map(|_| self.word().to_le_bytes()).take(n).collect()
    }
}
