//! The instruction set as one list: encoding, text, timing class, flags and meaning of each row.
//!
//! Encodings, flags and operations are those of the AVR Instruction Set Manual (DS40002198). Rows that
//! some cores lack say so; a core looks them up with [`crate::Variant::find`].

use std::sync::LazyLock;

use isa::{Exec, Fields, Pattern, Template, next};

use crate::Avr;
use crate::exec::{self, DISP, I, PLAIN, POST, PRE, X, Y, ZP};
use crate::sreg::{C, H, N, S, T, V, Z};

/// What a timing model distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Register operations, IN, OUT, NOP, WDR and everything else that takes one cycle everywhere.
    Alu,
    /// ADIW, SBIW.
    Word,
    /// The multiplications.
    Multiply,
    /// SBI, CBI.
    IoBit,
    /// LD and LDD.
    Load,
    /// ST and STD.
    Store,
    /// LDS.
    LoadDirect,
    /// STS.
    StoreDirect,
    /// LPM, ELPM.
    LoadProgram,
    /// PUSH.
    Push,
    /// POP.
    Pop,
    /// RJMP, IJMP.
    JumpShort,
    /// JMP.
    Jump,
    /// RCALL, ICALL.
    CallShort,
    /// CALL.
    Call,
    /// RET, RETI.
    Return,
    /// Conditional branches.
    Branch,
    /// CPSE, SBRC, SBRS.
    Skip,
    /// SBIC, SBIS.
    SkipIo,
    /// No instruction: a run falls through here, at no cost.
    Seam,
}

/// Where control goes behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next one.
    Next,
    /// To the next one or to its target.
    Branch,
    /// To the next one or the one behind it.
    Skip,
    /// Anywhere else.
    End,
}

/// Operands of one instruction: what goes into the decoded instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub imm: u32,
    /// Whether `imm` is an I/O address, so that the data address depends on the core.
    pub io: bool,
}

/// One instruction.
pub struct Row {
    /// Encoding.
    pub pattern: Pattern,
    /// Assembly text; places are `a`, `b` and `imm`.
    pub text: Template,
    /// Timing class.
    pub class: Class,
    pub(crate) flow: Flow,
    pub(crate) operands: fn(&Fields, u32) -> Operands,
    /// Flags that it reads, a mask of SREG bits, perhaps with [`IF_SREG`].
    pub(crate) reads: u16,
    /// Flags that it writes whenever it is executed, likewise.
    pub(crate) writes: u16,
    /// Its handler, when the flags in the argument can still be read behind it.
    pub(crate) exec: fn(u8) -> Exec<Avr>,
    /// Whether only cores with RAMPZ have it.
    pub(crate) far: bool,
}

impl Row {
    /// The mnemonic alone.
    pub fn name(&self) -> &'static str {
        self.text.0.split(' ').next().unwrap_or(self.text.0)
    }

    /// Length in bytes.
    pub fn bytes(&self) -> u32 {
        self.pattern.bits / 8
    }

    /// The row as one that only cores with RAMPZ have.
    const fn far(self) -> Self {
        Self { far: true, ..self }
    }

    /// Fixed bits of the first word and their values.
    const fn first(&self) -> (u16, u16) {
        let up = self.pattern.bits - 16;
        ((self.pattern.mask >> up) as u16, (self.pattern.value >> up) as u16)
    }
}

/// In a flag mask: all flags when the instruction's address is that of SREG.
pub(crate) const IF_SREG: u16 = 0x100;
/// All flags.
pub(crate) const ALL: u8 = 0xFF;

const ARITH: u16 = (H | S | V | N | Z | C) as u16;
const SHIFT: u16 = (S | V | N | Z | C) as u16;
const LOGIC: u16 = (S | V | N | Z) as u16;
const ZC: u16 = (Z | C) as u16;
const CARRY: u16 = C as u16;
/// A pointer can point to SREG.
const POINTER: u16 = ALL as u16;

