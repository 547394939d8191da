//! Empty: see ../Cargo.toml.
