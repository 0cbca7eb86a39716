//! `stowplan advise`: whether the user's own data belongs into one database or into files.
//!
//! It makes a study of what a place holds, and runs it as any other.

use crate::error::{CliError, Exit};
use crate::kvtest::ColumnOptions;
use crate::measuring::MeasureOptions;
use crate::places::Drawn;
use crate::screen::note;
use crate::study::carry_out;
use crate::values::DURABILITIES;
use crate::{drivers, places};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_archive::python::Reading;
use stowplan_archive::sample::{Candidates, Sample};
use stowplan_archive::{Archive, list};
use stowplan_harness::environment::examine;
use stowplan_harness::plan::{PlanOptions, plan};
use stowplan_harness::runner::AsPlanned;
use stowplan_model::{
    AdviseSpec, Durability, OddityKind, Origin, PythonReads, Study, Survey, WholeSet, format_bytes,
    format_count, format_size,
};

/// By which values are drawn: that of a dataset in a study file that names none.
const SEED: u64 = 1;
/// Time for measuring, unless given: with building, an answer takes about a minute.
const BUDGET: Duration = Duration::from_secs(40);
/// The most bytes of a value that is measured.
const LARGEST: u64 = 8 << 20;
/// The most values that are replaced, and the most bytes of them: making more files takes longer than
/// measuring them, and each store is built twice.
const FEW: Extent = Extent {
    values: 2_000,
    bytes: 48 << 20,
};
/// The most values that are read, and their bytes. They are more than are visited: what is read ahead of a value must seldom be
/// another one that is visited, and their names must not all fit the database's cache where those of the place do
/// not. More time makes more rounds of them, not more values: building them would eat it.
const MANY: Extent = Extent {
    values: 18_000,
    bytes: 192 << 20,
};
/// Reads of a block whose contents are not cached: as few as the harness would choose.
const FEW_COLD: u64 = 200;
/// Reads of a block after a reboot. The first hundred or two take files longer than those that follow, because
/// each inode and name that is read brings in those of others (docs/advise.md).
const AFTER_REBOOT: u64 = 400;
/// Of fewer values nothing is said: blocks would be too short, and wherever they lie is good enough.
const LEAST_VALUES: u64 = 100;
/// The cache of a database of all values, in bytes: what SQLite has unless told otherwise
/// (<https://sqlite.org/pragma.html#pragma_cache_size>). Of fewer it has as large a share, for
/// a lookup reads the pages of the index that do not fit it; but at least so much, because a cache
/// that fits the processor's is faster (docs/advise.md).
const CACHE: u64 = 2_000 << 10;
const LEAST_CACHE: u64 = 1 << 20;
/// The most bytes with which work on all values is tried.
const MOST_BYTES_AT_ONCE: u64 = 16 << 20;
/// The values use at most this part of the room on the disk, as a divisor: there are some fifteen copies.
const OF_ROOM: u64 = 40;
/// The values use at most this part of the free memory, as a divisor: what is built for the first
/// comparison is to stay there.
const OF_MEMORY: u64 = 20;
/// The dataset of the values that are read, and that of those that are replaced where these are fewer.
const MINE: &str = "mine";
const FEW_OF_MINE: &str = "few";
/// Bytes of a page of the databases, unless the values lie in one now.
const PAGE: u64 = 8_192;
/// Shares of the values, and of their bytes, below which a part is not worth a place of its own.
const WORTH_SPLITTING: f64 = 0.1;

/// The comparisons of the study.
const COMPARISONS: &str = include_str!("advise.toml");

