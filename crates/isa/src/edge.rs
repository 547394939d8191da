//! Where timing models hand pointers to the translator, and nowhere else.
//!
//! Native code does what [`crate::Timing::enter`] would do for ways that it knows when it is made: it reads and writes
//! the model's own state, whose addresses are constants in it. So there is one state, whoever runs a block. This holds as
//! long as each side keeps its part:
//!
//! - The model: a [`Place`] is in memory that the model owns on the heap from its making to its end (a `Box` of an
//!   array or a number that is never replaced, not a field of the model itself, which moves with the machine). `reset`
//!   writes into it.
//! - The translator: code is forgotten before the model is, and runs only inside of [`crate::native::Translator::run`],
//!   which has borrowed the model, so nobody else looks at it meanwhile.
//! - The one place that is in the model itself, [`crate::Timing::last_end`], is handed over as its distance from the
//!   model, and code is told at each entry where that is.
//!
//! RAM, flash and the core's state are handed over at each entry too ([`mcu::Memory::raw`], [`crate::native::Layout`]).

/// A number in a model's state.
#[derive(Debug, PartialEq, Eq)]
pub struct Place<T>(*const T);

impl<T> Place<T> {
    /// The place of `number`, which stays there as long as the model lives.
    pub fn of(number: &T) -> Self {
        Self(number)
    }

    /// Its address on the host.
    pub fn address(self) -> u64 {
        self.0.addr() as u64
    }
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Place<T> {}

/// What it costs to enter a block after another one, as far as it is known before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Always so many cycles; the model keeps no more than where the last block ended.
    Fixed(u32),
    /// A counter from 0 to 3 that goes up when it is `taken`, else down; `missed` cycles unless it was above 1
    /// and is taken, or neither.
    Counter {
        /// The counter.
        at: Place<u8>,
        /// Whether the second block does not follow the first in memory.
        taken: bool,
        /// Cycles of a wrong guess.
        missed: u32,
    },
    /// Nothing, and nothing changes but stamps, when every condition holds; else [`crate::Timing::enter`] knows.
    Held {
        /// Words that must have this value, or another one where the last part is false.
        words: Vec<(Place<u32>, u32, bool)>,
        /// A clock, and stamps that must not be 0: each gets the next tick.
        stamps: Option<(Place<u64>, Vec<Place<u64>>)>,
    },
    /// Only [`crate::Timing::enter`] knows.
    Ask,
}
