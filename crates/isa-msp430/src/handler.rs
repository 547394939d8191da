//! Chooses the handler of each operation, specialised for the combinations of operands that are worth it.

use isa::{Exec, next};

use crate::exec::{self, I, Location, Locations, One, Two};
use crate::op::{Binary, Condition, Op, Unary};
use crate::state::Msp430;
use crate::status::{ALL, C};

/// The operand's location as a constant argument.
const fn location(n: u8) -> Location {
    match n {
        0 => Location::Reg,
        1 => Location::Imm,
        2 => Location::Abs,
        3 => Location::Idx,
        4 => Location::Inc,
        _ => Location::Special,
    }
}

const REG: u8 = Location::Reg as u8;
const IMM: u8 = Location::Imm as u8;
const ABS: u8 = Location::Abs as u8;
const IDX: u8 = Location::Idx as u8;
const INC: u8 = Location::Inc as u8;

unsafe fn two<O: Two, const S: u8, const D: u8, const B: bool, const F: u16>(cpu: &mut Msp430, i: *const I) {
    let form = Locations { byte: B, src: location(S), dst: location(D) };
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        match exec::two::<O>(cpu, &*i, form, F, false) {
            Some(()) => next(cpu, i),
            None => two_slow::<O>(cpu, i),
        }
    }
}

#[inline(never)]
unsafe fn two_slow<O: Two>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: as above.
    unsafe {
        let _ = exec::two::<O>(cpu, &*i, Locations::of(&*i), ALL, true);
        next(cpu, i);
    }
}

unsafe fn two_leave<O: Two>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    let _ = exec::two::<O>(cpu, i, Locations::of(i), ALL, true);
}

fn pick_two<O: Two>(form: Locations, live: u16) -> Exec<Msp430> {
    match live & O::OP.sets() {
        0 => pick_size::<O, 0>(form),
        C => pick_size::<O, C>(form),
        _ => pick_size::<O, ALL>(form),
    }
}

fn pick_size<O: Two, const F: u16>(form: Locations) -> Exec<Msp430> {
    if form.byte { pick_locations::<O, true, F>(form) } else { pick_locations::<O, false, F>(form) }
}

fn pick_locations<O: Two, const B: bool, const F: u16>(form: Locations) -> Exec<Msp430> {
    use Location::{Abs, Idx, Imm, Inc, Reg};
    match (form.src, form.dst) {
        (Reg, Reg) => two::<O, REG, REG, B, F>,
        (Imm, Reg) => two::<O, IMM, REG, B, F>,
        (Abs, Reg) => two::<O, ABS, REG, B, F>,
        (Idx, Reg) => two::<O, IDX, REG, B, F>,
        (Inc, Reg) => two::<O, INC, REG, B, F>,
        (Reg, Abs) => two::<O, REG, ABS, B, F>,
        (Imm, Abs) => two::<O, IMM, ABS, B, F>,
        (Abs, Abs) => two::<O, ABS, ABS, B, F>,
        (Idx, Abs) => two::<O, IDX, ABS, B, F>,
        (Inc, Abs) => two::<O, INC, ABS, B, F>,
        (Reg, Idx) => two::<O, REG, IDX, B, F>,
        (Imm, Idx) => two::<O, IMM, IDX, B, F>,
        (Abs, Idx) => two::<O, ABS, IDX, B, F>,
        (Idx, Idx) => two::<O, IDX, IDX, B, F>,
        (Inc, Idx) => two::<O, INC, IDX, B, F>,
        _ => two_slow::<O>,
    }
}

/// MOV to the program counter: BR and, from the stack, RET.
unsafe fn branch_to<const S: u8>(cpu: &mut Msp430, i: *const I) {
    let form = Locations { byte: false, src: location(S), dst: Location::Special };
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    if exec::branch(cpu, i, form, false).is_none() {
        let _ = exec::branch(cpu, i, form, true);
    }
}

fn leave_mov(form: Locations) -> Exec<Msp430> {
    match (form.byte, form.src) {
        (false, Location::Imm) => branch_to::<IMM>,
        (false, Location::Inc) => branch_to::<INC>,
        _ => two_leave::<exec::Mov>,
    }
}

unsafe fn one<O: One, const S: u8, const B: bool, const F: u16>(cpu: &mut Msp430, i: *const I) {
    let form = Locations { byte: B, src: location(S), dst: Location::Reg };
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        match exec::one::<O>(cpu, &*i, form, F, false) {
            Some(()) => next(cpu, i),
            None => one_slow::<O>(cpu, i),
        }
    }
}

#[inline(never)]
unsafe fn one_slow<O: One>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: as above.
    unsafe {
        let _ = exec::one::<O>(cpu, &*i, Locations::of(&*i), ALL, true);
        next(cpu, i);
    }
}

unsafe fn one_leave<O: One>(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    let _ = exec::one::<O>(cpu, i, Locations::of(i), ALL, true);
}

fn pick_one<O: One>(form: Locations, live: u16) -> Exec<Msp430> {
    fn sized<O: One, const F: u16>(form: Locations) -> Exec<Msp430> {
        match (form.byte, form.src) {
            (false, Location::Reg) => one::<O, REG, false, F>,
            (true, Location::Reg) => one::<O, REG, true, F>,
            (false, Location::Idx) => one::<O, IDX, false, F>,
            (true, Location::Idx) => one::<O, IDX, true, F>,
            (false, Location::Abs) => one::<O, ABS, false, F>,
            _ => one_slow::<O>,
        }
    }
    match live & O::OP.sets() {
        0 => sized::<O, 0>(form),
        C => sized::<O, C>(form),
        _ => sized::<O, ALL>(form),
    }
}

