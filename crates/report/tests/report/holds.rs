//! What a text must say, and must not, wherever its lines break.

use crate::support::words;

/// Each of these is in the text.
#[track_caller]
pub(crate) fn says(text: &str, parts: impl IntoIterator<Item = impl AsRef<str>>) {
    let flowing = words(text);
    for part in parts {
        let part = part.as_ref();
        assert!(flowing.contains(part), "“{part}” is not in:\n{text}");
    }
}

/// None of these is in the text.
#[track_caller]
pub(crate) fn lacks(text: &str, parts: &[&str]) {
    let flowing = words(text);
    for part in parts {
        assert!(!flowing.contains(part), "“{part}” is in:\n{text}");
    }
}

/// Each of these is in the text, in this order.
#[track_caller]
pub(crate) fn says_in_order(text: &str, parts: &[&str]) {
    let flowing = words(text);
    let mut rest = flowing.as_str();
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            panic!("“{part}” is not, or not in its place, in:\n{text}");
        };
        rest = behind;
    }
}

/// A case a line: what it is of, and what is said of it.
pub(crate) fn cases(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| {
        let (case, said) = line.split_once('|').unwrap();
        (case.trim(), said.trim())
    })
}
