//! What instructions do: plain functions over the core and one decoded instruction.
//!
//! Operands are where [`crate::table`] puts them: `a` destination or transferred register, `b` first
//! operand or base, `c` second operand or index, `d` shift amount or another small number, `imm` an
//! immediate or an address. With `FLAGS` unset a function leaves NZCV alone.

use mcu::FaultKind;

use crate::{Features, LR, PC, SP, Thumb};

/// A decoded instruction of this core.
pub type Insn = isa::Insn<Thumb>;
/// A threaded handler of this core.
pub type Exec = isa::Exec<Thumb>;

/// Wraps a function into a handler that goes on to the next instruction.
macro_rules! seq {
    ($f:expr) => {{
        unsafe fn handler(cpu: &mut $crate::Thumb, i: *const $crate::exec::Insn) {
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
        unsafe fn handler(cpu: &mut $crate::Thumb, i: *const $crate::exec::Insn) {
            // SAFETY: the caller passes an instruction of a block.
            $f(cpu, unsafe { &*i });
        }
        handler as $crate::exec::Exec
    }};
}

pub(crate) use {end, seq};

/// A register; the array is long enough for every byte.
#[inline(always)]
pub(crate) fn reg(cpu: &Thumb, n: u8) -> u32 {
    cpu.r[n as usize]
}

#[inline(always)]
pub(crate) fn set(cpu: &mut Thumb, n: u8, value: u32) {
    cpu.r[n as usize] = value;
}

#[inline(always)]
fn set_nz(cpu: &mut Thumb, value: u32) {
    cpu.nz = i64::from(value as i32);
}

// --- data processing ---

/// The flexible second operand: its value and, where it has one, the shifter's carry.
pub trait Operand {
    /// Value and carry.
    fn get(cpu: &Thumb, i: &Insn) -> (u32, Option<bool>);
}

macro_rules! operand {
    ($(#[$doc:meta] $name:ident |$cpu:ident, $i:ident| $body:expr;)+) => {$(
        #[$doc]
        pub struct $name;
        impl Operand for $name {
            #[inline(always)]
            fn get($cpu: &Thumb, $i: &Insn) -> (u32, Option<bool>) {
                $body
            }
        }
    )+};
}

operand! {
    /// Immediate that leaves the carry alone.
    Imm |_cpu, i| (i.imm, None);
    /// Immediate made by rotation: the carry is its top bit.
    ImmCarry |_cpu, i| (i.imm, Some((i.imm as i32) < 0));
    /// Register as it is.
    Reg |cpu, i| (reg(cpu, i.c), None);
    /// Shifted left by 1 to 31.
    Lsl |cpu, i| {
        let wide = u64::from(reg(cpu, i.c)) << (i.d & 63);
        (wide as u32, Some(wide >> 32 & 1 != 0))
    };
    /// Shifted right by 1 to 32.
    Lsr |cpu, i| {
        let wide = u64::from(reg(cpu, i.c)) << 1 >> (i.d & 63);
        ((wide >> 1) as u32, Some(wide & 1 != 0))
    };
    /// Shifted right by 1 to 32 with its sign.
    Asr |cpu, i| {
        let wide = i64::from(reg(cpu, i.c) as i32) << 1 >> (i.d & 63);
        ((wide >> 1) as u32, Some(wide & 1 != 0))
    };
    /// Rotated right by 1 to 31.
    Ror |cpu, i| {
        let v = reg(cpu, i.c).rotate_right(i.d.into());
        (v, Some((v as i32) < 0))
    };
    /// Rotated right by one through the carry.
    Rrx |cpu, i| {
        let v = reg(cpu, i.c);
        (u32::from(cpu.c) << 31 | v >> 1, Some(v & 1 != 0))
    };
}

/// An operation on the first operand `x` and the second one `y`.
pub trait Alu {
    /// Writes result and flags.
    fn apply<const FLAGS: bool>(cpu: &mut Thumb, i: &Insn, x: u32, y: u32, carry: Option<bool>);
}

macro_rules! logic {
    ($($name:ident $write:literal |$x:ident, $y:ident| $value:expr;)+) => {$(
        #[doc = concat!(stringify!($name), ".")]
        pub struct $name;
        impl Alu for $name {
            #[inline(always)]
            fn apply<const FLAGS: bool>(cpu: &mut Thumb, i: &Insn, $x: u32, $y: u32, carry: Option<bool>) {
                let value = $value;
                if $write {
                    set(cpu, i.a, value);
                }
                if FLAGS {
                    set_nz(cpu, value);
                    if let Some(carry) = carry {
                        cpu.c = carry;
                    }
                }
            }
        }
    )+};
}

logic! {
    And true |x, y| x & y;
    Bic true |x, y| x & !y;
    Orr true |x, y| x | y;
    Orn true |x, y| x | !y;
    Eor true |x, y| x ^ y;
    Mov true |_x, y| y;
    Mvn true |_x, y| !y;
    Tst false |x, y| x & y;
    Teq false |x, y| x ^ y;
}

/// `x + y + carry` with the carry and overflow flags.
#[inline(always)]
fn add_with_carry<const FLAGS: bool>(cpu: &mut Thumb, x: u32, y: u32, carry: bool) -> u32 {
    let wide = u64::from(x) + u64::from(y) + u64::from(carry);
    let value = wide as u32;
    if FLAGS {
        set_nz(cpu, value);
        cpu.c = wide >> 32 != 0;
        cpu.v = ((x ^ value) & (y ^ value)) >> 31 != 0;
    }
    value
}

#[inline(always)]
fn plus<const FLAGS: bool>(cpu: &mut Thumb, x: u32, y: u32) -> u32 {
    let (value, carry) = x.overflowing_add(y);
    if FLAGS {
        set_nz(cpu, value);
        cpu.c = carry;
        cpu.v = (x as i32).overflowing_add(y as i32).1;
    }
    value
}

#[inline(always)]
fn minus<const FLAGS: bool>(cpu: &mut Thumb, x: u32, y: u32) -> u32 {
    let value = x.wrapping_sub(y);
    if FLAGS {
        set_nz(cpu, value);
        cpu.c = x >= y;
        cpu.v = (x as i32).overflowing_sub(y as i32).1;
    }
    value
}

macro_rules! arithmetic {
    ($($name:ident $write:literal |$cpu:ident, $x:ident, $y:ident| $value:expr;)+) => {$(
        #[doc = concat!(stringify!($name), ".")]
        pub struct $name;
        impl Alu for $name {
            #[inline(always)]
            fn apply<const FLAGS: bool>($cpu: &mut Thumb, i: &Insn, $x: u32, $y: u32, _: Option<bool>) {
                let value = $value;
                if $write {
                    set($cpu, i.a, value);
                }
            }
        }
    )+};
}

arithmetic! {
    Add true |cpu, x, y| plus::<FLAGS>(cpu, x, y);
    Adc true |cpu, x, y| add_with_carry::<FLAGS>(cpu, x, y, cpu.c);
    Sub true |cpu, x, y| minus::<FLAGS>(cpu, x, y);
    Sbc true |cpu, x, y| add_with_carry::<FLAGS>(cpu, x, !y, cpu.c);
    Rsb true |cpu, x, y| minus::<FLAGS>(cpu, y, x);
    Cmp false |cpu, x, y| minus::<FLAGS>(cpu, x, y);
    Cmn false |cpu, x, y| plus::<FLAGS>(cpu, x, y);
}

/// A data-processing instruction.
#[inline(always)]
fn data<A: Alu, O: Operand, const FLAGS: bool>(cpu: &mut Thumb, i: &Insn) {
    let (y, carry) = O::get(cpu, i);
    let x = reg(cpu, i.b);
    A::apply::<FLAGS>(cpu, i, x, y, carry);
}

/// Handler of [`data`].
///
/// # Safety
/// As for [`Exec`].
pub unsafe fn data_seq<A: Alu, O: Operand, const FLAGS: bool>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        data::<A, O, FLAGS>(cpu, &*i);
        isa::next(cpu, i);
    }
}

