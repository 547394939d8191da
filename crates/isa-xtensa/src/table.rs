//! The instructions: which core has them, encoding, assembly text, what it costs, what it does.
//!
//! Encodings are those of chapter 7 of the manual for little-endian cores, most significant bit first.
//! No two rows of one core match the same word.
//!
//! Letters in patterns: `r`, `s`, `t` registers as the manual names the fields, `i` and `I` the low and
//! the high part of an immediate, `w` a width, `b` and `k` small numbers; `x` is any value.

use isa::{Fields, Pattern, Template};

use crate::decode::Class;
use crate::exec::{self, Exec, branch, end, may, seq};

/// A core: which instructions and registers it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    part: Part,
    registers: u32,
}

impl Features {
    /// LX106 as in the ESP8266: no windows, no hardware loops, 32-bit products' low words only. The
    /// options are those of its `core-isa.h`.
    pub const LX106: Self = Self { part: Part::Core, registers: 16 };
    /// LX6 as in the ESP32, without its floating-point, boolean and MAC16 options.
    pub const LX6: Self = Self { part: Part::Lx6, registers: 64 };

    /// The same core with another number of physical registers (32 or 64).
    pub const fn with_registers(self, registers: u32) -> Self {
        Self { registers, ..self }
    }

    /// Physical registers.
    pub const fn registers(self) -> u32 {
        self.registers
    }

    /// Whether it has the windowed register option.
    pub fn windowed(self) -> bool {
        self.part == Part::Lx6
    }

    /// Whether unaligned accesses are done rather than an exception.
    pub fn unaligned(self) -> bool {
        self.part == Part::Lx6
    }

    fn has(self, part: Part) -> bool {
        part == Part::Core || part == self.part
    }

    /// Whether there is a special register of number `n` that is modelled.
    pub fn has_special(self, n: u8) -> bool {
        SPECIAL.iter().any(|&(part, number, _)| number == n && self.has(part))
    }
}

/// Where an instruction or register is: on both cores, or on the LX6 only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Core,
    Lx6,
}

/// Special registers: number and name (table 5-127 "Special Registers" of the manual).
#[rustfmt::skip]
const SPECIAL: &[(Part, u8, &str)] = &[
    (Part::Lx6, 0, "lbeg"), (Part::Lx6, 1, "lend"), (Part::Lx6, 2, "lcount"), (Part::Core, 3, "sar"),
    (Part::Lx6, 4, "br"), (Part::Lx6, 12, "scompare1"),
    (Part::Lx6, 72, "windowbase"), (Part::Lx6, 73, "windowstart"),
    (Part::Core, 177, "epc1"), (Part::Core, 178, "epc2"), (Part::Core, 179, "epc3"),
    (Part::Lx6, 180, "epc4"), (Part::Lx6, 181, "epc5"), (Part::Lx6, 182, "epc6"), (Part::Lx6, 183, "epc7"),
    (Part::Core, 192, "depc"), (Part::Core, 194, "eps2"), (Part::Core, 195, "eps3"),
    (Part::Lx6, 196, "eps4"), (Part::Lx6, 197, "eps5"), (Part::Lx6, 198, "eps6"), (Part::Lx6, 199, "eps7"),
    (Part::Core, 209, "excsave1"), (Part::Core, 210, "excsave2"), (Part::Core, 211, "excsave3"),
    (Part::Lx6, 212, "excsave4"), (Part::Lx6, 213, "excsave5"), (Part::Lx6, 214, "excsave6"),
    (Part::Lx6, 215, "excsave7"), (Part::Lx6, 224, "cpenable"), (Part::Core, 228, "intenable"),
    (Part::Core, 230, "ps"), (Part::Core, 231, "vecbase"), (Part::Core, 232, "exccause"),
    (Part::Core, 234, "ccount"), (Part::Core, 235, "prid"), (Part::Core, 238, "excvaddr"),
    (Part::Lx6, 244, "misc0"), (Part::Lx6, 245, "misc1"), (Part::Lx6, 246, "misc2"), (Part::Lx6, 247, "misc3"),
];

pub(crate) fn special_name(n: u8) -> Option<&'static str> {
    SPECIAL.iter().find(|s| s.1 == n).map(|s| s.2)
}

