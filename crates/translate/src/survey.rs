//! Looks at a run before code is made: what it reads, what it writes, where it goes.

use isa::native::{ByHandler, Emit, One, Op, Slots, Test};

/// What is found out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    /// Slots read.
    pub gets: u64,
    /// Slots written, not counting what handlers write.
    pub sets: u64,
    /// Known addresses where it goes.
    pub next: Vec<u32>,
}

impl Emit for Survey {
    type V = ();

    fn start(&mut self, _: usize) {}
    fn get(&mut self, slot: usize) {
        self.gets |= 1 << slot;
    }
    fn set(&mut self, slot: usize, (): ()) {
        self.sets |= 1 << slot;
    }
    fn int(&mut self, _: u32, _: u64) {}
    fn op(&mut self, _: Op, (): (), (): ()) {}
    fn one(&mut self, _: One, (): ()) {}
    fn test(&mut self, _: Test, (): (), (): ()) {}
    fn pick(&mut self, (): (), (): (), (): ()) {}
    fn narrow(&mut self, (): (), _: u32) {}
    fn widen(&mut self, (): (), _: u32, _: bool) {}
    fn handler(&mut self, _: ByHandler) {}
    fn guard(&mut self, _: ByHandler, (): (), then: impl FnOnce(&mut Self)) {
        then(self);
    }
    fn load(&mut self, _: ByHandler, (): (), _: u32, _: (u32, bool), then: impl FnOnce(&mut Self, ())) {
        then(self, ());
    }
    fn store(&mut self, _: ByHandler, (): (), _: u32, (): (), then: impl FnOnce(&mut Self)) {
        then(self);
    }
    fn load_words(&mut self, _: ByHandler, (): (), count: usize, then: impl FnOnce(&mut Self, &[()])) {
        then(self, &vec![(); count]);
    }
    fn store_words(&mut self, _: ByHandler, (): (), _: &[()], then: impl FnOnce(&mut Self)) {
        then(self);
    }
    fn stack(&mut self, _: ByHandler, (): ()) {}
    fn skip_unless(&mut self, (): (), _: usize, _: u32) {}
    fn jump(&mut self, to: u32) {
        self.next.push(to);
    }
    fn jump_to(&mut self, (): ()) {}
    fn branch(&mut self, (): (), yes: u32, _: u32, no: u32) {
        self.next.extend([yes, no]);
    }
}

impl Survey {
    /// All slots that it touches.
    pub fn touches(&self) -> Slots {
        Slots(self.gets | self.sets)
    }
}
