//! Programs that host other stores: how they are found, named and listed, and what is said of those
//! that are missing.

use crate::bench::{Bench, Finished};
use std::os::unix::fs::PermissionsExt;
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

impl Place {
    fn new() -> Self {
        // The program cannot be linked into memory.
        let bench = Bench::on_disk();
        for directory in ["bin", "drivers"] {
            std::fs::create_dir(bench.path(directory)).unwrap();
        }
        std::fs::hard_link(env!("CARGO_BIN_EXE_stowplan"), bench.path("bin/stowplan")).unwrap();
        Self(bench)
    }

    fn with_mini() -> Self {
        let place = Self::new();
        let path = place.0.path("drivers/stowplan-driver-mini");
        std::fs::write(&path, MINI).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        let program = self.0.path("bin/stowplan");
        let mut command = self.0.command_of(&program, arguments);
        command
            .env("STOWPLAN", &program)
            .env("STOWPLAN_DRIVERS", self.0.path("drivers"))
            .env("XDG_DATA_HOME", self.0.path("data"))
            .env("PATH", "/usr/bin:/bin");
        Finished::of(&mut command, arguments)
    }

    fn study(&self, store: &str) -> Finished {
        self.0.write("short.toml", &STUDY.replace("STORE", store));
        self.run(&[
            "study",
            "short.toml",
            "--rounds",
            "2",
            "-o",
            "out",
            "--verbose",
        ])
    }
}

#[test]
fn a_store_whose_driver_is_not_found_says_how_to_get_it() {
    let place = Place::new();
    let listed = ["stores", "drivers"].map(|what| place.run(&["list", what]).exits(0).stdout());
    for text in &listed {
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
    for driver in KNOWN {
        let (name, hint) = (driver.name, driver.how_to_get());
        for text in &listed {
            assert!(text.contains(&format!("\n{name:<16}{hint}\n")), "{text}");
        }
        let hint = hint.split(" (").next().unwrap();
        place
            .study(&format!("{name}/{}", driver.kinds[0]))
            .refuses(hint);
        // The driver that loads any SQLite library has the name of a kind that is built in.
        if name != "sqlite" {
            place.run(&["list", "stores", name]).refuses(hint);
            place.study(name).refuses(hint);
        }
    }
    place
        .run(&["list", "stores", "rocksbd"])
        .refuses("'rocksdb'?");
    place
        .run(&["crossover", "rocksdb", "files"])
        .refuses("cargo install --locked --path drivers/rocksdb");
    place.run(&["list", "stores", "bbolt"]).refuses(
        "write go/bbolt; driver 'go' was not found; in a checkout of stowplan: drivers/go/install",
    );
}

#[test]
fn a_driver_is_found_where_its_installer_puts_it() {
    let place = Place::with_mini();
    let installed = place.0.path("data/stowplan/drivers");
    std::fs::create_dir_all(&installed).unwrap();
    let driver = "stowplan-driver-mini";
    std::fs::rename(place.0.path("drivers").join(driver), installed.join(driver)).unwrap();
    place
        .run(&["list", "stores", "mini"])
        .exits(0)
        .prints("mini:read=");
}

const OPTIONAL: &str = "store = \"STORE\", optional = true";

#[test]
fn a_cell_that_is_optional_is_left_out_without_its_driver_and_everybody_says_so() {
    let place = Place::new();
    let study = STUDY
        .replace("store = \"STORE\"", OPTIONAL)
        .replace("STORE", "go/bbolt");
    place.0.write("short.toml", &study);
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "driver 'go' was not found; in a checkout of stowplan: drivers/go/install";
    let told = |arguments: &[&str]| {
        let asked = [arguments, &["--verbose"]].concat();
        let said = words(place.run(&asked).exits(0).stdout());
        assert!(
            said.contains(&format!("go/bbolt: not applicable: {why}")),
            "{said}"
        );
    };
    let planned = place.run(&["study", "short.toml", "--dry-run"]);
    let planned = words(planned.exits(0).stdout());
    assert!(
        planned.contains(&format!("not applicable: go/bbolt: {why}")),
        "{planned}"
    );
    told(&["study", "short.toml", "--rounds", "2", "-o", "out"]);
    told(&["report", "out"]);
    let only = ["--only", "read/short", "-o", "only"];
    told(&[&["study", "short.toml", "--rounds", "2"][..], &only].concat());
    let Some(Record::Run(header)) = place.0.records("out").into_iter().next() else {
        panic!("no header");
    };
    let left_out = &header.plan.comparisons[0].not_applicable;
    assert!(left_out["go/bbolt"].starts_with(why), "{left_out:?}");
    let warned = |record: Record| matches!(record, Record::Warning(w) if w.message.contains(why));
    assert!(place.0.records("out").into_iter().any(warned));
    // Cells that can be measured are judged as ever.
    let mistyped = study.replace("go/bbolt", "flat:raed=mmap");
    place.0.write("short.toml", &mistyped);
    place.run(&["study", "short.toml"]).refuses("'read'?");
    place.study("go/bbolt").refuses(why);
}

#[test]
fn a_cell_that_is_optional_is_left_out_where_its_driver_was_installed_without_its_store() {
    let place = Place::with_mini();
    let mini = place.0.path("drivers/stowplan-driver-mini");
    std::fs::rename(&mini, place.0.path("drivers/stowplan-driver-python")).unwrap();
    let planned = |store: &str| {
        let study = STUDY.replace("store = \"STORE\"", OPTIONAL);
        place.0.write("short.toml", &study.replace("STORE", store));
        place.run(&["study", "short.toml", "--dry-run"])
    };
    let told = planned("python/apsw").exits(0).stdout();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "driver 'python' was installed without 'apsw'; in a checkout of stowplan: drivers/python/install";
    assert!(told.contains(why), "{told}");
    planned("python/aspw").refuses("driver 'python' has no store 'aspw'");
}

#[test]
fn a_run_goes_on_as_it_was_planned_when_the_driver_of_an_optional_cell_came_meanwhile() {
    let place = Place::with_mini();
    let driver = place.0.path("drivers/stowplan-driver-mini");
    let away = place.0.path("away");
    std::fs::rename(&driver, &away).unwrap();
    let study = STUDY.replace("store = \"STORE\"", OPTIONAL);
    place
        .0
        .write("short.toml", &study.replace("STORE", "mini/mini"));
    let run = ["study", "short.toml", "--rounds", "2", "-o", "out"];
    place.run(&run).exits(0);
    let result = place.0.path("out/result.jsonl");
    let text = std::fs::read_to_string(&result).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&result, lines[..lines.len() - 4].join("\n") + "\n").unwrap();
    std::fs::rename(&away, &driver).unwrap();
    let went_on = place.run(&["resume", "out", "--verbose"]).exits(0).stdout();
    let went_on = went_on.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(went_on.contains("mini/mini: not applicable: "), "{went_on}");
    let measured = place
        .0
        .records("out")
        .into_iter()
        .filter_map(|record| match record {
            Record::Measurement(measured) => Some(measured.cell.0),
            _ => None,
        });
    assert!(measured.into_iter().all(|cell| !cell.contains("short")));
    // What one of two results lacks so is said to be lacking, and no other study.
    let again = [&run[..4], &["-o", "with"]].concat();
    place.run(&again).exits(0);
    let compared = place.run(&["compare", "with", "out"]).exits(2).stdout();
    let compared = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        compared.contains("read/short: not applicable"),
        "{compared}"
    );
}

