//! Random code: nothing panics, and every stop has a name.

mod common;

use common::{CODE, DATA, machine};
use isa::Core as _;
use isa_riscv::Word;
use mcu::Stop;
use random::Random;

fn fuzz<X: Word>() {
    let mut random = Random::new(0x1234_5678_9ABC_DEF1);
    let mut faults = 0;
    for round in 0..200 {
        let mut machine = machine::<X>();
        // random words, most of them with a valid opcode
        let opcodes = [0x37, 0x17, 0x13, 0x33, 0x3B, 0x1B, 0x03, 0x23, 0x2F, 0x63, 0x6F, 0x67, 0x73, 0x0F];
        for word in machine.core.memory_mut().flash.chunks_exact_mut(4) {
            let mut w = random.word();
            if random.below(3) == 0 {
                w = w & !0x7F | opcodes[random.below(opcodes.len() as u32) as usize];
            }
            word.copy_from_slice(&w.to_le_bytes());
        }
        for start in 0..20 {
            machine.reset();
            machine.core.set_pc(CODE + (random.word() & 0x3_FFFE));
            for n in 1..32 {
                let near = DATA - 0x800 + random.below(0x1_1000);
                let word = if random.below(4) == 0 { random.word() } else { near };
                machine.core.set_register(n, X::zext(word));
            }
            let stop = if (round + start) % 4 == 0 { machine.step() } else { machine.run(2000) };
            faults += u32::from(matches!(stop, Stop::Fault(_)));
            let (pc, end) = (machine.core.pc(), CODE + 0x4_0000);
            let (_, bytes) = machine.core.disassemble(pc);
            assert!(bytes == 2 || bytes == 4 || pc >= end);
        }
    }
    assert!(faults > 2500, "{faults}");
}

#[test]
fn random_words_never_panic() {
    fuzz::<u32>();
    fuzz::<u64>();
}
