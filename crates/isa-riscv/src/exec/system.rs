//! Executes accesses to control and status registers, returns from traps, and ends of runs.

use mcu::FaultKind;

use super::{Insn, rs1, set};
use crate::op::DROP;
use crate::state::{Counter, Riscv, SP};
use crate::word::Word;

/// FENCE, FENCE.I: there is one hart, and code is never written.
#[inline(always)]
pub(super) fn nop<X: Word>(_: &mut Riscv<X>, _: &Insn<X>) {}

/// The hart's number.
const MHARTID: u32 = 0xF14;
/// The register with the bit that allows interrupts (Privileged Architecture, 3.1.6.1).
const MSTATUS: u32 = 0x300;
/// That bit, and the one that it was before a trap.
const MIE: u64 = 1 << 3;
const MPIE: u64 = 1 << 7;
/// Where MRET goes.
const MEPC: u32 = 0x341;

/// CSRRS, CSRRC and their forms with an immediate; `imm` is the encoding, the second operand's number is `b`, and a
/// register is written where it is not 0.
pub(super) fn csr<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let cycle = cpu.mem.now(i.site).wrapping_add(cpu.mcycle);
    let number = i.imm >> 20;
    let value = match (cpu.features.counter, number) {
        _ if i.b != 0 => None,
        (Counter::Mcycle, 0xC00 | 0xB00) => Some(X::cut(cycle)), // cycle, mcycle
        (Counter::Mcycle, 0xC80 | 0xB80) if X::BITS == 32 => Some(X::cut(cycle >> 32)), // cycleh, mcycleh
        (Counter::Mpccr, 0x7E2) => Some(X::cut(cycle)),
        (_, MHARTID) => Some(X::zext(0)),
        _ => None,
    };
    match value {
        Some(value) => {
            cpu.mem.host.clocked += u64::from(number != MHARTID);
            set(cpu, i, value);
        }
        None => unmodelled(cpu, i),
    }
}

/// CSRRW and CSRRWI, `imm` is the encoding: the harness sets mcycle, and clears mcountinhibit, which could stop it.
/// Espressif's mpccr counts the event in mpcer, of which 1 is the cycle, while mpcmr is 1.
pub(super) fn write_csr<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let (now, value) = (cpu.mem.now(i.site), operand(cpu, i));
    let cycle = now.wrapping_add(cpu.mcycle);
    let set = match (cpu.features.counter, i.imm >> 20) {
        _ if i.a != DROP || cpu.mem.is_measured(i.site) => None,
        (Counter::Mcycle, 0xB00) if X::BITS == 32 => Some(cycle >> 32 << 32 | u64::from(value.low())),
        (Counter::Mcycle, 0xB00) => Some(u64::from(value.high()) << 32 | u64::from(value.low())),
        (Counter::Mcycle, 0xB80) if X::BITS == 32 => Some(u64::from(value.low()) << 32 | cycle & u64::from(u32::MAX)),
        (Counter::Mcycle, 0x320) if value.low() == 0 => Some(cycle),
        (Counter::Mpccr, 0x7E0 | 0x7E1) if value.low() == 1 => Some(cycle),
        (Counter::Mpccr, 0x7E2) => Some(value.low().into()),
        _ => None,
    };
    match set {
        Some(cycle) => cpu.mcycle = cycle.wrapping_sub(now),
        None => unmodelled(cpu, i),
    }
}

/// What an access to a control and status register has as its source: a register, or five bits in its place.
fn operand<X: Word>(cpu: &Riscv<X>, i: &Insn<X>) -> X {
    if i.imm & 1 << 14 != 0 { X::zext(i.b.into()) } else { rs1(cpu, i) }
}

/// An access to a control and status register without a model: it keeps what is written where registers of peripherals
/// without one do, and is a fault elsewhere. Volume I, chapter 9 ("Zicsr").
fn unmodelled<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let (number, given) = (i.imm >> 20, operand(cpu, i));
    let given = u64::from(given.high()) << 32 | u64::from(given.low());
    let change = |old: u64| match i.imm >> 12 & 3 {
        1 => Some(given),
        _ if i.b == 0 => None,
        2 => Some(old | given),
        _ => Some(old & !given),
    };
    let Some((old, new)) = cpu.mem.change(number, i.a != DROP, change, i.site.pc) else {
        return cpu.mem.fault(FaultKind::Unsupported { word: i.imm }, i.site);
    };
    cpu.mem.allow_interrupts(number == MSTATUS && new & MIE != 0);
    set(cpu, i, X::cut(old));
}

/// MRET: to the address in `mepc`, with interrupts as `MPIE` has them (volume II, 3.1.6.1 and 3.3.2). Nothing traps here:
/// it is how start-up code enters `main`. The privilege that `MPP` names has no model.
pub(super) fn mret<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let mut change = |number, to: fn(u64) -> Option<u64>| cpu.mem.change(number, true, to, i.site.pc);
    let (Some((target, _)), Some((_, status))) =
        (change(MEPC, |_| None), change(MSTATUS, |old| Some(old & !MIE | old >> 4 & MIE | MPIE)))
    else {
        return unsupported(cpu, i);
    };
    cpu.mem.allow_interrupts(status & MIE != 0);
    let target = X::cut(target);
    cpu.pc = target.low() & !1;
    if target.high() != 0 {
        cpu.mem.fault(FaultKind::BadFetch, i.site);
    }
}

/// Pseudo-instruction after one that changes the stack pointer.
#[inline(always)]
pub(super) fn stack<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    let sp = cpu.r[SP].low();
    cpu.mem.stack(sp, i.site);
}

fn stop<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>, kind: FaultKind) {
    cpu.pc = i.site.pc;
    cpu.mem.fault(kind, i.site);
}

/// EBREAK.
pub(super) fn trap<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::Trap);
}

/// An instruction that needs something that is not modelled; `imm` is the encoding.
pub(super) fn unsupported<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::Unsupported { word: i.imm });
}

/// Not an instruction; `imm` is the encoding.
pub(super) fn bad_opcode<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::BadOpcode { word: i.imm });
}

/// The run left the flash.
pub(super) fn bad_fetch<X: Word>(cpu: &mut Riscv<X>, i: &Insn<X>) {
    stop(cpu, i, FaultKind::BadFetch);
}
