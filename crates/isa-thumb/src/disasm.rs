//! Disassembles memory into text. Nothing else reads the texts of the table.

use isa::TableRow;

use crate::decode::{Found, find};
use crate::form::When;
use crate::operands::{Operands, special};
use crate::state::Thumb;
use crate::step::Kind;
use crate::table::{self, Definition};

const CONDITIONS: [&str; 15] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];
const NAMES: [&str; 16] =
    ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"];

/// The definitions that the core has.
pub(crate) fn rows(cpu: &Thumb) -> Vec<TableRow> {
    let timed = cpu.events.mul_long.is_some();
    let rows = table::rows().enumerate().filter(|(_, r)| cpu.features().has(r.part));
    rows.map(|(number, r)| TableRow { number, text: r.text.0, by_handler: r.op.by_handler(timed) }).collect()
}

/// The instruction at `pc` and its length. Conditions that an IT instruction puts on later ones are not shown.
pub(crate) fn disassemble(cpu: &Thumb, pc: u32) -> (String, u32) {
    match find(cpu, pc) {
        Ok(Found { row, operands, word, bytes, .. }) => (text(row, &operands, word, pc), bytes),
        Err(Some(word)) if word > 0xFFFF => (format!(".inst.w {word:#010x}"), 4),
        Err(Some(word)) => (format!(".inst.n {word:#06x}"), 2),
        Err(None) => ("?".into(), 2),
    }
}

fn text(row: &Definition, o: &Operands, word: u32, pc: u32) -> String {
    let name = |r: u8| NAMES[usize::from(r & 15)].to_owned();
    let fields = row.pattern.fields(word);
    let up = fields.get('u') != 0;
    let subtracts = !up && row.pattern.fields(u32::MAX).get('u') != 0;
    let offset = |n: i32, minus: bool| format!("#{}{}", if minus { "-" } else { "" }, n.unsigned_abs());
    row.text.render(|place, format| match place {
        "a" => name(o.a),
        "b" => name(o.b),
        "c" => name(o.c),
        "d" => name(o.d),
        "imm" if format == "x4" => format!("{:#06x}", o.imm),
        "imm" => format!("#{}", o.imm),
        "s" => match row.form.when() {
            When::OutsideIt => "s".into(),
            When::Bit if fields.get('s') == 1 => "s".into(),
            _ => String::new(),
        },
        "sh" => match o.kind {
            Kind::Lsr => "lsr".into(),
            Kind::Asr => "asr".into(),
            _ => "lsl".into(),
        },
        "amount" | "low" => format!("#{}", o.d),
        "shift" => match o.kind {
            Kind::Lsl => format!(", lsl #{}", o.d),
            Kind::Lsr => format!(", lsr #{}", o.d),
            Kind::Asr => format!(", asr #{}", o.d),
            Kind::Ror => format!(", ror #{}", o.d),
            Kind::Rrx => ", rrx".into(),
            _ => String::new(),
        },
        "index" if o.d != 0 => format!(", lsl #{}", o.d),
        "rotate" if o.d != 0 => format!(", ror #{}", o.d),
        "index" | "rotate" => String::new(),
        "ones" => format!("#{}", o.imm.count_ones()),
        "off" if o.imm == 0 && !subtracts => String::new(),
        "off" => format!(", {}", offset(o.imm as i32, subtracts)),
        "signed" => offset(o.imm as i32, subtracts),
        "negative" => offset(o.imm as i32, true),
        "literal" => offset(o.imm.wrapping_sub(pc.wrapping_add(4) & !3) as i32, subtracts),
        "addsub" => if up { "sub" } else { "add" }.into(),
        "magnitude" => format!("#{}", fields.get('i')),
        "to" => format!("{:#x}", o.imm),
        "cond" => CONDITIONS[usize::from(o.c).min(14)].into(),
        "then" => {
            let length = 3 - o.d.trailing_zeros();
            (0..length).map(|k| if (o.d >> (3 - k) ^ o.c) & 1 == 0 { 't' } else { 'e' }).collect()
        }
        "list" => {
            let names: Vec<_> = (0..16u8).filter(|&r| o.imm >> r & 1 == 1).map(name).collect();
            format!("{{{}}}", names.join(", "))
        }
        "wb" => if o.a != 0 { "!" } else { "" }.into(),
        "tb" => if o.kind == Kind::Asr { "tb" } else { "bt" }.into(),
        "ed" => if o.d != 0 { "id" } else { "ie" }.into(),
        "masks" => ["", "f", "i", "if"][o.imm as usize & 3].into(),
        "hint" => format!("{{{}}}", o.imm),
        "special" => special(o.imm).unwrap_or("?").into(),
        "barrier" => match o.imm & 15 {
            15 => "sy".into(),
            n => format!("#{n}"),
        },
        "udf" => format!("#{}", fields.get('i')),
        _ => "?".into(),
    })
}
