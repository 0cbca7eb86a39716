use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::Mix;

fn workload(operation: Operation, order: AccessOrder, mix: Option<Mix>) -> Workload {
    Workload {
        operation,
        order,
        mix,
        scan_rows: None,
        ..Workload::default()
    }
}

fn mixed(order: AccessOrder, mix: Mix) -> Workload {
    workload(Operation::Mix, order, Some(mix))
}

fn drawn(
    workload: &Workload,
    count: u64,
    steps: u64,
    seed: u64,
) -> Result<Vec<Step>, DatasetError> {
    let mut all = Vec::new();
    let draw = Draw {
        count,
        part: Part::ALL,
        workload,
        steps,
        seed,
        size: &|key| usize::try_from(key).unwrap() * 3,
    };
    draw.all(&mut |step| {
        all.push(step);
        Ok(())
    })?;
    Ok(all)
}

#[test]
fn keys_that_are_left_out_are_never_drawn_and_all_others_are() {
    let workload = Workload {
        order: AccessOrder::Uniform,
        omit_last: 2,
        ..Workload::default()
    };
    let steps = drawn(&workload, 10, 1_000, 1).unwrap();
    let keys: BTreeSet<u64> = steps.iter().map(|step| step.key).collect();
    assert_eq!(keys, (1..=8).collect());
    let error = drawn(&workload, 2, 1, 1).unwrap_err().to_string();
    assert!(error.contains("omit_last"), "{error}");
}

/// What every sequence must keep: the pattern, sizes, lengths of scans, and that nothing is visited
/// before it is there or after it was deleted.
fn check(workload: &Workload, count: u64, steps: &[Step]) {
    let own = workload.operation == Operation::Insert || workload.begins_empty();
    let mut living: BTreeSet<u64> = if own {
        BTreeSet::new()
    } else {
        (1..=count).collect()
    };
    let mut actions: BTreeMap<Action, usize> = BTreeMap::new();
    for step in steps {
        assert_eq!(u64::from(step.bytes), step.key * 3);
        *actions.entry(step.action).or_default() += 1;
        let longest = workload.longest_scan();
        assert_eq!(step.action == Action::Scan, step.rows > 0, "{step:?}");
        assert!(step.rows <= longest, "{step:?}");
        match step.action {
            Action::Insert => assert!(living.insert(step.key), "{step:?} was there"),
            Action::Delete => assert!(living.remove(&step.key), "{step:?} was not there"),
            _ => assert!(living.contains(&step.key), "{step:?} is not there"),
        }
    }
    let pattern = workload.pattern();
    for (action, times) in actions {
        let share = pattern.iter().filter(|a| **a == action).count();
        let expected = steps.len() / pattern.len() * share;
        assert!(
            (expected..=expected + share).contains(&times),
            "{times} times {action}, not {expected}"
        );
    }
}

fn any_mix() -> impl Strategy<Value = Mix> {
    (0u16..6, 0u16..6, 0u16..4, 0u16..6, 0u16..3, 0u16..4).prop_map(
        |(read, overwrite, modify, insert, delete, scan)| Mix {
            read: read + 1,
            overwrite,
            modify,
            insert,
            delete,
            scan,
        },
    )
}

proptest! {
    #[test]
    fn nothing_is_visited_before_it_is_there_or_after_it_was_deleted(
        mix in any_mix(),
        order in prop::sample::select(vec![
            AccessOrder::Random, AccessOrder::Ascending, AccessOrder::Descending,
            AccessOrder::Uniform, AccessOrder::Zipfian, AccessOrder::Latest,
        ]),
        count in 1u64..400,
        steps in 1u64..400,
        seed: u64,
    ) {
        let workload = mixed(order, mix);
        let enough = if order.repeats() {
            values_deleted(&workload, steps) < count
        } else {
            values_needed(&workload, steps) <= count
        };
        match drawn(&workload, count, steps, seed) {
            Ok(all) => {
                prop_assert!(enough);
                prop_assert_eq!(all.len() as u64, steps);
                check(&workload, count, &all);
                prop_assert_eq!(&all, &drawn(&workload, count, steps, seed).unwrap());
            }
            Err(error) => {
                prop_assert!(!enough, "{error}");
                prop_assert!(error.to_string().contains("the dataset has"), "{error}");
            }
        }
    }

    #[test]
    fn each_life_begins_and_ends_before_the_next(
        overwrite in 0u16..12, read in 0u16..4, modify in 0u16..3, steps in 1u64..300, seed: u64,
    ) {
        let mix = Mix { insert: 1, delete: 1, overwrite, read, modify, ..Mix::default() };
        let workload = mixed(AccessOrder::Lifecycle, mix);
        let all = drawn(&workload, 5, steps, seed).unwrap();
        prop_assert_eq!(all.len() as u64, steps);
        check(&workload, 5, &all);
        let length = mix.total() as usize;
        for (key, life) in (1..).zip(all.chunks(length)) {
            prop_assert!(life.iter().all(|step| step.key == key));
            prop_assert_eq!(life[0].action, Action::Insert);
            if life.len() == length {
                prop_assert_eq!(life[length - 1].action, Action::Delete);
            }
        }
    }
}

