use super::*;

/// Twenty rounds of two builds of each store, which meet in all combinations; builds make the stores
/// slower by so much, and rounds differ by up to 1% either way.
fn rounds(cell: [f64; 2], reference: [f64; 2]) -> Vec<Paired> {
    (0..20_u32)
        .map(|round| {
            let noise = f64::from(round * 7 % 20) / 1_000.0 - 0.0095;
            let slots = [(round + round / 2) % 2, round % 2];
            let [of_cell, of_reference] = slots.map(|slot| slot as usize);
            Paired {
                round,
                difference: noise + cell[of_cell] - reference[of_reference],
                builds: [Some(slots[0]), Some(slots[1] + 2)],
            }
        })
        .collect()
}

fn found(paired: &[Paired]) -> (Estimate, Builds) {
    let (estimate, builds) = at(paired, 0.05);
    (estimate, builds.unwrap())
}

fn at(paired: &[Paired], alpha: f64) -> (Estimate, Option<Builds>) {
    Spread::alone(paired).estimate(paired, alpha).unwrap()
}

/// The same where nobody knows of builds.
fn plain(paired: &[Paired]) -> Estimate {
    at(&unknown(paired), 0.05).0
}

fn unknown(paired: &[Paired]) -> Vec<Paired> {
    let without = |pair: &Paired| Paired {
        builds: [None; 2],
        ..*pair
    };
    paired.iter().map(without).collect()
}

#[test]
fn builds_that_are_alike_leave_the_interval_of_the_rounds() {
    let paired = rounds([0.0; 2], [0.0; 2]);
    let (estimate, builds) = found(&paired);
    let before = plain(&paired);
    assert!(!builds.differ, "{builds:?}");
    assert_eq!(builds.count, 2);
    assert_eq!(estimate.estimate.to_bits(), before.estimate.to_bits());
    let wider = estimate.half_width() / before.half_width();
    assert!((0.9..1.2).contains(&wider), "{wider}");
}

#[test]
fn builds_that_differ_widen_it_by_as_much_as_two_of_them_leave_open() {
    for (cell, reference) in [([0.0, 0.1], [0.0; 2]), ([0.0; 2], [-0.05, 0.05])] {
        let (estimate, builds) = found(&rounds(cell, reference));
        assert!(builds.differ, "{builds:?}");
        assert!(builds.deviation.unwrap() > 0.01, "{builds:?}");
        assert!(estimate.half_width() > 0.1, "{estimate:?}");
        // Two builds that lie a tenth apart do not leave open whether they lie twice apart.
        assert!(estimate.half_width() < 0.7, "{estimate:?}");
    }
}

#[test]
fn what_few_builds_leave_open_grows_as_an_interval_may_miss_less_often() {
    let paired = rounds([0.0, 0.1], [0.0; 2]);
    let without = unknown(&paired);
    let wider = |alpha| at(&paired, alpha).0.half_width() / at(&without, alpha).0.half_width();
    let [often, seldom] = [0.0207, 0.00207].map(wider);
    assert!(seldom > 1.3 * often, "{often} {seldom}");
}

/// As the ratios of the stores of one comparison to its baseline, whose builds make them slower by so much.
fn ratios(builds: &[[f64; 2]]) -> Vec<Vec<Paired>> {
    let numbered = (0..).zip(builds);
    let numbered = numbered.map(|(store, builds)| {
        let mut paired = rounds(*builds, [0.0; 2]);
        for pair in &mut paired {
            pair.builds[0] = pair.builds[0].map(|build| build + 10 + 2 * store);
            pair.difference *= 1.0 + f64::from(store) / 100.0;
        }
        paired
    });
    numbered.collect()
}

#[test]
fn what_the_builds_of_other_stores_differ_by_widens_the_interval_of_one_whose_own_happen_to_be_alike()
 {
    let all = ratios(&[[0.0, 0.0], [0.03, -0.03], [0.06, 0.0], [-0.04, 0.04]]);
    let together = Spread::of(&all, None).estimate(&all[0], 0.05).unwrap().0;
    let alone = Spread::alone(&all[0]).estimate(&all[0], 0.05).unwrap().0;
    assert_eq!(together.estimate, alone.estimate);
    assert!(
        together.half_width() > 1.5 * alone.half_width(),
        "{together:?}, {alone:?}"
    );
}

