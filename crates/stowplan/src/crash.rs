//! `stowplan crash`: what a setting loses when the power goes.

mod parts;
mod settings;

use crate::cli::PrintOptions;
use crate::error::{CliError, Exit};
use crate::form::Format;
use crate::output::{Output, Written, write_report};
use crate::progress::Steps;
use crate::screen;
use clap::{Args, ValueEnum};
pub(crate) use parts::{CrashStoreOptions, CrashfsOptions, crashfs, judge, workload};
use settings::subjects;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_crashlab::{Log, Options, Subject};
use stowplan_harness::HarnessError;
use stowplan_harness::disk::WorkDirectory;
use stowplan_harness::interrupt::Interrupt;
use stowplan_model::{CrashModel, CrashRun, CrashSetting, Tally};
use stowplan_report::crash::{document, json};
use stowplan_report::render::{html, markdown, terminal};

pub(crate) const EXAMPLES: &str = "\
Examples:
  stowplan crash                      every store at its settings, some minutes
  stowplan crash sqlite:journal=wal,synchronous=normal --states 1000
                                      what one setting loses
  stowplan crash --program ./mine --check ./check
                                      a program of yours: it works in
                                      $STOWPLAN_DIR, and says 'ack N' on stdout
                                      as commit N returns; the check finds the
                                      last N in $STOWPLAN_ACKED, and exits 0 for
                                      kept, 1 for lost, 2 for corrupt
  stowplan crash --replay 8841 --from stowplan-results/DIR --output state
                                      the state in which something was lost";

/// What was found, for programs, below the output directory.
const FOUND: &str = "crash.json";
const PAGE: &str = "report.html";
const SUMMARY: &str = "summary.md";
/// Memory as a file system: states are small, and there are many.
const IN_MEMORY: &str = "/dev/shm";
/// Room that states want there, bytes.
const ROOM: u64 = 1 << 30;

/// Options of `crash`.
#[derive(Debug, Args)]
pub(crate) struct CrashOptions {
    /// Stores with their settings; none stands for all of them at the settings that differ in what they
    /// promise.
    #[arg(value_name = "STORE")]
    stores: Vec<String>,
    /// A program instead, run by the shell in the directory $STOWPLAN_DIR; a line 'ack N' on its stdout
    /// tells of commit N, and a line 'base' that what is there by then has been there for long.
    #[arg(
        long,
        value_name = "CMD",
        requires = "check",
        conflicts_with = "stores"
    )]
    program: Option<String>,
    /// What judges a crash state of the program, run by the shell in it: the last commit that was told
    /// is in $STOWPLAN_ACKED; exit 0 means kept, 1 lost, 2 corrupt.
    #[arg(long, value_name = "CMD", requires = "program")]
    check: Option<String>,
    /// What the program promises.
    #[arg(
        long,
        value_enum,
        value_name = "CLASS",
        default_value = "durable",
        requires = "program"
    )]
    promise: crate::cli::DurabilityArgument,
    /// Which states a power cut may leave; may be repeated [default: ordered, strict, torn].
    #[arg(long, value_enum, value_name = "MODEL")]
    model: Vec<ModelArgument>,
    /// Different states of each setting under each model.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    states: u64,
    /// Commits that a store makes.
    #[arg(long, value_name = "N", default_value_t = 150, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    transactions: u64,
    /// Seed of what is written and of all states.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Directory of the result, which must not exist yet, or be empty [default: stowplan-results/DATE-crash-HOST];
    /// with --replay, of the state.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Directory for crash states while they are judged [default: in memory].
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Write the state of a finding into the directory --output, as it was found and with the fewest
    /// losses that do the same.
    #[arg(long, value_name = "SEED", requires_all = ["from", "output"], conflicts_with_all = ["stores", "program"])]
    replay: Option<u64>,
    /// The result that has the finding.
    #[arg(long, value_name = "DIR", requires = "replay")]
    from: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    print: PrintOptions,
}

/// Which states a power cut may leave.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModelArgument {
    /// Metadata as a journal keeps it, any subset of unsynced data.
    Ordered,
    /// The least that POSIX promises.
    Strict,
    /// One write is torn.
    Torn,
    /// Everything up to some operation.
    Prefix,
}

