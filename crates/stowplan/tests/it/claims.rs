//! `stowplan claims`: what articles state, and what a run says of it.

use crate::bench::{Bench, Finished, SMALL};
use serde_json::Value;
use std::sync::LazyLock;

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

/// A bench with `stated.toml`, and in `ledger/small` what a run of it left.
fn measured() -> Bench {
    static RESULT: LazyLock<String> = LazyLock::new(|| {
        let bench = Bench::new();
        bench.write("stated.toml", &stated());
        bench
            .run("study stated.toml --scale claims --rounds 10 --output out --quiet")
            .exits(0);
        bench.text("out/result.jsonl")
    });
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("ledger/small")).unwrap();
    bench.write("stated.toml", &stated());
    bench.write("ledger/small/result.jsonl", &RESULT);
    bench
}

#[test]
fn claims_are_measured_by_a_study_and_told_in_every_form() {
    let bench = measured();
    let asked = "claims --of stated.toml ledger/small";
    let document = bench.run(&format!("{asked} --json")).json();
    let verdict = |place: usize| document["claims"][place]["on"][0]["verdict"].clone();
    if verdict(0) != "unreliable" {
        assert_eq!((verdict(0), verdict(1)), ("holds".into(), "fails".into()));
    }
    assert_eq!(verdict(2), "no-data");
    let missing = &document["claims"][2]["on"][0]["missing"][0];
    assert_eq!(missing["cell"], "write/wal");

    bench
        .run("report ledger/small --verbose")
        .prints("What the article says")
        .prints("“a store takes no time”");
    bench
        .run(&format!("{asked} --verbose"))
        .fits()
        .prints("“a store takes its time” (line 7)");
    bench.run(&format!("{asked} --to claims.html")).exits(0);
    assert!(bench.text("claims.html").contains("a store takes no time"));
}

#[test]
fn a_result_of_a_study_that_had_no_claims_yet_is_asked_those_of_now_where_cells_are_the_same() {
    let bench = Bench::measured();
    let asked = |study: &str| {
        bench.write("stated.toml", study);
        let document = bench.run("claims out --of stated.toml --json").json();
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
    let short = bench.run("claims").exits(0).stdout();
    assert!(short.lines().count() <= 40, "{short}");
    let all = bench.run("claims --verbose");
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
        all.exits(0).fits().prints(words);
    }
    let table = bench.run("claims --format csv").exits(0).stdout();
    assert!(table.lines().count() > 90, "{table}");
    bench
        .run("claims --of fasterthenfs")
        .refuses("did you mean 'fasterthanfs'?");
    bench
        .run("claims --of small.toml")
        .refuses("the study states no claim");
}

/// What the first result says of each claim, in their order.
fn verdicts(run: &Finished) -> Vec<Value> {
    let document = run.exits(0).json();
    let claims = document["claims"].as_array().unwrap().iter();
    claims
        .map(|claim| claim["on"][0]["verdict"].clone())
        .collect()
}

#[test]
fn a_result_is_judged_by_the_study_that_is_asked_and_by_no_other_cells() {
    let bench = measured();
    let asked = |file: &str, place: &str| bench.run(&["claims", "--of", file, "--json", place]);
    let first = asked("stated.toml", "ledger/small");

    // Other bounds: the same blocks, another verdict, and a word about it.
    let other = stated().replace("at_most = 0.000001", "at_most = 1_000_000");
    bench.write("other.toml", &other);
    let otherwise = asked("other.toml", "ledger/small");
    otherwise.warns("(never)");
    if verdicts(&first)[0] != "unreliable" {
        assert_eq!(verdicts(&first)[1], "fails");
        assert_eq!(verdicts(&otherwise)[1], "holds");
    }
    // A directory of results is all of them.
    let named = asked("other.toml", "ledger");
    assert_eq!(verdicts(&named), verdicts(&otherwise));

    // Other work under the same name: nobody has measured that.
    let other = stated().replace(
        "operation = \"read\"",
        "order = \"ascending\", operation = \"read\"",
    );
    bench.write("work.toml", &other);
    let named = asked("work.toml", "ledger/small");
    assert_eq!(verdicts(&named), [Value::Null, Value::Null, Value::Null]);
    named.warns("not judged, because other cells");
}
