//! `stowplan compare`: results against each other, and whether anything regressed.

use crate::cli::PrintOptions;
use crate::error::{CliError, Exit};
use crate::form::{FormOptions, Format};
use crate::report::{Loaded, load};
use crate::values::percent_within;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use stowplan_analysis::compare::{Changes, Decides, Question, same_run};
use stowplan_model::CellId;
use stowplan_report::compare::{Compared, MARK, Source, csv, document, json, other_machine};
use stowplan_report::render;

pub(crate) const EXAMPLES: &str = "\
Examples:
  stowplan compare before after       did anything get slower? exit 1 if so
  stowplan compare before after --threshold 5%
                                      by more than 5%
  stowplan compare before after --format md > comment.md
                                      a comment for a pull request
  stowplan compare before after --output changes.html
                                      a page; .md, .csv and .json as well
  stowplan compare laptop server --by ratio
                                      other machines: did ratios change?
  stowplan compare result result --cells read/sql=read/blob
                                      one cell against another

What it can tell and what it cannot: docs/compare.md.";

/// Options of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The result to compare with: its directory, or its result.jsonl.
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// The results to compare, each with BASE.
    #[arg(value_name = "NEW", required = true)]
    new: Vec<PathBuf>,
    /// A regression is a cell that takes longer by more than this, such as 5%
    /// [default: by more than the noise].
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = threshold)]
    threshold: Option<f64>,
    /// What decides: the time itself, or the ratio to the baseline of its comparison, in which
    /// what a machine does to both cancels [default: the time, on the same machine].
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<ByArgument>,
    /// Compare this cell of BASE with that one of NEW; may be repeated. Others go by their names.
    #[arg(long, value_name = "A=B", value_parser = pair)]
    cells: Vec<(CellId, CellId)>,
    /// Short for '--format md'.
    #[arg(long, conflicts_with_all = ["json", "quiet", "verbose", "format"])]
    markdown: bool,
    /// In which form.
    #[command(flatten)]
    form: FormOptions<true>,
    /// How to print.
    #[command(flatten)]
    print: PrintOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ByArgument {
    /// Time per operation.
    Time,
    /// Time over the time of the baseline.
    Ratio,
}

/// `5%`, as a share.
fn threshold(text: &str) -> Result<f64, String> {
    percent_within(text, 0.1, 1000.0)
}

/// `read/sql=read/blob`
fn pair(text: &str) -> Result<(CellId, CellId), String> {
    match text.split_once('=') {
        Some((a, b)) if !a.is_empty() && !b.is_empty() => {
            Ok((CellId(a.to_owned()), CellId(b.to_owned())))
        }
        _ => Err("write a cell of BASE, '=' and a cell of NEW: read/sql=read/blob".to_owned()),
    }
}

/// Compares results and prints what changed.
///
/// # Errors
/// A result that cannot be read or is given twice, a cell that does not exist, a pair asked for that
/// cannot be compared, or nothing that could be judged: a check that checked nothing must not pass.
pub(crate) fn compare(options: &CompareOptions) -> Result<Exit, CliError> {
    let markdown = options.markdown.then_some(Format::Md);
    let form = options
        .form
        .asked(markdown.or(Format::json(options.print.json)))?;
    let base = load(&options.base)?;
    let news: Vec<Loaded> = options
        .new
        .iter()
        .map(|path| load(path))
        .collect::<Result<_, _>>()?;
    let base_name = options.base.display().to_string();
    let names: Vec<String> = options
        .new
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut compared = Compared {
        base: Source {
            name: &base_name,
            analysis: &base.analysis,
        },
        news: Vec::new(),
    };
    let question = question(options);
    for (name, new) in names.iter().zip(&news) {
        let analysis = &new.analysis;
        if question.cells.is_empty() && same_run(&base.analysis, analysis) {
            return Err(CliError::Usage(format!(
                "{base_name} and {name} are of the same run; give it once, or pair its cells with \
                 --cells"
            )));
        }
        let changes = stowplan_analysis::compare::compare(&base.analysis, analysis, &question)
            .map_err(|error| CliError::Usage(format!("--cells: {error}")))?;
        compared.news.push((Source { name, analysis }, changes));
    }
    let document = document(&compared);
    if form.format == Some(Format::Md) {
        form.deliver(&format!("{MARK}\n{}", render::markdown::render(&document)))?;
        return conclusion(&compared, &question, options.print.quiet);
    }
    form.write(&document, options.print.detail(), |format| match format {
        Format::Csv => Ok(csv(&compared)),
        _ => json(&compared),
    })?;
    conclusion(&compared, &question, options.print.quiet)
}

