//! Jumps that leave calls: what C libraries call longjmp is followed to where it leads.

use mcu::{Image, Stop};

use super::End;
use super::running::Run;

/// What C libraries call the functions that leave calls.
const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp"];
/// Those that keep where such a jump may lead.
const SAVES: [&str; 4] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"];
/// Most places of either kind: a library has one for each name, and each makes every block slower, so that a crafted
/// image with many would run for ever.
const MOST_PLACES: usize = 16;
/// Most blocks that are followed within what leaves calls.
const STRIDE: usize = 1000;
/// Most bytes of a block of it that ends with a call; more than the stack takes of what it calls.
const BLOCK: u32 = 256;
const FRAME: u32 = 1024;

/// That a jump led out of a call's stack: the lowest that this was before, and whether the program is elsewhere still.
#[derive(Clone, Copy)]
pub(super) struct Out {
    pub(super) deepest: u32,
    pub(super) away: bool,
}

/// Where functions of these names begin.
fn addresses<'a>(image: &'a Image, names: &'a [&str]) -> impl Iterator<Item = u32> + 'a {
    image.symbols.iter().filter(|s| s.code && names.contains(&s.name.as_str())).map(|s| s.address)
}

/// Whether what begins there leaves calls, and returns from none of its own.
pub(super) fn never_returns(image: &Image, at: u32) -> bool {
    addresses(image, &JUMPS).any(|start| start == at)
}

impl Run<'_> {
    /// Notes what may leave calls of the function at `entry`, and what keeps where to. On cores with register windows
    /// it is nothing: handlers with other frames run on the way.
    pub(super) fn look_for_jumps(&mut self, entry: u32) {
        let starts = |names| -> Vec<u32> {
            let mut starts: Vec<_> = addresses(self.image, names).filter(|&at| at != entry).collect();
            starts.sort_unstable();
            starts.dedup();
            starts.truncate(MOST_PLACES);
            starts
        };
        let (jumps, saves) = (starts(&JUMPS), starts(&SAVES));
        if jumps.is_empty() || saves.is_empty() || self.sim.windowed() {
            return;
        }
        let code = self.image.code().into_iter().map(|(span, _)| span);
        (self.jumps, self.saves) = (code.filter(|span| jumps.contains(&span.start)).collect(), saves);
    }

    /// Whether `pc` is in a function that leaves calls.
    pub(super) fn jumping(&self, pc: u32) -> bool {
        self.jumps.iter().any(|jump| jump.contains(&pc))
    }

    /// Runs block by block until no function that leaves calls is under way, or to one of `ends`; how it ended where it
    /// fails in one. What such a function calls is not where it leads, unless that goes on elsewhere.
    pub(super) fn jumped(&mut self, ends: &[u32]) -> Option<End> {
        let (mut last, from) = self.sim.place();
        let mut callee = None;
        for _ in 0..STRIDE {
            let (pc, sp) = self.sim.place();
            if self.sim.cycles() >= self.budget || ends.contains(&pc) {
                break;
            }
            match callee {
                Some(back) if pc == back => callee = None,
                Some(_) if sp > from || sp.saturating_add(FRAME) < from => break,
                Some(_) => {}
                None if self.jumping(pc) => {}
                None => {
                    // on cores that push it, what lies on a stack may look like an address to return to
                    let back = self.sim.returns_to();
                    if sp > from || !self.jumping(back) || !(1..=BLOCK).contains(&back.wrapping_sub(last)) {
                        break;
                    }
                    callee = Some(back);
                }
            }
            last = if callee.is_none() { pc } else { last };
            let places: Vec<_> = ends.iter().copied().chain(callee).collect();
            let (stop, met) = self.sim.run_until(1, &places);
            if let Stop::Fault(f) = stop {
                self.failed = Some(f);
                return Some(self.fault(f));
            }
            if met && callee.is_none() {
                break;
            }
        }
        None
    }

    /// As [`Run::until`], in a call that called setjmp, began with `sp` and returns to `back`; notes jumps that lead out
    /// of its stack, to its caller's or to another one, and back. A program may turn round by jumps, so they begin no
    /// slice of their own.
    pub(super) fn until_out(&mut self, ends: &[u32], back: u32, sp: u32, out: &mut Option<Out>) -> Option<End> {
        let mut places = ends.to_vec();
        places.extend(self.jumps.iter().map(|jump| jump.start));
        let mut turn = self.slice();
        loop {
            if let Some(end) = self.until_met(&places, ends, &mut turn) {
                return Some(end);
            }
            if ends.contains(&self.sim.place().0) {
                return None;
            }
            let (from, deepest) = (self.sim.place().1, self.sim.memory().sp_min);
            if let Some(end) = self.jumped(ends) {
                return Some(end);
            }
            let (pc, now) = self.sim.place();
            if self.jumping(pc) {
                places.truncate(ends.len()); // it turns round at its beginning
            } else {
                // where calls push the address to return to, a function without a frame lands in itself with it on top
                let own = now == sp && self.sim.returns_to() == back;
                // frames of the same stack that a jump may lead to are above it
                let other = now >= sp && !own || now < from;
                match out {
                    Some(Out { deepest, away: away @ true }) if own || (*deepest..sp).contains(&now) => {
                        self.sim.memory_mut().sp_min = *deepest;
                        *away = false;
                    }
                    None | Some(Out { away: false, .. }) if other => *out = Some(Out { deepest, away: true }),
                    _ => {}
                }
            }
            if ends.contains(&pc) {
                return None;
            }
            if let Some(end) = self.limit() {
                return Some(end);
            }
        }
    }
}
