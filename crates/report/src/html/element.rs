//! Text into HTML.

use crate::steers;

/// Text that HTML must not read as anything else, in content and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            // Control characters are no valid HTML, not even as references, and marks of direction
            // make a label read as another.
            c if steers(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The text with a capital letter first.
pub(super) fn sentence_start(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// A name as part of an `id` or a link to one.
pub(super) fn anchor(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_label_stays_markup() {
        let escaped = escape("</script><a href=\"x\" onclick='y'>&\u{1b}");
        let markup = ['<', '>', '"', '\'', '\u{1b}'];
        assert!(!escaped.contains(markup), "{escaped}");
        assert_eq!(anchor("a b/\"c"), "a-b--c");
    }
}
