//! Cortex-M7 cycle model: two instructions for each cycle, in order. Not validated.
//!
//! DDI 0489 (Cortex-M7 TRM) gives no instruction timings. It says: six stages, dual issue, one multiplier,
//! two 32-bit data TCM ports, a branch target address cache, an instruction TCM port of 64 bits. Everything else here
//! is *assumed*, from public descriptions of the core:
//! - two neighbours issue together unless the second needs a result or flags of the first (a branch with
//!   a condition may need the flags), both write one register, both multiply, or both access memory; two
//!   loads of single words may (one for each TCM port, without conflicts of banks);
//! - LDM, STM, LDRD, STRD, division, MRS, MSR, barriers, exclusive access and IT issue alone; several words
//!   go two for each cycle;
//! - a loaded value and a product are there two cycles after issue, any other result after one; an address
//!   needs its registers one cycle earlier;
//! - the target cache has [`BTAC`] entries with two-bit counters, by the end of the branch; a correctly predicted
//!   branch costs only its issue slot, any other [`MISPREDICTED`] cycles;
//! - UDIV and SDIV take 3 cycles and one more for each two bits that the quotient can have.
//!
//! Fetch from flash through the ART accelerator of the STM32F7 (RM0385, 3.3.2): [`Flash::cache_lines`] lines,
//! the least recently used one is replaced; a line that is not held costs the wait states, minus [`PREFETCHED`] in
//! sequence with prefetch.

use isa::native::{Edge, StatePointer};
use isa::{Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};
use mcu::Flash;

/// Entries of the branch target address cache.
pub const BTAC: usize = 64;
/// Cycles of a mispredicted branch.
pub const MISPREDICTED: u32 = 6;
/// Wait states that prefetch hides in sequence: 32 bytes keep the core busy for four cycles or more.
pub const PREFETCHED: u32 = 4;

/// A Cortex-M7 with its flash.
#[derive(Clone, Debug)]
pub struct CortexM7 {
    branches: Box<[Branch; BTAC]>,
    art: Option<Art>,
    last_end: u32,
}

/// An entry of the branch target address cache.
#[derive(Clone, Copy, Debug, Default)]
struct Branch {
    /// Address after the branch.
    at: u32,
    to: u32,
    /// 2 and 3 predict that it is taken.
    counter: u32,
}

impl CortexM7 {
    /// A core on `flash`, whose lines are a power of two; without wait states it is the core alone.
    pub fn new(flash: Flash) -> Self {
        let waits = flash.line_bytes != 0 && flash.wait_states != 0;
        Self { branches: Box::new([Branch::default(); BTAC]), art: waits.then(|| Art::new(flash)), last_end: 0 }
    }

    /// Costs that depend on operand values.
    pub fn events() -> Events {
        Events { div, mul_long: None, unaligned: |_, _| 1, ..Events::default() }
    }

    /// Cycles lost because the block at `start` follows the one that ended at `last`.
    #[inline(always)]
    fn predict(&mut self, last: u32, start: u32) -> u32 {
        let b = &mut self.branches[last as usize / 2 % BTAC];
        let known = b.at == last;
        let taken = start != last;
        let expected = if known && b.counter > 1 { b.to } else { last };
        if taken {
            b.counter = if known { (b.counter + 1).min(3) } else { 2 };
            (b.at, b.to) = (last, start);
        } else if known {
            b.counter = b.counter.saturating_sub(1);
        }
        if expected == start { 0 } else { MISPREDICTED }
    }

    /// When [`CortexM7::predict`] is right and learns nothing more.
    fn settled(&self, last: u32, start: u32) -> Vec<(StatePointer<u32>, u32, bool)> {
        let b = &self.branches[last as usize / 2 % BTAC];
        let (at, to, counter) = (StatePointer::of(&b.at), StatePointer::of(&b.to), StatePointer::of(&b.counter));
        if start != last {
            vec![(at, last, true), (to, start, true), (counter, 3, true)]
        } else if b.at == last {
            vec![(at, last, true), (counter, 0, true)]
        } else {
            vec![(at, last, false)] // was never taken
        }
    }
}

impl Timing<Thumb> for CortexM7 {
    fn id(&self) -> &'static str {
        "cortex-m7/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        Costs { each: issue(steps), taken: vec![0; steps.len()], skipped: 1, ..Costs::default() }
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32) -> u32 {
        let (waits, lost) = self.enter_by_cause(start, end);
        waits + lost
    }

    #[inline(always)]
    fn enter_by_cause(&mut self, start: u32, end: u32) -> (u32, u32) {
        let last = std::mem::replace(&mut self.last_end, end);
        let lost = self.predict(last, start);
        (self.art.as_mut().map_or(0, |a| a.enter(start, end, start != last)), lost)
    }

    fn edge(&mut self, last: u32, start: u32, end: u32) -> Edge {
        let words = self.settled(last, start);
        let Some(art) = &mut self.art else { return Edge::Held { words, stamps: None } };
        let lines = start >> art.shift..=end.wrapping_sub(1) >> art.shift;
        let stamps: Option<Vec<_>> = lines.map(|line| art.stamp(line).map(|s| StatePointer::of(s))).collect();
        stamps.map_or(Edge::Ask, |s| Edge::Held { words, stamps: Some((StatePointer::of(&*art.now), s)) })
    }

    fn last_end(&mut self) -> Option<&mut u32> {
        Some(&mut self.last_end)
    }

    fn reset(&mut self) {
        self.branches.fill(Branch::default());
        self.last_end = 0;
        if let Some(art) = &mut self.art {
            art.reset();
        }
    }
}

