//! "did you mean …": the nearest known word to a mistyped one.

/// The known word nearest to `word`, if it is near enough to be a slip: at most a third of its
/// letters differ (Damerau–Levenshtein, optimal string alignment), or one is a prefix of the other.
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let normal = |s: &str| s.to_lowercase().replace('-', "_");
    let word = normal(word);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&word, &normal(candidate)), candidate))
        .filter(|(distance, candidate)| {
            let longest = word.chars().count().max(candidate.chars().count());
            *distance <= (longest / 3).max(1)
                || (word.len() >= 3 && normal(candidate).starts_with(&word))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean 'x'?`, or nothing: the end of a message: the question
/// mark ends its sentence.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    near_miss(word, known)
        .map(|candidate| format!("; did you mean '{candidate}'?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        for (word, near) in [
            ("pagesize", Some("page_size")),
            ("page-size", Some("page_size")),
            ("jorunal", Some("journal")),
            ("sync", Some("synchronous")),
            ("colour", None),
        ] {
            let known = ["page_size", "journal", "synchronous", "cache"];
            assert_eq!(near_miss(word, known), near);
        }
    }
}