/// A shift by a register: the type as in encodings (0 LSL, 1 LSR, 2 ASR, 3 ROR).
#[inline(always)]
pub fn shift_register<const TYPE: u8, const FLAGS: bool>(cpu: &mut Thumb, i: &Insn) {
    let x = reg(cpu, i.b);
    let n = reg(cpu, i.c) & 0xFF;
    // 33 stands for every larger amount: the result and the carry are the same
    let m = n.min(33);
    let (value, carry) = match TYPE {
        0 => {
            let wide = u64::from(x) << m;
            (wide as u32, wide >> 32 & 1 != 0)
        }
        1 => {
            let wide = u64::from(x) << 1 >> m;
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        2 => {
            let wide = i64::from(x as i32) << 1 >> m;
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        _ => {
            let v = x.rotate_right(n & 31);
            (v, v >> 31 != 0)
        }
    };
    set(cpu, i.a, value);
    if FLAGS {
        set_nz(cpu, value);
        if n != 0 {
            cpu.c = carry;
        }
    }
}

/// MOVT.
#[inline(always)]
pub fn movt(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.a) & 0xFFFF | i.imm << 16);
}

/// Extension of a byte or halfword after rotation by `d`.
#[inline(always)]
pub fn extend<const BITS: u32, const SIGNED: bool>(cpu: &mut Thumb, i: &Insn) {
    let v = reg(cpu, i.c).rotate_right(i.d.into()) << (32 - BITS);
    set(cpu, i.a, if SIGNED { (v as i32 >> (32 - BITS)) as u32 } else { v >> (32 - BITS) });
}