#[test]
fn inserts_add_the_datasets_own_values_and_those_of_a_mix_new_ones() {
    let insert = workload(Operation::Insert, AccessOrder::Ascending, None);
    let keys = |steps: Vec<Step>| steps.iter().map(|step| step.key).collect::<Vec<_>>();
    assert_eq!(keys(drawn(&insert, 9, 4, 1).unwrap()), [1, 2, 3, 4]);
    let mix = Mix {
        read: 1,
        insert: 2,
        ..Mix::default()
    };
    let all = drawn(&mixed(AccessOrder::Descending, mix), 9, 6, 1).unwrap();
    let inserted = all.iter().filter(|step| step.action == Action::Insert);
    assert_eq!(keys(inserted.copied().collect()), [10, 11, 12, 13]);
    let read = all.iter().filter(|step| step.action == Action::Read);
    assert_eq!(keys(read.copied().collect()), [9, 8]);
}

#[test]
fn only_the_order_of_the_latest_reads_what_was_just_added() {
    let mix = Mix {
        read: 3,
        insert: 1,
        ..Mix::default()
    };
    let read = |order| {
        let all = drawn(&mixed(order, mix), 100, 4_000, 7).unwrap();
        let reads = all.into_iter().filter(|step| step.action == Action::Read);
        reads.map(|step| step.key).collect::<Vec<_>>()
    };
    for order in [AccessOrder::Uniform, AccessOrder::Zipfian] {
        assert!(read(order).iter().all(|key| *key <= 100), "{order}");
    }
    let latest = read(AccessOrder::Latest);
    let new = latest.iter().filter(|key| **key > 100).count();
    assert!(new > latest.len() / 2, "{new} of {}", latest.len());
}

#[test]
fn the_newest_key_is_the_most_popular_one_of_the_latest() {
    let latest = workload(Operation::Read, AccessOrder::Latest, None);
    let all = drawn(&latest, 1_000, 20_000, 3).unwrap();
    let times = |key| all.iter().filter(|step| step.key == key).count();
    assert!(times(1_000) > 2 * times(996) && times(1_000) > 1_500);
}

#[test]
fn uniform_keys_come_evenly_and_zipfian_ones_do_not() {
    let most = |order| {
        let all = drawn(&workload(Operation::Read, order, None), 100, 50_000, 11).unwrap();
        let mut times: BTreeMap<u64, u32> = BTreeMap::new();
        for step in &all {
            *times.entry(step.key).or_default() += 1;
        }
        assert_eq!(times.len(), 100, "{order}");
        times.into_iter().max_by_key(|(_, times)| *times).unwrap()
    };
    assert!((500..650).contains(&most(AccessOrder::Uniform).1));
    let (key, times) = most(AccessOrder::Zipfian);
    assert!(times > 8_000, "key {key} came {times} times");
}

#[test]
fn scans_visit_each_number_of_values_equally_often() {
    let scan = Workload {
        scan_rows: Some(4),
        ..workload(Operation::Scan, AccessOrder::Uniform, None)
    };
    let all = drawn(&scan, 100, 40_000, 5).unwrap();
    for rows in 1..=4 {
        let times = all.iter().filter(|step| step.rows == rows).count();
        assert!((9_500..10_500).contains(&times), "{rows}: {times}");
    }
}

#[test]
fn too_few_values_for_the_steps_are_told() {
    let delete = workload(Operation::Delete, AccessOrder::Random, None);
    let message = drawn(&delete, 9, 10, 1).unwrap_err().to_string();
    assert_eq!(
        message,
        "10 operations visit 10 values once each, and the dataset has 9"
    );
    let mix = Mix {
        read: 1,
        delete: 1,
        ..Mix::default()
    };
    let message = drawn(&mixed(AccessOrder::Zipfian, mix), 5, 10, 1).unwrap_err();
    assert!(message.to_string().contains("none would be left"));
}
