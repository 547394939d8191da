//! Random words as code: nothing panics, every stop has a name.

use isa::{Machine, OneCycle};
use isa_thumb::{Features, Thumb};
use mcu::{Chip, Memory, Stop};
use random::Random;

#[test]
fn random_words_never_panic() {
    let mut numbers = Random::new(0);
    let mut random = || numbers.word();
    let chip = Chip::of_memories((0x0800_0000, 0x1000), (0x2000_0000, 0x1000));
    let mut faults = 0;
    for round in 0..300 {
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        memory.flash.iter_mut().for_each(|b| *b = random() as u8);
        let features = [Features::CORTEX_M0PLUS, Features::CORTEX_M3, Features::CORTEX_M4][round % 3];
        let mut machine = Machine::new(Thumb::with_features(memory, features), OneCycle);
        for start in 0..40 {
            machine.reset();
            machine.core.set_pc(0x0800_0000 + (random() & 0xFFE));
            for n in 0..15 {
                let value = if random() & 1 == 0 { random() } else { 0x2000_0000 + (random() & 0x1FFF) };
                machine.core.set_register(n, value);
            }
            machine.core.set_apsr(random());
            let stop = if (round + start) % 4 == 0 { machine.step() } else { machine.run(2000) };
            faults += u32::from(matches!(stop, Stop::Fault(_)));
        }
    }
    assert!(faults > 5000, "{faults}");
}
