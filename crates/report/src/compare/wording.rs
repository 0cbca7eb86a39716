//! Changes in sentences: plain, exact, and never more than the analysis found.

use super::Source;
use crate::{format, wording};
use std::cmp::Ordering;
use stowplan_analysis::compare::{
    CellChange, Change, ChangeVerdict, Changes, Decides, Difference, NotCompared, Obstacle,
    ResourceChange,
};
use stowplan_analysis::{Interval, Metric};
use stowplan_model::Role;

/// A commit is named by so many digits.
const COMMIT: usize = 7;
/// So many facts about another machine are told in a sentence.
const FEW_FACTS: usize = 3;
/// Figures without an interval are told from this share on, unless everything is.
const WORTH_TELLING: f64 = 0.05;

/// `small, scale seed, 2026-11-21 16:20, stowplan 0.1.0 (309e19b) on vm`
pub(super) fn source(source: &Source<'_>) -> String {
    let run = &source.analysis.run;
    let machine = &run.environment;
    let commit = machine.tool_commit.as_deref().map(|commit| {
        let short: String = commit.chars().take(COMMIT).collect();
        format!(" ({short})")
    });
    let started: String = run.started.chars().take("2026-11-21T16:20".len()).collect();
    format!(
        "{}: {}, scale {}, {}, stowplan {}{} on {}",
        source.name,
        run.plan.study.name,
        run.plan.scale,
        started.replacen('T', " ", 1),
        machine.tool_version,
        commit.unwrap_or_default(),
        machine.host
    )
}

/// `5 cells`
fn cells(count: usize) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} cell{s}")
}

/// What it comes to, in a sentence.
pub(super) fn headline(changes: &Changes) -> String {
    let all = changes.cells.len();
    if all == 0 {
        return "Nothing could be compared.".to_owned();
    }
    let regressed = changes.regressions().count();
    let more_than = changes.threshold.map_or_else(String::new, |threshold| {
        format!(" by more than {}", format::percent(threshold))
    });
    let first = match (changes.decides, regressed) {
        (Decides::Nothing, _) => format!(
            "Different machines ({}): of {}, none is called a regression",
            other_machine(changes),
            cells(all)
        ),
        (_, 0) => format!("No regression{more_than} in {}", cells(all)),
        (_, some) => format!("{some} of {} regressed{more_than}", cells(all)),
    };
    let rest: Vec<String> = [
        (Count::Slower, "slower"),
        (Count::Of(ChangeVerdict::Faster), "faster"),
        (Count::Of(ChangeVerdict::Small), "with a small change"),
        (Count::Of(ChangeVerdict::Unresolved), "unresolved"),
        (
            Count::Of(ChangeVerdict::WithinThreshold),
            "within the threshold",
        ),
        (Count::Of(ChangeVerdict::NoChange), "unchanged"),
        (Count::Unjudged, "without a ratio to a baseline"),
    ]
    .into_iter()
    .filter_map(|(what, words)| {
        let number = changes
            .cells
            .iter()
            .filter(|cell| what.holds(cell, changes));
        let number = number.count();
        (number > 0).then(|| format!("{number} {words}"))
    })
    .collect();
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!("; {}", rest.join(", "))
    };
    format!("{first}{rest}.")
}

/// What makes it another machine, the first few items: `host vm → 3f2a9c, CPUs usable 2 → 8 and 1
/// more`. Empty on the same machine.
fn other_machine(changes: &Changes) -> String {
    let identifying = changes.environment.iter();
    let identifying = identifying.filter(|change| change.another_machine);
    let all: Vec<String> = identifying
        .map(|change| difference(&change.difference))
        .collect();
    match all.get(FEW_FACTS..) {
        None | Some([]) => all.join(", "),
        Some(rest) => format!("{} and {} more", all[..FEW_FACTS].join(", "), rest.len()),
    }
}

/// What to know beside the headline: that a run ended early, and that cells were left out.
pub(super) fn reservations(base: &Source<'_>, new: &Source<'_>, changes: &Changes) -> Vec<String> {
    let sides = [("BASE", base), ("NEW", new)];
    let endings = sides.into_iter().filter_map(|(side, source)| {
        let ending = wording::ending(source.analysis)?;
        Some(format!("{side}: {ending}"))
    });
    endings.chain(left_out(changes)).collect()
}

