//! `stowplan ls`.

use super::{LsOptions, left_out};
use crate::error::{CliError, Exit};
use crate::screen;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::io::{IsTerminal, stdout};
use stowplan_archive::{ArchiveError, Entry, Kind, Reader, Refusals, list};
use stowplan_report::shell::quoted;

/// Bytes that are printed at once.
const PAGE: usize = 64 << 10;

/// Lists what is in an archive.
pub(crate) fn ls(options: &LsOptions) -> Result<Exit, CliError> {
    let reader = Reader::open(&options.archive)?;
    // Links are read while the list is.
    let mut targets = Reader::open(&options.archive)?;
    let mut refused = Refusals::default();
    let mut page = Page {
        // As ls(1): a program gets the names themselves, whoever looks on gets what a shell reads as them.
        quotes: stdout().is_terminal() && !options.null,
        end: if options.null { '\0' } else { '\n' },
        ..Page::default()
    };
    list(reader.archive(), &mut |row| {
        match row {
            Ok(entry) => {
                let target = match options.long || options.json {
                    true => target(&mut targets, &entry)?,
                    false => None,
                };
                page.entry(options, &entry, target.as_deref());
            }
            Err(refusal) => refused.add(refusal),
        }
        Ok(())
    })?;
    match options.json {
        true => screen::print(&format!("{{\"entries\":[{}\n]}}", page.text)),
        false => page.print(),
    }
    Ok(left_out("refused", &refused))
}

fn target(reader: &mut Reader, entry: &Entry) -> Result<Option<String>, ArchiveError> {
    if entry.kind != Kind::Link {
        return Ok(None);
    }
    let mut target = Vec::new();
    reader.write_to(entry, &mut target)?;
    Ok(Some(String::from_utf8_lossy(&target).into_owned()))
}

/// What is to be printed.
#[derive(Default)]
struct Page {
    text: String,
    quotes: bool,
    /// Ends a name.
    end: char,
}

impl Page {
    fn entry(&mut self, options: &LsOptions, entry: &Entry, target: Option<&str>) {
        if options.json {
            let comma = if self.text.is_empty() { "" } else { "," };
            self.text += &format!("{comma}\n{}", json(entry, target));
        } else {
            let details = options.long.then(|| details(entry));
            let target = target.map(|target| format!(" -> {}", self.name(target)));
            self.text.extend(details);
            let name = self.name(&entry.name);
            self.text.push_str(&name);
            self.text.extend(target);
            self.text.push(self.end);
        }
        if self.text.len() >= PAGE && !options.json {
            self.print();
        }
    }

    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.quotes {
            true => quoted(name).into(),
            false => name.into(),
        }
    }

    fn print(&mut self) {
        if !self.text.is_empty() {
            screen::print_as_it_is(&self.text);
        }
        self.text.clear();
    }
}

/// Mode, size and time, with a space behind them.
fn details(entry: &Entry) -> String {
    format!("{} {:>11} {} ", mode(entry), entry.size, time(entry.mtime))
}

fn json(entry: &Entry, target: Option<&str>) -> serde_json::Value {
    serde_json::json!({
        "name": entry.name,
        "kind": entry.kind.name(),
        "permissions": entry.permissions,
        "mtime": entry.mtime,
        "bytes": entry.size,
        "stored_bytes": entry.place.stored,
        "deflated": entry.is_deflated(),
        "outside": entry.place.outside,
        "target": target,
    })
}

/// `-rw-r--r--`, as ls writes it.
fn mode(entry: &Entry) -> String {
    let mut text = String::from(match entry.kind {
        Kind::File => "-",
        Kind::Directory => "d",
        Kind::Link => "l",
    });
    for (shift, special, letters) in [(6, 0o4000, "sS"), (3, 0o2000, "sS"), (0, 0o1000, "tT")] {
        let bits = entry.permissions >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        let execute = match (bits & 1 != 0, entry.permissions & special != 0) {
            (true, true) => &letters[..1],
            (false, true) => &letters[1..],
            (true, false) => "x",
            (false, false) => "-",
        };
        text.push_str(execute);
    }
    text
}

/// In the time zone of whoever asks; what cannot be a time, as the number that it is.
fn time(mtime: Option<i64>) -> String {
    let Some(mtime) = mtime else {
        return format!("{:>19}", "-");
    };
    match Timestamp::from_second(mtime) {
        Ok(time) => {
            let time = time.to_zoned(TimeZone::system());
            time.strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        Err(_) => format!("{mtime:>19}"),
    }
}
