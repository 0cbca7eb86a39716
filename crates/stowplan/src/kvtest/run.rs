//! `stowplan kvtest run`: what to measure, measured, and said.

use super::{RunOptions, under_kvtests_lines};
use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, Form};
use crate::progress::Watcher;
use crate::screen::warn;
use crate::values::Cache;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_analysis::{Metric, repeated};
use stowplan_dataset::temporary::Temporary;
use stowplan_harness::HarnessError;
use stowplan_harness::environment::{self, checks};
use stowplan_harness::runner::Repeated;
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_kvtest::inspect::{self, Container, Database};
use stowplan_kvtest::{Keys, KvtestError, RUN, Task, Visits};
use stowplan_model::{
    AccessOrder, BlockKind, CacheState, Delivery, Environment, Measurement, Operation,
    PayloadSource, PerTransaction, StoreSpec, Value, Warning, Workload,
};
use stowplan_report::document::Detail;
use stowplan_report::kvtest::{Around, Counted, Run, document, json};
use stowplan_stores::registry;

/// Rounds unless the command line says otherwise: the fewest that give an interval.
const ROUNDS: u32 = 10;
/// After this no further round begins, unless the command line says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many keys kvtest reads of a directory unless it is told.
const KVTEST_KEYS_OF_A_DIRECTORY: u64 = 1_000;

/// Times reading or overwriting the blobs of a database or of a directory.
pub(crate) fn run(options: &RunOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(DOCUMENT)?;
    refuse_to_lose_data(options)?;
    let subject = Subject::examine(options)?;
    let machine = environment::examine(&options.place);
    let watcher = Watcher::new(options.form.print.is_silent(), "round", &options.place)?;
    // Operation sequences lie away from the data, which stays as it is.
    let work = Temporary::create(&RUN, &std::env::temp_dir()).map_err(HarnessError::from)?;
    let keys = subject.survey(work.path())?;
    let task = subject.task(&keys, &machine, work.path())?;
    // What cannot be is told before anything is measured.
    registry::resolve(&task.store, 0)?;
    task.check(&keys)?;
    subject.warn_of(&machine, &task, &keys);
    let measured = measure(&task, &keys, watcher);
    let at_rest = subject.bring_to_rest(&measured).map_err(CliError::work);
    let report = match measured {
        Ok(outcome) => subject.report(&keys, machine, outcome),
        Err(error) => Err(error.into()),
    };
    let report = match report {
        Ok(report) => report,
        Err(error) => return broken_off(error.into(), at_rest),
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
            warn(&besides.to_string());
        }
        return Err(CliError::work(error));
    }
    at_rest?;
    warn("interrupted before a round was complete, so there is no figure");
    Ok(Exit::Interrupted)
}

/// What is run.
struct Subject<'o> {
    options: &'o RunOptions,
    place: PathBuf,
    container: Container,
    /// Of a database.
    database: Option<Before>,
}

/// What a database was before the run: the size of its pages in bytes, and its journal mode.
struct Before {
    page_size: u64,
    journal: &'static str,
}

impl<'o> Subject<'o> {
    fn examine(options: &'o RunOptions) -> Result<Self, CliError> {
        // What SQLite puts beside a database lies beside what a link points to.
        let place = match options.place.is_symlink() {
            true => std::fs::canonicalize(&options.place)
                .map_err(CliError::io("open", &options.place))?,
            false => options.place.clone(),
        };
        recover_before(&place, options)?;
        let container = inspect::recognise(&place)?;
        let database = match container {
            Container::Database => {
                let found = Database::open(&place)?;
                Some(Before {
                    page_size: found.number("page_size")?,
                    journal: found.journal_mode(),
                })
            }
            Container::Dir | Container::Tree => None,
        };
        Ok(Self {
            options,
            place,
            container,
            database,
        })
    }

