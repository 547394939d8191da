//! AVR against simavr, cycles included, and against QEMU.
//! States go to a log in RAM. When it is full, a routine sends it over the serial port in hexadecimal; QEMU is stopped
//! there, and its memory is read. The trigger pin is up while a sequence's units run, so that its edges, which simavr
//! writes to a file, give their cycles. Chips with ELPM are compared with simavr only: RAMPZ of QEMU 7.2's ATmega1280
//! always reads 0.

use std::process::{Command, Stdio};

use isa::{Core as _, Machine, TableRow};
use isa_avr::table::{Definition, TABLE};
use isa_avr::{AVR5, AVR51, Avr, Class, Variant};
use mcu::{Chip, Memory, PeripheralConfig};
use timing::avr::AvrE;

use crate::qemu::{Session, have, oracle};
use crate::{Ground, LeftOut, Log, Oracle, Program, Random, Sequence, Way, run};

/// Bytes of one state: r0 to r31, SREG, SP.
const BYTES: usize = 35;
/// Loads and stores go to this many bytes of RAM, not from its start.
const WINDOW: u32 = 0x140;
/// The address of the bytes that ELPM reads, on both sides of 64 KiB, and their number.
const FAR: (u32, u32) = (0xFF00, 0x300);
// I/O addresses and the serial port's data register
const PORTB: u32 = 0x05;
const RAMPZ: u32 = 0x3B;
const SPL: u32 = 0x3D;
const SPH: u32 = 0x3E;
const SREG: u32 = 0x3F;
const UDR0: u32 = 0xC6;

/// A chip that both oracles have.
#[derive(Clone, Copy)]
pub struct Device {
    name: &'static str,
    qemu: Option<&'static str>,
    core: Variant,
    flash: u32,
    /// Base and size.
    ram: (u32, u32),
    /// Sequences in one program.
    batch: usize,
}

/// 32 KiB of flash.
pub const MEGA328P: Device =
    Device { name: "atmega328p", qemu: Some("uno"), core: AVR5, flash: 0x8000, ram: (0x100, 0x800), batch: 280 };
/// 128 KiB of flash, ELPM.
pub const MEGA1280: Device =
    Device { name: "atmega1280", qemu: None, core: AVR51, flash: 0x2_0000, ram: (0x200, 0x2000), batch: 560 };

impl Device {
    fn window(&self) -> u32 {
        self.ram.0 + 0x10
    }

    /// The address of the pointer to the log's end.
    fn pointer(&self) -> u32 {
        self.ram.0
    }

    fn log(&self) -> u32 {
        self.window() + WINDOW
    }

    /// States that fit into the log, with room for a stack.
    fn states(&self) -> usize {
        (self.ram.0 + self.ram.1 - 0x100 - self.log()) as usize / BYTES
    }

    fn core(&self, image: &[u8]) -> Avr {
        let peripheral = |kind, base, trigger_bit| PeripheralConfig { kind, base, trigger_bit };
        let chip = Chip {
            flash_in_data: None,
            peripherals: vec![peripheral("avr-port", 0x23, Some(0)), peripheral("avr-usart", 0xC0, None)],
            ..Chip::of_memories((0, self.flash), self.ram)
        };
        let mut core = Avr::new(self.core, Memory::new(&chip).expect("the chip is possible"));
        core.memory_mut().flash[..image.len()].copy_from_slice(image);
        core
    }
}

fn has(row: &Definition, letter: char) -> bool {
    row.pattern.fields(u32::MAX).get(letter) != 0
}

