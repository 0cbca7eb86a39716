//! `stowplan kvtest run`: what to measure, measured, and said.

use super::{RunOptions, under_kvtests_lines};
use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, Form};
use crate::progress::Steps;
use crate::screen;
use crate::values::Cache;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_analysis::{Metric, repeated};
use stowplan_harness::HarnessError;
use stowplan_harness::environment::{self, checks};
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::runner::Repeated;
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_kvtest::KvtestError;
use stowplan_kvtest::inspect::{self, Container, Database};
use stowplan_kvtest::{Keys, RUN, Task, Temporary, Visits};
use stowplan_model::{
    AccessOrder, BlockKind, CacheState, Delivery, Environment, Measurement, Operation,
    PayloadSource, PerTransaction, Settings, SpecError, StoreSpec, Value, Workload,
};
use stowplan_report::document::Detail;
use stowplan_report::kvtest::{Around, Counted, Run, Survey, document, json};
use stowplan_stores::registry;

/// Rounds unless the command line says otherwise: the fewest that give an interval.
const ROUNDS: u32 = 10;
/// After this no further round begins, unless the command line says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// What SQLite says where it cannot make the log of a database in WAL mode.
const CANNOT_OPEN_FILE: &str = "unable to open database file";
/// What that means.
const NO_LOG_POSSIBLE: &str = "; a database in WAL mode is measured with its log beside it, so its \
    directory must be writable: copy the database to one, or leave WAL mode where it can be written";
/// What is said of a value that is not as it was written: of a store that a study built.
const DAMAGED: &str = "is damaged";
/// What can be said of a user's own, which others may write.
const CHANGED: &str = "is not what this run found or wrote there";
/// What that means, as a rule.
const WRITTEN_MEANWHILE: &str =
    "; another program probably wrote meanwhile: run it again while none does, or on a copy";
/// How many keys kvtest reads of a directory unless it is told.
const KVTEST_KEYS_OF_A_DIRECTORY: u64 = 1_000;

/// Times reading or overwriting the blobs of a database or of a directory.
pub(crate) fn run(options: &RunOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(DOCUMENT)?;
    refuse_to_lose_data(options)?;
    let place = behind_link(&options.place)?;
    recover_before(&place, options)?;
    let subject = Subject::examine(place)?;
    let machine = environment::examine(&options.place);
    let interrupt =
        Interrupt::on_signals().map_err(CliError::io("watch for Ctrl-C for", &options.place))?;
    let work = work_directory()?;
    let keys = survey(&subject, options, work.path())?;
    let task = task(&subject, options, &keys, &machine, work.path())?;
    // What cannot be is told before anything is measured.
    registry::resolve(&task.store, 0)?;
    task.check(&keys)?;
    warn_of(&machine, &task, &keys, options);
    warn_of_no_way_back(&subject, options);
    let measured = measure(&task, &keys, &interrupt, options);
    let at_rest = subject.bring_to_rest(options, &measured);
    let outcome = match measured {
        Ok(outcome) => outcome,
        Err(error) => return broken_off(subject.explain(options, error), at_rest),
    };
    let report = match report(&subject, options, &keys, machine, outcome) {
        Ok(report) => report,
        Err(error) => return broken_off(error, at_rest),
    };
    show(&report, options, &form)?;
    at_rest?;
    Ok(match () {
        () if report.interrupted => Exit::Interrupted,
        () if report.integrity.iter().any(|message| message != "ok") => Exit::Failed,
        () => Exit::Done,
    })
}

/// Whoever times writes need not know that they replace what is there.
fn refuse_to_lose_data(options: &RunOptions) -> Result<(), CliError> {
    if !options.update || options.overwrite_my_data {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "--update replaces the values of {} by random bytes, for good; run it on a copy, and say that \
         those may be lost: --overwrite-my-data",
        options.place.display()
    )))
}

/// The end of a run without a figure.
fn broken_off(error: HarnessError, at_rest: Result<(), CliError>) -> Result<Exit, CliError> {
    if !matches!(error, HarnessError::Interrupted) {
        if let Err(besides) = at_rest {
            screen::warn(&besides.to_string());
        }
        return Err(CliError::Work(Box::new(error)));
    }
    at_rest?;
    screen::warn("interrupted before a round was complete, so there is no figure");
    Ok(Exit::Interrupted)
}

