//! QEMU as an oracle: one process that runs program after program, controlled over its remote debugging port
//! (the GDB Remote Serial Protocol as GDB's manual describes it in appendix E).

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Log, Oracle, Program};

/// Bytes of memory in one packet.
const CHUNK: usize = 0x7C0;
/// How long a program may run.
const PATIENCE: Duration = Duration::from_secs(10);

/// A QEMU process that is stopped between runs.
pub struct Session {
    child: Child,
    line: UnixStream,
    pending: Vec<u8>,
    stops: Vec<u32>,
}

/// Whether `program` can be started.
pub fn have(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn text(e: std::io::Error) -> String {
    format!("QEMU does not answer: {e}")
}

impl Session {
    /// Starts `qemu` with `arguments`.
    ///
    /// # Errors
    /// Says what is missing or went wrong.
    pub fn start(qemu: &str, arguments: &[&str]) -> Result<Self, String> {
        let path = crate::scratch("sock");
        let listener = UnixListener::bind(&path).map_err(text)?;
        let child = Command::new(qemu)
            .args(arguments)
            .args(["-display", "none", "-serial", "none", "-monitor", "none", "-S", "-gdb", "chardev:line"])
            .args(["-chardev", &format!("socket,id=line,path={}", path.display())])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|_| format!("{qemu} is not installed"));
        let mut child = child.inspect_err(|_| drop(std::fs::remove_file(&path)))?;
        listener.set_nonblocking(true).map_err(text)?;
        let limit = Instant::now() + Duration::from_secs(20);
        let line = loop {
            match listener.accept() {
                Ok((line, _)) => break Ok(line),
                Err(_) if child.try_wait().map_err(text)?.is_some() => {
                    let mut said = String::new();
                    child.stderr.take().map(|mut e| e.read_to_string(&mut said));
                    break Err(format!("{qemu} ends: {said}"));
                }
                Err(e) if Instant::now() > limit => break Err(text(e)),
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let _ = std::fs::remove_file(&path);
        let line = match line {
            Ok(line) => line,
            Err(e) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(e);
            }
        };
        line.set_nonblocking(false).map_err(text)?;
        line.set_read_timeout(Some(PATIENCE)).map_err(text)?;
        let mut session = Self { child, line, pending: Vec::new(), stops: Vec::new() };
        session.ask("?")?; // it has started when it answers
        Ok(session)
    }

    /// Sends a packet and waits for the answer. A program that does not end is stopped.
    fn ask(&mut self, packet: &str) -> Result<String, String> {
        const STOP: &[u8] = &[3];
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        self.line.write_all(format!("${packet}#{sum:02x}").as_bytes()).map_err(|_| self.last_words())?;
        let mut buffer = [0; 0x2000];
        let mut stopped = false;
        loop {
            let start = self.pending.iter().position(|&b| b == b'$');
            let end = self.pending.iter().position(|&b| b == b'#').filter(|&e| self.pending.len() > e + 2);
            if let (Some(start), Some(end)) = (start, end) {
                let answer = String::from_utf8_lossy(&self.pending[start + 1..end]).into_owned();
                self.pending.drain(..end + 3);
                self.line.write_all(b"+").map_err(text)?;
                return Ok(answer);
            }
            match self.line.read(&mut buffer) {
                Ok(0) => return Err(self.last_words()),
                Ok(n) => self.pending.extend(&buffer[..n]),
                Err(e) if stopped || !matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(text(e));
                }
                Err(_) => {
                    stopped = true;
                    self.line.write_all(STOP).map_err(text)?;
                }
            }
        }
    }

    /// QEMU's last output when it ended.
    fn last_words(&mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        self.child.stderr.take().map(|mut e| e.read_to_string(&mut said));
        format!("QEMU has ended: {said}")
    }

    fn expect(&mut self, packet: &str) -> Result<(), String> {
        match self.ask(packet)?.as_str() {
            "OK" => Ok(()),
            other => Err(format!("QEMU answers {other:?} to {}", &packet[..packet.len().min(20)])),
        }
    }

    /// Writes memory, read-only memory included.
    ///
    /// # Errors
    /// When there is no such memory.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), String> {
        for (n, chunk) in bytes.chunks(CHUNK).enumerate() {
            let hex: String = chunk.iter().map(|b| format!("{b:02x}")).collect();
            self.expect(&format!("M{:x},{:x}:{hex}", address as usize + n * CHUNK, chunk.len()))?;
        }
        Ok(())
    }

    /// Reads memory.
    ///
    /// # Errors
    /// When there is no such memory.
    pub fn read(&mut self, address: u32, len: usize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            let n = CHUNK.min(len - bytes.len());
            let answer = self.ask(&format!("m{:x},{n:x}", address as usize + bytes.len()))?;
            let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
            let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
            let part: Option<Vec<u8>> = answer.as_bytes().chunks(2).map(byte).collect();
            match part {
                Some(part) if part.len() == n => bytes.extend(part),
                _ => return Err(format!("QEMU answers {answer:?} to a read at {address:#x}")),
            }
        }
        Ok(bytes)
    }

    /// Runs from `from` (bit 0 set for Thumb) until one of `stops`, or until the time limit: then a part of the log is
    /// missing.
    ///
    /// # Errors
    /// When QEMU itself ends.
    pub fn go(&mut self, from: u32, stops: &[u32]) -> Result<(), String> {
        if self.stops != stops {
            for old in std::mem::take(&mut self.stops) {
                self.expect(&format!("z0,{old:x},2"))?;
            }
            for new in stops {
                self.expect(&format!("Z0,{new:x},2"))?;
            }
            self.stops = stops.to_vec();
        }
        let answer = self.ask(&format!("c{from:x}"))?;
        if answer.starts_with('T') { Ok(()) } else { Err(format!("QEMU stops with {answer}")) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A board whose process `start` starts and with which `run` runs a program. A session that failed is not used again.
struct Board<S, R> {
    name: String,
    start: S,
    run: R,
    session: Option<Session>,
}

/// An oracle of this name.
pub(crate) fn oracle<S, R>(name: String, start: S, run: R) -> Result<Box<dyn Oracle>, String>
where
    S: Fn() -> Result<Session, String> + 'static,
    R: Fn(&mut Session, &Program) -> Result<Log, String> + 'static,
{
    let session = Some(start()?);
    Ok(Box::new(Board { name, start, run, session }))
}

impl<S, R> Oracle for Board<S, R>
where
    S: Fn() -> Result<Session, String>,
    R: Fn(&mut Session, &Program) -> Result<Log, String>,
{
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&mut self, program: &Program, _: &[u32]) -> Result<Log, String> {
        let mut session = self.session.take().map_or_else(&self.start, Ok)?;
        let log = (self.run)(&mut session, program)?;
        self.session = Some(session);
        Ok(log)
    }
}

/// 32-bit words of memory content.
pub fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(4).map(|b| u64::from(u32::from_le_bytes(b.try_into().expect("four bytes")))).collect()
}
