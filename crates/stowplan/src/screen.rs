//! What is known of the terminal.

use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::steers;

/// Style of the word `error:`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Style of the word `warning:`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Style of the word `note:`.
pub(crate) const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// How to render a document for stdout, up to a level of detail: as wide as it is, and colour by
/// the global choice.
pub(crate) fn terminal(detail: Detail) -> TerminalOptions {
    TerminalOptions {
        width: width(),
        colour: colour(),
        detail,
    }
}

/// Lines of an answer, unless all of it is asked for.
pub(crate) const LINES: usize = 40;

/// Columns of a page on stdout.
pub(crate) fn width() -> usize {
    let columns = terminal_size::terminal_size_of(stdout()).map(|(width, _)| width.0);
    page_width(columns.filter(|_| stdout().is_terminal()))
}

/// Columns of a page on a terminal with so many; 80 where there is none. Nothing is narrower than
/// what the shortest tables need, and nobody reads longer lines than the widest.
fn page_width(columns: Option<u16>) -> usize {
    usize::from(columns.unwrap_or(80)).clamp(40, 120)
}

fn colour() -> bool {
    anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never
}

/// Something of what was to be printed did not get out.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints to stdout. A reader that went away (`| head`) is no error; a full disk is one, and told
/// by [`lost`].
pub(crate) fn print(text: &str) {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    // A program that reads a pipe gets every byte.
    let text = match stdout().is_terminal() {
        true => harmless(text, Styles::Kept),
        false => Cow::Borrowed(text),
    };
    printed(anstream::stdout().lock(), &format!("{text}{newline}"));
}

/// Prints text with nothing of ours in it to stdout: names in it keep what looks like a style.
pub(crate) fn print_as_it_is(text: &str) {
    printed(stdout().lock(), text);
}

fn printed(mut out: impl Write, text: &str) {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let text = format!("cannot write to stdout: {error}");
            say(&message(ERROR, "error", &text, None));
            LOST.store(true, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Prints a line to stderr. Where that is not possible (its reader went away, its disk is full)
/// there is nobody to tell, and no reason to end.
pub(crate) fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Whether something that was to be printed could not be.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// A text of ours, in which nothing but our own styles steers the terminal.
pub(crate) fn drawable(text: &str) -> Cow<'_, str> {
    harmless(text, Styles::Kept)
}

/// How every sequence begins that steers a terminal.
const SEQUENCE: &str = "\u{1b}[";

/// What becomes of colour and weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Styles {
    /// They stay: the text is one of ours.
    Kept,
    /// They are as visible as what else would steer the terminal.
    Shown,
}

/// A name or a title as part of a line that is printed: what would steer the terminal is shown.
pub(crate) fn name(text: &str) -> String {
    one_line(&harmless(text, Styles::Shown))
}

/// A text in one line: a name with line ends in it cannot pretend to be several messages.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}

/// A text that cannot steer a terminal, whatever names are in it: what would is written as in Rust,
/// `\u{1b}`. Lines stay lines.
fn harmless(text: &str, styles: Styles) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || !steers(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (index, piece) in text.split(SEQUENCE).enumerate() {
        // What sets colour or weight: numbers, and an m.
        let end = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        if index > 0 && styles == Styles::Kept && end.starts_with('m') {
            shown.push_str(SEQUENCE);
        } else if index > 0 {
            shown.push_str("\\u{1b}[");
        }
        for character in piece.chars() {
            match stays(character) {
                true => shown.push(character),
                false => shown.extend(character.escape_default()),
            }
        }
    }
    Cow::Owned(shown)
}

/// A warning on stderr.
pub(crate) fn warn(text: &str) {
    say(&message(WARNING, "warning", text, None));
}

/// Something worth knowing, on stderr.
pub(crate) fn note(text: &str) {
    say(&message(NOTE, "note", text, None));
}

/// Says on stderr what is worth knowing, and what to type about it.
pub(crate) fn note_with_command(text: &str, command: &str) {
    say(&message(NOTE, "note", text, Some(command)));
}

/// A message for stderr: a word in its style, then text, wrapped to the terminal's width; in one
/// line where stderr is no terminal. A command to be pasted stands behind it: on a terminal in a line
/// of its own that is never broken, however long it is.
pub(crate) fn message(style: Style, word: &str, text: &str, command: Option<&str>) -> String {
    styled(style, word, &lines_of(word, text, command, stderr_width()))
}

