//! RISC-V, RV32IMAC and RV64IMAC from one table, from which decoder, executor and disassembler come.
//!
//! [`Riscv<u32>`] and [`Riscv<u64>`] are the same code for another register. Addresses have 32 bits: an access
//! or a jump beyond is a fault. There is one hart in machine mode. ECALL and EBREAK are faults, and so is
//! every access to a control and status register but reads of `mcycle`, `cycle` (with their upper halves) and
//! `mhartid`. Interrupts are not modelled; WFI and MRET are faults.

mod exec;
mod lower;
pub mod table;
mod word;

use isa::{Core, Exec, Insn, Run};
use mcu::{Memory, Site};

use crate::exec::{DROP, SP};
use crate::table::{Class, Operands, Row, Table};

pub use word::Word;

/// What depends on operand values, in cycles beyond the static ones; a timing model fills it.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    /// Division of the first argument by the second, both extended to 64 bits from XLEN; the third is set
    /// for signed ones.
    pub div: fn(u64, u64, bool) -> u32,
    /// Access that is not aligned: address and bytes. None where the core traps, and atomics always trap.
    pub unaligned: Option<fn(u32, u32) -> u32>,
}

impl Default for Events {
    fn default() -> Self {
        Self { div: |_, _, _| 0, unaligned: None }
    }
}

/// State of the core.
#[repr(C)]
pub struct Riscv<X: Word> {
    /// x0 to x31 and [`DROP`]; longer than needed so that a byte indexes it without a check.
    r: [X; 256],
    pc: u32,
    /// Address of the last LR.
    reserved: Option<u32>,
    /// Costs that depend on operand values.
    pub events: Events,
    mem: Memory,
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
    /// Register written; 0 for none.
    pub rd: u8,
    /// Register read first; 0 for none.
    pub rs1: u8,
    /// Register read second; 0 for none.
    pub rs2: u8,
}

/// An instruction as it stands in memory.
enum Found<X: Word> {
    Row(&'static Row<X>, Operands, u32),
    /// No instruction; the word as fetched and its length.
    Undefined(u32, u32),
    Outside,
}

impl<X: Word> Riscv<X> {
    /// A core with its chip, in reset.
    pub fn new(mem: Memory) -> Self {
        let mut core = Self { r: [X::default(); 256], pc: 0, reserved: None, events: Events::default(), mem };
        core.reset();
        core
    }

    /// Sets register `n` of x1 to x31; other numbers are ignored.
    pub fn set_register(&mut self, n: usize, value: X) {
        if (1..32).contains(&n) {
            self.r[n] = value;
        }
    }

    /// Registers x0 to x31.
    pub fn x(&self) -> &[X] {
        &self.r[..32]
    }

    /// Continues at `pc`.
    pub fn set_pc(&mut self, pc: u32) {
        self.pc = pc & !1;
    }

    fn half(&self, pc: u32) -> Option<u32> {
        let offset = pc.wrapping_sub(self.mem.flash_base) as usize;
        let bytes = self.mem.flash.get(offset..offset.checked_add(2)?)?;
        Some(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
    }

    fn find(&self, pc: u32) -> Found<X> {
        let Some(first) = self.half(pc) else { return Found::Outside };
        let (word, shown, bytes) = if first & 3 == 3 {
            let Some(second) = self.half(pc.wrapping_add(2)) else { return Found::Outside };
            let word = second << 16 | first;
            (Some(word), word, 4)
        } else {
            (table::expand::<X>(first), first, 2)
        };
        match word.and_then(|w| Some((w, Table::<X>::find(w)?))) {
            Some((word, row)) => Found::Row(row, (row.operands)(&row.pattern.fields(word), pc), bytes),
            None => Found::Undefined(shown, bytes),
        }
    }
}

fn insn<X: Word>(exec: Exec<Riscv<X>>, pc: u32, o: Operands, bytes: u32) -> Insn<Riscv<X>> {
    let site = Site { pc, cycles: 0 };
    Insn { exec, site, imm: o.imm, a: o.a, b: o.b, c: o.c, d: bytes as u8, taken: 0, skips: 0, refund: 0 }
}

impl<X: Word> Core for Riscv<X> {
    type Step = Step;
    /// Pointers of RV64 have eight bytes, of which the address is in the lower four.
    const POINTER_BYTES: u8 = 4;
    const REGISTERS: &'static [&'static str] = X::NAMES;

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    #[inline(always)]
    fn pc(&self) -> u32 {
        self.pc
    }

