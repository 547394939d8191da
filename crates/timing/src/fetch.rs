//! Flash front ends that cores share: the waits of fetches.

use isa::native::{Edge, StatePointer};
use isa::{Cause, Costs};
use isa_thumb::{Class, Step};
use mcu::Flash;

/// The front end between a core and its flash.
#[derive(Clone, Debug)]
pub(crate) enum Front {
    /// Fetches never wait.
    Ready,
    /// Buffers that read ahead.
    Prefetch(Prefetch),
    /// A cache of lines without prefetch.
    Cache(LineCache),
}

impl Front {
    /// The front end that `flash` describes; lines are a power of two.
    pub fn new(flash: Flash) -> Self {
        match flash {
            Flash { line_bytes: 0, .. } | Flash { wait_states: 0, .. } => Self::Ready,
            Flash { cache_lines: 0, .. } => Self::Prefetch(Prefetch::new(flash)),
            _ => Self::Cache(LineCache::new(flash)),
        }
    }

    /// Static costs of a run from the core's own cycles of each step and of a taken branch.
    pub fn costs(&self, steps: &[Step], mut core: impl FnMut(&Step, Option<&Step>) -> u32, taken: u32) -> Costs {
        let mut each = Vec::with_capacity(steps.len());
        let mut before: Option<&Step> = None;
        for s in steps {
            each.push(core(s, before));
            if s.class != Class::Pseudo {
                before = Some(s);
            }
        }
        let taken = steps.iter().map(|s| if s.class == Class::BranchCond { taken as u8 } else { 0 }).collect();
        if let Self::Prefetch(p) = self {
            p.stalls(steps, &mut each);
        }
        // a skipped instruction goes through the pipeline as one cycle
        Costs { each, taken, skipped: 1 }
    }

    /// What of the costs that a model gives `with` this front end is waiting for sequential code.
    pub fn waits(&self, with: impl Fn(&Self) -> Costs) -> Vec<(Cause, Vec<u32>)> {
        if !matches!(self, Self::Prefetch(_)) {
            return Vec::new();
        }
        let (each, ready) = (with(self).each, with(&Self::Ready).each);
        vec![(Cause::Fetch, each.iter().zip(ready).map(|(a, b)| a.saturating_sub(b)).collect())]
    }

    /// Extra cycles for entering a block.
    #[inline(always)]
    pub fn enter(&mut self, start: u32, end: u32) -> u32 {
        match self {
            Self::Ready => 0,
            Self::Prefetch(p) => p.enter(start, end),
            Self::Cache(c) => c.enter(start, end),
        }
    }

    /// The cost of [`Front::enter`] after a block that ended at `last`, for code that is generated in advance.
    pub fn edge(&mut self, last: u32, start: u32, end: u32) -> Edge {
        match self {
            Self::Ready => Edge::Fixed(0),
            Self::Prefetch(p) => Edge::Fixed(p.refill(last, start)),
            Self::Cache(c) => {
                let words = c.touched(start, end).map(|line| (c.place(line), line, true)).collect();
                Edge::Held { words, stamps: None }
            }
        }
    }

    /// Where the last block ended, if it matters.
    pub fn last_end(&mut self) -> Option<&mut u32> {
        match self {
            Self::Ready => None,
            Self::Prefetch(p) => Some(&mut p.last_end),
            Self::Cache(c) => Some(&mut c.last_end),
        }
    }

    /// Resets the front end.
    pub fn reset(&mut self) {
        match self {
            Self::Ready => {}
            Self::Prefetch(p) => p.last_end = 0,
            Self::Cache(c) => c.reset(),
        }
    }
}

/// Buffers of one line each, the first of which holds the line that is executed. *Assumed*: the next
/// access starts when the line before it is entered; a refill after a taken branch costs `wait_states`
/// more unless its line is held; data reads do not delay fetches.
#[derive(Clone, Debug)]
pub(crate) struct Prefetch {
    wait_states: u32,
    lines: u32,
    /// Binary logarithm of the bytes of a line.
    shift: u32,
    /// Address after the last executed block.
    last_end: u32,
}

impl Prefetch {
    fn new(flash: Flash) -> Self {
        let shift = flash.line_bytes.checked_ilog2().unwrap_or(0);
        Self { wait_states: flash.wait_states, lines: flash.prefetch_lines, shift, last_end: 0 }
    }

