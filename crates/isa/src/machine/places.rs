//! Ends runs at places that whoever looks on asks for, and says how the program came there.

use mcu::Stop;

use super::Machine;
use crate::block::{Core, Timing};

impl<C: Core, T: Timing<C>> Machine<C, T> {
    /// Runs like [`Machine::run`], and ends where the program comes to one of `places`, which it does not at its first
    /// step; returns whether it did. Inside a run, each part of it costs what it does in the run.
    pub fn run_until(&mut self, budget: u64, places: &[u32]) -> (Stop, bool) {
        (self.places, self.met, self.resumed) = (places.to_vec(), false, true);
        let stop = self.run(budget);
        self.places.clear();
        // a budget may end, or the program wait, just there
        let there = !matches!(stop, Stop::Fault(_)) && places.contains(&self.core.pc());
        (stop, std::mem::take(&mut self.met) || there)
    }

    /// Whether the program came to where it is by a jump inside a function, not by a call: only while a profile is taken.
    pub fn turned(&mut self) -> bool {
        let pc = self.core.pc();
        let end = self.profile.as_mut().and_then(|p| p.inside(pc));
        end.is_some_and(|end| !self.core.called_by(self.from, end))
    }
}