/// Bit-field extraction: lowest bit `d`, width `imm`.
#[inline(always)]
pub fn extract<const SIGNED: bool>(cpu: &mut Thumb, i: &Insn) {
    let up = 32u32.wrapping_sub(u32::from(i.d) + i.imm) & 31;
    let v = reg(cpu, i.b) << up;
    let down = 32u32.wrapping_sub(i.imm) & 31;
    set(cpu, i.a, if SIGNED { (v as i32 >> down) as u32 } else { v >> down });
}

/// BFI: mask `imm`, lowest bit `d`.
#[inline(always)]
pub fn insert(cpu: &mut Thumb, i: &Insn) {
    let v = reg(cpu, i.b) << (i.d & 31);
    set(cpu, i.a, reg(cpu, i.a) & !i.imm | v & i.imm);
}

/// BFC: mask `imm`.
#[inline(always)]
pub fn clear(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.a) & !i.imm);
}

/// CLZ.
#[inline(always)]
pub fn clz(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).leading_zeros());
}

/// RBIT.
#[inline(always)]
pub fn rbit(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).reverse_bits());
}

/// REV.
#[inline(always)]
pub fn rev(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).swap_bytes());
}

/// REV16.
#[inline(always)]
pub fn rev16(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.c).swap_bytes().rotate_left(16));
}

/// REVSH.
#[inline(always)]
pub fn revsh(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, (reg(cpu, i.c) as u16).swap_bytes() as i16 as u32);
}

/// SSAT (to `imm` bits) of a shifted register.
#[inline(always)]
pub fn ssat<O: Operand>(cpu: &mut Thumb, i: &Insn) {
    let v = O::get(cpu, i).0 as i32;
    let top = (1i64 << (i.imm.wrapping_sub(1) & 31)) - 1;
    saturate(cpu, i, v, !top, top);
}

/// USAT (to `imm` bits) of a shifted register.
#[inline(always)]
pub fn usat<O: Operand>(cpu: &mut Thumb, i: &Insn) {
    let v = O::get(cpu, i).0 as i32;
    saturate(cpu, i, v, 0, (1i64 << (i.imm & 31)) - 1);
}

#[inline(always)]
fn saturate(cpu: &mut Thumb, i: &Insn, v: i32, low: i64, high: i64) {
    let v = i64::from(v);
    let value = v.clamp(low, high);
    cpu.q |= value != v;
    set(cpu, i.a, value as u32);
}

// --- multiplication and division ---

/// MUL.
#[inline(always)]
pub fn mul<const FLAGS: bool>(cpu: &mut Thumb, i: &Insn) {
    let value = reg(cpu, i.b).wrapping_mul(reg(cpu, i.c));
    set(cpu, i.a, value);
    if FLAGS {
        set_nz(cpu, value);
    }
}