/// Operand mappings, named for the fields.
mod fields {
    use super::{Fields, Operands};

    fn reg(f: &Fields, letter: char) -> u8 {
        f.get(letter) as u8
    }
    pub fn none(f: &Fields, _: u32) -> Operands {
        Operands { imm: f.word, ..Operands::default() }
    }
    pub fn d(f: &Fields, _: u32) -> Operands {
        Operands { a: reg(f, 'd'), ..Operands::default() }
    }
    pub fn d_r(f: &Fields, _: u32) -> Operands {
        Operands { a: reg(f, 'd'), b: reg(f, 'r'), ..Operands::default() }
    }
    /// Both registers are r16..r31 (or r23).
    pub fn high_d_r(f: &Fields, _: u32) -> Operands {
        Operands { a: 16 + reg(f, 'd'), b: 16 + reg(f, 'r'), ..Operands::default() }
    }
    pub fn pair_d_r(f: &Fields, _: u32) -> Operands {
        Operands { a: 2 * reg(f, 'd'), b: 2 * reg(f, 'r'), ..Operands::default() }
    }
    pub fn high_d_k(f: &Fields, _: u32) -> Operands {
        Operands { a: 16 + reg(f, 'd'), imm: f.get('k'), ..Operands::default() }
    }
    pub fn word_d_k(f: &Fields, _: u32) -> Operands {
        Operands { a: 24 + 2 * reg(f, 'd'), imm: f.get('k'), ..Operands::default() }
    }
    pub fn d_k(f: &Fields, _: u32) -> Operands {
        Operands { a: reg(f, 'd'), imm: f.get('k'), ..Operands::default() }
    }
    pub fn d_b(f: &Fields, _: u32) -> Operands {
        Operands { a: reg(f, 'd'), b: reg(f, 'b'), ..Operands::default() }
    }
    pub fn d_q(f: &Fields, _: u32) -> Operands {
        Operands { a: reg(f, 'd'), b: reg(f, 'q'), ..Operands::default() }
    }
    pub fn d_io(f: &Fields, _: u32) -> Operands {
        Operands { a: reg(f, 'd'), b: 0, imm: f.get('i'), io: true }
    }
    pub fn io_b(f: &Fields, _: u32) -> Operands {
        Operands { a: 0, b: reg(f, 'b'), imm: f.get('i'), io: true }
    }
    pub fn relative(f: &Fields, pc: u32) -> Operands {
        let imm = pc.wrapping_add(2).wrapping_add_signed(2 * f.signed('k'));
        Operands { imm, ..Operands::default() }
    }
    pub fn absolute(f: &Fields, _: u32) -> Operands {
        Operands { imm: 2 * f.get('k'), ..Operands::default() }
    }
}

/// A handler that cannot fail or leave the run.
macro_rules! plain {
    ($f:ident $($arg:tt)*) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                exec::$f$($arg)*(cpu, &*i);
                next(cpu, i);
            }
        }
        |_| run
    }};
}

/// Likewise, with one handler for each useful set of flags that are still wanted.
macro_rules! flags {
    ($f:ident) => {{
        unsafe fn run<const F: u8>(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                exec::$f::<F>(cpu, &*i);
                next(cpu, i);
            }
        }
        |live| match live {
            0 => run::<0>,
            C => run::<C>,
            _ if live & !(C | Z) == 0 => run::<{ C | Z }>,
            _ => run::<ALL>,
        }
    }};
}

/// A handler with a fast path for RAM.
macro_rules! memory {
    ($f:ident $(, $arg:ident)*) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                match exec::$f::<false $(, $arg)*>(cpu, &*i) {
                    Some(()) => next(cpu, i),
                    None => slow(cpu, i),
                }
            }
        }
        #[cold]
        #[inline(never)]
        unsafe fn slow(cpu: &mut Avr, i: *const I) {
            // SAFETY: as above.
            unsafe {
                let _ = exec::$f::<true $(, $arg)*>(cpu, &*i);
                next(cpu, i);
            }
        }
        |_| run
    }};
}

