//! Decodes memory into runs of handlers, and into the timing models' view of them.

use isa::Run;
use mcu::Site;

use crate::exec::Insn;
use crate::form::When;
use crate::handlers::{Handlers, Pseudo, fused, handlers};
use crate::op::{Alu, Op, Simple};
use crate::operands::Operands;
use crate::state::{PC, SP, Thumb};
use crate::step::{Class, Kind, Step};
use crate::table::{self, Definition};

/// The flags, as a set.
mod flag {
    pub(super) const N: u8 = 1;
    pub(super) const Z: u8 = 2;
    pub(super) const C: u8 = 4;
    pub(super) const V: u8 = 8;
    pub(super) const NZ: u8 = N | Z;
    pub(super) const NZCV: u8 = N | Z | C | V;
}

use flag::{C, NZ, NZCV};

/// An instruction's flags: those that it always sets, those that it may also set, and those that it reads.
#[derive(Clone, Copy, Default)]
struct Flags {
    surely: u8,
    perhaps: u8,
    reads: u8,
}

/// How flags are treated where they are set.
fn flags(op: Op, o: &Operands) -> Flags {
    let none = Flags::default();
    match op {
        Op::Data(alu) => {
            let shifter = if matches!(o.kind, Kind::Imm | Kind::Reg) { 0 } else { C };
            let rrx = if o.kind == Kind::Rrx { C } else { 0 };
            match alu {
                Alu::And | Alu::Bic | Alu::Orr | Alu::Orn | Alu::Eor | Alu::Mov | Alu::Mvn | Alu::Tst | Alu::Teq => {
                    Flags { surely: NZ | shifter, reads: rrx, ..none }
                }
                Alu::Add | Alu::Sub | Alu::Rsb | Alu::Cmp | Alu::Cmn => Flags { surely: NZCV, reads: rrx, ..none },
                Alu::Adc | Alu::Sbc => Flags { surely: NZCV, reads: C, ..none },
            }
        }
        // the carry stays where the amount is zero
        Op::Shift(_) => Flags { surely: NZ, perhaps: C, ..none },
        Op::Mul => Flags { surely: NZ, ..none },
        Op::WriteSpecial if o.imm > 3 => none,
        Op::WriteSpecial if o.d == 0 => Flags { surely: NZCV, ..none },
        Op::WriteSpecial | Op::ReadSpecial => Flags { reads: NZCV, ..none },
        Op::BCond => Flags { reads: condition_reads(o.c), ..none },
        Op::Simple(_) | Op::Saturate(_) | Op::Nop | Op::Barrier => none,
        Op::MulLong(_) | Op::MulLongAdd(_) | Op::Div(_) | Op::Dsp(_) => none,
        Op::Load(..) | Op::LoadPc | Op::Store(_) | Op::LoadDual | Op::StoreDual => none,
        Op::LoadMultiple(_) | Op::LoadMultiplePc(_) | Op::StoreMultiple(_) => none,
        Op::LoadExclusive(_) | Op::StoreExclusive(_) | Op::ClearExclusive => none,
        Op::B | Op::CompareBranch(_) | Op::Bl | Op::Bx | Op::Blx | Op::MovPc | Op::AddPc | Op::TableBranch(_) => none,
        Op::It | Op::ChangeState | Op::Sev | Op::Wfe | Op::Trap | Op::Unsupported | Op::Undefined => none,
    }
}

/// Flags that condition `cond` reads.
fn condition_reads(cond: u8) -> u8 {
    match cond >> 1 {
        0 => flag::Z,
        1 => flag::C,
        2 => flag::N,
        3 => flag::V,
        4 => flag::C | flag::Z,
        5 => flag::N | flag::V,
        6 => flag::N | flag::V | flag::Z,
        _ => 0,
    }
}

