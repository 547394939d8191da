//! Executes loads and stores.

use mcu::FaultKind;

use super::control::go_to;
use super::{Insn, reg, set, sign};
use crate::op::Size;
use crate::operands::Mode;
use crate::state::{PC, SP, Thumb};
use crate::step::Features;

// --- single ---

impl Mode {
    /// Address of the access.
    #[inline(always)]
    fn access(self, cpu: &Thumb, i: &Insn) -> u32 {
        match self {
            Self::Offset | Self::Pre => reg(cpu, i.b).wrapping_add(i.imm),
            Self::Index => reg(cpu, i.b).wrapping_add(reg(cpu, i.c) << (i.d & 31)),
            Self::Plain => reg(cpu, i.b).wrapping_add(reg(cpu, i.c)),
            Self::Post => reg(cpu, i.b),
            Self::Literal => i.imm,
        }
    }

    /// New value of the base register, where it has one.
    #[inline(always)]
    fn base(self, cpu: &Thumb, i: &Insn) -> Option<u32> {
        self.writes_base().then(|| reg(cpu, i.b).wrapping_add(i.imm))
    }
}

#[inline(always)]
fn set_base(cpu: &mut Thumb, i: &Insn, base: Option<u32>) {
    if let Some(base) = base {
        set(cpu, i.b, base);
    }
}

/// Counts and charges an unaligned access. ARMv6-M does not allow one: false, and a fault.
#[inline(always)]
fn alignment(cpu: &mut Thumb, i: &Insn, address: u32, size: Size) -> bool {
    if address & (size.bytes() - 1) != 0 {
        if !cpu.features().has(Features::V7M) {
            cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
            return false;
        }
        let more = (cpu.events.unaligned)(address, size.bytes());
        cpu.mem.count_unaligned(more);
        if cpu.events.splits {
            cpu.mem.wait_again(address, more);
        }
    }
    true
}

/// The content of memory at `address`.
#[inline(always)]
fn read(cpu: &mut Thumb, i: &Insn, address: u32, size: Size) -> u32 {
    let sp = cpu.r[SP];
    match size {
        Size::Byte => cpu.mem.load::<1>(address, sp, i.site),
        Size::Half => cpu.mem.load::<2>(address, sp, i.site),
        Size::Word => cpu.mem.load::<4>(address, sp, i.site),
    }
}

#[inline(always)]
fn write(cpu: &mut Thumb, i: &Insn, address: u32, size: Size, value: u32) {
    let sp = cpu.r[SP];
    match size {
        Size::Byte => cpu.mem.store::<1>(address, value, sp, i.site),
        Size::Half => cpu.mem.store::<2>(address, value, sp, i.site),
        Size::Word => cpu.mem.store::<4>(address, value, sp, i.site),
    }
}

#[inline(always)]
fn load_any(cpu: &mut Thumb, i: &Insn, mode: Mode, size: Size, signed: bool) -> u32 {
    let address = mode.access(cpu, i);
    let base = mode.base(cpu, i);
    if !alignment(cpu, i, address, size) {
        return 0;
    }
    let value = read(cpu, i, address, size);
    set_base(cpu, i, base);
    sign(value, size, signed)
}

/// Load into `a`. Without `slow` it accesses aligned RAM only, and gives up elsewhere.
#[inline(always)]
pub(crate) fn load(cpu: &mut Thumb, i: &Insn, slow: bool, mode: Mode, size: Size, signed: bool) -> Option<()> {
    if slow {
        let value = load_any(cpu, i, mode, size, signed);
        set(cpu, i.a, value);
        return Some(());
    }
    let address = mode.access(cpu, i);
    if address & (size.bytes() - 1) != 0 {
        return None;
    }
    let value = match size {
        Size::Byte => cpu.mem.ram_load::<1>(address)?,
        Size::Half => cpu.mem.ram_load::<2>(address)?,
        Size::Word => cpu.mem.ram_load::<4>(address)?,
    };
    let base = mode.base(cpu, i);
    set_base(cpu, i, base);
    set(cpu, i.a, sign(value, size, signed));
    Some(())
}

/// LDR of the program counter.
#[inline(always)]
pub(crate) fn load_pc(cpu: &mut Thumb, i: &Insn, mode: Mode) {
    let target = load_any(cpu, i, mode, Size::Word, false);
    go_to(cpu, i, target);
}

