//! isa-thumb