/// Cycles that each step adds: 0 for the second of a pair.
fn issue(steps: &[Step]) -> Vec<u32> {
    let mut ready = [0u32; 16];
    let mut each = Vec::with_capacity(steps.len());
    // the cycle after the last issue, and the instruction whose neighbour may still go with it
    let (mut next, mut first): (u32, Option<&Step>) = (1, None);
    for s in steps {
        if matches!(s.class, Class::Pseudo | Class::Stop) {
            each.push(0);
            continue;
        }
        let begin = next;
        let needs = |registers: u16, early: u32| {
            (0..16).filter(|n| registers >> n & 1 == 1).map(|n| ready[n] + early).max().unwrap_or(0)
        };
        let earliest = needs(s.reads, 0).max(needs(s.address, 1));
        let at = match first {
            Some(f) if earliest < next && pairs(f, s) => next - 1,
            _ => next.max(earliest),
        };
        let paired = at < next;
        next = next.max(at + cycles(s));
        for n in (0..16).filter(|n| s.writes >> n & 1 == 1) {
            let loaded = s.address >> n & 1 == 0 && loads(s);
            ready[n] = (next - 1) + if loaded || multiplies(s) { 2 } else { 1 };
        }
        first = (!paired && !alone(s)).then_some(s);
        each.push(next - begin);
    }
    each
}

/// Cycles for which an instruction occupies its issue slot.
fn cycles(s: &Step) -> u32 {
    match s.class {
        Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => u32::from(s.count).div_ceil(2).max(1),
        Class::Div | Class::TableBranch => 3,
        Class::LoadExclusive | Class::StoreExclusive | Class::System | Class::LoadPc => 2,
        _ => 1,
    }
}

fn loads(s: &Step) -> bool {
    matches!(s.class, Class::Load | Class::LoadExclusive | Class::LoadMultiple | Class::LoadMultiplePc)
}

fn multiplies(s: &Step) -> bool {
    matches!(s.class, Class::Mul | Class::MulAdd | Class::MulLong | Class::MulLongAdd)
}

/// Whether it issues alone.
fn alone(s: &Step) -> bool {
    use Class::{Alu, Branch, BranchCond, Load, Mul, MulAdd, MulLong, MulLongAdd, Store};
    !matches!(s.class, Alu | Mul | MulAdd | MulLong | MulLongAdd | Load | Store | Branch | BranchCond)
}

/// Whether `b` can issue in the same cycle as `a`, which comes before it.
fn pairs(a: &Step, b: &Step) -> bool {
    let memory = |s: &Step| s.address != 0 || s.literal || loads(s);
    let depends = a.writes & (b.reads | b.address | b.writes) != 0;
    let flags = a.sets_flags && (b.reads_flags && b.class != Class::BranchCond);
    let both =
        multiplies(a) && multiplies(b) || memory(a) && memory(b) && !(a.class == Class::Load && b.class == a.class);
    !(alone(a) || alone(b) || depends || flags || both)
}

fn div(x: u32, y: u32, signed: bool) -> u32 {
    let (x, y) = if signed { ((x as i32).unsigned_abs(), (y as i32).unsigned_abs()) } else { (x, y) };
    if y == 0 { 0 } else { (y.leading_zeros() + 1).saturating_sub(x.leading_zeros()).div_ceil(2) }
}

/// The ART accelerator.
#[derive(Clone, Debug)]
struct Art {
    /// Lines held.
    lines: Vec<u32>,
    /// When each line, by its number from [`Art::base`] on, was last used; 0 for those not held.
    stamps: Vec<u64>,
    base: u32,
    room: usize,
    shift: u32,
    wait_states: u32,
    in_sequence: u32,
    now: Box<u64>,
}

/// Lines that can be tracked: 32 MB, more than any flash.
const STAMPS: usize = 1 << 20;

impl Art {
    fn new(flash: Flash) -> Self {
        let hidden = if flash.prefetch_lines == 0 { 0 } else { PREFETCHED };
        Self {
            lines: Vec::new(),
            stamps: Vec::new(),
            base: 0,
            room: flash.cache_lines.clamp(1, 254) as usize,
            shift: flash.line_bytes.ilog2(),
            wait_states: flash.wait_states,
            in_sequence: flash.wait_states.saturating_sub(hidden),
            now: Box::new(0),
        }
    }

