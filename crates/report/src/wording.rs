//! Verdicts in sentences: plain, exact, and never more than the analysis found.

use crate::{crossover, format, labels, quantity};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, ContrastOutcome, Metric, RatioEstimate, Verdict,
};
use stowplan_model::{
    Action, CacheState, Delivery, DurabilityClaim, Mix, Operation, PerTransaction, Role,
    RunOutcome, Warning, Workload,
};

/// What one comparison found, in sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// Name of the comparison in the study file.
    pub id: String,
    /// Title of the comparison.
    pub title: String,
    /// Which is fastest, in a sentence.
    pub headline: String,
    /// What that means for the user, in a sentence.
    pub advice: String,
    /// One sentence per ratio of stores; none where the headline already says that nothing is
    /// claimed of any of them.
    pub statements: Vec<Statement>,
    /// What the two identical cells showed, and what follows for the ratios.
    pub noise: String,
}

/// One verdict as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the ratio is to the baseline of the comparison.
    pub to_baseline: bool,
    /// The sentence.
    pub text: String,
}

/// The findings of every comparison, in running order.
#[must_use]
pub fn findings(analysis: &Analysis) -> Vec<Findings> {
    let analysis = &*labels::told_apart(analysis);
    let comparisons = analysis.comparisons.iter();
    comparisons
        .map(|comparison| findings_of(analysis, comparison))
        .collect()
}

/// The findings of one comparison.
pub(crate) fn findings_of(analysis: &Analysis, comparison: &ComparisonOutcome) -> Findings {
    Findings {
        id: comparison.id.clone(),
        title: comparison.title.clone(),
        headline: headline(analysis, comparison),
        advice: advice(analysis, comparison),
        statements: statements(analysis, comparison),
        noise: noise(comparison),
    }
}

/// `7 comparisons`
pub(crate) fn comparisons(count: usize) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} comparison{s}")
}

/// How the run ended, if that qualifies what it found.
#[must_use]
pub fn ending(analysis: &Analysis) -> Option<String> {
    let Some(end) = &analysis.end else {
        return Some("The run was cut off; what it had measured until then is shown.".to_owned());
    };
    let after = format::seconds(end.seconds);
    match end.outcome {
        RunOutcome::Complete => None,
        RunOutcome::Budget => Some(format!(
            "The time budget {}; the run took {after}. A larger --budget narrows what is \
             unresolved.",
            cut(analysis)
        )),
        RunOutcome::Interrupted => Some(format!(
            "The run was interrupted after {after}; what it had measured until then is shown."
        )),
    }
}

/// What a time budget did: each comparison has a share of it, and those that come after its end
/// have nothing.
fn cut(analysis: &Analysis) -> String {
    let failed = |comparison: &ComparisonOutcome| {
        let mut failures = analysis.failures.iter();
        failures.any(|failure| comparison.cell(&failure.cell).is_some())
    };
    let left_out = analysis.comparisons.iter();
    let left_out = left_out.filter(|c| !c.was_measured() && !failed(c)).count();
    if left_out == 0 {
        return "cut some comparisons short".to_owned();
    }
    format!("left {} unmeasured", comparisons(left_out))
}

/// A verdict in one or two words, for tables.
#[must_use]
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::SmallDifference => "small diff.",
        Verdict::Unresolved => "unresolved",
        Verdict::Unreliable => "not claimed",
        Verdict::NoData => "no data",
    }
}

/// A warning and what to do about it.
#[must_use]
pub fn warning(warning: &Warning) -> String {
    let stopped = |text: &str| format!("{}.", text.trim_end_matches('.'));
    format!("{} {}", stopped(&warning.message), stopped(&warning.advice))
}

/// `3 warnings: The disk was busy. …; without --quiet they are listed`: that there is something to
/// know before believing the answers.
pub(crate) fn warnings_in_brief(analysis: &Analysis) -> Option<String> {
    let counted = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let (warnings, failures) = (&analysis.warnings, &analysis.failures);
    let counts = [
        counted(warnings.len(), "warning"),
        counted(failures.len(), "failed cell"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let first = match (warnings.first(), failures.first()) {
        (Some(warning), _) => warning.message.clone(),
        (None, failure) => format!("{}: {}", failure?.cell, failure?.message),
    };
    let first = first.split(". ").next()?.trim_end_matches('.');
    let all = if warnings.len() + failures.len() == 1 {
        "without --quiet it is shown"
    } else {
        "without --quiet they are listed"
    };
    Some(format!("{}: {first}; {all}.", list(&counts)))
}

/// Which time the ratios of a comparison are of.
#[must_use]
pub fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Corrected => "corrected time (wall time minus the wait for a CPU)",
        Metric::Wall => "wall time",
    }
}

/// The headline time of one operation, in nanoseconds; not a number without data.
pub(crate) fn headline_time(cell: &CellSummary) -> f64 {
    cell.time_ns.map_or(cell.wall_ns, |time| time.estimate)
}

/// The equivalence zone of the run as a percentage.
pub(crate) fn zone(analysis: &Analysis) -> String {
    format::percent(analysis.run.equivalence)
}