#[test]
fn a_driver_s_store_of_its_own_name_needs_no_other_and_keeps_it() {
    let place = Place::with_mini();
    place
        .run(&["list", "stores"])
        .exits(0)
        .prints("\nmini            ")
        .prints("\nmini/sqlite     ");
    place
        .run(&["list", "stores", "mini"])
        .exits(0)
        .prints("mini:read=");
    place.run(&["list", "stores", "mni"]).refuses("'mini'?");
    place
        .study("mini:read=mmap")
        .exits(0)
        .prints("mini:read=mmap");
    let records = place.0.records("out");
    let Some(Record::Run(header)) = records.first() else {
        panic!("{:?}", records.first());
    };
    let cells: Vec<String> = header.plan.cells().map(|c| c.store.to_string()).collect();
    assert!(cells.contains(&"mini:read=mmap".to_owned()), "{cells:?}");
    assert!(records.iter().any(|record| match record {
        Record::Measurement(measured) => measured.cell.0 == "read/short",
        _ => false,
    }));
    let cost =
        |record: &Record| matches!(record, Record::DriverCost(cost) if cost.driver == "mini");
    assert!(records.iter().any(cost));
}

#[test]
fn a_run_whose_driver_is_gone_names_it_and_goes_on_once_it_is_back() {
    let place = Place::with_mini();
    place.study("mini").exits(0);
    let result = place.0.path("out/result.jsonl");
    let text = std::fs::read_to_string(&result).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..lines.len() - 4].join("\n") + "\n";
    std::fs::write(&result, cut).unwrap();
    let driver = place.0.path("drivers/stowplan-driver-mini");
    let away = place.0.path("away");
    std::fs::rename(&driver, &away).unwrap();
    let go_on = ["resume", "out"];
    place.run(&go_on).refuses("'mini'");
    std::fs::rename(&away, &driver).unwrap();
    place.run(&go_on).exits(0);
}

