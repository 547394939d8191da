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
    /// Bytes of which the address of an instruction is a multiple.
    pub code: u32,
    /// Whether code and data have the same addresses, which avr-gcc tells apart by an address of RAM that no chip has.
    pub avr: bool,
    /// Whether the core begins at an address of its own (vectors), not at the image's entry.
    pub vectors: bool,
    /// Where peripherals are; on Cortex-M by its architecture (ARMv7-M, B3.1), the others' as their vendors placed them.
    pub peripherals: &'static [(u32, u32)],
    /// Registers without a model that allow interrupts where one of these bits was ever written as one: on Cortex-M, where
    /// nothing masks them at reset, those that set an enable bit, and SysTick's (NVIC_ISERn, SYST_CSR: ARMv7-M, B3.4.4 and
    /// B3.3.3).
    pub enables: &'static [(u32, u32, u32)],
    /// Encodings that wait for an interrupt, as the bits that tell and what these have.
    pub sleeps: Encodings,
    /// Those without a model that have a name, and what is said of them; the first that fits.
    pub lacks: &'static [(Encodings, &'static str)],
}

impl Family {
    /// Whether its ELF files are of 64 bits.
    pub(crate) fn wide(&self) -> bool {
        self.pointer == 8
    }
}

/// Bits of an encoding, and what they have.
pub(crate) type Encodings = &'static [(u32, u32)];

/// One row for each of [`crate::CORES`]; the first that fits.
#[rustfmt::skip]
pub(crate) const FAMILIES: [Family; 8] = [
    Family { core: "avrxmega3", machine: 83, name: "AVR", pointer: 2, code: 2, avr: true, vectors: false, peripherals: &[(0, 0x4000)], enables: NONE,
          sleeps: AVR_SLEEPS, lacks: &[] },
    Family { core: "avr", machine: 83, name: "AVR", pointer: 2, code: 2, avr: true, vectors: false, peripherals: &[(0x20, 0x100)], enables: NONE,
          sleeps: AVR_SLEEPS, lacks: &[] },
    Family { core: "cortex", machine: 40, name: "Arm", pointer: 4, code: 2, avr: false, vectors: true,
          peripherals: &[(0x4000_0000, 0x6000_0000), (0xD000_0000, 0xE010_0000)], enables: &[(0xE000_E010, 0xE000_E014, 2), (0xE000_E100, 0xE000_E140, u32::MAX)],
          sleeps: ARM_SLEEPS, lacks: &[(ARM_FLOATS, FLOATS)] },
    Family { core: "msp430", machine: 105, name: "MSP430", pointer: 2, code: 2, avr: false, vectors: true, peripherals: &[(0, 0x200)], enables: NONE,
          sleeps: MSP430_SLEEPS, lacks: &[] },
    Family { core: "rv32-qingke", machine: 243, name: "RISC-V", pointer: 4, code: 2, avr: false, vectors: false, peripherals: &RISCV, enables: NONE,
          sleeps: RISCV_SLEEPS, lacks: &[(QINGKE_OWN, OWN), (RISCV_FLOATS, FLOATS)] },
    Family { core: "rv32", machine: 243, name: "RISC-V", pointer: 4, code: 2, avr: false, vectors: false, peripherals: &RISCV, enables: NONE,
          sleeps: RISCV_SLEEPS, lacks: &[(RISCV_FLOATS, FLOATS)] },
    Family { core: "rv64", machine: 243, name: "RISC-V", pointer: 8, code: 2, avr: false, vectors: false, peripherals: &RISCV, enables: NONE,
          sleeps: RISCV_SLEEPS, lacks: &[(RISCV_FLOATS, FLOATS)] },
    Family { core: "xtensa", machine: 94, name: "Xtensa", pointer: 4, code: 1, avr: false, vectors: false,
          peripherals: &[(0x3FF0_0000, 0x3FF8_0000), (0x6000_0000, 0x6010_0000)], enables: NONE,
          sleeps: XTENSA_SLEEPS, lacks: &[(XTENSA_FLOATS, FLOATS)] },
];
/// See [`Family::lacks`].
const FLOATS: &str = "; it is of a floating-point unit, which has no model: compile without";
/// See [`Family::lacks`].
const OWN: &str = "; it is WCH's own instruction (XW), which has no model: compile without";
/// SLEEP.
const AVR_SLEEPS: Encodings = &[(0xFFFF, 0x9588)];
/// WFE, WFI, and both as wide instructions.
const ARM_SLEEPS: Encodings = &[(u32::MAX, 0xBF20), (u32::MAX, 0xBF30), (u32::MAX - 1, 0xF3AF_8002)];
/// Instructions of coprocessors 10 and 11 (ARMv7-M, A6.1).
const ARM_FLOATS: Encodings = &[(0xEC00_0E00, 0xEC00_0A00)];
/// Those with SR, where CPUOFF is, as their destination (SLAU049F, 3.4.1).
const MSP430_SLEEPS: Encodings = &[(0x008F, 0x0002)];
/// WFI.
const RISCV_SLEEPS: Encodings = &[(u32::MAX, 0x1050_0073)];
/// LOAD-FP and STORE-FP, MADD to NMADD, OP-FP, and the compressed loads and stores (Unprivileged Architecture, tables 70
/// and 71 of opcodes): of these a core without F and D has no other.
const RISCV_FLOATS: Encodings = &[(0x5F, 0x07), (0x73, 0x43), (0x7F, 0x53), (0xFFFF_2001, 0x2000)];
/// Loads and stores of bytes and half-words (QingKe V2 Microprocessor Manual, "Extended Instructions"): in the space of
/// C.FLD, C.FSD and their relatives of the stack, and in that of quadrant 0 which RVC reserves.
const QINGKE_OWN: Encodings = &[(0xFFFF_6001, 0x2000), (0xFFFF_E003, 0x8000)];
/// WAITI.
const XTENSA_SLEEPS: Encodings = &[(0xFFF0FF, 0x7000)];
/// LSCI, LSCX, FP0 and FP1 (Instruction Set Architecture, 7.3.2).
const XTENSA_FLOATS: Encodings = &[(0xF, 0x3), (0x0F_000F, 0x08_0000), (0x0E_000F, 0x0A_0000)];
/// See [`Family::enables`].
const NONE: &[(u32, u32, u32)] = &[];
/// See [`Family::peripherals`].
const RISCV: [(u32, u32); 3] = [(0x200_0000, 0x1000_0000), (0x3800_0000, 0x7000_0000), (0xD000_0000, 0xF000_0000)];

/// Whether it is one of them.
pub(crate) fn among(word: u32, some: Encodings) -> bool {
    some.iter().any(|&(bits, value)| word & bits == value)
}

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
