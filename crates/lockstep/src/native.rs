//! Runs our core's native code, through a translator that ensures that there is some.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use isa::native::{Lower, Translator};
use isa::{Block, Timing};

thread_local! {
    /// How often code was entered.
    static ENTERED: Cell<u64> = const { Cell::new(0) };
    /// Definitions of the core's table in blocks that became code.
    static ROWS: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

/// The result of `run`, if native code ran.
///
/// # Errors
/// When none was entered.
pub(crate) fn watched<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    ENTERED.set(0);
    let result = run();
    if ENTERED.get() > 0 { Ok(result) } else { Err("native code was not entered".into()) }
}

/// Definitions of the core's table in blocks that became code since the last call.
pub(crate) fn rows() -> BTreeSet<usize> {
    ROWS.take()
}

/// A translator that must not fail.
pub(crate) fn translator<C: Lower + 'static, T: Timing<C> + 'static>() -> Box<dyn Translator<C, T>> {
    Box::new(Watched(translate::translator()))
}

struct Watched<C, T>(Box<dyn Translator<C, T>>);

impl<C: Lower, T> Translator<C, T> for Watched<C, T> {
    fn translate(
        &mut self,
        core: &C,
        timing: &mut T,
        blocks: &[Option<Box<Block<C>>>],
        at: usize,
    ) -> Option<Vec<usize>> {
        let made = self.0.translate(core, timing, blocks, at);
        assert!(made.as_ref().is_some_and(|places| places.contains(&at)), "there is code");
        let there = made.iter().flatten().filter_map(|&place| blocks[place].as_ref());
        let rows = there.flat_map(|block| block.insns.iter()).filter_map(|i| core.row(i.site.pc));
        ROWS.with_borrow_mut(|all| all.extend(rows));
        made
    }

    fn run(&self, core: &mut C, timing: &mut T, at: usize, cycles: u64) -> u64 {
        ENTERED.set(ENTERED.get() + 1);
        self.0.run(core, timing, at, cycles)
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}
