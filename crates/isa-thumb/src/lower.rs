//! Lowers instructions to operations for the translator. Those that are not here are left to their handlers, for the
//! reason that [`Op::by_handler`] gives.

mod data;
mod memory;

use isa::Insn;
use isa::native::{self, ByHandler, Emit, Layout, Lower, Slot, Slots, Test};

use crate::decode::{self, What};
use crate::handlers::Pseudo;
use crate::op::Op;
use crate::operands::Operands;
use crate::state::{LR, PC, SP, Thumb};

/// Slots after r0 to r14: NZ as [`Thumb`] stores it, and the other flags.
const NZ: usize = 15;
const C: usize = 16;
const V: usize = 17;
const Q: usize = 18;
const GE: usize = 19;

impl Lower for Thumb {
    fn layout() -> Layout {
        let r = std::mem::offset_of!(Self, r);
        let slot = |offset, bits| Slot { offset, bits };
        let mut slots: Vec<_> = (0..PC).map(|n| slot(r + 4 * n, 32)).collect();
        slots.extend([
            slot(std::mem::offset_of!(Self, nz), 64),
            slot(std::mem::offset_of!(Self, c), 8),
            slot(std::mem::offset_of!(Self, v), 8),
            slot(std::mem::offset_of!(Self, q), 8),
            slot(std::mem::offset_of!(Self, ge), 32),
        ]);
        Layout { slots, pc: r + 4 * PC, ..Layout::default() }
    }

    fn lower<E: Emit>(&self, pc: u32, insns: &[Insn<Self>], max: usize, e: &mut E) {
        let (items, _) = decode::items(self, pc, max);
        assert!(items.len() == insns.len(), "decoding is a function of the code");
        let mut run = Lowering { e, compared: None, timed: self.events.mul_long.is_some() };
        for (k, (item, i)) in items.iter().zip(insns).enumerate() {
            run.e.start(k);
            let by =
                ByHandler { at: k, reads: Slots::default(), writes: Slots::default(), ends: item.step.class.ends() };
            match item.what {
                What::Op(op, o) => {
                    let compared = run.compared.take();
                    run.compared = compared.filter(|_| item.sets == 0);
                    run.instruction(op, &o, i, by, item.needed);
                    if item.step.guarded && item.sets != 0 {
                        run.compared = None; // its values hold on one path only
                    }
                }
                What::Pseudo(Pseudo::Undefined | Pseudo::Outside) => run.e.handler(ByHandler { ends: true, ..by }),
                What::Pseudo(Pseudo::Skip(cond)) => {
                    let holds = run.holds(cond);
                    run.e.skip_unless(holds, k + 1 + usize::from(i.skips), i.refund.into());
                }
                What::Pseudo(Pseudo::Stack) => {
                    let (sp, mask) = (run.e.get(SP), run.int(!3));
                    let sp = run.e.op(native::Op::And, sp, mask);
                    run.e.set(SP, sp);
                    run.e.stack(ByHandler { reads: by.reads.with(SP), ..by }, sp);
                }
                What::Pseudo(Pseudo::Seam) => run.e.jump(i.imm),
            }
        }
    }
}

struct Lowering<'e, E: Emit> {
    e: &'e mut E,
    /// Operands of the subtraction that set the flags as they are.
    compared: Option<(E::V, E::V)>,
    /// Whether the cycles of long multiplications depend on their operands.
    timed: bool,
}

