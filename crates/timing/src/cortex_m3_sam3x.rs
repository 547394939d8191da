//! Cortex-M3 of the SAM3X8E at 84 MHz with four flash wait states.
//!
//! Core: the rules of `cortex_m3.rs`, with two cycles for the refill after every branch, which were fitted together with
//! `BUS`. *Assumed* as the reason: an address that is known early saves nothing where its line takes longer to come.
//!
//! Flash (Enhanced Embedded Flash Controller, FWS = 4, reads of 128 bits): an access takes FWS + 1 cycles
//! and brings a line of 16 bytes. Two buffers serve sequential code: while one line is executed, the access
//! for the next one is under way. So a step into the next line waits for the rest of five cycles since the line before
//! was entered, and a taken branch into another line waits FWS cycles; one inside its line waits for nothing.
//! *Assumed*: a branch drops the access in progress, and a run of code begins the access for its next line when
//! it is entered.
//!
//! Data: the SRAM is reached through the system bus and the bus matrix. Every load waits `BUS` cycles more,
//! whatever it transfers; a store that does not directly follow another access waits as long in the write buffer, and the
//! next access waits for it. The number is fitted to published figures of an Arduino Due (`docs/validation/cortex-m3-sam3x.md`), one
//! for both; a data read from flash is taken to wait as long.

use isa::native::Edge;
use isa::{Cause, Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};

use crate::cortex_m3::{CortexM3, MAX_RUN, P_LATE, Wide, core_cycles, late};
use crate::fetch::Front;

/// Binary logarithm of the bytes that one flash access fetches.
const LINE: u32 = 4;
/// FWS: cycles of a flash access beyond the first.
const WAIT_STATES: u32 = 4;
/// Cycles until the bus matrix answers.
const BUS: u32 = 2;

