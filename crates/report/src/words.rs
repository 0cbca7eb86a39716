//! Texts that can be read without reading Rust: notes with a title each, in files in `words/`.

/// The text of a note, in which what stands in braces is filled in; nothing where there is no such note.
pub(crate) fn note(notes: &str, title: &str, filled: &[(&str, String)]) -> Option<String> {
    let (_, text) = titled(notes).find(|(known, _)| *known == title)?;
    Some(fill(&text, filled))
}

/// All notes, each with its title, in one line.
pub(crate) fn titled(notes: &str) -> impl Iterator<Item = (&str, String)> {
    let notes = notes.split("\n\n");
    let titled = notes.filter_map(|note| note.trim_start_matches("# ").split_once('\n'));
    titled.map(|(title, text)| (title, text.trim().replace('\n', " ")))
}

/// What a note says in two ways, parted by ` / `: nothing where there is no such note.
pub(crate) fn halves(notes: &str, title: &str) -> (String, String) {
    let text = note(notes, title, &[]).unwrap_or_default();
    let (first, second) = text.split_once(" / ").unwrap_or_default();
    (first.to_owned(), second.to_owned())
}

/// A text in which what stands in braces is filled in.
pub(crate) fn fill(text: &str, filled: &[(&str, String)]) -> String {
    let fill =
        |text: String, (name, value): &(&str, String)| text.replace(&format!("{{{name}}}"), value);
    filled.iter().fold(text.to_owned(), fill)
}

#[cfg(test)]
mod tests {
    use super::{halves, note};
    use stowplan_analysis::What;
    use stowplan_model::{ClaimMeasure, Measure, OddityKind};

    fn named(things: &[impl std::fmt::Debug]) -> Vec<String> {
        things.iter().map(|it| format!("{it:?}")).collect()
    }

    #[test]
    fn whatever_there_may_be_is_called_something() {
        use What::{Boot, Cold, Mixed, Read, ReadByPython, Replace, Together, TogetherByPython};
        let reads = [Read, ReadByPython, Together, TogetherByPython, Cold, Boot];
        let respects = [named(&reads), named(&[Replace, Mixed])].concat();
        let (measures, odd) = (named(&Measure::ALL), named(&OddityKind::ALL));
        for (notes, titles) in [
            (include_str!("words/measures.txt"), measures),
            (include_str!("words/advise.txt"), respects),
            (include_str!("words/odd.txt"), odd),
        ] {
            for title in titles {
                let (first, second) = halves(notes, &title);
                assert!(!first.is_empty() && !second.is_empty(), "{title}");
            }
        }
        for title in named(&ClaimMeasure::ALL) {
            let found = note(include_str!("words/claims.txt"), &title, &[]);
            assert!(found.is_some(), "{title}");
        }
    }
}
