//! Executes instructions: plain functions over the core and one decoded instruction, and the handler of each operation.
//!
//! Operands are where the table's forms put them: `a` result or transferred register, `b` first operand
//! or base, `c` second operand, `d` a small number, `imm` an immediate or an address.

mod memory;
mod system;

use isa::values::Plain;
use mcu::FaultKind;

use crate::op::{Against, Amount, Binary, Condition, Divide, Keep, Load, Loop, Op, Shift, Store, Unary};
use crate::state::{Xtensa, ps, special};
use crate::value;
use memory::{l32r, load_as, s32c1i, store_as};
use system::{bad_fetch, bad_opcode, nop, rsil, rsr, rur, stack, stop, trap, unsupported, wsr, wur, xsr};

/// A decoded instruction of this core.
pub type Insn = isa::Insn<Xtensa>;
/// A threaded handler of this core.
pub type Exec = isa::Exec<Xtensa>;

/// Wraps a function into a handler that continues with the next instruction.
macro_rules! seq {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut Xtensa, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                ($f)(cpu, &*i);
                isa::next(cpu, i);
            }
        }
        handler as Exec
    }};
}

/// Wraps a function that sets the program counter into a handler that ends its block.
macro_rules! end {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut Xtensa, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block.
            ($f)(cpu, unsafe { &*i });
        }
        handler as Exec
    }};
}

/// Wraps a function that returns whether to continue; if not, it has set the program counter, and the cycles of the
/// rest of the block are taken back.
macro_rules! may {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut Xtensa, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                if ($f)(cpu, &*i) {
                    isa::next(cpu, i);
                } else {
                    leave(cpu, &*i);
                }
            }
        }
        handler as Exec
    }};
}

/// Wraps a condition into the handler of a branch to `imm`.
macro_rules! branch {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut Xtensa, i: *const Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                if ($f)(cpu, &*i) {
                    cpu.pc = (*i).imm;
                    cpu.mem.stall += i64::from((*i).taken) - i64::from((*i).refund);
                } else {
                    isa::next(cpu, i);
                }
            }
        }
        handler as Exec
    }};
}

/// Takes back the cycles of the rest of the block.
#[inline(always)]
fn leave(cpu: &mut Xtensa, i: &Insn) {
    cpu.mem.stall -= i64::from(i.refund);
}

/// A register; the array is long enough for every byte.
#[inline(always)]
fn reg(cpu: &Xtensa, n: u8) -> u32 {
    cpu.a[n as usize]
}

#[inline(always)]
fn set(cpu: &mut Xtensa, n: u8, value: u32) {
    cpu.a[n as usize] = value;
}

// --- arithmetic ---

#[inline(always)]
fn binary(cpu: &mut Xtensa, i: &Insn, op: Binary) {
    let value = value::binary(&mut Plain, op, reg(cpu, i.b).into(), reg(cpu, i.c).into());
    set(cpu, i.a, value.word());
}

#[inline(always)]
fn unary(cpu: &mut Xtensa, i: &Insn, op: Unary) {
    let value = value::unary(&mut Plain, op, reg(cpu, i.b).into(), i.d, i.imm);
    set(cpu, i.a, value.word());
}

#[inline(always)]
fn movi(cpu: &mut Xtensa, i: &Insn) {
    set(cpu, i.a, i.imm);
}

#[inline(always)]
fn keep(cpu: &mut Xtensa, i: &Insn, op: Keep) {
    let (old, x, y) = (reg(cpu, i.a), reg(cpu, i.b), reg(cpu, i.c));
    let value = value::keep(&mut Plain, op, old.into(), x.into(), y.into());
    set(cpu, i.a, value.word());
}

#[inline(always)]
fn amount(cpu: &mut Xtensa, i: &Insn, op: Amount) {
    cpu.sar = value::amount(&mut Plain, op, reg(cpu, i.b).into(), i.imm).word();
}

#[inline(always)]
fn shift(cpu: &mut Xtensa, i: &Insn, op: Shift) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let value = value::shift(&mut Plain, op, x.into(), y.into(), cpu.sar.into());
    set(cpu, i.a, value.word());
}

/// A division; by zero it is an exception, which ends the run.
fn divide(cpu: &mut Xtensa, i: &Insn, op: Divide) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    if y == 0 {
        return cpu.mem.fault(FaultKind::Trap, i.site);
    }
    cpu.mem.stall += i64::from((cpu.events.div)(x, y));
    let value = match op {
        Divide::Quou => x / y,
        Divide::Quos => (x as i32).wrapping_div(y as i32) as u32,
        Divide::Remu => x % y,
        Divide::Rems => (x as i32).wrapping_rem(y as i32) as u32,
    };
    set(cpu, i.a, value);
}

// --- branches ---

/// Whether a branch is taken.
#[inline(always)]
fn taken(cpu: &Xtensa, i: &Insn, condition: Condition, what: Against) -> bool {
    let y = value::against(&mut Plain, what, |_| reg(cpu, i.c).into(), i.d);
    value::holds(&mut Plain, condition, reg(cpu, i.b).into(), y).holds()
}

