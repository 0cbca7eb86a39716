use super::*;

/// Twenty rounds of two builds of each store, which meet in all combinations; builds make the stores
/// slower by so much, and rounds differ by up to 1% either way.
fn rounds(cell: [f64; 2], reference: [f64; 2]) -> Vec<Paired> {
    let round = |round: u32| {
        let noise = f64::from(round * 7 % 20) / 1_000.0 - 0.0095;
        let slots = [(round + round / 2) % 2, round % 2];
        let [of_cell, of_reference] = slots.map(|slot| slot as usize);
        Paired {
            round,
            difference: noise + cell[of_cell] - reference[of_reference],
            builds: [Some(slots[0]), Some(slots[1] + 2)],
        }
    };
    (0..20).map(round).collect()
}

fn alike() -> Vec<Paired> {
    rounds([0.0; 2], [0.0; 2])
}

fn at(paired: &[Paired], alpha: f64) -> (Estimate, Option<Builds>) {
    Spread::alone(paired).estimate(paired, alpha).unwrap()
}

fn found(paired: &[Paired]) -> (Estimate, Builds) {
    let (estimate, builds) = at(paired, 0.05);
    (estimate, builds.unwrap())
}

/// The same rounds with something changed about each.
fn changed(paired: &[Paired], change: impl Fn(&mut Paired)) -> Vec<Paired> {
    let mut paired = paired.to_vec();
    paired.iter_mut().for_each(change);
    paired
}

/// The same where nobody knows of builds.
fn unknown(paired: &[Paired]) -> Vec<Paired> {
    changed(paired, |pair| pair.builds = [None; 2])
}

#[test]
fn builds_that_are_alike_leave_the_interval_of_the_rounds() {
    let (estimate, builds) = found(&alike());
    let before = at(&unknown(&alike()), 0.05).0;
    assert_eq!((builds.differ, builds.count), (false, 2));
    assert_eq!(estimate.estimate.to_bits(), before.estimate.to_bits());
    let wider = estimate.half_width() / before.half_width();
    assert!((0.9..1.2).contains(&wider), "{wider}");
    // Rounds that are all alike have none that differ either.
    let (estimate, builds) = found(&changed(&alike(), |pair| pair.difference = 0.5));
    let told = (estimate.low, estimate.high, builds.differ);
    assert_eq!(told, (0.5, 0.5, false));
}

#[test]
fn builds_that_differ_widen_it_by_as_much_as_two_of_them_leave_open() {
    for (cell, reference) in [([0.0, 0.1], [0.0; 2]), ([0.0; 2], [-0.05, 0.05])] {
        let paired = rounds(cell, reference);
        let (estimate, builds) = found(&paired);
        let deviation = builds.deviation.unwrap();
        assert!(builds.differ && deviation > 0.01, "{builds:?}");
        // Two builds that lie a tenth apart do not leave open whether they lie twice apart.
        let half_width = estimate.half_width();
        assert!(half_width > 0.1 && half_width < 0.7, "{estimate:?}");
        // What few builds leave open grows as an interval may miss less often.
        let without = unknown(&paired);
        let wider = |alpha| at(&paired, alpha).0.half_width() / at(&without, alpha).0.half_width();
        let [often, seldom] = [0.0207, 0.00207].map(wider);
        assert!(seldom > 1.3 * often, "{often} {seldom}");
    }
}

/// As the ratios of the stores of one comparison to its baseline, whose builds make them slower by so much.
fn ratios(builds: &[[f64; 2]]) -> Vec<Vec<Paired>> {
    let numbered = (0..).zip(builds);
    let numbered = numbered.map(|(store, builds)| {
        changed(&rounds(*builds, [0.0; 2]), |pair| {
            pair.builds[0] = pair.builds[0].map(|build| build + 10 + 2 * store);
            pair.difference *= 1.0 + f64::from(store) / 100.0;
        })
    });
    numbered.collect()
}

#[test]
fn what_the_builds_of_other_stores_differ_by_widens_the_interval_of_one_whose_own_happen_to_be_alike()
 {
    let all = ratios(&[[0.0, 0.0], [0.03, -0.03], [0.06, 0.0], [-0.04, 0.04]]);
    let together = Spread::of(&all, None).estimate(&all[0], 0.05).unwrap().0;
    let alone = at(&all[0], 0.05).0;
    assert_eq!(together.estimate, alone.estimate);
    assert!(together.half_width() > 1.5 * alone.half_width());
}

#[test]
fn one_store_whose_builds_differ_among_others_whose_do_not_is_told_apart_from_them() {
    let all = ratios(&[[0.0, 0.1], [0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2]]);
    let spread = Spread::of(&all, None);
    let [one, other] = [0, 1].map(|at| spread.estimate(&all[at], 0.05).unwrap());
    assert!(one.1.unwrap().differ && !other.1.unwrap().differ);
    assert!(one.0.half_width() > 2.0 * other.0.half_width());
}

#[test]
fn a_control_that_differs_by_more_than_its_rounds_explain_widens_every_interval() {
    let all = ratios(&[[0.0; 2], [0.0; 2]]);
    let with = |by: f64| {
        let control = changed(&unknown(&all[0]), |pair| pair.difference += by);
        Spread::of(&all, Some(&control))
    };
    let wide = |by| with(by).estimate(&all[0], 0.05).unwrap().0.half_width();
    assert!(wide(0.02) > 1.5 * wide(0.0) && wide(-0.02) > 1.5 * wide(0.0));
    assert!(Spread::of(&all, None).widening() > 1.0 && with(0.0).widening() >= 1.0);
}

#[test]
fn builds_count_where_they_are_told_and_are_part_of_a_ratio_only_where_they_change() {
    let plain = at(&unknown(&alike()), 0.05);
    assert_eq!(plain.1, None);
    // Stores that always meet the same builds have nothing of them in their ratio.
    let same = changed(&alike(), |pair| pair.builds = [pair.builds[1]; 2]);
    let (estimate, builds) = found(&same);
    assert_eq!((estimate, builds.differ), (plain.0, false));
    // One build says nothing of others.
    let one = changed(&alike(), |pair| pair.builds = [Some(1), Some(2)]);
    let (estimate, builds) = found(&one);
    let nothing = (builds.count, builds.differ, builds.deviation);
    assert_eq!((estimate, nothing), (plain.0, (1, false, None)));
    let one_side = changed(&alike(), |pair| pair.builds = [Some(pair.round % 2), None]);
    assert_eq!(found(&one_side).1.count, 2);
}

#[test]
fn swapping_the_cells_mirrors_the_interval_and_keeps_the_builds() {
    let paired = rounds([0.0, 0.03], [0.01, 0.0]);
    let swapped = changed(&paired, |pair| {
        pair.difference = -pair.difference;
        pair.builds.reverse();
    });
    // What builds are of the variance is estimated by those of the cell.
    let spread = Spread::alone(&paired);
    let (there, builds) = spread.estimate(&paired, 0.05).unwrap();
    let (back, same) = spread.estimate(&swapped, 0.05).unwrap();
    assert!((there.low + back.high).abs() < 1e-12);
    assert!((there.high + back.low).abs() < 1e-12);
    assert_eq!(builds, same);
}
