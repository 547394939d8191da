//! MSP430 against mspdebug's simulator, cycles included.
//! The oracle executes as many instructions as our core did for a sequence and shows its registers. Left out are cases
//! in which it and the manual (SLAU049F) differ: V after RRC (3.4.6 sets it when the sign changes, the oracle clears
//! it), autoincrement of SP by a byte instruction (3.2.2: always by two, there by one), cycles of instructions with a
//! constant from the generator (those of Rn, as the text of erratum CPU4 has it; there those of the mode that encodes
//! it), the byte above the one that PUSH.B stores (not touched here, cleared there), and PUSH #4 and #8 through the
//! generator (erratum CPU4; here a fault).

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use isa::{Core as _, Machine, TableRow};
use isa_msp430::table::{TABLE, find};
use isa_msp430::{Class, Msp430};
use mcu::{Chip, FaultKind, Image, Memory, PeripheralConfig, Stop};
use timing::msp430::Msp430F1;

use crate::qemu::have;
use crate::{BUDGET, Ground, Log, Oracle, Program, Random, Sequence, Way};

const FLASH: u32 = 0x4000;
const RAM: u32 = 0x1100;
const RAM_BYTES: u32 = 0x2800;
/// Sequences in one program.
const BATCH: usize = 300;
/// Registers that a sequence begins with; SR comes last, since MOV leaves it alone.
const LOADED: [u16; 14] = [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2];
/// Bytes of the instructions that load them, and their cycles: MOV #N, Rm (SLAU049F, table 3-16).
const HEAD: u32 = 4 * LOADED.len() as u32;
/// The word that ends a sequence on our core: not an instruction. The oracle is stopped before it.
const END: u16 = 0;

// addressing mode bits
const INDEXED: u16 = 1;
const INDIRECT: u16 = 2;
const INCREMENT: u16 = 3;

/// Register and mode of operands without extension: SR and the constant generator.
const CONSTANTS_AND_SR: [(u16, u16); 7] = [(2, 0), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3)];

/// An MSP430F1xx with its multiplier.
pub struct Msp;

fn machine() -> Machine<Msp430, Msp430F1> {
    let chip = Chip {
        peripherals: vec![PeripheralConfig { kind: "msp430-multiplier", base: 0x130, trigger_bit: None }],
        ..Chip::of_memories((FLASH, 0xC000), (RAM, RAM_BYTES))
    };
    Machine::new(Msp430::new(Memory::new(&chip).expect("the chip is possible")), Msp430F1)
}

/// Whether the oracle counts cycles of an instruction with this first word differently: a constant from the
/// generator as its source, by mode bits that are not 0.
fn generated(word: u16) -> bool {
    let (register, mode) = match find(word).map(|r| r.class()) {
        Some(Class::Two) => (word >> 8 & 15, word >> 4 & 3),
        Some(Class::One | Class::Push | Class::Call) => (word & 15, word >> 4 & 3),
        _ => return false,
    };
    register == 3 && mode != 0 || register == 2 && mode >= INDIRECT
}

/// The units of a sequence while they are generated.
struct Generator<'a> {
    random: &'a mut Random,
    at: u16,
    unit: Vec<u16>,
    /// Pointers that are currently odd.
    odd: u16,
    /// Whether constants from the generator may be used.
    constants: bool,
    timed: bool,
}