/// Jump to `imm`, also as the pseudo-instruction at the end of a run.
#[inline(always)]
fn jump(cpu: &mut Xtensa, i: &Insn) {
    cpu.pc = i.imm;
}

/// A jump to an address that is known only at run time.
#[inline(always)]
fn land(cpu: &mut Xtensa, pc: u32) {
    cpu.pc = pc;
    let bytes = cpu.length(pc);
    cpu.mem.stall += i64::from(cpu.events.land[(pc & 3) as usize][usize::from(bytes > 2)]);
}

/// JX, RET, RET.N.
#[inline(always)]
fn jx(cpu: &mut Xtensa, i: &Insn) {
    land(cpu, reg(cpu, i.b));
}

/// CALL0.
#[inline(always)]
fn call0(cpu: &mut Xtensa, i: &Insn) {
    cpu.a[0] = i.site.pc.wrapping_add(3);
    cpu.pc = i.imm;
}

/// CALLX0.
#[inline(always)]
fn callx0(cpu: &mut Xtensa, i: &Insn) {
    let to = reg(cpu, i.b);
    cpu.a[0] = i.site.pc.wrapping_add(3);
    land(cpu, to);
}

// --- windowed registers ---

fn call_window(cpu: &mut Xtensa, i: &Insn) {
    let n = u32::from(i.d & 3);
    cpu.ps = cpu.ps & !ps::CALLINC | n << 16;
    cpu.a[4 * n as usize] = n << 30 | i.site.pc.wrapping_add(3) & 0x3FFF_FFFF;
}

/// CALL4, CALL8, CALL12; `d` is a quarter of the number.
fn call(cpu: &mut Xtensa, i: &Insn) {
    call_window(cpu, i);
    cpu.pc = i.imm;
}

/// CALLX4, CALLX8, CALLX12.
fn callx(cpu: &mut Xtensa, i: &Insn) {
    let to = reg(cpu, i.b);
    call_window(cpu, i);
    land(cpu, to);
}

/// Pseudo-instruction before the first use of the registers a4`c` to a4`c`+3 of a run: continues when no live frame is
/// in them.
#[inline(always)]
fn window_check(cpu: &mut Xtensa, i: &Insn) -> bool {
    if cpu.guard >> (i.c & 3) & 1 == 0 {
        return true;
    }
    cpu.overflow(i.site.pc, (i.c & 3).into());
    false
}

/// Pseudo-instruction before ENTRY: PS.CALLINC says how far the window moves.
fn entry_check(cpu: &mut Xtensa, i: &Insn) -> bool {
    let n = cpu.ps >> 16 & 3;
    if cpu.guard >> n & 1 == 0 {
        return true;
    }
    cpu.overflow(i.site.pc, n);
    false
}

/// ENTRY.
fn entry(cpu: &mut Xtensa, i: &Insn) {
    if i.b > 3 || cpu.ps & (ps::WOE | ps::EXCM) != ps::WOE {
        return stop(cpu, i, FaultKind::Trap);
    }
    cpu.entry(i.b.into(), i.imm, i);
}

/// RETW, RETW.N.
fn retw(cpu: &mut Xtensa, i: &Insn) {
    if !cpu.may_return() {
        return stop(cpu, i, FaultKind::Trap);
    }
    let to = i.site.pc & 0xC000_0000 | cpu.a[0] & 0x3FFF_FFFF;
    if cpu.return_window(i.site.pc) {
        land(cpu, to);
    }
}

/// MOVSP.
fn movsp(cpu: &mut Xtensa, i: &Insn) -> bool {
    let done = cpu.may_move_stack(i.site.pc);
    if done {
        set(cpu, i.a, reg(cpu, i.b));
    }
    done
}

/// ROTW by `imm`.
fn rotw(cpu: &mut Xtensa, i: &Insn) {
    cpu.rotate(cpu.window_base.wrapping_add(i.imm));
}

/// RFWO.
fn rfwo(cpu: &mut Xtensa, _: &Insn) {
    cpu.return_from_window(true);
}

/// RFWU.
fn rfwu(cpu: &mut Xtensa, _: &Insn) {
    cpu.return_from_window(false);
}

/// RFE.
fn rfe(cpu: &mut Xtensa, _: &Insn) {
    cpu.pc = cpu.sr[usize::from(special::EPC1)];
    cpu.set_ps(cpu.ps & !ps::EXCM);
}

// --- loops ---

fn start_loop(cpu: &mut Xtensa, i: &Insn, count: u32) {
    cpu.lcount = count.wrapping_sub(1);
    cpu.lbeg = i.site.pc.wrapping_add(3);
    cpu.loop_ends_at(i.imm, i.site);
}

/// LOOP, LOOPGTZ, LOOPNEZ: returns whether the loop is skipped.
#[inline(always)]
fn start(cpu: &mut Xtensa, i: &Insn, op: Loop) -> bool {
    let count = reg(cpu, i.b);
    start_loop(cpu, i, count);
    match op {
        Loop::Loop => false,
        Loop::Loopnez => count == 0,
        Loop::Loopgtz => count as i32 <= 0,
    }
}

