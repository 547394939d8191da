//! Lowers instructions to operations for the translator. Those left to handlers say why.

use std::mem::offset_of;

use isa::Insn;
use isa::native::{ByHandler, Emit, Layout, Lower, Op as Do, Slot, Slots, Test};

use crate::op::{Amount, Load, Loop, Op, Shift, Store};
use crate::state::{SP, Xtensa, ps};
use crate::step::Step;
use crate::{decode, value};

/// Slots after a0 to a15.
const SAR: usize = 16;
const GUARD: usize = 17;
const LCOUNT: usize = 18;
const LBEG: usize = 19;
const LEND: usize = 20;
const PS: usize = 21;

/// Why an operation is always left to its handler, if it is.
pub(crate) fn by_handler(op: Op) -> Option<&'static str> {
    match op {
        Op::Divide(_) => Some("its cycles depend on the operands, and it is seldom"),
        Op::S32c1i => Some("seldom"),
        Op::Entry | Op::Retw | Op::Rotw | Op::Rfwo | Op::Rfwu => Some("moves all registers"),
        Op::Movsp => Some("may be an exception; seldom"),
        Op::Rfe | Op::Rsil | Op::Rsr | Op::Wsr | Op::Xsr | Op::Rur | Op::Wur => Some("reaches every state; seldom"),
        Op::Trap | Op::Unsupported | Op::BadOpcode | Op::BadFetch => Some("ends the program"),
        Op::Binary(_) | Op::Unary(_) | Op::Movi | Op::Literal | Op::Keep(_) | Op::Amount(_) | Op::Shift(_) => None,
        Op::L32r | Op::Load(_) | Op::Store(_) | Op::Branch(..) | Op::Loop(_) => None,
        Op::J | Op::Jx | Op::Call0 | Op::Callx0 | Op::Call | Op::Callx => None,
        Op::Nop | Op::Wait | Op::Isync => None,
        Op::WindowCheck | Op::EntryCheck | Op::Stack | Op::GoOn | Op::LoopEnd => None,
    }
}

/// What is known about SAR; the value is below 32.
#[derive(Clone, Copy)]
enum Sar<V> {
    Unknown,
    /// A constant below 32.
    Constant(u32),
    /// From SSR.
    Right(V),
    /// 32 minus the value, from SSL.
    Left(V),
}

impl Lower for Xtensa {
    fn layout() -> Layout {
        let a = (0..16).map(|n| Slot { offset: offset_of!(Self, a) + 4 * n, bits: 32 });
        let others = [
            (offset_of!(Self, sar), 32),
            (offset_of!(Self, guard), 8),
            (offset_of!(Self, lcount), 32),
            (offset_of!(Self, lbeg), 32),
            (offset_of!(Self, lend), 32),
            (offset_of!(Self, ps), 32),
        ];
        let slots = a.chain(others.map(|(offset, bits)| Slot { offset, bits })).collect();
        Layout { slots, pc: offset_of!(Self, pc), flash_in_words: true, ..Layout::default() }
    }

    fn lower<E: Emit>(&self, pc: u32, insns: &[Insn<Self>], max: usize, e: &mut E) {
        let steps = decode::run(self, pc, max).steps;
        let mut run = Lowering { cpu: self, insns, steps: &steps, sar: Sar::Unknown, e };
        if steps.len() != insns.len() {
            // the end of a loop became known in this run, whose code is about to be dropped
            run.e.start(0);
            run.stop_here(0);
            return run.e.jump(pc);
        }
        for k in 0..insns.len() {
            run.e.start(k);
            if run.one(k) {
                return;
            }
        }
    }
}

/// One run on its way to an emitter.
struct Lowering<'a, E: Emit> {
    cpu: &'a Xtensa,
    insns: &'a [Insn<Xtensa>],
    steps: &'a [Step],
    sar: Sar<E::V>,
    e: &'a mut E,
}

