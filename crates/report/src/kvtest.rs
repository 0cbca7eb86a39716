//! What `stowplan kvtest run` says: kvtest's lines, and below them what kvtest does not say.

use crate::document::{Block, Content, Detail, Document, facts, notice, remark};
use crate::value::{count, time};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_analysis::{LatencySummary, MIN_ROUNDS, Metric, Repeated};
use stowplan_model::{
    Cell, Environment, IoCounters, KeySurvey, Measurement, Settings, Warning, format_bytes,
};

/// A run of a database or a directory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Version of this program.
    pub tool_version: String,
    /// The database or the directory.
    pub place: String,
    /// What it is: `database`, `dir` or `tree`.
    pub held: &'static str,
    /// Version of SQLite, of a database.
    pub sqlite_version: Option<String>,
    /// What was asked for, in kvtest's words, a line each.
    pub options: Vec<String>,
    /// Bytes of a page of the database.
    pub page_size: Option<u64>,
    /// The store, what it can do, and what was done.
    pub cell: Cell,
    /// Settings as the engine reported them.
    pub effective: Settings,
    /// What was found there.
    pub survey: KeySurvey,
    /// What an operation costs.
    pub summary: Repeated,
    /// Median of what lies around the operations.
    pub around: Around,
    /// What PRAGMA integrity_check said afterwards, if it was asked.
    pub integrity: Vec<String>,
    /// What SQLite and the system counted in the last round, if that was asked for.
    pub counters: Option<Counted>,
    /// What should be known about the figures, a sentence each.
    pub notes: Vec<String>,
    /// What spoils or qualifies them.
    pub warnings: Vec<Warning>,
    /// The machine.
    pub environment: Environment,
    /// Whether Ctrl-C ended it before its last round.
    pub interrupted: bool,
    /// Every block.
    pub measurements: Vec<Measurement>,
}

/// What lies around the operations of a round, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Around {
    /// Opening the store.
    pub open_ns: u64,
    /// The commit of a round that is one transaction; within the time.
    pub commit_ns: Option<u64>,
    /// Checkpoint, closing and, of files, bringing them to the disk, after writes.
    pub drain_ns: u64,
    /// Whether `drain_ns` is part of the time.
    pub drain_counts: bool,
    /// Whether `open_ns` is part of the time.
    pub open_counts: bool,
}

/// Counters of one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// SQLite's own.
    pub engine: BTreeMap<String, u64>,
    /// The system's.
    pub io: Option<IoCounters>,
}

/// kvtest's lines and statistics as kvtest has them, which alone are shown where only the outcome is
/// wanted; between them what kvtest does not say.
#[must_use]
pub fn document(run: &Run) -> Document {
    let verbatim = |text: String| Block::from(Content::Verbatim(text)).at(Detail::Answer);
    let mut blocks = vec![verbatim(run.headline()), facts(run.facts())];
    blocks.extend(run.counters.as_ref().map(Counted::describe).map(verbatim));
    let warnings = run.warnings.iter();
    let warnings = warnings.map(|warning| format!("{} {}", warning.message, warning.advice));
    blocks.extend(warnings.map(notice));
    blocks.extend(run.notes.iter().map(remark));
    Document {
        kind: "Stowplan run".to_owned(),
        title: run.place.clone(),
        blocks,
        ..Document::default()
    }
}

impl Run {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let latency = self.summary.latency.as_ref();
        let percentiles = latency.map(|latency| self.percentiles(latency));
        vec![
            ("Per BLOB", self.location()),
            ("Rounds", self.ends()),
            ("Time", self.metric()),
            ("Percentiles", percentiles.unwrap_or_default()),
            ("Around it", self.around.describe(self.writes())),
            ("Visited", visited(&self.survey, self.summary.operations)),
            ("Promise", self.promise()),
            ("Store", self.cell.store.to_string()),
        ]
    }

    fn headline(&self) -> String {
        let each = self.summary.time_ns.estimate;
        let elapsed = each * self.summary.operations as f64 / 1e9;
        let done = if self.writes() { "write" } else { "read" };
        let mut lines = Vec::new();
        let version = self.sqlite_version.iter();
        lines.extend(version.map(|version| format!("SQLite version: {version}")));
        let integrity = self.integrity.iter();
        lines.extend(integrity.map(|message| format!("integrity-check: {message}")));
        lines.extend(self.options.iter().cloned());
        let page = self.page_size.iter();
        lines.extend(page.map(|bytes| format!("Database page size: {bytes}")));
        let rate = self.summary.bytes / each * 1e3;
        lines.extend([
            format!("Total elapsed time: {elapsed:.3}"),
            format!("Microseconds per BLOB {done}: {:.3}", each / 1e3),
            format!("Content {done} rate: {rate:.1} MB/s\n"),
        ]);
        lines.join("\n")
    }

    fn writes(&self) -> bool {
        self.cell.workload.operation.writes()
    }

    /// The estimate in words, with its interval.
    fn location(&self) -> String {
        let Repeated {
            rounds, time_ns, ..
        } = &self.summary;
        let [estimate, low, high] = [time_ns.estimate, time_ns.low, time_ns.high].map(time);
        let needed = format!("an interval needs {MIN_ROUNDS}");
        match *rounds {
            1 => format!("{estimate} in a single round; {needed}"),
            few if few < MIN_ROUNDS => {
                format!("{estimate}, {low} to {high} (range of {few} rounds; {needed})")
            }
            all => format!("{estimate}, {low} to {high} (95% interval, {all} rounds)"),
        }
    }

    /// The best and the worst round; of a single one there is nothing more to say.
    fn ends(&self) -> String {
        if self.summary.rounds < 2 {
            return String::new();
        }
        let [best, worst] = [self.summary.best_ns, self.summary.worst_ns].map(time);
        format!("best {best}, worst {worst}")
    }

    fn metric(&self) -> String {
        // What lies around the operations is measured by the clock alone.
        let around = match (self.around.open_counts, self.around.drain_counts) {
            (true, true) => " (opening and closing: plain wall time)",
            (true, false) => " (opening: plain wall time)",
            (false, true) => " (closing: plain wall time)",
            (false, false) => "",
        };
        match self.summary.metric {
            Metric::Corrected => format!("wall time, less waiting for a CPU{around}"),
            Metric::Wall => "wall time".to_owned(),
        }
    }

    /// Percentiles of single operations, as far as ten operations lie beyond them.
    fn percentiles(&self, latency: &LatencySummary) -> String {
        let points = [
            ("p50", latency.p50_ns),
            ("p90", latency.p90_ns),
            ("p99", latency.p99_ns),
            ("p99.9", latency.p999_ns),
            ("max", Some(latency.max_ns)),
        ];
        let points = points.into_iter();
        let points = points.filter_map(|(name, ns)| Some(format!("{name} {}", time(ns? as f64))));
        let without = match (self.writes(), self.around.commit_ns) {
            (false, _) => "",
            (true, Some(_)) => " (without the commit and closing)",
            (true, None) => " (without closing)",
        };
        points.collect::<Vec<_>>().join(", ") + without
    }

    /// What a write survives; reads need no promise.
    fn promise(&self) -> String {
        let can = &self.cell.capabilities;
        match (self.writes(), can.transactions) {
            (false, _) => String::new(),
            (true, false) => format!("{} (files have no transactions)", can.durability),
            (true, true) => {
                let per = self.cell.workload.per_transaction;
                format!("{} ({per})", can.durability)
            }
        }
    }
}

