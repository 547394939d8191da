//! Compares the disassembler with binutils', on random words that we decode as instructions.

mod common;

use random::Random;
use std::process::Command;

use common::{CODE, have, machine, scratch};
use isa::Core as _;
use isa_riscv::Word;

const OPCODES: [u32; 13] = [0x37, 0x17, 0x13, 0x33, 0x3B, 0x1B, 0x03, 0x23, 0x2F, 0x63, 0x6F, 0x67, 0x73];
const COUNT: usize = 20_000;

fn compare<X: Word>() {
    if !have("riscv64-unknown-elf-objdump") {
        return;
    }
    let mut random = Random::new(0xC0FF_EE00_1234_5678);
    let mut machine = machine::<X>();
    let mut texts = Vec::new();
    while texts.len() < COUNT {
        let at = 4 * texts.len();
        let mut word = random.word() & !0x7F | OPCODES[random.below(13) as usize];
        // upper bits that encodings fix are rarely hit by chance
        if random.below(2) == 0 {
            word &= !0xFE00_0000 | [0, 0x4000_0000, 0x0200_0000][random.below(3) as usize];
        }
        machine.core.memory_mut().flash[at..at + 4].copy_from_slice(&word.to_le_bytes());
        let (text, bytes) = machine.core.disassemble(CODE + at as u32);
        let known_csr = !text.starts_with("csr"); // objdump names all of them
        if !text.starts_with('.') && known_csr {
            assert_eq!(bytes, 4);
            texts.push(text);
        }
    }
    let file = scratch("objdump").join(format!("{}.bin", X::BITS));
    std::fs::write(&file, &machine.core.memory().flash[..4 * COUNT]).expect("the build directory is writable");
    let done = Command::new("riscv64-unknown-elf-objdump")
        .args(["-D", "-b", "binary", "-m", &format!("riscv:rv{}", X::BITS), "-M", "no-aliases"])
        .arg(format!("--adjust-vma={CODE:#x}"))
        .arg(&file)
        .output()
        .expect("objdump runs");
    let theirs = String::from_utf8_lossy(&done.stdout).into_owned();
    let lines = theirs.lines().filter(|l| l.contains(":\t")).map(|l| {
        let text = l.splitn(3, '\t').nth(2).unwrap_or("");
        text.split(" <").next().unwrap_or("").split(" #").next().unwrap_or("").trim().replace('\t', " ")
    });
    let mut compared = 0;
    for (mine, line) in texts.iter().zip(lines) {
        // ours has spaces after commas, and a marker before hexadecimal targets
        let plain = |t: &str| t.replace(", ", ",").replace("0x", "");
        assert_eq!(plain(mine), plain(&line));
        compared += 1;
    }
    assert_eq!(compared, COUNT);
}

#[test]
fn texts_are_binutils_32() {
    compare::<u32>();
}

#[test]
fn texts_are_binutils_64() {
    compare::<u64>();
}