/// The place itself: what SQLite puts beside a database lies beside what a link points to.
fn behind_link(place: &Path) -> Result<PathBuf, CliError> {
    if place.is_symlink() {
        return std::fs::canonicalize(place).map_err(CliError::io("open", place));
    }
    Ok(place.to_owned())
}

/// What an interrupted write left is undone before another, as in kvtest. Without --update the
/// database is looked at first, which changes nothing.
fn recover_before(place: &Path, options: &RunOptions) -> Result<(), CliError> {
    let mut journal = place.as_os_str().to_owned();
    journal.push("-journal");
    let left = Path::new(&journal)
        .metadata()
        .is_ok_and(|data| data.is_file() && data.len() > 0);
    if options.update && left && place.is_file() {
        stowplan_kvtest::recover(place)?;
    }
    Ok(())
}

/// What is run.
struct Subject {
    place: PathBuf,
    container: Container,
    /// Of a database.
    database: Option<DatabaseFacts>,
}

struct DatabaseFacts {
    page_size: u64,
    journal: String,
}

impl Subject {
    fn examine(place: PathBuf) -> Result<Self, CliError> {
        let container = inspect::recognise(&place).map_err(KvtestError::from)?;
        let database = match container {
            Container::Database => Some(DatabaseFacts::of(&place)?),
            Container::Dir | Container::Tree => None,
        };
        Ok(Self {
            place,
            container,
            database,
        })
    }

    /// Leaves the database as it was found, however the run ended: a worker that was ended in the
    /// middle of a write leaves a journal to roll back, and a journal mode persists in the file if
    /// it is WAL, or was.
    fn bring_to_rest(
        &self,
        options: &RunOptions,
        measured: &Result<Repeated, HarnessError>,
    ) -> Result<(), CliError> {
        let Some(before) = &self.database else {
            return Ok(());
        };
        let complete = measured.as_ref().is_ok_and(|outcome| !outcome.interrupted);
        let in_order = || -> Result<(), KvtestError> {
            // Changing the journal mode is a write as well.
            if !complete && (options.update || options.jmode.is_some()) {
                stowplan_kvtest::recover(&self.place)?;
            }
            if options.as_kvtest || options.jmode.is_none() {
                return Ok(());
            }
            let mut database = Database::open(&self.place)?;
            if database.journal_mode()? != before.journal {
                database.set_journal_mode(&before.journal)?;
            }
            Ok(())
        };
        in_order().map_err(|error| CliError::Work(Box::new(error.into())))
    }

    /// An error with the next step where only this end knows it.
    fn explain(&self, options: &RunOptions, error: HarnessError) -> HarnessError {
        let database = self.database.as_ref();
        // Leaving the mode needs the log as well.
        let log = database
            .is_some_and(|facts| facts.journal == "wal" || journal(facts, options) == "wal");
        let message = error.to_string();
        if log && message.contains(CANNOT_OPEN_FILE) {
            return HarnessError::invalid(message + NO_LOG_POSSIBLE);
        }
        if message.contains(": value ") && message.contains(DAMAGED) {
            return HarnessError::invalid(message.replace(DAMAGED, CHANGED) + WRITTEN_MEANWHILE);
        }
        error
    }
}

impl DatabaseFacts {
    fn of(place: &Path) -> Result<Self, CliError> {
        let facts = Database::open(place).and_then(|database| {
            Ok(Self {
                page_size: database.page_size()?,
                journal: database.journal_mode()?,
            })
        });
        Ok(facts.map_err(KvtestError::from)?)
    }
}

/// Where operation sequences lie: away from the data, which stays as it is.
fn work_directory() -> Result<Temporary, CliError> {
    Ok(Temporary::create(&RUN, &std::env::temp_dir()).map_err(KvtestError::from)?)
}

