//! What `stowplan stat` says: kvtest's lines, and below them what kvtest does not say.

use crate::document::{Block, Content, Detail, Document, facts, notice};
use crate::histogram::sizes_figure;
use crate::survey;
use crate::value::{count, counted, percent};
use serde::Serialize;
use stowplan_model::{Footprint, PageUse, Survey, format_bytes};

/// Columns of the names, as kvtest has them.
const NAME: usize = 20;

/// What is in a database, or in a directory of files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stat {
    /// Version of this program.
    pub tool_version: String,
    /// The database or the directory.
    pub place: String,
    /// What it is: `database`, `dir` or `tree`.
    pub held: &'static str,
    /// Of the values; none if they could not all be listed.
    pub values: Option<Values>,
    /// Of a database.
    pub pages: Option<Pages>,
    /// What it takes on disk, with everything beside or below it.
    pub footprint: Footprint,
    /// What else the sizes tell; none if the values could not all be listed.
    pub survey: Option<Survey>,
    /// What is wrong, if anything is.
    pub fault: Option<String>,
}

/// Sizes of values in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Values {
    /// How many there are.
    pub count: u64,
    /// Their sum, in bytes.
    pub bytes: u64,
    /// The smallest, in bytes; 0 if there are none.
    pub smallest: u64,
    /// The largest, in bytes; 0 if there are none.
    pub largest: u64,
    /// How many are empty.
    pub empty: u64,
    /// The largest key.
    pub max_key: u64,
    /// How many keys between 1 and the largest have no value.
    pub missing: u64,
}

impl Values {
    /// Counts one more; keys rise. No number wraps, whatever a damaged file says.
    pub fn add(&mut self, key: u64, bytes: u64) {
        self.smallest = if self.count == 0 {
            bytes
        } else {
            self.smallest.min(bytes)
        };
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        self.largest = self.largest.max(bytes);
        self.empty += u64::from(bytes == 0);
        self.max_key = key;
        self.missing = key.saturating_sub(self.count);
    }

    /// The mean size in whole bytes, rounded down as kvtest does.
    #[must_use]
    pub fn average(&self) -> u64 {
        self.bytes.checked_div(self.count).unwrap_or(0)
    }
}

/// Pages of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pages {
    /// Bytes of a page.
    pub page_size: u64,
    /// Pages, free ones included.
    pub page_count: u64,
    /// Free pages.
    pub free: u64,
    /// The journal that the file asks for: `delete` or `wal`.
    pub journal_mode: String,
    /// What PRAGMA integrity_check said.
    pub integrity: Vec<String>,
    /// How the pages are used; none of a damaged database.
    pub used: Vec<PageUse>,
}

/// As one JSON document; sizes are in bytes.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(stat: &Stat) -> Result<String, serde_json::Error> {
    crate::json::of("stat", stat)
}

/// kvtest's lines as kvtest has them, then ours.
#[must_use]
pub fn document(stat: &Stat) -> Document {
    let mut blocks = vec![
        Block::from(Content::Verbatim(kvtest_lines(stat))).at(Detail::Answer),
        facts(ours(stat)),
    ];
    blocks.extend(stat.survey.iter().filter_map(sizes_figure));
    blocks.extend(stat.survey.iter().flat_map(survey::odd));
    blocks.extend(stat.survey.iter().flat_map(survey::for_studies));
    blocks.extend(stat.fault.as_deref().map(notice));
    Document {
        kind: "Stowplan stat".to_owned(),
        title: stat.place.clone(),
        blocks,
        ..Document::default()
    }
}

fn kvtest_lines(stat: &Stat) -> String {
    let values = stat.values.iter().flat_map(|values| {
        [
            ("Number of entries:", values.count),
            ("Average value size:", values.average()),
            ("Minimum value size:", values.smallest),
            ("Maximum value size:", values.largest),
        ]
    });
    let pages = stat.pages.iter().flat_map(|pages| {
        [
            ("Page-size:", pages.page_size),
            ("Page-count:", pages.page_count),
            ("Freelist-count:", pages.free),
        ]
    });
    let numbers = values.chain(pages);
    let numbers = numbers.map(|(name, value)| format!("{name:<NAME$}{value:8}\n"));
    let messages = stat.pages.iter().flat_map(|pages| &pages.integrity);
    let messages = messages.map(|text| format!("{:<NAME$}{text}\n", "Integrity-check:"));
    numbers.chain(messages).collect()
}