/// Columns of a page on stderr; nothing where it is no terminal.
fn stderr_width() -> Option<usize> {
    let columns = terminal_size::terminal_size_of(stderr()).map(|(width, _)| width.0);
    stderr().is_terminal().then(|| page_width(columns))
}

/// A message in lines of a width, or in one without; a command in the last one.
fn lines_of(word: &str, text: &str, command: Option<&str>, width: Option<usize>) -> String {
    let text = harmless(text, Styles::Shown);
    let text = format!("{word}: {}", drawable(&text));
    // Other characters would be another command.
    let command = command.map(|command| one_line(&harmless(command, Styles::Shown)));
    let (lines, break_) = match width {
        Some(width) => (wrap(&text, width - 2).join("\n  "), "\n  "),
        None => (one_line(&text), " "),
    };
    match command {
        Some(command) => format!("{lines}{break_}{command}"),
        None => lines,
    }
}

/// A message with its first word in a style.
fn styled(style: Style, word: &str, lines: &str) -> String {
    let rest = lines.strip_prefix(word).unwrap_or(lines);
    format!("{style}{word}{}{rest}", style.render_reset())
}

/// Breaks text at spaces into lines of at most `width` characters, where its words allow.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Columns of what stands on the left of a list, with the space behind it.
const NAMES: usize = 16;

/// A name on the left, and lines beside it; below it where it is too long for that.
pub(crate) fn entry(text: &mut String, name: &str, lines: &[String]) {
    let mut name = name;
    if name.chars().count() >= NAMES {
        text.push_str(&format!("{name}\n"));
        name = "";
    }
    for line in lines {
        text.push_str(&format!("{name:<NAMES$}{line}\n"));
        name = "";
    }
}

/// Says on stderr what was done and in which time, unless it shall be quiet.
pub(crate) fn say_with_time(quiet: bool, what: &str, took: Duration) {
    if !quiet {
        say(&format!("{what}; {:.1} s", took.as_secs_f64()));
    }
}

/// `a, b, c, d, e and 3 more`: the first five names.
pub(crate) fn few(names: &[impl AsRef<str>]) -> String {
    const FEW: usize = 5;
    let first: Vec<&str> = names.iter().take(FEW).map(AsRef::as_ref).collect();
    let first = first.join(", ");
    match names.len().saturating_sub(FEW) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// `1 file`, `1,000 files`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", stowplan_report::count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_wide_as_the_terminal_within_bounds() {
        let widths = [None, Some(10), Some(60), Some(100), Some(300)].map(page_width);
        assert_eq!(widths, [80, 40, 60, 100, 120]);
    }

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        let text = "cannot open a\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}1m\u{202e}é";
        let shown = "cannot open a\\u{1b}[2J\\u{1b}]0;title\\u{7}\\r\\u{9b}1m\\u{202e}é";
        for styles in [Styles::Kept, Styles::Shown] {
            assert_eq!(harmless(text, styles), shown);
        }
    }

    #[test]
    fn a_name_cannot_pretend_to_be_several_lines() {
        let text = "no study 'a\nerror: b\r\n'";
        assert_eq!(name(text), "no study 'a error: b\\r '");
        assert_eq!(message(ERROR, "error", text, None).lines().count(), 1);
    }

    #[test]
    fn a_command_is_in_a_line_of_its_own_and_never_broken() {
        let command = format!("stowplan resume '{}/a b' --budget 90s", "d/".repeat(90));
        for width in 40..=120 {
            let text = lines_of(
                "note",
                "it was interrupted; to go on:",
                Some(&command),
                Some(width),
            );
            let (before, last) = text.rsplit_once('\n').unwrap();
            assert_eq!(last.trim_start(), command, "{width}");
            assert!(!before.contains("stowplan"), "{before}");
        }
        let piped = lines_of("note", "to go on:", Some(&command), None);
        assert_eq!(piped, format!("note: to go on: {command}"));
        let narrow = lines_of("error", "it is full; to go on:", Some("s µ\n"), Some(40));
        assert_eq!(narrow, "error: it is full; to go on:\n  s µ");
    }

    #[test]
    fn our_own_styles_stay_and_those_of_a_name_are_shown() {
        let text = "\u{1b}[1;31mred\u{1b}[0m\nplain";
        assert_eq!(harmless(text, Styles::Kept), text);
        let shown = "\\u{1b}[1;31mred\\u{1b}[0m\nplain";
        assert_eq!(harmless(text, Styles::Shown), shown);
    }
}
