//! Bit-banding: a word for each bit of a region (Arm DDI 0337, "Bit-banding").

use super::{Memory, Site};

/// Addresses whose bits have words, and where the first of these is; a MiB of them.
const REGIONS: [(u32, u32); 2] = [(0x2000_0000, 0x2200_0000), (0x4000_0000, 0x4200_0000)];
const BYTES: u32 = 0x10_0000;

impl Memory {
    /// The bit that the word with this address stands for: the address and the place in the `bytes` that are accessed there.
    pub(super) fn bit_at(&self, address: u32, bytes: u32) -> Option<(u32, u32)> {
        let inside = |&&(_, words): &&(u32, u32)| address.wrapping_sub(words) < 32 * BYTES;
        let (base, words) = REGIONS.iter().find(inside).filter(|_| self.bit_band)?;
        let number = (address - words) / 4;
        let from = (number / 8) & !(bytes - 1);
        Some((base + from, number - 8 * from))
    }

    /// Reads what has a bit, and writes it back with the bit changed: bit 0 of `value` counts.
    pub(super) fn store_bit<const N: usize>(&mut self, (at, bit): (u32, u32), value: u32, sp: u32, site: Site) {
        // of RAM only the byte changes, and only it is marked as written
        let (byte, in_byte) = (at + bit / 8, bit % 8);
        if let Some(old) = self.ram_load::<1>(byte) {
            self.ram_store::<1>(byte, old & !(1 << in_byte) | (value & 1) << in_byte);
            return;
        }
        let old = self.load::<N>(at, sp, site);
        self.store::<N>(at, old & !(1 << bit) | (value & 1) << bit, sp, site);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Chip, FaultKind, Memory, PeripheralConfig, Site};

    fn memory(bit_band: bool) -> Memory {
        let peripherals = vec![
            PeripheralConfig { kind: "stm32f4-rcc", base: 0x4002_3800, trigger_bit: None },
            PeripheralConfig { kind: "stm32-gpio", base: 0x4002_0000, trigger_bit: Some(1) },
        ];
        let chip = Chip { bit_band, peripherals, ..Chip::of_memories((0x0800_0000, 0x400), (0x2000_0000, 0x1000)) };
        Memory::new(&chip).expect("the chip is possible")
    }

    fn word(address: u32, bit: u32) -> u32 {
        let base = address & 0xF000_0000;
        base + 0x200_0000 + 32 * (address - base) + 4 * bit
    }

    #[test]
    fn a_word_of_a_bit_of_ram_changes_its_byte() {
        let (mut m, site) = (memory(true), Site::default());
        m.store::<4>(0x2000_0104, 0xFFFF_00FF, 0, site);
        m.clear_written();
        m.store::<4>(word(0x2000_0104, 17), 2, 0, site);
        m.store::<1>(word(0x2000_0104, 9), 0xFF, 0, site);
        assert_eq!(m.load::<4>(0x2000_0104, 0, site), 0xFFFD_02FF);
        assert_eq!([9, 16, 17].map(|bit| m.load::<4>(word(0x2000_0104, bit), 0, site)), [1, 1, 0]);
        assert_eq!(m.load::<1>(word(0x2000_0105, 1), 0, site), 1);
        let written: Vec<_> = (0..m.ram.len()).filter(|&k| m.written()[k] != 0).collect();
        assert_eq!((written, m.stop), (vec![0x105, 0x106], None));
    }

    #[test]
    fn a_word_of_a_bit_of_a_register_changes_the_register() {
        let (mut m, site) = (memory(true), Site::default());
        m.store::<4>(word(0x4002_3800, 24), 1, 0, site); // RCC_CR: PLLON, which PLLRDY follows
        assert_eq!(m.load::<4>(0x4002_3800, 0, site), 0x0300_0083);
        assert_eq!(m.load::<4>(word(0x4002_3800, 25), 0, site), 1);
        m.store::<1>(word(0x4002_3800, 0), 0, 0, site);
        assert_eq!(m.load::<2>(0x4002_3800, 0, site), 0x80);
        m.store::<4>(word(0x4002_0014, 1), 1, 0, site); // GPIOA_ODR
        assert!(m.in_call());
        m.store::<4>(word(0x4002_0018, 17), 1, 0, site); // GPIOA_BSRR
        assert_eq!((m.in_call(), m.calls.len(), m.stop), (false, 1, None));
    }

    #[test]
    fn where_there_is_nothing_a_bit_is_a_fault_too() {
        for (bit_band, address, named) in
            [(true, word(0x2000_2000, 0), 0x2000_2000), (false, word(0x2000_0000, 0), 0x2200_0000)]
        {
            let mut m = memory(bit_band);
            m.store::<4>(address, 1, 0, Site::default());
            let kind = m.stop.and_then(crate::Stop::fault).map(|f| f.kind);
            assert!(matches!(kind, Some(FaultKind::OutOfRange { address, .. }) if address == named), "{kind:?}");
        }
    }
}