/// The ratio of a cell to the baseline and the verdict on it, where it was asked for; of the
/// control too.
pub(crate) fn to_baseline(
    comparison: &ComparisonOutcome,
    cell: &CellSummary,
) -> Option<(Option<RatioEstimate>, Verdict)> {
    if cell.cell.role == Role::Control {
        // It is a copy of the planned baseline, which may not be the one that ratios are to.
        let is_original = |other: &&CellSummary| other.cell.key == cell.cell.key;
        let mut candidates = comparison.cells.iter();
        if candidates.any(|other| other.cell.role == Role::Candidate && is_original(&other)) {
            return None;
        }
        let control = comparison.control.as_ref()?;
        return Some((Some(control.estimate), control.verdict));
    }
    let baseline = baseline(comparison)?;
    let mut contrasts = comparison.contrasts.iter();
    contrasts
        .find(|c| c.cell == cell.cell.id && c.reference == baseline.cell.id)
        .map(|contrast| (contrast.estimate, contrast.verdict))
}

/// The cell that the others are compared with.
pub(crate) fn baseline(comparison: &ComparisonOutcome) -> Option<&CellSummary> {
    let mut cells = comparison.cells.iter();
    cells.find(|cell| cell.cell.role == Role::Baseline)
}

/// The cells between which someone could choose: neither the control nor a floor.
pub(crate) fn rivals(comparison: &ComparisonOutcome) -> Vec<&CellSummary> {
    let cells = comparison.cells.iter();
    cells
        .filter(|cell| matches!(cell.cell.role, Role::Baseline | Role::Candidate))
        .collect()
}

/// The cells with this verdict against the baseline, the one with the smallest ratio first.
pub(crate) fn with_verdict(
    comparison: &ComparisonOutcome,
    wanted: Verdict,
) -> Vec<(&CellSummary, RatioEstimate)> {
    let mut found: Vec<_> = rivals(comparison)
        .into_iter()
        .filter_map(|cell| {
            let (estimate, verdict) = to_baseline(comparison, cell)?;
            (verdict == wanted).then_some((cell, estimate?))
        })
        .collect();
    found.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    found
}

fn headline(analysis: &Analysis, comparison: &ComparisonOutcome) -> String {
    let Some(baseline) = baseline(comparison) else {
        return "No verdict: the baseline was not measured.".to_owned();
    };
    if !comparison.reliable {
        return format!("No verdict: {}.", session_unreliable(comparison));
    }
    if let Some(winner) = comparison.fastest() {
        let label = quoted(&winner.cell.label);
        let factor = to_baseline(comparison, winner).and_then(|(estimate, _)| estimate);
        let factor = factor.map(|estimate| {
            let base = quoted(&baseline.cell.label);
            format!(", {} as {base}", times_as_fast(&estimate))
        });
        let factor = factor.unwrap_or_default();
        let others = if rivals(comparison)
            .iter()
            .all(|cell| same_work(cell, baseline))
        {
            "each of the others"
        } else {
            "each of the others that do the same work"
        };
        let rest = at_rest(comparison, winner, baseline)
            .filter(AtRest::reverses)
            .and_then(|rest| rest.sooner_than(winner))
            .map_or_else(String::new, |sooner| format!(" But {sooner}."));
        return format!("Fastest: {label}{factor}. It beats {others}.{rest}");
    }
    let base = quoted(&baseline.cell.label);
    let faster = with_verdict(comparison, Verdict::Faster);
    if !faster.is_empty() {
        let named = faster.iter().map(|(cell, estimate)| {
            let caveat = durability_difference(cell, baseline).unwrap_or_default();
            let label = quoted(&cell.cell.label);
            format!("{label} ({}{caveat})", times_as_fast(estimate))
        });
        let named = list(&named.collect::<Vec<_>>());
        let open = no_single_fastest(comparison);
        return format!("Faster than {base}: {named}.{open}");
    }
    let verdicts: Vec<Verdict> = rivals(comparison)
        .into_iter()
        .filter_map(|cell| to_baseline(comparison, cell))
        .map(|(_, verdict)| verdict)
        .collect();
    if !verdicts.is_empty() && verdicts.iter().all(|v| *v == Verdict::Equivalent) {
        return format!("No difference that matters: all are equivalent to {base}.");
    }
    if verdicts.iter().all(|v| *v == Verdict::NoData) {
        return "No verdict yet: no ratio has data.".to_owned();
    }
    if verdicts.iter().all(is_open) {
        return "No verdict yet: nothing was decided.".to_owned();
    }
    format!(
        "Nothing was shown to be faster than {base} by more than {}.",
        zone(analysis)
    )
}

/// Why none is called fastest, if there is a choice of several. A cell that does other work than
/// the baseline is not asked.
fn no_single_fastest(comparison: &ComparisonOutcome) -> &'static str {
    let all = rivals(comparison);
    let Some(baseline) = baseline(comparison) else {
        return "";
    };
    let rivals: Vec<_> = all
        .iter()
        .filter(|cell| same_work(cell, baseline))
        .collect();
    let mut claims = rivals.iter().map(|cell| claim(cell));
    let first = claims.next();
    if claims.any(|claim| Some(claim) != first) {
        " None is called the fastest, because they do not all promise the same."
    } else if rivals.len() > 2 {
        " None of them was shown to beat each of the others."
    } else if rivals.len() < all.len() {
        " None is called the fastest, because they do not all do the same work."
    } else {
        ""
    }
}

