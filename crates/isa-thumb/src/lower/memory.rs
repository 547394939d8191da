//! Lowers loads and stores to operations for the translator.

use isa::native::{ByHandler, Emit, Op, Slots};

use super::{Lowering, jump_to};
use crate::op::Size;
use crate::operands::{Mode, Operands};
use crate::state::PC;

/// Sets the base register where it changes.
fn set_base<E: Emit>(e: &mut E, o: &Operands, base: Option<E::V>) {
    if let Some(base) = base {
        e.set(o.b.into(), base);
    }
}

impl<E: Emit> Lowering<'_, E> {
    /// Address and new base of an access, and the effects of its handler, which also writes the slots `to`.
    fn access(&mut self, o: &Operands, by: ByHandler, to: &[u8]) -> (E::V, Option<E::V>, ByHandler) {
        let sum = |run: &mut Self| {
            let base = run.reg(o.b);
            (base, run.with(Op::Add, base, o.imm))
        };
        let (at, base) = match o.mode {
            Mode::Literal => (self.int(o.imm), None),
            Mode::Index | Mode::Plain => {
                let (base, index) = (self.reg(o.b), self.reg(o.c));
                let index = if o.mode == Mode::Plain { index } else { self.with(Op::Shl, index, (o.d & 31).into()) };
                (self.e.op(Op::Add, base, index), None)
            }
            Mode::Offset => (sum(self).1, None),
            Mode::Pre => {
                let (_, sum) = sum(self);
                (sum, Some(sum))
            }
            Mode::Post => {
                let (base, sum) = sum(self);
                (base, Some(sum))
            }
        };
        let writes = to.iter().fold(by.writes, |writes, &n| writes.with(n.into()));
        let writes = if base.is_some() { writes.with(o.b.into()) } else { writes };
        (at, base, ByHandler { writes, ..by })
    }

    pub(super) fn load(&mut self, size: Size, signed: bool, o: &Operands, by: ByHandler) {
        let (at, base, by) = self.access(o, by, &[o.a]);
        self.e.load(by, at, size.bytes(), (32, signed), |e, value| {
            set_base(e, o, base);
            e.set(o.a.into(), value);
        });
    }

    pub(super) fn store(&mut self, size: Size, o: &Operands, by: ByHandler) {
        let (at, base, by) = self.access(o, by, &[]);
        let value = self.reg(o.a);
        self.e.store(by, at, size.bytes(), value, |e| set_base(e, o, base));
    }

    pub(super) fn load_dual(&mut self, o: &Operands, by: ByHandler) {
        let (at, base, by) = self.access(o, by, &[o.a, o.d]);
        self.e.load_words(by, at, 2, |e, values| {
            set_base(e, o, base);
            e.set(o.a.into(), values[0]);
            e.set(o.d.into(), values[1]);
        });
    }

    pub(super) fn store_dual(&mut self, o: &Operands, by: ByHandler) {
        let (at, base, by) = self.access(o, by, &[]);
        let values = [self.reg(o.a), self.reg(o.d)];
        self.e.store_words(by, at, &values, |e| set_base(e, o, base));
    }

    /// Loads or stores of several registers, downwards or upwards.
    pub(super) fn several(&mut self, store: bool, down: bool, o: &Operands, by: ByHandler) {
        let b = usize::from(o.b);
        let list: Vec<usize> = (0..16).filter(|&n| o.imm >> n & 1 == 1).collect();
        let bytes = 4 * list.len() as u32;
        let base = self.reg(o.b);
        let end = self.with(Op::Add, base, if down { bytes.wrapping_neg() } else { bytes });
        let start = if down { end } else { base };
        let changes = o.a != 0;
        let all = list.iter().filter(|&&n| n != PC).fold(Slots::default(), |s, &n| s.with(n));
        if store {
            let reads = Slots(by.reads.0 | all.0);
            let writes = if changes { by.writes.with(b) } else { by.writes };
            let values: Vec<_> = list.iter().map(|&n| self.e.get(n)).collect();
            self.e.store_words(ByHandler { reads, writes, ..by }, start, &values, |e| {
                if changes {
                    e.set(b, end);
                }
            });
            return;
        }
        let writes = all.with(b);
        let by = ByHandler { writes, ..by };
        self.e.load_words(by, start, list.len(), |e, values| {
            let set = |e: &mut E| {
                if changes {
                    e.set(b, end);
                }
                list.iter().zip(values).filter(|&(&n, _)| n != PC).for_each(|(&n, &v)| e.set(n, v));
            };
            if list.last() == Some(&PC) {
                let target = values[list.len() - 1];
                jump_to(e, by, target, set);
            } else {
                set(e);
            }
        });
    }
}
