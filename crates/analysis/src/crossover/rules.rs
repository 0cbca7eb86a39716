//! Rules of thumb from a matrix of settings and sizes: store values inside or outside?

use super::{Crossover, Standing, SweepPoint, crossover, distinct};
use crate::{RatioEstimate, Verdict};
use serde::Serialize;

/// One row of a matrix: a sweep over sizes under one setting, such as a page size. Side A keeps
/// the values inside the database, side B outside, so a ratio is time outside over time inside:
/// above 1, inside is faster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingSweep {
    /// Name of the setting, such as `8192`.
    pub setting: String,
    /// Its sizes.
    pub points: Vec<SweepPoint>,
}

/// What one setting of a matrix teaches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Name of the setting.
    pub setting: String,
    /// Up to where, or from where on, to keep values inside (side A) or outside (side B).
    pub crossover: Crossover,
    /// Where inside is faster than outside, and by more than under each other setting. The
    /// setting is also the fastest for values inside there if outside was the same store under
    /// all settings; ratios alone cannot tell whether it was.
    pub gains_most: Vec<SizeRange>,
    /// Where inside is not shown to be faster than outside under any setting, and loses less than
    /// under each other setting.
    pub costs_least: Vec<SizeRange>,
}

/// A range of measured sizes, bytes, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeRange {
    /// Smallest.
    pub from: u64,
    /// Largest.
    pub to: u64,
}

/// One rule per setting, in the order of the matrix.
///
/// A setting gains most, or costs least, at a size if its widened interval lies above those of
/// all others by more than the equivalence zone (0.05: by more than 5%; intersection–union, as
/// for [`crate::ComparisonOutcome::fastest`]). Only sizes measured under
/// all settings are compared, for sizes added around one zone say nothing about another setting;
/// a range ends at a size where a setting has no figure or an unreliable one.
#[must_use]
pub fn rules_of_thumb(matrix: &[SettingSweep], equivalence: f64) -> Vec<Rule> {
    let rows: Vec<Vec<SweepPoint>> = matrix.iter().map(|row| distinct(&row.points)).collect();
    let best: Vec<(u64, Option<Best>)> = common_sizes(&rows)
        .into_iter()
        .map(|size| (size, best_at(size, &rows, equivalence)))
        .collect();
    let ranges = |setting, gains| ranges(&best, Best { setting, gains });
    matrix
        .iter()
        .enumerate()
        .map(|(index, row)| Rule {
            setting: row.setting.clone(),
            crossover: crossover(&row.points),
            gains_most: ranges(index, true),
            costs_least: ranges(index, false),
        })
        .collect()
}

fn common_sizes(rows: &[Vec<SweepPoint>]) -> Vec<u64> {
    let Some((first, others)) = rows.split_first() else {
        return Vec::new();
    };
    let sizes = first.iter().map(|point| point.size);
    sizes
        .filter(|size| others.iter().all(|row| at(*size, row).is_some()))
        .collect()
}

fn at(size: u64, row: &[SweepPoint]) -> Option<&SweepPoint> {
    row.iter().find(|point| point.size == size)
}

/// The setting under which inside compares best with outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Best {
    setting: usize,
    /// Whether inside is shown to be faster there at all.
    gains: bool,
}

/// The one setting whose interval at `size` lies above those of all others by more than the
/// equivalence zone; nothing without others, or if one of them has none.
fn best_at(size: u64, rows: &[Vec<SweepPoint>], equivalence: f64) -> Option<Best> {
    let intervals: Vec<RatioEstimate> = rows
        .iter()
        .map(|row| at(size, row).and_then(usable))
        .collect::<Option<_>>()?;
    let margin = 1.0 + equivalence;
    let beats = |a: usize, b: usize| intervals[a].low > intervals[b].high * margin;
    let settings = 0..intervals.len();
    let mut best = settings
        .clone()
        .filter(|a| settings.clone().all(|b| *a == b || beats(*a, b)));
    let setting = best.next().filter(|_| intervals.len() > 1)?;
    Some(Best {
        setting,
        gains: intervals[setting].low > 1.0,
    })
}

/// The interval of a point that may be compared with others: one that its verdict rests on, which that
/// of a session without a passed gate does not.
fn usable(point: &SweepPoint) -> Option<RatioEstimate> {
    let decided = point.standing() != Standing::Undecided;
    let estimate = point.estimate;
    estimate.filter(|_| decided || point.verdict == Verdict::Unresolved)
}

