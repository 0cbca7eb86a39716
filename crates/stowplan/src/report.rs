//! `stowplan report`: what was found, from the record of a run; and several runs of one study,
//! from several machines, side by side.

use crate::calibrate;
use crate::cli::PrintOptions;
use crate::crash;
use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, DocumentOptions, Form, Format, replace};
use crate::output::{RESULT, Written, plain, write_report};
use crate::screen;
use crate::screen::{note, print, warn};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use stowplan_analysis::{Analysis, AnalysisError, MachinesError, analyse, rebase};
use stowplan_harness::plan::STANDARD_SCALE;
use stowplan_model::{Record, RunOutcome, Warning, WarningKind, read_result};
use stowplan_report::document::Document;
use stowplan_report::fleet::Fleet;
use stowplan_report::render::{html, markdown, terminal};
use stowplan_report::shell::quoted;
use stowplan_report::{csv, github_action, json, run};

/// Options of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Directories of results, or their result.jsonl; several are of one study, from several
    /// machines.
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Make this cell the baseline: its key (sql) in every comparison that has it, or in one
    /// (read/sql).
    #[arg(long, value_name = "CELL")]
    pub(crate) baseline: Option<String>,
    /// In which form; html without --to is report.html beside the result.
    #[command(flatten)]
    pub(crate) form: DocumentOptions,
}

/// A result as it was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The text of that file; bytes that are no UTF-8 are replaced.
    pub(crate) raw: String,
    /// The lines that could be read.
    pub(crate) records: Vec<Record>,
    /// What they say.
    pub(crate) analysis: Analysis,
}

impl Loaded {
    /// Analyses records that were changed.
    pub(crate) fn analyse_again(&mut self) -> Result<(), CliError> {
        let analysis = analyse(&self.records, None);
        self.analysis = analysis.map_err(CliError::analysis(&self.path))?;
        Ok(())
    }
}

/// Reads and analyses a result: its directory, or its `result.jsonl`. Lines that cannot be read
/// are named on stderr and left out.
///
/// # Errors
/// It cannot be read, or is no result that this version understands.
pub(crate) fn load(path: &Path) -> Result<Loaded, CliError> {
    let path = file_of(path)?;
    let bytes = std::fs::read(&path).map_err(CliError::io("read result", &path))?;
    let (mut records, problems) = read_result(&bytes);
    records.extend(damage(&problems).map(Record::Warning));
    let raw = String::from_utf8_lossy(&bytes).into_owned();
    let analysis = analyse(&records, None).map_err(|error| match error {
        AnalysisError::NoHeader => CliError::Unreadable(no_header(&path, &problems)),
        error => CliError::analysis(&path)(error),
    })?;
    warn_of(&path, &problems);
    Ok(Loaded {
        path,
        raw,
        records,
        analysis,
    })
}

/// The `result.jsonl` that is meant.
fn file_of(path: &Path) -> Result<PathBuf, CliError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let file = path.join(RESULT);
    if file.exists() {
        return Ok(file);
    }
    path.read_dir()
        .map_err(CliError::io("read directory", path))?;
    let (below, path) = (results_in(path).len(), path.display());
    Err(CliError::Usage(match below {
        0 => {
            format!("{path} has no result.jsonl; give the directory of a run, or its result.jsonl")
        }
        _ => format!(
            "{path} has no result.jsonl; {below} directories in it have one: give one, or {path}/*"
        ),
    }))
}

/// The directories in one that have a result each.
pub(crate) fn results_in(directory: &Path) -> Vec<PathBuf> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.retain(|path| path.join(RESULT).is_file());
    below.sort();
    below
}

/// Why nothing can be made of a file without a header, in a line.
fn no_header(path: &Path, problems: &[String]) -> String {
    let first = problems
        .first()
        .filter(|first| first.starts_with("line 1: "));
    let why = match first {
        Some(first) => format!("{first}; was it cut off, or is it one of stowplan?"),
        None => "the run ended before it recorded anything, or it is none of stowplan".to_owned(),
    };
    let path = path.display();
    format!(
        "{path}: there is no header of a run in it: {why}; give the directory of a run, or run the study again"
    )
}

/// Names the lines that are left out; of many, some.
fn warn_of(path: &Path, problems: &[String]) {
    const NAMED: usize = 5;
    for problem in problems.iter().take(NAMED) {
        warn(&format!(
            "{}: {problem}; the line is left out",
            path.display()
        ));
    }
    if problems.len() > NAMED {
        let more = problems.len() - NAMED;
        let lines = if more == 1 { "line is" } else { "lines are" };
        warn(&format!("{}: {more} more {lines} left out", path.display()));
    }
}

/// What the reports say of lines that could not be read.
fn damage(problems: &[String]) -> Option<Warning> {
    let (first, more) = problems.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    Some(Warning {
        kind: WarningKind::Other,
        message: format!("The result is damaged; what its lines held is left out: {first}{more}."),
        advice: "'stowplan resume' measures again what is missing.".to_owned(),
    })
}

