//! What is known of the terminal.

use anstyle::{AnsiColor, Style};
use std::io::{IsTerminal, stdout};
use stowplan_report::terminal::TerminalOptions;

/// Style of the word `error:`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Style of the word `warning:`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// How to render for stdout: its width (80 columns where it is no terminal, at most 100), colour
/// by the global choice, and Unicode where the locale has it.
pub(crate) fn options(verbose: bool) -> TerminalOptions {
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = if stdout().is_terminal() {
        columns.unwrap_or(80)
    } else {
        80
    };
    TerminalOptions {
        width: width.clamp(40, 100),
        colour: anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never,
        unicode: unicode(),
        verbose,
    }
}

/// Whether the locale encodes text in UTF-8: the first of these variables that is set decides.
fn unicode() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}
