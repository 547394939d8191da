//! Lowers instructions to operations for the translator. Those that are not here are left to their handlers.

use isa::Insn;
use isa::native::{self, ByHandler, Emit, Layout, Lower, Slot, Slots};

use crate::decode::{Found, find};
use crate::op::{Alu, DROP, Form, Op, Operands, Test};
use crate::state::{Riscv, SP};
use crate::word::Word;

impl<X: Word> Lower for Riscv<X> {
    fn layout() -> Layout {
        let offset = |n: usize| std::mem::offset_of!(Self, r) + n * size_of::<X>();
        let slots = (0..=usize::from(DROP)).map(|n| Slot { offset: offset(n), bits: X::BITS });
        Layout { slots: slots.collect(), pc: std::mem::offset_of!(Self, pc), ..Layout::default() }
    }

    fn lower<E: Emit>(&self, pc: u32, insns: &[Insn<Self>], _: usize, e: &mut E) {
        let mut at = pc;
        let last = insns.len() - 1;
        for (k, i) in insns.iter().enumerate() {
            e.start(k);
            let by = ByHandler { at: k, reads: Slots::default(), writes: Slots::default(), ends: k == last };
            match find(self, at) {
                _ if i.d == 0 && k < last => {
                    let sp = e.get(SP);
                    let sp = low::<X, E>(e, sp);
                    e.stack(ByHandler { reads: by.reads.with(SP), ..by }, sp);
                }
                Found::Definition(..) if i.d == 0 => e.jump(i.imm),
                Found::Definition(_, row, o, bytes) => {
                    lower::<X, E>(row.op, row.form, &o, i, by, e);
                    at = at.wrapping_add(bytes);
                }
                Found::Undefined(..) | Found::Outside => e.handler(by),
            }
        }
    }
}

fn low<X: Word, E: Emit>(e: &mut E, v: E::V) -> E::V {
    if X::BITS == 64 { e.narrow(v, 32) } else { v }
}

fn get<X: Word, E: Emit>(e: &mut E, n: u8) -> E::V {
    if n == 0 { e.int(X::BITS, 0) } else { e.get(n.into()) }
}

fn set<E: Emit>(e: &mut E, n: u8, v: E::V) {
    if n != DROP {
        e.set(n.into(), v);
    }
}

/// A constant of the register's width from 32 bits, sign-extended.
fn number<X: Word, E: Emit>(e: &mut E, v: u32) -> E::V {
    e.int(X::BITS, X::sext(v).wide())
}

/// The first operand, and the second one or the immediate.
fn operands<X: Word, E: Emit>(form: Form, o: &Operands, e: &mut E) -> (E::V, E::V) {
    let x = get::<X, E>(e, o.b);
    (x, if form.immediate() { number::<X, E>(e, o.imm) } else { get::<X, E>(e, o.c) })
}

/// An operation on numbers of `bits`.
fn alu<E: Emit>(alu: Alu, bits: u32, x: E::V, y: E::V, e: &mut E) -> E::V {
    let op = match alu {
        Alu::Add => native::Op::Add,
        Alu::Sub => native::Op::Sub,
        Alu::Sll => native::Op::Shl,
        Alu::Srl => native::Op::Shr,
        Alu::Sra => native::Op::Sar,
        Alu::Xor => native::Op::Xor,
        Alu::Or => native::Op::Or,
        Alu::And => native::Op::And,
        Alu::Mul => native::Op::Mul,
        Alu::Mulh => native::Op::MulHighS,
        Alu::Mulhu => native::Op::MulHighU,
        Alu::Slt | Alu::Sltu => {
            let test = if alu == Alu::Slt { native::Test::Less } else { native::Test::LessU };
            let less = e.test(test, x, y);
            return e.widen(less, bits, false);
        }
    };
    e.op(op, x, y)
}

fn lower<X: Word, E: Emit>(op: Op, form: Form, o: &Operands, i: &Insn<Riscv<X>>, by: ByHandler, e: &mut E) {
    // every handler reads its operands from these; accesses report the stack pointer
    let reads = Slots::default().with(o.b.into()).with(o.c.into()).with(SP);
    let by = ByHandler { reads, writes: Slots::default().with(o.a.into()), ..by };
    match op {
        Op::Lui => {
            let value = number::<X, E>(e, o.imm);
            set(e, o.a, value);
        }
        Op::Auipc => {
            let value = e.int(X::BITS, X::zext(i.site.pc).plus(X::sext(o.imm)).wide());
            set(e, o.a, value);
        }
        Op::Alu(a) => {
            let (x, y) = operands::<X, E>(form, o, e);
            let value = alu(a, X::BITS, x, y, e);
            set(e, o.a, value);
        }
        Op::AluWord(a) => {
            let (x, y) = operands::<X, E>(form, o, e);
            let (x, y) = (e.narrow(x, 32), e.narrow(y, 32));
            let value = alu(a, 32, x, y, e);
            let value = e.widen(value, 64, true);
            set(e, o.a, value);
        }
        Op::Load(width, signed) => {
            let at = address::<X, E>(o, e);
            e.load(by, at, width.bytes(), (X::BITS, signed), |e, value| set(e, o.a, value));
        }
        Op::Store(width) => {
            let at = address::<X, E>(o, e);
            let value = get::<X, E>(e, o.c);
            e.store(by, at, width.bytes(), value, |_| {});
        }
        Op::Branch(test) => {
            let test = match test {
                Test::Eq => native::Test::Eq,
                Test::Ne => native::Test::Ne,
                Test::Lt => native::Test::Less,
                Test::Ge => native::Test::GreaterEq,
                Test::Ltu => native::Test::LessU,
                Test::Geu => native::Test::GreaterEqU,
            };
            let (x, y) = (get::<X, E>(e, o.b), get::<X, E>(e, o.c));
            let holds = e.test(test, x, y);
            e.branch(holds, o.imm, i.taken.into(), i.site.pc.wrapping_add(i.d.into()));
        }
        Op::Jal => {
            link::<X, E>(o, i, e);
            e.jump(o.imm);
        }
        Op::Jalr => {
            let target = address::<X, E>(o, e);
            let mut plain = e.int(8, 1);
            if X::BITS == 64 {
                let (top, zero) = (e.int(64, 32), e.int(64, 0));
                let high = e.op(native::Op::Shr, target, top);
                plain = e.test(native::Test::Eq, high, zero);
            }
            e.guard(by, plain, |e| {
                link::<X, E>(o, i, e);
                let (target, even) = (low::<X, E>(e, target), e.int(32, 0xFFFF_FFFE));
                let target = e.op(native::Op::And, target, even);
                e.jump_to(target);
            });
        }
        Op::Fence => {}
        Op::Mulhsu
        | Op::Divide(_)
        | Op::DivideWord(_)
        | Op::LoadReserved(_)
        | Op::StoreConditional(_)
        | Op::Amo(..) => e.handler(by),
        Op::ReadCsr | Op::WriteCsr | Op::Mret | Op::Trap | Op::Unsupported => e.handler(by),
    }
}

fn link<X: Word, E: Emit>(o: &Operands, i: &Insn<Riscv<X>>, e: &mut E) {
    let behind = e.int(X::BITS, X::zext(i.site.pc).plus(X::zext(i.d.into())).wide());
    set(e, o.a, behind);
}

/// First operand and immediate, of the register's width.
fn address<X: Word, E: Emit>(o: &Operands, e: &mut E) -> E::V {
    let (base, offset) = (get::<X, E>(e, o.b), number::<X, E>(e, o.imm));
    e.op(native::Op::Add, base, offset)
}
