//! Cores that lack a part of the table refuse it, as binutils' assembler does when it is told what they have.

mod common;

use random::Random;
use std::collections::BTreeSet;
use std::process::Command;

use common::{CODE, DATA, have, scratch};
use isa::{Core as _, Machine, OneCycle};
use isa_riscv::{Counter, Features, Riscv};
use mcu::{Chip, FaultKind, Memory};

const EBREAK: u32 = 0x0010_0073;

fn machine(features: Features, code: &[u32]) -> Machine<Riscv<u32>, OneCycle> {
    let chip = Chip::of_memories((CODE, 0x4_0000), (DATA, 0x1_0000));
    let mut memory = Memory::new(&chip).expect("the chip is possible");
    for (k, word) in code.iter().enumerate() {
        memory.flash[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
    }
    Machine::new(Riscv::with_features(memory, features), OneCycle)
}

/// What stops `code`.
fn fault(features: Features, code: &[u32]) -> (FaultKind, u32) {
    let fault = machine(features, code).run(100).fault().expect("it fails");
    (fault.kind, fault.pc)
}

#[test]
fn what_a_core_lacks_is_no_instruction() {
    let (mul, div, amo) = (0x02B5_0533, 0x02B5_4533, 0x00B5_252F); // mul and div a0, a0, a1; amoadd.w a0, a1, (a0)
    let (a6, from_a6, s2) = (0x0005_0813, 0x0008_0513, 0x0125_0533); // mv a6, a0; mv a0, a6; add a0, a0, s2
    let (short_a6, short_s2) = (0x0001_4801, 0x0001_954A); // c.li a6, 0; c.add a0, s2; each with c.nop
    for (features, refused) in [
        (Features::IMAC, &[][..]),
        (Features::ESP32C3, &[amo]),
        (Features::QINGKE_V2A, &[mul, div, amo, a6, from_a6, s2, short_a6, short_s2]),
    ] {
        for word in [mul, div, amo, a6, from_a6, s2, short_a6, short_s2] {
            let shown = if word & 3 == 3 { word } else { word & 0xFFFF };
            let expected = match () {
                () if refused.contains(&word) => (FaultKind::BadOpcode { word: shown }, CODE),
                () if word == amo => (FaultKind::OutOfRange { address: 0, write: false }, CODE),
                () => (FaultKind::Trap, CODE + 4),
            };
            let (kind, pc) = fault(features, &[word, EBREAK]);
            let same = matches!((kind, expected.0), (FaultKind::OutOfRange { .. }, FaultKind::OutOfRange { .. }));
            assert!(same || (kind, pc) == expected, "{word:#010x}: {kind:?} at {pc:#x}, not {expected:?}");
        }
    }
    // an immediate of a CSR instruction is not a register: csrrsi a0, mhartid, 31 is refused as on every core
    let (kind, _) = fault(Features::QINGKE_V2A, &[0xF14F_E573, EBREAK]);
    assert_eq!(kind, FaultKind::Unsupported { word: 0xF14F_E573 });
}

#[test]
fn each_core_counts_cycles_where_it_does() {
    let read = |csr: u32| csr << 20 | 2 << 12 | 10 << 7 | 0x73; // csrr a0
    let write = |csr: u32, s: u32| csr << 20 | s << 15 | 1 << 12 | 0x73;
    let one = 0x0010_0593; // li a1, 1
    // csrw mpcer, a1; csrw mpcmr, a1; csrw mpccr, zero; nop; csrr a0, mpccr
    let code = [one, write(0x7E0, 11), write(0x7E1, 11), write(0x7E2, 0), 0x13, read(0x7E2), EBREAK];
    let mut m = machine(Features::ESP32C3, &code);
    m.run(100);
    assert_eq!((m.core.x()[10], m.core.pc()), (2, CODE + 24));
    // another event, or no counting, would not be cycles
    for csr in [0x7E0, 0x7E1] {
        let word = write(csr, 0);
        assert_eq!(fault(Features::ESP32C3, &[word, EBREAK]), (FaultKind::Unsupported { word }, CODE));
    }
    for (counter, features, there) in [
        (0xB00, Features::IMAC, true),
        (0xB00, Features::ESP32C3, false),
        (0x7E2, Features::IMAC, false),
        (0xB00, Features::QINGKE_V2A, false),
        (0x7E2, Features::QINGKE_V2A, false),
    ] {
        let kind = fault(features, &[read(counter), EBREAK]).0;
        let expected = if there { FaultKind::Trap } else { FaultKind::Unsupported { word: read(counter) } };
        assert_eq!(kind, expected, "{counter:#x} {:?}", features.counter);
    }
    assert_eq!(Features::QINGKE_V2A.counter, Counter::None);
}

/// Random instructions of the whole table, as texts: those that a core refuses are those that the assembler refuses.
#[test]
fn the_assembler_refuses_the_same() {
    const COUNT: usize = 6000;
    if !have("riscv64-unknown-elf-as") {
        return;
    }
    let mut random = Random::new(0xE16);
    let opcodes = [0x37, 0x17, 0x13, 0x33, 0x03, 0x23, 0x2F, 0x63, 0x6F, 0x67];
    let mut words = Vec::new();
    let mut full = machine(Features::IMAC, &[]);
    let text = |m: &mut Machine<Riscv<u32>, OneCycle>, word: u32| {
        m.core.memory_mut().flash[..4].copy_from_slice(&word.to_le_bytes());
        m.core.disassemble(CODE).0
    };
    while words.len() < COUNT {
        let mut word = random.word() & !0x7F | opcodes[random.below(10) as usize];
        if random.below(2) == 0 {
            word &= !0xFE00_0000 | [0, 0x4000_0000, 0x0200_0000][random.below(3) as usize];
        }
        if random.below(2) == 0 {
            word &= !0x0108_0800; // registers below 16
        }
        if !text(&mut full, word).starts_with('.') {
            words.push(word);
        }
    }
    let folder = scratch("features");
    for (features, march) in [(Features::ESP32C3, "rv32imc"), (Features::QINGKE_V2A, "rv32ec")] {
        let mut core = machine(features, &[]);
        let mine: BTreeSet<usize> = (0..COUNT).filter(|&k| text(&mut core, words[k]).starts_with('.')).collect();
        // targets of branches are far: each as an offset from here
        let lines: Vec<_> = words.iter().map(|&w| text(&mut full, w)).collect();
        let source: String = lines.iter().map(|l| format!("{}\n", relative(l))).collect();
        let file = folder.join(format!("{march}.s"));
        std::fs::write(&file, source).expect("the build directory is writable");
        let told = Command::new("riscv64-unknown-elf-as")
            .args([&format!("-march={march}"), "-mno-relax", "-o", "/dev/null"])
            .arg(&file)
            .output()
            .expect("the assembler runs");
        let told = String::from_utf8_lossy(&told.stderr).into_owned();
        let number = |line: &str| line.split(':').nth(1)?.parse::<usize>().ok();
        let theirs: BTreeSet<usize> =
            told.lines().filter(|l| l.contains("Error")).filter_map(number).map(|n| n - 1).collect();
        let differ: Vec<_> = mine.symmetric_difference(&theirs).take(5).map(|&k| &lines[k]).collect();
        assert!(differ.is_empty(), "{march}: {differ:?}; {}", told.lines().take(5).collect::<Vec<_>>().join("; "));
        assert!(mine.len() > 50, "{march}: {} refused", mine.len());
    }
}

/// A text without its address: branches and jumps go to the next instruction.
fn relative(text: &str) -> String {
    let jumps = ["beq ", "bne ", "blt ", "bge ", "bltu ", "bgeu ", "jal "];
    match text.rsplit_once(' ') {
        Some((rest, _)) if jumps.iter().any(|j| text.starts_with(j)) => format!("{rest} .+4"),
        _ => text.to_owned(),
    }
}
