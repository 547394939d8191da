//! ARMv7-M against QEMU's mps2-an385 and mps2-an386 boards.
//!
//! A program is a row of sequences. Each one loads all registers and flags with chosen values, executes
//! a few random instructions and pushes the registers and flags on the stack, which thereby becomes
//! the log. Loads and stores go to a window of RAM that is compared as well. Instructions come from
//! the encodings of the instruction table with random fields.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use isa::{Core as _, Machine, Pattern};
use isa_thumb::{Class, Features, Step, Thumb, table};
use mcu::{Chip, FaultKind, Flash, Image, Memory, Region, Segment, Stop};
use timing::cortex_m3::CortexM3;

const RAM: u32 = 0x2000_0000;
const RAM_BYTES: u32 = 4 << 20;
const FLASH_BYTES: u32 = 4 << 20;
/// Loads and stores stay in this many bytes from the start of RAM.
const WINDOW: u32 = 0x4000;
/// Code starts here; random bytes before it are data for loads relative to the program counter.
const CODE: u32 = 0x2000;
/// Words that one sequence logs: APSR, r0 to r12, lr.
const WORDS: usize = 15;
/// Sequences in one program.
pub const BATCH: usize = 20_000;

/// A core that QEMU has a board for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Board {
    /// Cortex-M3.
    M3,
    /// Cortex-M4.
    M4,
}

impl Board {
    fn machine(self) -> &'static str {
        match self {
            Self::M3 => "mps2-an385",
            Self::M4 => "mps2-an386",
        }
    }

    fn features(self) -> Features {
        match self {
            Self::M3 => Features::CORTEX_M3,
            Self::M4 => Features::CORTEX_M4,
        }
    }

    /// Second halfword of MSR APSR, r0: all flags that the core has.
    fn set_flags(self) -> u16 {
        match self {
            Self::M3 => 0x8800,
            Self::M4 => 0x8C00,
        }
    }

    /// Flags of APSR.
    fn flags(self) -> u32 {
        match self {
            Self::M3 => 0xF800_0000,
            Self::M4 => 0xF80F_0000,
        }
    }
}

/// xorshift64*.
pub struct Random(u64);

impl Random {
    /// A generator; every seed gives another row of numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 | 1)
    }

    /// A random word.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }

    /// A value with a taste for the edges.
    fn value(&mut self) -> u32 {
        const EDGES: [u32; 12] = [0, 1, 2, 0x1F, 0x20, 0x21, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, !0];
        match self.below(8) {
            0..=1 => EDGES[self.below(12) as usize],
            2 => self.below(0x100),
            3 => self.word() >> self.below(32),
            4 => (self.word() as i32 >> self.below(32)) as u32,
            _ => self.word(),
        }
    }
}

/// One sequence: what the registers hold before it, and its units (an instruction, an IT block, a
/// branch with what it jumps over).
#[derive(Clone)]
pub struct Sequence {
    /// APSR, r0 to r12, lr.
    start: [u32; WORDS],
    units: Vec<Vec<u16>>,
}

/// What registers hold as far as the generator knows, one bit each.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Word addresses inside the window.
    aligned: u16,
    /// Addresses inside the window.
    pointer: u16,
    /// Numbers below 256.
    small: u16,
}

impl Known {
    fn clobber(&mut self, registers: u16) {
        self.aligned &= !registers;
        self.pointer &= !registers;
        self.small &= !registers;
    }
}

/// Makes sequences.
pub struct Generator {
    board: Board,
    random: Random,
    patterns: Vec<Pattern>,
    used: Vec<bool>,
    scratch: Thumb,
}

fn chip() -> Chip<'static> {
    Chip {
        core: "cortex-m3",
        clock_hz: 72_000_000,
        flash: Region { base: 0, size: FLASH_BYTES },
        flash_in_data: Some(0),
        ram: Region { base: RAM, size: RAM_BYTES },
        flash_timing: Flash::default(),
        peripherals: Vec::new(),
    }
}