    /// When a line was last used; none far outside flash.
    fn stamp(&mut self, line: u32) -> Option<&mut u64> {
        self.stamps.get_mut(line.wrapping_sub(self.base) as usize)
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32, jumped: bool) -> u32 {
        let (first, last) = (start >> self.shift, end.wrapping_sub(1) >> self.shift);
        let mut stall = 0;
        for line in first..=last {
            *self.now += 1;
            let now = *self.now;
            match self.stamp(line) {
                Some(stamp) if *stamp != 0 => *stamp = now,
                _ => {
                    self.fetch(line);
                    stall += if jumped && line == first { self.wait_states } else { self.in_sequence };
                }
            }
        }
        stall
    }

    #[inline(never)]
    fn fetch(&mut self, line: u32) {
        if self.stamps.is_empty() {
            self.base = line & !0xFFFF; // flash of up to 2 MB begins at a multiple of it
            self.stamps = vec![0; STAMPS]; // the system gives memory for what is used
        }
        let now = *self.now;
        let Some(stamp) = self.stamp(line) else { return }; // the run ends there
        *stamp = now;
        if self.lines.len() < self.room {
            return self.lines.push(line);
        }
        let used = |k: &usize| self.stamps[self.lines[*k].wrapping_sub(self.base) as usize];
        let oldest = (0..self.lines.len()).min_by_key(used).unwrap_or(0);
        let gone = std::mem::replace(&mut self.lines[oldest], line);
        if let Some(stamp) = self.stamp(gone) {
            *stamp = 0;
        }
    }

    fn reset(&mut self) {
        for line in std::mem::take(&mut self.lines) {
            if let Some(stamp) = self.stamp(line) {
                *stamp = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use isa::{Core as _, Machine};
    use isa_thumb::{Features, Thumb};
    use mcu::{Chip, Flash, Memory};

    use super::{Art, CortexM7, MISPREDICTED, div, issue};

    fn core(code: &[u16]) -> Thumb {
        let chip = Chip::of_memories((0x0020_0000, 0x400), (0x2000_0000, 0x1000));
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        memory.flash[..8].copy_from_slice(&[0, 0x10, 0, 0x20, 9, 0, 0x20, 0]);
        for (k, half) in code.iter().enumerate() {
            memory.flash[8 + 2 * k..10 + 2 * k].copy_from_slice(&half.to_le_bytes());
        }
        Thumb::with_features(memory, Features::CORTEX_M4)
    }

    fn cycles(code: &[u16]) -> u32 {
        let code: Vec<u16> = code.iter().copied().chain([0xBE00]).collect();
        issue(&core(&code).decode(0x0020_0008, 128).steps).iter().sum()
    }

    #[test]
    fn neighbours_issue_together_unless_they_depend() {
        assert_eq!(cycles(&[0x1840, 0x189B]), 1); // adds r0; adds r3
        assert_eq!(cycles(&[0x1840, 0x1843]), 2); // adds r0; adds r3, r0, r1
        assert_eq!(cycles(&[0x1840, 0x189B, 0x1840, 0x189B]), 2);
        assert_eq!(cycles(&[0x6808, 0x6853]), 1); // two loads
        assert_eq!(cycles(&[0x6808, 0x604B]), 2); // a load and a store
        assert_eq!(cycles(&[0x6808, 0x1843]), 3); // a load and its use
        assert_eq!(cycles(&[0x3104, 0x6808]), 3); // adds r1; ldr r0, [r1]
        assert_eq!(cycles(&[0xFBA0, 0x1202, 0xFBA3, 0x4503]), 2); // two multiplications
        assert_eq!(cycles(&[0xB4F0]), 2); // push of four
    }

    #[test]
    fn a_loop_of_two_instructions_takes_a_cycle_each_time() {
        // movs r0, #100; subs r0, #1; bne .-2; bkpt
        let mut machine = Machine::new(core(&[0x2064, 0x3801, 0xD1FD, 0xBE00]), CortexM7::new(Flash::default()));
        machine.run(1000);
        // into the program, out of the first and the last round
        assert_eq!(machine.cycles, 2 + 99 + 3 * u64::from(MISPREDICTED));
    }

    #[test]
    fn the_oldest_line_goes_first() {
        let flash = Flash { wait_states: 7, line_bytes: 32, cache_lines: 2, prefetch_lines: 1, ..Flash::default() };
        let mut art = Art::new(flash);
        let base = 0x0020_0000;
        assert_eq!(art.enter(base, base + 64, true), 7 + 3);
        assert_eq!(art.enter(base, base + 4, true), 0);
        assert_eq!(art.enter(base + 64, base + 68, true), 7);
        assert_eq!(art.enter(base, base + 4, true), 0);
        assert_eq!(art.enter(base + 32, base + 36, true), 7);
    }

    #[test]
    fn division_takes_at_most_19_cycles() {
        assert_eq!((div(0, 1, false), div(u32::MAX, 1, false), div(7, 0, false)), (0, 16, 0));
    }
}