/// A handler that sets the program counter and ends the run.
macro_rules! leave {
    ($f:ident $(, $arg:literal)*) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points to an instruction (contract of `Exec`).
            let insn = unsafe { &*i };
            if exec::$f::<false $(, $arg)*>(cpu, insn).is_none() {
                slow(cpu, insn);
            }
        }
        #[cold]
        #[inline(never)]
        fn slow(cpu: &mut Avr, i: &I) {
            let _ = exec::$f::<true $(, $arg)*>(cpu, i);
        }
        |_| run
    }};
}

/// A handler that goes to its target or on.
macro_rules! branch {
    ($f:ident $bit:literal) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block and is not its last instruction (contract of `Exec`).
            unsafe {
                let insn = &*i;
                if exec::$f::<$bit>(cpu, insn) {
                    cpu.mem.stall += i64::from(insn.taken) - i64::from(insn.refund);
                    cpu.pc = insn.imm;
                } else {
                    next(cpu, i);
                }
            }
        }
        |_| run
    }};
}

/// A handler that goes on or one further.
macro_rules! skip {
    ($f:ident) => {{
        unsafe fn run(cpu: &mut Avr, i: *const I) {
            // SAFETY: `i` points into a block; the decoder puts at least two more behind a skip.
            unsafe {
                let insn = &*i;
                if exec::$f(cpu, insn) {
                    cpu.mem.stall += i64::from(insn.taken) - i64::from(insn.refund);
                    next(cpu, i.add(1));
                } else {
                    next(cpu, i);
                }
            }
        }
        |_| run
    }};
}

type ToOperands = fn(&Fields, u32) -> Operands;
type Pick = fn(u8) -> Exec<Avr>;

#[allow(clippy::too_many_arguments)] // a row has that many columns
const fn row(
    pattern: &'static str,
    operands: ToOperands,
    text: &'static str,
    class: Class,
    flow: Flow,
    reads: u16,
    writes: u16,
    exec: Pick,
) -> Row {
    let (pattern, text) = (Pattern::new(pattern), Template(text));
    Row { pattern, text, class, flow, operands, reads, writes, exec, far: false }
}

use Class::{
    Alu, Branch, Call, CallShort, IoBit, Jump, JumpShort, Load, LoadDirect, LoadProgram, Multiply, Pop, Push, Return,
    Skip, SkipIo, Store, StoreDirect, Word,
};
use fields::{absolute, d, d_b, d_io, d_k, d_q, d_r, high_d_k, high_d_r, io_b, none, pair_d_r, relative, word_d_k};

