//! Differential test: random programs here and in QEMU, which runs as a program of its own.
//!
//! QEMU logs all registers before each instruction; ours are compared with them one by one, and once more
//! at the end of a run in blocks. At its end a program reads all of the memory that it used.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{CODE, DATA, Random, have, machine, scratch};
use isa::Core as _;
use isa_riscv::Word;
use mcu::{FaultKind, Image, Stop};

/// Bytes of memory that a program uses.
const WINDOW: u32 = 512;

/// Ends QEMU through the virt machine's test device; ours stops, since there is nothing at its address.
const END: &str = "\tli x5, 0x100000\n\tli x6, 0x5555\n\tsw x6, 0(x5)\nhang:\tj hang\n";

/// A program: the assembly text so far.
struct Generator {
    random: Random,
    wide: bool,
    text: String,
    label: u32,
}

const ALU: [&str; 10] = ["add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and"];
const ALU_I: [&str; 6] = ["addi", "slti", "sltiu", "xori", "ori", "andi"];
const SHIFT_I: [&str; 3] = ["slli", "srli", "srai"];
const MULDIV: [&str; 8] = ["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"];
const ALU_W: [&str; 5] = ["addw", "subw", "sllw", "srlw", "sraw"];
const SHIFT_IW: [&str; 3] = ["slliw", "srliw", "sraiw"];
const MULDIV_W: [&str; 5] = ["mulw", "divw", "divuw", "remw", "remuw"];
const BRANCH: [&str; 6] = ["beq", "bne", "blt", "bge", "bltu", "bgeu"];
const AMO: [&str; 9] = ["swap", "add", "xor", "and", "or", "min", "max", "minu", "maxu"];
const LOADS: [(&str, u32); 5] = [("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)];
const LOADS_64: [(&str, u32); 2] = [("lwu", 4), ("ld", 8)];
const STORES: [(&str, u32); 3] = [("sb", 1), ("sh", 2), ("sw", 4)];
const EDGES: [i64; 9] = [0, 1, -1, 2, 0x7FFF_FFFF, -0x8000_0000, 0x8000_0000, i64::MIN, i64::MAX];

impl Generator {
    fn new(seed: u64, wide: bool) -> Self {
        Self { random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1), wide, text: String::new(), label: 0 }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len() as u32) as usize]
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "\t{text}");
    }

    /// Any register, those that compressed forms like more often.
    fn any(&mut self) -> u32 {
        match self.random.below(2) {
            0 => self.random.below(32),
            _ => 8 + self.random.below(8),
        }
    }

    /// A register that is not `x0` and not `but`.
    fn other(&mut self, but: u32) -> u32 {
        loop {
            let r = self.any();
            if r != 0 && r != but {
                return r;
            }
        }
    }

    fn imm(&mut self) -> i32 {
        match self.random.below(2) {
            0 => self.random.below(4096) as i32 - 2048,
            _ => self.random.below(64) as i32 - 32,
        }
    }

    /// An instruction without preconditions that does not write `but`.
    fn simple(&mut self, but: u32) {
        let d = loop {
            let d = self.any();
            if d != but || but == 0 {
                break d;
            }
        };
        let (s, t) = (if self.random.below(3) == 0 { d } else { self.any() }, self.any());
        let (imm, bits) = (self.imm(), if self.wide { 64 } else { 32 });
        let text = match self.random.below(if self.wide { 17 } else { 12 }) {
            0..=2 => format!("{} x{d}, x{s}, x{t}", self.pick(&ALU)),
            3 | 4 => format!("{} x{d}, x{s}, {imm}", self.pick(&ALU_I)),
            5 => format!("{} x{d}, x{s}, {}", self.pick(&SHIFT_I), self.random.below(bits)),
            6 => format!("{} x{d}, x{s}, x{t}", self.pick(&MULDIV)),
            7 => format!("{} x{d}, {:#x}", self.pick(&["lui", "auipc"]), self.random.next() >> 12),
            8 => format!("li x{d}, {imm}"),
            9 => format!("mv x{d}, x{t}"),
            10 => {
                let value = self.pick(&EDGES);
                format!("li x{d}, {}", if self.wide { value } else { i64::from(value as i32) })
            }
            11 => match self.random.below(8) {
                0 => "fence".into(),
                1 => "fence.i".into(),
                2 => format!("csrr x{d}, mhartid"),
                3 => format!("addi sp, sp, {}", 16 * (imm % 32)),
                4 => format!("addi x{d}, sp, {}", 4 * imm.unsigned_abs() % 1024),
                _ => format!("lui x{d}, {}", 1 + self.random.below(31)),
            },
            12 | 13 => format!("{} x{d}, x{s}, x{t}", self.pick(&ALU_W)),
            14 => format!("addiw x{d}, x{s}, {imm}"),
            15 => format!("{} x{d}, x{s}, {}", self.pick(&SHIFT_IW), self.random.below(32)),
            _ => format!("{} x{d}, x{s}, x{t}", self.pick(&MULDIV_W)),
        };
        let text = if but == 2 { text.replace("addi sp, sp", "addi x8, sp") } else { text };
        self.line(&text);
    }

    /// Loads and stores around a pointer into the window.
    fn memory(&mut self) {
        let p = if self.random.below(3) == 0 { 2 } else { self.other(0) };
        let at = 8 * self.random.below(WINDOW / 8);
        self.line(&format!("li x{p}, {:#x}", DATA + at));
        for _ in 0..=self.random.below(4) {
            let load = self.random.below(2) == 0;
            let (name, bytes) = match (load, self.wide && self.random.below(3) == 0) {
                (true, true) => self.pick(&LOADS_64),
                (true, false) => self.pick(&LOADS),
                (false, true) => ("sd", 8),
                (false, false) => self.pick(&STORES),
            };
            let to = if load { self.other(p) } else { self.any() };
            // within the window, and often small and positive as compressed forms want it
            let place = match self.random.below(2) {
                0 => self.random.below(WINDOW / bytes) * bytes,
                _ => (at + bytes * self.random.below(16)) % WINDOW / bytes * bytes,
            };
            self.line(&format!("{name} x{to}, {}(x{p})", place as i32 - at as i32));
            if self.random.below(2) == 0 {
                self.simple(p);
            }
        }
    }

    fn atomic(&mut self) {
        let p = self.other(0);
        let at = DATA + 8 * self.random.below(WINDOW / 8);
        self.line(&format!("li x{p}, {at:#x}"));
        let size = if self.wide { self.pick(&["w", "d"]) } else { "w" };
        let order = self.pick(&["", ".aq", ".rl", ".aqrl"]);
        let (d, t) = (self.other(p), self.any());
        if self.random.below(3) == 0 {
            self.line(&format!("lr.{size} x{d}, (x{p})"));
            let status = self.any();
            self.line(&format!("sc.{size} x{status}, x{t}, (x{p})"));
        } else {
            let name = self.pick(&AMO);
            self.line(&format!("amo{name}.{size}{order} x{d}, x{t}, (x{p})"));
        }
    }

    fn control(&mut self) {
        self.label += 1;
        let l = self.label;
        match self.random.below(5) {
            0 | 1 => {
                let (name, s) = (self.pick(&BRANCH), self.any());
                let t = if self.random.below(3) == 0 { 0 } else { self.any() };
                self.line(&format!("{name} x{s}, x{t}, 1{l}f"));
                (0..self.random.below(4)).for_each(|_| self.simple(0));
            }
            2 => {
                let counter = self.other(0);
                let rounds = 1 + self.random.below(5);
                self.line(&format!("li x{counter}, {rounds}"));
                let _ = writeln!(self.text, "2{l}:");
                (0..self.random.below(3)).for_each(|_| self.simple(counter));
                self.line(&format!("addi x{counter}, x{counter}, -1"));
                self.line(&format!("bnez x{counter}, 2{l}b"));
            }
            3 => {
                let names: &[&str] =
                    if self.wide { &["jal x5,", "jal", "c.j"] } else { &["jal x9,", "j", "c.j", "c.jal"] };
                let name = self.pick(names);
                self.line(&format!("{name} 1{l}f"));
                self.simple(0);
            }
            _ => {
                let (p, d) = (self.other(0), self.pick(&[0, 0, 1, 1, 7]));
                let offset = self.pick(&[0, 0, 0, 1, 4, -6]);
                self.line(&format!("la x{p}, 1{l}f - {offset}"));
                match (d, offset) {
                    (0, 0) => self.line(&format!("c.jr x{p}")),
                    (1, 0) => self.line(&format!("c.jalr x{p}")),
                    _ => self.line(&format!("jalr x{d}, {offset}(x{p})")),
                }
                self.simple(0);
            }
        }
        let _ = writeln!(self.text, "1{l}:");
    }

    fn program(mut self, groups: u32) -> String {
        for n in 1..32 {
            let value = u64::from(self.random.next()) << 32 | u64::from(self.random.next());
            let value = if self.wide { value } else { value & 0xFFFF_FFFF };
            self.line(&format!("li x{n}, {value:#x}"));
        }
        self.line(".globl begin\nbegin:");
        for _ in 0..groups {
            match self.random.below(10) {
                0 | 1 => self.memory(),
                2 => self.atomic(),
                3 => self.control(),
                _ => self.simple(0),
            }
        }
        self.line(&format!("li x5, {DATA:#x}\n\tli x6, {:#x}", DATA + WINDOW));
        self.line("1:\tlw x7, 0(x5)\n\taddi x5, x5, 4\n\tbltu x5, x6, 1b");
        let head = "\t.text\n\t.option norelax\n\t.globl _start\n_start:\n";
        format!("{head}{}{END}", self.text)
    }
}

