//! Finds the handlers for an operation and its operands.

use crate::exec::{self, Exec, Insn, control, dsp, memory};
use crate::op::{Alu, Dsp, Fit, Lanes, Op, Shift, Simple, Size, Sum};
use crate::operands::{Mode, Operands};
use crate::state::Thumb;
use crate::step::Kind;

/// Handlers that leave the flags alone and that set them.
pub(crate) type Handlers = [Exec; 2];

/// A handler that continues with the next instruction.
macro_rules! seq {
    ($f:path $(, $arg:expr)*) => {{
        unsafe fn handler(cpu: &mut Thumb, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                $f(cpu, &*i $(, $arg)*);
                isa::next(cpu, i);
            }
        }
        handler as Exec
    }};
}

/// A handler of a function that sets the program counter, which ends its block.
macro_rules! end {
    ($f:path $(, $arg:expr)*) => {{
        unsafe fn handler(cpu: &mut Thumb, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block.
            $f(cpu, unsafe { &*i } $(, $arg)*);
        }
        handler as Exec
    }};
}

/// A handler with a fast path for RAM.
macro_rules! access {
    ($f:path $(, $arg:expr)*) => {{
        unsafe fn handler(cpu: &mut Thumb, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                match $f(cpu, &*i, false $(, $arg)*) {
                    Some(()) => isa::next(cpu, i),
                    None => slow(cpu, i),
                }
            }
        }
        #[inline(never)]
        unsafe fn slow(cpu: &mut Thumb, i: *const Insn) {
            // SAFETY: as above.
            unsafe {
                let _ = $f(cpu, &*i, true $(, $arg)*);
                isa::next(cpu, i);
            }
        }
        handler as Exec
    }};
}

/// An expression with a value as a constant, so that handlers can be generated from it.
macro_rules! known {
    ($name:ident: bool = $value:expr => $body:expr) => {
        if $value { const $name: bool = true; $body } else { const $name: bool = false; $body }
    };
    ($name:ident: Alu = $value:expr => $body:expr) => {
        known!($name: Alu = $value; And Bic Orr Orn Eor Mov Mvn Tst Teq Add Adc Sub Sbc Rsb Cmp Cmn => $body)
    };
    ($name:ident: Kind = $value:expr => $body:expr) => {
        known!($name: Kind = $value; Imm ImmCarry Reg Lsl Lsr Asr Ror Rrx => $body)
    };
    ($name:ident: Shift = $value:expr => $body:expr) => {
        known!($name: Shift = $value; Lsl Lsr Asr Ror => $body)
    };
    ($name:ident: Size = $value:expr => $body:expr) => {
        known!($name: Size = $value; Byte Half Word => $body)
    };
    ($name:ident: Mode = $value:expr => $body:expr) => {
        known!($name: Mode = $value; Offset Index Plain Pre Post Literal => $body)
    };
    ($name:ident: Lanes = $value:expr => $body:expr) => {
        known!($name: Lanes = $value; Add8 Add16 Asx Sub8 Sub16 Sax => $body)
    };
    ($name:ident: Fit = $value:expr => $body:expr) => {
        known!($name: Fit = $value; S Q Sh U Uq Uh => $body)
    };
    ($name:ident: Sum = $value:expr => $body:expr) => {
        known!($name: Sum = $value; Alone Plus Minus => $body)
    };
    ($name:ident: $type:ident = $value:expr; $($variant:ident)+ => $body:expr) => {
        match $value {
            $($type::$variant => { const $name: $type = $type::$variant; $body })+
        }
    };
}

/// Handlers by condition.
macro_rules! by_cond {
    ($name:ident = $cond:expr => $body:expr) => {
        by_cond!($name = $cond; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 => $body)
    };
    ($name:ident = $cond:expr; $($n:literal)+ => $body:expr) => {
        match $cond {
            $($n => { const $name: u8 = $n; $body })+
            _ => { const $name: u8 = 14; $body }
        }
    };
}

