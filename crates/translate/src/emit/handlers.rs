//! What the interpreter does: single instructions, and the rest of a run.

use cranelift_codegen::ir::{self, InstBuilder, types};
use isa::native::{ByHandler, Emit, Lower};
use isa::{Exec, Insn, Timing};

use super::slots::Held;
use super::{Emitter, int, offset};
use crate::{FLAGS, Fixed, back, by_handler};

impl<'a, C: Lower, T: Timing<C>> Emitter<'a, C, T> {
    /// Ends the way: the interpreter does an instruction and the rest of the run.
    pub(super) fn interpret_from(&mut self, at: usize) {
        self.count_exit();
        self.aside(|e| e.flush(u64::MAX));
        if self.rest.is_none() {
            let block = self.block(true);
            (0..2).for_each(|_| _ = self.b.append_block_param(block, types::I64));
            let run: Fixed<[Insn<C>]> = self.plan.insns.into();
            self.rest = Some((block, run.as_ptr()));
            self.kept.push(run);
        }
        let Some((block, run)) = self.rest else { return };
        let place = self.constant(run.wrapping_add(at).addr() as u64);
        let cycle = self.cycle();
        self.b.ins().jump(block, &[place.into(), cycle.into()]);
    }

    /// In `block` the interpreter does what is left of the run.
    pub(super) fn interpret(&mut self, block: ir::Block) {
        self.go_on(block);
        let [place, cycle] = [0, 1].map(|k| self.b.block_params(block)[k]);
        let handler = self.constant(by_handler::<C> as *const () as u64);
        let call = self.b.ins().call_indirect(self.signatures[1], handler, &[self.core_at, place, cycle]);
        let cycle = self.b.inst_results(call)[0];
        let cycle = self.b.ins().iadd_imm(cycle, i64::from(self.plan.cycles));
        self.last_end(self.plan.end);
        self.b.ins().return_(&[cycle]);
    }

    /// Does an instruction by its handler.
    pub(super) fn call(&mut self, by: ByHandler) {
        self.call_before(by, &[back::<C>]);
    }

    /// Likewise; `behind` is what the handler may go on to.
    pub(super) fn call_before(&mut self, by: ByHandler, behind: &[Exec<C>]) {
        let touched = by.reads.0 | by.writes.0;
        self.flush(touched);
        let cycle = self.cycle();
        let insn = self.plan.insns[by.at];
        let run = std::iter::once(&insn.exec).chain(behind).map(|&exec| Insn { exec, ..insn });
        let run: Fixed<[Insn<C>]> = run.collect();
        let place = self.constant(std::ptr::from_ref(&run[0]).addr() as u64);
        self.kept.push(run);
        let handler = self.constant(by_handler::<C> as *const () as u64);
        let call = self.b.ins().call_indirect(self.signatures[1], handler, &[self.core_at, place, cycle]);
        let cycle = self.b.inst_results(call)[0];
        self.set_cycle(cycle);
        for (n, slot) in self.layout.slots.iter().enumerate() {
            if by.writes.0 >> n & 1 == 0 {
                continue;
            }
            if let Some(held) = self.now.held.get_mut(n) {
                *held = Held::Memory;
            } else if let Some(variable) = self.variables[n] {
                let value = self.b.ins().load(int(slot.bits), FLAGS, self.core_at, offset(slot.offset));
                self.b.def_var(variable, value);
            }
        }
    }

    /// In `block` the handler does the work; goes on in `join`, or ends where there is none.
    pub(super) fn slow(&mut self, block: ir::Block, by: ByHandler, join: Option<ir::Block>) {
        self.go_on(block);
        self.finish_slow(by, join);
    }

    pub(super) fn finish_slow(&mut self, by: ByHandler, join: Option<ir::Block>) {
        if self.layout.by_block {
            return self.interpret_from(by.at);
        }
        self.call(by);
        match join {
            Some(join) => _ = self.b.ins().jump(join, &[]),
            None => self.behind_handler(),
        }
    }

    /// Where the ways through an instruction meet, if they do.
    pub(super) fn meeting(&mut self, by: ByHandler) -> Option<ir::Block> {
        (!by.ends && !self.layout.by_block).then(|| self.block(false))
    }

    /// Behind a handler that has set the program counter.
    pub(super) fn behind_handler(&mut self) {
        let pc = self.b.ins().load(types::I32, FLAGS, self.core_at, offset(self.layout.pc));
        self.jump_to(pc);
    }

    /// Ends the way beside [`Emitter::slow`].
    pub(super) fn join(&mut self, join: Option<ir::Block>) {
        match join {
            Some(join) => {
                self.b.ins().jump(join, &[]);
                self.go_on(join);
            }
            None => assert!(self.ended || self.layout.by_block, "the last instruction ends the run"),
        }
    }
}