impl Around {
    fn describe(&self, writes: bool) -> String {
        let counted = |ns: u64, counts: bool| {
            let not = if counts { "" } else { "not " };
            format!("{} ({not}counted)", time(ns as f64))
        };
        let mut around = vec![format!(
            "opening {}",
            counted(self.open_ns, self.open_counts)
        )];
        if writes {
            let commit = self.commit_ns.map(|ns| counted(ns, true));
            around.extend(commit.map(|commit| format!("last commit {commit}")));
            let drain = counted(self.drain_ns, self.drain_counts);
            around.push(format!("final flush {drain}"));
        }
        around.join(", ")
    }
}

/// What of a place a round visits.
fn visited(survey: &KeySurvey, operations: u64) -> String {
    let again = match operations > survey.visited {
        true => ", some of them again",
        false => "",
    };
    format!(
        "{} of {} BLOBs a round, {} in all{again}",
        count(operations),
        count(survey.visited),
        format_bytes(survey.bytes)
    )
}

impl Counted {
    /// In kvtest's order and words; what it does not know comes last.
    fn describe(&self) -> String {
        const KNOWN: [(&str, &str); 11] = [
            ("Memory Used", " bytes"),
            ("Number of Outstanding Allocations", ""),
            ("Number of Pcache Pages Used", " pages"),
            ("Number of Pcache Overflow Bytes", " bytes"),
            ("Largest Allocation", " bytes"),
            ("Largest Pcache Allocation", " bytes"),
            ("Lookaside Slots Used", ""),
            ("Pager Heap Usage", " bytes"),
            ("Page cache hits", ""),
            ("Page cache misses", ""),
            ("Page cache writes", ""),
        ];
        let known = |name: &str| KNOWN.iter().any(|(known, _)| *known == name);
        let others = self.engine.keys().map(String::as_str);
        let others = others.filter(|name| !known(name) && !name.ends_with("(max)"));
        let engine = KNOWN.into_iter().chain(others.map(|name| (name, "")));
        let engine = engine.filter_map(|(name, unit)| {
            let value = self.engine.get(name)?;
            let most = self.engine.get(&format!("{name} (max)"));
            let most = most.map_or_else(String::new, |most| format!(" (max {most})"));
            Some((name, format!("{value}{most}{unit}")))
        });
        let io = self
            .io
            .iter()
            .flat_map(|io| IO.map(|(name, of)| (name, of(io).to_string())));
        let lines = engine.chain(io);
        let lines = lines.map(|(name, text)| format!("{:<37}{text}\n", format!("{name}:")));
        lines.collect()
    }
}

/// A counter of the system's.
type IoCounter = fn(&IoCounters) -> u64;

/// The system's counters, by kvtest's names.
const IO: [(&str, IoCounter); 6] = [
    ("Bytes received by read()", |io| io.read_call_bytes),
    ("Bytes sent to write()", |io| io.write_call_bytes),
    ("Read() system calls", |io| io.read_calls),
    ("Write() system calls", |io| io.write_calls),
    ("Bytes read from storage", |io| io.storage_read_bytes),
    ("Bytes written to storage", |io| io.storage_write_bytes),
];

/// One JSON document.
///
/// # Errors
/// A figure that is no number; there is none in what is measured.
pub fn json(run: &Run) -> Result<String, serde_json::Error> {
    crate::json::of("run", run)
}
