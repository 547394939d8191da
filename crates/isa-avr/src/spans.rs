//! Finds accesses of a run to neighbouring addresses, so that one check at the first covers all.

use isa::Insn;

use crate::op::{Binary, Change, Op, Pointer, Wide};
use crate::state::{Avr, SPH, SPL, SREG};
use crate::step::Flow;

/// The stack pointer's index among pairs of registers.
const STACK: usize = 16;

/// An access of an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    /// Number of its span.
    pub span: usize,
    /// Its first byte, counted from the span's pointer as it is where the span begins.
    pub at: i32,
}

/// Accesses through one value of a pointer, plus constant distances in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// The first byte of all, and the one after the last, counted from the pointer.
    pub bounds: (i32, i32),
    /// Whether one of them reads.
    pub loads: bool,
    /// Whether one of them writes.
    pub stores: bool,
    /// The pointer's value where the span begins.
    pointer: Base,
}

/// A value of a pointer: the number of an unknown value, and what was added since.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Base {
    value: usize,
    plus: i32,
}

/// What is known about a run.
pub(crate) struct Spans {
    /// Accesses by instruction.
    pub accesses: Vec<Option<Access>>,
    /// In the order in which they begin.
    pub spans: Vec<Span>,
    /// By instruction, how far below its value the stack pointer will be at its lowest; none where that was checked
    /// before.
    pub depths: Vec<Option<i32>>,
    pointers: [Base; STACK + 1],
    values: usize,
    /// The span of each value, and the instruction that checked the stack's depth.
    open: Vec<Option<usize>>,
    looked: Option<(usize, Base)>,
}

/// What an access through a pointer adds to it before and after, and to the address only.
pub(crate) fn pointer(change: Change, i: &Insn<Avr>) -> (i32, i32, i32) {
    match change {
        Change::Keep => (0, 0, 0),
        Change::Post => (0, 1, 0),
        Change::Pre => (-1, 0, 0),
        Change::Displace => (0, 0, i.b.into()),
    }
}

impl Spans {
    pub fn new(core: &Avr, insns: &[Insn<Avr>], ops: &[Op]) -> Self {
        let mut s = Self {
            accesses: vec![None; insns.len()],
            spans: Vec::new(),
            depths: vec![None; insns.len()],
            pointers: std::array::from_fn(|value| Base { value, plus: 0 }),
            values: STACK + 1,
            open: vec![None; STACK + 1],
            looked: None,
        };
        let mut guarded = false;
        for (k, i) in insns.iter().enumerate() {
            let before = s.pointers;
            s.instruction(core, k, ops[k], i, guarded);
            if guarded {
                // on one path only
                for (p, before) in before.into_iter().enumerate() {
                    if s.pointers[p] != before {
                        s.forget(p);
                    }
                }
            }
            guarded = ops[k].flow() == Flow::Skip;
        }
        s
    }

    /// Pointer `p` has a new value.
    fn forget(&mut self, p: usize) {
        self.pointers[p] = Base { value: self.values, plus: 0 };
        self.values += 1;
        self.open.push(None);
    }

    fn written(&mut self, register: u8) {
        self.forget(usize::from(register / 2));
    }

    /// Instruction `k` reads or writes `bytes` bytes, the first of which is `at` from where pointer `p` is.
    fn access(&mut self, k: usize, p: usize, at: i32, bytes: i32, store: bool, guarded: bool) {
        let pointer = self.pointers[p];
        let span = self.open[pointer.value].unwrap_or_else(|| {
            let new = self.spans.len();
            let bounds = (at, at + bytes);
            self.spans.push(Span { bounds, loads: false, stores: false, pointer });
            if !guarded {
                self.open[pointer.value] = Some(new);
            }
            new
        });
        let s = &mut self.spans[span];
        let at = at + pointer.plus - s.pointer.plus;
        s.bounds = (s.bounds.0.min(at), s.bounds.1.max(at + bytes));
        s.loads |= !store;
        s.stores |= store;
        self.accesses[k] = Some(Access { span, at });
    }

