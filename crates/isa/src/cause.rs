//! Where the cycles of instructions go: by cause, and by the work that an instruction does.
//!
//! A timing model says what a run of instructions costs, not why. What each instruction costs by itself is compared with
//! what it costs in its run, and with what it would cost if memory never waited ([`Timing::waits`]). The parts always add
//! up to the model's own figure, whatever its rules are.

use std::collections::BTreeMap;

use crate::block::{Block, Core, Costs, Run, Timing};

/// Why a cycle passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The first cycle of an instruction, which an instruction that is issued beside another does not have.
    Issue,
    /// Cycles beyond it that the instruction has wherever it is.
    Work,
    /// An operand, the bus or the instruction's second half was not there: what neighbours cost each other.
    Neighbours,
    /// A taken branch, a skip: the pipeline fills again.
    Refill,
    /// A branch was predicted wrongly.
    Mispredicted,
    /// Code was not there: wait states of flash, a line that no buffer or cache holds.
    Fetch,
    /// The bus to data memory.
    Bus,
    /// Data was read from flash.
    FlashData,
    /// An access was not aligned.
    Unaligned,
    /// Operand values made the instruction longer: division, long multiplication.
    Operands,
    /// Instructions whose condition failed, and exceptions in an instruction's place.
    Instead,
}

impl Cause {
    /// Its fixed name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Work => "work",
            Self::Neighbours => "neighbours",
            Self::Refill => "refill",
            Self::Mispredicted => "mispredicted",
            Self::Fetch => "fetch",
            Self::Bus => "bus",
            Self::FlashData => "flash-data",
            Self::Unaligned => "unaligned",
            Self::Operands => "operands",
            Self::Instead => "instead",
        }
    }
}

/// What an instruction does, as far as cycles are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Arithmetic, moves.
    Compute,
    /// A product.
    Multiply,
    /// A quotient or a remainder.
    Divide,
    /// A load.
    Load,
    /// A store.
    Store,
    /// Loads or stores of several registers, push and pop among them.
    Several,
    /// Branches, jumps, calls, returns, skips.
    Branch,
    /// Anything about the system: special registers, barriers.
    System,
    /// No instruction.
    Nothing,
}

impl Work {
    /// Its fixed name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Load => "load",
            Self::Store => "store",
            Self::Several => "load or store several",
            Self::Branch => "branch",
            Self::System => "system",
            Self::Nothing => "none",
        }
    }
}

/// How often something cost cycles, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Times.
    pub times: u64,
    /// Cycles.
    pub cycles: u64,
}

/// Cycles by cause and work.
pub type Shares = BTreeMap<(Cause, Work), Share>;

pub(crate) fn add(shares: &mut Shares, cause: Cause, work: Work, cycles: u64) {
    if cycles > 0 || cause == Cause::Issue {
        let share = shares.entry((cause, work)).or_default();
        share.times += 1;
        share.cycles += cycles;
    }
}

/// One instruction of a run by itself, with the costs that it has there. An IT block is one, too.
pub(crate) struct Piece<C> {
    pub block: Block<C>,
    /// The parts of each of its instructions.
    pub parts: Vec<(Work, Vec<(Cause, u32)>)>,
}

/// A run taken to pieces, by their addresses.
pub(crate) struct Pieces<C> {
    pub start: u32,
    pub end: u32,
    pub of: BTreeMap<u32, Piece<C>>,
}

impl<C: Core> Pieces<C> {
    /// The run at `pc`, with the costs that `timing` gives it.
    pub fn of(core: &C, timing: &impl Timing<C>, pc: u32, max: usize) -> Self {
        let run = core.decode(pc, max);
        let (costs, parts) = (timing.costs(&run.steps), parts::<C>(timing, &run.steps));
        let (start, end) = (pc, run.end);
        let mut pieces = Self { start, end, of: BTreeMap::new() };
        let mut at = pc;
        loop {
            let one = core.decode(at, 1);
            let next = one.end;
            pieces.of.insert(at, piece(&run, &costs, &parts, at, one));
            // what ends a run may be shorter than it: an instruction that is none
            if next <= at || next >= end || !run.insns.iter().any(|i| i.site.pc == next) {
                return pieces;
            }
            at = next;
        }
    }
}

fn piece<C: Core>(run: &Run<C>, costs: &Costs, parts: &[(Work, Vec<(Cause, u32)>)], at: u32, one: Run<C>) -> Piece<C> {
    let mut own = Costs { each: Vec::new(), taken: Vec::new(), skipped: costs.skipped };
    let mut seen: Vec<(u32, Work)> = Vec::new();
    let mut mine = Vec::new();
    for (insn, step) in one.insns.iter().zip(&one.steps) {
        let same = (insn.site.pc, C::work(step));
        let before = seen.iter().filter(|s| **s == same).count();
        seen.push(same);
        let alike = |&k: &usize| (run.insns[k].site.pc, C::work(&run.steps[k])) == same;
        // the end of a piece may look like one of the whole run
        let found = (0..run.insns.len()).filter(alike).nth(before).filter(|_| insn.site.pc < one.end);
        own.each.push(found.map_or(0, |k| costs.each[k]));
        own.taken.push(found.map_or(0, |k| costs.taken[k]));
        mine.push(found.map_or((Work::Nothing, Vec::new()), |k| parts[k].clone()));
    }
    Piece { block: Block::priced(at, one, &own), parts: mine }
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
