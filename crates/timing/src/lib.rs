//! Timing models, one file per core. They see which instructions retire and where they are, not what registers and memory
//! hold. Where an instruction takes longer with some operands, or at some addresses, the core asks a function of the model's
//! for the cycles beyond the static ones (`events`: division, long products, unaligned accesses).

/// The methods of [`isa::Timing`] that a model delegates to a field: the cost of entering a block.
macro_rules! enters_by {
    (history) => {
        crate::enters_by!(history,);

        fn enter_by_cause(&mut self, start: u32, end: u32) -> (u32, u32) {
            (0, self.history.enter(start, end))
        }
    };
    (front) => {
        crate::enters_by!(front,);

        fn forget(&mut self) {
            self.front.forget();
        }
    };
    ($field:ident $(,)?) => {
        #[inline(always)]
        fn enter(&mut self, start: u32, end: u32) -> u32 {
            self.$field.enter(start, end)
        }

        fn edge(&mut self, last: u32, start: u32, end: u32) -> isa::native::Edge {
            self.$field.edge(last, start, end)
        }

        fn last_end(&mut self) -> Option<&mut u32> {
            self.$field.last_end()
        }

        fn reset(&mut self) {
            self.$field.reset();
        }
    };
}

pub(crate) use enters_by;

pub mod avr;
mod branch_history;
pub mod cortex_m0plus;
pub mod cortex_m3;
pub mod cortex_m3_sam3x;
pub mod cortex_m4;
pub mod cortex_m7;
mod fetch;
pub mod msp430;
mod rv32;
pub mod rv32_bumblebee;
pub mod rv32_esp32c3;
pub mod rv32_qingke_v2;
pub mod rv64_rocket;
mod xtensa;
pub mod xtensa_lx106;
pub mod xtensa_lx6;