/// How a run goes on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next instruction.
    Next,
    /// With the next instruction, in another run.
    Cut,
    /// As [`Flow::Cut`], or elsewhere.
    May,
    /// Elsewhere.
    Ends,
}

/// Operands of one decoded instruction; see [`crate::exec`] for the places.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub imm: u32,
    /// Registers that are read and written.
    pub reads: u16,
    pub writes: u16,
    /// The register that a store takes from.
    pub data: u16,
}

/// One instruction of the table.
pub(crate) struct Row {
    pub part: Part,
    pub pattern: Pattern,
    pub text: Template,
    pub class: Class,
    pub flow: Flow,
    map: fn(&Fields, u32) -> Option<Operands>,
    pub exec: Exec,
}

macro_rules! rows {
    ($($part:ident $pattern:literal $text:literal $class:ident $flow:ident $map:tt $wrap:ident $f:ident;)+) => {
        &[$(Row {
            part: Part::$part,
            pattern: Pattern::new($pattern),
            text: Template($text),
            class: Class::$class,
            flow: Flow::$flow,
            map: $map,
            exec: $wrap!(exec::$f),
        }),+]
    };
}

// --- operand mappings ---

impl Operands {
    fn write(mut self, n: u32) -> Self {
        self.a = n as u8;
        self.writes |= 1 << n;
        self
    }

    fn first(mut self, n: u32) -> Self {
        self.b = n as u8;
        self.reads |= 1 << n;
        self
    }

    fn second(mut self, n: u32) -> Self {
        self.c = n as u8;
        self.reads |= 1 << n;
        self
    }

    /// A register that is read through place `a`.
    fn with(mut self, n: u32) -> Self {
        self.a = n as u8;
        self.data |= 1 << n;
        self
    }

    fn imm(mut self, imm: u32) -> Self {
        self.imm = imm;
        self
    }

    fn small(mut self, d: u32) -> Self {
        self.d = d as u8;
        self
    }
}

fn new() -> Operands {
    Operands::default()
}

fn none(_: &Fields, _: u32) -> Option<Operands> {
    Some(new())
}

fn rst(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('r')).first(f.get('s')).second(f.get('t')))
}

/// Conditional moves: the result is also an operand.
fn rst_keep(f: &Fields, _: u32) -> Option<Operands> {
    let o = new().write(f.get('r')).first(f.get('s')).second(f.get('t'));
    Some(Operands { reads: o.reads | o.writes, ..o })
}

fn rt(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('r')).first(f.get('t')))
}

fn rs(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('r')).first(f.get('s')))
}

fn ts(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).first(f.get('s')))
}

fn only_s(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().first(f.get('s')))
}

/// SLLI holds 32 minus the amount.
fn slli(f: &Fields, _: u32) -> Option<Operands> {
    let n = 32 - (f.get('I') << 4 | f.get('i'));
    (n < 32).then(|| new().write(f.get('r')).first(f.get('s')).small(n))
}

fn rt_amount(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('r')).first(f.get('t')).small(f.get('I') << 4 | f.get('i')))
}

fn extui(f: &Fields, _: u32) -> Option<Operands> {
    let mask = (2u32 << f.get('w')) - 1;
    Some(new().write(f.get('r')).first(f.get('t')).small(f.get('I') << 4 | f.get('i')).imm(mask))
}

/// SEXT, CLAMPS.
fn bits(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('r')).first(f.get('s')).small(f.get('i') + 7))
}

fn ssai(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().imm(f.get('I') << 4 | f.get('i')))
}

/// ROTW.
fn signed(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().imm(f.signed('i') as u32))
}

/// Load at base plus `i` times the size of what is loaded.
fn load<const SIZE: u32>(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).first(f.get('s')).imm(f.get('i') * SIZE))
}

fn store<const SIZE: u32>(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().with(f.get('t')).first(f.get('s')).imm(f.get('i') * SIZE))
}

/// S32C1I.
fn swap32(f: &Fields, _: u32) -> Option<Operands> {
    let t = f.get('t');
    Some(new().write(t).with(t).first(f.get('s')).imm(f.get('i') * 4))
}

/// L32E: -64 to -4.
fn load_window(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).first(f.get('s')).imm((f.get('i') * 4).wrapping_sub(64)))
}