/// MLA: `d` is the added register.
#[inline(always)]
pub fn mla(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.b).wrapping_mul(reg(cpu, i.c)).wrapping_add(reg(cpu, i.d)));
}

/// MLS: the product is subtracted from register `d`.
#[inline(always)]
pub fn mls(cpu: &mut Thumb, i: &Insn) {
    set(cpu, i.a, reg(cpu, i.d).wrapping_sub(reg(cpu, i.b).wrapping_mul(reg(cpu, i.c))));
}

/// UMULL, SMULL, UMLAL, SMLAL: low word to `a`, high word to `d`.
#[inline(always)]
pub fn mul_long<const SIGNED: bool, const ADD: bool>(cpu: &mut Thumb, i: &Insn) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let product = if SIGNED { (i64::from(x as i32) * i64::from(y as i32)) as u64 } else { u64::from(x) * u64::from(y) };
    let old = u64::from(reg(cpu, i.d)) << 32 | u64::from(reg(cpu, i.a));
    let value = if ADD { old.wrapping_add(product) } else { product };
    set(cpu, i.a, value as u32);
    set(cpu, i.d, (value >> 32) as u32);
    if let Some(cycles) = cpu.events.mul_long {
        cpu.mem.stall += i64::from(cycles(x, y, SIGNED, ADD));
    }
}

/// UDIV, SDIV; division by zero gives 0.
#[inline(always)]
pub fn div<const SIGNED: bool>(cpu: &mut Thumb, i: &Insn) {
    let (x, y) = (reg(cpu, i.b), reg(cpu, i.c));
    let value = match (SIGNED, y) {
        (_, 0) => 0,
        (true, y) => (x as i32).wrapping_div(y as i32) as u32,
        (false, y) => x / y,
    };
    set(cpu, i.a, value);
    cpu.mem.stall += i64::from((cpu.events.div)(x, y, SIGNED));
}

// --- single loads and stores ---

/// An addressing mode.
pub trait Address {
    /// Whether the base register changes.
    const WRITES_BASE: bool;
    /// Address of the access.
    fn access(cpu: &Thumb, i: &Insn) -> u32;
    /// New value of the base register.
    fn base(cpu: &Thumb, i: &Insn) -> u32 {
        reg(cpu, i.b).wrapping_add(i.imm)
    }
}

macro_rules! address {
    ($(#[$doc:meta] $name:ident $writes:literal |$cpu:ident, $i:ident| $body:expr;)+) => {$(
        #[$doc]
        pub struct $name;
        impl Address for $name {
            const WRITES_BASE: bool = $writes;
            #[inline(always)]
            fn access($cpu: &Thumb, $i: &Insn) -> u32 {
                $body
            }
        }
    )+};
}

address! {
    /// Base and immediate.
    Offset false |cpu, i| reg(cpu, i.b).wrapping_add(i.imm);
    /// Base and index shifted left by `d`.
    Index false |cpu, i| reg(cpu, i.b).wrapping_add(reg(cpu, i.c) << (i.d & 31));
    /// Base and index.
    Plain false |cpu, i| reg(cpu, i.b).wrapping_add(reg(cpu, i.c));
    /// Base and immediate, the sum goes to the base.
    Pre true |cpu, i| reg(cpu, i.b).wrapping_add(i.imm);
    /// Base; the sum with the immediate goes to the base.
    Post true |cpu, i| reg(cpu, i.b);
    /// Known address.
    Literal false |_cpu, i| i.imm;
}

#[inline(always)]
fn sign<const N: usize, const SIGNED: bool>(value: u32) -> u32 {
    match (SIGNED, N) {
        (true, 1) => value as u8 as i8 as u32,
        (true, 2) => value as u16 as i16 as u32,
        _ => value,
    }
}

/// Counts and charges an access that is not aligned; ARMv6-M has none: false, and a fault.
#[inline(always)]
fn alignment<const N: usize>(cpu: &mut Thumb, i: &Insn, address: u32) -> bool {
    if address as usize & (N - 1) != 0 {
        if !cpu.features().has(Features::V7M) {
            cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
            return false;
        }
        cpu.mem.unaligned += 1;
        cpu.mem.stall += i64::from((cpu.events.unaligned)(address, N as u32));
    }
    true
}