/// Machine code.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    fn put(&mut self, row: &Definition, word: u32) {
        if row.pattern.bits == 32 {
            self.0.extend(((word >> 16) as u16).to_le_bytes());
        }
        self.0.extend((word as u16).to_le_bytes());
    }

    /// The instruction with this text in the table, and its fields.
    fn op(&mut self, text: &str, fields: &[(char, u32)]) {
        let row = TABLE.iter().find(|r| r.text.0 == text).unwrap_or_else(|| panic!("{text} is in the table"));
        let word = fields.iter().fold(row.pattern.value, |w, &(letter, v)| row.pattern.with(w, letter, v));
        self.put(row, word);
    }

    fn here(&self) -> u32 {
        self.0.len() as u32
    }

    fn ldi(&mut self, d: u32, value: u32) {
        self.op("ldi r{a}, {imm:x}", &[('d', d - 16), ('k', value & 0xFF)]);
    }

    fn pointer(&mut self, low: u32, value: u32) {
        self.ldi(low, value);
        self.ldi(low + 1, value >> 8);
    }

    fn read(&mut self, d: u32, io: u32) {
        self.op("in r{a}, {imm:x}", &[('d', d), ('i', io)]);
    }

    fn write(&mut self, io: u32, r: u32) {
        self.op("out {imm:x}, r{a}", &[('d', r), ('i', io)]);
    }

    fn call(&mut self, to: u32) {
        self.op("call {imm:x}", &[('k', to / 2)]);
    }

    /// RJMP, RCALL or a branch to `to`.
    fn relative(&mut self, text: &str, to: u32) {
        self.op(text, &[('k', (to.wrapping_sub(self.here() + 2) as i32 >> 1) as u32)]);
    }
}

struct Generator<'a> {
    device: &'a Device,
    random: &'a mut Random,
    /// Instructions without preconditions.
    plain: Vec<&'static Definition>,
}

impl<'a> Generator<'a> {
    fn new(device: &'a Device, random: &'a mut Random) -> Self {
        let io = ["in", "out", "sleep", "break", "spm"];
        let fits = |r: &&Definition| {
            matches!(r.class(), Class::Alu | Class::Word | Class::Multiply) && !io.contains(&r.name())
        };
        Self { device, random, plain: TABLE.iter().filter(fits).collect() }
    }

