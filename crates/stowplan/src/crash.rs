//! `stowplan crash`: what a setting loses when the power goes.

mod settings;

use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, Form, Format, PrintOptions};
use crate::output::Output;
use crate::progress::{Steps, watched};
use crate::screen;
use crate::shown::{Shown, keep, show};
use crate::values::{DURABILITIES, duration, one_of, size};
use clap::Args;
use settings::subjects;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_crashlab::{Limits, Log, Options, Replayed, Subject};
use stowplan_harness::HarnessError;
use stowplan_harness::disk::WorkDirectory;
use stowplan_harness::interrupt::Interrupt;
use stowplan_model::{CrashFinding, CrashModel, CrashRun, CrashSetting, Durability};
use stowplan_report::crash::{document, json};
use stowplan_report::document::Document;
use stowplan_report::shell::quoted;

/// What was found, for programs, below the output directory.
const FOUND: &str = "crash.json";
const PAGE: &str = "report.html";
/// A directory of the run's own below its output.
const WORK: &str = "work";
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
    /// tells of commit N.
    ///
    /// A line 'base' tells that what is there by then has been there for long.
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
        long, hide_short_help = true,
        value_parser = one_of(DURABILITIES, Durability::name),
        value_name = "CLASS",
        default_value = "durable",
        requires = "program"
    )]
    promise: Durability,
    /// What the program is called in reports [default: the beginning of the command].
    #[arg(
        long,
        hide_short_help = true,
        value_name = "NAME",
        requires = "program"
    )]
    name: Option<String>,
    /// How long a program may run; then it is ended, with all that it started.
    #[arg(long, hide_short_help = true, value_name = "TIME", default_value = "5min", value_parser = duration)]
    program_limit: Duration,
    /// How long judging one state may take; then the judge is ended, with all that it started.
    #[arg(long, hide_short_help = true, value_name = "TIME", default_value = "20s", value_parser = duration)]
    check_limit: Duration,
    /// Bytes that a program may write, each counted every time: they are held in memory.
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value = "512MiB", value_parser = size)]
    most_written: u64,
    /// Which states a power cut may leave; may be repeated [default: ordered, strict, torn].
    #[arg(long, value_parser = one_of(MODELS, CrashModel::name), value_name = "MODEL")]
    model: Vec<CrashModel>,
    /// Different states of each setting under each model that chance makes, besides those at each sync and
    /// acknowledgement.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    states: u64,
    /// Commits that a store makes.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 150, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    transactions: u64,
    /// Seed of what is written and of all states.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Directory of the result, which must not exist yet, or be empty [default: stowplan-results/DATE-crash-HOST];
    /// with --replay, of the state.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Directory for crash states while they are judged [default: in memory].
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Write the state of a finding into the directory --output, as found and with the fewest
    /// losses that do the same.
    #[arg(long, value_name = "SEED", requires_all = ["from", "output"], conflicts_with_all = ["stores", "program"])]
    replay: Option<u64>,
    /// The result that has the finding.
    #[arg(long, hide_short_help = true, value_name = "DIR", requires = "replay")]
    from: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    print: PrintOptions,
}

/// Which states a power cut may leave.
const MODELS: &[(CrashModel, &str)] = &[
    (
        CrashModel::Ordered,
        "Metadata as a journal keeps it, any subset of unsynced data",
    ),
    (CrashModel::Strict, "The least that POSIX promises"),
    (CrashModel::Torn, "One write is torn"),
];

/// Cuts the power, many times; a failure if a promise was broken, or nothing can be claimed.
pub(crate) fn crash(options: &CrashOptions) -> Result<Exit, CliError> {
    if let (Some(seed), Some(from), Some(output)) = (options.replay, &options.from, &options.output)
    {
        return replay(seed, from, output);
    }
    Form::asked(options.print.format(), None, DOCUMENT)?;
    let subjects = subjects(options)?;
    if let Some(why) = stowplan_crashlab::missing() {
        return Err(CliError::Usage(why));
    }
    let interrupt = watched(options.output.as_deref().unwrap_or(Path::new(".")))?;
    if let Some(output) = &options.output {
        remove_killed(output);
    }
    let output = Output::create(options.output.as_deref(), "crash")?;
    let scratch = scratch(options, &output)?;
    let work = WorkDirectory::create(&output.directory().join(WORK))?;
    let lab = lab(options, subjects.len(), [&work, &scratch], interrupt);
    let tested = tested(&subjects, &lab, &output);
    // Its progress is no longer shown.
    drop(lab);
    // Whatever came of it, nothing is to be left; and what was found is told, whatever was left.
    let removed = [scratch.remove(), work.remove()];
    // Of others that run there is something in it.
    let _ = fs::remove_dir(in_memory());
    let shown = told(&tested?, &output, options)?;
    removed.into_iter().collect::<Result<(), HarnessError>>()?;
    Ok(shown)
}

