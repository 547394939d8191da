//! AVR against simavr, cycles included, and against QEMU.
//! States go to a log in RAM. When it is full, a routine sends it over the serial port in hexadecimal; QEMU is stopped
//! there, and its memory is read. The trigger pin is up while a sequence's units run, so that its edges, which simavr
//! writes to a file, give their cycles. Chips with ELPM are compared with simavr only: RAMPZ of QEMU 7.2's ATmega1280
//! always reads 0.

mod generate;
mod simavr;

use isa::{Core as _, Machine, TableRow};
use isa_avr::table::{Definition, TABLE};
use isa_avr::{AVR5, AVR51, Avr, Variant};
use mcu::{Chip, Memory, PeripheralConfig};
use timing::avr::AvrE;

use self::generate::Generator;
use self::simavr::Simavr;
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
