//! A translator that tells what became native code, and whether it ran.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use isa::native::{Lower, Translator};
use isa::{Block, Timing};

thread_local! {
    static ENTERED: Cell<u64> = const { Cell::new(0) };
    static ROWS: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

/// How often native code was entered since the last call.
pub fn entered() -> u64 {
    ENTERED.take()
}

/// Definitions of the core's table in blocks that became code since the last call.
pub fn rows() -> BTreeSet<usize> {
    ROWS.take()
}

/// A translator that must make code of every block, or of none.
pub fn translator<C: Lower + 'static, T: Timing<C> + 'static>(makes: bool) -> Box<dyn Translator<C, T>> {
    Box::new(Watched(translate::translator(), makes))
}

struct Watched<C, T>(Box<dyn Translator<C, T>>, bool);

impl<C: Lower, T> Translator<C, T> for Watched<C, T> {
    fn translate(
        &mut self,
        core: &C,
        timing: &mut T,
        blocks: &[Option<Box<Block<C>>>],
        at: usize,
    ) -> Option<Vec<usize>> {
        let made = self.0.translate(core, timing, blocks, at);
        assert_eq!(made.as_ref().is_some_and(|places| places.contains(&at)), self.1, "there is code");
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
