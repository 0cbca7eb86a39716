//! `stowplan report`: what was found, from the record of a run; and several runs of one study,
//! from several machines, side by side.

use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, DocumentOptions, Form, Format, replace};
use crate::loaded::{Loaded, load};
use crate::output::plain;
use crate::screen::{note, print, warn};
use crate::shown::{Shown, print_on_terminal, rendered, show};
use crate::{calibrate, crash};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use stowplan_analysis::{Analysis, MachinesError, rebase};
use stowplan_harness::plan::STANDARD_SCALE;
use stowplan_report::document::Document;
use stowplan_report::fleet::Fleet;

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
