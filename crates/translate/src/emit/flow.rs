//! The ends of blocks: on to other code, or out to the run loop.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Value, types};
use isa::Timing;
use isa::native::{Edge, Lower, Values};
use mcu::Memory;

use super::{Emitter, offset};
use crate::{Context, Entry, FLAGS, enter};

impl<'a, C: Lower, T: Timing<C>> Emitter<'a, C, T> {
    /// A block that leaves for the run loop with a program counter and a cycle; the one that ended last is the current.
    pub(super) fn exit(&mut self) -> ir::Block {
        if let Some(block) = self.exit {
            return block;
        }
        let block = self.block(true);
        for kind in [types::I32, types::I64] {
            self.b.append_block_param(block, kind);
        }
        self.exits.push((block, self.now.clone()));
        *self.exit.insert(block)
    }

    /// Code of [`Emitter::exit`].
    pub(super) fn leave_in(&mut self, block: ir::Block) {
        self.go_on(block);
        let [pc, cycle] = [0, 1].map(|k| self.b.block_params(block)[k]);
        self.flush(u64::MAX);
        self.b.ins().store(FLAGS, pc, self.core_at, offset(self.layout.pc));
        self.last_end(self.plan.end);
        self.b.ins().return_(&[cycle]);
    }

    /// Leaves for the run loop.
    pub(super) fn leave(&mut self, pc: Value, cycle: Value) {
        let exit = self.exit();
        self.b.ins().jump(exit, &[pc.into(), cycle.into()]);
    }

    /// Goes on where `condition` holds, else leaves.
    pub(super) fn go_on_if(&mut self, condition: Value, pc: Value, cycle: Value) {
        let (exit, on) = (self.exit(), self.block(false));
        self.b.ins().brif(condition, on, &[], exit, &[pc.into(), cycle.into()]);
        self.go_on(on);
    }

    /// Tells the model where the last block ended.
    pub(super) fn last_end(&mut self, end: u32) {
        if let Some(at) = self.last_end {
            let timing = self.model();
            let end = self.int(32, end.into());
            self.b.ins().store(FLAGS, end, timing, offset(at));
        }
    }

    pub(super) fn model(&mut self) -> Value {
        self.b.ins().load(types::I64, FLAGS.with_readonly(), self.context, offset(offset_of!(Context, timing)))
    }

    pub(super) fn deadline(&mut self) -> Value {
        let at = self.state(offset_of!(Memory, deadline));
        self.b.ins().load(types::I64, FLAGS, self.core_at, at)
    }

    /// Asks the model what entering the block `start..end` after the current one costs.
    pub(super) fn ask(&mut self, start: Value, end: Value) {
        if self.timing.is_static() {
            return;
        }
        self.last_end(self.plan.end);
        let timing = self.model();
        let f = self.constant(enter::<C, T> as *const () as u64);
        let call = self.b.ins().call_indirect(self.signatures[2], f, &[timing, start, end]);
        let cost = self.b.inst_results(call)[0];
        let cycle = self.cycle();
        let cycle = self.b.ins().iadd(cycle, cost);
        self.set_cycle(cycle);
    }