fn advice(analysis: &Analysis, comparison: &ComparisonOutcome) -> String {
    let Some(baseline) = baseline(comparison) else {
        return "See the failures.".to_owned();
    };
    if !comparison.reliable {
        let what = match comparison.control {
            Some(_) => "run it again on a quieter machine",
            None => "its control has too few rounds: go on with it, or run it again",
        };
        return format!("Claim nothing from this comparison; {what}.");
    }
    let work = work(analysis, baseline);
    let base = quoted(&baseline.cell.label);
    if let Some(winner) = comparison.fastest() {
        let verb = if winner.cell.id == baseline.cell.id {
            "stay with"
        } else {
            "use"
        };
        let depends = at_rest(comparison, winner, baseline).and_then(|rest| rest.depends(winner));
        let winner = quoted(&winner.cell.label);
        let choice = depends.unwrap_or_else(|| format!("{verb} {winner}"));
        return format!("On this machine, {work}, {choice}.");
    }
    if let Some(preference) = preference(comparison, baseline) {
        let Preference {
            cell,
            choice,
            condition,
            alternatives,
            ..
        } = preference;
        let depends = at_rest(comparison, cell, baseline).and_then(|rest| rest.depends(cell));
        let choice = depends.unwrap_or(choice);
        return format!("On this machine, {work}, {choice}{condition}{alternatives}.");
    }
    let verdicts: Vec<Verdict> = rivals(comparison)
        .into_iter()
        .filter_map(|cell| to_baseline(comparison, cell))
        .map(|(_, verdict)| verdict)
        .collect();
    if verdicts.iter().all(is_open) {
        return format!(
            "On this machine, {work}, nothing was decided: measure again, with more rounds or on a \
             quieter machine{}.",
            promising_more(comparison, baseline)
        );
    }
    if verdicts.iter().any(is_open) {
        format!(
            "On this machine, {work}, nothing measured so far is a reason to leave {base}; some \
             cells have no verdict yet{}.",
            promising_more(comparison, baseline)
        )
    } else {
        format!(
            "On this machine, {work}, speed is no reason to leave {base}{}.",
            promising_more(comparison, baseline)
        )
    }
}

/// Whether more rounds may change a verdict.
pub(crate) fn is_open(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unresolved | Verdict::NoData)
}

/// What bringing the data to rest makes of a choice, where the totals of both are known.
pub(crate) struct AtRest<'a> {
    /// How many times as fast as the baseline the chosen cell is by total times; nothing if it is
    /// the baseline.
    pub(crate) factor: Option<f64>,
    /// What is done sooner than the chosen cell: the baseline, or what does the same work with the
    /// same promise.
    pub(crate) sooner: Option<&'a CellSummary>,
}

/// Factors of totals that are closer than this are not told apart: they have no interval.
const NOTABLY: f64 = 1.1;

/// See [`AtRest`].
pub(crate) fn at_rest<'a>(
    comparison: &'a ComparisonOutcome,
    chosen: &CellSummary,
    baseline: &'a CellSummary,
) -> Option<AtRest<'a>> {
    let ours = chosen.total_ns?;
    let is_baseline = chosen.cell.id == baseline.cell.id;
    let factor = baseline.total_ns.filter(|_| !is_baseline);
    let factor = factor.map(|theirs| theirs / ours);
    let alike = |cell: &CellSummary| claim(cell) == claim(chosen) && same_work(cell, chosen);
    let mut sooner: Vec<(f64, &CellSummary)> = rivals(comparison)
        .into_iter()
        .filter_map(|cell| Some((cell.total_ns?, cell)))
        .filter(|(total, cell)| {
            // It is the answer itself that is wrong if the baseline is ahead, however little.
            let by = if cell.cell.id == baseline.cell.id {
                1.0
            } else {
                NOTABLY
            };
            *total * by < ours && (alike(cell) || cell.cell.id == baseline.cell.id)
        })
        .collect();
    sooner.sort_by(|a, b| a.0.total_cmp(&b.0));
    let sooner = sooner.first().map(|(_, cell)| *cell);
    Some(AtRest { factor, sooner })
}

impl AtRest<'_> {
    /// Whether the choice is none: it is slower than the baseline, or is the baseline and slower
    /// than another one.
    pub(crate) fn reverses(&self) -> bool {
        self.sooner.is_some() && self.factor.is_none_or(|factor| factor < 1.0)
    }

    /// `it depends on when the data must rest: A answers sooner, B is done sooner`, if it does.
    fn depends(&self, chosen: &CellSummary) -> Option<String> {
        let both = self.both(chosen)?;
        Some(format!("it depends on when the data must rest: {both}"))
    }

    /// `A answers sooner, B is done sooner`, if that is so.
    pub(crate) fn both(&self, chosen: &CellSummary) -> Option<String> {
        let sooner = self.sooner.filter(|_| self.reverses())?;
        let (ours, theirs) = (quoted(&chosen.cell.label), quoted(&sooner.cell.label));
        Some(format!("{ours} answers sooner, {theirs} is done sooner"))
    }

    /// `5.18 µs against 12.2 µs`: the total times of what is done sooner and of the chosen cell.
    fn totals(sooner: &CellSummary, chosen: &CellSummary) -> String {
        let time = |cell: &CellSummary| cell.total_ns.map_or_else(String::new, format::time);
        format!("{} against {}", time(sooner), time(chosen))
    }

    /// `with bringing the data to rest, B is done sooner: 5.18 µs against 12.2 µs`, if it is.
    pub(crate) fn sooner_than(&self, chosen: &CellSummary) -> Option<String> {
        let sooner = self.sooner?;
        Some(format!(
            "with bringing the data to rest, {} is done sooner: {}",
            quoted(&sooner.cell.label),
            Self::totals(sooner, chosen)
        ))
    }

    /// The end of a sentence that says how many times as fast the chosen cell is: what the same
    /// comes to when the data is at rest, where that is notably another factor, and who is done
    /// sooner.
    pub(crate) fn note(&self, chosen: &CellSummary, speed: Option<f64>) -> String {
        if let Some(sooner) = self.sooner.filter(|_| self.reverses()) {
            let totals = Self::totals(chosen, sooner);
            return format!("; with bringing the data to rest {totals}");
        }
        let notably = |a: f64, b: f64| a.max(b) > a.min(b) * NOTABLY;
        let factor = self.factor.zip(speed);
        let factor = factor.filter(|(total, speed)| notably(*total, *speed));
        let factor = factor.map(|(total, _)| {
            let factor = format::ratio(total);
            format!("; with bringing the data to rest {factor}×")
        });
        match (factor, self.sooner) {
            (Some(factor), Some(sooner)) => format!(
                "{factor}, and {} is done sooner: {}",
                quoted(&sooner.cell.label),
                Self::totals(sooner, chosen)
            ),
            (Some(factor), None) => factor,
            (None, _) => self
                .sooner_than(chosen)
                .map_or_else(String::new, |sooner| format!("; {sooner}")),
        }
    }
}

