//! Results that are not what they were: what can be read is read, and what is wrong is said.

use crate::bench::{Bench, Finished};

/// Random numbers whose seed a failing test shows; `STOWPLAN_SEED` repeats them.
pub(crate) struct Chance(u64);

impl Chance {
    #[expect(clippy::print_stdout, reason = "shown where the test fails")]
    pub(crate) fn new() -> Self {
        let given = std::env::var("STOWPLAN_SEED").ok();
        let given = given.and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| u64::from(std::process::id()) << 20 | 12_345);
        println!("STOWPLAN_SEED={seed}");
        Self(seed)
    }

    /// From 0 to below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Steele, Lea and Flood: SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap()
    }
}

/// A result, and the place where damaged copies of it are shown.
struct Victim {
    bench: Bench,
    bytes: Vec<u8>,
}

impl Victim {
    fn new() -> Self {
        let bench = Bench::measured();
        let bytes = std::fs::read(bench.path("out/result.jsonl")).unwrap();
        Self { bench, bytes }
    }

    fn lines(&self) -> Vec<&[u8]> {
        self.bytes.split_inclusive(|byte| *byte == b'\n').collect()
    }

    /// Shows other bytes in its place.
    fn shown(&self, bytes: &[u8]) -> Finished {
        std::fs::write(self.bench.path("out/result.jsonl"), bytes).unwrap();
        let report = self.bench.run("report out --verbose");
        assert!(!report.stderr().contains("panicked"), "{}", report.stderr());
        report
    }
}

#[test]
fn a_result_cut_anywhere_is_shown_as_far_as_it_goes() {
    let mut chance = Chance::new();
    let victim = Victim::new();
    let header = victim.lines()[0].len();
    let end = victim.bytes.len();
    let cuts = [0, 1, header / 2, header - 2, header - 1, header, end - 2];
    let some = (0..15).map(|_| chance.below(end));
    for cut in cuts.into_iter().chain(some) {
        println!("cut at byte {cut} of {end}");
        let report = victim.shown(&victim.bytes[..cut]);
        if cut < header - 1 {
            report.refuses("there is no header of a run in it");
        } else {
            report.exits(0).prints("A small study");
            assert!(!report.stderr().contains("left out"), "{}", report.stderr());
        }
    }
}

#[test]
fn a_damaged_byte_costs_its_line_and_no_other() {
    let mut chance = Chance::new();
    let victim = Victim::new();
    let lines = victim.lines();
    for _ in 0..10 {
        let number = 1 + chance.below(lines.len() - 1);
        let at = lines[..number].concat().len() + chance.below(lines[number].len() - 1);
        println!("byte {at}, in line {}", number + 1);
        let mut bytes = victim.bytes.clone();
        bytes[at] = 0xff;
        let report = victim.shown(&bytes);
        report.exits(0).prints("A small study");
        let said = report.stderr();
        assert!(said.contains(&format!("line {}: ", number + 1)), "{said}");
        assert_eq!(said.matches("left out").count(), 1, "{said}");
        report.prints("The result is damaged");
    }
}

#[test]
fn without_a_header_nothing_is_shown_and_that_is_said() {
    let victim = Victim::new();
    let rest = victim.lines()[1..].concat();
    let nothing = "there is no header of a run in it";
    for bytes in [&b""[..], b"\n\n", b"\0\0\0\0", &rest, b"{\"a\":1}\n"] {
        victim.shown(bytes).refuses(nothing);
    }
    let mut damaged = victim.bytes.clone();
    damaged[40] = 0xff;
    let report = victim.shown(&damaged);
    report.refuses(nothing);
    report.warns("line 1: ");
}

#[test]
fn a_later_schema_is_named_even_where_its_header_cannot_be_read() {
    let victim = Victim::new();
    let text = String::from_utf8(victim.bytes.clone()).unwrap();
    let newer = text.replacen("\"schema\":1", "\"schema\":2", 1);
    victim
        .shown(newer.as_bytes())
        .refuses("use a newer stowplan");
    let strange = newer.replacen("\"plan\":", "\"intention\":", 1);
    victim
        .shown(strange.as_bytes())
        .refuses("use a newer stowplan");
}

#[test]
fn what_a_later_version_adds_is_left_alone() {
    let victim = Victim::new();
    let text = String::from_utf8(victim.bytes.clone()).unwrap();
    let plain = victim.shown(text.as_bytes()).stdout();
    let more = text
        .replace("\"baseline\":", "\"future\":{\"a\":[1]},\"baseline\":")
        .replace("\"max_rounds\":", "\"future\":null,\"max_rounds\":")
        .replace("\"distribution\":", "\"future\":1,\"distribution\":")
        .replace("\"wall_ns\":", "\"future\":\"x\",\"wall_ns\":")
        + "{\"type\":\"hologram\",\"x\":1}\n";
    let report = victim.shown(more.as_bytes());
    report.exits(0);
    assert_eq!((report.stdout(), report.stderr()), (plain, String::new()));
}

#[test]
fn lines_of_several_results_or_in_another_order_are_no_result() {
    let victim = Victim::new();
    let text = String::from_utf8(victim.bytes.clone()).unwrap();
    let other = text.replacen("\"seed\":1", "\"seed\":2", 1);
    let mut reversed: Vec<&str> = text.lines().collect();
    reversed.reverse();
    let reversed = reversed.join("\n") + "\n";
    for wrong in [format!("{text}{text}"), format!("{text}{other}"), reversed] {
        victim
            .shown(wrong.as_bytes())
            .refuses("its header is not the first line, or not the only one");
    }
}

#[test]
fn lines_that_are_missing_or_twice_there_do_no_harm() {
    let mut chance = Chance::new();
    let victim = Victim::new();
    let lines = victim.lines();
    let twice: Vec<u8> = lines
        .iter()
        .flat_map(|line| [*line, *line])
        .collect::<Vec<_>>()
        .concat();
    victim.shown(&twice).exits(0).prints("A small study");
    for _ in 0..10 {
        let keep = |_: &&&[u8]| chance.below(3) > 0;
        let some: Vec<&[u8]> = lines[1..].iter().filter(keep).copied().collect();
        let some = [lines[0], &some.concat()].concat();
        victim.shown(&some).exits(0).prints("A small study");
    }
}