/// Makes another cell the baseline of a result.
fn with_baseline(mut loaded: Loaded, baseline: Option<&String>) -> Result<Loaded, CliError> {
    let Some(baseline) = baseline else {
        return Ok(loaded);
    };
    rebase(&mut loaded.records, baseline).map_err(|error| {
        CliError::Usage(format!("--baseline, {}: {error}", loaded.path.display()))
    })?;
    loaded.analyse_again()?;
    Ok(loaded)
}

/// Results as they are shown, in any form.
pub(crate) trait Shown {
    /// All of it; with the raw records if they are asked for.
    fn document(&self, raw: bool) -> Document;

    /// What of it a screen has room for, in tables of so many rows.
    fn screen(&self, rows: usize) -> Document {
        self.document(false).shortened(rows)
    }

    /// What programs read.
    fn data(&self, format: Format) -> Result<String, serde_json::Error>;

    /// Where its page stands.
    ///
    /// # Errors
    /// There is no place for one.
    fn page(&self) -> Result<PathBuf, CliError>;

    /// Whether a summary in Markdown stands beside the page.
    fn has_summary(&self) -> bool {
        true
    }

    /// What follows on a terminal, before it is said where the page is.
    fn next_step(&self) -> Option<String> {
        None
    }
}

impl Shown for Loaded {
    fn document(&self, raw: bool) -> Document {
        run::document(&self.analysis, if raw { self.raw.as_str() } else { "" })
    }

    fn screen(&self, rows: usize) -> Document {
        run::screen(&self.analysis, rows)
    }

    fn data(&self, format: Format) -> Result<String, serde_json::Error> {
        match format {
            Format::Csv => Ok(csv::render(&self.analysis)),
            Format::GithubActionBenchmark => github_action::render(&self.analysis),
            _ => json::render(&self.analysis),
        }
    }

    fn page(&self) -> Result<PathBuf, CliError> {
        Ok(self.path.with_file_name("report.html"))
    }

    /// Of an answer that was cut short, how to go on with the same values.
    fn next_step(&self) -> Option<String> {
        let end = self.analysis.end.as_ref();
        let is_whole = end.is_some_and(|end| end.outcome == RunOutcome::Complete);
        self.analysis.advice.as_ref().filter(|_| !is_whole)?;
        let directory = self.path.parent()?.to_string_lossy();
        let command = format!("stowplan resume {}", quoted(&directory));
        Some(format!("More rounds of the same values: {command}\n"))
    }
}

/// Several results of one study, side by side.
struct Together<'a> {
    fleet: Fleet<'a>,
    raw: Vec<&'a str>,
}

impl Shown for Together<'_> {
    fn document(&self, raw: bool) -> Document {
        self.fleet.document(if raw { &self.raw[..] } else { &[] })
    }

    fn screen(&self, rows: usize) -> Document {
        self.fleet.screen(rows)
    }

    fn data(&self, format: Format) -> Result<String, serde_json::Error> {
        match format {
            Format::Csv => Ok(self.fleet.csv()),
            _ => self.fleet.json(),
        }
    }

    /// It belongs to none of them. What a study measures at another scale than its own has a page of its own.
    fn page(&self) -> Result<PathBuf, CliError> {
        let directory = Path::new("stowplan-results");
        std::fs::create_dir_all(directory).map_err(CliError::io("create directory", directory))?;
        let scale = match self.fleet.scale() {
            STANDARD_SCALE => String::new(),
            scale => format!("-{scale}"),
        };
        let name = format!("{}{scale}", self.fleet.study());
        Ok(directory.join(format!("machines-{}.html", plain(&name))))
    }

    fn has_summary(&self) -> bool {
        false
    }
}

/// Renders a result again, or several together.
pub(crate) fn report(options: &ReportOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(Format::value_variants())?;
    let [one] = options.results.as_slice() else {
        return together(&options.results, options, form);
    };
    if let Some(run) = crash::read(one)? {
        let form = options.form.asked(DOCUMENT)?;
        let directory = one.as_path();
        deliver(
            &crash::Found {
                run: &run,
                directory,
            },
            options,
            form,
        )?;
        return Ok(Exit::Done);
    }
    let loaded = with_baseline(load(one)?, options.baseline.as_ref())?;
    match calibrate::of(&loaded)? {
        Some(calibrated) if form.is_terminal() && options.baseline.is_none() => {
            deliver(&calibrated, options, form)?;
        }
        _ => deliver(&loaded, options, form)?,
    }
    Ok(Exit::Done)
}

