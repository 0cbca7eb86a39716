//! Every figure of a calibration beside its limit, in words.

use super::numbers::{fine_percent, nanoseconds, signed, signed_percent};
use super::verdict::unusable;
use crate::format::{self, NOTHING, count, percent, time};
use crate::wording;
use stowplan_analysis::Verdict;
use stowplan_analysis::calibration::{
    Calibration, ColdFinding, CostFinding, DifferentSeries, IdenticalSeries, KnownCost, KnownCosts,
    Proportion, Standing, VerdictCounts,
};

/// Some figures of one kind.
pub(crate) struct Figures {
    pub(crate) title: String,
    /// What they say, in a sentence.
    pub(crate) about: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// One figure.
pub(crate) struct Row {
    /// Nothing where it has no limit.
    pub(crate) standing: Option<Standing>,
    pub(crate) name: String,
    pub(crate) found: String,
    /// What it may be; empty where it has no limit.
    pub(crate) limit: String,
}

impl Row {
    fn of(standing: Standing, name: &str, found: String, limit: impl Into<String>) -> Self {
        Self {
            standing: Some(standing),
            limit: limit.into(),
            ..Self::fact(name, found)
        }
    }

    fn fact(name: &str, found: String) -> Self {
        Self {
            standing: None,
            name: name.to_owned(),
            found,
            limit: String::new(),
        }
    }
}

/// How a figure stands, in a word.
pub(crate) fn state(standing: Option<Standing>) -> &'static str {
    match standing {
        None => "",
        Some(Standing::Met) => "ok",
        Some(Standing::Unsure) => "unsure",
        Some(Standing::Missed) => "missed",
        Some(Standing::Unknown) => "unknown",
    }
}

/// Every figure, in reading order.
pub(crate) fn sections(calibration: &Calibration) -> Vec<Figures> {
    let mut sections = vec![
        clock(calibration),
        Figures {
            title: "What the harness costs".to_owned(),
            about: "Each operation of the store that does nothing, through plan, runner and worker \
                    process; every measured time contains it.",
            rows: vec![
                cost("ratio blocks", &calibration.ratio_cost),
                cost("latency blocks", &calibration.latency_cost),
            ],
        },
        known("Known costs, recovered", &calibration.known),
    ];
    if let Some(busy) = &calibration.busy {
        let mut section = known(&busy.title, busy);
        let measured = busy.costs.iter().any(|cost| cost.rounds > 0);
        let waited = busy.delay_share.map_or_else(
            || "not told by this system".to_owned(),
            |share| format!("{} of the wall time, subtracted", percent(share)),
        );
        if measured {
            section.rows.push(Row::fact("waited for a CPU", waited));
        }
        sections.push(section);
    }
    sections.push(identical(&calibration.identical));
    sections.push(different(&calibration.different));
    sections.push(cold_and_warm(calibration));
    sections
}

fn clock(calibration: &Calibration) -> Figures {
    let clock = &calibration.clock;
    let reading = format::maybe(clock.reading_ns.as_ref(), nanoseconds);
    let step = format::maybe(clock.step_ns, |step| format!("{step} ns, or less"));
    Figures {
        title: "Clock".to_owned(),
        about: "Ratio blocks read it at their two ends, latency blocks once per operation.",
        rows: vec![
            Row::fact("a reading takes", reading),
            Row::fact("steps", step),
        ],
    }
}

fn cost(name: &str, cost: &CostFinding) -> Row {
    let found = format::maybe(cost.found_ns, |found| {
        format!("{}, {} blocks", nanoseconds(&found), cost.blocks)
    });
    let limit = format!("may be {} ns", cost.budget_ns);
    Row::of(cost.standing, name, found, limit)
}

fn known(title: &str, costs: &KnownCosts) -> Figures {
    Figures {
        title: title.to_owned(),
        about: "A store that lasts a set time, less the store that does nothing, in the same \
                rounds.",
        rows: costs.costs.iter().map(known_row).collect(),
    }
}

fn known_row(cost: &KnownCost) -> Row {
    let share = cost.allowed_ns / cost.known_ns;
    let short = cost.known_ns < 1_000.0;
    let found = format::maybe(cost.found_ns.zip(cost.error_ns()), |(found, error)| {
        let error = match short {
            true => format!("{} ns", signed(error.estimate)),
            false => signed_percent(error.estimate / cost.known_ns),
        };
        format!("{error} ({})", nanoseconds(&found))
    });
    let limit = match short {
        true => format!("{} ns", cost.allowed_ns),
        false => percent(share),
    };
    let limit = format!("may be {limit} off");
    Row::of(cost.standing, &time(cost.known_ns), found, limit)
}

