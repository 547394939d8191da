//! Cycle model of the Nuclei Bumblebee core (GD32VF103), from public descriptions.
//!
//! Source: "Datasheet for Bumblebee Processor Core" (Nuclei, rev 1.0, 2019-08-28), 1.1: two pipeline stages,
//! a simple dynamic branch predictor, and a fetch unit that prefetches two instructions. It gives no latencies. Figures
//! derived from the two stages, or from other cores of this class, are marked *assumed*; no figure was compared with
//! silicon.
//!
//! The GD32VF103 reads flash and SRAM at the core's clock without wait states (data sheet, "On-chip
//! memory"), so fetches never wait here.

use isa::{Costs, Timing};
use isa_riscv::{Class, Events, Riscv, Step};

use crate::branch_history::BranchHistory;
use crate::rv32::in_order;

/// A wrong prediction: the fetched instruction is dropped and the right one fetched (*assumed*).
const MISS: u32 = 2;
/// Iterations of the divider, one for each bit of the quotient, and its end (*assumed*).
const DIVIDE: u32 = 33;

/// A Bumblebee core on memory without wait states.
#[derive(Clone, Debug)]
pub struct Bumblebee {
    history: BranchHistory<MISS>,
}

impl Default for Bumblebee {
    fn default() -> Self {
        Self { history: BranchHistory::new() }
    }
}

impl Bumblebee {
    /// Costs that depend on operand values: none, and unaligned accesses trap.
    ///
    /// The vendor contradicts itself: the "Instruction Set Architecture Manual" (rev 1.0, 2019-08-26, 3.4.2,
    /// exception codes 4 and 6) says that the core does not support them and raises an exception, the data
    /// sheet (1.1) that hardware supports them. The manual's is the more exact statement, and the stricter one.
    pub fn events() -> Events {
        Events::default()
    }
}

impl Timing<Riscv<u32>> for Bumblebee {
    fn id(&self) -> &'static str {
        "rv32-bumblebee/2"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        Costs { each: in_order(steps, cycles), taken: vec![0; steps.len()], skipped: 0, ..Costs::default() }
    }

    crate::enters_by!(history);

    fn history(&mut self) -> &mut [u8] {
        self.history.history()
    }
}

/// Cycles without waiting for a load, whose data comes one cycle late (*assumed*).
fn cycles(class: Class) -> u32 {
    match class {
        Class::Pseudo | Class::Stop => 0,
        Class::Alu | Class::Branch | Class::Jump | Class::JumpRegister | Class::Csr | Class::Fence => 1,
        Class::Load | Class::LoadNarrow | Class::Store => 1,
        // assumed: a multiplier of one cycle
        Class::Multiply | Class::MultiplyHigh | Class::MultiplyWord => 1,
        Class::Divide => DIVIDE,
        // assumed: a read and a write
        Class::Atomic => 3,
    }
}

#[cfg(test)]
mod tests {
    use isa::Machine;
    use isa_riscv::Riscv;
    use mcu::{Chip, Memory};

    use super::Bumblebee;

    fn cycles(code: &[u32]) -> u64 {
        let chip = Chip::of_memories((0x0800_0000, 0x400), (0x2000_0000, 0x1000));
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        for (k, word) in code.iter().enumerate() {
            memory.flash[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
        }
        let mut machine = Machine::new(Riscv::<u32>::new(memory), Bumblebee::default());
        machine.run(1000);
        machine.cycles - u64::from(super::MISS) // the way from reset
    }

    #[test]
    fn single_instructions_and_interlocks() {
        let stop = 0x0010_0073; // ebreak
        assert_eq!(cycles(&[0x0015_0513, stop]), 1); // addi a0, a0, 1
        let s0 = 0x2000_0437; // lui s0, 0x20000
        assert_eq!(cycles(&[s0, 0x0004_2503, 0x0015_8593, stop]), 3); // lw a0, (s0); addi a1, a1, 1
        assert_eq!(cycles(&[s0, 0x0004_2503, 0x0015_0593, stop]), 4); // lw a0, (s0); addi a1, a0, 1
        // addi a0, x0, 4; addi a0, a0, -1; bne a0, x0, .-4: one miss at the start, one at the end
        assert_eq!(cycles(&[0x0040_0513, 0xFFF5_0513, 0xFE05_1EE3, stop]), 1 + 4 * 2 + 2 * 2);
    }
}