/// Options of `advise`.
#[derive(Debug, Args)]
pub(crate) struct AdviseOptions {
    /// Your directory of files, or your SQLite database with a column of blobs; it is only read.
    #[arg(value_name = "PLACE")]
    place: PathBuf,
    /// Which column of which table, where it is not plain.
    #[command(flatten)]
    column: ColumnOptions,
    /// In which order values are read.
    #[arg(long, value_enum, value_name = "ORDER", default_value = "random")]
    reads: Reads,
    /// How much of what is done replaces values.
    ///
    /// Reads in memory and replacements are weighed by it. 0% leaves replacements out, 100% leaves reads out;
    /// otherwise both are measured, and each decides for itself.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    overwrites: Option<f64>,
    /// Measure reads from storage also where they are left out otherwise (file systems in memory).
    #[arg(long, hide_short_help = true)]
    cold: bool,
    /// What a replacement survives once it is acknowledged.
    #[arg(long, hide_short_help = true, value_parser = crate::values::one_of(DURABILITIES, Durability::name), value_name = "CLASS", default_value = "durable")]
    durability: Durability,
    /// Write the study to this file, which must not exist.
    #[arg(long, hide_short_help = true, value_name = "FILE.toml")]
    save_study: Option<PathBuf>,
    /// How to measure.
    #[command(flatten)]
    measure: MeasureOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reads {
    /// One here, one there.
    Random,
    /// One after the other.
    Sequential,
}

fn share(text: &str) -> Result<f64, String> {
    crate::values::percent_within(text, 0.0, 100.0)
}

/// Surveys a place, measures a sample of it in several ways, and says where it belongs.
pub(crate) fn advise(mut options: AdviseOptions) -> Result<Exit, CliError> {
    let place = options.place.canonicalize();
    let place = place.map_err(CliError::io("open", &options.place))?;
    let origin = options.column.at(&place);
    let (survey, mut candidates) = places::survey_to_draw(&origin, LARGEST, MANY.values, SEED)?;
    refuse_deflated(&survey)?;
    let work = options.measure.run.work.as_deref();
    let work = work.or(options.measure.output.as_deref().and_then(Path::parent));
    let work = work.filter(|path| !path.as_os_str().is_empty());
    let work = work.unwrap_or(Path::new("."));
    let mut made = Made::of(&survey, Extent::all(&candidates), &options, work)?;
    made.try_whole(&mut candidates, work);
    let (text, mut study, drawn) = made.study(&mut candidates, work)?;
    if let Some(file) = &options.save_study {
        save(file, &text)?;
        let file = file.display();
        let text = format!("the study is in {file}; 'stowplan study {file}' runs it again");
        options.measure.run.print.note(&text);
    }
    let drivers = drivers::of_study(&mut study, &options.measure.run.driver)?;
    let planned = PlanOptions {
        rounds: options.measure.run.rounds,
        ..PlanOptions::default()
    };
    let plan = plan(study, &planned, &drivers)?;
    options.measure.run.budget.get_or_insert(BUDGET);
    carry_out(&plan, &drawn, &drivers, &options.measure, |_| AsPlanned)
}

/// Refuses an archive of deflated values: its column holds other bytes than its files had.
fn refuse_deflated(survey: &Survey) -> Result<(), CliError> {
    let place = &survey.origin.place;
    if survey.origin.table.as_deref() != Some("sqlar") {
        return Ok(());
    }
    let mut deflated = false;
    list(&Archive::open(place)?, &mut |entry| {
        deflated |= entry.is_ok_and(|entry| entry.is_deflated());
        Ok(())
    })?;
    match deflated {
        true => Err(CliError::Usage(format!(
            "{}: values of this archive are deflated, and their streams are not what a program reads; \
             'stowplan unpack' it, and ask of the directory",
            place.display()
        ))),
        false => Ok(()),
    }
}

/// A number of values, and their bytes.
#[derive(Debug, Clone, Copy)]
struct Extent {
    values: u64,
    bytes: u64,
}

impl Extent {
    /// All that can be drawn.
    fn all(candidates: &Candidates) -> Self {
        Self {
            values: candidates.values(),
            bytes: candidates.bytes(),
        }
    }

    /// How many of these values it has room for.
    fn of(self, there: Self) -> u64 {
        let mean = there.bytes.checked_div(there.values).unwrap_or(0);
        self.values.min(self.bytes / mean.max(1)).min(there.values)
    }
}

fn save(file: &Path, text: &str) -> Result<(), CliError> {
    let failed = || CliError::io("write the study to", file);
    let mut out = File::create_new(file).map_err(failed())?;
    out.write_all(text.as_bytes()).map_err(failed())
}

/// A study but for its comparisons, as its file begins.
#[derive(Serialize)]
struct Head {
    name: &'static str,
    title: &'static str,
    question: String,
    memory_budget: u64,
    advise: AdviseSpec,
    datasets: BTreeMap<&'static str, Values>,
}

/// Values of a place.
#[derive(Serialize)]
struct Values {
    from: Origin,
    count: u64,
}

/// What a study is made of.
struct Made<'a> {
    survey: &'a Survey,
    options: &'a AdviseOptions,
    /// Values that are read.
    many: u64,
    /// Values that are replaced.
    few: u64,
    /// Values that could be drawn.
    all: u64,
    /// Whether storage can be read from that is no memory.
    storage: bool,
    /// What is not measured, or measured elsewhere.
    limits: Vec<String>,
    /// What work on all values takes.
    whole: Option<WholeSet>,
    /// What warm reads take a program in Python.
    python: Option<PythonReads>,
}

