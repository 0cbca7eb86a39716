//! Live progress on stderr, never on stdout: on a terminal the answers so far, a line a comparison; elsewhere a line
//! for each comparison that has one.

use crate::error::CliError;
use crate::form::PrintOptions;
use crate::screen::{self, counted};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;
use stowplan_analysis::{Interim, RatioEstimate};
use stowplan_archive::Watch;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::duration;
use stowplan_harness::runner::{Event, Observer};
use stowplan_model::{Cell, CellId, Comparison, Role};
use stowplan_report::wording::shortened;

/// From one turn of a line to the next.
const TICK: Duration = Duration::from_millis(120);

/// The characters of a title that stand before the answer.
const TITLE: usize = 36;
/// The characters that a store's label keeps on the narrowest terminal.
const LABEL: usize = 8;
/// The characters of ` takes 0.32x ±12%`, and the space around a label.
const ANSWER: usize = 20;
/// The columns that stand before an answer.
const INDENT: usize = 2;
/// Lines of a terminal that the answers leave free: the empty one, that which turns, and what was typed.
const FREE: u16 = 4;

/// Shows the answers so far, a line a comparison, what is being measured, and when it ends.
pub(crate) struct Progress {
    screen: MultiProgress,
    /// An empty line above the others: where a terminal echoes Ctrl-C, one line stays behind at the top.
    gap: ProgressBar,
    line: ProgressBar,
    /// By the comparison, in the order of their beginnings.
    answers: Vec<(String, Answer)>,
    heading: String,
    quiet: bool,
    /// Whether warnings stand in the report that follows on the same terminal: there they are read,
    /// and once is enough.
    defers_warnings: bool,
    /// How many were put off until then.
    deferred: u64,
    /// Whether each comparison gets a line that stays.
    announces: bool,
}

/// What is known of a comparison so far.
struct Answer {
    line: ProgressBar,
    title: String,
    /// The last ratio to the baseline that was told of a store, by its label.
    ratios: BTreeMap<String, RatioEstimate>,
}

impl Answer {
    /// Takes over what is known of the contrasts of the baseline with stores that promise as much.
    fn learn(&mut self, comparison: &Comparison, known: &[Interim]) {
        let Some(baseline) = comparison.with_role(Role::Baseline) else {
            return;
        };
        let cell = |id: &CellId| comparison.cells.iter().find(|cell| cell.id == *id);
        let enough = |rival: &Cell| {
            let (promised, asked) = (&rival.capabilities, &baseline.capabilities);
            !rival.workload.writes() || promised.durability.covers(&asked.durability)
        };
        let rivals = known.iter().filter_map(|known| {
            let rival =
                cell(&known.contrast.cell).filter(|_| known.contrast.reference == baseline.id)?;
            let is_one = rival.role == Role::Candidate && enough(rival);
            Some((rival.label.clone(), known.estimate.filter(|_| is_one)?))
        });
        // What failed meanwhile is known no longer.
        self.ratios = rivals.collect();
    }

    /// `Read, warm  SQLite, mapped takes 0.32x ±12%`: the shortest time beside the baseline's, in terms of it.
    /// Where `columns` are few, names give way and the number stays.
    fn text(&self, columns: usize) -> String {
        let Self { title, ratios, .. } = self;
        let of_title = TITLE
            .min(columns * 2 / 5)
            .min(columns.saturating_sub(LABEL + ANSWER));
        let title = format!("{:of_title$}  ", shortened(title, of_title));
        match ratios.iter().min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) {
            Some((label, ratio)) => {
                let takes = format!(" takes {}", so_far(ratio));
                let taken = of_title + 2 + takes.chars().count();
                let label = screen::name(label);
                let label = shortened(&label, columns.saturating_sub(taken).max(LABEL));
                format!("{title}{label}{takes}")
            }
            None => format!("{title}…"),
        }
    }
}

impl Progress {
    pub(crate) fn new(options: &PrintOptions) -> Self {
        // A report in words follows on stdout.
        let reported = options.format().is_none();
        let quiet = options.quiet;
        let terminal = stderr().is_terminal();
        let screen = MultiProgress::with_draw_target(match quiet || !terminal {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        });
        let gap = drawn(screen.add(ProgressBar::no_length()), " ");
        gap.tick();
        let line = drawn(
            screen.add(ProgressBar::new_spinner()),
            "{spinner} {wide_msg}",
        );
        turn(&line);
        Self {
            screen,
            gap,
            line,
            answers: Vec::new(),
            heading: String::new(),
            quiet,
            defers_warnings: reported && terminal && stdout().is_terminal(),
            deferred: 0,
            announces: !quiet && !terminal,
        }
    }

