//! The record of a run: `result.jsonl`, one record a line, appended and flushed as it happens.

use crate::words::data;
use crate::{
    CellId, Comparison, Environment, Extension, Footprint, Measurement, Plan, Settings,
    Verification, Warning,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The version of the result format; a change that old readers would misread raises it. What is
/// only added does not: readers leave alone what they do not know.
pub const SCHEMA_VERSION: u32 = 1;

data! {
    /// One line of `result.jsonl`.
    #[serde(tag = "type")]
    #[expect(clippy::large_enum_variant, reason = "the large one is the first line only")]
    pub enum Record {
        /// The first line: what was planned, where, by which version.
        Run(RunHeader),
        /// The run begins, or goes on after it was broken off.
        Session(Session),
        /// Comparisons that the plan got while it ran.
        Extension(Extension),
        /// Something that spoils or qualifies the run.
        Warning(Warning),
        /// What the harness itself costs.
        HarnessCost(HarnessCost),
        /// What the loop of a driver with a name costs per operation.
        DriverCost(DriverCost),
        /// The file systems that cells are on were made.
        FileSystems(FileSystemsRecord),
        /// How long preparing took.
        Preparation(PreparationRecord),
        /// What a store takes on disk.
        Footprint(FootprintRecord),
        /// Settings read back from an engine.
        Effective(EffectiveSettings),
        /// Every value was checked.
        Verification(Verification),
        /// One block.
        Measurement(Measurement),
        /// A cell that failed, and why; its earlier measurements do not count.
        Failure(CellFailure),
        /// The last line of a run that ended by itself or was interrupted in an orderly way.
        End(RunEnd),
        /// A header of this later schema, which cannot be read. Never written.
        #[serde(skip)]
        Newer(u32),
        /// A record of a later version that this one does not know.
        #[serde(other)]
        Unknown,
    }

    /// What was planned, where, by which version.
    pub struct RunHeader {
        /// [`SCHEMA_VERSION`].
        pub schema: u32,
        /// When the run began, RFC 3339.
        pub started: String,
        /// Seed of all orders and sequences.
        pub seed: u64,
        /// The plan.
        pub plan: Plan,
        /// The machine.
        pub environment: Environment,
        /// Half-width of the equivalence zone as a ratio, minus one: 0.05 is 5% (δ = ln 1.05).
        pub equivalence: f64,
        /// The most rounds a comparison gets.
        pub max_rounds: u32,
        /// Half-width of intervals that was asked for besides, as a ratio minus one.
        pub precision: Option<f64> | default,
    }

    /// One stretch of a run without a break. A run has one, and one more for each time it is resumed.
    pub struct Session {
        /// When it began, RFC 3339.
        pub started: String,
        /// [`crate::PROTOCOL_VERSION`]: blocks of another version may not do the same.
        pub protocol: u32,
        /// Where the data lies while it is measured, absolute; nothing: in `work` beside the result.
        pub work: Option<String> = default,
        /// Directories that the run made on file systems that the user named, by the name of these.
        pub on: BTreeMap<String, PathBuf> = default,
        /// Where the run was resumed, the machine as it was then; that of the first session stands in
        /// the header.
        pub environment: Option<Box<Environment>> = default,
        /// The most rounds of each comparison from now on, where more were asked for than before.
        pub max_rounds: Option<u32> = default,
        /// What the system calls the time since it was last started (on Linux a random UUID); nothing
        /// where it has no name for that.
        pub boot_id: Option<String> = default,
        /// Bytes of a half-written last line that were removed before it, the only ones that ever are.
        pub removed_bytes: u64 = default,
    }

    /// What the harness costs per operation, measured with a store that does nothing.
    #[derive(Copy)]
    pub struct HarnessCost {
        /// Per operation in a ratio block, nanoseconds of corrected time (median of blocks).
        pub ratio_ns: f64,
        /// Per operation in a latency block, nanoseconds of corrected time (median of blocks).
        pub latency_ns: f64,
        /// Blocks of each kind.
        pub blocks: u32,
        /// Operations per block.
        pub operations: u64,
    }

    /// What the loop of a driver costs per operation, measured with its own store that does nothing.
    pub struct DriverCost {
        /// The driver's name.
        pub driver: String,
        /// What its greeting says of its program.
        pub tool: String,
        /// The cost.
        pub cost: HarnessCost,
    }

    /// How file systems that cells are on were made, once they were: what makes them begins when the header stands.
    #[derive(Default, Eq)]
    pub struct FileSystemsRecord {
        /// By the name that cells give, how each was made and is mounted: what the environment of the header
        /// lacks.
        pub on: BTreeMap<String, String>,
    }

    /// How long preparing a dataset or a store took.
    pub struct PreparationRecord {
        /// What was prepared: `dataset NAME` or the name of an instance.
        pub what: String,
        /// Seconds.
        pub seconds: f64,
        /// Bytes of values written.
        pub bytes: u64,
        /// Values written.
        pub values: u64,
    }

    /// What a store takes on disk.
    #[derive(Eq)]
    pub struct FootprintRecord {
        /// Name of the instance.
        pub instance: String,
        /// Bytes and files.
        pub footprint: Footprint,
        /// Bytes of the values stored in it.
        pub value_bytes: u64,
        /// Whether this was measured after the workloads; otherwise right after building.
        pub after_workloads: bool,
    }

    /// Settings read back from an engine.
    #[derive(Eq)]
    pub struct EffectiveSettings {
        /// The cell.
        pub cell: CellId,
        /// What the engine reports.
        pub settings: Settings,
    }

    /// A cell that failed.
    #[derive(Eq)]
    pub struct CellFailure {
        /// The cell.
        pub cell: CellId,
        /// One line: what, which one, and the next step.
        pub message: String,
        /// The last lines of the worker's stderr.
        pub stderr: String,
    }

    /// How a run ended.
    pub struct RunEnd {
        /// How.
        pub outcome: RunOutcome,
        /// Seconds since the session began.
        pub seconds: f64,
        /// Where they went; not told by earlier versions.
        pub phases: Option<Phases> = default,
        /// Seconds that comparisons without an interval are likely to need, where the time was over before.
        pub needs: Option<f64> = default,
    }

    /// Where the seconds of a session went. What is in none of these is the rest: looking at the
    /// machine, and what the harness itself costs.
    #[derive(Copy, Default)]
    pub struct Phases {
        /// Making up the values of datasets.
        pub datasets: f64,
        /// Making file systems for them, building stores and warming them.
        pub stores: f64,
        /// Finding out how many operations a block holds.
        pub pilots: f64,
        /// Rounds: the blocks, and what surrounds each of them.
        pub rounds: f64,
        /// Reading every value to compare it, and weighing what was written.
        pub verification: f64,
        /// Counting system calls, looking where values lie.
        pub counting: f64 | default,
        /// Removing what was built.
        pub removal: f64 | default,
    }

    /// How a run ended.
    #[derive(Copy, Eq)]
    pub enum RunOutcome {
        /// Every comparison met its stopping rule or its cap.
        Complete,
        /// The time budget ended first.
        Budget,
        /// Ctrl-C or a termination signal.
        Interrupted,
    }
}

impl RunHeader {
    /// The most rounds that every comparison gets, by its own cap and that of the run.
    pub fn rounds_of_all(&self) -> u32 {
        let caps = self.plan.comparisons.iter().map(|c| c.max_rounds);
        caps.min().unwrap_or(self.max_rounds).min(self.max_rounds)
    }

    /// Lets every comparison have up to so many rounds, and notes how many it was to have at first.
    pub fn raise_rounds(&mut self, rounds: u32) {
        let run = self.max_rounds;
        self.max_rounds = run.max(rounds);
        for comparison in &mut self.plan.comparisons {
            let before = comparison.max_rounds.min(run);
            if before < rounds {
                comparison.judged.planned_rounds.get_or_insert(before);
            }
            comparison.max_rounds = comparison.max_rounds.max(rounds);
        }
    }

    /// Notes that a session came to its end, which others follow: `next_round` is the first round of a
    /// comparison that was not begun.
    pub fn judge(&mut self, next_round: impl Fn(&Comparison) -> u32) {
        for comparison in &mut self.plan.comparisons {
            let next = next_round(comparison);
            comparison.judged.ends.push(next);
        }
    }
}

impl Phases {
    /// Each with its name, in the order in which they come.
    pub fn named(mut self) -> [(&'static str, f64); 7] {
        self.each().map(|(name, seconds)| (name, *seconds))
    }

    fn each(&mut self) -> [(&'static str, &mut f64); 7] {
        [
            ("datasets", &mut self.datasets),
            ("stores", &mut self.stores),
            ("pilots", &mut self.pilots),
            ("rounds", &mut self.rounds),
            ("verification", &mut self.verification),
            ("counting", &mut self.counting),
            ("removal", &mut self.removal),
        ]
    }
}

impl std::ops::Add for Phases {
    type Output = Self;

    fn add(mut self, mut other: Self) -> Self {
        for ((_, all), (_, more)) in self.each().into_iter().zip(other.each()) {
            *all += *more;
        }
        self
    }
}

/// Reads the lines of a result. A last line that was cut off is dropped: it is the one
/// measurement that an interruption may lose. Returns the records, and a message for each line
/// that could not be read, with its number.
pub fn read_records(text: &str) -> (Vec<Record>, Vec<String>) {
    read_result(text.as_bytes())
}

/// Whether the header of a run comes first, and no other one later. Otherwise lines are in another order
/// than they were written in, or several results are in one file.
pub fn is_one_run(records: &[Record]) -> bool {
    let is_header = |record: &&Record| matches!(record, Record::Run(_));
    let first = records.iter().take_while(is_header);
    let (first, all) = (first.count(), records.iter().filter(is_header).count());
    first > 0 && first == all && records[..first].iter().all(|header| *header == records[0])
}

/// Reads the bytes of a result file: a damaged line need not even be text.
pub fn read_result(bytes: &[u8]) -> (Vec<Record>, Vec<String>) {
    let mut records = Vec::new();
    let mut problems = Vec::new();
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        match read_line(line) {
            Ok(record) => records.push(record),
            // What follows the last newline is empty, or a line that was cut off.
            Err(_) if lines.peek().is_none() => {}
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(problem) => problems.push(format!("line {}: {problem}", index + 1)),
        }
    }
    (records, problems)
}

fn read_line(line: &[u8]) -> Result<Record, String> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let at = error.valid_up_to() + 1;
        format!("it is damaged at byte {at}, which is no text")
    })?;
    serde_json::from_str(text).or_else(|error| match later_header(text) {
        Some(schema) => Ok(Record::Newer(schema)),
        None => Err(error.to_string()),
    })
}

