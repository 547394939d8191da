//! Cortex-M3 cycle model.
