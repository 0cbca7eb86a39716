//! Every figure of a calibration beside its limit, in words.

use super::numbers::{fine_percent, nanoseconds, signed, signed_percent};
use super::verdict::unusable;
use crate::document::{
    Block, Cell, Detail, Look, Section, Table, Tone, remark, text_column, toned,
};
use crate::value::{self, NOTHING, count, percent, time};
use crate::wording;
use stowplan_analysis::Verdict;
use stowplan_analysis::calibration::{
    Calibration, ColdFinding, KnownCost, KnownCosts, LimitStatus, Proportion, Series, VerdictCounts,
};

/// One figure.
struct Row {
    /// Nothing where it has no limit.
    status: Option<LimitStatus>,
    name: String,
    found: String,
    /// What it may be; empty where it has no limit.
    limit: String,
}

impl Row {
    fn of(status: LimitStatus, name: &str, found: String, limit: impl Into<String>) -> Self {
        Self {
            status: Some(status),
            limit: limit.into(),
            ..Self::fact(name, found)
        }
    }

    fn fact(name: &str, found: String) -> Self {
        Self {
            status: None,
            name: name.to_owned(),
            found,
            limit: String::new(),
        }
    }
}

/// How a figure stands, in a word and by colour.
fn state(status: Option<LimitStatus>) -> (&'static str, Tone) {
    match status {
        None => ("", Tone::Faint),
        Some(LimitStatus::Met) => ("ok", Tone::Good),
        Some(LimitStatus::Unsure) => ("unsure", Tone::Warning),
        Some(LimitStatus::Missed) => ("missed", Tone::Bad),
        Some(LimitStatus::Unknown) => ("unknown", Tone::Bad),
    }
}

/// Figures of one kind; `about` says in a sentence what they are.
fn panel(title: &str, about: &str, rows: &[Row]) -> Block {
    let of_state = "ok: within its limit with its whole interval; unsure: by estimate only";
    let state = |row: &Row| {
        let (word, tone) = state(row.status);
        Cell {
            sort: row.status.map(|status| f64::from(status as u8)),
            ..Cell::text(toned(word, tone))
        }
    };
    let column = |title, help, text: fn(&Row) -> &String| {
        text_column(title, help, move |row: &Row| Cell::text(text(row)))
    };
    let columns = vec![
        column("figure", "what was measured", |row| &row.name).weighing(9),
        text_column("state", of_state, state).weighing(8),
        column("found", "the estimate with its interval", |row| &row.found).weighing(10),
        column("limit", "what it may be", |row| &row.limit).weighing(7),
    ];
    let table = Table::of(title, columns, rows);
    let blocks = vec![remark(about).at(Detail::Full), table.into()];
    let section = Section {
        look: Look::Panel,
        ..Section::new(title, blocks)
    };
    section.into()
}

/// Every figure, in reading order, those of one kind together.
pub(super) fn panels(calibration: &Calibration) -> Vec<Block> {
    let about = "Each operation of the store that does nothing, through plan, runner and worker \
                 process; every measured time contains it.";
    let harness = [
        cost("ratio blocks", &calibration.ratio_cost),
        cost("latency blocks", &calibration.latency_cost),
    ];
    let busy = calibration.busy.as_ref();
    let busy = busy.map(|busy| known(&busy.title, busy, waited(busy)));
    let mut panels = vec![
        clock(calibration),
        panel("What the harness costs", about, &harness),
        known("Known costs, recovered", &calibration.known, None),
    ];
    panels.extend(busy);
    panels.push(identical(
        &calibration.identical,
        &calibration.identical_parts,
    ));
    panels.push(different(&calibration.different));
    panels.push(cold_and_warm(calibration));
    panels
}

fn clock(calibration: &Calibration) -> Block {
    let clock = &calibration.clock;
    let reading = value::maybe(clock.reading_ns.as_ref(), nanoseconds);
    let step = value::maybe(clock.step_ns, |step| format!("{step} ns, or less"));
    let about = "Ratio blocks read it at their two ends, latency blocks once per operation.";
    let rows = [
        Row::fact("a reading takes", reading),
        Row::fact("steps", step),
    ];
    panel("Clock", about, &rows)
}

fn cost(name: &str, cost: &KnownCost) -> Row {
    let found = value::maybe(cost.found_ns, |found| {
        format!("{}, {} blocks", nanoseconds(&found), cost.rounds)
    });
    let limit = format!("may be {} ns", cost.allowed_ns);
    Row::of(cost.status, name, found, limit)
}

fn known(title: &str, costs: &KnownCosts, waited: Option<Row>) -> Block {
    let about =
        "A store that lasts a set time, less the store that does nothing, in the same rounds.";
    let rows: Vec<Row> = costs.costs.iter().map(known_row).chain(waited).collect();
    panel(title, about, &rows)
}

