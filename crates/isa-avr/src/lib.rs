//! AVR: one table of instructions from which decoder, executor and disassembler come.
//!
//! Modelled are cores with a program counter of up to 16 bits whose flash starts at address 0:
//! [`AVR5`], [`AVR51`] and [`AVRXMEGA3`]. Addresses of code are in bytes. Interrupts are not modelled:
//! SEI sets its flag and nothing follows. SLEEP and SPM are faults.
#![warn(missing_docs)]

mod exec;
mod lower;
mod spans;
pub mod sreg;
pub mod table;
#[cfg(test)]
mod tests;

use isa::{Core, Exec, Insn, Run};
use mcu::{Memory, Site};

use crate::exec::SREG;
use crate::sreg::Sreg;
use crate::table::{ALL, Class, Flow, IF_SREG, Operands, Row};

/// What distinguishes the cores that share the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Data address of the first I/O register. The register file lies below it, where there is room.
    pub io: u32,
    /// The bits that RAMPZ has; 0 where there is neither RAMPZ nor ELPM.
    pub rampz: u8,
    /// Whether the stack pointer is the end of RAM after reset; it is 0 otherwise.
    pub stack_at_end: bool,
    /// Whether compilers write SPL before SPH, as suits XMEGA and its successors, which hold off
    /// interrupts between the two; assembly for older cores may still do it the other way round, as
    /// compilers do elsewhere.
    pub stack_low_first: bool,
}

/// ATmega328P and others with at most 64 KiB of flash (SP after reset: DS40002061B, 7.5.1).
pub const AVR5: Variant = Variant { io: 0x20, rampz: 0, stack_at_end: true, stack_low_first: false };

/// Chips with 128 KiB: RAMPZ has one bit, and SP is 0 after reset (data sheet 2467X, chapter "AVR CPU Core").
pub const AVR51: Variant = Variant { io: 0x20, rampz: 1, stack_at_end: false, stack_low_first: false };

/// ATmega4809 and others whose I/O space starts at data address 0, without the register file in the
/// data space (data sheet DS40002173, chapters "Memories" and "AVR CPU").
pub const AVRXMEGA3: Variant = Variant { io: 0, rampz: 0, stack_at_end: true, stack_low_first: true };

impl Variant {
    /// The instruction whose first word is `word`.
    pub fn find(&self, word: u16) -> Option<&'static Row> {
        table::find(word).filter(|row| !row.far || self.rampz != 0)
    }
}

/// The core's state. What handlers touch most comes first, within short displacements.
#[repr(C)]
pub struct Avr {
    sreg: Sreg,
    pc: u32,
    sp: u16,
    /// Registers r0..r31; the rest is never used and spares bounds checks: an operand is one byte,
    /// and a pair's second register is one behind it.
    r: [u8; 257],
    /// Upper bits of ELPM's address.
    rampz: u8,
    /// I/O address of the half of the stack pointer that was written alone, or 0.
    half: u32,
    variant: Variant,
    mem: Memory,
}

/// What a timing model sees of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Timing class.
    pub class: Class,
    /// Words of the instruction behind a skip, 0 for all others.
    pub skipped_words: u8,
}

/// An instruction on the way into a run.
struct Decoded {
    insn: Insn<Avr>,
    row: Option<&'static Row>,
    step: Step,
}

impl Avr {
    /// A core with its chip, in reset.
    pub fn new(variant: Variant, mem: Memory) -> Self {
        let mut core = Self { sreg: Sreg::default(), pc: 0, sp: 0, r: [0; 257], rampz: 0, half: 0, variant, mem };
        core.reset();
        core
    }

    /// The word at `pc`; none outside flash.
    fn fetch(&self, pc: u32) -> Option<u16> {
        let at = pc as usize;
        let bytes = self.mem.flash.get(at..at.checked_add(2)?)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Row and operands of the instruction at `pc`; none when it is undefined or flash ends in it.
    fn lookup(&self, pc: u32) -> Option<(&'static Row, Operands)> {
        let first = self.fetch(pc)?;
        let row = self.variant.find(first)?;
        let word = match row.bytes() {
            2 => first.into(),
            _ => u32::from(first) << 16 | u32::from(self.fetch(pc + 2)?),
        };
        Some((row, (row.operands)(&row.pattern.fields(word), pc)))
    }

    /// Bytes of the instruction at `pc`, whatever is there.
    fn length(&self, pc: u32) -> u32 {
        self.fetch(pc).and_then(|w| self.variant.find(w)).map_or(2, Row::bytes)
    }
}

impl Core for Avr {
    type Step = Step;
    const POINTER_BYTES: u8 = 2;
    const REGISTERS: &'static [&'static str] = &[
        "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16",
        "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31", "sp",
        "sreg", "pc",
    ];

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    fn pc(&self) -> u32 {
        self.pc
    }