#[inline(always)]
fn load<A: Address, const N: usize, const SIGNED: bool>(cpu: &mut Thumb, i: &Insn) -> u32 {
    let address = A::access(cpu, i);
    let base = A::base(cpu, i);
    if !alignment::<N>(cpu, i, address) {
        return 0;
    }
    let value = cpu.mem.load::<N>(address, cpu.r[SP], i.site);
    if A::WRITES_BASE {
        set(cpu, i.b, base);
    }
    sign::<N, SIGNED>(value)
}

/// Load of `N` bytes into `a`.
///
/// # Safety
/// As for [`Exec`].
pub unsafe fn load_seq<A: Address, const N: usize, const SIGNED: bool>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        let insn = &*i;
        let address = A::access(cpu, insn);
        let aligned = address as usize & (N - 1) == 0;
        let Some(value) = cpu.mem.ram_load::<N>(address).filter(|_| aligned) else {
            return load_slow::<A, N, SIGNED>(cpu, i);
        };
        if A::WRITES_BASE {
            let base = A::base(cpu, insn);
            set(cpu, insn.b, base);
        }
        set(cpu, insn.a, sign::<N, SIGNED>(value));
        isa::next(cpu, i);
    }
}

#[inline(never)]
unsafe fn load_slow<A: Address, const N: usize, const SIGNED: bool>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        let value = load::<A, N, SIGNED>(cpu, &*i);
        set(cpu, (*i).a, value);
        isa::next(cpu, i);
    }
}

/// LDR of the program counter.
#[inline(always)]
pub fn load_pc<A: Address>(cpu: &mut Thumb, i: &Insn) {
    let target = load::<A, 4, false>(cpu, i);
    go_to(cpu, i, target);
}

/// Store of the low `N` bytes of `a`.
///
/// # Safety
/// As for [`Exec`].
pub unsafe fn store_seq<A: Address, const N: usize>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        let insn = &*i;
        let address = A::access(cpu, insn);
        let aligned = address as usize & (N - 1) == 0;
        if !(aligned && cpu.mem.ram_store::<N>(address, reg(cpu, insn.a))) {
            return store_slow::<A, N>(cpu, i);
        }
        if A::WRITES_BASE {
            let base = A::base(cpu, insn);
            set(cpu, insn.b, base);
        }
        isa::next(cpu, i);
    }
}

#[inline(never)]
unsafe fn store_slow<A: Address, const N: usize>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        let insn = &*i;
        let address = A::access(cpu, insn);
        let base = A::base(cpu, insn);
        if alignment::<N>(cpu, insn, address) {
            let value = reg(cpu, insn.a);
            cpu.mem.store::<N>(address, value, cpu.r[SP], insn.site);
        }
        if A::WRITES_BASE {
            set(cpu, insn.b, base);
        }
        isa::next(cpu, i);
    }
}

// --- several words ---

