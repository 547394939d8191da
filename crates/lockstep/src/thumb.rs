//! ARMv6-M and ARMv7-M against QEMU's microbit, mps2-an385 and mps2-an386 boards.
//!
//! The stack is the log: each sequence pushes its state. Instructions come from the encodings of the
//! instruction table with random fields.

mod generate;

use isa::{Core as _, Machine, TableRow};
use isa_thumb::{Features, Thumb};
use mcu::{Chip, Flash, Memory};
use timing::cortex_m3::CortexM3;

use self::generate::Generator;
use crate::qemu::{Session, oracle, words};
use crate::{Ground, LeftOut, Log, Oracle, Program, Random, Sequence, Way, run};

const RAM: u32 = 0x2000_0000;
/// Code starts here; random bytes before it are data for loads relative to the program counter.
const CODE: u32 = 0x2000;
/// Words that one sequence logs: r8 to r12, APSR, r0 to r7, lr.
const WORDS: usize = 15;
/// Index among these words of each name: APSR, r0 to r12, lr.
const PLACES: [usize; WORDS] = [5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 2, 3, 4, 14];

/// A core that QEMU has a board for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Board {
    /// Cortex-M0.
    M0,
    /// Cortex-M3.
    M3,
    /// Cortex-M4.
    M4,
}

impl Board {
    fn machine(self) -> &'static str {
        match self {
            Self::M0 => "microbit",
            Self::M3 => "mps2-an385",
            Self::M4 => "mps2-an386",
        }
    }

    fn features(self) -> Features {
        match self {
            Self::M0 => Features::CORTEX_M0PLUS,
            Self::M3 => Features::CORTEX_M3,
            Self::M4 => Features::CORTEX_M4,
        }
    }

    /// Second halfword of MSR APSR, r0: all flags that the core has.
    fn set_flags(self) -> u16 {
        match self {
            Self::M0 | Self::M3 => 0x8800,
            Self::M4 => 0x8C00,
        }
    }

    /// Flags of APSR.
    fn flags(self) -> u32 {
        match self {
            Self::M0 => 0xF000_0000,
            Self::M3 => 0xF800_0000,
            Self::M4 => 0xF80F_0000,
        }
    }

    /// Sequences in one program.
    fn batch(self) -> usize {
        if self == Self::M0 { 180 } else { 1000 }
    }

    fn flash(self) -> u32 {
        if self == Self::M0 { 0x4_0000 } else { 0x10_0000 }
    }

    fn ram(self) -> u32 {
        if self == Self::M0 { 0x4000 } else { 0x4_0000 }
    }

    /// Loads and stores stay in this many bytes from the start of RAM.
    fn window(self) -> u32 {
        if self == Self::M0 { 0x800 } else { 0x4000 }
    }

    /// Chooses a word address from which every access is inside the window.
    fn pointer(self, random: &mut Random) -> u32 {
        let (from, words) = if self == Self::M0 { (0x100, 0x100) } else { (0x1000, 0x400) };
        RAM + from + 4 * random.below(words)
    }

    fn core(self, image: &[u8]) -> Thumb {
        let chip = Chip::of_memories((0, self.flash()), (RAM, self.ram()));
        let mut core = Thumb::with_features(Memory::new(&chip).expect("the chip is possible"), self.features());
        core.memory_mut().flash[..image.len()].copy_from_slice(image);
        core.events = CortexM3::events();
        core
    }
}

/// A core with QEMU's board for it.
pub struct Arm(pub Board);

fn half(flash: &mut Vec<u8>, code: &[u16]) {
    flash.extend(code.iter().flat_map(|h| h.to_le_bytes()));
}

impl Arm {
    fn place(&self, flash: &mut Vec<u8>, s: &Sequence) {
        while flash.len() % 4 != 0 {
            half(flash, &[0xBF00]);
        }
        let begin = flash.len();
        let clear = self.0 != Board::M0;
        let table = begin + if clear { 56 } else { 52 };
        // ldr rt, =what the state holds at n
        let load = |flash: &mut Vec<u8>, t: u16, n: usize| {
            let offset = table + 4 * n - ((flash.len() + 4) & !3);
            half(flash, &[0x4800 | t << 8 | (offset / 4) as u16]);
        };
        for (r, n) in [(8u16, 9), (9, 10), (10, 11), (11, 12), (12, 13), (14, 14)] {
            load(flash, 0, n);
            half(flash, &[0x4680 | (r & 8) << 4 | r & 7]); // mov high, r0
        }
        load(flash, 0, 0);
        half(flash, &[0xF380, self.0.set_flags()]); // msr apsr, r0
        (0..8).for_each(|r| load(flash, r, 1 + usize::from(r)));
        if clear {
            half(flash, &[0xF3BF, 0x8F2F]); // clrex
        }
        half(flash, &[0xBF00, 0xE000 | (WORDS as u16 * 2), 0xBF00]); // b over the table
        assert_eq!(flash.len(), table, "the table is where the loads look");
        flash.extend(s.start.iter().flat_map(|&w| (w as u32).to_le_bytes()));
    }
}

