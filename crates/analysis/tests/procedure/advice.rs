//! Where the user's own data belongs: what is advised follows from the figures of just that.

use crate::support::{cell, comparison, elsewhere, named, planned, ten};
use stowplan_analysis::{Advice, Choice, Verdict, What};
use stowplan_model::{
    AdviseSpec, Cell, Comparison, Measurement, PerTransaction, Plan, PythonReads, Record, Role,
    Value,
};

/// A store beside files: bytes of a page, of the largest value inside where values are split, and
/// how many reads share a transaction.
#[derive(Clone, Copy)]
struct Store(u64, Option<u64>, PerTransaction);

impl Store {
    fn key(self) -> String {
        match self {
            Self(_, None, PerTransaction::All) => "together".to_owned(),
            Self(page, None, _) => format!("sql-{page:05}"),
            Self(_, Some(limit), _) => format!("split-{limit:07}"),
        }
    }

    fn cell(self) -> Cell {
        let mut cell = cell(&self.key(), Role::Candidate);
        cell.workload.per_transaction = self.2;
        cell.settings.set("page_size", Value::Number(self.0));
        if let Some(limit) = self.1 {
            cell.settings.set("inline_limit", Value::Number(limit));
        }
        cell
    }
}

/// What is advised where files take 10 ms a block and stores as many as stand beside them, by comparison; what takes
/// no number was never measured.
fn advised(overwrites: Option<f64>, of: &[(&str, &[(Store, f64)])]) -> Advice {
    advised_beside(None, overwrites, of)
}