impl<'a> Made<'a> {
    fn of(
        survey: &'a Survey,
        there: Extent,
        options: &'a AdviseOptions,
        work: &Path,
    ) -> Result<Self, CliError> {
        let place = &survey.origin.place;
        if survey.values == 0 {
            return Err(CliError::Usage(format!(
                "{} holds no values; there is nothing to advise on",
                place.display()
            )));
        }
        if place.to_str().is_none() {
            return Err(CliError::Usage(format!(
                "{}: a study file is text, and this name is not; give the place a link with another name",
                place.display()
            )));
        }
        if there.values < LEAST_VALUES {
            return Err(CliError::Usage(format!(
                "{}: too few values to say where they belong: {} can be measured, and {LEAST_VALUES} are the least",
                place.display(),
                there.values
            )));
        }
        let here = examine(work);
        let free = here.file_system.free_bytes;
        let memory = Some(here.memory_available_bytes).filter(|bytes| *bytes > 0);
        let room = (free / OF_ROOM).min(memory.unwrap_or(u64::MAX) / OF_MEMORY);
        let fitting = |most: Extent| {
            let bytes = most.bytes.min(room);
            Extent { bytes, ..most }.of(there)
        };
        let few = fitting(FEW);
        if few < LEAST_VALUES.min(FEW.of(there)).max(1) {
            return Err(CliError::Usage(format!(
                "{} has {} free, too little to measure a sample; choose another place with --work",
                work.display(),
                format_bytes(free)
            )));
        }
        let many = fitting(MANY).max(few);
        let mut limits = limits_of(survey, there);
        if many < MANY.of(there) {
            limits.push(format!(
                "Only {} of the values had room here (--work DIR: another place).",
                format_count(many)
            ));
        }
        let kind = here.file_system.kind.as_str();
        if is_elsewhere(place, work) {
            limits.push(format!(
                "Measured on {kind}, not on {} where the data lies (--work DIR: a directory there).",
                survey.file_system.as_deref().unwrap_or("the file system")
            ));
        }
        Ok(Self {
            survey,
            options,
            many,
            few,
            all: there.values,
            storage: !matches!(kind, "tmpfs" | "ramfs" | "devtmpfs"),
            limits,
            whole: None,
            python: None,
        })
    }

    /// Tries what work on all values takes, with some of them. Without it the answer lacks some figures.
    fn try_whole(&mut self, candidates: &mut Candidates, work: &Path) {
        if self.options.measure.run.dry_run || self.survey.page_size.is_some() {
            return;
        }
        let at_once = Extent {
            values: self.few,
            bytes: MOST_BYTES_AT_ONCE,
        };
        let sample = candidates.sample(at_once.of(Extent::all(candidates)).max(1));
        let tried =
            sample.and_then(|sample| stowplan_archive::whole::measure(&sample, self.page(), work));
        match tried {
            Ok(whole) => self.whole = Some(whole),
            Err(error) => note(&format!(
                "what work on all values takes was not measured: {error}"
            )),
        }
    }

    /// Times warm reads by a program in Python, where there is one. Without it the answer lacks a line.
    fn try_python(&mut self, many: &Sample, work: &Path) {
        if self.options.measure.run.dry_run || self.options.overwrites == Some(1.0) {
            return;
        }
        let reading = Reading {
            page_size: self.page(),
            cache: self.cache(),
            integer_keys: self.survey.page_size.is_some() && self.survey.integer_keys,
            split: limit(self.survey),
            ascending: self.options.reads == Reads::Sequential,
        };
        match stowplan_archive::python::measure(many, reading, work) {
            Ok(reads) => self.python = reads,
            Err(error) => note(&format!("reads from Python were not measured: {error}")),
        }
    }

