//! Decodes memory into runs of handlers.

use isa::{Insn, Run};
use mcu::Site;

use crate::compressed;
use crate::exec;
use crate::op::{DROP, Operands, Pseudo};
use crate::state::{Riscv, SP};
use crate::step::{Class, Step};
use crate::table::{self, Definition};
use crate::word::Word;

/// An instruction as found in memory.
pub(crate) enum Found {
    /// A definition and its index in the table, operands, and the length.
    Definition(usize, &'static Definition, Operands, u32),
    /// Not an instruction; the word as fetched and its length.
    Undefined(u32, u32),
    Outside,
}

pub(crate) fn find<X: Word>(cpu: &Riscv<X>, pc: u32) -> Found {
    let Some(first) = cpu.half(pc) else { return Found::Outside };
    let (word, shown, bytes) = if first & 3 == 3 {
        let Some(second) = cpu.half(pc.wrapping_add(2)) else { return Found::Outside };
        let word = second << 16 | first;
        (Some(word), word, 4)
    } else {
        (compressed::expand::<X>(first), first, 2)
    };
    let known = word.and_then(|w| {
        let (n, row) = table::find::<X>(w).filter(|(_, row)| cpu.features.has(row.op))?;
        let o = row.form.operands(&row.pattern.fields(w), pc);
        // a CSR instruction with an immediate has it where others have their first register
        let source = if w & IMMEDIATE_CSR == IMMEDIATE_CSR { 0 } else { o.b };
        let highest = source.max(o.c).max(if o.a == DROP { 0 } else { o.a });
        (highest < cpu.features.registers).then_some(Found::Definition(n, row, o, bytes))
    });
    known.unwrap_or(Found::Undefined(shown, bytes))
}

/// The bits of CSRRWI, CSRRSI and CSRRCI that no other instruction has all set.
const IMMEDIATE_CSR: u32 = 0x4073;

/// The run at `pc` of at most `max` instructions.
pub(crate) fn run<X: Word>(cpu: &Riscv<X>, pc: u32, max: usize) -> Run<Riscv<X>> {
    let mut run = Run { insns: Vec::new(), steps: Vec::new(), end: pc };
    let mut push = |exec, step: Step, o: Operands, bytes: u32| {
        let site = Site { pc: step.pc, cycles: 0 };
        let insn =
            Insn { exec, site, imm: o.imm, a: o.a, b: o.b, c: o.c, d: bytes as u8, taken: 0, skips: 0, refund: 0 };
        run.insns.push(insn);
        run.steps.push(step);
    };
    let pseudo = |class, pc| Step { class, pc, bytes: 0, rd: 0, rs1: 0, rs2: 0, splits: false };
    let with = |imm| Operands { imm, ..Operands::default() };
    for _ in 0..max.max(1) {
        let at = run.end;
        let (row, o, bytes) = match find(cpu, at) {
            Found::Definition(_, row, o, bytes) => (row, o, bytes),
            Found::Undefined(word, bytes) => {
                push(exec::pseudo(Pseudo::Undefined), pseudo(Class::Stop, at), with(word), bytes);
                run.end = at.wrapping_add(bytes);
                return run;
            }
            Found::Outside => {
                push(exec::pseudo(Pseudo::Outside), pseudo(Class::Stop, at), with(0), 0);
                return run;
            }
        };
        let class = row.op.class();
        let rd = if o.a == DROP { 0 } else { o.a };
        let splits = matches!(class, Class::Branch | Class::Jump)
            && o.imm & 2 != 0
            && cpu.half(o.imm).is_some_and(|first| first & 3 == 3);
        let step = Step { class, pc: at, bytes: bytes as u8, rd, rs1: o.b, rs2: o.c, splits };
        push(exec::handler(row.op, row.form.immediate()), step, o, bytes);
        if usize::from(o.a) == SP && !class.ends() {
            push(exec::pseudo(Pseudo::Stack), pseudo(Class::Pseudo, at), with(0), 0);
        }
        run.end = at.wrapping_add(bytes);
        if class.ends() {
            return run;
        }
    }
    let at = run.end;
    push(exec::pseudo(Pseudo::Seam), pseudo(Class::Pseudo, at), with(at), 0);
    run
}