impl Generator<'_> {
    fn here(&self) -> u16 {
        self.at + 2 * self.unit.len() as u16
    }

    fn half(&mut self) -> u16 {
        self.random.word() as u16
    }

    fn below(&mut self, n: u16) -> u16 {
        self.random.below(n.into()) as u16
    }

    fn emit(&mut self, words: &[u16]) {
        self.timed &= !generated(words[0]);
        self.unit.extend_from_slice(words);
    }

    fn load(&mut self, register: u16, value: u16) {
        self.emit(&[0x4030 | register, value]);
    }

    /// An even address in the middle of RAM.
    fn pointer(&mut self) -> u16 {
        RAM as u16 + 0x400 + self.below(0x1000) * 2
    }

    /// Four decimal digits.
    fn decimal(&mut self) -> u16 {
        (0..4).fold(0, |n, _| n << 4 | self.below(10))
    }

    /// A register with a suitable pointer.
    fn base(&mut self, byte: bool) -> u16 {
        loop {
            let r = self.random.pick(&[1, 4, 5, 6, 7]);
            if byte || self.odd >> r & 1 == 0 {
                return r;
            }
        }
    }

    /// Follows a pointer through autoincrement.
    fn moves(&mut self, byte: bool, register: u16, mode: u16) {
        if byte && register >= 4 && mode == INCREMENT {
            self.odd ^= 1 << register;
        }
    }

    /// A source: register, mode and extension. `at` is the extension's address.
    fn source(&mut self, byte: bool, at: u16) -> (u16, u16, Option<u16>) {
        let even = self.below(0x100) & if byte { !0 } else { !1 };
        match self.below(12) {
            0..=2 => (8 + self.below(8), 0, None),
            3 => {
                let (register, mode) = self.random.pick(&CONSTANTS_AND_SR);
                if self.constants { (register, mode, None) } else { (2, 0, None) }
            }
            4 => (0, INCREMENT, Some(self.half())),
            5 => (2, INDEXED, Some(self.pointer() + even % 2)),
            6 => (0, INDEXED, Some((self.pointer() + even % 2).wrapping_sub(at))),
            7 | 8 => (self.base(byte), INDEXED, Some(even.wrapping_sub(0x80))),
            9 => (self.base(byte), INDIRECT, None),
            _ if byte => (4 + self.below(4), INCREMENT, None),
            _ => (self.base(false), INCREMENT, None),
        }
    }

    fn instruction(&mut self) {
        let row = &TABLE[self.random.below(TABLE.len() as u32) as usize];
        let byte = self.random.one_in(2);
        let base = row.pattern.value as u16;
        let sized = base | u16::from(byte) << 6;
        let at = self.here() + 2;
        match row.class() {
            Class::Two if row.name() == "dadd" => {
                // undefined for anything but decimal digits (3.4.6, DADD)
                let (x, y) = (self.decimal(), self.decimal());
                self.load(8, x);
                self.load(9, y);
                let z = self.decimal();
                self.emit(&[sized | 8 << 8 | 9]);
                self.load(10, z);
                self.emit(&[sized | 0x0030 | 10, x]);
                let at = self.pointer();
                self.emit(&[0x4082 | 10 << 8, at]);
                self.emit(&[sized | 9 << 8 | 0x0082, at]);
            }
            Class::Two => {
                let mut words = vec![0];
                let (s, t, x) = self.source(byte, at);
                words.extend(x);
                self.moves(byte, s, t);
                let at = at + 2 * (words.len() as u16 - 1);
                let even = self.below(0x100) & if byte { !0 } else { !1 };
                let (d, a, y) = match self.below(8) {
                    0..=3 => (8 + self.below(8), 0, None),
                    4 => (2, 1, Some(self.pointer() + even % 2)),
                    5 => (0, 1, Some((self.pointer() + even % 2).wrapping_sub(at))),
                    _ => (self.base(byte), 1, Some(even.wrapping_sub(0x80))),
                };
                words.extend(y);
                words[0] = sized | s << 8 | a << 7 | t << 4 | d;
                self.emit(&words);
            }
            Class::One | Class::Push => {
                let byte = row.text.0.contains("{b}") && byte;
                let (s, t, x) = loop {
                    let (s, t, x) = self.source(byte, at);
                    let register_or_memory = s != 3 && (s != 2 || t == INDEXED) && (s, t) != (0, INCREMENT);
                    let pushable = row.class() == Class::Push && (s != 2 || t == INDEXED);
                    if register_or_memory || pushable {
                        break (s, t, x);
                    }
                };
                let mut words = vec![base | u16::from(byte) << 6 | t << 4 | s];
                words.extend(x);
                self.moves(byte, s, t);
                self.emit(&words);
                if row.class() == Class::Push && byte {
                    self.emit(&[0x43C1, 1]); // mov.b #0, 1(sp)
                }
                if row.name() == "rrc" {
                    self.emit(&[0xC032, 0x0100]); // bic #V, sr
                }
            }
            Class::Jump => {
                // over instructions of one word
                let k = self.below(3);
                self.emit(&[base | k]);
                for _ in 0..k {
                    let n = 8 + self.below(8);
                    self.emit(&[0x4308 | n]); // clr
                }
            }
            Class::Call => {
                let to = self.here();
                match self.below(3) {
                    0 => self.emit(&[0x12B0, to + 4]),
                    1 => {
                        self.load(8, to + 6);
                        self.emit(&[0x1288]);
                    }
                    _ => {
                        // push, then return from a subroutine
                        self.emit(&[0x1230, to + 6]);
                        self.emit(&[0x4130]);
                    }
                }
            }
            Class::Return => {
                let flags = self.half() & 0x010F;
                let to = self.here() + 10;
                self.emit(&[0x1230, to]);
                self.emit(&[0x1230, flags]);
                self.emit(&[0x1300]);
            }
            Class::Seam => {}
        }
    }

    fn multiply(&mut self) {
        let first = 0x130 + 2 * self.below(4);
        let (x, y) = (8 + self.below(8), 8 + self.below(8));
        self.emit(&[0x4082 | x << 8, first]);
        self.emit(&[0x4082 | y << 8, 0x138]);
        for (n, from) in [0x13A, 0x13C, 0x13E].into_iter().enumerate() {
            self.emit(&[0x4210 | (8 + n as u16), from]);
        }
    }

    fn sequence(&mut self) -> Sequence {
        let start = LOADED.map(|r| match r {
            1 | 4..=7 => self.pointer().into(),
            2 => u64::from(self.half() & 0x010F),
            _ => self.random.value(16),
        });
        self.at += HEAD as u16;
        self.odd = 0;
        (self.constants, self.timed) = (self.random.one_in(2), true);
        let mut units = Vec::new();
        for _ in 0..1 + self.below(20) {
            self.unit.clear();
            if self.random.one_in(10) {
                self.multiply()
            } else {
                self.instruction()
            }
            self.at += 2 * self.unit.len() as u16;
            units.push(self.unit.iter().flat_map(|w| w.to_le_bytes()).collect());
        }
        self.at += 2;
        Sequence { start: state([0; 16], &start, 0), units, timed: self.timed }
    }
}

