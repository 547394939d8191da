//! isa-avr