    /// Removes what moves.
    pub(crate) fn finish(&self) {
        self.announce();
        for (_, answer) in &self.answers {
            answer.line.finish_and_clear();
        }
        self.line.finish_and_clear();
        self.gap.finish_and_clear();
    }

    fn say(&self, style: anstyle::Style, word: &str, message: &str) {
        if self.quiet {
            return;
        }
        let text = screen::message(style, word, message, None);
        // Not by suspending it, which panics on a terminal that is gone.
        let _ = self.screen.clear();
        screen::say(&text);
        self.line.tick();
    }

    /// Where nothing moves: what the comparison that ends has told, if anything.
    fn announce(&self) {
        let measured = self.answers.last().filter(|_| self.announces);
        if let Some((id, answer)) = measured.filter(|(_, answer)| !answer.ratios.is_empty()) {
            let text = format!("{} {id}: {}", self.heading, answer.text(usize::MAX / 2));
            screen::say(&screen::drawable(&text));
        }
    }

    /// Puts the answer of a comparison last; one that returns keeps what it knows.
    fn begin(&mut self, comparison: &Comparison) {
        let known = self.answers.iter().position(|(id, _)| *id == comparison.id);
        let answer = match known {
            Some(known) => {
                let (_, answer) = self.answers.remove(known);
                self.screen.remove(&answer.line);
                answer
            }
            None => Answer {
                line: ProgressBar::no_length(),
                title: screen::name(&comparison.title),
                ratios: BTreeMap::new(),
            },
        };
        let line = self.screen.insert_before(&self.line, answer.line);
        let line = drawn(line, "  {wide_msg}");
        self.answers
            .push((comparison.id.clone(), Answer { line, ..answer }));
        self.show();
        // The oldest leave a screen that is full.
        let rows = terminal_size::terminal_size_of(stderr()).map_or(24, |(_, rows)| rows.0);
        let fit = usize::from(rows.saturating_sub(FREE)).max(1);
        for (_, answer) in self.answers.iter().rev().skip(fit) {
            self.screen.remove(&answer.line);
        }
    }

    fn show(&self) {
        if let Some((_, answer)) = self.answers.last() {
            let columns =
                terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| width.0);
            let columns = usize::from(columns).saturating_sub(INDENT);
            answer.line.set_message(answer.text(columns));
        }
    }
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Warning(_) if self.defers_warnings => self.deferred += 1,
            Event::Warning(warning) => {
                self.say(
                    screen::WARNING,
                    "warning",
                    &format!("{} {}", warning.message, warning.advice),
                );
            }
            Event::Failure(failure) => {
                let last = failure.stderr.lines().rfind(|line| !line.trim().is_empty());
                let last =
                    last.map_or_else(String::new, |line| format!(" (stderr: {})", line.trim()));
                let told = format!("{}: {}{last}", failure.cell, failure.message);
                self.say(screen::ERROR, "failed", &told);
            }
            Event::Preparing { what, done, total } => {
                let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0);
                self.line.set_message(format!("{what}: {percent}%"));
            }
            Event::HarnessCost(_) => {}
            Event::Comparison {
                comparison,
                index,
                total,
            } => {
                self.announce();
                self.heading = format!("[{}/{total}]", index + 1);
                self.begin(comparison);
                let doing = format!("{} {}", self.heading, comparison.id);
                self.line.set_message(doing);
            }
            Event::SoFar { comparison, known } => {
                if let Some((_, answer)) = self.answers.last_mut() {
                    answer.learn(comparison, known);
                    self.show();
                }
            }
            Event::Block {
                cell,
                nanoseconds,
                round,
                until,
                open_contrasts,
                eta_seconds,
            } => {
                let parts = [
                    Some(format!("{} round {}/{until}", self.heading, round + 1)),
                    Some(format!("about {} left", duration(eta_seconds))),
                    warned(self.deferred),
                    Some(format!("{open_contrasts} undecided")),
                    Some(format!(
                        "{} {}",
                        cell.key,
                        stowplan_report::time(nanoseconds)
                    )),
                ];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                self.line.set_message(parts.join("  "));
            }
        }
    }
}

/// That the report will warn; nothing if it need not.
fn warned(number: u64) -> Option<String> {
    (number > 0).then(|| counted(number, "warning", "warnings"))
}

/// `0.32x ±12%`
fn so_far(ratio: &RatioEstimate) -> String {
    let percent = 100.0 * ((ratio.high / ratio.low).sqrt() - 1.0);
    let decimals = usize::from(percent < 9.95);
    format!("{:.2}x ±{percent:.decimals$}%", ratio.ratio)
}