/// `; with more threads: B, 12.1×`: what is faster still, promises the same as the chosen cell, and
/// does other work, so that it is no rival of it.
pub(crate) fn with_other_work(
    comparison: &ComparisonOutcome,
    chosen: &CellSummary,
    baseline: &CellSummary,
) -> String {
    // What is faster than the baseline beats it if that is the choice.
    let fastest = to_baseline(comparison, chosen).and_then(|(estimate, _)| estimate);
    let is_done_sooner = |cell: &CellSummary| {
        let totals = [chosen.total_ns, baseline.total_ns].into_iter().flatten();
        let ours = cell.total_ns.unwrap_or(0.0);
        totals.into_iter().all(|theirs| ours <= theirs)
    };
    let faster = with_verdict(comparison, Verdict::Faster).into_iter();
    let mut found = faster.filter(|(cell, estimate)| {
        claim(cell) == claim(chosen)
            && !same_work(cell, chosen)
            && fastest.is_none_or(|fastest| estimate.high < fastest.low)
            && is_done_sooner(cell)
    });
    found.next().map_or_else(String::new, |(cell, estimate)| {
        format!(
            "; {}: {}, {}×",
            other_work(&cell.cell.workload, &chosen.cell.workload),
            quoted(&cell.cell.label),
            format::ratio(1.0 / estimate.ratio)
        )
    })
}

/// `with more per transaction and more threads`
fn other_work(theirs: &Workload, ours: &Workload) -> String {
    let per = |workload: &Workload| match workload.per_transaction {
        PerTransaction::Operations(number) => number,
        PerTransaction::All => u32::MAX,
    };
    let more: Vec<String> = [
        (per(theirs) > per(ours), "more per transaction"),
        (theirs.threads > ours.threads, "more threads"),
    ]
    .into_iter()
    .filter(|(is_so, _)| *is_so)
    .map(|(_, what)| what.to_owned())
    .collect();
    if more.is_empty() {
        return "doing other work".to_owned();
    }
    format!("with {}", list(&more))
}

/// `; A promises more (durable, atomic against none)`: cells that keep what the baseline does and
/// more, so that advice on speed is not taken for advice on safety.
fn promising_more(comparison: &ComparisonOutcome, baseline: &CellSummary) -> String {
    let Some(ours) = claim(baseline) else {
        return String::new();
    };
    let more: Vec<(String, DurabilityClaim)> = rivals(comparison)
        .into_iter()
        .filter_map(|cell| {
            let theirs = claim(cell).filter(|theirs| *theirs != ours && theirs.covers(&ours))?;
            Some((quoted(&cell.cell.label), theirs))
        })
        .collect();
    match more.as_slice() {
        [] => String::new(),
        [(label, theirs)] => format!("; {label} promises more ({theirs} against {ours})"),
        [(label, theirs), others @ ..] => format!(
            "; {label} ({theirs}) and {} promise more than {ours}",
            match others {
                [(other, _)] => other.clone(),
                _ => format!("{} others", others.len()),
            }
        ),
    }
}

/// Which of those that are faster than the baseline to choose, and what to know before.
pub(crate) struct Preference<'a> {
    /// The cell.
    pub(crate) cell: &'a CellSummary,
    /// Its ratio to the baseline.
    pub(crate) estimate: RatioEstimate,
    /// `prefer A to B`
    pub(crate) choice: String,
    /// `, provided that its weaker durability (none) is enough`, if it promises less.
    pub(crate) condition: String,
    /// `; where more must survive a crash, C (durable, atomic)`, if there is one, and
    /// `; where weaker durability (none) is enough, D, 3.10 times as fast as B`.
    pub(crate) alternatives: String,
    /// The same as `; where D0 none is enough: D, 3.10×`.
    pub(crate) alternatives_in_short: String,
}

