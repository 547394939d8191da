//! What instructions do: plain functions over the core and one decoded instruction.
//!
//! Operands are where [`crate::table`] puts them: `a` result or transferred register, `b` first operand
//! or base, `c` second operand, `d` a small number, `imm` an immediate or an address.

use mcu::{FaultKind, Site};

use crate::{SP, Xtensa, now, ps, special};

/// A decoded instruction of this core.
pub type Insn = isa::Insn<Xtensa>;
/// A threaded handler of this core.
pub type Exec = isa::Exec<Xtensa>;

/// Wraps a function into a handler that goes on to the next instruction.
macro_rules! seq {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut $crate::Xtensa, i: *const $crate::exec::Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                $f(cpu, &*i);
                isa::next(cpu, i);
            }
        }
        handler as $crate::exec::Exec
    }};
}

/// Wraps a function that sets the program counter into a handler that ends its block.
macro_rules! end {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut $crate::Xtensa, i: *const $crate::exec::Insn) {
            // SAFETY: the caller passes an instruction of a block.
            $f(cpu, unsafe { &*i });
        }
        handler as $crate::exec::Exec
    }};
}

/// Wraps a function that answers whether to go on; if not it has set the program counter, and what is
/// left of the block is taken back.
macro_rules! may {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut $crate::Xtensa, i: *const $crate::exec::Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                if $f(cpu, &*i) {
                    isa::next(cpu, i);
                } else {
                    $crate::exec::leave(cpu, &*i);
                }
            }
        }
        handler as $crate::exec::Exec
    }};
}

/// Wraps a condition into the handler of a branch to `imm`.
macro_rules! branch {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut $crate::Xtensa, i: *const $crate::exec::Insn) {
            // SAFETY: the caller passes an instruction of a block that is not its last one.
            unsafe {
                if $f(cpu, &*i) {
                    cpu.pc = (*i).imm;
                    cpu.mem.stall += i64::from((*i).taken) - i64::from((*i).refund);
                } else {
                    isa::next(cpu, i);
                }
            }
        }
        handler as $crate::exec::Exec
    }};
}

pub(crate) use {branch, end, may, seq};

/// Takes back the cycles of what is left of the block.
#[inline(always)]
pub(crate) fn leave(cpu: &mut Xtensa, i: &Insn) {
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

macro_rules! two {
    ($($(#[$doc:meta])* $name:ident |$x:ident, $y:ident| $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(cpu: &mut Xtensa, i: &Insn) {
            let ($x, $y) = (reg(cpu, i.b), reg(cpu, i.c));
            set(cpu, i.a, $value);
        }
    )+};
}

two! {
    /// AND.
    and |x, y| x & y;
    /// OR.
    or |x, y| x | y;
    /// XOR.
    xor |x, y| x ^ y;
    /// ADD.
    add |x, y| x.wrapping_add(y);
    /// ADDX2.
    addx2 |x, y| (x << 1).wrapping_add(y);
    /// ADDX4.
    addx4 |x, y| (x << 2).wrapping_add(y);
    /// ADDX8.
    addx8 |x, y| (x << 3).wrapping_add(y);
    /// SUB.
    sub |x, y| x.wrapping_sub(y);
    /// SUBX2.
    subx2 |x, y| (x << 1).wrapping_sub(y);
    /// SUBX4.
    subx4 |x, y| (x << 2).wrapping_sub(y);
    /// SUBX8.
    subx8 |x, y| (x << 3).wrapping_sub(y);
    /// MUL16U.
    mul16u |x, y| (x & 0xFFFF) * (y & 0xFFFF);
    /// MUL16S.
    mul16s |x, y| (i32::from(x as i16) * i32::from(y as i16)) as u32;
    /// MULL.
    mull |x, y| x.wrapping_mul(y);
    /// MULUH.
    muluh |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32;
    /// MULSH.
    mulsh |x, y| ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32;
    /// MIN.
    min |x, y| (x as i32).min(y as i32) as u32;
    /// MAX.
    max |x, y| (x as i32).max(y as i32) as u32;
    /// MINU.
    minu |x, y| x.min(y);
    /// MAXU.
    maxu |x, y| x.max(y);
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident |$x:ident, $i:ident| $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(cpu: &mut Xtensa, $i: &Insn) {
            let $x = reg(cpu, $i.b);
            set(cpu, $i.a, $value);
        }
    )+};
}

