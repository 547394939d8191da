//! The status register, stored as the values from which its flags are computed.

/// Carry.
pub const C: u16 = 1 << 0;
/// Zero.
pub const Z: u16 = 1 << 1;
/// Negative.
pub const N: u16 = 1 << 2;
/// General interrupt enable; kept, without effect.
pub const GIE: u16 = 1 << 3;
/// Low-power mode: the core stops.
pub const CPUOFF: u16 = 1 << 4;
/// Overflow.
pub const V: u16 = 1 << 8;
/// All flags of arithmetic.
pub const ALL: u16 = C | Z | N | V;

/// SR (SLAU049, 3.2.3).
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// Carry, 0 or 1.
    pub c: u16,
    /// Z is set when the low half is zero, N when the number is negative.
    pub nz: i32,
    /// Overflow.
    pub v: bool,
    /// All other bits.
    pub rest: u16,
}

impl Status {
    /// From the register's value.
    #[inline]
    pub fn unpack(value: u16) -> Self {
        let z = i32::from(value & Z == 0);
        let nz = if value & N != 0 { i32::MIN | z } else { z };
        Self { c: value & C, nz, v: value & V != 0, rest: value & !ALL }
    }

    /// The register's value.
    #[inline]
    pub fn pack(self) -> u16 {
        let flag = |bit, on| if on { bit } else { 0 };
        self.rest | self.c | flag(Z, self.z()) | flag(N, self.n()) | flag(V, self.v)
    }

    /// Zero.
    #[inline(always)]
    pub fn z(self) -> bool {
        self.nz as u16 == 0
    }

    /// Negative.
    #[inline(always)]
    pub fn n(self) -> bool {
        self.nz < 0
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn every_value_survives() {
        for v in 0..=u16::MAX {
            assert_eq!(Status::unpack(v).pack(), v);
        }
    }
}