/// What to prefer to the baseline, if anything is faster: the fastest that keeps at least the
/// promises of the baseline and does the same work; else the fastest that keeps the promises;
/// else the fastest of all.
pub(crate) fn preference<'a>(
    comparison: &'a ComparisonOutcome,
    baseline: &CellSummary,
) -> Option<Preference<'a>> {
    let faster = with_verdict(comparison, Verdict::Faster);
    let keeps = |cell: &CellSummary| keeps_promises(cell, baseline);
    let (cell, estimate) = *faster
        .iter()
        .find(|(cell, _)| keeps(cell) && same_work(cell, baseline))
        .or_else(|| faster.iter().find(|(cell, _)| keeps(cell)))
        .or_else(|| faster.first())?;
    let safer = faster
        .iter()
        .find_map(|(other, _)| safer_choice(other, cell));
    let weaker = faster
        .iter()
        .take_while(|(other, _)| other.cell.id != cell.cell.id)
        .find(|(other, _)| keeps(cell) && !keeps(other))
        .filter(|(other, _)| claim(other).is_some());
    let in_full = weaker.and_then(|(other, estimate)| weaker_choice(other, estimate, baseline));
    let in_short = weaker.and_then(|(other, estimate)| {
        let promise = weaker_in_short(claim(other)?, claim(baseline)?);
        let label = quoted(&other.cell.label);
        let factor = format::ratio(1.0 / estimate.ratio);
        Some(format!("; where {promise} is enough: {label}, {factor}×"))
    });
    let with = |weaker: Option<String>| safer.iter().cloned().chain(weaker).collect();
    Some(Preference {
        cell,
        estimate,
        choice: format!(
            "prefer {} to {}",
            quoted(&cell.cell.label),
            quoted(&baseline.cell.label)
        ),
        condition: weaker_condition(cell, baseline),
        alternatives: with(in_full),
        alternatives_in_short: with(in_short),
    })
}

/// A label within a sentence: in quotes if it has a comma, at which it would fall apart.
pub(crate) fn quoted(label: &str) -> String {
    if label.contains(',') {
        format!("“{label}”")
    } else {
        label.to_owned()
    }
}

/// `, or, where more must survive, B (consistent, atomic)`: the slower choice that promises more.
fn safer_choice(cell: &CellSummary, first: &CellSummary) -> Option<String> {
    let (theirs, ours) = (claim(cell)?, claim(first)?);
    promises_less(ours, theirs).then(|| {
        let label = quoted(&cell.cell.label);
        format!("; where more must survive a crash, {label} ({theirs})")
    })
}

/// `; where weaker durability (none) is enough, D, 3.10 times as fast as B`: the faster choice
/// that promises less.
fn weaker_choice(
    cell: &CellSummary,
    estimate: &RatioEstimate,
    baseline: &CellSummary,
) -> Option<String> {
    let promise = weaker_promise(cell, baseline)?;
    Some(format!(
        "; where {promise} is enough, {}, {} as {}",
        quoted(&cell.cell.label),
        times_as_fast(estimate),
        quoted(&baseline.cell.label)
    ))
}

/// `D1 process-crash`: what is less in a promise than in another one, atomicity and delay only
/// where the class is the same.
fn weaker_in_short(claim: DurabilityClaim, than: DurabilityClaim) -> String {
    if claim.class == than.class {
        quantity::class(&claim)
    } else {
        format!("{} {}", quantity::short_class(&claim), claim.class)
    }
}

/// `to read values of about 10 kB that are in the page cache in random order`
fn work(analysis: &Analysis, cell: &CellSummary) -> String {
    let datasets = &analysis.run.plan.datasets;
    let size = datasets.get(&cell.cell.dataset).map(|dataset| {
        let mean = stowplan_model::format_bytes(dataset.size.mean());
        format!(" of about {mean}")
    });
    task(&cell.cell.workload, &size.unwrap_or_default())
}

/// The same of any workload; `size` says how large the values are, with a space before it.
pub(crate) fn task(workload: &Workload, size: &str) -> String {
    let verb = match workload.operation {
        Operation::Read => "read values",
        Operation::Overwrite => "overwrite values",
        Operation::Insert => "insert values",
        Operation::Delete => "delete values",
        Operation::Scan => "scan values",
        Operation::Mix => "do a mix of operations on values",
        Operation::CreateTable => return "to make a table".to_owned(),
        Operation::DropTable => return format!("to drop a table of values{size}"),
    };
    let share = workload.mix.map_or_else(String::new, proportions);
    let cache = match workload.cache {
        _ if workload.operation.writes() => "",
        CacheState::Warm => " that are in the page cache",
        CacheState::AsFound => " with the page cache as it was found",
        CacheState::Cold => " that are not in the page cache",
        CacheState::MetadataCold => " that are not in the page cache, nor their inodes in memory",
    };
    let transactions = match workload.per_transaction {
        PerTransaction::All => String::new(),
        per => format!(", {per}"),
    };
    let threads = match workload.threads {
        1 => String::new(),
        threads => format!(", by {threads} threads"),
    };
    let age = match workload.age {
        0 => String::new(),
        1 => ", after every value was replaced once".to_owned(),
        age => format!(", after every value was replaced {age} times"),
    };
    format!(
        "to {verb}{size}{share}{cache} in {} order{transactions}{threads}{age}",
        workload.order.name()
    )
}

/// ` (90 reads to 10 overwrites)`: the parts of a mix.
fn proportions(mix: Mix) -> String {
    let part = |action: Action| match mix.parts(action) {
        1 => format!("1 {action}"),
        parts => format!("{parts} {}", plural(action)),
    };
    let parts: Vec<String> = mix.actions().map(part).collect();
    format!(" ({})", parts.join(" to "))
}

fn plural(action: Action) -> &'static str {
    match action {
        Action::Read => "reads",
        Action::Overwrite => "overwrites",
        Action::Modify => "read-modify-writes",
        Action::Insert => "inserts",
        Action::Delete => "deletes",
        Action::Scan => "scans",
    }
}

