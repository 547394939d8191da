//! Disassembly of every word against avr-objdump, which runs as a program of its own.

mod common;

use std::process::Command;

use isa::Core as _;
use isa_avr::table;

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
    // each word with a second one behind it, so that objdump stays in step: a NOP or an address
    let dir = common::scratch("objdump");
    let mut theirs = vec![String::new(); 1 << 16];
    for (n, chunk) in (0..=0xFFFFu16).collect::<Vec<_>>().chunks(8192).enumerate() {
        let bytes: Vec<u8> = chunk.iter().flat_map(|w| [*w, 0]).flat_map(u16::to_le_bytes).collect();
        let file = dir.join(format!("{n}.bin"));
        std::fs::write(&file, bytes).expect("the build directory is writable");
        let out = Command::new("avr-objdump").args(["-b", "binary", "-m", "avr:5", "-z", "-D"]).arg(&file).output();
        let out = String::from_utf8(out.expect("avr-objdump runs").stdout).expect("it writes ASCII");
        for line in out.lines() {
            let mut columns = line.splitn(3, '\t');
            let address = columns.next().and_then(|a| u32::from_str_radix(a.trim().trim_end_matches(':'), 16).ok());
            let (Some(address), Some(text)) = (address, columns.nth(1)) else { continue };
            if address % 4 == 0 {
                theirs[usize::from(chunk[(address / 4) as usize])] = normal(text, address);
            }
        }
    }
    let mut differences = Vec::new();
    for word in 0..=0xFFFFu16 {
        let at = u32::from(word % 8192) * 4;
        let mut m = common::words(&[]);
        m.core.memory_mut().flash[..4].copy_from_slice(&[word as u8, (word >> 8) as u8, 0, 0]);
        let (text, bytes) = m.core.disassemble(0);
        assert_eq!(bytes, table::find(word).map_or(2, table::Row::bytes));
        let ours = normal(&text, 0).replace("+0", "");
        let _ = at;
        if ours != theirs[usize::from(word)] {
            differences.push(format!("{word:#06x}: {ours} | {}", theirs[usize::from(word)]));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences\n{}",
        differences.len(),
        differences.iter().step_by(97).cloned().collect::<Vec<_>>().join("\n")
    );
}