unary! {
    /// MOV.N.
    mov |x, i| x;
    /// NEG.
    neg |x, i| x.wrapping_neg();
    /// ABS.
    abs |x, i| (x as i32).wrapping_abs() as u32;
    /// ADDI, ADDMI, ADDI.N.
    addi |x, i| x.wrapping_add(i.imm);
    /// SLLI.
    slli |x, i| x << (i.d & 31);
    /// SRLI.
    srli |x, i| x >> (i.d & 31);
    /// SRAI.
    srai |x, i| (x as i32 >> (i.d & 31)) as u32;
    /// EXTUI: lowest bit `d`, mask `imm`.
    extui |x, i| x >> (i.d & 31) & i.imm;
    /// SEXT: the sign is bit `d`.
    sext |x, i| ((x << (31 - (i.d & 31))) as i32 >> (31 - (i.d & 31))) as u32;
    /// CLAMPS to `d` bits and a sign.
    clamps |x, i| {
        let top = (1i32 << (i.d & 31)) - 1;
        (x as i32).clamp(!top, top) as u32
    };
    /// NSAU.
    nsau |x, i| x.leading_zeros();
    /// NSA: copies of the sign beside it.
    nsa |x, i| (x ^ (x as i32 >> 31) as u32).leading_zeros() - 1;
}

/// MOVI, MOVI.N, and L32R of a constant in code memory.
#[inline(always)]
pub fn movi(cpu: &mut Xtensa, i: &Insn) {
    set(cpu, i.a, i.imm);
}

macro_rules! conditional {
    ($($(#[$doc:meta])* $name:ident |$y:ident| $condition:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(cpu: &mut Xtensa, i: &Insn) {
            let $y = reg(cpu, i.c);
            let value = if $condition { reg(cpu, i.b) } else { reg(cpu, i.a) };
            set(cpu, i.a, value);
        }
    )+};
}

conditional! {
    /// MOVEQZ.
    moveqz |y| y == 0;
    /// MOVNEZ.
    movnez |y| y != 0;
    /// MOVLTZ.
    movltz |y| (y as i32) < 0;
    /// MOVGEZ.
    movgez |y| (y as i32) >= 0;
}

/// A division; by zero it is an exception, which ends the run.
fn divide(cpu: &mut Xtensa, i: &Insn, f: fn(u32, u32) -> u32) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    if y == 0 {
        return cpu.mem.fault(FaultKind::Trap, i.site);
    }
    cpu.mem.stall += i64::from((cpu.events.div)(x, y));
    set(cpu, i.a, f(x, y));
}

/// QUOU.
pub fn quou(cpu: &mut Xtensa, i: &Insn) {
    divide(cpu, i, |x, y| x / y);
}

/// QUOS.
pub fn quos(cpu: &mut Xtensa, i: &Insn) {
    divide(cpu, i, |x, y| (x as i32).wrapping_div(y as i32) as u32);
}

/// REMU.
pub fn remu(cpu: &mut Xtensa, i: &Insn) {
    divide(cpu, i, |x, y| x % y);
}

/// REMS.
pub fn rems(cpu: &mut Xtensa, i: &Insn) {
    divide(cpu, i, |x, y| (x as i32).wrapping_rem(y as i32) as u32);
}

// --- shifts by SAR ---

/// SSR: SAR from a right shift's amount.
#[inline(always)]
pub fn ssr(cpu: &mut Xtensa, i: &Insn) {
    cpu.sar = reg(cpu, i.b) & 31;
}

/// SSL: SAR from a left shift's amount.
#[inline(always)]
pub fn ssl(cpu: &mut Xtensa, i: &Insn) {
    cpu.sar = 32 - (reg(cpu, i.b) & 31);
}

/// SSA8L: SAR from a byte's place, little-endian.
#[inline(always)]
pub fn ssa8l(cpu: &mut Xtensa, i: &Insn) {
    cpu.sar = (reg(cpu, i.b) & 3) * 8;
}

/// SSA8B: SAR from a byte's place, big-endian.
#[inline(always)]
pub fn ssa8b(cpu: &mut Xtensa, i: &Insn) {
    cpu.sar = 32 - (reg(cpu, i.b) & 3) * 8;
}

/// SSAI.
#[inline(always)]
pub fn ssai(cpu: &mut Xtensa, i: &Insn) {
    cpu.sar = i.imm;
}

