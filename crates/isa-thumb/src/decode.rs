//! From memory to runs of handlers, and to text.

use isa::Run;
use mcu::Site;

use crate::exec::{self, Exec, Insn, end, seq};
use crate::table::{self, Handlers, Kind, Operands, Row, When, flag};
use crate::{PC, SP, Thumb};

/// What kind of work an instruction is, as timing models tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data processing, moves, hints.
    Alu,
    /// MUL.
    Mul,
    /// MLA, MLS.
    MulAdd,
    /// UMULL, SMULL.
    MulLong,
    /// UMLAL, SMLAL.
    MulLongAdd,
    /// UDIV, SDIV.
    Div,
    /// Load of one register.
    Load,
    /// Load of the program counter.
    LoadPc,
    /// Store of one register.
    Store,
    /// LDREX and its kin.
    LoadExclusive,
    /// STREX and its kin.
    StoreExclusive,
    /// LDM, POP, LDRD.
    LoadMultiple,
    /// LDM or POP with the program counter.
    LoadMultiplePc,
    /// STM, PUSH, STRD.
    StoreMultiple,
    /// Branch that is always taken.
    Branch,
    /// Branch with a condition.
    BranchCond,
    /// TBB, TBH.
    TableBranch,
    /// IT.
    It,
    /// MRS, MSR, CPS.
    System,
    /// DSB, DMB, ISB.
    Barrier,
    /// Does not end: a fault.
    Stop,
    /// No instruction: a skip, a check, a fall-through.
    Pseudo,
}

impl Class {
    pub(crate) fn ends(self) -> bool {
        matches!(
            self,
            Self::LoadPc | Self::LoadMultiplePc | Self::Branch | Self::BranchCond | Self::TableBranch | Self::Stop
        )
    }
}

/// What a timing model sees of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Kind of work.
    pub class: Class,
    /// Address.
    pub pc: u32,
    /// Length: 2 or 4, 0 for a pseudo-instruction.
    pub bytes: u8,
    /// Registers written, one bit each.
    pub writes: u16,
    /// Registers that the address of an access is made from, one bit each.
    pub address: u16,
    /// Registers read, one bit each.
    pub reads: u16,
    /// Whether it sets flags.
    pub sets_flags: bool,
    /// Whether it reads flags; a guarded instruction does.
    pub reads_flags: bool,
    /// Registers transferred by an instruction for several.
    pub count: u8,
    /// Whether the address is relative to the program counter.
    pub literal: bool,
    /// Whether an IT block guards it.
    pub guarded: bool,
    /// Where a direct branch goes.
    pub target: Option<u32>,
}