impl<E: Emit> Lowering<'_, E> {
    /// The handler of instruction `k`.
    fn by(&self, k: usize, reads: Slots, writes: Slots) -> ByHandler {
        ByHandler { at: k, reads, writes, ends: k + 1 == self.insns.len() }
    }

    /// Leaves the rest of the run to the interpreter.
    fn stop_here(&mut self, k: usize) {
        let (by, never) = (self.by(k, Slots::ALL, Slots::ALL), self.e.int(8, 0));
        self.e.rest_unless(by, never);
    }

    fn get(&mut self, n: u8) -> E::V {
        self.e.get(n.into())
    }

    fn set(&mut self, n: u8, value: E::V) {
        self.e.set(n.into(), value);
    }

    fn word(&mut self, value: u32) -> E::V {
        self.e.int(32, value.into())
    }

    /// An operation with a constant.
    fn with(&mut self, op: Do, x: E::V, y: u32) -> E::V {
        let y = self.word(y);
        self.e.op(op, x, y)
    }

    /// Lowers instruction `k`; returns whether the run ends with it, although others follow.
    fn one(&mut self, k: usize) -> bool {
        let (i, step) = (&self.insns[k], &self.steps[k]);
        let touched = u64::from(step.reads | step.writes | step.data);
        let by = self.by(k, Slots(touched).with(SP), Slots(step.writes.into()));
        let all = ByHandler { reads: Slots::ALL, writes: Slots::ALL, ..by };
        match step.op {
            Op::Binary(op) => {
                let (x, y) = (self.get(i.b), self.get(i.c));
                let value = value::binary(self.e, op, x, y);
                self.set(i.a, value);
            }
            Op::Unary(op) => {
                let x = self.get(i.b);
                let value = value::unary(self.e, op, x, i.d, i.imm);
                self.set(i.a, value);
            }
            Op::Movi | Op::Literal => {
                let value = self.word(i.imm);
                self.set(i.a, value);
            }
            Op::Keep(op) => {
                let (old, x, y) = (self.get(i.a), self.get(i.b), self.get(i.c));
                let value = value::keep(self.e, op, old, x, y);
                self.set(i.a, value);
            }
            Op::Amount(op) => {
                let x = self.get(i.b);
                let value = value::amount(self.e, op, x, i.imm);
                self.e.set(SAR, value);
                self.sar = match op {
                    Amount::Ssai => Sar::Constant(i.imm),
                    Amount::Ssr | Amount::Ssa8l => Sar::Right(value),
                    Amount::Ssl => Sar::Left(self.with(Do::And, x, 31)),
                    Amount::Ssa8b => Sar::Unknown,
                };
            }
            Op::Shift(op) => self.shift(op, i),
            Op::L32r => {
                let at = self.word(i.imm);
                self.load(by, at, Load::L32i, i.a);
            }
            Op::Load(op) => {
                let at = self.address(i);
                self.load(by, at, op, i.a);
            }
            Op::Store(op) => {
                let (at, value) = (self.address(i), self.get(i.a));
                let bytes = match op {
                    Store::S8i => 1,
                    Store::S16i => 2,
                    Store::S32i => 4,
                };
                self.e.store(by, at, bytes, value, |_| {});
            }
            Op::Divide(_) | Op::S32c1i => self.e.handler(by),
            Op::Branch(condition, against) => {
                let x = self.get(i.b);
                let y = value::against(self.e, against, |e| e.get(i.c.into()), i.d);
                let taken = value::holds(self.e, condition, x, y);
                return self.leave_if(k, taken);
            }
            Op::Loop(op) => return self.start_loop(k, op),
            Op::J | Op::GoOn => self.e.jump(i.imm),
            Op::Call0 => {
                let back = self.word(i.site.pc.wrapping_add(3));
                self.e.set(0, back);
                self.e.jump(i.imm);
            }
            Op::Call => {
                self.call_window(i);
                self.e.jump(i.imm);
            }
            Op::Jx | Op::Callx0 | Op::Callx => self.jump_to(step.op, i, all),
            Op::Nop | Op::Wait | Op::Isync => {}
            Op::WindowCheck => {
                let guard = self.e.get(GUARD);
                let (bit, zero) = (self.e.int(8, 1 << (i.c & 3)), self.e.int(8, 0));
                let live = self.e.op(Do::And, guard, bit);
                let free = self.e.test(Test::Eq, live, zero);
                self.e.rest_unless(all, free);
            }
            Op::EntryCheck => {
                let (guard, ps) = (self.e.get(GUARD), self.e.get(PS));
                let guard = self.e.widen(guard, 32, false);
                let n = self.with(Do::Shr, ps, 16);
                let n = self.with(Do::And, n, 3);
                let live = self.e.op(Do::Shr, guard, n);
                let live = self.with(Do::And, live, 1);
                let zero = self.word(0);
                let free = self.e.test(Test::Eq, live, zero);
                self.e.rest_unless(all, free);
            }
            Op::Stack => {
                let sp = self.e.get(SP);
                self.e.stack(ByHandler { reads: by.reads.with(SP), ..by }, sp);
            }
            Op::LoopEnd => self.loop_end(i, all),
            Op::Movsp => self.stop_here(k),
            Op::Entry | Op::Rotw | Op::Rsil | Op::Rsr | Op::Wsr | Op::Xsr | Op::Rur | Op::Wur => {
                self.sar = Sar::Unknown;
                self.e.handler(all);
            }
            Op::Retw | Op::Rfwo | Op::Rfwu | Op::Rfe => self.e.handler(all),
            Op::Trap | Op::Unsupported | Op::BadOpcode | Op::BadFetch => self.e.handler(all),
        }
        false
    }

    fn address(&mut self, i: &Insn<Xtensa>) -> E::V {
        let base = self.get(i.b);
        if i.imm == 0 { base } else { self.with(Do::Add, base, i.imm) }
    }

    fn load(&mut self, by: ByHandler, at: E::V, op: Load, a: u8) {
        let (bytes, signed) = match op {
            Load::L8ui => (1, false),
            Load::L16ui => (2, false),
            Load::L16si => (2, true),
            Load::L32i => (4, false),
        };
        self.e.load(by, at, bytes, (32, signed), |e, value| e.set(a.into(), value));
    }

    /// A shift; depending on what is known about SAR it takes one or three operations.
    fn shift(&mut self, op: Shift, i: &Insn<Xtensa>) {
        let (x, same) = (self.get(i.b), i.b == i.c);
        let value = match (op, self.sar) {
            (Shift::Srl, Sar::Constant(n)) => self.with(Do::Shr, x, n),
            (Shift::Srl, Sar::Right(n)) => self.e.op(Do::Shr, x, n),
            (Shift::Sra, Sar::Constant(n)) => self.with(Do::Sar, x, n),
            (Shift::Sra, Sar::Right(n)) => self.e.op(Do::Sar, x, n),
            (Shift::Sll, Sar::Constant(n @ 1..)) => self.with(Do::Shl, x, 32 - n),
            (Shift::Sll, Sar::Left(n)) => self.e.op(Do::Shl, x, n),
            (Shift::Src, Sar::Constant(n)) if same => self.with(Do::Rotr, x, n),
            (Shift::Src, Sar::Right(_) | Sar::Left(_)) if same => {
                let sar = self.e.get(SAR);
                self.e.op(Do::Rotr, x, sar)
            }
            (Shift::Src, Sar::Constant(n @ 1..)) => {
                let low = self.get(i.c);
                let (high, low) = (self.with(Do::Shl, x, 32 - n), self.with(Do::Shr, low, n));
                self.e.op(Do::Or, high, low)
            }
            (Shift::Src | Shift::Sll | Shift::Srl | Shift::Sra, _) => {
                let (y, sar) = (self.get(i.c), self.e.get(SAR));
                value::shift(self.e, op, x, y, sar)
            }
        };
        self.set(i.a, value);
    }

    /// Leaves the run at instruction `k` where the condition holds; returns whether the run has ended.
    fn leave_if(&mut self, k: usize, condition: E::V) -> bool {
        let i = &self.insns[k];
        if k + 2 == self.insns.len() && self.steps[k + 1].op == Op::GoOn {
            self.e.branch(condition, i.imm, i.taken.into(), self.insns[k + 1].imm);
            return true;
        }
        self.e.leave_if(condition, true, i.imm, i32::from(i.refund) - i32::from(i.taken));
        false
    }

    /// The return address and PS of a call with windows.
    fn call_window(&mut self, i: &Insn<Xtensa>) {
        let n = u32::from(i.d & 3);
        let ps = self.e.get(PS);
        let others = self.with(Do::And, ps, !ps::CALLINC);
        let ps = self.with(Do::Or, others, n << 16);
        self.e.set(PS, ps);
        let back = self.word(n << 30 | i.site.pc.wrapping_add(3) & 0x3FFF_FFFF);
        self.e.set(4 * n as usize, back);
    }

    /// A jump or call to the address in a register, which costs more where the target is badly aligned.
    fn jump_to(&mut self, op: Op, i: &Insn<Xtensa>, by: ByHandler) {
        let to = self.get(i.b);
        let base = self.word(self.cpu.mem.flash_base.wrapping_neg());
        let place = self.e.op(Do::Add, to, base);
        let land = self.cpu.events.land;
        let costs = u64::from_le_bytes(land.as_flattened().try_into().expect("it has eight bytes"));
        let (insns, steps, cpu) = (self.insns, self.steps, self.cpu);
        self.e.program(by, place, |e, first| {
            let mut run = Lowering { cpu, insns, steps, sar: Sar::Unknown, e };
            if costs != 0 {
                let cost = run.landing(costs, to, first);
                run.e.spend(cost);
            }
            if op == Op::Callx0 {
                let back = run.word(i.site.pc.wrapping_add(3));
                run.e.set(0, back);
            } else if op == Op::Callx {
                run.call_window(i);
            }
            run.e.jump_to(to);
        });
    }

    /// One byte of `costs`, by the two low bits of an address and the length of the instruction with this first byte.
    fn landing(&mut self, costs: u64, to: E::V, first: E::V) -> E::V {
        let (nibble, eight, six) = (self.e.int(8, 15), self.e.int(8, 8), self.e.int(8, 6));
        let kind = self.e.op(Do::And, first, nibble);
        let kind = self.e.op(Do::Sub, kind, eight);
        let long = self.e.test(Test::GreaterEqU, kind, six);
        let long = self.e.widen(long, 32, false);
        let (long, place) = (self.with(Do::Shl, long, 3), self.with(Do::And, to, 3));
        let place = self.with(Do::Shl, place, 4);
        let at = self.e.op(Do::Or, place, long);
        let (at, costs) = (self.e.widen(at, 64, false), self.e.int(64, costs));
        let cost = self.e.op(Do::Shr, costs, at);
        let cost = self.e.narrow(cost, 32);
        self.with(Do::And, cost, 0xFF)
    }

    /// The start of a hardware loop; returns whether the run has ended.
    fn start_loop(&mut self, k: usize, op: Loop) -> bool {
        let i = &self.insns[k];
        if !self.cpu.ends.contains_key(&i.imm) {
            self.stop_here(k);
        }
        let count = self.get(i.b);
        let (less, begin, end) = (self.with(Do::Sub, count, 1), self.word(i.site.pc.wrapping_add(3)), self.word(i.imm));
        self.e.set(LCOUNT, less);
        self.e.set(LBEG, begin);
        self.e.set(LEND, end);
        let zero = self.word(0);
        let passed = match op {
            Loop::Loop => return false,
            Loop::Loopnez => self.e.test(Test::Eq, count, zero),
            Loop::Loopgtz => self.e.test(Test::LessEq, count, zero),
        };
        self.leave_if(k, passed)
    }

    /// The end of a run that ends where a loop did; one that began elsewhere than the last one is left to the handler.
    fn loop_end(&mut self, i: &Insn<Xtensa>, by: ByHandler) {
        let begin = self.cpu.ends.get(&i.imm).copied().unwrap_or(0);
        let (lend, lbeg, ps) = (self.e.get(LEND), self.e.get(LBEG), self.e.get(PS));
        let (other_end, other_start) = (self.with(Do::Xor, lend, i.imm), self.with(Do::Xor, lbeg, begin));
        let exception = self.with(Do::And, ps, ps::EXCM);
        let strange = self.e.op(Do::Or, other_end, other_start);
        let strange = self.e.op(Do::Or, strange, exception);
        let zero = self.word(0);
        let usual = self.e.test(Test::Eq, strange, zero);
        let on = i.imm;
        self.e.guard(by, usual, |e| {
            let (count, zero) = (e.get(LCOUNT), e.int(32, 0));
            let again = e.test(Test::Ne, count, zero);
            let one = e.widen(again, 32, false);
            let less = e.op(Do::Sub, count, one);
            e.set(LCOUNT, less);
            e.branch(again, begin, 0, on);
        });
    }
}