/// A state of registers, of which those in [`LOADED`] may be given separately.
fn state(mut registers: [u64; 16], loaded: &[u64], cycles: u64) -> Vec<u64> {
    LOADED.iter().zip(loaded).for_each(|(&r, &v)| registers[usize::from(r)] = v);
    registers.into_iter().chain([cycles]).collect()
}

impl Ground for Msp {
    fn name(&self) -> &'static str {
        "msp430"
    }

    fn value_names(&self) -> Vec<String> {
        let r = (3..16).map(|n| format!("r{n}"));
        ["pc", "sp", "sr"].map(str::to_owned).into_iter().chain(r).chain(["cycles".into()]).collect()
    }

    fn sequences(&self, random: &mut Random) -> Vec<Sequence> {
        let mut g = Generator { random, at: FLASH as u16, unit: Vec::new(), odd: 0, constants: false, timed: true };
        (0..BATCH).map(|_| g.sequence()).collect()
    }

    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program {
        let mut image: Vec<u8> = Vec::new();
        let mut places = Vec::new();
        for s in sequences {
            for r in LOADED {
                let load = [0x4030 | r, s.start[usize::from(r)] as u16];
                image.extend(load.iter().flat_map(|w| w.to_le_bytes()));
            }
            let start = FLASH + image.len() as u32;
            s.units.iter().for_each(|u| image.extend(u));
            places.push(start..FLASH + image.len() as u32);
            image.extend(END.to_le_bytes());
        }
        assert!(image.len() < 0xBFF0, "too many sequences for one program");
        let end = places.last().map_or(FLASH, |p| p.end);
        let window = random.bytes(RAM_BYTES as usize);
        let timed = sequences.iter().map(|s| s.timed).collect();
        Program { image, places, end, window, timed }
    }

    fn ours(&self, program: &Program, mut way: Way<'_>) -> Result<Log, String> {
        let mut machine = machine();
        machine.load(&Image::of(FLASH, program.image.clone()))?;
        machine.core.memory_mut().ram.copy_from_slice(&program.window);
        let mut states = Vec::new();
        for place in &program.places {
            machine.core.memory_mut().stop = None;
            machine.core.set_register(0, (place.start - HEAD) as u16);
            let (before, mut steps) = (machine.cycles, 0);
            let stop = match &mut way {
                Way::Blocks | Way::Native => machine.run(BUDGET),
                Way::Steps(trace) => loop {
                    let pc = machine.core.pc();
                    if place.contains(&pc) {
                        steps += 1;
                        trace.rows.extend(machine.core.row(pc));
                    }
                    let stop = machine.step();
                    if stop != Stop::Budget {
                        break stop;
                    }
                },
            };
            match stop {
                Stop::Fault(f) if f.pc == place.end && f.kind == (FaultKind::BadOpcode { word: END.into() }) => {}
                other => return Err(format!("our core stops: {other:?}")),
            }
            if let Way::Steps(trace) = &mut way {
                trace.steps.push(steps);
            }
            let mut registers = [0; 16];
            registers.iter_mut().zip(machine.core.registers()).for_each(|(r, v)| *r = v.into());
            registers[0] = place.end.into();
            states.push(state(registers, &[], machine.cycles - before));
        }
        Ok(Log { states, window: machine.core.memory().ram.to_vec() })
    }

    fn rows(&self) -> Vec<TableRow> {
        machine().core.rows()
    }

    fn disassemble(&self, program: &Program, at: u32) -> (String, u32) {
        let mut machine = machine();
        machine.core.memory_mut().flash[..program.image.len()].copy_from_slice(&program.image);
        machine.core.disassemble(at)
    }

    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>> {
        vec![if have("mspdebug") { Ok(Box::new(Mspdebug)) } else { Err("mspdebug is not installed".into()) }]
    }
}

