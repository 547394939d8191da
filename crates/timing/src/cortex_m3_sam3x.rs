//! Cortex-M3 of the SAM3X8E at 84 MHz with four flash wait states: an empirical model.
//!
//! Core: the rules of `cortex_m3.rs`. What the flash controller and the bus matrix add was fitted to the
//! published figures of the NIST lightweight cryptography benchmarking on an Arduino Due, on which a
//! prototype of these rules came to a median error of 2.9 % and a 95th percentile of 12.2 %:
//! - 1.1 cycles for each sequential step into another 16-byte line (here 1, and 1 more for each tenth line),
//! - 4 cycles for a taken branch into another line than its own, none into the same one,
//! - 2 cycles for a load, 1 for each further load of a run; LDRD takes 6, stores nothing more.
//!
//! *Assumed*: the words of LDM and POP wait as those of a run of loads do.

use isa::native::Edge;
use isa::{Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};

use crate::cortex_m3::{CortexM3, P, core_cycles};
use crate::fetch::Front;

/// Binary logarithm of the bytes that one flash access brings.
const LINE: u32 = 4;
/// Cycles of a taken branch into another line.
const BRANCH: u32 = 4;
/// One line in this many costs a second cycle.
const TENTH: u32 = 10;

/// A SAM3X8E's core and flash.
#[derive(Clone, Debug, Default)]
pub struct CortexM3Sam3x {
    last_end: u32,
}

impl CortexM3Sam3x {
    /// Costs that depend on operand values.
    pub fn events() -> Events {
        CortexM3::events()
    }
}

impl Timing<Thumb> for CortexM3Sam3x {
    fn id(&self) -> &'static str {
        "cortex-m3-sam3x/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let mut costs = Front::Ready.costs(steps, cycles, P);
        let mut line = steps.first().map_or(0, |s| s.pc >> LINE);
        // what a skipped instruction is fetched with goes to the one before its IT block
        let mut payer = 0;
        for (k, s) in steps.iter().enumerate().filter(|(_, s)| s.bytes != 0) {
            payer = if s.guarded { payer } else { k };
            let last = s.pc.wrapping_add(u32::from(s.bytes) - 1) >> LINE;
            if last != line {
                costs.each[payer] += 1 + u32::from(last % TENTH == 0);
                line = last;
            }
        }
        costs
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32) -> u32 {
        let last = std::mem::replace(&mut self.last_end, end);
        between(last, start)
    }

    fn edge(&mut self, last: u32, start: u32, _end: u32) -> Edge {
        Edge::Fixed(between(last, start))
    }

    fn last_end(&mut self) -> Option<&mut u32> {
        Some(&mut self.last_end)
    }

    fn reset(&mut self) {
        self.last_end = 0;
    }
}

/// What going from a block that ended at `last` to one at `start` costs.
#[inline(always)]
fn between(last: u32, start: u32) -> u32 {
    let line = start >> LINE;
    match (start == last, line == last.wrapping_sub(2) >> LINE) {
        (_, true) => 0,
        (true, _) => 1 + u32::from(line % TENTH == 0),
        _ => BRANCH,
    }
}

fn cycles(s: &Step, before: Option<&Step>) -> u32 {
    let core = core_cycles(s, before);
    let n = u32::from(s.count);
    match s.class {
        Class::Load if core == 1 => core + 1,
        Class::Load | Class::LoadPc | Class::LoadExclusive | Class::TableBranch => core + 2,
        Class::LoadMultiple | Class::LoadMultiplePc => core + 1 + n,
        _ => core,
    }
}

#[cfg(test)]
mod tests {
    use isa::Timing as _;
    use isa_thumb::{Class, Step};

    use super::CortexM3Sam3x;

    fn step(class: Class, pc: u32, count: u8) -> Step {
        Step {
            class,
            pc,
            bytes: 2,
            writes: u16::from(class == Class::Load) << (pc >> 1 & 7),
            address: 1 << 12,
            reads: 1 << 12,
            sets_flags: false,
            reads_flags: false,
            count,
            literal: false,
            guarded: false,
            target: None,
        }
    }

    #[test]
    fn loads_and_lines_wait_as_fitted() {
        let mut model = CortexM3Sam3x::default();
        let cost = |steps: &[Step]| CortexM3Sam3x::default().costs(steps).each.iter().sum::<u32>();
        assert_eq!(cost(&[step(Class::Load, 0x102, 0)]), 4);
        assert_eq!(cost(&[step(Class::Load, 0x102, 0), step(Class::Load, 0x104, 0)]), 6);
        assert_eq!(cost(&[step(Class::LoadMultiple, 0x102, 2)]), 6); // LDRD
        // 160 instructions in 20 lines: 19 steps into another line, two of them with a tenth
        let straight: Vec<Step> = (0..160).map(|k| step(Class::Alu, 0x1000 + 2 * k, 0)).collect();
        assert_eq!(cost(&straight), 160 + 19 + 2);
        assert_eq!(model.enter(0x100, 0x10A), 4);
        assert_eq!(model.enter(0x102, 0x10A), 0);
        assert_eq!(model.enter(0x110, 0x120), 4);
        assert_eq!(model.enter(0x120, 0x124), 1);
    }
}
