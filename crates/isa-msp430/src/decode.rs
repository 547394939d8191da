//! Decodes words into runs and texts, and resolves addressing modes.

use isa::{Insn, Run};
use mcu::Site;

use crate::exec::{Location, Locations};
use crate::handler::{handler, leaving};
use crate::op::{Binary, Form, Op};
use crate::state::{CG, Msp430, PC, SR};
use crate::status::{ALL, C};
use crate::step::{Class, Flow, Mode, Step};
use crate::table::{self, Definition};

/// One operand, resolved.
#[derive(Clone, Debug, Default)]
struct Operand {
    location: Location,
    register: u8,
    extension: u16,
    mode: Mode,
    text: String,
}

/// One instruction on the way into a run.
struct Decoded {
    row: &'static Definition,
    /// Its operation with these operands.
    op: Op,
    word: u16,
    locations: Locations,
    src: Operand,
    dst: Operand,
    /// Address after it.
    next: u32,
    /// Where a jump goes.
    to: u32,
}

fn name(register: u32) -> String {
    match register {
        0 => "pc".into(),
        1 => "sp".into(),
        2 => "sr".into(),
        n => format!("r{n}"),
    }
}

fn constant(value: u16) -> Operand {
    let text = if value == 0xFFFF { "#-1".into() } else { format!("#{value}") };
    Operand { location: Location::Imm, extension: value, text, ..Operand::default() }
}

fn plain(register: u32) -> Operand {
    let special = register as usize <= CG;
    let location = if special { Location::Special } else { Location::Reg };
    Operand { location, register: register as u8, text: name(register), ..Operand::default() }
}

/// The modes with an extension word `x` at address `at`: indexed, symbolic, absolute (SLAU049, 3.3).
fn indexed(register: u32, x: u16, at: u32) -> Operand {
    let memory = |location, extension, text| Operand {
        location,
        register: register as u8,
        extension,
        mode: Mode::Indexed,
        text,
    };
    match register as usize {
        PC => {
            let address = x.wrapping_add(at as u16);
            memory(Location::Abs, address, format!("{address:#06x}"))
        }
        SR => memory(Location::Abs, x, format!("&{x:#06x}")),
        _ => memory(Location::Idx, x, format!("{}({})", x as i16, name(register))),
    }
}

/// The source operand with mode bits `mode`; `at` is the address after the words read so far.
fn source(core: &Msp430, register: u32, mode: u32, at: &mut u32) -> Option<Operand> {
    let mut word = || {
        let w = core.fetch(*at);
        *at += 2;
        w
    };
    Some(match (register as usize, mode) {
        (CG, 0) => constant(0),
        (CG, 1) => constant(1),
        (CG, 2) => constant(2),
        (CG, _) => constant(0xFFFF),
        (SR, 2) => constant(4),
        (SR, 3) => constant(8),
        (PC, 0) => Operand { text: "pc".into(), ..constant(*at as u16) },
        (_, 0) => plain(register),
        (_, 1) => {
            let x = word()?;
            indexed(register, x, *at - 2)
        }
        (PC, 2) => {
            // the word after it, which is not skipped
            let x = core.fetch(*at)?;
            Operand { mode: Mode::Indirect, text: "@pc".into(), ..constant(x) }
        }
        (PC, _) => {
            let x = word()?;
            Operand { mode: Mode::Immediate, text: format!("#{x:#06x}"), ..constant(x) }
        }
        (_, 2) => Operand {
            location: Location::Idx,
            register: register as u8,
            mode: Mode::Indirect,
            text: format!("@{}", name(register)),
            ..Operand::default()
        },
        _ => Operand {
            location: Location::Inc,
            register: register as u8,
            mode: Mode::Increment,
            text: format!("@{}+", name(register)),
            ..Operand::default()
        },
    })
}

fn destination(core: &Msp430, register: u32, mode: u32, at: &mut u32) -> Option<Operand> {
    if mode == 0 {
        let mode = if register as usize == PC { Mode::ProgramCounter } else { Mode::Register };
        return Some(Operand { mode, ..plain(register) });
    }
    let x = core.fetch(*at)?;
    *at += 2;
    Some(indexed(register, x, *at - 2))
}

