//! Runs random programs on our cores and on oracles, which are separate processes, and compares them.
//!
//! Every instruction set has the same shape, a [`Ground`]. A program is a series of sequences. Each one loads all
//! registers and flags with chosen values, executes a few random units (an instruction, or a few that belong together,
//! such as a branch and the code it jumps over) and logs the state after them. Loads and stores go to a window of RAM
//! that is compared as well. Our core runs each program in blocks, instruction by instruction and, where there is a
//! translator, sometimes as native code; all must agree with each other and with every oracle. The first difference is
//! narrowed down to one instruction.

pub mod avr;
mod campaign;
pub mod msp430;
pub mod native;
pub mod qemu;
pub mod riscv;
pub mod thumb;
pub mod xtensa;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use isa::native::Lower;
use isa::{Core, Machine, TableRow, Timing};
use mcu::{FaultKind, Image, Stop};

pub use campaign::{Summary, campaign};
pub use random::Random;

/// Values of the registers before it, and its units.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// In the order of [`Ground::value_names`].
    pub start: Vec<u64>,
    /// Machine code of each unit.
    pub units: Vec<Vec<u8>>,
    /// Whether its cycles can be compared, where cycles are.
    pub timed: bool,
}

/// A program of sequences.
#[derive(Clone)]
pub struct Program {
    /// Content of program memory from its start.
    pub image: Vec<u8>,
    /// Addresses of each sequence's units.
    pub places: Vec<Range<u32>>,
    /// Where it ends.
    pub end: u32,
    /// The initial content of the window of RAM.
    pub window: Vec<u8>,
    /// For each sequence, whether its cycles can be compared.
    pub timed: Vec<bool>,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// State after each sequence, in the order of [`Ground::value_names`]; oracles without cycles leave out the last
    /// value.
    pub states: Vec<Vec<u64>>,
    /// The window of RAM at the end.
    pub window: Vec<u8>,
}

/// What our core executed, observed instruction by instruction.
#[derive(Default)]
pub struct Trace {
    /// Instructions of each sequence's units that were executed.
    pub steps: Vec<u32>,
    /// Definitions of the core's table among them.
    pub rows: BTreeSet<usize>,
}

/// Definitions of a core's table that programs executed.
#[derive(Clone, Debug, Default)]
pub struct Met {
    /// By the interpreter.
    pub executed: BTreeSet<usize>,
    /// In blocks that became native code.
    pub native: BTreeSet<usize>,
}

/// How our core runs a program.
pub enum Way<'a> {
    /// In blocks, by the interpreter.
    Blocks,
    /// Instruction by instruction.
    Steps(&'a mut Trace),
    /// Twice, the second time as native code; the log is that of the second time.
    Native,
}

/// Another simulator that runs our programs.
pub trait Oracle {
    /// Its name in reports.
    fn name(&self) -> String;
    /// Whether it counts cycles as we do even where [`Sequence::timed`] says that others do not.
    fn exact(&self) -> bool {
        false
    }

    /// Runs `program`. `steps` is how many instructions our core took for each sequence.
    ///
    /// # Errors
    /// What went wrong with the process or the run.
    fn run(&mut self, program: &Program, steps: &[u32]) -> Result<Log, String>;
}

/// Reasons, each with beginnings of texts.
pub type LeftOut = &'static [(&'static str, &'static [&'static str])];

/// A core, its programs and its oracles.
pub trait Ground: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// Names of the values in a state; `cycles` comes last, if counted.
    fn value_names(&self) -> Vec<String>;
    /// The sequences of one program.
    fn sequences(&self, random: &mut Random) -> Vec<Sequence>;
    /// Assembles them into a program.
    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program;
    /// Our core's run.
    ///
    /// # Errors
    /// When it does not reach its end.
    fn ours(&self, program: &Program, way: Way<'_>) -> Result<Log, String>;
    /// The definitions of the core's table.
    fn rows(&self) -> Vec<TableRow>;
    /// Why no program has some instructions, and the beginnings of their texts.
    fn left_out(&self) -> LeftOut {
        &[]
    }
    /// Assembly text at an address, and the instruction's length in bytes.
    fn disassemble(&self, program: &Program, at: u32) -> (String, u32);
    /// Starts the oracles that are installed, and names what is missing for the others.
    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>>;
}