    fn rows(class: Class) -> Vec<&'static Definition> {
        TABLE.iter().filter(|r| r.class() == class).collect()
    }

    fn fill(&mut self, row: &Definition) -> u32 {
        row.pattern.value | self.random.word() & !row.pattern.mask & (u64::MAX >> (64 - row.pattern.bits)) as u32
    }

    fn any(&mut self) -> u32 {
        self.random.below(32)
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

    fn at(&mut self) -> u32 {
        self.device.window() + self.random.below(WINDOW - 0x40)
    }

    /// One instruction without preconditions; after a skip some are left out.
    fn simple(&mut self, code: &mut Code, skipped: bool) {
        let d = self.any();
        match self.random.below(24) {
            0 => code.read(d, self.random.pick(&[SREG, SPL, SPH])),
            1 => code.write(SREG, d),
            2 => {
                let at = if self.random.one_in(4) { SREG + 0x20 } else { self.at() };
                code.op("lds r{a}, {imm:x}", &[('d', d), ('k', at)]);
            }
            3 => {
                let at = self.at();
                code.op("sts {imm:x}, r{a}", &[('d', d), ('k', at)]);
            }
            _ => {
                let row = self.random.pick(&self.plain);
                let mut word = self.fill(row);
                if row.class() == Class::Word && skipped && word & 12 == 12 {
                    // simavr 1.6 takes these for two words when it skips them (its pull request 361)
                    word &= !12;
                }
                code.put(row, word);
            }
        }
    }

    /// Some simple instructions.
    fn body(&mut self, least: u32, more: u32) -> Code {
        let mut body = Code::default();
        (0..least + self.random.below(more + 1)).for_each(|_| self.simple(&mut body, false));
        body
    }

    /// Through a pointer to the window, the registers or SREG.
    fn through_pointer(&mut self, code: &mut Code) {
        let (name, low) = self.random.pick(&[("X", 26), ("Y", 28), ("Z", 30)]);
        let at = match self.random.below(8) {
            0 => self.random.below(26),
            1 => SREG + 0x20,
            _ => self.at() + 4,
        };
        code.pointer(low, at);
        if self.random.one_in(2) {
            let d = self.not(low);
            let r = self.any();
            code.op(self.random.pick(&["add r{a}, r{b}", "sbc r{a}, r{b}", "eor r{a}, r{b}"]), &[('d', d), ('r', r)]);
        }
        let class = if self.random.one_in(2) { Class::Load } else { Class::Store };
        // the registers and SREG only once and unchanged, because the pointer would run into something else
        let exact = at < 0x100;
        for _ in 0..if exact { 1 } else { 1 + self.random.below(3) } {
            let rows: Vec<_> = Self::rows(class)
                .into_iter()
                .filter(|r| r.text.0.contains(name))
                .filter(|r| !exact || has(r, 'q') || r.text.0.split([' ', ',']).any(|part| part == name))
                .collect();
            let row = self.random.pick(&rows);
            let r = self.not(low);
            let word = row.pattern.with(self.fill(row), 'd', r);
            code.put(row, if exact { row.pattern.with(word, 'q', 0) } else { word });
        }
    }

    fn program_memory(&mut self, code: &mut Code) {
        let far = self.device.core.rampz != 0 && self.random.one_in(2);
        let at = match self.random.below(8) {
            0 if far => 0xFFFF,
            1.. if far => FAR.0 + self.random.below(FAR.1 - 4),
            _ => self.random.below(0x2000),
        };
        code.pointer(30, at & 0xFFFF);
        if far {
            code.ldi(16, at >> 16);
            code.write(RAMPZ, 16);
        }
        let rows = Self::rows(Class::LoadProgram);
        for _ in 0..1 + self.random.below(3) {
            let row = loop {
                let row = self.random.pick(&rows);
                if (row.name() == "elpm") == far {
                    break row;
                }
            };
            let r = self.not(30);
            code.put(row, row.pattern.with(row.pattern.value, 'd', r));
        }
        if far {
            let r = self.any();
            code.read(r, RAMPZ);
        }
    }

    fn skip(&mut self, code: &mut Code) {
        let rows: Vec<_> = [Self::rows(Class::Skip), Self::rows(Class::SkipIo)].concat();
        let row = self.random.pick(&rows);
        let mut word = self.fill(row);
        if row.class() == Class::SkipIo {
            // QEMU has no ports; all but the trigger's bit are 0
            word = row.pattern.with(row.pattern.with(word, 'i', PORTB), 'b', 1 + self.random.below(7));
        }
        code.put(row, word);
        let d = self.any();
        match self.random.below(4) {
            0 => code.op("lds r{a}, {imm:x}", &[('d', d), ('k', SREG + 0x20)]),
            1 => {
                let body = self.body(1, 0);
                code.relative("rjmp {imm:x}", code.here() + 2 + body.here());
                code.0.extend(body.0);
            }
            2 => {
                let row = self.random.pick(&Self::rows(Class::Skip));
                let word = self.fill(row);
                code.put(row, word);
                self.simple(code, true);
            }
            _ => self.simple(code, true),
        }
        self.simple(code, true);
    }

    fn unit(&mut self, start: u32) -> Vec<u8> {
        let mut code = Code::default();
        match self.random.below(24) {
            0..=2 => self.through_pointer(&mut code),
            3 => self.program_memory(&mut code),
            4 => {
                let (r, d) = (self.any(), self.any());
                code.op("push r{a}", &[('d', r)]);
                code.0.extend(self.body(0, 3).0);
                code.op("pop r{a}", &[('d', d)]);
            }
            5..=7 => {
                let body = self.body(0, 3);
                let row = self.random.pick(&Self::rows(Class::Branch));
                code.put(row, row.pattern.with(row.pattern.value, 'k', body.here() / 2));
                code.0.extend(body.0);
            }
            8..=10 => self.skip(&mut code),
            11 => {
                // a call over a jump over the function
                let (body, way) = (self.body(1, 1), self.random.below(3));
                let before = if way == 2 { 6 } else { [2, 4][way as usize] };
                let function = start + before + 2;
                match way {
                    0 => code.op("rcall {imm:x}", &[('k', 1)]),
                    1 => code.call(function),
                    _ => {
                        code.pointer(30, function / 2);
                        code.op("icall", &[]);
                    }
                }
                code.op("rjmp {imm:x}", &[('k', body.here() / 2 + 1)]);
                code.0.extend(body.0);
                code.op(self.random.pick(&["ret", "ret", "reti"]), &[]);
            }
            12 => {
                let (body, far) = (self.body(1, 0), self.random.one_in(2));
                let behind = start + if far { 4 } else { 6 } + body.here();
                if far {
                    code.op("jmp {imm:x}", &[('k', behind / 2)]);
                } else {
                    code.pointer(30, behind / 2);
                    code.op("ijmp", &[]);
                }
                code.0.extend(body.0);
            }
            13 if self.random.one_in(4) => {
                // a pin up and down again
                let bit = 1 + self.random.below(7);
                code.op("sbi {imm:x}, {b}", &[('i', PORTB), ('b', bit)]);
                code.0.extend(self.body(0, 1).0);
                code.op("cbi {imm:x}, {b}", &[('i', PORTB), ('b', bit)]);
            }
            _ => self.simple(&mut code, false),
        }
        code.0
    }
}

