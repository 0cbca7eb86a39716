//! `stowplan compare`: results against each other, and whether anything regressed.

use crate::error::{CliError, Exit};
use crate::form::{DocumentOptions, Format, WITH_TABLE};
use crate::loaded::{Loaded, load};
use crate::screen::few;
use crate::values::{one_of, percent_within};
use clap::Args;
use std::path::PathBuf;
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{
    Changes, Decides, PairingError, Question, Unit, compare_sessions, judge_together, same_run,
};
use stowplan_model::CellId;
use stowplan_report::compare::{Compared, MARK, Side, Source, csv, document, json, other_machine};
use stowplan_report::render;

/// Options of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The result to compare with: its directory, or its result.jsonl.
    #[arg(value_name = "BASE", required_unless_present = "base_sessions")]
    base: Option<PathBuf>,
    /// The results to compare, each with BASE.
    #[arg(value_name = "NEW", required_unless_present = "base_sessions")]
    new: Vec<PathBuf>,
    /// Instead of BASE: results of several sessions of it, at least 2.
    #[arg(long = "base", value_name = "RESULT", num_args = 1.., requires = "new_sessions")]
    #[arg(conflicts_with_all = ["base", "new"])]
    base_sessions: Vec<PathBuf>,
    /// Instead of NEW: results of several sessions of that.
    #[arg(long = "new", value_name = "RESULT", num_args = 1.., requires = "base_sessions")]
    #[arg(conflicts_with_all = ["base", "new"])]
    new_sessions: Vec<PathBuf>,
    /// A regression is a cell that takes longer by more than this, such as 5%
    /// [default: by more than the noise].
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = threshold)]
    threshold: Option<f64>,
    /// What decides: the time itself, or the ratio to the baseline of its comparison, in which
    /// what a machine does to both cancels [default: the time, on the same machine].
    #[arg(long, value_parser = one_of(BY, |by| if by == Decides::Time { "time" } else { "ratio" }), value_name = "WHAT")]
    by: Option<Decides>,
    /// Compare this cell of BASE with that one of NEW; may be repeated. Others go by their names.
    #[arg(long, hide_short_help = true, value_name = "A=B", value_parser = pair)]
    cells: Vec<(CellId, CellId)>,
    /// Exit 2 as well where a cell that decides stayed unresolved: neither a regression nor shown to
    /// be none.
    #[arg(long, hide_short_help = true)]
    require_resolved: bool,
    /// In which form.
    #[command(flatten)]
    form: DocumentOptions,
}

/// What may decide.
const BY: &[(Decides, &str)] = &[
    (Decides::Time, "Time per operation"),
    (Decides::Ratio, "Time over the time of the baseline"),
];

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
    let form = options.form.asked(WITH_TABLE)?;
    let (base, news) = sides(options)?;
    let changes = changes(&base, &news, options)?;
    let news = news.iter().zip(changes);
    let news = news.map(|(new, changes)| Ok((side(new)?, changes)));
    let compared = Compared {
        base: side(&base)?,
        news: news.collect::<Result<_, CliError>>()?,
    };
    let document = document(&compared);
    if form.format == Some(Format::Md) {
        form.deliver(&format!("{MARK}\n{}", render::markdown::render(&document)))?;
        return conclusion(&compared, options);
    }
    form.write(
        &document,
        options.form.print.detail(),
        |format| match format {
            Format::Csv => Ok(csv(&compared)),
            _ => json(&compared),
        },
    )?;
    conclusion(&compared, options)
}

/// The results of one side, each with what the user calls it; there is one at least.
type Results = Vec<(String, Loaded)>;

fn loaded(paths: &[PathBuf]) -> Result<Results, CliError> {
    if paths.is_empty() {
        return Err(nothing_given());
    }
    let named = |path: &PathBuf| Ok((path.display().to_string(), load(path)?));
    paths.iter().map(named).collect()
}

fn analyses(results: &Results) -> Vec<&Analysis> {
    results.iter().map(|(_, loaded)| &loaded.analysis).collect()
}

