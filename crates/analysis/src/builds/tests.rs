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

fn found(paired: &[Paired], metric: Metric) -> (Estimate, Builds) {
    let (estimate, builds) = estimate_of(paired, metric).unwrap();
    (estimate, builds.unwrap())
}

fn plain(paired: &[Paired], metric: Metric) -> Estimate {
    let differences: Vec<f64> = paired.iter().map(|pair| pair.difference).collect();
    stopping::estimate_of(&differences, metric).unwrap()
}

const METRICS: [Metric; 2] = [Metric::Corrected, Metric::Wall];

#[test]
fn builds_that_are_alike_leave_the_interval_of_the_rounds() {
    for metric in METRICS {
        let paired = rounds([0.0; 2], [0.0; 2]);
        let (estimate, builds) = found(&paired, metric);
        let before = plain(&paired, metric);
        assert!(!builds.differ, "{builds:?}");
        assert_eq!(builds.count, 2);
        assert_eq!(estimate.estimate.to_bits(), before.estimate.to_bits());
        let wider = estimate.half_width() / before.half_width();
        assert!((1.0..1.6).contains(&wider), "{metric:?}: {wider}");
    }
}

#[test]
fn builds_that_differ_widen_it_by_as_much_as_two_of_them_leave_open() {
    for metric in METRICS {
        for (cell, reference) in [([0.0, 0.1], [0.0; 2]), ([0.0; 2], [-0.05, 0.05])] {
            let (estimate, builds) = found(&rounds(cell, reference), metric);
            assert!(builds.differ, "{metric:?}: {builds:?}");
            assert!(estimate.half_width() > 0.1, "{metric:?}: {estimate:?}");
        }
    }
}

#[test]
fn what_few_builds_leave_open_grows_as_an_interval_may_miss_less_often() {
    let paired = rounds([0.0, 0.1], [0.0; 2]);
    let differences = differences(&paired);
    for metric in METRICS {
        let wider = |alpha| {
            let (found, _) = estimate_at(&paired, metric, alpha).unwrap();
            let before = stopping::estimate_at(&differences, metric, alpha).unwrap();
            found.half_width() / before.half_width()
        };
        // Of two degrees of freedom Student's quantile is 3.0 times the normal one's at 2.07%, and 7.1 times
        // at 0.207%.
        let [often, seldom] = [0.0207, 0.00207].map(wider);
        assert!(seldom > 1.3 * often, "{metric:?}: {often} {seldom}");
    }
}

#[test]
fn the_deviation_is_that_of_the_builds_without_the_noise_of_rounds() {
    let (_, builds) = found(&rounds([0.0, 0.1], [0.0, 0.0]), Metric::Corrected);
    // Of two values that are 0.1 apart: 0.1 over the root of 2.
    let deviation = builds.deviation.unwrap();
    assert!((deviation - 0.0707).abs() < 0.005, "{deviation}");
    let (_, builds) = found(&rounds([0.0; 2], [0.0; 2]), Metric::Corrected);
    assert!(builds.deviation.unwrap() < 0.01, "{builds:?}");
}

#[test]
fn stores_that_always_meet_the_same_builds_have_one_factor_and_what_they_share_cancels() {
    let mut paired = rounds([0.0; 2], [0.0; 2]);
    for pair in &mut paired {
        pair.builds = [pair.builds[1]; 2];
    }
    let clusters =
        Clusters::of(&paired, &scores(&differences(&paired), Metric::Corrected)).unwrap();
    assert_eq!((clusters.freedom, clusters.builds), (1.0, 2.0));
    assert!(!found(&paired, Metric::Corrected).1.differ);
}

fn differences(paired: &[Paired]) -> Vec<f64> {
    paired.iter().map(|pair| pair.difference).collect()
}

