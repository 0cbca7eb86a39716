//! Numbers that TOML knows and results, which are JSON, do not.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where each `nan`, `inf` and number beyond all floats of a document stands, in bytes from the start of
/// the text, and how it is written there.
pub(super) fn no_numbers(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if let Ok(document) = DeTable::parse(text) {
        for value in document.get_ref().values() {
            add_from(value, &mut found);
        }
    }
    found.sort_unstable();
    found
}

fn add_from(value: &Spanned<DeValue<'_>>, found: &mut Vec<(usize, String)>) {
    match value.get_ref() {
        DeValue::Float(number) => {
            let written = number.as_str();
            if !written.parse().is_ok_and(f64::is_finite) {
                found.push((value.span().start, written.to_owned()));
            }
        }
        DeValue::Array(entries) => entries.iter().for_each(|value| add_from(value, found)),
        DeValue::Table(table) => table.values().for_each(|value| add_from(value, found)),
        _ => {}
    }
}
