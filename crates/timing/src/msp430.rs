//! Cycle model of the 16-bit MSP430 core. All costs are static: each is that of an addressing mode.
//!
//! Figures are those of the MSP430x1xx Family User's Guide (SLAU049F), section 3.4.4: tables 3-14
//! (interrupt and reset), 3-15 (format II) and 3-16 (format I). Flash is read without wait states at
//! every clock that the chips allow, so nothing depends on addresses.

use isa::{Costs, Timing};
use isa_msp430::{Class, Mode, Msp430, Step};

/// The CPU of the F1xx family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Msp430F1;

impl Timing<Msp430> for Msp430F1 {
    fn id(&self) -> &'static str {
        "msp430/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        Costs { each: steps.iter().map(cycles).collect(), taken: vec![0; steps.len()], skipped: 0, ..Costs::default() }
    }
}

fn cycles(step: &Step) -> u32 {
    use Mode::{Immediate, Increment, Indexed, Indirect, ProgramCounter, Register};
    match (step.class, step.src, step.dst) {
        (Class::Seam, ..) => 0,
        (Class::Jump, ..) => 2,   // 3.4.4: two cycles, taken or not
        (Class::Return, ..) => 5, // table 3-14: RETI
        // table 3-15: RRA, RRC, SWPB, SXT
        (Class::One, Register | Immediate | ProgramCounter, _) => 1,
        (Class::One, Indirect | Increment, _) => 3,
        (Class::One, Indexed, _) => 4,
        // table 3-15: PUSH
        (Class::Push, Register | ProgramCounter, _) => 3,
        (Class::Push, Indirect | Immediate, _) => 4,
        (Class::Push, Increment | Indexed, _) => 5,
        // table 3-15: CALL
        (Class::Call, Register | ProgramCounter | Indirect, _) => 4,
        (Class::Call, Increment | Immediate | Indexed, _) => 5,
        // table 3-16: to memory
        (Class::Two, Register | ProgramCounter, Indexed) => 4,
        (Class::Two, Indirect | Increment | Immediate, Indexed) => 5,
        (Class::Two, Indexed, Indexed) => 6,
        // table 3-16: to the program counter
        (Class::Two, Register | ProgramCounter | Indirect, ProgramCounter) => 2,
        (Class::Two, Increment | Immediate | Indexed, ProgramCounter) => 3,
        // table 3-16: to a register
        (Class::Two, Register | ProgramCounter, _) => 1,
        (Class::Two, Indirect | Increment | Immediate, _) => 2,
        (Class::Two, Indexed, _) => 3,
    }
}
