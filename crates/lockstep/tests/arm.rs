//! A short run of `lockstep-arm`, and our core against itself.

use std::path::Path;

use lockstep::arm::{Board, Generator, Outcome, Program, compare, ours};

fn sequences(board: Board, seed: u64, n: usize) -> Vec<lockstep::arm::Sequence> {
    let mut generator = Generator::new(board, seed);
    (0..n).map(|_| generator.sequence()).collect()
}

#[test]
fn random_sequences_end_in_the_oracles_states() {
    for board in [Board::M3, Board::M4] {
        match compare(board, &sequences(board, 1000, 10_000), 1000).expect("both run to the end") {
            Outcome::Same => {}
            Outcome::NoOracle => eprintln!("skipped: qemu-system-arm is not installed"),
            Outcome::Different(report) => panic!("{board:?}: {report}"),
        }
    }
}

/// Stepping makes all flags live behind each instruction, so every handler is the one with flags.
#[test]
fn dead_flags_change_nothing_that_is_seen() {
    for board in [Board::M3, Board::M4] {
        let p = Program::new(board, &sequences(board, 2000, 2_000), 2000, Path::new("unused"));
        assert!(ours(&p, false).expect("runs to the end") == ours(&p, true).expect("runs to the end"));
    }
}

/// What is made apart (branches, calls, table branches, the stack, IT, exclusive access) or left out
/// (waits, faults) does not count.
#[test]
fn sequences_use_the_whole_table() {
    for board in [Board::M3, Board::M4] {
        let mut generator = Generator::new(board, 3000);
        (0..10_000).for_each(|_| drop(generator.sequence()));
        let unused = generator.unused();
        assert!(unused.len() <= 45, "{} unused: {unused:#?}", unused.len());
    }
}

#[test]
#[ignore = "long"]
fn a_million_sequences_end_in_the_oracles_states() {
    for seed in 0..50 {
        let board = if seed % 2 == 0 { Board::M3 } else { Board::M4 };
        match compare(board, &sequences(board, seed, 20_000), seed).expect("both run to the end") {
            Outcome::Same => {}
            Outcome::NoOracle => return,
            Outcome::Different(report) => panic!("seed {seed}: {report}"),
        }
    }
}