fn scratch(board: Board) -> Thumb {
    let flash = Region { base: 0, size: 16 };
    let chip = Chip { flash, ram: Region { base: RAM, size: 16 }, ..chip() };
    Thumb::with_features(Memory::new(&chip).expect("the chip is possible"), board.features())
}

impl Generator {
    /// A generator with its own row of random numbers.
    pub fn new(board: Board, seed: u64) -> Self {
        let patterns: Vec<_> = table::patterns(board.features()).collect();
        let (used, scratch) = (vec![false; patterns.len()], scratch(board));
        Self { board, random: Random::new(seed), used, patterns, scratch }
    }

    /// Encodings that no sequence had so far.
    pub fn unused(&self) -> Vec<Pattern> {
        self.patterns.iter().zip(&self.used).filter(|(_, used)| !**used).map(|(p, _)| *p).collect()
    }

    /// A sequence of up to 10 units.
    pub fn sequence(&mut self) -> Sequence {
        let mut start = [0; WORDS];
        start[0] = self.random.word() & self.board.flags();
        let mut known = Known::default();
        for n in 0..14 {
            // position 13 is lr
            let bit = if n == 13 { 1 << 14 } else { 1 << n };
            start[1 + n] = match self.random.below(6) {
                0..=1 => {
                    known.aligned |= bit;
                    known.pointer |= bit;
                    RAM + 0x1000 + 4 * self.random.below(0x400)
                }
                2 if n % 2 == 0 => {
                    known.pointer |= bit;
                    RAM + 0x1000 + self.random.below(0x1000)
                }
                3 => {
                    known.small |= bit;
                    self.random.below(0x100)
                }
                _ => self.random.value(),
            };
        }
        let units = 1 + self.random.below(10);
        let units = (0..units).map(|_| self.unit(&mut known)).collect();
        Sequence { start, units }
    }

    fn unit(&mut self, known: &mut Known) -> Vec<u16> {
        match self.random.below(12) {
            0..=1 => self.guarded(known),
            2 => self.jumped_over(known),
            3 if self.random.below(4) == 0 => self.exclusive(known),
            4 => self.control(known),
            _ => self.plain(known, false),
        }
    }

    /// IT and its block.
    fn guarded(&mut self, known: &mut Known) -> Vec<u16> {
        let cond = self.random.below(14) as u16;
        let mask = 1 + self.random.below(15) as u16;
        let mut code = vec![0xBF00 | cond << 4 | mask];
        for _ in 0..4 - mask.trailing_zeros() {
            code.extend(self.plain(known, true));
        }
        code
    }

    /// A branch with a condition over one to three instructions.
    fn jumped_over(&mut self, known: &mut Known) -> Vec<u16> {
        let body: Vec<u16> = (0..1 + self.random.below(3)).flat_map(|_| self.plain(known, false)).collect();
        let over = body.len() as u16 - 1; // the offset counts from two halfwords behind the branch
        let mut code = match self.random.below(3) {
            0 => vec![0xB100 | (self.random.below(2) << 11) as u16 | over << 3 | self.random.below(8) as u16],
            1 => vec![0xD000 | (self.random.below(14) << 8) as u16 | over],
            _ => {
                // the 32-bit form is one halfword longer, and its offset counts from its own end
                let cond = self.random.below(14) as u16;
                vec![0xF000 | cond << 6, 0x8000 | (over + 1)]
            }
        };
        code.extend(body);
        code
    }

