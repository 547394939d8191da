//! What the in-order RV32 cores share.

use isa_riscv::{Class, Step};

/// Cycles of each step, given those of its class; a use of a loaded value as the next instruction waits one more.
pub(crate) fn in_order(steps: &[Step], cycles: impl Fn(Class) -> u32) -> Vec<u32> {
    let mut loaded = 0; // register that the instruction before loads
    let each = steps.iter().map(|s| {
        if s.class == Class::Pseudo {
            return 0;
        }
        let waits = loaded != 0 && (s.rs1 == loaded || s.rs2 == loaded);
        loaded = if matches!(s.class, Class::Load | Class::LoadNarrow) { s.rd } else { 0 };
        cycles(s.class) + u32::from(waits)
    });
    each.collect()
}
