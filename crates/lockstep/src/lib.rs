//! Random programs on our cores and on an oracle that runs as a separate process.

pub mod arm;