fn survey(subject: &Subject, options: &RunOptions, work: &Path) -> Result<Keys, CliError> {
    let file = work.join("keys.bin");
    let up_to = |max_id| Keys::survey(&subject.place, subject.container, max_id, &file);
    let mut keys = up_to(options.max_id)?;
    let like_kvtest = options.as_kvtest && subject.database.is_none() && options.max_id.is_none();
    if like_kvtest && keys.max_id > KVTEST_KEYS_OF_A_DIRECTORY {
        if keys.smallest_key() > KVTEST_KEYS_OF_A_DIRECTORY {
            return Err(CliError::Usage(format!(
                "{} has no value with a key up to {KVTEST_KEYS_OF_A_DIRECTORY} (the smallest is \
                 {}), and --as-kvtest reads no others of a directory unless --max-id says more",
                options.place.display(),
                keys.smallest_key()
            )));
        }
        keys = up_to(Some(KVTEST_KEYS_OF_A_DIRECTORY))?;
    }
    if options.start > keys.max_id {
        return Err(CliError::Usage(format!(
            "--start {} lies beyond the largest key to visit, {}",
            options.start, keys.max_id
        )));
    }
    Ok(keys)
}

fn task(
    subject: &Subject,
    options: &RunOptions,
    keys: &Keys,
    machine: &Environment,
    work: &Path,
) -> Result<Task, CliError> {
    let order = match () {
        () if options.random => AccessOrder::Random,
        () if options.desc => AccessOrder::Descending,
        () => AccessOrder::Ascending,
    };
    Ok(Task {
        place: subject.place.clone(),
        store: store(subject, options)?,
        workload: workload(subject, options, order, cache_state(options, keys, machine)),
        visits: Visits {
            count: options.count,
            start: options.start,
            order,
            seed: options.seed,
            as_kvtest: options.as_kvtest,
        },
        rounds: options.rounds.unwrap_or(ROUNDS),
        budget: options
            .budget
            .or(options.rounds.is_none().then_some(PATIENCE)),
        payloads: if options.as_kvtest {
            PayloadSource::Timed
        } else {
            PayloadSource::Prepared
        },
        latency: !options.as_kvtest,
        work: work.to_owned(),
    })
}

fn workload(
    subject: &Subject,
    options: &RunOptions,
    order: AccessOrder,
    cache: CacheState,
) -> Workload {
    // kvtest looks at what SQLite lends and copies nothing; a file is always read into a buffer.
    let lent = subject.database.is_some() && !options.blob_api && !options.update;
    Workload {
        operation: if options.update {
            Operation::Overwrite
        } else {
            Operation::Read
        },
        order,
        per_transaction: if options.multitrans {
            PerTransaction::Operations(1)
        } else {
            PerTransaction::All
        },
        delivery: if lent {
            Delivery::InPlace
        } else {
            Delivery::Copy
        },
        cache,
        ..Workload::default()
    }
}

/// Warm unless asked otherwise, where the data fits into the memory that is free.
fn cache_state(options: &RunOptions, keys: &Keys, machine: &Environment) -> CacheState {
    match options.cache_state {
        Some(state) => state,
        None if options.as_kvtest => CacheState::AsFound,
        None if keys.bytes > machine.memory_available_bytes / 10 * 9 => CacheState::AsFound,
        None => CacheState::Warm,
    }
}

/// What about this machine spoils or qualifies the figures, before the user waits for them.
fn warn_of(machine: &Environment, task: &Task, keys: &Keys, options: &RunOptions) {
    if options.form.print.quiet {
        return;
    }
    let warm = task.workload.cache == CacheState::Warm;
    // A user's own data is as large as it is: no working set is too small.
    let demand = checks::Demand {
        what: "this run".to_owned(),
        cached_bytes: if warm { keys.bytes } else { 0 },
        ..checks::Demand::default()
    };
    for warning in checks::warnings(machine, &demand, None) {
        screen::warn(&format!("{} {}", warning.message, warning.advice));
    }
}

/// A run that is ended in the middle of a write is rolled back from the journal; some modes have
/// none on the disk. It is about the user's data: it is said with --quiet, too.
fn warn_of_no_way_back(subject: &Subject, options: &RunOptions) {
    let Some(database) = subject.database.as_ref().filter(|_| options.update) else {
        return;
    };
    let mode = journal(database, options);
    if matches!(mode.as_str(), "off" | "memory") {
        screen::warn(&format!(
            "With --jmode {mode} nothing can undo a write that is ended in the middle, by Ctrl-C for \
             example; it may damage the database. Work on a copy."
        ));
    }
}

