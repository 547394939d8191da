//! From words to runs and texts: addressing modes are resolved here.

use isa::{Exec, Insn, Run};
use mcu::Site;

use crate::exec::{Form, Place};
use crate::status::{ALL, C};
use crate::table::{self, Class, Flow, Row};
use crate::{CG, Msp430, PC, SR};

/// An addressing mode as timing tables distinguish them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Rn, and constants from the generator.
    #[default]
    Register,
    /// The program counter as a destination.
    ProgramCounter,
    /// X(Rn), symbolic and absolute.
    Indexed,
    /// @Rn.
    Indirect,
    /// @Rn+.
    Increment,
    /// #N.
    Immediate,
}

/// What a timing model sees of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Timing class.
    pub class: Class,
    /// Mode of the source or only operand.
    pub src: Mode,
    /// Mode of the destination of [`Class::Two`].
    pub dst: Mode,
}

/// One operand, resolved.
#[derive(Clone, Debug, Default)]
struct Operand {
    place: Place,
    register: u8,
    extension: u16,
    mode: Mode,
    text: String,
}

/// One instruction on the way into a run.
struct Decoded {
    row: &'static Row,
    word: u16,
    form: Form,
    src: Operand,
    dst: Operand,
    /// Address behind it.
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
    Operand { place: Place::Imm, extension: value, text, ..Operand::default() }
}

fn plain(register: u32) -> Operand {
    let special = register as usize <= CG;
    let place = if special { Place::Special } else { Place::Reg };
    Operand { place, register: register as u8, text: name(register), ..Operand::default() }
}

/// The modes with an extension word `x` at address `at`: indexed, symbolic, absolute (SLAU049, 3.3).
fn indexed(register: u32, x: u16, at: u32) -> Operand {
    let memory =
        |place, extension, text| Operand { place, register: register as u8, extension, mode: Mode::Indexed, text };
    match register as usize {
        PC => {
            let address = x.wrapping_add(at as u16);
            memory(Place::Abs, address, format!("{address:#06x}"))
        }
        SR => memory(Place::Abs, x, format!("&{x:#06x}")),
        _ => memory(Place::Idx, x, format!("{}({})", x as i16, name(register))),
    }
}

/// The source operand with mode bits `mode`; `at` is the address behind the words read so far.
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
            // the word behind, which is not passed over
            let x = core.fetch(*at)?;
            Operand { mode: Mode::Indirect, text: "@pc".into(), ..constant(x) }
        }
        (PC, _) => {
            let x = word()?;
            Operand { mode: Mode::Immediate, text: format!("#{x:#06x}"), ..constant(x) }
        }
        (_, 2) => Operand {
            place: Place::Idx,
            register: register as u8,
            mode: Mode::Indirect,
            text: format!("@{}", name(register)),
            ..Operand::default()
        },
        _ => Operand {
            place: Place::Inc,
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
    if !matches!(row.class, Class::Jump | Class::Return) {
        src = source(core, f.get('s'), f.get('t'), &mut at).ok_or(Failure::Truncated)?;
    }
    if row.class == Class::Two {
        dst = destination(core, f.get('d'), f.get('a'), &mut at).ok_or(Failure::Truncated)?;
    }
    if row.class == Class::One && f.get('s') == 0 && f.get('t') == 0 {
        src = plain(0); // PC is written here, not only read
    }
    let form = Form { byte: f.get('b') != 0, src: src.place, dst: dst.place };
    Ok(Decoded { row, word, form, src, dst, next: at, to })
}

impl Decoded {
    /// Whether it writes the program counter although its row goes on.
    fn leaves(&self) -> bool {
        match self.row.class {
            Class::Two => self.dst.mode == Mode::ProgramCounter,
            Class::One => self.src.place == Place::Special && self.src.register as usize == PC,
            _ => false,
        }
    }

    fn flow(&self) -> Flow {
        if self.leaves() || self.broken().is_some() { Flow::End } else { self.row.flow }
    }

