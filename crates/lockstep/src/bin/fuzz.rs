//! `fuzz [--instructions N] [--seed S] [--jobs J] [NAME...]`: random instructions on our cores and on oracles.

use std::process::ExitCode;
use std::time::Instant;

use lockstep::{campaign, grounds};

struct Options {
    instructions: u64,
    seed: u64,
    jobs: usize,
    names: Vec<String>,
}

fn options() -> Result<Options, String> {
    let jobs = std::thread::available_parallelism().map_or(1, Into::into);
    let mut o = Options { instructions: 10_000_000, seed: 1, jobs, names: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        if !word.starts_with("--") {
            o.names.push(word);
            continue;
        }
        let value = arguments.next().ok_or(format!("{word} needs a number"))?;
        let number = value.parse::<u64>().map_err(|e| format!("{word} {value}: {e}"))?;
        match word.as_str() {
            "--instructions" => o.instructions = number,
            "--seed" => o.seed = number,
            "--jobs" => o.jobs = number.clamp(1, 64) as usize,
            other => return Err(format!("unknown option {other}")),
        }
    }
    let known: Vec<_> = grounds().iter().map(|g| g.name()).collect();
    match o.names.iter().find(|n| !known.contains(&n.as_str())) {
        Some(name) => Err(format!("unknown instruction set {name}; known: {}", known.join(", "))),
        None => Ok(o),
    }
}

fn main() -> ExitCode {
    let o = match options() {
        Ok(o) => o,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let mut code = ExitCode::SUCCESS;
    for ground in grounds() {
        let name = ground.name();
        if !o.names.is_empty() && !o.names.iter().any(|n| n == name) {
            continue;
        }
        let start = Instant::now();
        let s = campaign(ground.as_ref(), o.instructions, o.seed, o.jobs);
        s.missing.iter().for_each(|m| println!("{name}: left out: {m}"));
        if let Some(report) = &s.failure {
            println!("{report}");
            code = ExitCode::FAILURE;
        } else if !s.oracles.is_empty() {
            println!("{name}: {s}; {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    code
}