    /// Calls and returns of every kind, jumps, table branches, the stack.
    fn control(&mut self, known: &mut Known) -> Vec<u16> {
        // what the code around the body writes, and the body itself when it is jumped over, is unknown
        known.clobber(0xFF | 1 << 14);
        let body: Vec<u16> = (0..self.random.below(3)).flat_map(|_| self.plain(known, false)).collect();
        let n = body.len() as u16;
        let low = self.random.below(8) as u16;
        let list = 1 + self.random.below(255) as u16;
        // bl over the next branch; b.n over the function; the function
        let call = |enter: &[u16], leave: &[u16]| {
            let f = [enter, &body, leave].concat();
            [&[0xF000, 0xF801, 0xE000 | (f.len() as u16 - 1)], &f[..]].concat()
        };
        let keeps_lr = |code: &[u16]| !code.is_empty() && code.len() < 2 && code[0] & 0xF000 < 0x4000;
        match self.random.below(12) {
            0 => [&[0xF000, 0xF800 | n], &body[..]].concat(),              // bl
            1 => [&[0xF000, 0xB800 | n], &body[..]].concat(),              // b.w
            2 if n > 0 => [&[0xE000 | (n - 1)], &body[..]].concat(),       // b.n
            3 => call(&[0xB500 | list], &[0xBD00 | list]),                 // push, pop with pc
            4 => call(&[0xB500], &[0xF85D, 0xFB04]),                       // push {lr}; ldr pc, [sp], #4
            5 => call(&[0xE92D, 0x4000 | list], &[0xE8BD, 0x8000 | list]), // push.w, pop.w with pc
            6 if keeps_lr(&body) => call(&[], &[0x4770]),                  // bx lr
            7 if keeps_lr(&body) => call(&[], &[0x46F7]),                  // mov pc, lr
            8 if keeps_lr(&body) => call(&[], &[0x47F0]),                  // blx lr
            9 => {
                // movs; tbb [pc, r]; offsets of the body and of its end
                let to = [2, 2 + n][self.random.below(2) as usize];
                let table = [to | 2 << 8, 2 | to << 8];
                [&[0x2000 | low << 8 | self.random.below(4) as u16, 0xE8DF, 0xF000 | low], &table[..], &body[..]]
                    .concat()
            }
            10 => {
                let to = [2, 2 + n][self.random.below(2) as usize];
                [&[0x2000 | low << 8 | self.random.below(2) as u16, 0xE8DF, 0xF010 | low, to, 2 + n], &body[..]]
                    .concat()
            }
            _ => {
                // sub sp; str, ldr relative to sp; add sp; push, pop without pc
                let at = self.random.below(16) as u16;
                let other = self.random.below(8) as u16;
                vec![0xB090, 0x9000 | low << 8 | at, 0x9800 | other << 8 | at, 0xB010, 0xB400 | list, 0xBC00 | list]
            }
        }
    }

    /// LDREX and STREX to the same address, at times with CLREX between them.
    fn exclusive(&mut self, known: &mut Known) -> Vec<u16> {
        let bases: Vec<u16> = (0..13).filter(|n| known.aligned >> n & 1 == 1).collect();
        let others: Vec<u16> = (0..13).filter(|n| known.aligned >> n & 1 == 0).collect();
        if bases.is_empty() || others.len() < 3 {
            return self.plain(known, false);
        }
        let n = bases[self.random.below(bases.len() as u32) as usize];
        let t = others[0];
        let d = others[1];
        known.clobber(1 << t | 1 << d);
        let mut code = vec![0xE850 | n, t << 12 | 0xF00];
        if self.random.below(3) == 0 {
            code.extend([0xF3BF, 0x8F2F]);
        }
        code.extend([0xE840 | n, others[2] << 12 | d << 8]);
        code
    }

    /// One instruction that does not branch.
    fn plain(&mut self, known: &mut Known, guarded: bool) -> Vec<u16> {
        loop {
            let row = self.random.below(self.patterns.len() as u32) as usize;
            let p = self.patterns[row];
            let word = p.value | self.random.word() & !p.mask & (u64::MAX >> (64 - p.bits)) as u32;
            let code = if p.bits == 16 { vec![word as u16] } else { vec![(word >> 16) as u16, word as u16] };
            let (step, base) = self.look(&code);
            if usize::from(step.bytes) != 2 * code.len() || !self.allowed(&step, base, word, known, guarded) {
                continue;
            }
            known.clobber(step.writes);
            self.used[row] = true;
            return code;
        }
    }

    /// What the decoder makes of `code`, and its base register.
    fn look(&mut self, code: &[u16]) -> (Step, u8) {
        for (k, half) in code.iter().enumerate() {
            self.scratch.memory_mut().flash[2 * k..2 * k + 2].copy_from_slice(&half.to_le_bytes());
        }
        let run = self.scratch.decode(0, 1);
        (run.steps[0], run.insns[0].b)
    }