/// Where the parts of the frame are.
struct Frame {
    load: u32,
    save: u32,
    send: u32,
    /// Where QEMU continues after a stop at `send`.
    sent: u32,
}

impl Device {
    /// Address of the first sequence.
    fn first(&self) -> u32 {
        let mut code = Code::default();
        self.frame(&mut code);
        code.here()
    }

    /// The code around the sequences.
    fn frame(&self, code: &mut Code) -> Frame {
        let log = self.log();
        code.op("jmp {imm:x}", &[('k', 0)]); // to the beginning, once it is known

        // the state at Z: r31, r30, SREG, r0 to r29
        let load = code.here();
        for _ in 0..2 {
            code.op("lpm r{a}, Z+", &[('d', 0)]);
            code.op("push r{a}", &[('d', 0)]);
        }
        code.op("lpm r{a}, Z+", &[('d', 0)]);
        code.write(SREG, 0);
        (0..30).for_each(|r| code.op("lpm r{a}, Z+", &[('d', r)]));
        [30, 31].iter().for_each(|&r| code.op("pop r{a}", &[('d', r)]));
        code.op("ret", &[]);

        // the state to the log; the next sequence sets everything again
        let save = code.here();
        [31, 30].iter().for_each(|&r| code.op("push r{a}", &[('d', r)]));
        code.read(31, SREG);
        code.op("push r{a}", &[('d', 31)]);
        code.op("lds r{a}, {imm:x}", &[('d', 30), ('k', self.pointer())]);
        code.op("lds r{a}, {imm:x}", &[('d', 31), ('k', self.pointer() + 1)]);
        (0..30).for_each(|r| code.op("st Z+, r{a}", &[('d', r)]));
        [2, 0, 1].iter().for_each(|&r| code.op("pop r{a}", &[('d', r)]));
        (0..3).for_each(|r| code.op("st Z+, r{a}", &[('d', r)]));
        code.read(0, SPL);
        code.read(1, SPH);
        (0..2).for_each(|r| code.op("st Z+, r{a}", &[('d', r)]));
        code.op("sts {imm:x}, r{a}", &[('d', 30), ('k', self.pointer())]);
        code.op("sts {imm:x}, r{a}", &[('d', 31), ('k', self.pointer() + 1)]);
        code.op("ret", &[]);

        // a digit: the lower half of r18
        let digit = code.here();
        code.op("andi r{a}, {imm:x}", &[('d', 2), ('k', 15)]);
        code.op("subi r{a}, {imm:x}", &[('d', 2), ('k', 0xD0)]);
        code.op("cpi r{a}, {imm:x}", &[('d', 2), ('k', 58)]);
        code.op("brcs {imm:x}", &[('k', 1)]);
        code.op("subi r{a}, {imm:x}", &[('d', 2), ('k', 0xD9)]);
        code.op("sts {imm:x}, r{a}", &[('d', 18), ('k', UDR0)]);
        code.op("ret", &[]);

        // r16 bytes at Z and the end of a line
        let line = code.here();
        code.op("ld r{a}, Z+", &[('d', 17)]);
        code.op("mov r{a}, r{b}", &[('d', 18), ('r', 17)]);
        code.op("swap r{a}", &[('d', 18)]);
        code.relative("rcall {imm:x}", digit);
        code.op("mov r{a}, r{b}", &[('d', 18), ('r', 17)]);
        code.relative("rcall {imm:x}", digit);
        code.op("dec r{a}", &[('d', 16)]);
        code.relative("brne {imm:x}", line);
        code.ldi(18, 10);
        code.op("sts {imm:x}, r{a}", &[('d', 18), ('k', UDR0)]);
        code.op("ret", &[]);

        // the log; then it is empty
        let send = code.here();
        code.op("lds r{a}, {imm:x}", &[('d', 24), ('k', self.pointer())]);
        code.op("lds r{a}, {imm:x}", &[('d', 25), ('k', self.pointer() + 1)]);
        code.pointer(30, log);
        let again = code.here();
        code.op("cp r{a}, r{b}", &[('d', 30), ('r', 24)]);
        code.op("cpc r{a}, r{b}", &[('d', 31), ('r', 25)]);
        code.op("breq {imm:x}", &[('k', 3)]);
        code.ldi(16, BYTES as u32);
        code.relative("rcall {imm:x}", line);
        code.relative("rjmp {imm:x}", again);
        let sent = code.here();
        code.pointer(30, log);
        code.op("sts {imm:x}, r{a}", &[('d', 30), ('k', self.pointer())]);
        code.op("sts {imm:x}, r{a}", &[('d', 31), ('k', self.pointer() + 1)]);
        code.op("ret", &[]);

        // the beginning: stack, the trigger's direction, the log, the window from its copy in flash
        let begin = code.here();
        let top = self.ram.0 + self.ram.1 - 1;
        code.0[..4].fill(0);
        let mut start = Code::default();
        start.op("jmp {imm:x}", &[('k', begin / 2)]);
        code.0[..4].copy_from_slice(&start.0);
        code.pointer(24, top);
        code.write(SPH, 25);
        code.write(SPL, 24);
        code.op("sbi {imm:x}, {b}", &[('i', PORTB - 1), ('b', 0)]);
        code.call(sent);
        code.pointer(26, self.window());
        code.pointer(24, WINDOW);
        code.pointer(30, code.here() + 6 * 2 + 4);
        let copy = code.here();
        code.op("lpm r{a}, Z+", &[('d', 0)]);
        code.op("st X+, r{a}", &[('d', 0)]);
        code.op("sbiw r{a}, {imm:x}", &[('d', 0), ('k', 1)]);
        code.relative("brne {imm:x}", copy);
        code.op("jmp {imm:x}", &[('k', (code.here() + 4 + WINDOW) / 2)]);
        code.0.resize(code.0.len() + WINDOW as usize, 0);
        Frame { load, save, send, sent }
    }