    fn reset(&mut self) {
        self.r = [0; 257];
        self.sreg = Sreg::unpack(0);
        let ram_end = (self.mem.ram_base as usize + self.mem.ram.len()).wrapping_sub(1) as u16;
        self.sp = if self.variant.stack_at_end { ram_end } else { 0 };
        self.rampz = 0;
        self.half = 0;
        self.pc = 0;
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        let mut code: Vec<Decoded> = Vec::new();
        let mut at = pc;
        let mut guarded = false; // by a skip
        let open = loop {
            // the remaining length of a run must fit Insn::skips
            if code.len() >= max.clamp(1, 200) || (self.fetch(at).is_none() && !code.is_empty()) {
                break true;
            }
            let one = self.decode_one(at);
            let flow = one.row.map_or(Flow::End, |r| r.flow);
            at += self.length(at);
            code.push(one);
            let was_guarded = std::mem::replace(&mut guarded, flow == Flow::Skip);
            if flow == Flow::End {
                break was_guarded;
            }
        };
        if open {
            code.push(seam(at));
            if guarded {
                code.push(seam(at + self.length(at)));
            }
        }
        choose_handlers(&mut code, self.variant.io + SREG);
        let (insns, steps) = code.into_iter().map(|d| (d.insn, d.step)).unzip();
        Run { insns, steps, end: at }
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        let Some((row, o)) = self.lookup(pc) else {
            return (self.fetch(pc).map_or("(outside flash)".into(), |w| format!(".word {w:#06x}")), 2);
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
        // a displacement of 0 is LD or ST to assemblers
        let plain = text.replace("+0", "").replace("ldd", "ld").replace("std", "st");
        (if text.contains("+0") { plain } else { text }, row.bytes())
    }

    fn stack_pointer(&self) -> u32 {
        self.sp.into()
    }

    fn registers(&self) -> Vec<u32> {
        let special = [self.sp.into(), self.sreg.pack().into(), self.pc];
        self.r[..32].iter().map(|&r| r.into()).chain(special).collect()
    }
}

impl Avr {
    fn decode_one(&self, pc: u32) -> Decoded {
        let word = self.fetch(pc);
        let row = word.and_then(|w| self.variant.find(w));
        let found = self.lookup(pc);
        let ops = found.map_or(Operands { imm: word.unwrap_or(0).into(), ..Operands::default() }, |f| f.1);
        let broken = if row.is_some() || word.is_none() { table::truncated() } else { table::undefined() };
        let base = if ops.io { self.variant.io } else { 0 };
        let insn = insn(broken, pc, Operands { imm: ops.imm + base, ..ops });
        let class = found.map_or(Class::Seam, |f| f.0.class);
        let skips = found.is_some_and(|f| f.0.flow == Flow::Skip);
        let skipped_words = if skips { (self.length(pc + 2) / 2) as u8 } else { 0 };
        Decoded { insn, row: found.map(|f| f.0), step: Step { class, skipped_words } }
    }
}

fn insn(exec: Exec<Avr>, pc: u32, ops: Operands) -> Insn<Avr> {
    let Operands { a, b, imm, .. } = ops;
    Insn { exec, site: Site { pc, cycles: 0 }, imm, a, b, c: 0, d: 0, taken: 0, skips: 0, refund: 0 }
}

/// What [`Insn::d`] is in the end of a run that falls through; 0 in instructions.
const SEAM: u8 = 1;

/// The end of a run that falls through to `pc`.
fn seam(pc: u32) -> Decoded {
    let ops = Operands { imm: pc, ..Operands::default() };
    let insn = Insn { d: SEAM, ..insn(table::seam(), pc, ops) };
    Decoded { insn, row: None, step: Step { class: Class::Seam, skipped_words: 0 } }
}

/// Picks for each instruction the handler that computes the flags which can still be read.
///
/// All flags are wanted where control can leave the run, so whoever looks at the state between
/// blocks sees an exact SREG, whose data address is `sreg`.
fn choose_handlers(code: &mut [Decoded], sreg: u32) {
    let mut live = ALL;
    for k in (0..code.len()).rev() {
        let guarded = k > 0 && is_skip(&code[k - 1]);
        let behind = code.len() - 1 - k;
        let Decoded { insn, row: Some(row), .. } = &mut code[k] else {
            live = ALL;
            continue;
        };
        let mask = |flags: u16| if flags & IF_SREG != 0 && insn.imm == sreg { ALL } else { flags as u8 };
        let (reads, writes) = (mask(row.reads), mask(row.writes));
        insn.exec = (row.exec)(live & writes);
        live = match row.flow {
            Flow::Branch | Flow::End => ALL,
            _ if guarded => live | reads,
            _ => live & !writes | reads,
        };
        match row.flow {
            Flow::Branch => insn.skips = behind as u8,
            Flow::Skip => insn.skips = 1,
            Flow::Next | Flow::End => {}
        }
    }
}

fn is_skip(d: &Decoded) -> bool {
    d.row.is_some_and(|r| r.flow == Flow::Skip)
}