impl From<ModelArgument> for CrashModel {
    fn from(argument: ModelArgument) -> Self {
        match argument {
            ModelArgument::Ordered => Self::Ordered,
            ModelArgument::Strict => Self::Strict,
            ModelArgument::Torn => Self::Torn,
            ModelArgument::Prefix => Self::Prefix,
        }
    }
}

/// Cuts the power, many times; a failure if a promise was broken, or nothing can be claimed.
pub(crate) fn crash(options: &CrashOptions) -> Result<Exit, CliError> {
    if let (Some(seed), Some(from), Some(output)) = (options.replay, &options.from, &options.output)
    {
        return replay(seed, from, output);
    }
    let subjects = subjects(options)?;
    if let Some(why) = stowplan_crashlab::missing() {
        return Err(CliError::Usage(why));
    }
    let interrupt = Interrupt::on_signals()
        .map_err(|error| CliError::Usage(format!("cannot watch for Ctrl-C: {error}")))?;
    let output = Output::create(options.output.as_deref(), "crash")?;
    let scratch = scratch(options, &output)?;
    let work = WorkDirectory::create(&output.directory().join("work"))?;
    let tested = Campaign::new(options, &subjects, &work, &scratch, interrupt).run(&output);
    // Whatever came of it, nothing is to be left; and what was found is told, whatever was left.
    let removed = [scratch.remove(), work.remove()];
    let shown = show(&tested?, &output, options)?;
    removed.into_iter().collect::<Result<(), HarnessError>>()?;
    Ok(shown)
}

/// The directory for states, of which nothing is left that others have left there.
fn scratch(options: &CrashOptions, output: &Output) -> Result<WorkDirectory, CliError> {
    if let Some(work) = &options.work {
        return Ok(WorkDirectory::create_below(work)?);
    }
    let user = rustix::process::getuid().as_raw();
    let parent = Path::new(IN_MEMORY).join(format!("stowplan-crash-{user}"));
    let room = rustix::fs::statvfs(IN_MEMORY).map_or(0, |found| found.f_bavail * found.f_frsize);
    if room >= ROOM && (fs::create_dir(&parent).is_ok() || is_ours(&parent, user)) {
        for left in fs::read_dir(&parent).into_iter().flatten().flatten() {
            // One that is in use is locked.
            if let Ok(left) = WorkDirectory::left_behind(&left.path()) {
                let _ = left.remove();
            }
        }
        if let Ok(made) = WorkDirectory::create_below(&parent) {
            return Ok(made);
        }
    }
    Ok(WorkDirectory::create_below(output.directory())?)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where everybody may write, a directory may be anybody's.
fn is_ours(directory: &Path, user: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    directory
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// A run over several subjects.
struct Campaign<'o> {
    options: &'o CrashOptions,
    subjects: &'o [Subject],
    lab: Options,
}

impl<'o> Campaign<'o> {
    fn new(
        options: &'o CrashOptions,
        subjects: &'o [Subject],
        work: &WorkDirectory,
        scratch: &WorkDirectory,
        interrupt: Interrupt,
    ) -> Self {
        let models: Vec<CrashModel> = options.model.iter().map(|model| (*model).into()).collect();
        let usual = [CrashModel::Ordered, CrashModel::Strict, CrashModel::Torn];
        Self {
            options,
            subjects,
            lab: Options {
                seed: options.seed,
                states: options.states,
                models: if models.is_empty() {
                    usual.to_vec()
                } else {
                    models
                },
                judges: thread::available_parallelism().map_or(1, |n| n.get().min(2)),
                // Programs and checks have other working directories.
                work: absolute(work.path()),
                scratch: absolute(scratch.path()),
                interrupt,
                judged: AtomicU64::new(0),
            },
        }
    }

    fn run(&self, output: &Output) -> Result<CrashRun, CliError> {
        let mut run = CrashRun {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.options.seed,
            states: self.options.states,
            models: self.lab.models.clone(),
            settings: Vec::new(),
            judged: 0,
            judging_ns: 0,
            interrupted: false,
        };
        let began = Instant::now();
        let done = AtomicBool::new(false);
        let each = self.options.states * self.lab.models.len() as u64;
        let total = each * self.subjects.len() as u64;
        let result = thread::scope(|scope| {
            let steps = Steps::new(self.options.print.quiet, "states");
            let (judged, done) = (&self.lab.judged, &done);
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                while !done.load(Ordering::Relaxed) {
                    let so_far = judged.load(Ordering::Relaxed);
                    steps.at(so_far, total.max(so_far));
                    thread::sleep(Duration::from_millis(200));
                }
                steps.finish();
            });
            let result = self.each(&mut run, output);
            done.store(true, Ordering::Relaxed);
            result
        });
        result?;
        run.judged = self.lab.judged.load(Ordering::Relaxed);
        run.judging_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(run)
    }

    fn each(&self, run: &mut CrashRun, output: &Output) -> Result<(), CliError> {
        for (number, subject) in self.subjects.iter().enumerate() {
            match stowplan_crashlab::test(subject, &self.lab) {
                Ok((setting, log)) => {
                    if let Some(log) = log {
                        keep(&log, output.directory(), number)?;
                    }
                    run.settings.push(setting);
                }
                Err(HarnessError::Interrupted) => {
                    run.interrupted = true;
                    return Ok(());
                }
                // One that cannot be tested does not keep the others from it.
                Err(error) => run.settings.push(untested(subject, &error)),
            }
        }
        Ok(())
    }
}