    /// The study, its text, and the values of its datasets: fewer than were counted where some cannot be opened
    /// or went away.
    fn study(
        &mut self,
        candidates: &mut Candidates,
        work: &Path,
    ) -> Result<(String, Study, Drawn), CliError> {
        let mut sample = |count: u64| candidates.sample(count.max(1)).map_err(CliError::place);
        let (many, few) = (sample(self.many)?, sample(self.few)?);
        (self.many, self.few) = (many.count(), few.count());
        self.try_python(&many, work);
        let text = self.text()?;
        let mut study = Study::parse(&text, "advise.toml")?;
        let mut drawn = Drawn::new();
        for (name, sample) in [(MINE, many), (FEW_OF_MINE, few)] {
            if let Some(dataset) = study.datasets.get_mut(name) {
                *dataset = sample.describe(dataset)?;
                drawn.insert(name.to_owned(), sample);
            }
        }
        Ok((text, study, drawn))
    }

    /// The study: the comparisons of what is done.
    fn text(&self) -> Result<String, CliError> {
        let Self {
            options, survey, ..
        } = self;
        let limit = limit(survey);
        let reads = options.overwrites != Some(1.0);
        let mut text = String::new();
        for comparison in COMPARISONS.split("\n\n").skip(1) {
            let id = comparison.split('"').nth(1).unwrap_or_default();
            let is_done = match id {
                AdviseSpec::REPLACE => options.overwrites != Some(0.0),
                AdviseSpec::READ => reads,
                _ => reads && (self.storage || options.cold),
            };
            if !is_done {
                continue;
            }
            // Two parts that are each consistent are not so together.
            let are_promised =
                id != AdviseSpec::REPLACE || options.durability != Durability::Consistent;
            let splits = limit.is_some() && are_promised;
            let lines = comparison.lines();
            let lines = lines.filter(|line| splits || !line.starts_with("split ="));
            text.push('\n');
            text.extend(lines.flat_map(|line| [line, "\n"]));
        }
        for (name, value) in self.values(limit.unwrap_or_default()) {
            text = text.replace(name, &value);
        }
        Ok(self.head()? + &text)
    }

    /// What is filled in.
    fn values(&self, limit: u64) -> [(&'static str, String); 11] {
        let Self {
            options, survey, ..
        } = self;
        let order = match options.reads {
            Reads::Random => "random",
            Reads::Sequential => "ascending",
        };
        // Values lie under their own names, or as a program has them that numbers them: in directories, and in rows by
        // keys of the user's kind.
        let (files, rows) = match (survey.page_size, survey.integer_keys) {
            (None, _) => ("names=on", "key=text,names=on"),
            (Some(_), true) => ("layout=dir", "key=integer"),
            (Some(_), false) => ("layout=dir", "key=text"),
        };
        // So that a replacement promises what was asked for. Databases are read in the same journal mode.
        let (writes, journal) = match options.durability {
            Durability::None => ("write=truncate", "journal=off,synchronous=off"),
            Durability::ProcessCrash => ("write=rename", "journal=wal,synchronous=off"),
            Durability::Consistent => ("write=rename,fsync=file", "journal=wal,synchronous=normal"),
            Durability::Durable => (
                "write=rename,fsync=directory",
                "journal=wal,synchronous=full",
            ),
        };
        [
            ("{order}", order.to_owned()),
            ("{file-keys}", files.to_owned()),
            ("{row-keys}", rows.to_owned()),
            ("{file-writes}", writes.to_owned()),
            ("{journal}", journal.to_owned()),
            ("{page}", self.page().to_string()),
            ("{limit}", limit.to_string()),
            ("{limit-said}", format_size(limit)),
            // Each value is read once, so that a block of few values is shorter.
            ("{cold-reads}", FEW_COLD.min(self.many).to_string()),
            (
                "{reads-after-reboot}",
                AFTER_REBOOT.min(self.many).to_string(),
            ),
            ("{replaced}", self.replaced().to_owned()),
        ]
    }

    /// All but the comparisons.
    fn head(&self) -> Result<String, CliError> {
        let Survey {
            values, largest, ..
        } = *self.survey;
        let from = Origin {
            largest: (largest > LARGEST).then_some(LARGEST),
            ..self.survey.origin.clone()
        };
        let drawn = |count| Values {
            from: from.clone(),
            count,
        };
        let order = match self.options.reads {
            Reads::Random => "one here, one there",
            Reads::Sequential => "one after the other",
        };
        let replaced = match self.replaced() {
            MINE => String::new(),
            _ => format!(", and {} replaced", format_count(self.few)),
        };
        let head = Head {
            name: "advise",
            title: "Where your data belongs",
            question: format!(
                "Files or one database? {} of {} values, drawn by their sizes, read {order}{replaced}.",
                format_count(self.many),
                format_count(values)
            ),
            memory_budget: self.cache(),
            advise: AdviseSpec {
                place: from.place.clone(),
                in_database: self.survey.page_size.is_some(),
                about: stowplan_report::survey::sentence(self.survey),
                values: self.all,
                bytes: self.survey.bytes,
                largest,
                wal: self.survey.wal,
                overwrites: self.options.overwrites,
                limits: self.limits.clone(),
                whole: self.whole,
                python: self.python.clone(),
            },
            datasets: BTreeMap::from([
                (self.replaced(), drawn(self.few)),
                (MINE, drawn(self.many)),
            ]),
        };
        let text = toml::to_string(&head)
            .map_err(|error| CliError::Usage(format!("the study cannot be written: {error}")))?;
        Ok(format!(
            "# Made by 'stowplan advise'; 'stowplan study' runs it.\n{text}"
        ))
    }

    /// The dataset of the values that are replaced, and read all together.
    fn replaced(&self) -> &'static str {
        match self.few < self.many {
            true => FEW_OF_MINE,
            false => MINE,
        }
    }