fn question(options: &CompareOptions) -> Question {
    Question {
        threshold: options.threshold,
        by: options.by.map(|by| match by {
            ByArgument::Time => Decides::Time,
            ByArgument::Ratio => Decides::Ratio,
        }),
        cells: options.cells.clone(),
    }
}

fn conclusion(compared: &Compared<'_>, question: &Question, quiet: bool) -> Result<Exit, CliError> {
    let regressed = |changes: &Changes| changes.regressions().next().is_some();
    if compared.news.iter().any(|(_, changes)| regressed(changes)) {
        return Ok(Exit::Failed);
    }
    let mut news = compared.news.iter();
    let unchecked = news.find_map(|(new, changes)| {
        unchecked(compared.base.name, new.name, changes, quiet)
            .or_else(|| not_compared_as_asked(new.name, changes, &question.cells, quiet))
    });
    match unchecked {
        None => Ok(Exit::Done),
        Some(why) => Err(CliError::Usage(why)),
    }
}

/// Why nothing of NEW was checked, if so.
fn unchecked(base: &str, new: &str, changes: &Changes, quiet: bool) -> Option<String> {
    if changes.cells.is_empty() {
        let where_why = unless_listed(quiet, "; without --quiet, the reasons are listed");
        return Some(format!(
            "no cell of {new} can be compared with one of {base}, so nothing was checked{where_why}"
        ));
    }
    let mut cells = changes.cells.iter();
    match changes.decides {
        Decides::Nothing => Some(format!(
            "{new}: the machines differ ({}): nothing was judged; give --threshold or --by",
            other_machine(changes)
        )),
        by if cells.all(|cell| cell.decisive(by).is_none()) => Some(format!(
            "no cell of {new} has a ratio to a baseline that is the same in {base}: nothing was \
             judged; leave out --by ratio"
        )),
        _ => None,
    }
}

/// Which pair that was asked for was not compared, if one was not.
fn not_compared_as_asked(
    new: &str,
    changes: &Changes,
    asked: &[(CellId, CellId)],
    quiet: bool,
) -> Option<String> {
    let compared = |(a, b): &(CellId, CellId)| {
        let mut cells = changes.cells.iter();
        let mut floors = changes.floors.iter();
        cells.any(|cell| (&cell.base, &cell.new) == (a, b))
            || (a == b && floors.any(|floor| floor.cell == *a))
    };
    let (a, b) = asked.iter().find(|pair| !compared(pair))?;
    let where_why = unless_listed(quiet, "; without --quiet, the reason is listed");
    Some(format!(
        "--cells {a}={b}: the two cannot be compared in {new}{where_why}"
    ))
}

/// How to be told the reasons, to those who asked for nothing but verdicts; the others read them
/// already.
fn unless_listed(quiet: bool, how: &'static str) -> &'static str {
    if quiet { how } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_and_pairs_are_read() {
        assert_eq!(threshold("5%"), Ok(0.05));
        for bad in ["0", "10", "0.25", "-5%", "nan", "inf%", "lots", "2000%"] {
            assert!(threshold(bad).is_err(), "{bad}");
        }
        let cell = |id: &str| CellId(id.to_owned());
        assert_eq!(pair("a/b=c/d"), Ok((cell("a/b"), cell("c/d"))));
        for bad in ["a/b", "=c/d", "a/b="] {
            assert!(pair(bad).is_err(), "{bad}");
        }
    }
}
