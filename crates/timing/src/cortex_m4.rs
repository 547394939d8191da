//! Cortex-M4 cycle model.
//!
//! Core: DDI 0439 (Cortex-M4 TRM), "Processor instruction timings": the rules of the Cortex-M3 except for
//! multiplication, where MLA, MLS, every long multiplication and the DSP extension take one cycle; and for the wait of
//! wide instructions across words, which needs an instruction of several cycles before the third of them in its run
//! (eprint 2025/523, as others cite it; `docs/validation/arm-zero-wait.md`).
//!
//! Fetch: none where the chip runs without wait states; a cache of lines as fitted to figures of the
//! nRF52840 ([`mcu::Flash::cache_lines`]); prefetch buffers otherwise. See `fetch.rs`.

use isa::{Cause, Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};
use mcu::Flash;

use crate::cortex_m3::{MAX_RUN, Wide, core_cycles, costs, div, unaligned};
use crate::fetch::Front;

/// A Cortex-M4 with its flash.
#[derive(Clone, Debug)]
pub struct CortexM4 {
    front: Front,
}

impl CortexM4 {
    /// A core on `flash`, whose lines are a power of two; without wait states it is the core alone.
    pub fn new(flash: Flash) -> Self {
        Self { front: Front::new(flash) }
    }

    /// Costs that depend on operand values.
    pub fn events() -> Events {
        Events { div, mul_long: None, unaligned, splits: true, ..Events::default() }
    }
}

impl Timing<Thumb> for CortexM4 {
    const MAX_RUN: usize = MAX_RUN;

    fn id(&self) -> &'static str {
        "cortex-m4/5"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        costs(&self.front, steps, cycles, Wide::AFTER_SEVERAL_CYCLES)
    }

    fn waits(&self, steps: &[Step]) -> Vec<(Cause, Vec<u32>)> {
        self.front.waits(|front| costs(front, steps, cycles, Wide::AFTER_SEVERAL_CYCLES))
    }

    crate::enters_by!(front);
}

/// Cycles of the core without fetch stalls, branches not taken.
fn cycles(s: &Step, before: Option<&Step>) -> u32 {
    match s.class {
        Class::MulAdd | Class::MulLong | Class::MulLongAdd => 1,
        _ => core_cycles(s, before),
    }
}

#[cfg(test)]
mod tests {
    use isa::{Core as _, Machine, Timing as _};
    use isa_thumb::{Features, Thumb};
    use mcu::{Chip, Flash, Memory};

    use super::CortexM4;

    fn machine(flash_timing: Flash, code: &[u16]) -> Machine<Thumb, CortexM4> {
        let chip = Chip { flash_timing, ..Chip::of_memories((0, 0x4000), (0x2000_0000, 0x1000)) };
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        memory.flash[..8].copy_from_slice(&[0, 0x10, 0, 0x20, 17, 0, 0, 0]);
        for (k, half) in code.iter().enumerate() {
            memory.flash[16 + 2 * k..18 + 2 * k].copy_from_slice(&half.to_le_bytes());
        }
        let mut core = Thumb::with_features(memory, Features::CORTEX_M4);
        core.events = CortexM4::events();
        Machine::new(core, CortexM4::new(flash_timing))
    }

    #[test]
    fn multiplication_takes_one_cycle() {
        for code in [[0xFB00, 0x1002], [0xFBA0, 0x1202], [0xFBE0, 0x1202], [0xFBE0, 0x1262], [0xFB10, 0x1002]] {
            let m = machine(Flash::default(), &code);
            let run = m.core.decode(16, 1);
            assert_eq!(CortexM4::new(Flash::default()).costs(&run.steps).each[0], 1, "{:?}", m.core.disassemble(16));
        }
    }

    #[test]
    fn wide_instructions_across_words_wait_only_after_an_instruction_of_several_cycles() {
        let wide = [0xEA4F, 0x0808].repeat(3); // three times mov.w r8, r8
        let cycles = |before: &[u16], between: &[u16]| {
            let code = [before, &wide, between, &[0xE7FE]].concat();
            let run = machine(Flash::default(), &code).core.decode(16, 128);
            let each = CortexM4::new(Flash::default()).costs(&run.steps).each;
            each[..each.len() - 1].iter().sum::<u32>()
        };
        assert_eq!(cycles(&[0x46C0], &[]), 1 + 3); // nop
        assert_eq!(cycles(&[0x6808], &[]), 2 + 3 + 1); // ldr
        // it may be long ago, and among them; the branch that the run ends with is too late
        assert_eq!(cycles(&[0x6808, 0x46C0, 0x46C0, 0x46C0, 0x46C0], &[]), 2 + 4 + 3 + 1);
        assert_eq!(cycles(&[0x46C0, 0xEA4F, 0x0808, 0xF8D1, 0x2004], &[]), 1 + 1 + 2 + 3 + 1); // ldr.w
        assert_eq!(cycles(&[0x46C0], &[0x46C0, 0x6808, 0x46C0]), 1 + 3 + 1 + 2 + 1);
    }

    /// `loops` times `body` narrow instructions, then a breakpoint: cycles beyond those without wait states.
    fn stalls(body: usize, loops: u16) -> u64 {
        let cache = Flash { wait_states: 3, line_bytes: 16, cache_lines: 128, queue_words: 2, ..Flash::default() };
        // movs r0, #loops; body; subs r0, #1; beq over a b.w back to the body
        let mut code = vec![0x2000 | loops];
        code.extend(std::iter::repeat_n(0x1849, body));
        code.extend([0x3801, 0xD001]);
        let back = -(2 * (body as i32 + 2) + 4);
        code.extend([0xF000 | (back >> 12) as u16 & 0x7FF, 0xB800 | (back >> 1) as u16 & 0x7FF, 0xBE00]);
        let cycles = |flash| {
            let mut m = machine(flash, &code);
            m.run(1 << 30);
            assert_eq!(m.core.registers()[0], 0);
            m.cycles
        };
        cycles(cache) - cycles(Flash::default())
    }

    #[test]
    fn code_beyond_the_cache_waits_and_a_loop_inside_does_not() {
        // with a cache, the refill is one cycle longer, in each of 36 more rounds
        assert_eq!(stalls(900, 4) + 36, stalls(900, 40));
        let (few, many) = (stalls(2000, 4), stalls(2000, 5));
        // 250 lines, all of which miss but those that no other shares its place with; two of three cycles are hidden
        assert!((200..=252).contains(&(many - few)), "{}", many - few);
    }
}