fn statements(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Statement> {
    if !comparison.reliable {
        return Vec::new();
    }
    let shown = |contrast: &&ContrastOutcome| {
        [&contrast.cell, &contrast.reference].iter().all(|id| {
            let role = comparison.cell(id).map(|cell| cell.cell.role);
            !matches!(role, Some(Role::Control | Role::Floor | Role::Part))
        })
    };
    let mut statements: Vec<Statement> = Vec::new();
    let mut said: Vec<&ContrastOutcome> = Vec::new();
    for contrast in comparison.contrasts.iter().filter(shown) {
        // A chart may ask for the inverse of a ratio to the baseline; one sentence says both.
        let inverse =
            |c: &&ContrastOutcome| c.cell == contrast.reference && c.reference == contrast.cell;
        if said.iter().any(inverse) {
            continue;
        }
        said.push(contrast);
        let baseline = baseline(comparison).map(|cell| &cell.cell.id);
        statements.push(Statement {
            verdict: contrast.verdict,
            to_baseline: [&contrast.cell, &contrast.reference]
                .into_iter()
                .any(|id| Some(id) == baseline),
            text: statement(analysis, comparison, contrast),
        });
    }
    statements
}

/// One ratio and its verdict as a sentence.
fn statement(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    contrast: &ContrastOutcome,
) -> String {
    let (Some(cell), Some(reference)) = (
        comparison.cell(&contrast.cell),
        comparison.cell(&contrast.reference),
    ) else {
        return format!(
            "{} against {}: no verdict, because one of them was not measured.",
            contrast.cell, contrast.reference
        );
    };
    let label = &cell.cell.label;
    let other = &reference.cell.label;
    let Some(estimate) = contrast.estimate else {
        let because = no_data_because(analysis, cell, reference);
        return format!("{label} and {other}: no verdict, because {because}.");
    };
    let other = format!("{other} ({})", format::time(headline_time(reference)));
    let finding = finding(analysis, contrast.verdict, &estimate, &other);
    let promise = durability_difference(cell, reference)
        .filter(|_| !contrast.same_durability)
        .unwrap_or_default();
    let operation = one(cell.cell.workload.operation);
    let time = format::time(headline_time(cell));
    let pace = match cell.cell.workload.threads {
        1 => format!("{time} per {operation}"),
        number => format!(
            "{time} between two of all {} threads together",
            format::count(number.into())
        ),
    };
    let rounds = rounds(estimate.rounds);
    let work = work_difference(cell, reference);
    let work = if work.is_empty() {
        work
    } else {
        format!(" ({work})")
    };
    let drain = drain(cell, reference);
    format!("{label}: {pace}, {finding}, {rounds}{promise}{work}.{drain}")
}

/// What one operation is called.
fn one(operation: Operation) -> &'static str {
    match operation {
        Operation::Mix => "operation",
        Operation::CreateTable => "table made",
        Operation::DropTable => "table dropped",
        operation => operation.name(),
    }
}

/// The ratio and what it means, in the direction in which it is above 1.
fn finding(analysis: &Analysis, verdict: Verdict, estimate: &RatioEstimate, other: &str) -> String {
    let zone = zone(analysis);
    let (factor, estimate) = if estimate.ratio < 1.0 {
        (times_as_fast(estimate), estimate.inverse())
    } else {
        let ratio = format::ratio(estimate.ratio);
        (format!("{ratio} times as long"), *estimate)
    };
    let interval = format!(
        "interval {} to {}",
        format::ratio(estimate.low),
        format::ratio(estimate.high)
    );
    match verdict {
        Verdict::Faster | Verdict::Slower => format!("{factor} as {other}; {interval}"),
        Verdict::Equivalent => {
            format!("equivalent to {other} within {zone}: {factor}; {interval}")
        }
        Verdict::SmallDifference => format!(
            "a small difference from {other}, perhaps below the {zone} that count: {factor}; \
             {interval}"
        ),
        Verdict::Unresolved => format!(
            "unresolved against {other}, needs more rounds or a quieter machine: {factor}; \
             {interval}"
        ),
        Verdict::Unreliable | Verdict::NoData => {
            format!("no verdict against {other}, too few rounds: {factor}; {interval}")
        }
    }
}

/// `2.10 times as fast`, for a ratio of times below 1 (and, inverted, for any other).
pub(crate) fn times_as_fast(estimate: &RatioEstimate) -> String {
    format!("{} times as fast", format::ratio(1.0 / estimate.ratio))
}

fn rounds(rounds: usize) -> String {
    let s = if rounds == 1 { "" } else { "s" };
    format!("{rounds} round{s}")
}

/// The headline of an unreliable comparison; the numbers stand in the line about noise.
fn session_unreliable(comparison: &ComparisonOutcome) -> String {
    let Some(control) = &comparison.control else {
        return "session unreliable, because the control has too few rounds".to_owned();
    };
    let differed = format::percent(away_from_one(control.estimate.ratio));
    format!("session unreliable, because two identical cells differed by {differed}")
}

