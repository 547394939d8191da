//! Tests a short run of `make fuzz`, and that the tool finds planted errors.

use isa::TableRow;
use lockstep::{
    Ground, Log, Oracle, Outcome, Program, Random, Sequence, Trace, Way, campaign, compare, grounds, xtensa,
};

/// At least 100 000 instructions of one set agree with all installed oracles. They cover every definition of the table
/// that is not left out, and every one that can be lowered was in a block that ran as native code.
fn agree(name: &str) {
    let ground = grounds().into_iter().find(|g| g.name() == name).expect("it is there");
    let s = campaign(ground.as_ref(), 100_000, 1, 1);
    s.missing.iter().for_each(|m| eprintln!("skipped: {m}"));
    assert!(s.failure.is_none(), "{}", s.failure.unwrap_or_default());
    if !s.oracles.is_empty() {
        println!("{name}: {s}");
        assert!(s.instructions >= 100_000, "{s:?}");
        let rows = ground.rows();
        let native = rows.iter().any(|r| r.by_handler.is_none());
        assert_eq!(s.native > 0, native, "{s:?}");
        let list: Vec<_> = ground.left_out().iter().flat_map(|(_, texts)| *texts).collect();
        let left_out = |row: &TableRow| list.iter().any(|text| row.text.starts_with(**text));
        let unmet: Vec<_> = rows.iter().filter(|r| !s.met.executed.contains(&r.number)).collect();
        assert!(unmet.iter().all(|r| left_out(r)), "{name}: never executed: {unmet:?}");
        let cold = |r: &&TableRow| r.by_handler.is_none() && !s.met.native.contains(&r.number);
        let cold: Vec<_> = rows.iter().filter(cold).collect();
        assert!(!native || cold.iter().all(|r| left_out(r)), "{name}: never lowered: {cold:?}");
        // a core may lack the instruction
        let stale = |text: &&&&str| {
            let is = |r: &&TableRow| r.text.starts_with(***text);
            rows.iter().any(|r| is(&r)) && !unmet.iter().chain(&cold).any(is)
        };
        let stale: Vec<_> = list.iter().filter(stale).collect();
        assert!(stale.is_empty(), "{name}: not left out: {stale:?}");
    }
}

macro_rules! agree {
    ($($test:ident $ground:literal)+) => {$(
        #[test]
        fn $test() {
            agree($ground);
        }
    )+};
}

agree! {
    armv6_m_goes_the_oracles_way "armv6-m"
    armv7_m_goes_the_oracles_way "armv7-m"
    armv7e_m_goes_the_oracles_way "armv7e-m"
    rv32imac_goes_the_oracles_way "rv32imac"
    rv64imac_goes_the_oracles_way "rv64imac"
    lx106_goes_the_oracles_way "lx106"
    lx6_goes_the_oracles_way "lx6"
    avr5_goes_the_oracles_way "avr5"
    avr51_goes_the_oracles_way "avr51"
    msp430_goes_the_oracles_way "msp430"
}

#[test]
fn register_windows_overflow_and_come_back_as_the_oracles() {
    xtensa::compare_windows(0..6).expect("both go the same way");
}

#[test]
#[ignore = "long"]
fn many_register_windows_overflow_and_come_back() {
    xtensa::compare_windows(100..400).expect("both go the same way");
}

/// An oracle with a planted error: our core, with one instruction of each program exchanged for another.
struct Wrong {
    ground: Box<dyn Ground>,
    from: &'static [u8],
    to: &'static [u8],
}

impl Oracle for Wrong {
    fn name(&self) -> String {
        "a wrong core".into()
    }

    fn run(&mut self, program: &Program, _: &[u32]) -> Result<Log, String> {
        let mut other = program.clone();
        for k in 0..other.image.len() - self.from.len() {
            if other.image[k..].starts_with(self.from) {
                other.image[k..k + self.to.len()].copy_from_slice(self.to);
            }
        }
        self.ground.ours(&other, Way::Steps(&mut Trace::default()))
    }
}

