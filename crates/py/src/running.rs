//! Runs a simulator in slices, between which Python is asked whether to go on.

use std::collections::HashMap;
use std::time::Instant;

use mcu::Stop;
use pyo3::prelude::*;

use crate::Simulator;

/// Most cycles of a slice: about a millisecond of a usual program.
pub(crate) const SLICE: u64 = 1 << 20;
/// The same of one that is taken to pieces, whose cycles may take 10 us each.
pub(crate) const SLICE_IN_PIECES: u64 = 1 << 14;
/// Fewest: however slow a program is.
const SHORTEST: u64 = 1 << 10;
/// Seconds between two looks at whether to go on.
const LOOK: f64 = 0.25;
/// Single steps between two looks at the time.
const STEPS: u64 = 1 << 10;
/// Cycles that the harness may take outside of measured calls before it takes a byte or begins a call, where the limit
/// of a call is smaller: several times what it takes for the largest buffers.
const OUTSIDE: u64 = 1 << 28;
/// How often a stepped call may take the cycles that one in blocks may: instructions alone issue with no other, and
/// lose what was fetched ahead.
const STEPPED: u64 = 16;

/// Asks Python now and then whether to go on.
struct Looks<'a> {
    ask: Option<&'a Py<PyAny>>,
    last: Instant,
}

impl<'a> Looks<'a> {
    fn new(ask: Option<&'a Py<PyAny>>) -> Self {
        Self { ask, last: Instant::now() }
    }

    /// Asks where it is time; `cycles` are those that passed. Returns the seconds since it was asked last.
    fn ask(&mut self, cycles: u64) -> PyResult<f64> {
        let passed = self.last.elapsed().as_secs_f64();
        if passed >= LOOK {
            Python::attach(|py| {
                py.check_signals()?;
                self.ask.map_or(Ok(()), |ask| ask.call1(py, (cycles,)).map(|_| ()))
            })?;
            self.last = Instant::now();
        }
        Ok(passed)
    }
}

/// When a program has run for too long: one rule, however it is run.
struct Limit {
    budget: u64,
    since: u64,
    progress: (usize, usize, bool),
}

impl Limit {
    fn new(budget: u64, chip: &dyn sim::Simulator) -> Self {
        let m = chip.memory();
        Self { budget, since: chip.cycles(), progress: (m.calls.len(), m.host.to_chip.len(), m.in_call()) }
    }

    /// Cycles that are left: none after a measured call that took more than the budget. Outside of calls they are
    /// counted from the last time that the firmware made progress.
    fn left(&mut self, chip: &dyn sim::Simulator) -> u64 {
        let (m, now) = (chip.memory(), chip.cycles());
        let progress = (m.calls.len(), m.host.to_chip.len(), m.in_call());
        if progress != self.progress {
            if m.calls[self.progress.0..].iter().any(|c| c.fall - c.rise > self.budget) {
                return 0;
            }
            (self.since, self.progress) = (now, progress);
        }
        match m.rose() {
            Some(rise) => (rise + 1).saturating_add(self.budget).saturating_sub(now),
            None => self.since.saturating_add(self.budget.max(OUTSIDE)).saturating_sub(now),
        }
    }
}

impl Simulator {
    /// Runs until the firmware waits or fails, or until a measured call has taken more than `budget` cycles; see
    /// [`Limit`].
    pub(crate) fn advance(&mut self, budget: u64, ask: Option<&Py<PyAny>>) -> PyResult<Stop> {
        let mut looks = Looks::new(ask);
        let began = self.inner.cycles();
        let mut limit = Limit::new(budget, &*self.inner);
        loop {
            let left = limit.left(&*self.inner);
            if left == 0 {
                return Ok(Stop::Budget);
            }
            let start = looks.last.elapsed().as_secs_f64();
            let stop = self.inner.run(left.min(self.slice).min(self.longest_slice));
            let took = looks.ask(self.inner.cycles() - began)? - start;
            let next = if took > LOOK { self.slice / 8 } else { self.slice * 2 };
            self.slice = next.max(SHORTEST).min(self.longest_slice);
            if stop != Stop::Budget && limit.left(&*self.inner) > 0 {
                return Ok(stop);
            }
        }
    }

    /// Executes instructions one by one until the firmware waits or fails, or until a measured call has taken far more
    /// than `budget` cycles. Returns why it stopped, how often each instruction of a measured call was executed, and
    /// how many branches were taken.
    pub(crate) fn count(&mut self, budget: u64, ask: Option<&Py<PyAny>>) -> PyResult<(Stop, HashMap<u32, u64>, u64)> {
        let mut looks = Looks::new(ask);
        let began = self.inner.cycles();
        let mut at: HashMap<u32, u64> = HashMap::new();
        let (mut taken, mut branches) = (0, HashMap::new());
        let mut limit = Limit::new(budget.saturating_mul(STEPPED), &*self.inner);
        for n in 0u64.. {
            if limit.left(&*self.inner) == 0 {
                return Ok((Stop::Budget, at, taken));
            }
            if n % STEPS == 0 {
                looks.ask(self.inner.cycles() - began)?;
            }
            let pc = self.pc();
            let inside = self.inner.memory().in_call();
            let stop = self.inner.step();
            if inside && self.inner.memory().in_call() {
                *at.entry(pc).or_default() += 1;
                let after = *branches.entry(pc).or_insert_with(|| self.inner.after_branch(pc));
                taken += u64::from(after.is_some_and(|after| after != self.pc()));
            }
            if stop != Stop::Budget {
                return Ok((stop, at, taken));
            }
        }
        unreachable!("a limit ends")
    }
}
