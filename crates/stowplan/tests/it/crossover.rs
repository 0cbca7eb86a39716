//! `stowplan crossover`, on stores of known cost.

use crate::bench::{Bench, Finished};
use serde_json::Value;

/// What the one sweep found: its sizes as runs of which the same may be said.
fn finding(finished: &Finished) -> Value {
    sweep(finished)["finding"]["runs"].clone()
}

fn sweep(finished: &Finished) -> Value {
    finished.exits(0).json()["by_size"][0]["rows"][0].clone()
}

#[test]
fn the_zone_holds_the_known_crossing_and_sizes_are_added_next_to_it() {
    let bench = Bench::new();
    // 1,000 ns + 2 ns a byte against 24,200 ns: both take as long for 11,600 bytes. The ends are so far from it that
    // no load of the machine hides who wins there.
    let sweep = sweep(&bench.run(
        "crossover spin:base=1000,per_kib=2048 spin:base=24200 \
        --from 4KiB --to 32KiB --bytes 1MB --rounds 10 --json \
        --verbose --color always",
    ));
    let found = &sweep["finding"]["runs"];
    let runs = found.as_array().unwrap();
    let size = |run: &Value, end: &str| run[end].as_u64().unwrap();
    // Of the sizes at the ends one may be open where others keep the machine busy; none has the wrong winner.
    let won = |winner: &'static str| {
        runs.iter()
            .filter(move |run| run["standing"]["wins"] == winner)
    };
    let low = won("a").map(|run| size(run, "to")).max();
    let high = won("b").map(|run| size(run, "from")).min();
    assert!(low.is_some_and(|low| low < 11_600), "{found}");
    assert!(high.is_some_and(|high| high > 11_600), "{found}");
    // How narrow the zone is depends on the machine's noise, and not how close the sizes in it are.
    let points = sweep["points"].as_array().unwrap();
    let sizes = points.iter().map(|point| size(point, "size"));
    let (below, above): (Vec<u64>, Vec<u64>) = sizes.partition(|size| *size < 11_600);
    let (below, above) = (below.into_iter().max(), above.into_iter().min());
    let (below, above) = (below.unwrap(), above.unwrap());
    assert!(2 * above <= 3 * below, "{points:#?}");
}

#[test]
fn where_there_is_no_crossing_none_is_found() {
    let bench = Bench::new();
    let found = finding(&bench.run(
        "crossover spin:base=20000 spin:base=60000 \
        --from 2KiB --to 4KiB --bytes 1MB --rounds 10 --json",
    ));
    // Where others keep the machine busy a size may be open, or a win not be claimed.
    let runs = found.as_array().unwrap();
    let wins = |winner: &str| runs.iter().any(|run| run["standing"]["wins"] == winner);
    assert!(wins("a") && !wins("b"), "{found}");
    let ends = (&runs[0]["from"], &runs[runs.len() - 1]["to"]);
    assert_eq!(ends, (&2_048.into(), &4_096.into()), "{found}");
}

#[test]
fn stores_that_promise_unlike_things_are_compared_if_that_is_asked_for() {
    let bench = Bench::new();
    let line = "crossover sqlite:journal=wal,synchronous=full files:write=in-place \
                --operation overwrite --dry-run --verbose";
    bench.run(line).refuses("or give --unlike-promises");
    bench
        .run(&format!("{line} --unlike-promises"))
        .exits(0)
        .prints("durability durable, atomic")
        .prints("durability none");
}

#[test]
fn data_that_a_cache_could_hold_is_warned_of() {
    let bench = Bench::new();
    let planned = |options: &str| bench.run(&format!("crossover --dry-run {options}"));
    planned("--bytes 4MB")
        .exits(0)
        .warns("give more --bytes")
        .warns("from 1 KiB to 256 KiB");
    planned("--from 100 --to 100kB")
        .exits(0)
        .warns("from 100 B to")
        .warns("give a larger --from");
    for calm in ["", "spin files --bytes 4MB"] {
        assert_eq!(planned(calm).exits(0).stderr(), "");
    }
}

#[test]
fn a_dry_run_says_what_refining_adds() {
    let bench = Bench::new();
    let one = bench.run("crossover --dry-run");
    one.exits(0)
        .prints("then up to about 12 comparisons follow");
}