/// By how much the larger exceeds the smaller.
pub(crate) fn away_from_one(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

fn no_data_because(analysis: &Analysis, cell: &CellSummary, reference: &CellSummary) -> String {
    let failed = [cell, reference].into_iter().find_map(|summary| {
        let mut failures = analysis.failures.iter();
        let failure = failures.find(|failure| failure.cell == summary.cell.id)?;
        Some((summary, failure))
    });
    match failed {
        Some((summary, failure)) => {
            let message = failure.message.trim_end_matches('.');
            format!("{} failed: {message}", summary.cell.label)
        }
        None => {
            let measured = cell.rounds.min(reference.rounds);
            let are = if measured == 1 { "is" } else { "are" };
            format!("{} {are} too few (ten are needed)", rounds(measured))
        }
    }
}

/// `, but promises less: none against consistent, atomic`; nothing if both promise the same or
/// the operation does not write.
pub(crate) fn durability_difference(cell: &CellSummary, reference: &CellSummary) -> Option<String> {
    let (ours, theirs) = (claim(cell)?, claim(reference)?);
    if ours == theirs {
        return None;
    }
    let comparison = if promises_less(ours, theirs) {
        "but promises less"
    } else if promises_less(theirs, ours) {
        "and promises more"
    } else {
        "but promises something else"
    };
    Some(format!(", {comparison}: {ours} against {theirs}"))
}

/// What a cell promises for what it writes; nothing if it only reads.
pub(crate) fn claim(cell: &CellSummary) -> Option<DurabilityClaim> {
    let writes = cell.cell.workload.operation.writes();
    writes.then_some(cell.cell.capabilities.durability)
}

/// Whether all stores of a comparison promise the same for what they write. Floors are no stores.
pub(crate) fn promise_alike(comparison: &ComparisonOutcome) -> bool {
    let stores = comparison.cells.iter();
    let mut claims = stores
        .filter(|cell| !matches!(cell.cell.role, Role::Floor | Role::Part))
        .map(claim);
    let first = claims.next();
    claims.all(|claim| Some(claim) == first)
}

/// Whether `ours` lacks something that `theirs` has, and has nothing that `theirs` lacks.
fn promises_less(ours: DurabilityClaim, theirs: DurabilityClaim) -> bool {
    ours != theirs && theirs.covers(&ours)
}

/// What the cells of a comparison promise for what they write: see [`promises_of`].
pub(crate) fn promises(comparison: &ComparisonOutcome) -> Option<String> {
    let cells = comparison.cells.iter();
    promises_of(cells.filter(|cell| !matches!(cell.cell.role, Role::Control | Role::Part)))
}

/// `Durability: D0 none: “files, in place”; D1 process-crash, atomic: …`: what an
/// acknowledged write survives, the weakest promise first; nothing for reads. Floors are no
/// stores and promise nothing.
pub(crate) fn promises_of<'a>(cells: impl Iterator<Item = &'a CellSummary>) -> Option<String> {
    let mut groups: Vec<(DurabilityClaim, Vec<String>)> = Vec::new();
    for cell in cells.filter(|cell| cell.cell.role != Role::Floor) {
        let claim = claim(cell)?;
        match groups.iter_mut().find(|(known, _)| *known == claim) {
            Some((_, labels)) => labels.push(quoted(&cell.cell.label)),
            None => groups.push((claim, vec![quoted(&cell.cell.label)])),
        }
    }
    groups.sort_by_key(|(claim, _)| (claim.class, !claim.delayed, claim.atomic));
    let groups: Vec<String> = groups
        .iter()
        .map(|(claim, labels)| format!("{}: {}", quantity::class(claim), labels.join(", ")))
        .collect();
    (!groups.is_empty()).then(|| format!("Durability: {}.", groups.join("; ")))
}

/// Two sides that keep different promises for what they write, each with its name.
pub(crate) fn different_promises(
    (a, ours): (&str, Option<&CellSummary>),
    (b, theirs): (&str, Option<&CellSummary>),
) -> String {
    let promises = match (ours.and_then(claim), theirs.and_then(claim)) {
        (Some(ours), Some(theirs)) => format!(": {a}: {ours}; {b}: {theirs}"),
        _ => String::new(),
    };
    format!(
        "Different durability{promises}. The ratios compare stores that do not keep written data \
         alike."
    )
}

/// That nothing is claimed at these sizes, if there are any; `measured` are all sizes.
pub(crate) fn unreliable_sizes(
    sizes: &[u64],
    measured: &[u64],
    unit: crossover::Unit,
) -> Option<String> {
    let ranges = crossover::runs(sizes, measured).into_iter();
    let ranges: Vec<String> = ranges.map(|range| crossover::span(range, unit)).collect();
    (!ranges.is_empty()).then(|| {
        format!(
            "Session unreliable at {}: nothing is claimed there.",
            list(&ranges)
        )
    })
}

/// Where cells do not do quite the same as the baseline, a sentence for each way.
pub(crate) fn work_differences(comparison: &ComparisonOutcome) -> Vec<String> {
    let Some(baseline) = baseline(comparison) else {
        return Vec::new();
    };
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for cell in rivals(comparison) {
        let difference = work_difference(cell, baseline);
        let label = quoted(&cell.cell.label);
        match groups.iter_mut().find(|(known, _)| *known == difference) {
            _ if difference.is_empty() => {}
            Some((_, labels)) => labels.push(label),
            None => groups.push((difference, vec![label])),
        }
    }
    let groups = groups.iter();
    groups
        .map(|(difference, labels)| format!("{}: {difference}.", labels.join(", ")))
        .collect()
}

/// `, provided that its weaker durability (none) is enough`; empty if it lacks nothing.
fn weaker_condition(winner: &CellSummary, other: &CellSummary) -> String {
    weaker_promise(winner, other).map_or_else(String::new, |promise| {
        format!(", provided that its {promise} is enough")
    })
}