/// Everything that can be fuzzed.
pub fn grounds() -> Vec<Box<dyn Ground>> {
    let mut all: Vec<Box<dyn Ground>> = Vec::new();
    for board in [thumb::Board::M0, thumb::Board::M3, thumb::Board::M4] {
        all.push(Box::new(thumb::Arm(board)));
    }
    all.push(Box::new(riscv::Risc::<u32>::default()));
    all.push(Box::new(riscv::Risc::<u64>::default()));
    all.push(Box::new(xtensa::LX106));
    all.push(Box::new(xtensa::DE212));
    all.push(Box::new(avr::MEGA328P));
    all.push(Box::new(avr::MEGA1280));
    all.push(Box::new(msp430::Msp));
    all
}

/// More cycles than any program takes.
pub(crate) const BUDGET: u64 = 1 << 27;

/// The machine after `program`, which was loaded at `address` and ran until it stopped by itself.
pub(crate) fn run<C: Lower + 'static, T: Timing<C> + 'static>(
    mut machine: Machine<C, T>,
    address: u32,
    program: &Program,
    way: Way<'_>,
) -> Result<Machine<C, T>, String> {
    machine.load(&Image::of(address, program.image.clone()))?;
    let begin = |m: &mut Machine<C, T>| {
        m.reset();
        let memory = m.core.memory_mut();
        memory.ram.fill(0);
        memory.ram[..program.window.len()].copy_from_slice(&program.window);
        memory.host.from_chip.clear();
        memory.calls.clear();
    };
    begin(&mut machine);
    let stop = match way {
        Way::Blocks => machine.run(BUDGET),
        Way::Steps(trace) => step_through(&mut machine, program, trace),
        Way::Native => {
            // each end of a loop that becomes known drops all code; after this all are known
            machine.run(BUDGET);
            machine = machine.with_translator(native::translator(true), Some(1));
            begin(&mut machine);
            machine.run(BUDGET);
            begin(&mut machine);
            native::entered();
            let stop = machine.run(BUDGET);
            if native::entered() == 0 {
                return Err("native code was not entered".into());
            }
            stop
        }
    };
    match stop {
        Stop::Fault(f) if f.pc == program.end && matches!(f.kind, FaultKind::Trap | FaultKind::Unsupported { .. }) => {
            Ok(machine)
        }
        Stop::Fault(f) => Err(format!("our core stops: {f}: {}", machine.core.disassemble(f.pc).0)),
        other => Err(format!("our core stops: {other:?}")),
    }
}

fn step_through<C: Core, T: Timing<C>>(machine: &mut Machine<C, T>, program: &Program, trace: &mut Trace) -> Stop {
    trace.steps = vec![0; program.places.len()];
    let (mut k, mut seen) = (0, BTreeSet::new());
    loop {
        let pc = machine.core.pc();
        while program.places.get(k).is_some_and(|place| pc >= place.end) {
            k += 1;
        }
        if program.places.get(k).is_some_and(|place| place.contains(&pc)) {
            trace.steps[k] += 1;
            if seen.insert(pc) {
                trace.rows.extend(machine.core.row(pc));
            }
        }
        let stop = machine.step();
        if stop != Stop::Budget || machine.cycles > BUDGET {
            return stop;
        }
    }
}

/// A unique file name.
pub(crate) fn scratch(extension: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("lockstep-{}-{number}.{extension}", std::process::id()))
}

/// The result of a comparison.
#[derive(Debug)]
pub enum Outcome {
    /// All states agree.
    Same {
        /// Random instructions that were executed.
        instructions: u64,
    },
    /// The first difference, as a report.
    Different(String),
}

