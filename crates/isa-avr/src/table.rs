//! The instruction table: for each instruction the cores that have it, bit pattern, text, operation and operand form.
//! Bit patterns and operations are those of the AVR Instruction Set Manual (DS40002198). Nothing depends on a text.

use std::sync::LazyLock;

use isa::{Pattern, Template};

use crate::form::Form;
use crate::op::{Binary::*, Change::*, Multiply::*, Pointer::*, Skip::*, SkipIo::*, Unary::*, Wide::*, With::*};
use crate::op::{Flag, Op};
use crate::state::Variant;
use crate::step::Class;

/// Which cores have an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    All,
    /// Those with RAMPZ.
    Far,
    /// Those that multiply.
    Mul,
    /// Those with more than 8 KiB of flash.
    Jmp,
}

/// One instruction.
pub struct Definition {
    /// Bit pattern.
    pub pattern: Pattern,
    /// Assembly text; operands are `a`, `b` and `imm`.
    pub text: Template,
    /// Its operation.
    pub op: Op,
    /// Where its operands are.
    pub form: Form,
    cores: Cores,
}

impl Definition {
    /// The mnemonic alone, for reports.
    pub fn name(&self) -> &'static str {
        self.text.0.split(' ').next().unwrap_or(self.text.0)
    }

    /// Timing class.
    pub fn class(&self) -> Class {
        self.op.class()
    }

    /// Length in bytes.
    pub fn bytes(&self) -> u32 {
        self.pattern.bits / 8
    }

    /// Whether a core has it.
    pub fn is_on(&self, variant: &Variant) -> bool {
        match self.cores {
            Cores::All => true,
            Cores::Far => variant.rampz != 0,
            Cores::Mul => variant.multiply,
            Cores::Jmp => variant.long_jumps,
        }
    }

    /// Fixed bits of the first word and their values.
    const fn first(&self) -> (u16, u16) {
        let up = self.pattern.bits - 16;
        ((self.pattern.mask >> up) as u16, (self.pattern.value >> up) as u16)
    }
}

macro_rules! rows {
    ($($cores:ident $pattern:literal $text:literal $op:ident $(($($kind:expr),+))? $form:ident;)+) => {
        &[$(Definition {
            pattern: Pattern::new($pattern),
            text: Template($text),
            op: Op::$op $(($($kind),+))?,
            form: Form::$form,
            cores: Cores::$cores,
        }),+]
    };
}