    /// Leaves the database as it was found, however the run ended: a worker that was ended in the
    /// middle of a write leaves a journal to roll back, and a journal mode persists in the file if
    /// it is WAL, or was.
    fn bring_to_rest(&self, measured: &Result<Repeated, HarnessError>) -> Result<(), KvtestError> {
        let Self { options, .. } = self;
        let Some(before) = &self.database else {
            return Ok(());
        };
        let complete = measured.as_ref().is_ok_and(|outcome| !outcome.interrupted);
        // Changing the journal mode is a write as well.
        if !complete && (options.update || options.jmode.is_some()) {
            stowplan_kvtest::recover(&self.place)?;
        }
        if options.as_kvtest || options.jmode.is_none() {
            return Ok(());
        }
        let mut database = Database::open(&self.place)?;
        if database.journal_mode() != before.journal {
            database.set_journal_mode(before.journal)?;
        }
        Ok(())
    }

    /// The journal mode of the run, of a database.
    fn journal(&self) -> Option<String> {
        let before = self.database.as_ref()?.journal;
        let mode = self.options.jmode.as_deref().unwrap_or(before);
        Some(mode.to_ascii_lowercase())
    }

    fn survey(&self, work: &Path) -> Result<Keys, CliError> {
        let Self { options, .. } = self;
        let file = work.join("keys.bin");
        let up_to = |max_id| Keys::survey(&self.place, self.container, max_id, &file);
        let mut keys = up_to(options.max_id)?;
        let like_kvtest = options.as_kvtest && self.database.is_none() && options.max_id.is_none();
        if like_kvtest && keys.survey.max_id > KVTEST_KEYS_OF_A_DIRECTORY {
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
        if options.start > keys.survey.max_id {
            return Err(CliError::Usage(format!(
                "--start {} lies beyond the largest key to visit, {}",
                options.start, keys.survey.max_id
            )));
        }
        Ok(keys)
    }

    fn task(&self, keys: &Keys, machine: &Environment, work: &Path) -> Result<Task, CliError> {
        let Self { options, .. } = self;
        let order = match () {
            () if options.random => AccessOrder::Random,
            () if options.desc => AccessOrder::Descending,
            () => AccessOrder::Ascending,
        };
        Ok(Task {
            place: self.place.clone(),
            store: self.store()?,
            workload: self.workload(order, self.cache_state(keys, machine)),
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
            payloads: either(
                options.as_kvtest,
                PayloadSource::Timed,
                PayloadSource::Prepared,
            ),
            latency: !options.as_kvtest,
            work: work.to_owned(),
        })
    }

    fn workload(&self, order: AccessOrder, cache: CacheState) -> Workload {
        let Self { options, .. } = self;
        // kvtest looks at what SQLite lends and copies nothing; a file is always read into a buffer.
        let lent = self.database.is_some() && !options.blob_api && !options.update;
        Workload {
            operation: either(options.update, Operation::Overwrite, Operation::Read),
            order,
            per_transaction: either(
                options.multitrans,
                PerTransaction::Operations(1),
                PerTransaction::All,
            ),
            delivery: either(lent, Delivery::InPlace, Delivery::Copy),
            cache,
            ..Workload::default()
        }
    }

    /// Warm unless asked otherwise, where the data fits into the memory that is free.
    fn cache_state(&self, keys: &Keys, machine: &Environment) -> CacheState {
        match self.options.cache_state {
            Some(state) => state,
            None if self.options.as_kvtest => CacheState::AsFound,
            None if keys.survey.bytes > machine.memory_available_bytes / 10 * 9 => {
                CacheState::AsFound
            }
            None => CacheState::Warm,
        }
    }

    /// Warns of what about this machine spoils or qualifies the figures, and of writes that cannot be undone, before
    /// the user waits for them.
    fn warn_of(&self, machine: &Environment, task: &Task, keys: &Keys) {
        let Self { options, .. } = self;
        let warm = task.workload.cache == CacheState::Warm;
        // A user's own data is as large as it is: no working set is too small.
        let demand = checks::Demand {
            what: "this run".to_owned(),
            cached_bytes: if warm { keys.survey.bytes } else { 0 },
            ..checks::Demand::default()
        };
        if !options.form.print.quiet {
            warn_all(&checks::warnings(machine, &demand, None));
        }
        // A run that is ended in the middle of a write is rolled back from the journal; some modes have
        // none on the disk. It is about the user's data: it is said with --quiet, too.
        if let Some(mode @ ("off" | "memory")) = self.journal().as_deref()
            && options.update
        {
            warn(&format!(
                "With --jmode {mode} nothing can undo a write that is ended in the middle, by Ctrl-C for \
                 example; it may damage the database. Work on a copy."
            ));
        }
    }

    /// The store, with those settings that are not so by default. kvtest looks a file up twice by its path, reads
    /// and writes it by stdio, into new memory, and truncates what it overwrites, although it means to write in
    /// place; all of it only with --as-kvtest.
    fn store(&self) -> Result<StoreSpec, CliError> {
        let Self { options, .. } = self;
        let text = match &self.database {
            Some(Before { page_size, .. }) => {
                let cache = match options.cache_size {
                    Cache::Pages(pages) => pages.saturating_mul(*page_size),
                    Cache::Bytes(bytes) => bytes,
                };
                format!(
                    "sqlite:api={},page_size={page_size},cache={cache},mmap={},journal={},synchronous={}{}",
                    either(options.blob_api, "blob", "sql"),
                    options.mmap,
                    self.journal().unwrap_or_default(),
                    either(options.nosync, "off", "full"),
                    either(options.nocheckpoint, ",autocheckpoint=0", ""),
                )
            }
            None => format!(
                "files:layout={},fsync={},{}",
                either(self.container == Container::Tree, "tree", "dir"),
                either(options.fsync, "file", "off"),
                either(
                    options.as_kvtest,
                    "open=path,stat=stat,read=stdio,buffer=fresh,write=stdio",
                    "open=directory,stat=fstat,read=plain,buffer=reused,write=in-place",
                ),
            ),
        };
        let mut spec: StoreSpec = text.parse()?;
        let known = registry::find(&spec.kind)?.settings();
        spec.settings.retain(|name, value| {
            let mut known = known.iter();
            !known.any(|setting| setting.name == name && setting.default == *value)
        });
        Ok(spec)
    }

    fn report(
        &self,
        keys: &Keys,
        machine: Environment,
        outcome: Repeated,
    ) -> Result<Run, KvtestError> {
        let Self { options, .. } = self;
        let around = self.around(&outcome.measurements);
        let besides = |m: &Measurement| {
            either(around.open_counts, m.outside.open_ns, 0)
                + either(around.drain_counts, m.outside.drain_ns, 0)
        };
        let metric = options.as_kvtest.then_some(Metric::Wall);
        let summary = repeated(&outcome.measurements, metric, besides);
        let last = outcome.measurements.iter().rfind(is_ratio);
        let counted = |last: &Measurement| Counted {
            engine: last.counters.clone(),
            io: last.io,
        };
        Ok(Run {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            place: options.place.display().to_string(),
            held: self.container.name(),
            sqlite_version: self.sqlite_version(),
            options: self.kvtest_lines(keys, &outcome),
            page_size: self.database.as_ref().map(|before| before.page_size),
            survey: keys.survey,
            summary: summary.ok_or(HarnessError::Interrupted)?,
            around,
            integrity: match options.integrity_check && self.database.is_some() {
                true => Database::open(&self.place)?.integrity_check(100)?,
                false => Vec::new(),
            },
            counters: last.filter(|_| options.stats).map(counted),
            notes: self.notes(keys, &outcome),
            warnings: outcome.warnings,
            environment: machine,
            interrupted: outcome.interrupted,
            cell: outcome.cell,
            effective: outcome.effective,
            measurements: outcome.measurements,
        })
    }

    fn sqlite_version(&self) -> Option<String> {
        self.database.as_ref()?;
        let (_, version) = registry::find("sqlite").ok()?.engine()?;
        version.split_whitespace().next().map(str::to_owned)
    }

    /// Medians of what lies around the operations. Closing a database that was written to, with its
    /// checkpoint, is part of the time as in kvtest, unless --nocheckpoint takes it out.
    fn around(&self, measurements: &[Measurement]) -> Around {
        let median =
            |of: fn(&Measurement) -> u64| median(measurements.iter().filter(is_ratio).map(of));
        let (options, is_database) = (self.options, self.database.is_some());
        Around {
            open_ns: median(|m| m.outside.open_ns),
            commit_ns: (is_database && !options.multitrans)
                .then(|| median(|m| m.outside.last_commit_ns)),
            drain_ns: median(|m| m.outside.drain_ns),
            drain_counts: is_database && options.update && !options.nocheckpoint,
            open_counts: is_database && options.as_kvtest,
        }
    }

    /// What was asked for, as kvtest says it, and what kvtest leaves out.
    fn kvtest_lines(&self, keys: &Keys, outcome: &Repeated) -> Vec<String> {
        let Self { options, .. } = self;
        let order = match outcome.cell.workload.order {
            AccessOrder::Descending => "desc",
            AccessOrder::Ascending => "asc",
            // What kvtest cannot be asked for draws keys as well.
            _ => "random",
        };
        let mut line = format!(
            "--count {} --max-id {} --{order}",
            options.count, keys.survey.max_id
        );
        if options.start > 1 {
            line.push_str(&format!(" --start {}", options.start));
        }
        let flags = given(&[
            (options.update, " --update"),
            (options.multitrans, " --multitrans"),
            (options.fsync, " --fsync"),
            (options.as_kvtest, " --as-kvtest"),
        ]);
        line.extend(flags);
        let mut lines = vec![line];
        if let Some(before) = &self.database {
            let cache = outcome.cell.settings.number("cache") / before.page_size.max(1);
            let journal = self.journal().unwrap_or_default();
            lines.push(format!("--cache-size {cache} --jmode {journal}"));
            let blob = either(options.blob_api, " --blob-api", "");
            lines.push(format!("--mmap {}{blob}", options.mmap));
            let flags = [
                (options.nosync, "--nosync"),
                (options.nocheckpoint, "--nocheckpoint"),
            ];
            lines.extend(given(&flags).into_iter().map(str::to_owned));
        }
        lines
    }

    fn notes(&self, keys: &Keys, outcome: &Repeated) -> Vec<String> {
        let Self { options, .. } = self;
        let mut notes = Vec::new();
        let ignored = self.ignored();
        if !ignored.is_empty() {
            let what = either(self.database.is_some(), "a database", "files");
            let ignored = ignored.join(", ");
            notes.push(format!(
                "Ignored, because it means nothing for {what}: {ignored}."
            ));
        }
        if let Some(first) = keys.survey.first_missing {
            notes.push(format!(
                "{} of the keys from 1 to {} have no value (the first is {first}); only the others were visited.",
                keys.survey.missing, keys.survey.max_id
            ));
        }
        if let Some(first) = keys.survey.first_empty {
            notes.push(format!(
                "{} values are empty (the first is that of key {first}) and were not visited.",
                keys.survey.empty
            ));
        }
        if outcome.cell.workload.cache == CacheState::AsFound && !options.as_kvtest {
            notes.push(
                "The page cache was left as it was found, so nobody knows how much came from storage. \
                 Percentiles are of other visits than the time: a second one would find in it what the first read."
                    .to_owned(),
            );
        }
        // By how files are written they come out before or behind a database: the article's own command named the
        // other winner.
        if options.update && self.database.is_none() {
            let (here, there) = either(
                options.as_kvtest,
                (
                    "Each file was emptied before it was written, as kvtest does it",
                    "without",
                ),
                (
                    "Files were written over where they lie, and kvtest empties each first",
                    "with",
                ),
            );
            notes.push(format!(
                "{here}: truncation is known to turn the order of files and a database. To see it here, run {there} \
                 --as-kvtest, or stowplan study fasterthanfs --scale quick --only overwrite."
            ));
        }
        if let Some(Value::Number(bytes)) = outcome.effective.get("mmap")
            && *bytes < options.mmap
        {
            notes.push(format!(
                "SQLite maps {bytes} bytes instead of the {} asked for, which is its limit.",
                options.mmap
            ));
        }
        if outcome.interrupted {
            notes.push("It was interrupted: these are the rounds before.".to_owned());
        }
        notes
    }

    /// Options that were given and mean nothing here, as in kvtest.
    fn ignored(&self) -> Vec<&'static str> {
        let Self { options, .. } = self;
        match self.database {
            Some(_) => given(&[(options.fsync, "--fsync")]),
            None => given(&[
                (options.blob_api, "--blob-api"),
                (options.mmap > 0, "--mmap"),
                (options.nosync, "--nosync"),
                (options.jmode.is_some(), "--jmode"),
                (options.nocheckpoint, "--nocheckpoint"),
                (options.multitrans, "--multitrans"),
                (options.integrity_check, "--integrity-check"),
            ]),
        }
    }
}

