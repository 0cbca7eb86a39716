//! Where the user's own data belongs: what is advised follows from the figures of just that.

use crate::support::{cell, comparison, header, rounds};
use stowplan_analysis::{Advice, Choice, Verdict, What, analyse};
use stowplan_model::{
    AdviseSpec, Cell, CellId, Comparison, Measurement, PerTransaction, Record, Role, Value,
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

/// What is advised where files take 10 ms a block and stores as many as stand beside them, by comparison.
fn advised(overwrites: Option<f64>, of: &[(&str, &[(Store, f64)])]) -> Advice {
    let mut blocks: Vec<Measurement> = Vec::new();
    let planned = of.iter().map(|(id, stores)| {
        let keys: Vec<String> = stores.iter().map(|(store, _)| store.key()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut planned: Comparison = comparison(&keys);
        planned.cells.truncate(2);
        planned
            .cells
            .extend(stores.iter().map(|(store, _)| store.cell()));
        let mut times = vec![("base", 10_000.0), ("again", 10_000.0)];
        times.extend(
            keys.iter()
                .zip(*stores)
                .map(|(key, (_, time))| (*key, *time)),
        );
        let there = |cell: &CellId| CellId(cell.0.replacen("c/", &format!("{id}/"), 1));
        blocks.extend(rounds(&times, 0..10).into_iter().map(|block| Measurement {
            cell: there(&block.cell),
            ..block
        }));
        planned.id = (*id).to_owned();
        planned
            .cells
            .iter_mut()
            .for_each(|cell| cell.id = there(&cell.id));
        for contrast in &mut planned.contrasts {
            contrast.cell = there(&contrast.cell);
            contrast.reference = there(&contrast.reference);
        }
        planned
    });
    let comparisons: Vec<Comparison> = planned.collect();
    let Record::Run(mut run) = header(&comparisons[0]) else {
        unreachable!("a header is a run");
    };
    run.plan.comparisons = comparisons;
    run.plan.study.advise = Some(AdviseSpec {
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
    });
    let records: Vec<Record> = [Record::Run(run)]
        .into_iter()
        .chain(blocks.into_iter().map(Record::Measurement))
        .collect();
    analyse(&records, None).unwrap().advice.unwrap()
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

#[test]
fn what_was_not_measured_is_not_decided_on() {
    let read: &[(Store, f64)] = &[(PAGES_8, 5_000.0)];
    let found = advised(None, &[("read", read), ("replace", &[])]);
    assert_eq!(
        found.choice,
        Choice::Database,
        "nothing of a database was to be replaced"
    );
    assert!(!found.boot_needs_root);
}
