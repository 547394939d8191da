//! Cortex-M0+ cycle model.
//!
//! Core: DDI 0484 (Cortex-M0+ TRM), "Instruction set summary", with the single-cycle multiplier.
//!
//! Fetch: a cache of lines as the SAM D21 has it, or prefetch buffers as the STM32L0 has them; see
//! `fetch.rs`. A data read from flash waits as the chip's description says.

use isa::{Cause, Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};
use mcu::Flash;

use crate::fetch::Front;

/// Extra cycles of a taken conditional branch: 2 cycles instead of 1.
const TAKEN: u32 = 1;

/// A Cortex-M0+ with its flash.
#[derive(Clone, Debug)]
pub struct CortexM0Plus {
    front: Front,
}

impl CortexM0Plus {
    /// A core on `flash`, whose lines are a power of two; without wait states it is the core alone.
    pub fn new(flash: Flash) -> Self {
        Self { front: Front::new(flash) }
    }

    /// No instruction's cycles depend on operand values.
    pub fn events() -> Events {
        Events { wfe: 2, ..Events::default() }
    }
}

impl Timing<Thumb> for CortexM0Plus {
    fn id(&self) -> &'static str {
        if self.front.reads_ahead() { "cortex-m0+/2" } else { "cortex-m0+/1" }
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        self.front.costs(steps, |s, _| cycles(s), TAKEN)
    }

    fn waits(&self, steps: &[Step]) -> Vec<(Cause, Vec<u32>)> {
        self.front.waits(|front| front.costs(steps, |s, _| cycles(s), TAKEN))
    }

    crate::enters_by!(front);
}

/// Cycles of the core without fetch stalls, branches not taken; N counts all transferred registers.
fn cycles(s: &Step) -> u32 {
    let n = u32::from(s.count);
    match s.class {
        Class::Pseudo | Class::Stop => 0,
        Class::Alu | Class::Mul | Class::BranchCond => 1,
        Class::System if s.bytes == 2 => 1,  // CPS
        Class::System | Class::Barrier => 3, // MRS, MSR, DMB, DSB, ISB
        Class::Load | Class::Store => 2,     // not the single-cycle I/O port
        Class::LoadMultiple => 1 + n,        // LDM, POP
        Class::StoreMultiple => 1 + n,       // STM, PUSH
        Class::LoadMultiplePc => 3 + n,      // POP with the program counter
        Class::Branch if s.bytes == 4 => 3,  // BL
        Class::Branch => 2,                  // B, BX, BLX, MOV and ADD to the program counter
        // not in ARMv6-M
        Class::MulAdd | Class::MulLong | Class::MulLongAdd | Class::Div | Class::It | Class::LoadPc => 1,
        Class::LoadExclusive | Class::StoreExclusive | Class::TableBranch => 1,
    }
}

#[cfg(test)]
mod tests {
    use isa::{Core as _, Machine, Timing as _};
    use isa_thumb::{Features, Thumb};
    use mcu::{Chip, Flash, Memory};

    use super::CortexM0Plus;

    fn core(code: &[u16]) -> Thumb {
        let chip = Chip::of_memories((0, 0x400), (0x2000_0000, 0x1000));
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        memory.flash[..8].copy_from_slice(&[0, 0x10, 0, 0x20, 9, 0, 0, 0]);
        for (k, half) in code.iter().enumerate() {
            memory.flash[8 + 2 * k..10 + 2 * k].copy_from_slice(&half.to_le_bytes());
        }
        Thumb::with_features(memory, Features::CORTEX_M0PLUS)
    }

    /// Cycles of each instruction of `code` alone.
    fn each(code: &[u16]) -> Vec<u32> {
        let run = core(code).decode(8, 1);
        CortexM0Plus::new(Flash::default()).costs(&run.steps).each
    }

    #[test]
    fn the_core_follows_the_manual() {
        assert_eq!(each(&[0x1840])[0], 1); // adds
        assert_eq!(each(&[0x4348])[0], 1); // muls
        assert_eq!(each(&[0x6808])[0], 2); // ldr
        assert_eq!(each(&[0x6008])[0], 2); // str
        assert_eq!(each(&[0xB4F0])[0], 5); // push of four
        assert_eq!(each(&[0xBDF0])[0], 8); // pop of four and pc
        assert_eq!(each(&[0xE7FE])[0], 2); // b
        assert_eq!(each(&[0xF000, 0xF800])[0], 3); // bl
        assert_eq!(each(&[0x4770])[0], 2); // bx
        assert_eq!(each(&[0xF3EF, 0x8000])[0], 3); // mrs
    }

    #[test]
    fn straight_code_of_the_sam_d21_takes_five_cycles_for_four_instructions() {
        let flash = Flash { wait_states: 1, line_bytes: 8, cache_lines: 8, data_wait_states: 1, ..Flash::default() };
        let code: Vec<u16> = [0x1840; 64].into_iter().chain([0xBE00]).collect();
        let mut machine = Machine::new(core(&code), CortexM0Plus::new(flash));
        machine.run(1000);
        assert_eq!(machine.cycles, 64 + 17);
        // movs r0, #3; subs r0, #1; bne .-2; bkpt: two lines, then none
        let mut machine = Machine::new(core(&[0x2003, 0x3801, 0xD1FD, 0xBE00]), CortexM0Plus::new(flash));
        machine.run(1000);
        assert_eq!(machine.cycles, 1 + 1 + (1 + 2) + (1 + 2) + (1 + 1));
    }
}
