//! Cycle models, one file per core. They see what retires, never what it means.

pub mod avr;
mod branch_history;
pub mod cortex_m0plus;
pub mod cortex_m3;
pub mod cortex_m3_sam3x;
pub mod cortex_m4;
pub mod cortex_m7;
mod fetch;
pub mod msp430;
pub mod rv32_bumblebee;
pub mod rv64_rocket;
mod xtensa;
pub mod xtensa_lx106;
pub mod xtensa_lx6;
