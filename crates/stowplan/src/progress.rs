//! Live progress on stderr: only on a terminal, never on stdout.

use crate::screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;
use stowplan_harness::runner::{Event, Observer};

/// Shows what is being measured, how it stands, and when it ends.
pub(crate) struct Progress {
    line: ProgressBar,
    heading: String,
    quiet: bool,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let line = if quiet || !stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new_spinner()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            line.set_style(style);
        }
        line.enable_steady_tick(Duration::from_millis(120));
        Self {
            line,
            heading: String::new(),
            quiet,
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
        let text = screen::message(style, word, message);
        self.line.suspend(|| anstream::eprintln!("{text}"));
    }
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Warning(warning) => {
                self.say(
                    screen::WARNING,
                    "warning",
                    &format!("{} {}", warning.message, warning.advice),
                );
            }
            Event::Failure(failure) => {
                self.say(
                    screen::ERROR,
                    "failed",
                    &format!("{}: {}", failure.cell, failure.message),
                );
            }
            Event::Preparing { what, done, total } => {
                let percent = (100 * done).checked_div(total).unwrap_or(0);
                self.line.set_message(format!("{what}: {percent}%"));
            }
            Event::HarnessCost(_) => {}
            Event::Comparison {
                comparison,
                index,
                total,
            } => {
                self.heading = format!("[{}/{total}] {}", index + 1, comparison.id);
                self.line
                    .set_message(format!("{}: {}", self.heading, comparison.title));
            }
            Event::Block {
                cell,
                nanoseconds,
                round,
                until,
                open_contrasts,
                eta_seconds,
            } => {
                self.line.set_message(format!(
                    "{}: round {} of {until}, {open_contrasts} undecided, about {eta_seconds:.0} s left, {} {}",
                    self.heading,
                    round + 1,
                    cell.key,
                    stowplan_report::time(nanoseconds)
                ));
            }
        }
    }
}

/// One bar for work of known length: `round 3/10`.
pub(crate) struct Steps {
    bar: ProgressBar,
}

impl Steps {
    pub(crate) fn new(quiet: bool, unit: &'static str) -> Self {
        let bar = if quiet || !stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new(0)
        };
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {msg} {human_pos}/{human_len} {wide_bar} {eta}")
        {
            bar.set_style(style);
        }
        bar.set_message(unit);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// So many are done, of so many.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