/// How long blocks waited beside busy processes; nothing where none was measured.
fn waited(busy: &KnownCosts) -> Option<Row> {
    let measured = busy.costs.iter().any(|cost| cost.rounds > 0);
    let waited = busy.delay_share.map_or_else(
        || "not told by this system".to_owned(),
        |share| format!("{} of the wall time, subtracted", percent(share)),
    );
    measured.then(|| Row::fact("waited for a CPU", waited))
}

fn known_row(cost: &KnownCost) -> Row {
    let share = cost.allowed_ns / cost.known_ns;
    let short = cost.known_ns < 1_000.0;
    let found = value::maybe(cost.found_ns.zip(cost.error_ns()), |(found, error)| {
        let error = match short {
            true => format!("{} ns", signed(error)),
            false => signed_percent(error / cost.known_ns),
        };
        format!("{error} ({})", nanoseconds(&found))
    });
    let limit = match short {
        true => format!("{} ns", cost.allowed_ns),
        false => percent(share),
    };
    let limit = format!("may be {limit} off");
    Row::of(cost.status, &time(cost.known_ns), found, limit)
}

fn identical(series: &Series, parts: &[Series]) -> Block {
    let left_out = unusable(", ", &series.unusable);
    let claims = format!("in {}{left_out}", proportion(&series.claimed));
    let (status, limit) = (series.status, "may be 5%");
    let mut rows = vec![Row::of(status, "false claims", claims, limit)];
    rows.extend(parts.iter().map(|part| {
        let claims = format!("in {}", proportion(&part.claimed));
        Row::fact(&part.label, claims)
    }));
    rows.push(Row::fact("verdicts", verdicts(&series.verdicts)));
    rows.extend(series.farthest.map(|farthest| {
        let found = format!(
            "{}, of {} sessions with {} rounds together",
            value::difference(farthest),
            series.claimed.of,
            count(series.rounds as u64)
        );
        Row::fact("farthest from 1", found)
    }));
    let about = "The whole procedure (rounds, looks, noise floor, gate, verdict) on a store and \
                 itself, each session with a baseline of its own.";
    panel("Identical cells", about, &rows)
}

fn different(series: &[Series]) -> Block {
    let about = "The same on stores of known cost. Claimed: the interval lies above 1; held: it holds \
                 the truth; other way round: it lies below 1. How often a difference is claimed \
                 (power) has no limit: that is what noise leaves of it.";
    let rows: Vec<Row> = series.iter().map(difference).collect();
    panel("Known differences", about, &rows)
}

fn difference(series: &Series) -> Row {
    let reversed = match series.reversed.count {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    let found = format!(
        "claimed in {}{}, found as {}, truth held by {} of {}, {reversed} the other way round; {}",
        proportion(&series.claimed),
        unusable(", ", &series.unusable),
        value::maybe(series.median, |ratio| signed_percent(ratio - 1.0)),
        series.covered.count,
        series.covered.of,
        verdicts(&series.verdicts)
    );
    Row::of(series.status, &series.label, found, "")
}

fn cold_and_warm(calibration: &Calibration) -> Block {
    let warm = &calibration.warm;
    let mut rows: Vec<Row> = calibration.cold.iter().map(cold).collect();
    let found = format!(
        "{} of {} blocks that count read from storage; {} were measured again",
        warm.reading,
        count(warm.blocks as u64),
        count(warm.discarded)
    );
    rows.push(Row::of(warm.status, "warm", found, "none may"));
    let about = "Pages of the files that a block reads, as cachestat or mincore found them in the \
                 page cache.";
    panel("Cold and warm", about, &rows)
}

fn cold(found: &ColdFinding) -> Row {
    let pages = |pages| value::maybe(pages, count);
    let measured = (found.blocks > 0).then_some(found);
    let text = value::maybe(measured, |found| {
        format!(
            "of {} pages, {} before eviction, {} after it, {} after the block; {} fetched ({} \
             blocks)",
            count(found.checked_pages),
            pages(found.before_pages),
            count(found.evicted_pages),
            pages(found.after_pages),
            value::maybe(found.storage_bytes, stowplan_model::format_bytes),
            found.blocks
        )
    });
    Row::of(found.status, &found.label, text, "0 may stay")
}

/// `0 of 76 sessions (0% [0%, 4.7%])`
fn proportion(proportion: &Proportion) -> String {
    let Proportion { count, of, share } = proportion;
    share.map_or("no session".to_owned(), |share| {
        let [estimate, low, high] = [share.estimate, share.low, share.high].map(fine_percent);
        format!("{count} of {of} sessions ({estimate} [{low}, {high}])")
    })
}

/// `70 equivalent, 6 unresolved`
fn verdicts(counts: &VerdictCounts) -> String {
    if counts.is_empty() {
        return NOTHING.to_owned();
    }
    let mut counts: Vec<(&Verdict, &u32)> = counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1));
    let texts = counts.iter();
    let texts = texts.map(|(verdict, count)| format!("{count} {}", wording::verdict(**verdict)));
    texts.collect::<Vec<_>>().join(", ")
}
