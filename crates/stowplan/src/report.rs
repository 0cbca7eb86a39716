//! `stowplan report`: what was found, from the record of a run; and several runs of one study,
//! from several machines, side by side.

use crate::calibrate;
use crate::cli::PrintOptions;
use crate::crash;
use crate::error::{CliError, Exit};
use crate::form::{DocumentOptions, Form, Format, as_text, replace};
use crate::output::{Written, write_report};
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
        AnalysisError::NoHeader => CliError::Unreadable(no_header(&path, &raw, &problems)),
        error => CliError::Analysis {
            path: path.clone(),
            error,
        },
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
    let file = path.join("result.jsonl");
    if file.exists() {
        return Ok(file);
    }
    let entries = std::fs::read_dir(path).map_err(CliError::io("read directory", path))?;
    let below = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("result.jsonl").is_file())
        .count();
    let next = match below {
        0 => "give the directory of a run, or its result.jsonl".to_owned(),
        1 => format!("a directory in it has one: give {}/*", path.display()),
        _ => format!(
            "{below} directories in it have one: give one of them, or {}/* for several machines",
            path.display()
        ),
    };
    Err(CliError::Usage(format!(
        "{} has no result.jsonl; {next}",
        path.display()
    )))
}

/// Why nothing can be made of a file without a header, in a line.
fn no_header(path: &Path, raw: &str, problems: &[String]) -> String {
    let first = problems
        .iter()
        .find(|problem| problem.starts_with("line 1: "));
    let begun = raw.trim_start().starts_with("{\"type\":\"run\"");
    let why = match first {
        _ if raw.trim().is_empty() => {
            "it is empty, because the run ended before it recorded anything; run the study again"
                .to_owned()
        }
        _ if begun && !raw.contains('\n') => {
            "it was cut off within its first line, which says what was planned and where; run the \
             study again"
                .to_owned()
        }
        Some(problem) if raw.contains("\"type\":") => format!(
            "{problem}; that line says what was planned and where, and nothing can be made of the \
             others without it; run the study again"
        ),
        _ => "is it one of stowplan? Give the directory of a run, or its result.jsonl".to_owned(),
    };
    format!(
        "{}: there is no header of a run in it: {why}",
        path.display()
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
    loaded.analysis = analyse(&loaded.records, None).map_err(|error| CliError::Analysis {
        path: loaded.path.clone(),
        error,
    })?;
    Ok(loaded)
}

/// Renders a result again, or several together.
pub(crate) fn report(options: &ReportOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(Format::value_variants())?;
    match options.results.as_slice() {
        [one] => match crash::read(one)? {
            Some(run) => crash::report(&run, form, &options.form.print).map(|()| Exit::Done),
            None => single(one, options, form),
        },
        several => together(several, options, form),
    }
}

fn single(path: &Path, options: &ReportOptions, form: Form<'_>) -> Result<Exit, CliError> {
    let loaded = with_baseline(load(path)?, options.baseline.as_ref())?;
    let Some(format) = form.format else {
        if options.baseline.is_none() && calibrate::of(&loaded)?.is_some() {
            calibrate::present(&loaded, &options.form.print)?;
        } else if options.baseline.is_none() {
            present(&loaded, &options.form.print);
        } else {
            print_text(&loaded.analysis, &options.form.print);
            note(
                "the files beside the result keep its own baseline; --to FILE.html writes this one",
            );
        }
        return Ok(Exit::Done);
    };
    let text = rendered(&loaded, format)?;
    if form.file().is_some() || format != Format::Html {
        form.deliver(&text)?;
        return Ok(Exit::Done);
    }
    let page = loaded.path.with_file_name("report.html");
    if options.baseline.is_some() {
        return Err(CliError::Usage(format!(
            "{} keeps the planned baseline; name another page with --to FILE.html",
            page.display()
        )));
    }
    replace(&page, &text, Some(format))?;
    say_where(&page);
    Ok(Exit::Done)
}

/// A result in a format.
fn rendered(loaded: &Loaded, format: Format) -> Result<String, CliError> {
    let analysis = &loaded.analysis;
    Ok(match format {
        Format::Html => html::render(&run::document(analysis, &loaded.raw)),
        Format::Md => markdown::render(&run::document(analysis, "")),
        Format::Csv => csv::render(analysis),
        Format::Json => as_text(json::render(analysis))?,
        Format::GithubActionBenchmark => as_text(github_action::render(analysis))?,
    })
}

fn say_where(page: &Path) {
    print(&format!("The report: {}\n", page.display()));
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
    let mut left_out = 0;
    for path in paths {
        match load(path) {
            Ok(result) => loaded.push(with_baseline(result, options.baseline.as_ref())?),
            Err(error @ (CliError::Unreadable(_) | CliError::Analysis { .. })) => {
                warn(&format!("{error}; this result is left out"));
                left_out += 1;
            }
            Err(error) => return Err(error),
        }
    }
    if loaded.len() < 2 {
        return Err(CliError::Usage(format!(
            "of {} results only {} can be read, which is not enough to set side by side",
            paths.len(),
            loaded.len()
        )));
    }
    let analyses: Vec<&Analysis> = loaded.iter().map(|loaded| &loaded.analysis).collect();
    let fleet = Fleet::of(&analyses).map_err(|error| not_together(&error, &loaded))?;
    write_together(&fleet, &loaded, options, form)?;
    Ok(if left_out > 0 {
        Exit::Failed
    } else {
        Exit::Done
    })
}

fn write_together(
    fleet: &Fleet<'_>,
    loaded: &[Loaded],
    options: &ReportOptions,
    form: Form<'_>,
) -> Result<(), CliError> {
    let page = || {
        let raw: Vec<&str> = loaded.iter().map(|loaded| loaded.raw.as_str()).collect();
        html::render(&fleet.document(&raw))
    };
    let text = match form.format {
        None => {
            print_together(fleet, options, page);
            return Ok(());
        }
        Some(Format::Md) => markdown::render(&fleet.document(&[])),
        Some(Format::Csv) => fleet.csv(),
        Some(Format::Json) => as_text(fleet.json())?,
        Some(Format::Html | Format::GithubActionBenchmark) => page(),
    };
    if form.file().is_some() || form.format != Some(Format::Html) {
        return form.deliver(&text);
    }
    let path = page_of_machines(fleet)?;
    if options.baseline.is_some() {
        return Err(CliError::Usage(format!(
            "{} is for the planned baseline; name another page with --to FILE.html",
            path.display()
        )));
    }
    replace(&path, &text, form.format)?;
    say_where(&path);
    Ok(())
}

/// On the terminal, with a page of the machines that belongs to none of them.
fn print_together(fleet: &Fleet<'_>, options: &ReportOptions, page: impl Fn() -> String) {
    let print_options = &options.form.print;
    if print_options.verbose {
        print_document(&fleet.document(&[]), print_options);
    } else {
        let terminal = screen::terminal(print_options.detail());
        print(&terminal::on_one_screen(
            |rows| fleet.screen(rows),
            &terminal,
        ));
    }
    if options.baseline.is_some() {
        note("no page is written of this baseline; --to FILE.html writes one");
        return;
    }
    match page_of_machines(fleet) {
        Ok(path) if keep(&path, &page()) => {
            print(&format!("\nThe report: {}\n", path.display()));
        }
        Ok(_) => {}
        Err(error) => warn(&format!("{error}; the report is printed only")),
    }
}

/// Where the page of several results is written unless told: it belongs to none of them. What a
/// study measures at another scale than its own has a page of its own.
fn page_of_machines(fleet: &Fleet<'_>) -> Result<PathBuf, CliError> {
    let directory = Path::new("stowplan-results");
    std::fs::create_dir_all(directory).map_err(CliError::io("create directory", directory))?;
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let scale = match fleet.scale() {
        STANDARD_SCALE => String::new(),
        scale => format!("-{scale}"),
    };
    let name = format!("{}{scale}", fleet.study());
    // Names of files have an end.
    let name: String = name.chars().take(120).map(plain).collect();
    Ok(directory.join(format!("machines-{name}.html")))
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

/// Analyses a result, prints it and writes the files beside it. Those that cannot be written are
/// a warning: what was asked for has been printed by then.
pub(crate) fn show(result: &Path, options: &PrintOptions) -> Result<Analysis, CliError> {
    let loaded = load(result)?;
    match options.format() {
        None => present(&loaded, options),
        Some(format) => {
            if format != Format::Html {
                print(&rendered(&loaded, format)?);
            }
            if let Some(page) = keep_files(&loaded)
                && format == Format::Html
            {
                say_where(&page);
            }
        }
    }
    Ok(loaded.analysis)
}

fn present(loaded: &Loaded, options: &PrintOptions) {
    print_text(&loaded.analysis, options);
    let page = keep_files(loaded);
    print(&more_time(loaded).unwrap_or_default());
    if let Some(page) = page {
        print(&format!("\nThe report: {}\n", page.display()));
    }
}

/// What to type for an answer that was cut short to go on with the same values.
fn more_time(loaded: &Loaded) -> Option<String> {
    let end = loaded.analysis.end.as_ref();
    let is_whole = end.is_some_and(|end| end.outcome == RunOutcome::Complete);
    loaded.analysis.advice.as_ref().filter(|_| !is_whole)?;
    let directory = loaded.path.parent()?.to_string_lossy();
    let command = format!("stowplan resume {}", quoted(&directory));
    Some(format!("More rounds of the same values: {command}\n"))
}

/// Writes the files beside a result, and says where the page is if it could be written.
fn keep_files(loaded: &Loaded) -> Option<PathBuf> {
    let Loaded {
        path,
        raw,
        analysis,
        ..
    } = loaded;
    let page = path.with_file_name("report.html");
    keep(
        &path.with_file_name("summary.md"),
        &markdown::render(&run::document(analysis, "")),
    );
    keep(&page, &html::render(&run::document(analysis, raw))).then_some(page)
}

fn print_text(analysis: &Analysis, options: &PrintOptions) {
    if options.verbose {
        return print_document(&run::document(analysis, ""), options);
    }
    let screen = |rows| run::screen(analysis, rows);
    let options = screen::terminal(options.detail());
    print(&terminal::on_one_screen(screen, &options));
}

fn print_document(document: &Document, options: &PrintOptions) {
    print(&terminal::render(
        document,
        &screen::terminal(options.detail()),
    ));
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
