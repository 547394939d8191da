//! Executes instructions: plain functions, and the handler of each operation.
//! `F` is the set of flags that can still be read: an instruction leaves the others alone, and their values are never
//! seen. A function that accesses memory has `FULL`: without it, it accesses ordinary RAM only, and returns `None`,
//! without effect, for everything else.

mod alu;
mod data;
mod jump;

use isa::{Exec, Insn, next};

use crate::op::{Binary, Change, Flag, Multiply, Op, Pointer, Skip, SkipIo, Unary, Wide, With};
use crate::sreg;
use crate::state::Avr;
use crate::step::ALL;
use alu::*;
use data::*;
use jump::*;

/// An instruction of this core.
pub(crate) type I = Insn<Avr>;

/// A handler that cannot fail or leave the run.
macro_rules! plain {
    ($f:ident $($arg:tt)*) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                $f$($arg)*(cpu, &*i);
                next(cpu, i);
            }
        }
        run as Exec<Avr>
    }};
}

/// Likewise, with one handler for each useful set of flags that are still needed.
macro_rules! flags {
    ($live:expr, $f:ident $(, $arg:literal)?) => {{
        unsafe fn run<const F: u8>(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                $f::<F $(, $arg)?>(cpu, &*i);
                next(cpu, i);
            }
        }
        match $live {
            0 => run::<0> as Exec<Avr>,
            sreg::C => run::<{ sreg::C }>,
            live if live & !(sreg::C | sreg::Z) == 0 => run::<{ sreg::C | sreg::Z }>,
            _ => run::<ALL>,
        }
    }};
}

/// A handler with a fast path for RAM.
macro_rules! memory {
    ($f:ident $(, $arg:ident)*) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                match $f::<false $(, $arg)*>(cpu, &*i) {
                    Some(()) => next(cpu, i),
                    None => slow(cpu, i),
                }
            }
        }
        #[cold]
        #[inline(never)]
        unsafe fn slow(cpu: &mut Avr, i: *const I) {
            // SAFETY: as above.
            unsafe {
                let _ = $f::<true $(, $arg)*>(cpu, &*i);
                next(cpu, i);
            }
        }
        run as Exec<Avr>
    }};
}

/// A handler that sets the program counter and ends the run.
macro_rules! leave {
    ($f:ident $(, $arg:literal)*) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points to an instruction (contract of `Exec`).
            let insn = unsafe { &*i };
            if $f::<false $(, $arg)*>(cpu, insn).is_none() {
                slow(cpu, insn);
            }
        }
        #[cold]
        #[inline(never)]
        fn slow(cpu: &mut Avr, i: &I) {
            let _ = $f::<true $(, $arg)*>(cpu, i);
        }
        run as Exec<Avr>
    }};
}

/// A handler that goes to its target or continues.
macro_rules! branch {
    ($f:ident $bit:literal) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                let insn = &*i;
                if $f::<$bit>(cpu, insn) {
                    cpu.mem.stall += i64::from(insn.taken) - i64::from(insn.refund);
                    cpu.pc = insn.imm;
                } else {
                    next(cpu, i);
                }
            }
        }
        run as Exec<Avr>
    }};
}

/// A handler that continues with the next instruction or the one after it.
macro_rules! skip {
    ($f:ident) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block; the decoder puts at least two more after a skip.
            unsafe {
                let insn = &*i;
                if $f(cpu, insn) {
                    cpu.mem.stall += i64::from(insn.taken) - i64::from(insn.refund);
                    next(cpu, i.add(1));
                } else {
                    next(cpu, i);
                }
            }
        }
        run as Exec<Avr>
    }};
}

/// Handlers for both kinds of second operand.
macro_rules! binary {
    ($live:expr, $with:expr, $f:ident) => {
        match $with {
            With::Register => flags!($live, $f, false),
            With::Immediate => flags!($live, $f, true),
        }
    };
}

/// Handlers for each pointer and how it changes.
macro_rules! pointer {
    (@ $f:ident, $pointer:ident, $change:expr) => {
        match $change {
            Change::Keep => memory!($f, $pointer, KEEP),
            Change::Post => memory!($f, $pointer, POST),
            Change::Pre => memory!($f, $pointer, PRE),
            Change::Displace => memory!($f, $pointer, DISPLACE),
        }
    };
    ($f:ident, $pointer:expr, $change:expr) => {
        match $pointer {
            Pointer::X => pointer!(@ $f, X, $change),
            Pointer::Y => pointer!(@ $f, Y, $change),
            Pointer::Z => pointer!(@ $f, Z, $change),
        }
    };
}