/// `weaker durability (none)`; nothing if the cell keeps what the other promises.
fn weaker_promise(cell: &CellSummary, other: &CellSummary) -> Option<String> {
    let (ours, theirs) = (claim(cell)?, claim(other)?);
    let kind = if promises_less(ours, theirs) {
        "weaker"
    } else {
        "different"
    };
    (!keeps_promises(cell, other)).then(|| format!("{kind} durability ({ours})"))
}

/// Whether a cell promises at least what another does; reads promise nothing.
fn keeps_promises(cell: &CellSummary, other: &CellSummary) -> bool {
    match (claim(cell), claim(other)) {
        (Some(ours), Some(theirs)) => ours.covers(&theirs),
        _ => true,
    }
}

/// Whether two cells hand values over alike, in transactions of the same scope: rivals for the
/// title of the fastest.
fn same_work(cell: &CellSummary, other: &CellSummary) -> bool {
    work_difference(cell, other).is_empty()
}

/// Where two cells do not do quite the same: shown beside the ratio, so that nobody reads it as
/// a difference between stores alone.
fn work_difference(cell: &CellSummary, reference: &CellSummary) -> String {
    let (ours, theirs) = (&cell.cell.workload, &reference.cell.workload);
    let mut differences = Vec::new();
    if ours.delivery != theirs.delivery {
        let delivery = |delivery| match delivery {
            Delivery::Copy => "copied to the caller",
            Delivery::InPlace => "lent in place",
        };
        differences.push(format!(
            "{} against {}",
            delivery(ours.delivery),
            delivery(theirs.delivery)
        ));
    }
    if ours.per_transaction != theirs.per_transaction {
        differences.push(format!(
            "{} against {}",
            per_transaction(ours.per_transaction),
            per_transaction(theirs.per_transaction)
        ));
    }
    if ours.threads != theirs.threads {
        differences.push(format!(
            "{} against {}",
            threads(ours.threads),
            threads(theirs.threads)
        ));
    }
    if ours.order != theirs.order {
        differences.push(format!("{} order against {}", ours.order, theirs.order));
    }
    let rows = |workload: &Workload| workload.rows_per_statement.unwrap_or(1);
    if rows(ours) != rows(theirs) {
        differences.push(format!(
            "{} rows by each statement against {}",
            format::count(rows(ours).into()),
            format::count(rows(theirs).into())
        ));
    }
    differences.extend(sample(cell));
    differences.join("; ")
}

fn threads(number: u32) -> String {
    match number {
        1 => "one thread".to_owned(),
        number => format!("{} threads", format::count(number.into())),
    }
}

/// What all operations would take of which a cell measured some.
#[expect(clippy::cast_precision_loss, reason = "an extrapolation")]
fn sample(cell: &CellSummary) -> Option<String> {
    let all = cell.cell.workload.sample_of?;
    let measured = format::count(cell.cell.workload.operations?.into());
    let time = cell.time_ns.map_or(f64::NAN, |time| time.estimate);
    Some(format!(
        "a sample of {measured} operations, extrapolated: all {} would take {}",
        format::count(all),
        format::seconds(time * all as f64 / 1e9)
    ))
}

fn per_transaction(per: PerTransaction) -> String {
    match per {
        PerTransaction::All => "one transaction for the whole block".to_owned(),
        other => other.to_string(),
    }
}

/// What remains to be done after the timer stopped can reverse a verdict on writes.
fn drain(cell: &CellSummary, reference: &CellSummary) -> String {
    let (Some(ours), Some(theirs)) = (cell.total_ns, reference.total_ns) else {
        return String::new();
    };
    format!(
        " With bringing the data to rest: {} against {}.",
        format::time(ours),
        format::time(theirs)
    )
}

fn noise(comparison: &ComparisonOutcome) -> String {
    let widened = format::percent(comparison.noise_floor.exp() - 1.0);
    let Some(control) = &comparison.control else {
        return "Noise is unknown: the control has too few rounds.".to_owned();
    };
    let estimate = &control.estimate;
    let differed = format!(
        "Two identical cells differed by {} (interval {} to {})",
        format::percent(away_from_one(estimate.ratio)),
        format::ratio(estimate.low),
        format::ratio(estimate.high)
    );
    if comparison.reliable {
        format!("{differed}; every interval is widened by {widened} for noise.")
    } else {
        format!("{differed}: too much for any claim from the ratios shown.")
    }
}

/// The same for lines beside a table that shows intervals in brackets.
pub(crate) fn noise_in_short(comparison: &ComparisonOutcome) -> String {
    let Some(control) = &comparison.control else {
        return noise(comparison);
    };
    let estimate = &control.estimate;
    let consequence = if comparison.reliable {
        let widened = format::percent(comparison.noise_floor.exp() - 1.0);
        format!("intervals widened by {widened}")
    } else {
        "nothing is claimed".to_owned()
    };
    format!(
        "Noise: control {} {}; {consequence}; {}.",
        format::ratio(estimate.ratio),
        format::interval(estimate.low, estimate.high),
        rounds_of(comparison)
    )
}

/// How many rounds the ratios of a comparison rest on: `10 to 20 rounds`.
fn rounds_of(comparison: &ComparisonOutcome) -> String {
    let ratios = comparison.contrasts.iter();
    let counts: Vec<usize> = ratios
        .filter_map(|contrast| Some(contrast.estimate.as_ref()?.rounds))
        .collect();
    range_of_rounds(&counts)
}

/// The least and the most of these numbers of rounds: `10 to 20 rounds`.
pub(crate) fn range_of_rounds(counts: &[usize]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} rounds"),
        (_, most) => rounds(most.copied().unwrap_or(0)),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
