//! Random units of AVR instructions.

use isa_avr::Class;
use isa_avr::table::{Definition, TABLE};

use super::{Code, Device, FAR, PORTB, RAMPZ, SPH, SPL, SREG, WINDOW, has};
use crate::Random;

/// Generates the units of a sequence.
pub(super) struct Generator<'a> {
    device: &'a Device,
    pub(super) random: &'a mut Random,
    /// Instructions without preconditions.
    plain: Vec<&'static Definition>,
}

impl<'a> Generator<'a> {
    pub(super) fn new(device: &'a Device, random: &'a mut Random) -> Self {
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

    pub(super) fn unit(&mut self, start: u32) -> Vec<u8> {
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
