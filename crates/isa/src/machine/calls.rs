//! Looks at the edges of measured calls: how they begin, what they keep, and where they go.

use mcu::{FaultKind, Site};

use super::Machine;
use crate::block::{Core, Timing};

impl<C: Core, T: Timing<C>> Machine<C, T> {
    /// Reports where the program went after a measured call's end; returns whether there was one.
    #[cold]
    pub(super) fn left_call(&mut self) -> bool {
        if !self.core.memory().watch.leaving() {
            return false;
        }
        let (pc, sp, cycles) = (self.core.pc(), self.core.stack_pointer(), self.cycles);
        if self.core.memory_mut().left(pc, sp, cycles) && !self.core.call_ends() {
            self.core.memory_mut().left_harness(pc, cycles);
        }
        true
    }

    /// Tells the core that a measured call begins, where the memory asks for it; returns whether one does.
    #[cold]
    pub(super) fn call_begins(&mut self) -> bool {
        let begins = std::mem::take(&mut self.core.memory_mut().watch.begins);
        if begins {
            self.core.call_begins();
        }
        begins
    }

    /// Notes what a measured call's function has to keep, where the program comes to it; returns whether it is on its
    /// way.
    #[cold]
    pub(super) fn call_enters(&mut self) -> bool {
        let on_the_way = self.core.memory().watch.entering;
        if on_the_way && !self.core.memory().watch.in_run(self.core.pc()) {
            (self.before, self.back) = (self.core.kept(), self.core.returns_to());
            self.core.memory_mut().watch.entering = false;
        }
        on_the_way
    }

    /// Compares the registers that a measured call's function has to keep, where the program comes back from it; returns
    /// whether one has changed, or it does not come back to where the call was.
    pub(super) fn came_back(&mut self, pc: u32) -> bool {
        if !self.core.memory().watch.in_run(pc) {
            return false;
        }
        if pc != self.back {
            self.core.memory_mut().left_harness(pc, self.cycles);
            return true;
        }
        let (before, now) = (std::mem::take(&mut self.before), self.core.kept());
        let Some(&(register, _)) = before.iter().zip(&now).find(|(b, n)| b != n).map(|(b, _)| b) else { return false };
        let m = self.core.memory_mut();
        (m.block_start, m.stall) = (self.cycles, 0);
        m.fault(FaultKind::Convention { register }, Site { pc, cycles: 0 });
        true
    }
}