/// The names of those flags that were given.
fn given(flags: &[(bool, &'static str)]) -> Vec<&'static str> {
    let given = flags.iter().filter(|(is_given, _)| *is_given);
    given.map(|(_, name)| *name).collect()
}

fn either<T>(is_so: bool, yes: T, no: T) -> T {
    if is_so { yes } else { no }
}

/// What an interrupted write left is undone before another, as in kvtest. Without --update the
/// database is looked at first, which changes nothing.
fn recover_before(place: &Path, options: &RunOptions) -> Result<(), CliError> {
    let journal = stowplan_archive::foreign::beside(place, "-journal");
    let left = journal.metadata();
    let left = left.is_ok_and(|data| data.is_file() && data.len() > 0);
    if options.update && left && place.is_file() {
        stowplan_kvtest::recover(place)?;
    }
    Ok(())
}

/// Measures, and ends the bar.
fn measure(task: &Task, keys: &Keys, watcher: Watcher) -> Result<Repeated, HarnessError> {
    let workers = WorkerCommand::this_executable()?;
    let progress = &mut |done: u32, all: u32| watcher.steps.at(done.into(), all.into());
    let measured = stowplan_kvtest::run(task, keys, &workers, &watcher.interrupt, progress);
    Ok(measured?)
}

fn is_ratio(measurement: &&Measurement) -> bool {
    measurement.block == BlockKind::Ratio
}

/// The one in the middle, or between the middle two; of none, 0.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let middle = values.get(values.len() / 2).copied().unwrap_or(0);
    match values.len().is_multiple_of(2) && !values.is_empty() {
        true => values[values.len() / 2 - 1].midpoint(middle),
        false => middle,
    }
}

fn warn_all(warnings: &[Warning]) {
    for Warning {
        message, advice, ..
    } in warnings
    {
        warn(&format!("{message} {advice}"));
    }
}

fn show(report: &Run, options: &RunOptions, form: &Form<'_>) -> Result<(), CliError> {
    let quiet = options.form.print.quiet;
    // Where people read the document on this terminal, it is enough that they stand there.
    if quiet || !form.is_terminal() {
        warn_all(&report.warnings);
    }
    let document = under_kvtests_lines(document(report), form);
    let detail = either(quiet, Detail::Answer, Detail::Full);
    form.write(&document, detail, |_| json(report))
}
