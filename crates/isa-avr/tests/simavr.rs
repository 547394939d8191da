//! Differential test: random programs here and in simavr, which runs as a program of its own.
//!
//! Each program is a long random sequence with checkpoints. At a checkpoint the program sends its 32
//! registers, SREG and stack pointer, at the end its RAM window. Between checkpoints it sets and
//! clears a port pin, whose edges both simulators stamp with the cycle.

mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use common::{Device, MEGA128, MEGA328P, Random};
use isa::Core as _;
use mcu::{FaultKind, Stop};
use timing::avr::AvrE;

/// Instructions of one program, without those of checkpoints.
const LENGTH: usize = 6000;

/// What surrounds the random part: simavr's parameters, start, and the sender of a checkpoint.
const FRAME: &str = include_str!("frame.s");

/// Where the frame's data for ELPM begins, and their bytes.
const FAR: (u32, u32) = (0xFF00, 0x300);

struct Generator {
    device: Device,
    random: Random,
    text: String,
    count: usize,
    label: u32,
}

const ALU_2: [&str; 9] = ["add", "adc", "sub", "sbc", "and", "or", "eor", "mov", "mul"];
const ALU_1: [&str; 10] = ["com", "neg", "swap", "inc", "dec", "asr", "lsr", "ror", "rol", "lsl"];
const ALU_K: [&str; 7] = ["subi", "sbci", "cpi", "andi", "ori", "ldi", "ldi"];
const BRANCHES: [&str; 16] = [
    "brcs", "breq", "brmi", "brvs", "brlt", "brhs", "brts", "brie", "brcc", "brne", "brpl", "brvc", "brge", "brhc",
    "brtc", "brid",
];
const FLAGS: [&str; 16] =
    ["sec", "sez", "sen", "sev", "ses", "seh", "set", "sei", "clc", "clz", "cln", "clv", "cls", "clh", "clt", "cli"];

