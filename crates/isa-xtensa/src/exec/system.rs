//! Executes accesses to special registers, waits, and ends of runs.

use mcu::FaultKind;

use super::{Insn, reg, set};
use crate::state::{SP, Xtensa, now, ps, special};

/// NOP, MEMW, EXTW, ISYNC and others that only wait for something that is not modelled.
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
        not_modelled(cpu, i);
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
        special::CCOUNT => {
            cpu.mem.host.clocked += 1;
            now(cpu, i.site).wrapping_add(cpu.ccount)
        }
        n => cpu.sr[usize::from(n)],
    })
}

/// An access to a register that has no model.
fn not_modelled(cpu: &mut Xtensa, i: &Insn) {
    let word = (0..3).fold(0, |word, n| word | cpu.byte(i.site.pc.wrapping_add(n)).unwrap_or(0) << (8 * n));
    cpu.mem.fault(FaultKind::Unsupported { word }, i.site);
}

fn write_special(cpu: &mut Xtensa, i: &Insn, value: u32) {
    let n = i.imm as u8;
    if !cpu.features.has_special(n) {
        return not_modelled(cpu, i);
    }
    match n {
        special::LBEG => cpu.lbeg = value,
        special::LEND => cpu.loop_ends_at(value, i.site),
        special::LCOUNT => cpu.lcount = value,
        special::SAR => cpu.sar = value & 63,
        special::BR => cpu.sr[usize::from(n)] = value & 0xFFFF,
        special::WINDOW_BASE => cpu.rotate(value),
        special::WINDOW_START => cpu.set_window_start(value),
        special::PS => cpu.set_ps(value),
        special::CCOUNT => cpu.ccount = value.wrapping_sub(now(cpu, i.site)),
        special::EXCCAUSE => cpu.sr[usize::from(n)] = value & 63,
        special::PRID => not_modelled(cpu, i),
        // handlers of a package's own would run in the harness too
        special::VECBASE if cpu.mem.in_call() => not_modelled(cpu, i),
        n => {
            cpu.mem.allow_interrupts(n == special::INTENABLE && value != 0);
            cpu.sr[usize::from(n)] = value;
        }
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

/// User register 231, THREADPTR, is the only one modelled.
pub fn rur(cpu: &mut Xtensa, i: &Insn) {
    match i.imm {
        231 => set(cpu, i.a, cpu.thread),
        _ => not_modelled(cpu, i),
    }
}

/// Like [`rur`].
pub fn wur(cpu: &mut Xtensa, i: &Insn) {
    match i.imm {
        231 => cpu.thread = reg(cpu, i.a),
        _ => not_modelled(cpu, i),
    }
}

/// Pseudo-instruction after one that may lower the stack pointer.
#[inline(always)]
pub fn stack(cpu: &mut Xtensa, i: &Insn) {
    cpu.mem.stack(cpu.a[SP], i.site);
}

pub(super) fn stop(cpu: &mut Xtensa, i: &Insn, kind: FaultKind) {
    cpu.pc = i.site.pc;
    cpu.mem.fault(kind, i.site);
}

/// BREAK, SYSCALL, SIMCALL, ILL: exceptions that end the run.
pub fn trap(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::Trap);
}

/// An instruction that needs something that is not modelled; `imm` is the encoding.
pub fn unsupported(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::Unsupported { word: i.imm });
}

/// Not an instruction; `imm` is the encoding.
pub fn bad_opcode(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::BadOpcode { word: i.imm });
}

/// The run left the code memory.
pub fn bad_fetch(cpu: &mut Xtensa, i: &Insn) {
    stop(cpu, i, FaultKind::BadFetch);
}