/// The store, with those settings that are not so by default. kvtest looks a file up twice by its path, reads
/// and writes it by stdio, into new memory, and truncates what it overwrites, although it means to write in
/// place; all of it only with --as-kvtest.
fn store(subject: &Subject, options: &RunOptions) -> Result<StoreSpec, CliError> {
    let either = |given, yes, no| if given { yes } else { no };
    let text = match &subject.database {
        Some(database) => {
            let cache = match options.cache_size {
                Cache::Pages(pages) => pages.saturating_mul(database.page_size),
                Cache::Bytes(bytes) => bytes,
            };
            format!(
                "sqlite:api={},page_size={},cache={cache},mmap={},journal={},synchronous={}{}",
                either(options.blob_api, "blob", "sql"),
                database.page_size,
                options.mmap,
                journal(database, options),
                either(options.nosync, "off", "full"),
                either(options.nocheckpoint, ",autocheckpoint=0", ""),
            )
        }
        None => format!(
            "files:layout={},fsync={},{}",
            either(subject.container == Container::Tree, "tree", "dir"),
            either(options.fsync, "file", "off"),
            either(
                options.as_kvtest,
                "open=path,stat=stat,read=stdio,buffer=fresh,write=stdio",
                "open=directory,stat=fstat,read=plain,buffer=reused,write=in-place",
            ),
        ),
    };
    let mut spec: StoreSpec = text
        .parse()
        .map_err(|error: SpecError| CliError::Usage(error.to_string()))?;
    let known = registry::find(&spec.kind)?.settings();
    spec.settings.retain(|name, value| {
        let mut known = known.iter();
        !known.any(|setting| setting.name == name && setting.default == *value)
    });
    Ok(spec)
}

fn journal(database: &DatabaseFacts, options: &RunOptions) -> String {
    let mode = options.jmode.as_ref().unwrap_or(&database.journal);
    mode.to_ascii_lowercase()
}

fn measure(
    task: &Task,
    keys: &Keys,
    interrupt: &Interrupt,
    options: &RunOptions,
) -> Result<Repeated, HarnessError> {
    let workers = WorkerCommand::this_executable()?;
    let steps = Steps::new(options.form.print.is_silent(), "round");
    let outcome = stowplan_kvtest::run(task, keys, &workers, interrupt, &mut |done, all| {
        steps.at(done.into(), all.into());
    });
    steps.finish();
    Ok(outcome?)
}

fn report(
    subject: &Subject,
    options: &RunOptions,
    keys: &Keys,
    machine: Environment,
    outcome: Repeated,
) -> Result<Run, HarnessError> {
    let around = around(subject, options, &outcome.measurements);
    let besides = |m: &Measurement| {
        let counted = |counts, ns| if counts { ns } else { 0 };
        counted(around.open_counts, m.outside.open_ns)
            + counted(around.drain_counts, m.outside.drain_ns)
    };
    let metric = options.as_kvtest.then_some(Metric::Wall);
    let Some(summary) = repeated(&outcome.measurements, metric, besides) else {
        return Err(HarnessError::Interrupted);
    };
    Ok(Run {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        place: options.place.display().to_string(),
        held: subject.container.name(),
        sqlite_version: subject.sqlite_version(),
        options: kvtest_lines(subject, options, keys, &outcome),
        page_size: subject.database.as_ref().map(|facts| facts.page_size),
        survey: Survey {
            values: keys.values,
            bytes: keys.bytes,
            largest_key: keys.largest_key,
            max_id: keys.max_id,
            visited: keys.visited(),
            missing: keys.missing,
            first_missing: keys.first_missing(),
            empty: keys.empty,
            first_empty: keys.first_empty,
        },
        summary,
        around,
        integrity: subject.integrity(options)?,
        counters: counted(options, &outcome.measurements),
        notes: notes(subject, options, keys, &outcome),
        warnings: outcome.warnings,
        environment: machine,
        interrupted: outcome.interrupted,
        cell: outcome.cell,
        effective: outcome.effective,
        measurements: outcome.measurements,
    })
}

impl Subject {
    fn sqlite_version(&self) -> Option<String> {
        self.database.as_ref()?;
        let (_, version) = registry::find("sqlite").ok()?.engine()?;
        version.split_whitespace().next().map(str::to_owned)
    }

    fn integrity(&self, options: &RunOptions) -> Result<Vec<String>, HarnessError> {
        if !options.integrity_check || self.database.is_none() {
            return Ok(Vec::new());
        }
        let database = Database::open(&self.place).map_err(KvtestError::from)?;
        Ok(database.integrity_check(100).map_err(KvtestError::from)?)
    }
}

