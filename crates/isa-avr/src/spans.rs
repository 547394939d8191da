//! Which accesses of a run are to places near each other, so that one look at the first of them does for all.

use isa::Insn;

use crate::exec::{self, X, Y, ZP};
use crate::table::{Class, Row};
use crate::{Avr, SEAM};

/// The stack pointer's place among pairs of registers.
const STACK: usize = 16;

/// An access of an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    /// Number of its span.
    pub span: usize,
    /// Its first byte, counted from the span's pointer as it is where the span begins.
    pub at: i32,
}

/// Accesses through one value of a pointer and what is so many bytes from it.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// First byte of all, and the one behind the last, counted from the pointer.
    pub bounds: (i32, i32),
    /// Whether one of them reads.
    pub loads: bool,
    /// Whether one of them writes.
    pub stores: bool,
    /// What the pointer is where the span begins.
    pointer: Place,
}

/// A value of a pointer: a number for one that is not known, and what was added since.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    value: usize,
    plus: i32,
}

/// What is known of a run.
pub(crate) struct Spans {
    /// Accesses by instruction.
    pub accesses: Vec<Option<Access>>,
    /// In the order in which they begin.
    pub spans: Vec<Span>,
    /// By instruction, how far below its value the stack pointer will be at its lowest; none where that was looked at
    /// before.
    pub depths: Vec<Option<i32>>,
    pointers: [Place; STACK + 1],
    values: usize,
    /// The span of each value, and the instruction that looked at the stack's depth.
    open: Vec<Option<usize>>,
    looked: Option<(usize, Place)>,
}

/// The pointer of LD, LDD, ST and STD: its low register, what is added before and after, and to the address alone.
pub(crate) fn pointer(text: &str, i: &Insn<Avr>) -> (u8, i32, i32, i32) {
    let low = if text.contains('X') {
        X
    } else if text.contains('Y') {
        Y
    } else {
        ZP
    };
    if text.contains("{b}") {
        (low, 0, 0, i.b.into())
    } else {
        (low, -i32::from(text.contains('-')), i32::from(text.contains('+')), 0)
    }
}

impl Spans {
    pub fn new(core: &Avr, insns: &[Insn<Avr>], rows: &[Option<&Row>]) -> Self {
        let mut s = Self {
            accesses: vec![None; insns.len()],
            spans: Vec::new(),
            depths: vec![None; insns.len()],
            pointers: std::array::from_fn(|value| Place { value, plus: 0 }),
            values: STACK + 1,
            open: vec![None; STACK + 1],
            looked: None,
        };
        let mut guarded = false;
        for (k, i) in insns.iter().enumerate() {
            let Some(row) = rows[k].filter(|_| i.d != SEAM) else { continue };
            let before = s.pointers;
            s.instruction(core, k, row, i, guarded);
            if guarded {
                // on one way only
                for (p, before) in before.into_iter().enumerate() {
                    if s.pointers[p] != before {
                        s.forget(p);
                    }
                }
            }
            guarded = matches!(row.class, Class::Skip | Class::SkipIo);
        }
        s
    }

    /// Pointer `p` has a new value.
    fn forget(&mut self, p: usize) {
        self.pointers[p] = Place { value: self.values, plus: 0 };
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
                    self.looked = Some((k, Place { plus: now.plus + bytes, ..now }));
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
            exec::SPL | exec::SPH if store => self.forget(STACK),
            exec::SPL | exec::SPH | exec::SREG => {}
            // a peripheral may be the trigger, from which on the lowest stack pointer counts
            _ if core.mem.ram_load::<1>(i.imm).is_none() => self.looked = None,
            _ => {}
        }
        if !store {
            self.written(i.a);
        }
    }

    fn instruction(&mut self, core: &Avr, k: usize, row: &Row, i: &Insn<Avr>, guarded: bool) {
        let name = row.name();
        match row.class {
            Class::Load | Class::Store => {
                let (low, before, after, plus) = pointer(row.text.0, i);
                let p = usize::from(low / 2);
                let store = row.class == Class::Store;
                self.access(k, p, before + plus, 1, store, guarded);
                self.pointers[p].plus += before + after;
                if !store {
                    self.written(i.a);
                }
            }
            Class::LoadProgram => {
                self.pointers[usize::from(ZP / 2)].plus += i32::from(row.text.0.contains('+'));
                self.written(i.a);
            }
            Class::Push => self.push(k, 1, guarded),
            Class::CallShort | Class::Call => self.push(k, 2, guarded),
            Class::Pop => {
                self.pop(k, 1, guarded);
                self.written(i.a);
            }
            Class::Return => self.pop(k, 2, guarded),
            Class::LoadDirect => self.direct(core, i, false),
            Class::StoreDirect => self.direct(core, i, true),
            Class::Alu if name == "in" => self.direct(core, i, false),
            Class::Alu if name == "out" => self.direct(core, i, true),
            Class::Alu if name == "movw" => self.pointers[usize::from(i.a / 2)] = self.pointers[usize::from(i.b / 2)],
            Class::Alu if name.starts_with("cp") || name == "bst" => {}
            Class::Alu => self.written(i.a),
            Class::Word => {
                let by = i.imm as i32;
                self.pointers[usize::from(i.a / 2)].plus += if name == "adiw" { by } else { -by };
            }
            Class::Multiply => self.written(0),
            Class::IoBit | Class::SkipIo => self.looked = None,
            Class::JumpShort | Class::Jump | Class::Branch | Class::Skip | Class::Seam => {}
        }
    }
}