    /// Bytes of the cache of the databases.
    fn cache(&self) -> u64 {
        let share = u128::from(CACHE) * u128::from(self.many) / u128::from(self.all.max(1));
        let share = u64::try_from(share).unwrap_or(CACHE);
        share.clamp(LEAST_CACHE, CACHE)
    }

    /// Bytes of a page of the databases.
    fn page(&self) -> u64 {
        self.survey.page_size.unwrap_or(PAGE)
    }
}

/// What of a place is not measured, in a sentence if there is any.
fn limits_of(survey: &Survey, there: Extent) -> Vec<String> {
    let counted =
        |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", format_count(count)));
    let unreadable = survey.count_of(OddityKind::Unreadable);
    let left = survey.values.saturating_sub(there.values + survey.empty);
    let above = format!("above {}", format_size(LARGEST));
    let large = (survey.largest > LARGEST).then(|| match unreadable {
        0 => counted(left, &above),
        _ => Some(format!("those {above}")),
    });
    let parts = [
        large.flatten(),
        counted(survey.empty, "empty"),
        counted(unreadable, "that cannot be read"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let told = (!parts.is_empty()).then(|| format!("Left out: {}.", parts.join(", ")));
    told.into_iter().collect()
}

/// Whether a place lies on another file system than a directory.
fn is_elsewhere(place: &Path, work: &Path) -> bool {
    let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
    device(place).zip(device(work)).is_some_and(|(a, b)| a != b)
}

/// The size at which values could be split: of the powers of two from 4 KiB to 1 MiB up to which there are
/// enough values, and above which enough of their bytes, the one in the middle. What is larger than
/// what is measured does not count.
fn limit(survey: &Survey) -> Option<u64> {
    let weigh = |limit: u64| {
        let bins = survey.histogram.iter().filter(|bin| bin.to <= limit);
        let bins = bins.filter(|bin| bin.to <= LARGEST);
        bins.fold((0.0, 0.0), |(values, bytes), bin| {
            let middle = bin.from.midpoint(bin.to) as f64;
            (
                values + bin.values as f64,
                bytes + middle * bin.values as f64,
            )
        })
    };
    let (all_values, all_bytes) = weigh(u64::MAX);
    let is_worth_it = |limit: &u64| {
        let (values, bytes) = weigh(*limit);
        values >= WORTH_SPLITTING * all_values && all_bytes - bytes >= WORTH_SPLITTING * all_bytes
    };
    let worth: Vec<u64> = (12..=20)
        .map(|bits| 1 << bits)
        .filter(is_worth_it)
        .collect();
    worth.get(worth.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Verb};
    use clap::Parser;
    use stowplan_archive::sample;
    use stowplan_model::{PerTransaction, SizeBin};

    fn options(arguments: &[&str]) -> AdviseOptions {
        let arguments = [&["stowplan", "advise", "place"], arguments].concat();
        match Arguments::parse_from(arguments).verb {
            Verb::Advise(options) => *options,
            verb => panic!("{verb:?}"),
        }
    }

    fn survey(place: &str, size: u64) -> Survey {
        Survey {
            origin: Origin {
                place: place.into(),
                ..Origin::default()
            },
            values: 20_000,
            bytes: 20_000 * size,
            median: size,
            percentile_95: 3 * size,
            largest: 10 * size,
            histogram: vec![SizeBin {
                from: size,
                to: 10 * size,
                values: 20_000,
            }],
            ..Survey::default()
        }
    }

    fn made(survey: &Survey, arguments: &[&str]) -> Study {
        let options = options(arguments);
        let there = Extent {
            values: survey.values,
            bytes: survey.bytes,
        };
        let made = Made::of(survey, there, &options, Path::new(".")).unwrap();
        let text = made.text().unwrap();
        Study::parse(&text, "t.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn whatever_a_place_is_called_its_study_is_one() {
        for place in ["/data", "/a \"b\" \\c", "/ü\n{x}", "/]]"] {
            let study = made(&survey(place, 20_000), &[]);
            let advised = study.advise.unwrap();
            assert_eq!(advised.place, Path::new(place));
            let from = study.datasets["mine"].from.clone().unwrap();
            assert_eq!(from.place, Path::new(place));
        }
    }

    #[test]
    fn options_leave_out_what_is_never_done() {
        let ids = |arguments: &[&str]| {
            let study = made(&survey("/d", 20_000), arguments);
            let ids = study.comparisons.into_iter().map(|found| found.id);
            let share = study.advise.unwrap().overwrites;
            (ids.collect::<Vec<_>>().join(" "), share)
        };
        let told = |ids: &str, share| (ids.to_owned(), share);
        assert_eq!(ids(&["--cold"]), told("read cold boot replace", None));
        let read_only = ids(&["--overwrites", "0%", "--cold"]);
        assert_eq!(read_only, told("read cold boot", Some(0.0)));
        let weighed = ids(&["--overwrites", "25%", "--cold"]);
        assert_eq!(weighed, told("read cold boot replace", Some(0.25)));
        let written = ids(&["--overwrites", "100%"]);
        assert_eq!(written, told("replace", Some(1.0)));
    }

    #[test]
    fn reads_are_measured_as_a_program_reads_in_the_journal_mode_that_is_advised() {
        let study = made(&survey("/d", 20_000), &["--cold"]);
        for comparison in &study.comparisons {
            for (name, cell) in &comparison.cells {
                let workload = cell.workload.over(&comparison.workload).complete();
                let together = name == "together";
                let expected = match together {
                    true => PerTransaction::All,
                    false => PerTransaction::Operations(1),
                };
                assert_eq!(
                    workload.per_transaction, expected,
                    "{}/{name}",
                    comparison.id
                );
                let store = cell.store.to_string();
                assert_eq!(store.contains("journal=wal"), name != "files", "{store}");
            }
            let together = comparison.cells.contains_key("together");
            assert_eq!(together, comparison.id == AdviseSpec::READ);
        }
    }

    #[test]
    fn after_a_reboot_more_is_read_than_by_what_others_are_found_and_never_a_value_twice() {
        for (values, cold, boot) in [(20_000, 200, 400), (300, 200, 300), (120, 120, 120)] {
            let mut place = survey("/d", 1_000);
            (place.values, place.bytes) = (values, values * 1_000);
            let comparisons = made(&place, &["--cold"]).comparisons;
            let reads = |id: &str| {
                let found = comparisons.iter().find(|found| found.id == id).unwrap();
                found.workload.clone().complete().operations
            };
            let both = [AdviseSpec::COLD, AdviseSpec::BOOT].map(reads);
            assert_eq!(both, [Some(cold), Some(boot)], "{values}");
        }
    }

    /// The stores of the cells of a comparison, by the names of these.
    fn stores(study: &Study, id: &str) -> Vec<(String, String)> {
        let mut found = study.comparisons.iter();
        let found = found.find(|comparison| comparison.id == id).unwrap();
        let cells = found.cells.iter();
        cells
            .map(|(name, cell)| (name.clone(), cell.store.to_string()))
            .collect()
    }

    #[test]
    fn values_of_a_directory_are_found_by_their_names_and_those_of_a_database_by_keys_of_its_kind()
    {
        let survey = survey("/d", 20_000);
        for (page_size, integer_keys, files, rows) in [
            (None, false, "names=on", "names=on"),
            (Some(4_096), false, "layout=dir", "key=text"),
            (Some(4_096), true, "layout=dir", "key=integer"),
        ] {
            let survey = Survey {
                page_size,
                integer_keys,
                ..survey.clone()
            };
            for id in ["read", "replace"] {
                let stores = stores(&made(&survey, &[]), id);
                for (name, store) in stores {
                    let key = if name == "files" { files } else { rows };
                    assert!(store.contains(key), "{name} = {store}");
                    assert_eq!(store.contains("names=on"), page_size.is_none(), "{store}");
                }
            }
        }
    }

    #[test]
    fn a_split_is_measured_where_both_parts_are_worth_it() {
        let bin = |from, to, values| SizeBin { from, to, values };
        let survey = |histogram| Survey {
            histogram,
            ..survey("/d", 1)
        };
        // A tenth of the values is below 4 KiB, half of the bytes lie above 256 KiB.
        let wide = survey(vec![
            bin(1_000, 4_000, 300),
            bin(20_000, 30_000, 600),
            bin(300_000, 400_000, 100),
        ]);
        assert_eq!(limit(&wide), Some(32_768));
        let study = made(&wide, &["--cold"]);
        let split = |id: &str| {
            let mut stores = stores(&study, id).into_iter();
            stores.any(|(name, _)| name == "split")
        };
        assert!(["read", "replace", "cold", "boot"].into_iter().all(split));
        assert_eq!(limit(&survey(vec![bin(100, 200, 50)])), None);
        assert_eq!(limit(&survey(vec![bin(2_000_000, 3_000_000, 50)])), None);
        let two = survey(vec![bin(10, 4_096, 9), bin(5_000, 8_192, 9)]);
        assert_eq!(limit(&two), Some(4_096));
        // What lies above the largest that is measured would leave nothing outside.
        let videos = bin(10_000_000, 12_000_000, 3);
        assert_eq!(limit(&survey(vec![bin(1_000, 2_000, 2_000), videos])), None);
    }

    #[test]
    fn a_sample_is_bounded_in_values_and_bytes() {
        let counts = |bytes, arguments: &[&str]| {
            let datasets = made(&survey("/d", bytes), arguments).datasets;
            [MINE, FEW_OF_MINE].map(|name| datasets.get(name).map_or(0, |found| found.count))
        };
        assert_eq!(counts(1_000, &[]), [MANY.values, FEW.values]);
        let [many, few] = counts(1_000_000, &[]);
        assert!(few <= 50 && (few..=201).contains(&many), "{many} {few}");
        // More time is for more rounds: building more would eat it.
        let longer = counts(1_000_000, &["--budget", "10m"]);
        assert_eq!(longer, [many, few]);
        let large = made(&survey("/d", 1_000_000), &[]);
        assert_eq!(
            large.datasets[MINE].from.clone().unwrap().largest,
            Some(LARGEST)
        );
    }

    #[test]
    fn the_cache_is_in_proportion_to_the_values_that_are_read() {
        let cache = |values| {
            let survey = Survey {
                values,
                bytes: values * 10,
                ..survey("/d", 10)
            };
            made(&survey, &[]).memory_budget
        };
        assert_eq!(cache(MANY.values), CACHE);
        assert_eq!(cache(MANY.values / 3 * 4), CACHE / 4 * 3);
        assert_eq!(cache(1_000 * MANY.values), LEAST_CACHE);
    }

    #[test]
    fn more_values_are_read_than_replaced() {
        let study = made(&survey("/d", 20_000), &["--cold"]);
        let datasets = study.comparisons.iter();
        let datasets: Vec<(&str, &str)> = datasets
            .map(|found| (found.id.as_str(), found.dataset.as_str()))
            .collect();
        let expected = [
            ("read", MINE),
            ("cold", MINE),
            ("boot", MINE),
            ("replace", FEW_OF_MINE),
        ];
        assert_eq!(datasets, expected);
        assert!(study.question.contains("replaced"), "{}", study.question);
        let mut few = survey("/d", 20_000);
        (few.values, few.bytes) = (100, 2_000_000);
        let study = made(&few, &["--cold"]);
        assert_eq!(study.datasets.keys().collect::<Vec<_>>(), [MINE]);
    }

    #[test]
    fn values_that_are_too_large_are_not_among_those_that_a_study_counts() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("place");
        std::fs::create_dir(&place).unwrap();
        for index in 0..120 {
            std::fs::write(place.join(format!("f{index}")), vec![index; 10_000]).unwrap();
        }
        let large = File::create(place.join("large")).unwrap();
        let origin = Origin {
            place: place.clone(),
            ..Origin::default()
        };
        for (index, bytes) in [9_000_000, 12_000_000].into_iter().enumerate() {
            large.set_len(bytes).unwrap();
            let options = options(&[]);
            let (survey, mut candidates) =
                places::survey_to_draw(&origin, LARGEST, 200, SEED).unwrap();
            let there = Extent::all(&candidates);
            let mut made = Made::of(&survey, there, &options, directory.path()).unwrap();
            let (text, study, drawn) = made.study(&mut candidates, directory.path()).unwrap();
            assert!(text.contains("120 of 121 values"), "{text}");
            assert_eq!(study.advise.as_ref().unwrap().values, 120);
            assert!(text.contains("Left out: 1 above 8 MiB."), "{text}");
            let spec = &study.datasets[MINE];
            for (written, drawn) in [drawn.get(MINE), None].into_iter().enumerate() {
                let path = directory.path().join(format!("data{index}-{written}"));
                let dataset = sample::write(spec, drawn, &path, &mut |_| ()).unwrap();
                assert_eq!((spec.count, dataset.count()), (120, 120), "{bytes}");
            }
        }
    }

    #[test]
    fn a_place_on_another_file_system_is_told_of_in_the_answer() {
        let root = Path::new("/");
        assert!(is_elsewhere(Path::new("/proc"), root) && !is_elsewhere(root, root));
        let limits = |place: &str| {
            let limits = made(&survey(place, 20_000), &[]).advise.unwrap().limits;
            limits.join(" ")
        };
        assert!(
            limits("/proc").contains("Measured on "),
            "{}",
            limits("/proc")
        );
        let here = std::env::current_dir().unwrap();
        assert_eq!(limits(here.to_str().unwrap()), "");
    }

    #[test]
    fn what_is_left_out_is_told() {
        let mut survey = survey("/d", 20_000);
        survey.odd.push(stowplan_model::Oddity {
            kind: OddityKind::Unreadable,
            count: 3,
            examples: Vec::new(),
        });
        survey.empty = 7;
        let limits = |survey: &Survey| made(survey, &[]).advise.unwrap().limits.join(" ");
        assert_eq!(limits(&survey), "Left out: 7 empty, 3 that cannot be read.");
        (survey.empty, survey.odd, survey.largest) = (0, Vec::new(), LARGEST + 1);
        let there = Extent {
            values: 19_999,
            bytes: 1 << 20,
        };
        assert_eq!(limits_of(&survey, there), ["Left out: 1 above 8 MiB."]);
    }

    #[test]
    fn of_too_few_values_or_too_little_of_them_nothing_is_said() {
        let survey = survey("/d", 20_000);
        let refused = |values, bytes| {
            let there = Extent { values, bytes };
            let options = options(&[]);
            let refused = Made::of(&survey, there, &options, Path::new("."));
            refused.map(drop).unwrap_err().to_string()
        };
        let few = refused(LEAST_VALUES - 1, 1_000_000);
        assert!(few.contains("too few values"), "{few}");
        let large = refused(LEAST_VALUES, LEAST_VALUES << 50);
        assert!(large.contains("too little to measure"), "{large}");
    }
}
