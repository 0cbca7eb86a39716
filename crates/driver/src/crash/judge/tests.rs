use super::*;
use stowplan_model::{Capabilities, Operation};

fn plan(transactions: bool) -> Plan {
    let can = Capabilities {
        operations: vec![Operation::Insert, Operation::Overwrite, Operation::Delete],
        transactions,
        ..Capabilities::default()
    };
    Plan::new(7, 60, &can)
}

fn after(plan: &Plan, number: u64) -> BTreeMap<u64, Seen> {
    let keys = plan.histories.keys();
    keys.map(|key| (*key, Seen::Version(plan.after(*key, number))))
        .collect()
}

#[test]
fn a_state_that_some_commits_left_is_kept_or_has_lost_those_after_them() {
    let plan = plan(true);
    for number in 0..=60 {
        let seen = after(&plan, number);
        assert_eq!(of_transactions(&plan, &seen, number).fate, Fate::Kept);
        if number > 0 {
            // Begun, and not yet acknowledged.
            assert_eq!(of_transactions(&plan, &seen, number - 1).fate, Fate::Kept);
        }
        if number > 57 {
            continue;
        }
        let found = of_transactions(&plan, &seen, number + 3);
        assert_eq!(
            (found.fate, found.lost, found.first_lost),
            (Fate::Lost, 3, Some(number + 1))
        );
    }
}

#[test]
fn a_commit_that_is_there_in_part_is_torn() {
    let plan = plan(true);
    let steps = (1..).zip(&plan.steps);
    let several = |(_, step): &(u64, &Vec<_>)| step.len() > 1;
    for (number, step) in steps.filter(several) {
        let mut seen = after(&plan, number);
        let key = step[0].0;
        seen.insert(key, Seen::Version(plan.after(key, number - 1)));
        assert_eq!(
            of_transactions(&plan, &seen, number).fate,
            Fate::Torn,
            "{number}"
        );
    }
}

#[test]
fn a_commit_that_is_missing_beside_a_later_one_is_reordered() {
    let plan = plan(true);
    let mut tried = 0;
    for number in 1..60u64 {
        let [this, next] =
            [number, number + 1].map(|n| &plan.steps[usize::try_from(n - 1).unwrap()]);
        if this
            .iter()
            .any(|(key, _)| next.iter().any(|(other, _)| key == other))
        {
            continue;
        }
        let mut seen = after(&plan, number + 1);
        for (key, _) in this {
            seen.insert(*key, Seen::Version(plan.after(*key, number - 1)));
        }
        let found = of_transactions(&plan, &seen, number + 1);
        assert_eq!(
            (found.fate, found.first_lost),
            (Fate::Reordered, Some(number))
        );
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn values_without_transactions_are_judged_one_by_one() {
    let plan = plan(false);
    let seen = after(&plan, 30);
    assert_eq!(of_values(&plan, &seen, 30).fate, Fate::Kept);
    assert_eq!(of_values(&plan, &seen, 29).fate, Fate::Kept);
    let found = of_values(&plan, &seen, 32);
    assert_eq!(
        (found.fate, found.lost, found.first_lost),
        (Fate::Lost, 2, Some(31))
    );
    // The thirtieth is gone, and nothing else.
    let mut seen = after(&plan, 31);
    let (key, _) = plan.steps[29][0];
    if plan.steps[30][0].0 != key {
        seen.insert(key, Seen::Version(plan.after(key, 29)));
        assert_eq!(of_values(&plan, &seen, 31).fate, Fate::Reordered);
    }
    seen.insert(3, Seen::Part(0));
    assert_eq!(of_values(&plan, &seen, 31).fate, Fate::Torn);
    seen.insert(4, Seen::Strange(9));
    assert_eq!(of_values(&plan, &seen, 31).fate, Fate::Corrupt);
}

#[test]
fn a_value_is_known_by_all_of_its_bytes() {
    let plan = plan(true);
    let version = plan.histories[&1]
        .iter()
        .filter_map(|(_, version)| *version)
        .next_back()
        .unwrap();
    let whole = plan.value(1, version);
    assert_eq!(value(&plan, 1, &whole), Seen::Version(Some(version)));
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(value(&plan, 1, &changed), Seen::Part(version));
    assert_eq!(
        value(&plan, 1, &whole[..whole.len() - 1]),
        Seen::Part(version)
    );
    assert_eq!(value(&plan, 2, &whole), Seen::Strange(whole.len()));
    assert_eq!(value(&plan, 1, &[]), Seen::Strange(0));
}
