//! Where the user's own data belongs: what is advised follows from the figures of just that.

use crate::support::{cell, comparison, header, rounds};
use stowplan_analysis::{Advice, Choice, Verdict, What, analyse};
use stowplan_model::{AdviseSpec, Cell, CellId, Comparison, Measurement, Record, Role, Value};

/// A store beside files: bytes of a page, and of the largest value inside, where values are split.
#[derive(Clone, Copy)]
struct Store(u64, Option<u64>);

impl Store {
    fn key(self) -> String {
        match self {
            Self(page, None) => format!("sql-{page:05}"),
            Self(_, Some(limit)) => format!("split-{limit:07}"),
        }
    }

    fn cell(self) -> Cell {
        let mut cell = cell(&self.key(), Role::Candidate);
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
        whole: None,
    });
    let records: Vec<Record> = [Record::Run(run)]
        .into_iter()
        .chain(blocks.into_iter().map(Record::Measurement))
        .collect();
    analyse(&records, None).unwrap().advice.unwrap()
}

const PAGES_4: Store = Store(4_096, None);
const PAGES_8: Store = Store(8_192, None);

fn split(limit: u64) -> Store {
    Store(8_192, Some(limit))
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

#[test]
fn an_advised_split_is_decided_on_its_own_figures() {
    // All sizes read alike; what is read from the disk is slower where much is inside.
    let [small, middle, large] = [16_384, 65_536, 262_144].map(split);
    let read: &[(Store, f64)] = &[
        (PAGES_8, 20_000.0),
        (small, 5_000.0),
        (middle, 5_000.0),
        (large, 5_000.0),
    ];
    let cold: &[(Store, f64)] = &[(PAGES_8, 20_000.0), (small, 5_000.0), (middle, 20_000.0)];
    let found = advised(None, &[("read", read), ("cold", cold)]);
    let split = found.split.unwrap();
    assert_eq!(
        (split.inside, split.from, split.to),
        (65_536, 16_384, 262_144)
    );
    let of = |what| split.aspects.iter().find(|aspect| aspect.what == what);
    let [of_read, of_cold] = [What::Read, What::Cold].map(|what| of(what).unwrap());
    assert_eq!(of_read.cell.0, "read/split-0065536");
    assert_eq!(of_cold.cell.0, "cold/split-0065536");
    assert_eq!(of_cold.verdict, Verdict::Slower);
    assert_eq!(found.choice, Choice::Files);
}

#[test]
fn what_was_measured_in_all_respects_goes_before_what_was_not() {
    let [small, middle, large] = [16_384, 65_536, 262_144].map(split);
    let read: &[(Store, f64)] = &[
        (PAGES_4, 5_000.0),
        (PAGES_8, 5_000.0),
        (small, 5_000.0),
        (middle, 5_000.0),
        (large, 5_000.0),
    ];
    let rest: &[(Store, f64)] = &[(PAGES_8, 5_000.0), (large, 5_000.0)];
    let found = advised(None, &[("read", read), ("replace", rest)]);
    assert_eq!(found.page_size, Some(8_192));
    assert_eq!(found.split.unwrap().inside, 262_144);
    // Where they are shown to be slower, the others are advised all the same.
    let read: &[(Store, f64)] = &[(PAGES_4, 3_000.0), (PAGES_8, 5_000.0)];
    let found = advised(None, &[("read", read), ("replace", rest)]);
    assert_eq!(found.page_size, Some(4_096));
}