fn ours(stat: &Stat) -> Vec<(String, String)> {
    let pages = stat.pages.iter().flat_map(|pages| {
        let journal = ("Journal mode".to_owned(), pages.journal_mode.clone());
        let used = pages.used.iter();
        let used = used.map(|sort| (format!("Pages, {}", sort.sort), page_use(sort)));
        std::iter::once(journal).chain(used)
    });
    let bytes = |bytes| format!("{} ({})", count(bytes), format_bytes(bytes));
    let footprint = [
        ("Bytes in files", bytes(stat.footprint.apparent_bytes)),
        ("Allocated bytes", bytes(stat.footprint.allocated_bytes)),
        ("Consists of", consists_of(&stat.footprint)),
    ];
    let values = stat.values.iter().filter(|values| values.count > 0);
    let values = values.flat_map(|values| {
        let (missing, last) = (count(values.missing), count(values.max_key));
        [
            ("Missing keys", format!("{missing} of 1 to {last}")),
            ("Empty values", count(values.empty)),
        ]
    });
    let found = stat.survey.iter().filter(|found| found.values > 0);
    let others = footprint.into_iter().chain(values);
    let others = others.chain(found.flat_map(survey::spread));
    let others = others.map(|(name, value)| (name.to_owned(), value));
    pages.chain(others).collect()
}

/// How many pages of a sort there are, and how full they are.
fn page_use(sort: &PageUse) -> String {
    let full = sort.used_bytes as f64 / sort.bytes.max(1) as f64;
    format!("{}, {} full", count(sort.pages), percent(full))
}

fn consists_of(footprint: &Footprint) -> String {
    let files = counted(footprint.files, "file");
    match footprint.directories {
        0 => files,
        1 => format!("{files}, 1 directory"),
        many => format!("{files}, {} directories", count(many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{html, terminal};
    use terminal::TerminalOptions;

    #[test]
    fn missing_keys_and_empty_values_are_counted() {
        let mut values = Values::default();
        for (key, bytes) in [(3, 0), (4, 10), (10, 20)] {
            values.add(key, bytes);
        }
        assert_eq!((values.missing, values.empty, values.average()), (7, 1, 10));
        assert_eq!((values.smallest, values.largest), (0, 20));
    }

    #[test]
    fn keys_that_do_not_rise_wrap_no_number() {
        let mut values = Values::default();
        for key in [2, 2, 2, 0] {
            values.add(key, u64::MAX);
        }
        assert_eq!((values.missing, values.bytes), (0, u64::MAX));
    }

    #[test]
    fn the_first_lines_are_those_of_kvtest_and_none_is_too_wide() {
        let mut values = Values::default();
        for (key, bytes) in (1..).zip([8_000, 12_000, 10_000, 10_001, 9_000]) {
            values.add(key, bytes);
        }
        let stat = Stat {
            tool_version: String::new(),
            place: "x.db".to_owned(),
            held: "database",
            values: Some(values),
            pages: Some(Pages {
                page_size: 4096,
                page_count: 17,
                free: 2,
                journal_mode: "delete".to_owned(),
                integrity: vec!["ok".to_owned()],
                used: vec![PageUse {
                    sort: "leaf",
                    pages: 3,
                    bytes: 12_288,
                    used_bytes: 9_000,
                }],
            }),
            footprint: Footprint::default(),
            survey: None,
            fault: None,
        };
        let untitled = Document {
            title: String::new(),
            ..document(&stat)
        };
        let options = TerminalOptions {
            width: 80,
            colour: false,
            detail: Detail::Summary,
        };
        let kvtest = "\
Number of entries:         5
Average value size:     9800
Minimum value size:     8000
Maximum value size:    12000
Page-size:              4096
Page-count:               17
Freelist-count:            2
Integrity-check:    ok

";
        let drawn = terminal::render(&untitled, &options);
        assert!(drawn.starts_with(kvtest), "{drawn}");
        assert!(drawn.contains("Pages, leaf: 3, 73% full"), "{drawn}");
        let fits = |line: &str| line.chars().count() <= 80;
        assert!(drawn.lines().all(fits), "{drawn}");
        let page = html::render(&document(&stat));
        assert!(page.contains("<h1>x.db</h1>"), "{page}");
    }
}