fn side(results: &Results) -> Result<Side<'_>, CliError> {
    let mut sources = results.iter().map(|(name, loaded)| Source {
        name,
        analysis: &loaded.analysis,
    });
    let first = sources.next().ok_or_else(nothing_given)?;
    let more = sources.collect();
    Ok(Side { first, more })
}

fn nothing_given() -> CliError {
    CliError::Usage("give BASE and NEW, or --base and --new".to_owned())
}

/// BASE and each NEW.
fn sides(options: &CompareOptions) -> Result<(Results, Vec<Results>), CliError> {
    let (base, new) = (&options.base_sessions, &options.new_sessions);
    if !base.is_empty() && !new.is_empty() {
        return Ok((loaded(base)?, vec![loaded(new)?]));
    }
    let base = options.base.as_slice();
    let news = options.new.chunks(1).map(loaded);
    Ok((loaded(base)?, news.collect::<Result<_, _>>()?))
}

/// What each NEW changed against BASE; what regressed is judged over all of them together, because
/// any decides the exit code.
fn changes(
    base: &Results,
    news: &[Results],
    options: &CompareOptions,
) -> Result<Vec<Changes>, CliError> {
    let question = Question {
        threshold: options.threshold,
        by: options.by,
        cells: options.cells.clone(),
    };
    let mut all = Vec::new();
    for new in news {
        given_twice(base, new, &question)?;
        let changes = compare_sessions(&analyses(base), &analyses(new), &question);
        all.push(changes.map_err(|error| {
            CliError::Usage(match error {
                PairingError::Sessions { .. } => error.to_string(),
                _ => format!("--cells: {error}"),
            })
        })?);
    }
    judge_together(&mut all);
    Ok(all)
}

/// A run that was given twice is no second session. One cell of it may be compared with another.
fn given_twice(base: &Results, new: &Results, question: &Question) -> Result<(), CliError> {
    let sides = [(base, base), (new, new), (base, new)];
    let sides = sides
        .iter()
        .take(if question.cells.is_empty() { 3 } else { 2 });
    let pairs = sides.flat_map(|(side, other)| {
        let pairs = side
            .iter()
            .flat_map(|one| other.iter().map(move |two| (one, two)));
        pairs.filter(|(one, two)| !std::ptr::eq(*one, *two))
    });
    for ((one, first), (two, second)) in pairs {
        if same_run(&first.analysis, &second.analysis) {
            return Err(CliError::Usage(format!(
                "{one} and {two} are of the same run; give it once, or pair its cells with --cells"
            )));
        }
    }
    Ok(())
}

fn conclusion(compared: &Compared<'_>, options: &CompareOptions) -> Result<Exit, CliError> {
    let regressed = |changes: &Changes| changes.regressions().next().is_some();
    if compared.news.iter().any(|(_, changes)| regressed(changes)) {
        return Ok(Exit::Failed);
    }
    let quiet = options.form.print.quiet;
    let mut news = compared.news.iter();
    let unchecked = news.find_map(|(new, changes)| {
        let (base, new) = (compared.base.name(), new.name());
        unchecked(&base, &new, changes, quiet)
            .or_else(|| not_compared_as_asked(&new, changes, &options.cells, quiet))
            .or_else(|| left_open(&new, changes).filter(|_| options.require_resolved))
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
        _ if changes.checked() == 0 => Some(format!(
            "inconclusive: from {base} to {new} no cell is clearly slower, and none clearly not, so nothing was \
             checked; {}",
            measure_more(changes)
        )),
        _ => None,
    }
}

/// Which cells that decide stayed open, the first few by name; nothing where none did.
fn left_open(new: &str, changes: &Changes) -> Option<String> {
    let open: Vec<&str> = changes.unresolved().map(|cell| &*cell.0).collect();
    (!open.is_empty()).then(|| {
        format!(
            "of {new} it is open whether {} regressed, and --require-resolved was given: {}",
            few(&open),
            measure_more(changes)
        )
    })
}

/// What may resolve what is not.
fn measure_more(changes: &Changes) -> &'static str {
    match changes.unit {
        Unit::Round => "measure several sessions of each side (--base, --new)",
        Unit::Session => "measure more sessions, or on a quieter machine ('stowplan doctor')",
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