/// The directory for states, of which nothing is left that others have left there.
fn scratch(options: &CrashOptions, output: &Output) -> Result<WorkDirectory, CliError> {
    if let Some(work) = &options.work {
        return Ok(WorkDirectory::create_below(work)?);
    }
    let parent = in_memory();
    let room = rustix::fs::statvfs(IN_MEMORY).map_or(0, |found| found.f_bavail * found.f_frsize);
    if room >= ROOM && (fs::create_dir(&parent).is_ok() || is_ours(&parent)) {
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

/// Where states of this user's lie in memory.
fn in_memory() -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    Path::new(IN_MEMORY).join(format!("stowplan-crash-{user}"))
}

/// Removes what a run that was killed has left in its output directory, if that is all there is.
fn remove_killed(output: &Path) {
    let work = output.join(WORK);
    let entries = fs::read_dir(output).into_iter().flatten();
    if entries.count() == 1
        && let Ok(left) = WorkDirectory::left_behind(&work)
    {
        let _ = left.remove();
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where everybody may write, a directory may be anybody's.
fn is_ours(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    directory
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// How the lab works, on so many subjects.
fn lab(
    options: &CrashOptions,
    subjects: usize,
    [work, scratch]: [&WorkDirectory; 2],
    interrupt: Interrupt,
) -> Options {
    let models = match options.model.as_slice() {
        [] => MODELS.iter().map(|(model, _)| *model).collect(),
        models => models.to_vec(),
    };
    let total = options.states * models.len() as u64 * subjects as u64;
    let steps = Steps::new(options.print.quiet, "states");
    Options {
        seed: options.seed,
        states: options.states,
        models,
        limits: Limits {
            program: options.program_limit,
            check: options.check_limit,
            written: options.most_written,
        },
        judges: thread::available_parallelism().map_or(1, |n| n.get().min(2)),
        // Programs and checks have other working directories.
        work: absolute(work.path()),
        scratch: absolute(scratch.path()),
        interrupt,
        judged: AtomicU64::new(0),
        progress: Box::new(move |judged| steps.at(judged, total.max(judged))),
    }
}

/// Tests one subject after the other, until all are or it is interrupted.
fn tested(subjects: &[Subject], lab: &Options, output: &Output) -> Result<CrashRun, CliError> {
    let began = Instant::now();
    let (mut settings, mut interrupted) = (Vec::new(), false);
    for (number, subject) in subjects.iter().enumerate() {
        let log = log_of(&lab.work, number);
        let setting = match stowplan_crashlab::test(subject, lab, &log) {
            Ok(setting) => setting,
            Err(HarnessError::Interrupted) => {
                interrupted = true;
                break;
            }
            // One that cannot be tested does not keep the others from it.
            Err(error) => CrashSetting {
                failed: Some(error.to_string()),
                ..subject.setting()
            },
        };
        if setting.found.iter().any(|found| !found.findings.is_empty()) {
            let kept = log_of(output.directory(), number);
            fs::rename(&log, &kept).map_err(CliError::io("write", &kept))?;
        } else {
            let _ = fs::remove_file(&log);
        }
        settings.push(setting);
    }
    Ok(CrashRun {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: lab.seed,
        states: lab.states,
        models: lab.models.clone(),
        settings,
        judged: lab.judged.load(Ordering::Relaxed),
        judging_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        interrupted,
    })
}

/// What a setting did, by which its states are made again.
fn log_of(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("operations-{}.log", number + 1))
}

/// What was found, and where.
pub(crate) struct Found<'r> {
    pub(crate) run: &'r CrashRun,
    pub(crate) directory: &'r Path,
}

impl Shown for Found<'_> {
    fn document(&self, _: bool) -> Document {
        document(self.run)
    }

    fn data(&self, _: Format) -> Result<String, serde_json::Error> {
        json(self.run)
    }

    fn page(&self) -> Result<PathBuf, CliError> {
        Ok(self.directory.join(PAGE))
    }
}

fn told(run: &CrashRun, output: &Output, options: &CrashOptions) -> Result<Exit, CliError> {
    let directory = output.directory();
    let is_kept = keep(&directory.join(FOUND), &json(run)?);
    let has_page = show(&Found { run, directory }, &options.print)?;
    let mut settings = run.settings.iter();
    let unsound = settings.any(|setting| setting.is_broken() || !setting.is_tested());
    Ok(match run.interrupted {
        true => Exit::Interrupted,
        // A warning said why.
        false if !is_kept || !has_page => Exit::Failed,
        false if unsound || run.settings.is_empty() => Exit::Failed,
        false => Exit::Done,
    })
}

/// The run that a directory holds the result of; nothing where there is none.
pub(crate) fn read(directory: &Path) -> Result<Option<CrashRun>, CliError> {
    let path = directory.join(FOUND);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(CliError::io("read", &path)(error)),
    };
    let run = serde_json::from_str(&text);
    run.map(Some).map_err(|error| {
        let path = path.display();
        CliError::Unreadable(format!("{path}: no result of 'stowplan crash': {error}"))
    })
}