/// Whether `address` is a word address; if not, the run ends with a fault.
#[inline(always)]
fn word_aligned(cpu: &mut Thumb, i: &Insn, address: u32) -> bool {
    if address & 3 != 0 {
        cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    address & 3 == 0
}

/// LDRD: words to `a` and `d`.
#[inline(always)]
pub fn load_dual<A: Address>(cpu: &mut Thumb, i: &Insn) {
    let address = A::access(cpu, i);
    if !word_aligned(cpu, i, address) {
        return;
    }
    let base = A::base(cpu, i);
    let first = cpu.mem.load::<4>(address, cpu.r[SP], i.site);
    let second = cpu.mem.load::<4>(address.wrapping_add(4), cpu.r[SP], i.site);
    if A::WRITES_BASE {
        set(cpu, i.b, base);
    }
    set(cpu, i.a, first);
    set(cpu, i.d, second);
}

/// STRD: words from `a` and `d`.
#[inline(always)]
pub fn store_dual<A: Address>(cpu: &mut Thumb, i: &Insn) {
    let address = A::access(cpu, i);
    if !word_aligned(cpu, i, address) {
        return;
    }
    let (first, second) = (reg(cpu, i.a), reg(cpu, i.d));
    cpu.mem.store::<4>(address, first, cpu.r[SP], i.site);
    cpu.mem.store::<4>(address.wrapping_add(4), second, cpu.r[SP], i.site);
    if A::WRITES_BASE {
        let base = A::base(cpu, i);
        set(cpu, i.b, base);
    }
}

/// LDM, LDMDB, POP of the registers in `imm` without the program counter; `a` is set when the base
/// changes and `DOWN` tells that the words lie below it.
#[inline(always)]
pub fn load_multiple<const DOWN: bool>(cpu: &mut Thumb, i: &Insn) {
    let bytes = 4 * i.imm.count_ones();
    let base = reg(cpu, i.b);
    let start = if DOWN { base.wrapping_sub(bytes) } else { base };
    if !word_aligned(cpu, i, start) {
        return;
    }
    let (mut address, mut list) = (start, i.imm);
    let sp = cpu.r[SP];
    if i.a != 0 {
        set(cpu, i.b, if DOWN { start } else { base.wrapping_add(bytes) });
    }
    while list != 0 {
        let n = list.trailing_zeros() as u8;
        let value = cpu.mem.load::<4>(address, sp, i.site);
        set(cpu, n, value);
        address = address.wrapping_add(4);
        list &= list - 1;
    }
}

/// As [`load_multiple`], then goes to the address in the word above.
#[inline(always)]
pub fn load_multiple_pc<const DOWN: bool>(cpu: &mut Thumb, i: &Insn) {
    load_multiple::<DOWN>(cpu, i);
    let target = cpu.r[PC];
    go_to(cpu, i, target);
}

/// STM, STMDB, PUSH of the registers in `imm`; otherwise as [`load_multiple`].
#[inline(always)]
pub fn store_multiple<const DOWN: bool>(cpu: &mut Thumb, i: &Insn) {
    let bytes = 4 * i.imm.count_ones();
    let base = reg(cpu, i.b);
    let start = if DOWN { base.wrapping_sub(bytes) } else { base };
    if !word_aligned(cpu, i, start) {
        return;
    }
    let (mut address, mut list) = (start, i.imm);
    let sp = cpu.r[SP];
    while list != 0 {
        let n = list.trailing_zeros() as u8;
        let value = reg(cpu, n);
        cpu.mem.store::<4>(address, value, sp, i.site);
        address = address.wrapping_add(4);
        list &= list - 1;
    }
    if i.a != 0 {
        set(cpu, i.b, if DOWN { start } else { base.wrapping_add(bytes) });
    }
}

// --- exclusive access ---

/// LDREX, LDREXB, LDREXH.
#[inline(always)]
pub fn load_exclusive<const N: usize>(cpu: &mut Thumb, i: &Insn) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    if address as usize & (N - 1) != 0 {
        return cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    cpu.exclusive = Some(address);
    let value = cpu.mem.load::<N>(address, cpu.r[SP], i.site);
    set(cpu, i.a, value);
}

/// STREX, STREXB, STREXH: stores `d`, status to `a`.
#[inline(always)]
pub fn store_exclusive<const N: usize>(cpu: &mut Thumb, i: &Insn) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    if address as usize & (N - 1) != 0 {
        return cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    let open = cpu.exclusive.take() == Some(address);
    if open {
        let value = reg(cpu, i.d);
        cpu.mem.store::<N>(address, value, cpu.r[SP], i.site);
    }
    set(cpu, i.a, u32::from(!open));
}

/// CLREX.
pub fn clear_exclusive(cpu: &mut Thumb, _: &Insn) {
    cpu.exclusive = None;
}

// --- branches ---

/// Whether condition `COND` holds, with the numbers of the encodings.
#[inline(always)]
fn holds<const COND: u8>(cpu: &Thumb) -> bool {
    let n = cpu.nz < 0;
    let z = cpu.nz as u32 == 0;
    let yes = match COND >> 1 {
        0 => z,
        1 => cpu.c,
        2 => n,
        3 => cpu.v,
        4 => cpu.c & !z,
        5 => n == cpu.v,
        6 => !z & (n == cpu.v),
        _ => return true,
    };
    yes != (COND & 1 != 0)
}

/// Bit 0 selects Thumb state, the only one there is.
#[inline(always)]
fn go_to(cpu: &mut Thumb, i: &Insn, target: u32) {
    if target & 1 == 0 {
        cpu.mem.fault(FaultKind::BadFetch, i.site);
    }
    cpu.r[PC] = target & !1;
}

/// Goes to `yes` and pays for it when `take`, or on behind the instruction, which has `d` bytes.
#[inline(always)]
fn branch_if(cpu: &mut Thumb, i: &Insn, take: bool) {
    let on = i.site.pc.wrapping_add(i.d.into());
    cpu.r[PC] = if take { i.imm } else { on };
    cpu.mem.stall += if take { i64::from(i.taken) } else { 0 };
}

/// B with a condition.
#[inline(always)]
pub fn branch_cond<const COND: u8>(cpu: &mut Thumb, i: &Insn) {
    let take = holds::<COND>(cpu);
    branch_if(cpu, i, take);
}

/// CBZ, CBNZ.
#[inline(always)]
pub fn branch_zero<const NONZERO: bool>(cpu: &mut Thumb, i: &Insn) {
    let take = (reg(cpu, i.b) != 0) == NONZERO;
    branch_if(cpu, i, take);
}

/// B; also what goes on behind a run that is full.
#[inline(always)]
pub fn branch(cpu: &mut Thumb, i: &Insn) {
    cpu.r[PC] = i.imm;
}

/// BL.
#[inline(always)]
pub fn branch_link(cpu: &mut Thumb, i: &Insn) {
    cpu.r[LR] = i.site.pc.wrapping_add(4) | 1;
    cpu.r[PC] = i.imm;
}

/// BX.
#[inline(always)]
pub fn branch_register(cpu: &mut Thumb, i: &Insn) {
    let target = reg(cpu, i.c);
    go_to(cpu, i, target);
}

/// BLX.
#[inline(always)]
pub fn branch_link_register(cpu: &mut Thumb, i: &Insn) {
    let target = reg(cpu, i.c);
    cpu.r[LR] = i.site.pc.wrapping_add(2) | 1;
    go_to(cpu, i, target);
}

/// MOV to the program counter: bit 0 is ignored.
#[inline(always)]
pub fn mov_pc(cpu: &mut Thumb, i: &Insn) {
    cpu.r[PC] = reg(cpu, i.c) & !1;
}

/// ADD to the program counter, whose value is in `imm`.
#[inline(always)]
pub fn add_pc(cpu: &mut Thumb, i: &Insn) {
    cpu.r[PC] = i.imm.wrapping_add(reg(cpu, i.c)) & !1;
}

/// TBB, TBH: the program counter's value is in `imm`; `d` is 1 when it is also the table's base.
#[inline(always)]
pub fn table_branch<const N: usize>(cpu: &mut Thumb, i: &Insn) {
    let base = if i.d != 0 { i.imm } else { reg(cpu, i.b) };
    let address = base.wrapping_add(reg(cpu, i.c).wrapping_mul(N as u32));
    alignment::<N>(cpu, i, address);
    let entry = cpu.mem.load::<N>(address, cpu.r[SP], i.site);
    cpu.r[PC] = i.imm.wrapping_add(2 * entry);
}

/// IT, and a change of condition inside its block: skips what the condition guards.
///
/// # Safety
/// As for [`Exec`]; what it skips must not be the end of the block.
pub unsafe fn skip_unless<const COND: u8>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block; the skipped ones and one more are behind it.
    unsafe {
        let insn = &*i;
        let go = holds::<COND>(cpu);
        cpu.mem.stall -= if go { 0 } else { i64::from(insn.refund) };
        let skips = if go { 0 } else { usize::from(insn.skips) };
        isa::next(cpu, i.add(skips));
    }
}

