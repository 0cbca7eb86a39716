//! Where the user's own data belongs: what is advised follows from the figures of just that.

use crate::support::{cell, comparison, elsewhere, named, planned, ten};
use stowplan_analysis::{Advice, Choice, Verdict, What};
use stowplan_model::{
    AdviseSpec, Cell, Measurement, PerTransaction, Plan, PythonReads, Record, Role, Value,
};

/// A store beside files by its name: a database, the same with all reads in one transaction, and one
/// whose large values are in files.
fn store(name: &str) -> Cell {
    let mut cell = cell(name, Role::Candidate);
    cell.workload.per_transaction = match name {
        "together" => PerTransaction::All,
        _ => PerTransaction::Operations(1),
    };
    cell.settings.set("page_size", Value::Number(8_192));
    if name == "split" {
        cell.settings.set("inline_limit", Value::Number(65_536));
    }
    cell
}

/// What is asked besides: the share of replacements, and reads by a program in Python.
type Asked = (Option<f64>, Option<PythonReads>);

/// What is advised where files take 10 ms a block and stores as many as stand beside them, by comparison; what takes
/// no number was never measured.
fn advised((overwrites, python): Asked, of: &[(&str, &[(&str, f64)])]) -> Advice {
    let mut blocks: Vec<Record> = Vec::new();
    let comparisons = of.iter().map(|(id, stores)| {
        let stores_of: Vec<&str> = stores.iter().map(|(name, _)| *name).collect();
        let mut planned = comparison(&stores_of);
        planned.cells.truncate(2);
        planned
            .cells
            .extend(stores_of.iter().map(|name| store(name)));
        let times = stores.iter().copied().filter(|(_, time)| time.is_finite());
        blocks.extend(ten(&times.collect::<Vec<_>>()).into_iter().map(|block| {
            Record::Measurement(Measurement {
                cell: elsewhere(&block.cell, id),
                ..block
            })
        }));
        named(id, planned)
    });
    let comparisons: Vec<_> = comparisons.collect();
    let change = |plan: &mut Plan| {
        plan.comparisons.clone_from(&comparisons);
        plan.study.advise = Some(AdviseSpec {
            place: "/pictures".into(),
            in_database: false,
            about: "pictures".to_owned(),
            values: 1_000,
            bytes: 10_000_000,
            largest: 1 << 20,
            wal: false,
            overwrites,
            limits: Vec::new(),
            whole: None,
            python,
        });
    };
    planned(&comparisons[0], change, blocks).advice.unwrap()
}

fn whats(advice: &Advice) -> Vec<What> {
    advice.aspects.iter().map(|aspect| aspect.what).collect()
}

#[test]
fn a_split_whose_replacements_were_not_measured_is_not_advised() {
    let both = [("database", 12_000.0), ("split", 5_000.0)];
    for overwrites in [None, Some(0.5)] {
        let lacking = [both[0], ("split", f64::NAN)];
        for (replaced, choice) in [
            (&both[..1], Choice::Files),
            (&lacking, Choice::Files),
            (&both, Choice::Split { inside: 65_536 }),
        ] {
            let of = [("read", &both[..]), ("replace", replaced)];
            let found = advised((overwrites, None), &of);
            assert_eq!(found.choice, choice, "{overwrites:?}");
        }
    }
}

#[test]
fn reads_in_one_transaction_are_told_where_they_turn_the_answer_and_decide_nothing() {
    let read = |alone: f64, together: f64| {
        let stores = [("database", alone), ("together", together)];
        advised((None, None), &[("read", &stores)])
    };
    let turned = read(13_000.0, 8_000.0);
    assert_eq!(whats(&turned), [What::Read, What::Together]);
    assert_eq!(turned.aspects[0].cell.0, "read/database");
    assert_eq!(turned.aspects[1].verdict, Verdict::Faster);
    assert_eq!(turned.choice, Choice::Files);
    for (alone, together) in [
        (8_000.0, 6_000.0),
        (13_000.0, 12_500.0),
        // Faster here, and by less than programs differ.
        (10_000.0, 9_000.0),
    ] {
        assert_eq!(whats(&read(alone, together)), [What::Read], "{alone}");
    }
}

#[test]
fn a_language_whose_calls_turn_the_order_of_warm_reads_has_its_line_and_decides() {
    // 20 rounds of reads from Python.
    let by_python = |database: f64| {
        let python = PythonReads {
            files: vec![10_000.0; 20],
            database: vec![database; 20],
            together: vec![7_000.0; 20],
            split: vec![10_000.0; 20],
        };
        advised((None, Some(python)), &[("read", &[("database", 13_000.0)])])
    };
    let turned = by_python(8_000.0);
    assert_eq!(whats(&turned), [What::Read, What::ReadByPython]);
    assert_eq!(turned.aspects[0].verdict, Verdict::Slower);
    let python = &turned.aspects[1];
    let told = (python.verdict, python.time_ns);
    assert_eq!(told, (Verdict::Faster, Some(8_000.0)));
    assert_eq!(turned.choice, Choice::Depends);
    // One transaction is told of where it does better; as with calls from C it decides nothing.
    let together = by_python(10_500.0);
    let expected = [What::Read, What::ReadByPython, What::TogetherByPython];
    assert_eq!(whats(&together), expected);
    assert_eq!(together.choice, Choice::Files);
}

#[test]
fn programs_that_read_in_other_ways_find_what_is_named_of_warm_reads() {
    for (time, verdict) in [
        (8_000.0, Verdict::Faster),
        (9_000.0, Verdict::Unresolved),
        (11_000.0, Verdict::Unresolved),
        (13_000.0, Verdict::Slower),
    ] {
        let stores = [("database", time)];
        let of = ["read", "boot", "cold", "replace"].map(|id| (id, &stores[..]));
        let found = advised((None, None), &of);
        let width = |what: What| {
            let mut aspects = found.aspects.iter();
            let aspect = aspects.find(|aspect| aspect.what == what).unwrap();
            let gain = aspect.gain.unwrap();
            (aspect.verdict, gain.high / gain.low)
        };
        for (wide, narrow) in [(What::Read, What::Cold), (What::Boot, What::Replace)] {
            let wider = width(wide).1 / width(narrow).1;
            assert_eq!(width(wide).0, verdict, "{time}");
            assert!((1.3..1.4).contains(&wider), "{wider}");
        }
    }
}

#[test]
fn what_was_not_measured_is_not_decided_on() {
    let read = [("database", 5_000.0)];
    let only_files_were_replaced = advised((None, None), &[("read", &read), ("replace", &[])]);
    assert_eq!(only_files_were_replaced.choice, Choice::Database);
    for lacking in ["cold", "boot", "replace"] {
        let never = [("database", f64::NAN)];
        let found = advised((None, None), &[("read", &read), (lacking, &never)]);
        assert_eq!(found.choice, Choice::Open, "{lacking}");
        let told = (found.aspects[1].verdict, found.aspects[1].gain);
        assert_eq!(told, (Verdict::NoData, None), "{lacking}");
        assert!(!found.boot_needs_root);
    }
}
