//! Characters that steer whatever shows a text. Names come from study files, from results of other
//! machines and from databases: none of them may reach a terminal, a page or a document as more than
//! text.

use serde::Serialize;

/// Whether a character steers a terminal or turns the direction of the text around it, so that it
/// reads as something else than it says (Unicode Technical Report 36, "Bidirectional Text
/// Spoofing"): control characters of both sets, separators of lines, marks of direction.
#[must_use]
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

/// A document of JSON, indented and ended by a newline, in which such characters stand as references.
pub(crate) fn pretty(document: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(document).map(|json| referred_to(json) + "\n")
}

/// Characters that steer occur in texts only, but for the ends of lines.
fn referred_to(json: String) -> String {
    let stays = |c: char| c == '\n' || !steers(c);
    if json.chars().all(stays) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if stays(character) {
            text.push(character);
        } else {
            text.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_scripts_are_text_and_nothing_that_steers_is() {
        assert!(!"aé漢🙂עברית \u{a0}\u{200d}".chars().any(steers));
        for steering in "\0\t\n\r\u{7}\u{8}\u{1b}\u{7f}\u{85}\u{9b}\u{202e}\u{2066}\u{200f}".chars()
        {
            assert!(steers(steering), "{}", steering.escape_unicode());
        }
    }

    #[test]
    fn a_document_says_the_same_with_references() {
        let said = "a\u{9b}2J\u{7f}\u{202e}\u{1b}é\n";
        let document = serde_json::to_string_pretty(&[said]).unwrap();
        let text = referred_to(document);
        assert!(!text.chars().any(|c| c != '\n' && steers(c)), "{text:?}");
        let read: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, [said]);
    }
}