    /// The handler of an instruction that the chip does not do.
    fn broken(&self) -> Option<Exec<Msp430>> {
        match (self.row.class, self.src.place) {
            // there is nowhere to write to (SLAU049, table 3-15, note)
            (Class::One, Place::Imm) => Some(table::undefined()),
            // PUSH #4 and PUSH #8 do not work with the constant generator (SLAZ145, SLAZ150: CPU4)
            (Class::Push, Place::Imm) if self.word & 0x2F == 0x22 => Some(table::forbidden()),
            // what it then holds as a program counter is not specified
            (Class::One, Place::Special) if self.src.register as usize == PC => Some(table::undefined()),
            _ => None,
        }
    }

    /// CLRC and SETC: whether the carry is set.
    fn carry_change(&self) -> Option<bool> {
        let status = self.dst.place == Place::Special && self.dst.register as usize == SR;
        let one = self.src.place == Place::Imm && self.src.extension == C;
        match self.row.name() {
            "bic" if status && one && !self.form.byte => Some(false),
            "bis" if status && one && !self.form.byte => Some(true),
            _ => None,
        }
    }

    /// Flags read and set.
    fn flags(&self) -> (u16, u16) {
        if self.carry_change().is_some() {
            return (0, C);
        }
        let touches = |o: &Operand| o.place == Place::Special && o.register as usize == SR;
        if touches(&self.src) || touches(&self.dst) || self.broken().is_some() {
            return (ALL, 0);
        }
        (self.row.reads, self.row.sets)
    }

    fn insn(&self, pc: u32) -> Insn<Msp430> {
        let high = match self.row.class {
            Class::Call => self.next as u16,
            Class::Two if self.dst.mode == Mode::ProgramCounter => self.next as u16,
            _ => self.dst.extension,
        };
        let mut imm = u32::from(high) << 16 | u32::from(self.src.extension);
        if self.row.class == Class::Jump {
            imm = self.to;
        } else if self.broken().is_some() {
            imm = self.word.into();
        }
        let (c, d) = self.form.pack();
        insn(table::undefined(), pc, imm, self.dst.register, self.src.register, c, d)
    }

    fn handler(&self, live: u16) -> Exec<Msp430> {
        if let Some(exec) = self.broken() {
            return exec;
        }
        if let Some(to) = self.carry_change() {
            return table::change_carry(to);
        }
        if self.leaves() { (self.row.leave)(self.form, live) } else { (self.row.exec)(self.form, live) }
    }
}

fn insn(exec: Exec<Msp430>, pc: u32, imm: u32, a: u8, b: u8, c: u8, d: u8) -> Insn<Msp430> {
    Insn { exec, site: Site { pc, cycles: 0 }, imm, a, b, c, d, taken: 0, skips: 0, refund: 0 }
}

const SEAM: Step = Step { class: Class::Seam, src: Mode::Register, dst: Mode::Register };

pub(crate) fn run(core: &Msp430, pc: u32, max: usize) -> Run<Msp430> {
    let mut code: Vec<(Insn<Msp430>, Option<Decoded>)> = Vec::new();
    let mut at = pc;
    loop {
        // the remaining length of a run must fit Insn::skips
        if code.len() >= max.clamp(1, 200) || (core.fetch(at).is_none() && !code.is_empty()) {
            code.push((insn(table::seam(), at, at & 0xFFFF, 0, 0, 0, 0), None));
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
            Err(Failure::Undefined(word)) => (table::undefined(), word),
            Err(Failure::Outside | Failure::Truncated) => (table::truncated(), 0),
        };
        code.push((insn(broken.0, at, broken.1.into(), 0, 0, 0, 0), None));
        at += 2;
        break;
    }
    choose_handlers(&mut code);
    let step = |d: &Decoded| Step { class: d.row.class, src: d.src.mode, dst: d.dst.mode };
    let steps = code.iter().map(|(_, d)| d.as_ref().map_or(SEAM, step)).collect();
    Run { insns: code.into_iter().map(|(i, _)| i).collect(), steps, end: at }
}

/// Picks for each instruction the handler that computes the flags which can still be read.
///
/// All flags are wanted where control can leave the run, so whoever looks at the state between
/// blocks sees an exact status register.
fn choose_handlers(code: &mut [(Insn<Msp430>, Option<Decoded>)]) {
    let mut live = ALL;
    let length = code.len();
    for (k, (insn, decoded)) in code.iter_mut().enumerate().rev() {
        let Some(d) = decoded else {
            live = ALL;
            continue;
        };
        insn.exec = d.handler(live);
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
                "b" => if d.form.byte { ".b" } else { "" }.into(),
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