/// A SAM3X8E's core, flash and bus matrix.
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
    const MAX_RUN: usize = MAX_RUN;

    fn id(&self) -> &'static str {
        "cortex-m3-sam3x/4"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let (mut costs, fetch, bus) = parts(steps);
        costs.each.iter_mut().zip(fetch.iter().zip(&bus)).for_each(|(each, (fetch, bus))| *each += fetch + bus);
        costs
    }

    fn waits(&self, steps: &[Step]) -> Vec<(Cause, Vec<u32>)> {
        let (_, fetch, bus) = parts(steps);
        vec![(Cause::Fetch, fetch), (Cause::Bus, bus)]
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

/// Static costs of the core, and the waits of each step for code and for the bus.
fn parts(steps: &[Step]) -> (Costs, Vec<u32>, Vec<u32>) {
    let mut wide = Wide::WHEREVER;
    let core = |s: &Step, before: Option<&Step>| {
        let cycles = core_cycles(s, before) + late(s);
        cycles + wide.waits(s, cycles)
    };
    let costs = Front::Ready.costs(steps, core, P_LATE);
    let (mut fetch, mut data) = (vec![0; steps.len()], vec![0; steps.len()]);
    let mut line = steps.first().map_or(0, |s| s.pc >> LINE);
    let (mut now, mut next_line, mut bus) = (0, WAIT_STATES + 1, Bus::default());
    // what a skipped instruction is fetched with goes to the one before its IT block
    let mut payer = 0;
    for (k, s) in steps.iter().enumerate().filter(|(_, s)| s.bytes != 0) {
        let core = costs.each[k];
        payer = if s.guarded { payer } else { k };
        let last = s.pc.wrapping_add(u32::from(s.bytes) - 1) >> LINE;
        if last != line {
            let stall = next_line.saturating_sub(now);
            fetch[payer] += stall;
            now += stall;
            next_line = now + WAIT_STATES + 1;
            line = last;
        }
        data[k] = bus.access(s, now, core);
        now += core + data[k];
    }
    (costs, fetch, data)
}

/// Cycles of the transition from a block that ended at `last` to one at `start`.
#[inline(always)]
fn between(last: u32, start: u32) -> u32 {
    match (start == last, start >> LINE == last.wrapping_sub(2) >> LINE) {
        (_, true) => 0,
        // *assumed*: four instructions were in the line before
        (true, _) => 1,
        _ => WAIT_STATES,
    }
}

/// The system bus to the SRAM.
#[derive(Default)]
struct Bus {
    /// When the last access left the core, and when a store in the write buffer is done.
    left: Option<u32>,
    stored: u32,
}

impl Bus {
    /// Cycles that an instruction waits for the bus when it starts at `now` and takes `core` cycles.
    fn access(&mut self, s: &Step, now: u32, core: u32) -> u32 {
        use Class::{Load, LoadExclusive, LoadMultiple, LoadMultiplePc, LoadPc};
        use Class::{Store, StoreExclusive, StoreMultiple};
        let load = matches!(s.class, Load | LoadPc | LoadExclusive | StoreExclusive | LoadMultiple | LoadMultiplePc);
        if !load && !matches!(s.class, Store | StoreMultiple) {
            return 0;
        }
        let busy = self.stored.saturating_sub(now);
        let follows = busy == 0 && self.left == Some(now);
        let wait = busy + if load { BUS } else { 0 };
        let left = now + core + wait;
        self.left = Some(left);
        if !load && !follows {
            self.stored = left + BUS;
        }
        wait
    }
}

#[cfg(test)]
mod tests {
    use isa::Timing as _;
    use isa_thumb::{Class, Step};

    use super::CortexM3Sam3x;

    fn step(class: Class, pc: u32, bytes: u8, count: u8) -> Step {
        Step {
            class,
            pc,
            bytes,
            writes: u16::from(class == Class::Load) << (pc >> 1 & 7),
            address: 1 << 12,
            reads: 1 << 12,
            sets_flags: false,
            reads_flags: false,
            count,
            literal: false,
            guarded: false,
            links: false,
            target: None,
        }
    }

    fn cost(classes: &[(Class, u8)]) -> u32 {
        let steps: Vec<Step> =
            classes.iter().enumerate().map(|(k, &(c, n))| step(c, 0x100 + 2 * k as u32, 2, n)).collect();
        CortexM3Sam3x::default().costs(&steps).each.iter().sum()
    }

    #[test]
    fn lines_come_every_five_cycles() {
        let straight = |start, n, bytes: u8| {
            let steps: Vec<Step> = (0..n).map(|k| step(Class::Alu, start + u32::from(bytes) * k, bytes, 0)).collect();
            CortexM3Sam3x::default().costs(&steps).each.iter().sum::<u32>()
        };
        assert_eq!(straight(0x1000, 160, 2), 160); // eight in a line
        assert_eq!(straight(0x1000, 80, 4), 80 + 19); // four in a line
        assert_eq!(straight(0x1008, 4, 2), 4);
        assert_eq!(straight(0x1008, 5, 2), 5 + 1); // four cycles of the first line
        let mut model = CortexM3Sam3x::default();
        assert_eq!(model.enter(0x100, 0x10A), 4);
        assert_eq!(model.enter(0x102, 0x10A), 0); // in its line
        assert_eq!(model.enter(0x110, 0x120), 4);
        assert_eq!(model.enter(0x120, 0x124), 1); // in sequence
        assert_eq!(model.enter(0x124, 0x128), 0);
    }

    #[test]
    fn accesses_wait_for_the_bus_matrix() {
        use Class::{Alu, Load, LoadMultiple, Store, StoreMultiple};
        assert_eq!(cost(&[(Load, 0)]), 2 + 2);
        assert_eq!(cost(&[(Load, 0), (Load, 0), (Load, 0)]), 4 + 3 * 2);
        assert_eq!(cost(&[(LoadMultiple, 4)]), 5 + 2);
        assert_eq!(cost(&[(Load, 0), (Alu, 0), (Load, 0)]), 2 + 2 + 1 + 2 + 2);
        assert_eq!(cost(&[(Load, 0), (Store, 0)]), 2 + 2 + 1);
        // the write buffer hides a store until the next access
        assert_eq!(cost(&[(Store, 0), (Alu, 0), (Alu, 0), (Alu, 0)]), 4);
        assert_eq!(cost(&[(Store, 0), (Store, 0)]), 1 + 2 + 1);
        assert_eq!(cost(&[(Store, 0), (Alu, 0), (Load, 0)]), 1 + 1 + 1 + 2 + 2);
        assert_eq!(cost(&[(StoreMultiple, 4), (Alu, 0)]), 6);
    }
}
