//! The instruction table: bit pattern, text, operation and operand form of each instruction.
//!
//! Encodings and operations are those of the MSP430x1xx Family User's Guide (SLAU049F), chapter 3.
//! Emulated instructions (RET, POP, CLR, ...) are core instructions with certain operands and have no definitions.
//! [`find`] is the only way in. Nothing depends on a text.

use std::sync::LazyLock;

use isa::{Pattern, Template};

use crate::op::{Binary::*, Condition::*, Form, Op, Unary::*};
use crate::step::Class;

/// One instruction.
pub struct Definition {
    /// Bit pattern. Fields: `s` source register, `t` its mode, `d` destination register, `a` its mode,
    /// `b` set for bytes, `k` jump distance.
    pub pattern: Pattern,
    /// Assembly text; operands are `b` (suffix for bytes), `src`, `dst` and `to`.
    pub text: Template,
    /// Its operation.
    pub op: Op,
    /// Which operands it has.
    pub form: Form,
}

impl Definition {
    /// The mnemonic alone, for reports.
    pub fn name(&self) -> &'static str {
        self.text.0.split(['{', ' ']).next().unwrap_or(self.text.0)
    }

    /// Timing class.
    pub fn class(&self) -> Class {
        self.op.class()
    }
}

macro_rules! rows {
    ($($pattern:literal $text:literal $op:ident $(($kind:ident))? $form:ident;)+) => {
        &[$(Definition {
            pattern: Pattern::new($pattern),
            text: Template($text),
            op: Op::$op $(($kind))?,
            form: Form::$form,
        }),+]
    };
}

/// Every instruction.
#[rustfmt::skip]
pub static TABLE: &[Definition] = rows! {
    // format I
    "0100 ssss abtt dddd" "mov{b} {src}, {dst}"  Binary(Mov)   SourceDestination;
    "0101 ssss abtt dddd" "add{b} {src}, {dst}"  Binary(Add)   SourceDestination;
    "0110 ssss abtt dddd" "addc{b} {src}, {dst}" Binary(Addc)  SourceDestination;
    "0111 ssss abtt dddd" "subc{b} {src}, {dst}" Binary(Subc)  SourceDestination;
    "1000 ssss abtt dddd" "sub{b} {src}, {dst}"  Binary(Sub)   SourceDestination;
    "1001 ssss abtt dddd" "cmp{b} {src}, {dst}"  Binary(Cmp)   SourceDestination;
    "1010 ssss abtt dddd" "dadd{b} {src}, {dst}" Binary(Dadd)  SourceDestination;
    "1011 ssss abtt dddd" "bit{b} {src}, {dst}"  Binary(Bit)   SourceDestination;
    "1100 ssss abtt dddd" "bic{b} {src}, {dst}"  Binary(Bic)   SourceDestination;
    "1101 ssss abtt dddd" "bis{b} {src}, {dst}"  Binary(Bis)   SourceDestination;
    "1110 ssss abtt dddd" "xor{b} {src}, {dst}"  Binary(Xor)   SourceDestination;
    "1111 ssss abtt dddd" "and{b} {src}, {dst}"  Binary(And)   SourceDestination;
    // format II
    "0001 0000 0btt ssss" "rrc{b} {src}"         Unary(Rrc)    InPlace;
    "0001 0000 10tt ssss" "swpb {src}"           Unary(Swpb)   InPlace;
    "0001 0001 0btt ssss" "rra{b} {src}"         Unary(Rra)    InPlace;
    "0001 0001 10tt ssss" "sxt {src}"            Unary(Sxt)    InPlace;
    "0001 0010 0btt ssss" "push{b} {src}"        Push          Source;
    "0001 0010 10tt ssss" "call {src}"           Call          Source;
    "0001 0011 0000 0000" "reti"                 Reti          None;
    // format III
    "0010 00kk kkkk kkkk" "jne {to}"             Jump(Jne)     Distance;
    "0010 01kk kkkk kkkk" "jeq {to}"             Jump(Jeq)     Distance;
    "0010 10kk kkkk kkkk" "jnc {to}"             Jump(Jnc)     Distance;
    "0010 11kk kkkk kkkk" "jc {to}"              Jump(Jc)      Distance;
    "0011 00kk kkkk kkkk" "jn {to}"              Jump(Jn)      Distance;
    "0011 01kk kkkk kkkk" "jge {to}"             Jump(Jge)     Distance;
    "0011 10kk kkkk kkkk" "jl {to}"              Jump(Jl)      Distance;
    "0011 11kk kkkk kkkk" "jmp {to}"             Jmp           Distance;
};

/// Index of the definition plus one for each word, 0 where there is none.
static INDEX: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let row = |word: u16| TABLE.iter().position(|r| r.pattern.matches(word.into()));
    (0..=u16::MAX).map(|w| row(w).map_or(0, |n| n as u8 + 1)).collect()
});

/// Index of the definition of an instruction whose first word is `word`.
pub(crate) fn number(word: u16) -> Option<usize> {
    usize::from(INDEX[usize::from(word)]).checked_sub(1)
}

/// The instruction whose first word is `word`.
pub fn find(word: u16) -> Option<&'static Definition> {
    number(word).map(|n| &TABLE[n])
}

#[cfg(test)]
mod tests {
    use super::{TABLE, find};

    #[test]
    fn a_word_has_at_most_one_row() {
        let mut undefined = 0;
        for word in 0..=0xFFFFu16 {
            let rows: Vec<_> = TABLE.iter().filter(|r| r.pattern.matches(word.into())).collect();
            assert!(rows.len() <= 1, "{word:#06x}: {:?}", rows.iter().map(|r| r.name()).collect::<Vec<_>>());
            assert_eq!(rows.first().map(|r| r.name()), find(word).map(|r| r.name()), "{word:#06x}");
            undefined += usize::from(rows.is_empty());
        }
        // 0x0000 .. 0x0fff and 0x1400 .. 0x1fff, byte forms of SWPB, SXT and CALL, all but one of 0x1300 .. 0x13ff
        assert_eq!((TABLE.len(), undefined), (27, 0x1000 + 0xC00 + 3 * 0x40 + 0xFF));
    }
}