/// Pseudo-instruction at the end of a run that ends at `imm`, which was the end of a loop.
#[inline(always)]
fn loop_end(cpu: &mut Xtensa, i: &Insn) {
    if cpu.lcount != 0 && cpu.lend == i.imm && cpu.ps & ps::EXCM == 0 {
        cpu.lcount -= 1;
        cpu.pc = cpu.lbeg;
    } else {
        cpu.pc = i.imm;
    }
}

// --- the handlers ---

/// The handler of each operation of a kind.
macro_rules! each {
    ($wrap:ident $f:ident $op:expr, $kind:ident $($name:ident)+) => {
        match $op {
            $($kind::$name => $wrap!(|cpu: &mut Xtensa, i: &Insn| $f(cpu, i, $kind::$name)),)+
        }
    };
}

/// The handlers of branches that compare with the same kind of number.
macro_rules! branches {
    ($condition:expr, $against:ident $($name:ident)+) => {
        match $condition {
            $(Condition::$name => {
                branch!(|cpu: &mut Xtensa, i: &Insn| taken(cpu, i, Condition::$name, Against::$against))
            })+
        }
    };
}

/// The handler of `op`.
pub(crate) fn handler(op: Op) -> Exec {
    match op {
        Op::Binary(op) => each!(seq binary op, Binary And Or Xor Add Addx2 Addx4 Addx8 Sub Subx2 Subx4 Subx8
            Min Max Minu Maxu Mul16u Mul16s Mull Muluh Mulsh),
        Op::Unary(op) => each!(seq unary op, Unary Mov Neg Abs Addi Slli Srli Srai Extui Sext Clamps Nsa Nsau),
        Op::Movi | Op::Literal => seq!(movi),
        Op::Keep(op) => each!(seq keep op, Keep Moveqz Movnez Movltz Movgez),
        Op::Divide(op) => each!(seq divide op, Divide Quou Quos Remu Rems),
        Op::Amount(op) => each!(seq amount op, Amount Ssr Ssl Ssa8l Ssa8b Ssai),
        Op::Shift(op) => each!(seq shift op, Shift Src Sll Srl Sra),
        Op::L32r => seq!(l32r),
        Op::Load(op) => each!(seq load_as op, Load L8ui L16ui L16si L32i),
        Op::Store(op) => each!(seq store_as op, Store S8i S16i S32i),
        Op::S32c1i => seq!(s32c1i),
        Op::Branch(condition, against) => match against {
            Against::Register => {
                branches!(condition, Register Beq Bne Blt Bge Bltu Bgeu Bnone Bany Ball Bnall Bbc Bbs)
            }
            Against::Zero => branches!(condition, Zero Beq Bne Blt Bge Bltu Bgeu Bnone Bany Ball Bnall Bbc Bbs),
            Against::Constant => {
                branches!(condition, Constant Beq Bne Blt Bge Bltu Bgeu Bnone Bany Ball Bnall Bbc Bbs)
            }
            Against::Bit => branches!(condition, Bit Beq Bne Blt Bge Bltu Bgeu Bnone Bany Ball Bnall Bbc Bbs),
        },
        Op::J | Op::GoOn => end!(jump),
        Op::Jx => end!(jx),
        Op::Call0 => end!(call0),
        Op::Callx0 => end!(callx0),
        Op::Call => end!(call),
        Op::Callx => end!(callx),
        Op::Retw => end!(retw),
        Op::Entry => seq!(entry),
        Op::Movsp => may!(movsp),
        Op::Rotw => seq!(rotw),
        Op::Rfwo => end!(rfwo),
        Op::Rfwu => end!(rfwu),
        Op::Rfe => end!(rfe),
        Op::Loop(op) => match op {
            Loop::Loop => seq!(|cpu: &mut Xtensa, i: &Insn| _ = start(cpu, i, Loop::Loop)),
            Loop::Loopnez => branch!(|cpu: &mut Xtensa, i: &Insn| start(cpu, i, Loop::Loopnez)),
            Loop::Loopgtz => branch!(|cpu: &mut Xtensa, i: &Insn| start(cpu, i, Loop::Loopgtz)),
        },
        Op::Nop | Op::Wait | Op::Isync => seq!(nop),
        Op::Rsil => seq!(rsil),
        Op::Rsr => seq!(rsr),
        Op::Wsr => seq!(wsr),
        Op::Xsr => seq!(xsr),
        Op::Rur => seq!(rur),
        Op::Wur => seq!(wur),
        Op::Trap => end!(trap),
        Op::Unsupported => end!(unsupported),
        Op::WindowCheck => may!(window_check),
        Op::EntryCheck => may!(entry_check),
        Op::Stack => seq!(stack),
        Op::LoopEnd => end!(loop_end),
        Op::BadOpcode => end!(bad_opcode),
        Op::BadFetch => end!(bad_fetch),
    }
}