fn untested(subject: &Subject, error: &HarnessError) -> CrashSetting {
    CrashSetting {
        name: subject.name.clone(),
        claim: subject.claim,
        transactions: subject.transactions,
        operations: 0,
        syncs: 0,
        acks: 0,
        ran_ns: 0,
        found: Vec::new(),
        all_synced: Tally::default(),
        failed: Some(error.to_string()),
    }
}

fn log_of(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("operations-{}.log", number + 1))
}

/// What a setting did, by which its states are made again.
fn keep(log: &Log, directory: &Path, number: usize) -> Result<(), CliError> {
    let path = log_of(directory, number);
    fs::write(&path, log.encode()).map_err(CliError::io("write", &path))
}

fn show(run: &CrashRun, output: &Output, options: &CrashOptions) -> Result<Exit, CliError> {
    let document = document(run);
    let found = crate::form::as_text(json(run))?;
    let files = [
        (FOUND, found.clone()),
        (PAGE, html::render(&document)),
        (SUMMARY, markdown::render(&document)),
    ];
    for (name, text) in files {
        let path = output.directory().join(name);
        if write_report(&path, &text)? == Written::NotOurs {
            return Err(CliError::Usage(format!(
                "{} is not ours; it was left alone",
                path.display()
            )));
        }
    }
    match Format::json(options.print.json) {
        Some(_) => screen::print(&found),
        None => screen::print(&terminal::render(
            &document,
            &screen::terminal(options.print.detail()),
        )),
    }
    if !options.print.quiet && !options.print.json {
        screen::note(&format!(
            "the report: {}",
            output.directory().join(PAGE).display()
        ));
    }
    let unsound = run
        .settings
        .iter()
        .any(|setting| setting.is_broken() || !setting.is_tested());
    Ok(match run.interrupted {
        true => Exit::Interrupted,
        false if unsound || run.settings.is_empty() => Exit::Failed,
        false => Exit::Done,
    })
}

fn replay(seed: u64, from: &Path, output: &Path) -> Result<Exit, CliError> {
    let path = from.join(FOUND);
    let text = fs::read_to_string(&path).map_err(CliError::io("read", &path))?;
    let run: CrashRun = stowplan_model::crash_run(&text)
        .map_err(|error| CliError::Unreadable(format!("{}: {error}", path.display())))?;
    for (number, setting) in run.settings.iter().enumerate() {
        for found in &setting.found {
            let Some(finding) = found.findings.iter().find(|finding| finding.seed == seed) else {
                continue;
            };
            let log = log_of(from, number);
            let bytes = fs::read(&log).map_err(CliError::io("read", &log))?;
            let log = Log::decode(&bytes).ok_or_else(|| {
                CliError::Unreadable(format!(
                    "{}: not whole, or of another version",
                    log.display()
                ))
            })?;
            let output = Output::create(Some(output), "crash")?;
            stowplan_crashlab::replay(&log, found.model, finding, output.directory())?;
            screen::print(&format!(
                "{}, {}: {} {}\nThe state is in {}.",
                screen::name(&setting.name),
                found.model,
                finding.judged.fate.name(),
                screen::name(&finding.judged.note),
                output.directory().display()
            ));
            return Ok(Exit::Done);
        }
    }
    Err(CliError::Usage(format!(
        "--replay {seed}: no finding in {} has this seed; the report has one behind each",
        path.display()
    )))
}
