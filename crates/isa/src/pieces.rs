//! A run of instructions, taken to pieces: what each instruction costs in it, by cause.
//!
//! A timing model says what a run of instructions costs, not why. What each instruction costs by itself is compared with
//! what it costs in its run, and with what it would cost if memory never waited ([`Timing::waits`]). The parts always add
//! up to the model's own figure, whatever its rules are.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::block::{Block, Core, Costs, Insn, Run, Timing};
use crate::cause::{Cause, Work};

/// One instruction of a run by itself, with the costs that it has there. An IT block is one, too.
pub(crate) struct Piece<C> {
    pub block: Block<C>,
    /// The parts of each of its instructions.
    pub parts: Vec<(Work, Vec<(Cause, u32)>)>,
    /// Cycles of waiting for code among them that a taken branch does not have.
    pub falls: u32,
}

impl<C> Piece<C> {
    /// Its parts, of which so many cycles of waiting for code did not come to pass.
    pub fn without(&self, mut waits: u32) -> impl Iterator<Item = (Work, Cause, u32)> + '_ {
        let parts =
            self.parts.iter().flat_map(|(work, parts)| parts.iter().map(|&(cause, cycles)| (*work, cause, cycles)));
        parts.map(move |(work, cause, cycles)| match cause {
            Cause::Fetch => (work, cause, cycles.saturating_sub(std::mem::take(&mut waits))),
            _ => (work, cause, cycles),
        })
    }
}

/// A run taken to pieces, by their addresses.
pub(crate) struct Pieces<C> {
    pub start: u32,
    pub end: u32,
    pub of: BTreeMap<u32, Piece<C>>,
}

impl<C: Core> Pieces<C> {
    /// The run at `pc`, with the costs that `timing` gives it.
    pub fn of<T: Timing<C>>(core: &C, timing: &T, pc: u32) -> Self {
        let run = core.decode(pc, T::MAX_RUN);
        let (costs, parts) = (timing.costs(&run.steps), parts::<C>(timing, &run.steps));
        let (start, end) = (pc, run.end);
        let mut pieces = Self { start, end, of: BTreeMap::new() };
        let mut at = pc;
        loop {
            let one = core.decode(at, 1);
            let next = one.end;
            pieces.of.insert(at, piece(&run, &costs, &parts, at, one));
            // what ends a run may be shorter than it: an instruction that is none
            if next <= at || next >= end || at_address(&run, next).is_empty() {
                return pieces;
            }
            at = next;
        }
    }
}

fn piece<C: Core>(run: &Run<C>, costs: &Costs, parts: &[(Work, Vec<(Cause, u32)>)], at: u32, one: Run<C>) -> Piece<C> {
    let found = within(run, &one);
    let mine = found.iter().map(|found| found.map_or((Work::Nothing, Vec::new()), |k| parts[k].clone())).collect();
    let falls = found.iter().flatten().map(|&k| u32::from(costs.falls(k))).sum();
    Piece { block: priced(costs, &found, at, one), parts: mine, falls }
}

/// What a run that begins at `start` has in a range of its addresses, with the costs that this has in the run. An
/// instruction that others depend on, as those of an IT block, is not parted from them.
pub(crate) fn part<C: Core>(core: &C, timing: &impl Timing<C>, start: u32, of: Range<u32>, max: usize) -> Block<C> {
    let run = core.decode(start, max);
    let costs = timing.costs(&run.steps);
    let mut own = core.decode(of.start, max);
    if own.end > of.end {
        let at = |pc: u32| run.insns.partition_point(|i| i.site.pc < pc);
        let (mut low, mut high) = (1, at(of.end).saturating_sub(at(of.start)).max(1));
        while low < high {
            let middle = (low + high).div_ceil(2);
            let fits = core.decode(of.start, middle).end <= of.end;
            (low, high) = if fits { (middle, high) } else { (low, middle - 1) };
        }
        own = core.decode(of.start, low);
    }
    let found = within(&run, &own);
    priced(&costs, &found, of.start, own)
}

/// The instructions of a run that those of a part of it are; none for what only ends the part.
fn within<C: Core>(run: &Run<C>, part: &Run<C>) -> Vec<Option<usize>> {
    let mut seen: Vec<(u32, Work)> = Vec::new();
    let mut one = |(insn, step): (&Insn<C>, &C::Step)| {
        let same = (insn.site.pc, C::work(step));
        let before = seen.iter().rev().take_while(|s| s.0 == same.0).filter(|s| **s == same).count();
        seen.push(same);
        let alike = |&k: &usize| C::work(&run.steps[k]) == same.1;
        // the end of a part may look like one of the whole run
        at_address(run, same.0).filter(alike).nth(before).filter(|_| insn.site.pc < part.end)
    };
    part.insns.iter().zip(&part.steps).map(&mut one).collect()
}

/// The instructions of a run at an address: these are in their order.
fn at_address<C: Core>(run: &Run<C>, pc: u32) -> Range<usize> {
    let from = run.insns.partition_point(|i| i.site.pc < pc);
    from..from + run.insns[from..].iter().take_while(|i| i.site.pc == pc).count()
}

/// A part of a run, with the costs that its instructions have there.
fn priced<C: Core>(costs: &Costs, found: &[Option<usize>], at: u32, part: Run<C>) -> Block<C> {
    let each = found.iter().map(|k| k.map_or(0, |k| costs.each[k])).collect();
    let taken = found.iter().map(|k| k.map_or(0, |k| costs.taken[k])).collect();
    let falls = found.iter().map(|k| k.map_or(0, |k| costs.falls(k))).collect();
    Block::priced(at, part, &Costs { each, taken, falls, skipped: costs.skipped })
}

/// What each step of a run costs, by cause.
fn parts<C: Core>(timing: &impl Timing<C>, steps: &[C::Step]) -> Vec<(Work, Vec<(Cause, u32)>)> {
    let each = timing.costs(steps).each;
    let waits = timing.waits(steps);
    let part = |(k, step): (usize, &C::Step)| {
        let work = C::work(step);
        let mut left = each[k];
        let mut found = Vec::new();
        for (cause, some) in &waits {
            let wait = some.get(k).copied().unwrap_or(0).min(left);
            found.push((*cause, wait));
            left -= wait;
        }
        if work != Work::Nothing {
            found.push((Cause::Issue, left.min(1)));
            left -= left.min(1);
        }
        let alone = std::slice::from_ref(step);
        let waited: u32 = timing.waits(alone).iter().map(|(_, some)| some.iter().sum::<u32>()).sum();
        let own = timing.costs(alone).each.iter().sum::<u32>().saturating_sub(waited).saturating_sub(1).min(left);
        found.extend([(Cause::Work, own), (Cause::Neighbours, left - own)]);
        (work, found)
    };
    steps.iter().enumerate().map(part).collect()
}