/// Every instruction of every core here.
#[rustfmt::skip]
pub static TABLE: &[Row] = &[
    // arithmetic and logic
    row("0000 11rd dddd rrrr", d_r,      "add r{a}, r{b}",    Alu,      Flow::Next, 0,     ARITH, flags!(add)),
    row("0001 11rd dddd rrrr", d_r,      "adc r{a}, r{b}",    Alu,      Flow::Next, CARRY, ARITH, flags!(adc)),
    row("0001 10rd dddd rrrr", d_r,      "sub r{a}, r{b}",    Alu,      Flow::Next, 0,     ARITH, flags!(sub)),
    row("0000 10rd dddd rrrr", d_r,      "sbc r{a}, r{b}",    Alu,      Flow::Next, ZC,    ARITH, flags!(sbc)),
    row("0001 01rd dddd rrrr", d_r,      "cp r{a}, r{b}",     Alu,      Flow::Next, 0,     ARITH, flags!(cp)),
    row("0000 01rd dddd rrrr", d_r,      "cpc r{a}, r{b}",    Alu,      Flow::Next, ZC,    ARITH, flags!(cpc)),
    row("0101 kkkk dddd kkkk", high_d_k, "subi r{a}, {imm:x}", Alu,     Flow::Next, 0,     ARITH, flags!(subi)),
    row("0100 kkkk dddd kkkk", high_d_k, "sbci r{a}, {imm:x}", Alu,     Flow::Next, ZC,    ARITH, flags!(sbci)),
    row("0011 kkkk dddd kkkk", high_d_k, "cpi r{a}, {imm:x}", Alu,      Flow::Next, 0,     ARITH, flags!(cpi)),
    row("0010 00rd dddd rrrr", d_r,      "and r{a}, r{b}",    Alu,      Flow::Next, 0,     LOGIC, flags!(and)),
    row("0010 10rd dddd rrrr", d_r,      "or r{a}, r{b}",     Alu,      Flow::Next, 0,     LOGIC, flags!(or)),
    row("0010 01rd dddd rrrr", d_r,      "eor r{a}, r{b}",    Alu,      Flow::Next, 0,     LOGIC, flags!(eor)),
    row("0111 kkkk dddd kkkk", high_d_k, "andi r{a}, {imm:x}", Alu,     Flow::Next, 0,     LOGIC, flags!(andi)),
    row("0110 kkkk dddd kkkk", high_d_k, "ori r{a}, {imm:x}", Alu,      Flow::Next, 0,     LOGIC, flags!(ori)),
    row("1001 010d dddd 0000", d,        "com r{a}",          Alu,      Flow::Next, 0,     SHIFT, flags!(com)),
    row("1001 010d dddd 0001", d,        "neg r{a}",          Alu,      Flow::Next, 0,     ARITH, flags!(neg)),
    row("1001 010d dddd 0010", d,        "swap r{a}",         Alu,      Flow::Next, 0,     0,     plain!(swap)),
    row("1001 010d dddd 0011", d,        "inc r{a}",          Alu,      Flow::Next, 0,     LOGIC, flags!(inc)),
    row("1001 010d dddd 1010", d,        "dec r{a}",          Alu,      Flow::Next, 0,     LOGIC, flags!(dec)),
    row("1001 010d dddd 0101", d,        "asr r{a}",          Alu,      Flow::Next, 0,     SHIFT, flags!(asr)),
    row("1001 010d dddd 0110", d,        "lsr r{a}",          Alu,      Flow::Next, 0,     SHIFT, flags!(lsr)),
    row("1001 010d dddd 0111", d,        "ror r{a}",          Alu,      Flow::Next, CARRY, SHIFT, flags!(ror)),
    row("1001 0110 kkdd kkkk", word_d_k, "adiw r{a}, {imm:x}", Word,    Flow::Next, 0,     SHIFT, flags!(adiw)),
    row("1001 0111 kkdd kkkk", word_d_k, "sbiw r{a}, {imm:x}", Word,    Flow::Next, 0,     SHIFT, flags!(sbiw)),
    row("1001 11rd dddd rrrr", d_r,      "mul r{a}, r{b}",    Multiply, Flow::Next, 0,     ZC,    flags!(mul)),
    row("0000 0010 dddd rrrr", high_d_r, "muls r{a}, r{b}",   Multiply, Flow::Next, 0,     ZC,    flags!(muls)),
    row("0000 0011 0ddd 0rrr", high_d_r, "mulsu r{a}, r{b}",  Multiply, Flow::Next, 0,     ZC,    flags!(mulsu)),
    row("0000 0011 0ddd 1rrr", high_d_r, "fmul r{a}, r{b}",   Multiply, Flow::Next, 0,     ZC,    flags!(fmul)),
    row("0000 0011 1ddd 0rrr", high_d_r, "fmuls r{a}, r{b}",  Multiply, Flow::Next, 0,     ZC,    flags!(fmuls)),
    row("0000 0011 1ddd 1rrr", high_d_r, "fmulsu r{a}, r{b}", Multiply, Flow::Next, 0,     ZC,    flags!(fmulsu)),
    // moves
    row("0010 11rd dddd rrrr", d_r,      "mov r{a}, r{b}",    Alu,      Flow::Next, 0,     0,     plain!(mov)),
    row("0000 0001 dddd rrrr", pair_d_r, "movw r{a}, r{b}",   Alu,      Flow::Next, 0,     0,     plain!(movw)),
    row("1110 kkkk dddd kkkk", high_d_k, "ldi r{a}, {imm:x}", Alu,      Flow::Next, 0,     0,     plain!(ldi)),
    row("1111 101d dddd 0bbb", d_b,      "bst r{a}, {b}",     Alu,      Flow::Next, 0, T as u16,  plain!(bst)),
    row("1111 100d dddd 0bbb", d_b,      "bld r{a}, {b}",     Alu,      Flow::Next, T as u16, 0,  plain!(bld)),
    // data memory
    row("1001 000d dddd 1100", d,        "ld r{a}, X",        Load,     Flow::Next, POINTER, 0,   memory!(ld, X, PLAIN)),
    row("1001 000d dddd 1101", d,        "ld r{a}, X+",       Load,     Flow::Next, POINTER, 0,   memory!(ld, X, POST)),
    row("1001 000d dddd 1110", d,        "ld r{a}, -X",       Load,     Flow::Next, POINTER, 0,   memory!(ld, X, PRE)),
    row("1001 000d dddd 1001", d,        "ld r{a}, Y+",       Load,     Flow::Next, POINTER, 0,   memory!(ld, Y, POST)),
    row("1001 000d dddd 1010", d,        "ld r{a}, -Y",       Load,     Flow::Next, POINTER, 0,   memory!(ld, Y, PRE)),
    row("1001 000d dddd 0001", d,        "ld r{a}, Z+",       Load,     Flow::Next, POINTER, 0,   memory!(ld, ZP, POST)),
    row("1001 000d dddd 0010", d,        "ld r{a}, -Z",       Load,     Flow::Next, POINTER, 0,   memory!(ld, ZP, PRE)),
    row("10q0 qq0d dddd 1qqq", d_q,      "ldd r{a}, Y+{b}",   Load,     Flow::Next, POINTER, 0,   memory!(ld, Y, DISP)),
    row("10q0 qq0d dddd 0qqq", d_q,      "ldd r{a}, Z+{b}",   Load,     Flow::Next, POINTER, 0,   memory!(ld, ZP, DISP)),
    row("1001 001d dddd 1100", d,        "st X, r{a}",        Store,    Flow::Next, 0,     0,     memory!(st, X, PLAIN)),
    row("1001 001d dddd 1101", d,        "st X+, r{a}",       Store,    Flow::Next, 0,     0,     memory!(st, X, POST)),
    row("1001 001d dddd 1110", d,        "st -X, r{a}",       Store,    Flow::Next, 0,     0,     memory!(st, X, PRE)),
    row("1001 001d dddd 1001", d,        "st Y+, r{a}",       Store,    Flow::Next, 0,     0,     memory!(st, Y, POST)),
    row("1001 001d dddd 1010", d,        "st -Y, r{a}",       Store,    Flow::Next, 0,     0,     memory!(st, Y, PRE)),
    row("1001 001d dddd 0001", d,        "st Z+, r{a}",       Store,    Flow::Next, 0,     0,     memory!(st, ZP, POST)),
    row("1001 001d dddd 0010", d,        "st -Z, r{a}",       Store,    Flow::Next, 0,     0,     memory!(st, ZP, PRE)),
    row("10q0 qq1d dddd 1qqq", d_q,      "std Y+{b}, r{a}",   Store,    Flow::Next, 0,     0,     memory!(st, Y, DISP)),
    row("10q0 qq1d dddd 0qqq", d_q,      "std Z+{b}, r{a}",   Store,    Flow::Next, 0,     0,     memory!(st, ZP, DISP)),
    row("1001 000d dddd 0000 kkkk kkkk kkkk kkkk", d_k, "lds r{a}, {imm:x}", LoadDirect,  Flow::Next, IF_SREG, 0, memory!(lds)),
    row("1001 001d dddd 0000 kkkk kkkk kkkk kkkk", d_k, "sts {imm:x}, r{a}", StoreDirect, Flow::Next, 0, IF_SREG, memory!(sts)),
    row("1001 001d dddd 1111", d,        "push r{a}",         Push,     Flow::Next, 0,     0,     memory!(push)),
    row("1001 000d dddd 1111", d,        "pop r{a}",          Pop,      Flow::Next, POINTER, 0,   memory!(pop)),
    // program memory
    row("1001 0101 1100 1000", none,     "lpm",               LoadProgram, Flow::Next, 0,  0,     memory!(lpm, PLAIN)),
    row("1001 000d dddd 0100", d,        "lpm r{a}, Z",       LoadProgram, Flow::Next, 0,  0,     memory!(lpm, PLAIN)),
    row("1001 000d dddd 0101", d,        "lpm r{a}, Z+",      LoadProgram, Flow::Next, 0,  0,     memory!(lpm, POST)),
    row("1001 0101 1101 1000", none,     "elpm",              LoadProgram, Flow::Next, 0,  0,     memory!(elpm, PLAIN)).far(),
    row("1001 000d dddd 0110", d,        "elpm r{a}, Z",      LoadProgram, Flow::Next, 0,  0,     memory!(elpm, PLAIN)).far(),
    row("1001 000d dddd 0111", d,        "elpm r{a}, Z+",     LoadProgram, Flow::Next, 0,  0,     memory!(elpm, POST)).far(),
    row("1001 0101 1110 1000", none,     "spm",               Alu,      Flow::End,  0,     0,     leave!(spm)),
    // I/O space
    row("1011 0iid dddd iiii", d_io,     "in r{a}, {imm:x}", Alu,      Flow::Next, IF_SREG, 0,   memory!(lds)),
    row("1011 1iid dddd iiii", d_io,     "out {imm:x}, r{a}", Alu,     Flow::Next, 0, IF_SREG,   memory!(sts)),
    row("1001 1000 iiii ibbb", io_b,     "cbi {imm:x}, {b}", IoBit,    Flow::Next, 0,     0,     plain!(cbi)),
    row("1001 1010 iiii ibbb", io_b,     "sbi {imm:x}, {b}", IoBit,    Flow::Next, 0,     0,     plain!(sbi)),
    // skips
    row("0001 00rd dddd rrrr", d_r,      "cpse r{a}, r{b}",   Skip,     Flow::Skip, 0,     0,     skip!(cpse)),
    row("1111 110d dddd 0bbb", d_b,      "sbrc r{a}, {b}",    Skip,     Flow::Skip, 0,     0,     skip!(sbrc)),
    row("1111 111d dddd 0bbb", d_b,      "sbrs r{a}, {b}",    Skip,     Flow::Skip, 0,     0,     skip!(sbrs)),
    row("1001 1001 iiii ibbb", io_b,     "sbic {imm:x}, {b}", SkipIo,  Flow::Skip, 0,     0,     skip!(sbic)),
    row("1001 1011 iiii ibbb", io_b,     "sbis {imm:x}, {b}", SkipIo,  Flow::Skip, 0,     0,     skip!(sbis)),
    // jumps and calls
    row("1100 kkkk kkkk kkkk", relative, "rjmp {imm:x}",      JumpShort, Flow::End, 0,     0,     leave!(jmp)),
    row("1101 kkkk kkkk kkkk", relative, "rcall {imm:x}",     CallShort, Flow::End, 0,     0,     leave!(call, 1)),
    row("1001 010k kkkk 110k kkkk kkkk kkkk kkkk", absolute, "jmp {imm:x}", Jump, Flow::End, 0, 0, leave!(jmp)),
    row("1001 010k kkkk 111k kkkk kkkk kkkk kkkk", absolute, "call {imm:x}", Call, Flow::End, 0, 0, leave!(call, 2)),
    row("1001 0100 0000 1001", none,     "ijmp",              JumpShort, Flow::End, 0,     0,     leave!(ijmp)),
    row("1001 0101 0000 1001", none,     "icall",             CallShort, Flow::End, 0,     0,     leave!(icall)),
    row("1001 0101 0000 1000", none,     "ret",               Return,   Flow::End,  0,     0,     leave!(ret)),
    row("1001 0101 0001 1000", none,     "reti",              Return,   Flow::End,  0,     0,     leave!(reti)),
    // branches on the flags in order of their bits
    row("1111 00kk kkkk k000", relative, "brcs {imm:x}",      Branch, Flow::Branch, 0x01,  0,     branch!(when_set 0)),
    row("1111 00kk kkkk k001", relative, "breq {imm:x}",      Branch, Flow::Branch, 0x02,  0,     branch!(when_set 1)),
    row("1111 00kk kkkk k010", relative, "brmi {imm:x}",      Branch, Flow::Branch, 0x04,  0,     branch!(when_set 2)),
    row("1111 00kk kkkk k011", relative, "brvs {imm:x}",      Branch, Flow::Branch, 0x08,  0,     branch!(when_set 3)),
    row("1111 00kk kkkk k100", relative, "brlt {imm:x}",      Branch, Flow::Branch, 0x10,  0,     branch!(when_set 4)),
    row("1111 00kk kkkk k101", relative, "brhs {imm:x}",      Branch, Flow::Branch, 0x20,  0,     branch!(when_set 5)),
    row("1111 00kk kkkk k110", relative, "brts {imm:x}",      Branch, Flow::Branch, 0x40,  0,     branch!(when_set 6)),
    row("1111 00kk kkkk k111", relative, "brie {imm:x}",      Branch, Flow::Branch, 0x80,  0,     branch!(when_set 7)),
    row("1111 01kk kkkk k000", relative, "brcc {imm:x}",      Branch, Flow::Branch, 0x01,  0,     branch!(when_clear 0)),
    row("1111 01kk kkkk k001", relative, "brne {imm:x}",      Branch, Flow::Branch, 0x02,  0,     branch!(when_clear 1)),
    row("1111 01kk kkkk k010", relative, "brpl {imm:x}",      Branch, Flow::Branch, 0x04,  0,     branch!(when_clear 2)),
    row("1111 01kk kkkk k011", relative, "brvc {imm:x}",      Branch, Flow::Branch, 0x08,  0,     branch!(when_clear 3)),
    row("1111 01kk kkkk k100", relative, "brge {imm:x}",      Branch, Flow::Branch, 0x10,  0,     branch!(when_clear 4)),
    row("1111 01kk kkkk k101", relative, "brhc {imm:x}",      Branch, Flow::Branch, 0x20,  0,     branch!(when_clear 5)),
    row("1111 01kk kkkk k110", relative, "brtc {imm:x}",      Branch, Flow::Branch, 0x40,  0,     branch!(when_clear 6)),
    row("1111 01kk kkkk k111", relative, "brid {imm:x}",      Branch, Flow::Branch, 0x80,  0,     branch!(when_clear 7)),
    // single flags
    row("1001 0100 0000 1000", none,     "sec",               Alu,      Flow::Next, 0,     0x01,  plain!(bset::<0>)),
    row("1001 0100 0001 1000", none,     "sez",               Alu,      Flow::Next, 0,     0x02,  plain!(bset::<1>)),
    row("1001 0100 0010 1000", none,     "sen",               Alu,      Flow::Next, 0,     0x04,  plain!(bset::<2>)),
    row("1001 0100 0011 1000", none,     "sev",               Alu,      Flow::Next, 0,     0x08,  plain!(bset::<3>)),
    row("1001 0100 0100 1000", none,     "ses",               Alu,      Flow::Next, 0,     0x10,  plain!(bset::<4>)),
    row("1001 0100 0101 1000", none,     "seh",               Alu,      Flow::Next, 0,     0x20,  plain!(bset::<5>)),
    row("1001 0100 0110 1000", none,     "set",               Alu,      Flow::Next, 0,     0x40,  plain!(bset::<6>)),
    row("1001 0100 0111 1000", none,     "sei",               Alu,      Flow::Next, 0,     0x80,  plain!(bset::<7>)),
    row("1001 0100 1000 1000", none,     "clc",               Alu,      Flow::Next, 0,     0x01,  plain!(bclr::<0>)),
    row("1001 0100 1001 1000", none,     "clz",               Alu,      Flow::Next, 0,     0x02,  plain!(bclr::<1>)),
    row("1001 0100 1010 1000", none,     "cln",               Alu,      Flow::Next, 0,     0x04,  plain!(bclr::<2>)),
    row("1001 0100 1011 1000", none,     "clv",               Alu,      Flow::Next, 0,     0x08,  plain!(bclr::<3>)),
    row("1001 0100 1100 1000", none,     "cls",               Alu,      Flow::Next, 0,     0x10,  plain!(bclr::<4>)),
    row("1001 0100 1101 1000", none,     "clh",               Alu,      Flow::Next, 0,     0x20,  plain!(bclr::<5>)),
    row("1001 0100 1110 1000", none,     "clt",               Alu,      Flow::Next, 0,     0x40,  plain!(bclr::<6>)),
    row("1001 0100 1111 1000", none,     "cli",               Alu,      Flow::Next, 0,     0x80,  plain!(bclr::<7>)),
    // control
    row("0000 0000 0000 0000", none,     "nop",               Alu,      Flow::Next, 0,     0,     plain!(nop)),
    row("1001 0101 1010 1000", none,     "wdr",               Alu,      Flow::Next, 0,     0,     plain!(nop)),
    row("1001 0101 1000 1000", none,     "sleep",             Alu,      Flow::End,  0,     0,     leave!(sleep)),
    row("1001 0101 1001 1000", none,     "break",             Alu,      Flow::End,  0,     0,     leave!(brk)),
];