/// Cells that a headline counts.
#[derive(Clone, Copy)]
enum Count {
    /// Slower, and no regression.
    Slower,
    Of(ChangeVerdict),
    Unjudged,
}

impl Count {
    fn holds(self, cell: &CellChange, changes: &Changes) -> bool {
        let verdict = cell.decisive(changes.decides).map(|(_, verdict)| verdict);
        match self {
            Self::Slower => verdict == Some(ChangeVerdict::Slower) && !cell.regression,
            Self::Of(wanted) => verdict == Some(wanted),
            Self::Unjudged => verdict.is_none(),
        }
    }
}

/// The verdict on a cell in one or two words, for tables.
pub(super) fn verdict(cell: &CellChange, decides: Decides) -> &'static str {
    match cell.decisive(decides) {
        _ if cell.regression => "regression",
        Some((_, verdict)) => plain_verdict(verdict),
        None if cell.role == Role::Baseline => "baseline",
        None => "not judged",
    }
}

/// A verdict by which nothing regresses.
pub(super) fn plain_verdict(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Slower => "slower",
        ChangeVerdict::Faster => "faster",
        ChangeVerdict::Small => "small diff.",
        ChangeVerdict::Unresolved => "unresolved",
        ChangeVerdict::WithinThreshold => "within threshold",
        ChangeVerdict::NoChange => "no change",
    }
}

/// The fields of a cell in a table.
pub(super) struct Fields {
    pub(super) base: String,
    pub(super) new: String,
    pub(super) change: String,
    pub(super) interval: String,
    pub(super) verdict: &'static str,
    /// The change of the other one of time and ratio.
    pub(super) other: String,
    pub(super) rounds: String,
}

/// The fields of a cell by what decides.
pub(super) fn row(cell: &CellChange, decides: Decides) -> Fields {
    let change = |by: Decides| cell.decisive(by).map(|(change, _)| change);
    let shown = change(decides);
    let text = |of: fn(&Change) -> String| shown.as_ref().map_or_else(String::new, of);
    let rounds = (cell.time.base_rounds, cell.time.new_rounds);
    Fields {
        base: time(cell.base_time_ns),
        new: time(cell.new_time_ns),
        change: text(percent),
        interval: text(interval),
        verdict: verdict(cell, decides),
        other: change(other(decides).0)
            .as_ref()
            .map_or_else(String::new, percent),
        rounds: format!("{}, {}", rounds.0, rounds.1),
    }
}

/// What does not decide, and what its column is called.
pub(super) fn other(decides: Decides) -> (Decides, &'static str) {
    match decides {
        Decides::Ratio => (Decides::Time, "time"),
        Decides::Time | Decides::Nothing => (Decides::Ratio, "ratio"),
    }
}

fn time(time: Option<Interval>) -> String {
    time.map_or_else(
        || format::NOTHING.to_owned(),
        |time| format::time(time.estimate),
    )
}

/// Its name in both, `read/sql` or `read/sql → read/blob`.
pub(super) fn name(cell: &CellChange) -> String {
    if cell.base == cell.new {
        return cell.base.to_string();
    }
    format!("{} → {}", cell.base, cell.new)
}

/// A change as a percentage: `+51%`.
pub(super) fn percent(change: &Change) -> String {
    format::difference(change.ratio)
}

/// `[+47%, +55%]`
pub(super) fn interval(change: &Change) -> String {
    let (low, high) = (change.low, change.high);
    format!(
        "[{}, {}]",
        format::difference(low),
        format::difference(high)
    )
}

/// Whether a cell changed, as far as that can be said, so that a sentence is due.
pub(super) fn has_changed(cell: &CellChange, decides: Decides) -> bool {
    let verdict = cell.decisive(decides).map(|(_, verdict)| verdict);
    cell.regression
        || matches!(
            verdict,
            Some(ChangeVerdict::Slower | ChangeVerdict::Faster | ChangeVerdict::Small)
        )
}

