//! Regions: the blocks that are translated together.

use std::collections::{HashMap, VecDeque};

use isa::native::Lower;
use isa::{Block, Core, Insn};

use crate::survey::Survey;

/// Most instructions of a region; the first block is always in it.
const MOST: usize = 320;
/// Blocks of a region ran at least a part of this size as often as its first one.
const PART: u32 = 16;

/// One block of a region.
pub(crate) struct Plan<'b, C> {
    pub start: u32,
    pub end: u32,
    pub cycles: u32,
    pub insns: &'b [Insn<C>],
    pub survey: Survey,
    /// Slots that may not be in memory when the block begins.
    pub dirty: u64,
}

/// Blocks, the first of which is the one where it is entered.
pub(crate) struct Region<'b, C> {
    pub plans: Vec<Plan<'b, C>>,
    pub by_start: HashMap<u32, usize>,
    /// Decoded blocks, by index.
    pub blocks: &'b [Option<Box<Block<C>>>],
    pub base: u32,
    /// Most instructions of a decoded block.
    pub max_run: usize,
}

impl<'b, C: Lower> Region<'b, C> {
    /// The region of the block at index `at`; it ends where there is code already.
    pub fn new(
        core: &C,
        blocks: &'b [Option<Box<Block<C>>>],
        max_run: usize,
        at: usize,
        made: impl Fn(usize) -> bool,
    ) -> Self {
        let base = core.memory().flash_base;
        let mut region = Self { plans: Vec::new(), by_start: HashMap::new(), blocks, base, max_run };
        let enough = blocks[at].as_ref().map_or(0, |b| b.runs() / PART);
        let mut queue = VecDeque::from([base.wrapping_add(at as u32 * C::CODE_ALIGN)]);
        let mut size = 0;
        while let Some(pc) = queue.pop_front() {
            let Some(block) = region.block(pc) else { continue };
            let first = region.plans.is_empty();
            if !first && (block.edges() || region.place(pc).is_none_or(&made)) {
                continue;
            }
            let fits = size + block.insns.len() <= MOST && block.runs() >= enough;
            if region.by_start.contains_key(&pc) || !(first || fits) {
                continue;
            }
            let mut survey = Survey::default();
            core.lower(pc, &block.insns, max_run, &mut survey);
            size += block.insns.len();
            queue.extend(&survey.next);
            region.by_start.insert(pc, region.plans.len());
            region.plans.push(Plan {
                start: pc,
                end: block.end,
                cycles: block.cycles,
                insns: &block.insns,
                survey,
                dirty: 0,
            });
        }
        region.spread();
        region
    }

    /// The decoded block at `pc`.
    pub fn block(&self, pc: u32) -> Option<&'b Block<C>> {
        let place = self.place(pc)?;
        self.blocks[place].as_deref()
    }

    /// The index of `pc`, if it is in flash.
    pub fn place(&self, pc: u32) -> Option<usize> {
        let place = (pc.wrapping_sub(self.base) / <C as Core>::CODE_ALIGN) as usize;
        (place < self.blocks.len()).then_some(place)
    }

    /// Follows written slots along all paths.
    fn spread(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for k in 0..self.plans.len() {
                let out = self.plans[k].dirty | self.plans[k].survey.sets;
                for n in 0..self.plans[k].survey.next.len() {
                    let Some(&to) = self.by_start.get(&self.plans[k].survey.next[n]) else { continue };
                    changed |= out & !self.plans[to].dirty != 0;
                    self.plans[to].dirty |= out;
                }
            }
        }
    }
}
