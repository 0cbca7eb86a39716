//! Live progress on stderr, never on stdout: one line on a terminal, of which a narrow one shows the
//! beginning; elsewhere nothing, or with `--verbose` a line for each comparison.

use crate::cli::PrintOptions;
use crate::error::CliError;
use crate::screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use stowplan_analysis::RatioEstimate;
use stowplan_archive::Watch;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::duration;
use stowplan_harness::runner::{Event, Observer};

/// From one turn of a line to the next.
const TICK: Duration = Duration::from_millis(120);

/// Shows what is being measured, how precise it is so far, and when it ends.
pub(crate) struct Progress {
    line: ProgressBar,
    heading: String,
    quiet: bool,
    /// Whether warnings stand in the report that follows on the same terminal: there they are read,
    /// and once is enough.
    defers_warnings: bool,
    /// How many were put off until then.
    deferred: usize,
    /// Whether each comparison is announced on a line that stays.
    announces: bool,
}

impl Progress {
    pub(crate) fn new(options: &PrintOptions) -> Self {
        // A report in words follows on stdout.
        let reported = options.format().is_none();
        let quiet = options.quiet;
        let terminal = stderr().is_terminal();
        let line = if quiet || !terminal {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new_spinner()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            line.set_style(style);
        }
        turn(&line);
        Self {
            line,
            heading: String::new(),
            quiet,
            defers_warnings: reported && terminal && stdout().is_terminal(),
            deferred: 0,
            announces: options.verbose && !terminal,
        }
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.line.finish_and_clear();
    }

    fn say(&self, style: anstyle::Style, word: &str, message: &str) {
        if self.quiet {
            return;
        }
        let text = screen::message(style, word, message, None);
        self.line.suspend(|| screen::say(&text));
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
                self.heading = format!("[{}/{total}] {}", index + 1, comparison.id);
                let title = screen::name(&comparison.title);
                let announced = format!("{}: {title}", self.heading);
                if self.announces {
                    screen::say(&announced);
                }
                self.line.set_message(announced);
            }
            Event::Block {
                cell,
                nanoseconds,
                ratio,
                round,
                until,
                open_contrasts,
                widest,
                eta_seconds,
            } => {
                let parts = [
                    Some(format!("{} {}/{until}", self.heading, round + 1)),
                    Some(format!("about {} left", duration(eta_seconds))),
                    warned(self.deferred),
                    Some(undecided(open_contrasts, widest)),
                    Some(format!(
                        "{} {}",
                        cell.key,
                        so_far(nanoseconds, ratio.as_ref())
                    )),
                ];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                self.line.set_message(parts.join("  "));
            }
        }
    }
}

/// That the report will warn; nothing if it need not.
fn warned(number: usize) -> Option<String> {
    match number {
        0 => None,
        1 => Some("1 warning".to_owned()),
        many => Some(format!("{many} warnings")),
    }
}

/// How many ratios are open, and how wide the widest of their intervals is.
fn undecided(number: usize, widest: Option<f64>) -> String {
    match widest {
        Some(widest) => format!("{number} undecided, to {}", plus_minus(widest)),
        None => format!("{number} undecided"),
    }
}

/// The block's time, or once there is one, the ratio to the baseline so far.
fn so_far(nanoseconds: f64, ratio: Option<&RatioEstimate>) -> String {
    match ratio {
        Some(ratio) => {
            let half_width = (ratio.high / ratio.low).sqrt() - 1.0;
            format!("{:.2}x {}", ratio.ratio, plus_minus(half_width))
        }
        None => stowplan_report::time(nanoseconds),
    }
}

fn plus_minus(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = usize::from(percent < 9.95);
    format!("±{percent:.decimals$}%")
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

/// One bar for work of known length: `round 3/10`. Not seen before something is done, for a bar of
/// no length is a full one.
pub(crate) struct Steps {
    bar: ProgressBar,
    /// Where it is drawn from the first step on.
    target: Mutex<Option<ProgressDrawTarget>>,
}

impl Steps {
    pub(crate) fn new(quiet: bool, unit: &'static str) -> Self {
        let seen = !quiet && stderr().is_terminal();
        Self::drawn_on(seen.then(ProgressDrawTarget::stderr), unit)
    }

    fn drawn_on(target: Option<ProgressDrawTarget>, unit: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {msg} {human_pos}/{human_len} {wide_bar} {eta}")
        {
            bar.set_style(style);
        }
        bar.set_message(unit);
        Self {
            bar,
            target: Mutex::new(target),
        }
    }

    /// Shows how many are done, of how many.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        // Once a value, so it costs little beside one: a bar that is seen has no target left here.
        if self.bar.is_hidden() {
            let mut target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(target) = target.take() {
                self.bar.set_draw_target(target);
                turn(&self.bar);
            }
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Watches work on the user's data: Ctrl-C ends it, and a bar shows how far it is.
pub(crate) struct Watcher {
    pub(crate) interrupt: Interrupt,
    pub(crate) steps: Steps,
}

impl Watcher {
    /// Watches work on `path` that counts in `unit`.
    pub(crate) fn new(quiet: bool, unit: &'static str, path: &Path) -> Result<Self, CliError> {
        let interrupt = Interrupt::on_signals();
        Ok(Self {
            interrupt: interrupt.map_err(CliError::io("watch for Ctrl-C for", path))?,
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
    use indicatif::TermLike;
    use std::io::Result;

    /// A terminal that nobody looks at.
    #[derive(Debug)]
    struct Blind;

    impl TermLike for Blind {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, _: &str) -> Result<()> {
            Ok(())
        }
        fn write_str(&self, _: &str) -> Result<()> {
            Ok(())
        }
        fn clear_line(&self) -> Result<()> {
            Ok(())
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

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
    fn precision_is_told_as_soon_as_there_is_some() {
        assert_eq!(undecided(3, None), "3 undecided");
        assert_eq!(undecided(3, Some(0.023)), "3 undecided, to ±2.3%");
        assert_eq!(so_far(4_100.0, None), stowplan_report::time(4_100.0));
        let ratio = RatioEstimate {
            ratio: 0.5,
            low: 0.4,
            high: 0.625,
            rounds: 12,
        };
        assert_eq!(so_far(4_100.0, Some(&ratio)), "0.50x ±25%");
    }

    #[test]
    fn a_bar_is_not_seen_before_its_first_step() {
        let target = ProgressDrawTarget::term_like(Box::new(Blind));
        let steps = Steps::drawn_on(Some(target), "files");
        assert!(steps.bar.is_hidden(), "it would be full: 0 of 0");
        steps.at(1, 3);
        assert!(!steps.bar.is_hidden());
        assert_eq!((steps.bar.position(), steps.bar.length()), (1, Some(3)));
        steps.finish();
    }

    #[test]
    fn a_bar_that_nobody_shall_see_stays_hidden() {
        let steps = Steps::drawn_on(None, "files");
        steps.at(1, 3);
        assert!(steps.bar.is_hidden());
    }
}
