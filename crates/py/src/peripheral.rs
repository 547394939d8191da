//! A peripheral that is written in Python: for debug ports, which are not in a hurry.

use mcu::{Host, Peripheral};
use pyo3::prelude::*;

/// The object.
#[derive(Debug)]
pub(crate) struct Foreign(pub(crate) Py<PyAny>);

impl Peripheral for Foreign {
    fn read(&mut self, offset: u32, size: u8, _: &mut Host) -> Option<u32> {
        Python::attach(|py| self.0.call_method1(py, "read", (offset, size)).ok()?.extract(py).ok())
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, _: &mut Host) -> Option<()> {
        Python::attach(|py| self.0.call_method1(py, "write", (offset, size, value)).ok().map(|_| ()))
    }
}
