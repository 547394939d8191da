//! Instructions as operations, for translation to native code. What is not here is done by its handler.

use isa::Insn;
use isa::native::{ByHandler, Emit, Layout, Lower, Op, Slot, Slots, Test};

use crate::exec::{DROP, SP};
use crate::table::{Class, Operands, Row};
use crate::{Found, Riscv, Word};

impl<X: Word> Lower for Riscv<X> {
    fn layout() -> Layout {
        let offset = |n: usize| std::mem::offset_of!(Self, r) + n * size_of::<X>();
        let slots = (0..=usize::from(DROP)).map(|n| Slot { offset: offset(n), bits: X::BITS });
        Layout { slots: slots.collect(), pc: std::mem::offset_of!(Self, pc), ..Layout::default() }
    }

    fn lower<E: Emit>(&self, pc: u32, insns: &[Insn<Self>], e: &mut E) {
        let mut at = pc;
        let last = insns.len() - 1;
        for (k, i) in insns.iter().enumerate() {
            e.start(k);
            let by = ByHandler { at: k, reads: Slots::default(), writes: Slots::default(), ends: k == last };
            match self.find(at) {
                _ if i.d == 0 && k < last => {
                    let sp = e.get(SP);
                    let sp = low::<X, E>(e, sp);
                    e.stack(ByHandler { reads: by.reads.with(SP), ..by }, sp);
                }
                Found::Row(..) if i.d == 0 => e.jump(i.imm),
                Found::Row(row, o, bytes) => {
                    row_to::<X, E>(row, &o, i, by, e);
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

/// What the mnemonic says: the operation, whether on 32 bits of 64, and whether with an immediate.
fn arithmetic(name: &str) -> Option<(Op, bool, bool)> {
    Some(match name {
        "add" => (Op::Add, false, false),
        "sub" => (Op::Sub, false, false),
        "sll" => (Op::Shl, false, false),
        "srl" => (Op::Shr, false, false),
        "sra" => (Op::Sar, false, false),
        "xor" => (Op::Xor, false, false),
        "or" => (Op::Or, false, false),
        "and" => (Op::And, false, false),
        "mul" => (Op::Mul, false, false),
        "mulh" => (Op::MulHighS, false, false),
        "mulhu" => (Op::MulHighU, false, false),
        "addw" => (Op::Add, true, false),
        "subw" => (Op::Sub, true, false),
        "sllw" => (Op::Shl, true, false),
        "srlw" => (Op::Shr, true, false),
        "sraw" => (Op::Sar, true, false),
        "mulw" => (Op::Mul, true, false),
        "addi" => (Op::Add, false, true),
        "slli" => (Op::Shl, false, true),
        "srli" => (Op::Shr, false, true),
        "srai" => (Op::Sar, false, true),
        "xori" => (Op::Xor, false, true),
        "ori" => (Op::Or, false, true),
        "andi" => (Op::And, false, true),
        "addiw" => (Op::Add, true, true),
        "slliw" => (Op::Shl, true, true),
        "srliw" => (Op::Shr, true, true),
        "sraiw" => (Op::Sar, true, true),
        _ => return None,
    })
}

fn row_to<X: Word, E: Emit>(row: &Row<X>, o: &Operands, i: &Insn<Riscv<X>>, by: ByHandler, e: &mut E) {
    let name = row.name();
    // every handler takes its operands from these; accesses report the stack pointer
    let reads = Slots::default().with(o.b.into()).with(o.c.into()).with(SP);
    let by = ByHandler { reads, writes: Slots::default().with(o.a.into()), ..by };
    if let Some((op, short, immediate)) = arithmetic(name) {
        let mut x = get::<X, E>(e, o.b);
        let mut y = if immediate { number::<X, E>(e, o.imm) } else { get::<X, E>(e, o.c) };
        if short {
            (x, y) = (e.narrow(x, 32), e.narrow(y, 32));
        }
        let mut value = e.op(op, x, y);
        if short {
            value = e.widen(value, 64, true);
        }
        return set(e, o.a, value);
    }
    let pc = i.site.pc;
    match (row.class, name) {
        (_, "lui") => {
            let value = number::<X, E>(e, o.imm);
            set(e, o.a, value);
        }
        (_, "auipc") => {
            let value = e.int(X::BITS, X::zext(pc).plus(X::sext(o.imm)).wide());
            set(e, o.a, value);
        }
        (Class::Alu, "slt" | "sltu" | "slti" | "sltiu") => {
            let x = get::<X, E>(e, o.b);
            let y = if name.contains('i') { number::<X, E>(e, o.imm) } else { get::<X, E>(e, o.c) };
            let less = e.test(if name.ends_with('u') { Test::LessU } else { Test::Less }, x, y);
            let value = e.widen(less, X::BITS, false);
            set(e, o.a, value);
        }
        (Class::Load | Class::LoadNarrow, _) => {
            let (bytes, signed) = match name {
                "lb" => (1, true),
                "lbu" => (1, false),
                "lh" => (2, true),
                "lhu" => (2, false),
                "lw" => (4, true),
                "lwu" => (4, false),
                "ld" => (8, false),
                _ => return e.handler(by),
            };
            let at = address::<X, E>(o, e);
            e.load(by, at, bytes, (X::BITS, signed), |e, value| set(e, o.a, value));
        }
        (Class::Store, _) => {
            let bytes = match name {
                "sb" => 1,
                "sh" => 2,
                "sw" => 4,
                "sd" => 8,
                _ => return e.handler(by),
            };
            let at = address::<X, E>(o, e);
            let value = get::<X, E>(e, o.c);
            e.store(by, at, bytes, value, |_| {});
        }
        (Class::Branch, _) => {
            let test = match name {
                "beq" => Test::Eq,
                "bne" => Test::Ne,
                "blt" => Test::Less,
                "bge" => Test::GreaterEq,
                "bltu" => Test::LessU,
                "bgeu" => Test::GreaterEqU,
                _ => return e.handler(by),
            };
            let (x, y) = (get::<X, E>(e, o.b), get::<X, E>(e, o.c));
            let holds = e.test(test, x, y);
            e.branch(holds, o.imm, i.taken.into(), pc.wrapping_add(i.d.into()));
        }
        (Class::Jump, "jal") => {
            link::<X, E>(o, i, e);
            e.jump(o.imm);
        }
        (Class::JumpRegister, "jalr") => {
            let target = address::<X, E>(o, e);
            let mut plain = e.int(8, 1);
            if X::BITS == 64 {
                let (top, zero) = (e.int(64, 32), e.int(64, 0));
                let high = e.op(Op::Shr, target, top);
                plain = e.test(Test::Eq, high, zero);
            }
            e.guard(by, plain, |e| {
                link::<X, E>(o, i, e);
                let (target, even) = (low::<X, E>(e, target), e.int(32, 0xFFFF_FFFE));
                let target = e.op(Op::And, target, even);
                e.jump_to(target);
            });
        }
        (Class::Fence, _) => {}
        _ => e.handler(by),
    }
}

fn link<X: Word, E: Emit>(o: &Operands, i: &Insn<Riscv<X>>, e: &mut E) {
    let behind = e.int(X::BITS, X::zext(i.site.pc).plus(X::zext(i.d.into())).wide());
    set(e, o.a, behind);
}

/// First operand and immediate, of the register's width.
fn address<X: Word, E: Emit>(o: &Operands, e: &mut E) -> E::V {
    let (base, offset) = (get::<X, E>(e, o.b), number::<X, E>(e, o.imm));
    e.op(Op::Add, base, offset)
}