impl Generator {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.below(from.len() as u32) as usize]
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "\t{text}");
        self.count += 1;
    }

    fn any(&mut self) -> u32 {
        self.random.below(32)
    }

    /// r16..r31, the last ones less often, since they are pointers.
    fn high(&mut self) -> u32 {
        16 + self.random.below(16)
    }

    fn fresh(&mut self) -> u32 {
        self.label += 1;
        self.label
    }

    /// One instruction without any precondition.
    fn simple(&mut self) {
        let (d, r) = (self.any(), self.any());
        let (h, g) = (self.high(), self.high());
        let (k, b) = (self.random.below(256), self.random.below(8));
        let text = match self.random.below(22) {
            0..=6 => format!("{} r{d}, r{r}", self.pick(&ALU_2)),
            7..=9 => format!("{} r{d}", self.pick(&ALU_1)),
            10..=12 => format!("{} r{h}, {k}", self.pick(&ALU_K)),
            13 => format!("{} r{d}, r{r}", self.pick(&["cp", "cpc"])),
            14 => {
                // simavr 1.6 takes some of these for two words when it skips them (its pull request 361)
                let k = if k & 12 == 12 { k & 0x33 } else { k & 0x3F };
                format!("{} r{}, {k}", self.pick(&["adiw", "sbiw"]), 24 + 2 * (d & 3))
            }
            15 => format!("muls r{h}, r{g}"),
            16 => {
                let name = self.pick(&["mulsu", "fmul", "fmuls", "fmulsu"]);
                format!("{name} r{}, r{}", 16 + (d & 7), 16 + (r & 7))
            }
            17 => format!("movw r{}, r{}", d & 30, r & 30),
            18 => format!("{} r{d}, {b}", self.pick(&["bst", "bld"])),
            19 => self.pick(&FLAGS).into(),
            20 => match self.random.below(4) {
                0 => format!("in r{d}, 0x3f"),
                1 => format!("out 0x3f, r{r}"),
                2 => format!("lds r{d}, 0x5f"),
                _ => format!("sts {}, r{r}", self.window()),
            },
            _ => match self.random.below(4) {
                0 => format!("in r{d}, {}", self.pick(&["0x3d", "0x3e"])),
                1 => self.pick(&["nop", "wdr"]).into(),
                _ => format!("lds r{d}, {}", self.window()),
            },
        };
        self.line(&text);
    }

    fn window(&mut self) -> u32 {
        0x200 + self.random.below(256)
    }

    fn pointer(&mut self, low: u32, value: u32) {
        self.line(&format!("ldi r{low}, {}", value & 255));
        self.line(&format!("ldi r{}, {}", low + 1, value >> 8));
    }

    /// A register that is not part of the pointer `low`.
    fn not(&mut self, low: u32) -> u32 {
        loop {
            let r = self.any();
            if r & 30 != low {
                return r;
            }
        }
    }

    /// ELPM, with the address known again behind it: simavr and we agree on RAMPZ's only bit.
    fn far(&mut self) {
        let at = match self.random.below(8) {
            0 => 0xFFFF,
            1 => self.random.below(0x2000),
            _ => FAR.0 + self.random.below(FAR.1 - 4),
        };
        self.pointer(30, at & 0xFFFF);
        self.line(&format!("ldi r16, {}", at >> 16));
        self.line("out 0x3b, r16");
        for _ in 0..=self.random.below(3) {
            let r = self.not(30);
            match self.random.below(4) {
                0 => self.line("elpm"),
                1 => self.line(&format!("elpm r{r}, Z")),
                _ => self.line(&format!("elpm r{r}, Z+")),
            }
        }
        let r = self.any();
        self.line(&format!("in r{r}, 0x3b"));
    }

    fn group(&mut self) {
        if self.device.core.rampz != 0 && self.random.below(12) == 0 {
            return self.far();
        }
        let l = self.fresh();
        match self.random.below(16) {
            0..=2 => {
                // through a pointer, to the window or the register file or SREG
                let (name, low) = [("X", 26), ("Y", 28), ("Z", 30)][self.random.below(3) as usize];
                let window = self.window();
                let at = match self.random.below(8) {
                    0 => self.random.below(26),
                    1 => 0x5F,
                    _ => window,
                };
                self.pointer(low, at);
                self.simple_but(low);
                for _ in 0..=self.random.below(3) {
                    let r = self.not(low);
                    // SREG and the registers once only: the pointer would run into something else
                    let mode = if at < 0x100 { 0 } else { self.random.below(4) };
                    let (mnemonic, place) = match (mode, name) {
                        (1, _) => ("", format!("{name}+")),
                        (2, _) => ("", format!("-{name}")),
                        (3, "Y" | "Z") => ("d", format!("{name}+{}", self.random.below(64))),
                        _ => ("", name.to_string()),
                    };
                    match self.random.below(2) {
                        0 => self.line(&format!("ld{mnemonic} r{r}, {place}")),
                        _ => self.line(&format!("st{mnemonic} {place}, r{r}")),
                    }
                }
            }
            3 => {
                let at = self.random.below(0x2000);
                self.pointer(30, at);
                let r = self.not(30);
                match self.random.below(3) {
                    0 => self.line("lpm"),
                    1 => self.line(&format!("lpm r{r}, Z")),
                    _ => self.line(&format!("lpm r{r}, Z+")),
                }
            }
            4 | 5 => {
                let (r, d) = (self.any(), self.any());
                self.line(&format!("push r{r}"));
                for _ in 0..self.random.below(4) {
                    self.simple();
                }
                self.line(&format!("pop r{d}"));
            }
            6..=8 => {
                let branch = self.pick(&BRANCHES);
                self.line(&format!("{branch} .L{l}"));
                for _ in 0..self.random.below(4) {
                    self.simple();
                }
                let _ = writeln!(self.text, ".L{l}:");
            }
            9..=12 => {
                let (r, d, b) = (self.any(), self.any(), self.random.below(8));
                let skip = match self.random.below(8) {
                    0 | 1 => format!("cpse r{d}, r{r}"),
                    2 | 3 => format!("sbrc r{r}, {b}"),
                    4 | 5 => format!("sbrs r{r}, {b}"),
                    6 => format!("sbic PORTB, {b}"),
                    _ => format!("sbis PORTB, {b}"),
                };
                self.line(&skip);
                match self.random.below(4) {
                    0 => {
                        let r = self.any();
                        self.line(&format!("lds r{r}, 0x5f"));
                    }
                    1 => {
                        self.line(&format!("rjmp .L{l}"));
                        self.simple();
                        let _ = writeln!(self.text, ".L{l}:");
                    }
                    2 => {
                        let r = self.any();
                        self.line(&format!("sbrc r{r}, {b}"));
                        self.simple();
                    }
                    _ => self.simple(),
                }
                self.simple();
            }
            13 | 14 => {
                let m = self.fresh();
                match self.random.below(3) {
                    0 => self.line(&format!("rcall .L{l}")),
                    1 => self.line(&format!("call .L{l}")),
                    _ => {
                        self.line(&format!("ldi r30, pm_lo8(.L{l})"));
                        self.line(&format!("ldi r31, pm_hi8(.L{l})"));
                        self.line("icall");
                    }
                }
                let jump = self.pick(&["jmp", "rjmp"]);
                self.line(&format!("{jump} .L{m}"));
                let _ = writeln!(self.text, ".L{l}:");
                self.simple();
                let back = self.pick(&["ret", "ret", "reti"]);
                self.line(back);
                let _ = writeln!(self.text, ".L{m}:");
            }
            _ => {
                self.line(&format!("ldi r30, pm_lo8(.L{l})"));
                self.line(&format!("ldi r31, pm_hi8(.L{l})"));
                self.line("ijmp");
                self.simple();
                let _ = writeln!(self.text, ".L{l}:");
            }
        }
    }

    /// Flag-writing work between a pointer's set-up and its use.
    fn simple_but(&mut self, low: u32) {
        let (d, r) = (self.not(low), self.any());
        let name = self.pick(&["add", "sub", "sbc", "and", "eor"]);
        self.line(&format!("{name} r{d}, r{r}"));
    }

    fn program(mut self, vcd: &Path) -> String {
        let mut level = false;
        while self.count < LENGTH {
            for _ in 0..4 {
                match self.random.below(3) {
                    0 => self.group(),
                    _ => self.simple(),
                }
            }
            level = !level;
            self.line(if level { "sbi PORTB, 0" } else { "cbi PORTB, 0" });
            if self.random.below(4) == 0 {
                self.line("call checkpoint");
            }
        }
        self.line(if level { "cbi PORTB, 0" } else { "nop" });
        let Device { name, port, serial, ram, .. } = self.device;
        let mut far = String::new();
        if self.device.core.rampz != 0 {
            let _ = writeln!(far, "\t.org {}", FAR.0);
            (0..FAR.1).for_each(|_| far += &format!("\t.byte {}\n", self.random.below(256)));
        }
        let data = if serial.0 == "avr-usart" { 6 } else { 3 }; // UDR0 behind the first register
        FRAME
            .replace("@VCD@", &vcd.display().to_string())
            .replace("@DEVICE@", name)
            .replace("@DDRB@", &(port.1 - self.device.core.io + 1).to_string())
            .replace("@UDR0@", &(serial.1 + data).to_string())
            .replace("@RAMEND@", &(ram.0 + ram.1 - 1).to_string())
            .replace("@FAR@", &far)
            .replace("@BODY@", &self.text)
    }
}

