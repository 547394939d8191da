//! `lockstep-arm [--sequences N] [--seed S] [--core 3|4]`: random ARMv7-M sequences on our core and on QEMU.

use lockstep::arm::{BATCH, Board, Generator, Outcome, compare};

fn main() -> Result<(), String> {
    let mut sequences = 100_000usize;
    let mut seed = 1u64;
    let mut board = Board::M3;
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next().ok_or(format!("{name} needs a number"))?;
        let number = value.parse::<u64>().map_err(|e| format!("{name} {value}: {e}"))?;
        match name.as_str() {
            "--sequences" => sequences = number as usize,
            "--seed" => seed = number,
            "--core" => board = if number == 4 { Board::M4 } else { Board::M3 },
            other => return Err(format!("unknown option {other}")),
        }
    }
    let mut done = 0;
    while done < sequences {
        let n = BATCH.min(sequences - done);
        let mut generator = Generator::new(board, seed);
        let batch: Vec<_> = (0..n).map(|_| generator.sequence()).collect();
        match compare(board, &batch, seed)? {
            Outcome::Same => {}
            Outcome::NoOracle => {
                println!("skipped: qemu-system-arm is not installed");
                return Ok(());
            }
            Outcome::Different(report) => return Err(format!("seed {seed}: {report}")),
        }
        done += n;
        seed += 1;
        println!("{done} sequences agree");
    }
    Ok(())
}
