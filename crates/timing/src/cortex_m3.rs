//! Cortex-M3 cycle model.
//!
//! Core: DDI 0337 (Cortex-M3 TRM), instruction timing table and "Load/store timings". P, the pipeline
//! refill of a taken branch, is 2 (the TRM gives 1 to 3; fitted). Model assumptions, where the TRM
//! gives only a range, are marked *assumed*.
//!
//! Fetch: a mechanistic flash front end as PM0075 describes that of the STM32F1: lines of
//! [`Flash::line_bytes`], one flash access of `wait_states` + 1 cycles for each, and
//! [`Flash::prefetch_lines`] buffers, one of which holds the line that is executed. *Assumed*: the next
//! access starts when the line before it is entered; a refill after a taken branch costs
//! `wait_states` more unless its line is held; data reads do not delay fetches.

use isa::{Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};
use mcu::Flash;

/// Pipeline refill of a taken branch (DDI 0337: 1 to 3; fitted).
const P: u32 = 2;

/// A Cortex-M3 with its flash.
#[derive(Clone, Debug)]
pub struct CortexM3 {
    flash: Flash,
    /// Address behind the last executed block.
    last_end: u32,
}

impl CortexM3 {
    /// A core on `flash`; without wait states it is the core alone.
    pub fn new(flash: Flash) -> Self {
        Self { flash, last_end: 0 }
    }

    /// Costs that depend on operand values.
    pub fn events() -> Events {
        Events { div, mul_long, unaligned }
    }

    /// Whether fetches can wait.
    #[inline(always)]
    fn waits(&self) -> bool {
        self.flash.wait_states != 0 && self.flash.line_bytes != 0
    }

    /// Stalls of sequential fetches, added to the steps that wait. `each` are the core's cycles.
    ///
    /// Line k is requested when line k - prefetch_lines + 1 is entered, or when the access before it
    /// is done, and is there `wait_states` + 1 cycles later.
    fn fetch_stalls(&self, steps: &[Step], each: &mut [u32]) {
        let bytes = self.flash.line_bytes;
        let ahead = (self.flash.prefetch_lines as usize).saturating_sub(1);
        let access = self.flash.wait_states + 1;
        let Some(first) = steps.first().map(|s| s.pc / bytes) else { return };
        let mut entered = vec![0u32];
        let mut done = 0;
        let mut now = 0;
        for (s, cost) in steps.iter().zip(each.iter_mut()) {
            let last = if s.bytes == 0 { s.pc } else { s.pc.wrapping_add(u32::from(s.bytes) - 1) };
            while (entered.len() as u32) <= (last / bytes).wrapping_sub(first) && s.bytes != 0 {
                // without prefetch the request waits for the line to be needed
                let room = if ahead == 0 { now } else { entered[entered.len().saturating_sub(ahead)] };
                done = room.max(done) + access;
                let stall = done.saturating_sub(now);
                // the fetch of a line that is there takes part in the pipeline; a missing one stalls
                let stall = if ahead == 0 { stall.saturating_sub(1) } else { stall };
                now += stall;
                *cost += stall;
                entered.push(now);
            }
            now += *cost;
        }
    }
}

impl Timing<Thumb> for CortexM3 {
    fn id(&self) -> &'static str {
        "cortex-m3/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let mut each = Vec::with_capacity(steps.len());
        let mut before: Option<&Step> = None;
        for s in steps {
            each.push(core_cycles(s, before));
            if s.class != Class::Pseudo {
                before = Some(s);
            }
        }
        let taken = steps.iter().map(|s| if s.class == Class::BranchCond { P as u8 } else { 0 }).collect();
        if self.waits() {
            let mut only = each.clone();
            self.fetch_stalls(steps, &mut only);
            each = only;
        }
        // a skipped instruction goes through the pipeline as one cycle
        Costs { each, taken, skipped: 1 }
    }

    #[inline(always)]
    fn enter(&mut self, start: u32, end: u32) -> u32 {
        if !self.waits() {
            return 0;
        }
        let last = std::mem::replace(&mut self.last_end, end);
        if start == last {
            return 0;
        }
        // held: the line of the last executed instruction, and the lines prefetched behind it
        let bytes = self.flash.line_bytes;
        let ahead = (start / bytes).wrapping_sub(last.wrapping_sub(2) / bytes);
        if ahead < self.flash.prefetch_lines.max(1) { 0 } else { self.flash.wait_states }
    }

    fn reset(&mut self) {
        self.last_end = 0;
    }
}

