//! A short run of `lockstep-arm`, and our core against itself.

use std::path::Path;

use lockstep::arm::{Generator, Outcome, Program, compare, ours};

fn sequences(seed: u64, n: usize) -> Vec<lockstep::arm::Sequence> {
    let mut generator = Generator::new(seed);
    (0..n).map(|_| generator.sequence()).collect()
}

#[test]
fn random_sequences_end_in_the_oracles_states() {
    match compare(&sequences(1000, 10_000), 1000).expect("both run to the end") {
        Outcome::Same => {}
        Outcome::NoOracle => eprintln!("skipped: qemu-system-arm is not installed"),
        Outcome::Different(report) => panic!("{report}"),
    }
}

/// Stepping makes all flags live behind each instruction, so every handler is the one with flags.
#[test]
fn dead_flags_change_nothing_that_is_seen() {
    let p = Program::new(&sequences(2000, 2_000), 2000, Path::new("unused"));
    assert!(ours(&p, false).expect("runs to the end") == ours(&p, true).expect("runs to the end"));
}

/// What is made apart (branches, calls, table branches, the stack, IT, exclusive access) or left out
/// (waits, faults) does not count.
#[test]
fn sequences_use_the_whole_table() {
    let mut generator = Generator::new(3000);
    (0..10_000).for_each(|_| drop(generator.sequence()));
    let unused = generator.unused();
    assert!(unused.len() <= 41, "{} unused: {unused:#?}", unused.len());
}

#[test]
#[ignore = "long"]
fn a_million_sequences_end_in_the_oracles_states() {
    for seed in 0..50 {
        match compare(&sequences(seed, 20_000), seed).expect("both run to the end") {
            Outcome::Same => {}
            Outcome::NoOracle => return,
            Outcome::Different(report) => panic!("seed {seed}: {report}"),
        }
    }
}
