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

/// What a control and status register is called (Privileged Architecture, 2.2), by its number where that does not say.
pub fn csr_name(number: u32) -> String {
    let name = match number {
        0x001 => "fflags",
        0x002 => "frm",
        0x003 => "fcsr",
        0x300 => "mstatus",
        0x301 => "misa",
        0x302 => "medeleg",
        0x303 => "mideleg",
        0x304 => "mie",
        0x305 => "mtvec",
        0x306 => "mcounteren",
        0x320 => "mcountinhibit",
        0x340 => "mscratch",
        0x341 => "mepc",
        0x342 => "mcause",
        0x343 => "mtval",
        0x344 => "mip",
        0x7E0 => "mpcer",
        0x7E1 => "mpcmr",
        0x7E2 => "mpccr",
        0xB00 => "mcycle",
        0xB02 => "minstret",
        0xB80 => "mcycleh",
        0xB82 => "minstreth",
        0xC00 => "cycle",
        0xC01 => "time",
        0xC02 => "instret",
        0xC80 => "cycleh",
        0xC81 => "timeh",
        0xC82 => "instreth",
        0xF11 => "mvendorid",
        0xF12 => "marchid",
        0xF13 => "mimpid",
        0xF14 => "mhartid",
        n => return format!("{n:#x}"),
    };
    name.to_owned()
}
