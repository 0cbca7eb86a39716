//! `stowplan claims`: what articles state, and what a run says of it.

use crate::bench::{Bench, Finished, SMALL};
use serde_json::Value;

/// A small study with a claim that nobody can doubt, one that nobody can believe, and one of a comparison
/// that is left out.
fn stated() -> String {
    format!(
        "{SMALL}\n[[claim]]\nid = \"sure\"\nquote = \"a store takes its time\"\nplace = \"line 7\"\n\
         test = [{{ of = \"read/sql\", to = \"read/dir\", at_least = 0.000001 }}]\n\
         [[claim]]\nid = \"never\"\nquote = \"a store takes no time\"\n\
         test = [{{ of = \"read/sql\", to = \"read/dir\", at_most = 0.000001 }}]\n\
         [[claim]]\nid = \"other\"\nquote = \"writes take their time\"\n\
         test = [{{ of = \"write/wal\", to = \"read/dir\", at_least = 0.000001 }}]\n\
         [scales.claims]\nmax_rounds = 10\nskip = [\"write\"]\n"
    )
}

#[test]
fn claims_are_measured_once_and_told_in_every_form() {
    let bench = Bench::new();
    bench.write("stated.toml", &stated());
    let measure = [
        "claims",
        "--measure",
        "--of",
        "stated.toml",
        "--in",
        "ledger",
        "--json",
    ];
    let document: Value = serde_json::from_str(&bench.run(&measure).exits(0).stdout()).unwrap();
    let verdict = |place: usize| document["claims"][place]["on"][0]["verdict"].clone();
    let unreliable = verdict(0) == "unreliable";
    if !unreliable {
        assert_eq!((verdict(0), verdict(1)), ("holds".into(), "fails".into()));
    }
    assert_eq!(verdict(2), "no-data");
    let missing = &document["claims"][2]["on"][0]["missing"][0];
    assert_eq!(missing["cell"], "write/wal");

    // What is measured is an ordinary result, with its page, and of the cells that claims name.
    let result = bench.path("ledger/small/result.jsonl");
    let before = std::fs::read(&result).unwrap();
    assert!(bench.path("ledger/small/report.html").exists());
    let text = bench.run(&["report", "ledger/small"]).exits(0).stdout();
    assert!(text.contains("What the article says"), "{text}");
    assert!(text.contains("“a store takes no time”"), "{text}");

    // Again: nothing is left to measure. Without its end: it goes on.
    bench.run(&measure).exits(0);
    assert_eq!(std::fs::read(&result).unwrap(), before);
    let lines = String::from_utf8(before).unwrap();
    let cut = lines.lines().count() - 4;
    let cut: String = lines
        .lines()
        .take(cut)
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&result, &cut).unwrap();
    bench.run(&measure).exits(0);
    let after = std::fs::read_to_string(&result).unwrap();
    assert!(after.starts_with(&cut) && after.len() > cut.len());

    let told = bench.run(&["claims", "--of", "stated.toml", "ledger/small"]);
    let told = told.exits(0).stdout();
    assert!(told.contains("“a store takes its time” (line 7)"), "{told}");
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );
    let line = [
        "claims",
        "ledger/small",
        "--of",
        "stated.toml",
        "--output",
        "claims.html",
    ];
    bench.run(&line).exits(0);
    let page = std::fs::read_to_string(bench.path("claims.html")).unwrap();
    assert!(page.contains("a store takes no time"));
}

#[test]
fn a_result_of_a_study_that_had_no_claims_yet_is_asked_those_of_now_where_cells_are_the_same() {
    let bench = Bench::new();
    let study = ["study", "small.toml", "--only", "read", "--rounds", "10"];
    bench.run(&[&study[..], &["-o", "old"]].concat()).exits(0);
    let asked = |study: &str| {
        bench.write("stated.toml", study);
        let line = ["claims", "old", "--of", "stated.toml", "--json"];
        let document = bench.run(&line).exits(0).stdout();
        let document: Value = serde_json::from_str(&document).unwrap();
        document["claims"][0].clone()
    };
    let known = asked(&stated());
    assert_eq!(known["stated"]["id"], "sure");
    let verdict = known["on"][0]["verdict"].as_str().unwrap();
    assert!(matches!(verdict, "holds" | "unreliable"), "{known}");
    // A cell of that name does something else now, and was not measured.
    for (was, is) in [
        ("sqlite:api=sql", "sqlite:api=blob"),
        (
            "\"read\", operations",
            "\"read\", order = \"ascending\", operations",
        ),
    ] {
        assert!(stated().contains(was), "{was}");
        let other = asked(&stated().replace(was, is));
        assert_eq!(other["on"], serde_json::json!([null]), "{other}");
    }
}

