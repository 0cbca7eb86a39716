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

/// Measures the claims of a study file into a directory below `ledger`, and says what it has.
fn measured(bench: &Bench, file: &str, name: &str) {
    let place = format!("ledger/{name}");
    let study = ["study", file, "--scale", "claims", "--rounds", "10"];
    bench
        .run(&[&study[..], &["--output", &place, "--quiet"]].concat())
        .exits(0);
}

#[test]
fn claims_are_measured_by_a_study_and_told_in_every_form() {
    let bench = Bench::new();
    bench.write("stated.toml", &stated());
    measured(&bench, "stated.toml", "small");
    let asked = ["claims", "--of", "stated.toml", "ledger/small"];
    let document = bench
        .run(&[&asked[..], &["--json"]].concat())
        .exits(0)
        .stdout();
    let document: Value = serde_json::from_str(&document).unwrap();
    let verdict = |place: usize| document["claims"][place]["on"][0]["verdict"].clone();
    let unreliable = verdict(0) == "unreliable";
    if !unreliable {
        assert_eq!((verdict(0), verdict(1)), ("holds".into(), "fails".into()));
    }
    assert_eq!(verdict(2), "no-data");
    let missing = &document["claims"][2]["on"][0]["missing"][0];
    assert_eq!(missing["cell"], "write/wal");

    let text = bench
        .run(&["report", "ledger/small", "--verbose"])
        .exits(0)
        .stdout();
    assert!(text.contains("What the article says"), "{text}");
    assert!(text.contains("“a store takes no time”"), "{text}");

    let told = bench.run(&[&asked[..], &["--verbose"]].concat());
    let told = told.exits(0).stdout();
    assert!(told.contains("“a store takes its time” (line 7)"), "{told}");
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );
    bench
        .run(&[&asked[..], &["--to", "claims.html"]].concat())
        .exits(0);
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
    let short = bench.run(&["claims"]).exits(0).stdout();
    assert!(short.lines().count() <= 40, "{short}");
    let text = bench.run(&["claims", "--verbose"]).exits(0).stdout();
    for words in [
        "fasterthanfs: ",
        "intern-v-extern: ",
        "in-memory: ",
        "crud: ",
        "about 35% faster",
        "Internal Versus External BLOBs in SQLite",
        "(2.2. Write Performance Measurements)",
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
    measured(&bench, "stated.toml", "small");
    let asked = |file: &str, place: &str| bench.run(&["claims", "--of", file, "--json", place]);
    let first = asked("stated.toml", "ledger/small");
    first.exits(0);

    // Other bounds: the same blocks, another verdict, and a word about it.
    let other = stated().replace("at_most = 0.000001", "at_most = 1_000_000");
    bench.write("other.toml", &other);
    let otherwise = asked("other.toml", "ledger/small");
    assert!(
        otherwise.exits(0).stderr().contains("(never)"),
        "{}",
        otherwise.stderr()
    );
    if verdicts(&first)[0] != "unreliable" {
        assert_eq!(verdicts(&first)[1], "fails");
        assert_eq!(verdicts(&otherwise)[1], "holds");
    }
    // A directory of results is all of them.
    let named = asked("other.toml", "ledger");
    assert_eq!(verdicts(named.exits(0)), verdicts(&otherwise));

    // Other work under the same name: nobody has measured that.
    let other = stated().replace(
        "operation = \"read\"",
        "order = \"ascending\", operation = \"read\"",
    );
    bench.write("work.toml", &other);
    let named = asked("work.toml", "ledger/small");
    assert_eq!(
        verdicts(named.exits(0)),
        [Value::Null, Value::Null, Value::Null]
    );
    assert!(
        named.stderr().contains("not judged, because other cells"),
        "{}",
        named.stderr()
    );
}
