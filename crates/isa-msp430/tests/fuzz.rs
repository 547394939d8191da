//! Random flash content: only named faults come out, and blocks do what single steps do.

mod common;

use common::FLASH;
use isa::{Core as _, blocks_agree};
use isa_msp430::table::TABLE;
use mcu::{FaultKind, Stop};
use random::Random;

/// Words of which most are instructions, and some of those short jumps.
fn program(random: &mut Random) -> Vec<u16> {
    let mut word = || match random.below(8) {
        0 => random.word() as u16,
        1 => 0x2000 | random.word() as u16 & 0x1C0F,
        2 => 0x4034 | random.word() as u16 & 0x000B, // mov #x, rN, so that ...
        3 => 0x1100 + random.below(0x2800) as u16,   // ... pointers meet RAM
        _ => {
            let row = &TABLE[random.below(TABLE.len() as u32) as usize].pattern;
            row.value as u16 | random.word() as u16 & !(row.mask as u16)
        }
    };
    (0..0x5FF0).map(|_| word()).collect()
}

#[test]
fn blocks_and_steps_agree_until_the_first_fault() {
    let mut random = Random::new(0x5EED);
    let (mut faults, mut steps) = (0, 0);
    for _ in 0..300 {
        let words = program(&mut random);
        let (mut whole, mut single) = (common::words(&words), common::words(&words));
        let start = FLASH + random.below(0x5000) * 2;
        for m in [&mut whole, &mut single] {
            m.core.set_register(0, start as u16);
            for r in 1..16 {
                m.core.set_register(r, if r == 2 { 0 } else { 0x1200 + 0x100 * r as u16 });
            }
        }
        let (more, fault) = blocks_agree(&mut whole, &mut single, 3000);
        steps += more;
        faults += u32::from(fault.is_some());
    }
    eprintln!("{faults} faults, {steps} steps");
    assert!(faults > 100 && steps > 1000);
}

/// Every word with every kind of word after it disassembles, decodes and runs.
#[test]
fn every_word_runs_or_faults() {
    for word in 0..=u16::MAX {
        if word % 97 != 0 && word & 0x00F0 != 0 {
            continue; // a sample, with all modes of registers
        }
        let mut m = common::words(&[word, 0x2000, 0x3000, 0x4303]);
        for r in 4..16 {
            m.core.set_register(r, 0x2000);
        }
        m.core.set_register(1, 0x2000);
        let (text, bytes) = m.core.disassemble(FLASH);
        assert!(!text.is_empty() && (2..=6).contains(&bytes) && !text.contains('{'), "{text}");
        let stop = m.step();
        assert!(matches!(stop, Stop::Budget | Stop::Fault(_)), "{word:#06x}");
    }
}

fn first_fault(words: &[u16]) -> Option<FaultKind> {
    common::words(words).run(20).fault().map(|f| f.kind)
}

#[test]
fn faults_are_named() {
    // mov #0x1201, r5; mov @r5, r6
    assert_eq!(first_fault(&[0x4035, 0x1201, 0x4526]), Some(FaultKind::Unaligned { address: 0x1201 }));
    // mov r6, &0x4100
    assert_eq!(first_fault(&[0x4682, 0x4100]), Some(FaultKind::FlashWrite { address: 0x4100 }));
    // mov &0x0f00, r6
    assert_eq!(first_fault(&[0x4216, 0x0F00]), Some(FaultKind::OutOfRange { address: 0xF00, write: false }));
    // bis #0x10, sr: CPUOFF
    assert_eq!(first_fault(&[0xD032, 0x0010]), Some(FaultKind::Unsupported { word: 0xD032 }));
    // push #4 through the constant generator
    assert_eq!(first_fault(&[0x4031, 0x2000, 0x1222]), Some(FaultKind::Unsupported { word: 0x1222 }));
    // br #0x2000: code in RAM
    assert_eq!(first_fault(&[0x4030, 0x2000]), Some(FaultKind::BadFetch));
    assert_eq!(first_fault(&[0x0000]), Some(FaultKind::BadOpcode { word: 0 }));
    // rrc #1
    assert_eq!(first_fault(&[0x1013]), Some(FaultKind::BadOpcode { word: 0x1013 }));
}

/// Where the manual and the oracle of `lockstep::msp430` differ, the manual's answer.
#[test]
fn what_the_oracle_sees_differently() {
    // mov #0x2000, sp; mov #0x7000, r5; setc; rrc r5; mov.b @sp+, r6; push.b r5
    let mut m = common::words(&[0x4031, 0x2000, 0x4035, 0x7000, 0xD312, 0x1005, 0x4176, 0x1245]);
    for _ in 0..4 {
        m.step();
    }
    let r = m.core.registers();
    assert_eq!((r[5], r[2]), (0xB800, 0x0104), "RRC: N and V");
    let before = m.cycles;
    m.step();
    assert_eq!((m.core.registers()[1], m.cycles - before), (0x2002, 2), "@SP+ moves by two");
    m.core.memory_mut().ram[0x2001 - 0x1100] = 0xEE;
    m.step();
    assert_eq!(m.core.memory().ram[0x2000 - 0x1100..][..2], [0, 0xEE], "PUSH.B stores one byte");
    // inc r5; and #8, r5
    let mut m = common::words(&[0x5315, 0xF235]);
    m.step();
    m.step();
    assert_eq!(m.cycles, 2, "generated constants cost as much as registers");
}

#[test]
fn texts_are_those_of_the_manual() {
    let m = common::words(&[
        0x4031, 0x2000, 0x40B2, 0x7001, 0x1300, 0x47D7, 0x0002, 0xFFFE, 0x1245, 0x12B0, 0x4000, 0x4130, 0x3FFF, 0x1300,
        0xC312, 0x5336,
    ]);
    let mut at = FLASH;
    let mut texts = Vec::new();
    while texts.len() < 10 {
        let (text, bytes) = m.core.disassemble(at);
        texts.push(text);
        at += bytes;
    }
    let expected = [
        "mov #0x2000, sp",
        "mov #0x7001, &0x1300",
        "mov.b 2(r7), -2(r7)",
        "push.b r5",
        "call #0x4000",
        "mov @sp+, pc",
        "jmp 0x4018",
        "reti",
        "bic #1, sr",
        "add #-1, r6",
    ];
    assert_eq!(texts, expected);
}
