//! Where the slots of a core are: in memory, in host registers, or not computed yet.

use std::rc::Rc;

use cranelift_codegen::ir::{self, InstBuilder, Value};
use isa::Timing;
use isa::native::{ByHandler, Emit, Lower};

use super::{Emitter, int, offset};
use crate::FLAGS;
use crate::survey::Survey;

/// In a core with slots in memory between blocks, a slot is written back on the way once so many exits that
/// are seldom taken have written it back.
const OFTEN: u8 = 2;

/// Most slots that a loop keeps in host registers.
const MOST_INSIDE: u32 = 8;

/// Makes a value where it is wanted.
type Make<'a, C, T> = Rc<dyn Fn(&mut Emitter<'a, C, T>) -> Value>;

/// Where the value of a slot is, in a core with slots in memory between blocks.
pub(super) enum Held<'a, C, T> {
    Memory,
    Value(Value),
    Later(Make<'a, C, T>),
}

impl<C, T> Clone for Held<'_, C, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Memory => Self::Memory,
            &Self::Value(value) => Self::Value(value),
            Self::Later(make) => Self::Later(make.clone()),
        }
    }
}

impl<C, T> PartialEq for Held<'_, C, T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory, Self::Memory) => true,
            (Self::Value(a), Self::Value(b)) => a == b,
            (Self::Later(a), Self::Later(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Where slots are at some place in the code.
pub(super) struct Now<'a, C, T> {
    /// Slots whose value is newer than the memory's.
    pub(super) dirty: u64,
    /// Empty where variables have the values.
    pub(super) held: Vec<Held<'a, C, T>>,
    /// How many exits that are seldom taken wrote the value back.
    pub(super) exits: [u8; 64],
}

impl<C, T> Clone for Now<'_, C, T> {
    fn clone(&self) -> Self {
        Self { held: self.held.clone(), ..*self }
    }
}

/// A block that goes to its own start with slots in host registers.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) block: ir::Block,
    /// The last instruction that goes there.
    pub(super) last: usize,
    /// What the parameters of `block` are.
    pub(super) slots: u64,
}

impl<'a, C: Lower, T: Timing<C>> Emitter<'a, C, T> {
    /// Begins the inside of a loop if the current block is one.
    pub(super) fn enter_loop(&mut self) -> Option<Loop> {
        let (last, slots) = self.plan.survey.loops(self.plan.start).filter(|_| self.layout.by_block)?;
        if slots.count_ones() > MOST_INSIDE {
            return None;
        }
        let block = self.block(false);
        let values = self.values(slots);
        self.b.ins().jump(block, &values);
        self.b.switch_to_block(block);
        for n in (0..64).filter(|n| slots >> n & 1 == 1) {
            let value = self.b.append_block_param(block, int(self.layout.slots[n].bits));
            self.set(n, value);
        }
        Some(Loop { block, last, slots })
    }

    /// Values of slots, as arguments.
    pub(super) fn values(&mut self, slots: u64) -> Vec<ir::BlockArg> {
        (0..64).filter(|n| slots >> n & 1 == 1).map(|n| self.get(n).into()).collect()
    }

    /// Where slots are when a block begins.
    pub(super) fn fresh(&self) -> Now<'a, C, T> {
        if self.layout.by_block {
            Now { dirty: 0, held: vec![Held::Memory; self.layout.slots.len()], exits: [0; 64] }
        } else {
            Now { dirty: self.plan.dirty, held: Vec::new(), exits: [0; 64] }
        }
    }

    /// Writes slots back.
    pub(super) fn flush(&mut self, slots: u64) {
        for n in 0..self.layout.slots.len() {
            if (slots & self.now.dirty) >> n & 1 == 1 {
                let value = self.get(n);
                self.b.ins().store(FLAGS, value, self.core_at, offset(self.layout.slots[n].offset));
            }
        }
        if self.layout.by_block {
            self.now.dirty &= !slots;
        }
    }

    /// Slots that can be read after a way to an address before they are written.
    pub(super) fn live(&self, to: u32) -> u64 {
        if let Some(&k) = self.region.by_start.get(&to) {
            return !self.region.plans[k].survey.kills;
        }
        let Some(block) = self.region.block(to) else { return u64::MAX };
        let mut survey = Survey::default();
        self.core.lower(to, &block.insns, self.region.max_run, &mut survey);
        !survey.kills
    }

    /// Before an exit that is seldom taken: writes back what others wrote back before.
    pub(super) fn settle(&mut self, by: Option<ByHandler>) {
        if self.inside.is_some_and(|inside| self.at <= inside.last) {
            return; // a loop does not write back
        }
        if by.is_some_and(|by| by.at + 1 == self.plan.insns.len()) && self.layout.by_block {
            self.flush(u64::MAX); // what follows writes back nearly all
        } else if self.layout.by_block {
            self.settle_before(&self.plan.survey, self.at);
        }
    }

    /// Likewise, and what would be written back anyway because nothing from instruction `at` on writes it again.
    pub(super) fn settle_before(&mut self, survey: &Survey, at: usize) {
        let often = |all, (n, &exits)| all | u64::from(exits >= OFTEN) << n;
        let often = self.now.exits.iter().enumerate().fold(0, often);
        self.flush(often | survey.done(at));
    }

    /// At an exit that writes back what is newer than the memory's.
    pub(super) fn count_exit(&mut self) {
        for (n, exits) in self.now.exits.iter_mut().enumerate() {
            *exits = exits.saturating_add((self.now.dirty >> n & 1) as u8);
        }
    }
}
