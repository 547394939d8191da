//! Addresses in RAM and flash.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use isa::Timing;
use isa::native::{Lower, Values};
use mcu::Memory;

use super::{Emitter, int};
use crate::FLAGS;

/// Bytes of RAM: where they begin, where their marks of what was written do, and how far that is past the
/// address that the span has its name from.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(super) ram: Value,
    pub(super) written: Value,
    pub(super) from: i32,
}

impl<'a, C: Lower, T: Timing<C>> Emitter<'a, C, T> {
    /// Distance of an address from `base`, whether `count` times `bytes` from there on are aligned and end
    /// before `size`.
    pub(super) fn inside(
        &mut self,
        address: Value,
        base: u32,
        size: usize,
        bytes: u32,
        count: usize,
    ) -> (Value, Value) {
        if self.layout.unaligned {
            assert!(count == 1, "words are for cores that align them");
            return self.within(address, base, size, bytes);
        }
        let kind = self.b.func.dfg.value_type(address);
        let base_at = self.int(kind.bits(), (-i64::from(base)) as u64);
        let distance = self.b.ins().iadd(address, base_at);
        let units = if bytes > 1 { self.b.ins().rotr_imm(distance, i64::from(bytes.ilog2())) } else { distance };
        // both ends are aligned, else nothing is inside
        let whole = base % bytes == 0 && size as u32 % bytes == 0;
        let most = if whole { (size / bytes as usize + 1).saturating_sub(count) } else { 0 };
        let most = self.b.ins().iconst(kind, most as i64);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, units, most);
        (distance, inside)
    }

    /// Likewise for bytes from any address on.
    pub(super) fn within(&mut self, address: Value, base: u32, size: usize, bytes: u32) -> (Value, Value) {
        let most = (size as u64 + 1).saturating_sub(bytes.into());
        if let Some(address) = self.known(address) {
            let distance = (address as u32).wrapping_sub(base);
            let inside = self.int(8, (u64::from(distance) < most).into());
            return (self.int(32, distance.into()), inside);
        }
        let base = self.int(32, base.wrapping_neg().into());
        let distance = if self.known(base) == Some(0) { address } else { self.b.ins().iadd(address, base) };
        let most = self.int(32, most);
        (distance, self.b.ins().icmp(IntCC::UnsignedLessThan, distance, most))
    }

    pub(super) fn at(&mut self, memory: Value, distance: Value) -> Value {
        if let Some(distance) = self.known(distance) {
            return self.b.ins().iadd_imm(memory, distance as i64);
        }
        let narrow = self.b.func.dfg.value_type(distance) == types::I32;
        let wide = if narrow { self.widen(distance, 64, false) } else { distance };
        self.b.ins().iadd(memory, wide)
    }

    /// A value read from host memory and extended.
    pub(super) fn read(&mut self, at: Value, bytes: u32, (bits, signed): (u32, bool)) -> Value {
        let value = self.b.ins().load(int(8 * bytes), FLAGS, at, 0);
        if 8 * bytes < bits { self.widen(value, bits, signed) } else { value }
    }

    /// Whether the stack pointer was as low as `sp` before, and `sp` is not above where it may be; see
    /// [`Memory::stack`].
    pub(super) fn seen_stack(&mut self, sp: Value) -> Value {
        let [least, top] = [offset_of!(Memory, sp_min), offset_of!(Memory, sp_top)].map(|field| {
            let at = self.state(field);
            self.b.ins().load(types::I32, FLAGS, self.core_at, at)
        });
        let above = self.b.ins().isub(sp, least);
        let most = self.b.ins().isub(top, least);
        self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, above, most)
    }

    /// A constant in flash.
    pub(super) fn literal(&self, address: Value, bytes: u32) -> Option<u64> {
        let address = self.known(address)?;
        let memory = self.core.memory();
        let (base, _) = memory.flash_in_data()?;
        let from = usize::try_from(address.checked_sub(base.into())?).ok()?;
        let bytes = memory.flash.get(from..from + bytes as usize).filter(|_| address % u64::from(bytes) == 0)?;
        Some(bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)))
    }
}
