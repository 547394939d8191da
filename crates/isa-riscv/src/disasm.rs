//! Disassembles memory into text. Nothing else reads the texts of the table.

use isa::TableRow;

use crate::decode::{Found, find};
use crate::op::DROP;
use crate::state::{Features, Riscv};
use crate::table::ROWS;
use crate::word::Word;

/// The definitions that the core has.
pub(crate) fn rows<X: Word>(features: &Features) -> Vec<TableRow> {
    let rows = ROWS.iter().enumerate().filter(|(_, r)| r.only.has::<X>() && features.has(r.op));
    rows.map(|(number, r)| TableRow { number, text: r.text.0, by_handler: r.op.by_handler() }).collect()
}

/// The instruction at `pc` in its 32-bit form, also for a compressed one, and its length.
pub(crate) fn disassemble<X: Word>(cpu: &Riscv<X>, pc: u32) -> (String, u32) {
    let (row, o, bytes) = match find(cpu, pc) {
        Found::Definition(_, row, o, bytes) => (row, o, bytes),
        Found::Undefined(word, 2) => return (format!(".2byte {word:#06x}"), 2),
        Found::Undefined(word, bytes) => return (format!(".4byte {word:#010x}"), bytes),
        Found::Outside => return ("(outside flash)".into(), 2),
    };
    let name = |r: u8| X::NAMES[if r == DROP { 0 } else { usize::from(r) }].to_owned();
    let word = cpu.half(pc).unwrap_or(0) | cpu.half(pc.wrapping_add(2)).unwrap_or(0) << 16;
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

fn csr_name(number: u32) -> String {
    match number {
        0x320 => "mcountinhibit".into(),
        0xB00 => "mcycle".into(),
        0xB80 => "mcycleh".into(),
        0xC00 => "cycle".into(),
        0xC80 => "cycleh".into(),
        0xF14 => "mhartid".into(),
        n => format!("{n:#x}"),
    }
}
