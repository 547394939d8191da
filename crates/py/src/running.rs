//! Runs a simulator in slices, between which Python is asked whether to go on.

use std::collections::HashMap;
use std::time::Instant;

use mcu::Stop;
use pyo3::prelude::*;

use crate::{Simulator, SimulatorFault};

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

impl Simulator {
    /// Runs until the firmware waits or fails, or `budget` cycles have passed since a measured call ended or the firmware
    /// took a byte.
    pub(crate) fn advance(&mut self, budget: u64, ask: Option<&Py<PyAny>>) -> PyResult<Stop> {
        let mut looks = Looks::new(ask);
        let began = self.inner.cycles();
        let progress = |s: &Self| (s.inner.memory().calls.len(), s.inner.memory().host.to_chip.len());
        let (mut since, mut before) = (began, progress(self));
        loop {
            let start = looks.last.elapsed().as_secs_f64();
            let left = budget.saturating_sub(self.inner.cycles() - since);
            let stop = self.inner.run(left.min(self.slice).min(self.longest_slice));
            let cycles = self.inner.cycles();
            let took = looks.ask(cycles - began)? - start;
            let next = if took > LOOK { self.slice / 8 } else { self.slice * 2 };
            self.slice = next.max(SHORTEST).min(self.longest_slice);
            let now = progress(self);
            if now != before {
                (since, before) = (cycles, now);
            }
            if stop != Stop::Budget || cycles - since >= budget {
                return Ok(stop);
            }
        }
    }

    /// Executes at most `limit` instructions; returns how often each of a measured call was, and how many branches were
    /// taken.
    pub(crate) fn count(&mut self, limit: u64, ask: Option<&Py<PyAny>>) -> PyResult<(HashMap<u32, u64>, u64)> {
        let mut looks = Looks::new(ask);
        let began = self.inner.cycles();
        let mut at: HashMap<u32, u64> = HashMap::new();
        let mut taken = 0;
        for n in 0..limit {
            if n % STEPS == 0 {
                looks.ask(self.inner.cycles() - began)?;
            }
            let pc = self.pc();
            let inside = self.inner.memory().in_call();
            let stop = self.inner.step();
            if inside && self.inner.memory().in_call() {
                *at.entry(pc).or_default() += 1;
                let behind = self.pc().wrapping_sub(pc);
                taken += u64::from(behind == 0 || behind > 4);
            }
            match stop {
                Stop::Budget => {}
                Stop::Idle => break,
                Stop::Fault(f) => return Err(SimulatorFault::new_err((f.kind.name(), format!("{f}")))),
            }
        }
        Ok((at, taken))
    }
}
