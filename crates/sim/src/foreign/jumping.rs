//! Jumps that leave calls: what C libraries call longjmp is followed to where it leads.

use mcu::Image;

use super::End;
use super::running::Run;

/// What C libraries call the functions that leave calls.
const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp"];
/// Those that keep where such a jump may lead.
const SAVES: [&str; 4] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"];
/// Most places of either kind: a library has one for each name, and each makes every block slower, so that a crafted
/// image with many would run for ever.
const MOST_PLACES: usize = 16;
/// Most places where jumps may lead to: they are looked for only while a jump is under way.
const MOST_LANDINGS: usize = 1024;

/// Most bytes that calls push, and returns take.
const ADDRESS: u32 = 4;

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
        (self.jumps, self.saves) = (jumps, saves);
    }

    /// Notes where jumps may lead: to where a call of setjmp, which begins here, returns.
    pub(super) fn note_landing(&mut self) {
        let back = self.sim.returns_to();
        if self.landings.len() < MOST_LANDINGS && !self.landings.contains(&back) {
            self.landings.push(back);
        }
    }

    /// As [`Run::until`] for one place, and notes where jumps may lead to afterwards.
    pub(super) fn until_noting(&mut self, end: u32) -> Option<End> {
        let mut places = vec![end];
        places.extend(&self.saves);
        let mut turn = self.slice();
        loop {
            if let Some(end) = self.until_met(&places, &[end], &mut turn) {
                return Some(end);
            }
            let pc = self.sim.place().0;
            if self.saves.contains(&pc) {
                self.note_landing();
            }
            if pc == end {
                return None;
            }
            if let Some(end) = self.limit() {
                return Some(end);
            }
        }
    }

    /// Runs what leaves calls, which begins here, to where setjmp returned, however it does that, or to where it itself
    /// returns. Where it leads to by an address that setjmp did not keep is known when that comes to one of `ends`, or
    /// to setjmp. Whether it leads away; how it ended where it comes to none of these.
    pub(super) fn jumped(&mut self, ends: &[u32]) -> Result<bool, End> {
        let mut places = self.landings.clone();
        let (back, from) = (self.sim.returns_to(), self.sim.place().1);
        places.push(back);
        places.extend(ends.iter().chain(&self.saves));
        if let Some(end) = self.until(&places) {
            return Err(end);
        }
        let (at, now) = self.sim.place();
        if self.saves.contains(&at) {
            self.note_landing();
        }
        // what it leads to may lie right behind its call
        let returned = at == back && now.wrapping_sub(from) <= ADDRESS;
        Ok(!returned || self.landings.contains(&at))
    }

    /// As [`Run::until`], in a call that called setjmp, began with `sp` and returns to `back`; notes jumps that lead out
    /// of its stack, to its caller's or to another one, and back. A program may turn round by jumps, so they begin no
    /// slice of their own.
    pub(super) fn until_out(&mut self, ends: &[u32], back: u32, sp: u32, out: &mut Option<Out>) -> Option<End> {
        let mut places = ends.to_vec();
        places.extend(self.jumps.iter().chain(&self.saves));
        let mut turn = self.slice();
        loop {
            if let Some(end) = self.until_met(&places, ends, &mut turn) {
                return Some(end);
            }
            let (at, from) = self.sim.place();
            if self.saves.contains(&at) {
                self.note_landing();
            }
            if ends.contains(&at) {
                return None;
            }
            let mut pc = at;
            if self.jumps.contains(&at) {
                let deepest = self.sim.memory().sp_min;
                let landed = match self.jumped(ends) {
                    Ok(landed) => landed,
                    Err(end) => return Some(end),
                };
                let now;
                (pc, now) = self.sim.place();
                // where calls push the address to return to, a function without a frame lands in itself with it on top
                let own = now == sp && self.sim.returns_to() == back;
                // frames of the same stack that a jump may lead to are above it
                let other = now >= sp && !own || now < from;
                match out {
                    Some(Out { deepest, away: away @ true }) if landed && (own || (*deepest..sp).contains(&now)) => {
                        self.sim.memory_mut().sp_min = *deepest;
                        *away = false;
                    }
                    None | Some(Out { away: false, .. }) if landed && other => {
                        *out = Some(Out { deepest, away: true });
                    }
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
