//! The parts that all instruction sets share: bit patterns as data, decoded blocks and the run loop.
//! An instruction set is one table of definitions. A definition has a bit pattern, an assembly text, an operation and
//! an operand form. Code is decoded once into [`Block`]s of [`Insn`]s, and each handler calls the next one directly
//! (threaded code), which the optimiser turns into a jump. Costs that the timing model knows in advance are added once
//! per block; see [`Timing`].

mod agree;
mod block;
mod cause;
mod edge;
mod machine;
pub mod native;
mod pattern;
mod pieces;
mod profile;
pub mod values;

pub use agree::blocks_agree;
pub use block::{Block, Core, Costs, Exec, Insn, Invocation, OneCycle, Run, TableRow, Timing, next};
pub use cause::{Cause, Share, Shares, Work};
pub use machine::Machine;
pub use pattern::{Fields, Pattern, Template};
pub use profile::{Node, Profile, Span};
