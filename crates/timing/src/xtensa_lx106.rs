//! LX106 cycle model: the five-stage Xtensa pipeline.
//!
//! Sources: the five stages I, R, E, M, W, with branches resolved in E (two cycles lost) and loads and
//! products delivered in M (one cycle before use), are those of the Xtensa LX five-stage pipeline.
//! Cadence publishes no instruction timing table for this configuration, so the figures are *assumed*
//! from the pipeline and were not checked against a manual.
//!
//! Code in flash is fetched through a cache, which answers fetches as fast as local memory; misses are not modelled. The
//! literals of such code come through the same cache, and each L32R waits for it: five or six cycles, 5.5 in the mean, by
//! published figures of a NodeMCU (`docs/validation/esp8266.md`). *Assumed*: the cache takes such a read with every other
//! cycle of the core, counted from the start of a run of code.

use isa::{Cause, Costs, Timing};
use isa_xtensa::{Events, Step, Xtensa};
use mcu::Flash;

use crate::xtensa::Pipeline;

const PIPELINE: Pipeline =
    Pipeline { load: 1, literal: 1, literal_wait: 0, mul16: 1, mul32: 1, store_data: 1, jump: 2, div: 1 };

/// An LX106 with data in local memory, and code in local memory or in flash that a cache holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lx106 {
    literal_wait: u32,
}

impl Lx106 {
    /// A core whose code is in `flash`; without waits for data from there it is local memory.
    pub fn new(flash: Flash) -> Self {
        Self { literal_wait: flash.data_wait_states }
    }

    fn pipeline(&self) -> Pipeline {
        Pipeline { literal_wait: self.literal_wait, ..PIPELINE }
    }

    /// Costs that depend on what happens at run time. It has no division.
    pub fn events() -> Events {
        PIPELINE.events(|_, _| 0)
    }
}

impl Timing<Xtensa> for Lx106 {
    fn id(&self) -> &'static str {
        if self.literal_wait == 0 { "xtensa-lx106/1" } else { "xtensa-lx106-cached/1" }
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        self.pipeline().costs(steps)
    }

    fn waits(&self, steps: &[Step]) -> Vec<(Cause, Vec<u32>)> {
        vec![(Cause::FlashData, self.pipeline().literal_waits(steps))]
    }

    fn is_static(&self) -> bool {
        true
    }
}