    fn allowed(&mut self, s: &Step, base: u8, word: u32, known: &Known, guarded: bool) -> bool {
        const SP_PC: u16 = 1 << 13 | 1 << 15;
        // WFE and WFI never end without interrupts; CLREX has its place in the exclusive sequences
        let waits = [0xBF20, 0xBF30, 0xF3AF_8002, 0xF3AF_8003, 0xF3BF_8F2F].contains(&word);
        if s.writes & SP_PC != 0 || waits {
            return false;
        }
        let indexed = word >> 12 == 5 || word & 0xFE00_0FC0 == 0xF800_0000;
        let index = s.address & !(1 << base);
        let single = s.address != 0 && known.pointer >> base & 1 == 1 && index & !known.small == 0;
        let single = single && (!indexed || index != 0);
        let aligned = s.address.count_ones() == 1 && s.address & !known.aligned == 0;
        match s.class {
            // MOVS of registers is not allowed in IT blocks
            Class::Alu => !(guarded && word >> 6 == 0),
            Class::Mul | Class::MulAdd | Class::MulLong | Class::MulLongAdd | Class::Div => true,
            Class::Load => (s.literal || single) && self.random.below(2) == 0,
            Class::Store => single,
            // a stored base is unknown unless it is the lowest register
            Class::StoreMultiple if word >> 16 == 0 => aligned && word & 0xFF & 1 << (word >> 8 & 7) == 0,
            Class::LoadMultiple | Class::StoreMultiple => aligned || s.literal,
            Class::LoadExclusive => aligned,
            // MRS and MSR of the flags only
            Class::System => word >> 16 != 0 && word & 0xFF <= 3,
            Class::Barrier => self.random.below(8) == 0,
            _ => false,
        }
    }
}

/// A program of sequences.
pub struct Program {
    board: Board,
    /// Content of flash.
    pub flash: Vec<u8>,
    /// Where the sequences' units start.
    places: Vec<u32>,
}

impl Program {
    /// Puts sequences together. `log` is the path that the oracle writes its RAM to.
    pub fn new(board: Board, sequences: &[Sequence], seed: u64, log: &Path) -> Self {
        let mut random = Random::new(seed ^ 0x5EED);
        let mut flash: Vec<u8> = (0..CODE).map(|_| random.word() as u8).collect();
        let top = RAM + RAM_BYTES;
        flash[..4].copy_from_slice(&top.to_le_bytes());
        flash[4..8].copy_from_slice(&(CODE + 1).to_le_bytes());
        let mut places = Vec::new();
        for s in sequences {
            place(board, &mut flash, s, &mut places);
        }
        while flash.len() % 4 != 0 {
            half(&mut flash, &[0xBF00]);
        }
        // faults of the oracle lead to the end
        let end = flash.len() as u32 + 1;
        for vector in 2..16 {
            flash[4 * vector..4 * vector + 4].copy_from_slice(&end.to_le_bytes());
        }
        finish(&mut flash, log);
        flash.extend((0..CODE).map(|_| random.word() as u8));
        assert!(flash.len() <= FLASH_BYTES as usize, "too many sequences for one program");
        Self { board, flash, places }
    }
}

fn half(flash: &mut Vec<u8>, code: &[u16]) {
    flash.extend(code.iter().flat_map(|h| h.to_le_bytes()));
}

fn place(board: Board, flash: &mut Vec<u8>, s: &Sequence, places: &mut Vec<u32>) {
    while flash.len() % 4 != 0 {
        half(flash, &[0xBF00]);
    }
    // b.n over the table, which follows at the next word
    half(flash, &[0xE000 | (WORDS as u16 * 2), 0xBF00]);
    flash.extend(s.start.iter().flat_map(|w| w.to_le_bytes()));
    // subw lr, pc, #64; ldr r0, [lr], #4; msr apsr, r0; ldmia lr, {r0-r12}; ldr lr, [lr, #52]
    half(flash, &[0xF2AF, 0x0E00 | (WORDS as u16 * 4 + 4)]);
    half(flash, &[0xF85E, 0x0B04, 0xF380, board.set_flags(), 0xE89E, 0x1FFF, 0xF8DE, 0xE034]);
    half(flash, &[0xF3BF, 0x8F2F]); // clrex
    places.push(flash.len() as u32);
    for unit in &s.units {
        half(flash, unit);
    }
    // push {r0-r12, lr}; mrs r0, apsr; push {r0}
    half(flash, &[0xE92D, 0x5FFF, 0xF3EF, 0x8000, 0xB401]);
}