/// Several results of one study. One that cannot be read is left out, and the exit code says so.
fn together(paths: &[PathBuf], options: &ReportOptions, form: Form<'_>) -> Result<Exit, CliError> {
    if let Some(format @ Format::GithubActionBenchmark) = form.format {
        return Err(CliError::Usage(format!(
            "--format {} is of one result: to its reader every machine is a series of its own; \
             call it once for each of the {} results",
            format.name(),
            paths.len()
        )));
    }
    let mut loaded = Vec::new();
    for path in paths {
        match load(path) {
            Ok(result) => loaded.push(with_baseline(result, options.baseline.as_ref())?),
            Err(error @ CliError::Unreadable(_)) => {
                warn(&format!("{error}; this result is left out"));
            }
            Err(error) => return Err(error),
        }
    }
    let (read, given) = (loaded.len(), paths.len());
    if read < 2 {
        return Err(CliError::Usage(format!(
            "of {given} results only {read} can be read, which is not enough to set side by side"
        )));
    }
    let analyses: Vec<&Analysis> = loaded.iter().map(|loaded| &loaded.analysis).collect();
    let together = Together {
        fleet: Fleet::of(&analyses).map_err(|error| not_together(&error, &loaded))?,
        raw: loaded.iter().map(|loaded| loaded.raw.as_str()).collect(),
    };
    deliver(&together, options, form)?;
    Ok(Exit::done_if(read == given))
}

/// Shows results in the form that is asked for. With another baseline the page that stands stays.
fn deliver(shown: &dyn Shown, options: &ReportOptions, form: Form<'_>) -> Result<(), CliError> {
    let is_rebased = options.baseline.is_some();
    let Some(format) = form.format else {
        if !is_rebased {
            return show(shown, &options.form.print).map(drop);
        }
        print_on_terminal(shown, &options.form.print);
        note("a page that stands keeps the planned baseline; --to FILE.html writes this one");
        return Ok(());
    };
    if form.file().is_some() || format != Format::Html {
        return form.deliver(&rendered(shown, format)?);
    }
    let page = shown.page()?;
    if is_rebased {
        return Err(CliError::Usage(format!(
            "{} keeps the planned baseline; name another page with --to FILE.html",
            page.display()
        )));
    }
    replace(&page, &rendered(shown, format)?, Some(format))?;
    print(&format!("The report: {}\n", page.display()));
    Ok(())
}

fn rendered(shown: &dyn Shown, format: Format) -> Result<String, CliError> {
    Ok(match format {
        Format::Html => html::render(&shown.document(true)),
        Format::Md => markdown::render(&shown.document(false)),
        _ => shown.data(format)?,
    })
}

/// Prints results and writes the files beside them; whether the page could be written. Those that cannot be are a
/// warning: what was asked for has been printed by then.
pub(crate) fn show(shown: &dyn Shown, options: &PrintOptions) -> Result<bool, CliError> {
    let format = options.format();
    match format {
        None => print_on_terminal(shown, options),
        Some(Format::Html) => {}
        Some(format) => print(&rendered(shown, format)?),
    }
    let page = match shown.page() {
        Ok(page) => page,
        Err(error) => {
            warn(&format!("{error}; the report is printed only"));
            return Ok(false);
        }
    };
    if shown.has_summary() {
        let summary = page.with_file_name("summary.md");
        keep(&summary, &markdown::render(&shown.document(false)));
    }
    let is_kept = keep(&page, &html::render(&shown.document(true)));
    let page = page.display();
    if let (None, Some(text)) = (format, shown.next_step()) {
        print(&text);
    }
    match format {
        None if is_kept => print(&format!("\nThe report: {page}\n")),
        Some(Format::Html) if is_kept => print(&format!("The report: {page}\n")),
        _ => {}
    }
    Ok(is_kept)
}

fn print_on_terminal(shown: &dyn Shown, options: &PrintOptions) {
    let terminal = screen::terminal(options.detail());
    print(&match options.verbose {
        true => terminal::render(&shown.document(false), &terminal),
        false => terminal::on_one_screen(|rows| shown.screen(rows), &terminal),
    });
}

/// Why results are not set side by side, with their paths.
fn not_together(error: &MachinesError, loaded: &[Loaded]) -> CliError {
    let name = |place: &usize| match loaded.get(*place) {
        Some(loaded) => loaded.path.display().to_string(),
        None => format!("result {}", place + 1),
    };
    CliError::Usage(match error {
        MachinesError::SeveralStudies(studies) => {
            let texts = studies.iter().map(|(study, places)| {
                let places: Vec<String> = places.iter().map(name).collect();
                format!("{study} ({})", places.join(", "))
            });
            format!(
                "these results are not of one study at one scale: {}; give those of one",
                texts.collect::<Vec<_>>().join("; ")
            )
        }
        MachinesError::Twice(first, second) => format!(
            "{} and {} are of the same run; give it once",
            name(first),
            name(second)
        ),
        MachinesError::TooFew => error.to_string(),
    })
}

/// Writes a report beside the result; warns and returns false if that is not possible.
pub(crate) fn keep(path: &Path, text: &str) -> bool {
    match write_report(path, text) {
        Ok(Written::Yes) => return true,
        Ok(Written::NotOurs) => warn(&format!(
            "{} is left as it is, because stowplan did not write it; move it away to have the \
             report written there",
            path.display()
        )),
        Err(error) => warn(&format!("{error}; the report is printed only")),
    }
    false
}