/// The pair of `high` and `low`, shifted right by SAR. Amounts above 32, which the manual leaves open,
/// shift on.
#[inline(always)]
fn funnel(cpu: &Xtensa, high: u32, low: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (cpu.sar & 63)) as u32
}

/// SRC.
#[inline(always)]
pub fn src(cpu: &mut Xtensa, i: &Insn) {
    set(cpu, i.a, funnel(cpu, reg(cpu, i.b), reg(cpu, i.c)));
}

/// SLL.
#[inline(always)]
pub fn sll(cpu: &mut Xtensa, i: &Insn) {
    set(cpu, i.a, funnel(cpu, reg(cpu, i.b), 0));
}

/// SRL.
#[inline(always)]
pub fn srl(cpu: &mut Xtensa, i: &Insn) {
    set(cpu, i.a, funnel(cpu, 0, reg(cpu, i.b)));
}

/// SRA.
#[inline(always)]
pub fn sra(cpu: &mut Xtensa, i: &Insn) {
    let x = reg(cpu, i.b);
    set(cpu, i.a, funnel(cpu, (x as i32 >> 31) as u32, x));
}

// --- memory ---

/// Loads `N` bytes at `address`.
#[inline(always)]
fn load<const N: usize>(cpu: &mut Xtensa, address: u32, site: Site) -> u32 {
    if N > 1 && address & (N as u32 - 1) != 0 && !unaligned(cpu, address, N as u32, site) {
        return 0;
    }
    match cpu.mem.ram_load::<N>(address) {
        Some(value) => value,
        None => load_far::<N>(cpu, address, site),
    }
}

#[cold]
fn load_far<const N: usize>(cpu: &mut Xtensa, address: u32, site: Site) -> u32 {
    narrow::<N>(cpu, address, site);
    cpu.mem.load::<N>(address, cpu.a[SP], site)
}

/// Code memory gives aligned words only.
fn narrow<const N: usize>(cpu: &mut Xtensa, address: u32, site: Site) {
    let offset = address.wrapping_sub(cpu.mem.flash_base) as usize;
    if (N < 4 || address & 3 != 0) && offset < cpu.mem.flash.len() {
        cpu.mem.fault(FaultKind::Unaligned { address }, site);
    }
}

/// Whether an unaligned access is done; if not it is an exception, which ends the run.
#[cold]
fn unaligned(cpu: &mut Xtensa, address: u32, bytes: u32, site: Site) -> bool {
    if !cpu.features.unaligned() {
        cpu.mem.fault(FaultKind::Unaligned { address }, site);
        return false;
    }
    cpu.mem.unaligned += 1;
    cpu.mem.stall += i64::from((cpu.events.unaligned)(address, bytes));
    true
}

#[inline(always)]
fn store<const N: usize>(cpu: &mut Xtensa, address: u32, value: u32, site: Site) {
    if N > 1 && address & (N as u32 - 1) != 0 && !unaligned(cpu, address, N as u32, site) {
        return;
    }
    cpu.mem.store::<N>(address, value, cpu.a[SP], site);
}

/// L32R where the constant is not in code memory; `imm` is its address.
pub fn l32r(cpu: &mut Xtensa, i: &Insn) {
    let value = load::<4>(cpu, i.imm, i.site);
    set(cpu, i.a, value);
}

/// L8UI.
#[inline(always)]
pub fn l8ui(cpu: &mut Xtensa, i: &Insn) {
    let value = load::<1>(cpu, reg(cpu, i.b).wrapping_add(i.imm), i.site);
    set(cpu, i.a, value);
}

/// L16UI.
#[inline(always)]
pub fn l16ui(cpu: &mut Xtensa, i: &Insn) {
    let value = load::<2>(cpu, reg(cpu, i.b).wrapping_add(i.imm), i.site);
    set(cpu, i.a, value);
}

/// L16SI.
#[inline(always)]
pub fn l16si(cpu: &mut Xtensa, i: &Insn) {
    let value = load::<2>(cpu, reg(cpu, i.b).wrapping_add(i.imm), i.site);
    set(cpu, i.a, value as i16 as u32);
}

/// L32I, L32I.N, L32AI, L32E.
#[inline(always)]
pub fn l32i(cpu: &mut Xtensa, i: &Insn) {
    let value = load::<4>(cpu, reg(cpu, i.b).wrapping_add(i.imm), i.site);
    set(cpu, i.a, value);
}