/// What changed in one cell, in a sentence or two.
pub(super) fn statement(cell: &CellChange, decides: Decides) -> String {
    let word = if cell.regression { "regression: " } else { "" };
    let (was, is) = (time(cell.base_time_ns), time(cell.new_time_ns));
    let name = name(cell);
    let label = wording::quoted(&cell.label);
    let found = match (decides, cell.ratio) {
        (Decides::Ratio, Some(ratio)) => {
            let (factor, interval) = (format::ratio(ratio.ratio), ends(ratio.low, ratio.high));
            format!(
                "its ratio to the baseline is {factor} times what it was, {interval}; time per \
                 operation {was} → {is}"
            )
        }
        _ => format!("{is} per operation, {}", against(&cell.time, &was)),
    };
    let beside = beside(cell, decides);
    let differences = if cell.differences.is_empty() {
        String::new()
    } else {
        format!(" Settings differ: {}.", differences(&cell.differences))
    };
    format!("{name} ({label}): {word}{found}.{beside}{differences}")
}

/// `1.51 times as long as before (4.10 µs), interval 1.47 to 1.55`
fn against(change: &Change, was: &str) -> String {
    let Change {
        ratio, low, high, ..
    } = *change;
    if ratio < 1.0 {
        let (factor, interval) = (format::ratio(1.0 / ratio), ends(1.0 / high, 1.0 / low));
        return format!("{factor} times as fast as before ({was}), {interval}");
    }
    let (factor, interval) = (format::ratio(ratio), ends(low, high));
    format!("{factor} times as long as before ({was}), {interval}")
}

/// `interval 1.47 to 1.55`
fn ends(low: f64, high: f64) -> String {
    format!("interval {} to {}", format::ratio(low), format::ratio(high))
}

/// What the ratio to the baseline says, where the time decides.
fn beside(cell: &CellChange, decides: Decides) -> String {
    let Some((ratio, verdict)) = cell.ratio.zip(cell.ratio_verdict) else {
        return String::new();
    };
    let factor = format::ratio(ratio.ratio);
    let shown = format!("{factor}, {}", ends(ratio.low, ratio.high));
    match verdict {
        _ if decides == Decides::Ratio => String::new(),
        same if same == cell.time_verdict && side(&ratio) == side(&cell.time) => {
            format!(" Its ratio to the baseline changed alike, by the factor {factor}.")
        }
        ChangeVerdict::NoChange | ChangeVerdict::WithinThreshold | ChangeVerdict::Unresolved => {
            format!(
                " Its ratio to the baseline does not show that ({shown}): the cause may be something \
             that both share, such as the machine."
            )
        }
        _ => format!(" Its ratio to the baseline changed by the factor {shown}."),
    }
}

/// In what cells differ of which no sentence tells, because they are not shown to have changed.
pub(super) fn other_settings(changes: &Changes) -> Vec<String> {
    let cells = changes.cells.iter();
    let untold =
        cells.filter(|cell| !cell.differences.is_empty() && !has_changed(cell, changes.decides));
    untold
        .map(|cell| format!("{}: {}", name(cell), differences(&cell.differences)))
        .collect()
}

/// On which side of 1 the whole interval lies; nothing if it contains 1. A verdict does not tell: a
/// small change has no direction.
fn side(change: &Change) -> Option<Ordering> {
    if change.low > 1.0 {
        Some(Ordering::Greater)
    } else if change.high < 1.0 {
        Some(Ordering::Less)
    } else {
        None
    }
}

/// `page_size 4096 → 8192, journal delete → wal`
pub(super) fn differences(all: &[Difference]) -> String {
    let texts = all.iter().map(difference);
    texts.collect::<Vec<_>>().join(", ")
}

/// `page_size 4096 → 8192`
pub(super) fn difference(difference: &Difference) -> String {
    let value = |value: &Option<String>| match value {
        Some(text) => grouped(text),
        None => "none".to_owned(),
    };
    format!(
        "{} {} → {}",
        difference.what,
        value(&difference.base),
        value(&difference.new)
    )
}

/// A large number with its thousands grouped; any other text as it is.
fn grouped(text: &str) -> String {
    match text.parse::<u64>() {
        Ok(number) if number >= 10_000 => format::count(number),
        _ => text.to_owned(),
    }
}

