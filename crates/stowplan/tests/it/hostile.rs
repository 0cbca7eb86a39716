//! Text from elsewhere that would steer the terminal, or pretend to be several lines.

use crate::bench::{Bench, SMALL};

/// What a terminal would obey.
fn is_control(character: char) -> bool {
    character.is_control() && character != '\n'
}

#[test]
fn a_name_in_a_study_cannot_steer_the_terminal_or_break_a_message() {
    let bench = Bench::new();
    for (right, wrong) in [
        ("baseline = \"dir\"", r#"baseline = "\u001b[2J\ndir""#),
        ("files:layout=dir", r"files:layout=\u001b]0;x\u0007"),
        ("files:layout=dir", r"\u001b[31mfiles"),
        ("[datasets.blobs]", r#"[datasets."\u001b[31m\r\n"]"#),
        ("reference = \"sql\"", r#"reference = "\u009b2J""#),
    ] {
        let text = SMALL.replacen(right, wrong, 1);
        assert_ne!(text, SMALL);
        bench.write("hostile.toml", &text);
        let refused = bench.run(&["study", "hostile.toml", "--dry-run"]);
        let told = refused.stderr();
        // A name that is refused is missed where it is used, which is a line of its own.
        for line in told.lines() {
            assert!(line.starts_with("error: hostile.toml"), "{told:?}");
            assert!(!line.contains(is_control), "{told:?}");
        }
        assert!(!told.is_empty());
    }
}

#[test]
fn what_was_typed_cannot_steer_the_terminal() {
    let bench = Bench::new();
    for typed in ["\u{1b}[2J", "sqlite:\u{1b}[2J=1", "--\u{7}x"] {
        let refused = bench.run(&["list", "stores", typed]);
        let told = refused.stderr();
        assert!(!told.is_empty() && !told.contains(is_control), "{told:?}");
    }
}
