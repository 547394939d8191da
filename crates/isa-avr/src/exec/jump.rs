//! Skips, branches, jumps, calls, and other ends of a run.

use mcu::{FaultKind, Register};

use super::I;
use crate::op::Pointer;
use crate::state::Avr;

const Z: u8 = Pointer::Z.low();

/// CPSE. The condition functions say whether the next instruction is skipped.
#[inline(always)]
pub(super) fn cpse(cpu: &mut Avr, i: &I) -> bool {
    cpu.a(i) == cpu.b(i)
}

#[inline(always)]
pub(super) fn sbrc(cpu: &mut Avr, i: &I) -> bool {
    cpu.a(i) >> (i.b & 7) & 1 == 0
}

#[inline(always)]
pub(super) fn sbrs(cpu: &mut Avr, i: &I) -> bool {
    cpu.a(i) >> (i.b & 7) & 1 == 1
}

#[inline(always)]
pub(super) fn sbic(cpu: &mut Avr, i: &I) -> bool {
    cpu.read_any(i.imm, i.site) >> (i.b & 7) & 1 == 0
}

#[inline(always)]
pub(super) fn sbis(cpu: &mut Avr, i: &I) -> bool {
    cpu.read_any(i.imm, i.site) >> (i.b & 7) & 1 == 1
}

#[inline(always)]
pub(super) fn when_set<const BIT: u8>(cpu: &mut Avr, _: &I) -> bool {
    cpu.sreg.get::<BIT>()
}

#[inline(always)]
pub(super) fn when_clear<const BIT: u8>(cpu: &mut Avr, _: &I) -> bool {
    !cpu.sreg.get::<BIT>()
}

/// RJMP, JMP and the end of a run that falls through.
#[inline(always)]
pub(super) fn jmp<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    cpu.pc = i.imm;
    Some(())
}

#[inline(always)]
pub(super) fn ijmp<const FULL: bool>(cpu: &mut Avr, _: &I) -> Option<()> {
    cpu.pc = u32::from(cpu.pair(Z)) * 2;
    Some(())
}

/// Pushes the word address `words` after the call.
#[inline(always)]
fn push_return<const FULL: bool>(cpu: &mut Avr, i: &I, words: u32) -> Option<()> {
    let back = (i.site.pc / 2).wrapping_add(words) as u16;
    cpu.push_bytes::<FULL, 2>(back.to_le_bytes(), i.site)
}

#[inline(always)]
pub(super) fn call<const FULL: bool, const WORDS: u32>(cpu: &mut Avr, i: &I) -> Option<()> {
    push_return::<FULL>(cpu, i, WORDS)?;
    cpu.pc = i.imm;
    Some(())
}

#[inline(always)]
pub(super) fn icall<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    push_return::<FULL>(cpu, i, 1)?;
    cpu.pc = u32::from(cpu.pair(Z)) * 2;
    Some(())
}

#[inline(always)]
pub(super) fn ret<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let word = u16::from_le_bytes(cpu.pop_bytes::<FULL, 2>(i.site)?);
    cpu.pc = u32::from(word) * 2;
    Some(())
}

#[inline(always)]
pub(super) fn reti<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    ret::<FULL>(cpu, i)?;
    cpu.sreg.put::<7>(true);
    Some(())
}

fn fault(cpu: &mut Avr, i: &I, kind: FaultKind) -> Option<()> {
    cpu.pc = i.site.pc;
    cpu.mem.fault(kind, i.site);
    Some(())
}

#[inline(always)]
pub(super) fn brk<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::Trap)
}

#[inline(always)]
pub(super) fn spm<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let address = cpu.pair(Z).into();
    fault(cpu, i, FaultKind::FlashWrite { address })
}

/// SLEEP: nothing could wake the core, except that it goes on where a program that is not ours left SE at 0.
#[inline(always)]
pub(super) fn sleep<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (register, bit) = cpu.variant.sleep_enable;
    if cpu.mem.unmodelled.as_ref().is_some_and(|u| u.value(Register::At(register)) & u64::from(bit) == 0) {
        cpu.pc = i.site.pc.wrapping_add(2);
        return Some(());
    }
    fault(cpu, i, FaultKind::Unsupported { word: i.imm })
}

/// A word that is not an instruction.
#[inline(always)]
pub(super) fn undefined<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::BadOpcode { word: i.imm })
}

/// An instruction whose second word is outside flash.
#[inline(always)]
pub(super) fn truncated<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::BadFetch)
}
