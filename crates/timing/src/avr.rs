//! AVR cycle model.
