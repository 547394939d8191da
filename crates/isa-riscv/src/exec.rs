//! Executes instructions: plain functions over the core and one decoded instruction.
//!
//! `a` is the destination register (`DROP` instead of x0), `b` and `c` are the source registers, `imm` is
//! the immediate or a branch target, `d` the instruction's length in bytes.

mod system;

use isa::Exec;
use mcu::FaultKind;

use crate::op::{Alu, Amo, Division, Op, Pseudo, Test, Width};
use crate::state::{Riscv, SP};
use crate::word::Word;
use system::{bad_fetch, bad_opcode, csr, mret, nop, stack, trap, unsupported, write_csr};

/// A decoded instruction of this core.
type Insn<X> = isa::Insn<Riscv<X>>;

#[inline(always)]
fn rs1<X: Word>(cpu: &Riscv<X>, i: &Insn<X>) -> X {
    cpu.r[i.b as usize]
}

#[inline(always)]
fn rs2<X: Word>(cpu: &Riscv<X>, i: &Insn<X>) -> X {
    cpu.r[i.c as usize]
}

#[inline(always)]
fn set<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>, value: X) {
    cpu.r[i.a as usize] = value;
}

fn truth<X: Word>(yes: bool) -> X {
    X::zext(yes.into())
}

impl Alu {
    #[inline(always)]
    fn apply<X: Word>(self, x: X, y: X) -> X {
        match self {
            Self::Add => x.plus(y),
            Self::Sub => x.minus(y),
            Self::Sll => x.sll(y.low()),
            Self::Srl => x.srl(y.low()),
            Self::Sra => x.sra(y.low()),
            Self::Slt => truth(x.less(y)),
            Self::Sltu => truth(x < y),
            Self::Xor => x ^ y,
            Self::Or => x | y,
            Self::And => x & y,
            Self::Mul => x.times(y),
            Self::Mulh => x.mulh(y),
            Self::Mulhu => x.mulhu(y),
        }
    }
}

/// An operation on registers, or on a register and the immediate; on the lower 32 bits where `SHORT`.
#[inline(always)]
fn alu<X: Word, const IMMEDIATE: bool, const SHORT: bool>(cpu: &mut Riscv<X>, i: &Insn<X>, alu: Alu) {
    let (x, y) = (rs1(cpu, i), if IMMEDIATE { X::sext(i.imm) } else { rs2(cpu, i) });
    set(cpu, i, if SHORT { X::sext(alu.apply(x.low(), y.low())) } else { alu.apply(x, y) });
}

/// MULHSU.
fn mulhsu<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, rs1(cpu, i).mulhsu(rs2(cpu, i)));
}

/// LUI.
#[inline(always)]
fn lui<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, X::sext(i.imm));
}

/// AUIPC.
#[inline(always)]
fn auipc<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, X::zext(i.site.pc).plus(X::sext(i.imm)));
}

/// A division, of the lower 32 bits where `SHORT`.
#[inline(always)]
fn divide<X: Word, const SHORT: bool>(cpu: &mut Riscv<X>, i: &Insn<X>, division: Division) {
    let short = |v: X| match (SHORT, division.is_signed()) {
        (false, _) => v,
        (true, true) => X::sext(v.low()),
        (true, false) => X::zext(v.low()),
    };
    let (x, y) = (short(rs1(cpu, i)), short(rs2(cpu, i)));
    cpu.mem.stall += i64::from((cpu.events.div)(x.wide(), y.wide(), division));
    let value = match division {
        Division::Div => x.div(y),
        Division::Divu => x.divu(y),
        Division::Rem => x.rem(y),
        Division::Remu => x.remu(y),
    };
    set(cpu, i, if SHORT { X::sext(value.low()) } else { value });
}

// --- memory ---

#[inline(always)]
fn address<X: Word>(cpu: &Riscv<X>, i: &Insn<X>) -> X {
    rs1(cpu, i).plus(X::sext(i.imm))
}

