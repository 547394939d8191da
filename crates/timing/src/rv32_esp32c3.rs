//! Cycle model of the ESP32-C3's core, with code in internal RAM.
//!
//! Pipeline: ESP32-C3 Technical Reference Manual, "ESP-RISC-V CPU": four stages, in order, one instruction at a time; its
//! performance counter has events for load and jump hazards. The manual gives no cycles. Those of ALU, CSR, loads, stores,
//! jumps and branches were published as that counter told them of loops in RAM ("Counting CPU cycles on ESP32-C3 and
//! ESP32-C6 microcontrollers", ctrlsrc.io, 2023, and the benchmarks of github.com/timonvo/niccle): a taken branch takes
//! three cycles whichever way it goes and however often it was met, so nothing is predicted. Products and quotients a
//! second are those of WLED's issue 4206, at 160 MHz. The rest is marked *assumed*; no cipher's figures were compared.

use isa::{Costs, Timing};
use isa_riscv::{Class, Events, Riscv, Step};

use crate::rv32::in_order;

/// What a taken branch takes beyond one that is not.
const TAKEN: u8 = 2;
/// A division: 160 MHz / 4.63 million of them in a second is 34.6 cycles, of additions in the same loop 1.3.
const DIVIDE: u32 = 34;

/// The core of an ESP32-C3 on internal RAM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Esp32C3;

impl Esp32C3 {
    /// An unaligned access is two of the bus: Espressif's compilers rely on it ("minimal penalty", `-mtune=esp-base` of
    /// ESP-IDF); *assumed*: one cycle.
    pub fn events() -> Events {
        Events { unaligned: Some(|_, _| 1), ..Events::default() }
    }
}

impl Timing<Riscv<u32>> for Esp32C3 {
    fn id(&self) -> &'static str {
        "rv32-esp32c3/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let taken = steps.iter().map(|s| if s.class == Class::Branch { TAKEN } else { 0 });
        Costs { each: in_order(steps, cycles), taken: taken.collect(), skipped: 0, ..Costs::default() }
    }

    fn is_static(&self) -> bool {
        true
    }
}

/// Cycles without waiting for a load, branches not taken.
fn cycles(class: Class) -> u32 {
    match class {
        Class::Pseudo | Class::Stop | Class::Atomic | Class::MultiplyWord => 0, // the last two: not on this core
        Class::Alu | Class::Branch | Class::Csr | Class::Load | Class::LoadNarrow | Class::Store => 1,
        Class::Jump => 2,
        Class::JumpRegister => 3, // assumed: its target is known as late as a branch's condition
        Class::Fence => 1,        // assumed
        Class::Multiply => 1,
        Class::MultiplyHigh => 1, // assumed: as the lower half
        Class::Divide => DIVIDE,
    }
}

#[cfg(test)]
mod tests {
    use isa::Machine;
    use isa_riscv::{Features, Riscv};
    use mcu::{Chip, Memory};

    use super::Esp32C3;

    fn cycles(code: &[u32]) -> u64 {
        let chip = Chip::of_memories((0x4038_0000, 0x400), (0x3FCA_0000, 0x1000));
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        for (k, word) in code.iter().chain(&[0x0010_0073]).enumerate() {
            memory.flash[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
        }
        let mut machine = Machine::new(Riscv::<u32>::with_features(memory, Features::ESP32C3), Esp32C3);
        machine.run(1000);
        machine.cycles
    }

    /// The loops that were measured, each with the cycles that were published for it.
    #[test]
    fn measured_loops_take_their_cycles() {
        // addi a0, x0, 4; addi a0, a0, -1; nop; bne a0, x0, .-8: three of 1 + 1 + 3, the last of 1 + 1 + 1
        assert_eq!(cycles(&[0x0040_0513, 0xFFF5_0513, 0x13, 0xFE05_1CE3]), 1 + 3 * 5 + 3);
        // addi a0, a0, -1; beq a0, x0, .+8; j .-8: two of 1 + 1 + 2, then 1 + 3
        assert_eq!(cycles(&[0x0030_0513, 0xFFF5_0513, 0x0005_0463, 0xFF9F_F06F]), 1 + 2 * 4 + 4);
        let s0 = 0x3FCA_0437; // lui s0, 0x3fca0
        assert_eq!(cycles(&[s0, 0x0004_4503, 0x00A4_0433, 0x13]), 1 + 2 + 1 + 1); // lbu a0, (s0); add s0, s0, a0; nop
        assert_eq!(cycles(&[s0, 0x0004_2503, 0x13, 0x00A4_0433]), 1 + 1 + 1 + 1); // nothing waits
        assert_eq!(cycles(&[s0, 0x00A4_0023, 0x13]), 3); // sb a0, (s0); nop
    }
}
