//! Decodes memory into runs of handlers.

use isa::{Insn, Run};
use mcu::Site;

use crate::compressed;
use crate::exec::{self, Pseudo};
use crate::op::Operands;
use crate::state::{DROP, Riscv, SP};
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
    match word.and_then(|w| Some((w, table::find::<X>(w)?))) {
        Some((word, (n, row))) => Found::Definition(n, row, row.form.operands(&row.pattern.fields(word), pc), bytes),
        None => Found::Undefined(shown, bytes),
    }
}

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
    let pseudo = |class, pc| Step { class, pc, bytes: 0, rd: 0, rs1: 0, rs2: 0 };
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
        let step = Step { class, pc: at, bytes: bytes as u8, rd, rs1: o.b, rs2: o.c };
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