fn store_window(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().with(f.get('t')).first(f.get('s')).imm((f.get('i') * 4).wrapping_sub(64)))
}

/// Offsets of L32R are negative.
fn literal(f: &Fields, pc: u32) -> Option<Operands> {
    let at = (pc.wrapping_add(3) & !3).wrapping_add(0xFFFC_0000 | f.get('i') << 2);
    Some(new().write(f.get('t')).imm(at))
}

fn movi(f: &Fields, _: u32) -> Option<Operands> {
    let value = ((f.get('I') << 8 | f.get('i')) << 20) as i32 >> 20;
    Some(new().write(f.get('t')).imm(value as u32))
}

fn addi(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).first(f.get('s')).imm(f.signed('i') as u32))
}

fn addmi(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).first(f.get('s')).imm((f.signed('i') << 8) as u32))
}

/// MOVI.N: -32 to 95.
fn movi_n(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('I') << 4 | f.get('i');
    Some(new().write(f.get('s')).imm(if n >= 96 { n.wrapping_sub(128) } else { n }))
}

/// ADDI.N: 0 stands for -1.
fn addi_n(f: &Fields, _: u32) -> Option<Operands> {
    let n = f.get('i');
    Some(new().write(f.get('r')).first(f.get('s')).imm(if n == 0 { u32::MAX } else { n }))
}

fn near(f: &Fields, pc: u32) -> u32 {
    pc.wrapping_add(4).wrapping_add_signed(f.signed('i'))
}

/// Branch that compares two registers.
fn branch_st(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).second(f.get('t')).imm(near(f, pc)))
}

/// Branch by a bit.
fn branch_bit(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).small(f.get('I') << 4 | f.get('b')).imm(near(f, pc)))
}

/// Branch that compares with 0.
fn branch_s(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).imm(near(f, pc)))
}

/// Branch that compares with a constant.
fn branch_constant(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).small(f.get('k')).imm(near(f, pc)))
}

/// As [`branch_constant`], unsigned.
fn branch_unsigned(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).small(f.get('k') + 16).imm(near(f, pc)))
}

/// BEQZ.N, BNEZ.N: forward only.
fn branch_n(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).imm(pc.wrapping_add(4 + (f.get('I') << 4 | f.get('i')))))
}

/// LOOP and its kin: forward only.
fn loop_to(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().first(f.get('s')).imm(pc.wrapping_add(4 + f.get('i'))))
}

fn jump(f: &Fields, pc: u32) -> Option<Operands> {
    Some(new().imm(near(f, pc)))
}

/// A call that moves the window by `N` groups of four; the return address is in the first of them.
fn call<const N: u32>(f: &Fields, pc: u32) -> Option<Operands> {
    let to = (pc & !3).wrapping_add(4).wrapping_add_signed(f.signed('i') << 2);
    Some(new().write(4 * N).small(N).imm(to))
}

fn callx<const N: u32>(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(4 * N).small(N).first(f.get('s')))
}

fn ret(_: &Fields, _: u32) -> Option<Operands> {
    Some(new().first(0))
}

fn entry(f: &Fields, _: u32) -> Option<Operands> {
    let s = f.get('s');
    Some(new().first(s).write(1).imm(f.get('i') << 3))
}

fn rsil(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).imm(f.get('i')))
}

fn rsr(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('t')).imm(f.get('i')))
}

fn wsr(f: &Fields, _: u32) -> Option<Operands> {
    let t = f.get('t');
    let o = new().imm(f.get('i'));
    Some(Operands { a: t as u8, reads: 1 << t, ..o })
}

fn xsr(f: &Fields, _: u32) -> Option<Operands> {
    let t = f.get('t');
    let o = new().write(t).imm(f.get('i'));
    Some(Operands { reads: 1 << t, ..o })
}

fn rur(f: &Fields, _: u32) -> Option<Operands> {
    Some(new().write(f.get('r')).imm(f.get('i')))
}

// --- the table ---

