//! What `stowplan calibrate` prints: a verdict, then each figure beside its limit.

use crate::format::{self, NOTHING, count, percent, time};
use crate::html;
use crate::markdown::Page;
use crate::terminal::TerminalOptions;
use crate::terminal::canvas::{Canvas, Tone, span};
use crate::wording;
use serde::Serialize;
use stowplan_analysis::calibration::{
    Calibration, ColdFinding, CostFinding, DifferentSeries, IdenticalSeries, KnownCost, KnownCosts,
    Proportion, Silent, Standing, Subject, VerdictCounts, metric_of,
};
use stowplan_analysis::{Analysis, Interval, Metric, Verdict};

/// The version of the JSON document; a change that old readers would misread raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// Columns of the state and of the name, each with the space behind it.
const STATE: usize = 9;
const NAME: usize = 17;

/// Some figures of one kind.
pub(crate) struct Section {
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
    fn fact(name: &str, found: String) -> Self {
        Self {
            standing: None,
            name: name.to_owned(),
            found,
            limit: String::new(),
        }
    }

    /// What was found, and what it may be.
    fn sentence(&self) -> String {
        match self.limit.is_empty() {
            true => self.found.clone(),
            false => format!("{}; {}", self.found, self.limit),
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

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    document: &'static str,
    schema: u32,
    verdict: String,
    advice: Vec<&'static str>,
    host: &'a str,
    started: &'a str,
    seconds: Option<f64>,
    tool_version: &'a str,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// As one JSON document, ended by a newline. Times are nanoseconds, shares from 0 to 1.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(calibration: &Calibration, analysis: &Analysis) -> Result<String, serde_json::Error> {
    let run = &analysis.run;
    let document = Document {
        tool: "stowplan",
        document: "calibration",
        schema: SCHEMA_VERSION,
        verdict: verdict(calibration),
        advice: advice(calibration),
        host: &run.environment.host,
        started: &run.started,
        seconds: analysis.end.as_ref().map(|end| end.seconds),
        tool_version: &run.environment.tool_version,
        calibration,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Only the verdict and what to do, as text.
#[must_use]
pub fn brief(calibration: &Calibration, options: &TerminalOptions) -> String {
    let mut canvas = open(options);
    head(&mut canvas, calibration);
    canvas.finish()
}

/// Everything as text; with reasons only where they are asked for.
#[must_use]
pub fn text(calibration: &Calibration, analysis: &Analysis, options: &TerminalOptions) -> String {
    let mut canvas = open(options);
    head(&mut canvas, calibration);
    canvas.paragraph(&place(analysis), 0, Tone::Faint);
    for section in sections(calibration) {
        canvas.heading(&section.title);
        if options.verbose {
            canvas.paragraph(section.about, 0, Tone::Faint);
        }
        for row in &section.rows {
            draw(&mut canvas, row);
        }
    }
    canvas.finish()
}

fn open(options: &TerminalOptions) -> Canvas {
    Canvas::new(options.width.max(40), options.colour, options.unicode)
}

fn head(canvas: &mut Canvas, calibration: &Calibration) {
    let tone = match worst(calibration) {
        Standing::Met => Tone::Good,
        Standing::Unsure => Tone::Strong,
        Standing::Missed | Standing::Unknown => Tone::Bad,
    };
    canvas.paragraph(&verdict(calibration), 0, tone);
    for advice in advice(calibration) {
        canvas.paragraph(advice, 0, Tone::Strong);
    }
}

fn draw(canvas: &mut Canvas, row: &Row) {
    let tone = match row.standing {
        None => Tone::Faint,
        Some(Standing::Met) => Tone::Good,
        Some(Standing::Unsure) => Tone::Warning,
        Some(Standing::Missed | Standing::Unknown) => Tone::Bad,
    };
    let prefix = [
        span(format!("{:<STATE$}", state(row.standing)), tone),
        // A space behind a name of any length.
        span(format!("{:<1$} ", row.name, NAME - 1), Tone::Plain),
    ];
    canvas.hanging(&prefix, STATE + NAME, &row.sentence(), Tone::Plain);
}

/// Where and when, in a sentence.
pub(crate) fn place(analysis: &Analysis) -> String {
    let run = &analysis.run;
    let machine = &run.environment;
    let cpu = machine.cpu.as_ref().unwrap_or(&machine.architecture);
    let lasted = analysis.end.as_ref().map_or_else(String::new, |end| {
        format!(", in {}", format::seconds(end.seconds))
    });
    let time = match metric_of(analysis) {
        Metric::Corrected => "corrected time",
        Metric::Wall => "wall time",
    };
    format!(
        "stowplan {} on {} ({cpu}, {} CPUs), {}{lasted}; times are {time}, intervals 95%.",
        machine.tool_version,
        machine.host,
        machine.cpus,
        run.started.split('T').next().unwrap_or_default()
    )
}

fn worst(calibration: &Calibration) -> Standing {
    let standings = calibration.standings();
    standings.into_values().max().unwrap_or(Standing::Unknown)
}

/// In which of the subjects figures stand so.
fn subjects(calibration: &Calibration, wanted: Standing) -> Vec<&'static str> {
    let standings = calibration.standings().into_iter();
    standings
        .filter(|(_, standing)| *standing == wanted)
        .map(|(subject, _)| name(subject))
        .collect()
}

fn name(subject: Subject) -> &'static str {
    match subject {
        Subject::Harness => "the harness's own cost",
        Subject::Known => "known costs",
        Subject::Busy => "known costs beside busy processes",
        Subject::Identical => "identical cells",
        Subject::Different => "known differences",
        Subject::Cold => "cold blocks",
        Subject::Warm => "warm blocks",
    }
}

/// The verdict, in a sentence or two.
#[must_use]
pub fn verdict(calibration: &Calibration) -> String {
    let [unsure, missed, unknown] = [Standing::Unsure, Standing::Missed, Standing::Unknown]
        .map(|standing| subjects(calibration, standing));
    let mut text = if calibration.passed {
        let figures = figures(calibration);
        // What no interval shows is not said without a word of doubt.
        let start = match unsure.is_empty() {
            true => "This machine measures truly",
            false => "By estimate, this machine measures truly",
        };
        format!("{start}: {}.", figures.join(", "))
    } else {
        let mut wrong = Vec::new();
        if !missed.is_empty() {
            wrong.push(format!("{} missed", are(&missed)));
        }
        if !unknown.is_empty() {
            wrong.push(format!("{} not shown", are(&unknown)));
        }
        format!("Not calibrated: {}.", wrong.join("; "))
    };
    if !unsure.is_empty() {
        let s = if unsure.len() == 1 { "" } else { "s" };
        text.push_str(&format!(
            " Within the limit{s} by estimate, but not with the whole interval: {}.",
            unsure.join(", ")
        ));
    }
    text
}

fn are(subjects: &[&'static str]) -> String {
    subjects.join(", ") + " are"
}

/// What makes a machine measure truly, in figures.
fn figures(calibration: &Calibration) -> Vec<String> {
    let mut figures = Vec::new();
    let largest = |costs: &[KnownCost]| {
        let errors = costs.iter().filter_map(relative_error);
        errors.map(f64::abs).reduce(f64::max)
    };
    let shortest = calibration.known.costs.first();
    if let Some(error) = shortest.and_then(KnownCost::error_ns) {
        figures.push(format!(
            "{} found to {} ns",
            shortest.map_or_else(String::new, |cost| time(cost.known_ns)),
            significant(error.estimate.abs())
        ));
    }
    let longer = calibration.known.costs.get(1..).and_then(largest);
    if let Some(error) = longer {
        figures.push(format!("longer times to {}", fine_percent(error)));
    }
    let busy = calibration.busy.as_ref();
    if let Some(error) = busy.and_then(|busy| largest(&busy.costs)) {
        figures.push(format!("beside busy processes to {}", fine_percent(error)));
    }
    let claims = calibration.identical.claims;
    if let Some(share) = claims.share {
        figures.push(format!(
            "{} of {} identical pairs called different (at most {}{})",
            claims.count,
            claims.of,
            fine_percent(share.high),
            silent("; ", &calibration.identical.silent)
        ));
    }
    figures
}

/// What to do about what is off, in sentences.
#[must_use]
pub fn advice(calibration: &Calibration) -> Vec<&'static str> {
    let standings = calibration.standings().into_iter();
    let mut advice: Vec<&str> = standings
        .filter(|(_, standing)| !standing.passes())
        .map(|(subject, standing)| mend(subject, standing))
        .collect();
    advice.dedup();
    if advice.is_empty() && worst(calibration) == Standing::Unsure {
        advice.push(
            "Stop other work and run it again, or give it more --sessions, for narrower intervals.",
        );
    }
    advice
}

fn mend(subject: Subject, standing: Standing) -> &'static str {
    match (subject, standing) {
        (Subject::Cold, Standing::Unknown) => {
            "Cold could not be produced or proved there: have the data on a disk (--work DIR), or \
             measure warm only."
        }
        (Subject::Busy, Standing::Missed) => {
            "Beside other work this machine adds time that no correction sees: measure on it only \
             while it is quiet."
        }
        (Subject::Identical | Subject::Different, Standing::Unknown) => {
            "Too many sessions say nothing, for their control failed or they were not measured: \
             stop other work, and run it again without --budget."
        }
        (_, Standing::Unknown) => {
            "Too little was measured to say: run it again, without --budget and with more --sessions."
        }
        (Subject::Harness, _) => {
            "The harness costs more than it may: use a build with optimisation, and see what a \
             reading of the clock takes ('stowplan doctor' knows slow clocks)."
        }
        (Subject::Known, _) => {
            "Known costs are not recovered: stop other work, have the CPU run at one frequency \
             ('stowplan doctor'), and distrust absolute times until they are."
        }
        (Subject::Identical, _) => {
            "Differences are claimed between identical cells: stop other work, and believe only \
             what a second run repeats ('stowplan compare')."
        }
        (Subject::Different, _) => {
            "Intervals miss known differences: stop other work, and take a ratio for rougher than \
             its interval says."
        }
        (Subject::Cold, _) => {
            "Files stayed in the page cache though they were evicted, or blocks read nothing: do \
             not use cold figures of this machine."
        }
        (Subject::Warm, _) => {
            "Warm blocks read from storage: something empties the page cache; free memory, and see \
             'stowplan doctor'."
        }
        (Subject::Busy, _) => "",
    }
}

/// Every figure, in reading order.
pub(crate) fn sections(calibration: &Calibration) -> Vec<Section> {
    let mut sections = vec![
        clock(calibration),
        Section {
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

fn clock(calibration: &Calibration) -> Section {
    let clock = &calibration.clock;
    let reading = clock.reading_ns;
    Section {
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
        standing: Some(cost.standing),
        name: name.to_owned(),
        found: cost.found_ns.map_or_else(
            || NOTHING.to_owned(),
            |found| format!("{}, {} blocks", nanoseconds(&found), cost.blocks),
        ),
        limit: format!("may be {} ns", cost.budget_ns),
    }
}

fn known(title: &str, costs: &KnownCosts) -> Section {
    Section {
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
        standing: Some(cost.standing),
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

fn identical(series: &IdenticalSeries) -> Section {
    let mut rows = vec![Row {
        standing: Some(series.standing),
        name: "false claims".to_owned(),
        found: format!(
            "in {}{}",
            proportion(&series.claims),
            silent(", ", &series.silent)
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
    Section {
        title: "Identical cells".to_owned(),
        about: "The whole procedure (rounds, looks, noise floor, gate, verdict) on a store and \
                itself, each session with a baseline of its own.",
        rows,
    }
}

fn different(series: &[DifferentSeries]) -> Section {
    Section {
        title: "Known differences".to_owned(),
        about: "The same on stores of known cost. Claimed: the interval lies above 1; held: it \
                holds the truth; other way round: it lies below 1. How often a difference is \
                claimed (power) has no limit: that is what noise leaves of it.",
        rows: series.iter().map(difference).collect(),
    }
}

fn difference(series: &DifferentSeries) -> Row {
    Row {
        standing: Some(series.standing),
        name: series.label.clone(),
        found: format!(
            "claimed in {}{}, found as {}, truth held by {} of {}, {} the other way round; {}",
            proportion(&series.claimed),
            silent(", ", &series.silent),
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

fn cold_and_warm(calibration: &Calibration) -> Section {
    let warm = &calibration.warm;
    let mut rows: Vec<Row> = calibration.cold.iter().map(cold).collect();
    rows.push(Row {
        standing: Some(warm.standing),
        name: "warm".to_owned(),
        found: format!(
            "{} of {} blocks that count read from storage; {} were measured again",
            warm.reading,
            count(warm.blocks as u64),
            count(warm.discarded)
        ),
        limit: "none may".to_owned(),
    });
    Section {
        title: "Cold and warm".to_owned(),
        about: "Pages of the files that a block reads, as cachestat or mincore found them in the \
                page cache.",
        rows,
    }
}

fn cold(found: &ColdFinding) -> Row {
    let pages = |pages: Option<u64>| pages.map_or_else(|| NOTHING.to_owned(), count);
    Row {
        standing: Some(found.standing),
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

/// `, 3 unreliable, 2 lost`, after what separates it from what was said; nothing where every session
/// says something.
fn silent(separator: &str, silent: &Silent) -> String {
    let counts = [(silent.unreliable, "unreliable"), (silent.lost, "lost")];
    let texts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match texts.is_empty() {
        true => String::new(),
        false => format!("{separator}{}", texts.join(", ")),
    }
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

fn relative_error(cost: &KnownCost) -> Option<f64> {
    Some(cost.error_ns()?.estimate / cost.known_ns)
}

/// `23.5 ns [23.4, 23.7]`, always in nanoseconds: differences of a few are what matters.
fn nanoseconds(found: &Interval) -> String {
    format!(
        "{} ns [{}, {}]",
        significant(found.estimate),
        significant(found.low),
        significant(found.high)
    )
}

/// One decimal below 1,000, none above.
fn significant(nanoseconds: f64) -> String {
    if nanoseconds.abs() < 999.95 {
        return format!("{nanoseconds:.1}").replace('-', "−");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time of a calibration"
    )]
    let whole = nanoseconds.abs().round() as u64;
    let minus = if nanoseconds < 0.0 { "−" } else { "" };
    format!("{minus}{}", count(whole))
}

fn signed(nanoseconds: f64) -> String {
    format!("{}{}", sign(nanoseconds), significant(nanoseconds.abs()))
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "−" } else { "+" }
}

/// Two decimals below 1%, one above.
fn fine_percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0%".to_owned(),
        p if p >= 99.995 => "100%".to_owned(),
        p if p < 0.995 => format!("{p:.2}%"),
        p => format!("{p:.1}%"),
    }
}

/// As Markdown: the file beside a result, and what docs/calibration.md holds of a real run.
#[must_use]
pub fn markdown(calibration: &Calibration, analysis: &Analysis) -> String {
    let mut page = Page::default();
    page.line(crate::MARK);
    page.paragraph(&format!("**{}**", verdict(calibration)));
    for advice in advice(calibration) {
        page.paragraph(advice);
    }
    page.paragraph(&place(analysis));
    page.paragraph("| | figure | found | limit |");
    page.line("|---|---|---|---|");
    for section in sections(calibration) {
        page.line(&format!("| | **{}** | | |", cell(&section.title)));
        for row in &section.rows {
            page.line(&format!(
                "| {} | {} | {} | {} |",
                state(row.standing),
                cell(&row.name),
                cell(&row.found),
                cell(&row.limit)
            ));
        }
    }
    page.finish()
}

/// A text that a table of Markdown does not take for its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// As one page that stands for itself; `raw` is the text of the result.
#[must_use]
pub fn html(calibration: &Calibration, analysis: &Analysis, raw: &str) -> String {
    html::calibration::render(calibration, analysis, raw)
}