    /// A program's states and window on QEMU, which is stopped wherever the log is full.
    fn on_qemu(&self, q: &mut Session, program: &Program) -> Result<Log, String> {
        const DATA: u32 = 0x80_0000;
        let frame = self.frame(&mut Code::default());
        q.write(0, &program.image)?;
        let mut states = Vec::new();
        let mut from = 0;
        while states.len() < program.places.len() {
            q.go(from, &[frame.send, program.end])?;
            let n = (program.places.len() - states.len()).min(self.states());
            let bytes = q.read(DATA + self.log(), n * BYTES)?;
            states.extend(bytes.chunks(BYTES).map(|b| state(b, None)));
            from = frame.sent;
        }
        if program.places.len() % self.states() == 0 {
            q.go(from, &[frame.send, program.end])?; // with an empty log
        }
        Ok(Log { states, window: q.read(DATA + self.window(), WINDOW as usize)? })
    }

    /// States, and the window, from the lines that were sent.
    fn log_of(&self, lines: &[String], cycles: &[u64]) -> Result<Log, String> {
        let bytes = |line: &String| -> Option<Vec<u8>> {
            (0..line.len() / 2).map(|n| u8::from_str_radix(line.get(2 * n..2 * n + 2)?, 16).ok()).collect()
        };
        let lines: Vec<_> = lines.iter().map(bytes).collect::<Option<_>>().ok_or("a line that is no log")?;
        let (states, window): (Vec<_>, Vec<_>) = lines.into_iter().partition(|l| l.len() == BYTES);
        let states: Vec<_> = states.iter().zip(cycles).map(|(l, &c)| state(l, Some(c))).collect();
        Ok(Log { states, window: window.concat() })
    }
}

fn state(bytes: &[u8], cycles: Option<u64>) -> Vec<u64> {
    let registers = bytes[..33].iter().map(|&b| b.into());
    let sp = u64::from(u16::from_le_bytes([bytes[33], bytes[34]]));
    registers.chain([sp]).chain(cycles).collect()
}