/// What an item of a run is.
#[derive(Clone, Copy)]
pub(crate) enum What {
    /// An instruction with its operands.
    Row(&'static Row, Operands),
    /// No instruction, or outside flash.
    Fault,
    /// Skips what the condition guards.
    Skip(u8),
    /// Looks at the stack pointer.
    Stack,
    /// Goes on behind the run.
    Seam,
}

/// One instruction of a run while flags are being followed.
pub(crate) struct Item {
    pub insn: Insn,
    pub what: What,
    /// Whether anybody reads the flags that it sets.
    pub needed: bool,
    pub step: Step,
    handlers: Handlers,
    kind: Kind,
    pair: Option<table::Pair>,
    /// Flags that it sets, surely sets, and reads.
    pub sets: u8,
    surely: u8,
    reads: u8,
}

/// Decodes one instruction; `Err` holds the encoding, or nothing outside flash.
fn one(cpu: &Thumb, pc: u32) -> Result<(&'static Row, Operands, u32, u32), Option<u32>> {
    let first = cpu.flash_half(pc).ok_or(None)?;
    let (word, bits) = match first >> 11 {
        0b11101..=0b11111 => (first << 16 | cpu.flash_half(pc.wrapping_add(2)).ok_or(None)?, 32),
        _ => (first, 16),
    };
    let (row, operands) = table::find(cpu.features(), word, bits, pc).ok_or(Some(word))?;
    Ok((row, operands, word, bits / 8))
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

fn insn(exec: Exec, pc: u32, o: &Operands) -> Insn {
    let site = Site { pc, cycles: 0 };
    Insn { exec, site, imm: o.imm, a: o.a, b: o.b, c: o.c, d: o.d, taken: 0, skips: 0, refund: 0 }
}

fn pseudo(exec: Exec, what: What, pc: u32, imm: u32, guarded: bool) -> Item {
    let step = Step {
        class: Class::Pseudo,
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
        target: None,
    };
    let insn = insn(exec, pc, &Operands { imm, ..Operands::default() });
    Item {
        insn,
        what,
        needed: false,
        step,
        handlers: [exec; 2],
        kind: Kind::Reg,
        pair: None,
        sets: 0,
        surely: 0,
        reads: 0,
    }
}

/// Registers that an instruction reads, from the letters of its encoding.
fn sources(row: &Row, o: &Operands, word: u32) -> u16 {
    let fields = row.pattern.fields(word);
    let letters = row.pattern.fields(u32::MAX);
    let field = |c: char| if letters.get(c) == 0 { 0 } else { 1u16.checked_shl(fields.get(c)).unwrap_or(0) };
    let name = row.text.0;
    let mut reads = o.address | field('n') | field('m');
    match row.class {
        Class::MulAdd => reads |= field('r'),
        Class::MulLongAdd => reads |= field('d') | field('h'),
        Class::Store => reads |= field('t'),
        Class::StoreExclusive => reads |= 1 << (o.d & 15),
        Class::StoreMultiple if name.starts_with("strd") => reads |= field('t') | field('r'),
        Class::StoreMultiple => reads |= o.imm as u16,
        Class::Alu | Class::Mul => {
            // the destination is an operand as well
            let both = row.pattern.bits == 16 && letters.get('n') == 0 && letters.get('y') == 0;
            let alone = ["mov", "mvn", "sxt", "uxt", "rev", "nop"].iter().any(|n| name.starts_with(n));
            if both && !alone {
                reads |= 1 << (o.b & 15);
            }
            if ["movt", "bfi", "bfc"].iter().any(|n| name.starts_with(n)) {
                reads |= field('d');
            }
        }
        _ => {}
    }
    reads & !(1 << PC)
}

/// Decodes the instruction at `pc` into `items`; returns its length.
fn push(cpu: &Thumb, items: &mut Vec<Item>, pc: u32, guarded: bool) -> u32 {
    let (row, o, word, bytes) = match one(cpu, pc) {
        Ok(found) => found,
        Err(word) => {
            let exec = if word.is_some() { end!(exec::bad_opcode) } else { end!(exec::bad_fetch) };
            let mut item = pseudo(exec, What::Fault, pc, word.unwrap_or(0), guarded);
            item.step.class = Class::Stop;
            items.push(item);
            return 2;
        }
    };
    let on = match row.when {
        When::Never => false,
        When::Always => true,
        When::OutsideIt => !guarded,
        When::Bit => row.pattern.fields(word).get('s') == 1,
    };
    let mut sets = if on { row.flags & flag::NZCV } else { 0 };
    let mut surely = sets;
    if on && row.flags & flag::SHIFTER != 0 && !matches!(o.kind, Kind::Imm | Kind::Reg) {
        sets |= flag::C;
        surely |= flag::C;
    }
    if on && row.flags & flag::MAYBE_C != 0 {
        sets |= flag::C;
    }
    let mut reads = row.reads;
    if o.kind == Kind::Rrx {
        reads |= flag::C;
    }
    let mut writes = o.writes;
    match row.class {
        Class::Load | Class::LoadExclusive => writes |= 1 << o.a,
        Class::LoadMultiple | Class::LoadMultiplePc if o.count != 0 => {
            writes |= if row.text.0.starts_with("ldrd") { 1 << o.a | 1 << o.d } else { o.imm as u16 };
        }
        _ => {}
    }
    if matches!(row.class, Class::BranchCond) {
        reads |= if row.text.0.starts_with("cb") { 0 } else { condition_reads(o.c) };
    }
    let handlers = (row.pick)(&o);
    let direct = matches!(row.class, Class::Branch | Class::BranchCond) && row.text.0.contains("{to}");
    let step = Step {
        class: row.class,
        pc,
        bytes: bytes as u8,
        writes,
        address: o.address,
        reads: sources(row, &o, word),
        sets_flags: sets != 0,
        reads_flags: guarded || reads != 0,
        count: o.count,
        literal: o.b == PC as u8 && matches!(row.class, Class::Load | Class::LoadPc | Class::LoadMultiple),
        guarded,
        target: direct.then_some(o.imm),
    };
    items.push(Item {
        insn: insn(handlers[1], pc, &o),
        what: if row.class == Class::It { What::Skip(o.c) } else { What::Row(row, o) },
        needed: sets != 0,
        step,
        handlers,
        kind: o.kind,
        pair: row.pair.filter(|_| sets != 0),
        sets,
        surely,
        reads,
    });
    if writes >> SP & 1 == 1 {
        items.push(pseudo(seq!(exec::stack), What::Stack, pc, 0, guarded));
    }
    bytes
}

/// Decodes an IT instruction and its block; returns their length and number.
///
/// A skip stands before each change of condition and behind each guarded instruction that sets flags.
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
            let mut item = pseudo(exec::skip_handler(now), What::Skip(now), at, 0, false);
            item.reads = condition_reads(now);
            items.push(item);
        }
        last = now;
        let first = items.len();
        at = at.wrapping_add(push(cpu, items, at, true));
        // MSR may write flags without being known to
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

/// The items of the run at `pc`, and the address behind it.
pub(crate) fn items(cpu: &Thumb, pc: u32, max: usize) -> (Vec<Item>, u32) {
    let mut items = Vec::new();
    let mut at = pc;
    let mut count = 0;
    loop {
        let ended = match one(cpu, at) {
            Ok((row, o, ..)) if row.class == Class::It => {
                let (bytes, n) = push_block(cpu, &mut items, at, o.c, o.d);
                at = at.wrapping_add(bytes);
                count += n;
                false
            }
            _ => {
                let first = items.len();
                at = at.wrapping_add(push(cpu, &mut items, at, false));
                count += 1;
                let ended = items[first].step.class.ends();
                items.truncate(if ended { first + 1 } else { items.len() });
                ended
            }
        };
        let guarded_end = items.iter().any(|i| i.step.guarded && i.step.class.ends());
        if ended {
            break;
        }
        if count >= max.max(1) || guarded_end {
            items.push(pseudo(end!(exec::branch), What::Seam, at, at, false));
            break;
        }
    }
    choose_handlers(&mut items);
    fuse(&mut items);
    (items, at)
}

/// Goes backwards and takes handlers without flags where no one reads what they would set.
fn choose_handlers(items: &mut [Item]) {
    let mut live = flag::NZCV;
    for item in items.iter_mut().rev() {
        if item.step.class.ends() {
            live = flag::NZCV;
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

/// A comparison before the branch that ends the run does the branch's work as well.
fn fuse(items: &mut [Item]) {
    let [.., first, last] = items else { return };
    let (Some(pair), Class::BranchCond) = (first.pair, last.step.class) else { return };
    if !first.step.guarded && last.reads != 0 {
        first.insn.exec = pair(first.kind, last.insn.c).unwrap_or(first.insn.exec);
    }
}

const CONDITIONS: [&str; 15] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];
const NAMES: [&str; 16] =
    ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"];

pub(crate) fn disassemble(cpu: &Thumb, pc: u32) -> (String, u32) {
    match one(cpu, pc) {
        Ok((row, o, word, bytes)) => (text(row, &o, word, pc), bytes),
        Err(Some(word)) if word > 0xFFFF => (format!(".inst.w {word:#010x}"), 4),
        Err(Some(word)) => (format!(".inst.n {word:#06x}"), 2),
        Err(None) => ("?".into(), 2),
    }
}

fn text(row: &Row, o: &Operands, word: u32, pc: u32) -> String {
    let name = |r: u8| NAMES[usize::from(r & 15)].to_owned();
    let fields = row.pattern.fields(word);
    let up = fields.get('u') != 0;
    let subtracts = !up && row.pattern.fields(u32::MAX).get('u') != 0;
    let offset = |n: i32, minus: bool| format!("#{}{}", if minus { "-" } else { "" }, n.unsigned_abs());
    row.text.render(|place, format| match place {
        "a" => name(o.a),
        "b" => name(o.b),
        "c" => name(o.c),
        "d" => name(o.d),
        "imm" if format == "x4" => format!("{:#06x}", o.imm),
        "imm" => format!("#{}", o.imm),
        "s" => match row.when {
            When::OutsideIt => "s".into(),
            When::Bit if fields.get('s') == 1 => "s".into(),
            _ => String::new(),
        },
        "sh" => match o.kind {
            Kind::Lsr => "lsr".into(),
            Kind::Asr => "asr".into(),
            _ => "lsl".into(),
        },
        "amount" | "low" => format!("#{}", o.d),
        "shift" => match o.kind {
            Kind::Lsl => format!(", lsl #{}", o.d),
            Kind::Lsr => format!(", lsr #{}", o.d),
            Kind::Asr => format!(", asr #{}", o.d),
            Kind::Ror => format!(", ror #{}", o.d),
            Kind::Rrx => ", rrx".into(),
            _ => String::new(),
        },
        "index" if o.d != 0 => format!(", lsl #{}", o.d),
        "rotate" if o.d != 0 => format!(", ror #{}", o.d),
        "index" | "rotate" => String::new(),
        "ones" => format!("#{}", o.imm.count_ones()),
        "off" if o.imm == 0 && !subtracts => String::new(),
        "off" => format!(", {}", offset(o.imm as i32, subtracts)),
        "signed" => offset(o.imm as i32, subtracts),
        "negative" => offset(o.imm as i32, true),
        "literal" => offset(o.imm.wrapping_sub(pc.wrapping_add(4) & !3) as i32, subtracts),
        "addsub" => if up { "sub" } else { "add" }.into(),
        "magnitude" => format!("#{}", fields.get('i')),
        "to" => format!("{:#x}", o.imm),
        "cond" => CONDITIONS[usize::from(o.c).min(14)].into(),
        "then" => {
            let length = 3 - o.d.trailing_zeros();
            (0..length).map(|k| if (o.d >> (3 - k) ^ o.c) & 1 == 0 { 't' } else { 'e' }).collect()
        }
        "list" => {
            let names: Vec<_> = (0..16u8).filter(|&r| o.imm >> r & 1 == 1).map(name).collect();
            format!("{{{}}}", names.join(", "))
        }
        "wb" => if o.a != 0 { "!" } else { "" }.into(),
        "tb" => if o.kind == Kind::Asr { "tb" } else { "bt" }.into(),
        "ed" => if o.d != 0 { "id" } else { "ie" }.into(),
        "masks" => ["", "f", "i", "if"][o.imm as usize & 3].into(),
        "hint" => format!("{{{}}}", o.imm),
        "special" => table::special(o.imm).unwrap_or("?").into(),
        "barrier" => match o.imm & 15 {
            15 => "sy".into(),
            n => format!("#{n}"),
        },
        "udf" => format!("#{}", fields.get('i')),
        _ => "?".into(),
    })
}