#[test]
fn one_store_whose_builds_differ_among_others_whose_do_not_is_told_apart_from_them() {
    let all = ratios(&[[0.0, 0.1], [0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2]]);
    let spread = Spread::of(&all, None);
    let of = |at: usize| spread.estimate(&all[at], 0.05).unwrap();
    assert!(of(0).1.unwrap().differ && !of(1).1.unwrap().differ);
    assert!(of(0).0.half_width() > 2.0 * of(1).0.half_width());
}

#[test]
fn a_control_that_differs_by_more_than_its_rounds_explain_widens_every_interval() {
    let all = ratios(&[[0.0; 2], [0.0; 2]]);
    let control = |by: f64| -> Vec<Paired> {
        let moved = |pair: &Paired| Paired {
            difference: pair.difference + by,
            ..*pair
        };
        unknown(&all[0]).iter().map(moved).collect()
    };
    let wide = |by| {
        let spread = Spread::of(&all, Some(&control(by)));
        spread.estimate(&all[0], 0.05).unwrap().0.half_width()
    };
    assert!(wide(0.02) > 1.5 * wide(0.0) && wide(-0.02) > 1.5 * wide(0.0));
    let alone = Spread::of(&all, None);
    assert!(alone.widening() > 1.0 && Spread::of(&all, Some(&control(0.0))).widening() >= 1.0);
}

#[test]
fn stores_that_always_meet_the_same_builds_have_nothing_of_them_in_their_ratio() {
    let mut paired = rounds([0.0; 2], [0.0; 2]);
    for pair in &mut paired {
        pair.builds = [pair.builds[1]; 2];
    }
    let (estimate, builds) = found(&paired);
    assert!(!builds.differ);
    assert_eq!(estimate, plain(&paired));
}

#[test]
fn where_only_one_side_tells_its_builds_these_are_counted() {
    let mut paired = rounds([0.0, 0.1], [0.0; 2]);
    assert_eq!(at(&unknown(&paired), 0.05).1, None);
    for pair in &mut paired {
        pair.builds = [Some(pair.round % 2), None];
    }
    assert_eq!(found(&paired).1.count, 2);
}

#[test]
fn one_build_is_named_and_says_nothing_of_others() {
    let mut paired = rounds([0.0; 2], [0.0; 2]);
    for pair in &mut paired {
        pair.builds = [Some(1), Some(2)];
    }
    let (estimate, builds) = found(&paired);
    assert_eq!(estimate, plain(&paired));
    let expected = Builds {
        count: 1,
        differ: false,
        deviation: None,
    };
    assert_eq!(builds, expected);
}

#[test]
fn swapping_the_cells_mirrors_the_interval_and_keeps_the_builds() {
    let paired = rounds([0.0, 0.03], [0.01, 0.0]);
    let swap = |pair: &Paired| Paired {
        difference: -pair.difference,
        builds: [pair.builds[1], pair.builds[0]],
        ..*pair
    };
    let swapped: Vec<Paired> = paired.iter().map(swap).collect();
    // What builds are of the variance is estimated by those of the cell.
    let spread = Spread::alone(&paired);
    let (there, builds) = spread.estimate(&paired, 0.05).unwrap();
    let (back, same) = spread.estimate(&swapped, 0.05).unwrap();
    assert!((there.low + back.high).abs() < 1e-12);
    assert!((there.high + back.low).abs() < 1e-12);
    assert_eq!(builds, same);
}

#[test]
fn rounds_that_are_all_alike_have_no_builds_that_differ() {
    let mut paired = rounds([0.0; 2], [0.0; 2]);
    for pair in &mut paired {
        pair.difference = 0.5;
    }
    let (estimate, builds) = found(&paired);
    assert_eq!((estimate.low, estimate.high), (0.5, 0.5));
    assert!(!builds.differ, "{builds:?}");
}
