//! What instructions do: plain functions over the core and one decoded instruction.
//!
//! `a` is the destination register ([`DROP`] instead of x0), `b` and `c` are the source registers, `imm` is
//! the immediate or the address a branch goes to, `d` the instruction's length in bytes.

use mcu::FaultKind;

use crate::{Riscv, Word};

/// A decoded instruction of this core.
pub(crate) type Insn<X> = isa::Insn<Riscv<X>>;

/// Where results for x0 go.
pub(crate) const DROP: u8 = 32;

/// The stack pointer.
pub(crate) const SP: usize = 2;

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

/// Functions that write what an expression makes of the first operand `x` and the second `y`.
macro_rules! compute {
    ($second:ident: $($name:ident |$x:ident, $y:ident| $value:expr;)+) => {$(
        #[inline(always)]
        pub(crate) fn $name<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
            let ($x, $y) = (rs1(cpu, i), compute!(@$second cpu i));
            set(cpu, i, $value);
        }
    )+};
    (@register $cpu:ident $i:ident) => { rs2($cpu, $i) };
    (@immediate $cpu:ident $i:ident) => { X::sext($i.imm) };
}

fn truth<X: Word>(yes: bool) -> X {
    X::zext(yes.into())
}

compute! { register:
    add |x, y| x.plus(y);
    sub |x, y| x.minus(y);
    sll |x, y| x.sll(y.low());
    srl |x, y| x.srl(y.low());
    sra |x, y| x.sra(y.low());
    slt |x, y| truth(x.less(y));
    sltu |x, y| truth(x < y);
    xor |x, y| x ^ y;
    or |x, y| x | y;
    and |x, y| x & y;
    addw |x, y| X::sext(x.low().wrapping_add(y.low()));
    subw |x, y| X::sext(x.low().wrapping_sub(y.low()));
    sllw |x, y| X::sext(x.low().sll(y.low()));
    srlw |x, y| X::sext(x.low().srl(y.low()));
    sraw |x, y| X::sext(x.low().sra(y.low()));
    mul |x, y| x.times(y);
    mulh |x, y| x.mulh(y);
    mulhu |x, y| x.mulhu(y);
    mulhsu |x, y| x.mulhsu(y);
    mulw |x, y| X::sext(x.low().wrapping_mul(y.low()));
}

compute! { immediate:
    addi |x, y| x.plus(y);
    slli |x, y| x.sll(y.low());
    srli |x, y| x.srl(y.low());
    srai |x, y| x.sra(y.low());
    slti |x, y| truth(x.less(y));
    sltiu |x, y| truth(x < y);
    xori |x, y| x ^ y;
    ori |x, y| x | y;
    andi |x, y| x & y;
    addiw |x, y| X::sext(x.low().wrapping_add(y.low()));
    slliw |x, y| X::sext(x.low().sll(y.low()));
    srliw |x, y| X::sext(x.low().srl(y.low()));
    sraiw |x, y| X::sext(x.low().sra(y.low()));
}

/// ADDI from x0, and LUI.
#[inline(always)]
pub(crate) fn constant<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, X::sext(i.imm));
}

/// AUIPC.
#[inline(always)]
pub(crate) fn auipc<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, X::zext(i.site.pc).plus(X::sext(i.imm)));
}

/// DIV and its kin: `SIGNED`, the remainder, on 32 bits.
#[inline(always)]
pub(crate) fn divide<X: Word, const SIGNED: bool, const REST: bool, const SHORT: bool>(
    cpu: &mut Riscv<X>,
    i: &Insn<X>,
) {
    let short = |v: X| match (SHORT, SIGNED) {
        (false, _) => v,
        (true, true) => X::sext(v.low()),
        (true, false) => X::zext(v.low()),
    };
    let (x, y) = (short(rs1(cpu, i)), short(rs2(cpu, i)));
    cpu.mem.stall += i64::from((cpu.events.div)(x.wide(), y.wide(), SIGNED));
    let value = match (SIGNED, REST) {
        (true, false) => x.div(y),
        (false, false) => x.divu(y),
        (true, true) => x.rem(y),
        (false, true) => x.remu(y),
    };
    set(cpu, i, if SHORT { X::sext(value.low()) } else { value });
}

// --- memory ---

#[inline(always)]
fn address<X: Word>(cpu: &Riscv<X>, i: &Insn<X>) -> X {
    rs1(cpu, i).plus(X::sext(i.imm))
}

/// Whether the fast path takes an access of `N` bytes: it has an address of the bus and is aligned.
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
        cpu.mem.unaligned += 1;
        cpu.mem.stall += i64::from(cycles(address, N as u32));
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

/// Loads `N` bytes. Without `SLOW` it does what aligned RAM needs and gives up elsewhere.
#[inline(always)]
pub(crate) fn load<X: Word, const SLOW: bool, const N: usize, const SIGNED: bool>(
    cpu: &mut Riscv<X>,
    i: &Insn<X>,
) -> Option<()> {
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

/// Stores `N` bytes; otherwise as [`load`].
#[inline(always)]
pub(crate) fn store<X: Word, const SLOW: bool, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) -> Option<()> {
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
pub(crate) fn load_reserved<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let at = rs1(cpu, i);
    let Some(at) = bus::<X, N>(cpu, i, at, false, true) else { return };
    let value = read::<X, N>(cpu, i, at);
    cpu.reserved = Some(at);
    set(cpu, i, extend::<X, N, true>(value));
}

