//! What the program says of itself: help, the manual, completions; and what it answers to slips.

use crate::bench::{Bench, entries};
use std::process::Command;

/// The verbs that `--help` lists.
pub(crate) fn verbs() -> Vec<String> {
    let text = Bench::new().run(&["--help"]).stdout();
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

/// All that help says of a verb; of the program itself without one.
fn help(verb: Option<&str>) -> String {
    let arguments: Vec<&str> = ["help"].into_iter().chain(verb).collect();
    let run = Bench::new().run(&arguments);
    assert_eq!(run.exits(0).stderr(), "");
    run.stdout()
}

/// The program itself, and each of its verbs; `help` has no help of its own.
fn all() -> Vec<Option<String>> {
    let verbs = verbs().into_iter().filter(|verb| verb != "help");
    std::iter::once(None).chain(verbs.map(Some)).collect()
}

#[test]
fn help_of_every_verb_fits_80_columns_and_is_one_screen_unless_all_is_asked_for() {
    let of_kvtest = ["init", "stat", "export", "run"].map(|verb| vec!["kvtest", verb]);
    let of_verbs = all();
    let of_verbs = of_verbs
        .iter()
        .map(|verb| verb.as_deref().into_iter().collect());
    for words in of_verbs.chain(of_kvtest) {
        let said = |words: &[&str]| Bench::new().run(words).exits(0).stdout();
        let short = said(&[&words[..], &["--help"]].concat());
        let long = said(&[&["help"], &words[..]].concat());
        let lines = short.lines().count();
        assert!(lines <= 40, "{words:?}: {lines} lines\n{short}");
        for line in short.lines().chain(long.lines()) {
            assert!(line.chars().count() <= 80, "{words:?}: {line}");
        }
        assert!(long.len() >= short.len(), "{words:?}");
    }
}

#[test]
fn every_verb_teaches_by_examples_that_it_takes_itself() {
    let bench = Bench::new();
    for verb in all() {
        let text = help(verb.as_deref());
        let (_, examples) = text
            .split_once("Examples:\n")
            .unwrap_or_else(|| panic!("{verb:?}"));
        let parts: Vec<&str> = examples.split("\\\n").map(str::trim_start).collect();
        let examples = format!("  {}", parts.join(" "));
        let lines = examples
            .lines()
            .filter(|line| line.starts_with("  stowplan "));
        let mut own = 0;
        for line in lines {
            let line = line.trim_start().split(['|', '>']).next().unwrap();
            // What stands behind a gap explains.
            let typed = line.split("  ").next().unwrap();
            let mut words: Vec<&str> = typed.split_whitespace().skip(1).collect();
            own += usize::from(verb.as_deref().is_none_or(|verb| words[0] == verb));
            // Help is given only if everything before it is understood. What stands behind the dashes
            // is a command.
            let command = words.iter().position(|word| *word == "--");
            words.insert(command.unwrap_or(words.len()), "--help");
            bench.run(&words).exits(0);
        }
        assert!(own > 0, "{verb:?}: {examples}");
    }
}

#[test]
fn a_slip_is_answered_in_one_line_with_what_was_meant_and_where_to_look() {
    let bench = Bench::new();
    for (typed, said) in [
        ("stdy", "unrecognized verb 'stdy'; did you mean 'study'?"),
        ("kvtset", "did you mean 'kvtest'?"),
        (
            "xyzzy",
            "unrecognized verb 'xyzzy'; 'stowplan help' says more",
        ),
        ("help stdy", "unrecognized verb 'stdy'"),
        ("man stdy", "did you mean 'study'?"),
        ("completions bsh", "did you mean 'bash'?"),
        (
            "study small.toml --sacle quick",
            "did you mean '--scale'?; 'stowplan help study'",
        ),
        (
            "study small.toml --xyzzy",
            "unexpected argument '--xyzzy' found; 'stowplan help study'",
        ),
        ("--colr never list", "did you mean '--color'?"),
        ("--color nevr list", "did you mean 'never'?"),
        ("study fasterthenfs", "did you mean 'fasterthanfs'?"),
        ("study fasterthanfs --scale quik", "did you mean 'quick'?"),
        ("study small.toml --only raed", "did you mean 'read'?"),
        (
            "study small.toml --cache-state wram",
            "did you mean 'warm'?",
        ),
        (
            "study small.toml --durability durabel",
            "did you mean 'durable'?",
        ),
        (
            "study small.toml --rounds many",
            "invalid value 'many' for '--rounds <N>'",
        ),
        ("study small.toml --budget 3x", "write 90s, 3m or 1h"),
        ("study small.toml --precision tight", "write for example 2%"),
        (
            "study small.toml --scale",
            "a value is required for '--scale <SCALE>'",
        ),
        (
            "study small.toml --cache-state",
            "'--cache-state <STATE>' but none was supplied [possible values: warm, cold",
        ),
        (
            "study small.toml -q -v",
            "'--quiet' cannot be used with '--verbose'",
        ),
        (
            "study small.toml other.toml",
            "unexpected argument 'other.toml' found; 'stowplan help study'",
        ),
        ("crossover sqlit", "did you mean 'sqlite'?"),
        ("crossover sqlite:jornal=wal", "did you mean 'journal'?"),
        ("crossover sqlite:journal=wall", "did you mean 'wal'?"),
        ("crossover --from 1kk", "unknown suffix 'kk'"),
        ("list stores sqlte", "did you mean 'sqlite'?"),
        (
            "report",
            "not provided: <RESULT>...; 'stowplan help report'",
        ),
        ("init x.db", "it is 'stowplan kvtest init' now"),
        ("stores", "it is 'stowplan list stores' now"),
        ("study --resume out", "it is 'stowplan resume DIR' now"),
        ("report out --output a.md", "it is '--to FILE' now"),
        ("run small.db", "there is no study 'small.db'"),
        (
            "kvtest init",
            "not provided: <DB>; 'stowplan help kvtest init'",
        ),
        ("kvtest ini", "did you mean 'init'?; 'stowplan help kvtest'"),
        ("kvtest export x.db", "not provided: <DIR>"),
        (
            "kvtest run x.db --rounds 900",
            "'--rounds <N>': 900 is not in 1..=200",
        ),
        ("kvtest init x.db --cuont 5", "did you mean '--count'?"),
        ("kvtest run x.db --jmode wall", "did you mean 'wal'?"),
    ] {
        let words: Vec<&str> = typed.split(' ').collect();
        let run = bench.run(&words);
        run.refuses(said);
        let stderr = run.stderr();
        assert_eq!(stderr.lines().count(), 1, "{typed}: {stderr}");
        assert_eq!(run.stdout(), "", "{typed}");
    }
    assert_eq!(entries(&bench.path(".")), ["small.toml"]);
}

#[test]
fn without_a_verb_help_goes_to_stderr_because_nothing_was_done() {
    let run = Bench::new().run(&[]);
    assert_eq!(run.exits(2).stdout(), "");
    assert!(run.stderr().contains("Verbs:"), "{}", run.stderr());
}

#[test]
fn the_manual_has_a_page_of_every_verb_and_is_written_again_but_over_nothing_else() {
    let bench = Bench::new();
    bench.run(&["man", "--to", "man1"]).exits(0);
    let own = [
        "kvtest-init",
        "kvtest-stat",
        "kvtest-export",
        "kvtest-run",
        "drivers-check",
    ];
    let mut expected: Vec<String> = verbs()
        .into_iter()
        .filter(|verb| verb != "help")
        .chain(own.map(str::to_owned))
        .map(|verb| format!("stowplan-{verb}.1"))
        .collect();
    expected.push("stowplan.1".to_owned());
    expected.sort();
    assert_eq!(entries(&bench.path("man1")), expected);
    bench.run(&["man", "--to", "man1"]).exits(0);
    bench.write("man1/stowplan-study.1", "years of work");
    bench
        .run(&["man", "--to", "man1"])
        .refuses("stowplan-study.1 was not made by 'stowplan man'");
    let kept = std::fs::read_to_string(bench.path("man1/stowplan-study.1")).unwrap();
    assert_eq!(kept, "years of work");
}

#[test]
fn a_page_keeps_the_layout_of_examples_and_tables() {
    let bench = Bench::new();
    let page = bench.run(&["man", "kvtest"]).exits(0).stdout();
    assert!(
        page.contains("\n.nf\n  stowplan kvtest init test1.db"),
        "{page}"
    );
    assert!(page.contains("\n  0     done\n  1     a cell"), "{page}");
    let page = bench.run(&["man"]).exits(0).stdout();
    assert!(page.contains("stowplan\\-study(1)"), "{page}");
    let Ok(groff) = Command::new("groff").arg("--version").output() else {
        return;
    };
    assert!(groff.status.success());
    bench.run(&["man", "--to", "man1"]).exits(0);
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
        let script = bench.run(&["completions", shell]).exits(0).stdout();
        for name in ["fasterthanfs", "sqlite", "crossover", "cache-state"] {
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
    let script = bench.run(&["completions", "bash"]).exits(0).stdout();
    bench.write("script", &script);
    for (typed, offer) in [
        ("stowplan stu", "study"),
        ("stowplan study fast", "fasterthanfs"),
        ("stowplan study --sc", "--scale"),
        ("stowplan study --scale q", "quick"),
        ("stowplan study --cache-state ", "cold"),
        ("stowplan list stores red", "redb"),
        ("stowplan crossover fi", "files"),
        ("stowplan doctor --study cr", "crud"),
        ("stowplan man ", "compare"),
        ("stowplan kvtest ", "export"),
        ("stowplan report --ba", "--baseline"),
    ] {
        let Some(offers) = offered(&bench, typed) else {
            return;
        };
        assert!(
            offers.iter().any(|word| word == offer),
            "{typed}: {offers:?}"
        );
    }
}

/// Bash offers files where the script offers nothing.
#[test]
fn where_a_file_is_to_be_named_bash_is_left_to_offer_files() {
    let bench = Bench::new();
    let script = bench.run(&["completions", "bash"]).exits(0).stdout();
    assert!(script.contains("-o default stowplan"), "{script}");
    bench.write("script", &script);
    for verb in [
        "report",
        "compare",
        "doctor",
        "stat",
        "resume",
        "kvtest export",
        "kvtest run",
        "kvtest init",
    ] {
        for words in ["", "x ", "sma"] {
            let typed = format!("stowplan {verb} {words}");
            let Some(offers) = offered(&bench, &typed) else {
                return;
            };
            assert_eq!(offers.concat(), "", "{typed}");
        }
    }
}
