//! What a core's lowering asks for, one function an operation.

use std::rc::Rc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use isa::Timing;
use isa::native::{ByHandler, Emit, Lower, Op, Slot, Values};

use super::memory::Span;
use super::slots::Held;
use super::{Emitter, Label, int, offset};
use crate::{FLAGS, PASSED, back, passed};

impl<'a, C: Lower, T: Timing<C>> Emit for Emitter<'a, C, T> {
    type Span = Span;

    fn start(&mut self, at: usize) {
        self.at = at;
        if let Some(Label { block, skip }) = self.labels.remove(&at) {
            let mut other = 0;
            if let (Some((_, before, _)), false) = (&skip, self.ended) {
                other = self.now.dirty ^ before.dirty;
                for (n, held) in self.now.held.iter().enumerate() {
                    other |= u64::from(*held != before.held[n]) << n;
                }
                self.flush(other);
            }
            if !self.ended {
                self.b.ins().jump(block, &[]);
            }
            if let Some((skip, before, cycles)) = skip {
                self.now = before;
                self.go_on(skip);
                self.flush(other);
                self.add_cycles(-i64::from(cycles));
                self.b.ins().jump(block, &[]);
                for (n, held) in self.now.held.iter_mut().enumerate() {
                    if other >> n & 1 == 1 {
                        *held = Held::Memory;
                    }
                }
            }
            self.go_on(block);
        } else if self.ended {
            let never = self.block(true);
            self.go_on(never);
            self.now.held.fill(Held::Memory); // what the last way knows is not known here
        }
    }

    fn get(&mut self, slot: usize) -> Value {
        let Some(held) = self.now.held.get(slot).cloned() else {
            let variable = self.variables[slot].expect("the survey saw it");
            return self.b.use_var(variable);
        };
        let value = match held {
            Held::Value(value) => return value,
            Held::Later(make) => make(self),
            Held::Memory => {
                let Slot { offset: at, bits } = self.layout.slots[slot];
                self.b.ins().load(int(bits), FLAGS, self.core_at, offset(at))
            }
        };
        self.now.held[slot] = Held::Value(value);
        value
    }

    fn set(&mut self, slot: usize, value: Value) {
        self.now.dirty |= 1 << slot;
        self.now.exits[slot] = 0;
        match self.now.held.get_mut(slot) {
            Some(held) => *held = Held::Value(value),
            None => self.b.def_var(self.variables[slot].expect("the survey saw it"), value),
        }
    }

    fn later(&mut self, slot: usize, make: impl Fn(&mut Self) -> Value + 'static) {
        if !self.layout.by_block {
            let value = make(self);
            return self.set(slot, value);
        }
        self.now.dirty |= 1 << slot;
        self.now.exits[slot] = 0;
        self.now.held[slot] = Held::Later(Rc::new(make));
    }

    fn handler(&mut self, by: ByHandler) {
        if by.ends && self.layout.by_block {
            self.interpret_from(by.at);
            self.ended = true;
            return;
        }
        self.call(by);
        if by.ends {
            self.behind_handler();
        }
    }

    fn guard(&mut self, by: ByHandler, condition: Value, then: impl FnOnce(&mut Self)) {
        if self.layout.by_block && self.known(condition) == Some(1) {
            return then(self);
        }
        self.settle(Some(by));
        let (slow, fast, join) = (self.block(true), self.block(false), self.meeting(by));
        self.b.ins().brif(condition, fast, &[], slow, &[]);
        self.slow(slow, by, join);
        self.go_on(fast);
        then(self);
        self.join(join);
    }

    fn load(
        &mut self,
        by: ByHandler,
        address: Value,
        bytes: u32,
        extend: (u32, bool),
        then: impl FnOnce(&mut Self, Value),
    ) {
        let memory = self.core.memory();
        let (base, size) = (memory.ram_base, memory.ram.len());
        let flash = memory.flash_in_data().filter(|_| bytes >= 4 || !self.layout.flash_in_words);
        let flash_size = memory.flash.len();
        // eight bytes are two accesses, and where nothing is aligned each byte is one
        let accesses = if self.layout.unaligned { bytes.into() } else { 1 + i64::from(bytes == 8) };
        let wait = |wait: i64| accesses * wait;
        if let (Some(value), Some((_, cycles))) = (self.literal(address, bytes), flash) {
            let mut value = self.int(8 * bytes, value);
            if 8 * bytes < extend.0 {
                value = self.widen(value, extend.0, extend.1);
            }
            self.add_cycles(wait(cycles));
            return then(self, value);
        }
        let (distance, inside) = self.inside(address, base, size, bytes, 1);
        if flash.is_none() || self.layout.by_block && self.known(inside) == Some(1) {
            return self.guard(by, inside, |e| {
                let at = e.at(e.ram, distance);
                let value = e.read(at, bytes, extend);
                then(e, value);
            });
        }
        self.settle(Some(by));
        let (fast, other, join) = (self.block(false), self.block(true), self.meeting(by));
        let taken = self.block(false);
        let value = self.b.append_block_param(taken, int(extend.0));
        self.b.ins().brif(inside, fast, &[], other, &[]);
        self.go_on(other);
        if let Some((base, cycles)) = flash {
            let (constant, slow) = (self.block(true), self.block(true));
            let (distance, inside) = self.inside(address, base, flash_size, bytes, 1);
            self.b.ins().brif(inside, constant, &[], slow, &[]);
            self.go_on(constant);
            let at = self.at(self.flash, distance);
            let value = self.read(at, bytes, extend);
            self.add_cycles(wait(cycles));
            self.b.ins().jump(taken, &[value.into()]);
            self.slow(slow, by, join);
        }
        self.go_on(fast);
        let at = self.at(self.ram, distance);
        let read = self.read(at, bytes, extend);
        self.b.ins().jump(taken, &[read.into()]);
        self.go_on(taken);
        then(self, value);
        self.join(join);
    }

