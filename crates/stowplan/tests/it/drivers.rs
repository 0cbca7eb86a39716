//! Programs that host other stores: how they are found, named and listed, and what is said of those
//! that are missing.

use crate::bench::{Bench, Finished, Line, PROGRAM, make_executable};
use std::collections::BTreeSet;
use std::ops::Deref;
use stowplan_harness::drivers::KNOWN;
use stowplan_model::Record;

/// A driver that hosts the floor under another name.
const MINI: &str = r#"#!/bin/sh
sed -u 's/"mini/"flat/g' | "$STOWPLAN" worker | sed -u 's/"name":"flat"/"name":"mini"/g'
"#;

const STUDY: &str = r#"
name = "short"
title = "A driver's store beside one that is built in"
question = "How is it called?"
[datasets.blobs]
count = 60
size = { distribution = "fixed", bytes = 300 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 20 }
baseline = "flat"
[comparison.cells]
flat = { store = "flat" }
short = { store = "STORE" }
"#;

/// A program of its own, beside which there are no drivers, and which finds one in `drivers`.
struct Place(Bench);

impl Deref for Place {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.0
    }
}

impl Place {
    fn new() -> Self {
        // The program cannot be linked into memory.
        let bench = Bench::on_disk();
        for directory in ["bin", "drivers"] {
            std::fs::create_dir(bench.path(directory)).unwrap();
        }
        std::fs::hard_link(PROGRAM, bench.path("bin/stowplan")).unwrap();
        Self(bench)
    }

    /// With a driver that has the name `mini`.
    fn with(script: &str) -> Self {
        let place = Self::new();
        place.driver("mini", script);
        place
    }

    fn driver(&self, name: &str, script: &str) {
        let path = format!("drivers/stowplan-driver-{name}");
        make_executable(&self.write(&path, script).path(&path));
    }