/// Cycles of the core without fetch stalls, branches not taken.
fn core_cycles(s: &Step, before: Option<&Step>) -> u32 {
    let previous = before.map_or(Class::Stop, |b| b.class);
    let n = u32::from(s.count);
    let computed = |b: &Step| !matches!(b.class, Class::Load | Class::LoadMultiple | Class::LoadExclusive);
    // DDI 0337 load/store timings: no forwarding from data processing to an address
    let interlock = u32::from(before.is_some_and(|b| computed(b) && b.writes & s.address != 0 && !is_store(b.class)));
    match s.class {
        Class::Pseudo | Class::Stop => 0,
        Class::Alu | Class::Mul | Class::It | Class::BranchCond => 1,
        Class::System => 2,  // DDI 0337: 1 or 2
        Class::Barrier => 1, // DDI 0337: 1 + B; assumed: B is 0 with an idle write buffer
        Class::MulAdd => 2,
        Class::MulLong => 3,    // 3 to 5: the rest comes from `events`
        Class::MulLongAdd => 4, // 4 to 7: likewise
        Class::Div => 2,        // 2 to 12: likewise
        // a load follows a load in its data phase when its address does not depend on it
        Class::Load if previous == Class::Load && before.is_some_and(|b| b.writes & s.address == 0) => 1,
        Class::Load | Class::LoadExclusive | Class::StoreExclusive => 2 + interlock,
        Class::Store => 1 + interlock,
        Class::LoadPc => 2 + P + interlock,
        Class::LoadMultiple | Class::StoreMultiple => 1 + n + interlock,
        Class::LoadMultiplePc => 1 + n + P + interlock,
        Class::Branch => 1 + P,
        Class::TableBranch => 2 + P + interlock,
    }
}

fn is_store(class: Class) -> bool {
    matches!(class, Class::Store | Class::StoreMultiple)
}

/// Division beyond 2 cycles. DDI 0337 gives 2 to 12 by leading zeros and ones; *assumed*: 2 when the
/// quotient is surely 0, else 4 and one for each four bits that the quotient can have.
fn div(x: u32, y: u32, signed: bool) -> u32 {
    let (x, y) = if signed { ((x as i32).unsigned_abs(), (y as i32).unsigned_abs()) } else { (x, y) };
    let bits = (y.leading_zeros() + 1).saturating_sub(x.leading_zeros());
    if bits == 0 || y == 0 { 0 } else { 2 + bits / 4 }
}

/// Long multiplication beyond 3 (accumulating: 4) cycles. DDI 0337 gives 3 to 5 and 4 to 7 by operand
/// size; *assumed*: one more for each operand beyond 16 bits, and one more for two such when accumulating.
fn mul_long(x: u32, y: u32, signed: bool, add: bool) -> u32 {
    let small = |v: u32| if signed { v as i32 == i32::from(v as i16) } else { v <= 0xFFFF };
    let wide = u32::from(!small(x)) + u32::from(!small(y));
    wide + u32::from(add && wide == 2)
}

/// Unaligned access (DDI 0337, load/store timings): a halfword or a word at a halfword address is two
/// accesses, a word at an odd address three.
fn unaligned(address: u32, bytes: u32) -> u32 {
    if bytes == 4 && address & 1 == 1 { 2 } else { 1 }
}