/// Semihosting: opens the log, writes all RAM to it and exits. Our core stops at the first call.
fn finish(flash: &mut Vec<u8>, log: &Path) {
    let name = log.to_str().expect("the path is text");
    let base = flash.len() as u32;
    let words = base + 28; // behind the code
    let text = words + 36;
    #[rustfmt::skip]
    half(flash, &[
        0x4806, // +0  ldr r0, [pc, #24]: 1, SYS_OPEN
        0x4907, // +2  ldr r1, [pc, #28]: its block
        0xBEAB, // +4  bkpt 0xab
        0x4A07, // +6  ldr r2, [pc, #28]: a block in RAM
        0x6010, // +8  str r0, [r2]
        0x4B07, // +10 ldr r3, [pc, #28]: RAM
        0x6053, // +12 str r3, [r2, #4]
        0x4B07, // +14 ldr r3, [pc, #28]: its size
        0x6093, // +16 str r3, [r2, #8]
        0x2005, // +18 movs r0, #5: SYS_WRITE
        0x0011, // +20 movs r1, r2
        0xBEAB, // +22 bkpt 0xab
        0xE014, // +24 b.n to the end
        0xBF00, // +26
    ]);
    let exit = [1, words + 20, RAM + WINDOW, RAM, RAM_BYTES, text, 5, name.len() as u32, 0];
    flash.extend(exit.iter().flat_map(|w: &u32| w.to_le_bytes()));
    // the branch above leads behind the words, over the text
    let skip = (name.len() + 1).next_multiple_of(2);
    let at = base as usize + 24;
    let offset = (36 + skip as u32 + 28 - 24 - 4) / 2;
    flash[at..at + 2].copy_from_slice(&(0xE000 | offset as u16).to_le_bytes());
    flash.extend(name.bytes());
    flash.resize(text as usize + skip, 0);
    // movs r0, #0x18; movw r1, #0x26; movt r1, #2; bkpt 0xab; b .
    half(flash, &[0x2018, 0xF240, 0x0126, 0xF2C0, 0x0102, 0xBEAB, 0xE7FE]);
}

/// RAM after `program` on our core; with `stepping`, one instruction for each block.
///
/// # Errors
/// A sentence when the program does not fit.
pub fn ours(program: &Program, stepping: bool) -> Result<Vec<u8>, String> {
    let mut core = Thumb::with_features(Memory::new(&chip())?, program.board.features());
    core.events = CortexM3::events();
    let mut machine = Machine::new(core, CortexM3::new(Flash::default()));
    machine
        .load(&Image { segments: vec![Segment { address: 0, bytes: program.flash.clone() }], symbols: Vec::new() })?;
    let stop = loop {
        let stop = if stepping { machine.step() } else { machine.run(1 << 40) };
        if stop != Stop::Budget || !stepping {
            break stop;
        }
    };
    match stop {
        Stop::Fault(f) if f.kind == FaultKind::Trap => {}
        other => eprintln!("our core ended with {other:?}"),
    }
    Ok(machine.core.memory().ram.to_vec())
}

/// RAM after `program` on QEMU; none when it is not installed.
///
/// # Errors
/// What went wrong with the process.
pub fn qemu(program: &Program, log: &Path) -> Result<Option<Vec<u8>>, String> {
    let image = log.with_extension("img");
    std::fs::write(&image, &program.flash).map_err(|e| e.to_string())?;
    let child = Command::new("qemu-system-arm")
        .args(["-M", program.board.machine(), "-display", "none", "-serial", "none", "-monitor", "none"])
        .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
        .arg(&image)
        .stdin(Stdio::null())
        .output();
    let result = match child {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.to_string()),
        Ok(out) => {
            std::fs::read(log).map(Some).map_err(|e| format!("no log: {e}; {}", String::from_utf8_lossy(&out.stderr)))
        }
    };
    let _ = std::fs::remove_file(&image);
    let _ = std::fs::remove_file(log);
    result
}

