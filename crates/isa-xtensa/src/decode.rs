//! From memory to runs of handlers, and to text.

use isa::Run;
use mcu::Site;

use crate::exec::{self, CONSTANTS, Exec, Insn, end, may, seq};
use crate::table::{self, Flow, Operands, Row};
use crate::{SP, Xtensa};

/// What kind of work an instruction is, as timing models tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arithmetic, moves, shifts.
    Alu,
    /// 16-bit multiplication.
    Mul16,
    /// 32-bit multiplication, low or high word.
    Mul32,
    /// Division.
    Div,
    /// Load from data memory.
    Load,
    /// L32R.
    Literal,
    /// Store.
    Store,
    /// Conditional branch.
    Branch,
    /// J, CALL0 and windowed calls to a fixed address.
    Jump,
    /// JX, CALLX, RET.
    JumpRegister,
    /// ENTRY.
    Entry,
    /// RETW.
    ReturnWindow,
    /// Start of a hardware loop.
    Loop,
    /// Access to special and user registers.
    Special,
    /// MEMW and its kin.
    Barrier,
    /// ISYNC.
    Sync,
    /// Return from an exception.
    ReturnException,
    /// ROTW, MOVSP.
    Window,
    /// Does not end: a fault.
    Stop,
    /// No instruction.
    Pseudo,
}

/// What a timing model sees of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Kind of work.
    pub class: Class,
    /// Address.
    pub pc: u32,
    /// Length: 2 or 3, 0 for a pseudo-instruction.
    pub bytes: u8,
    /// Registers read, one bit each.
    pub reads: u16,
    /// Registers written, one bit each.
    pub writes: u16,
    /// The register that a store takes from; its bit is not among `reads`.
    pub data: u16,
    /// Where a direct branch goes, and the length of the instruction there.
    pub target: Option<(u32, u32)>,
}

/// Most instructions and pseudo-instructions of a run, so that a byte can count them.
const LONGEST: usize = 240;

/// Decodes one instruction; `Err` holds the encoding, or nothing outside code memory.
fn one(cpu: &Xtensa, pc: u32) -> Result<(&'static Row, Operands, u32), Option<u32>> {
    let byte = |n: u32| cpu.byte(pc.wrapping_add(n)).ok_or(None);
    let mut word = byte(0)? | byte(1)? << 8;
    let mut bits = 16;
    if cpu.length(pc) == 3 {
        word |= byte(2)? << 16;
        bits = 24;
    }
    let (row, o) = table::find(cpu.features, word, bits, pc).ok_or(Some(word))?;
    Ok((row, o, word))
}

fn insn(exec: Exec, pc: u32, o: &Operands) -> Insn {
    let site = Site { pc, cycles: 0 };
    Insn { exec, site, imm: o.imm, a: o.a, b: o.b, c: o.c, d: o.d, taken: 0, skips: 0, refund: 0 }
}

struct Items {
    insns: Vec<Insn>,
    steps: Vec<Step>,
    /// Places of instructions that may leave the run.
    exits: Vec<usize>,
    /// Highest group of four registers whose use has been checked.
    checked: u8,
}

impl Items {
    fn pseudo(&mut self, exec: Exec, pc: u32, imm: u32, c: u8, class: Class) {
        self.insns.push(insn(exec, pc, &Operands { imm, c, ..Operands::default() }));
        self.steps.push(Step { class, pc, bytes: 0, reads: 0, writes: 0, data: 0, target: None });
    }

    /// Decodes the instruction at `pc`; answers how the run goes on and its length.
    fn push(&mut self, cpu: &Xtensa, pc: u32) -> (Flow, u32) {
        let (row, mut o, word) = match one(cpu, pc) {
            Ok(found) => found,
            Err(word) => {
                let exec = if word.is_some() { end!(exec::bad_opcode) } else { end!(exec::bad_fetch) };
                self.pseudo(exec, pc, word.unwrap_or(0), 0, Class::Stop);
                return (Flow::Ends, 2);
            }
        };
        let mut exec = row.exec;
        if row.class == Class::Literal {
            let offset = o.imm.wrapping_sub(cpu.mem.flash_base) as usize;
            let bytes = offset.checked_add(4).and_then(|e| cpu.mem.flash.get(offset..e));
            if let Some(bytes) = bytes {
                o.imm = bytes.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b)); // code memory does not change
                exec = seq!(exec::movi);
            }
        }
        if row.class == Class::Stop {
            o.imm = word;
        }
        if cpu.features.windowed() {
            let used = o.reads | o.writes | o.data;
            let group = (15 - (used | 1).leading_zeros() as u8) / 4;
            if group > self.checked {
                self.exits.push(self.insns.len());
                self.pseudo(may!(exec::window_check), pc, 0, group, Class::Pseudo);
                self.checked = group;
            }
            if row.class == Class::Entry {
                self.exits.push(self.insns.len());
                self.pseudo(may!(exec::entry_check), pc, 0, 0, Class::Pseudo);
            }
        }
        if row.flow == Flow::May {
            self.exits.push(self.insns.len());
        }
        let direct = matches!(row.class, Class::Branch | Class::Jump | Class::Loop);
        self.insns.push(insn(exec, pc, &o));
        self.steps.push(Step {
            class: row.class,
            pc,
            bytes: (row.pattern.bits / 8) as u8,
            reads: o.reads,
            writes: o.writes,
            data: o.data,
            target: direct.then(|| (o.imm, cpu.length(o.imm))),
        });
        if o.writes >> SP & 1 == 1 && row.class != Class::Entry {
            self.pseudo(seq!(exec::stack), pc, 0, 0, Class::Pseudo);
        }
        (row.flow, row.pattern.bits / 8)
    }
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
        if cpu.ends.contains(&at) {
            items.pseudo(end!(exec::loop_end), at, at, 0, Class::Pseudo);
            break;
        }
        if cut {
            items.pseudo(end!(exec::jump), at, at, 0, Class::Pseudo);
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

pub(crate) fn disassemble(cpu: &Xtensa, pc: u32) -> (String, u32) {
    match one(cpu, pc) {
        Ok((row, o, word)) => (text(row, &o, word), row.pattern.bits / 8),
        Err(Some(word)) => (format!(".byte {:#x}", word & 0xFF), 1),
        Err(None) => ("(outside flash)".into(), 2),
    }
}

fn text(row: &Row, o: &Operands, word: u32) -> String {
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
        "special" => table::special_name(o.imm as u8).map_or_else(|| o.imm.to_string(), Into::into),
        name => fields.get(name.chars().next().unwrap_or(' ')).to_string(),
    })
}
