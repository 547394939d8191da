//! Executes branches, conditions, special registers and ends of runs.

use mcu::FaultKind;

use super::{Insn, data, reg, set};
use crate::op::Alu;
use crate::state::{LR, PC, SP, Thumb};
use crate::step::Kind;

/// Whether condition `cond` holds, with the numbers of the encodings.
#[inline(always)]
fn holds(cpu: &Thumb, cond: u8) -> bool {
    let n = cpu.nz < 0;
    let z = cpu.nz as u32 == 0;
    let yes = match cond >> 1 {
        0 => z,
        1 => cpu.c,
        2 => n,
        3 => cpu.v,
        4 => cpu.c & !z,
        5 => n == cpu.v,
        6 => !z & (n == cpu.v),
        _ => return true,
    };
    yes != (cond & 1 != 0)
}

/// Bit 0 selects Thumb state, the only state.
#[inline(always)]
pub(crate) fn go_to(cpu: &mut Thumb, i: &Insn, target: u32) {
    if target & 1 == 0 {
        cpu.mem.fault(FaultKind::ArmState, i.site);
    }
    cpu.r[PC] = target & !1;
}

/// Goes to `yes`, at its cost, when `take`; otherwise continues after the instruction, which has `d` bytes.
#[inline(always)]
fn branch_if(cpu: &mut Thumb, i: &Insn, take: bool) {
    let on = i.site.pc.wrapping_add(i.d.into());
    cpu.r[PC] = if take { i.imm } else { on };
    cpu.mem.stall += if take { i64::from(i.taken) } else { 0 };
}

/// B with a condition.
#[inline(always)]
pub(crate) fn branch_cond(cpu: &mut Thumb, i: &Insn, cond: u8) {
    let take = holds(cpu, cond);
    branch_if(cpu, i, take);
}

/// CBZ, CBNZ.
#[inline(always)]
pub(crate) fn branch_zero(cpu: &mut Thumb, i: &Insn, nonzero: bool) {
    let take = (reg(cpu, i.b) != 0) == nonzero;
    branch_if(cpu, i, take);
}

/// B; also continues after a run that is full.
#[inline(always)]
pub(crate) fn branch(cpu: &mut Thumb, i: &Insn) {
    cpu.r[PC] = i.imm;
}

/// BL.
#[inline(always)]
pub(crate) fn branch_link(cpu: &mut Thumb, i: &Insn) {
    cpu.r[LR] = i.site.pc.wrapping_add(4) | 1;
    cpu.r[PC] = i.imm;
}

/// BX.
#[inline(always)]
pub(crate) fn branch_register(cpu: &mut Thumb, i: &Insn) {
    let target = reg(cpu, i.c);
    go_to(cpu, i, target);
}

/// BLX.
#[inline(always)]
pub(crate) fn branch_link_register(cpu: &mut Thumb, i: &Insn) {
    let target = reg(cpu, i.c);
    cpu.r[LR] = i.site.pc.wrapping_add(2) | 1;
    go_to(cpu, i, target);
}

/// MOV to the program counter: bit 0 is ignored.
#[inline(always)]
pub(crate) fn mov_pc(cpu: &mut Thumb, i: &Insn) {
    cpu.r[PC] = reg(cpu, i.c) & !1;
}

/// ADD to the program counter, whose value is in `imm`.
#[inline(always)]
pub(crate) fn add_pc(cpu: &mut Thumb, i: &Insn) {
    cpu.r[PC] = i.imm.wrapping_add(reg(cpu, i.c)) & !1;
}

/// IT, and a change of condition inside its block: skips what the condition guards.
///
/// # Safety
/// As for [`isa::Exec`]; what it skips must not be the end of the block.
pub(crate) unsafe fn skip_unless<const COND: u8>(cpu: &mut Thumb, i: *const Insn) {
    // SAFETY: the caller passes an instruction of a block; the skipped ones and one more follow it.
    unsafe {
        let insn = &*i;
        let go = holds(cpu, COND);
        cpu.mem.stall -= if go { 0 } else { i64::from(insn.refund) };
        let skips = if go { 0 } else { usize::from(insn.skips) };
        isa::next(cpu, i.add(skips));
    }
}

