//! Cycle model of the QingKe V2A core (CH32V003) on flash without wait states, which is up to 24 MHz.
//!
//! "QingKe V2 Microprocessor Manual" (WCH): two pipeline stages, static branch prediction; it gives no cycles. The rules are
//! those that were published as the chip's counter told them at 0 wait states (github.com/jnk0le/random, "pipeline cycle
//! test"; its figure of a loop agrees with that of github.com/cpldcpu/DRAM_exploration, "instruction_timing"): loads and
//! stores take two cycles, taken branches and jumps three, one more to a 32-bit instruction at an address that is not a
//! multiple of 4. The rest takes one; that of a CSR, FENCE and jumps by a register is *assumed*. Where the latter go is not
//! known in advance, so that they never take the additional cycle here. No cipher's figures were compared.

use isa::{Costs, Timing};
use isa_riscv::{Class, Events, Riscv, Step};

/// What a taken branch takes beyond one that is not.
const TAKEN: u8 = 2;

/// A QingKe V2A on flash without wait states.
#[derive(Clone, Copy, Debug, Default)]
pub struct QingKeV2;

impl QingKeV2 {
    /// No cycles depend on operand values, and unaligned accesses trap.
    pub fn events() -> Events {
        Events::default()
    }
}

impl Timing<Riscv<u32>> for QingKeV2 {
    fn id(&self) -> &'static str {
        "rv32-qingke-v2/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let taken = |s: &Step| if s.class == Class::Branch { TAKEN + u8::from(s.splits) } else { 0 };
        Costs {
            each: steps.iter().map(cycles).collect(),
            taken: steps.iter().map(taken).collect(),
            skipped: 0,
            ..Costs::default()
        }
    }

    fn is_static(&self) -> bool {
        true
    }
}

/// Cycles, branches not taken.
fn cycles(s: &Step) -> u32 {
    match s.class {
        Class::Pseudo | Class::Stop => 0,
        Class::Multiply | Class::MultiplyHigh | Class::MultiplyWord | Class::Divide | Class::Atomic => 0, // not there
        Class::Alu | Class::Branch | Class::Csr | Class::Fence => 1,
        Class::Load | Class::LoadNarrow | Class::Store => 2,
        Class::Jump => 3 + u32::from(s.splits),
        Class::JumpRegister => 3,
    }
}

#[cfg(test)]
mod tests {
    use isa::Machine;
    use isa_riscv::{Features, Riscv};
    use mcu::{Chip, Memory};

    use super::QingKeV2;

    fn cycles(code: &[u16]) -> u64 {
        let chip = Chip::of_memories((0, 0x400), (0x2000_0000, 0x800));
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        for (k, half) in code.iter().chain(&[0x9002]).enumerate() {
            memory.flash[2 * k..2 * k + 2].copy_from_slice(&half.to_le_bytes());
        }
        let mut machine = Machine::new(Riscv::<u32>::with_features(memory, Features::QINGKE_V2A), QingKeV2);
        machine.run(1000);
        machine.cycles
    }

    /// The loops that were measured, each with the cycles that were published for it.
    #[test]
    fn measured_loops_take_their_cycles() {
        // c.li a0, 4; c.addi a0, -1; c.bnez a0, .-2: three of 4, the last of 2
        assert_eq!(cycles(&[0x4511, 0x157D, 0xFD7D]), 1 + 3 * 4 + 2);
        // the same around c.nop, and around a NOP of 32 bits at a multiple of 4 and 2 past it
        assert_eq!(cycles(&[0x4511, 0x0001, 0x157D, 0xFD75]), 1 + 3 * 5 + 3);
        assert_eq!(cycles(&[0x4511, 0x0001, 0x0013, 0x0000, 0x157D, 0xFD6D]), 2 + 3 * 5 + 3);
        assert_eq!(cycles(&[0x4511, 0x0013, 0x0000, 0x157D, 0xFD6D]), 1 + 3 * 6 + 3);
        // lui a2, 0x20000; c.sw a0, (a2); c.lw a0, (a2)
        assert_eq!(cycles(&[0x0637, 0x2000, 0xC208, 0x4208]), 1 + 2 + 2);
        // c.j over c.nop to c.nop
        assert_eq!(cycles(&[0xA011, 0x0001, 0x0001]), 3 + 1);
    }
}
