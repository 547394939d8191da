//! Decodes memory into runs of handlers, and into text.

use isa::Run;
use mcu::Site;

use crate::exec::{Insn, handler};
use crate::features::special_name;
use crate::form::Operands;
use crate::op::{CONSTANTS, Op};
use crate::state::{SP, Xtensa};
use crate::step::{Class, Flow, Step};
use crate::table::{self, Definition, Found};

/// Most instructions and pseudo-instructions of a run, so that a byte can count them.
const LONGEST: usize = 240;

/// Decodes one instruction; `Err` holds the encoding, or nothing outside code memory.
fn one(cpu: &Xtensa, pc: u32) -> Result<Found, Option<u32>> {
    let byte = |n: u32| cpu.byte(pc.wrapping_add(n)).ok_or(None);
    let mut word = byte(0)? | byte(1)? << 8;
    let mut bits = 16;
    if cpu.length(pc) == 3 {
        word |= byte(2)? << 16;
        bits = 24;
    }
    table::find(cpu.features, word, bits, pc).ok_or(Some(word))
}

struct Items {
    insns: Vec<Insn>,
    steps: Vec<Step>,
    /// Indexes of instructions that may leave the run.
    exits: Vec<usize>,
    /// Highest group of four registers whose use has been checked.
    checked: u8,
}

impl Items {
    fn item(&mut self, op: Op, pc: u32, bytes: u32, o: &Operands, target: Option<(u32, u32)>) {
        if op.flow() == Flow::May {
            self.exits.push(self.insns.len());
        }
        let site = Site { pc, cycles: 0 };
        let Operands { a, b, c, d, imm, .. } = *o;
        self.insns.push(Insn { exec: handler(op), site, imm, a, b, c, d, taken: 0, skips: 0, refund: 0 });
        let (reads, writes, data) = (o.reads, o.writes, o.data);
        self.steps.push(Step { op, class: op.class(), pc, bytes: bytes as u8, reads, writes, data, target });
    }

    fn pseudo(&mut self, op: Op, pc: u32, imm: u32, c: u8) {
        self.item(op, pc, 0, &Operands { imm, c, ..Operands::default() }, None);
    }

    /// Decodes the instruction at `pc`; returns how the run continues and the instruction's length.
    fn push(&mut self, cpu: &Xtensa, pc: u32) -> (Flow, u32) {
        let Found { row, operands: mut o, word, .. } = match one(cpu, pc) {
            Ok(found) => found,
            Err(word) => {
                let op = if word.is_some() { Op::BadOpcode } else { Op::BadFetch };
                self.pseudo(op, pc, word.unwrap_or(0), 0);
                return (Flow::Ends, 2);
            }
        };
        let (mut op, bytes) = (row.op, row.pattern.bits / 8);
        if let Some(value) = (op == Op::L32r).then(|| constant(cpu, o.imm)).flatten() {
            (op, o.imm) = (Op::Literal, value);
        }
        if op.class() == Class::Stop {
            o.imm = word;
        }
        if cpu.features.windowed() {
            let used = o.reads | o.writes | o.data;
            let group = (15 - (used | 1).leading_zeros() as u8) / 4;
            if group > self.checked {
                self.pseudo(Op::WindowCheck, pc, 0, group);
                self.checked = group;
            }
            if op == Op::Entry {
                self.pseudo(Op::EntryCheck, pc, 0, 0);
            }
        }
        let direct = matches!(op.class(), Class::Branch | Class::Jump | Class::Loop);
        self.item(op, pc, bytes, &o, direct.then(|| (o.imm, cpu.length(o.imm))));
        if o.writes >> SP & 1 == 1 && op != Op::Entry {
            self.pseudo(Op::Stack, pc, 0, 0);
        }
        (op.flow(), bytes)
    }
}

/// A word of code memory, which does not change.
fn constant(cpu: &Xtensa, address: u32) -> Option<u32> {
    let offset = address.wrapping_sub(cpu.mem.flash_base) as usize;
    let bytes = cpu.mem.flash.get(offset..offset.checked_add(4)?)?;
    Some(bytes.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b)))
}

/// Decodes the run at `pc`: to a jump, to an instruction that changes how the next ones are decoded or
/// checked, or to the end of a hardware loop.
pub(crate) fn run(cpu: &Xtensa, pc: u32, max: usize) -> Run<Xtensa> {
    let mut items = Items { insns: Vec::new(), steps: Vec::new(), exits: Vec::new(), checked: 0 };
    let mut at = pc;
    let mut count = 0;
    loop {
        let (flow, bytes) = items.push(cpu, at);
        at = at.wrapping_add(bytes);
        count += 1;
        if flow == Flow::Ends {
            break;
        }
        let cut = flow != Flow::Next || count >= max.max(1) || items.insns.len() >= LONGEST;
        if cpu.ends.contains_key(&at) {
            items.pseudo(Op::LoopEnd, at, at, 0);
            break;
        }
        if cut {
            items.pseudo(Op::GoOn, at, at, 0);
            break;
        }
    }
    let Items { mut insns, steps, exits, .. } = items;
    let last = insns.len() - 1;
    for k in exits {
        insns[k].skips = (last - k) as u8;
    }
    Run { insns, steps, end: at }
}

/// Index of the definition of the instruction at `pc`.
pub(crate) fn row(cpu: &Xtensa, pc: u32) -> Option<usize> {
    one(cpu, pc).ok().map(|found| found.number)
}

pub(crate) fn disassemble(cpu: &Xtensa, pc: u32) -> (String, u32) {
    match one(cpu, pc) {
        Ok(Found { row, operands, word, .. }) => (text(row, &operands, word), row.pattern.bits / 8),
        Err(Some(word)) => (format!(".byte {:#x}", word & 0xFF), 1),
        Err(None) => ("(outside flash)".into(), 2),
    }
}

fn text(row: &Definition, o: &Operands, word: u32) -> String {
    let fields = row.pattern.fields(word);
    row.text.render(|place, format| match place {
        "a" => format!("a{}", o.a),
        "b" => format!("a{}", o.b),
        "c" => format!("a{}", o.c),
        "d" => o.d.to_string(),
        "imm" if format == "x" => format!("{:#x}", o.imm),
        "imm" => (o.imm as i32).to_string(),
        "to" => format!("{:#x}", o.imm),
        "const" => (CONSTANTS[usize::from(o.d & 31)] as i32).to_string(),
        "width" => o.imm.count_ones().to_string(),
        "bits" => (o.d).to_string(),
        "user" if o.imm == 231 => "threadptr".into(),
        "user" => o.imm.to_string(),
        "special" => special_name(o.imm as u8).map_or_else(|| o.imm.to_string(), Into::into),
        name => fields.get(name.chars().next().unwrap_or(' ')).to_string(),
    })
}
