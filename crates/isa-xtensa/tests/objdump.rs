//! The disassembler against `xtensa-lx106-elf-objdump`, on random words of every encoding of the LX106.

mod common;

use random::Random;
use std::process::Command;

use common::{CODE, core};
use isa::Core as _;
use isa_xtensa::{Features, table};

/// Removes comments, spacing, and spellings that mean the same.
fn normal(text: &str) -> String {
    let text = text.split([';', '<', '(']).next().unwrap_or("").trim();
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let number = |w: &str| w.strip_prefix("0x").and_then(|h| u32::from_str_radix(h, 16).ok());
    let plain = words.map(|w| number(w).map_or_else(|| w.to_owned(), |n| (n as i32).to_string()));
    plain.collect::<Vec<_>>().join(" ")
}

#[test]
fn texts_are_those_of_objdump() {
    let mut random = Random::new(9);
    let mut cpu = core(Features::LX106);
    // special registers have more names there than are modelled here
    let rows = table::encodings(Features::LX106).filter(|(text, _)| !text.contains("special"));
    let mut code = Vec::new();
    let mut places = Vec::new();
    for (_, p) in rows {
        for _ in 0..60 {
            let word = p.value | random.word() & !p.mask;
            let at = code.len();
            code.extend(&word.to_le_bytes()[..p.bits as usize / 8]);
            cpu.memory_mut().flash[at..code.len()].copy_from_slice(&code[at..]);
            let (text, bytes) = cpu.disassemble(CODE + at as u32);
            // SLLI by 32 is not an instruction
            if bytes * 8 == p.bits {
                places.push((at, text));
            } else {
                code.truncate(at);
            }
        }
    }
    let path = std::env::temp_dir().join(format!("steelyard-xtensa-objdump-{}.bin", std::process::id()));
    std::fs::write(&path, &code).expect("the temporary directory is writable");
    let out = Command::new("xtensa-lx106-elf-objdump")
        .args(["-D", "-z", "-b", "binary", "-m", "xtensa", &format!("--adjust-vma={CODE:#x}")])
        .arg(&path)
        .output();
    let _ = std::fs::remove_file(&path);
    let Ok(out) = out else { return eprintln!("skipped: xtensa-lx106-elf-objdump is not installed") };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut lines = text.lines().filter_map(|l| {
        let (address, rest) = l.split_once(":\t")?;
        Some((u32::from_str_radix(address.trim(), 16).ok()?, rest.split_once('\t')?.1))
    });
    for (at, ours) in places {
        let (address, theirs) = lines.next().expect("objdump shows all");
        assert_eq!(address, CODE + at as u32, "{ours}");
        assert_eq!(normal(&ours), normal(theirs), "at {address:#x}");
    }
}
