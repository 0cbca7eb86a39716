//! Words as a shell reads them: what is printed to be typed again, and names that say what they are.

use crate::steers;

/// A word that a shell with `$'…'` (bash, zsh, ksh, busybox) reads as `word`, in the style of GNU's
/// `ls --quoting-style=shell-escape`: as it is where no character means something to a shell, else in
/// single quotes; what would steer a terminal, and spaces that look like others, by their bytes
/// (`'a'$'\n''b'`). Two words never become the same text.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+:=@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let hidden = |c: char| steers(c) || (c.is_whitespace() && c != ' ');
    let (mut text, mut rest) = (String::new(), word);
    while let Some(first) = rest.chars().next() {
        let escapes = hidden(first);
        let end = rest.find(|c| hidden(c) != escapes);
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        text += &match escapes {
            true => format!("$'{}'", run.bytes().map(escaped).collect::<String>()),
            false => format!("'{}'", run.replace('\'', r"'\''")),
        };
        rest = after;
    }
    match text.is_empty() {
        true => "''".to_owned(),
        false => text,
    }
}

fn escaped(byte: u8) -> String {
    match byte {
        b'\t' => r"\t".to_owned(),
        b'\n' => r"\n".to_owned(),
        b'\r' => r"\r".to_owned(),
        byte => format!(r"\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::process::Command;

    #[test]
    fn a_word_stays_as_it_is_or_is_quoted_as_ls_does_and_a_shell_reads_it() {
        for (word, shown) in [
            ("a/b-1.txt", "a/b-1.txt"),
            ("é漢", "é漢"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("~x", "'~x'"),
            ("'\u{1b}\u{9b}", r"''\'''$'\033\302\233'"),
            ("*", "'*'"),
            ("!x", "'!x'"),
            ("$HOME `x` \\n", r"'$HOME `x` \n'"),
            ("a\n\tb\r", r"'a'$'\n\t''b'$'\r'"),
            ("\u{1b}[2J", r"$'\033''[2J'"),
            ("a\u{a0}\u{202e}", r"'a'$'\302\240\342\200\256'"),
        ] {
            assert_eq!(quoted(word), shown, "{word:?}");
            let print = format!("printf %s {shown}");
            match Command::new("bash").args(["-c", &print]).output() {
                Ok(found) => assert_eq!(String::from_utf8_lossy(&found.stdout), word, "{print}"),
                Err(_) => eprintln!("no bash here: that a shell reads {shown} is not tested"),
            }
        }
    }
}