    fn store(&mut self, by: ByHandler, address: Value, bytes: u32, value: Value, then: impl FnOnce(&mut Self)) {
        let memory = self.core.memory();
        let (base, size) = (memory.ram_base, memory.ram.len());
        let (distance, inside) = self.inside(address, base, size, bytes, 1);
        self.guard(by, inside, |e| {
            let at = e.at(e.ram, distance);
            let wide = e.b.func.dfg.value_type(value).bits();
            let value = if 8 * bytes < wide { e.narrow(value, 8 * bytes) } else { value };
            e.b.ins().store(FLAGS, value, at, 0);
            let at = e.at(e.written, distance);
            let ones = e.int(8 * bytes, 0x0101_0101_0101_0101);
            e.b.ins().store(FLAGS, ones, at, 0);
            then(e);
        });
    }

    fn load_words(&mut self, by: ByHandler, address: Value, count: usize, then: impl FnOnce(&mut Self, &[Value])) {
        let memory = self.core.memory();
        let (base, size) = (memory.ram_base, memory.ram.len());
        let (distance, inside) = self.inside(address, base, size, 4, count);
        self.guard(by, inside, |e| {
            let at = e.at(e.ram, distance);
            let words = (0..count).map(|k| e.b.ins().load(types::I32, FLAGS, at, offset(4 * k)));
            let words: Vec<_> = words.collect();
            then(e, &words);
        });
    }

    fn store_words(&mut self, by: ByHandler, address: Value, values: &[Value], then: impl FnOnce(&mut Self)) {
        let memory = self.core.memory();
        let (base, size) = (memory.ram_base, memory.ram.len());
        let (distance, inside) = self.inside(address, base, size, 4, values.len());
        self.guard(by, inside, |e| {
            let (at, mark) = (e.at(e.ram, distance), e.at(e.written, distance));
            let ones = e.int(32, 0x0101_0101);
            for (k, &value) in values.iter().enumerate() {
                e.b.ins().store(FLAGS, value, at, offset(4 * k));
                e.b.ins().store(FLAGS, ones, mark, offset(4 * k));
            }
            then(e);
        });
    }

    fn span(&mut self, by: ByHandler, address: Value, from: i32, bytes: u32, sp: Option<Value>) -> Span {
        let memory = self.core.memory();
        let (base, size) = (memory.ram_base.wrapping_add_signed(-from), memory.ram.len());
        let (distance, mut fine) = self.within(address, base, size, bytes);
        if let Some(sp) = sp {
            let seen = self.seen_stack(sp);
            fine = self.op(Op::And, fine, seen);
        }
        self.guard(by, fine, |_| {});
        Span { ram: self.at(self.ram, distance), written: self.at(self.written, distance), from }
    }

    fn load_in(&mut self, span: Span, at: i32, bytes: u32) -> Value {
        self.b.ins().load(int(8 * bytes), FLAGS, span.ram, at - span.from)
    }

    fn store_in(&mut self, span: Span, at: i32, bytes: u32, value: Value) {
        self.b.ins().store(FLAGS, value, span.ram, at - span.from);
        let ones = self.int(8 * bytes, 0x0101_0101_0101_0101);
        self.b.ins().store(FLAGS, ones, span.written, at - span.from);
    }

    fn program(&mut self, by: ByHandler, at: Value, then: impl FnOnce(&mut Self, Value)) {
        let (_, inside) = self.within(at, 0, self.core.memory().flash.len(), 1);
        self.guard(by, inside, |e| {
            let at = e.at(e.flash, at);
            let value = e.read(at, 1, (8, false));
            then(e, value);
        });
    }

    fn stack(&mut self, by: ByHandler, sp: Value) {
        let fine = self.seen_stack(sp);
        self.guard(by, fine, |_| {});
    }

