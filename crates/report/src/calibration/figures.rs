//! Every figure of a calibration beside its limit, in words.

use super::numbers::{fine_percent, nanoseconds, sign, signed};
use super::verdict::unusable;
use crate::format::{self, NOTHING, count, percent, time};
use crate::wording;
use stowplan_analysis::Verdict;
use stowplan_analysis::calibration::{
    Calibration, ColdFinding, CostFinding, DifferentSeries, IdenticalSeries, KnownCost, KnownCosts,
    LimitStatus, Proportion, VerdictCounts,
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
    pub(crate) status: Option<LimitStatus>,
    pub(crate) name: String,
    pub(crate) found: String,
    /// What it may be; empty where it has no limit.
    pub(crate) limit: String,
}

impl Row {
    fn fact(name: &str, found: String) -> Self {
        Self {
            status: None,
            name: name.to_owned(),
            found,
            limit: String::new(),
        }
    }
}

/// How a figure stands, in a word.
pub(crate) fn state(status: Option<LimitStatus>) -> &'static str {
    match status {
        None => "",
        Some(LimitStatus::Met) => "ok",
        Some(LimitStatus::Unsure) => "unsure",
        Some(LimitStatus::Missed) => "missed",
        Some(LimitStatus::Unknown) => "unknown",
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
    let reading = clock.reading_ns;
    Figures {
        title: "Clock".to_owned(),
        about: "Ratio blocks read it at their two ends, latency blocks once per operation.",
        rows: vec![
            Row::fact(
                "a reading takes",
                reading.map_or_else(|| NOTHING.to_owned(), |found| nanoseconds(&found)),
            ),
            Row::fact(
                "steps",
                clock
                    .step_ns
                    .map_or_else(|| NOTHING.to_owned(), |step| format!("{step} ns, or less")),
            ),
        ],
    }
}

fn cost(name: &str, cost: &CostFinding) -> Row {
    Row {
        status: Some(cost.status),
        name: name.to_owned(),
        found: cost.found_ns.map_or_else(
            || NOTHING.to_owned(),
            |found| format!("{}, {} blocks", nanoseconds(&found), cost.blocks),
        ),
        limit: format!("may be {} ns", cost.budget_ns),
    }
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
    let found = cost.found_ns.zip(cost.error_ns());
    Row {
        status: Some(cost.status),
        name: time(cost.known_ns),
        found: found.map_or_else(
            || NOTHING.to_owned(),
            |(found, error)| {
                let error = if short {
                    format!("{} ns", signed(error.estimate))
                } else {
                    let share = error.estimate / cost.known_ns;
                    format!("{}{}", sign(share), fine_percent(share.abs()))
                };
                format!("{error} ({})", nanoseconds(&found))
            },
        ),
        limit: if short {
            format!("may be {} ns off", cost.allowed_ns)
        } else {
            format!("may be {} off", percent(share))
        },
    }
}

fn identical(series: &IdenticalSeries) -> Figures {
    let mut rows = vec![Row {
        status: Some(series.status),
        name: "false claims".to_owned(),
        found: format!(
            "in {}{}",
            proportion(&series.claims),
            unusable(", ", &series.unusable)
        ),
        limit: "may be 5%".to_owned(),
    }];
    for part in &series.parts {
        rows.push(Row::fact(
            &part.label,
            format!("in {}", proportion(&part.claims)),
        ));
    }
    rows.push(Row::fact("verdicts", verdicts(&series.verdicts)));
    if let Some(farthest) = series.farthest {
        rows.push(Row::fact(
            "farthest from 1",
            format!(
                "{}, of {} sessions with {} rounds together",
                format::difference(farthest),
                series.claims.of,
                count(series.rounds as u64)
            ),
        ));
    }
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
    Row {
        status: Some(series.status),
        name: series.label.clone(),
        found: format!(
            "claimed in {}{}, found as {}, truth held by {} of {}, {} the other way round; {}",
            proportion(&series.claimed),
            unusable(", ", &series.unusable),
            series.median.map_or(NOTHING.to_owned(), |ratio| {
                let share = ratio - 1.0;
                format!("{}{}", sign(share), fine_percent(share.abs()))
            }),
            series.covered.count,
            series.covered.of,
            match series.reversed.count {
                0 => "none".to_owned(),
                some => some.to_string(),
            },
            verdicts(&series.verdicts)
        ),
        limit: String::new(),
    }
}

fn cold_and_warm(calibration: &Calibration) -> Figures {
    let warm = &calibration.warm;
    let mut rows: Vec<Row> = calibration.cold.iter().map(cold).collect();
    rows.push(Row {
        status: Some(warm.status),
        name: "warm".to_owned(),
        found: format!(
            "{} of {} blocks that count read from storage; {} were measured again",
            warm.reading,
            count(warm.blocks as u64),
            count(warm.discarded)
        ),
        limit: "none may".to_owned(),
    });
    Figures {
        title: "Cold and warm".to_owned(),
        about: "Pages of the files that a block reads, as cachestat or mincore found them in the \
                page cache.",
        rows,
    }
}

fn cold(found: &ColdFinding) -> Row {
    let pages = |pages: Option<u64>| pages.map_or_else(|| NOTHING.to_owned(), count);
    Row {
        status: Some(found.status),
        name: found.label.clone(),
        found: match found.blocks {
            0 => NOTHING.to_owned(),
            blocks => format!(
                "of {} pages, {} before eviction, {} after it, {} after the block; {} fetched ({} \
                 blocks)",
                count(found.checked_pages),
                pages(found.before_pages),
                count(found.evicted_pages),
                pages(found.after_pages),
                found
                    .storage_bytes
                    .map_or_else(|| NOTHING.to_owned(), stowplan_model::format_bytes),
                blocks
            ),
        },
        limit: "0 may stay".to_owned(),
    }
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
