//! Runs program after program until enough instructions have been compared.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::{Ground, Met, Oracle, Outcome, compare};

/// The result of a campaign.
#[derive(Debug, Default)]
pub struct Summary {
    /// Random instructions that were executed and agree.
    pub instructions: u64,
    /// Those among them that ran as native code too.
    pub native: u64,
    /// Programs that they were in.
    pub programs: u64,
    /// Definitions of the table that were executed.
    pub met: Met,
    /// The oracles' names.
    pub oracles: Vec<String>,
    /// Why other oracles are missing.
    pub missing: Vec<String>,
    /// The first difference, or what went wrong.
    pub failure: Option<String>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, programs, oracles) = (self.instructions, self.programs, self.oracles.join(" and "));
        write!(f, "{n} instructions in {programs} programs agree with {oracles}")?;
        if self.native > 0 { write!(f, ", {} of them as native code too", self.native) } else { Ok(()) }
    }
}

/// One program out of this number is translated too, which takes longer than everything else.
const NATIVE: u64 = 4;

/// Compares programs with the seeds from `seed` on until `instructions` have been executed, `jobs` programs at
/// a time. Without an oracle there is nothing to do.
pub fn campaign(ground: &dyn Ground, instructions: u64, seed: u64, jobs: usize) -> Summary {
    let shared = Mutex::new(Summary::default());
    std::thread::scope(|scope| {
        (0..jobs).for_each(|_| drop(scope.spawn(|| work(ground, instructions, seed, &shared))));
    });
    shared.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn work(ground: &dyn Ground, instructions: u64, seed: u64, shared: &Mutex<Summary>) {
    let (started, missing): (Vec<_>, Vec<_>) = ground.oracles().into_iter().partition(Result::is_ok);
    let mut oracles: Vec<Box<dyn Oracle>> = started.into_iter().flatten().collect();
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut s = lock();
        s.oracles = oracles.iter().map(|o| o.name()).collect();
        s.missing = missing.into_iter().filter_map(Result::err).collect();
    }
    if oracles.is_empty() {
        return;
    }
    let lowered = ground.rows().iter().any(|r| r.by_handler.is_none());
    loop {
        let (seed, native) = {
            let mut s = lock();
            if s.instructions >= instructions || s.failure.is_some() {
                return;
            }
            s.programs += 1;
            let native = lowered && s.programs % NATIVE == 1;
            (seed + s.programs - 1, native)
        };
        let mut met = Met::default();
        let outcome = compare(ground, &mut oracles, seed, native, &mut met);
        let mut s = lock();
        s.met.executed.append(&mut met.executed);
        s.met.native.append(&mut met.native);
        match outcome {
            Ok(Outcome::Same { instructions }) => {
                s.instructions += instructions;
                s.native += if native { instructions } else { 0 };
            }
            Ok(Outcome::Different(report)) => s.failure = Some(report),
            Err(e) => s.failure = Some(format!("{}, seed {seed}: {e}", ground.name())),
        }
    }
}