/// SC.
pub(crate) fn store_conditional<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let (at, value) = (rs1(cpu, i), rs2(cpu, i));
    let Some(at) = bus::<X, N>(cpu, i, at, true, true) else { return };
    let open = cpu.reserved.take() == Some(at);
    if open {
        write::<X, N>(cpu, i, at, value.wide());
    }
    set(cpu, i, truth(!open));
}

/// AMO: memory becomes `f` of its signed value and the second operand.
#[inline(always)]
fn amo<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>, f: fn(i64, i64) -> i64) {
    let (at, value) = (rs1(cpu, i), rs2(cpu, i));
    let Some(at) = bus::<X, N>(cpu, i, at, true, true) else { return };
    let old: X = extend::<X, N, true>(read::<X, N>(cpu, i, at));
    let signed = |v: X| if N == 4 { i64::from(v.low() as i32) } else { v.wide() as i64 };
    write::<X, N>(cpu, i, at, f(signed(old), signed(value)) as u64);
    set(cpu, i, old);
}

macro_rules! amos {
    ($($name:ident |$x:ident, $y:ident| $value:expr;)+) => {$(
        pub(crate) fn $name<X: Word, const N: usize>(cpu: &mut Riscv<X>, i: &Insn<X>) {
            amo::<X, N>(cpu, i, |$x, $y| $value);
        }
    )+};
}

// operands of 32 bits are sign-extended, which keeps the order of unsigned numbers too
amos! {
    amoswap |_x, y| y;
    amoadd |x, y| x.wrapping_add(y);
    amoxor |x, y| x ^ y;
    amoand |x, y| x & y;
    amoor |x, y| x | y;
    amomin |x, y| x.min(y);
    amomax |x, y| x.max(y);
    amominu |x, y| (x as u64).min(y as u64) as i64;
    amomaxu |x, y| (x as u64).max(y as u64) as i64;
}

// --- control ---

macro_rules! branches {
    ($($name:ident |$x:ident, $y:ident| $holds:expr;)+) => {$(
        /// Goes to its target, or on.
        #[inline(always)]
        pub(crate) fn $name<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
            let ($x, $y) = (rs1(cpu, i), rs2(cpu, i));
            let take = $holds;
            cpu.pc = if take { i.imm } else { i.site.pc.wrapping_add(i.d.into()) };
            cpu.mem.stall += if take { i64::from(i.taken) } else { 0 };
        }
    )+};
}

branches! {
    beq |x, y| x == y;
    bne |x, y| x != y;
    blt |x, y| x.less(y);
    bge |x, y| !x.less(y);
    bltu |x, y| x < y;
    bgeu |x, y| x >= y;
}

#[inline(always)]
fn link<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    set(cpu, i, X::zext(i.site.pc).plus(X::zext(i.d.into())));
}

/// JAL.
#[inline(always)]
pub(crate) fn jal<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    link(cpu, i);
    cpu.pc = i.imm;
}

/// JALR.
#[inline(always)]
pub(crate) fn jalr<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let target = address(cpu, i);
    link(cpu, i);
    cpu.pc = target.low() & !1;
    if target.high() != 0 {
        cpu.mem.fault(FaultKind::BadFetch, i.site);
    }
}

/// Goes on at `imm` behind a run that is full.
#[inline(always)]
pub(crate) fn seam<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    cpu.pc = i.imm;
}

// --- system ---

/// FENCE, FENCE.I: there is one hart, and code is never written.
#[inline(always)]
pub(crate) fn nop<X: Word>(_: &mut Riscv<X>, _: &Insn<X>) {}

/// CSRRS and its kin that write nothing, from register `imm`; the second operand's number is `b`.
pub(crate) fn csr<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let cycle = cpu.mem.now(i.site);
    let value = match i.imm & 0xFFF {
        _ if i.b != 0 => None,
        0xC00 | 0xB00 => Some(X::cut(cycle)), // cycle, mcycle
        0xC80 | 0xB80 if X::BITS == 32 => Some(X::cut(cycle >> 32)), // cycleh, mcycleh
        0xF14 => Some(X::zext(0)),            // mhartid
        _ => None,
    };
    match value {
        Some(value) => set(cpu, i, value),
        None => cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site),
    }
}

/// Pseudo-instruction behind one that changes the stack pointer.
#[inline(always)]
pub(crate) fn stack<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let sp = cpu.r[SP].low();
    cpu.mem.stack(sp, i.site);
}

fn stop<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>, kind: FaultKind) {
    cpu.pc = i.site.pc;
    cpu.mem.fault(kind, i.site);
}

/// ECALL, EBREAK.
pub(crate) fn trap<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::Trap);
}

/// What needs something that is not modelled; `imm` is the encoding.
pub(crate) fn unsupported<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::Unsupported { word: i.imm });
}

/// No instruction; `imm` is the encoding.
pub(crate) fn bad_opcode<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::BadOpcode { word: i.imm });
}

/// The run left the flash.
pub(crate) fn bad_fetch<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::BadFetch);
}
