//! Changes in sentences: plain, exact, and never more than the analysis found. All factors and
//! percentages have one direction, NEW over BASE: above 1 and with a plus NEW is slower.

use super::Side;
use crate::document::Tone;
use crate::{value, wording};
use stowplan_analysis::Interval;
use stowplan_analysis::compare::{
    CellChange, Change, ChangeVerdict, Changes, Decides, Difference, Unit,
};
use stowplan_model::Role;

/// Facts about another machine that are told in a sentence.
const FEW_FACTS: usize = 3;

/// What it comes to, in a sentence.
pub(super) fn headline(changes: &Changes) -> String {
    if changes.cells.is_empty() {
        return "Nothing could be compared.".to_owned();
    }
    let all = value::counted(changes.cells.len(), "cell");
    let regressed = changes.regressions().count();
    let more_than = changes.threshold.map_or_else(String::new, |threshold| {
        format!(" by more than {}", value::percent(threshold))
    });
    let first = match (changes.decides, regressed) {
        (Decides::Nothing, _) => format!(
            "Different machines ({}): of {all}, none is called a regression",
            other_machine(changes)
        ),
        (_, 0) => none_regressed(changes, &more_than),
        (_, some) => format!("{some} of {all} regressed{more_than}"),
    };
    let counts = COUNTED.iter().filter_map(|(wanted, words)| {
        let cells = changes.cells.iter().filter(|cell| !cell.regression);
        let verdicts = cells.map(|cell| cell.decisive(changes.decides).map(|(_, verdict)| verdict));
        let number = verdicts.filter(|verdict| verdict == wanted).count();
        (number > 0).then(|| format!("{number} {words}"))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let semicolon = if counts.is_empty() { "" } else { "; " };
    format!("{first}{semicolon}{counts}.")
}

/// What the exit code says, too: without any cell that was checked, nothing passes.
fn none_regressed(changes: &Changes, more_than: &str) -> String {
    let (checked, open) = (changes.checked(), changes.unresolved().count());
    let all = value::counted(checked + open, "cell");
    match (checked, open) {
        (0, 0) => "Nothing was judged".to_owned(),
        (0, _) => {
            format!("Inconclusive: of {all}, none clearly regressed{more_than}, or clearly did not")
        }
        (_, 0) => format!("No regression{more_than} in {all}"),
        _ => format!("No regression{more_than} in {checked} of {all}, open of {open}"),
    }
}

/// What a headline counts beside regressions: cells with this verdict, and those without one.
const COUNTED: [(Option<ChangeVerdict>, &str); 8] = [
    (Some(ChangeVerdict::Slower), "slower"),
    (Some(ChangeVerdict::Faster), "faster"),
    (
        Some(ChangeVerdict::Differs),
        "different, maybe by more than that",
    ),
    (Some(ChangeVerdict::Small), "with a small change"),
    (Some(ChangeVerdict::Unresolved), "unresolved"),
    (Some(ChangeVerdict::WithinThreshold), "within the threshold"),
    (Some(ChangeVerdict::NoChange), "unchanged"),
    (None, "without a ratio to a baseline"),
];

/// What makes it another machine, the first few items: `host vm → 3f2a9c, CPUs usable 2 → 8 and 1
/// more`. Empty on the same machine.
#[must_use]
pub fn other_machine(changes: &Changes) -> String {
    let identifying = changes.environment.iter();
    let identifying = identifying.filter(|change| change.another_machine);
    let all: Vec<String> = identifying.map(|c| difference(&c.difference)).collect();
    match all.get(FEW_FACTS..) {
        None | Some([]) => all.join(", "),
        Some(rest) => format!("{} and {} more", all[..FEW_FACTS].join(", "), rest.len()),
    }
}

/// What to know beside the headline: that a run ended early, and that cells were left out.
pub(super) fn reservations(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Vec<String> {
    let sides = [("BASE", base), ("NEW", new)];
    let endings = sides.into_iter().flat_map(|(name, side)| {
        let one = side.more.is_empty();
        side.all().filter_map(move |source| {
            let ending = wording::ending(source.analysis)?;
            let which = if one { name } else { source.name };
            Some(format!("{which}: {ending}"))
        })
    });
    let left_out = match changes.not_compared.len() {
        0 => None,
        1 => Some("1 cell was not compared.".to_owned()),
        some => Some(format!("{some} cells were not compared.")),
    };
    endings
        .chain(left_out)
        .chain(needs_sessions(changes))
        .collect()
}

/// Of single sessions, what would resolve the cells that are not; nothing where all are.
fn needs_sessions(changes: &Changes) -> Option<String> {
    let unresolved = changes
        .judged()
        .any(|(_, _, verdict)| verdict == ChangeVerdict::Unresolved);
    (changes.unit == Unit::Round && unresolved).then(|| {
        "Unresolved: needs more sessions. One of each side cannot tell a change from the builds and \
         the machine that it met; several, in turns, measure that (--base, --new)."
            .to_owned()
    })
}

/// The verdict on a cell in one or two words, and what it says by colour.
pub(super) fn verdict(cell: &CellChange, decides: Decides) -> (&'static str, Tone) {
    match cell.decisive(decides) {
        _ if cell.regression => ("regression", Tone::Bad),
        Some((_, verdict)) => plain_verdict(verdict),
        None if cell.role == Role::Baseline => ("baseline", Tone::Faint),
        None => ("not judged", Tone::Faint),
    }
}

/// A verdict by which nothing regresses.
fn plain_verdict(verdict: ChangeVerdict) -> (&'static str, Tone) {
    match verdict {
        ChangeVerdict::Slower => ("slower", Tone::Bad),
        ChangeVerdict::Faster => ("faster", Tone::Good),
        ChangeVerdict::Differs => ("differs", Tone::Warning),
        ChangeVerdict::Small => ("small diff.", Tone::Plain),
        ChangeVerdict::Unresolved => ("unresolved", Tone::Warning),
        ChangeVerdict::WithinThreshold => ("within threshold", Tone::Plain),
        ChangeVerdict::NoChange => ("no change", Tone::Plain),
    }
}

fn time(time: Option<Interval>) -> String {
    value::maybe(time, |time| value::time(time.estimate))
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
    value::difference(change.ratio)
}

/// `[+47%, +55%]`
pub(super) fn interval(change: &Change) -> String {
    let [low, high] = [change.low, change.high].map(value::difference);
    value::between(&low, &high)
}

/// Whether a cell changed, as far as that can be said, so that a sentence is due.
pub(super) fn has_changed(cell: &CellChange, decides: Decides) -> bool {
    use ChangeVerdict::{Differs, Faster, Slower, Small};
    cell.regression
        || matches!(
            cell.decisive(decides),
            Some((_, Slower | Faster | Differs | Small))
        )
}

/// What changed in one cell, in a sentence or two.
pub(super) fn statement(cell: &CellChange, decides: Decides) -> String {
    let (was, is) = (time(cell.base_time_ns), time(cell.new_time_ns));
    let name = name(cell);
    let label = wording::quoted(&cell.label);
    let found = match cell.ratio.filter(|_| decides == Decides::Ratio) {
        Some(ratio) => format!(
            "its ratio to the baseline is {} times what it was, {}; time per operation {was} → {is}",
            value::ratio(ratio.ratio),
            ends(&ratio)
        ),
        None => format!(
            "{is} per operation, {} times as long as before ({was}), {}",
            value::ratio(cell.time.ratio),
            ends(&cell.time)
        ),
    };
    let beside = beside(cell, decides);
    let differences = if cell.differences.is_empty() {
        String::new()
    } else {
        format!(" Settings differ: {}.", differences(&cell.differences))
    };
    let by_chance = by_chance(cell, decides);
    format!("{name} ({label}): {found}.{by_chance}{beside}{differences}")
}

/// What keeps a cell from being a regression whose interval lies above the limit; empty if nothing
/// does.
fn by_chance(cell: &CellChange, decides: Decides) -> String {
    let slower = cell.decisive(decides);
    let slower = slower.is_some_and(|(_, verdict)| verdict == ChangeVerdict::Slower);
    match cell.adjusted_p {
        Some(p) if slower && !cell.regression => format!(
            " No regression: where nothing changed, one of so many cells lies so far off in up to {} \
             of comparisons.",
            value::percent(p)
        ),
        _ => String::new(),
    }
}

/// `interval 1.47 to 1.55`
fn ends(change: &Change) -> String {
    let [low, high] = [change.low, change.high].map(value::ratio);
    format!("interval {low} to {high}")
}

/// What the ratio to the baseline says, where the time decides.
fn beside(cell: &CellChange, decides: Decides) -> String {
    let found = cell.ratio.zip(cell.ratio_verdict);
    let Some((ratio, verdict)) = found.filter(|_| decides != Decides::Ratio) else {
        return String::new();
    };
    let doubt = match verdict {
        ChangeVerdict::NoChange | ChangeVerdict::WithinThreshold | ChangeVerdict::Unresolved => {
            ", which does not show that: the cause may be something that both share, such as the machine"
        }
        _ => "",
    };
    let factor = value::ratio(ratio.ratio);
    let ends = ends(&ratio);
    format!(" Its ratio to the baseline is {factor} times what it was, {ends}{doubt}.")
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

/// `page_size 4096 → 8192, journal delete → wal`
pub(super) fn differences(all: &[Difference]) -> String {
    let texts = all.iter().map(difference);
    texts.collect::<Vec<_>>().join(", ")
}

/// `page_size 4096 → 8192`
pub(super) fn difference(difference: &Difference) -> String {
    let value = |value: &Option<String>| value.as_deref().map_or("none".to_owned(), grouped);
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
        Ok(number) if number >= 10_000 => value::count(number),
        _ => text.to_owned(),
    }
}