    /// Enters the block `start..end` after the current one.
    pub(super) fn enter(&mut self, start: u32, end: u32) {
        let ask = |e: &mut Self| {
            let (start, end) = (e.constant(start.into()), e.constant(end.into()));
            e.ask(start, end);
        };
        let edge = if self.timing.is_static() { Edge::Fixed(0) } else { self.timing.edge(self.plan.end, start, end) };
        match edge {
            Edge::Fixed(n) => self.add_cycles(n.into()),
            Edge::Ask => ask(self),
            Edge::Held { words, stamps } => {
                let mut different = None;
                let add =
                    |e: &mut Self, all: Option<Value>, other| Some(all.map_or(other, |all| e.b.ins().bor(all, other)));
                for (at, word, equal) in words {
                    let at = self.constant(at.address());
                    let held = self.b.ins().load(types::I32, FLAGS, at, 0);
                    let word = self.int(32, word.into());
                    let other = self.b.ins().icmp(if equal { IntCC::NotEqual } else { IntCC::Equal }, held, word);
                    different = add(self, different, other);
                }
                let (clock, stamps) = stamps.map_or((None, Vec::new()), |(clock, stamps)| (Some(clock), stamps));
                let mut places = Vec::new();
                for at in stamps {
                    let at = self.constant(at.address());
                    let held = self.b.ins().load(types::I64, FLAGS, at, 0);
                    let other = self.b.ins().icmp_imm(IntCC::Equal, held, 0);
                    different = add(self, different, other);
                    places.push(at);
                }
                let Some(different) = different else { return };
                let (slow, fine, on) = (self.block(true), self.block(false), self.block(false));
                self.b.ins().brif(different, slow, &[], fine, &[]);
                self.go_on(slow);
                ask(self);
                self.b.ins().jump(on, &[]);
                self.go_on(fine);
                if let Some(clock) = clock.filter(|_| !places.is_empty()) {
                    let clock = self.constant(clock.address());
                    let mut now = self.b.ins().load(types::I64, FLAGS, clock, 0);
                    for at in places {
                        now = self.b.ins().iadd_imm(now, 1);
                        self.b.ins().store(FLAGS, now, at, 0);
                    }
                    self.b.ins().store(FLAGS, now, clock, 0);
                }
                self.b.ins().jump(on, &[]);
                self.go_on(on);
            }
            Edge::Counter { at, taken, missed } => {
                let at = self.constant(at.address());
                let counter = self.b.ins().load(types::I8, FLAGS, at, 0);
                let sure = self.b.ins().icmp_imm(IntCC::Equal, counter, if taken { 3 } else { 0 });
                let (learn, on) = (self.block(true), self.block(false));
                self.b.ins().brif(sure, on, &[], learn, &[]);
                self.go_on(learn);
                let next = self.b.ins().iadd_imm(counter, if taken { 1 } else { -1 });
                self.b.ins().store(FLAGS, next, at, 0);
                let expects = self.b.ins().icmp_imm(IntCC::UnsignedGreaterThan, counter, 1);
                let (none, cost) = (self.constant(0), self.constant(missed.into()));
                let cost = if taken {
                    self.b.ins().select(expects, none, cost)
                } else {
                    self.b.ins().select(expects, cost, none)
                };
                let cycle = self.cycle();
                let cycle = self.b.ins().iadd(cycle, cost);
                self.set_cycle(cycle);
                self.b.ins().jump(on, &[]);
                self.go_on(on);
            }
        }
    }

    /// Goes to a known address; the deadline is not reached.
    pub(super) fn edge(&mut self, to: u32) {
        if let Some(&k) = self.region.by_start.get(&to) {
            self.enter(to, self.region.plans[k].end);
            let inside = self.inside.filter(|_| to == self.plan.start);
            let values = self.values(inside.map_or(0, |inside| inside.slots));
            self.b.ins().jump(inside.map_or(self.blocks[k], |inside| inside.block), &values);
        } else {
            let pc = self.int(32, to.into());
            match self.region.place(to) {
                Some(place) => {
                    let place = self.constant(8 * place as u64);
                    let end = self.region.block(to).map(|b| b.end);
                    self.chain(place, pc, end.map(|end| (to, end)));
                }
                None => {
                    let cycle = self.cycle();
                    self.leave(pc, cycle);
                }
            }
        }
        self.ended = true;
    }

    /// Goes to the code of another region, whose entry is `place` bytes past the start of the table, or to
    /// the run loop. `known` are start and end of its first block.
    pub(super) fn chain(&mut self, place: Value, pc: Value, known: Option<(u32, u32)>) {
        let table =
            self.b.ins().load(types::I64, FLAGS.with_readonly(), self.context, offset(offset_of!(Context, table)));
        let at = self.b.ins().iadd(table, place);
        let entry = self.b.ins().load(types::I64, FLAGS, at, 0);
        let cycle = self.cycle();
        self.go_on_if(entry, pc, cycle);
        match known {
            Some((start, end)) => {
                self.enter(start, end);
                self.last_end(end);
            }
            None => {
                let bound = |e: &mut Self, at| e.b.ins().uload32(FLAGS.with_readonly(), entry, offset(at));
                let (start, end) = (bound(self, offset_of!(Entry, start)), bound(self, offset_of!(Entry, end)));
                self.ask(start, end);
            }
        }
        if !self.layout.by_block {
            self.flush(u64::MAX);
        }
        let code = self.b.ins().load(types::I64, FLAGS.with_readonly(), entry, offset(offset_of!(Entry, code)));
        let cycle = self.cycle();
        self.b.ins().return_call_indirect(self.signatures[0], code, &[self.core_at, self.context, cycle]);
        self.ended = true;
    }

    /// Leaves where the deadline is reached at the end of the current block.
    pub(super) fn check(&mut self, pc: Value) {
        let (cycle, deadline) = (self.cycle(), self.deadline());
        let early = self.b.ins().icmp(IntCC::UnsignedLessThan, cycle, deadline);
        self.go_on_if(early, pc, cycle);
    }
}
