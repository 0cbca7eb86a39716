//! Numbers that TOML knows and results, which are JSON, do not.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where the first `nan`, `inf` or number beyond all floats of a document stands, in bytes from the
/// start of the text, and how it is written there.
pub(super) fn no_number(text: &str) -> Option<(usize, String)> {
    let document = DeTable::parse(text).ok()?;
    document.get_ref().values().find_map(within)
}

fn within(value: &Spanned<DeValue<'_>>) -> Option<(usize, String)> {
    match value.get_ref() {
        DeValue::Float(number) => {
            let written = number.as_str();
            let finite = written.parse().is_ok_and(f64::is_finite);
            (!finite).then(|| (value.span().start, written.to_owned()))
        }
        DeValue::Array(entries) => entries.iter().find_map(within),
        DeValue::Table(table) => table.values().find_map(within),
        _ => None,
    }
}