#[test]
fn a_store_that_is_built_in_is_no_driver_s_and_one_that_a_driver_lacks_names_those_it_has() {
    let place = Place::with_mini();
    let mini = place.0.path("drivers/stowplan-driver-mini");
    std::fs::copy(&mini, place.0.path("drivers/stowplan-driver-flat")).unwrap();
    std::fs::rename(&mini, place.0.path("drivers/stowplan-driver-other")).unwrap();
    place
        .run(&["list", "stores"])
        .exits(0)
        .prints("\nflat/mini       ")
        .prints("\nother/mini      ");
    place
        .run(&["list", "stores", "flat"])
        .exits(0)
        .prints("flat: ");
    place
        .run(&["list", "stores", "other"])
        .refuses("known: other/");
}

#[test]
fn a_driver_that_cannot_be_used_says_so_in_the_list_of_stores() {
    let place = Place::with_mini();
    let path = place.0.path("drivers/stowplan-driver-mini");
    std::fs::write(path, "#!/bin/sh\necho broken >&2\nexit 3\n").unwrap();
    place
        .run(&["list", "stores"])
        .exits(0)
        .prints("\nmini            this driver cannot be used: ")
        .prints("\nsqlite  ");
}

#[test]
fn a_plan_says_of_a_driver_that_dies_or_speaks_something_else_that_its_cell_will_fail() {
    let place = Place::with_mini();
    let overwrites = STUDY.replace(r#""read", operations"#, r#""overwrite", operations"#);
    place
        .0
        .write("short.toml", &overwrites.replace("STORE", "mini"));
    let plan = |options: &[&str]| {
        place.run(&[&["study", "short.toml", "--dry-run"][..], options].concat())
    };
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    plan(&[]).exits(0).prints("durability none");
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
        let path = place.0.path("drivers/stowplan-driver-mini");
        std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        let told = words(plan(&[]).exits(1).stdout());
        assert!(told.contains("short mini; it will fail: "), "{told}");
        assert!(told.contains(said), "{told}");
        let cell = told.split("short mini").nth(1).unwrap();
        assert!(!cell.contains("durability"), "nothing is known: {told}");
    }
    let checked = place.run(&["drivers", "check", "./drivers/stowplan-driver-mini"]);
    let told = checked.stderr();
    assert!(
        told.contains("not a message") || told.contains("nonsense"),
        "{told}"
    );
    plan(&["--driver", "mini=./nothere"])
        .refuses("short.toml:16:9: comparison 'read', cell 'short'")
        .refuses("driver 'mini': cannot start ./nothere: No such file or directory");
}

#[test]
fn what_a_store_cannot_do_is_left_out_of_its_check_with_the_reason() {
    let checked = Bench::new().run(&["drivers", "check", "built-in", "sqlite:location=memory"]);
    checked.exits(0);
    let text = checked.stdout();
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    checked
        .prints("  ok        reads are timed")
        .prints("  left out  ")
        .prints("one thread at a time uses it");
}

#[test]
fn a_driver_that_dies_where_a_store_should_be_has_not_failed_in_words() {
    let place = Place::with_mini();
    let path = place.0.path("drivers/stowplan-driver-mini");
    // It describes its store, and ends at whatever is to be done at a place.
    let dying = MINI.replacen("sed -u '", "sed -u '/\"place\"/Q;", 1);
    std::fs::write(path, dying).unwrap();
    let told = place.run(&["drivers", "check", "mini"]).exits(1).stdout();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let failed = "FAILED a place without a store is a failure in words it did not say 'failed', but: driver 'mini'";
    assert!(told.contains(failed), "{told}");
}

#[test]
fn what_a_connection_did_before_is_asked_of_no_driver_and_that_is_said() {
    let place = Place::with_mini();
    let after = STUDY
        .replace("operations = 20", "operations = 20, after = [\"read\"]")
        .replace("store = \"flat\"", "store = \"sqlite\"")
        .replace("STORE", "mini");
    let study = |text: &str, to: &str| {
        place.0.write("after.toml", text);
        place.run(&[
            "study",
            "after.toml",
            "--rounds",
            "2",
            "-o",
            to,
            "--verbose",
        ])
    };
    let told = study(&after, "out").exits(0).stdout();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "mini comes from a driver, and 'after' is known to the built-in stores only";
    assert!(told.contains(why), "{told}");
    let alone = after.replace("baseline = \"flat\"", "baseline = \"short\"");
    study(&alone, "none").refuses(why);
}
