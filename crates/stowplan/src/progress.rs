//! Live progress on stderr: only on a terminal, never on stdout.

use crate::screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
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

    /// So many are done, of so many.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        // Once a value, so it costs little beside one: a bar that is seen has no target left here.
        if self.bar.is_hidden() {
            let mut target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(target) = target.take() {
                self.bar.set_draw_target(target);
                self.bar.enable_steady_tick(Duration::from_millis(120));
            }
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
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