#[rustfmt::skip]
static ROWS: &[Row] = rows! {
    // density option (4.3.1)
    Core "iiii ssss tttt 1000"           "l32i.n {a}, {b}, {imm}"      Load Next (load::<4>) seq l32i;
    Core "iiii ssss tttt 1001"           "s32i.n {a}, {b}, {imm}"      Store Next (store::<4>) seq s32i;
    Core "rrrr ssss tttt 1010"           "add.n {a}, {b}, {c}"         Alu Next rst seq add;
    Core "rrrr ssss iiii 1011"           "addi.n {a}, {b}, {imm}"      Alu Next addi_n seq addi;
    Core "iiii ssss 0III 1100"           "movi.n {a}, {imm}"           Alu Next movi_n seq movi;
    Core "iiii ssss 10II 1100"           "beqz.n {b}, {to}"            Branch May branch_n branch beqz;
    Core "iiii ssss 11II 1100"           "bnez.n {b}, {to}"            Branch May branch_n branch bnez;
    Core "0000 ssss tttt 1101"           "mov.n {a}, {b}"              Alu Next ts seq mov;
    Core "1111 0000 0000 1101"           "ret.n"                       JumpRegister Ends ret end jx;
    Lx6  "1111 0000 0001 1101"           "retw.n"                      ReturnWindow Ends ret end retw;
    Core "1111 iiii 0010 1101"           "break.n {i}"                 Stop Ends none end trap;
    Core "1111 0000 0011 1101"           "nop.n"                       Alu Next none seq nop;
    Core "1111 0000 0110 1101"           "ill.n"                       Stop Ends none end trap;

    // arithmetic
    Core "0001 0000 rrrr ssss tttt 0000" "and {a}, {b}, {c}"           Alu Next rst seq and;
    Core "0010 0000 rrrr ssss tttt 0000" "or {a}, {b}, {c}"            Alu Next rst seq or;
    Core "0011 0000 rrrr ssss tttt 0000" "xor {a}, {b}, {c}"           Alu Next rst seq xor;
    Core "0110 0000 rrrr 0000 tttt 0000" "neg {a}, {b}"                Alu Next rt seq neg;
    Core "0110 0000 rrrr 0001 tttt 0000" "abs {a}, {b}"                Alu Next rt seq abs;
    Core "1000 0000 rrrr ssss tttt 0000" "add {a}, {b}, {c}"           Alu Next rst seq add;
    Core "1001 0000 rrrr ssss tttt 0000" "addx2 {a}, {b}, {c}"         Alu Next rst seq addx2;
    Core "1010 0000 rrrr ssss tttt 0000" "addx4 {a}, {b}, {c}"         Alu Next rst seq addx4;
    Core "1011 0000 rrrr ssss tttt 0000" "addx8 {a}, {b}, {c}"         Alu Next rst seq addx8;
    Core "1100 0000 rrrr ssss tttt 0000" "sub {a}, {b}, {c}"           Alu Next rst seq sub;
    Core "1101 0000 rrrr ssss tttt 0000" "subx2 {a}, {b}, {c}"         Alu Next rst seq subx2;
    Core "1110 0000 rrrr ssss tttt 0000" "subx4 {a}, {b}, {c}"         Alu Next rst seq subx4;
    Core "1111 0000 rrrr ssss tttt 0000" "subx8 {a}, {b}, {c}"         Alu Next rst seq subx8;
    Core "iiii iiii 1100 ssss tttt 0010" "addi {a}, {b}, {imm}"        Alu Next addi seq addi;
    Core "iiii iiii 1101 ssss tttt 0010" "addmi {a}, {b}, {imm:x}"     Alu Next addmi seq addi;
    Core "iiii iiii 1010 IIII tttt 0010" "movi {a}, {imm}"             Alu Next movi seq movi;
    Core "1000 0011 rrrr ssss tttt 0000" "moveqz {a}, {b}, {c}"        Alu Next rst_keep seq moveqz;
    Core "1001 0011 rrrr ssss tttt 0000" "movnez {a}, {b}, {c}"        Alu Next rst_keep seq movnez;
    Core "1010 0011 rrrr ssss tttt 0000" "movltz {a}, {b}, {c}"        Alu Next rst_keep seq movltz;
    Core "1011 0011 rrrr ssss tttt 0000" "movgez {a}, {b}, {c}"        Alu Next rst_keep seq movgez;
    Core "1100 0001 rrrr ssss tttt 0000" "mul16u {a}, {b}, {c}"        Mul16 Next rst seq mul16u;
    Core "1101 0001 rrrr ssss tttt 0000" "mul16s {a}, {b}, {c}"        Mul16 Next rst seq mul16s;
    Core "1000 0010 rrrr ssss tttt 0000" "mull {a}, {b}, {c}"          Mul32 Next rst seq mull;
    Lx6  "1010 0010 rrrr ssss tttt 0000" "muluh {a}, {b}, {c}"         Mul32 Next rst seq muluh;
    Lx6  "1011 0010 rrrr ssss tttt 0000" "mulsh {a}, {b}, {c}"         Mul32 Next rst seq mulsh;
    Lx6  "1100 0010 rrrr ssss tttt 0000" "quou {a}, {b}, {c}"          Div Next rst seq quou;
    Lx6  "1101 0010 rrrr ssss tttt 0000" "quos {a}, {b}, {c}"          Div Next rst seq quos;
    Lx6  "1110 0010 rrrr ssss tttt 0000" "remu {a}, {b}, {c}"          Div Next rst seq remu;
    Lx6  "1111 0010 rrrr ssss tttt 0000" "rems {a}, {b}, {c}"          Div Next rst seq rems;
    Lx6  "0100 0011 rrrr ssss tttt 0000" "min {a}, {b}, {c}"           Alu Next rst seq min;
    Lx6  "0101 0011 rrrr ssss tttt 0000" "max {a}, {b}, {c}"           Alu Next rst seq max;
    Lx6  "0110 0011 rrrr ssss tttt 0000" "minu {a}, {b}, {c}"          Alu Next rst seq minu;
    Lx6  "0111 0011 rrrr ssss tttt 0000" "maxu {a}, {b}, {c}"          Alu Next rst seq maxu;
    Lx6  "0010 0011 rrrr ssss iiii 0000" "sext {a}, {b}, {bits}"       Alu Next bits seq sext;
    Lx6  "0011 0011 rrrr ssss iiii 0000" "clamps {a}, {b}, {bits}"     Alu Next bits seq clamps;
    Core "0100 0000 1110 ssss tttt 0000" "nsa {a}, {b}"                Alu Next ts seq nsa;
    Core "0100 0000 1111 ssss tttt 0000" "nsau {a}, {b}"               Alu Next ts seq nsau;

    // shifts
    Core "000I 0001 rrrr ssss iiii 0000" "slli {a}, {b}, {d}"          Alu Next slli seq slli;
    Core "001I 0001 rrrr iiii tttt 0000" "srai {a}, {b}, {d}"          Alu Next rt_amount seq srai;
    Core "0100 0001 rrrr iiii tttt 0000" "srli {a}, {b}, {d}"          Alu Next rt_amount seq srli;
    Core "1000 0001 rrrr ssss tttt 0000" "src {a}, {b}, {c}"           Alu Next rst seq src;
    Core "1001 0001 rrrr 0000 tttt 0000" "srl {a}, {b}"                Alu Next rt seq srl;
    Core "1010 0001 rrrr ssss 0000 0000" "sll {a}, {b}"                Alu Next rs seq sll;
    Core "1011 0001 rrrr 0000 tttt 0000" "sra {a}, {b}"                Alu Next rt seq sra;
    Core "wwww 010I rrrr iiii tttt 0000" "extui {a}, {b}, {d}, {width}" Alu Next extui seq extui;
    Core "0100 0000 0000 ssss 0000 0000" "ssr {b}"                     Alu Next only_s seq ssr;
    Core "0100 0000 0001 ssss 0000 0000" "ssl {b}"                     Alu Next only_s seq ssl;
    Core "0100 0000 0010 ssss 0000 0000" "ssa8l {b}"                   Alu Next only_s seq ssa8l;
    Core "0100 0000 0011 ssss 0000 0000" "ssa8b {b}"                   Alu Next only_s seq ssa8b;
    Core "0100 0000 0100 iiii 000I 0000" "ssai {imm}"                  Alu Next ssai seq ssai;

    // memory
    Core "iiii iiii iiii iiii tttt 0001" "l32r {a}, {to}"              Literal Next literal seq l32r;
    Core "iiii iiii 0000 ssss tttt 0010" "l8ui {a}, {b}, {imm}"        Load Next (load::<1>) seq l8ui;
    Core "iiii iiii 0001 ssss tttt 0010" "l16ui {a}, {b}, {imm}"       Load Next (load::<2>) seq l16ui;
    Core "iiii iiii 0010 ssss tttt 0010" "l32i {a}, {b}, {imm}"        Load Next (load::<4>) seq l32i;
    Core "iiii iiii 0100 ssss tttt 0010" "s8i {a}, {b}, {imm}"         Store Next (store::<1>) seq s8i;
    Core "iiii iiii 0101 ssss tttt 0010" "s16i {a}, {b}, {imm}"        Store Next (store::<2>) seq s16i;
    Core "iiii iiii 0110 ssss tttt 0010" "s32i {a}, {b}, {imm}"        Store Next (store::<4>) seq s32i;
    Core "iiii iiii 1001 ssss tttt 0010" "l16si {a}, {b}, {imm}"       Load Next (load::<2>) seq l16si;
    Lx6  "iiii iiii 1011 ssss tttt 0010" "l32ai {a}, {b}, {imm}"       Load Next (load::<4>) seq l32i;
    Lx6  "iiii iiii 1110 ssss tttt 0010" "s32c1i {a}, {b}, {imm}"      Store Next swap32 seq s32c1i;
    Lx6  "iiii iiii 1111 ssss tttt 0010" "s32ri {a}, {b}, {imm}"       Store Next (store::<4>) seq s32i;
    Lx6  "0000 1001 iiii ssss tttt 0000" "l32e {a}, {b}, {imm}"        Load Next load_window seq l32i;
    Lx6  "0100 1001 iiii ssss tttt 0000" "s32e {a}, {b}, {imm}"        Store Next store_window seq s32i;

    // branches
    Core "iiii iiii 0000 ssss tttt 0111" "bnone {b}, {c}, {to}"        Branch May branch_st branch bnone;
    Core "iiii iiii 0001 ssss tttt 0111" "beq {b}, {c}, {to}"          Branch May branch_st branch beq;
    Core "iiii iiii 0010 ssss tttt 0111" "blt {b}, {c}, {to}"          Branch May branch_st branch blt;
    Core "iiii iiii 0011 ssss tttt 0111" "bltu {b}, {c}, {to}"         Branch May branch_st branch bltu;
    Core "iiii iiii 0100 ssss tttt 0111" "ball {b}, {c}, {to}"         Branch May branch_st branch ball;
    Core "iiii iiii 0101 ssss tttt 0111" "bbc {b}, {c}, {to}"          Branch May branch_st branch bbc;
    Core "iiii iiii 011I ssss bbbb 0111" "bbci {b}, {d}, {to}"         Branch May branch_bit branch bbci;
    Core "iiii iiii 1000 ssss tttt 0111" "bany {b}, {c}, {to}"         Branch May branch_st branch bany;
    Core "iiii iiii 1001 ssss tttt 0111" "bne {b}, {c}, {to}"          Branch May branch_st branch bne;
    Core "iiii iiii 1010 ssss tttt 0111" "bge {b}, {c}, {to}"          Branch May branch_st branch bge;
    Core "iiii iiii 1011 ssss tttt 0111" "bgeu {b}, {c}, {to}"         Branch May branch_st branch bgeu;
    Core "iiii iiii 1100 ssss tttt 0111" "bnall {b}, {c}, {to}"        Branch May branch_st branch bnall;
    Core "iiii iiii 1101 ssss tttt 0111" "bbs {b}, {c}, {to}"          Branch May branch_st branch bbs;
    Core "iiii iiii 111I ssss bbbb 0111" "bbsi {b}, {d}, {to}"         Branch May branch_bit branch bbsi;
    Core "iiii iiii iiii ssss 0001 0110" "beqz {b}, {to}"              Branch May branch_s branch beqz;
    Core "iiii iiii iiii ssss 0101 0110" "bnez {b}, {to}"              Branch May branch_s branch bnez;
    Core "iiii iiii iiii ssss 1001 0110" "bltz {b}, {to}"              Branch May branch_s branch bltz;
    Core "iiii iiii iiii ssss 1101 0110" "bgez {b}, {to}"              Branch May branch_s branch bgez;
    Core "iiii iiii kkkk ssss 0010 0110" "beqi {b}, {const}, {to}"     Branch May branch_constant branch beqi;
    Core "iiii iiii kkkk ssss 0110 0110" "bnei {b}, {const}, {to}"     Branch May branch_constant branch bnei;
    Core "iiii iiii kkkk ssss 1010 0110" "blti {b}, {const}, {to}"     Branch May branch_constant branch blti;
    Core "iiii iiii kkkk ssss 1110 0110" "bgei {b}, {const}, {to}"     Branch May branch_constant branch bgei;
    Core "iiii iiii kkkk ssss 1011 0110" "bltui {b}, {const}, {to}"    Branch May branch_unsigned branch bltui;
    Core "iiii iiii kkkk ssss 1111 0110" "bgeui {b}, {const}, {to}"    Branch May branch_unsigned branch bgeui;

    // jumps and calls
    Core "iiii iiii iiii iiii ii00 0110" "j {to}"                      Jump Ends jump end jump;
    Core "iiii iiii iiii iiii ii00 0101" "call0 {to}"                  Jump Ends (call::<0>) end call0;
    Lx6  "iiii iiii iiii iiii ii01 0101" "call4 {to}"                  Jump Ends (call::<1>) end call;
    Lx6  "iiii iiii iiii iiii ii10 0101" "call8 {to}"                  Jump Ends (call::<2>) end call;
    Lx6  "iiii iiii iiii iiii ii11 0101" "call12 {to}"                 Jump Ends (call::<3>) end call;
    Core "0000 0000 0000 0000 1000 0000" "ret"                         JumpRegister Ends ret end jx;
    Core "0000 0000 0000 ssss 1010 0000" "jx {b}"                      JumpRegister Ends only_s end jx;
    Core "0000 0000 0000 ssss 1100 0000" "callx0 {b}"                  JumpRegister Ends (callx::<0>) end callx0;
    Lx6  "0000 0000 0000 ssss 1101 0000" "callx4 {b}"                  JumpRegister Ends (callx::<1>) end callx;
    Lx6  "0000 0000 0000 ssss 1110 0000" "callx8 {b}"                  JumpRegister Ends (callx::<2>) end callx;
    Lx6  "0000 0000 0000 ssss 1111 0000" "callx12 {b}"                 JumpRegister Ends (callx::<3>) end callx;

    // windowed registers (4.7.1)
    Lx6  "0000 0000 0000 0000 1001 0000" "retw"                        ReturnWindow Ends ret end retw;
    Lx6  "iiii iiii iiii ssss 0011 0110" "entry {b}, {imm}"            Entry Cut entry seq entry;
    Lx6  "0000 0000 0001 ssss tttt 0000" "movsp {a}, {b}"              Window May ts may movsp;
    Lx6  "0100 0000 1000 0000 iiii 0000" "rotw {imm}"                  Window Cut signed seq rotw;
    Lx6  "0000 0000 0011 0100 0000 0000" "rfwo"                        ReturnException Ends none end rfwo;
    Lx6  "0000 0000 0011 0101 0000 0000" "rfwu"                        ReturnException Ends none end rfwu;

    // loops (4.3.2)
    Lx6  "iiii iiii 1000 ssss 0111 0110" "loop {b}, {to}"              Loop Cut loop_to seq loop_always;
    Lx6  "iiii iiii 1001 ssss 0111 0110" "loopnez {b}, {to}"           Loop May loop_to branch loop_nez;
    Lx6  "iiii iiii 1010 ssss 0111 0110" "loopgtz {b}, {to}"           Loop May loop_to branch loop_gtz;

    // system
    Core "0000 0000 0000 0000 0000 0000" "ill"                         Stop Ends none end trap;
    Core "0000 0000 0010 0000 0000 0000" "isync"                       Sync Cut none seq nop;
    Core "0000 0000 0010 0000 0001 0000" "rsync"                       Barrier Next none seq nop;
    Core "0000 0000 0010 0000 0010 0000" "esync"                       Barrier Next none seq nop;
    Core "0000 0000 0010 0000 0011 0000" "dsync"                       Barrier Next none seq nop;
    Core "0000 0000 0010 0000 1000 0000" "excw"                        Barrier Next none seq nop;
    Core "0000 0000 0010 0000 1100 0000" "memw"                        Barrier Next none seq nop;
    Core "0000 0000 0010 0000 1101 0000" "extw"                        Barrier Next none seq nop;
    Core "0000 0000 0010 0000 1111 0000" "nop"                         Alu Next none seq nop;
    Core "0000 0000 0011 0000 0000 0000" "rfe"                         ReturnException Ends none end rfe;
    Core "0000 0000 0011 0010 0000 0000" "rfde"                        Stop Ends none end unsupported;
    Core "0000 0000 0011 xxxx 0001 0000" "rfi {x}"                     Stop Ends none end unsupported;
    Core "0000 0000 0100 ssss tttt 0000" "break {s}, {t}"              Stop Ends none end trap;
    Core "0000 0000 0101 0000 0000 0000" "syscall"                     Stop Ends none end trap;
    Core "0000 0000 0101 0001 0000 0000" "simcall"                     Stop Ends none end trap;
    Core "0000 0000 0110 iiii tttt 0000" "rsil {a}, {imm}"             Special Cut rsil seq rsil;
    Core "0000 0000 0111 xxxx 0000 0000" "waiti {x}"                   Stop Ends none end unsupported;
    Core "0000 0011 iiii iiii tttt 0000" "rsr.{special} {a}"           Special Next rsr seq rsr;
    Core "0001 0011 iiii iiii tttt 0000" "wsr.{special} {a}"           Special Cut wsr seq wsr;
    Core "0110 0001 iiii iiii tttt 0000" "xsr.{special} {a}"           Special Cut xsr seq xsr;
    Lx6  "1110 0011 rrrr iiii iiii 0000" "rur.{user} {a}"              Special Next rur seq rur;
    Lx6  "1111 0011 iiii iiii tttt 0000" "wur.{user} {a}"              Special Next wsr seq wur;

    // options of the LX6 that are not modelled: floating point, booleans, MAC16
    Lx6  "xxxx xxxx xxxx xxxx xxxx 0011" "lsci"                        Stop Ends none end unsupported;
    Lx6  "xxxx 1000 xxxx xxxx xxxx 0000" "lscx"                        Stop Ends none end unsupported;
    Lx6  "xxxx 101x xxxx xxxx xxxx 0000" "fp"                          Stop Ends none end unsupported;
    Lx6  "110x 0011 xxxx xxxx xxxx 0000" "movf/movt"                   Stop Ends none end unsupported;
    Lx6  "00xx 0010 xxxx xxxx xxxx 0000" "andb"                        Stop Ends none end unsupported;
    Lx6  "0100 0010 xxxx xxxx xxxx 0000" "xorb"                        Stop Ends none end unsupported;
    Lx6  "0000 0000 10xx xxxx xxxx 0000" "any/all"                     Stop Ends none end unsupported;
    Lx6  "xxxx xxxx 000x xxxx 0111 0110" "bf/bt"                       Stop Ends none end unsupported;
    Lx6  "xxxx xxxx xxxx xxxx xxxx 0100" "mac16"                       Stop Ends none end unsupported;
};

/// Assembly texts and encodings of `features`, for tests.
pub fn encodings(features: Features) -> impl Iterator<Item = (&'static str, Pattern)> {
    ROWS.iter().filter(move |r| features.has(r.part)).map(|r| (r.text.0, r.pattern))
}

pub(crate) fn find(features: Features, word: u32, bits: u32, pc: u32) -> Option<(&'static Row, Operands)> {
    ROWS.iter()
        .filter(|r| r.pattern.bits == bits && r.pattern.matches(word) && features.has(r.part))
        .find_map(|r| (r.map)(&r.pattern.fields(word), pc).map(|o| (r, o)))
}

#[cfg(test)]
mod tests {
    use super::{Features, encodings};

    #[test]
    fn no_two_rows_match_the_same_word() {
        for features in [Features::LX106, Features::LX6] {
            let all: Vec<_> = encodings(features).collect();
            for (k, (text, a)) in all.iter().enumerate() {
                for (other, b) in &all[..k] {
                    let same = a.bits == b.bits && (a.value ^ b.value) & a.mask & b.mask == 0;
                    assert!(!same, "{text} and {other}");
                }
            }
        }
    }
}