fn replay(seed: u64, from: &Path, output: &Path) -> Result<Exit, CliError> {
    let none = || {
        CliError::Usage(format!(
            "--from {}: there is no {FOUND} in it",
            from.display()
        ))
    };
    let run = read(from)?.ok_or_else(none)?;
    let all = run
        .settings
        .iter()
        .enumerate()
        .flat_map(|(number, setting)| {
            let found = setting.found.iter();
            let findings =
                found.flat_map(|found| found.findings.iter().map(|each| (found.model, each)));
            findings.map(move |(model, finding)| (number, setting, model, finding))
        });
    let mut of_seed = all.filter(|(.., finding)| finding.seed == seed);
    let Some((number, setting, model, finding)) = of_seed.next() else {
        return Err(CliError::Usage(format!(
            "--replay {seed}: no finding in {} has this seed; the report has one behind each",
            from.join(FOUND).display()
        )));
    };
    let path = log_of(from, number);
    let bytes = fs::read(&path).map_err(CliError::io("read", &path))?;
    let other = || {
        CliError::Unreadable(format!(
            "{}: not whole, or of another version",
            path.display()
        ))
    };
    let log = Log::decode(bytes).ok_or_else(other)?;
    let output = Output::create(Some(output), "crash")?;
    let directory = output.directory();
    let replayed = stowplan_crashlab::replay(&log, model, finding, directory)?;
    screen::print(&format!(
        "{}, {model}: {} {}\nThe state is in {}. What was done until then is in its operations.{}",
        screen::name(&setting.name),
        finding.judged.fate.name(),
        screen::name(&finding.judged.note),
        directory.display(),
        how_to_judge(setting, finding, &replayed, directory)
    ));
    Ok(Exit::Done)
}

/// The commands by which the states of a program are judged again.
fn how_to_judge(
    setting: &CrashSetting,
    finding: &CrashFinding,
    replayed: &Replayed,
    directory: &Path,
) -> String {
    if setting.check.is_empty() {
        return format!(" {} commits had been acknowledged.", replayed.acked);
    }
    let check = quoted(&setting.check);
    let judged_as = |name: &str, acked: u64| {
        let state = quoted(&directory.join(name).display().to_string());
        format!(
            "\n  (cd {state} && STOWPLAN_DIR=$PWD STOWPLAN_ACKED={acked} sh -c {check}; echo $?)"
        )
    };
    let shrunk = replayed.acked_of_shrunk.filter(|_| finding.shrunk.cut > 0);
    let shrunk = shrunk.map(|acked| judged_as("shrunk", acked));
    format!(
        " The check may change it:{}{}",
        judged_as("state", replayed.acked),
        shrunk.unwrap_or_default()
    )
}