#[test]
fn without_builds_on_record_nothing_changes() {
    let mut paired = rounds([0.0, 0.1], [0.0; 2]);
    for pair in &mut paired {
        pair.builds = [None; 2];
    }
    for metric in METRICS {
        let (estimate, builds) = estimate_of(&paired, metric).unwrap();
        assert_eq!((estimate, builds), (plain(&paired, metric), None));
    }
    // A store that each block makes anew has as many builds as rounds.
    for pair in &mut paired {
        pair.builds = [Some(pair.round % 2), None];
    }
    assert_eq!(found(&paired, Metric::Corrected).1.count, 2);
}

#[test]
fn one_build_is_named_and_says_nothing_of_others() {
    let mut paired = rounds([0.0; 2], [0.0; 2]);
    for pair in &mut paired {
        pair.builds = [Some(1), Some(2)];
    }
    let (estimate, builds) = found(&paired, Metric::Corrected);
    assert_eq!(estimate, plain(&paired, Metric::Corrected));
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
    for metric in METRICS {
        let (there, builds) = found(&paired, metric);
        let (back, same) = found(&swapped, metric);
        assert!((there.low + back.high).abs() < 1e-12, "{metric:?}");
        assert!((there.high + back.low).abs() < 1e-12, "{metric:?}");
        assert_eq!(builds.count, same.count);
        assert_eq!(builds.differ, same.differ);
    }
}

#[test]
fn rounds_that_are_all_alike_have_no_builds_that_differ() {
    let mut paired = rounds([0.0; 2], [0.0; 2]);
    for pair in &mut paired {
        pair.difference = 0.5;
    }
    for metric in METRICS {
        let (estimate, builds) = found(&paired, metric);
        assert_eq!((estimate.low, estimate.high), (0.5, 0.5));
        assert!(!builds.differ && builds.deviation.is_none(), "{builds:?}");
    }
}

/// Rounds of one store by itself.
fn alone(builds: [f64; 2]) -> Vec<Paired> {
    let mut paired = rounds(builds, [0.0; 2]);
    for pair in &mut paired {
        pair.builds[1] = None;
    }
    paired
}

#[test]
fn a_shift_is_uncertain_by_the_builds_of_both_samples_and_the_more_the_fewer_of_them_tell() {
    let (alike, apart) = (alone([0.0; 2]), alone([0.0, 0.1]));
    let none = effect_on_shift([&alike, &alike]);
    assert!((1.0..1.6).contains(&none.factor(0.05)), "{none:?}");
    let one = effect_on_shift([&alike, &apart]);
    let both = effect_on_shift([&apart, &apart]);
    assert_eq!(one, effect_on_shift([&apart, &alike]));
    assert!(both.variance > one.variance, "{both:?}, {one:?}");
    // Two builds on one side leave one degree of freedom, two on both sides two.
    assert!(one.freedom < 1.5 && both.freedom < 2.5, "{both:?}, {one:?}");
    assert!(both.freedom > 1.9, "{both:?}");
    assert!(both.factor(0.05) > 4.0, "{both:?}");
    assert!(both.factor(0.01) > both.factor(0.05));
}

#[test]
fn what_a_sample_weighs_in_a_shift_does_not_depend_on_its_number_of_rounds() {
    let short = alone([0.0, 0.1]);
    let twice: Vec<Paired> = short.iter().flat_map(|pair| [*pair, *pair]).collect();
    let (one, two) = (
        effect_on_shift([&short, &short]),
        effect_on_shift([&short, &twice]),
    );
    // As sure of its builds, and twice as sure of its rounds.
    assert!((one.freedom - two.freedom).abs() < 0.2, "{one:?}, {two:?}");
    assert!(two.variance > one.variance, "{one:?}, {two:?}");
}

#[test]
fn builds_that_nobody_knows_of_or_rounds_that_are_all_alike_add_nothing_to_a_shift() {
    let mut unknown = alone([0.0, 0.1]);
    let mut equal = unknown.clone();
    for pair in &mut unknown {
        pair.builds = [None; 2];
    }
    for pair in &mut equal {
        pair.difference = 1.0;
    }
    for samples in [[&unknown[..], &unknown], [&equal, &equal]] {
        assert_eq!(effect_on_shift(samples).factor(0.05), 1.0);
    }
}
