//! Instructions as operations, for translation to native code. What is not here is done by its handler.

use isa::Insn;
use isa::native::{ByHandler, Emit, Layout, Lower, One, Op, Slot, Slots, Test};

use crate::decode::{self, What};
use crate::table::{Kind, Operands, Row};
use crate::{Class, LR, PC, SP, Thumb};

/// Slots behind r0 to r14: NZ as [`Thumb`] keeps it, and the other flags.
const NZ: usize = 15;
const C: usize = 16;
const V: usize = 17;
const Q: usize = 18;
const GE: usize = 19;

impl Lower for Thumb {
    fn layout() -> Layout {
        let r = std::mem::offset_of!(Self, r);
        let slot = |offset, bits| Slot { offset, bits };
        let mut slots: Vec<_> = (0..PC).map(|n| slot(r + 4 * n, 32)).collect();
        slots.extend([
            slot(std::mem::offset_of!(Self, nz), 64),
            slot(std::mem::offset_of!(Self, c), 8),
            slot(std::mem::offset_of!(Self, v), 8),
            slot(std::mem::offset_of!(Self, q), 8),
            slot(std::mem::offset_of!(Self, ge), 32),
        ]);
        Layout { slots, pc: r + 4 * PC, ..Layout::default() }
    }

    fn lower<E: Emit>(&self, pc: u32, insns: &[Insn<Self>], e: &mut E) {
        let (items, _) = decode::items(self, pc, isa::MAX_RUN);
        assert!(items.len() == insns.len(), "decoding is a function of the code");
        let mut run = Lowering { e, compared: None };
        for (k, (item, i)) in items.iter().zip(insns).enumerate() {
            run.e.start(k);
            let by =
                ByHandler { at: k, reads: Slots::default(), writes: Slots::default(), ends: item.step.class.ends() };
            match item.what {
                What::Row(row, o) => {
                    let compared = run.compared.take();
                    run.compared = compared.filter(|_| item.sets == 0);
                    run.row(self, row, &o, i, by, item.needed);
                    if item.step.guarded && item.sets != 0 {
                        run.compared = None; // its values are those of a path
                    }
                }
                What::Fault => run.e.handler(ByHandler { ends: true, ..by }),
                What::Skip(cond) => {
                    let holds = run.holds(cond);
                    run.e.skip_unless(holds, k + 1 + usize::from(i.skips), i.refund.into());
                }
                What::Stack => {
                    let (sp, mask) = (run.e.get(SP), run.int(!3));
                    let sp = run.e.op(Op::And, sp, mask);
                    run.e.set(SP, sp);
                    run.e.stack(ByHandler { reads: by.reads.with(SP), ..by }, sp);
                }
                What::Seam => run.e.jump(i.imm),
            }
        }
    }
}

struct Lowering<'e, E: Emit> {
    e: &'e mut E,
    /// Operands of the subtraction that set the flags as they are.
    compared: Option<(E::V, E::V)>,
}