/// Words that sequence `k` logged, in the order of [`Sequence::start`].
fn record(ram: &[u8], k: usize) -> [u32; WORDS] {
    let at = ram.len() - (k + 1) * 4 * WORDS;
    std::array::from_fn(|n| {
        let b = &ram[at + 4 * n..at + 4 * n + 4];
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    })
}

/// What a comparison came to.
pub enum Outcome {
    /// All states agree.
    Same,
    /// The oracle is not installed.
    NoOracle,
    /// The first difference, as a report.
    Different(String),
}

/// Runs `sequences` on both and compares; a difference is narrowed down to one instruction.
///
/// # Errors
/// What went wrong with a run.
pub fn compare(board: Board, sequences: &[Sequence], seed: u64) -> Result<Outcome, String> {
    let log = std::env::temp_dir().join(format!("lockstep-{}-{board:?}-{seed}.ram", std::process::id()));
    let program = Program::new(board, sequences, seed, &log);
    let Some(theirs) = qemu(&program, &log)? else { return Ok(Outcome::NoOracle) };
    let mine = ours(&program, false)?;
    let Some(bad) = (0..sequences.len()).find(|&k| record(&mine, k) != record(&theirs, k)) else {
        let written = WINDOW as usize;
        let at = (0..written).find(|&a| mine[a] != theirs[a]);
        return Ok(at.map_or(Outcome::Same, |a| Outcome::Different(format!("RAM differs at {:#x}", RAM + a as u32))));
    };
    // each prefix of the bad sequence, with what came before it
    let cut = |n: usize| Sequence { units: sequences[bad].units[..n].to_vec(), ..sequences[bad].clone() };
    for n in 1..=sequences[bad].units.len() {
        let shorter: Vec<Sequence> = sequences[..bad].iter().cloned().chain([cut(n)]).collect();
        let p = Program::new(board, &shorter, seed, &log);
        let Some(theirs) = qemu(&p, &log)? else { return Ok(Outcome::NoOracle) };
        let mine = ours(&p, false)?;
        if record(&mine, bad) != record(&theirs, bad) {
            return Ok(Outcome::Different(report(&shorter[bad], &p, bad, record(&mine, bad), record(&theirs, bad))));
        }
    }
    let found = report(&sequences[bad], &program, bad, record(&mine, bad), record(&theirs, bad));
    Ok(Outcome::Different(format!("only as a whole: {found}")))
}

fn report(s: &Sequence, p: &Program, k: usize, mine: [u32; WORDS], theirs: [u32; WORDS]) -> String {
    let memory = Memory::new(&chip()).expect("the chip is possible");
    let mut core = Thumb::with_features(memory, p.board.features());
    core.memory_mut().flash[..p.flash.len()].copy_from_slice(&p.flash);
    let mut text = format!("sequence {k}; the last unit is the first that differs\n");
    let mut pc = p.places[k];
    let end = pc + 2 * s.units.iter().map(Vec::len).sum::<usize>() as u32;
    while pc < end {
        let (line, bytes) = core.disassemble(pc);
        let _ = writeln!(text, "  {pc:#x}: {line}");
        pc += bytes;
    }
    let _ = writeln!(text, "  {:>4} {:>10} {:>10} {:>10}", "", "before", "ours", "oracle");
    for n in 0..WORDS {
        let name = match n {
            0 => "apsr".to_owned(),
            14 => "lr".to_owned(),
            n => format!("r{}", n - 1),
        };
        let mark = if mine[n] == theirs[n] { "" } else { " <" };
        let _ = writeln!(text, "  {name:>4} {:#010x} {:#010x} {:#010x}{mark}", s.start[n], mine[n], theirs[n]);
    }
    text
}