    fn rest_unless(&mut self, by: ByHandler, condition: Value) {
        let (rest, on) = (self.block(true), self.block(false));
        self.b.ins().brif(condition, on, &[], rest, &[]);
        self.go_on(rest);
        self.interpret_from(by.at);
        self.go_on(on);
    }

    fn spend(&mut self, cycles: Value) {
        let (cycles, cycle) = (self.widen(cycles, 64, false), self.cycle());
        let cycle = self.b.ins().iadd(cycle, cycles);
        self.set_cycle(cycle);
    }

    fn skip_unless(&mut self, condition: Value, to: usize, cycles: i32) {
        let block = match self.labels.get(&to) {
            Some(label) => label.block,
            None => {
                let block = self.block(false);
                self.labels.insert(to, Label { block, skip: None });
                block
            }
        };
        let (on, skip) = (self.block(false), self.block(false));
        self.b.ins().brif(condition, on, &[], skip, &[]);
        if self.layout.by_block {
            // how the skipped instruction leaves slots is not known yet
            self.labels.insert(to, Label { block, skip: Some((skip, self.now.clone(), cycles)) });
        } else {
            self.go_on(skip);
            self.add_cycles(-i64::from(cycles));
            self.b.ins().jump(block, &[]);
        }
        self.go_on(on);
    }

    fn skip_by_handler(&mut self, by: ByHandler, to: usize) {
        self.call_before(by, &[back::<C>, passed::<C>]);
        let cycle = self.cycle();
        let on = self.b.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, cycle, 0);
        let exact = self.b.ins().band_imm(cycle, !PASSED);
        self.set_cycle(exact);
        self.skip_unless(on, to, 0);
    }

    fn leave_if(&mut self, condition: Value, holds: bool, to: u32, cycles: i32) {
        self.settle(None);
        let (out, on) = (self.block(false), self.block(false));
        let (yes, no) = if holds { (out, on) } else { (on, out) };
        self.b.ins().brif(condition, yes, &[], no, &[]);
        self.go_on(out);
        self.count_exit();
        self.aside(|e| {
            e.add_cycles(-i64::from(cycles));
            e.jump(to);
        });
        self.go_on(on);
    }

    fn jump(&mut self, to: u32) {
        if self.layout.by_block && !(self.inside.is_some() && to == self.plan.start) {
            self.flush(self.live(to));
        }
        self.exit = None;
        self.add_cycles(self.plan.cycles.into());
        let pc = self.int(32, to.into());
        self.check(pc);
        self.edge(to);
    }

    fn jump_to(&mut self, to: Value) {
        if self.layout.by_block {
            self.flush(u64::MAX);
        }
        self.exit = None;
        self.add_cycles(self.plan.cycles.into());
        self.check(to);
        let shift = C::CODE_ALIGN.ilog2();
        let base = self.int(32, u64::from(self.region.base.wrapping_neg()));
        let distance = self.b.ins().iadd(to, base);
        let place = if shift > 0 { self.b.ins().ushr_imm(distance, i64::from(shift)) } else { distance };
        let places = self.int(32, self.region.blocks.len() as u64);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, place, places);
        let cycle = self.cycle();
        self.go_on_if(inside, to, cycle);
        let place = self.b.ins().uextend(types::I64, place);
        let place = self.b.ins().ishl_imm(place, 3);
        self.chain(place, to, None);
        self.ended = true;
    }

    fn branch(&mut self, condition: Value, yes: u32, taken: i32, no: u32) {
        if self.layout.by_block {
            self.flush(self.live(yes) | self.live(no));
        }
        self.exit = None;
        self.add_cycles(self.plan.cycles.into());
        let cycle = self.cycle();
        let deadline = self.deadline();
        let there = if taken == 0 { cycle } else { self.b.ins().iadd_imm(cycle, i64::from(taken)) };
        let most = if taken > 0 { there } else { cycle };
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, most, deadline);
        let (near, on) = (self.block(true), self.block(false));
        self.b.ins().brif(over, near, &[], on, &[]);
        self.go_on(near);
        let (to, on_to) = (self.int(32, yes.into()), self.int(32, no.into()));
        let pc = self.b.ins().select(condition, to, on_to);
        if taken == 0 {
            self.leave(pc, cycle);
        } else {
            let exact = self.b.ins().select(condition, there, cycle);
            let early = self.b.ins().icmp(IntCC::UnsignedLessThan, exact, deadline);
            let exit = self.exit();
            self.b.ins().brif(early, on, &[], exit, &[pc.into(), exact.into()]);
        }
        self.go_on(on);
        let (first, second) = (self.block(false), self.block(false));
        self.b.ins().brif(condition, first, &[], second, &[]);
        self.go_on(first);
        self.set_cycle(there);
        self.edge(yes);
        self.go_on(second);
        self.set_cycle(cycle);
        self.edge(no);
        self.ended = true;
    }
}
