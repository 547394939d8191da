//! The chip around a core: memory map, peripherals, trigger pin and ELF images.
//!
//! Nothing here knows an instruction set. A core calls [`Memory`] for every data access; RAM is the
//! fast path, everything else (flash, peripherals, holes) is the slow one, where a peripheral sees
//! the exact cycle of the access. A chip is data: [`Chip`] is read from a target's TOML.

mod chip;
mod fault;
mod harness;
mod image;
mod memory;
mod periph;

pub use chip::{Chip, Flash, PeripheralConfig, Region};
pub use fault::{Fault, FaultKind};
pub use harness::{Area, Harness, Stray};
pub use image::{Image, Segment, Symbol, code_address};
pub use memory::{Access, Call, Memory, Register, Site, Stop, Unmodelled, Waits};
pub use periph::{Host, Peripheral, build as build_peripheral};