    /// So many bytes are pushed.
    fn push(&mut self, k: usize, bytes: i32, guarded: bool) {
        self.access(k, STACK, 1 - bytes, bytes, true, guarded);
        self.pointers[STACK].plus -= bytes;
        let now = self.pointers[STACK];
        match self.looked {
            Some((first, place)) if place.value == now.value => {
                let depth = place.plus - now.plus;
                self.depths[first] = self.depths[first].max(Some(depth));
            }
            _ => {
                self.depths[k] = Some(bytes);
                if !guarded {
                    self.looked = Some((k, Base { plus: now.plus + bytes, ..now }));
                }
            }
        }
    }

    fn pop(&mut self, k: usize, bytes: i32, guarded: bool) {
        self.access(k, STACK, 1, bytes, false, guarded);
        self.pointers[STACK].plus += bytes;
    }

    /// IN, OUT, LDS and STS.
    fn direct(&mut self, core: &Avr, i: &Insn<Avr>, store: bool) {
        if i.imm < core.variant.io {
            (0..STACK).for_each(|p| self.forget(p));
        }
        match i.imm.wrapping_sub(core.variant.io) {
            SPL | SPH if store => self.forget(STACK),
            SPL | SPH | SREG => {}
            // a peripheral may be the trigger, which starts counting the lowest stack pointer
            _ if core.mem.ram_load::<1>(i.imm).is_none() => self.looked = None,
            _ => {}
        }
        if !store {
            self.written(i.a);
        }
    }

    /// LD, LDD, ST and STD.
    fn indirect(&mut self, k: usize, i: &Insn<Avr>, to: (Pointer, Change), store: bool, guarded: bool) {
        let (p, (before, after, plus)) = (usize::from(to.0.low() / 2), pointer(to.1, i));
        self.access(k, p, before + plus, 1, store, guarded);
        self.pointers[p].plus += before + after;
        if !store {
            self.written(i.a);
        }
    }

    fn instruction(&mut self, core: &Avr, k: usize, op: Op, i: &Insn<Avr>, guarded: bool) {
        match op {
            Op::Load(pointer, change) => self.indirect(k, i, (pointer, change), false, guarded),
            Op::Store(pointer, change) => self.indirect(k, i, (pointer, change), true, guarded),
            Op::Lpm(change) | Op::Elpm(change) => {
                self.pointers[usize::from(Pointer::Z.low() / 2)].plus += i32::from(change == Change::Post);
                self.written(i.a);
            }
            Op::Push => self.push(k, 1, guarded),
            Op::Rcall | Op::Icall | Op::Call => self.push(k, 2, guarded),
            Op::Pop => {
                self.pop(k, 1, guarded);
                self.written(i.a);
            }
            Op::Ret | Op::Reti => self.pop(k, 2, guarded),
            Op::Lds | Op::In => self.direct(core, i, false),
            Op::Sts | Op::Out => self.direct(core, i, true),
            Op::Movw => self.pointers[usize::from(i.a / 2)] = self.pointers[usize::from(i.b / 2)],
            Op::Binary(Binary::Cp | Binary::Cpc, _) | Op::Bst | Op::Set(_) | Op::Clear(_) | Op::Nop => {}
            Op::Binary(
                Binary::Add | Binary::Adc | Binary::Sub | Binary::Sbc | Binary::And | Binary::Or | Binary::Eor,
                _,
            ) => self.written(i.a),
            Op::Unary(_) | Op::Mov | Op::Ldi | Op::Bld => self.written(i.a),
            Op::Wide(op) => {
                let by = i.imm as i32;
                self.pointers[usize::from(i.a / 2)].plus += match op {
                    Wide::Adiw => by,
                    Wide::Sbiw => -by,
                };
            }
            Op::Multiply(_) => self.written(0),
            Op::Cbi | Op::Sbi | Op::SkipIo(_) => self.looked = None,
            Op::Rjmp | Op::Jmp | Op::Ijmp | Op::BranchSet(_) | Op::BranchClear(_) | Op::Skip(_) => {}
            Op::Spm | Op::Sleep | Op::Break | Op::Seam | Op::Undefined | Op::Truncated => {}
        }
    }
}
