//! Decodes memory into runs of handlers, and into text.

use isa::{Insn, Run};
use mcu::Site;

use crate::exec::handler;
use crate::form::{Form, Operands};
use crate::op::Op;
use crate::state::{Avr, SREG};
use crate::step::{ALL, Flow, IF_SREG, Step};
use crate::table::Definition;

/// An instruction on the way into a run.
pub(crate) struct Decoded {
    pub insn: Insn<Avr>,
    op: Op,
    step: Step,
}

impl Avr {
    /// Definition and operands of the instruction at `pc`; none when it is undefined or flash ends in it.
    pub(crate) fn lookup(&self, pc: u32) -> Option<(&'static Definition, Operands)> {
        let first = self.fetch(pc)?;
        let row = self.variant.find(first)?;
        let word = match row.bytes() {
            2 => first.into(),
            _ => u32::from(first) << 16 | u32::from(self.fetch(pc + 2)?),
        };
        let mut o = row.form.operands(&row.pattern.fields(word), pc);
        if row.form == Form::Relative && !self.variant.long_jumps {
            o.imm %= self.mem.flash.len() as u32;
        }
        Some((row, o))
    }

    /// Length in bytes of the instruction at `pc`, defined or not.
    fn length(&self, pc: u32) -> u32 {
        self.fetch(pc).and_then(|w| self.variant.find(w)).map_or(2, Definition::bytes)
    }
}

/// Decodes the run at `pc`.
pub(crate) fn run(cpu: &Avr, pc: u32, max: usize) -> Run<Avr> {
    let mut code: Vec<Decoded> = Vec::new();
    let mut at = pc;
    let mut guarded = false; // by a skip
    let open = loop {
        // the remaining length of a run must fit Insn::skips
        if code.len() >= max.clamp(1, 200) || (cpu.fetch(at).is_none() && !code.is_empty()) {
            break true;
        }
        let one = cpu.decode_one(at);
        let flow = one.op.flow();
        at += cpu.length(at);
        code.push(one);
        let was_guarded = std::mem::replace(&mut guarded, flow == Flow::Skip);
        if flow == Flow::End {
            break was_guarded;
        }
    };
    if open {
        code.push(seam(at));
        if guarded {
            code.push(seam(at + cpu.length(at)));
        }
    }
    choose_handlers(&mut code, cpu.variant.io + SREG);
    let (insns, steps) = code.into_iter().map(|d| (d.insn, d.step)).unzip();
    Run { insns, steps, end: at }
}

pub(crate) fn disassemble(cpu: &Avr, pc: u32) -> (String, u32) {
    let Some((row, o)) = cpu.lookup(pc) else {
        return (cpu.fetch(pc).map_or("(outside flash)".into(), |w| format!(".word {w:#06x}")), 2);
    };
    let text = row.text.render(|place, format| {
        let value = match place {
            "a" => o.a.into(),
            "b" => o.b.into(),
            _ => o.imm,
        };
        match format {
            "x" => format!("{value:#04x}"),
            _ => value.to_string(),
        }
    });
    // assemblers write a displacement of 0 as LD or ST
    let plain = text.replace("+0", "").replace("ldd", "ld").replace("std", "st");
    (if text.contains("+0") { plain } else { text }, row.bytes())
}

impl Avr {
    fn decode_one(&self, pc: u32) -> Decoded {
        let word = self.fetch(pc);
        let known = word.is_some_and(|w| self.variant.find(w).is_some());
        let nothing = if known || word.is_none() { Op::Truncated } else { Op::Undefined };
        let none = Operands { imm: word.unwrap_or(0).into(), ..Operands::default() };
        let (op, ops) = self.lookup(pc).map_or((nothing, none), |(row, ops)| (row.op, ops));
        let base = if ops.io { self.variant.io } else { 0 };
        let skipped_words = if op.flow() == Flow::Skip { (self.length(pc + 2) / 2) as u8 } else { 0 };
        decoded(op, pc, Operands { imm: ops.imm + base, ..ops }, skipped_words)
    }

    /// The operation of instruction `i` of a run.
    pub(crate) fn op(&self, i: &Insn<Self>) -> Op {
        if i.d == SEAM { Op::Seam } else { self.lookup(i.site.pc).map_or(Op::Undefined, |(row, _)| row.op) }
    }
}

fn decoded(op: Op, pc: u32, ops: Operands, skipped_words: u8) -> Decoded {
    let (Operands { a, b, imm, .. }, site) = (ops, Site { pc, cycles: 0 });
    let d = if op == Op::Seam { SEAM } else { 0 };
    let insn = Insn { exec: handler(op, ALL), site, imm, a, b, c: 0, d, taken: 0, skips: 0, refund: 0 };
    Decoded { insn, op, step: Step { class: op.class(), skipped_words } }
}

/// The value of [`Insn::d`] in the end of a run that falls through; it is 0 in instructions.
const SEAM: u8 = 1;

/// The end of a run that falls through to `pc`.
pub(crate) fn seam(pc: u32) -> Decoded {
    decoded(Op::Seam, pc, Operands { imm: pc, ..Operands::default() }, 0)
}

/// Picks for each instruction the handler that computes the flags which can still be read.
/// All flags are computed where control can leave the run, so that SREG, whose data address is `sreg`, is exact between
/// blocks.
fn choose_handlers(code: &mut [Decoded], sreg: u32) {
    let mut live = ALL;
    for k in (0..code.len()).rev() {
        let guarded = k > 0 && is_skip(&code[k - 1]);
        let behind = code.len() - 1 - k;
        let Decoded { insn, op, .. } = &mut code[k];
        let mask = |flags: u16| if flags & IF_SREG != 0 && insn.imm == sreg { ALL } else { flags as u8 };
        let (reads, writes) = (mask(op.reads()), mask(op.writes()));
        insn.exec = handler(*op, live & writes);
        live = match op.flow() {
            Flow::Branch | Flow::End => ALL,
            _ if guarded => live | reads,
            _ => live & !writes | reads,
        };
        match op.flow() {
            Flow::Branch => insn.skips = behind as u8,
            Flow::Skip => insn.skips = 1,
            Flow::Next | Flow::End => {}
        }
    }
}

fn is_skip(d: &Decoded) -> bool {
    d.op.flow() == Flow::Skip
}