/// The handlers of an instruction.
pub(crate) fn handlers(op: Op, o: &Operands) -> Handlers {
    let one = match op {
        Op::Data(alu) => {
            return known!(A: Alu = alu => known!(K: Kind = o.kind => {
                [seq!(exec::data, A, K, false), seq!(exec::data, A, K, true)]
            }));
        }
        Op::Shift(shift) => {
            return known!(S: Shift = shift => {
                [seq!(exec::shift_register, S, false), seq!(exec::shift_register, S, true)]
            });
        }
        Op::Mul => return [seq!(exec::mul, false), seq!(exec::mul, true)],
        Op::Simple(op) => simple(op),
        Op::Saturate(signed) => {
            known!(K: Kind = o.kind => known!(S: bool = signed => seq!(exec::saturate, K, S)))
        }
        Op::Nop | Op::Barrier => seq!(exec::nop),
        Op::MulLong(signed) => known!(S: bool = signed => seq!(exec::mul_long, S, false)),
        Op::MulLongAdd(signed) => known!(S: bool = signed => seq!(exec::mul_long, S, true)),
        Op::Div(signed) => known!(S: bool = signed => seq!(exec::div, S)),
        Op::Dsp(dsp) => extension(dsp, o.kind),
        Op::Load(size, signed) => known!(M: Mode = o.mode => known!(N: Size = size => known!(S: bool = signed => {
            access!(memory::load, M, N, S)
        }))),
        Op::LoadPc => known!(M: Mode = o.mode => end!(memory::load_pc, M)),
        Op::Store(size) => known!(M: Mode = o.mode => known!(N: Size = size => access!(memory::store, M, N))),
        Op::LoadDual => known!(M: Mode = o.mode => seq!(memory::load_dual, M)),
        Op::StoreDual => known!(M: Mode = o.mode => seq!(memory::store_dual, M)),
        Op::LoadMultiple(down) => known!(D: bool = down => seq!(memory::load_multiple, D)),
        Op::LoadMultiplePc(down) => known!(D: bool = down => end!(memory::load_multiple_pc, D)),
        Op::StoreMultiple(down) => known!(D: bool = down => seq!(memory::store_multiple, D)),
        Op::LoadExclusive(size) => known!(N: Size = size => seq!(memory::load_exclusive, N)),
        Op::StoreExclusive(size) => known!(N: Size = size => seq!(memory::store_exclusive, N)),
        Op::ClearExclusive => seq!(memory::clear_exclusive),
        Op::B => end!(control::branch),
        Op::BCond => by_cond!(C = o.c => end!(control::branch_cond, C)),
        Op::CompareBranch(nonzero) => known!(N: bool = nonzero => end!(control::branch_zero, N)),
        Op::Bl => end!(control::branch_link),
        Op::Bx => end!(control::branch_register),
        Op::Blx => end!(control::branch_link_register),
        Op::MovPc => end!(control::mov_pc),
        Op::AddPc => end!(control::add_pc),
        Op::TableBranch(size) => known!(N: Size = size => end!(memory::table_branch, N)),
        Op::It => skip(o.c),
        Op::ChangeState => seq!(control::change_state),
        Op::ReadSpecial => seq!(control::read_special),
        Op::WriteSpecial => seq!(control::write_special),
        Op::Trap => end!(control::trap),
        Op::Sev => seq!(control::send_event),
        Op::Wfe => end!(control::wait_for_event),
        Op::Unsupported => end!(control::unsupported),
        Op::Undefined => end!(control::bad_opcode),
    };
    [one; 2]
}

fn simple(op: Simple) -> Exec {
    match op {
        Simple::Movt => seq!(exec::movt),
        Simple::Extend(size, signed) => known!(N: Size = size => known!(S: bool = signed => seq!(exec::extend, N, S))),
        Simple::Rev => seq!(exec::rev),
        Simple::Rev16 => seq!(exec::rev16),
        Simple::Revsh => seq!(exec::revsh),
        Simple::Rbit => seq!(exec::rbit),
        Simple::Clz => seq!(exec::clz),
        Simple::Extract(signed) => known!(S: bool = signed => seq!(exec::extract, S)),
        Simple::Insert => seq!(exec::insert),
        Simple::Clear => seq!(exec::clear),
        Simple::Mla => seq!(exec::mla),
        Simple::Mls => seq!(exec::mls),
    }
}

