//! Cycle models, one file per core. They see what retires, never what it means.

pub mod avr;
pub mod cortex_m3;
pub mod msp430;
