//! Passes pointers from timing models to the translator; no other file does.
//!
//! Native code does the work of [`crate::Timing::enter`] for transitions that are known when it is generated. It reads
//! and writes the model's own state, whose addresses are constants in the code. So interpreter and native code share
//! one state. Each side must keep its rules:
//!
//! - The model: a [`StatePointer`] is in memory that the model owns on the heap for all its life (a `Box` of an array or
//!   a number that is never replaced, not a field of the model itself, which moves with the machine). `reset` writes
//!   into it.
//! - The translator: code is dropped before the model is, and runs only inside [`crate::native::Translator::run`],
//!   which has borrowed the model, so nothing else accesses it meanwhile.
//! - The one place in the model itself, [`crate::Timing::last_end`], is passed as its distance from the model, whose
//!   address code receives at each entry.
//!
//! RAM, flash and the core's state are passed at each entry too ([`mcu::Memory::raw`], [`crate::native::Layout`]).

/// A number in a model's state.
#[derive(Debug, PartialEq, Eq)]
pub struct StatePointer<T>(*const T);

impl<T> StatePointer<T> {
    /// The place of `number`, which must not move as long as the model lives.
    pub fn of(number: &T) -> Self {
        Self(number)
    }

    /// Its address on the host.
    pub fn address(self) -> u64 {
        self.0.addr() as u64
    }
}

impl<T> Clone for StatePointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for StatePointer<T> {}

/// The cost of entering a block after another one, as far as it is known in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// A constant number of cycles; the model stores only where the last block ended.
    Fixed(u32),
    /// A counter from 0 to 3 that goes up when the transition is `taken`, otherwise down. It costs `missed` cycles
    /// unless the counter, above 1 or not, predicted it.
    Counter {
        /// The counter.
        at: StatePointer<u8>,
        /// Whether the second block does not follow the first in memory.
        taken: bool,
        /// Cycles of a wrong prediction.
        missed: u32,
    },
    /// No cycles, and only stamps change, when every condition holds; otherwise [`crate::Timing::enter`] decides.
    Held {
        /// Words that must have this value, or must not have it where the last part is false.
        words: Vec<(StatePointer<u32>, u32, bool)>,
        /// A clock, and stamps that must not be 0: each gets the next tick.
        stamps: Option<(StatePointer<u64>, Vec<StatePointer<u64>>)>,
    },
    /// [`crate::Timing::enter`] decides.
    Ask,
}