/// Row number plus one for each first word, 0 where there is none.
static INDEX: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let mut index = vec![0; 1 << 16];
    for (n, row) in TABLE.iter().enumerate() {
        let (mask, value) = row.first();
        let mut free = !mask;
        loop {
            index[usize::from(value | free)] = n as u8 + 1;
            if free == 0 {
                break;
            }
            free = (free - 1) & !mask;
        }
    }
    index.into()
});

/// The instruction whose first word is `word`, on a core that has them all.
pub fn find(word: u16) -> Option<&'static Row> {
    TABLE.get(usize::from(INDEX[usize::from(word)]).wrapping_sub(1))
}

/// The handler of a run's end: the program counter becomes `imm`.
pub(crate) fn seam() -> Exec<Avr> {
    let pick: Pick = leave!(jmp);
    pick(ALL)
}

/// The handler of a word that is no instruction.
pub(crate) fn undefined() -> Exec<Avr> {
    let pick: Pick = leave!(undefined);
    pick(ALL)
}

/// The handler of an instruction that flash ends in.
pub(crate) fn truncated() -> Exec<Avr> {
    let pick: Pick = leave!(truncated);
    pick(ALL)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, find};

    #[test]
    fn a_word_has_at_most_one_row() {
        let mut undefined = 0;
        for word in 0..=0xFFFFu16 {
            let rows: Vec<_> = TABLE.iter().filter(|r| word & r.first().0 == r.first().1).collect();
            assert!(rows.len() <= 1, "{word:#06x}: {:?}", rows.iter().map(|r| r.name()).collect::<Vec<_>>());
            assert_eq!(rows.first().map(|r| r.name()), find(word).map(|r| r.name()), "{word:#06x}");
            undefined += usize::from(rows.is_empty());
        }
        println!("{} rows, {undefined} words undefined", TABLE.len());
        assert!(TABLE.len() < 255);
    }
}