enum Failure {
    /// No flash here.
    Outside,
    /// Not an instruction.
    Undefined(u16),
    /// Flash ends in it.
    Truncated,
}

fn lookup(core: &Msp430, pc: u32) -> Result<Decoded, Failure> {
    let word = core.fetch(pc).ok_or(Failure::Outside)?;
    let row = table::find(word).ok_or(Failure::Undefined(word))?;
    let f = row.pattern.fields(word.into());
    let mut at = pc + 2;
    let to = at.wrapping_add_signed(2 * f.signed('k')) & 0xFFFF;
    let (mut src, mut dst) = (Operand::default(), Operand::default());
    match row.form {
        Form::None | Form::Distance => {}
        Form::Source => src = source(core, f.get('s'), f.get('t'), &mut at).ok_or(Failure::Truncated)?,
        // PC is written there, not only read
        Form::InPlace if f.get('s') == 0 && f.get('t') == 0 => src = plain(0),
        Form::InPlace => src = source(core, f.get('s'), f.get('t'), &mut at).ok_or(Failure::Truncated)?,
        Form::SourceDestination => {
            src = source(core, f.get('s'), f.get('t'), &mut at).ok_or(Failure::Truncated)?;
            dst = destination(core, f.get('d'), f.get('a'), &mut at).ok_or(Failure::Truncated)?;
        }
    }
    let locations = Locations { byte: f.get('b') != 0, src: src.location, dst: dst.location };
    let op = with_operands(row.op, word, locations.byte, &src, &dst);
    Ok(Decoded { row, op, word, locations, src, dst, next: at, to })
}

/// The operation with these operands.
fn with_operands(op: Op, word: u16, byte: bool, src: &Operand, dst: &Operand) -> Op {
    let status = dst.location == Location::Special && dst.register as usize == SR;
    let carry = status && src.location == Location::Imm && src.extension == C && !byte;
    match op {
        Op::Binary(Binary::Bic) if carry => Op::Carry(false),
        Op::Binary(Binary::Bis) if carry => Op::Carry(true),
        // there is nowhere to write to (SLAU049, table 3-15, note)
        Op::Unary(_) if src.location == Location::Imm => Op::Undefined,
        // the value of the program counter is then unspecified
        Op::Unary(_) if src.location == Location::Special && src.register as usize == PC => Op::Undefined,
        // PUSH #4 and PUSH #8 do not work with the constant generator (SLAZ145, SLAZ150: CPU4)
        Op::Push if src.location == Location::Imm && word & 0x2F == 0x22 => Op::Forbidden,
        Op::Binary(_) | Op::Unary(_) | Op::Push | Op::Call | Op::Reti | Op::Jump(_) | Op::Jmp | Op::Carry(_) => op,
        Op::Seam | Op::Undefined | Op::Truncated | Op::Forbidden => op,
    }
}

impl Decoded {
    /// Whether it writes the program counter although its operation continues.
    fn leaves(&self) -> bool {
        self.dst.mode == Mode::ProgramCounter
    }

    fn flow(&self) -> Flow {
        if self.leaves() { Flow::End } else { self.op.flow() }
    }

    /// Whether it is an instruction that the chip does not execute correctly.
    fn broken(&self) -> bool {
        matches!(self.op, Op::Undefined | Op::Forbidden)
    }

    /// Flags read and set.
    fn flags(&self) -> (u16, u16) {
        let touches = |o: &Operand| o.location == Location::Special && o.register as usize == SR;
        let carry = matches!(self.op, Op::Carry(_));
        if !carry && (touches(&self.src) || touches(&self.dst) || self.broken()) {
            return (ALL, 0);
        }
        (self.op.reads(), self.op.sets())
    }