#[test]
fn without_results_every_claim_is_listed_with_what_would_decide_it() {
    let bench = Bench::new();
    let text = bench.run(&["claims"]).exits(0).stdout();
    for words in [
        "fasterthanfs: ",
        "intern-v-extern: ",
        "in-memory: ",
        "crud: ",
        "about 35% faster",
        "(003:29)",
        "said to be 5 to 15",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let table = bench.run(&["claims", "--format", "csv"]).exits(0).stdout();
    assert!(table.lines().count() > 90, "{table}");
    bench
        .run(&["claims", "--of", "fasterthenfs"])
        .refuses("did you mean 'fasterthanfs'?");
    bench
        .run(&["claims", "--of", "small.toml"])
        .refuses("the study states no claim");
    bench.run(&["claims", "--in", "here"]).refuses("--measure");
}

/// What the first result says of each claim, in their order.
fn verdicts(run: &Finished) -> Vec<Value> {
    let document: Value = serde_json::from_str(&run.stdout()).unwrap();
    let claims = document["claims"].as_array().unwrap().iter();
    claims
        .map(|claim| claim["on"][0]["verdict"].clone())
        .collect()
}

#[test]
fn a_result_is_judged_by_the_study_that_is_asked_and_by_no_other_cells() {
    let bench = Bench::new();
    bench.write("stated.toml", &stated());
    let measure = |file: &str, more: &[&str]| {
        let words = [
            "claims",
            "--measure",
            "--of",
            file,
            "--in",
            "ledger",
            "--json",
        ];
        bench.run(&[&words[..], more].concat())
    };
    let first = measure("stated.toml", &["--rounds", "10"]);
    first.exits(0);
    let result = bench.path("ledger/small/result.jsonl");
    let before = std::fs::read(&result).unwrap();

    // Other bounds: the same blocks, another verdict, and a word about it.
    let other = stated().replace("at_most = 0.000001", "at_most = 1_000_000");
    bench.write("other.toml", &other);
    let asked = measure("other.toml", &["--rounds", "10"]);
    assert!(
        asked.exits(0).stderr().contains("(never)"),
        "{}",
        asked.stderr()
    );
    assert_eq!(std::fs::read(&result).unwrap(), before);
    if verdicts(&first)[0] != "unreliable" {
        assert_eq!(verdicts(&first)[1], "fails");
        assert_eq!(verdicts(&asked)[1], "holds");
    }
    // A directory of results is all of them.
    let named = bench.run(&["claims", "--of", "other.toml", "--json", "ledger"]);
    assert_eq!(verdicts(named.exits(0)), verdicts(&asked));

    // Other work under the same name: nobody has measured that.
    let other = stated().replace(
        "operation = \"read\"",
        "order = \"ascending\", operation = \"read\"",
    );
    bench.write("work.toml", &other);
    measure("work.toml", &[])
        .refuses("is of another study, one of this name that measures something else");
    assert_eq!(std::fs::read(&result).unwrap(), before);
    let named = bench.run(&["claims", "--of", "work.toml", "--json", "ledger/small"]);
    assert_eq!(
        verdicts(named.exits(0)),
        [Value::Null, Value::Null, Value::Null]
    );
    assert!(
        named.stderr().contains("not judged, because other cells"),
        "{}",
        named.stderr()
    );

    // What is left, and what failed.
    let text = measure_dry(&bench);
    assert!(
        text.contains("small, in ledger/small:") && text.contains("This run is complete"),
        "{text}"
    );
    let lines = String::from_utf8(before).unwrap();
    let failure =
        "{\"type\":\"failure\",\"cell\":\"read/sql\",\"message\":\"no room\",\"stderr\":\"\"}\n";
    let end = lines.rfind("{\"type\":\"end\"").unwrap();
    std::fs::write(
        &result,
        format!("{}{failure}{}", &lines[..end], &lines[end..]),
    )
    .unwrap();
    measure("stated.toml", &[]).exits(1);
}

fn measure_dry(bench: &Bench) -> String {
    let words = [
        "claims",
        "--measure",
        "--of",
        "stated.toml",
        "--in",
        "ledger",
        "--dry-run",
    ];
    bench.run(&words).exits(0).stdout()
}

#[test]
fn a_study_that_cannot_be_measured_hides_nothing_of_those_before_it() {
    let bench = Bench::new();
    bench.write("stated.toml", &stated());
    bench.write(
        "second.toml",
        &stated().replace("name = \"small\"", "name = \"second\""),
    );
    std::fs::create_dir_all(bench.path("ledger/second")).unwrap();
    std::fs::write(bench.path("ledger/second/letter"), "dear").unwrap();
    let words = ["claims", "--measure", "--in", "ledger", "--rounds", "3"];
    let all = ["--of", "stated.toml", "--of", "second.toml", "--json"];
    let all = [&words[..], &all].concat();
    let run = bench.run(&all);
    run.refuses("ledger/second exists and is not empty");
    let document: Value = serde_json::from_str(&run.stdout()).unwrap();
    assert_eq!(document["machines"].as_array().unwrap().len(), 1);
    // More rounds than there were are measured, and as many as there were are not.
    let blocks = |rounds: &str| {
        let words = [
            "claims",
            "--measure",
            "--in",
            "ledger",
            "--of",
            "stated.toml",
            "--rounds",
            rounds,
        ];
        bench.run(&words).exits(0);
        let text = std::fs::read_to_string(bench.path("ledger/small/result.jsonl")).unwrap();
        text.matches("\"type\":\"measurement\"").count()
    };
    let three = blocks("3");
    assert!(blocks("10") > three);
    let run = bench.run(&[&words[..4], &["--of", "second.toml"]].concat());
    run.refuses("is not empty");
    assert_eq!(run.stdout(), "");
}