/// Store of the low bytes of `a`; otherwise like [`load`].
#[inline(always)]
pub(crate) fn store(cpu: &mut Thumb, i: &Insn, slow: bool, mode: Mode, size: Size) -> Option<()> {
    let address = mode.access(cpu, i);
    if slow {
        let base = mode.base(cpu, i);
        if alignment(cpu, i, address, size) {
            let value = reg(cpu, i.a);
            write(cpu, i, address, size, value);
        }
        set_base(cpu, i, base);
        return Some(());
    }
    let value = reg(cpu, i.a);
    let aligned = address & (size.bytes() - 1) == 0;
    let done = aligned
        && match size {
            Size::Byte => cpu.mem.ram_store::<1>(address, value),
            Size::Half => cpu.mem.ram_store::<2>(address, value),
            Size::Word => cpu.mem.ram_store::<4>(address, value),
        };
    done.then(|| {
        let base = mode.base(cpu, i);
        set_base(cpu, i, base);
    })
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
pub(crate) fn load_dual(cpu: &mut Thumb, i: &Insn, mode: Mode) {
    let address = mode.access(cpu, i);
    if !word_aligned(cpu, i, address) {
        return;
    }
    let base = mode.base(cpu, i);
    let first = cpu.mem.load::<4>(address, cpu.r[SP], i.site);
    let second = cpu.mem.load::<4>(address.wrapping_add(4), cpu.r[SP], i.site);
    set_base(cpu, i, base);
    set(cpu, i.a, first);
    set(cpu, i.d, second);
}

/// STRD: words from `a` and `d`.
#[inline(always)]
pub(crate) fn store_dual(cpu: &mut Thumb, i: &Insn, mode: Mode) {
    let address = mode.access(cpu, i);
    if !word_aligned(cpu, i, address) {
        return;
    }
    let (first, second) = (reg(cpu, i.a), reg(cpu, i.d));
    cpu.mem.store::<4>(address, first, cpu.r[SP], i.site);
    cpu.mem.store::<4>(address.wrapping_add(4), second, cpu.r[SP], i.site);
    let base = mode.base(cpu, i);
    set_base(cpu, i, base);
}

/// Where the registers in `imm` lie, and the base's new value; none after a fault.
#[inline(always)]
fn several(cpu: &mut Thumb, i: &Insn, down: bool) -> Option<(u32, u32)> {
    let (base, bytes) = (reg(cpu, i.b), 4 * i.imm.count_ones());
    let after = if down { base.wrapping_sub(bytes) } else { base.wrapping_add(bytes) };
    let start = if down { after } else { base };
    word_aligned(cpu, i, start).then_some((start, after))
}

/// LDM, LDMDB, POP of the registers in `imm` without the program counter; `a` is set when the base
/// changes, and `down` when the words are below it.
#[inline(always)]
pub(crate) fn load_multiple(cpu: &mut Thumb, i: &Insn, down: bool) {
    let Some((mut address, base)) = several(cpu, i, down) else { return };
    let mut list = i.imm;
    let sp = cpu.r[SP];
    if i.a != 0 {
        set(cpu, i.b, base);
    }
    while list != 0 {
        let n = list.trailing_zeros() as u8;
        let value = cpu.mem.load::<4>(address, sp, i.site);
        set(cpu, n, value);
        address = address.wrapping_add(4);
        list &= list - 1;
    }
}

/// Like [`load_multiple`], then goes to the address in the word above.
#[inline(always)]
pub(crate) fn load_multiple_pc(cpu: &mut Thumb, i: &Insn, down: bool) {
    load_multiple(cpu, i, down);
    let target = cpu.r[PC];
    go_to(cpu, i, target);
}

/// STM, STMDB, PUSH of the registers in `imm`; otherwise like [`load_multiple`].
#[inline(always)]
pub(crate) fn store_multiple(cpu: &mut Thumb, i: &Insn, down: bool) {
    let Some((mut address, base)) = several(cpu, i, down) else { return };
    let mut list = i.imm;
    let sp = cpu.r[SP];
    while list != 0 {
        let n = list.trailing_zeros() as u8;
        let value = reg(cpu, n);
        cpu.mem.store::<4>(address, value, sp, i.site);
        address = address.wrapping_add(4);
        list &= list - 1;
    }
    if i.a != 0 {
        set(cpu, i.b, base);
    }
}

// --- exclusive access ---

/// LDREX, LDREXB, LDREXH.
#[inline(always)]
pub(crate) fn load_exclusive(cpu: &mut Thumb, i: &Insn, size: Size) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    if address & (size.bytes() - 1) != 0 {
        return cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    cpu.exclusive = Some(address);
    let value = read(cpu, i, address, size);
    set(cpu, i.a, value);
}

/// STREX, STREXB, STREXH: stores `d`, status to `a`.
#[inline(always)]
pub(crate) fn store_exclusive(cpu: &mut Thumb, i: &Insn, size: Size) {
    let address = reg(cpu, i.b).wrapping_add(i.imm);
    if address & (size.bytes() - 1) != 0 {
        return cpu.mem.fault(FaultKind::Unaligned { address }, i.site);
    }
    let open = cpu.exclusive.take() == Some(address);
    if open {
        let value = reg(cpu, i.d);
        write(cpu, i, address, size, value);
    }
    set(cpu, i.a, u32::from(!open));
}

/// CLREX.
pub(crate) fn clear_exclusive(cpu: &mut Thumb, _: &Insn) {
    cpu.exclusive = None;
}

/// TBB, TBH: the program counter's value is in `imm`; `d` is 1 when it is also the table's base.
#[inline(always)]
pub(crate) fn table_branch(cpu: &mut Thumb, i: &Insn, size: Size) {
    let base = if i.d != 0 { i.imm } else { reg(cpu, i.b) };
    let address = base.wrapping_add(reg(cpu, i.c).wrapping_mul(size.bytes()));
    alignment(cpu, i, address, size);
    let entry = read(cpu, i, address, size);
    cpu.r[PC] = i.imm.wrapping_add(2 * entry);
}
