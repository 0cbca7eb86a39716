//! Where cells do not do the same work, whatever is said of one of them says so.

use crate::fixture;
use crate::support::findings;
use stowplan_analysis::{Analysis, Verdict};
use stowplan_model::{Durability, DurabilityClaim, Operation};

const OVERWRITES: usize = 1;

/// The run, with cells of the overwrites that promise this, and what else is done to them.
pub(crate) fn analysis(
    promises: &[(&str, Durability)],
    change: impl Fn(&mut Analysis),
) -> Analysis {
    let mut analysis = fixture::analysis();
    for cell in &mut analysis.comparisons[OVERWRITES].cells {
        let promise = promises.iter().find(|(key, _)| *key == cell.cell.key);
        if let Some((_, class)) = promise {
            cell.cell.workload.operation = Operation::Overwrite;
            cell.cell.capabilities.durability = DurabilityClaim {
                class: *class,
                atomic: true,
                delayed: false,
            };
        }
    }
    change(&mut analysis);
    fixture::decided(analysis)
}

#[test]
fn whatever_is_advised_beside_says_its_other_work() {
    // Whether files and the log are durable, which cells have four threads, and which are slow.
    let table = "
        a weaker one               | durable |          |
        a weaker one of other work | durable | off      |
        a safer one                |         |          |
        a safer one of other work  |         | wal      |
        nothing is faster          |         |          | safe wal off
        nothing, one of other work |         | wal      | safe wal off
        nothing, two of other work |         | safe wal | safe wal off
        faster by other work       |         | off      | safe wal
        two by other work          |         | off wal  | safe
    ";
    let said = table.trim().lines().map(|line| {
        let mut fields = line.split('|').map(str::trim);
        let [case, promises, threads, slow] = [(); 4].map(|()| fields.next().unwrap());
        let durable = [("dir", Durability::Durable), ("wal", Durability::Durable)];
        let promises = if promises.is_empty() {
            &[][..]
        } else {
            &durable
        };
        let analysis = analysis(promises, |analysis| {
            let overwrites = &mut analysis.comparisons[OVERWRITES];
            for cell in &mut overwrites.cells {
                if threads.split(' ').any(|key| key == cell.cell.key) {
                    cell.cell.workload.threads = 4;
                }
            }
            for contrast in &mut overwrites.contrasts {
                let of = |key: &str| contrast.cell.0.ends_with(&format!("/{key}"));
                if slow.split(' ').any(of) {
                    (contrast.verdict, contrast.total) = (Verdict::Slower, None);
                }
            }
        });
        format!("{case}: {}\n", findings(&analysis, OVERWRITES).advice)
    });
    insta::assert_snapshot!(said.collect::<String>());
}

#[test]
fn why_there_is_no_ratio_is_said_by_the_rounds_in_common() {
    let analysis = analysis(&[], |analysis| {
        let comparison = &mut analysis.comparisons[OVERWRITES];
        for (place, cell) in comparison.cells.iter_mut().enumerate() {
            cell.rounds = 12;
            let first = if place == 0 { 0 } else { 9 };
            cell.series = (first..first + 12).map(|round| (round, 1.0)).collect();
        }
        for contrast in &mut comparison.contrasts {
            (contrast.estimate, contrast.verdict) = (None, Verdict::NoData);
        }
    });
    let said = &findings(&analysis, OVERWRITES).listed[0];
    let expected = "no verdict, because there are too few rounds (3 of 10) to compare.";
    assert!(said.ends_with(expected), "{said}");
}