impl Ground for Device {
    fn name(&self) -> &'static str {
        if self.core.rampz == 0 { "avr5" } else { "avr51" }
    }

    fn value_names(&self) -> Vec<String> {
        let r = (0..32).map(|n| format!("r{n}"));
        r.chain(["sreg", "sp", "cycles"].map(str::to_owned)).collect()
    }

    fn sequences(&self, random: &mut Random) -> Vec<Sequence> {
        // a sequence starts after all tables; its length is known only when it has been generated
        let mut at = self.first() + 33 * self.batch as u32 + self.batch as u32 % 2;
        let mut all = Vec::new();
        while all.len() < self.batch {
            let mut g = Generator::new(self, random);
            let mut start: Vec<u64> = (0..33).map(|_| g.random.value(8)).collect();
            start.push(0);
            at += HEAD;
            let mut units = Vec::new();
            for _ in 0..1 + g.random.below(20) {
                let unit = g.unit(at);
                at += unit.len() as u32;
                units.push(unit);
            }
            at += if all.len() % self.states() + 1 == self.states() { TAIL + 4 } else { TAIL };
            all.push(Sequence { start, units, timed: true });
        }
        all
    }

    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program {
        let mut code = Code::default();
        let frame = self.frame(&mut code);
        let window = random.bytes(WINDOW as usize);
        let at = code.0.len() - WINDOW as usize;
        code.0[at..].copy_from_slice(&window);
        // over the tables of a whole batch, so that sequences stay where they are when there are fewer
        let tables = code.here();
        code.0.resize(code.0.len() + 33 * self.batch + self.batch % 2, 0);
        let mut jump = Code::default();
        jump.op("jmp {imm:x}", &[('k', code.here() / 2)]);
        let jump_at = at - 4;
        code.0[jump_at..at].copy_from_slice(&jump.0);
        let mut places = Vec::new();
        for (k, s) in sequences.iter().enumerate() {
            let table = tables as usize + 33 * k;
            let order = [31, 30, 32].into_iter().chain(0..30);
            order.enumerate().for_each(|(n, r)| code.0[table + n] = s.start[r] as u8);
            code.pointer(30, table as u32);
            code.call(frame.load);
            code.op("sbi {imm:x}, {b}", &[('i', PORTB), ('b', 0)]);
            let start = code.here();
            s.units.iter().for_each(|u| code.0.extend(u));
            places.push(start..code.here());
            code.op("cbi {imm:x}, {b}", &[('i', PORTB), ('b', 0)]);
            code.call(frame.save);
            if (k + 1) % self.states() == 0 {
                code.call(frame.send);
            }
        }
        code.call(frame.send);
        // the window, in lines as short as simavr wants them
        code.pointer(30, self.window());
        for _ in 0..WINDOW / 32 {
            code.ldi(16, 32);
            code.call(frame.send - LINE_BACK);
        }
        code.op("cli", &[]);
        let end = code.here();
        code.op("sleep", &[]);
        if self.core.rampz != 0 {
            assert!(code.here() <= FAR.0, "too many sequences for one program");
            code.0.resize(FAR.0 as usize, 0);
            code.0.extend(random.bytes(FAR.1 as usize));
        }
        assert!(code.here() <= self.flash, "too many sequences for one program");
        let timed = sequences.iter().map(|s| s.timed).collect();
        Program { image: code.0, places, end, window, timed }
    }

    fn ours(&self, program: &Program, way: Way<'_>) -> Result<Log, String> {
        let machine = run(Machine::new(self.core(&[]), AvrE), 0, program, way)?;
        let memory = machine.core.memory();
        let sent = String::from_utf8_lossy(&memory.host.from_chip);
        let lines: Vec<_> = sent.lines().map(str::to_owned).collect();
        let cycles: Vec<_> = memory.calls.iter().map(|c| c.fall - c.rise).collect();
        self.log_of(&lines, &cycles)
    }

    fn rows(&self) -> Vec<TableRow> {
        self.core(&[]).rows()
    }

    fn left_out(&self) -> LeftOut {
        &[("ends the program", &["spm", "sleep", "break"])]
    }

    fn disassemble(&self, program: &Program, at: u32) -> (String, u32) {
        self.core(&program.image).disassemble(at)
    }

    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>> {
        let simavr: Result<Box<dyn Oracle>, String> =
            if have("simavr") { Ok(Box::new(Simavr(*self))) } else { Err("simavr is not installed".into()) };
        let device = *self;
        let qemu = self.qemu.map(|board| {
            let start = move || Session::start("qemu-system-avr", &["-M", board]);
            oracle(format!("QEMU {board}"), start, move |q, program| device.on_qemu(q, program))
        });
        [simavr].into_iter().chain(qemu).collect()
    }
}

