//! Frames of the wire format.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// One frame: `command`, and the bytes of all `parts` as payload. ValueError beyond 65535 bytes of it.
#[pyfunction]
#[pyo3(signature = (command, *parts))]
pub(crate) fn encode<'py>(py: Python<'py>, command: u8, parts: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyBytes>> {
    let parts: Vec<Bound<'py, PyBytes>> = parts.iter().map(|p| Ok(p.cast_into()?)).collect::<PyResult<_>>()?;
    let frame = wire::encode(command, parts.iter().map(|p| p.as_bytes()));
    let frame = frame.ok_or_else(|| PyValueError::new_err("a frame has at most 65535 bytes of payload"))?;
    Ok(PyBytes::new(py, &frame))
}

/// Finds frames in a stream of bytes.
#[pyclass(module = "steelyard._native")]
#[derive(Default)]
pub(crate) struct Decoder(wire::Decoder);

#[pymethods]
impl Decoder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Takes received bytes; returns command and payload of the frames that are now complete.
    fn feed<'py>(&mut self, py: Python<'py>, data: &[u8]) -> Vec<(u8, Bound<'py, PyBytes>)> {
        let mut frames = Vec::new();
        self.0.feed(data, |command, payload| frames.push((command, PyBytes::new(py, payload))));
        frames
    }

    /// Bytes that belonged to no frame.
    #[getter]
    fn skipped(&self) -> usize {
        self.0.skipped
    }

    /// Bytes of a frame that is not complete.
    #[getter]
    fn held(&self) -> usize {
        self.0.held()
    }
}