fn identical(series: &IdenticalSeries) -> Figures {
    let silent = unusable(", ", &series.silent);
    let claims = format!("in {}{silent}", proportion(&series.claims));
    let mut rows = vec![Row::of(
        series.standing,
        "false claims",
        claims,
        "may be 5%",
    )];
    rows.extend(series.parts.iter().map(|part| {
        let claims = format!("in {}", proportion(&part.claims));
        Row::fact(&part.label, claims)
    }));
    rows.push(Row::fact("verdicts", verdicts(&series.verdicts)));
    rows.extend(series.farthest.map(|farthest| {
        let found = format!(
            "{}, of {} sessions with {} rounds together",
            format::difference(farthest),
            series.claims.of,
            count(series.rounds as u64)
        );
        Row::fact("farthest from 1", found)
    }));
    Figures {
        title: "Identical cells".to_owned(),
        about: "The whole procedure (rounds, looks, noise floor, gate, verdict) on a store and \
                itself, each session with a baseline of its own.",
        rows,
    }
}

fn different(series: &[DifferentSeries]) -> Figures {
    Figures {
        title: "Known differences".to_owned(),
        about: "The same on stores of known cost. Claimed: the interval lies above 1; held: it \
                holds the truth; other way round: it lies below 1. How often a difference is \
                claimed (power) has no limit: that is what noise leaves of it.",
        rows: series.iter().map(difference).collect(),
    }
}

fn difference(series: &DifferentSeries) -> Row {
    let reversed = match series.reversed.count {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    let found = format!(
        "claimed in {}{}, found as {}, truth held by {} of {}, {reversed} the other way round; {}",
        proportion(&series.claimed),
        unusable(", ", &series.silent),
        format::maybe(series.median, |ratio| signed_percent(ratio - 1.0)),
        series.covered.count,
        series.covered.of,
        verdicts(&series.verdicts)
    );
    Row::of(series.standing, &series.label, found, "")
}

fn cold_and_warm(calibration: &Calibration) -> Figures {
    let warm = &calibration.warm;
    let mut rows: Vec<Row> = calibration.cold.iter().map(cold).collect();
    let found = format!(
        "{} of {} blocks that count read from storage; {} were measured again",
        warm.reading,
        count(warm.blocks as u64),
        count(warm.discarded)
    );
    rows.push(Row::of(warm.standing, "warm", found, "none may"));
    Figures {
        title: "Cold and warm".to_owned(),
        about: "Pages of the files that a block reads, as cachestat or mincore found them in the \
                page cache.",
        rows,
    }
}

fn cold(found: &ColdFinding) -> Row {
    let pages = |pages| format::maybe(pages, count);
    let measured = (found.blocks > 0).then_some(found);
    let text = format::maybe(measured, |found| {
        format!(
            "of {} pages, {} before eviction, {} after it, {} after the block; {} fetched ({} \
             blocks)",
            count(found.checked_pages),
            pages(found.before_pages),
            count(found.evicted_pages),
            pages(found.after_pages),
            format::maybe(found.storage_bytes, stowplan_model::format_bytes),
            found.blocks
        )
    });
    Row::of(found.standing, &found.label, text, "0 may stay")
}

/// `0 of 76 sessions (0% [0%, 4.7%])`
fn proportion(proportion: &Proportion) -> String {
    let Some(share) = proportion.share else {
        return "no session".to_owned();
    };
    format!(
        "{} of {} sessions ({} [{}, {}])",
        proportion.count,
        proportion.of,
        fine_percent(share.estimate),
        fine_percent(share.low),
        fine_percent(share.high)
    )
}

/// `70 equivalent, 6 unresolved`
fn verdicts(counts: &VerdictCounts) -> String {
    if counts.is_empty() {
        return NOTHING.to_owned();
    }
    let mut counts: Vec<(&Verdict, &u32)> = counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1));
    let texts = counts
        .into_iter()
        .map(|(verdict, count)| format!("{count} {}", wording::verdict(*verdict)));
    texts.collect::<Vec<_>>().join(", ")
}