    /// Stalls of sequential fetches, added to the steps that wait. `each` are the core's cycles.
    ///
    /// Line k is requested when line k - lines + 1 is entered, or when the access before it is done,
    /// and is there `wait_states` + 1 cycles later.
    fn stalls(&self, steps: &[Step], each: &mut [u32]) {
        let ahead = (self.lines as usize).saturating_sub(1);
        let access = self.wait_states + 1;
        let core = each.to_vec();
        let Some(first) = steps.first().map(|s| s.pc >> self.shift) else { return };
        let mut entered = vec![0u32];
        let (mut done, mut now) = (0, 0);
        // a skipped instruction is fetched all the same: its stall goes to the one before its IT block
        let mut payer = 0;
        for (k, s) in steps.iter().enumerate() {
            payer = if s.guarded { payer } else { k };
            let end = s.pc.wrapping_add(u32::from(s.bytes));
            let lines = if s.bytes == 0 { 0 } else { (end.wrapping_sub(1) >> self.shift).wrapping_sub(first) as usize };
            while entered.len() <= lines {
                // without prefetch the access starts when its line is needed, and one cycle of it is not a stall
                let (room, hidden) =
                    if ahead == 0 { (now, 1) } else { (entered[entered.len().saturating_sub(ahead)], 0) };
                done = room.max(done) + access;
                let stall = done.saturating_sub(now + hidden);
                now += stall;
                each[payer] += stall;
                entered.push(now);
            }
            now += core[k];
        }
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32) -> u32 {
        let last = std::mem::replace(&mut self.last_end, end);
        self.refill(last, start)
    }

    /// Cycles of the transition from a block that ended at `last` to one at `start`.
    #[inline(always)]
    fn refill(&self, last: u32, start: u32) -> u32 {
        if start == last {
            return 0;
        }
        // held: the line of the last executed instruction, and the lines prefetched after it
        let ahead = (start >> self.shift).wrapping_sub(last.wrapping_sub(2) >> self.shift);
        if ahead < self.lines.max(1) { 0 } else { self.wait_states }
    }
}

/// A direct-mapped cache of lines; a miss costs the wait states, nothing is read ahead.
#[derive(Clone, Debug)]
pub(crate) struct LineCache {
    /// The line that each place holds.
    lines: Box<[u32]>,
    wait_states: u32,
    overlap: u32,
    ahead: u32,
    shift: u32,
    last_end: u32,
}

/// Stands for no line: lines have two bytes or more.
const EMPTY: u32 = u32::MAX;

impl LineCache {
    fn new(flash: Flash) -> Self {
        Self {
            lines: vec![EMPTY; flash.cache_lines.next_power_of_two() as usize].into(),
            wait_states: flash.wait_states,
            overlap: flash.branch_overlap,
            ahead: flash.ahead_bytes,
            shift: flash.line_bytes.checked_ilog2().unwrap_or(0),
            last_end: 0,
        }
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32) -> u32 {
        let jumped = start != std::mem::replace(&mut self.last_end, end);
        let first = start >> self.shift;
        let places = self.lines.len() - 1;
        let mut stall = 0;
        for line in self.touched(start, end) {
            let place = &mut self.lines[line as usize & places];
            if *place != line {
                *place = line;
                stall += self.wait_states;
                if jumped && line == first {
                    stall = stall.saturating_sub(self.overlap);
                }
            }
        }
        stall
    }

    /// The lines that a block needs.
    #[inline(always)]
    fn touched(&self, start: u32, end: u32) -> std::ops::RangeInclusive<u32> {
        start >> self.shift..=end.wrapping_sub(1).wrapping_add(self.ahead) >> self.shift
    }

    /// Where the number of a line is stored while it is held.
    fn place(&self, line: u32) -> StatePointer<u32> {
        StatePointer::of(&self.lines[line as usize & (self.lines.len() - 1)])
    }

    fn reset(&mut self) {
        self.lines.fill(EMPTY);
        self.last_end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Front;
    use mcu::Flash;

    #[test]
    fn a_cache_waits_once_for_each_line() {
        let mut front = Front::new(Flash {
            wait_states: 1,
            line_bytes: 8,
            cache_lines: 8,
            data_wait_states: 1,
            ..Flash::default()
        });
        assert_eq!(front.enter(0x100, 0x120), 4);
        assert_eq!(front.enter(0x100, 0x120), 0);
        assert_eq!(front.enter(0x140, 0x148), 1); // the place of 0x100
        assert_eq!(front.enter(0x100, 0x110), 1);
        front.reset();
        assert_eq!(front.enter(0x100, 0x102), 1);
    }

    #[test]
    fn a_branch_hides_part_of_its_miss_and_the_next_line_is_asked_for_early() {
        let flash = Flash { wait_states: 3, line_bytes: 16, cache_lines: 128, ..Flash::default() };
        let mut front = Front::new(Flash { branch_overlap: 1, ahead_bytes: 2, ..flash });
        assert_eq!(front.enter(0x100, 0x10E), 2); // a jump
        assert_eq!(front.enter(0x10E, 0x110), 3); // in sequence: the next line
        assert_eq!(front.enter(0x120, 0x12F), 2 + 3);
        assert_eq!(front.enter(0x900, 0x904), 2); // 2 KB on: the place of 0x100
        assert_eq!(front.enter(0x100, 0x104), 2);
    }
}
