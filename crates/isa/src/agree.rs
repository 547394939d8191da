//! Blocks do what single steps do: what the fuzzers of AVR and MSP430 check. Their blocks hold only instructions.

use mcu::Fault;

use crate::{Core, Machine, Timing};

/// Runs `whole` by blocks and `single`, its twin, by steps, until the first fault or past `cycles`. The steps, and the
/// fault.
///
/// # Panics
/// Where they differ: cycles, registers and RAM wherever a block ends, or the fault.
pub fn blocks_agree<C: Core, T: Timing<C>>(
    whole: &mut Machine<C, T>,
    single: &mut Machine<C, T>,
    cycles: u64,
) -> (u32, Option<Fault>) {
    let (mut steps, end) = (0, whole.cycles + cycles);
    while whole.cycles < end {
        let fault = whole.run(40).fault();
        while fault.is_some() || single.cycles < whole.cycles {
            let one = single.step().fault();
            steps += 1;
            if one.is_some() {
                assert_eq!(one, fault, "by steps, and by blocks");
                return (steps, fault);
            }
            // code after a fault in its block still runs
            assert!(single.cycles < whole.cycles + 1000, "no {fault:?} by steps");
        }
        assert_eq!(single.cycles, whole.cycles, "same boundaries");
        assert_eq!(single.core.registers(), whole.core.registers(), "cycle {}", whole.cycles);
        assert!(single.core.memory().ram == whole.core.memory().ram, "RAM at cycle {}", whole.cycles);
    }
    (steps, None)
}