    fn stack_pointer(&self) -> u32 {
        self.r[SP].low()
    }

    /// Execution starts at the start of flash; registers are undefined there, and 0 here.
    fn reset(&mut self) {
        self.r = [X::default(); 256];
        self.reserved = None;
        self.pc = self.mem.flash_base;
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        let (mut insns, mut steps) = (Vec::new(), Vec::new());
        let pseudo = |class, pc| Step { class, pc, bytes: 0, rd: 0, rs1: 0, rs2: 0 };
        let mut at = pc;
        for _ in 0..max.max(1) {
            let (row, o, bytes) = match self.find(at) {
                Found::Row(row, o, bytes) => (row, o, bytes),
                Found::Undefined(word, bytes) => {
                    insns.push(insn(Table::<X>::UNDEFINED, at, Operands { imm: word, ..Operands::default() }, bytes));
                    steps.push(pseudo(Class::Stop, at));
                    return Run { insns, steps, end: at.wrapping_add(bytes) };
                }
                Found::Outside => {
                    insns.push(insn(Table::<X>::OUTSIDE, at, Operands::default(), 0));
                    steps.push(pseudo(Class::Stop, at));
                    return Run { insns, steps, end: at };
                }
            };
            insns.push(insn(row.exec, at, o, bytes));
            let rd = if o.a == DROP { 0 } else { o.a };
            steps.push(Step { class: row.class, pc: at, bytes: bytes as u8, rd, rs1: o.b, rs2: o.c });
            let ends = row.class.ends();
            if usize::from(o.a) == SP && !ends {
                insns.push(insn(Table::<X>::STACK, at, Operands::default(), 0));
                steps.push(pseudo(Class::Pseudo, at));
            }
            at = at.wrapping_add(bytes);
            if ends {
                return Run { insns, steps, end: at };
            }
        }
        insns.push(insn(Table::<X>::SEAM, at, Operands { imm: at, ..Operands::default() }, 0));
        steps.push(pseudo(Class::Pseudo, at));
        Run { insns, steps, end: at }
    }

    /// Text of the 32-bit form, also for a compressed one.
    fn disassemble(&self, pc: u32) -> (String, u32) {
        let (row, o, bytes) = match self.find(pc) {
            Found::Row(row, o, bytes) => (row, o, bytes),
            Found::Undefined(word, 2) => return (format!(".2byte {word:#06x}"), 2),
            Found::Undefined(word, bytes) => return (format!(".4byte {word:#010x}"), bytes),
            Found::Outside => return ("(outside flash)".into(), 2),
        };
        let name = |r: u8| X::NAMES[if r == DROP { 0 } else { usize::from(r) }].to_owned();
        let word = self.half(pc).unwrap_or(0) | self.half(pc.wrapping_add(2)).unwrap_or(0) << 16;
        let text = row.text.render(|place, _| match place {
            "d" => name(o.a),
            "s" => name(o.b),
            "t" => name(o.c),
            "n" => o.b.to_string(),
            "imm" => (o.imm as i32).to_string(),
            "hex" | "to" => format!("{:#x}", o.imm),
            "upper" => format!("{:#x}", o.imm >> 12),
            "csr" => csr_name(word >> 20),
            "q" => ["", ".rl", ".aq", ".aqrl"][(word >> 25 & 3) as usize].into(),
            _ => "?".into(),
        });
        (text, bytes)
    }

    fn registers(&self) -> Vec<u32> {
        let high = if X::BITS == 64 { 32 } else { 0 };
        let (low, high) = (self.r[..32].iter().map(|r| r.low()), self.r[..high].iter().map(|r| r.high()));
        low.chain(high).chain([self.pc]).collect()
    }
}

fn csr_name(number: u32) -> String {
    match number {
        0xB00 => "mcycle".into(),
        0xB80 => "mcycleh".into(),
        0xC00 => "cycle".into(),
        0xC80 => "cycleh".into(),
        0xF14 => "mhartid".into(),
        n => format!("{n:#x}"),
    }
}