/// What decided, and by what intervals are widened.
pub(super) fn method(changes: &Changes) -> Vec<String> {
    let mut notes = vec![decider(changes)];
    notes.extend(widening(changes));
    notes.extend(floors(changes));
    notes
}

fn decider(changes: &Changes) -> String {
    let limit = changes.threshold.unwrap_or(0.0);
    let sign = if limit > 0.0 { "+" } else { "" };
    let regression = format!(
        "A regression is a cell whose whole interval lies above {sign}{}.",
        format::percent(limit)
    );
    let machines = if changes.same_machine {
        "Both ran on the same machine"
    } else {
        "The machines differ"
    };
    match changes.decides {
        Decides::Time => format!("{machines}; the time per operation decides. {regression}"),
        Decides::Ratio => format!("{machines}; the ratio to the baseline decides. {regression}"),
        Decides::Nothing => format!(
            "{machines}, so that nothing is called a regression: give --threshold to have the time \
             decide all the same, or --by ratio to have the ratio to the baseline decide."
        ),
    }
}

/// `Intervals are 95%, unpaired, and widened by 2% to 2.4% for the noise within both runs …`
fn widening(changes: &Changes) -> Option<String> {
    let noise = range(changes, |change| change.noise_floor)?;
    let cells = changes.cells.iter();
    let drift = cells.map(|cell| cell.time.drift_slower.max(cell.time.drift_faster));
    let drift = format::percent(drift.reduce(f64::max)?.exp_m1());
    let drift = if changes.drift_assumed {
        format!(
            ", and by {drift} for what may have shifted between the sessions, because no floor was \
             the same in both that would tell."
        )
    } else {
        format!(
            ", and on one side by what the floors shifted between the sessions (times: up to \
             {drift})."
        )
    };
    Some(format!(
        "Intervals are 95%, unpaired, and widened by {noise} for the noise within both runs{drift}"
    ))
}

/// The least and the most of a logarithm among the changes of times, as percentages.
fn range(changes: &Changes, of: impl Fn(&Change) -> f64) -> Option<String> {
    let shares = changes.cells.iter().map(|cell| of(&cell.time).exp_m1());
    let (least, most) = (shares.clone().reduce(f64::min)?, shares.reduce(f64::max)?);
    let (least, most) = (format::percent(least), format::percent(most));
    Some(if least == most {
        most
    } else {
        format!("{least} to {most}")
    })
}

/// `The floors, the same trivial code in both: read/floor +0.4% [−1.8%, +2.7%].`
fn floors(changes: &Changes) -> Option<String> {
    let floors = changes.floors.iter().map(|floor| {
        let (change, interval) = (percent(&floor.time), interval(&floor.time));
        format!("{} {change} {interval}", floor.cell)
    });
    let floors: Vec<String> = floors.collect();
    (!floors.is_empty()).then(|| {
        format!(
            "The floors, the same trivial code in both: {}.",
            floors.join(", ")
        )
    })
}

/// What changed around the measurements, an item each; what makes it another machine first.
pub(super) fn environment(changes: &Changes) -> Vec<String> {
    let (machine, rest): (Vec<_>, Vec<_>) = changes
        .environment
        .iter()
        .partition(|change| change.another_machine);
    let all = machine.into_iter().chain(rest);
    all.map(|change| difference(&change.difference)).collect()
}

/// That cells were left out, in short; nothing if none was.
pub(super) fn left_out(changes: &Changes) -> Option<String> {
    match changes.not_compared.len() {
        0 => None,
        1 => Some("1 cell was not compared.".to_owned()),
        some => Some(format!("{some} cells were not compared.")),
    }
}

/// The reasons why cells were not compared, each with its cells, in the order in which they occur.
pub(super) fn not_compared(changes: &Changes) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for NotCompared { cell, reasons } in &changes.not_compared {
        let reason = reasons_of(reasons);
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cells)) => cells.push(cell.to_string()),
            None => groups.push((reason, vec![cell.to_string()])),
        }
    }
    groups
}

/// All reasons of one cell; what holds in both results is said once.
fn reasons_of(all: &[Obstacle]) -> String {
    match all {
        [Obstacle::Unreliable { .. }, Obstacle::Unreliable { .. }] => {
            format!("both are {UNRELIABLE}")
        }
        [
            Obstacle::Failed { message, .. },
            Obstacle::Failed { message: other, .. },
        ] if message == other => format!("failed in both: {message}"),
        _ => {
            let reasons: Vec<String> = all.iter().map(reason).collect();
            reasons.join("; ")
        }
    }
}