impl<E: Emit> Lowering<'_, E> {
    fn int(&mut self, v: u32) -> E::V {
        self.e.int(32, v.into())
    }

    fn reg(&mut self, n: u8) -> E::V {
        self.e.get(n.into())
    }

    /// One bit of a word as a truth value.
    fn bit(&mut self, v: E::V, n: u32) -> E::V {
        let (n, one) = (self.int(n), self.int(1));
        let v = self.e.op(Op::Shr, v, n);
        let v = self.e.op(Op::And, v, one);
        self.e.narrow(v, 8)
    }

    fn not(&mut self, truth: E::V) -> E::V {
        let one = self.e.int(8, 1);
        self.e.op(Op::Xor, truth, one)
    }

    fn with(&mut self, op: Op, x: E::V, n: u32) -> E::V {
        let n = self.int(n);
        self.e.op(op, x, n)
    }

    fn set_nz(&mut self, v: E::V) {
        let nz = self.e.widen(v, 64, true);
        self.e.set(NZ, nz);
    }

    /// Whether a condition holds.
    fn holds(&mut self, cond: u8) -> E::V {
        let simple = match cond {
            0 => Some(Test::Eq),
            1 => Some(Test::Ne),
            2 => Some(Test::GreaterEqU),
            3 => Some(Test::LessU),
            8 => Some(Test::GreaterU),
            9 => Some(Test::LessEqU),
            10 => Some(Test::GreaterEq),
            11 => Some(Test::Less),
            12 => Some(Test::Greater),
            13 => Some(Test::LessEq),
            _ => None,
        };
        if let (Some((x, y)), Some(test)) = (self.compared, simple) {
            return self.e.test(test, x, y);
        }
        let (nz, zero) = (self.e.get(NZ), self.e.int(64, 0));
        let n = |run: &mut Self| run.e.test(Test::Less, nz, zero);
        let z = |run: &mut Self, test| {
            let (low, zero) = (run.e.narrow(nz, 32), run.int(0));
            run.e.test(test, low, zero)
        };
        let yes = match cond >> 1 {
            0 => z(self, Test::Eq),
            1 => self.e.get(C),
            2 => n(self),
            3 => self.e.get(V),
            4 => {
                let (c, other) = (self.e.get(C), z(self, Test::Ne));
                self.e.op(Op::And, c, other)
            }
            5 | 6 => {
                let (n, v) = (n(self), self.e.get(V));
                let same = self.e.test(Test::Eq, n, v);
                let other = z(self, Test::Ne);
                if cond >> 1 == 6 { self.e.op(Op::And, same, other) } else { same }
            }
            _ => return self.e.int(8, 1),
        };
        if cond & 1 == 1 { self.not(yes) } else { yes }
    }

    /// The second operand and the shifter's carry.
    fn operand(&mut self, o: &Operands, carry: bool) -> (E::V, Option<E::V>) {
        let d = u32::from(o.d);
        match o.kind {
            Kind::Imm => (self.int(o.imm), None),
            Kind::ImmCarry => (self.int(o.imm), Some(self.e.int(8, u64::from(o.imm >> 31)))),
            Kind::Reg => (self.reg(o.c), None),
            Kind::Lsl => {
                let x = self.reg(o.c);
                (self.with(Op::Shl, x, d), carry.then(|| self.bit(x, 32 - d)))
            }
            Kind::Lsr => {
                let x = self.reg(o.c);
                let value = if d == 32 { self.int(0) } else { self.with(Op::Shr, x, d) };
                (value, carry.then(|| self.bit(x, d - 1)))
            }
            Kind::Asr => {
                let x = self.reg(o.c);
                (self.with(Op::Sar, x, d.min(31)), carry.then(|| self.bit(x, d - 1)))
            }
            Kind::Ror => {
                let x = self.reg(o.c);
                let value = self.with(Op::Rotr, x, d);
                (value, carry.then(|| self.bit(value, 31)))
            }
            Kind::Rrx => {
                let (x, c) = (self.reg(o.c), self.e.get(C));
                let c = self.e.widen(c, 32, false);
                let (top, low) = (self.with(Op::Shl, c, 31), self.with(Op::Shr, x, 1));
                (self.e.op(Op::Or, top, low), carry.then(|| self.bit(x, 0)))
            }
        }
    }

    /// Data processing; whether `name` is one of its operations.
    fn data(&mut self, name: &str, o: &Operands, flags: bool) -> bool {
        let logic = match name {
            "and" | "tst" => Some(Op::And),
            "orr" => Some(Op::Or),
            "eor" | "teq" => Some(Op::Xor),
            "bic" => Some(Op::And),
            "orn" => Some(Op::Or),
            _ => None,
        };
        let writes = !matches!(name, "tst" | "teq" | "cmp" | "cmn");
        if logic.is_some() || matches!(name, "mov" | "mvn") {
            let (mut y, carry) = self.operand(o, flags);
            if matches!(name, "bic" | "orn" | "mvn") {
                y = self.with(Op::Xor, y, u32::MAX);
            }
            if let Some(op) = logic {
                let x = self.reg(o.b);
                y = self.e.op(op, x, y);
            }
            if writes {
                self.e.set(o.a.into(), y);
            }
            if flags {
                self.set_nz(y);
                if let Some(carry) = carry {
                    self.e.set(C, carry);
                }
            }
            return true;
        }
        if !matches!(name, "add" | "adc" | "sub" | "sbc" | "rsb" | "cmp" | "cmn") {
            return false;
        }
        let (mut y, _) = self.operand(o, false);
        let mut x = self.reg(o.b);
        if name == "rsb" {
            (x, y) = (y, x);
        }
        let value = match name {
            "add" | "cmn" => {
                let value = self.e.op(Op::Add, x, y);
                if flags {
                    let carry = self.e.test(Test::LessU, value, x);
                    self.e.set(C, carry);
                    self.overflow(x, y, value);
                }
                value
            }
            "adc" | "sbc" => {
                if name == "sbc" {
                    y = self.with(Op::Xor, y, u32::MAX);
                }
                let c = self.e.get(C);
                let c = self.e.widen(c, 32, false);
                let sum = self.e.op(Op::Add, x, y);
                let value = self.e.op(Op::Add, sum, c);
                if flags {
                    let (one, two) = (self.e.test(Test::LessU, sum, x), self.e.test(Test::LessU, value, sum));
                    let carry = self.e.op(Op::Or, one, two);
                    self.e.set(C, carry);
                    self.overflow(x, y, value);
                }
                value
            }
            _ => {
                let value = self.e.op(Op::Sub, x, y);
                if flags {
                    let carry = self.e.test(Test::GreaterEqU, x, y);
                    self.e.set(C, carry);
                    let other = self.with(Op::Xor, y, u32::MAX);
                    self.overflow(x, other, value);
                    self.compared = Some((x, y));
                }
                value
            }
        };
        if writes {
            self.e.set(o.a.into(), value);
        }
        if flags {
            self.set_nz(value);
        }
        true
    }

    /// V of a sum.
    fn overflow(&mut self, x: E::V, y: E::V, sum: E::V) {
        let (a, b) = (self.e.op(Op::Xor, x, sum), self.e.op(Op::Xor, y, sum));
        let both = self.e.op(Op::And, a, b);
        let v = self.bit(both, 31);
        self.e.set(V, v);
    }

    /// LSL, LSR, ASR, ROR by a register.
    fn shift(&mut self, name: &str, o: &Operands, flags: bool) {
        let (x, n) = (self.reg(o.b), self.reg(o.c));
        let n = self.with(Op::And, n, 0xFF);
        if name == "ror" {
            let value = self.e.op(Op::Rotr, x, n);
            let carry = if flags { Some(self.bit(value, 31)) } else { None };
            return self.shifted(o, n, value, carry);
        }
        // 33 stands for every larger amount
        let most = self.int(33);
        let less = self.e.test(Test::LessU, n, most);
        let m = self.e.pick(less, n, most);
        let (m, wide) = (self.e.widen(m, 64, false), self.e.widen(x, 64, name == "asr"));
        let one = self.e.int(64, 1);
        let (value, carry) = if name == "lsl" {
            let shifted = self.e.op(Op::Shl, wide, m);
            let top = self.e.int(64, 32);
            let carry = self.e.op(Op::Shr, shifted, top);
            (shifted, carry)
        } else {
            let doubled = self.e.op(Op::Shl, wide, one);
            let carry = self.e.op(if name == "asr" { Op::Sar } else { Op::Shr }, doubled, m);
            let value = self.e.op(Op::Shr, carry, one);
            (value, carry)
        };
        let value = self.e.narrow(value, 32);
        let carry = if flags {
            let low = self.e.narrow(carry, 32);
            Some(self.bit(low, 0))
        } else {
            None
        };
        self.shifted(o, n, value, carry);
    }

    fn shifted(&mut self, o: &Operands, n: E::V, value: E::V, carry: Option<E::V>) {
        self.e.set(o.a.into(), value);
        if let Some(carry) = carry {
            self.set_nz(value);
            let (zero, old) = (self.int(0), self.e.get(C));
            let some = self.e.test(Test::Ne, n, zero);
            let carry = self.e.pick(some, carry, old);
            self.e.set(C, carry);
        }
    }

    /// Address and new base of a single access.
    fn access(&mut self, text: &str, o: &Operands) -> (E::V, Option<E::V>) {
        if text.contains("[pc") {
            return (self.int(o.imm), None);
        }
        let base = self.reg(o.b);
        if text.contains("{c}") {
            let index = self.reg(o.c);
            let index = if o.d & 31 == 0 { index } else { self.with(Op::Shl, index, (o.d & 31).into()) };
            return (self.e.op(Op::Add, base, index), None);
        }
        let sum = self.with(Op::Add, base, o.imm);
        if text.ends_with("]!") {
            (sum, Some(sum))
        } else if text.contains("], ") {
            (base, Some(sum))
        } else {
            (sum, None)
        }
    }

    /// Loads and stores of one or several registers; whether it is one that is known here.
    fn transfer(&mut self, name: &str, text: &str, o: &Operands, by: ByHandler) -> bool {
        let (a, b) = (usize::from(o.a), usize::from(o.b));
        let bytes = |name: &str| match name.as_bytes().get(3) {
            Some(b'b') => 1,
            Some(b'h') => 2,
            _ => 4,
        };
        match name {
            "ldr" | "ldrb" | "ldrh" | "ldrt" | "ldrbt" | "ldrht" | "ldrsb" | "ldrsh" | "ldrsbt" | "ldrsht" => {
                let (size, signed) = match name.strip_prefix("ldrs") {
                    Some(rest) => (if rest.starts_with('b') { 1 } else { 2 }, true),
                    None => (bytes(name), false),
                };
                let (at, base) = self.access(text, o);
                let by = ByHandler { writes: by.writes.with(a).with(if base.is_some() { b } else { a }), ..by };
                self.e.load(by, at, size, (32, signed), |e, value| {
                    if let Some(base) = base {
                        e.set(b, base);
                    }
                    e.set(a, value);
                });
            }
            "str" | "strb" | "strh" | "strt" | "strbt" | "strht" => {
                let (at, base) = self.access(text, o);
                let writes = if base.is_some() { by.writes.with(b) } else { by.writes };
                let value = self.e.get(a);
                self.e.store(ByHandler { writes, ..by }, at, bytes(name), value, |e| {
                    if let Some(base) = base {
                        e.set(b, base);
                    }
                });
            }
            "ldrd" => {
                let (at, base) = self.access(text, o);
                let writes = by.writes.with(a).with(o.d.into()).with(if base.is_some() { b } else { a });
                self.e.load_words(ByHandler { writes, ..by }, at, 2, |e, values| {
                    if let Some(base) = base {
                        e.set(b, base);
                    }
                    e.set(a, values[0]);
                    e.set(o.d.into(), values[1]);
                });
            }
            "strd" => {
                let (at, base) = self.access(text, o);
                let writes = if base.is_some() { by.writes.with(b) } else { by.writes };
                let values = [self.e.get(a), self.reg(o.d)];
                self.e.store_words(ByHandler { writes, ..by }, at, &values, |e| {
                    if let Some(base) = base {
                        e.set(b, base);
                    }
                });
            }
            "ldmia" | "ldmdb" | "pop" | "stmia" | "stmdb" | "push" => self.several(name, o, by),
            _ => return false,
        }
        true
    }

    fn several(&mut self, name: &str, o: &Operands, by: ByHandler) {
        let b = usize::from(o.b);
        let down = matches!(name, "ldmdb" | "stmdb" | "push");
        let list: Vec<usize> = (0..16).filter(|&n| o.imm >> n & 1 == 1).collect();
        let bytes = 4 * list.len() as u32;
        let base = self.reg(o.b);
        let end = self.with(Op::Add, base, if down { bytes.wrapping_neg() } else { bytes });
        let start = if down { end } else { base };
        let changes = o.a != 0;
        let all = list.iter().filter(|&&n| n != PC).fold(Slots::default(), |s, &n| s.with(n));
        if matches!(name, "stmia" | "stmdb" | "push") {
            let reads = Slots(by.reads.0 | all.0);
            let writes = if changes { by.writes.with(b) } else { by.writes };
            let values: Vec<_> = list.iter().map(|&n| self.e.get(n)).collect();
            self.e.store_words(ByHandler { reads, writes, ..by }, start, &values, |e| {
                if changes {
                    e.set(b, end);
                }
            });
            return;
        }
        let writes = all.with(b);
        let by = ByHandler { writes, ..by };
        self.e.load_words(by, start, list.len(), |e, values| {
            let set = |e: &mut E| {
                if changes {
                    e.set(b, end);
                }
                list.iter().zip(values).filter(|&(&n, _)| n != PC).for_each(|(&n, &v)| e.set(n, v));
            };
            if list.last() == Some(&PC) {
                let target = values[list.len() - 1];
                jump_to(e, by, target, set);
            } else {
                set(e);
            }
        });
    }

    /// Everything else that is known here.
    fn row(&mut self, cpu: &Thumb, row: &Row, o: &Operands, i: &Insn<Thumb>, by: ByHandler, flags: bool) {
        let text = row.text.0;
        let name = text.split([' ', '.', '{']).next().unwrap_or(text);
        let registers = [o.a, o.b, o.c, o.d].into_iter().map(usize::from).filter(|&n| n < PC);
        let reads = registers.fold(Slots::default().with(SP), Slots::with);
        let by = ByHandler { reads, ..by };
        let a = usize::from(o.a);
        match row.class {
            Class::Alu if usize::from(o.a) == PC => self.e.handler(by), // unpredictable: the value is lost
            Class::Alu if matches!(name, "movs" | "movw") || text.starts_with("{sh}") => _ = self.data("mov", o, flags),
            Class::Alu if matches!(name, "addw" | "subw") => _ = self.data(&name[..3], o, flags),
            Class::Alu if text.starts_with("{addsub}w") => _ = self.data("mov", o, flags),
            Class::Alu if text.ends_with("pc, {literal}") && name == "add" => _ = self.data("mov", o, flags),
            Class::Alu if matches!(name, "lsl" | "lsr" | "asr" | "ror") => self.shift(name, o, flags),
            Class::Alu if self.data(name, o, flags) => {}
            Class::Alu if matches!(name, "nop" | "yield" | "wfe" | "wfi" | "sev" | "dbg" | "pld" | "pli") => {}
            Class::Barrier => {}
            Class::Alu if self.simple(name, o) => {}
            Class::Mul if name == "mul" => {
                let (x, y) = (self.reg(o.b), self.reg(o.c));
                let value = self.e.op(Op::Mul, x, y);
                self.e.set(a, value);
                if flags {
                    self.set_nz(value);
                }
            }
            Class::MulAdd if matches!(name, "mla" | "mls") => {
                let (x, y, z) = (self.reg(o.b), self.reg(o.c), self.reg(o.d));
                let product = self.e.op(Op::Mul, x, y);
                let value = self.e.op(if name == "mla" { Op::Add } else { Op::Sub }, z, product);
                self.e.set(a, value);
            }
            Class::MulLong | Class::MulLongAdd
                if cpu.events.mul_long.is_none() && matches!(name, "umull" | "smull" | "umlal" | "smlal") =>
            {
                self.mul_long(name, o);
            }
            Class::Load | Class::Store | Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple
                if self.transfer(name, text, o, by) => {}
            Class::BranchCond if name.starts_with("cb") => {
                let (x, zero) = (self.reg(o.b), self.int(0));
                let holds = self.e.test(if name == "cbz" { Test::Eq } else { Test::Ne }, x, zero);
                self.branch(holds, i);
            }
            Class::BranchCond => {
                let holds = self.holds(o.c);
                self.branch(holds, i);
            }
            Class::Branch => match name {
                "b" => self.e.jump(o.imm),
                "bl" => {
                    let behind = self.int(i.site.pc.wrapping_add(4) | 1);
                    self.e.set(LR, behind);
                    self.e.jump(o.imm);
                }
                "bx" | "blx" => {
                    let target = self.reg(o.c);
                    let behind = self.int(i.site.pc.wrapping_add(2) | 1);
                    let by = ByHandler { writes: by.writes.with(LR), ..by };
                    jump_to(self.e, by, target, |e| {
                        if name == "blx" {
                            e.set(LR, behind);
                        }
                    });
                }
                _ => self.e.handler(by),
            },
            Class::LoadPc | Class::TableBranch => {
                self.e.handler(ByHandler { writes: by.writes.with(usize::from(o.b).min(PC - 1)), ..by });
            }
            Class::Stop => self.e.handler(by),
            Class::Alu | Class::Mul | Class::MulAdd | Class::MulLong | Class::MulLongAdd | Class::Div => {
                let writes = by.writes.with(a).with(usize::from(o.d & 15).min(PC - 1));
                let flags = |s: Slots| s.with(NZ).with(C).with(V).with(Q).with(GE);
                self.e.handler(ByHandler { reads: flags(Slots(reads.0 | writes.0)), writes: flags(writes), ..by });
                self.compared = None;
            }
            _ => {
                self.e.handler(ByHandler { reads: Slots::ALL, writes: Slots::ALL, ..by });
                self.compared = None;
            }
        }
    }

    fn branch(&mut self, holds: E::V, i: &Insn<Thumb>) {
        self.e.branch(holds, i.imm, i.taken.into(), i.site.pc.wrapping_add(i.d.into()));
    }

    fn mul_long(&mut self, name: &str, o: &Operands) {
        let signed = name.starts_with('s');
        let (x, y) = (self.reg(o.b), self.reg(o.c));
        let (x, y) = (self.e.widen(x, 64, signed), self.e.widen(y, 64, signed));
        let mut value = self.e.op(Op::Mul, x, y);
        let top = self.e.int(64, 32);
        if name.ends_with("al") {
            let (low, high) = (self.reg(o.a), self.reg(o.d));
            let (low, high) = (self.e.widen(low, 64, false), self.e.widen(high, 64, false));
            let high = self.e.op(Op::Shl, high, top);
            let old = self.e.op(Op::Or, high, low);
            value = self.e.op(Op::Add, value, old);
        }
        let low = self.e.narrow(value, 32);
        self.e.set(o.a.into(), low);
        let high = self.e.op(Op::Shr, value, top);
        let high = self.e.narrow(high, 32);
        self.e.set(o.d.into(), high);
    }

    /// Moves of parts of a register; whether `name` is one.
    fn simple(&mut self, name: &str, o: &Operands) -> bool {
        let (a, d) = (usize::from(o.a), u32::from(o.d));
        let value = match name {
            "movt" => {
                let x = self.reg(o.a);
                let low = self.with(Op::And, x, 0xFFFF);
                self.with(Op::Or, low, o.imm << 16)
            }
            "sxth" | "sxtb" | "uxth" | "uxtb" => {
                let x = self.reg(o.c);
                let x = if d == 0 { x } else { self.with(Op::Rotr, x, d) };
                let x = self.e.narrow(x, if name.ends_with('b') { 8 } else { 16 });
                self.e.widen(x, 32, name.starts_with('s'))
            }
            "rev" => {
                let x = self.reg(o.c);
                self.e.one(One::ReverseBytes, x)
            }
            "rev16" => {
                let x = self.reg(o.c);
                let x = self.e.one(One::ReverseBytes, x);
                self.with(Op::Rotr, x, 16)
            }
            "revsh" => {
                let x = self.reg(o.c);
                let x = self.e.one(One::ReverseBytes, x);
                self.with(Op::Sar, x, 16)
            }
            "rbit" => {
                let x = self.reg(o.c);
                self.e.one(One::ReverseBits, x)
            }
            "clz" => {
                let x = self.reg(o.c);
                self.e.one(One::LeadingZeros, x)
            }
            "sbfx" | "ubfx" => {
                let x = self.reg(o.b);
                let up = 32u32.wrapping_sub(d + o.imm) & 31;
                let down = 32u32.wrapping_sub(o.imm) & 31;
                let x = self.with(Op::Shl, x, up);
                self.with(if name == "sbfx" { Op::Sar } else { Op::Shr }, x, down)
            }
            "bfi" => {
                let (x, y) = (self.reg(o.b), self.reg(o.a));
                let x = self.with(Op::Shl, x, d & 31);
                let (x, y) = (self.with(Op::And, x, o.imm), self.with(Op::And, y, !o.imm));
                self.e.op(Op::Or, x, y)
            }
            "bfc" => {
                let y = self.reg(o.a);
                self.with(Op::And, y, !o.imm)
            }
            _ => return false,
        };
        self.e.set(a, value);
        true
    }
}

/// Goes to a target with bit 0 set, after `then`.
fn jump_to<E: Emit>(e: &mut E, by: ByHandler, target: E::V, then: impl FnOnce(&mut E)) {
    let (one, zero) = (e.int(32, 1), e.int(32, 0));
    let thumb = e.op(Op::And, target, one);
    let thumb = e.test(Test::Ne, thumb, zero);
    e.guard(by, thumb, |e| {
        then(e);
        let even = e.int(32, 0xFFFF_FFFE);
        let target = e.op(Op::And, target, even);
        e.jump_to(target);
    });
}
