//! Texts that can be read without reading Rust: notes with a title each, in files in `words/`.

/// The text of a note, in which what stands in braces is filled in; nothing where there is no such note.
pub(crate) fn note(notes: &str, title: &str, filled: &[(&str, String)]) -> Option<String> {
    let notes = notes.split("\n\n");
    let mut titled = notes.filter_map(|note| note.trim_start_matches("# ").split_once('\n'));
    let (_, text) = titled.find(|(known, _)| *known == title)?;
    Some(fill(&text.trim().replace('\n', " "), filled))
}

/// A text in which what stands in braces is filled in.
pub(crate) fn fill(text: &str, filled: &[(&str, String)]) -> String {
    let fill =
        |text: String, (name, value): &(&str, String)| text.replace(&format!("{{{name}}}"), value);
    filled.iter().fold(text.to_owned(), fill)
}

#[cfg(test)]
mod tests {
    use super::note;

    #[test]
    fn a_note_is_found_by_its_title_and_filled_in() {
        let notes = "# a\nOne {n}\nline.\n\n# b\nTwo.\n";
        let filled = [("n", "long".to_owned())];
        assert_eq!(note(notes, "a", &filled).unwrap(), "One long line.");
        assert_eq!(note(notes, "b", &[]).unwrap(), "Two.");
        assert_eq!(note(notes, "c", &[]), None);
    }
}
