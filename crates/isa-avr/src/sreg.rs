//! The status register, kept in parts that are cheap to write.

/// Carry.
pub const C: u8 = 0x01;
/// Zero.
pub const Z: u8 = 0x02;
/// Negative.
pub const N: u8 = 0x04;
/// Two's complement overflow.
pub const V: u8 = 0x08;
/// Sign, N xor V.
pub const S: u8 = 0x10;
/// Half carry.
pub const H: u8 = 0x20;
/// Bit copy storage.
pub const T: u8 = 0x40;
/// Global interrupt enable.
pub const I: u8 = 0x80;

/// SREG. Bits that are not named in a field's description are arbitrary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sreg {
    /// Carry: 0 or 1.
    pub c: u8,
    /// Zero flag is set when this is 0.
    pub z: u8,
    /// Negative: bit 7.
    pub n: u8,
    /// Overflow: bit 7.
    pub v: u8,
    /// Sign: bit 7.
    pub s: u8,
    /// Half carry: bit 4.
    pub h: u8,
    /// Bit copy: 0 or 1.
    pub t: u8,
    /// Interrupt enable: 0 or 1. No interrupts are modelled, so nothing follows from it.
    pub i: u8,
    /// Whether that was 1 since reset: 0 or 1.
    pub allowed: u8,
}

impl Sreg {
    /// The register as a program reads it.
    #[inline]
    pub fn pack(&self) -> u8 {
        let sign = (self.n & 0x80) >> 5 | (self.v & 0x80) >> 4 | (self.s & 0x80) >> 3 | (self.h & 0x10) << 1;
        self.c | u8::from(self.z == 0) << 1 | sign | self.t << 6 | self.i << 7
    }

    /// The parts of a value that a program writes.
    #[inline]
    pub fn unpack(value: u8) -> Self {
        Self {
            c: value & C,
            z: !value & Z,
            n: value << 5,
            v: value << 4,
            s: value << 3,
            h: value >> 1,
            t: value >> 6 & 1,
            i: value >> 7,
            allowed: value >> 7,
        }
    }

    /// A program writes it.
    #[inline]
    pub fn write(&mut self, value: u8) {
        let allowed = self.allowed;
        *self = Self::unpack(value);
        self.allowed |= allowed;
    }

    /// Whether the flag with bit number `BIT` is set.
    #[inline(always)]
    pub fn get<const BIT: u8>(&self) -> bool {
        match BIT {
            0 => self.c != 0,
            1 => self.z == 0,
            2 => self.n & 0x80 != 0,
            3 => self.v & 0x80 != 0,
            4 => self.s & 0x80 != 0,
            5 => self.h & 0x10 != 0,
            6 => self.t != 0,
            _ => self.i != 0,
        }
    }

    /// Sets or clears the flag with bit number `BIT`.
    #[inline(always)]
    pub fn put<const BIT: u8>(&mut self, on: bool) {
        match BIT {
            0 => self.c = on.into(),
            1 => self.z = (!on).into(),
            2 => self.n = u8::from(on) << 7,
            3 => self.v = u8::from(on) << 7,
            4 => self.s = u8::from(on) << 7,
            5 => self.h = u8::from(on) << 4,
            6 => self.t = on.into(),
            _ => {
                self.i = on.into();
                self.allowed |= self.i;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sreg;

    #[test]
    fn every_value_survives() {
        for v in 0..=255u8 {
            assert_eq!(Sreg::unpack(v).pack(), v);
        }
    }

    #[test]
    fn single_flags_match_the_packed_value() {
        fn check<const BIT: u8>() {
            for v in 0..=255u8 {
                let mut s = Sreg::unpack(v);
                assert_eq!(s.get::<BIT>(), v >> BIT & 1 == 1);
                s.put::<BIT>(true);
                assert_eq!(s.pack(), v | 1 << BIT);
                s.put::<BIT>(false);
                assert_eq!(s.pack(), v & !(1 << BIT));
            }
        }
        check::<0>();
        check::<1>();
        check::<2>();
        check::<3>();
        check::<4>();
        check::<5>();
        check::<6>();
        check::<7>();
    }
}
