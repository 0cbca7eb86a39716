//! `stowplan claims`: what published studies state, what would decide it, and what machines say of it.

mod held;

use crate::error::{CliError, Exit};
use crate::form::{DocumentOptions, Format, WITH_TABLE};
use crate::report::load;
use crate::{places, studies};
use clap::Args;
use std::path::{Path, PathBuf};
use stowplan_analysis::{Analysis, ledger};
use stowplan_model::Study;
use stowplan_report::claims::Claims;

/// The file that a run leaves in its directory.
const RESULT: &str = "result.jsonl";

/// Options of `claims`.
#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Directories of results, or their result.jsonl, of any studies and machines; or a directory that
    /// has some in it.
    #[arg(value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// Only the claims of this study, a built-in one or a file; may be repeated.
    #[arg(long = "of", value_name = "NAME|FILE.toml")]
    studies: Vec<String>,
    /// In which form.
    #[command(flatten)]
    form: DocumentOptions,
}

/// Lists claims, with what results say of them.
///
/// # Errors
/// A result that cannot be read, or a study that does not exist.
pub(crate) fn claims(options: &ClaimsOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(WITH_TABLE)?;
    let studies = asked(&options.studies)?;
    let results = results(&options.results);
    let mut loaded = Vec::new();
    for path in &results {
        loaded.push(held::with_claims(load(path)?, &studies)?);
    }
    let analyses: Vec<&Analysis> = loaded.iter().map(|loaded| &loaded.analysis).collect();
    let wanted = |analysis: &&Analysis| {
        let name = &analysis.run.plan.study.name;
        options.studies.is_empty() || studies.iter().any(|study| study.name == *name)
    };
    let analyses: Vec<&Analysis> = analyses.into_iter().filter(wanted).collect();
    let expanded: Vec<Study> = studies.into_iter().map(Study::expanded).collect();
    let claims = Claims::of(ledger(&analyses, &expanded));
    form.write(
        &claims.document(),
        options.form.print.detail(),
        |format| match format {
            Format::Csv => Ok(claims.csv()),
            _ => claims.json(),
        },
    )?;
    Ok(Exit::Done)
}

/// The results that are meant: of a directory that is none and has some in it, those.
fn results(named: &[PathBuf]) -> Vec<PathBuf> {
    let is_result = |path: &Path| path.join(RESULT).is_file();
    let meant = named.iter().flat_map(|path| {
        let entries = path.read_dir().ok().filter(|_| !is_result(path));
        let below = entries.into_iter().flatten().flatten();
        let mut below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
        below.retain(|path| is_result(path));
        below.sort();
        match below.is_empty() {
            true => vec![path.clone()],
            false => below,
        }
    });
    meant.collect()
}

/// The studies that are asked for, or all built-in ones with claims.
fn asked(names: &[String]) -> Result<Vec<Study>, CliError> {
    if names.is_empty() {
        let mut studies = studies::built_in()?;
        studies.retain(|study| !study.claims.is_empty());
        return Ok(studies);
    }
    let found = names.iter().map(|name| {
        let mut study = studies::find(name, &[])?;
        places::look(&mut study)?;
        match study.claims.is_empty() {
            true => Err(CliError::Usage(format!(
                "--of {name}: the study states no claim; docs/study-format.md says how it would"
            ))),
            false => Ok(study),
        }
    });
    found.collect()
}