/// Whether the fast path can do an access of `N` bytes: its address is on the bus, and aligned.
#[inline(always)]
fn plain<X: Word, const N: usize>(at: X) -> bool {
    at.high() == 0 && at.low() as usize & (N - 1) == 0
}

/// The address on the bus; none, and a fault, where the core traps.
fn bus<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>, at: X, write: bool, atomic: bool) -> Option<u32> {
    let address = at.low();
    if at.high() != 0 {
        cpu.mem.fault(FaultKind::OutOfRange { address, write }, i.site);
        return None;
    }
    if address as usize & (N - 1) != 0 {
        let Some(cycles) = cpu.events.unaligned.filter(|_| !atomic) else {
            cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
            return None;
        };
        cpu.mem.count_unaligned(cycles(address, N as u32));
    }
    Some(address)
}

fn read<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>, at: u32) -> u64 {
    let sp = cpu.r[SP].low();
    if N == 8 {
        let low = cpu.mem.load::<4>(at, sp, i.site);
        let high = cpu.mem.load::<4>(at.wrapping_add(4), sp, i.site);
        return u64::from(high) << 32 | u64::from(low);
    }
    cpu.mem.load::<N>(at, sp, i.site).into()
}

fn write<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>, at: u32, value: u64) {
    let sp = cpu.r[SP].low();
    if N == 8 {
        cpu.mem.store::<4>(at, value as u32, sp, i.site);
        cpu.mem.store::<4>(at.wrapping_add(4), (value >> 32) as u32, sp, i.site);
    } else {
        cpu.mem.store::<N>(at, value as u32, sp, i.site);
    }
}

#[inline(always)]
fn extend<X: Word, const N: usize, const SIGNED: bool>(v: u64) -> X {
    let up = 64 - 8 * N as u32;
    X::cut(if SIGNED { ((v << up) as i64 >> up) as u64 } else { v })
}

/// Loads `N` bytes. Without `SLOW` it accesses aligned RAM only, and gives up elsewhere.
#[inline(always)]
fn load<X: Word, const SLOW: bool, const N: usize, const SIGNED: bool>(cpu: &mut Riscv<X>, i: &Insn<X>) -> Option<()> {
    let at = address(cpu, i);
    let value = if SLOW {
        let at = bus::<X, N>(cpu, i, at, false, false)?;
        read::<X, N>(cpu, i, at)
    } else if !plain::<X, N>(at) {
        return None;
    } else if N == 8 {
        let offset = at.low().wrapping_sub(cpu.mem.ram_base) as usize;
        let bytes = cpu.mem.ram.get(offset..offset.wrapping_add(8))?;
        u64::from_le_bytes(bytes.try_into().ok()?)
    } else {
        cpu.mem.ram_load::<N>(at.low())?.into()
    };
    set(cpu, i, extend::<X, N, SIGNED>(value));
    Some(())
}

/// Stores `N` bytes; otherwise like [`load`].
#[inline(always)]
fn store<X: Word, const SLOW: bool, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) -> Option<()> {
    let (at, value) = (address(cpu, i), rs2(cpu, i));
    if SLOW {
        let at = bus::<X, N>(cpu, i, at, true, false)?;
        write::<X, N>(cpu, i, at, value.wide());
        return Some(());
    }
    let done = plain::<X, N>(at)
        && if N == 8 {
            cpu.mem.ram_store::<4>(at.low(), value.low())
                && cpu.mem.ram_store::<4>(at.low().wrapping_add(4), value.high())
        } else {
            cpu.mem.ram_store::<N>(at.low(), value.low())
        };
    done.then_some(())
}

/// LR: there is one hart, so a reservation ends with the next SC only.
fn load_reserved<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let at = rs1(cpu, i);
    let Some(at) = bus::<X, N>(cpu, i, at, false, true) else { return };
    let value = read::<X, N>(cpu, i, at);
    cpu.reserved = Some(at);
    set(cpu, i, extend::<X, N, true>(value));
}

