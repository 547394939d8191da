//! LX6 cycle model: the seven-stage Xtensa pipeline.
//!
//! Sources: the seven-stage pipeline has one more stage for the access to instruction memory and one
//! more for data memory, so a taken branch loses three cycles and a load's value comes two cycles late.
//! *Assumed*, not checked against a manual: these, two cycles for products, 2 to 13 cycles for a division.
//! Turning back at the end of a hardware loop is free (ISA manual 4.3.2); results that are late there are
//! not followed across it. Window overflow and underflow run the program's own vectors, instruction by
//! instruction; entering one costs what a jump does.

use isa::{Costs, Timing};
use isa_xtensa::{Events, Step, Xtensa};

use crate::xtensa::Pipeline;

const PIPELINE: Pipeline =
    Pipeline { load: 2, literal: 2, literal_wait: 0, mul16: 1, mul32: 1, store_data: 1, jump: 3, div: 2 };

/// An LX6 with code and data in local memories.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lx6;

impl Lx6 {
    /// Costs that depend on what happens at run time.
    pub fn events() -> Events {
        PIPELINE.events(div)
    }
}

/// A division beyond 2 cycles: *assumed* one for each three bits that the quotient can have.
fn div(x: u32, y: u32) -> u32 {
    let bits = (y.leading_zeros() + 1).saturating_sub(x.leading_zeros());
    bits.div_ceil(3)
}

impl Timing<Xtensa> for Lx6 {
    fn id(&self) -> &'static str {
        "xtensa-lx6/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        PIPELINE.costs(steps)
    }

    fn is_static(&self) -> bool {
        true
    }
}