/// Every instruction of all these cores.
#[rustfmt::skip]
pub static TABLE: &[Definition] = rows! {
    // arithmetic and logic
    All "0000 11rd dddd rrrr"                     "add r{a}, r{b}"     Binary(Add, Register)        DR;
    All "0001 11rd dddd rrrr"                     "adc r{a}, r{b}"     Binary(Adc, Register)        DR;
    All "0001 10rd dddd rrrr"                     "sub r{a}, r{b}"     Binary(Sub, Register)        DR;
    All "0000 10rd dddd rrrr"                     "sbc r{a}, r{b}"     Binary(Sbc, Register)        DR;
    All "0001 01rd dddd rrrr"                     "cp r{a}, r{b}"      Binary(Cp, Register)         DR;
    All "0000 01rd dddd rrrr"                     "cpc r{a}, r{b}"     Binary(Cpc, Register)        DR;
    All "0101 kkkk dddd kkkk"                     "subi r{a}, {imm:x}" Binary(Sub, Immediate)       HighDK;
    All "0100 kkkk dddd kkkk"                     "sbci r{a}, {imm:x}" Binary(Sbc, Immediate)       HighDK;
    All "0011 kkkk dddd kkkk"                     "cpi r{a}, {imm:x}"  Binary(Cp, Immediate)        HighDK;
    All "0010 00rd dddd rrrr"                     "and r{a}, r{b}"     Binary(And, Register)        DR;
    All "0010 10rd dddd rrrr"                     "or r{a}, r{b}"      Binary(Or, Register)         DR;
    All "0010 01rd dddd rrrr"                     "eor r{a}, r{b}"     Binary(Eor, Register)        DR;
    All "0111 kkkk dddd kkkk"                     "andi r{a}, {imm:x}" Binary(And, Immediate)       HighDK;
    All "0110 kkkk dddd kkkk"                     "ori r{a}, {imm:x}"  Binary(Or, Immediate)        HighDK;
    All "1001 010d dddd 0000"                     "com r{a}"           Unary(Com)                   D;
    All "1001 010d dddd 0001"                     "neg r{a}"           Unary(Neg)                   D;
    All "1001 010d dddd 0010"                     "swap r{a}"          Unary(Swap)                  D;
    All "1001 010d dddd 0011"                     "inc r{a}"           Unary(Inc)                   D;
    All "1001 010d dddd 1010"                     "dec r{a}"           Unary(Dec)                   D;
    All "1001 010d dddd 0101"                     "asr r{a}"           Unary(Asr)                   D;
    All "1001 010d dddd 0110"                     "lsr r{a}"           Unary(Lsr)                   D;
    All "1001 010d dddd 0111"                     "ror r{a}"           Unary(Ror)                   D;
    All "1001 0110 kkdd kkkk"                     "adiw r{a}, {imm:x}" Wide(Adiw)                   WordDK;
    All "1001 0111 kkdd kkkk"                     "sbiw r{a}, {imm:x}" Wide(Sbiw)                   WordDK;
    Mul "1001 11rd dddd rrrr"                     "mul r{a}, r{b}"     Multiply(Mul)                DR;
    Mul "0000 0010 dddd rrrr"                     "muls r{a}, r{b}"    Multiply(Muls)               HighDR;
    Mul "0000 0011 0ddd 0rrr"                     "mulsu r{a}, r{b}"   Multiply(Mulsu)              HighDR;
    Mul "0000 0011 0ddd 1rrr"                     "fmul r{a}, r{b}"    Multiply(Fmul)               HighDR;
    Mul "0000 0011 1ddd 0rrr"                     "fmuls r{a}, r{b}"   Multiply(Fmuls)              HighDR;
    Mul "0000 0011 1ddd 1rrr"                     "fmulsu r{a}, r{b}"  Multiply(Fmulsu)             HighDR;
    // moves
    All "0010 11rd dddd rrrr"                     "mov r{a}, r{b}"     Mov                          DR;
    All "0000 0001 dddd rrrr"                     "movw r{a}, r{b}"    Movw                         PairDR;
    All "1110 kkkk dddd kkkk"                     "ldi r{a}, {imm:x}"  Ldi                          HighDK;
    All "1111 101d dddd 0bbb"                     "bst r{a}, {b}"      Bst                          DB;
    All "1111 100d dddd 0bbb"                     "bld r{a}, {b}"      Bld                          DB;
    // data memory
    All "1001 000d dddd 1100"                     "ld r{a}, X"         Load(X, Keep)                D;
    All "1001 000d dddd 1101"                     "ld r{a}, X+"        Load(X, Post)                D;
    All "1001 000d dddd 1110"                     "ld r{a}, -X"        Load(X, Pre)                 D;
    All "1001 000d dddd 1001"                     "ld r{a}, Y+"        Load(Y, Post)                D;
    All "1001 000d dddd 1010"                     "ld r{a}, -Y"        Load(Y, Pre)                 D;
    All "1001 000d dddd 0001"                     "ld r{a}, Z+"        Load(Z, Post)                D;
    All "1001 000d dddd 0010"                     "ld r{a}, -Z"        Load(Z, Pre)                 D;
    All "10q0 qq0d dddd 1qqq"                     "ldd r{a}, Y+{b}"    Load(Y, Displace)            DQ;
    All "10q0 qq0d dddd 0qqq"                     "ldd r{a}, Z+{b}"    Load(Z, Displace)            DQ;
    All "1001 001d dddd 1100"                     "st X, r{a}"         Store(X, Keep)               D;
    All "1001 001d dddd 1101"                     "st X+, r{a}"        Store(X, Post)               D;
    All "1001 001d dddd 1110"                     "st -X, r{a}"        Store(X, Pre)                D;
    All "1001 001d dddd 1001"                     "st Y+, r{a}"        Store(Y, Post)               D;
    All "1001 001d dddd 1010"                     "st -Y, r{a}"        Store(Y, Pre)                D;
    All "1001 001d dddd 0001"                     "st Z+, r{a}"        Store(Z, Post)               D;
    All "1001 001d dddd 0010"                     "st -Z, r{a}"        Store(Z, Pre)                D;
    All "10q0 qq1d dddd 1qqq"                     "std Y+{b}, r{a}"    Store(Y, Displace)           DQ;
    All "10q0 qq1d dddd 0qqq"                     "std Z+{b}, r{a}"    Store(Z, Displace)           DQ;
    All "1001 000d dddd 0000 kkkk kkkk kkkk kkkk" "lds r{a}, {imm:x}"  Lds                          DK;
    All "1001 001d dddd 0000 kkkk kkkk kkkk kkkk" "sts {imm:x}, r{a}"  Sts                          DK;
    All "1001 001d dddd 1111"                     "push r{a}"          Push                         D;
    All "1001 000d dddd 1111"                     "pop r{a}"           Pop                          D;
    // program memory
    All "1001 0101 1100 1000"                     "lpm"                Lpm(Keep)                    None;
    All "1001 000d dddd 0100"                     "lpm r{a}, Z"        Lpm(Keep)                    D;
    All "1001 000d dddd 0101"                     "lpm r{a}, Z+"       Lpm(Post)                    D;
    Far "1001 0101 1101 1000"                     "elpm"               Elpm(Keep)                   None;
    Far "1001 000d dddd 0110"                     "elpm r{a}, Z"       Elpm(Keep)                   D;
    Far "1001 000d dddd 0111"                     "elpm r{a}, Z+"      Elpm(Post)                   D;
    All "1001 0101 1110 1000"                     "spm"                Spm                          None;
    // I/O space
    All "1011 0iid dddd iiii"                     "in r{a}, {imm:x}"   In                           DIo;
    All "1011 1iid dddd iiii"                     "out {imm:x}, r{a}"  Out                          DIo;
    All "1001 1000 iiii ibbb"                     "cbi {imm:x}, {b}"   Cbi                          IoB;
    All "1001 1010 iiii ibbb"                     "sbi {imm:x}, {b}"   Sbi                          IoB;
    // skips
    All "0001 00rd dddd rrrr"                     "cpse r{a}, r{b}"    Skip(Cpse)                   DR;
    All "1111 110d dddd 0bbb"                     "sbrc r{a}, {b}"     Skip(Sbrc)                   DB;
    All "1111 111d dddd 0bbb"                     "sbrs r{a}, {b}"     Skip(Sbrs)                   DB;
    All "1001 1001 iiii ibbb"                     "sbic {imm:x}, {b}"  SkipIo(Sbic)                 IoB;
    All "1001 1011 iiii ibbb"                     "sbis {imm:x}, {b}"  SkipIo(Sbis)                 IoB;
    // jumps and calls
    All "1100 kkkk kkkk kkkk"                     "rjmp {imm:x}"       Rjmp                         Relative;
    All "1101 kkkk kkkk kkkk"                     "rcall {imm:x}"      Rcall                        Relative;
    Jmp "1001 010k kkkk 110k kkkk kkkk kkkk kkkk" "jmp {imm:x}"        Jmp                          Absolute;
    Jmp "1001 010k kkkk 111k kkkk kkkk kkkk kkkk" "call {imm:x}"       Call                         Absolute;
    All "1001 0100 0000 1001"                     "ijmp"               Ijmp                         None;
    All "1001 0101 0000 1001"                     "icall"              Icall                        None;
    All "1001 0101 0000 1000"                     "ret"                Ret                          None;
    All "1001 0101 0001 1000"                     "reti"               Reti                         None;
    // branches on the flags in order of their bits
    All "1111 00kk kkkk k000"                     "brcs {imm:x}"       BranchSet(Flag::C)           Relative;
    All "1111 00kk kkkk k001"                     "breq {imm:x}"       BranchSet(Flag::Z)           Relative;
    All "1111 00kk kkkk k010"                     "brmi {imm:x}"       BranchSet(Flag::N)           Relative;
    All "1111 00kk kkkk k011"                     "brvs {imm:x}"       BranchSet(Flag::V)           Relative;
    All "1111 00kk kkkk k100"                     "brlt {imm:x}"       BranchSet(Flag::S)           Relative;
    All "1111 00kk kkkk k101"                     "brhs {imm:x}"       BranchSet(Flag::H)           Relative;
    All "1111 00kk kkkk k110"                     "brts {imm:x}"       BranchSet(Flag::T)           Relative;
    All "1111 00kk kkkk k111"                     "brie {imm:x}"       BranchSet(Flag::I)           Relative;
    All "1111 01kk kkkk k000"                     "brcc {imm:x}"       BranchClear(Flag::C)         Relative;
    All "1111 01kk kkkk k001"                     "brne {imm:x}"       BranchClear(Flag::Z)         Relative;
    All "1111 01kk kkkk k010"                     "brpl {imm:x}"       BranchClear(Flag::N)         Relative;
    All "1111 01kk kkkk k011"                     "brvc {imm:x}"       BranchClear(Flag::V)         Relative;
    All "1111 01kk kkkk k100"                     "brge {imm:x}"       BranchClear(Flag::S)         Relative;
    All "1111 01kk kkkk k101"                     "brhc {imm:x}"       BranchClear(Flag::H)         Relative;
    All "1111 01kk kkkk k110"                     "brtc {imm:x}"       BranchClear(Flag::T)         Relative;
    All "1111 01kk kkkk k111"                     "brid {imm:x}"       BranchClear(Flag::I)         Relative;
    // single flags
    All "1001 0100 0000 1000"                     "sec"                Set(Flag::C)                 None;
    All "1001 0100 0001 1000"                     "sez"                Set(Flag::Z)                 None;
    All "1001 0100 0010 1000"                     "sen"                Set(Flag::N)                 None;
    All "1001 0100 0011 1000"                     "sev"                Set(Flag::V)                 None;
    All "1001 0100 0100 1000"                     "ses"                Set(Flag::S)                 None;
    All "1001 0100 0101 1000"                     "seh"                Set(Flag::H)                 None;
    All "1001 0100 0110 1000"                     "set"                Set(Flag::T)                 None;
    All "1001 0100 0111 1000"                     "sei"                Set(Flag::I)                 None;
    All "1001 0100 1000 1000"                     "clc"                Clear(Flag::C)               None;
    All "1001 0100 1001 1000"                     "clz"                Clear(Flag::Z)               None;
    All "1001 0100 1010 1000"                     "cln"                Clear(Flag::N)               None;
    All "1001 0100 1011 1000"                     "clv"                Clear(Flag::V)               None;
    All "1001 0100 1100 1000"                     "cls"                Clear(Flag::S)               None;
    All "1001 0100 1101 1000"                     "clh"                Clear(Flag::H)               None;
    All "1001 0100 1110 1000"                     "clt"                Clear(Flag::T)               None;
    All "1001 0100 1111 1000"                     "cli"                Clear(Flag::I)               None;
    // control
    All "0000 0000 0000 0000"                     "nop"                Nop                          None;
    All "1001 0101 1010 1000"                     "wdr"                Nop                          None;
    All "1001 0101 1000 1000"                     "sleep"              Sleep                        None;
    All "1001 0101 1001 1000"                     "break"              Break                        None;
};

/// Index of the definition plus one for each first word, 0 where there is none.
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
pub fn find(word: u16) -> Option<&'static Definition> {
    TABLE.get(usize::from(INDEX[usize::from(word)]).wrapping_sub(1))
}

/// Index of the definition of an instruction whose first word is `word`.
pub(crate) fn number(variant: &Variant, word: u16) -> Option<usize> {
    let number = usize::from(INDEX[usize::from(word)]).checked_sub(1)?;
    TABLE[number].is_on(variant).then_some(number)
}

impl Variant {
    /// The instruction whose first word is `word`.
    pub fn find(&self, word: u16) -> Option<&'static Definition> {
        number(self, word).map(|n| &TABLE[n])
    }
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