/// S8I.
#[inline(always)]
pub fn s8i(cpu: &mut Xtensa, i: &Insn) {
    store::<1>(cpu, reg(cpu, i.b).wrapping_add(i.imm), reg(cpu, i.a), i.site);
}

/// S16I.
#[inline(always)]
pub fn s16i(cpu: &mut Xtensa, i: &Insn) {
    store::<2>(cpu, reg(cpu, i.b).wrapping_add(i.imm), reg(cpu, i.a), i.site);
}

/// S32I, S32I.N, S32RI, S32E.
#[inline(always)]
pub fn s32i(cpu: &mut Xtensa, i: &Insn) {
    store::<4>(cpu, reg(cpu, i.b).wrapping_add(i.imm), reg(cpu, i.a), i.site);
}

/// S32C1I: stores when memory is SCOMPARE1.
pub fn s32c1i(cpu: &mut Xtensa, i: &Insn) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    if address & 3 != 0 {
        return cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    let old = load::<4>(cpu, address, i.site);
    if old == cpu.sr[usize::from(special::SCOMPARE1)] {
        store::<4>(cpu, address, reg(cpu, i.a), i.site);
    }
    set(cpu, i.a, old);
}

// --- branches ---

macro_rules! condition {
    ($($(#[$doc:meta])* $name:ident |$x:ident, $y:ident| $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(cpu: &mut Xtensa, i: &Insn) -> bool {
            let ($x, $y) = (reg(cpu, i.b), reg(cpu, i.c));
            $value
        }
    )+};
}

condition! {
    /// BEQ.
    beq |x, y| x == y;
    /// BNE.
    bne |x, y| x != y;
    /// BLT.
    blt |x, y| (x as i32) < y as i32;
    /// BGE.
    bge |x, y| x as i32 >= y as i32;
    /// BLTU.
    bltu |x, y| x < y;
    /// BGEU.
    bgeu |x, y| x >= y;
    /// BNONE.
    bnone |x, y| x & y == 0;
    /// BANY.
    bany |x, y| x & y != 0;
    /// BALL.
    ball |x, y| !x & y == 0;
    /// BNALL.
    bnall |x, y| !x & y != 0;
    /// BBC.
    bbc |x, y| x >> (y & 31) & 1 == 0;
    /// BBS.
    bbs |x, y| x >> (y & 31) & 1 != 0;
}

macro_rules! condition_imm {
    ($($(#[$doc:meta])* $name:ident |$x:ident, $d:ident| $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(cpu: &mut Xtensa, i: &Insn) -> bool {
            let ($x, $d) = (reg(cpu, i.b), usize::from(i.d & 31));
            $value
        }
    )+};
}

/// Constants of BEQI and its kin, then those of BLTUI and BGEUI (tables B4CONST and B4CONSTU).
pub const CONSTANTS: [u32; 32] = [
    !0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256, //
    0x8000, 0x1_0000, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256,
];

condition_imm! {
    /// BEQZ, BEQZ.N.
    beqz |x, _d| x == 0;
    /// BNEZ, BNEZ.N.
    bnez |x, _d| x != 0;
    /// BLTZ.
    bltz |x, _d| (x as i32) < 0;
    /// BGEZ.
    bgez |x, _d| x as i32 >= 0;
    /// BEQI.
    beqi |x, d| x == CONSTANTS[d];
    /// BNEI.
    bnei |x, d| x != CONSTANTS[d];
    /// BLTI.
    blti |x, d| (x as i32) < CONSTANTS[d] as i32;
    /// BGEI.
    bgei |x, d| x as i32 >= CONSTANTS[d] as i32;
    /// BLTUI.
    bltui |x, d| x < CONSTANTS[d];
    /// BGEUI.
    bgeui |x, d| x >= CONSTANTS[d];
    /// BBCI.
    bbci |x, d| x >> d & 1 == 0;
    /// BBSI.
    bbsi |x, d| x >> d & 1 != 0;
}

/// Jump to `imm`, also as the pseudo-instruction behind a run.
#[inline(always)]
pub fn jump(cpu: &mut Xtensa, i: &Insn) {
    cpu.pc = i.imm;
}

/// A jump to an address that only now is known.
#[inline(always)]
fn land(cpu: &mut Xtensa, pc: u32) {
    cpu.pc = pc;
    let bytes = cpu.length(pc);
    cpu.mem.stall += i64::from((cpu.events.land)(pc, bytes));
}

