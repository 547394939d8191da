//! Cycle models of the AVR cores. All costs are static, only branches and skips add to them.
//!
//! Figures are those of the tables "Cycles" in the AVR Instruction Set Manual (DS40002198), chapter 5,
//! for devices with a 16-bit program counter and internal RAM. A skip costs one more cycle for each
//! word that it skips, a taken branch one more.

use isa::{Costs, Timing};
use isa_avr::{Avr, Class, Step};

/// AVRe+, such as ATmega328P and its larger relatives with up to 128 KiB of flash.
#[derive(Clone, Copy, Debug, Default)]
pub struct AvrE;

/// AVRxt, such as ATmega4809. A load from flash in the data space takes longer: `data_wait_states` of
/// the chip, which memory adds.
#[derive(Clone, Copy, Debug, Default)]
pub struct AvrXt;

impl Timing<Avr> for AvrE {
    fn id(&self) -> &'static str {
        "avre+/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        costs(steps, avre)
    }

    fn is_static(&self) -> bool {
        true
    }
}

impl Timing<Avr> for AvrXt {
    fn id(&self) -> &'static str {
        "avrxt/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        costs(steps, avrxt)
    }

    fn is_static(&self) -> bool {
        true
    }
}

fn costs(steps: &[Step], cycles: fn(Class) -> u32) -> Costs {
    let taken = |s: &Step| if s.class == Class::Branch { 1 } else { s.skipped_words };
    Costs {
        each: steps.iter().map(|s| cycles(s.class)).collect(),
        taken: steps.iter().map(taken).collect(),
        skipped: 0,
        ..Costs::default()
    }
}

/// Column AVRe.
fn avre(class: Class) -> u32 {
    match class {
        Class::Seam => 0,
        Class::Alu => 1,                        // ADD .. WDR
        Class::Branch => 1,                     // BRBC, BRBS: not taken
        Class::Skip | Class::SkipIo => 1,       // CPSE, SBRC, SBRS, SBIC, SBIS: condition false
        Class::Word => 2,                       // ADIW, SBIW
        Class::Multiply => 2,                   // MUL .. FMULSU
        Class::IoBit => 2,                      // SBI, CBI
        Class::Load | Class::LoadDirect => 2,   // LD, LDD, LDS
        Class::Store | Class::StoreDirect => 2, // ST, STD, STS
        Class::Push | Class::Pop => 2,          // PUSH, POP
        Class::JumpShort => 2,                  // RJMP, IJMP
        Class::Jump => 3,                       // JMP
        Class::LoadProgram => 3,                // LPM
        Class::CallShort => 3,                  // RCALL, ICALL
        Class::Call => 4,                       // CALL
        Class::Return => 4,                     // RET, RETI
    }
}

/// Column AVRxt, where it differs.
fn avrxt(class: Class) -> u32 {
    match class {
        Class::Store => 1,      // ST, STD
        Class::Push => 1,       // PUSH
        Class::IoBit => 1,      // SBI, CBI
        Class::CallShort => 2,  // RCALL, ICALL
        Class::Call => 3,       // CALL
        Class::LoadDirect => 3, // LDS
        other => avre(other),
    }
}