unsafe fn push<const S: u8>(cpu: &mut Msp430, i: *const I) {
    let form = Locations { byte: false, src: location(S), dst: Location::Reg };
    // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
    unsafe {
        match exec::push(cpu, &*i, form, false) {
            Some(()) => next(cpu, i),
            None => push_slow(cpu, i),
        }
    }
}

#[inline(never)]
unsafe fn push_slow(cpu: &mut Msp430, i: *const I) {
    // SAFETY: as above.
    unsafe {
        let _ = exec::push(cpu, &*i, Locations::of(&*i), true);
        next(cpu, i);
    }
}

fn pick_push(form: Locations) -> Exec<Msp430> {
    match (form.byte, form.src) {
        (false, Location::Reg) => push::<REG>,
        (false, Location::Idx) => push::<IDX>,
        _ => push_slow,
    }
}

unsafe fn call<const S: u8>(cpu: &mut Msp430, i: *const I) {
    let form = Locations { byte: false, src: location(S), dst: Location::Reg };
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    let i = unsafe { &*i };
    if exec::call(cpu, i, form, false).is_none() {
        call_slow(cpu, i);
    }
}

#[inline(never)]
fn call_slow(cpu: &mut Msp430, i: &I) {
    let _ = exec::call(cpu, i, Locations::of(i), true);
}

unsafe fn call_any(cpu: &mut Msp430, i: *const I) {
    // SAFETY: `i` points to an instruction (contract of `Exec`).
    call_slow(cpu, unsafe { &*i });
}

fn pick_call(form: Locations) -> Exec<Msp430> {
    match form.src {
        Location::Imm => call::<IMM>,
        Location::Reg => call::<REG>,
        _ => call_any,
    }
}

/// A handler that goes to its target or continues.
macro_rules! conditional {
    ($name:ident) => {{
        unsafe fn run(cpu: &mut Msp430, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                let insn = &*i;
                if exec::holds(cpu.status, Condition::$name) {
                    cpu.mem.stall += i64::from(insn.taken) - i64::from(insn.refund);
                    exec::jump(cpu, insn);
                } else {
                    next(cpu, i);
                }
            }
        }
        run as Exec<Msp430>
    }};
}

/// A handler that ends the run.
macro_rules! leave {
    ($f:ident) => {{
        unsafe fn run(cpu: &mut Msp430, i: *const I) {
            // SAFETY: `i` points to an instruction (contract of `Exec`).
            exec::$f(cpu, unsafe { &*i });
        }
        run as Exec<Msp430>
    }};
}

/// A handler that continues.
macro_rules! plain {
    ($f:ident) => {{
        unsafe fn run(cpu: &mut Msp430, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                exec::$f(cpu, &*i);
                next(cpu, i);
            }
        }
        run as Exec<Msp430>
    }};
}

/// Handlers of operations with two operands, or one, by `$pick`.
macro_rules! each {
    ($op:expr, $kind:ident $($name:ident)+ => |$o:ident| $pick:expr) => {
        match $op {
            $($kind::$name => {
                type $o = exec::$name;
                $pick
            })+
        }
    };
}

/// The handler of `op` with operands in `locations`, when the flags in `live` can still be read after it.
pub(crate) fn handler(op: Op, locations: Locations, live: u16) -> Exec<Msp430> {
    match op {
        Op::Binary(op) => {
            each!(op, Binary Mov Add Addc Subc Sub Cmp Dadd Bit Bic Bis Xor And => |O| pick_two::<O>(locations, live))
        }
        Op::Unary(op) => each!(op, Unary Rrc Swpb Rra Sxt => |O| pick_one::<O>(locations, live)),
        Op::Push => pick_push(locations),
        Op::Call => pick_call(locations),
        Op::Reti => leave!(reti),
        Op::Jump(condition) => match condition {
            Condition::Jne => conditional!(Jne),
            Condition::Jeq => conditional!(Jeq),
            Condition::Jnc => conditional!(Jnc),
            Condition::Jc => conditional!(Jc),
            Condition::Jn => conditional!(Jn),
            Condition::Jge => conditional!(Jge),
            Condition::Jl => conditional!(Jl),
        },
        Op::Jmp | Op::Seam => leave!(jump),
        Op::Carry(true) => plain!(set_carry),
        Op::Carry(false) => plain!(clear_carry),
        Op::Undefined => leave!(undefined),
        Op::Truncated => leave!(truncated),
        Op::Forbidden => leave!(forbidden),
    }
}

/// The handler of an operation that writes the program counter.
pub(crate) fn leaving(op: Op, locations: Locations) -> Exec<Msp430> {
    match op {
        Op::Binary(Binary::Mov) => leave_mov(locations),
        Op::Binary(op) => each!(op, Binary Mov Add Addc Subc Sub Cmp Dadd Bit Bic Bis Xor And => |O| two_leave::<O>),
        Op::Unary(op) => each!(op, Unary Rrc Swpb Rra Sxt => |O| one_leave::<O>),
        Op::Push | Op::Call | Op::Reti | Op::Jump(_) | Op::Jmp | Op::Carry(_) => handler(op, locations, ALL),
        Op::Seam | Op::Undefined | Op::Truncated | Op::Forbidden => handler(op, locations, ALL),
    }
}
