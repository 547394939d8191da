//! What images that are not ours need to be told of a chip's instruction set.

/// What images of an instruction set have in common.
#[derive(Debug)]
pub(crate) struct Family {
    /// The beginning of its cores' names.
    pub core: &'static str,
    /// Its number in ELF files.
    pub machine: u16,
    /// What it is called.
    pub name: &'static str,
    /// Bytes of a pointer that is an argument.
    pub pointer: u8,
    /// Whether code and data have the same addresses, which avr-gcc tells apart by an address of RAM that no chip has.
    pub avr: bool,
    /// Whether the core begins at an address of its own (vectors), not at the image's entry.
    pub vectors: bool,
    /// Where peripherals are; on Cortex-M by its architecture (ARMv7-M, B3.1), the others' as their vendors placed them.
    pub peripherals: &'static [(u32, u32)],
    /// Registers without a model that allow interrupts where one of these bits was written last: on Cortex-M, where
    /// nothing masks them at reset, those that set an enable bit, and SysTick's (NVIC_ISERn, SYST_CSR: ARMv7-M, B3.4.4 and
    /// B3.3.3).
    pub enables: &'static [(u32, u32, u32)],
}

/// One row for each of [`crate::CORES`]; the first that fits.
#[rustfmt::skip]
pub(crate) const FAMILIES: [Family; 7] = [
    Family { core: "avrxmega3", machine: 83, name: "AVR", pointer: 2, avr: true, vectors: false, peripherals: &[(0, 0x4000)], enables: NONE },
    Family { core: "avr", machine: 83, name: "AVR", pointer: 2, avr: true, vectors: false, peripherals: &[(0x20, 0x100)], enables: NONE },
    Family { core: "cortex", machine: 40, name: "Arm", pointer: 4, avr: false, vectors: true,
          peripherals: &[(0x4000_0000, 0x6000_0000), (0xD000_0000, 0xE010_0000)], enables: &[(0xE000_E010, 0xE000_E014, 2), (0xE000_E100, 0xE000_E140, u32::MAX)] },
    Family { core: "msp430", machine: 105, name: "MSP430", pointer: 2, avr: false, vectors: true, peripherals: &[(0, 0x200)], enables: NONE },
    Family { core: "rv32", machine: 243, name: "RISC-V", pointer: 4, avr: false, vectors: false, peripherals: &RISCV, enables: NONE },
    Family { core: "rv64", machine: 243, name: "RISC-V", pointer: 8, avr: false, vectors: false, peripherals: &RISCV, enables: NONE },
    Family { core: "xtensa", machine: 94, name: "Xtensa", pointer: 4, avr: false, vectors: false,
          peripherals: &[(0x3FF0_0000, 0x3FF8_0000), (0x6000_0000, 0x6010_0000)], enables: NONE },
];
/// See [`Family::enables`].
const NONE: &[(u32, u32, u32)] = &[];
/// See [`Family::peripherals`].
const RISCV: [(u32, u32); 3] = [(0x200_0000, 0x1000_0000), (0x3800_0000, 0x7000_0000), (0xD000_0000, 0xF000_0000)];

pub(crate) fn family(core: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| core.starts_with(family.core))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_core_has_its_row() {
        assert!(crate::CORES.iter().all(|core| super::family(core).is_some()));
    }
}