/// A ground of three sequences with fixed registers: the last of `units`, all, the last.
struct Fixed {
    inner: Box<dyn Ground>,
    units: Vec<Vec<u8>>,
}

impl Ground for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn value_names(&self) -> Vec<String> {
        self.inner.value_names()
    }

    fn sequences(&self, _: &mut Random) -> Vec<Sequence> {
        let start = (0..self.inner.value_names().len() as u64).collect();
        let plain = Sequence { start, units: self.units[self.units.len() - 1..].to_vec(), timed: true };
        vec![plain.clone(), Sequence { units: self.units.clone(), ..plain.clone() }, plain]
    }

    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program {
        self.inner.program(sequences, random)
    }

    fn ours(&self, program: &Program, way: Way<'_>) -> Result<Log, String> {
        self.inner.ours(program, way)
    }

    fn rows(&self) -> Vec<TableRow> {
        self.inner.rows()
    }

    fn disassemble(&self, program: &Program, at: u32) -> (String, u32) {
        self.inner.disassemble(program, at)
    }

    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>> {
        Vec::new()
    }
}

fn fixed(name: &str, units: &[&[u8]]) -> Fixed {
    let inner = grounds().into_iter().find(|g| g.name() == name).expect("it is there");
    Fixed { inner, units: units.iter().map(|u| u.to_vec()).collect() }
}

/// The report on a wrong core that runs `units`.
fn report(name: &str, units: &[&[u8]], from: &'static [u8], to: &'static [u8]) -> String {
    let ground = fixed(name, units);
    let twin = fixed(name, units);
    let mut oracles: Vec<Box<dyn Oracle>> = vec![Box::new(Wrong { ground: twin.inner, from, to })];
    match compare(&ground, &mut oracles, 1, false, &mut Default::default()) {
        Ok(Outcome::Different(report)) => report,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_difference_is_shown_at_the_first_instruction_with_both_states() {
    // eors r1, r2; adds r3, r1, r2; mvns r4, r3, and adds becomes subs; three units, or one
    let apart: [&[u8]; 3] = [&[0x51, 0x40], &[0x8B, 0x18], &[0xDC, 0x43]];
    let together = apart.concat();
    for units in [&apart[..], &[&[0x00, 0xBF], &together, &[0x00, 0xBF]]] {
        first_instruction_is_shown(&report("armv7-m", units, &[0x8B, 0x18], &[0x8B, 0x1A]));
    }
}

fn first_instruction_is_shown(text: &str) {
    let marked: Vec<_> = text.lines().filter(|l| l.starts_with('>')).collect();
    assert!(matches!(marked[..], [line] if line.ends_with("adds r3, r1, r2")), "{text}");
    // eors: 2 ^ 3 = 1; adds: 1 + 3; subs: 1 - 3
    let row = text.lines().find(|l| l.trim().starts_with("r3 ")).unwrap_or("");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["r3", "0x4", "0x4", "0xfffffffe", "<"], "{text}");
    assert!(!text.contains("mvns"), "{text}");
}

#[test]
fn a_difference_in_memory_or_cycles_is_found() {
    // mov.b r8, &0x2000 and then another register into the same byte
    let units: [&[u8]; 2] = [&[0xC2, 0x48, 0x00, 0x20], &[0x0A, 0x49]];
    let text = report("msp430", &units, &[0xC2, 0x48, 0x00, 0x20, 0x0A], &[0xC2, 0x4A, 0x00, 0x20, 0x0A]);
    assert!(text.contains("byte 0xf00 of the window: ours 0x8, theirs 0xa"), "{text}");
    // eor r16, r31; nop, and instead of that a jump to the next instruction, which takes a cycle more
    let units: [&[u8]; 2] = [&[0x0F, 0x27], &[0x00, 0x00]];
    let text = report("avr5", &units, &[0x0F, 0x27, 0x00, 0x00], &[0x0F, 0x27, 0x00, 0xC0]);
    let row = text.lines().find(|l| l.trim().starts_with("cycles")).unwrap_or("");
    assert!(row.ends_with('<'), "{text}");
}