/// The same where reads by a program in Python were timed too.
fn advised_beside(
    python: Option<PythonReads>,
    overwrites: Option<f64>,
    of: &[(&str, &[(Store, f64)])],
) -> Advice {
    let mut blocks: Vec<Measurement> = Vec::new();
    let comparisons = of.iter().map(|(id, stores)| {
        let keys: Vec<String> = stores.iter().map(|(store, _)| store.key()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut planned: Comparison = comparison(&keys);
        planned.cells.truncate(2);
        planned
            .cells
            .extend(stores.iter().map(|(store, _)| store.cell()));
        let times = keys.iter().zip(*stores);
        let times = times.map(|(key, (_, time))| (*key, *time));
        let times: Vec<(&str, f64)> = times.filter(|(_, time)| time.is_finite()).collect();
        blocks.extend(ten(&times).into_iter().map(|block| Measurement {
            cell: elsewhere(&block.cell, id),
            ..block
        }));
        named(id, planned)
    });
    let comparisons: Vec<Comparison> = comparisons.collect();
    let advise = AdviseSpec {
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
    };
    let change = |plan: &mut Plan| {
        plan.comparisons.clone_from(&comparisons);
        plan.study.advise = Some(advise);
    };
    let blocks = blocks.into_iter().map(Record::Measurement);
    let found = planned(&comparisons[0], change, blocks);
    found.advice.unwrap()
}

const PAGES_8: Store = Store(8_192, None, PerTransaction::Operations(1));
const TOGETHER: Store = Store(8_192, None, PerTransaction::All);

fn split(limit: u64) -> Store {
    Store(8_192, Some(limit), PerTransaction::Operations(1))
}

#[test]
fn a_split_whose_replacements_were_not_measured_is_not_advised() {
    let read: &[(Store, f64)] = &[(PAGES_8, 12_000.0), (split(65_536), 5_000.0)];
    for overwrites in [None, Some(0.5)] {
        let lacking = advised(
            overwrites,
            &[("read", read), ("replace", &[(PAGES_8, 12_000.0)])],
        );
        assert_eq!(lacking.choice, Choice::Files, "{overwrites:?}");
        let known: &[(Store, f64)] = &[(PAGES_8, 12_000.0), (split(65_536), 5_000.0)];
        let known = advised(overwrites, &[("read", read), ("replace", known)]);
        assert_eq!(known.choice, Choice::Split { inside: 65_536 });
    }
}

/// Files, one database, and the same with all reads in one transaction, which takes so long.
fn read_alone_and_together(alone: f64, together: f64) -> Advice {
    advised(None, &[("read", &[(PAGES_8, alone), (TOGETHER, together)])])
}

#[test]
fn reads_in_one_transaction_are_told_where_they_turn_the_answer_and_decide_nothing() {
    let whats = |advice: &Advice| advice.aspects.iter().map(|a| a.what).collect::<Vec<_>>();
    let turned = read_alone_and_together(13_000.0, 8_000.0);
    assert_eq!(whats(&turned), [What::Read, What::Together]);
    assert_eq!(turned.aspects[0].cell.0, "read/sql-08192");
    assert_eq!(turned.aspects[1].verdict, Verdict::Faster);
    assert_eq!(turned.choice, Choice::Files);
    for (alone, together) in [(8_000.0, 6_000.0), (13_000.0, 12_500.0)] {
        let same = read_alone_and_together(alone, together);
        assert_eq!(whats(&same), [What::Read], "{alone} {together}");
    }
}

/// 20 rounds of reads from Python.
fn by_python(files: f64, database: f64, together: f64) -> PythonReads {
    PythonReads {
        files: vec![files; 20],
        database: vec![database; 20],
        together: vec![together; 20],
        split: vec![files; 20],
    }
}

#[test]
fn a_language_whose_calls_turn_the_order_of_warm_reads_has_its_line_and_decides() {
    let read: &[(Store, f64)] = &[(PAGES_8, 13_000.0)];
    let of = |python| advised_beside(Some(python), None, &[("read", read)]);
    let whats = |advice: &Advice| advice.aspects.iter().map(|a| a.what).collect::<Vec<_>>();
    let turned = of(by_python(10_000.0, 8_000.0, 7_000.0));
    assert_eq!(whats(&turned), [What::Read, What::ReadByPython]);
    let [from_c, python] = &turned.aspects[..] else {
        panic!("{:?}", turned.aspects);
    };
    assert_eq!(
        (from_c.verdict, python.verdict),
        (Verdict::Slower, Verdict::Faster)
    );
    assert_eq!(turned.choice, Choice::Depends);
    assert_eq!(python.time_ns, Some(8_000.0));
    // One transaction is told of where it does better; as with calls from C it decides nothing.
    let together = of(by_python(10_000.0, 10_500.0, 7_000.0));
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
        let found = advised(
            None,
            &[("read", &[(PAGES_8, time)]), ("cold", &[(PAGES_8, time)])],
        );
        let [warm, cold] = &found.aspects[..] else {
            panic!("{:?}", found.aspects);
        };
        assert_eq!(warm.verdict, verdict, "{time}");
        let width = |gain: stowplan_analysis::RatioEstimate| gain.high / gain.low;
        let wider = width(warm.gain.unwrap()) / width(cold.gain.unwrap());
        assert!((1.3..1.4).contains(&wider), "{wider}");
    }
}

#[test]
fn what_was_not_measured_is_not_decided_on() {
    let read: &[(Store, f64)] = &[(PAGES_8, 5_000.0)];
    let only_files_were_to_be_replaced = advised(None, &[("read", read), ("replace", &[])]);
    assert_eq!(only_files_were_to_be_replaced.choice, Choice::Database);
    for lacking in ["cold", "boot", "replace"] {
        let never: &[(Store, f64)] = &[(PAGES_8, f64::NAN)];
        let found = advised(None, &[("read", read), (lacking, never)]);
        assert_eq!(found.choice, Choice::Open, "{lacking}");
        let told = &found.aspects[1];
        assert_eq!(
            (told.verdict, told.gain),
            (Verdict::NoData, None),
            "{lacking}"
        );
        assert!(!found.boot_needs_root);
    }
}