/// A line that is drawn by a template, of those above: they are templates.
fn drawn(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Lets a line that is seen go on turning while nothing is told, until it is finished. Indicatif's own
/// ticker panics where the system refuses it a thread; without one the line moves with what is told.
fn turn(bar: &ProgressBar) {
    if bar.is_hidden() {
        return;
    }
    let seen = bar.downgrade();
    let ticks = move || {
        while let Some(bar) = seen.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            thread::sleep(TICK);
        }
    };
    // Refused: the line stands still between two events, and nothing is lost.
    drop(thread::Builder::new().name("progress".into()).spawn(ticks));
}

/// One bar for work of known length: `round 3/10`. It is made when something is done, for a bar of no length is
/// a full one.
pub(crate) struct Steps {
    bar: OnceLock<ProgressBar>,
    quiet: bool,
    unit: &'static str,
}

impl Steps {
    pub(crate) fn new(quiet: bool, unit: &'static str) -> Self {
        Self {
            bar: OnceLock::new(),
            quiet,
            unit,
        }
    }

    /// Shows how many are done, of how many.
    pub(crate) fn at(&self, done: u64, total: u64) {
        let bar = self.bar.get_or_init(|| self.begun(total));
        bar.set_length(total);
        bar.set_position(done);
    }

    fn begun(&self, total: u64) -> ProgressBar {
        if self.quiet || !stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let template = "{spinner} {msg} {human_pos}/{human_len} {wide_bar} {eta}";
        let bar = drawn(ProgressBar::new(total), template);
        bar.set_message(self.unit);
        turn(&bar);
        bar
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Ctrl-C, from now on, for what is done in a place.
pub(crate) fn watched(place: &Path) -> Result<Interrupt, CliError> {
    Interrupt::on_signals().map_err(CliError::io("watch for Ctrl-C for", place))
}

/// Watches work on the user's data: Ctrl-C ends it, and a bar shows how far it is.
pub(crate) struct Watcher {
    pub(crate) interrupt: Interrupt,
    pub(crate) steps: Steps,
}

impl Watcher {
    /// Watches work on `path` that counts in `unit`.
    pub(crate) fn new(quiet: bool, unit: &'static str, path: &Path) -> Result<Self, CliError> {
        Ok(Self {
            interrupt: watched(path)?,
            steps: Steps::new(quiet, unit),
        })
    }
}

impl Watch for Watcher {
    fn progress(&self, done: u64, total: u64) {
        self.steps.at(done, total);
    }

    fn interrupted(&self) -> bool {
        self.interrupt.raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_that_the_report_will_tell_is_only_counted_until_then() {
        let warning = stowplan_model::Warning {
            kind: stowplan_model::WarningKind::Other,
            message: "It is noisy.".to_owned(),
            advice: "Wait.".to_owned(),
        };
        let quiet = PrintOptions {
            quiet: true,
            ..PrintOptions::default()
        };
        let mut progress = Progress::new(&quiet);
        progress.defers_warnings = true;
        assert_eq!(warned(progress.deferred), None);
        for told in ["1 warning", "2 warnings"] {
            progress.event(Event::Warning(&warning));
            assert_eq!(warned(progress.deferred).as_deref(), Some(told));
        }
    }

    #[test]
    fn the_shortest_time_so_far_is_told_with_its_precision() {
        let ratio = |ratio: f64| RatioEstimate {
            ratio,
            low: 0.8 * ratio,
            high: 1.25 * ratio,
            rounds: 12,
        };
        let mut answer = Answer {
            line: ProgressBar::hidden(),
            title: "Read".to_owned(),
            ratios: BTreeMap::new(),
        };
        assert!(answer.text(78).ends_with("  …"), "{}", answer.text(78));
        for (label, time) in [("SQLite", 0.5), ("LMDB", 0.25), ("files", 1.5)] {
            answer.ratios.insert(label.to_owned(), ratio(time));
        }
        let told = answer.text(78);
        assert!(told.starts_with("Read  "), "{told}");
        assert!(told.ends_with("  LMDB takes 0.25x ±25%"), "{told}");
        let long = "SQLite with a page of 64 KiB, mapped";
        answer.ratios.insert(long.to_owned(), ratio(0.1));
        for columns in 30..120 {
            let told = answer.text(columns);
            assert!(told.chars().count() <= columns, "{columns}: {told}");
            assert!(told.ends_with(" takes 0.10x ±25%"), "{told}");
        }
    }
}
