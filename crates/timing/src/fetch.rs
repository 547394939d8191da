//! Flash front ends that cores share: the waits of fetches.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

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

    /// Whether lines are read ahead of the code: what branches that are not taken wait for is a rule of these alone, so
    /// models of this front end have a number of their own.
    pub fn reads_ahead(&self) -> bool {
        matches!(self, Self::Prefetch(_))
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
        // a skipped instruction goes through the pipeline as one cycle
        let mut costs = Costs { each, taken, skipped: 1, ..Costs::default() };
        match self {
            Self::Ready => {}
            Self::Prefetch(p) => p.stalls(steps, &mut costs),
            Self::Cache(c) => c.learn(steps, &costs.each),
        }
        costs
    }

    /// What of the costs that a model gives `with` this front end is waiting for sequential code.
    pub fn waits(&self, with: impl Fn(&Self) -> Costs) -> Vec<(Cause, Vec<u32>)> {
        if !self.reads_ahead() {
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
            // a run that needs a place twice is never held
            Self::Cache(c) if c.touched(start, end).count() > c.lines.len() => Edge::Ask,
            Self::Cache(c) => {
                let words = c.touched(start, end).map(|line| (c.place(line), line, true)).collect();
                Edge::Held { words, stamps: None }
            }
        }
    }

    /// Where the last block ended, if it matters.
    pub fn last_end(&mut self) -> Option<&mut u32> {
        match self {
            Self::Ready | Self::Cache(_) => None,
            Self::Prefetch(p) => Some(&mut p.last_end),
        }
    }

    /// Forgets what it keeps of runs.
    pub fn forget(&mut self) {
        if let Self::Cache(c) = self {
            c.waits.lock().unwrap_or_else(PoisonError::into_inner).clear();
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

    /// Adds what sequential fetches wait to the core's cycles of the steps that wait.
    fn stalls(&self, steps: &[Step], costs: &mut Costs) {
        let Some(first) = steps.first().map(|s| s.pc >> self.shift) else { return };
        let line = |at: u32| (at >> self.shift).wrapping_sub(first) as usize;
        let core = costs.each.clone();
        let mut ahead = Ahead { of: self, entered: vec![0], done: 0 };
        let mut now = 0;
        // a skipped instruction is fetched all the same: its stall goes to the one before its IT block
        let mut payer = 0;
        for (k, s) in steps.iter().enumerate() {
            payer = if s.guarded { payer } else { k };
            let last = if s.bytes == 0 { 0 } else { line(s.pc.wrapping_add(u32::from(s.bytes)).wrapping_sub(1)) };
            let stall = ahead.stall(last, now);
            costs.each[payer] += stall;
            now += stall + core[k];
        }
        // what comes after a branch that is not taken is another run, which begins with its line
        let last = steps.iter().enumerate().rfind(|(_, s)| s.bytes != 0);
        if let Some((k, s)) = last.filter(|(_, s)| s.class == Class::BranchCond || s.guarded && s.class.ends()) {
            // *assumed*: a run in one line came from the start of it, by a cycle for each two bytes
            let within = (steps[0].pc & ((1 << self.shift) - 1)) / 2;
            let before = if ahead.entered.len() == 1 { within } else { 0 };
            // a skipped one has taken a cycle
            now -= if s.guarded { core[k].saturating_sub(1) } else { 0 };
            let stall = ahead.stall(line(s.pc.wrapping_add(s.bytes.into())), now + before).min(i8::MAX as u32);
            if s.guarded {
                // where its condition holds it does not wait
                let payer = steps[..k].iter().rposition(|s| !s.guarded).unwrap_or(k);
                costs.each[payer] += stall;
                costs.each[k] = costs.each[k].saturating_sub(stall).max(1);
            } else {
                costs.each[k] += stall;
                costs.falls = vec![0; steps.len()];
                costs.falls[k] = stall as u8;
            }
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

/// A run's way through its lines.
///
/// Line k is requested when line k - lines + 1 is entered, or when the access before it is done, and is there
/// `wait_states` + 1 cycles later.
struct Ahead<'a> {
    of: &'a Prefetch,
    /// When each line was entered.
    entered: Vec<u32>,
    /// When the last access was done.
    done: u32,
}

impl Ahead<'_> {
    /// Cycles that the core waits for a line and those before it, which it needs `now`.
    fn stall(&mut self, line: usize, now: u32) -> u32 {
        let ahead = (self.of.lines as usize).saturating_sub(1);
        let mut at = now;
        while self.entered.len() <= line {
            // without prefetch the access starts when its line is needed, and one cycle of it is not a stall
            let (room, hidden) =
                if ahead == 0 { (at, 1) } else { (self.entered[self.entered.len().saturating_sub(ahead)], 0) };
            self.done = room.max(self.done) + self.of.wait_states + 1;
            at += self.done.saturating_sub(at + hidden);
            self.entered.push(at);
        }
        at - now
    }
}

/// A direct-mapped cache of lines; a miss costs the wait states, nothing is read ahead.
///
/// The core fetches a word of code in each cycle as long as it holds fewer than `queue` words that are not executed, so a
/// miss passes in part while it executes those that it holds: several cycles where these are narrow or take long, none
/// where each word is an instruction of one cycle. What a line of a run costs depends on the run alone. *Assumed*: a run
/// begins with its first word, and the lines after its first one all miss.
#[derive(Clone, Debug)]
pub(crate) struct LineCache {
    /// The line that each place holds.
    lines: Box<[u32]>,
    wait_states: u32,
    queue: u32,
    shift: u32,
    /// Cycles that a run waits for each of its lines after the first, where the core fetches ahead, by start and end.
    waits: Arc<Mutex<Waits>>,
}

type Waits = HashMap<(u32, u32), Box<[u32]>, BuildHasherDefault<Addresses>>;

/// Hashes addresses, which nobody chooses to collide, in a few cycles.
#[derive(Default)]
struct Addresses(u64);

impl Hasher for Addresses {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32((*b).into()));
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(20) ^ u64::from(n)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Stands for no line: lines have two bytes or more.
const EMPTY: u32 = u32::MAX;

impl LineCache {
    fn new(flash: Flash) -> Self {
        Self {
            lines: vec![EMPTY; flash.cache_lines.next_power_of_two() as usize].into(),
            wait_states: flash.wait_states,
            queue: flash.queue_words,
            shift: flash.line_bytes.checked_ilog2().unwrap_or(0),
            waits: Arc::default(),
        }
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32) -> u32 {
        let places = self.lines.len() - 1;
        let held = self.touched(start, end).all(|line| self.lines[line as usize & places] == line);
        if held { 0 } else { self.fetch(start, end) }
    }

    /// Fetches the lines that a run misses; returns the cycles that it waits for them.
    fn fetch(&mut self, start: u32, end: u32) -> u32 {
        let touched = self.touched(start, end);
        let places = self.lines.len() - 1;
        let known = (self.queue != 0).then(|| self.waits.lock().unwrap_or_else(PoisonError::into_inner));
        let waits = known.as_ref().and_then(|w| w.get(&(start, end))).map_or(&[][..], |w| w);
        let mut stall = 0;
        for (k, line) in touched.enumerate() {
            let place = &mut self.lines[line as usize & places];
            if *place != line {
                *place = line;
                stall += k.checked_sub(1).and_then(|k| waits.get(k)).copied().unwrap_or(self.wait_states);
            }
        }
        stall
    }

    /// Keeps what the lines of a run cost that takes `each` cycles without them.
    fn learn(&self, steps: &[Step], each: &[u32]) {
        let code = || steps.iter().zip(each).filter(|(s, _)| s.bytes != 0);
        let (Some((first, _)), Some((last, _))) = (code().next(), code().next_back()) else { return };
        if self.queue == 0 {
            return;
        }
        let end = last.pc.wrapping_add(u32::from(last.bytes));
        let word = |at: u32| (at.wrapping_sub(first.pc & !3) >> 2) as usize;
        // by word of the run: when it is there, and when the core is done with it
        let (mut there, mut done) = (vec![0], Vec::<u32>::new());
        let (mut now, mut waits) = (0, Vec::new());
        for (s, cycles) in code() {
            let after = s.pc.wrapping_add(u32::from(s.bytes));
            let mut missed = 0;
            while there.len() <= word(after.wrapping_sub(1)) {
                let k = there.len();
                let room = k.checked_sub(self.queue as usize).and_then(|k| done.get(k)).copied().unwrap_or(0);
                let at = (first.pc & !3).wrapping_add(4 * k as u32);
                let late = if at & ((1 << self.shift) - 1) == 0 { self.wait_states } else { 0 };
                let fetched = room.max(there[k - 1]) + 1;
                missed = missed.max(late);
                there.push(fetched + late);
            }
            let ready = there[word(after.wrapping_sub(1))];
            if missed != 0 {
                waits.push(ready.saturating_sub(now).min(missed));
            }
            now = now.max(ready);
            done.resize(word(after).max(done.len()), now);
            now += cycles;
        }
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).insert((first.pc, end), waits.into());
    }

    /// The lines that a block needs.
    #[inline(always)]
    fn touched(&self, start: u32, end: u32) -> std::ops::RangeInclusive<u32> {
        start >> self.shift..=end.wrapping_sub(1) >> self.shift
    }

    /// Where the number of a line is stored while it is held.
    fn place(&self, line: u32) -> StatePointer<u32> {
        StatePointer::of(&self.lines[line as usize & (self.lines.len() - 1)])
    }

    fn reset(&mut self) {
        self.lines.fill(EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use isa_thumb::{Class, Step};
    use mcu::Flash;

    use super::Front;

    fn step(pc: u32, bytes: u8) -> Step {
        Step {
            class: Class::Alu,
            pc,
            bytes,
            writes: 0,
            address: 0,
            reads: 0,
            sets_flags: false,
            reads_flags: false,
            count: 0,
            literal: false,
            guarded: false,
            links: false,
            target: None,
        }
    }

    #[test]
    fn a_branch_waits_for_the_code_after_it_where_it_is_not_taken() {
        let flash = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, ..Flash::default() };
        // a wide instruction and a wide branch fill a line in two of the three cycles of the next line's access
        let falls = |at: u32, bytes: u8| {
            let branch = Step { class: Class::BranchCond, ..step(at + u32::from(bytes), 4) };
            let end = Step { class: Class::Pseudo, ..step(at + u32::from(bytes) + 4, 0) };
            let costs = Front::new(flash).costs(&[step(at, bytes), branch, end], |s, _| u32::from(s.bytes != 0), 1);
            assert_eq!(costs.each, [1, 1 + u32::from(costs.falls[1]), 0]);
            assert_eq!(costs.taken, [0, 1, 0]);
            costs.falls[1]
        };
        assert_eq!(falls(0x100, 4), 1);
        assert_eq!(falls(0x100, 2), 0); // the code after it is in its line
        assert_eq!(falls(0x102, 2), 0); // two cycles here, and one before
    }

    #[test]
    fn a_skipped_branch_waits_for_the_code_after_it() {
        let flash = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, ..Flash::default() };
        // an IT and a branch of two cycles, which takes one where it is skipped, and a wide instruction before or not
        let code = [Class::Alu, Class::It, Class::Branch];
        let steps = [(0x100, 4), (0x104, 2), (0x106, 2)].map(|(pc, bytes)| step(pc, bytes));
        let mut steps: Vec<Step> = steps.iter().zip(code).map(|(s, class)| Step { class, ..*s }).collect();
        steps[2].guarded = true;
        let each = |steps: &[Step]| Front::new(flash).costs(steps, |s, _| if s.guarded { 3 } else { 1 }, 1).each;
        assert_eq!(each(&steps), [1, 1, 3]); // three cycles, as many as the access takes
        steps.remove(0);
        assert_eq!(each(&steps), [1, 3]); // and two bytes before them
        (steps[0].bytes, steps[0].pc, steps[1].bytes, steps[1].pc) = (2, 0x100, 4, 0x104);
        assert_eq!(each(&steps), [2, 2]); // two cycles in all; where it is done, it does not wait
    }

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

    /// Cycles that a cache without any line makes `n` instructions of `bytes` each, which take `cycles`, wait in sequence.
    fn waits(queue_words: u32, n: u32, bytes: u8, cycles: u32) -> u32 {
        let mut front =
            Front::new(Flash { wait_states: 3, line_bytes: 16, cache_lines: 128, queue_words, ..Flash::default() });
        let steps: Vec<Step> = (0..n).map(|k| step(0x100 + u32::from(bytes) * k, bytes)).collect();
        front.costs(&steps, |_, _| cycles, 2);
        front.enter(0x100, 0x100 + n * u32::from(bytes))
    }

    #[test]
    fn a_core_that_fetches_ahead_hides_a_part_of_a_miss() {
        // five lines; nothing is executed while the first one comes
        assert_eq!(waits(0, 20, 4, 1), 5 * 3);
        // each word is an instruction of one cycle: two words ahead are there when they are needed, and no earlier
        assert_eq!(waits(2, 20, 4, 1), 5 * 3);
        // two cycles for a word: of four from asking for the line to having it, one is waited for
        assert_eq!(waits(2, 40, 2, 1), 3 + 4);
        assert_eq!(waits(2, 20, 4, 2), 3);
        assert_eq!(waits(3, 40, 2, 1), 3);
    }

    #[test]
    fn lines_that_are_held_cost_nothing_whatever_the_run() {
        let mut front =
            Front::new(Flash { wait_states: 3, line_bytes: 16, cache_lines: 128, queue_words: 2, ..Flash::default() });
        let steps: Vec<Step> = (0..20).map(|k| step(0x100 + 4 * k, 4)).collect();
        assert_eq!(front.costs(&steps, |_, _| 1, 2).each, [1; 20]);
        assert_eq!(front.enter(0x120, 0x140), 2 * 3); // not learnt
        assert_eq!(front.enter(0x100, 0x150), 3 + 3 + 3);
        assert_eq!(front.enter(0x100, 0x150), 0);
        assert_eq!(front.enter(0x900, 0x904), 3); // 2 KB on: the place of 0x100
        assert_eq!(front.enter(0x100, 0x150), 3);
    }
}