/// Cycles of the edges in a VCD file; one cycle of the frame's clock is 1000 ns.
fn edges(vcd: &str) -> Vec<u64> {
    assert!(vcd.starts_with("$timescale 10ns "), "another time scale");
    let mut at = 0;
    let mut out = Vec::new();
    for line in vcd.lines().skip_while(|l| !l.starts_with("$enddefinitions")).skip(1) {
        if let Some(t) = line.strip_prefix('#') {
            at = t.parse::<u64>().expect("a time") / 100;
        } else if line.starts_with(['0', '1']) {
            out.push(at);
        }
    }
    out
}

/// The lines that simavr's console shows for the serial port.
fn console(output: &str) -> Vec<String> {
    let plain = output.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
    plain.lines().map(|l| l.trim_end_matches('.').to_owned()).filter(|l| !l.is_empty() && !l.contains(' ')).collect()
}

fn compare(device: Device, seed: u64) {
    let dir = common::scratch(&format!("simavr-{}-{seed}", device.name));
    let (source, elf, vcd) = (dir.join("random.S"), dir.join("random.elf"), dir.join("pin.vcd"));
    let generator = Generator { device, random: Random(seed), text: String::new(), count: 0, label: 0 };
    std::fs::write(&source, generator.program(&vcd)).expect("the build directory is writable");
    let image = common::compile(&device, &source, &elf, &["-nostartfiles"]);
    let _ = std::fs::remove_file(&vcd);

    let theirs = Command::new("simavr").arg(&elf).output().expect("simavr starts");
    let theirs_sent = console(&String::from_utf8_lossy(&[theirs.stdout, theirs.stderr].concat()));
    let theirs_edges = edges(&std::fs::read_to_string(&vcd).expect("simavr wrote the pin's edges"));

    let mut m = device.machine(AvrE, &image);
    let stop = m.run(100_000_000);
    assert!(
        matches!(stop, Stop::Fault(f) if matches!(f.kind, FaultKind::Unsupported { .. })),
        "seed {seed}: ends with SLEEP, not {stop:?}"
    );
    let memory = m.core.memory();
    let sent = String::from_utf8(memory.host.from_chip.clone()).expect("the program sends ASCII");
    let ours_sent: Vec<_> = sent.lines().map(str::to_owned).collect();
    assert!(ours_sent.len() > 100, "seed {seed}: only {} lines", ours_sent.len());
    for (k, (a, b)) in ours_sent.iter().zip(&theirs_sent).enumerate() {
        assert_eq!(a, b, "seed {seed}, checkpoint {k} (ours, simavr)");
    }
    assert_eq!(ours_sent.len(), theirs_sent.len());

    let ours_edges: Vec<_> = memory.calls.iter().flat_map(|c| [c.rise, c.fall]).collect();
    let theirs_edges = &theirs_edges[theirs_edges.len() - ours_edges.len()..];
    for k in 1..ours_edges.len() {
        let (a, b) = (ours_edges[k] - ours_edges[0], theirs_edges[k] - theirs_edges[0]);
        assert_eq!(a, b, "seed {seed}: cycles from the first edge to edge {k} (ours, simavr)");
    }
    eprintln!("{} seed {seed}: {} checkpoints and {} edges agree", device.name, ours_sent.len(), ours_edges.len());
}

#[test]
fn random_programs_agree_with_simavr() {
    if !common::have("avr-gcc") || !common::have("simavr") {
        return;
    }
    for seed in 1..=8 {
        compare(MEGA328P, seed);
    }
    for seed in 1..=4 {
        compare(MEGA128, seed);
    }
}

#[test]
#[ignore = "half a minute"]
fn many_random_programs_agree_with_simavr() {
    if !common::have("avr-gcc") || !common::have("simavr") {
        return;
    }
    for seed in 100..600 {
        compare(MEGA328P, seed);
        compare(MEGA128, seed);
    }
}