struct Mspdebug;

impl Oracle for Mspdebug {
    fn name(&self) -> String {
        "mspdebug".into()
    }

    fn run(&mut self, program: &Program, steps: &[u32]) -> Result<Log, String> {
        let (image, window, result) = (crate::scratch("flash"), crate::scratch("ram"), crate::scratch("out"));
        std::fs::write(&image, &program.image).map_err(|e| e.to_string())?;
        std::fs::write(&window, &program.window).map_err(|e| e.to_string())?;
        let mut script = format!("load_raw {} {FLASH:#x}\nload_raw {} {RAM:#x}\n", image.display(), window.display());
        script += "simio add tracer t\nsimio add hwmult m\nset sr 0\n";
        for (place, steps) in program.places.iter().zip(steps) {
            let steps = steps + LOADED.len() as u32;
            let _ = write!(script, "set pc {:#x}\nstep {steps}\nsimio info t\n", place.start - HEAD);
        }
        let _ = write!(script, "save_raw {RAM:#x} {RAM_BYTES} {}\nexit\n", result.display());
        let commands = crate::scratch("txt");
        std::fs::write(&commands, script).map_err(|e| e.to_string())?;
        let out = Command::new("mspdebug")
            .args(["-q", "-n", "sim", &format!("read {}", commands.display())])
            .stdin(Stdio::null())
            .output();
        let ram = std::fs::read(&result);
        [&image, &window, &result, &commands].iter().for_each(|path| drop(std::fs::remove_file(path)));
        let out = out.map_err(|e| format!("mspdebug does not start: {e}"))?;
        let states = read(&String::from_utf8_lossy(&out.stdout))?;
        if states.len() != program.places.len() {
            return Err(format!("mspdebug gives {} states", states.len()));
        }
        Ok(Log { states, window: ram.map_err(|e| format!("mspdebug saved no memory: {e}"))? })
    }
}

/// States from mspdebug's output: registers as last shown before each line with a cycle count.
fn read(text: &str) -> Result<Vec<Vec<u64>>, String> {
    let (mut states, mut before) = (Vec::new(), 0);
    let mut registers = [0; 16];
    for line in text.lines() {
        let line = line.trim();
        if let Some(cycles) = line.strip_prefix("MCLK:") {
            let cycles: u64 = cycles.trim().parse().map_err(|e| format!("{line}: {e}"))?;
            states.push(state(registers, &[], cycles - before));
            before = cycles;
        }
        // ( PC: 04000)  ( R4: 00000)  ...
        let shown = line.starts_with('(') && line.contains(": ");
        for part in line.split('(').skip(1).filter(|_| shown) {
            let Some((name, rest)) = part.split_once(':') else { continue };
            let n = match name.trim() {
                "PC" => Some(0),
                "SP" => Some(1),
                "SR" => Some(2),
                r => r.strip_prefix('R').and_then(|r| r.parse::<usize>().ok()),
            };
            let value = u64::from_str_radix(rest.trim().trim_end_matches(')').trim(), 16);
            if let (Some(n), Ok(value)) = (n.filter(|&n| n < 16), value) {
                registers[n] = value;
            }
        }
    }
    Ok(states)
}