/// The runs of neighbouring sizes at which this is the best.
fn ranges(best: &[(u64, Option<Best>)], wanted: Best) -> Vec<SizeRange> {
    best.chunk_by(|a, b| a.1 == b.1)
        .filter(|run| run[0].1 == Some(wanted))
        .map(|run| SizeRange {
            from: run[0].0,
            to: run[run.len() - 1].0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossover::Side;
    use crate::crossover::testing::{gap, point, point_between};

    fn rules_of_thumb(matrix: &[SettingSweep]) -> Vec<Rule> {
        super::rules_of_thumb(matrix, 0.05)
    }

    fn row(setting: &str, ratios: &[(u64, f64)]) -> SettingSweep {
        SettingSweep {
            setting: setting.to_owned(),
            points: ratios
                .iter()
                .map(|(kb, ratio)| point(*kb, *ratio))
                .collect(),
        }
    }

    fn range(from: u64, to: u64) -> SizeRange {
        SizeRange { from, to }
    }

    /// Two page sizes whose lead changes at 64, in KB.
    fn matrix() -> Vec<SettingSweep> {
        vec![
            row(
                "4096",
                &[(10, 1.8), (20, 1.5), (64, 1.00), (100, 0.7), (200, 0.6)],
            ),
            row(
                "8192",
                &[(10, 1.6), (20, 1.4), (64, 1.01), (100, 0.9), (200, 0.8)],
            ),
        ]
    }

    #[test]
    fn each_setting_has_its_zone_in_the_order_of_the_matrix() {
        let rules = rules_of_thumb(&matrix());
        let zones: Vec<(&str, Option<SizeRange>)> = rules
            .iter()
            .map(|rule| (rule.setting.as_str(), rule.crossover.open()))
            .collect();
        let zone = Some(range(20, 100));
        assert_eq!(zones, [("4096", zone), ("8192", zone)]);
        let smaller = rules.iter().map(|rule| rule.crossover.winner_at(10));
        assert!(smaller.into_iter().all(|side| side == Some(Side::A)));
    }

    #[test]
    fn a_setting_gains_most_where_its_interval_lies_above_all_others() {
        let rules = rules_of_thumb(&matrix());
        // At 64 KB the intervals overlap.
        assert_eq!(rules[0].gains_most, [range(10, 20)]);
        // Where inside loses under both, it gains under neither.
        assert!(rules[1].gains_most.is_empty());
        assert_eq!(rules[1].costs_least, [range(100, 200)]);
    }

    #[test]
    fn a_lead_within_the_equivalence_zone_is_none() {
        // Intervals reach 1% either way.
        for (ratio, led) in [(1.5 * 1.06, false), (1.5 * 1.08, true)] {
            let matrix = [row("4096", &[(10, ratio)]), row("8192", &[(10, 1.5)])];
            let gains_most = &rules_of_thumb(&matrix)[0].gains_most;
            assert_eq!(!gains_most.is_empty(), led, "{ratio}");
        }
    }

    #[test]
    fn a_lead_by_just_the_zone_is_none_and_an_interval_from_1_on_is_no_gain() {
        let row = |low: f64, high: f64| SettingSweep {
            setting: String::new(),
            points: vec![SweepPoint {
                size: 10,
                estimate: Some(RatioEstimate {
                    ratio: low,
                    low,
                    high,
                    rounds: 10,
                }),
                verdict: Verdict::Unresolved,
            }],
        };
        let first = |low| super::rules_of_thumb(&[row(low, 5.0), row(0.25, 0.5)], 1.0).remove(0);
        let led = first(1.25);
        assert_eq!(
            (led.gains_most, led.costs_least),
            (vec![range(10, 10)], vec![])
        );
        let even = first(1.0);
        assert_eq!((even.gains_most, even.costs_least), (vec![], vec![]));
        let from_1 = super::rules_of_thumb(&[row(1.0, 5.0), row(0.25, 0.4)], 1.0).remove(0);
        let costs = (from_1.gains_most, from_1.costs_least);
        assert_eq!(costs, (vec![], vec![range(10, 10)]));
    }

    #[test]
    fn one_rival_whose_interval_overlaps_keeps_a_setting_from_gaining_most() {
        let mut matrix = matrix();
        matrix.push(row(
            "16384",
            &[(10, 1.79), (20, 1.2), (64, 1.0), (100, 0.7), (200, 0.6)],
        ));
        assert_eq!(rules_of_thumb(&matrix)[0].gains_most, [range(20, 20)]);
    }

    #[test]
    fn a_size_not_measured_under_every_setting_is_left_out_of_the_comparison() {
        let mut matrix = matrix();
        matrix.push(row(
            "2048",
            &[(10, 0.5), (20, 0.5), (64, 0.5), (100, 0.5), (200, 0.5)],
        ));
        matrix[0].points.push(point(15, 1.6));
        matrix[1].points.extend([point(5, 9.0), point(15, 1.5)]);
        let rules = rules_of_thumb(&matrix);
        assert_eq!(rules[0].gains_most, [range(10, 20)]);
        assert_eq!(rules[1].costs_least, [range(100, 200)]);
        assert!(rules[2].gains_most.is_empty());
    }

    #[test]
    fn a_range_ends_where_a_setting_has_no_figure_or_an_unreliable_one() {
        let unreliable = SweepPoint {
            verdict: Verdict::Unreliable,
            ..point(20, 1.4)
        };
        for odd in [gap(20), unreliable] {
            let mut matrix = vec![
                row("4096", &[(10, 1.8), (20, 1.5), (30, 1.4), (40, 1.3)]),
                row("8192", &[(10, 1.6), (20, 1.4), (30, 1.2), (40, 1.1)]),
            ];
            matrix[1].points[1] = odd;
            let gains_most = &rules_of_thumb(&matrix)[0].gains_most;
            assert_eq!(*gains_most, [range(10, 10), range(30, 40)], "{odd:?}");
        }
    }

    #[test]
    fn an_unresolved_interval_is_an_interval_all_the_same() {
        let mut matrix = vec![row("4096", &[(10, 1.8)]), row("8192", &[])];
        matrix[1].points.push(point_between(10, 0.9, 1.2));
        assert_eq!(rules_of_thumb(&matrix)[0].gains_most, [range(10, 10)]);
    }

    #[test]
    fn a_single_setting_has_nothing_to_gain_more_than() {
        let rules = rules_of_thumb(&[row("4096", &[(10, 1.8), (20, 0.5)])]);
        assert_eq!(rules[0].crossover.open(), Some(range(10, 20)));
        assert!(rules[0].gains_most.is_empty());
        assert!(rules_of_thumb(&[]).is_empty());
    }
}