/// Handlers for each change of Z.
macro_rules! program {
    ($f:ident, $change:expr) => {
        match $change {
            Change::Keep => memory!($f, KEEP),
            Change::Post => memory!($f, POST),
            Change::Pre => memory!($f, PRE),
            Change::Displace => memory!($f, DISPLACE),
        }
    };
}

/// The handler that `$handler` gives for each flag.
macro_rules! flag {
    ($flag:expr, $handler:ident $f:ident) => {
        match $flag {
            Flag::C => $handler!($f 0),
            Flag::Z => $handler!($f 1),
            Flag::N => $handler!($f 2),
            Flag::V => $handler!($f 3),
            Flag::S => $handler!($f 4),
            Flag::H => $handler!($f 5),
            Flag::T => $handler!($f 6),
            Flag::I => $handler!($f 7),
        }
    };
}

macro_rules! one_flag {
    ($f:ident $bit:literal) => {
        plain!($f::<$bit>)
    };
}

/// The handler of `op` when the flags in `live` can still be read after it.
pub(crate) fn handler(op: Op, live: u8) -> Exec<Avr> {
    match op {
        Op::Binary(op, with) => match op {
            Binary::Add => binary!(live, with, add),
            Binary::Adc => binary!(live, with, adc),
            Binary::Sub => binary!(live, with, sub),
            Binary::Sbc => binary!(live, with, sbc),
            Binary::Cp => binary!(live, with, cp),
            Binary::Cpc => binary!(live, with, cpc),
            Binary::And => binary!(live, with, and),
            Binary::Or => binary!(live, with, or),
            Binary::Eor => binary!(live, with, eor),
        },
        Op::Unary(op) => match op {
            Unary::Com => flags!(live, com),
            Unary::Neg => flags!(live, neg),
            Unary::Swap => plain!(swap),
            Unary::Inc => flags!(live, inc),
            Unary::Dec => flags!(live, dec),
            Unary::Asr => flags!(live, asr),
            Unary::Lsr => flags!(live, lsr),
            Unary::Ror => flags!(live, ror),
        },
        Op::Wide(op) => match op {
            Wide::Adiw => flags!(live, adiw),
            Wide::Sbiw => flags!(live, sbiw),
        },
        Op::Multiply(op) => match op {
            Multiply::Mul => flags!(live, mul),
            Multiply::Muls => flags!(live, muls),
            Multiply::Mulsu => flags!(live, mulsu),
            Multiply::Fmul => flags!(live, fmul),
            Multiply::Fmuls => flags!(live, fmuls),
            Multiply::Fmulsu => flags!(live, fmulsu),
        },
        Op::Mov => plain!(mov),
        Op::Movw => plain!(movw),
        Op::Ldi => plain!(ldi),
        Op::Bst => plain!(bst),
        Op::Bld => plain!(bld),
        Op::Load(pointer, change) => pointer!(ld, pointer, change),
        Op::Store(pointer, change) => pointer!(st, pointer, change),
        Op::Lds | Op::In => memory!(lds),
        Op::Sts | Op::Out => memory!(sts),
        Op::Push => memory!(push),
        Op::Pop => memory!(pop),
        Op::Lpm(change) => program!(lpm, change),
        Op::Elpm(change) => program!(elpm, change),
        Op::Spm => leave!(spm),
        Op::Cbi => plain!(cbi),
        Op::Sbi => plain!(sbi),
        Op::Skip(op) => match op {
            Skip::Cpse => skip!(cpse),
            Skip::Sbrc => skip!(sbrc),
            Skip::Sbrs => skip!(sbrs),
        },
        Op::SkipIo(op) => match op {
            SkipIo::Sbic => skip!(sbic),
            SkipIo::Sbis => skip!(sbis),
        },
        Op::Rjmp | Op::Jmp | Op::Seam => leave!(jmp),
        Op::Rcall => leave!(call, 1),
        Op::Call => leave!(call, 2),
        Op::Ijmp => leave!(ijmp),
        Op::Icall => leave!(icall),
        Op::Ret => leave!(ret),
        Op::Reti => leave!(reti),
        Op::BranchSet(flag) => flag!(flag, branch when_set),
        Op::BranchClear(flag) => flag!(flag, branch when_clear),
        Op::Set(flag) => flag!(flag, one_flag bset),
        Op::Clear(flag) => flag!(flag, one_flag bclr),
        Op::Nop => plain!(nop),
        Op::Sleep => leave!(sleep),
        Op::Break => leave!(brk),
        Op::Undefined => leave!(undefined),
        Op::Truncated => leave!(truncated),
    }
}