/// Registers that an instruction reads and writes, one bit each: those in its bit pattern, and those that its operation
/// adds.
fn registers(row: &Definition, o: &Operands, word: u32) -> (u16, u16) {
    let (fields, letters) = (row.pattern.fields(word), row.pattern.fields(u32::MAX));
    let field = |c: char| if letters.get(c) == 0 { 0 } else { 1u16.checked_shl(fields.get(c)).unwrap_or(0) };
    let first = 1 << (o.b & 15);
    let (reads, writes) = match row.op {
        Op::Data(Alu::Mov | Alu::Mvn) => (0, 0),
        Op::Data(_) | Op::Shift(_) | Op::Mul => (first, 0),
        Op::Simple(Simple::Movt | Simple::Insert | Simple::Clear) => (field('d'), 0),
        Op::Simple(Simple::Mla | Simple::Mls) => (field('r'), 0),
        Op::Simple(Simple::Extend(..) | Simple::Rev | Simple::Rev16 | Simple::Revsh | Simple::Rbit) => (0, 0),
        Op::Simple(Simple::Clz | Simple::Extract(_)) => (0, 0),
        Op::MulLongAdd(_) => (field('d') | field('h'), 0),
        Op::Dsp(dsp) => match dsp.class() {
            Class::MulAdd => (field('r'), 0),
            Class::MulLongAdd => (field('d') | field('h'), 0),
            _ => (0, 0),
        },
        Op::Load(..) | Op::LoadExclusive(_) => (0, 1 << o.a),
        Op::LoadDual => (0, 1 << o.a | 1 << o.d),
        Op::LoadMultiple(_) | Op::LoadMultiplePc(_) => (0, o.imm as u16),
        Op::Store(_) => (field('t'), 0),
        Op::StoreDual => (field('t') | field('r'), 0),
        Op::StoreMultiple(_) => (o.imm as u16, 0),
        Op::StoreExclusive(_) => (1 << (o.d & 15), 0),
        Op::Saturate(_) | Op::Nop | Op::Barrier | Op::MulLong(_) | Op::Div(_) | Op::LoadPc => (0, 0),
        Op::B | Op::BCond | Op::CompareBranch(_) | Op::Bl | Op::Bx | Op::Blx | Op::MovPc | Op::AddPc => (0, 0),
        Op::TableBranch(_) | Op::It | Op::ClearExclusive | Op::Sev | Op::Wfe => (0, 0),
        Op::ChangeState | Op::ReadSpecial | Op::WriteSpecial | Op::Trap | Op::Unsupported | Op::Undefined => (0, 0),
    };
    ((reads | o.address | field('n') | field('m')) & !(1 << PC), writes | o.writes)
}

/// Where a direct branch goes.
fn target(op: Op, o: &Operands) -> Option<u32> {
    matches!(op, Op::B | Op::BCond | Op::CompareBranch(_) | Op::Bl).then_some(o.imm)
}

/// The kind of an item in a run.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Op(Op, Operands),
    Pseudo(Pseudo),
}

/// One instruction of a run while flags are being followed.
pub(crate) struct Item {
    pub insn: Insn,
    pub what: What,
    /// Whether the flags that it sets are read.
    pub needed: bool,
    pub step: Step,
    handlers: Handlers,
    /// Flags that it sets, always sets, and reads.
    pub sets: u8,
    surely: u8,
    reads: u8,
}

/// A definition as found in memory.
pub(crate) struct Found {
    /// Index of the definition in the table.
    pub number: usize,
    pub row: &'static Definition,
    pub operands: Operands,
    pub word: u32,
    pub bytes: u32,
}

/// Looks up the instruction at `pc`; `Err` holds the encoding, or nothing outside flash.
pub(crate) fn find(cpu: &Thumb, pc: u32) -> Result<Found, Option<u32>> {
    let first = cpu.flash_half(pc).ok_or(None)?;
    let (word, bits) = match first >> 11 {
        0b11101..=0b11111 => (first << 16 | cpu.flash_half(pc.wrapping_add(2)).ok_or(None)?, 32),
        _ => (first, 16),
    };
    let (number, row, operands) = table::find(cpu.features(), word, bits, pc).ok_or(Some(word))?;
    Ok(Found { number, row, operands, word, bytes: bits / 8 })
}

fn insn(handlers: Handlers, pc: u32, o: &Operands) -> Insn {
    let site = Site { pc, cycles: 0 };
    Insn { exec: handlers[1], site, imm: o.imm, a: o.a, b: o.b, c: o.c, d: o.d, taken: 0, skips: 0, refund: 0 }
}

fn pseudo(what: Pseudo, pc: u32, imm: u32, guarded: bool) -> Item {
    let class = match what {
        Pseudo::Undefined | Pseudo::Outside => Class::Stop,
        Pseudo::Skip(_) | Pseudo::Stack | Pseudo::Seam => Class::Pseudo,
    };
    let step = Step {
        class,
        pc,
        bytes: 0,
        writes: 0,
        address: 0,
        reads: 0,
        sets_flags: false,
        reads_flags: false,
        count: 0,
        literal: false,
        guarded,
        links: false,
        target: None,
    };
    let handlers = [what.handler(); 2];
    let insn = insn(handlers, pc, &Operands { imm, ..Operands::default() });
    let reads = if let Pseudo::Skip(cond) = what { condition_reads(cond) } else { 0 };
    Item { insn, what: What::Pseudo(what), needed: false, step, handlers, sets: 0, surely: 0, reads }
}