/// The schema of a header that a later version wrote.
fn later_header(line: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Header {
        r#type: String,
        schema: u32,
    }
    let header: Header = serde_json::from_str(line).ok()?;
    (header.r#type == "run" && header.schema > SCHEMA_VERSION).then_some(header.schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &str = r#"{"type":"end","outcome":"complete","seconds":1.5}"#;

    #[test]
    fn a_cut_last_line_is_dropped_and_a_damaged_one_is_reported() {
        let text = format!("{END}\nrubbish\n{}", &END[..END.len() - 3]);
        let (records, problems) = read_records(&text);
        assert_eq!((records.len(), problems.len()), (1, 1), "{problems:?}");
        assert!(problems[0].starts_with("line 2:"), "{problems:?}");
        let mut bytes = format!("{END}\n{END}\n{END}\n").into_bytes();
        bytes[END.len() + 10] = 0xff;
        let (records, problems) = read_result(&bytes);
        assert_eq!(records.len(), 2);
        let told = "line 2: it is damaged at byte 10, which is no text";
        assert_eq!(problems, [told]);
    }

    #[test]
    fn what_a_later_version_wrote_is_told_from_rubbish_and_empty_lines_are_nothing() {
        for (text, records, problems) in [
            (
                "{\"type\":\"hologram\",\"x\":1}\n",
                vec![Record::Unknown],
                0,
            ),
            (
                "{\"type\":\"run\",\"schema\":7,\"x\":1}\n",
                vec![Record::Newer(7)],
                0,
            ),
            ("{\"type\":\"run\",\"schema\":1}\n", Vec::new(), 1),
            ("", Vec::new(), 0),
            ("\n", Vec::new(), 0),
            ("\n\n  \n", Vec::new(), 0),
        ] {
            let found = read_records(text);
            assert_eq!((found.0, found.1.len()), (records, problems), "{text}");
        }
    }
}
