//! Differential test: random programs here and in mspdebug's simulator, which runs as a program of
//! its own. Registers, SR and cycles are compared behind each instruction, RAM at the end.
//!
//! Left out is what the oracle and the manual (SLAU049F) see differently, found with this test:
//! V behind RRC (3.4.6 sets it when the sign changes, the oracle clears it), autoincrement of SP
//! by a byte instruction (3.2.2: always by two, there by one), cycles of instructions with a constant
//! from the generator (those of Rn, as the text of erratum CPU4 has it; there those of the mode that
//! encodes it), the byte above the one that PUSH.B stores (not touched here, cleared there), and PUSH #4 and #8 through the generator (erratum CPU4; here a fault).

mod common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use common::{FLASH, RAM, RAM_SIZE, Random};
use isa::Core as _;
use isa_msp430::table::{Class, TABLE, find};
use mcu::Stop;

/// Addressing mode bits.
const INDEXED: u16 = 1;
const INDIRECT: u16 = 2;
const INCREMENT: u16 = 3;

/// Register and mode of what needs no extension: SR and the constant generator.
const CONSTANTS_AND_SR: [(u16, u16); 7] = [(2, 0), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3)];

/// A program under construction.
struct Generator {
    random: Random,
    words: Vec<u16>,
    /// Instructions, at least.
    count: usize,
}

impl Generator {
    fn here(&self) -> u16 {
        FLASH as u16 + 2 * self.words.len() as u16
    }

    fn emit(&mut self, words: &[u16]) {
        self.words.extend_from_slice(words);
        self.count += 1;
    }

    fn load(&mut self, register: u16, value: u16) {
        self.emit(&[0x4030 | register, value]);
    }

    /// An even address in the middle of RAM.
    fn pointer(&mut self) -> u16 {
        RAM as u16 + 0x400 + self.random.below(0x1000) * 2
    }

    /// Pointers in SP and r4 to r7, now and then data in r8 to r15, and SR.
    fn seed(&mut self) {
        for register in [1, 4, 5, 6, 7] {
            let value = self.pointer();
            self.load(register, value);
        }
        for register in 8..16 {
            if self.random.below(3) == 0 {
                let value = match self.random.below(4) {
                    0 => [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x9999][self.random.below(9) as usize],
                    _ => self.random.word(),
                };
                self.load(register, value);
            }
        }
        if self.random.below(2) == 0 {
            let flags = self.random.word() & 0x010F;
            self.emit(&[0x4032, flags]);
        }
    }

    /// Four decimal digits.
    fn decimal(&mut self) -> u16 {
        (0..4).fold(0, |n, _| n << 4 | self.random.below(10))
    }

    /// A source: register, mode and extension. `at` is the extension's address.
    fn source(&mut self, byte: bool, at: u16) -> (u16, u16, Option<u16>) {
        let even = self.random.below(0x100) & if byte { !0 } else { !1 };
        match self.random.below(12) {
            0..=2 => (8 + self.random.below(8), 0, None),
            3 => {
                let (register, mode) = CONSTANTS_AND_SR[self.random.below(7) as usize];
                (register, mode, None)
            }
            4 => (0, INCREMENT, Some(self.random.word())),
            5 => (2, INDEXED, Some(self.pointer() + even % 2)),
            6 => (0, INDEXED, Some((self.pointer() + even % 2).wrapping_sub(at))),
            7 | 8 => ([1, 4, 5, 6, 7][self.random.below(5) as usize], INDEXED, Some(even.wrapping_sub(0x80))),
            9 => ([1, 4, 5, 6, 7][self.random.below(5) as usize], INDIRECT, None),
            _ if byte => (4 + self.random.below(4), INCREMENT, None),
            _ => ([1, 4, 5, 6, 7][self.random.below(5) as usize], INCREMENT, None),
        }
    }