/// A data-processing instruction and the conditional branch behind it.
unsafe fn data_branch<A: Alu, O: Operand, const COND: u8>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        data::<A, O, true>(cpu, &*i);
        branch_cond::<COND>(cpu, &*i.add(1));
    }
}

/// Handlers by condition.
macro_rules! by_cond {
    ($wrap:ident, $f:ident, $cond:expr) => {
        by_cond!(@list $wrap, $f, $cond, 0 1 2 3 4 5 6 7 8 9 10 11 12 13)
    };
    (@list $wrap:ident, $f:ident, $cond:expr, $($n:literal)+) => {
        match $cond {
            $($n => $wrap!($f::<$n>),)+
            _ => $wrap!($f::<14>),
        }
    };
}

/// Handler of a branch with condition `cond`.
pub fn branch_handler(cond: u8) -> Exec {
    by_cond!(end, branch_cond, cond)
}

/// Handler of an operation on an immediate or plain register and of the branch behind it.
pub fn compare_and_branch<A: Alu>(kind: crate::table::Kind, cond: u8) -> Option<Exec> {
    macro_rules! with {
        ($operand:ident: $($n:literal)+) => {
            match cond {
                $($n => Some(data_branch::<A, $operand, $n> as Exec),)+
                _ => None,
            }
        };
    }
    match kind {
        crate::table::Kind::Imm => with!(Imm: 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
        crate::table::Kind::Reg => with!(Reg: 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
        _ => None,
    }
}

macro_rules! same {
    ($f:expr) => {
        $f as Exec
    };
}

/// Handler that skips unless condition `cond` holds.
pub fn skip_handler(cond: u8) -> Exec {
    by_cond!(same, skip_unless, cond)
}

// --- system ---

/// NOP, other hints and barriers.
#[inline(always)]
pub fn nop(_: &mut Thumb, _: &Insn) {}

/// CPSID, CPSIE: bit 0 of `imm` is F, bit 1 is I; `d` is the new value.
pub fn change_state(cpu: &mut Thumb, i: &Insn) {
    if i.imm & 2 != 0 {
        cpu.system[0] = i.d.into();
    }
    if i.imm & 1 != 0 {
        cpu.system[2] = i.d.into();
    }
}

/// MRS from special register `imm`.
pub fn read_special(cpu: &mut Thumb, i: &Insn) {
    let value = match i.imm {
        0..=3 => cpu.apsr(),
        5..=7 => 0,
        8 => cpu.r[SP],
        9 => cpu.system[4],
        16 => cpu.system[0],
        17 | 18 => cpu.system[1],
        19 => cpu.system[2],
        20 => cpu.system[3],
        _ => return cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site),
    };
    set(cpu, i.a, value);
}

/// MSR to special register `imm`.
pub fn write_special(cpu: &mut Thumb, i: &Insn) {
    let value = reg(cpu, i.b);
    match i.imm {
        0..=3 => {
            // bit 0 of `d`: GE as well; bit 1: nothing else
            let keep = if i.d & 1 == 0 { 0xF_0000 } else { 0 } | if i.d & 2 == 0 { 0 } else { 0xF800_0000 };
            cpu.set_apsr(cpu.apsr() & keep | value & !keep);
        }
        5..=7 => {}
        8 => {
            cpu.r[SP] = value & !3;
            cpu.mem.stack(value & !3, i.site);
        }
        9 => cpu.system[4] = value & !3,
        16 => cpu.system[0] = value & 1,
        17 => cpu.system[1] = value & 0xFF,
        18 => {
            let (old, new) = (cpu.system[1], value & 0xFF);
            if new != 0 && (old == 0 || new < old) {
                cpu.system[1] = new;
            }
        }
        19 => cpu.system[2] = value & 1,
        20 if value & 2 == 0 => cpu.system[3] = value & 1,
        _ => cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site),
    }
}

/// Pseudo-instruction behind one that may lower the stack pointer.
#[inline(always)]
pub fn stack(cpu: &mut Thumb, i: &Insn) {
    let sp = cpu.r[SP] & !3; // bits 1 and 0 are always zero
    cpu.r[SP] = sp;
    cpu.mem.stack(sp, i.site);
}

fn stop(cpu: &mut Thumb, i: &Insn, kind: FaultKind) {
    cpu.r[PC] = i.site.pc;
    cpu.mem.fault(kind, i.site);
}

/// BKPT.
pub fn trap(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::Trap);
}

/// SVC and others that need what is not modelled; `imm` is the encoding.
pub fn unsupported(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::Unsupported { word: i.imm });
}

/// No instruction; `imm` is the encoding.
pub fn bad_opcode(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::BadOpcode { word: i.imm });
}

/// The run left the flash.
pub fn bad_fetch(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::BadFetch);
}
