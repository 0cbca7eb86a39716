//! What turns an order: which sets of factors, and with what rate of errors.

use crate::support::{analysis_of_plan, cell, comparison, contrast, id, rounds};
use stowplan_analysis::{TurnAnswer, TurnOutcome, Verdict};
use stowplan_model::{Comparison, Measurement, Plan, PublishedOrder, Role, Try, Turn, Turning};

/// A pair whose cell takes 5 ms a block and the other one, the baseline, 10; sets of factors with the time
/// that the cell takes with them.
fn found(slower: Option<bool>, sets: &[(&str, f64)]) -> TurnOutcome {
    found_in(slower, sets, &|_| ())
}

/// The same, in blocks that are changed first.
fn found_in(
    slower: Option<bool>,
    sets: &[(&str, f64)],
    change: &dyn Fn(&mut Measurement),
) -> TurnOutcome {
    let mut planned = Comparison {
        first_look: Some(20),
        ..comparison(&[])
    };
    let mut times = vec![("base", 10_000.0), ("again", 10_000.0)];
    for (name, time) in sets {
        planned.cells.push(cell(name, Role::Candidate));
        planned.contrasts.push(contrast(name, "base"));
        times.push((name, *time));
    }
    let mut blocks: Vec<Measurement> = rounds(&times, 0..20);
    blocks.iter_mut().for_each(change);
    let published = slower.map(|slower| PublishedOrder {
        least: if slower { 1.5 } else { 0.5 },
        most: if slower { 2.0 } else { 0.9 },
        label: None,
    });
    let factors = |name: &str| -> Vec<String> {
        let factors = name.split('-').filter(|factor| *factor != "plain");
        factors.map(str::to_owned).collect()
    };
    let tries = sets.iter().map(|(name, _)| Try {
        turn: "turn-1".to_owned(),
        factors: factors(name),
        cell: id(name),
        reference: id("base"),
    });
    let turning = Turning {
        asked: None,
        turns: vec![Turn {
            id: "turn-1".to_owned(),
            comparison: "reads".to_owned(),
            cell: "cell".to_owned(),
            reference: "base".to_owned(),
            published,
            factors: ["a", "b", "c"].map(str::to_owned).to_vec(),
            left_out: Default::default(),
        }],
        tries: tries.collect(),
    };
    let change = |plan: &mut Plan| plan.turning = Some(turning.clone());
    let mut analysis = analysis_of_plan(&planned, &blocks, change);
    assert_eq!(analysis.constituents().len(), 1);
    analysis.turns.remove(0)
}

fn sets(found: &TurnOutcome) -> Vec<Vec<&str>> {
    let TurnAnswer::Turned { sets, .. } = &found.answer else {
        panic!("{:?}", found.answer);
    };
    let texts = |set: &'_ Vec<String>| set.iter().map(String::len).sum::<usize>();
    assert!(sets.iter().all(|set| texts(set) > 0));
    sets.iter()
        .map(|set| set.iter().map(String::as_str).collect())
        .collect()
}

#[test]
fn the_smallest_sets_that_turn_an_order_are_named_the_furthest_first() {
    let both = found(
        Some(true),
        &[
            ("plain", 5_000.0),
            ("a", 12_000.0),
            ("b", 6_000.0),
            ("c", 30_000.0),
        ],
    );
    assert_eq!(sets(&both), [["c"], ["a"]]);
    assert_eq!(both.next_size(), None);
    let pair = [
        ("plain", 5_000.0),
        ("a", 7_000.0),
        ("b", 6_000.0),
        ("c", 5_000.0),
        ("a-b", 13_000.0),
        ("a-c", 7_000.0),
        ("b-c", 6_000.0),
    ];
    let two = found(Some(true), &pair);
    assert_eq!(sets(&two), [["a", "b"]]);
    assert_eq!(two.tries.iter().filter(|tried| tried.turned).count(), 1);
}

#[test]
fn where_nothing_turns_it_the_next_larger_sets_are_to_be_tried() {
    let ones = [
        ("plain", 5_000.0),
        ("a", 7_000.0),
        ("b", 10_000.0),
        ("c", 5_000.0),
    ];
    let open = found(Some(true), &ones);
    assert_eq!(
        open.answer,
        TurnAnswer::NotTurned {
            tried: 3,
            undecided: 0,
            largest: 1
        }
    );
    assert_eq!(open.next_size(), Some(2));
    let all = [("plain", 5_000.0), ("a-b-c", 7_000.0)];
    assert_eq!(found(Some(true), &all).next_size(), None);
}

#[test]
fn without_a_published_order_the_opposite_is_looked_for() {
    let found_here = found(None, &[("plain", 5_000.0), ("a", 30_000.0)]);
    assert_eq!(found_here.wanted, Some(Verdict::Slower));
    assert_eq!(sets(&found_here), [["a"]]);
    let nothing = found(None, &[("plain", 10_000.0), ("a", 30_000.0)]);
    assert_eq!((nothing.wanted, nothing.answer), (None, TurnAnswer::Open));
    let agrees = found(Some(false), &[("plain", 5_000.0), ("a", 30_000.0)]);
    assert_eq!(agrees.answer, TurnAnswer::Agrees);
}

#[test]
fn a_clear_set_is_named_among_as_many_as_can_be_tried() {
    // Ten rounds tell a ratio from chance by 2/1024 at best: enough among ten sets, and not among eleven.
    let letters = ["a", "b", "c", "d", "e", "f"];
    let all_sets = (1..64_usize).map(|set| {
        let of_set = (0..6).filter(|at| set & (1 << at) != 0);
        of_set.map(|at| letters[at]).collect::<Vec<_>>().join("-")
    });
    let names: Vec<String> = all_sets.collect();
    for number in [10, 11, 63] {
        let mut all = vec![("plain", 5_000.0)];
        all.extend(names[..number].iter().map(|name| (name.as_str(), 6_000.0)));
        all[1].1 = 30_000.0;
        assert_eq!(sets(&found(Some(true), &all)), [["a"]], "of {number}");
    }
}

#[test]
fn of_more_sets_a_verdict_has_to_hold_by_a_narrower_error() {
    // Eighteen of twenty rounds say so: chance does as much in one of 2,500 cases, too often for 63 sets.
    let of = |others: usize| {
        let names: Vec<String> = (0..others).map(|n| format!("b-c-{n}")).collect();
        let mut all = vec![("plain", 5_000.0), ("a", 30_000.0)];
        all.extend(names.iter().map(|name| (name.as_str(), 6_000.0)));
        let unclear = |block: &mut Measurement| {
            if block.cell == id("a") && block.round >= 18 {
                block.wall_ns /= 10;
                block.run_delay_ns = None;
            }
        };
        found_in(Some(true), &all, &unclear)
    };
    assert_eq!(sets(&of(0)), [["a"]]);
    let TurnAnswer::NotTurned { undecided, .. } = of(62).answer else {
        panic!("{:?}", of(62).answer);
    };
    assert_eq!(undecided, 1);
}