/// SC.
fn store_conditional<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let (at, value) = (rs1(cpu, i), rs2(cpu, i));
    let Some(at) = bus::<X, N>(cpu, i, at, true, true) else { return };
    let open = cpu.reserved.take() == Some(at);
    if open {
        write::<X, N>(cpu, i, at, value.wide());
    }
    set(cpu, i, truth(!open));
}

/// AMO. Operands of 32 bits are sign-extended, which keeps the order of unsigned numbers too.
#[inline(always)]
fn amo<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>, amo: Amo) {
    let (at, value) = (rs1(cpu, i), rs2(cpu, i));
    let Some(at) = bus::<X, N>(cpu, i, at, true, true) else { return };
    let old: X = extend::<X, N, true>(read::<X, N>(cpu, i, at));
    let signed = |v: X| if N == 4 { i64::from(v.low() as i32) } else { v.wide() as i64 };
    let (x, y) = (signed(old), signed(value));
    let new = match amo {
        Amo::Swap => y,
        Amo::Add => x.wrapping_add(y),
        Amo::Xor => x ^ y,
        Amo::And => x & y,
        Amo::Or => x | y,
        Amo::Min => x.min(y),
        Amo::Max => x.max(y),
        Amo::Minu => (x as u64).min(y as u64) as i64,
        Amo::Maxu => (x as u64).max(y as u64) as i64,
    };
    write::<X, N>(cpu, i, at, new as u64);
    set(cpu, i, old);
}

// --- control ---

/// Goes to its target, or continues.
#[inline(always)]
fn branch<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>, test: Test) {
    let (x, y) = (rs1(cpu, i), rs2(cpu, i));
    let take = match test {
        Test::Eq => x == y,
        Test::Ne => x != y,
        Test::Lt => x.less(y),
        Test::Ge => !x.less(y),
        Test::Ltu => x < y,
        Test::Geu => x >= y,
    };
    cpu.pc = if take { i.imm } else { i.site.pc.wrapping_add(i.d.into()) };
    cpu.mem.stall += if take { i64::from(i.taken) } else { 0 };
}

#[inline(always)]
fn link<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, X::zext(i.site.pc).plus(X::zext(i.d.into())));
}

/// JAL.
#[inline(always)]
fn jal<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    link(cpu, i);
    cpu.pc = i.imm;
}

/// JALR.
#[inline(always)]
fn jalr<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let target = address(cpu, i);
    link(cpu, i);
    cpu.pc = target.low() & !1;
    if target.high() != 0 {
        cpu.mem.fault(FaultKind::BadFetch, i.site);
    }
}

/// Continues at `imm` after a run that is full.
#[inline(always)]
fn seam<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    cpu.pc = i.imm;
}

// --- handlers ---

/// A handler that continues.
macro_rules! next {
    ($f:expr $(, $arg:expr)?) => {{
        unsafe fn run<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                $f(cpu, &*i $(, $arg)?);
                isa::next(cpu, i);
            }
        }
        run::<X>
    }};
}

/// A handler that sets the program counter and ends the run.
macro_rules! last {
    ($f:expr $(, $arg:expr)?) => {{
        unsafe fn run<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: `i` points to an instruction (contract of `Exec`).
            $f(cpu, unsafe { &*i } $(, $arg)?);
        }
        run::<X>
    }};
}

/// A handler with a fast path for RAM.
macro_rules! memory {
    ($f:ident $(, $arg:literal)+) => {{
        unsafe fn run<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                match $f::<X, false $(, $arg)+>(cpu, &*i) {
                    Some(()) => isa::next(cpu, i),
                    None => slow(cpu, i),
                }
            }
        }
        #[cold]
        #[inline(never)]
        unsafe fn slow<X: Word>(cpu: &mut Riscv<X>, i: *const Insn<X>) {
            // SAFETY: as above.
            unsafe {
                let _ = $f::<X, true $(, $arg)+>(cpu, &*i);
                isa::next(cpu, i);
            }
        }
        run::<X>
    }};
}

