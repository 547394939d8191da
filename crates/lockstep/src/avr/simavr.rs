//! simavr as an oracle: a process for each program, whose serial output is the log.

use std::process::{Command, Stdio};

use super::Device;
use crate::{Log, Oracle, Program};

/// The chip in simavr.
pub(super) struct Simavr(pub(super) Device);

impl Simavr {
    /// An ELF file with the image, and with simavr's parameters: chip, a clock that makes one cycle 1000 ns,
    /// and the trigger pin, written to `vcd`. Tag, length, value; see simavr's documentation.
    fn elf(&self, image: &[u8], vcd: &str) -> Vec<u8> {
        let padded = |text: &str, n: usize| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(n, 0);
            bytes
        };
        let mut mmcu = [vec![1, 64], padded(self.0.name, 64), vec![2, 4], 1_000_000u32.to_le_bytes().to_vec()].concat();
        mmcu.extend([vec![12, 64], padded(vcd, 64), vec![13, 4, 1, 0, 0, 0]].concat());
        mmcu.extend([vec![15, 35, b'B', 0, 0], padded("trigger", 32), vec![0, 0]].concat());
        let names = b"\0.text\0.mmcu\0.shstrtab\0";
        let mut f = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        let half = |f: &mut Vec<u8>, v: u16| f.extend(v.to_le_bytes());
        let word = |f: &mut Vec<u8>, v: u32| f.extend(v.to_le_bytes());
        half(&mut f, 2); // executable
        half(&mut f, 83); // AVR
        let parts = [image, &mmcu, names];
        let sections = 52 + parts.iter().map(|p| p.len() as u32).sum::<u32>();
        [1, 0, 0, sections, 5].iter().for_each(|&v| word(&mut f, v));
        [52, 32, 0, 40, 4, 3].iter().for_each(|&v| half(&mut f, v));
        parts.iter().for_each(|p| f.extend(*p));
        f.extend([0; 40]);
        let mut at = 52;
        // name, type, flags (to be loaded), address
        let kinds = [(1, 1, 6, 0), (7, 1, 2, 0x91_0000), (13, 3, 0, 0)];
        for ((name, kind, flags, address), part) in kinds.into_iter().zip(parts) {
            [name, kind, flags, address, at, part.len() as u32, 0, 0, 1, 0].iter().for_each(|&v| word(&mut f, v));
            at += part.len() as u32;
        }
        f
    }
}

/// Cycles between the rising and the falling edges in a VCD file.
fn pulses(vcd: &str) -> Result<Vec<u64>, String> {
    if !vcd.starts_with("$timescale 10ns ") {
        return Err("simavr's file has another time scale".into());
    }
    let (mut at, mut rise, mut all) = (0, None, Vec::new());
    for line in vcd.lines().skip_while(|l| !l.starts_with("$enddefinitions")).skip(1) {
        match line.as_bytes().first() {
            Some(b'#') => at = line[1..].parse::<u64>().map_err(|e| e.to_string())? / 100,
            Some(b'1') => rise = Some(at),
            Some(b'0') => all.extend(rise.take().map(|r| at - r)),
            _ => {}
        }
    }
    Ok(all)
}

impl Oracle for Simavr {
    fn name(&self) -> String {
        format!("simavr {}", self.0.name)
    }

    fn run(&mut self, program: &Program, _: &[u32]) -> Result<Log, String> {
        let (elf, vcd) = (crate::scratch("elf"), crate::scratch("vcd"));
        let vcd_name = vcd.file_name().and_then(|n| n.to_str()).ok_or("the name is text")?;
        std::fs::write(&elf, self.elf(&program.image, vcd_name)).map_err(|e| e.to_string())?;
        let out = Command::new("timeout")
            .args(["20", "simavr"])
            .arg(&elf)
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::null())
            .output();
        let edges = std::fs::read_to_string(&vcd);
        let _ = std::fs::remove_file(&elf);
        let _ = std::fs::remove_file(&vcd);
        let out = out.map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        let plain = text.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        let lines: Vec<_> = plain.lines().map(|l| l.trim_end_matches('.').to_owned()).collect();
        let lines: Vec<_> = lines.into_iter().filter(|l| l.len() >= 64 && !l.contains(' ')).collect();
        self.0.log_of(&lines, &pulses(&edges.map_err(|e| format!("simavr wrote no edges: {e}; {text}"))?)?)
    }
}