fn extension(op: Dsp, kind: Kind) -> Exec {
    match op {
        Dsp::Parallel(lanes, fit) => known!(L: Lanes = lanes => known!(F: Fit = fit => seq!(dsp::parallel, L, F))),
        Dsp::Select => seq!(dsp::select),
        Dsp::Pack => known!(K: Kind = kind => seq!(dsp::pack, K)),
        Dsp::Saturate16(signed) => known!(S: bool = signed => seq!(dsp::saturate16, S)),
        Dsp::ExtendAdd(size, signed) => {
            known!(N: Size = size => known!(S: bool = signed => seq!(dsp::extend_add, N, S)))
        }
        Dsp::Extend16(signed) => known!(S: bool = signed => seq!(dsp::extend16, S, false)),
        Dsp::Extend16Add(signed) => known!(S: bool = signed => seq!(dsp::extend16, S, true)),
        Dsp::Qadd => seq!(dsp::saturating, false, false),
        Dsp::Qsub => seq!(dsp::saturating, false, true),
        Dsp::Qdadd => seq!(dsp::saturating, true, false),
        Dsp::Qdsub => seq!(dsp::saturating, true, true),
        Dsp::Halves(n, m, sum) => known!(N: bool = n => known!(M: bool = m => known!(S: Sum = sum => {
            seq!(dsp::halves, N, M, S)
        }))),
        Dsp::HalvesLong(n, m) => known!(N: bool = n => known!(M: bool = m => seq!(dsp::halves_long, N, M))),
        Dsp::WideHalf(m, sum) => known!(M: bool = m => known!(S: Sum = sum => seq!(dsp::wide_half, M, S))),
        Dsp::Dual(second, cross, sum) => known!(D: Sum = second => known!(C: bool = cross => known!(S: Sum = sum => {
            seq!(dsp::dual, D, C, S)
        }))),
        Dsp::DualLong(second, cross) => {
            known!(D: Sum = second => known!(C: bool = cross => seq!(dsp::dual_long, D, C)))
        }
        Dsp::HighWord(sum, round) => known!(S: Sum = sum => known!(R: bool = round => seq!(dsp::high_word, S, R))),
        Dsp::Differences(sum) => known!(S: Sum = sum => seq!(dsp::differences, S)),
        Dsp::Umaal => seq!(dsp::accumulate_twice),
    }
}

/// The handler that skips unless condition `cond` holds.
pub(crate) fn skip(cond: u8) -> Exec {
    by_cond!(C = cond => control::skip_unless::<C> as Exec)
}

/// One handler for an instruction that sets flags and the branch after it, where that pays.
pub(crate) fn fused(op: Op, kind: Kind, cond: u8) -> Option<Exec> {
    macro_rules! pair {
        ($alu:ident, $kind:ident) => {
            Some(by_cond!(C = cond => {
                unsafe fn handler(cpu: &mut Thumb, i: *const Insn) {
                    // SAFETY: the caller passes an instruction of a block that is not its last one.
                    unsafe { control::data_branch(cpu, i, Alu::$alu, Kind::$kind, C) }
                }
                handler as Exec
            }))
        };
    }
    match (op, kind) {
        _ if cond > 13 => None,
        (Op::Data(Alu::Add), Kind::Imm) => pair!(Add, Imm),
        (Op::Data(Alu::Add), Kind::Reg) => pair!(Add, Reg),
        (Op::Data(Alu::Sub), Kind::Imm) => pair!(Sub, Imm),
        (Op::Data(Alu::Sub), Kind::Reg) => pair!(Sub, Reg),
        (Op::Data(Alu::Cmp), Kind::Imm) => pair!(Cmp, Imm),
        (Op::Data(Alu::Cmp), Kind::Reg) => pair!(Cmp, Reg),
        (Op::Data(Alu::Tst), Kind::Imm) => pair!(Tst, Imm),
        (Op::Data(Alu::Tst), Kind::Reg) => pair!(Tst, Reg),
        _ => None,
    }
}

/// Entries of a run that are not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pseudo {
    /// Not an instruction; the encoding is in `imm`.
    Undefined,
    /// Outside flash.
    Outside,
    /// Skips what the condition guards.
    Skip(u8),
    /// Checks the stack pointer.
    Stack,
    /// Continues after the run.
    Seam,
}

impl Pseudo {
    pub(crate) fn handler(self) -> Exec {
        match self {
            Self::Undefined => end!(control::bad_opcode),
            Self::Outside => end!(control::bad_fetch),
            Self::Skip(cond) => skip(cond),
            Self::Stack => seq!(control::stack),
            Self::Seam => end!(control::branch),
        }
    }
}
