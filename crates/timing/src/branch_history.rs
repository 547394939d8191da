//! A branch predictor with a history: two-bit counters, one for the end of each block.
//! It uses block boundaries only, and no semantics of instructions. A block that ends with a jump, a call or a return
//! is followed by a discontinuity each time, so such ends are predicted once they have been seen; return addresses are
//! assumed to be predicted too (a return stack of unlimited depth).

use isa::native::{Edge, StatePointer};

/// Counters: one for each end of a block in 128 KiB of code, so that no other code moves a package's predictions.
const ENTRIES: usize = 1 << 16;

/// Counters of taken branches, from 0 (surely not) to 3 (surely); a wrong prediction costs `MISS` cycles.
#[derive(Clone, Debug)]
pub(crate) struct BranchHistory<const MISS: u32> {
    counters: Box<[u8; ENTRIES]>,
    last_end: u32,
}

impl<const MISS: u32> BranchHistory<MISS> {
    pub(crate) fn new() -> Self {
        Self { counters: Box::new([1; ENTRIES]), last_end: 0 }
    }

    /// Extra cycles of the transition from the last block to `start..end`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, start: u32, end: u32) -> u32 {
        let last = std::mem::replace(&mut self.last_end, end);
        let counter = &mut self.counters[(last >> 1) as usize % ENTRIES];
        let (taken, predicted) = (start != last, *counter >= 2);
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
        if taken != predicted { MISS } else { 0 }
    }

    /// Like [`BranchHistory::enter`], for code that is generated in advance.
    pub(crate) fn edge(&mut self, last: u32, start: u32, _end: u32) -> Edge {
        let at = StatePointer::of(&self.counters[(last >> 1) as usize % ENTRIES]);
        Edge::Counter { at, taken: start != last, missed: MISS }
    }

    /// Where the last block ended.
    pub(crate) fn last_end(&mut self) -> Option<&mut u32> {
        Some(&mut self.last_end)
    }

    /// The counters.
    pub(crate) fn history(&mut self) -> &mut [u8] {
        &mut self.counters[..]
    }

    pub(crate) fn reset(&mut self) {
        self.counters.fill(1);
        self.last_end = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::BranchHistory;

    #[test]
    fn a_loop_is_learnt_and_missed_at_its_end() {
        let mut history = BranchHistory::<3>::new();
        history.enter(0x100, 0x110);
        let ways: Vec<_> = (0..4).map(|_| history.enter(0x100, 0x110)).collect();
        assert_eq!(ways, [3, 0, 0, 0]);
        assert_eq!(history.enter(0x110, 0x120), 3);
        history.enter(0x100, 0x110);
        assert_eq!(history.enter(0x100, 0x110), 0);
    }
}