/// Decodes the instruction at `pc` into `items`; returns its length.
fn push(cpu: &Thumb, items: &mut Vec<Item>, pc: u32, guarded: bool) -> u32 {
    let Found { row, operands: o, word, bytes, .. } = match find(cpu, pc) {
        Ok(found) => found,
        Err(word) => {
            let what = if word.is_some() { Pseudo::Undefined } else { Pseudo::Outside };
            items.push(pseudo(what, pc, word.unwrap_or(0), guarded));
            return 2;
        }
    };
    let on = match row.form.when() {
        When::Never => false,
        When::Always => true,
        When::OutsideIt => !guarded,
        When::Bit => row.pattern.fields(word).get('s') == 1,
    };
    let flags = flags(row.op, &o);
    let (surely, sets) = if on { (flags.surely, flags.surely | flags.perhaps) } else { (0, 0) };
    let (reads, writes) = registers(row, &o, word);
    let class = row.op.class();
    let step = Step {
        class,
        pc,
        bytes: bytes as u8,
        writes,
        address: o.address,
        reads,
        sets_flags: sets != 0,
        reads_flags: guarded || flags.reads != 0,
        count: o.count,
        literal: o.b == PC as u8 && matches!(class, Class::Load | Class::LoadPc | Class::LoadMultiple),
        guarded,
        links: matches!(row.op, Op::Bl | Op::Blx),
        target: target(row.op, &o),
    };
    let handlers = handlers(row.op, &o);
    items.push(Item {
        insn: insn(handlers, pc, &o),
        what: if row.op == Op::It { What::Pseudo(Pseudo::Skip(o.c)) } else { What::Op(row.op, o) },
        needed: sets != 0,
        step,
        handlers,
        sets,
        surely,
        reads: flags.reads,
    });
    if writes >> SP & 1 == 1 {
        items.push(pseudo(Pseudo::Stack, pc, 0, guarded));
    }
    bytes
}

/// Decodes an IT instruction and its block; returns their length and number.
/// A skip is placed before each change of condition and after each guarded instruction that sets flags.
fn push_block(cpu: &Thumb, items: &mut Vec<Item>, pc: u32, cond: u8, mask: u8) -> (u32, usize) {
    let length = 4 - mask.trailing_zeros() as usize;
    let mut at = pc.wrapping_add(push(cpu, items, pc, false));
    let mut skip = items.len() - 1;
    items[skip].reads = condition_reads(cond);
    let mut last = cond;
    let mut split = false;
    for k in 0..length {
        let now = if k == 0 { cond } else { cond & 0xE | mask >> (4 - k) & 1 };
        if now != last || split {
            skip = items.len();
            items.push(pseudo(Pseudo::Skip(now), at, 0, false));
        }
        last = now;
        let first = items.len();
        at = at.wrapping_add(push(cpu, items, at, true));
        // MSR may write flags although its operation does not tell
        split = items[first].sets != 0 || items[first].step.class == Class::System;
        items[skip].insn.skips += (items.len() - first) as u8;
    }
    (at.wrapping_sub(pc), 1 + length)
}

/// Decodes the run at `pc`. An IT block is never split, so a run can have four instructions more
/// than `max`.
pub(crate) fn run(cpu: &Thumb, pc: u32, max: usize) -> Run<Thumb> {
    let (items, end) = items(cpu, pc, max);
    Run { insns: items.iter().map(|i| i.insn).collect(), steps: items.iter().map(|i| i.step).collect(), end }
}

/// The items of the run at `pc`, and the address after it.
pub(crate) fn items(cpu: &Thumb, pc: u32, max: usize) -> (Vec<Item>, u32) {
    let mut items = Vec::new();
    let mut at = pc;
    let mut count = 0;
    loop {
        let first = items.len();
        let ended = match find(cpu, at) {
            Ok(Found { row, operands: o, .. }) if row.op == Op::It => {
                let (bytes, n) = push_block(cpu, &mut items, at, o.c, o.d);
                at = at.wrapping_add(bytes);
                count += n;
                false
            }
            _ => {
                at = at.wrapping_add(push(cpu, &mut items, at, false));
                count += 1;
                let ended = items[first].step.class.ends();
                items.truncate(if ended { first + 1 } else { items.len() });
                ended
            }
        };
        let guarded_end = items[first..].iter().any(|i| i.step.guarded && i.step.class.ends());
        if ended {
            break;
        }
        if count >= max.max(1) || guarded_end {
            items.push(pseudo(Pseudo::Seam, at, at, false));
            break;
        }
    }
    choose_handlers(&mut items);
    fuse(&mut items);
    (items, at)
}

/// Goes backwards and picks handlers without flags where the flags are not read.
fn choose_handlers(items: &mut [Item]) {
    let mut live = NZCV;
    for item in items.iter_mut().rev() {
        if item.step.class.ends() {
            live = NZCV;
        }
        let needed = item.sets & live != 0;
        item.needed = needed;
        item.insn.exec = item.handlers[usize::from(needed)];
        if !item.step.guarded {
            live &= !item.surely;
        }
        live |= item.reads;
    }
}

/// Merges a comparison with the branch that ends the run.
fn fuse(items: &mut [Item]) {
    let [.., first, last] = items else { return };
    let (What::Op(op, o), What::Op(Op::BCond, branch)) = (first.what, last.what) else { return };
    if first.sets != 0 && !first.step.guarded {
        first.insn.exec = fused(op, o.kind, branch.c).unwrap_or(first.insn.exec);
    }
}