impl Ground for Arm {
    fn name(&self) -> &'static str {
        match self.0 {
            Board::M0 => "armv6-m",
            Board::M3 => "armv7-m",
            Board::M4 => "armv7e-m",
        }
    }

    fn value_names(&self) -> Vec<String> {
        let r = (0..13).map(|n| format!("r{n}"));
        std::iter::once("apsr".into()).chain(r).chain(["lr".into()]).collect()
    }

    fn sequences(&self, random: &mut Random) -> Vec<Sequence> {
        let mut generator = Generator::new(self.0, random);
        (0..self.0.batch()).map(|_| generator.sequence()).collect()
    }

    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program {
        let board = self.0;
        let window = random.bytes(board.window() as usize);
        let mut flash = random.bytes(CODE as usize);
        let top = RAM + board.ram();
        // ldr r0, [pc, #4]; mov sp, r0; b over the word
        half(&mut flash, &[0x4801, 0x4685, 0xE002, 0xBF00]);
        flash.extend(top.to_le_bytes());
        let mut places = Vec::new();
        for s in sequences {
            self.place(&mut flash, s);
            let start = flash.len() as u32;
            s.units.iter().for_each(|u| flash.extend(u));
            places.push(start..flash.len() as u32);
            // push {r0-r7, lr}; mov r0-r4, r8-r12; mrs r5, apsr; push {r0-r5}
            half(&mut flash, &[0xB5FF, 0x4640, 0x4649, 0x4652, 0x465B, 0x4664, 0xF3EF, 0x8500, 0xB43F]);
        }
        let end = flash.len() as u32;
        half(&mut flash, &[0xBE00, 0xE7FE]); // bkpt; b .
        flash.extend(random.bytes(CODE as usize));
        // faults of the oracle lead to the end
        let vectors = [top, CODE | 1].into_iter().chain(std::iter::repeat_n(end | 1, 14));
        vectors.enumerate().for_each(|(n, v)| flash[4 * n..4 * n + 4].copy_from_slice(&v.to_le_bytes()));
        assert!(flash.len() <= board.flash() as usize, "too many sequences for one program");
        Program { image: flash, places, end, window, timed: vec![true; sequences.len()] }
    }

    fn ours(&self, program: &Program, way: Way<'_>) -> Result<Log, String> {
        let machine = Machine::new(self.0.core(&[]), CortexM3::new(Flash::default()));
        let machine = run(machine, 0, program, way)?;
        Ok(log(self.0, program, &machine.core.memory().ram))
    }

    fn rows(&self) -> Vec<TableRow> {
        self.0.core(&[]).rows()
    }

    fn left_out(&self) -> LeftOut {
        &[
            ("ends the program", &["bkpt", "svc", "udf"]),
            ("waits for ever where there are no interrupts", &["wfe", "wfi"]),
            ("needs to know where it is", &["ldr.w pc, [pc"]),
        ]
    }

    fn disassemble(&self, program: &Program, at: u32) -> (String, u32) {
        self.0.core(&program.image).disassemble(at)
    }

    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>> {
        let board = self.0;
        vec![oracle(
            format!("QEMU {}", board.machine()),
            move || start(board),
            move |q, program| {
                q.write(0, &program.image)?;
                q.write(RAM, &program.window)?;
                q.go(CODE | 1, &[program.end])?;
                let logged = program.places.len() * 4 * WORDS;
                let mut ram = q.read(RAM, board.window() as usize)?;
                ram.resize(board.ram() as usize - logged, 0);
                ram.extend(q.read(RAM + board.ram() - logged as u32, logged)?);
                Ok(log(board, program, &ram))
            },
        )]
    }
}

/// States and window from all of RAM.
fn log(board: Board, program: &Program, ram: &[u8]) -> Log {
    let state = |k: usize| {
        let at = board.ram() as usize - (k + 1) * 4 * WORDS;
        let row = words(&ram[at..at + 4 * WORDS]);
        PLACES.iter().map(|&p| row[p]).collect()
    };
    Log { states: (0..program.places.len()).map(state).collect(), window: ram[..board.window() as usize].to_vec() }
}

/// Starts QEMU with a vector table for reset, which the first program replaces.
fn start(board: Board) -> Result<Session, String> {
    let kernel = crate::scratch("img");
    std::fs::write(&kernel, [0, 1, 0, 0x20, 0x41, 0, 0, 0].repeat(16)).map_err(|e| e.to_string())?;
    let path = kernel.to_str().expect("the path is text");
    let session = Session::start("qemu-system-arm", &["-M", board.machine(), "-kernel", path]);
    let _ = std::fs::remove_file(&kernel);
    session
}