    fn insn(&self, pc: u32) -> Insn<Msp430> {
        let high = if self.op == Op::Call || self.leaves() { self.next as u16 } else { self.dst.extension };
        let imm = match self.row.form {
            _ if self.broken() => self.word.into(),
            Form::Distance => self.to,
            Form::None | Form::Source | Form::InPlace | Form::SourceDestination => {
                u32::from(high) << 16 | u32::from(self.src.extension)
            }
        };
        let exec = handler(self.op, self.locations, ALL);
        let (c, d) = self.locations.pack();
        let (a, b, site) = (self.dst.register, self.src.register, Site { pc, cycles: 0 });
        Insn { exec, site, imm, a, b, c, d, taken: 0, skips: 0, refund: 0 }
    }
}

/// The entry of a run that is not an instruction.
fn pseudo(op: Op, pc: u32, imm: u32) -> Insn<Msp430> {
    let (exec, site) = (handler(op, Locations::default(), ALL), Site { pc, cycles: 0 });
    Insn { exec, site, imm, a: 0, b: 0, c: 0, d: 0, taken: 0, skips: 0, refund: 0 }
}

const SEAM: Step = Step { class: Class::Seam, src: Mode::Register, dst: Mode::Register, compares: false };

pub(crate) fn run(core: &Msp430, pc: u32, max: usize) -> Run<Msp430> {
    let mut code: Vec<(Insn<Msp430>, Option<Decoded>)> = Vec::new();
    let mut at = pc;
    loop {
        // the remaining length of a run must fit Insn::skips
        if code.len() >= max.clamp(1, 200) || (core.fetch(at).is_none() && !code.is_empty()) {
            code.push((pseudo(Op::Seam, at, at & 0xFFFF), None));
            break;
        }
        let broken = match lookup(core, at) {
            Ok(d) => {
                let (flow, next) = (d.flow(), d.next);
                code.push((d.insn(at), Some(d)));
                at = next;
                if flow == Flow::End {
                    break;
                }
                continue;
            }
            Err(Failure::Undefined(word)) => (Op::Undefined, word),
            Err(Failure::Outside | Failure::Truncated) => (Op::Truncated, 0),
        };
        code.push((pseudo(broken.0, at, broken.1.into()), None));
        at += 2;
        break;
    }
    choose_handlers(&mut code);
    let compares = |op| matches!(op, Op::Binary(Binary::Cmp | Binary::Bit));
    let step =
        |d: &Decoded| Step { class: d.row.class(), src: d.src.mode, dst: d.dst.mode, compares: compares(d.row.op) };
    let steps = code.iter().map(|(_, d)| d.as_ref().map_or(SEAM, step)).collect();
    Run { insns: code.into_iter().map(|(i, _)| i).collect(), steps, end: at }
}

/// Picks for each instruction the handler that computes the flags which can still be read.
/// All flags are computed where control can leave the run, so that the status register is exact between blocks.
fn choose_handlers(code: &mut [(Insn<Msp430>, Option<Decoded>)]) {
    let mut live = ALL;
    let length = code.len();
    for (k, (insn, decoded)) in code.iter_mut().enumerate().rev() {
        let Some(d) = decoded else {
            live = ALL;
            continue;
        };
        insn.exec = if d.leaves() { leaving(d.op, d.locations) } else { handler(d.op, d.locations, live) };
        let (reads, sets) = d.flags();
        live = match d.flow() {
            Flow::Next => live & !sets | reads,
            Flow::Branch | Flow::End => ALL,
        };
        if d.flow() == Flow::Branch {
            insn.skips = (length - 1 - k) as u8;
        }
    }
}

pub(crate) fn disassemble(core: &Msp430, pc: u32) -> (String, u32) {
    match lookup(core, pc) {
        Ok(d) => {
            let text = d.row.text.render(|place, _| match place {
                "b" => if d.locations.byte { ".b" } else { "" }.into(),
                "src" => d.src.text.clone(),
                "dst" => d.dst.text.clone(),
                _ => format!("{:#06x}", d.to),
            });
            (text, d.next - pc)
        }
        Err(Failure::Undefined(word)) => (format!(".word {word:#06x}"), 2),
        Err(Failure::Truncated) => ("(flash ends)".into(), 2),
        Err(Failure::Outside) => ("(outside flash)".into(), 2),
    }
}
