//! Whether a program only turns round, or waits for what does not come.

use std::collections::BTreeSet;

use mcu::{Register, Stop, Unmodelled};

use super::running::Run;

/// Blocks within which a program that turns round comes back to where it was.
const ROUND: usize = 64;
/// How often a program may look in vain for a byte before it is said to wait for one.
pub(super) const PATIENCE: u32 = 1000;

impl Run<'_> {
    /// Whether the program comes back to where it is with registers, memory and peripherals as they are, and sent nothing:
    /// without input it will do so for ever, because there are no interrupts. A counter that it read could end it.
    pub(super) fn turns(&mut self, places: &[u32]) -> Turns {
        let before = self.state();
        for _ in 0..ROUND {
            let (stop, met) = self.sim.run_until(1, places);
            if met {
                return Turns::Met;
            }
            if stop != Stop::Budget {
                return Turns::Not;
            }
            if self.sim.registers() == before.registers {
                if self.state() != before {
                    return Turns::Not;
                }
                self.look_on(&before, places);
                return Turns::Round;
            }
        }
        Turns::Not
    }

    /// Whether a program that came to a place on its way was there before with all as it is; [`Turns::Met`] where it may
    /// come there again.
    pub(super) fn recurs(&mut self) -> Turns {
        let (before, times) = self.met.take().unwrap_or_else(|| (self.state(), 0));
        if times > 0 && self.sim.registers() == before.registers {
            if self.state() != before {
                return Turns::Not;
            }
            self.look_on(&before, &[]);
            return Turns::Round;
        }
        if times > ROUND {
            return Turns::Not;
        }
        self.met = Some((before, times + 1));
        Turns::Met
    }

    /// Goes round once more, and notes what is read on the way.
    fn look_on(&mut self, before: &State, places: &[u32]) {
        self.sim.memory_mut().reads = Some(BTreeSet::new());
        for _ in 0..ROUND {
            self.sim.run_until(1, places);
            if self.sim.registers() == before.registers {
                break;
            }
        }
        self.round = self.sim.memory_mut().reads.take().unwrap_or_default();
    }

    /// Whether the program, which looked in vain for a byte again, did so before with all this as it is: a counter
    /// would end its patience.
    pub(super) fn waits(&mut self) -> bool {
        if self.vain <= PATIENCE {
            return false;
        }
        match &self.waiting {
            Some(before) if before.registers == self.sim.registers() => {
                let same = *before == self.state();
                let reads = self.sim.memory_mut().reads.take();
                if same {
                    self.round = reads.unwrap_or_default();
                    return true;
                }
                (self.waiting, self.vain) = (None, 0);
            }
            Some(_) if self.vain > PATIENCE + ROUND as u32 => (self.waiting, self.vain) = (None, 0),
            Some(_) => {}
            None => {
                self.waiting = Some(self.state());
                self.sim.memory_mut().reads = Some(BTreeSet::new());
            }
        }
        false
    }

    fn state(&self) -> State {
        let memory = self.sim.memory();
        let kept = memory.unmodelled.as_ref().map(Unmodelled::kept).unwrap_or_default();
        State {
            registers: self.sim.registers(),
            hidden: self.sim.hidden(),
            ram: memory.ram.to_vec(),
            peripherals: memory.peripherals(),
            kept,
            input: memory.host.to_chip.len(),
            sent: memory.host.from_chip.len(),
            clocked: memory.host.clocked,
        }
    }
}

/// What the next instructions depend on, how much is to be read and was sent, and how often a counter was read that goes on.
#[derive(PartialEq)]
pub(super) struct State {
    registers: Vec<(&'static str, u32)>,
    hidden: Vec<u32>,
    ram: Vec<u8>,
    peripherals: String,
    kept: Vec<(Register, u64)>,
    input: usize,
    sent: usize,
    clocked: u64,
}

/// Whether a program only turns round.
pub(super) enum Turns {
    Round,
    Met,
    Not,
}
