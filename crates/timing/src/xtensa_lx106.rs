//! LX106 cycle model: the five-stage Xtensa pipeline.
//!
//! Sources: the five stages I, R, E, M, W, with branches resolved in E (two cycles lost) and loads and
//! products delivered in M (one cycle before use), are those of the Xtensa LX five-stage pipeline.
//! Cadence publishes no instruction timing table for this configuration, so the figures are *assumed*
//! from the pipeline and were not checked against a manual.

use isa::{Costs, Timing};
use isa_xtensa::{Events, Step, Xtensa};

use crate::xtensa::Pipeline;

const PIPELINE: Pipeline = Pipeline { load: 1, literal: 1, mul16: 1, mul32: 1, store_data: 1, jump: 2, div: 1 };

/// An LX106 with code and data in local memories.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lx106;

impl Lx106 {
    /// Costs that depend on what happens at run time. It has no division.
    pub fn events() -> Events {
        PIPELINE.events(|_, _| 0)
    }
}

impl Timing<Xtensa> for Lx106 {
    fn id(&self) -> &'static str {
        "xtensa-lx106/1"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        PIPELINE.costs(steps)
    }

    fn is_static(&self) -> bool {
        true
    }
}