/// A data-processing instruction and the conditional branch after it.
///
/// # Safety
/// As for [`isa::Exec`].
#[inline(always)]
pub(crate) unsafe fn data_branch(cpu: &mut Thumb, i: *const Insn, alu: Alu, kind: Kind, cond: u8) {
    // SAFETY: the caller passes an instruction of a block that is not its last one.
    unsafe {
        data(cpu, &*i, alu, kind, true);
        branch_cond(cpu, &*i.add(1), cond);
    }
}

// --- system ---

/// CPSID, CPSIE: bit 0 of `imm` is F, bit 1 is I; `d` is the new value.
pub(crate) fn change_state(cpu: &mut Thumb, i: &Insn) {
    if i.imm & 2 != 0 {
        cpu.system[0] = i.d.into();
    }
    if i.imm & 1 != 0 {
        cpu.system[2] = i.d.into();
    }
}

/// MRS from special register `imm`.
pub(crate) fn read_special(cpu: &mut Thumb, i: &Insn) {
    let value = match i.imm {
        0..=3 => cpu.apsr(),
        5..=7 => 0,
        8 => cpu.r[SP],
        9 => cpu.system[4],
        16 => cpu.system[0],
        17 | 18 => cpu.system[1],
        19 => cpu.system[2],
        20 => cpu.system[3],
        _ => return not_modelled(cpu, i),
    };
    set(cpu, i.a, value);
}

/// MSR to special register `imm`.
pub(crate) fn write_special(cpu: &mut Thumb, i: &Insn) {
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
        _ => not_modelled(cpu, i),
    }
}

/// MRS or MSR of a special register that has no model.
fn not_modelled(cpu: &mut Thumb, i: &Insn) {
    let half = |at| cpu.flash_half(at).unwrap_or(0);
    let word = half(i.site.pc) << 16 | half(i.site.pc.wrapping_add(2));
    cpu.mem.fault(FaultKind::Unsupported { word }, i.site);
}

/// SEV.
pub(crate) fn send_event(cpu: &mut Thumb, _: &Insn) {
    cpu.event = true;
}

/// WFE: goes on where an event was left, which it takes (ARMv7-M, B1.5.18); `imm` is the encoding.
pub(crate) fn wait_for_event(cpu: &mut Thumb, i: &Insn) {
    if !std::mem::take(&mut cpu.event) {
        return unsupported(cpu, i);
    }
    cpu.mem.stall += i64::from(cpu.events.wfe);
    cpu.r[PC] = i.site.pc.wrapping_add(if i.imm >> 16 == 0 { 2 } else { 4 });
}

/// Pseudo-instruction after one that may lower the stack pointer.
#[inline(always)]
pub(crate) fn stack(cpu: &mut Thumb, i: &Insn) {
    let sp = cpu.r[SP] & !3; // bits 1 and 0 are always zero
    cpu.r[SP] = sp;
    cpu.mem.stack(sp, i.site);
}

fn stop(cpu: &mut Thumb, i: &Insn, kind: FaultKind) {
    cpu.r[PC] = i.site.pc;
    cpu.mem.fault(kind, i.site);
}

/// BKPT.
pub(crate) fn trap(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::Trap);
}

/// SVC and others that need something that is not modelled; `imm` is the encoding.
pub(crate) fn unsupported(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::Unsupported { word: i.imm });
}

/// Not an instruction; `imm` is the encoding.
pub(crate) fn bad_opcode(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::BadOpcode { word: i.imm });
}

/// The run left the flash.
pub(crate) fn bad_fetch(cpu: &mut Thumb, i: &Insn) {
    stop(cpu, i, FaultKind::BadFetch);
}
