//! What the verbs of archives share: threads, who looks on, and words for what was left out.

use crate::error::{CliError, Exit};
use crate::progress::Steps;
use crate::screen::{self, counted};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use stowplan_archive::{ArchiveError, Refusals, Watch};
use stowplan_harness::interrupt::Interrupt;

/// More threads than this wait for each other in the file system, and for the one that writes.
const THREADS_MAX: usize = 8;

/// As many as were asked for, or as there are processors.
pub(super) fn threads(asked: Option<u32>) -> NonZeroUsize {
    let asked = asked.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?));
    asked.unwrap_or_else(|| {
        let processors = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        NonZeroUsize::new(THREADS_MAX).map_or(processors, |most| processors.min(most))
    })
}

/// Ctrl-C ends it, and a bar shows how far it is.
pub(super) struct Watcher {
    interrupt: Interrupt,
    steps: Steps,
}

impl Watcher {
    pub(super) fn new(quiet: bool, unit: &'static str, path: &Path) -> Result<Self, CliError> {
        Ok(Self {
            interrupt: Interrupt::on_signals()
                .map_err(CliError::io("watch for Ctrl-C for", path))?,
            steps: Steps::new(quiet, unit),
        })
    }

    /// Removes the bar; an interruption is an end of its own.
    pub(super) fn ended<T>(
        &self,
        result: Result<T, ArchiveError>,
    ) -> Result<Result<T, Exit>, CliError> {
        self.steps.finish();
        match result {
            Err(ArchiveError::Interrupted) => {
                screen::warn("interrupted; nothing was left behind");
                Ok(Err(Exit::Interrupted))
            }
            other => Ok(Ok(other?)),
        }
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

/// Lists what was left out, a line each; the end is then a failure.
pub(super) fn left_out(verb: &str, refused: &Refusals) -> Exit {
    for refusal in &refused.named {
        let name = stowplan_report::shell::quoted(&refusal.name);
        screen::warn(&format!("{verb}: {name}: {}", refusal.why));
    }
    let more = refused.count - refused.named.len() as u64;
    if more > 0 {
        let more = stowplan_report::count(more);
        screen::warn(&format!("{verb}: and {more} more"));
    }
    match refused.is_empty() {
        true => Exit::Done,
        false => Exit::Failed,
    }
}

/// Files, directories and links that there are, of each kind.
pub(super) fn kinds(files: u64, directories: u64, links: u64) -> String {
    let mut text = counted(files, "file", "files");
    for (number, one, many) in [
        (directories, "directory", "directories"),
        (links, "link", "links"),
    ] {
        if number > 0 {
            text = format!("{text}, {}", counted(number, one, many));
        }
    }
    text
}
