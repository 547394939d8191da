//! Random bytes as code: nothing panics, every stop has a name.

mod common;

use common::{CODE, RAM, core};
use isa::{Core as _, Machine, OneCycle};
use isa_xtensa::Features;
use mcu::Stop;
use random::Random;

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(7);
    let mut faults = 0;
    for round in 0..40 {
        let mut cpu = core(if round % 2 == 0 { Features::LX106 } else { Features::LX6 });
        cpu.memory_mut().flash[..0x2000].iter_mut().for_each(|b| *b = random.word() as u8);
        let mut machine = Machine::new(cpu, OneCycle);
        for start in 0..100 {
            machine.reset();
            machine.core.set_pc(CODE + random.below(0x2000));
            for n in 0..16 {
                let value = if random.below(2) == 0 { random.word() } else { RAM + random.below(0x2000) };
                machine.core.set_register(n, value);
            }
            let stop = if start % 4 == 0 { machine.step() } else { machine.run(2000) };
            faults += u32::from(matches!(stop, Stop::Fault(_)));
        }
    }
    assert!(faults > 2000, "{faults}");
}

#[test]
fn every_encoding_has_a_text() {
    let mut random = Random::new(8);
    let mut cpu = core(Features::LX6);
    for _ in 0..100_000 {
        let word = random.word().to_le_bytes();
        cpu.memory_mut().flash[..4].copy_from_slice(&word);
        let (text, bytes) = cpu.disassemble(CODE);
        assert!((1..=3).contains(&bytes) && !text.contains('?'), "{word:x?} {text}");
    }
}