/// JX, RET, RET.N.
#[inline(always)]
pub fn jx(cpu: &mut Xtensa, i: &Insn) {
    land(cpu, reg(cpu, i.b));
}

/// CALL0.
#[inline(always)]
pub fn call0(cpu: &mut Xtensa, i: &Insn) {
    cpu.a[0] = i.site.pc.wrapping_add(3);
    cpu.pc = i.imm;
}

/// CALLX0.
#[inline(always)]
pub fn callx0(cpu: &mut Xtensa, i: &Insn) {
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
pub fn call(cpu: &mut Xtensa, i: &Insn) {
    call_window(cpu, i);
    cpu.pc = i.imm;
}

/// CALLX4, CALLX8, CALLX12.
pub fn callx(cpu: &mut Xtensa, i: &Insn) {
    let to = reg(cpu, i.b);
    call_window(cpu, i);
    land(cpu, to);
}

/// Pseudo-instruction before the first use of the registers a4`c` to a4`c`+3 of a run: goes on when no
/// live frame is in them.
#[inline(always)]
pub fn window_check(cpu: &mut Xtensa, i: &Insn) -> bool {
    if cpu.guard >> (i.c & 3) & 1 == 0 {
        return true;
    }
    cpu.overflow(i.site.pc, (i.c & 3).into());
    false
}

/// Pseudo-instruction before ENTRY: PS.CALLINC says how far the window moves.
pub fn entry_check(cpu: &mut Xtensa, i: &Insn) -> bool {
    let n = cpu.ps >> 16 & 3;
    if cpu.guard >> n & 1 == 0 {
        return true;
    }
    cpu.overflow(i.site.pc, n);
    false
}

/// ENTRY.
pub fn entry(cpu: &mut Xtensa, i: &Insn) {
    if i.b > 3 || cpu.ps & (ps::WOE | ps::EXCM) != ps::WOE {
        return stop(cpu, i, FaultKind::Trap);
    }
    cpu.entry(i.b.into(), i.imm, i);
}

/// RETW, RETW.N.
pub fn retw(cpu: &mut Xtensa, i: &Insn) {
    if !cpu.may_return() {
        return stop(cpu, i, FaultKind::Trap);
    }
    let to = i.site.pc & 0xC000_0000 | cpu.a[0] & 0x3FFF_FFFF;
    if cpu.return_window(i.site.pc) {
        land(cpu, to);
    }
}

/// MOVSP.
pub fn movsp(cpu: &mut Xtensa, i: &Insn) -> bool {
    let done = cpu.may_move_stack(i.site.pc);
    if done {
        set(cpu, i.a, reg(cpu, i.b));
    }
    done
}

/// ROTW by `imm`.
pub fn rotw(cpu: &mut Xtensa, i: &Insn) {
    cpu.rotate(cpu.window_base.wrapping_add(i.imm));
}

/// RFWO.
pub fn rfwo(cpu: &mut Xtensa, _: &Insn) {
    cpu.return_from_window(true);
}

/// RFWU.
pub fn rfwu(cpu: &mut Xtensa, _: &Insn) {
    cpu.return_from_window(false);
}

/// RFE.
pub fn rfe(cpu: &mut Xtensa, _: &Insn) {
    cpu.pc = cpu.sr[usize::from(special::EPC1)];
    cpu.set_ps(cpu.ps & !ps::EXCM);
}

// --- loops ---

fn start_loop(cpu: &mut Xtensa, i: &Insn, count: u32) {
    cpu.lcount = count.wrapping_sub(1);
    cpu.lbeg = i.site.pc.wrapping_add(3);
    cpu.loop_ends_at(i.imm);
}

/// LOOP to `imm`.
pub fn loop_always(cpu: &mut Xtensa, i: &Insn) {
    start_loop(cpu, i, reg(cpu, i.b));
}

/// LOOPNEZ: whether it is passed over.
pub fn loop_nez(cpu: &mut Xtensa, i: &Insn) -> bool {
    let count = reg(cpu, i.b);
    start_loop(cpu, i, count);
    count == 0
}

/// LOOPGTZ: whether it is passed over.
pub fn loop_gtz(cpu: &mut Xtensa, i: &Insn) -> bool {
    let count = reg(cpu, i.b);
    start_loop(cpu, i, count);
    count as i32 <= 0
}

/// Pseudo-instruction behind a run that ends at `imm`, which was the end of a loop.
#[inline(always)]
pub fn loop_end(cpu: &mut Xtensa, i: &Insn) {
    if cpu.lcount != 0 && cpu.lend == i.imm && cpu.ps & ps::EXCM == 0 {
        cpu.lcount -= 1;
        cpu.pc = cpu.lbeg;
    } else {
        cpu.pc = i.imm;
    }
}

// --- system ---

/// NOP, MEMW, EXTW, ISYNC and others that only wait for what is not modelled.
#[inline(always)]
pub fn nop(_: &mut Xtensa, _: &Insn) {}

/// RSIL: `a` gets PS, `imm` is the new level.
pub fn rsil(cpu: &mut Xtensa, i: &Insn) {
    let old = cpu.ps;
    cpu.set_ps(old & !ps::INTLEVEL | i.imm);
    set(cpu, i.a, old);
}

fn read_special(cpu: &mut Xtensa, i: &Insn) -> Option<u32> {
    let n = i.imm as u8;
    if !cpu.features.has_special(n) {
        cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site);
        return None;
    }
    Some(match n {
        special::LBEG => cpu.lbeg,
        special::LEND => cpu.lend,
        special::LCOUNT => cpu.lcount,
        special::SAR => cpu.sar,
        special::WINDOW_BASE => cpu.window_base,
        special::WINDOW_START => cpu.window_start,
        special::PS => cpu.ps,
        special::CCOUNT => now(cpu, i.site).wrapping_add(cpu.ccount),
        n => cpu.sr[usize::from(n)],
    })
}