impl<E: Emit> Lowering<'_, E> {
    fn int(&mut self, v: u32) -> E::V {
        self.e.int(32, v.into())
    }

    fn reg(&mut self, n: u8) -> E::V {
        self.e.get(n.into())
    }

    /// One bit of a word as a truth value.
    fn bit(&mut self, v: E::V, n: u32) -> E::V {
        let (n, one) = (self.int(n), self.int(1));
        let v = self.e.op(native::Op::Shr, v, n);
        let v = self.e.op(native::Op::And, v, one);
        self.e.narrow(v, 8)
    }

    fn not(&mut self, truth: E::V) -> E::V {
        let one = self.e.int(8, 1);
        self.e.op(native::Op::Xor, truth, one)
    }

    fn with(&mut self, op: native::Op, x: E::V, n: u32) -> E::V {
        let n = self.int(n);
        self.e.op(op, x, n)
    }

    fn set_nz(&mut self, v: E::V) {
        let nz = self.e.widen(v, 64, true);
        self.e.set(NZ, nz);
    }

    /// Whether a condition holds.
    fn holds(&mut self, cond: u8) -> E::V {
        let simple = match cond {
            0 => Some(Test::Eq),
            1 => Some(Test::Ne),
            2 => Some(Test::GreaterEqU),
            3 => Some(Test::LessU),
            8 => Some(Test::GreaterU),
            9 => Some(Test::LessEqU),
            10 => Some(Test::GreaterEq),
            11 => Some(Test::Less),
            12 => Some(Test::Greater),
            13 => Some(Test::LessEq),
            _ => None,
        };
        if let (Some((x, y)), Some(test)) = (self.compared, simple) {
            return self.e.test(test, x, y);
        }
        let (nz, zero) = (self.e.get(NZ), self.e.int(64, 0));
        let n = |run: &mut Self| run.e.test(Test::Less, nz, zero);
        let z = |run: &mut Self, test| {
            let (low, zero) = (run.e.narrow(nz, 32), run.int(0));
            run.e.test(test, low, zero)
        };
        let yes = match cond >> 1 {
            0 => z(self, Test::Eq),
            1 => self.e.get(C),
            2 => n(self),
            3 => self.e.get(V),
            4 => {
                let (c, other) = (self.e.get(C), z(self, Test::Ne));
                self.e.op(native::Op::And, c, other)
            }
            5 | 6 => {
                let (n, v) = (n(self), self.e.get(V));
                let same = self.e.test(Test::Eq, n, v);
                let other = z(self, Test::Ne);
                if cond >> 1 == 6 { self.e.op(native::Op::And, same, other) } else { same }
            }
            _ => return self.e.int(8, 1),
        };
        if cond & 1 == 1 { self.not(yes) } else { yes }
    }

    /// One instruction of the table.
    fn instruction(&mut self, op: Op, o: &Operands, i: &Insn<Thumb>, by: ByHandler, flags: bool) {
        let registers = [o.a, o.b, o.c, o.d].into_iter().map(usize::from).filter(|&n| n < PC);
        let reads = registers.fold(Slots::default().with(SP), Slots::with);
        let by = ByHandler { reads, ..by };
        match op {
            Op::Data(_) if usize::from(o.a) == PC => self.e.handler(by), // unpredictable: the value is lost
            Op::Data(alu) => self.data(alu, o, flags),
            Op::Shift(shift) => self.shift(shift, o, flags),
            Op::Mul => self.mul(o, flags),
            Op::Simple(simple) => self.simple(simple, o),
            Op::MulLong(_) | Op::MulLongAdd(_) if self.timed => self.by_handler(o, by),
            Op::MulLong(signed) => self.mul_long(signed, false, o),
            Op::MulLongAdd(signed) => self.mul_long(signed, true, o),
            Op::Saturate(_) | Op::Dsp(_) | Op::Div(_) | Op::ClearExclusive => self.by_handler(o, by),
            Op::Nop | Op::Barrier => {}
            Op::Load(size, signed) => self.load(size, signed, o, by),
            Op::Store(size) => self.store(size, o, by),
            Op::LoadDual => self.load_dual(o, by),
            Op::StoreDual => self.store_dual(o, by),
            Op::LoadMultiple(down) | Op::LoadMultiplePc(down) => self.several(false, down, o, by),
            Op::StoreMultiple(down) => self.several(true, down, o, by),
            Op::B => self.e.jump(o.imm),
            Op::BCond => {
                let holds = self.holds(o.c);
                self.branch(holds, i);
            }
            Op::CompareBranch(nonzero) => {
                let (x, zero) = (self.reg(o.b), self.int(0));
                let holds = self.e.test(if nonzero { Test::Ne } else { Test::Eq }, x, zero);
                self.branch(holds, i);
            }
            Op::Bl => {
                let behind = self.int(i.site.pc.wrapping_add(4) | 1);
                self.e.set(LR, behind);
                self.e.jump(o.imm);
            }
            Op::Bx | Op::Blx => {
                let target = self.reg(o.c);
                let behind = self.int(i.site.pc.wrapping_add(2) | 1);
                let by = ByHandler { writes: by.writes.with(LR), ..by };
                jump_to(self.e, by, target, |e| {
                    if op == Op::Blx {
                        e.set(LR, behind);
                    }
                });
            }
            Op::LoadPc | Op::TableBranch(_) => {
                self.e.handler(ByHandler { writes: by.writes.with(usize::from(o.b).min(PC - 1)), ..by });
            }
            Op::MovPc | Op::AddPc | Op::Trap | Op::Unsupported | Op::Undefined => self.e.handler(by),
            Op::LoadExclusive(_) | Op::StoreExclusive(_) | Op::It => self.by_all(by),
            Op::ChangeState | Op::ReadSpecial | Op::WriteSpecial | Op::Sev | Op::Wfe => self.by_all(by),
        }
    }

    /// Leaves it to a handler that changes destinations and flags.
    fn by_handler(&mut self, o: &Operands, by: ByHandler) {
        let writes = by.writes.with(o.a.into()).with(usize::from(o.d & 15).min(PC - 1));
        let flags = |s: Slots| s.with(NZ).with(C).with(V).with(Q).with(GE);
        self.e.handler(ByHandler { reads: flags(Slots(by.reads.0 | writes.0)), writes: flags(writes), ..by });
        self.compared = None;
    }

    /// Leaves it to a handler that may change any state.
    fn by_all(&mut self, by: ByHandler) {
        self.e.handler(ByHandler { reads: Slots::ALL, writes: Slots::ALL, ..by });
        self.compared = None;
    }

    fn branch(&mut self, holds: E::V, i: &Insn<Thumb>) {
        self.e.branch(holds, i.imm, i.taken.into(), i.site.pc.wrapping_add(i.d.into()));
    }
}

/// Goes to a target with bit 0 set, after `then`.
fn jump_to<E: Emit>(e: &mut E, by: ByHandler, target: E::V, then: impl FnOnce(&mut E)) {
    let (one, zero) = (e.int(32, 1), e.int(32, 0));
    let thumb = e.op(native::Op::And, target, one);
    let thumb = e.test(Test::Ne, thumb, zero);
    e.guard(by, thumb, |e| {
        then(e);
        let even = e.int(32, 0xFFFF_FFFE);
        let target = e.op(native::Op::And, target, even);
        e.jump_to(target);
    });
}
