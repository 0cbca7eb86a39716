//! What the program says of itself: help, the manual, completions; and what it answers to slips.

use crate::bench::{Bench, Line, entries};
use std::process::Command;

/// The verbs that `--help` lists.
pub(crate) fn verbs() -> Vec<String> {
    let text = Bench::new().run("--help").stdout();
    let commands = text.split("Verbs:\n").nth(1).unwrap();
    commands
        .lines()
        .take_while(|line| !line.is_empty())
        // Further lines of a description are indented more.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// The program itself, as the empty word, and each of its verbs; `help` has no help of its own.
fn all() -> Vec<String> {
    let verbs = verbs().into_iter().filter(|verb| verb != "help");
    std::iter::once(String::new()).chain(verbs).collect()
}

#[test]
fn help_of_every_verb_fits_80_columns_and_is_one_screen_unless_all_is_asked_for() {
    let bench = Bench::new();
    let of_kvtest = ["init", "stat", "export", "run"].map(|verb| format!("kvtest {verb}"));
    for verb in all().into_iter().chain(of_kvtest) {
        let short = bench.run(&format!("{verb} --help"));
        let long = bench.run(&format!("help {verb}"));
        let (short, long) = (short.fits().stdout(), long.fits().stdout());
        let lines = short.lines().count();
        assert!(lines <= 40, "{verb}: {lines} lines\n{short}");
        assert!(long.len() >= short.len(), "{verb}");
    }
}

#[test]
fn every_verb_teaches_by_examples_that_it_takes_itself() {
    let bench = Bench::new();
    for verb in all() {
        let run = bench.run(&format!("help {verb}"));
        assert_eq!(run.exits(0).stderr(), "");
        let text = run.stdout();
        let examples = text.split_once("Examples:\n").expect(&verb).1;
        let parts: Vec<&str> = examples.split("\\\n").map(str::trim_start).collect();
        let mut own = 0;
        for line in format!("  {}", parts.join(" ")).lines() {
            let Some(line) = line.strip_prefix("  stowplan ") else {
                continue;
            };
            let line = line.split(['|', '>']).next().unwrap();
            // What stands behind a gap explains.
            let typed = line.split("  ").next().unwrap();
            own += usize::from(typed.starts_with(&verb));
            // Help is given only if everything before it is understood. What stands behind the dashes
            // is a command.
            let (before, command) = typed.split_once(" -- ").unwrap_or((typed, ""));
            bench.run(&format!("{before} --help -- {command}")).exits(0);
        }
        assert!(own > 0, "{verb}: {examples}");
    }
}

#[test]
fn without_a_verb_help_goes_to_stderr_because_nothing_was_done() {
    let run = Bench::new().run("");
    assert_eq!(run.exits(2).stdout(), "");
    run.warns("Verbs:");
}

#[test]
fn the_manual_has_a_page_of_every_verb_and_is_written_again_but_over_nothing_else() {
    let bench = Bench::new();
    bench.run("man --to man1").exits(0);
    let own = "-kvtest-init -kvtest-stat -kvtest-export -kvtest-run -drivers-check";
    let verbs = all().into_iter().map(|verb| match verb.as_str() {
        "" => verb,
        _ => format!("-{verb}"),
    });
    let pages = verbs
        .chain(own.words())
        .map(|page| format!("stowplan{page}.1"));
    let mut expected: Vec<String> = pages.collect();
    expected.sort();
    assert_eq!(entries(&bench.path("man1")), expected);
    bench.run("man --to man1").exits(0);
    bench.write("man1/stowplan-study.1", "years of work");
    bench
        .run("man --to man1")
        .refuses("stowplan-study.1 was not made by 'stowplan man'");
    assert_eq!(bench.text("man1/stowplan-study.1"), "years of work");
}

#[test]
fn a_page_keeps_the_layout_of_examples_and_tables() {
    let bench = Bench::new();
    bench
        .run("man kvtest")
        .prints("\n.nf\n  stowplan kvtest init test1.db")
        .prints("\n  0     done\n  1     a cell");
    bench.run("man").prints("stowplan\\-study(1)");
    let Ok(groff) = Command::new("groff").arg("--version").output() else {
        return;
    };
    assert!(groff.status.success());
    bench.run("man --to man1").exits(0);
    for name in entries(&bench.path("man1")) {
        let checked = Command::new("groff")
            .args(["-man", "-Kutf8", "-Tutf8", "-ww", "-z"])
            .arg(bench.path("man1").join(&name))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(
            checked.status.success() && said.is_empty(),
            "{name}: {said}"
        );
    }
}

#[test]
fn completions_are_scripts_that_their_shells_take() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.run(&format!("completions {shell}")).exits(0).stdout();
        for name in ["crossover", "cache-state"] {
            assert!(script.contains(name), "{shell}: no {name}");
        }
        assert!(!script.contains("worker"), "{shell}: it is hidden");
        bench.write("script", &script);
        // A shell that is not there cannot be asked.
        let Ok(checked) = Command::new(shell)
            .arg("-n")
            .arg(bench.path("script"))
            .output()
        else {
            continue;
        };
        assert!(checked.status.success(), "{shell}: {checked:?}");
    }
}

/// What bash offers behind these words.
fn offered(bench: &Bench, words: &str) -> Option<Vec<String>> {
    let script = r#"source ./script; COMP_WORDS=($1 ""); [[ $1 == *" " ]] || COMP_WORDS=($1)
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE=$1; COMP_POINT=${#1}
        _stowplan stowplan "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let run = Command::new("bash")
        .args(["--norc", "-c", script, "bash", words])
        .current_dir(bench.path("."))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&run.stdout);
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn bash_offers_verbs_options_studies_stores_and_values() {
    let bench = Bench::new();
    let script = bench.run("completions bash").stdout();
    // Bash offers files where the script offers nothing.
    assert!(script.contains("-o default stowplan"), "{script}");
    bench.write("script", &script);
    for (typed, offer) in [
        ("stu", "study"),
        ("study fast", "fasterthanfs"),
        ("study --sc", "--scale"),
        ("study --scale q", "quick"),
        ("study --cache-state ", "cold"),
        ("list stores red", "redb"),
        ("crossover fi", "files"),
        ("doctor --study cr", "crud"),
        ("man ", "compare"),
        ("kvtest ", "export"),
        ("report --ba", "--baseline"),
    ] {
        let Some(offers) = offered(&bench, &format!("stowplan {typed}")) else {
            return;
        };
        assert!(
            offers.iter().any(|word| word == offer),
            "{typed}: {offers:?}"
        );
    }
}