/// The handler for each value of an enum: of `$f` with the value as its last argument.
macro_rules! each {
    ($wrap:ident, $f:expr, $value:expr, $type:ident: $($name:ident)+) => {
        match $value {
            $($type::$name => $wrap!($f, $type::$name),)+
        }
    };
}

macro_rules! alus {
    ($f:expr, $alu:expr) => {
        each!(next, $f, $alu, Alu: Add Sub Sll Srl Sra Slt Sltu Xor Or And Mul Mulh Mulhu)
    };
}

/// Accesses by their width: atomic ones have words or more.
macro_rules! wide {
    ($f:ident, $width:expr $(, $amo:expr)?) => {
        match $width {
            Width::Byte | Width::Half | Width::Word => wide!(@ $f, 4 $(, $amo)?),
            Width::Double => wide!(@ $f, 8 $(, $amo)?),
        }
    };
    (@ $f:ident, $n:literal, $amo:expr) => {
        each!(next, $f::<X, $n>, $amo, Amo: Swap Add Xor And Or Min Max Minu Maxu)
    };
    (@ $f:ident, $n:literal) => { next!($f::<X, $n>) };
}

/// The handler of an operation; the flag says whether its second operand is the immediate.
pub(crate) fn handler<X: Word>(op: Op, immediate: bool) -> Exec<Riscv<X>> {
    match op {
        Op::Lui => next!(lui),
        Op::Auipc => next!(auipc),
        Op::Alu(a) if immediate => alus!(alu::<X, true, false>, a),
        Op::Alu(a) => alus!(alu::<X, false, false>, a),
        Op::AluWord(a) if immediate => alus!(alu::<X, true, true>, a),
        Op::AluWord(a) => alus!(alu::<X, false, true>, a),
        Op::Mulhsu => next!(mulhsu),
        Op::Divide(d) => each!(next, divide::<X, false>, d, Division: Div Divu Rem Remu),
        Op::DivideWord(d) => each!(next, divide::<X, true>, d, Division: Div Divu Rem Remu),
        Op::Load(Width::Byte, true) => memory!(load, 1, true),
        Op::Load(Width::Byte, false) => memory!(load, 1, false),
        Op::Load(Width::Half, true) => memory!(load, 2, true),
        Op::Load(Width::Half, false) => memory!(load, 2, false),
        Op::Load(Width::Word, true) => memory!(load, 4, true),
        Op::Load(Width::Word, false) => memory!(load, 4, false),
        Op::Load(Width::Double, _) => memory!(load, 8, true),
        Op::Store(Width::Byte) => memory!(store, 1),
        Op::Store(Width::Half) => memory!(store, 2),
        Op::Store(Width::Word) => memory!(store, 4),
        Op::Store(Width::Double) => memory!(store, 8),
        Op::LoadReserved(width) => wide!(load_reserved, width),
        Op::StoreConditional(width) => wide!(store_conditional, width),
        Op::Amo(a, width) => wide!(amo, width, a),
        Op::Branch(test) => each!(last, branch, test, Test: Eq Ne Lt Ge Ltu Geu),
        Op::Jal => last!(jal),
        Op::Jalr => last!(jalr),
        Op::Fence => next!(nop),
        Op::ReadCsr => next!(csr),
        Op::WriteCsr => next!(write_csr),
        Op::Mret => last!(mret),
        Op::Trap => last!(trap),
        Op::Unsupported => last!(unsupported),
    }
}

/// The handler of a pseudo-instruction.
pub(crate) fn pseudo<X: Word>(pseudo: Pseudo) -> Exec<Riscv<X>> {
    match pseudo {
        Pseudo::Seam => last!(seam),
        Pseudo::Stack => next!(stack),
        Pseudo::Undefined => last!(bad_opcode),
        Pseudo::Outside => last!(bad_fetch),
    }
}