/// Bytes before and after a sequence's units.
const HEAD: u32 = 4 + 4 + 2;
const TAIL: u32 = 2 + 4;
/// From the routine that sends a line to the one that sends the log.
const LINE_BACK: u32 = 12 * 2;

struct Simavr(Device);

impl Simavr {
    /// An ELF file with the image, and with simavr's parameters: chip, a clock that makes one cycle 1000 ns,
    /// and the trigger pin, written to `vcd`. Tag, length, value; see simavr's documentation.
    fn elf(&self, image: &[u8], vcd: &str) -> Vec<u8> {
        let padded = |text: &str, n: usize| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(n, 0);
            bytes
        };
        let mut mmcu = [vec![1, 64], padded(self.0.name, 64), vec![2, 4], 1_000_000u32.to_le_bytes().to_vec()].concat();
        mmcu.extend([vec![12, 64], padded(vcd, 64), vec![13, 4, 1, 0, 0, 0]].concat());
        mmcu.extend([vec![15, 35, b'B', 0, 0], padded("trigger", 32), vec![0, 0]].concat());
        let names = b"\0.text\0.mmcu\0.shstrtab\0";
        let mut f = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        let half = |f: &mut Vec<u8>, v: u16| f.extend(v.to_le_bytes());
        let word = |f: &mut Vec<u8>, v: u32| f.extend(v.to_le_bytes());
        half(&mut f, 2); // executable
        half(&mut f, 83); // AVR
        let parts = [image, &mmcu, names];
        let sections = 52 + parts.iter().map(|p| p.len() as u32).sum::<u32>();
        [1, 0, 0, sections, 5].iter().for_each(|&v| word(&mut f, v));
        [52, 32, 0, 40, 4, 3].iter().for_each(|&v| half(&mut f, v));
        parts.iter().for_each(|p| f.extend(*p));
        f.extend([0; 40]);
        let mut at = 52;
        // name, type, flags (to be loaded), address
        let kinds = [(1, 1, 6, 0), (7, 1, 2, 0x91_0000), (13, 3, 0, 0)];
        for ((name, kind, flags, address), part) in kinds.into_iter().zip(parts) {
            [name, kind, flags, address, at, part.len() as u32, 0, 0, 1, 0].iter().for_each(|&v| word(&mut f, v));
            at += part.len() as u32;
        }
        f
    }
}

/// Cycles between the rising and the falling edges in a VCD file.
fn pulses(vcd: &str) -> Result<Vec<u64>, String> {
    if !vcd.starts_with("$timescale 10ns ") {
        return Err("simavr's file has another time scale".into());
    }
    let (mut at, mut rise, mut all) = (0, None, Vec::new());
    for line in vcd.lines().skip_while(|l| !l.starts_with("$enddefinitions")).skip(1) {
        match line.as_bytes().first() {
            Some(b'#') => at = line[1..].parse::<u64>().map_err(|e| e.to_string())? / 100,
            Some(b'1') => rise = Some(at),
            Some(b'0') => all.extend(rise.take().map(|r| at - r)),
            _ => {}
        }
    }
    Ok(all)
}

impl Oracle for Simavr {
    fn name(&self) -> String {
        format!("simavr {}", self.0.name)
    }

    fn run(&mut self, program: &Program, _: &[u32]) -> Result<Log, String> {
        let (elf, vcd) = (crate::scratch("elf"), crate::scratch("vcd"));
        let vcd_name = vcd.file_name().and_then(|n| n.to_str()).ok_or("the name is text")?;
        std::fs::write(&elf, self.elf(&program.image, vcd_name)).map_err(|e| e.to_string())?;
        let out = Command::new("timeout")
            .args(["20", "simavr"])
            .arg(&elf)
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::null())
            .output();
        let edges = std::fs::read_to_string(&vcd);
        let _ = std::fs::remove_file(&elf);
        let _ = std::fs::remove_file(&vcd);
        let out = out.map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        let plain = text.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        let lines: Vec<_> = plain.lines().map(|l| l.trim_end_matches('.').to_owned()).collect();
        let lines: Vec<_> = lines.into_iter().filter(|l| l.len() >= 64 && !l.contains(' ')).collect();
        self.0.log_of(&lines, &pulses(&edges.map_err(|e| format!("simavr wrote no edges: {e}; {text}"))?)?)
    }
}