/// Medians of what lies around the operations. Closing a database that was written to, with its
/// checkpoint, is part of the time as in kvtest, unless --nocheckpoint takes it out.
fn around(subject: &Subject, options: &RunOptions, measurements: &[Measurement]) -> Around {
    let median = |of: fn(&Measurement) -> u64| {
        let ratio = |m: &&Measurement| m.block == BlockKind::Ratio;
        median(measurements.iter().filter(ratio).map(of).collect())
    };
    let is_database = subject.database.is_some();
    Around {
        open_ns: median(|m| m.outside.open_ns),
        commit_ns: (is_database && !options.multitrans)
            .then(|| median(|m| m.outside.last_commit_ns)),
        drain_ns: median(|m| m.outside.drain_ns),
        drain_counts: is_database && options.update && !options.nocheckpoint,
        open_counts: is_database && options.as_kvtest,
    }
}

/// Of an even number, the mean of the middle two; of none, 0.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let middle = values.len() / 2;
    match values.get(middle) {
        None => 0,
        Some(upper) if values.len() % 2 == 1 => *upper,
        Some(upper) => values[middle - 1].midpoint(*upper),
    }
}

fn counted(options: &RunOptions, measurements: &[Measurement]) -> Option<Counted> {
    let last = measurements
        .iter()
        .rfind(|m| m.block == BlockKind::Ratio)
        .filter(|_| options.stats)?;
    Some(Counted {
        engine: last.counters.clone(),
        io: last.io,
    })
}

/// What was asked for, as kvtest says it, and what kvtest leaves out.
fn kvtest_lines(
    subject: &Subject,
    options: &RunOptions,
    keys: &Keys,
    outcome: &Repeated,
) -> Vec<String> {
    let order = match outcome.cell.workload.order {
        AccessOrder::Descending => "desc",
        AccessOrder::Ascending => "asc",
        // What kvtest cannot be asked for draws keys as well.
        AccessOrder::Random
        | AccessOrder::Uniform
        | AccessOrder::Zipfian
        | AccessOrder::Latest
        | AccessOrder::Lifecycle => "random",
    };
    let mut first = format!(
        "--count {} --max-id {} --{order}",
        options.count, keys.max_id
    );
    let mut flag = |given: bool, text: &str| {
        if given {
            first.push_str(text);
        }
    };
    flag(options.start != 1, &format!(" --start {}", options.start));
    flag(options.update, " --update");
    flag(options.multitrans, " --multitrans");
    flag(options.fsync, " --fsync");
    flag(options.as_kvtest, " --as-kvtest");
    let mut lines = vec![first];
    if let Some(database) = &subject.database {
        let cache = outcome.cell.settings.number("cache") / database.page_size.max(1);
        lines.push(format!(
            "--cache-size {cache} --jmode {}",
            journal(database, options)
        ));
        let mut mapped = format!("--mmap {}", options.mmap);
        if options.blob_api {
            mapped.push_str(" --blob-api");
        }
        lines.push(mapped);
        if options.nosync {
            lines.push("--nosync".to_owned());
        }
        if options.nocheckpoint {
            lines.push("--nocheckpoint".to_owned());
        }
    }
    lines
}

fn notes(subject: &Subject, options: &RunOptions, keys: &Keys, outcome: &Repeated) -> Vec<String> {
    let mut notes = Vec::new();
    let ignored = ignored(subject, options);
    if !ignored.is_empty() {
        let what = if subject.database.is_some() {
            "a database"
        } else {
            "files"
        };
        notes.push(format!(
            "Ignored, because it means nothing for {what}: {}.",
            ignored.join(", ")
        ));
    }
    if let Some(first) = keys.first_missing() {
        notes.push(format!(
            "{} of the keys from 1 to {} have no value (the first is {first}); only the others were visited.",
            keys.missing, keys.max_id
        ));
    }
    if let Some(first) = keys.first_empty {
        notes.push(format!(
            "{} values are empty (the first is that of key {first}) and were not visited.",
            keys.empty
        ));
    }
    if outcome.cell.workload.cache == CacheState::AsFound && !options.as_kvtest {
        notes.push(
            "The page cache was left as it was found, so nobody knows how much came from storage. \
             Percentiles are of other visits than the time: a second one would find in it what the first read."
                .to_owned(),
        );
    }
    notes.extend(what_turns_the_order(subject, options));
    notes.extend(smaller_map(options, &outcome.effective));
    if outcome.interrupted {
        notes.push("It was interrupted: these are the rounds before.".to_owned());
    }
    notes
}