/// Runs one program on our core in blocks, stepped, translated if asked for, and on `oracles`.
///
/// # Errors
/// What went wrong with a run.
pub fn compare(
    ground: &dyn Ground,
    oracles: &mut [Box<dyn Oracle>],
    seed: u64,
    native: bool,
    met: &mut Met,
) -> Result<Outcome, String> {
    let mut random = Random::new(seed);
    let sequences = ground.sequences(&mut random);
    let program = ground.program(&sequences, &mut Random::new(seed));
    let mine = ground.ours(&program, Way::Blocks)?;
    let mut trace = Trace::default();
    let stepped = ground.ours(&program, Way::Steps(&mut trace))?;
    met.executed.append(&mut trace.rows);
    if differs(&mine, &stepped, &program, true).is_some() {
        let report = narrow(ground, &mut Stepped(ground), &sequences, seed)?;
        return Ok(Outcome::Different(report));
    }
    if native {
        let translated = ground.ours(&program, Way::Native).map_err(|e| format!("as native code: {e}"))?;
        met.native.append(&mut native::rows());
        if differs(&mine, &translated, &program, true).is_some() {
            let report = narrow(ground, &mut Translated(ground), &sequences, seed)?;
            return Ok(Outcome::Different(report));
        }
    }
    for oracle in oracles {
        let theirs = oracle.run(&program, &trace.steps).map_err(|e| format!("{}, seed {seed}: {e}", oracle.name()))?;
        if differs(&mine, &theirs, &program, oracle.exact()).is_some() {
            let report = narrow(ground, oracle.as_mut(), &sequences, seed)?;
            return Ok(Outcome::Different(report));
        }
    }
    Ok(Outcome::Same { instructions: trace.steps.iter().map(|&n| u64::from(n)).sum() })
}

/// Our core, one instruction after the other, as an oracle for itself.
struct Stepped<'a>(&'a dyn Ground);

impl Oracle for Stepped<'_> {
    fn name(&self) -> String {
        "our core, instruction by instruction".into()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&mut self, program: &Program, _: &[u32]) -> Result<Log, String> {
        self.0.ours(program, Way::Steps(&mut Trace::default()))
    }
}

/// Our core's native code as an oracle for the interpreter.
struct Translated<'a>(&'a dyn Ground);

impl Oracle for Translated<'_> {
    fn name(&self) -> String {
        "our core as native code".into()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&mut self, program: &Program, _: &[u32]) -> Result<Log, String> {
        self.0.ours(program, Way::Native)
    }
}

/// Where two runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    /// After this sequence.
    State(usize),
    /// At this byte of the window.
    Window(usize),
}

fn differs(mine: &Log, theirs: &Log, program: &Program, exact: bool) -> Option<Parting> {
    let same = |k: usize, a: &[u64], b: &[u64]| {
        // the last column of an untimed sequence does not count
        let n = if exact || program.timed[k] { b.len() } else { b.len().min(a.len().saturating_sub(1)) };
        a.len() >= b.len() && a[..n] == b[..n]
    };
    let states = mine.states.iter().zip(&theirs.states).enumerate();
    let first = states.into_iter().position(|(k, (a, b))| !same(k, a, b));
    if let Some(k) = first {
        return Some(Parting::State(k));
    }
    if mine.states.len() != theirs.states.len() {
        return Some(Parting::State(mine.states.len().min(theirs.states.len())));
    }
    let at = mine.window.iter().zip(&theirs.window).position(|(a, b)| a != b);
    at.or((mine.window.len() != theirs.window.len()).then_some(0)).map(Parting::Window)
}

/// Both runs of one program, and where they differ.
struct Pair {
    program: Program,
    mine: Log,
    theirs: Log,
    parting: Option<Parting>,
}

fn both(ground: &dyn Ground, oracle: &mut dyn Oracle, sequences: &[Sequence], seed: u64) -> Result<Pair, String> {
    let program = ground.program(sequences, &mut Random::new(seed));
    let mine = ground.ours(&program, Way::Blocks)?;
    let mut trace = Trace::default();
    ground.ours(&program, Way::Steps(&mut trace))?;
    let theirs = oracle.run(&program, &trace.steps)?;
    let parting = differs(&mine, &theirs, &program, oracle.exact());
    Ok(Pair { program, mine, theirs, parting })
}