fn write_special(cpu: &mut Xtensa, i: &Insn, value: u32) {
    let n = i.imm as u8;
    if !cpu.features.has_special(n) {
        return cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site);
    }
    match n {
        special::LBEG => cpu.lbeg = value,
        special::LEND => cpu.loop_ends_at(value),
        special::LCOUNT => cpu.lcount = value,
        special::SAR => cpu.sar = value & 63,
        special::BR => cpu.sr[usize::from(n)] = value & 0xFFFF,
        special::WINDOW_BASE => cpu.rotate(value),
        special::WINDOW_START => cpu.set_window_start(value),
        special::PS => cpu.set_ps(value),
        special::CCOUNT => cpu.ccount = value.wrapping_sub(now(cpu, i.site)),
        special::EXCCAUSE => cpu.sr[usize::from(n)] = value & 63,
        special::PRID => cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site),
        n => cpu.sr[usize::from(n)] = value,
    }
}

/// RSR from special register `imm`.
pub fn rsr(cpu: &mut Xtensa, i: &Insn) {
    if let Some(value) = read_special(cpu, i) {
        set(cpu, i.a, value);
    }
}

/// WSR to special register `imm`.
pub fn wsr(cpu: &mut Xtensa, i: &Insn) {
    write_special(cpu, i, reg(cpu, i.a));
}

/// XSR with special register `imm`.
pub fn xsr(cpu: &mut Xtensa, i: &Insn) {
    let new = reg(cpu, i.a);
    if let Some(old) = read_special(cpu, i) {
        set(cpu, i.a, old);
        write_special(cpu, i, new);
    }
}

/// User register 231, THREADPTR, is the only one here.
pub fn rur(cpu: &mut Xtensa, i: &Insn) {
    match i.imm {
        231 => set(cpu, i.a, cpu.thread),
        _ => cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site),
    }
}

/// As [`rur`].
pub fn wur(cpu: &mut Xtensa, i: &Insn) {
    match i.imm {
        231 => cpu.thread = reg(cpu, i.a),
        _ => cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site),
    }
}

/// Pseudo-instruction behind one that may lower the stack pointer.
#[inline(always)]
pub fn stack(cpu: &mut Xtensa, i: &Insn) {
    cpu.mem.stack(cpu.a[SP], i.site);
}

fn stop(cpu: &mut Xtensa, i: &Insn, kind: FaultKind) {
    cpu.pc = i.site.pc;
    cpu.mem.fault(kind, i.site);
}

/// BREAK, SYSCALL, SIMCALL, ILL: exceptions that end the run.
pub fn trap(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::Trap);
}

/// An instruction that needs what is not modelled; `imm` is the encoding.
pub fn unsupported(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::Unsupported { word: i.imm });
}

/// No instruction; `imm` is the encoding.
pub fn bad_opcode(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::BadOpcode { word: i.imm });
}

/// The run left the code memory.
pub fn bad_fetch(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::BadFetch);
}