fn assemble(dir: &Path, text: &str, bits: u32) -> PathBuf {
    let (source, elf) = (dir.join("random.S"), dir.join("random.elf"));
    std::fs::write(&source, text).expect("the build directory is writable");
    let abi = if bits == 64 { "lp64" } else { "ilp32" };
    let done = Command::new("riscv64-unknown-elf-gcc")
        .args([&format!("-march=rv{bits}imac_zicsr_zifencei"), &format!("-mabi={abi}"), "-nostdlib", "-nostartfiles"])
        .arg(format!("-Wl,-Ttext={CODE:#x},--nmagic"))
        .arg(&source)
        .arg("-o")
        .arg(&elf)
        .output()
        .expect("the compiler starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    elf
}

/// Program counter and x0 to x31 before each instruction.
type State = (u64, Vec<u64>);

fn qemu(elf: &Path, bits: u32) -> Vec<State> {
    let log = elf.with_extension("log");
    let mut child = Command::new(format!("qemu-system-riscv{bits}"))
        .args(["-M", "virt", "-bios", "none", "-display", "none", "-serial", "none", "-monitor", "none"])
        .args(["-singlestep", "-d", "cpu,nochain", "-D"])
        .arg(&log)
        .arg("-kernel")
        .arg(elf)
        .stdin(Stdio::null())
        .spawn()
        .expect("QEMU starts");
    let limit = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("QEMU can be waited for").is_none() {
        if Instant::now() > limit {
            child.kill().expect("QEMU ends");
            panic!("QEMU does not come to an end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = std::fs::read_to_string(&log).expect("QEMU wrote its log");
    let _ = std::fs::remove_file(&log);
    let mut states: Vec<State> = Vec::new();
    let number = |t: &str| u64::from_str_radix(t, 16).expect("a number");
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("pc") => states.push((words.next().map_or(0, number), Vec::new())),
            Some(first) if first.starts_with('x') && first.contains('/') => {
                let values = std::iter::once(first).chain(words).skip(1).step_by(2);
                states.last_mut().expect("the program counter comes first").1.extend(values.map(number));
            }
            _ => {}
        }
    }
    states
}

fn show(state: &[u64]) -> String {
    state.iter().enumerate().map(|(n, v)| format!("x{n}={v:x} ")).collect()
}

fn compare<X: Word>(seed: u64, groups: u32, seen: &mut BTreeSet<String>) -> usize {
    let dir = scratch(&format!("qemu-{}-{seed}", X::BITS));
    let elf = assemble(&dir, &Generator::new(seed, X::BITS == 64).program(groups), X::BITS);
    let image = Image::parse(&std::fs::read(&elf).expect("the linker wrote it")).expect("an image");
    let begin = image.address("begin").expect("the symbol is there");

    let theirs = qemu(&elf, X::BITS);
    let first = theirs.iter().position(|s| s.0 == u64::from(begin)).expect("QEMU comes to the beginning");

    let mut stepped = machine::<X>();
    let mut whole = machine::<X>();
    stepped.load(&image).expect("it fits");
    whole.load(&image).expect("it fits");
    for core in [&mut stepped.core, &mut whole.core] {
        core.set_pc(begin);
        theirs[first].1.iter().enumerate().for_each(|(n, &v)| core.set_register(n, X::cut(v)));
    }
    let mut before = 0;
    for (n, (pc, registers)) in theirs[first..].iter().enumerate() {
        let core = &stepped.core;
        let mine: Vec<u64> = core.x().iter().map(|r| r.wide()).collect();
        if u64::from(core.pc()) != *pc || mine != *registers {
            let text = core.disassemble(before).0;
            panic!(
                "seed {seed}, instruction {n}: after {text} at {before:#x}\n ours {:#x} {}\nQEMU {pc:#x} {}",
                core.pc(),
                show(&mine),
                show(registers)
            );
        }
        before = core.pc();
        let (text, bytes) = core.disassemble(before);
        // compressed forms also by quadrant and function: some stand for the same instruction
        let at = (before - CODE) as usize;
        let half = u16::from_le_bytes([core.memory().flash[at], core.memory().flash[at + 1]]);
        let form = if bytes == 2 { format!(" {:x}.{}", half >> 13, half & 3) } else { String::new() };
        seen.insert(format!("{}{form}", text.split(['.', ' ']).next().unwrap_or("?")));
        if let Stop::Fault(f) = stepped.step() {
            assert!(matches!(f.kind, FaultKind::OutOfRange { address: 0x10_0000, .. }), "seed {seed}: {f}");
            assert_eq!(n + 1, theirs.len() - first, "seed {seed}: ours ends early");
        }
    }
    assert!(matches!(whole.run(1 << 32), Stop::Fault(_)), "seed {seed}: the end is a fault");
    assert!(whole.core.x() == stepped.core.x(), "seed {seed}: stepping and running differ");
    let ram = |m: &isa::Machine<isa_riscv::Riscv<X>, common::One>| m.core.memory().ram[..WINDOW as usize].to_vec();
    assert!(ram(&whole) == ram(&stepped), "seed {seed}: stepping and running differ in memory");
    theirs.len() - first
}

fn run<X: Word>(seeds: std::ops::Range<u64>, groups: u32) {
    let oracle = format!("qemu-system-riscv{}", X::BITS);
    if !have("riscv64-unknown-elf-gcc") || !have(&oracle) {
        return;
    }
    let mut seen = BTreeSet::new();
    let count: usize = seeds.map(|seed| compare::<X>(seed, groups, &mut seen)).sum();
    eprintln!("{count} instructions agree with {oracle}; {} kinds: {seen:?}", seen.len());
    assert!(seen.len() >= if X::BITS == 64 { 104 } else { 81 });
}

#[test]
fn random_programs_agree_with_qemu_32() {
    run::<u32>(1..4, 2500);
}

#[test]
fn random_programs_agree_with_qemu_64() {
    run::<u64>(1..4, 2500);
}

#[test]
#[ignore = "long"]
fn many_random_programs_agree_with_qemu() {
    run::<u32>(100..160, 6000);
    run::<u64>(100..160, 6000);
}