const UNRELIABLE: &str = "unreliable here: two identical cells differ by more than noise explains";

fn reason(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::OnlyIn { side } => format!("not in {}", side.other().name()),
        Obstacle::PairedOtherwise => "paired otherwise by --cells".to_owned(),
        Obstacle::NotApplicable { side, why } => {
            format!("not applicable in {}: {why}", side.name())
        }
        Obstacle::Dataset { differences: all } => {
            format!("another dataset: {}", differences(all))
        }
        Obstacle::Workload { differences: all } => {
            format!("another workload: {}", differences(all))
        }
        Obstacle::CacheState { base, new } => format!("another cache state: {base} → {new}"),
        Obstacle::Durability { base, new } => {
            format!("another durability promise: “{base}” → “{new}”")
        }
        Obstacle::Failed { side, message } => format!("failed in {}: {message}", side.name()),
        Obstacle::TooFewRounds { base, new, needed } => too_few(*base, *new, *needed),
        Obstacle::Clock { base, new } => {
            format!("another clock: {} → {}", clock(*base), clock(*new))
        }
        Obstacle::Unreliable { side } => format!("{} is {UNRELIABLE}", side.name()),
    }
}

fn clock(metric: Metric) -> &'static str {
    match metric {
        Metric::Corrected => "corrected time",
        Metric::Wall => "wall time",
    }
}

fn too_few(base: usize, new: usize, needed: usize) -> String {
    match (base, new) {
        (0, 0) => "measured in neither".to_owned(),
        (0, _) => "not measured in BASE".to_owned(),
        (_, 0) => "not measured in NEW".to_owned(),
        _ => format!("fewer than {needed} rounds: BASE {base}, NEW {new}"),
    }
}

/// What cells take besides time, a sentence for each figure that changed enough to be told.
pub(super) fn resources(changes: &Changes) -> Vec<String> {
    let cells = changes.cells.iter();
    cells
        .flat_map(|cell| {
            figures(cell).into_iter().filter_map(move |figure| {
                let change = figure.change?;
                let worth = change.beyond_threshold || is_worth_telling(&change);
                worth.then(|| format!("{}: {}", name(cell), told(&figure, &change)))
            })
        })
        .collect()
}

/// A figure besides time.
struct Figure {
    what: &'static str,
    change: Option<ResourceChange>,
    show: fn(f64) -> String,
}

fn figures(cell: &CellChange) -> [Figure; 3] {
    let figure = |what, change, show| Figure { what, change, show };
    let resources = &cell.resources;
    [
        figure("on disk", resources.allocated_bytes, format::bytes),
        figure(
            "bytes sent to storage per byte written",
            resources.write_amplification,
            format::ratio,
        ),
        figure(
            "of memory at most",
            resources.peak_memory_bytes,
            format::bytes,
        ),
    ]
}

/// `10.0 MB → 12.0 MB on disk (+20%)`
fn told(figure: &Figure, change: &ResourceChange) -> String {
    let (base, new) = ((figure.show)(change.base), (figure.show)(change.new));
    let beyond = if change.beyond_threshold {
        ", beyond the threshold"
    } else {
        ""
    };
    let difference = format::difference(change.ratio);
    format!("{base} → {new} {} ({difference}{beyond})", figure.what)
}

/// The figures besides time as fields of a table, in the order of [`RESOURCES`]: `12.0 MB, +20%`.
pub(super) fn resource_fields(cell: &CellChange) -> [String; 3] {
    figures(cell).map(|figure| {
        figure.change.map_or_else(String::new, |change| {
            let difference = format::difference(change.ratio);
            format!("{}, {difference}", (figure.show)(change.new))
        })
    })
}

/// The titles of [`resource_fields`].
pub(super) const RESOURCES: [&str; 3] = ["disk", "sent per byte", "memory"];

fn is_worth_telling(change: &ResourceChange) -> bool {
    change.ratio.ln().abs() >= WORTH_TELLING.ln_1p()
}
