//! Disassembly of every word against avr-objdump, which runs as a program of its own.

mod common;

use std::process::Command;

use common::{Device, MEGA128, MEGA328P, MEGA4809};
use isa::Core as _;
use isa_avr::table::Definition;
use timing::avr::AvrE;

/// Instructions that objdump shows for all cores although only some have them.
const FOREIGN: [&str; 9] = ["elpm", "xch ", "las ", "lac ", "lat ", "des ", "eijmp", "eicall", "spm Z+"];

/// A line of avr-objdump without its address and bytes, in this crate's style.
fn normal(text: &str, pc: u32) -> String {
    let text = text.split(';').next().unwrap_or("").trim().replace('\t', " ");
    let (name, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let operands: Vec<String> = rest.split(", ").filter(|o| !o.is_empty()).map(|o| operand(o.trim(), pc)).collect();
    format!("{name} {}", operands.join(", ")).trim().to_owned()
}

/// Numbers in decimal, targets absolute.
fn operand(text: &str, pc: u32) -> String {
    if let Some(distance) = text.strip_prefix('.') {
        let distance: i32 = distance.trim_start_matches('+').parse().expect("a distance");
        return pc.wrapping_add(2).wrapping_add_signed(distance).to_string();
    }
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).expect("a number").to_string(),
        None => text.to_owned(),
    }
}

#[test]
fn every_word_disassembles_as_objdump_does() {
    if !common::have("avr-objdump") {
        return;
    }
    for (device, machine) in [(MEGA328P, "avr:5"), (MEGA128, "avr:51"), (MEGA4809, "avr:103")] {
        compare(&device, machine);
    }
}

fn compare(device: &Device, machine: &str) {
    // each word with a second one after it, so that objdump stays in step: a NOP or an address
    let dir = common::scratch("objdump");
    let (mut differences, mut undefined) = (Vec::new(), 0);
    for (n, chunk) in (0..=0xFFFFu16).collect::<Vec<_>>().chunks(8192).enumerate() {
        let words: Vec<u16> = chunk.iter().flat_map(|&w| [w, 0]).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let file = dir.join(format!("{n}.bin"));
        std::fs::write(&file, bytes).expect("the build directory is writable");
        let out = Command::new("avr-objdump").args(["-b", "binary", "-m", machine, "-z", "-D"]).arg(&file).output();
        let out = String::from_utf8(out.expect("avr-objdump runs").stdout).expect("it writes ASCII");
        let m = device.machine(AvrE, &common::image(&words));
        let mut seen = 0;
        for line in out.lines() {
            let mut columns = line.splitn(3, '\t');
            let pc = columns.next().and_then(|a| u32::from_str_radix(a.trim().trim_end_matches(':'), 16).ok());
            let (Some(pc), Some(text)) = (pc, columns.nth(1)) else { continue };
            if pc % 4 != 0 {
                continue;
            }
            seen += 1;
            let word = words[pc as usize / 2];
            let (ours, bytes) = m.core.disassemble(pc);
            assert_eq!(bytes, device.core.find(word).map_or(2, Definition::bytes));
            let (ours, theirs) = (normal(&ours, pc), normal(text, pc));
            let none = ours.starts_with(".word");
            undefined += usize::from(none);
            if ours != theirs && !(none && FOREIGN.iter().any(|f| theirs.starts_with(f))) {
                differences.push(format!("{word:#06x}: {ours} | {theirs}"));
            }
        }
        assert_eq!(seen, chunk.len(), "objdump stays in step");
    }
    eprintln!("{machine}: {undefined} words are undefined");
    let some: Vec<_> = differences.iter().step_by(differences.len() / 100 + 1).cloned().collect();
    assert!(
        differences.is_empty(),
        "{machine}: {} differences (ours | objdump)\n{}",
        differences.len(),
        some.join("\n")
    );
}
