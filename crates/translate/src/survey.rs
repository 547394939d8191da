//! Surveys a run before translation: what it reads, what it writes, and where it goes.

use isa::native::{ByHandler, Emit, One, Op, Slots, Test, Values};

/// The results of the survey.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    /// Slots read.
    pub gets: u64,
    /// Slots written, not counting what handlers write.
    pub sets: u64,
    /// Known addresses where it goes.
    pub next: Vec<u32>,
    /// Slots whose first value is never read.
    pub kills: u64,
    /// Slots that may have been read.
    seen: u64,
    /// Instructions up to this one may be skipped.
    skipped: usize,
    /// Slots written, by instruction.
    writes: Vec<u64>,
    /// The instruction of each target in `next`.
    from: Vec<usize>,
}

impl Values for Survey {
    type V = ();

    fn int(&mut self, _: u32, _: u64) {}
    fn op(&mut self, _: Op, (): (), (): ()) {}
    fn one(&mut self, _: One, (): ()) {}
    fn test(&mut self, _: Test, (): (), (): ()) {}
    fn pick(&mut self, (): (), (): (), (): ()) {}
    fn narrow(&mut self, (): (), _: u32) {}
    fn widen(&mut self, (): (), _: u32, _: bool) {}
}

impl Emit for Survey {
    type Span = ();

    fn start(&mut self, at: usize) {
        self.writes.resize(at + 1, 0);
        if at >= self.skipped {
            self.skipped = 0;
        }
    }
    fn get(&mut self, slot: usize) {
        self.gets |= 1 << slot;
        self.seen |= 1 << slot;
    }
    fn set(&mut self, slot: usize, (): ()) {
        self.sets |= 1 << slot;
        if let Some(writes) = self.writes.last_mut() {
            *writes |= 1 << slot;
        }
        if self.skipped == 0 {
            self.kills |= 1 << slot & !self.seen;
        }
    }
    fn later(&mut self, slot: usize, _: impl Fn(&mut Self)) {
        self.set(slot, ());
    }
    fn handler(&mut self, by: ByHandler) {
        self.seen |= by.reads.0;
    }
    fn guard(&mut self, by: ByHandler, (): (), then: impl FnOnce(&mut Self)) {
        self.handler(by);
        then(self);
    }
    fn load(&mut self, by: ByHandler, (): (), _: u32, _: (u32, bool), then: impl FnOnce(&mut Self, ())) {
        self.handler(by);
        then(self, ());
    }
    fn store(&mut self, by: ByHandler, (): (), _: u32, (): (), then: impl FnOnce(&mut Self)) {
        self.handler(by);
        then(self);
    }
    fn load_words(&mut self, by: ByHandler, (): (), count: usize, then: impl FnOnce(&mut Self, &[()])) {
        self.handler(by);
        then(self, &vec![(); count]);
    }
    fn store_words(&mut self, by: ByHandler, (): (), _: &[()], then: impl FnOnce(&mut Self)) {
        self.handler(by);
        then(self);
    }
    fn span(&mut self, by: ByHandler, (): (), _: i32, _: u32, _: Option<()>) {
        self.handler(by);
    }
    fn load_in(&mut self, (): (), _: i32, _: u32) {}
    fn store_in(&mut self, (): (), _: i32, _: u32, (): ()) {}
    fn program(&mut self, by: ByHandler, (): (), then: impl FnOnce(&mut Self, ())) {
        self.handler(by);
        then(self, ());
    }
    fn stack(&mut self, by: ByHandler, (): ()) {
        self.handler(by);
    }
    fn rest_unless(&mut self, by: ByHandler, (): ()) {
        self.handler(by);
    }
    fn spend(&mut self, (): ()) {}
    fn skip_unless(&mut self, (): (), to: usize, _: i32) {
        self.skipped = self.skipped.max(to);
    }
    fn skip_by_handler(&mut self, by: ByHandler, to: usize) {
        self.handler(by);
        self.skipped = self.skipped.max(to);
    }
    fn leave_if(&mut self, (): (), _: bool, to: u32, _: i32) {
        self.seen = u64::MAX;
        self.way(to);
    }
    fn jump(&mut self, to: u32) {
        self.way(to);
    }
    fn jump_to(&mut self, (): ()) {}
    fn branch(&mut self, (): (), yes: u32, _: i32, no: u32) {
        self.way(yes);
        self.way(no);
    }
}

impl Survey {
    /// Slots that neither instruction `at` nor a later one writes.
    pub fn done(&self, at: usize) -> u64 {
        !self.writes.iter().skip(at).fold(0, |all, writes| all | writes)
    }

    /// The last instruction that goes to an address, and slots that are new there and may be read there.
    pub fn loops(&self, to: u32) -> Option<(usize, u64)> {
        let at = self.from[self.next.iter().rposition(|&next| next == to)?];
        let writes = self.writes.iter().take(at + 1).fold(0, |all, writes| all | writes);
        Some((at, writes & !self.kills))
    }

    fn way(&mut self, to: u32) {
        self.next.push(to);
        self.from.push(self.writes.len().saturating_sub(1));
    }

    /// All slots that it touches.
    pub fn touches(&self) -> Slots {
        Slots(self.gets | self.sets)
    }
}