/// By how files are written they come out before or behind a database: the article's own command named the
/// other winner.
fn what_turns_the_order(subject: &Subject, options: &RunOptions) -> Option<String> {
    let (here, there) = match options.as_kvtest {
        false => (
            "Files were written over where they lie, and kvtest empties each first",
            "run with --as-kvtest",
        ),
        true => (
            "Each file was emptied before it was written, as kvtest does it",
            "run without --as-kvtest",
        ),
    };
    (options.update && subject.database.is_none()).then(|| {
        format!(
            "{here}: truncation is known to turn the order of files and a database. To see it here, {there}, or \
             stowplan study fasterthanfs --scale quick --only overwrite."
        )
    })
}

fn smaller_map(options: &RunOptions, effective: &Settings) -> Option<String> {
    match effective.get("mmap") {
        Some(Value::Number(bytes)) if *bytes < options.mmap => Some(format!(
            "SQLite maps {bytes} bytes instead of the {} asked for, which is its limit.",
            options.mmap
        )),
        _ => None,
    }
}

/// Options that were given and mean nothing here, as in kvtest.
fn ignored(subject: &Subject, options: &RunOptions) -> Vec<&'static str> {
    let of_databases = [
        (options.blob_api, "--blob-api"),
        (options.mmap > 0, "--mmap"),
        (options.nosync, "--nosync"),
        (options.jmode.is_some(), "--jmode"),
        (options.nocheckpoint, "--nocheckpoint"),
        (options.multitrans, "--multitrans"),
        (options.integrity_check, "--integrity-check"),
    ];
    let of_files = [(options.fsync, "--fsync")];
    let given = match subject.database {
        Some(_) => of_files.as_slice(),
        None => of_databases.as_slice(),
    };
    given
        .iter()
        .filter(|(given, _)| *given)
        .map(|(_, name)| *name)
        .collect()
}

fn show(report: &Run, options: &RunOptions, form: &Form<'_>) -> Result<(), CliError> {
    let detail = match options.form.print.quiet {
        true => Detail::Answer,
        false => Detail::Full,
    };
    // Where people read the document on this terminal, it is enough that they stand there.
    if options.form.print.quiet || !form.is_terminal() {
        for warning in &report.warnings {
            screen::warn(&format!("{} {}", warning.message, warning.advice));
        }
    }
    let document = under_kvtests_lines(document(report), form);
    form.write(&document, detail, |_| json(report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(vec![]), 0);
        assert_eq!(median(vec![7]), 7);
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![40, 10, 20, 1_000]), 30);
    }

    #[test]
    fn what_only_this_end_can_explain_is_told_with_the_next_step() {
        let options = |line: &[&str]| {
            let words = ["stowplan", "kvtest", "run", "x.db"].iter().chain(line);
            match crate::cli::Arguments::try_parse_from(words).unwrap().verb {
                crate::cli::Verb::Kvtest {
                    verb: crate::kvtest::Verb::Run(options),
                } => options,
                other => panic!("{other:?}"),
            }
        };
        let told_with = |line: &[&str], journal: &str, message: &str| {
            let subject = Subject {
                place: "x.db".into(),
                container: Container::Database,
                database: Some(DatabaseFacts {
                    page_size: 4096,
                    journal: journal.to_owned(),
                }),
            };
            let error = HarnessError::invalid(message);
            subject.explain(&options(line), error).to_string()
        };
        let told = |journal: &str, message: &str| told_with(&[], journal, message);
        let refused = "sqlite cannot open x.db: unable to open database file";
        assert!(told("wal", refused).starts_with(refused));
        assert!(told("wal", refused).contains("directory must be writable"));
        let leaving = told_with(&["--jmode", "delete"], "wal", refused);
        assert!(leaving.contains("directory must be writable"), "{leaving}");
        assert_eq!(told("delete", refused), refused);
        let other = told(
            "delete",
            "sqlite: value 130 is damaged: its bytes are not those of version 3",
        );
        assert!(!other.contains("damaged"), "{other}");
        assert!(other.contains("another program probably wrote"), "{other}");
        assert_eq!(told("wal", "the disk is full"), "the disk is full");
    }
}