    /// Takes the driver away, or brings it back.
    fn moved(&self, from: &str, to: &str) {
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn run(&self, line: &(impl Line + ?Sized)) -> Finished {
        let program = self.path("bin/stowplan");
        let mut command = self.command_of(&program, line);
        command
            .env("STOWPLAN", &program)
            .env("STOWPLAN_DRIVERS", self.path("drivers"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("PATH", "/usr/bin:/bin");
        Finished::of(&mut command)
    }

    fn study(&self, store: &str) -> Finished {
        self.write("short.toml", &STUDY.replace("STORE", store));
        self.run("study short.toml --rounds 2 -o out --verbose")
    }

    /// Writes the study with a cell that is optional.
    fn optional(&self, store: &str) {
        let optional = format!("store = \"{store}\", optional = true");
        self.write("short.toml", &STUDY.replace("store = \"STORE\"", &optional));
    }

    /// As if the run had been broken off before its last records.
    fn broken_off(&self) {
        let text = self.text("out/result.jsonl");
        let lines: Vec<&str> = text.lines().collect();
        let left = lines[..lines.len() - 4].join("\n") + "\n";
        self.write("out/result.jsonl", &left);
    }

    fn cells_measured(&self) -> BTreeSet<String> {
        let cells = self
            .records("out")
            .into_iter()
            .filter_map(|record| match record {
                Record::Measurement(measured) => Some(measured.cell.0),
                _ => None,
            });
        cells.collect()
    }
}

const DRIVER: &str = "drivers/stowplan-driver-mini";

#[test]
fn a_store_whose_driver_is_not_found_says_how_to_get_it() {
    let place = Place::new();
    let listed = ["stores", "drivers"].map(|what| place.run(&["list", what]));
    for driver in KNOWN {
        let (name, hint) = (driver.name, driver.how_to_get());
        for list in &listed {
            list.exits(0)
                .fits()
                .prints(&format!("\n{name:<16}{hint}\n"));
        }
        let hint = hint.split(" (").next().unwrap();
        let store = format!("{name}/{}", driver.kinds[0]);
        place.study(&store).refuses(hint);
        // The driver that loads any SQLite library has the name of a kind that is built in.
        if name != "sqlite" {
            place.run(&["list", "stores", name]).refuses(hint);
            place.study(name).refuses(hint);
        }
    }
    for (line, said) in [
        ("list stores rocksbd", "'rocksdb'?"),
        (
            "crossover rocksdb files",
            "cargo install --locked --path drivers/rocksdb",
        ),
        (
            "list stores bbolt",
            "write go/bbolt; driver 'go' was not found; in a checkout of stowplan: drivers/go/install",
        ),
    ] {
        place.run(line).refuses(said);
    }
}

#[test]
fn a_driver_is_found_where_its_installer_puts_it() {
    let place = Place::with(MINI);
    std::fs::create_dir_all(place.path("data/stowplan/drivers")).unwrap();
    place.moved(DRIVER, "data/stowplan/drivers/stowplan-driver-mini");
    place.run("list stores mini").exits(0).prints("mini:read=");
}

#[test]
fn a_cell_that_is_optional_is_left_out_without_its_driver_and_everybody_says_so() {
    let place = Place::new();
    place.optional("go/bbolt");
    let why = "driver 'go' was not found; in a checkout of stowplan: drivers/go/install";
    let planned = place.run("study short.toml --dry-run");
    planned.says(&format!("not applicable: go/bbolt: {why}"));
    for line in [
        "study short.toml --rounds 2 -o out --verbose",
        "report out --verbose",
        "study short.toml --rounds 2 --only read/short -o only --verbose",
    ] {
        let told = format!("go/bbolt: not applicable: {why}");
        place.run(line).exits(0).says(&told);
    }
    let records = place.records("out");
    let Record::Run(header) = &records[0] else {
        panic!("no header");
    };
    let left_out = &header.plan.comparisons[0].not_applicable;
    assert!(left_out["go/bbolt"].starts_with(why), "{left_out:?}");
    let warned = |record: &Record| matches!(record, Record::Warning(w) if w.message.contains(why));
    assert!(records.iter().any(warned));
    // Cells that can be measured are judged as ever.
    place.optional("flat:raed=mmap");
    place.run("study short.toml").refuses("'read'?");
    place.study("go/bbolt").refuses(why);
}

#[test]
fn a_cell_that_is_optional_is_left_out_where_its_driver_was_installed_without_its_store() {
    let place = Place::new();
    place.driver("python", MINI);
    place.optional("python/apsw");
    let why = "driver 'python' was installed without 'apsw'; in a checkout of stowplan: drivers/python/install";
    place.run("study short.toml --dry-run").exits(0).says(why);
    place.optional("python/aspw");
    let planned = place.run("study short.toml --dry-run");
    planned.refuses("driver 'python' has no store 'aspw'");
}

#[test]
fn a_run_goes_on_as_it_was_planned_when_the_driver_of_an_optional_cell_came_meanwhile() {
    let place = Place::new();
    place.optional("mini/mini");
    place.run("study short.toml --rounds 2 -o out").exits(0);
    place.broken_off();
    place.driver("mini", MINI);
    let went_on = place.run("resume out --verbose");
    went_on.exits(0).says("mini/mini: not applicable: ");
    let measured = place.cells_measured();
    assert!(measured.iter().all(|cell| !cell.contains("short")));
    // What one of two results lacks so is said to be lacking, and no other study.
    place.run("study short.toml --rounds 2 -o with").exits(0);
    let compared = place.run("compare with out");
    compared.exits(2).says("read/short: not applicable");
}

#[test]
fn a_driver_s_store_of_its_own_name_needs_no_other_and_keeps_it_and_a_run_goes_on_with_its_driver()
{
    let place = Place::with(MINI);
    let listed = place.run("list stores");
    listed
        .exits(0)
        .prints("\nmini            ")
        .prints("\nmini/sqlite     ");
    place.run("list stores mni").refuses("'mini'?");
    let ran = place.study("mini:read=mmap");
    ran.exits(0).prints("mini:read=mmap");
    let records = place.records("out");
    let Record::Run(header) = &records[0] else {
        panic!("no header");
    };
    let cells: Vec<String> = header.plan.cells().map(|c| c.store.to_string()).collect();
    assert!(cells.contains(&"mini:read=mmap".to_owned()), "{cells:?}");
    assert!(place.cells_measured().contains("read/short"));
    let cost =
        |record: &Record| matches!(record, Record::DriverCost(cost) if cost.driver == "mini");
    assert!(records.iter().any(cost));

    place.broken_off();
    place.moved(DRIVER, "away");
    place.run("resume out").refuses("'mini'");
    place.moved("away", DRIVER);
    place.run("resume out").exits(0);
}

#[test]
fn a_store_that_is_built_in_is_no_driver_s_and_one_that_a_driver_lacks_names_those_it_has() {
    let place = Place::new();
    place.driver("flat", MINI);
    place.driver("other", MINI);
    place.driver("broken", "#!/bin/sh\necho broken >&2\nexit 3\n");
    let listed = place.run("list stores");
    listed
        .exits(0)
        .prints("\nflat/mini       ")
        .prints("\nother/mini      ");
    listed
        .prints("\nbroken          this driver cannot be used: ")
        .prints("\nsqlite  ");
    place.run("list stores flat").exits(0).prints("flat: ");
    place.run("list stores other").refuses("known: other/");
}

#[test]
fn a_plan_says_of_a_driver_that_dies_or_speaks_something_else_that_its_cell_will_fail() {
    let place = Place::with(MINI);
    let overwrites = STUDY.replace(r#""read", operations"#, r#""overwrite", operations"#);
    place.write("short.toml", &overwrites.replace("STORE", "mini"));
    let plan = |option: &str| place.run(&format!("study short.toml --dry-run {option}"));
    plan("").exits(0).prints("durability none");
    let other_version =
        r#"echo '{"hello":{"protocol":"stowplan-driver","version":3,"tool":"x"}}'; cat"#;
    for (script, said) in [
        (
            "exit 3",
            "driver 'mini' died before it greeted: exit status: 3",
        ),
        (
            other_version,
            "driver 'mini' speaks stowplan-driver version 3",
        ),
        ("echo nonsense; cat", "nonsense"),
    ] {
        place.driver("mini", &format!("#!/bin/sh\n{script}\n"));
        let told = plan("");
        told.exits(1).says("short mini; it will fail: ").says(said);
        let cell = told.flat();
        let cell = cell.split("short mini").nth(1).unwrap();
        assert!(!cell.contains("durability"), "nothing is known: {cell}");
    }
    let told = place
        .run("drivers check ./drivers/stowplan-driver-mini")
        .stderr();
    let of_what_it_said = told.contains("not a message") || told.contains("nonsense");
    assert!(of_what_it_said, "{told}");
    plan("--driver mini=./nothere")
        .refuses("short.toml:16:9: comparison 'read', cell 'short'")
        .refuses("driver 'mini': cannot start ./nothere: No such file or directory");
}

#[test]
fn what_a_store_cannot_do_is_left_out_of_its_check_with_the_reason() {
    let checked = Bench::new().run("drivers check built-in sqlite:location=memory");
    checked
        .exits(0)
        .fits()
        .prints("  ok        reads are timed")
        .prints("  left out  ")
        .prints("one thread at a time uses it");
}

#[test]
fn a_driver_that_dies_where_a_store_should_be_has_not_failed_in_words() {
    // It describes its store, and ends at whatever is to be done at a place.
    let place = Place::with(&MINI.replacen("sed -u '", "sed -u '/\"place\"/Q;", 1));
    let failed = "FAILED a place without a store is a failure in words it did not say 'failed', but: driver 'mini'";
    place.run("drivers check mini").exits(1).says(failed);
}

#[test]
fn what_a_connection_did_before_is_asked_of_no_driver_and_that_is_said() {
    let place = Place::with(MINI);
    let after = STUDY
        .replace("operations = 20", "operations = 20, after = [\"read\"]")
        .replace("store = \"flat\"", "store = \"sqlite\"")
        .replace("STORE", "mini");
    let why = "mini comes from a driver, and 'after' is known to the built-in stores only";
    let study = "study short.toml --rounds 2 -o out --verbose";
    place.write("short.toml", &after);
    place.run(study).exits(0).says(why);
    let alone = after.replace("baseline = \"flat\"", "baseline = \"short\"");
    place.write("short.toml", &alone);
    place.run("study short.toml -o none").refuses(why);
}