    fn instruction(&mut self) {
        let row = &TABLE[self.random.below(TABLE.len() as u16) as usize];
        let byte = self.random.below(2) == 1;
        let base = row.pattern.value as u16;
        let at = self.here() + 2;
        match row.class {
            Class::Two if row.name() == "dadd" => {
                // undefined for anything but decimal digits (3.4.6, DADD)
                let (x, y) = (self.decimal(), self.decimal());
                self.load(8, x);
                self.load(9, y);
                let z = self.decimal();
                self.emit(&[base | u16::from(byte) << 6 | 8 << 8 | 9]);
                self.load(10, z);
                self.emit(&[base | u16::from(byte) << 6 | 0x0030 | 10, x]);
                let at = self.pointer();
                self.emit(&[0x4082 | 10 << 8, at]);
                self.emit(&[base | u16::from(byte) << 6 | 9 << 8 | 0x0082, at]);
            }
            Class::Two => {
                let mut words = vec![0];
                let (s, t, x) = self.source(byte, at);
                words.extend(x);
                let at = at + 2 * (words.len() as u16 - 1);
                let even = self.random.below(0x100) & if byte { !0 } else { !1 };
                let (d, a, y) = match self.random.below(8) {
                    0..=3 => (8 + self.random.below(8), 0, None),
                    4 => (2, 1, Some(self.pointer() + even % 2)),
                    5 => (0, 1, Some((self.pointer() + even % 2).wrapping_sub(at))),
                    _ => ([1, 4, 5, 6, 7][self.random.below(5) as usize], 1, Some(even.wrapping_sub(0x80))),
                };
                words.extend(y);
                words[0] = base | s << 8 | a << 7 | u16::from(byte) << 6 | t << 4 | d;
                self.emit(&words);
            }
            Class::One | Class::Push => {
                let sized = row.text.0.contains("{b}") && byte;
                let (s, t, x) = loop {
                    let (s, t, x) = self.source(sized, at);
                    let register_or_memory = s != 3 && (s != 2 || t == INDEXED) && (s, t) != (0, INCREMENT);
                    let pushable = row.class == Class::Push && (s != 2 || t == INDEXED);
                    if register_or_memory || pushable {
                        break (s, t, x);
                    }
                };
                let mut words = vec![base | u16::from(sized) << 6 | t << 4 | s];
                words.extend(x);
                self.emit(&words);
                if row.class == Class::Push && sized {
                    self.emit(&[0x43C1, 1]); // mov.b #0, 1(sp)
                }
            }
            Class::Jump => {
                // over an instruction of one word, which does not matter
                let k = self.random.below(3);
                self.emit(&[base | k]);
                for _ in 0..k {
                    let n = 8 + self.random.below(8);
                    self.emit(&[0x4308 | n]); // clr
                }
            }
            Class::Call => {
                let to = self.here();
                match self.random.below(3) {
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
                let flags = self.random.word() & 0x010F;
                let to = self.here() + 10;
                self.emit(&[0x1230, to]);
                self.emit(&[0x1230, flags]);
                self.emit(&[0x1300]);
            }
            Class::Seam => {}
        }
    }

    fn multiply(&mut self) {
        let first = 0x130 + 2 * self.random.below(4);
        let (x, y) = (8 + self.random.below(8), 8 + self.random.below(8));
        self.emit(&[0x4082 | x << 8, first]);
        self.emit(&[0x4082 | y << 8, 0x138]);
        for (n, from) in [0x13A, 0x13C, 0x13E].into_iter().enumerate() {
            self.emit(&[0x4210 | (8 + n as u16), from]);
        }
    }
}

/// Random instructions, pointers set anew before each.
fn program(seed: u64, instructions: usize) -> Vec<u16> {
    let mut g = Generator { random: Random(seed), words: Vec::new(), count: 0 };
    while g.count < instructions && g.words.len() < 0x5F00 {
        g.seed();
        if g.random.below(8) == 0 {
            g.multiply();
        }
        g.instruction();
    }
    g.words
}

fn ihex(words: &[u16]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut text = String::new();
    for (n, chunk) in bytes.chunks(16).enumerate() {
        let address = (FLASH as usize + 16 * n) as u16;
        let [high, low] = address.to_be_bytes();
        let mut record = vec![chunk.len() as u8, high, low, 0];
        record.extend(chunk);
        let sum = record.iter().fold(0u8, |s, b| s.wrapping_add(*b));
        record.push(sum.wrapping_neg());
        text.push(':');
        for b in record {
            let _ = write!(text, "{b:02X}");
        }
        text.push('\n');
    }
    text + ":00000001FF\n"
}

/// What the oracle shows: registers behind each step, the cycle count there, RAM at the end.
struct Oracle {
    states: Vec<([u16; 16], u64)>,
    ram: Vec<u8>,
}

fn oracle(name: &str, words: &[u16], steps: usize) -> Oracle {
    let hex = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.hex"));
    std::fs::write(&hex, ihex(words)).expect("the build directory is writable");
    let mut script = format!("prog {}\nfill {RAM:#x} {RAM_SIZE} 0\n", hex.display());
    script += "simio add tracer t\nsimio add hwmult m\nset pc 0x4000\n";
    for _ in 0..steps {
        script += "step\nsimio info t\n";
    }
    let _ = write!(script, "md {RAM:#x} {RAM_SIZE}\nexit\n");
    let mut child = Command::new("mspdebug")
        .args(["-q", "-n", "sim"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("mspdebug starts");
    let mut input = child.stdin.take().expect("it has an input");
    let feeder = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let out = child.wait_with_output().expect("mspdebug ends");
    let _ = feeder.join();
    let text = String::from_utf8_lossy(&out.stdout);

    let (mut states, mut ram) = (Vec::new(), vec![0; RAM_SIZE as usize]);
    let mut registers = [0u16; 16];
    let mut started = false;
    for line in text.lines() {
        if let Some(cycles) = line.trim().strip_prefix("MCLK:") {
            states.push((registers, cycles.trim().parse().expect("a number")));
        } else if line.contains("( PC:") {
            started = true;
        }
        if started && line.trim_start().starts_with('(') && !line.contains("mspdebug") {
            for part in line.split('(').skip(1) {
                let (name, rest) = part.split_once(':').expect("name and value");
                let value = u32::from_str_radix(rest.trim().trim_end_matches(')').trim(), 16).expect("a number");
                let n = match name.trim() {
                    "PC" => 0,
                    "SP" => 1,
                    "SR" => 2,
                    r => r[1..].parse().expect("a register"),
                };
                registers[n] = value as u16;
            }
        }
        // memory: "    01100: 00 11 .. |....|"
        let Some((address, rest)) = line.trim().split_once(": ") else { continue };
        if let (Ok(at), Some((bytes, _))) = (u32::from_str_radix(address, 16), rest.split_once('|')) {
            for (k, b) in bytes.split_whitespace().enumerate() {
                if let Some(slot) = at.checked_sub(RAM).and_then(|o| ram.get_mut(o as usize + k)) {
                    *slot = u8::from_str_radix(b, 16).expect("a byte");
                }
            }
        }
    }
    Oracle { states, ram }
}

fn have_mspdebug() -> bool {
    let found = Command::new("mspdebug").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: mspdebug is not installed");
    }
    found
}

/// Whether the oracle counts cycles of this first word differently: a constant from the generator as its
/// source, by mode bits that are not 0.
fn generated(word: u16) -> bool {
    let (register, mode) = match find(word).map(|r| r.class) {
        Some(Class::Two) => (word >> 8 & 15, word >> 4 & 3),
        Some(Class::One | Class::Push | Class::Call) => (word & 15, word >> 4 & 3),
        _ => return false,
    };
    register == 3 && mode != 0 || register == 2 && mode >= INDIRECT
}

/// Steps compared.
fn compare(name: &str, seed: u64, instructions: usize) -> usize {
    let words = program(seed, instructions);
    let steps = instructions * 9 / 10; // jumps pass some over
    let theirs = oracle(name, &words, steps);
    assert_eq!(theirs.states.len(), steps, "the oracle answers each step");
    let mut m = common::words(&words);
    let (mut cycles, mut their_cycles) = (0, 0);
    let mut v_unknown = false;
    let mut compared = 0;
    for (n, (registers, total)) in theirs.states.iter().enumerate() {
        let pc = m.core.pc();
        let (text, _) = m.core.disassemble(pc);
        let before = m.core.registers();
        let word = words[(pc - FLASH) as usize / 2];
        let stop = m.step();
        assert_eq!(stop, Stop::Budget, "step {n}: {text} at {pc:#x}");
        let mine: Vec<u16> = m.core.registers().iter().map(|&r| r as u16).collect();
        let place = || {
            format!(
                "seed {seed:#x} step {n}: {text} at {pc:#x}\nbefore {before:x?}\nours   {mine:x?}\noracle {registers:x?}"
            )
        };
        if text.starts_with("rrc") {
            v_unknown = true;
        }
        let mut other = *registers;
        if v_unknown {
            if (mine[2] ^ other[2]) & 0x0100 == 0 && !text.starts_with("rrc") {
                v_unknown = false;
            } else {
                // go on with the oracle's V
                other[2] = other[2] & !0x0100 | mine[2] & 0x0100;
                m.core.set_register(2, registers[2]);
                v_unknown = false;
            }
        }
        assert_eq!(mine, other, "{}", place());
        let (ours, oracles) = (m.cycles - cycles, total - their_cycles);
        if !generated(word) {
            assert_eq!(ours, oracles, "cycles, {}", place());
        }
        (cycles, their_cycles) = (m.cycles, *total);
        compared += 1;
    }
    for (k, (a, b)) in m.core.memory().ram.iter().zip(&theirs.ram).enumerate() {
        assert_eq!(a, b, "RAM at {:#x}", RAM as usize + k);
    }
    compared
}

#[test]
fn random_programs_agree_with_mspdebug() {
    if !have_mspdebug() {
        return;
    }
    let steps: usize = (0..4).map(|n| compare(&format!("short{n}"), 0x5EED + 977 * n, 5000)).sum();
    println!("{steps} steps");
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_agree_with_mspdebug() {
    if !have_mspdebug() {
        return;
    }
    let steps: usize = (0..60).map(|n| compare(&format!("long{n}"), 0xC0FFEE + 7919 * n, 9000)).sum();
    println!("{steps} steps");
}