/// Reduces `sequences` to the first instruction after which the runs differ, and reports it.
fn narrow(ground: &dyn Ground, oracle: &mut dyn Oracle, sequences: &[Sequence], seed: u64) -> Result<String, String> {
    let again = format!("fuzz --instructions 1 --seed {seed} {}", ground.name());
    let name = format!("{}, {} ({again})", ground.name(), oracle.name());
    let whole = both(ground, oracle, sequences, seed)?;
    let bad = match whole.parting {
        None => return Ok(format!("{name}: a difference that does not occur again")),
        Some(Parting::State(k)) => k,
        Some(Parting::Window(_)) => {
            // the shortest series of sequences that shows it
            let (mut good, mut end) = (0, sequences.len());
            while good + 1 < end {
                let middle = (good + end) / 2;
                match both(ground, oracle, &sequences[..middle], seed)?.parting {
                    Some(_) => end = middle,
                    None => good = middle,
                }
            }
            end - 1
        }
    };
    let Some(culprit) = sequences.get(bad) else { return Ok(format!("{name}: one of them ends too early")) };
    let mut before = culprit.start.clone();
    let mut run = |units: &[Vec<u8>]| {
        let last = Sequence { units: units.to_vec(), ..culprit.clone() };
        let shorter: Vec<Sequence> = sequences[..bad].iter().cloned().chain([last]).collect();
        both(ground, oracle, &shorter, seed)
    };
    for (n, unit) in culprit.units.iter().enumerate() {
        let pair = run(&culprit.units[..=n])?;
        let Some(parting) = pair.parting else {
            before.clone_from(&pair.mine.states[bad]);
            continue;
        };
        // instruction by instruction, as far as the unit can be cut and still ends
        let (mut good, mut at) = (0, 0);
        let start = pair.program.places[bad].end - unit.len() as u32;
        let cut = |good: usize, at: usize| {
            let (head, last) = (unit[..good].to_vec(), unit[good..at].to_vec());
            [&culprit.units[..n], &[head, last]].concat()
        };
        loop {
            at += ground.disassemble(&pair.program, start + at as u32).1.max(1) as usize;
            if at >= unit.len() {
                let text = report(ground, &cut(good, unit.len()), &pair, parting, bad, &before);
                return Ok(format!("{name}: {text}"));
            }
            let units = cut(good, at);
            let Ok(pair) = run(&units) else { continue };
            if let Some(parting) = pair.parting {
                let text = report(ground, &units, &pair, parting, bad, &before);
                return Ok(format!("{name}: {text}"));
            }
            before.clone_from(&pair.mine.states[bad]);
            good = at;
        }
    }
    let parting = whole.parting.unwrap_or(Parting::State(bad));
    Ok(format!("{name}: only as a whole: {}", report(ground, &culprit.units, &whole, parting, bad, &before)))
}

/// The instructions that lead to the difference after the last of `units`, which is marked, with the states there.
fn report(ground: &dyn Ground, units: &[Vec<u8>], pair: &Pair, parting: Parting, k: usize, before: &[u64]) -> String {
    let mut text = format!("sequence {k}; what is marked is the first that differs\n");
    let mut pc = pair.program.places[k].start;
    for (n, unit) in units.iter().enumerate() {
        let end = pc + unit.len() as u32;
        while pc < end {
            let (line, bytes) = ground.disassemble(&pair.program, pc);
            let mark = if n + 1 == units.len() { ">" } else { " " };
            let _ = writeln!(text, "{mark} {pc:#x}: {line}");
            pc += bytes.max(1);
        }
    }
    if let Parting::Window(at) = parting {
        let show = |log: &Log| log.window.get(at).map_or("none".to_owned(), |b| format!("{b:#x}"));
        let (ours, theirs) = (show(&pair.mine), show(&pair.theirs));
        let _ = writeln!(text, "byte {at:#x} of the window: ours {ours}, theirs {theirs}");
    }
    let none = Vec::new();
    let (mine, theirs) = (pair.mine.states.get(k).unwrap_or(&none), pair.theirs.states.get(k).unwrap_or(&none));
    let _ = writeln!(text, "{:>8} {:>18} {:>18} {:>18}", "", "before", "ours", "theirs");
    for (n, name) in ground.value_names().iter().enumerate() {
        let show = |state: &[u64]| state.get(n).map_or("-".to_owned(), |v| format!("{v:#x}"));
        let mark = if theirs.get(n).is_some_and(|v| mine.get(n) != Some(v)) { " <" } else { "" };
        let _ = writeln!(text, "{name:>8} {:>18} {:>18} {:>18}{mark}", show(before), show(mine), show(theirs));
    }
    text
}
